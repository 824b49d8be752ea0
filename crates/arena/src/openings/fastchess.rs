//! The order in which fastchess uses the openings of a book that it has shuffled.
//!
//! It shuffles from the first place on, drawing with the generator MT19937-64 of Matsumoto and
//! Nishimura (2000), as the C++ standard has it. Only as far as it is asked for is anything drawn,
//! so that memory grows with the openings that are used and not with the book.

use std::collections::HashMap;
use std::num::NonZeroU64;

/// A shuffled order of so many entries.
#[derive(Debug)]
pub(super) struct Shuffle {
    count: u64,
    lot: Mt64,
    /// The entries at the places that are drawn.
    drawn: Vec<u64>,
    /// The entries at places that are still to be drawn, if they are not where they were.
    moved: HashMap<u64, u64>,
}

impl Shuffle {
    pub(super) fn new(count: NonZeroU64, seed: u64) -> Self {
        let (count, lot) = (count.get(), Mt64::new(seed));
        Self { count, lot, drawn: Vec::new(), moved: HashMap::new() }
    }

    /// The entry at a place, which is less than the count.
    pub(super) fn at(&mut self, place: u64) -> u64 {
        loop {
            let known = usize::try_from(place).ok().and_then(|place| self.drawn.get(place));
            if let Some(&entry) = known {
                return entry;
            }
            self.draw();
        }
    }

    /// Draws the entry of the next place, which changes places with it.
    fn draw(&mut self) {
        let here = self.drawn.len() as u64;
        let left = self.count.saturating_sub(here);
        let other = here + if left > 1 { self.lot.next() % left } else { 0 };
        let mine = self.moved.remove(&here).unwrap_or(here);
        let entry =
            if other == here { mine } else { self.moved.insert(other, mine).unwrap_or(other) };
        self.drawn.push(entry);
    }
}

/// The generator MT19937-64.
#[derive(Debug)]
struct Mt64 {
    state: Vec<u64>,
    next: usize,
}

impl Mt64 {
    const LENGTH: usize = 312;
    const MIDDLE: usize = 156;
    const UPPER: u64 = !0 << 31;
    const TWIST: u64 = 0xb502_6f5a_a966_19e9;

    fn new(seed: u64) -> Self {
        let mut last = seed;
        let following = (1..Self::LENGTH as u64).map(|index| {
            last = (last ^ (last >> 62)).wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(index);
            last
        });
        let state = std::iter::once(seed).chain(following).collect();
        Self { state, next: Self::LENGTH }
    }

    fn next(&mut self) -> u64 {
        if self.next >= Self::LENGTH {
            self.twist();
            self.next = 0;
        }
        let mut word = self.word(self.next);
        self.next += 1;
        word ^= (word >> 29) & 0x5555_5555_5555_5555;
        word ^= (word << 17) & 0x71d6_7fff_eda6_0000;
        word ^= (word << 37) & 0xfff7_eee0_0000_0000;
        word ^ (word >> 43)
    }

    fn twist(&mut self) {
        for index in 0..Self::LENGTH {
            let mixed = (self.word(index) & Self::UPPER) | (self.word(index + 1) & !Self::UPPER);
            let twist = if mixed.is_multiple_of(2) { 0 } else { Self::TWIST };
            let word = self.word(index + Self::MIDDLE) ^ (mixed >> 1) ^ twist;
            if let Some(it) = self.state.get_mut(index) {
                *it = word;
            }
        }
    }

    /// A word of the state, which is a ring.
    fn word(&self, index: usize) -> u64 {
        self.state.get(index % Self::LENGTH).copied().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The standard says so (ISO C++, [rand.predef]).
    #[test]
    fn the_ten_thousandth_number_is_that_of_the_standard() {
        let mut lot = Mt64::new(5489);
        let last = (0..10_000).map(|_| lot.next()).last();
        assert_eq!(last, Some(9_981_545_732_273_789_042));
    }

    #[test]
    fn places_can_be_asked_for_in_any_order() {
        let count = NonZeroU64::new(50).unwrap();
        let mut forward = Shuffle::new(count, 7);
        let all: Vec<u64> = (0..50).map(|place| forward.at(place)).collect();
        let mut backward = Shuffle::new(count, 7);
        let mut other: Vec<u64> = (0..50).rev().map(|place| backward.at(place)).collect();
        other.reverse();
        assert_eq!(all, other);
        // The same with all of the book in memory.
        let (mut dense, mut lot): (Vec<u64>, _) = ((0..50).collect(), Mt64::new(7));
        for here in 0..49 {
            let left = u64::try_from(50 - here).unwrap();
            dense.swap(here, here + usize::try_from(lot.next() % left).unwrap());
        }
        assert_eq!(all, dense);
    }
}
