//! Pollable streams (poll(2)): one I/O thread for each engine, and callers that read while they wait.
//!
//! ```text
//!  Running ── the process exits ──> Exited ── its pipes end, or take too long ──> Ended
//! ```
//!
//! The reader migrates because a thread switch for each line takes longer than everything else. In `benches/peers`, the
//! median from `go` to `bestmove` is 2.9 times that of bare pipes, and 1.6 times without `isready` before each `go`. If
//! only the I/O thread reads, it is 4.6 and 2.8 times; the limits are 4 and 2.

use std::fs::File;
use std::io::{self, ErrorKind, PipeReader, PipeWriter, Read, Write};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::process::ExitStatus;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use readyok_protocol::LineBuffer;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{Errno, ioctl_fionbio};
use smallvec::SmallVec;

use super::{Io, Options, Transport};
use crate::driver::Change;
use crate::listener::ErrorLines;
use crate::shared::{self, Requester, Shared};
use crate::sync::{now, spawn};

/// Maximum number of bytes per read.
const CHUNK: usize = 1 << 13;
/// Maximum number of reads for the contents of a pipe: one megabyte.
const MAX_READS: usize = (1 << 20) / CHUNK;
const MAX_ERROR_LINE: usize = 1000;
/// How long the output of an idle engine is not read after the last caller. Interval of the I/O thread.
const IDLE: Duration = Duration::from_secs(1);
/// Maximum time for the last output after the exit, if another process holds the pipes.
const LAST_OUTPUT: Duration = Duration::from_millis(200);
/// Longer waits are split, because some systems reject those of many days.
const MAX_WAIT: Duration = Duration::from_hours(1);
/// Interval of checks for an exit that cannot be polled, while the output is open.
const POLL_INTERVAL: Duration = Duration::from_millis(250);
/// Interval of checks after the output was closed.
const SHORT_POLL_INTERVAL: Duration = Duration::from_millis(5);

#[derive(Debug)]
pub(crate) struct Polled {
    wakeup: Arc<Wakeup>,
    /// Whether callers wait in tasks. Then only the I/O thread reads.
    is_async: bool,
}

#[derive(Debug, Default)]
pub(super) struct PolledState {
    input: Option<Arc<File>>,
    output: Option<Arc<File>>,
    reader: OutputReader,
    /// When the I/O thread wakes at the latest.
    thread_wakes: Option<Instant>,
    /// When the reading caller wakes at the latest.
    caller_wakes: Option<Instant>,
    /// When the latest caller has stopped reading.
    left: Option<Instant>,
    /// When the latest bytes arrived.
    arrived: Option<Instant>,
    phase: ProcessPhase,
}

/// The thread that reads the output.
#[derive(Clone, Debug, Default)]
enum OutputReader {
    /// No thread: no output is expected.
    #[default]
    Idle,
    Thread,
    Caller(Arc<Wakeup>),
}

#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
enum ProcessPhase {
    #[default]
    Running,
    Exited {
        status: ExitStatus,
        until: Instant,
    },
    Ended,
}

/// The streams that only the I/O thread uses.
struct IoThreadStreams {
    errors: Option<(File, Arc<ErrorLines>)>,
    error_lines: LineBuffer,
    /// Readable after the exit of the process. Missing on old kernels and other systems.
    exit: Option<OwnedFd>,
}

/// The result of a read.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum ReadOutcome {
    Nothing,
    /// Everything available was read.
    All,
    /// More may be available.
    Part,
}

pub(super) fn transport(
    output: impl Into<OwnedFd>,
    input: impl Into<OwnedFd>,
    errors: Option<(OwnedFd, Arc<ErrorLines>)>,
    exit: Option<OwnedFd>,
    options: Options,
) -> io::Result<Transport> {
    let (input, output) = (input.into(), output.into());
    let errors_fd = errors.as_ref().map(|(errors, _)| errors);
    for end in [Some(&input), Some(&output), errors_fd].into_iter().flatten() {
        ioctl_fionbio(end, true)?;
    }
    let polled = Polled { wakeup: Arc::new(Wakeup::new()?), is_async: options.is_async };
    let state = PolledState {
        input: Some(Arc::new(input.into())),
        output: Some(Arc::new(output.into())),
        reader: if options.is_async { OutputReader::Thread } else { OutputReader::Idle },
        ..PolledState::default()
    };
    let errors = errors.map(|(errors, lines)| (errors.into(), lines));
    let streams = IoThreadStreams { errors, error_lines: LineBuffer::new(MAX_ERROR_LINE), exit };
    let start = |shared: &Arc<Shared>| {
        let shared = Arc::clone(shared);
        spawn("engine-io", move || run(&shared, streams))
    };
    Ok(Transport {
        io: Io::Polled(polled),
        state: super::TransportState { polled: state, ..super::TransportState::default() },
        start: Box::new(start),
    })
}

