//! The transposition table.
//!
//! Threads share it without locks. An entry consists of two 64-bit words. The key is stored `XORed`
//! with the data, so that mixed entries do not match (R. Hyatt and T. Mann, "A lock-less
//! transposition table implementation", ICGA Journal 2002).

use std::{collections::TryReserveError, thread};

use crate::{
    platform::{large_pages, prefetch},
    score::Value,
    sync::{AtomicU8, AtomicU64, Ordering::Relaxed},
};

/// The kind of a stored value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Bound {
    Exact,
    AtLeast,
    AtMost,
}

/// The content of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TtData {
    /// The best move, packed; 0 for none.
    pub(crate) mv: u16,
    /// The search value; mates are relative to this position.
    pub(crate) value: i16,
    /// The static evaluation; [`NO_VALUE`] if unknown.
    pub(crate) eval: i16,
    pub(crate) depth: u8,
    /// None if only the static evaluation is known.
    pub(crate) bound: Option<Bound>,
    /// Whether the position is or was part of a PV.
    pub(crate) tt_pv: bool,
}

impl TtData {
    /// Whether this entry's value causes a cutoff in a window.
    pub(crate) fn causes_cutoff(&self, value: Value, alpha: Value, beta: Value) -> bool {
        match self.bound {
            Some(Bound::Exact) => true,
            Some(Bound::AtLeast) => value >= beta,
            Some(Bound::AtMost) => value <= alpha,
            None => false,
        }
    }

    /// Whether this entry's value is a better estimate than a static evaluation.
    pub(crate) fn improves_on(&self, value: Value, eval: Value) -> bool {
        self.causes_cutoff(value, eval - 1, eval + 1)
    }
}

/// An unknown evaluation.
pub(crate) const NO_VALUE: i16 = i16::MIN;

// The last byte of an entry: two bits of bound, one PV bit, five bits of age.
const PV: u8 = 0b100;
const AGE_STEP: u8 = 0b1000;
const AGE: u8 = 0b1111_1000;
const AGES: u8 = 32;

#[derive(Debug, Default)]
struct TtEntry {
    /// The key `XORed` with the data.
    check: AtomicU64,
    data: AtomicU64,
}

/// One cache line of entries.
#[derive(Debug, Default)]
#[repr(align(64))]
struct Bucket([TtEntry; 4]);

#[derive(Debug)]
pub(crate) struct TranspositionTable {
    buckets: Vec<Bucket>,
    age: AtomicU8,
}

impl TtData {
    fn pack(self, age: u8) -> u64 {
        let bound = match self.bound {
            None => 0,
            Some(Bound::Exact) => 1,
            Some(Bound::AtLeast) => 2,
            Some(Bound::AtMost) => 3,
        };
        let [m0, m1] = self.mv.to_le_bytes();
        let [v0, v1] = self.value.to_le_bytes();
        let [e0, e1] = self.eval.to_le_bytes();
        let last = bound | if self.tt_pv { PV } else { 0 } | age;
        u64::from_le_bytes([m0, m1, v0, v1, e0, e1, self.depth, last])
    }

    fn unpack(data: u64) -> Self {
        let [m0, m1, v0, v1, e0, e1, depth, last] = data.to_le_bytes();
        Self {
            mv: u16::from_le_bytes([m0, m1]),
            value: i16::from_le_bytes([v0, v1]),
            eval: i16::from_le_bytes([e0, e1]),
            depth,
            bound: match last & 0b11 {
                1 => Some(Bound::Exact),
                2 => Some(Bound::AtLeast),
                3 => Some(Bound::AtMost),
                _ => None,
            },
            tt_pv: last & PV != 0,
        }
    }
}

/// Small under Miri, which is too slow for a megabyte.
const MEGABYTE: usize = if cfg!(miri) { 1 << 12 } else { 1 << 20 };

fn bucket_count(megabytes: usize) -> usize {
    (megabytes.saturating_mul(MEGABYTE) / size_of::<Bucket>()).max(1)
}

fn buckets(count: usize) -> Result<Vec<Bucket>, TryReserveError> {
    let mut buckets = Vec::new();
    buckets.try_reserve_exact(count)?;
    large_pages(buckets.spare_capacity_mut());
    buckets.resize_with(count, Bucket::default);
    Ok(buckets)
}

