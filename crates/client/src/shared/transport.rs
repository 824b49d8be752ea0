//! Transports: a child process, a connection, two streams.
//!
//! On Unix, pollable streams are read by one I/O thread or by the waiting caller. Other streams, and all streams
//! on other systems, have a reading and a writing thread.

mod threads;
#[cfg(unix)]
mod unix;

use std::io::{self, PipeReader, PipeWriter, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::driver::{Change, Driver};
use crate::listener::ErrorLines;
use crate::process::guard::Guard;
use crate::process::{Process, Streams};
use crate::shared::{self, By, ReadPermit, Shared};

/// The transport of an engine.
#[derive(Debug)]
pub(crate) enum Io {
    #[cfg(unix)]
    Polled(unix::Polled),
    Threads(threads::Threads),
}

/// The part of the state that belongs to the transport.
#[derive(Debug, Default)]
pub(crate) struct State {
    #[cfg(unix)]
    polled: unix::State,
    threads: threads::State,
}

/// Wakes a reading caller.
#[cfg(unix)]
pub(crate) type Wakeup = Arc<unix::Bell>;
/// Callers do not read if pipes cannot be polled.
#[cfg(not(unix))]
pub(crate) type Wakeup = std::convert::Infallible;

/// Both streams of an engine.
pub(crate) enum Ends {
    Process { process: Arc<Process>, streams: Streams },
    Connection(TcpStream),
    Pipes(PipeReader, PipeWriter),
    Streams(Box<dyn Read + Send>, Box<dyn Write + Send>),
}

impl Ends {
    /// Kills an unused process.
    pub(crate) fn abandon(&self) {
        if let Self::Process { process, .. } = self {
            process.kill_and_reap();
        }
    }
}

/// Settings of a transport.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Options {
    /// Maximum bytes per second.
    pub(crate) rate: Option<u32>,
    /// Whether callers wait in tasks. Then only the I/O thread reads.
    pub(crate) is_async: bool,
}

/// Starts a process.
pub(crate) fn spawn(command: &mut Command, guard: Option<&Guard>) -> io::Result<Ends> {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    if let (None, Some(directory)) = (command.get_current_dir(), own_directory(command)) {
        command.current_dir(directory);
    }
    let (process, streams) = Process::start(command, guard)?;
    Ok(Ends::Process { process, streams })
}

/// Connects to `host:port`.
pub(crate) fn connect(address: &str, within: Duration) -> io::Result<Ends> {
    let mut result = Err(io::ErrorKind::AddrNotAvailable.into());
    for address in address.to_socket_addrs()? {
        result = TcpStream::connect_timeout(&address, within);
        if result.is_ok() {
            break;
        }
    }
    let stream = result?;
    stream.set_nodelay(true)?;
    Ok(Ends::Connection(stream))
}

/// The directory of the executable. Engines search their books and networks there.
fn own_directory(command: &Command) -> Option<PathBuf> {
    let program = Path::new(command.get_program());
    program.parent().filter(|_| program.is_absolute()).map(Path::to_owned)
}

/// Starts the handshake with an engine, and the threads for it.
pub(crate) fn open(
    ends: Ends,
    driver: Driver,
    options: Options,
    stderr: &Arc<ErrorLines>,
) -> io::Result<Arc<Shared>> {
    let (transport, process, connection) = match ends {
        Ends::Process { process, streams } => {
            let transport = over_process(&process, streams, options, stderr);
            (transport.inspect_err(|_| process.kill_and_reap())?, Some(process), None)
        }
        Ends::Connection(stream) => {
            let connection = stream.try_clone()?;
            (over_pipes(stream.try_clone()?, stream, options)?, None, Some(connection))
        }
        Ends::Pipes(output, input) => (over_pipes(output, input, options)?, None, None),
        Ends::Streams(output, input) => (threads::transport(output, input), None, None),
    };
    let Transport { io, state, start } = transport;
    let shared = Shared::new(driver, options.rate, io, state, process.clone(), connection);
    let shared = Arc::new(shared);
    let started = start(&shared);
    if let (Err(_), Some(process)) = (&started, process) {
        process.kill_and_reap();
    }
    started.map(|()| shared)
}

/// A transport before its threads are started.
struct Transport {
    io: Io,
    state: State,
    start: Start,
}

type Start = Box<dyn FnOnce(&Arc<Shared>) -> io::Result<()> + Send>;

fn over_process(
    process: &Arc<Process>,
    streams: Streams,
    options: Options,
    stderr: &Arc<ErrorLines>,
) -> io::Result<Transport> {
    let Streams { stdin: Some(input), stdout: Some(output), stderr: Some(errors) } = streams else {
        return Err(io::ErrorKind::BrokenPipe.into());
    };
    #[cfg(unix)]
    {
        let errors = (errors.into(), Arc::clone(stderr));
        unix::transport(output, input, Some(errors), process.exit_fd(), options)
    }
    #[cfg(not(unix))]
    {
        let _ = options;
        Ok(threads::of_process(process, output, input, errors, stderr))
    }
}

