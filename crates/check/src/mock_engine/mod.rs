//! The other end: whether a client, a GUI or a match runner, keeps to the protocols, and what it
//! survives.
//!
//! ```text
//!  ClientSuite ──starts──> client ──starts──> this program again, as a wire
//!       ^                                              │
//!       └──────────── one TCP connection ──────────────┘
//! ```
//! The client gets a program that passes its bytes on. The engine behind it, [`part`], is in the
//! program that judges: it plays its part by a script, and everything has one clock.

mod checks;
mod relay;
mod run;
mod script;
mod suite;

use crate::spec::Check;

pub use relay::serve_as_mock_engine;
pub use suite::ClientSuite;

pub(crate) use script::Probe;

/// All checks of clients, by area.
pub fn all() -> impl Iterator<Item = &'static Check> {
    checks::test_cases().map(|case| &case.check)
}
