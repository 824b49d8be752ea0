//! One conversation with one engine, without waiting: both adapters ask it for what has happened,
//! and wait in their own way when nothing has.
//!
//! ```text
//!  Talking ── quit, or the engine is late or gone ──> Closing ──> Terminating ──> Killing
//!                                                        └──────────┴───── it has ended ──> Over
//! ```

use std::collections::VecDeque;
use std::process::ExitStatus;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use readyok_protocol::session::Moment;
use readyok_protocol::session::client::{
    ClientSession, DropReason, Event, Misuse, NewGame, Patience, PingId, Purpose, SearchId, Wait,
};
use readyok_protocol::{Clocks, Dialect, LineTooLong, Register, Side, WriteError};

use crate::error::{EngineError, Problem};
use crate::game::{Game, GameId};
use crate::link::{Link, Next};
use crate::overhear::Overhearing;
use crate::process::Signal;
use crate::running::{Progress, Running, Source};
use crate::search::Search;
use crate::time::now;

/// How long a process that has closed its output may take to leave by itself.
const CLOSING: Duration = Duration::from_millis(500);
/// How long it may take after SIGTERM.
const TERMINATING: Duration = Duration::from_millis(500);
/// How long the system may take after SIGKILL.
const KILLING: Duration = Duration::from_secs(5);
/// How long a handle that is dropped waits for the engine to leave by itself.
const DROPPING: Duration = Duration::from_millis(500);

const MAX_NOTICES: usize = 256;

/// Something that an engine did besides answering.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Notice {
    /// A text, a breach of the protocol, a line that is no message.
    Event(Event),
    /// A line was too long and was thrown away.
    LineTooLong(LineTooLong),
}

