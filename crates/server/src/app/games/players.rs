//! The engines that play games.

use std::collections::BTreeMap;

use readyok_client::{Dialect, Search, SearchResult};
use readyok_protocol::{GameResult, Go};
use readyok_rules::MoveCodec;

use super::Games;
use crate::app::components::{Context, SearchEvent, SearchId};
use crate::app::engines::Engines;
use crate::app::processes::ProcessSpec;
use crate::engine::{EngineCommand, SearchKind, SearchSpec, answer};
use crate::game::{ActiveGame, Document, Effect, EngineLine, GameSession, SearchRequest};
use crate::wire::{
    ApiError, EngineFailure, ErrorCategory, ErrorCode, ErrorInfo, GameId, MoveInfo, ProcessId,
    Purpose, SearchInfo, Side, Strength, ValuesFor,
};

/// The process of a side of a game.
pub(super) struct PlayerProcess {
    id: ProcessId,
    /// Requests that wait for its handshake.
    pending: Vec<SearchRequest>,
    /// The strength to set after the handshake, if its options were unknown.
    strength: Option<Strength>,
}

impl Games {
    /// Sends a request to the engine of a side, which is started if necessary. Returns further effects.
    pub(super) fn request(
        &mut self,
        engines: &Engines,
        cx: &mut Context<'_>,
        key @ (id, _): (GameId, Side),
        request: SearchRequest,
    ) -> Vec<Effect> {
        let player = self.players.get(&key).filter(|player| cx.processes.is_running(player.id));
        if player.is_some() {
            self.send_request(cx, key, request);
            return Vec::new();
        }
        if !matches!(request, SearchRequest::Think { .. }) {
            return Vec::new();
        }
        match self.start_player(engines, cx, key) {
            Ok(mut player) => {
                player.pending.push(request);
                self.players.insert(key, player);
                Vec::new()
            }
            Err(error) => {
                let Ok((active, document)) = self.active_mut(id) else { return Vec::new() };
                let failure = EngineFailure { side: key.1, error: Some(error.error) };
                active.interrupt_by(document, failure, cx.now)
            }
        }
    }

    fn send_request(&mut self, cx: &Context<'_>, key: (GameId, Side), request: SearchRequest) {
        let Some(session) = self.sessions.get(&key.0) else { return };
        let Some(player) = self.players.get_mut(&key) else { return };
        let Some(dialect) = cx.processes.dialect(player.id) else {
            match request {
                SearchRequest::Rest => player.pending.clear(),
                SearchRequest::Leave { .. } => {
                    player.pending.clear();
                    cx.processes.quit(player.id);
                }
                SearchRequest::Think { .. }
                | SearchRequest::Hit { .. }
                | SearchRequest::MoveNow => player.pending.push(request),
            }
            return;
        };
        let command = match request {
            SearchRequest::Think { search_id, line, budget, ponder } => {
                let go = Go { ponder, ..budget.go(dialect) };
                let kind = if ponder { SearchKind::Ponder } else { SearchKind::Play };
                match search_spec(session, dialect, &line, go, (search_id, kind)) {
                    Some(spec) => EngineCommand::Search(Box::new(spec)),
                    // The engine fails, as it does not support the position.
                    None => EngineCommand::Quit,
                }
            }
            SearchRequest::Hit { budget } => EngineCommand::Hit(budget.go(dialect).clocks),
            SearchRequest::MoveNow => EngineCommand::MoveNow,
            SearchRequest::Rest => EngineCommand::Rest,
            SearchRequest::Leave { won } => {
                cx.processes.send(player.id, EngineCommand::Rest);
                let result = match won {
                    Some(true) => GameResult::Win,
                    Some(false) => GameResult::Lose,
                    None => GameResult::Draw,
                };
                cx.processes.send(player.id, EngineCommand::GameOver(result));
                EngineCommand::Quit
            }
        };
        cx.processes.send(player.id, command);
    }

    fn start_player(
        &self,
        engines: &Engines,
        cx: &mut Context<'_>,
        (id, side): (GameId, Side),
    ) -> Result<PlayerProcess, ApiError> {
        let session = self.sessions.get(&id);
        let variant = session.map(GameSession::game);
        let player = session.and_then(|session| session.slot(side)?.engine().cloned());
        let player = player
            .ok_or_else(|| ApiError::new(ErrorCategory::NotFound, ErrorCode::NoEngineOnSide))?;
        let engine = engines.get(player.engine)?;
        let is_unknown = engine.learned(variant).is_none();
        let spec = ProcessSpec {
            engine: player.engine,
            purpose: Purpose::Play { game: id },
            variant,
            values: engine.values(ValuesFor::Play),
            overrides: engine.values_for(&player, variant),
            ponders: player.ponder,
        };
        let process = engines.start_process(cx, spec)?;
        let strength = player.strength.filter(|_| is_unknown);
        Ok(PlayerProcess { id: process, pending: Vec::new(), strength })
    }

