//! One run of the client: starts it, drives its mock engines through a relay, and kills it if it does not exit.

use std::collections::VecDeque;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::process::{Command as Program, ExitCode, ExitStatus};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender};
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};
use std::{io, thread};

use readyok_client::Guard;
use readyok_client::unstable::{ErrorOutput, PipedProcess};
use readyok_protocol::{
    Command, DiagnosticKind, Dialect, LineBuffer, Party, Phase, ProtocolState, Reply, decode,
};

use crate::mock_engine::script::{Action, MockEngine, Probe};
use crate::timeouts::now;
use crate::transcript::{Transcript, TranscriptEntry};

/// Maximum number of queued events.
const BACKLOG: usize = 256;

/// Maximum number of engines that a client can start.
const MAX_ENGINES: usize = 24;

/// Number of stored bytes at the end of the client's output.
const MAX_OUTPUT: usize = 4096;

/// Timeout for the exit of a terminated client, and of engines after their client.
const EXIT_TIMEOUT: Duration = Duration::from_secs(2);

/// The settings of a run.
#[derive(Clone, Debug)]
pub(crate) struct RunOptions<'a> {
    /// The command line, with placeholders replaced.
    pub(crate) command: &'a [std::ffi::OsString],
    pub(crate) guard: Option<&'a Guard>,
    /// The protocol, if it is fixed.
    pub(crate) dialect: Option<Dialect>,
    pub(crate) probe: Option<Probe>,
    pub(crate) seed: u64,
    /// The run ends after this time without an event.
    pub(crate) idle_timeout: Duration,
    /// Timeout of the start of an engine.
    pub(crate) start: Duration,
    /// Maximum duration of the run.
    pub(crate) limit: Duration,
}

/// The result of a run.
#[derive(Debug)]
pub(crate) struct RunResult {
    /// One transcript for each started engine.
    pub(crate) transcripts: Vec<Transcript>,
    /// The start of the tested behavior: index of the transcript and of its entry.
    pub(crate) mark: Option<(usize, usize)>,
    pub(crate) end: End,
    /// The client orphaned an engine. Never true on Windows, where engines end with the job of the client.
    pub(crate) orphaned: bool,
    /// The last output line of the client.
    pub(crate) last_output: String,
    pub(crate) took: Duration,
}

/// The end of a run.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum End {
    /// The client exited.
    Exited(ExitStatus),
    /// The client was idle and was terminated.
    Idle,
    /// The run took too long, and the client was terminated.
    TimeLimit,
}

enum Event {
    Connection(RelayEvent),
    Printed(Box<[u8]>),
    Exited(ExitStatus),
}

impl From<RelayEvent> for Event {
    fn from(input: RelayEvent) -> Self {
        Self::Connection(input)
    }
}

/// An engine started by the client.
struct Engine {
    connection: Connection,
    mock: MockEngine,
    actions: VecDeque<Action>,
    /// Earliest time of the next action.
    due: Option<Instant>,
    input: LineBuffer,
    output: LineBuffer,
    protocol: ProtocolState,
    transcript: Transcript,
    mark: Option<usize>,
    /// The engine is exiting and sends no more output.
    exiting: bool,
    disconnected: bool,
}

/// The connection to the process of an engine.
struct Connection(TcpStream);

struct Run<'a> {
    options: &'a RunOptions<'a>,
    engines: Vec<Engine>,
    begin: Instant,
    /// Time of the last activity.
    last: Instant,
    printed: Vec<u8>,
    exited: Option<ExitStatus>,
}

