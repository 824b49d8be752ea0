//! The extension module of the Python package `readyok`.
//!
//! Moves are texts in UCI or USI notation, as on the wire. So no class of moves exists: they are hashable, comparable,
//! picklable and JSON, and other packages read them. Functions for whole lines avoid the cost of calls.
//!
//! Doc comments of classes and functions are the docstrings of Python.

#![expect(
    clippy::needless_pass_by_value,
    clippy::trivially_copy_pass_by_ref,
    clippy::unused_self,
    reason = "PyO3 requires it"
)]
#![expect(
    clippy::doc_link_with_quotes,
    clippy::doc_markdown,
    reason = "doc comments are docstrings of Python"
)]

mod document;
mod engine;
mod error;
mod game;
mod knowledge;
mod limits;
mod log;
mod names;
mod node;
mod position;
mod protocol;
mod records;
mod score;
mod search;
mod task;

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use pyo3::prelude::*;

/// A lock after a panic is still usable: no value here is left half changed.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[expect(clippy::disallowed_methods, reason = "this is where the clock is read")]
pub(crate) fn now() -> Instant {
    Instant::now()
}

#[pymodule(gil_used = false)]
mod _readyok {
    #[pymodule_export]
    use crate::document::{Game, PyEvaluation};
    #[pymodule_export]
    use crate::engine::{Engine, EngineOption, serve_guard};
    #[pymodule_export]
    use crate::knowledge::{Book, BookMove, Tablebase, TablebaseMove, TablebaseResult};
    #[pymodule_export]
    use crate::log::LogIterator;
    #[pymodule_export]
    use crate::node::Node;
    #[pymodule_export]
    use crate::position::{Outcome, Position};
    #[pymodule_export]
    use crate::protocol::{format_command, format_reply, parse_command, parse_reply};
    #[pymodule_export]
    use crate::records::{Records, read, write};
    #[pymodule_export]
    use crate::score::Score;
    #[pymodule_export]
    use crate::search::{Info, Search, SearchResult};
    #[pymodule_export]
    use crate::task::{Hub, Task};
}
