//! Sessions as they are stored: the record in the library, the log of an open game, and state that records do not have.

use std::collections::BTreeMap;

use readyok_library::{Entry, NewGame, OpenTree, Source};
use readyok_rules::record::EngineNotes;
use serde::{Deserialize, Serialize};

use super::document::Content;
use super::play::PlayState;
use super::{ActiveGame, Document, GameSession, Origin, PlayerSlot};
use crate::game::clock::Reading;
use crate::game::tree::Tree;
use crate::time::Moment;
use crate::wire::{GameId, NodeId, OutcomeView, PlayRules, Player, Side, Sides};

/// The name of the state in the log of an open game.
const STATE: &str = "state";
/// The name of the engine notes in the log.
const ENGINE: &str = "engine";
/// The prefix of the names of clocks in the log, before the number of the node.
const CLOCK: &str = "clock.";

/// The state of a session that its record does not have, as JSON.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(default)]
pub(crate) struct StoredState {
    cursor: NodeId,
    /// The number of the next node.
    next: NodeId,
    /// The numbers of the nodes in the order of PGN; empty for the default numbers.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    numbers: Vec<NodeId>,
    outcome: Option<OutcomeView>,
    play: Option<StoredPlay>,
    #[serde(skip_serializing_if = "EngineNotes::is_empty")]
    engine: EngineNotes,
}

#[derive(Clone, Debug, Deserialize, Serialize)]
struct StoredPlay {
    players: Sides<Player>,
    names: Sides<String>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    readings: BTreeMap<NodeId, Reading>,
    tip: NodeId,
    over: bool,
    rules: PlayRules,
    #[serde(default)]
    origin: Option<Origin>,
    #[serde(default)]
    rematch: Option<GameId>,
}

/// A snapshot of a session to be saved. It shares the tree with the session, so it takes constant time.
#[derive(Clone)]
pub(crate) struct GameSnapshot {
    pub(crate) outcome: Option<OutcomeView>,
    pub(crate) tree: Tree,
    cursor: NodeId,
    play: Option<StoredPlay>,
}

impl GameSnapshot {
    /// The game for the library. It takes time in proportion to the size of the game.
    pub(crate) fn to_game(&self, source: Source, at: i64) -> NewGame {
        let tree = &self.tree;
        let state = StoredState {
            cursor: self.cursor,
            next: tree.next_number(),
            numbers: if tree.has_default_numbers() { Vec::new() } else { tree.numbers() },
            outcome: self.outcome.clone(),
            play: self.play.clone(),
            engine: tree.engine_notes().clone(),
        };
        let mut game = NewGame::from_record(&tree.to_record(), source, at);
        if let Some(outcome) = &self.outcome {
            game.summary.termination = Some(outcome.termination);
        }
        if let Some(play) = &self.play {
            game.summary.engines =
                [Side::First, Side::Second].map(|side| Some(is_engine(play.players.of(side))));
        }
        // Only values that JSON can represent are stored.
        game.play = serde_json::to_string(&state).ok();
        game
    }

    /// The game for the base of a log.
    pub(crate) fn to_open(&self) -> OpenTree {
        let mut open = self.tree.to_open();
        open.cursor = self.cursor;
        open.data.insert(STATE.to_owned(), self.state_text());
        open.data.insert(ENGINE.to_owned(), self.notes_text());
        for (node, reading) in self.play.iter().flat_map(|play| &play.readings) {
            open.data.insert(clock_name(*node), clock_text(Some(reading)));
        }
        open
    }

    /// The changes from an earlier snapshot. None if a log cannot represent them.
    pub(crate) fn changes_since(&self, before: &Self) -> Option<Vec<Entry>> {
        let mut entries = self.tree.log_entries_since(&before.tree)?;
        if self.cursor != before.cursor {
            entries.push(Entry::Cursor(self.cursor));
        }
        let state = self.state_text();
        if state != before.state_text() {
            entries.push(Entry::Data { name: STATE.to_owned(), value: state });
        }
        let notes = self.tree.engine_notes();
        if !notes.changes_since(before.tree.engine_notes()).is_empty() {
            entries.push(Entry::Data { name: ENGINE.to_owned(), value: self.notes_text() });
        }
        let readings = |it: &Self| it.play.as_ref().map(|play| play.readings.clone());
        let (old, new) = (readings(before).unwrap_or_default(), readings(self).unwrap_or_default());
        let removed = old.keys().filter(|it| !new.contains_key(it)).map(|it| (it, None));
        let changed = new.iter().filter(|(node, it)| old.get(node) != Some(*it));
        for (node, reading) in removed.chain(changed.map(|(node, it)| (node, Some(it)))) {
            entries.push(Entry::Data { name: clock_name(*node), value: clock_text(reading) });
        }
        Some(entries)
    }

