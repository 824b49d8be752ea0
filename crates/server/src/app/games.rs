//! Games of the state: their moves go to engines, tabs and the library.

use std::collections::BTreeMap;
use std::time::Duration;

use readyok_client::Search;
use readyok_protocol::{GameResult, Go};
use readyok_rules::{MoveCodec, Position};

use super::saving::{Loaded, Reply};
use super::{App, AppState, EngineProcess, is_for};
use crate::engine::{EngineCommand, SearchKind, SearchSpec, answer};
use crate::game::{
    Effect, GameSession, Origin, SearchRequest, Tree, api_error, check_players, no_such, open,
    too_many,
};
use crate::store::{StoreError, Written};
use crate::time::{Moment, now};
use crate::wire::{
    Answer, ApiError, ApiErrorCode, Delta, EngineId, Failure, GameId, GamesDelta, MoveInfo,
    NewGame, NodeId, Player, ProblemKind as Kind, ProcessId, Purpose, SearchInfo, Side, Sides,
    Thing, Topic, ValuesFor, Variant,
};

/// So many games can be open.
const MOST_OPEN: usize = 200;
/// Search time for a hint.
const HINT_TIME: Duration = Duration::from_secs(1);

/// Whether a game was open before. If not, the library is to mark it as open.
enum Opened {
    Before,
    Now(Written<Result<(), StoreError>>),
}

impl App {
    /// Sets up a game.
    pub(super) async fn new_game(&self, new: &NewGame) -> Result<Reply, ApiError> {
        // A book is read without the lock.
        let tree = open(new)?;
        let id = self.new_row().await?;
        Ok(self.in_new_row(id, |state| state.new_game(id, new, tree, now())))
    }

    /// A row for a game that is to be played.
    pub(super) async fn new_row(&self) -> Result<GameId, ApiError> {
        // What would be refused needs no row.
        self.state().make_room()?;
        let at = now();
        self.writer.call(move |store| store.new_game("play", at)).await.map_err(storage)
    }

    /// Sets up a game in a new row. The row is deleted if the game was not opened.
    pub(super) fn in_new_row(
        &self,
        id: GameId,
        set_up: impl FnOnce(&mut AppState) -> Result<Answer, ApiError>,
    ) -> Reply {
        let mut used = false;
        let reply = self.change(|state| {
            let answer = set_up(state);
            used = state.rooms.contains_key(&id);
            answer
        });
        if !used {
            drop(self.writer.run(move |store| store.delete(id)));
        }
        reply
    }

    /// Opens a game of the library.
    pub(super) async fn open_game(&self, id: GameId) -> Result<Answer, ApiError> {
        let present = self.state().open_present(id);
        let opened = if let Some(opened) = present {
            opened
        } else {
            let open = |state: &mut AppState, loaded: Result<Loaded, ApiError>| {
                // Another tab may have been faster.
                state.open_present(id).map_or_else(|| state.open_loaded(loaded?), Ok)
            };
            self.load(id, open).await?
        };
        match opened {
            Opened::Before => (),
            Opened::Now(marked) => written(marked).await?,
        }
        Ok(Answer::Game { game: id })
    }

    /// Closes a game; it stays in the library, as it is or not at all.
    pub(super) async fn close_game(&self, id: GameId) -> Result<Answer, ApiError> {
        loop {
            let saved = {
                let mut state = self.state();
                state.interrupt(id, now())?;
                state.saves.is_pending(id).then(|| self.writer.barrier())
            };
            if let Some(saved) = saved {
                // Without an answer the library is closed, which the next look at it shows.
                let _ = saved.await;
            }
            let closed = {
                let mut state = self.state();
                let error = state.room(id)?.unsaved().map(storage);
                match error {
                    // It may have been changed again meanwhile.
                    _ if state.saves.is_pending(id) => continue,
                    Some(error) => return Err(error),
                    None => state.leave_game(id),
                }
            };
            written(closed).await?;
            return Ok(Answer::Done);
        }
    }

