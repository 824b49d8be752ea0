//! Games in the library, and open games.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use readyok_library::{Duplicates, GameEntry, Library, NewGame, Receipt, Source, StoredGame};
use readyok_rules::record::GameRecord;
use rusqlite::{OptionalExtension, params};

use super::damage::Aside;
use super::{Store, StoreError, StoredReport, dated};
use crate::game::{GameSession, StoredSession, Tree};
use crate::time::{Moment, date_text};
use crate::wire::{GameId, LibraryGame, MatchId, Sides};

/// An open game as it is in `app.sqlite`.
pub(super) struct OpenGame {
    pub(super) stored: StoredSession,
    /// The time of the last change.
    pub(super) changed: i64,
    /// Whether the game in the library is the same.
    pub(super) is_in_library: bool,
}

/// A version of an open game that is written to the library while the game changes further.
pub(crate) struct UnwrittenGame {
    pub(crate) id: GameId,
    stored: StoredSession,
    changed: i64,
    /// The revision of the game in the library.
    revision: u32,
}

impl UnwrittenGame {
    /// Replaces the game in the library, unless it was replaced in the meantime. It takes time in proportion to the
    /// size of the game.
    pub(crate) fn write(&self, library: &Library) -> Result<(), StoreError> {
        if let Some(summary) = library.summary(self.id) {
            let game = self.stored.to_game(summary.source, self.changed);
            library.replace_revision(self.id, self.revision, game)?;
        }
        Ok(())
    }
}

/// Maximum number of deleted games that are restored in one step. Changes of open games wait for a step.
const MAX_RESTORED: usize = 100;

/// A game that was deleted.
pub(super) struct DeletedGame {
    game: StoredGame,
    report: Option<StoredReport>,
    labels: Vec<String>,
    /// Its matches, with its numbers there.
    matches: Vec<(MatchId, u32)>,
}

/// A game that was read. To decode a stored one takes time for a large tree.
pub(crate) enum FoundGame {
    Open(Box<StoredSession>),
    Stored(Box<StoredGame>),
}

impl FoundGame {
    /// # Errors
    /// The game is damaged.
    pub(crate) fn decode(self) -> Result<StoredSession, readyok_library::Error> {
        match self {
            Self::Open(stored) => Ok(*stored),
            Self::Stored(game) => StoredSession::from_game(&game),
        }
    }
}

/// A record as a game to add.
pub(crate) fn new_game(record: &GameRecord, source: Source, at: Moment) -> NewGame {
    NewGame::from_record(record, source, dated(at))
}

/// A new game as a search returns it.
pub(crate) fn listed_new(id: GameId, game: &NewGame) -> LibraryGame {
    let NewGame { summary, players, event, opening, added_ms, .. } = game;
    let (evaluated, commented) = game.contents();
    listed(GameEntry {
        id,
        summary: *summary,
        players: players.clone(),
        event: event.clone(),
        opening: opening.clone(),
        added_ms: *added_ms,
        changed_ms: *added_ms,
        labels: Vec::new(),
        evaluated,
        commented,
    })
}

/// A game as a search returns it.
pub(crate) fn listed(entry: GameEntry) -> LibraryGame {
    let GameEntry { id, summary, players: [first, second], event, opening, .. } = entry;
    let known = |rating: u16| (rating > 0).then_some(rating);
    let time = |at: i64| u64::try_from(at).unwrap_or(0);
    LibraryGame {
        id,
        variant: summary.variant,
        names: Sides { first, second },
        ratings: Sides { first: known(summary.ratings[0]), second: known(summary.ratings[1]) },
        result: summary.result.as_str().to_owned(),
        termination: summary.termination,
        date: date_text(summary.date),
        event: Some(event).filter(|text| !text.is_empty()),
        opening: opening.map(|(eco, name)| {
            [eco, name].into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join(" ")
        }),
        plies: summary.plies.into(),
        added: time(entry.added_ms),
        changed: time(entry.changed_ms),
        source: summary.source,
        labels: entry.labels,
        evaluated: entry.evaluated,
        commented: entry.commented,
    }
}

impl Store {
    /// Adds a game to be opened. Its number is never used again.
    pub(crate) fn new_game(
        &mut self,
        record: &GameRecord,
        source: Source,
        at: Moment,
    ) -> Result<GameId, StoreError> {
        let id = self.add(vec![new_game(record, source, at)])?;
        let session = GameSession::new(id, Tree::from_record(record), at);
        self.open_game(id, session.stored())?;
        Ok(id)
    }

