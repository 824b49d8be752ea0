//! Jobs on many games: a directory or a file is imported, then the games are reported on one after another.
//!
//! ```text
//!  start ──> files of the directory (a thread) ──> games (reports, one at a time) ──> done
//!              └──────────── stopped, or the server has exited ─────┴──> resumed where it stopped
//! ```
//! Games that are not open are loaded as background sessions, which the user does not see.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};

use readyok_client::EngineFailureKind;
use readyok_library::{NewGame, Source};
use readyok_rules::MoveCodec;

use super::reports::NextReport;
use super::saving::{ReadSession, Reply, written};
use super::{App, AppState};
use crate::errors::io_error;
use crate::game::GameSession;
use crate::import::{Faults, is_cut, is_record, read_each};
use crate::store::{StoreError, StoredJob, new_game, storage};
use crate::time::{date, now};
use crate::wire::{
    Answer, ApiError, Delta, Duplicates, EngineId, ErrorCategory, ErrorCode, ErrorInfo,
    ErrorSubject, GameId, Job as JobState, JobError, JobErrorOf, JobId, JobsDelta, JobsState,
    ReportSettings, ReportStatus, Topic,
};

/// Maximum number of games that a job reports on.
const MAX_GAMES: usize = 100_000;
/// Maximum number of reported errors of a job.
const MAX_ERRORS: usize = 20;
/// Number of successive failed games after which the job fails, because the engine is the cause.
const MAX_FAILURES: u32 = 3;
/// Maximum number of jobs in the list.
const MAX_JOBS: usize = 100;

pub(super) struct Job {
    stored: StoredJob,
    games: Vec<GameId>,
    status: ReportStatus,
    current: Option<GameId>,
    /// Number of successive failures.
    failures: u32,
    /// Counts the starts of the job: results of an earlier round are ignored.
    round: u32,
}

impl Job {
    pub(super) fn restored(stored: StoredJob, games: Vec<GameId>) -> Self {
        let status = if stored.over { ReportStatus::Done } else { ReportStatus::Stopped };
        Self { stored, games, status, current: None, failures: 0, round: 0 }
    }

    fn state(&self, id: JobId) -> JobState {
        let count = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        JobState {
            id,
            added: self.stored.added,
            directory: self
                .stored
                .directory
                .as_ref()
                .map(|directory| directory.display().to_string()),
            settings: self.stored.settings.clone(),
            status: self.status,
            files_done: count(self.stored.files_done),
            files: count(self.stored.files),
            games: match self.stored.settings {
                Some(_) => count(self.games.len()),
                None => count(self.stored.imported),
            },
            duplicates: self.stored.duplicates,
            undecided: self.stored.undecided,
            bytes: self.stored.bytes,
            total_bytes: self.stored.total_bytes,
            done: count(self.stored.done),
            failed: self.stored.failed,
            current: self.current,
            errors: self.stored.faults.clone(),
            notices: self.stored.notices.clone(),
            total_errors: self.stored.total_faults.max(count(self.stored.faults.len())),
            total_notices: self.stored.total_notices.max(count(self.stored.notices.len())),
        }
    }

    fn add_error(&mut self, of: JobErrorOf, why: ErrorInfo) {
        self.list_errors([JobError { of, why }], 1);
    }

    /// Lists the errors for which there is room, of a number of them.
    fn list_errors(&mut self, errors: impl IntoIterator<Item = JobError>, total: u32) {
        let room = MAX_ERRORS.saturating_sub(self.stored.faults.len());
        self.stored.faults.extend(errors.into_iter().take(room));
        self.stored.total_faults = self.stored.total_faults.saturating_add(total);
    }

    pub(super) fn is_running(&self) -> bool {
        self.status == ReportStatus::Running
    }
}

impl App {
    /// Imports a directory or a file, and reports on its games if settings are given.
    pub(super) async fn start_directory(
        self: &Arc<Self>,
        path: PathBuf,
        settings: Option<ReportSettings>,
        duplicate_choice: Duplicates,
    ) -> Result<Answer, ApiError> {
        let directory = Some(path);
        let stored = StoredJob { directory, settings, duplicate_choice, ..StoredJob::default() };
        let id = self.add_job(stored, Vec::new()).await?;
        self.read_directory(id);
        Ok(Answer::Job { id })
    }

    pub(super) fn resume_job(self: &Arc<Self>, id: JobId) -> Reply {
        let mut has_files = false;
        let reply = self.change(|state| {
            has_files = state.continue_job(id)?;
            if !has_files {
                state.start_reports();
            }
            Ok(Answer::Done)
        });
        if has_files {
            self.read_directory(id);
        }
        reply
    }

