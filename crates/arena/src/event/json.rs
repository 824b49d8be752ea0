//! Events as lines of JSON.

use std::io::{self, Write};
use std::time::SystemTime;

use serde::Serialize;

use super::{Event, Listener};

/// Writes each event as one line of JSON, with the time in milliseconds since 1970 as `at_ms`.
///
/// Each line is flushed. When the other end has gone nothing more is written; the match goes on.
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

    /// Why writing has ended before its time, if it has.
    pub fn error(&self) -> Option<&io::Error> {
        self.error.as_ref()
    }
}

impl<W: Write + Send> Listener for JsonLines<W> {
    fn on_event(&mut self, event: &Event) {
        let Some(out) = &mut self.out else { return };
        if let Err(error) = write(out, event) {
            self.error = Some(error);
            self.out = None;
        }
    }
}

fn write(out: &mut impl Write, event: &Event) -> io::Result<()> {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let at_ms = u64::try_from(since.as_millis()).unwrap_or(u64::MAX);
    let mut line = serde_json::to_vec(&Stamped { at_ms, event })?;
    line.push(b'\n');
    out.write_all(&line)?;
    out.flush()
}
