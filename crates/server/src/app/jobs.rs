//! Jobs on many games: a directory or a file is imported, then the games are reported on one after another.
//!
//! ```text
//!  start ──> files of the directory (a thread) ──> games (reports, one at a time) ──> done
//!              └──────────── stopped, or the server has exited ─────┴──> resumed where it stopped
//! ```
//! Games that are not open are loaded as background sessions, which the user does not see.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};

use readyok_library::{NewGame, Source};
use readyok_rules::MoveCodec;

use super::components::Context;
use super::engines::Engines;
use super::games::Games;
use super::library::ReadSession;
use super::reports::Reports;
use super::{App, Reply, storage, written};
use crate::errors::io_error;
use crate::game::GameSession;
use crate::import::{Faults, is_cut, is_record, read_each};
use crate::store::{StoreError, StoredJob, new_game};
use crate::time::{date, now};
use crate::wire::{
    Answer, ApiError, Delta, Duplicates, EngineId, ErrorCode, ErrorInfo, ErrorSubject, GameId,
    Job as JobState, JobError, JobErrorOf, JobId, JobsDelta, JobsState, ReportSettings,
    ReportStatus, Topic,
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

    fn is_running(&self) -> bool {
        self.status == ReportStatus::Running
    }
}

#[derive(Default)]
pub(crate) struct Jobs {
    jobs: BTreeMap<JobId, Job>,
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
        let reply = self.change(|it, cx| {
            has_files = it.jobs.resume(cx, id)?;
            if !has_files {
                it.reports.start_next(it.games, it.engines, cx);
            }
            Ok(Answer::Done)
        });
        if has_files {
            self.read_directory(id);
        }
        reply
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
        self.update(|it, cx| it.reports.start_next(it.games, it.engines, cx));
        Ok(Answer::Job { id })
    }

    async fn add_job(&self, stored: StoredJob, games: Vec<GameId>) -> Result<JobId, ApiError> {
        let stored = StoredJob { added: date(now()), ..stored };
        self.update(|it, _| it.jobs.check(it.engines, &stored))?;
        let (row, of_job) = (stored.clone(), games.clone());
        let id = self.writer.call(move |store| store.new_job(&row, &of_job)).await;
        let id = id.map_err(storage)?;
        let mut job = Job::restored(stored, games);
        job.status = ReportStatus::Running;
        self.update(|it, cx| {
            it.jobs.jobs.insert(id, job);
            it.jobs.publish(cx, id);
        });
        Ok(id)
    }

    /// Deletes a job; the games and their reports stay.
    pub(super) async fn delete_job(&self, id: JobId) -> Result<Answer, ApiError> {
        self.update(|it, cx| it.jobs.stop_if_running(it.reports, it.games, cx, id))?;
        self.writer.call(move |store| store.delete_job(id)).await.map_err(storage)?;
        self.update(|it, cx| {
            // Another tab may have resumed it, or deleted it, in the meantime.
            if it.jobs.stop_if_running(it.reports, it.games, cx, id).is_ok() {
                it.jobs.jobs.remove(&id);
                let delta = JobsDelta { changed: Vec::new(), removed: vec![id] };
                cx.hub.publish(Topic::Jobs, Delta::Jobs(delta));
            }
        });
        Ok(Answer::Done)
    }

    /// Loads the next game of a job.
    async fn load_for_job(&self, id: JobId, round: u32, game: GameId) {
        self.load(game, |it, cx, loaded| {
            it.jobs.on_game_loaded(
                it.reports,
                it.games,
                it.engines,
                cx,
                ((id, round), game),
                loaded,
            );
        })
        .await;
    }
}

impl Jobs {
    pub(super) fn new(jobs: BTreeMap<JobId, Job>) -> Self {
        Self { jobs }
    }

    fn on_game_loaded(
        &mut self,
        reports: &mut Reports,
        games: &mut Games,
        engines: &Engines,
        cx: &mut Context<'_>,
        ((id, round), game): ((JobId, u32), GameId),
        loaded: Result<ReadSession, ApiError>,
    ) {
        let is_current =
            |job: &&Job| job.is_running() && job.round == round && job.current == Some(game);
        let Some(job) = self.jobs.get(&id).filter(is_current).filter(|_| !cx.closing) else {
            return;
        };
        let Some(settings) = job.stored.settings.clone() else { return };
        match loaded {
            Ok((session, report)) => {
                games.add_background(session);
                reports.restore(game, report);
                self.enqueue(reports, games, engines, cx, (id, game, &settings));
            }
            Err(error) => self.on_game_done(cx, id, Some((game, error.into()))),
        }
        reports.start_next(games, engines, cx);
    }

    pub(super) fn state(&self) -> JobsState {
        JobsState { jobs: self.jobs.iter().rev().map(|(id, job)| job.state(*id)).collect() }
    }

    pub(super) fn is_busy(&self) -> bool {
        self.jobs.values().any(Job::is_running)
    }

    fn publish(&self, cx: &mut Context<'_>, id: JobId) {
        if let Some(job) = self.jobs.get(&id) {
            let delta = JobsDelta { changed: vec![job.state(id)], removed: Vec::new() };
            cx.hub.publish(Topic::Jobs, Delta::Jobs(delta));
        }
    }

