//! The engine for programs with threads: each call waits for its result.

use std::io::{PipeReader, PipeWriter, Read, Write};
use std::process::{Command, ExitStatus};
use std::time::{Duration, Instant};

use readyok_protocol::session::client::{Identity, Purpose};
use readyok_protocol::{
    Checkmate, Clocks, Dialect, GameResult, Go, MateLimit, OptionSet, OptionValue, Register,
};

use crate::builder::{Builder, Target};
use crate::driver::{Driver, Notice};
use crate::error::EngineError;
use crate::game::Game;
use crate::lines::{Lines, Update};
use crate::running::{Played, Progress, Running};
use crate::search::Search;
use crate::stopper::Stopper;
use crate::time::now;

/// An engine that was greeted and takes searches.
///
/// Dropping it ends the process: politely if it listens, within about a second if it does not.
///
/// ```no_run
/// use readyok_client::{Engine, Game, Limit};
/// use std::process::Command;
///
/// let mut engine = Engine::spawn(Command::new("stockfish"))?;
/// let played = engine.play(&Game::startpos(), Limit::Depth(10))?;
/// println!("{:?}", played.best_move());
/// # Ok::<(), readyok_client::EngineError>(())
/// ```
#[derive(Debug)]
pub struct Engine {
    driver: Driver,
}

impl Builder {
    /// Starts a program and greets it. If the command has no working directory and the path of
    /// the program is absolute, it runs in the folder of the program, where engines look for their
    /// books and networks.
    ///
    /// # Errors
    /// The program cannot be started, or does not answer as an engine does.
    pub fn spawn(self, command: Command) -> Result<Engine, EngineError> {
        Engine::open(&self, Target::Command(command))
    }

    /// Connects to an engine at `host:port` or `tcp://host:port`, and greets it.
    ///
    /// # Errors
    /// There is no connection, or nobody who answers as an engine does.
    pub fn connect(self, address: &str) -> Result<Engine, EngineError> {
        Engine::open(&self, Target::address(address))
    }

    /// Greets an engine at the other end of two streams. They are used in threads of their own,
    /// which end with the streams.
    ///
    /// # Errors
    /// Nobody answers as an engine does.
    pub fn over(
        self,
        reader: impl Read + Send + 'static,
        writer: impl Write + Send + 'static,
    ) -> Result<Engine, EngineError> {
        Engine::open(&self, Target::streams(reader, writer))
    }

    /// Runs an engine of this program in a thread, and greets it. Its input ends when the handle
    /// is dropped.
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

    /// Settings for an engine that is to be started.
    pub fn builder() -> Builder {
        Builder::default()
    }

    fn open(builder: &Builder, mut target: Target) -> Result<Self, EngineError> {
        let mut result = Err(EngineError::new("", crate::Problem::Gone));
        for dialect in builder.dialects(&target) {
            let mut engine = Self { driver: builder.open(&mut target, dialect)? };
            let greeted = engine.wait(Driver::poll_greeting);
            result = greeted.and_then(|()| builder.greeted(&mut engine.driver)).map(|()| engine);
            if result.is_ok() {
                break;
            }
        }
        result
    }

    /// Who the engine says it is.
    pub fn identity(&self) -> &Identity {
        self.driver.session().identity()
    }

    /// The name that the engine was started with, as errors tell it.
    pub fn name(&self) -> &str {
        self.driver.name()
    }

    /// The protocol that is spoken.
    pub fn dialect(&self) -> Dialect {
        self.driver.session().dialogue().dialect()
    }

    /// The options that the engine has.
    pub fn options(&self) -> &OptionSet {
        self.driver.session().options()
    }

    /// The value that an option has now, as far as it is known.
    pub fn option_value(&self, name: &str) -> Option<OptionValue> {
        self.driver.session().option_value(name)
    }

    /// The number of the process, which is also the number of its group. `None` if it is none.
    pub fn process_id(&self) -> Option<u32> {
        self.driver.link().process.as_ref().map(crate::process::Process::id)
    }

