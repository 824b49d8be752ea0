//! The import of a directory or a file of this computer, in a thread.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use readyok_library::{NewGame, Source};

use super::App;
use super::round::Round;
use crate::errors::io_error;
use crate::import::{Counting, Faults, is_record, read_each};
use crate::store::new_game;
use crate::time::now;
use crate::wire::{ErrorCode, ErrorInfo, ErrorSubject, JobErrorOf, JobId};

/// Maximum number of files of a directory.
const MAX_FILES: usize = 100_000;
/// Maximum number of imported games in one transaction.
const MAX_BATCH: usize = 250;
/// Maximum size of a transaction before its last game, in bytes. Moves that are played in the meantime are written
/// between two transactions.
const MAX_BATCH_BYTES: usize = 1 << 20;

impl App {
    /// Reads the remaining files of a job, in a thread that ends with the app.
    pub(super) fn read_directory(self: &Arc<Self>, id: JobId) {
        let round = Round::new(Arc::downgrade(self), &self.state(), id);
        // A thread of the runtime: engines are started from it after the last file.
        tokio::task::spawn_blocking(move || Import { round }.run());
    }
}

/// The import of the files.
struct Import {
    round: Round,
}

impl Import {
    /// Reads the remaining files. Stopping the job ends this before the next batch.
    fn run(&self) {
        let Some(stored) = self.round.stored() else { return };
        let directory = stored.directory.unwrap_or_default();
        let files = match files_of(&directory) {
            Ok(files) => files,
            Err(error) => {
                return self.round.fail(directory.display().to_string(), io_error(&error).into());
            }
        };
        let Files { files, unreadable } = files;
        if stored.files_done == 0 && stored.in_file == 0 {
            self.report_unreadable(&directory, unreadable);
        }
        let sizes: Vec<u64> =
            files.iter().map(|file| file.metadata().map_or(0, |about| about.len())).collect();
        self.set_files(files.len(), sizes.iter().sum());
        let mut skip = stored.in_file;
        let mut bytes: u64 = sizes.iter().take(stored.files_done).sum();
        for (path, size) in files.into_iter().zip(sizes).skip(stored.files_done) {
            let faults = match File::open(&path) {
                Err(error) => {
                    let mut faults = Faults::default();
                    faults.error(io_error(&error).into());
                    faults
                }
                Ok(file) => match self.read_file(&path, (file, bytes), skip) {
                    Some(faults) => faults,
                    None => return,
                },
            };
            skip = 0;
            bytes += size;
            // Names of old archives are not Unicode, such as Shift_JIS.
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            if !self.on_file_read(&name, faults, bytes) {
                return;
            }
        }
        self.round.finish();
    }

    /// Imports the games of a file after the first `skip`. `before` is the number of bytes of earlier files. Returns
    /// the faults; none if the job does not continue.
    fn read_file(
        &self,
        path: &Path,
        (file, before): (File, u64),
        mut skip: usize,
    ) -> Option<Faults> {
        let mut batch: Vec<NewGame> = Vec::new();
        let mut size = 0;
        let mut continues = true;
        let read = AtomicU64::new(before);
        let faults = read_each(path, Counting { source: file, read: &read }, |record| {
            if 0 < skip {
                skip -= 1;
                return true;
            }
            let game = new_game(record, Source::Import, now());
            size += game.moves.len() + game.annotations.len() + game.tags.len();
            batch.push(game);
            if MAX_BATCH <= batch.len() || MAX_BATCH_BYTES <= size {
                size = 0;
                continues = self.add(std::mem::take(&mut batch), read.load(Ordering::Relaxed));
            }
            continues
        });
        let continues =
            continues && (batch.is_empty() || self.add(batch, read.load(Ordering::Relaxed)));
        continues.then_some(faults)
    }

    /// Adds games. Returns whether the job continues.
    fn add(&self, games: Vec<NewGame>, bytes: u64) -> bool {
        let added = self.round.add(games, move |stored| stored.bytes = bytes);
        added.is_some_and(|added| added.blocking_recv().unwrap_or(false))
    }

    /// Reports entries of the directory that cannot be read, and files beyond the maximum.
    fn report_unreadable(&self, directory: &Path, unreadable: Vec<ErrorInfo>) {
        if unreadable.is_empty() {
            return;
        }
        let of = || JobErrorOf::File { name: directory.display().to_string() };
        self.round.change(|job| {
            for why in unreadable {
                job.add_error(of(), why);
            }
        });
    }

    fn set_files(&self, files: usize, bytes: u64) {
        self.round.change(|job| (job.stored.files, job.stored.total_bytes) = (files, bytes));
    }

    /// Returns whether the job continues.
    fn on_file_read(&self, name: &str, faults: Faults, bytes: u64) -> bool {
        self.round.change(|job| {
            job.stored.files_done += 1;
            job.stored.in_file = 0;
            job.stored.bytes = bytes;
            job.add_faults(name, faults);
        })
    }
}

/// The files of a job, by name, and why others are not read.
struct Files {
    files: Vec<PathBuf>,
    unreadable: Vec<ErrorInfo>,
}

/// The file itself, or the records in a directory. Links are followed only to files in the same directory.
fn files_of(directory: &Path) -> std::io::Result<Files> {
    let real = directory.canonicalize()?;
    let (mut files, mut unreadable) = (Vec::new(), Vec::new());
    if real.is_file() {
        files.push(real);
        return Ok(Files { files, unreadable });
    }
    for entry in fs::read_dir(&real)? {
        let path = match entry {
            Ok(entry) => entry.path(),
            Err(error) => {
                unreadable.push(io_error(&error).into());
                continue;
            }
        };
        let is_inside = || path.canonicalize().is_ok_and(|path| path.parent() == Some(&real));
        if is_record(&path) && is_inside() && path.is_file() {
            files.push(path);
        }
    }
    files.sort();
    if MAX_FILES < files.len() {
        files.truncate(MAX_FILES);
        unreadable.push(ErrorCode::TooMany { subject: ErrorSubject::File }.into());
    }
    Ok(Files { files, unreadable })
}
