//! A connection that carries lines: limits of length and time, and keep-alive messages.

use std::io::{self, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::time::{Duration, Instant};

use super::message::MAX_LINE;
use crate::clock::now;
use crate::lines::{LineError, Lines};

/// Maximum time to connect.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(20);
/// Maximum time of one write.
const WRITE_TIMEOUT: Duration = Duration::from_secs(20);
/// Time without a message from this side after which an empty line is sent. The protocol allows one every 30 seconds.
const KEEP_ALIVE: Duration = Duration::from_secs(40);
/// Time without any message after which the connection counts as lost, if the server has answered an empty line before.
const SILENCE: Duration = Duration::from_mins(3);

/// Why a connection has ended.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ConnectionError {
    /// The server does not answer.
    #[error("the server does not answer")]
    Silent,
    #[error(transparent)]
    Line(#[from] LineError),
    #[error(transparent)]
    Io(#[from] io::Error),
}

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
    lines: Lines,
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
        let lines = Lines::read(stream.try_clone()?, MAX_LINE)?;
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
        let line = self.lines.next(within.min(KEEP_ALIVE))?;
        if let Some((line, at)) = &line {
            self.keep_alive.on_received(line, *at);
        }
        Ok(line)
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        // Ends the reading thread.
        let _ = self.stream.shutdown(std::net::Shutdown::Both);
    }
}
