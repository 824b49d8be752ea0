//! A UCI and USI engine for chess, Chess960 and shogi.
//!
//! The search in `search.rs` is generic over a trait that the board of each game implements. It
//! does no I/O and reads no clock: its [`Control`] does.
#![deny(unsafe_code)]

mod bench;
mod board;
mod book;
mod control;
mod endgames;
mod engine;
pub mod mate;
pub mod network;
mod platform;
mod position_values;
mod score;
mod search;
mod searcher;
mod skill;
mod sync;
pub mod tablebase;

pub use bench::{Bench, BenchError, BenchResult, perft};
pub use control::{Bounds, Control, Limits, Report, SearchResult, TbConfig};
pub use engine::{Narikin, TRANSLATION, runner};
pub use position_values::PositionValues;
pub use score::Score;
pub use searcher::Searcher;
