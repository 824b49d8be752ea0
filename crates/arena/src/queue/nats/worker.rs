//! The worker's end.

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

use super::HEARTBEAT;
use super::connection::{Connection, PAUSE};
use super::files::{self, Fetched};
use super::messages::{Ended, OpenMatch, WorkerMessage, WorkerUpdate, broken, read, write};
use super::names::{Names, WORKERS};
use super::permissions::Permissions;
use crate::game::TextOptions;
use crate::pairing::PairResult;
use crate::queue::{
    DELIVERIES, Job, Jobs, Lease, MatchSpec, Progress, QueueError, Rejection, Stop, StopToken,
    WorkerId,
};
use crate::result::Variation;

/// How long a job is asked for at a time.
const FETCH_TIMEOUT: Duration = Duration::from_secs(5);

/// How often programs are asked for before the match is refused.
const ATTEMPTS: u32 = 3;

/// How long a server may be away before a worker gives up.
const MAX_OUTAGE: Duration = Duration::from_mins(10);

/// The matches that a server has for workers.
#[derive(Debug)]
pub struct Matches {
    connection: Connection,
    name: WorkerId,
    /// Matches that are not for this worker, as they were when it refused them.
    refused: BTreeMap<String, (MatchSpec, Rejection)>,
    /// When their coordinators were last told.
    reminded: Option<Instant>,
    /// The match that it has played last.
    latest: Option<String>,
    /// Since when the server has not answered.
    away: Option<Instant>,
}

/// A match that this worker plays for.
#[derive(Debug)]
pub struct Served {
    connection: Connection,
    names: Names,
    spec: MatchSpec,
    /// As it was announced.
    announced: MatchSpec,
    texts: Option<TextOptions>,
    name: WorkerId,
    /// For all threads of this worker.
    token: StopToken,
}

impl Matches {
    /// The matches behind a connection, for a worker of this name.
    pub fn new(connection: &Connection, name: WorkerId) -> Self {
        let (connection, refused) = (connection.clone(), BTreeMap::new());
        Self { connection, name, refused, reminded: None, latest: None, away: None }
    }

    /// Waits for a match that is open, and whose programs this worker may run. They are put into
    /// the folder `cache` and started from there. `refused` is told of a match that it may not play.
    /// None if there is no match in this time. One that goes on after it was stopped is a match again.
    ///
    /// # Errors
    /// The server has been away for ten minutes.
    pub fn next(
        &mut self,
        permissions: &Permissions,
        cache: &Path,
        patience: Duration,
        mut refused: impl FnMut(&str),
    ) -> Result<Option<Served>, QueueError> {
        let until = Instant::now() + patience;
        loop {
            for (id, spec) in self.look()? {
                match self.accept(&spec, permissions, cache) {
                    Ok(served) => {
                        self.latest = Some(id);
                        return Ok(Some(served));
                    }
                    Err(why) => {
                        refused(&format!("match {id}: {why}"));
                        self.add_rejection(id, spec, why);
                    }
                }
            }
            self.remind();
            if Instant::now() >= until {
                return Ok(None);
            }
            self.connection.pause(PAUSE);
        }
    }

    /// Does not play a match that it was served, not even when it is served again.
    pub fn reject(&mut self, served: Served, why: Rejection) {
        self.add_rejection(served.names.id, served.announced, why);
    }

    /// Takes part in a match, if it may.
    fn accept(
        &self,
        announced: &MatchSpec,
        permissions: &Permissions,
        cache: &Path,
    ) -> Result<Served, Rejection> {
        permissions.judge(announced)?;
        if let Some(folder) = announced.folders.iter().find(|folder| !folder.is_dir()) {
            let why = format!("there is no folder `{}` here", folder.display());
            return Err(Rejection::MissingResource { why });
        }
        let names = Names::of(announced.plan_hash);
        if self.latest.as_ref() == Some(&names.id) {
            // It was left by an error, which may come again at once.
            self.connection.pause(PAUSE);
        }
        let mut fetched = files::fetch(&self.connection, announced.clone(), permissions, cache);
        for _ in 1..ATTEMPTS {
            if fetched.is_ok() {
                break;
            }
            // The server may be away for a moment.
            self.connection.pause(PAUSE);
            fetched = files::fetch(&self.connection, announced.clone(), permissions, cache);
        }
        let Fetched { spec, delivered } =
            fetched.map_err(|error| Rejection::NotFetched { why: error.text })?;
        let texts = permissions.texts(delivered);
        let (connection, announced) = (self.connection.clone(), announced.clone());
        let (name, token) = (self.name.clone(), StopToken::default());
        Ok(Served { connection, names, spec, announced, texts, name, token })
    }

