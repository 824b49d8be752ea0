//! The coordinator's end of the NATS queue.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_nats::jetstream::consumer::{AckPolicy, DeliverPolicy, pull};
use async_nats::jetstream::stream::{Config, RetentionPolicy, StorageType};
use futures_util::StreamExt;
use tokio::task::JoinHandle;
use tokio::time::Instant;

use crate::queue::nats::connection::{
    Connection, Ended, Names, OpenMatch, WORKERS, WorkerMessage, WorkerUpdate, broken, read, write,
};
use crate::queue::nats::{HEARTBEAT, LEASE, files};
use crate::queue::{
    Dispatcher, Job, MatchSpec, QueueError, Rejection, Report, ReturnReason, Stop, WorkerId,
};
use crate::store::IndexSet;

/// Maximum outage of the server. Interrupts are not handled meanwhile.
const MAX_OUTAGE: Duration = Duration::from_mins(1);

/// A worker without a message for this time is considered lost.
const WORKER_TIMEOUT: Duration = HEARTBEAT.saturating_mul(8);

/// The coordinator's end of the NATS queue. Dropping it closes the match for workers.
pub struct NatsDispatcher {
    connection: Connection,
    names: Names,
    spec: MatchSpec,
    shared: Arc<Shared>,
    tasks: Vec<JoinHandle<()>>,
    closed: bool,
}

struct Shared {
    state: Mutex<State>,
    reports: Sender<Report>,
    /// How long to wait for other workers after all have rejected the match.
    rejection_timeout: Duration,
}

#[derive(Default)]
struct State {
    /// Indices of the jobs in progress.
    offered: BTreeSet<u64>,
    /// The holders of jobs.
    taken: BTreeMap<u64, WorkerId>,
    /// Indices of known results. Duplicates are ignored.
    known: IndexSet,
    /// Results of a previous coordinator, for pairings that are not offered yet.
    early: BTreeMap<u64, Ended>,
    /// The time of the last message of each worker; `None` after it has left.
    last_seen: BTreeMap<WorkerId, Option<Instant>>,
    rejections: Rejections,
    stopping: bool,
}

impl NatsDispatcher {
    /// Opens a match for workers. For a resumed match, `stored` contains the known pairings, and other results on the
    /// server are used. For a new match, `stored` is `None`, and results on the server are obsolete and deleted.
    ///
    /// A worker that is silent for `lease` loses its job; [`LEASE`] suits most matches. If all workers have rejected the
    /// match, it waits twice as long for others.
    ///
    /// # Errors
    /// The server does not respond or denies access, or a program cannot be read.
    pub fn open(
        connection: &Connection,
        spec: MatchSpec,
        stored: Option<&IndexSet>,
        lease: Duration,
        reports: Sender<Report>,
    ) -> Result<Self, QueueError> {
        let names = Names::of(spec.plan_hash);
        let jobs = Config {
            name: names.jobs.clone(),
            subjects: vec![names.jobs_subject.clone()],
            retention: RetentionPolicy::WorkQueue,
            storage: StorageType::File,
            ..Config::default()
        };
        let results = Config {
            name: names.results.clone(),
            subjects: vec![names.results_subject.clone()],
            storage: StorageType::File,
            ..Config::default()
        };
        let stream = &connection.stream;
        let jobs = connection.request(stream.get_or_create_stream(jobs))?;
        let mut results_stream =
            connection.request(stream.get_or_create_stream(results.clone()))?;
        if stored.is_none() {
            // After a purge, the server would still deduplicate message names for two minutes.
            connection.request(stream.delete_stream(&names.results))?;
            results_stream = connection.request(stream.create_stream(results))?;
        }
        let results = results_stream;
        // Jobs of a previous coordinator are offered again by the schedule.
        connection.wait(async { jobs.purge().await }).map_err(broken)?;
        let workers = pull::Config {
            durable_name: Some(WORKERS.to_owned()),
            ack_policy: AckPolicy::Explicit,
            ack_wait: lease,
            ..pull::Config::default()
        };
        connection.request(jobs.get_or_create_consumer(WORKERS, workers))?;
        files::upload(connection, &spec)?;
        let state = State { known: stored.cloned().unwrap_or_default(), ..State::default() };
        let shared =
            Arc::new(Shared { state: Mutex::new(state), reports, rejection_timeout: lease * 2 });
        let mut this = Self {
            connection: connection.clone(),
            names,
            spec,
            shared,
            tasks: Vec::new(),
            closed: false,
        };
        this.follow_results(&results)?;
        this.follow_workers()?;
        this.announce(None)?;
        Ok(this)
    }

