//! Sets of numbers.

/// A set of numbers.
#[derive(Debug, Clone, Default)]
pub(crate) struct BitSet(Vec<u64>);

impl BitSet {
    /// Returns whether the number is new.
    pub(crate) fn insert(&mut self, number: u32) -> bool {
        let (at, bit) = (number as usize / 64, 1 << (number % 64));
        if self.0.len() <= at {
            self.0.resize(at + 1, 0);
        }
        let new = self.0[at] & bit == 0;
        self.0[at] |= bit;
        new
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    #[inline]
    pub(crate) fn contains(&self, number: u32) -> bool {
        self.0.get(number as usize / 64).is_some_and(|bits| bits & 1 << (number % 64) != 0)
    }
}
