//! `readyok match`: engines of the arguments, the run of a match, and its display.

mod dashboard;
mod display;
mod engines;
mod files;
mod queue;
mod run;

pub use dashboard::{Dashboard, ReadTest};
pub use display::{Lines, LiveTable, MatchText, take_text};
pub use engines::{EngineError, FlagError, PerEngine, engine_plan, find_engine, git_source};
pub use files::stderr_log;
pub use queue::{Queue, Worker};
pub use run::{
    Changes, Coordinate, Extension, Name, NoQueue, PlayOptions, Results, Run, Slots, StartedMatch,
    read_plan, write_report,
};

/// A count with its noun: `1 game`, `2 games`.
fn count_of<N: Copy + PartialEq + From<u8> + std::fmt::Display>(count: N, noun: &str) -> String {
    let plural = if count == N::from(1) { "" } else { "s" };
    format!("{count} {noun}{plural}")
}
