//! The builder and the handle of an engine, for threads and for tasks of any runtime.

use std::future::poll_fn;
use std::io::{self, PipeReader, PipeWriter, Read, Write};
use std::process::{Command, ExitStatus};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use readyok_protocol::session::client::{Identity, Purpose, SearchId, Timeouts, WaitLimit};
use readyok_protocol::{
    Checkmate, Dialect, GameResult, Go, MateLimit, OptionSet, OptionValue, Party, Register,
};

use crate::driver::{Change, Driver, Notice, Settings};
use crate::error::{EngineError, Termination};
use crate::handle::{self, SearchHandle, Stopper};
use crate::listener::{ErrorLines, Listener, StderrListener};
use crate::process::guard::Guard;
use crate::search::{Game, Search, SearchResult, Update};
use crate::shared::transport::{self, Target};
use crate::shared::{ReadPermit, Shared};
use crate::sync::{lock, now, spawn};

/// Maximum time in a destructor: all stages of the exit, with a margin for high load.
const DROPPING: Duration = Duration::from_secs(7);

/// Settings for an engine. The defaults suit most engines.
///
/// ```no_run
/// use readyok_client::{Dialect, Engine};
/// # use std::process::Command;
/// let engine = Engine::builder().dialect(Dialect::Usi).spawn(Command::new("fairy-stockfish"))?;
/// # Ok::<(), readyok_client::EngineError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Builder {
    name: Option<String>,
    dialect: Option<Dialect>,
    timeouts: Timeouts,
    register: Option<Register<'static>>,
    joins_searches: bool,
    position_before_ready: bool,
    rate: Option<u32>,
    guard: Option<Guard>,
    on_line: Option<Arc<Listener>>,
    on_stderr: Option<StderrListener>,
}

impl Builder {
    /// The name of the engine in errors. By default the program or the address.
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// The protocol of the engine. By default UCI is tried, and after a timeout USI with a new process or connection:
    /// set `Usi` to avoid the timeout. Over streams the default is UCI.
    #[must_use]
    pub fn dialect(mut self, dialect: Dialect) -> Self {
        self.dialect = Some(dialect);
        self
    }

    /// Timeouts for each wait.
    #[doc(alias = "timeout")]
    #[must_use]
    pub fn timeouts(mut self, timeouts: Timeouts) -> Self {
        self.timeouts = timeouts;
        self
    }

    /// The answer to `registration error`. By default `register later`.
    #[must_use]
    pub fn register(mut self, with: Register<'static>) -> Self {
        self.register = Some(with);
        self
    }

    /// Whether each search of a game waits for a `readyok` after the previous one; in USI, where `isready` starts a
    /// game, for a short delay ([`Timeouts::settle`]). Enabled by default.
    ///
    /// If disabled, a search waits only after options, a new game or `stop`, and always once the engine has answered
    /// twice. This halves the overhead per ply in a match runner. An answer that arrived before `go` was written is
    /// still ignored, and so is the move that was just played; but the first duplicate `bestmove` that arrives later,
    /// in another position, is treated as the answer.
    #[must_use]
    pub fn sync_between_searches(mut self, separate: bool) -> Self {
        self.joins_searches = !separate;
        self
    }

    /// Whether `position` is sent before the `isready` between two searches, instead of together with `go`. Disabled by
    /// default.
    ///
    /// For match runners: the engine reads the moves of a long game before its clock starts. Without an `isready`
    /// between searches ([`sync_between_searches`](Self::sync_between_searches)), and in USI, it has no effect.
    #[must_use]
    pub fn position_before_ready(mut self, early: bool) -> Self {
        self.position_before_ready = early;
        self
    }

    /// Maximum number of bytes read per second. Further output stays in the pipe, and a full pipe blocks the engine:
    /// one that sends hundreds of thousands of lines per second leaves CPU time to others. Its answer is delayed by
    /// the time to read a full pipe.
    ///
    /// For programs that display searches, with some millions; not for time measurements. Unlimited by default.
    #[must_use]
    pub fn read_rate(mut self, bytes: u32) -> Self {
        self.rate = Some(bytes);
        self
    }

