//! Adds up what counts for one side, from tables in which the weights of a piece's place are
//! summed beforehand.

use cozy_chess::Piece;

use super::{
    count::{Count, Stand},
    layout::{ENEMY_KING, KING, KING_ZONES, MATERIAL, OWN_KING, PLACE, PLACES, piece_of},
};
use crate::eval::Weight;

/// The weights, in the form in which they are added.
pub(super) struct Tables {
    weights: Vec<Both>,
    /// By the own king's zone and the place: all that a piece is worth, the enemy's king aside.
    places: Vec<Both>,
}

impl Tables {
    pub(super) fn new(weights: &[Weight]) -> Self {
        let weights: Vec<_> = weights.iter().map(|&weight| Both::new(weight)).collect();
        let weight = |index: usize| weights.get(index).copied().unwrap_or_default();
        let places = (0..KING_ZONES * PLACES).map(|index| {
            let place = index % PLACES;
            weight(OWN_KING.at(index))
                .plus(weight(PLACE.at(place)))
                .plus(weight(MATERIAL.at(piece_of(place) as usize)))
        });
        Self { places: places.collect(), weights }
    }
}

/// A value in the opening, in the lower half, and in the ending: both are added at once.
#[derive(Clone, Copy, Default)]
pub(super) struct Both(i64);

impl Both {
    fn new(weight: Weight) -> Self {
        Self(i64::from(weight.opening) + (i64::from(weight.ending) << 32))
    }

    fn plus(self, Self(more): Self) -> Self {
        Self(self.0 + more)
    }

    pub(super) fn minus(self, Self(less): Self) -> Self {
        Self(self.0 - less)
    }

    /// The value in the opening and in the ending.
    #[expect(clippy::cast_possible_truncation, reason = "each half is taken by itself")]
    pub(super) fn halves(self) -> (i32, i32) {
        let opening = self.0 as i32;
        (opening, ((self.0 - i64::from(opening)) >> 32) as i32)
    }
}

/// The sum for one side.
pub(super) struct Lookup<'a> {
    tables: &'a Tables,
    pub(super) sum: Both,
}

impl<'a> Lookup<'a> {
    pub(super) fn new(tables: &'a Tables) -> Self {
        Self { tables, sum: Both::default() }
    }
}

impl Count for Lookup<'_> {
    fn add(&mut self, weight: usize) {
        if let Some(&weight) = self.tables.weights.get(weight) {
            self.sum = self.sum.plus(weight);
        }
    }

    fn add_n(&mut self, weight: usize, times: u32) {
        if let Some(&Both(weight)) = self.tables.weights.get(weight) {
            self.sum = self.sum.plus(Both(weight * i64::from(times)));
        }
    }

    fn piece(&mut self, _: Piece, own: Stand, enemy: Stand) {
        if let Some(&weight) = self.tables.places.get(own.zone * PLACES + own.place) {
            self.sum = self.sum.plus(weight);
        }
        self.add(ENEMY_KING.at(enemy.zone * PLACES + enemy.place));
    }

    fn king(&mut self, place: usize) {
        self.add(KING.at(place));
    }
}
