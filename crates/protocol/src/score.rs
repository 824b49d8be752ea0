//! Scores of positions: totally ordered, from the side that is to move.

use core::cmp::Ordering;
use core::fmt;
#[cfg(feature = "ts")]
use std::string::{String, ToString as _};

use crate::dialect::{Dialect, MateUnit};
use crate::tokenizer::Integer;

/// What a position is worth for the side to move.
///
/// Scores are totally ordered: mated now < mated in n < mated, length unknown < centipawns <
/// mate, length unknown < mate in n < mate given; and being mated later is better, mating sooner
/// is better. Distances are in plies, whatever the dialect counts on the wire.
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
    /// The side to move is mated: `mate 0` or `mate -0`.
    Mated,
    /// The side to move will be mated: `mate -3`.
    MatedIn {
        /// Plies until the mate, at least 1.
        plies: u32,
    },
    /// The side to move will be mated, nobody knows when: `mate -` (USI).
    MatedSomeday,
    /// Hundredths of a pawn: `cp 25`.
    Cp(i32),
    /// The side to move will mate, nobody knows when: `mate +` (USI).
    MateSomeday,
    /// The side to move will mate: `mate 3`.
    MateIn {
        /// Plies until the mate, at least 1.
        plies: u32,
    },
    /// The other side is mated already: `mate +0`.
    MateGiven,
}

/// How exact a score is.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub enum Bound {
    /// The score itself.
    #[default]
    Exact,
    /// The true score is this or higher: `lowerbound`.
    Lower,
    /// The true score is this or lower: `upperbound`.
    Upper,
}

/// The chances of the side to move, in thousandths: `wdl 10 980 10`.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct Wdl {
    /// Of winning.
    pub win: u16,
    /// Of drawing.
    pub draw: u16,
    /// Of losing.
    pub loss: u16,
}

impl Score {
    /// Reads the token after `mate`. `None` if it is no number and neither `+` nor `-`.
    pub fn from_mate_token(token: &str, dialect: Dialect) -> Option<Self> {
        match token {
            "+" => return Some(Self::MateSomeday),
            "-" => return Some(Self::MatedSomeday),
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

    /// The token that stands after `mate` in this dialect. `None` for centipawns.
    pub(crate) fn mate_number(self, dialect: Dialect) -> Option<(&'static str, Option<u32>)> {
        let count = |plies: u32| match dialect.mate_unit() {
            MateUnit::Moves => plies.div_ceil(2),
            MateUnit::Plies => plies,
        };
        Some(match self {
            // As engines of UCI write it. To GUIs of shogi a zero without a sign is a win.
            Self::Mated if dialect.mate_unit() == MateUnit::Moves => ("", Some(0)),
            Self::Mated => ("-", Some(0)),
            Self::MatedIn { plies } => ("-", Some(count(plies))),
            Self::MatedSomeday => ("-", None),
            Self::Cp(_) => return None,
            Self::MateSomeday => ("+", None),
            Self::MateIn { plies } if plies != 0 => ("", Some(count(plies))),
            Self::MateIn { .. } | Self::MateGiven => ("+", Some(0)),
        })
    }

    /// The same score as the other side sees it.
    #[must_use]
    pub fn negated(self) -> Self {
        match self {
            Self::Mated => Self::MateGiven,
            Self::MatedIn { plies } => Self::MateIn { plies },
            Self::MatedSomeday => Self::MateSomeday,
            Self::Cp(cp) => Self::Cp(cp.saturating_neg()),
            Self::MateSomeday => Self::MatedSomeday,
            Self::MateIn { plies } => Self::MatedIn { plies },
            Self::MateGiven => Self::Mated,
        }
    }

    /// Whether one of the sides mates.
    pub fn is_mate(self) -> bool {
        !matches!(self, Self::Cp(_))
    }

    /// Whether the side to move mates.
    pub fn is_mating(self) -> bool {
        matches!(self, Self::MateSomeday | Self::MateIn { .. } | Self::MateGiven)
    }

    /// Whether the side to move is mated.
    pub fn is_mated(self) -> bool {
        matches!(self, Self::MatedSomeday | Self::MatedIn { .. } | Self::Mated)
    }

    /// Plies until the mate. `None` for centipawns and a mate of unknown length.
    pub fn mate_plies(self) -> Option<u32> {
        match self {
            Self::Mated | Self::MateGiven => Some(0),
            Self::MatedIn { plies } | Self::MateIn { plies } => Some(plies),
            Self::MatedSomeday | Self::MateSomeday | Self::Cp(_) => None,
        }
    }

    /// A mate by the side to move (`mating`) or by the other side, with its distance in plies if known.
    pub fn mate(mating: bool, plies: Option<u32>) -> Self {
        match (mating, plies) {
            (true, Some(0)) => Self::MateGiven,
            (true, Some(plies)) => Self::MateIn { plies },
            (true, None) => Self::MateSomeday,
            (false, Some(0)) => Self::Mated,
            (false, Some(plies)) => Self::MatedIn { plies },
            (false, None) => Self::MatedSomeday,
        }
    }

    /// The rank of the kind, and the order within it.
    fn order(self) -> (u8, i64) {
        match self {
            Self::Mated => (0, 0),
            Self::MatedIn { plies } => (1, plies.into()),
            Self::MatedSomeday => (2, 0),
            Self::Cp(cp) => (3, cp.into()),
            Self::MateSomeday => (4, 0),
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
    /// The keywords. Empty for an exact score.
    pub const fn keyword(self) -> &'static str {
        match self {
            Self::Exact => "",
            Self::Lower => "lowerbound",
            Self::Upper => "upperbound",
        }
    }
}

impl fmt::Display for Score {
    /// For people: `+0.25`, `#3` (moves until the mate), `#-0`, `#+?`.
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
