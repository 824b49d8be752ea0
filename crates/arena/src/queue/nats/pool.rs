//! The slots of a worker, which take jobs of all live matches.
//!
//! ```text
//!  refresh (one thread) ──> matches: New ──> Preparing ──> Ready
//!                                     take        ready        │ take
//!                                 slot: accept, probe      slot: PooledJob ──> play ──> end
//! ```
//!
//! A match whose turn it is waits for enough free units; no other match is preferred to it meanwhile. So matches of
//! engines with many threads are not delayed forever by those with one.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use std::{env, fmt, thread};

use async_nats::HeaderMap;
use sha2::{Digest, Sha256};
use tokio::time::Instant;

use crate::queue::nats::announcements::Announcements;
use crate::queue::nats::connection::{Access, AccessError, Connection, Outage, REJECTED};
use crate::queue::nats::files::Permissions;
use crate::queue::nats::matches::{Candidate, Matches};
use crate::queue::nats::messages::{WORKER_STATUS, broken, write};
use crate::queue::nats::share::Shares;
use crate::queue::nats::worker::{Host, NO_ANSWER_DELAY, NatsLease, NextJob, Served, Turn};
use crate::queue::status::{PlayedPair, WorkerActivity, WorkerStatus};
use crate::queue::{Lease, MatchSpec, Rejection, Speed, Stop};
use crate::time::unix_ms;

/// Interval in which an idle slot looks for announced jobs.
const IDLE_DELAY: Duration = Duration::from_millis(200);

/// Idle workers ask for announced jobs within this time, not all immediately.
const MAX_JITTER: Duration = Duration::from_millis(500);

/// Maximum interval between two publications of the state. It is deleted after a minute.
const PUBLISH_INTERVAL: Duration = Duration::from_secs(30);

/// Minimum interval between two publications of the state.
const MIN_PUBLISH_INTERVAL: Duration = Duration::from_secs(5);

/// The slots of a worker.
pub struct Pool {
    access: Access,
    host: Host,
    announcements: Arc<Announcements>,
    permissions: Permissions,
    cache: PathBuf,
    matches: Mutex<Matches>,
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    matches: BTreeMap<String, Entry>,
    shares: Shares,
    /// Units that are not in use.
    free: usize,
    last_active: Instant,
    leaving: Option<Departure>,
    playing: BTreeMap<u64, PlayedPair>,
    next_key: u64,
    status: WorkerStatus,
    published: Option<(Instant, WorkerStatus)>,
}

impl State {
    /// The time of the preparation of a match is a part of its share.
    fn end_preparation(&mut self, id: &str) {
        let phase = self.matches.get(id).map(|entry| &entry.phase);
        if let Some(Phase::Preparing(since)) = phase {
            self.shares.end(id, since.elapsed());
        }
    }

    fn is_preparing(&self) -> bool {
        self.matches.values().any(|entry| matches!(entry.phase, Phase::Preparing(_)))
    }
}

struct Entry {
    spec: MatchSpec,
    lease: Duration,
    phase: Phase,
    /// The last request without a job: its time, and that of the next one, unless jobs are announced before.
    no_jobs: Option<(Instant, Instant)>,
}

enum Phase {
    New,
    /// Since this time.
    Preparing(Instant),
    Ready {
        served: Arc<Served>,
        units: usize,
    },
}

/// How a worker leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Departure {
    /// It finishes its pairs.
    Finish,
    /// It returns its pairs, which are given to other workers.
    Return,
}

/// The units of a pair: CPUs, or one slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cost(pub usize);

/// A match that a slot prepares before its first job: by [`Pool::accept`] and a probe of the engines.
#[derive(Clone, Debug)]
pub struct NewMatch {
    id: String,
    spec: MatchSpec,
    lease: Duration,
}

/// A slot of a worker, which prefers the match that it has played before.
#[derive(Debug, Default)]
pub struct Slot {
    current: Option<String>,
}

/// The next task of a slot.
#[expect(clippy::large_enum_variant, reason = "a value is moved once")]
pub enum TakeResult<'a> {
    /// Play a pair.
    Job(PooledJob<'a>),
    /// Prepare a match.
    Prepare(NewMatch),
    /// There is no job now.
    Wait,
    /// The worker leaves.
    Leave,
}