    fn notes_text(&self) -> String {
        serde_json::to_string(self.tree.engine_notes()).unwrap_or_default()
    }

    /// The state for a log, which has the other parts.
    fn state_text(&self) -> String {
        let play = self.play.clone().map(|play| StoredPlay { readings: BTreeMap::new(), ..play });
        let state = StoredState { outcome: self.outcome.clone(), play, ..StoredState::default() };
        serde_json::to_string(&state).unwrap_or_default()
    }
}

fn clock_name(node: NodeId) -> String {
    format!("{CLOCK}{node}")
}

fn clock_text(reading: Option<&Reading>) -> String {
    reading.and_then(|it| serde_json::to_string(it).ok()).unwrap_or_default()
}

fn is_engine(player: &Player) -> bool {
    matches!(player, Player::Engine(_))
}

impl GameSession {
    pub(crate) fn snapshot(&self) -> GameSnapshot {
        let Content { tree, outcome } = self.document.content().clone();
        GameSnapshot {
            outcome,
            tree,
            cursor: self.cursor(),
            play: self.active.as_ref().map(ActiveGame::to_stored),
        }
    }

    /// Restores a session from its game in the library. None if it is damaged.
    pub(crate) fn from_game(
        id: GameId,
        game: &readyok_library::StoredGame,
        now: Moment,
    ) -> Option<Self> {
        let tree = Tree::from_record(&game.record().ok()?);
        let Some(state) = &game.play else {
            let mut session = Self::new(id, tree, now);
            session.take_unsaved();
            return Some(session);
        };
        let state: StoredState = serde_json::from_str(state).ok()?;
        let tree = if state.numbers.is_empty() {
            let mut tree = tree;
            tree.reserve(state.next);
            tree
        } else {
            tree.renumbered(&state.numbers, state.next)?
        };
        Self::restore(id, tree, state, now)
    }

    /// Restores a session from the log of an open game. None if it is damaged.
    pub(crate) fn from_open(id: GameId, open: &OpenTree, now: Moment) -> Option<Self> {
        let tree = Tree::from_open(open)?;
        let state = open.data.get(STATE).map(|it| serde_json::from_str::<StoredState>(it));
        let mut state = state.transpose().ok()?.unwrap_or_default();
        state.cursor = open.cursor;
        let notes = open.data.get(ENGINE).map(|it| serde_json::from_str(it));
        state.engine = notes.transpose().ok()?.unwrap_or_default();
        if let Some(play) = &mut state.play {
            for (name, value) in &open.data {
                if let Some(node) = name.strip_prefix(CLOCK).and_then(|it| it.parse().ok()) {
                    play.readings.insert(node, serde_json::from_str(value).ok()?);
                }
            }
        }
        Self::restore(id, tree, state, now)
    }

    /// A game that was running is interrupted.
    fn restore(id: GameId, mut tree: Tree, state: StoredState, now: Moment) -> Option<Self> {
        let tip = state.play.as_ref().map(|play| play.tip);
        if tip.is_some_and(|tip| tree.node(tip).is_none()) {
            return None;
        }
        tree.set_engine_notes(state.engine);
        let content = Content { tree, outcome: state.outcome };
        let mut session = Self::with_document(id, Document::restored(content, state.cursor), now);
        session.take_unsaved();
        session.active = state.play.map(ActiveGame::restore);
        Some(session)
    }
}

impl ActiveGame {
    fn to_stored(&self) -> StoredPlay {
        let Sides { first, second } = &self.slots;
        StoredPlay {
            players: Sides { first: first.player.clone(), second: second.player.clone() },
            names: Sides { first: first.name.clone(), second: second.name.clone() },
            readings: self.readings.clone(),
            tip: self.tip,
            over: self.state == PlayState::Over,
            rules: self.rules,
            origin: self.origin.clone(),
            rematch: self.rematch,
        }
    }

    fn restore(play: StoredPlay) -> Self {
        let Sides { first, second } = play.players;
        let slots = Sides {
            first: PlayerSlot::new(first, play.names.first),
            second: PlayerSlot::new(second, play.names.second),
        };
        let mut active = Self::with_slots(slots, play.rules, play.tip);
        if let Some(clocks) = &mut active.clocks {
            clocks.set(play.readings.get(&play.tip).copied());
        }
        Self {
            readings: play.readings,
            state: if play.over { PlayState::Over } else { PlayState::Interrupted },
            origin: play.origin,
            rematch: play.rematch,
            ..active
        }
    }
}
