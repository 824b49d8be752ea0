//! Edits of the tree: deletion and the order of variations.

use std::iter;

use super::{GameRecord, Node, NodeId};

impl GameRecord {
    /// The nodes from the root to a node, without the root.
    pub fn line_to(&self, id: NodeId) -> Vec<NodeId> {
        let nodes = iter::successors(self.node(id), |node| self.node(node.parent()?));
        let mut line: Vec<_> = nodes.take_while(|node| node.mv.is_some()).map(Node::id).collect();
        line.reverse();
        line
    }

    /// Deletes a node with its descendants, and returns their ids, that of the node first. No id is used
    /// again. Nothing is deleted if the node is the root or of another record.
    pub fn delete(&mut self, id: NodeId) -> Vec<NodeId> {
        let Some(parent) = self.node(id).and_then(Node::parent) else { return Vec::new() };
        let others: Vec<_> =
            self.children(parent).map(Node::id).filter(|other| *other != id).collect();
        self.link_children(parent, &others);
        let mut deleted = vec![id];
        let mut index = 0;
        while let Some(&id) = deleted.get(index) {
            index += 1;
            deleted.extend(self.children(id).map(Node::id));
            self.clear_annotations(id);
            if let Some(node) = self.nodes.get_mut(id.index()) {
                *node = Node::default();
                self.live -= 1;
            }
        }
        self.find_last();
        deleted
    }

    /// Moves the line of a node one place towards the main line, where it is a variation last; with
    /// `to_main`, it becomes the main line. Returns the nodes whose children have another order.
    pub fn promote(&mut self, id: NodeId, to_main: bool) -> Vec<NodeId> {
        let mut reordered = Vec::new();
        for child in self.line_to(id).into_iter().rev() {
            let Some(parent) = self.node(child).and_then(Node::parent) else { break };
            let mut children: Vec<_> = self.children(parent).map(Node::id).collect();
            let Some(place @ 1..) = children.iter().position(|other| *other == child) else {
                continue;
            };
            children.remove(place);
            children.insert(if to_main { 0 } else { place - 1 }, child);
            self.link_children(parent, &children);
            reordered.push(parent);
            if !to_main {
                break;
            }
        }
        self.find_last();
        reordered
    }

    /// Sets the children of a node. Links that stay equal are not written, because a write copies a
    /// shared page.
    fn link_children(&mut self, parent: NodeId, children: &[NodeId]) {
        let first = children.first().copied().unwrap_or(NodeId::ROOT);
        let last = children.last().copied().unwrap_or(NodeId::ROOT);
        if self
            .node(parent)
            .is_some_and(|node| (node.first_child, node.last_child) != (first, last))
            && let Some(node) = self.nodes.get_mut(parent.index())
        {
            (node.first_child, node.last_child) = (first, last);
        }
        let next = children.iter().skip(1).copied().chain(iter::once(NodeId::ROOT));
        for (child, next) in children.iter().zip(next) {
            if self.node(*child).is_some_and(|node| node.next_sibling != next)
                && let Some(node) = self.nodes.get_mut(child.index())
            {
                node.next_sibling = next;
            }
        }
    }

    /// Updates the end of the main line after an edit.
    fn find_last(&mut self) {
        let last = self.mainline().last().map_or(NodeId::ROOT, Node::id);
        if last != self.last {
            self.last = last;
            self.last_position.take();
        }
    }
}
