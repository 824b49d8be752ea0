//! The tree of a game. The numbers of its nodes never change.

mod nodes;
mod stored;

#[cfg(test)]
use std::sync::Arc;
use std::time::Duration;

use readyok_rules::record::{
    AddError, Annotations, End, GameRecord, Headers, NodeId as RecordNode, RecordMove, rating,
};
use readyok_rules::{Game, GameOutcome, GameResult, Move, Opening, Position, Square, Termination};

use nodes::Nodes;

use super::position_view::move_text;
use crate::wire::{Mark, MoveText, Node, NodeId, NodeKind, Side, Sides};

/// The number of the root.
pub(crate) const ROOT: NodeId = 0;
/// Maximum number of nodes of a tree.
const MAX_NODES: usize = 100_000;
/// Maximum number of plies of a line.
pub(crate) const MAX_PLIES: u32 = 4096;

/// A game with its variations. Moves are those of a [`RecordMove`].
///
/// A copy shares all nodes with its original: saving and undo copy the tree at each change.
#[derive(Clone)]
pub(crate) struct Tree {
    start: Position,
    nodes: Nodes,
    /// The number of the next node; none is used twice.
    next: NodeId,
    pub(crate) headers: Headers,
    pub(crate) result: GameResult,
}

/// A node: a move with its children.
#[derive(Clone)]
pub(crate) struct Branch {
    parent: Option<NodeId>,
    ply: u32,
    mv: Option<RecordMove>,
    text: MoveText,
    children: Vec<NodeId>,
    pub(crate) annotations: Annotations,
}

impl Branch {
    pub(crate) fn parent(&self) -> Option<NodeId> {
        self.parent
    }

    pub(crate) fn mv(&self) -> Option<RecordMove> {
        self.mv
    }

    pub(crate) fn ply(&self) -> u32 {
        self.ply
    }
}

impl Tree {
    pub(crate) fn new(start: Position) -> Self {
        let root = Branch {
            parent: None,
            ply: 0,
            mv: None,
            text: MoveText::default(),
            children: Vec::new(),
            annotations: Annotations::default(),
        };
        let mut nodes = Nodes::default();
        nodes.insert(ROOT, root);
        Self {
            start,
            nodes,
            next: ROOT + 1,
            headers: Headers::default(),
            result: GameResult::Unknown,
        }
    }

    /// The tree of a record.
    pub(crate) fn from_record(record: &GameRecord) -> Self {
        let mut tree = Self::new(record.start().clone());
        tree.headers = record.headers.clone();
        tree.result = record.result;
        if let Some(ours) = tree.annotations_mut(ROOT) {
            record.annotations(RecordNode::ROOT).clone_into(ours);
        }
        // Each with the position after it, so that nothing is replayed.
        let mut open = vec![(RecordNode::ROOT, ROOT, record.start().clone())];
        while let Some((theirs, ours, position)) = open.pop() {
            let mut added = Vec::new();
            for child in record.children(theirs) {
                let Some(mv) = child.mv() else { continue };
                let mut after = position.clone();
                let Ok(id) = tree.attach(ours, mv, &mut after) else { continue };
                if let Some(annotations) = tree.annotations_mut(id) {
                    record.annotations(child.id()).clone_into(annotations);
                }
                added.push((child.id(), id, after));
            }
            open.extend(added.into_iter().rev());
        }
        tree
    }

    /// Sets the termination of the game after a node. The tree has the result.
    pub(crate) fn conclude(&mut self, last: NodeId, termination: Termination) {
        let outcome = GameOutcome { result: self.result, termination };
        if let Some(annotations) = self.annotations_mut(last) {
            annotations.end = Some(End::from(outcome));
        }
    }

    /// The record of the tree.
    pub(crate) fn to_record(&self) -> GameRecord {
        let mut record = GameRecord::new(self.start.clone());
        record.headers = self.headers.clone();
        record.result = self.result;
        let mut open = vec![(ROOT, RecordNode::ROOT)];
        while let Some((ours, theirs)) = open.pop() {
            let Some(branch) = self.nodes.get(ours) else { continue };
            if !branch.annotations.is_empty()
                && let Some(annotations) = record.annotations_mut(theirs)
            {
                *annotations = branch.annotations.clone();
            }
            let mut added = Vec::new();
            for child in &branch.children {
                let mv = self.node(*child).and_then(Branch::mv);
                if let Some(id) = mv.and_then(|mv| record.add(theirs, mv).ok()) {
                    added.push((*child, id));
                }
            }
            // The main line comes first: there a record adds without a replay.
            open.extend(added.into_iter().rev());
        }
        record
    }

