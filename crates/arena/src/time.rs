//! The clocks: monotonic time for games, calendar time for records.

use std::time::{Instant, SystemTime, UNIX_EPOCH};

#[expect(clippy::disallowed_methods, reason = "time is read only here")]
pub(crate) fn now() -> Instant {
    Instant::now()
}

/// Milliseconds since 1970 (UTC).
pub(crate) fn unix_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}
