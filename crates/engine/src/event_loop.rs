//! The main loop, which owns the session and the output.

use std::collections::HashSet;
use std::fmt::Write as _;
use std::io::{self, Read, Write};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender};
use std::time::{Duration, Instant};

use readyok_protocol::session::engine::{
    self as session, EngineSession, SearchRequest, UsageError,
};
use readyok_protocol::{
    BestMove, Goal, Info, Limitation, LineBuffer, MateLimit, OptionValue, Phase, decode,
};

use crate::budget::Budget;
use crate::control::{Control, lines};
use crate::corrections::{self, Correction, Corrections};
use crate::event::Event;
use crate::log::{self, Log};
use crate::move_overhead::MoveOverhead;
use crate::options::Spin;
use crate::worker::{CustomCommand, Job};

/// How long `quit` waits for the worker, unless it executes a custom command.
const EXIT_TIMEOUT: Duration = Duration::from_secs(2);

/// Maximum length of a custom command in bytes.
const MAX_CUSTOM_COMMAND: usize = 4096;

/// Sends the lines of the client to the main loop.
pub(crate) fn read(mut input: impl Read, events: &SyncSender<Event>) {
    let (mut lines, mut buffer) = (LineBuffer::default(), [0; 8192]);
    loop {
        let count = match input.read(&mut buffer) {
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(_) => 0,
        };
        lines.push(buffer.get(..count).unwrap_or_default());
        while let Some(line) = lines.next_line() {
            let event = match line {
                Ok(line) => Event::Line(decode(line).0.into_owned()),
                Err(error) => Event::OversizedLine(error),
            };
            if events.send(event).is_err() {
                return;
            }
        }
        if count == 0 {
            let rest = lines.last_line().map(|line| Event::Line(decode(line).0.into_owned()));
            // The receiver is missing if the engine is about to exit.
            let _ = rest
                .into_iter()
                .chain([Event::EndOfInput])
                .try_for_each(|event| events.send(event));
            return;
        }
    }
}

pub(crate) struct EventLoop<W> {
    session: EngineSession,
    output: W,
    /// Lines that are not written yet.
    out: String,
    log: Log,
    start: Instant,
    events: SyncSender<Event>,
    /// `None` after `quit`.
    jobs: Option<Sender<Job>>,
    move_overhead: Option<Spin>,
    overhead: MoveOverhead,
    searches: u64,
    running: Option<(Control, SearchRequest)>,
    engine: EngineFacts,
    reported: HashSet<Correction>,
    /// Number of custom commands that are not complete.
    commands: usize,
    /// When to exit without waiting for the worker.
    exit_deadline: Option<Instant>,
}

/// What the main loop has to know about the engine.
#[derive(Debug)]
pub(crate) struct EngineFacts {
    pub(crate) searches_for_mate: bool,
    /// Corrects a line of a search.
    pub(crate) correct: fn(&mut Info<'static>, &SearchRequest) -> Corrections,
}

impl<W: Write> EventLoop<W> {
    pub(crate) fn new(
        session: EngineSession,
        output: W,
        events: SyncSender<Event>,
        jobs: Sender<Job>,
        move_overhead: Option<Spin>,
        engine: EngineFacts,
    ) -> Self {
        let start = crate::now();
        Self {
            session,
            output,
            out: String::new(),
            log: Log::new(start),
            start,
            events,
            jobs: Some(jobs),
            move_overhead,
            overhead: MoveOverhead::default(),
            searches: 0,
            running: None,
            engine,
            reported: HashSet::new(),
            commands: 0,
            exit_deadline: None,
        }
    }

    /// Handles events until the client quits or the output fails.
    pub(crate) fn run(&mut self, inbox: &Receiver<Event>) -> io::Result<()> {
        let result = self.handle_events(inbox);
        self.shut_down();
        result
    }

    fn handle_events(&mut self, inbox: &Receiver<Event>) -> io::Result<()> {
        loop {
            let event = match self.next_deadline() {
                None => inbox.recv().map_err(|_| RecvTimeoutError::Disconnected),
                Some(at) => inbox.recv_timeout(at.saturating_duration_since(crate::now())),
            };
            let now = crate::now();
            match event {
                Ok(Event::WorkerExited) | Err(RecvTimeoutError::Disconnected) => return Ok(()),
                Ok(event) => self.handle_event(event, now),
                Err(RecvTimeoutError::Timeout)
                    if self.exit_deadline.is_some_and(|at| at <= now) =>
                {
                    return Ok(());
                }
                Err(RecvTimeoutError::Timeout) => (),
            }
            self.stop_if_late(now);
            self.session.handle_timeout(now - self.start, &mut self.out);
            while let Some(event) = self.session.poll_event() {
                self.handle_session_event(event, now);
            }
            self.flush(now)?;
        }
    }