    /// Ensures on Linux that no descendant of the engine outlives it or this program, even if the program is killed. Without
    /// a guard this holds for the process group of the engine: see [`Guard`](Guard#guarantees).
    #[must_use]
    pub fn guard(mut self, guard: &Guard) -> Self {
        self.guard = Some(guard.clone());
        self
    }

    /// Calls a function with every line of the session, without its line end: sent and received lines, in this order.
    /// The thread that reads or writes calls it and waits for it. The function may use the engine.
    #[doc(alias = "log")]
    #[must_use]
    pub fn on_line(mut self, on_line: impl Fn(Party, &str) + Send + Sync + 'static) -> Self {
        self.on_line = Some(Arc::new(Listener::new(on_line)));
        self
    }

    /// Calls a function with every line that a process writes to its error output, without its line end. The reading
    /// thread calls it and waits for it.
    #[doc(alias = "stderr")]
    #[must_use]
    pub fn on_stderr(mut self, on_stderr: impl Fn(&str) + Send + Sync + 'static) -> Self {
        self.on_stderr = Some(StderrListener::new(on_stderr));
        self
    }

    /// Starts an executable and waits for the handshake.
    ///
    /// If the command has no working directory and the path is absolute, the working directory is that of the
    /// executable. Engines search their books and networks there. A program without a directory part, such as `python3`,
    /// keeps the current directory, so that a script among its arguments may be relative.
    ///
    /// # Errors
    /// The executable cannot be started, or the handshake fails.
    pub fn spawn(self, command: Command) -> Result<Engine, EngineError> {
        Engine::open(&self, Target::Command(command))
    }

    /// Connects to an engine at `host:port` or `tcp://host:port`, and waits for the handshake.
    ///
    /// # Errors
    /// The connection or the handshake fails.
    pub fn connect(self, address: &str) -> Result<Engine, EngineError> {
        Engine::open(&self, Target::address(address))
    }

    /// Waits for the handshake with an engine connected by two streams. They are used in separate threads, which exit
    /// with the streams.
    ///
    /// # Errors
    /// The handshake fails.
    pub fn over(
        self,
        reader: impl Read + Send + 'static,
        writer: impl Write + Send + 'static,
    ) -> Result<Engine, EngineError> {
        Engine::open(&self, Target::streams(reader, writer))
    }

    /// Runs an engine of this program in a thread. Its input ends when the handle is dropped.
    ///
    /// # Errors
    /// The handshake fails.
    pub fn in_process(
        self,
        engine: impl FnOnce(PipeReader, PipeWriter) + Send + 'static,
    ) -> Result<Engine, EngineError> {
        let target = Target::in_process(engine);
        let target = target.map_err(|error| EngineError::start("engine", &error))?;
        Engine::open(&self, target)
    }

    /// Like [`spawn`](Self::spawn), in a task of any runtime.
    ///
    /// Blocking calls have async forms with the suffix `_async`, and a [`SearchHandle`] can be awaited. Every future may
    /// be dropped at any time. Dropping the engine kills the process and does not block; a thread reaps it, even if the
    /// runtime is gone. [`Engine::quit_async`] ends it in an orderly way.
    ///
    /// ```no_run
    /// # async fn play() -> Result<(), readyok_client::EngineError> {
    /// use readyok_client::{Engine, Game, Limit};
    /// use std::process::Command;
    ///
    /// let mut engine = Engine::builder().spawn_async(Command::new("stockfish")).await?;
    /// let result = engine.begin(&Game::startpos(), Limit::Depth(10))?.await?;
    /// println!("{:?}", result.best_move());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The executable cannot be started, or the handshake fails.
    pub async fn spawn_async(self, command: Command) -> Result<Engine, EngineError> {
        open_async(self, Target::Command(command)).await
    }

    /// Like [`connect`](Self::connect), in a task.
    ///
    /// # Errors
    /// The connection or the handshake fails.
    pub async fn connect_async(self, address: &str) -> Result<Engine, EngineError> {
        open_async(self, Target::address(address)).await
    }

