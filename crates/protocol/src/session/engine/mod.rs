//! The engine's side: answers what needs no engine, and preserves the order of everything else.
//!
//! ```text
//!  client ── lines ──> EngineSession ── events: SetOption, NewGame, Prepare, Search, Stop … ──> owner
//!  client <── lines ── EngineSession <── verbs: ready, info, best_move, checkmate … ─────────── owner
//! ```
//!
//! The owner handles the events in their order, answers each [`Event::Prepare`] with
//! [`ready`](EngineSession::ready) and each [`Event::Search`] with exactly one
//! [`best_move`](EngineSession::best_move) or [`checkmate`](EngineSession::checkmate).
//!
//! Commands that a client should not send during a search are queued:
//! - `go`, `position`, `setoption`, `register` and the new-game command take effect in their order,
//!   once the search is answered. Of several `position`s only the last before each `go` matters.
//! - Each `go` gets its one `bestmove`, and there are never two searches at a time. A search that
//!   only the client can end (`infinite`, `ponder`, a bare `go`) ends for a queued `go` as by
//!   `stop`; any other runs to its limits. `stop`, `ponderhit`, `gameover` and `quit` after a
//!   queued `go` concern that search, and are queued with it. So is the end of the input.
//! - The first `uci` or `usi` is queued too, and ends the running search.
//! - A second `uci` or `usi` is answered between searches and ignored in one.
//! - The queue has a memory limit that only a flood reaches. Beyond it commands are dropped, with
//!   an `info string` and [`Event::Dropped`]. A dropped `go` is answered in its order, without a search,
//!   and makes the position invalid.
//!
//! An invalid `position`, or an oversized line, which may have been one, is part of this order: until the
//! next valid `position`, a `go` is answered by `bestmove (none)` (or `checkmate timeout`), with an
//! explanation in an `info string`. A move for an older position would be wrong.
//!
//! If limits were sent, but none is usable for the side to move (`go movetime x`), an `info string` explains it
//! and the request has a time of one second ([`SearchRequest::DEFAULT_TIME`]). Only `infinite`, `ponder`, a
//! bare `go` and a mate search without a time are unlimited.
//!
//! `stop` and `ponderhit` without a search are ignored. `gameover` ends a search like `stop`, and its
//! `bestmove` is still sent. A bare `go` is a search without limits that may end by itself. The end of
//! the input is equivalent to `quit`.

mod event;
mod queue;
mod throttle;

pub use event::{BadOption, Event, SearchRequest, UsageError};

use alloc::borrow::{Cow, ToOwned};
use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use alloc::{format, vec};
use core::fmt;

use self::event::InvalidPosition;
use self::queue::{CommandQueue, Queued};
use self::throttle::Throttle;
use super::SessionTime;
use crate::command::CommandKind;
use crate::protocol_state::is_only_text;
use crate::reply::info::Details;
use crate::{
    Best, BestMove, CastlingForm, Checkmate, Command, DiagnosticKind, Dialect, Go, Goal, Id, Info,
    KnownOption, Limitation, LineTooLong, OptionDecl, OptionSet, OptionValue, Phase, Position,
    ProtocolState, Reply, Rule, SetOption, Status, Violation, WriteError,
};

/// The protocol for an engine.
#[derive(Debug)]
pub struct EngineSession {
    profile: Profile,
    /// Index of the option set of the current dialect.
    active_options: usize,
    protocol_state: ProtocolState,
    /// The first handshake command arrived and decided the protocol.
    settled: bool,
    debug: bool,
    castling: CastlingForm,
    position: Result<Position<'static>, InvalidPosition>,
    search: Option<Search>,
    /// Commands that are handled after the search.
    queue: CommandQueue,
    details: Details,
    throttle: Throttle,
    events: VecDeque<Event>,
}

