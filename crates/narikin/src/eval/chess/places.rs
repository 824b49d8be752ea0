//! Material, and the squares that it stands on, as such and relative to both kings.

use cozy_chess::{File, Piece, Square};

use super::{
    count::{Count, Stand},
    view::View,
};

/// The zones of a king that stands in the right half, by rank; files E to H.
const ZONES: [[usize; 4]; 8] = [
    [0, 1, 2, 3],
    [4, 4, 5, 5],
    [6, 6, 7, 7],
    [6, 6, 7, 7],
    [8, 8, 9, 9],
    [8, 8, 9, 9],
    [8, 8, 9, 9],
    [8, 8, 9, 9],
];

pub(super) fn count(view: &View, terms: &mut impl Count) {
    let mirror = mirror(view.king);
    let enemy_mirror = self::mirror(view.enemy_king);
    let own_zone = zone(view.king);
    let enemy_zone = zone(view.enemy_king.flip_rank());
    for piece in [Piece::Pawn, Piece::Knight, Piece::Bishop, Piece::Rook, Piece::Queen] {
        let first = FIRST[piece as usize];
        // A pawn is never on its first rank, so that this is no less than 0.
        let place = |square: usize| (first + square).saturating_sub(8);
        for square in view.own(piece) {
            let own = Stand { zone: own_zone, place: place(square as usize ^ mirror) };
            let enemy = Stand { zone: enemy_zone, place: place(square as usize ^ enemy_mirror) };
            terms.piece(piece, own, enemy);
        }
    }
    let king = view.king as usize ^ mirror;
    terms.king(king / 8 * 4 + king % 4);
}

/// What brings a king to the right half.
fn mirror(king: Square) -> usize {
    if king.file() < File::E { 7 } else { 0 }
}

fn zone(king: Square) -> usize {
    let file = king as usize ^ mirror(king);
    ZONES[king.rank() as usize][file % 4]
}

/// Where the places of a kind of piece begin, and 8 more: those of pawns leave out the first rank,
/// and the last.
const FIRST: [usize; Piece::NUM] = [0, 56, 120, 184, 248, 0];
