//! Opening books of the games of the database.

use std::fs::File;
use std::io::BufWriter;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use readyok_library::Library;
use readyok_rules::record::{Condition, Node, RecordMove};
use readyok_rules::{BookCounter, BookFormat, BookOptions, BookWriter};
use serde::Serialize;

use super::{failure, output_file, print_result, watched};
use crate::convert::{Progress, grouped};
use crate::exit::{Code, Failure};
use crate::terminal::print_error;

/// Moves of games that are counted in one pass: bounds the memory.
const PASS: u64 = 1 << 21;

/// What is written.
pub(crate) struct BookRequest {
    pub(crate) condition: Condition,
    pub(crate) format: BookFormat,
    pub(crate) output: PathBuf,
    pub(crate) force: bool,
    /// Maximum number of plies of each game.
    pub(crate) plies: usize,
    pub(crate) options: BookOptions,
    pub(crate) is_json: bool,
}

#[derive(Serialize)]
struct Report {
    games: u64,
    positions: u64,
    moves: u64,
    unreadable: u64,
}

/// Writes a book of the games that match.
pub(crate) fn write_book(library: &Library, request: BookRequest) -> Result<Code, Failure> {
    let BookRequest { condition, format, output, force, plies, options, is_json } = request;
    let games = watched(&condition, |filter| library.find_all(filter))?;
    let file = output_file(&output, force)?;
    let out = BufWriter::new(file.file());
    let mut writer = BookWriter::<BufWriter<&File>>::new(out, format, options);
    let parts = (games.len() as u64 * plies as u64).div_ceil(PASS).max(1);
    let done = Arc::new(AtomicU64::new(0));
    let mut progress = Progress::new("games", Some(games.len() as u64 * parts), Arc::clone(&done));
    let (mut used, mut unreadable) = (0, 0);
    for part in 0..parts {
        let mut counter = BookCounter::new(format, part, parts);
        for &id in &games {
            progress.update(done.fetch_add(1, Ordering::Relaxed) + 1);
            let Some(stored) = library.game(id).map_err(failure)? else { continue };
            if BookFormat::of(stored.summary.variant) != format {
                continue;
            }
            let record = match stored.record() {
                Ok(record) => record,
                Err(error) => {
                    if part == 0 {
                        unreadable += 1;
                        progress.clear();
                        print_error(&format!("game {id}: {error}"));
                    }
                    continue;
                }
            };
            used += u64::from(part == 0);
            let moves = record.mainline().map(|node| Node::mv(node).and_then(RecordMove::legal));
            for (position, mv) in record.positions().zip(moves).take(plies) {
                let Some(mv) = mv else { break };
                counter.add(&position, mv, record.result);
            }
        }
        writer.add(counter).map_err(Failure::failed)?;
    }
    let (out, size) = writer.finish().map_err(Failure::failed)?;
    drop(out);
    progress.clear();
    file.persist()?;
    let report = Report { games: used, positions: size.positions, moves: size.moves, unreadable };
    let text = format!(
        "{} moves of {} positions from {} games",
        grouped(size.moves),
        grouped(size.positions),
        grouped(used)
    );
    print_result(&report, &text, is_json)?;
    Ok(if unreadable > 0 { Code::Failed } else { Code::Done })
}