    /// Enqueues reports. A stopped one with the same settings is resumed.
    pub(super) async fn start_report(
        &self,
        games: Vec<GameId>,
        settings: ReportSettings,
    ) -> Result<Answer, ApiError> {
        self.state().registry.get(settings.engine)?;
        let id = match *games.as_slice() {
            [] => return Err(ApiError::new(ErrorCategory::NotFound, ErrorCode::NoGames)),
            [id] => id,
            _ => return self.report_on_many(games, settings).await,
        };
        self.open_game(id).await?;
        let begun = self.update(|state| {
            let begun = state.enqueue_report(id, &settings)?;
            state.start_reports();
            Ok::<_, ApiError>(begun)
        })?;
        if let Some(begun) = begun
            && let Err(error) = written(begun).await
        {
            self.on_report_not_saved(id, error.clone().into());
            return Err(error);
        }
        Ok(Answer::Done)
    }

    fn on_report_not_saved(&self, game: GameId, why: ErrorInfo) {
        self.update(|state| {
            if state.on_report_not_saved(game, why) {
                state.on_report_finished(game);
                state.start_reports();
            }
        });
    }

    /// Reports on games one after another.
    pub(super) async fn report_on_many(
        &self,
        games: Vec<GameId>,
        settings: ReportSettings,
    ) -> Result<Answer, ApiError> {
        if MAX_GAMES < games.len() {
            return Err(ApiError::too_many(ErrorSubject::Game));
        }
        let stored = StoredJob { settings: Some(settings), read: true, ..StoredJob::default() };
        let id = self.add_job(stored, games).await?;
        self.update(AppState::start_reports);
        Ok(Answer::Job { id })
    }

    async fn add_job(&self, stored: StoredJob, games: Vec<GameId>) -> Result<JobId, ApiError> {
        let stored = StoredJob { added: date(now()), ..stored };
        self.state().check_job(&stored)?;
        let (row, of_job) = (stored.clone(), games.clone());
        let id = self.writer.call(move |store| store.new_job(&row, &of_job)).await;
        let id = id.map_err(storage)?;
        let mut job = Job::restored(stored, games);
        job.status = ReportStatus::Running;
        self.update(|state| {
            state.jobs.insert(id, job);
            state.publish_job(id);
        });
        Ok(id)
    }

    /// Deletes a job; the games and their reports stay.
    pub(super) async fn delete_job(&self, id: JobId) -> Result<Answer, ApiError> {
        self.update(|state| state.stop_job_if_running(id))?;
        self.writer.call(move |store| store.delete_job(id)).await.map_err(storage)?;
        self.update(|state| {
            // Another tab may have resumed it, or deleted it, in the meantime.
            if state.stop_job_if_running(id).is_ok() {
                state.jobs.remove(&id);
                let delta = JobsDelta { changed: Vec::new(), removed: vec![id] };
                state.hub.publish(Topic::Jobs, Delta::Jobs(delta));
            }
        });
        Ok(Answer::Done)
    }

    /// Loads the next game of a job.
    async fn load_for_job(&self, id: JobId, round: u32, game: GameId) {
        self.load(game, |state, loaded| state.on_game_loaded((id, round), game, loaded)).await;
    }
}

impl AppState {
    fn on_game_loaded(
        &mut self,
        (id, round): (JobId, u32),
        game: GameId,
        loaded: Result<ReadSession, ApiError>,
    ) {
        let is_current =
            |job: &&Job| job.is_running() && job.round == round && job.current == Some(game);
        let Some(job) = self.jobs.get(&id).filter(is_current).filter(|_| !self.closing) else {
            return;
        };
        let Some(settings) = job.stored.settings.clone() else { return };
        match loaded {
            Ok((session, report)) => {
                self.add_background(session);
                self.restore_report(game, report);
                self.enqueue_report_of_job(id, game, &settings);
            }
            Err(error) => self.on_game_done(id, Some((game, error.into()))),
        }
        self.start_reports();
    }

    pub(super) fn jobs_state(&self) -> JobsState {
        JobsState { jobs: self.jobs.iter().rev().map(|(id, job)| job.state(*id)).collect() }
    }

    fn publish_job(&mut self, id: JobId) {
        if let Some(job) = self.jobs.get(&id) {
            let delta = JobsDelta { changed: vec![job.state(id)], removed: Vec::new() };
            self.hub.publish(Topic::Jobs, Delta::Jobs(delta));
        }
    }

    fn save_and_publish_job(&mut self, id: JobId) {
        let app = self.app.clone();
        // After an error it is saved with the next change.
        drop(self.saves.run(move |store| {
            // The writer takes the latest state: games may have been added in the meantime.
            let stored = app.upgrade()?.state().jobs.get(&id)?.stored.clone();
            store.save_job(id, &stored).ok()
        }));
        self.publish_job(id);
    }

