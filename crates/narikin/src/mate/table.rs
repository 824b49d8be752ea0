//! What is known of positions met before, by board and the attacker's hand.

use std::collections::TryReserveError;

use readyok_rules::rsshogi::types::Hand;

use super::{hands, numbers::Numbers};

/// Entries of a board stand no further than this from their place.
const WINDOW: usize = 16;

#[derive(Clone, Copy, Debug)]
struct Entry {
    key: u64,
    hand: Hand,
    numbers: Numbers,
    /// Of which search it is; 0 for none.
    search: u32,
    /// How many positions it took.
    work: u32,
    /// The least distance from the root.
    depth: u16,
    /// How many plies the mate takes.
    plies: u16,
}

const EMPTY: Entry = Entry {
    key: 0,
    hand: Hand::ZERO,
    numbers: Numbers::UNKNOWN,
    search: 0,
    work: 0,
    depth: u16::MAX,
    plies: 0,
};

/// What the table knows.
#[derive(Clone, Copy, Debug)]
pub(super) struct Known {
    pub(super) numbers: Numbers,
    /// For which hands it holds, if it is final: this one, and larger ones for a mate, or smaller
    /// ones if there is none.
    pub(super) hand: Hand,
    /// How many plies the mate takes.
    pub(super) plies: u16,
    /// The least distance from the root at which this very position was met.
    pub(super) depth: u16,
}

impl Known {
    /// Whether nothing is lost if it takes an entry's place.
    fn replaces(&self, entry: &Entry) -> bool {
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

#[derive(Debug)]
pub(super) struct Table {
    entries: Vec<Entry>,
    search: u32,
}

impl Table {
    /// A table of about so many megabytes, and of a few entries for 0.
    pub(super) fn new(megabytes: usize) -> Result<Self, TryReserveError> {
        let count = (megabytes.saturating_mul(1 << 20) / size_of::<Entry>()).max(WINDOW);
        let mut entries = Vec::new();
        entries.try_reserve_exact(count)?;
        entries.resize(count, EMPTY);
        Ok(Self { entries, search: 0 })
    }

    /// Forgets everything: what was proved of another attacker, or with other pieces, does not
    /// hold.
    pub(super) fn begin_search(&mut self) {
        self.search = self.search.wrapping_add(1);
        if self.search == 0 {
            self.entries.fill(EMPTY);
            self.search = 1;
        }
    }

    pub(super) fn get(&self, key: u64, hand: Hand) -> Option<Known> {
        let start = self.index(key);
        let window = self.entries.get(start..start + WINDOW)?;
        let mut found: Option<Known> = None;
        let mut bound = Numbers { proof: 1, disproof: 1 };
        for entry in window.iter().filter(|it| it.key == key && it.search == self.search) {
            let same = entry.hand == hand;
            let (more, less) = if same {
                (true, true)
            } else {
                (hands::covers(hand, entry.hand), hands::covers(entry.hand, hand))
            };
            let known = Known {
                numbers: entry.numbers,
                hand: entry.hand,
                plies: entry.plies,
                depth: entry.depth,
            };
            if entry.numbers.is_mate() {
                if more && found.is_none_or(|it| !it.numbers.is_mate() || entry.plies < it.plies) {
                    found = Some(known);
                }
            } else if entry.numbers.is_no_mate() {
                if less {
                    return Some(known);
                }
            } else if same {
                if found.is_none() {
                    found = Some(known);
                }
            } else if more {
                bound.disproof = bound.disproof.max(entry.numbers.disproof);
            } else if less {
                bound.proof = bound.proof.max(entry.numbers.proof);
            }
        }
        // With more in hand a mate is no harder to prove, and with less no easier.
        found.map(|mut it| {
            if !it.numbers.is_final() {
                it.numbers.proof = it.numbers.proof.max(bound.proof);
                it.numbers.disproof = it.numbers.disproof.max(bound.disproof);
            }
            it
        })
    }

    pub(super) fn put(&mut self, key: u64, known: Known, work: u32) {
        let (start, search) = (self.index(key), self.search);
        let Some(window) = self.entries.get_mut(start..start + WINDOW) else { return };
        let value = |entry: &Entry| if entry.search == search { entry.work } else { 0 };
        let mut place = 0;
        let mut least = u32::MAX;
        let mut depth = known.depth;
        let mut work = work;
        for (index, entry) in window.iter().enumerate() {
            if entry.key == key && entry.search == search && known.replaces(entry) {
                place = index;
                depth = depth.min(entry.depth);
                work = work.saturating_add(entry.work);
                break;
            }
            if value(entry) < least {
                least = value(entry);
                place = index;
            }
        }
        let Known { numbers, hand, plies, .. } = known;
        if let Some(entry) = window.get_mut(place) {
            *entry = Entry { key, hand, numbers, search, work: work.max(1), depth, plies };
        }
    }

    fn index(&self, key: u64) -> usize {
        let places = self.entries.len() - WINDOW + 1;
        usize::try_from((u128::from(key) * places as u128) >> 64).unwrap_or(0)
    }
}
