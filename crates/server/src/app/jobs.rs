//! Work on many games: a folder is read into the library, then one game after another is reported on.
//!
//! ```text
//!  asked ──> files of the folder (a thread) ──> games (reports, one at a time) ──> done
//!              └──────────── stopped, or the server ended ─────┴──> resumed where it stood
//! ```
//! Games that nobody has opened are looked at without being shown among the open ones: they are guests.

mod folder;

use std::path::PathBuf;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::failures::{game_closed, other_game};
use super::games::{storage, written};
use super::saving::Loaded;
use super::{App, AppState, Reply};
use crate::game::{GameSession, api_error, no_such, too_many};
use crate::time::{Moment, date, now};
use crate::wire::{
    Answer, ApiError, ApiErrorCode, Delta, Failure, GameId, Job as WireJob, JobError, JobErrorOf,
    JobId, JobsDelta, JobsState, ProblemKind as Kind, ReportSettings, ReportStatus, Thing, Topic,
};

/// So many games can be asked for at once.
const MOST_GAMES: usize = 100_000;
/// So many faults are told.
const MOST_ERRORS: usize = 20;
const LONGEST_ERROR: usize = 500;
/// So many games in succession fail before the engine is held to be the reason.
const MOST_FAILURES: u32 = 3;
/// So many jobs are remembered.
const MOST_JOBS: usize = 100;

/// A job as the library keeps it; its games are kept beside it.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub(crate) struct StoredJob {
    added: Moment,
    folder: Option<PathBuf>,
    settings: Option<ReportSettings>,
    files_done: usize,
    files: usize,
    /// Games that were read from the file after those that are done.
    in_file: usize,
    /// Whether the folder is read, or there is none.
    read: bool,
    done: usize,
    failed: u32,
    #[serde(default)]
    faults: Vec<JobError>,
    over: bool,
}

/// A job.
pub(super) struct Job {
    kept: StoredJob,
    games: Vec<GameId>,
    status: ReportStatus,
    current: Option<GameId>,
    /// Failures in succession.
    failures: u32,
    /// Counts the times that it was begun: a thread of an earlier time has nothing to say.
    round: u32,
}

impl Job {
    pub(super) fn restored(kept: StoredJob, games: Vec<GameId>) -> Self {
        let status = if kept.over { ReportStatus::Done } else { ReportStatus::Stopped };
        Self { kept, games, status, current: None, failures: 0, round: 0 }
    }

    fn told(&self, id: JobId) -> WireJob {
        let count = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        WireJob {
            id,
            added: self.kept.added,
            folder: self.kept.folder.as_ref().map(|folder| folder.display().to_string()),
            settings: self.kept.settings.clone(),
            status: self.status,
            files_done: count(self.kept.files_done),
            files: count(self.kept.files),
            games: count(self.games.len()),
            done: count(self.kept.done),
            failed: self.kept.failed,
            current: self.current,
            errors: self.kept.faults.clone(),
        }
    }

    fn note(&mut self, of: JobErrorOf, why: Failure) {
        if self.kept.faults.len() < MOST_ERRORS {
            let text = why.text.chars().take(LONGEST_ERROR).collect();
            self.kept.faults.push(JobError { of, why: Failure { text, ..why } });
        }
    }

    pub(super) fn is_running(&self) -> bool {
        self.status == ReportStatus::Running
    }
}

impl App {
    /// Reads a folder into the library, and reports on its games if that is wanted. The folder is one that may
    /// be read.
    pub(super) async fn start_folder(
        self: &Arc<Self>,
        folder: PathBuf,
        settings: Option<ReportSettings>,
    ) -> Result<Answer, ApiError> {
        let kept = StoredJob { folder: Some(folder), settings, ..StoredJob::default() };
        let id = self.add_job(kept, Vec::new()).await?;
        self.read_on(id);
        Ok(Answer::Job { id })
    }

