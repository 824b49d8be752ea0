//! Trees as they are stored: records of the library, and logs of open games.

use std::collections::BTreeMap;

use readyok_library::{Entry, OpenNode, OpenTree, StoredMove, move_of};
use readyok_rules::Position;
use readyok_rules::record::{GameRecord, Node, NodeId as RecordId, RecordMove};

use super::{ROOT, Tree};
use crate::wire::NodeId;

impl Tree {
    /// The numbers of all nodes, each followed by those of its children.
    pub(crate) fn numbers(&self) -> Vec<NodeId> {
        self.preorder().into_iter().map(NodeId::from).collect()
    }

    fn preorder(&self) -> Vec<RecordId> {
        let mut ids = Vec::with_capacity(self.len());
        let mut pending = vec![RecordId::ROOT];
        while let Some(id) = pending.pop() {
            ids.push(id);
            let first = pending.len();
            pending.extend(self.children(id).map(Node::id));
            pending[first..].reverse();
        }
        ids
    }

    /// Whether the record that the library decodes gives the nodes the same numbers: those of the order
    /// of PGN, where variations follow the move that they replace.
    pub(crate) fn has_default_numbers(&self) -> bool {
        let mut next = ROOT + 1;
        let mut pending = vec![RecordId::ROOT];
        while let Some(id) = pending.pop() {
            // A variation is numbered when it begins, a continuation with its parent.
            if id != RecordId::ROOT && self.is_variation(id) {
                if NodeId::from(id) != next {
                    return false;
                }
                next += 1;
            }
            let children: Vec<_> = self.children(id).map(Node::id).collect();
            if let Some(first) = children.first() {
                if NodeId::from(*first) != next {
                    return false;
                }
                next += 1;
                pending.push(*first);
            }
            pending.extend(children.iter().skip(1).rev());
        }
        true
    }

    fn is_variation(&self, id: RecordId) -> bool {
        let parent = self.0.record.node(id).and_then(Node::parent);
        parent.and_then(|parent| self.next(parent)).is_some_and(|first| first.id() != id)
    }

    /// Renumbers the nodes, in the order of [`Tree::numbers`]. None if the numbers do not fit.
    pub(crate) fn renumbered(self, numbers: &[NodeId], next: NodeId) -> Option<Self> {
        let order = self.preorder();
        if order.len() != numbers.len() || numbers.first() != Some(&ROOT) {
            return None;
        }
        let number: BTreeMap<RecordId, RecordId> =
            order.iter().copied().zip(numbers.iter().map(|&number| number.into())).collect();
        let mut tree = Self::new(self.start().clone());
        tree.headers = self.headers.clone();
        tree.result = self.result;
        // The position after each node on the line to the present one.
        let mut line: Vec<(RecordId, Position)> = vec![(RecordId::ROOT, self.start().clone())];
        for id in order {
            let ours = *number.get(&id)?;
            if let Some(parent) = self.0.record.node(id)?.parent() {
                while line.last().is_some_and(|(last, _)| *last != parent) {
                    line.pop();
                }
                let mut after = line.last()?.1.clone();
                let mv = self.0.record.node(id)?.mv()?;
                tree.0.record.add_with_id(ours, *number.get(&parent)?, &mut after, mv).ok()?;
                line.push((id, after));
            }
            tree.copy_annotations(ours, &self, id);
        }
        tree.reserve(next);
        Some(tree)
    }

    fn copy_annotations(&mut self, ours: RecordId, record: &GameRecord, theirs: RecordId) {
        let annotations = record.annotations(theirs);
        if !annotations.is_empty()
            && let Some(own) = self.0.record.annotations_mut(ours)
        {
            own.clone_from(annotations);
        }
    }

    /// Numbers new nodes from here, if it is not below the number of the next node.
    pub(crate) fn reserve(&mut self, next: NodeId) {
        self.0.record.reserve_ids(next.into());
    }

    /// The number of the next node.
    pub(crate) fn next_number(&self) -> NodeId {
        self.next_id().into()
    }

    /// The numbers of the children of a node.
    fn children_of(&self, id: NodeId) -> Vec<NodeId> {
        self.children(id.into()).map(|child| child.id().into()).collect()
    }

    /// The tree for the base of a log.
    pub(crate) fn to_open(&self) -> OpenTree {
        let mut open = OpenTree::new(self.start());
        for id in self.ids() {
            let Some(node) = self.node(id) else { continue };
            let parent = node.parent().map(NodeId::from);
            let node = OpenNode {
                parent: parent.zip(node.mv().map(StoredMove::from)),
                ply: u32::try_from(node.ply()).unwrap_or(u32::MAX),
                children: self.children_of(id),
                annotations: self.annotations(id.into()).clone(),
            };
            open.nodes.insert(id, node);
        }
        open.next = self.next_number();
        open.headers = self.headers.clone();
        open.result = self.result;
        open
    }

