//! The Western notation of shogi, after George Hodges: `P-7f`, `Bx2b+`, `G*5b`, `N8i-7g`.

use rsshogi::types::{Move, Move32};

use super::ShogiBoard;

/// Writes a legal move: the piece, where it comes from if another one of its kind could go there,
/// how it goes, where to, and whether it promotes (`+`) or declines to (`=`).
pub(super) fn western(board: &ShogiBoard, mv: Move32) -> String {
    let position = board.position();
    let to = mv.to_sq();
    if let Some(piece) = mv.dropped_piece() {
        return format!("{piece}*{to}");
    }
    let from = mv.from_sq();
    let piece = position.piece_on(from);
    let ambiguous = board.legal_moves().iter().any(|other| {
        !other.is_drop()
            && other.to_sq() == to
            && other.from_sq() != from
            && position.piece_on(other.from_sq()) == piece
    });
    let origin = if ambiguous { from.to_usi() } else { String::new() };
    let manner = if position.is_capture_move32(mv) { 'x' } else { '-' };
    let promotion = if mv.is_promotion() {
        "+"
    } else if position.is_legal_move(Move::promotion(from, to)) {
        "="
    } else {
        ""
    };
    format!("{}{origin}{manner}{to}{promotion}", piece.piece_type())
}
