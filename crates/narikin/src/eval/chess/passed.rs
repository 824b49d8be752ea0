//! Passed pawns and the pieces around them.

use cozy_chess::{Piece, Rank, Square};

use super::{
    Scene,
    count::Count,
    layout::{
        PASSED_BLOCKED, PASSED_ENEMY_KING, PASSED_FREE, PASSED_KING, PASSED_RACE, PASSED_ROOK,
        PASSED_SAFE,
    },
    view::{distance, fill_down, fill_up},
};

pub(super) fn count(scene: &Scene<'_>, terms: &mut impl Count) {
    let Scene { view, enemy, .. } = scene;
    let enemy_pieces = view.all_enemy - view.enemy(Piece::Pawn) - view.enemy(Piece::King);
    for square in scene.pawns.passed {
        let rank = square.rank() as usize - 1;
        let Some(stop) = Square::try_index(square as usize + 8) else { continue };
        let path = fill_up(stop.bitboard());
        if view.occupied.has(stop) {
            let by_enemy = usize::from(view.all_enemy.has(stop));
            terms.add(PASSED_BLOCKED.at(by_enemy * 6 + rank));
        } else if (path & (view.occupied | enemy.all)).is_empty() {
            terms.add(PASSED_FREE.at(rank));
        } else if !enemy.all.has(stop) {
            terms.add(PASSED_SAFE.at(rank));
        }
        let behind = fill_down(square.bitboard());
        terms.add_each(PASSED_ROOK.at(0), behind & view.own(Piece::Rook));
        terms.add_each(PASSED_ROOK.at(1), behind & view.enemy(Piece::Rook));
        // Kings matter once the pawn is about to run.
        if rank >= 2 {
            let far = (rank - 2) * 8;
            terms.add(PASSED_KING.at(far + distance(view.king, stop)));
            terms.add(PASSED_ENEMY_KING.at(far + distance(view.enemy_king, stop)));
        }
        if enemy_pieces.is_empty() && (path & view.occupied).is_empty() {
            let goal = Square::new(square.file(), Rank::Eighth);
            // A pawn on its first square may take two at once.
            let moves = distance(square, goal) - usize::from(rank == 0);
            if distance(view.enemy_king, goal) > moves + usize::from(!view.to_move) {
                terms.add(PASSED_RACE.at(0));
            }
        }
    }
}