    /// Deletes a game.
    pub(super) async fn delete_game(&self, id: GameId) -> Result<Reply, ApiError> {
        {
            let mut state = self.state();
            if state.rooms.contains_key(&id) {
                state.interrupt(id, now())?;
                drop(state.leave_game(id));
            }
        }
        let deleted = self.writer.call(move |store| store.delete(id)).await.map_err(storage)?;
        Ok(self.change(|state| {
            // Another tab may have opened it meanwhile.
            if state.rooms.contains_key(&id) {
                drop(state.leave_game(id));
            }
            // Games that are being read may name it.
            state.saves.mark_changed(None);
            if !deleted {
                return Err(no_such(Thing::Game, &id, format!("there is no game {id}")));
            }
            state.forget_rematch(id, now());
            Ok(Answer::Done)
        }))
    }
}

impl AppState {
    pub(super) fn room(&mut self, id: GameId) -> Result<&mut GameSession, ApiError> {
        self.rooms
            .get_mut(&id)
            .ok_or_else(|| no_such(Thing::OpenGame, &id, format!("game {id} is not open")))
    }

    /// Sets up a game in a new row of the library, and starts it if somebody plays it.
    pub(super) fn new_game(
        &mut self,
        id: GameId,
        new: &NewGame,
        tree: Tree,
        at: Moment,
    ) -> Result<Answer, ApiError> {
        let players = match &new.players {
            Some(players) => Some(self.named(players)?),
            None => None,
        };
        self.make_room()?;
        let mut room = GameSession::new(id, tree, at);
        if let Some(end) = room.tree().main_line().last().copied() {
            room.go_to(end)?;
        }
        self.add_room(room, at);
        if let Some(players) = players {
            let effects = self.room(id).and_then(|room| {
                room.seat_players(players, new.rules, at);
                room.set_origin(Origin { start: new.start.clone(), book: new.book.clone() });
                room.go_on(at)
            })?;
            self.settle(id, effects, at);
        }
        Ok(Answer::Game { game: id })
    }

    /// Makes room for a game. At the limit the game goes that has rested longest; it stays in the library.
    pub(super) fn make_room(&mut self) -> Result<(), ApiError> {
        while MOST_OPEN <= self.rooms.len() {
            let resting = self.rooms.values().filter(|room| self.rests(room));
            let oldest =
                resting.min_by_key(|room| (room.changed(), room.id())).map(GameSession::id);
            let Some(oldest) = oldest else {
                return Err(too_many(
                    Thing::OpenGame,
                    "too many games are played, analysed or looked at",
                ));
            };
            // It is saved; if it cannot be marked as closed, it is open again after the next start.
            drop(self.leave_game(oldest));
        }
        Ok(())
    }

    /// Whether nobody misses a game that is closed: it is kept as it is, nobody plays it or looks at it, and
    /// nothing thinks about it.
    fn rests(&self, room: &GameSession) -> bool {
        let id = room.id();
        let topics = [Topic::Game(id), Topic::Analysis(id), Topic::Report(id)];
        let mut processes = self.processes.values();
        !room.is_going()
            && room.unsaved().is_none()
            && !self.saves.is_pending(id)
            && !self.guests.contains(&id)
            && !topics.into_iter().any(|topic| self.hub.is_wanted(topic))
            && !processes.any(|it| it.handle.is_some() && is_for(&it.state, id))
            && !self.reports.get(&id).is_some_and(super::reports::Report::is_due)
    }

    /// Opens a game that has its row in the library.
    pub(super) fn add_room(&mut self, room: GameSession, at: Moment) {
        let id = room.id();
        self.rooms.insert(id, room);
        self.settle(id, Vec::new(), at);
        self.publish_line(id);
    }

    /// Players with the names that they will have until engines tell theirs.
    fn named(&self, players: &Sides<Player>) -> Result<Sides<(Player, String)>, ApiError> {
        check_players(players)?;
        let named = |player: &Player| -> Result<(Player, String), ApiError> {
            let name = match player {
                Player::Person { name, .. } => name.clone(),
                Player::Engine(engine) => self.registry.get(engine.engine)?.name().to_owned(),
            };
            Ok((player.clone(), name))
        };
        Ok(Sides { first: named(&players.first)?, second: named(&players.second)? })
    }

