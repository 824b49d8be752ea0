//! Trees as they are stored: records of the library, and logs of open games.

use std::collections::BTreeMap;
use std::sync::Arc;

use readyok_library::{Entry, OpenNode, OpenTree, StoredMove, move_of};
use readyok_rules::Position;
use readyok_rules::record::RecordMove;

use super::nodes::Nodes;
use super::{Branch, ROOT, Tree};
use crate::wire::NodeId;

impl Tree {
    /// The numbers of all nodes in the order of PGN.
    pub(crate) fn numbers(&self) -> Vec<NodeId> {
        let mut numbers = Vec::with_capacity(self.nodes.len());
        let mut pending = vec![ROOT];
        while let Some(id) = pending.pop() {
            numbers.push(id);
            if let Some(branch) = self.nodes.get(id) {
                pending.extend(branch.children.iter().rev());
            }
        }
        numbers
    }

    /// Whether [`Tree::from_record`] gives the nodes the same numbers.
    pub(crate) fn has_default_numbers(&self) -> bool {
        let mut next = ROOT + 1;
        let mut pending = vec![ROOT];
        while let Some(id) = pending.pop() {
            let Some(branch) = self.nodes.get(id) else { return false };
            for child in &branch.children {
                if *child != next {
                    return false;
                }
                next += 1;
            }
            pending.extend(branch.children.iter().rev());
        }
        true
    }

    /// Renumbers the nodes, in the order of PGN. None if the numbers do not fit.
    pub(crate) fn renumbered(self, numbers: &[NodeId], next: NodeId) -> Option<Self> {
        let order = self.numbers();
        let new: BTreeMap<NodeId, NodeId> =
            order.iter().copied().zip(numbers.iter().copied()).collect();
        let mut nodes = Nodes::default();
        for (id, branch) in self.nodes.iter() {
            let number = |id: &NodeId| new.get(id).copied();
            let branch = Branch {
                parent: match &branch.parent {
                    Some(parent) => Some(number(parent)?),
                    None => None,
                },
                children: branch.children.iter().map(number).collect::<Option<_>>()?,
                ..Branch::clone(branch)
            };
            nodes.insert(number(&id)?, branch);
        }
        let fits = nodes.len() == order.len()
            && numbers.len() == order.len()
            && nodes.get(ROOT).is_some_and(|root| root.parent.is_none())
            && nodes.iter().all(|(id, branch)| branch.parent.is_none_or(|parent| parent < id));
        let next = nodes.last().map_or(next, |last| next.max(last + 1));
        fits.then(|| Self { nodes, next, ..self })
    }

    /// Numbers new nodes from here, if it is not below the number of the next node.
    pub(crate) fn reserve(&mut self, next: NodeId) {
        self.next = self.next.max(next);
    }

    /// The tree for the base of a log.
    pub(crate) fn to_open(&self) -> OpenTree {
        let mut open = OpenTree::new(&self.start);
        for (id, branch) in self.nodes.iter() {
            let node = OpenNode {
                parent: branch.parent.zip(branch.mv.map(StoredMove::from)),
                ply: branch.ply,
                children: branch.children.clone(),
                annotations: branch.annotations.clone(),
            };
            open.nodes.insert(id, node);
        }
        open.next = self.next;
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
            tree.annotations_mut(id)?.clone_from(&node.annotations);
            let first = pending.len();
            for child in &node.children {
                let (_, mv) = open.nodes.get(child)?.parent?;
                let mv = record_move(&position, mv)?;
                let mut after = position.clone();
                if tree.nodes.contains(*child) {
                    return None;
                }
                tree.next = *child;
                tree.attach(id, mv, &mut after).ok()?;
                pending.push((*child, after));
            }
            pending[first..].reverse();
        }
        tree.next = open.next.max(tree.nodes.last().map_or(1, |last| last + 1));
        Some(tree)
    }

    /// The changes from an earlier state. None if a deleted node was restored or a node
    /// has another move, which a log cannot represent.
    pub(crate) fn changes_since(&self, before: &Self) -> Option<Vec<Entry>> {
        let mut entries = Vec::new();
        self.node_changes(before, &mut entries)?;
        if self.next > before.next && self.nodes.last().is_none_or(|it| it + 1 < self.next) {
            entries.push(Entry::Next(self.next));
        }
        if self.headers != before.headers {
            entries.push(Entry::Headers(self.headers.clone()));
        }
        if self.result != before.result {
            entries.push(Entry::Result(self.result));
        }
        Some(entries)
    }

    fn node_changes(&self, before: &Self, entries: &mut Vec<Entry>) -> Option<()> {
        // Both maps are sorted by number.
        let mut old = before.nodes.unshared(&self.nodes).peekable();
        let mut new = self.nodes.unshared(&before.nodes).peekable();
        let (mut added, mut changed) = (Vec::new(), Vec::new());
        loop {
            match (old.peek(), new.peek()) {
                (Some((a, was)), Some((b, is))) if a == b => {
                    if !Arc::ptr_eq(was, is) {
                        if (was.parent, was.mv) != (is.parent, is.mv) {
                            return None;
                        }
                        changed.push((*b, Some(*was), *is));
                    }
                    old.next();
                    new.next();
                }
                (Some((a, was)), other) if other.is_none_or(|(b, _)| a < b) => {
                    // Descendants are deleted with their node.
                    if was.parent.is_some_and(|parent| self.nodes.contains(parent)) {
                        entries.push(Entry::Delete { node: *a });
                    }
                    old.next();
                }
                (_, Some((b, is))) => {
                    if *b < before.next {
                        return None;
                    }
                    added.push((*b, *is));
                    changed.push((*b, None, *is));
                    new.next();
                }
                (_, None) => break,
            }
        }
        // Numbers grow from parents to children.
        for (id, branch) in &added {
            let (parent, mv) = branch.parent.zip(branch.mv)?;
            entries.push(Entry::Add { parent, node: *id, mv: mv.into() });
        }
        for (id, was, is) in changed {
            if was.map_or_else(
                || !is.annotations.is_empty(),
                |was: &Arc<Branch>| was.annotations != is.annotations,
            ) {
                let annotations = Box::new(is.annotations.clone());
                entries.push(Entry::Annotations { node: id, annotations });
            }
            let known = was.map(|was| was.children.iter().copied()).into_iter().flatten();
            let mut expected: Vec<NodeId> = known.filter(|it| self.nodes.contains(*it)).collect();
            let mut others: Vec<NodeId> =
                is.children.iter().copied().filter(|it| before.next <= *it).collect();
            others.sort_unstable();
            expected.extend(others);
            if expected != is.children {
                entries.push(Entry::Children { node: id, children: is.children.clone() });
            }
        }
        Some(())
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
        for entry in after.changes_since(&before).expect("a log can represent them") {
            open.apply(&entry).expect("it fits");
        }
        assert_eq!(open, after.to_open());
        let restored = Tree::from_open(&open).expect("it is a tree");
        assert_eq!(restored.wire_all(), after.wire_all());
        assert_eq!(restored.next_number(), after.next_number());
        assert!(before.changes_since(&after).is_none(), "deleted nodes are restored");
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
        assert!(Tree::from_record(&tree.to_record()).has_default_numbers());
        assert!(Tree::from_record(&tree.to_record()).renumbered(&[0, 1], next).is_none());
    }
}
