//! The tree of a game for the page and for engines.

use std::collections::BTreeSet;
use std::ops::{Deref, DerefMut};
use std::time::Duration;

use readyok_rules::judgement::MoveLabel;
use readyok_rules::record::{
    AddError, Annotations, End, EngineNotes, GameDocument, GameRecord, Node as RecordNode,
    NodeId as RecordId, RecordMove, rating,
};
use readyok_rules::{Game, GameOutcome, GameResult, Move, Opening, Position, Square, Termination};

use super::position_view::{line, move_text};
use crate::wire::{Mark, MoveText, Node, NodeEngineNote, NodeId, NodeKind, Side, Sides};

/// The number of the root.
pub(crate) const ROOT: NodeId = 0;
/// Maximum number of nodes of a tree.
const MAX_NODES: usize = 100_000;
/// Maximum number of shown moves of a better line.
const MAX_BETTER_MOVES: usize = 8;
/// Maximum number of plies of a line.
pub(crate) const MAX_PLIES: u32 = 4096;

/// A game with its variations and what engines found: a document whose ids are the numbers of the page.
///
/// A copy shares all nodes with its original: saving and undo copy the tree at each change.
#[derive(Clone, Debug)]
pub(crate) struct Tree(GameDocument);

/// The author's record.
impl Deref for Tree {
    type Target = GameRecord;

    fn deref(&self) -> &GameRecord {
        &self.0.record
    }
}

impl DerefMut for Tree {
    fn deref_mut(&mut self) -> &mut GameRecord {
        &mut self.0.record
    }
}

/// Changes of a tree for the page.
pub(crate) struct TreeChanges {
    /// New nodes, and those with other children, annotations or engine notes.
    pub(crate) nodes: BTreeSet<NodeId>,
    /// Nodes whose subtrees were deleted.
    pub(crate) removed: Vec<NodeId>,
    pub(crate) headers: bool,
}

impl TreeChanges {
    pub(crate) fn is_empty(&self) -> bool {
        self.nodes.is_empty() && self.removed.is_empty() && !self.headers
    }
}

impl From<GameDocument> for Tree {
    fn from(mut document: GameDocument) -> Self {
        document.record.share();
        Self(document)
    }
}

impl Tree {
    pub(crate) fn new(start: Position) -> Self {
        Self::from_record(&GameRecord::new(start))
    }

    pub(crate) fn from_record(record: &GameRecord) -> Self {
        GameDocument::from(record.clone()).into()
    }

    /// Sets the termination of the game after a node. The tree has the result.
    pub(crate) fn conclude(&mut self, last: NodeId, termination: Termination) {
        let outcome = GameOutcome { result: self.result, termination };
        if let Some(annotations) = self.annotations_mut(last) {
            annotations.end = Some(End::from(outcome));
        }
    }

    /// Removes the result and all ends.
    pub(crate) fn clear_ends(&mut self) {
        self.result = GameResult::Unknown;
        let ended = self.ids().filter(|id| self.annotations((*id).into()).end.is_some());
        for id in ended.collect::<Vec<_>>() {
            if let Some(notes) = self.annotations_mut(id) {
                notes.end = None;
            }
        }
    }

    /// The author's record.
    pub(crate) fn to_record(&self) -> GameRecord {
        self.0.record.clone()
    }

    pub(crate) fn document(&self) -> &GameDocument {
        &self.0
    }

    pub(crate) fn engine_notes(&self) -> &EngineNotes {
        &self.0.engine
    }

    pub(crate) fn set_engine_notes(&mut self, notes: EngineNotes) {
        self.0.engine = notes;
    }

    /// Replaces this version by another one of the same game. Numbers are not used again.
    pub(crate) fn restore_version(&mut self, version: Self) {
        let GameDocument { record, engine } = version.0;
        self.0.record.restore(record);
        self.0.engine = engine;
    }

    pub(crate) fn differs_from(&self, before: &Self) -> bool {
        !self.changes_since(before).is_empty() || self.result != before.result
    }

    /// The changes from an earlier version, in the form that the page needs.
    pub(crate) fn changes_since(&self, before: &Self) -> TreeChanges {
        let changes = self.0.record.changes_since(&before.0.record);
        let engine = self.engine_notes().changes_since(before.engine_notes());
        let mut nodes = BTreeSet::new();
        nodes.extend(changes.added.into_iter().chain(changes.children).chain(changes.annotations));
        for id in engine {
            // The judgement of a move depends on the position before it as well.
            nodes.insert(id);
            nodes.extend(self.children(id).map(RecordNode::id));
        }
        TreeChanges {
            nodes: nodes.into_iter().map(NodeId::from).collect(),
            removed: changes.deleted.into_iter().map(NodeId::from).collect(),
            headers: changes.headers,
        }
    }

