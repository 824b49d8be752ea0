//! Weights to begin with, before any were fitted to games.

use super::{
    layout::{self, KINDS},
    view::{OFFSETS, PLACES},
};
use crate::eval::{UNITS, Weight};

/// What pieces are worth in centipawns, by their numbers.
const WORTH: [i32; layout::PIECES] =
    [90, 300, 340, 490, 530, 830, 1010, 1140, 1440, 520, 510, 510, 500];

/// What a piece attacks with near the opponent's king, and defends with near its own, by kind.
const ATTACK: [i32; KINDS] = [2, 3, 6, 10, 10, 6, 6, 12, 14, 12];
const DEFENCE: [i32; KINDS] = [2, 1, 2, 9, 11, 1, 0, 10, 5, 5];

pub(super) fn weights() -> Vec<Weight> {
    let mut weights = vec![Weight::default(); layout::WEIGHTS];
    let mut set = |weight: usize, centipawns: i32| {
        if let Some(weight) = weights.get_mut(weight) {
            *weight = both(centipawns);
        }
    };
    for (weight, worth) in layout::MATERIAL.zip(WORTH) {
        set(weight, worth);
    }
    // A piece in hand can go anywhere; but the more there are, the less each of them finds to do.
    let pieces = [(0, 18), (1, 4), (2, 4), (3, 4), (4, 4), (5, 2), (6, 2)];
    let mut number = layout::HAND.start;
    for (piece, most) in pieces {
        for already in 0..most {
            set(number, WORTH[piece] * (112 - 5 * already.min(10)) / 100);
            number += 1;
        }
    }
    set(layout::TEMPO.start, 25);
    for place in 0..PLACES {
        // Far from the centre and at home a king is hard to reach.
        let (file, rank) = (place / 9, place % 9);
        let away = i32::try_from(4 - file).unwrap_or(0);
        set(layout::KING_PLACE.start + place, if rank >= 7 { 12 * away } else { 6 * away });
    }
    for offset in 0..OFFSETS {
        let distance = distance(offset);
        for kind in 0..KINDS {
            let near = (5 - distance).max(0);
            set(layout::DEFENDER.start + kind * OFFSETS + offset, DEFENCE[kind] * near / 2);
            set(layout::ATTACKER.start + kind * OFFSETS + offset, -ATTACK[kind] * near / 2);
        }
        for own in 0..4 {
            for other in 0..4 {
                if let Some(weight) = layout::effect(offset, own, other) {
                    set(weight, effect(distance, own, other));
                }
            }
        }
    }
    weights
}

/// What it is worth for a king that a square so far away is attacked so often.
fn effect(distance: i32, own: usize, other: usize) -> i32 {
    const SHARE: [i32; 4] = [0, 10, 17, 21];
    let unanswered = if own == 0 { 14 } else { 10 };
    (5 * SHARE[own] - SHARE[other] * unanswered) / (2 * (distance + 1))
}

/// Steps of a king.
fn distance(offset: usize) -> i32 {
    let steps = (offset / 17).abs_diff(4).max((offset % 17).abs_diff(8));
    i32::try_from(steps).unwrap_or(0)
}

fn both(centipawns: i32) -> Weight {
    let units = i16::try_from(centipawns * UNITS).unwrap_or(i16::MAX);
    Weight { opening: units, ending: units }
}
