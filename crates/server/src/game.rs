//! Games: trees, clocks, sessions. No I/O, no threads; the time is a parameter.

mod clock;
mod judge;
pub(crate) mod position_view;
mod session;
mod setup;
mod tree;

pub(crate) use judge::{judge, summary};
pub(crate) use session::{
    ActiveGame, Document, Draft, Effect, EngineAnswer, EngineMove, GameSession, Origin, Published,
    SearchRequest, StoredSession, TimeBudget, check_players, no_node, parse_move,
};
pub(crate) use setup::{open, read_start};
pub(crate) use tree::{EngineLine, ROOT, Tree};
