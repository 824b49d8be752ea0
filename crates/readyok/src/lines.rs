//! Lines of a connection: with a limit of length, and read by a thread.

use std::io::{self, BufRead, BufReader, Read};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use crate::clock::now;

/// Number of lines that wait for the program. A server that sends more is slowed down.
const MAX_PENDING: usize = 64;

/// Why there are no more lines.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LineError {
    #[error("the server has closed the connection")]
    Closed,
    #[error("the server has closed the connection within a line")]
    Truncated,
    #[error("the server sent a line that is too long")]
    TooLong,
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// Reads a line of at most `limit` bytes, without its end.
pub(crate) fn read_line(reader: &mut impl BufRead, limit: usize) -> Result<String, LineError> {
    let mut line = Vec::new();
    let bytes = u64::try_from(limit).unwrap_or(u64::MAX);
    reader.by_ref().take(bytes).read_until(b'\n', &mut line)?;
    match line.pop() {
        None => Err(LineError::Closed),
        Some(b'\n') => {
            line.pop_if(|byte| *byte == b'\r');
            Ok(String::from_utf8_lossy(&line).into_owned())
        }
        Some(_) if limit <= line.len() + 1 => Err(LineError::TooLong),
        Some(_) => Err(LineError::Truncated),
    }
}

type Incoming = Result<(String, Instant), LineError>;

/// The lines of a connection. The thread that reads them ends with the connection.
#[derive(Debug)]
pub(crate) struct Lines(Receiver<Incoming>);

impl Lines {
    /// # Errors
    /// The thread cannot be started.
    pub(crate) fn read(reader: impl Read + Send + 'static, limit: usize) -> io::Result<Self> {
        let (sender, lines) = sync_channel(MAX_PENDING);
        let read = move || copy(BufReader::new(reader), limit, &sender);
        thread::Builder::new().name("lines".to_owned()).spawn(read)?;
        Ok(Self(lines))
    }

    /// The next line and the time of its arrival. `None` without one within this time.
    pub(crate) fn next(&self, within: Duration) -> Result<Option<(String, Instant)>, LineError> {
        match self.0.recv_timeout(within) {
            Ok(line) => line.map(Some),
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Err(RecvTimeoutError::Disconnected) => Err(LineError::Closed),
        }
    }
}

fn copy(mut reader: impl BufRead, limit: usize, sender: &SyncSender<Incoming>) {
    loop {
        let line = read_line(&mut reader, limit).map(|line| (line, now()));
        let is_end = line.is_err();
        if sender.send(line).is_err() || is_end {
            return;
        }
    }
}
