//! The PV of each ply (triangular PV table).

use crate::score::MAX_PLY;

pub(crate) struct PvTable<M>(Vec<Vec<M>>);

impl<M: Copy> PvTable<M> {
    pub(super) fn new() -> Self {
        Self(vec![Vec::new(); MAX_PLY + 3])
    }

    /// Clears the PV of a ply.
    pub(super) fn start(&mut self, ply: usize) {
        if let Some(line) = self.0.get_mut(ply) {
            line.clear();
        }
    }

    /// Sets the PV of a ply to a move and the PV of the next ply.
    pub(super) fn extend(&mut self, ply: usize, mv: M) {
        let (before, after) = self.0.split_at_mut((ply + 1).min(MAX_PLY + 2));
        if let (Some(line), Some(rest)) = (before.last_mut(), after.first()) {
            line.clear();
            line.push(mv);
            line.extend_from_slice(rest);
        }
    }

    pub(crate) fn from(&self, ply: usize) -> &[M] {
        self.0.get(ply).map_or(&[], Vec::as_slice)
    }
}
