//! Matches that are distributed to workers by a NATS server.

use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use readyok_arena::event::End;
use readyok_arena::game::{Agreement, GameSettings, PlayerOptions, Replay};
use readyok_arena::pairing::{PairResult, Pairing};
use readyok_arena::plan::EnginePlan;
use readyok_arena::queue::nats::{
    Access, Connection, CoordinatorSettings, Cost, Departure, Load, NatsDispatcher, NewMatch,
    Permissions, Pool, PooledJob, Served, Slot, TakeResult,
};
use readyok_arena::queue::{
    MatchSpec, Rejection, Report, Speed, SpeedMonitor, WorkerId, needs_speed, scale_times,
};
use readyok_arena::runner::{
    Cpus, EnginePlayer, Match, PairPlayer, PlayContext, PlayerError, Summary, WorkError,
    measure_engines, threads_of, work_on,
};
use readyok_arena::store::{ContentHash, IndexSet};
use readyok_client::{Guard, Timeouts};
use readyok_rules::Game;

use super::files::{AnyError, file_error};
use super::run::{Coordinate, Slots, available_cpus, player, setting};
use crate::exit::{self, Code};

/// The server of a distributed match.
#[derive(Clone, Debug)]
pub struct Queue {
    /// Address and credentials.
    pub access: Access,
    /// Scale times on each worker by its speed relative to this host.
    pub calibrate: bool,
    /// Priority of a new match.
    pub priority: i32,
    /// Time after which a silent worker loses its game pair, and a silent coordinator its match.
    pub lease: Duration,
    /// The specification of a match of the queue that is taken over.
    pub taken_over: Option<Box<MatchSpec>>,
}

impl Coordinate for Queue {
    fn reach(&self) -> Result<(), AnyError> {
        Connection::open(&self.access)?;
        Ok(())
    }

    fn coordinate(
        &self,
        game: Match,
        stored: Option<&IndexSet>,
        guard: &Guard,
    ) -> Result<Summary, AnyError> {
        let connection = Connection::open(&self.access)?;
        let spec = if let Some(spec) = &self.taken_over {
            (**spec).clone()
        } else {
            let speed = if self.calibrate { reference(&game, guard) } else { None };
            MatchSpec { speed, ..game.spec().clone() }.with_contents()?
        };
        // A host without the tablebases of the match does not verify adjudications by them.
        let tablebases = setting(&spec.plan).ok().and_then(|setting| setting.tablebases);
        let (lease, priority) = (self.lease, self.priority);
        let settings = CoordinatorSettings { lease, priority, tablebases };
        let mut dispatcher =
            NatsDispatcher::open(&connection, spec, stored, settings, game.reports())?;
        let summary = game.coordinate(&mut dispatcher)?;
        // An interrupted match remains in the queue.
        if summary.end != End::Interrupted {
            dispatcher.finish(&summary.end)?;
        }
        Ok(summary)
    }
}

/// The reference speed of a match, measured on this host; `None` if its engines have no times.
fn reference(game: &Match, guard: &Guard) -> Option<Speed> {
    let spec = game.spec();
    if !needs_speed(&spec.plan) {
        return None;
    }
    if spec.plan.engines.iter().any(|engine| engine.source.is_some()) {
        let text =
            "workers build the engines, so times are scaled by the speed of the hosts".to_owned();
        // Fails without a coordinator, which then needs no report.
        let _ = game.reports().send(Report::Warning { text, pair: None });
        return Some(Speed::of_host());
    }
    let setting = GameSettings::new(spec.plan.game);
    let measured = measure_engines(1, || {
        let options = PlayerOptions { guard: Some(guard.clone()), ..PlayerOptions::default() };
        player(spec, &setting, Timeouts::default(), options)
    });
    let why = match measured {
        Ok(Some(speed)) => return Some(speed),
        Ok(None) => "they report no nodes".to_owned(),
        Err(no_start) => no_start.to_string(),
    };
    let text = format!(
        "the speed of the engines cannot be measured, so times are scaled by the speed of the hosts: {why}"
    );
    // Fails without a coordinator, which then needs no report.
    let _ = game.reports().send(Report::Warning { text, pair: None });
    Some(Speed::of_host())
}

