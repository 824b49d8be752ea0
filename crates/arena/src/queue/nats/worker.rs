//! The worker's end of the NATS queue.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::future::Future;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use async_nats::jetstream::Message;
use async_nats::jetstream::consumer::{Consumer, pull};
use async_nats::jetstream::kv::Operation;
use async_nats::jetstream::message::AckKind;
use futures_util::StreamExt;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep, timeout};

use crate::game::TextOptions;
use crate::pairing::PairResult;
use crate::queue::nats::HEARTBEAT;
use crate::queue::nats::connection::{Connection, RETRY_DELAY};
use crate::queue::nats::files::{self, Fetched, Permissions};
use crate::queue::nats::messages::{
    CONTROL, Ended, LEASES, Names, OpenMatch, WORKERS, WorkerMessage, WorkerUpdate, broken, read,
    write,
};
use crate::queue::status::{Control, RejectedMatch};
use crate::queue::{
    DELIVERIES, Job, Jobs, Lease, MatchSpec, Progress, QueueError, Rejection, Stop, StopToken,
    WorkerId,
};
use crate::result::Variation;

/// Timeout of one request for a job.
const FETCH_TIMEOUT: Duration = Duration::from_secs(5);

/// Attempts to download programs before the match is rejected.
const ATTEMPTS: u32 = 3;

/// First and longest delay before a match is prepared again whose rejection may be temporary. Delays double.
const RETRY_DELAYS: [Duration; 2] = [Duration::from_secs(2), Duration::from_mins(10)];

/// Maximum outage of the server.
const MAX_OUTAGE: Duration = Duration::from_mins(10);

/// The open matches of a server.
#[derive(Clone, Debug)]
pub struct Matches {
    connection: Connection,
    name: WorkerId,
    rejected: BTreeMap<String, RejectedSpec>,
    /// When the coordinators of rejected matches were last notified.
    notified: Option<Instant>,
    /// The measured speed of this host, which is sent with results.
    speed: Option<f64>,
    /// Start of an outage of the server.
    outage_since: Option<Instant>,
}

/// A match that this worker rejects.
#[derive(Clone, Debug)]
struct RejectedSpec {
    /// The specification at that time.
    spec: MatchSpec,
    why: Rejection,
    retry: Retry,
    /// Number of rejections of this specification.
    count: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Retry {
    Never,
    At(Instant),
    /// The match is prepared or played again.
    Started,
}

/// Whether the reason may disappear without a change of the match or of the worker's permissions, for example a timeout
/// of an engine on an overloaded host.
fn may_be_temporary(why: &Rejection) -> bool {
    match why {
        Rejection::NotFetched { .. } | Rejection::MissingResource { .. } | Rejection::Engine(_) => {
            true
        }
        Rejection::UnknownContent { .. }
        | Rejection::NotAllowed { .. }
        | Rejection::Environment { .. }
        | Rejection::Arguments { .. }
        | Rejection::Option { .. } => false,
    }
}

/// An open match that this worker does not reject.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Candidate {
    pub(super) spec: MatchSpec,
    pub(super) priority: i32,
    /// Whether workers may take jobs: it has a coordinator and is not paused, and this worker is not excluded.
    pub(super) is_live: bool,
}

/// A match that this worker plays.
#[derive(Debug)]
pub struct Served {
    connection: Connection,
    names: Names,
    spec: MatchSpec,
    /// The specification as announced.
    announced: MatchSpec,
    texts: Option<TextOptions>,
    name: WorkerId,
    speed: Option<f64>,
    consumer: Consumer<pull::Config>,
    /// Shared by all threads of this worker.
    token: StopToken,
    watch: JoinHandle<()>,
}

impl Matches {
    /// The open matches of a server, for a worker with this name.
    pub fn new(connection: &Connection, name: WorkerId) -> Self {
        let (connection, rejected) = (connection.clone(), BTreeMap::new());
        Self { connection, name, rejected, notified: None, speed: None, outage_since: None }
    }

    /// Scales times by the measured speed of this host, which is sent with results.
    #[must_use]
    pub fn with_speed(self, speed: f64) -> Self {
        Self { speed: Some(speed), ..self }
    }

