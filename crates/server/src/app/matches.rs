//! Matches. They have their own lock and threads, which never wait for the lock of the state.

use std::path::Path;
use std::sync::{Arc, OnceLock};

use readyok_arena::plan::EnginePlan;
use readyok_client::EngineProgram;
use readyok_library::Source;
use tokio::task::spawn_blocking;

use super::saving::written;
use super::{App, AppState};
use crate::engine::not_a_program;
use crate::matches::{Changes, Finished, MatchEvent, Matches, Results};
use crate::store::{StoreError, Written, new_game, storage};
use crate::time::now;
use crate::wire::{
    Answer, ApiError, Delta, EngineSource, ErrorCode, GameId, MatchId, MatchPlan, MatchProgram,
    MatchState, MatchesDelta, MatchesState, Topic, TopicState, ValuesFor,
};

/// The matches, which exist before the server answers.
pub(super) type Shared = Arc<OnceLock<Matches>>;

/// Maximum number of arguments of a program that is not registered.
const MAX_ARGS: usize = 100;

fn closing() -> ApiError {
    ApiError::conflict(ErrorCode::ShuttingDown)
}

impl App {
    fn matches(&self) -> Result<&Matches, ApiError> {
        self.matches.get().ok_or_else(closing)
    }

    pub(super) fn set_matches(&self, matches: Matches) {
        // It is called once.
        let _ = self.matches.set(matches);
    }

    pub(super) async fn start_match(self: &Arc<Self>, plan: MatchPlan) -> Result<Answer, ApiError> {
        let engines = self.state().match_engines(&plan)?;
        let id = self.with_files(move |matches| matches.start(plan, &engines)).await?;
        self.publish_match(id);
        Ok(Answer::Match { id })
    }

    pub(super) async fn resume_match(self: &Arc<Self>, id: MatchId) -> Result<Answer, ApiError> {
        let plan = self.matches()?.requested(id)?;
        // Removed engines can still play, without the values of their environments.
        let engines = self.state().match_engines(&plan);
        let engines = engines.unwrap_or_default();
        self.with_files(move |matches| matches.resume(id, &engines)).await?;
        self.publish_match(id);
        Ok(Answer::Done)
    }

    pub(super) async fn delete_match(self: &Arc<Self>, id: MatchId) -> Result<Answer, ApiError> {
        self.with_files(move |matches| matches.delete(id)).await?;
        self.publish_match(id);
        let forgotten = self.writer.call(move |store| store.forget_matches(id..=id));
        forgotten.await.map_err(storage)?;
        Ok(Answer::Done)
    }

    /// Reads or writes files outside the runtime.
    async fn with_files<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&Matches) -> Result<T, ApiError> + Send + 'static,
    ) -> Result<T, ApiError> {
        let app = Arc::clone(self);
        spawn_blocking(move || work(app.matches()?)).await.unwrap_or_else(|_| Err(closing()))
    }

    pub(super) fn stop_match(&self, id: MatchId, finish: bool) -> Result<Answer, ApiError> {
        self.matches()?.stop(id, finish)?;
        self.publish_match(id);
        Ok(Answer::Done)
    }

    /// Opens a game of a match. One that is not in the library is added from the match's results.
    pub(super) async fn open_match_game(
        self: &Arc<Self>,
        id: MatchId,
        number: u32,
    ) -> Result<Answer, ApiError> {
        let results = self.matches()?.results(id)?;
        let known = self.writer.call(move |store| store.match_game(id, number)).await;
        let game = if let Some(game) = known.map_err(storage)? {
            game
        } else {
            let game = self.with_files(move |_| results.game(number)).await?;
            written(self.import_match_game(id, &game)).await?
        };
        self.open_game(game).await
    }

    /// The results of a match, and its name.
    pub(crate) fn match_results(&self, id: MatchId) -> Result<(Results, String), ApiError> {
        let matches = self.matches()?;
        Ok((matches.results(id)?, matches.requested(id)?.name))
    }

    /// The list of matches.
    pub(crate) fn match_lines(&self) -> Result<MatchesState, ApiError> {
        Ok(MatchesState { matches: self.matches()?.lines() })
    }

    /// The state of a match.
    pub(crate) async fn match_state(
        self: &Arc<Self>,
        id: MatchId,
    ) -> Result<Arc<MatchState>, ApiError> {
        self.with_files(move |matches| matches.state(id)).await
    }

    /// The engines of a plan for the arena.
    pub(crate) fn engines_of(&self, plan: &MatchPlan) -> Result<Vec<EnginePlan>, ApiError> {
        self.state().match_engines(plan)
    }

    fn import_match_game(
        &self,
        of: MatchId,
        game: &Finished,
    ) -> Written<Result<GameId, StoreError>> {
        let number = game.number;
        let mut new = new_game(&game.record, Source::Match, now());
        new.summary.termination = Some(game.outcome.termination);
        new.summary.engines = [Some(true); 2];
        self.writer.run(move |store| store.add_match_game(of, number, new))
    }

    /// Publishes the status of a match. It is read under the lock of the state, as the thread of the match may have
    /// changed it.
    fn publish_match(&self, id: MatchId) {
        let mut state = self.state();
        if let Some(matches) = self.matches.get() {
            let delta = changed(matches, id);
            state.hub.publish(Topic::Matches, Delta::Matches(delta));
        }
    }

    /// Handles an event from the thread of a match.
    pub(super) fn on_match_event(&self, event: MatchEvent) {
        match event {
            MatchEvent::Changed(id, changes) => self.state().publish_changes(id, &changes),
            // A game that cannot be added stays in the match's own results.
            MatchEvent::Game(id, game) => drop(self.import_match_game(id, &game)),
            MatchEvent::Ended(_) => self.idle.notify_one(),
        }
    }

    /// Aborts all matches and waits for their engines. The matches can be resumed after the next start.
    pub(crate) fn end_matches(&self) {
        if let Some(matches) = self.matches.get() {
            matches.end_all();
        }
    }
}

