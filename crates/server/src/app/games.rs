//! The open games. Changes of a session are sent to its engines, its subscribers and the library.

use std::collections::VecDeque;

use readyok_library::LibraryDefect;

use super::AppState;
use crate::game::{ActiveGame, Document, Effect, GameSession, Published, check_players};
use crate::store::{StoreError, library_error};
use crate::time::{Moment, now};
use crate::wire::{
    Answer, ApiError, Delta, Edit, ErrorCode, ErrorSubject, GameDelta, GameId, GameLine,
    GamesDelta, NodeId, Player, Sides, Topic,
};

impl AppState {
    pub(super) fn session(&self, id: GameId) -> Result<&GameSession, ApiError> {
        self.sessions.get(&id).ok_or_else(|| not_open(id))
    }

    pub(super) fn session_mut(&mut self, id: GameId) -> Result<&mut GameSession, ApiError> {
        self.sessions.get_mut(&id).ok_or_else(|| not_open(id))
    }

    /// The active game of a session, with the document that it changes.
    pub(super) fn active_mut(
        &mut self,
        id: GameId,
    ) -> Result<(&mut ActiveGame, &mut Document), ApiError> {
        self.session_mut(id)?.active_mut()
    }

    /// The list of open games, the latest change first.
    pub(super) fn game_lines(&self) -> Vec<GameLine> {
        let listed = self.sessions.iter().filter(|(id, _)| !self.background.contains_key(id));
        let mut games: Vec<_> = listed.map(|(_, session)| session.summary()).collect();
        games.sort_by_key(|line| std::cmp::Reverse((line.changed, line.id)));
        games
    }

    // Changes of a session.

    /// Adds a session whose game is in the library.
    pub(super) fn add_session(&mut self, session: GameSession) {
        let id = session.id();
        self.sessions.insert(id, session);
        self.flush_game(id, Vec::new());
        self.publish_game_line(id);
    }

    /// Changes a session, and handles the effects.
    pub(super) fn change_session<R>(
        &mut self,
        id: GameId,
        change: impl FnOnce(&mut GameSession, Moment) -> Result<(R, Vec<Effect>), ApiError>,
    ) -> Result<R, ApiError> {
        let tab = self.acting;
        let session = self.session_mut(id)?;
        session.act_for(tab);
        let (result, effects) = change(session, now())?;
        self.flush_game(id, effects);
        Ok(result)
    }

    pub(super) fn go_to(&mut self, id: GameId, node: NodeId) -> Result<Answer, ApiError> {
        self.change_session(id, |session, _| {
            session.go_to(node).map(|()| (Answer::Done, Vec::new()))
        })
    }

    pub(super) fn play_move(
        &mut self,
        id: GameId,
        node: NodeId,
        text: &str,
    ) -> Result<Answer, ApiError> {
        self.change_session(id, |session, now| {
            let (node, effects) = session.play_move(node, text, now)?;
            Ok((Answer::Node { node }, effects))
        })
    }

    pub(super) fn edit_game(&mut self, id: GameId, edit: Edit) -> Result<Answer, ApiError> {
        self.change_session(id, |session, _| {
            let inserted = session.edit(edit)?;
            Ok((inserted.map_or(Answer::Done, |node| Answer::Node { node }), Vec::new()))
        })
    }

    /// Resumes a game, from a node and with other players if they are given.
    pub(super) fn resume_game(
        &mut self,
        id: GameId,
        from: Option<NodeId>,
        players: Option<&Sides<Player>>,
    ) -> Result<Answer, ApiError> {
        let players = players.map(|players| self.with_names(players)).transpose()?;
        self.change_session(id, |session, now| {
            Ok((Answer::Done, session.resume(from, players, now)?))
        })
    }

    /// Changes the active game of a session, and handles the effects.
    pub(super) fn play(
        &mut self,
        id: GameId,
        change: impl FnOnce(&mut ActiveGame, &mut Document, Moment) -> Result<Vec<Effect>, ApiError>,
    ) -> Result<Answer, ApiError> {
        self.change_session(id, |session, now| {
            let (active, document) = session.active_mut()?;
            Ok((Answer::Done, change(active, document, now)?))
        })
    }

