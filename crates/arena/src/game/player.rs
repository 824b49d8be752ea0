//! The engine of a player: started for its first game, restarted after a crash, and probed before a match.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::{Arc, Condvar, LazyLock, Mutex, MutexGuard, PoisonError};
use std::thread::available_parallelism;
use std::time::{Duration, Instant};

use readyok_client::{
    Builder, Dialect, Engine, EngineError, Game as WireGame, Guard, Identity, Problem, Search,
    Timeouts, UsageError,
};
use readyok_protocol::{OptionKind, Party};
use readyok_rules::{Game, MoveCodec, Position, Side, Termination};

use crate::game::clock;
use crate::game::clock::PlayerClock;
use crate::pairing::Opening;
use crate::plan::{EngineId, EnginePlan, Limits, TimeControl};
use crate::result::{EngineFailure, EngineFailureKind, GameEnd, WarningKind, unsuitable};
use crate::time::now;

/// An engine that plays game after game.
///
/// The engine starts with its first game. It is restarted after a crash, or for each game if the plan requires it.
/// Dropping the player quits the engine.
pub struct Player {
    id: EngineId,
    plan: EnginePlan,
    game: Game,
    timeouts: Timeouts,
    start: Start,
    options: PlayerOptions,
    /// Options of the current pairing, and those that the engine has.
    pairing_options: BTreeMap<String, String>,
    sent_options: BTreeMap<String, String>,
    /// Whether `isready` is sent before each search.
    pings: bool,
    engine: Option<Engine>,
    /// Whether the engine has played a previous game.
    is_used: bool,
}

/// A callback for each line sent to or received from an engine: engine name, sender, line.
pub type LineObserver = Arc<dyn Fn(&str, Party, &str) + Send + Sync>;

/// A callback for each line that an engine writes to stderr: engine name, line.
pub type StderrObserver = Arc<dyn Fn(&str, &str) + Send + Sync>;

/// How the engines of players are started and observed on this host.
#[derive(Clone, Default)]
pub struct PlayerOptions {
    /// Ensures that engines exit with this process.
    pub guard: Option<Guard>,
    /// Called with each line sent to or received from an engine.
    pub line_observer: Option<LineObserver>,
    /// Called with each line of an engine's stderr.
    pub stderr_observer: Option<StderrObserver>,
    /// The text values that the plan may set for options, all if `None`. An engine with another value does not start.
    pub texts: Option<TextOptions>,
}

impl fmt::Debug for PlayerOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PlayerOptions")
            .field("guard", &self.guard)
            .field("texts", &self.texts)
            .finish_non_exhaustive()
    }
}

type Start = Box<dyn FnMut(Builder) -> Result<Engine, EngineError> + Send>;

impl Player {
    /// A player whose engine is a process or a TCP connection, as configured in the plan.
    pub fn new(game: Game, id: EngineId, plan: &EnginePlan, timeouts: Timeouts) -> Self {
        let start = starter(plan);
        Self::with_start(game, id, plan, timeouts, start)
    }

    /// A player with a custom start function, for example for an engine in this process.
    pub fn with_start(
        game: Game,
        id: EngineId,
        plan: &EnginePlan,
        timeouts: Timeouts,
        start: impl FnMut(Builder) -> Result<Engine, EngineError> + Send + 'static,
    ) -> Self {
        let (plan, start) = (plan.clone(), Box::new(start));
        Self {
            id,
            plan,
            game,
            timeouts,
            start,
            options: PlayerOptions::default(),
            pairing_options: BTreeMap::new(),
            sent_options: BTreeMap::new(),
            pings: false,
            engine: None,
            is_used: false,
        }
    }

    /// Replaces the default options: no guard, no observers, all texts allowed.
    #[must_use]
    pub fn with_options(mut self, options: PlayerOptions) -> Self {
        self.options = options;
        self
    }

    /// The engine of the plan.
    pub fn id(&self) -> EngineId {
        self.id
    }