    /// What the engine did besides answering, the latest last: texts, breaches of its protocol,
    /// lines that are no messages. At most the latest 256, each told once.
    pub fn take_notices(&mut self) -> Vec<Notice> {
        self.driver.take_notices()
    }

    /// A handle for other threads to stop whatever search runs.
    pub fn stopper(&self) -> Stopper {
        Stopper::new(&self.driver)
    }

    /// Searches for a move to play in a game.
    ///
    /// # Errors
    /// The request cannot be sent, or the engine gave no answer.
    pub fn play(&mut self, game: &Game, limit: impl Into<Search>) -> Result<Played, EngineError> {
        self.play_with(game, limit, |_| ())
    }

    /// The same, and tells what the engine thinks meanwhile.
    ///
    /// # Errors
    /// The request cannot be sent, or the engine gave no answer.
    pub fn play_with(
        &mut self,
        game: &Game,
        limit: impl Into<Search>,
        on_update: impl FnMut(&Update),
    ) -> Result<Played, EngineError> {
        self.start(game, limit.into(), Purpose::Play)?.complete_with(on_update)
    }

    /// Searches to understand a position. Iterate over the result, or ask it for the end.
    ///
    /// # Errors
    /// The request cannot be sent.
    pub fn analyse(
        &mut self,
        game: &Game,
        limit: impl Into<Search>,
    ) -> Result<Analysis<'_>, EngineError> {
        self.start(game, limit.into(), Purpose::Analyse)
    }

    /// Thinks on the opponent's time. `game` contains the move that he is expected to play, and
    /// the limit is the one for the answer to it.
    ///
    /// # Errors
    /// The request cannot be sent.
    pub fn ponder(
        &mut self,
        game: &Game,
        limit: impl Into<Search>,
    ) -> Result<Pondering<'_>, EngineError> {
        let mut search = limit.into();
        search.set_ponder();
        self.start(game, search, Purpose::Play).map(Pondering)
    }

    /// Searches for a mate. The answer of a chess engine, which has no word for it, follows from
    /// the score.
    ///
    /// # Errors
    /// The request cannot be sent, among other reasons since UCI limits the moves of the mate and
    /// USI the time for it; or the engine gave no answer.
    pub fn mate(
        &mut self,
        game: &Game,
        limit: MateLimit,
    ) -> Result<Checkmate<'static>, EngineError> {
        let go = Go { mate: Some(limit), ..Go::default() };
        let played = self.start(game, go.into(), Purpose::Analyse)?.complete()?;
        Ok(played.into_checkmate())
    }

    fn start(
        &mut self,
        game: &Game,
        search: Search,
        purpose: Purpose,
    ) -> Result<Analysis<'_>, EngineError> {
        let running = self.driver.search(game, &search, purpose)?;
        let game = game.clone();
        Ok(Analysis { engine: self, running, game, search, purpose, end: None })
    }

    /// Announces a game although a [`Game`] of its own would say it, as before the same game is
    /// analysed anew.
    pub fn new_game(&mut self, game: &Game) {
        self.driver.announce(game);
    }

    /// Tells a shogi engine how the game ended.
    ///
    /// # Errors
    /// The engine is gone.
    pub fn game_over(&mut self, result: GameResult) -> Result<(), EngineError> {
        self.driver.command(|session, now, out| {
            session.game_over(result, now, out);
            Ok(())
        })
    }

    /// Sets an option for good.
    ///
    /// # Errors
    /// The engine has no such option or the option no such value, or it follows from the game and
    /// the search.
    pub fn set_option(&mut self, name: &str, value: &str) -> Result<(), EngineError> {
        self.driver.set_option(name, Some(value))
    }

    /// Sets several options for good. Only what differs is sent.
    ///
    /// # Errors
    /// One of them cannot be set. Those before it are set.
    pub fn set_options<N: AsRef<str>, V: AsRef<str>>(
        &mut self,
        options: impl IntoIterator<Item = (N, V)>,
    ) -> Result<(), EngineError> {
        options.into_iter().try_for_each(|(name, value)| {
            self.driver.set_option(name.as_ref(), Some(value.as_ref()))
        })
    }

    /// Presses a button, such as `Clear Hash`.
    ///
    /// # Errors
    /// The engine has no such button.
    pub fn press(&mut self, button: &str) -> Result<(), EngineError> {
        self.driver.set_option(button, None)
    }

    /// Tells the engine that it may be asked to ponder, so that it can plan its time.
    pub fn allow_pondering(&mut self, allowed: bool) {
        self.driver.allow_pondering(allowed);
    }

    /// Registers the engine.
    ///
    /// # Errors
    /// The name or the code cannot be written on one line, or the engine is gone.
    pub fn register(&mut self, with: Register<'static>) -> Result<(), EngineError> {
        self.driver.register(with)
    }

    /// Switches the debug mode of the engine.
    ///
    /// # Errors
    /// The engine is gone.
    pub fn debug(&mut self, on: bool) -> Result<(), EngineError> {
        self.driver.command(|session, _, out| session.debug(on, out))
    }

    /// Waits until the engine has done everything that it was told, such as loading a network.
    ///
    /// # Errors
    /// It did not answer in time, or is gone.
    pub fn ready(&mut self) -> Result<(), EngineError> {
        let ping = self.driver.ping()?;
        self.wait(|driver| driver.poll_ready(ping))
    }

    /// Asks the engine to leave, and waits for it. Tells how it left, if it is a process.
    ///
    /// # Errors
    /// It did not leave in time and was killed.
    pub fn quit(mut self) -> Result<Option<ExitStatus>, EngineError> {
        self.driver.quit();
        self.wait(Driver::poll_end)?;
        Ok(self.driver.exit())
    }

    fn wait<T>(
        &mut self,
        mut poll: impl FnMut(&mut Driver) -> Result<Option<T>, EngineError>,
    ) -> Result<T, EngineError> {
        loop {
            if let Some(value) = self.wait_until(None, &mut poll)? {
                return Ok(value);
            }
        }
    }

    /// Waits until the deadline of the caller, or for ever: the driver has its own deadlines.
    fn wait_until<T>(
        &mut self,
        deadline: Option<Instant>,
        mut poll: impl FnMut(&mut Driver) -> Result<Option<T>, EngineError>,
    ) -> Result<Option<T>, EngineError> {
        loop {
            if let Some(value) = poll(&mut self.driver)? {
                return Ok(Some(value));
            }
            if deadline.is_some_and(|deadline| deadline <= now()) {
                return Ok(None);
            }
            let wake = self.driver.deadline().into_iter().chain(deadline).min();
            self.driver.link().inbox.wait(wake);
        }
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        self.driver.end_now();
    }
}