#[cfg(unix)]
fn over_pipes(
    output: impl Into<std::os::fd::OwnedFd>,
    input: impl Into<std::os::fd::OwnedFd>,
    options: Options,
) -> io::Result<Transport> {
    unix::transport(output, input, None, None, options)
}

#[cfg(not(unix))]
fn over_pipes(
    output: impl Read + Send + 'static,
    input: impl Write + Send + 'static,
    _: Options,
) -> io::Result<Transport> {
    Ok(threads::transport(output, input))
}

impl Io {
    /// Starts pending searches and writes the output.
    pub(crate) fn flush(&self, state: &mut shared::State) {
        match self {
            #[cfg(unix)]
            Self::Polled(_) => unix::flush(state),
            Self::Threads(_) => threads::flush(state),
        }
    }

    /// Wakes the reader if its next deadline is earlier than planned.
    pub(crate) fn wake(&self, state: &mut shared::State, by: By, change: Change) {
        match self {
            #[cfg(unix)]
            Self::Polled(polled) => polled.wake(state, by, change),
            Self::Threads(threads) => {
                let _ = change;
                threads.wake(state, by);
            }
        }
    }

    /// Makes the I/O thread the reader, unless a caller reads.
    pub(crate) fn ensure_reader(&self, state: &mut shared::State) {
        match self {
            #[cfg(unix)]
            Self::Polled(polled) => polled.ensure_reader(state),
            Self::Threads(_) => _ = state,
        }
    }

    /// Reads everything that has arrived, without waiting.
    pub(crate) fn drain(&self, state: &mut shared::State) {
        match self {
            #[cfg(unix)]
            Self::Polled(_) => unix::drain(state),
            // A thread has read it.
            Self::Threads(_) => _ = state,
        }
    }

    /// How this thread is woken while it reads.
    pub(crate) fn wakeup(&self) -> Option<Wakeup> {
        match self {
            #[cfg(unix)]
            Self::Polled(polled) => polled.wakeup(),
            Self::Threads(_) => None,
        }
    }

    /// Whether this caller is or becomes the reader.
    pub(crate) fn may_read(&self, state: &mut shared::State, permit: &ReadPermit<'_>) -> bool {
        match self {
            #[cfg(unix)]
            Self::Polled(_) => unix::may_read(state, &permit.wakeup),
            Self::Threads(_) => {
                let _ = (state, permit);
                false
            }
        }
    }

    /// Waits for the streams once, and handles what has arrived.
    pub(crate) fn turn<'a>(
        &self,
        shared: &'a Shared,
        state: shared::Guard<'a>,
        permit: &ReadPermit<'_>,
        deadline: Option<Instant>,
    ) -> shared::Guard<'a> {
        match self {
            #[cfg(unix)]
            Self::Polled(_) => unix::turn(shared, state, &permit.wakeup, deadline),
            Self::Threads(_) => {
                let _ = (shared, permit, deadline);
                state
            }
        }
    }

    /// Hands the output over after a caller has read.
    pub(crate) fn leave(&self, state: &mut shared::State, wakeup: &Wakeup) {
        match self {
            #[cfg(unix)]
            Self::Polled(polled) => polled.leave(state, wakeup),
            Self::Threads(_) => _ = (state, wakeup),
        }
    }
}

/// Maximum time that reading may be ahead of the rate.
const MAX_AHEAD: Duration = Duration::from_millis(20);

/// Limits the read rate: excess output stays in the pipe, and a full pipe blocks the engine.
#[derive(Debug)]
pub(crate) struct RateLimiter {
    rate: u32,
    /// From this moment on, the bytes read so far are within the rate.
    until: Instant,
}

impl RateLimiter {
    /// `rate` in bytes per second.
    pub(crate) fn new(rate: u32, at: Instant) -> Self {
        Self { rate: rate.max(1), until: at }
    }

    pub(crate) fn spend(&mut self, bytes: usize, at: Instant) {
        let bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
        let worth = Duration::from_secs(1).saturating_mul(bytes) / self.rate;
        self.until = self.until.max(at) + worth;
    }

    /// When reading may continue.
    pub(crate) fn pause(&self, at: Instant) -> Option<Instant> {
        self.until.checked_sub(MAX_AHEAD).filter(|until| at < *until)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sync::now;

    #[test]
    fn the_rate_limit_allows_bursts() {
        let begin = now();
        let at = |milliseconds| begin + Duration::from_millis(milliseconds);
        let mut limiter = RateLimiter::new(10_000, begin);
        assert_eq!(limiter.pause(begin), None);
        limiter.spend(190, at(1));
        assert_eq!(limiter.pause(at(1)), None);
        limiter.spend(1000, at(2));
        assert_eq!(limiter.pause(at(2)), Some(at(100)));
        assert_eq!(limiter.pause(at(100)), None);
        // Unused time does not accumulate.
        limiter.spend(1000, at(500));
        assert_eq!(limiter.pause(at(500)), Some(at(580)));
    }
}
