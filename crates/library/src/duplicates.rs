//! Duplicates: games with the same moves whose headers show that they are one game, by [`GameIdentity`].

use std::collections::HashMap;

use readyok_rules::record::{AnnotationCount, GameIdentity, Headers, Tag};
use rusqlite::Connection;

use crate::codec::annotations;
use crate::codec::tags;
use crate::error::Error;
use crate::game::{GameEntry, NewGame, StoredGame};
use crate::snapshot::{Snapshot, Summaries};
use crate::summary::{NameId, Summary};

/// Number of games with one hash whose rows are compared; among more, only games of equal names are found.
pub(crate) const MAX_CANDIDATES: usize = 100;

impl NewGame {
    /// Whether the games have the same start position and main line, and their headers show that they are one game.
    fn is_duplicate(&self, other: &Self) -> bool {
        let (a, b) = (&self.summary, &other.summary);
        (a.variant, a.plies, &self.start) == (b.variant, b.plies, &other.start)
            // With variations the bytes differ although the main lines are equal; the hash is that of the main line.
            && (a.variations || b.variations || self.moves == other.moves)
            && a.date.is_compatible(b.date)
            && self.identity().is_same(&other.identity(), || self.is_identical(other))
    }

    /// Whether all headers, moves and annotations are equal, as when a file is imported again.
    fn is_identical(&self, other: &Self) -> bool {
        self.players == other.players
            && (&self.event, &self.site) == (&other.event, &other.site)
            && (&self.moves, &self.annotations) == (&other.moves, &other.annotations)
            && self.tags == other.tags
            && (self.summary.date, self.summary.result)
                == (other.summary.date, other.summary.result)
    }

    /// What the headers show; corrupt ones show nothing.
    fn identity(&self) -> GameIdentity {
        self.identity_with(&tags::decode(&self.tags, self.known()).unwrap_or_default())
    }

    pub(crate) fn identity_with(&self, headers: &Headers) -> GameIdentity {
        let players = self.players.each_ref().map(String::as_str);
        let Summary { variant, date, plies, .. } = self.summary;
        // The game has no site if that is an address.
        let site = headers.get(Tag::Site.name(variant)).unwrap_or_default();
        let names = [self.event.as_str(), site];
        GameIdentity::new(players, names, headers, date, plies.into())
    }

    fn annotation_count(&self) -> AnnotationCount {
        annotations::count(self.summary.variant, &self.moves, &self.annotations)
    }
}

/// Whether a new game has more annotations than a known one with the same moves.
pub(crate) fn has_more_annotations(new: &NewGame, known: &StoredGame) -> bool {
    known.annotation_count() < new.annotation_count()
}

/// A hash of the surname; 0 for an unknown player.
pub(crate) fn surname_hash(name: &str) -> u32 {
    GameIdentity::surname(name).map_or(0, |hash| u32::try_from(hash >> 32).unwrap_or(0).max(1))
}

/// Finds games of the database that equal new ones, while games are added.
#[derive(Debug)]
pub(crate) struct DuplicateFinder {
    /// Hashes and games, sorted.
    sorted: Vec<(u32, u32)>,
    /// Those added since `sorted` was sorted.
    recent: HashMap<u32, Vec<u32>>,
    /// Hashes of surnames by the numbers of names; 0 also for those that are not read yet.
    surnames: Vec<u32>,
    /// The largest number of a name that was read.
    last_name: i64,
}

impl DuplicateFinder {
    /// A finder of all games of a snapshot.
    pub(crate) fn new(connection: &Connection, snapshot: &Snapshot) -> Result<Self, Error> {
        let games = snapshot.summaries.iter_rev();
        let mut sorted: Vec<_> =
            games.map(|(game, summary)| (summary.moves_hash(), game)).collect();
        sorted.sort_unstable();
        let (recent, surnames) = Default::default();
        let mut finder = Self { sorted, recent, surnames, last_name: 0 };
        finder.read_names(connection)?;
        Ok(finder)
    }

    /// Adds what another process has added or changed. Entries of changed games that remain are harmless: rows are
    /// compared.
    pub(crate) fn update(
        &mut self,
        connection: &Connection,
        old: &Summaries,
        new: &Summaries,
    ) -> Result<(), Error> {
        self.read_names(connection)?;
        for (game, summary) in new.iter_rev() {
            let hash = summary.moves_hash();
            if old.raw(game).is_none_or(|known| known.moves_hash() != hash) {
                self.recent.entry(hash).or_default().push(game);
            }
        }
        self.sort_if_many();
        Ok(())
    }

    fn read_names(&mut self, connection: &Connection) -> Result<(), Error> {
        let mut names = connection.prepare_cached("SELECT id, text FROM name WHERE id > ?1")?;
        let mut rows = names.query([self.last_name])?;
        while let Some(row) = rows.next()? {
            let text = row.get_ref(1)?.as_str().unwrap_or_default();
            self.set_name(row.get(0)?, surname_hash(text));
            self.last_name = self.last_name.max(row.get(0)?);
        }
        Ok(())
    }