/// Runs the client once.
pub(crate) fn run(options: &RunOptions<'_>) -> io::Result<RunResult> {
    let (events, inbox) = mpsc::sync_channel(BACKLOG);
    let relay = RelayServer::open(events.clone())?;
    let process = start(options, &relay, &events)?;
    let begin = now();
    let (engines, printed) = (Vec::new(), Vec::new());
    let mut run = Run { options, engines, begin, last: begin, printed, exited: None };
    let end = run.drive(&inbox);
    let took = now().saturating_duration_since(begin);
    if run.exited.is_none() {
        process.terminate();
        run.wait(&inbox, EXIT_TIMEOUT, |run| run.exited.is_some());
        process.kill();
    }
    run.wait(&inbox, EXIT_TIMEOUT, |run| run.engines.iter().all(|engine| engine.disconnected));
    let orphaned = cfg!(unix)
        && matches!(end, End::Exited(_))
        && run.engines.iter().any(|engine| !engine.disconnected);
    let mark = run.engines.iter().enumerate().find_map(|(at, engine)| Some((at, engine.mark?)));
    let last_output = String::from_utf8_lossy(&run.printed);
    let last_output = last_output.lines().rfind(|line| !line.trim().is_empty()).unwrap_or_default();
    let complete = matches!(end, End::Exited(status) if status.success());
    let transcripts =
        run.engines.into_iter().map(|engine| engine.transcript.with_complete(complete));
    Ok(RunResult {
        mark,
        end,
        orphaned,
        last_output: last_output.trim().to_owned(),
        took,
        transcripts: transcripts.collect(),
    })
}

fn start(
    options: &RunOptions<'_>,
    relay: &RelayServer,
    events: &SyncSender<Event>,
) -> io::Result<PipedProcess> {
    let (program, arguments) = options.command.split_first().ok_or(io::ErrorKind::InvalidInput)?;
    let (errors, to_errors) = io::pipe()?;
    let mut command = Program::new(program);
    command.args(arguments);
    relay.set_environment(&mut command);
    let on_exit = events.clone();
    let (process, input, output) = PipedProcess::spawn(
        &mut command,
        options.guard,
        ErrorOutput::Pipe(to_errors),
        move |status| {
            // Fails if the run has ended.
            let _ = on_exit.send(Event::Exited(status));
        },
    )?;
    // The client gets no input.
    drop(input);
    for from in [Box::new(output) as Box<dyn Read + Send>, Box::new(errors)] {
        let events = events.clone();
        thread::Builder::new().name("printed".into()).spawn(move || read(from, &events))?;
    }
    Ok(process)
}

fn read(mut from: Box<dyn Read + Send>, events: &SyncSender<Event>) {
    let mut chunk = vec![0; MAX_OUTPUT];
    while let Ok(count @ 1..) = from.read(&mut chunk) {
        let bytes = chunk.get(..count).unwrap_or_default().into();
        if events.send(Event::Printed(bytes)).is_err() {
            return;
        }
    }
}

