//! The client's side: asks an engine for searches, one after another, and never mixes them up.
//!
//! The caller says what it wants at any time; what the engine cannot take now waits here. At most
//! one search is on the wire and one waits; a newer one takes the place of the one that waits.
//!
//! ```text
//!  caller ── search, stop, ponder_hit, new_game, set_option ──> ClientSession ── lines ──> engine
//!  caller <── events: Greeted, Info, BestMove, Dropped … ────── ClientSession <── lines ── engine
//! ```
//!
//! The law: **every [`SearchId`] ends in exactly one [`Event::BestMove`], [`Event::Checkmate`] or
//! [`Event::Dropped`].** In UCI an `isready` is answered before each `go`, so that a second or late
//! `bestmove` of the search before meets no search and is ignored. Shogi engines take `isready`
//! for the start of a game and clear their hash, so they get it once per game, unless they were seen
//! to answer twice: until then the next `go` keeps a short distance ([`Timeouts::settle`]), in which
//! a second `bestmove` shows. One that comes later than that is known by its move where the game has gone on with it, as no move can be made twice in a row by the same side;
//! anywhere else it cannot be reported from the first one of the next search. The same danger is that of
//! a caller who renounces the question ([`sync_between_searches`](ClientSession::sync_between_searches)). What
//! has been read when `go` is sent is never in danger, if the session gets it first
//! ([`set_manual_start`](ClientSession::set_manual_start)).

mod options;
mod request;
mod state;
mod timeouts;

use request::prepared_clocks;
pub use request::{NewGame, PingId, Purpose, SearchId, SearchRequest, UsageError};
pub use timeouts::{Limit, TimeoutKind, Timeouts};

use alloc::boxed::Box;
use alloc::collections::{BTreeMap, BTreeSet, VecDeque};
use alloc::string::String;
use alloc::vec::Vec;
use core::time::Duration;

use self::options::{Change, Options};
use self::state::{ActiveSearch, Ping, Registration, Separation, State, Sync};
use super::Moment;
use crate::protocol_state::is_only_text;
use crate::{
    Best, BestMove, Checkmate, Clocks, Command, Diagnostic, Dialect, GameResult, Id, Info, Move,
    OptionSet, OptionValue, Party, Phase, Position, ProtocolState, Register, Reply, Rule, Severity,
    Status, Violation, WriteError,
};

/// Speaks the protocol for a GUI, a match runner or another driver of an engine.
#[derive(Debug)]
pub struct ClientSession {
    protocol_state: ProtocolState,
    state: State,
    timeouts: Timeouts,
    identity: Identity,
    options: Options,
    game: NewGame,
    /// The new-game command is not sent yet.
    game_due: bool,
    registration: Registration,
    copy_protected: bool,
    /// The latest `info string` or bare line that does not explain a status. Empty without one.
    last_text: String,
    /// The explanation of the latest `copyprotection error` or `registration error`. Empty without one.
    status_message: String,
    /// The oldest first.
    pings: VecDeque<Ping>,
    sync: Sync,
    separation: Separation,
    /// The caller starts each search.
    manual_start: bool,
    waiting: Option<(SearchId, SearchRequest)>,
    /// The latest answer and its position.
    answered: Option<(Position<'static>, Move)>,
    last_search: u64,
    last_ping: u64,
    /// When the latest line of the engine was received.
    received: Moment,
    /// The timeouts that were reported and are still exceeded.
    reported: BTreeSet<TimeoutKind>,
    /// The duration of the latest wait that timed out.
    timed_out: BTreeMap<TimeoutKind, Duration>,
    events: VecDeque<Event>,
}

/// Who the engine says it is.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Identity {
    /// Of `id name`. Empty if the engine did not say.
    pub name: String,
    /// Of `id author`. Empty if the engine did not say.
    pub author: String,
}

