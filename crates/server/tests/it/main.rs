//! The tests of the server.
#![expect(clippy::expect_used, reason = "a failed precondition fails the test")]

mod analysis;
#[cfg(target_os = "linux")]
mod descendants;
mod drafts;
mod engines;
#[cfg_attr(
    windows,
    expect(dead_code, unused_imports, reason = "engines of some tests are shell scripts")
)]
mod guard;
mod library;
mod limits;
#[cfg_attr(
    windows,
    expect(dead_code, unused_imports, reason = "engines of some tests are shell scripts")
)]
mod matches;
mod online;
mod play;
mod queue;
mod queue_roles;
mod records;
mod references;
mod repertoires;
mod saving;
mod studies;
mod support;
mod training;
mod uploads;
