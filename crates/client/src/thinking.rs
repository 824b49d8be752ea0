//! A search held apart from its engine, for programs that look after several engines.

use std::time::Instant;

use readyok_protocol::Clocks;
use readyok_protocol::session::client::Purpose;
use smallvec::SmallVec;

use crate::course::Course;
use crate::engine::Engine;
use crate::error::EngineError;
use crate::game::Game;
use crate::lines::{Lines, Update};
use crate::link::Link;
use crate::running::Played;
use crate::search::Search;

/// A search that was begun with [`Engine::begin`]. It does not borrow its engine, so that a match
/// runner can hold many of both, and wait for all of them in one thread:
///
/// ```no_run
/// # use readyok_client::{Clock, Clocks, Dialect, Engine, EngineError, Game, Limit, Search};
/// # use std::{process::Command, time::Duration};
/// # fn main() -> Result<(), EngineError> {
/// let start = |path: &str| Engine::builder().dialect(Dialect::Uci).inline().spawn(Command::new(path));
/// let (mut white, mut black) = (start("stockfish")?, start("stockfish")?);
/// let time = Duration::from_secs(60);
/// let clocks = Clocks::new(Clock::fischer(time, time / 60), Clock::fischer(time, time / 60));
///
/// // White thinks. An answer after his time, and a bit for the machine, does not count.
/// let mut game = Game::startpos();
/// let search = Search::new(Limit::clock(clocks)).lost_after(time + Duration::from_millis(20));
/// let played = white.begin(&game, search.clone())?.complete(&mut white, &[])?;
/// println!("{:?} after {:?}", played.best_move(), played.time());
///
/// // Black thinks, White ponders on the answer that he expects. His pipe is read meanwhile.
/// game.extend(played.best_move());
/// let mut expected = game.clone();
/// expected.extend(played.ponder);
/// let mut pondering = white.begin(&expected, search.clone().ponder())?;
/// let played = black.begin(&game, search.clone())?.complete(&mut black, &[&white])?;
/// game.extend(played.best_move());
/// let played = if game.position() == expected.position() {
///     pondering.hit(&mut white, None)?;
///     pondering.complete(&mut white, &[])?
/// } else {
///     // A new search stops the old one.
///     white.begin(&game, search)?.complete(&mut white, &[])?
/// };
/// # Ok(())
/// # }
/// ```
///
/// A search that is dropped goes on until its engine begins another one. Of one that had to give
/// way to another, the end is [`Superseded`](crate::DropReason::Superseded).
#[derive(Debug)]
pub struct Thinking {
    course: Course,
}

/// What is looked at in one go, so that an engine that never stops talking gets its turn only.
const AT_ONCE: usize = 4096;

impl Engine {
    /// Begins a search for a move to play, and does not wait for it. A search that runs is
    /// stopped, and this one starts after it.
    ///
    /// # Errors
    /// The request cannot be sent.
    pub fn begin(
        &mut self,
        game: &Game,
        search: impl Into<Search>,
    ) -> Result<Thinking, EngineError> {
        let course = Course::start(&mut self.driver, game, &search.into(), Purpose::Play)?;
        Ok(Thinking { course })
    }

    /// Waits until one of these engines has something to tell or is late, or until the deadline,
    /// and reads and writes for all of them meanwhile. Look at the searches of all of them then.
    ///
    /// With a deadline in the past it does what can be done without waiting. Engines that are
    /// [inline](crate::Builder::inline) want this now and then.
    ///
    /// Every call asks the system about all of them, so that its cost grows with their number: a
    /// runner of hundreds of games shares them among a thread for each processor.
    pub fn wait_for_any(engines: &[&Self], until: Option<Instant>) {
        let deadlines = engines.iter().filter_map(|engine| engine.driver.deadline());
        let until = deadlines.chain(until).min();
        let links: SmallVec<[&Link; 2]> =
            engines.iter().map(|engine| engine.driver.link()).collect();
        let timed = engines.iter().any(|engine| engine.driver.is_timed());
        Link::wait(&links, until, timed);
    }
}

impl Thinking {
    /// Whether the search has ended, as far as its engine was read. Does not wait.
    pub fn is_over(&mut self, engine: &mut Engine) -> bool {
        self.is_over_with(engine, |_| ())
    }

    /// The same, and tells what the engine has told since the last time.
    pub fn is_over_with(
        &mut self,
        engine: &mut Engine,
        mut on_update: impl FnMut(&Update),
    ) -> bool {
        for _ in 0..AT_ONCE {
            match self.course.poll(&mut engine.driver) {
                Some(Some(update)) => {
                    on_update(&update);
                    engine.driver.reuse(update.raw);
                }
                Some(None) => return true,
                None => return false,
            }
        }
        false
    }

    /// Asks for the end, as soon as the search has begun.
    pub fn stop(&mut self) {
        self.course.stop();
    }

    /// The opponent played the expected move: the search becomes one for a move to play. Its time
    /// counts from now. Clocks, if given, take the place of those at the start; only some shogi
    /// engines understand them.
    ///
    /// # Errors
    /// The search does not ponder, or the engine is gone.
    pub fn hit(&mut self, engine: &mut Engine, clocks: Option<Clocks>) -> Result<(), EngineError> {
        self.course.ponder_hit(&mut engine.driver, clocks)
    }

    /// What the engine has told so far, by variation.
    pub fn so_far(&self) -> &Lines {
        self.course.so_far()
    }

    /// Waits until the search ends by its own limit, and reads other engines meanwhile.
    ///
    /// # Errors
    /// The engine gave no answer, or not in time.
    pub fn complete(self, engine: &mut Engine, beside: &[&Engine]) -> Result<Played, EngineError> {
        self.complete_with(engine, beside, |_| ())
    }

    /// The same, and tells what the engine thinks meanwhile.
    ///
    /// # Errors
    /// The engine gave no answer, or not in time.
    pub fn complete_with(
        mut self,
        engine: &mut Engine,
        beside: &[&Engine],
        mut on_update: impl FnMut(&Update),
    ) -> Result<Played, EngineError> {
        loop {
            if self.is_over_with(engine, &mut on_update)
                && let Some(end) = self.course.take_end()
            {
                return end;
            }
            let others = beside.iter().map(|other| other.driver.link());
            let links: SmallVec<[&Link; 2]> = others.chain([engine.driver.link()]).collect();
            Link::wait(&links, engine.driver.deadline(), engine.driver.is_timed());
        }
    }
}
