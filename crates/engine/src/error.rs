//! Errors of engines and boards.

use std::error::Error;
use std::fmt;

use readyok_protocol::BestMove;

/// An error of a search. Its text is reported as `info string`.
pub type Failure = Box<dyn Error + Send + Sync>;

/// The answer of a search.
pub type Answer = Result<BestMove<'static>, Failure>;

/// Why a position cannot be set up.
#[derive(Debug)]
#[non_exhaustive]
pub enum BoardError {
    /// The FEN or SFEN is invalid in this game.
    Position(Failure),
    /// A move is illegal.
    Move {
        /// Index of the move.
        index: usize,
        /// The move as sent.
        text: String,
        /// The reason.
        source: Failure,
    },
}

impl fmt::Display for BoardError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Position(source) => write!(f, "invalid position: {source}"),
            Self::Move { index, text, source } => {
                let number = index.saturating_add(1);
                write!(f, "invalid move {number}, `{}`: {source}", text.escape_debug())
            }
        }
    }
}

impl Error for BoardError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Position(source) | Self::Move { source, .. } => Some(&**source),
        }
    }
}
