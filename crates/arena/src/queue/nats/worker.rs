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

use super::PULSE;
use super::connection::{Connection, PAUSE};
use super::files::{self, Fetched};
use super::names::{Names, WORKERS};
use super::permissions::Permissions;
use super::said::{Ended, News, OpenMatch, Told, broken, read, write};
use crate::game::TextOptions;
use crate::pairing::PairResult;
use crate::queue::{
    DELIVERIES, Job, Jobs, Lease, Order, Progress, QueueError, Refused, Stop, StopToken, WorkerId,
};
use crate::result::Variation;

/// How long a job is asked for at a time.
const ASK: Duration = Duration::from_secs(5);

/// How often programs are asked for before the match is refused.
const TRIES: u32 = 3;

/// How long a server may be away before a worker gives up.
const AWAY: Duration = Duration::from_mins(10);

/// The matches that a server has for workers.
#[derive(Debug)]
pub struct Matches {
    connection: Connection,
    name: WorkerId,
    /// Matches that are not for this worker, as they were when it refused them.
    refused: BTreeMap<String, (Order, Refused)>,
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
    order: Order,
    /// As it was announced.
    announced: Order,
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
            for (id, order) in self.look()? {
                match self.accept(&order, permissions, cache) {
                    Ok(served) => {
                        self.latest = Some(id);
                        return Ok(Some(served));
                    }
                    Err(why) => {
                        refused(&format!("match {id}: {why}"));
                        self.set_aside(id, order, why);
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
    pub fn refuse(&mut self, served: Served, why: Refused) {
        self.set_aside(served.names.id, served.announced, why);
    }

    /// Takes part in a match, if it may.
    fn accept(
        &self,
        announced: &Order,
        permissions: &Permissions,
        cache: &Path,
    ) -> Result<Served, Refused> {
        permissions.judge(announced)?;
        if let Some(folder) = announced.folders.iter().find(|folder| !folder.is_dir()) {
            let why = format!("there is no folder `{}` here", folder.display());
            return Err(Refused::Lacking { why });
        }
        let names = Names::of(announced.plan_hash);
        if self.latest.as_ref() == Some(&names.id) {
            // It was left by an error, which may come again at once.
            self.connection.pause(PAUSE);
        }
        let mut fetched = files::fetch(&self.connection, announced.clone(), permissions, cache);
        for _ in 1..TRIES {
            if fetched.is_ok() {
                break;
            }
            // The server may be away for a moment.
            self.connection.pause(PAUSE);
            fetched = files::fetch(&self.connection, announced.clone(), permissions, cache);
        }
        let Fetched { order, delivered } =
            fetched.map_err(|error| Refused::NotFetched { why: error.text })?;
        let texts = permissions.texts(delivered);
        let (connection, announced) = (self.connection.clone(), announced.clone());
        let (name, token) = (self.name.clone(), StopToken::default());
        Ok(Served { connection, names, order, announced, texts, name, token })
    }

    fn set_aside(&mut self, id: String, announced: Order, why: Refused) {
        self.refused.insert(id, (announced, why));
        // At once.
        self.reminded = None;
    }

    /// Tells the coordinators of refused matches that they are, since they may not have listened.
    fn remind(&mut self) {
        if self.reminded.is_some_and(|last| Instant::now() < last + PULSE) {
            return;
        }
        self.reminded = Some(Instant::now());
        for (order, why) in self.refused.values() {
            let subject = Names::of(order.plan_hash).told;
            let (connection, worker) = (self.connection.clone(), self.name.clone());
            Speaker { connection, subject, worker }.tell(News::Refused { why: why.clone() });
        }
    }

    /// Matches that are open and not refused here; none while the server is away.
    fn look(&mut self) -> Result<Vec<(String, Order)>, QueueError> {
        let open = self.open();
        if open.is_ok() {
            self.away = None;
            return open;
        }
        let since = *self.away.get_or_insert_with(Instant::now);
        if since.elapsed() > AWAY { open } else { Ok(Vec::new()) }
    }

    fn open(&mut self) -> Result<Vec<(String, Order)>, QueueError> {
        let Some(matches) = self.connection.matches_there()? else { return Ok(Vec::new()) };
        let mut keys = self.connection.ask(matches.keys())?;
        let (mut open, mut refused) = (Vec::new(), BTreeSet::new());
        while let Some(key) = self.connection.wait(keys.next()) {
            let key = key.map_err(broken)?;
            let value = self.connection.ask(matches.get(&key))?;
            let found = value.as_deref().and_then(read::<OpenMatch>);
            if let Some(OpenMatch { order, stop: None }) = found
                && Names::of(order.plan_hash).id == key
            {
                // Another order, as with a program that was mended, is another question.
                if self.refused.get(&key).is_some_and(|(before, _)| *before == order) {
                    refused.insert(key);
                } else {
                    open.push((key, order));
                }
            }
        }
        self.refused.retain(|key, _| refused.contains(key));
        Ok(open)
    }
}

impl Served {
    /// What is played, with the programs of this machine.
    pub fn order(&self) -> &Order {
        &self.order
    }

    /// Which texts options of its engines may have here; none is any.
    pub fn texts(&self) -> Option<&TextOptions> {
        self.texts.as_ref()
    }

    /// Has the match wait for this worker while it tries the engines.
    pub fn trying(&self) -> Trying {
        let (connection, subject) = (self.connection.clone(), self.names.told.clone());
        let speaker = Speaker { connection, subject, worker: self.name.clone() };
        Trying(speaker.again_and_again(|| News::Trying))
    }

    /// The jobs for one of the threads that play.
    ///
    /// # Errors
    /// The server does not answer.
    pub fn jobs(&self, worker: WorkerId) -> Result<NatsJobs, QueueError> {
        let connection = self.connection.clone();
        let stream = connection.ask(connection.stream.get_stream(&self.names.jobs))?;
        let consumer = connection.ask(stream.get_consumer::<pull::Config>(WORKERS))?;
        let token = self.token.clone();
        let speaker =
            Speaker { connection: connection.clone(), subject: self.names.told.clone(), worker };
        let pulse = speaker.again_and_again(|| News::Alive);
        let watch = connection.beside(watch(&connection, &self.names.id, token.clone())?);
        let (names, plan_hash) = (self.names.clone(), self.order.plan_hash);
        let tasks = vec![pulse, watch];
        Ok(NatsJobs { connection, consumer, names, plan_hash, speaker, token, tasks })
    }
}

/// Tells the coordinator that the engines of a match are tried, as long as it exists.
#[must_use]
#[derive(Debug)]
pub struct Trying(JoinHandle<()>);

impl Drop for Trying {
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
    let matches = connection.matches_there()?;
    let matches = matches.ok_or_else(|| broken("the match is not there any more"))?;
    let mut entries = connection.ask(matches.watch_with_history(id))?;
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
    speaker: Speaker,
    token: StopToken,
    tasks: Vec<JoinHandle<()>>,
}

/// Tells how it goes. What it says may get lost.
#[derive(Clone)]
struct Speaker {
    connection: Connection,
    subject: String,
    worker: WorkerId,
}

impl Speaker {
    async fn publish(&self, news: News) {
        let Ok(text) = write(&Told { worker: self.worker.clone(), news }) else { return };
        // Nothing depends on it.
        let _ = self.connection.client.publish(self.subject.clone(), text.into()).await;
    }

    /// Says it from now on, until the task is ended.
    fn again_and_again(&self, news: fn() -> News) -> JoinHandle<()> {
        let this = self.clone();
        self.connection.beside(async move {
            let mut pulse = tokio::time::interval(PULSE);
            loop {
                pulse.tick().await;
                this.publish(news()).await;
            }
        })
    }

    fn tell(&self, news: News) {
        self.connection.wait(async {
            // A client that cannot send for a while would block.
            let _ = timeout(PULSE, self.publish(news)).await;
        });
    }
}

impl NatsJobs {
    /// Waits for one message, for a while.
    async fn next_message(&self) -> Result<Option<Message>, QueueError> {
        let batch = self.consumer.fetch().max_messages(1).expires(ASK).messages();
        let mut batch = batch.await.map_err(broken)?;
        match timeout(2 * ASK, batch.next()).await {
            Ok(Some(message)) => message.map(Some).map_err(broken),
            Ok(None) | Err(_) => Ok(None),
        }
    }

    /// Asks whether the match is over, in case that whoever listens for it has missed it.
    fn look_for_the_end(&self) {
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
        let keep = self.connection.beside(async move {
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
            speaker: self.speaker.clone(),
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
                        self.speaker.tell(News::Taken { index: lease.job.pairing.index });
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
                    self.look_for_the_end();
                }
                Err(error) => {
                    let since = *away.get_or_insert_with(Instant::now);
                    if since.elapsed() > AWAY {
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
        self.speaker.tell(News::Left);
        // What was published last is still in a buffer.
        let _ = self.connection.ask(self.connection.client.flush());
    }
}

/// A job that is held.
struct NatsLease {
    connection: Connection,
    /// Of the match.
    id: String,
    subject: String,
    speaker: Speaker,
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
        let sent = self.connection.publish(&self.subject, &text, &name, AWAY, is_open)?;
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
        self.speaker.tell(News::Returned { index: self.job.pairing.index });
    }

    fn acknowledge(&mut self, kind: AckKind) {
        self.ended = true;
        self.keep.abort();
        let message = Arc::clone(&self.message);
        // If the server does not hear it, the job is given out again, and its second result is none.
        let _ = self.connection.wait(async { timeout(ASK, message.double_ack_with(kind)).await });
    }
}

impl Lease for NatsLease {
    fn job(&self) -> &Job {
        &self.job
    }

    fn tell(&mut self, progress: Progress) {
        self.speaker.tell(News::Progress { index: self.job.pairing.index, progress });
    }

    fn finish(mut self: Box<Self>, result: PairResult) -> Result<(), QueueError> {
        let worker = self.speaker.worker.clone();
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
        self.give_back(Some(2 * ASK));
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
