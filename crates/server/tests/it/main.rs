//! The tests of the server.
#![expect(clippy::expect_used, reason = "a failed precondition fails the test")]

mod analysis;
mod checks;
#[cfg(target_os = "linux")]
mod descendants;
mod engines;
mod guard;
mod jobs;
mod limits;
mod matches;
mod play;
mod records;
mod rematch;
mod reports;
mod saving;
mod support;
mod typescript;
