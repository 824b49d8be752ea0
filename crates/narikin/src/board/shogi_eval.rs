//! What a position of shogi is worth: pieces on board and in hand, and how near they are to kings.

use readyok_rules::rsshogi::{
    board::Position,
    types::{Color, HandPiece, PieceType, Square},
};

use crate::score::Value;

/// Having the move is worth something.
const TEMPO: Value = 20;

/// What a piece on the board is worth; 0 for none. A king that takes is worth the most to keep back.
pub(super) fn worth(piece: PieceType) -> Value {
    match piece {
        PieceType::PAWN => 100,
        PieceType::LANCE => 280,
        PieceType::KNIGHT => 310,
        PieceType::SILVER | PieceType::PRO_KNIGHT => 450,
        PieceType::GOLD => 510,
        PieceType::BISHOP => 760,
        PieceType::ROOK => 900,
        PieceType::PRO_PAWN => 430,
        PieceType::PRO_LANCE => 440,
        PieceType::PRO_SILVER => 490,
        PieceType::HORSE => 1000,
        PieceType::DRAGON => 1150,
        PieceType::KING => 3000,
        _ => 0,
    }
}

/// The value for the side to move.
pub(super) fn evaluate(position: &Position) -> Value {
    let us = position.turn();
    side(position, us) - side(position, us.flip()) + TEMPO
}

fn side(position: &Position, color: Color) -> Value {
    let (own_king, their_king) = (position.king_square(color), position.king_square(color.flip()));
    let on_board = position.pieces_by_color(color).iter().map(|square| {
        let piece = position.piece_on(square).piece_type();
        if piece == PieceType::KING {
            return 0;
        }
        let near = |king: Square| {
            if king.is_none() { 0 } else { 8 - Value::from(square.distance(king)) }
        };
        worth(piece) + attack(piece) * near(their_king) + defence(piece) * near(own_king)
    });
    let in_hand = HandPiece::iter().map(|piece| {
        let count = Value::try_from(position.hand(color).count(piece)).unwrap_or(0);
        // A piece in hand can go anywhere.
        count * worth(piece.to_piece_type()) * 11 / 10
    });
    on_board.sum::<Value>() + in_hand.sum::<Value>()
}

/// What each step nearer to the opponent's king is worth.
fn attack(piece: PieceType) -> Value {
    match piece {
        PieceType::PAWN | PieceType::LANCE | PieceType::BISHOP | PieceType::ROOK => 1,
        _ => 5,
    }
}

/// What each step nearer to the own king is worth.
fn defence(piece: PieceType) -> Value {
    match piece {
        PieceType::GOLD | PieceType::SILVER => 5,
        _ => 0,
    }
}
