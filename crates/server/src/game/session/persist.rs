//! A game as the library keeps it while it is open, so that it outlives the server.

use std::collections::BTreeMap;

use readyok_rules::record::{GameResult, Headers};
use readyok_rules::{Game, Position};
use serde::{Deserialize, Serialize};

use super::{ActiveGame, GameSession, Origin, PlayState, PlayerSlot};
use crate::game::clock::{GameClocks, Reading};
use crate::game::tree::{ROOT, Tree};
use crate::time::Moment;
use crate::wire::{
    EndReason, GameId, GameLine, Header, Node, NodeId, Outcome, PlayRules, Player, Side, Sides,
    Variant,
};

/// A game as JSON.
#[derive(Debug, Deserialize, Serialize)]
pub(crate) struct StoredSession {
    variant: Variant,
    start: String,
    headers: Vec<Header>,
    result: String,
    nodes: Vec<Node>,
    next: NodeId,
    cursor: NodeId,
    outcome: Option<Outcome>,
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
    /// Whether an engine played each side; none where neither the active nor the record tells.
    pub(crate) fn engines(&self) -> Sides<Option<bool>> {
        let seated = |of: Side| {
            let players = &self.play.as_ref()?.players;
            Some(matches!(players.of(of), Player::Engine(_)))
        };
        let told = |name: &str| {
            let header = self.headers.iter().find(|header| header.name == name)?;
            match header.value.to_ascii_lowercase().as_str() {
                "program" => Some(true),
                "human" => Some(false),
                _ => None,
            }
        };
        Sides {
            first: seated(Side::First).or_else(|| told("WhiteType")),
            second: seated(Side::Second).or_else(|| told("BlackType")),
        }
    }
}

/// A game at one moment, to be saved. It shares its tree with the session, so that it is made in constant time.
pub(crate) struct GameSnapshot {
    pub(crate) line: GameLine,
    pub(crate) outcome: Option<Outcome>,
    pub(crate) tree: Tree,
    cursor: NodeId,
    play: Option<StoredPlay>,
}

impl GameSnapshot {
    /// The game as the library keeps it, which takes time in proportion to its size.
    pub(crate) fn kept(&self) -> StoredSession {
        let tree = &self.tree;
        StoredSession {
            variant: tree.game().into(),
            start: tree.start().to_string(),
            headers: super::wire_headers(tree),
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
    /// The game as it is now, to be saved.
    pub(crate) fn snapshot(&self) -> GameSnapshot {
        let play = self.play.as_ref().map(|active| StoredPlay {
            players: Sides {
                first: active.slots.first.player.clone(),
                second: active.slots.second.player.clone(),
            },
            names: Sides {
                first: active.slots.first.name.clone(),
                second: active.slots.second.name.clone(),
            },
            readings: active.readings.clone(),
            tip: active.tip,
            over: active.state == PlayState::Over,
            rules: active.rules,
            origin: active.origin.clone(),
            rematch: active.rematch,
        });
        GameSnapshot {
            line: self.line(),
            outcome: self.outcome.clone(),
            tree: self.tree.clone(),
            cursor: self.cursor,
            play,
        }
    }

    /// The game as it was. One that was going on is interrupted. None if the text is none of a game.
    pub(crate) fn restore(id: GameId, kept: StoredSession, now: Moment) -> Option<Self> {
        let start = Position::from_text(kept.variant.into(), &kept.start).ok()?;
        let mut tree = Tree::from_wire(start, &kept.nodes, kept.next)?;
        let mut headers = Headers::default();
        for Header { name, value } in kept.headers {
            headers.push(name, value);
        }
        tree.headers = headers;
        tree.result = match kept.result.as_str() {
            "1-0" => GameResult::Win(Side::First.into()),
            "0-1" => GameResult::Win(Side::Second.into()),
            "1/2-1/2" => GameResult::Draw,
            _ => GameResult::Unknown,
        };
        let mut session = Self::new(id, tree, now);
        session.changes.unsaved = false;
        // Ends are not kept with the nodes.
        if let Some(outcome) = &kept.outcome
            && outcome.reason != EndReason::Other
            && (kept.play.is_some() || session.game() == Game::Shogi)
        {
            let last = session.tree.main_line().last().copied().unwrap_or(ROOT);
            let last = kept.play.as_ref().map_or(last, |play| play.tip);
            session.tree.conclude(last, outcome.reason.into());
        }
        session.outcome = kept.outcome;
        session.cursor = if session.tree.node(kept.cursor).is_some() { kept.cursor } else { ROOT };
        if let Some(play) = kept.play {
            session.tree.node(play.tip)?;
            let Sides { first, second } = play.players;
            let slots = Sides {
                first: PlayerSlot::new(first, play.names.first),
                second: PlayerSlot::new(second, play.names.second),
            };
            let mut clocks = GameClocks::new(slots.first.time(), slots.second.time());
            if let Some(clocks) = &mut clocks {
                clocks.set(play.readings.get(&play.tip).copied());
            }
            session.play = Some(ActiveGame {
                slots,
                clocks,
                readings: play.readings,
                tip: play.tip,
                state: if play.over { PlayState::Over } else { PlayState::Interrupted },
                rules: play.rules,
                origin: play.origin,
                rematch: play.rematch,
                offer: None,
                hint: None,
                last_search_id: 0,
            });
        }
        Some(session)
    }
}
