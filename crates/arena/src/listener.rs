//! Listeners to the events of a match.

use std::io::{self, Write};
use std::sync::Arc;
use std::sync::mpsc::Sender;

use serde::Serialize;

use crate::event::Event;
use crate::match_state::MatchState;
use crate::openings::Skipped;
use crate::pairing::PairResult;
use crate::time::unix_ms;

/// A listener to the events of a match.
pub trait Listener: Send {
    /// Handles an event, which is applied to the state already. The match continues when this returns.
    fn on_event(&mut self, event: &Event, state: &MatchState);

    /// Handles a new pair, which is stored and counted, before its events.
    fn on_pair(&mut self, _pair: &PairResult, _state: &MatchState) {}

    /// Handles openings that were skipped: by default, as warnings.
    fn on_skipped_openings(&mut self, skipped: &Arc<Skipped>, state: &MatchState) {
        let warn = |text| Event::Warning { text, pair: None, engine: None, context: None };
        for error in &skipped.errors {
            self.on_event(&warn(format!("an opening is skipped: {error}")), state);
        }
        if skipped.more > 0 {
            self.on_event(&warn(format!("{} more openings are skipped", skipped.more)), state);
        }
    }
}

impl<L: Listener + ?Sized> Listener for Box<L> {
    fn on_event(&mut self, event: &Event, state: &MatchState) {
        (**self).on_event(event, state);
    }

    fn on_pair(&mut self, pair: &PairResult, state: &MatchState) {
        (**self).on_pair(pair, state);
    }

    fn on_skipped_openings(&mut self, skipped: &Arc<Skipped>, state: &MatchState) {
        (**self).on_skipped_openings(skipped, state);
    }
}

/// Sends events to another thread.
impl Listener for Sender<Event> {
    fn on_event(&mut self, event: &Event, _: &MatchState) {
        // Events are dropped when the receiver is closed.
        let _ = self.send(event.clone());
    }
}

/// Writes each event as one line of JSON, with the time in milliseconds since 1970 as `at_ms`.
///
/// Each line is flushed. After an error nothing more is written, and the match continues.
#[derive(Debug)]
pub struct JsonLines<W> {
    out: Option<W>,
    error: Option<io::Error>,
}

#[derive(Serialize)]
struct Stamped<'a> {
    at_ms: u64,
    #[serde(flatten)]
    event: &'a Event,
}

impl<W: Write> JsonLines<W> {
    /// Writes to a stream or a file.
    pub fn new(out: W) -> Self {
        Self { out: Some(out), error: None }
    }

    /// The error that ended the output.
    pub fn error(&self) -> Option<&io::Error> {
        self.error.as_ref()
    }
}

impl<W: Write + Send> Listener for JsonLines<W> {
    fn on_event(&mut self, event: &Event, _: &MatchState) {
        let Some(out) = &mut self.out else { return };
        if let Err(error) = write(out, event) {
            self.error = Some(error);
            self.out = None;
        }
    }
}

fn write(out: &mut impl Write, event: &Event) -> io::Result<()> {
    let mut line = serde_json::to_vec(&Stamped { at_ms: unix_ms(), event })?;
    line.push(b'\n');
    out.write_all(&line)?;
    out.flush()
}
