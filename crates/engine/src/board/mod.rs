//! Converts the text of a position to the board of the engine.

#[cfg(feature = "cozy-chess")]
mod cozy_chess;
#[cfg(feature = "rsshogi")]
mod rsshogi;

use readyok_protocol::{Move, Position, Root};

use crate::error::{BoardError, Failure};

/// A board for positions in FEN or SFEN.
///
/// The features `cozy-chess` and `rsshogi` implement it for the boards of those crates. For any other,
/// implement four methods. An example for `shakmaty`, whose license is incompatible with this crate:
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
///     fn play_move(&mut self, text: &str) -> Result<(), Failure> {
///         let mv = text.parse::<UciMove>()?.to_move(&self.0)?;
///         Ok(self.0.play_unchecked(mv))
///     }
///     fn any_move(&self) -> Option<Move> {
///         let mv = self.0.legal_moves().into_iter().next()?;
///         mv.to_uci(CastlingMode::Standard).to_string().parse().ok()
///     }
/// }
/// ```
pub trait Board: Clone {
    /// The start position.
    fn start() -> Self;

    /// Reads a FEN or SFEN whose syntax is valid.
    ///
    /// # Errors
    /// The position is invalid in this game.
    fn from_text(text: &str) -> Result<Self, Failure>;

    /// Plays a move in UCI or USI notation.
    ///
    /// # Errors
    /// The move is not legal.
    fn play_move(&mut self, text: &str) -> Result<(), Failure>;

    /// Any legal move. `None` if no move is legal.
    fn any_move(&self) -> Option<Move>;

    /// Whether a move is legal.
    fn is_legal(&self, mv: Move) -> bool {
        self.clone().play_move(mv.as_str()).is_ok()
    }

    /// The position of a request after all moves.
    ///
    /// # Errors
    /// The position is invalid in this game, or a move is illegal.
    fn from_position(position: &Position<'_>) -> Result<Self, BoardError> {
        let mut board = match &position.root {
            Root::StartPos => Self::start(),
            Root::Fen(fen) => Self::from_text(fen.as_str()).map_err(BoardError::Position)?,
            Root::Sfen(sfen) => Self::from_text(sfen.as_str()).map_err(BoardError::Position)?,
        };
        for (index, text) in position.moves.tokens().enumerate() {
            board.play_move(text).map_err(|source| BoardError::Move {
                index,
                text: text.to_owned(),
                source,
            })?;
        }
        Ok(board)
    }

    /// The first of the candidates that is legal in a position, or else any legal move. `None` if there is
    /// none. If the position is invalid in this game, the first candidate.
    fn legal_move(position: &Position<'_>, candidates: &[Move]) -> Option<Move> {
        let Ok(board) = Self::from_position(position) else { return candidates.first().copied() };
        let legal = candidates.iter().copied().find(|mv| board.is_legal(*mv));
        legal.or_else(|| board.any_move())
    }
}

/// For an engine without a [`Board`]: accepts every move without checks.
///
/// Such an engine implements [`Engine::fallback`](crate::Engine::fallback) itself. Otherwise a search
/// that fails before it reports a PV is answered by `bestmove (none)`.
#[derive(Clone, Copy, Debug)]
pub struct NoBoard;

impl Board for NoBoard {
    fn start() -> Self {
        Self
    }

    fn from_text(_text: &str) -> Result<Self, Failure> {
        Ok(Self)
    }

    fn play_move(&mut self, _text: &str) -> Result<(), Failure> {
        Ok(())
    }

    fn any_move(&self) -> Option<Move> {
        None
    }
}
