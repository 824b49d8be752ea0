//! What the weights are before they are fitted: rough guesses to play with and to fit from.

use super::layout::GROUPS;
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
    match place {
        0..48 => pawn(place + 8),
        48..112 => at(place - 48, knight),
        112..176 => at(place - 112, bishop),
        176..240 => at(place - 176, rook),
        _ => at(place - 240, queen),
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

fn signed(value: usize) -> i32 {
    i32::try_from(value).unwrap_or_default()
}