    /// Goes on with a job.
    pub(super) fn resume_job(self: &Arc<Self>, id: JobId) -> Reply {
        let mut unread = false;
        let reply = self.change(|state| {
            unread = !state.resume_job(id)?;
            if !unread {
                state.next_report();
            }
            Ok(Answer::Done)
        });
        if unread {
            self.read_on(id);
        }
        reply
    }

    /// Reports on games one after another.
    pub(super) async fn report_on_many(
        self: &Arc<Self>,
        games: Vec<GameId>,
        settings: ReportSettings,
    ) -> Result<Answer, ApiError> {
        if MOST_GAMES < games.len() {
            return Err(too_many(Thing::Game, format!("more than {MOST_GAMES} games")));
        }
        let kept = StoredJob { settings: Some(settings), read: true, ..StoredJob::default() };
        let id = self.add_job(kept, games).await?;
        self.state().next_report();
        Ok(Answer::Job { id })
    }

    async fn add_job(&self, kept: StoredJob, games: Vec<GameId>) -> Result<JobId, ApiError> {
        let kept = StoredJob { added: date(now()), ..kept };
        self.state().check_job(&kept)?;
        let (row, of_job) = (kept.clone(), games.clone());
        let id = self.writer.call(move |store| store.new_job(&row, &of_job)).await;
        let id = id.map_err(storage)?;
        let mut job = Job::restored(kept, games);
        job.status = ReportStatus::Running;
        let mut state = self.state();
        state.jobs.insert(id, job);
        state.publish_job(id);
        Ok(id)
    }

    /// Forgets a job; the games and their reports stay.
    pub(super) async fn delete_job(&self, id: JobId) -> Result<Answer, ApiError> {
        self.state().rest_job(id)?;
        self.writer.call(move |store| store.delete_job(id)).await.map_err(storage)?;
        let mut state = self.state();
        // Another tab may have resumed it, or deleted it, meanwhile.
        if state.rest_job(id).is_ok() {
            state.jobs.remove(&id);
            let delta = JobsDelta { changed: Vec::new(), removed: vec![id] };
            state.hub.publish(Topic::Jobs, Delta::Jobs(delta));
        }
        Ok(Answer::Done)
    }

    /// Reads the next game of a job, which waits for it.
    async fn lend_game(&self, id: JobId, round: u32, game: GameId) {
        self.load(game, |state, loaded| state.game_is_lent(id, round, game, loaded)).await;
    }
}

impl AppState {
    pub(super) fn jobs_state(&self) -> JobsState {
        JobsState { jobs: self.jobs.iter().rev().map(|(id, job)| job.told(*id)).collect() }
    }

    fn publish_job(&mut self, id: JobId) {
        if let Some(job) = self.jobs.get(&id) {
            let delta = JobsDelta { changed: vec![job.told(id)], removed: Vec::new() };
            self.hub.publish(Topic::Jobs, Delta::Jobs(delta));
        }
    }

    /// Keeps a job as it is now, and tells of it.
    fn job_changed(&mut self, id: JobId) {
        let app = self.app.clone();
        // What cannot be kept now is kept with the next change.
        drop(self.saves.run(move |store| {
            // As it is by then: games may have been added to it in the meantime.
            let app = app.upgrade()?;
            let kept = app.state().jobs.get(&id)?.kept.clone();
            store.save_job(id, &kept).ok()
        }));
        self.publish_job(id);
    }

    fn job(&mut self, id: JobId) -> Result<&mut Job, ApiError> {
        let missing = || no_such(Thing::Job, &id, format!("there is no job {id}"));
        self.jobs.get_mut(&id).ok_or_else(missing)
    }

    fn check_job(&self, kept: &StoredJob) -> Result<(), ApiError> {
        if let Some(settings) = &kept.settings {
            self.registry.get(settings.engine)?;
        }
        if MOST_JOBS <= self.jobs.len() {
            return Err(too_many(Thing::Job, "there are too many jobs: forget some"));
        }
        Ok(())
    }

