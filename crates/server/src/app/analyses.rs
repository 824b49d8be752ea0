//! Analysis that follows the board: for each engine of a game one lane.
//!
//! What an engine tells is taken only if it is about the search that was asked for last, and that is
//! always about the node that the lane says.

use std::time::Duration;

use readyok_client::{Game as WireGame, Limit, Search};
use readyok_protocol::{Dialect, Go, MateLimit, MoveList};
use readyok_rules::{MoveCodec, Position};

use super::AppState;
use super::failures::{cannot_pass, game_changed, other_game, untold};
use crate::engine::{EngineCommand, SearchKind, SearchSpec};
use crate::game::{GameSession, api_error, illegal, no_such, passed, too_many};
use crate::wire::{
    AnalysisDelta, AnalysisGoal, AnalysisSettings, AnalysisState, AnalysisStatus, Answer, ApiError,
    ApiErrorCode, Delta, EngineAnalysis, EngineId, Failure, GameId, NodeId, Problem,
    ProblemKind as Kind, ProcessId, Purpose, SearchInfo, Thing, Topic, ValuesFor,
};

/// So many variations can be asked for.
const MOST_LINES: u32 = 20;
/// So many engines can analyse one game.
const MOST_LANES: usize = 16;

/// One engine that analyses a game.
pub(super) struct Panel {
    lane: EngineAnalysis,
    /// The search that was asked for last.
    search_id: u64,
    /// Where the moves of `only` were chosen.
    only_at: NodeId,
    /// The identity of the game for this engine.
    game: Option<WireGame>,
}

impl AppState {
    pub(super) fn analysis_state(&self, id: GameId) -> AnalysisState {
        let lanes = self.lanes.get(&id);
        AnalysisState {
            lanes: lanes.into_iter().flatten().map(|(_, room)| room.lane.clone()).collect(),
        }
    }

    fn publish_lane(&mut self, game: GameId, engine: EngineId) {
        let topic = Topic::Analysis(game);
        if !self.hub.is_wanted(topic) {
            return;
        }
        let lane = self.lanes.get(&game).and_then(|lanes| lanes.get(&engine));
        if let Some(room) = lane {
            let delta = AnalysisDelta { lanes: vec![room.lane.clone()], removed: Vec::new() };
            self.hub.publish(topic, Delta::Analysis(delta));
        }
    }

    fn lane_mut(&mut self, game: GameId, engine: EngineId) -> Option<&mut Panel> {
        self.lanes.get_mut(&game)?.get_mut(&engine)
    }

    /// Has an engine analyse, or changes what it does.
    pub(super) fn analyse(
        &mut self,
        game: GameId,
        engine: EngineId,
        settings: AnalysisSettings,
    ) -> Result<Answer, ApiError> {
        let room = self.room(game)?;
        let cursor = room.cursor();
        let position = room.tree().position(cursor);
        let position = position
            .ok_or_else(|| no_such(Thing::Position, "", "there is no position to analyse"))?;
        check_settings(&settings, &position)?;
        let playable = {
            let registered = self.registry.get(engine)?;
            let dialect = registered.dialect(Some(position.game().into()));
            dialect.is_none_or(|dialect| MoveCodec::new(dialect, position.game()).is_some())
        };
        if !playable {
            return Err(ApiError::because(ApiErrorCode::Engine, other_game()));
        }
        let lanes = self.lanes.entry(game).or_default();
        if MOST_LANES <= lanes.len() && !lanes.contains_key(&engine) {
            return Err(too_many(Thing::Engine, "too many engines analyse this game"));
        }
        let room = lanes.entry(engine).or_insert_with(|| Panel {
            lane: EngineAnalysis {
                engine,
                settings: settings.clone(),
                status: AnalysisStatus::Starting,
                process: None,
                node: cursor,
                told: SearchInfo::default(),
                error: None,
            },
            search_id: 0,
            only_at: cursor,
            game: None,
        });
        let stays = room.lane.settings.locked && settings.locked;
        room.only_at = if stays { room.lane.node } else { cursor };
        room.lane.settings = settings;
        if !stays {
            room.lane.node = cursor;
        }
        room.lane.error = None;
        room.lane.status = AnalysisStatus::Turning;
        self.search_lane(game, engine);
        Ok(Answer::Done)
    }