impl Run<'_> {
    /// Runs the engines until the client has exited or is idle.
    fn drive(&mut self, inbox: &Receiver<Event>) -> End {
        let limit = self.begin + self.options.limit;
        loop {
            let due = self.perform_due();
            if let Some(status) = self.exited {
                return End::Exited(status);
            }
            // A flood of events does not extend the run.
            if limit <= now() {
                return End::TimeLimit;
            }
            let started = !self.engines.is_empty();
            let idle_timeout = if started { self.options.idle_timeout } else { self.options.start };
            let idle_at = self.last + idle_timeout;
            let until = due.into_iter().fold(idle_at.min(limit), Instant::min);
            match inbox.recv_timeout(until.saturating_duration_since(now())) {
                Ok(event) => self.handle_event(event),
                Err(RecvTimeoutError::Timeout) if due.is_none() && idle_at <= now() => {
                    return End::Idle;
                }
                // An action is due.
                Err(RecvTimeoutError::Timeout) => (),
                // Unreachable: the run holds a sender until the client exits.
                Err(RecvTimeoutError::Disconnected) => return End::Idle,
            }
        }
    }

    /// Handles events for a while after the end.
    fn wait(&mut self, inbox: &Receiver<Event>, time: Duration, done: impl Fn(&Self) -> bool) {
        let until = now() + time;
        while !done(self) && now() <= until {
            self.perform_due();
            match inbox.recv_timeout(until.saturating_duration_since(now())) {
                Ok(event) => self.handle_event(event),
                Err(_) => return,
            }
        }
    }

    fn handle_event(&mut self, event: Event) {
        let now = now();
        match event {
            Event::Connection(RelayEvent::Started(stream)) => {
                self.last = now;
                self.add_engine(stream);
            }
            Event::Connection(RelayEvent::Input(number, bytes, at)) => {
                self.last = now;
                let at = at.saturating_duration_since(self.begin);
                if let Some(engine) = self.engines.get_mut(number) {
                    engine.receive(&bytes, at, self.options.dialect);
                }
            }
            Event::Connection(RelayEvent::InputClosed(number)) => {
                self.last = now;
                if let Some(engine) = self.engines.get_mut(number) {
                    let actions = engine.mock.input_ended();
                    engine.actions.extend(actions);
                }
            }
            Event::Connection(RelayEvent::Disconnected(number)) => {
                self.last = now;
                if let Some(engine) = self.engines.get_mut(number) {
                    engine.disconnected = true;
                }
            }
            // Repeated characters, such as a spinner, are no progress.
            Event::Printed(bytes) => {
                self.printed.extend(bytes);
                let excess = self.printed.len().saturating_sub(MAX_OUTPUT);
                self.printed.drain(..excess);
            }
            Event::Exited(status) => self.exited = Some(status),
        }
    }

    fn add_engine(&mut self, stream: TcpStream) {
        let dialect = self.options.dialect.unwrap_or_default();
        let number = self.engines.len();
        let probe = self.options.probe;
        let conforming = probe.is_none_or(|probe| probe.conforming);
        let seed = self.options.seed.wrapping_add(u64::try_from(number).unwrap_or_default());
        let mut mock = MockEngine::new(dialect, probe, seed);
        let actions =
            if number < MAX_ENGINES { mock.start().into() } else { [Action::Exit(1)].into() };
        self.engines.push(Engine {
            connection: Connection(stream),
            mock,
            actions,
            due: None,
            input: LineBuffer::default(),
            output: LineBuffer::default(),
            protocol: ProtocolState::new(dialect),
            transcript: Transcript::new(dialect, conforming),
            mark: None,
            exiting: false,
            disconnected: false,
        });
    }

    /// Performs all due actions. Returns the time of the next one.
    fn perform_due(&mut self) -> Option<Instant> {
        let now = now();
        let at = now.saturating_duration_since(self.begin);
        for engine in &mut self.engines {
            if engine.perform_due(now, at) {
                self.last = now;
            }
        }
        let due =
            self.engines.iter().filter(|engine| !engine.exiting).filter_map(|engine| engine.due);
        due.min()
    }
}

impl Engine {
    /// Handles input from the client.
    fn receive(&mut self, bytes: &[u8], at: Duration, only: Option<Dialect>) {
        self.input.push(bytes);
        while let Some(line) = self.input.next_line() {
            // Overlong lines are skipped.
            let Ok(line) = line else { continue };
            let (text, undecodable) = decode(line);
            if only.is_none() && self.protocol.phase() == Phase::Fresh {
                let hello =
                    |dialect: &Dialect| Command::read(&text, *dialect).value == Command::Uci;
                if let Some(dialect) = Dialect::ALL.into_iter().find(hello) {
                    self.protocol.expect_handshake(dialect);
                    self.transcript.dialect = dialect;
                    self.mock.set_dialect(dialect);
                }
            }
            let reading = Command::read(&text, self.protocol.dialect());
            let violation = self.protocol.apply_command_lenient(&reading.value);
            let notes =
                undecodable.into_iter().chain(reading.diagnostics).map(|record| record.kind);
            let notes: Vec<DiagnosticKind> = notes.collect();
            self.actions.extend(self.mock.handle_command(&reading.value));
            let text = text.clone().into_owned();
            let entry = TranscriptEntry::new(at, Party::Client, text);
            self.transcript.add(TranscriptEntry { violation, notes, ..entry });
        }
    }

