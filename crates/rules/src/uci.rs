//! Moves in UCI and USI notation.

use readyok_protocol::{self as protocol, CastlingForm, Dialect, MoveShape, Square};
use rsshogi::types::Move32;
use shakmaty::uci::UciMove;

use crate::{Move, shogi::our_kind};

impl Move {
    /// The move in UCI notation, or in USI notation for shogi: a small value whose text needs no allocation. `castling`
    /// applies to chess only.
    ///
    /// With [`CastlingForm::KingMove`], a castling of Chess960 can have the same text as another move.
    pub fn uci(self, castling: CastlingForm) -> protocol::Move {
        let (shape, dialect) = match self {
            Self::Chess(mv) => {
                let mv = match castling {
                    CastlingForm::KingMove => UciMove::from_standard(mv),
                    CastlingForm::KingTakesRook => UciMove::from_chess960(mv),
                };
                (chess_shape(mv), Dialect::Uci)
            }
            Self::Shogi(mv) => (shogi_shape(mv), Dialect::Usi),
        };
        // The squares and pieces of both games have notations.
        protocol::Move::from_shape(shape, dialect).unwrap_or(protocol::Move::NULL)
    }

    /// The text of [`Move::uci`].
    pub fn to_uci(self, castling: CastlingForm) -> String {
        self.uci(castling).into()
    }
}

fn chess_shape(mv: UciMove) -> MoveShape {
    let square = |square: shakmaty::Square| {
        let (file, rank) = square.coords();
        Square::new(u8::from(file) + 1, u8::from(rank) + 1)
    };
    match mv {
        UciMove::Normal { from, to, promotion } => MoveShape::Board {
            from: square(from),
            to: square(to),
            suffix: promotion.map(shakmaty::Role::char),
        },
        UciMove::Put { role, to } => MoveShape::Drop { piece: role.upper_char(), to: square(to) },
        UciMove::Null => MoveShape::Null,
    }
}

fn shogi_shape(mv: Move32) -> MoveShape {
    let square = |square: rsshogi::types::Square| {
        let number = |raw: i8| u8::try_from(raw).unwrap_or_default() + 1;
        Square::new(number(square.file().raw()), number(square.rank().raw()))
    };
    if !mv.is_normal() {
        return MoveShape::Null;
    }
    match mv.dropped_piece().and_then(our_kind) {
        Some(kind) => MoveShape::Drop { piece: kind.letter(), to: square(mv.to_sq()) },
        None => MoveShape::Board {
            from: square(mv.from_sq()),
            to: square(mv.to_sq()),
            suffix: mv.is_promotion().then_some('+'),
        },
    }
}
