//! The coordinator's end of the NATS queue.

mod audited;
mod rejections;
mod state;

use std::collections::BTreeSet;
use std::fmt;
use std::sync::atomic::AtomicUsize;
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_nats::Message;
use async_nats::jetstream::consumer::{AckPolicy, DeliverPolicy, pull};
use async_nats::jetstream::kv::Store;
use async_nats::jetstream::stream::{
    Config, DirectGetErrorKind, DiscardPolicy, RetentionPolicy, StorageType, Stream,
};
use futures_util::{FutureExt, StreamExt, stream};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::task::{JoinHandle, unconstrained};
use tokio::time::{Instant, MissedTickBehavior, interval, sleep};

use crate::event::End;
use crate::game::Tablebases;
use crate::match_state::MatchState;
use crate::pairing::PairResult;
use crate::queue::nats::admin::{archive, update_control};
use crate::queue::nats::audits::{AuditRecord, Audits};
use crate::queue::nats::connection::{Connection, OpenError, Outage, REJECTED, RETRY_DELAY};
use crate::queue::nats::lease::{Lease, Renewal};
use crate::queue::nats::ledger::Ledger;
use crate::queue::nats::messages::{
    Announcement, COORDINATOR, KEYS, Names, OpenMatch, STATUS, StoredResult, broken, hello_subject,
    is_inbox_of, last_token, quarantine_text, read, read_owned, sender_of, write,
};
use crate::queue::nats::{LEASE, files};
use crate::queue::status::Control;
use crate::queue::{Dispatcher, Job, MatchSpec, QueueError, Report, Stop};
use crate::runner::threads_of;
use crate::store::IndexSet;
use crate::time::unix_ms;

use state::{Chore, Shared, State};

/// Maximum interval between two checks of the settings of users, and of the jobs of silent workers.
const MAX_TICK: Duration = Duration::from_secs(1);

/// Minimum interval between two announcements.
const MIN_ANNOUNCE: Duration = Duration::from_millis(200);

/// The number of jobs without a holder: workers find one without delay.
const MIN_WAITING: usize = 64;

/// The number of results of a worker that wait for the coordinator. A worker with more of them waits.
const MAX_INBOX_PER_WORKER: i64 = 256;

/// The number of results of all workers that wait for the coordinator.
const MAX_INBOX: i64 = 20_000;

/// The number of results that the coordinator has read and that are not on disk yet.
const MAX_UNSYNCED: i64 = 1024;

/// The number of results that the server sends together: each one has up to the maximum size of a message.
const RESULTS_PER_BATCH: usize = 16;

/// The number of notes that are handled before a result, at most: a flood of them must not delay it.
const MAX_EARLIER_NOTES: usize = 256;

/// Time after which the server sends a result again that is not on disk.
const SYNC_TIMEOUT: Duration = Duration::from_mins(5);

/// Interval of checks whether chores are done, at the end.
const CHORE_POLL: Duration = Duration::from_millis(10);

/// Timeout of the end of the lease.
const RELEASE_TIMEOUT: Duration = Duration::from_secs(3);

/// The number of requests for results of an earlier coordinator at the same time.
const LOADS: usize = 32;