/// The I/O thread. It exits after the process was reaped, or the connection was closed.
fn run(shared: &Shared, mut streams: IoThreadStreams) {
    let Io::Polled(polled) = &shared.io else { return };
    loop {
        let mut state = shared.lock();
        if is_done(shared, &state) {
            (state.io.polled.input, state.io.polled.output) = (None, None);
            shared.release(state, Requester::Io);
            return;
        }
        let now = now();
        let plan = Plan::new(shared, &mut state, &streams, now);
        polled.wakeup.arm();
        shared.release(state, Requester::Io);
        let came = polled.wait(&plan, &streams);
        polled.wakeup.disarm();
        if came.errors {
            streams.read_errors();
        }
        let exited = shared.process.as_ref().filter(|_| came.exit || streams.exit.is_none());
        let exited = exited.filter(|process| process.has_exited());
        // Its remaining descendants are killed first, which may take a moment.
        let status = exited.filter(|_| plan.running).map(|process| process.reap());
        let mut state = shared.lock();
        if came.output && matches!(state.io.polled.reader, OutputReader::Thread) {
            read(&mut state, Some(came.at));
        }
        if let Some(status) = status {
            on_exit(&mut state, status);
        }
        finish_exit(&mut state, &mut streams);
        if !matches!(state.io.polled.reader, OutputReader::Caller(_)) {
            state.driver.on_time(crate::sync::now());
        }
        shared.release(state, Requester::Io);
    }
}

fn is_done(shared: &Shared, state: &shared::SharedState) -> bool {
    match shared.process {
        Some(_) => state.io.polled.phase == ProcessPhase::Ended,
        None => state.io.polled.output.is_none() || state.driver.has_ended(),
    }
}

/// The files and the deadline that the I/O thread waits for.
struct Plan {
    output: Option<Arc<File>>,
    input: Option<Arc<File>>,
    until: Option<Instant>,
    running: bool,
}

/// The result of a wait.
struct WaitResult {
    output: bool,
    errors: bool,
    exit: bool,
    at: Instant,
}

impl Plan {
    fn new(
        shared: &Shared,
        state: &mut shared::SharedState,
        streams: &IoThreadStreams,
        now: Instant,
    ) -> Self {
        let io = &mut state.io.polled;
        let is_idle = io.left.is_some_and(|left| IDLE <= now.saturating_duration_since(left));
        if matches!(io.reader, OutputReader::Idle) && is_idle {
            io.reader = OutputReader::Thread;
        }
        let pause = Shared::pause(state, now);
        let io = &state.io.polled;
        let (reads, writes) = match io.reader {
            OutputReader::Thread => (pause.is_none(), true),
            OutputReader::Idle => (false, true),
            OutputReader::Caller(_) => (false, false),
        };
        let mut until = match io.reader {
            OutputReader::Thread => state.driver.deadline().into_iter().chain(pause).min(),
            OutputReader::Idle => state.driver.deadline().into_iter().chain([now + IDLE]).min(),
            OutputReader::Caller(_) => Some(now + IDLE),
        };
        match io.phase {
            ProcessPhase::Running if shared.process.is_some() && streams.exit.is_none() => {
                let interval =
                    if io.output.is_some() { POLL_INTERVAL } else { SHORT_POLL_INTERVAL };
                until = until.into_iter().chain([now + interval]).min();
            }
            ProcessPhase::Exited { until: last, .. } => {
                until = until.into_iter().chain([last]).min();
            }
            ProcessPhase::Running | ProcessPhase::Ended => (),
        }
        let input = io.input.clone().filter(|_| writes && state.driver.is_blocked());
        let plan = Self {
            output: io.output.clone().filter(|_| reads),
            input,
            until,
            running: io.phase == ProcessPhase::Running,
        };
        state.io.polled.thread_wakes = until;
        plan
    }
}

