//! Classes of time controls.

use super::{GameRecord, Tag};

/// Class of the time control, by the estimated duration of a player's game: base time plus 40 increments.
/// The limits are those of Lichess.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub enum Speed {
    /// Less than 3 minutes.
    Bullet,
    /// Less than 8 minutes.
    Blitz,
    /// Less than 25 minutes.
    Rapid,
    /// 25 minutes or more.
    Classical,
    /// A day or more for a move.
    Correspondence,
}

impl Speed {
    /// All classes, the fastest first.
    pub const ALL: [Self; 5] =
        [Self::Bullet, Self::Blitz, Self::Rapid, Self::Classical, Self::Correspondence];

    /// The name in lower case.
    pub fn name(self) -> &'static str {
        match self {
            Self::Bullet => "bullet",
            Self::Blitz => "blitz",
            Self::Rapid => "rapid",
            Self::Classical => "classical",
            Self::Correspondence => "correspondence",
        }
    }

    /// From the header `TimeControl` of PGN: `300+3`, `40/7200:3600`, `1/86400`.
    pub fn of_time_control(text: &str) -> Option<Self> {
        let first = text.split(':').next().unwrap_or_default();
        let (moves, time) = first.split_once('/').unwrap_or(("", first));
        let (base, increment) = time.split_once('+').unwrap_or((time, "0"));
        let number =
            |text: &str| text.trim().parse::<f64>().ok().filter(|number| number.is_finite());
        let (base, increment) = (number(base)?, number(increment)?);
        let is_daily = moves.trim() == "1" && base >= 86_400.0;
        Some(if is_daily { Self::Correspondence } else { Self::of(base, increment) })
    }

    /// From base time and increment in seconds.
    pub fn of(base: f64, increment: f64) -> Self {
        match 40.0f64.mul_add(increment, base) {
            it if it < 180.0 => Self::Bullet,
            it if it < 480.0 => Self::Blitz,
            it if it < 1500.0 => Self::Rapid,
            it if it < 86_400.0 => Self::Classical,
            _ => Self::Correspondence,
        }
    }
}

impl GameRecord {
    /// The class of the time control, if one is recorded.
    pub fn speed(&self) -> Option<Speed> {
        Speed::of_time_control(self.header(Tag::TimeControl)?)
    }
}

#[cfg(test)]
mod tests {
    use super::Speed;

    #[test]
    fn speeds_have_the_limits_of_lichess() {
        assert_eq!(Speed::of(60.0, 0.0), Speed::Bullet);
        assert_eq!(Speed::of(180.0, 2.0), Speed::Blitz);
        assert_eq!(Speed::of(600.0, 0.0), Speed::Rapid);
        assert_eq!(Speed::of(1800.0, 20.0), Speed::Classical);
        assert_eq!(Speed::of_time_control("300+3"), Some(Speed::Blitz));
        assert_eq!(Speed::of_time_control("40/7200:3600"), Some(Speed::Classical));
        assert_eq!(Speed::of_time_control("1/86400"), Some(Speed::Correspondence));
        assert_eq!(Speed::of_time_control("-"), None);
    }
}
