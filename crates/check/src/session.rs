//! One session with an engine, recorded with times.
//!
//! Every wait has a deadline. A dropped session ends its engine: it sends `quit`, closes the input, and
//! finally kills the process.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::io::{PipeReader, Read, Write};
use std::process::ExitStatus;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender, SyncSender};
use std::thread;
use std::time::{Duration, Instant};

use readyok_client::PipedProcess;
use readyok_protocol::{
    BestMove, DiagnosticKind, Dialect, Info, LineBuffer, Party, ProtocolState, Reply, Rule, decode,
};

use crate::message::{Message, Value, message};
use crate::spec::Stop;
use crate::target::Connection;
use crate::target::{Launch, Target};
use crate::target::{Usage, usage};
use crate::timeouts::Timeouts;
use crate::timeouts::now;
use crate::transcript::{Entry, INPUT_ENDS, Transcript};

/// Maximum number of queued chunks. An engine that sends more blocks.
const BACKLOG: usize = 256;

/// Maximum number of stored lines per search.
const MAX_INFOS: usize = 10_000;

/// An event of a session.
enum Event {
    Output { at: Instant, bytes: Box<[u8]> },
    Closed,
    Exited(ExitStatus),
}

/// A line of the engine.
#[derive(Clone, Debug)]
pub(crate) struct Line {
    pub(crate) at: Instant,
    pub(crate) reply: Reply<'static>,
    pub(crate) notes: Vec<DiagnosticKind>,
}

/// A session.
#[expect(clippy::struct_excessive_bools, reason = "independent facts about a session")]
pub(crate) struct EngineSession {
    inbox: Receiver<Event>,
    outbox: Option<Sender<Box<[u8]>>>,
    process: Option<PipedProcess>,
    connection: Option<Connection>,
    /// Never read.
    _errors: Option<PipeReader>,
    /// The output is no longer read.
    stop_reading: Arc<AtomicBool>,
    /// The sent part of an incomplete line.
    sent: Vec<u8>,
    buffer: LineBuffer,
    lines: VecDeque<Line>,
    protocol: ProtocolState,
    record: Rc<RefCell<Transcript>>,
    start: Instant,
    timeouts: Timeouts,
    /// The session is ending: further output is not checked.
    finished: bool,
    closed: bool,
    exit: Option<ExitStatus>,
    /// The engine has not answered an `isready` during a search.
    ignores_isready: bool,
    /// Searches have a time limit instead of a depth.
    by_the_clock: bool,
}

/// A wait without the expected reply.
#[derive(Clone, Copy, Debug)]
pub(crate) enum WaitError {
    /// The timeout has expired.
    Late(Duration),
    /// The engine has exited or closed its output.
    Ended(Option<ExitStatus>),
}

/// The result of a search.
#[derive(Debug)]
pub(crate) struct SearchResult {
    pub(crate) infos: Vec<Info<'static>>,
    pub(crate) best: BestMove<'static>,
    /// Time from `go` to `bestmove`.
    pub(crate) time: Duration,
}

impl EngineSession {
    /// Starts the engine. `record` receives the transcript.
    pub(crate) fn start(
        target: &Target,
        launch: Launch,
        dialect: Dialect,
        timeouts: Timeouts,
        record: Rc<RefCell<Transcript>>,
    ) -> Result<Self, Stop> {
        let (events, inbox) = mpsc::sync_channel(BACKLOG);
        let (outbox, to_write) = mpsc::channel();
        let on_exit = events.clone();
        let stop_reading = Arc::new(AtomicBool::new(false));
        let reader_stop = Arc::clone(&stop_reading);
        let start = || {
            let started = target.start(launch, move |status| {
                // Fails if the session has ended.
                let _ = on_exit.send(Event::Exited(status));
            })?;
            let (input, output) = (started.input, started.output);
            thread::Builder::new()
                .name("reader".into())
                .spawn(move || read(output, &events, &reader_stop))?;
            thread::Builder::new().name("writer".into()).spawn(move || write(input, &to_write))?;
            Ok((started.process, started.connection, started.errors))
        };
        let (process, connection, errors) = start().map_err(|error: std::io::Error| {
            let (name, error) = (target.name(), error.to_string());
            Stop::Inconclusive(if target.is_remote() {
                message!("engine.cannot-connect", name, error)
            } else {
                message!("engine.cannot-start", name, error)
            })
        })?;
        Ok(Self {
            inbox,
            outbox: Some(outbox),
            process,
            connection,
            _errors: errors,
            stop_reading,
            sent: Vec::new(),
            buffer: LineBuffer::default(),
            lines: VecDeque::new(),
            protocol: ProtocolState::new(dialect),
            record,
            start: now(),
            timeouts,
            finished: false,
            closed: false,
            exit: None,
            ignores_isready: false,
            by_the_clock: false,
        })
    }

