//! The coordinator's end of the NATS queue.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_nats::jetstream::Message;
use async_nats::jetstream::consumer::{AckPolicy, DeliverPolicy, pull};
use async_nats::jetstream::kv::Store;
use async_nats::jetstream::message::PublishMessage;
use async_nats::jetstream::stream::{Config, RetentionPolicy, StorageType};
use futures_util::StreamExt;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::JoinHandle;
use tokio::time::Instant;

use crate::event::End;
use crate::game::{Tablebases, verify_pair};
use crate::pairing::{PairResult, Pairing};
use crate::queue::nats::admin::{archive, update_control};
use crate::queue::nats::connection::{Connection, RETRY_DELAY};
use crate::queue::nats::lease::{Lease, Renewal};
use crate::queue::nats::messages::{
    Control, Ended, Names, OpenMatch, QuarantinedResult, STATUS, WORKERS, WorkerMessage,
    WorkerUpdate, broken, machine_of, quarantine_text, read, write,
};
use crate::queue::nats::status::StatusBuilder;
use crate::queue::nats::{HEARTBEAT, LEASE, files, scale_times};
use crate::queue::{
    Dispatcher, Job, MatchSpec, QueueError, Rejection, Report, ReturnReason, Stop, WorkerId,
};
use crate::store::IndexSet;
use crate::time::unix_ms;

/// Maximum outage of the server. Interrupts are not handled meanwhile.
const MAX_OUTAGE: Duration = Duration::from_mins(1);

/// Maximum interval between two checks of the settings of users.
const MAX_TICK: Duration = Duration::from_secs(1);

/// Minimum number of jobs in the queue: idle workers find one without delay.
const MIN_OFFERED: usize = 32;

/// A worker without a message for this time is considered lost.
const WORKER_TIMEOUT: Duration = HEARTBEAT.saturating_mul(8);

/// The coordinator's end of the NATS queue. Dropping it ends its lease: workers leave the match, and another coordinator
/// can take it over.
pub struct NatsDispatcher {
    connection: Connection,
    names: Names,
    spec: MatchSpec,
    created_ms: u64,
    lease: Arc<tokio::sync::Mutex<Lease>>,
    shared: Arc<Shared>,
    tasks: Vec<JoinHandle<()>>,
    closed: bool,
}

/// Settings of the coordinator's end.
#[derive(Clone, Debug)]
pub struct CoordinatorSettings {
    /// A worker that is silent for this time loses its job, and a coordinator its match. [`LEASE`] suits most matches.
    /// If all workers have rejected the match, it waits twice as long for others.
    pub lease: Duration,
    /// The priority of a new match.
    pub priority: i32,
    /// The tablebases for the verification of adjudications.
    pub tablebases: Option<Arc<dyn Tablebases>>,
}

impl Default for CoordinatorSettings {
    fn default() -> Self {
        Self { lease: LEASE, priority: 0, tablebases: None }
    }
}

struct Shared {
    state: Mutex<State>,
    spec: MatchSpec,
    tablebases: Option<Arc<dyn Tablebases>>,
    reports: Sender<Report>,
    /// Invalid results, which are quarantined by a task.
    invalid: UnboundedSender<Invalid>,
    /// How long to wait for other workers after all have rejected the match.
    rejection_timeout: Duration,
}

/// An invalid result.
struct Invalid {
    /// Its sequence number in the stream of results.
    sequence: Option<u64>,
    worker: WorkerId,
    why: String,
    pairing: Pairing,
    /// Whether the worker has sent too many of them.
    exclude: bool,
}

#[derive(Default)]
struct State {
    /// The jobs in progress.
    offered: BTreeMap<u64, Pairing>,
    /// The holders of jobs.
    taken: BTreeMap<u64, WorkerId>,
    /// Indices of known results. Duplicates are ignored.
    known: IndexSet,
    /// Results of a previous coordinator, for pairings that are not offered yet.
    early: BTreeMap<u64, (Ended, Option<u64>)>,
    /// The time of the last message of each worker; `None` after it has left.
    last_seen: BTreeMap<WorkerId, Option<Instant>>,
    rejections: Rejections,
    stopping: bool,
    control: Control,
    status: StatusBuilder,
}

/// The number of invalid results of a worker after which it is excluded.
const MAX_INVALID: u64 = 3;