    fn next_deadline(&self) -> Option<Instant> {
        let delayed_lines = self.session.poll_timeout().and_then(|at| self.start.checked_add(at));
        let search = self.running.as_ref().and_then(|(control, _)| control.deadline());
        [delayed_lines, search, self.exit_deadline].into_iter().flatten().min()
    }

    fn stop_if_late(&self, now: Instant) {
        if let Some((control, _)) = &self.running
            && control.deadline().is_some_and(|deadline| deadline <= now)
        {
            control.stop();
        }
    }

    fn handle_event(&mut self, event: Event, now: Instant) {
        let (session, out, at) = (&mut self.session, &mut self.out, now - self.start);
        let result = match event {
            Event::Line(line) => {
                self.log.received(&line, now);
                session.receive_line(&line, at, out);
                Ok(())
            }
            Event::OversizedLine(error) => {
                session.receive_oversized_line(error, out);
                Ok(())
            }
            Event::EndOfInput => {
                session.end_of_input(out);
                Ok(())
            }
            Event::Info { search, mut info } => match &self.running {
                Some((control, request)) if control.search() == search => {
                    let corrections = (self.engine.correct)(&mut info, request);
                    for (correction, text) in corrections {
                        self.report_correction(correction, &text, now);
                    }
                    if corrections::is_empty(&info) {
                        return;
                    }
                    self.session.info(*info, at, &mut self.out)
                }
                // Sent by a thread of an earlier search.
                _ => Ok(()),
            },
            Event::InfoString(text) => return self.info_string(&text, now),
            Event::Output(text) => {
                // Programs that parse such output may expect empty lines.
                for line in text.split(['\n', '\r', '\0']) {
                    out.push_str(line);
                    out.push('\n');
                }
                Ok(())
            }
            Event::CommandDone => {
                self.commands = self.commands.saturating_sub(1);
                self.set_exit_deadline(now);
                Ok(())
            }
            Event::Corrected(correction, text) => {
                return self.report_correction(correction, &text, now);
            }
            Event::CopyProtection(status) => session.copy_protection(status, out),
            Event::Registration(status) => session.registration(status, out),
            Event::Prepared => session.ready(out),
            Event::BestMove(best) => {
                if let Some((control, _)) = self.running.take() {
                    self.overhead.end(control.time_until(now));
                }
                session.best_move(best, at, out)
            }
            Event::Checkmate(mate) => {
                self.running = None;
                session.checkmate(mate, at, out)
            }
            Event::WorkerExited => Ok(()),
        };
        if let Err(usage_error) = result {
            self.report_usage_error(&usage_error, now);
        }
    }

    /// Reports a corrected bug of the engine, once per kind. A replaced move is always reported.
    fn report_correction(&mut self, correction: Correction, text: &str, now: Instant) {
        if self.reported.insert(correction) || correction == Correction::IllegalMove {
            self.info_string(&format!("a bug of this engine: {text}"), now);
        }
    }

    /// After `quit`, exits soon without waiting for the worker, once no custom command is running.
    fn set_exit_deadline(&mut self, now: Instant) {
        if self.jobs.is_none() && self.commands == 0 {
            self.exit_deadline = now.checked_add(EXIT_TIMEOUT);
        }
    }

    /// Replaces an unwritable answer by `bestmove (none)`, because an answer must not be missing.
    fn report_usage_error(&mut self, usage_error: &UsageError, now: Instant) {
        self.info_string(&format!("a bug of this engine: {usage_error}"), now);
        if self.session.protocol_state().is_searching() && self.running.is_none() {
            let (out, at) = (&mut self.out, now - self.start);
            let none = BestMove::from(readyok_protocol::Best::None);
            // Allowed because the first answer was rejected.
            let _ = self.session.best_move(none, at, out);
        }
    }