#[derive(Debug)]
pub(crate) struct Driver {
    /// Tells drivers apart.
    id: DriverId,
    name: String,
    session: ClientSession,
    link: Link,
    patience: Patience,
    /// What the session has said and was not handed over.
    out: String,
    origin: Instant,
    /// The time that the session knows.
    moment: Moment,
    /// The line of the latest event.
    raw: String,
    /// When it came.
    read: Instant,
    /// The latest search that was asked for.
    latest: Option<SearchId>,
    /// The latest search that was started, and when `go` was written.
    go: Option<(SearchId, Instant)>,
    /// When the latest search will have lost on time.
    lost_at: Option<Instant>,
    /// Whether the time counts that the latest search takes.
    timed: bool,
    game: Option<GameId>,
    notices: VecDeque<Notice>,
    overhearing: Option<Overhearing>,
    ending: Option<Ending>,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct DriverId(u64);

impl DriverId {
    fn new() -> Self {
        static LAST: AtomicU64 = AtomicU64::new(0);
        Self(LAST.fetch_add(1, Ordering::Relaxed))
    }
}

#[derive(Debug)]
struct Ending {
    /// Why. `None` if the caller wanted it.
    problem: Option<Problem>,
    stage: Stage,
    until: Instant,
}

#[derive(Clone, Copy, Debug)]
enum Stage {
    Closing,
    Terminating,
    Killing,
    Over,
}

impl Driver {
    pub(crate) fn start(
        name: String,
        dialect: Dialect,
        patience: Patience,
        link: Link,
        overhearing: Option<Overhearing>,
    ) -> Self {
        let mut out = String::new();
        let mut session = ClientSession::start(dialect, patience, Moment::ZERO, &mut out);
        session.hold_searches();
        let origin = now();
        let mut driver = Self {
            id: DriverId::new(),
            name,
            session,
            link,
            patience,
            out,
            origin,
            moment: Moment::ZERO,
            raw: String::new(),
            read: origin,
            latest: None,
            go: None,
            lost_at: None,
            timed: false,
            game: None,
            notices: VecDeque::new(),
            overhearing,
            ending: None,
        };
        driver.flush();
        driver
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn session(&self) -> &ClientSession {
        &self.session
    }

    pub(crate) fn link(&self) -> &Link {
        &self.link
    }

    pub(crate) fn take_notices(&mut self) -> Vec<Notice> {
        self.link.drain();
        // An engine that has ended meanwhile is an error of the next call.
        let _ = self.poll(|event, _| Err::<(), _>(event));
        self.notices.drain(..).collect()
    }

    /// Whether the greeting is over.
    pub(crate) fn poll_greeting(&mut self) -> Result<Option<()>, EngineError> {
        self.poll(|event, _| match event {
            Event::Greeted => Ok(()),
            event => Err(event),
        })
    }

    /// Whether the engine has answered this question.
    pub(crate) fn poll_ready(&mut self, ping: PingId) -> Result<Option<()>, EngineError> {
        self.poll(|event, _| match event {
            Event::Ready(id) if id == ping => Ok(()),
            event => Err(event),
        })
    }

    /// What came next in a search.
    pub(crate) fn poll_search(
        &mut self,
        running: &mut Running,
    ) -> Result<Option<Progress>, EngineError> {
        if running.driver != self.id {
            return Err(self.error(Problem::OtherEngine));
        }
        if self.latest != Some(running.id) {
            return Err(self.error(Problem::Dropped(DropReason::Superseded)));
        }
        if self.link.inbox.take_stop() {
            running.stop = true;
        }
        loop {
            self.stop_if_wanted(running);
            self.lost_at = running.time.end();
            let progress = self.poll(|event, source| running.take(event, source))?;
            let late = match progress {
                Some(Progress::Started) => continue,
                Some(Progress::OutOfTime(late)) => late,
                Some(progress) => {
                    if matches!(progress, Progress::Ended(_)) {
                        // Whatever comes next has nothing to do with it.
                        self.lost_at = None;
                    }
                    return Ok(Some(progress));
                }
                // What ends the engine ends the search as well, and says more once it is reached.
                None if self.ending.is_some() => return Ok(None),
                None => {
                    if let Some(reason) = running.dropped {
                        self.lost_at = None;
                        return Err(self.error(Problem::Dropped(reason)));
                    }
                    let Some(lost_at) = self.lost_at else { return Ok(None) };
                    match running.time.lateness(now()) {
                        Some(late) => late,
                        // What was read after the deadline may be in time all the same.
                        None if running.time.end() > Some(lost_at) => continue,
                        None => return Ok(None),
                    }
                }
            };
            self.abandon(running.id);
            return Err(self.error(Problem::OutOfTime(late)));
        }
    }

    /// Whether the engine has ended after [`quit`](Self::quit).
    pub(crate) fn poll_end(&mut self) -> Result<Option<()>, EngineError> {
        if !self.advance_ending() {
            return Ok(None);
        }
        match self.ending.as_ref().and_then(|ending| ending.problem.clone()) {
            Some(problem) => Err(self.last_error(problem)),
            None => Ok(Some(())),
        }
    }

    /// The next event that `take` wants, which gets its time and its line as well. What it gives
    /// back becomes a notice.
    fn poll<T>(
        &mut self,
        mut take: impl FnMut(Event, &mut Source<'_>) -> Result<T, Event>,
    ) -> Result<Option<T>, EngineError> {
        // An engine that says more than can be read does not put off its deadline.
        while self.ending.is_none()
            && self.lost_at.is_none_or(|lost_at| self.read < lost_at)
            && let Some(event) = self.poll_event()
        {
            let go = self.go.map_or(self.origin, |(_, at)| at);
            // A thread that was kept waiting knows only about when it was woken.
            let read = self.read.max(go);
            let mut source = Source { line: &mut self.raw, read, go };
            let event = match take(event, &mut source) {
                Ok(value) => return Ok(Some(value)),
                Err(event) => event,
            };
            self.overlook(event);
        }
        if self.advance_ending()
            && let Some(Ending { problem, .. }) = &self.ending
        {
            return Err(self.last_error(problem.clone().unwrap_or(Problem::Gone)));
        }
        Ok(None)
    }

    /// Takes what nobody waits for.
    fn overlook(&mut self, event: Event) {
        match event {
            Event::Gone => self.begin_ending(Some(Problem::Gone), Stage::Closing, CLOSING),
            Event::Late(wait) => self.give_up(wait),
            // The end of a search that nobody waits for.
            Event::Started(_)
            | Event::Info(..)
            | Event::BestMove(..)
            | Event::Checkmate(..)
            | Event::Dropped(..)
            | Event::Ready(_)
            | Event::Greeted => (),
            Event::Overran(_)
            | Event::Remark(_)
            | Event::Registration(_)
            | Event::CopyProtection(_)
            | Event::Chatter(_)
            | Event::Odd(_)
            | Event::Violation(_) => self.notice(Notice::Event(event)),
        }
    }

    fn notice(&mut self, notice: Notice) {
        if self.notices.len() == MAX_NOTICES {
            self.notices.pop_front();
        }
        self.notices.push_back(notice);
    }

    /// The next event of the session.
    fn poll_event(&mut self) -> Option<Event> {
        loop {
            self.flush();
            if let Some(event) = self.session.poll_event() {
                return Some(event);
            }
            if self.session.holds_search() {
                self.start_search();
                continue;
            }
            let next = self.link.next();
            if !self.tell(next) {
                return None;
            }
        }
    }

    /// Starts a search that can start now. What has come before is no answer to it.
    fn start_search(&mut self) {
        self.link.drain();
        let until = now();
        while self.session.holds_search()
            && let Next::Line(at) = self.link.next()
            && at <= until
        {
            self.tell(Next::Line(at));
        }
        self.tick();
        self.session.start_search(self.moment, &mut self.out);
    }

    /// Tells the session what came next, or what was due before it: lines and deadlines are handled
    /// in the order in which they came, however late the caller looks. Tells whether that was
    /// anything.
    fn tell(&mut self, next: Next) -> bool {
        let at = match next {
            Next::Line(at) => at,
            Next::Closed | Next::Nothing => now(),
        };
        self.moment = self.moment.max(at.saturating_duration_since(self.origin));
        let is_due = self.session.poll_timeout().is_some_and(|due| due < self.moment);
        match next {
            Next::Line(_) | Next::Nothing if is_due => {
                self.session.handle_timeout(self.moment, &mut self.out);
            }
            Next::Line(_) => match self.link.batch.pop() {
                Some(Ok(text)) => {
                    if let Some(overhearing) = &self.overhearing {
                        overhearing.hear(Side::Engine, text);
                    }
                    self.session.receive_line(text, self.moment, &mut self.out);
                    self.raw.clear();
                    self.raw.push_str(text);
                    self.read = at;
                }
                Some(Err(too_long)) => self.notice(Notice::LineTooLong(too_long)),
                None => (),
            },
            Next::Closed => {
                self.link.end_is_known = true;
                self.session.receive_eof();
            }
            Next::Nothing => return false,
        }
        true
    }

    /// Takes back the memory of a line, for the next one.
    pub(crate) fn reuse(&mut self, line: String) {
        if self.raw.is_empty() {
            self.raw = line;
            self.raw.clear();
        }
    }

    /// Until when nothing will happen unless the engine makes it happen.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        if let Some(ending) = &self.ending {
            return Some(ending.until);
        }
        // A moment is late only when it is over.
        let due = self.session.poll_timeout().map(|due| due + Duration::from_nanos(1));
        let due = due.and_then(|due| self.origin.checked_add(due));
        due.into_iter().chain(self.lost_at).min()
    }