    /// Waits for an open match whose programs this worker may run. Programs are downloaded into the directory `cache`.
    /// `on_rejected` is called for each match that is not permitted. Returns `None` after the timeout. A match that is
    /// resumed after a stop is returned again.
    ///
    /// # Errors
    /// The server did not respond for ten minutes.
    pub fn next(
        &mut self,
        permissions: &Permissions,
        cache: &Path,
        timeout: Duration,
        mut on_rejected: impl FnMut(&str),
    ) -> Result<Option<Served>, QueueError> {
        let until = Instant::now() + timeout;
        loop {
            for (id, Candidate { spec, is_live, .. }) in self.poll()?.unwrap_or_default() {
                if !is_live {
                    continue;
                }
                match self.accept(&spec, permissions, cache) {
                    Ok(served) => return Ok(Some(served)),
                    Err(why) => {
                        on_rejected(&format!("match {id}: {why}"));
                        self.add_rejection(id, spec, why);
                    }
                }
            }
            self.notify();
            if Instant::now() >= until {
                return Ok(None);
            }
            self.connection.sleep(RETRY_DELAY);
        }
    }

    /// Rejects a match. A rejection that may be temporary is retried after a delay.
    pub fn reject(&mut self, served: &Served, why: Rejection) {
        self.add_rejection(served.names.id.clone(), served.announced.clone(), why);
    }

    /// The rejected matches.
    pub(super) fn rejected(&self) -> Vec<RejectedMatch> {
        let entries = self.rejected.iter().filter(|(_, entry)| entry.retry != Retry::Started);
        entries
            .map(|(id, entry)| RejectedMatch { id: id.clone(), why: entry.why.to_string() })
            .collect()
    }

    /// Accepts a match, if it is permitted.
    pub(super) fn accept(
        &self,
        announced: &MatchSpec,
        permissions: &Permissions,
        cache: &Path,
    ) -> Result<Served, Rejection> {
        permissions.check(announced)?;
        let mut directories = announced.directories.iter();
        if let Some(directory) = directories.find(|directory| !directory.is_dir()) {
            let why = format!("there is no directory `{}` on this host", directory.display());
            return Err(Rejection::MissingResource { why });
        }
        let names = Names::of(announced.plan_hash);
        let mut fetched = files::fetch(&self.connection, announced.clone(), permissions, cache);
        for _ in 1..ATTEMPTS {
            if fetched.is_ok() {
                break;
            }
            // The server may be temporarily unavailable.
            self.connection.sleep(RETRY_DELAY);
            fetched = files::fetch(&self.connection, announced.clone(), permissions, cache);
        }
        let Fetched { spec, delivered } =
            fetched.map_err(|error| Rejection::NotFetched { why: error.text })?;
        let texts = permissions.texts(delivered);
        let not_fetched = |error: QueueError| Rejection::NotFetched { why: error.text };
        let (connection, announced) = (self.connection.clone(), announced.clone());
        let stream = connection.request(connection.stream.get_stream(&names.jobs));
        let consumer = stream
            .and_then(|stream| connection.request(stream.get_consumer::<pull::Config>(WORKERS)))
            .map_err(not_fetched)?;
        let (name, token, speed) = (self.name.clone(), StopToken::default(), self.speed);
        let watch = watch_stop(&connection, &names.id, token.clone()).map_err(not_fetched)?;
        let watch = connection.spawn(watch);
        Ok(Served {
            connection,
            names,
            spec,
            announced,
            texts,
            name,
            speed,
            consumer,
            token,
            watch,
        })
    }

    pub(super) fn add_rejection(&mut self, id: String, spec: MatchSpec, why: Rejection) {
        let before = self.rejected.get(&id).filter(|entry| entry.spec == spec);
        let count = before.map_or(0, |entry| entry.count).saturating_add(1);
        let [first, longest] = RETRY_DELAYS;
        let delay = first.saturating_mul(1 << (count - 1).min(16)).min(longest);
        let retry =
            if may_be_temporary(&why) { Retry::At(Instant::now() + delay) } else { Retry::Never };
        self.rejected.insert(id, RejectedSpec { spec, why, retry, count });
        self.notified = None;
    }

    /// Notifies the coordinators of rejected matches regularly, since messages are not stored.
    pub(super) fn notify(&mut self) {
        if self.notified.is_some_and(|last| Instant::now() < last + HEARTBEAT) {
            return;
        }
        self.notified = Some(Instant::now());
        for RejectedSpec { spec, why, retry, .. } in self.rejected.values() {
            if *retry == Retry::Started {
                continue;
            }
            let subject = Names::of(spec.plan_hash).updates;
            let (connection, worker) = (self.connection.clone(), self.name.clone());
            Publisher { connection, subject, worker }
                .report(WorkerUpdate::Rejected { why: why.clone() });
        }
    }

