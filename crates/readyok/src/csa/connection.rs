//! A connection that carries lines: limits of length and time, and keep-alive messages.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use super::message::MAX_LINE;
use crate::clock::now;

/// Maximum time to connect.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(20);
/// Maximum time of one write.
const WRITE_TIMEOUT: Duration = Duration::from_secs(20);
/// Time without a message from this side after which an empty line is sent. The protocol allows one every 30 seconds.
const KEEP_ALIVE: Duration = Duration::from_secs(40);
/// Time without any message after which the connection counts as lost, if the server has answered an empty line before.
const SILENCE: Duration = Duration::from_mins(3);
/// Number of lines that wait for the program. A server that sends more is slowed down.
const MAX_PENDING: usize = 256;

/// Why a connection has ended.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ConnectionError {
    /// The server has closed it.
    #[error("the server has closed the connection")]
    Closed,
    /// The server does not answer.
    #[error("the server does not answer")]
    Silent,
    /// A line exceeds [`MAX_LINE`].
    #[error("the server sent a line that is too long")]
    LineTooLong,
    #[error(transparent)]
    Io(#[from] io::Error),
}

type Incoming = Result<(String, Instant), ConnectionError>;

/// The times of the last messages.
#[derive(Debug)]
pub(super) struct KeepAlive {
    sent: Instant,
    received: Instant,
    /// Whether the server answers empty lines, which is optional.
    is_answered: bool,
}

impl KeepAlive {
    pub(super) fn new(now: Instant) -> Self {
        Self { sent: now, received: now, is_answered: false }
    }

    pub(super) fn on_sent(&mut self, now: Instant) {
        self.sent = now;
    }

    pub(super) fn on_received(&mut self, line: &str, at: Instant) {
        self.received = self.received.max(at);
        self.is_answered |= line.is_empty();
    }

    /// Whether an empty line has to be sent.
    ///
    /// # Errors
    /// The server has not answered several of them.
    pub(super) fn is_due(&self, now: Instant) -> Result<bool, ConnectionError> {
        if self.is_answered && now.saturating_duration_since(self.received) > SILENCE {
            return Err(ConnectionError::Silent);
        }
        Ok(now.saturating_duration_since(self.sent) >= KEEP_ALIVE)
    }
}

/// A connection to a server.
#[derive(Debug)]
pub(super) struct Connection {
    stream: TcpStream,
    lines: Receiver<Incoming>,
    keep_alive: KeepAlive,
}

impl Connection {
    /// Connects to `host:port`.
    pub(super) fn open(address: &str) -> Result<Self, ConnectionError> {
        let mut last = io::Error::from(io::ErrorKind::AddrNotAvailable);
        for address in address.to_socket_addrs()? {
            match TcpStream::connect_timeout(&address, CONNECT_TIMEOUT) {
                Ok(stream) => return Self::new(stream).map_err(ConnectionError::Io),
                Err(error) => last = error,
            }
        }
        Err(ConnectionError::Io(last))
    }

    fn new(stream: TcpStream) -> io::Result<Self> {
        stream.set_nodelay(true)?;
        stream.set_write_timeout(Some(WRITE_TIMEOUT))?;
        let (sender, lines) = sync_channel(MAX_PENDING);
        let reader = stream.try_clone()?;
        let read = move || read_lines(reader, &sender);
        thread::Builder::new().name("csa-reader".to_owned()).spawn(read)?;
        Ok(Self { stream, lines, keep_alive: KeepAlive::new(now()) })
    }

    pub(super) fn send(&mut self, line: &str) -> Result<(), ConnectionError> {
        self.stream.write_all(format!("{line}\n").as_bytes())?;
        self.keep_alive.on_sent(now());
        Ok(())
    }

    /// The next line, if it arrives in time, and the time of its arrival.
    pub(super) fn receive(
        &mut self,
        within: Duration,
    ) -> Result<Option<(String, Instant)>, ConnectionError> {
        if self.keep_alive.is_due(now())? {
            self.send("")?;
        }
        match self.lines.recv_timeout(within.min(KEEP_ALIVE)) {
            Ok(Ok((line, at))) => {
                self.keep_alive.on_received(&line, at);
                Ok(Some((line, at)))
            }
            Ok(Err(error)) => Err(error),
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Err(RecvTimeoutError::Disconnected) => Err(ConnectionError::Closed),
        }
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        // Ends the reading thread.
        let _ = self.stream.shutdown(std::net::Shutdown::Both);
    }
}

fn read_lines(stream: TcpStream, sender: &SyncSender<Incoming>) {
    let mut reader = BufReader::new(stream);
    loop {
        let line = match read_line(&mut reader) {
            Ok(Some(line)) => Ok((line, now())),
            Ok(None) => Err(ConnectionError::Closed),
            Err(error) => Err(error),
        };
        let is_end = line.is_err();
        if sender.send(line).is_err() || is_end {
            return;
        }
    }
}

/// Reads a line of at most [`MAX_LINE`] bytes. `None` at the end.
pub(super) fn read_line(reader: &mut impl BufRead) -> Result<Option<String>, ConnectionError> {
    let mut line = Vec::new();
    let limit = u64::try_from(MAX_LINE).unwrap_or(u64::MAX);
    let count = reader.by_ref().take(limit).read_until(b'\n', &mut line)?;
    if line.pop_if(|byte| *byte == b'\n').is_none() {
        return if count >= MAX_LINE { Err(ConnectionError::LineTooLong) } else { Ok(None) };
    }
    line.pop_if(|byte| *byte == b'\r');
    Ok(Some(String::from_utf8_lossy(&line).into_owned()))
}
