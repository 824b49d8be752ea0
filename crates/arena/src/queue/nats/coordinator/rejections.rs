//! The workers that reject a match.

use std::collections::BTreeMap;
use std::time::Duration;

use tokio::time::Instant;

use crate::queue::Rejection;

/// Maximum number of remembered rejections.
const MAX_REJECTIONS: usize = 64;

/// The rejections of a match.
#[derive(Debug, Default)]
pub(super) struct Rejections {
    /// The last rejection of each worker, and whether the worker has prepared the match again since then.
    by_worker: BTreeMap<String, (Rejection, bool)>,
    /// Since when all workers reject the match.
    since: Option<Instant>,
    /// Whether this was reported.
    is_reported: bool,
}

impl Rejections {
    /// Adds a rejection. Returns whether it differs from the worker's last one.
    pub(super) fn add(&mut self, worker: &str, why: &Rejection) -> bool {
        if self.by_worker.len() >= MAX_REJECTIONS && !self.by_worker.contains_key(worker) {
            return false;
        }
        let before = self.by_worker.insert(worker.to_owned(), (why.clone(), false));
        before.is_none_or(|(before, _)| before != *why)
    }

    /// A worker prepares the match. A previous rejection may be obsolete.
    pub(super) fn on_preparing(&mut self, worker: &str) {
        if let Some((_, is_retried)) = self.by_worker.get_mut(worker) {
            *is_retried = true;
        }
    }

    /// A worker takes jobs.
    pub(super) fn on_ready(&mut self, worker: &str) {
        self.by_worker.remove(worker);
        self.since = None;
        self.is_reported = false;
    }

    /// The workers that reject the match, if there was no other one for `timeout`. They are returned once.
    pub(super) fn poll(
        &mut self,
        has_others: bool,
        timeout: Duration,
        now: Instant,
    ) -> Option<Vec<String>> {
        let current = self.by_worker.iter().filter(|(_, (_, is_retried))| !is_retried);
        let current: Vec<String> = current.map(|(worker, _)| worker.clone()).collect();
        if current.is_empty() || has_others {
            self.since = None;
            return None;
        }
        let since = *self.since.get_or_insert(now);
        let is_due = since + timeout <= now && !self.is_reported;
        self.is_reported |= is_due;
        is_due.then_some(current)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queue::NoStart;

    const TIMEOUT: Duration = Duration::from_mins(1);

    fn why() -> Rejection {
        NoStart { engine: "a".to_owned(), why: "does not start".to_owned() }.into()
    }

    #[test]
    fn reports_once_when_all_workers_reject() {
        let mut rejections = Rejections::default();
        let start = Instant::now();
        let poll = |rejections: &mut Rejections, has_others, seconds| {
            let now = start + Duration::from_secs(seconds);
            rejections.poll(has_others, TIMEOUT, now).map(|all| all.len())
        };
        assert_eq!(poll(&mut rejections, false, 0), None, "there are no workers");
        assert!(rejections.add("one", &why()));
        assert!(!rejections.add("one", &why()), "it is known");
        assert!(rejections.add("two", &why()));
        assert_eq!(poll(&mut rejections, false, 100), None);
        assert_eq!(poll(&mut rejections, true, 150), None);
        assert_eq!(poll(&mut rejections, false, 160), None, "another one has played");
        assert_eq!(poll(&mut rejections, false, 220), Some(2));
        assert_eq!(poll(&mut rejections, false, 300), None, "it is reported once");
        rejections.on_ready("two");
        rejections.on_preparing("one");
        assert_eq!(poll(&mut rejections, false, 600), None);
        assert!(!rejections.add("one", &why()), "it is known");
        assert_eq!(poll(&mut rejections, false, 700), None);
        assert_eq!(poll(&mut rejections, false, 760), Some(1));
    }

    #[test]
    fn remembers_a_limited_number() {
        let mut rejections = Rejections::default();
        let added = (0..1000).filter(|name| rejections.add(&name.to_string(), &why()));
        assert_eq!(added.count(), MAX_REJECTIONS);
    }
}
