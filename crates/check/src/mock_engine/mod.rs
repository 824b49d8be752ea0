//! Checks of clients, GUIs or match runners, with a mock engine.
//!
//! ```text
//!  ClientSuite ──starts──> client ──starts──> this executable again, as a relay
//!       ^                                              │
//!       └──────────── one TCP connection ──────────────┘
//! ```
//! The client starts a relay that forwards its bytes. The mock engine behind it, [`script`], runs in
//! the checking process, so that all events have the same clock.

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
