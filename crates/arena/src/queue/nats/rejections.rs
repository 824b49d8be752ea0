//! Who has refused a match, and when nobody else is left.
//!
//! ```text
//!              refused, and nobody plays or tries its engines     so for `patience`
//!  waiting ───────────────────────────────────────────> alone ────────────────────> deserted
//!     ^                                                   │
//!     └─────────── somebody tries, or plays ──────────────┘
//! ```

use std::collections::BTreeMap;
use std::time::Duration;

use tokio::time::Instant;

use super::HEARTBEAT;
use crate::queue::{Rejection, WorkerId};

/// So many rejections are kept; more tell nothing new.
const MOST: usize = 64;

/// Who tries and is silent for so long has gone.
const SILENCE: Duration = HEARTBEAT.saturating_mul(8);

/// Who has refused a match.
#[derive(Debug, Default)]
pub(super) struct Rejections {
    by: BTreeMap<WorkerId, Rejection>,
    /// Who tries the engines of the match, and when each was last_seen last.
    trying: BTreeMap<WorkerId, Instant>,
    /// Since when there is nobody but those who have refused.
    alone: Option<Instant>,
}

impl Rejections {
    /// A worker refuses the match. Tells whether that is news.
    pub(super) fn refuse(&mut self, worker: &WorkerId, why: &Rejection) -> bool {
        self.trying.remove(worker);
        let is_full = self.by.len() >= MOST && !self.by.contains_key(worker);
        !is_full && self.by.insert(worker.clone(), why.clone()).as_ref() != Some(why)
    }

    /// A worker tries the engines of the match: it may have refused it before its owner did something.
    pub(super) fn on_probing(&mut self, worker: WorkerId, now: Instant) {
        self.by.remove(&worker);
        self.trying.insert(worker, now);
    }

    /// Gives all rejections if for `patience` nobody was there but those who refuse.
    pub(super) fn look(
        &mut self,
        has_players: bool,
        patience: Duration,
        now: Instant,
    ) -> Option<Vec<(WorkerId, Rejection)>> {
        self.trying.retain(|_, last_seen| now <= *last_seen + SILENCE);
        if self.by.is_empty() || has_players || !self.trying.is_empty() {
            self.alone = None;
            return None;
        }
        let since = *self.alone.get_or_insert(now);
        (since + patience <= now).then(|| self.by.clone().into_iter().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queue::NoStart;

    const PATIENCE: Duration = Duration::from_mins(1);

    fn worker(name: &str) -> WorkerId {
        WorkerId(name.to_owned())
    }

    fn why() -> Rejection {
        NoStart { engine: "a".to_owned(), why: "does not start".to_owned() }.into()
    }

    /// What comes of a look after so many seconds.
    fn look(
        rejections: &mut Rejections,
        playing: bool,
        start: Instant,
        seconds: u64,
    ) -> Option<usize> {
        let now = start + Duration::from_secs(seconds);
        rejections.look(playing, PATIENCE, now).map(|all| all.len())
    }

    #[test]
    fn a_match_without_workers_waits_for_ever() {
        let mut rejections = Rejections::default();
        let start = Instant::now();
        assert_eq!(look(&mut rejections, false, start, 0), None);
        assert_eq!(look(&mut rejections, false, start, 1_000_000), None);
    }

    #[test]
    fn a_match_that_all_refuse_is_deserted_after_a_while() {
        let mut rejections = Rejections::default();
        let start = Instant::now();
        assert!(rejections.refuse(&worker("one"), &why()));
        assert_eq!(look(&mut rejections, false, start, 0), None);
        assert!(!rejections.refuse(&worker("one"), &why()), "it is no news");
        assert!(rejections.refuse(&worker("two"), &why()));
        assert_eq!(look(&mut rejections, false, start, 59), None);
        assert_eq!(look(&mut rejections, false, start, 60), Some(2));
    }

    #[test]
    fn whoever_plays_or_tries_puts_the_end_off() {
        let mut rejections = Rejections::default();
        let start = Instant::now();
        rejections.refuse(&worker("one"), &why());
        assert_eq!(look(&mut rejections, false, start, 0), None);
        assert_eq!(look(&mut rejections, true, start, 59), None);
        assert_eq!(look(&mut rejections, false, start, 60), None);
        rejections.on_probing(worker("two"), start + Duration::from_secs(100));
        assert_eq!(look(&mut rejections, false, start, 120), None, "it tries");
        assert_eq!(look(&mut rejections, false, start, 125), None, "it is silent");
        assert_eq!(look(&mut rejections, false, start, 184), None);
        assert_eq!(look(&mut rejections, false, start, 185), Some(1));
    }

    #[test]
    fn whoever_tries_again_has_not_refused() {
        let mut rejections = Rejections::default();
        let start = Instant::now();
        rejections.refuse(&worker("one"), &why());
        rejections.on_probing(worker("one"), start);
        assert_eq!(look(&mut rejections, false, start, 100), None);
        assert_eq!(look(&mut rejections, false, start, 1000), None);
    }

    #[test]
    fn a_crowd_of_refusals_takes_no_memory() {
        let mut rejections = Rejections::default();
        let news = (0..1000).filter(|name| rejections.refuse(&worker(&name.to_string()), &why()));
        assert_eq!(news.count(), MOST);
    }
}
