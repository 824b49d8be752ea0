//! Postings of the position index: which game reached which position, and which move followed; and which material it had,
//! and for how long.
//!
//! Sorted postings are stored in blocks of about 12 KB. A block is a sequence of groups, each for one key:
//!
//! ```text
//! varint  (key - key of the group before) << 1 | many      the first group: minus the first key of the block
//! one:    u16 move, varint game - base
//! many:   varint moves, and for each: u16 move, varint games, varint first game - base, varint differences
//! ```
//!
//! A key can have several groups, also in consecutive blocks.

use readyok_rules::record::MaterialSignature;

use crate::varint::{Corrupt, get, get_u16, get_u32, put};

/// Bits of a position key that are stored, the upper ones. A wrong hit has a probability of about 5 · 10⁻⁶ per
/// query with 10⁸ postings.
const KEY_BITS: u32 = 44;

/// The first key of material: keys from here have the bits of a [`MaterialSignature`]. They were 1 of 512 keys of
/// positions, which have others.
const MATERIAL: u64 = (1 << KEY_BITS) - (1 << MaterialSignature::BITS);

/// Size of a block in bytes.
const BLOCK: usize = 12 << 10;

/// Maximum number of postings in a group: bounds the memory of a writer.
const MAX_GROUP: usize = 4096;

/// The move of a posting at the end of a game.
pub const END_OF_GAME: u16 = 0xFFFF;

/// The stored bits of a position key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key(u64);

impl Key {
    pub(crate) const MIN: Self = Self(0);

    /// From a 64-bit hash of the position.
    #[must_use]
    pub fn of(hash: u64) -> Self {
        let key = hash >> (64 - KEY_BITS);
        Self(if key >= MATERIAL { key ^ 1 << (KEY_BITS - 1) } else { key })
    }

    /// The key of material.
    pub(crate) fn of_material(material: MaterialSignature) -> Self {
        Self(MATERIAL | material.bits())
    }

    /// The smallest key of material.
    pub(crate) fn first_material() -> Self {
        Self(MATERIAL)
    }

    /// The material of a key.
    pub(crate) fn material(self) -> Option<MaterialSignature> {
        (self.0 >= MATERIAL).then(|| MaterialSignature::from_bits(self.0))
    }

    /// Bounds that split the keys into 32 parts, and one that is larger than all keys.
    pub(crate) fn bounds() -> impl Iterator<Item = Self> {
        (1..=32).map(|part| Self(part << (KEY_BITS - 5)))
    }

    pub(crate) fn to_sql(self) -> i64 {
        self.0.cast_signed()
    }

    pub(crate) fn from_sql(value: i64) -> Self {
        Self(value.cast_unsigned())
    }
}

/// A position in a game with the move that followed. Sorts by key, move and game.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Posting(u128);

impl Posting {
    /// A position with this key was reached by a game, which continued with a move, or with [`END_OF_GAME`].
    pub(crate) fn new(key: Key, mv: u16, game: u32) -> Self {
        Self(u128::from(key.0) << 48 | u128::from(mv) << 32 | u128::from(game))
    }

    /// Key of the position.
    #[expect(clippy::cast_possible_truncation, reason = "44 bits")]
    pub(crate) fn key(self) -> Key {
        Key((self.0 >> 48) as u64)
    }

    /// The move that followed, or [`END_OF_GAME`].
    #[expect(clippy::cast_possible_truncation, reason = "its lower 16 bits")]
    pub(crate) fn mv(self) -> u16 {
        (self.0 >> 32) as u16
    }

    /// Number of the game.
    #[expect(clippy::cast_possible_truncation, reason = "its lower 32 bits")]
    pub(crate) fn game(self) -> u32 {
        self.0 as u32
    }
}

/// A finished block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Block {
    pub(crate) first: Key,
    pub(crate) bytes: Vec<u8>,
}

