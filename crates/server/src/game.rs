//! Games: their trees, their clocks, and who is to do what. No I/O, no threads; time is passed in.

mod clock;
pub(crate) mod here;
mod judge;
mod problem;
mod room;
mod setup;
mod tree;

pub(crate) use here::passed;
pub(crate) use judge::{Searched, judge, summary, winning};
pub(crate) use problem::illegal;
pub(crate) use room::{Ask, Effect, Engines, Kept, Room, Spoken, check_players, refusal};
pub(crate) use setup::{open, read_start};
pub(crate) use tree::{ROOT, Tree};
