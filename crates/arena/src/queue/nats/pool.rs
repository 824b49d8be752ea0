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

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use std::{env, fmt, thread};

use tokio::time::Instant;

use crate::pairing::WorkerId;
use crate::queue::nats::connection::Connection;
use crate::queue::nats::files::Permissions;
use crate::queue::nats::messages::{WORKER_STATUS, write};
use crate::queue::nats::share::Shares;
use crate::queue::nats::status::worker_key;
use crate::queue::nats::worker::{Candidate, Matches, NatsJobs, Served};
use crate::queue::status::{PlayedPair, WorkerActivity, WorkerStatus};
use crate::queue::{Lease, MatchSpec, QueueError, Rejection, Stop};
use crate::time::unix_ms;

/// Delay between two requests for jobs of an idle worker.
const IDLE_DELAY: Duration = Duration::from_millis(500);

/// Maximum interval between two publications of the state.
const PUBLISH_INTERVAL: Duration = Duration::from_secs(10);

/// The slots of a worker.
pub struct Pool {
    connection: Connection,
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
    /// The time of the next request for jobs of an idle worker.
    no_jobs_until: Option<Instant>,
    last_active: Instant,
    leaving: Option<Departure>,
    playing: BTreeMap<u64, PlayedPair>,
    next_key: u64,
    status: WorkerStatus,
    published: Option<(Instant, WorkerStatus)>,
}

struct Entry {
    spec: MatchSpec,
    phase: Phase,
}

enum Phase {
    New,
    Preparing,
    Ready { served: Arc<Served>, units: usize },
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
}