    /// The game that it plays.
    pub(super) fn game(&self) -> Game {
        self.game
    }

    /// Its configuration in the plan.
    pub fn plan(&self) -> &EnginePlan {
        &self.plan
    }

    /// Whether the engine is running, to the extent known.
    pub fn is_running(&self) -> bool {
        self.engine.is_some()
    }

    /// The name and the author reported by a running engine.
    pub fn identity(&self) -> Option<&Identity> {
        self.engine.as_ref().map(Engine::identity)
    }

    /// The process ID of a running engine.
    pub fn process_id(&self) -> Option<u32> {
        self.engine.as_ref().and_then(Engine::process_id)
    }

    /// Quits the engine. The next game restarts it.
    pub fn end(&mut self) {
        self.engine = None;
    }

    /// Kills an unresponsive engine. The next game restarts it.
    pub(super) fn kill(&mut self) {
        if let Some(engine) = self.engine.take() {
            engine.kill();
        }
    }

    pub(super) fn engine(&self) -> Option<&Engine> {
        self.engine.as_ref()
    }

    pub(super) fn engine_mut(&mut self) -> Option<&mut Engine> {
        self.engine.as_mut()
    }

    /// Whether the engine has played a previous game, which may have caused a failure of its first search.
    pub(super) fn is_used(&self) -> bool {
        self.is_used
    }

    /// The notation of the engine; an error if its protocol does not support the game.
    pub(super) fn codec(&self) -> Result<MoveCodec, GameEnd> {
        let codec = match self.plan.protocol {
            None => Some(MoveCodec::usual(self.game)),
            Some(dialect) => MoveCodec::new(dialect, self.game),
        };
        codec.ok_or_else(|| {
            let why = "a USI engine plays shogi only".to_owned();
            unsuitable(EngineFailureKind::UnsupportedGame, &why)
        })
    }

    /// Sets options for the next games, in addition to those of the plan. An engine that does not accept them does not
    /// start.
    pub fn set_pairing_options(&mut self, options: &BTreeMap<String, String>) {
        self.pairing_options.clone_from(options);
    }

    /// Sends the options of the pairing that have changed.
    fn send_pairing_options(&mut self, engine: &mut Engine) -> Result<(), GameEnd> {
        for (name, value) in &self.pairing_options {
            if self.sent_options.get(name) == Some(value) {
                continue;
            }
            if !self.permits(engine, name, value) {
                return Err(forbidden(name));
            }
            set_option(engine, name, value).map_err(|error| GameEnd::no_start(&error))?;
            self.sent_options.insert(name.clone(), value.clone());
        }
        Ok(())
    }

    /// Sends `isready` before each search of engines that are started from now on.
    pub(super) fn ping_before_searches(&mut self, pings: bool) {
        self.pings = pings;
    }

    /// Ensures that the engine is running, and announces a new game.
    pub(super) fn prepare(
        &mut self,
        game: &WireGame,
        warnings: &mut Vec<WarningKind>,
    ) -> Result<(), GameEnd> {
        if self.plan.restart {
            self.engine = None;
        }
        self.is_used = self.engine.is_some();
        if let Some(mut engine) = self.engine.take() {
            // Notices about the previous game.
            engine.drain_notices();
            engine.set_ready_limit(self.timeouts.ready);
            self.send_pairing_options(&mut engine)?;
            match engine.new_game(game) {
                Ok(()) => {
                    self.engine = Some(engine);
                    return Ok(());
                }
                Err(error) if error.is_recoverable() && !is_gone(&error) => {
                    return Err(GameEnd::no_start(&error));
                }
                Err(error) => warnings.push(WarningKind::restarted(&error)),
            }
        }
        self.restart(game, warnings)
    }

