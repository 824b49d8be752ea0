//! The same engine for async programs that run on tokio.
//!
//! The names are those of the [blocking engine](crate::Engine), and so is all that is behind them;
//! only the waiting differs. Every future may be dropped at any time: one that searches then stops
//! its search, and the engine stays usable. Dropping the engine kills the process at once, and a
//! thread reaps it, even when there is no runtime any more. [`Engine::quit`] is the polite way.
//!
//! ```no_run
//! # async fn play() -> Result<(), readyok_client::EngineError> {
//! use readyok_client::{Game, Limit, tokio::Engine};
//! use std::process::Command;
//!
//! let mut engine = Engine::spawn(Command::new("stockfish")).await?;
//! let played = engine.play(&Game::startpos(), Limit::Depth(10)).await?;
//! println!("{:?}", played.best_move());
//! # Ok(())
//! # }
//! ```

use std::future::poll_fn;
use std::io::{PipeReader, PipeWriter, Read, Write};
use std::process::{Command, ExitStatus};
use std::time::{Duration, Instant};

use ::tokio::task::coop::consume_budget;
use readyok_protocol::session::client::Purpose;
use readyok_protocol::{Checkmate, Clocks, Dialect, Go, MateLimit};

use crate::builder::{Builder, Target};
use crate::course::{Course, Subject};
use crate::driver::Driver;
use crate::error::EngineError;
use crate::game::Game;
use crate::lines::{Lines, Update};
use crate::running::Played;
use crate::search::Search;
use crate::stopper::Stopper;
use crate::time::now;

/// An engine that was greeted and takes searches. Dropping it kills the process.
#[derive(Debug)]
pub struct Engine {
    driver: Driver,
}

crate::verbs::verbs!(Engine);

impl Engine {
    /// Starts a program with default settings. See [`Builder::spawn`].
    ///
    /// # Errors
    /// The program cannot be started, or does not answer as an engine does.
    pub async fn spawn(command: Command) -> Result<Self, EngineError> {
        Self::spawn_with(Builder::default(), command).await
    }

    /// Starts a program. See [`Builder::spawn`].
    ///
    /// # Errors
    /// The program cannot be started, or does not answer as an engine does.
    pub async fn spawn_with(builder: Builder, command: Command) -> Result<Self, EngineError> {
        Self::open(builder, Target::Command(command)).await
    }

    /// Connects to an engine. See [`Builder::connect`].
    ///
    /// # Errors
    /// There is no connection, or nobody who answers as an engine does.
    pub async fn connect(builder: Builder, address: &str) -> Result<Self, EngineError> {
        Self::open(builder, Target::address(address)).await
    }

    /// Greets an engine at the other end of two streams, which may block. See [`Builder::over`].
    ///
    /// # Errors
    /// Nobody answers as an engine does.
    pub async fn over(
        builder: Builder,
        reader: impl Read + Send + 'static,
        writer: impl Write + Send + 'static,
    ) -> Result<Self, EngineError> {
        Self::open(builder, Target::streams(reader, writer)).await
    }

    /// Runs an engine of this program in a thread. See [`Builder::in_process`].
    ///
    /// # Errors
    /// It does not answer as an engine does.
    pub async fn in_process(
        builder: Builder,
        engine: impl FnOnce(PipeReader, PipeWriter) + Send + 'static,
    ) -> Result<Self, EngineError> {
        let target = Target::in_process(engine);
        let target = target.map_err(|error| EngineError::start("engine", &error))?;
        Self::open(builder, target).await
    }

    async fn open(builder: Builder, target: Target) -> Result<Self, EngineError> {
        let (first, second) = builder.dialects(&target);
        let (target, result) = Self::greet(&builder, target, first).await;
        match (second, target) {
            (Some(dialect), Some(target)) if result.is_err() => {
                Self::greet(&builder, target, dialect).await.1
            }
            _ => result,
        }
    }

