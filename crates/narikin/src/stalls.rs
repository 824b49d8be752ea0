//! Scheduling delays of the current search.
//!
//! A search polls its clock every few hundred nodes. A long gap between two polls means that the
//! thread was descheduled. The same may happen again at the deadline, to the search, to the thread
//! that writes the answer and to the client, so the search reserves some time for it. Earlier
//! searches do not count: their delays say little about the host's load now.

use std::{cell::Cell, time::Duration};

use crate::control::Bounds;

/// Delays reserved: one each for the search, the writer and the client.
const RESERVED_DELAYS: u32 = 3;
/// The reserve is at most this fraction of the time of the search: four percent.
const MAX_RESERVE_DIVISOR: u32 = 25;

/// The longest scheduling delay of a search so far.
#[derive(Debug)]
pub(crate) struct Stalls {
    longest: Cell<Duration>,
    polled: Cell<Duration>,
}

impl Stalls {
    /// A search that starts at this time of its clock.
    pub(crate) const fn new(elapsed: Duration) -> Self {
        Self { longest: Cell::new(Duration::ZERO), polled: Cell::new(elapsed) }
    }

    /// Records a poll of the clock.
    pub(crate) fn poll(&self, elapsed: Duration) {
        let gap = elapsed.saturating_sub(self.polled.replace(elapsed));
        self.longest.set(self.longest.get().max(gap));
    }

    /// Shortens the bounds by the reserve. The bounds of a fixed time (`movetime`) are kept.
    pub(crate) fn within(&self, bounds: Bounds, fixed_time: bool) -> Bounds {
        let Some(hard) = bounds.hard.filter(|_| !fixed_time) else { return bounds };
        let time = hard.saturating_sub(bounds.from);
        let wanted = (self.longest.get() * RESERVED_DELAYS).saturating_sub(bounds.overhead);
        let hard = hard.saturating_sub(wanted.min(time / MAX_RESERVE_DIVISOR));
        Bounds { hard: Some(hard), soft: bounds.soft.map(|soft| soft.min(hard)), ..bounds }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn millis(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    /// The hard bound of a search with this time and `overhead`, after polls at these times.
    fn hard_bound(time: u64, overhead: u64, polls: &[u64], fixed_time: bool) -> Duration {
        let stalls = Stalls::new(Duration::ZERO);
        for &poll in polls {
            stalls.poll(millis(poll));
        }
        let (time, overhead) = (millis(time), millis(overhead));
        let bounds = Bounds { soft: Some(time), hard: Some(time), overhead, ..Bounds::default() };
        let within = stalls.within(bounds, fixed_time);
        assert_eq!(within.soft, within.hard);
        within.hard.expect("a bound")
    }

    #[test]
    fn without_delays_all_of_the_time_is_used() {
        assert_eq!(hard_bound(1_000, 0, &[], false), millis(1_000));
        assert_eq!(hard_bound(1_000, 10, &[1, 2, 5, 8, 10], false), millis(1_000));
    }

    #[test]
    fn the_reserve_covers_three_delays_beyond_the_overhead() {
        assert_eq!(hard_bound(1_000, 10, &[1, 11, 12], false), millis(980));
        assert_eq!(hard_bound(1_000, 25, &[1, 11, 12], false), millis(995));
        assert_eq!(hard_bound(1_000, 30, &[1, 11, 12], false), millis(1_000));
    }

    #[test]
    fn the_reserve_is_at_most_four_percent() {
        for time in [1, 10, 50, 90, 300, 1_000, 60_000] {
            for delay in [0, 5, 20, 100, 700, 100_000] {
                let hard = hard_bound(time, 0, &[delay], false);
                let reserve = millis(time).saturating_sub(hard);
                assert!(reserve <= millis(time) / 25, "{time} {delay}: {reserve:?}");
            }
        }
        assert_eq!(hard_bound(1_000, 0, &[500], false), millis(960));
    }

    #[test]
    fn a_fixed_time_is_never_shortened() {
        for time in [1, 50, 100, 300, 1_000] {
            assert_eq!(hard_bound(time, 10, &[time / 2], true), millis(time));
        }
    }

    #[test]
    fn the_time_before_the_search_is_no_delay() {
        let stalls = Stalls::new(millis(30));
        stalls.poll(millis(31));
        let bounds = Bounds { hard: Some(millis(90)), overhead: millis(10), ..Bounds::default() };
        assert_eq!(stalls.within(bounds, false), bounds);
    }

    #[test]
    fn after_a_ponder_hit_the_reserve_is_part_of_the_time_since_then() {
        let stalls = Stalls::new(Duration::ZERO);
        stalls.poll(millis(50));
        let from = millis(10_000);
        let bounds = Bounds { from, hard: Some(from + millis(100)), ..Bounds::default() };
        assert_eq!(stalls.within(bounds, false).hard, Some(from + millis(96)));
        assert_eq!(stalls.within(Bounds::default(), false), Bounds::default());
    }
}