/// Writes sorted postings into blocks.
#[derive(Debug)]
pub(crate) struct BlockWriter {
    base: u32,
    block: Vec<u8>,
    first: Key,
    last: Key,
    group: Vec<Posting>,
}

impl BlockWriter {
    /// `base`: not larger than any game.
    pub(crate) fn new(base: u32) -> Self {
        Self { base, block: Vec::new(), first: Key(0), last: Key(0), group: Vec::new() }
    }

    /// Adds a posting that is not smaller than those before. Returns a block when one is finished.
    pub(crate) fn push(&mut self, posting: Posting) -> Option<Block> {
        let ends = |last: &Posting| last.key() != posting.key() || self.group.len() >= MAX_GROUP;
        let finished = if self.group.last().is_some_and(ends) { self.write_group() } else { None };
        self.group.push(posting);
        finished
    }

    /// The last block.
    pub(crate) fn finish(mut self) -> Option<Block> {
        let finished = self.write_group();
        finished.or_else(|| self.close())
    }

    fn write_group(&mut self) -> Option<Block> {
        let key = self.group.first()?.key();
        if self.block.is_empty() {
            (self.first, self.last) = (key, key);
        }
        let delta = key.0 - self.last.0;
        self.last = key;
        let out = &mut self.block;
        if let [one] = self.group[..] {
            put(out, delta << 1);
            out.extend(one.mv().to_le_bytes());
            put(out, (one.game() - self.base).into());
        } else {
            put(out, delta << 1 | 1);
            let moves = self.group.chunk_by(|a, b| a.mv() == b.mv());
            put(out, moves.clone().count() as u64);
            for postings in moves {
                out.extend(postings[0].mv().to_le_bytes());
                put(out, postings.len() as u64);
                let mut last = self.base;
                for it in postings {
                    put(out, (it.game() - last).into());
                    last = it.game();
                }
            }
        }
        self.group.clear();
        (self.block.len() >= BLOCK).then(|| self.close()).flatten()
    }

    fn close(&mut self) -> Option<Block> {
        let bytes = std::mem::take(&mut self.block);
        (!bytes.is_empty()).then_some(Block { first: self.first, bytes })
    }
}

/// Reads a block group by group.
#[derive(Debug, Clone)]
pub(crate) struct BlockReader<'a> {
    bytes: &'a [u8],
    key: Key,
    base: u32,
}

impl<'a> BlockReader<'a> {
    pub(crate) fn new(first: Key, base: u32, bytes: &'a [u8]) -> Self {
        Self { bytes, key: first, base }
    }

    /// Calls `visit` with each posting of a key. Returns whether the next block can have more of them.
    pub(crate) fn find(
        &mut self,
        key: Key,
        mut visit: impl FnMut(u16, u32),
    ) -> Result<bool, Corrupt> {
        while !self.bytes.is_empty() {
            let many = self.next_key()?;
            if self.key > key {
                return Ok(false);
            }
            if self.key == key {
                self.group(many, &mut visit)?;
            } else {
                self.group(many, &mut |_, _| ())?;
            }
        }
        Ok(true)
    }

    /// Calls `visit` with key, move and game of each posting from a key on.
    pub(crate) fn visit_from(
        &mut self,
        from: Key,
        mut visit: impl FnMut(Key, u16, u32),
    ) -> Result<(), Corrupt> {
        while !self.bytes.is_empty() {
            let many = self.next_key()?;
            let key = self.key;
            if key < from {
                self.group(many, &mut |_, _| ())?;
            } else {
                self.group(many, &mut |mv, game| visit(key, mv, game))?;
            }
        }
        Ok(())
    }

    /// Appends the postings of the next group. Returns false at the end of the block.
    pub(crate) fn read_group(&mut self, out: &mut Vec<Posting>) -> Result<bool, Corrupt> {
        if self.bytes.is_empty() {
            return Ok(false);
        }
        let many = self.next_key()?;
        let key = self.key;
        self.group(many, &mut |mv, game| out.push(Posting::new(key, mv, game)))?;
        Ok(true)
    }

