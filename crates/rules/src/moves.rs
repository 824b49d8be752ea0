//! A move of any of the games, and its UCI or USI notation.

use rsshogi::types::Move32;
use shakmaty::uci::UciMove;

/// A move of one of the games. It is meaningful only in a position where it is legal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Move {
    /// A move of chess or Chess960.
    Chess(shakmaty::Move),
    /// A move of shogi.
    Shogi(Move32),
}

/// The notation of castling.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CastlingForm {
    /// The king's move, `e1g1`, as in UCI for chess.
    KingMove,
    /// The king takes its own rook, `e1h1`, as in UCI under `UCI_Chess960`.
    KingTakesRook,
}

impl Move {
    /// The move in UCI notation, or in USI notation for shogi. `castling` applies to chess only.
    ///
    /// With [`CastlingForm::KingMove`], a castling of Chess960 can have the same text as another move.
    pub fn to_uci(self, castling: CastlingForm) -> String {
        match (self, castling) {
            (Self::Chess(mv), CastlingForm::KingMove) => UciMove::from_standard(mv).to_string(),
            (Self::Chess(mv), CastlingForm::KingTakesRook) => {
                UciMove::from_chess960(mv).to_string()
            }
            (Self::Shogi(mv), _) => mv.to_usi(),
        }
    }
}

impl From<shakmaty::Move> for Move {
    fn from(mv: shakmaty::Move) -> Self {
        Self::Chess(mv)
    }
}

impl From<Move32> for Move {
    fn from(mv: Move32) -> Self {
        Self::Shogi(mv)
    }
}
