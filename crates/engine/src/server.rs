//! The main loop: owns the session and the output.

use std::io::{self, Read, Write};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender};
use std::time::{Duration, Instant};

use readyok_protocol::session::engine::{
    self as session, EngineSession, SearchRequest, UsageError,
};
use readyok_protocol::{
    BestMove, Checkmate, Goal, Info, LineBuffer, LineTooLong, OptionValue, Phase, Status, decode,
};

use crate::control::lines;
use crate::lag::Lag;
use crate::log::{self, Log};
use crate::worker::Job;
use crate::{Budget, Control, Spin};

/// Everything that can happen to the main loop.
#[derive(Debug)]
pub(crate) enum Event {
    /// The client sent something.
    Line(String),
    /// The client sent a line that is too long.
    TooLong(LineTooLong),
    /// The client is gone.
    EndOfInput,
    /// A search tells something.
    Info { search: u64, info: Box<Info<'static>> },
    /// The worker tells something.
    InfoString(String),
    /// A custom command prints lines.
    Output(String),
    /// Whether this copy is the buyer's.
    CopyProtection(Status),
    /// Whether the engine is registered.
    Registration(Status),
    /// The engine is ready.
    Prepared,
    /// The engine has found a move.
    Found(BestMove<'static>),
    /// The engine has an answer to a search for a mate.
    Solved(Checkmate<'static>),
    /// The worker has ended.
    Left,
}

/// How long the last answers of an engine that is asked to quit are waited for.
const GRACE: Duration = Duration::from_secs(2);

/// Maximum length of a custom command in bytes.
const MAX_CUSTOM_COMMAND: usize = 4096;

/// Passes on what comes from the client, until its end.
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
                Err(error) => Event::TooLong(error),
            };
            if events.send(event).is_err() {
                return;
            }
        }
        if count == 0 {
            let rest = lines.last_line().map(|line| Event::Line(decode(line).0.into_owned()));
            // Without a receiver nobody asks for more.
            let _ = rest.into_iter().chain([Event::EndOfInput]).try_for_each(|it| events.send(it));
            return;
        }
    }
}

/// The state of the main loop.
pub(crate) struct Server<W> {
    session: EngineSession,
    output: W,
    /// What has to be written.
    out: String,
    log: Log,
    start: Instant,
    events: SyncSender<Event>,
    /// `None` as soon as there will be no more.
    jobs: Option<Sender<Job>>,
    move_overhead: Option<Spin>,
    lag: Lag,
    searches: u64,
    running: Option<(Control, SearchRequest)>,
    /// When to leave without the worker.
    leave_at: Option<Instant>,
}

