//! Workers that have rejected a match, and the detection that no other worker is left.
//!
//! ```text
//!           a rejection, no worker plays or probes           after `timeout`
//!  waiting ───────────────────────────────────────> blocked ─────────────────> all rejected
//!     ^                                                │
//!     └─────────── a worker probes or plays ───────────┘
//! ```

use std::collections::BTreeMap;
use std::time::Duration;

use tokio::time::Instant;

use super::HEARTBEAT;
use crate::queue::{Rejection, WorkerId};

/// Maximum number of stored rejections.
const MAX_REJECTIONS: usize = 64;

/// A probing worker without a heartbeat for this time is considered lost.
const PROBE_TIMEOUT: Duration = HEARTBEAT.saturating_mul(8);

/// The rejections of a match.
#[derive(Debug, Default)]
pub(super) struct Rejections {
    by_worker: BTreeMap<WorkerId, Rejection>,
    /// Workers that probe the engines, with the time of their last heartbeat.
    probing: BTreeMap<WorkerId, Instant>,
    /// Since when all workers have rejected the match.
    blocked_since: Option<Instant>,
}

impl Rejections {
    /// Adds a rejection. Returns whether it is new.
    pub(super) fn add(&mut self, worker: &WorkerId, why: &Rejection) -> bool {
        self.probing.remove(worker);
        let is_full =
            self.by_worker.len() >= MAX_REJECTIONS && !self.by_worker.contains_key(worker);
        !is_full && self.by_worker.insert(worker.clone(), why.clone()).as_ref() != Some(why)
    }

    /// A worker probes the engines. A previous rejection may be obsolete.
    pub(super) fn on_probing(&mut self, worker: WorkerId, now: Instant) {
        self.by_worker.remove(&worker);
        self.probing.insert(worker, now);
    }

    /// All rejections, if there was no other worker for `timeout`.
    pub(super) fn poll(
        &mut self,
        has_players: bool,
        timeout: Duration,
        now: Instant,
    ) -> Option<Vec<(WorkerId, Rejection)>> {
        self.probing.retain(|_, last_seen| now <= *last_seen + PROBE_TIMEOUT);
        if self.by_worker.is_empty() || has_players || !self.probing.is_empty() {
            self.blocked_since = None;
            return None;
        }
        let since = *self.blocked_since.get_or_insert(now);
        (since + timeout <= now).then(|| self.by_worker.clone().into_iter().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queue::NoStart;

    const TIMEOUT: Duration = Duration::from_mins(1);

    fn worker(name: &str) -> WorkerId {
        WorkerId(name.to_owned())
    }

    fn why() -> Rejection {
        NoStart { engine: "a".to_owned(), why: "does not start".to_owned() }.into()
    }

    /// The number of rejections returned by a poll at a time.
    fn poll(
        rejections: &mut Rejections,
        playing: bool,
        start: Instant,
        seconds: u64,
    ) -> Option<usize> {
        let now = start + Duration::from_secs(seconds);
        rejections.poll(playing, TIMEOUT, now).map(|all| all.len())
    }

    #[test]
    fn waits_forever_without_workers() {
        let mut rejections = Rejections::default();
        let start = Instant::now();
        assert_eq!(poll(&mut rejections, false, start, 0), None);
        assert_eq!(poll(&mut rejections, false, start, 1_000_000), None);
    }

    #[test]
    fn reports_when_all_workers_have_rejected() {
        let mut rejections = Rejections::default();
        let start = Instant::now();
        assert!(rejections.add(&worker("one"), &why()));
        assert_eq!(poll(&mut rejections, false, start, 0), None);
        assert!(!rejections.add(&worker("one"), &why()), "already known");
        assert!(rejections.add(&worker("two"), &why()));
        assert_eq!(poll(&mut rejections, false, start, 59), None);
        assert_eq!(poll(&mut rejections, false, start, 60), Some(2));
    }

    #[test]
    fn playing_and_probing_workers_reset_the_timeout() {
        let mut rejections = Rejections::default();
        let start = Instant::now();
        rejections.add(&worker("one"), &why());
        assert_eq!(poll(&mut rejections, false, start, 0), None);
        assert_eq!(poll(&mut rejections, true, start, 59), None);
        assert_eq!(poll(&mut rejections, false, start, 60), None);
        rejections.on_probing(worker("two"), start + Duration::from_secs(100));
        assert_eq!(poll(&mut rejections, false, start, 120), None, "it probes");
        assert_eq!(poll(&mut rejections, false, start, 125), None, "it is silent");
        assert_eq!(poll(&mut rejections, false, start, 184), None);
        assert_eq!(poll(&mut rejections, false, start, 185), Some(1));
    }

    #[test]
    fn probing_again_revokes_a_rejection() {
        let mut rejections = Rejections::default();
        let start = Instant::now();
        rejections.add(&worker("one"), &why());
        rejections.on_probing(worker("one"), start);
        assert_eq!(poll(&mut rejections, false, start, 100), None);
        assert_eq!(poll(&mut rejections, false, start, 1000), None);
    }

    #[test]
    fn stores_a_limited_number_of_rejections() {
        let mut rejections = Rejections::default();
        let added = (0..1000).filter(|name| rejections.add(&worker(&name.to_string()), &why()));
        assert_eq!(added.count(), MAX_REJECTIONS);
    }
}