    /// A job that stood still runs again. Tells whether its folder is read.
    fn resume_job(&mut self, id: JobId) -> Result<bool, ApiError> {
        let job = self.job(id)?;
        if !matches!(job.status, ReportStatus::Stopped | ReportStatus::Failed) {
            let text = "the job does not stand still";
            return Err(api_error(ApiErrorCode::NotNow, Kind::JobRuns, text));
        }
        job.status = ReportStatus::Running;
        job.failures = 0;
        job.round += 1;
        let read = job.kept.read;
        self.job_changed(id);
        Ok(read)
    }

    /// Stops a job where it stands.
    pub(super) fn stop_job(&mut self, id: JobId) -> Result<Answer, ApiError> {
        let job = self.job(id)?;
        if !job.is_running() {
            return Err(api_error(ApiErrorCode::NotNow, Kind::JobRests, "the job does not run"));
        }
        job.status = ReportStatus::Stopped;
        let current = job.current.take();
        self.job_changed(id);
        if let Some(game) = current {
            // It may have ended just now.
            let _ = self.stop_report(Some(game));
        }
        Ok(Answer::Done)
    }

    /// Stops a job if it runs.
    fn rest_job(&mut self, id: JobId) -> Result<(), ApiError> {
        if self.job(id)?.is_running() {
            self.stop_job(id)?;
        }
        Ok(())
    }

    fn fail_job(&mut self, id: JobId, of: JobErrorOf, why: Failure) {
        if let Some(job) = self.jobs.get_mut(&id) {
            job.status = ReportStatus::Failed;
            job.current = None;
            job.note(of, why);
            self.job_changed(id);
        }
    }

    /// Has the next game of a job wait for its report. Tells whether there is one.
    pub(super) fn queue_from_jobs(&mut self) -> bool {
        if self.closing {
            return false;
        }
        loop {
            let ready = |job: &Job| job.is_running() && job.kept.read && job.current.is_none();
            let next = self.jobs.iter().find(|(_, job)| ready(job));
            let Some((id, job)) = next.map(|(id, job)| (*id, job)) else { return false };
            let game = job.games.get(job.kept.done).copied();
            let (Some(game), Some(settings)) = (game, job.kept.settings.clone()) else {
                if let Some(job) = self.jobs.get_mut(&id) {
                    (job.status, job.kept.over) = (ReportStatus::Done, true);
                    self.job_changed(id);
                }
                continue;
            };
            if let Err(error) = self.registry.get(settings.engine) {
                self.fail_job(id, JobErrorOf::Engine { engine: settings.engine }, error.into());
                continue;
            }
            if let Some(job) = self.jobs.get_mut(&id) {
                job.current = Some(game);
                let round = job.round;
                self.publish_job(id);
                if !self.rooms.contains_key(&game) {
                    self.read_for_job(id, round, game);
                    continue;
                }
            }
            if self.queue_job_game(id, game, &settings) {
                return true;
            }
        }
    }

    /// Has the report of a job's game wait. Returns whether it does; otherwise the game is done with.
    fn queue_job_game(&mut self, id: JobId, game: GameId, settings: &ReportSettings) -> bool {
        let queued = self
            .require_engine_for(game, settings.engine)
            .and_then(|()| self.queue_report(game, settings));
        match queued {
            Ok(None) => true,
            Ok(Some(begun)) => {
                let app = self.app.clone();
                tokio::spawn(async move {
                    if let Err(error) = written(begun).await
                        && let Some(app) = app.upgrade()
                    {
                        app.state().report_is_unkept(game, error.into());
                    }
                });
                true
            }
            Err(error) => {
                self.release_game(game);
                self.count_game(id, Some((game, error.into())));
                false
            }
        }
    }

    /// Reads a game for a job without the lock.
    fn read_for_job(&self, id: JobId, round: u32, game: GameId) {
        if let Some(app) = self.app.upgrade() {
            tokio::spawn(async move { app.lend_game(id, round, game).await });
        }
    }

