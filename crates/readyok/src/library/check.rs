//! Examination and repair of the database.

use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use readyok_library::{Defect, Examined, Repaired, examine, repair};
use serde::Serialize;

use super::{Database, output_file, print_result};
use crate::convert::{Progress, grouped};
use crate::exit::{Code, Failure, on_interrupt};
use crate::terminal::print_error;

/// A defect in output.
#[derive(Serialize)]
struct Line {
    game: Option<u32>,
    defect: String,
}

impl Line {
    fn print(&self, is_json: bool) -> Result<(), Failure> {
        let text = match self.game {
            Some(game) => format!("game {game}: {}", self.defect),
            None => self.defect.clone(),
        };
        print_result(self, &text, is_json)
    }
}

#[derive(Serialize)]
struct CheckReport {
    games: u64,
    defects: u64,
}

/// The progress of a pass over all games, and whether the user has interrupted it.
fn progress() -> Result<impl FnMut(u64) -> ControlFlow<()>, Failure> {
    let stop = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&stop);
    on_interrupt(move || flag.store(true, Ordering::Release)).map_err(Failure::failed)?;
    let mut progress = Progress::new("games", None, Arc::new(AtomicU64::new(0)));
    Ok(move |games| {
        progress.update(games);
        if stop.load(Ordering::Acquire) {
            progress.clear();
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    })
}

/// Lists the defects of a database. Code 1 if there is one.
pub(crate) fn check(database: &Database, is_json: bool) -> Result<Code, Failure> {
    existing(database)?;
    let examined = examine(&database.path, progress()?);
    let Examined { games, total, defects, cancelled } =
        examined.map_err(|error| database.unusable(&error))?;
    for Defect { game, kind } in &defects {
        Line { game: *game, defect: kind.to_string() }.print(is_json)?;
    }
    let rest = total.saturating_sub(defects.len() as u64);
    if rest > 0 {
        print_error(&format!("{} more defects", grouped(rest)));
    }
    let text = format!("{} games, {} defects", grouped(games), grouped(total));
    print_result(&CheckReport { games, defects: total }, &text, is_json)?;
    Ok(match (cancelled, total) {
        (true, _) => Code::Interrupted,
        (false, 0) => Code::Done,
        (false, _) => Code::Failed,
    })
}

fn existing(database: &Database) -> Result<(), Failure> {
    let path = database.path.display();
    if database.path.exists() {
        Ok(())
    } else {
        Err(Failure::usage(format!("no database `{path}`")))
    }
}

#[derive(Serialize)]
struct RepairReport {
    file: PathBuf,
    games: u64,
    lost: usize,
    damaged: usize,
}

/// Writes what can be read of a database to a new file, and lists the rest. Code 1 if something was lost.
pub(crate) fn write_repaired(
    database: &Database,
    target: &Path,
    force: bool,
    is_json: bool,
) -> Result<Code, Failure> {
    existing(database)?;
    let same = |path: &Path| fs::canonicalize(path).ok();
    if same(target).is_some() && same(target) == same(&database.path) {
        return Err(Failure::usage("the new file would replace the damaged one"));
    }
    let file = output_file(target, force)?;
    let written = repair(&database.path, file.path(), progress()?);
    let Repaired { games, lost, damaged, parts, cancelled } =
        written.map_err(|error| database.unusable(&error))?;
    if cancelled {
        return Ok(Code::Interrupted);
    }
    file.persist()?;
    for (game, reason) in &lost {
        Line { game: Some(*game), defect: format!("lost: {reason}") }.print(is_json)?;
    }
    for (game, part) in &damaged {
        Line { game: Some(*game), defect: format!("damaged: {part}") }.print(is_json)?;
    }
    for part in &parts {
        Line { game: None, defect: part.to_string() }.print(is_json)?;
    }
    let report =
        RepairReport { file: target.to_owned(), games, lost: lost.len(), damaged: damaged.len() };
    let text = format!(
        "{} games written to `{}`, {} lost, {} damaged",
        grouped(games),
        target.display(),
        grouped(lost.len() as u64),
        grouped(damaged.len() as u64)
    );
    print_result(&report, &text, is_json)?;
    let is_whole = lost.is_empty() && damaged.is_empty() && parts.is_empty();
    Ok(if is_whole { Code::Done } else { Code::Failed })
}
