//! Static exchange evaluation: what captures on one square come to.

use readyok_rules::rsshogi::{
    board::Position,
    types::{Move32, PieceType},
};

use super::prize;
use crate::score::Value;

/// The types of pieces, the cheapest first.
const CHEAPEST_FIRST: [PieceType; 14] = [
    PieceType::PAWN,
    PieceType::LANCE,
    PieceType::KNIGHT,
    PieceType::PRO_PAWN,
    PieceType::PRO_LANCE,
    PieceType::PRO_KNIGHT,
    PieceType::SILVER,
    PieceType::PRO_SILVER,
    PieceType::GOLD,
    PieceType::BISHOP,
    PieceType::HORSE,
    PieceType::ROOK,
    PieceType::DRAGON,
    PieceType::KING,
];

/// Whether a move, which wins `gain` at once, and the captures after it win at least so much.
///
/// Each side takes with its cheapest piece or stops. Pins and promotions on the way are not seen.
pub(super) fn wins(position: &Position, mv: Move32, gain: Value, least: Value) -> bool {
    let mut balance = gain - least;
    if balance < 0 {
        return false;
    }
    balance -= prize(mv.piece_after_move().piece_type());
    if balance >= 0 {
        return true;
    }
    let to = mv.to_sq();
    let mut occupied = position.pieces();
    occupied.set(to);
    if !mv.is_drop() {
        occupied.clear(mv.from_sq());
    }
    let us = position.turn();
    let mut side = us.flip();
    loop {
        let attackers = position.attackers_to(to, occupied).and(occupied);
        let ours = attackers.and(position.pieces_by_color(side));
        let cheapest =
            CHEAPEST_FIRST.into_iter().find(|&kind| ours.intersects(position.pieces_by_type(kind)));
        let Some(kind) = cheapest else { break };
        // The king may not take what is still defended.
        if kind == PieceType::KING && attackers.intersects(position.pieces_by_color(side.flip())) {
            break;
        }
        let Some(from) = ours.and(position.pieces_by_type(kind)).lsb() else { break };
        occupied.clear(from);
        side = side.flip();
        balance = -balance - 1 - prize(kind);
        // Whoever is ahead even after losing the last piece need not go on.
        if balance >= 0 {
            break;
        }
    }
    side != us
}
