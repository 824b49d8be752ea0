//! How long a search stands still while others have its processor.
//!
//! A search looks at the clock every few hundred positions. If a hundredth of a second has gone by since it
//! did so last, it has waited, and may have to wait as long again just when its time is up; and so may the
//! thread that writes its answer, and the client that reads it. With an increment a move that comes late costs
//! time; with nothing but a byoyomi it costs the game, and no clock tells beforehand how much gets lost.

use std::{cell::Cell, time::Duration};

use crate::control::Bounds;

/// So many of the longest are kept in reserve: for the search, for the writer and for the client.
const RESERVE: u32 = 3;
/// At least this part of the time is used.
const LEAST: u32 = 4;
/// Of the longest, this part is forgotten with each search.
const FORGOTTEN: u32 = 32;
/// Before anything is known, a machine may be a busy one.
const AT_FIRST: Duration = Duration::from_millis(20);

/// What is known of this machine, from one search to the next.
#[derive(Debug)]
pub(crate) struct Stalls {
    longest: Cell<Duration>,
    looked: Cell<Duration>,
}

impl Default for Stalls {
    fn default() -> Self {
        Self { longest: Cell::new(AT_FIRST), looked: Cell::default() }
    }
}

impl Stalls {
    /// A search begins.
    pub(crate) fn begin(&self) {
        self.looked.set(Duration::ZERO);
        let longest = self.longest.get();
        self.longest.set(longest.saturating_sub(longest / FORGOTTEN));
    }

    /// The search looks at its clock.
    pub(crate) fn look(&self, elapsed: Duration) {
        let stall = elapsed.saturating_sub(self.looked.replace(elapsed));
        self.longest.set(self.longest.get().max(stall));
    }

    /// The bounds of a search that may stand still at its end.
    pub(crate) fn within(&self, bounds: Bounds) -> Bounds {
        let Some(hard) = bounds.hard else { return bounds };
        let reserve = (self.longest.get() * RESERVE).saturating_sub(bounds.overhead);
        let time = hard.saturating_sub(bounds.from);
        let hard = hard.saturating_sub(reserve.min(time.saturating_sub(time / LEAST)));
        Bounds { hard: Some(hard), soft: bounds.soft.map(|soft| soft.min(hard)), ..bounds }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn millis(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    /// The hard bound of a search of 90 ms after looks at these times.
    fn hard(stalls: &Stalls, looks: &[u64]) -> u128 {
        stalls.begin();
        for &look in looks {
            stalls.look(millis(look));
        }
        let bounds = Bounds {
            from: Duration::ZERO,
            soft: Some(millis(90)),
            hard: Some(millis(90)),
            overhead: millis(10),
        };
        let within = stalls.within(bounds);
        assert_eq!(within.soft, within.hard);
        within.hard.expect("a bound").as_millis()
    }

    fn quiet() -> Stalls {
        Stalls { longest: Cell::default(), looked: Cell::default() }
    }

    #[test]
    fn a_search_that_runs_on_has_all_of_its_time() {
        assert_eq!(hard(&quiet(), &[1, 2, 5, 8, 10]), 90);
    }

    #[test]
    fn a_search_that_stood_still_ends_sooner_and_never_too_soon() {
        assert_eq!(hard(&quiet(), &[1, 11, 12]), 90 - (3 * 10 - 10));
        assert_eq!(hard(&quiet(), &[50]), 90 / 4);
        let stalls = quiet();
        stalls.look(millis(50));
        let from = millis(10_000);
        let bounds = Bounds { from, hard: Some(from + millis(90)), ..Bounds::default() };
        assert_eq!(stalls.within(bounds).hard, Some(from + millis(90) / 4));
        assert_eq!(stalls.within(Bounds::default()), Bounds::default());
    }

    #[test]
    fn what_the_bounds_leave_already_is_not_kept_twice() {
        let stalls = quiet();
        stalls.look(millis(10));
        let hard = |overhead| {
            let bounds = Bounds { hard: Some(millis(90)), overhead, ..Bounds::default() };
            stalls.within(bounds).hard
        };
        let expected = [60, 70, 85, 90].map(|hard| Some(millis(hard)));
        assert_eq!([0, 10, 25, 40].map(|left| hard(millis(left))), expected);
    }

    #[test]
    fn the_next_search_knows_and_later_ones_forget() {
        for stalls in [quiet(), Stalls::default()] {
            let first = hard(&stalls, &[1, 11]);
            let later: Vec<u128> = (0..100).map(|_| hard(&stalls, &[1, 2])).collect();
            assert!(first < 75 && later.is_sorted(), "{first} {later:?}");
            assert!(later[0] < 75 && later[99] == 90, "{later:?}");
        }
    }

    #[test]
    fn a_machine_is_taken_for_a_busy_one_at_first() {
        assert!(hard(&Stalls::default(), &[1, 2]) < 75);
    }
}
