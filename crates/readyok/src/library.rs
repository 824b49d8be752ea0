//! `readyok library`: the database of games from the command line.

mod backup;
mod book;
mod check;
mod database;
mod duplicates;
mod explorer;
mod import;
mod names;
mod output;
mod search;
mod source;

pub(crate) use backup::back_up;
pub(crate) use book::{BookRequest, write_book};
pub(crate) use check::{check, write_repaired};
pub(crate) use database::{Database, failure};
pub(crate) use duplicates::{DuplicatesRequest, duplicates};
pub(crate) use explorer::{parse_position, print_explorer};
pub(crate) use import::{Import, import};
pub(crate) use names::{NamesAction, names};
use output::{now_ms, output_file, print_result};
pub(crate) use search::{Form, Listing, SearchKey, search};
pub(crate) use source::stored_games;