    /// Like [`over`](Self::over), in a task. The streams may block.
    ///
    /// # Errors
    /// The handshake fails.
    pub async fn over_async(
        self,
        reader: impl Read + Send + 'static,
        writer: impl Write + Send + 'static,
    ) -> Result<Engine, EngineError> {
        open_async(self, Target::streams(reader, writer)).await
    }

    /// Like [`in_process`](Self::in_process), in a task.
    ///
    /// # Errors
    /// The handshake fails.
    pub async fn in_process_async(
        self,
        engine: impl FnOnce(PipeReader, PipeWriter) + Send + 'static,
    ) -> Result<Engine, EngineError> {
        let target = Target::in_process(engine);
        let target = target.map_err(|error| EngineError::start("engine", &error))?;
        open_async(self, target).await
    }

    /// The dialect to try, and the one to try after it.
    fn dialects(&self, target: &Target) -> (Dialect, Option<Dialect>) {
        match (self.dialect, target) {
            (Some(dialect), _) => (dialect, None),
            (None, Target::Command(_) | Target::Address(_)) => (Dialect::Uci, Some(Dialect::Usi)),
            (None, Target::Pipes(_) | Target::Streams(_)) => (Dialect::Uci, None),
        }
    }

    /// Starts an engine and the handshake with it.
    fn open(
        &self,
        target: &mut Target,
        dialect: Dialect,
        is_async: bool,
    ) -> Result<(String, Arc<Shared>), EngineError> {
        let name = self.name.clone().unwrap_or_else(|| target.name());
        let is_process = matches!(target, Target::Command(_));
        let ends = target.open(self.guard.as_ref(), self.timeouts.handshake.silence);
        let stderr = Arc::new(ErrorLines::new(self.on_stderr.clone()));
        let settings = Settings {
            name: name.clone(),
            dialect,
            timeouts: self.timeouts,
            sync_between_searches: !self.joins_searches,
            position_before_ready: self.position_before_ready,
            // Each attempt has its own line count.
            listener: self.on_line.as_ref().map(|listener| Arc::new(listener.fresh())),
            stderr: Arc::clone(&stderr),
            is_process,
            registration: self.register.clone(),
        };
        let options = transport::Options { rate: self.rate, is_async };
        let start_error = |error: io::Error| EngineError::start(&name, &error);
        let ends = ends.map_err(start_error)?;
        let driver = Driver::new(settings, now()).inspect_err(|_| ends.abandon())?;
        let shared = transport::open(ends, driver, options, &stderr).map_err(start_error)?;
        Ok((name, shared))
    }
}

async fn open_async(builder: Builder, target: Target) -> Result<Engine, EngineError> {
    let (first, second) = builder.dialects(&target);
    let (target, result) = open_with_handshake_async(&builder, target, first).await;
    match (second, target) {
        (Some(dialect), Some(target)) if result.is_err() => {
            open_with_handshake_async(&builder, target, dialect).await.1
        }
        _ => result,
    }
}

/// Returns the target for another attempt.
async fn open_with_handshake_async(
    builder: &Builder,
    mut target: Target,
    dialect: Dialect,
) -> (Option<Target>, Result<Engine, EngineError>) {
    let attempt = builder.clone();
    // Starting and connecting may block.
    let opening = Opening::default();
    let opened = opening.clone();
    let started = spawn("engine-start", move || {
        let engine = attempt.open(&mut target, dialect, true);
        let engine = engine.map(|(name, shared)| Engine::new(name, dialect, shared, true));
        opened.complete((target, engine));
    });
    if let Err(error) = started {
        return (None, Err(EngineError::start("engine", &error)));
    }
    let (target, engine) = poll_fn(|context| opening.poll(context)).await;
    let result = async {
        let mut engine = engine?;
        engine.shared.wait_async(Change::State, |driver| driver.handshake()).await?;
        engine.complete();
        Ok(engine)
    };
    (Some(target), result.await)
}

type Opened = (Target, Result<Engine, EngineError>);

/// An engine that a thread starts for a task.
#[derive(Clone, Default)]
struct Opening(Arc<Mutex<(Option<Opened>, Option<Waker>)>>);