    /// Reads all stored results, and then new ones.
    fn follow_results(
        &mut self,
        results: &async_nats::jetstream::stream::Stream,
    ) -> Result<(), QueueError> {
        let config = pull::Config {
            ack_policy: AckPolicy::None,
            deliver_policy: DeliverPolicy::All,
            inactive_threshold: Duration::from_hours(1),
            ..pull::Config::default()
        };
        let consumer = self.connection.request(results.create_consumer(config))?;
        let mut waiting = self.connection.request(results.get_info())?.state.messages;
        let mut messages = self.connection.request(consumer.messages())?;
        let shared = Arc::clone(&self.shared);
        self.connection.wait(async {
            while waiting > 0 {
                match tokio::time::timeout(LEASE, messages.next()).await {
                    Ok(Some(Ok(message))) => shared.on_ended(&message.payload),
                    Ok(Some(Err(error))) => return Err(broken(error)),
                    Ok(None) | Err(_) => return Err(broken("results are missing")),
                }
                waiting -= 1;
            }
            Ok(())
        })?;
        let task = async move {
            while let Some(message) = messages.next().await {
                // Errors of a lost connection are temporary.
                if let Ok(message) = message {
                    shared.on_ended(&message.payload);
                }
            }
            let text = "the subscription of results has ended".to_owned();
            let _ = shared.reports.send(Report::QueueFailed(QueueError { text }));
        };
        let task = self.connection.spawn(task);
        self.tasks.push(task);
        Ok(())
    }

    /// Receives messages of workers, and detects lost workers.
    fn follow_workers(&mut self) -> Result<(), QueueError> {
        let client = &self.connection.client;
        let mut messages = self.connection.request(client.subscribe(self.names.updates.clone()))?;
        let shared = Arc::clone(&self.shared);
        let task = async move {
            let mut heartbeat = tokio::time::interval(HEARTBEAT);
            loop {
                tokio::select! {
                    Some(message) = messages.next() => {
                        if let Some(message) = read::<WorkerMessage>(&message.payload) {
                            shared.on_message(message);
                        }
                    }
                    _ = heartbeat.tick() => {
                        shared.remove_lost_workers();
                        shared.check_rejections();
                    }
                    else => break,
                }
            }
        };
        let task = self.connection.spawn(task);
        self.tasks.push(task);
        Ok(())
    }

    /// Announces the match, or its stop, to workers.
    fn announce(&self, stop: Option<Stop>) -> Result<(), QueueError> {
        let spec = self.spec.clone();
        let text = write(&OpenMatch { spec, stop })?;
        let matches = self.connection.create_matches()?;
        self.connection.request(matches.put(&self.names.id, text.into())).map(drop)
    }

    /// Deletes the match from the server.
    ///
    /// # Errors
    /// The server does not respond.
    pub fn clear(mut self) -> Result<(), QueueError> {
        self.closed = true;
        let matches = self.connection.create_matches()?;
        self.connection.request(matches.delete(&self.names.id))?;
        let stream = &self.connection.stream;
        self.connection.request(stream.delete_stream(&self.names.jobs))?;
        self.connection.request(stream.delete_stream(&self.names.results))?;
        Ok(())
    }
}

