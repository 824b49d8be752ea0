//! Sessions as they are stored: a document, and state that documents do not have. An open game is stored as one blob,
//! a closed one as a game of the library.

use std::collections::BTreeMap;

use readyok_library::{
    Error, LibraryDefect, NewGame, Source, StoredGame, decode_document, encode_document,
};
use readyok_rules::record::{Node, NodeId as RecordId};
use serde::{Deserialize, Serialize};

use super::document::Content;
use super::play::PlayState;
use super::{ActiveGame, Document, GameSession, Origin, PlayerSlot};
use crate::game::clock::ClockSnapshot;
use crate::game::tree::Tree;
use crate::time::Moment;
use crate::wire::{GameId, NodeId, OutcomeView, PlayRules, Player, Side, Sides};

/// A version of a session. It shares the tree with the session, so that a copy takes constant time.
#[derive(Clone, Debug)]
pub(crate) struct StoredSession {
    tree: Tree,
    state: StoredState,
}

/// What is known of a board that is not in the library.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize)]
pub(crate) struct Draft {
    /// Whether its content was pasted, or read from a file.
    pub(crate) imported: bool,
    /// Whether the user has changed it.
    pub(crate) edited: bool,
}

/// The state of a session that its document does not have, as JSON.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(default)]
struct StoredState {
    cursor: NodeId,
    outcome: Option<OutcomeView>,
    play: Option<StoredPlay>,
    #[serde(skip_serializing_if = "Option::is_none")]
    draft: Option<Draft>,
    /// What version 3 of the library has instead of the ids of nodes: their numbers, each followed by those of its
    /// children. Empty for consecutive ids.
    #[serde(skip_serializing)]
    numbers: Vec<NodeId>,
}

#[derive(Clone, Debug, Deserialize, Serialize)]
struct StoredPlay {
    players: Sides<Player>,
    names: Sides<String>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    readings: BTreeMap<NodeId, ClockSnapshot>,
    #[serde(rename = "tip")]
    last_move_node: NodeId,
    over: bool,
    rules: PlayRules,
    #[serde(default)]
    origin: Option<Origin>,
    #[serde(default)]
    rematch: Option<GameId>,
}

impl StoredSession {
    pub(crate) fn is_over(&self) -> bool {
        self.state.outcome.is_some()
    }

    pub(crate) fn draft(&self) -> Option<Draft> {
        self.state.draft
    }

    /// The version of a game of the library.
    pub(crate) fn without_draft(mut self) -> Self {
        self.state.draft = None;
        self
    }

    /// The blob of an open game. It takes time in proportion to the size of the game.
    pub(crate) fn encode(&self) -> Vec<u8> {
        // JSON can represent the state.
        let state = serde_json::to_vec(&self.state).unwrap_or_default();
        encode_document(self.tree.document(), &state)
    }

    /// # Errors
    /// The blob is damaged or has another version.
    pub(crate) fn decode(blob: &[u8]) -> Result<Self, Error> {
        let (document, state) = decode_document(blob)?;
        let state = serde_json::from_slice(state)
            .map_err(|_| Error::Defect(LibraryDefect::LibraryDamaged))?;
        Self { tree: document.into(), state }.checked()
    }

    /// The game for the library. It takes time in proportion to the size of the game.
    pub(crate) fn to_game(&self, source: Source, at: i64) -> NewGame {
        let mut game = NewGame::from_document(self.tree.document(), source, at);
        if let Some(outcome) = &self.state.outcome {
            game.summary.termination = Some(outcome.termination);
        }
        if let Some(play) = &self.state.play {
            game.summary.engines = [Side::First, Side::Second]
                .map(|side| Some(matches!(play.players.of(side), Player::Engine(_))));
        }
        // JSON can represent the state.
        game.play = serde_json::to_string(&self.state).ok();
        game
    }

    /// # Errors
    /// The game is damaged.
    pub(crate) fn from_game(game: &StoredGame) -> Result<Self, Error> {
        let tree = Tree::from(game.document()?);
        let state = game.play.as_deref().map(serde_json::from_str::<StoredState>);
        let mut state = state
            .transpose()
            .map_err(|_| Error::Defect(LibraryDefect::LibraryDamaged))?
            .unwrap_or_default();
        let numbers = std::mem::take(&mut state.numbers);
        if !numbers.is_empty() {
            state.renumber(
                &preorder(&tree).zip(numbers).map(|(id, number)| (number, id)).collect(),
            )?;
        }
        Self { tree, state }.checked()
    }

    fn checked(self) -> Result<Self, Error> {
        let last_move_node = self.state.play.as_ref().map(|play| play.last_move_node);
        let is_whole =
            last_move_node.is_none_or(|last_move_node| self.tree.node(last_move_node).is_some());
        if is_whole { Ok(self) } else { Err(Error::Defect(LibraryDefect::LibraryDamaged)) }
    }
}

impl StoredState {
    /// Gives nodes the ids that they have in the document.
    fn renumber(&mut self, ids: &BTreeMap<NodeId, NodeId>) -> Result<(), Error> {
        let id = |number: NodeId| ids.get(&number).copied();
        self.cursor = id(self.cursor).unwrap_or_default();
        if let Some(play) = &mut self.play {
            play.last_move_node =
                id(play.last_move_node).ok_or(Error::Defect(LibraryDefect::LibraryDamaged))?;
            let readings = std::mem::take(&mut play.readings).into_iter();
            play.readings =
                readings.filter_map(|(number, reading)| Some((id(number)?, reading))).collect();
        }
        Ok(())
    }
}

/// All nodes, each followed by its children.
fn preorder(tree: &Tree) -> impl Iterator<Item = NodeId> {
    let mut pending = vec![RecordId::ROOT];
    std::iter::from_fn(move || {
        let id = pending.pop()?;
        let first = pending.len();
        pending.extend(tree.children(id).map(Node::id));
        pending[first..].reverse();
        Some(id.into())
    })
}

impl GameSession {
    /// The present version.
    pub(crate) fn stored(&self) -> StoredSession {
        let Content { tree, outcome } = self.document.content().clone();
        let play = self.active.as_ref().map(ActiveGame::to_stored);
        let (cursor, draft) = (self.cursor(), self.draft());
        let state = StoredState { cursor, outcome, play, draft, numbers: Vec::new() };
        StoredSession { tree, state }
    }

    /// Continues a stored session. A game that was running is interrupted.
    pub(crate) fn restored(id: GameId, stored: StoredSession, now: Moment) -> Self {
        let StoredSession { tree, state } = stored;
        let content = Content { tree, outcome: state.outcome };
        let mut session = Self::with_document(id, Document::restored(content, state.cursor), now);
        session.take_unsaved();
        session.draft = state.draft;
        session.active = state.play.map(ActiveGame::restore);
        session
    }
}

impl ActiveGame {
    fn to_stored(&self) -> StoredPlay {
        let Sides { first, second } = &self.slots;
        StoredPlay {
            players: Sides { first: first.player.clone(), second: second.player.clone() },
            names: Sides { first: first.name.clone(), second: second.name.clone() },
            readings: self.readings.clone(),
            last_move_node: self.last_move_node,
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
        let mut active = Self::with_slots(slots, play.rules, play.last_move_node);
        if let Some(clocks) = &mut active.clocks {
            clocks.set(play.readings.get(&play.last_move_node).copied());
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
