//! Time management.

use std::{cell::Cell, time::Duration};

use super::root::Root;
use crate::{
    board::{Board, SearchMove},
    control::Bounds,
    score::Value,
};

/// Percentage of the time that may be used with pondering: about half of the ponder moves are hits.
const PONDER_FACTOR: u32 = 125;

/// Scales the optimum time by the stability of the search.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TimeManager {
    best: u16,
    /// Iterations without a change of the best move.
    stable: u32,
    /// The running average of the value.
    value: Option<Value>,
    /// The factor of the optimum time, in percent.
    factor: u32,
    /// The factor for pondering, in percent.
    pondering: u32,
    /// Whether to use started seconds.
    full_seconds: bool,
}

impl TimeManager {
    pub(crate) fn new(ponders: bool, full_seconds: bool) -> Self {
        let pondering = if ponders { PONDER_FACTOR } else { 100 };
        Self { best: 0, stable: 0, value: None, factor: 0, pondering, full_seconds }
    }

    /// Updates the factor after an iteration.
    pub(crate) fn update<B: Board>(&mut self, root: &Root<'_, B>) {
        let Some(best) = root.best() else { return };
        let share = best.nodes * 100 / root.search.nodes.max(1);
        self.take(best.mv.packed(), best.value, share);
    }

    /// `share` is the best move's percentage of all nodes.
    fn take(&mut self, best: u16, value: Value, share: u64) {
        self.stable = if self.best == best { self.stable + 1 } else { 0 };
        self.best = best;
        let stability = [165, 130, 110, 98, 92, 88, 85, 83, 80];
        let index = usize::try_from(self.stable).unwrap_or(usize::MAX).min(stability.len() - 1);
        let stability = stability.get(index).copied().unwrap_or(100);

        // A falling value needs more time.
        let fall = self.value.map_or(0, |before| before - value).clamp(-30, 90);
        let fall = u32::try_from(100 + fall * 2 / 3).unwrap_or(100);
        self.value = Some(self.value.map_or(value, |before| Value::midpoint(before, value)));

        // Effort on other moves means instability.
        let share = u32::try_from(share).unwrap_or(100);
        let doubt = 190 - share.min(100) * 12 / 10;

        self.factor = (stability * fall / 100 * doubt / 100).clamp(25, 250);
    }

    /// Whether to start no further iteration.
    pub(crate) fn should_stop_iterating(
        &self,
        elapsed: Duration,
        bounds: Bounds,
        only_move: bool,
    ) -> bool {
        let Some(soft) = bounds.soft else { return false };
        // A fixed time is used completely.
        let end = match bounds.hard {
            Some(hard) if soft < hard => {
                let share = self.share(soft, bounds);
                let share =
                    if self.full_seconds { rounded_up(share, bounds.overhead) } else { share };
                bounds.from.saturating_add(share).min(hard)
            }
            Some(_) | None => soft,
        };
        only_move || elapsed >= end
    }

    /// Whether to abort the iteration: after long pondering, the remaining optimum time hardly
    /// completes another one.
    pub(crate) fn should_abort(&self, elapsed: Duration, bounds: Bounds) -> bool {
        let (Some(soft), Some(hard)) = (bounds.soft, bounds.hard) else { return false };
        let share = self.share(soft, bounds);
        let has_pondered = soft < hard && !share.is_zero() && share <= bounds.from;
        has_pondered && elapsed >= bounds.from.saturating_add(share)
    }

    /// The scaled optimum time; zero before the first iteration.
    fn share(&self, soft: Duration, bounds: Bounds) -> Duration {
        soft.saturating_sub(bounds.from) * self.factor / 100 * self.pondering / 100
    }
}

/// The time until the end of a second, less the overhead of the answer.
fn rounded_up(time: Duration, overhead: Duration) -> Duration {
    let with_overhead = time.saturating_add(overhead);
    let started = with_overhead.as_secs() + u64::from(with_overhead.subsec_nanos() > 0);
    Duration::from_secs(started).saturating_sub(overhead)
}

