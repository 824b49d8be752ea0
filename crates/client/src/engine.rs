//! The engine.

use std::io::{PipeReader, PipeWriter, Read, Write};
use std::process::{Command, ExitStatus};
use std::sync::Arc;
use std::time::{Duration, Instant};

use readyok_protocol::session::client::{Identity, Purpose};
use readyok_protocol::{
    Checkmate, Dialect, GameResult, Go, MateLimit, OptionSet, OptionValue, Register,
};

use crate::builder::{Builder, Target};
use crate::clock::now;
use crate::driver::{Change, Driver, Notice};
use crate::error::EngineError;
use crate::handle::{SearchHandle, Stopper};
use crate::handle::{SearchResult, Update};
use crate::search::Game;
use crate::search::Search;
use crate::shared::{Attendance, Shared};

/// How long a destructor waits for an engine at most: all stages of its end, and a margin for a busy machine.
const DROPPING: Duration = Duration::from_secs(7);

/// An engine after the handshake.
///
/// Dropping it ends the process: by `quit`, and by force if it does not exit within about a second. (An engine that
/// was started by an async call is killed, and dropping it does not block.)
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

impl Builder {
    /// Starts a program and waits for the handshake. If the command has no working directory and the path of the
    /// program is absolute, it runs in the directory of the program, where engines look for their books and networks.
    ///
    /// # Errors
    /// The program cannot be started, or does not answer as an engine does.
    pub fn spawn(self, command: Command) -> Result<Engine, EngineError> {
        Engine::open(&self, Target::Command(command))
    }

    /// Connects to an engine at `host:port` or `tcp://host:port`, and waits for the handshake.
    ///
    /// # Errors
    /// There is no connection, or no engine answers.
    pub fn connect(self, address: &str) -> Result<Engine, EngineError> {
        Engine::open(&self, Target::address(address))
    }

    /// Waits for the handshake with an engine at the other end of two streams. They are used in threads of their own,
    /// which end with the streams.
    ///
    /// # Errors
    /// No engine answers.
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
    /// It does not answer as an engine does.
    pub fn in_process(
        self,
        engine: impl FnOnce(PipeReader, PipeWriter) + Send + 'static,
    ) -> Result<Engine, EngineError> {
        let target = Target::in_process(engine);
        let target = target.map_err(|error| EngineError::start("engine", &error))?;
        Engine::open(&self, target)
    }
}

impl Engine {
    /// Starts a program with default settings. See [`Builder::spawn`].
    ///
    /// # Errors
    /// The program cannot be started, or does not answer as an engine does.
    pub fn spawn(command: Command) -> Result<Self, EngineError> {
        Self::builder().spawn(command)
    }

    /// Settings for an engine.
    pub fn builder() -> Builder {
        Builder::default()
    }

    fn open(builder: &Builder, mut target: Target) -> Result<Self, EngineError> {
        let (first, second) = builder.dialects(&target);
        let result = Self::greet(builder, &mut target, first);
        match second {
            Some(dialect) if result.is_err() => Self::greet(builder, &mut target, dialect),
            _ => result,
        }
    }

    fn greet(
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

    /// An engine whose handshake is not complete. Dropping it ends it.
    pub(crate) fn new(name: String, dialect: Dialect, shared: Arc<Shared>, is_async: bool) -> Self {
        let (identity, options) = (Identity::default(), OptionSet::default());
        Self { shared, name, dialect, identity, options, is_async }
    }

    /// Takes what the engine has declared in the handshake.
    pub(crate) fn complete(&mut self) {
        (self.identity, self.options) = self.shared.look(|driver| {
            let session = driver.session();
            (session.identity().clone(), session.options().clone())
        });
    }

    /// The name and the author that the engine reported.
    pub fn identity(&self) -> &Identity {
        &self.identity
    }

    /// The name that the engine was started with, as it appears in errors.
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
        self.shared.look(|driver| driver.session().option_value(name))
    }

