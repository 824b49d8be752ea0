//! The only place that reads the clocks: the monotonic one for the games, the calendar for records.

use std::time::{Instant, SystemTime, UNIX_EPOCH};

#[expect(clippy::disallowed_methods, reason = "who plays a game is where time comes from")]
pub(super) fn now() -> Instant {
    Instant::now()
}

/// Milliseconds since 1970 (UTC).
pub(super) fn unix_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}
