//! Games that follow a tree of moves, such as a repertoire, and where they leave it.

use std::cmp::Reverse;
use std::collections::HashMap;

use readyok_rules::record::{GameRecord, Node, NodeId, RecordMove, ResultCounts};
use readyok_rules::{GameResult, Move, Position};
use rusqlite::Connection;

use crate::bitset::BitSet;
use crate::codec::moves::code_of;
use crate::error::Error;
use crate::game::StoredGame;
use crate::matcher::{Filter, matching};
use crate::postings::{END_OF_GAME, Key};
use crate::snapshot::Snapshot;
use crate::summary::Raw;
use crate::text_cache::Caches;

/// A game that reached a position of a tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RepertoireGame {
    /// The game.
    pub game: u32,
    /// The deepest node whose position the game reached and left with another move or its end.
    pub node: NodeId,
    /// The code of the move that is not in the tree, or [`END_OF_GAME`].
    pub mv: u16,
    /// The result of the game.
    pub result: GameResult,
}

/// A move with which games leave a tree, or their end in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RepertoirePlace {
    /// The last node of the tree.
    pub node: NodeId,
    /// The code of the move that is not in the tree, or [`END_OF_GAME`].
    pub mv: u16,
    /// The results of the games.
    pub counts: ResultCounts,
    /// The games, in the order of their numbers.
    pub games: Vec<u32>,
}

impl RepertoirePlace {
    /// The places where games leave a tree, in descending order of games.
    pub fn group(games: impl IntoIterator<Item = RepertoireGame>) -> Vec<Self> {
        let mut places: HashMap<(NodeId, u16), (ResultCounts, Vec<u32>)> = HashMap::new();
        for RepertoireGame { game, node, mv, result } in games {
            let (counts, games) = places.entry((node, mv)).or_default();
            counts.add(result);
            games.push(game);
        }
        let mut places: Vec<Self> = places
            .into_iter()
            .map(|((node, mv), (counts, games))| Self { node, mv, counts, games })
            .collect();
        places.sort_by_key(|place| (Reverse(place.games.len()), place.node, place.mv));
        places
    }
}

/// A position of the tree.
struct TreePosition {
    node: NodeId,
    ply: usize,
    position: Position,
    /// Codes of the moves of the tree in this position, of all its nodes.
    moves: Vec<u16>,
}

/// The positions of a tree after at least one move, by key. Of several nodes with one position the first counts.
fn positions(tree: &GameRecord) -> HashMap<u64, TreePosition> {
    let mut positions: HashMap<u64, TreePosition> = HashMap::new();
    let mut open = vec![(NodeId::ROOT, tree.start().clone(), 0_usize)];
    while let Some((at, position, ply)) = open.pop() {
        let known = positions.entry(position.key()).or_insert_with(|| TreePosition {
            node: at,
            ply,
            position: position.clone(),
            moves: Vec::new(),
        });
        let children: Vec<(NodeId, Move)> =
            tree.children(at).filter_map(|node| Some((node.id(), node.mv()?.legal()?))).collect();
        known.moves.extend(children.iter().map(|(_, mv)| code_of(*mv)));
        for (id, mv) in children.into_iter().rev() {
            let mut after = position.clone();
            if after.play(mv).is_ok() {
                open.push((id, after, ply + 1));
            }
        }
    }
    // Every game of its variant begins there.
    positions.retain(|_, position| position.ply > 0);
    positions
}

/// The games that match a filter and reach a position of a tree, in the order of their numbers.
pub(crate) fn search(
    connection: &Connection,
    caches: &Caches,
    snapshot: &Snapshot,
    tree: &GameRecord,
    filter: Filter<'_>,
) -> Result<Vec<RepertoireGame>, Error> {
    let matching = matching(connection, caches, snapshot, filter)?;
    let is_match = |game: u32| matching.as_ref().is_none_or(|set| set.contains(game));
    let positions = positions(tree);
    let mut exits = Exits { positions: &positions, games: HashMap::new() };
    let mut order: Vec<(&u64, &TreePosition)> = positions.iter().collect();
    order.sort_by_key(|(key, _)| **key);
    for (done, (key, position)) in order.iter().enumerate() {
        filter.report(done, order.len())?;
        let mut leaves: HashMap<u16, bool> = HashMap::new();
        snapshot.find(connection, Key::of(**key), |mv, game| {
            let leaves = *leaves.entry(mv).or_insert_with(|| position.leaves(mv, &positions));
            if leaves
                && is_match(game)
                && let Some(summary) = snapshot.summaries.raw(game)
            {
                exits.add((game, summary.result()), position, mv);
            }
        })?;
    }
    // Games that are not in the index are replayed.
    let is_indexed = |game| snapshot.summaries.raw(game).is_none_or(Raw::is_indexed);
    let others: BitSet = snapshot
        .summaries
        .iter_rev()
        .map(|(game, _)| game)
        .filter(|game| !is_indexed(*game) && is_match(*game))
        .collect();
    for game in others.iter() {
        if let Some(stored) = StoredGame::read(connection, game)?
            && let Ok(record) = stored.record()
        {
            exits.replay(game, &record);
        }
    }
    let mut found: Vec<RepertoireGame> = exits.games.into_values().map(|(_, exit)| exit).collect();
    found.sort_unstable_by_key(|exit| exit.game);
    Ok(found)
}

impl TreePosition {
    /// Whether a move leads to a position that is not in the tree.
    fn leaves(&self, code: u16, positions: &HashMap<u64, Self>) -> bool {
        if code == END_OF_GAME {
            return true;
        }
        if self.moves.contains(&code) {
            return false;
        }
        let Some(mv) = crate::codec::moves::move_of(&self.position, code) else { return true };
        let mut after = self.position.clone();
        after.play(mv).is_err() || !positions.contains_key(&after.key())
    }
}

/// Where games leave a tree, with the depth of the position.
struct Exits<'a> {
    positions: &'a HashMap<u64, TreePosition>,
    games: HashMap<u32, (usize, RepertoireGame)>,
}

impl Exits<'_> {
    fn add(&mut self, (game, result): (u32, GameResult), position: &TreePosition, mv: u16) {
        let exit = RepertoireGame { game, node: position.node, mv, result };
        let known = self.games.entry(game).or_insert((position.ply, exit));
        if known.0 < position.ply {
            *known = (position.ply, exit);
        }
    }

    fn replay(&mut self, game: u32, record: &GameRecord) {
        let moves = record.mainline().map(Node::mv).map_while(|mv| match mv? {
            RecordMove::Legal(mv) => Some(code_of(mv)),
            RecordMove::Null => Some(crate::codec::moves::NULL),
            RecordMove::Illegal(_) => None,
        });
        let positions = self.positions;
        for (position, mv) in record.positions().zip(moves.chain([END_OF_GAME])) {
            if let Some(position) = positions.get(&position.key())
                && position.leaves(mv, positions)
            {
                self.add((game, record.result), position, mv);
            }
        }
    }
}
