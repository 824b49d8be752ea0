//! Requests to the engines of an active game, and their answers.

use std::time::Duration;

use readyok_protocol::{Dialect, Go, MateLimit};
use readyok_rules::Move;

use crate::game::clock::GameClocks;
use crate::wire::{Limits, Side};

/// A request to the engine of a side.
#[derive(Clone, Debug)]
pub(crate) enum SearchRequest {
    /// Searches for a move, or ponders the last of the moves.
    Think {
        search_id: u64,
        /// From the start position.
        moves: Vec<Move>,
        budget: TimeBudget,
        ponder: bool,
    },
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
    limits: Limits,
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

/// A search that an engine has not finished.
#[derive(Clone, Debug)]
pub(super) struct PendingSearch {
    pub(super) id: u64,
    /// The pondered move of the opponent; none if the engine is to move.
    pub(super) ponder: Option<String>,
    pub(super) started: bool,
}

impl TimeBudget {
    pub(super) fn new(clocks: Option<GameClocks>, side: Side, limits: &Limits) -> Self {
        Self { clocks, side, limits: *limits }
    }

    /// The limits as a command. Without any the engine searches until it is stopped.
    pub(crate) fn go(&self, dialect: Dialect) -> Go<'static> {
        let Limits { depth, nodes, time, mate } = self.limits;
        let clocks = self.clocks.map(|clocks| clocks.go(self.side, dialect)).unwrap_or_default();
        let per_move = self.clocks.and_then(|clocks| clocks.per_move(self.side));
        let move_time = time.map(Duration::from_millis).into_iter().chain(per_move).min();
        let mate = mate.map(|limit| match dialect {
            Dialect::Uci => MateLimit::Moves(u32::try_from(limit).unwrap_or(u32::MAX)),
            Dialect::Usi if limit == 0 => MateLimit::Infinite,
            Dialect::Usi => MateLimit::Time(Duration::from_millis(limit)),
        });
        let go = Go { clocks, depth, nodes, move_time, mate, ..Go::default() };
        if go.is_bare() { Go::infinite() } else { go }
    }
}
