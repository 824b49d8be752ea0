//! The two sides of a session, without I/O. Input: lines and the time. Output: lines, events and
//! deadlines.
//!
//! Every method that may send appends lines to its parameter `out`. Nothing is buffered internally, and
//! no session reads a clock.

pub mod client;
pub mod engine;

use core::time::Duration;

/// A point in time, relative to an origin chosen by the owner. Monotonic.
pub type SessionTime = Duration;