impl Opening {
    fn complete(&self, opened: Opened) {
        let mut state = lock(&self.0);
        state.0 = Some(opened);
        let waker = state.1.take();
        drop(state);
        waker.into_iter().for_each(Waker::wake);
    }

    fn poll(&self, context: &Context<'_>) -> Poll<Opened> {
        let mut state = lock(&self.0);
        if let Some(opened) = state.0.take() {
            return Poll::Ready(opened);
        }
        state.1 = Some(context.waker().clone());
        Poll::Pending
    }
}

/// A running engine after the handshake.
///
/// Dropping it ends the process: with `quit`, and with signals if it does not exit within about a second. (An engine
/// that was started by an async call is killed, and dropping it does not block.)
///
/// ```no_run
/// use readyok_client::{Engine, Game, Limit};
/// use std::process::Command;
///
/// let mut engine = Engine::spawn(Command::new("stockfish"))?;
/// let result = engine.play(&Game::startpos(), Limit::Depth(10))?;
/// println!("{:?}", result.best_move());
/// # Ok::<(), readyok_client::EngineError>(())
/// ```
#[derive(Debug)]
pub struct Engine {
    pub(crate) shared: Arc<Shared>,
    name: String,
    dialect: Dialect,
    identity: Identity,
    options: OptionSet,
    is_async: bool,
}

impl Engine {
    /// Starts an executable with default settings. See [`Builder::spawn`].
    ///
    /// # Errors
    /// The executable cannot be started, or the handshake fails.
    pub fn spawn(command: Command) -> Result<Self, EngineError> {
        Self::builder().spawn(command)
    }

    /// Settings for an engine.
    pub fn builder() -> Builder {
        Builder::default()
    }

    fn open(builder: &Builder, mut target: Target) -> Result<Self, EngineError> {
        let (first, second) = builder.dialects(&target);
        let result = Self::open_with_handshake(builder, &mut target, first);
        match second {
            Some(dialect) if result.is_err() => {
                Self::open_with_handshake(builder, &mut target, dialect)
            }
            _ => result,
        }
    }

    fn open_with_handshake(
        builder: &Builder,
        target: &mut Target,
        dialect: Dialect,
    ) -> Result<Self, EngineError> {
        let (name, shared) = builder.open(target, dialect, false)?;
        let mut engine = Self::new(name, dialect, shared, false);
        engine.wait_for(Driver::handshake)?;
        engine.complete();
        Ok(engine)
    }

    /// An engine before the end of the handshake. Dropping it terminates the engine.
    fn new(name: String, dialect: Dialect, shared: Arc<Shared>, is_async: bool) -> Self {
        let (identity, options) = (Identity::default(), OptionSet::default());
        Self { shared, name, dialect, identity, options, is_async }
    }

    /// Stores the declarations of the handshake.
    fn complete(&mut self) {
        (self.identity, self.options) = self.shared.read(|driver| {
            let session = driver.session();
            (session.identity().clone(), session.options().clone())
        });
    }

    /// The name and the author that the engine reported.
    pub fn identity(&self) -> &Identity {
        &self.identity
    }

    /// The name of the engine in errors.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The protocol in use.
    pub fn dialect(&self) -> Dialect {
        self.dialect
    }

    /// The options that the engine declared.
    pub fn options(&self) -> &OptionSet {
        &self.options
    }

    /// The current value of an option, if it is known.
    pub fn option_value(&self, name: &str) -> Option<OptionValue> {
        self.shared.read(|driver| driver.session().option_value(name))
    }

    /// The engine's explanation of its latest `copyprotection error` or `registration error`.
    pub fn status_message(&self) -> Option<String> {
        self.shared.read(|driver| driver.session().status_message().map(str::to_owned))
    }

    /// The process ID, which is also that of its process group. `None` if the engine is not a process.
    pub fn process_id(&self) -> Option<u32> {
        self.shared.process.as_ref().map(|process| process.id())
    }