/// The coordinator's end of the NATS queue. Dropping it ends its lease: workers leave the match, and another coordinator
/// can take it over.
pub struct NatsDispatcher {
    connection: Connection,
    names: Names,
    spec: MatchSpec,
    created_ms: u64,
    lease: Arc<tokio::sync::Mutex<Lease>>,
    shared: Arc<Shared>,
    /// Stored results that are not on disk yet.
    stored: Vec<u64>,
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
        let (inbox, results) = streams(connection, &names, stored.is_none())?;
        files::upload(connection, &spec)?;
        let before: Option<OpenMatch> = connection.value(&matches, &names.id)?;
        let before = before.filter(|_| stored.is_some());
        // The results of a resumed match have times that are relative to the first reference.
        let reference = before.as_ref().and_then(|open| open.spec.speed.clone());
        let speed = spec.speed.clone().and_then(|speed| reference.or(Some(speed)));
        let spec = MatchSpec { speed, ..spec };
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
        let key = connection.match_key(&names.id, stored.is_none())?;
        let term = lease.term();
        let lease_ms = u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX);
        let ledger = Ledger::new(&names.id, &key, term, lease_ms);
        let has_verified_names = connection.has_verified_names();
        let record = audit_record(connection, &names, stored.is_none())?;
        let audits = Audits::new(&spec.plan, &ledger, has_verified_names, record);
        let known = stored.cloned().unwrap_or_default();
        let mut state = State::new(ledger, audits, known, control, threads_of(&spec.plan) as u64);
        state.kept = kept(connection, &results)?;
        state.status.set_verified(has_verified_names);
        let (chores, received) = unbounded_channel();
        let open = OpenMatch { spec: spec.clone(), stop: None, created_ms };
        let revision = connection.request(matches.put(&names.id, write(&open)?.into()))?;
        let shared = Arc::new(Shared {
            state: Mutex::new(state),
            spec: spec.clone(),
            tablebases,
            reports,
            chores,
            open_chores: AtomicUsize::new(0),
            start: Instant::now(),
            lease: timeout,
            revision,
        });
        let renewal = lease.interval();
        let lease = Arc::new(tokio::sync::Mutex::new(lease));
        let mut this = Self {
            connection: connection.clone(),
            names,
            spec,
            created_ms,
            lease,
            shared,
            stored: Vec::new(),
            tasks: Vec::new(),
            closed: false,
        };
        this.follow_results(&inbox)?;
        this.do_chores(results, matches.clone(), received);
        this.follow_workers()?;
        this.follow_users(&matches, renewal)?;
        this.announce_changes();
        Ok(this)
    }

    /// The identifier of the match in the queue.
    pub fn id(&self) -> &str {
        &self.names.id
    }

    /// Reads results and notes of workers: a note that was sent before a result is handled before it.
    fn follow_results(&mut self, inbox: &Stream) -> Result<(), QueueError> {
        let config = pull::Config {
            durable_name: Some(COORDINATOR.to_owned()),
            ack_policy: AckPolicy::Explicit,
            ack_wait: SYNC_TIMEOUT,
            max_ack_pending: MAX_UNSYNCED,
            ..pull::Config::default()
        };
        // Messages that an earlier coordinator has read, but not acknowledged, are delivered again.
        let _ = self.connection.request(inbox.delete_consumer(COORDINATOR));
        let consumer = self.connection.request(inbox.create_consumer(config))?;
        let notes = self.connection.client.subscribe(self.names.note("*"));
        let mut notes = self.connection.request(notes)?;
        let messages = consumer.stream().max_messages_per_batch(RESULTS_PER_BATCH).messages();
        let mut messages = self.connection.request(messages)?;
        let shared = Arc::clone(&self.shared);
        let task = async move {
            let on_note = |message: Message| {
                if let Some(worker) = sender_of(&message.subject) {
                    shared.on_note(worker, &message.payload);
                }
            };
            loop {
                tokio::select! {
                    Some(note) = notes.next() => on_note(note),
                    message = messages.next() => {
                        let Some(message) = message else { break };
                        for _ in 0..MAX_EARLIER_NOTES {
                            let note = unconstrained(notes.next()).now_or_never().flatten();
                            let Some(note) = note else { break };
                            on_note(note);
                        }
                        // Errors of a lost connection are temporary.
                        if let Ok(message) = message {
                            shared.on_ended(message);
                        }
                    }
                }
            }
            let text = "the subscription of results has ended".to_owned();
            shared.send(Report::QueueFailed(QueueError { text }));
        };
        self.tasks.push(self.connection.spawn(task));
        Ok(())
    }

    /// Writes to the server what needs no answer.
    fn do_chores(&mut self, results: Stream, matches: Store, mut chores: UnboundedReceiver<Chore>) {
        let context = self.connection.stream.clone();
        let (names, shared) = (self.names.clone(), Arc::clone(&self.shared));
        let task = async move {
            let publish = async |subject: String, text: Vec<u8>| {
                let mut is_reported = false;
                loop {
                    let sent = context.publish(subject.clone(), text.clone().into()).await;
                    let error = match sent {
                        Ok(ack) => ack.await.err(),
                        Err(error) => Some(error),
                    };
                    let Some(error) = error else { return };
                    if !is_reported {
                        is_reported = true;
                        shared.warn_of_server(&format!(
                            "a result cannot be kept on the server, which is tried again: {error}; if its disk was full, free space and restart `nats-server`"
                        ));
                    }
                    sleep(RETRY_DELAY).await;
                }
            };
            let mut loads = Vec::new();
            while let Some(chore) = chores.recv().await {
                let is_load = matches!(chore, Chore::Load(_));
                match chore {
                    // An acknowledgement that is lost is sent again with the next delivery.
                    Chore::Drop(acker) => _ = acker.ack().await,
                    Chore::Keep { message, result } => {
                        if let Ok(text) = write(&*result) {
                            publish(names.stored(result.result.pairing.index), text).await;
                        }
                        _ = message.ack().await;
                    }
                    Chore::Quarantine { message, entry } => {
                        if let Ok(text) = quarantine_text(&entry, Some(&message.payload)) {
                            publish(names.quarantine.clone(), text).await;
                        }
                        _ = message.ack().await;
                    }
                    Chore::Exclude(worker) => {
                        let exclude = |control: &mut Control| {
                            control.excluded.insert(worker.clone());
                        };
                        while update_control(&matches, &names.control, exclude).await.is_err() {
                            sleep(RETRY_DELAY).await;
                        }
                        shared.on_exclusion_written(&worker);
                    }
                    Chore::Pause => {
                        let pause = |control: &mut Control| control.paused = true;
                        _ = update_control(&matches, &names.control, pause).await;
                    }
                    Chore::Discard(indices) => {
                        for index in indices {
                            // A copy that remains is a result of an excluded worker, which is not loaded.
                            _ = results.purge().filter(names.stored(index)).await;
                        }
                    }
                    Chore::Load(index) => {
                        loads.push(index);
                        if loads.len() >= LOADS || chores.is_empty() {
                            let loaded = stream::iter(std::mem::take(&mut loads)).map(|index| {
                                let (results, names) = (&results, &names);
                                async move { (index, load(results, names, index).await) }
                            });
                            let mut loaded = loaded.buffered(LOADS);
                            while let Some((index, result)) = loaded.next().await {
                                shared.on_loaded(index, result);
                                shared.on_chore_done();
                            }
                        }
                    }
                }
                if !is_load {
                    shared.on_chore_done();
                }
            }
        };
        self.tasks.push(self.connection.spawn(task));
    }

    /// Answers requests of workers.
    fn follow_workers(&mut self) -> Result<(), QueueError> {
        let client = &self.connection.client;
        let subscribe = |subject| self.connection.request(client.subscribe(subject));
        let mut takes = subscribe(self.names.take("*"))?;
        let mut hellos = subscribe(hello_subject("*"))?;
        self.connection.request(client.flush())?;
        let (client, shared) = (client.clone(), Arc::clone(&self.shared));
        let id = self.names.id.clone();
        let task = async move {
            let answer = async |worker: &str, request: &Message, text: Vec<u8>| {
                let reply = request.reply.as_ref().filter(|reply| is_inbox_of(worker, reply));
                if let Some(reply) = reply {
                    // A worker without an answer asks again.
                    _ = client.publish(reply.clone(), text.into()).await;
                }
            };
            loop {
                tokio::select! {
                    Some(message) = takes.next() => {
                        let Some(worker) = sender_of(&message.subject) else { continue };
                        if let Some(text) = shared.on_take(worker, &message.payload)
                            && let Ok(text) = write(&text)
                        {
                            answer(worker, &message, text).await;
                        }
                    }
                    Some(message) = hellos.next() => {
                        let hello = (&id, shared.announcement());
                        if let Some(worker) = sender_of(&message.subject)
                            && let Ok(text) = write(&hello)
                        {
                            answer(worker, &message, text).await;
                        }
                    }
                    else => break,
                }
            }
        };
        self.tasks.push(self.connection.spawn(task));
        Ok(())
    }

    /// Renews the lease, applies the settings of users, and publishes the state of the match.
    fn follow_users(&mut self, matches: &Store, renewal: Duration) -> Result<(), QueueError> {
        let status = self.connection.find_bucket(STATUS)?.ok_or_else(|| broken("no states"))?;
        let keys = self.connection.find_bucket(KEYS)?.ok_or_else(|| broken("no keys"))?;
        let (matches, names) = (matches.clone(), self.names.clone());
        let (shared, lease) = (Arc::clone(&self.shared), Arc::clone(&self.lease));
        let connection = self.connection.clone();
        let task = async move {
            let mut outage: Option<(Instant, bool)> = None;
            let mut tick = interval((renewal / 2).min(MAX_TICK));
            tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
            let mut renew_at = Instant::now() + renewal;
            loop {
                tick.tick().await;
                shared.tick();
                match (connection.outage(), &mut outage) {
                    (Some(Outage::Rejected), _) => {
                        let text = REJECTED.to_owned();
                        return shared.send(Report::QueueFailed(QueueError { text }));
                    }
                    (Some(Outage::Unreachable), None) => outage = Some((Instant::now(), false)),
                    (Some(Outage::Unreachable), Some((since, is_reported))) => {
                        if !*is_reported && since.elapsed() > shared.lease {
                            *is_reported = true;
                            shared.warn_of_server("the server does not respond, the match waits");
                        }
                    }
                    (None, Some((_, true))) => {
                        outage = None;
                        shared.warn_of_server("the server responds again");
                    }
                    (None, _) => outage = None,
                }
                if outage.is_some() {
                    continue;
                }
                if renew_at <= Instant::now() {
                    renew_at = Instant::now() + renewal;
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
                let record = shared.state().audits.take_changed();
                if let Some(record) = record
                    && keys.put(&names.audits, record.into()).await.is_err()
                {
                    shared.state().audits.set_changed();
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

    /// Publishes the state of the match for workers, after changes and regularly.
    fn announce_changes(&mut self) {
        let (client, shared) = (self.connection.client.clone(), Arc::clone(&self.shared));
        let subject = self.names.state.clone();
        let task = async move {
            let regular = shared.lease / 3;
            let mut tick = interval(MIN_ANNOUNCE.min(regular));
            tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
            let mut last: Option<(Instant, Announcement)> = None;
            loop {
                tick.tick().await;
                let announcement = shared.announcement();
                let is_known = last.as_ref().is_some_and(|(at, last)| {
                    // Idle workers are woken by new jobs, not by their end.
                    let has_less = Announcement { has_jobs: last.has_jobs, ..announcement.clone() };
                    at.elapsed() < regular
                        && *last == has_less
                        && announcement.has_jobs <= last.has_jobs
                });
                if is_known && !shared.take_wanted() {
                    continue;
                }
                if let Ok(text) = write(&announcement) {
                    // It is published again.
                    _ = client.publish(subject.clone(), text.into()).await;
                }
                last = Some((Instant::now(), announcement));
            }
        };
        self.tasks.push(self.connection.spawn(task));
    }

    /// Stores the stop of the match for workers that have missed its announcement.
    fn store_stop(&self, stop: Stop) -> Result<(), QueueError> {
        let (spec, created_ms) = (self.spec.clone(), self.created_ms);
        let text = write(&OpenMatch { spec, stop: Some(stop), created_ms })?;
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
            let mut guard = self.shared.state();
            let state = &mut *guard;
            state.audits.abandon_all();
            state.status.set_audits(state.audits.status(), state.audits.replays());
            state.status.finish(end);
            state.status.status().clone()
        };
        let open = OpenMatch { spec: self.spec.clone(), stop: None, created_ms: self.created_ms };
        archive(&self.connection, &self.names, open, status)?;
        let over = Announcement {
            is_open: false,
            has_jobs: false,
            stop: Some(Stop::Abort),
            ..self.shared.announcement()
        };
        let (client, text) = (&self.connection.client, write(&over)?);
        self.connection.request(client.publish(self.names.state.clone(), text.into()))?;
        self.connection.request(client.flush())?;
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
        let mut state = self.shared.state();
        state.ledger.offer(job.pairing);
        state.settling_since_ms = None;
        let early = state.early.remove(&index);
        if state.kept.remove(&index) {
            state.ledger.hold_back(index);
            drop(state);
            self.shared.chore(Chore::Load(index));
        } else if let Some(message) = early {
            drop(state);
            self.shared.on_ended(message);
        }
        Ok(())
    }

    fn stop(&mut self, how: Stop) -> Result<(), QueueError> {
        self.store_stop(how)?;
        self.shared.stop(how);
        Ok(())
    }

    fn min_offered(&self) -> usize {
        let state = self.shared.state();
        let waiting = if self.spec.plan.is_adaptive() {
            // What is offered early has not used the latest results.
            state.ledger.active(self.shared.now_ms()).count().clamp(1, MIN_WAITING)
        } else {
            MIN_WAITING
        };
        state.ledger.len() - state.ledger.waiting() + waiting
    }

    fn is_settled(&mut self) -> bool {
        self.shared.is_settled()
    }

    fn on_stored(&mut self, pair: &PairResult) {
        self.shared.on_stored(pair);
        self.stored.push(pair.pairing.index);
    }

    fn on_synced(&mut self) {
        self.shared.on_synced(&std::mem::take(&mut self.stored));
    }

    fn on_discarded(&mut self, indices: &[u64]) {
        let mut state = self.shared.state();
        for index in indices {
            state.known.remove(*index);
        }
        state.status.workers_mut().clear_results();
        state.status.clear_games();
        state.audits.discard(indices);
        drop(state);
        self.shared.chore(Chore::Discard(indices.to_vec()));
    }

    fn on_results(&mut self, state: &MatchState) {
        self.shared.state().status.show(state);
    }

    fn on_warning(&mut self, text: &str) {
        self.shared.state().status.warn(text);
    }
}

/// The audits of earlier coordinators of the match.
fn audit_record(
    connection: &Connection,
    names: &Names,
    is_new: bool,
) -> Result<AuditRecord, QueueError> {
    let keys = connection.find_bucket(KEYS)?.ok_or_else(|| broken("no keys"))?;
    if is_new {
        connection.delete(&keys, &names.audits)?;
        return Ok(AuditRecord::default());
    }
    Ok(connection.value(&keys, &names.audits)?.unwrap_or_default())
}

/// Opens or creates the streams of results: those of workers, and those that count.
fn streams(
    connection: &Connection,
    names: &Names,
    is_new: bool,
) -> Result<(Stream, Stream), QueueError> {
    let inbox = Config {
        name: names.inbox.clone(),
        subjects: vec![names.ended("*")],
        retention: RetentionPolicy::WorkQueue,
        max_messages_per_subject: MAX_INBOX_PER_WORKER,
        max_messages: MAX_INBOX,
        discard: DiscardPolicy::New,
        discard_new_per_subject: true,
        storage: StorageType::File,
        ..Config::default()
    };
    let results = Config {
        name: names.results.clone(),
        subjects: vec![names.stored("*")],
        max_messages_per_subject: 1,
        storage: StorageType::File,
        allow_direct: true,
        ..Config::default()
    };
    let mut opened = Vec::new();
    for config in [inbox, results] {
        if is_new {
            connection.delete_stream(&config.name)?;
        }
        opened.push(connection.open_stream(&config).map_err(broken)?);
    }
    let [inbox, results] =
        <[Stream; 2]>::try_from(opened).map_err(|_| broken("no streams of results"))?;
    Ok((inbox, results))
}

/// The indices of the results that the server has kept.
fn kept(connection: &Connection, results: &Stream) -> Result<BTreeSet<u64>, QueueError> {
    let mut left = connection.request(results.get_info())?.state.messages;
    let mut indices = BTreeSet::new();
    if left == 0 {
        return Ok(indices);
    }
    let config = pull::Config {
        ack_policy: AckPolicy::None,
        deliver_policy: DeliverPolicy::All,
        inactive_threshold: Duration::from_mins(1),
        headers_only: true,
        ..pull::Config::default()
    };
    let consumer = connection.request(results.create_consumer(config))?;
    let mut messages = connection.request(consumer.messages())?;
    connection.wait(async {
        while left > 0 {
            match tokio::time::timeout(LEASE, messages.next()).await {
                Ok(Some(Ok(message))) => {
                    indices.extend(last_token(&message.subject).parse::<u64>());
                }
                Ok(Some(Err(error))) => return Err(broken(error)),
                Ok(None) | Err(_) => return Err(broken("results are missing")),
            }
            left -= 1;
        }
        Ok(indices)
    })
}

/// A result that the server has kept; `None` if it is unreadable or was deleted.
async fn load(results: &Stream, names: &Names, index: u64) -> Option<StoredResult> {
    let subject = names.stored(index);
    loop {
        match results.direct_get_last_for_subject(subject.as_str()).await {
            Ok(message) => return read_owned(&message.payload),
            Err(error) if error.kind() == DirectGetErrorKind::NotFound => return None,
            Err(_) => sleep(RETRY_DELAY).await,
        }
    }
}

impl Drop for NatsDispatcher {
    fn drop(&mut self) {
        if self.closed {
            return;
        }
        // Results that are not kept yet remain in the inbox of the match.
        let until = Instant::now() + RELEASE_TIMEOUT;
        while self.shared.has_chores() && Instant::now() < until {
            self.connection.sleep(CHORE_POLL);
        }
        self.close();
        let lease = Arc::clone(&self.lease);
        self.connection.wait(async move {
            let release = async { lease.lock().await.release().await };
            // Workers detect the end of the lease by themselves.
            let _ = tokio::time::timeout(RELEASE_TIMEOUT, release).await;
        });
    }
}

impl fmt::Debug for NatsDispatcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NatsDispatcher").field("names", &self.names).finish_non_exhaustive()
    }
}