    /// Whether the time counts that the latest search takes.
    pub(crate) fn is_timed(&self) -> bool {
        self.timed
    }

    /// Searches. A new game is announced if it is one.
    pub(crate) fn search(
        &mut self,
        game: &Game,
        search: &Search,
        purpose: Purpose,
    ) -> Result<Running, EngineError> {
        self.check_open()?;
        // A stop that came too late for the search before is not meant for this one.
        self.link.inbox.take_stop();
        self.tick();
        if self.game != Some(game.id()) {
            self.new_game(game.id(), game.about().clone())?;
        }
        let request = search.request(game, purpose);
        let id = self.session.search(request, self.moment, &mut self.out);
        if self.session.holds_search() {
            self.start_search();
        }
        self.flush();
        let id = id.map_err(|misuse| self.error(Problem::Misuse(misuse)))?;
        (self.latest, self.lost_at, self.timed) = (Some(id), None, search.is_timed());
        Ok(Running::new(self.id, id, search))
    }

    pub(crate) fn announce(&mut self, game: &Game) -> Result<(), EngineError> {
        self.tick();
        let announced = self.new_game(game.id(), game.about().clone());
        self.flush();
        announced
    }

    fn new_game(&mut self, id: GameId, about: NewGame) -> Result<(), EngineError> {
        let announced = self.session.new_game(about, self.moment, &mut self.out);
        announced.map_err(|misuse| self.error(Problem::Misuse(misuse)))?;
        self.game = Some(id);
        Ok(())
    }

