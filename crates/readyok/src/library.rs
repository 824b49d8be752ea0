//! `readyok library`: the database of games from the command line.

mod database;
mod explorer;
mod import;
mod search;
mod source;

pub(crate) use database::{Database, failure};
pub(crate) use explorer::{parse_position, print_explorer};
pub(crate) use import::{Import, import};
pub(crate) use search::{Form, Listing, SearchKey, search};
pub(crate) use source::stored_games;
