//! From the text of a position to the author's board.

#[cfg(feature = "cozy-chess")]
mod cozy_chess;
#[cfg(feature = "rsshogi")]
mod rsshogi;

use std::error::Error;
use std::fmt;

use readyok_protocol::{Move, Position, Root};

use crate::Failure;

/// A board that positions can be set up on.
///
/// There are adapters for the boards of `cozy-chess` and `rsshogi`, as features of those names.
/// For any other, implement four methods; for `shakmaty`, whose licence keeps it out of here:
///
/// ```text
/// #[derive(Clone)]
/// struct Chess(shakmaty::Chess);
///
/// impl Board for Chess {
///     fn start() -> Self {
///         Self(shakmaty::Chess::default())
///     }
///     fn from_text(text: &str) -> Result<Self, Failure> {
///         Ok(Self(text.parse::<Fen>()?.into_position(CastlingMode::Chess960)?))
///     }
///     fn play_word(&mut self, word: &str) -> Result<(), Failure> {
///         let mv = word.parse::<UciMove>()?.to_move(&self.0)?;
///         Ok(self.0.play_unchecked(mv))
///     }
///     fn any_move(&self) -> Option<Move> {
///         let mv = self.0.legal_moves().into_iter().next()?;
///         mv.to_uci(CastlingMode::Standard).to_string().parse().ok()
///     }
/// }
/// ```
pub trait Board: Clone {
    /// The usual start position.
    fn start() -> Self;

    /// A position from its FEN or SFEN. The syntax has been checked, and nothing else.
    ///
    /// # Errors
    /// It is no position of this game.
    fn from_text(text: &str) -> Result<Self, Failure>;

    /// Plays a move given as a word of the protocol.
    ///
    /// # Errors
    /// The move is not legal.
    fn play_word(&mut self, word: &str) -> Result<(), Failure>;

    /// Any legal move, as the protocol writes it. `None` if there is none.
    fn any_move(&self) -> Option<Move>;

    /// Whether a move can be played.
    fn is_legal(&self, mv: Move) -> bool {
        self.clone().play_word(mv.as_str()).is_ok()
    }

    /// The position of a request, with all moves played.
    ///
    /// # Errors
    /// The position is none of this game, or a move is not legal.
    fn from_position(position: &Position<'_>) -> Result<Self, BoardError> {
        let mut board = match &position.root {
            Root::StartPos => Self::start(),
            Root::Fen(fen) => Self::from_text(fen.as_str()).map_err(BoardError::Position)?,
            Root::Sfen(sfen) => Self::from_text(sfen.as_str()).map_err(BoardError::Position)?,
        };
        for (index, word) in position.moves.tokens().enumerate() {
            board.play_word(word).map_err(|source| BoardError::Move {
                index,
                word: word.to_owned(),
                source,
            })?;
        }
        Ok(board)
    }

    /// The first of these moves that is legal in a position, or else any that is. `None` if there is
    /// none. Where the board cannot tell, as the position is none of its game, it is the first one.
    fn legal_move(position: &Position<'_>, wanted: &[Move]) -> Option<Move> {
        let Ok(board) = Self::from_position(position) else { return wanted.first().copied() };
        let legal = wanted.iter().copied().find(|mv| board.is_legal(*mv));
        legal.or_else(|| board.any_move())
    }
}

/// For an engine without a [`Board`]: it knows no move and believes all that is wanted.
///
/// Such an engine implements [`Engine::fallback`](crate::Engine::fallback) itself. If it does not, a
/// search that fails before it tells a line ends as if there were no legal move.
#[derive(Clone, Copy, Debug)]
pub struct NoBoard;

impl Board for NoBoard {
    fn start() -> Self {
        Self
    }

    fn from_text(_text: &str) -> Result<Self, Failure> {
        Ok(Self)
    }

    fn play_word(&mut self, _word: &str) -> Result<(), Failure> {
        Ok(())
    }

    fn any_move(&self) -> Option<Move> {
        None
    }
}

/// Why a position cannot be set up.
#[derive(Debug)]
pub enum BoardError {
    /// The FEN or SFEN is no position of this game.
    Position(Failure),
    /// A move cannot be played.
    Move {
        /// How many moves before it could be played.
        index: usize,
        /// The move as it was sent.
        word: String,
        /// Why not.
        source: Failure,
    },
}

impl fmt::Display for BoardError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Position(source) => write!(f, "unusable position: {source}"),
            Self::Move { index, word, source } => {
                let number = index.saturating_add(1);
                write!(f, "unusable move {number}, `{}`: {source}", word.escape_debug())
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
