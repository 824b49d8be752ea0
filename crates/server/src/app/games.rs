//! The open games. Changes of a session are sent to its engines, its subscribers and the library.

mod players;

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

use readyok_library::Source;

use super::components::{AppEvent, Components, Context};
use super::engines::Engines;
use super::library::{ReadSession, library_error};
use super::{App, Reply, storage, written};
use crate::game::{
    ActiveGame, Document, Effect, GameSession, Origin, Published, Tree, check_players, open,
};
use crate::hub::TabId;
use crate::store::{StoreError, Written};
use crate::time::{Moment, now};
use crate::wire::{
    Answer, ApiError, Delta, Edit, ErrorCode, ErrorSubject, GameDelta, GameId, GameLine,
    GamesDelta, NewGame, NodeId, Player, Side, Sides, Topic,
};

use players::PlayerProcess;
pub(super) use players::search_spec;

/// The open games.
#[derive(Default)]
pub(crate) struct Games {
    sessions: BTreeMap<GameId, GameSession>,
    /// Sessions that were opened by a job, not by the user. They are not listed.
    background: BTreeSet<GameId>,
    players: BTreeMap<(GameId, Side), PlayerProcess>,
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

    /// Gives a tab a cursor of its own.
    pub(super) fn join(&mut self, id: GameId, tab: TabId) {
        if let Some(session) = self.sessions.get_mut(&id) {
            session.join(tab);
        }
    }