    /// All lanes of a game follow its cursor.
    pub(super) fn steer_all(&mut self, game: GameId) {
        let Some(cursor) = self.rooms.get(&game).map(GameSession::cursor) else { return };
        let engines: Vec<EngineId> =
            self.lanes.get(&game).into_iter().flatten().map(|(engine, _)| *engine).collect();
        for engine in engines {
            let Some(room) = self.lane_mut(game, engine) else { continue };
            let lane = &mut room.lane;
            if lane.settings.locked
                || matches!(lane.status, AnalysisStatus::Stopped | AnalysisStatus::Failed)
                || lane.node == cursor
            {
                continue;
            }
            lane.node = cursor;
            if room.only_at != cursor {
                lane.settings.only.clear();
            }
            self.search_lane(game, engine);
        }
    }

    /// Searches what a lane is to search now. The search before is stopped and drained first.
    fn search_lane(&mut self, game: GameId, engine: EngineId) {
        self.last_search_id += 1;
        let search_id = self.last_search_id;
        let Some(room) = self.lane_mut(game, engine) else { return };
        room.search_id = search_id;
        room.lane.told = SearchInfo::default();
        let process = room.lane.process;
        let alive = process.and_then(|id| self.processes.get(&id)?.handle.as_ref()).is_some();
        if !alive {
            self.start_lane(game, engine);
        } else if let Some(id) = process
            && self.processes.get(&id).is_some_and(|running| running.dialect.is_some())
        {
            let command = self.lane_order(game, engine, search_id);
            let status = match &command {
                Ok(EngineCommand::Search(_)) => AnalysisStatus::Turning,
                Ok(_) => AnalysisStatus::Done,
                Err(_) => AnalysisStatus::Failed,
            };
            let error = command.as_ref().err().cloned();
            let handle = self.processes.get(&id).and_then(|running| running.handle.as_ref());
            if let Some(handle) = handle {
                handle.send(command.unwrap_or(EngineCommand::Rest));
            }
            if let Some(room) = self.lane_mut(game, engine) {
                (room.lane.status, room.lane.error) = (status, error);
            }
        }
        self.publish_lane(game, engine);
    }

    fn start_lane(&mut self, game: GameId, engine: EngineId) {
        let variant = self.rooms.get(&game).map(|room| room.game().into());
        let values = self.registry.get(engine).map(|it| it.values(ValuesFor::Analyse));
        let started = values.and_then(|values| {
            self.start_process(engine, Purpose::Analyse { game }, variant, values, false)
        });
        let Some(room) = self.lane_mut(game, engine) else { return };
        match started {
            Ok(process) => {
                room.lane.process = Some(process);
                room.lane.status = AnalysisStatus::Starting;
                room.lane.error = None;
            }
            Err(error) => {
                room.lane.status = AnalysisStatus::Failed;
                room.lane.error = Some(error.into());
            }
        }
    }