    fn set_name(&mut self, name: NameId, hash: u32) {
        let at = name as usize;
        if self.surnames.len() <= at {
            self.surnames.resize(at + 1, 0);
        }
        self.surnames[at] = hash;
    }

    /// Adds a game with its complete summary.
    pub(crate) fn insert(&mut self, game: u32, summary: &Summary, players: &[String; 2]) {
        for (id, name) in summary.players.into_iter().zip(players) {
            if id as usize >= self.surnames.len() {
                self.set_name(id, surname_hash(name));
            }
        }
        self.recent.entry(summary.moves_hash).or_default().push(game);
        self.sort_if_many();
    }

    fn sort_if_many(&mut self) {
        if self.recent.len() > 10_000 + self.sorted.len() / 16 {
            let recent = self.recent.drain();
            self.sorted.extend(
                recent.flat_map(|(hash, games)| games.into_iter().map(move |game| (hash, game))),
            );
            self.sorted.sort_unstable();
        }
    }

    /// A game of the database that equals a new one: one with as many annotations, or that with most of them.
    pub(crate) fn find(
        &self,
        connection: &Connection,
        summaries: &Summaries,
        new: &NewGame,
    ) -> Result<Option<Duplicate>, Error> {
        let hash = new.summary.moves_hash;
        let sorted = &self.sorted[self.sorted.partition_point(|entry| entry.0 < hash)..];
        let sorted = sorted.iter().take_while(|entry| entry.0 == hash).map(|entry| entry.1);
        let mut names = None;
        let mut compared = 0;
        let mut most: Option<(AnnotationCount, u32)> = None;
        for game in sorted.chain(self.recent.get(&hash).into_iter().flatten().copied()) {
            let Some(known) = summaries.raw(game) else { continue };
            let names = *names
                .get_or_insert_with(|| new.players.each_ref().map(|player| surname_hash(player)));
            let can_be = |(new, known): (u32, NameId)| {
                let known = self.surnames.get(known as usize).copied().unwrap_or(0);
                new == known || new == 0 || known == 0
            };
            // Reads only rows that can be equal: many games have no or few moves.
            if known.plies() == new.summary.plies
                && known.date().is_compatible(new.summary.date)
                && names.into_iter().zip(known.players()).all(can_be)
                && compared < MAX_CANDIDATES
                && let Some(stored) = StoredGame::read(connection, game)?
            {
                if stored.is_duplicate(new) {
                    let count = stored.annotation_count();
                    if new.annotation_count() <= count {
                        return Ok(Some(Duplicate { game, has_fewer_annotations: false }));
                    }
                    if most.is_none_or(|(most, _)| most < count) {
                        most = Some((count, game));
                    }
                }
                compared += 1;
            }
        }
        Ok(most.map(|(_, game)| Duplicate { game, has_fewer_annotations: true }))
    }
}

/// The visible game with the address of a new one on Lichess or chess.com.
pub(crate) fn find_online(
    connection: &Connection,
    summaries: &Summaries,
    new: &NewGame,
) -> Result<Option<u32>, Error> {
    let Some(online) = tags::online_game(&new.tags) else { return Ok(None) };
    let mut find = connection.prepare_cached("SELECT id, tags FROM game WHERE online = ?1")?;
    let mut rows = find.query([tags::online_key(&online)])?;
    while let Some(row) = rows.next()? {
        let (game, known) = (row.get(0)?, row.get_ref(1)?.as_blob().unwrap_or_default());
        if summaries.raw(game).is_some() && tags::online_game(known).as_ref() == Some(&online) {
            return Ok(Some(game));
        }
    }
    Ok(None)
}

/// A known game that equals a new one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Duplicate {
    pub(crate) game: u32,
    /// The new game has more annotations than all known ones.
    pub(crate) has_fewer_annotations: bool,
}

/// Duplicates of which the user has not decided yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Undecided {
    /// Each with the known game, unless that was deleted.
    pub games: Vec<(GameEntry, Option<GameEntry>)>,
    /// Number of all.
    pub total: usize,
}

pub(crate) fn undecided(
    connection: &Connection,
    snapshot: &Snapshot,
    limit: usize,
) -> Result<Undecided, Error> {
    let total: i64 =
        connection.query_row("SELECT count(*) FROM undecided", [], |row| row.get(0))?;
    let mut statement =
        connection.prepare_cached("SELECT game, known FROM undecided ORDER BY game LIMIT ?1")?;
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let mut rows = statement.query([limit])?;
    let mut games = Vec::new();
    while let Some(row) = rows.next()? {
        let (game, known) = (row.get(0)?, row.get(1)?);
        let Some(stored) = StoredGame::read(connection, game)? else { continue };
        let entry = GameEntry::read(connection, game, stored.summary)?;
        let known = snapshot
            .summaries
            .get(known)
            .map(|summary| GameEntry::read(connection, known, summary));
        games.push((entry, known.transpose()?));
    }
    Ok(Undecided { games, total: usize::try_from(total).unwrap_or(0) })
}
