//! How many squares the pieces can safely go to.

use cozy_chess::Piece;

use super::{
    Scene,
    count::Count,
    layout::{BISHOP_MOBILITY, KNIGHT_MOBILITY, QUEEN_MOBILITY, ROOK_MOBILITY},
};

pub(super) fn count(scene: &Scene<'_>, terms: &mut impl Count) {
    let Scene { view, enemy, .. } = scene;
    let hindered = view.own(Piece::Pawn) | view.own(Piece::King);
    let area = !(enemy.by(Piece::Pawn) | hindered);
    for attacker in scene.attacks.list() {
        let squares = (attacker.attacked & area).len() as usize;
        terms.add(match attacker.piece {
            Piece::Knight => KNIGHT_MOBILITY.at(squares),
            Piece::Bishop => BISHOP_MOBILITY.at(squares),
            Piece::Rook => ROOK_MOBILITY.at(squares),
            Piece::Queen | Piece::Pawn | Piece::King => QUEEN_MOBILITY.at(squares),
        });
    }
}
