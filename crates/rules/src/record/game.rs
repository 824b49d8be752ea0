//! A recorded game: a start position and a tree of legal moves.

use std::{fmt, sync::OnceLock};

use crate::{Game, GameOutcome, GameResult, Move, Position, Side, Termination};

use super::{AddError, Annotations, End, Headers, Tag, limits::MAX_PLIES, shogi::Handicap};

/// A game of chess, Chess960 or shogi with headers and annotations.
///
/// The moves are a tree, and each is legal in its position. The root is the start position and has no
/// move. The first child of a node continues its line; the others begin variations.
///
/// ```
/// use readyok_rules::{Game, Position, Termination, record::GameRecord};
///
/// let mut record = GameRecord::new(Position::start(Game::Chess));
/// for uci in ["f2f3", "e7e5", "g2g4", "d8h4"] {
///     record.play(record.position().parse_move(uci)?)?;
/// }
/// record.finish(Termination::Checkmate);
/// assert_eq!(record.result.as_str(), "0-1");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct GameRecord {
    /// Players, event and similar headers. Game, start position and result are not among them, as they
    /// follow from the rest of the record.
    pub headers: Headers,
    /// The result.
    pub result: GameResult,
    start: Position,
    nodes: Vec<Node>,
    /// The end of the main line.
    last: NodeId,
    /// The position there, so that appending moves needs no replay. Computed on demand.
    tip: OnceLock<Position>,
}

/// The id of a node within its record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeId(u32);

impl NodeId {
    /// The start position.
    pub const ROOT: Self = Self(0);
}

/// A move of a record, or, at the root, the start position.
#[derive(Debug, Clone)]
pub struct Node {
    id: NodeId,
    parent: NodeId,
    mv: Option<Move>,
    ply: u32,
    children: Vec<NodeId>,
    /// The annotations.
    pub notes: Annotations,
}

impl Node {
    /// The id.
    pub fn id(&self) -> NodeId {
        self.id
    }

    /// The parent. `None` for the root.
    pub fn parent(&self) -> Option<NodeId> {
        self.mv.map(|_| self.parent)
    }

    /// The move. `None` for the root.
    pub fn mv(&self) -> Option<Move> {
        self.mv
    }

    /// The number of moves up to and including this one: 0 for the root.
    pub fn ply(&self) -> usize {
        self.ply as usize
    }

    /// The next moves: the first continues the line, the others begin variations.
    pub fn children(&self) -> &[NodeId] {
        &self.children
    }
}

impl GameRecord {
    /// A record without moves. Moves before the position are not part of it.
    pub fn new(start: Position) -> Self {
        Self {
            headers: Headers::default(),
            result: GameResult::Unknown,
            nodes: vec![Node {
                id: NodeId::ROOT,
                parent: NodeId::ROOT,
                mv: None,
                ply: 0,
                children: Vec::new(),
                notes: Annotations::default(),
            }],
            last: NodeId::ROOT,
            tip: OnceLock::new(),
            start,
        }
    }

    /// The game.
    pub fn game(&self) -> Game {
        self.start.game()
    }

    /// The start position.
    pub fn start(&self) -> &Position {
        &self.start
    }

    /// The position at the end of the main line, with its history.
    pub fn position(&self) -> &Position {
        // A node of this record has a position.
        self.tip.get_or_init(|| self.replayed(self.last).unwrap_or_else(|| self.start.clone()))
    }

    /// A player's name.
    pub fn player(&self, side: Side) -> Option<&str> {
        self.header(Tag::Player(side)).or_else(|| match (self.game(), side) {
            // In records of handicap games the sides have these names.
            (Game::Shogi, Side::First) => self.headers.get("下手"),
            (Game::Shogi, Side::Second) => self.headers.get("上手"),
            (Game::Chess | Game::Chess960, _) => None,
        })
    }

    /// Sets the name of a player. A handicap game of shogi has the headers 下手 and 上手.
    pub fn set_player(&mut self, side: Side, name: impl Into<String>) {
        match (self.is_handicap_game(), side) {
            (true, Side::First) => self.headers.set("下手", name),
            (true, Side::Second) => self.headers.set("上手", name),
            (false, _) => self.set_header(Tag::Player(side), name),
        }
    }

