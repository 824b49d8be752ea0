//! The table of proof numbers, by board and the attacker's hand.

use std::collections::TryReserveError;

use readyok_rules::rsshogi::types::Hand;

use super::hands;

/// Proof and disproof number: the minimum number of leaves to prove for a mate, and to disprove for no
/// mate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ProofNumbers {
    pub(super) proof: u32,
    pub(super) disproof: u32,
}

/// Infinity: exceeds any number of leaves. The sum of two does not overflow.
pub(super) const NEVER: u32 = 1 << 30;

impl ProofNumbers {
    pub(super) const UNKNOWN: Self = Self { proof: 1, disproof: 1 };
    pub(super) const MATE: Self = Self { proof: 0, disproof: NEVER };
    pub(super) const NO_MATE: Self = Self { proof: NEVER, disproof: 0 };
    pub(super) const NEVER: Self = Self { proof: NEVER, disproof: NEVER };

    pub(super) const fn is_mate(self) -> bool {
        self.proof == 0
    }

    pub(super) const fn is_no_mate(self) -> bool {
        self.disproof == 0
    }

    pub(super) const fn is_final(self) -> bool {
        self.is_mate() || self.is_no_mate()
    }

    /// Whether both are below their thresholds.
    pub(super) const fn are_under(self, thresholds: Self) -> bool {
        self.proof < thresholds.proof && self.disproof < thresholds.disproof
    }
}

/// The number of consecutive entries that a board can use.
const WINDOW: usize = 16;

#[derive(Clone, Copy, Debug)]
struct ProofEntry {
    key: u64,
    hand: Hand,
    numbers: ProofNumbers,
    /// The number of the search; 0 for an empty entry.
    search: u32,
    /// The nodes of the result.
    work: u32,
    /// The minimum distance from the root.
    depth: u16,
    /// The length of the mate in plies.
    plies: u16,
}

const EMPTY: ProofEntry = ProofEntry {
    key: 0,
    hand: Hand::ZERO,
    numbers: ProofNumbers::UNKNOWN,
    search: 0,
    work: 0,
    depth: u16::MAX,
    plies: 0,
};

/// A table entry for a position.
#[derive(Clone, Copy, Debug)]
pub(super) struct NodeData {
    pub(super) numbers: ProofNumbers,
    /// The hand from which a final result holds: a mate for all larger hands, no mate for all
    /// smaller ones.
    pub(super) hand: Hand,
    /// The length of the mate in plies.
    pub(super) plies: u16,
    /// The minimum distance from the root at which this position was visited.
    pub(super) depth: u16,
}

impl NodeData {
    /// Whether it can replace an entry without loss of information.
    fn replaces(&self, entry: &ProofEntry) -> bool {
        if self.numbers.is_mate() {
            let shorter = !entry.numbers.is_mate() || self.plies <= entry.plies;
            shorter && hands::covers(entry.hand, self.hand)
        } else if self.numbers.is_no_mate() {
            hands::covers(self.hand, entry.hand)
        } else {
            self.hand == entry.hand
        }
    }
}

/// Entries of a new table: about a megabyte.
const INITIAL_ENTRIES: usize = 1 << 15;

/// A full table grows by this factor.
const GROWTH: usize = 4;

/// The table grows with the search: clearing a large one costs more time than a short search.
#[derive(Debug)]
pub(super) struct ProofTable {
    entries: Vec<ProofEntry>,
    search: u32,
    /// The number of entries of this search.
    used: usize,
    /// The maximum number of entries.
    max_entries: usize,
}

impl ProofTable {
    /// Allocates a small table that grows to this size in megabytes; 0 gives a minimal one.
    pub(super) fn new(megabytes: usize) -> Result<Self, TryReserveError> {
        let max_entries = (megabytes.saturating_mul(1 << 20) / size_of::<ProofEntry>()).max(WINDOW);
        let entries = empty_entries(max_entries.min(INITIAL_ENTRIES))?;
        Ok(Self { entries, search: 0, used: 0, max_entries })
    }

    /// Invalidates all entries, because results for another attacker or other pieces do not hold.
    pub(super) fn begin_search(&mut self) {
        self.used = 0;
        self.search = self.search.wrapping_add(1);
        if self.search == 0 {
            self.entries.fill(EMPTY);
            self.search = 1;
        }
    }

