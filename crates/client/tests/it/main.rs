//! Engines that misbehave in every known way, good engines in every way to reach one, and real
//! engines where they are installed.
#![expect(clippy::expect_used, reason = "a test that cannot go on has failed")]

mod asynchronous;
#[cfg(target_os = "linux")]
mod descendants;
mod ending;
mod flood;
#[cfg(unix)]
mod guard;
mod handshake;
mod matches;
mod real;
mod searching;
mod support;
mod transports;
mod unattended;
mod wire;
