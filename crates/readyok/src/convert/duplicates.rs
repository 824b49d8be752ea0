//! Duplicates: games with the same moves that are known to be of the same players or of the same event, and games that
//! are equal in everything.

use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};

use readyok_rules::Side;
use readyok_rules::record::{AnnotationCount, GameRecord, Node, NodeId, Tag, is_known_name};

/// Games of one event and site with equal moves that are compared.
const MAX_CANDIDATES: usize = 100;

/// Finds the games that duplicate others. Of duplicates, the one with most annotations is kept; of several, the
/// first.
#[derive(Debug, Default)]
pub(super) struct DuplicateFinder {
    kept: Vec<Kept>,
    /// The kept game by moves and players, if both are known.
    by_players: HashMap<u128, usize>,
    /// The kept games by moves, event and site, if both are known.
    by_event: HashMap<u128, Vec<usize>>,
    /// The kept game by all headers, moves and annotations.
    by_content: HashMap<u128, usize>,
    duplicates: HashSet<u64>,
}

#[derive(Debug)]
struct Kept {
    number: u64,
    annotations: AnnotationCount,
    players: Players,
}

/// Hashes of the known players.
type Players = [Option<u64>; 2];

impl DuplicateFinder {
    /// Adds the game with a number.
    pub(super) fn add(&mut self, number: u64, record: &GameRecord) {
        let players = Side::BOTH.map(|side| known(record.player(side)));
        let site = record.header(Tag::Site).filter(|site| is_known_name(site));
        let event = known(record.header(Tag::Event)).zip(site);
        let moves = |kind: u8| moves(record, kind);
        let by_players = match players {
            [Some(first), Some(second)] => Some(hash(moves(0), (first, second))),
            _ => None,
        };
        let by_event = event.map(|event| hash(moves(1), event));
        let by_content = content(record);
        let of_players = by_players.and_then(|key| self.by_players.get(&key).copied());
        let identical = || self.by_content.get(&by_content).copied();
        let found = of_players.or_else(identical).or_else(|| {
            let candidates = by_event.and_then(|key| self.by_event.get(&key)).into_iter().flatten();
            let mut candidates = candidates.copied().take(MAX_CANDIDATES);
            let is_same =
                |at: &usize| self.kept.get(*at).is_some_and(|it| agree(it.players, players));
            candidates.find(is_same)
        });
        let annotations = record.annotation_count();
        let found = found.and_then(|at| Some((at, self.kept.get_mut(at)?)));
        let index = if let Some((at, kept)) = found {
            if kept.annotations < annotations {
                self.duplicates.insert(kept.number);
                *kept = Kept { number, annotations, players };
            } else {
                self.duplicates.insert(number);
            }
            at
        } else {
            self.kept.push(Kept { number, annotations, players });
            self.kept.len() - 1
        };
        self.by_content.entry(by_content).or_insert(index);
        if let Some(key) = by_players {
            self.by_players.entry(key).or_insert(index);
        }
        if let Some(key) = by_event {
            let of_event = self.by_event.entry(key).or_default();
            if of_event.len() < MAX_CANDIDATES && !of_event.contains(&index) {
                of_event.push(index);
            }
        }
    }

    /// The numbers of the games that duplicate a kept one.
    pub(super) fn finish(self) -> HashSet<u64> {
        self.duplicates
    }
}

/// Whether players do not contradict each other.
fn agree(a: Players, b: Players) -> bool {
    a.into_iter().zip(b).all(|pair| match pair {
        (Some(a), Some(b)) => a == b,
        _ => true,
    })
}

/// A hash of start position, main line and chapter of a study.
fn moves(record: &GameRecord, kind: u8) -> DefaultHasher {
    let mut hasher = DefaultHasher::new();
    kind.hash(&mut hasher);
    record.start().key().hash(&mut hasher);
    record.headers.study_chapter().hash(&mut hasher);
    for node in record.mainline() {
        node.mv().hash(&mut hasher);
    }
    hasher
}

/// A hash of the whole record.
fn content(record: &GameRecord) -> u128 {
    let mut hasher = moves(record, 2);
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

/// The hash of a name without case, punctuation and blanks. `None` for an unknown player.
fn known(name: Option<&str>) -> Option<u64> {
    let name = name.filter(|name| is_known_name(name))?;
    let mut hasher = DefaultHasher::new();
    let letters = name.chars().filter(|letter| letter.is_alphanumeric());
    letters.flat_map(char::to_lowercase).for_each(|letter| letter.hash(&mut hasher));
    Some(hasher.finish())
}