/// A slot of a worker.
pub struct Slot {
    name: WorkerId,
    jobs: Option<NatsJobs>,
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
    lease: Option<Box<dyn Lease>>,
    served: Arc<Served>,
    _running: Running<'a>,
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
    /// The slots of a worker with this name, measured speed, number of slots, and number of units for all pairs.
    pub fn new(
        connection: &Connection,
        name: &str,
        speed: f64,
        permissions: Permissions,
        cache: PathBuf,
        [slots, units]: [usize; 2],
    ) -> Self {
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
            shares: Shares::default(),
            free: units,
            no_jobs_until: None,
            last_active: Instant::now(),
            leaving: None,
            playing: BTreeMap::new(),
            next_key: 0,
            status,
            published: None,
        };
        let matches = Matches::new(connection, WorkerId(name.to_owned())).with_speed(speed);
        Self {
            connection: connection.clone(),
            permissions,
            cache,
            matches: Mutex::new(matches),
            state: Mutex::new(state),
            changed: Condvar::new(),
        }
    }

    /// A slot with this number.
    pub fn slot(&self, number: usize) -> Slot {
        let name = &self.state().status.name;
        Slot { name: WorkerId(format!("{name}/{number}")), jobs: None }
    }

    /// Reads the open matches, and publishes the state of this worker. One thread calls it about every second.
    ///
    /// # Errors
    /// The server did not respond for ten minutes.
    pub fn refresh(&self) -> Result<(), QueueError> {
        let (found, rejected) = {
            let mut matches = self.matches();
            let found = matches.poll()?;
            matches.notify();
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
                Phase::Preparing => true,
                // A match that is resumed after a stop is prepared again.
                Phase::Ready { served, .. } => {
                    is_current && served.stop_token().stopped().is_none()
                }
                Phase::New => is_current,
            }
        });
        let mut priorities = BTreeMap::new();
        for (id, Candidate { spec, priority, is_live }) in found {
            if is_live {
                priorities.insert(id.clone(), priority);
            }
            state.matches.entry(id).or_insert(Entry { spec, phase: Phase::New });
        }
        state.shares.set(&priorities);
        drop(state);
        self.changed.notify_all();
    }

    /// The next task of a slot. Without a job, it waits half a second.
    pub fn take(&self, slot: &mut Slot) -> TakeResult<'_> {
        let current = slot.jobs.as_ref().map(|jobs| jobs.served().id().to_owned());
        let order = {
            let state = self.state();
            if state.leaving.is_some() {
                return TakeResult::Leave;
            }
            if state.no_jobs_until.is_some_and(|until| Instant::now() < until) {
                return self.wait(state);
            }
            state.shares.order(current.as_deref())
        };
        for id in order {
            let (served, running) = match self.reserve(&id) {
                Reservation::None => continue,
                Reservation::New(new) => return TakeResult::Prepare(new),
                Reservation::Full(served) => {
                    if served.has_jobs() {
                        return self.wait(self.state());
                    }
                    continue;
                }
                Reservation::Done(served, running) => (served, running),
            };
            // Errors of an outage are temporary.
            let Ok(Some(message)) = served.poll_message() else { continue };
            if current.as_deref() != Some(served.id())
                || slot.jobs.as_ref().is_some_and(|jobs| !Arc::ptr_eq(jobs.served(), &served))
            {
                slot.jobs = Some(served.jobs(slot.name.clone()));
            }
            let lease = slot.jobs.as_ref().and_then(|jobs| jobs.accept(message));
            let Some(lease) = lease else { continue };
            return TakeResult::Job(self.job(Box::new(lease), served, running));
        }
        let mut state = self.state();
        state.no_jobs_until = Some(Instant::now() + IDLE_DELAY);
        self.wait(state)
    }

    fn job<'a>(
        &self,
        lease: Box<dyn Lease>,
        served: Arc<Served>,
        mut running: Running<'a>,
    ) -> PooledJob<'a> {
        let mut state = self.state();
        state.no_jobs_until = None;
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
            Phase::Preparing => Reservation::None,
            Phase::New => {
                entry.phase = Phase::Preparing;
                Reservation::New(NewMatch { id: id.to_owned(), spec: entry.spec.clone() })
            }
            Phase::Ready { served, units } if *units <= state.free => {
                let (served, units) = (Arc::clone(served), *units);
                state.free -= units;
                state.shares.start(id);
                let (id, started) = (id.to_owned(), Instant::now());
                Reservation::Done(served, Running { pool: self, id, units, started, key: None })
            }
            Phase::Ready { served, .. } => Reservation::Full(Arc::clone(served)),
        }
    }

    /// Accepts a match, if it is permitted: downloads its programs and files.
    ///
    /// # Errors
    /// It is not permitted, or a file is missing.
    pub fn accept(&self, new: &NewMatch) -> Result<Arc<Served>, Rejection> {
        let matches = self.matches().clone();
        matches.accept(&new.spec, &self.permissions, &self.cache).map(Arc::new)
    }

    /// A match is prepared: slots take its jobs, each for these units.
    pub fn ready(&self, new: &NewMatch, served: Arc<Served>, Cost(units): Cost) {
        let mut state = self.state();
        if let Some(entry) = state.matches.get_mut(&new.id) {
            entry.phase = Phase::Ready { served, units };
        }
        state.no_jobs_until = None;
        state.last_active = Instant::now();
        drop(state);
        self.changed.notify_all();
    }

    /// Rejects a match, until it is announced with another specification. A rejection that may be temporary is retried
    /// after a delay.
    pub fn reject(&self, new: &NewMatch, why: Rejection) {
        self.matches().add_rejection(new.id.clone(), new.spec.clone(), why);
        let mut state = self.state();
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
        if how == Departure::Return {
            for entry in state.matches.values() {
                if let Phase::Ready { served, .. } = &entry.phase {
                    served.stop(Stop::Abort);
                }
            }
        }
        drop(state);
        self.changed.notify_all();
    }

    /// The number of pairs in progress.
    pub fn playing(&self) -> usize {
        self.state().playing.len()
    }

    /// The time without a pair in progress and without a match in preparation.
    pub fn idle_time(&self) -> Duration {
        let state = self.state();
        let prepares = state.matches.values().any(|entry| matches!(entry.phase, Phase::Preparing));
        if state.playing.is_empty() && !prepares {
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
            state.status.activity = match (state.leaving, playing.is_empty()) {
                (Some(_), _) => WorkerActivity::Leaving,
                (None, false) => WorkerActivity::Playing,
                (None, true) => WorkerActivity::Idle,
            };
            state.status.playing = playing;
            let is_current = state.published.as_ref().is_some_and(|(at, published)| {
                *published == state.status && at.elapsed() < PUBLISH_INTERVAL
            });
            if is_current {
                return;
            }
            state.published = Some((Instant::now(), state.status.clone()));
            state.status.clone()
        };
        let key = worker_key(&status.name);
        let status = WorkerStatus { updated_ms: unix_ms(), ..status };
        if let Ok(Some(bucket)) = self.connection.find_bucket(WORKER_STATUS)
            && let Ok(text) = write(&status)
        {
            // The state is published again.
            let _ = self.connection.request(bucket.put(&key, text.into()));
        }
    }

    /// Deletes the published state of this worker at its end.
    pub fn unpublish(&self) {
        let key = worker_key(&self.state().status.name);
        if let Ok(Some(bucket)) = self.connection.find_bucket(WORKER_STATUS) {
            // Otherwise it is deleted later.
            let _ = self.connection.request(bucket.delete(&key));
        }
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
    Full(Arc<Served>),
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

    /// Takes the lease, to play the pair.
    pub fn lease(&mut self) -> Option<Box<dyn Lease>> {
        self.lease.take()
    }
}

impl Slot {
    /// Leaves the current match.
    pub fn leave_match(&mut self) {
        self.jobs = None;
    }
}

impl fmt::Debug for Pool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pool").finish_non_exhaustive()
    }
}

impl fmt::Debug for Slot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Slot").field("name", &self.name).finish_non_exhaustive()
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
