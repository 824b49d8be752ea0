//! Searches of the engines that play: requests, answers, pondering.

use std::fmt;
use std::time::Duration;

use readyok_protocol::{Dialect, Go, MateLimit};
use readyok_rules::record::Evaluation;
use readyok_rules::{Position, Termination};

use super::play::{ActiveGame, lost};
use super::{Document, Effect};
use crate::errors::move_error;
use crate::game::clock::GameClocks;
use crate::game::tree::EngineLine;
use crate::time::Moment;
use crate::wire::{
    ApiError, ErrorCode, ErrorInfo, MoveInfo, NodeId, OutcomeView, SearchLimits, Side,
};

/// A request to the engine of a side.
#[derive(Clone, Debug)]
pub(crate) enum SearchRequest {
    /// Searches for a move, or ponders the last of the moves.
    Think { line: Box<EngineLine>, budget: TimeBudget, ponder: bool },
    /// The pondered move was played: the search continues as one for a move.
    Hit { budget: TimeBudget },
    /// Plays immediately.
    MoveNow,
    /// Stops; the answer is ignored.
    Rest,
    /// The game is over; the engine can quit.
    Leave {
        /// None for a draw or no result.
        won: Option<bool>,
    },
}

/// The limits of a search, in a form that does not depend on the protocol.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TimeBudget {
    clocks: Option<GameClocks>,
    side: Side,
    limits: SearchLimits,
}

/// The answer of an engine that plays.
#[derive(Clone, Debug)]
pub(crate) struct EngineAnswer {
    pub(crate) best: EngineMove,
    /// The expected reply.
    pub(crate) ponder: Option<String>,
    /// The time that it took, in milliseconds.
    pub(crate) elapsed: u64,
}

#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum EngineMove {
    /// A move in the notation of the game, legal or not.
    Move(String),
    Resign,
    /// A declaration of a win.
    Win,
    /// No move, or anything else.
    Nothing(String),
}

impl fmt::Display for EngineMove {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Move(text) | Self::Nothing(text) => text,
            Self::Resign => "resign",
            Self::Win => "win",
        })
    }
}

/// A search that an engine has not finished.
#[derive(Clone, Debug)]
pub(super) struct PendingSearch {
    /// The pondered move of the opponent; none if the engine is to move.
    pub(super) ponder: Option<String>,
    pub(super) started: bool,
}

impl TimeBudget {
    pub(super) fn new(clocks: Option<GameClocks>, side: Side, limits: &SearchLimits) -> Self {
        Self { clocks, side, limits: *limits }
    }

    /// The limits as a command. Without limits, the engine searches until it is stopped.
    pub(crate) fn go(&self, dialect: Dialect) -> Go<'static> {
        let clocks = self.clocks.map(|clocks| clocks.go(self.side, dialect)).unwrap_or_default();
        let per_move = self.clocks.and_then(|clocks| clocks.per_move(self.side));
        let go = self.limits.go(dialect);
        let move_time = go.move_time.into_iter().chain(per_move).min();
        let go = Go { clocks, move_time, ..go };
        if go.is_bare() { Go::infinite() } else { go }
    }
}

impl SearchLimits {
    /// The limits as a command of a protocol.
    pub(crate) fn go(&self, dialect: Dialect) -> Go<'static> {
        let Self { depth, nodes, time, mate } = *self;
        let mate = mate.map(|limit| match dialect {
            Dialect::Uci => MateLimit::Moves(u32::try_from(limit).unwrap_or(u32::MAX)),
            Dialect::Usi if limit == 0 => MateLimit::Infinite,
            Dialect::Usi => MateLimit::Time(Duration::from_millis(limit)),
        });
        let move_time = time.map(Duration::from_millis);
        Go { depth, nodes, move_time, mate, ..Go::default() }
    }
}

impl ActiveGame {
    /// Requests a move from the side to move, if it is an engine.
    pub(super) fn request_move(
        &mut self,
        document: &Document,
        position: &Position,
        played: Option<&str>,
        now: Moment,
    ) -> Vec<Effect> {
        let side = position.turn();
        let line = document.tree().engine_line(self.last_move_node);
        let clocks = self.clocks;
        let have_clocks_started = self.have_clocks_started();
        let slot = self.slots.of_mut(side);
        let (Some(engine), Some(line)) = (slot.engine(), line) else {
            if let Some(clocks) = &mut self.clocks
                && have_clocks_started
            {
                clocks.start(side, now);
            }
            return Vec::new();
        };
        let budget = TimeBudget::new(clocks, side, &engine.limits);
        let expected = slot.search.as_ref().and_then(|search| search.ponder.as_deref());
        let hit = expected.is_some() && expected == played;
        // Before a move is played, the prediction is neither right nor wrong.
        slot.tries += u32::from(expected.is_some() && played.is_some());
        let request = if hit {
            slot.hits += 1;
            if let Some(search) = &mut slot.search {
                search.ponder = None;
            }
            if let Some(clocks) = &mut self.clocks {
                clocks.start(side, now);
            }
            SearchRequest::Hit { budget }
        } else {
            slot.search = Some(PendingSearch { ponder: None, started: false });
            SearchRequest::Think { line: Box::new(line), budget, ponder: false }
        };
        vec![Effect::Request(side, request)]
    }

