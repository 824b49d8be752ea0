//! What is attacked, or could be at once.

use cozy_chess::{BitBoard, Piece, Rank};

use super::{
    Scene,
    count::Count,
    layout::{
        HANGING, KING_THREAT, MINOR_THREAT, PAWN_THREAT, PUSH_THREAT, QUEEN_THREAT, ROOK_THREAT,
        SPACE,
    },
    view::{down, fill_down, pawn_attacks_up, up},
};

/// What can be threatened.
const VICTIMS: [Piece; 5] = [Piece::Pawn, Piece::Knight, Piece::Bishop, Piece::Rook, Piece::Queen];

pub(super) fn count(scene: &Scene<'_>, terms: &mut impl Count) {
    let Scene { view, enemy, .. } = scene;
    let own = scene.attacks.map();
    let defended = enemy.by(Piece::Pawn) | (enemy.twice - own.twice);
    let minors = own.by(Piece::Knight) | own.by(Piece::Bishop);
    // The side to move can carry out its threats.
    let now = usize::from(view.to_move);
    for (index, piece) in VICTIMS.into_iter().enumerate() {
        let victims = view.enemy(piece) & own.all;
        if victims.is_empty() {
            continue;
        }
        if index > 0 {
            terms.add_each(PAWN_THREAT.at(now * 4 + index - 1), victims & own.by(Piece::Pawn));
        }
        let weak = victims - defended;
        let held = victims & defended;
        let index = now * 10 + index;
        terms.add_each(MINOR_THREAT.at(index), weak & minors);
        terms.add_each(MINOR_THREAT.at(index + 5), held & minors);
        terms.add_each(ROOK_THREAT.at(index), weak & own.by(Piece::Rook));
        terms.add_each(ROOK_THREAT.at(index + 5), held & own.by(Piece::Rook));
        let index = now * 5 + index % 10;
        terms.add_each(QUEEN_THREAT.at(index), weak & own.by(Piece::Queen));
        terms.add_each(HANGING.at(index), victims - enemy.all);
        terms.add_each(KING_THREAT.at(index), weak & own.by(Piece::King));
    }
    pushes(scene, terms);
    space(scene, terms);
}

/// Pawns that can attack a piece by moving.
fn pushes(scene: &Scene<'_>, terms: &mut impl Count) {
    let Scene { view, enemy, .. } = scene;
    let own = scene.attacks.map();
    let pawns = view.own(Piece::Pawn);
    let free = !view.occupied;
    let once = up(pawns) & free;
    let twice = up(once & Rank::Third.bitboard()) & free;
    let safe = (once | twice) & !enemy.by(Piece::Pawn) & (own.all | !enemy.all);
    let [left, right] = pawn_attacks_up(safe);
    let pieces = view.all_enemy - view.enemy(Piece::Pawn) - view.enemy(Piece::King);
    terms.add_each(
        PUSH_THREAT.at(usize::from(view.to_move)),
        ((left | right) & pieces) - own.by(Piece::Pawn),
    );
}

/// Safe squares in the centre, those behind pawns counting twice; the more pieces there are, the
/// more they need.
fn space(scene: &Scene<'_>, terms: &mut impl Count) {
    const CENTRE: BitBoard = BitBoard(0x0000_0000_3C3C_3C00);
    let Scene { view, enemy, .. } = scene;
    let pawns = view.own(Piece::Pawn);
    let safe = CENTRE - enemy.by(Piece::Pawn) - pawns;
    let behind = (safe & fill_down(down(pawns))) - enemy.all;
    let pieces = (view.all_own - pawns).len() as usize;
    terms.add_n(SPACE.at(pieces.min(8) - 1), safe.len() + behind.len());
}