    /// Starts a new engine process.
    pub(super) fn restart(
        &mut self,
        game: &WireGame,
        warnings: &mut Vec<WarningKind>,
    ) -> Result<(), GameEnd> {
        self.engine = None;
        self.is_used = false;
        self.sent_options.clear();
        let dialect = self.codec()?.dialect();
        let mut builder = Engine::builder()
            .name(&self.plan.name)
            .dialect(dialect)
            .timeouts(self.timeouts)
            .sync_between_searches(self.pings)
            .position_before_ready(self.pings);
        if let Some(guard) = &self.options.guard {
            builder = builder.guard(guard);
        }
        if let Some(registration) = self.plan.registration.clone() {
            builder = builder.register(registration);
        }
        if let Some(line_observer) = self.options.line_observer.clone() {
            let name = self.plan.name.clone();
            builder = builder.on_line(move |side, line: &str| line_observer(&name, side, line));
        }
        if let Some(stderr_observer) = self.options.stderr_observer.clone() {
            let name = self.plan.name.clone();
            builder = builder.on_stderr(move |line: &str| stderr_observer(&name, line));
        }
        let permit = START_LIMITER.acquire();
        let started = (self.start)(builder);
        drop(permit);
        let mut engine = started.map_err(|error| GameEnd::no_start(&error))?;
        engine.allow_pondering(self.plan.ponder);
        if let Some(name) = self.forbidden_text(&engine) {
            return Err(forbidden(name));
        }
        for (name, value) in &self.plan.options {
            if let Some(warning) = set_plan_option(&mut engine, name, value)
                .map_err(|error| GameEnd::no_start(&error))?
            {
                warnings.push(warning);
            }
        }
        self.send_pairing_options(&mut engine)?;
        engine.new_game(game).map_err(|error| GameEnd::no_start(&error))?;
        // In USI, `isready` starts a game and is sent once per game.
        if dialect == Dialect::Uci {
            engine.ready().map_err(|error| GameEnd::no_start(&error))?;
        }
        self.engine = Some(engine);
        Ok(())
    }
}

impl Player {
    /// The first option with a text value that is not allowed.
    fn forbidden_text(&self, engine: &Engine) -> Option<&str> {
        let mut options = self.plan.options.iter();
        let forbidden = options.find(|(name, value)| !self.permits(engine, name, value));
        forbidden.map(|(name, _)| name.as_str())
    }

    fn permits(&self, engine: &Engine, name: &str, value: &str) -> bool {
        let (texts, declared) = (self.options.texts.as_ref(), engine.options().find(name));
        texts.zip(declared).is_none_or(|(texts, option)| texts.permits(name, &option.kind, value))
    }
}

fn forbidden(name: &str) -> GameEnd {
    let kind = EngineFailureKind::ForbiddenValue { name: name.to_owned() };
    GameEnd::no_start(EngineFailure::new(kind))
}

fn is_gone(error: &EngineError) -> bool {
    matches!(
        error.problem(),
        Problem::Usage(UsageError::NotRunning | UsageError::HandshakeIncomplete)
    )
}

/// Sets an option, or presses a button.
fn set_option(engine: &mut Engine, name: &str, value: &str) -> Result<(), EngineError> {
    let found = engine.options().find(name);
    match found.map(|option| &option.kind) {
        Some(OptionKind::Button) => engine.push_button(name),
        Some(_) | None => engine.set_option(name, value),
    }
}

/// Sets an option of the plan. A warning is returned if the engine does not accept it.
fn set_plan_option(
    engine: &mut Engine,
    name: &str,
    value: &str,
) -> Result<Option<WarningKind>, EngineError> {
    let Err(error) = set_option(engine, name, value) else { return Ok(None) };
    match error.problem() {
        Problem::Usage(UsageError::UnknownOption(_) | UsageError::ManagedOption { .. }) => {
            Ok(Some(WarningKind::UnsettableOption { name: name.to_owned() }))
        }
        Problem::Usage(UsageError::OptionValue(error)) => {
            let (name, value) = (name.to_owned(), value.to_owned());
            Ok(Some(WarningKind::OptionNotSet { name, value, cause: error.clone() }))
        }
        _ => Err(error),
    }
}

