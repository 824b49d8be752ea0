//! The tests of the server.
#![expect(clippy::expect_used, reason = "a failed precondition fails the test")]

mod analysis;
#[cfg(target_os = "linux")]
mod descendants;
mod engines;
mod guard;
mod library;
mod limits;
mod matches;
mod play;
mod records;
mod references;
mod saving;
mod support;
