//! The session of one open game. No I/O, no processes; the time is a parameter.
//!
//! ```text
//!  GameSession ──┬── Document: tree, cursors, outcome, undo history, changes for the page
//!                └── ActiveGame: players, clocks, offers, while the game is played
//!
//!            resume                 mate, flag, resignation, agreement, failure
//!  Paused <──────────> Running ───────────────────────────────────────────────> Over
//!            pause       │ shutdown, an engine cannot be started                 │ take back, resume
//!                        └──> Interrupted ──> resume ──> Running <───────────────┘
//! ```
//! An active game returns requests to engines as [`Effect`]s; their answers are method calls. Changes for the page are
//! collected until [`GameSession::take_delta`].

mod document;
mod play;
mod search;
mod stored;
#[cfg(test)]
mod tests;

use readyok_library::Date;
use readyok_rules::record::{GameDocument, Tag};
use readyok_rules::{Game, Move, Position};

use super::position_view::position_view;
use super::tree::{ROOT, Tree};
use crate::errors::illegal;
use crate::hub::TabId;
use crate::time::{Moment, date_text};
use crate::wire::{
    ApiError, CursorView, Edit, ErrorCode, ErrorInfo, ErrorSubject, GameDelta, GameId, GameLine,
    GameState, MergedGames, NodeId, OpeningName, OutcomeChange, Play, PlayRules, Player,
    SaveStatus, Side, Sides,
};

use document::Changes;
pub(crate) use document::{Document, Origin, not_added};
pub(crate) use play::{ActiveGame, PlayerSlot, check_players};
pub(crate) use search::{EngineAnswer, EngineMove, SearchRequest, TimeBudget};
pub(crate) use stored::{Draft, StoredSession};

/// An effect of an active game outside of the session.
#[derive(Clone, Debug)]
pub(crate) enum Effect {
    /// A request to the engine of a side.
    Request(Side, SearchRequest),
}

/// Changes of a session for its subscribers.
pub(crate) struct Published {
    /// For all tabs.
    pub(crate) delta: Option<GameDelta>,
    /// The cursors that were moved, which are part of the delta of their tabs.
    pub(crate) moved: Vec<(TabId, CursorView)>,
    /// Whether the latest cursor was set.
    pub(crate) navigated: bool,
}

/// An open game.
pub(crate) struct GameSession {
    id: GameId,
    document: Document,
    active: Option<ActiveGame>,
    last_changed: Moment,
    /// Why the last change could not be saved.
    save_error: Option<ErrorInfo>,
    /// Of a board that is not in the library.
    draft: Option<Draft>,
}

pub(crate) fn no_node(id: NodeId) -> ApiError {
    ApiError::not_found(ErrorSubject::Node, id)
}

fn no_players() -> ApiError {
    ApiError::conflict(ErrorCode::NoPlayers)
}

/// Parses a move in any notation.
pub(crate) fn parse_move(position: &Position, text: &str) -> Result<Move, ApiError> {
    position.parse_any(text.trim()).map_err(|error| illegal(&error))
}

impl GameSession {
    /// A session without players.
    pub(crate) fn new(id: GameId, tree: Tree, now: Moment) -> Self {
        Self::with_document(id, Document::new(tree), now)
    }

    fn with_document(id: GameId, document: Document, now: Moment) -> Self {
        Self { id, document, active: None, last_changed: now, save_error: None, draft: None }
    }

    /// A board that is not in the library.
    pub(crate) fn new_draft(id: GameId, tree: Tree, draft: Draft, now: Moment) -> Self {
        Self { draft: Some(draft), ..Self::new(id, tree, now) }
    }

    pub(crate) fn draft(&self) -> Option<Draft> {
        let edited = |draft: Draft| draft.edited || self.document.edited;
        self.draft.map(|draft| Draft { edited: edited(draft), ..draft })
    }

    /// Whether it is a draft that the user has not changed.
    pub(crate) fn is_untouched_draft(&self) -> bool {
        self.draft().is_some_and(|draft| !draft.edited)
    }

    /// The draft was added to the library.
    pub(crate) fn end_draft(&mut self) {
        self.document.changes.unsaved |= self.draft.take().is_some();
    }

    pub(crate) fn id(&self) -> GameId {
        self.id
    }

    pub(crate) fn tree(&self) -> &Tree {
        self.document.tree()
    }

    pub(crate) fn game(&self) -> Game {
        self.document.game()
    }

    /// The cursor of the latest navigation.
    pub(crate) fn cursor(&self) -> NodeId {
        self.document.cursor()
    }

    /// The cursor of a tab; without a tab, the latest one.
    pub(crate) fn cursor_of(&self, tab: Option<TabId>) -> NodeId {
        tab.map_or_else(|| self.cursor(), |tab| self.document.cursors.of(tab))
    }