    /// Ends a search soon, whether it has started or not.
    pub(crate) fn abandon(&mut self, id: SearchId) {
        self.lost_at = self.lost_at.filter(|_| self.latest != Some(id));
        self.tick();
        self.session.stop(id, self.moment, &mut self.out);
        self.flush();
    }

    fn stop_if_wanted(&mut self, running: &Running) {
        if running.stop && self.session.running() == Some(running.id) {
            self.tick();
            self.session.stop(running.id, self.moment, &mut self.out);
            self.flush();
        }
    }

    pub(crate) fn ponder_hit(
        &mut self,
        running: &mut Running,
        clocks: Option<Clocks>,
    ) -> Result<(), EngineError> {
        if running.driver != self.id {
            return Err(self.error(Problem::OtherEngine));
        }
        let at = now();
        self.command(|session, now, out| session.ponder_hit(running.id, clocks, now, out))?;
        running.time.hit(at);
        Ok(())
    }

    pub(crate) fn set_option(
        &mut self,
        name: &str,
        value: Option<&str>,
    ) -> Result<(), EngineError> {
        self.command(|session, now, out| session.set_option(name, value, now, out))
    }

    pub(crate) fn separate_searches(&mut self, separate: bool) {
        self.session.separate_searches(separate);
    }

    pub(crate) fn allow_pondering(&mut self, allowed: bool) {
        self.session.allow_pondering(allowed);
    }

    pub(crate) fn register(&mut self, with: Register<'static>) -> Result<(), EngineError> {
        self.command(|session, now, out| session.register(with, now, out))
    }

    /// Says a line that the session does not know of.
    pub(crate) fn say(&mut self, line: &str) -> Result<(), EngineError> {
        self.check_open()?;
        if line.contains(|letter: char| letter.is_control() && letter != '\t') {
            let refused = WriteError::LineBreak { field: "line", text: line.to_owned() };
            return Err(self.error(Problem::Misuse(refused.into())));
        }
        self.out.push_str(line);
        self.out.push('\n');
        self.flush();
        Ok(())
    }

    /// Takes what comes while nothing is asked. Tells of the end of the engine.
    #[cfg(feature = "tokio")]
    pub(crate) fn poll_idle(&mut self) -> Result<Option<()>, EngineError> {
        self.poll(|event, _| Err(event))
    }

    pub(crate) fn ping(&mut self) -> Result<PingId, EngineError> {
        self.command(ClientSession::ping)
    }

