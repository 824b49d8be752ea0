//! Scores of positions, totally ordered, from the point of view of the side to move.

use core::cmp::Ordering;
use core::fmt;
#[cfg(feature = "ts")]
use std::string::{String, ToString as _};

use crate::dialect::{Dialect, MateUnit};
use crate::tokenizer::Integer;

/// The score of a position from the point of view of the side to move.
///
/// Order: mated now < mated in n < mated, distance unknown < centipawns < mate, distance unknown <
/// mate in n < mate given. A later loss is better, a sooner win is better. Distances are in plies in
/// both dialects.
///
/// ```
/// use readyok_protocol::Score;
/// assert!(Score::Mated < Score::MatedIn { plies: 2 });
/// assert!(Score::MatedIn { plies: 2 } < Score::MatedIn { plies: 8 });
/// assert!(Score::MatedIn { plies: 8 } < Score::Cp(-30_000));
/// assert!(Score::Cp(30_000) < Score::MateIn { plies: 9 });
/// assert!(Score::MateIn { plies: 9 } < Score::MateIn { plies: 1 });
/// assert!(Score::MateIn { plies: 1 } < Score::MateGiven);
/// ```
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(from = "Json", into = "Json"))]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
#[cfg_attr(feature = "ts", ts(as = "Json"))]
pub enum Score {
    /// The side to move is checkmated: `mate 0` or `mate -0`.
    Mated,
    /// The side to move will be mated: `mate -3`.
    MatedIn {
        /// Plies until the mate, at least 1.
        plies: u32,
    },
    /// The side to move will be mated at an unknown distance: `mate -` (USI).
    MatedInUnknown,
    /// Centipawns: `cp 25`.
    Cp(i32),
    /// The side to move will mate at an unknown distance: `mate +` (USI).
    MateInUnknown,
    /// The side to move will mate: `mate 3`.
    MateIn {
        /// Plies until the mate, at least 1.
        plies: u32,
    },
    /// The other side is checkmated: `mate +0`.
    MateGiven,
}

/// Whether a score is exact or a bound.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub enum Bound {
    /// The exact score.
    #[default]
    Exact,
    /// The true score is this or higher: `lowerbound`.
    Lower,
    /// The true score is this or lower: `upperbound`.
    Upper,
}

/// Probabilities for the side to move in permille: `wdl 10 980 10`.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct Wdl {
    /// Win.
    pub win: u16,
    /// Draw.
    pub draw: u16,
    /// Loss.
    pub loss: u16,
}

impl Score {
    /// Reads the token after `mate`. `None` if it is neither a number nor `+` nor `-`.
    pub fn from_mate_token(token: &str, dialect: Dialect) -> Option<Self> {
        match token {
            "+" => return Some(Self::MateInUnknown),
            "-" => return Some(Self::MatedInUnknown),
            _ => (),
        }
        let number = Integer::read(token)?;
        let count = u32::try_from(number.magnitude).unwrap_or(u32::MAX);
        Some(match (count, number.negative, dialect.mate_unit()) {
            (0, false, _) if token.starts_with('+') => Self::MateGiven,
            (0, _, _) => Self::Mated,
            (_, true, MateUnit::Moves) => Self::MatedIn { plies: count.saturating_mul(2) },
            (_, true, MateUnit::Plies) => Self::MatedIn { plies: count },
            (_, false, MateUnit::Moves) => {
                Self::MateIn { plies: (count - 1).saturating_mul(2) | 1 }
            }
            (_, false, MateUnit::Plies) => Self::MateIn { plies: count },
        })
    }

    /// The token after `mate` in this dialect. `None` for centipawns.
    pub(crate) fn mate_number(self, dialect: Dialect) -> Option<(&'static str, Option<u32>)> {
        let count = |plies: u32| match dialect.mate_unit() {
            MateUnit::Moves => plies.div_ceil(2),
            MateUnit::Plies => plies,
        };
        Some(match self {
            // As written by UCI engines. Shogi GUIs read a zero without a sign as a win.
            Self::Mated if dialect.mate_unit() == MateUnit::Moves => ("", Some(0)),
            Self::Mated => ("-", Some(0)),
            Self::MatedIn { plies } => ("-", Some(count(plies))),
            Self::MatedInUnknown => ("-", None),
            Self::Cp(_) => return None,
            Self::MateInUnknown => ("+", None),
            Self::MateIn { plies } if plies != 0 => ("", Some(count(plies))),
            Self::MateIn { .. } | Self::MateGiven => ("+", Some(0)),
        })
    }

    /// The score from the point of view of the other side.
    #[must_use]
    pub fn negated(self) -> Self {
        match self {
            Self::Mated => Self::MateGiven,
            Self::MatedIn { plies } => Self::MateIn { plies },
            Self::MatedInUnknown => Self::MateInUnknown,
            Self::Cp(cp) => Self::Cp(cp.saturating_neg()),
            Self::MateInUnknown => Self::MatedInUnknown,
            Self::MateIn { plies } => Self::MatedIn { plies },
            Self::MateGiven => Self::Mated,
        }
    }

