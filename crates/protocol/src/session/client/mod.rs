//! The client's side: runs the searches of an engine one after another.
//!
//! The caller may request anything at any time; the session queues what the engine cannot accept yet.
//! At most one search is running and one is pending; a newer request replaces the pending one.
//!
//! ```text
//!  caller ── search, stop, ponder_hit, new_game, set_option ──> ClientSession ── lines ──> engine
//!  caller <── events: HandshakeComplete, Info, BestMove … ── ClientSession <── lines ── engine
//! ```
//!
//! Invariant: **every [`SearchId`] ends in exactly one [`Event::BestMove`], [`Event::Checkmate`] or
//! [`Event::Dropped`].**
//!
//! In UCI, an `isready` is answered before each `go`. A repeated or late `bestmove` of the previous
//! search therefore arrives between searches and is ignored. Shogi engines treat `isready` as the start of
//! a game and clear their hash, so it is sent once per game. Instead, the next `go` is delayed
//! ([`Timeouts::settle`]) to detect a repeated `bestmove`. After the first repeated answer, the session
//! uses `isready` anyway.
//!
//! A later duplicate is recognized if its move has been played meanwhile, because the same side cannot make
//! the same move twice in a row. Otherwise it is indistinguishable from the answer to the next search. The
//! same applies without [`sync_between_searches`](ClientSession::sync_between_searches). Lines that are
//! read before `go` is sent are never ambiguous if the session receives them first
//! ([`set_manual_start`](ClientSession::set_manual_start)).

mod event;
mod options;
mod receive;
mod request;

pub use event::{DropReason, Event, Identity};
use request::prepared_clocks;
pub use request::{
    NewGame, PingId, Purpose, SearchId, SearchRequest, TimeoutKind, Timeouts, UsageError, WaitLimit,
};

use alloc::collections::{BTreeMap, BTreeSet, VecDeque};
use alloc::string::String;
use alloc::vec::Vec;
use core::time::Duration;

use self::options::{Change, Options};
use super::SessionTime;
use crate::session::client::request::{
    ActiveSearch, ClientPhase, EarlyPosition, Ping, Registration, Separation, Sync,
};
use crate::{
    Clocks, Command, Dialect, GameResult, Move, OptionSet, OptionValue, Phase, Position,
    ProtocolState, Register, WriteError,
};