    fn save_and_publish(&self, cx: &mut Context<'_>, id: JobId) {
        let app = cx.app.clone();
        // After an error it is saved with the next change.
        drop(cx.saves.run(move |store| {
            // The writer takes the latest state: games may have been added in the meantime.
            let stored = app.upgrade()?.update(|it, _| Some(it.jobs.jobs.get(&id)?.stored.clone()));
            store.save_job(id, &stored?).ok()
        }));
        self.publish(cx, id);
    }

    fn get_mut(&mut self, id: JobId) -> Result<&mut Job, ApiError> {
        let missing = || ApiError::not_found(ErrorSubject::Job, id);
        self.jobs.get_mut(&id).ok_or_else(missing)
    }

    fn check(&self, engines: &Engines, stored: &StoredJob) -> Result<(), ApiError> {
        if let Some(settings) = &stored.settings {
            engines.get(settings.engine)?;
        }
        if MAX_JOBS <= self.jobs.len() {
            return Err(ApiError::too_many(ErrorSubject::Job));
        }
        Ok(())
    }

    /// Resumes a stopped or failed job. Returns whether it has files to read.
    fn resume(&mut self, cx: &mut Context<'_>, id: JobId) -> Result<bool, ApiError> {
        let job = self.get_mut(id)?;
        if !matches!(job.status, ReportStatus::Stopped | ReportStatus::Failed) {
            return Err(ApiError::conflict(ErrorCode::JobRunning));
        }
        job.status = ReportStatus::Running;
        job.failures = 0;
        job.round += 1;
        let has_files = !job.stored.read;
        self.save_and_publish(cx, id);
        Ok(has_files)
    }

    pub(super) fn stop(
        &mut self,
        reports: &mut Reports,
        games: &Games,
        cx: &mut Context<'_>,
        id: JobId,
    ) -> Result<Answer, ApiError> {
        let job = self.get_mut(id)?;
        if !job.is_running() {
            return Err(ApiError::conflict(ErrorCode::JobNotRunning));
        }
        job.status = ReportStatus::Stopped;
        let current = job.current.take();
        self.save_and_publish(cx, id);
        if let Some(game) = current {
            // Its report may have just finished.
            let _ = reports.stop(games, cx, Some(game));
        }
        Ok(Answer::Done)
    }

    fn stop_if_running(
        &mut self,
        reports: &mut Reports,
        games: &Games,
        cx: &mut Context<'_>,
        id: JobId,
    ) -> Result<(), ApiError> {
        if self.get_mut(id)?.is_running() {
            self.stop(reports, games, cx, id)?;
        }
        Ok(())
    }

    fn fail(&mut self, cx: &mut Context<'_>, id: JobId, of: JobErrorOf, why: ErrorInfo) {
        if let Some(job) = self.jobs.get_mut(&id) {
            job.status = ReportStatus::Failed;
            job.current = None;
            job.add_error(of, why);
            self.save_and_publish(cx, id);
        }
    }

    // Reports.

    /// Enqueues the report of the next game of a job. Returns whether there is one.
    pub(super) fn enqueue_next(
        &mut self,
        reports: &mut Reports,
        games: &mut Games,
        engines: &Engines,
        cx: &mut Context<'_>,
    ) -> bool {
        while !cx.closing {
            let ready = |job: &Job| job.is_running() && job.stored.read && job.current.is_none();
            let Some((id, job)) = self.jobs.iter_mut().find(|(_, job)| ready(job)) else { break };
            let id = *id;
            let game = job.games.get(job.stored.done).copied();
            let (Some(game), Some(settings)) = (game, job.stored.settings.clone()) else {
                (job.status, job.stored.over) = (ReportStatus::Done, true);
                self.save_and_publish(cx, id);
                continue;
            };
            if let Err(error) = engines.get(settings.engine) {
                let of = JobErrorOf::Engine { engine: settings.engine };
                self.fail(cx, id, of, error.into());
                continue;
            }
            job.current = Some(game);
            let round = job.round;
            self.publish(cx, id);
            if !games.contains(game) {
                // Loaded without the lock.
                if let Some(app) = cx.app.upgrade() {
                    tokio::spawn(async move { app.load_for_job(id, round, game).await });
                }
                continue;
            }
            if self.enqueue(reports, games, engines, cx, (id, game, &settings)) {
                return true;
            }
        }
        false
    }

    /// Enqueues the report of a job's game. Returns false if the game has failed.
    fn enqueue(
        &mut self,
        reports: &mut Reports,
        games: &mut Games,
        engines: &Engines,
        cx: &mut Context<'_>,
        (id, game, settings): (JobId, GameId, &ReportSettings),
    ) -> bool {
        let enqueued = check_engine(games, engines, game, settings.engine)
            .and_then(|()| reports.enqueue(games, cx, game, settings));
        match enqueued {
            Ok(None) => true,
            Ok(Some(begun)) => {
                let app = cx.app.clone();
                tokio::spawn(async move {
                    if let Err(error) = written(begun).await
                        && let Some(app) = app.upgrade()
                    {
                        let why = ErrorInfo::from(error);
                        app.update(|it, cx| it.reports.on_save_failed(it.games, cx, game, why));
                    }
                });
                true
            }
            Err(error) => {
                if games.remove_background(cx, game) {
                    reports.remove(cx, game);
                }
                self.on_game_done(cx, id, Some((game, error.into())));
                false
            }
        }
    }