    /// Open matches that are not rejected; `None` during an outage.
    pub(super) fn poll(&mut self) -> Result<Option<BTreeMap<String, Candidate>>, QueueError> {
        match self.open() {
            Ok(open) => {
                self.outage_since = None;
                Ok(Some(open))
            }
            Err(error) => {
                let since = *self.outage_since.get_or_insert_with(Instant::now);
                if since.elapsed() > MAX_OUTAGE { Err(error) } else { Ok(None) }
            }
        }
    }

    fn open(&mut self) -> Result<BTreeMap<String, Candidate>, QueueError> {
        let Some(matches) = self.connection.find_matches()? else { return Ok(BTreeMap::new()) };
        let leases: BTreeSet<String> = match self.connection.find_bucket(LEASES)? {
            Some(bucket) => self.connection.keys(&bucket)?,
            None => BTreeSet::new(),
        };
        let (mut open, mut rejected) = (BTreeMap::new(), BTreeSet::new());
        for key in self.connection.keys(&matches)? {
            if key.ends_with(CONTROL) {
                continue;
            }
            let found: Option<OpenMatch> = self.connection.value(&matches, &key)?;
            let Some(OpenMatch { spec, stop: None, .. }) = found else { continue };
            let names = Names::of(spec.plan_hash);
            if names.id != key {
                continue;
            }
            // A changed specification, for example of a fixed program, is checked again.
            if let Some(entry) = self.rejected.get_mut(&key).filter(|entry| entry.spec == spec) {
                rejected.insert(key.clone());
                match entry.retry {
                    Retry::At(time) if time <= Instant::now() => entry.retry = Retry::Started,
                    Retry::Never | Retry::At(_) => continue,
                    Retry::Started => {}
                }
            }
            let control: Option<Control> = self.connection.value(&matches, &names.control)?;
            let Control { priority, paused, stop, excluded } = control.unwrap_or_default();
            let is_live =
                leases.contains(&key) && !paused && !stop && !excluded.contains(&self.name.0);
            open.insert(key, Candidate { spec, priority, is_live });
        }
        self.rejected.retain(|key, _| rejected.contains(key));
        Ok(open)
    }
}

impl Served {
    /// The specification, with the paths of this host.
    pub fn spec(&self) -> &MatchSpec {
        &self.spec
    }

    /// The text values that options of engines may have; all if `None`.
    pub fn texts(&self) -> Option<&TextOptions> {
        self.texts.as_ref()
    }

    /// Announces that this worker probes the engines, until the guard is dropped.
    pub fn probing(&self) -> ProbingGuard {
        let (connection, subject) = (self.connection.clone(), self.names.updates.clone());
        let publisher = Publisher { connection, subject, worker: self.name.clone() };
        ProbingGuard(publisher.publish_periodically(|| WorkerUpdate::Probing))
    }

    /// The identifier of the match.
    pub fn id(&self) -> &str {
        &self.names.id
    }

    /// Stops the games of this worker.
    pub fn stop(&self, how: Stop) {
        self.token.stop(how);
    }

    /// The stop state of the match for this worker.
    pub fn stop_token(&self) -> &StopToken {
        &self.token
    }

    /// Waits for one message, with a timeout; without one, only for the response of the server.
    async fn next_message(&self, expires: Option<Duration>) -> Result<Option<Message>, QueueError> {
        let fetch = self.consumer.fetch().max_messages(1);
        let fetch = match expires {
            Some(expires) => fetch.expires(expires),
            None => fetch,
        };
        let mut batch = fetch.messages().await.map_err(broken)?;
        match timeout(2 * FETCH_TIMEOUT, batch.next()).await {
            Ok(Some(message)) => message.map(Some).map_err(broken),
            Ok(None) | Err(_) => Ok(None),
        }
    }

    /// The message of a job, if there is one now.
    pub(super) fn poll_message(&self) -> Result<Option<Message>, QueueError> {
        self.connection.wait(self.next_message(None))
    }

    /// Whether the queue has a job. An outage counts as no.
    pub(super) fn has_jobs(&self) -> bool {
        let info = async { self.consumer.get_info().await };
        self.connection.request(info).is_ok_and(|info| info.num_pending > 0)
    }

    /// The jobs for one thread of the worker.
    pub fn jobs(self: &Arc<Self>, worker: WorkerId) -> NatsJobs {
        let publisher = Publisher {
            connection: self.connection.clone(),
            subject: self.names.updates.clone(),
            worker,
        };
        let heartbeat = publisher.publish_periodically(|| WorkerUpdate::Alive);
        NatsJobs { served: Arc::clone(self), publisher, heartbeat }
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.watch.abort();
    }
}

