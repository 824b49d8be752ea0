//! Tests with misbehaving engines, good engines over all transports, and installed real engines.
#![expect(clippy::expect_used, reason = "a failed step must fail the test")]

mod asynchronous;
#[cfg(target_os = "linux")]
mod descendants;
mod ending;
mod flood;
#[cfg(unix)]
mod guard;
mod handshake;
#[cfg(windows)]
mod jobs;
mod matches;
mod real;
mod searching;
mod support;
mod transports;
mod unattended;
mod wire;