/// Name, author and options of an engine.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Profile {
    /// The name and version, for `id name`.
    pub name: String,
    /// The author, for `id author`. May be empty.
    pub author: String,
    /// The options in each dialect of the engine, with their UCI names (`Hash`, `Clear Hash`): the session
    /// converts them to the dialect. The first dialect is assumed until the handshake.
    pub options: Vec<OptionSet>,
}

#[derive(Debug)]
struct Search {
    since: SessionTime,
    /// The search ends without the client, unless it is pondering.
    has_limit: bool,
    /// A score or a PV was reported.
    reported: bool,
    /// The delayed answer.
    held: Option<Reply<'static>>,
}

impl EngineSession {
    /// A session before its first line.
    ///
    /// # Errors
    /// The name, the author or an option cannot be written.
    pub fn new(profile: Profile) -> Result<Self, WriteError> {
        for index in 0..profile.options.len() {
            for reply in declarations(&profile, index) {
                reply.write(dialect_of(&profile, index), &mut String::new())?;
            }
        }
        Ok(Self {
            protocol_state: ProtocolState::new(dialect_of(&profile, 0)),
            details: profile.options.first().map(Details::of).unwrap_or_default(),
            castling: castling_of(profile.options.first()),
            throttle: Throttle::new(),
            profile,
            active_options: 0,
            settled: false,
            debug: false,
            position: Ok(Position::default()),
            search: None,
            queue: CommandQueue::default(),
            events: VecDeque::new(),
        })
    }

