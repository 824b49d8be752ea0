//! Starts, drives and ends UCI and USI engines: every wait has a deadline, and no engine outlives the program.
//!
//! Anything with two streams can be an engine: an executable ([`Engine::spawn`]), a connection
//! ([`Builder::connect`]), a thread of this program ([`Builder::in_process`]). The protocols are implemented in
//! [`protocol`]; this crate adds streams, threads, clocks and processes.
//!
//! ```no_run
//! use std::process::Command;
//! use readyok_client::{Engine, Game, Limit, Search};
//!
//! let mut engine = Engine::spawn(Command::new("stockfish"))?;
//! let mut game = Game::startpos();
//! let result = engine.play(&game, Limit::millis(500))?;
//! game.extend(result.best_move());
//!
//! let mut analysis = engine.analyse(&game, Search::new(Limit::Infinite).lines(3))?;
//! for info in &mut analysis {
//!     if info.depth >= Some(20) {
//!         break;
//!     }
//! }
//! let result = analysis.finish()?;
//! # Ok::<(), readyok_client::EngineError>(())
//! ```
//!
//! A search runs independently of its handle: each engine has an I/O thread. A blocking call reads in its own thread,
//! without a thread switch, so that match runners need no other mode. In tasks of any async runtime, start engines
//! with [`Builder::spawn_async`] and await the [`SearchHandle`].
//!
//! For exact time measurement see [`Search::deadline_after`] and [`SearchResult::time`], for speed also
//! [`Builder::sync_between_searches`].
//!
//! Examples in the directory `examples`:
//! - `first_client`: a best move, then an analysis with `MultiPV`.
//! - `live_analysis`: the variations of a running analysis, printed at intervals.
//! - `two_engines`: a game between two engines with clocks and pondering.
//! - `tasks`: several engines in async tasks.
//! - `restart`: errors, and the restart of a crashed engine.
//!
//! Guarantees:
//! - Each process has its own process group, and no process of the group outlives the handle, nor the program, even if
//!   that is killed. A descendant that leaves the group survives; with a [`Guard`], on Linux, it does not. The
//!   [guarantees](Guard#guarantees) are listed for each system, with their limits. On Windows each engine has a job
//!   object, which ends all its descendants with it and with the program. A thread waits for each process, so none
//!   becomes a zombie, even if the handle leaks.
//! - Every wait has a deadline ([`Timeouts`]), except for a search without a limit: it ends when it is stopped
//!   ([`Stopper`]), or with the engine. Deadlines are enforced even if no call waits.
//! - Memory is bounded for any output and any reader: of `info`, the latest of each variation is stored. Neither side
//!   blocks the other.
//! - A search whose handle is dropped is stopped, and its answer is not attributed to another one; nor is anything
//!   that arrived before `go` was written. One exception: if no `readyok` separates two searches, as in USI, the first
//!   duplicate answer of an engine may arrive after the next search has started.
//! - Protocol violations of an engine are no errors while there is a result ([`Engine::drain_notices`]).
mod command_line;
mod driver;
mod engine;
mod error;
mod executable;
mod exit;
mod failure;
mod handle;
mod listener;
mod process;
mod search;
mod search_state;
mod shared;
mod source;
mod sync;
mod working_directory;

pub use driver::Notice;
pub use engine::{Builder, Engine};
pub use error::{EngineError, Problem, Termination};
pub use exit::{Exit, ExitCause, ExitDescription, ProcessStatus};
pub use failure::{EngineFailure, EngineFailureDetail, EngineFailureKind};
pub use handle::{SearchHandle, Stopper};
pub use process::guard::Guard;
pub use readyok_protocol as protocol;
pub use readyok_protocol::session::client::{
    DropReason, Event, Identity, TimeoutKind, Timeouts, UsageError, WaitLimit,
};
pub use readyok_protocol::{
    Best, Bound, Checkmate, Clock, Clocks, Dialect, GameResult, GameStage, Go, Info, MateLimit,
    Move, MoveList, OptionDecl, OptionSet, OptionValue, Party, Position, Register, Score, Wdl,
    WinModel,
};
pub use search::{Game, Limit, Lines, Search, SearchResult, Update};
pub use source::{EngineProgram, EngineSource};

/// Processes, executables and command lines for the programs of this workspace. Not part of the stable interface.
#[doc(hidden)]
pub mod unstable {
    pub use crate::command_line::{join_command_line, split_command_line};
    pub use crate::executable::{find_executable, find_in_path, is_executable};
    pub use crate::process::{Containment, ErrorOutput, PipedProcess};
    pub use crate::working_directory::{directory_for_name, own_directory};
}