/// What happened.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Event {
    /// The engine has told who it is and which options it has.
    HandshakeComplete,
    /// The engine has done everything that was sent before this question.
    Ready(PingId),
    /// `go` was sent: the clock of the side to move runs.
    Started(SearchId),
    /// `info` of a search.
    Info(SearchId, Box<Info<'static>>),
    /// A search ended.
    BestMove(SearchId, BestMove<'static>),
    /// A search for a mate ended (USI).
    Checkmate(SearchId, Checkmate<'static>),
    /// A search ended without an answer.
    Dropped(SearchId, DropReason),
    /// A search overran its limit and was asked to stop.
    Overrun(SearchId),
    /// `info string` between searches.
    InfoString(String),
    /// `registration …`. An error is answered by the session, with `later` if the caller gave
    /// nothing else.
    Registration(Status),
    /// `copyprotection …`. After an error the engine takes no searches.
    CopyProtection(Status),
    /// A line that is no message. The session continues.
    UnknownLine(String),
    /// A message of the engine that was read with repairs.
    Malformed(Vec<Diagnostic>),
    /// A message against a rule. One of [`Severity::Must`] was ignored.
    Violation(Violation),
    /// The engine is late. It is up to the caller to end it.
    Timeout(TimeoutKind),
    /// The engine closed its output.
    Disconnected,
}

/// Why a search ended without an answer.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum DropReason {
    /// A newer search took its place before it started.
    Superseded,
    /// It was cancelled before it started.
    Cancelled,
    /// The game ended meanwhile.
    GameOver,
    /// The engine reported `copyprotection error`.
    CopyProtected,
    /// The engine is gone, or was asked to quit.
    Disconnected,
}

impl ClientSession {
    /// Starts a session: sends the handshake.
    pub fn start(dialect: Dialect, timeouts: Timeouts, now: Moment, out: &mut String) -> Self {
        let mut session = Self {
            protocol_state: ProtocolState::new(dialect),
            state: State::Handshake { since: now },
            timeouts,
            identity: Identity::default(),
            options: Options::new(dialect),
            game: NewGame::default(),
            game_due: false,
            registration: Registration::new(),
            copy_protected: false,
            last_text: String::new(),
            status_message: String::new(),
            pings: VecDeque::new(),
            sync: Sync::Done,
            separation: Separation::Always,
            manual_start: false,
            waiting: None,
            answered: None,
            last_search: 0,
            last_ping: 0,
            received: now,
            reported: BTreeSet::new(),
            timed_out: BTreeMap::new(),
            events: VecDeque::new(),
        };
        session.send(&Command::Uci, out);
        session
    }

    /// Searches. A running search is stopped first and still ends with its own event; one that
    /// waits is dropped.
    ///
    /// # Errors
    /// The request cannot be sent as it is, or the engine takes no searches. Nothing has changed.
    pub fn search(
        &mut self,
        request: SearchRequest,
        now: Moment,
        out: &mut String,
    ) -> Result<SearchId, UsageError> {
        self.check_usable()?;
        let request = request.prepared(self.protocol_state.dialect())?;
        for (name, value) in &request.options {
            self.options.checked(name, value.as_deref())?;
        }
        let before = out.len();
        let written = Command::Go(request.go.clone()).write(self.protocol_state.dialect(), out);
        out.truncate(before);
        written?;
        self.last_search += 1;
        let id = SearchId(self.last_search);
        self.drop_waiting(DropReason::Superseded);
        self.waiting = Some((id, request));
        self.stop_running(now, out);
        self.advance(now, out);
        Ok(id)
    }

    /// Ends a search soon. Does nothing if it has ended.
    pub fn stop(&mut self, id: SearchId, now: Moment, out: &mut String) {
        if self.waiting.as_ref().is_some_and(|(waiting, _)| *waiting == id) {
            self.drop_waiting(DropReason::Cancelled);
        }
        if self.running() == Some(id) {
            self.stop_running(now, out);
        }
    }

    /// Sends `ponderhit`: the expected move was played, and the search continues as a normal one, with its clock
    /// running from now.
    ///
    /// `clocks`, if given and not empty, take the place of those of the request. A shogi engine is
    /// told of them; only some understand it.
    ///
    /// # Errors
    /// No search of this id ponders; then ask for a normal search. Or it has no limit, and no
    /// clocks are given.
    pub fn ponder_hit(
        &mut self,
        id: SearchId,
        clocks: Option<Clocks>,
        now: Moment,
        out: &mut String,
    ) -> Result<(), UsageError> {
        let dialect = self.protocol_state.dialect();
        let clocks = clocks.filter(|clocks| !clocks.is_empty());
        let clocks = clocks.map(|clocks| prepared_clocks(clocks, dialect));
        if let Some((_, request)) = self.waiting.as_mut().filter(|(waiting, _)| *waiting == id)
            && request.go.ponder
        {
            if request.go.is_bare() && clocks.is_none() {
                return Err(UsageError::NoLimit);
            }
            request.go.ponder = false;
            request.go.clocks = clocks.unwrap_or(request.go.clocks);
            return Ok(());
        }
        let Phase::Searching { pondering: true, stopped: false, .. } = self.protocol_state.phase()
        else {
            return Err(UsageError::NotPondering);
        };
        let Some(running) = self.state.search_mut().filter(|running| running.id == id) else {
            return Err(UsageError::NotPondering);
        };
        if running.request.go.is_bare() && clocks.is_none() {
            return Err(UsageError::NoLimit);
        }
        running.since = now;
        running.request.go.ponder = false;
        running.request.go.clocks = clocks.unwrap_or(running.request.go.clocks);
        let told = clocks.filter(|_| dialect.clocks_with_ponder_hit());
        self.send(&Command::PonderHit(told.unwrap_or_default()), out);
        Ok(())
    }

    /// Makes the next search one of another game. What that needs is sent before it.
    ///
    /// # Errors
    /// The engine cannot play Chess960 or the variant, or the opponent cannot be reported. Nothing has
    /// changed.
    pub fn new_game(
        &mut self,
        game: NewGame,
        now: Moment,
        out: &mut String,
    ) -> Result<(), UsageError> {
        self.check_usable()?;
        self.options.check_game(&game)?;
        self.game = game;
        self.game_due = true;
        self.sync = Sync::NeedsReady;
        self.advance(now, out);
        Ok(())
    }

    /// Ends the game. A search that runs or waits is stopped and dropped. Only USI tells the
    /// engine.
    pub fn game_over(&mut self, result: GameResult, now: Moment, out: &mut String) {
        self.drop_waiting(DropReason::GameOver);
        self.stop_running(now, out);
        if let Some(running) = self.state.search_mut() {
            running.discarded = true;
        }
        if self.protocol_state.dialect().has_game_over() && self.state.is_ready() {
            self.send(&Command::GameOver(result), out);
        }
    }

    /// Sets an option, now or as soon as the engine can take it. It keeps the value from then on.
    ///
    /// # Errors
    /// The engine has no such option, the text is no value of it, or the session manages it.
    pub fn set_option(
        &mut self,
        name: &str,
        value: Option<&str>,
        now: Moment,
        out: &mut String,
    ) -> Result<(), UsageError> {
        self.check_usable()?;
        self.options.want(name, value)?;
        self.advance(now, out);
        Ok(())
    }

    /// Tells the engine that it may think on the opponent's time (`Ponder`), before the first
    /// search that does.
    pub fn allow_pondering(&mut self, allowed: bool) {
        self.options.ponder = allowed;
    }

    /// Whether each search of a game waits for a `readyok` after the one before; in USI, where it
    /// would start a game, for [`Timeouts::settle`]. By default it does.
    ///
    /// Without it a search waits only after options, a new game or `stop`, and always once the
    /// engine was seen to answer twice. That saves the wait before each move, and leaves one
    /// danger: the first second `bestmove` of an engine that comes after the next `go` is taken for
    /// the answer to that, unless its move has been made since.
    pub fn sync_between_searches(&mut self, separate: bool) {
        if self.separation != Separation::AlwaysByReady {
            self.separation = if separate { Separation::Always } else { Separation::AfterStop };
        }
    }

    /// Has searches wait for [`start_pending`](Self::start_pending) from now on.
    ///
    /// For a caller that reads many lines per call: lines that arrived before `go` is sent do not answer it, so
    /// the session receives them first.
    pub fn set_manual_start(&mut self) {
        self.manual_start = true;
    }

    /// Whether a search could start now and is held.
    pub fn can_start_pending(&self) -> bool {
        self.manual_start
            && self.waiting.is_some()
            && self.sync.settled_at().is_none()
            && self.pings.is_empty()
            && matches!(self.state, State::Idle)
    }

    /// Starts a search that is [held](Self::set_manual_start), if there is one.
    pub fn start_pending(&mut self, now: Moment, out: &mut String) {
        if self.can_start_pending() {
            self.send_search(now, out);
        }
    }

    /// Asks whether the engine has done everything sent before, and is alive. Searches continue.
    ///
    /// # Errors
    /// The handshake is not over, or the engine is gone.
    pub fn ping(&mut self, now: Moment, out: &mut String) -> Result<PingId, UsageError> {
        match self.state {
            State::Handshake { .. } => return Err(UsageError::HandshakeIncomplete),
            State::Quitting { .. } | State::Disconnected => return Err(UsageError::NotRunning),
            State::Idle | State::Searching(_) => (),
        }
        self.last_ping += 1;
        let id = PingId(self.last_ping);
        self.send_ping(Some(id), now, out);
        Ok(id)
    }

    /// Switches the engine's debug mode.
    ///
    /// # Errors
    /// The handshake is not over, or the engine is gone.
    pub fn debug(&mut self, on: bool, out: &mut String) -> Result<(), UsageError> {
        self.check_usable()?;
        self.send(&Command::Debug(on), out);
        Ok(())
    }

    /// What to answer when the engine says that it is not registered. If it has sent so already,
    /// the new answer is sent as soon as the engine can take it.
    ///
    /// # Errors
    /// The name or the code cannot be written on one line.
    pub fn register(
        &mut self,
        with: Register<'static>,
        now: Moment,
        out: &mut String,
    ) -> Result<(), UsageError> {
        let command = Command::Register(with.clone());
        command.write(self.protocol_state.dialect(), &mut String::new())?;
        self.registration.set(with);
        self.advance(now, out);
        Ok(())
    }

    /// Ends the session. Open searches are dropped.
    pub fn quit(&mut self, now: Moment, out: &mut String) {
        if self.state.is_closed() {
            return;
        }
        self.stop_running(now, out);
        self.drop_all();
        self.send(&Command::Quit, out);
        self.state = State::Quitting { since: now };
    }

    /// Takes one line of the engine.
    pub fn receive_line(&mut self, line: &str, now: Moment, out: &mut String) {
        self.received = now;
        let reading = Reply::read(line, self.protocol_state.dialect());
        let reply = match reading.value {
            Reply::Unknown(text) => {
                // Empty lines are signs of life (YaneuraOu), and nothing else.
                if !text.is_empty() && !self.state.is_closed() {
                    self.remember(&text);
                    self.events.push_back(Event::UnknownLine(text.into_owned()));
                }
                return;
            }
            reply => reply,
        };
        if !reading.diagnostics.is_empty() {
            self.events.push_back(Event::Malformed(reading.diagnostics));
        }
        if self.is_repeated_answer(&reply) {
            self.separation = Separation::AlwaysByReady;
            let rule = Rule::BestMoveWithoutSearch;
            self.events.push_back(Event::Violation(Violation { by: Party::Engine, rule }));
            return;
        }
        if let Some(violation) = self.protocol_state.apply_reply_lenient(&reply) {
            self.events.push_back(Event::Violation(violation));
            if violation.rule == Rule::BestMoveWithoutSearch {
                self.separation = Separation::AlwaysByReady;
            }
            // Whoever was greeted knows the name and the options already.
            if violation.rule.severity() == Severity::Must
                || violation.rule == Rule::LateDeclaration
            {
                return;
            }
        }
        if !self.state.is_closed() {
            self.handle_reply(reply, line, now, out);
        }
        self.advance(now, out);
    }

    /// Whether this is the answer of the search before, sent again. It is believed once for each
    /// search: an engine that insists on an impossible move has answered.
    fn is_repeated_answer(&mut self, reply: &Reply<'_>) -> bool {
        let Some(running) = self.state.search_mut() else { return false };
        match reply {
            Reply::Info(info) if !is_only_text(info) => {
                running.stale_answer = None;
                false
            }
            // After `stop` any answer ends the search.
            Reply::BestMove(BestMove { best: Best::Move(it), .. }) => {
                running.stale_answer.take() == Some(*it) && running.stopped.is_none()
            }
            _ => false,
        }
    }

    /// The answer of the search before, if it was played in this position and one reply to it. No
    /// rule of chess or shogi lets the same side make the same move again: where it started is
    /// empty or the opponent's, and where it was dropped is not empty. A king who castles by taking
    /// his rook (Chess960) may stay where he was, and variants have rules of their own.
    fn stale_answer_in(&self, position: &Position<'_>) -> Option<Move> {
        let (before, answer) = self.answered.as_ref()?;
        let NewGame { chess960, variant, .. } = &self.game;
        let is_usual = variant.as_deref().is_none_or(|it| matches!(it, "chess" | "shogi"));
        if *chess960 || !is_usual || *answer == Move::NULL || before.root != position.root {
            return None;
        }
        let played = position.moves.as_str().strip_prefix(before.moves.as_str())?;
        let played = if before.moves.is_empty() { played } else { played.strip_prefix(' ')? };
        let reply = played.strip_prefix(answer.as_str())?.strip_prefix(' ')?;
        (!reply.contains(' ')).then_some(*answer)
    }

    /// Takes a reply that was read from this line.
    fn handle_reply(&mut self, reply: Reply<'_>, line: &str, now: Moment, out: &mut String) {
        match reply {
            Reply::Id(Id::Name(name)) => self.identity.name = name.into_owned(),
            Reply::Id(Id::Author(author)) => self.identity.author = author.into_owned(),
            Reply::Option(decl) => self.options.declare(decl.into_owned(), line),
            Reply::UciOk => {
                // What an engine prints before it is no explanation of its status.
                self.last_text.clear();
                // An engine may answer a handshake twice.
                if matches!(self.state, State::Handshake { .. }) {
                    self.state = State::Idle;
                }
                self.events.push_back(Event::HandshakeComplete);
            }
            Reply::ReadyOk => self.handle_ready(),
            Reply::Info(info) => self.handle_info(info),
            Reply::BestMove(best) => {
                self.end_search(best.best.to_move(), |id| Event::BestMove(id, best.into_owned()));
            }
            Reply::Checkmate(mate) => {
                self.end_search(None, |id| Event::Checkmate(id, mate.into_owned()));
            }
            Reply::CopyProtection(status) => {
                self.explain_status(status);
                self.events.push_back(Event::CopyProtection(status));
                if status == Status::Error {
                    self.copy_protected = true;
                    self.stop_running(now, out);
                    self.drop_waiting(DropReason::CopyProtected);
                }
            }
            Reply::Registration(status) => {
                self.explain_status(status);
                self.registration.update(status);
                self.events.push_back(Event::Registration(status));
            }
            Reply::Unknown(_) => (),
        }
    }

    fn handle_ready(&mut self) {
        let ping = self.pings.pop_front();
        if let Some(id) = ping.and_then(|ping| ping.owner) {
            self.events.push_back(Event::Ready(id));
        }
        self.reported.remove(&TimeoutKind::Ready);
    }

    fn handle_info(&mut self, info: Info<'_>) {
        if let Some(text) = &info.string {
            self.remember(text);
        }
        let event = match self.state.search() {
            Some(running) if running.discarded => return,
            Some(running) => Event::Info(running.id, Box::new(info.into_owned())),
            None => match info.string {
                Some(text) => Event::InfoString(text.into_owned()),
                None => return,
            },
        };
        self.events.push_back(event);
    }

    /// Keeps a text that may explain a status or a failure. Some engines explain a status only after
    /// it.
    fn remember(&mut self, text: &str) {
        self.last_text.clear();
        self.last_text.push_str(text);
        let is_idle = matches!(self.state, State::Idle);
        if is_idle && self.has_status_error() && self.status_message.is_empty() {
            self.status_message = core::mem::take(&mut self.last_text);
        }
    }

    fn has_status_error(&self) -> bool {
        self.copy_protected || self.registration.is_rejected()
    }

    /// Takes note of a status, which the text before it may explain.
    fn explain_status(&mut self, status: Status) {
        let text = core::mem::take(&mut self.last_text);
        if status == Status::Error {
            self.status_message = text;
        }
    }

    fn end_search(&mut self, answer: Option<Move>, event: impl FnOnce(SearchId) -> Event) {
        self.reported.remove(&TimeoutKind::Stop);
        let pings = self.protocol_state.dialect().ping_between_searches();
        // A `readyok` before the next search separates it from a second `bestmove` of this one.
        let by_ready = match self.separation {
            Separation::AfterStop => false,
            Separation::Always => pings,
            Separation::AlwaysByReady => true,
        };
        self.sync.require_ready_if(by_ready);
        if self.separation == Separation::Always && self.sync != Sync::NeedsReady {
            self.sync = Sync::Settling(self.received.saturating_add(self.timeouts.settle));
        }
        if let Some(ActiveSearch { id, discarded, stopped, request, .. }) = self.state.take_search()
        {
            self.answered = answer.map(|answer| (request.position, answer));
            // It may have ended before it received `stop`, and answer that as well.
            self.sync.require_ready_if(stopped.is_some() && pings);
            let dropped = Event::Dropped(id, DropReason::GameOver);
            self.events.push_back(if discarded { dropped } else { event(id) });
        }
    }

    /// The engine closed its output. Open searches are dropped.
    pub fn receive_eof(&mut self) {
        if matches!(self.state, State::Disconnected) {
            return;
        }
        self.drop_all();
        self.state = State::Disconnected;
        // Nothing can be sent to it any more.
        let _ = self.protocol_state.apply_command_lenient(&Command::Quit);
        self.events.push_back(Event::Disconnected);
    }

    /// When to call [`handle_timeout`](Self::handle_timeout). `None` if nothing is waited for.
    pub fn poll_timeout(&self) -> Option<Moment> {
        let settled = self.sync.settled_at().filter(|_| self.waiting.is_some());
        self.waits().map(|(.., at)| at).chain(self.overrun()).chain(settled).min()
    }

    /// Does what is due: stops a search that overran its limit, reports an engine that is late.
    ///
    /// A `readyok` that is late is not waited for any longer: engines were seen to lose an
    /// `isready` during a search. What needs it asks again.
    pub fn handle_timeout(&mut self, now: Moment, out: &mut String) {
        if self.overrun().is_some_and(|at| at <= now)
            && let Some(id) = self.running()
        {
            self.events.push_back(Event::Overrun(id));
            self.stop_running(now, out);
        }
        let late: Vec<_> = self.waits().filter(|(.., at)| *at <= now).collect();
        for (wait, since, at) in late {
            self.timed_out.insert(wait, at.saturating_sub(since));
            self.events.push_back(Event::Timeout(wait));
            if wait == TimeoutKind::Ready {
                self.pings.clear();
            } else {
                self.reported.insert(wait);
            }
        }
        self.advance(now, out);
    }

    /// What the engine owes and was not reported, since when, and when it is late with it.
    fn waits(&self) -> impl Iterator<Item = (TimeoutKind, Moment, Moment)> {
        let Timeouts { handshake, ready, stop, quit, .. } = self.timeouts;
        let state = match &self.state {
            State::Handshake { since } => Some((TimeoutKind::Handshake, handshake, *since)),
            State::Searching(search) => {
                search.stopped.map(|since| (TimeoutKind::Stop, stop, since))
            }
            State::Quitting { since } => Some((TimeoutKind::Exit, quit, *since)),
            State::Idle | State::Disconnected => None,
        };
        let ping = self.pings.front().map(|ping| (TimeoutKind::Ready, ready, ping.since));
        [ping, state]
            .into_iter()
            .flatten()
            .filter(|(wait, ..)| !self.reported.contains(wait))
            .map(|(wait, limit, since)| (wait, since, limit.deadline(since, self.received)))
    }

    /// When the running search is asked to stop because it should have ended.
    fn overrun(&self) -> Option<Moment> {
        let running = self.state.search().filter(|running| running.stopped.is_none())?;
        if running.request.is_unbounded() {
            return None;
        }
        let silent = running.since.max(self.received).saturating_add(self.timeouts.stall);
        let limit = running.request.allowance(self.protocol_state.dialect()).map(|allowance| {
            running.since.saturating_add(allowance).saturating_add(self.timeouts.overrun)
        });
        Some(limit.unwrap_or(silent))
    }

    /// What happened. Ask until it is `None`.
    pub fn poll_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    /// The state of the session.
    pub fn protocol_state(&self) -> &ProtocolState {
        &self.protocol_state
    }

    /// Who the engine says it is. Complete after [`Event::HandshakeComplete`].
    pub fn identity(&self) -> &Identity {
        &self.identity
    }

    /// The options that the engine declared. Complete after [`Event::HandshakeComplete`].
    pub fn options(&self) -> &OptionSet {
        &self.options.declared
    }

    /// The value that an option has now, as far as it is known.
    pub fn option_value(&self, name: &str) -> Option<OptionValue> {
        self.options.value(name)
    }

    /// How long was waited before the latest [`Event::Timeout`] of this kind.
    pub fn timeout_of(&self, wait: TimeoutKind) -> Option<Duration> {
        self.timed_out.get(&wait).copied()
    }

    /// The engine's explanation of its latest `copyprotection error` or `registration error`: the
    /// `info string` or bare line next to it.
    pub fn status_message(&self) -> Option<&str> {
        Some(&*self.status_message).filter(|text| !text.is_empty())
    }

    /// The latest `info string` or bare line of the engine, which may say why it fails.
    pub fn last_text(&self) -> Option<&str> {
        Some(&*self.last_text).filter(|text| !text.is_empty())
    }

    /// The search on the wire.
    pub fn running(&self) -> Option<SearchId> {
        self.state.search().map(|running| running.id)
    }

    /// Whether nothing runs, waits or is unanswered.
    pub fn is_idle(&self) -> bool {
        self.state.search().is_none() && self.waiting.is_none() && self.pings.is_empty()
    }

    fn check_usable(&self) -> Result<(), UsageError> {
        match self.state {
            State::Handshake { .. } => Err(UsageError::HandshakeIncomplete),
            State::Quitting { .. } | State::Disconnected => Err(UsageError::NotRunning),
            State::Idle | State::Searching(_) if self.copy_protected => {
                Err(UsageError::CopyProtected)
            }
            State::Idle | State::Searching(_) => Ok(()),
        }
    }

    /// Says what can be sent now: registration, options, a new game, the search that waits; and
    /// asks for `readyok` wherever the engine may need time.
    fn advance(&mut self, now: Moment, out: &mut String) {
        self.sync.expire(now);
        if !matches!(self.state, State::Idle) {
            return;
        }
        if self.registration.take_retry() || self.protocol_state.needs_register() {
            self.send(&Command::Register(self.registration.with.clone()), out);
        }
        let unsent = self.options.take_unsent();
        self.send_options(unsent, out);
        if self.waiting.is_none() || !self.pings.is_empty() {
            return;
        }
        let request = self.waiting.as_mut().map(|(_, request)| request);
        let changes = self.options.take_for(&self.game, request);
        self.send_options(changes, out);
        self.prepare_game(now, out);
        if self.needs_ready() {
            self.send_ping(None, now, out);
        }
        if self.pings.is_empty() && self.sync.settled_at().is_none() && !self.manual_start {
            self.send_search(now, out);
        }
    }

    /// Says the new-game command on the right side of `readyok`.
    fn prepare_game(&mut self, now: Moment, out: &mut String) {
        if !self.game_due {
            return;
        }
        let after = self.protocol_state.dialect().ready_after_new_game();
        if !after && self.needs_ready() {
            self.send_ping(None, now, out);
            return;
        }
        self.game_due = false;
        self.send(&Command::NewGame, out);
        if let Some(opponent) = self.options.take_opponent(&self.game) {
            self.send_option(&opponent, out);
        }
        self.sync.require_ready_if(after);
    }

    fn needs_ready(&self) -> bool {
        self.sync == Sync::NeedsReady || self.protocol_state.needs_ready()
    }

    fn send_search(&mut self, now: Moment, out: &mut String) {
        let Some((id, request)) = self.waiting.take() else { return };
        self.send(&Command::Position(request.position.borrowed()), out);
        self.send(&Command::Go(request.go.clone()), out);
        self.state = State::Searching(ActiveSearch {
            id,
            stale_answer: self.stale_answer_in(&request.position),
            request,
            since: now,
            stopped: None,
            discarded: false,
        });
        self.events.push_back(Event::Started(id));
    }

    fn send_options(&mut self, changes: Vec<Change>, out: &mut String) {
        // In USI, where `isready` starts a game, engines take options without it.
        let pings = self.protocol_state.dialect().ping_between_searches();
        self.sync.require_ready_if(!changes.is_empty() && pings);
        for change in changes {
            self.send_option(&change, out);
        }
    }

    fn send_option(&mut self, change: &Change, out: &mut String) {
        self.send_as(&change.command(), out, |out| change.write(out));
    }

    fn send_ping(&mut self, owner: Option<PingId>, now: Moment, out: &mut String) {
        if owner.is_some() || self.pings.is_empty() {
            self.pings.push_back(Ping { owner, since: now });
            self.sync = Sync::Done;
            self.send(&Command::IsReady, out);
        }
    }

    fn stop_running(&mut self, now: Moment, out: &mut String) {
        let Some(running) = self.state.search_mut().filter(|running| running.stopped.is_none())
        else {
            return;
        };
        running.stopped = Some(now);
        self.send(&Command::Stop, out);
    }

    fn drop_waiting(&mut self, reason: DropReason) {
        if let Some((id, _)) = self.waiting.take() {
            self.events.push_back(Event::Dropped(id, reason));
        }
    }

    fn drop_all(&mut self) {
        self.pings.clear();
        self.drop_waiting(DropReason::Disconnected);
        if let Some(ActiveSearch { id, .. }) = self.state.take_search() {
            self.events.push_back(Event::Dropped(id, DropReason::Disconnected));
        }
    }

    /// Says one line. It was checked when the caller asked for it, and its time is right.
    fn send(&mut self, command: &Command<'_>, out: &mut String) {
        let dialect = self.protocol_state.dialect();
        self.send_as(command, out, |out| command.write(dialect, out));
    }

    fn send_as(
        &mut self,
        command: &Command<'_>,
        out: &mut String,
        write: impl FnOnce(&mut String) -> Result<(), WriteError>,
    ) {
        if self.protocol_state.apply_command_lenient(command).is_some_and(is_must) {
            return;
        }
        let before = out.len();
        match write(out) {
            Ok(()) => out.push('\n'),
            Err(_) => out.truncate(before),
        }
    }
}

fn is_must(violation: Violation) -> bool {
    violation.rule.severity() == Severity::Must
}
