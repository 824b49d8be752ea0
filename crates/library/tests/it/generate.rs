//! Games of a toy game for tests: a position is the number of moves made so far, hashed with the moves.

use readyok_library::{END_OF_GAME, Key, NewGame, Source, StoredGame, Summary};
use readyok_rules::record::{Condition, PositionPattern};
use readyok_rules::{Game, GameResult, Side};

/// A small deterministic generator of numbers (`SplitMix64`).
#[derive(Debug, Clone)]
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        mix(self.0) % limit
    }

    /// An index of a list of this length.
    pub(crate) fn index(&mut self, length: usize) -> usize {
        usize::try_from(self.below(length as u64)).expect("smaller than the length")
    }
}

fn mix(mut it: u64) -> u64 {
    it = (it ^ it >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    it = (it ^ it >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    it ^ it >> 31
}

/// Hashes of all positions of a list of moves. The order of two moves does not matter: they transpose.
fn hashes(moves: &[u16]) -> impl Iterator<Item = u64> {
    let sums = moves.iter().scan(1_u64, |sum, mv| {
        *sum = sum.wrapping_add(mix(u64::from(*mv) + 77));
        Some(*sum)
    });
    std::iter::once(1).chain(sums).map(mix)
}

/// Keys of all positions of a list of moves.
pub(crate) fn keys(moves: &[u16]) -> Vec<Key> {
    hashes(moves).map(Key::of).collect()
}

/// The position after a list of moves.
pub(crate) fn reaches(moves: &[u16]) -> Condition {
    let hash = hashes(moves).last().unwrap_or_default();
    Condition::Position(PositionPattern::with_key(Game::Chess, hash))
}

pub(crate) fn postings(moves: &[u16]) -> Vec<(Key, u16)> {
    let next = moves.iter().copied().chain([END_OF_GAME]);
    keys(moves).into_iter().zip(next).collect()
}

pub(crate) fn moves_of(bytes: &[u8]) -> Vec<u16> {
    bytes.as_chunks().0.iter().map(|chunk| u16::from_le_bytes(*chunk)).collect()
}

#[expect(clippy::unnecessary_wraps, reason = "the type of an indexer")]
pub(crate) fn indexer(game: &StoredGame) -> Option<Vec<(Key, u16)>> {
    Some(postings(&moves_of(&game.moves)))
}

pub(crate) fn game(random: &mut Random) -> NewGame {
    let length = 5 + random.below(60);
    let moves: Vec<u16> = (0..length)
        .map(|ply| u16::try_from(random.below(1 + ply.min(20))).expect("small"))
        .collect();
    let mut summary = Summary::new(Game::Chess, Source::Import);
    summary.result = match random.below(4) {
        0 => GameResult::Win(Side::First),
        1 => GameResult::Win(Side::Second),
        2 => GameResult::Draw,
        _ => GameResult::Unknown,
    };
    summary.plies = u16::try_from(length).expect("small");
    summary.ratings = [0, 1].map(|_| u16::try_from(random.below(3000)).expect("small"));
    summary.moves_hash = u32::try_from(random.below(1 << 32)).expect("32 bits");
    let mut name = || format!("Player {}", random.below(50));
    let players = [name(), name()];
    NewGame {
        summary,
        players,
        event: format!("Event {}", random.below(10)),
        site: String::new(),
        opening: Some(("A00".to_owned(), format!("Opening {}", random.below(20)))),
        start: None,
        postings: postings(&moves),
        moves: moves.iter().flat_map(|mv| mv.to_le_bytes()).collect(),
        tags: vec![1, 2, 3],
        annotations: Vec::new(),
        layer: Vec::new(),
        play: None,
        added_ms: 1_000,
    }
}
