//! Games of the world: their moves go to engines, tabs and the library.

use std::collections::BTreeMap;

use readyok_client::Search;
use readyok_protocol::{GameResult, Go};
use readyok_rules::Position;

use super::{Running, World, is_for};
use crate::engine::{Job, Order, Purpose, Wording, spoken};
use crate::game::{
    Ask, Effect, Origin, ROOT, Room, Tree, check_players, no_such, refusal, too_many,
};
use crate::time::Moment;
use crate::wire::{
    Answer, Delta, EngineId, Failure, GameId, GamesDelta, NewGame, NodeId, Player,
    ProblemKind as Kind, ProcessId, Refusal, RefusalCode, Side, Sides, Thing, Thought, Told, Topic,
    Use, ValuesFor, Variant,
};

/// So many games can be open.
const MOST_OPEN: usize = 200;
/// A hint is thought about so long, in milliseconds.
const HINT_TIME: i64 = 1000;

impl World {
    pub(super) fn room(&mut self, id: GameId) -> Result<&mut Room, Refusal> {
        self.rooms
            .get_mut(&id)
            .ok_or_else(|| no_such(Thing::OpenGame, &id, format!("game {id} is not open")))
    }

    /// Sets up a game, and starts it if somebody plays it.
    pub(super) fn new_game(
        &mut self,
        new: &NewGame,
        tree: Tree,
        at: Moment,
    ) -> Result<Answer, Refusal> {
        let players = match &new.players {
            Some(players) => Some(self.named(players)?),
            None => None,
        };
        let id = self.add_room(tree, "play", at)?;
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
    fn make_room(&mut self, at: Moment) -> Result<(), Refusal> {
        while MOST_OPEN <= self.rooms.len() {
            let resting = self.rooms.values().filter(|room| self.rests(room));
            let oldest = resting.min_by_key(|room| (room.changed(), room.id())).map(Room::id);
            let Some(oldest) = oldest else {
                return Err(too_many(
                    Thing::OpenGame,
                    "too many games are played, analysed or looked at",
                ));
            };
            self.close_game(oldest, at)?;
        }
        Ok(())
    }

    /// Whether nobody misses a game that is closed: it is kept as it is, nobody plays it or looks at it, and
    /// nothing thinks about it.
    fn rests(&self, room: &Room) -> bool {
        let id = room.id();
        let topics = [Topic::Game(id), Topic::Analysis(id), Topic::Report(id)];
        let mut processes = self.processes.values();
        !room.is_going()
            && room.unsaved().is_none()
            && !self.guests.contains(&id)
            && !topics.into_iter().any(|topic| self.hub.is_wanted(topic))
            && !processes.any(|it| it.handle.is_some() && is_for(&it.state, id))
            && !self.reports.get(&id).is_some_and(super::reports::Report::is_due)
    }

    /// Opens a tree as a new game.
    pub(crate) fn add_room(
        &mut self,
        tree: Tree,
        source: &str,
        at: Moment,
    ) -> Result<GameId, Refusal> {
        self.make_room(at)?;
        let id = self.store.new_game(source, at).map_err(storage)?;
        let mut room = Room::new(id, tree, at);
        let end = room.tree().main_line().last().copied();
        if source == "import" {
            // What was read is looked at from its beginning.
            room.go_to(ROOT)?;
        } else if let Some(end) = end {
            room.go_to(end)?;
        }
        self.rooms.insert(id, room);
        self.settle(id, Vec::new(), at);
        self.publish_line(id);
        Ok(id)
    }

    /// Players with the names that they will have until engines tell theirs.
    fn named(&self, players: &Sides<Player>) -> Result<Sides<(Player, String)>, Refusal> {
        check_players(players)?;
        let named = |player: &Player| -> Result<(Player, String), Refusal> {
            let name = match player {
                Player::Person { name, .. } => name.clone(),
                Player::Engine(engine) => self.registry.get(engine.engine)?.name().to_owned(),
            };
            Ok((player.clone(), name))
        };
        Ok(Sides { first: named(&players.first)?, second: named(&players.second)? })
    }

    /// Opens a game of the library.
    pub(super) fn open_game(&mut self, id: GameId, at: Moment) -> Result<Answer, Refusal> {
        if !self.rooms.contains_key(&id) {
            let room = self.kept_room(id, at)?;
            self.make_room(at)?;
            self.rooms.insert(id, room);
            self.recall_report(id);
            self.store.set_open(id, true).map_err(storage)?;
            self.publish_line(id);
        } else if self.guests.remove(&id) {
            self.store.set_open(id, true).map_err(storage)?;
            self.publish_line(id);
        }
        Ok(Answer::Game { game: id })
    }

    /// A game of the library as it is kept.
    pub(super) fn kept_room(&self, id: GameId, at: Moment) -> Result<Room, Refusal> {
        let kept = self.store.game(id).map_err(storage)?;
        let kept =
            kept.ok_or_else(|| no_such(Thing::Game, &id, format!("there is no game {id}")))?;
        let mut room = Room::restore(id, kept, at).ok_or_else(|| {
            refusal(RefusalCode::Storage, Kind::Damaged, format!("game {id} is damaged"))
        })?;
        self.forget_lost_rematch(&mut room)?;
        Ok(room)
    }

    /// Closes a game; it stays in the library, as it is or not at all.
    pub(super) fn close_game(&mut self, id: GameId, at: Moment) -> Result<Answer, Refusal> {
        let effects = self.room(id)?.interrupt(at);
        self.settle(id, effects, at);
        if let Some(error) = self.room(id)?.unsaved() {
            return Err(storage(error));
        }
        self.leave_game(id)?;
        Ok(Answer::Done)
    }

    /// Forgets an open game.
    fn leave_game(&mut self, id: GameId) -> Result<(), Refusal> {
        self.end_lanes(id);
        for running in self.processes.values().filter(|running| is_for(&running.state, id)) {
            if let Some(handle) = &running.handle {
                handle.order(Order::Quit);
            }
        }
        self.seats.retain(|(game, _), _| *game != id);
        self.reports.remove(&id);
        self.guests.remove(&id);
        self.hub.close(Topic::Report(id));
        self.rooms.remove(&id);
        self.store.set_open(id, false).map_err(storage)?;
        self.hub.close(Topic::Game(id));
        self.hub.close(Topic::Analysis(id));
        let delta = GamesDelta { changed: Vec::new(), removed: vec![id] };
        self.hub.publish(Topic::Games, Delta::Games(delta));
        Ok(())
    }

    pub(super) fn delete_game(&mut self, id: GameId, at: Moment) -> Result<Answer, Refusal> {
        if let Some(room) = self.rooms.get_mut(&id) {
            let effects = room.interrupt(at);
            self.settle(id, effects, at);
            self.leave_game(id)?;
        }
        if !self.store.delete(id).map_err(storage)? {
            return Err(no_such(Thing::Game, &id, format!("there is no game {id}")));
        }
        self.forget_rematch(id, at);
        Ok(Answer::Done)
    }

    /// Goes on with a game, from a node and with new players if they are given.
    pub(super) fn resume(
        &mut self,
        id: GameId,
        from: Option<NodeId>,
        players: Option<&Sides<Player>>,
        at: Moment,
    ) -> Result<Answer, Refusal> {
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
        act: impl FnOnce(&mut Room) -> Result<Vec<Effect>, Refusal>,
    ) -> Result<Answer, Refusal> {
        let effects = act(self.room(id)?)?;
        self.settle(id, effects, at);
        Ok(Answer::Done)
    }

    /// Everything that follows when something was done to a game.
    pub(super) fn settle(&mut self, id: GameId, effects: Vec<Effect>, at: Moment) {
        for Effect::Ask(side, ask) in effects {
            self.ask(id, side, ask, at);
        }
        let Some(room) = self.rooms.get_mut(&id) else { return };
        if room.take_unsaved() {
            let kept = room.keep();
            let line = room.line();
            let saved = self.store.save(id, &kept, &line, room.outcome(), room.tree(), at);
            // The game goes on, and whoever looks at it is told.
            room.mark_saved(saved.err().map(|error| error.to_string()));
        }
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
    fn ask(&mut self, id: GameId, side: Side, ask: Ask, at: Moment) {
        let process = self.seats.get(&(id, side)).copied();
        let process = process.filter(|process| {
            self.processes.get(process).is_some_and(|running| running.handle.is_some())
        });
        match (ask, process) {
            (ask @ Ask::Think { .. }, None) => {
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
            (Ask::Hit { .. } | Ask::MoveNow | Ask::Rest | Ask::Leave { .. }, None) => (),
        }
    }

    fn ask_process(&mut self, id: GameId, process: ProcessId, ask: Ask) {
        let Some(room) = self.rooms.get(&id) else { return };
        let Some(running) = self.processes.get_mut(&process) else { return };
        let (Some(dialect), Some(handle)) = (running.dialect, &running.handle) else {
            match ask {
                Ask::Rest => running.pending.clear(),
                Ask::Leave { .. } => {
                    running.pending.clear();
                    if let Some(handle) = &running.handle {
                        handle.order(Order::Quit);
                    }
                }
                Ask::Think { .. } | Ask::Hit { .. } | Ask::MoveNow => running.pending.push(ask),
            }
            return;
        };
        let order = match ask {
            Ask::Think { ticket, moves, pace, ponder } => {
                let go = Go { ponder, ..pace.go(dialect) };
                match job(room, dialect, &moves, go, ticket, ponder) {
                    Some(job) => Order::Search(Box::new(job)),
                    // An engine that cannot be told of the position fails when it has to move.
                    None => Order::Quit,
                }
            }
            Ask::Hit { pace } => Order::Hit(pace.go(dialect).clocks),
            Ask::MoveNow => Order::MoveNow,
            Ask::Rest => Order::Rest,
            Ask::Leave { won } => {
                handle.order(Order::Rest);
                handle.order(Order::GameOver(match won {
                    Some(true) => GameResult::Win,
                    Some(false) => GameResult::Lose,
                    None => GameResult::Draw,
                }));
                Order::Quit
            }
        };
        if !handle.order(order) {
            // It has so much to do that it is not there.
            running.handle = None;
        }
    }

    /// Starts the engine of a side.
    fn seat_engine(&mut self, id: GameId, side: Side) -> Result<ProcessId, Refusal> {
        let room = self.rooms.get(&id);
        let variant = room.map(|room| Variant::from(room.game()));
        let player = room.and_then(|room| room.seat(side)?.engine().cloned());
        let player = player.ok_or_else(|| {
            refusal(RefusalCode::NotFound, Kind::NoEngineHere, "no engine plays this side")
        })?;
        let engine = self.registry.get(player.engine)?;
        let is_unknown = engine.learned(variant).is_none();
        let mut values = engine.values(ValuesFor::Play);
        values.extend(engine.values_for(&player, variant));
        let process = self.start_process(
            player.engine,
            Use::Play { game: id },
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
        let seat = running.side.and_then(|side| room.seat(side)?.engine());
        if let Some(player) = seat {
            values.retain(|name, _| !player.options.contains_key(name));
        }
        if let Some(handle) = running.handle.as_ref().filter(|_| !values.is_empty()) {
            handle.order(Order::Set(values));
        }
    }

    pub(super) fn seat_begins(
        &mut self,
        process: ProcessId,
        game: GameId,
        ticket: u64,
        at: Moment,
    ) {
        if let Some(side) = self.side_of(process)
            && let Some(room) = self.rooms.get_mut(&game)
        {
            room.engine_begins(side, ticket, at);
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
        ticket: u64,
        told: &Told,
        at: Moment,
    ) {
        if let Some(side) = self.side_of(process)
            && let Some(room) = self.rooms.get_mut(&game)
        {
            room.engine_thinks(side, ticket, thought(told));
            self.settle(game, Vec::new(), at);
        }
    }

    pub(super) fn seat_answers(
        &mut self,
        process: ProcessId,
        game: GameId,
        (ticket, played, told): (u64, &readyok_client::SearchResult, &Told),
        at: Moment,
    ) {
        let Some(side) = self.side_of(process) else { return };
        let dialect = self.processes.get(&process).and_then(|running| running.dialect);
        let Some(room) = self.rooms.get_mut(&game) else { return };
        let Some(wording) = dialect.and_then(|it| Wording::new(it, room.game())) else { return };
        room.engine_thinks(side, ticket, thought(told));
        let effects = room.engine_answers(side, ticket, &spoken(played, wording), at);
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
        let against_engine = room.seat(side.other()).is_some_and(|seat| seat.engine().is_some());
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
    pub(super) fn hint(&mut self, id: GameId, engine: Option<EngineId>) -> Result<Answer, Refusal> {
        let room = self.room(id)?;
        room.hint_for()?;
        let variant = room.game().into();
        let playing = [Side::First, Side::Second]
            .into_iter()
            .find_map(|side| Some(room.seat(side)?.engine()?.engine));
        let engine = engine.or(playing).unwrap_or(crate::engine::BUILT_IN);
        let values = self.registry.get(engine)?.values(ValuesFor::Analyse);
        self.start_process(engine, Use::Hint { game: id }, Some(variant), values, false)?;
        Ok(Answer::Done)
    }

    /// An engine for a hint has greeted.
    pub(super) fn hint_greeted(&mut self, process: ProcessId, game: GameId) {
        self.last_ticket += 1;
        let ticket = self.last_ticket;
        let Some(room) = self.rooms.get(&game) else { return };
        let Some(running) = self.processes.get_mut(&process) else { return };
        let (Some(dialect), Some(handle)) = (running.dialect, &running.handle) else { return };
        let Ok((node, _)) = room.hint_for() else { return };
        let go = Go { move_time: Some(HINT_TIME), ..Go::default() };
        let job = job(room, dialect, &room.tree().moves_to(node), go, ticket, false);
        let order = job.map_or(Order::Quit, |job| Order::Search(Box::new(job)));
        handle.order(order);
        running.hint = Some((ticket, node));
    }

    /// A hint has come.
    pub(super) fn hint_answers(
        &mut self,
        process: ProcessId,
        game: GameId,
        ticket: u64,
        told: &Told,
        at: Moment,
    ) {
        let Some(Running { hint, handle, .. }) = self.processes.get_mut(&process) else { return };
        if let Some(handle) = handle {
            handle.order(Order::Quit);
        }
        let node = hint.take_if(|(it, _)| *it == ticket).map(|(_, node)| node);
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
    room: &Room,
    dialect: readyok_client::Dialect,
    moves: &[readyok_rules::Move],
    go: Go<'static>,
    ticket: u64,
    ponder: bool,
) -> Option<Job> {
    let wording = Wording::new(dialect, room.game())?;
    let root = room.tree().start();
    let mut position: Position = root.clone();
    for mv in moves {
        position.play(*mv).ok()?;
    }
    let game = room.wire_game(wording, moves)?;
    let purpose = if ponder { Purpose::Ponder } else { Purpose::Play };
    let search = Search::from(go);
    Some(Job { ticket, purpose, game, search, position, wording, shown: 1 })
}

fn thought(told: &Told) -> Thought {
    let best = told.lines.first();
    Thought {
        node: None,
        depth: told.depth,
        score: best.and_then(|line| line.score),
        nodes: told.nodes,
        nps: told.nps,
        time: told.time,
        pv: best.map(|line| line.pv.clone()).unwrap_or_default(),
    }
}

pub(super) fn storage(error: impl std::fmt::Display) -> Refusal {
    Refusal::because(RefusalCode::Storage, Failure::system(&error))
}
