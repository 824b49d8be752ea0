//! Pieces beside their pawns: pairs, files, outposts.

use cozy_chess::{BitBoard, Piece, Square};

use super::{
    Scene,
    count::Count,
    layout::{BISHOP_PAIR, BISHOP_PAWNS, KNIGHT_PAWNS, OUTPOST, ROOK_FILE, ROOK_PAWNS, SHIELDED},
    view::{View, down, few, same_colour},
};

const OUTPOSTS: BitBoard = BitBoard(0x0000_FFFF_FF00_0000);

pub(super) fn count(scene: &Scene<'_>, terms: &mut impl Count) {
    let Scene { view, pawns, .. } = scene;
    let own = scene.attacks.map();
    let all_pawns = view.own(Piece::Pawn).len() as usize;
    let bishops = view.own(Piece::Bishop);
    if few(bishops) > 1 {
        terms.add(BISHOP_PAIR.at(all_pawns));
    }
    terms.add_each(KNIGHT_PAWNS.at(all_pawns), view.own(Piece::Knight));
    terms.add_each(ROOK_PAWNS.at(all_pawns), view.own(Piece::Rook));
    for square in bishops {
        let alike = same_colour(square) & view.own(Piece::Pawn);
        terms.add(BISHOP_PAWNS.at(alike.len() as usize));
    }
    let safe = OUTPOSTS - pawns.enemy_span;
    let shield = down(view.own(Piece::Pawn) | view.enemy(Piece::Pawn));
    for (index, piece) in [Piece::Knight, Piece::Bishop].into_iter().enumerate() {
        let outposts = view.own(piece) & safe;
        let supported = outposts & own.by(Piece::Pawn);
        terms.add_each(OUTPOST.at(index * 2), supported);
        terms.add_each(OUTPOST.at(index * 2 + 1), outposts - supported);
        terms.add_each(SHIELDED.at(index), view.own(piece) & shield);
    }
    for square in view.own(Piece::Rook) {
        terms.add(ROOK_FILE.at(file_of_rook(view, scene, square)));
    }
}

/// Open, open to the enemy's pawns or closed; and whether the enemy's king is near.
fn file_of_rook(view: &View, scene: &Scene<'_>, rook: Square) -> usize {
    let kind = match (scene.pawns.files.has(rook), scene.pawns.enemy_files.has(rook)) {
        (false, false) => 0,
        (false, true) => 1,
        (true, _) => 2,
    };
    let away = (rook.file() as usize).abs_diff(view.enemy_king.file() as usize);
    kind + if away <= 1 { 3 } else { 0 }
}
