//! A recorded game: a start position and a tree of moves.

mod changes;
mod combine;
mod edit;
mod pages;

use std::fmt;
use std::sync::{Arc, OnceLock};

use crate::{
    CastlingForm, Game, GameOutcome, GameResult, Move, MoveError, Position, Side, Termination,
};

use super::{
    AddError, Annotations, End, Headers, Tag, limits::MAX_PLIES, metadata::handicap_player,
    shogi::Handicap,
};
pub use changes::Changes;
pub use combine::AddedTree;
use pages::Pages;

/// A game of chess, Chess960 or shogi with headers and annotations.
///
/// The moves are a tree. Each is legal in its position, a null move, or an illegal move that ended the
/// game; see [`RecordMove`]. The root is the start position and has no move. The first child of a node
/// continues its line; the others begin variations. An id is never used twice, even if its node was
/// deleted or [`restore`](Self::restore) brought back an earlier version.
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
    start: Arc<Position>,
    /// By id. A deleted node leaves a place without a move.
    nodes: Pages<Node>,
    /// The number of nodes, including the root.
    live: usize,
    /// The id of the next node.
    next: NodeId,
    /// The annotations of the nodes that have some. One allocation is faster than one per node.
    annotations: Pages<NotedNode, 16>,
    /// The end of the main line.
    last: NodeId,
    /// The position there, so that appending moves needs no replay. Computed on demand.
    last_position: OnceLock<Arc<Position>>,
}

/// Annotations with their node.
#[derive(Debug, Clone, Default, PartialEq)]
struct NotedNode {
    node: NodeId,
    annotations: Annotations,
}

/// The id of a node within its record.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct NodeId(u32);

impl NodeId {
    /// The start position.
    pub const ROOT: Self = Self(0);

    const fn index(self) -> usize {
        self.0 as usize
    }
}

/// For storage and messages.
impl From<NodeId> for u32 {
    fn from(id: NodeId) -> Self {
        id.0
    }
}

impl From<u32> for NodeId {
    fn from(number: u32) -> Self {
        Self(number)
    }
}

/// The move of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RecordMove {
    /// A move that is legal in its position.
    Legal(Move),
    /// A null move: the side to move passes. Analyses have them; only PGN supports them.
    Null,
    /// A move against the rules, which ended the game or the variation. It is not played: the position
    /// after it is the one before it, and no moves follow.
    Illegal(Move),
}

impl RecordMove {
    /// The move if it is legal.
    pub fn legal(self) -> Option<Move> {
        match self {
            Self::Legal(mv) => Some(mv),
            Self::Null | Self::Illegal(_) => None,
        }
    }

    /// The move in UCI or USI notation, as [`Move::uci`]. A null move is `0000`, as in UCI.
    pub fn uci(self, castling: CastlingForm) -> readyok_protocol::Move {
        match self {
            Self::Legal(mv) | Self::Illegal(mv) => mv.uci(castling),
            Self::Null => readyok_protocol::Move::NULL,
        }
    }

    /// The text of [`RecordMove::uci`].
    pub fn to_uci(self, castling: CastlingForm) -> String {
        self.uci(castling).into()
    }

    /// Whether the move is [`RecordMove::Illegal`].
    pub fn is_illegal(self) -> bool {
        matches!(self, Self::Illegal(_))
    }

    /// Plays the move. An illegal move leaves the position unchanged.
    ///
    /// # Errors
    /// The move belongs to another position. The position is unchanged.
    pub fn play(self, position: &mut Position) -> Result<(), MoveError> {
        match self {
            Self::Legal(mv) => position.play(mv),
            Self::Null => position.play_null(),
            Self::Illegal(_) => Ok(()),
        }
    }
}

impl From<Move> for RecordMove {
    fn from(mv: Move) -> Self {
        Self::Legal(mv)
    }
}

/// A move of a record, or, at the root, the start position.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Node {
    id: NodeId,
    parent: NodeId,
    mv: Option<RecordMove>,
    ply: u32,
    // The root is not a child, so its id means "none".
    first_child: NodeId,
    last_child: NodeId,
    next_sibling: NodeId,
    /// The index in [`GameRecord::annotations`] plus one. 0 without annotations, as for most moves.
    annotations: u32,
}