    /// Replaces a half full table by a larger one with the same entries.
    fn grow(&mut self) {
        let count = self.entries.len().saturating_mul(GROWTH).min(self.max_entries);
        if count == self.entries.len() {
            return;
        }
        let Ok(entries) = empty_entries(count) else {
            // The table keeps its size, and entries with the least work are replaced.
            self.max_entries = self.entries.len();
            return;
        };
        let search = self.search;
        let old = std::mem::replace(&mut self.entries, entries);
        for entry in old.into_iter().filter(|entry| entry.search == search) {
            let start = self.index(entry.key);
            let free = self
                .entries
                .get_mut(start..start + WINDOW)
                .and_then(|window| window.iter_mut().find(|slot| slot.search != search));
            match free {
                Some(slot) => *slot = entry,
                None => self.used -= 1,
            }
        }
    }

    pub(super) fn get(&self, key: u64, hand: Hand) -> Option<NodeData> {
        let start = self.index(key);
        let window = self.entries.get(start..start + WINDOW)?;
        let mut found: Option<NodeData> = None;
        let mut bound = ProofNumbers { proof: 1, disproof: 1 };
        for entry in window.iter().filter(|entry| entry.key == key && entry.search == self.search) {
            let same = entry.hand == hand;
            let (more, less) = if same {
                (true, true)
            } else {
                (hands::covers(hand, entry.hand), hands::covers(entry.hand, hand))
            };
            let data = NodeData {
                numbers: entry.numbers,
                hand: entry.hand,
                plies: entry.plies,
                depth: entry.depth,
            };
            if entry.numbers.is_mate() {
                if more
                    && found
                        .is_none_or(|found| !found.numbers.is_mate() || entry.plies < found.plies)
                {
                    found = Some(data);
                }
            } else if entry.numbers.is_no_mate() {
                if less {
                    return Some(data);
                }
            } else if same {
                if found.is_none() {
                    found = Some(data);
                }
            } else if more {
                bound.disproof = bound.disproof.max(entry.numbers.disproof);
            } else if less {
                bound.proof = bound.proof.max(entry.numbers.proof);
            }
        }
        // A mate is at most as hard to prove with a larger hand, and at least as hard with a smaller one.
        found.map(|mut found| {
            if !found.numbers.is_final() {
                found.numbers.proof = found.numbers.proof.max(bound.proof);
                found.numbers.disproof = found.numbers.disproof.max(bound.disproof);
            }
            found
        })
    }

    pub(super) fn put(&mut self, key: u64, data: NodeData, work: u32) {
        let (start, search) = (self.index(key), self.search);
        let Some(window) = self.entries.get_mut(start..start + WINDOW) else { return };
        let value = |entry: &ProofEntry| if entry.search == search { entry.work } else { 0 };
        let mut slot = 0;
        let mut least = u32::MAX;
        let mut depth = data.depth;
        let mut work = work;
        for (index, entry) in window.iter().enumerate() {
            if entry.key == key && entry.search == search && data.replaces(entry) {
                slot = index;
                depth = depth.min(entry.depth);
                work = work.saturating_add(entry.work);
                break;
            }
            if value(entry) < least {
                least = value(entry);
                slot = index;
            }
        }
        let NodeData { numbers, hand, plies, .. } = data;
        if let Some(entry) = window.get_mut(slot) {
            self.used += usize::from(entry.search != search);
            *entry = ProofEntry { key, hand, numbers, search, work: work.max(1), depth, plies };
        }
        if self.used > self.entries.len() / 2 {
            self.grow();
        }
    }

    fn index(&self, key: u64) -> usize {
        let entries = self.entries.len() - WINDOW + 1;
        usize::try_from((u128::from(key) * entries as u128) >> 64).unwrap_or(0)
    }
}

fn empty_entries(count: usize) -> Result<Vec<ProofEntry>, TryReserveError> {
    let mut entries = Vec::new();
    entries.try_reserve_exact(count)?;
    entries.resize(count, EMPTY);
    Ok(entries)
}

/// The result does not depend on the path.
pub(super) const NO_LOOP: u16 = u16::MAX;

/// The number of stored results that hold for one path only.
const LOOP_ENTRIES: usize = 1 << 16;

