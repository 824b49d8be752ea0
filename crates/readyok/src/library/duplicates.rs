//! Duplicates in the database.

use std::io::{self, BufWriter, Write};

use readyok_library::{DuplicateGroup, Library};
use serde::Serialize;

use super::search::{Row, width};
use super::{Database, failure};
use crate::convert::grouped;
use crate::exit::{Code, Failure};
use crate::terminal::{print, print_error};

/// What is done with duplicates.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DuplicatesRequest {
    /// Only games with equal moves.
    pub(crate) is_exact: bool,
    /// Deletes all but the game to keep of each group.
    pub(crate) deletes: bool,
    pub(crate) is_json: bool,
}

#[derive(Serialize)]
struct Group<'a> {
    keep: u32,
    others: &'a [u32],
    beginnings: &'a [u32],
}

/// Lists groups of duplicates, or deletes all but one game of each.
pub(crate) fn duplicates(database: &Database, request: DuplicatesRequest) -> Result<Code, Failure> {
    let DuplicatesRequest { is_exact, deletes, is_json } = request;
    if deletes && database.is_in_app() {
        let text = "the app is running, which may have games open: delete duplicates there";
        return Err(Failure::usage(text));
    }
    let library = database.open()?;
    let mut groups = library.duplicates().map_err(failure)?;
    if is_exact {
        groups = groups.iter().filter_map(exact).collect();
    }
    let surplus: Vec<u32> = groups.iter().flat_map(|group| group.others.iter().copied()).collect();
    let listed = list(&library, &groups, is_json);
    match listed {
        Err(Failed::Io(error)) if error.kind() == io::ErrorKind::BrokenPipe => (),
        Err(Failed::Io(error)) => return Err(Failure::failed(error)),
        Err(Failed::Library(error)) => return Err(failure(error)),
        Ok(()) => (),
    }
    let count = grouped(surplus.len() as u64);
    if deletes {
        let deleted = library.delete(surplus).map_err(|error| database.failed(error))?;
        print_error(&format!("{} games deleted", grouped(deleted as u64)));
    } else if !is_json {
        print(&format!("{count} surplus games in {} groups", grouped(groups.len() as u64)));
    }
    Ok(Code::Done)
}

/// The group without games that are only the beginning of another, or none if one game remains.
fn exact(group: &DuplicateGroup) -> Option<DuplicateGroup> {
    let is_whole = |game: &u32| group.prefixes.binary_search(game).is_err();
    let all = std::iter::once(group.kept).chain(group.others.iter().copied());
    let mut whole: Vec<u32> = all.filter(is_whole).collect();
    // The game to keep can be a beginning with comments.
    let kept = if is_whole(&group.kept) { group.kept } else { whole.iter().copied().min()? };
    whole.retain(|game| *game != kept);
    (!whole.is_empty()).then_some(DuplicateGroup { kept, others: whole, prefixes: Vec::new() })
}

enum Failed {
    Io(io::Error),
    Library(readyok_library::Error),
}

impl From<io::Error> for Failed {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

fn list(library: &Library, groups: &[DuplicateGroup], is_json: bool) -> Result<(), Failed> {
    let mut out = BufWriter::new(io::stdout().lock());
    let width = width().saturating_sub(10);
    for DuplicateGroup { kept, others, prefixes } in groups {
        if is_json {
            let group = Group { keep: *kept, others, beginnings: prefixes };
            serde_json::to_writer(&mut out, &group).map_err(io::Error::from)?;
            writeln!(out)?;
            continue;
        }
        let games = [&[*kept][..], others].concat();
        for entry in library.entries(&games).map_err(Failed::Library)? {
            let kind = match entry.id {
                id if id == *kept => "keep",
                id if prefixes.binary_search(&id).is_ok() => "beginning",
                _ => "duplicate",
            };
            writeln!(out, "{kind:<9} {}", Row::new(entry).line(width))?;
        }
        writeln!(out)?;
    }
    Ok(out.flush()?)
}
