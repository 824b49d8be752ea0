//! A match that a worker plays, and its jobs.

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::task::JoinHandle;
use tokio::time::{interval, timeout};

use crate::game::{Agreement, TextOptions};
use crate::pairing::PairResult;
use crate::queue::nats::announcements::Announcements;
use crate::queue::nats::connection::{Connection, RETRY_DELAY};
use crate::queue::nats::files::{self, Fetched, Permissions};
use crate::queue::nats::messages::{
    Ended, Grant, GrantedJob, Names, Note, PROTOCOL, TakeAnswer, TakeRequest, Want, read_owned,
    write,
};
use crate::queue::{
    Job, Lease, MatchSpec, Progress, QueueError, Rejection, Speed, Stop, StopToken,
};
use crate::result::Variation;

/// Timeout of a request to a coordinator.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(5);

/// The delay of a worker whose request was not answered.
pub(super) const NO_ANSWER_DELAY: Duration = Duration::from_secs(2);

/// Timeout of a message whose delivery is not guaranteed. The client blocks during an outage.
const NOTE_TIMEOUT: Duration = Duration::from_secs(3);

/// Attempts to download programs before the match is rejected.
const ATTEMPTS: u32 = 3;

/// Maximum outage of the server.
const MAX_OUTAGE: Duration = Duration::from_mins(10);

/// A match that this worker plays.
pub struct Served {
    connection: Connection,
    names: Names,
    spec: MatchSpec,
    /// The specification as announced.
    announced: MatchSpec,
    texts: Option<TextOptions>,
    /// The name of the worker.
    name: String,
    /// Shared by all threads of this worker.
    token: StopToken,
    announcements: Arc<Announcements>,
    followed: u64,
    jobs: Arc<Mutex<Jobs>>,
    /// Renews the jobs.
    renewal: JoinHandle<()>,
    /// Announces to the coordinator that the match is being prepared, until it is ready.
    preparing: Mutex<Option<Preparing>>,
}

/// The jobs of a match.
#[derive(Default)]
struct Jobs {
    /// The grants of all jobs, by their authentication codes.
    held: BTreeMap<String, Grant>,
    /// Jobs that no thread has taken yet.
    queued: VecDeque<GrantedJob>,
}

/// The parts of a worker that all its matches share.
#[derive(Clone)]
pub(super) struct Host {
    pub(super) connection: Connection,
    pub(super) name: String,
}

/// Sends messages regularly until it is dropped.
struct Preparing(JoinHandle<()>);

impl Drop for Preparing {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// The answer to a request for a job.
pub(super) enum NextJob {
    Job(Box<NatsLease>),
    /// No job for this time.
    Wait(Duration),
    /// The coordinator does not respond, or the match is over.
    None,
    Denied(String),
}

/// Publishes a message whose delivery is not guaranteed.
pub(super) fn publish_note(connection: &Connection, names: &Names, worker: &str, note: &Note) {
    let Ok(text) = write(note) else { return };
    connection.wait(async {
        let published = connection.client.publish(names.note(worker), text.into());
        let _ = timeout(NOTE_TIMEOUT, published).await;
    });
}

/// Publishes a message regularly, if there is one.
fn publish_regularly(
    connection: &Connection,
    names: &Names,
    worker: &str,
    every: Duration,
    note: impl Fn() -> Option<Note> + Send + 'static,
) -> JoinHandle<()> {
    let (client, subject) = (connection.client.clone(), names.note(worker));
    connection.spawn(async move {
        let mut tick = interval(every);
        loop {
            tick.tick().await;
            if let Some(text) = note().and_then(|note| write(&note).ok()) {
                let _ = client.publish(subject.clone(), text.into()).await;
            }
        }
    })
}

impl Host {
    fn ask(&self, names: &Names, want: Want) -> Option<TakeAnswer> {
        let text = write(&TakeRequest { protocol: PROTOCOL, want }).ok()?;
        let client = &self.connection.client;
        self.connection.wait(async {
            let request = client.request(names.take(&self.name), text.into());
            let answer = timeout(ANSWER_TIMEOUT, request).await.ok()?.ok()?;
            read_owned(&answer.payload)
        })
    }

