//! One round of a job that imports games: from its start or resumption to its end or stop.

use std::sync::Weak;

use readyok_library::NewGame;
use tokio::sync::oneshot;

use super::{App, AppState, Job, MAX_GAMES};
use crate::store::{StoreError, StoredJob};
use crate::time::{Moment, now};
use crate::wire::{ErrorCode, ErrorInfo, ErrorSubject, GameId, JobErrorOf, JobId};

/// The round of a job.
#[derive(Clone)]
pub(super) struct Round {
    app: Weak<App>,
    id: JobId,
    number: u32,
    /// How long earlier rounds took.
    before: u64,
    begun: Moment,
}

impl Round {
    /// The current round of a job.
    pub(super) fn new(app: Weak<App>, state: &AppState, id: JobId) -> Self {
        let job = state.jobs.get(&id);
        let (number, before) = job.map_or((0, 0), |job| (job.round, job.stored.elapsed));
        Self { app, id, number, before, begun: now() }
    }

    pub(super) fn update<R>(&self, change: impl FnOnce(&mut AppState, JobId) -> R) -> Option<R> {
        Some(self.app.upgrade()?.update(|state| change(state, self.id)))
    }

    /// The job, if it still runs in this round.
    pub(super) fn check<'a>(&self, state: &'a AppState) -> Option<&'a StoredJob> {
        let job = state.jobs.get(&self.id)?;
        (job.is_running() && job.round == self.number && !state.closing).then_some(&job.stored)
    }

    /// The job, if it still runs in this round.
    pub(super) fn stored(&self) -> Option<StoredJob> {
        self.update(|state, _| self.check(state).cloned()).flatten()
    }

    /// Ends the job with an error.
    pub(super) fn fail(&self, name: String, why: ErrorInfo) {
        self.update(|state, id| {
            if self.check(state).is_some() {
                state.fail_job(id, JobErrorOf::File { name }, why);
            }
        });
    }

    /// Changes the job, if it still runs in this round, and saves it. Returns whether it does.
    pub(super) fn change(&self, change: impl FnOnce(&mut Job)) -> bool {
        let changed = self.update(|state, id| {
            self.check(state)?;
            change(state.jobs.get_mut(&id)?);
            state.save_and_publish_job(id);
            Some(())
        });
        changed.flatten().is_some()
    }

    /// Adds games to the library and to the job, all or none, and changes the job with them. The result is whether the
    /// job continues.
    pub(super) fn add(
        &self,
        mut games: Vec<NewGame>,
        change: impl FnOnce(&mut StoredJob) + Send + 'static,
    ) -> Option<oneshot::Receiver<bool>> {
        let app = self.app.upgrade()?;
        let this = self.clone();
        Some(app.writer.run(move |store| {
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
            stored.elapsed = this.before + now().saturating_sub(this.begun);
            change(&mut stored);
            let added = store.add_games_of_job(this.id, &mut stored, games);
            let added = added.map(|games| (games, stored));
            this.update(|state, id| state.on_games_added(id, added, is_full)).unwrap_or(false)
        }))
    }

    /// Ends the import of the games. Reports follow, or the job is done.
    pub(super) fn finish(&self) {
        self.update(|state, id| {
            if self.check(state).is_none() {
                return;
            }
            if let Some(job) = state.jobs.get_mut(&id) {
                job.stored.read = true;
                state.save_and_publish_job(id);
            }
            state.start_reports();
        });
    }
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
        let name = job.source();
        let why = match added {
            Ok((games, stored)) => {
                let kept = &mut job.stored;
                (kept.in_file, kept.batches) = (stored.in_file, stored.batches);
                (kept.imported, kept.duplicates) = (stored.imported, stored.duplicates);
                (kept.undecided, kept.account) = (stored.undecided, stored.account);
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
