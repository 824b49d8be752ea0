//! Games: their trees, their clocks, and who is to do what. No I/O, no threads; time is passed in.

mod api_error;
mod clock;
mod judge;
pub(crate) mod position_view;
mod problem;
mod session;
mod setup;
mod tree;
mod unread;

pub(crate) use api_error::{api_error, malformed_text, no_such, too_many};
pub(crate) use judge::{Searched, judge, summary, winning};
pub(crate) use position_view::passed;
pub(crate) use problem::{illegal, illegal_problem, position_problem, unplayable};
pub(crate) use session::{
    ActiveGame, Document, Effect, EngineAnswer, EngineMove, GameSession, GameSnapshot, Origin,
    SearchRequest, StoredSession, check_players, parse_move,
};
pub(crate) use setup::{open, read_start};
pub(crate) use tree::{MAX_PLIES, ROOT, Tree};
pub(crate) use unread::{
    bad_openings, epd_failure, io_problem, record_failure, unwritten, warning_failure,
};