    /// Opens a game that is there already, shown or not. None if it has to be read.
    fn open_present(&mut self, id: GameId) -> Option<Opened> {
        self.rooms.get(&id)?;
        if !self.guests.remove(&id) {
            return Some(Opened::Before);
        }
        self.publish_line(id);
        Some(Opened::Now(self.set_open(id, true)))
    }

    /// Opens a game that was read from the library.
    fn open_loaded(&mut self, loaded: Loaded) -> Result<Opened, ApiError> {
        self.make_room()?;
        let id = self.add_loaded(loaded);
        self.publish_line(id);
        Ok(Opened::Now(self.set_open(id, true)))
    }

    /// Has a game there that was read from the library.
    pub(super) fn add_loaded(&mut self, loaded: Loaded) -> GameId {
        let id = loaded.room.id();
        self.rooms.insert(id, loaded.room);
        if let Some(report) = loaded.report {
            self.reports.entry(id).or_insert_with(|| super::reports::Report::restored(report));
        }
        id
    }

    pub(super) fn set_open(&mut self, id: GameId, open: bool) -> Written<Result<(), StoreError>> {
        self.saves.run(move |store| store.set_open(id, open))
    }

    /// Forgets an open game. It is marked as closed in the library.
    fn leave_game(&mut self, id: GameId) -> Written<Result<(), StoreError>> {
        self.end_lanes(id);
        for running in self.processes.values().filter(|running| is_for(&running.state, id)) {
            if let Some(handle) = &running.handle {
                handle.send(EngineCommand::Quit);
            }
        }
        self.seats.retain(|(game, _), _| *game != id);
        self.reports.remove(&id);
        self.guests.remove(&id);
        self.hub.close(Topic::Report(id));
        if let Some(room) = self.rooms.remove(&id) {
            self.saves.leave(&room);
        }
        let written = self.set_open(id, false);
        self.hub.close(Topic::Game(id));
        self.hub.close(Topic::Analysis(id));
        let delta = GamesDelta { changed: Vec::new(), removed: vec![id] };
        self.hub.publish(Topic::Games, Delta::Games(delta));
        written
    }

    /// Interrupts a game that is to be closed or deleted.
    fn interrupt(&mut self, id: GameId, at: Moment) -> Result<(), ApiError> {
        let effects = self.room(id)?.interrupt(at);
        self.settle(id, effects, at);
        Ok(())
    }

    /// Goes on with a game, from a node and with new players if they are given.
    pub(super) fn resume(
        &mut self,
        id: GameId,
        from: Option<NodeId>,
        players: Option<&Sides<Player>>,
        at: Moment,
    ) -> Result<Answer, ApiError> {
        let players = match players {
            Some(players) => Some(self.named(players)?),
            None => None,
        };
        let room = self.room(id)?;
        room.require_rest()?;
        let mut effects = Vec::new();
        if let Some(node) = from {
            effects.extend(room.rewind_to(node, at)?);
        }
        if let Some(players) = players {
            room.seat_players(players, crate::wire::PlayRules::default(), at);
            if let Some(node) = from {
                effects.extend(room.rewind_to(node, at)?);
            }
        }
        effects.extend(room.go_on(at)?);
        self.settle(id, effects, at);
        Ok(Answer::Done)
    }

    /// Does something to a game, and everything that follows.
    pub(super) fn act(
        &mut self,
        id: GameId,
        at: Moment,
        act: impl FnOnce(&mut GameSession) -> Result<Vec<Effect>, ApiError>,
    ) -> Result<Answer, ApiError> {
        let effects = act(self.room(id)?)?;
        self.settle(id, effects, at);
        Ok(Answer::Done)
    }

    /// Everything that follows when something was done to a game.
    pub(super) fn settle(&mut self, id: GameId, effects: Vec<Effect>, at: Moment) {
        for Effect::Request(side, ask) in effects {
            self.ask(id, side, ask, at);
        }
        if let Some(room) = self.rooms.get_mut(&id)
            && room.take_unsaved()
            && !self.saves.save(id)
        {
            room.mark_saved(Some(StoreError::Closed.to_string()));
        }
        self.publish_changes(id, at);
    }