    pub(super) fn leave(&mut self, tab: TabId) {
        for session in self.sessions.values_mut() {
            session.leave(tab);
        }
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

    /// Changes a session, and handles the effects.
    pub(super) fn update(
        &mut self,
        engines: &Engines,
        cx: &mut Context<'_>,
        id: GameId,
        change: impl FnOnce(&mut GameSession, Moment) -> Result<Vec<Effect>, ApiError>,
    ) -> Result<Answer, ApiError> {
        let tab = cx.tab;
        let session = self.session_mut(id)?;
        session.act_for(tab);
        let effects = change(session, cx.now)?;
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
        let session = self.session_mut(id)?;
        session.act_for(cx.tab);
        let (node, effects) = session.play_move(node, text, cx.now)?;
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
        let session = self.session_mut(id)?;
        session.act_for(cx.tab);
        let inserted = session.edit(edit)?;
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

    /// Changes the active game of a session, and handles the effects.
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

    /// Handles the effects of a change: requests to engines, saving, publishing.
    fn flush(&mut self, engines: &Engines, cx: &mut Context<'_>, id: GameId, effects: Vec<Effect>) {
        let mut effects = VecDeque::from(effects);
        while let Some(Effect::Request(side, request)) = effects.pop_front() {
            effects.extend(self.request(engines, cx, (id, side), request));
        }
        if let Some(session) = self.sessions.get_mut(&id)
            && session.take_unsaved()
            && !cx.saves.save(id)
        {
            session.on_saved(Some(ErrorCode::LibraryClosed.into()));
        }
        self.publish(cx, id);
    }

    fn publish(&mut self, cx: &mut Context<'_>, id: GameId) {
        let Some(session) = self.sessions.get_mut(&id) else { return };
        session.act_for(None);
        let Published { delta, moved, navigated } = session.take_delta(cx.now);
        if let Some(delta) = delta {
            let in_list = !delta.nodes.is_empty()
                || !delta.removed.is_empty()
                || delta.headers.is_some()
                || delta.over.is_some();
            let at = |(tab, at)| {
                (tab, Delta::Game(Box::new(GameDelta { at: Some(at), ..delta.clone() })))
            };
            let own = moved.into_iter().map(at).collect();
            cx.hub.publish_each(Topic::Game(id), Delta::Game(Box::new(delta)), own);
            if in_list {
                self.publish_summary(cx, id);
            }
        }
        if navigated {
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

    /// Removes a session unless the user has opened it in the meantime. Returns whether it was removed.
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

    /// Handles the result of saving a game. The session continues after an error.
    pub(super) fn on_saved(
        &mut self,
        cx: &mut Context<'_>,
        id: GameId,
        result: Result<(), StoreError>,
    ) {
        if let Some(session) = self.sessions.get_mut(&id) {
            session.on_saved(result.err().map(|error| library_error(&error).into()));
            self.publish(cx, id);
        }
    }

    // Clocks.

    /// The moment of the next flag fall.
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
            // Games that do not run are unchanged.
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

/// Players with their names until the handshakes of their engines.
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

/// Maximum number of open games.
const MAX_OPEN: usize = 200;

/// Whether a game was open before. If not, it is stored as an open one.
enum Opened {
    Before,
    Now(Written<Result<(), StoreError>>),
}

impl App {
    pub(super) async fn new_game(&self, new: &NewGame) -> Result<Reply, ApiError> {
        // A book is read without the lock.
        let tree = open(new)?;
        let id = self.add_game(&tree).await?;
        Ok(self.set_up_added(id, |components, cx| components.new_game(cx, id, new, tree)))
    }

    /// Adds a new game to the library.
    #[expect(
        clippy::redundant_closure_for_method_calls,
        reason = "the method is not general enough"
    )]
    async fn add_game(&self, tree: &Tree) -> Result<GameId, ApiError> {
        // A game that is rejected is not added.
        self.update(|components, cx| components.evict_idle(cx))?;
        let (at, record) = (now(), tree.to_record());
        let added = self.writer.call(move |store| store.new_game(&record, Source::Play, at));
        added.await.map_err(storage)
    }

    /// Sets up a game that was added. It is deleted if it was not opened.
    fn set_up_added(
        &self,
        id: GameId,
        set_up: impl FnOnce(&mut Components<'_>, &mut Context<'_>) -> Result<Answer, ApiError>,
    ) -> Reply {
        let mut used = false;
        let reply = self.change(|components, cx| {
            let answer = set_up(components, cx);
            used = components.games.contains(id);
            answer
        });
        if !used {
            drop(self.writer.run(move |store| store.delete(&[id])));
        }
        reply
    }

    /// Opens a game of the library.
    pub(super) async fn open_game(&self, id: GameId) -> Result<Answer, ApiError> {
        let present = self.update(|components, cx| components.games.open_present(cx, id));
        let opened = if let Some(opened) = present {
            opened
        } else {
            self.load(id, |components, cx, read| {
                // Another tab may have been faster.
                let present = components.games.open_present(cx, id);
                present.map_or_else(|| components.open_read(cx, read?), Ok)
            })
            .await?
        };
        match opened {
            Opened::Before => (),
            Opened::Now(marked) => written(marked).await?,
        }
        Ok(Answer::Game { game: id })
    }

    /// Closes a game after it is saved.
    pub(super) async fn close_game(&self, id: GameId) -> Result<Answer, ApiError> {
        loop {
            let saved = self.update(|components, cx| {
                components.games.interrupt(components.engines, cx, id)?;
                Ok(cx.saves.is_pending(id).then(|| self.writer.barrier()))
            })?;
            if let Some(saved) = saved {
                // Without an answer the library is closed, which the session's save error shows.
                let _ = saved.await;
            }
            let closed = self.update(|components, cx| {
                let error =
                    components.games.session(id)?.save_error().cloned().map(ApiError::storage);
                match error {
                    // It may have been changed again in the meantime.
                    _ if cx.saves.is_pending(id) => Ok(None),
                    Some(error) => Err(error),
                    None => Ok(Some(components.remove_game(cx, id))),
                }
            })?;
            if let Some(closed) = closed {
                written(closed).await?;
                return Ok(Answer::Done);
            }
        }
    }

    pub(super) async fn delete_game(&self, id: GameId) -> Result<Reply, ApiError> {
        let collections = self.collections_of([id].into()).await?;
        self.update(|components, cx| {
            if components.games.interrupt(components.engines, cx, id).is_ok() {
                drop(components.remove_game(cx, id));
            }
        });
        let deleted = self.writer.call(move |store| store.delete(&[id])).await.map_err(storage)?;
        Ok(self.change(|components, cx| {
            // Another tab may have opened it in the meantime.
            if components.games.contains(id) {
                drop(components.remove_game(cx, id));
            }
            // Games that are being read may refer to it.
            cx.saves.mark_changed(None);
            if deleted == 0 {
                return Err(ApiError::not_found(ErrorSubject::Game, id));
            }
            components.games.forget_rematch(components.engines, cx, id);
            Ok(Answer::Deleted { count: 1, restorable: false, collections })
        }))
    }
}

impl Components<'_> {
    /// Sets up a game that was added to the library.
    fn new_game(
        &mut self,
        cx: &mut Context<'_>,
        id: GameId,
        new: &NewGame,
        tree: Tree,
    ) -> Result<Answer, ApiError> {
        let players = new.players.as_ref();
        let players = players.map(|players| with_names(self.engines, players)).transpose()?;
        self.evict_idle(cx)?;
        self.games.set_up(self.engines, cx, (id, new, tree), players)
    }

    /// Ensures that one more game can be opened. At the limit, the game that is idle longest is closed.
    pub(super) fn evict_idle(&mut self, cx: &mut Context<'_>) -> Result<(), ApiError> {
        while MAX_OPEN <= self.games.sessions.len() {
            let sessions = self.games.sessions.values();
            let idle = sessions.filter(|session| self.is_idle(cx, session));
            let oldest = idle.min_by_key(|it| (it.last_changed(), it.id())).map(GameSession::id);
            let Some(oldest) = oldest else {
                return Err(ApiError::too_many(ErrorSubject::OpenGame));
            };
            // It is saved. After an error it is open again after the next start.
            drop(self.remove_game(cx, oldest));
        }
        Ok(())
    }

    /// Whether a game can be closed: it is saved, and no tab or engine uses it.
    fn is_idle(&self, cx: &Context<'_>, session: &GameSession) -> bool {
        let id = session.id();
        let topics = [Topic::Game(id), Topic::Analysis(id), Topic::Report(id)];
        !session.is_running()
            && session.save_error().is_none()
            && !cx.saves.is_pending(id)
            && !self.games.background.contains(&id)
            && !topics.into_iter().any(|topic| cx.hub.is_wanted(topic))
            && !cx.processes.is_game_busy(id)
            && !self.reports.is_due(id)
    }

    fn open_read(
        &mut self,
        cx: &mut Context<'_>,
        (session, report): ReadSession,
    ) -> Result<Opened, ApiError> {
        self.evict_idle(cx)?;
        let id = session.id();
        let begun = cx.open_stored(&session);
        self.games.sessions.insert(id, session);
        self.reports.restore(id, report);
        self.games.publish_summary(cx, id);
        Ok(Opened::Now(begun))
    }

    /// Removes games that were deleted.
    pub(super) fn discard_deleted(&mut self, cx: &mut Context<'_>, deleted: &BTreeSet<GameId>) {
        let sessions = self.games.sessions.values();
        let rematches = sessions.filter_map(GameSession::rematch);
        let rematches: Vec<_> = rematches.filter(|id| deleted.contains(id)).collect();
        for id in self.games.ids() {
            if deleted.contains(&id) {
                drop(self.remove_game(cx, id));
            }
        }
        for id in rematches {
            self.games.forget_rematch(self.engines, cx, id);
        }
    }

    /// Removes an open game.
    fn remove_game(&mut self, cx: &mut Context<'_>, id: GameId) -> Written<Result<(), StoreError>> {
        self.analyses.remove_game(cx, id);
        cx.processes.quit_game(id);
        self.reports.remove(cx, id);
        self.games.remove(cx, id);
        let written = cx.close_stored(id);
        cx.hub.close(Topic::Game(id));
        cx.hub.close(Topic::Analysis(id));
        let delta = GamesDelta { changed: Vec::new(), removed: vec![id] };
        cx.hub.publish(Topic::Games, Delta::Games(delta));
        written
    }
}

impl Games {
    /// Opens a game that has a session. None if it must be loaded.
    fn open_present(&mut self, cx: &mut Context<'_>, id: GameId) -> Option<Opened> {
        let session = self.sessions.get(&id)?;
        if !self.background.remove(&id) {
            return Some(Opened::Before);
        }
        let begun = cx.open_stored(session);
        self.publish_summary(cx, id);
        Some(Opened::Now(begun))
    }

    fn remove(&mut self, cx: &mut Context<'_>, id: GameId) {
        self.players.retain(|(game, _), _| *game != id);
        self.background.remove(&id);
        if let Some(session) = self.sessions.remove(&id) {
            cx.saves.leave(&session);
        }
    }
}

impl Context<'_> {
    fn open_stored(&mut self, session: &GameSession) -> Written<Result<(), StoreError>> {
        let (id, stored) = (session.id(), session.stored());
        self.saves.run(move |store| store.open_game(id, stored))
    }

    pub(super) fn close_stored(&mut self, id: GameId) -> Written<Result<(), StoreError>> {
        self.saves.run(move |store| store.close_game(id))
    }
}

enum Rematch {
    Started(GameId),
    Open(Box<NewGame>),
}

impl App {
    /// Starts the rematch of a finished game, or answers with the existing one.
    pub(super) async fn rematch(&self, of: GameId) -> Result<Reply, ApiError> {
        let rematch = self.update(|components, _| components.games.rematch_of(of))?;
        let new = match rematch {
            Rematch::Started(game) => return Ok(Ok(Answer::Game { game }).into()),
            Rematch::Open(new) => new,
        };
        // A book is read without the lock.
        let tree = open(&new)?;
        let id = self.add_game(&tree).await?;
        Ok(self.set_up_added(id, |components, cx| components.start_rematch(cx, of, id, tree)))
    }
}

impl Components<'_> {
    fn start_rematch(
        &mut self,
        cx: &mut Context<'_>,
        of: GameId,
        id: GameId,
        tree: Tree,
    ) -> Result<Answer, ApiError> {
        // Another tab may have been faster.
        let new = match self.games.rematch_of(of)? {
            Rematch::Started(game) => return Ok(Answer::Game { game }),
            Rematch::Open(new) => new,
        };
        let answer = self.new_game(cx, id, &new, tree)?;
        self.games.set_rematch(self.engines, cx, of, Some(id));
        Ok(answer)
    }
}

impl Games {
    fn rematch_of(&self, of: GameId) -> Result<Rematch, ApiError> {
        let session = self.session(of)?;
        match session.rematch() {
            Some(game) => Ok(Rematch::Started(game)),
            None => session.rematch_setup().map(|new| Rematch::Open(Box::new(new))),
        }
    }

    fn set_rematch(
        &mut self,
        engines: &Engines,
        cx: &mut Context<'_>,
        of: GameId,
        rematch: Option<GameId>,
    ) {
        let _ = self.update(engines, cx, of, |session, _| {
            session.set_rematch(rematch);
            Ok(Vec::new())
        });
    }

    /// Allows another rematch after a rematch was deleted.
    fn forget_rematch(&mut self, engines: &Engines, cx: &mut Context<'_>, deleted: GameId) {
        let sessions = self.sessions.values();
        let of = sessions.filter(|session| session.rematch() == Some(deleted));
        for id in of.map(GameSession::id).collect::<Vec<_>>() {
            self.set_rematch(engines, cx, id, None);
        }
    }
}
