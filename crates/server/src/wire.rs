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
mod explorer;
mod format;
mod game;
mod library;
mod matches;
mod queue;
mod training;
#[cfg(test)]
mod typescript;

use serde::{Deserialize, Serialize};
#[cfg(test)]
use ts_rs::TS;

pub use analysis::*;
pub use command::*;
pub use engine::*;
pub use error::*;
pub use explorer::*;
pub use format::*;
pub use game::*;
pub use library::*;
pub use matches::*;
pub use queue::*;
pub use training::*;

/// One message from a tab over its WebSocket.
#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(test, derive(TS))]
pub struct Request {
    /// Chosen by the tab; the answer has the same. Unique among the tab's open requests.
    pub id: u32,
    pub command: Command,
}

/// One message to a tab over its WebSocket.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ToTab {
    /// The first message on every connection.
    Handshake {
        /// The version of the server. A page of another version reloads itself.
        version: String,
        /// Identifies one run of the server.
        run: String,
        /// Files that the user has to repair or to delete.
        damaged: Vec<DamagedFile>,
    },
    /// The result of a request.
    Answer { id: u32, answer: Answer },
    /// The error of a request, which has changed nothing.
    Error { id: u32, error: ApiError },
    /// The complete state of a topic. It replaces all earlier states and deltas.
    Snapshot {
        topic: Topic,
        /// The number of this state. Deltas continue from it.
        number: u64,
        state: Box<TopicState>,
    },
    /// A change of a topic.
    Delta {
        topic: Topic,
        /// One more than the number before it. After any other number, the tab must subscribe again.
        number: u64,
        delta: Box<Delta>,
    },
    /// A topic was removed with its game, process or match.
    Closed { topic: Topic },
}

/// A damaged file of the data directory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct DamagedFile {
    pub path: String,
    /// Its path since it was found damaged; a new file has its place. None if it is damaged in part and still used.
    pub moved_to: Option<String>,
    /// The open game whose last changes are damaged. The rest of the file is used.
    pub game: Option<GameId>,
}
