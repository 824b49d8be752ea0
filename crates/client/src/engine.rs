//! The engine for programs with threads: each call waits for its result.

use std::io::{PipeReader, PipeWriter, Read, Write};
use std::process::{Command, ExitStatus};
use std::time::{Duration, Instant};

use readyok_protocol::session::client::Purpose;
use readyok_protocol::{Checkmate, Clocks, Dialect, Go, MateLimit};

use crate::builder::{Builder, Target};
use crate::course::{Course, Subject};
use crate::driver::Driver;
use crate::error::EngineError;
use crate::game::Game;
use crate::lines::{Lines, Update};
use crate::link::Link;
use crate::running::Played;
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
    pub(crate) driver: Driver,
}

crate::verbs::verbs!(Engine);

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
        let mut engine = Self { driver: builder.open(target, dialect)? };
        engine.wait(Driver::poll_greeting)?;
        builder.greeted(&mut engine.driver)?;
        Ok(engine)
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
        self.start(game, limit.into().ponder(), Purpose::Play).map(Pondering)
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
        let subject = Subject::new(game, search, purpose);
        let course = subject.start(&mut self.driver)?;
        Ok(Analysis { engine: self, course, subject })
    }

    /// Waits until the engine has done everything that it was told, such as loading a network.
    ///
    /// # Errors
    /// It did not answer in time, or is gone.
    pub fn ready(&mut self) -> Result<(), EngineError> {
        let ping = self.driver.ping()?;
        self.wait(|driver| driver.poll_ready(ping))
    }

    /// How long the threads of the engine's process, as many as it has now, wanted a processor and had none since
    /// they started, added up: what came in between of two such times tells whether the machine left the
    /// engine alone.
    ///
    /// `None` if it is no process, if it has ended, or if the system does not tell; Linux does. To find it out
    /// takes some microseconds for each thread, of which 256 are asked.
    pub fn waited_for_processor(&self) -> Option<Duration> {
        self.driver.link().process.as_ref()?.waited()
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

    /// Ends the process at once, with all that it has started: for an engine that has shown that it
    /// does not listen. Tells how it ended, if it is a process; a connection is closed.
    pub fn kill(mut self) -> Option<ExitStatus> {
        self.driver.kill();
        self.driver.exit()
    }

    /// Waits for something that the driver has a deadline for.
    fn wait<T>(
        &mut self,
        mut poll: impl FnMut(&mut Driver) -> Result<Option<T>, EngineError>,
    ) -> Result<T, EngineError> {
        loop {
            if let Some(result) = self.wait_until(None, |driver| poll(driver).transpose()) {
                return result;
            }
        }
    }

    /// Waits for something, or until the deadline.
    fn wait_until<T>(
        &mut self,
        deadline: Option<Instant>,
        mut poll: impl FnMut(&mut Driver) -> Option<T>,
    ) -> Option<T> {
        loop {
            if let Some(value) = poll(&mut self.driver) {
                return Some(value);
            }
            let is_last = deadline.is_some_and(|deadline| deadline <= now());
            let wake = self.driver.deadline().into_iter().chain(deadline).min();
            Link::wait(&[self.driver.link()], wake, self.driver.is_timed());
            if is_last {
                return poll(&mut self.driver);
            }
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
    course: Course,
    subject: Subject,
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
        self.course = self.subject.set_lines(&mut self.engine.driver, lines)?;
        Ok(())
    }

    /// Goes on with another position. What was told so far is forgotten.
    ///
    /// # Errors
    /// The position cannot be sent, and the old search goes on; or the engine is gone.
    pub fn set_game(&mut self, game: &Game) -> Result<(), EngineError> {
        self.course = self.subject.set_game(&mut self.engine.driver, game)?;
        Ok(())
    }

    /// What the engine has told so far, by variation.
    pub fn so_far(&self) -> &Lines {
        self.course.so_far()
    }

    /// Whether the search has ended, as far as was looked.
    pub fn is_over(&self) -> bool {
        self.course.is_over()
    }

    /// What the engine tells next, if it does so in time.
    pub fn next_within(&mut self, time: Duration) -> Option<Update> {
        self.next_until(Some(now() + time))
    }

    fn next_until(&mut self, deadline: Option<Instant>) -> Option<Update> {
        self.engine.wait_until(deadline, |driver| self.course.poll(driver)).flatten()
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
        self.course.stop();
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
            if let Some(end) = self.course.take_end() {
                return end;
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
        self.course.abandon(&mut self.engine.driver);
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
        self.0.course.ponder_hit(&mut self.0.engine.driver, clocks)?;
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
