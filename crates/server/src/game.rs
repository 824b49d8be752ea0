//! Games: their trees, their clocks, and who is to do what. No I/O, no threads; time is passed in.

mod clock;
pub(crate) mod here;
mod judge;
mod problem;
mod refused;
mod room;
mod setup;
mod tree;
mod unread;

pub(crate) use here::passed;
pub(crate) use judge::{Searched, judge, summary, winning};
pub(crate) use problem::{illegal, move_problem, position_problem, unplayable};
pub(crate) use refused::{no_such, odd_text, refusal, too_many};
pub(crate) use room::{Ask, Effect, Engines, Kept, Origin, Room, Snapshot, Spoken, check_players};
pub(crate) use setup::{open, read_start};
pub(crate) use tree::{MOST_PLIES, ROOT, Tree};
pub(crate) use unread::{
    bad_openings, epd_failure, io_problem, oddity_failure, record_failure, unwritten,
};
