//! The state of a match on the coordinator: jobs, results, workers and their rejections.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_nats::jetstream::Message;
use tokio::sync::mpsc::UnboundedSender;
use tokio::time::Instant;

use crate::game::{Tablebases, verify_pair};
use crate::pairing::Pairing;
use crate::queue::nats::messages::{Ended, WorkerMessage, WorkerUpdate, machine_of, read};
use crate::queue::nats::status::StatusBuilder;
use crate::queue::nats::{HEARTBEAT, scale_times};
use crate::queue::status::{Control, QuarantinedResult};
use crate::queue::{MatchSpec, Rejection, Report, ReturnReason, Stop, WorkerId};
use crate::store::IndexSet;
use crate::time::unix_ms;

/// A worker without a message for this time is considered lost.
const WORKER_TIMEOUT: Duration = HEARTBEAT.saturating_mul(8);

pub(super) struct Shared {
    pub(super) state: Mutex<State>,
    pub(super) spec: MatchSpec,
    pub(super) tablebases: Option<Arc<dyn Tablebases>>,
    pub(super) reports: Sender<Report>,
    /// Results that do not count, which are quarantined or deleted by a task.
    pub(super) rejected: UnboundedSender<Rejected>,
    /// How long to wait for other workers after all have rejected the match.
    pub(super) rejection_timeout: Duration,
}

/// A result that does not count. Its pairing is offered again.
pub(super) struct Rejected {
    /// Its sequence number in the stream of results.
    pub(super) sequence: Option<u64>,
    pub(super) pairing: Pairing,
    /// The entry of an invalid result; `None` for a result of an excluded worker, of any number, which is deleted.
    pub(super) entry: Option<QuarantinedResult>,
    /// The machine to exclude, which has sent too many of them.
    pub(super) exclude: Option<String>,
}

#[derive(Default)]
pub(super) struct State {
    /// The jobs in progress.
    pub(super) offered: BTreeMap<u64, Pairing>,
    /// The holders of jobs.
    pub(super) taken: BTreeMap<u64, WorkerId>,
    /// Indices of known results. Duplicates are ignored.
    pub(super) known: IndexSet,
    /// Results of a previous coordinator, for pairings that are not offered yet.
    pub(super) early: BTreeMap<u64, (Ended, Option<u64>)>,
    /// The time of the last message of each worker; `None` after it has left.
    pub(super) last_seen: BTreeMap<WorkerId, Option<Instant>>,
    pub(super) rejections: Rejections,
    pub(super) stopping: bool,
    pub(super) control: Control,
    pub(super) status: StatusBuilder,
}

/// The number of invalid results of a worker after which it is excluded.
const MAX_INVALID: u64 = 3;

impl Shared {
    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn send(&self, report: Report) {
        // Fails without a coordinator, which then needs no report.
        let _ = self.reports.send(report);
    }

    /// Handles a message of the stream of results.
    pub(super) fn on_ended(&self, message: &Message) {
        let Some(ended) = read::<Ended>(&message.payload) else { return };
        let sequence = message.info().map(|info| info.stream_sequence).ok();
        {
            // The lock covers the check and the insertion: a concurrent offer must not be missed.
            let mut state = self.state();
            if state.known.contains(ended.index()) {
                return;
            }
            if !state.offered.contains_key(&ended.index()) {
                // Failures of a previous run are obsolete. Of several results, the first valid one counts.
                if let Ended::Done { worker, .. } = &ended
                    && !state.is_excluded(worker)
                {
                    state.early.entry(ended.index()).or_insert((ended, sequence));
                }
                return;
            }
        }
        self.report(ended, sequence);
    }

    /// The contradiction of a result, if it is invalid.
    fn contradiction(&self, pairing: &Pairing, ended: &Ended) -> Option<String> {
        let Ended::Done { worker, result, speed } = ended else { return None };
        if result.worker.as_ref().is_some_and(|name| machine_of(worker) != name.0) {
            return Some("the result names another worker".to_owned());
        }
        let spec = match speed {
            Some(speed) => scale_times(self.spec.clone(), *speed),
            None => self.spec.clone(),
        };
        let verified = verify_pair(&spec.plan, pairing, result, self.tablebases.as_ref());
        verified.err().map(|why| why.to_string())
    }

