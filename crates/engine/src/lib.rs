//! Turns a value that can search into a UCI and USI engine.
//!
//! An author implements [`Engine`], declares [`Options`], and hands both to a [`Runner`]. The
//! runtime does the rest in both protocols: it reads and writes, answers while the engine thinks,
//! keeps the clock, and stops searches when their time is up. Depth, nodes, mate, `searchmoves` and
//! `MultiPV` are up to the engine: see [`Engine::search`].
//!
//! ```text
//!   input ──> reader ──Line──> main loop ──Job──> worker, which owns the Engine
//!                                │  ^               │
//!   output <─────────────────────┘  └─ Info, Done ──┘
//! ```
//!
//! Three threads, one writer. The reader only reads. The worker does one job after another, so
//! that no option changes under a search. The main loop owns the session and the output;
//! everything that can happen to it is one `enum`. No lock on standard input or output is ever
//! held, and whatever else a thread prints goes through unharmed.
//!
//! Features: `cozy-chess` and `rsshogi` set positions up on the boards of those crates;
//! `translation` reads translation files, see [`Runner::declared`].
//!
//! An engine in full:
//!
//! ```no_run
#![doc = include_str!("../examples/first_engine.rs")]
//! ```
#![forbid(unsafe_code)]

mod board;
mod budget;
mod control;
mod engine;
mod lag;
mod licence;
mod log;
mod options;
mod runner;
mod server;
mod signals;
mod sync;
mod worker;

pub use board::{Board, BoardError, NoBoard};
pub use budget::Budget;
pub use control::Control;
pub use engine::{Answer, Engine, Failure};
pub use licence::Registration;
pub use options::{Check, Combo, Options, Spin, Text};
pub use runner::Runner;

pub use readyok_protocol as protocol;
pub use readyok_protocol::session::engine::SearchRequest;
pub use readyok_protocol::{Best, BestMove, Checkmate, Dialect, Info, Move, MoveList, Score};

use std::time::Instant;

/// The one place that reads the clock.
fn now() -> Instant {
    #[expect(clippy::disallowed_methods, reason = "this is the adapter between clock and session")]
    Instant::now()
}
