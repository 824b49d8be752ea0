//! The engines that play games.

use std::collections::BTreeMap;

use readyok_client::EngineFailureKind;
use readyok_protocol::GameResult;

use super::AppState;
use crate::engine::SearchKind;
use crate::game::{ActiveGame, Effect, GameSession, SearchRequest};
use crate::search::{EngineProcess, Goal, Owner, TaskEvent, Wanted};
use crate::time::now;
use crate::wire::{
    ApiError, Coded, EngineFailure, ErrorCategory, ErrorCode, ErrorInfo, GameId, MoveInfo,
    ProcessId, SearchInfo, Side,
};

impl AppState {
    /// Sends a request to the engine of a side, which is started if necessary. Returns further effects.
    pub(super) fn request_from_player(
        &mut self,
        key @ (game, side): (GameId, Side),
        request: SearchRequest,
    ) -> Vec<Effect> {
        let owner = Owner::Player(game, side);
        match request {
            SearchRequest::Think { line, budget, ponder } => {
                let kind = if ponder { SearchKind::Ponder } else { SearchKind::Play };
                let (line, goal) = (*line, Goal::Budget(budget));
                let wanted = Wanted { kind, line, goal, lines: None, only: Vec::new() };
                let begun = self.ensure_player(key).map_err(ErrorInfo::from);
                let begun = begun.and_then(|()| self.tasks.search(owner, wanted, None));
                let Err(error) = begun else { return Vec::new() };
                let Ok((active, document)) = self.active_mut(game) else { return Vec::new() };
                let failure = EngineFailure { side, error: Some(error) };
                return active.interrupt_by(document, failure, now());
            }
            SearchRequest::Hit { budget } => self.tasks.hit(owner, budget),
            SearchRequest::MoveNow => self.tasks.move_now(owner),
            SearchRequest::Rest => self.tasks.rest(owner),
            SearchRequest::Leave { won } => {
                let result = match won {
                    Some(true) => GameResult::Win,
                    Some(false) => GameResult::Lose,
                    None => GameResult::Draw,
                };
                self.tasks.end_player(owner, result);
            }
        }
        Vec::new()
    }

    /// Starts the engine of a side unless it runs.
    fn ensure_player(&mut self, (game, side): (GameId, Side)) -> Result<(), ApiError> {
        let owner = Owner::Player(game, side);
        if self.tasks.process_of(owner).is_some() {
            return Ok(());
        }
        let session = self.sessions.get(&game);
        let variant = session.map(GameSession::game);
        let player = session.and_then(|session| session.slot(side)?.engine());
        let player = player
            .ok_or_else(|| ApiError::new(ErrorCategory::NotFound, ErrorCode::NoEngineOnSide))?;
        let overrides = self.registry.get(player.engine)?.values_for(player, variant);
        let (engine, ponders) = (player.engine, player.ponder);
        self.start_process_with(owner, engine, variant, (overrides, ponders)).map(drop)
    }

    pub(super) fn on_player_event(
        &mut self,
        key @ (game, side): (GameId, Side),
        process: ProcessId,
        event: TaskEvent,
    ) {
        if let TaskEvent::Ready(_) = event {
            self.on_player_ready(key, process);
        }
        let Ok((active, document)) = self.active_mut(game) else { return };
        let effects = match event {
            TaskEvent::Ready(_) => Vec::new(),
            TaskEvent::Started => {
                active.on_search_started(document, side, now());
                Vec::new()
            }
            TaskEvent::Progress(info) => {
                active.on_info(document, side, move_info(&info));
                Vec::new()
            }
            TaskEvent::Done(Ok(found)) => {
                active.on_info(document, side, move_info(&found.info));
                active.on_answer(document, side, &found.answer, now())
            }
            TaskEvent::Done(Err(why)) => self.on_player_failed(key, Some(&why), true),
            TaskEvent::Exited { failure, was_ready, restart } => {
                let effects = self.on_player_failed(key, failure.as_ref(), was_ready);
                self.flush_game(game, effects);
                if restart {
                    // The game shows why it cannot continue.
                    let _ = self.play(game, ActiveGame::resume);
                }
                return;
            }
        };
        self.flush_game(game, effects);
    }

    fn on_player_ready(&mut self, (game, side): (GameId, Side), process: ProcessId) {
        let identity = self.tasks.get(process).and_then(EngineProcess::identity).cloned();
        if let (Some(identity), Ok((active, document))) = (identity, self.active_mut(game)) {
            active.set_name(document, side, &identity.name);
        }
        // The options of an engine can be unknown before its first handshake.
        let Some(session) = self.sessions.get(&game) else { return };
        let Some(player) = session.slot(side).and_then(|slot| slot.engine()) else { return };
        let (Some(strength), Ok(engine)) = (&player.strength, self.registry.get(player.engine))
        else {
            return;
        };
        let Some(process) = self.tasks.get_mut(process) else { return };
        let values = engine.strength_values(session.game(), strength.value);
        let mut values: BTreeMap<_, _> = values.into_iter().collect();
        values.retain(|name, _| {
            !player.options.contains_key(name) && !process.overrides().contains_key(name)
        });
        if !values.is_empty() {
            process.override_values(values);
        }
    }

    /// Interrupts a game against a human. Of two engines, the failed one loses.
    fn on_player_failed(
        &mut self,
        (game, side): (GameId, Side),
        why: Option<&ErrorInfo>,
        was_ready: bool,
    ) -> Vec<Effect> {
        let Ok((active, document)) = self.active_mut(game) else { return Vec::new() };
        let against_engine = active.slot(side.other()).engine().is_some();
        // An engine for other games or positions has made no error.
        let is_supported = !why.is_some_and(|why| {
            use EngineFailureKind::{UnsupportedGame, UnsupportedPosition};
            matches!(why.code, ErrorCode::Engine(Coded(UnsupportedGame | UnsupportedPosition)))
        });
        match why {
            _ if !active.is_running() => Vec::new(),
            Some(why) if was_ready && against_engine && is_supported => {
                active.on_engine_failed(document, side, why, now())
            }
            Some(_) | None => {
                let failure = EngineFailure { side, error: why.cloned() };
                active.interrupt_by(document, failure, now())
            }
        }
    }
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