/// A search that runs. It borrows the engine: there is one search at a time.
///
/// As an iterator it gives what the engine tells, until the search ends; an error ends it too, and
/// is told by [`finish`](Self::finish). Who reads slowly misses lines, but never the latest of a
/// variation. Dropping it stops the search, and the engine stays usable.
#[derive(Debug)]
pub struct Analysis<'e> {
    engine: &'e mut Engine,
    running: Running,
    game: Game,
    search: Search,
    purpose: Purpose,
    end: Option<Result<Box<Played>, EngineError>>,
}

impl Analysis<'_> {
    /// Shows so many variations, as far as the engine can.
    ///
    /// # Errors
    /// The engine is gone.
    pub fn lines(mut self, lines: u32) -> Result<Self, EngineError> {
        self.set_lines(lines)?;
        Ok(self)
    }

    /// Goes on with another number of variations. What was told so far is forgotten.
    ///
    /// # Errors
    /// The engine is gone.
    pub fn set_lines(&mut self, lines: u32) -> Result<(), EngineError> {
        let before = self.search.set_lines(Some(lines));
        self.restart().inspect_err(|_| {
            self.search.set_lines(before);
        })
    }

    /// Goes on with another position. What was told so far is forgotten.
    ///
    /// # Errors
    /// The position cannot be sent, and the old search goes on; or the engine is gone.
    pub fn set_game(&mut self, game: &Game) -> Result<(), EngineError> {
        let before = std::mem::replace(&mut self.game, game.clone());
        self.restart().inspect_err(|_| self.game = before)
    }

    fn restart(&mut self) -> Result<(), EngineError> {
        self.running = self.engine.driver.search(&self.game, &self.search, self.purpose)?;
        self.end = None;
        Ok(())
    }

    /// What the engine has told so far, by variation.
    pub fn so_far(&self) -> &Lines {
        match &self.end {
            Some(Ok(played)) => &played.lines,
            Some(Err(_)) | None => &self.running.lines,
        }
    }

    /// Whether the search has ended, as far as was looked.
    pub fn is_over(&self) -> bool {
        self.end.is_some()
    }

    /// What the engine tells next, if it does so in time.
    pub fn next_within(&mut self, time: Duration) -> Option<Update> {
        self.next_until(Some(now() + time))
    }

    fn next_until(&mut self, deadline: Option<Instant>) -> Option<Update> {
        if self.end.is_some() {
            return None;
        }
        let running = &mut self.running;
        match self.engine.wait_until(deadline, |driver| driver.poll_search(running)) {
            Ok(Some(Progress::Update(update))) => return Some(*update),
            Ok(Some(Progress::Ended(played))) => self.end = Some(Ok(played)),
            Ok(Some(Progress::Started) | None) => (),
            Err(error) => self.end = Some(Err(error)),
        }
        None
    }

    /// A handle for other threads to stop the search.
    pub fn stopper(&self) -> Stopper {
        self.engine.stopper()
    }

    /// Stops the search and waits for its answer.
    ///
    /// # Errors
    /// The engine gave no answer.
    pub fn finish(mut self) -> Result<Played, EngineError> {
        self.running.stop = true;
        self.complete()
    }

    /// Waits until the search ends by its own limit.
    ///
    /// # Errors
    /// The engine gave no answer.
    pub fn complete(self) -> Result<Played, EngineError> {
        self.complete_with(|_| ())
    }

    /// The same, and tells what the engine thinks meanwhile.
    ///
    /// # Errors
    /// The engine gave no answer.
    pub fn complete_with(
        mut self,
        mut on_update: impl FnMut(&Update),
    ) -> Result<Played, EngineError> {
        loop {
            if let Some(end) = self.end.take() {
                return end.map(|played| *played);
            }
            if let Some(update) = self.next() {
                on_update(&update);
            }
        }
    }
}

