//! Analysis at the cursor of a game by any number of engines.

use readyok_client::EngineFailureKind;
use readyok_rules::{MoveCodec, Position};

use super::AppState;
use crate::engine::SearchKind;
use crate::errors::illegal;
use crate::game::GameSession;
use crate::search::{EngineProcess, Goal, Owner, TaskEvent, Wanted};
use crate::wire::{
    AnalysisDelta, AnalysisSettings, AnalysisState, AnalysisStatus, Answer, ApiError, Delta,
    EngineAnalysis, EngineId, ErrorCategory, ErrorCode, ErrorInfo, ErrorSubject, GameId, NodeId,
    SearchInfo, Topic,
};

/// Maximum number of variations.
const MAX_LINES: u32 = 20;
/// Maximum number of engines that analyze one game.
const MAX_ENGINES: usize = 16;

/// An engine that analyzes a game.
pub(super) struct Panel {
    state: EngineAnalysis,
    /// The node at which the moves of `settings.only` were chosen.
    only_at: NodeId,
}

/// A game and an engine that analyzes it.
type Key = (GameId, EngineId);

impl AppState {
    pub(super) fn analysis_state(&self, game: GameId) -> AnalysisState {
        let panels = self.analyses.get(&game);
        AnalysisState {
            engines: panels.into_iter().flatten().map(|(_, panel)| panel.state.clone()).collect(),
        }
    }

    fn publish_analysis(&mut self, key @ (game, _): Key) {
        let topic = Topic::Analysis(game);
        if self.hub.is_wanted(topic)
            && let Some(panel) = self.panel(key)
        {
            let delta = AnalysisDelta { engines: vec![panel.state.clone()], removed: Vec::new() };
            self.hub.publish(topic, Delta::Analysis(delta));
        }
    }

    fn panel(&self, (game, engine): Key) -> Option<&Panel> {
        self.analyses.get(&game)?.get(&engine)
    }

    fn panel_mut(&mut self, (game, engine): Key) -> Option<&mut Panel> {
        self.analyses.get_mut(&game)?.get_mut(&engine)
    }

    fn analyzing_engines(&self, game: GameId) -> Vec<EngineId> {
        self.analyses.get(&game).into_iter().flatten().map(|(engine, _)| *engine).collect()
    }

    // Commands.

    /// Starts the analysis by an engine, or changes its settings.
    pub(super) fn start_analysis(
        &mut self,
        key @ (game, engine): Key,
        settings: AnalysisSettings,
    ) -> Result<Answer, ApiError> {
        let session = self.session(game)?;
        let cursor = session.cursor_of(self.acting);
        let position = session.tree().position(cursor);
        let position = position.ok_or_else(|| {
            ApiError::new(
                ErrorCategory::NotFound,
                ErrorCode::NotFound { subject: ErrorSubject::Position },
            )
        })?;
        check_settings(&settings, &position)?;
        let dialect = self.registry.get(engine)?.dialect(Some(position.game()));
        if dialect.is_some_and(|dialect| MoveCodec::new(dialect, position.game()).is_none()) {
            return Err(ApiError::engine(EngineFailureKind::UnsupportedGame));
        }
        let panels = self.analyses.entry(game).or_default();
        if MAX_ENGINES <= panels.len() && !panels.contains_key(&engine) {
            return Err(ApiError::too_many(ErrorSubject::Engine));
        }
        let panel = panels.entry(engine).or_insert_with(|| Panel {
            state: EngineAnalysis {
                engine,
                settings: settings.clone(),
                status: AnalysisStatus::Starting,
                process: None,
                node: cursor,
                info: SearchInfo::default(),
                error: None,
            },
            only_at: cursor,
        });
        let stays = panel.state.settings.locked && settings.locked;
        panel.only_at = if stays { panel.state.node } else { cursor };
        panel.state.settings = settings;
        if !stays {
            panel.state.node = cursor;
        }
        self.analyze(key);
        Ok(Answer::Done)
    }

