//! Detection of games that repeat an earlier game move by move: the same engines with the same colors and opening. Such
//! games occur without openings or with a fixed number of nodes, and are no independent evidence.

use std::collections::HashMap;
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};

use crate::pairing::PairResult;

/// Later games are not stored, which bounds the memory.
const MAX_GAMES: usize = 1 << 20;

/// The games so far, by their hashes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Repeats {
    /// The index of the pairing of the first game with a hash.
    games: HashMap<u64, u64>,
    count: u64,
}

/// A game that repeats an earlier one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Repeated {
    /// The number of the game in its pairing, from 0.
    pub(crate) game: u32,
    /// The pairing of the earlier game.
    pub(crate) earlier: u64,
}

impl Repeats {
    /// Adds the games of a pairing. Returns those that repeat earlier ones.
    pub(crate) fn add(&mut self, pair: &PairResult) -> Vec<Repeated> {
        let opening = &pair.pairing.opening;
        let mut repeated = Vec::new();
        for (number, game) in (0..).zip(&pair.games) {
            let moves: Vec<_> = game.moves.iter().map(|made| made.mv).collect();
            let sides = (game.first.0, game.second.0);
            let key = (sides, &opening.position, &opening.moves, moves);
            let hash = BuildHasherDefault::<DefaultHasher>::default().hash_one(key);
            let index = pair.pairing.index;
            match self.games.get(&hash) {
                Some(&earlier) => {
                    self.count += 1;
                    repeated.push(Repeated { game: number, earlier });
                }
                None if self.games.len() < MAX_GAMES => {
                    self.games.insert(hash, index);
                }
                None => (),
            }
        }
        repeated
    }

    /// The number of games that repeat an earlier one.
    pub(crate) fn count(&self) -> u64 {
        self.count
    }
}
