//! Clocks: remaining time, increment and byoyomi.

use core::time::Duration;

use crate::dialect::Dialect;
use crate::parser;
use crate::parser::{Millis, round_down};
use crate::serializer::WriteError;

/// The side that a clock belongs to, as in `wtime` and `btime`.
///
/// Chess starts with White, shogi with Black (sente).
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Color {
    /// First to move in chess, second in shogi.
    White,
    /// First to move in shogi, second in chess.
    Black,
}

impl Color {
    /// The other side.
    #[must_use]
    pub const fn other(self) -> Self {
        match self {
            Self::White => Self::Black,
            Self::Black => Self::White,
        }
    }
}

/// Whether the remaining time contains the increment of the move to come.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Convention {
    /// Included: the increment was added when the last move ended. Chess GUIs.
    #[default]
    IncrementIncluded,
    /// Not included: the side to move may use both. Shogi GUIs.
    IncrementToCome,
}

impl Dialect {
    /// Whether `wtime` and `btime` contain the increment of the move to come.
    ///
    /// UCI GUIs add the increment when a move ends, so it is included. Shogi GUIs send the time
    /// before it is added (ShogiHome, Shogidokoro).
    pub const fn clock_convention(self) -> Convention {
        match self {
            Self::Uci => Convention::IncrementIncluded,
            Self::Usi => Convention::IncrementToCome,
        }
    }

    /// The minimum for `wtime` and `btime`. With a clock of zero or less, some chess engines search
    /// forever or exit; for shogi engines zero means byoyomi.
    pub const fn min_clock(self) -> Millis {
        match self {
            Self::Uci => 1,
            Self::Usi => 0,
        }
    }
}

/// The clock of one side, as `go` sends it. A game adds its time control, and a runner the limits of an engine.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Clock {
    /// Remaining time. May be negative.
    pub remaining: Millis,
    /// Time added per move.
    pub increment: Millis,
    /// Time per move once `remaining` is used up (shogi).
    pub byoyomi: Millis,
    /// Moves until more time is added. `None`: the rest of the game.
    pub moves_to_go: Option<u32>,
    /// Whether `remaining` contains the increment.
    pub convention: Convention,
}

impl Clock {
    /// A clock without increment or byoyomi.
    pub fn sudden_death(remaining: Duration) -> Self {
        Self { remaining: round_down(remaining), ..Self::default() }
    }

    /// A Fischer clock whose remaining time contains the increment of the move to come.
    pub fn fischer(remaining: Duration, increment: Duration) -> Self {
        Self {
            remaining: round_down(remaining),
            increment: round_down(increment),
            ..Self::default()
        }
    }

    /// A shogi clock: when `remaining` is used up, each move may use `byoyomi`.
    pub fn byoyomi(remaining: Duration, byoyomi: Duration) -> Self {
        Self {
            remaining: round_down(remaining),
            byoyomi: round_down(byoyomi),
            convention: Convention::IncrementToCome,
            ..Self::default()
        }
    }

    /// The total time that the next move may use before the flag falls. Zero if it has fallen.
    ///
    /// ```
    /// use readyok_protocol::{Clock, Convention};
    /// let fischer = Clock { remaining: 2_000, increment: 5_000, ..Clock::default() };
    /// assert_eq!(fischer.budget().as_millis(), 2_000);
    /// let shogi = Clock { convention: Convention::IncrementToCome, ..fischer };
    /// assert_eq!(shogi.budget().as_millis(), 7_000);
    /// let byoyomi = Clock { remaining: 60_000, byoyomi: 10_000, ..Clock::default() };
    /// assert_eq!(byoyomi.budget().as_millis(), 70_000);
    /// ```
    pub fn budget(&self) -> Duration {
        let available = self.in_convention(Convention::IncrementIncluded).remaining;
        // After the main time is used up, only the byoyomi is left.
        let all = available.max(0).saturating_add(self.byoyomi.max(0));
        parser::duration(all)
    }

    /// Subtracts the time of a move, and adds the increment of the next one. `period` is the time and the number of
    /// moves of each period: the time is added after the last move of one. The remaining time must contain the
    /// increment.
    ///
    /// ```
    /// use readyok_protocol::Clock;
    /// let mut clock = Clock { remaining: 900, increment: 50, moves_to_go: Some(2), ..Clock::default() };
    /// clock.spend(100, Some((1000, 40)));
    /// assert_eq!((clock.remaining, clock.moves_to_go), (850, Some(1)));
    /// clock.spend(100, Some((1000, 40)));
    /// assert_eq!((clock.remaining, clock.moves_to_go), (1800, Some(40)));
    /// ```
    pub fn spend(&mut self, used: Millis, period: Option<(Millis, u32)>) {
        self.remaining = self.remaining.saturating_sub(used).max(0).saturating_add(self.increment);
        if let (Some(left), Some((time, moves))) = (&mut self.moves_to_go, period) {
            *left = left.saturating_sub(1);
            if *left == 0 {
                self.remaining = self.remaining.saturating_add(time);
                *left = moves;
            }
        }
    }