    fn add_rejection(&mut self, id: String, announced: MatchSpec, why: Rejection) {
        self.refused.insert(id, (announced, why));
        // At once.
        self.reminded = None;
    }

    /// Tells the coordinators of refused matches that they are, since they may not have listened.
    fn remind(&mut self) {
        if self.reminded.is_some_and(|last| Instant::now() < last + HEARTBEAT) {
            return;
        }
        self.reminded = Some(Instant::now());
        for (spec, why) in self.refused.values() {
            let subject = Names::of(spec.plan_hash).updates;
            let (connection, worker) = (self.connection.clone(), self.name.clone());
            Publisher { connection, subject, worker }
                .report(WorkerUpdate::Rejected { why: why.clone() });
        }
    }

    /// Matches that are open and not refused here; none while the server is away.
    fn look(&mut self) -> Result<Vec<(String, MatchSpec)>, QueueError> {
        let open = self.open();
        if open.is_ok() {
            self.away = None;
            return open;
        }
        let since = *self.away.get_or_insert_with(Instant::now);
        if since.elapsed() > MAX_OUTAGE { open } else { Ok(Vec::new()) }
    }

    fn open(&mut self) -> Result<Vec<(String, MatchSpec)>, QueueError> {
        let Some(matches) = self.connection.find_matches()? else { return Ok(Vec::new()) };
        let mut keys = self.connection.request(matches.keys())?;
        let (mut open, mut refused) = (Vec::new(), BTreeSet::new());
        while let Some(key) = self.connection.wait(keys.next()) {
            let key = key.map_err(broken)?;
            let value = self.connection.request(matches.get(&key))?;
            let found = value.as_deref().and_then(read::<OpenMatch>);
            if let Some(OpenMatch { spec, stop: None }) = found
                && Names::of(spec.plan_hash).id == key
            {
                // Another order, as with a program that was mended, is another question.
                if self.refused.get(&key).is_some_and(|(before, _)| *before == spec) {
                    refused.insert(key);
                } else {
                    open.push((key, spec));
                }
            }
        }
        self.refused.retain(|key, _| refused.contains(key));
        Ok(open)
    }
}

impl Served {
    /// What is played, with the programs of this machine.
    pub fn spec(&self) -> &MatchSpec {
        &self.spec
    }

    /// Which texts options of its engines may have here; none is any.
    pub fn texts(&self) -> Option<&TextOptions> {
        self.texts.as_ref()
    }

    /// Has the match wait for this worker while it tries the engines.
    pub fn probing(&self) -> ProbeNotice {
        let (connection, subject) = (self.connection.clone(), self.names.updates.clone());
        let publisher = Publisher { connection, subject, worker: self.name.clone() };
        ProbeNotice(publisher.publish_periodically(|| WorkerUpdate::ProbeNotice))
    }

    /// The jobs for one of the threads that play.
    ///
    /// # Errors
    /// The server does not answer.
    pub fn jobs(&self, worker: WorkerId) -> Result<NatsJobs, QueueError> {
        let connection = self.connection.clone();
        let stream = connection.request(connection.stream.get_stream(&self.names.jobs))?;
        let consumer = connection.request(stream.get_consumer::<pull::Config>(WORKERS))?;
        let token = self.token.clone();
        let publisher = Publisher {
            connection: connection.clone(),
            subject: self.names.updates.clone(),
            worker,
        };
        let heartbeat = publisher.publish_periodically(|| WorkerUpdate::Alive);
        let watch = connection.spawn(watch(&connection, &self.names.id, token.clone())?);
        let (names, plan_hash) = (self.names.clone(), self.spec.plan_hash);
        let tasks = vec![heartbeat, watch];
        Ok(NatsJobs { connection, consumer, names, plan_hash, publisher, token, tasks })
    }
}