    /// Gives the target back for another attempt.
    async fn greet(
        builder: &Builder,
        mut target: Target,
        dialect: Dialect,
    ) -> (Option<Target>, Result<Self, EngineError>) {
        let attempt = builder.clone().threaded();
        // Starting and connecting may block.
        let opening = ::tokio::task::spawn_blocking(move || {
            let driver = attempt.open(&mut target, dialect);
            (target, driver)
        });
        let (target, driver) = match opening.await {
            Ok((target, driver)) => (Some(target), driver),
            Err(error) => (None, Err(EngineError::start("engine", &error.into()))),
        };
        let greeted = async {
            let mut engine = Self { driver: driver? };
            engine.wait(Driver::poll_greeting).await?;
            builder.greeted(&mut engine.driver)?;
            Ok(engine)
        };
        (target, greeted.await)
    }

    /// Searches for a move to play in a game.
    ///
    /// # Errors
    /// The request cannot be sent, or the engine gave no answer.
    pub async fn play(
        &mut self,
        game: &Game,
        limit: impl Into<Search>,
    ) -> Result<Played, EngineError> {
        self.play_with(game, limit, |_| ()).await
    }

    /// The same, and tells what the engine thinks meanwhile.
    ///
    /// # Errors
    /// The request cannot be sent, or the engine gave no answer.
    pub async fn play_with(
        &mut self,
        game: &Game,
        limit: impl Into<Search>,
        on_update: impl FnMut(&Update),
    ) -> Result<Played, EngineError> {
        self.start(game, limit.into(), Purpose::Play)?.complete_with(on_update).await
    }

    /// Searches to understand a position. Ask the result for what comes next, or for the end.
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

    /// Searches for a move to play, as [`play`](Self::play) does, and can be asked meanwhile.
    ///
    /// # Errors
    /// The request cannot be sent.
    pub fn think(
        &mut self,
        game: &Game,
        limit: impl Into<Search>,
    ) -> Result<Analysis<'_>, EngineError> {
        self.start(game, limit.into(), Purpose::Play)
    }

    /// Reads what the engine says while nothing is asked of it. Returns when it has ended, with the
    /// reason.
    pub async fn attend(&mut self) -> EngineError {
        loop {
            if let Err(error) = self.wait(Driver::poll_idle).await {
                return error;
            }
        }
    }

    /// Thinks on the opponent's time. See [`Engine::ponder`](crate::Engine::ponder).
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

    /// Searches for a mate. See [`Engine::mate`](crate::Engine::mate).
    ///
    /// # Errors
    /// The request cannot be sent, or the engine gave no answer.
    pub async fn mate(
        &mut self,
        game: &Game,
        limit: MateLimit,
    ) -> Result<Checkmate<'static>, EngineError> {
        let go = Go { mate: Some(limit), ..Go::default() };
        let played = self.start(game, go.into(), Purpose::Analyse)?.complete().await?;
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
    pub async fn ready(&mut self) -> Result<(), EngineError> {
        let ping = self.driver.ping()?;
        self.wait(|driver| driver.poll_ready(ping)).await
    }

    /// Asks the engine to leave, and waits for it. Tells how it left, if it is a process.
    ///
    /// # Errors
    /// It did not leave in time and was killed.
    pub async fn quit(mut self) -> Result<Option<ExitStatus>, EngineError> {
        self.driver.quit();
        self.wait(Driver::poll_end).await?;
        Ok(self.driver.exit())
    }

    /// Ends the process at once, with all that it has started. Dropping the engine does the same.
    pub fn kill(self) {}

    /// Waits for something that the driver has a deadline for.
    async fn wait<T>(
        &mut self,
        mut poll: impl FnMut(&mut Driver) -> Result<Option<T>, EngineError>,
    ) -> Result<T, EngineError> {
        loop {
            if let Some(result) = self.wait_until(None, |driver| poll(driver).transpose()).await {
                return result;
            }
        }
    }

    /// Waits for something, or until the deadline.
    async fn wait_until<T>(
        &mut self,
        deadline: Option<Instant>,
        mut poll: impl FnMut(&mut Driver) -> Option<T>,
    ) -> Option<T> {
        loop {
            // An engine that is never silent would never let another task have its turn, nor a
            // branch beside this one.
            consume_budget().await;
            if let Some(value) = poll(&mut self.driver) {
                return Some(value);
            }
            if deadline.is_some_and(|deadline| deadline <= now()) {
                return None;
            }
            let wake = self.driver.deadline().into_iter().chain(deadline).min();
            let inbox = &self.driver.link().inbox;
            let happened = poll_fn(|context| inbox.poll_wait(context));
            match wake {
                // What woke us is found out by asking again.
                Some(wake) => drop(::tokio::time::timeout_at(wake.into(), happened).await),
                None => happened.await,
            }
        }
    }
}