/// Delays reserved: one each for the search, the writer and the client.
const RESERVED_DELAYS: u32 = 3;
/// The reserve is at most this fraction of the time of the search: four percent.
const MAX_RESERVE_DIVISOR: u32 = 25;

/// The longest scheduling delay of a search so far.
#[derive(Debug)]
pub(crate) struct SchedulingDelays {
    max: Cell<Duration>,
    polled: Cell<Duration>,
}

impl SchedulingDelays {
    pub(crate) const fn new(elapsed: Duration) -> Self {
        Self { max: Cell::new(Duration::ZERO), polled: Cell::new(elapsed) }
    }

    /// Records a poll of the clock.
    pub(crate) fn poll(&self, elapsed: Duration) {
        let gap = elapsed.saturating_sub(self.polled.replace(elapsed));
        self.max.set(self.max.get().max(gap));
    }

    /// Shortens the bounds by the reserve. The bounds of a fixed time (`movetime`) are kept.
    pub(crate) fn within(&self, bounds: Bounds, fixed_time: bool) -> Bounds {
        let Some(hard) = bounds.hard.filter(|_| !fixed_time) else { return bounds };
        let time = hard.saturating_sub(bounds.from);
        let wanted = (self.max.get() * RESERVED_DELAYS).saturating_sub(bounds.overhead);
        let hard = hard.saturating_sub(wanted.min(time / MAX_RESERVE_DIVISOR));
        Bounds { hard: Some(hard), soft: bounds.soft.map(|soft| soft.min(hard)), ..bounds }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The factor after iterations with these best moves, values and shares.
    fn factor(iterations: &[(u16, Value, u64)]) -> u32 {
        let mut timeman = TimeManager::new(false, false);
        for &(best, value, share) in iterations {
            timeman.take(best, value, share);
        }
        timeman.factor
    }

    #[test]
    fn a_best_move_that_stays_needs_less_time() {
        let factors: Vec<u32> = (1..12).map(|times| factor(&vec![(7, 20, 60); times])).collect();
        assert!(factors.is_sorted_by(|a, b| a >= b), "{factors:?}");
        assert!(factors.first() > factors.last(), "{factors:?}");
        let changing = factor(&[(7, 20, 60), (7, 20, 60), (7, 20, 60), (8, 20, 60)]);
        assert_eq!(Some(&changing), factors.first(), "another move resets the stability");
        assert!(factors.iter().all(|&factor| factor < 200), "{factors:?}");
    }

    #[test]
    fn a_value_that_falls_needs_more_time_and_one_that_rises_less() {
        let after = |value| factor(&[(7, 50, 60), (7, 50, 60), (7, value, 60)]);
        assert!(after(80) < after(50) && after(50) < after(20) && after(20) < after(-40));
        assert_eq!(after(-40), after(-20_000), "all is lost anyway");
    }

    #[test]
    fn nodes_for_other_moves_are_doubts() {
        let with = |share| factor(&[(7, 50, share), (7, 50, share)]);
        assert!(with(95) < with(60) && with(60) < with(20));
    }

    #[test]
    fn all_doubts_together_stretch_the_time_to_two_and_a_half_times_its_length() {
        assert_eq!(factor(&[(7, 50, 0), (8, -900, 0)]), 250);
    }

    #[test]
    fn time_on_the_clock_of_the_opponent_is_no_reason_to_think_longer() {
        let [from, soft, hard] = [10_000, 10_100, 10_400].map(Duration::from_millis);
        let bounds = Bounds { from, soft: Some(soft), hard: Some(hard), ..Bounds::default() };
        let timeman = TimeManager { factor: 150, ..TimeManager::new(false, false) };
        let should_stop_iterating =
            |millis| timeman.should_stop_iterating(Duration::from_millis(millis), bounds, false);
        assert_eq!([10_000, 10_149, 10_150].map(should_stop_iterating), [false, false, true]);
    }

    #[test]
    fn who_has_pondered_longer_than_it_may_think_breaks_off() {
        let timeman = TimeManager { factor: 150, ..TimeManager::new(false, false) };
        let should_abort = |from: u64, after: u64, timeman: TimeManager| {
            let [from, soft, hard] = [from, from + 100, from + 400].map(Duration::from_millis);
            let bounds = Bounds { from, soft: Some(soft), hard: Some(hard), ..Bounds::default() };
            timeman.should_abort(from + Duration::from_millis(after), bounds)
        };
        assert_eq!([149, 150].map(|after| should_abort(10_000, after, timeman)), [false, true]);
        assert!(!should_abort(149, 399, timeman), "it has hardly begun");
        assert!(!should_abort(0, 399, timeman), "it has not pondered");
        assert!(
            !should_abort(10_000, 399, TimeManager::new(false, false)),
            "nothing is known of any move"
        );
        let from = Duration::from_secs(10);
        let fixed = Some(from + Duration::from_millis(100));
        let bounds = Bounds { from, soft: fixed, hard: fixed, ..Bounds::default() };
        let last = from + Duration::from_millis(99);
        assert!(!TimeManager { factor: 25, ..timeman }.should_abort(last, bounds));
    }

    #[test]
    fn who_may_ponder_thinks_a_quarter_longer_but_no_longer_than_it_must() {
        let [soft, hard] = [100, 200].map(|millis| Some(Duration::from_millis(millis)));
        let ends = |ponders, factor, hard| {
            let timeman = TimeManager { factor, ..TimeManager::new(ponders, false) };
            let bounds = Bounds { soft, hard, ..Bounds::default() };
            (0..1000).find(|&time| {
                timeman.should_stop_iterating(Duration::from_millis(time), bounds, false)
            })
        };
        assert_eq!([false, true].map(|ponders| ends(ponders, 100, hard)), [Some(100), Some(125)]);
        assert_eq!(ends(true, 190, hard), Some(200));
        assert_eq!(ends(true, 100, soft), Some(100), "a fixed time stays what it is");
    }

    #[test]
    fn started_seconds_are_used_if_only_full_ones_count() {
        let timeman = TimeManager { factor: 100, ..TimeManager::new(false, true) };
        let end = |soft: u64, hard: u64| {
            let [soft, hard] = [soft, hard].map(|time| Some(millis(time)));
            let bounds = Bounds { soft, hard, overhead: millis(120), ..Bounds::default() };
            (0..10_000).find(|&time| timeman.should_stop_iterating(millis(time), bounds, false))
        };
        assert_eq!(end(300, 5_000), Some(880));
        assert_eq!(end(880, 5_000), Some(880));
        assert_eq!(end(881, 5_000), Some(1_880));
        assert_eq!(end(1_900, 2_500), Some(2_500), "the hard bound ends the search");
    }

    const fn millis(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    /// The hard bound of a search with this time and `overhead`, after polls at these times.
    fn hard_bound(time: u64, overhead: u64, polls: &[u64], fixed_time: bool) -> Duration {
        let delays = SchedulingDelays::new(Duration::ZERO);
        for &poll in polls {
            delays.poll(millis(poll));
        }
        let (time, overhead) = (millis(time), millis(overhead));
        let bounds = Bounds { soft: Some(time), hard: Some(time), overhead, ..Bounds::default() };
        let within = delays.within(bounds, fixed_time);
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
        let delays = SchedulingDelays::new(millis(30));
        delays.poll(millis(31));
        let bounds = Bounds { hard: Some(millis(90)), overhead: millis(10), ..Bounds::default() };
        assert_eq!(delays.within(bounds, false), bounds);
    }

    #[test]
    fn after_a_ponder_hit_the_reserve_is_part_of_the_time_since_then() {
        let delays = SchedulingDelays::new(Duration::ZERO);
        delays.poll(millis(50));
        let from = millis(10_000);
        let bounds = Bounds { from, hard: Some(from + millis(100)), ..Bounds::default() };
        assert_eq!(delays.within(bounds, false).hard, Some(from + millis(96)));
        assert_eq!(delays.within(Bounds::default(), false), Bounds::default());
    }
}