    /// Prepares a match, if it is permitted: downloads its files.
    pub(super) fn accept(
        &self,
        announced: &MatchSpec,
        lease: Duration,
        permissions: &Permissions,
        cache: &Path,
        announcements: &Arc<Announcements>,
        is_cancelled: &dyn Fn() -> bool,
    ) -> Result<Served, Rejection> {
        permissions.check(announced)?;
        let mut directories = announced.directories.iter();
        if let Some(directory) = directories.find(|directory| !directory.is_dir()) {
            let why = format!("there is no directory `{}` on this host", directory.display());
            return Err(Rejection::MissingResource { why });
        }
        let names = Names::of(announced.plan_hash);
        let (connection, name) = (self.connection.clone(), self.name.clone());
        let every = lease / 3;
        let preparing =
            publish_regularly(&connection, &names, &name, every, || Some(Note::Preparing));
        let preparing = Mutex::new(Some(Preparing(preparing)));
        let Fetched { mut spec, delivered } = fetch(&connection, announced, permissions, cache)
            .map_err(|error| Rejection::NotFetched { why: error.text })?;
        permissions.build(&mut spec, is_cancelled)?;
        let texts = permissions.texts(delivered);
        let token = StopToken::default();
        let followed = announcements.follow(&names.id, token.clone());
        let announcements = Arc::clone(announcements);
        let jobs: Arc<Mutex<Jobs>> = Arc::default();
        let played = Arc::clone(&jobs);
        let renewal = publish_regularly(&connection, &names, &name, every, move || {
            let jobs = played.lock().unwrap_or_else(PoisonError::into_inner);
            let grants: Vec<Grant> = jobs.held.values().cloned().collect();
            (!grants.is_empty()).then_some(Note::Playing { grants })
        });
        let announced = announced.clone();
        Ok(Served {
            connection,
            names,
            spec,
            announced,
            texts,
            name,
            token,
            announcements,
            followed,
            jobs,
            renewal,
            preparing,
        })
    }

    /// Asks the coordinator for the permission to prepare a match.
    pub(super) fn may_prepare(&self, spec: &MatchSpec) -> Turn {
        match self.ask(&Names::of(spec.plan_hash), Want::Preparation) {
            Some(TakeAnswer::Prepare) => Turn::Now,
            Some(TakeAnswer::Denied { why }) => Turn::Never(why),
            Some(TakeAnswer::Wait { ms }) => Turn::Later(Duration::from_millis(ms)),
            Some(TakeAnswer::Jobs(_)) | None => Turn::Later(NO_ANSWER_DELAY),
        }
    }
}

/// When a worker may prepare a match.
pub(super) enum Turn {
    Now,
    /// Not within this time.
    Later(Duration),
    /// The coordinator denies it, for this reason.
    Never(String),
}

fn fetch(
    connection: &Connection,
    announced: &MatchSpec,
    permissions: &Permissions,
    cache: &Path,
) -> Result<Fetched, QueueError> {
    let mut fetched = files::fetch(connection, announced.clone(), permissions, cache);
    for _ in 1..ATTEMPTS {
        if fetched.is_ok() {
            break;
        }
        // The server may be temporarily unavailable.
        connection.sleep(RETRY_DELAY);
        fetched = files::fetch(connection, announced.clone(), permissions, cache);
    }
    fetched
}

impl Served {
    /// The specification, with the paths of this host.
    pub fn spec(&self) -> &MatchSpec {
        &self.spec
    }

    pub(super) fn announced(&self) -> &MatchSpec {
        &self.announced
    }

    /// The text values that options of engines may have; all if `None`.
    pub fn texts(&self) -> Option<&TextOptions> {
        self.texts.as_ref()
    }

    /// The identifier of the match.
    pub fn id(&self) -> &str {
        &self.names.id
    }

    /// Stops the games of this worker, and gives the jobs back that it has not started.
    pub fn stop(&self, how: Stop) {
        self.token.stop(how);
        self.return_queued();
    }

    /// The stop state of the match for this worker.
    pub fn stop_token(&self) -> &StopToken {
        &self.token
    }

    /// The match is ready to play.
    pub(super) fn set_ready(&self) {
        self.preparing.lock().unwrap_or_else(PoisonError::into_inner).take();
    }

    /// The next job for a thread of this worker.
    pub(super) fn next_job(self: &Arc<Self>) -> NextJob {
        if self.token.stopped().is_some() {
            self.return_queued();
            return NextJob::None;
        }
        let queued = self.jobs().queued.pop_front();
        if let Some(job) = queued {
            return NextJob::Job(Box::new(self.lease(job)));
        }
        let (connection, name) = (self.connection.clone(), self.name.clone());
        let host = Host { connection, name };
        match host.ask(&self.names, Want::Jobs) {
            Some(TakeAnswer::Jobs(granted)) => {
                let mut jobs = self.jobs();
                for job in granted {
                    jobs.held.insert(job.grant.mac.clone(), job.grant.clone());
                    jobs.queued.push_back(job);
                }
                let first = jobs.queued.pop_front();
                drop(jobs);
                first.map_or(NextJob::None, |job| NextJob::Job(Box::new(self.lease(job))))
            }
            Some(TakeAnswer::Wait { ms }) => NextJob::Wait(Duration::from_millis(ms)),
            Some(TakeAnswer::Denied { why }) => NextJob::Denied(why),
            Some(TakeAnswer::Prepare) | None => NextJob::None,
        }
    }