    /// Uses a time limit instead of a depth in searches.
    pub(crate) fn by_the_clock(mut self) -> Self {
        self.by_the_clock = true;
        self
    }

    /// The timeouts of the session.
    pub(crate) fn timeouts(&self) -> Timeouts {
        self.timeouts
    }

    /// Sends a line.
    pub(crate) fn send(&mut self, line: &str) {
        self.write(format!("{line}\n").as_bytes());
    }

    /// Sends bytes unchanged. The transcript records the lines in them.
    pub(crate) fn write(&mut self, bytes: &[u8]) {
        // Records pending output first, since it is no reply to these bytes.
        while let Ok(event) = self.inbox.try_recv() {
            self.handle_event(event);
        }
        self.sent.extend_from_slice(bytes);
        while let Some(end) = line_end(&self.sent) {
            let line = self.sent.drain(..end).collect();
            self.note_command(line);
        }
        if let Some(outbox) = &self.outbox {
            // Fails if the writer has ended; the missing reply will be detected.
            let _ = outbox.send(bytes.into());
        }
    }

    fn note_command(&mut self, bytes: Vec<u8>) {
        let ends = bytes.iter().rev().take_while(|byte| matches!(byte, b'\n' | b'\r')).count();
        let (text, _) = decode(bytes.get(..bytes.len() - ends).unwrap_or_default());
        let reading = readyok_protocol::Command::read(&text, self.protocol.dialect());
        let violation = self.protocol.apply_command_lenient(&reading.value);
        let at = now().saturating_duration_since(self.start);
        let entry = Entry::new(at, Party::Client, text.into_owned());
        let plain = bytes.strip_suffix(b"\n").is_some_and(|line| line == entry.text.as_bytes());
        let bytes = (!plain).then_some(bytes);
        self.record.borrow_mut().add(Entry { bytes, violation, ..entry });
    }

    /// Records an event that is not a line.
    fn record_action(&self, what: &str) {
        let at = now().saturating_duration_since(self.start);
        let entry = Entry::new(at, Party::Client, what.to_owned());
        self.record.borrow_mut().add(Entry { bytes: Some(Vec::new()), ..entry });
    }

    /// Closes the engine's input.
    pub(crate) fn close_input(&mut self) {
        if !self.sent.is_empty() {
            let line = std::mem::take(&mut self.sent);
            self.note_command(line);
        }
        self.record_action(INPUT_ENDS);
        self.finished = true;
        self.outbox = None;
    }

    /// Stops reading the output: the next write of the engine fails.
    pub(crate) fn close_output(&mut self) {
        self.record_action("(the output is closed)");
        self.finished = true;
        self.stop_reading.store(true, Ordering::Release);
    }

    /// The resource usage of the engine, if available.
    pub(crate) fn usage(&self) -> Option<Usage> {
        usage(self.process.as_ref()?.id())
    }

    /// Terminates the process.
    pub(crate) fn terminate(&mut self) {
        self.record_action("(SIGTERM)");
        self.finished = true;
        if let Some(process) = &self.process {
            process.terminate();
        }
    }

    /// Whether an ordering rule was violated.
    pub(crate) fn has_violated(&self, rule: Rule) -> bool {
        let broken = |it: &Entry| it.violation.as_ref().is_some_and(|it| it.rule == rule);
        self.record.borrow().entries.iter().any(broken)
    }

    /// Whether the output is closed.
    pub(crate) fn is_closed(&self) -> bool {
        self.closed
    }

    /// Whether a reply to `go` is pending.
    pub(crate) fn is_searching(&self) -> bool {
        self.protocol.is_searching()
    }

    /// Waits for a line for which `find` returns a value.
    pub(crate) fn wait_for<T>(
        &mut self,
        limit: Duration,
        mut wanted: impl FnMut(&Line) -> Option<T>,
    ) -> Result<T, WaitError> {
        let until = now() + limit;
        loop {
            while let Some(line) = self.lines.pop_front() {
                if let Some(it) = wanted(&line) {
                    return Ok(it);
                }
            }
            if self.closed && (self.process.is_none() || self.exit.is_some()) {
                return Err(WaitError::Ended(self.exit));
            }
            match self.inbox.recv_timeout(until.saturating_duration_since(now())) {
                Ok(event) => self.handle_event(event),
                Err(RecvTimeoutError::Timeout) if self.closed => {
                    return Err(WaitError::Ended(self.exit));
                }
                Err(RecvTimeoutError::Timeout) => return Err(WaitError::Late(limit)),
                Err(RecvTimeoutError::Disconnected) => {
                    self.closed = true;
                    return Err(WaitError::Ended(self.exit));
                }
            }
            // A flood of lines does not extend the wait.
            if until < now() && self.lines.is_empty() {
                return Err(WaitError::Late(limit));
            }
        }
    }