impl Polled {
    fn wait(&self, plan: &Plan, streams: &IoThreadStreams) -> WaitResult {
        let mut fds = SmallVec::<[PollFd<'_>; 5]>::new();
        let mut add = |fd, flags| {
            fds.push(PollFd::from_borrowed_fd(fd, flags));
            fds.len() - 1
        };
        add(self.wakeup.reader.as_fd(), PollFlags::IN);
        let output = plan.output.as_ref().map(|output| add(output.as_fd(), PollFlags::IN));
        let errors = streams.errors.as_ref().map(|(errors, _)| add(errors.as_fd(), PollFlags::IN));
        let exit = streams.exit.as_ref().filter(|_| plan.running);
        let exit = exit.map(|exit| add(exit.as_fd(), PollFlags::IN));
        if let Some(input) = &plan.input {
            add(input.as_fd(), PollFlags::OUT);
        }
        let (polled, at) = wait_for(&mut fds, now(), plan.until);
        let has = |index: Option<usize>| {
            let fd = index.and_then(|index| fds.get(index));
            // If polling fails, reading is tried.
            fd.is_some_and(|fd| polled.is_err() || !fd.revents().is_empty())
        };
        if has(Some(0)) {
            self.wakeup.reset();
        }
        WaitResult { output: has(output), errors: has(errors), exit: has(exit), at }
    }

    pub(super) fn wake(&self, state: &mut shared::SharedState, by: Requester, change: Change) {
        if state.driver.is_ending() {
            let is_thread = matches!(state.io.polled.reader, OutputReader::Thread);
            if !is_thread {
                take_over(state);
                self.wakeup.ring();
            } else if by == Requester::Caller {
                self.wakeup.ring();
            }
            return;
        }
        if by == Requester::Io && !matches!(state.io.polled.reader, OutputReader::Caller(_)) {
            return;
        }
        let io = &state.io.polled;
        let (wakeup, wakes) = match &io.reader {
            OutputReader::Caller(wakeup) => (wakeup, io.caller_wakes),
            OutputReader::Idle | OutputReader::Thread => (&self.wakeup, io.thread_wakes),
        };
        let earlier = match (state.driver.deadline(), wakes) {
            (Some(due), Some(wakes)) => due < wakes,
            (Some(_), None) => true,
            (None, _) => false,
        };
        // A reading caller may wait for a change that another thread has made.
        let is_news = change == Change::State && matches!(io.reader, OutputReader::Caller(_));
        if earlier || is_news || state.driver.is_blocked() {
            wakeup.ring();
        }
    }

    pub(super) fn ensure_reader(&self, state: &mut shared::SharedState) {
        if matches!(state.io.polled.reader, OutputReader::Idle) {
            state.io.polled.reader = OutputReader::Thread;
            self.wakeup.ring();
        }
    }

    pub(super) fn wakeup(&self) -> Option<Arc<Wakeup>> {
        thread_local! {
            static WAKEUP: Option<Arc<Wakeup>> = Wakeup::new().ok().map(Arc::new);
        }
        if self.is_async {
            return None;
        }
        // In an exiting thread, the I/O thread reads.
        WAKEUP.try_with(Clone::clone).ok().flatten()
    }

    pub(super) fn leave(&self, state: &mut shared::SharedState, wakeup: &Arc<Wakeup>) {
        if !is_reader(state, wakeup) {
            return;
        }
        let io = &mut state.io.polled;
        io.caller_wakes = None;
        io.left = Some(now());
        if state.driver.is_searching() || state.driver.is_ending() {
            io.reader = OutputReader::Thread;
            self.wakeup.ring();
        } else {
            io.reader = OutputReader::Idle;
        }
    }
}

/// The process has exited. Its remaining output is still read.
fn on_exit(state: &mut shared::SharedState, status: ExitStatus) {
    state.io.polled.phase = ProcessPhase::Exited { status, until: now() + LAST_OUTPUT };
    take_over(state);
}

pub(super) fn flush(state: &mut shared::SharedState) {
    loop {
        while state.driver.can_start_pending() {
            // Lines that arrived before `go` do not answer it.
            drain(state);
            if state.driver.can_start_pending() {
                state.driver.start_pending(now());
            }
        }
        if state.driver.has_output() || state.driver.is_blocked() {
            write(state);
            if !state.driver.is_blocked() {
                state.driver.on_written(now());
            }
        }
        if !state.driver.can_start_pending() {
            break;
        }
    }
    if state.driver.closes_input() {
        state.io.polled.input = None;
    }
}

impl IoThreadStreams {
    fn read_errors(&mut self) {
        let Some((errors, lines)) = &mut self.errors else { return };
        let mut chunk = [0; CHUNK / 2];
        match errors.read(&mut chunk) {
            Ok(count) if count != 0 => {
                self.error_lines.push(chunk.get(..count).unwrap_or_default());
                lines.take(&mut self.error_lines);
            }
            Err(error) if is_temporary(&error) => (),
            Ok(_) | Err(_) => {
                lines.end(&mut self.error_lines);
                self.errors = None;
            }
        }
    }
}

fn is_temporary(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::Interrupted | ErrorKind::WouldBlock)
}

