//! Searches for patterns of pieces in the moves of games.

use std::sync::{Arc, Mutex, PoisonError};

use readyok_rules::record::{
    BoardPattern, MaterialAnswer, MaterialSignature, PatternSearch, PiecePlacement,
};
use readyok_rules::{Game, Position};
use rusqlite::Connection;

use crate::bitset::BitSet;
use crate::codec::cursor::material_run;
use crate::codec::moves::{main_line, play_code};
use crate::codec::position_of;
use crate::error::Error;
use crate::snapshot::Snapshot;

/// Number of games that are read with one query.
const BATCH: usize = 4096;

/// A range of games is read as a whole if at least one of so many games in it is wanted: a row costs less in order.
const SPARSE: u32 = 8;

/// Maximum number of patterns whose games are cached.
const MAX_CACHED: usize = 8;

/// Games whose answers to a pattern are known.
#[derive(Debug, Clone, Default)]
struct KnownGames {
    searched: BitSet,
    matching: BitSet,
}

/// The games of recent patterns. Their moves never change: edited games are not in it.
#[derive(Debug, Default)]
pub(crate) struct PatternCache(Mutex<Vec<(BoardPattern, Arc<KnownGames>)>>);

impl PatternCache {
    fn get(&self, pattern: &BoardPattern) -> Arc<KnownGames> {
        let cached = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let found = cached.iter().find(|(known, _)| known == pattern);
        found.map(|(_, games)| Arc::clone(games)).unwrap_or_default()
    }

    fn set(&self, pattern: &BoardPattern, games: KnownGames) {
        let mut cached = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        cached.retain(|(known, _)| known != pattern);
        if cached.len() >= MAX_CACHED {
            cached.remove(0);
        }
        cached.push((pattern.clone(), Arc::new(games)));
    }
}

/// A search for several patterns, which replays a game once for all of them.
pub(crate) struct PatternScan<'a> {
    patterns: Vec<&'a BoardPattern>,
    known: Vec<Arc<KnownGames>>,
    /// Answers of this search, by pattern.
    found: Vec<KnownGames>,
    starts: [PiecePlacement; 2],
}

impl<'a> PatternScan<'a> {
    pub(crate) fn new(patterns: Vec<&'a BoardPattern>, cache: &PatternCache) -> Self {
        let known = patterns.iter().map(|pattern| cache.get(pattern)).collect();
        let found = vec![KnownGames::default(); patterns.len()];
        let starts =
            [Game::Chess, Game::Shogi].map(|game| PiecePlacement::new(&Position::start(game)));
        Self { patterns, known, found, starts }
    }

    /// Whether there are no patterns.
    pub(crate) fn is_empty(&self) -> bool {
        self.patterns.is_empty()
    }

    /// Whether a game matches a pattern, if that is known.
    #[inline]
    pub(crate) fn answer(&self, pattern: usize, (game, is_edited): (u32, bool)) -> Option<bool> {
        let cached = Some(self.known.get(pattern)?.as_ref()).filter(|_| !is_edited);
        cached
            .into_iter()
            .chain(self.found.get(pattern))
            .find(|known| known.searched.contains(game))
            .map(|known| known.matching.contains(game))
    }

    /// Answers patterns for as many games as possible by the index of material.
    pub(crate) fn search_material(
        &mut self,
        connection: &Connection,
        snapshot: &Snapshot,
    ) -> Result<(), Error> {
        // Patterns that the start position can match exclude no game.
        let starts = self.starts.each_ref().map(MaterialSignature::new);
        let excludes = |pattern: &BoardPattern| {
            starts.iter().all(|start| pattern.allows(*start) == MaterialAnswer::No)
        };
        let patterns: Vec<(usize, &BoardPattern)> =
            self.patterns.iter().copied().enumerate().filter(|(_, it)| excludes(it)).collect();
        if patterns.is_empty() {
            return Ok(());
        }
        let mut seen = BitSet::default();
        let mut possible = vec![BitSet::default(); patterns.len()];
        let mut last: Option<MaterialSignature> = None;
        let mut answers = vec![MaterialAnswer::No; patterns.len()];
        snapshot.scan_material(connection, |material, run, game| {
            seen.insert(game);
            if last != Some(material) {
                last = Some(material);
                for ((_, pattern), answer) in patterns.iter().zip(&mut answers) {
                    *answer = pattern.allows(material);
                }
            }
            for (at, answer) in answers.iter().enumerate() {
                if *answer == MaterialAnswer::No {
                    continue;
                }
                possible[at].insert(game);
                let (index, pattern) = patterns[at];
                let (plies, is_last) = material_run(run);
                if *answer == MaterialAnswer::Yes && pattern.is_long_enough(plies, is_last) {
                    self.found[index].matching.insert(game);
                }
            }
        })?;
        // Of the possible games, the moves decide.
        for ((index, _), possible) in patterns.into_iter().zip(possible) {
            let found = &mut self.found[index];
            for game in seen.iter() {
                if found.matching.contains(game) || !possible.contains(game) {
                    found.searched.insert(game);
                }
            }
        }
        Ok(())
    }