impl NatsDispatcher {
    /// Opens a match for workers. For a resumed match, `stored` contains the known pairings, and other results on the
    /// server are used. For a new match, `stored` is `None`, and results on the server are obsolete and deleted.
    ///
    /// # Errors
    /// The server does not respond or denies access, a program cannot be read, or another coordinator has the match.
    pub fn open(
        connection: &Connection,
        spec: MatchSpec,
        stored: Option<&IndexSet>,
        settings: CoordinatorSettings,
        reports: Sender<Report>,
    ) -> Result<Self, QueueError> {
        let CoordinatorSettings { lease: timeout, priority, tablebases } = settings;
        let names = Names::of(spec.plan_hash);
        let matches = connection.create_queue(timeout)?;
        let lease = Lease::acquire(connection, &names.id, timeout)?;
        let interval = lease.interval();
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
            ack_wait: timeout,
            ..pull::Config::default()
        };
        connection.request(jobs.get_or_create_consumer(WORKERS, workers))?;
        files::upload(connection, &spec)?;
        let before: Option<OpenMatch> = connection.value(&matches, &names.id)?;
        let before = before.filter(|_| stored.is_some());
        let control = connection.value::<Control>(&matches, &names.control)?;
        let control = match control.filter(|_| stored.is_some()) {
            // A stop has ended the previous run.
            Some(control) => Control { stop: false, ..control },
            None => Control { priority, ..Control::default() },
        };
        connection.request(matches.put(&names.control, write(&control)?.into()))?;
        let created_ms = before.map_or_else(unix_ms, |open| open.created_ms);
        let status = StatusBuilder::new(&spec.plan);
        if !control.excluded.is_empty() {
            // Fails without a coordinator, which then needs no report.
            let _ = reports.send(Report::Excluded(control.excluded.clone()));
        }
        let state = State {
            known: stored.cloned().unwrap_or_default(),
            control,
            status,
            ..State::default()
        };
        let (invalid, invalid_results) = unbounded_channel();
        let shared = Arc::new(Shared {
            state: Mutex::new(state),
            spec: spec.clone(),
            tablebases,
            reports,
            invalid,
            rejection_timeout: timeout * 2,
        });
        let lease = Arc::new(tokio::sync::Mutex::new(lease));
        let mut this = Self {
            connection: connection.clone(),
            names,
            spec,
            created_ms,
            lease,
            shared,
            tasks: Vec::new(),
            closed: false,
        };
        this.follow_results(&results)?;
        this.quarantine(results, matches.clone(), invalid_results);
        this.follow_workers()?;
        this.announce(None)?;
        this.follow_users(&matches, interval)?;
        Ok(this)
    }

    /// The identifier of the match in the queue.
    pub fn id(&self) -> &str {
        &self.names.id
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
                    Ok(Some(Ok(message))) => shared.on_ended(&message),
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
                    shared.on_ended(&message);
                }
            }
            let text = "the subscription of results has ended".to_owned();
            let _ = shared.reports.send(Report::QueueFailed(QueueError { text }));
        };
        let task = self.connection.spawn(task);
        self.tasks.push(task);
        Ok(())
    }

    /// Quarantines invalid results, and offers their pairings again.
    fn quarantine(
        &mut self,
        results: async_nats::jetstream::stream::Stream,
        matches: Store,
        mut invalid: UnboundedReceiver<Invalid>,
    ) {
        let stream = self.connection.stream.clone();
        let client = self.connection.client.clone();
        let (names, spec) = (self.names.clone(), self.spec.clone());
        let task = async move {
            while let Some(Invalid { sequence, worker, why, pairing, exclude }) =
                invalid.recv().await
            {
                let index = pairing.index;
                let machine = machine_of(&worker).to_owned();
                let entry = QuarantinedResult { worker, index, why, at_ms: unix_ms() };
                if let Some(sequence) = sequence {
                    // The original message is evidence. The limit of the stream bounds its size.
                    let original = results.get_raw_message(sequence).await.ok();
                    let original = original.map(|it| it.payload);
                    let text = quarantine_text(&entry, original.as_deref());
                    if let Ok(text) = text
                        && let Ok(ack) = stream.publish(names.quarantine.clone(), text.into()).await
                        && ack.await.is_ok()
                    {
                        // Otherwise the next coordinator quarantines it.
                        let _ = results.delete_message(sequence).await;
                    }
                }
                if exclude {
                    let _ = update_control(&matches, &names.control, |control| {
                        control.excluded.insert(machine.clone());
                    })
                    .await;
                }
                let Ok(job) = write(&spec.job(pairing)) else { continue };
                loop {
                    let message = PublishMessage::build().payload(job.clone().into());
                    let message = message.message_id(client.new_inbox());
                    let sent = stream.send_publish(names.jobs_subject.clone(), message).await;
                    if let Ok(ack) = sent
                        && ack.await.is_ok()
                    {
                        break;
                    }
                    tokio::time::sleep(RETRY_DELAY).await;
                }
            }
        };
        self.tasks.push(self.connection.spawn(task));
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

    /// Renews the lease, applies the settings of users, and publishes the state of the match.
    fn follow_users(&mut self, matches: &Store, interval: Duration) -> Result<(), QueueError> {
        let status = self.connection.find_bucket(STATUS)?.ok_or_else(|| broken("no states"))?;
        let (matches, names) = (matches.clone(), self.names.clone());
        let (shared, lease) = (Arc::clone(&self.shared), Arc::clone(&self.lease));
        let task = async move {
            let mut tick = tokio::time::interval((interval / 2).min(MAX_TICK));
            tick.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
            let mut renew_at = Instant::now() + interval;
            loop {
                tick.tick().await;
                if renew_at <= Instant::now() {
                    renew_at = Instant::now() + interval;
                    if let Renewal::Lost(by) = lease.lock().await.renew().await {
                        shared.send(Report::QueueFailed(QueueError {
                            text: format!("the coordinator {by} has taken the match over"),
                        }));
                        return;
                    }
                }
                if let Ok(Some(value)) = matches.get(&names.control).await
                    && let Some(control) = read::<Control>(&value)
                {
                    shared.on_control(control);
                }
                let text = shared.state().status.take_changed();
                if let Some(text) = text.and_then(|status| write(&status).ok()) {
                    // The next change is published again.
                    let _ = status.put(&names.id, text.into()).await;
                }
            }
        };
        self.tasks.push(self.connection.spawn(task));
        Ok(())
    }

    /// Announces the match, or its stop, to workers.
    fn announce(&self, stop: Option<Stop>) -> Result<(), QueueError> {
        let (spec, created_ms) = (self.spec.clone(), self.created_ms);
        let text = write(&OpenMatch { spec, stop, created_ms })?;
        let matches = self.connection.find_matches()?.ok_or_else(|| broken("no matches"))?;
        self.connection.request(matches.put(&self.names.id, text.into())).map(drop)
    }

    /// Moves the finished match to the history.
    ///
    /// # Errors
    /// The server does not respond.
    pub fn finish(mut self, end: &End) -> Result<(), QueueError> {
        self.close();
        let status = {
            let mut state = self.shared.state();
            state.status.finish(end);
            state.status.status().clone()
        };
        let open = OpenMatch { spec: self.spec.clone(), stop: None, created_ms: self.created_ms };
        archive(&self.connection, &self.names, open, status)?;
        self.connection.wait(async { self.lease.lock().await.release().await });
        Ok(())
    }

    /// Ends without a message, like a process that was killed. The lease remains until its timeout.
    pub fn abandon(mut self) {
        self.close();
    }

    fn close(&mut self) {
        self.closed = true;
        self.tasks.iter().for_each(JoinHandle::abort);
    }
}

