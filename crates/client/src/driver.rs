//! One engine session without I/O, threads or a clock of its own: lines, times and requests go in; bytes to send,
//! signals and results come out. The thread that holds its lock drives it: the I/O thread, or a caller that waits.
//!
//! ```text
//!  Open ── quit, or the engine is late or gone ──> Closing ──> Terminating ──> Killing
//!                                                     └──────────┴──── it has exited ──> Over
//! ```

mod ending;
mod postponed;

use std::collections::VecDeque;
use std::process::ExitStatus;
use std::sync::Arc;
use std::task::Waker;
use std::time::{Duration, Instant};

use readyok_protocol::session::SessionTime;
use readyok_protocol::session::client::{
    ClientSession, DropReason, Event, NewGame, PingId, Purpose, SearchId, Timeouts, UsageError,
    WaitLimit,
};
use readyok_protocol::{Clocks, Dialect, LineTooLong, Party, Register, WriteError, decode};

use self::ending::{CLOSING, Ending, Liveness, Stage, TERMINATING};
use self::postponed::{Postponed, VariationReport};
use crate::error::{EngineError, Problem, Termination};
use crate::listener::{Delivery, ErrorLines, Listener, Observer};
use crate::process::Signal;
use crate::search::{Game, GameId, Lines, Search, SearchResult, Update};
use crate::search_state::{self, SearchState};

const MAX_NOTICES: usize = 256;
/// Maximum number of unsent bytes. An engine that does not read them is considered hung; its next answer will time out.
const MAX_UNSENT: usize = 16 << 20;

/// An event besides answers.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Notice {
    /// A text, a protocol violation, or an unknown line.
    Event(Event),
    /// A line was too long and was discarded.
    LineTooLong(LineTooLong),
}

#[derive(Debug)]
pub(crate) struct Driver {
    name: String,
    session: ClientSession,
    timeouts: Timeouts,
    origin: Instant,
    /// The time that was passed to the session last.
    moment: SessionTime,
    /// Written by the session and not yet passed to the transport.
    out: String,
    /// Passed to the transport, which could not write it yet.
    unsent: Vec<u8>,
    input: Input,
    postponed: Postponed,
    /// The last one is the latest search. Older ones are stored until their handles have read the result.
    searches: Vec<SearchState>,
    game: Option<GameId>,
    game_cancelled: bool,
    handshake_done: bool,
    /// The latest ping that was answered.
    ready: Option<PingId>,
    notices: VecDeque<Notice>,
    observer: Option<Observer>,
    stderr: Arc<ErrorLines>,
    ending: Option<Ending>,
    signal: Option<Signal>,
    /// Why the client has terminated the process.
    termination: Option<Termination>,
    engine: Liveness,
    change: Change,
    wakers: Vec<(Change, Waker)>,
}

/// The input of the engine, which is closed after everything was sent.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Input {
    Open,
    Closing,
    Closed,
}

/// The kind of a change, for waiting threads and tasks.
#[derive(Clone, Copy, Debug, Default, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) enum Change {
    #[default]
    None,
    /// An `info` of a search.
    Update,
    /// Anything else.
    State,
}

/// Settings of a session.
#[derive(Debug)]
pub(crate) struct Settings {
    pub(crate) name: String,
    pub(crate) dialect: Dialect,
    pub(crate) timeouts: Timeouts,
    /// Whether each search waits for a `readyok` after the previous one.
    pub(crate) sync_between_searches: bool,
    /// Whether `position` is sent before `isready` instead of with `go`.
    pub(crate) position_before_ready: bool,
    pub(crate) listener: Option<Arc<Listener>>,
    pub(crate) stderr: Arc<ErrorLines>,
    pub(crate) is_process: bool,
    /// The answer to `registration error`.
    pub(crate) registration: Option<Register<'static>>,
}

