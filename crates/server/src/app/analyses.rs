//! Analysis at the cursor of a game by any number of engines.
//!
//! Output of an engine is ignored unless it belongs to the latest search, which searches the node of its state.

use std::collections::BTreeMap;
use std::time::Duration;

use readyok_client::{Game as EngineGame, Limit, Search};
use readyok_protocol::{Dialect, Go, MateLimit, MoveList};
use readyok_rules::{MoveCodec, Position};

use super::components::{Context, SearchEvent, SearchId};
use super::engines::Engines;
use super::games::Games;
use crate::engine::{EngineCommand, SearchKind, SearchSpec};
use crate::errors::illegal;
use crate::game::{EngineLine, GameSession};
use crate::wire::{
    AnalysisDelta, AnalysisGoal, AnalysisSettings, AnalysisState, AnalysisStatus, Answer, ApiError,
    Delta, EngineAnalysis, EngineId, ErrorCategory, ErrorCode, ErrorInfo, ErrorSubject, GameId,
    NodeId, ProcessId, Purpose, SearchInfo, Topic, ValuesFor,
};

/// Maximum number of variations.
const MAX_LINES: u32 = 20;
/// Maximum number of engines that analyze one game.
const MAX_ENGINES: usize = 16;

/// An engine that analyzes a game.
struct Panel {
    state: EngineAnalysis,
    /// The latest search.
    search_id: SearchId,
    /// The node at which the moves of `settings.only` were chosen.
    only_at: NodeId,
    /// The identity of the game for this engine.
    game: Option<EngineGame>,
}

/// The engines that analyze, by game.
#[derive(Default)]
pub(crate) struct Analyses {
    games: BTreeMap<GameId, BTreeMap<EngineId, Panel>>,
}

impl Analyses {
    pub(super) fn is_empty(&self) -> bool {
        self.games.is_empty()
    }

    pub(super) fn state(&self, game: GameId) -> AnalysisState {
        let panels = self.games.get(&game);
        AnalysisState {
            engines: panels.into_iter().flatten().map(|(_, panel)| panel.state.clone()).collect(),
        }
    }

    fn publish(&self, cx: &mut Context<'_>, game: GameId, engine: EngineId) {
        let topic = Topic::Analysis(game);
        if cx.hub.is_wanted(topic)
            && let Some(panel) = self.panel(game, engine)
        {
            let delta = AnalysisDelta { engines: vec![panel.state.clone()], removed: Vec::new() };
            cx.hub.publish(topic, Delta::Analysis(delta));
        }
    }

    fn panel(&self, game: GameId, engine: EngineId) -> Option<&Panel> {
        self.games.get(&game)?.get(&engine)
    }

    fn panel_mut(&mut self, game: GameId, engine: EngineId) -> Option<&mut Panel> {
        self.games.get_mut(&game)?.get_mut(&engine)
    }

    fn engines_of(&self, game: GameId) -> Vec<EngineId> {
        self.games.get(&game).into_iter().flatten().map(|(engine, _)| *engine).collect()
    }

    // Commands.

