//! Gauntlets: the first engines meet everybody.

use super::draw::Meeting;
use crate::plan::EngineId;

/// A gauntlet, played one or more times. A round is one time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Gauntlet {
    pub(super) engines: u64,
    /// At least 1 and less than the engines.
    pub(super) seeds: u64,
}

impl Gauntlet {
    /// How many meetings a round has.
    pub(super) fn meetings(self) -> u64 {
        (0..self.seeds).map(|seed| self.of(seed)).sum()
    }

    /// A meeting by its number: first all those of the first seed, then those of the next with
    /// whoever follows it.
    pub(super) fn meeting(self, number: u64) -> Meeting {
        let (round, mut place) = (number / self.meetings(), number % self.meetings());
        let mut seed = 0;
        while place >= self.of(seed) {
            place -= self.of(seed);
            seed += 1;
        }
        let other = seed + 1 + place;
        // By the distance in the plan, and reversed in each second round, nobody has a color more
        // than once more often than the other.
        let seed_first = (place + round).is_multiple_of(2);
        let id = |number: u64| EngineId(u32::try_from(number).unwrap_or(u32::MAX));
        let (first, second) = if seed_first { (seed, other) } else { (other, seed) };
        Meeting { round, lot: round, first: id(first), second: id(second) }
    }

    /// How many meetings a seed has with engines after it.
    fn of(self, seed: u64) -> u64 {
        self.engines - 1 - seed
    }
}