fn flags(data: u64) -> u8 {
    let [.., last] = data.to_le_bytes();
    last
}

fn depth_of(data: u64) -> u8 {
    let [.., depth, _] = data.to_le_bytes();
    depth
}

impl TranspositionTable {
    /// Allocates a table of this size; 0 gives one bucket.
    pub(crate) fn new(megabytes: usize) -> Result<Self, TryReserveError> {
        Ok(Self { buckets: buckets(bucket_count(megabytes))?, age: AtomicU8::new(0) })
    }

    /// Clears and resizes the table. The old memory is freed first, as both may not fit. If
    /// allocation fails, the size is unchanged.
    pub(crate) fn resize(&mut self, megabytes: usize) -> Result<(), TryReserveError> {
        let old = std::mem::take(&mut self.buckets).len();
        let made = buckets(bucket_count(megabytes));
        let (kept, result) = match made {
            Ok(made) => (made, Ok(())),
            // If even the old size fails, the table is empty.
            Err(error) => (buckets(old).unwrap_or_default(), Err(error)),
        };
        (self.buckets, self.age) = (kept, AtomicU8::new(0));
        result
    }

    /// Clears the table with this number of threads.
    pub(crate) fn clear(&mut self, threads: usize) {
        let share = self.buckets.len().div_ceil(threads.max(1)).max(1);
        thread::scope(|scope| {
            for part in self.buckets.chunks_mut(share) {
                scope.spawn(|| part.fill_with(Bucket::default));
            }
        });
        self.age = AtomicU8::new(0);
    }

    /// Ages the entries of earlier searches.
    pub(crate) fn new_search(&self) {
        self.age.store(self.age.load(Relaxed).wrapping_add(AGE_STEP), Relaxed);
    }

    /// Prefetches the bucket of a key.
    pub(crate) fn prefetch(&self, key: u64) {
        if let Some(bucket) = self.bucket(key) {
            prefetch(bucket);
        }
    }

    pub(crate) fn get(&self, key: u64) -> Option<TtData> {
        let Bucket(entries) = self.bucket(key)?;
        entries.iter().find_map(|entry| {
            let data = entry.data.load(Relaxed);
            (data != 0 && entry.check.load(Relaxed) ^ data == key).then(|| TtData::unpack(data))
        })
    }

    pub(crate) fn put(&self, key: u64, mut new: TtData) {
        let age = self.age.load(Relaxed);
        let Some(Bucket(entries)) = self.bucket(key) else { return };
        let mut victim: Option<(i32, &TtEntry)> = None;
        for entry in entries {
            let data = entry.data.load(Relaxed);
            if data != 0 && entry.check.load(Relaxed) ^ data == key {
                let old = TtData::unpack(data);
                // Keeps the old move if there is no new one.
                if new.mv == 0 {
                    new.mv = old.mv;
                }
                // Keeps a much deeper entry of this search.
                let deeper = i32::from(old.depth) > i32::from(new.depth) + 4;
                let same_age = flags(data) & AGE == age;
                if deeper && same_age && old.bound.is_some() && new.bound != Some(Bound::Exact) {
                    return;
                }
                victim = Some((0, entry));
                break;
            }
            let replace_value = if data == 0 { i32::MIN } else { replace_value(data, age) };
            if victim.is_none_or(|(min_value, _)| replace_value < min_value) {
                victim = Some((replace_value, entry));
            }
        }
        if let Some((_, entry)) = victim {
            // All-zero data marks an empty entry.
            let data = new.pack(age);
            entry.data.store(data, Relaxed);
            entry.check.store(key ^ data, Relaxed);
        }
    }

    /// Entries of the current search, in permille.
    pub(crate) fn permille_used(&self) -> u32 {
        let age = self.age.load(Relaxed);
        let sample = self.buckets.len().min(250);
        let entries = self.buckets.iter().take(sample).flat_map(|Bucket(entries)| entries);
        let used = entries.filter(|entry| {
            let data = entry.data.load(Relaxed);
            data != 0 && flags(data) & AGE == age
        });
        u32::try_from(used.count() * 1000 / (4 * sample.max(1))).unwrap_or(1000)
    }

