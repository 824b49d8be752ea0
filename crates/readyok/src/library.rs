//! `readyok library`: the database of games from the command line.

mod backup;
mod book;
mod check;
mod database;
mod duplicates;
mod explorer;
mod import;
mod merge;
mod names;
mod output;
mod repertoire;
mod search;
mod source;

pub(crate) use backup::back_up;
pub(crate) use book::{BookRequest, write_book};
pub(crate) use check::{check, write_repaired};
use database::watched;
pub(crate) use database::{Database, failure};
pub(crate) use duplicates::{DuplicatesRequest, duplicates};
pub(crate) use explorer::{parse_position, print_explorer};
pub(crate) use import::{Import, import};
pub(crate) use merge::{MergeRequest, merge};
pub(crate) use names::{NamesAction, names};
use output::{cannot_write, now_ms, output_file, print_result};
pub(crate) use repertoire::{RepertoireRequest, read_trees, repertoire};
pub(crate) use search::{Form, Listing, SearchKey, search};
pub(crate) use source::stored_games;