static NO_ANNOTATIONS: Annotations = Annotations::EMPTY;

/// Maximum number of ids of a record, those of deleted nodes included: each needs a place.
const MAX_IDS: u32 = 1 << 22;

/// Annotated nodes of most games with clocks.
const USUAL_ANNOTATIONS: usize = 96;

impl Node {
    fn new(id: NodeId, parent: NodeId, mv: Option<RecordMove>, ply: u32) -> Self {
        Self {
            id,
            parent,
            mv,
            ply,
            first_child: NodeId::ROOT,
            last_child: NodeId::ROOT,
            next_sibling: NodeId::ROOT,
            annotations: 0,
        }
    }

    /// The id.
    pub fn id(&self) -> NodeId {
        self.id
    }

    /// The parent. `None` for the root.
    pub fn parent(&self) -> Option<NodeId> {
        self.mv.map(|_| self.parent)
    }

    /// The move. `None` for the root.
    pub fn mv(&self) -> Option<RecordMove> {
        self.mv
    }

    /// The number of moves up to and including this one: 0 for the root.
    pub fn ply(&self) -> usize {
        self.ply as usize
    }

    fn first_child(&self) -> Option<NodeId> {
        (self.first_child != NodeId::ROOT).then_some(self.first_child)
    }

    fn next_sibling(&self) -> Option<NodeId> {
        (self.next_sibling != NodeId::ROOT).then_some(self.next_sibling)
    }
}

impl GameRecord {
    /// A record without moves. Moves before the position are not part of it.
    pub fn new(start: Position) -> Self {
        Self::with_capacity(start, 1)
    }

    /// A record with room for a number of nodes.
    pub(super) fn with_capacity(start: Position, capacity: usize) -> Self {
        let mut nodes = Pages::with_capacity(capacity);
        nodes.push(Node::default());
        Self {
            headers: Headers::default(),
            result: GameResult::Unknown,
            nodes,
            live: 1,
            next: NodeId(1),
            annotations: Pages::new(),
            last: NodeId::ROOT,
            last_position: OnceLock::new(),
            start: Arc::new(start),
        }
    }

    /// Makes copies cheap: they share all nodes, and a change copies a few of them. For programs that
    /// keep many versions of a game, such as an editor with undo.
    pub fn share(&mut self) {
        self.nodes.share();
        self.annotations.share();
    }

    /// Replaces this version by another one of the same game. New nodes get ids that neither version has
    /// used.
    pub fn restore(&mut self, version: Self) {
        let next = self.next.max(version.next);
        *self = Self { next, ..version };
    }

    /// The game.
    pub fn game(&self) -> Game {
        self.start.game()
    }

    /// The start position.
    pub fn start(&self) -> &Position {
        &self.start
    }

    /// The position at the end of the main line, with its history. After an illegal move it is the
    /// position before that move.
    pub fn position(&self) -> &Position {
        // A node of this record has a position.
        self.last_position.get_or_init(|| {
            self.replayed(self.last).map_or_else(|| Arc::clone(&self.start), Arc::new)
        })
    }

    /// A player's name.
    pub fn player(&self, side: Side) -> Option<&str> {
        self.header(Tag::Player(side)).or_else(|| match (self.game(), side) {
            // In records of handicap games the sides have these names.
            (Game::Shogi, side) => self.headers.get(handicap_player(side)),
            (Game::Chess | Game::Chess960, _) => None,
        })
    }

