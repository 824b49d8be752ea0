//! The loop over the games of a source: what the readers of all formats do that read piece by piece.

use super::{GameRecord, Oddity, RecordError, RecordErrorKind, Strange, source::Place};

/// A reader of a format.
pub(super) trait Games {
    fn state(&mut self) -> &mut State;

    /// Counts against the limits from here on.
    fn begin_game(&mut self);

    /// How far the source was read.
    fn place(&self) -> Place;

    /// Reads a game; none at the end of the source.
    fn read_game(&mut self) -> Result<Option<GameRecord>, RecordErrorKind>;

    /// Skips the rest of a game that cannot be read; false if the source ends with it.
    fn skip_game(&mut self) -> bool;

    /// The next game, or why it cannot be read.
    fn next(&mut self) -> Option<Result<GameRecord, RecordError>> {
        if self.state().over {
            return None;
        }
        self.state().oddities.clear();
        self.begin_game();
        let read = self.read_game();
        if matches!(read, Ok(None)) {
            self.state().over = true;
            return None;
        }
        self.state().game += 1;
        let read = read.map_err(|kind| {
            let Place { line, column } = self.place();
            let error = RecordError { game: self.state().game, line, column, kind };
            let ends = matches!(error.kind, RecordErrorKind::Io(_)) || !self.skip_game();
            self.state().over = ends;
            error
        });
        read.transpose()
    }
}

/// Which game is read, and what was odd in it.
#[derive(Debug, Default)]
pub(super) struct State {
    game: u64,
    over: bool,
    oddities: Vec<Oddity>,
}

impl State {
    /// So many games were read before.
    pub(super) fn after(game: u64) -> Self {
        Self { game, ..Self::default() }
    }

    /// How many games were read.
    pub(super) fn games(&self) -> u64 {
        self.game
    }

    pub(super) fn oddities(&self) -> &[Oddity] {
        &self.oddities
    }

    pub(super) fn odd(&mut self, place: Place, what: Strange) {
        note_odd(&mut self.oddities, place, what);
    }
}

/// More oddities than this say nothing new.
const MOST_ODDITIES: usize = 100;

/// Notes what was odd in a game.
pub(super) fn note_odd(oddities: &mut Vec<Oddity>, place: Place, what: Strange) {
    if oddities.len() < MOST_ODDITIES {
        oddities.push(Oddity { line: place.line, column: place.column, what });
    }
}
