//! Games in the library and in the logs of open games.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::ops::RangeInclusive;
use std::sync::{Arc, mpsc};

use readyok_library::{Duplicates, GameEntry, Library, NewGame, Receipt, Source, StoredGame};
use readyok_rules::record::GameRecord;
use rusqlite::{OptionalExtension, params};

use super::{Store, StoreError, StoredReport, dated};
use crate::game::{GameSession, GameSnapshot, Searched, Tree};
use crate::time::{Moment, date_text};
use crate::wire::{GameId, LibraryGame, MatchId, Sides};

/// An open game as it is in its log.
pub(super) struct SavedGame {
    snapshot: GameSnapshot,
    /// Not less than the revision of the game in the library; its log has one more.
    revision: u32,
    /// The time of the last change.
    changed: i64,
    /// Whether the game in the library is the same.
    is_folded: bool,
}

/// An open game that is written to the library while its log receives further changes.
pub(crate) struct Folding {
    pub(crate) id: GameId,
    snapshot: GameSnapshot,
    changed: i64,
    /// The revision of the game in the library.
    revision: u32,
}

impl Folding {
    /// Replaces the game in the library, unless it has a newer state. It takes time in proportion to the size of the
    /// game.
    pub(crate) fn write(&self, library: &Library) -> Result<(), StoreError> {
        if let Some(summary) = library.summary(self.id) {
            let game = self.snapshot.to_game(summary.source, self.changed);
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
    report: Option<(StoredReport, Vec<Searched>)>,
    labels: Vec<String>,
    /// Its matches, with its numbers there.
    matches: Vec<(MatchId, u32)>,
}

/// A game of the library.
pub(crate) struct Loaded {
    pub(crate) session: GameSession,
    pub(crate) report: Option<(StoredReport, Vec<Searched>)>,
}

/// A game as it was read.
pub(crate) struct ReadGame {
    id: GameId,
    content: Content,
    report: Option<(StoredReport, Vec<Searched>)>,
    library: Arc<Library>,
}

enum Content {
    Open(Box<GameSnapshot>),
    Stored(Box<StoredGame>),
}

impl ReadGame {
    /// Decodes the game, which takes time for a large tree. None if it is damaged.
    pub(crate) fn load(self, now: Moment) -> Option<Loaded> {
        let session = match &self.content {
            Content::Open(snapshot) => GameSession::from_open(self.id, &snapshot.to_open(), now),
            Content::Stored(game) => GameSession::from_game(self.id, game, now),
        };
        Some(Loaded::new(&self.library, session?, self.report))
    }
}

impl Loaded {
    fn new(
        library: &Library,
        mut session: GameSession,
        report: Option<(StoredReport, Vec<Searched>)>,
    ) -> Self {
        if session.rematch().is_some_and(|it| library.summary(it).is_none()) {
            session.set_rematch(None);
            session.take_unsaved();
        }
        Self { session, report }
    }
}

/// A record as a game to add.
pub(crate) fn new_game(record: &GameRecord, source: Source, at: Moment) -> NewGame {
    NewGame::from_record(record, source, dated(at))
}

/// A new game as a search returns it.
pub(crate) fn listed_new(id: GameId, game: &NewGame) -> LibraryGame {
    let NewGame { summary, players, event, opening, added_ms, .. } = game;
    listed(GameEntry {
        id,
        summary: *summary,
        players: players.clone(),
        event: event.clone(),
        opening: opening.clone(),
        added_ms: *added_ms,
        changed_ms: *added_ms,
        labels: Vec::new(),
    })
}

/// A game as a search returns it.
pub(crate) fn listed(entry: GameEntry) -> LibraryGame {
    let GameEntry { id, summary, players: [first, second], event, opening, .. } = entry;
    let known = |rating: u16| (rating > 0).then_some(rating);
    let time = |at: i64| u64::try_from(at).unwrap_or(0);
    LibraryGame {
        id,
        variant: summary.variant.into(),
        names: Sides { first, second },
        ratings: Sides { first: known(summary.ratings[0]), second: known(summary.ratings[1]) },
        result: summary.result.as_str().to_owned(),
        termination: summary.termination,
        date: date_text(summary.date),
        event: Some(event).filter(|it| !it.is_empty()),
        opening: opening.map(|(eco, name)| {
            [eco, name].into_iter().filter(|it| !it.is_empty()).collect::<Vec<_>>().join(" ")
        }),
        plies: summary.plies.into(),
        added: time(entry.added_ms),
        changed: time(entry.changed_ms),
        source: match summary.source {
            Source::Play => "play",
            Source::Import => "import",
            Source::Match => "match",
        }
        .to_owned(),
        labels: entry.labels,
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
        self.begin_log(id, session.snapshot())?;
        Ok(id)
    }

    fn add(&self, games: Vec<NewGame>) -> Result<GameId, StoreError> {
        let added = self.library.add(games)?;
        added.first().copied().ok_or(StoreError::Closed)
    }

    /// Saves changes of games. The results are in the order of the games.
    pub(crate) fn save(
        &mut self,
        games: Vec<(GameId, GameSnapshot)>,
        at: Moment,
    ) -> Vec<Result<(), StoreError>> {
        let at = dated(at);
        // The logs write all appended changes in one transaction.
        let begun: Vec<_> = games.iter().map(|(id, game)| self.append(*id, game, at)).collect();
        let saved = games.into_iter().zip(begun).map(|((id, snapshot), appended)| {
            match appended {
                Appended::Replaced(result) => return result,
                Appended::Written(result) => result?,
                Appended::Queued(done) => {
                    done.recv().map_err(|_| StoreError::Closed)??;
                }
            }
            let Some(saved) = self.saved.get_mut(&id) else { return Ok(()) };
            let has_ended = snapshot.outcome.is_some() && saved.snapshot.outcome.is_none();
            (saved.snapshot, saved.changed, saved.is_folded) = (snapshot, at, false);
            if has_ended {
                // After an error it is folded later; the change is in the log.
                let _ = self.fold(id);
            }
            Ok(())
        });
        saved.collect()
    }

    fn append(&self, id: GameId, snapshot: &GameSnapshot, at: i64) -> Appended {
        let Some(saved) = self.saved.get(&id) else {
            return Appended::Replaced(self.replace(id, snapshot, at));
        };
        let Some(entries) = snapshot.changes_since(&saved.snapshot) else {
            let begun = self.logs.begin(id, saved.revision, &snapshot.to_open(), at);
            return Appended::Written(begun.map_err(StoreError::from));
        };
        let (sender, done) = mpsc::channel();
        // Without a receiver the result is not needed.
        self.logs.append(id, &entries, at, move |result| drop(sender.send(result)));
        Appended::Queued(done)
    }

    /// Replaces a game that has no log.
    fn replace(&self, id: GameId, snapshot: &GameSnapshot, at: i64) -> Result<(), StoreError> {
        if let Some(summary) = self.library.summary(id) {
            self.library.replace(id, snapshot.to_game(summary.source, at))?;
        }
        Ok(())
    }

    /// Replaces the game in the library by the open one.
    fn fold(&mut self, id: GameId) -> Result<(), StoreError> {
        let Some(saved) = self.saved.get_mut(&id).filter(|saved| !saved.is_folded) else {
            return Ok(());
        };
        let Some(summary) = self.library.summary(id) else { return Ok(()) };
        let game = saved.snapshot.to_game(summary.source, saved.changed);
        // A log with an earlier revision would be deleted at the next start.
        self.logs.set_revision(id, saved.revision + 1)?;
        saved.revision += 1;
        saved.is_folded = self.library.replace(id, game)?;
        Ok(())
    }

    /// The open games that have changed since they were written to the library. The caller writes them, which does not
    /// delay further changes.
    pub(crate) fn begin_folding(&mut self) -> Result<Vec<Folding>, StoreError> {
        let mut games = Vec::new();
        for (&id, saved) in self.saved.iter_mut().filter(|(_, saved)| !saved.is_folded) {
            let Some(revision) = self.library.revision(id)? else { continue };
            self.logs.set_revision(id, saved.revision + 1)?;
            saved.revision += 1;
            saved.is_folded = true;
            let (snapshot, changed) = (saved.snapshot.clone(), saved.changed);
            games.push(Folding { id, snapshot, changed, revision });
        }
        Ok(games)
    }

    /// Games of [`Self::begin_folding`] could not be written.
    pub(crate) fn abort_folding(&mut self, games: &[GameId]) {
        for id in games {
            if let Some(saved) = self.saved.get_mut(id) {
                saved.is_folded = false;
            }
        }
    }

    /// The games that were open, with the reports.
    pub(crate) fn open_games(&mut self) -> Vec<Loaded> {
        let mut games = Vec::new();
        for open in std::mem::take(&mut self.restored) {
            let (id, at) = (open.game, Moment::try_from(open.changed_ms).unwrap_or(0));
            // A damaged log is not deleted.
            let Some(session) = GameSession::from_open(id, &open.tree, at) else { continue };
            let saved = SavedGame {
                snapshot: session.snapshot(),
                revision: open.revision.saturating_sub(1),
                changed: open.changed_ms,
                is_folded: false,
            };
            self.saved.insert(id, saved);
            games.push(self.loaded(session));
        }
        games
    }

    fn loaded(&self, session: GameSession) -> Loaded {
        // A report that cannot be read is made again.
        let report = self.report(session.id()).ok().flatten();
        Loaded::new(&self.library, session, report)
    }

    /// Reads a game, which is not decoded yet. None if it does not exist.
    pub(crate) fn game(&self, id: GameId) -> Result<Option<ReadGame>, StoreError> {
        let content = match self.saved.get(&id) {
            Some(saved) => Content::Open(Box::new(saved.snapshot.clone())),
            None => match self.library.game(id)? {
                Some(game) => Content::Stored(Box::new(game)),
                None => return Ok(None),
            },
        };
        let report = self.report(id).ok().flatten();
        Ok(Some(ReadGame { id, content, report, library: Arc::clone(&self.library) }))
    }

    /// Begins the log of a game of the library, unless it has one.
    pub(crate) fn begin_log(
        &mut self,
        id: GameId,
        snapshot: GameSnapshot,
    ) -> Result<(), StoreError> {
        let Entry::Vacant(entry) = self.saved.entry(id) else { return Ok(()) };
        let Some(game) = self.library.game(id)? else { return Ok(()) };
        let (revision, changed) = (game.revision, game.changed_ms);
        self.logs.begin(id, revision, &snapshot.to_open(), changed)?;
        entry.insert(SavedGame { snapshot, revision, changed, is_folded: true });
        Ok(())
    }

    /// Replaces a game in the library by its last state, and deletes its log.
    pub(crate) fn end_log(&mut self, id: GameId) -> Result<(), StoreError> {
        self.fold(id)?;
        if self.saved.contains_key(&id) {
            self.logs.discard(id)?;
            self.saved.remove(&id);
        }
        Ok(())
    }

    /// Deletes games. Returns how many existed.
    pub(crate) fn delete(&mut self, games: &[GameId]) -> Result<usize, StoreError> {
        for id in games {
            if self.saved.remove(id).is_some() {
                self.logs.discard(*id)?;
            }
        }
        let deleted = self.library.delete(games.to_vec())?;
        let change = self.db.transaction()?;
        for table in ["report", "judgement", "match_game"] {
            let mut delete =
                change.prepare_cached(&format!("DELETE FROM {table} WHERE game = ?1"))?;
            for id in games {
                delete.execute([id])?;
            }
        }
        change.commit()?;
        Ok(deleted)
    }

    /// Forgets the games of the last deletion.
    pub(crate) fn begin_deletion(&mut self) {
        self.deleted.clear();
    }

    /// Deletes games, which can be restored. Returns how many existed.
    pub(crate) fn delete_restorable(&mut self, games: &[GameId]) -> Result<usize, StoreError> {
        for id in games {
            self.fold(*id)?;
            let Some(game) = self.library.game(*id)? else { continue };
            let labels = self.library.entries(&[*id])?.pop().map(|it| it.labels);
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
        let games: Vec<_> = self.deleted[first..].iter().map(|it| it.game.clone()).collect();
        self.library.restore(games)?;
        let mut labeled: BTreeMap<String, Vec<GameId>> = BTreeMap::new();
        let restored = self.deleted.split_off(first);
        let count = restored.len();
        for DeletedGame { game, labels, report, matches } in restored {
            let id = game.id;
            for label in labels {
                labeled.entry(label).or_default().push(id);
            }
            if let Some((report, judgements)) = report {
                self.begin_report(id, &report)?;
                for judgement in &judgements {
                    self.save_judgement(id, judgement)?;
                }
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
            let Some(game) = outcomes.first().map(|it| it.game()) else { continue };
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
        Ok(game.filter(|it| self.library.summary(*it).is_some()))
    }
}

/// The source of the games of a match.
fn receipt_of(id: MatchId) -> String {
    format!("match {id}")
}

fn match_of(source: &str) -> Option<MatchId> {
    source.strip_prefix("match ")?.parse().ok()
}

/// How a change was written.
enum Appended {
    /// In the library.
    Replaced(Result<(), StoreError>),
    /// As a new log.
    Written(Result<(), StoreError>),
    /// The result follows.
    Queued(mpsc::Receiver<Result<(), readyok_library::Error>>),
}