/// Tells the coordinator that the engines of a match are tried, as long as it exists.
#[must_use]
#[derive(Debug)]
pub struct ProbeNotice(JoinHandle<()>);

impl Drop for ProbeNotice {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Hears of the end of a match.
fn watch(
    connection: &Connection,
    id: &str,
    token: StopToken,
) -> Result<impl Future<Output = ()> + Send + use<>, QueueError> {
    let matches = connection.find_matches()?;
    let matches = matches.ok_or_else(|| broken("the match is not there any more"))?;
    let mut entries = connection.request(matches.watch_with_history(id))?;
    Ok(async move {
        while let Some(entry) = entries.next().await {
            let Ok(entry) = entry else { continue };
            let stop = match entry.operation {
                Operation::Put => read::<OpenMatch>(&entry.value).and_then(|open| open.stop),
                // Everything is known, or nobody asks for it any more.
                Operation::Delete | Operation::Purge => Some(Stop::Abort),
            };
            if let Some(how) = stop {
                token.stop(how);
            }
        }
    })
}

/// Jobs of one match, for one thread.
pub struct NatsJobs {
    connection: Connection,
    consumer: Consumer<pull::Config>,
    names: Names,
    plan_hash: crate::store::ContentHash,
    publisher: Publisher,
    token: StopToken,
    tasks: Vec<JoinHandle<()>>,
}

/// Tells how it goes. What it says may get lost.
#[derive(Clone)]
struct Publisher {
    connection: Connection,
    subject: String,
    worker: WorkerId,
}

impl Publisher {
    async fn publish(&self, news: WorkerUpdate) {
        let Ok(text) = write(&WorkerMessage { worker: self.worker.clone(), news }) else { return };
        // Nothing depends on it.
        let _ = self.connection.client.publish(self.subject.clone(), text.into()).await;
    }

    /// Says it from now on, until the task is ended.
    fn publish_periodically(&self, news: fn() -> WorkerUpdate) -> JoinHandle<()> {
        let this = self.clone();
        self.connection.spawn(async move {
            let mut heartbeat = tokio::time::interval(HEARTBEAT);
            loop {
                heartbeat.tick().await;
                this.publish(news()).await;
            }
        })
    }

    fn report(&self, news: WorkerUpdate) {
        self.connection.wait(async {
            // A client that cannot send for a while would block.
            let _ = timeout(HEARTBEAT, self.publish(news)).await;
        });
    }
}

impl NatsJobs {
    /// Waits for one message, for a while.
    async fn next_message(&self) -> Result<Option<Message>, QueueError> {
        let batch = self.consumer.fetch().max_messages(1).expires(FETCH_TIMEOUT).messages();
        let mut batch = batch.await.map_err(broken)?;
        match timeout(2 * FETCH_TIMEOUT, batch.next()).await {
            Ok(Some(message)) => message.map(Some).map_err(broken),
            Ok(None) | Err(_) => Ok(None),
        }
    }

    /// Asks whether the match is over, in case that whoever listens for it has missed it.
    fn poll_stop(&self) {
        if let Some(how) = self.connection.stop_of(&self.names.id) {
            self.token.stop(how);
        }
    }

