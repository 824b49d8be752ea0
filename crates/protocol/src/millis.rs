//! Durations as whole milliseconds, in messages and in JSON.

use core::time::Duration;

/// Milliseconds of a clock. Every other time is a [`Duration`].
///
/// Signed as in the protocols: a clock is negative if the flag has fallen and the game continues, or
/// in shogi after the increment is subtracted (see [`Convention`](crate::Convention)). [`Clock::budget`](crate::Clock::budget) returns the
/// time for a move as a [`Duration`].
pub type Millis = i64;

/// The maximum of a limit. Many engines read times as signed numbers.
pub(crate) const MAX_LIMIT: Duration = Duration::from_millis(Millis::MAX.cast_unsigned());

/// Rounds down, for clocks and elapsed time.
pub(crate) fn round_down(duration: Duration) -> Millis {
    Millis::try_from(duration.as_millis()).unwrap_or(Millis::MAX)
}

/// Rounds up, for limits: a short limit must not become zero.
pub(crate) fn round_up(duration: Duration) -> Millis {
    let is_whole = duration.subsec_nanos().is_multiple_of(1_000_000);
    round_down(duration).saturating_add(Millis::from(!is_whole))
}

/// Negative numbers become zero.
pub(crate) fn duration(millis: Millis) -> Duration {
    Duration::from_millis(u64::try_from(millis).unwrap_or(0))
}

/// Elapsed time in JSON.
#[cfg(feature = "serde")]
pub(crate) mod elapsed {
    use core::time::Duration;

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    #[expect(clippy::ref_option, reason = "serde passes a reference to the field")]
    pub(crate) fn serialize<S: Serializer>(
        time: &Option<Duration>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let millis = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        time.map(millis).serialize(serializer)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<Duration>, D::Error> {
        Ok(Option::<u64>::deserialize(deserializer)?.map(Duration::from_millis))
    }
}

/// A limit in JSON.
#[cfg(feature = "serde")]
pub(crate) mod limit {
    use core::time::Duration;

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use super::Millis;

    pub(crate) fn serialize<S: Serializer>(
        limit: &Duration,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        super::round_up(*limit).serialize(serializer)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Duration, D::Error> {
        Millis::deserialize(deserializer).map(super::duration)
    }
}

/// An optional limit in JSON.
#[cfg(feature = "serde")]
pub(crate) mod optional_limit {
    use core::time::Duration;

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use super::Millis;

    #[expect(clippy::ref_option, reason = "serde passes a reference to the field")]
    pub(crate) fn serialize<S: Serializer>(
        limit: &Option<Duration>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        limit.map(super::round_up).serialize(serializer)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<Duration>, D::Error> {
        Ok(Option::<Millis>::deserialize(deserializer)?.map(super::duration))
    }
}
