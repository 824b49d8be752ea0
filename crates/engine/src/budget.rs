//! Time budget of a search.

use std::time::Duration;

use readyok_protocol::session::engine::SearchRequest;
use readyok_protocol::{MateLimit, Millis};

/// The time limits of a search, measured from `go`.
///
/// The share of a search is the sum of three parts:
/// - the remaining time divided by the moves until the next time control (30 if unknown),
/// - three quarters of the increment after the overhead,
/// - the byoyomi, which would be lost otherwise.
///
/// A search may exceed its share by a factor of four, but never uses most of the clock
/// while moves are left. If the clock does not outlast the share and the byoyomi, it is used up.
///
/// If both limits are equal, an early move saves no time.
#[doc(alias("movetime", "timeout", "wtime", "byoyomi"))]
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct Budget {
    /// Start of the time: zero, or the time of the ponder hit.
    pub from: Duration,
    /// Start no new iteration after this time. `None`: no time limit.
    pub soft: Option<Duration>,
    /// The runtime stops the search at this time. `None`: no time limit.
    pub hard: Option<Duration>,
    /// Reserve for sending the move, already subtracted from the limits.
    pub overhead: Duration,
}

/// The expected and the maximum number of moves in the calculation, and the maximum number of shares
/// per move.
const MOVES_EXPECTED: u32 = 30;
const MOVES_PLANNED: u32 = 50;
const MAX_SHARES: u32 = 4;

/// Minimum, because even an immediate move requires time.
const MIN_BUDGET: Duration = Duration::from_millis(1);

impl Budget {
    /// The budget of a request. `move_overhead` is the time lost per move outside of the search.
    pub fn new(request: &SearchRequest, move_overhead: Duration) -> Self {
        Self::with_clock_overhead(request, move_overhead, move_overhead)
    }

    /// A budget with a separate overhead for clocks. A fixed time (`movetime`) is shortened by
    /// `move_overhead` only.
    pub(crate) fn with_clock_overhead(
        request: &SearchRequest,
        move_overhead: Duration,
        clock_overhead: Duration,
    ) -> Self {
        let go = &request.go;
        if go.infinite {
            return Self::default();
        }
        let mate = match go.mate {
            Some(MateLimit::Time(time)) => Some(time),
            Some(MateLimit::Moves(_) | MateLimit::Infinite) | None => None,
        };
        let left = |time: Duration, overhead| time.saturating_sub(overhead).max(MIN_BUDGET);
        let (mut soft, mut hard) = (None, None);
        let mut limit = |new_soft: Duration, new_hard: Duration| {
            soft = Some(soft.map_or(new_soft, |old: Duration| old.min(new_soft)).max(MIN_BUDGET));
            hard = Some(hard.map_or(new_hard, |old: Duration| old.min(new_hard)).max(MIN_BUDGET));
        };
        // A random time may be as short as the time itself.
        for time in [go.move_time, go.random_time, mate].into_iter().flatten() {
            let time = left(time, move_overhead);
            limit(time, time);
        }
        let mut overhead = move_overhead;
        if let Some(clock) = request.clock() {
            overhead = clock_overhead;
            let available = left(clock.budget(), overhead);
            let byoyomi = duration(clock.byoyomi);
            let moves = clock.moves_to_go.unwrap_or(MOVES_EXPECTED).clamp(1, MOVES_PLANNED);
            let main = available.saturating_sub(byoyomi);
            // An increment below the overhead cannot be used.
            let increment = duration(clock.increment).saturating_sub(overhead);
            let share = main / moves + increment.saturating_mul(3) / 4;
            // The increment replaces a part of the used time.
            let max = match moves {
                1 => main,
                _ => (main.saturating_mul(2) / 5).max(increment.min(main.saturating_mul(4) / 5)),
            };
            let longest = share.saturating_mul(MAX_SHARES).min(max);
            // Unused time of a clock is available for the next move.
            let share = share.min(longest.saturating_sub(MIN_BUDGET));
            // Byoyomi starts when the clock is empty: the rest of the clock would be lost.
            if 0 < clock.byoyomi && main <= share.saturating_add(byoyomi) {
                limit(available, available);
            } else {
                limit(
                    share.saturating_add(byoyomi).min(available),
                    longest.saturating_add(byoyomi).min(available),
                );
            }
        }
        Self { from: Duration::ZERO, soft, hard, overhead }
    }

    /// The same budget for a search whose time starts later, at `wait`.
    pub(crate) fn later_by(self, wait: Duration) -> Self {
        let shift = |time: Duration| time.saturating_add(wait);
        Self {
            from: shift(self.from),
            soft: self.soft.map(shift),
            hard: self.hard.map(shift),
            overhead: self.overhead,
        }
    }
}

fn duration(millis: Millis) -> Duration {
    Duration::from_millis(u64::try_from(millis).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use readyok_protocol::{Command, Dialect, Position};

    use super::*;

    const fn millis(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    /// The hard limit with a move overhead of 10 ms and a clock overhead of 200 ms.
    fn hard_bound(dialect: Dialect, go: &str) -> Option<Duration> {
        let Command::Go(go) = Command::read(go, dialect).value.into_owned() else { panic!("{go}") };
        let request = SearchRequest::new(dialect, Position::default(), go);
        Budget::with_clock_overhead(&request, millis(10), millis(200)).hard
    }

    #[test]
    fn clock_losses_do_not_shorten_movetime() {
        use Dialect::{Uci, Usi};
        for (time, hard) in [(50, 40), (100, 90), (300, 290), (1000, 990)] {
            assert_eq!(hard_bound(Uci, &format!("go movetime {time}")), Some(millis(hard)));
            assert_eq!(hard_bound(Usi, &format!("go rtime {time}")), Some(millis(hard)));
            assert_eq!(hard_bound(Usi, &format!("go mate {time}")), Some(millis(hard)));
        }
        let byoyomi = "go btime 0 wtime 0 byoyomi 1000";
        assert_eq!(hard_bound(Usi, byoyomi), Some(millis(800)));
        assert_eq!(hard_bound(Usi, &format!("{byoyomi} movetime 500")), Some(millis(490)));
    }
}
