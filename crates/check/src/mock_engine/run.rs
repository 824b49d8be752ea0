//! One run of the client: starts it, drives its mock engines, and kills it if it does not exit.

use std::collections::VecDeque;
use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::process::{Command as Program, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, SyncSender};
use std::thread;
use std::time::{Duration, Instant};

use readyok_client::{Guard, PipedProcess};
use readyok_protocol::{
    Command, DiagnosticKind, Dialect, LineBuffer, Party, Phase, ProtocolState, Reply, decode,
};

use super::relay::{FrameKind, RelayEvent, RelayServer};
use super::script::Probe;
use super::script::{Action, MockEngine};
use crate::clock::now;
use crate::transcript::{Entry, Transcript};

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
    /// The client orphaned an engine.
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
    let orphaned =
        matches!(end, End::Exited(_)) && run.engines.iter().any(|engine| !engine.disconnected);
    let mark = run.engines.iter().enumerate().find_map(|(at, it)| Some((at, it.mark?)));
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
    command.args(arguments).stderr(Stdio::from(to_errors));
    relay.set_environment(&mut command);
    let on_exit = events.clone();
    let (process, input, output) =
        PipedProcess::spawn(&mut command, options.guard, move |status| {
            // Fails if the run has ended.
            let _ = on_exit.send(Event::Exited(status));
        })?;
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
            let started = !self.engines.is_empty();
            let idle_timeout = if started { self.options.idle_timeout } else { self.options.start };
            let idle_at = self.last + idle_timeout;
            let until = due.into_iter().fold(idle_at.min(limit), Instant::min);
            match inbox.recv_timeout(until.saturating_duration_since(now())) {
                Ok(event) => self.handle_event(event),
                Err(RecvTimeoutError::Timeout) if limit <= now() => return End::TimeLimit,
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
        while !done(self) {
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
                let hello = |it: &Dialect| Command::read(&text, *it).value == Command::Uci;
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
            let entry = Entry::new(at, Party::Client, text);
            self.transcript.add(Entry { violation, notes, ..entry });
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
            self.transcript.add(Entry { violation, ..Entry::new(at, Party::Engine, text) });
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