    /// What the engine of a lane is to do now; `Rest` where there is nothing to search.
    fn lane_order(
        &mut self,
        game: GameId,
        engine: EngineId,
        search_id: u64,
    ) -> Result<EngineCommand, Failure> {
        let lane = self.lanes.get(&game).and_then(|lanes| lanes.get(&engine));
        let (Some(lane), Some(board)) = (lane, self.rooms.get(&game)) else {
            return Ok(EngineCommand::Rest);
        };
        let process = lane.lane.process.and_then(|id| self.processes.get(&id));
        let Some(dialect) = process.and_then(|running| running.dialect) else {
            return Ok(EngineCommand::Rest);
        };
        let codec = MoveCodec::new(dialect, board.game()).ok_or_else(other_game)?;
        let (node, settings) = (lane.lane.node, &lane.lane.settings);
        let moves = board.tree().moves_to(node);
        let position = board.tree().position(node).ok_or_else(game_changed)?;
        let (root, moves, position) = if settings.threat {
            let passed = passed(&position).ok_or_else(cannot_pass)?;
            (passed.clone(), Vec::new(), passed)
        } else {
            (board.tree().start().clone(), moves, position)
        };
        if position.legal_moves().is_empty() {
            return Ok(EngineCommand::Rest);
        }
        let sent = codec.encode_position(&root, &moves).ok_or_else(untold)?;
        let wire = match &lane.game {
            Some(game) => game.at(sent),
            None => WireGame::new(sent, codec.new_game()),
        };
        let mut search = search(settings, dialect).lines(settings.lines.max(1));
        if !settings.only.is_empty() && !settings.threat {
            let mut only = MoveList::EMPTY;
            for word in &settings.only {
                only.push(codec.encode_text(word).ok_or_else(untold)?);
            }
            search = search.only(only);
        }
        let job = SearchSpec {
            search_id,
            kind: SearchKind::Analyse,
            game: wire.clone(),
            search,
            position,
            codec,
            shown: usize::try_from(settings.lines).unwrap_or(0),
        };
        if let Some(room) = self.lane_mut(game, engine) {
            room.game = Some(wire);
        }
        Ok(EngineCommand::Search(Box::new(job)))
    }

    fn lane_of(&self, process: ProcessId, game: GameId) -> Option<EngineId> {
        let lanes = self.lanes.get(&game)?;
        lanes.iter().find(|(_, room)| room.lane.process == Some(process)).map(|(id, _)| *id)
    }

    pub(super) fn lane_greeted(&mut self, process: ProcessId, game: GameId) {
        if let Some(engine) = self.lane_of(process, game)
            && let Some(room) = self.lane_mut(game, engine)
            && room.lane.status != AnalysisStatus::Stopped
        {
            self.search_lane(game, engine);
        }
    }

    pub(super) fn lane_begins(&mut self, process: ProcessId, game: GameId, search_id: u64) {
        if let Some(engine) = self.lane_of(process, game)
            && let Some(room) = self.lane_mut(game, engine)
            && room.search_id == search_id
            && room.lane.status == AnalysisStatus::Starting
        {
            room.lane.status = AnalysisStatus::Turning;
            self.publish_lane(game, engine);
        }
    }

    pub(super) fn lane_tells(
        &mut self,
        process: ProcessId,
        game: GameId,
        search_id: u64,
        told: SearchInfo,
        over: bool,
    ) {
        if let Some(engine) = self.lane_of(process, game)
            && let Some(room) = self.lane_mut(game, engine)
            && room.search_id == search_id
        {
            room.lane.told = told;
            if room.lane.status != AnalysisStatus::Stopped {
                room.lane.status =
                    if over { AnalysisStatus::Done } else { AnalysisStatus::Searching };
            }
            self.publish_lane(game, engine);
        }
    }

    pub(super) fn lane_refused(
        &mut self,
        process: ProcessId,
        game: GameId,
        search_id: u64,
        why: Failure,
    ) {
        if let Some(engine) = self.lane_of(process, game)
            && let Some(room) = self.lane_mut(game, engine)
            && room.search_id == search_id
        {
            room.lane.status = AnalysisStatus::Failed;
            room.lane.error = Some(why);
            self.publish_lane(game, engine);
        }
    }

