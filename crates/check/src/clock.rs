//! Access to the clock.

use std::time::Instant;

#[expect(clippy::disallowed_methods, reason = "the only use of the clock in this crate")]
pub(crate) fn now() -> Instant {
    Instant::now()
}
