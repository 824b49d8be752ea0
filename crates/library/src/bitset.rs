//! Sets of numbers.

/// A set of numbers.
#[derive(Debug, Clone, Default)]
pub(crate) struct BitSet(Vec<u64>);

impl FromIterator<u32> for BitSet {
    fn from_iter<T: IntoIterator<Item = u32>>(numbers: T) -> Self {
        let mut set = Self::default();
        for number in numbers {
            set.insert(number);
        }
        set
    }
}

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

    /// Adds the numbers of another set.
    pub(crate) fn add(&mut self, other: &Self) {
        if self.0.len() < other.0.len() {
            self.0.resize(other.0.len(), 0);
        }
        for (bits, others) in self.0.iter_mut().zip(&other.0) {
            *bits |= others;
        }
    }

    /// The numbers in ascending order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = u32> {
        (0..).step_by(64).zip(&self.0).flat_map(|(first, bits)| {
            (0..64).filter(move |bit| bits >> bit & 1 == 1).map(move |bit| first + bit)
        })
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    #[inline]
    pub(crate) fn contains(&self, number: u32) -> bool {
        self.0.get(number as usize / 64).is_some_and(|bits| bits & 1 << (number % 64) != 0)
    }
}
