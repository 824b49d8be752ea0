//! One session with an engine, recorded with times.
//!
//! Every wait has a deadline. A dropped session ends its engine: it sends `quit`, closes the input, and
//! finally kills the process.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::io::{Read, Write};
use std::process::ExitStatus;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender, SyncSender};
use std::thread;
use std::time::{Duration, Instant};

use readyok_client::unstable::PipedProcess;
use readyok_protocol::{
    BestMove, Checkmate, DiagnosticKind, Dialect, Info, LineBuffer, Party, ProtocolState, Reply,
    Rule, decode,
};

use crate::alteration::{Alteration, Received, Step};
use crate::cancellation::Cancellation;
use crate::capabilities::{Capabilities, Feature};
use crate::change::Change;
use crate::delay::{DelayMeter, Timing};
use crate::message::message;
use crate::spec::Stop;
use crate::target::Connection;
use crate::target::{Errors, Launch, Target};
use crate::target::{Usage, limit_addresses, usage};
use crate::timeouts::Timeouts;
use crate::timeouts::now;
use crate::transcript::{INPUT_ENDS, Transcript, TranscriptEntry};
pub(crate) use crate::wait_error::{OrFail, WaitError};

/// Maximum number of queued chunks. An engine that sends more blocks.
const BACKLOG: usize = 256;

/// Number and duration of the measurements that show that an engine is idle, and the interval between them.
const IDLE_LOOKS: usize = 3;
const IDLE_SAMPLE: Duration = Duration::from_millis(150);
const IDLE_INTERVAL: Duration = Duration::from_millis(500);

/// Time after which the CPU time of a wait is counted. Most replies arrive earlier.
const FIRST_MEASUREMENT: Duration = Duration::from_millis(200);

/// The shortest wait for a reply that an idle engine can end.
const IDLE_LIMIT: Duration = Duration::from_millis(1500);

/// CPU time in which an engine exhausts a small search tree.
const SMALL_TREE: Duration = Duration::from_millis(200);

/// Time in which an engine exits at a command, if it does.
const READY: Duration = Duration::from_millis(30);

/// Time between the parts of a line.
const PART: Duration = Duration::from_millis(10);

/// Maximum number of stored lines per search.
const MAX_INFOS: usize = 10_000;

/// An event of a session.
enum Event {
    Output { at: Instant, bytes: Box<[u8]> },
    Closed,
    Exited(ExitStatus),
}

/// Maximum time until a wait notices the cancellation of the run.
const CANCEL_INTERVAL: Duration = Duration::from_millis(50);

/// A line of the engine.
#[derive(Clone, Debug)]
pub(crate) struct Line {
    pub(crate) at: Instant,
    pub(crate) reply: Reply<'static>,
    pub(crate) notes: Vec<DiagnosticKind>,
}

#[expect(clippy::struct_excessive_bools, reason = "independent states of a session")]
pub(crate) struct EngineSession {
    inbox: Receiver<Event>,
    outbox: Option<Sender<Box<[u8]>>>,
    process: Option<PipedProcess>,
    connection: Option<Connection>,
    errors: Option<Errors>,
    /// The output is no longer read.
    stop_reading: Arc<AtomicBool>,
    /// The sent part of an incomplete line.
    sent: Vec<u8>,
    /// Number of its parts that wait for the rest, if the line is changed.
    parts: usize,
    buffer: LineBuffer,
    /// The last byte of the output is a carriage return.
    after_return: bool,
    lines: VecDeque<Line>,
    protocol: ProtocolState,
    record: Rc<RefCell<Transcript>>,
    start: Instant,
    timeouts: Timeouts,
    cancellation: Option<Cancellation>,
    /// The session is ending: further output is not checked.
    finished: bool,
    closed: bool,
    exit: Option<ExitStatus>,
    /// The engine has not answered an `isready` during a search.
    ignores_isready: bool,
    /// The id of the check.
    check: &'static str,
    capabilities: Capabilities,
    /// The check of a missing feature that the current search needs.
    blocked: Option<&'static str>,
    /// Changes of what is sent and received.
    alteration: Option<Box<Alteration>>,
}

/// The result of a search.
#[derive(Debug)]
pub(crate) struct SearchResult {
    pub(crate) infos: Vec<Info<'static>>,
    pub(crate) best: BestMove<'static>,
    /// Time from `go` to `bestmove`.
    pub(crate) time: Duration,
    /// The search has ended by itself.
    pub(crate) complete: bool,
    /// The check of the missing feature because of which the search is not the requested one.
    pub(crate) missing: Option<&'static str>,
}

