//! Searches of engines. [`Tasks`] is the only owner of engine processes.
//!
//! ```text
//!  start(owner) ──> process ── handshake ──┐
//!  search(owner, wanted) ──────────────────┴──> EngineCommand::Search ──> Started, Progress ──> Done
//! ```
//! Invariants:
//! - An owner of searches has at most one process that has not received `quit`, and a process at most one search.
//! - A search ends once: by [`TaskEvent::Done`], by the exit of its process, or because its owner replaces or
//!   withdraws it. A caller that waits for it gets a result in each case.
//! - Events of earlier searches stop here, so features compare no numbers of searches or processes.
//! - No command follows `quit`.

mod process;
mod tasks;
#[cfg(test)]
mod tests;
mod wanted;

pub(crate) use process::EngineProcess;
pub(crate) use tasks::{Launch, ProcessChanges, TaskEvent, Tasks};
pub(crate) use wanted::{Goal, Owner, Wanted};
