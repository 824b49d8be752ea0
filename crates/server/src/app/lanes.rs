//! Analysis that follows the board: for each engine of a game one lane.
//!
//! What an engine tells is taken only if it is about the search that was asked for last, and that is
//! always about the node that the lane says.

use std::time::Duration;

use readyok_client::{Game as WireGame, Limit, Search};
use readyok_protocol::{Dialect, Go, MateLimit, MoveList};
use readyok_rules::{MoveCodec, Position};

use super::World;
use super::failures::{cannot_pass, game_changed, other_game, untold};
use crate::engine::{Job, Order, Purpose};
use crate::game::{Room, illegal, no_such, passed, refusal, too_many};
use crate::wire::{
    AnalysisDelta, AnalysisGoal, AnalysisSettings, AnalysisState, Answer, Delta, EngineId, Failure,
    GameId, Lane, LaneStatus, NodeId, Problem, ProblemKind as Kind, ProcessId, Refusal,
    RefusalCode, Thing, Told, Topic, Use, ValuesFor,
};

/// So many variations can be asked for.
const MOST_LINES: u32 = 20;
/// So many engines can analyse one game.
const MOST_LANES: usize = 16;

/// One engine that analyses a game.
pub(super) struct LaneRoom {
    lane: Lane,
    /// The search that was asked for last.
    ticket: u64,
    /// Where the moves of `only` were chosen.
    only_at: NodeId,
    /// The identity of the game for this engine.
    game: Option<WireGame>,
}

impl World {
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

    fn lane_mut(&mut self, game: GameId, engine: EngineId) -> Option<&mut LaneRoom> {
        self.lanes.get_mut(&game)?.get_mut(&engine)
    }