    pub(crate) fn node(&self, id: NodeId) -> Option<&RecordNode> {
        self.0.record.node(id.into())
    }

    /// The number of the parent; none for the root or an unknown node.
    pub(crate) fn parent(&self, id: NodeId) -> Option<NodeId> {
        self.node(id)?.parent().map(NodeId::from)
    }

    pub(crate) fn annotations_mut(&mut self, id: NodeId) -> Option<&mut Annotations> {
        self.0.record.annotations_mut(id.into())
    }

    /// The number of nodes, including the root.
    pub(crate) fn len(&self) -> usize {
        self.0.record.len() + 1
    }

    /// Whether there is no room for another node.
    pub(crate) fn is_full(&self) -> bool {
        MAX_NODES <= self.len()
    }

    pub(crate) fn ids(&self) -> impl Iterator<Item = NodeId> {
        self.0.record.ids().map(NodeId::from)
    }

    /// The nodes from the root to one, without the root.
    pub(crate) fn line_to(&self, id: NodeId) -> Vec<NodeId> {
        self.0.record.line_to(id.into()).into_iter().map(NodeId::from).collect()
    }

    /// The moves from the root to a node.
    pub(crate) fn moves_to(&self, id: NodeId) -> impl Iterator<Item = RecordMove> {
        let line = self.0.record.line_to(id.into()).into_iter();
        line.filter_map(|id| self.0.record.node(id)?.mv())
    }

    /// The line to a node for an engine, which does not accept null moves or illegal ones.
    pub(crate) fn engine_line(&self, id: NodeId) -> Option<EngineLine> {
        self.node(id)?;
        let mut line = EngineLine {
            start: self.start().clone(),
            moves: Vec::new(),
            position: self.start().clone(),
        };
        for mv in self.moves_to(id) {
            mv.play(&mut line.position).ok()?;
            match mv {
                RecordMove::Legal(mv) => line.moves.push(mv),
                RecordMove::Null => {
                    line.start = line.position.clone();
                    line.moves.clear();
                }
                RecordMove::Illegal(_) => {}
            }
        }
        Some(line)
    }

    /// The position after a node's move. An illegal move is not played.
    pub(crate) fn position(&self, id: NodeId) -> Option<Position> {
        self.0.record.position_after(id.into())
    }

    /// The nodes of the main line, without the root.
    pub(crate) fn main_line(&self) -> Vec<NodeId> {
        self.0.record.mainline().map(|node| node.id().into()).collect()
    }

    /// The ratings of the players by the record.
    pub(crate) fn ratings(&self) -> Sides<Option<i64>> {
        let comments = &self.0.record.annotations(RecordId::ROOT).comments;
        let of = |side: Side| rating(&self.headers, comments, side);
        Sides { first: of(Side::First), second: of(Side::Second) }
    }

    /// The opening of a line to a node: the name of its last named position.
    pub(crate) fn opening(&self, id: NodeId) -> Option<Opening> {
        Opening::of_line(self.start(), self.moves_to(id).map_while(RecordMove::legal))
    }

    /// The child with a move.
    pub(crate) fn child(&self, parent: NodeId, mv: impl Into<RecordMove>) -> Option<NodeId> {
        let mv = mv.into();
        let child = self.0.record.children(parent.into()).find(|child| child.mv() == Some(mv))?;
        Some(child.id().into())
    }

    /// Adds a move after a node unless it exists.
    pub(crate) fn add(
        &mut self,
        parent: NodeId,
        mv: impl Into<RecordMove>,
    ) -> Result<NodeId, AddError> {
        let mv = mv.into();
        if let Some(known) = self.child(parent, mv) {
            return Ok(known);
        }
        let ply = self.node(parent).ok_or(AddError::NoSuchNode)?.ply();
        if self.is_full() || MAX_PLIES as usize <= ply {
            return Err(AddError::Full);
        }
        self.0.record.add(parent.into(), mv).map(NodeId::from)
    }

    /// Deletes a node with its descendants. Returns the deleted nodes; none for the root or an unknown node.
    pub(crate) fn delete(&mut self, id: NodeId) -> Vec<NodeId> {
        self.0.record.delete(id.into()).into_iter().map(NodeId::from).collect()
    }

    /// Promotes the line of a node by one variation, or to the main line. Returns the
    /// nodes with reordered children.
    pub(crate) fn promote(&mut self, id: NodeId, to_main: bool) -> Vec<NodeId> {
        self.0.record.promote(id.into(), to_main).into_iter().map(NodeId::from).collect()
    }