    /// Maps keys to buckets by multiplication, for any number of buckets.
    fn bucket(&self, key: u64) -> Option<&Bucket> {
        let scaled = u128::from(key) * self.buckets.len() as u128;
        self.buckets.get(usize::try_from(scaled >> 64).unwrap_or(0))
    }
}

/// Replacement priority: depth, reduced by age.
fn replace_value(data: u64, age: u8) -> i32 {
    let since = (age.wrapping_sub(flags(data) & AGE) / AGE_STEP) % AGES;
    i32::from(depth_of(data)) - 4 * i32::from(since)
}

/// Narrows a search value; all fit in 16 bits.
pub(crate) fn narrow(value: Value) -> i16 {
    i16::try_from(value).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::{Bound, TranspositionTable, TtData};

    /// An entry derived from its key.
    fn entry_for(key: u64) -> TtData {
        let [low, high, eval, depth, ..] = (key.wrapping_mul(0x9E37_79B9_7F4A_7C15)).to_le_bytes();
        TtData {
            mv: u16::from_le_bytes([low, high]) | 1,
            value: i16::from_le_bytes([high, eval]),
            eval: i16::from_le_bytes([eval, low]),
            depth: depth & 63,
            bound: Some(Bound::Exact),
            tt_pv: depth & 64 != 0,
        }
    }

    #[test]
    fn stored_entries_are_found() {
        // Few enough to avoid bucket overflow.
        let count = if cfg!(miri) { 40 } else { 200_u64 };
        let table = TranspositionTable::new(1).expect("a megabyte");
        let keys: Vec<u64> =
            (1..count).map(|index| index.wrapping_mul(0xD134_2543_DE82_EF95)).collect();
        for &key in &keys {
            table.put(key, entry_for(key));
        }
        assert!(keys.iter().all(|&key| table.get(key) == Some(entry_for(key))));
        assert_eq!(table.get(12_345), None);
    }

    #[test]
    fn resizes_or_keeps_its_size() {
        let mut table = TranspositionTable::new(1).expect("a megabyte");
        let megabyte = table.buckets.len();
        table.put(5, entry_for(5));
        assert!(table.resize(usize::MAX).is_err());
        assert_eq!((table.buckets.len(), table.get(5)), (megabyte, None));
        table.put(5, entry_for(5));
        assert!(table.resize(2).is_ok());
        assert_eq!((table.buckets.len(), table.get(5)), (2 * megabyte, None));
        table.put(5, entry_for(5));
        assert_eq!(table.get(5), Some(entry_for(5)));
    }

    #[test]
    fn concurrent_reads_never_return_mixed_entries() {
        // One bucket, so that all threads compete for the same entries.
        let table = TranspositionTable::new(0).expect("a bucket");
        // Miri is a thousand times slower.
        let rounds = if cfg!(miri) { 200 } else { 20_000 };
        let seen: usize = thread::scope(|scope| {
            let run = |seed: u64| {
                let table = &table;
                scope.spawn(move || {
                    let mut seen = 0;
                    for index in 0..rounds {
                        let key = (index * 7 + seed) % 16 + 1;
                        table.put(key, entry_for(key));
                        let other = (index * 5 + seed) % 16 + 1;
                        if let Some(data) = table.get(other) {
                            assert_eq!(data, entry_for(other));
                            seen += 1;
                        }
                    }
                    seen
                })
            };
            let threads: Vec<_> = (0..4).map(run).collect();
            threads.into_iter().map(|thread| thread.join().expect("no panic")).sum()
        });
        assert!(seen > 0, "something was read");
    }

    #[test]
    fn a_shallow_entry_does_not_replace_a_deep_one_of_the_same_position() {
        let table = TranspositionTable::new(0).expect("a bucket");
        table.new_search();
        let deep = TtData { depth: 20, bound: Some(Bound::AtLeast), ..entry_for(5) };
        table.put(5, deep);
        table.put(5, TtData { depth: 2, bound: Some(Bound::AtMost), ..entry_for(5) });
        assert_eq!(table.get(5), Some(deep));
        table.new_search();
        let newer = TtData { depth: 2, bound: Some(Bound::AtMost), ..entry_for(5) };
        table.put(5, newer);
        assert_eq!(table.get(5), Some(newer));
    }
}
