//! Static exchange evaluation: what captures on one square come to.

use cozy_chess::{
    Board as Cozy, Move, Piece, get_bishop_moves, get_king_moves, get_knight_moves,
    get_pawn_attacks, get_rook_moves,
};

use super::worth;
use crate::score::Value;

/// Whether a move, which wins `gain` at once, and the captures after it win at least so much.
///
/// Each side takes with its cheapest piece or stops. Pins are not seen.
pub(super) fn wins(board: &Cozy, mv: Move, piece: Piece, gain: Value, least: Value) -> bool {
    // What is won if the moved piece is never taken, and what if it is lost.
    let mut balance = gain - least;
    if balance < 0 {
        return false;
    }
    balance -= worth(mv.promotion.unwrap_or(piece));
    if balance >= 0 {
        return true;
    }
    let to = mv.to;
    let diagonal = board.pieces(Piece::Bishop) | board.pieces(Piece::Queen);
    let straight = board.pieces(Piece::Rook) | board.pieces(Piece::Queen);
    let mut occupied = (board.occupied() & !mv.from.bitboard()) | to.bitboard();
    if piece == Piece::Pawn && mv.from.file() != to.file() && !board.occupied().has(to) {
        occupied &= !cozy_chess::Square::new(to.file(), mv.from.rank()).bitboard();
    }
    let mut side = !board.side_to_move();
    let pawns = board.pieces(Piece::Pawn);
    let mut attackers = get_pawn_attacks(to, side) & board.colors(!side) & pawns
        | get_pawn_attacks(to, !side) & board.colors(side) & pawns
        | get_knight_moves(to) & board.pieces(Piece::Knight)
        | get_king_moves(to) & board.pieces(Piece::King)
        | get_bishop_moves(to, occupied) & diagonal
        | get_rook_moves(to, occupied) & straight;
    loop {
        attackers &= occupied;
        let ours = attackers & board.colors(side);
        let cheapest = Piece::ALL.into_iter().find(|&kind| !(ours & board.pieces(kind)).is_empty());
        let Some(kind) = cheapest else { break };
        // The king may not take what is still defended.
        if kind == Piece::King && !(attackers & board.colors(!side)).is_empty() {
            break;
        }
        let Some(from) = (ours & board.pieces(kind)).next_square() else { break };
        occupied ^= from.bitboard();
        if matches!(kind, Piece::Pawn | Piece::Bishop | Piece::Queen) {
            attackers |= get_bishop_moves(to, occupied) & diagonal;
        }
        if matches!(kind, Piece::Rook | Piece::Queen) {
            attackers |= get_rook_moves(to, occupied) & straight;
        }
        side = !side;
        balance = -balance - 1 - worth(kind);
        // Whoever is ahead even after losing the last piece need not go on.
        if balance >= 0 {
            break;
        }
    }
    side != board.side_to_move()
}
