//! How many squares the pieces can safely go to.

use cozy_chess::Piece;

use super::{
    Counted,
    attacks::Attacks,
    layout::{BISHOP_MOBILITY, KNIGHT_MOBILITY, QUEEN_MOBILITY, ROOK_MOBILITY},
    view::{View, pawn_attacks_down},
};
use crate::eval::Terms;

pub(super) fn count(view: &View, attacks: &Attacks, terms: &mut Counted<'_, impl Terms>) {
    let unsafe_ = pawn_attacks_down(view.enemy(Piece::Pawn));
    let hindered = view.own(Piece::Pawn) | view.own(Piece::King);
    let area = !(unsafe_ | hindered);
    for attacker in attacks.list() {
        let squares = (attacker.attacked & area).len() as usize;
        terms.add(match attacker.piece {
            Piece::Knight => KNIGHT_MOBILITY.at(squares),
            Piece::Bishop => BISHOP_MOBILITY.at(squares),
            Piece::Rook => ROOK_MOBILITY.at(squares),
            Piece::Queen | Piece::Pawn | Piece::King => QUEEN_MOBILITY.at(squares),
        });
    }
}