    /// Sets the name of a player. A handicap game of shogi has the headers 下手 and 上手.
    pub fn set_player(&mut self, side: Side, name: impl AsRef<str>) {
        if self.is_handicap_game() {
            self.headers.set(handicap_player(side), name);
        } else {
            self.set_header(Tag::Player(side), name);
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
    pub fn set_header(&mut self, tag: Tag, value: impl AsRef<str>) {
        self.headers.set(tag.name(self.game()), value);
    }

    /// A node. `None` if it was deleted or the id is of another record.
    pub fn node(&self, id: NodeId) -> Option<&Node> {
        self.nodes.get(id.index()).filter(|node| node.mv.is_some() || id == NodeId::ROOT)
    }

    /// The ids of all nodes in ascending order, the root first. Parents precede their children.
    pub fn ids(&self) -> impl Iterator<Item = NodeId> {
        let ids = (0..self.next.0).map(NodeId);
        ids.filter(|id| self.node(*id).is_some())
    }

    /// The annotations of a node.
    pub fn annotations(&self, id: NodeId) -> &Annotations {
        self.node(id).map_or(&NO_ANNOTATIONS, |node| self.annotations_of(node))
    }

    fn annotations_of(&self, node: &Node) -> &Annotations {
        let index = (node.annotations as usize).checked_sub(1);
        index
            .and_then(|index| self.annotations.get(index))
            .map_or(&NO_ANNOTATIONS, |noted| &noted.annotations)
    }

    /// The annotations of a node. `None` if the id is of another record.
    pub fn annotations_mut(&mut self, id: NodeId) -> Option<&mut Annotations> {
        let room = self.nodes.capacity();
        let mut place = self.node(id)?.annotations;
        if place == 0 {
            if self.annotations.len() == 0 {
                // One comment is often followed by others.
                self.annotations.reserve(room.min(USUAL_ANNOTATIONS));
            }
            place = u32::try_from(self.annotations.len() + 1).ok()?;
            self.nodes.get_mut(id.index())?.annotations = place;
            self.annotations.push(NotedNode { node: id, annotations: Annotations::EMPTY });
        }
        let index = (place as usize).checked_sub(1)?;
        self.annotations.get_mut(index).map(|noted| &mut noted.annotations)
    }

    /// Removes the annotations of a node.
    fn clear_annotations(&mut self, id: NodeId) {
        let index = self.node(id).and_then(|node| (node.annotations as usize).checked_sub(1));
        if let Some(noted) = index.and_then(|index| self.annotations.get_mut(index)) {
            noted.annotations = Annotations::EMPTY;
        }
    }

    /// The annotations of all nodes that have some.
    pub(super) fn all_annotations(&self) -> impl Iterator<Item = &Annotations> {
        let places = 0..self.annotations.len();
        places.filter_map(|place| Some(&self.annotations.get(place)?.annotations))
    }

    /// The moves after a node: the first continues the line, the others begin variations.
    pub fn children(&self, id: NodeId) -> Children<'_> {
        Children { record: self, next: self.node(id).and_then(Node::first_child) }
    }

    /// The next move of a line.
    pub fn next(&self, id: NodeId) -> Option<&Node> {
        self.children(id).next()
    }

    /// The side to move after a node. After an illegal move it is still its side's turn.
    pub fn turn_after(&self, node: &Node) -> Side {
        let start = self.start.turn();
        let played = match node.mv {
            Some(RecordMove::Illegal(_)) => node.ply().saturating_sub(1),
            Some(RecordMove::Legal(_) | RecordMove::Null) | None => node.ply(),
        };
        if played.is_multiple_of(2) { start } else { start.other() }
    }

    /// The root node with the annotations of the start position.
    pub fn root(&self) -> Option<&Node> {
        self.node(NodeId::ROOT)
    }

    /// The number of moves, including all variations.
    pub fn len(&self) -> usize {
        self.live.saturating_sub(1)
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

    /// The positions of the main line: the start position, and the one after each move. An illegal move
    /// repeats the position before it.
    pub fn positions(&self) -> Positions<'_> {
        Positions { mainline: self.mainline(), next: Some(Position::clone(&self.start)) }
    }

    /// The position after a node's move. An illegal move is not played. `None` if the node is of another
    /// record.
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
        let mut position = Position::clone(&self.start);
        for mv in moves.into_iter().rev() {
            match mv {
                // It was played before it was added.
                RecordMove::Legal(mv) => position.play_legal(mv).ok()?,
                mv => mv.play(&mut position).ok()?,
            }
        }
        Some(position)
    }

    /// Appends a move to the main line.
    pub fn play(&mut self, mv: impl Into<RecordMove>) -> Result<NodeId, AddError> {
        self.add(self.last, mv)
    }

