//! The engine's output, its end, and timeouts.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

use super::request::{ActiveSearch, ClientPhase, Separation, Sync, TimeoutKind, Timeouts};
use super::{ClientSession, DropReason, Event, NewGame, SearchId};
use crate::protocol_state::is_only_text;
use crate::session::SessionTime;
use crate::{
    Best, BestMove, Command, Id, Info, Move, Party, Position, Reply, Rule, Status, Violation,
};

impl ClientSession {
    /// Handles one line of the engine.
    pub fn receive_line(&mut self, line: &str, now: SessionTime, out: &mut String) {
        self.received = now;
        let reading = Reply::read(line, self.protocol_state.dialect());
        let reply = match reading.value {
            Reply::Unknown(text) => {
                // Empty lines are heartbeats (YaneuraOu) without a meaning.
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
            // After the handshake, name and options are known.
            if violation.rule.is_ignored() || violation.rule == Rule::LateDeclaration {
                return;
            }
        }
        if !self.state.is_closed() {
            self.handle_reply(reply, line, now, out);
        }
        self.advance(now, out);
    }

    /// Whether this is a repetition of the previous answer. Each search ignores one such answer: if the
    /// engine repeats an impossible move, that is its answer.
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

    /// The previous answer, if it and one reply were played before this position. In chess and shogi the
    /// same side cannot make that move again: its origin is empty or occupied by the opponent, and the
    /// square of a drop is occupied. Exceptions are castling in Chess960, where the king may stay on its
    /// square, and variants.
    pub(super) fn stale_answer_in(&self, position: &Position<'_>) -> Option<Move> {
        let (before, answer) = self.answered.as_ref()?;
        let NewGame { chess960, variant, .. } = &self.game;
        let is_usual =
            variant.as_deref().is_none_or(|variant| matches!(variant, "chess" | "shogi"));
        if *chess960 || !is_usual || *answer == Move::NULL || before.root != position.root {
            return None;
        }
        let played = position.moves.as_str().strip_prefix(before.moves.as_str())?;
        let played = if before.moves.is_empty() { played } else { played.strip_prefix(' ')? };
        let reply = played.strip_prefix(answer.as_str())?.strip_prefix(' ')?;
        (!reply.contains(' ')).then_some(*answer)
    }

    /// Handles the reply that was read from this line.
    fn handle_reply(&mut self, reply: Reply<'_>, line: &str, now: SessionTime, out: &mut String) {
        match reply {
            Reply::Id(Id::Name(name)) => self.identity.name = name.into_owned(),
            Reply::Id(Id::Author(author)) => self.identity.author = author.into_owned(),
            Reply::Option(decl) => self.options.declare(decl.into_owned(), line),
            Reply::UciOk => {
                // Earlier output does not explain a status.
                self.last_text.clear();
                // An engine may answer a handshake twice.
                if matches!(self.state, ClientPhase::Handshake { .. }) {
                    self.state = ClientPhase::Idle;
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

    /// Stores a text that may explain a status or a failure. Some engines explain a status only
    /// afterwards.
    fn remember(&mut self, text: &str) {
        self.last_text.clear();
        self.last_text.push_str(text);
        // The text of a search has other subjects.
        let is_searching = self.state.search().is_some();
        if !is_searching && self.has_status_error() && self.status_message.is_empty() {
            self.status_message = core::mem::take(&mut self.last_text);
        }
    }

    fn has_status_error(&self) -> bool {
        self.copy_protected || self.registration.is_rejected()
    }

    /// Handles a status. The text before it may explain it. A repeated error without a text has the reason of the first.
    fn explain_status(&mut self, status: Status) {
        let text = core::mem::take(&mut self.last_text);
        if status == Status::Error && !text.is_empty() {
            self.status_message = text;
        }
    }

    fn end_search(&mut self, answer: Option<Move>, event: impl FnOnce(SearchId) -> Event) {
        self.reported.remove(&TimeoutKind::Stop);
        let pings = self.protocol_state.dialect().ping_between_searches();
        // A `readyok` before the next search separates it from a duplicate `bestmove` of this one.
        let by_ready = match self.separation {
            Separation::AfterStop => false,
            Separation::Always => pings,
            Separation::AlwaysByReady => true,
        };
        self.sync.require_ready_if(by_ready);
        if self.separation == Separation::Always && self.sync != Sync::NeedsReady {
            self.sync = Sync::Settling(self.received.saturating_add(self.timeouts.settle));
        }
        if let Some(ActiveSearch { id, discarded, stopped, restarts, request, .. }) =
            self.state.take_search()
        {
            // The search may have ended before the engine received `stop`, and `stop` may be answered too.
            self.sync.require_ready_if(stopped.is_some() && pings);
            if restarts {
                self.waiting = Some((id, request));
                return;
            }
            self.answered = answer.map(|answer| (request.position, answer));
            let dropped = Event::Dropped(id, DropReason::GameOver);
            self.events.push_back(if discarded { dropped } else { event(id) });
        }
    }

    /// The engine closed its output. Open searches are dropped.
    pub fn receive_eof(&mut self) {
        if matches!(self.state, ClientPhase::Disconnected) {
            return;
        }
        self.drop_all();
        self.state = ClientPhase::Disconnected;
        let _ = self.protocol_state.apply_command_lenient(&Command::Quit);
        self.events.push_back(Event::Disconnected);
    }

    /// When to call [`handle_timeout`](Self::handle_timeout). `None` if no timeout is pending.
    pub fn poll_timeout(&self) -> Option<SessionTime> {
        let settled = self.sync.settled_at().filter(|_| self.waiting.is_some());
        self.waits().map(|(.., at)| at).chain(self.overrun()).chain(settled).min()
    }

    /// Handles timeouts: stops a search that overran its limit, reports a late engine.
    ///
    /// A late `readyok` is not awaited any longer, because some engines lose an `isready` during a
    /// search. Another `isready` is sent when necessary.
    pub fn handle_timeout(&mut self, now: SessionTime, out: &mut String) {
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

    /// Pending timeouts that were not reported: kind, start and deadline.
    fn waits(&self) -> impl Iterator<Item = (TimeoutKind, SessionTime, SessionTime)> {
        let Timeouts { handshake, ready, stop, quit, .. } = self.timeouts;
        let state = match &self.state {
            ClientPhase::Handshake { since } => Some((TimeoutKind::Handshake, handshake, *since)),
            ClientPhase::Searching(search) => {
                search.stopped.map(|since| (TimeoutKind::Stop, stop, since))
            }
            ClientPhase::Quitting { since } => Some((TimeoutKind::Exit, quit, *since)),
            ClientPhase::Idle | ClientPhase::Disconnected => None,
        };
        let ping = self.pings.front().map(|ping| (TimeoutKind::Ready, ready, ping.since));
        [ping, state]
            .into_iter()
            .flatten()
            .filter(|(wait, ..)| !self.reported.contains(wait))
            .map(|(wait, limit, since)| (wait, since, limit.deadline(since, self.received)))
    }

    /// When the running search is stopped because it overran its limit.
    fn overrun(&self) -> Option<SessionTime> {
        self.state.search()?.overrun(self.received, &self.timeouts)
    }
}
