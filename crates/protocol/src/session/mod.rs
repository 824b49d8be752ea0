//! The two sides of a session, without I/O: lines and time come in, lines, events and
//! deadlines come out.
//!
//! Every method that may speak takes the text to append lines to. Nothing is buffered behind the
//! owner's back, and no session reads a clock.

pub mod client;
pub mod engine;

use core::time::Duration;

/// A point in time: how long after an origin of the owner's choice. It never runs backwards.
pub type Moment = Duration;
