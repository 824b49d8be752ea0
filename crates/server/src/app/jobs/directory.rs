//! The import of a directory by a job, file after file.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Weak};

use super::{Jobs, MAX_GAMES};
use crate::app::App;
use crate::app::context::Context;
use crate::app::library::{Batch, row_of};
use crate::game::io_error;
use crate::import::{is_record, read_each};
use crate::store::StoredJob;
use crate::store::{Row, StoreError};
use crate::time::now;
use crate::wire::{ErrorCode, ErrorInfo, ErrorSubject, GameId, JobErrorOf, JobId};

/// Maximum number of files of a directory.
const MAX_FILES: usize = 100_000;
/// Maximum size of a file, in bytes.
const MAX_FILE: u64 = 64 << 20;

impl App {
    /// Reads the remaining files of a job, in a thread that ends with the app.
    pub(super) fn read_directory(self: &Arc<Self>, id: JobId) {
        let round = self.update(|it, _| it.jobs.jobs.get(&id).map_or(0, |job| job.round));
        let import = Import { app: Arc::downgrade(self), id, round };
        // A thread of the runtime: engines are started from it after the last file.
        tokio::task::spawn_blocking(move || import.run());
    }
}

/// The import of one round of a job.
struct Import {
    app: Weak<App>,
    id: JobId,
    round: u32,
}

