//! The loop over the games of a source, which most readers share.

use super::{
    GameRecord, RecordError, RecordErrorKind, RecordWarning, RecordWarningKind, source::Location,
};

/// A reader of a format.
pub(super) trait Games {
    fn state(&mut self) -> &mut State;

    /// Starts counting against the limits.
    fn begin_game(&mut self);

    /// The location of the last text that was read.
    fn location(&self) -> Location;

    /// Reads a game. `None` at the end of the source.
    fn read_game(&mut self) -> Result<Option<GameRecord>, RecordErrorKind>;

    /// Skips the rest of a game that cannot be read. False if the source ends.
    fn skip_game(&mut self) -> bool;

    /// The next game, or why it cannot be read.
    fn next(&mut self) -> Option<Result<GameRecord, RecordError>> {
        if self.state().over {
            return None;
        }
        self.state().warnings.clear();
        self.begin_game();
        let read = self.read_game();
        if matches!(read, Ok(None)) {
            self.state().over = true;
            return None;
        }
        self.state().game += 1;
        let read = read.map_err(|kind| {
            let Location { line, column } = self.location();
            let error = RecordError { game: self.state().game, line, column, kind };
            let ends = matches!(error.kind, RecordErrorKind::Io(_)) || !self.skip_game();
            self.state().over = ends;
            error
        });
        read.transpose()
    }
}

/// The number of the current game, and its warnings.
#[derive(Debug, Default)]
pub(super) struct State {
    game: u64,
    over: bool,
    warnings: Vec<RecordWarning>,
}

impl State {
    /// The state after a number of games.
    pub(super) fn after(game: u64) -> Self {
        Self { game, ..Self::default() }
    }

    /// The number of games that were read.
    pub(super) fn games(&self) -> u64 {
        self.game
    }

    pub(super) fn warnings(&self) -> &[RecordWarning] {
        &self.warnings
    }

    pub(super) fn warn(&mut self, location: Location, kind: RecordWarningKind) {
        add_warning(&mut self.warnings, location, kind);
    }
}

const MAX_WARNINGS: usize = 100;

pub(super) fn add_warning(
    warnings: &mut Vec<RecordWarning>,
    location: Location,
    kind: RecordWarningKind,
) {
    if warnings.len() < MAX_WARNINGS {
        warnings.push(RecordWarning { line: location.line, column: location.column, kind });
    }
}