    /// Nodes for the page, in ascending order. Unknown ones are omitted. The moves of a line are played once.
    pub(crate) fn wire(&self, ids: BTreeSet<NodeId>) -> Vec<Node> {
        let mut nodes = Vec::with_capacity(ids.len());
        let mut after: Option<(RecordId, Position)> = None;
        for node in ids.into_iter().filter_map(|id| self.node(id)) {
            let before = node.parent().and_then(|parent| match after.take() {
                Some((id, position)) if id == parent => Some(position),
                _ => self.0.record.position_after(parent),
            });
            nodes.push(self.wire_after(node, before.as_ref()));
            let mut position = before.unwrap_or_else(|| self.start().clone());
            let is_played = node.mv().is_none_or(|mv| mv.play(&mut position).is_ok());
            after = is_played.then(|| (node.id(), position));
        }
        nodes
    }

    /// A node for the page, with the position before its move.
    fn wire_after(&self, node: &RecordNode, before: Option<&Position>) -> Node {
        let game = self.game();
        let notes = self.0.record.annotations(node.id());
        let millis = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        Node {
            id: node.id().into(),
            parent: node.parent().map(NodeId::from),
            ply: u32::try_from(node.ply()).unwrap_or(u32::MAX),
            kind: match node.mv() {
                None => NodeKind::Root,
                Some(RecordMove::Legal(_)) => NodeKind::Legal,
                Some(RecordMove::Null) => NodeKind::Null,
                Some(RecordMove::Illegal(_)) => NodeKind::Illegal,
            },
            uci: node.mv().map(|mv| mv.to_uci(game.castling_form())).unwrap_or_default(),
            text: match (node.mv(), before) {
                (Some(RecordMove::Legal(mv)), Some(before)) => move_text(before, mv),
                (Some(RecordMove::Illegal(mv)), _) => illegal_text(game, mv),
                (Some(RecordMove::Null), _) => null_text(game),
                (Some(RecordMove::Legal(_)), None) | (None, _) => MoveText::default(),
            },
            children: self.0.record.children(node.id()).map(|child| child.id().into()).collect(),
            before: notes.before.clone(),
            comments: notes.comments.clone(),
            nags: notes.nags.iter().map(|nag| nag.0).collect(),
            clock: notes.clock.map(millis),
            elapsed: notes.elapsed.map(millis),
            evaluation: notes.evaluation,
            marks: notes.marks.iter().map(|mark| wire_mark(*mark, game)).collect(),
            engine: self.wire_engine_note(node.id(), before),
        }
    }

    fn wire_engine_note(&self, id: RecordId, before: Option<&Position>) -> Option<NodeEngineNote> {
        let better = self.0.better_lines(id).first().zip(before);
        let better = better.map(|(better, before)| {
            line(before, &better.moves[..better.moves.len().min(MAX_BETTER_MOVES)], &[])
        });
        Some(NodeEngineNote {
            evaluation: self.0.evaluation(id)?,
            nag: self.0.label(id).and_then(MoveLabel::nag),
            better: better.unwrap_or_default(),
        })
    }

    /// All nodes, parents before their children.
    pub(crate) fn wire_all(&self) -> Vec<Node> {
        let mut nodes = Vec::with_capacity(self.len());
        // Each with the position before its move, so that nothing is replayed.
        let mut pending: Vec<(RecordId, Option<Position>)> = vec![(RecordId::ROOT, None)];
        while let Some((id, before)) = pending.pop() {
            let Some(node) = self.0.record.node(id) else { continue };
            nodes.push(self.wire_after(node, before.as_ref()));
            let mut after = before.unwrap_or_else(|| self.start().clone());
            if let Some(mv) = node.mv()
                && mv.play(&mut after).is_err()
            {
                continue;
            }
            let children: Vec<_> = self.0.record.children(id).map(RecordNode::id).collect();
            let copies = std::iter::repeat_n(after, children.len());
            pending.extend(children.into_iter().zip(copies.map(Some)));
        }
        // Numbers grow from parents to children.
        nodes.sort_unstable_by_key(|node| node.id);
        nodes
    }
}

/// The moves to a node that an engine accepts: those after the last null move.
#[derive(Clone, Debug)]
pub(crate) struct EngineLine {
    /// The start position, or the one after the last null move.
    pub(crate) start: Position,
    pub(crate) moves: Vec<Move>,
    /// The position after the moves.
    pub(crate) position: Position,
}

