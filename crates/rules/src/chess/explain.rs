//! Finds the reason why a move of chess is illegal.

use shakmaty::{Chess, Color, Piece, Position, Rank, Role, Square, attacks, uci::UciMove};

use crate::IllegalReason;

/// The reason why an illegal move is illegal.
pub(super) fn why(position: &Chess, mv: UciMove) -> IllegalReason {
    let UciMove::Normal { from, to, promotion } = mv else { return IllegalReason::Unreadable };
    let board = position.board();
    let Some(piece) = board.piece_at(from) else { return IllegalReason::NoPiece };
    if piece.color != position.turn() {
        return IllegalReason::OpponentsPiece;
    }
    if position.legal_moves().iter().any(|mv| mv.from() == Some(from) && mv.to() == to) {
        return match promotion {
            None => IllegalReason::PromotionMissing,
            Some(_) => IllegalReason::PromotionImpossible,
        };
    }
    let own_rook = board.piece_at(to) == Some(piece.color.rook());
    if piece.role == Role::King
        && from.rank() == to.rank()
        && (own_rook || from.file().distance(to.file()) > 1)
    {
        return IllegalReason::Castling;
    }
    if board.color_at(to) == Some(piece.color) {
        return IllegalReason::OwnPiece;
    }
    if reaches(position, piece, from, to) {
        IllegalReason::Check
    } else {
        IllegalReason::CannotReach
    }
}

/// Whether the piece can move to the square if checks are ignored.
fn reaches(position: &Chess, piece: Piece, from: Square, to: Square) -> bool {
    let occupied = position.board().occupied();
    if piece.role != Role::Pawn {
        return attacks::attacks(from, piece, occupied).contains(to);
    }
    if from.file() != to.file() {
        return attacks::pawn_attacks(piece.color, from).contains(to)
            && (occupied.contains(to) || position.maybe_ep_square() == Some(to));
    }
    let (forward, start) = match piece.color {
        Color::White => (8, Rank::Second),
        Color::Black => (-8, Rank::Seventh),
    };
    let path_is_free = attacks::between(from, to).with(to).is_disjoint(occupied);
    let one_step = from.offset(forward) == Some(to);
    let two_steps = from.rank() == start && from.offset(2 * forward) == Some(to);
    path_is_free && (one_step || two_steps)
}
