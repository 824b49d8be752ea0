//! Formats whose encounters do not depend on results: round robins, gauntlets and pyramids.

use super::encounter::Encounter;
use crate::plan::EngineId;

fn encounter(round: u64, first: u64, second: u64) -> Encounter {
    let id = |number: u64| EngineId(u32::try_from(number).unwrap_or(u32::MAX));
    Encounter { round, opening: round, first: id(first), second: id(second) }
}

/// A round robin by the circle method, in the order of the Berger tables (FIDE Handbook C.05, annex 1).
///
/// One player is fixed and the others rotate. With an odd number of players the fixed one does not exist, and
/// its opponent has a bye.
#[derive(Clone, Copy, Debug)]
pub(super) struct RoundRobin {
    /// At least 2.
    pub(super) engines: u64,
}

impl RoundRobin {
    /// The rounds of one cycle, in which each two engines play one encounter.
    pub(super) fn rounds(self) -> u64 {
        self.rotating()
    }

    /// The encounters of one cycle.
    pub(super) fn encounters(self) -> u64 {
        self.rounds() * self.boards()
    }

    /// An encounter by its number. Colors are reversed in every second cycle.
    pub(super) fn encounter(self, number: u64) -> Encounter {
        let (cycle, place) = (number / self.encounters(), number % self.encounters());
        let (round, board) = (place / self.boards(), place % self.boards());
        let rotating = self.rotating();
        // The tables pair the fixed player, which is the last one, with 1, then with the player half a circle on.
        let pivot = round * rotating.div_ceil(2) % rotating;
        let board = board + self.engines % 2;
        let (first, second) = if board > 0 {
            ((pivot + board) % rotating, (pivot + rotating - board) % rotating)
        } else if round % 2 == 0 {
            (pivot, rotating)
        } else {
            (rotating, pivot)
        };
        let (first, second) = if cycle % 2 == 0 { (first, second) } else { (second, first) };
        encounter(cycle * self.rounds() + round, first, second)
    }

    /// The number of rotating players.
    fn rotating(self) -> u64 {
        self.engines - 1 + self.engines % 2
    }

    fn boards(self) -> u64 {
        self.engines / 2
    }
}

/// A gauntlet: the first engines of the plan play all others. Each cycle is one round.
#[derive(Clone, Copy, Debug)]
pub(super) struct Gauntlet {
    pub(super) engines: u64,
    /// At least 1 and less than the engines.
    pub(super) seeds: u64,
}

impl Gauntlet {
    /// The encounters of one round.
    pub(super) fn encounters(self) -> u64 {
        (0..self.seeds).map(|seed| self.opponents(seed)).sum()
    }

    /// An encounter by its number: all those of the first seed, then those of the second with later engines, and
    /// so on.
    pub(super) fn encounter(self, number: u64) -> Encounter {
        let (round, mut place) = (number / self.encounters(), number % self.encounters());
        let mut seed = 0;
        while place >= self.opponents(seed) {
            place -= self.opponents(seed);
            seed += 1;
        }
        let other = seed + 1 + place;
        // Alternating with the distance in the plan and with the round, the colors of each engine differ by at
        // most one.
        let seed_first = (place + round).is_multiple_of(2);
        let (first, second) = if seed_first { (seed, other) } else { (other, seed) };
        encounter(round, first, second)
    }

    /// The number of engines after a seed.
    fn opponents(self, seed: u64) -> u64 {
        self.engines - 1 - seed
    }
}

/// A pyramid: in each round, the next engine of the plan plays all engines before it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pyramid {
    /// At least 2.
    pub(super) engines: u64,
}

impl Pyramid {
    /// The rounds of one cycle.
    pub(super) fn rounds(self) -> u64 {
        self.engines - 1
    }

    /// The encounters of one cycle.
    pub(super) fn encounters(self) -> u64 {
        self.engines * self.rounds() / 2
    }

    /// An encounter by its number.
    pub(super) fn encounter(self, number: u64) -> Encounter {
        let (cycle, mut place) = (number / self.encounters(), number % self.encounters());
        let mut newcomer = 1;
        while place >= newcomer {
            place -= newcomer;
            newcomer += 1;
        }
        // Alternating with the distance in the plan and with the cycle, the colors of each engine differ by at
        // most one.
        let newcomer_first = (newcomer - place + cycle) % 2 == 1;
        let (first, second) = if newcomer_first { (newcomer, place) } else { (place, newcomer) };
        encounter(cycle * self.rounds() + newcomer - 1, first, second)
    }
}