    pub(super) fn report(&self, ended: Ended, sequence: Option<u64>) {
        let index = ended.index();
        let Some(pairing) = self.state().offered.get(&index).cloned() else { return };
        if let Ended::Done { worker, .. } = &ended
            && self.state().is_excluded(worker)
        {
            return self.reject(sequence, pairing, None);
        }
        if let Some(why) = self.contradiction(&pairing, &ended)
            && let Ended::Done { worker, .. } = ended
        {
            let entry = QuarantinedResult { worker, index, why, at_ms: unix_ms() };
            return self.reject(sequence, pairing, Some(entry));
        }
        {
            let mut state = self.state();
            state.offered.remove(&index);
            state.taken.remove(&index);
            if let Ended::Done { worker, speed, .. } = &ended {
                state.known.insert(index);
                let machine = WorkerId(machine_of(worker).to_owned());
                state.status.workers_mut().set_speed(&machine, *speed);
            }
        }
        self.send(match ended {
            Ended::Done { worker, mut result, .. } => {
                result.worker = Some(WorkerId(machine_of(&worker).to_owned()));
                Report::Done { worker, result: Box::new(result), records: None }
            }
            Ended::Failed { why, .. } => Report::Returned { index, why: ReturnReason::Failed(why) },
            Ended::Lost { .. } => Report::Returned { index, why: ReturnReason::TooManyDeliveries },
        });
    }

    /// Offers the pairing of a result that does not count again, unless the match is being stopped.
    fn reject(&self, sequence: Option<u64>, pairing: Pairing, entry: Option<QuarantinedResult>) {
        let index = pairing.index;
        let (stopping, exclude) = {
            let mut state = self.state();
            state.taken.remove(&index);
            if state.stopping {
                state.offered.remove(&index);
            }
            let exclude = entry.as_ref().and_then(|entry| {
                let machine = machine_of(&entry.worker).to_owned();
                state.status.add_quarantined(entry.clone());
                let count = state.status.workers_mut().add_invalid(&WorkerId(machine.clone()));
                (count >= MAX_INVALID).then_some(machine)
            });
            (state.stopping, exclude)
        };
        if let Some(QuarantinedResult { worker, why, .. }) = entry.clone() {
            self.send(Report::Invalid { worker, index, why });
        }
        if stopping {
            self.send(Report::Returned { index, why: ReturnReason::Withdrawn });
        } else {
            // Fails if the match is closed.
            let _ = self.rejected.send(Rejected { sequence, pairing, entry, exclude });
        }
    }

    /// Applies the settings of users.
    pub(super) fn on_control(&self, control: Control) {
        let mut state = self.state();
        if state.control == control {
            return;
        }
        let added = control.excluded.difference(&state.control.excluded).cloned();
        let added: BTreeSet<String> = added.collect();
        let stops = control.stop && !state.control.stop;
        state.control = control;
        drop(state);
        if !added.is_empty() {
            self.send(Report::Excluded(added));
        }
        if stops {
            self.send(Report::StopRequested);
        }
    }

    pub(super) fn on_message(&self, message: WorkerMessage) {
        let WorkerMessage { worker, update } = message;
        // These workers are not ready to play.
        match &update {
            WorkerUpdate::Probing => {
                return self.state().rejections.on_probing(worker, Instant::now());
            }
            WorkerUpdate::Rejected { why } => {
                if self.state().rejections.add(&worker, why) {
                    self.send(Report::Rejected { worker, why: why.clone() });
                }
                return;
            }
            WorkerUpdate::Alive
            | WorkerUpdate::Left
            | WorkerUpdate::Taken { .. }
            | WorkerUpdate::Returned { .. }
            | WorkerUpdate::Progress { .. } => {}
        }
        let known = {
            let mut state = self.state();
            let now = Instant::now();
            state.last_seen.insert(worker.clone(), Some(now)).flatten().is_some()
        };
        if !known {
            self.send(Report::Joined(worker.clone()));
        }
        match update {
            WorkerUpdate::Alive | WorkerUpdate::Probing | WorkerUpdate::Rejected { .. } => {}
            WorkerUpdate::Left => self.on_left(&worker),
            WorkerUpdate::Taken { index } => {
                let mut state = self.state();
                if state.offered.contains_key(&index) {
                    state.taken.insert(index, worker);
                }
            }
            WorkerUpdate::Returned { index } => {
                let mut state = self.state();
                state.taken.remove(&index);
                let why =
                    if state.stopping { ReturnReason::Withdrawn } else { ReturnReason::Requeued };
                let offered = state.offered.contains_key(&index);
                if state.stopping {
                    state.offered.remove(&index);
                }
                drop(state);
                if offered {
                    self.send(Report::Returned { index, why });
                }
            }
            WorkerUpdate::Progress { index, progress } => {
                self.send(Report::Progress { worker, index, progress });
            }
        }
    }

    pub(super) fn remove_lost_workers(&self) {
        let now = Instant::now();
        let silent: Vec<WorkerId> = self
            .state()
            .last_seen
            .iter()
            .filter(|(_, last_seen)| {
                last_seen.is_some_and(|last_seen| now > last_seen + WORKER_TIMEOUT)
            })
            .map(|(worker, _)| worker.clone())
            .collect();
        for worker in &silent {
            self.on_left(worker);
        }
    }

    pub(super) fn check_rejections(&self) {
        let rejections = {
            let mut state = self.state();
            let has_players = state.last_seen.values().any(Option::is_some);
            let is_over = state.stopping;
            let now = Instant::now();
            state.rejections.poll(has_players || is_over, self.rejection_timeout, now)
        };
        if let Some(rejections) = rejections {
            self.send(Report::AllRejected(rejections));
        }
    }

