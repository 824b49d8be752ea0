//! The difference of two versions of a record.

use std::collections::BTreeSet;

use super::{GameRecord, Node, NodeId, NotedNode};

/// The changes from one version of a record to another. Ids are in ascending order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Changes {
    /// Deleted nodes whose parent still exists. Their descendants are deleted, too.
    pub deleted: Vec<NodeId>,
    /// New nodes. Parents precede their children.
    pub added: Vec<NodeId>,
    /// Nodes with other children, or another order of children.
    pub children: Vec<NodeId>,
    /// Nodes with other annotations, among them new nodes that have some.
    pub annotations: Vec<NodeId>,
    /// Whether the headers differ.
    pub headers: bool,
    /// Whether the result differs.
    pub result: bool,
}

impl Changes {
    /// Whether both versions are equal.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl GameRecord {
    /// The changes from an earlier version of this record. After [`share`](Self::share), the time
    /// depends on the number of changes, and hardly on the size of the game.
    pub fn changes_since(&self, before: &Self) -> Changes {
        let mut changes = Changes {
            headers: self.headers != before.headers,
            result: self.result != before.result,
            ..Changes::default()
        };
        let mut parents = BTreeSet::new();
        before.nodes.differences(&self.nodes, |index, was, is| {
            // A deleted node leaves a place without a move.
            let is_live = |node: &&Node| node.mv.is_some() || index == NodeId::ROOT.index();
            match (was.filter(is_live), is.filter(is_live)) {
                (Some(was), None) => {
                    if self.node(was.parent).is_some() {
                        changes.deleted.push(was.id);
                        parents.insert(was.parent);
                    }
                }
                (None, Some(is)) => {
                    changes.added.push(is.id);
                    parents.insert(is.parent);
                }
                (Some(was), Some(is)) => {
                    if (was.first_child, was.last_child) != (is.first_child, is.last_child) {
                        parents.insert(is.id);
                    }
                    if was.next_sibling != is.next_sibling {
                        parents.insert(is.parent);
                    }
                }
                (None, None) => {}
            }
        });
        changes.children = parents.into_iter().collect();
        let mut annotated = BTreeSet::new();
        let noted = |noted: Option<&NotedNode>| noted.map(|noted| noted.node);
        before.annotations.differences(&self.annotations, |_, was, is| {
            annotated.extend([noted(was), noted(is)].into_iter().flatten());
        });
        annotated.extend(&changes.added);
        annotated.retain(|&id| {
            self.node(id).is_some() && self.annotations(id) != before.annotations(id)
        });
        changes.annotations = annotated.into_iter().collect();
        changes
    }
}