    /// The engine's explanation of its latest `copyprotection error` or `registration error`.
    pub fn status_message(&self) -> Option<String> {
        self.shared.look(|driver| driver.session().status_message().map(str::to_owned))
    }

    /// The process ID, which is also that of its process group. `None` if the engine is no process.
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
    /// The request cannot be sent, or the engine gave no answer.
    #[doc(alias = "go")]
    pub fn play(
        &mut self,
        game: &Game,
        limit: impl Into<Search>,
    ) -> Result<SearchResult, EngineError> {
        self.search(game, limit.into(), Purpose::Play, None::<fn(&Update)>)
    }

    /// Like [`play`](Self::play), and calls `on_update` for each `info`. It is called in this thread, which also reads
    /// the output of the engine: a function that takes long delays the next lines. For such, use
    /// [`begin`](Self::begin).
    ///
    /// # Errors
    /// The request cannot be sent, or the engine gave no answer.
    pub fn play_with(
        &mut self,
        game: &Game,
        limit: impl Into<Search>,
        on_update: impl FnMut(&Update),
    ) -> Result<SearchResult, EngineError> {
        self.search(game, limit.into(), Purpose::Play, Some(on_update))
    }

    /// Begins a search for a move to play. It runs from now on, whether or not anything waits for it. A search that
    /// still runs is stopped, and this one starts after it.
    ///
    /// # Errors
    /// The request cannot be sent.
    #[doc(alias = "go")]
    pub fn begin(
        &mut self,
        game: &Game,
        search: impl Into<Search>,
    ) -> Result<SearchHandle, EngineError> {
        SearchHandle::begin(&self.shared, game, search.into(), Purpose::Play)
    }

    /// Like [`begin`](Self::begin), to analyse a position (`UCI_AnalyseMode`).
    ///
    /// # Errors
    /// The request cannot be sent.
    pub fn analyse(
        &mut self,
        game: &Game,
        search: impl Into<Search>,
    ) -> Result<SearchHandle, EngineError> {
        SearchHandle::begin(&self.shared, game, search.into(), Purpose::Analyse)
    }

    /// Begins a search on the opponent's time. `game` contains the move that the opponent is expected to play, and the
    /// limit is the one for the reply to it. See [`SearchHandle::ponder_hit`].
    ///
    /// # Errors
    /// The request cannot be sent.
    pub fn ponder(
        &mut self,
        game: &Game,
        search: impl Into<Search>,
    ) -> Result<SearchHandle, EngineError> {
        self.begin(game, search.into().ponder())
    }

