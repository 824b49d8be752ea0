//! What the page and the server say to each other, and nothing else: plain data for JSON.
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
//! move unless it says otherwise. "First" is the side that moves first in the game: White in chess,
//! Black (sente) in shogi.

mod analysis;
mod command;
mod engine;
mod game;
mod job;
mod library;
mod log;
mod matches;
mod position;
mod problem;
mod report;
mod settings;
mod topic;

pub use analysis::*;
pub use command::*;
pub use engine::*;
pub use game::*;
pub use job::*;
pub use library::*;
pub use log::*;
pub use matches::*;
pub use position::*;
pub use problem::*;
pub use report::*;
pub use settings::*;
pub use topic::*;

use serde::{Deserialize, Serialize};
use ts_rs::TS;

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
        /// Tells one start of the server from the next.
        run: String,
    },
    /// A request was carried out.
    Answer {
        /// The request's.
        id: u32,
        /// What came of it.
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

/// Why a request was not carried out.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, TS)]
pub struct ApiError {
    /// For the page, which has words for it in each language.
    pub code: ApiErrorCode,
    /// For people, in English: what exactly was wrong and where.
    pub text: String,
    /// The reason as a problem, for which the page has texts.
    pub problem: Problem,
}

impl ApiError {
    /// Because of this.
    pub(crate) fn because(code: ApiErrorCode, Failure { text, problem }: Failure) -> Self {
        Self { code, text, problem }
    }
}

/// The kinds of refusal.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum ApiErrorCode {
    /// The message makes no sense.
    Malformed,
    /// There is no such game, node, engine, process, match or entry.
    NotFound,
    /// The move is not legal here, or its text cannot be read.
    IllegalMove,
    /// Several moves fit the text.
    AmbiguousMove,
    /// The position cannot be played, or its text cannot be read.
    Position,
    /// The record cannot be read or written.
    Record,
    /// It cannot be done now: not this player's turn, the game is over, no search runs.
    NotNow,
    /// The engine cannot do it or has failed.
    Engine,
    /// A limit of the server is reached.
    TooMuch,
    /// The path is outside of the directories that may be used, or is no file of the kind.
    Path,
    /// The disk or the library failed.
    Storage,
}
