//! Combinations of trees: the moves of one record in another one, and the parts of a record.

use crate::Position;

use super::{AddError, Annotations, GameRecord, Node, NodeId};

/// What [`GameRecord::add_tree`] has added.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct AddedTree {
    /// The number of new moves.
    pub moves: usize,
    /// The number of moves that both trees have and whose annotations have changed.
    pub annotated: usize,
    /// The number of annotations that were left out: a move has one clock time, one evaluation, one
    /// glyph such as `!?` and one end.
    pub omitted: usize,
}

impl GameRecord {
    /// Adds the moves after a node of another record, with annotations, after a node of this one. Both
    /// nodes must have the same position. Moves that this record has keep their place and their
    /// annotations: comments, glyphs and marks are added to them. Headers and result are unchanged.
    ///
    /// ```
    /// use readyok_rules::record::{Format, GameRecord, NodeId, read};
    ///
    /// let mut games = read("1. e4 e5 2. Nf3 *\n\n1. e4 e5 2. f4 *".as_bytes(), Format::PGN);
    /// let [Some(Ok(mut all)), Some(Ok(more))] = [games.next(), games.next()] else { panic!() };
    /// let added = all.add_tree(NodeId::ROOT, &more, NodeId::ROOT)?;
    /// assert_eq!((added.moves, all.len()), (1, 4));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// The positions differ, a node does not exist, or there is no room. This record is unchanged.
    pub fn add_tree(
        &mut self,
        at: NodeId,
        other: &Self,
        from: NodeId,
    ) -> Result<AddedTree, AddError> {
        let start = self.position_after(at).ok_or(AddError::NoSuchNode)?;
        let theirs = other.position_after(from).ok_or(AddError::NoSuchNode)?;
        if self.game() != other.game() || start.key() != theirs.key() {
            return Err(AddError::OtherPosition);
        }
        let mut combined = self.clone();
        let mut added = AddedTree::default();
        combined.add_annotations(at, other.annotations(from), &mut added);
        let mut open: Vec<(NodeId, NodeId, Position)> = vec![(at, from, start)];
        while let Some((at, from, position)) = open.pop() {
            let mut children = Vec::new();
            for child in other.children(from) {
                let Some(mv) = child.mv else { continue };
                let mut after = position.clone();
                let known = combined.children(at).find(|known| known.mv == Some(mv)).map(Node::id);
                let id = if let Some(known) = known {
                    mv.play(&mut after).map_err(AddError::Move)?;
                    combined.add_annotations(known, other.annotations_of(child), &mut added);
                    known
                } else {
                    let id = combined.add_at(at, &mut after, mv)?;
                    added.moves += 1;
                    let annotations = other.annotations_of(child);
                    if !annotations.is_empty()
                        && let Some(copy) = combined.annotations_mut(id)
                    {
                        *copy = annotations.clone();
                    }
                    id
                };
                children.push((id, child.id, after));
            }
            // The ids of a line follow each other.
            open.extend(children.into_iter().rev());
        }
        added.omitted += combined.delete_inner_ends(at);
        *self = combined;
        Ok(added)
    }

    /// The first node with a position, in the order of ids.
    pub fn find(&self, position: &Position) -> Option<NodeId> {
        if self.start.key() == position.key() {
            return Some(NodeId::ROOT);
        }
        let mut open: Vec<(NodeId, Position)> = vec![(NodeId::ROOT, Position::clone(&self.start))];
        let mut found: Option<NodeId> = None;
        while let Some((id, at)) = open.pop() {
            if at.key() == position.key() && found.is_none_or(|found| id < found) {
                found = Some(id);
            }
            for child in self.children(id) {
                let mut after = at.clone();
                if child.mv.is_some_and(|mv| !mv.is_illegal() && mv.play(&mut after).is_ok()) {
                    open.push((child.id, after));
                }
            }
        }
        found
    }

    /// The line to a node with everything after it, without the variations before it: a chapter of its
    /// own. Headers, result and ids are kept.
    #[must_use]
    pub fn part(&self, id: NodeId) -> Self {
        let mut part = self.clone();
        for node in self.line_to(id) {
            let Some(parent) = self.node(node).and_then(Node::parent) else { continue };
            let others: Vec<NodeId> = self.children(parent).map(Node::id).collect();
            for other in others.into_iter().filter(|other| *other != node) {
                part.delete(other);
            }
        }
        part
    }

    fn add_annotations(&mut self, id: NodeId, other: &Annotations, added: &mut AddedTree) {
        if other.is_empty() {
            return;
        }
        let Some(own) = self.annotations_mut(id) else { return };
        let before = own.clone();
        let Annotations { before: first, comments, nags, clock, elapsed, evaluation, marks, end } =
            other;
        extend(&mut own.before, first);
        extend(&mut own.comments, comments);
        extend(&mut own.marks, marks);
        for nag in nags {
            if own.nags.contains(nag) {
                continue;
            }
            let is_second =
                nag.is_move_assessment() && own.nags.iter().any(|own| own.is_move_assessment());
            if is_second {
                added.omitted += 1;
            } else {
                own.nags.push(*nag);
            }
        }
        added.omitted += usize::from(set(&mut own.clock, *clock))
            + usize::from(set(&mut own.elapsed, *elapsed))
            + usize::from(set(&mut own.evaluation, *evaluation))
            + usize::from(set(&mut own.end, end.clone()));
        if *own != before {
            added.annotated += 1;
        }
    }

    /// Deletes the ends of lines that continue. Returns their number.
    fn delete_inner_ends(&mut self, at: NodeId) -> usize {
        let mut open = vec![at];
        let mut deleted = 0;
        while let Some(id) = open.pop() {
            let children = open.len();
            open.extend(self.children(id).map(Node::id));
            let is_inner = children < open.len() && self.annotations(id).end.is_some();
            if is_inner && let Some(annotations) = self.annotations_mut(id) {
                annotations.end = None;
                deleted += 1;
            }
        }
        deleted
    }
}

fn extend<T: Clone + PartialEq>(own: &mut Vec<T>, more: &[T]) {
    for value in more {
        if !own.contains(value) {
            own.push(value.clone());
        }
    }
}

/// Sets a value that is missing. Returns whether there is another one.
fn set<T: PartialEq>(own: &mut Option<T>, other: Option<T>) -> bool {
    match (&own, other) {
        (_, None) => false,
        (None, other) => {
            *own = other;
            false
        }
        (Some(own), Some(other)) => *own != other,
    }
}
