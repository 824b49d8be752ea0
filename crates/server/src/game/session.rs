//! One open game: what may be done to it, by whom, and what follows.
//!
//! ```text
//!            resume                 mate, flag, resignation, agreement, failure
//!  Paused <──────────> Going ─────────────────────────────────────────────────> Over
//!            pause       │ the server ends, an engine cannot be started            │ take back, resume
//!                        └──> Interrupted ──> resume ──> Going <──────────────────┘
//! ```
//! A session knows nothing of processes: it asks the engine of a side to do something ([`SearchRequest`]) and is
//! told of its answer. What has changed for the page is collected until [`GameSession::take_delta`].

mod edit;
mod persist;
mod play;
mod rematch;
#[cfg(test)]
mod tests;

pub(crate) use persist::{GameSnapshot, StoredSession};
pub(crate) use play::check_players;
pub(crate) use rematch::Origin;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;
use std::time::Duration;

use readyok_client::Game as WireGame;
use readyok_protocol::{Dialect, Go, MateLimit};
use readyok_rules::record::{AddError, GameResult, Tag};
use readyok_rules::{
    EndRules, Ending, Game, Illegal, Move, MoveCodec, MoveError, Notation, Position, Reason,
};

use super::api_error::{api_error, no_such, odd_text, too_many};
use super::clock::{GameClocks, Reading};
use super::position_view::{here, outcome as wire_outcome, result_word};
use super::problem::illegal;
use super::tree::{ROOT, Tree};
use crate::time::Moment;
use crate::wire::{
    ApiError, ApiErrorCode, At, Claim, EndReason, EnginePlayer, GameDelta, GameId, GameLine,
    GameState, Header, Hint, KeptState, Limits, MoveInfo, NodeId, OpeningName, Outcome, Over, Play,
    PlayRules, PlayStatus, Player, PlayerState, PonderState, ProblemKind, Side, Sides, Thing, Time,
    Undo,
};

/// One open game.
pub(crate) struct GameSession {
    id: GameId,
    tree: Tree,
    cursor: NodeId,
    outcome: Option<Outcome>,
    play: Option<ActiveGame>,
    /// What can be gone back to, the latest last.
    past: Vec<UndoEntry>,
    /// What was undone, the latest last.
    future: Vec<UndoEntry>,
    changed: Moment,
    /// Why the library could not take the last change.
    unsaved: Option<String>,
    changes: Changes,
    /// The identity of the game for engines of each protocol: another identity is a new game.
    wire: [OnceLock<WireGame>; 2],
}

/// What the page and the library do not know yet.
#[derive(Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "independent parts of a state")]
struct Changes {
    nodes: BTreeSet<NodeId>,
    removed: BTreeSet<NodeId>,
    headers: bool,
    at: bool,
    over: bool,
    play: bool,
    undo: bool,
    kept: bool,
    unsaved: bool,
}

/// A game that is played.
struct ActiveGame {
    slots: Sides<PlayerSlot>,
    clocks: Option<GameClocks>,
    /// The clocks after each move, to go back to.
    readings: BTreeMap<NodeId, Reading>,
    /// Where the game stands.
    tip: NodeId,
    state: PlayState,
    rules: PlayRules,
    /// How it was set up, if it was set up to be played.
    origin: Option<Origin>,
    /// The game that the players have begun after it.
    rematch: Option<GameId>,
    offer: Option<Side>,
    hint: Option<Hint>,
    /// Tells requests to engines apart.
    last_search_id: u64,
}

/// Where a game stands.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum PlayState {
    Going,
    Paused,
    Interrupted,
    Over,
}

/// A side of the active.
pub(crate) struct PlayerSlot {
    player: Player,
    name: String,
    /// What the engine was asked and has not answered.
    asked: Option<PendingSearch>,
    thought: Option<MoveInfo>,
    hits: u32,
    tries: u32,
}

