//! The open games: changes of a session go to its engines, its subscribers and the library.

mod hints;
mod open;
mod players;
mod rematch;

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::context::Context;
use super::engines::Engines;
use super::events::{AppEvent, SearchId};
use crate::game::{
    ActiveGame, Document, Effect, GameSession, GameSnapshot, Origin, Tree, check_players,
};
use crate::store::StoreError;
use crate::time::Moment;
use crate::wire::{
    Answer, ApiError, Delta, Edit, ErrorSubject, GameId, GameLine, GamesDelta, NewGame, NodeId,
    Player, ProcessId, Side, Sides, Topic,
};

use players::PlayerProcess;

/// The open games.
#[derive(Default)]
pub(crate) struct Games {
    sessions: BTreeMap<GameId, GameSession>,
    /// Sessions that a job has opened, not the user. They are not listed.
    background: BTreeSet<GameId>,
    players: BTreeMap<(GameId, Side), PlayerProcess>,
    /// The searches for hints, and the nodes that they are for.
    hints: BTreeMap<ProcessId, (SearchId, NodeId)>,
}

impl Games {
    pub(super) fn new(sessions: BTreeMap<GameId, GameSession>) -> Self {
        Self { sessions, ..Self::default() }
    }

    pub(super) fn get(&self, id: GameId) -> Option<&GameSession> {
        self.sessions.get(&id)
    }

    pub(super) fn session(&self, id: GameId) -> Result<&GameSession, ApiError> {
        self.sessions.get(&id).ok_or_else(|| not_open(id))
    }

    fn session_mut(&mut self, id: GameId) -> Result<&mut GameSession, ApiError> {
        self.sessions.get_mut(&id).ok_or_else(|| not_open(id))
    }

    pub(super) fn contains(&self, id: GameId) -> bool {
        self.sessions.contains_key(&id)
    }

    pub(super) fn is_any_running(&self) -> bool {
        self.sessions.values().any(GameSession::is_running)
    }

    /// The list of open games, the latest change first.
    pub(super) fn summaries(&self) -> Vec<GameLine> {
        let listed = self.sessions.iter().filter(|(id, _)| !self.background.contains(id));
        let mut games: Vec<_> = listed.map(|(_, session)| session.summary()).collect();
        games.sort_by_key(|line| std::cmp::Reverse((line.changed, line.id)));
        games
    }

    // Changes of a session.

    /// Adds a session whose game is in the library.
    pub(super) fn add(&mut self, engines: &Engines, cx: &mut Context<'_>, session: GameSession) {
        let id = session.id();
        self.sessions.insert(id, session);
        self.flush(engines, cx, id, Vec::new());
        self.publish_summary(cx, id);
    }

    /// Sets up a game that is in the library, and starts it if it has players.
    fn set_up(
        &mut self,
        engines: &Engines,
        cx: &mut Context<'_>,
        (id, new, tree): (GameId, &NewGame, Tree),
        players: Option<Sides<(Player, String)>>,
    ) -> Result<Answer, ApiError> {
        let mut session = GameSession::new(id, tree, cx.now);
        if let Some(end) = session.tree().main_line().last().copied() {
            session.go_to(end)?;
        }
        self.add(engines, cx, session);
        if let Some(players) = players {
            let session = self.session_mut(id)?;
            session.set_players(players, new.rules, cx.now);
            let (active, document) = session.active_mut()?;
            let origin = Origin { start: new.start.clone(), book: new.book.clone() };
            active.set_origin(document, origin);
            let effects = active.resume(document, cx.now)?;
            self.flush(engines, cx, id, effects);
        }
        Ok(Answer::Game { game: id })
    }

    /// Changes a session, and does what follows from that.
    pub(super) fn update(
        &mut self,
        engines: &Engines,
        cx: &mut Context<'_>,
        id: GameId,
        change: impl FnOnce(&mut GameSession, Moment) -> Result<Vec<Effect>, ApiError>,
    ) -> Result<Answer, ApiError> {
        let effects = change(self.session_mut(id)?, cx.now)?;
        self.flush(engines, cx, id, effects);
        Ok(Answer::Done)
    }

    pub(super) fn play_move(
        &mut self,
        engines: &Engines,
        cx: &mut Context<'_>,
        id: GameId,
        (node, text): (NodeId, &str),
    ) -> Result<Answer, ApiError> {
        let (node, effects) = self.session_mut(id)?.play_move(node, text, cx.now)?;
        self.flush(engines, cx, id, effects);
        Ok(Answer::Node { node })
    }

    pub(super) fn edit(
        &mut self,
        engines: &Engines,
        cx: &mut Context<'_>,
        id: GameId,
        edit: Edit,
    ) -> Result<Answer, ApiError> {
        let inserted = self.session_mut(id)?.edit(edit)?;
        self.flush(engines, cx, id, Vec::new());
        Ok(inserted.map_or(Answer::Done, |node| Answer::Node { node }))
    }

    /// Resumes a game, from a node and with other players if they are given.
    pub(super) fn resume(
        &mut self,
        engines: &Engines,
        cx: &mut Context<'_>,
        id: GameId,
        (from, players): (Option<NodeId>, Option<&Sides<Player>>),
    ) -> Result<Answer, ApiError> {
        let players = players.map(|players| with_names(engines, players)).transpose()?;
        self.update(engines, cx, id, |session, now| session.resume(from, players, now))
    }

    /// Changes the active game of a session, and does what follows from that.
    pub(super) fn play(
        &mut self,
        engines: &Engines,
        cx: &mut Context<'_>,
        id: GameId,
        change: impl FnOnce(&mut ActiveGame, &mut Document, Moment) -> Result<Vec<Effect>, ApiError>,
    ) -> Result<Answer, ApiError> {
        self.update(engines, cx, id, |session, now| {
            let (active, document) = session.active_mut()?;
            change(active, document, now)
        })
    }