    /// Searches games, in descending order. The answers to all patterns are known then. `after_batch` is called with the
    /// number of games that were searched.
    pub(crate) fn run(
        &mut self,
        connection: &Connection,
        games: &[u32],
        variant: impl Fn(u32) -> Game,
        mut after_batch: impl FnMut(usize) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let patterns = self.patterns.clone();
        let mut searches: Vec<PatternSearch<'_>> =
            patterns.iter().map(|pattern| pattern.search()).collect();
        let mut range = connection.prepare_cached(
            "SELECT id, start, moves FROM game WHERE id BETWEEN ?1 AND ?2 ORDER BY id DESC",
        )?;
        let mut done = 0;
        for batch in games.chunks(BATCH) {
            let (Some(&high), Some(&low)) = (batch.first(), batch.last()) else { continue };
            let is_dense = (high - low) / SPARSE < batch.len() as u32;
            let ranges: Vec<(u32, u32)> = if is_dense {
                vec![(low, high)]
            } else {
                batch.iter().map(|game| (*game, *game)).collect()
            };
            let mut wanted = batch.iter().copied().peekable();
            for (low, high) in ranges {
                let mut rows = range.query([low, high])?;
                while let Some(row) = rows.next()? {
                    let game: u32 = row.get(0)?;
                    while wanted.next_if(|next| *next > game).is_some() {}
                    if wanted.next_if_eq(&game).is_none() {
                        continue;
                    }
                    let start = row.get_ref(1)?.as_str_or_null().unwrap_or_default();
                    let moves = row.get_ref(2)?.as_blob().unwrap_or_default();
                    self.search(game, (variant(game), start, moves), &mut searches);
                }
            }
            done += batch.len();
            after_batch(done)?;
        }
        Ok(())
    }

    /// Replays a game for each pattern: there are rarely more than one.
    fn search(
        &mut self,
        game: u32,
        (variant, start, moves): (Game, Option<&str>, &[u8]),
        searches: &mut [PatternSearch<'_>],
    ) {
        let read;
        let start = match (start, variant) {
            (None, Game::Chess | Game::Chess960) => Some(&self.starts[0]),
            (None, Game::Shogi) => Some(&self.starts[1]),
            (Some(_), _) => {
                // A damaged game does not match.
                read = position_of(variant, start).ok().map(|start| PiecePlacement::new(&start));
                read.as_ref()
            }
        };
        for ((pattern, search), found) in self.patterns.iter().zip(searches).zip(&mut self.found) {
            found.searched.insert(game);
            if let Some(start) = start
                && pattern.is_of(variant)
                && is_in(search, start.clone(), moves)
            {
                found.matching.insert(game);
            }
        }
    }

    /// Keeps the answers for games that are not edited.
    pub(crate) fn store(self, cache: &PatternCache, is_edited: impl Fn(u32) -> bool) {
        for ((pattern, known), found) in self.patterns.into_iter().zip(self.known).zip(self.found) {
            let mut all = Arc::unwrap_or_clone(known);
            for game in found.searched.iter().filter(|game| !is_edited(*game)) {
                all.searched.insert(game);
                if found.matching.contains(game) {
                    all.matching.insert(game);
                }
            }
            cache.set(pattern, all);
        }
    }
}

/// Whether a pattern is in the main line of encoded moves.
fn is_in(search: &mut PatternSearch<'_>, mut placement: PiecePlacement, moves: &[u8]) -> bool {
    search.restart();
    if search.add(&placement).is_some() {
        return true;
    }
    for code in main_line(moves) {
        play_code(&mut placement, code);
        if search.add(&placement).is_some() {
            return true;
        }
    }
    search.end().is_some()
}