    /// The number of the next node.
    pub(crate) fn next_number(&self) -> NodeId {
        self.next
    }

    pub(crate) fn game(&self) -> Game {
        self.start.game()
    }

    pub(crate) fn start(&self) -> &Position {
        &self.start
    }

    pub(crate) fn node(&self, id: NodeId) -> Option<&Branch> {
        self.nodes.get(id).map(AsRef::as_ref)
    }

    fn node_mut(&mut self, id: NodeId) -> Option<&mut Branch> {
        self.nodes.get_mut(id)
    }

    pub(crate) fn annotations_mut(&mut self, id: NodeId) -> Option<&mut Annotations> {
        self.node_mut(id).map(|branch| &mut branch.annotations)
    }

    pub(crate) fn len(&self) -> usize {
        self.nodes.len()
    }

    pub(crate) fn ids(&self) -> impl Iterator<Item = NodeId> {
        self.nodes.ids()
    }

    /// Numbers new nodes after those of another tree.
    pub(crate) fn continue_numbers_of(&mut self, other: &Self) {
        self.next = self.next.max(other.next);
    }

    /// The nodes from the root to one, without the root.
    pub(crate) fn line_to(&self, id: NodeId) -> Vec<NodeId> {
        let mut line = Vec::new();
        let mut at = id;
        while let Some(parent) = self.node(at).and_then(Branch::parent) {
            line.push(at);
            at = parent;
        }
        line.reverse();
        line
    }

    /// The moves from the root to a node.
    pub(crate) fn moves_to(&self, id: NodeId) -> Vec<RecordMove> {
        let line = self.line_to(id);
        line.iter().filter_map(|id| self.nodes.get(*id)?.mv).collect()
    }

