//! Duplicates: games with the same moves whose headers show that they are one game, by [`GameIdentity`].

use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};

use readyok_rules::record::{AnnotationCount, GameIdentity, GameRecord, Node, NodeId};

/// Games with equal moves and equal surnames or an equal event and site that are compared.
const MAX_CANDIDATES: usize = 100;

/// Finds the games that duplicate others. Of duplicates, the one with most annotations is kept; of several, the
/// first.
#[derive(Debug, Default)]
pub(super) struct DuplicateFinder {
    kept: Vec<KeptGame>,
    /// The kept games by moves and a key of their identity.
    candidates: HashMap<u128, Vec<usize>>,
    /// The kept game by all headers, moves and annotations.
    by_content: HashMap<u128, usize>,
    duplicates: HashSet<u64>,
}

#[derive(Debug)]
struct KeptGame {
    number: u64,
    annotations: AnnotationCount,
    identity: GameIdentity,
}

impl DuplicateFinder {
    /// Adds the game with a number.
    pub(super) fn add(&mut self, number: u64, record: &GameRecord) {
        let identity = GameIdentity::of(record);
        let moves = moves(record);
        let content = content(moves.clone(), record);
        let keys: Vec<u128> = identity.keys().map(|key| hash(moves.clone(), key)).collect();
        let mut candidates = keys.iter().filter_map(|key| self.candidates.get(key)).flatten();
        let is_same = |at: &&usize| {
            self.kept.get(**at).is_some_and(|known| known.identity.is_same(&identity, || false))
        };
        let identical = self.by_content.get(&content).copied();
        let found = identical.or_else(|| candidates.find(is_same).copied());
        let kept = KeptGame { number, annotations: record.annotation_count(), identity };
        let index = match found.and_then(|at| Some((at, self.kept.get_mut(at)?))) {
            Some((at, known)) if known.annotations < kept.annotations => {
                self.duplicates.insert(known.number);
                *known = kept;
                at
            }
            Some((at, _)) => {
                self.duplicates.insert(number);
                at
            }
            None => {
                self.kept.push(kept);
                self.kept.len() - 1
            }
        };
        self.by_content.entry(content).or_insert(index);
        for key in keys {
            let candidates = self.candidates.entry(key).or_default();
            if candidates.len() < MAX_CANDIDATES && !candidates.contains(&index) {
                candidates.push(index);
            }
        }
    }

    /// The numbers of the games that duplicate a kept one.
    pub(super) fn finish(self) -> HashSet<u64> {
        self.duplicates
    }
}

/// A hash of start position and main line.
fn moves(record: &GameRecord) -> DefaultHasher {
    let mut hasher = DefaultHasher::new();
    record.start().key().hash(&mut hasher);
    for node in record.mainline() {
        node.mv().hash(&mut hasher);
    }
    hasher
}

/// A hash of the whole record, after that of the moves.
fn content(mut hasher: DefaultHasher, record: &GameRecord) -> u128 {
    record.result.hash(&mut hasher);
    record.headers.iter().for_each(|header| header.hash(&mut hasher));
    let mut pending = vec![NodeId::ROOT];
    while let Some(id) = pending.pop() {
        let begin = pending.len();
        pending.extend(record.children(id).map(Node::id));
        let children = pending.get(begin..).unwrap_or_default();
        children.len().hash(&mut hasher);
        for child in children {
            record.node(*child).and_then(Node::mv).hash(&mut hasher);
        }
        let annotations = record.annotations(id);
        if !annotations.is_empty() {
            format!("{annotations:?}").hash(&mut hasher);
        }
    }
    hash(hasher, ())
}

/// 128 bits, so that different games have different hashes.
fn hash(mut hasher: DefaultHasher, value: impl Hash) -> u128 {
    value.hash(&mut hasher);
    let first = hasher.finish();
    1_u8.hash(&mut hasher);
    u128::from(first) << 64 | u128::from(hasher.finish())
}