    /// Performs a due action. Returns whether there was one.
    fn perform_due(&mut self, now: Instant, at: Duration) -> bool {
        let mut acted = false;
        while !self.exiting && self.due.is_none_or(|due| due <= now) {
            self.due = None;
            let Some(action) = self.actions.pop_front() else { break };
            acted = true;
            match action {
                Action::Write(bytes) => {
                    self.record(&bytes, at);
                    self.connection.send(FrameKind::Write, &bytes);
                }
                Action::WriteAndWait(bytes) => {
                    self.record(&bytes, at);
                    self.connection.send(FrameKind::WriteAndWait, &bytes);
                }
                Action::Wait(time) => self.due = Some(now + time),
                Action::Mark => self.mark = Some(self.transcript.entries.len()),
                Action::WriteStderr(bytes) => {
                    let text = "something is not as it should be\n";
                    self.connection
                        .send(FrameKind::WriteStderr, text.repeat(bytes / text.len()).as_bytes());
                }
                Action::CloseOutput => self.connection.send(FrameKind::CloseOutput, &[]),
                Action::Exit(code) => {
                    self.exiting = true;
                    self.connection.send(FrameKind::Exit, &[code]);
                }
                Action::Abort => {
                    self.exiting = true;
                    self.connection.send(FrameKind::Abort, &[]);
                }
            }
        }
        acted
    }

    /// Records output of the engine.
    fn record(&mut self, bytes: &[u8], at: Duration) {
        self.output.push(bytes);
        while let Some(line) = self.output.next_line() {
            let Ok(line) = line else { continue };
            let (text, _) = decode(line);
            let reply = Reply::read(&text, self.protocol.dialect()).value;
            let violation = self.protocol.apply_reply_lenient(&reply);
            let text = text.into_owned();
            self.transcript.add(TranscriptEntry {
                violation,
                ..TranscriptEntry::new(at, Party::Engine, text)
            });
        }
    }
}

impl Connection {
    fn send(&mut self, order: FrameKind, bytes: &[u8]) {
        // A broken connection is reported as an event.
        if self.0.write_all(&order.frame(bytes)).is_err() {
            let _ = self.0.shutdown(Shutdown::Both);
        }
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        // Disconnecting ends a remaining engine.
        let _ = self.0.shutdown(Shutdown::Both);
    }
}

/// Environment variable of a relay: address, slash, and a secret token.
const MOCK_ENGINE: &str = "READYOK_MOCK_ENGINE";

/// Length of the token.
const TOKEN_LEN: usize = 32;

/// Timeout of the authentication and of writes.
const AUTH_TIMEOUT: Duration = Duration::from_secs(5);

/// Interval and maximum number of polls until the client has read the output.
const POLL_INTERVAL: Duration = Duration::from_millis(1);
const MAX_POLLS: usize = 500;

/// Maximum number of bytes per frame.
const CHUNK: usize = 1 << 16;

/// Kind of a frame. A frame is the kind in one byte, the length in four bytes, and the payload.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum FrameKind {
    /// Bytes of the client.
    Input,
    /// The client closed the input.
    InputEnd,
    /// Bytes for the output.
    Write,
    /// Bytes for the output, and a wait until the client has read them.
    WriteAndWait,
    /// Bytes for stderr.
    WriteStderr,
    CloseOutput,
    /// Exit with the code in the payload.
    Exit,
    /// Abort by a signal.
    Abort,
}

impl FrameKind {
    const ALL: [Self; 8] = [
        Self::Input,
        Self::InputEnd,
        Self::Write,
        Self::WriteAndWait,
        Self::WriteStderr,
        Self::CloseOutput,
        Self::Exit,
        Self::Abort,
    ];

    const fn tag(self) -> u8 {
        match self {
            Self::Input => b'I',
            Self::InputEnd => b'E',
            Self::Write => b'S',
            Self::WriteAndWait => b'P',
            Self::WriteStderr => b'W',
            Self::CloseOutput => b'C',
            Self::Exit => b'X',
            Self::Abort => b'A',
        }
    }