    /// Whether the start position is one of the usual handicaps of shogi.
    pub(super) fn is_handicap_game(&self) -> bool {
        Handicap::of(&self.start).is_some_and(|handicap| !handicap.is_even())
    }

    /// The value of a common header.
    pub fn header(&self, tag: Tag) -> Option<&str> {
        self.headers.get(tag.name(self.game()))
    }

    /// Sets the value of a common header.
    pub fn set_header(&mut self, tag: Tag, value: impl Into<String>) {
        self.headers.set(tag.name(self.game()), value);
    }

    /// A node. `None` if the id is of another record.
    pub fn node(&self, id: NodeId) -> Option<&Node> {
        self.nodes.get(id.0 as usize)
    }

    /// The annotations of a node.
    pub fn notes_mut(&mut self, id: NodeId) -> Option<&mut Annotations> {
        self.nodes.get_mut(id.0 as usize).map(|node| &mut node.notes)
    }

    /// The root node with the annotations of the start position.
    pub fn root(&self) -> Option<&Node> {
        self.node(NodeId::ROOT)
    }

    /// The number of moves, including all variations.
    pub fn len(&self) -> usize {
        self.nodes.len().saturating_sub(1)
    }

    /// Whether there are no moves.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The last node of the main line. The root if there are no moves.
    pub fn last(&self) -> NodeId {
        self.last
    }

    /// The nodes of the main line, in order, without the root.
    pub fn mainline(&self) -> Mainline<'_> {
        Mainline { record: self, at: NodeId::ROOT }
    }

    /// The positions of the main line: the start position, and the one after each move.
    pub fn positions(&self) -> Positions<'_> {
        Positions { mainline: self.mainline(), next: Some(self.start.clone()) }
    }

    /// The position after a node's move. `None` if the node is of another record.
    pub fn position_after(&self, id: NodeId) -> Option<Position> {
        if id == self.last { Some(self.position().clone()) } else { self.replayed(id) }
    }

    fn replayed(&self, id: NodeId) -> Option<Position> {
        let mut moves = Vec::new();
        let mut node = self.node(id)?;
        while let Some(mv) = node.mv {
            moves.push(mv);
            node = self.node(node.parent)?;
        }
        let mut position = self.start.clone();
        for mv in moves.into_iter().rev() {
            position.play(mv).ok()?;
        }
        Some(position)
    }

    /// Appends a move to the main line.
    pub fn play(&mut self, mv: Move) -> Result<NodeId, AddError> {
        self.add(self.last, mv)
    }

    /// Adds a move after a node: as its continuation if it is the first, otherwise as a variation.
    /// A move that already exists is not added again.
    ///
    /// Costs a replay from the start unless the node is the end of the main line.
    pub fn add(&mut self, parent: NodeId, mv: Move) -> Result<NodeId, AddError> {
        let node = self.node(parent).ok_or(AddError::NoSuchNode)?;
        if node.ply() >= MAX_PLIES {
            return Err(AddError::Full);
        }
        let known = |&id: &NodeId| self.node(id).and_then(Node::mv) == Some(mv);
        if let Some(&id) = node.children.iter().find(|id| known(id)) {
            return Ok(id);
        }
        let at_the_end = parent == self.last;
        let cached = if at_the_end { self.tip.take() } else { None };
        let mut position =
            cached.or_else(|| self.position_after(parent)).ok_or(AddError::NoSuchNode)?;
        let played = position.play(mv);
        if at_the_end {
            self.tip = position.into();
        }
        played.map_err(AddError::Move)?;
        let id = self.attach(parent, mv).ok_or(AddError::Full)?;
        if at_the_end {
            self.last = id;
        }
        Ok(id)
    }

    /// Ends the game with the result that follows from the termination for the side to move. If none
    /// follows, the result is unchanged.
    pub fn finish(&mut self, termination: Termination) {
        let shogi = self.game() == Game::Shogi;
        let follows = termination.result(self.position().turn(), shogi);
        let result = if follows == GameResult::Unknown { self.result } else { follows };
        self.conclude(GameOutcome { result, termination });
    }

    /// Ends the game regardless of the side to move: a player can resign during the opponent's turn.
    pub fn conclude(&mut self, end: impl Into<End>) {
        let end = end.into();
        self.result = end.outcome.result;
        let last = self.last();
        if let Some(notes) = self.notes_mut(last) {
            notes.end = Some(end);
        }
    }

    /// The end of the main line, if known.
    pub fn end(&self) -> Option<&End> {
        self.node(self.last()).and_then(|node| node.notes.end.as_ref())
    }

    /// What ended the game. PGN has it in the header `Termination`.
    pub fn termination(&self) -> Option<Termination> {
        match self.end() {
            Some(end) => Some(end.outcome.termination),
            None => Termination::from_pgn_tag(self.headers.get("Termination")?),
        }
    }

    /// Adds a legal move after an existing node. `None` if there is no room. After the last call,
    /// [`Self::settle`] must be called.
    pub(super) fn attach(&mut self, parent: NodeId, mv: Move) -> Option<NodeId> {
        let id = NodeId(u32::try_from(self.nodes.len()).ok()?);
        let before = self.nodes.get_mut(parent.0 as usize)?;
        let ply = before.ply + 1;
        before.children.push(id);
        self.nodes.push(Node {
            id,
            parent,
            mv: Some(mv),
            ply,
            children: Vec::new(),
            notes: Annotations::default(),
        });
        Some(id)
    }

    /// Finds the end of the main line after moves were attached.
    pub(super) fn settle(&mut self) {
        self.last = self.mainline().last().map_or(NodeId::ROOT, Node::id);
        self.tip = OnceLock::new();
    }

    /// Whether both have the same moves and annotations in the same order, regardless of the order in
    /// which nodes were added.
    fn same_tree(&self, other: &Self) -> bool {
        let mut pairs = vec![(NodeId::ROOT, NodeId::ROOT)];
        while let Some((ours, theirs)) = pairs.pop() {
            let (Some(our), Some(their)) = (self.node(ours), other.node(theirs)) else {
                return false;
            };
            if our.mv != their.mv
                || our.notes != their.notes
                || our.children.len() != their.children.len()
            {
                return false;
            }
            pairs.extend(our.children.iter().copied().zip(their.children.iter().copied()));
        }
        true
    }
}

