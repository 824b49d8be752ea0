//! A search with all that its caller may do to it, without waiting; and what it is about, for a caller who
//! may change that.

use readyok_protocol::Clocks;
use readyok_protocol::session::client::Purpose;

use crate::driver::Driver;
use crate::error::EngineError;
use crate::game::Game;
use crate::lines::{Lines, Update};
use crate::running::{Played, Progress, Running};
use crate::search::Search;

#[derive(Debug)]
pub(crate) struct Course {
    running: Running,
    end: Option<Result<Box<Played>, EngineError>>,
}

impl Course {
    pub(crate) fn start(
        driver: &mut Driver,
        game: &Game,
        search: &Search,
        purpose: Purpose,
    ) -> Result<Self, EngineError> {
        Ok(Self { running: driver.search(game, search, purpose)?, end: None })
    }

    /// What the engine tells next; `Some(None)` once the search has ended.
    #[expect(clippy::option_option, reason = "nothing yet, and nothing any more")]
    pub(crate) fn poll(&mut self, driver: &mut Driver) -> Option<Option<Update>> {
        if self.end.is_none() {
            match driver.poll_search(&mut self.running) {
                Ok(Some(Progress::Update(update))) => return Some(Some(update)),
                Ok(Some(Progress::Ended(played))) => self.end = Some(Ok(played)),
                Ok(Some(Progress::Started | Progress::OutOfTime(_)) | None) => return None,
                Err(error) => self.end = Some(Err(error)),
            }
        }
        Some(None)
    }

    /// Asks for the end, as soon as the search has begun.
    pub(crate) fn stop(&mut self) {
        self.running.stop = true;
    }

    /// Ends it in any case. Nobody wants its answer.
    pub(crate) fn abandon(&self, driver: &mut Driver) {
        driver.abandon(self.running.id);
    }

    /// Does nothing if the engine did not wait for it and has answered already.
    pub(crate) fn ponder_hit(
        &mut self,
        driver: &mut Driver,
        clocks: Option<Clocks>,
    ) -> Result<(), EngineError> {
        if self.end.is_some() {
            return Ok(());
        }
        driver.ponder_hit(&mut self.running, clocks)
    }

    pub(crate) fn so_far(&self) -> &Lines {
        match &self.end {
            Some(Ok(played)) => &played.lines,
            Some(Err(_)) | None => &self.running.lines,
        }
    }

    pub(crate) fn is_over(&self) -> bool {
        self.end.is_some()
    }

    pub(crate) fn take_end(&mut self) -> Option<Result<Played, EngineError>> {
        self.end.take().map(|end| end.map(|played| *played))
    }
}

/// What a search is about.
#[derive(Debug)]
pub(crate) struct Subject {
    game: Game,
    search: Search,
    purpose: Purpose,
}

impl Subject {
    pub(crate) fn new(game: &Game, search: Search, purpose: Purpose) -> Self {
        Self { game: game.clone(), search, purpose }
    }

    pub(crate) fn start(&self, driver: &mut Driver) -> Result<Course, EngineError> {
        Course::start(driver, &self.game, &self.search, self.purpose)
    }

    /// Starts again with so many variations.
    pub(crate) fn set_lines(
        &mut self,
        driver: &mut Driver,
        lines: u32,
    ) -> Result<Course, EngineError> {
        let search = self.search.clone().lines(lines);
        let course = Course::start(driver, &self.game, &search, self.purpose)?;
        self.search = search;
        Ok(course)
    }

    /// Starts again with another position.
    pub(crate) fn set_game(
        &mut self,
        driver: &mut Driver,
        game: &Game,
    ) -> Result<Course, EngineError> {
        let course = Course::start(driver, game, &self.search, self.purpose)?;
        self.game = game.clone();
        Ok(course)
    }
}