    fn on_game_done(
        &mut self,
        cx: &mut Context<'_>,
        id: JobId,
        failure: Option<(GameId, ErrorInfo)>,
    ) {
        let Some(job) = self.jobs.get_mut(&id) else { return };
        job.current = None;
        job.stored.done += 1;
        if let Some((game, why)) = failure {
            job.stored.failed += 1;
            job.add_error(JobErrorOf::Game { game }, why);
        } else {
            job.failures = 0;
        }
        self.save_and_publish(cx, id);
    }

    /// The report of a game has finished: its job continues, stops or fails.
    pub(super) fn on_report_finished(
        &mut self,
        reports: &Reports,
        cx: &mut Context<'_>,
        game: GameId,
    ) {
        if cx.closing {
            // The game is reported on again after the next start.
            return;
        }
        let of = self.jobs.iter().find(|(_, job)| job.current == Some(game)).map(|(id, _)| *id);
        let Some(id) = of else { return };
        let (status, error) = reports.result(game);
        match status {
            ReportStatus::Done => self.on_game_done(cx, id, None),
            ReportStatus::Stopped => {
                // Otherwise the job would start it again.
                if let Some(job) = self.jobs.get_mut(&id) {
                    (job.status, job.current) = (ReportStatus::Stopped, None);
                    self.save_and_publish(cx, id);
                }
            }
            ReportStatus::Failed
            | ReportStatus::None
            | ReportStatus::Queued
            | ReportStatus::Running => {
                self.on_game_done(
                    cx,
                    id,
                    Some((game, error.unwrap_or_else(|| ErrorCode::GameClosed.into()))),
                );
                let Some(job) = self.jobs.get_mut(&id) else { return };
                job.failures += 1;
                if MAX_FAILURES <= job.failures && job.stored.done < job.games.len() {
                    job.status = ReportStatus::Failed;
                    self.save_and_publish(cx, id);
                }
            }
        }
    }
}

fn check_engine(
    games: &Games,
    engines: &Engines,
    game: GameId,
    engine: EngineId,
) -> Result<(), ApiError> {
    let kind = games.get(game).map(GameSession::game);
    let dialect = engines.get(engine)?.dialect(kind);
    match dialect.zip(kind) {
        Some((dialect, kind)) if MoveCodec::new(dialect, kind).is_none() => {
            Err(ApiError::engine(ErrorCode::UnsupportedVariant))
        }
        Some(_) | None => Ok(()),
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
        let Files { files, unreadable } = files;
        if stored.files_done == 0 && stored.in_file == 0 {
            self.report_unreadable(&directory, unreadable);
        }
        let sizes: Vec<u64> =
            files.iter().map(|it| it.metadata().map_or(0, |about| about.len())).collect();
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
            let free = this.update(|jobs, cx, id| {
                let stored = this.check(jobs, cx)?.clone();
                let free = match stored.settings {
                    Some(_) => MAX_GAMES.saturating_sub(jobs.jobs.get(&id)?.games.len()),
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
            this.update(|jobs, cx, id| jobs.on_games_added(cx, id, added, is_full)).unwrap_or(false)
        });
        drop(app);
        added.blocking_recv().unwrap_or(false)
    }

    /// Reports entries of the directory that cannot be read, and files beyond the maximum.
    fn report_unreadable(&self, directory: &Path, unreadable: Vec<ErrorInfo>) {
        self.update(|jobs, cx, id| {
            if unreadable.is_empty() || self.check(jobs, cx).is_none() {
                return;
            }
            let Some(job) = jobs.jobs.get_mut(&id) else { return };
            let of = || JobErrorOf::File { name: directory.display().to_string() };
            for why in unreadable {
                job.add_error(of(), why);
            }
            jobs.save_and_publish(cx, id);
        });
    }

    fn set_files(&self, files: usize, bytes: u64) {
        self.update(|jobs, cx, id| {
            if self.check(jobs, cx).is_some()
                && let Some(job) = jobs.jobs.get_mut(&id)
            {
                (job.stored.files, job.stored.total_bytes) = (files, bytes);
                jobs.save_and_publish(cx, id);
            }
        });
    }

    /// Returns whether the job continues.
    fn on_file_read(&self, name: &str, faults: Faults, bytes: u64) -> bool {
        let read = self.update(|jobs, cx, id| {
            self.check(jobs, cx)?;
            let job = jobs.jobs.get_mut(&id)?;
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
        let is_inside = || path.canonicalize().is_ok_and(|it| it.parent() == Some(&real));
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

impl Jobs {
    /// Games were added to a job, or could not be. Returns whether it continues.
    fn on_games_added(
        &mut self,
        cx: &mut Context<'_>,
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