    fn lease(&self, message: Message) -> Option<NatsLease> {
        let mut job: Job =
            read(&message.payload).filter(|job: &Job| job.plan_hash == self.plan_hash)?;
        let delivered = message.info().map_or(1, |info| info.delivered);
        job.deliveries = u32::try_from(delivered.saturating_sub(1)).unwrap_or_default();
        let message = Arc::new(message);
        let held = Arc::clone(&message);
        let lease = self.consumer.cached_info().config.ack_wait;
        let keep = self.connection.spawn(async move {
            loop {
                sleep(lease / 3).await;
                // The server may be away; then the lease is lost, and the result is taken all the
                // same.
                let _ = held.ack_with(AckKind::Progress).await;
            }
        });
        Some(NatsLease {
            connection: self.connection.clone(),
            id: self.names.id.clone(),
            subject: self.names.results_subject.clone(),
            publisher: self.publisher.clone(),
            token: self.token.clone(),
            message,
            keep,
            job,
            ended: false,
        })
    }
}

impl Jobs for NatsJobs {
    fn take(&mut self) -> Result<Option<Box<dyn Lease>>, QueueError> {
        let mut away: Option<Instant> = None;
        loop {
            if self.token.stopped().is_some() {
                return Ok(None);
            }
            match self.connection.wait(self.next_message()) {
                Ok(Some(message)) => {
                    if let Some(lease) = self.lease(message) {
                        if lease.job.deliveries >= DELIVERIES {
                            let index = lease.job.pairing.index;
                            lease.end(&Ended::Lost { index });
                            continue;
                        }
                        self.publisher
                            .report(WorkerUpdate::Taken { index: lease.job.pairing.index });
                        if self.token.stopped().is_some() {
                            // Another thread has given the match up meanwhile.
                            Box::new(lease).decline();
                            return Ok(None);
                        }
                        return Ok(Some(Box::new(lease)));
                    }
                }
                Ok(None) => {
                    away = None;
                    self.poll_stop();
                }
                Err(error) => {
                    let since = *away.get_or_insert_with(Instant::now);
                    if since.elapsed() > MAX_OUTAGE {
                        return Err(error);
                    }
                    self.connection.pause(PAUSE);
                }
            }
        }
    }

    fn stop_token(&self) -> &StopToken {
        &self.token
    }
}

impl Drop for NatsJobs {
    fn drop(&mut self) {
        self.tasks.iter().for_each(JoinHandle::abort);
        self.publisher.report(WorkerUpdate::Left);
        // What was published last is still in a buffer.
        let _ = self.connection.request(self.connection.client.flush());
    }
}

/// A job that is held.
struct NatsLease {
    connection: Connection,
    /// Of the match.
    id: String,
    subject: String,
    publisher: Publisher,
    token: StopToken,
    message: Arc<Message>,
    keep: JoinHandle<()>,
    job: Job,
    ended: bool,
}

impl NatsLease {
    /// Brings the end of the job to the server's disk, however long the server is away. False if the match is over.
    fn publish(&self, ended: &Ended) -> Result<bool, QueueError> {
        let text = write(ended)?;
        let most = self.connection.client.server_info().max_payload;
        if text.len() > most {
            let text = format!("a result of {} bytes is too long for the server", text.len());
            return Err(QueueError { text });
        }
        // Two workers may have had the same job. One that is offered again is another.
        let sequence = self.message.info().map_or(0, |info| info.stream_sequence);
        let name = format!("{}-{sequence}", self.job.pairing.index);
        let is_open = || self.connection.stop_of(&self.id) != Some(Stop::Abort);
        let sent = self.connection.publish(&self.subject, &text, &name, MAX_OUTAGE, is_open)?;
        Ok(sent.is_some())
    }

    /// Tells that nobody is to play the job any more.
    fn end(mut self, ended: &Ended) {
        match self.publish(ended) {
            Ok(true) => self.acknowledge(AckKind::Term),
            Ok(false) => self.forget(),
            Err(_) => {}
        }
    }

    /// The match is over, and nobody wants to know the end of the job.
    fn forget(&mut self) {
        self.ended = true;
        self.keep.abort();
    }

    /// Gives the job back, for those who ask after some time.
    fn give_back(&mut self, after: Option<Duration>) {
        self.acknowledge(AckKind::Nak(after));
        self.publisher.report(WorkerUpdate::Returned { index: self.job.pairing.index });
    }

    fn acknowledge(&mut self, kind: AckKind) {
        self.ended = true;
        self.keep.abort();
        let message = Arc::clone(&self.message);
        // If the server does not hear it, the job is given out again, and its second result is none.
        let _ = self
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
        let most = self.connection.client.server_info().max_payload;
        let mut ended = Ended::Done { worker, result };
        if write(&ended)?.len() > most
            && let Ended::Done { result, .. } = &mut ended
        {
            // Variations are what makes a result long, and the game is whole without them.
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
        // Other threads of this worker play what they have to its end.
        self.token.stop(Stop::Finish);
        // By then none of them asks any more.
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
        f.debug_struct("NatsJobs").field("names", &self.names).finish_non_exhaustive()
    }
}
