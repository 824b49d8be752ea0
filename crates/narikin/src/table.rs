//! The hash table: what the search knows about positions that it has met before.

use std::collections::TryReserveError;

use crate::score::Value;

/// What a kept value says about the true one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Bound {
    Exact,
    AtLeast,
    AtMost,
}

/// What is known about a position.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Entry {
    key: u64,
    /// The best move, packed by its board; 0 for none.
    pub(crate) mv: u32,
    /// Mates are counted from this position.
    pub(crate) value: i16,
    pub(crate) depth: u8,
    bound: u8,
}

// A bound of 0 marks an entry that was never written. The rest of the byte is the entry's age.
const BOUND_BITS: u8 = 0b11;
const AGE_STEP: u8 = 0b100;

const EMPTY: Entry = Entry { key: 0, mv: 0, value: 0, depth: 0, bound: 0 };

impl Entry {
    pub(crate) fn bound(&self) -> Bound {
        match self.bound & BOUND_BITS {
            1 => Bound::Exact,
            2 => Bound::AtLeast,
            _ => Bound::AtMost,
        }
    }

    fn is_of_age(&self, age: u8) -> bool {
        self.bound & BOUND_BITS != 0 && self.bound & !BOUND_BITS == age
    }
}

#[derive(Debug)]
pub(crate) struct Table {
    entries: Vec<Entry>,
    age: u8,
}

impl Table {
    /// A table of about so many megabytes, and of one entry for 0.
    pub(crate) fn new(megabytes: usize) -> Result<Self, TryReserveError> {
        let count = (megabytes.saturating_mul(1 << 20) / size_of::<Entry>()).max(1);
        let mut entries = Vec::new();
        entries.try_reserve_exact(count)?;
        entries.resize(count, EMPTY);
        Ok(Self { entries, age: 0 })
    }

    pub(crate) fn clear(&mut self) {
        self.entries.fill(EMPTY);
        self.age = 0;
    }

    /// Lets entries of earlier searches be overwritten first.
    pub(crate) fn begin_search(&mut self) {
        self.age = self.age.wrapping_add(AGE_STEP);
    }

    pub(crate) fn get(&self, key: u64) -> Option<Entry> {
        let entry = self.entries.get(self.index(key))?;
        (entry.key == key && entry.bound & BOUND_BITS != 0).then_some(*entry)
    }

    pub(crate) fn put(&mut self, key: u64, mv: u32, value: Value, depth: i32, bound: Bound) {
        let (index, age) = (self.index(key), self.age);
        let Some(entry) = self.entries.get_mut(index) else { return };
        let depth = u8::try_from(depth.max(0)).unwrap_or(u8::MAX);
        // A deeper entry of this search is worth more than a new one for another position.
        if entry.key != key && entry.is_of_age(age) && entry.depth > depth {
            return;
        }
        // A position without a good move keeps the one that was good once.
        let mv = if mv == 0 && entry.key == key { entry.mv } else { mv };
        let bound = match bound {
            Bound::Exact => 1,
            Bound::AtLeast => 2,
            Bound::AtMost => 3,
        };
        // Every value of the search fits into 16 bits.
        let value = i16::try_from(value).unwrap_or(0);
        *entry = Entry { key, mv, value, depth, bound: bound | age };
    }

    /// How many of a thousand entries are of this search.
    pub(crate) fn permille_used(&self) -> u32 {
        let sample = self.entries.len().min(1000);
        let used = self.entries.iter().take(sample).filter(|entry| entry.is_of_age(self.age));
        u32::try_from(used.count() * 1000 / sample).unwrap_or(1000)
    }

    /// Spreads keys over all entries, however many there are.
    fn index(&self, key: u64) -> usize {
        let scaled = u128::from(key) * self.entries.len() as u128;
        usize::try_from(scaled >> 64).unwrap_or(0)
    }
}
