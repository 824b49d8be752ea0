//! The coordinator's end of the NATS queue.

mod state;

use std::fmt;
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_nats::jetstream::consumer::{AckPolicy, DeliverPolicy, pull};
use async_nats::jetstream::kv::Store;
use async_nats::jetstream::message::PublishMessage;
use async_nats::jetstream::stream::{Config, RetentionPolicy, StorageType};
use futures_util::StreamExt;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::task::JoinHandle;
use tokio::time::Instant;

use crate::event::End;
use crate::game::Tablebases;
use crate::match_state::MatchState;
use crate::pairing::PairResult;
use crate::queue::nats::admin::{archive, update_control};
use crate::queue::nats::connection::{Connection, RETRY_DELAY};
use crate::queue::nats::lease::{Lease, OpenError, Renewal};
use crate::queue::nats::messages::{
    Names, OpenMatch, STATUS, WORKERS, WorkerMessage, broken, quarantine_text, read, write,
};
use crate::queue::nats::{HEARTBEAT, LEASE, files};
use crate::queue::status::{Control, QuarantinedResult};
use crate::queue::{Dispatcher, Job, MatchSpec, QueueError, Report, Stop};
use crate::store::IndexSet;
use crate::time::unix_ms;

use state::{Rejected, Shared, State};

/// Maximum outage of the server. Interrupts are not handled meanwhile.
const MAX_OUTAGE: Duration = Duration::from_mins(1);

/// Maximum interval between two checks of the settings of users.
const MAX_TICK: Duration = Duration::from_secs(1);

/// Minimum number of jobs in the queue: idle workers find one without delay.
const MIN_OFFERED: usize = 32;

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
    ) -> Result<Self, OpenError> {
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
        if !control.excluded.is_empty() {
            // Fails without a coordinator, which then needs no report.
            let _ = reports.send(Report::Excluded(control.excluded.clone()));
        }
        let state =
            State { known: stored.cloned().unwrap_or_default(), control, ..State::default() };
        let (rejected, rejected_results) = unbounded_channel();
        let shared = Arc::new(Shared {
            state: Mutex::new(state),
            spec: spec.clone(),
            tablebases,
            reports,
            rejected,
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
        this.quarantine(results, matches.clone(), rejected_results);
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

    /// Quarantines invalid results, deletes results of excluded workers, and offers their pairings again.
    fn quarantine(
        &mut self,
        results: async_nats::jetstream::stream::Stream,
        matches: Store,
        mut rejected: UnboundedReceiver<Rejected>,
    ) {
        let stream = self.connection.stream.clone();
        let client = self.connection.client.clone();
        let (names, spec) = (self.names.clone(), self.spec.clone());
        let task = async move {
            // The original message is evidence. The limit of the stream bounds its size.
            let save = async |entry: &QuarantinedResult, sequence| {
                let original = results.get_raw_message(sequence).await.ok();
                let original = original.map(|message| message.payload);
                let text = quarantine_text(entry, original.as_deref()).ok()?;
                let ack = stream.publish(names.quarantine.clone(), text.into()).await.ok()?;
                ack.await.ok()
            };
            while let Some(Rejected { sequence, pairing, entry, exclude }) = rejected.recv().await {
                if let Some(sequence) = sequence {
                    let is_saved = match &entry {
                        Some(entry) => save(entry, sequence).await.is_some(),
                        None => true,
                    };
                    if is_saved {
                        // Otherwise the next coordinator quarantines it.
                        let _ = results.delete_message(sequence).await;
                    }
                }
                if let Some(machine) = exclude {
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
        self.shared.state().status.workers_mut().add(pair);
    }

    fn on_discarded(&mut self, indices: &[u64]) {
        let mut state = self.shared.state();
        for index in indices {
            state.known.remove(*index);
        }
        state.status.workers_mut().clear_results();
    }

    fn on_results(&mut self, state: &MatchState) {
        self.shared.state().status.show(state);
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

impl fmt::Debug for NatsDispatcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NatsDispatcher").field("names", &self.names).finish_non_exhaustive()
    }
}
