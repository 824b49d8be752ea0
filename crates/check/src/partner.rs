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

mod hear;
mod part;
mod probe;
mod run;
mod suite;
mod table;
mod wire;

use crate::check::Check;

pub use suite::ClientSuite;
pub use wire::serve_if_asked;

pub(crate) use probe::Probe;

/// All checks of clients, by area.
pub fn all() -> impl Iterator<Item = &'static Check> {
    table::AREAS.into_iter().flatten()
}