/// What an engine was asked.
#[derive(Clone, Debug)]
struct PendingSearch {
    search_id: u64,
    /// The move of the opponent that it ponders on; none if it is to move.
    on: Option<String>,
    /// Whether its process has told that it is at it.
    begun: bool,
}

/// What a session wants of the engine of a side.
#[derive(Clone, Debug)]
pub(crate) enum SearchRequest {
    /// A move; or to think ahead on the last of these moves.
    Think {
        /// Comes back with the answer.
        search_id: u64,
        /// From the start position on.
        moves: Vec<Move>,
        /// How long.
        budget: TimeBudget,
        /// On the opponent's time.
        ponder: bool,
    },
    /// The expected move was played: the search goes on as one for a move.
    Hit {
        /// How long.
        budget: TimeBudget,
    },
    /// To play at once.
    MoveNow,
    /// To leave off; no answer is wanted.
    Rest,
    /// The game is over, won by a side or drawn; the engine can go.
    Leave {
        /// Whether it has won; none for a draw or no result.
        won: Option<bool>,
    },
}

/// How long an engine may think, before it is known what it speaks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TimeBudget {
    clocks: Option<GameClocks>,
    side: Side,
    depth: Option<u32>,
    nodes: Option<u64>,
    time: Option<u64>,
    mate: Option<u64>,
}

/// Something to be done outside of the session.
#[derive(Clone, Debug)]
pub(crate) enum Effect {
    /// The engine of a side is asked.
    Request(Side, SearchRequest),
}

/// What an engine has answered.
#[derive(Clone, Debug)]
pub(crate) struct EngineAnswer {
    /// What it plays.
    pub(crate) best: EngineMove,
    /// The word of the answer that it expects.
    pub(crate) ponder: Option<String>,
    /// How long it took, in milliseconds.
    pub(crate) elapsed: u64,
}

/// What an engine plays.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum EngineMove {
    /// A word of the game, or what the engine takes for one.
    Move(String),
    /// It resigns.
    Resign,
    /// It declares that it has won.
    Win,
    /// It has no move, or says something else.
    Nothing(String),
}

/// So much later than its clock says an engine has lost for sure: its answer needs time to be read.
const GRACE: u64 = 1000;

fn not_now(why: ProblemKind, text: &str) -> ApiError {
    api_error(ApiErrorCode::NotNow, why, text)
}

fn no_node(id: NodeId) -> ApiError {
    no_such(Thing::Node, &id, format!("the game has no node {id}"))
}

/// A move that the tree does not take.
pub(crate) fn not_added(parent: NodeId, error: AddError) -> ApiError {
    match error {
        AddError::NoSuchNode => no_node(parent),
        AddError::Full => {
            api_error(ApiErrorCode::TooMuch, ProblemKind::TreeFull, "the tree is full")
        }
        AddError::Move(error) => illegal(&error),
    }
}

impl PlayerSlot {
    fn new(player: Player, name: String) -> Self {
        let (asked, thought) = (None, None);
        Self { player, name, asked, thought, hits: 0, tries: 0 }
    }

    fn time(&self) -> Time {
        match &self.player {
            Player::Person { time, .. } | Player::Engine(EnginePlayer { time, .. }) => *time,
        }
    }

    pub(crate) fn engine(&self) -> Option<&EnginePlayer> {
        match &self.player {
            Player::Person { .. } => None,
            Player::Engine(engine) => Some(engine),
        }
    }

    fn wire(&self, position: Option<&Position>) -> PlayerState {
        let ponders = self.engine().is_some_and(|engine| engine.ponder);
        let expects = self.asked.as_ref().and_then(|asked| asked.on.as_ref());
        let expects = expects.zip(position).and_then(|(word, position)| {
            super::position_view::line(position, std::slice::from_ref(word), &[]).into_iter().next()
        });
        PlayerState {
            player: self.player.clone(),
            name: self.name.clone(),
            thought: self.thought.clone(),
            pondering: ponders.then_some(PonderState {
                expects,
                hits: self.hits,
                tries: self.tries,
            }),
        }
    }
}

