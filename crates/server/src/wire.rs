//! The messages between the page and the server: plain data for JSON.
//!
//! `web/src/api/wire.ts` is made from here and committed; a test fails when it is stale.
//!
//! ```text
//!  POST /api/…                 upload, export, search: small JSON or files (see `http`)
//!  GET  /api/ws   tab ──── Request { id, command } ────────────> server
//!                 tab <─── ToTab::Answer | ToTab::Error (same id) ── server
//!                 tab <─── ToTab::Snapshot, then ToTab::Delta … for each topic subscribed
//! ```
//!
//! A tab subscribes to topics. Each subscription begins with a snapshot; numbered deltas follow it
//! without a gap. A tab that reads slowly gets a new snapshot instead of the deltas that it has
//! missed. A delta replaces what it names: fields that are absent stay as they are.
//!
//! Times are milliseconds. Moments are milliseconds since 1970-01-01 UTC. Scores are seen from the side to
//! move unless stated otherwise. "First" is the side that moves first in the game: White in chess,
//! Black (sente) in shogi.

mod analysis;
mod command;
mod engine;
mod error;
#[cfg(test)]
mod error_samples;
mod explorer;
mod format;
mod game;
mod library;
mod matches;
mod online;
mod queue;
mod training;
#[cfg(test)]
mod typescript;

pub use analysis::*;
pub use command::*;
pub use engine::*;
pub use error::*;
pub use explorer::*;
pub use format::*;
pub use game::*;
pub use library::*;
pub use matches::*;
pub use online::*;
pub use queue::*;
pub use training::*;