    /// Adds a move after a node: as its continuation if it is the first, otherwise as a variation.
    /// A move that already exists is not added again. A [`RecordMove::Illegal`] that is legal is added as
    /// a legal move.
    ///
    /// Costs a replay from the start unless the node is the end of the main line.
    pub fn add(&mut self, parent: NodeId, mv: impl Into<RecordMove>) -> Result<NodeId, AddError> {
        let mut mv = mv.into();
        let node = self.node(parent).ok_or(AddError::NoSuchNode)?;
        if node.mv.is_some_and(RecordMove::is_illegal) {
            return Err(AddError::AfterIllegalMove);
        }
        if node.ply() >= MAX_PLIES {
            return Err(AddError::Full);
        }
        if let Some(known) = self.children(parent).find(|child| child.mv == Some(mv)) {
            return Ok(known.id);
        }
        let at_the_end = parent == self.last;
        let cached = if at_the_end { self.last_position.take() } else { None };
        let mut position = cached
            .map(Arc::unwrap_or_clone)
            .or_else(|| self.position_after(parent))
            .ok_or(AddError::NoSuchNode)?;
        if let RecordMove::Illegal(illegal) = mv
            && position.is_legal(illegal)
        {
            mv = RecordMove::Legal(illegal);
        }
        let played = mv.play(&mut position).map_err(AddError::Move);
        let added = played.and_then(|()| self.attach(parent, mv).ok_or(AddError::Full));
        if at_the_end && added != Err(AddError::Full) {
            self.last_position = Arc::new(position).into();
        }
        added
    }

    /// Adds a move after a node and plays it on the position there, without the replay of [`Self::add`].
    /// A move that already exists is added again.
    pub fn add_at(
        &mut self,
        parent: NodeId,
        position: &mut Position,
        mv: impl Into<RecordMove>,
    ) -> Result<NodeId, AddError> {
        let mut mv = mv.into();
        let node = self.node(parent).ok_or(AddError::NoSuchNode)?;
        if node.mv.is_some_and(RecordMove::is_illegal) {
            return Err(AddError::AfterIllegalMove);
        }
        if node.ply() >= MAX_PLIES {
            return Err(AddError::Full);
        }
        if let RecordMove::Illegal(illegal) = mv
            && position.is_legal(illegal)
        {
            mv = RecordMove::Legal(illegal);
        }
        mv.play(position).map_err(AddError::Move)?;
        let id = self.attach(parent, mv).ok_or(AddError::Full)?;
        if parent == self.last {
            self.last = id;
            self.last_position = OnceLock::new();
        }
        Ok(id)
    }

    /// [`add_at`](Self::add_at) with an id from storage, which follows that of the parent and is not in
    /// use.
    pub fn add_with_id(
        &mut self,
        id: NodeId,
        parent: NodeId,
        position: &mut Position,
        mv: impl Into<RecordMove>,
    ) -> Result<NodeId, AddError> {
        if id <= parent || self.node(id).is_some() {
            return Err(AddError::IdInUse);
        }
        let next = std::mem::replace(&mut self.next, id);
        let added = self.add_at(parent, position, mv);
        self.next = self.next.max(next);
        added
    }

    /// The id of the next node.
    pub fn next_id(&self) -> NodeId {
        self.next
    }

    /// Gives new nodes ids from here on.
    pub fn reserve_ids(&mut self, next: NodeId) {
        self.next = self.next.max(next);
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
        if let Some(annotations) = self.annotations_mut(last) {
            annotations.end = Some(end);
        }
    }

    /// The end of the main line, if known.
    pub fn end(&self) -> Option<&End> {
        self.annotations(self.last()).end.as_ref()
    }

    /// What ended the game. PGN has it in the header `Termination`. A loss after an illegal move is because
    /// of it.
    pub fn termination(&self) -> Option<Termination> {
        match self.end() {
            Some(end) => Some(end.outcome.termination),
            None => match self.headers.get("Termination") {
                Some(tag) => Termination::from_pgn_tag(tag),
                None => self.is_lost_by_illegal_move().then_some(Termination::IllegalMove),
            },
        }
    }