impl TimeBudget {
    fn new(clocks: Option<GameClocks>, side: Side, limits: &Limits) -> Self {
        let Limits { depth, nodes, time, mate } = *limits;
        Self { clocks, side, depth, nodes, time, mate }
    }

    /// The limits as a message. Without any the engine thinks until it is told to move.
    pub(crate) fn go(&self, dialect: Dialect) -> Go<'static> {
        let clocks = self.clocks.map(|clocks| clocks.go(self.side, dialect)).unwrap_or_default();
        let per_move = self.clocks.and_then(|clocks| clocks.per_move(self.side));
        let move_time = self.time.map(Duration::from_millis).into_iter().chain(per_move).min();
        let mate = self.mate.map(|limit| match dialect {
            Dialect::Uci => MateLimit::Moves(u32::try_from(limit).unwrap_or(u32::MAX)),
            Dialect::Usi if limit == 0 => MateLimit::Infinite,
            Dialect::Usi => MateLimit::Time(Duration::from_millis(limit)),
        });
        let go =
            Go { clocks, depth: self.depth, nodes: self.nodes, move_time, mate, ..Go::default() };
        if go.is_bare() { Go::infinite() } else { go }
    }
}

/// A game as it was before a change, or after one that was undone.
struct UndoEntry {
    tree: Tree,
    cursor: NodeId,
    outcome: Option<Outcome>,
}

impl GameSession {
    /// A session with a tree that nobody plays.
    pub(crate) fn new(id: GameId, tree: Tree, now: Moment) -> Self {
        let outcome = record_outcome(&tree);
        Self {
            id,
            tree,
            cursor: ROOT,
            outcome,
            play: None,
            past: Vec::new(),
            future: Vec::new(),
            changed: now,
            unsaved: None,
            changes: Changes { unsaved: true, ..Changes::default() },
            wire: Default::default(),
        }
    }

    pub(crate) fn id(&self) -> GameId {
        self.id
    }

    pub(crate) fn tree(&self) -> &Tree {
        &self.tree
    }

    pub(crate) fn game(&self) -> Game {
        self.tree.game()
    }

    pub(crate) fn cursor(&self) -> NodeId {
        self.cursor
    }

    #[cfg(test)]
    pub(crate) fn outcome(&self) -> Option<&Outcome> {
        self.outcome.as_ref()
    }

    /// The slot of a side, if the game is played.
    pub(crate) fn slot(&self, side: Side) -> Option<&PlayerSlot> {
        self.play.as_ref().map(|active| active.slots.of(side))
    }

    /// The game for an engine: always the same one, whatever the moves.
    pub(crate) fn wire_game(&self, codec: MoveCodec, moves: &[Move]) -> Option<WireGame> {
        let [uci, usi] = &self.wire;
        let known = match codec.dialect() {
            Dialect::Uci => uci,
            Dialect::Usi => usi,
        };
        let position = codec.encode_position(self.tree.start(), moves)?;
        let game = known.get_or_init(|| WireGame::new(position.clone(), codec.new_game()));
        Some(game.at(position))
    }

    /// When it was last changed or walked through.
    pub(crate) fn changed(&self) -> Moment {
        self.changed
    }

    /// Why the library could not take its last change.
    pub(crate) fn unsaved(&self) -> Option<&str> {
        self.unsaved.as_deref()
    }

    /// Whether it is being played just now.
    pub(crate) fn is_going(&self) -> bool {
        self.play.as_ref().is_some_and(|active| active.state == PlayState::Going)
    }

    /// Reads a move in any notation.
    pub(crate) fn read_move(position: &Position, text: &str) -> Result<Move, ApiError> {
        let text = text.trim();
        let mut found: Option<MoveError> = None;
        for notation in [Notation::Word, Notation::Western, Notation::Japanese] {
            match position.parse(text, notation) {
                Ok(mv) => return Ok(mv),
                // The notation that can read it knows best what is wrong.
                Err(error) => {
                    if found.as_ref().is_none_or(|found| found.why == Illegal::Unreadable) {
                        found = Some(error);
                    }
                }
            }
        }
        Err(found.map_or_else(
            || api_error(ApiErrorCode::IllegalMove, ProblemKind::Unreadable, ""),
            |error| illegal(&error),
        ))
    }