    /// The line to a node for an engine, which does not accept null moves or illegal ones.
    pub(crate) fn engine_line(&self, id: NodeId) -> Option<EngineLine> {
        self.nodes.get(id)?;
        let mut line = EngineLine {
            start: self.start.clone(),
            moves: Vec::new(),
            position: self.start.clone(),
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
        self.nodes.get(id)?;
        let mut position = self.start.clone();
        for mv in self.moves_to(id) {
            mv.play(&mut position).ok()?;
        }
        Some(position)
    }

    /// The nodes of the main line, without the root.
    pub(crate) fn main_line(&self) -> Vec<NodeId> {
        let mut line = Vec::new();
        let mut at = ROOT;
        while let Some(child) = self.nodes.get(at).and_then(|branch| branch.children.first()) {
            line.push(*child);
            at = *child;
        }
        line
    }

    /// The ratings of the players by the record.
    pub(crate) fn ratings(&self) -> Sides<Option<i64>> {
        let comments = self.node(ROOT).map(|root| root.annotations.comments.as_slice());
        let of = |side: Side| rating(&self.headers, comments.unwrap_or_default(), side.into());
        Sides { first: of(Side::First), second: of(Side::Second) }
    }

    /// The opening of a line to a node: the name of its last named position.
    pub(crate) fn opening(&self, id: NodeId) -> Option<Opening> {
        Opening::of_line(&self.start, self.moves_to(id).into_iter().map_while(RecordMove::legal))
    }

    /// The child with a move.
    pub(crate) fn child(&self, parent: NodeId, mv: impl Into<RecordMove>) -> Option<NodeId> {
        let mv = mv.into();
        let children = &self.nodes.get(parent)?.children;
        children.iter().copied().find(|id| self.node(*id).and_then(Branch::mv) == Some(mv))
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
        let mut position = self.position(parent).ok_or(AddError::NoSuchNode)?;
        self.attach(parent, mv, &mut position)
    }

    /// Adds a move and plays it.
    fn attach(
        &mut self,
        parent: NodeId,
        mv: RecordMove,
        position: &mut Position,
    ) -> Result<NodeId, AddError> {
        let branch = self.nodes.get(parent).ok_or(AddError::NoSuchNode)?;
        let ply = branch.ply + 1;
        if MAX_NODES <= self.nodes.len() || MAX_PLIES < ply {
            return Err(AddError::Full);
        }
        if branch.mv.is_some_and(RecordMove::is_illegal) {
            return Err(AddError::AfterIllegalMove);
        }
        let text = match mv {
            RecordMove::Legal(mv) => move_text(position, mv),
            RecordMove::Null => null_text(self.game()),
            RecordMove::Illegal(mv) => illegal_text(self.game(), mv),
        };
        mv.play(position).map_err(AddError::Move)?;
        let id = self.next;
        self.next += 1;
        if let Some(branch) = self.node_mut(parent) {
            branch.children.push(id);
        }
        let (children, annotations) = (Vec::new(), Annotations::default());
        let branch =
            Branch { parent: Some(parent), ply, mv: Some(mv), text, children, annotations };
        self.nodes.insert(id, branch);
        Ok(id)
    }

    /// Deletes a node with its descendants. Returns the deleted nodes; none for the root or an unknown node.
    pub(crate) fn delete(&mut self, id: NodeId) -> Vec<NodeId> {
        let Some(parent) = self.node(id).and_then(Branch::parent) else { return Vec::new() };
        if let Some(branch) = self.node_mut(parent) {
            branch.children.retain(|child| *child != id);
        }
        let mut gone = vec![id];
        let mut at = 0;
        while let Some(id) = gone.get(at).copied() {
            at += 1;
            if let Some(branch) = self.nodes.remove(id) {
                gone.extend(&branch.children);
            }
        }
        gone
    }

    /// Promotes the line of a node by one variation, or to the main line. Returns the
    /// nodes with reordered children.
    pub(crate) fn promote(&mut self, id: NodeId, to_main: bool) -> Vec<NodeId> {
        let mut changed = Vec::new();
        for child in self.line_to(id).into_iter().rev() {
            let Some(parent) = self.node(child).and_then(Branch::parent) else { break };
            let Some(branch) = self.node_mut(parent) else { break };
            let place = branch.children.iter().position(|it| *it == child).unwrap_or(0);
            if place == 0 {
                continue;
            }
            branch.children.remove(place);
            branch.children.insert(if to_main { 0 } else { place - 1 }, child);
            changed.push(parent);
            if !to_main {
                break;
            }
        }
        changed
    }

    /// A node for the page.
    pub(crate) fn wire(&self, id: NodeId) -> Option<Node> {
        let branch = self.nodes.get(id)?;
        let form = self.game().castling_form();
        let notes = &branch.annotations;
        let millis = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        Some(Node {
            id,
            parent: branch.parent,
            ply: branch.ply,
            kind: match branch.mv {
                None => NodeKind::Root,
                Some(RecordMove::Legal(_)) => NodeKind::Legal,
                Some(RecordMove::Null) => NodeKind::Null,
                Some(RecordMove::Illegal(_)) => NodeKind::Illegal,
            },
            uci: branch.mv.map(|mv| mv.to_uci(form)).unwrap_or_default(),
            text: branch.text.clone(),
            children: branch.children.clone(),
            before: notes.before.clone(),
            comments: notes.comments.clone(),
            nags: notes.nags.iter().map(|nag| nag.0).collect(),
            clock: notes.clock.map(millis),
            elapsed: notes.elapsed.map(millis),
            evaluation: notes.evaluation,
            marks: notes.marks.iter().map(|mark| wire_mark(*mark, self.game())).collect(),
        })
    }

    /// All nodes, parents before their children.
    pub(crate) fn wire_all(&self) -> Vec<Node> {
        // Numbers grow from parents to children.
        self.nodes.ids().filter_map(|id| self.wire(id)).collect()
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

    #[test]
    fn a_copy_shares_unchanged_nodes() {
        let mut tree = grown(&["e2e4 e7e5 g1f3"]);
        let copy = tree.clone();
        assert_eq!(tree.nodes.unshared(&copy.nodes).count(), 0, "nothing is copied until a change");
        let knight = tree.position(3).and_then(|it| it.parse_move("b8c6").ok()).expect("legal");
        tree.add(3, knight).expect("there is room");
        assert_eq!((tree.len(), copy.len()), (5, 4));
        let shared = |id: NodeId| {
            let both = tree.nodes.get(id).zip(copy.nodes.get(id));
            both.is_some_and(|(a, b)| Arc::ptr_eq(a, b))
        };
        // Only the parent of the new node has changed.
        assert_eq!([0, 1, 2, 3].map(shared), [true, true, true, false]);
        assert!(copy.node(3).is_some_and(|it| it.children.is_empty()));
    }

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
        let branch = tree.node(at).expect("it is there");
        let mut parts = Vec::new();
        for child in &branch.children {
            let rest = shown(tree, *child);
            let mv = tree.node(*child).and_then(Branch::mv).expect("a move");
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