    /// Has an engine analyse, or changes what it does.
    pub(super) fn analyse(
        &mut self,
        game: GameId,
        engine: EngineId,
        settings: AnalysisSettings,
    ) -> Result<Answer, Refusal> {
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
            return Err(Refusal::because(RefusalCode::Engine, other_game()));
        }
        let lanes = self.lanes.entry(game).or_default();
        if MOST_LANES <= lanes.len() && !lanes.contains_key(&engine) {
            return Err(too_many(Thing::Engine, "too many engines analyse this game"));
        }
        let room = lanes.entry(engine).or_insert_with(|| LaneRoom {
            lane: Lane {
                engine,
                settings: settings.clone(),
                status: LaneStatus::Starting,
                process: None,
                node: cursor,
                told: Told::default(),
                error: None,
            },
            ticket: 0,
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
        room.lane.status = LaneStatus::Turning;
        self.search_lane(game, engine);
        Ok(Answer::Done)
    }

    /// All lanes of a game follow its cursor.
    pub(super) fn steer_all(&mut self, game: GameId) {
        let Some(cursor) = self.rooms.get(&game).map(Room::cursor) else { return };
        let engines: Vec<EngineId> =
            self.lanes.get(&game).into_iter().flatten().map(|(engine, _)| *engine).collect();
        for engine in engines {
            let Some(room) = self.lane_mut(game, engine) else { continue };
            let lane = &mut room.lane;
            if lane.settings.locked
                || matches!(lane.status, LaneStatus::Stopped | LaneStatus::Failed)
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
        self.last_ticket += 1;
        let ticket = self.last_ticket;
        let Some(room) = self.lane_mut(game, engine) else { return };
        room.ticket = ticket;
        room.lane.told = Told::default();
        let process = room.lane.process;
        let alive = process.and_then(|id| self.processes.get(&id)?.handle.as_ref()).is_some();
        if !alive {
            self.start_lane(game, engine);
        } else if let Some(id) = process
            && self.processes.get(&id).is_some_and(|running| running.dialect.is_some())
        {
            let order = self.lane_order(game, engine, ticket);
            let status = match &order {
                Ok(Order::Search(_)) => LaneStatus::Turning,
                Ok(_) => LaneStatus::Done,
                Err(_) => LaneStatus::Failed,
            };
            let error = order.as_ref().err().cloned();
            let handle = self.processes.get(&id).and_then(|running| running.handle.as_ref());
            if let Some(handle) = handle {
                handle.order(order.unwrap_or(Order::Rest));
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
            self.start_process(engine, Use::Analyse { game }, variant, values, false)
        });
        let Some(room) = self.lane_mut(game, engine) else { return };
        match started {
            Ok(process) => {
                room.lane.process = Some(process);
                room.lane.status = LaneStatus::Starting;
                room.lane.error = None;
            }
            Err(error) => {
                room.lane.status = LaneStatus::Failed;
                room.lane.error = Some(error.into());
            }
        }
    }

    /// What the engine of a lane is to do now; `Rest` where there is nothing to search.
    fn lane_order(
        &mut self,
        game: GameId,
        engine: EngineId,
        ticket: u64,
    ) -> Result<Order, Failure> {
        let lane = self.lanes.get(&game).and_then(|lanes| lanes.get(&engine));
        let (Some(lane), Some(board)) = (lane, self.rooms.get(&game)) else {
            return Ok(Order::Rest);
        };
        let process = lane.lane.process.and_then(|id| self.processes.get(&id));
        let Some(dialect) = process.and_then(|running| running.dialect) else {
            return Ok(Order::Rest);
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
            return Ok(Order::Rest);
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
        let job = Job {
            ticket,
            purpose: Purpose::Analyse,
            game: wire.clone(),
            search,
            position,
            codec,
            shown: usize::try_from(settings.lines).unwrap_or(0),
        };
        if let Some(room) = self.lane_mut(game, engine) {
            room.game = Some(wire);
        }
        Ok(Order::Search(Box::new(job)))
    }

    fn lane_of(&self, process: ProcessId, game: GameId) -> Option<EngineId> {
        let lanes = self.lanes.get(&game)?;
        lanes.iter().find(|(_, room)| room.lane.process == Some(process)).map(|(id, _)| *id)
    }

    pub(super) fn lane_greeted(&mut self, process: ProcessId, game: GameId) {
        if let Some(engine) = self.lane_of(process, game)
            && let Some(room) = self.lane_mut(game, engine)
            && room.lane.status != LaneStatus::Stopped
        {
            self.search_lane(game, engine);
        }
    }

    pub(super) fn lane_begins(&mut self, process: ProcessId, game: GameId, ticket: u64) {
        if let Some(engine) = self.lane_of(process, game)
            && let Some(room) = self.lane_mut(game, engine)
            && room.ticket == ticket
            && room.lane.status == LaneStatus::Starting
        {
            room.lane.status = LaneStatus::Turning;
            self.publish_lane(game, engine);
        }
    }

    pub(super) fn lane_tells(
        &mut self,
        process: ProcessId,
        game: GameId,
        ticket: u64,
        told: Told,
        over: bool,
    ) {
        if let Some(engine) = self.lane_of(process, game)
            && let Some(room) = self.lane_mut(game, engine)
            && room.ticket == ticket
        {
            room.lane.told = told;
            if room.lane.status != LaneStatus::Stopped {
                room.lane.status = if over { LaneStatus::Done } else { LaneStatus::Searching };
            }
            self.publish_lane(game, engine);
        }
    }

    pub(super) fn lane_refused(
        &mut self,
        process: ProcessId,
        game: GameId,
        ticket: u64,
        why: Failure,
    ) {
        if let Some(engine) = self.lane_of(process, game)
            && let Some(room) = self.lane_mut(game, engine)
            && room.ticket == ticket
        {
            room.lane.status = LaneStatus::Failed;
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
            room.lane.status = LaneStatus::Turning;
            return self.search_lane(game, engine);
        }
        room.lane.status = if why.is_some() { LaneStatus::Failed } else { LaneStatus::Stopped };
        room.lane.error = why.cloned();
        self.publish_lane(game, engine);
    }

    pub(super) fn restart_lane(
        &mut self,
        game: GameId,
        engine: EngineId,
    ) -> Result<Answer, Refusal> {
        let room = self.lane_mut(game, engine).ok_or_else(|| no_lane(engine))?;
        room.lane.status = LaneStatus::Turning;
        self.search_lane(game, engine);
        Ok(Answer::Done)
    }

    /// Stops engines; what they have told stays.
    pub(super) fn stop_lanes(
        &mut self,
        game: GameId,
        engine: Option<EngineId>,
    ) -> Result<Answer, Refusal> {
        self.room(game)?;
        let all: Vec<EngineId> =
            self.lanes.get(&game).into_iter().flatten().map(|(id, _)| *id).collect();
        if let Some(engine) = engine.filter(|engine| !all.contains(engine)) {
            return Err(no_lane(engine));
        }
        for id in all.into_iter().filter(|id| engine.is_none_or(|engine| engine == *id)) {
            let Some(room) = self.lane_mut(game, id) else { continue };
            room.lane.status = LaneStatus::Stopped;
            let process = room.lane.process.and_then(|process| self.processes.get(&process));
            if let Some(handle) = process.and_then(|running| running.handle.as_ref()) {
                // The last lines come with the answer.
                handle.order(Order::MoveNow);
            }
            self.publish_lane(game, id);
        }
        Ok(Answer::Done)
    }

    /// Takes an engine away.
    pub(super) fn end_lane(&mut self, game: GameId, engine: EngineId) -> Result<Answer, Refusal> {
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
            handle.order(Order::Quit);
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

fn no_lane(engine: EngineId) -> Refusal {
    let text = format!("engine {engine} does not analyse this game");
    refusal(RefusalCode::NotFound, Kind::NotAnalysed, text)
}

fn check_settings(settings: &AnalysisSettings, position: &Position) -> Result<(), Refusal> {
    if MOST_LINES < settings.lines {
        let why = Problem::new(Kind::LineCount).with("limit", &MOST_LINES);
        return Err(refusal(RefusalCode::TooMuch, why, "there can be 0 to 20 variations"));
    }
    for word in &settings.only {
        position.parse_move(word).map_err(|error| illegal(&error))?;
    }
    if settings.threat && passed(position).is_none() {
        return Err(Refusal::because(RefusalCode::NotNow, cannot_pass()));
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
