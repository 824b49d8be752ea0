//! The clock of one side: what a move may use, what is left after it, when the flag falls, and what
//! the engine is told of it. It does not read the time; it is told how long a move took.

use std::time::Duration;

use readyok_protocol::{Clock as WireClock, Clocks, Convention, Dialect, Go, Millis};
use readyok_rules::{Game, Side};

use crate::plan::Limits;

/// The clock of one side.
///
/// Of one move:
/// ```text
///   go ────────── budget ───────────┬── margin ──┐
///                                   flag        deadline: an answer after it loses
/// ```
/// The budget is what is left of the main time with the increment of this move, and the byoyomi; or
/// the time for each move, if that is less. In chess an increment is added after each move, so that
/// the first move has none, unless there is no other time; in shogi it is added before it, as USI's
/// clocks are written (ShogiHome, floodgate), and so fastchess does.
#[derive(Clone, Debug)]
pub struct Clock {
    limits: Limits,
    /// What is left of the main time, with the increment of the move to come.
    main: Option<Duration>,
    /// Moves until the main time is added again.
    moves_to_go: Option<u32>,
}

/// A flag has fallen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Overrun {
    /// How much more than its budget the move took.
    pub late: Duration,
}

impl Clock {
    /// A clock at the start of a game.
    pub fn new(limits: Limits, game: Game) -> Self {
        let main = limits.tc.map(|tc| {
            let has_increment = match game {
                Game::Chess | Game::Chess960 => tc.time.is_zero(),
                Game::Shogi => true,
            };
            if has_increment { tc.time.saturating_add(tc.increment) } else { tc.time }
        });
        Self {
            limits,
            main: main.or_else(|| limits.byoyomi_ms.map(|_| Duration::ZERO)),
            moves_to_go: limits.tc.and_then(|tc| tc.moves),
        }
    }

    /// The same, with an increment before the first move in any game.
    #[must_use]
    pub fn with_first_increment(mut self) -> Self {
        self.main = self.main.map(|main| match self.limits.tc {
            Some(tc) => main.max(tc.time.saturating_add(tc.increment)),
            None => main,
        });
        self
    }

    /// What the move to come may use before the flag falls; none if no clock runs.
    pub fn budget(&self) -> Option<Duration> {
        let main = self.main.map(|main| main.saturating_add(self.byoyomi()));
        let move_time = self.limits.move_time_ms.map(Duration::from_millis);
        main.into_iter().chain(move_time).min()
    }

    /// When the move to come loses if it was not made, counted from its start: the budget and the
    /// margin.
    pub fn deadline(&self) -> Option<Duration> {
        let margin = Duration::from_millis(self.limits.margin_ms);
        self.budget().map(|budget| budget.saturating_add(margin))
    }

    /// Takes the time of a move off. What it overran within the margin is forgiven: the clock is
    /// at zero then.
    ///
    /// # Errors
    /// The move took longer than to its [`deadline`](Self::deadline).
    pub fn spend(&mut self, used: Duration) -> Result<(), Overrun> {
        let budget = self.budget();
        let overrun = self.deadline().is_some_and(|deadline| deadline < used);
        if let Some(main) = &mut self.main {
            *main = main.saturating_sub(used);
        }
        if overrun {
            return Err(Overrun { late: used.saturating_sub(budget.unwrap_or_default()) });
        }
        let Some((main, tc)) = self.main.as_mut().zip(self.limits.tc) else { return Ok(()) };
        *main = main.saturating_add(tc.increment);
        if let Some(left) = &mut self.moves_to_go {
            *left = left.saturating_sub(1);
            if *left == 0 {
                *main = main.saturating_add(tc.time);
                self.moves_to_go = tc.moves;
            }
        }
        Ok(())
    }

    /// Whether what a move takes is given to the other side.
    pub fn is_hourglass(&self) -> bool {
        self.limits.tc.is_some_and(|tc| tc.hourglass)
    }

    /// Adds what the other side has used, in an hourglass.
    pub fn gain(&mut self, time: Duration) {
        if self.is_hourglass() {
            self.main = self.main.map(|main| main.saturating_add(time));
        }
    }

    /// What is left of the main time, with the increment of the move to come; none without a
    /// clock for the game. Byoyomi is not in it.
    pub fn left(&self) -> Option<Duration> {
        self.main
    }

    fn byoyomi(&self) -> Duration {
        Duration::from_millis(self.limits.byoyomi_ms.unwrap_or(0))
    }

    fn on_the_wire(&self) -> Option<WireClock> {
        let increment = self.limits.tc.map_or(Duration::ZERO, |tc| tc.increment);
        self.main.map(|main| WireClock {
            remaining: millis(main),
            increment: millis(increment),
            byoyomi: millis(self.byoyomi()),
            moves_to_go: self.moves_to_go,
            convention: Convention::IncrementIncluded,
        })
    }
}

/// The `go` for the side to move.
///
/// A protocol cannot say everything: UCI knows no byoyomi, and USI no byoyomi beside increments.
/// UCI is told of a byoyomi as of an increment that was added already; USI, if the mover has a
/// byoyomi, is told of increments in the remaining times only. An engine that keeps to what it is
/// told never overruns, but it may believe that time can be saved which cannot.
pub fn go(mover: &Clock, other: &Clock, side: Side, dialect: Dialect) -> Go<'static> {
    Go {
        clocks: clocks(mover, other, side, dialect),
        depth: mover.limits.depth,
        nodes: mover.limits.nodes,
        move_time: mover.limits.move_time_ms.map(Duration::from_millis),
        ..Go::default()
    }
}

fn clocks(mover: &Clock, other: &Clock, side: Side, dialect: Dialect) -> Clocks {
    let Some(mine) = mover.on_the_wire() else { return Clocks::default() };
    let has_byoyomi = dialect == Dialect::Usi && 0 < mine.byoyomi;
    let told = |clock: WireClock| {
        if has_byoyomi {
            return WireClock { increment: 0, byoyomi: mine.byoyomi, ..clock };
        }
        WireClock {
            remaining: clock.remaining.saturating_add(clock.byoyomi),
            increment: clock.increment.saturating_add(clock.byoyomi),
            byoyomi: 0,
            ..clock
        }
    };
    let mine = told(mine);
    // The wire has one number of moves for both.
    let theirs = other.on_the_wire().map(|clock| WireClock { moves_to_go: None, ..told(clock) });
    let (white, black) = match (is_white(side, dialect), theirs) {
        (true, theirs) => (mine, theirs.unwrap_or(mine)),
        (false, theirs) => (theirs.unwrap_or(mine), mine),
    };
    let mut clocks = Clocks::new(white, black);
    match (theirs, is_white(side, dialect)) {
        (Some(_), _) => (),
        (None, true) => (clocks.black_time, clocks.black_increment) = (None, None),
        (None, false) => (clocks.white_time, clocks.white_increment) = (None, None),
    }
    clocks.in_convention(dialect.clock_convention())
}

/// Whether the wire calls a side white: the first in chess and its variants, the second in USI.
fn is_white(side: Side, dialect: Dialect) -> bool {
    match dialect {
        Dialect::Uci => side == Side::First,
        Dialect::Usi => side == Side::Second,
    }
}

fn millis(time: Duration) -> Millis {
    Millis::try_from(time.as_millis()).unwrap_or(Millis::MAX)
}