impl Dispatcher for NatsDispatcher {
    fn offer(&mut self, job: Job) -> Result<(), QueueError> {
        let index = job.pairing.index;
        let early = {
            let mut state = self.shared.state();
            state.offered.insert(index, job.pairing.clone());
            state.early.remove(&index)
        };
        if let Some((ended, sequence)) = early {
            self.shared.report(ended, sequence);
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

    fn min_offered(&self) -> usize {
        MIN_OFFERED
    }

    fn on_stored(&mut self, pair: &PairResult) {
        self.shared.state().status.add(pair);
    }

    fn on_discarded(&mut self, indices: &[u64]) {
        let mut state = self.shared.state();
        for index in indices {
            state.known.remove(*index);
        }
        state.status.clear_results();
    }

    fn on_warning(&mut self, text: &str) {
        self.shared.state().status.warn(text);
    }
}

impl Drop for NatsDispatcher {
    fn drop(&mut self) {
        if self.closed {
            return;
        }
        self.close();
        let lease = Arc::clone(&self.lease);
        self.connection.wait(async move {
            let release = async { lease.lock().await.release().await };
            // Workers detect the end of the lease by themselves.
            let _ = tokio::time::timeout(HEARTBEAT, release).await;
        });
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
    fn on_ended(&self, message: &Message) {
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
        if self.state().is_excluded(worker) {
            return Some("the worker is excluded".to_owned());
        }
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

    fn report(&self, ended: Ended, sequence: Option<u64>) {
        let index = ended.index();
        let Some(pairing) = self.state().offered.get(&index).cloned() else { return };
        if let Some(why) = self.contradiction(&pairing, &ended) {
            return self.reject(ended, sequence, pairing, why);
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

    /// Rejects an invalid result. Its pairing is offered again, unless the match is being stopped.
    fn reject(&self, ended: Ended, sequence: Option<u64>, pairing: Pairing, why: String) {
        let Ended::Done { worker, .. } = ended else { return };
        let index = pairing.index;
        let (stopping, exclude) = {
            let mut state = self.state();
            state.taken.remove(&index);
            let machine = WorkerId(machine_of(&worker).to_owned());
            let is_excluded = state.is_excluded(&worker);
            let count = state.status.workers_mut().add_invalid(&machine);
            state.status.add_quarantined(QuarantinedResult {
                worker: worker.clone(),
                index,
                why: why.clone(),
                at_ms: unix_ms(),
            });
            if state.stopping {
                state.offered.remove(&index);
            }
            (state.stopping, count >= MAX_INVALID && !is_excluded)
        };
        self.send(Report::Invalid { worker: worker.clone(), index, why: why.clone() });
        if stopping {
            self.send(Report::Returned { index, why: ReturnReason::Withdrawn });
        } else {
            // Fails if the match is closed.
            let _ = self.invalid.send(Invalid { sequence, worker, why, pairing, exclude });
        }
    }

    /// Applies the settings of users.
    fn on_control(&self, control: Control) {
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