    /// Collects lines for a while.
    pub(crate) fn listen(&mut self, time: Duration) -> Vec<Line> {
        let mut lines = Vec::new();
        // Ends at the deadline or with the engine.
        let _ = self.wait_for(time, |line| -> Option<()> {
            if lines.len() < MAX_INFOS {
                lines.push(line.clone());
            }
            None
        });
        lines
    }

    /// Sends `isready` and waits for `readyok`.
    pub(crate) fn ready(&mut self) -> Result<Duration, WaitError> {
        let requested = now();
        self.send("isready");
        let limit = self.timeouts.start();
        let at = self.wait_for(limit, |line| (line.reply == Reply::ReadyOk).then_some(line.at))?;
        Ok(at.saturating_duration_since(requested))
    }

    /// Sends `isready`, and returns the lines before `readyok`.
    pub(crate) fn until_ready(&mut self) -> Result<Vec<Line>, WaitError> {
        self.send("isready");
        let mut lines = Vec::new();
        let limit = self.timeouts.answer();
        self.wait_for(limit, |line| {
            let done = line.reply == Reply::ReadyOk;
            if !done && lines.len() < MAX_INFOS {
                lines.push(line.clone());
            }
            done.then_some(())
        })?;
        Ok(lines)
    }

    /// Waits briefly for the first output of a search.
    pub(crate) fn underway(&mut self) {
        let reported = |line: &Line| matches!(line.reply, Reply::Info(_) | Reply::BestMove(_));
        // The next command detects an exited engine.
        let _ = self.wait_for(self.timeouts.quiet(), |line| reported(line).then_some(()));
    }

    /// Whether the search ends without a command.
    pub(crate) fn ends_by_itself(&mut self) -> Result<bool, WaitError> {
        let is_answer = |line: &Line| matches!(line.reply, Reply::BestMove(_));
        let mut ended = self.listen(self.timeouts.quiet()).iter().any(is_answer);
        if self.ignores_isready {
            return Ok(ended);
        }
        // Output before the reply to this is too early, regardless of the load.
        self.send("isready");
        let answered = self.wait_for(self.timeouts.answer(), |line| {
            ended |= is_answer(line);
            (line.reply == Reply::ReadyOk).then_some(())
        });
        match answered {
            // Another check covers replies during a search.
            Err(WaitError::Late(_)) => self.ignores_isready = true,
            other => other?,
        }
        Ok(ended)
    }

    /// Waits for `bestmove`.
    pub(crate) fn best(&mut self, limit: Duration) -> Result<SearchResult, WaitError> {
        let begin = now();
        let mut infos = Vec::new();
        let (best, at) = self.wait_for(limit, |line| match &line.reply {
            Reply::Info(info) => {
                if infos.len() < MAX_INFOS {
                    infos.push(info.clone());
                }
                None
            }
            Reply::BestMove(best) => Some((best.clone(), line.at)),
            _ => None,
        })?;
        Ok(SearchResult { infos, best, time: at.saturating_duration_since(begin) })
    }

    /// Sends `position` and `go`, and waits for `bestmove`.
    pub(crate) fn search(&mut self, position: &str, go: &str) -> Result<SearchResult, WaitError> {
        self.send(position);
        let is_depth = || go.strip_prefix("go depth ").is_some_and(|it| it.parse::<u32>().is_ok());
        self.send(match self.protocol.dialect() {
            Dialect::Usi if self.by_the_clock && is_depth() => "go btime 0 wtime 0 byoyomi 300",
            Dialect::Uci if self.by_the_clock && is_depth() => "go wtime 3000 btime 3000",
            _ => go,
        });
        self.best(self.timeouts.answer())
    }

    /// Waits until the engine has exited.
    pub(crate) fn ended(&mut self, limit: Duration) -> Result<Option<ExitStatus>, WaitError> {
        match self.wait_for(limit, |_| None::<()>) {
            Err(WaitError::Ended(status)) if self.process.is_none() || status.is_some() => {
                Ok(status)
            }
            Err(WaitError::Late(time)) => Err(WaitError::Late(time)),
            // The engine has closed its output and is still running.
            _ => Err(WaitError::Late(limit)),
        }
    }