    fn is_lost_by_illegal_move(&self) -> bool {
        self.node(self.last).is_some_and(|node| {
            node.mv.is_some_and(RecordMove::is_illegal)
                && self.result == GameResult::Win(self.turn_after(node).other())
        })
    }

    /// Adds a move that fits its position after an existing node. `None` if there is no room.
    pub(super) fn attach(&mut self, parent: NodeId, mv: RecordMove) -> Option<NodeId> {
        let id = self.next;
        if id.0 >= MAX_IDS {
            return None;
        }
        self.next = NodeId(id.0 + 1);
        let before = self.nodes.get_mut(parent.index())?;
        let ply = before.ply + 1;
        let elder = std::mem::replace(&mut before.last_child, id);
        if elder == NodeId::ROOT {
            before.first_child = id;
            if parent == self.last {
                self.last = id;
                self.last_position.take();
            }
        } else if let Some(elder) = self.nodes.get_mut(elder.index()) {
            elder.next_sibling = id;
        }
        self.live += 1;
        let node = Node::new(id, parent, Some(mv), ply);
        if id.index() < self.nodes.len() {
            if let Some(empty) = self.nodes.get_mut(id.index()) {
                *empty = node;
            }
            return Some(id);
        }
        // Ids that were reserved, or used by versions that were replaced.
        while self.nodes.len() < id.index() {
            self.nodes.push(Node::default());
        }
        self.nodes.push(node);
        Some(id)
    }

    /// Removes the node that was attached last, and returns its annotations.
    pub(super) fn detach(&mut self, id: NodeId) -> Annotations {
        if id == NodeId::ROOT || self.nodes.len() != id.index() + 1 {
            return Annotations::default();
        }
        let annotations = self.annotations(id).clone();
        self.clear_annotations(id);
        let Some(node) = self.nodes.pop() else { return Annotations::default() };
        self.live -= 1;
        // Nothing outside has seen the id.
        self.next = id;
        let elder = self.children(node.parent).find(|child| child.next_sibling == id);
        let elder = elder.map_or(NodeId::ROOT, |elder| elder.id);
        if let Some(elder) = self.nodes.get_mut(elder.index()) {
            elder.next_sibling = NodeId::ROOT;
        }
        if let Some(parent) = self.nodes.get_mut(node.parent.index()) {
            parent.last_child = elder;
            if elder == NodeId::ROOT {
                parent.first_child = NodeId::ROOT;
            }
        }
        if self.last == id {
            self.last = node.parent;
            self.last_position.take();
        }
        annotations
    }

    /// Whether both have the same moves and annotations in the same order, regardless of the order in
    /// which nodes were added.
    fn same_tree(&self, other: &Self) -> bool {
        let mut pairs = vec![(NodeId::ROOT, NodeId::ROOT)];
        while let Some((ours, theirs)) = pairs.pop() {
            let (Some(our), Some(their)) = (self.node(ours), other.node(theirs)) else {
                return false;
            };
            if our.mv != their.mv || self.annotations_of(our) != other.annotations_of(their) {
                return false;
            }
            let (mut our, mut their) = (self.children(ours), other.children(theirs));
            loop {
                match (our.next(), their.next()) {
                    (Some(our), Some(their)) => pairs.push((our.id, their.id)),
                    (None, None) => break,
                    (Some(_), None) | (None, Some(_)) => return false,
                }
            }
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
            .field("nodes", &self.ids().filter_map(|id| self.node(id)).collect::<Vec<_>>())
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
        let node = self.record.next(self.at)?;
        self.at = node.id;
        Some(node)
    }
}

/// The nodes after a node; see [`GameRecord::children`].
#[derive(Debug, Clone)]
pub struct Children<'a> {
    record: &'a GameRecord,
    next: Option<NodeId>,
}

impl<'a> Iterator for Children<'a> {
    type Item = &'a Node;

    fn next(&mut self) -> Option<&'a Node> {
        let node = self.record.node(self.next?)?;
        self.next = node.next_sibling();
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
            self.next = mv.play(&mut after).is_ok().then_some(after);
        }
        Some(position)
    }
}