    /// Searches for a mate. The answer of a chess engine follows from its score.
    ///
    /// # Errors
    /// The request cannot be sent, among other reasons since UCI limits the moves of the mate and USI the time for it;
    /// or the engine gave no answer.
    pub fn mate(
        &mut self,
        game: &Game,
        limit: MateLimit,
    ) -> Result<Checkmate<'static>, EngineError> {
        let go = Go { mate: Some(limit), ..Go::default() };
        let result = self.search(game, go.into(), Purpose::Analyse, None::<fn(&Update)>)?;
        Ok(result.into_checkmate())
    }

    /// Waits until the engine has processed everything sent before, such as loading a network (`isready`).
    ///
    /// # Errors
    /// It did not answer in time, or has ended.
    #[doc(alias = "isready")]
    pub fn ready(&mut self) -> Result<(), EngineError> {
        let ping = self.shared.with(Driver::ping)?;
        self.wait_for(|driver| driver.pong(ping))
    }

    /// A handle for other threads to stop whatever search runs.
    pub fn stopper(&self) -> Stopper {
        Stopper(Arc::clone(&self.shared))
    }

    /// Texts, protocol violations, and lines that are no messages, the latest last. At most the latest 256, each once.
    pub fn drain_notices(&mut self) -> Vec<Notice> {
        self.shared.catch_up();
        self.shared.with(|driver, _| driver.drain_notices())
    }

    /// Makes the next search one of a new game, even if it is the same [`Game`] as before: the engine forgets what it
    /// remembers.
    ///
    /// # Errors
    /// The engine cannot play Chess960 or the variant of the game, or has ended.
    #[doc(alias = "ucinewgame")]
    pub fn new_game(&mut self, game: &Game) -> Result<(), EngineError> {
        self.shared.with(|driver, now| driver.announce(game, now))
    }

    /// Reports the result of the game to a shogi engine. A search that runs is stopped.
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
    /// # Errors
    /// The engine has no such option or the option no such value, or it follows from the game and the search.
    #[doc(alias = "setoption")]
    pub fn set_option(&mut self, name: &str, value: &str) -> Result<(), EngineError> {
        self.change_option(name, Some(value))
    }

    /// Sets several options permanently. Only what differs is sent.
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

    /// Pushes a button, such as `Clear Hash`.
    ///
    /// # Errors
    /// The engine has no such button.
    pub fn push_button(&mut self, name: &str) -> Result<(), EngineError> {
        self.change_option(name, None)
    }

    fn change_option(&mut self, name: &str, value: Option<&str>) -> Result<(), EngineError> {
        self.shared.with(|driver, now| {
            driver.command(now, |session, now, out| session.set_option(name, value, now, out))
        })
    }

    /// Declares that the engine may be asked to ponder (`Ponder`), so that it can plan its time.
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

    /// Sends a line as it is. An unexpected answer becomes a [notice](Self::drain_notices); after a `go`, searches of
    /// this handle are unreliable until its answer.
    ///
    /// # Errors
    /// The line contains a line break or another control character, or the engine has ended.
    pub fn send_raw(&mut self, line: &str) -> Result<(), EngineError> {
        self.shared.with(|driver, _| driver.send_raw(line))
    }

    /// Switches the debug mode of the engine.
    ///
    /// # Errors
    /// The engine has ended.
    pub fn debug(&mut self, on: bool) -> Result<(), EngineError> {
        self.shared
            .with(|driver, now| driver.command(now, |session, _, out| session.debug(on, out)))
    }

    /// Sends `quit` and waits for the end. Returns the exit status of a process.
    ///
    /// # Errors
    /// It did not exit in time and was killed.
    pub fn quit(self) -> Result<Option<ExitStatus>, EngineError> {
        self.shared.with(Driver::quit);
        let end = self.wait_until(None, Driver::quit_result);
        // The wait has no deadline of its own, and the last stage of the end has one.
        end.unwrap_or(Ok(None))
    }

    /// Kills the process immediately, with all that it has started: for an engine that does not react. Returns its
    /// exit status; a connection is closed.
    pub fn kill(self) -> Option<ExitStatus> {
        self.shared.with(Driver::kill);
        self.wait_until(now().checked_add(DROPPING), |driver| driver.has_ended().then_some(()));
        self.shared.look(Driver::exit)
    }

    fn wait_for(
        &self,
        done: impl Fn(&Driver) -> Option<Result<(), EngineError>>,
    ) -> Result<(), EngineError> {
        let attendance = Attendance::new(&self.shared);
        let state = self.shared.ask();
        let done = |driver: &mut Driver| done(driver);
        let end = self.shared.wait(state, attendance.as_ref(), Change::State, None, done);
        // Without a deadline there is always a value.
        end.unwrap_or(Ok(()))
    }

    fn wait_until<T>(
        &self,
        deadline: Option<Instant>,
        done: impl Fn(&Driver) -> Option<T>,
    ) -> Option<T> {
        let done = |driver: &mut Driver| done(driver);
        self.shared.wait(self.shared.ask(), None, Change::State, deadline, done)
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        if self.is_async {
            self.shared.with(Driver::kill);
            return;
        }
        self.shared.with(Driver::quit_soon);
        self.wait_until(now().checked_add(DROPPING), |driver| driver.has_ended().then_some(()));
    }
}