    /// The position of the last `position` that took effect; the start position before the first one. `None` if it was
    /// invalid.
    pub fn position(&self) -> Option<&Position<'static>> {
        self.position.as_ref().ok()
    }

    /// Handles one line of the client.
    pub fn receive_line(&mut self, line: &str, now: SessionTime, out: &mut String) {
        if self.queue.has_quit() {
            return;
        }
        let is_first_hello = !self.settled && self.settle(line);
        let mut malformed = None;
        let dialect = dialect_of(&self.profile, self.active_options);
        let reading = Command::read_named(line, dialect, &mut malformed);
        if let Command::Unknown(text) = &reading.value {
            let fault = (malformed == Some(CommandKind::Position)).then(|| {
                let diagnostic = reading
                    .diagnostics
                    .iter()
                    .find(|diagnostic| diagnostic.kind == DiagnosticKind::BadPosition);
                diagnostic.map_or(InvalidPosition::Missing, |diagnostic| {
                    InvalidPosition::Malformed(diagnostic.in_line(line).to_string())
                })
            });
            match fault {
                Some(fault) => {
                    let text = format!("{fault}: nothing is searched before the next position");
                    self.send_info_string(text, out);
                    self.receive_position_fault(fault, line.len(), out);
                }
                None if text.is_empty() => return,
                None => {
                    let shown = shortened(text).escape_debug();
                    self.send_debug(&format_args!("not a command: `{shown}`"), out);
                }
            }
            return self.events.push_back(Event::Unknown(text.clone().into_owned()));
        }
        if !reading.diagnostics.is_empty() {
            for diagnostic in &reading.diagnostics {
                self.send_debug(&diagnostic.in_line(line), out);
            }
            self.events.push_back(Event::Malformed(reading.diagnostics));
        }
        if is_first_hello && self.protocol_state.is_searching() {
            self.enqueue(Queued::Command(Command::Uci), 0, out);
        } else {
            self.receive(reading.value, line.len(), now, out);
        }
        self.advance(now, out);
    }

    /// Handles a line of the client that exceeds the maximum length.
    pub fn receive_oversized_line(&mut self, error: LineTooLong, out: &mut String) {
        self.send_info_string(error.to_string(), out);
        self.receive_position_fault(InvalidPosition::LineTooLong(error), 0, out);
    }

    /// Handles the end of the input, which is `quit`.
    pub fn end_of_input(&mut self, out: &mut String) {
        if self.protocol_state.phase() == Phase::Closed || self.queue.has_quit() {
            return;
        }
        if self.queue.has_search() {
            return self.enqueue(Queued::Command(Command::Quit), 0, out);
        }
        self.protocol_state.apply_command_lenient(&Command::Quit);
        self.close(out);
    }

    /// The next event. Poll until it is `None`.
    pub fn poll_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    /// When to call [`handle_timeout`](Self::handle_timeout).
    pub fn poll_timeout(&self) -> Option<SessionTime> {
        self.throttle.due()
    }

    /// Sends delayed lines.
    pub fn handle_timeout(&mut self, now: SessionTime, out: &mut String) {
        for info in self.throttle.release(now) {
            self.send(&Reply::Info(info), out);
        }
    }

    /// Answers `isready`, after [`Event::Prepare`].
    ///
    /// # Errors
    /// No [`Event::Prepare`] is unanswered.
    pub fn ready(&mut self, out: &mut String) -> Result<(), UsageError> {
        self.try_send(&Reply::ReadyOk, out)
    }

    /// Sends search information, or an `info string` at any time.
    ///
    /// Lines may be delayed or dropped:
    /// - After the answer, everything except an `info string` is dropped.
    /// - The fields `currmove`, `currmovenumber`, `currline` and `refutation` are dropped in the first second,
    ///   and the last two while their options (`UCI_ShowCurrLine`, `UCI_ShowRefutations`) are off.
    /// - After a burst of 100 lines, the rate is limited to 50 lines per second. Of lines with a score or a
    ///   PV, the latest one of each `multipv` is delayed; the lines of one iteration stay together, up to 256.
    ///   An `info string` is delayed too and never replaced; beyond 1000 of them only their number is
    ///   reported. Other lines are dropped.
    ///
    /// # Errors
    /// The line cannot be written.
    pub fn info(
        &mut self,
        info: Info<'_>,
        now: SessionTime,
        out: &mut String,
    ) -> Result<(), UsageError> {
        let mut reply = Reply::Info(info);
        self.check(&reply)?;
        let Reply::Info(info) = &mut reply else { return Ok(()) };
        match self.search.as_mut().filter(|search| search.held.is_none()) {
            Some(search) => {
                let searched = now.saturating_sub(search.since);
                search.reported |= throttle::has_score_or_pv(info);
                self.details.trim(info, searched);
            }
            None if is_only_text(info) => (),
            None => return Ok(()),
        }
        let release = self.throttle.release(now);
        let passes = self.throttle.passes(info, now);
        for info in release {
            self.send(&Reply::Info(info), out);
        }
        if passes {
            self.send(&reply, out);
        }
        Ok(())
    }

    /// Answers the search. In `go infinite` and `go ponder` the answer is delayed until the client allows
    /// it, even for a mate.
    ///
    /// Delayed `info` lines are sent before it. Without any `info` of this search, a line with the time and
    /// the move is sent.
    ///
    /// # Errors
    /// There is no search, it was answered before, or the answer cannot be written.
    pub fn best_move(
        &mut self,
        best: BestMove<'static>,
        now: SessionTime,
        out: &mut String,
    ) -> Result<(), UsageError> {
        self.answer(Reply::BestMove(best), now, out)
    }

    /// Answers a mate search (USI), with the same rules as [`best_move`](Self::best_move).
    ///
    /// # Errors
    /// There is no mate search, it was answered before, or the answer cannot be written.
    pub fn checkmate(
        &mut self,
        mate: Checkmate<'static>,
        now: SessionTime,
        out: &mut String,
    ) -> Result<(), UsageError> {
        self.answer(Reply::Checkmate(mate), now, out)
    }

    /// Sends the registration status.
    ///
    /// # Errors
    /// The handshake is not complete.
    pub fn registration(&mut self, status: Status, out: &mut String) -> Result<(), UsageError> {
        self.try_send(&Reply::Registration(status), out)
    }

    /// Sends the copy protection status.
    ///
    /// # Errors
    /// The handshake is not complete.
    pub fn copy_protection(&mut self, status: Status, out: &mut String) -> Result<(), UsageError> {
        self.try_send(&Reply::CopyProtection(status), out)
    }

    /// The state of the session.
    pub fn protocol_state(&self) -> &ProtocolState {
        &self.protocol_state
    }

    /// Whether the client has requested additional `info string`s with `debug on`.
    pub fn debug(&self) -> bool {
        self.debug
    }

    /// Selects the protocol by the first handshake command. Returns whether the line is one.
    fn settle(&mut self, line: &str) -> bool {
        let handshake = Dialect::of_handshake(line);
        let matches = |set: &OptionSet| Some(set.dialect()) == handshake;
        if let Some(index) = self.profile.options.iter().position(matches) {
            self.active_options = index;
            self.settled = true;
        }
        self.settled
    }

    /// Handles a command. `line` is the length of its line.
    fn receive(&mut self, command: Command<'_>, line: usize, now: SessionTime, out: &mut String) {
        if queue::is_for_search(&command) && self.queue.has_search() {
            return self.enqueue(Queued::Command(command.into_owned()), line, out);
        }
        match self.apply(&command, out) {
            Some(Rule::BusyEngine) => {
                self.enqueue(Queued::Command(command.into_owned()), line, out);
            }
            Some(rule) if rule.is_ignored() => (),
            _ => self.act(command, now, out),
        }
    }

    fn receive_position_fault(&mut self, fault: InvalidPosition, line: usize, out: &mut String) {
        if self.protocol_state.is_searching() {
            self.enqueue(Queued::InvalidPosition(fault), line, out);
        } else {
            self.position = Err(fault);
        }
    }

    /// Applies a command to the protocol state, unless it violates a rule that forbids it, and returns the
    /// violated rule.
    fn apply(&mut self, command: &Command<'_>, out: &mut String) -> Option<Rule> {
        let violation = self.protocol_state.command(command).err()?;
        if !violation.rule.is_ignored() {
            self.protocol_state.apply_command_lenient(command);
        }
        self.send_debug(&violation, out);
        self.events.push_back(Event::Violation(violation));
        Some(violation.rule)
    }

    fn enqueue(&mut self, queued: Queued, line: usize, out: &mut String) {
        let is_position = queued.is_position();
        if self.queue.push(queued, line).is_err() {
            if is_position {
                // A `go` must not search the position before it.
                let _ = self.queue.push(Queued::InvalidPosition(InvalidPosition::Dropped), 0);
            }
            self.send_info_string(
                "too many commands during a search: one was dropped".to_owned(),
                out,
            );
            self.events.push_back(Event::Dropped);
        }
    }

    /// Handles the queued commands that may take effect now.
    fn advance(&mut self, now: SessionTime, out: &mut String) {
        loop {
            let next = match self.protocol_state.phase() {
                Phase::Searching { stopped, .. } => {
                    let for_search = self.queue.pop_for_search();
                    let ends = !stopped && self.queue_ends_search();
                    for_search.or_else(|| ends.then_some(Queued::Command(Command::Stop)))
                }
                Phase::Fresh | Phase::Handshake | Phase::Idle | Phase::Closed => self.queue.pop(),
            };
            match next {
                None => return,
                Some(Queued::InvalidPosition(fault)) => self.position = Err(fault),
                Some(Queued::DroppedSearch { mate }) => {
                    self.position = Err(InvalidPosition::Dropped);
                    // A limit, because the answer must not depend on `stop`, which may be dropped too.
                    let go = Go { mate, depth: Some(1), ..Go::default() };
                    self.apply_queued(Command::Go(go), now, out);
                }
                Some(Queued::Command(command)) => self.apply_queued(command, now, out),
            }
        }
    }

    fn apply_queued(&mut self, command: Command<'static>, now: SessionTime, out: &mut String) {
        let rule = self.apply(&command, out);
        if rule.is_none_or(|rule| !rule.is_ignored()) {
            self.act(command, now, out);
        }
    }

    /// Whether the running search must end for a queued command.
    fn queue_ends_search(&self) -> bool {
        let Phase::Searching { goal, pondering, .. } = self.protocol_state.phase() else {
            return false;
        };
        let ends_by_itself = goal != Goal::Infinite
            && !pondering
            && self.search.as_ref().is_some_and(|search| search.has_limit);
        self.queue.has_handshake() || self.queue.has_search() && !ends_by_itself
    }

    /// Executes a command after the protocol state was updated.
    fn act(&mut self, command: Command<'_>, now: SessionTime, out: &mut String) {
        match command {
            Command::Uci => self.answer_handshake(out),
            Command::Debug(on) => {
                self.debug = on;
                self.events.push_back(Event::Debug(on));
            }
            // A searching engine has loaded everything already and must answer immediately.
            Command::IsReady if self.protocol_state.is_searching() => {
                self.send(&Reply::ReadyOk, out);
            }
            Command::IsReady => self.events.push_back(Event::Prepare),
            Command::SetOption(set) => self.set_option(set, out),
            Command::Register(with) => self.events.push_back(Event::Register(with.into_owned())),
            Command::NewGame => self.events.push_back(Event::NewGame),
            Command::Position(position) => self.position = Ok(position.into_owned()),
            Command::Go(Go { perft: Some(depth), .. }) => {
                self.events.push_back(Event::Perft(depth));
            }
            Command::Go(go) => self.start_search(go, now, out),
            Command::Stop => self.release_answer(Event::Stop, out),
            Command::PonderHit(clocks) => {
                if let Some(search) = &mut self.search {
                    search.since = now;
                    search.has_limit |= !clocks.is_empty();
                }
                self.release_answer(Event::PonderHit(clocks), out);
            }
            Command::GameOver(result) => {
                self.events.push_back(Event::GameOver(result));
                self.release_answer(Event::Stop, out);
            }
            Command::Quit => self.close(out),
            Command::Unknown(_) => (),
        }
    }

    fn answer_handshake(&mut self, out: &mut String) {
        // The client waits for an answer. The search continues.
        if self.protocol_state.is_searching() && !self.queue.has_handshake() {
            self.introduce(out);
        }
        if self.protocol_state.phase() != Phase::Handshake {
            return;
        }
        let dialect = dialect_of(&self.profile, self.active_options);
        if dialect != self.protocol_state.dialect() {
            self.protocol_state.set_dialect(dialect);
            let options = self.profile.options.get(self.active_options);
            self.details = options.map(Details::of).unwrap_or_default();
            self.castling = castling_of(options);
            self.throttle = Throttle::new();
        }
        self.introduce(out);
        self.events.push_back(Event::HandshakeComplete(dialect));
    }

    fn introduce(&mut self, out: &mut String) {
        for reply in declarations(&self.profile, self.active_options) {
            self.send(&reply, out);
        }
    }

    fn set_option(&mut self, set: SetOption<'_>, out: &mut String) {
        let Some(options) = self.profile.options.get(self.active_options) else { return };
        let set = set.resolved(|name| options.find(name).is_some());
        let bad = match options.require(&set.name) {
            // Shogi GUIs send these two to every engine.
            Err(_) if self.protocol_state.dialect().sends_undeclared(&set.name) => return,
            Err(unknown) => BadOption::Unknown(unknown),
            Ok(decl) => match decl.value(set.value.as_deref()) {
                Ok(value) => {
                    self.details.set_option(&decl.name, &value);
                    if decl.name == CHESS960 {
                        self.castling = castling(&value);
                    }
                    let name = decl.name.clone().into_owned();
                    return self.events.push_back(Event::SetOption { name, value });
                }
                Err(error) => BadOption::Value(error),
            },
        };
        self.send_info_string(shortened(&bad.to_string()).to_owned(), out);
        self.events.push_back(Event::BadOption(bad));
    }

    fn start_search(&mut self, go: Go<'_>, now: SessionTime, out: &mut String) {
        let (dialect, go) = (self.protocol_state.dialect(), go.into_owned());
        let mut search = Search { since: now, has_limit: false, reported: false, held: None };
        self.throttle.start_search();
        match self.position.clone() {
            Ok(position) => {
                let castling = self.castling;
                let mut request = SearchRequest { dialect, position, go, castling };
                if request.go.limitation(request.mover()) == Limitation::Unusable {
                    self.send_info_string(explain_unusable(&request), out);
                    request.set_default_time();
                }
                search.has_limit = request.has_limit();
                self.search = Some(search);
                self.events.push_back(Event::Search(Box::new(request)));
            }
            Err(fault) => {
                self.search = Some(search);
                self.send_info_string(format!("the search failed: {fault}"), out);
                let is_mate = matches!(
                    self.protocol_state.phase(),
                    Phase::Searching { goal: Goal::Mate, .. }
                );
                let answer = if is_mate {
                    Reply::Checkmate(Checkmate::Timeout)
                } else {
                    Reply::BestMove(Best::None.into())
                };
                self.send_rest_of_info(&answer, now, out);
                self.send_answer(answer, out);
            }
        }
    }

    /// Sends the delayed answer, or else emits `event` for the running search.
    fn release_answer(&mut self, event: Event, out: &mut String) {
        match self.search.as_mut().map(|search| search.held.take()) {
            None => (),
            Some(None) => self.events.push_back(event),
            Some(Some(answer)) => self.send_answer(answer, out),
        }
    }

    fn answer(
        &mut self,
        answer: Reply<'static>,
        now: SessionTime,
        out: &mut String,
    ) -> Result<(), UsageError> {
        if self.search.as_ref().is_some_and(|search| search.held.is_some()) {
            return Err(UsageError::AnsweredAlready);
        }
        self.check(&answer)?;
        // Applied to a copy, because the last `info` has to be sent first.
        match (&self.search, self.protocol_state.clone().reply(&answer)) {
            (Some(_), Err(Violation { rule: Rule::BestMoveTooEarly, .. }) | Ok(())) => (),
            (_, Err(violation)) => return Err(UsageError::Violation(violation)),
            // After `quit` any answer is allowed.
            (None, Ok(())) => {
                let rule = Rule::BestMoveWithoutSearch;
                return Err(UsageError::Violation(Violation { by: rule.binds(), rule }));
            }
        }
        self.send_rest_of_info(&answer, now, out);
        self.send_answer(answer, out);
        self.advance(now, out);
        Ok(())
    }

    /// Sends the answer, or delays it if it is too early.
    fn send_answer(&mut self, answer: Reply<'static>, out: &mut String) {
        // During `go ponder` a client expects neither `checkmate` nor `bestmove`.
        let ponders = matches!(
            self.protocol_state.phase(),
            Phase::Searching { pondering: true, stopped: false, .. }
        );
        if !(ponders && matches!(answer, Reply::Checkmate(_)))
            && self.try_send(&answer, out).is_ok()
        {
            self.search = None;
        } else if let Some(search) = &mut self.search {
            search.held = Some(answer);
        }
    }

    /// Sends delayed lines, so that the last `info` of the search precedes its answer.
    fn send_rest_of_info(&mut self, answer: &Reply<'_>, now: SessionTime, out: &mut String) {
        for info in self.throttle.flush() {
            self.send(&Reply::Info(info), out);
        }
        let Some(search) = self.search.as_ref().filter(|search| !search.reported) else { return };
        let time = Some(now.saturating_sub(search.since));
        let pv = match answer {
            Reply::BestMove(BestMove { best: Best::Move(it), .. }) => {
                Some([*it].into_iter().collect())
            }
            _ => None,
        };
        self.send(&Reply::Info(Info { depth: Some(0), time, pv, ..Info::default() }), out);
    }

    fn close(&mut self, out: &mut String) {
        self.queue.clear();
        self.release_answer(Event::Stop, out);
        self.events.push_back(Event::Quit);
    }

    /// Sends an `info string`, independent of `debug`.
    fn send_info_string(&mut self, text: String, out: &mut String) {
        self.send(&Reply::Info(Info::text(text)), out);
    }

    /// Sends an `info string` if `debug` is on.
    fn send_debug(&mut self, what: &dyn fmt::Display, out: &mut String) {
        if self.debug {
            self.send_info_string(what.to_string(), out);
        }
    }

    /// Sends a reply that is known to be allowed and valid.
    fn send(&mut self, reply: &Reply<'_>, out: &mut String) {
        let result = self.try_send(reply, out);
        debug_assert_eq!(result, Ok(()), "the reply is not allowed now");
    }

    fn try_send(&mut self, reply: &Reply<'_>, out: &mut String) -> Result<(), UsageError> {
        let before = out.len();
        reply.write(self.protocol_state.dialect(), out)?;
        if let Err(violation) = self.protocol_state.reply(reply) {
            out.truncate(before);
            return Err(UsageError::Violation(violation));
        }
        out.push('\n');
        Ok(())
    }

    /// Checks that a reply can be written.
    fn check(&self, reply: &Reply<'_>) -> Result<(), WriteError> {
        struct NullSink;
        impl fmt::Write for NullSink {
            fn write_str(&mut self, _: &str) -> fmt::Result {
                Ok(())
            }
        }
        reply.write(self.protocol_state.dialect(), &mut NullSink)
    }
}