/// Starts the process or opens the connection of a plan.
fn starter(
    plan: &EnginePlan,
) -> impl FnMut(Builder) -> Result<Engine, EngineError> + Send + 'static {
    let (program, address) = (plan.program(), plan.command.clone());
    move |builder| match &program {
        Some(program) => builder.spawn(program.command()),
        None => builder.connect(&address),
    }
}

impl fmt::Debug for Player {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Player")
            .field("plan", &self.plan)
            .field("engine", &self.engine)
            .finish_non_exhaustive()
    }
}

/// The text values that options may have: a text can be the path of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TextOptions {
    /// Names of options that may have any text, in lower case.
    names: BTreeSet<String>,
    /// Values allowed for any option.
    values: BTreeSet<String>,
}

impl TextOptions {
    /// Allows any text for options with these names, in lower case, and these values for all others.
    pub fn new(names: BTreeSet<String>, values: BTreeSet<String>) -> Self {
        Self { names, values }
    }

    /// Whether an option may have this value.
    fn permits(&self, name: &str, kind: &OptionKind<'_>, value: &str) -> bool {
        let any = || self.values.contains(value) || self.names.contains(&name.to_lowercase());
        match kind {
            OptionKind::String { default } | OptionKind::Filename { default } => {
                default.as_deref() == Some(value) || any()
            }
            OptionKind::Other { .. } => any(),
            OptionKind::Check { .. }
            | OptionKind::Spin { .. }
            | OptionKind::Combo { .. }
            | OptionKind::Button => true,
        }
    }
}

/// The timeout of the probing search. Some engines load files at their first search.
const PROBE_TIMEOUT: Duration = Duration::from_mins(1);

/// Maximum of each limit of the probing search.
const PROBE_NODES: u64 = 1;
const PROBE_DEPTH: u32 = 1;
const PROBE_MOVE_MS: u64 = 10;
const PROBE_CLOCK: Duration = Duration::from_secs(1);

/// Probes an engine: starts it, sets its options, runs a short search from the start position, and quits it.
///
/// # Errors
/// A failure that would have lost a game. A late answer is no failure, since a first search can take longer.
pub(crate) fn probe(player: &mut Player, game: Game) -> Result<(), GameEnd> {
    let probed = probe_search(player, game);
    match &probed {
        // It would not react to `quit` either.
        Err(end) if *end == Termination::EngineStall => player.kill(),
        Ok(()) | Err(_) => player.end(),
    }
    probed
}

fn probe_search(player: &mut Player, game: Game) -> Result<(), GameEnd> {
    let codec = player.codec()?;
    let start = client_game(codec, game, &Opening::default())?;
    player.prepare(&start, &mut Vec::new())?;
    let clock = PlayerClock::new(short_limits(player.plan().limits), game);
    let go = clock::go(&clock, &clock, Side::First, codec.dialect());
    let Some(engine) = player.engine_mut() else { return Ok(()) };
    let result = engine.play(&start, Search::from(go).deadline_after(PROBE_TIMEOUT));
    result.map(drop).map_err(|error| match error.problem() {
        Problem::OutOfTime(_) | Problem::Timeout(_) => {
            let waited_ms = u64::try_from(PROBE_TIMEOUT.as_millis()).unwrap_or(u64::MAX);
            GameEnd::stall(waited_ms)
        }
        Problem::Usage(_) => GameEnd::no_start(&error),
        _ => GameEnd::crash(&error),
    })
}

/// The duration of a search that measures the speed, in milliseconds.
const MEASURED_MS: u64 = 300;

/// Nodes of searches, and their duration.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SearchedNodes {
    pub(crate) nodes: f64,
    pub(crate) seconds: f64,
}

