//! Round robins by the circle method, in the order of the Berger tables.
//!
//! Source: FIDE Handbook C.05, annex 1. One player stays in place and the others turn; with an odd
//! number of players, whoever would meet the missing one has a bye.

use super::draw::Meeting;
use crate::plan::EngineId;

/// A round robin of some engines, played one or more times.
#[derive(Clone, Copy, Debug)]
pub(super) struct Circle {
    /// At least 2.
    pub(super) engines: u64,
}

impl Circle {
    /// How many rounds until everybody has met everybody.
    pub(super) fn rounds(self) -> u64 {
        self.turning()
    }

    /// How many meetings until then.
    pub(super) fn meetings(self) -> u64 {
        self.rounds() * self.boards()
    }

    /// A meeting by its number, in the order of the tables. Colors are reversed each second time
    /// that everybody meets everybody.
    pub(super) fn meeting(self, number: u64) -> Meeting {
        let (cycle, place) = (number / self.meetings(), number % self.meetings());
        let (round, board) = (place / self.boards(), place % self.boards());
        let turning = self.turning();
        // The tables let the fixed player, the last one, meet 1, then the one half the circle on.
        let pivot = round * turning.div_ceil(2) % turning;
        let board = board + self.engines % 2;
        let (first, second) = if board > 0 {
            ((pivot + board) % turning, (pivot + turning - board) % turning)
        } else if round % 2 == 0 {
            (pivot, turning)
        } else {
            (turning, pivot)
        };
        let (first, second) = if cycle % 2 == 0 { (first, second) } else { (second, first) };
        let id = |number: u64| EngineId(u32::try_from(number).unwrap_or(u32::MAX));
        let round = cycle * self.rounds() + round;
        Meeting { round, lot: round, first: id(first), second: id(second) }
    }

    /// How many players turn: all but the fixed one, who is missing if the number is odd.
    fn turning(self) -> u64 {
        self.engines - 1 + self.engines % 2
    }

    fn boards(self) -> u64 {
        self.engines / 2
    }
}
