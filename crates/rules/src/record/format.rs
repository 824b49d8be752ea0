//! What a format is: a row of the table of formats, with a reader.

use crate::Game;

use super::{
    Defect, Encoding, GameRecord, Limits, Notice, NoticeReason, ReadExtent, RecordError,
    RecordErrorKind,
    encoding::Source,
    loss::{Holds, Written},
};

/// A format of game records: a row of the table of formats.
#[derive(Clone, Copy)]
pub struct Format(pub(super) &'static FormatRow);

/// All that distinguishes a format. A format is a module with a reader and a writer, and a row.
pub(super) struct FormatRow {
    /// The name on the command line and in the wire.
    pub(super) name: &'static str,
    pub(super) description: &'static str,
    /// File extensions, in lower case. The first is that of written files.
    pub(super) extensions: &'static [&'static str],
    pub(super) media_type: &'static str,
    pub(super) games: &'static [Game],
    /// The text between two games of a file. `None` if a file can hold only one game.
    pub(super) separator: Option<&'static str>,
    /// Whether it has no other encoding than UTF-8.
    pub(super) is_utf8: bool,
    pub(super) holds: Holds,
    /// Whether a line begins a file. Its arguments are the line and the complete beginning of the file.
    pub(super) detect: fn(&str, &str) -> Option<Certainty>,
    pub(super) read: for<'a> fn(Source<'a>, Limits, Bookmark) -> Box<dyn Games + Send + 'a>,
    /// The text of a record of one of the games.
    pub(super) write: fn(&GameRecord, Encoding) -> Written,
}

/// How certain it is that a line has a format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Certainty {
    /// A move.
    Possible,
    /// A header.
    Likely,
    /// Text that no other format has.
    Certain,
}

/// The start of a game in a file, where [`Records::resume`](super::Records::resume) continues.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bookmark {
    pub(super) format: Format,
    pub(super) offset: u64,
    /// The number of lines before it.
    pub(super) lines: u64,
    pub(super) games: u64,
    /// The encoding that was detected so far.
    pub(super) encoding: Option<Encoding>,
}

impl Bookmark {
    pub(super) const fn start(format: Format) -> Self {
        Self { format, offset: 0, lines: 0, games: 0, encoding: None }
    }

    /// The number of bytes of the file before it.
    pub fn offset(&self) -> u64 {
        self.offset
    }
}

/// A location in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Location {
    pub(super) line: u64,
    pub(super) column: u64,
}

impl Location {
    pub(super) const START: Self = Self { line: 1, column: 1 };
}

/// A reader of a format.
pub(super) trait Games {
    fn state(&self) -> &ReadingState;

    fn state_mut(&mut self) -> &mut ReadingState;

    /// The start of the next game, or of text before it. `None` if its offset is unknown.
    fn bookmark(&self) -> Option<Bookmark>;

    /// Starts counting against the limits.
    fn begin_game(&mut self);

    /// The location of the last text that was read.
    fn location(&mut self) -> Location;

    /// Reads a game. `None` at the end of the source.
    fn read_game(&mut self) -> Result<Option<GameRecord>, RecordErrorKind>;

    /// Skips the rest of a game that cannot be read. False if the source ends.
    fn skip_game(&mut self) -> bool;

    /// The next game, or why it cannot be read.
    fn next(&mut self) -> Option<Result<GameRecord, RecordError>> {
        if self.state().over {
            return None;
        }
        self.state_mut().notices.clear();
        self.begin_game();
        let read = self.read_game();
        if matches!(read, Ok(None)) {
            self.state_mut().over = true;
            return None;
        }
        self.state_mut().game += 1;
        let read = read.map_err(|kind| {
            let Location { line, column } = self.location();
            let error = RecordError { game: self.state().game, line, column, kind };
            let ends = matches!(error.kind, RecordErrorKind::Io(_)) || !self.skip_game();
            self.state_mut().over = ends;
            error
        });
        read.transpose()
    }
}

/// The number of the current game, and its notices.
#[derive(Debug, Default)]
pub(super) struct ReadingState {
    game: u64,
    over: bool,
    notices: Vec<Notice>,
}

impl ReadingState {
    /// The state after a number of games.
    pub(super) fn after(game: u64) -> Self {
        Self { game, ..Self::default() }
    }

    /// The number of games that were read.
    pub(super) fn games(&self) -> u64 {
        self.game
    }

    pub(super) fn notices(&self) -> &[Notice] {
        &self.notices
    }

    /// The first text that was skipped.
    pub(super) fn first_skipped(&self) -> Option<&str> {
        self.notices.iter().find_map(|notice| match &notice.reason {
            NoticeReason::Defect(Defect::TextSkipped { text }) => Some(text.as_str()),
            _ => None,
        })
    }

    /// Whether further notices are dropped.
    pub(super) fn is_full(&self) -> bool {
        self.notices.len() >= MAX_NOTICES
    }

    pub(super) fn notices_mut(&mut self) -> &mut Vec<Notice> {
        &mut self.notices
    }

    pub(super) fn notice(&mut self, location: Location, reason: NoticeReason, kept: ReadExtent) {
        add_notice(&mut self.notices, location, reason, kept);
    }
}

const MAX_NOTICES: usize = 100;

pub(super) fn add_notice(
    notices: &mut Vec<Notice>,
    location: Location,
    reason: NoticeReason,
    kept: ReadExtent,
) {
    if notices.len() < MAX_NOTICES {
        notices.push(Notice { line: location.line, column: location.column, reason, kept });
    }
}
