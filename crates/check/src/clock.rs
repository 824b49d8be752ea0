//! The only place of this crate that reads the clock.

use std::time::Instant;

#[expect(clippy::disallowed_methods, reason = "a check of an engine is where time comes from")]
pub(crate) fn now() -> Instant {
    Instant::now()
}