/// A pair in progress. Its units are free again when it is dropped.
pub struct PooledJob<'a> {
    /// The lease; none after it was taken.
    lease: Option<Box<NatsLease>>,
    served: Arc<Served>,
    _running: Running<'a>,
}

/// The load of a worker by its pairs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Load {
    /// The number of pairs in progress.
    pub pairs: usize,
    /// The number of their matches.
    pub matches: usize,
}

/// Units that were free.
#[derive(Debug)]
pub struct ReservedUnits<'a> {
    pool: &'a Pool,
    units: usize,
}

impl ReservedUnits<'_> {
    /// The number of pairs of these units.
    pub fn pairs(&self, Cost(units): Cost) -> usize {
        self.units / units.max(1)
    }
}

impl Drop for ReservedUnits<'_> {
    fn drop(&mut self) {
        self.pool.state().free += self.units;
        self.pool.changed.notify_all();
    }
}

/// Units in use.
struct Running<'a> {
    pool: &'a Pool,
    id: String,
    units: usize,
    started: Instant,
    key: Option<u64>,
}

impl Pool {
    /// Connects a worker with this name, measured speed, number of slots, and number of units for all pairs.
    ///
    /// # Errors
    /// The server cannot be reached, rejects the login, or has no JetStream.
    pub fn open(
        access: &Access,
        name: &str,
        speed: f64,
        permissions: Permissions,
        cache: PathBuf,
        [slots, units]: [usize; 2],
    ) -> Result<Self, AccessError> {
        let connection = Connection::open_as_worker(access, name)?;
        let matches = Matches::new(&connection, name).map_err(|error| access.error(error.text))?;
        let status = WorkerStatus {
            name: name.to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            system: format!("{} {}", env::consts::OS, env::consts::ARCH),
            cores: thread::available_parallelism().map_or(1, usize::from),
            slots,
            speed,
            started_ms: unix_ms(),
            updated_ms: 0,
            activity: WorkerActivity::Idle,
            playing: Vec::new(),
            finished: 0,
            rejected: Vec::new(),
        };
        let state = State {
            matches: BTreeMap::new(),
            shares: Shares::of(name),
            free: units,
            last_active: Instant::now(),
            leaving: None,
            playing: BTreeMap::new(),
            next_key: 0,
            status,
            published: None,
        };
        let announcements = Arc::clone(matches.announcements());
        let host = Host { connection, name: name.to_owned() };
        Ok(Self {
            access: access.clone(),
            host,
            announcements,
            permissions,
            cache,
            matches: Mutex::new(matches),
            state: Mutex::new(state),
            changed: Condvar::new(),
        })
    }

    /// Reads the announced matches, and publishes the state of this worker. One thread calls it about every second.
    ///
    /// # Errors
    /// The server was not reachable for ten minutes, or it rejects the login, for example after a revocation.
    pub fn refresh(&self) -> Result<(), AccessError> {
        let (found, rejected) = {
            let mut matches = self.matches();
            let found = matches.poll().map_err(|outage| {
                self.access.error(match outage {
                    Outage::Unreachable => "the server does not respond",
                    Outage::Rejected => REJECTED,
                })
            })?;
            matches.remind();
            (found, matches.rejected())
        };
        self.state().status.rejected = rejected;
        if let Some(found) = found {
            self.update(found);
        }
        self.publish();
        Ok(())
    }

    fn update(&self, found: BTreeMap<String, Candidate>) {
        let mut state = self.state();
        state.matches.retain(|id, entry| {
            let is_current = found.get(id).is_some_and(|candidate| candidate.spec == entry.spec);
            match &entry.phase {
                Phase::Preparing(_) => true,
                // A match that is resumed after a stop is prepared again.
                Phase::Ready { served, .. } => {
                    is_current && served.stop_token().stopped().is_none()
                }
                Phase::New => is_current,
            }
        });
        let mut priorities = BTreeMap::new();
        let mut closed = Vec::new();
        for (id, Candidate { spec, priority, is_open, lease }) in found {
            if is_open {
                priorities.insert(id.clone(), priority);
            } else if let Some(Phase::Ready { served, .. }) =
                state.matches.get(&id).map(|entry| &entry.phase)
            {
                closed.push(Arc::clone(served));
            }
            let new = Entry { spec, lease, phase: Phase::New, no_jobs: None };
            state.matches.entry(id).or_insert(new);
        }
        state.shares.set(&priorities);
        drop(state);
        // Otherwise the jobs of a paused match would be renewed until it continues.
        for served in closed {
            served.return_queued();
        }
        self.changed.notify_all();
    }

