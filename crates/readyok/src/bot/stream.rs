//! Streams of messages that are opened again when they break.

use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, SyncSender};
use std::thread;
use std::time::{Duration, Instant};

use serde::Deserialize;

use crate::clock::{Backoff, now};
use crate::http::{Http, HttpError};
use crate::terminal::print_error;

/// Number of messages that wait. The connection buffers others.
const QUEUED: usize = 64;
/// Pauses before a stream is opened again. They are short, because clocks are running.
const PAUSES: (Duration, Duration) = (Duration::from_millis(250), Duration::from_secs(8));
/// Number of rejections in succession that end a stream.
const MAX_REJECTIONS: u32 = 4;

/// An event of a stream.
pub(super) enum Event<T> {
    /// A message and the time of its arrival.
    Message(T, Instant),
    /// The connection is alive.
    Alive,
    /// The server rejects the stream.
    Rejected(HttpError),
}

/// Follows a stream in a thread, until the receiver is dropped or the server rejects it.
pub(super) fn follow<T>(http: &Arc<Http>, path: String) -> Receiver<Event<T>>
where
    T: for<'a> Deserialize<'a> + Send + 'static,
{
    let (sender, events) = mpsc::sync_channel(QUEUED);
    let http = Arc::clone(http);
    thread::spawn(move || {
        let mut pauses = Backoff::new(PAUSES.0, PAUSES.1);
        let mut rejections = 0;
        loop {
            let mut has_lines = false;
            let error = match copy(&http, &path, &sender, &mut has_lines) {
                Ok(false) => return,
                Ok(true) => None,
                Err(error) => Some(error),
            };
            if has_lines {
                pauses.reset();
                rejections = 0;
            }
            let mut pause = pauses.pause();
            if let Some(error) = error {
                rejections = if error.is_rejection() { rejections + 1 } else { 0 };
                if rejections == MAX_REJECTIONS {
                    // The receiver may have ended.
                    let _ = sender.send(Event::Rejected(error));
                    return;
                }
                pause = error.retry_after().unwrap_or(pause);
                print_error(&format!("{path}: {error}; next attempt in {} ms", pause.as_millis()));
            }
            if sender.send(Event::Alive).is_err() {
                return;
            }
            thread::sleep(pause);
        }
    });
    events
}

/// Copies messages until the end of the stream. Returns false if the receiver has ended.
fn copy<T: for<'a> Deserialize<'a>>(
    http: &Http,
    path: &str,
    sender: &SyncSender<Event<T>>,
    has_lines: &mut bool,
) -> Result<bool, HttpError> {
    let mut lines = http.lines(path)?;
    while let Some(line) = lines.next()? {
        *has_lines = true;
        let event = if line.is_empty() {
            Event::Alive
        } else {
            match serde_json::from_str(&line) {
                Ok(message) => Event::Message(message, now()),
                Err(error) => {
                    let start: String = line.chars().take(100).collect();
                    print_error(&format!("{path}: ignores a malformed line: {error}: {start}"));
                    Event::Alive
                }
            }
        };
        if sender.send(event).is_err() {
            return Ok(false);
        }
    }
    Ok(true)
}
