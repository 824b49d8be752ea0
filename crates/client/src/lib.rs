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
//!  process, socket, ── Pump ─┬─> Inbox ──┐                     ┌── Engine (threads)
//!  thread                    └<─ Outbox ─┴── Driver ───────────┤
//!  other streams ──── a thread for each      ClientSession     └── tokio::Engine (tasks)
//! ```
//! On Unix, a pump waits for all pipes of an engine and for its process together. It runs in a
//! thread that sleeps unless there is something to do; or, [inline](Builder::inline), in that of the
//! caller while he waits. What the caller says is written by the caller, if the pipe takes it. Streams
//! of other kinds, and all streams elsewhere, have a thread to read and one to write: no call can
//! wait for them beside anything else, and a pipe that is full would hold the caller.
//!
//! A match runner starts engines inline, begins searches that do not borrow them, and waits for
//! any: see [`Thinking`]. Its clocks are exact: [`Search::lost_after`], [`Played::time`]. For speed
//! see also [`Builder::separate_searches`].
//!
//! What always holds:
//! - This is the only crate of the workspace that starts processes. Each gets a group of its own,
//!   and no process of the group outlives the handle. (One that leaves the group is its own
//!   master.) A program that is killed itself can only let engines see the end of their input, unless
//!   it has a [`Guard`]. A thread waits for each process, so none becomes a zombie, even if the
//!   handle leaks; but nobody waits for one that was started inline and whose handle leaks.
//! - No wait is without a deadline ([`Patience`]), but that for a search without a limit: it ends
//!   when it is stopped ([`Stopper`]), or with the engine.
//! - Whatever an engine sends, and however rarely anybody looks, memory is bounded, and neither
//!   side blocks the other: of `info` the latest of each variation is kept.
//! - A search that is dropped is stopped, and its answer is not taken for that of another one; nor
//!   is anything that has arrived before `go` was written. One case is left: where no `readyok`
//!   separates two searches, as in USI, an engine may answer a search twice, for the first time,
//!   and the second answer arrive when the next search has begun. Nothing tells it from the answer
//!   to that.
//! - An engine that breaks its protocol is no error while there is a result
//!   ([`Engine::take_notices`]).
mod allotment;
mod allowance;
#[cfg(unix)]
mod arrival;
mod batch;
#[cfg(unix)]
mod bell;
mod builder;
mod course;
mod driver;
mod engine;
mod error;
mod game;
#[cfg_attr(not(unix), path = "guard/other.rs")]
mod guard;
mod inbox;
mod intake;
mod lines;
mod link;
mod outbox;
mod overhear;
mod piped;
mod process;
#[cfg(unix)]
mod pump;
mod running;
mod search;
mod stderr;
mod steal;
mod stopper;
mod sync;
mod thinking;
mod threads;
mod time;
#[cfg(feature = "tokio")]
pub mod tokio;
mod verbs;
mod waiting;

pub use builder::Builder;
pub use driver::Notice;
pub use engine::{Analysis, Engine, Pondering};
pub use error::{EngineError, Exit, Problem, explain};
pub use game::Game;
pub use guard::Guard;
pub use lines::{Lines, Update};
pub use piped::PipedProcess;
pub use readyok_protocol::session::client::{
    DropReason, Event, Identity, Limit as WaitLimit, Misuse, Patience, Wait,
};
pub use readyok_protocol::{
    Best, Checkmate, Clock, Clocks, Dialect, Info, MateLimit, Move, Position, Score, Side,
};
pub use running::Played;
pub use search::{Limit, Search};
pub use stopper::Stopper;
pub use thinking::Thinking;