/// The status of a match, or that it was deleted.
fn changed(matches: &Matches, id: MatchId) -> MatchesDelta {
    let lines = matches.lines().into_iter();
    let changed: Vec<_> = lines.filter(|line| line.id == id).collect();
    let removed = if changed.is_empty() { vec![id] } else { Vec::new() };
    MatchesDelta { changed, removed }
}

impl AppState {
    /// The engines of a plan for the arena.
    fn match_engines(&self, plan: &MatchPlan) -> Result<Vec<EnginePlan>, ApiError> {
        let registered_as = |id| {
            let engine = self.registry.get(id)?;
            let dialect = engine.dialect(Some(plan.variant));
            let registered = EnginePlan {
                name: engine.name().to_owned(),
                protocol: dialect,
                options: engine.fitting(engine.values(ValuesFor::Play), dialect),
                ..EnginePlan::default()
            };
            let program = match &engine.config.entry.source {
                EngineSource::BuiltIn => &self.program.built_in,
                EngineSource::Program(program) => program,
                EngineSource::Tcp { address } => return Ok(registered.with_address(address)),
            };
            registered.with_program(program.clone()).map_err(|path| not_a_program(&path))
        };
        let entrant = |program: &MatchProgram| match program {
            MatchProgram::Registered(id) => registered_as(*id),
            MatchProgram::Git { source } => Ok(EnginePlan::of_source(source.clone())),
            MatchProgram::Program { command, args } => {
                let path = Path::new(command);
                if command.is_empty() || args.len() > MAX_ARGS {
                    return Err(not_a_program(path));
                }
                let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
                let program =
                    EngineProgram { args: args.clone(), ..EngineProgram::new(path, [""; 0]) };
                let plan = EnginePlan { name, ..EnginePlan::default() };
                plan.with_program(program).map_err(|path| not_a_program(&path))
            }
        };
        plan.engines.iter().map(|engine| entrant(&engine.engine)).collect()
    }

    pub(super) fn matches_state(&self) -> TopicState {
        let lines = self.matches.get().map(Matches::lines);
        TopicState::Matches(MatchesState { matches: lines.unwrap_or_default() })
    }

    pub(super) fn has_match(&self, id: MatchId) -> bool {
        self.matches.get().is_some_and(|matches| matches.has(id))
    }

    pub(super) fn plays_a_match(&self) -> bool {
        self.matches.get().is_some_and(Matches::is_busy)
    }

    fn publish_changes(&mut self, id: MatchId, changes: &Changes) {
        let Some((delta, line)) = changes.take() else { return };
        self.hub.publish(Topic::Match(id), Delta::Match(Box::new(delta)));
        let delta = MatchesDelta { changed: vec![line], removed: Vec::new() };
        self.hub.publish(Topic::Matches, Delta::Matches(delta));
    }
}
