//! What the weights are before they are fitted: rough guesses to play with and to fit from.

use cozy_chess::Piece;

use super::layout::{GROUPS, piece_of};
use crate::eval::{UNITS, Weight};

/// The weights before any fitting.
pub fn start() -> Vec<Weight> {
    let of = |value: i32| i16::try_from(value * UNITS).unwrap_or_default();
    let groups = GROUPS.iter().flat_map(|group| (0..group.range.len()).map(group.start));
    groups.map(|(opening, ending)| Weight { opening: of(opening), ending: of(ending) }).collect()
}

pub(super) fn nothing(_: usize) -> (i32, i32) {
    (0, 0)
}

pub(super) fn tempo(_: usize) -> (i32, i32) {
    (15, 10)
}

pub(super) fn material(piece: usize) -> (i32, i32) {
    match piece {
        0 => (90, 110),
        1 => (330, 320),
        2 => (340, 335),
        3 => (480, 540),
        _ => (980, 1000),
    }
}

pub(super) fn place(place: usize) -> (i32, i32) {
    match piece_of(place) {
        Piece::Pawn => pawn(place + 8),
        Piece::Knight => at(place - 48, knight),
        Piece::Bishop => at(place - 112, bishop),
        Piece::Rook => at(place - 176, rook),
        Piece::Queen | Piece::King => at(place - 240, queen),
    }
}

fn pawn(square: usize) -> (i32, i32) {
    let (rank, centre) = (signed(square / 8), from_edge(square % 8));
    (centre * (rank - 1).min(3) * 3 + rank * rank - 6, rank * rank * 2 - 12)
}

fn knight(rank: i32, centre: i32) -> (i32, i32) {
    (7 * centre + 3 * rank - 30, 5 * centre - 16)
}

fn bishop(rank: i32, centre: i32) -> (i32, i32) {
    (4 * centre - 12 - if rank == 0 { 8 } else { 0 }, 3 * centre - 10)
}

fn rook(rank: i32, centre: i32) -> (i32, i32) {
    (2 * centre - 6 + if rank == 6 { 12 } else { 0 }, if rank == 6 { 12 } else { 0 })
}

fn queen(rank: i32, centre: i32) -> (i32, i32) {
    (centre - 2 * rank, 4 * centre + 2 * rank - 16)
}

/// Behind its pawns at first, and in the centre at last.
pub(super) fn king(place: usize) -> (i32, i32) {
    let (rank, file) = (signed(place / 4), signed(place % 4));
    let centre = from_edge(place / 4) + 3 - file;
    (10 * file - 25 * rank.min(3), 9 * centre - 30)
}

fn at(square: usize, value: fn(i32, i32) -> (i32, i32)) -> (i32, i32) {
    value(signed(square / 8), from_edge(square / 8) + from_edge(square % 8))
}

/// 0 at the edge, 3 in the centre.
fn from_edge(index: usize) -> i32 {
    signed(index.min(7 - index))
}

pub(super) fn knight_mobility(squares: usize) -> (i32, i32) {
    growing(squares, 4, 6, 7)
}

pub(super) fn bishop_mobility(squares: usize) -> (i32, i32) {
    growing(squares, 6, 5, 6)
}

pub(super) fn rook_mobility(squares: usize) -> (i32, i32) {
    growing(squares, 7, 3, 5)
}

pub(super) fn queen_mobility(squares: usize) -> (i32, i32) {
    growing(squares, 13, 1, 3)
}

/// So much for each square more than usual.
fn growing(squares: usize, usual: i32, opening: i32, ending: i32) -> (i32, i32) {
    let more = signed(squares) - usual;
    (more * opening, more * ending)
}

pub(super) fn phalanx(rank: usize) -> (i32, i32) {
    rising(rank, 3, 2)
}

pub(super) fn supported(rank: usize) -> (i32, i32) {
    rising(rank + 1, 4, 2)
}

pub(super) fn doubled(alone: usize) -> (i32, i32) {
    if alone == 1 { (-10, -20) } else { (-4, -10) }
}

pub(super) fn isolated(case: usize) -> (i32, i32) {
    if case >= 4 { (-16, -14) } else { (-8, -10) }
}

pub(super) fn backward(open: usize) -> (i32, i32) {
    if open == 1 { (-16, -12) } else { (-6, -6) }
}

pub(super) fn candidate(rank: usize) -> (i32, i32) {
    rising(rank, 2, 4)
}

pub(super) fn passed(rank: usize) -> (i32, i32) {
    let rank = signed(rank);
    (rank * rank * 3, 8 + rank * rank * 4)
}

pub(super) fn passed_supported(rank: usize) -> (i32, i32) {
    rising(rank, 2, 3)
}