    /// Encodes the frame.
    fn frame(self, bytes: &[u8]) -> Vec<u8> {
        let length = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
        let mut frame = vec![self.tag()];
        frame.extend(length.to_be_bytes());
        frame.extend(bytes);
        frame
    }

    fn read(from: &mut impl Read) -> io::Result<(Self, Vec<u8>)> {
        let mut head = [0; 5];
        from.read_exact(&mut head)?;
        let [tag, length @ ..] = head;
        let kind = Self::ALL.into_iter().find(|kind| kind.tag() == tag);
        let kind = kind.ok_or(io::ErrorKind::InvalidData)?;
        let mut bytes = Vec::new();
        from.take(u32::from_be_bytes(length).into()).read_to_end(&mut bytes)?;
        Ok((kind, bytes))
    }
}

/// Runs as a mock engine if a [`ClientSuite`](crate::ClientSuite) has started this executable as one, without
/// arguments. An executable that calls it first can be the mock engine of a `ClientSuite`.
///
/// `None` means that it was started normally.
pub fn serve_as_mock_engine() -> Option<ExitCode> {
    let address = std::env::var(MOCK_ENGINE).ok()?;
    // The client inherits the variable, and may be this executable.
    if 1 < std::env::args_os().len() {
        return None;
    }
    // On an error the client and the checker see an engine that has exited.
    Some(serve(&address).unwrap_or(ExitCode::FAILURE))
}

fn serve(address: &str) -> io::Result<ExitCode> {
    leave_group();
    let (address, token) = address.split_once('/').ok_or(io::ErrorKind::InvalidInput)?;
    let mut stream = TcpStream::connect(address)?;
    stream.set_nodelay(true)?;
    stream.write_all(token.as_bytes())?;
    let up = stream.try_clone()?;
    // The thread is not joined, because the client may never close its end.
    thread::Builder::new().name("input".into()).spawn(move || forward_input(up))?;
    let mut output = io::stdout();
    loop {
        let Ok((kind, bytes)) = FrameKind::read(&mut stream) else { return Ok(ExitCode::SUCCESS) };
        match kind {
            // A write to a client that has exited may fail.
            FrameKind::Write => drop(output.write_all(&bytes).and_then(|()| output.flush())),
            FrameKind::WriteAndWait => {
                drop(output.write_all(&bytes).and_then(|()| output.flush()));
                wait_for_reader();
            }
            FrameKind::WriteStderr => drop(io::stderr().write_all(&bytes)),
            FrameKind::CloseOutput => close_output()?,
            FrameKind::Exit => {
                return Ok(ExitCode::from(bytes.first().copied().unwrap_or_default()));
            }
            FrameKind::Abort => std::process::abort(),
            FrameKind::Input | FrameKind::InputEnd => return Err(io::ErrorKind::InvalidData.into()),
        }
    }
}

/// Waits until the client has read all output, with a timeout, since a busy machine may delay the client.
fn wait_for_reader() {
    for _ in 0..MAX_POLLS {
        thread::sleep(POLL_INTERVAL);
        if !output_pending() {
            return;
        }
    }
}

/// Whether the output pipe contains bytes that the client has not read, if the output is a pipe.
#[cfg(unix)]
fn output_pending() -> bool {
    rustix::io::ioctl_fionread(io::stdout()).is_ok_and(|bytes| 0 < bytes)
}

#[cfg(not(unix))]
fn output_pending() -> bool {
    false
}