/// A worker that plays the matches of a server.
#[derive(Debug)]
pub struct Worker {
    /// Address and credentials.
    pub access: Access,
    /// The programs that it may run.
    pub permissions: Permissions,
    /// Local programs that it may run, with their arguments and working directories.
    pub engines: Vec<EnginePlan>,
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

/// Interval between two reads of the open matches.
const REFRESH_INTERVAL: Duration = Duration::from_secs(1);

/// Parts of a running worker that its slots share.
struct WorkerLoop<'a> {
    worker: &'a Worker,
    pool: Arc<Pool>,
    /// The speed of this host.
    speed: Speed,
    /// The number of slots.
    slots: usize,
    /// Held while the speed of engines is measured.
    measuring: Mutex<()>,
    /// The prepared matches.
    matches: Mutex<BTreeMap<String, Arc<Prepared>>>,
    /// The free CPUs, if engines are pinned.
    cpus: Option<Mutex<BTreeSet<usize>>>,
    log: &'a (dyn Fn(&str) + Sync),
}

/// The shortest interval between two measurements of the speed of engines.
const MEASURE_INTERVAL: Duration = Duration::from_mins(2);

/// A speed that differs less from the last one changes no times, and restarts no engines.
const SAME_SPEED: f64 = 1.05;

/// A match as it is played on this host.
struct Prepared {
    /// With times that are scaled by the speed.
    spec: MatchSpec,
    setting: GameSettings,
    speed: Option<Speed>,
    measurement: Mutex<Measurement>,
}

/// The circumstances of a measurement of the speed.
struct Measurement {
    at: Instant,
    load: Load,
    monitor: Option<SpeedMonitor>,
}

impl Measurement {
    #[expect(clippy::disallowed_methods, reason = "measurements have a minimum interval")]
    fn new(game: Game, speed: Option<&Speed>, load: Load) -> Self {
        let monitor = speed.map(|speed| SpeedMonitor::new(game, speed.clone()));
        Self { at: Instant::now(), load, monitor }
    }

    /// Whether the load of this host has changed.
    fn is_obsolete(&self, load: Load, slots: usize) -> bool {
        let has_drifted = self.monitor.as_ref().is_some_and(SpeedMonitor::has_drifted);
        let has_other_pairs = load.pairs.abs_diff(self.load.pairs) > slots / 4;
        let has_changed = has_drifted || has_other_pairs || load.matches != self.load.matches;
        has_changed && MEASURE_INTERVAL <= self.at.elapsed()
    }
}

impl Prepared {
    fn new(served: &Served, setting: GameSettings, speed: Option<Speed>, load: Load) -> Self {
        let spec = scale_times(served.spec().clone(), speed.as_ref());
        let measurement = Measurement::new(spec.plan.game, speed.as_ref(), load);
        Self { spec, setting, speed, measurement: Mutex::new(measurement) }
    }

    fn measurement(&self) -> MutexGuard<'_, Measurement> {
        self.measurement.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Plays pairs, and compares the speed of the engines with the measured one.
struct MonitoredPlayer<'a> {
    player: &'a mut EnginePlayer,
    prepared: &'a Prepared,
}

impl PairPlayer for MonitoredPlayer<'_> {
    fn play(
        &mut self,
        pairing: &Pairing,
        context: &mut PlayContext<'_>,
    ) -> Result<Option<PairResult>, PlayerError> {
        let result = self.player.play(pairing, context)?;
        if let (Some(result), Some(monitor)) = (&result, &mut self.prepared.measurement().monitor) {
            monitor.add(result);
        }
        Ok(result)
    }

    fn replay(
        &mut self,
        pairing: &Pairing,
        replay: &Replay,
        context: &mut PlayContext<'_>,
    ) -> Result<Option<Agreement>, PlayerError> {
        self.player.replay(pairing, replay, context)
    }
}

/// The engines of a slot.
struct Engines {
    served: Arc<Served>,
    prepared: Arc<Prepared>,
    player: EnginePlayer,
    cpus: Vec<usize>,
}