#[derive(Clone, Copy, Debug)]
struct PathEntry {
    board: u64,
    hand: Hand,
    /// A hash of the path up to here.
    path_key: u64,
}

#[derive(Debug)]
pub(super) struct Path {
    entries: Vec<PathEntry>,
    /// Paths without a mate because of repetition, and the minimum distance from the root of a
    /// repeated position.
    loops_table: Vec<(u64, u16)>,
}

impl Path {
    pub(super) fn new() -> Self {
        Self { entries: Vec::new(), loops_table: vec![(0, NO_LOOP); LOOP_ENTRIES] }
    }

    pub(super) fn clear(&mut self) {
        self.entries.clear();
        self.loops_table.fill((0, NO_LOOP));
    }

    pub(super) fn push(&mut self, board: u64, hand: Hand) {
        let path_key = self.path_key(board, hand);
        self.entries.push(PathEntry { board, hand, path_key });
    }

    pub(super) fn pop(&mut self) {
        self.entries.pop();
    }

    pub(super) fn truncate(&mut self, length: usize) {
        self.entries.truncate(length);
    }

    /// The distance from the root of an earlier position that the next one repeats. A smaller hand of
    /// the attacker is not better: a mate would have been shorter at the earlier position.
    pub(super) fn repeats(&self, board: u64, hand: Hand) -> Option<u16> {
        let earlier = self.entries.iter().enumerate().rev().skip(1).step_by(2);
        let mut same = earlier.filter(|(_, entry)| entry.board == board);
        let (index, _) = same.find(|(_, entry)| hands::covers(entry.hand, hand))?;
        u16::try_from(index).ok()
    }

    /// The stored loop of the next position, if it has no mate on this path.
    pub(super) fn loops(&self, board: u64, hand: Hand) -> Option<u16> {
        let path_key = self.path_key(board, hand);
        let &(data, from) = self.loops_table.get(index(path_key))?;
        (data == path_key && from != NO_LOOP).then_some(from)
    }

    /// Stores that the last position has no mate on this path.
    pub(super) fn note_loop(&mut self, from: u16) {
        let Some(&PathEntry { path_key, .. }) = self.entries.last() else { return };
        if let Some(entry) = self.loops_table.get_mut(index(path_key)) {
            *entry = (path_key, from);
        }
    }

    fn path_key(&self, board: u64, hand: Hand) -> u64 {
        let before = self.entries.last().map_or(0, |entry| entry.path_key);
        mix(before ^ mix(board ^ u64::from(hand.bits()).rotate_left(32)))
    }
}

fn index(path_key: u64) -> usize {
    usize::try_from(path_key % LOOP_ENTRIES as u64).unwrap_or(0)
}

/// Spreads the bits of a number (the finalizer of Steele, Lea and Flood's `SplitMix`).
pub(super) const fn mix(number: u64) -> u64 {
    let mut z = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mate_in(plies: u16) -> NodeData {
        NodeData { numbers: ProofNumbers::MATE, hand: Hand::ZERO, plies, depth: 0 }
    }

    #[test]
    fn a_growing_table_keeps_its_entries() {
        let mut table = ProofTable::new(64).expect("memory");
        assert_eq!(table.entries.len(), INITIAL_ENTRIES);
        table.begin_search();
        table.put(mix(0), mate_in(9), 1);
        table.begin_search();
        let keys = (1..=60_000).map(mix);
        for (plies, key) in (1..).zip(keys.clone()) {
            table.put(key, mate_in(plies), 1);
        }
        assert!(INITIAL_ENTRIES < table.entries.len());
        let found = (1..).zip(keys).filter_map(|(plies, key)| {
            let data = table.get(key, Hand::ZERO)?;
            assert_eq!(data.plies, plies);
            Some(())
        });
        // A full window replaces an entry.
        assert!(found.count() > 59_000);
        assert!(table.get(mix(0), Hand::ZERO).is_none(), "an entry of an earlier search");
    }

    #[test]
    fn the_size_is_limited() {
        let mut table = ProofTable::new(2).expect("memory");
        table.begin_search();
        (1..=400_000).map(mix).for_each(|key| table.put(key, mate_in(1), 1));
        assert!(table.entries.len() * size_of::<ProofEntry>() <= 2 << 20);
        assert!(INITIAL_ENTRIES < table.entries.len());
    }
}