    fn handle_session_event(&mut self, event: session::Event, now: Instant) {
        match event {
            session::Event::SetOption { name, value } if name == log::OPTION => {
                self.open_log(&value, now);
            }
            session::Event::SetOption { name, value } => {
                // Applied here because the worker may be busy when the next budget is computed.
                let is_own = self
                    .move_overhead
                    .as_ref()
                    .is_some_and(|overhead| overhead.take(&name, &value));
                if !is_own {
                    self.send_job(Job::SetOption { name, value });
                }
            }
            session::Event::HandshakeComplete(dialect) => {
                self.send_job(Job::SetDialect(dialect));
                self.send_job(Job::CheckLicense);
            }
            session::Event::Register(with) => self.send_job(Job::Register(with)),
            session::Event::NewGame => self.send_job(Job::NewGame),
            session::Event::Prepare => self.send_job(Job::Prepare),
            session::Event::Search(request) => self.search(*request, now),
            session::Event::PonderHit(clocks) => {
                self.overhead.skip_turn();
                if let Some((control, mut request)) = self.running.take() {
                    if !clocks.is_empty() {
                        request.go.clocks = clocks;
                    }
                    control.ponder_hit(now, self.budget(&request));
                    self.running = Some((control, request));
                }
            }
            session::Event::Stop => self.stop(),
            session::Event::Quit => {
                self.shut_down();
                self.set_exit_deadline(now);
            }
            session::Event::Unknown(line) => self.custom_command(line, None),
            session::Event::Perft(depth) => self.custom_command(
                format!("go perft {depth}"),
                Some("this engine does not count leaf nodes"),
            ),
            // The session has reported the others to the client.
            _ => (),
        }
    }

    /// Passes a line to the engine, except during a search.
    fn custom_command(&mut self, line: String, otherwise: Option<&'static str>) {
        let is_idle = !self.session.protocol_state().is_searching() && self.jobs.is_some();
        if is_idle && line.len() <= MAX_CUSTOM_COMMAND {
            self.commands += 1;
            let position = self.session.position().cloned();
            self.send_job(Job::Custom(CustomCommand { line, position, otherwise }));
        }
    }

    fn search(&mut self, mut request: SearchRequest, now: Instant) {
        self.searches += 1;
        if let Some(MateLimit::Moves(moves)) = request.go.mate
            && !self.engine.searches_for_mate
        {
            request.go.mate = None;
            let mut text =
                format!("this engine does not search for mates: `mate {moves}` is ignored");
            if request.go.limitation(request.mover()) == Limitation::None {
                request.set_default_time();
                let _ = write!(text, ", and the search takes {:?}", SearchRequest::DEFAULT_TIME);
            }
            self.info_string(&text, now);
        }
        self.overhead.begin(&request);
        let budget = self.budget(&request);
        let shown = if request.go.ponder { None } else { Some(budget) };
        if self.session.debug() {
            self.info_string(
                &format!("budget: soft {:?}, hard {:?}", budget.soft, budget.hard),
                now,
            );
        }
        let control = Control::new(self.searches, now, shown, self.events.clone());
        let copy = Box::new(request.clone());
        self.running = Some((control.clone(), request));
        self.send_job(if self.is_for_mate() {
            Job::Solve(copy, control)
        } else {
            Job::Search(copy, control)
        });
    }

    fn is_for_mate(&self) -> bool {
        matches!(self.session.protocol_state().phase(), Phase::Searching { goal: Goal::Mate, .. })
    }

    fn budget(&self, request: &SearchRequest) -> Budget {
        const DEFAULT_OVERHEAD_MS: u64 = 10;
        let millis = self.move_overhead.as_ref().map(Spin::get);
        let millis = millis.map_or(DEFAULT_OVERHEAD_MS, |ms| u64::try_from(ms).unwrap_or(0));
        let overhead = Duration::from_millis(millis);
        Budget::with_clock_overhead(request, overhead, self.overhead.overhead(overhead, request))
    }

    fn open_log(&mut self, value: &OptionValue, now: Instant) {
        let OptionValue::Text(path) = value else { return };
        if let Err(error) = self.log.open(path) {
            self.info_string(&format!("no log in `{}`: {error}", path.escape_debug()), now);
        }
    }

    fn info_string(&mut self, text: &str, now: Instant) {
        for line in lines(text) {
            let (out, at) = (&mut self.out, now - self.start);
            // An `info string` without line ends is always allowed.
            let _ = self.session.info(Info::text(line), at, out);
        }
    }

    fn send_job(&self, job: Job) {
        if let Some(jobs) = &self.jobs {
            // A worker that exits sends `WorkerExited`.
            let _ = jobs.send(job);
        }
    }

    fn stop(&self) {
        if let Some((control, _)) = &self.running {
            control.stop();
        }
    }

    /// Stops the search and closes the channel of the worker.
    fn shut_down(&mut self) {
        self.stop();
        self.jobs = None;
    }

    fn flush(&mut self, now: Instant) -> io::Result<()> {
        if self.out.is_empty() {
            return Ok(());
        }
        self.log.sent(&self.out, now);
        self.output.write_all(self.out.as_bytes())?;
        self.output.flush()?;
        self.out.clear();
        Ok(())
    }
}