    pub(in crate::app) fn on_player_event(
        &mut self,
        engines: &Engines,
        cx: &mut Context<'_>,
        (process, game): (ProcessId, GameId),
        event: SearchEvent,
    ) {
        let player = self.players.iter().find(|(_, player)| player.id == process);
        let Some(key) = player.map(|(key, _)| *key) else { return };
        let side = key.1;
        let effects = match event {
            SearchEvent::Ready => {
                self.on_player_ready(engines, cx, key);
                Vec::new()
            }
            SearchEvent::Started(search) => {
                let Ok((active, document)) = self.active_mut(game) else { return };
                active.on_search_started(document, side, search, cx.now);
                Vec::new()
            }
            SearchEvent::Info(search, info) => {
                let Ok((active, document)) = self.active_mut(game) else { return };
                active.on_info(document, side, search, move_info(&info));
                Vec::new()
            }
            SearchEvent::Finished(search, result, info) => {
                self.on_move(cx, (process, key), (search, &result, &info))
            }
            SearchEvent::Rejected(_, why) => self.on_player_failed(cx, (process, key), Some(&why)),
            SearchEvent::Exited { failure, restart } => {
                let effects = self.on_player_failed(cx, (process, key), failure.as_ref());
                self.flush(engines, cx, game, effects);
                if restart {
                    // The game shows why it cannot continue.
                    let _ = self.play(engines, cx, game, ActiveGame::resume);
                }
                return;
            }
        };
        self.flush(engines, cx, game, effects);
    }

    fn on_player_ready(&mut self, engines: &Engines, cx: &mut Context<'_>, key: (GameId, Side)) {
        let Some(player) = self.players.get_mut(&key) else { return };
        let (process, strength) = (player.id, player.strength.take());
        let pending = std::mem::take(&mut player.pending);
        let name = cx.processes.get(process).and_then(|it| it.identity());
        if let (Some(name), Ok((active, document))) = (name, self.active_mut(key.0)) {
            active.set_name(document, key.1, &name.name);
        }
        if let Some(strength) = strength {
            self.limit_strength(engines, cx, (process, key), strength);
        }
        for request in pending {
            self.send_request(cx, key, request);
        }
    }

    /// Sets the strength of an engine whose options were unknown at its start.
    fn limit_strength(
        &self,
        engines: &Engines,
        cx: &mut Context<'_>,
        (process, (game, side)): (ProcessId, (GameId, Side)),
        strength: Strength,
    ) {
        let Some(session) = self.sessions.get(&game) else { return };
        let Some(player) = session.slot(side).and_then(|slot| slot.engine()) else { return };
        let Ok(engine) = engines.get(player.engine) else { return };
        let values = engine.strength_values(session.game(), strength.value);
        let mut values: BTreeMap<_, _> = values.into_iter().collect();
        values.retain(|name, _| !player.options.contains_key(name));
        if !values.is_empty()
            && let Some(process) = cx.processes.get_mut(process)
        {
            process.override_values(values);
        }
    }

    fn on_move(
        &mut self,
        cx: &Context<'_>,
        (process, (game, side)): (ProcessId, (GameId, Side)),
        (search, result, info): (SearchId, &SearchResult, &SearchInfo),
    ) -> Vec<Effect> {
        let dialect = cx.processes.dialect(process);
        let kind = self.sessions.get(&game).map(GameSession::game);
        let codec = dialect.zip(kind).and_then(|(dialect, kind)| MoveCodec::new(dialect, kind));
        let (Some(codec), Ok((active, document))) = (codec, self.active_mut(game)) else {
            return Vec::new();
        };
        active.on_info(document, side, search, move_info(info));
        active.on_answer(document, side, (search, &answer(result, codec)), cx.now)
    }

    /// Interrupts a game against a human. Of two engines, the failed one loses.
    fn on_player_failed(
        &mut self,
        cx: &Context<'_>,
        (process, key): (ProcessId, (GameId, Side)),
        why: Option<&ErrorInfo>,
    ) -> Vec<Effect> {
        self.players.remove(&key);
        let (game, side) = key;
        let was_ready = cx.processes.dialect(process).is_some();
        let Ok((active, document)) = self.active_mut(game) else { return Vec::new() };
        let against_engine = active.slot(side.other()).engine().is_some();
        match why {
            _ if !active.is_running() => Vec::new(),
            Some(why) if was_ready && against_engine => {
                active.on_engine_failed(document, side, why, cx.now)
            }
            Some(_) | None => {
                let failure = EngineFailure { side, error: why.cloned() };
                active.interrupt_by(document, failure, cx.now)
            }
        }
    }

    fn active_mut(&mut self, id: GameId) -> Result<(&mut ActiveGame, &mut Document), ApiError> {
        self.session_mut(id)?.active_mut()
    }
}

/// A search for a move in a game. None if the engine does not support the position.
pub(in crate::app) fn search_spec(
    session: &GameSession,
    dialect: Dialect,
    line: &EngineLine,
    go: Go<'static>,
    (search_id, kind): (SearchId, SearchKind),
) -> Option<SearchSpec> {
    let codec = MoveCodec::new(dialect, session.game())?;
    let game = session.engine_game(codec, line)?;
    let position = line.position.clone();
    let search = Search::from(go);
    Some(SearchSpec { search_id, kind, game, search, position, codec, shown: 1 })
}

fn move_info(info: &SearchInfo) -> MoveInfo {
    let best = info.lines.first();
    MoveInfo {
        node: None,
        depth: info.depth,
        score: best.and_then(|line| line.score),
        nodes: info.nodes,
        nps: info.nps,
        time: info.time,
        pv: best.map(|line| line.pv.clone()).unwrap_or_default(),
    }
}
