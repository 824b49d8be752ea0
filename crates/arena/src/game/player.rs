//! One engine from game to game: started when it is needed, and again when it was lost.

use std::fmt;
use std::process::Command;
use std::sync::Arc;

use readyok_client::{
    Builder, Dialect, Engine, EngineError, Game as WireGame, Guard, Identity, Problem, Timeouts,
    UsageError,
};
use readyok_protocol::{OptionKind, Party as Spoke};
use readyok_rules::{Game, MoveCodec, Side};

use super::start_limiter::START_LIMITER;
use super::texts::TextOptions;
use crate::plan::{EngineId, EnginePlan, Protocol};
use crate::result::{EngineFailureKind, GameEnd, WarningKind, unsuitable};

/// An engine that plays game after game.
///
/// It starts when it first has to play, and again if it crashed, was killed, or the plan wants a
/// fresh one for each game. Dropping it ends the engine.
pub struct Player {
    id: EngineId,
    plan: EnginePlan,
    game: Game,
    timeouts: Timeouts,
    start: Start,
    guard: Option<Guard>,
    line_observer: Option<LineObserver>,
    stderr_observer: Option<StderrObserver>,
    /// Which texts its options may have; none is any.
    texts: Option<TextOptions>,
    engine: Option<Engine>,
    /// Whether the engine has played a game before this one.
    is_used: bool,
}

/// A function that hears every line of the conversations of a match: which engine, who spoke, what.
pub type LineObserver = Arc<dyn Fn(&str, Spoke, &str) + Send + Sync>;

/// A function that hears every line that the engines of a match write to their error output: which
/// engine, and what.
pub type StderrObserver = Arc<dyn Fn(&str, &str) + Send + Sync>;

type Start = Box<dyn FnMut(Builder) -> Result<Engine, EngineError> + Send>;

impl Player {
    /// A player of a plan. It is a process, or at the other end of a connection, as the plan says.
    pub fn new(game: Game, id: EngineId, plan: &EnginePlan, timeouts: Timeouts) -> Self {
        let start = starter(plan);
        Self::with_start(game, id, plan, timeouts, start)
    }

    /// A player that is started in another way, such as within this program.
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
            guard: None,
            line_observer: None,
            stderr_observer: None,
            texts: None,
            engine: None,
            is_used: false,
        }
    }

    /// Has a function hear every line that is said to the engine and by it.
    #[must_use]
    pub fn on_line(mut self, line_observer: Option<LineObserver>) -> Self {
        self.line_observer = line_observer;
        self
    }

    /// Has a function hear every line of the engine's error output.
    #[must_use]
    pub fn on_stderr(mut self, hearing: Option<StderrObserver>) -> Self {
        self.stderr_observer = hearing;
        self
    }

    /// Sees to it that the engine does not outlive this program.
    #[must_use]
    pub fn guarded(mut self, guard: Option<Guard>) -> Self {
        self.guard = guard;
        self
    }

    /// Starts no engine that would get another text as the value of an option.
    #[must_use]
    pub fn with_texts(mut self, texts: Option<TextOptions>) -> Self {
        self.texts = texts;
        self
    }

    /// Which engine of the plan it is.
    pub fn id(&self) -> EngineId {
        self.id
    }

    /// What the plan says of it.
    pub fn plan(&self) -> &EnginePlan {
        &self.plan
    }

    /// Whether the engine runs, as far as is known.
    pub fn is_running(&self) -> bool {
        self.engine.is_some()
    }

    /// Who the engine says it is, if it runs.
    pub fn identity(&self) -> Option<&Identity> {
        self.engine.as_ref().map(Engine::identity)
    }

    /// The number of its process, if it runs and is one.
    pub fn process_id(&self) -> Option<u32> {
        self.engine.as_ref().and_then(Engine::process_id)
    }

    /// Ends the engine. The next game starts it again.
    pub fn end(&mut self) {
        self.engine = None;
    }

    /// Ends an engine that does not listen, at once. The next game starts it again.
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

    /// Whether the engine has played a game before this one, so that a failure at its first search
    /// may come from there.
    pub(super) fn is_used(&self) -> bool {
        self.is_used
    }

    /// The notation of the engine; an error if its protocol does not support the game.
    pub(super) fn codec(&self) -> Result<MoveCodec, GameEnd> {
        let codec = match self.plan.protocol {
            None => Some(MoveCodec::usual(self.game)),
            Some(Protocol::Uci) => MoveCodec::new(Dialect::Uci, self.game),
            Some(Protocol::Usi) => MoveCodec::new(Dialect::Usi, self.game),
        };
        codec.ok_or_else(|| {
            let why = "a USI engine plays shogi only".to_owned();
            unsuitable(EngineFailureKind::UnsupportedGame, &why)
        })
    }

    /// Makes sure that the engine runs and can play this game, of which it is told before its first
    /// search.
    pub(super) fn prepare(
        &mut self,
        game: &WireGame,
        warnings: &mut Vec<WarningKind>,
    ) -> Result<(), GameEnd> {
        if self.plan.restart {
            self.engine = None;
        }
        self.is_used = self.engine.is_some();
        if let Some(engine) = &mut self.engine {
            // What it still said about its last game is nobody's business any more.
            engine.drain_notices();
            match engine.new_game(game) {
                Ok(()) => return Ok(()),
                Err(error) if error.is_recoverable() && !is_gone(&error) => {
                    return Err(GameEnd::no_start(&error));
                }
                Err(error) => warnings.push(WarningKind::restarted(&error)),
            }
        }
        self.restart(game, warnings)
    }

    /// Starts a fresh engine.
    pub(super) fn restart(
        &mut self,
        game: &WireGame,
        warnings: &mut Vec<WarningKind>,
    ) -> Result<(), GameEnd> {
        self.engine = None;
        self.is_used = false;
        let dialect = self.codec()?.dialect();
        let mut builder = Engine::builder()
            .name(&self.plan.name)
            .dialect(dialect)
            .timeouts(self.timeouts)
            .sync_between_searches(false);
        if let Some(guard) = &self.guard {
            builder = builder.guard(guard);
        }
        if let Some(registration) = self.plan.registration.clone() {
            builder = builder.register(registration);
        }
        if let Some(line_observer) = self.line_observer.clone() {
            let name = self.plan.name.clone();
            builder = builder.on_line(move |side, line: &str| line_observer(&name, side, line));
        }
        if let Some(hearing) = self.stderr_observer.clone() {
            let name = self.plan.name.clone();
            builder = builder.on_stderr(move |line: &str| hearing(&name, line));
        }
        let pass = START_LIMITER.enter();
        let started = (self.start)(builder);
        drop(pass);
        let mut engine = started.map_err(|error| GameEnd::no_start(&error))?;
        engine.allow_pondering(self.plan.ponder);
        if let Some(name) = self.forbidden_text(&engine) {
            let text = format!("a text for its option `{name}` is not allowed here");
            return Err(unsuitable(EngineFailureKind::Other, &text));
        }
        for (name, value) in &self.plan.options {
            if let Some(warning) =
                set_option(&mut engine, name, value).map_err(|error| GameEnd::no_start(&error))?
            {
                warnings.push(warning);
            }
        }
        engine.new_game(game).map_err(|error| GameEnd::no_start(&error))?;
        // A shogi engine is asked once for each game only, since that starts one.
        if dialect == Dialect::Uci {
            engine.ready().map_err(|error| GameEnd::no_start(&error))?;
        }
        // One that is not what the plan wants plays no game.
        self.engine = Some(engine);
        Ok(())
    }
}

