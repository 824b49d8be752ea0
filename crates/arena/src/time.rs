//! The only place that reads the clock.

use std::time::Instant;

#[expect(clippy::disallowed_methods, reason = "a match is where time comes from")]
pub(crate) fn now() -> Instant {
    Instant::now()
}