    /// Publishes what has changed in a game.
    pub(super) fn publish_changes(&mut self, id: GameId, at: Moment) {
        let Some(room) = self.rooms.get_mut(&id) else { return };
        let (delta, moved) = room.take_delta(at);
        if let Some(delta) = delta {
            let in_list = !delta.nodes.is_empty()
                || !delta.removed.is_empty()
                || delta.headers.is_some()
                || delta.over.is_some();
            self.hub.publish(Topic::Game(id), Delta::Game(Box::new(delta)));
            if in_list {
                self.publish_line(id);
            }
        }
        if moved {
            self.steer_all(id);
        }
    }

    fn publish_line(&mut self, id: GameId) {
        if let Some(room) = self.rooms.get(&id).filter(|_| !self.guests.contains(&id)) {
            let delta = GamesDelta { changed: vec![room.line()], removed: Vec::new() };
            self.hub.publish(Topic::Games, Delta::Games(delta));
        }
    }

    /// Asks the engine of a side, which is started if need be.
    fn ask(&mut self, id: GameId, side: Side, ask: SearchRequest, at: Moment) {
        let process = self.seats.get(&(id, side)).copied();
        let process = process.filter(|process| {
            self.processes.get(process).is_some_and(|running| running.handle.is_some())
        });
        match (ask, process) {
            (ask @ SearchRequest::Think { .. }, None) => {
                let started = self.seat_engine(id, side);
                if let Ok(process) = started {
                    self.seats.insert((id, side), process);
                    if let Some(running) = self.processes.get_mut(&process) {
                        running.pending.push(ask);
                    }
                } else {
                    let effects = self
                        .rooms
                        .get_mut(&id)
                        .map(|room| room.engine_is_missing(at))
                        .unwrap_or_default();
                    self.settle(id, effects, at);
                }
            }
            (ask, Some(process)) => self.ask_process(id, process, ask),
            (
                SearchRequest::Hit { .. }
                | SearchRequest::MoveNow
                | SearchRequest::Rest
                | SearchRequest::Leave { .. },
                None,
            ) => (),
        }
    }

    fn ask_process(&mut self, id: GameId, process: ProcessId, ask: SearchRequest) {
        let Some(room) = self.rooms.get(&id) else { return };
        let Some(running) = self.processes.get_mut(&process) else { return };
        let (Some(dialect), Some(handle)) = (running.dialect, &running.handle) else {
            match ask {
                SearchRequest::Rest => running.pending.clear(),
                SearchRequest::Leave { .. } => {
                    running.pending.clear();
                    if let Some(handle) = &running.handle {
                        handle.send(EngineCommand::Quit);
                    }
                }
                SearchRequest::Think { .. }
                | SearchRequest::Hit { .. }
                | SearchRequest::MoveNow => running.pending.push(ask),
            }
            return;
        };
        let command = match ask {
            SearchRequest::Think { search_id, moves, budget, ponder } => {
                let go = Go { ponder, ..budget.go(dialect) };
                match job(room, dialect, &moves, go, search_id, ponder) {
                    Some(job) => EngineCommand::Search(Box::new(job)),
                    // An engine that cannot be told of the position fails when it has to move.
                    None => EngineCommand::Quit,
                }
            }
            SearchRequest::Hit { budget } => EngineCommand::Hit(budget.go(dialect).clocks),
            SearchRequest::MoveNow => EngineCommand::MoveNow,
            SearchRequest::Rest => EngineCommand::Rest,
            SearchRequest::Leave { won } => {
                handle.send(EngineCommand::Rest);
                handle.send(EngineCommand::GameOver(match won {
                    Some(true) => GameResult::Win,
                    Some(false) => GameResult::Lose,
                    None => GameResult::Draw,
                }));
                EngineCommand::Quit
            }
        };
        if !handle.send(command) {
            // It has so much to do that it is not there.
            running.handle = None;
        }
    }

    /// Starts the engine of a side.
    fn seat_engine(&mut self, id: GameId, side: Side) -> Result<ProcessId, ApiError> {
        let room = self.rooms.get(&id);
        let variant = room.map(|room| Variant::from(room.game()));
        let player = room.and_then(|room| room.slot(side)?.engine().cloned());
        let player = player.ok_or_else(|| {
            api_error(ApiErrorCode::NotFound, Kind::NoEngineHere, "no engine plays this side")
        })?;
        let engine = self.registry.get(player.engine)?;
        let is_unknown = engine.learned(variant).is_none();
        let mut values = engine.values(ValuesFor::Play);
        values.extend(engine.values_for(&player, variant));
        let process = self.start_process(
            player.engine,
            Purpose::Play { game: id },
            variant,
            values,
            player.ponder,
        )?;
        if let Some(running) = self.processes.get_mut(&process) {
            running.side = Some(side);
            running.strength = player.strength.filter(|_| is_unknown);
        }
        Ok(process)
    }

