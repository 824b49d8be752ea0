//! The coordinator's end.

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

use super::connection::Connection;
use super::messages::{Ended, OpenMatch, WorkerMessage, WorkerUpdate, broken, read, write};
use super::names::{Names, WORKERS};
use super::rejections::Rejections;
use super::{HEARTBEAT, LEASE, files};
use crate::queue::{Dispatcher, Job, MatchSpec, QueueError, Report, ReturnReason, Stop, WorkerId};
use crate::store::IndexSet;

/// How long a server may be away: it is started again, or gone. Nobody hears an interrupt meanwhile.
const MAX_OUTAGE: Duration = Duration::from_mins(1);

/// A worker that is silent for so long has gone.
const SILENCE: Duration = HEARTBEAT.saturating_mul(8);

/// The coordinator's end. Dropping it closes the match for workers.
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
    /// How long a match may have no workers but those that refuse it.
    patience: Duration,
}

#[derive(Default)]
struct State {
    /// What was offered and has not ended, by its index.
    offered: BTreeSet<u64>,
    /// Who has taken what.
    taken: BTreeMap<u64, WorkerId>,
    /// Whose results are known: more of them tell nothing.
    known: IndexSet,
    /// Results of pairings that nobody has offered yet: of a coordinator before this one.
    early: BTreeMap<u64, Ended>,
    /// When each worker was last_seen last.
    last_seen: BTreeMap<WorkerId, Option<Instant>>,
    rejections: Rejections,
    stopping: bool,
}

impl NatsDispatcher {
    /// Opens a match for workers. `stored` says which pairs are known of a match that goes on: other results of it
    /// may be on the server. Those of a new one are of another time, and are thrown away.
    /// A worker that is silent for `lease` loses its job; [`LEASE`] suits most matches. For twice as long the
    /// match waits for others if all workers that are there refuse it.
    ///
    /// # Errors
    /// The server does not answer or does not allow it, or a program of the order cannot be read.
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
        let mut there = connection.request(stream.get_or_create_stream(results.clone()))?;
        if stored.is_none() {
            // The server would know the names of messages for two minutes after they were purged.
            connection.request(stream.delete_stream(&names.results))?;
            there = connection.request(stream.create_stream(results))?;
        }
        let results = there;
        // What a coordinator before this one has offered is offered again by the schedule.
        connection.wait(async { jobs.purge().await }).map_err(broken)?;
        let workers = pull::Config {
            durable_name: Some(WORKERS.to_owned()),
            ack_policy: AckPolicy::Explicit,
            ack_wait: lease,
            ..pull::Config::default()
        };
        connection.request(jobs.get_or_create_consumer(WORKERS, workers))?;
        files::deliver(connection, &spec)?;
        let state = State { known: stored.cloned().unwrap_or_default(), ..State::default() };
        let shared = Arc::new(Shared { state: Mutex::new(state), reports, patience: lease * 2 });
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

    /// Reads all results there are, and then those that come.
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
                    Ok(Some(Ok(message))) => shared.ended(&message.payload),
                    Ok(Some(Err(error))) => return Err(broken(error)),
                    Ok(None) | Err(_) => return Err(broken("results are missing")),
                }
                waiting -= 1;
            }
            Ok(())
        })?;
        let task = async move {
            while let Some(message) = messages.next().await {
                // A connection that is lost for a while is an error, and comes back.
                if let Ok(message) = message {
                    shared.ended(&message.payload);
                }
            }
            let text = "results do not come any more".to_owned();
            let _ = shared.reports.send(Report::QueueFailed(QueueError { text }));
        };
        let task = self.connection.spawn(task);
        self.tasks.push(task);
        Ok(())
    }

    /// Hears what workers tell, and notices who is silent.
    fn follow_workers(&mut self) -> Result<(), QueueError> {
        let client = &self.connection.client;
        let mut told = self.connection.request(client.subscribe(self.names.updates.clone()))?;
        let shared = Arc::clone(&self.shared);
        let task = async move {
            let mut heartbeat = tokio::time::interval(HEARTBEAT);
            loop {
                tokio::select! {
                    Some(message) = told.next() => {
                        if let Some(told) = read::<WorkerMessage>(&message.payload) {
                            shared.told(told);
                        }
                    }
                    _ = heartbeat.tick() => {
                        shared.notice_silence();
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

    /// Tells workers that the match is there, or that it is stopped.
    fn announce(&self, stop: Option<Stop>) -> Result<(), QueueError> {
        let spec = self.spec.clone();
        let text = write(&OpenMatch { spec, stop })?;
        let matches = self.connection.create_matches()?;
        self.connection.request(matches.put(&self.names.id, text.into())).map(drop)
    }

    /// Takes the match off the server: nobody will ask for it again.
    ///
    /// # Errors
    /// The server does not answer.
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
        // A job that came back is another message, and one that is sent again is not.
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
            // A server that is gone tells workers by being gone.
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
        // A coordinator that is gone does not want to know.
        let _ = self.reports.send(report);
    }

    /// A message of the stream of results.
    fn ended(&self, payload: &[u8]) {
        let Some(ended) = read::<Ended>(payload) else { return };
        {
            // One that is offered meanwhile must not be missed.
            let mut state = self.state();
            if state.known.contains(ended.index()) {
                return;
            }
            if !state.offered.contains(&ended.index()) {
                // How others fared tells nothing of who is there now.
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

    fn told(&self, told: WorkerMessage) {
        let WorkerMessage { worker, news } = told;
        // These two are not there to play.
        match &news {
            WorkerUpdate::ProbeNotice => {
                return self.state().rejections.on_probing(worker, Instant::now());
            }
            WorkerUpdate::Rejected { why } => {
                if self.state().rejections.refuse(&worker, why) {
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
        match news {
            WorkerUpdate::Alive | WorkerUpdate::ProbeNotice | WorkerUpdate::Rejected { .. } => {}
            WorkerUpdate::Left => self.left(&worker),
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

    fn notice_silence(&self) {
        let now = Instant::now();
        let silent: Vec<WorkerId> = self
            .state()
            .last_seen
            .iter()
            .filter(|(_, last_seen)| last_seen.is_some_and(|last_seen| now > last_seen + SILENCE))
            .map(|(worker, _)| worker.clone())
            .collect();
        for worker in &silent {
            self.left(worker);
        }
    }

    fn check_rejections(&self) {
        let rejections = {
            let mut state = self.state();
            let has_players = state.last_seen.values().any(Option::is_some);
            let is_over = state.stopping;
            let now = Instant::now();
            state.rejections.look(has_players || is_over, self.patience, now)
        };
        if let Some(rejections) = rejections {
            self.send(Report::AllRejected(rejections));
        }
    }

    fn left(&self, worker: &WorkerId) {
        let lost = {
            let mut state = self.state();
            if state.last_seen.insert(worker.clone(), None).flatten().is_none() {
                return;
            }
            if state.stopping {
                state.lose(|holder| holder == worker)
            } else {
                // The server gives its job to another one.
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
    /// Gives up jobs by who holds them.
    fn lose(&mut self, is_lost: impl Fn(&WorkerId) -> bool) -> Vec<u64> {
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