    pub(super) fn lane_ended(
        &mut self,
        process: ProcessId,
        game: GameId,
        why: Option<&Failure>,
        restart: bool,
    ) {
        let Some(engine) = self.lane_of(process, game) else { return };
        let Some(room) = self.lane_mut(game, engine) else { return };
        room.lane.process = None;
        room.game = None;
        if restart {
            room.lane.status = AnalysisStatus::Turning;
            return self.search_lane(game, engine);
        }
        room.lane.status =
            if why.is_some() { AnalysisStatus::Failed } else { AnalysisStatus::Stopped };
        room.lane.error = why.cloned();
        self.publish_lane(game, engine);
    }

    pub(super) fn restart_lane(
        &mut self,
        game: GameId,
        engine: EngineId,
    ) -> Result<Answer, ApiError> {
        let room = self.lane_mut(game, engine).ok_or_else(|| no_lane(engine))?;
        room.lane.status = AnalysisStatus::Turning;
        self.search_lane(game, engine);
        Ok(Answer::Done)
    }

    /// Stops engines; what they have told stays.
    pub(super) fn stop_lanes(
        &mut self,
        game: GameId,
        engine: Option<EngineId>,
    ) -> Result<Answer, ApiError> {
        self.room(game)?;
        let all: Vec<EngineId> =
            self.lanes.get(&game).into_iter().flatten().map(|(id, _)| *id).collect();
        if let Some(engine) = engine.filter(|engine| !all.contains(engine)) {
            return Err(no_lane(engine));
        }
        for id in all.into_iter().filter(|id| engine.is_none_or(|engine| engine == *id)) {
            let Some(room) = self.lane_mut(game, id) else { continue };
            room.lane.status = AnalysisStatus::Stopped;
            let process = room.lane.process.and_then(|process| self.processes.get(&process));
            if let Some(handle) = process.and_then(|running| running.handle.as_ref()) {
                // The last lines come with the answer.
                handle.send(EngineCommand::MoveNow);
            }
            self.publish_lane(game, id);
        }
        Ok(Answer::Done)
    }

    /// Takes an engine away.
    pub(super) fn end_lane(&mut self, game: GameId, engine: EngineId) -> Result<Answer, ApiError> {
        self.room(game)?;
        if self.remove_lane(game, engine) { Ok(Answer::Done) } else { Err(no_lane(engine)) }
    }

    pub(super) fn remove_lane(&mut self, game: GameId, engine: EngineId) -> bool {
        let removed = self.lanes.get_mut(&game).and_then(|lanes| lanes.remove(&engine));
        let Some(room) = removed else { return false };
        if self.lanes.get(&game).is_some_and(std::collections::BTreeMap::is_empty) {
            self.lanes.remove(&game);
        }
        let process = room.lane.process.and_then(|process| self.processes.get(&process));
        if let Some(handle) = process.and_then(|running| running.handle.as_ref()) {
            handle.send(EngineCommand::Quit);
        }
        let delta = AnalysisDelta { lanes: Vec::new(), removed: vec![engine] };
        self.hub.publish(Topic::Analysis(game), Delta::Analysis(delta));
        true
    }

    /// Takes all engines of a game away.
    pub(super) fn end_lanes(&mut self, game: GameId) {
        let all: Vec<EngineId> =
            self.lanes.get(&game).into_iter().flatten().map(|(id, _)| *id).collect();
        for engine in all {
            self.remove_lane(game, engine);
        }
    }
}

fn no_lane(engine: EngineId) -> ApiError {
    let text = format!("engine {engine} does not analyse this game");
    api_error(ApiErrorCode::NotFound, Kind::NotAnalysed, text)
}

fn check_settings(settings: &AnalysisSettings, position: &Position) -> Result<(), ApiError> {
    if MOST_LINES < settings.lines {
        let why = Problem::new(Kind::LineCount).with("limit", &MOST_LINES);
        return Err(api_error(ApiErrorCode::TooMuch, why, "there can be 0 to 20 variations"));
    }
    for word in &settings.only {
        position.parse_move(word).map_err(|error| illegal(&error))?;
    }
    if settings.threat && passed(position).is_none() {
        return Err(ApiError::because(ApiErrorCode::NotNow, cannot_pass()));
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
