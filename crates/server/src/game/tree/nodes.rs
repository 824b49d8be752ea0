//! A map of nodes that is copied in time almost independent of its size.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::Branch;
use crate::wire::NodeId;

/// Number of numbers of a chunk.
const CHUNK: NodeId = 128;

/// Nodes by number. Copies share chunks: the first change of a copy copies one chunk.
#[derive(Clone, Default)]
pub(super) struct Nodes {
    chunks: BTreeMap<NodeId, Arc<Chunk>>,
    len: usize,
}

type Chunk = BTreeMap<NodeId, Arc<Branch>>;

impl Nodes {
    pub(super) fn get(&self, id: NodeId) -> Option<&Arc<Branch>> {
        self.chunks.get(&(id / CHUNK))?.get(&id)
    }

    pub(super) fn get_mut(&mut self, id: NodeId) -> Option<&mut Branch> {
        // A chunk without the node is not copied.
        self.get(id)?;
        let chunk = self.chunks.get_mut(&(id / CHUNK))?;
        Arc::make_mut(chunk).get_mut(&id).map(Arc::make_mut)
    }

    pub(super) fn contains(&self, id: NodeId) -> bool {
        self.get(id).is_some()
    }

    pub(super) fn insert(&mut self, id: NodeId, branch: Branch) {
        let chunk = self.chunks.entry(id / CHUNK).or_default();
        if Arc::make_mut(chunk).insert(id, Arc::new(branch)).is_none() {
            self.len += 1;
        }
    }

    pub(super) fn remove(&mut self, id: NodeId) -> Option<Arc<Branch>> {
        self.get(id)?;
        let chunk = self.chunks.get_mut(&(id / CHUNK))?;
        let removed = Arc::make_mut(chunk).remove(&id)?;
        self.len -= 1;
        Some(removed)
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// All nodes by ascending number.
    pub(super) fn iter(&self) -> impl Iterator<Item = (NodeId, &Arc<Branch>)> {
        self.chunks.values().flat_map(|chunk| chunk.iter().map(|(id, branch)| (*id, branch)))
    }

    pub(super) fn ids(&self) -> impl Iterator<Item = NodeId> {
        self.iter().map(|(id, _)| id)
    }

    /// The largest number.
    pub(super) fn last(&self) -> Option<NodeId> {
        self.chunks.values().rev().find_map(|chunk| chunk.keys().next_back()).copied()
    }

    /// Nodes of the chunks that another map does not share, by ascending number.
    pub(super) fn unshared<'a>(
        &'a self,
        other: &'a Self,
    ) -> impl Iterator<Item = (NodeId, &'a Arc<Branch>)> {
        let chunks = self.chunks.iter().filter(|(number, chunk)| {
            other.chunks.get(number).is_none_or(|other| !Arc::ptr_eq(chunk, other))
        });
        chunks.flat_map(|(_, chunk)| chunk.iter().map(|(id, branch)| (*id, branch)))
    }
}