    /// The score from the point of view of `side`, if `turn` is the side to move. Sides can have any type: a color, a
    /// side of shogi, the number of a player.
    ///
    /// ```
    /// use readyok_protocol::{Color, Score};
    /// let score = Score::Cp(-35);
    /// assert_eq!(score.pov(Color::Black, Color::White), Score::Cp(35));
    /// assert_eq!(score.pov(Color::White, Color::White), score);
    /// ```
    #[must_use]
    pub fn pov<S: Copy + PartialEq>(self, turn: S, side: S) -> Self {
        if turn == side { self } else { self.negated() }
    }

    /// Whether the score is a mate for either side.
    pub fn is_mate(self) -> bool {
        !matches!(self, Self::Cp(_))
    }

    /// Whether the side to move mates.
    pub fn is_mating(self) -> bool {
        matches!(self, Self::MateInUnknown | Self::MateIn { .. } | Self::MateGiven)
    }

    /// Whether the side to move is mated.
    pub fn is_mated(self) -> bool {
        matches!(self, Self::MatedInUnknown | Self::MatedIn { .. } | Self::Mated)
    }

    /// Plies until the mate. `None` for centipawns and a mate at an unknown distance.
    pub fn mate_plies(self) -> Option<u32> {
        match self {
            Self::Mated | Self::MateGiven => Some(0),
            Self::MatedIn { plies } | Self::MateIn { plies } => Some(plies),
            Self::MatedInUnknown | Self::MateInUnknown | Self::Cp(_) => None,
        }
    }

    /// A mate by the side to move (`mating`) or by the other side. The distance is in plies.
    pub fn mate(mating: bool, plies: Option<u32>) -> Self {
        match (mating, plies) {
            (true, Some(0)) => Self::MateGiven,
            (true, Some(plies)) => Self::MateIn { plies },
            (true, None) => Self::MateInUnknown,
            (false, Some(0)) => Self::Mated,
            (false, Some(plies)) => Self::MatedIn { plies },
            (false, None) => Self::MatedInUnknown,
        }
    }

    /// The rank of the kind, and the order within the kind.
    fn order(self) -> (u8, i64) {
        match self {
            Self::Mated => (0, 0),
            Self::MatedIn { plies } => (1, plies.into()),
            Self::MatedInUnknown => (2, 0),
            Self::Cp(cp) => (3, cp.into()),
            Self::MateInUnknown => (4, 0),
            Self::MateIn { plies } => (5, -i64::from(plies)),
            Self::MateGiven => (6, 0),
        }
    }
}

/// The JSON of a score.
#[cfg(feature = "serde")]
#[derive(serde::Serialize, serde::Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
enum Json {
    Cp {
        /// Hundredths of a pawn.
        value: i32,
    },
    /// The side mates.
    Mate {
        /// 0 if mate is on the board, null if the distance is unknown.
        plies: Option<u32>,
    },
    /// The side is mated.
    Mated {
        /// 0 if mate is on the board, null if the distance is unknown.
        plies: Option<u32>,
    },
}

#[cfg(feature = "serde")]
impl From<Json> for Score {
    fn from(json: Json) -> Self {
        match json {
            Json::Cp { value } => Self::Cp(value),
            Json::Mate { plies } => Self::mate(true, plies),
            Json::Mated { plies } => Self::mate(false, plies),
        }
    }
}

#[cfg(feature = "serde")]
impl From<Score> for Json {
    fn from(score: Score) -> Self {
        match score {
            Score::Cp(value) => Self::Cp { value },
            mate if mate.is_mating() => Self::Mate { plies: mate.mate_plies() },
            mated => Self::Mated { plies: mated.mate_plies() },
        }
    }
}

impl Ord for Score {
    fn cmp(&self, other: &Self) -> Ordering {
        self.order().cmp(&other.order())
    }
}

impl PartialOrd for Score {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Bound {
    /// The keyword. Empty for an exact score.
    pub const fn keyword(self) -> &'static str {
        match self {
            Self::Exact => "",
            Self::Lower => "lowerbound",
            Self::Upper => "upperbound",
        }
    }
}

impl fmt::Display for Score {
    /// Human-readable: `+0.25`, `#3` (moves until the mate), `#-0`, `#+?`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cp(cp) => {
                let sign = if *cp < 0 { '-' } else { '+' };
                let cp = cp.unsigned_abs();
                write!(f, "{sign}{}.{:02}", cp / 100, cp % 100)
            }
            Self::Mated => f.write_str("#-0"),
            mate => match mate.mate_number(Dialect::Uci) {
                Some((sign, Some(count))) => write!(f, "#{sign}{count}"),
                Some((sign, None)) => write!(f, "#{sign}?"),
                None => Ok(()),
            },
        }
    }
}