    /// Does what follows from a change of a session: requests to engines, saving, publishing.
    fn flush(&mut self, engines: &Engines, cx: &mut Context<'_>, id: GameId, effects: Vec<Effect>) {
        let mut effects = VecDeque::from(effects);
        while let Some(Effect::Request(side, request)) = effects.pop_front() {
            effects.extend(self.request(engines, cx, (id, side), request));
        }
        if let Some(session) = self.sessions.get_mut(&id)
            && session.take_unsaved()
            && !cx.saves.save(id)
        {
            session.on_saved(Some(StoreError::Closed.to_string()));
        }
        self.publish(cx, id);
    }

    fn publish(&mut self, cx: &mut Context<'_>, id: GameId) {
        let Some(session) = self.sessions.get_mut(&id) else { return };
        let (delta, moved) = session.take_delta(cx.now);
        if let Some(delta) = delta {
            let in_list = !delta.nodes.is_empty()
                || !delta.removed.is_empty()
                || delta.headers.is_some()
                || delta.over.is_some();
            cx.hub.publish(Topic::Game(id), Delta::Game(Box::new(delta)));
            if in_list {
                self.publish_summary(cx, id);
            }
        }
        if moved {
            cx.events.push_back(AppEvent::CursorMoved(id));
        }
    }

    fn publish_summary(&self, cx: &mut Context<'_>, id: GameId) {
        if let Some(session) = self.sessions.get(&id).filter(|_| !self.background.contains(&id)) {
            let delta = GamesDelta { changed: vec![session.summary()], removed: Vec::new() };
            cx.hub.publish(Topic::Games, Delta::Games(delta));
        }
    }

    // Background sessions.

    pub(super) fn add_background(&mut self, session: GameSession) {
        let id = session.id();
        if let Entry::Vacant(entry) = self.sessions.entry(id) {
            entry.insert(session);
            self.background.insert(id);
        }
    }

    /// Removes a session that the user has not opened in the meantime. Returns whether it was removed.
    pub(super) fn remove_background(&mut self, cx: &mut Context<'_>, id: GameId) -> bool {
        if !self.background.remove(&id) {
            return false;
        }
        if let Some(session) = self.sessions.remove(&id) {
            cx.saves.leave(&session);
        }
        for topic in [Topic::Game(id), Topic::Analysis(id)] {
            cx.hub.close(topic);
        }
        true
    }

    // Saving.

    pub(super) fn snapshot(&self, id: GameId) -> Option<GameSnapshot> {
        self.sessions.get(&id).map(GameSession::snapshot)
    }

    /// The library has saved a game, or failed to. The session continues.
    pub(super) fn on_saved(
        &mut self,
        cx: &mut Context<'_>,
        id: GameId,
        result: Result<(), StoreError>,
    ) {
        if let Some(session) = self.sessions.get_mut(&id) {
            session.on_saved(result.err().map(|error| error.to_string()));
            self.publish(cx, id);
        }
    }

    // Clocks.

    /// When the next flag falls.
    pub(super) fn next_deadline(&self) -> Option<Moment> {
        self.sessions.values().filter_map(next_deadline).min()
    }

    pub(super) fn on_tick(&mut self, engines: &Engines, cx: &mut Context<'_>) {
        let sessions = self.sessions.values();
        let due = sessions.filter(|it| next_deadline(it).is_some_and(|due| due <= cx.now));
        for id in due.map(GameSession::id).collect::<Vec<_>>() {
            let _ = self
                .play(engines, cx, id, |active, document, now| Ok(active.on_tick(document, now)));
        }
    }

    /// Publishes all clocks that run.
    pub(super) fn publish_clocks(&mut self, cx: &mut Context<'_>) {
        for id in self.ids() {
            if let Some(Ok((active, document))) =
                self.sessions.get_mut(&id).map(GameSession::active_mut)
            {
                active.publish_clocks(document);
                self.publish(cx, id);
            }
        }
    }

    pub(super) fn pause_all(&mut self, engines: &Engines, cx: &mut Context<'_>) {
        for id in self.ids() {
            // Those that do not run stay as they are.
            let _ = self.play(engines, cx, id, ActiveGame::pause);
        }
    }

    pub(super) fn interrupt_all(&mut self, engines: &Engines, cx: &mut Context<'_>) {
        for id in self.ids() {
            let _ = self.interrupt(engines, cx, id);
        }
    }

    fn interrupt(
        &mut self,
        engines: &Engines,
        cx: &mut Context<'_>,
        id: GameId,
    ) -> Result<Answer, ApiError> {
        self.update(engines, cx, id, |session, now| Ok(session.interrupt(now)))
    }

    fn ids(&self) -> Vec<GameId> {
        self.sessions.keys().copied().collect()
    }
}

/// Players with the names that they have until the handshakes of their engines.
fn with_names(
    engines: &Engines,
    players: &Sides<Player>,
) -> Result<Sides<(Player, String)>, ApiError> {
    check_players(players)?;
    let named = |player: &Player| -> Result<(Player, String), ApiError> {
        let name = match player {
            Player::Human { name, .. } => name.clone(),
            Player::Engine(player) => engines.get(player.engine)?.name().to_owned(),
        };
        Ok((player.clone(), name))
    };
    Ok(Sides { first: named(&players.first)?, second: named(&players.second)? })
}

fn next_deadline(session: &GameSession) -> Option<Moment> {
    session.active().and_then(ActiveGame::next_deadline)
}

fn not_open(id: GameId) -> ApiError {
    ApiError::not_found(ErrorSubject::OpenGame, id)
}
