//! The one place that reads the clocks.

use std::sync::OnceLock;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Milliseconds since 1970-01-01 UTC, as the wire has them; they never run backwards.
pub(crate) type Moment = u64;

struct Origin {
    instant: Instant,
    unix: Duration,
}

#[expect(clippy::disallowed_methods, reason = "this is where the clock is read")]
pub(crate) fn instant() -> Instant {
    Instant::now()
}

fn origin() -> &'static Origin {
    static ORIGIN: OnceLock<Origin> = OnceLock::new();
    ORIGIN.get_or_init(|| Origin {
        instant: instant(),
        // A clock before 1970 is as wrong as one at 1970.
        unix: SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default(),
    })
}

/// The time of an event.
fn moment(at: Instant) -> Moment {
    let origin = origin();
    let unix = origin.unix + at.saturating_duration_since(origin.instant);
    u64::try_from(unix.as_millis()).unwrap_or(u64::MAX)
}

/// The time now.
pub(crate) fn now() -> Moment {
    moment(instant())
}
