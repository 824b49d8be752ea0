//! Matches that are distributed to workers by a NATS server.

use std::path::PathBuf;
use std::time::Duration;

use readyok_arena::game::PlayerOptions;
use readyok_arena::plan::Plan;
use readyok_arena::queue::nats::{
    Access, Connection, LEASE, Matches, NatsDispatcher, Permissions, Served, measure_speed,
    scale_times,
};
use readyok_arena::queue::{MatchSpec, QueueError, Rejection, WorkerId};
use readyok_arena::runner::{CpuError, Cpus, Match, Summary, WorkError, threads_of, work};
use readyok_arena::store::{ContentHash, IndexSet};
use readyok_client::{Guard, Timeouts};

use super::files::{AnyError, file_error};
use super::run::{Coordinate, Slots, available_cpus, player, setting};

/// The server of a distributed match.
#[derive(Clone, Debug)]
pub struct Queue {
    /// Address and credentials.
    pub access: Access,
    /// Scale times on each worker by its speed relative to this host.
    pub calibrate: bool,
}

impl Coordinate for Queue {
    fn reach(&self) -> Result<(), AnyError> {
        Connection::open(&self.access)?;
        Ok(())
    }

    fn coordinate(&self, game: Match, stored: Option<&IndexSet>) -> Result<Summary, AnyError> {
        let connection = Connection::open(&self.access)?;
        let speed = self.calibrate.then(measure_speed);
        let spec = MatchSpec { speed, ..game.spec().clone() }.with_contents()?;
        let mut dispatcher =
            NatsDispatcher::open(&connection, spec, stored, LEASE, game.reports())?;
        let summary = game.coordinate(&mut dispatcher)?;
        // All results are stored.
        dispatcher.clear()?;
        Ok(summary)
    }
}

/// A worker that plays the matches of a server.
#[derive(Debug)]
pub struct Worker {
    /// Address and credentials.
    pub access: Access,
    /// The programs that it may run.
    pub permissions: Permissions,
    /// Local programs that it may run, with their arguments.
    pub engines: Vec<(PathBuf, Vec<String>)>,
    /// The directory for delivered programs.
    pub cache: PathBuf,
    /// Number of game pairs to play in parallel; 0 is as many as fit the CPUs.
    pub slots: usize,
    /// CPUs to pin engines to: none, or a list; an empty list means all available CPUs. The number
    /// of slots is then limited by the CPUs.
    pub pin: Option<Vec<usize>>,
    /// Its name, unique on the server.
    pub name: String,
    /// Exit after this time without a match; none is never.
    pub idle: Option<Duration>,
    /// Terminates the engines if this process is killed.
    pub guard: Guard,
}

/// Why a worker left a match before its end.
enum Left {
    Queue(QueueError),
    Rejected(Rejection),
}

impl Left {
    /// Combines the results of all slots.
    fn combine(ends: Vec<Result<(), Self>>) -> Result<(), Self> {
        let mut done = Ok(());
        for end in ends {
            match end {
                Ok(()) => {}
                // A rejection is more specific than a queue error.
                Err(Self::Rejected(why)) => return Err(Self::Rejected(why)),
                Err(Self::Queue(error)) => done = Err(Self::Queue(error)),
            }
        }
        done
    }
}

impl From<WorkError> for Left {
    fn from(error: WorkError) -> Self {
        match error {
            WorkError::Queue(error) => Self::Queue(error),
            WorkError::NoStart(no_start) => Self::Rejected(no_start.into()),
        }
    }
}

/// Maximum duration of one request for matches.
const POLL_INTERVAL: Duration = Duration::from_secs(30);

