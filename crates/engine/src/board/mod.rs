//! Converts positions and moves between their texts and the board of the engine.

#[cfg(feature = "cozy-chess")]
mod cozy_chess;
#[cfg(feature = "rsshogi")]
mod rsshogi;

use readyok_protocol::session::engine::SearchRequest;
use readyok_protocol::{CastlingForm, Move, MoveList, Position, Root};

use crate::error::{Answer, BoardError, Failure};

/// A board for positions in FEN or SFEN, and for moves in UCI or USI notation.
///
/// The features `cozy-chess` and `rsshogi` implement it for the boards of those crates. For any other,
/// implement one type and six methods. An example for `shakmaty`, whose license is incompatible with this
/// crate:
///
/// ```text
/// #[derive(Clone)]
/// struct Chess(shakmaty::Chess);
///
/// impl Board for Chess {
///     type Move = shakmaty::Move;
///
///     fn start() -> Self {
///         Self(shakmaty::Chess::default())
///     }
///     fn from_text(text: &str) -> Result<Self, Failure> {
///         Ok(Self(text.parse::<Fen>()?.into_position(CastlingMode::Chess960)?))
///     }
///     fn decode_move(&self, text: &str) -> Result<Self::Move, Failure> {
///         Ok(text.parse::<UciMove>()?.to_move(&self.0)?)
///     }
///     fn encode_move(&self, mv: &Self::Move, castling: CastlingForm) -> Result<Move, Failure> {
///         let uci = match castling {
///             CastlingForm::KingMove => UciMove::from_standard(*mv),
///             CastlingForm::KingTakesRook => UciMove::from_chess960(*mv),
///         };
///         Ok(uci.to_string().parse()?)
///     }
///     fn play_move(&mut self, mv: &Self::Move) -> Result<(), Failure> {
///         self.0 = self.0.clone().play(*mv)?;
///         Ok(())
///     }
///     fn any_move(&self) -> Option<Self::Move> {
///         self.0.legal_moves().into_iter().next()
///     }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a board of `readyok-engine`",
    label = "the trait `Board` is not implemented for this type",
    note = "for `cozy_chess::Board` enable a feature: `cargo add readyok-engine --features cozy-chess`, and use `cozy-chess` 0.3",
    note = "for `rsshogi::board::Position` enable a feature: `cargo add readyok-engine --features rsshogi`, and use `rsshogi` 1.7",
    note = "for another type implement `readyok_engine::Board`, or use `readyok_engine::NoBoard` for an engine without checks"
)]
pub trait Board: Clone {
    /// A move of this board.
    type Move: Clone;

    /// The start position.
    fn start() -> Self;

    /// Reads a FEN or SFEN whose syntax is valid.
    ///
    /// # Errors
    /// The position is invalid in this game.
    fn from_text(text: &str) -> Result<Self, Failure>;

    /// Reads a legal move in UCI or USI notation, with castling in any form.
    ///
    /// # Errors
    /// The move is not legal.
    #[doc(alias("from_uci", "from_usi", "parse"))]
    fn decode_move(&self, text: &str) -> Result<Self::Move, Failure>;

    /// Writes a legal move in UCI or USI notation, with castling in the form of
    /// [`SearchRequest::castling`].
    ///
    /// # Errors
    /// It is no move of this notation, such as a null move of the crate.
    #[doc(alias("to_uci", "to_usi", "to_string"))]
    fn encode_move(&self, mv: &Self::Move, castling: CastlingForm) -> Result<Move, Failure>;

    /// Plays a legal move.
    ///
    /// # Errors
    /// The move is not legal.
    fn play_move(&mut self, mv: &Self::Move) -> Result<(), Failure>;

    /// Any legal move. `None` if no move is legal.
    fn any_move(&self) -> Option<Self::Move>;

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
            let played = board.decode_move(text).and_then(|mv| board.play_move(&mv));
            played.map_err(|source| BoardError::Move { index, text: text.to_owned(), source })?;
        }
        Ok(board)
    }

    /// The answer of a search with this move, or `bestmove (none)`.
    ///
    /// # Errors
    /// The move cannot be written.
    #[doc(alias = "bestmove")]
    fn answer(&self, best: Option<Self::Move>, request: &SearchRequest) -> Answer {
        let best = best.map(|mv| self.encode_move(&mv, request.castling)).transpose()?;
        Ok(best.into())
    }

    /// Writes a variation from this position, for [`Info::pv`](crate::Info::pv). It ends before a move that
    /// is not legal.
    #[doc(alias = "pv")]
    fn encode_line(&self, line: &[Self::Move], castling: CastlingForm) -> MoveList<'static> {
        let mut board = self.clone();
        let encoded = line.iter().map_while(|mv| {
            let encoded = board.encode_move(mv, castling).ok()?;
            board.play_move(mv).ok().map(|()| encoded)
        });
        encoded.collect()
    }

    /// The first of the candidates that is legal in the position of a request, or else any legal move.
    /// `None` without a legal move. If the position is invalid in this game, the first candidate.
    fn legal_move(request: &SearchRequest, candidates: &[Move]) -> Option<Move> {
        let Ok(board) = Self::from_position(&request.position) else {
            return candidates.first().copied();
        };
        let legal = candidates.iter().find_map(|mv| board.decode_move(mv.as_str()).ok());
        board.encode_move(&legal.or_else(|| board.any_move())?, request.castling).ok()
    }
}

/// For an engine without a [`Board`]: accepts every move without checks.
///
/// Such an engine implements [`Engine::fallback`](crate::Engine::fallback) itself. Otherwise a search
/// that fails before it reports a PV is answered by `bestmove (none)`.
#[derive(Clone, Copy, Debug)]
pub struct NoBoard;

impl Board for NoBoard {
    type Move = Move;

    fn start() -> Self {
        Self
    }

    fn from_text(_text: &str) -> Result<Self, Failure> {
        Ok(Self)
    }

    fn decode_move(&self, text: &str) -> Result<Move, Failure> {
        Ok(text.parse()?)
    }

    fn encode_move(&self, mv: &Move, _castling: CastlingForm) -> Result<Move, Failure> {
        Ok(*mv)
    }

    fn play_move(&mut self, _mv: &Move) -> Result<(), Failure> {
        Ok(())
    }

    fn any_move(&self) -> Option<Move> {
        None
    }

    fn from_position(_position: &Position<'_>) -> Result<Self, BoardError> {
        Ok(Self)
    }

    fn legal_move(_request: &SearchRequest, candidates: &[Move]) -> Option<Move> {
        candidates.first().copied()
    }
}