    /// A game of the library is there for a job, without being shown among the open ones.
    fn game_is_lent(
        &mut self,
        id: JobId,
        round: u32,
        game: GameId,
        loaded: Result<Loaded, ApiError>,
    ) {
        let waits = |job: &&Job| {
            job.is_running() && job.round == round && job.current == Some(game) && !self.closing
        };
        let Some(job) = self.jobs.get(&id).filter(waits) else { return };
        let Some(settings) = job.kept.settings.clone() else { return };
        match loaded {
            Ok(loaded) => {
                // A tab may have opened it meanwhile.
                if !self.rooms.contains_key(&game) {
                    self.add_loaded(loaded);
                    self.guests.insert(game);
                }
                self.queue_job_game(id, game, &settings);
            }
            Err(error) => self.count_game(id, Some((game, error.into()))),
        }
        self.next_report();
    }

    fn require_engine_for(
        &self,
        game: GameId,
        engine: crate::wire::EngineId,
    ) -> Result<(), ApiError> {
        let kind = self.rooms.get(&game).map(GameSession::game);
        let dialect = self.registry.get(engine)?.dialect(kind.map(Into::into));
        match dialect.zip(kind) {
            Some((dialect, kind)) if readyok_rules::MoveCodec::new(dialect, kind).is_none() => {
                Err(ApiError::because(ApiErrorCode::Engine, other_game()))
            }
            Some(_) | None => Ok(()),
        }
    }

    /// A game of a job is done with.
    fn count_game(&mut self, id: JobId, failure: Option<(GameId, Failure)>) {
        let Some(job) = self.jobs.get_mut(&id) else { return };
        job.current = None;
        job.kept.done += 1;
        if let Some((game, why)) = failure {
            job.kept.failed += 1;
            job.note(JobErrorOf::Game { game }, why);
        } else {
            job.failures = 0;
        }
        self.job_changed(id);
    }

    /// The report of a game is over: its job goes on, or stops with it.
    pub(super) fn job_game_over(&mut self, game: GameId) {
        if self.closing {
            // The game is looked at again after the next start.
            return;
        }
        let of = self.jobs.iter().find(|(_, job)| job.current == Some(game)).map(|(id, _)| *id);
        let Some(id) = of else { return };
        let report = self.reports.get(&game);
        match report.map_or(ReportStatus::None, super::reports::Report::status) {
            ReportStatus::Done => self.count_game(id, None),
            ReportStatus::Stopped => {
                // Whoever stops the report of one game stops the rest: the job would begin it again.
                if let Some(job) = self.jobs.get_mut(&id) {
                    (job.status, job.current) = (ReportStatus::Stopped, None);
                    self.job_changed(id);
                }
            }
            ReportStatus::Failed
            | ReportStatus::None
            | ReportStatus::Queued
            | ReportStatus::Running => {
                let why = report.and_then(super::reports::Report::error).cloned();
                self.count_game(id, Some((game, why.unwrap_or_else(game_closed))));
                if let Some(job) = self.jobs.get_mut(&id) {
                    job.failures += 1;
                    if MOST_FAILURES <= job.failures && job.kept.done < job.games.len() {
                        job.status = ReportStatus::Failed;
                        self.job_changed(id);
                    }
                }
            }
        }
    }

    /// Lets go of a game that nobody has opened meanwhile.
    pub(super) fn release_game(&mut self, id: GameId) {
        if self.guests.remove(&id) {
            if let Some(room) = self.rooms.remove(&id) {
                self.saves.leave(&room);
            }
            self.reports.remove(&id);
            for topic in [Topic::Game(id), Topic::Analysis(id), Topic::Report(id)] {
                self.hub.close(topic);
            }
        }
    }

    pub(super) fn has_work(&self) -> bool {
        self.jobs.values().any(Job::is_running)
    }
}
