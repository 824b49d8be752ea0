//! Starts, drives and ends UCI and USI engines, without hangs or leaked processes.
//!
//! Anything with two streams can be an engine: a program ([`Engine::spawn`]), a connection
//! ([`Builder::connect`]), a thread of this program ([`Builder::in_process`]). All knowledge of the
//! protocols is in [`readyok_protocol`]; here are the streams, threads, clocks and processes.
//!
//! ```no_run
//! use std::process::Command;
//! use readyok_client::{Engine, Game, Limit};
//!
//! let mut engine = Engine::spawn(Command::new("stockfish"))?;
//! let mut game = Game::startpos();
//! let played = engine.play(&game, Limit::millis(500))?;
//! game.extend(played.best_move());
//!
//! let mut analysis = engine.analyse(&game, Limit::Infinite)?.lines(3)?;
//! for info in &mut analysis {
//!     if info.depth >= Some(20) {
//!         break;
//!     }
//! }
//! let best = analysis.finish()?;
//! # Ok::<(), readyok_client::EngineError>(())
//! ```
//!
//! ```text
//!                     ┌─ reader ──> Inbox ──┐                     ┌── Engine (threads)
//!  process, socket, ──┤                     ├──> Driver ──────────┤
//!  thread             └─ writer <── Outbox ─┘    ClientSession    └── tokio::Engine (tasks)
//! ```
//! The threads sleep unless there is something to read or to write. For a process there are two
//! more: one keeps the last lines of its error output, one waits for its end.
//!
//! What always holds:
//! - This is the only crate of the workspace that starts processes. Each gets a group of its own,
//!   and no process of the group outlives the handle. (One that leaves the group is its own
//!   master, and a program that is killed itself can only let engines see the end of their
//!   input.) A thread waits for each process, so none becomes a zombie, even if the handle leaks.
//! - No wait is without a deadline ([`Patience`]), but that for a search without a limit: it ends
//!   when it is stopped ([`Stopper`]), or with the engine.
//! - Whatever an engine sends, and however rarely anybody looks, memory is bounded, and neither
//!   side blocks the other: of `info` the latest of each variation is kept.
//! - A search that is dropped is stopped, and its answer is not taken for that of another one.
//! - An engine that breaks its protocol is no error while there is a result
//!   ([`Engine::take_notices`]).
mod builder;
mod course;
mod driver;
mod engine;
mod error;
mod game;
mod inbox;
mod lines;
mod link;
mod outbox;
mod piped;
mod process;
mod running;
mod search;
mod stderr;
mod stopper;
mod sync;
mod threads;
mod time;
#[cfg(feature = "tokio")]
pub mod tokio;
mod verbs;

pub use builder::Builder;
pub use driver::Notice;
pub use engine::{Analysis, Engine, Pondering};
pub use error::{EngineError, Problem, explain};
pub use game::Game;
pub use lines::{Lines, Update};
pub use piped::PipedProcess;
pub use readyok_protocol::session::client::{
    DropReason, Event, Identity, Limit as WaitLimit, Misuse, Patience, Wait,
};
pub use readyok_protocol::{
    Best, Checkmate, Clock, Clocks, Dialect, Info, MateLimit, Move, Position, Score,
};
pub use running::Played;
pub use search::{Limit, Search};
pub use stopper::Stopper;