    /// Gives a tab a cursor of its own.
    pub(crate) fn join(&mut self, tab: TabId) {
        self.document.cursors.join(tab);
    }

    pub(crate) fn leave(&mut self, tab: TabId) {
        self.document.cursors.leave(tab);
    }

    /// Sets the tab whose command is carried out: its cursor shows the change.
    pub(crate) fn act_for(&mut self, tab: Option<TabId>) {
        self.document.cursors.act_for(tab);
    }

    /// When it was last changed or navigated.
    pub(crate) fn last_changed(&self) -> Moment {
        self.last_changed
    }

    pub(crate) fn save_error(&self) -> Option<&ErrorInfo> {
        self.save_error.as_ref()
    }

    /// The game that is or was played.
    pub(crate) fn active(&self) -> Option<&ActiveGame> {
        self.active.as_ref()
    }

    /// The game that is or was played, with the document that it changes.
    pub(crate) fn active_mut(&mut self) -> Result<(&mut ActiveGame, &mut Document), ApiError> {
        let active = self.active.as_mut().ok_or_else(no_players)?;
        Ok((active, &mut self.document))
    }

    pub(crate) fn document_mut(&mut self) -> &mut Document {
        &mut self.document
    }

    /// The player of a side, if the game is or was played.
    pub(crate) fn slot(&self, side: Side) -> Option<&PlayerSlot> {
        self.active.as_ref().map(|active| active.slot(side))
    }

    pub(crate) fn is_running(&self) -> bool {
        self.active.as_ref().is_some_and(ActiveGame::is_running)
    }

    pub(crate) fn go_to(&mut self, node: NodeId) -> Result<(), ApiError> {
        self.document.tree().node(node).ok_or_else(|| no_node(node))?;
        self.document.set_cursor(node);
        Ok(())
    }

    /// Plays a move after a node: in the active game if the node is its last one, else on the board only.
    pub(crate) fn play_move(
        &mut self,
        node: NodeId,
        text: &str,
        now: Moment,
    ) -> Result<(NodeId, Vec<Effect>), ApiError> {
        let position = self.tree().position(node).ok_or_else(|| no_node(node))?;
        let mv = parse_move(&position, text)?;
        match self
            .active
            .as_mut()
            .filter(|active| active.is_running() && active.last_move_node() == node)
        {
            Some(active) => active.play_move(&mut self.document, &position, mv, now),
            None => Ok((self.document.add_on_board(node, mv)?, Vec::new())),
        }
    }

    /// Changes the tree. Returns the last node of an inserted line.
    pub(crate) fn edit(&mut self, edit: Edit) -> Result<Option<NodeId>, ApiError> {
        self.document.edit(self.active.as_mut(), edit)
    }

    /// Adds the moves of other games where their start positions are.
    pub(crate) fn merge(&mut self, documents: &[GameDocument]) -> Result<MergedGames, ApiError> {
        if self.is_running() {
            return Err(ApiError::conflict(ErrorCode::GameInProgress));
        }
        self.document.merge(documents)
    }

    /// Sets the players, who continue from the end of the main line. The game does not start yet.
    pub(crate) fn set_players(
        &mut self,
        players: Sides<(Player, String)>,
        rules: PlayRules,
        now: Moment,
    ) {
        self.active = Some(ActiveGame::new(&mut self.document, players, rules, now));
    }

    /// Resumes the game, from a node and with other players if they are given.
    pub(crate) fn resume(
        &mut self,
        from: Option<NodeId>,
        players: Option<Sides<(Player, String)>>,
        now: Moment,
    ) -> Result<Vec<Effect>, ApiError> {
        if self.is_running() {
            return Err(ApiError::conflict(ErrorCode::GameInProgress));
        }
        if let Some(node) = from {
            self.tree().node(node).ok_or_else(|| no_node(node))?;
        }
        if let Some(players) = players {
            let old = self.active.take();
            self.set_players(players, PlayRules::default(), now);
            if let (None, Some(old), Some(active)) = (from, old, &mut self.active) {
                active.inherit(old);
            }
        }
        let (active, document) = self.active_mut()?;
        let mut effects = Vec::new();
        if let Some(node) = from {
            effects.extend(active.rewind_to(document, node, now)?);
        }
        effects.extend(active.resume(document, now)?);
        Ok(effects)
    }

    /// Interrupts the game if it runs.
    pub(crate) fn interrupt(&mut self, now: Moment) -> Vec<Effect> {
        match self.active.as_mut().filter(|active| active.is_running()) {
            Some(active) => active.interrupt(&mut self.document, now),
            None => Vec::new(),
        }
    }

    /// The node to search for a hint, with its position.
    pub(crate) fn hint_node(&self) -> Result<(NodeId, Position), ApiError> {
        let active = self.active.as_ref().filter(|active| !active.is_over());
        let node = active.map_or_else(|| self.cursor(), ActiveGame::last_move_node);
        Ok((node, self.tree().position(node).ok_or_else(|| no_node(node))?))
    }