    /// The engine of a side has greeted.
    pub(super) fn seat_greeted(&mut self, process: ProcessId, game: GameId, at: Moment) {
        let Some(running) = self.processes.get_mut(&process) else { return };
        let pending = std::mem::take(&mut running.pending);
        let name = running.state.identity.as_ref().map(|identity| identity.name.clone());
        if let (Some(side), Some(name), Some(room)) =
            (running.side, name, self.rooms.get_mut(&game))
        {
            room.set_name(side, &name);
        }
        self.limit_strength(process, game);
        for ask in pending {
            self.ask_process(game, process, ask);
        }
        self.settle(game, Vec::new(), at);
    }

    /// Tells an engine how strongly to play, if nobody knew how to say that when it was started.
    fn limit_strength(&mut self, process: ProcessId, game: GameId) {
        let Some(running) = self.processes.get_mut(&process) else { return };
        let Some(strength) = running.strength.take() else { return };
        let Ok(engine) = self.registry.get(running.state.engine) else { return };
        let Some(room) = self.rooms.get(&game) else { return };
        let values = engine.strength_values(room.game().into(), strength.value);
        let mut values: BTreeMap<_, _> = values.into_iter().collect();
        let seat = running.side.and_then(|side| room.slot(side)?.engine());
        if let Some(player) = seat {
            values.retain(|name, _| !player.options.contains_key(name));
        }
        if let Some(handle) = running.handle.as_ref().filter(|_| !values.is_empty()) {
            handle.send(EngineCommand::Set(values));
        }
    }

    pub(super) fn seat_begins(
        &mut self,
        process: ProcessId,
        game: GameId,
        search_id: u64,
        at: Moment,
    ) {
        if let Some(side) = self.side_of(process)
            && let Some(room) = self.rooms.get_mut(&game)
        {
            room.engine_begins(side, search_id, at);
            self.settle(game, Vec::new(), at);
        }
    }

    /// The side that a process plays, while it is the one that does.
    fn side_of(&self, process: ProcessId) -> Option<Side> {
        self.seats.iter().find(|(_, it)| **it == process).map(|((_, side), _)| *side)
    }

    pub(super) fn seat_thinks(
        &mut self,
        process: ProcessId,
        game: GameId,
        search_id: u64,
        told: &SearchInfo,
        at: Moment,
    ) {
        if let Some(side) = self.side_of(process)
            && let Some(room) = self.rooms.get_mut(&game)
        {
            room.engine_thinks(side, search_id, thought(told));
            self.settle(game, Vec::new(), at);
        }
    }

    pub(super) fn seat_answers(
        &mut self,
        process: ProcessId,
        game: GameId,
        (search_id, played, told): (u64, &readyok_client::SearchResult, &SearchInfo),
        at: Moment,
    ) {
        let Some(side) = self.side_of(process) else { return };
        let dialect = self.processes.get(&process).and_then(|running| running.dialect);
        let Some(room) = self.rooms.get_mut(&game) else { return };
        let Some(codec) = dialect.and_then(|it| MoveCodec::new(it, room.game())) else { return };
        room.engine_thinks(side, search_id, thought(told));
        let effects = room.engine_answers(side, search_id, &answer(played, codec), at);
        self.settle(game, effects, at);
    }

    /// The engine of a side has failed. Against a person the game waits; of two engines the one that
    /// fails loses.
    pub(super) fn seat_fails(
        &mut self,
        process: ProcessId,
        game: GameId,
        why: Option<&Failure>,
        at: Moment,
    ) {
        let Some(side) = self.side_of(process) else { return };
        self.seats.retain(|_, it| *it != process);
        let greeted = self.processes.get(&process).is_some_and(|running| running.dialect.is_some());
        let Some(room) = self.rooms.get_mut(&game) else { return };
        let against_engine = room.slot(side.other()).is_some_and(|seat| seat.engine().is_some());
        let effects = match why {
            Some(why) if greeted && against_engine && room.is_going() => {
                room.engine_fails(side, why, at)
            }
            Some(_) | None if room.is_going() => room.engine_is_missing(at),
            Some(_) | None => Vec::new(),
        };
        self.settle(game, effects, at);
    }