/// A search that runs. Dropping it stops the search, and the engine stays usable. See
/// [`Analysis`](crate::Analysis).
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

    /// What the engine tells next, until the search ends. An error ends it too, and is told by
    /// [`finish`](Self::finish).
    pub async fn next(&mut self) -> Option<Update> {
        self.next_until(None).await
    }

    /// The same, if it does so in time.
    pub async fn next_within(&mut self, time: Duration) -> Option<Update> {
        self.next_until(Some(now() + time)).await
    }

    async fn next_until(&mut self, deadline: Option<Instant>) -> Option<Update> {
        self.engine.wait_until(deadline, |driver| self.course.poll(driver)).await.flatten()
    }

    /// Says a line as it is. See [`Engine::say`].
    ///
    /// # Errors
    /// There is a control character in it, or the engine is gone.
    pub fn say(&mut self, line: &str) -> Result<(), EngineError> {
        self.engine.driver.say(line)
    }

    /// A handle for other tasks and threads to stop the search.
    pub fn stopper(&self) -> Stopper {
        self.engine.stopper()
    }

    /// Stops the search and waits for its answer.
    ///
    /// # Errors
    /// The engine gave no answer.
    pub async fn finish(mut self) -> Result<Played, EngineError> {
        self.course.stop();
        self.complete().await
    }

    /// Waits until the search ends by its own limit.
    ///
    /// # Errors
    /// The engine gave no answer.
    pub async fn complete(self) -> Result<Played, EngineError> {
        self.complete_with(|_| ()).await
    }

    /// The same, and tells what the engine thinks meanwhile.
    ///
    /// # Errors
    /// The engine gave no answer.
    pub async fn complete_with(
        mut self,
        mut on_update: impl FnMut(&Update),
    ) -> Result<Played, EngineError> {
        loop {
            if let Some(end) = self.course.take_end() {
                return end;
            }
            if let Some(update) = self.next().await {
                on_update(&update);
            }
        }
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

impl<'e> Pondering<'e> {
    /// The opponent played the expected move: the search becomes one for a move to play. Its time
    /// counts from now.
    ///
    /// # Errors
    /// The engine gave no answer.
    pub async fn hit(self) -> Result<Played, EngineError> {
        self.hit_with(None, |_| ()).await
    }

    /// The same with clocks, which only some shogi engines understand; and tells what the engine
    /// thinks meanwhile.
    ///
    /// # Errors
    /// The engine gave no answer.
    pub async fn hit_with(
        mut self,
        clocks: Option<Clocks>,
        on_update: impl FnMut(&Update),
    ) -> Result<Played, EngineError> {
        self.0.course.ponder_hit(&mut self.0.engine.driver, clocks)?;
        self.0.complete_with(on_update).await
    }

    /// The opponent played something else: the search is stopped, and nobody wants its answer.
    pub fn miss(self) {}

    /// The same as a search that can be asked meanwhile.
    ///
    /// # Errors
    /// The engine is gone.
    pub fn hit_now(mut self, clocks: Option<Clocks>) -> Result<Analysis<'e>, EngineError> {
        self.0.course.ponder_hit(&mut self.0.engine.driver, clocks)?;
        Ok(self.0)
    }

    /// What the engine tells next. None once the search has ended, which it should not by itself.
    pub async fn next(&mut self) -> Option<Update> {
        self.0.next().await
    }

    /// What the engine tells next, if it does so in time.
    pub async fn next_within(&mut self, time: Duration) -> Option<Update> {
        self.0.next_within(time).await
    }

    /// What the engine has told so far, by variation.
    pub fn so_far(&self) -> &Lines {
        self.0.so_far()
    }

    /// Says a line as it is. See [`Engine::say`].
    ///
    /// # Errors
    /// There is a control character in it, or the engine is gone.
    pub fn say(&mut self, line: &str) -> Result<(), EngineError> {
        self.0.say(line)
    }
}