impl Worker {
    /// Plays matches until the idle timeout. `log` receives messages about the progress.
    ///
    /// # Errors
    /// The server is unreachable, or a local program cannot be read.
    pub fn work(mut self, mut log: impl FnMut(&str)) -> Result<(), AnyError> {
        for (path, args) in &self.engines {
            let content: ContentHash = self
                .permissions
                .allow_file(path, args)
                .map_err(|error| file_error(path, &error))?;
            log(&format!("allowed {} ({content})", path.display()));
        }
        let connection = Connection::open(&self.access)?;
        let mut matches = Matches::new(&connection, WorkerId(self.name.clone()));
        let local_speed = measure_speed();
        let mut idle = Duration::ZERO;
        loop {
            let timeout =
                self.idle.map_or(POLL_INTERVAL, |max| max.saturating_sub(idle).min(POLL_INTERVAL));
            let on_rejection = |why: &str| log(&format!("rejected {why}"));
            let served = matches.next(&self.permissions, &self.cache, timeout, on_rejection)?;
            let Some(served) = served else {
                idle += timeout;
                if self.idle.is_some_and(|max| max <= idle) {
                    return Ok(());
                }
                continue;
            };
            idle = Duration::ZERO;
            let spec = scale_times(served.spec().clone(), local_speed);
            log(&format!("playing match {}", spec.plan_hash));
            match self.serve(&served, &spec, &mut log) {
                Ok(()) => log("match finished"),
                Err(Left::Queue(error)) => log(&error.to_string()),
                Err(Left::Rejected(why)) => {
                    log(&format!("rejected match {}: {why}", spec.plan_hash));
                    matches.reject(served, why);
                }
            }
        }
    }

    /// Plays a match to its end.
    fn serve(
        &self,
        served: &Served,
        spec: &MatchSpec,
        log: &mut impl FnMut(&str),
    ) -> Result<(), Left> {
        let missing = |why: String| Left::Rejected(Rejection::MissingResource { why });
        let (slots, cpus) = self.slots(&spec.plan).map_err(|error| missing(error.to_string()))?;
        if self.slots != 0 && slots.count < self.slots {
            let pairs = super::count_of(slots.count, "game pair");
            let cores = super::count_of(slots.each, "pinned CPU core");
            log(&format!("limited to {pairs} in parallel with {cores} each"));
        }
        if let Some(warning) = slots.overload_warning() {
            log(&warning);
        }
        let setting = setting(&spec.plan)
            .map_err(|error| missing(format!("the tablebases cannot be opened: {error}")))?;
        let player = || {
            let (guard, texts) = (Some(self.guard.clone()), served.texts().cloned());
            let options = PlayerOptions { guard, texts, ..PlayerOptions::default() };
            let player = player(spec, &setting, Timeouts::default(), options);
            player.as_remote_worker(WorkerId(self.name.clone()))
        };
        let probing = served.probing();
        player().probe_engines().map_err(|no_start| Left::Rejected(no_start.into()))?;
        drop(probing);
        let done = std::thread::scope(|scope| {
            let slots = (0..slots.count).map(|slot| {
                let (player, cpus) = (&player, &cpus);
                let worker = WorkerId(format!("{}-{slot}", self.name));
                scope.spawn(move || {
                    let bound = cpus.as_ref().map_or(Ok(()), |cpus| cpus.bind(slot));
                    bound.map_err(|error| missing(error.to_string()))?;
                    let mut jobs = served.jobs(worker).map_err(Left::Queue)?;
                    work(&mut jobs, &mut player()).map_err(Left::from)
                })
            });
            let slots: Vec<_> = slots.collect();
            // Explicit joins keep a panic of one slot from propagating.
            let ends: Vec<_> = slots.into_iter().map(std::thread::ScopedJoinHandle::join).collect();
            // The job of a panicked slot has been returned.
            let panicked =
                || Left::Queue(QueueError { text: "a worker thread panicked".to_owned() });
            ends.into_iter().map(|end| end.unwrap_or_else(|_| Err(panicked()))).collect::<Vec<_>>()
        });
        Left::combine(done)
    }

    /// The slots for a plan, and their CPUs if engines are pinned.
    fn slots(&self, plan: &Plan) -> Result<(Slots, Option<Cpus>), CpuError> {
        let each = threads_of(plan);
        let Some(list) = &self.pin else {
            return Ok((Slots::new(self.slots, each, available_cpus()), None));
        };
        let list = Some(list.as_slice()).filter(|list| !list.is_empty());
        let slots = Slots::new(self.slots, each, Cpus::count(list)?).within_cpus();
        Ok((slots, Some(Cpus::share(slots.count, slots.each, list)?)))
    }
}