impl PartialEq for GameRecord {
    fn eq(&self, other: &Self) -> bool {
        self.game() == other.game()
            && self.headers == other.headers
            && self.result == other.result
            && self.start.to_string() == other.start.to_string()
            && self.same_tree(other)
    }
}

impl fmt::Debug for GameRecord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GameRecord")
            .field("game", &self.game())
            .field("headers", &self.headers)
            .field("start", &self.start.to_string())
            .field("nodes", &self.nodes)
            .field("result", &self.result)
            .finish_non_exhaustive()
    }
}

/// The nodes of a main line; see [`GameRecord::mainline`].
#[derive(Debug, Clone)]
pub struct Mainline<'a> {
    record: &'a GameRecord,
    at: NodeId,
}

impl<'a> Iterator for Mainline<'a> {
    type Item = &'a Node;

    fn next(&mut self) -> Option<&'a Node> {
        let node = self.record.node(*self.record.node(self.at)?.children.first()?)?;
        self.at = node.id;
        Some(node)
    }
}

/// The positions of a main line; see [`GameRecord::positions`].
#[derive(Debug, Clone)]
pub struct Positions<'a> {
    mainline: Mainline<'a>,
    next: Option<Position>,
}

impl Iterator for Positions<'_> {
    type Item = Position;

    fn next(&mut self) -> Option<Position> {
        let position = self.next.take()?;
        if let Some(mv) = self.mainline.next().and_then(Node::mv) {
            let mut after = position.clone();
            self.next = after.play(mv).is_ok().then_some(after);
        }
        Some(position)
    }
}