impl Driver {
    /// Starts with the handshake.
    ///
    /// # Errors
    /// The registration cannot be written on one line.
    pub(crate) fn new(settings: Settings, now: Instant) -> Result<Self, EngineError> {
        let Settings { name, dialect, timeouts, listener, stderr, .. } = settings;
        let mut out = String::new();
        let mut session = ClientSession::start(dialect, timeouts, SessionTime::ZERO, &mut out);
        session.set_manual_start();
        session.sync_between_searches(settings.sync_between_searches);
        session.position_before_ready(settings.position_before_ready);
        if let Some(with) = settings.registration {
            let registered = session.register(with, SessionTime::ZERO, &mut out);
            registered
                .map_err(|usage_error| EngineError::new(&name, Problem::Usage(usage_error)))?;
        }
        let observer = listener.map(Observer::new);
        let engine = if settings.is_process {
            Liveness::Process { exit: None }
        } else {
            Liveness::Stream { closed: false }
        };
        Ok(Self {
            name,
            session,
            timeouts,
            origin: now,
            moment: SessionTime::ZERO,
            out,
            unsent: Vec::new(),
            input: Input::Open,
            postponed: Postponed::default(),
            searches: Vec::new(),
            game: None,
            game_cancelled: false,
            handshake_done: false,
            ready: None,
            notices: VecDeque::new(),
            observer,
            stderr,
            ending: None,
            signal: None,
            termination: None,
            engine,
            change: Change::None,
            wakers: Vec::new(),
        })
    }

    pub(crate) fn session(&self) -> &ClientSession {
        &self.session
    }

    // Events of the engine.

    /// Handles a line that arrived at a time. A deadline that passed before is handled first.
    pub(crate) fn on_line(&mut self, line: Result<&[u8], LineTooLong>, at: Instant) {
        // Output after the end is discarded, so that the engine can reach its exit.
        if self.ending.is_some() {
            return;
        }
        let moment = self.advance_clock(at);
        if self.session.poll_timeout().is_some_and(|due| due < moment) {
            self.session.handle_timeout(moment, &mut self.out);
            self.drain_events(at, "");
        }
        match line {
            Ok(line) => {
                if self.postpone(line, at) {
                    return;
                }
                self.receive_postponed();
                self.receive(line, at);
            }
            Err(too_long) => self.notice(Notice::LineTooLong(too_long)),
        }
    }

    fn receive(&mut self, line: &[u8], at: Instant) {
        let (text, _) = decode(line);
        if let Some(observer) = &mut self.observer {
            observer.push(Party::Engine, text.to_string());
        }
        self.session.receive_line(&text, self.moment, &mut self.out);
        self.drain_events(at, &text);
    }

    /// Stores a line instead of parsing it, if updates are not read and the next report of the same variation would
    /// replace it. Most lines are never parsed.
    fn postpone(&mut self, line: &[u8], at: Instant) -> bool {
        if self.observer.is_some() || !line.starts_with(b"info ") {
            return false;
        }
        let Some(search) = self.searches.last_mut() else { return false };
        if Some(search.id) != self.session.running() || !search.can_postpone(at) {
            return false;
        }
        let Some(report) = VariationReport::of(line) else { return false };
        search.timer.on_info(at);
        if !self.postponed.replaces(report) {
            self.receive_postponed();
        }
        self.postponed.set(report, line, at);
        true
    }

    /// Parses the stored line.
    fn receive_postponed(&mut self) {
        if let Some((line, at)) = self.postponed.take() {
            self.receive(&line, at);
            self.postponed.reuse(line);
        }
    }

    /// The engine closed its output.
    pub(crate) fn on_output_closed(&mut self, at: Instant) {
        if let Liveness::Stream { closed } = &mut self.engine {
            *closed = true;
        }
        if self.ending.is_none() {
            self.advance_clock(at);
            self.receive_postponed();
            self.session.receive_eof();
            self.drain_events(at, "");
        }
        self.advance_ending(at);
    }

