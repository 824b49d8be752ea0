//! Sessions as stored in the library, so that they survive a restart of the server.

use std::collections::BTreeMap;

use readyok_rules::record::Headers;
use readyok_rules::{Game, GameResult, Position, Termination};
use serde::{Deserialize, Serialize};

use super::document::wire_headers;
use super::play::{ActiveGame, PlayState, PlayerSlot};
use super::{Document, GameSession, Origin};
use crate::game::clock::Reading;
use crate::game::tree::{ROOT, Tree};
use crate::time::Moment;
use crate::wire::{
    GameId, GameLine, Header, Node, NodeId, OutcomeView, PlayRules, Player, Side, Sides, Variant,
};

/// A session as JSON.
#[derive(Debug, Deserialize, Serialize)]
pub(crate) struct StoredSession {
    variant: Variant,
    start: String,
    headers: Vec<Header>,
    result: String,
    nodes: Vec<Node>,
    next: NodeId,
    cursor: NodeId,
    outcome: Option<OutcomeView>,
    play: Option<StoredPlay>,
}

#[derive(Clone, Debug, Deserialize, Serialize)]
struct StoredPlay {
    players: Sides<Player>,
    names: Sides<String>,
    readings: BTreeMap<NodeId, Reading>,
    tip: NodeId,
    over: bool,
    rules: PlayRules,
    #[serde(default)]
    origin: Option<Origin>,
    #[serde(default)]
    rematch: Option<GameId>,
}

impl StoredSession {
    /// Whether an engine played each side, if the players or the headers state it.
    pub(crate) fn engines(&self) -> Sides<Option<bool>> {
        let player = |of: Side| {
            let players = &self.play.as_ref()?.players;
            Some(matches!(players.of(of), Player::Engine(_)))
        };
        let header = |name: &str| {
            let found = self.headers.iter().find(|header| header.name == name)?;
            match found.value.to_ascii_lowercase().as_str() {
                "program" => Some(true),
                "human" => Some(false),
                _ => None,
            }
        };
        Sides {
            first: player(Side::First).or_else(|| header("WhiteType")),
            second: player(Side::Second).or_else(|| header("BlackType")),
        }
    }
}

/// A session at one moment, to be saved. It shares the tree with the session, so it is made in constant time.
pub(crate) struct GameSnapshot {
    pub(crate) line: GameLine,
    pub(crate) outcome: Option<OutcomeView>,
    pub(crate) tree: Tree,
    cursor: NodeId,
    play: Option<StoredPlay>,
}

impl GameSnapshot {
    /// The stored form. It takes time in proportion to the size of the game.
    pub(crate) fn to_stored(&self) -> StoredSession {
        let tree = &self.tree;
        StoredSession {
            variant: tree.game().into(),
            start: tree.start().to_string(),
            headers: wire_headers(tree),
            result: tree.result.as_str().to_owned(),
            nodes: tree.wire_all(),
            next: tree.next_number(),
            cursor: self.cursor,
            outcome: self.outcome.clone(),
            play: self.play.clone(),
        }
    }
}

impl GameSession {
    pub(crate) fn snapshot(&self) -> GameSnapshot {
        let Document { tree, cursor, outcome, .. } = &self.document;
        GameSnapshot {
            line: self.summary(),
            outcome: outcome.clone(),
            tree: tree.clone(),
            cursor: *cursor,
            play: self.active.as_ref().map(ActiveGame::to_stored),
        }
    }

    /// Whether there is a change to save. It counts as saved from now on.
    pub(crate) fn take_unsaved(&mut self) -> bool {
        std::mem::take(&mut self.document.changes.unsaved)
    }

    /// The library has saved a snapshot, or failed: then the game is saved with the next change.
    pub(crate) fn on_saved(&mut self, error: Option<String>) {
        let changes = &mut self.document.changes;
        changes.unsaved |= error.is_some();
        changes.kept |= self.save_error != error;
        self.save_error = error;
    }

    /// Restores a session. A game that was running is interrupted. None if the stored form is damaged.
    pub(crate) fn restore(id: GameId, stored: StoredSession, now: Moment) -> Option<Self> {
        let start = Position::from_text(stored.variant.into(), &stored.start).ok()?;
        let mut tree = Tree::from_wire(start, &stored.nodes, stored.next)?;
        let mut headers = Headers::default();
        for Header { name, value } in stored.headers {
            headers.push(name, value);
        }
        tree.headers = headers;
        tree.result = GameResult::from_text(&stored.result).unwrap_or_default();
        let mut session = Self::new(id, tree, now);
        let Document { tree, cursor, outcome, changes, .. } = &mut session.document;
        changes.unsaved = false;
        // Ends are not stored with the nodes.
        if let Some(outcome) = &stored.outcome
            && outcome.termination != Termination::Other
            && (stored.play.is_some() || tree.game() == Game::Shogi)
        {
            let last = tree.main_line().last().copied().unwrap_or(ROOT);
            let last = stored.play.as_ref().map_or(last, |play| play.tip);
            tree.conclude(last, outcome.termination);
        }
        *outcome = stored.outcome;
        *cursor = if tree.node(stored.cursor).is_some() { stored.cursor } else { ROOT };
        if let Some(play) = stored.play {
            tree.node(play.tip)?;
            session.active = Some(ActiveGame::restore(play));
        }
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