impl SearchResult {
    /// The result of the requested search. Without it a check of its output has no verdict.
    pub(crate) fn if_complete(self) -> Result<Self, Stop> {
        match self.missing {
            Some(check) => Err(Stop::Depends(check)),
            None if !self.complete => Err(Stop::Slow),
            None => Ok(self),
        }
    }
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
            errors,
            stop_reading,
            sent: Vec::new(),
            parts: 0,
            buffer: LineBuffer::default(),
            after_return: false,
            lines: VecDeque::new(),
            protocol: ProtocolState::new(dialect),
            record,
            start: now(),
            timeouts,
            cancellation: target.cancellation.clone(),
            finished: false,
            closed: false,
            exit: None,
            ignores_isready: false,
            check: launch.check,
            capabilities: Capabilities::default(),
            blocked: None,
            alteration: None,
        })
    }

    /// Changes what is sent and received.
    pub(crate) fn with_changes(mut self, changes: &[Change], drains: bool) -> Self {
        if !changes.is_empty() || drains {
            let alteration = Alteration::new(changes, self.protocol.dialect());
            self.alteration = Some(Box::new(alteration.with_drained_searches(drains)));
        }
        self
    }

    /// Uses the capabilities that were found.
    pub(crate) fn with_capabilities(mut self, capabilities: &Capabilities) -> Self {
        self.capabilities = capabilities.clone();
        self
    }

    /// Fails if the current search needs a missing feature.
    pub(crate) fn if_searchable(&self) -> Result<(), Stop> {
        self.blocked.map_or(Ok(()), |check| Err(Stop::Depends(check)))
    }

    /// Whether the engine lacks a feature.
    pub(crate) fn lacks(&self, feature: Feature) -> bool {
        self.capabilities.lacks(feature)
    }

    /// For a reply without which a check has no verdict.
    pub(crate) fn shorten_timeouts(&mut self) {
        self.timeouts = self.timeouts.for_confirmation().for_confirmation();
    }

    /// The timeouts of the session.
    pub(crate) fn timeouts(&self) -> Timeouts {
        self.timeouts
    }

    pub(crate) fn send(&mut self, line: &str) {
        self.write(format!("{line}\n").as_bytes());
    }

    /// Sends bytes, unchanged unless the check is repeated with changes. The transcript records the lines in them.
    pub(crate) fn write(&mut self, bytes: &[u8]) {
        // Records pending output first, since it is no reply to these bytes. A flood has no end.
        for _ in 0..=BACKLOG {
            let Ok(event) = self.inbox.try_recv() else { break };
            self.handle_event(event);
        }
        let is_line = matches!(bytes.last(), Some(b'\n' | b'\r'));
        let is_part = !self.sent.is_empty() || !is_line;
        self.record.borrow_mut().is_fragmented |= is_part;
        self.sent.extend_from_slice(bytes);
        if self.alteration.is_some() {
            self.write_changed();
            return;
        }
        let mut lines = 0;
        while let Some(end) = line_end(&self.sent) {
            let line = self.sent.drain(..end).collect();
            self.note_command(line);
            lines += 1;
        }
        self.record.borrow_mut().is_batched |= 1 < lines;
        self.send_bytes(bytes);
    }

    fn send_bytes(&self, bytes: &[u8]) {
        if let Some(outbox) = self.outbox.as_ref().filter(|_| !bytes.is_empty()) {
            // Fails if the writer has ended; the missing reply will be detected.
            let _ = outbox.send(bytes.into());
        }
    }

    /// Sends the complete lines with changes. The rest waits, since a part that was sent could not be changed any more.
    fn write_changed(&mut self) {
        let is_whole = self.alteration.as_ref().is_some_and(|it| it.has(Change::WholeLines));
        let mut parts = std::mem::take(&mut self.parts);
        let mut pending = Vec::new();
        while let Some(end) = line_end(&self.sent) {
            let line: Vec<u8> = self.sent.drain(..end).collect();
            let ends = line.iter().rev().take_while(|byte| matches!(byte, b'\n' | b'\r')).count();
            let (text, _) = decode(line.get(..line.len() - ends).unwrap_or_default());
            let is_searching = self.protocol.is_searching();
            let Some(alteration) = &mut self.alteration else { return };
            for step in alteration.outgoing(&text, &line, is_searching) {
                if !matches!(step, Step::Write(_)) || 0 < parts {
                    self.send_bytes(&std::mem::take(&mut pending));
                }
                match step {
                    Step::Write(bytes) if 0 < parts => {
                        self.note_command(bytes.clone());
                        // In as many parts as it was written.
                        for part in bytes.chunks(bytes.len().div_ceil(parts + 1).max(1)) {
                            self.send_bytes(part);
                            self.receive_until(now() + PART, |_| false);
                        }
                        parts = 0;
                    }
                    Step::Write(bytes) => {
                        pending.extend_from_slice(&bytes);
                        self.note_command(bytes);
                    }
                    Step::Pause(time) => self.receive_until(now() + time, |_| false),
                    Step::AwaitReady => self.await_ready(),
                    Step::Receive(received) => self.record_line(now(), &received, Vec::new()),
                    Step::Ready => self.answer_ready(),
                    Step::Close => self.close_input(),
                }
            }
        }
        self.send_bytes(&pending);
        self.parts = usize::from(!is_whole && !self.sent.is_empty());
    }

    /// Delivers `readyok` in place of the engine, unless it has exited.
    fn answer_ready(&mut self) {
        self.receive_until(now() + READY, |_| false);
        if !self.closed && self.exit.is_none() {
            let notes = Vec::new();
            self.lines.push_back(Line { at: now(), reply: Reply::ReadyOk, notes });
        }
    }

    /// Handles events until a time, or until the queued lines satisfy a condition.
    fn receive_until(&mut self, until: Instant, is_done: impl Fn(&VecDeque<Line>) -> bool) {
        while !is_done(&self.lines) && !self.is_canceled() {
            let left = until.saturating_duration_since(now()).min(CANCEL_INTERVAL);
            match self.inbox.recv_timeout(left) {
                Ok(event) => self.handle_event(event),
                Err(RecvTimeoutError::Timeout) if now() < until => (),
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => return,
            }
        }
    }

    /// Sends `isready`, and discards its reply and what a previous search has sent too late.
    fn await_ready(&mut self) {
        self.note_command(b"isready\n".to_vec());
        self.send_bytes(b"isready\n");
        let is_reply = |line: &Line| line.reply == Reply::ReadyOk;
        let queued = self.lines.len();
        let limit = self.timeouts.answer();
        self.receive_until(now() + limit, |lines| lines.iter().skip(queued).any(is_reply));
        let is_late = |line: &Line| {
            matches!(line.reply, Reply::BestMove(_) | Reply::Info(_) | Reply::ReadyOk)
        };
        let late = self.lines.split_off(queued.min(self.lines.len()));
        self.lines.extend(late.into_iter().filter(|line| !is_late(line)));
    }

    fn note_command(&mut self, bytes: Vec<u8>) {
        let ends = bytes.iter().rev().take_while(|byte| matches!(byte, b'\n' | b'\r')).count();
        let (text, _) = decode(bytes.get(..bytes.len() - ends).unwrap_or_default());
        let reading = readyok_protocol::Command::read(&text, self.protocol.dialect());
        if matches!(reading.value, readyok_protocol::Command::Go(_)) {
            let missing = self.capabilities.missing_for(&text);
            self.blocked = missing.filter(|check| *check != self.check);
            // What an earlier search has sent too late is no reply to this one.
            if !self.protocol.is_searching() {
                let is_late =
                    |line: &Line| matches!(line.reply, Reply::BestMove(_) | Reply::Info(_));
                self.lines.retain(|line| !is_late(line));
            }
        }
        let violation = self.protocol.apply_command_lenient(&reading.value);
        let at = now().saturating_duration_since(self.start);
        let entry = TranscriptEntry::new(at, Party::Client, text.into_owned());
        let plain = bytes.strip_suffix(b"\n").is_some_and(|line| line == entry.text.as_bytes());
        let bytes = (!plain).then_some(bytes);
        self.record.borrow_mut().add(TranscriptEntry { bytes, violation, ..entry });
    }

    /// Records an event that is not a line.
    fn record_action(&self, what: &str) {
        let at = now().saturating_duration_since(self.start);
        let entry = TranscriptEntry::new(at, Party::Client, what.to_owned());
        self.record.borrow_mut().add(TranscriptEntry { bytes: Some(Vec::new()), ..entry });
    }

    /// Closes the engine's input.
    pub(crate) fn close_input(&mut self) {
        if let Some(Step::Write(bytes)) = self.alteration.as_ref().and_then(|it| it.at_end()) {
            self.send_bytes(&bytes);
            self.note_command(bytes);
        }
        if !self.sent.is_empty() {
            let line = std::mem::take(&mut self.sent);
            if self.alteration.is_some() {
                self.send_bytes(&line);
            }
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

    /// Limits the address space of the engine, where the system can do this.
    pub(crate) fn limit_addresses(&self, bytes: u64) -> bool {
        self.process.as_ref().is_some_and(|process| limit_addresses(process.id(), bytes))
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
        let broken = |entry: &TranscriptEntry| {
            entry.violation.as_ref().is_some_and(|violation| violation.rule == rule)
        };
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
        wanted: impl FnMut(&Line) -> Option<T>,
    ) -> Result<T, WaitError> {
        let idle_limit = self.timeouts.of_idle(limit).max(IDLE_LIMIT);
        self.wait(limit, idle_limit, wanted)
    }

    /// Waits for a line. After `idle_limit` the load does not matter for an engine that uses no CPU time, or that has used
    /// as much.
    fn wait<T>(
        &mut self,
        limit: Duration,
        idle_limit: Duration,
        mut wanted: impl FnMut(&Line) -> Option<T>,
    ) -> Result<T, WaitError> {
        let begin = now();
        let until = begin + limit;
        let until = self.timeouts.deadline().map_or(until, |deadline| until.min(deadline));
        let mut idle_at = begin + idle_limit;
        let mut measure_at = (idle_limit < limit).then_some(begin + FIRST_MEASUREMENT);
        let mut used = None;
        let mut is_over = false;
        loop {
            while let Some(line) = self.lines.pop_front() {
                if let Some(it) = wanted(&line) {
                    return Ok(it);
                }
            }
            // A flood of lines does not extend the wait.
            if is_over || self.is_canceled() {
                return Err(self.late(limit));
            }
            if measure_at.is_some_and(|at| at <= now()) {
                measure_at = None;
                used = self.usage().map(|usage| usage.cpu);
            }
            if idle_at <= now() && idle_at < until {
                idle_at = now() + IDLE_INTERVAL;
                let exceeded = self.usage().is_some_and(|usage| {
                    usage.cpu.saturating_sub(*used.get_or_insert(usage.cpu)) > idle_limit
                });
                if (exceeded || self.is_idle()) && self.lines.is_empty() {
                    return Err(self.late(now().saturating_duration_since(begin)));
                }
                continue;
            }
            if self.closed && (self.process.is_none() || self.exit.is_some()) {
                return Err(self.gone());
            }
            let mut next = measure_at.map_or(idle_at, |at| at.min(idle_at)).min(until);
            if self.cancellation.is_some() {
                next = next.min(now() + CANCEL_INTERVAL);
            }
            match self.inbox.recv_timeout(next.saturating_duration_since(now())) {
                Ok(event) => {
                    is_over = matches!(event, Event::Output { at, .. } if until < at);
                    self.handle_event(event);
                }
                Err(RecvTimeoutError::Timeout) if now() < until => (),
                Err(RecvTimeoutError::Timeout) if self.closed => return Err(self.gone()),
                Err(RecvTimeoutError::Timeout) => return Err(self.late(limit)),
                Err(RecvTimeoutError::Disconnected) => {
                    self.closed = true;
                    return Err(self.gone());
                }
            }
        }
    }

    /// Whether the engine uses no CPU time for a while, and sends nothing. Its reply is not delayed by the load.
    fn is_idle(&mut self) -> bool {
        for _ in 0..IDLE_LOOKS {
            let Some(before) = self.usage() else { return false };
            if let Ok(event) = self.inbox.recv_timeout(IDLE_SAMPLE) {
                self.handle_event(event);
                return false;
            }
            let is_idle = |after: &Usage| after.runnable == 0 && after.cpu == before.cpu;
            if before.runnable != 0 || !self.usage().as_ref().is_some_and(is_idle) {
                return false;
            }
        }
        true
    }

    /// The engine has exited or closed its output. The transcript ends with its last error output.
    fn gone(&self) -> WaitError {
        if self.exit.is_some() && !self.finished {
            let errors = self.error_output();
            let mut record = self.record.borrow_mut();
            (record.errors, record.has_exited) = (errors, true);
        }
        WaitError::Ended(self.exit)
    }

    /// The last lines of the error output, after the engine has exited.
    pub(crate) fn error_output(&self) -> Vec<String> {
        match &self.errors {
            Some(Errors::Read(lines)) if self.exit.is_some() => lines.last(),
            Some(Errors::Read(_) | Errors::Unreadable { .. }) | None => Vec::new(),
        }
    }

    fn is_canceled(&self) -> bool {
        self.cancellation.as_ref().is_some_and(Cancellation::is_canceled)
    }

    fn late(&self, limit: Duration) -> WaitError {
        let expired = self.timeouts.deadline().is_some_and(|deadline| deadline <= now());
        if expired || self.is_canceled() { WaitError::OutOfTime } else { WaitError::Late(limit) }
    }

    /// Collects lines for a while.
    pub(crate) fn listen(&mut self, time: Duration) -> Vec<Line> {
        let mut lines = Vec::new();
        // Ends at the deadline or with the engine.
        let _ = self.wait(time, time, |line| -> Option<()> {
            if lines.len() < MAX_INFOS {
                lines.push(line.clone());
            }
            None
        });
        lines
    }

    /// Sends `isready` and waits for `readyok`.
    pub(crate) fn ready(&mut self) -> Result<Duration, WaitError> {
        self.if_answers_ready()?;
        let requested = now();
        self.send("isready");
        let limit = self.timeouts.start();
        let at = self.wait_for(limit, |line| (line.reply == Reply::ReadyOk).then_some(line.at))?;
        Ok(at.saturating_duration_since(requested))
    }

    /// Sends `isready`, and returns the lines before `readyok`.
    pub(crate) fn until_ready(&mut self) -> Result<Vec<Line>, WaitError> {
        self.if_answers_ready()?;
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

    /// Fails if the engine does not answer `isready`, always or in a search.
    fn if_answers_ready(&self) -> Result<(), WaitError> {
        let in_search = self.capabilities.check_of(Feature::Ready).filter(|_| self.is_searching());
        let missing = self.capabilities.check_of(Feature::IsReady).or(in_search);
        let missing = missing.filter(|check| *check != self.check);
        missing.map_or(Ok(()), |check| Err(WaitError::Depends(check)))
    }

    /// Does not wait for `readyok` in a search.
    pub(crate) fn ignore_isready_in_search(&mut self) {
        self.ignores_isready = true;
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
        if self.ignores_isready || self.is_searching() && self.lacks(Feature::Ready) {
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

    /// Like `ends_by_itself`, for a search that is soon complete. On a busy host the engine gets the same CPU time.
    pub(crate) fn ends_when_complete(&mut self) -> Result<bool, WaitError> {
        let before = self.usage();
        let until = now() + self.timeouts.answer();
        loop {
            if self.ends_by_itself()? {
                return Ok(true);
            }
            let continues = self.usage().zip(before).is_some_and(|(after, before)| {
                0 < after.runnable && after.cpu.saturating_sub(before.cpu) < SMALL_TREE
            });
            if !continues || until <= now() {
                return Ok(false);
            }
        }
    }

    /// Waits for `bestmove`.
    pub(crate) fn best(&mut self, limit: Duration) -> Result<SearchResult, WaitError> {
        let mut infos = Vec::new();
        let begin = now();
        let (best, at) = self.wait_for_best(limit, &mut infos)?;
        let time = at.saturating_duration_since(begin);
        Ok(SearchResult { infos, best, time, complete: true, missing: None })
    }

    fn wait_for_best(
        &mut self,
        limit: Duration,
        infos: &mut Vec<Info<'static>>,
    ) -> Result<(BestMove<'static>, Instant), WaitError> {
        if let Some(check) = self.blocked {
            return Err(WaitError::Depends(check));
        }
        self.wait_for(limit, |line| match &line.reply {
            Reply::Info(info) => {
                if infos.len() < MAX_INFOS {
                    infos.push(info.clone());
                }
                None
            }
            Reply::BestMove(best) => Some((best.clone(), line.at)),
            _ => None,
        })
    }

    /// Sends `position` and `go`, and waits for `bestmove`. A search that does not work in this engine is replaced, and
    /// a slow one is stopped.
    pub(crate) fn search(&mut self, position: &str, go: &str) -> Result<SearchResult, WaitError> {
        self.send(position);
        self.search_again(go)
    }

    /// Like `search`, for the position that was sent before.
    pub(crate) fn search_again(&mut self, go: &str) -> Result<SearchResult, WaitError> {
        self.search_with(go, Self::send)
    }

    /// Like `search_again`; `send` sends the `go` command.
    pub(crate) fn search_with(
        &mut self,
        go: &str,
        send: impl FnOnce(&mut Self, &str),
    ) -> Result<SearchResult, WaitError> {
        let is_tested = Feature::tested_by(self.check, go);
        let replaced =
            self.capabilities.substitute(go, self.protocol.dialect()).filter(|_| !is_tested);
        send(self, replaced.as_deref().unwrap_or(go));
        let mut complete = replaced.is_none();
        let missing = replaced.as_ref().and_then(|_| self.capabilities.missing_for(go));
        let (mut infos, begin) = (Vec::new(), now());
        let is_replaced = replaced.is_some();
        if replaced.is_some_and(|line| line.starts_with("go infinite")) {
            self.underway();
            self.send("stop");
        }
        let limit = self.timeouts.answer();
        let (best, at) = match self.wait_for_best(limit, &mut infos) {
            Err(WaitError::Late(_)) if is_replaced || self.capabilities.may_be_slow(go, &infos) => {
                complete = false;
                self.end_slow_search(limit, &mut infos)?
            }
            other => other?,
        };
        let time = at.saturating_duration_since(begin);
        Ok(SearchResult { infos, best, time, complete, missing })
    }

    /// Stops a search that takes long, which is no violation.
    fn end_slow_search(
        &mut self,
        limit: Duration,
        infos: &mut Vec<Info<'static>>,
    ) -> Result<(BestMove<'static>, Instant), WaitError> {
        let stop = self.capabilities.check_of(Feature::Stop).filter(|check| *check != self.check);
        if let Some(check) = stop {
            return Err(WaitError::Depends(check));
        }
        self.send("stop");
        match self.wait_for_best(limit, infos) {
            // Whether such an engine still searches is unknown, unless it has failed before.
            Err(WaitError::Late(_))
                if infos.is_empty()
                    && !self.capabilities.reports
                    && !self.capabilities.fails(self.check) =>
            {
                Err(WaitError::Slow)
            }
            other => other,
        }
    }

    /// Sends a line, and measures the time to `bestmove`.
    pub(crate) fn timed(
        &mut self,
        line: &str,
        limit: Duration,
    ) -> Result<(BestMove<'static>, Timing), WaitError> {
        let (found, timing) = self.measured(line, limit);
        Ok((found?, timing))
    }

    /// Like `timed`. Without `bestmove` the time is that of the wait.
    pub(crate) fn measured(
        &mut self,
        line: &str,
        limit: Duration,
    ) -> (Result<BestMove<'static>, WaitError>, Timing) {
        let (found, timing) = self.metered(|session| {
            session.send(line);
            // An engine may sleep until the time is over.
            let found = match session.blocked {
                Some(check) => Err(WaitError::Depends(check)),
                None => session.wait(limit, limit, |line| match &line.reply {
                    Reply::BestMove(best) => Some((best.clone(), line.at)),
                    _ => None,
                }),
            };
            let end = found.as_ref().map_or_else(|_| now(), |(_, at)| *at);
            (found, end)
        });
        (found.map(|(best, _)| best), timing)
    }

    /// Like `measured`, for `go mate`: `checkmate`, or `None` if the reply is `bestmove`.
    pub(crate) fn measured_mate(
        &mut self,
        line: &str,
        limit: Duration,
    ) -> (Result<Option<Checkmate<'static>>, WaitError>, Timing) {
        let (found, timing) = self.metered(|session| {
            session.send(line);
            let found = session.wait(limit, limit, |line| match &line.reply {
                Reply::Checkmate(mate) => Some((Some(mate.clone()), line.at)),
                Reply::BestMove(_) => Some((None, line.at)),
                _ => None,
            });
            let end = found.as_ref().map_or_else(|_| now(), |(_, at)| *at);
            (found, end)
        });
        (found.map(|(mate, _)| mate), timing)
    }

    /// Like `best` after a line, with the delay of the host.
    pub(crate) fn delayed_best(
        &mut self,
        line: &str,
        limit: Duration,
    ) -> (Result<SearchResult, WaitError>, Duration) {
        let (found, timing) = self.metered(|session| {
            session.send(line);
            (session.best(limit), now())
        });
        (found, timing.delay)
    }

    /// Sends `isready`, and measures the time to `readyok`. Returns the lines before it.
    pub(crate) fn timed_ready(&mut self) -> (Result<Vec<Line>, WaitError>, Timing) {
        self.metered(|session| {
            let found = session.until_ready();
            (found, now())
        })
    }

    /// Measures the time to the returned end, and the delay of the host.
    fn metered<T>(&mut self, run: impl FnOnce(&mut Self) -> (T, Instant)) -> (T, Timing) {
        let waited = |session: &Self| session.usage().map(|usage| usage.waited);
        let before = waited(self);
        let meter = DelayMeter::start();
        let begin = now();
        let (result, end) = run(self);
        let own = meter.finish();
        let after = waited(self);
        let of_engine = after.zip(before).map(|(after, before)| after.saturating_sub(before));
        let delay = own.max(of_engine.unwrap_or_default());
        (result, Timing { time: end.saturating_duration_since(begin), delay })
    }

    /// Waits until the engine has exited.
    pub(crate) fn ended(&mut self, limit: Duration) -> Result<Option<ExitStatus>, WaitError> {
        match self.wait_for(limit, |_| None::<()>) {
            Err(WaitError::Ended(status)) if self.process.is_none() || status.is_some() => {
                Ok(status)
            }
            Err(late @ (WaitError::Late(_) | WaitError::OutOfTime)) => Err(late),
            // The engine has closed its output and is still running.
            _ => Err(WaitError::Late(limit)),
        }
    }

    fn handle_event(&mut self, event: Event) {
        match event {
            Event::Output { at, bytes } => {
                let before = self.record.borrow().entries.len();
                let lone_return = self.has_lone_return(&bytes);
                self.buffer.push(&bytes);
                let mut lines = Vec::new();
                while let Some(line) = self.buffer.next_line() {
                    // An overlong line is discarded; a missing reply will be detected.
                    lines.extend(line.ok().map(<[u8]>::to_vec));
                }
                for line in lines {
                    self.note_line(at, &line);
                }
                let mut record = self.record.borrow_mut();
                if lone_return && record.lone_return.is_none() {
                    record.lone_return = record.entries.len().checked_sub(1).map(|_| before);
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

    /// Whether a line of the output ends with a carriage return only.
    fn has_lone_return(&mut self, bytes: &[u8]) -> bool {
        let mut found = false;
        for byte in bytes {
            found |= self.after_return && !matches!(byte, b'\n' | b'\r');
            self.after_return = *byte == b'\r';
        }
        found
    }

    fn note_line(&mut self, at: Instant, line: &[u8]) {
        let (text, undecodable) = decode(line);
        let notes: Vec<DiagnosticKind> = undecodable.into_iter().map(|note| note.kind).collect();
        let is_searching = self.protocol.is_searching();
        match self.alteration.as_mut().map(|it| it.incoming(&text, is_searching)) {
            None => {
                let text = text.into_owned();
                self.record_line(at, &Received { recorded: text.clone(), text }, notes);
            }
            Some(Some(changed)) => self.record_line(at, &changed, notes),
            Some(None) => (),
        }
    }

    fn record_line(&mut self, at: Instant, line: &Received, mut notes: Vec<DiagnosticKind>) {
        let reading = Reply::read(&line.text, self.protocol.dialect());
        notes.extend(reading.diagnostics.into_iter().map(|note| note.kind));
        let violation =
            self.protocol.apply_reply_lenient(&reading.value).filter(|_| !self.finished);
        let reply = reading.value.into_owned();
        let since = at.saturating_duration_since(self.start);
        let entry = TranscriptEntry::new(since, Party::Engine, line.recorded.clone());
        self.record.borrow_mut().add(TranscriptEntry { violation, notes: notes.clone(), ..entry });
        self.lines.push_back(Line { at, reply, notes });
    }
}

impl Drop for EngineSession {
    fn drop(&mut self) {
        let Some(outbox) = self.outbox.take() else { return };
        // The end of the session is not recorded: the transcript shows what was tested.
        self.finished = true;
        if !self.sent.is_empty() {
            let line = std::mem::take(&mut self.sent);
            self.note_command(line);
        }
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
