//! A runtime for UCI and USI engines.
//!
//! An author implements [`Engine`], declares [`Options`], and passes both to a [`Runner`]. The runtime
//! implements both protocols: input and output, answers during a search, time limits. The engine
//! enforces depth, nodes, `searchmoves` and `MultiPV`: see [`Engine::search`].
//!
//! ```text
//!   input ──> reader ──Line──> main loop ──Job──> worker, which owns the Engine
//!                                │  ^               │
//!   output <─────────────────────┘  └─ Info, Done ──┘
//! ```
//!
//! Three threads, one writer. The reader only reads. The worker executes jobs sequentially, so that options
//! do not change during a search. The main loop owns the session and the output; its events are one
//! `enum`. Standard input and output are never locked, so that other threads can print.
//!
//! Features: `cozy-chess` and `rsshogi` implement [`Board`] for those crates; `translation` reads
//! translation files, see [`Runner::declared`].
//!
//! The runtime corrects what a client would reject, and reports it once per kind as `info string`: castling in
//! the wrong notation, an impossible ponder move, `seldepth` without `depth`. An illegal move is replaced by
//! that of [`Engine::fallback`].
//!
//! A complete engine:
//!
//! ```no_run
#![doc = include_str!("../examples/first_engine.rs")]
//! ```
//!
//! More examples in the directory `examples`:
//! - `material`: a search with depths, nodes, `searchmoves` and variations.
//! - `options`: options of each type, limits, and `info` during the search.
//! - `usi`: a shogi engine.
#![forbid(unsafe_code)]

mod board;
mod budget;
mod control;
mod corrections;
mod engine;
mod error;
mod event;
mod event_loop;
mod license;
mod log;
mod move_overhead;
mod options;
mod runner;
mod signals;
mod sync;
mod worker;

pub use board::{Board, NoBoard};
pub use budget::Budget;
pub use control::Control;
pub use engine::Engine;
pub use error::{Answer, BoardError, Failure};
pub use license::Registration;
pub use options::{Check, Combo, Options, Spin, Text};
pub use runner::Runner;

pub use readyok_protocol as protocol;
pub use readyok_protocol::session::engine::SearchRequest;
pub use readyok_protocol::{
    Best, BestMove, CastlingForm, Checkmate, Dialect, Info, Move, MoveList, Score,
};

use std::time::Instant;

/// The only call that reads the clock.
fn now() -> Instant {
    #[expect(clippy::disallowed_methods, reason = "this is the adapter between clock and session")]
    Instant::now()
}