    /// Lets the caller say something to the session, if the engine is there.
    pub(crate) fn command<T>(
        &mut self,
        say: impl FnOnce(&mut ClientSession, Moment, &mut String) -> Result<T, Misuse>,
    ) -> Result<T, EngineError> {
        self.check_open()?;
        self.tick();
        let result = say(&mut self.session, self.moment, &mut self.out);
        self.flush();
        result.map_err(|misuse| self.error(Problem::Misuse(misuse)))
    }

    /// Asks the engine to leave.
    pub(crate) fn quit(&mut self) {
        self.tick();
        self.session.quit(self.moment, &mut self.out);
        self.flush();
        self.link.outbox.close();
        let patience = self.patience.quit.total;
        self.begin_ending(None, Stage::Closing, patience);
    }

    /// Ends the engine in the time that a destructor may take.
    pub(crate) fn end_now(&mut self) {
        self.quit();
        if self.link.wait_for_end(self.patience.quit.total.min(DROPPING)) {
            return;
        }
        self.link.signal(Signal::Terminate);
        if !self.link.wait_for_end(TERMINATING) {
            self.kill();
        }
    }

    /// Ends the engine without a word.
    pub(crate) fn kill(&mut self) {
        self.link.signal(Signal::Kill);
        self.link.wait_for_end(KILLING);
    }

    /// What ended the conversation, as an error of whoever asks for more.
    fn check_open(&self) -> Result<(), EngineError> {
        let Some(ending) = &self.ending else { return Ok(()) };
        Err(self.last_error(ending.problem.clone().unwrap_or(Problem::Gone)))
    }

    fn give_up(&mut self, wait: Wait) {
        self.link.signal(Signal::Terminate);
        self.begin_ending(Some(Problem::Late(wait)), Stage::Terminating, TERMINATING);
    }

    fn begin_ending(&mut self, problem: Option<Problem>, stage: Stage, time: Duration) {
        if self.ending.is_none() {
            self.ending = Some(Ending { problem, stage, until: now() + time });
        }
    }

    /// Goes on with the end, if there is one. Tells whether it is reached.
    fn advance_ending(&mut self) -> bool {
        let Some(ending) = &mut self.ending else { return false };
        // Nobody reads what an engine says behind its end, and lines that wait would end each wait.
        self.link.discard();
        loop {
            if self.link.has_ended() {
                ending.stage = Stage::Over;
            }
            let left = ending.until.saturating_duration_since(now());
            let (signal, stage, time) = match ending.stage {
                Stage::Over => return true,
                _ if !left.is_zero() => return false,
                Stage::Closing => (Signal::Terminate, Stage::Terminating, TERMINATING),
                Stage::Terminating => (Signal::Kill, Stage::Killing, KILLING),
                Stage::Killing => {
                    ending.stage = Stage::Over;
                    return true;
                }
            };
            self.link.signal(signal);
            // Asked to leave, it did not.
            ending.problem.get_or_insert(Problem::Late(Wait::Quit));
            (ending.stage, ending.until) = (stage, now() + time);
        }
    }

    /// How the process ended.
    pub(crate) fn exit(&self) -> Option<ExitStatus> {
        self.link.exit()
    }

    fn last_error(&self, problem: Problem) -> EngineError {
        self.error(problem).with_end(self.exit(), self.link.errors.lines())
    }

    fn error(&self, problem: Problem) -> EngineError {
        EngineError::new(&self.name, problem)
    }

    fn tick(&mut self) {
        self.moment = self.moment.max(now().saturating_duration_since(self.origin));
    }

    fn flush(&mut self) {
        if self.out.is_empty() {
            return;
        }
        if let Some(overhearing) = &self.overhearing {
            self.out.lines().for_each(|line| overhearing.hear(Side::Client, line));
        }
        if let Some(id) = self.session.running().filter(|id| self.go.map(|(id, _)| id) != Some(*id))
        {
            self.go = Some((id, now()));
        }
        self.link.outbox.push(&mut self.out);
    }
}