    /// Searches for a move to play in a game, and waits for the answer.
    ///
    /// With [`Search::ponder_after`] the engine ponders after its answer, until the next call:
    ///
    /// ```no_run
    /// # use readyok_client::{Clocks, Engine, EngineError, Game, Limit, Move, Search};
    /// # fn opponents_move(_: &Game) -> Move { Move::NULL }
    /// # fn play(engine: &mut Engine, clocks: Clocks) -> Result<(), EngineError> {
    /// let mut game = Game::startpos();
    /// loop {
    ///     let search = Search::new(Limit::clock(clocks)).ponder_after();
    ///     let result = engine.play(&game, search)?;
    ///     println!("{:?}, ponder hit: {}", result.best_move(), result.ponder_hit);
    ///     game.extend(result.best_move());
    ///     game.play(opponents_move(&game)); // the engine ponders meanwhile
    /// }
    /// # }
    /// ```
    ///
    /// # Errors
    /// The request is invalid, or the engine gave no answer.
    #[doc(alias = "go")]
    pub fn play(
        &mut self,
        game: &Game,
        limit: impl Into<Search>,
    ) -> Result<SearchResult, EngineError> {
        self.search(game, limit.into(), Purpose::Play, None::<fn(&Update)>)
    }

    /// Like [`play`](Self::play), and calls `on_update` for each `info`. It is called in this thread, which also reads
    /// the output of the engine: a slow function delays the next lines. In that case use [`begin`](Self::begin).
    ///
    /// # Errors
    /// The request is invalid, or the engine gave no answer.
    pub fn play_with(
        &mut self,
        game: &Game,
        limit: impl Into<Search>,
        on_update: impl FnMut(&Update),
    ) -> Result<SearchResult, EngineError> {
        self.search(game, limit.into(), Purpose::Play, Some(on_update))
    }

    /// Starts a search for a move to play. It runs independently of its handle. A running search is stopped, and this one
    /// starts after it.
    ///
    /// # Errors
    /// The request is invalid.
    #[doc(alias = "go")]
    pub fn begin(
        &mut self,
        game: &Game,
        search: impl Into<Search>,
    ) -> Result<SearchHandle, EngineError> {
        SearchHandle::begin(&self.shared, game, search.into(), Purpose::Play)
    }

    /// Like [`begin`](Self::begin), for the analysis of a position (`UCI_AnalyseMode`).
    ///
    /// # Errors
    /// The request is invalid.
    pub fn analyse(
        &mut self,
        game: &Game,
        search: impl Into<Search>,
    ) -> Result<SearchHandle, EngineError> {
        SearchHandle::begin(&self.shared, game, search.into(), Purpose::Analyse)
    }

    /// Starts a search on the opponent's time. `game` includes the expected move of the opponent, and the limit is that
    /// of the reply. See [`SearchHandle::ponder_hit`].
    ///
    /// # Errors
    /// The request is invalid.
    pub fn ponder(
        &mut self,
        game: &Game,
        search: impl Into<Search>,
    ) -> Result<SearchHandle, EngineError> {
        self.begin(game, search.into().ponder())
    }