/// Makes the I/O thread the reader.
fn take_over(state: &mut shared::SharedState) {
    let before = std::mem::replace(&mut state.io.polled.reader, OutputReader::Thread);
    if let OutputReader::Caller(wakeup) = before {
        wakeup.ring();
    }
}

/// Ends the session after the exit of the process and the end of its output.
fn finish_exit(state: &mut shared::SharedState, streams: &mut IoThreadStreams) {
    let ProcessPhase::Exited { status, until } = state.io.polled.phase else { return };
    let has_more = state.io.polled.output.is_some() || streams.errors.is_some();
    let now = now();
    if has_more && now < until {
        return;
    }
    drain(state);
    if let Some((_, lines)) = streams.errors.take() {
        lines.end(&mut streams.error_lines);
    }
    state.io.polled.phase = ProcessPhase::Ended;
    if state.io.polled.output.take().is_some() {
        Shared::on_output_closed(state, now);
    }
    state.driver.on_exit(status, now);
}

pub(super) fn drain(state: &mut shared::SharedState) {
    for _ in 0..MAX_READS {
        if read(state, None) != ReadOutcome::Part {
            return;
        }
    }
}

/// Reads once. `at` is the time of arrival, or now.
fn read(state: &mut shared::SharedState, at: Option<Instant>) -> ReadOutcome {
    let Some(output) = state.io.polled.output.clone() else { return ReadOutcome::Nothing };
    // Without the cost of zeros for each line of an engine.
    let mut chunk = [MaybeUninit::<u8>::uninit(); CHUNK];
    let bytes: &[u8] = match rustix::io::read(&*output, &mut chunk) {
        Ok((bytes, _)) => bytes,
        Err(Errno::INTR | Errno::AGAIN) => return ReadOutcome::Nothing,
        Err(_) => &[],
    };
    // Another thread may have read earlier output meanwhile.
    let at = at.unwrap_or_else(now);
    let at = state.io.polled.arrived.map_or(at, |before| at.max(before));
    state.io.polled.arrived = Some(at);
    if bytes.is_empty() {
        state.io.polled.output = None;
        Shared::on_output_closed(state, at);
        return ReadOutcome::Nothing;
    }
    Shared::on_bytes(state, bytes, at);
    if bytes.len() < CHUNK { ReadOutcome::All } else { ReadOutcome::Part }
}

fn write(state: &mut shared::SharedState) {
    let input = state.io.polled.input.clone();
    let mut failed = input.is_none();
    state.driver.send(|bytes| {
        let Some(input) = &input else { return bytes.len() };
        let mut written = 0;
        while let Some(rest) = bytes.get(written..).filter(|rest| !rest.is_empty()) {
            match (&**input).write(rest) {
                Ok(count) => written += count,
                Err(error) if error.kind() == ErrorKind::Interrupted => (),
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(_) => {
                    failed = true;
                    return bytes.len();
                }
            }
        }
        written
    });
    if failed {
        state.driver.on_input_closed();
    }
}