    fn job_mut(&mut self, id: JobId) -> Result<&mut Job, ApiError> {
        let missing = || ApiError::not_found(ErrorSubject::Job, id);
        self.jobs.get_mut(&id).ok_or_else(missing)
    }

    fn check_job(&self, stored: &StoredJob) -> Result<(), ApiError> {
        if let Some(settings) = &stored.settings {
            self.registry.get(settings.engine)?;
        }
        if MAX_JOBS <= self.jobs.len() {
            return Err(ApiError::too_many(ErrorSubject::Job));
        }
        Ok(())
    }

    /// Resumes a stopped or failed job. Returns whether it has files to read.
    fn continue_job(&mut self, id: JobId) -> Result<bool, ApiError> {
        let job = self.job_mut(id)?;
        if !matches!(job.status, ReportStatus::Stopped | ReportStatus::Failed) {
            return Err(ApiError::conflict(ErrorCode::JobRunning));
        }
        job.status = ReportStatus::Running;
        job.failures = 0;
        job.round += 1;
        let has_files = !job.stored.read;
        self.save_and_publish_job(id);
        Ok(has_files)
    }

    pub(super) fn stop_job(&mut self, id: JobId) -> Result<Answer, ApiError> {
        let job = self.job_mut(id)?;
        if !job.is_running() {
            return Err(ApiError::conflict(ErrorCode::JobNotRunning));
        }
        job.status = ReportStatus::Stopped;
        let current = job.current.take();
        self.save_and_publish_job(id);
        if let Some(game) = current {
            // Its report may have just finished.
            let _ = self.stop_report(Some(game));
        }
        Ok(Answer::Done)
    }

    fn stop_job_if_running(&mut self, id: JobId) -> Result<(), ApiError> {
        if self.job_mut(id)?.is_running() {
            self.stop_job(id)?;
        }
        Ok(())
    }

    fn fail_job(&mut self, id: JobId, of: JobErrorOf, why: ErrorInfo) {
        if let Some(job) = self.jobs.get_mut(&id) {
            job.status = ReportStatus::Failed;
            job.current = None;
            job.add_error(of, why);
            self.save_and_publish_job(id);
        }
    }

    // Reports.

    /// Stops the report of a game, or all.
    pub(super) fn stop_report(&mut self, game: Option<GameId>) -> Result<Answer, ApiError> {
        for game in self.stop_reports(game)? {
            self.on_report_finished(game);
        }
        self.start_reports();
        Ok(Answer::Done)
    }

    /// Starts the next report if none runs: one that is queued, or that of the next game of a job.
    pub(super) fn start_reports(&mut self) {
        while !self.closing {
            match self.start_next_report() {
                NextReport::Failed(game) => self.on_report_finished(game),
                NextReport::None if self.enqueue_next_game() => (),
                NextReport::Running | NextReport::None => return,
            }
        }
    }

    /// Enqueues the report of the next game of a job. Returns whether there is one.
    fn enqueue_next_game(&mut self) -> bool {
        loop {
            let ready = |job: &Job| job.is_running() && job.stored.read && job.current.is_none();
            let job = self.jobs.iter_mut().find(|(_, job)| ready(job));
            let Some((id, job)) = job else { return false };
            let id = *id;
            let game = job.games.get(job.stored.done).copied();
            let (Some(game), Some(settings)) = (game, job.stored.settings.clone()) else {
                (job.status, job.stored.over) = (ReportStatus::Done, true);
                self.save_and_publish_job(id);
                continue;
            };
            if let Err(error) = self.registry.get(settings.engine) {
                let of = JobErrorOf::Engine { engine: settings.engine };
                self.fail_job(id, of, error.into());
                continue;
            }
            job.current = Some(game);
            let round = job.round;
            self.publish_job(id);
            if !self.sessions.contains_key(&game) {
                // Loaded without the lock.
                if let Some(app) = self.app.upgrade() {
                    tokio::spawn(async move { app.load_for_job(id, round, game).await });
                }
                continue;
            }
            if self.enqueue_report_of_job(id, game, &settings) {
                return true;
            }
        }
    }