impl Dispatcher for NatsDispatcher {
    fn offer(&mut self, job: Job) -> Result<(), QueueError> {
        let index = job.pairing.index;
        let early = {
            let mut state = self.shared.state();
            state.offered.insert(index);
            state.early.remove(&index)
        };
        if let Some(ended) = early {
            self.shared.report(ended);
            return Ok(());
        }
        // A requeued job is a new message; a retransmission is deduplicated by its name.
        let name = self.connection.client.new_inbox();
        let text = write(&job)?;
        let subject = &self.names.jobs_subject;
        self.connection.publish(subject, &text, &name, MAX_OUTAGE, || true).map(drop)
    }

    fn stop(&mut self, how: Stop) -> Result<(), QueueError> {
        self.announce(Some(how))?;
        let stream = &self.connection.stream;
        let jobs = self.connection.request(stream.get_stream(&self.names.jobs))?;
        self.connection.wait(async { jobs.purge().await }).map_err(broken)?;
        self.shared.stop(how);
        Ok(())
    }
}

impl Drop for NatsDispatcher {
    fn drop(&mut self) {
        if !self.closed {
            // Workers detect the outage of a server by themselves.
            let _ = self.announce(Some(Stop::Finish));
        }
        self.tasks.iter().for_each(JoinHandle::abort);
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn send(&self, report: Report) {
        // Fails without a coordinator, which then needs no report.
        let _ = self.reports.send(report);
    }

    /// Handles a message of the stream of results.
    fn on_ended(&self, payload: &[u8]) {
        let Some(ended) = read::<Ended>(payload) else { return };
        {
            // The lock covers the check and the insertion: a concurrent offer must not be missed.
            let mut state = self.state();
            if state.known.contains(ended.index()) {
                return;
            }
            if !state.offered.contains(&ended.index()) {
                // Failures of a previous run are obsolete.
                if let Ended::Done { .. } = ended {
                    state.early.insert(ended.index(), ended);
                }
                return;
            }
        }
        self.report(ended);
    }

    fn report(&self, ended: Ended) {
        let index = ended.index();
        {
            let mut state = self.state();
            state.offered.remove(&index);
            state.taken.remove(&index);
            if matches!(ended, Ended::Done { .. }) {
                state.known.insert(index);
            }
        }
        self.send(match ended {
            Ended::Done { worker, result } => {
                Report::Done { worker, result: Box::new(result), records: None }
            }
            Ended::Failed { why, .. } => Report::Returned { index, why: ReturnReason::Failed(why) },
            Ended::Lost { .. } => Report::Returned { index, why: ReturnReason::TooManyDeliveries },
        });
    }

    fn on_message(&self, message: WorkerMessage) {
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
                if state.offered.contains(&index) {
                    state.taken.insert(index, worker);
                }
            }
            WorkerUpdate::Returned { index } => {
                let mut state = self.state();
                state.taken.remove(&index);
                let why =
                    if state.stopping { ReturnReason::Withdrawn } else { ReturnReason::Requeued };
                let offered = state.offered.contains(&index);
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

    fn remove_lost_workers(&self) {
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

    fn check_rejections(&self) {
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

    fn stop(&self, how: Stop) {
        let lost: Vec<u64> = {
            let mut state = self.state();
            state.stopping = true;
            let waiting: Vec<u64> = state
                .offered
                .iter()
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

impl fmt::Debug for NatsDispatcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NatsDispatcher").field("names", &self.names).finish_non_exhaustive()
    }
}

/// Maximum number of stored rejections.
const MAX_REJECTIONS: usize = 64;

/// A probing worker without a heartbeat for this time is considered lost.
const PROBE_TIMEOUT: Duration = HEARTBEAT.saturating_mul(8);

/// The rejections of a match.
#[derive(Debug, Default)]
struct Rejections {
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
    fn on_probing(&mut self, worker: WorkerId, now: Instant) {
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