impl Iterator for Analysis<'_> {
    type Item = Update;

    fn next(&mut self) -> Option<Update> {
        self.next_until(None)
    }
}

impl Drop for Analysis<'_> {
    fn drop(&mut self) {
        self.engine.driver.abandon(self.running.id);
    }
}

/// A search on the opponent's time. Dropping it stops the search: he played something else.
#[derive(Debug)]
pub struct Pondering<'e>(Analysis<'e>);

impl Pondering<'_> {
    /// The opponent played the expected move: the search becomes one for a move to play. Its time
    /// counts from now.
    ///
    /// # Errors
    /// The engine gave no answer.
    pub fn hit(self) -> Result<Played, EngineError> {
        self.hit_with(None, |_| ())
    }

    /// The same with clocks, which only some shogi engines understand; and tells what the engine
    /// thinks meanwhile.
    ///
    /// # Errors
    /// The engine gave no answer.
    pub fn hit_with(
        mut self,
        clocks: Option<Clocks>,
        on_update: impl FnMut(&Update),
    ) -> Result<Played, EngineError> {
        // An engine that did not wait for the hit has answered already.
        while self.next_within(Duration::ZERO).is_some() {}
        if !self.0.is_over() {
            let Analysis { engine, running, .. } = &mut self.0;
            engine.driver.ponder_hit(running, clocks)?;
        }
        self.0.complete_with(on_update)
    }

    /// The opponent played something else: the search is stopped, and nobody wants its answer.
    pub fn miss(self) {}

    /// What the engine tells next, if it does so in time.
    pub fn next_within(&mut self, time: Duration) -> Option<Update> {
        self.0.next_within(time)
    }

    /// What the engine has told so far, by variation.
    pub fn so_far(&self) -> &Lines {
        self.0.so_far()
    }
}
