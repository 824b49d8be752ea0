//! How many squares the pieces can safely go to.

use cozy_chess::Piece;

use super::{
    Counted, Scene,
    layout::{BISHOP_MOBILITY, KNIGHT_MOBILITY, QUEEN_MOBILITY, ROOK_MOBILITY},
};
use crate::eval::Terms;

pub(super) fn count(scene: &Scene<'_>, terms: &mut Counted<'_, impl Terms>) {
    let Scene { view, enemy, .. } = scene;
    let hindered = view.own(Piece::Pawn) | view.own(Piece::King);
    let area = !(enemy.by(Piece::Pawn) | hindered);
    for attacker in scene.attackers {
        let squares = (attacker.attacked & area).len() as usize;
        terms.add(match attacker.piece {
            Piece::Knight => KNIGHT_MOBILITY.at(squares),
            Piece::Bishop => BISHOP_MOBILITY.at(squares),
            Piece::Rook => ROOK_MOBILITY.at(squares),
            Piece::Queen | Piece::Pawn | Piece::King => QUEEN_MOBILITY.at(squares),
        });
    }
}