    /// The same clock in another convention.
    #[must_use]
    pub fn in_convention(mut self, convention: Convention) -> Self {
        self.remaining = match (self.convention, convention) {
            (Convention::IncrementToCome, Convention::IncrementIncluded) => {
                self.remaining.saturating_add(self.increment)
            }
            (Convention::IncrementIncluded, Convention::IncrementToCome) => {
                self.remaining.saturating_sub(self.increment)
            }
            _ => self.remaining,
        };
        self.convention = convention;
        self
    }
}

/// The clocks of `go` and `ponderhit`. Fields that were not sent are `None`.
///
/// The reader accepts every combination, the writer only those of the protocols. UCI has no byoyomi:
/// zero is not written, any other value is an error. USI has increments or byoyomi, never both
/// (ShogiHome, Shogidokoro): a zero one is not written, two nonzero ones are an error. If both are
/// zero, the byoyomi is written.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Clocks {
    /// White's remaining time: `wtime`.
    pub white_time: Option<Millis>,
    /// Black's remaining time: `btime`.
    pub black_time: Option<Millis>,
    /// White's increment: `winc`.
    pub white_increment: Option<Millis>,
    /// Black's increment: `binc`.
    pub black_increment: Option<Millis>,
    /// The byoyomi of both sides: `byoyomi` (USI).
    pub byoyomi: Option<Millis>,
    /// Moves until more time is added: `movestogo`.
    pub moves_to_go: Option<u32>,
    /// Whether the remaining times contain the increment.
    pub convention: Convention,
}

impl Clocks {
    /// The clocks of both sides.
    ///
    /// The protocols have only one `byoyomi` and one `movestogo`. If `white` and `black` differ, the
    /// larger byoyomi and the smaller number of moves are used.
    pub fn new(white: Clock, black: Clock) -> Self {
        let black = black.in_convention(white.convention);
        let any = |value: Millis| (value != 0).then_some(value);
        let increments = white.increment != 0 || black.increment != 0;
        Self {
            white_time: Some(white.remaining),
            black_time: Some(black.remaining),
            white_increment: increments.then_some(white.increment),
            black_increment: increments.then_some(black.increment),
            byoyomi: any(white.byoyomi.max(black.byoyomi)),
            moves_to_go: [white.moves_to_go, black.moves_to_go].into_iter().flatten().min(),
            convention: white.convention,
        }
    }

    /// Checks that the dialect can express these clocks.
    #[inline]
    pub(crate) fn check(&self, dialect: Dialect) -> Result<(), WriteError> {
        let has_byoyomi = self.byoyomi.is_some_and(|time| time != 0);
        match dialect {
            Dialect::Uci if has_byoyomi => Err(WriteError::NotInDialect { what: "`byoyomi`" }),
            Dialect::Usi if has_byoyomi && self.has_increments() => {
                Err(WriteError::NotInDialect { what: "byoyomi with increments" })
            }
            Dialect::Uci | Dialect::Usi => Ok(()),
        }
    }

    /// Whether a side has a nonzero increment.
    #[inline]
    pub(crate) fn has_increments(&self) -> bool {
        let has = |increment: Option<Millis>| increment.is_some_and(|time| time != 0);
        has(self.white_increment) || has(self.black_increment)
    }

    /// Whether no field was sent.
    pub fn is_empty(&self) -> bool {
        *self == Self { convention: self.convention, ..Self::default() }
    }

    /// The clock of one side. `None` if neither its time nor a byoyomi was sent.
    ///
    /// `movestogo 0` counts as no `movestogo`.
    pub fn of(&self, color: Color) -> Option<Clock> {
        let (remaining, increment) = match color {
            Color::White => (self.white_time, self.white_increment),
            Color::Black => (self.black_time, self.black_increment),
        };
        remaining.or(self.byoyomi)?;
        Some(Clock {
            remaining: remaining.unwrap_or(0),
            increment: increment.unwrap_or(0),
            byoyomi: self.byoyomi.unwrap_or(0),
            moves_to_go: self.moves_to_go.filter(|&moves| 0 < moves),
            convention: self.convention,
        })
    }

    /// The same clocks in another convention.
    #[must_use]
    pub fn in_convention(mut self, convention: Convention) -> Self {
        if self.convention == convention {
            return self;
        }
        for (time, increment) in [
            (&mut self.white_time, self.white_increment),
            (&mut self.black_time, self.black_increment),
        ] {
            let clock = Clock {
                remaining: time.unwrap_or(0),
                increment: increment.unwrap_or(0),
                convention: self.convention,
                ..Clock::default()
            };
            *time = time.map(|_| clock.in_convention(convention).remaining);
        }
        self.convention = convention;
        self
    }
}