    // State for the page.

    fn at(&self, cursor: NodeId) -> CursorView {
        let tree = self.tree();
        let position = tree.position(cursor);
        let position = position.as_ref().unwrap_or_else(|| tree.start());
        let last = tree.node(cursor).and_then(|branch| branch.mv()?.legal());
        let opening = tree.opening(cursor);
        let opening = opening
            .map(|opening| OpeningName { eco: opening.eco.into(), name: opening.name.into() });
        CursorView { cursor, position: position_view(position, last), opening }
    }

    /// The state for a tab, without the nodes, which the caller adds from the tree.
    pub(crate) fn state(&self, tab: Option<TabId>, now: Moment) -> GameState {
        let CursorView { cursor, position, opening } = self.at(self.cursor_of(tab));
        let start = self.tree().start();
        GameState {
            id: self.id,
            variant: self.game(),
            start: start.to_string(),
            handicap: self.document.is_handicap(),
            first_number: start.setup().move_number(),
            first_turn: start.turn(),
            headers: self.document.headers(),
            ratings: self.tree().ratings(),
            nodes: Vec::new(),
            cursor,
            position,
            opening,
            outcome: self.document.outcome().cloned(),
            play: self.play_state(now),
            undo: self.document.history.state(),
            save_error: self.save_error.clone(),
        }
    }

    fn play_state(&self, now: Moment) -> Option<Play> {
        self.active.as_ref()?.state(&self.document, now)
    }

    /// The changes since the last call.
    pub(crate) fn take_delta(&mut self, now: Moment) -> Published {
        let (changes, moves) = self.document.take_changes();
        let navigated = changes.at;
        if navigated {
            self.last_changed = now;
        }
        let Changes { outcome_change, play, undo, save_status, .. } = changes;
        let is_visible = outcome_change || play || undo || save_status || !moves.is_empty();
        if !is_visible && !self.document.cursors.is_moved() {
            return Published { delta: None, moved: Vec::new(), navigated };
        }
        self.last_changed = now;
        let moved = self.document.cursors.take_moved();
        let moved = moved.into_iter().map(|(tab, node)| (tab, self.at(node))).collect();
        let delta = GameDelta {
            headers: moves.headers.then(|| self.document.headers()),
            // The comments of the root can have ratings.
            ratings: (moves.headers || moves.nodes.contains(&ROOT)).then(|| self.tree().ratings()),
            nodes: self.tree().wire(moves.nodes),
            removed: moves.removed,
            at: None,
            outcome_change: outcome_change
                .then(|| OutcomeChange { outcome: self.document.outcome().cloned() }),
            play: if play { self.play_state(now) } else { None },
            undo: undo.then(|| self.document.history.state()),
            save_status: save_status.then(|| SaveStatus { error: self.save_error.clone() }),
        };
        Published { delta: Some(delta), moved, navigated }
    }

    /// The entry in the list of games.
    pub(crate) fn summary(&self) -> GameLine {
        let outcome = self.document.outcome();
        GameLine {
            id: self.id,
            variant: self.game(),
            names: Sides { first: self.name(Side::First), second: self.name(Side::Second) },
            event: known(self.header(Tag::Event)),
            round: known(self.header(Tag::Round)),
            date: date_text(Date::parse(self.header(Tag::Date))),
            plies: u32::try_from(self.tree().main_line().len()).unwrap_or(u32::MAX),
            playing: self.is_running(),
            result: outcome.map_or("*", |outcome| outcome.result.as_str()).to_owned(),
            changed: self.last_changed,
            draft: self.draft.is_some(),
            unsaved: self.draft().is_some_and(|draft| draft.edited),
        }
    }

    fn name(&self, side: Side) -> String {
        if let Some(active) = &self.active {
            return active.slot(side).name.clone();
        }
        self.header(Tag::Player(side)).to_owned()
    }

    fn header(&self, tag: Tag) -> &str {
        self.tree().headers.get(tag.name(self.game())).unwrap_or_default()
    }
}

/// The value of a header; empty for `?` (unknown) and `-` (not applicable) of PGN.
fn known(value: &str) -> String {
    Some(value).filter(|value| !matches!(*value, "?" | "-")).unwrap_or_default().to_owned()
}

impl GameSession {
    /// Returns whether there is a change to save, and marks it as saved.
    pub(crate) fn take_unsaved(&mut self) -> bool {
        std::mem::take(&mut self.document.changes.unsaved)
    }

    /// Handles the result of saving a snapshot. After an error, the game is saved with the next change.
    pub(crate) fn on_saved(&mut self, error: Option<ErrorInfo>) {
        let changes = &mut self.document.changes;
        changes.unsaved |= error.is_some();
        changes.save_status |= self.save_error != error;
        self.save_error = error;
    }
}