impl<W: Write> Server<W> {
    pub(crate) fn new(
        session: EngineSession,
        output: W,
        events: SyncSender<Event>,
        jobs: Sender<Job>,
        move_overhead: Option<Spin>,
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
            lag: Lag::default(),
            searches: 0,
            running: None,
            leave_at: None,
        }
    }

    /// Serves the client until it quits, or until nothing can be written any more.
    pub(crate) fn serve(&mut self, inbox: &Receiver<Event>) -> io::Result<()> {
        let served = self.serve_until_left(inbox);
        self.leave();
        served
    }

    fn serve_until_left(&mut self, inbox: &Receiver<Event>) -> io::Result<()> {
        loop {
            let event = match self.next_deadline() {
                None => inbox.recv().map_err(|_| RecvTimeoutError::Disconnected),
                Some(at) => inbox.recv_timeout(at.saturating_duration_since(crate::now())),
            };
            let now = crate::now();
            match event {
                Ok(Event::Left) | Err(RecvTimeoutError::Disconnected) => return Ok(()),
                Ok(event) => self.take(event, now),
                Err(RecvTimeoutError::Timeout) if self.leave_at.is_some_and(|at| at <= now) => {
                    return Ok(());
                }
                Err(RecvTimeoutError::Timeout) => (),
            }
            self.stop_if_late(now);
            self.session.handle_timeout(now - self.start, &mut self.out);
            while let Some(event) = self.session.poll_event() {
                self.obey(event, now);
            }
            self.flush(now)?;
        }
    }

    fn next_deadline(&self) -> Option<Instant> {
        let said_later = self.session.poll_timeout().and_then(|at| self.start.checked_add(at));
        let search = self.running.as_ref().and_then(|(control, _)| control.deadline());
        [said_later, search, self.leave_at].into_iter().flatten().min()
    }

    fn stop_if_late(&self, now: Instant) {
        if let Some((control, _)) = &self.running
            && control.deadline().is_some_and(|deadline| deadline <= now)
        {
            control.stop();
        }
    }

    fn take(&mut self, event: Event, now: Instant) {
        let (session, out, at) = (&mut self.session, &mut self.out, now - self.start);
        let done = match event {
            Event::Line(line) => {
                self.log.heard(&line, now);
                session.receive_line(&line, at, out);
                Ok(())
            }
            Event::TooLong(error) => {
                session.receive_oversized_line(error, out);
                Ok(())
            }
            Event::EndOfInput => {
                session.end_of_input(out);
                Ok(())
            }
            Event::Info { search, info } => match &self.running {
                Some((control, _)) if control.search() == search => session.info(*info, at, out),
                // A thread of an earlier search is late.
                _ => Ok(()),
            },
            Event::InfoString(text) => return self.remark(&text, now),
            Event::Output(text) => {
                for line in lines(&text) {
                    out.push_str(line);
                    out.push('\n');
                }
                Ok(())
            }
            Event::CopyProtection(status) => session.copy_protection(status, out),
            Event::Registration(status) => session.registration(status, out),
            Event::Prepared => session.ready(out),
            Event::Found(best) => {
                if let Some((control, _)) = self.running.take() {
                    self.lag.end(control.time_until(now));
                }
                session.best_move(best, at, out)
            }
            Event::Solved(mate) => {
                self.running = None;
                session.checkmate(mate, at, out)
            }
            Event::Left => Ok(()),
        };
        if let Err(usage_error) = done {
            self.complain(&usage_error, now);
        }
    }

    /// An answer that cannot be written must not be missing.
    fn complain(&mut self, usage_error: &UsageError, now: Instant) {
        self.remark(&format!("a bug of this engine: {usage_error}"), now);
        if self.session.protocol_state().is_searching() && self.running.is_none() {
            let (out, at) = (&mut self.out, now - self.start);
            let none = BestMove::from(readyok_protocol::Best::None);
            // The first answer was rejected, so that this one is the only one.
            let _ = self.session.best_move(none, at, out);
        }
    }

    /// Does what the session wants.
    fn obey(&mut self, event: session::Event, now: Instant) {
        match event {
            session::Event::SetOption { name, value } if name == log::OPTION => {
                self.open_log(&value, now);
            }
            session::Event::SetOption { name, value } => {
                // The budget of a search is reckoned here, and the worker may be behind.
                let is_own = self.move_overhead.as_ref().is_some_and(|it| it.take(&name, &value));
                if !is_own {
                    self.assign(Job::SetOption { name, value });
                }
            }
            session::Event::HandshakeComplete(dialect) => {
                self.assign(Job::Greeted(dialect));
                self.assign(Job::CheckLicence);
            }
            session::Event::Register(with) => self.assign(Job::Register(with)),
            session::Event::NewGame => self.assign(Job::NewGame),
            session::Event::Prepare => self.assign(Job::Prepare),
            session::Event::Search(request) => self.search(*request, now),
            session::Event::PonderHit(clocks) => {
                self.lag.forget_turn();
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
                self.leave();
                self.leave_at = now.checked_add(GRACE);
            }
            session::Event::Unknown(line) => {
                let is_idle =
                    !self.session.protocol_state().is_searching() && self.leave_at.is_none();
                if is_idle && line.len() <= MAX_CUSTOM_COMMAND {
                    self.assign(Job::Custom(line));
                }
            }
            // The session has told the client all that there is to tell.
            session::Event::Debug(_)
            | session::Event::GameOver(_)
            | session::Event::Malformed(_)
            | session::Event::Violation(_)
            | session::Event::BadOption(_)
            | session::Event::Dropped => (),
        }
    }

    fn search(&mut self, request: SearchRequest, now: Instant) {
        self.searches += 1;
        self.lag.begin(&request);
        let budget = self.budget(&request);
        let shown = if request.go.ponder { None } else { Some(budget) };
        if self.session.debug() {
            self.remark(&format!("budget: soft {:?}, hard {:?}", budget.soft, budget.hard), now);
        }
        let control = Control::new(self.searches, now, shown, self.events.clone());
        let copy = Box::new(request.clone());
        self.running = Some((control.clone(), request));
        self.assign(if self.is_for_mate() {
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
        Budget::with_clock_overhead(request, overhead, self.lag.overhead(overhead, request))
    }

    fn open_log(&mut self, value: &OptionValue, now: Instant) {
        let OptionValue::Text(path) = value else { return };
        if let Err(error) = self.log.open(path) {
            self.remark(&format!("no log in `{}`: {error}", path.escape_debug()), now);
        }
    }

    fn remark(&mut self, text: &str, now: Instant) {
        for line in lines(text) {
            let (out, at) = (&mut self.out, now - self.start);
            // A line without line ends can be sent at any time.
            let _ = self.session.info(Info::text(line), at, out);
        }
    }

    fn assign(&self, job: Job) {
        if let Some(jobs) = &self.jobs {
            // A worker that has ended says so by itself.
            let _ = jobs.send(job);
        }
    }

    fn stop(&self) {
        if let Some((control, _)) = &self.running {
            control.stop();
        }
    }

    /// Lets the worker end as soon as it can.
    fn leave(&mut self) {
        self.stop();
        self.jobs = None;
    }

    fn flush(&mut self, now: Instant) -> io::Result<()> {
        if self.out.is_empty() {
            return Ok(());
        }
        self.log.said(&self.out, now);
        self.output.write_all(self.out.as_bytes())?;
        self.output.flush()?;
        self.out.clear();
        Ok(())
    }
}
