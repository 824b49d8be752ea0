//! Events of the main loop, and the execution of engine code with errors reported as events.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::SyncSender;

use readyok_protocol::{BestMove, Checkmate, Info, LineTooLong, Status};

use crate::corrections::Correction;
use crate::error::Failure;

/// An event of the main loop.
#[derive(Debug)]
pub(crate) enum Event {
    /// The client sent a line.
    Line(String),
    /// The client sent an oversized line.
    OversizedLine(LineTooLong),
    /// The client disconnected.
    EndOfInput,
    /// `info` of a search.
    Info { search: u64, info: Box<Info<'static>> },
    /// A message of the worker.
    InfoString(String),
    /// Lines of a custom command.
    Output(String),
    /// A custom command is complete.
    CommandDone,
    /// A bug of the engine whose effect was corrected.
    Corrected(Correction, String),
    /// The state of the copy protection check.
    CopyProtection(Status),
    /// The state of the registration check.
    Registration(Status),
    /// The engine is prepared.
    Prepared,
    /// The answer of a search.
    BestMove(BestMove<'static>),
    /// The answer of a mate search.
    Checkmate(Checkmate<'static>),
    /// The worker has exited.
    WorkerExited,
}

/// Calls code of the engine, and reports a panic.
pub(crate) fn catch<T>(
    events: &SyncSender<Event>,
    what: &str,
    act: impl FnOnce() -> T,
) -> Option<T> {
    // After a panic the state of the engine may be inconsistent, but the game has to continue.
    match catch_unwind(AssertUnwindSafe(act)) {
        Ok(value) => Some(value),
        Err(panic) => {
            info_string(events, format!("{what} panicked: {}", panic_text(&*panic)));
            None
        }
    }
}

/// Calls code of the engine, and reports an error or a panic.
pub(crate) fn try_catch<T>(
    events: &SyncSender<Event>,
    what: &str,
    act: impl FnOnce() -> Result<T, Failure>,
) -> Option<T> {
    let result = catch(events, what, act)?;
    result.map_err(|error| info_string(events, format!("{what} failed: {error}"))).ok()
}

pub(crate) fn info_string(events: &SyncSender<Event>, text: String) {
    // The receiver is missing if the engine is about to exit.
    let _ = events.send(Event::InfoString(text));
}

fn panic_text(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("without a message")
}