    /// Stops the engines; their output stays.
    pub(super) fn stop_analysis(
        &mut self,
        game: GameId,
        engine: Option<EngineId>,
    ) -> Result<Answer, ApiError> {
        self.session(game)?;
        let all = self.analyzing_engines(game);
        if engine.is_some_and(|engine| !all.contains(&engine)) {
            return Err(not_analyzing());
        }
        for id in all.into_iter().filter(|id| engine.is_none_or(|engine| engine == *id)) {
            let key = (game, id);
            let Some(panel) = self.panel_mut(key) else { continue };
            panel.state.status = AnalysisStatus::Stopped;
            let owner = Owner::Analysis(game, id);
            if self.is_ready(owner) {
                // The last lines come with the best move.
                self.tasks.move_now(owner);
            } else {
                self.tasks.rest(owner);
            }
            self.publish_analysis(key);
        }
        Ok(Answer::Done)
    }

    pub(super) fn end_analysis(
        &mut self,
        game: GameId,
        engine: EngineId,
    ) -> Result<Answer, ApiError> {
        self.session(game)?;
        if self.remove_panel((game, engine)) { Ok(Answer::Done) } else { Err(not_analyzing()) }
    }

    pub(super) fn restart_analysis(
        &mut self,
        game: GameId,
        engine: EngineId,
    ) -> Result<Answer, ApiError> {
        self.panel((game, engine)).ok_or_else(not_analyzing)?;
        self.analyze((game, engine));
        Ok(Answer::Done)
    }

    fn remove_panel(&mut self, (game, engine): Key) -> bool {
        let Some(panels) = self.analyses.get_mut(&game) else { return false };
        if panels.remove(&engine).is_none() {
            return false;
        }
        if panels.is_empty() {
            self.analyses.remove(&game);
        }
        self.tasks.end(Owner::Analysis(game, engine));
        let delta = AnalysisDelta { engines: Vec::new(), removed: vec![engine] };
        self.hub.publish(Topic::Analysis(game), Delta::Analysis(delta));
        true
    }

    pub(super) fn end_analyses_of_game(&mut self, game: GameId) {
        for engine in self.analyzing_engines(game) {
            self.remove_panel((game, engine));
        }
    }

    pub(super) fn end_analyses_by(&mut self, engine: EngineId) {
        for game in self.analyses.keys().copied().collect::<Vec<_>>() {
            self.remove_panel((game, engine));
        }
    }

    pub(super) fn end_all_analyses(&mut self) {
        for game in self.analyses.keys().copied().collect::<Vec<_>>() {
            self.end_analyses_of_game(game);
        }
    }

    // Searches.

    /// Searches the node at the cursor with all engines of a game.
    pub(super) fn follow_cursor(&mut self, game: GameId) {
        let Some(cursor) = self.sessions.get(&game).map(GameSession::cursor) else { return };
        for engine in self.analyzing_engines(game) {
            let Some(panel) = self.panel_mut((game, engine)) else { continue };
            let state = &mut panel.state;
            if state.settings.locked
                || matches!(state.status, AnalysisStatus::Stopped | AnalysisStatus::Failed)
                || state.node == cursor
            {
                continue;
            }
            state.node = cursor;
            if panel.only_at != cursor {
                state.settings.only.clear();
            }
            self.analyze((game, engine));
        }
    }

    /// Starts the search of an engine's current node, which replaces the previous search. Its process is started if
    /// necessary.
    fn analyze(&mut self, key @ (game, engine): Key) {
        let owner = Owner::Analysis(game, engine);
        let begun = self.begin_analysis(key);
        if !matches!(begun, Ok(Begun::Search)) {
            self.tasks.rest(owner);
        }
        let process = self.tasks.process_of(owner).map(|(id, _)| id);
        let is_ready = self.is_ready(owner);
        let Some(panel) = self.panel_mut(key) else { return };
        panel.state.process = process;
        panel.state.info = SearchInfo::default();
        panel.state.status = match &begun {
            Ok(Begun::Search) if !is_ready => AnalysisStatus::Starting,
            Ok(Begun::Search) => AnalysisStatus::Turning,
            Ok(Begun::Nothing) => AnalysisStatus::Done,
            Err(_) => AnalysisStatus::Failed,
        };
        panel.state.error = begun.err();
        self.publish_analysis(key);
    }

