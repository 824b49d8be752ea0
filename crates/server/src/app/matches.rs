//! Matches beside the state: they have threads of their own, and wait for nobody who holds it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::failures::server_ends;
use super::games::{storage, written};
use super::library::row_of;
use super::{App, AppState};
use crate::game::Tree;
use crate::matches::{Changes, Entrant, Finished, MatchEvent, Matches};
use crate::store::{StoreError, Written};
use crate::time::now;
use crate::wire::{
    Answer, ApiError, ApiErrorCode, Delta, GameId, MatchId, MatchPlan, MatchesDelta, MatchesState,
    Protocol, Reach, State, Topic, ValuesFor,
};

/// The matches, until the server ends. Whoever holds the state may take this as well, and nobody the
/// other way round.
pub(super) type Shared = Arc<Mutex<Option<Matches>>>;

fn lock(shared: &Mutex<Option<Matches>>) -> MutexGuard<'_, Option<Matches>> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

fn closing() -> ApiError {
    ApiError::because(ApiErrorCode::NotNow, server_ends())
}

impl App {
    pub(super) fn start_match(&self, plan: MatchPlan) -> Result<Answer, ApiError> {
        let entrants = self.state().entrants(&plan)?;
        let mut matches = lock(&self.matches);
        let open = matches.as_mut().ok_or_else(closing)?;
        let id = open.start(plan, &entrants)?;
        drop(matches);
        self.tell_of_match(id);
        Ok(Answer::Match { id })
    }

    pub(super) fn resume_match(&self, id: MatchId) -> Result<Answer, ApiError> {
        let asked = lock(&self.matches).as_ref().ok_or_else(closing)?.asked(id)?;
        // One that is registered no more may still play, but for the values of its environment.
        let entrants = self.state().entrants(&asked).unwrap_or_default();
        self.change_match(id, |it| it.resume(id, &entrants))
    }

    pub(super) async fn delete_match(&self, id: MatchId) -> Result<Answer, ApiError> {
        let answer = self.change_match(id, |it| it.delete(id))?;
        let forgotten = self.writer.call(move |store| store.forget_matches(id..=id));
        forgotten.await.map_err(storage)?;
        Ok(answer)
    }

    /// Opens a game of a match. One that is not in the library comes out of the match's own results.
    pub(super) async fn open_match_game(
        &self,
        id: MatchId,
        number: u32,
    ) -> Result<Answer, ApiError> {
        let results = lock(&self.matches).as_ref().ok_or_else(closing)?.results(id)?;
        let known = self.writer.call(move |store| store.match_game(id, number)).await;
        let game = match known.map_err(storage)? {
            Some(game) => game,
            None => written(self.keep_match_game(id, &results.game(number)?)?).await?,
        };
        self.open_game(game).await
    }

    /// Keeps a game of a match in the library.
    fn keep_match_game(
        &self,
        of: MatchId,
        game: &Finished,
    ) -> Result<Written<Result<GameId, StoreError>>, ApiError> {
        let (at, number) = (now(), game.number);
        let mut row = row_of(Tree::from_record(&game.record), at)?;
        row.set_reason(game.outcome.reason);
        Ok(self.writer.run(move |store| store.add_match_game(of, number, &row, at)))
    }

    pub(super) fn change_match(
        &self,
        id: MatchId,
        change: impl FnOnce(&mut Matches) -> Result<(), ApiError>,
    ) -> Result<Answer, ApiError> {
        let mut matches = lock(&self.matches);
        let open = matches.as_mut().ok_or_else(closing)?;
        change(open)?;
        drop(matches);
        self.tell_of_match(id);
        Ok(Answer::Done)
    }

    /// Only without the lock of matches. Where the match stands is looked up when nobody else can tell:
    /// its own thread may have gone on.
    fn tell_of_match(&self, id: MatchId) {
        let mut state = self.state();
        let delta = lock(&self.matches).as_ref().map(|matches| changed(matches, id));
        if let Some(delta) = delta {
            state.hub.publish(Topic::Matches, Delta::Matches(delta));
        }
    }

    /// From here on there are matches.
    pub(super) fn set_matches(&self, matches: Matches) {
        *lock(&self.matches) = Some(matches);
    }

    /// Takes news of a match, from its thread.
    pub(super) fn match_event(&self, news: MatchEvent) {
        match news {
            MatchEvent::Changed(id, changes) => self.state().pass_match_on(id, &changes),
            // A game that cannot be kept stays in the match's own results.
            MatchEvent::Game(id, game) => drop(self.keep_match_game(id, &game)),
            MatchEvent::Ended(_) => self.idle.notify_one(),
        }
    }

    /// Breaks all matches off and waits for their engines. They can go on with the next start.
    pub(crate) fn end_matches(&self) {
        let matches = lock(&self.matches).take();
        if let Some(mut matches) = matches {
            matches.end_all();
        }
    }
}

/// The line of a match, or that it is gone.
fn changed(matches: &Matches, id: MatchId) -> MatchesDelta {
    let lines = matches.lines().into_iter();
    let changed: Vec<_> = lines.filter(|line| line.id == id).collect();
    let removed = if changed.is_empty() { vec![id] } else { Vec::new() };
    MatchesDelta { changed, removed }
}

impl AppState {
    pub(super) fn matches_state(&self) -> State {
        let lines = lock(&self.matches).as_ref().map(Matches::lines);
        State::Matches(MatchesState { matches: lines.unwrap_or_default() })
    }

    pub(super) fn has_match(&self, id: MatchId) -> bool {
        lock(&self.matches).as_ref().is_some_and(|matches| matches.has(id))
    }

    pub(super) fn match_state(&self, id: MatchId) -> Option<State> {
        let state = lock(&self.matches).as_ref()?.state(id).ok()?;
        Some(State::Match(Box::new(state)))
    }

    /// Passes on what has changed in a match.
    fn pass_match_on(&mut self, id: MatchId, changes: &Changes) {
        let Some((delta, line)) = changes.take() else { return };
        self.hub.publish(Topic::Match(id), Delta::Match(Box::new(delta)));
        let delta = MatchesDelta { changed: vec![line], removed: Vec::new() };
        self.hub.publish(Topic::Matches, Delta::Matches(delta));
    }

    pub(super) fn plays_a_match(&self) -> bool {
        lock(&self.matches).as_ref().is_some_and(Matches::is_busy)
    }

    /// The engines of a plan as the arena starts them.
    fn entrants(&self, plan: &MatchPlan) -> Result<Vec<Entrant>, ApiError> {
        let entrant = |id| {
            let engine = self.registry.get(id)?;
            let dialect = engine.dialect(Some(plan.variant));
            let entrant = Entrant {
                name: engine.name().to_owned(),
                protocol: dialect.map(Protocol::from),
                options: engine.fitting(engine.values(ValuesFor::Play), dialect),
                ..Entrant::default()
            };
            Ok(match engine.entry.reach.clone() {
                Reach::BuiltIn => {
                    let (program, args) = self.setup.built_in.clone();
                    let command = program.to_string_lossy().into_owned();
                    Entrant { command, args, ..entrant }
                }
                Reach::Program { path, args, dir, env } => {
                    Entrant { command: path, args, dir, env, ..entrant }
                }
                Reach::Tcp { address } => {
                    Entrant { command: format!("tcp://{address}"), ..entrant }
                }
            })
        };
        plan.engines.iter().map(|engine| entrant(engine.engine)).collect()
    }
}
