//! Makes terms for the tuner of what counts for one side.

use cozy_chess::Piece;

use super::{
    count::{Count, Stand},
    layout::{ENEMY_KING, KING, MATERIAL, OWN_KING, PLACE, PLACES},
};
use crate::eval::Terms;

pub(super) struct Expand<'a, T> {
    pub(super) terms: &'a mut T,
    /// 1 for White, -1 for Black.
    pub(super) sign: i32,
}

impl<T: Terms> Count for Expand<'_, T> {
    fn add(&mut self, weight: usize) {
        self.terms.add(weight, self.sign);
    }

    fn add_n(&mut self, weight: usize, times: u32) {
        self.terms.add(weight, self.sign * times.cast_signed());
    }

    fn piece(&mut self, piece: Piece, own: Stand, enemy: Stand) {
        self.add(MATERIAL.at(piece as usize));
        self.add(PLACE.at(own.place));
        self.add(OWN_KING.at(own.zone * PLACES + own.place));
        self.add(ENEMY_KING.at(enemy.zone * PLACES + enemy.place));
    }

    fn king(&mut self, place: usize) {
        self.add(KING.at(place));
    }
}
