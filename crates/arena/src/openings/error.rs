//! Why an opening cannot be used, and where it stands.

use std::{error, fmt, io};

use readyok_rules::record::RecordErrorKind;
use readyok_rules::{EpdError, Game, Handicap, LineError, PositionError, Termination};

/// Why an opening, or all of them, cannot be used.
#[derive(Debug)]
pub struct OpeningError {
    /// The file; none if the openings stand in the plan.
    pub path: Option<String>,
    /// The line of the file, from 1 on.
    pub line: Option<u64>,
    /// What is wrong.
    pub fault: OpeningFault,
}

/// What is wrong with an opening, or with all of them.
#[derive(Debug)]
#[non_exhaustive]
pub enum OpeningFault {
    /// The file cannot be read.
    Io(io::Error),
    /// A Polyglot book leads on and on, so that the plan has to say how far it is followed.
    NoPlies,
    /// A Polyglot book has entries of 16 bytes.
    NotPolyglot {
        /// The size of the file in bytes.
        bytes: u64,
    },
    /// The name of the file does not tell its format.
    UnknownFormat,
    /// A folder is no book of chess.
    Folder,
    /// Openings of this kind are for another game.
    OtherGame {
        /// The game of the plan.
        game: Game,
    },
    /// There is no opening.
    Empty,
    /// All openings have a fault; this is the last one.
    AllBad {
        /// How many they are.
        count: u64,
        /// What is wrong with one of them.
        last: Box<Self>,
    },
    /// A file is longer than this when it is unpacked, in bytes.
    TooLarge {
        /// The limit.
        limit: u64,
    },
    /// An entry is longer than this, in bytes.
    TooLong {
        /// The limit.
        limit: usize,
    },
    /// An entry is no text in UTF-8.
    NotText,
    /// The position cannot be played.
    Position(PositionError),
    /// The operations of an EPD cannot be read.
    Epd(EpdError),
    /// A move cannot be played.
    Moves(LineError),
    /// The game cannot be read.
    Record(RecordErrorKind),
    /// A record of shogi has neither moves nor a start of its own, as a file that is none.
    NoMoves,
    /// A line of USI has something that does not belong to a position, shortened.
    Unexpected(String),
    /// The game is over before an engine is asked.
    Over(Termination),
    /// No start position of Chess960 has this number.
    Chess960Number(u16),
    /// Shogi has no handicap of this name.
    Handicap(String),
}

/// Openings that were left out.
#[derive(Debug, Default)]
pub struct Skipped {
    /// What was wrong with the first of them.
    pub errors: Vec<OpeningError>,
    /// How many more there were.
    pub more: u64,
}

impl Skipped {
    const MOST: usize = 100;

    /// Whether there was none.
    pub fn is_empty(&self) -> bool {
        self.errors.is_empty()
    }

    pub(super) fn add(&mut self, error: OpeningError) {
        if self.errors.len() < Self::MOST {
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

    /// Whether it is not a single opening that is at fault.
    pub(super) fn is_of_source(&self) -> bool {
        match self.fault {
            OpeningFault::Io(_)
            | OpeningFault::UnknownFormat
            | OpeningFault::Folder
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

    /// The same for all openings.
    pub(super) fn and_all_others(self, count: u64) -> Self {
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
                write!(f, "{bytes} bytes are not a Polyglot book: each entry has 16 bytes")
            }
            Self::UnknownFormat => {
                f.write_str("its name does not tell the format of the openings; name the format")
            }
            Self::Folder => f.write_str("a folder is no file of openings"),
            Self::OtherGame { game } => {
                let game = match game {
                    Game::Chess => "chess",
                    Game::Chess960 => "Chess960",
                    Game::Shogi => "shogi",
                };
                write!(f, "openings of this kind are not for {game}")
            }
            Self::Empty => f.write_str("there are no openings"),
            Self::AllBad { count: 1, last } => write!(f, "the only opening is bad: {last}"),
            Self::AllBad { count, last } => write!(f, "all {count} openings are bad: {last}"),
            Self::TooLarge { limit } => write!(f, "unpacked it has more than {limit} bytes"),
            Self::TooLong { limit } => write!(f, "the opening has more than {limit} bytes"),
            Self::NotText => f.write_str("the opening is no text in UTF-8"),
            Self::Position(error) => error.fmt(f),
            Self::Epd(error) => error.fmt(f),
            Self::Moves(error) => error.fmt(f),
            Self::Record(error) => error.fmt(f),
            Self::NoMoves => f.write_str("the record has no moves"),
            Self::Unexpected(text) => write!(f, "`{text}` does not belong to a position"),
            Self::Over(termination) => {
                write!(f, "the game is over already ({})", over(*termination))
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

/// What ends a game before its first move.
fn over(termination: Termination) -> String {
    match termination {
        Termination::FiftyMoveRule => "the fifty-move rule".to_owned(),
        Termination::SeventyFiveMoveRule => "the seventy-five-move rule".to_owned(),
        Termination::DeadPosition => "a dead position".to_owned(),
        Termination::MoveLimit => "the limit of moves".to_owned(),
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
