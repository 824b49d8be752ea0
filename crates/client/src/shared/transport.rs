//! Transports: a child process, a connection, two streams.
//!
//! On Unix, pollable streams are read by one I/O thread or by the waiting caller. Other streams, and all streams
//! on other systems, have a reading and a writing thread.

#[cfg(unix)]
mod unix;

use std::io::{self, ErrorKind, PipeReader, PipeWriter, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::{Arc, Condvar, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use crate::driver::{Change, Driver};
use crate::listener::ErrorLines;
use crate::process::guard::Guard;
use crate::process::{Process, Streams};
use crate::shared::{self, ReadPermit, Requester, Shared};
use crate::sync::{now, spawn};
use crate::working_directory::own_directory;

const CHUNK: usize = 1 << 13;
/// Maximum pause of the reading thread between checks whether the engine has ended.
const MAX_PAUSE: Duration = Duration::from_millis(100);

/// The transport of an engine.
#[derive(Debug)]
pub(crate) enum Io {
    #[cfg(unix)]
    Polled(unix::Polled),
    Threads(Threads),
}

/// The part of the state that belongs to the transport.
#[derive(Debug, Default)]
pub(crate) struct TransportState {
    #[cfg(unix)]
    polled: unix::PolledState,
    threads: ThreadsState,
}

/// Wakes a reading caller.
#[cfg(unix)]
pub(crate) type CallerWakeup = Arc<unix::Wakeup>;
/// Callers do not read if pipes cannot be polled.
#[cfg(not(unix))]
pub(crate) type CallerWakeup = std::convert::Infallible;

/// The location of an engine.
pub(crate) enum Target {
    Command(Command),
    Address(String),
    /// Pipes and streams can be used only once.
    Pipes(Option<(PipeReader, PipeWriter)>),
    Streams(Option<BoxedStreams>),
}

type BoxedStreams = (Box<dyn Read + Send>, Box<dyn Write + Send>);

impl Target {
    pub(crate) fn address(address: &str) -> Self {
        Self::Address(address.strip_prefix("tcp://").unwrap_or(address).to_owned())
    }

    pub(crate) fn streams(
        reader: impl Read + Send + 'static,
        writer: impl Write + Send + 'static,
    ) -> Self {
        Self::Streams(Some((Box::new(reader), Box::new(writer))))
    }

    /// Runs an engine in a thread of its own.
    pub(crate) fn in_process(
        engine: impl FnOnce(PipeReader, PipeWriter) + Send + 'static,
    ) -> io::Result<Self> {
        let (its_input, our_output) = io::pipe()?;
        let (our_input, its_output) = io::pipe()?;
        spawn("engine", move || engine(its_input, its_output))?;
        Ok(Self::Pipes(Some((our_input, our_output))))
    }

    pub(crate) fn name(&self) -> String {
        match self {
            Self::Command(command) => {
                let program = Path::new(command.get_program());
                program.file_stem().unwrap_or_default().to_string_lossy().into_owned()
            }
            Self::Address(address) => address.clone(),
            Self::Pipes(_) | Self::Streams(_) => "stream".to_owned(),
        }
    }

    /// Starts the process, or connects. Pipes and streams are moved out.
    pub(crate) fn open(
        &mut self,
        guard: Option<&Guard>,
        within: Duration,
    ) -> io::Result<StreamPair> {
        match self {
            Self::Command(command) => start_process(command, guard),
            Self::Address(address) => connect(address, within),
            Self::Pipes(pipes) => pipes
                .take()
                .map(|(output, input)| StreamPair::Pipes(output, input))
                .ok_or_else(|| ErrorKind::NotConnected.into()),
            Self::Streams(streams) => streams
                .take()
                .map(|(output, input)| StreamPair::Streams(output, input))
                .ok_or_else(|| ErrorKind::NotConnected.into()),
        }
    }
}

/// Both streams of an engine.
pub(crate) enum StreamPair {
    Process { process: Arc<Process>, streams: Streams },
    Connection(TcpStream),
    Pipes(PipeReader, PipeWriter),
    Streams(Box<dyn Read + Send>, Box<dyn Write + Send>),
}

impl StreamPair {
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
    #[cfg_attr(not(unix), expect(dead_code, reason = "callers never read there"))]
    pub(crate) is_async: bool,
}

fn start_process(command: &mut Command, guard: Option<&Guard>) -> io::Result<StreamPair> {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let own = own_directory(Path::new(command.get_program()));
    if let (None, Some(directory)) = (command.get_current_dir(), own) {
        command.current_dir(directory);
    }
    let (process, streams) = Process::start(command, guard)?;
    Ok(StreamPair::Process { process, streams })
}

/// Connects to `host:port`.
fn connect(address: &str, within: Duration) -> io::Result<StreamPair> {
    let mut result = Err(ErrorKind::AddrNotAvailable.into());
    let unknown = |error: io::Error| match error.kind() {
        ErrorKind::InvalidInput => error,
        // The name is not known. The kind of this error has no name itself.
        _ => io::Error::new(ErrorKind::HostUnreachable, error),
    };
    for address in address.to_socket_addrs().map_err(unknown)? {
        result = TcpStream::connect_timeout(&address, within);
        if result.is_ok() {
            break;
        }
    }
    let stream = result?;
    stream.set_nodelay(true)?;
    Ok(StreamPair::Connection(stream))
}

/// Starts the handshake with an engine, and the threads for it.
pub(crate) fn open(
    ends: StreamPair,
    driver: Driver,
    options: Options,
    stderr: &Arc<ErrorLines>,
) -> io::Result<Arc<Shared>> {
    let (transport, process, connection) = match ends {
        StreamPair::Process { process, streams } => {
            let transport = over_process(&process, streams, options, stderr);
            (transport.inspect_err(|_| process.kill_and_reap())?, Some(process), None)
        }
        StreamPair::Connection(stream) => {
            let connection = stream.try_clone()?;
            (over_pipes(stream.try_clone()?, stream, options)?, None, Some(connection))
        }
        StreamPair::Pipes(output, input) => (over_pipes(output, input, options)?, None, None),
        StreamPair::Streams(output, input) => (over_streams(output, input), None, None),
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
    state: TransportState,
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
        return Err(ErrorKind::BrokenPipe.into());
    };
    #[cfg(unix)]
    {
        let errors = (errors.into(), Arc::clone(stderr));
        unix::transport(output, input, Some(errors), process.exit_fd(), options)
    }
    #[cfg(not(unix))]
    {
        let _ = options;
        Ok(over_process_streams(process, output, input, errors, stderr))
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
    Ok(over_streams(output, input))
}

impl Io {
    /// Starts pending searches and writes the output.
    pub(crate) fn flush(&self, state: &mut shared::SharedState) {
        match self {
            #[cfg(unix)]
            Self::Polled(_) => unix::flush(state),
            Self::Threads(_) => hand_over_output(state),
        }
    }

    /// Wakes the reader if its next deadline is earlier than planned.
    pub(crate) fn wake(&self, state: &mut shared::SharedState, by: Requester, change: Change) {
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
    pub(crate) fn ensure_reader(&self, state: &mut shared::SharedState) {
        match self {
            #[cfg(unix)]
            Self::Polled(polled) => polled.ensure_reader(state),
            Self::Threads(_) => _ = state,
        }
    }

    /// Reads everything that has arrived, without waiting.
    pub(crate) fn drain(&self, state: &mut shared::SharedState) {
        match self {
            #[cfg(unix)]
            Self::Polled(_) => unix::drain(state),
            // A thread has read it.
            Self::Threads(_) => _ = state,
        }
    }

    /// How this thread is woken while it reads.
    pub(crate) fn wakeup(&self) -> Option<CallerWakeup> {
        match self {
            #[cfg(unix)]
            Self::Polled(polled) => polled.wakeup(),
            Self::Threads(_) => None,
        }
    }

    /// Whether this caller is or becomes the reader.
    pub(crate) fn may_read(
        &self,
        state: &mut shared::SharedState,
        permit: &ReadPermit<'_>,
    ) -> bool {
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
        state: shared::StateLock<'a>,
        permit: &ReadPermit<'_>,
        deadline: Option<Instant>,
    ) -> shared::StateLock<'a> {
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
    pub(crate) fn leave(&self, state: &mut shared::SharedState, wakeup: &CallerWakeup) {
        match self {
            #[cfg(unix)]
            Self::Polled(polled) => polled.leave(state, wakeup),
            Self::Threads(_) => _ = (state, wakeup),
        }
    }
}

#[derive(Debug, Default)]
pub(crate) struct Threads {
    /// Notifies the writing thread.
    work: Condvar,
}

#[derive(Debug, Default)]
struct ThreadsState {
    /// When the writing thread wakes at the latest.
    wakes: Option<Instant>,
    output_closed: bool,
}

fn over_streams(
    output: impl Read + Send + 'static,
    input: impl Write + Send + 'static,
) -> Transport {
    let start = |shared: &Arc<Shared>| {
        let (reader, writer) = (Arc::clone(shared), Arc::clone(shared));
        spawn("engine-read", move || read_output(&reader, output))?;
        spawn("engine-write", move || write_input(&writer, input))
    };
    Transport {
        io: Io::Threads(Threads::default()),
        state: TransportState::default(),
        start: Box::new(start),
    }
}

/// A process whose pipes cannot be polled. Two more threads read its error output and wait for its exit.
#[cfg(not(unix))]
fn over_process_streams(
    process: &Arc<Process>,
    output: impl Read + Send + 'static,
    input: impl Write + Send + 'static,
    errors: impl Read + Send + 'static,
    stderr: &Arc<ErrorLines>,
) -> Transport {
    let Transport { io, state, start } = over_streams(output, input);
    let (process, stderr) = (Arc::clone(process), Arc::clone(stderr));
    let start_all = move |shared: &Arc<Shared>| {
        let (closed, is_closed) = std::sync::mpsc::channel::<()>();
        spawn("engine-stderr", move || {
            read_errors(errors, &stderr);
            drop(closed);
        })?;
        start(shared)?;
        let (before, after) = (Arc::clone(shared), Arc::clone(shared));
        let last_output = move || {
            let _: Result<(), _> = is_closed.recv_timeout(LAST_OUTPUT);
            wait_for_output(&before);
        };
        process.watch(last_output, move |status| {
            let mut state = after.lock();
            let now = now();
            if !std::mem::replace(&mut state.io.threads.output_closed, true) {
                Shared::on_output_closed(&mut state, now);
            }
            state.driver.on_exit(status, now);
            after.release(state, Requester::Caller);
        })
    };
    Transport { io, state, start: Box::new(start_all) }
}

/// Maximum time for the last output after the exit, if another process holds the pipes.
#[cfg(not(unix))]
const LAST_OUTPUT: Duration = Duration::from_millis(200);

#[cfg(not(unix))]
fn wait_for_output(shared: &Shared) {
    let Io::Threads(threads) = &shared.io;
    let is_open = |state: &mut shared::SharedState| !state.io.threads.output_closed;
    let wait = threads.work.wait_timeout_while(shared.lock(), LAST_OUTPUT, is_open);
    drop(wait.unwrap_or_else(PoisonError::into_inner));
}

#[cfg(not(unix))]
fn read_errors(mut from: impl Read, stderr: &ErrorLines) {
    let mut lines = readyok_protocol::LineBuffer::new(1000);
    let mut chunk = [0; CHUNK / 2];
    while let Ok(count @ 1..) = from.read(&mut chunk) {
        lines.push(chunk.get(..count).unwrap_or_default());
        stderr.take(&mut lines);
    }
    stderr.end(&mut lines);
}

fn read_output(shared: &Shared, mut from: impl Read) {
    let mut chunk = vec![0; CHUNK];
    while pause(shared) {
        let read = match from.read(&mut chunk) {
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Ok(count) => count,
            Err(_) => 0,
        };
        let at = now();
        let mut state = shared.lock();
        if read == 0 {
            if !std::mem::replace(&mut state.io.threads.output_closed, true) {
                Shared::on_output_closed(&mut state, at);
            }
            shared.release(state, Requester::Caller);
            return;
        }
        Shared::on_bytes(&mut state, chunk.get(..read).unwrap_or_default(), at);
        state.driver.on_time(now());
        // The other thread may have to write.
        shared.release(state, Requester::Caller);
        shared.yield_to_callers();
    }
}

/// Waits as long as the rate requires. Returns whether to continue.
fn pause(shared: &Shared) -> bool {
    loop {
        let state = shared.lock();
        let now = now();
        let pause = Shared::pause(&state, now);
        let has_ended = state.driver.has_ended();
        drop(state);
        match pause {
            _ if has_ended => return false,
            Some(until) => thread::sleep(until.saturating_duration_since(now).min(MAX_PAUSE)),
            None => return true,
        }
    }
}

fn write_input(shared: &Shared, to: impl Write) {
    #[cfg_attr(not(unix), expect(irrefutable_let_patterns, reason = "the only transport there"))]
    let Io::Threads(threads) = &shared.io else { return };
    let mut to = Some(to);
    let mut state = shared.lock();
    loop {
        state.driver.on_time(now());
        state = shared.publish(state, Requester::Io);
        let bytes = state.driver.take_unsent();
        if let Some(to) = to.as_mut().filter(|_| !bytes.is_empty()) {
            drop(state);
            let failed = to.write_all(&bytes).and_then(|()| to.flush()).is_err();
            let written = now();
            state = shared.lock();
            if failed {
                // The reason is visible in the output of the engine.
                state.driver.on_input_closed();
            } else if !state.driver.has_output() {
                state.driver.on_written(written);
            }
            continue;
        }
        if state.driver.closes_input() {
            to = None;
        }
        if state.driver.has_ended() {
            return;
        }
        state = threads.sleep(state);
    }
}

fn hand_over_output(state: &mut shared::SharedState) {
    // A thread has handled everything that has arrived.
    while state.driver.can_start_pending() {
        state.driver.start_pending(now());
    }
    if state.driver.has_output() {
        state.driver.send(|_| 0);
    }
}

impl Threads {
    fn sleep<'a>(&'a self, mut state: shared::StateLock<'a>) -> shared::StateLock<'a> {
        let until = state.driver.deadline();
        state.io.threads.wakes = until;
        match until {
            None => self.work.wait(state).unwrap_or_else(PoisonError::into_inner),
            Some(until) => {
                let left = until.saturating_duration_since(now());
                self.work.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0
            }
        }
    }

    fn wake(&self, state: &shared::SharedState, by: Requester) {
        let earlier = match (state.driver.deadline(), state.io.threads.wakes) {
            (Some(due), Some(wakes)) => due < wakes,
            (Some(_), None) => true,
            (None, _) => false,
        };
        let has_work = state.driver.is_blocked() || state.driver.is_ending() || earlier;
        if by == Requester::Caller && has_work {
            self.work.notify_all();
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