    /// Makes an engine ponder its expected reply, if the reply is legal.
    fn ponder(&mut self, document: &Document, side: Side, answer: &EngineAnswer) -> Vec<Effect> {
        let Some(mut line) = document.tree().engine_line(self.last_move_node) else {
            return Vec::new();
        };
        let clocks = self.clocks;
        let slot = self.slots.of_mut(side);
        let Some(engine) = slot.engine().filter(|engine| engine.ponder) else { return Vec::new() };
        let expected = answer.ponder.as_ref().and_then(|mv| line.position.parse_move(mv).ok());
        let Some(mv) = expected.filter(|mv| line.play(*mv)) else { return Vec::new() };
        let budget = TimeBudget::new(clocks, side, &engine.limits);
        let ponder = Some(mv.to_uci(document.game().castling_form()));
        slot.search = Some(PendingSearch { ponder, started: false });
        let line = Box::new(line);
        vec![Effect::Request(side, SearchRequest::Think { line, budget, ponder: true })]
    }

    /// Makes the engine that searches play immediately.
    pub(crate) fn move_now(&self) -> Result<Vec<Effect>, ApiError> {
        let searches = |side: &Side| {
            let search = self.slots.of(*side).search.as_ref();
            self.is_running() && search.is_some_and(|search| search.ponder.is_none())
        };
        let side = [Side::First, Side::Second].into_iter().find(searches);
        let side = side.ok_or_else(|| ApiError::conflict(ErrorCode::NoEngineThinking))?;
        Ok(vec![Effect::Request(side, SearchRequest::MoveNow)])
    }

    /// Stops the clocks, and the engines that search.
    pub(super) fn stop_searches(&mut self, now: Moment) -> Vec<Effect> {
        if let Some(clocks) = &mut self.clocks {
            clocks.pause(now);
        }
        let mut effects = Vec::new();
        for side in [Side::First, Side::Second] {
            if self.slots.of_mut(side).search.take().is_some() {
                effects.push(Effect::Request(side, SearchRequest::Rest));
            }
        }
        effects
    }

    // Events of engines.

    /// Starts the clock of an engine, which has started its search. Its first move is timed: `go` contains the clocks.
    pub(crate) fn on_search_started(&mut self, document: &mut Document, side: Side, now: Moment) {
        if !self.is_running() {
            return;
        }
        let Some(search) = &mut self.slots.of_mut(side).search else { return };
        if search.started {
            return;
        }
        search.started = true;
        if search.ponder.is_none()
            && let Some(clocks) = &mut self.clocks
            && clocks.running() != Some(side)
        {
            clocks.start(side, now);
        }
        document.changes.play = true;
    }

    pub(crate) fn on_info(&mut self, document: &mut Document, side: Side, info: MoveInfo) {
        let slot = self.slots.of_mut(side);
        if slot.search.is_some() {
            slot.info = Some(info);
            document.changes.play = true;
        }
    }

    /// Plays the answer of an engine.
    pub(crate) fn on_answer(
        &mut self,
        document: &mut Document,
        side: Side,
        answer: &EngineAnswer,
        now: Moment,
    ) -> Vec<Effect> {
        let slot = self.slots.of_mut(side);
        let Some(search) = slot.search.take() else { return Vec::new() };
        if !self.is_running() || search.ponder.is_some() {
            return Vec::new();
        }
        document.changes.play = true;
        let Some(position) = self.last_position(document) else { return Vec::new() };
        let mv = match &answer.best {
            EngineMove::Move(text) => position.parse_move(text).map_err(|error| OutcomeView {
                detail: Some(move_error(&error)),
                ..lost(side, Termination::IllegalMove)
            }),
            EngineMove::Resign => Err(lost(side, Termination::Resignation)),
            EngineMove::Win => Err(match position.declare(self.end_rules()) {
                Some(ending) => ending.into(),
                None => OutcomeView {
                    detail: Some(ErrorCode::DeclarationRejected.into()),
                    ..lost(side, Termination::IllegalMove)
                },
            }),
            EngineMove::Nothing(text) => Err(OutcomeView {
                detail: Some(ErrorCode::InvalidBestMove { answer: text.clone() }.into()),
                ..lost(side, Termination::EngineFailure)
            }),
        };
        let mv = match mv {
            Ok(mv) => mv,
            Err(outcome) => return self.finish(document, outcome, now),
        };
        let Ok((id, mut effects)) = self.make_move(document, side, mv, Some(answer.elapsed), now)
        else {
            return Vec::new();
        };
        if let Some(info) = &mut self.slots.of_mut(side).info {
            info.node = Some(id);
        }
        self.record_evaluation(document, side, id);
        if self.is_running() {
            effects.extend(self.ponder(document, side, answer));
        }
        effects
    }

    /// Adds the evaluation of an engine to its move.
    fn record_evaluation(&self, document: &mut Document, side: Side, id: NodeId) {
        let Some(info) = &self.slots.of(side).info else { return };
        let Some(score) = info.score else { return };
        let evaluation = Evaluation::by(side, score, info.depth);
        document.play(|content| {
            if let Some(notes) = content.tree.annotations_mut(id) {
                notes.evaluation = Some(evaluation);
            }
        });
    }

    /// Ends the game: a failed engine loses.
    pub(crate) fn on_engine_failed(
        &mut self,
        document: &mut Document,
        side: Side,
        why: &ErrorInfo,
        now: Moment,
    ) -> Vec<Effect> {
        if !self.is_running() {
            return Vec::new();
        }
        self.slots.of_mut(side).search = None;
        let outcome =
            OutcomeView { detail: Some(why.clone()), ..lost(side, Termination::EngineFailure) };
        self.finish(document, outcome, now)
    }
}