impl Import {
    fn update<R>(&self, change: impl FnOnce(&mut Jobs, &mut Context<'_>, JobId) -> R) -> Option<R> {
        Some(self.app.upgrade()?.update(|it, cx| change(it.jobs, cx, self.id)))
    }

    /// Whether the job still runs in this round.
    fn check<'a>(&self, jobs: &'a Jobs, cx: &Context<'_>) -> Option<&'a StoredJob> {
        let job = jobs.jobs.get(&self.id)?;
        (job.is_running() && job.round == self.round && !cx.closing).then_some(&job.stored)
    }

    fn fail(&self, name: String, why: ErrorInfo) {
        self.update(|jobs, cx, id| jobs.fail(cx, id, JobErrorOf::File { name }, why));
    }

    /// Reads the remaining files. Stopping the job ends this before the next batch.
    fn run(&self) {
        let stored = self.update(|jobs, cx, _| self.check(jobs, cx).cloned()).flatten();
        let Some(stored) = stored else { return };
        let directory = stored.directory.unwrap_or_default();
        let files = match files_of(&directory) {
            Ok(files) => files,
            Err(error) => {
                return self.fail(directory.display().to_string(), io_error(&error).into());
            }
        };
        self.set_file_count(files.len());
        let mut skip = stored.in_file;
        for path in files.into_iter().skip(stored.files_done) {
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            let errors = match contents(&path) {
                Err(why) => vec![why],
                Ok(bytes) => match self.read_file(name, &bytes, skip) {
                    Some(errors) => errors,
                    None => return,
                },
            };
            skip = 0;
            if !self.on_file_read(name, errors) {
                return;
            }
        }
        self.on_all_read();
    }

    /// Imports the games of a file after the first `skip`. Returns its errors; none if the job does not continue.
    fn read_file(&self, name: &str, bytes: &[u8], mut skip: usize) -> Option<Vec<ErrorInfo>> {
        let mut batch = Batch::default();
        let mut continues = true;
        let faults = read_each(name, bytes, |tree| {
            if 0 < skip {
                skip -= 1;
                return true;
            }
            continues = match row_of(tree, now()) {
                Ok(row) => !batch.push(row) || self.add(batch.take()),
                Err(why) => {
                    self.fail(name.to_owned(), why.into());
                    false
                }
            };
            continues
        });
        let continues = continues && (batch.is_empty() || self.add(batch.take()));
        continues.then_some(faults.errors)
    }

    /// Adds games to the library and to the job, all or none. Returns whether the job continues.
    fn add(&self, rows: Vec<Row>) -> bool {
        let Some(app) = self.app.upgrade() else { return false };
        let this = Self { app: Weak::clone(&self.app), ..*self };
        let added = app.writer.run(move |store| {
            let free = this.update(|jobs, cx, id| {
                let stored = this.check(jobs, cx)?.clone();
                Some((stored, MAX_GAMES.saturating_sub(jobs.jobs.get(&id)?.games.len())))
            });
            let Some((mut stored, free)) = free.flatten() else { return false };
            let fitting = rows.get(..free).unwrap_or(&rows);
            stored.in_file += fitting.len();
            let added = store.add_games_of_job(this.id, &stored, fitting, now());
            let is_full = fitting.len() < rows.len();
            this.update(|jobs, cx, id| jobs.on_games_added(cx, id, added, is_full)).unwrap_or(false)
        });
        drop(app);
        added.blocking_recv().unwrap_or(false)
    }

    fn set_file_count(&self, files: usize) {
        self.update(|jobs, cx, id| {
            if self.check(jobs, cx).is_some()
                && let Some(job) = jobs.jobs.get_mut(&id)
            {
                job.stored.files = files;
                jobs.save_and_publish(cx, id);
            }
        });
    }

    /// Returns whether the job continues.
    fn on_file_read(&self, name: &str, errors: Vec<ErrorInfo>) -> bool {
        let read = self.update(|jobs, cx, id| {
            self.check(jobs, cx)?;
            let job = jobs.jobs.get_mut(&id)?;
            job.stored.files_done += 1;
            job.stored.in_file = 0;
            for why in errors {
                job.add_error(JobErrorOf::File { name: name.to_owned() }, why);
            }
            jobs.save_and_publish(cx, id);
            Some(())
        });
        read.flatten().is_some()
    }

    fn on_all_read(&self) {
        let Some(app) = self.app.upgrade() else { return };
        app.update(|it, cx| {
            if self.check(it.jobs, cx).is_none() {
                return;
            }
            if let Some(job) = it.jobs.jobs.get_mut(&self.id) {
                job.stored.read = true;
                it.jobs.save_and_publish(cx, self.id);
            }
            it.reports.start_next(it.games, it.engines, cx);
        });
    }
}

/// The records in a directory, by name. Links are followed only to files in the same directory.
fn files_of(directory: &Path) -> std::io::Result<Vec<PathBuf>> {
    let real = directory.canonicalize()?;
    let mut files: Vec<PathBuf> = fs::read_dir(&real)?
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.to_str().is_some_and(is_record))
        .filter(|path| path.canonicalize().is_ok_and(|it| it.parent() == Some(&real)))
        .filter(|path| path.is_file())
        .take(MAX_FILES)
        .collect();
    files.sort();
    Ok(files)
}

fn contents(path: &Path) -> Result<Vec<u8>, ErrorInfo> {
    let unreadable = |error| io_error(&error);
    if MAX_FILE < path.metadata().map_err(unreadable)?.len() {
        return Err(ErrorCode::FileTooLarge { limit: MAX_FILE >> 20 }.into());
    }
    Ok(fs::read(path).map_err(unreadable)?)
}

impl Jobs {
    /// Games were added to a job, or could not be. Returns whether it continues.
    fn on_games_added(
        &mut self,
        cx: &mut Context<'_>,
        id: JobId,
        added: Result<Vec<GameId>, StoreError>,
        is_full: bool,
    ) -> bool {
        let Some(job) = self.jobs.get_mut(&id) else { return false };
        let name = job.stored.directory.clone().unwrap_or_default().display().to_string();
        let why = match added {
            Ok(games) => {
                job.stored.in_file += games.len();
                job.games.extend(games);
                if !is_full {
                    self.publish(cx, id);
                    return true;
                }
                ErrorCode::TooMany { subject: ErrorSubject::Game }
            }
            Err(error) => ErrorCode::system(&error),
        };
        self.fail(cx, id, JobErrorOf::File { name }, why.into());
        false
    }
}