    /// Adds games. Returns their numbers in order.
    pub(crate) fn add_games(&mut self, games: Vec<NewGame>) -> Result<Vec<GameId>, StoreError> {
        Ok(self.library.add(games)?)
    }

    fn add(&self, games: Vec<NewGame>) -> Result<GameId, StoreError> {
        let added = self.library.add(games)?;
        added.first().copied().ok_or(StoreError::Closed)
    }

    /// Saves versions of games. The results are in the order of the games.
    pub(crate) fn save(
        &mut self,
        games: Vec<(GameId, StoredSession)>,
        at: Moment,
    ) -> Vec<Result<(), StoreError>> {
        let at = dated(at);
        let open = games.iter().filter(|(id, _)| self.open.contains_key(id));
        let together = self.write_rows(open.map(|(id, stored)| (*id, stored)), at);
        let saved = games.into_iter().map(|(id, stored)| {
            if !self.open.contains_key(&id) {
                return self.replace(id, &stored, at);
            }
            if together.is_err() {
                // A game that cannot be written does not affect the others.
                self.write_rows([(id, &stored)].into_iter(), at)?;
            }
            let has_ended = self.open.get(&id).is_some_and(|value| !value.stored.is_over());
            let has_ended = has_ended && stored.is_over();
            self.open.insert(id, OpenGame { stored, changed: at, is_in_library: false });
            if has_ended {
                // After an error it is written later.
                let _ = self.write_to_library(id);
            }
            Ok(())
        });
        saved.collect()
    }

    pub(super) fn write_rows<'a>(
        &self,
        games: impl Iterator<Item = (GameId, &'a StoredSession)>,
        at: i64,
    ) -> Result<(), StoreError> {
        let change = self.db.unchecked_transaction()?;
        for (id, stored) in games {
            let sql = "REPLACE INTO open_game (game, changed, document) VALUES (?1, ?2, ?3)";
            change.prepare_cached(sql)?.execute(params![id, at, stored.encode()])?;
        }
        Ok(change.commit()?)
    }

    /// Replaces a game that is not open.
    fn replace(&self, id: GameId, stored: &StoredSession, at: i64) -> Result<(), StoreError> {
        if let Some(summary) = self.library.summary(id) {
            self.library.replace(id, stored.to_game(summary.source, at))?;
        }
        Ok(())
    }

    /// Replaces the game in the library by the open one.
    fn write_to_library(&mut self, id: GameId) -> Result<(), StoreError> {
        let Some(open) = self.open.get_mut(&id).filter(|open| !open.is_in_library) else {
            return Ok(());
        };
        let Some(summary) = self.library.summary(id) else { return Ok(()) };
        let game = open.stored.to_game(summary.source, open.changed);
        open.is_in_library = self.library.replace(id, game)?;
        Ok(())
    }

    /// The open games that have changed since they were written to the library. The caller writes them, which does not
    /// delay further changes.
    pub(crate) fn begin_writing(&mut self) -> Result<Vec<UnwrittenGame>, StoreError> {
        let mut games = Vec::new();
        for (&id, open) in self.open.iter_mut().filter(|(_, open)| !open.is_in_library) {
            let Some(revision) = self.library.revision(id)? else { continue };
            open.is_in_library = true;
            let (stored, changed) = (open.stored.clone(), open.changed);
            games.push(UnwrittenGame { id, stored, changed, revision });
        }
        Ok(games)
    }

    /// Games of [`Self::begin_writing`] could not be written.
    pub(crate) fn abort_writing(&mut self, games: &[GameId]) {
        for id in games {
            if let Some(open) = self.open.get_mut(id) {
                open.is_in_library = false;
            }
        }
    }

    /// Reads the games that were open. Those that are damaged are kept in files of their own; they are in the library
    /// as they were written there.
    pub(super) fn read_open_games(&mut self, aside: &mut Aside<'_>) -> Result<(), StoreError> {
        let rows: Vec<(GameId, i64, Vec<u8>)> = {
            let mut query = self.db.prepare("SELECT game, changed, document FROM open_game")?;
            let rows = query.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
            rows.collect::<Result<_, _>>()?
        };
        for (row, changed, blob) in rows {
            let mut id = row;
            let stored = match StoredSession::decode(&blob) {
                Ok(stored) if stored.draft().is_some() => {
                    id = self.number_of_draft(row, &stored)?;
                    if id != row {
                        self.write_rows([(id, &stored)].into_iter(), changed)?;
                        self.db.execute("DELETE FROM open_game WHERE game = ?1", [row])?;
                    }
                    if self.library.summary(id).is_some() { stored.without_draft() } else { stored }
                }
                Ok(stored) if self.library.summary(id).is_some() => stored,
                unusable => {
                    // A game that is not in the library was deleted.
                    if unusable.is_err() {
                        aside.keep_game(id, &blob)?;
                    }
                    self.db.execute("DELETE FROM open_game WHERE game = ?1", [id])?;
                    continue;
                }
            };
            if stored.draft().is_none() {
                self.library.set_open(id, true);
            }
            self.open.insert(id, OpenGame { stored, changed, is_in_library: false });
        }
        Ok(())
    }