fn is_reader(state: &shared::SharedState, wakeup: &Arc<Wakeup>) -> bool {
    matches!(&state.io.polled.reader, OutputReader::Caller(reader) if Arc::ptr_eq(reader, wakeup))
}

pub(super) fn may_read(state: &mut shared::SharedState, wakeup: &Arc<Wakeup>) -> bool {
    if is_reader(state, wakeup) {
        return true;
    }
    let io = &mut state.io.polled;
    let is_free = match io.reader {
        OutputReader::Idle | OutputReader::Thread => {
            io.phase == ProcessPhase::Running && !state.driver.is_ending()
        }
        OutputReader::Caller(_) => false,
    };
    if is_free {
        io.reader = OutputReader::Caller(Arc::clone(wakeup));
    }
    is_free
}

pub(super) fn turn<'a>(
    shared: &'a Shared,
    mut state: shared::StateLock<'a>,
    wakeup: &Arc<Wakeup>,
    deadline: Option<Instant>,
) -> shared::StateLock<'a> {
    let started = now();
    let pause = Shared::pause(&state, started);
    let until = state.driver.deadline().into_iter().chain(deadline).chain(pause).min();
    let output = state.io.polled.output.clone().filter(|_| pause.is_none());
    let input = state.io.polled.input.clone().filter(|_| state.driver.is_blocked());
    state.io.polled.caller_wakes = until;
    wakeup.arm();
    drop(state);
    let mut fds = SmallVec::<[PollFd<'_>; 3]>::new();
    fds.push(PollFd::new(&wakeup.reader, PollFlags::IN));
    if let Some(output) = &output {
        fds.push(PollFd::new(output, PollFlags::IN));
    }
    if let Some(input) = &input {
        fds.push(PollFd::new(input, PollFlags::OUT));
    }
    let (polled, at) = wait_for(&mut fds, started, until);
    let has =
        |index: usize| fds.get(index).is_some_and(|fd| polled.is_err() || !fd.revents().is_empty());
    let (rung, readable) = (has(0), output.is_some() && has(1));
    wakeup.disarm();
    if rung {
        wakeup.reset();
    }
    let mut state = shared.lock_as_caller();
    if is_reader(&state, wakeup) {
        if readable {
            read(&mut state, Some(at));
        }
        state.driver.on_time(at);
    }
    state
}

/// Waits for files until the deadline. Returns the current time, too.
fn wait_for(
    fds: &mut [PollFd<'_>],
    started: Instant,
    until: Option<Instant>,
) -> (Result<usize, Errno>, Instant) {
    let left = until.map(|until| until.saturating_duration_since(started).min(MAX_WAIT));
    let timeout = left.map(|left| Timespec {
        tv_sec: i64::try_from(left.as_secs()).unwrap_or(i64::MAX),
        tv_nsec: left.subsec_nanos().into(),
    });
    let polled = match poll(fds, timeout.as_ref()) {
        // Nothing has happened; the caller checks again.
        Err(Errno::INTR) => Ok(0),
        polled => polled,
    };
    (polled, now())
}

/// Interrupts the wait of another thread for files. Free of system calls while no thread waits.
#[derive(Debug)]
pub(crate) struct Wakeup {
    /// Readable after `ring`.
    reader: PipeReader,
    writer: PipeWriter,
    armed: AtomicBool,
}

impl Wakeup {
    fn new() -> io::Result<Self> {
        let (reader, writer) = io::pipe()?;
        ioctl_fionbio(&reader, true)?;
        ioctl_fionbio(&writer, true)?;
        Ok(Self { reader, writer, armed: AtomicBool::new(false) })
    }

    /// Must be called before a wait, under the lock of the engine that all calls of `ring` hold too.
    fn arm(&self) {
        self.armed.store(true, Ordering::SeqCst);
    }

    fn disarm(&self) {
        self.armed.store(false, Ordering::SeqCst);
    }

    fn ring(&self) {
        if self.armed.swap(false, Ordering::SeqCst) {
            // A full pipe is readable.
            let _ = (&self.writer).write(&[1]);
        }
    }

    fn reset(&self) {
        // Nonblocking: the pipe may be empty.
        let _ = (&self.reader).read(&mut [0; 16]);
    }
}
