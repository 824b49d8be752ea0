//! A folder that a job reads into the library, file after file.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Weak};

use super::super::failures::too_many_games;
use super::super::library::{Batch, row_of};
use super::super::{App, AppState};
use super::{MOST_GAMES, StoredJob};
use crate::game::io_problem;
use crate::import::{is_record, read_each};
use crate::store::{Row, StoreError};
use crate::time::now;
use crate::wire::{Failure, GameId, JobErrorOf, JobId, Problem, ProblemKind};

/// So many files of a folder are read, and none that is larger.
const MOST_FILES: usize = 100_000;
const LARGEST_FILE: u64 = 64 << 20;

impl App {
    /// Reads the files of a job that are not read yet, in a thread that ends with the app.
    pub(super) fn read_on(self: &Arc<Self>, id: JobId) {
        let app = Arc::downgrade(self);
        let round = self.state().jobs.get(&id).map_or(0, |job| job.round);
        // A thread of the runtime: engines are started from it when the last file is read.
        tokio::task::spawn_blocking(move || read_folder(&app, id, round));
    }
}

impl App {
    /// Adds games that were read to the library and to their job, all or none. Returns whether the job goes on.
    fn add_to_job(self: &Arc<Self>, id: JobId, round: u32, rows: Vec<Row>) -> bool {
        let app = Arc::downgrade(self);
        let added = self.writer.run(move |store| {
            let Some(app) = app.upgrade() else { return false };
            let Some((mut kept, room)) = app.state().room_in_job(id, round) else { return false };
            let fitting = rows.get(..room).unwrap_or(&rows);
            kept.in_file += fitting.len();
            let added = store.add_games_of_job(id, &kept, fitting, now());
            let full = fitting.len() < rows.len();
            app.state().games_are_added(id, added, full)
        });
        added.blocking_recv().unwrap_or(false)
    }
}

/// Reads what is left of a job's folder. Stopping the job ends this before the next games.
fn read_folder(app: &Weak<App>, id: JobId, round: u32) {
    let Some(kept) = app.upgrade().and_then(|app| app.state().reading(id, round).cloned()) else {
        return;
    };
    let folder = kept.folder.unwrap_or_default();
    let files = match files_of(&folder) {
        Ok(files) => files,
        Err(error) => {
            if let Some(app) = app.upgrade() {
                let of = JobErrorOf::File { name: folder.display().to_string() };
                app.state().fail_job(id, of, Failure::new(io_problem(&error), error.to_string()));
            }
            return;
        }
    };
    if let Some(app) = app.upgrade() {
        app.state().count_files(id, round, files.len());
    }
    let mut skip = kept.in_file;
    for path in files.into_iter().skip(kept.files_done) {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let mut goes_on = true;
        let errors = match contents(&path) {
            Err(why) => vec![why],
            Ok(bytes) => {
                let mut batch = Batch::default();
                let keep = |batch: &mut Batch| {
                    let rows = batch.take();
                    app.upgrade().is_some_and(|app| app.add_to_job(id, round, rows))
                };
                let faults = read_each(name, &bytes, |tree| {
                    if 0 < skip {
                        skip -= 1;
                        return true;
                    }
                    goes_on = match row_of(tree, now()) {
                        Ok(row) => !batch.push(row) || keep(&mut batch),
                        Err(why) => {
                            if let Some(app) = app.upgrade() {
                                let of = JobErrorOf::File { name: name.to_owned() };
                                app.state().fail_job(id, of, why.into());
                            }
                            false
                        }
                    };
                    goes_on
                });
                goes_on = goes_on && (batch.is_empty() || keep(&mut batch));
                faults.errors
            }
        };
        skip = 0;
        let Some(app) = app.upgrade().filter(|_| goes_on) else { return };
        if !app.state().file_is_read(id, round, name, errors) {
            return;
        }
    }
    if let Some(app) = app.upgrade() {
        app.state().folder_is_read(id, round);
    }
}

/// The records in a folder, by name. Links are followed only to files beside them.
fn files_of(folder: &Path) -> std::io::Result<Vec<PathBuf>> {
    let real = folder.canonicalize()?;
    let mut files: Vec<PathBuf> = fs::read_dir(&real)?
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.to_str().is_some_and(is_record))
        .filter(|path| path.canonicalize().is_ok_and(|it| it.parent() == Some(&real)))
        .filter(|path| path.is_file())
        .take(MOST_FILES)
        .collect();
    files.sort();
    Ok(files)
}

fn contents(path: &Path) -> Result<Vec<u8>, Failure> {
    let unread = |error| Failure::new(io_problem(&error), error.to_string());
    if LARGEST_FILE < path.metadata().map_err(unread)?.len() {
        let limit = LARGEST_FILE >> 20;
        let why = Problem::new(ProblemKind::FileTooLarge).with("limit", &limit);
        return Err(Failure::new(why, format!("it is larger than {limit} MiB")));
    }
    fs::read(path).map_err(unread)
}

impl AppState {
    /// Where the reading of a folder stands, while it is to go on.
    fn reading(&self, id: JobId, round: u32) -> Option<&StoredJob> {
        let job = self.jobs.get(&id)?;
        (job.is_running() && job.round == round && !self.closing).then_some(&job.kept)
    }

    fn count_files(&mut self, id: JobId, round: u32, files: usize) {
        if self.reading(id, round).is_some()
            && let Some(job) = self.jobs.get_mut(&id)
        {
            job.kept.files = files;
            self.job_changed(id);
        }
    }

    /// A job that is read, and how many games it may still have.
    fn room_in_job(&self, id: JobId, round: u32) -> Option<(StoredJob, usize)> {
        let kept = self.reading(id, round)?.clone();
        let games = self.jobs.get(&id)?.games.len();
        Some((kept, MOST_GAMES.saturating_sub(games)))
    }

    /// Games were added to a job, or could not be. Returns whether it goes on.
    fn games_are_added(
        &mut self,
        id: JobId,
        added: Result<Vec<GameId>, StoreError>,
        full: bool,
    ) -> bool {
        let Some(job) = self.jobs.get_mut(&id) else { return false };
        let folder = job.kept.folder.clone().unwrap_or_default();
        let of = JobErrorOf::File { name: folder.display().to_string() };
        match added {
            Ok(games) => {
                job.kept.in_file += games.len();
                job.games.extend(games);
                if full {
                    self.fail_job(id, of, too_many_games());
                } else {
                    self.publish_job(id);
                }
                !full
            }
            Err(error) => {
                self.fail_job(id, of, Failure::system(&error));
                false
            }
        }
    }

    fn file_is_read(&mut self, id: JobId, round: u32, name: &str, errors: Vec<Failure>) -> bool {
        if self.reading(id, round).is_none() {
            return false;
        }
        let Some(job) = self.jobs.get_mut(&id) else { return false };
        job.kept.files_done += 1;
        job.kept.in_file = 0;
        for why in errors {
            job.note(JobErrorOf::File { name: name.to_owned() }, why);
        }
        self.job_changed(id);
        true
    }

    fn folder_is_read(&mut self, id: JobId, round: u32) {
        if self.reading(id, round).is_none() {
            return;
        }
        if let Some(job) = self.jobs.get_mut(&id) {
            job.kept.read = true;
            self.job_changed(id);
        }
        self.next_report();
    }
}