    /// The open games, with the reports.
    pub(crate) fn open_games(
        &self,
    ) -> impl Iterator<Item = (GameId, StoredSession, Option<StoredReport>)> {
        // A report that cannot be read is made again.
        let report = |id| self.report(id).ok().flatten();
        self.open.iter().map(move |(&id, open)| (id, open.stored.clone(), report(id)))
    }

    /// Reads a game with its report. None if it does not exist.
    pub(crate) fn game(
        &self,
        id: GameId,
    ) -> Result<Option<(FoundGame, Option<StoredReport>)>, StoreError> {
        if let Some(draft) = self.closed_draft(id) {
            let found = FoundGame::Open(Box::new(draft.stored.clone()));
            return Ok(Some((found, draft.report.clone())));
        }
        let game = match self.open.get(&id) {
            Some(open) => FoundGame::Open(Box::new(open.stored.clone())),
            None => match self.library.game(id)? {
                Some(game) => FoundGame::Stored(Box::new(game)),
                None => return Ok(None),
            },
        };
        Ok(Some((game, self.report(id).ok().flatten())))
    }

    /// Stores a game of the library as an open one, unless it is.
    pub(crate) fn open_game(
        &mut self,
        id: GameId,
        stored: StoredSession,
    ) -> Result<(), StoreError> {
        if self.open.contains_key(&id) || self.reopen_draft(id)? {
            return Ok(());
        }
        let Some(game) = self.library.game(id)? else { return Ok(()) };
        let changed = game.changed_ms;
        self.write_rows([(id, &stored)].into_iter(), changed)?;
        self.open.insert(id, OpenGame { stored, changed, is_in_library: true });
        self.library.set_open(id, true);
        Ok(())
    }

    /// Replaces a game in the library by its last version. It is not open any more.
    pub(crate) fn close_game(&mut self, id: GameId) -> Result<(), StoreError> {
        if self.open.get(&id).is_some_and(|open| open.stored.draft().is_some()) {
            return self.close_draft(id);
        }
        self.write_to_library(id)?;
        // After a kill in between, the game is open and equal.
        if self.open.contains_key(&id) {
            self.db.execute("DELETE FROM open_game WHERE game = ?1", [id])?;
            self.open.remove(&id);
            self.library.set_open(id, false);
        }
        Ok(())
    }

    /// Deletes games. Returns how many existed.
    pub(crate) fn delete(&mut self, games: &[GameId]) -> Result<usize, StoreError> {
        let deleted = self.library.delete(games.to_vec())? + self.forget_closed_drafts(games);
        // After a kill in between, the rows of open games have no game.
        for id in games {
            if self.open.remove(id).is_some_and(|open| open.stored.draft().is_none()) {
                self.library.set_open(*id, false);
            }
        }
        self.delete_rows(games)?;
        Ok(deleted)
    }

    /// Deletes what `app.sqlite` has of games.
    pub(super) fn delete_rows(&self, games: &[GameId]) -> Result<(), StoreError> {
        let change = self.db.unchecked_transaction()?;
        for table in ["open_game", "report", "judgement", "match_game"] {
            let mut delete =
                change.prepare_cached(&format!("DELETE FROM {table} WHERE game = ?1"))?;
            for id in games {
                delete.execute([id])?;
            }
        }
        Ok(change.commit()?)
    }

    /// Forgets the games of the last deletion.
    pub(crate) fn begin_deletion(&mut self) {
        self.deleted.clear();
    }

    /// Deletes games, which can be restored. Returns how many existed.
    pub(crate) fn delete_restorable(&mut self, games: &[GameId]) -> Result<usize, StoreError> {
        for id in games {
            self.write_to_library(*id)?;
            let Some(game) = self.library.game(*id)? else { continue };
            let labels = self.library.entries(&[*id])?.pop().map(|last| last.labels);
            let report = self.report(*id).ok().flatten();
            let labels = labels.unwrap_or_default();
            let matches = self.matches_of(*id)?;
            self.deleted.push(DeletedGame { game, report, labels, matches });
        }
        self.delete(games)
    }

