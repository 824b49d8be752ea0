//! `readyok analyse`: searches a position and shows what the engine thinks.

mod record;
mod setup;
mod table;
mod view;

use std::error::Error;
use std::fmt;
use std::io;
use std::time::Duration;

use readyok_client::{Engine, EngineError, Search};

pub use record::{BestMoveRecord, InfoRecord, Record};
pub use setup::{Scribe, Setup, SetupError, Start, dialect};
pub use table::{line, table};
pub use view::{Json, Lines, Screen, View};

use crate::clock::now;
use crate::exit::Code;
use crate::signals::Interrupts;

/// How often a table is drawn anew.
const FRAME: Duration = Duration::from_millis(100);

/// Searches, shows what the engine tells, and at last its answer.
///
/// The first interrupt stops the search, whose result is shown; the second one ends the engine.
///
/// # Errors
/// The engine gave no answer, or nothing can be written.
pub fn analyse(
    engine: &mut Engine,
    setup: &Setup,
    search: Search,
    view: &mut dyn View,
    interrupts: &Interrupts,
) -> Result<Code, AnalyseError> {
    let mut analysis = engine.analyse(&setup.game, search)?;
    interrupts.stop_with(analysis.stopper());
    let mut next_frame = now();
    loop {
        if 1 < interrupts.count() {
            return Ok(Code::Interrupted);
        }
        // Checked first: what was sent before the answer is shown before it.
        let is_over = analysis.is_over();
        match analysis.next_within(next_frame.saturating_duration_since(now())) {
            Some(update) => view.update(&update.info)?,
            None if is_over => break,
            None => (),
        }
        if next_frame <= now() {
            view.frame(&analysis.so_far().iter().collect::<Vec<_>>())?;
            next_frame = now() + FRAME;
        }
    }
    let played = analysis.wait()?;
    view.frame(&played.lines.iter().collect::<Vec<_>>())?;
    view.end(&played)?;
    Ok(Code::Done)
}

/// Why an analysis has no result.
#[derive(Debug)]
pub enum AnalyseError {
    /// The engine gave none.
    Engine(EngineError),
    /// Nobody takes it.
    Output(io::Error),
}

impl From<EngineError> for AnalyseError {
    fn from(error: EngineError) -> Self {
        Self::Engine(error)
    }
}

impl From<io::Error> for AnalyseError {
    fn from(error: io::Error) -> Self {
        Self::Output(error)
    }
}

impl fmt::Display for AnalyseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Engine(error) => error.fmt(f),
            Self::Output(error) => write!(f, "cannot write the analysis: {error}"),
        }
    }
}

impl Error for AnalyseError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Engine(error) => Some(error),
            Self::Output(error) => Some(error),
        }
    }
}