    /// Asks for a hint.
    pub(super) fn hint(
        &mut self,
        id: GameId,
        engine: Option<EngineId>,
    ) -> Result<Answer, ApiError> {
        let room = self.room(id)?;
        room.hint_for()?;
        let variant = room.game().into();
        let playing = [Side::First, Side::Second]
            .into_iter()
            .find_map(|side| Some(room.slot(side)?.engine()?.engine));
        let engine = engine.or(playing).unwrap_or(crate::engine::BUILT_IN);
        let values = self.registry.get(engine)?.values(ValuesFor::Analyse);
        self.start_process(engine, Purpose::Hint { game: id }, Some(variant), values, false)?;
        Ok(Answer::Done)
    }

    /// An engine for a hint has greeted.
    pub(super) fn hint_greeted(&mut self, process: ProcessId, game: GameId) {
        self.last_search_id += 1;
        let search_id = self.last_search_id;
        let Some(room) = self.rooms.get(&game) else { return };
        let Some(running) = self.processes.get_mut(&process) else { return };
        let (Some(dialect), Some(handle)) = (running.dialect, &running.handle) else { return };
        let Ok((node, _)) = room.hint_for() else { return };
        let go = Go { move_time: Some(HINT_TIME), ..Go::default() };
        let job = job(room, dialect, &room.tree().moves_to(node), go, search_id, false);
        let command = job.map_or(EngineCommand::Quit, |job| EngineCommand::Search(Box::new(job)));
        handle.send(command);
        running.hint = Some((search_id, node));
    }

    /// A hint has come.
    pub(super) fn hint_answers(
        &mut self,
        process: ProcessId,
        game: GameId,
        search_id: u64,
        told: &SearchInfo,
        at: Moment,
    ) {
        let Some(EngineProcess { hint, handle, .. }) = self.processes.get_mut(&process) else {
            return;
        };
        if let Some(handle) = handle {
            handle.send(EngineCommand::Quit);
        }
        let node = hint.take_if(|(it, _)| *it == search_id).map(|(_, node)| node);
        if let (Some(node), Some(best)) = (node, told.best.clone())
            && let Some(room) = self.rooms.get_mut(&game)
        {
            room.set_hint(node, best);
            self.settle(game, Vec::new(), at);
        }
    }
}

/// A search for a move in a game.
fn job(
    room: &GameSession,
    dialect: readyok_client::Dialect,
    moves: &[readyok_rules::Move],
    go: Go<'static>,
    search_id: u64,
    ponder: bool,
) -> Option<SearchSpec> {
    let codec = MoveCodec::new(dialect, room.game())?;
    let root = room.tree().start();
    let mut position: Position = root.clone();
    for mv in moves {
        position.play(*mv).ok()?;
    }
    let game = room.wire_game(codec, moves)?;
    let kind = if ponder { SearchKind::Ponder } else { SearchKind::Play };
    let search = Search::from(go);
    Some(SearchSpec { search_id, kind, game, search, position, codec, shown: 1 })
}

fn thought(told: &SearchInfo) -> MoveInfo {
    let best = told.lines.first();
    MoveInfo {
        node: None,
        depth: told.depth,
        score: best.and_then(|line| line.score),
        nodes: told.nodes,
        nps: told.nps,
        time: told.time,
        pv: best.map(|line| line.pv.clone()).unwrap_or_default(),
    }
}

/// Waits until something is written.
pub(super) async fn written<T>(result: Written<Result<T, StoreError>>) -> Result<T, ApiError> {
    result.await.unwrap_or(Err(StoreError::Closed)).map_err(storage)
}

pub(super) fn storage(error: impl std::fmt::Display) -> ApiError {
    ApiError::because(ApiErrorCode::Storage, Failure::system(&error))
}