    /// The tree of a log. None if it is damaged.
    pub(crate) fn from_open(open: &OpenTree) -> Option<Self> {
        let start = open.start_position().ok()?;
        let mut tree = Self::new(start.clone());
        tree.headers = open.headers.clone();
        tree.result = open.result;
        let mut pending = vec![(ROOT, start)];
        while let Some((id, position)) = pending.pop() {
            let node = open.nodes.get(&id)?;
            if !node.annotations.is_empty() {
                tree.annotations_mut(id)?.clone_from(&node.annotations);
            }
            let first = pending.len();
            for child in &node.children {
                let (_, mv) = open.nodes.get(child)?.parent?;
                let mv = record_move(&position, mv)?;
                let mut after = position.clone();
                tree.0.record.add_with_id((*child).into(), id.into(), &mut after, mv).ok()?;
                pending.push((*child, after));
            }
            pending[first..].reverse();
        }
        tree.reserve(open.next);
        Some(tree)
    }

    /// The changes from an earlier state. None if a deleted node was restored, which a log cannot
    /// represent.
    pub(crate) fn log_entries_since(&self, before: &Self) -> Option<Vec<Entry>> {
        let changes = self.0.record.changes_since(&before.0.record);
        let mut entries: Vec<Entry> = Vec::new();
        entries.extend(changes.deleted.iter().map(|&id| Entry::Delete { node: id.into() }));
        for &id in &changes.added {
            let node = self.0.record.node(id)?;
            if id < before.next_id() {
                return None;
            }
            let (parent, mv) = node.parent().zip(node.mv())?;
            entries.push(Entry::Add { parent: parent.into(), node: id.into(), mv: mv.into() });
        }
        entries.extend(changes.annotations.iter().map(|&id| Entry::Annotations {
            node: id.into(),
            annotations: Box::new(self.annotations(id).clone()),
        }));
        for &id in &changes.children {
            let node = NodeId::from(id);
            let children = self.children_of(node);
            let known = before.children_of(node).into_iter();
            let mut expected: Vec<NodeId> = known.filter(|it| self.node(*it).is_some()).collect();
            let new = children.iter().copied().filter(|it| before.next_number() <= *it);
            let mut new: Vec<NodeId> = new.collect();
            new.sort_unstable();
            expected.extend(new);
            if expected != children {
                entries.push(Entry::Children { node, children });
            }
        }
        let next = self.next_number();
        if next > before.next_number() && self.ids().last().is_none_or(|last| last + 1 < next) {
            entries.push(Entry::Next(next));
        }
        if changes.headers {
            entries.push(Entry::Headers(self.headers.clone()));
        }
        if changes.result {
            entries.push(Entry::Result(self.result));
        }
        Some(entries)
    }
}

fn record_move(position: &Position, mv: StoredMove) -> Option<RecordMove> {
    Some(match mv {
        StoredMove::Legal(code) => RecordMove::Legal(move_of(position, code)?),
        StoredMove::Null => RecordMove::Null,
        StoredMove::Illegal(code) => RecordMove::Illegal(move_of(position, code)?),
    })
}

#[cfg(test)]
mod tests {
    use readyok_rules::Game;

    use super::*;

    fn play(tree: &mut Tree, at: NodeId, moves: &str) -> NodeId {
        moves.split(' ').fold(at, |at, text| {
            let mv = tree.position(at).and_then(|it| it.parse_move(text).ok()).expect("legal");
            tree.add(at, mv).expect("there is room")
        })
    }

    fn tree() -> Tree {
        let mut tree = Tree::new(Position::start(Game::Chess));
        play(&mut tree, ROOT, "e2e4 e7e5 g1f3");
        play(&mut tree, 1, "c7c5");
        play(&mut tree, ROOT, "d2d4");
        tree
    }

    #[test]
    fn changes_reproduce_a_tree() {
        let before = tree();
        let mut after = before.clone();
        after.delete(2);
        let end = play(&mut after, 4, "g1f3 d7d6");
        after.promote(5, true);
        after.annotations_mut(end).expect("it exists").comments.push("a comment".to_owned());
        after.headers.set("White", "Ada");
        let mut open = before.to_open();
        for entry in after.log_entries_since(&before).expect("a log can represent them") {
            open.apply(&entry).expect("it fits");
        }
        assert_eq!(open, after.to_open());
        let restored = Tree::from_open(&open).expect("it is a tree");
        assert_eq!(restored.wire_all(), after.wire_all());
        assert_eq!(restored.next_number(), after.next_number());
        assert!(before.log_entries_since(&after).is_none(), "deleted nodes are restored");
    }

    #[test]
    fn numbers_are_restored() {
        let mut tree = tree();
        assert!(!tree.has_default_numbers());
        tree.delete(3);
        let (numbers, next) = (tree.numbers(), tree.next_number());
        let restored = Tree::from_record(&tree.to_record()).renumbered(&numbers, next);
        let restored = restored.expect("the numbers fit");
        assert_eq!(restored.wire_all(), tree.wire_all());
        assert_eq!(restored.next_number(), next);
        assert!(Tree::from_record(&tree.to_record()).renumbered(&[0, 1], next).is_none());
    }
}