    /// Searches for a mate. The answer of a chess engine is derived from its score.
    ///
    /// # Errors
    /// The request is invalid (UCI limits the moves of the mate, USI the time), or the engine gave no answer.
    pub fn mate(
        &mut self,
        game: &Game,
        limit: MateLimit,
    ) -> Result<Checkmate<'static>, EngineError> {
        let go = Go { mate: Some(limit), ..Go::default() };
        let result = self.search(game, go.into(), Purpose::Analyse, None::<fn(&Update)>)?;
        Ok(result.into_checkmate())
    }

    /// Waits until the engine has processed everything requested before, such as loading a network (`isready`). If a stopped
    /// search delays options, that includes its answer.
    ///
    /// # Errors
    /// The engine did not answer in time, or has ended.
    #[doc(alias = "isready")]
    pub fn ready(&mut self) -> Result<(), EngineError> {
        let ping = self.shared.with(Driver::ping)?;
        self.wait_for(|driver| driver.pong(ping))
    }

    /// Like [`ready`](Self::ready), in a task.
    ///
    /// # Errors
    /// The engine did not answer in time, or has ended.
    pub fn ready_async(&mut self) -> impl Future<Output = Result<(), EngineError>> + Send + use<> {
        let shared = Arc::clone(&self.shared);
        let ping = shared.with(Driver::ping);
        async move {
            let ping = ping?;
            shared.wait_async(Change::State, |driver| driver.pong(ping)).await
        }
    }

    /// Replaces [`Timeouts::ready`] for each further `isready`.
    pub fn set_ready_limit(&mut self, limit: WaitLimit) {
        self.shared.with(|driver, _| driver.set_ready_limit(limit));
    }

    /// A handle for other threads to stop the running search.
    pub fn stopper(&self) -> Stopper {
        Stopper(Arc::clone(&self.shared))
    }

    /// Texts, protocol violations and unknown lines in their order: the latest 256, each returned once.
    pub fn drain_notices(&mut self) -> Vec<Notice> {
        self.shared.catch_up();
        self.shared.with(|driver, _| driver.drain_notices())
    }

    /// Starts a new game with the next search, even if it is the same [`Game`] as before: the engine resets its hash
    /// tables.
    ///
    /// # Errors
    /// The engine does not support Chess960 or the variant of the game, or has ended.
    #[doc(alias = "ucinewgame")]
    pub fn new_game(&mut self, game: &Game) -> Result<(), EngineError> {
        self.shared.with(|driver, now| driver.announce(game, now))
    }

    /// Reports the result of the game to a shogi engine. A running search is stopped.
    ///
    /// # Errors
    /// The engine has ended.
    pub fn game_over(&mut self, result: GameResult) -> Result<(), EngineError> {
        self.shared.with(|driver, now| {
            driver.command(now, |session, now, out| {
                session.game_over(result, now, out);
                Ok(())
            })
        })
    }

    /// Sets an option permanently.
    ///
    /// An engine accepts options only between searches. An analysis, a pondering search, and a search until `stop` are
    /// therefore stopped, and started again with the same limits after the option; their handles continue, and earlier
    /// reports are discarded. If the search is already stopped, the option is sent after its answer.
    /// [`ready`](Self::ready) waits for both. [`SearchHandle::set_option`] changes an option for one search.
    ///
    /// # Errors
    /// The option is unknown, the value is invalid, the option is managed by the session, or a search for a move to play
    /// is running ([`UsageError::Searching`](crate::UsageError::Searching)).
    #[doc(alias = "setoption")]
    pub fn set_option(&mut self, name: &str, value: &str) -> Result<(), EngineError> {
        self.change_option(name, Some(value))
    }

    /// Sets several options permanently, like [`set_option`](Self::set_option). Only changed values are sent.
    ///
    /// # Errors
    /// One of them cannot be set. Those before it are set.
    pub fn set_options<N: AsRef<str>, V: AsRef<str>>(
        &mut self,
        options: impl IntoIterator<Item = (N, V)>,
    ) -> Result<(), EngineError> {
        let mut options = options.into_iter();
        options.try_for_each(|(name, value)| self.set_option(name.as_ref(), value.as_ref()))
    }

    /// Pushes a button, such as `Clear Hash`. A running search is treated as by [`set_option`](Self::set_option).
    ///
    /// # Errors
    /// The engine has no such button, or a search for a move to play is running.
    pub fn push_button(&mut self, name: &str) -> Result<(), EngineError> {
        self.change_option(name, None)
    }

    fn change_option(&mut self, name: &str, value: Option<&str>) -> Result<(), EngineError> {
        self.shared.with(|driver, now| driver.change_option(name, value, now))
    }

    /// Announces that the engine may have to ponder (`Ponder`), for its time management.
    pub fn allow_pondering(&mut self, allowed: bool) {
        self.shared.with(|driver, _| driver.allow_pondering(allowed));
    }

    /// Sets the answer to `registration error`. If the engine has sent one, the answer is sent as soon as possible.
    ///
    /// # Errors
    /// The name or the code cannot be written on one line, or the engine has ended.
    pub fn register(&mut self, with: Register<'static>) -> Result<(), EngineError> {
        self.shared.with(|driver, now| driver.register(with, now))
    }

    /// Sends a raw line. An unexpected answer becomes a [notice](Self::drain_notices); after a `go`, searches of this
    /// handle are unreliable until its answer.
    ///
    /// # Errors
    /// The line contains a line break or another control character, or the engine has ended.
    pub fn send_raw(&mut self, line: &str) -> Result<(), EngineError> {
        self.shared.with(|driver, _| driver.send_raw(line))
    }

    /// Enables or disables the debug mode of the engine.
    ///
    /// # Errors
    /// The engine has ended.
    pub fn debug(&mut self, on: bool) -> Result<(), EngineError> {
        self.shared
            .with(|driver, now| driver.command(now, |session, _, out| session.debug(on, out)))
    }

    /// Sends `quit` and waits for the exit. Returns the exit status of a process.
    ///
    /// # Errors
    /// The engine did not exit in time and was killed.
    pub fn quit(self) -> Result<Option<ExitStatus>, EngineError> {
        self.shared.with(Driver::quit);
        let end = self.wait_until(None, Driver::quit_result);
        // The wait has no deadline of its own; the last stage of the exit has one.
        end.unwrap_or(Ok(None))
    }

    /// Like [`quit`](Self::quit), in a task.
    ///
    /// # Errors
    /// The engine did not exit in time and was killed.
    pub async fn quit_async(self) -> Result<Option<ExitStatus>, EngineError> {
        self.shared.with(Driver::quit);
        self.shared.wait_async(Change::State, |driver| driver.quit_result()).await
    }

    /// Waits until the engine has ended, and returns the reason.
    pub async fn ended(&self) -> EngineError {
        self.shared.wait_async(Change::State, |driver| driver.final_error()).await
    }

    /// Kills the process immediately, with its descendants: for an engine that does not react. Returns its exit status.
    /// A connection is closed.
    pub fn kill(self) -> Option<ExitStatus> {
        self.shared.with(|driver, now| driver.kill(Termination::Killed, now));
        self.wait_until(now().checked_add(DROPPING), |driver| driver.has_ended().then_some(()));
        self.shared.read(Driver::exit)
    }

    /// Starts a search and waits, reading in this thread.
    fn search(
        &self,
        game: &Game,
        search: Search,
        purpose: Purpose,
        on_update: Option<impl FnMut(&Update)>,
    ) -> Result<SearchResult, EngineError> {
        let permit = ReadPermit::new(&self.shared);
        let mut state = self.shared.lock_as_caller();
        let id = state.driver.search(game, search, purpose, on_update.is_some(), now())?;
        let abandoned = Abandoned { shared: &self.shared, id };
        let result = handle::wait(&self.shared, state, id, permit.as_ref(), on_update);
        std::mem::forget(abandoned);
        result
    }

    fn wait_for(
        &self,
        done: impl Fn(&Driver) -> Option<Result<(), EngineError>>,
    ) -> Result<(), EngineError> {
        let permit = ReadPermit::new(&self.shared);
        let state = self.shared.lock_as_caller();
        let done = |driver: &mut Driver| done(driver);
        let end = self.shared.wait(state, permit.as_ref(), Change::State, None, done);
        // Without a deadline there is always a value.
        end.unwrap_or(Ok(()))
    }

    fn wait_until<T>(
        &self,
        deadline: Option<Instant>,
        done: impl Fn(&Driver) -> Option<T>,
    ) -> Option<T> {
        let done = |driver: &mut Driver| done(driver);
        self.shared.wait(self.shared.lock_as_caller(), None, Change::State, deadline, done)
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        if self.is_async {
            self.shared.with(|driver, now| driver.kill(Termination::Dropped, now));
            return;
        }
        self.shared.with(Driver::quit_soon);
        self.wait_until(now().checked_add(DROPPING), |driver| driver.has_ended().then_some(()));
    }
}

/// Stops the search if a callback panics.
struct Abandoned<'a> {
    shared: &'a Shared,
    id: SearchId,
}

impl Drop for Abandoned<'_> {
    fn drop(&mut self) {
        self.shared.with(|driver, now| driver.discard(self.id, now));
    }
}