impl Worker {
    /// Plays matches until the idle timeout or an interrupt. `log` receives messages about the progress.
    ///
    /// # Errors
    /// The server is unreachable, or a local program cannot be read.
    pub fn work(
        mut self,
        log: impl Fn(&str) + Send + Sync + Clone + 'static,
    ) -> Result<(), AnyError> {
        for engine in &self.engines {
            let (path, dir) = (Path::new(&engine.command), engine.dir.as_deref().map(Path::new));
            let content: ContentHash = self
                .permissions
                .allow_file(path, &engine.args, dir)
                .map_err(|error| file_error(path, &error))?;
            log(&format!("allowed {} ({content})", path.display()));
        }
        let speed = Speed::of_host();
        let cpus = match &self.pin {
            Some(list) => Some(Cpus::usable(list)?),
            None => None,
        };
        let available = cpus.as_ref().map_or_else(available_cpus, BTreeSet::len).max(1);
        // Explicit slots without pinning may use more CPUs than there are.
        let units = if cpus.is_some() || self.slots == 0 { available } else { self.slots };
        let slots = if self.slots == 0 { units } else { self.slots.min(units) };
        let permissions = self.permissions.clone();
        let pool = Pool::open(
            &self.access,
            &self.name,
            speed.value(),
            permissions,
            self.cache.clone(),
            [slots, units],
        )?;
        let pool = Arc::new(pool);
        stop_worker(Arc::clone(&pool), log.clone())?;
        let worker_loop = WorkerLoop {
            worker: &self,
            pool: Arc::clone(&pool),
            speed,
            slots,
            measuring: Mutex::default(),
            matches: Mutex::default(),
            cpus: cpus.map(Mutex::new),
            log: &log,
        };
        log(&format!("waiting for matches at {}", self.access.address()));
        let done = thread::scope(|scope| {
            let worker_loop = &worker_loop;
            let slots: Vec<_> =
                (0..slots).map(|_| scope.spawn(move || worker_loop.run_slot())).collect();
            loop {
                if let Err(error) = pool.refresh() {
                    pool.leave(Departure::Return);
                    return Err(error);
                }
                if self.idle.is_some_and(|idle| idle <= pool.idle_time()) {
                    pool.leave(Departure::Finish);
                }
                if slots.iter().all(thread::ScopedJoinHandle::is_finished) {
                    return Ok(());
                }
                thread::park_timeout(REFRESH_INTERVAL);
            }
        });
        pool.unpublish();
        Ok(done?)
    }

    fn slots_of(&self, spec: &MatchSpec) -> Slots {
        let each = threads_of(&spec.plan);
        Slots::new(self.slots, each, available_cpus())
    }
}

/// The first Ctrl-C finishes the pairs in progress, the first SIGTERM returns them, and the second signal exits.
#[expect(clippy::exit, reason = "the second signal does not wait for the games")]
fn stop_worker(pool: Arc<Pool>, log: impl Fn(&str) + Send + 'static) -> std::io::Result<()> {
    exit::on_stop(move |signal, count| {
        let playing = super::count_of(pool.playing(), "game pair");
        match (count, signal) {
            (1, exit::StopSignal::Interrupt) => {
                log(&format!("finishing {playing}; press Ctrl-C again to exit immediately"));
                pool.leave(Departure::Finish);
            }
            (1, exit::StopSignal::Terminate) => {
                log(&format!("returning {playing}"));
                pool.leave(Departure::Return);
            }
            _ => std::process::exit(Code::Interrupted.number()),
        }
    })
}