impl SearchedNodes {
    pub(crate) fn add(&mut self, other: Self) {
        self.nodes += other.nodes;
        self.seconds += other.seconds;
    }
}

/// Starts an engine.
pub(crate) fn start_for_search(player: &mut Player) -> Result<(), GameEnd> {
    let start = client_game(player.codec()?, player.game, &Opening::default())?;
    player.prepare(&start, &mut Vec::new())
}

/// Searches a position for a fixed time.
#[expect(clippy::cast_precision_loss, reason = "a rate needs no more precision")]
pub(crate) fn time_search(player: &mut Player, position: &str) -> Result<SearchedNodes, GameEnd> {
    let codec = player.codec()?;
    let opening = Opening { position: Some(position.to_owned()), ..Opening::default() };
    let game = client_game(codec, player.game, &opening)?;
    player.prepare(&game, &mut Vec::new())?;
    // USI has no time per move.
    let limits = match codec.dialect() {
        Dialect::Uci => Limits { move_time_ms: Some(MEASURED_MS), ..Limits::default() },
        Dialect::Usi => Limits { byoyomi_ms: Some(MEASURED_MS), ..Limits::default() },
    };
    let clock = PlayerClock::new(limits, player.game);
    let go = clock::go(&clock, &clock, Side::First, codec.dialect());
    let Some(engine) = player.engine_mut() else { return Ok(SearchedNodes::default()) };
    let result = engine.play(&game, Search::from(go).deadline_after(PROBE_TIMEOUT));
    let result = result.map_err(|error| GameEnd::crash(&error))?;
    let nodes = result.info.nodes.unwrap_or_default() as f64;
    Ok(SearchedNodes { nodes, seconds: result.time().as_secs_f64() })
}

/// Limits of the same kinds: an engine may not support others.
fn short_limits(limits: Limits) -> Limits {
    Limits {
        tc: limits.tc.map(|tc| TimeControl {
            time: tc.time.min(PROBE_CLOCK),
            increment: tc.increment.min(PROBE_CLOCK),
            ..tc
        }),
        byoyomi_ms: limits.byoyomi_ms.map(|ms| ms.min(PROBE_MOVE_MS)),
        move_time_ms: limits.move_time_ms.map(|ms| ms.min(PROBE_MOVE_MS)),
        nodes: limits.nodes.map(|nodes| nodes.min(PROBE_NODES)),
        depth: limits.depth.map(|depth| depth.min(PROBE_DEPTH)),
        margin_ms: limits.margin_ms,
    }
}

/// A game that starts with an opening, in the notation of the engine.
pub(super) fn client_game(
    codec: MoveCodec,
    game: Game,
    opening: &Opening,
) -> Result<WireGame, GameEnd> {
    let unsupported = |why: String| unsuitable(EngineFailureKind::UnsupportedPosition, &why);
    let root = match &opening.position {
        Some(root) => {
            Position::from_text(game, root).map_err(|error| unsupported(error.to_string()))?
        }
        None => Position::start(game),
    };
    let mut position = root.clone();
    let moves: Result<Vec<_>, _> =
        opening.moves.iter().map(|text| position.play_uci(text)).collect();
    let moves = moves.map_err(|error| unsupported(error.to_string()))?;
    let sent = codec.encode_position(&root, &moves);
    let sent =
        sent.ok_or_else(|| unsupported(format!("`{root}` cannot be written for this engine")))?;
    Ok(WireGame::new(sent, codec.new_game()))
}

/// The items of a side and of its opponent.
pub(super) fn pair_mut<T>([first, second]: &mut [T; 2], side: Side) -> (&mut T, &mut T) {
    match side {
        Side::First => (first, second),
        Side::Second => (second, first),
    }
}

/// The limiter of this process: two engines per CPU.
static START_LIMITER: LazyLock<StartLimiter> =
    LazyLock::new(|| StartLimiter::new(2 * cpus(), Duration::from_secs(2)));

