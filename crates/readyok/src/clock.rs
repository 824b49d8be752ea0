//! The only place where this crate reads the clock.

use std::time::Instant;

#[expect(clippy::disallowed_methods, reason = "the one place of this crate that reads the clock")]
pub(crate) fn now() -> Instant {
    Instant::now()
}
