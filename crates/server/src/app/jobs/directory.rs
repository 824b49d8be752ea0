//! The import of a directory or a file of this computer, in a thread.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};

use readyok_library::{NewGame, Source};

use super::{App, AppState, MAX_GAMES};
use crate::errors::io_error;
use crate::import::{Counting, Faults, is_record, read_each};
use crate::store::{StoreError, StoredJob, new_game};
use crate::time::{Moment, now};
use crate::wire::{ErrorCode, ErrorInfo, ErrorSubject, GameId, JobErrorOf, JobId};

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
        let (round, before) =
            self.state().jobs.get(&id).map_or((0, 0), |job| (job.round, job.stored.elapsed));
        let import = Import { app: Arc::downgrade(self), id, round, before, begun: now() };
        // A thread of the runtime: engines are started from it after the last file.
        tokio::task::spawn_blocking(move || import.run());
    }
}

/// The import of one round of a job.
struct Import {
    app: Weak<App>,
    id: JobId,
    round: u32,
    /// How long earlier rounds took.
    before: u64,
    begun: Moment,
}

impl Import {
    fn update<R>(&self, change: impl FnOnce(&mut AppState, JobId) -> R) -> Option<R> {
        Some(self.app.upgrade()?.update(|state| change(state, self.id)))
    }

    /// Whether the job still runs in this round.
    fn check<'a>(&self, state: &'a AppState) -> Option<&'a StoredJob> {
        let job = state.jobs.get(&self.id)?;
        (job.is_running() && job.round == self.round && !state.closing).then_some(&job.stored)
    }

    fn fail(&self, name: String, why: ErrorInfo) {
        self.update(|state, id| state.fail_job(id, JobErrorOf::File { name }, why));
    }

    /// Reads the remaining files. Stopping the job ends this before the next batch.
    fn run(&self) {
        let stored = self.update(|state, _| self.check(state).cloned()).flatten();
        let Some(stored) = stored else { return };
        let directory = stored.directory.unwrap_or_default();
        let files = match files_of(&directory) {
            Ok(files) => files,
            Err(error) => {
                return self.fail(directory.display().to_string(), io_error(&error).into());
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
        self.on_all_read();
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

    /// Adds games to the library and to the job, all or none. Returns whether the job continues.
    fn add(&self, mut games: Vec<NewGame>, bytes: u64) -> bool {
        let Some(app) = self.app.upgrade() else { return false };
        let this = Self { app: Weak::clone(&self.app), ..*self };
        let added = app.writer.run(move |store| {
            let free = this.update(|state, id| {
                let stored = this.check(state)?.clone();
                let free = match stored.settings {
                    Some(_) => MAX_GAMES.saturating_sub(state.jobs.get(&id)?.games.len()),
                    None => usize::MAX,
                };
                Some((stored, free))
            });
            let Some((mut stored, free)) = free.flatten() else { return false };
            let is_full = free < games.len();
            games.truncate(free);
            stored.in_file += games.len();
            stored.bytes = bytes;
            stored.elapsed = this.before + now().saturating_sub(this.begun);
            let added = store.add_games_of_job(this.id, &mut stored, games);
            let added = added.map(|games| (games, stored));
            this.update(|state, id| state.on_games_added(id, added, is_full)).unwrap_or(false)
        });
        drop(app);
        added.blocking_recv().unwrap_or(false)
    }

    /// Reports entries of the directory that cannot be read, and files beyond the maximum.
    fn report_unreadable(&self, directory: &Path, unreadable: Vec<ErrorInfo>) {
        self.update(|state, id| {
            if unreadable.is_empty() || self.check(state).is_none() {
                return;
            }
            let Some(job) = state.jobs.get_mut(&id) else { return };
            let of = || JobErrorOf::File { name: directory.display().to_string() };
            for why in unreadable {
                job.add_error(of(), why);
            }
            state.save_and_publish_job(id);
        });
    }

    fn set_files(&self, files: usize, bytes: u64) {
        self.update(|state, id| {
            if self.check(state).is_some()
                && let Some(job) = state.jobs.get_mut(&id)
            {
                (job.stored.files, job.stored.total_bytes) = (files, bytes);
                state.save_and_publish_job(id);
            }
        });
    }

    /// Returns whether the job continues.
    fn on_file_read(&self, name: &str, faults: Faults, bytes: u64) -> bool {
        let read = self.update(|state, id| {
            self.check(state)?;
            let job = state.jobs.get_mut(&id)?;
            job.stored.files_done += 1;
            job.stored.in_file = 0;
            job.stored.bytes = bytes;
            job.add_faults(name, faults);
            state.save_and_publish_job(id);
            Some(())
        });
        read.flatten().is_some()
    }

    fn on_all_read(&self) {
        let Some(app) = self.app.upgrade() else { return };
        app.update(|state| {
            if self.check(state).is_none() {
                return;
            }
            if let Some(job) = state.jobs.get_mut(&self.id) {
                job.stored.read = true;
                state.save_and_publish_job(self.id);
            }
            state.start_reports();
        });
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

impl AppState {
    /// Games were added to a job, or could not be. Returns whether it continues.
    fn on_games_added(
        &mut self,
        id: JobId,
        added: Result<(Vec<GameId>, StoredJob), StoreError>,
        is_full: bool,
    ) -> bool {
        let Some(job) = self.jobs.get_mut(&id) else { return false };
        let name = job.stored.directory.clone().unwrap_or_default().display().to_string();
        let why = match added {
            Ok((games, stored)) => {
                let kept = &mut job.stored;
                (kept.in_file, kept.batches) = (stored.in_file, stored.batches);
                (kept.imported, kept.duplicates) = (stored.imported, stored.duplicates);
                kept.undecided = stored.undecided;
                (kept.bytes, kept.elapsed) = (stored.bytes, stored.elapsed);
                job.games.extend(games);
                if !is_full {
                    self.publish_job(id);
                    return true;
                }
                ErrorCode::TooMany { subject: ErrorSubject::Game }
            }
            Err(error) => ErrorCode::system(&error),
        };
        self.fail_job(id, JobErrorOf::File { name }, why.into());
        false
    }
}
