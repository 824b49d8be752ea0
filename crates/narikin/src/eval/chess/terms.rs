//! Terms of one side: a sink for them, and its two implementations.

use cozy_chess::{BitBoard, Piece};

use super::{
    view::count,
    weights::{ENEMY_KING, KING, KING_ZONES, MATERIAL, OWN_KING, PLACE, PLACES, piece_of},
};
use crate::eval::{Terms, Weight};

/// Receives the terms of one side.
pub(super) trait TermSink {
    /// Adds a weight.
    fn add(&mut self, weight: usize);

    /// Adds a weight several times.
    fn add_n(&mut self, weight: usize, times: u32);

    /// Adds a weight once per square.
    #[inline(always)]
    fn add_each(&mut self, weight: usize, squares: BitBoard) {
        // Most sets are empty.
        if !squares.is_empty() {
            self.add_n(weight, count(squares));
        }
    }

    /// Adds the terms of a piece other than a king.
    fn piece(&mut self, piece: Piece, own: KingRelative, enemy: KingRelative);

    /// Adds the term of the king's square.
    fn king(&mut self, place: usize);
}

/// A piece's square relative to a king.
#[derive(Clone, Copy)]
pub(super) struct KingRelative {
    pub(super) zone: usize,
    /// The piece's square, mirrored so that the king is on the right half.
    pub(super) place: usize,
}

pub(super) struct Expand<'a, T> {
    pub(super) terms: &'a mut T,
    /// 1 for White, -1 for Black.
    pub(super) sign: i32,
}

impl<T: Terms> TermSink for Expand<'_, T> {
    #[inline(always)]
    fn add(&mut self, weight: usize) {
        self.terms.add(weight, self.sign);
    }

    #[inline(always)]
    fn add_n(&mut self, weight: usize, times: u32) {
        self.terms.add(weight, self.sign * times.cast_signed());
    }

    #[inline(always)]
    fn piece(&mut self, piece: Piece, own: KingRelative, enemy: KingRelative) {
        self.add(MATERIAL.at(piece as usize));
        self.add(PLACE.at(own.place));
        self.add(OWN_KING.at(own.zone * PLACES + own.place));
        self.add(ENEMY_KING.at(enemy.zone * PLACES + enemy.place));
    }

    #[inline(always)]
    fn king(&mut self, place: usize) {
        self.add(KING.at(place));
    }
}

/// The weights, prepared for summation.
pub(super) struct LookupTables {
    weights: Vec<PackedScore>,
    /// By own king zone and square: material and square terms, without the enemy king.
    places: Vec<PackedScore>,
}

impl LookupTables {
    pub(super) fn new(weights: &[Weight]) -> Self {
        let weights: Vec<_> = weights.iter().map(|&weight| PackedScore::new(weight)).collect();
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

/// A middlegame value in the lower half and an endgame value in the upper half, added together.
#[derive(Clone, Copy, Default)]
pub(super) struct PackedScore(i64);

impl PackedScore {
    fn new(weight: Weight) -> Self {
        Self(i64::from(weight.mg) + (i64::from(weight.eg) << 32))
    }

    fn plus(self, Self(more): Self) -> Self {
        Self(self.0 + more)
    }

    pub(super) fn minus(self, Self(less): Self) -> Self {
        Self(self.0 - less)
    }

    /// The middlegame and endgame values.
    #[expect(clippy::cast_possible_truncation, reason = "each half is taken by itself")]
    pub(super) fn unpack(self) -> (i32, i32) {
        let mg = self.0 as i32;
        (mg, ((self.0 - i64::from(mg)) >> 32) as i32)
    }
}

/// Sums the weights of one side.
pub(super) struct Lookup<'a> {
    tables: &'a LookupTables,
    pub(super) sum: PackedScore,
}

impl<'a> Lookup<'a> {
    pub(super) fn new(tables: &'a LookupTables) -> Self {
        Self { tables, sum: PackedScore::default() }
    }
}

impl TermSink for Lookup<'_> {
    #[inline(always)]
    fn add(&mut self, weight: usize) {
        if let Some(&weight) = self.tables.weights.get(weight) {
            self.sum = self.sum.plus(weight);
        }
    }

    #[inline(always)]
    fn add_n(&mut self, weight: usize, times: u32) {
        if let Some(&PackedScore(weight)) = self.tables.weights.get(weight) {
            self.sum = self.sum.plus(PackedScore(weight * i64::from(times)));
        }
    }

    #[inline(always)]
    fn piece(&mut self, _: Piece, own: KingRelative, enemy: KingRelative) {
        if let Some(&weight) = self.tables.places.get(own.zone * PLACES + own.place) {
            self.sum = self.sum.plus(weight);
        }
        self.add(ENEMY_KING.at(enemy.zone * PLACES + enemy.place));
    }

    #[inline(always)]
    fn king(&mut self, place: usize) {
        self.add(KING.at(place));
    }
}