    /// Looks at a node.
    pub(crate) fn go_to(&mut self, node: NodeId) -> Result<(), ApiError> {
        self.tree.node(node).ok_or_else(|| no_node(node))?;
        self.set_cursor(node);
        Ok(())
    }

    fn set_cursor(&mut self, node: NodeId) {
        if self.cursor != node {
            self.cursor = node;
            self.changes.at = true;
        }
    }

    /// Adds a move to the tree, and marks what the page has to know.
    fn add(&mut self, parent: NodeId, mv: Move) -> Result<NodeId, ApiError> {
        let known = self.tree.child(parent, mv);
        let id = self.tree.add(parent, mv).map_err(|error| not_added(parent, error))?;
        if known.is_none() {
            self.changes.nodes.extend([parent, id]);
            self.changes.unsaved = true;
        }
        Ok(id)
    }

    /// Where the cursor is, with the position there.
    fn at(&self) -> At {
        let position = self.tree.position(self.cursor);
        let position = position.as_ref().unwrap_or_else(|| self.tree.start());
        let last = self.tree.node(self.cursor).and_then(super::tree::Branch::mv);
        let opening = self.tree.opening(self.cursor);
        let opening = opening.map(|it| OpeningName { eco: it.eco.into(), name: it.name.into() });
        At { cursor: self.cursor, here: here(position, last), opening }
    }

    /// The whole state but the nodes, which are those of the tree.
    pub(crate) fn state(&self, now: Moment) -> GameState {
        let At { cursor, here, opening } = self.at();
        let start = self.tree.start();
        GameState {
            id: self.id,
            variant: self.game().into(),
            start: start.to_string(),
            first_number: start.setup().move_number(),
            first_turn: start.turn().into(),
            headers: self.headers(),
            // The caller adds them without the lock of the state.
            nodes: Vec::new(),
            cursor,
            here,
            opening,
            outcome: self.outcome.clone(),
            play: self.wire_play(now),
            undo: self.undo(),
            unsaved: self.unsaved.clone(),
        }
    }

    fn headers(&self) -> Vec<Header> {
        wire_headers(&self.tree)
    }

    fn undo(&self) -> Undo {
        Undo { undo: !self.past.is_empty(), redo: !self.future.is_empty() }
    }

    fn wire_play(&self, now: Moment) -> Option<Play> {
        let active = self.play.as_ref()?;
        let position = self.tree.position(active.tip)?;
        let status = active.status(position.turn().into());
        let can_claim = status == PlayStatus::YourTurn;
        Some(Play {
            status,
            players: Sides {
                first: active.slots.first.wire(Some(&position)),
                second: active.slots.second.wire(Some(&position)),
            },
            tip: active.tip,
            clocks: active.clocks.map(|clocks| clocks.wire(now)),
            draw_offer: active.offer,
            claim: can_claim.then(|| self.claimed(&position)).flatten().map(claim),
            hint: active.hint.clone(),
            rematch: self.rematch(),
        })
    }

    /// What the page does not know yet. Whether the cursor has moved is told beside it.
    pub(crate) fn take_delta(&mut self, now: Moment) -> (Option<GameDelta>, bool) {
        let unsaved = self.changes.unsaved;
        let changes = std::mem::take(&mut self.changes);
        self.changes.unsaved = unsaved;
        let moved = changes.at;
        let any = !changes.nodes.is_empty() || !changes.removed.is_empty();
        let seen = changes.headers || changes.at || changes.over || changes.play || changes.undo;
        if !(any || seen || changes.kept) {
            return (None, moved);
        }
        self.changed = now;
        let delta = GameDelta {
            nodes: changes.nodes.iter().filter_map(|id| self.tree.wire(*id)).collect(),
            removed: changes
                .removed
                .into_iter()
                .filter(|id| self.tree.node(*id).is_none())
                .collect(),
            headers: changes.headers.then(|| self.headers()),
            at: changes.at.then(|| self.at()),
            over: changes.over.then(|| Over { outcome: self.outcome.clone() }),
            play: if changes.play { self.wire_play(now) } else { None },
            undo: changes.undo.then(|| self.undo()),
            kept: changes.kept.then(|| KeptState { error: self.unsaved.clone() }),
        };
        (Some(delta), moved)
    }

