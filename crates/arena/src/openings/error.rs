//! Errors of openings, with their location.

use std::{error, fmt, io};

use readyok_rules::record::RecordErrorKind;
use readyok_rules::{EpdError, Game, Handicap, LineError, PositionError, Termination};

/// An opening or a source of openings that cannot be used.
#[derive(Debug)]
pub struct OpeningError {
    /// The file; `None` if the openings are listed in the plan.
    pub path: Option<String>,
    /// The line of the file, counted from 1.
    pub line: Option<u64>,
    /// The reason.
    pub fault: OpeningFault,
}

/// The reason why an opening or a source of openings cannot be used.
#[derive(Debug)]
#[non_exhaustive]
pub enum OpeningFault {
    /// The file cannot be read.
    Io(io::Error),
    /// A Polyglot book needs a limit of plies.
    NoPlies,
    /// The size of the file is not a multiple of 16 bytes, the size of Polyglot entries.
    NotPolyglot {
        /// The size of the file in bytes.
        bytes: u64,
    },
    /// The file extension is unknown.
    UnknownFormat,
    /// A directory cannot be a source of chess openings.
    Directory,
    /// Openings of this kind are for another game.
    OtherGame {
        /// The game of the plan.
        game: Game,
    },
    /// The source is empty.
    Empty,
    /// No opening can be used.
    AllBad {
        /// The number of openings.
        count: u64,
        /// The reason of the last one.
        last: Box<Self>,
    },
    /// A file is too large after decompression.
    TooLarge {
        /// The limit in bytes.
        limit: u64,
    },
    /// An entry is too long.
    TooLong {
        /// The limit in bytes.
        limit: usize,
    },
    /// An entry is not UTF-8.
    NotText,
    /// The position is invalid.
    Position(PositionError),
    /// The EPD operations are malformed.
    Epd(EpdError),
    /// A move is illegal.
    Moves(LineError),
    /// The record is malformed.
    Record(RecordErrorKind),
    /// A shogi record has no moves and no start position, like a file that is not a record.
    NoMoves,
    /// An unexpected part of a `position` command, shortened.
    Unexpected(String),
    /// The game is over after the opening.
    Over(Termination),
    /// An invalid number of a Chess960 start position.
    Chess960Number(u16),
    /// An unknown name of a shogi handicap.
    Handicap(String),
}

/// Openings that were skipped.
#[derive(Debug, Default)]
pub struct Skipped {
    /// The first errors.
    pub errors: Vec<OpeningError>,
    /// The number of further errors.
    pub more: u64,
}

impl Skipped {
    const MAX_ERRORS: usize = 100;

    /// Whether no opening was skipped.
    pub fn is_empty(&self) -> bool {
        self.errors.is_empty()
    }

    pub(super) fn add(&mut self, error: OpeningError) {
        if self.errors.len() < Self::MAX_ERRORS {
            self.errors.push(error);
        } else {
            self.more += 1;
        }
    }
}

impl OpeningError {
    pub(super) fn in_plan(fault: impl Into<OpeningFault>) -> Self {
        Self { path: None, line: None, fault: fault.into() }
    }

    pub(super) fn in_file(path: &str, fault: impl Into<OpeningFault>) -> Self {
        Self { path: Some(path.to_owned()), line: None, fault: fault.into() }
    }

    /// Whether the source is unusable, not only a single opening.
    pub(super) fn is_of_source(&self) -> bool {
        match self.fault {
            OpeningFault::Io(_)
            | OpeningFault::UnknownFormat
            | OpeningFault::Directory
            | OpeningFault::NoPlies
            | OpeningFault::NotPolyglot { .. }
            | OpeningFault::Empty
            | OpeningFault::AllBad { .. }
            | OpeningFault::TooLarge { .. } => true,
            OpeningFault::TooLong { .. }
            | OpeningFault::NotText
            | OpeningFault::Position(_)
            | OpeningFault::Epd(_)
            | OpeningFault::OtherGame { .. }
            | OpeningFault::Moves(_)
            | OpeningFault::Record(_)
            | OpeningFault::NoMoves
            | OpeningFault::Unexpected(_)
            | OpeningFault::Over(_)
            | OpeningFault::Chess960Number(_)
            | OpeningFault::Handicap(_) => false,
        }
    }