    fn on_left(&self, worker: &WorkerId) {
        let lost = {
            let mut state = self.state();
            if state.last_seen.insert(worker.clone(), None).flatten().is_none() {
                return;
            }
            if state.stopping {
                state.remove_jobs_of(|holder| holder == worker)
            } else {
                // The server delivers its job to another worker.
                state.taken.retain(|_, holder| holder != worker);
                Vec::new()
            }
        };
        self.send(Report::Left(worker.clone()));
        for index in lost {
            self.send(Report::Returned { index, why: ReturnReason::Withdrawn });
        }
    }

    pub(super) fn stop(&self, how: Stop) {
        let lost: Vec<u64> = {
            let mut state = self.state();
            state.stopping = true;
            let waiting: Vec<u64> = state
                .offered
                .keys()
                .copied()
                .filter(|index| how == Stop::Abort || !state.taken.contains_key(index))
                .collect();
            for index in &waiting {
                state.offered.remove(index);
                state.taken.remove(index);
            }
            waiting
        };
        for index in lost {
            self.send(Report::Returned { index, why: ReturnReason::Withdrawn });
        }
    }
}

impl State {
    fn is_excluded(&self, worker: &WorkerId) -> bool {
        self.control.excluded.contains(machine_of(worker))
    }

    /// Removes jobs by their holders.
    fn remove_jobs_of(&mut self, is_lost: impl Fn(&WorkerId) -> bool) -> Vec<u64> {
        let lost: Vec<u64> =
            self.taken.iter().filter(|(_, holder)| is_lost(holder)).map(|(&i, _)| i).collect();
        for index in &lost {
            self.taken.remove(index);
            self.offered.remove(index);
        }
        lost
    }
}

/// Maximum number of stored rejections.
const MAX_REJECTIONS: usize = 64;

/// A probing worker without a heartbeat for this time is considered lost.
const PROBE_TIMEOUT: Duration = HEARTBEAT.saturating_mul(8);

/// The rejections of a match.
#[derive(Debug, Default)]
pub(super) struct Rejections {
    /// The last rejection of each worker.
    by_worker: BTreeMap<WorkerId, Rejection>,
    /// Workers that have prepared the match again since their rejection.
    retrying: BTreeSet<WorkerId>,
    /// Workers that probe the engines, with the time of their last heartbeat.
    probing: BTreeMap<WorkerId, Instant>,
    /// Since when all workers have rejected the match.
    blocked_since: Option<Instant>,
}

impl Rejections {
    /// Adds a rejection. Returns whether it differs from the worker's last one.
    fn add(&mut self, worker: &WorkerId, why: &Rejection) -> bool {
        self.probing.remove(worker);
        let is_full =
            self.by_worker.len() >= MAX_REJECTIONS && !self.by_worker.contains_key(worker);
        if is_full {
            return false;
        }
        self.retrying.remove(worker);
        self.by_worker.insert(worker.clone(), why.clone()).as_ref() != Some(why)
    }

    /// A worker probes the engines. A previous rejection may be obsolete.
    fn on_probing(&mut self, worker: WorkerId, now: Instant) {
        if self.by_worker.contains_key(&worker) {
            self.retrying.insert(worker.clone());
        }
        self.probing.insert(worker, now);
    }

    /// All rejections, if there was no other worker for `timeout`.
    fn poll(
        &mut self,
        has_players: bool,
        timeout: Duration,
        now: Instant,
    ) -> Option<Vec<(WorkerId, Rejection)>> {
        self.probing.retain(|_, last_seen| now <= *last_seen + PROBE_TIMEOUT);
        let entries = self.by_worker.iter().filter(|(worker, _)| !self.retrying.contains(*worker));
        let current: Vec<_> = entries.map(|(worker, why)| (worker.clone(), why.clone())).collect();
        if current.is_empty() || has_players || !self.probing.is_empty() {
            self.blocked_since = None;
            return None;
        }
        let since = *self.blocked_since.get_or_insert(now);
        (since + timeout <= now).then_some(current)
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
    fn a_rejection_after_a_retry_is_not_new() {
        let mut rejections = Rejections::default();
        let start = Instant::now();
        assert!(rejections.add(&worker("one"), &why()));
        rejections.on_probing(worker("one"), start);
        let later = PROBE_TIMEOUT.as_secs() + 1;
        assert_eq!(poll(&mut rejections, false, start, later), None);
        assert_eq!(
            poll(&mut rejections, false, start, later + 60),
            None,
            "the rejection is obsolete"
        );
        assert!(!rejections.add(&worker("one"), &why()));
        assert_eq!(poll(&mut rejections, false, start, later + 61), None);
        assert_eq!(poll(&mut rejections, false, start, later + 121), Some(1));
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
