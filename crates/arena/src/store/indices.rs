//! A set of indices of pairs. Pairs end nearly in order, so that it stays small.

use std::collections::BTreeSet;

/// A set of indices of pairs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IndexSet {
    /// All below it are in the set.
    below: u64,
    /// Those above it that are in the set too.
    above: BTreeSet<u64>,
}

impl IndexSet {
    /// Whether an index is in the set.
    pub fn contains(&self, index: u64) -> bool {
        index < self.below || self.above.contains(&index)
    }

    /// Puts an index in. Tells whether it is new.
    pub fn insert(&mut self, index: u64) -> bool {
        if self.contains(index) {
            return false;
        }
        self.above.insert(index);
        while self.above.remove(&self.below) {
            self.below += 1;
        }
        true
    }

    /// How many are in the set.
    pub fn len(&self) -> u64 {
        self.below + self.above.len() as u64
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forgets_single_indices_when_the_gaps_are_filled() {
        let mut set = IndexSet::default();
        for index in [3, 1, 0, 5, 2] {
            assert!(set.insert(index));
            assert!(!set.insert(index));
        }
        assert_eq!((set.below, set.above.len(), set.len()), (4, 1, 5));
        assert!(set.contains(2) && set.contains(5) && !set.contains(4));
        assert!(set.insert(4));
        assert_eq!(set, IndexSet { below: 6, above: BTreeSet::new() });
    }
}