/// Limits simultaneous engine starts. If dozens start on few CPUs, a sound engine may exceed its handshake timeout.
#[derive(Debug)]
struct StartLimiter {
    max: usize,
    /// If no start begins or ends for this time, those in progress are considered hung and do not block others.
    max_wait: Duration,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug)]
struct State {
    starting: usize,
    /// When a start last began or ended.
    changed: Instant,
}

/// Permission to start an engine, until it is dropped.
#[derive(Debug)]
struct Permit<'a>(&'a StartLimiter);

impl StartLimiter {
    fn new(max: usize, max_wait: Duration) -> Self {
        let state = Mutex::new(State { starting: 0, changed: now() });
        Self { max, max_wait, state, changed: Condvar::new() }
    }

    /// Waits until an engine may be started.
    fn acquire(&self) -> Permit<'_> {
        let mut state = self.lock();
        while state.starting >= self.max {
            let waited = now().saturating_duration_since(state.changed);
            let Some(left) = self.max_wait.checked_sub(waited).filter(|left| !left.is_zero())
            else {
                break;
            };
            let woken = self.changed.wait_timeout(state, left);
            (state, _) = woken.unwrap_or_else(PoisonError::into_inner);
        }
        state.starting += 1;
        state.changed = now();
        Permit(self)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Permit<'_> {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        state.starting -= 1;
        state.changed = now();
        drop(state);
        self.0.changed.notify_one();
    }
}

fn cpus() -> usize {
    available_parallelism().map_or(1, usize::from)
}

/// The warning about a loss on time, if the load average (1 minute) is at least the number of CPUs.
pub(super) fn overload_warning() -> Option<WarningKind> {
    let load = std::fs::read_to_string("/proc/loadavg").ok()?;
    load_percent(&load, cpus()).map(|percent| WarningKind::HostOverloaded { percent })
}

/// The load in percent of the CPUs, from the text of `/proc/loadavg`.
fn load_percent(text: &str, cpus: usize) -> Option<u32> {
    let (whole, hundredths) = text.split_ascii_whitespace().next()?.split_once('.')?;
    let whole: u32 = whole.parse().ok()?;
    let percent = whole.saturating_mul(100).saturating_add(hundredths.parse().ok()?);
    let percent = percent / u32::try_from(cpus).ok()?.max(1);
    (percent >= 100).then_some(percent)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::thread;

    #[test]
    fn limits_simultaneous_starts() {
        let limiter = StartLimiter::new(2, Duration::from_hours(1));
        let (running, max) = (AtomicUsize::new(0), AtomicUsize::new(0));
        thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for _ in 0..20 {
                        let _permit = limiter.acquire();
                        let count = 1 + running.fetch_add(1, Ordering::SeqCst);
                        max.fetch_max(count, Ordering::SeqCst);
                        thread::yield_now();
                        running.fetch_sub(1, Ordering::SeqCst);
                    }
                });
            }
        });
        assert!((1..=2).contains(&max.into_inner()));
        assert_eq!(limiter.lock().starting, 0);
    }

    #[test]
    fn hung_starts_do_not_block_others() {
        let limiter = StartLimiter::new(1, Duration::from_millis(10));
        let _hung = limiter.acquire();
        let _started = limiter.acquire();
        assert_eq!(limiter.lock().starting, 2);
    }

    #[test]
    fn detects_a_load_of_at_least_one_per_cpu() {
        assert_eq!(load_percent("2.00 9.10 9.11 3/412 9876\n", 2), Some(100));
        assert_eq!(load_percent("6.10 0.10 0.11 3/412 9876\n", 2), Some(305));
        assert_eq!(load_percent("1.99 9.10 9.11 3/412 9876\n", 2), None);
        for text in ["", "2", "x.10 1", "2.x 1", "-2.00"] {
            assert_eq!(load_percent(text, 1), None, "{text}");
        }
    }
}