    fn begin_analysis(&mut self, key @ (game, engine): Key) -> Result<Begun, ErrorInfo> {
        let owner = Owner::Analysis(game, engine);
        if self.tasks.process_of(owner).is_none() {
            let variant = self.sessions.get(&game).map(GameSession::game);
            self.start_process(owner, engine, variant)?;
        }
        match self.wanted_analysis(key)? {
            Some(wanted) => self.tasks.search(owner, wanted, None).map(|()| Begun::Search),
            None => Ok(Begun::Nothing),
        }
    }

    /// The search of the current node. None if there is nothing to search.
    fn wanted_analysis(&self, key @ (game, _): Key) -> Result<Option<Wanted>, ErrorInfo> {
        let (Some(panel), Some(session)) = (self.panel(key), self.sessions.get(&game)) else {
            return Ok(None);
        };
        let settings = &panel.state.settings;
        let mut line =
            session.tree().engine_line(panel.state.node).ok_or(ErrorCode::GameChanged)?;
        let mut only = settings.only.clone();
        if settings.threat {
            line.position.play_null().map_err(|_| ErrorCode::NullMoveNotAllowed)?;
            line.start = line.position.clone();
            line.moves.clear();
            only.clear();
        }
        if line.position.legal_moves().is_empty() {
            return Ok(None);
        }
        let (kind, goal) = (SearchKind::Analyse, Goal::Analysis(settings.goal));
        Ok(Some(Wanted { kind, line, goal, lines: Some(settings.lines), only }))
    }

    fn is_ready(&self, owner: Owner) -> bool {
        let process = self.tasks.process_of(owner);
        process.and_then(|(_, process)| EngineProcess::dialect(process)).is_some()
    }

    pub(super) fn on_analysis_event(&mut self, key: Key, event: TaskEvent) {
        let Some(panel) = self.panel_mut(key) else { return };
        let state = &mut panel.state;
        let is_stopped = state.status == AnalysisStatus::Stopped;
        match event {
            // The search is started after this event.
            TaskEvent::Ready(_) | TaskEvent::Started => {
                if state.status == AnalysisStatus::Starting {
                    state.status = AnalysisStatus::Turning;
                }
            }
            TaskEvent::Progress(info) => {
                state.info = *info;
                if !is_stopped {
                    state.status = AnalysisStatus::Searching;
                }
            }
            TaskEvent::Done(Ok(found)) => {
                state.info = found.info;
                if !is_stopped {
                    state.status = AnalysisStatus::Done;
                }
            }
            TaskEvent::Done(Err(why)) => {
                state.status = AnalysisStatus::Failed;
                state.error = Some(why);
            }
            TaskEvent::Exited { restart: true, .. } => return self.analyze(key),
            TaskEvent::Exited { failure, .. } => {
                state.process = None;
                state.status = match failure {
                    Some(_) => AnalysisStatus::Failed,
                    None => AnalysisStatus::Stopped,
                };
                state.error = failure;
            }
        }
        self.publish_analysis(key);
    }
}

/// The result of [`AppState::begin_analysis`].
enum Begun {
    Search,
    /// The position has no legal move.
    Nothing,
}

fn not_analyzing() -> ApiError {
    ApiError::new(ErrorCategory::NotFound, ErrorCode::NotAnalyzing)
}

fn check_settings(settings: &AnalysisSettings, position: &Position) -> Result<(), ApiError> {
    if MAX_LINES < settings.lines {
        return Err(ApiError::limit(ErrorCode::LineCount { limit: MAX_LINES }));
    }
    for mv in &settings.only {
        position.parse_move(mv).map_err(|error| illegal(&error))?;
    }
    if settings.threat && position.clone().play_null().is_err() {
        return Err(ApiError::conflict(ErrorCode::NullMoveNotAllowed));
    }
    Ok(())
}