impl WorkerLoop<'_> {
    fn run_slot(&self) {
        let mut slot = Slot::default();
        let mut engines: Option<Engines> = None;
        loop {
            match self.pool.take(&mut slot) {
                TakeResult::Leave => return,
                TakeResult::Wait => {
                    let is_over =
                        |engines: &Engines| engines.served.stop_token().stopped().is_some();
                    if engines.as_ref().is_some_and(is_over) {
                        engines = None;
                    }
                }
                TakeResult::Prepare(new) => {
                    let prepared = catch_unwind(AssertUnwindSafe(|| self.prepare(&new)));
                    let prepared = prepared.unwrap_or_else(|_| Err(missing("a panic")));
                    if let Err(why) = prepared {
                        self.log(&format!("rejected match {}: {why}", new.id()));
                        self.pool.reject(&new, why);
                    }
                }
                TakeResult::Job(job) => {
                    // A panic drops the lease, which returns the job, and the engines.
                    let played = catch_unwind(AssertUnwindSafe(|| self.play(job, &mut engines)));
                    if played.is_err() {
                        engines = None;
                    }
                }
            }
        }
    }

    /// Downloads the files of a match and probes its engines.
    fn prepare(&self, new: &NewMatch) -> Result<(), Rejection> {
        let served = self.pool.accept(new)?;
        let spec = served.spec();
        let slots = self.worker.slots_of(spec);
        let cpus = self.cpus.as_ref().map(|_| slots.cpus);
        if let Some(warning) = slots.overload_warning().filter(|_| cpus.is_none()) {
            self.log(&warning);
        }
        let setting = setting(&spec.plan)
            .map_err(|error| missing(format!("the tablebases cannot be opened: {error}")))?;
        self.player(spec, &setting, &served).probe_engines()?;
        let is_limited = cpus.is_some() || self.worker.slots == 0;
        let cost = Cost(if is_limited { slots.each.min(slots.cpus).max(1) } else { 1 });
        let prepared = {
            let _measuring = self.measuring.lock().unwrap_or_else(PoisonError::into_inner);
            // All slots search, or play other matches.
            let free = self.pool.reserve_free();
            let parallel = free.pairs(cost).clamp(1, self.slots.max(1));
            let Load { pairs, matches } = self.pool.load();
            let load = Load { pairs: pairs + parallel, matches: matches + 1 };
            let cpus: Vec<_> = (0..parallel).map(|_| self.reserve_cpus(spec, None)).collect();
            let speed = self.measure(&served, &setting, &cpus)?;
            Prepared::new(&served, setting, speed, load)
        };
        let (id, speed) = (new.id(), prepared.speed.as_ref());
        let factor = spec.speed.as_ref().zip(speed).and_then(|(one, other)| one.relative_to(other));
        self.log(&match (&spec.speed, factor) {
            (None, _) => format!("playing match {id}"),
            (Some(_), Some(factor)) => format!("playing match {id}, times × {factor:.2}"),
            (Some(_), None) => {
                format!(
                    "playing match {id}; times are not scaled, since its engines report no nodes"
                )
            }
        });
        self.matches().insert(id.to_owned(), Arc::new(prepared));
        self.pool.ready(new, served, cost);
        Ok(())
    }

    /// Measures the speed of a match, with a search for each of these CPU reservations at the same time.
    fn measure(
        &self,
        served: &Served,
        setting: &GameSettings,
        cpus: &[CpuReservation<'_>],
    ) -> Result<Option<Speed>, Rejection> {
        let spec = served.spec();
        match &spec.speed {
            None => return Ok(None),
            Some(Speed::Host(_)) => return Ok(Some(self.speed.clone())),
            Some(Speed::Engines(_)) => {}
        }
        let next = AtomicUsize::new(0);
        let measured = measure_engines(cpus.len(), || {
            if let Some(cpus) = cpus.get(next.fetch_add(1, Ordering::Relaxed)) {
                // A failure is reported before the first game.
                let _ = Cpus::pin(&cpus.list);
            }
            self.player(spec, setting, served)
        });
        Ok(measured?)
    }

    /// Measures the speed of a match again, if the load of this host has changed. The engines of the slot are ended then.
    fn remeasured(
        &self,
        served: &Served,
        prepared: Arc<Prepared>,
        cpus: &CpuReservation<'_>,
        engines: &mut Option<Engines>,
    ) -> Result<Arc<Prepared>, Rejection> {
        let Some(before @ Speed::Engines(_)) = &prepared.speed else { return Ok(prepared) };
        let load = self.pool.load();
        if !prepared.measurement().is_obsolete(load, self.slots) {
            return Ok(prepared);
        }
        let Ok(_measuring) = self.measuring.try_lock() else { return Ok(prepared) };
        *engines = None;
        let setting = &prepared.setting;
        let measured = self.measure(served, setting, std::slice::from_ref(cpus))?;
        let speed = measured.unwrap_or_else(|| before.clone());
        let ratio = speed.relative_to(before).unwrap_or(1.0);
        if (1.0 / SAME_SPEED..=SAME_SPEED).contains(&ratio) {
            let game = prepared.spec.plan.game;
            *prepared.measurement() = Measurement::new(game, Some(before), load);
            return Ok(prepared);
        }
        self.log(&format!(
            "match {}: the speed of the engines has changed × {ratio:.2}",
            served.id()
        ));
        let changed = Arc::new(Prepared::new(served, setting.clone(), Some(speed), load));
        self.matches().insert(served.id().to_owned(), Arc::clone(&changed));
        Ok(changed)
    }

    fn player(&self, spec: &MatchSpec, setting: &GameSettings, served: &Served) -> EnginePlayer {
        let (guard, texts) = (Some(self.worker.guard.clone()), served.texts().cloned());
        let options = PlayerOptions { guard, texts, ..PlayerOptions::default() };
        let player = player(spec, setting, Timeouts::default(), options);
        player.as_remote_worker(WorkerId(self.worker.name.clone()))
    }

    /// Plays a pair, with the engines of the previous one if it is of the same match.
    fn play(&self, mut job: PooledJob<'_>, engines: &mut Option<Engines>) {
        let served = Arc::clone(job.served());
        let Some(prepared) = self.matches().get(served.id()).cloned() else { return };
        let cpus = match self.take_cpus(&prepared.spec, engines.as_ref()) {
            Ok(cpus) => cpus,
            Err(why) => return self.reject(&served, why),
        };
        let prepared = match self.remeasured(&served, prepared, &cpus, engines) {
            Ok(prepared) => prepared,
            Err(why) => return self.reject(&served, why),
        };
        let is_same = |engines: &Engines| {
            Arc::ptr_eq(&engines.served, &served)
                && Arc::ptr_eq(&engines.prepared, &prepared)
                && engines.cpus == cpus.list
        };
        let mut current = engines.take().filter(is_same).unwrap_or_else(|| Engines {
            player: self.player(&prepared.spec, &prepared.setting, &served),
            served: Arc::clone(&served),
            prepared: Arc::clone(&prepared),
            cpus: cpus.list.clone(),
        });
        let Some(lease) = job.lease_at(prepared.speed.clone()) else { return };
        let mut player = MonitoredPlayer { player: &mut current.player, prepared: &prepared };
        match work_on(lease, served.stop_token(), &mut player) {
            Ok(()) => *engines = Some(current),
            Err(WorkError::Queue(error)) => {
                self.log(&error.to_string());
                *engines = Some(current);
            }
            Err(WorkError::NoStart(no_start)) => self.reject(&served, no_start.into()),
        }
    }

    /// Takes the CPUs of a pair, if engines are pinned, and pins this thread to them.
    fn take_cpus(
        &self,
        spec: &MatchSpec,
        engines: Option<&Engines>,
    ) -> Result<CpuReservation<'_>, Rejection> {
        let cpus = self.reserve_cpus(spec, engines);
        if cpus.free.is_some() {
            Cpus::pin(&cpus.list).map_err(|error| missing(error.to_string()))?;
        }
        Ok(cpus)
    }

    /// Takes the CPUs of a pair, if engines are pinned; those of the engines that run if they are free.
    fn reserve_cpus(&self, spec: &MatchSpec, engines: Option<&Engines>) -> CpuReservation<'_> {
        let Some(free) = &self.cpus else {
            return CpuReservation { list: Vec::new(), free: None };
        };
        let each = threads_of(&spec.plan);
        let list: Vec<usize> = {
            let mut free = free.lock().unwrap_or_else(PoisonError::into_inner);
            let before = engines.map_or(&[][..], |engines| &engines.cpus);
            let preferred = before.iter().filter(|cpu| free.contains(cpu)).copied();
            let others = Cpus::sorted(&free).into_iter().filter(|cpu| !before.contains(cpu));
            let list: Vec<usize> = preferred.chain(others).take(each).collect();
            for cpu in &list {
                free.remove(cpu);
            }
            list
        };
        CpuReservation { list, free: Some(free) }
    }

    fn reject(&self, served: &Served, why: Rejection) {
        self.log(&format!("rejected match {}: {why}", served.id()));
        self.pool.reject_served(served, why);
    }

    fn matches(&self) -> MutexGuard<'_, BTreeMap<String, Arc<Prepared>>> {
        self.matches.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn log(&self, text: &str) {
        (self.log)(text);
    }
}

/// CPUs of a pair, which are free again when this is dropped.
struct CpuReservation<'a> {
    list: Vec<usize>,
    free: Option<&'a Mutex<BTreeSet<usize>>>,
}

impl Drop for CpuReservation<'_> {
    fn drop(&mut self) {
        if let Some(free) = self.free {
            free.lock().unwrap_or_else(PoisonError::into_inner).extend(&self.list);
        }
    }
}

fn missing(why: impl Into<String>) -> Rejection {
    Rejection::MissingResource { why: why.into() }
}
