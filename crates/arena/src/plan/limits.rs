//! Search limits and the notation of time controls.

use std::{error, fmt, str::FromStr, time::Duration};

use serde::{Deserialize, Serialize};

/// The limits of a search. All of them apply.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Limits {
    /// A clock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tc: Option<TimeControl>,
    /// Byoyomi in milliseconds: time per move after the main time, which does not accumulate.
    /// Without `tc` there is no main time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub byoyomi_ms: Option<u64>,
    /// Time per move, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub move_time_ms: Option<u64>,
    /// Nodes per move.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nodes: Option<u64>,
    /// Depth of each search, in plies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub depth: Option<u32>,
    /// Tolerated overrun of a clock, in milliseconds. The clock is then at zero.
    #[serde(default)]
    pub margin_ms: u64,
}

/// Main time for a game or for a number of moves, and an increment.
///
/// The notation is that of cutechess: `[moves/][minutes:]seconds[+increment]` with decimal seconds
/// and increments, such as `40/5:00`, `10+0.1` or `0.5`. An hourglass is `hg[minutes:]seconds`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct TimeControl {
    /// Number of moves per period, after which the time is added again; never 0.
    pub moves: Option<u32>,
    /// The main time.
    pub time: Duration,
    /// Time that is added after each move.
    pub increment: Duration,
    /// The time used for a move is added to the opponent's clock.
    pub hourglass: bool,
}

/// An invalid time control.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TimeControlError {
    /// The number of moves is not a positive integer.
    Moves(String),
    /// A time is not a decimal number with at most three decimals, or exceeds one year.
    Time(String),
    /// The time is 0.
    Zero,
    /// An hourglass has a number of moves or an increment.
    Hourglass,
}

const YEAR_MS: u64 = 365 * 24 * 3600 * 1000;

impl FromStr for TimeControl {
    type Err = TimeControlError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (moves, rest) = match text.split_once('/') {
            Some((moves, rest)) => {
                let number = moves.parse().ok().filter(|&moves| moves > 0);
                (Some(number.ok_or_else(|| TimeControlError::Moves(moves.to_owned()))?), rest)
            }
            None => (None, text),
        };
        let (hourglass, rest) = match rest.strip_prefix("hg") {
            Some(rest) => (true, rest),
            None => (false, rest),
        };
        let (time, increment) = match rest.split_once('+') {
            Some((time, increment)) => (time, seconds(increment)?),
            None => (rest, Duration::ZERO),
        };
        let (minutes, time) = match time.split_once(':') {
            Some((minutes, time)) => (seconds(minutes)?.saturating_mul(60), time),
            None => (Duration::ZERO, time),
        };
        let time = minutes + seconds(time)?;
        if time + increment == Duration::ZERO {
            return Err(TimeControlError::Zero);
        }
        if hourglass && (moves.is_some() || increment > Duration::ZERO) {
            return Err(TimeControlError::Hourglass);
        }
        Ok(Self { moves, time, increment, hourglass })
    }
}

/// Parses a decimal number of seconds without rounding.
fn seconds(text: &str) -> Result<Duration, TimeControlError> {
    let error = || TimeControlError::Time(text.to_owned());
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(whole) || !digits(fraction) || whole.len() + fraction.len() == 0 {
        return Err(error());
    }
    if fraction.len() > 3 {
        return Err(error());
    }
    let whole: u64 = if whole.is_empty() { 0 } else { whole.parse().map_err(|_| error())? };
    let fraction: u64 = format!("{fraction:0<3}").parse().map_err(|_| error())?;
    let millis = whole.checked_mul(1000).and_then(|whole| whole.checked_add(fraction));
    millis.filter(|&millis| millis <= YEAR_MS).map(Duration::from_millis).ok_or_else(error)
}

impl fmt::Display for TimeControl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(moves) = self.moves {
            write!(f, "{moves}/")?;
        }
        if self.hourglass {
            f.write_str("hg")?;
        }
        write!(f, "{}", self.time.as_secs_f64())?;
        if self.increment > Duration::ZERO {
            write!(f, "+{}", self.increment.as_secs_f64())?;
        }
        Ok(())
    }
}

impl TryFrom<String> for TimeControl {
    type Error = TimeControlError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<TimeControl> for String {
    fn from(control: TimeControl) -> Self {
        control.to_string()
    }
}

impl fmt::Display for TimeControlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Moves(text) => write!(f, "`{text}` is not a number of moves"),
            Self::Time(text) => write!(f, "`{text}` is not a number of seconds"),
            Self::Zero => f.write_str("the time control is 0"),
            Self::Hourglass => {
                f.write_str("an hourglass clock has no number of moves and no increment")
            }
        }
    }
}

impl error::Error for TimeControlError {}