    /// Starts the analysis by an engine, or changes its settings.
    pub(super) fn start(
        &mut self,
        games: &Games,
        engines: &Engines,
        cx: &mut Context<'_>,
        (game, engine, settings): (GameId, EngineId, AnalysisSettings),
    ) -> Result<Answer, ApiError> {
        let session = games.session(game)?;
        let cursor = session.cursor_of(cx.tab);
        let position = session.tree().position(cursor);
        let position = position.ok_or_else(|| {
            ApiError::new(
                ErrorCategory::NotFound,
                ErrorCode::NotFound { subject: ErrorSubject::Position },
            )
        })?;
        check_settings(&settings, &position)?;
        let dialect = engines.get(engine)?.dialect(Some(position.game()));
        if dialect.is_some_and(|dialect| MoveCodec::new(dialect, position.game()).is_none()) {
            return Err(ApiError::engine(ErrorCode::UnsupportedVariant));
        }
        let panels = self.games.entry(game).or_default();
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
            search_id: 0,
            only_at: cursor,
            game: None,
        });
        let stays = panel.state.settings.locked && settings.locked;
        panel.only_at = if stays { panel.state.node } else { cursor };
        panel.state.settings = settings;
        if !stays {
            panel.state.node = cursor;
        }
        panel.state.error = None;
        panel.state.status = AnalysisStatus::Turning;
        self.search(games, engines, cx, (game, engine));
        Ok(Answer::Done)
    }

    /// Stops the engines; their output stays.
    pub(super) fn stop(
        &mut self,
        games: &Games,
        cx: &mut Context<'_>,
        game: GameId,
        engine: Option<EngineId>,
    ) -> Result<Answer, ApiError> {
        games.session(game)?;
        let all = self.engines_of(game);
        if engine.is_some_and(|engine| !all.contains(&engine)) {
            return Err(not_analyzing());
        }
        for id in all.into_iter().filter(|id| engine.is_none_or(|engine| engine == *id)) {
            let Some(panel) = self.panel_mut(game, id) else { continue };
            panel.state.status = AnalysisStatus::Stopped;
            if let Some(process) = panel.state.process {
                // The last lines come with the best move.
                cx.processes.send(process, EngineCommand::MoveNow);
            }
            self.publish(cx, game, id);
        }
        Ok(Answer::Done)
    }

    pub(super) fn end(
        &mut self,
        games: &Games,
        cx: &mut Context<'_>,
        game: GameId,
        engine: EngineId,
    ) -> Result<Answer, ApiError> {
        games.session(game)?;
        if self.remove(cx, game, engine) { Ok(Answer::Done) } else { Err(not_analyzing()) }
    }

    pub(super) fn restart(
        &mut self,
        games: &Games,
        engines: &Engines,
        cx: &mut Context<'_>,
        (game, engine): (GameId, EngineId),
    ) -> Result<Answer, ApiError> {
        let panel = self.panel_mut(game, engine).ok_or_else(not_analyzing)?;
        panel.state.status = AnalysisStatus::Turning;
        self.search(games, engines, cx, (game, engine));
        Ok(Answer::Done)
    }

    fn remove(&mut self, cx: &mut Context<'_>, game: GameId, engine: EngineId) -> bool {
        let Some(panels) = self.games.get_mut(&game) else { return false };
        let Some(panel) = panels.remove(&engine) else { return false };
        if panels.is_empty() {
            self.games.remove(&game);
        }
        if let Some(process) = panel.state.process {
            cx.processes.quit(process);
        }
        let delta = AnalysisDelta { engines: Vec::new(), removed: vec![engine] };
        cx.hub.publish(Topic::Analysis(game), Delta::Analysis(delta));
        true
    }

    pub(super) fn remove_game(&mut self, cx: &mut Context<'_>, game: GameId) {
        for engine in self.engines_of(game) {
            self.remove(cx, game, engine);
        }
    }

    pub(super) fn remove_all(&mut self, cx: &mut Context<'_>) {
        for game in self.games.keys().copied().collect::<Vec<_>>() {
            self.remove_game(cx, game);
        }
    }

    pub(super) fn remove_engine(&mut self, cx: &mut Context<'_>, engine: EngineId) {
        for game in self.games.keys().copied().collect::<Vec<_>>() {
            self.remove(cx, game, engine);
        }
    }

    // Searches.

    /// Searches the node at the cursor with all engines of a game.
    pub(super) fn follow_cursor(
        &mut self,
        games: &Games,
        engines: &Engines,
        cx: &mut Context<'_>,
        game: GameId,
    ) {
        let Some(cursor) = games.get(game).map(GameSession::cursor) else { return };
        for engine in self.engines_of(game) {
            let Some(panel) = self.panel_mut(game, engine) else { continue };
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
            self.search(games, engines, cx, (game, engine));
        }
    }

    /// Starts the search of an engine's current node, after the previous search is stopped.
    fn search(
        &mut self,
        games: &Games,
        engines: &Engines,
        cx: &mut Context<'_>,
        key @ (game, engine): (GameId, EngineId),
    ) {
        let search_id = cx.next_search_id();
        let Some(panel) = self.panel_mut(game, engine) else { return };
        panel.search_id = search_id;
        panel.state.info = SearchInfo::default();
        match panel.state.process.filter(|id| cx.processes.is_running(*id)) {
            None => self.start_engine(games, engines, cx, key),
            Some(process) if cx.processes.dialect(process).is_some() => {
                let command = self.search_command(games, cx, key);
                let Some(panel) = self.panel_mut(game, engine) else { return };
                panel.state.error = command.as_ref().err().cloned();
                panel.state.status = match &command {
                    Ok(EngineCommand::Search(_)) => AnalysisStatus::Turning,
                    Ok(_) => AnalysisStatus::Done,
                    Err(_) => AnalysisStatus::Failed,
                };
                cx.processes.send(process, command.unwrap_or(EngineCommand::Rest));
            }
            // It searches after its handshake.
            Some(_) => (),
        }
        self.publish(cx, game, engine);
    }

    fn start_engine(
        &mut self,
        games: &Games,
        engines: &Engines,
        cx: &mut Context<'_>,
        (game, engine): (GameId, EngineId),
    ) {
        let variant = games.get(game).map(GameSession::game);
        let purpose = Purpose::Analyse { game };
        let started = engines.start_with(cx, engine, purpose, variant, ValuesFor::Analyse);
        let Some(panel) = self.panel_mut(game, engine) else { return };
        match started {
            Ok(process) => {
                panel.state.process = Some(process);
                panel.state.status = AnalysisStatus::Starting;
                panel.state.error = None;
            }
            Err(error) => {
                panel.state.status = AnalysisStatus::Failed;
                panel.state.error = Some(error.into());
            }
        }
    }

    /// The command to search the current node; `Rest` if there is nothing to search.
    fn search_command(
        &mut self,
        games: &Games,
        cx: &Context<'_>,
        (game, engine): (GameId, EngineId),
    ) -> Result<EngineCommand, ErrorInfo> {
        let (Some(panel), Some(session)) = (self.panel_mut(game, engine), games.get(game)) else {
            return Ok(EngineCommand::Rest);
        };
        let dialect = panel.state.process.and_then(|id| cx.processes.dialect(id));
        let Some(dialect) = dialect else { return Ok(EngineCommand::Rest) };
        let codec = MoveCodec::new(dialect, session.game()).ok_or(ErrorCode::UnsupportedVariant)?;
        let (node, settings) = (panel.state.node, &panel.state.settings);
        let line = session.tree().engine_line(node).ok_or(ErrorCode::GameChanged)?;
        let EngineLine { start: mut root, mut moves, mut position } = line;
        if settings.threat {
            position.play_null().map_err(|_| ErrorCode::NullMoveNotAllowed)?;
            root = position.clone();
            moves.clear();
        }
        if position.legal_moves().is_empty() {
            return Ok(EngineCommand::Rest);
        }
        let sent = codec.encode_position(&root, &moves).ok_or(ErrorCode::UnsupportedPosition)?;
        let game = match &panel.game {
            Some(game) => game.at(sent),
            None => EngineGame::new(sent, codec.new_game()),
        };
        let mut search = search(settings, dialect).lines(settings.lines.max(1));
        if !settings.only.is_empty() && !settings.threat {
            let mut only = MoveList::EMPTY;
            for mv in &settings.only {
                only.push(codec.encode_text(mv).ok_or(ErrorCode::UnsupportedPosition)?);
            }
            search = search.only(only);
        }
        let shown = usize::try_from(settings.lines).unwrap_or(0);
        panel.game = Some(game.clone());
        let (search_id, kind) = (panel.search_id, SearchKind::Analyse);
        let spec = SearchSpec { search_id, kind, game, search, position, codec, shown };
        Ok(EngineCommand::Search(Box::new(spec)))
    }

    pub(super) fn on_event(
        &mut self,
        games: &Games,
        engines: &Engines,
        cx: &mut Context<'_>,
        (process, game): (ProcessId, GameId),
        event: SearchEvent,
    ) {
        let panels = self.games.get_mut(&game).into_iter().flatten();
        let mut panels = panels.filter(|(_, panel)| panel.state.process == Some(process));
        let Some((engine, panel)) = panels.next() else { return };
        let engine = *engine;
        let Panel { state, search_id, game: identity, .. } = panel;
        let is_stopped = state.status == AnalysisStatus::Stopped;
        match event {
            SearchEvent::Ready if !is_stopped => {
                return self.search(games, engines, cx, (game, engine));
            }
            SearchEvent::Started(id)
                if id == *search_id && state.status == AnalysisStatus::Starting =>
            {
                state.status = AnalysisStatus::Turning;
            }
            SearchEvent::Info(id, info) if id == *search_id => {
                state.info = *info;
                if !is_stopped {
                    state.status = AnalysisStatus::Searching;
                }
            }
            SearchEvent::Finished(id, _, info) if id == *search_id => {
                state.info = *info;
                if !is_stopped {
                    state.status = AnalysisStatus::Done;
                }
            }
            SearchEvent::Rejected(id, why) if id == *search_id => {
                state.status = AnalysisStatus::Failed;
                state.error = Some(why);
            }
            SearchEvent::Exited { failure, restart } => {
                state.process = None;
                *identity = None;
                if restart {
                    state.status = AnalysisStatus::Turning;
                    return self.search(games, engines, cx, (game, engine));
                }
                state.status = match failure {
                    Some(_) => AnalysisStatus::Failed,
                    None => AnalysisStatus::Stopped,
                };
                state.error = failure;
            }
            // It belongs to an earlier search.
            SearchEvent::Ready
            | SearchEvent::Started(_)
            | SearchEvent::Info(..)
            | SearchEvent::Finished(..)
            | SearchEvent::Rejected(..) => return,
        }
        self.publish(cx, game, engine);
    }
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

fn search(settings: &AnalysisSettings, dialect: Dialect) -> Search {
    Search::new(match settings.goal {
        AnalysisGoal::Infinite => Limit::Infinite,
        AnalysisGoal::Depth { depth } => Limit::Depth(depth),
        AnalysisGoal::Nodes { nodes } => Limit::Nodes(nodes),
        AnalysisGoal::Time { time } => Limit::millis(time),
        AnalysisGoal::Mate { limit } => {
            let mate = match dialect {
                Dialect::Uci => MateLimit::Moves(u32::try_from(limit).unwrap_or(u32::MAX)),
                Dialect::Usi if limit == 0 => MateLimit::Infinite,
                Dialect::Usi => MateLimit::Time(Duration::from_millis(limit)),
            };
            Limit::Go(Box::new(Go { mate: Some(mate), ..Go::default() }))
        }
    })
}