    /// The next task of a slot. Without a job, it waits a short time.
    pub fn take(&self, slot: &mut Slot) -> TakeResult<'_> {
        let order = {
            let state = self.state();
            if state.leaving.is_some() {
                return TakeResult::Leave;
            }
            state.shares.order(slot.current.as_deref())
        };
        for id in order {
            let (served, running) = match self.reserve(&id) {
                Reservation::None => continue,
                Reservation::New(new) => match self.host.may_prepare(&new.spec) {
                    Turn::Now => return TakeResult::Prepare(new),
                    Turn::Later(delay) => {
                        let mut state = self.state();
                        state.end_preparation(&id);
                        if let Some(entry) = state.matches.get_mut(&id) {
                            entry.phase = Phase::New;
                            entry.no_jobs = Some((Instant::now(), Instant::now() + delay));
                        }
                        continue;
                    }
                    Turn::Never(why) => {
                        self.reject(&new, Rejection::Denied { why });
                        continue;
                    }
                },
                // The match waits for more units, since others would take them again and again.
                Reservation::Full => return self.wait(self.state()),
                Reservation::Done(served, running) => (served, running),
            };
            let delay = match served.next_job() {
                NextJob::Job(lease) => {
                    slot.current = Some(id);
                    return TakeResult::Job(self.job(lease, served, running));
                }
                NextJob::Wait(delay) => delay,
                NextJob::None => NO_ANSWER_DELAY,
                NextJob::Denied(why) => {
                    self.reject_served(&served, Rejection::Denied { why });
                    continue;
                }
            };
            drop(running);
            if let Some(entry) = self.state().matches.get_mut(&id) {
                entry.no_jobs = Some((Instant::now(), Instant::now() + delay));
            }
        }
        self.wait(self.state())
    }

    /// Whether a match may have jobs, by its announcements and the last request.
    fn may_have_jobs(&self, id: &str, entry: &Entry) -> bool {
        let Some((asked, next)) = entry.no_jobs else { return true };
        let announced = self
            .announcements
            .jobs_since(id)
            .is_some_and(|at| asked < at && at + self.jitter(at) <= Instant::now());
        announced || next <= Instant::now()
    }

    /// A delay that differs between workers.
    fn jitter(&self, at: Instant) -> Duration {
        let text = format!("{} {at:?}", self.host.name);
        let byte = Sha256::digest(text.as_bytes()).first().copied().unwrap_or_default();
        MAX_JITTER * u32::from(byte) / 256
    }

    fn job<'a>(
        &self,
        lease: Box<NatsLease>,
        served: Arc<Served>,
        mut running: Running<'a>,
    ) -> PooledJob<'a> {
        let mut state = self.state();
        if let Some(entry) = state.matches.get_mut(served.id()) {
            entry.no_jobs = None;
        }
        state.last_active = Instant::now();
        let key = state.next_key;
        state.next_key += 1;
        let pair = lease.job().pairing.index;
        let played = PlayedPair { id: served.id().to_owned(), pair, since_ms: unix_ms() };
        state.playing.insert(key, played);
        if state.leaving == Some(Departure::Return) {
            served.stop(Stop::Abort);
        }
        drop(state);
        // Other slots may find more jobs.
        self.changed.notify_all();
        running.key = Some(key);
        PooledJob { lease: Some(lease), served, _running: running }
    }

    fn wait<'a>(&self, state: MutexGuard<'_, State>) -> TakeResult<'a> {
        let waited = self.changed.wait_timeout(state, IDLE_DELAY);
        drop(waited.unwrap_or_else(PoisonError::into_inner));
        TakeResult::Wait
    }

    /// Reserves units for a pair of a match.
    fn reserve(&self, id: &str) -> Reservation<'_> {
        let mut guard = self.state();
        let state = &mut *guard;
        let Some(entry) = state.matches.get_mut(id) else { return Reservation::None };
        match &entry.phase {
            Phase::Preparing(_) => Reservation::None,
            Phase::New | Phase::Ready { .. } if !self.may_have_jobs(id, entry) => Reservation::None,
            Phase::New => {
                entry.phase = Phase::Preparing(Instant::now());
                state.shares.start(id);
                let (id, spec, lease) = (id.to_owned(), entry.spec.clone(), entry.lease);
                Reservation::New(NewMatch { id, spec, lease })
            }
            Phase::Ready { served, units } if *units <= state.free => {
                let (served, units) = (Arc::clone(served), *units);
                state.free -= units;
                state.shares.start(id);
                let (id, started) = (id.to_owned(), Instant::now());
                Reservation::Done(served, Running { pool: self, id, units, started, key: None })
            }
            Phase::Ready { .. } => Reservation::Full,
        }
    }

    /// Accepts a match, if it is permitted: downloads its programs and files, and builds those with a source.
    ///
    /// # Errors
    /// It is not permitted, a file is missing, or a build fails.
    pub fn accept(&self, new: &NewMatch) -> Result<Arc<Served>, Rejection> {
        let (permissions, cache) = (&self.permissions, &self.cache);
        let (spec, lease) = (&new.spec, new.lease);
        let is_cancelled = || self.state().leaving.is_some();
        let announcements = &self.announcements;
        let served =
            self.host.accept(spec, lease, permissions, cache, announcements, &is_cancelled)?;
        Ok(Arc::new(served))
    }

    /// A match is prepared: slots take its jobs, each for these units.
    pub fn ready(&self, new: &NewMatch, served: Arc<Served>, Cost(units): Cost) {
        served.set_ready();
        let mut state = self.state();
        state.end_preparation(&new.id);
        if let Some(entry) = state.matches.get_mut(&new.id) {
            entry.phase = Phase::Ready { served, units };
            entry.no_jobs = None;
        }
        state.last_active = Instant::now();
        drop(state);
        self.changed.notify_all();
    }

    /// Rejects a match, until it is announced with another specification. A rejection that may be temporary is retried
    /// after a delay.
    pub fn reject(&self, new: &NewMatch, why: Rejection) {
        self.matches().add_rejection(new.id.clone(), new.spec.clone(), why);
        let mut state = self.state();
        state.end_preparation(&new.id);
        state.matches.remove(&new.id);
        state.last_active = Instant::now();
    }

    /// Rejects the match of a job, whose engines do not work any more.
    pub fn reject_served(&self, served: &Served, why: Rejection) {
        self.matches().reject(served, why);
        self.state().matches.remove(served.id());
    }

    /// Ends all slots after their pairs, or returns the pairs.
    pub fn leave(&self, how: Departure) {
        let mut state = self.state();
        state.leaving = Some(how);
        let ready = state.matches.values().filter_map(|entry| match &entry.phase {
            Phase::Ready { served, .. } => Some(Arc::clone(served)),
            Phase::New | Phase::Preparing(_) => None,
        });
        let ready: Vec<Arc<Served>> = ready.collect();
        drop(state);
        let stop = match how {
            Departure::Finish => Stop::Finish,
            Departure::Return => Stop::Abort,
        };
        for served in &ready {
            served.stop(stop);
        }
        self.changed.notify_all();
    }

    /// The number of pairs in progress.
    pub fn playing(&self) -> usize {
        self.state().playing.len()
    }

    /// The pairs in progress.
    pub fn load(&self) -> Load {
        let state = self.state();
        let matches: BTreeSet<&String> = state.playing.values().map(|pair| &pair.id).collect();
        Load { pairs: state.playing.len(), matches: matches.len() }
    }

    /// Reserves the free units: other slots take no jobs until it is dropped.
    pub fn reserve_free(&self) -> ReservedUnits<'_> {
        let units = std::mem::take(&mut self.state().free);
        ReservedUnits { pool: self, units }
    }

    /// The time without a pair in progress and without a match in preparation.
    pub fn idle_time(&self) -> Duration {
        let state = self.state();
        if state.playing.is_empty() && !state.is_preparing() {
            state.last_active.elapsed()
        } else {
            Duration::ZERO
        }
    }

    /// Publishes the state of this worker, if it has changed or is old. Delivery is not guaranteed.
    fn publish(&self) {
        let status = {
            let mut state = self.state();
            let playing: Vec<PlayedPair> = state.playing.values().cloned().collect();
            let is_idle = playing.is_empty() && !state.is_preparing();
            state.status.activity = match (state.leaving, is_idle) {
                (Some(_), _) => WorkerActivity::Leaving,
                (None, false) => WorkerActivity::Playing,
                (None, true) => WorkerActivity::Idle,
            };
            state.status.playing = playing;
            let is_current = state.published.as_ref().is_some_and(|(at, published)| {
                let every = if *published == state.status {
                    PUBLISH_INTERVAL
                } else if published.activity == state.status.activity {
                    MIN_PUBLISH_INTERVAL
                } else {
                    Duration::ZERO
                };
                at.elapsed() < every
            });
            if is_current {
                return;
            }
            state.published = Some((Instant::now(), state.status.clone()));
            state.status.clone()
        };
        let status = WorkerStatus { updated_ms: unix_ms(), ..status };
        if let Ok(text) = write(&status) {
            self.put_status(HeaderMap::new(), text);
        }
    }

    /// Deletes the published state of this worker at its end.
    pub fn unpublish(&self) {
        let mut headers = HeaderMap::new();
        headers.insert("KV-Operation", "DEL");
        self.put_status(headers, Vec::new());
    }

    fn put_status(&self, headers: HeaderMap, text: Vec<u8>) {
        let Host { connection, name, .. } = &self.host;
        let subject = format!("$KV.{WORKER_STATUS}.{name}");
        // The state is published again, or deleted later.
        let _ = connection.request(async {
            let published = connection.client.publish_with_headers(subject, headers, text.into());
            published.await.map_err(broken)?;
            connection.client.flush().await.map_err(broken)
        });
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn matches(&self) -> MutexGuard<'_, Matches> {
        self.matches.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The result of [`Pool::reserve`].
#[expect(clippy::large_enum_variant, reason = "a value is moved once")]
enum Reservation<'a> {
    None,
    New(NewMatch),
    /// There are not enough free units.
    Full,
    Done(Arc<Served>, Running<'a>),
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        let mut state = self.pool.state();
        state.free += self.units;
        state.shares.end(&self.id, self.started.elapsed());
        if let Some(key) = self.key {
            state.playing.remove(&key);
            state.status.finished += 1;
            state.last_active = Instant::now();
        }
        drop(state);
        if self.key.is_some() {
            self.pool.changed.notify_all();
        }
    }
}

impl NewMatch {
    /// The identifier of the match.
    pub fn id(&self) -> &str {
        &self.id
    }
}

impl PooledJob<'_> {
    /// The match.
    pub fn served(&self) -> &Arc<Served> {
        &self.served
    }

    /// Takes the lease, to play the pair without scaled times.
    pub fn lease(&mut self) -> Option<Box<dyn Lease>> {
        self.lease_at(None)
    }

    /// Takes the lease, to play the pair with times that are scaled by this speed.
    pub fn lease_at(&mut self, speed: Option<Speed>) -> Option<Box<dyn Lease>> {
        let mut lease = self.lease.take()?;
        lease.speed = speed;
        Some(lease)
    }
}

impl fmt::Debug for Pool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pool").finish_non_exhaustive()
    }
}

impl fmt::Debug for PooledJob<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PooledJob").field("served", &self.served).finish_non_exhaustive()
    }
}

impl fmt::Debug for TakeResult<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Job(_) => "Job",
            Self::Prepare(_) => "Prepare",
            Self::Wait => "Wait",
            Self::Leave => "Leave",
        })
    }
}
