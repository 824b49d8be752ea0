//! How long a search may take.

use std::time::Duration;

use readyok_protocol::session::engine::SearchRequest;
use readyok_protocol::{MateLimit, Millis};

/// How long a search may take, on the clock that begins with `go`.
///
/// Of a clock, a search gets an equal share for each move until more time is added, of which
/// there are 30 if nothing else is known, and three quarters of the increment that is left after
/// the overhead; and all of the byoyomi, which would be lost otherwise. It may overrun its share by
/// a factor of four, but while there are moves to come it never takes most of the clock. A clock that
/// would not outlast this move's share and byoyomi is used up with it.
///
/// Where both limits are the same, nothing is saved by an earlier move.
#[doc(alias("movetime", "timeout", "wtime", "byoyomi"))]
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Budget {
    /// When the time began to count: zero, or the time of the ponder hit.
    pub from: Duration,
    /// Begin nothing new after this. `None` if time is no limit.
    pub soft: Option<Duration>,
    /// The runtime stops the search after this. `None` if time is no limit.
    pub hard: Option<Duration>,
    /// What the bounds leave for the way of the move to the client.
    pub overhead: Duration,
}

/// How many moves a game is expected to last, at most how many are planned for, and how many
/// shares one move may take.
const MOVES_EXPECTED: u32 = 30;
const MOVES_PLANNED: u32 = 50;
const MOST_SHARES: u32 = 4;

/// An engine that is asked to move immediately still has to find a move.
const LEAST: Duration = Duration::from_millis(1);

impl Budget {
    /// The budget for a request. `move_overhead` is the time lost on the way of each move.
    pub fn new(request: &SearchRequest, move_overhead: Duration) -> Self {
        Self::with_clock_overhead(request, move_overhead, move_overhead)
    }

    /// A budget with another overhead for clocks. A fixed time (`movetime`) is shortened by
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
        let left = |time: Duration, overhead| time.saturating_sub(overhead).max(LEAST);
        let (mut soft, mut hard) = (None, None);
        let mut limit = |new_soft: Duration, new_hard: Duration| {
            soft = Some(soft.map_or(new_soft, |old: Duration| old.min(new_soft)).max(LEAST));
            hard = Some(hard.map_or(new_hard, |old: Duration| old.min(new_hard)).max(LEAST));
        };
        // What is drawn by lot may be as short as the time itself.
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
            // An increment that the overhead eats up cannot be spent.
            let increment = duration(clock.increment).saturating_sub(overhead);
            let share = main / moves + increment.saturating_mul(3) / 4;
            // What comes back with the next increment may be spent more freely.
            let most = match moves {
                1 => main,
                _ => (main.saturating_mul(2) / 5).max(increment.min(main.saturating_mul(4) / 5)),
            };
            let longest = share.saturating_mul(MOST_SHARES).min(most);
            // What is not used of a clock is there for the next move.
            let share = share.min(longest.saturating_sub(LEAST));
            // A byoyomi begins when the clock is empty: what it would leave of the byoyomi is lost.
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

    /// The same budget for a search whose time begins to count only after so long.
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

    /// The hard bound with a move overhead of 10 ms and a loss of 200 ms on clocks.
    fn hard_bound(dialect: Dialect, go: &str) -> Option<Duration> {
        let Command::Go(go) = Command::read(go, dialect).value.into_owned() else { panic!("{go}") };
        let request = SearchRequest { dialect, position: Position::default(), go };
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
