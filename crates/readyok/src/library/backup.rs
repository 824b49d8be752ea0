//! Copies of the database.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use serde::Serialize;

use super::{Database, failure, output_file, print_result};
use crate::convert::{Progress, grouped};
use crate::exit::{Code, Failure};

/// Interval in which the size of the copy is shown.
const INTERVAL: Duration = Duration::from_millis(100);

#[derive(Serialize)]
struct Report {
    file: PathBuf,
    bytes: u64,
    games: usize,
}

/// Copies the database while it can be in use, checks the copy, and moves it to its path.
pub(crate) fn back_up(
    database: &Database,
    target: &Path,
    force: bool,
    is_json: bool,
) -> Result<Code, Failure> {
    let library = database.open()?;
    let same = |path: &Path| fs::canonicalize(path).ok();
    if same(target).is_some() && same(target) == same(&database.path) {
        return Err(Failure::usage("the copy would replace the database"));
    }
    let file = output_file(target, force)?;
    let path = file.path().to_owned();
    let size = fs::metadata(&database.path).map(|metadata| metadata.len()).ok();
    let copied = Arc::new(AtomicU64::new(0));
    let mut progress = Progress::new("bytes", size, Arc::clone(&copied));
    let (sender, done) = mpsc::channel();
    let games = thread::scope(|scope| {
        scope.spawn(|| sender.send(library.back_up(&path)));
        loop {
            match done.recv_timeout(INTERVAL) {
                Ok(result) => break result.map_err(|error| failure(error).at(target)),
                Err(mpsc::RecvTimeoutError::Timeout) => {
                    let bytes = fs::metadata(&path).map_or(0, |metadata| metadata.len());
                    copied.store(bytes, Ordering::Relaxed);
                    progress.update(bytes);
                }
                Err(mpsc::RecvTimeoutError::Disconnected) => {
                    break Err(Failure::failed("the copy failed"));
                }
            }
        }
    })?;
    progress.clear();
    let bytes = fs::metadata(&path).map_err(Failure::failed)?.len();
    file.persist()?;
    let report = Report { file: target.to_owned(), bytes, games };
    let text = format!("{} games, {} bytes", grouped(games as u64), grouped(bytes));
    print_result(&report, &text, is_json)?;
    Ok(Code::Done)
}
