//! Pyramids: each engine meets all those before it, as if they came in one after another.

use super::draw::Meeting;
use crate::plan::EngineId;

/// A pyramid, played one or more times. A round is what one engine plays when it comes in.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pyramid {
    /// At least 2.
    pub(super) engines: u64,
}

impl Pyramid {
    /// How many rounds until all are in.
    pub(super) fn rounds(self) -> u64 {
        self.engines - 1
    }

    /// How many meetings until then.
    pub(super) fn meetings(self) -> u64 {
        self.engines * self.rounds() / 2
    }

    /// A meeting by its number.
    pub(super) fn meeting(self, number: u64) -> Meeting {
        let (cycle, mut place) = (number / self.meetings(), number % self.meetings());
        let mut newcomer = 1;
        while place >= newcomer {
            place -= newcomer;
            newcomer += 1;
        }
        // By the distance in the plan, and reversed each second time, nobody has a color more than
        // once more often than the other.
        let newcomer_first = (newcomer - place + cycle) % 2 == 1;
        let id = |number: u64| EngineId(u32::try_from(number).unwrap_or(u32::MAX));
        let (first, second) = if newcomer_first { (newcomer, place) } else { (place, newcomer) };
        let round = cycle * self.rounds() + newcomer - 1;
        Meeting { round, lot: round, first: id(first), second: id(second) }
    }
}
