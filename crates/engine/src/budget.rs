//! Time budget of a search.

use std::time::Duration;

use readyok_protocol::session::engine::SearchRequest;
use readyok_protocol::{Clock, Dialect, MateLimit, Millis, Root};

/// The time limits of a search, measured from `go`.
///
/// Iterations end after the soft limit: on average a search uses about one and a half of it. The soft limit of a clock is the
/// sum of two parts, and never most of the clock while moves are left:
/// - The remaining time divided by the moves until the next time control. If these are unknown, one thirtieth of the time,
///   scaled by the stage of the game: openings get less than later positions, where a single move often decides the game.
/// - Nearly half of the increment after the overhead, so that the clock keeps a reserve of some increments.
///
/// With byoyomi, each move after the main time has the whole period. If the value of a move is the logarithm of its time,
/// the main time is best spent at *e* times the period on a few moves. These are the first ones after
/// the opening, which gets a fraction of the period. A main time of many periods is planned as without byoyomi. If the clock
/// does not outlast the next move, it is used up.
///
/// A search may exceed the soft limit by a factor of four, with byoyomi two and a half.
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
/// Percentage of an increment in a share.
const INCREMENT_SHARE: u32 = 45;

/// The factor of the time by stage of the game, in percent.
struct StageFactor {
    start: u32,
    per_ten_plies: u32,
}

impl StageFactor {
    const MAX: u32 = 150;

    /// Measured in matches of Narikin, for chess and shogi.
    const fn of(request: &SearchRequest) -> Self {
        match (request.dialect, &request.position.root) {
            (Dialect::Uci, Root::StartPos | Root::Fen(_)) => Self { start: 60, per_ten_plies: 8 },
            (Dialect::Usi, _) | (_, Root::Sfen(_)) => Self { start: 40, per_ten_plies: 10 },
        }
    }

    fn at(&self, ply: u32) -> u32 {
        (self.start + self.per_ten_plies.saturating_mul(ply) / 10).min(Self::MAX)
    }
}

/// The plan of a main time with byoyomi, in percent of the period. A search uses about one and a half of it.
mod byoyomi {
    /// Moves of the opening.
    pub(super) const OPENING: u32 = 15;
    /// Moves after the opening: *e* divided by one and a half.
    pub(super) const LONG: u32 = 180;
    /// The plies in which the time grows.
    pub(super) const GROWTH: std::ops::Range<u32> = 30..40;
    /// Main time of more periods is planned as without byoyomi.
    pub(super) const PERIODS: u32 = 12;
}

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
            let (share, longest) = match duration(clock.byoyomi) {
                Duration::ZERO => shares(request, clock, available, overhead),
                period => shares_with_byoyomi(request, period, available),
            };
            limit(share, longest);
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

/// The soft and the hard limit on a clock without byoyomi.
fn shares(
    request: &SearchRequest,
    clock: Clock,
    available: Duration,
    overhead: Duration,
) -> (Duration, Duration) {
    let (moves, stage) = match clock.moves_to_go {
        Some(moves) => (moves.clamp(1, MOVES_PLANNED), 100),
        None => (MOVES_EXPECTED, StageFactor::of(request).at(game_ply(request))),
    };
    // An increment below the overhead cannot be used.
    let increment = duration(clock.increment).saturating_sub(overhead);
    let share = percent(available / moves, stage) + percent(increment, INCREMENT_SHARE);
    // The increment replaces a part of the used time, and the last move leaves time for delays.
    let most = available.saturating_mul(4) / 5;
    let max = match moves {
        1 => most,
        _ => (available.saturating_mul(2) / 5).max(increment.min(most)),
    };
    let longest = share.saturating_mul(MAX_SHARES).min(max);
    // Unused time of a clock is available for the next move.
    (share.min(longest.saturating_sub(MIN_BUDGET)), longest)
}

/// The soft and the hard limit on a clock with byoyomi.
fn shares_with_byoyomi(
    request: &SearchRequest,
    period: Duration,
    available: Duration,
) -> (Duration, Duration) {
    let ply = game_ply(request);
    let main = available.saturating_sub(period);
    let as_without =
        |main: Duration| percent(main / MOVES_EXPECTED, StageFactor::of(request).at(ply));
    let opening = percent(period, byoyomi::OPENING)
        .max(as_without(main.saturating_sub(period * byoyomi::PERIODS)));
    let long = percent(period, byoyomi::LONG).max(as_without(main));
    let grown = ply.clamp(byoyomi::GROWTH.start, byoyomi::GROWTH.end) - byoyomi::GROWTH.start;
    let share = opening
        + long.saturating_sub(opening) * grown / (byoyomi::GROWTH.end - byoyomi::GROWTH.start);
    // Byoyomi starts when the clock is empty: the rest of the clock would be lost.
    if main <= share.max(period) {
        return (available, available);
    }
    (share.min(available), (share.saturating_mul(5) / 2).min(available))
}

/// The number of plies since the start of the game, if the position states it.
fn game_ply(request: &SearchRequest) -> u32 {
    let number = |text: Option<&str>| text.and_then(|text| text.parse::<u32>().ok()).unwrap_or(1);
    let before = match &request.position.root {
        Root::StartPos => 0,
        Root::Fen(fen) => {
            let black = fen.fields().nth(1) == Some("b");
            number(fen.fields().nth(5)).saturating_sub(1).saturating_mul(2) + u32::from(black)
        }
        Root::Sfen(sfen) => number(sfen.fields().nth(3)).saturating_sub(1),
    };
    before.saturating_add(u32::try_from(request.position.moves.len()).unwrap_or(u32::MAX))
}

fn percent(time: Duration, percentage: u32) -> Duration {
    time.saturating_mul(percentage) / 100
}

fn duration(millis: Millis) -> Duration {
    Duration::from_millis(u64::try_from(millis).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use readyok_protocol::{Command, Position};

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