    /// The process has exited, and the rest of its output was handled.
    pub(crate) fn on_exit(&mut self, status: ExitStatus, at: Instant) {
        self.engine = Liveness::Process { exit: Some(status) };
        self.change = Change::State;
        self.advance_ending(at);
    }

    /// Handles all deadlines that have passed.
    pub(crate) fn on_time(&mut self, now: Instant) {
        if self.ending.is_some() {
            self.advance_ending(now);
            return;
        }
        let moment = self.advance_clock(now);
        if self.session.poll_timeout().is_some_and(|due| due < moment) {
            self.session.handle_timeout(moment, &mut self.out);
            self.drain_events(now, "");
        }
        let overdue = self.searches.last_mut().filter(|search| search.end.is_none());
        if let Some(search) = overdue
            && let Some(problem) = search.timer.expired(now)
        {
            let id = search.id;
            search.end = Some(Err(problem));
            self.change = Change::State;
            self.session.stop(id, moment, &mut self.out);
            self.drain_events(now, "");
        }
    }

    /// When [`on_time`](Self::on_time) must be called at the latest.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        if let Some(ending) = &self.ending {
            return (ending.stage != Stage::Over).then_some(ending.until);
        }
        // A deadline expires only after its moment.
        let due = self.session.poll_timeout();
        let due = due.and_then(|due| due.checked_add(Duration::from_nanos(1)));
        let due = due.and_then(|due| self.origin.checked_add(due));
        let search = self.searches.last().filter(|search| search.end.is_none());
        due.into_iter().chain(search.and_then(|search| search.timer.end())).min()
    }

    fn drain_events(&mut self, at: Instant, raw: &str) {
        while let Some(event) = self.session.poll_event() {
            if self.ending.is_none() {
                self.on_event(event, at, raw);
            }
        }
        // If the engine exits, its searches are dropped as well, but the exit is the better explanation.
        if self.ending.is_none() {
            for search in &mut self.searches {
                if let Some(reason) = search.dropped.take().filter(|_| search.end.is_none()) {
                    search.end = Some(Err(Problem::Dropped(reason)));
                    self.change = Change::State;
                }
            }
        }
    }

    fn on_event(&mut self, event: Event, at: Instant, raw: &str) {
        match event {
            Event::Started(id) => {
                let Some(search) = self.search_mut(id) else { return };
                search.start(at);
                if search.stop_requested {
                    self.session.stop(id, self.moment, &mut self.out);
                }
            }
            Event::Info(id, info) => {
                let Some(search) = self.running_mut(id, at) else { return };
                let is_update = search.on_info(info, raw, at);
                if is_update {
                    self.change = self.change.max(Change::Update);
                }
            }
            Event::BestMove(id, answer) => {
                self.change = Change::State;
                let Some(search) = self.running_mut(id, at) else { return };
                search.on_best_move(answer, raw, at);
                if search.ponder_after.is_some() {
                    self.ponder_on_reply(id, at);
                }
            }
            Event::Checkmate(id, checkmate) => {
                self.change = Change::State;
                if let Some(search) = self.running_mut(id, at) {
                    search.on_checkmate(checkmate, at);
                }
            }
            Event::Dropped(id, reason) => {
                if let Some(search) = self.search_mut(id) {
                    search.dropped = Some(reason);
                }
            }
            Event::HandshakeComplete => (self.handshake_done, self.change) = (true, Change::State),
            Event::Ready(id) => (self.ready, self.change) = (Some(id), Change::State),
            Event::Disconnected => {
                self.begin_ending(
                    Some(Problem::Disconnected),
                    Termination::OutputClosed,
                    Stage::Closing,
                    at + CLOSING,
                );
            }
            Event::Timeout(wait) => {
                self.signal = Some(Signal::Terminate);
                self.begin_ending(
                    Some(Problem::Timeout(wait)),
                    Termination::Timeout(wait),
                    Stage::Terminating,
                    at + TERMINATING,
                );
            }
            event => self.notice(Notice::Event(event)),
        }
    }

    fn notice(&mut self, notice: Notice) {
        if self.notices.len() == MAX_NOTICES {
            self.notices.pop_front();
        }
        self.notices.push_back(notice);
    }

    pub(crate) fn drain_notices(&mut self) -> Vec<Notice> {
        self.notices.drain(..).collect()
    }

    // Requests of callers.

    /// Requests a search. A running search is stopped, and its handle ends with `Superseded`; one that the driver has
    /// started to ponder on this position gets a `ponderhit` instead.
    pub(crate) fn search(
        &mut self,
        game: &Game,
        search: Search,
        purpose: Purpose,
        wants_updates: bool,
        now: Instant,
    ) -> Result<SearchId, EngineError> {
        self.check_open()?;
        self.advance_clock(now);
        if search.is_pondered_after() {
            self.session.allow_pondering(true);
        }
        if let Some(id) = self.hit_own_ponder(game, &search, purpose, wants_updates, now) {
            return Ok(id);
        }
        if self.game != Some(game.id()) {
            self.new_game(game.id(), game.about().clone())?;
        }
        if self.game_cancelled {
            return Err(self.error(Problem::Dropped(DropReason::Cancelled)));
        }
        let id = self.request(game, &search, purpose)?;
        let mut state = SearchState::new(id, &search);
        state.wants_updates = wants_updates;
        state.ponder_after = search.is_pondered_after().then(|| Box::new((game.clone(), search)));
        self.add(state);
        self.drain_events(now, "");
        Ok(id)
    }

    fn request(
        &mut self,
        game: &Game,
        search: &Search,
        purpose: Purpose,
    ) -> Result<SearchId, EngineError> {
        let request = search.request(game, purpose);
        let id = self.session.search(request, self.moment, &mut self.out);
        id.map_err(|usage_error| self.error(Problem::Usage(usage_error)))
    }

    /// Makes a search the latest one.
    fn add(&mut self, state: SearchState) {
        self.postponed.clear();
        self.searches.retain_mut(|old| {
            if old.end.is_none() {
                old.end = Some(Err(Problem::Dropped(DropReason::Superseded)));
                self.change = Change::State;
            }
            // The driver has started it, so no caller reads the result.
            old.own_ponder.is_none()
        });
        self.searches.push(state);
    }

    /// Makes the engine ponder on the expected reply after an answer.
    fn ponder_on_reply(&mut self, id: SearchId, now: Instant) {
        let dialect = self.session.protocol_state().dialect();
        let Some(search) = self.search_mut(id) else { return };
        let (Some(subject), Some(Ok(result))) = (search.ponder_after.take(), &search.end) else {
            return;
        };
        let (game, search) = *subject;
        let Some((expected, ponder)) =
            search_state::ponder_on_reply(&game, &search, result, dialect)
        else {
            return;
        };
        // If the engine cannot ponder, the next search requests it again.
        if let Ok(id) = self.request(&expected, &ponder, Purpose::Play) {
            let mut state = SearchState::new(id, &ponder);
            state.own_ponder = Some(Box::new((expected, search)));
            self.add(state);
            self.advance_clock(now);
        }
    }

    /// Continues a search that was started by [`ponder_on_reply`](Self::ponder_on_reply), if it fits the request.
    fn hit_own_ponder(
        &mut self,
        game: &Game,
        search: &Search,
        purpose: Purpose,
        wants_updates: bool,
        now: Instant,
    ) -> Option<SearchId> {
        let state = self.searches.last_mut().filter(|state| state.end.is_none())?;
        let (expected, before) = &**state.own_ponder.as_ref()?;
        let fits = purpose == Purpose::Play
            && search_state::continues_ponder((expected, before), (game, search));
        let id = state.id;
        if !fits || state.dropped.is_some() {
            return None;
        }
        let clocks = search.clocks();
        self.session.ponder_hit(id, clocks, self.moment, &mut self.out).ok()?;
        let state = self.search_mut(id)?;
        state.own_ponder = None;
        state.wants_updates = wants_updates;
        state.ponder_after =
            search.is_pondered_after().then(|| Box::new((game.clone(), search.clone())));
        state.timer.hit(now, search.deadline());
        Some(id)
    }

    /// The opponent played the expected move. No effect on a search that has ended.
    pub(crate) fn ponder_hit(
        &mut self,
        id: SearchId,
        clocks: Option<Clocks>,
        now: Instant,
    ) -> Result<(), EngineError> {
        if self.search_mut(id).is_none_or(|search| search.end.is_some()) {
            return Ok(());
        }
        self.command(now, |session, now, out| session.ponder_hit(id, clocks, now, out))?;
        if let Some(search) = self.search_mut(id) {
            let deadline = search.timer.deadline();
            search.timer.hit(now, deadline);
        }
        Ok(())
    }

    /// Stops a search as soon as it has started.
    pub(crate) fn stop(&mut self, id: SearchId, now: Instant) {
        let Some(search) = self.search_mut(id).filter(|search| search.end.is_none()) else {
            return;
        };
        search.stop_requested = true;
        if self.session.running() == Some(id) {
            let moment = self.advance_clock(now);
            self.session.stop(id, moment, &mut self.out);
            self.drain_events(now, "");
        }
    }

    pub(crate) fn stop_latest(&mut self, now: Instant) {
        if let Some(id) = self.searches.last().map(|search| search.id) {
            self.stop(id, now);
        }
    }

    /// Ends the latest search without waiting for the answer, and allows no other in this game.
    pub(crate) fn cancel_game(&mut self, now: Instant) {
        self.game_cancelled = true;
        let moment = self.advance_clock(now);
        let Some(search) = self.searches.last_mut().filter(|search| search.end.is_none()) else {
            return;
        };
        search.end = Some(Err(Problem::Dropped(DropReason::Cancelled)));
        self.change = Change::State;
        let id = search.id;
        self.session.stop(id, moment, &mut self.out);
        self.drain_events(now, "");
    }

    /// Removes a search, and stops it if it has not ended.
    pub(crate) fn discard(&mut self, id: SearchId, now: Instant) {
        let moment = self.advance_clock(now);
        self.searches.retain(|search| search.id != id);
        if self.ending.is_none() {
            self.session.stop(id, moment, &mut self.out);
            self.drain_events(now, "");
        }
    }

    /// The result of a search, once.
    pub(crate) fn take_end(&mut self, id: SearchId) -> Option<Result<SearchResult, EngineError>> {
        let Some(index) = self.searches.iter().position(|search| search.id == id) else {
            return Some(Err(self.error(Problem::Dropped(DropReason::Superseded))));
        };
        let search = self.searches.get_mut(index)?;
        let end = match search.end.take() {
            Some(Ok(result)) => Ok(*result),
            Some(Err(problem)) => Err(self.error(problem)),
            None => Err(self.final_error()?),
        };
        self.searches.remove(index);
        Some(end)
    }

    /// Moves the pending updates of a search into an empty list. Returns whether there were any.
    pub(crate) fn take_updates(&mut self, id: SearchId, into: &mut VecDeque<Update>) -> bool {
        if let Some(search) = self.search_mut(id) {
            std::mem::swap(&mut search.updates, into);
        }
        !into.is_empty()
    }

    pub(crate) fn next_update(&mut self, id: SearchId) -> Option<Update> {
        self.search_mut(id)?.updates.pop_front()
    }

    pub(crate) fn lines(&self, id: SearchId) -> Lines {
        let search = self.searches.iter().find(|search| search.id == id);
        search.map(SearchState::lines).unwrap_or_default()
    }

    pub(crate) fn is_over(&self, id: SearchId) -> bool {
        let search = self.searches.iter().find(|search| search.id == id);
        search.is_none_or(|search| search.end.is_some()) || self.has_ended()
    }

    /// Whether a search is running or pending.
    pub(crate) fn is_searching(&self) -> bool {
        self.ending.is_none() && self.searches.last().is_some_and(|search| search.end.is_none())
    }

    pub(crate) fn announce(&mut self, game: &Game, now: Instant) -> Result<(), EngineError> {
        self.check_open()?;
        self.advance_clock(now);
        let announced = self.new_game(game.id(), game.about().clone());
        self.drain_events(now, "");
        announced
    }

    fn new_game(&mut self, id: GameId, about: NewGame) -> Result<(), EngineError> {
        let announced = self.session.new_game(about, self.moment, &mut self.out);
        announced.map_err(|usage_error| self.error(Problem::Usage(usage_error)))?;
        (self.game, self.game_cancelled) = (Some(id), false);
        Ok(())
    }

    /// Sets an option or pushes a button.
    pub(crate) fn change_option(
        &mut self,
        name: &str,
        value: Option<&str>,
        now: Instant,
    ) -> Result<(), EngineError> {
        self.command(now, |session, now, out| {
            if session.delays_options() {
                return Err(UsageError::Searching);
            }
            session.set_option(name, value, now, out)
        })
    }

    pub(crate) fn allow_pondering(&mut self, allowed: bool) {
        self.session.allow_pondering(allowed);
    }

    pub(crate) fn register(
        &mut self,
        with: Register<'static>,
        now: Instant,
    ) -> Result<(), EngineError> {
        self.command(now, |session, now, out| session.register(with, now, out))
    }

    /// Sends a line without passing it to the session.
    pub(crate) fn send_raw(&mut self, line: &str) -> Result<(), EngineError> {
        self.check_open()?;
        if line.contains(|letter: char| letter.is_control() && letter != '\t') {
            let rejected = WriteError::LineBreak { field: "line", text: line.to_owned() };
            return Err(self.error(Problem::Usage(rejected.into())));
        }
        self.out.push_str(line);
        self.out.push('\n');
        Ok(())
    }

    pub(crate) fn set_ready_limit(&mut self, limit: WaitLimit) {
        self.session.set_ready_limit(limit);
    }

    pub(crate) fn ping(&mut self, now: Instant) -> Result<PingId, EngineError> {
        self.command(now, ClientSession::ping)
    }

    /// Passes a request to the session, if the engine has not ended.
    pub(crate) fn command<T>(
        &mut self,
        now: Instant,
        request: impl FnOnce(&mut ClientSession, SessionTime, &mut String) -> Result<T, UsageError>,
    ) -> Result<T, EngineError> {
        self.check_open()?;
        let moment = self.advance_clock(now);
        let result = request(&mut self.session, moment, &mut self.out);
        self.drain_events(now, "");
        result.map_err(|usage_error| self.error(Problem::Usage(usage_error)))
    }

    /// Whether the handshake is complete. An error if the engine ended before.
    pub(crate) fn handshake(&self) -> Option<Result<(), EngineError>> {
        if self.handshake_done { Some(Ok(())) } else { self.final_error().map(Err) }
    }

    /// Whether a ping was answered.
    pub(crate) fn pong(&self, ping: PingId) -> Option<Result<(), EngineError>> {
        if Some(ping) <= self.ready { Some(Ok(())) } else { self.final_error().map(Err) }
    }

    // Output to the engine.

    /// Whether a search can start now. All received output must be handled before.
    pub(crate) fn can_start_pending(&self) -> bool {
        self.ending.is_none() && self.session.can_start_pending()
    }

    /// Starts the pending search, immediately before its `go` is sent.
    pub(crate) fn start_pending(&mut self, now: Instant) {
        let moment = self.advance_clock(now);
        self.session.start_pending(moment, &mut self.out);
        self.drain_events(now, "");
    }

    /// All output was written.
    pub(crate) fn on_written(&mut self, at: Instant) {
        if let Some(search) = self.searches.last_mut() {
            search.timer.on_written(at);
        }
    }

    pub(crate) fn has_signal(&self) -> bool {
        self.signal.is_some()
    }

    pub(crate) fn has_output(&self) -> bool {
        !self.out.is_empty()
    }

    /// Whether unsent output is left.
    pub(crate) fn is_blocked(&self) -> bool {
        !self.unsent.is_empty()
    }

    /// Whether the input of the engine must be closed now.
    pub(crate) fn closes_input(&self) -> bool {
        match self.input {
            Input::Open => false,
            Input::Closing => self.unsent.is_empty() && self.out.is_empty(),
            Input::Closed => true,
        }
    }

    /// The engine has closed its input. The reason is visible in its output.
    pub(crate) fn on_input_closed(&mut self) {
        self.input = Input::Closed;
        self.unsent = Vec::new();
    }

    /// Passes the output to a function that returns the number of bytes written.
    pub(crate) fn send(&mut self, mut to: impl FnMut(&[u8]) -> usize) {
        self.observe_output();
        if self.input == Input::Closed {
            self.out.clear();
            self.unsent = Vec::new();
            return;
        }
        if self.unsent.is_empty() {
            let taken = to(self.out.as_bytes());
            self.unsent.extend_from_slice(self.out.as_bytes().get(taken..).unwrap_or_default());
        } else {
            self.unsent.extend_from_slice(self.out.as_bytes());
            let taken = to(&self.unsent);
            self.unsent.drain(..taken.min(self.unsent.len()));
        }
        self.out.clear();
        if MAX_UNSENT < self.unsent.len() {
            self.on_input_closed();
        }
    }

    /// Removes all output, for a thread that writes it.
    pub(crate) fn take_unsent(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.unsent)
    }

    fn observe_output(&mut self) {
        if let Some(observer) = &mut self.observer {
            self.out.lines().for_each(|line| observer.push(Party::Client, line.to_owned()));
        }
    }

    // Notifications.

    /// Lines for the listener, to be delivered after the lock is released.
    pub(crate) fn take_delivery(&mut self) -> Option<Delivery> {
        self.observer.as_mut()?.take_delivery()
    }

    /// The listener and the number of deliveries so far.
    pub(crate) fn deliveries(&self) -> Option<(Arc<Listener>, u64)> {
        self.observer.as_ref().map(Observer::deliveries)
    }

    pub(crate) fn take_change(&mut self) -> Change {
        std::mem::take(&mut self.change)
    }

    /// Wakes a task at the next change of this kind, or of a more important one.
    pub(crate) fn wake_on(&mut self, change: Change, waker: &Waker) {
        match self.wakers.iter_mut().find(|(_, known)| known.will_wake(waker)) {
            Some((known, _)) => *known = change.min(*known),
            None => self.wakers.push((change, waker.clone())),
        }
    }

    /// The tasks to wake because of a change, after the lock is released.
    pub(crate) fn take_wakers(&mut self, change: Change) -> Vec<Waker> {
        if self.wakers.is_empty() {
            return Vec::new();
        }
        let due = self.wakers.extract_if(.., |(awaited, _)| *awaited <= change);
        due.map(|(_, waker)| waker).collect()
    }

    fn search_mut(&mut self, id: SearchId) -> Option<&mut SearchState> {
        self.searches.iter_mut().find(|search| search.id == id)
    }

    /// The search of an engine's message, unless it has ended. A message after the deadline ends it.
    fn running_mut(&mut self, id: SearchId, at: Instant) -> Option<&mut SearchState> {
        let search = self.searches.iter_mut().find(|search| search.id == id)?;
        if search.end.is_some() {
            return None;
        }
        if let Some(problem) = search.timer.expired(at) {
            search.end = Some(Err(problem));
            self.change = Change::State;
            self.session.stop(id, self.moment, &mut self.out);
            return None;
        }
        Some(search)
    }

    fn advance_clock(&mut self, at: Instant) -> SessionTime {
        self.moment = self.moment.max(at.saturating_duration_since(self.origin));
        self.moment
    }
}