    /// Applies the error to all openings.
    pub(super) fn for_all(self, count: u64) -> Self {
        let fault = OpeningFault::AllBad { count, last: Box::new(self.fault) };
        Self { fault, ..self }
    }
}

impl fmt::Display for OpeningError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.path, self.line) {
            (Some(path), Some(line)) => write!(f, "{path}, line {line}: ")?,
            (Some(path), None) => write!(f, "{path}: ")?,
            (None, _) => f.write_str("openings: ")?,
        }
        self.fault.fmt(f)
    }
}

impl fmt::Display for OpeningFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(error) => error.fmt(f),
            Self::NoPlies => f.write_str("a Polyglot book needs `plies`"),
            Self::NotPolyglot { bytes } => {
                write!(f, "a Polyglot book has entries of 16 bytes, but the file has {bytes} bytes")
            }
            Self::UnknownFormat => f.write_str("unknown file extension; specify the format"),
            Self::Directory => f.write_str("the path is a directory"),
            Self::OtherGame { game } => {
                let game = match game {
                    Game::Chess => "chess",
                    Game::Chess960 => "Chess960",
                    Game::Shogi => "shogi",
                };
                write!(f, "openings of this kind are not for {game}")
            }
            Self::Empty => f.write_str("there are no openings"),
            Self::AllBad { count: 1, last } => write!(f, "the only opening is invalid: {last}"),
            Self::AllBad { count, last } => write!(f, "all {count} openings are invalid: {last}"),
            Self::TooLarge { limit } => {
                write!(f, "the decompressed file has more than {limit} bytes")
            }
            Self::TooLong { limit } => write!(f, "the opening has more than {limit} bytes"),
            Self::NotText => f.write_str("the opening is not valid UTF-8"),
            Self::Position(error) => error.fmt(f),
            Self::Epd(error) => error.fmt(f),
            Self::Moves(error) => error.fmt(f),
            Self::Record(error) => error.fmt(f),
            Self::NoMoves => f.write_str("the record has no moves"),
            Self::Unexpected(text) => write!(f, "`{text}` does not belong to a position"),
            Self::Over(termination) => {
                write!(f, "the game is already over ({})", over(*termination))
            }
            Self::Chess960Number(number) => {
                write!(f, "Chess960 has no start position {number}, only 0 to 959")
            }
            Self::Handicap(name) => {
                let names = Handicap::ALL.map(Handicap::name).join(", ");
                write!(f, "shogi has no handicap `{name}`, only {names}")
            }
        }
    }
}

/// The reason of an end before the first move.
fn over(termination: Termination) -> String {
    match termination {
        Termination::FiftyMoveRule => "the fifty-move rule".to_owned(),
        Termination::SeventyFiveMoveRule => "the seventy-five-move rule".to_owned(),
        Termination::DeadPosition => "a dead position".to_owned(),
        Termination::MoveLimit => "the move limit".to_owned(),
        Termination::TryRule => "the try rule".to_owned(),
        other => other.name().replace('-', " "),
    }
}

impl error::Error for OpeningError {
    fn source(&self) -> Option<&(dyn error::Error + 'static)> {
        match &self.fault {
            OpeningFault::Io(error) => Some(error),
            OpeningFault::Position(error) => Some(error),
            OpeningFault::Epd(error) => Some(error),
            OpeningFault::Moves(error) => Some(error),
            _ => None,
        }
    }
}

impl From<io::Error> for OpeningFault {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl From<PositionError> for OpeningFault {
    fn from(error: PositionError) -> Self {
        Self::Position(error)
    }
}

impl From<EpdError> for OpeningFault {
    fn from(error: EpdError) -> Self {
        match error {
            EpdError::Position(error) => Self::Position(error),
            error => Self::Epd(error),
        }
    }
}

impl From<LineError> for OpeningFault {
    fn from(error: LineError) -> Self {
        Self::Moves(error)
    }
}