/// The protocol for a GUI, a match runner or another driver of an engine.
#[derive(Debug)]
pub struct ClientSession {
    protocol_state: ProtocolState,
    state: ClientPhase,
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
    /// Oldest first.
    pings: VecDeque<Ping>,
    /// Pings of the caller that follow options, which the engine accepts after the answer of its search.
    postponed_pings: VecDeque<PingId>,
    sync: Sync,
    separation: Separation,
    /// The caller starts each search with [`ClientSession::start_pending`].
    manual_start: bool,
    early_position: EarlyPosition,
    waiting: Option<(SearchId, SearchRequest)>,
    /// The latest answer and its position.
    answered: Option<(Position<'static>, Move)>,
    last_search: u64,
    last_ping: u64,
    /// When the latest line of the engine was received.
    received: SessionTime,
    /// The timeouts that were reported and are still exceeded.
    reported: BTreeSet<TimeoutKind>,
    /// The duration of the latest wait that timed out.
    timed_out: BTreeMap<TimeoutKind, Duration>,
    events: VecDeque<Event>,
}

impl ClientSession {
    /// Starts a session: sends the handshake.
    pub fn start(dialect: Dialect, timeouts: Timeouts, now: SessionTime, out: &mut String) -> Self {
        let mut session = Self {
            protocol_state: ProtocolState::new(dialect),
            state: ClientPhase::Handshake { since: now },
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
            postponed_pings: VecDeque::new(),
            sync: Sync::Done,
            separation: Separation::Always,
            manual_start: false,
            early_position: EarlyPosition::Disabled,
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

    /// Requests a search. A running search is stopped first and still ends with its own event; a pending
    /// one is dropped.
    ///
    /// # Errors
    /// The request cannot be sent, or the engine accepts no searches. The state is unchanged.
    pub fn search(
        &mut self,
        request: SearchRequest,
        now: SessionTime,
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

    /// Stops or cancels a search. No effect if it has ended.
    pub fn stop(&mut self, id: SearchId, now: SessionTime, out: &mut String) {
        if self.waiting.as_ref().is_some_and(|(waiting, _)| *waiting == id) {
            self.drop_waiting(DropReason::Cancelled);
        }
        if self.running() == Some(id) {
            self.stop_running(now, out);
        }
    }

    /// Sends `ponderhit`: the expected move was played, and the search continues as a normal one with its
    /// clock running from now.
    ///
    /// `clocks`, if given and not empty, replace those of the request. They are sent only to shogi
    /// engines, some of which support them.
    ///
    /// # Errors
    /// No search with this id is pondering: request a normal search instead. Or it has no limit, and no
    /// clocks are given.
    pub fn ponder_hit(
        &mut self,
        id: SearchId,
        clocks: Option<Clocks>,
        now: SessionTime,
        out: &mut String,
    ) -> Result<(), UsageError> {
        let dialect = self.protocol_state.dialect();
        let clocks = clocks.filter(|clocks| !clocks.is_empty());
        let clocks = clocks.map(|clocks| prepared_clocks(clocks, dialect));
        let waiting = self.waiting.as_mut().map(|(waiting, request)| (*waiting, request));
        let restarting = self.state.search_mut().filter(|running| running.restarts);
        let restarting = restarting.map(|running| (running.id, &mut running.request));
        let unsent = waiting.into_iter().chain(restarting);
        if let Some((_, request)) =
            unsent.into_iter().find(|(unsent, request)| *unsent == id && request.go.ponder)
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
        running.time_limit = running.request.time_limit(dialect);
        let sent = clocks.filter(|_| dialect.clocks_with_ponder_hit());
        self.send(&Command::PonderHit(sent.unwrap_or_default()), out);
        Ok(())
    }

    /// Starts a new game with the next search. The necessary commands are sent before it.
    ///
    /// # Errors
    /// The engine does not support Chess960 or the variant, or the opponent cannot be sent. The state is
    /// unchanged.
    pub fn new_game(
        &mut self,
        game: NewGame,
        now: SessionTime,
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

    /// Ends the game. A running or pending search is stopped and dropped. The result is sent only in
    /// USI.
    pub fn game_over(&mut self, result: GameResult, now: SessionTime, out: &mut String) {
        self.drop_waiting(DropReason::GameOver);
        self.stop_running(now, out);
        if let Some(running) = self.state.search_mut() {
            running.discarded = true;
        }
        if self.protocol_state.dialect().has_game_over() && self.state.is_ready() {
            self.send(&Command::GameOver(result), out);
        }
    }

    /// Sets an option permanently, or pushes a button, now or as soon as the engine accepts it.
    ///
    /// An analysis, a pondering search, and a search that only `stop` ends, are stopped and started again with their
    /// limits after the option: [`Event::Started`] is repeated. After any other search the option follows the answer,
    /// see [`delays_options`](Self::delays_options).
    ///
    /// # Errors
    /// The option is unknown, the text is not a value of it, or the session manages it.
    pub fn set_option(
        &mut self,
        name: &str,
        value: Option<&str>,
        now: SessionTime,
        out: &mut String,
    ) -> Result<(), UsageError> {
        self.check_usable()?;
        let (index, value) = self.options.checked(name, value)?;
        if self.options.changes(index, &value) {
            self.restart_running(now, out);
        }
        self.options.want(index, value);
        self.advance(now, out);
        Ok(())
    }

    /// Whether [`set_option`](Self::set_option) takes effect only after the answer of a running search, which has a limit
    /// and was not stopped.
    pub fn delays_options(&self) -> bool {
        let running = self.state.search().filter(|running| running.stopped.is_none());
        running.is_some_and(|running| !running.request.is_repeatable())
    }

    /// Informs the engine, before the first pondering search, that it may think on the opponent's time
    /// (`Ponder`).
    pub fn allow_pondering(&mut self, allowed: bool) {
        self.options.ponder = allowed;
    }

    /// Whether each search of a game waits for a `readyok` after the previous one; in USI, where
    /// `isready` starts a game, for [`Timeouts::settle`]. Enabled by default.
    ///
    /// If disabled, a search waits only after options, a new game or `stop`, and always once the engine
    /// has answered twice. This saves a round trip per move. The risk: the first duplicate `bestmove` that
    /// arrives after the next `go` is treated as its answer, unless its move has been played meanwhile.
    pub fn sync_between_searches(&mut self, separate: bool) {
        if self.separation != Separation::AlwaysByReady {
            self.separation = if separate { Separation::Always } else { Separation::AfterStop };
        }
    }

    /// Whether `position` is sent before an `isready` between two searches, instead of together with `go`. Disabled
    /// by default.
    ///
    /// The engine then reads the moves of a long game before `readyok`, not during the time of its search. It costs
    /// nothing: without an `isready`, as in USI, both commands are sent together.
    pub fn position_before_ready(&mut self, early: bool) {
        self.early_position = if early { EarlyPosition::Enabled } else { EarlyPosition::Disabled };
    }

    /// Replaces [`Timeouts::ready`] for each further `isready`.
    pub fn set_ready_limit(&mut self, limit: WaitLimit) {
        self.timeouts.ready = limit;
    }

    /// Makes searches wait for [`start_pending`](Self::start_pending) from now on.
    ///
    /// For a caller that reads many lines per call: the session must receive lines that arrived before
    /// `go` is sent, so that they do not answer it.
    pub fn set_manual_start(&mut self) {
        self.manual_start = true;
    }

    /// Whether a pending search can start.
    pub fn can_start_pending(&self) -> bool {
        self.manual_start
            && self.waiting.is_some()
            && self.sync.settled_at().is_none()
            && self.pings.is_empty()
            && matches!(self.state, ClientPhase::Idle)
    }

    /// Starts the pending search of [`set_manual_start`](Self::set_manual_start), if there is one.
    pub fn start_pending(&mut self, now: SessionTime, out: &mut String) {
        if self.can_start_pending() {
            self.send_search(now, out);
        }
    }

    /// Checks that the engine is alive and has processed everything requested before, including options that wait for
    /// the answer of a stopped search. Searches continue.
    ///
    /// # Errors
    /// The handshake is not complete, or the engine is not running.
    pub fn ping(&mut self, now: SessionTime, out: &mut String) -> Result<PingId, UsageError> {
        match self.state {
            ClientPhase::Handshake { .. } => return Err(UsageError::HandshakeIncomplete),
            ClientPhase::Quitting { .. } | ClientPhase::Disconnected => {
                return Err(UsageError::NotRunning);
            }
            ClientPhase::Idle | ClientPhase::Searching(_) => (),
        }
        self.last_ping += 1;
        let id = PingId(self.last_ping);
        if self.options.has_unsent() {
            self.postponed_pings.push_back(id);
        } else {
            self.send_ping(Some(id), now, out);
        }
        Ok(id)
    }

    /// Enables or disables the engine's debug mode.
    ///
    /// # Errors
    /// The handshake is not complete, or the engine is not running.
    pub fn debug(&mut self, on: bool, out: &mut String) -> Result<(), UsageError> {
        self.check_usable()?;
        self.send(&Command::Debug(on), out);
        Ok(())
    }

    /// Sets the answer to `registration error`. If the engine has sent it already, the new answer is sent
    /// as soon as possible.
    ///
    /// # Errors
    /// The name or the code cannot be written on one line.
    pub fn register(
        &mut self,
        with: Register<'static>,
        now: SessionTime,
        out: &mut String,
    ) -> Result<(), UsageError> {
        let command = Command::Register(with.clone());
        command.write(self.protocol_state.dialect(), &mut String::new())?;
        self.registration.set(with);
        self.advance(now, out);
        Ok(())
    }

    /// Ends the session. Open searches are dropped.
    pub fn quit(&mut self, now: SessionTime, out: &mut String) {
        if self.state.is_closed() {
            return;
        }
        self.stop_running(now, out);
        self.drop_all();
        self.send(&Command::Quit, out);
        self.state = ClientPhase::Quitting { since: now };
    }

    /// The next event. Poll until it is `None`.
    pub fn poll_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    /// The state of the session.
    pub fn protocol_state(&self) -> &ProtocolState {
        &self.protocol_state
    }

    /// Name and author of the engine. Complete after [`Event::HandshakeComplete`].
    pub fn identity(&self) -> &Identity {
        &self.identity
    }

    /// The options that the engine declared. Complete after [`Event::HandshakeComplete`].
    pub fn options(&self) -> &OptionSet {
        &self.options.declared
    }

    /// The current value of an option, if known.
    pub fn option_value(&self, name: &str) -> Option<OptionValue> {
        self.options.value(name)
    }

    /// The duration of the latest [`Event::Timeout`] of this kind.
    pub fn timeout_of(&self, wait: TimeoutKind) -> Option<Duration> {
        self.timed_out.get(&wait).copied()
    }

    /// The engine's explanation of its latest `copyprotection error` or `registration error`: the
    /// `info string` or unknown line next to it.
    pub fn status_message(&self) -> Option<&str> {
        Some(&*self.status_message).filter(|text| !text.is_empty())
    }

    /// The latest `info string` or unknown line of the engine. It may explain a failure.
    pub fn last_text(&self) -> Option<&str> {
        Some(&*self.last_text).filter(|text| !text.is_empty())
    }

    /// The running search.
    pub fn running(&self) -> Option<SearchId> {
        self.state.search().map(|running| running.id)
    }

    /// Whether nothing is running, pending or unanswered.
    pub fn is_idle(&self) -> bool {
        self.state.search().is_none()
            && self.waiting.is_none()
            && self.pings.is_empty()
            && self.postponed_pings.is_empty()
    }

    fn check_usable(&self) -> Result<(), UsageError> {
        match self.state {
            ClientPhase::Handshake { .. } => Err(UsageError::HandshakeIncomplete),
            ClientPhase::Quitting { .. } | ClientPhase::Disconnected => Err(UsageError::NotRunning),
            ClientPhase::Idle | ClientPhase::Searching(_) if self.copy_protected => {
                Err(UsageError::CopyProtected)
            }
            ClientPhase::Idle | ClientPhase::Searching(_) => Ok(()),
        }
    }

    /// Sends what can be sent now: registration, options, a new game, the pending search, and `isready`
    /// wherever the engine may need time.
    fn advance(&mut self, now: SessionTime, out: &mut String) {
        self.sync.expire(now);
        if !matches!(self.state, ClientPhase::Idle) {
            return;
        }
        if self.registration.take_retry() || self.protocol_state.needs_register() {
            self.send(&Command::Register(self.registration.with.clone()), out);
        }
        let unsent = self.options.take_unsent();
        self.send_options(unsent, out);
        while let Some(id) = self.postponed_pings.pop_front() {
            self.send_ping(Some(id), now, out);
        }
        if self.waiting.is_none() || !self.pings.is_empty() {
            return;
        }
        let request = self.waiting.as_mut().map(|(_, request)| request);
        let changes = self.options.take_for(&self.game, request);
        self.send_options(changes, out);
        self.prepare_game(now, out);
        if self.needs_ready() {
            self.send_position_early(out);
            self.send_ping(None, now, out);
        }
        if self.pings.is_empty() && self.sync.settled_at().is_none() && !self.manual_start {
            self.send_search(now, out);
        }
    }

    /// Sends the new-game command before or after `isready`, depending on the dialect.
    fn prepare_game(&mut self, now: SessionTime, out: &mut String) {
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

    /// Sends the position of the pending search before `isready`. A new game needs its own `readyok` first.
    fn send_position_early(&mut self, out: &mut String) {
        let pings = self.protocol_state.dialect().ping_between_searches();
        let is_enabled = self.early_position != EarlyPosition::Disabled;
        if !is_enabled || !pings || self.protocol_state.needs_ready() {
            return;
        }
        let Some((id, request)) = self.waiting.take() else { return };
        self.send(&Command::Position(request.position.borrowed()), out);
        self.early_position = EarlyPosition::Sent(id);
        self.waiting = Some((id, request));
    }

    fn send_search(&mut self, now: SessionTime, out: &mut String) {
        let Some((id, request)) = self.waiting.take() else { return };
        if self.early_position != EarlyPosition::Sent(id) {
            self.send(&Command::Position(request.position.borrowed()), out);
        }
        self.send(&Command::Go(request.go.clone()), out);
        self.state = ClientPhase::Searching(ActiveSearch {
            id,
            stale_answer: self.stale_answer_in(&request.position),
            time_limit: request.time_limit(self.protocol_state.dialect()),
            request,
            since: now,
            stopped: None,
            restarts: false,
            discarded: false,
        });
        self.events.push_back(Event::Started(id));
    }

    fn send_options(&mut self, changes: Vec<Change>, out: &mut String) {
        // In USI, `isready` starts a game; engines accept options without it.
        let pings = self.protocol_state.dialect().ping_between_searches();
        self.sync.require_ready_if(!changes.is_empty() && pings);
        for change in changes {
            self.send_option(&change, out);
        }
    }

    fn send_option(&mut self, change: &Change, out: &mut String) {
        self.send_as(&change.command(), out, |out| change.write(out));
    }

    fn send_ping(&mut self, owner: Option<PingId>, now: SessionTime, out: &mut String) {
        if owner.is_some() || self.pings.is_empty() {
            self.pings.push_back(Ping { owner, since: now });
            self.sync = Sync::Done;
            self.send(&Command::IsReady, out);
        }
    }

    fn stop_running(&mut self, now: SessionTime, out: &mut String) {
        let Some(running) = self.state.search_mut() else { return };
        running.restarts = false;
        if running.stopped.is_none() {
            running.stopped = Some(now);
            self.send(&Command::Stop, out);
        }
    }

    /// Stops a running search, if it may start again after its answer.
    fn restart_running(&mut self, now: SessionTime, out: &mut String) {
        let running = self.state.search().filter(|running| running.stopped.is_none());
        if !running.is_some_and(|running| running.request.is_repeatable()) {
            return;
        }
        self.stop_running(now, out);
        if let Some(running) = self.state.search_mut() {
            running.restarts = true;
        }
    }

    fn drop_waiting(&mut self, reason: DropReason) {
        if let Some((id, _)) = self.waiting.take() {
            self.events.push_back(Event::Dropped(id, reason));
        }
    }

    fn drop_all(&mut self) {
        self.pings.clear();
        self.postponed_pings.clear();
        self.drop_waiting(DropReason::Disconnected);
        if let Some(ActiveSearch { id, .. }) = self.state.take_search() {
            self.events.push_back(Event::Dropped(id, DropReason::Disconnected));
        }
    }

    /// Sends one line, which was validated when it was requested.
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
        let violation = self.protocol_state.apply_command_lenient(command);
        if violation.is_some_and(|violation| violation.rule.is_ignored()) {
            return;
        }
        // Other commands may change the meaning of a position.
        if let EarlyPosition::Sent(_) = self.early_position
            && !matches!(command, Command::IsReady | Command::Debug(_))
        {
            self.early_position = EarlyPosition::Enabled;
        }
        let before = out.len();
        match write(out) {
            Ok(()) => out.push('\n'),
            Err(_) => out.truncate(before),
        }
    }
}
