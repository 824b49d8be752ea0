//! Searches for patterns of pieces in the moves of games.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use readyok_rules::record::{
    BoardPattern, MaterialAnswer, MaterialSignature, PatternSearch, PiecePlacement,
};
use readyok_rules::{Game, Position};
use rusqlite::Connection;

use crate::bitset::BitSet;
use crate::codec::cursor::material_run;
use crate::codec::moves::{main_line, play_code};
use crate::codec::position_of;
use crate::error::{Error, LibraryDefect};
use crate::pattern_cache::{KnownGames, PatternCache};
use crate::schema;
use crate::snapshot::Snapshot;
use crate::summary::Raw;

/// Number of games that are read with one query.
const BATCH: usize = 4096;

/// A range of games is read as a whole if at least one of this number of games in it is wanted: a row costs less in order.
const SPARSE: usize = 8;

/// Maximum number of threads of a search.
const MAX_THREADS: usize = 8;

/// Minimum number of games of a thread.
const MIN_PART: usize = 20_000;

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

    /// Replays games, in descending order, with several threads if there are many. The answers to all patterns are known
    /// then. `report` is called with the number of games that were searched, and can end the search by an error.
    pub(crate) fn run(
        &mut self,
        connection: &Connection,
        snapshot: &Snapshot,
        games: &[u32],
        report: impl Fn(usize) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let threads = thread::available_parallelism().map_or(1, usize::from).min(MAX_THREADS);
        let size = games.len().div_ceil(threads).max(MIN_PART);
        let Some((own, others)) = games.split_at_checked(size.min(games.len())) else {
            return Ok(());
        };
        let Self { patterns, starts, .. } = &*self;
        let replay = Replay { patterns, starts, snapshot, progress: ReplayProgress::default() };
        let path = connection.path().map(PathBuf::from);
        let done = || report(replay.progress.done.load(Ordering::Relaxed));
        let found = thread::scope(|scope| {
            let others: Vec<_> = others
                .chunks(size)
                .map(|part| {
                    let (path, replay) = (path.as_deref(), &replay);
                    (part, scope.spawn(move || replay.run_in_thread(path, part)))
                })
                .collect();
            let stop = |error: Error| {
                replay.progress.is_stopped.store(true, Ordering::Relaxed);
                error
            };
            let mut all = vec![replay.run(connection, own, done).map_err(stop)?];
            for (part, worker) in others {
                while !worker.is_finished() {
                    done().map_err(stop)?;
                    thread::park_timeout(Duration::from_millis(20));
                }
                all.push(match worker.join() {
                    Ok(Ok(Some(found))) => found,
                    // Another process has written in the meantime: only this connection reads the earlier state.
                    Ok(Ok(None)) => replay.run(connection, part, done).map_err(stop)?,
                    Ok(Err(error)) => return Err(stop(error)),
                    Err(_) => return Err(stop(LibraryDefect::LibraryClosed.into())),
                });
            }
            Ok::<_, Error>(all)
        })?;
        for (index, known) in found.into_iter().flat_map(|found| found.into_iter().enumerate()) {
            if let Some(found) = self.found.get_mut(index) {
                found.searched.add(&known.searched);
                found.matching.add(&known.matching);
            }
        }
        Ok(())
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

/// How far several threads are.
#[derive(Debug, Default)]
struct ReplayProgress {
    done: AtomicUsize,
    is_stopped: AtomicBool,
}

/// Replays the moves of games.
struct Replay<'a> {
    patterns: &'a [&'a BoardPattern],
    starts: &'a [PiecePlacement; 2],
    snapshot: &'a Snapshot,
    progress: ReplayProgress,
}

impl Replay<'_> {
    /// Searches games with a connection of its own. None if that has another state of the file.
    fn run_in_thread(
        &self,
        path: Option<&Path>,
        games: &[u32],
    ) -> Result<Option<Vec<KnownGames>>, Error> {
        let Some(path) = path else { return Ok(None) };
        let connection = schema::open_reader(path)?;
        let transaction = connection.unchecked_transaction()?;
        if schema::meta(&transaction, "generation")? != self.snapshot.generation {
            return Ok(None);
        }
        self.run(&transaction, games, || Ok(())).map(Some)
    }

    /// Searches games, and returns the answers by pattern.
    fn run(
        &self,
        connection: &Connection,
        games: &[u32],
        after_batch: impl Fn() -> Result<(), Error>,
    ) -> Result<Vec<KnownGames>, Error> {
        let mut found = vec![KnownGames::default(); self.patterns.len()];
        let mut searches: Vec<PatternSearch<'_>> =
            self.patterns.iter().map(|pattern| pattern.search()).collect();
        let mut range = connection.prepare_cached(
            "SELECT id, start, moves FROM game WHERE id BETWEEN ?1 AND ?2 ORDER BY id DESC",
        )?;
        for batch in games.chunks(BATCH) {
            let (Some(&high), Some(&low)) = (batch.first(), batch.last()) else { continue };
            let is_dense = (high - low) as usize / SPARSE < batch.len();
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
                    self.search(game, (start, moves), &mut searches, &mut found);
                }
            }
            if self.progress.is_stopped.load(Ordering::Relaxed) {
                return Err(Error::Cancelled);
            }
            self.progress.done.fetch_add(batch.len(), Ordering::Relaxed);
            after_batch()?;
        }
        Ok(found)
    }

    /// Replays a game for each pattern: there are rarely more than one.
    fn search(
        &self,
        game: u32,
        (start, moves): (Option<&str>, &[u8]),
        searches: &mut [PatternSearch<'_>],
        found: &mut [KnownGames],
    ) {
        let variant = self.snapshot.summaries.raw(game).map_or(Game::Chess, Raw::variant);
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
        for ((pattern, search), found) in self.patterns.iter().zip(searches).zip(found) {
            found.searched.insert(game);
            if let Some(start) = start
                && pattern.is_of(variant)
                && is_in(search, start.clone(), moves)
            {
                found.matching.insert(game);
            }
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
