//! An engine for chess, Chess960 and shogi that speaks UCI and USI.
//!
//! The search is written once, in `search.rs`, over a small trait that each game's board
//! implements. It neither prints nor reads a clock: its [`Control`] does.
#![deny(unsafe_code)]

mod bench;
mod board;
mod book;
mod control;
mod deepening;
mod engine;
pub mod eval;
mod heuristics;
mod hints;
mod history;
mod learned;
pub mod mate;
mod pace;
mod perft;
mod picker;
mod run;
mod score;
mod search;
mod searcher;
mod stalls;
mod strength;
mod sync;
mod table;
pub mod tablebase;
mod threads;
mod watch;
mod wdl;

pub use bench::{Bench, BenchError, BenchResult};
pub use control::{Bounds, Control, Limits, Report, Tables};
pub use engine::{Narikin, TRANSLATION, runner};
pub use eval::network::NetworkError;
#[cfg(feature = "ablation")]
pub use heuristics::{UnknownHeuristic, leave_out};
pub use learned::Learned;
pub use perft::perft;
pub use score::Score;
pub use searcher::{Outcome, Searcher};