    fn matches_of(&self, id: GameId) -> Result<Vec<(MatchId, u32)>, StoreError> {
        let query = "SELECT match_id, number FROM match_game WHERE game = ?1";
        let mut query = self.db.prepare_cached(query)?;
        let rows = query.query_map([id], |row| Ok((row.get(0)?, row.get(1)?)))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Restores some games of the last deletion. Returns how many; 0 if there are no more.
    pub(crate) fn restore_some(&mut self) -> Result<usize, StoreError> {
        let first = self.deleted.len().saturating_sub(MAX_RESTORED);
        let games: Vec<_> =
            self.deleted[first..].iter().map(|deleted| deleted.game.clone()).collect();
        self.library.restore(games)?;
        let mut labeled: BTreeMap<String, Vec<GameId>> = BTreeMap::new();
        let restored = self.deleted.split_off(first);
        let count = restored.len();
        for DeletedGame { game, labels, report, matches } in restored {
            let id = game.id;
            for label in labels {
                labeled.entry(label).or_default().push(id);
            }
            if let Some(report) = report {
                self.restore_report(id, &report)?;
            }
            for (match_id, number) in matches {
                // The match may have added the game again.
                self.link_match_game(match_id, number, id)?;
            }
        }
        for (label, games) in labeled {
            self.library.set_label(games, label, true)?;
        }
        Ok(count)
    }

    /// The games of a match that are in the library, in their order.
    pub(crate) fn match_games(&self, id: MatchId) -> Result<Vec<GameId>, StoreError> {
        let mut query = self
            .db
            .prepare_cached("SELECT game FROM match_game WHERE match_id = ?1 ORDER BY number")?;
        let games = query.query_map([id], |row| row.get(0))?;
        Ok(games.collect::<Result<_, _>>()?)
    }

    /// Adds a game of a match, unless it exists. Returns its number.
    pub(crate) fn add_match_game(
        &mut self,
        id: MatchId,
        number: u32,
        game: NewGame,
    ) -> Result<GameId, StoreError> {
        if let Some(game) = self.match_game(id, number)? {
            return Ok(game);
        }
        let batch = (&receipt_of(id)[..], number.into());
        let outcomes = self.library.add_once(batch, vec![game], Duplicates::Keep)?;
        let game = outcomes.first().copied().ok_or(StoreError::Closed)?.game();
        self.db.execute(
            "REPLACE INTO match_game (match_id, number, game) VALUES (?1, ?2, ?3)",
            params![id, number, game],
        )?;
        Ok(game)
    }

    pub(super) fn link_match_game(
        &self,
        id: MatchId,
        number: u32,
        game: GameId,
    ) -> Result<(), StoreError> {
        self.db.execute(
            "INSERT OR IGNORE INTO match_game (match_id, number, game) VALUES (?1, ?2, ?3)",
            params![id, number, game],
        )?;
        Ok(())
    }

    /// Links games of matches that were added before a crash.
    pub(super) fn link_match_games(&self) -> Result<(), StoreError> {
        for Receipt { source, batch, outcomes } in self.library.receipts()? {
            let Some(id) = match_of(&source) else { continue };
            let Some(game) = outcomes.first().map(|first| first.game()) else { continue };
            if self.library.summary(game).is_some() {
                self.link_match_game(id, u32::try_from(batch).unwrap_or(u32::MAX), game)?;
            }
        }
        Ok(())
    }

    /// Forgets deleted matches, whose numbers are used again. Their games remain.
    pub(crate) fn forget_matches(&self, ids: RangeInclusive<MatchId>) -> Result<(), StoreError> {
        for receipt in self.library.receipts()? {
            if match_of(&receipt.source).is_some_and(|id| ids.contains(&id)) {
                self.library.forget_receipt(&receipt.source)?;
            }
        }
        self.db.execute(
            "DELETE FROM match_game WHERE match_id BETWEEN ?1 AND ?2",
            [ids.start(), ids.end()],
        )?;
        Ok(())
    }

    /// The game of a match, if it is in the library.
    pub(crate) fn match_game(
        &self,
        id: MatchId,
        number: u32,
    ) -> Result<Option<GameId>, StoreError> {
        let query = "SELECT game FROM match_game WHERE match_id = ?1 AND number = ?2";
        let game: Option<GameId> =
            self.db.query_row(query, [id, number], |row| row.get(0)).optional()?;
        Ok(game.filter(|game| self.library.summary(*game).is_some()))
    }
}

/// The source of the games of a match.
fn receipt_of(id: MatchId) -> String {
    format!("match {id}")
}

fn match_of(source: &str) -> Option<MatchId> {
    source.strip_prefix("match ")?.parse().ok()
}