    fn handle_event(&mut self, event: Event) {
        match event {
            Event::Output { at, bytes } => {
                self.buffer.push(&bytes);
                let mut lines = Vec::new();
                while let Some(line) = self.buffer.next_line() {
                    // An overlong line is discarded; a missing reply will be detected.
                    lines.extend(line.ok().map(<[u8]>::to_vec));
                }
                for line in lines {
                    self.note_line(at, &line);
                }
            }
            Event::Closed => {
                if let Some(line) = self.buffer.last_line().map(<[u8]>::to_vec) {
                    self.note_line(now(), &line);
                }
                self.closed = true;
            }
            Event::Exited(status) => self.exit = Some(status),
        }
    }

    fn note_line(&mut self, at: Instant, line: &[u8]) {
        let (text, undecodable) = decode(line);
        let reading = Reply::read(&text, self.protocol.dialect());
        let notes = undecodable.into_iter().chain(reading.diagnostics).map(|note| note.kind);
        let notes: Vec<DiagnosticKind> = notes.collect();
        let violation =
            self.protocol.apply_reply_lenient(&reading.value).filter(|_| !self.finished);
        let reply = reading.value.into_owned();
        let since = at.saturating_duration_since(self.start);
        let entry = Entry::new(since, Party::Engine, text.into_owned());
        self.record.borrow_mut().add(Entry { violation, notes: notes.clone(), ..entry });
        self.lines.push_back(Line { at, reply, notes });
    }
}

impl Drop for EngineSession {
    fn drop(&mut self) {
        let Some(outbox) = self.outbox.take() else { return };
        // The end of the session is not recorded: the transcript shows what was tested.
        self.finished = true;
        self.record.borrow_mut().close();
        let parting: &[u8] = if self.is_searching() { b"stop\nquit\n" } else { b"quit\n" };
        let _ = outbox.send(parting.into());
        drop(outbox);
        if self.process.is_some() || self.connection.is_some() {
            // The engine is killed or disconnected afterwards.
            let _ = self.ended(self.timeouts.quiet() * 2);
        }
    }
}

impl WaitError {
    /// A failure of the engine.
    pub(crate) fn into_failure(self, what: Message) -> Stop {
        Stop::Fail(message!("engine.failure", what, cause = self))
    }
}

/// Conversion of a missing reply to a verdict.
pub(crate) trait OrFail<T> {
    /// A missing reply violates the rule.
    fn or_fail(self, what: Message) -> Result<T, Stop>;
}

impl<T> OrFail<T> for Result<T, WaitError> {
    fn or_fail(self, what: Message) -> Result<T, Stop> {
        self.map_err(|failure| failure.into_failure(what))
    }
}

impl From<WaitError> for Stop {
    /// The reply is only a precondition, which another check covers.
    fn from(failure: WaitError) -> Self {
        Self::Inconclusive(message!("engine.incomplete", cause = failure))
    }
}

impl From<WaitError> for Value {
    fn from(failure: WaitError) -> Self {
        Self::from(match failure {
            WaitError::Late(time) => {
                message!("engine.timeout", seconds = format!("{:.1}", time.as_secs_f64()))
            }
            WaitError::Ended(Some(status)) => message!("engine.exited", status),
            WaitError::Ended(None) => message!("engine.closed-output"),
        })
    }
}

/// The index after the first line end: a line feed, a carriage return, or both.
fn line_end(bytes: &[u8]) -> Option<usize> {
    let at = bytes.iter().position(|byte| matches!(byte, b'\n' | b'\r'))?;
    let both = bytes.get(at..at + 2) == Some(b"\r\n");
    Some(at + 1 + usize::from(both))
}

fn read(mut from: Box<dyn Read + Send>, events: &SyncSender<Event>, stop_reading: &AtomicBool) {
    let mut chunk = vec![0; 1 << 16];
    loop {
        match from.read(&mut chunk) {
            Ok(count) if 0 < count => {
                let bytes = chunk.get(..count).unwrap_or_default().into();
                if events.send(Event::Output { at: now(), bytes }).is_err() {
                    return;
                }
                if stop_reading.load(Ordering::Acquire) {
                    break;
                }
            }
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => (),
            Ok(_) | Err(_) => break,
        }
    }
    // Fails if the session has ended.
    let _ = events.send(Event::Closed);
}

fn write(mut to: Box<dyn Write + Send>, from: &Receiver<Box<[u8]>>) {
    for bytes in from {
        if to.write_all(&bytes).and_then(|()| to.flush()).is_err() {
            return;
        }
    }
}
