//! Endings in which material does not say who wins: leads that do not win, and bare kings to be
//! mated.

use cozy_chess::{BitBoard, File, Piece, Rank, Square};

use super::{
    Scene,
    count::Count,
    layout::{BARE_CORNER, BARE_KING},
    pawn_ending,
    view::{View, distance, few, from_corner, same_colour},
};
use crate::eval::WHOLE;

/// How much of this side's lead counts, in 64ths.
pub(super) fn scale(scene: &Scene<'_>) -> i32 {
    let view = scene.view;
    match few(view.own(Piece::Pawn)) {
        0 => return without_pawns(view),
        1 if view.all_own.len() == 2 && view.all_enemy.len() == 1 => return one_pawn(view),
        // The enemy can give a piece for it.
        1 if own_worth(view) <= enemy_worth(view) + 2 && enemy_worth(view) >= 3 => return 40,
        _ if is_wrong_corner(view) => return 2,
        _ => {}
    }
    let bishops = [view.own(Piece::Bishop), view.enemy(Piece::Bishop)];
    let [Some(bishop), Some(other)] = bishops.map(BitBoard::next_square) else { return WHOLE };
    let opposite =
        bishops.into_iter().all(|bishops| few(bishops) == 1) && !same_colour(bishop).has(other);
    if !opposite {
        return WHOLE;
    }
    match (own_worth(view), enemy_worth(view)) {
        (3, 3) => (20 + 6 * few(scene.pawns.passed).cast_signed()).min(WHOLE),
        (own, enemy) if own == enemy => 54,
        _ => WHOLE,
    }
}

fn own_worth(view: &View) -> u32 {
    worth(|piece| view.own(piece))
}

fn enemy_worth(view: &View) -> u32 {
    worth(|piece| view.enemy(piece))
}

/// Pieces in the usual small numbers.
fn worth(of: impl Fn(Piece) -> BitBoard) -> u32 {
    3 * few(of(Piece::Knight) | of(Piece::Bishop))
        + 5 * few(of(Piece::Rook))
        + 9 * few(of(Piece::Queen))
}

fn without_pawns(view: &View) -> i32 {
    if has_bishops_of_one_color_only(view) {
        return 0;
    }
    let (own, enemy) = (own_worth(view), enemy_worth(view));
    let only_knights = 3 * few(view.own(Piece::Knight)) == own;
    if own < 5 || own == 6 && only_knights && view.enemy(Piece::Pawn).is_empty() {
        0
    } else if own <= enemy + 3 {
        if enemy <= 3 { 6 } else { 16 }
    } else if own == 6 && only_knights {
        6
    } else {
        WHOLE
    }
}

/// Whether this side has nothing but bishops of one square color. They cannot mate, except a king
/// that its own pieces shut in.
fn has_bishops_of_one_color_only(view: &View) -> bool {
    let bishops = view.own(Piece::Bishop);
    bishops == view.all_own - view.own(Piece::King)
        && bishops.next_square().is_some_and(|bishop| bishops.is_subset(same_colour(bishop)))
}

/// Nothing but a pawn, against nothing.
fn one_pawn(view: &View) -> i32 {
    let won = view
        .own(Piece::Pawn)
        .next_square()
        .is_some_and(|pawn| pawn_ending::is_won(view.king, pawn, view.enemy_king, view.to_move));
    if won { WHOLE } else { 0 }
}

/// Whether there are only pawns on one edge, without a piece that could drive the enemy's king out
/// of its corner there.
fn is_wrong_corner(view: &View) -> bool {
    let pawns = view.own(Piece::Pawn);
    let Some(file) = [File::A, File::H].into_iter().find(|file| pawns.is_subset(file.bitboard()))
    else {
        return false;
    };
    let corner = Square::new(file, Rank::Eighth);
    let pieces = view.all_own - pawns - view.own(Piece::King);
    pieces.is_subset(view.own(Piece::Bishop) - same_colour(corner))
        && distance(view.enemy_king, corner) <= 1
}

/// Against a bare king, the own one must come near, and with bishop and knight the corner matters.
pub(super) fn count(view: &View, terms: &mut impl Count) {
    if view.all_enemy.len() > 1 {
        return;
    }
    // Kings are never next to each other.
    terms.add(BARE_KING.at(distance(view.king, view.enemy_king).saturating_sub(2)));
    let (bishops, knights) = (view.own(Piece::Bishop), view.own(Piece::Knight));
    if view.all_own.len() == 3
        && knights.len() == 1
        && let (Some(bishop), 1) = (bishops.next_square(), bishops.len())
    {
        terms.add(BARE_CORNER.at(from_corner(view.enemy_king, same_colour(bishop))));
    }
}