/// Announces that engines are being probed, until it is dropped.
#[must_use]
#[derive(Debug)]
pub struct ProbingGuard(JoinHandle<()>);

impl Drop for ProbingGuard {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Sets the token when the match is stopped.
fn watch_stop(
    connection: &Connection,
    id: &str,
    token: StopToken,
) -> Result<impl Future<Output = ()> + Send + use<>, QueueError> {
    let matches = connection.find_matches()?;
    let matches = matches.ok_or_else(|| broken("the match was deleted"))?;
    let mut entries = connection.request(matches.watch_with_history(id))?;
    Ok(async move {
        while let Some(entry) = entries.next().await {
            let Ok(entry) = entry else { continue };
            let stop = match entry.operation {
                Operation::Put => read::<OpenMatch>(&entry.value).and_then(|open| open.stop),
                // The match is over.
                Operation::Delete | Operation::Purge => Some(Stop::Abort),
            };
            if let Some(how) = stop {
                token.stop(how);
            }
        }
    })
}

/// The jobs of a match, for one thread.
pub struct NatsJobs {
    served: Arc<Served>,
    publisher: Publisher,
    heartbeat: JoinHandle<()>,
}

/// Publishes messages whose delivery is not guaranteed.
#[derive(Clone)]
struct Publisher {
    connection: Connection,
    subject: String,
    worker: WorkerId,
}

impl Publisher {
    async fn publish(&self, update: WorkerUpdate) {
        let Ok(text) = write(&WorkerMessage { worker: self.worker.clone(), update }) else {
            return;
        };
        // Delivery is not guaranteed.
        let _ = self.connection.client.publish(self.subject.clone(), text.into()).await;
    }

    /// Publishes a message at each heartbeat, until the task is aborted.
    fn publish_periodically(&self, update: fn() -> WorkerUpdate) -> JoinHandle<()> {
        let this = self.clone();
        self.connection.spawn(async move {
            let mut heartbeat = tokio::time::interval(HEARTBEAT);
            loop {
                heartbeat.tick().await;
                this.publish(update()).await;
            }
        })
    }

    fn report(&self, update: WorkerUpdate) {
        self.connection.wait(async {
            // The client blocks during an outage.
            let _ = timeout(HEARTBEAT, self.publish(update)).await;
        });
    }
}

impl NatsJobs {
    pub(super) fn served(&self) -> &Arc<Served> {
        &self.served
    }

    /// Polls the stop state, in case that a notification was lost.
    fn poll_stop(&self) {
        if let Some(how) = self.served.connection.stop_of(&self.served.names.id) {
            self.served.token.stop(how);
        }
    }

    fn lease(&self, message: Message) -> Option<NatsLease> {
        let served = &self.served;
        let plan_hash = served.spec.plan_hash;
        let mut job: Job = read(&message.payload).filter(|job: &Job| job.plan_hash == plan_hash)?;
        let delivered = message.info().map_or(1, |info| info.delivered);
        job.deliveries = u32::try_from(delivered.saturating_sub(1)).unwrap_or_default();
        let message = Arc::new(message);
        let held = Arc::clone(&message);
        let lease = served.consumer.cached_info().config.ack_wait;
        let keep = served.connection.spawn(async move {
            loop {
                sleep(lease / 3).await;
                // During an outage the lease expires, but the result is still accepted.
                let _ = held.ack_with(AckKind::Progress).await;
            }
        });
        let publisher = self.publisher.clone();
        Some(NatsLease { served: Arc::clone(served), publisher, message, keep, job, ended: false })
    }

    /// A lease of a job that was not delivered too often.
    pub(super) fn accept(&self, message: Message) -> Option<NatsLease> {
        let lease = self.lease(message)?;
        let index = lease.job.pairing.index;
        if lease.job.deliveries >= DELIVERIES {
            lease.end(&Ended::Lost { index });
            return None;
        }
        self.publisher.report(WorkerUpdate::Taken { index });
        Some(lease)
    }
}

impl Jobs for NatsJobs {
    fn take(&mut self) -> Result<Option<Box<dyn Lease>>, QueueError> {
        let mut outage_since: Option<Instant> = None;
        loop {
            if self.served.token.stopped().is_some() {
                return Ok(None);
            }
            match self.served.connection.wait(self.served.next_message(Some(FETCH_TIMEOUT))) {
                Ok(Some(message)) => {
                    if let Some(lease) = self.accept(message) {
                        if self.served.token.stopped().is_some() {
                            // Another thread has rejected the match meanwhile.
                            Box::new(lease).decline();
                            return Ok(None);
                        }
                        return Ok(Some(Box::new(lease)));
                    }
                }
                Ok(None) => {
                    outage_since = None;
                    self.poll_stop();
                }
                Err(error) => {
                    let since = *outage_since.get_or_insert_with(Instant::now);
                    if since.elapsed() > MAX_OUTAGE {
                        return Err(error);
                    }
                    self.served.connection.sleep(RETRY_DELAY);
                }
            }
        }
    }

