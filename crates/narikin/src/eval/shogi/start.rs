//! Weights to begin with, before any were fitted to games.

use std::ops::Range;

use super::{
    layout::{
        ATTACKED, ATTACKER, BREACH, CASES, DEFENDER, EFFECT, ESCAPE, HAND, HITS, KINDS, KING_PLACE,
        MATERIAL, MOBILITY, PIECES, PINNED, TEMPO, THREAT, WEIGHTS,
    },
    scene::LEVELS,
    view::{OFFSETS, Offset},
};
use crate::eval::{UNITS, Weight};

/// What pieces are worth in centipawns, by their numbers.
const WORTH: [i32; PIECES] = [90, 300, 340, 490, 530, 830, 1010, 1140, 1440, 520, 510, 510, 500];

/// How many of each kind there can be in hand, in the order of hands.
const MOST: [usize; 7] = [18, 4, 4, 4, 2, 2, 4];

/// What is in hand is worth as much as on the board, in the order of hands.
const IN_HAND: [i32; 7] = [90, 300, 340, 490, 830, 1010, 530];

/// What a kind attacks with near the opponent's king, and defends with near its own.
const ATTACK: [i32; KINDS] = [2, 3, 6, 10, 10, 6, 6, 12, 14, 12];
const DEFENCE: [i32; KINDS] = [2, 1, 2, 9, 11, 1, 0, 10, 5, 5];

/// The weights to begin with.
pub fn start() -> Vec<Weight> {
    let mut weights = vec![Weight::default(); WEIGHTS];
    let mut set = |range: Range<usize>, centipawns: &dyn Fn(usize) -> i32| {
        for (index, number) in range.enumerate() {
            if let Some(weight) = weights.get_mut(number) {
                *weight = both(centipawns(index));
            }
        }
    };
    set(MATERIAL, &|piece| WORTH[piece]);
    set(HAND, &hand);
    set(TEMPO, &|_| 25);
    set(KING_PLACE, &|place| {
        // Far from the centre a king is hard to reach, and most of all at home.
        let away = int(4 - place / 9);
        if place % 9 >= 7 { 12 * away } else { 6 * away }
    });
    set(DEFENDER, &|index| near(index) * DEFENCE[index / OFFSETS] / 2);
    set(ATTACKER, &|index| -near(index) * ATTACK[index / OFFSETS] / 2);
    set(EFFECT, &|index| {
        let (own, other) = case(index);
        effect(int(Offset::numbered(index / CASES).steps()), own, other)
    });
    set(THREAT, &|index| {
        let (own, other) = case(index);
        let (row, worth) = (index / CASES, WORTH[index / CASES / 2]);
        // The side to move can still save its piece.
        let share = if row % 2 == 0 { 30 } else { 14 };
        if other == 0 || own > 0 { 0 } else { -worth / share }
    });
    set(ATTACKED, &|index| -3 * int(index / LEVELS));
    set(BREACH, &|index| -int(index / LEVELS * (2 + index % LEVELS)) * 3);
    set(ESCAPE, &|index| -int(4_usize.saturating_sub(index / LEVELS) * (1 + index % LEVELS)) * 4);
    set(MOBILITY, &|index| 5 * int(if index < 9 { index } else { (index - 9) % 17 }).min(10));
    set(HITS, &|index| 8 * int(index % 3 + 1));
    set(PINNED, &|_| -20);
    weights
}

/// A piece in hand can go anywhere; but the more there are, the less each of them finds to do.
fn hand(index: usize) -> i32 {
    let mut before = 0;
    for (most, worth) in MOST.into_iter().zip(IN_HAND) {
        if index < before + most {
            return worth * (112 - 5 * int(index - before).min(10)) / 100;
        }
        before += most;
    }
    0
}

/// How near an offset is, up to 4, by its number in tables of offsets.
fn near(index: usize) -> i32 {
    int(5_usize.saturating_sub(Offset::numbered(index % OFFSETS).steps()))
}

/// How often a side and the other attack, by a number in tables of cases.
fn case(index: usize) -> (usize, usize) {
    let case = index % CASES + 1;
    (case % 4, case / 4)
}

/// What it is worth for a king that a square so far away is attacked so often.
fn effect(steps: i32, own: usize, other: usize) -> i32 {
    const SHARE: [i32; 4] = [0, 10, 17, 21];
    let unanswered = if own == 0 { 14 } else { 10 };
    (5 * SHARE[own] - SHARE[other] * unanswered / 2) / (steps + 1)
}

fn int(number: usize) -> i32 {
    i32::try_from(number).unwrap_or(0)
}

fn both(centipawns: i32) -> Weight {
    let units = i16::try_from(centipawns * UNITS).unwrap_or(i16::MAX);
    Weight { opening: units, ending: units }
}