    /// Handles the effects of a change: requests to engines, saving, publishing.
    pub(super) fn flush_game(&mut self, id: GameId, effects: Vec<Effect>) {
        let mut effects = VecDeque::from(effects);
        while let Some(Effect::Request(side, request)) = effects.pop_front() {
            effects.extend(self.request_from_player((id, side), request));
        }
        if let Some(session) = self.sessions.get_mut(&id)
            && session.take_unsaved()
            && !self.saves.save(id)
        {
            session.on_saved(Some(ErrorCode::from(LibraryDefect::LibraryClosed).into()));
        }
        self.publish_game(id);
    }

    fn publish_game(&mut self, id: GameId) {
        let Some(session) = self.sessions.get_mut(&id) else { return };
        session.act_for(None);
        let Published { delta, moved, navigated } = session.take_delta(now());
        if let Some(delta) = delta {
            let in_list = !delta.nodes.is_empty()
                || !delta.removed.is_empty()
                || delta.headers.is_some()
                || delta.outcome_change.is_some();
            let at = |(tab, at)| {
                (tab, Delta::Game(Box::new(GameDelta { at: Some(at), ..delta.clone() })))
            };
            let own = moved.into_iter().map(at).collect();
            self.hub.publish_each(Topic::Game(id), Delta::Game(Box::new(delta)), own);
            if in_list {
                self.publish_game_line(id);
            }
        }
        if navigated {
            self.follow_cursor(id);
        }
    }

    pub(super) fn publish_game_line(&mut self, id: GameId) {
        if let Some(session) = self.sessions.get(&id).filter(|_| !self.background.contains_key(&id))
        {
            let delta = GamesDelta { changed: vec![session.summary()], removed: Vec::new() };
            self.hub.publish(Topic::Games, Delta::Games(delta));
        }
    }

    // Saving.

    /// Handles the result of saving a game. The session continues after an error.
    pub(super) fn on_saved(&mut self, id: GameId, result: Result<(), StoreError>) {
        self.saves.writing.remove(&id);
        if let Some(session) = self.sessions.get_mut(&id) {
            session.on_saved(result.err().map(|error| library_error(&error).into()));
            self.publish_game(id);
        }
    }

    // Clocks.

    /// The moment of the next flag fall.
    pub(crate) fn next_deadline(&self) -> Option<Moment> {
        self.sessions.values().filter_map(next_deadline).min()
    }

    pub(crate) fn on_tick(&mut self) {
        let now = now();
        let is_due = |session: &&GameSession| next_deadline(session).is_some_and(|due| due <= now);
        let due = self.sessions.values().filter(is_due);
        for id in due.map(GameSession::id).collect::<Vec<_>>() {
            let _ = self.play(id, |active, document, now| Ok(active.on_tick(document, now)));
        }
    }

    /// Publishes all clocks that run.
    pub(crate) fn publish_clocks(&mut self) {
        for id in self.open_ids() {
            if let Ok((active, document)) = self.active_mut(id) {
                active.publish_clocks(document);
                self.publish_game(id);
            }
        }
    }

    pub(super) fn pause_all(&mut self) {
        for id in self.open_ids() {
            // Games that do not run are unchanged.
            let _ = self.play(id, ActiveGame::pause);
        }
    }

    pub(super) fn interrupt_all(&mut self) {
        for id in self.open_ids() {
            let _ = self.interrupt(id);
        }
    }

    pub(super) fn interrupt(&mut self, id: GameId) -> Result<(), ApiError> {
        self.change_session(id, |session, now| Ok(((), session.interrupt(now))))
    }

    pub(super) fn open_ids(&self) -> Vec<GameId> {
        self.sessions.keys().copied().collect()
    }

    /// Players with their names until the handshakes of their engines.
    pub(super) fn with_names(
        &self,
        players: &Sides<Player>,
    ) -> Result<Sides<(Player, String)>, ApiError> {
        check_players(players)?;
        let named = |player: &Player| -> Result<(Player, String), ApiError> {
            let name = match player {
                Player::Human { name, .. } => name.clone(),
                Player::Engine(player) => self.registry.get(player.engine)?.name().to_owned(),
            };
            Ok((player.clone(), name))
        };
        Ok(Sides { first: named(&players.first)?, second: named(&players.second)? })
    }
}

fn next_deadline(session: &GameSession) -> Option<Moment> {
    session.active().and_then(ActiveGame::next_deadline)
}

fn not_open(id: GameId) -> ApiError {
    ApiError::not_found(ErrorSubject::OpenGame, id)
}