    fn stop_token(&self) -> &StopToken {
        &self.served.token
    }
}

impl Drop for NatsJobs {
    fn drop(&mut self) {
        self.heartbeat.abort();
        self.publisher.report(WorkerUpdate::Left);
        // Published messages are buffered.
        let connection = &self.served.connection;
        let _ = connection.request(connection.client.flush());
    }
}

pub(super) struct NatsLease {
    served: Arc<Served>,
    publisher: Publisher,
    message: Arc<Message>,
    keep: JoinHandle<()>,
    job: Job,
    ended: bool,
}

impl NatsLease {
    /// Stores the end of the job on the server, and retries during an outage. Returns false if the match is over.
    fn publish(&self, ended: &Ended) -> Result<bool, QueueError> {
        let Served { connection, names, .. } = &*self.served;
        let text = write(ended)?;
        let max = connection.client.server_info().max_payload;
        if text.len() > max {
            let text = format!("a result of {} bytes is too long for the server", text.len());
            return Err(QueueError { text });
        }
        // Deduplicates results of the same job. A requeued job has another sequence number.
        let sequence = self.message.info().map_or(0, |info| info.stream_sequence);
        let name = format!("{}-{sequence}", self.job.pairing.index);
        let is_open = || connection.stop_of(&names.id) != Some(Stop::Abort);
        let subject = &names.results_subject;
        let sent = connection.publish(subject, &text, &name, MAX_OUTAGE, is_open)?;
        Ok(sent.is_some())
    }

    /// Ends the job for all workers.
    fn end(mut self, ended: &Ended) {
        match self.publish(ended) {
            Ok(true) => self.acknowledge(AckKind::Term),
            Ok(false) => self.forget(),
            Err(_) => {}
        }
    }

    /// Drops the job after the end of the match.
    fn forget(&mut self) {
        self.ended = true;
        self.keep.abort();
    }

    /// Gives the job back. It is delivered again after a delay.
    fn give_back(&mut self, after: Option<Duration>) {
        self.acknowledge(AckKind::Nak(after));
        self.publisher.report(WorkerUpdate::Returned { index: self.job.pairing.index });
    }

    fn acknowledge(&mut self, kind: AckKind) {
        self.ended = true;
        self.keep.abort();
        let message = Arc::clone(&self.message);
        // If the acknowledgement is lost, the job is delivered again, and its second result is ignored.
        let _ = self
            .served
            .connection
            .wait(async { timeout(FETCH_TIMEOUT, message.double_ack_with(kind)).await });
    }
}

impl Lease for NatsLease {
    fn job(&self) -> &Job {
        &self.job
    }

    fn report(&mut self, progress: Progress) {
        self.publisher.report(WorkerUpdate::Progress { index: self.job.pairing.index, progress });
    }

    fn finish(mut self: Box<Self>, result: PairResult) -> Result<(), QueueError> {
        let worker = self.publisher.worker.clone();
        let max = self.served.connection.client.server_info().max_payload;
        let mut ended = Ended::Done { worker, result, speed: self.served.speed };
        if write(&ended)?.len() > max
            && let Ended::Done { result, .. } = &mut ended
        {
            // Without PVs the message is much shorter.
            let moves = result.games.iter_mut().flat_map(|game| &mut game.moves);
            moves.for_each(|played| played.pv = Variation::default());
        }
        if self.publish(&ended)? {
            self.acknowledge(AckKind::Ack);
        } else {
            self.forget();
        }
        Ok(())
    }

    fn fail(self: Box<Self>, why: String) {
        let index = self.job.pairing.index;
        self.end(&Ended::Failed { index, why });
    }

    fn decline(mut self: Box<Self>) {
        // Other threads of this worker finish their jobs.
        self.served.token.stop(Stop::Finish);
        // Later than their last request for a job.
        self.give_back(Some(2 * FETCH_TIMEOUT));
    }
}

impl Drop for NatsLease {
    fn drop(&mut self) {
        if !self.ended {
            self.give_back(None);
        }
    }
}

impl fmt::Debug for NatsJobs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NatsJobs").field("names", &self.served.names).finish_non_exhaustive()
    }
}
