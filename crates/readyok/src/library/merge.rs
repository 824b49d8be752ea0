//! One tree of the moves of games of the database.

use std::io::{self, Write as _};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use readyok_library::Library;
use readyok_rules::record::{Condition, Format, OpeningTree, OpeningTreeOptions, write};
use serde::Serialize;

use super::{cannot_write, failure, output_file, print_result, watched};
use crate::convert::{FileFormat, Progress, grouped};
use crate::exit::{Code, Failure};
use crate::terminal::print_error;

/// What is merged and written.
pub(crate) struct MergeRequest {
    pub(crate) condition: Condition,
    pub(crate) options: OpeningTreeOptions,
    /// Standard output if `None`.
    pub(crate) output: Option<PathBuf>,
    pub(crate) force: bool,
    pub(crate) is_json: bool,
}

#[derive(Serialize)]
struct Report {
    games: usize,
    moves: usize,
    omitted: usize,
    other_starts: usize,
    cut: usize,
    unreadable: usize,
}

/// Writes one tree of the main lines of the games that match. The first game determines the start position.
pub(crate) fn merge(library: &Library, request: &MergeRequest) -> Result<Code, Failure> {
    let MergeRequest { condition, options, output, force, is_json } = request;
    let format = match output.as_deref().map(FileFormat::of) {
        None => Format::PGN,
        Some(Some(FileFormat::Record(format))) => format,
        Some(_) => return Err(Failure::usage("--output needs the extension of a record format")),
    };
    let file = output.as_deref().map(|path| output_file(path, *force)).transpose()?;
    let games = watched(condition, |filter| library.find_all(filter))?;
    let done = Arc::new(AtomicU64::new(0));
    let mut progress = Progress::new("games", Some(games.len() as u64), Arc::clone(&done));
    let mut tree: Option<OpeningTree> = None;
    let (mut other_starts, mut unreadable) = (0, 0);
    for id in games {
        progress.update(done.fetch_add(1, Ordering::Relaxed) + 1);
        let Some(stored) = library.game(id).map_err(failure)? else { continue };
        match stored.record() {
            Ok(record) => {
                let tree = tree.get_or_insert_with(|| OpeningTree::new(record.start(), *options));
                other_starts += usize::from(!tree.add(&record));
            }
            Err(error) => {
                unreadable += 1;
                progress.clear();
                print_error(&format!("game {id}: {error}"));
            }
        }
    }
    progress.clear();
    let tree = tree.ok_or_else(|| Failure::failed("no game matches"))?;
    if !format.supports(tree.start().game()) {
        let game = tree.start().game().name();
        return Err(Failure::usage(format!("{} has no games of {game}", format.name())));
    }
    let (games, cut) = (tree.len(), tree.cut_games());
    let (record, omitted) = tree.record().map_err(Failure::failed)?;
    let mut text = Vec::new();
    write(&record, format, &mut text).map_err(Failure::failed)?;
    let moves = record.len();
    let report = Report { games, moves, omitted, other_starts, cut, unreadable };
    if let (Some(file), Some(path)) = (file, output) {
        let written = file.file().write_all(&text);
        written.map_err(|error| cannot_write(path, &error))?;
        file.persist()?;
        print_result(&report, "", *is_json)?;
    } else {
        match io::stdout().lock().write_all(&text) {
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
                return Err(Failure::failed(error));
            }
            _ => (),
        }
    }
    let counted = |count: usize, what: &str| match count {
        0 => String::new(),
        count => format!("; {} {what}", grouped(count as u64)),
    };
    print_error(&format!(
        "{} moves of {} games{}{}{}",
        grouped(moves as u64),
        grouped(games as u64),
        counted(omitted, "rare moves left out"),
        counted(other_starts, "games from other positions left out"),
        counted(cut, "games cut: too many positions"),
    ));
    Ok(if unreadable + cut > 0 { Code::Failed } else { Code::Done })
}