pub(super) fn passed_blocked(case: usize) -> (i32, i32) {
    if case >= 6 { rising(case - 6, -3, -8) } else { (0, 0) }
}

pub(super) fn passed_free(rank: usize) -> (i32, i32) {
    rising(rank, 3, 14)
}

pub(super) fn passed_safe(rank: usize) -> (i32, i32) {
    rising(rank, 1, 4)
}

pub(super) fn passed_king(case: usize) -> (i32, i32) {
    let (rank, distance) = (signed(case / 8) + 1, signed(case % 8));
    (0, (3 - distance) * rank * 2)
}

pub(super) fn passed_enemy_king(case: usize) -> (i32, i32) {
    let (rank, distance) = (signed(case / 8) + 1, signed(case % 8));
    (0, (distance - 3) * rank * 4)
}

pub(super) fn passed_rook(enemy: usize) -> (i32, i32) {
    if enemy == 1 { (-5, -20) } else { (5, 20) }
}

pub(super) fn passed_race(_: usize) -> (i32, i32) {
    (400, 400)
}

pub(super) fn bishop_pair(_: usize) -> (i32, i32) {
    (25, 45)
}

/// Knights like full boards, and rooks empty ones.
pub(super) fn knight_pawns(pawns: usize) -> (i32, i32) {
    let more = signed(pawns) - 5;
    (3 * more, 3 * more)
}

pub(super) fn rook_pawns(pawns: usize) -> (i32, i32) {
    let fewer = 5 - signed(pawns);
    (3 * fewer, 3 * fewer)
}

pub(super) fn bishop_pawns(pawns: usize) -> (i32, i32) {
    let more = signed(pawns) - 3;
    (-3 * more, -5 * more)
}

pub(super) fn outpost(case: usize) -> (i32, i32) {
    match case {
        0 => (28, 16),
        1 => (12, 6),
        2 => (20, 8),
        _ => (8, 2),
    }
}

pub(super) fn shielded(_: usize) -> (i32, i32) {
    (6, 3)
}

pub(super) fn rook_file(case: usize) -> (i32, i32) {
    let near = if case >= 3 { 6 } else { 0 };
    match case % 3 {
        0 => (26 + near, 10),
        1 => (10 + near, 6),
        _ => (-4, -2),
    }
}

pub(super) fn castling(_: usize) -> (i32, i32) {
    (12, 0)
}

pub(super) fn danger(case: usize) -> (i32, i32) {
    let square = signed(case * case);
    (square * 2 / 3, square / 6)
}

pub(super) fn shelter(case: usize) -> (i32, i32) {
    match case % 7 {
        0 => (-20, 0),
        1 => (14, 0),
        2 => (6, 0),
        _ => (-6, 0),
    }
}

pub(super) fn pawn_threat(case: usize) -> (i32, i32) {
    let value = if case % 4 < 2 { 45 } else { 65 };
    with_the_move(case / 4, value)
}

pub(super) fn minor_threat(case: usize) -> (i32, i32) {
    let value = match case % 10 {
        0 => 8,
        1 | 2 => 24,
        3 => 50,
        4 => 55,
        8 | 9 => 35,
        _ => 2,
    };
    with_the_move(case / 10, value)
}

pub(super) fn rook_threat(case: usize) -> (i32, i32) {
    let value = match case % 10 {
        0 => 8,
        1 | 2 => 28,
        4 => 50,
        9 => 40,
        _ => 2,
    };
    with_the_move(case / 10, value)
}

pub(super) fn king_threat(case: usize) -> (i32, i32) {
    with_the_move(case / 5, 15)
}

pub(super) fn hanging(case: usize) -> (i32, i32) {
    let value = if case.is_multiple_of(5) { 5 } else { 25 };
    with_the_move(case / 5, value)
}

pub(super) fn push_threat(now: usize) -> (i32, i32) {
    with_the_move(now, 12)
}

pub(super) fn space(pieces: usize) -> (i32, i32) {
    (signed(pieces) / 3, 0)
}

pub(super) fn bare_king(distance: usize) -> (i32, i32) {
    let near = 10 * (5 - signed(distance));
    (near, near)
}

/// Each step along an edge counts, or the king would stay in a wrong corner.
pub(super) fn bare_corner(distance: usize) -> (i32, i32) {
    let near = 40 * (7 - signed(distance));
    (near, near)
}

/// A threat is worth more to those who can carry it out.
fn with_the_move(now: usize, value: i32) -> (i32, i32) {
    let value = if now == 1 { value * 3 / 2 } else { value };
    (value, value)
}

/// So much for each rank.
fn rising(rank: usize, opening: i32, ending: i32) -> (i32, i32) {
    (signed(rank) * opening, signed(rank) * ending)
}

fn signed(value: usize) -> i32 {
    i32::try_from(value).unwrap_or_default()
}
