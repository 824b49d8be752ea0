//! Jobs on many games: a directory or a file is imported, then the games are reported on one after another. A file
//! that a tab sends is a job, too, whose entry remains for a while, and so is the import of an account.
//!
//! ```text
//!  start ──> files of the directory (a thread) ──> games (reports, one at a time) ──> done
//!              └──────────── stopped, or the server has exited ─────┴──> resumed where it stopped
//! ```
//! Games that are not open are loaded as background sessions, which the user does not see.

mod accounts;
mod directory;
mod round;
mod uploads;

use std::path::PathBuf;
use std::sync::Arc;

use readyok_client::EngineFailureKind;
use readyok_rules::MoveCodec;

pub(crate) use uploads::Upload;

use super::reports::NextReport;
use super::saving::{ReadSession, Reply, written};
use super::{App, AppState};
use crate::game::GameSession;
use crate::import::{Faults, is_cut};
use crate::store::{StoredJob, storage};
use crate::time::{date, now};
use crate::wire::{
    Answer, ApiError, Delta, Duplicates, EngineId, ErrorCategory, ErrorCode, ErrorInfo,
    ErrorSubject, GameId, Job as JobState, JobError, JobErrorOf, JobId, JobsDelta, JobsState,
    ReportSettings, ReportStatus, Topic,
};

/// Maximum number of games that a job reports on.
const MAX_GAMES: usize = 100_000;
/// Maximum number of stored errors of a job.
const MAX_ERRORS: usize = 200;
/// Maximum number of errors in the state of a job.
const MAX_LISTED: usize = 20;
/// Number of successive failed games after which the job fails, because the engine is the cause.
const MAX_FAILURES: u32 = 3;
/// Maximum number of jobs in the list.
const MAX_JOBS: usize = 100;

/// What remains of a job that is resumed.
#[derive(Clone, Copy, PartialEq)]
enum Rest {
    Files,
    Account,
    Reports,
}

pub(super) struct Job {
    stored: StoredJob,
    games: Vec<GameId>,
    status: ReportStatus,
    current: Option<GameId>,
    /// Number of successive failures.
    failures: u32,
    /// Counts the starts of the job: results of an earlier round are ignored.
    round: u32,
    /// Unix time in milliseconds until which an online service is not requested.
    waiting: Option<u64>,
}

impl Job {
    pub(super) fn restored(stored: StoredJob, games: Vec<GameId>) -> Self {
        let status = if stored.over { ReportStatus::Done } else { ReportStatus::Stopped };
        Self { stored, games, status, current: None, failures: 0, round: 0, waiting: None }
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
            upload: self.stored.upload.clone(),
            account: self.stored.account.as_ref().map(|import| import.account.clone()),
            skipped: self.stored.account.as_ref().map_or(0, |import| import.skipped),
            waiting: self.waiting.filter(|_| self.is_running()),
            elapsed: self.stored.elapsed,
            errors: self.stored.faults.iter().take(MAX_LISTED).cloned().collect(),
            notices: self.stored.notices.iter().take(MAX_LISTED).cloned().collect(),
            total_errors: self.stored.total_faults.max(count(self.stored.faults.len())),
            total_notices: self.stored.total_notices.max(count(self.stored.notices.len())),
        }
    }

    /// What is imported, as errors name it.
    fn source(&self) -> String {
        match (&self.stored.account, &self.stored.directory) {
            (Some(import), _) => import.account.name.clone(),
            (None, directory) => directory.clone().unwrap_or_default().display().to_string(),
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

    /// Adds the faults of a file. Games that were read in part are errors, other warnings are notices.
    fn add_faults(&mut self, name: &str, faults: Faults) {
        let of = || JobErrorOf::File { name: name.to_owned() };
        let Faults { errors, warnings, total_errors, total_cut, total_notices } = faults;
        let (cut, warnings): (Vec<_>, Vec<_>) = warnings.into_iter().partition(is_cut);
        let errors = errors.into_iter().chain(cut).map(|why| JobError { of: of(), why });
        self.list_errors(errors, total_errors.saturating_add(total_cut));
        let room = MAX_ERRORS.saturating_sub(self.stored.notices.len());
        let notices = warnings.into_iter().map(|why| JobError { of: of(), why });
        self.stored.notices.extend(notices.take(room));
        self.stored.total_notices = self.stored.total_notices.saturating_add(total_notices);
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
        let mut rest = Rest::Reports;
        let reply = self.change(|state| {
            rest = state.continue_job(id)?;
            if rest == Rest::Reports {
                state.start_reports();
            }
            Ok(Answer::Done)
        });
        if matches!(&reply, Reply::Done(Err(_)) | Reply::Written(Err(_), _)) {
            return reply;
        }
        match rest {
            Rest::Reports => (),
            Rest::Files => self.read_directory(id),
            Rest::Account => self.read_account(id),
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
            Ok((session, report, hold)) => {
                self.add_background(session, hold);
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

    /// Resumes a stopped or failed job.
    fn continue_job(&mut self, id: JobId) -> Result<Rest, ApiError> {
        let job = self.job_mut(id)?;
        if let Some(name) = &job.stored.upload {
            // The rest of the file is not here.
            return Err(ApiError::not_found(ErrorSubject::File, name));
        }
        if !matches!(job.status, ReportStatus::Stopped | ReportStatus::Failed) {
            return Err(ApiError::conflict(ErrorCode::JobRunning));
        }
        job.status = ReportStatus::Running;
        job.failures = 0;
        job.round += 1;
        let rest = match (&job.stored.account, job.stored.read) {
            (_, true) => Rest::Reports,
            (Some(_), false) => Rest::Account,
            (None, false) => Rest::Files,
        };
        self.save_and_publish_job(id);
        Ok(rest)
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
