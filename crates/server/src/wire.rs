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
mod game;
mod library;
mod matches;

use serde::{Deserialize, Serialize};
use ts_rs::TS;

pub use analysis::*;
pub use command::*;
pub use engine::*;
pub use error::*;
pub use game::*;
pub use library::*;
pub use matches::*;

/// One message from a tab over its WebSocket.
#[derive(Clone, Debug, Deserialize, TS)]
pub struct Request {
    /// Chosen by the tab; the answer has the same. Unique among the tab's open requests.
    pub id: u32,
    /// What is wanted.
    pub command: Command,
}

/// One message to a tab over its WebSocket.
#[derive(Clone, Debug, Serialize, TS)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ToTab {
    /// The first message on every connection.
    Handshake {
        /// The version of the server. A page of another version reloads itself.
        version: String,
        /// Identifies one run of the server.
        run: String,
    },
    /// A request was carried out.
    Answer {
        /// The request's.
        id: u32,
        /// The result.
        answer: Answer,
    },
    /// A request was not carried out, and nothing has changed.
    Error {
        /// The request's.
        id: u32,
        /// Why.
        error: ApiError,
    },
    /// The whole state of a topic. What the tab knew of it before is void.
    Snapshot {
        topic: Topic,
        /// The number of this state. Deltas count on from it.
        number: u64,
        /// The state.
        state: Box<State>,
    },
    /// What has changed.
    Delta {
        topic: Topic,
        /// One more than that of the delta or snapshot before it. Anything else is a fault: subscribe again.
        number: u64,
        /// The change.
        delta: Box<Delta>,
    },
    /// A topic is no more: its game, engine or match was deleted.
    Closed { topic: Topic },
}