fn dialect_of(profile: &Profile, index: usize) -> Dialect {
    profile.options.get(index).map_or_else(Dialect::default, OptionSet::dialect)
}

/// The replies from `id name` to `uciok` or `usiok`.
fn declarations(profile: &Profile, index: usize) -> Vec<Reply<'static>> {
    let dialect = dialect_of(profile, index);
    let mut replies = vec![Reply::Id(Id::Name(Cow::Owned(profile.name.clone())))];
    if !profile.author.is_empty() {
        replies.push(Reply::Id(Id::Author(Cow::Owned(profile.author.clone()))));
    }
    replies.extend(profile.options.get(index).into_iter().flatten().map(|decl| {
        let name = Cow::Owned(dialect.option_name(&decl.name).to_string());
        Reply::Option(OptionDecl { name, kind: decl.kind.clone() })
    }));
    replies.push(Reply::UciOk);
    replies
}

/// The option that selects the notation of castling.
const CHESS960: &str = KnownOption::Chess960.name();

fn castling(chess960: &OptionValue) -> CastlingForm {
    match chess960 {
        OptionValue::Check(true) => CastlingForm::KingTakesRook,
        _ => CastlingForm::KingMove,
    }
}

/// The notation of castling before the option is set.
fn castling_of(options: Option<&OptionSet>) -> CastlingForm {
    let default = options.and_then(|set| set.find(CHESS960)?.default_value());
    default.as_ref().map(castling).unwrap_or_default()
}

/// Why a search has the default time.
fn explain_unusable(request: &SearchRequest) -> String {
    let Go { unusable, unknown, .. } = &request.go;
    let texts: Vec<&str> = unusable.iter().chain(unknown).map(AsRef::as_ref).collect();
    let time = SearchRequest::DEFAULT_TIME;
    if texts.is_empty() {
        return format!("`go` has no clock of the side to move: the search takes {time:?}");
    }
    let text = texts.join(" ");
    let text = shortened(&text).escape_debug();
    format!("`go` has no usable limit in `{text}`: the search takes {time:?}")
}

/// The start of a text, which may be as long as a line of the client.
fn shortened(text: &str) -> &str {
    const LONGEST: usize = 200;
    text.char_indices().nth(LONGEST).and_then(|(end, _)| text.get(..end)).unwrap_or(text)
}
