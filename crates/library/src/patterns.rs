//! Searches for patterns of pieces in the moves of games.

use std::sync::{Arc, Mutex, PoisonError};

use readyok_rules::record::{BoardPattern, PatternSearch, PiecePlacement};
use readyok_rules::{Game, PieceKind, Position};
use rusqlite::Connection;

use crate::bitset::BitSet;
use crate::codec::moves::{NULL, main_line};
use crate::codec::position_of;
use crate::error::Error;

/// Number of games that are read with one query.
const BATCH: usize = 4096;

/// A range of games is read as a whole if at least one of so many games in it is wanted: a row costs less in order.
const SPARSE: u32 = 8;

/// Maximum number of patterns whose games are cached.
const MAX_CACHED: usize = 8;

/// The indexes from the top left by the numbers of squares in codes of moves (shogi).
const SHOGI_SQUARES: [u8; 81] = {
    let mut squares = [0; 81];
    let mut square = 0;
    while square < 81 {
        squares[square] = (square % 9 * 9 + 8 - square / 9) as u8;
        square += 1;
    }
    squares
};

/// Kinds in the order of codes of moves.
const PROMOTIONS: [PieceKind; 4] =
    [PieceKind::Knight, PieceKind::Bishop, PieceKind::Rook, PieceKind::Queen];
const DROPS: [PieceKind; 7] = [
    PieceKind::Pawn,
    PieceKind::Lance,
    PieceKind::Knight,
    PieceKind::Silver,
    PieceKind::Bishop,
    PieceKind::Rook,
    PieceKind::Gold,
];

/// Plays the move of a code. Codes of damaged files move other pieces or none.
#[inline]
fn play(placement: &mut PiecePlacement, code: u16) {
    if code == NULL {
        return placement.pass();
    }
    let [to, from] = [code & 0x7F, code >> 7 & 0x7F].map(|square| square as u8);
    if placement.game() == Game::Shogi {
        let square = |index: u8| SHOGI_SQUARES.get(usize::from(index)).copied();
        let Some(to) = square(to) else { return };
        match square(from) {
            Some(from) if code >> 14 == 1 => placement.move_and_promote(from, to),
            Some(from) => placement.move_piece(from, to, None),
            None => {
                if let Some(kind) = DROPS.get(usize::from(from - 81)) {
                    placement.drop_piece(*kind, to);
                }
            }
        }
    } else {
        let promotion = (from >= 64).then(|| PROMOTIONS[usize::from(code >> 14)]);
        placement.move_piece(from % 64 ^ 56, to % 64 ^ 56, promotion);
    }
}

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

    /// Searches games, in descending order. `visit` is called with each and can end the search; the answers to all
    /// patterns are known then.
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

    /// Replays a game.
    fn search(
        &mut self,
        game: u32,
        (variant, start, moves): (Game, Option<&str>, &[u8]),
        searches: &mut [PatternSearch<'_>],
    ) {
        for known in &mut self.found {
            known.searched.insert(game);
        }
        let mut placement = match (start, variant) {
            (None, Game::Chess | Game::Chess960) => self.starts[0].clone(),
            (None, Game::Shogi) => self.starts[1].clone(),
            (Some(_), _) => match position_of(variant, start) {
                Ok(position) => PiecePlacement::new(&position),
                // A damaged game does not match.
                Err(_) => return,
            },
        };
        for search in searches.iter_mut() {
            search.restart();
        }
        let mut open = self
            .patterns
            .iter()
            .zip(searches)
            .zip(&mut self.found)
            .filter(|((pattern, _), _)| pattern.is_of(variant))
            .map(|((_, search), known)| (search, known))
            .collect::<Vec<_>>();
        let mut add = |placement: &PiecePlacement| {
            open.retain_mut(|(search, known)| {
                let is_found = search.add(placement).is_some();
                if is_found {
                    known.matching.insert(game);
                }
                !is_found
            });
            open.is_empty()
        };
        if add(&placement) {
            return;
        }
        for code in main_line(moves) {
            play(&mut placement, code);
            if add(&placement) {
                return;
            }
        }
        for (search, known) in open {
            if search.end().is_some() {
                known.matching.insert(game);
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
