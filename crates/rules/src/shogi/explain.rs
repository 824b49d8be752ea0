//! Finds the reason why a move of shogi is illegal.

use rsshogi::{
    board::Position,
    types::{Color, HandPiece, Move, Piece, PieceType, Rank, Square, square::is_promotable_move},
};

use crate::IllegalReason;

/// The reason why an illegal move is illegal.
pub(super) fn why(position: &Position, mv: Move) -> IllegalReason {
    match mv.dropped_piece() {
        Some(piece) => why_drop(position, mv, piece, mv.to_sq()),
        None => why_board_move(position, mv, mv.from_sq(), mv.to_sq()),
    }
}

fn why_drop(position: &Position, mv: Move, piece: PieceType, to: Square) -> IllegalReason {
    let us = position.turn();
    let in_hand = HandPiece::from_piece_type(piece).map_or(0, |kind| position.hand(us).count(kind));
    if in_hand == 0 {
        IllegalReason::NotInHand
    } else if position.piece_on(to) != Piece::NONE {
        IllegalReason::SquareTaken
    } else if piece == PieceType::PAWN && position.has_pawn_on_file(us, to.file()) {
        IllegalReason::TwoPawns
    } else if can_never_move(piece, to.rank(), us) {
        IllegalReason::DeadPiece
    } else if piece == PieceType::PAWN && position.gives_check_move(mv) && blocks(position, to) {
        IllegalReason::DropMate
    } else {
        IllegalReason::Check
    }
}

/// Whether a piece dropped on a square leaves no check on the mover's king.
fn blocks(position: &Position, to: Square) -> bool {
    let us = position.turn();
    let king = position.king_square(us);
    if king.is_none() {
        return true;
    }
    let mut occupied = position.pieces();
    occupied.set(to);
    position.attackers_to_color(us.flip(), king, occupied).is_empty()
}

fn why_board_move(position: &Position, mv: Move, from: Square, to: Square) -> IllegalReason {
    let us = position.turn();
    let piece = position.piece_on(from);
    if piece == Piece::NONE {
        return IllegalReason::NoPiece;
    }
    if piece.color() != us {
        return IllegalReason::OpponentsPiece;
    }
    let can_promote = piece.piece_type().is_promotable() && is_promotable_move(us, from, to);
    if mv.is_promotion() && !can_promote {
        return IllegalReason::PromotionImpossible;
    }
    if position.pieces_by_color(us).test(to) {
        return IllegalReason::OwnPiece;
    }
    if !position.attackers_to_color_current(us, to).test(from) {
        return IllegalReason::CannotReach;
    }
    if !mv.is_promotion() && can_never_move(piece.piece_type(), to.rank(), us) {
        return IllegalReason::PromotionMissing;
    }
    IllegalReason::Check
}

/// Whether a piece on this rank could never move.
fn can_never_move(piece: PieceType, rank: Rank, color: Color) -> bool {
    let ranks_ahead = if color == Color::BLACK { rank.raw() } else { 8 - rank.raw() };
    match piece {
        PieceType::PAWN | PieceType::LANCE => ranks_ahead < 1,
        PieceType::KNIGHT => ranks_ahead < 2,
        _ => false,
    }
}