    fn lease(self: &Arc<Self>, GrantedJob { grant, pairing, replay }: GrantedJob) -> NatsLease {
        let job = Job { replay, ..self.spec.job(pairing) };
        NatsLease { served: Arc::clone(self), grant, job, speed: None, ended: false }
    }

    /// Gives the jobs back that were not started.
    pub(super) fn return_queued(&self) {
        let queued = std::mem::take(&mut self.jobs().queued);
        self.give_back(queued.into_iter().map(|job| job.grant).collect());
    }

    fn give_back(&self, grants: Vec<Grant>) {
        if grants.is_empty() {
            return;
        }
        for grant in &grants {
            self.forget(grant);
        }
        publish_note(&self.connection, &self.names, &self.name, &Note::Returned { grants });
        // Published messages are buffered, and the process may exit.
        let _ = self.connection.request(self.connection.client.flush());
    }

    fn forget(&self, grant: &Grant) {
        self.jobs().held.remove(&grant.mac);
    }

    fn jobs(&self) -> MutexGuard<'_, Jobs> {
        self.jobs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.renewal.abort();
        self.announcements.unfollow(self.followed);
        self.return_queued();
    }
}

/// A job of a match of the server.
pub(super) struct NatsLease {
    served: Arc<Served>,
    grant: Grant,
    job: Job,
    /// The speed by which its times are scaled.
    pub(super) speed: Option<Speed>,
    ended: bool,
}

impl NatsLease {
    /// Stores the end of the job on the server, and retries during an outage. It has no effect after the match.
    fn publish(&self, ended: &Ended) -> Result<(), QueueError> {
        let Served { connection, names, name, .. } = &*self.served;
        let text = write(ended)?;
        let max = connection.client.server_info().max_payload;
        if text.len() > max {
            let text = format!("a result of {} bytes is too long for the server", text.len());
            return Err(QueueError { text });
        }
        let is_open = || connection.stop_of(&names.id) != Some(Stop::Abort);
        connection.publish(&names.ended(name), &text, MAX_OUTAGE, is_open).map(drop)
    }

    fn end(mut self: Box<Self>, ended: &Ended) -> Result<(), QueueError> {
        let published = self.publish(ended);
        self.ended = true;
        self.served.forget(&self.grant);
        published
    }
}

impl Lease for NatsLease {
    fn job(&self) -> &Job {
        &self.job
    }

    fn report(&mut self, progress: Progress) {
        let Served { connection, names, name, .. } = &*self.served;
        let note = Note::Progress { grant: self.grant.clone(), progress };
        publish_note(connection, names, name, &note);
    }

    fn finish(self: Box<Self>, result: PairResult) -> Result<(), QueueError> {
        let max = self.served.connection.client.server_info().max_payload;
        let (grant, speed) = (self.grant.clone(), self.speed.clone());
        let mut ended = Ended::Done { grant, result, speed };
        if write(&ended)?.len() > max
            && let Ended::Done { result, .. } = &mut ended
        {
            // Without PVs the message is much shorter.
            let moves = result.games.iter_mut().flat_map(|game| &mut game.moves);
            moves.for_each(|played| played.pv = Variation::default());
        }
        self.end(&ended)
    }

    fn finish_replay(self: Box<Self>, agreement: Agreement) -> Result<(), QueueError> {
        let grant = self.grant.clone();
        self.end(&Ended::Replayed { grant, agreement })
    }

    fn fail(self: Box<Self>, why: String) {
        let grant = self.grant.clone();
        // Otherwise the job is lost, and played by another worker.
        let _ = self.end(&Ended::Failed { grant, why });
    }

    fn decline(self: Box<Self>) {
        // Other threads of this worker finish their jobs.
        self.served.stop(Stop::Finish);
    }
}

impl Drop for NatsLease {
    fn drop(&mut self) {
        if !self.ended {
            self.served.give_back(vec![self.grant.clone()]);
        }
    }
}

impl fmt::Debug for Served {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Served").field("names", &self.names).finish_non_exhaustive()
    }
}