    fn next_key(&mut self) -> Result<bool, Corrupt> {
        let head = get(&mut self.bytes)?;
        let key = self.key.0.checked_add(head >> 1).filter(|key| key >> KEY_BITS == 0);
        self.key = Key(key.ok_or(Corrupt)?);
        Ok(head & 1 == 1)
    }

    fn group(&mut self, many: bool, visit: &mut impl FnMut(u16, u32)) -> Result<(), Corrupt> {
        let bytes = &mut self.bytes;
        if !many {
            let mv = get_u16(bytes)?;
            visit(mv, self.base.checked_add(get_u32(bytes)?).ok_or(Corrupt)?);
            return Ok(());
        }
        for _ in 0..get(bytes)? {
            let mv = get_u16(bytes)?;
            let mut game = self.base;
            for _ in 0..get(bytes)? {
                game = game.checked_add(get_u32(bytes)?).ok_or(Corrupt)?;
                visit(mv, game);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use proptest::{collection::vec, prelude::*};

    use super::*;

    fn blocks(postings: &[Posting], base: u32) -> Vec<Block> {
        let mut writer = BlockWriter::new(base);
        let mut blocks: Vec<_> =
            postings.iter().filter_map(|posting| writer.push(*posting)).collect();
        blocks.extend(writer.finish());
        blocks
    }

    fn read(blocks: &[Block], base: u32) -> Vec<Posting> {
        let mut all = Vec::new();
        for block in blocks {
            let mut reader = BlockReader::new(block.first, base, &block.bytes);
            while reader.read_group(&mut all).expect("a valid block") {}
        }
        all
    }

    fn sorted(raw: &[(u64, u16, u32)], base: u32) -> Vec<Posting> {
        let posting = |&(key, mv, game): &_| Posting::new(Key(key), mv, base + game);
        raw.iter().map(posting).collect::<BTreeSet<_>>().into_iter().collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn blocks_hold_what_was_written(
            raw in vec((prop_oneof![0..4_u64, 0..1_u64 << KEY_BITS], 0..3_u16, 0..5_000_u32), 0..800),
            base in 0..100_u32,
        ) {
            let postings = sorted(&raw, base);
            let blocks = blocks(&postings, base);
            prop_assert_eq!(&read(&blocks, base), &postings);
            let mut expected: BTreeMap<Key, Vec<Posting>> = BTreeMap::new();
            for posting in &postings {
                expected.entry(posting.key()).or_default().push(*posting);
            }
            for (key, expected) in expected.into_iter().take(20) {
                let mut found = Vec::new();
                for block in &blocks {
                    if block.first > key {
                        break;
                    }
                    let mut reader = BlockReader::new(block.first, base, &block.bytes);
                    reader.find(key, |mv, game| found.push(Posting::new(key, mv, game))).expect("valid");
                }
                prop_assert_eq!(found, expected);
            }
        }

        #[test]
        fn any_bytes_are_read_without_panic(bytes: Vec<u8>, first in 0..1_u64 << KEY_BITS, base: u32) {
            let mut reader = BlockReader::new(Key(first), base, &bytes);
            let mut out = Vec::new();
            while reader.read_group(&mut out) == Ok(true) {}
            let _ = BlockReader::new(Key(first), base, &bytes).find(Key(first), |_, _| ());
        }
    }

    #[test]
    fn a_frequent_position_spans_blocks() {
        let postings: Vec<_> =
            (0..100_000).map(|game| Posting::new(Key(7), 1, game * 200)).collect();
        let blocks = blocks(&postings, 0);
        assert!(blocks.len() > 5 && blocks.iter().all(|block| block.first == Key(7)));
        assert_eq!(read(&blocks, 0), postings);
        assert!(blocks.iter().all(|block| block.bytes.len() < 2 * BLOCK));
    }
}