impl Player {
    /// The first option that would get a text which it may not have.
    fn forbidden_text(&self, engine: &Engine) -> Option<&str> {
        let texts = self.texts.as_ref()?;
        let forbidden = self.plan.options.iter().find(|(name, value)| {
            let declared = engine.options().find(name);
            declared.is_some_and(|option| !texts.permit(name, &option.kind, value))
        });
        forbidden.map(|(name, _)| name.as_str())
    }
}

fn is_gone(error: &EngineError) -> bool {
    matches!(
        error.problem(),
        Problem::Usage(UsageError::NotRunning | UsageError::HandshakeIncomplete)
    )
}

fn set_option(
    engine: &mut Engine,
    name: &str,
    value: &str,
) -> Result<Option<WarningKind>, EngineError> {
    let found = engine.options().find(name);
    let result = match found.map(|option| &option.kind) {
        Some(OptionKind::Button) => engine.push_button(name),
        Some(_) | None => engine.set_option(name, value),
    };
    let Err(error) = result else { return Ok(None) };
    match error.problem() {
        Problem::Usage(UsageError::UnknownOption(_) | UsageError::ManagedOption { .. }) => {
            Ok(Some(WarningKind::UnknownOption { name: name.to_owned() }))
        }
        // Nobody has lost because of it.
        Problem::Usage(UsageError::OptionValue(error)) => {
            Ok(Some(WarningKind::OptionValue { error: error.clone() }))
        }
        _ => Err(error),
    }
}

/// Starts what a plan names: a program, or the other end of a connection.
fn starter(
    plan: &EnginePlan,
) -> impl FnMut(Builder) -> Result<Engine, EngineError> + Send + 'static {
    let plan = plan.clone();
    move |builder| {
        if plan.command.starts_with("tcp://") {
            return builder.connect(&plan.command);
        }
        let mut command = Command::new(&plan.command);
        command.args(&plan.args).envs(&plan.env);
        if let Some(dir) = &plan.dir {
            command.current_dir(dir);
        }
        builder.spawn(command)
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

/// The other of two things.
pub(super) fn pair_mut<T>([first, second]: &mut [T; 2], side: Side) -> (&mut T, &mut T) {
    match side {
        Side::First => (first, second),
        Side::Second => (second, first),
    }
}
