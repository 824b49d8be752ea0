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
/// A search with no more time than this keeps the longest of many searches in reserve, but uses at least
/// a quarter of its time.
const SHORT: Duration = Duration::from_millis(150);
const LEAST_OF_SHORT: u32 = 4;
/// A longer one keeps the longest of a few searches, and uses at least half.
const LEAST: u32 = 2;
/// Of the longest of many and of a few searches, these parts are forgotten with each: half is gone after
/// twenty-two and eight.
const FORGOTTEN: u32 = 32;
const SOON_FORGOTTEN: u32 = 12;
/// Before anything is known, a machine may be a busy one.
const AT_FIRST: Duration = Duration::from_millis(20);

/// What is known of this machine, from one search to the next.
#[derive(Debug)]
pub(crate) struct Stalls {
    /// The longest of many searches.
    longest: Cell<Duration>,
    /// The longest of a few.
    latest: Cell<Duration>,
    looked: Cell<Duration>,
}

impl Default for Stalls {
    fn default() -> Self {
        Self::after(AT_FIRST)
    }
}

impl Stalls {
    fn after(stall: Duration) -> Self {
        Self { longest: Cell::new(stall), latest: Cell::new(stall), looked: Cell::default() }
    }

    /// A search begins.
    pub(crate) fn begin(&self) {
        self.looked.set(Duration::ZERO);
        for (stall, forgotten) in [(&self.longest, FORGOTTEN), (&self.latest, SOON_FORGOTTEN)] {
            stall.set(stall.get().saturating_sub(stall.get() / forgotten));
        }
    }

    /// The search looks at its clock.
    pub(crate) fn look(&self, elapsed: Duration) {
        let stall = elapsed.saturating_sub(self.looked.replace(elapsed));
        for longest in [&self.longest, &self.latest] {
            longest.set(longest.get().max(stall));
        }
    }

    /// The bounds of a search that may stand still at its end.
    pub(crate) fn within(&self, bounds: Bounds) -> Bounds {
        let Some(hard) = bounds.hard else { return bounds };
        let time = hard.saturating_sub(bounds.from);
        let hard = hard.saturating_sub(self.reserve(time, bounds.overhead));
        Bounds { hard: Some(hard), soft: bounds.soft.map(|soft| soft.min(hard)), ..bounds }
    }

    /// What a search of so much time keeps in reserve, beyond what its bounds leave already.
    fn reserve(&self, time: Duration, overhead: Duration) -> Duration {
        let several = |longest: &Cell<Duration>| (longest.get() * RESERVE).saturating_sub(overhead);
        let short = time.min(SHORT);
        let of_short = several(&self.longest).min(short.saturating_sub(short / LEAST_OF_SHORT));
        // One that is a little longer than a short one has no less in reserve.
        of_short.max(several(&self.latest).min(time.saturating_sub(time / LEAST)))
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
        Stalls::after(Duration::ZERO)
    }

    /// How much of so much time a search uses.
    fn used(stalls: &Stalls, time: u64) -> u128 {
        let bounds = Bounds { hard: Some(millis(time)), ..Bounds::default() };
        stalls.within(bounds).hard.expect("a bound").as_millis()
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

    #[test]
    fn a_long_search_uses_half_of_its_time_and_more_of_it_soon_again() {
        let stalls = quiet();
        stalls.look(millis(100));
        assert_eq!(used(&stalls, 800), 800 - 3 * 100);
        let later: Vec<u128> = (0..100)
            .map(|_| {
                stalls.begin();
                used(&stalls, 800)
            })
            .collect();
        assert!(later.is_sorted(), "{later:?}");
        assert!(later[7] > 640 && later[15] > 680 && later[99] > 780, "{later:?}");
        // However long it stood still.
        stalls.look(millis(700));
        assert_eq!(used(&stalls, 800), 400);
    }

    #[test]
    fn the_reserve_of_a_short_search_is_remembered_for_long() {
        let stalls = quiet();
        stalls.look(millis(30));
        for _ in 0..22 {
            stalls.begin();
        }
        // Half of what it was.
        assert!((100 - 48..=100 - 42).contains(&used(&stalls, 100)), "{}", used(&stalls, 100));
    }

    #[test]
    fn with_more_time_more_of_it_is_used_and_as_much_is_kept() {
        for stall in [0, 5, 20, 40, 100, 400] {
            let stalls = quiet();
            stalls.look(millis(stall));
            for _ in 0..10 {
                let of: Vec<u128> = (1..1000).map(|time| used(&stalls, time)).collect();
                let kept: Vec<u128> = (1..).zip(&of).map(|(time, used)| time - used).collect();
                assert!(of.is_sorted() && kept.is_sorted(), "{stall}: {of:?}");
                stalls.begin();
            }
        }
    }
}
