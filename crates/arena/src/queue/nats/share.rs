//! The choice of the next match of a worker: by priority, and with equal shares of its time within a priority.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::time::Duration;

use sha2::{Digest, Sha256};

/// A worker changes between matches of the same priority after this time, since engines have to be started.
const QUANTUM: Duration = Duration::from_mins(1);

/// The use of a worker by each match.
#[derive(Clone, Debug, Default)]
pub(super) struct Shares {
    /// The name of the worker.
    worker: String,
    matches: BTreeMap<String, Share>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Share {
    priority: i32,
    /// Whether jobs may be taken.
    is_live: bool,
    /// Pairs in progress.
    running: usize,
    /// Time spent on finished pairs.
    spent: Duration,
}

impl Shares {
    /// The shares of a worker without matches.
    pub(super) fn of(worker: &str) -> Self {
        Self { worker: worker.to_owned(), matches: BTreeMap::new() }
    }

    /// A part of the quantum that differs between workers and matches: otherwise all workers would play the same match.
    fn start_of(&self, id: &str) -> Duration {
        let digest = Sha256::digest(format!("{} {id}", self.worker).as_bytes());
        let byte = digest.first().copied().unwrap_or_default();
        QUANTUM * u32::from(byte) / 256
    }

    /// Sets the matches with their priorities. A new match starts with the lowest time of all, since it has no claim to
    /// the past.
    pub(super) fn set(&mut self, matches: &BTreeMap<String, i32>) {
        self.matches.retain(|id, share| matches.contains_key(id) || share.running > 0);
        let least = self.matches.values().map(|share| share.spent).min().unwrap_or_default();
        for (id, share) in &mut self.matches {
            share.is_live = matches.contains_key(id);
        }
        for (id, &priority) in matches {
            let spent = least + self.start_of(id);
            let new = Share { spent, is_live: true, ..Share::default() };
            self.matches.entry(id.clone()).or_insert(new).priority = priority;
        }
    }

    /// The matches in the order of their claim to a slot, which has played `current` before.
    pub(super) fn order(&self, current: Option<&str>) -> Vec<String> {
        let mut matches: Vec<(&String, &Share)> =
            self.matches.iter().filter(|(_, share)| share.is_live).collect();
        matches.sort_by_key(|(id, share)| {
            let is_current = current == Some(id.as_str());
            let bonus = if is_current { QUANTUM } else { Duration::ZERO };
            let spent = share.spent.saturating_sub(bonus);
            (Reverse(share.priority), share.running, spent, !is_current)
        });
        matches.into_iter().map(|(id, _)| id.clone()).collect()
    }

    /// A pair of a match starts.
    pub(super) fn start(&mut self, id: &str) {
        if let Some(share) = self.matches.get_mut(id) {
            share.running += 1;
        }
    }

    /// A pair of a match has ended after this time.
    pub(super) fn end(&mut self, id: &str, spent: Duration) {
        if let Some(share) = self.matches.get_mut(id) {
            share.running = share.running.saturating_sub(1);
            share.spent += spent;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shares(matches: &[(&str, i32)]) -> Shares {
        let mut shares = Shares::default();
        shares.set(&priorities(matches));
        shares
    }

    fn priorities(matches: &[(&str, i32)]) -> BTreeMap<String, i32> {
        matches.iter().map(|&(id, priority)| (id.to_owned(), priority)).collect()
    }

    /// Simulates slots that play pairs of this many seconds, and returns the pairs of each match.
    fn simulate(shares: &mut Shares, slots: usize, seconds: u64, pairs: u32) -> Vec<(String, u32)> {
        let mut current: Vec<Option<String>> = vec![None; slots];
        let mut counts: BTreeMap<String, u32> = BTreeMap::new();
        for number in 0..pairs as usize {
            let slot = number % slots;
            if let Some(id) = current[slot].as_deref() {
                shares.end(id, Duration::from_secs(seconds));
            }
            let next = shares.order(current[slot].as_deref()).remove(0);
            shares.start(&next);
            *counts.entry(next.clone()).or_default() += 1;
            current[slot] = Some(next);
        }
        for id in current.iter().flatten() {
            shares.end(id, Duration::from_secs(seconds));
        }
        counts.into_iter().collect()
    }

    #[test]
    fn matches_of_the_same_priority_get_equal_shares() {
        for (slots, seconds) in [(1, 5), (1, 120), (2, 5), (3, 7), (5, 100)] {
            let mut shares = shares(&[("a", 0), ("b", 0)]);
            let counts = simulate(&mut shares, slots, seconds, 1000);
            let all = format!("{slots} slots: {counts:?}");
            assert!(counts.iter().all(|(_, count)| (450..=550).contains(count)), "{all}");
        }
    }

    #[test]
    fn a_higher_priority_comes_first() {
        let mut shares = shares(&[("a", 0), ("b", 5), ("c", -5)]);
        assert_eq!(simulate(&mut shares, 3, 10, 50), [("b".to_owned(), 50)]);
        assert_eq!(shares.order(Some("a")), ["b", "a", "c"]);
    }

    #[test]
    fn a_slot_changes_between_matches_rarely() {
        let mut shares = shares(&[("a", 0), ("b", 0)]);
        let mut current = None;
        let mut changes = 0;
        for _ in 0..120 {
            let next = shares.order(current.as_deref()).remove(0);
            changes += usize::from(current.as_ref() != Some(&next));
            shares.start(&next);
            shares.end(&next, Duration::from_secs(1));
            current = Some(next);
        }
        assert!((2..=3).contains(&changes), "{changes}");
    }

    #[test]
    fn gives_no_slot_to_a_match_that_is_not_live() {
        let mut shares = shares(&[("a", 0), ("b", 0)]);
        shares.start("a");
        shares.set(&priorities(&[("b", 0)]));
        assert_eq!(shares.order(Some("a")), ["b"]);
        shares.end("a", QUANTUM);
        shares.set(&priorities(&[("a", 0), ("b", 0)]));
        assert_eq!(shares.order(Some("b")).len(), 2);
    }

    #[test]
    fn a_new_match_has_no_claim_to_the_past() {
        let mut shares = shares(&[("a", 0)]);
        simulate(&mut shares, 1, 1000, 10);
        shares.set(&priorities(&[("a", 0), ("b", 0)]));
        let counts = simulate(&mut shares, 1, 100, 20);
        assert!(counts.iter().all(|(_, count)| (8..=12).contains(count)), "{counts:?}");
    }
}
