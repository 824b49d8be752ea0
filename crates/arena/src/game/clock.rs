//! The clock of one side: time budgets, deadlines, and the clock arguments of `go`. It does not read the time: the
//! caller passes the duration of each move.

use std::time::Duration;

use readyok_protocol::{Clock, Clocks, Color, Dialect, Go, Millis};
use readyok_rules::{Game, Side};

use crate::plan::Limits;

/// The clock of one side, which adds the limits of an engine to a [`Clock`].
///
/// The time of one move:
/// ```text
///   go ────────── budget ───────────┬── margin ──┐
///                                   flag        deadline: an answer at least 1 ms later loses
/// ```
/// The budget is the remaining main time, including the increment of this move, plus the byoyomi; or the time per move
/// if that is less. In chess an increment is added after each move: the first move has none, unless there is no other
/// time. In shogi it is added before each move, like the clocks of USI (ShogiHome, floodgate); so does fastchess.
#[derive(Clone, Debug)]
pub struct PlayerClock {
    limits: Limits,
    /// The remaining time includes the increment of the next move.
    clock: Option<Clock>,
}

/// A loss on time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Overrun {
    /// Time beyond the budget.
    pub late: Duration,
}

impl PlayerClock {
    /// The clock at the start of a game.
    pub fn new(limits: Limits, game: Game) -> Self {
        let clock = limits.tc.map(|tc| {
            let has_increment = match game {
                Game::Chess | Game::Chess960 => tc.time.is_zero(),
                Game::Shogi => true,
            };
            let (time, increment) = (millis(tc.time), millis(tc.increment));
            let remaining = if has_increment { time.saturating_add(increment) } else { time };
            Clock { remaining, increment, moves_to_go: tc.moves, ..Clock::default() }
        });
        let byoyomi = limits.byoyomi_ms.map(|time| millis(Duration::from_millis(time)));
        let clock = clock.or_else(|| byoyomi.map(|_| Clock::default()));
        let clock = clock.map(|clock| Clock { byoyomi: byoyomi.unwrap_or(0), ..clock });
        Self { limits, clock }
    }

    /// Adds an increment before the first move in any game.
    #[must_use]
    pub fn with_first_increment(mut self) -> Self {
        if let Some((clock, tc)) = self.clock.as_mut().zip(self.limits.tc) {
            clock.remaining = clock.remaining.max(millis(tc.time.saturating_add(tc.increment)));
        }
        self
    }

    /// The time for the next move before the flag falls; `None` without a clock.
    pub fn budget(&self) -> Option<Duration> {
        let clock = self.clock.map(|clock| clock.budget());
        let move_time = self.limits.move_time_ms.map(Duration::from_millis);
        clock.into_iter().chain(move_time).min()
    }

    /// The deadline of the next move, relative to its start: budget plus margin. A move loses if its time in whole
    /// milliseconds exceeds it.
    pub fn deadline(&self) -> Option<Duration> {
        let margin = Duration::from_millis(self.limits.margin_ms);
        self.budget().map(|budget| budget.saturating_add(margin))
    }

    /// Subtracts the time of a move in whole milliseconds, truncated, as fastchess and cutechess do. UCI and USI transfer
    /// whole milliseconds, so an engine cannot plan with a fraction and does not lose by one. After an overrun within the
    /// margin the clock is at zero.
    ///
    /// # Errors
    /// The move exceeded its [`deadline`](Self::deadline).
    pub fn spend(&mut self, used: Duration) -> Result<(), Overrun> {
        let used = whole_millis(used);
        let budget = self.budget();
        let overrun = self.deadline().is_some_and(|deadline| deadline < used);
        if let Some(clock) = &mut self.clock {
            if overrun {
                clock.remaining = clock.remaining.saturating_sub(millis(used)).max(0);
            } else {
                let period = self.limits.tc.and_then(|tc| Some((millis(tc.time), tc.moves?)));
                clock.spend(millis(used), period);
            }
        }
        if overrun {
            return Err(Overrun { late: used.saturating_sub(budget.unwrap_or_default()) });
        }
        Ok(())
    }

    /// Whether the time of a move is added to the opponent's clock.
    pub fn is_hourglass(&self) -> bool {
        self.limits.tc.is_some_and(|tc| tc.hourglass)
    }

    /// Adds the time used by the opponent, in an hourglass.
    pub fn gain(&mut self, time: Duration) {
        let is_hourglass = self.is_hourglass();
        if let Some(clock) = self.clock.as_mut().filter(|_| is_hourglass) {
            clock.remaining = clock.remaining.saturating_add(millis(time));
        }
    }

    /// The remaining main time, including the increment of the next move but not the byoyomi; `None` without a game
    /// clock.
    pub fn left(&self) -> Option<Duration> {
        let remaining = self.clock?.remaining;
        Some(Duration::from_millis(u64::try_from(remaining).unwrap_or(0)))
    }
}

/// The `go` for the side to move.
///
/// UCI has no byoyomi, and USI has either byoyomi or increments. In UCI a byoyomi is sent as an increment that was added
/// already. In USI, if the mover has a byoyomi, increments are included in the remaining times only. An engine that
/// respects these values never loses on time, but it may assume that unused byoyomi accumulates.
pub fn go(mover: &PlayerClock, other: &PlayerClock, side: Side, dialect: Dialect) -> Go<'static> {
    Go {
        clocks: clocks(mover, other, side, dialect),
        depth: mover.limits.depth,
        nodes: mover.limits.nodes,
        move_time: mover.limits.move_time_ms.map(Duration::from_millis),
        ..Go::default()
    }
}

fn clocks(mover: &PlayerClock, other: &PlayerClock, side: Side, dialect: Dialect) -> Clocks {
    let Some(mine) = mover.clock else { return Clocks::default() };
    let has_byoyomi = dialect == Dialect::Usi && 0 < mine.byoyomi;
    let convert = |clock: Clock| {
        if has_byoyomi {
            return Clock { increment: 0, byoyomi: mine.byoyomi, ..clock };
        }
        Clock {
            remaining: clock.remaining.saturating_add(clock.byoyomi),
            increment: clock.increment.saturating_add(clock.byoyomi),
            byoyomi: 0,
            ..clock
        }
    };
    let mine = convert(mine);
    // `movestogo` applies to both clocks.
    let theirs = other.clock.map(|clock| Clock { moves_to_go: None, ..convert(clock) });
    let is_white = side.color_in(dialect) == Color::White;
    let (white, black) = match (is_white, theirs) {
        (true, theirs) => (mine, theirs.unwrap_or(mine)),
        (false, theirs) => (theirs.unwrap_or(mine), mine),
    };
    let mut clocks = Clocks::new(white, black);
    match (theirs, is_white) {
        (Some(_), _) => (),
        (None, true) => (clocks.black_time, clocks.black_increment) = (None, None),
        (None, false) => (clocks.white_time, clocks.white_increment) = (None, None),
    }
    clocks.in_convention(dialect.clock_convention())
}

/// The time truncated to whole milliseconds.
pub(super) fn whole_millis(time: Duration) -> Duration {
    Duration::from_millis(u64::try_from(time.as_millis()).unwrap_or(u64::MAX))
}

fn millis(time: Duration) -> Millis {
    Millis::try_from(time.as_millis()).unwrap_or(Millis::MAX)
}