    /// Enqueues the report of a job's game. Returns false if the game has failed.
    fn enqueue_report_of_job(
        &mut self,
        id: JobId,
        game: GameId,
        settings: &ReportSettings,
    ) -> bool {
        let enqueued = self
            .check_report_engine(game, settings.engine)
            .and_then(|()| self.enqueue_report(game, settings));
        match enqueued {
            Ok(None) => true,
            Ok(Some(begun)) => {
                let app = self.app.clone();
                tokio::spawn(async move {
                    if let Err(error) = written(begun).await
                        && let Some(app) = app.upgrade()
                    {
                        app.on_report_not_saved(game, error.into());
                    }
                });
                true
            }
            Err(error) => {
                self.remove_background(game);
                self.on_game_done(id, Some((game, error.into())));
                false
            }
        }
    }

    fn check_report_engine(&self, game: GameId, engine: EngineId) -> Result<(), ApiError> {
        let variant = self.sessions.get(&game).map(GameSession::game);
        let dialect = self.registry.get(engine)?.dialect(variant);
        match dialect.zip(variant) {
            Some((dialect, variant)) if MoveCodec::new(dialect, variant).is_none() => {
                Err(ApiError::engine(EngineFailureKind::UnsupportedGame))
            }
            Some(_) | None => Ok(()),
        }
    }

    fn on_game_done(&mut self, id: JobId, failure: Option<(GameId, ErrorInfo)>) {
        let Some(job) = self.jobs.get_mut(&id) else { return };
        job.current = None;
        job.stored.done += 1;
        if let Some((game, why)) = failure {
            job.stored.failed += 1;
            job.add_error(JobErrorOf::Game { game }, why);
        } else {
            job.failures = 0;
        }
        self.save_and_publish_job(id);
    }

    /// The report of a game has finished: its job continues, stops or fails.
    pub(super) fn on_report_finished(&mut self, game: GameId) {
        if !self.closing {
            self.on_report_of_job_finished(game);
        }
        self.remove_background(game);
    }

    fn on_report_of_job_finished(&mut self, game: GameId) {
        let of = self.jobs.iter().find(|(_, job)| job.current == Some(game)).map(|(id, _)| *id);
        let Some(id) = of else { return };
        let (status, error) = self.report_result(game);
        match status {
            ReportStatus::Done => self.on_game_done(id, None),
            ReportStatus::Stopped => {
                // Otherwise the job would start it again.
                if let Some(job) = self.jobs.get_mut(&id) {
                    (job.status, job.current) = (ReportStatus::Stopped, None);
                    self.save_and_publish_job(id);
                }
            }
            ReportStatus::Failed
            | ReportStatus::None
            | ReportStatus::Queued
            | ReportStatus::Running => {
                let why = error.unwrap_or_else(|| ErrorCode::GameClosed.into());
                self.on_game_done(id, Some((game, why)));
                let Some(job) = self.jobs.get_mut(&id) else { return };
                job.failures += 1;
                if MAX_FAILURES <= job.failures && job.stored.done < job.games.len() {
                    job.status = ReportStatus::Failed;
                    self.save_and_publish_job(id);
                }
            }
        }
    }
}

/// Maximum number of files of a directory.
const MAX_FILES: usize = 100_000;
/// Maximum number of imported games in one transaction.
const MAX_BATCH: usize = 250;
/// Maximum size of a transaction before its last game, in bytes. Moves that are played in the meantime are written
/// between two transactions.
const MAX_BATCH_BYTES: usize = 1 << 20;

impl App {
    /// Reads the remaining files of a job, in a thread that ends with the app.
    fn read_directory(self: &Arc<Self>, id: JobId) {
        let round = self.state().jobs.get(&id).map_or(0, |job| job.round);
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
        let faults = read_each(path, Counting { file, read: &read }, |record| {
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
            let of = || JobErrorOf::File { name: name.to_owned() };
            let Faults { errors, warnings, total_errors, total_cut, total_notices } = faults;
            let (cut, warnings): (Vec<_>, Vec<_>) = warnings.into_iter().partition(is_cut);
            let errors = errors.into_iter().chain(cut).map(|why| JobError { of: of(), why });
            job.list_errors(errors, total_errors.saturating_add(total_cut));
            let room = MAX_ERRORS.saturating_sub(job.stored.notices.len());
            let notices = warnings.into_iter().map(|why| JobError { of: of(), why });
            job.stored.notices.extend(notices.take(room));
            job.stored.total_notices = job.stored.total_notices.saturating_add(total_notices);
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

/// A file whose bytes are counted.
struct Counting<'a> {
    file: File,
    read: &'a AtomicU64,
}

impl Read for Counting<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let count = self.file.read(buffer)?;
        self.read.fetch_add(count as u64, Ordering::Relaxed);
        Ok(count)
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
                let StoredJob { in_file, batches, imported, duplicates, undecided, bytes, .. } =
                    stored;
                let kept = job.stored.clone();
                job.stored =
                    StoredJob { in_file, batches, imported, duplicates, undecided, bytes, ..kept };
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