    /// Whether there is something that the library does not know yet.
    pub(crate) fn take_unsaved(&mut self) -> bool {
        std::mem::take(&mut self.changes.unsaved)
    }

    /// The library has saved a snapshot, or failed: then the game is saved with the next change.
    pub(crate) fn mark_saved(&mut self, error: Option<String>) {
        self.changes.unsaved |= error.is_some();
        self.changes.kept |= self.unsaved != error;
        self.unsaved = error;
    }

    /// The line of the list of games.
    pub(crate) fn line(&self) -> GameLine {
        let outcome = self.outcome.as_ref();
        GameLine {
            id: self.id,
            variant: self.game().into(),
            names: Sides { first: self.name(Side::First), second: self.name(Side::Second) },
            plies: u32::try_from(self.tree.main_line().len()).unwrap_or(u32::MAX),
            playing: self.is_going(),
            result: outcome.map_or("*", |outcome| &outcome.result).to_owned(),
            changed: self.changed,
        }
    }

    /// The name of a player.
    pub(crate) fn name(&self, side: Side) -> String {
        if let Some(slot) = self.slot(side) {
            return slot.name.clone();
        }
        let tag = Tag::Player(side.into()).name(self.game());
        self.tree.headers.get(tag).unwrap_or_default().to_owned()
    }
}

impl ActiveGame {
    fn status(&self, turn: Side) -> PlayStatus {
        match self.state {
            PlayState::Paused => PlayStatus::Paused,
            PlayState::Interrupted => PlayStatus::Interrupted,
            PlayState::Over => PlayStatus::Over,
            PlayState::Going => match &self.slots.of(turn).asked {
                Some(asked) if asked.begun => PlayStatus::Thinking,
                Some(_) => PlayStatus::Starting,
                None => PlayStatus::YourTurn,
            },
        }
    }

    fn end_rules(&self) -> &'static EndRules {
        match self.rules {
            PlayRules::Federation => &EndRules::FEDERATIONS,
            PlayRules::Engines => &EndRules::ENGINE_MATCH,
        }
    }
}

fn wire_headers(tree: &Tree) -> Vec<Header> {
    let header =
        |(name, value): (&str, &str)| Header { name: name.to_owned(), value: value.to_owned() };
    tree.headers.iter().map(header).collect()
}

/// What leads to an ending that was not reached by a move.
fn claim(ending: Ending) -> Claim {
    match ending {
        Ending { winner: Some(_), .. } => Claim::DeclareWin,
        Ending { winner: None, reason: Reason::Impasse } => Claim::DeclareDraw,
        Ending { winner: None, .. } => Claim::Draw,
    }
}

/// What a record says of its end.
fn record_outcome(tree: &Tree) -> Option<Outcome> {
    let winner = match tree.result {
        GameResult::Unknown => return None,
        GameResult::Win(side) => Some(Side::from(side)),
        GameResult::Draw => None,
    };
    let last = tree.main_line().last().copied().unwrap_or(ROOT);
    if let Some(ending) = tree.position(last).and_then(|position| position.ending())
        && ending.winner.map(Side::from) == winner
    {
        return Some(wire_outcome(ending));
    }
    let reason = tree.to_record().termination().map_or(EndReason::Other, |end| (&end).into());
    Some(Outcome {
        winner,
        result: result_word(winner, true).to_owned(),
        reason,
        detail: None,
        problem: None,
    })
}