impl EngineLine {
    /// Appends a move. False if it is illegal.
    pub(crate) fn play(&mut self, mv: Move) -> bool {
        let played = self.position.play(mv).is_ok();
        if played {
            self.moves.push(mv);
        }
        played
    }
}

fn null_text(game: Game) -> MoveText {
    let japanese = (game == Game::Shogi).then(|| "パス".to_owned());
    MoveText { western: "--".to_owned(), japanese }
}

/// The notations assume a legal move.
fn illegal_text(game: Game, mv: Move) -> MoveText {
    MoveText { western: mv.to_uci(game.castling_form()), japanese: None }
}

fn wire_mark(mark: readyok_rules::record::Mark, game: Game) -> Mark {
    use readyok_rules::record::MarkColor;
    let color = match mark.color {
        MarkColor::Green => "green",
        MarkColor::Red => "red",
        MarkColor::Yellow => "yellow",
        MarkColor::Blue => "blue",
    };
    Mark {
        color: color.to_owned(),
        from: mark.from.name(game),
        to: mark.to.map(|square| square.name(game)),
    }
}

/// A mark of the page; none for an unknown color or square.
pub(crate) fn record_mark(mark: &Mark, game: Game) -> Option<readyok_rules::record::Mark> {
    use readyok_rules::record::MarkColor;
    let color = match mark.color.as_str() {
        "green" => MarkColor::Green,
        "red" => MarkColor::Red,
        "yellow" => MarkColor::Yellow,
        "blue" => MarkColor::Blue,
        _ => return None,
    };
    let from = Square::read(game, &mark.from)?;
    let to = match &mark.to {
        Some(square) => Some(Square::read(game, square)?),
        None => None,
    };
    Some(readyok_rules::record::Mark { color, from, to })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grown(lines: &[&str]) -> Tree {
        let mut tree = Tree::new(Position::start(Game::Chess));
        for line in lines {
            let mut at = ROOT;
            for text in line.split(' ') {
                let position = tree.position(at).expect("it is there");
                let mv = position.parse_move(text).expect("it is legal");
                at = tree.add(at, mv).expect("there is room");
            }
        }
        tree
    }

    /// All lines as text, in order.
    fn shown(tree: &Tree, at: NodeId) -> String {
        let mut parts = Vec::new();
        for child in tree.children(at.into()) {
            let rest = shown(tree, child.id().into());
            let mv = child.mv().expect("a move");
            parts.push(format!("{}{rest}", mv.to_uci(Game::Chess.castling_form())));
        }
        match parts.len() {
            0 => String::new(),
            1 => format!(" {}", parts.concat()),
            _ => format!(" ({})", parts.join(" | ")),
        }
    }

    #[test]
    fn an_existing_move_is_not_added_again() {
        let tree = grown(&["e2e4 e7e5", "e2e4 c7c5", "e2e4 e7e5"]);
        assert_eq!(shown(&tree, ROOT), " e2e4 (e7e5 | c7c5)");
    }

    #[test]
    fn a_variation_is_promoted_by_one_or_to_the_main_line() {
        let mut tree = grown(&["e2e4 e7e5", "d2d4 d7d5", "c2c4 c7c5 b1c3"]);
        let deep = *tree.wire_all().last().map(|node| &node.id).expect("a node");
        tree.promote(deep, false);
        assert_eq!(shown(&tree, ROOT), " (e2e4 e7e5 | c2c4 c7c5 b1c3 | d2d4 d7d5)");
        tree.promote(deep, true);
        assert_eq!(shown(&tree, ROOT), " (c2c4 c7c5 b1c3 | e2e4 e7e5 | d2d4 d7d5)");
    }

    #[test]
    fn descendants_are_deleted_with_their_node() {
        let mut tree = grown(&["e2e4 e7e5 g1f3", "e2e4 c7c5"]);
        let first = tree.main_line()[1];
        assert_eq!(tree.delete(first).len(), 2);
        assert_eq!(shown(&tree, ROOT), " e2e4 c7c5");
        assert!(tree.delete(ROOT).is_empty());
        assert!(tree.delete(first).is_empty());
    }

    #[test]
    fn a_record_is_restored_from_its_tree() {
        let mut tree = grown(&["e2e4 e7e5 g1f3", "e2e4 c7c5 c2c3", "d2d4"]);
        let node = tree.main_line()[1];
        let notes = tree.annotations_mut(node).expect("it is there");
        notes.comments.push("open game".to_owned());
        let record = tree.to_record();
        let back = Tree::from_record(&record);
        assert_eq!(shown(&back, ROOT), shown(&tree, ROOT));
        assert!(back.to_record() == record);
    }
}