fn forward_input(mut up: TcpStream) {
    let mut input = io::stdin().lock();
    let mut chunk = vec![0; CHUNK];
    loop {
        match input.read(&mut chunk) {
            Ok(count) if 0 < count => {
                let frame = FrameKind::Input.frame(chunk.get(..count).unwrap_or_default());
                if up.write_all(&frame).is_err() {
                    return;
                }
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => (),
            Ok(_) | Err(_) => break,
        }
    }
    // The connection stays open for further output and the exit of the engine.
    let _ = up.write_all(&FrameKind::InputEnd.frame(&[]));
}

/// Leaves the process group of the client. The group is killed with the client, and an orphaned engine must be
/// detected.
#[cfg(unix)]
fn leave_group() {
    // Fails if this process already leads a group.
    let _ = rustix::process::setpgid(None, None);
}

#[cfg(not(unix))]
fn leave_group() {}

#[cfg(unix)]
fn close_output() -> io::Result<()> {
    Ok(rustix::stdio::dup2_stdout(std::fs::File::create("/dev/null")?)?)
}

/// Elsewhere the output closes with the process.
#[cfg(not(unix))]
fn close_output() -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// An event of the relays of a run.
enum RelayEvent {
    /// The client has started an engine.
    Started(TcpStream),
    /// The client sent bytes to the engine with this index.
    Input(usize, Box<[u8]>, Instant),
    /// The client closed the input of the engine.
    InputClosed(usize),
    /// The relay has disconnected.
    Disconnected(usize),
}

/// The server for relays.
struct RelayServer {
    address: String,
    closing: Arc<AtomicBool>,
}

impl RelayServer {
    /// Starts a server that sends its events to `events`.
    fn open<T: From<RelayEvent> + Send + 'static>(events: SyncSender<T>) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let address = listener.local_addr()?.to_string();
        let token = format!("{:032x}", fastrand::u128(..));
        let closing = Arc::new(AtomicBool::new(false));
        let (expected, stopped) = (token.clone(), Arc::clone(&closing));
        thread::Builder::new().name("exchange".into()).spawn(move || {
            let mut count = 0;
            for stream in listener.incoming() {
                if stopped.load(Ordering::Acquire) {
                    return;
                }
                let Some(stream) = stream.ok().and_then(|stream| authenticated(stream, &expected))
                else {
                    continue;
                };
                if !accept(stream, count, &events) {
                    return;
                }
                count += 1;
            }
        })?;
        Ok(Self { address: format!("{address}/{token}"), closing })
    }

    /// Sets the environment variable of the relays of a command.
    fn set_environment(&self, command: &mut Program) {
        command.env(MOCK_ENGINE, &self.address);
    }
}

impl Drop for RelayServer {
    fn drop(&mut self) {
        self.closing.store(true, Ordering::Release);
        let address = self.address.split('/').next().unwrap_or_default();
        // Wakes the thread, which then ends.
        drop(TcpStream::connect(address));
    }
}

/// Authenticates a connection by its token.
fn authenticated(mut stream: TcpStream, token: &str) -> Option<TcpStream> {
    let mut received = [0; TOKEN_LEN];
    stream.set_read_timeout(Some(AUTH_TIMEOUT)).ok()?;
    stream.read_exact(&mut received).ok()?;
    stream.set_read_timeout(None).ok()?;
    stream.set_write_timeout(Some(AUTH_TIMEOUT)).ok()?;
    stream.set_nodelay(true).ok()?;
    (received == token.as_bytes()).then_some(stream)
}

/// Reports an engine and its input from now on. Returns whether the receiver exists.
fn accept<T: From<RelayEvent> + Send + 'static>(
    stream: TcpStream,
    number: usize,
    events: &SyncSender<T>,
) -> bool {
    let Ok(mut from) = stream.try_clone() else { return true };
    if events.send(RelayEvent::Started(stream).into()).is_err() {
        return false;
    }
    let events = events.clone();
    let read = move || {
        // Fails if the run has ended.
        while let Ok((kind, bytes)) = FrameKind::read(&mut from) {
            let received = match kind {
                FrameKind::Input => RelayEvent::Input(number, bytes.into(), now()),
                FrameKind::InputEnd => RelayEvent::InputClosed(number),
                FrameKind::Write
                | FrameKind::WriteAndWait
                | FrameKind::WriteStderr
                | FrameKind::CloseOutput
                | FrameKind::Exit
                | FrameKind::Abort => break,
            };
            if events.send(received.into()).is_err() {
                return;
            }
        }
        let _ = events.send(RelayEvent::Disconnected(number).into());
    };
    // Without the thread, the run ends at its time limit.
    let _ = thread::Builder::new().name("wire".into()).spawn(read);
    true
}
