//! The thread that owns the write connection: adds, replaces and deletes games, writes and merges runs.

pub(crate) mod rows;

use std::collections::BTreeSet;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use rusqlite::{Connection, OptionalExtension, params};

use crate::codec::KEY_SCHEME;
use crate::collection::{self, CollectionEdit};
use crate::duplicates::{Duplicate, DuplicateFinder, find_online, has_more_annotations};
use crate::error::{Error, LibraryDefect};
use crate::game::{Indexer, NewGame, StoredGame};
use crate::index::{self, Merge};
use crate::lock::ProcessLock;
use crate::names::{NameKind, merges};
use crate::outcome::{Decided, Decision, Duplicates, Outcome, Outcomes};
use crate::postings::Posting;
use crate::receipt;
use crate::schema::{self, set_meta};
use crate::snapshot::{CHUNK, Shared, Snapshot, Summaries};
use crate::summary::SIZE;

use rows::{
    Change, Names, change, commit, insert_row, none_if_empty, online_of, show, store_chunks,
};

/// Number of pending postings at which they become a run: 8 MiB.
pub(crate) const MAX_PENDING: usize = 1 << 19;

/// Pending postings become a run after this idle time.
const IDLE: Duration = Duration::from_mins(1);

/// Number of runs from which additions wait for merges: bounds the time of a query.
const MAX_RUNS: usize = 48;

/// A request to the writer, with the channel for its response.
#[derive(Debug)]
pub(crate) enum Request {
    Add {
        games: Vec<NewGame>,
        duplicates: Duplicates,
        /// The source and the number of the batch, if it is repeated after a crash.
        batch: Option<(String, u64)>,
        response: Sender<Outcomes>,
    },
    Forget(String, Sender<Result<(), Error>>),
    Decide {
        games: Option<Vec<u32>>,
        decision: Decision,
        response: Sender<Result<Decided, Error>>,
    },
    /// Takes a number that no other game gets: the given one if no game has it.
    Reserve(Option<u32>, Sender<Result<u32, Error>>),
    AddReserved {
        game: u32,
        new: Box<NewGame>,
        response: Sender<Result<bool, Error>>,
    },
    Restore(Vec<StoredGame>, Sender<Result<usize, Error>>),
    Replace {
        game: u32,
        new: Box<NewGame>,
        /// The game is replaced only if it has this revision.
        revision: Option<u32>,
        response: Sender<Result<bool, Error>>,
    },
    Delete(Vec<u32>, Sender<Result<usize, Error>>),
    Label {
        games: Vec<u32>,
        label: String,
        set: bool,
        response: Sender<Result<(), Error>>,
    },
    /// Changes a collection at a time.
    Collection(CollectionEdit, i64, Sender<Result<u32, Error>>),
    MergeNames {
        kind: NameKind,
        from: Vec<String>,
        to: String,
        at_ms: i64,
        response: Sender<Result<Option<(u32, usize)>, Error>>,
    },
    UndoNameMerge(u32, Sender<Result<Option<usize>, Error>>),
    /// Reads what other processes have written, as each request does.
    Refresh(Sender<Result<(), Error>>),
    /// Makes a run of all pending postings and merges runs; all of them if `true`.
    Flush(bool, Sender<Result<(), Error>>),
}

#[derive(Debug)]
pub(crate) struct Writer {
    connection: Connection,
    lock: ProcessLock,
    shared: Arc<Shared>,
    state: Snapshot,
    names: Names,
    /// Made by the first batch whose duplicates are not kept.
    finder: Option<DuplicateFinder>,
    indexer: Indexer,
    pending: usize,
    max_pending: usize,
    /// The merge in progress.
    merge: Option<Merge>,
    /// The file was read, and games that are not indexed are not known yet.
    must_recover: bool,
    /// The last game that is indexed again while the file is opened.
    recovered: Option<u32>,
}

impl Writer {
    /// Reads the state of the file.
    pub(crate) fn load(mut connection: Connection) -> Result<(Connection, Snapshot), Error> {
        if schema::meta(&connection, "key_scheme")? != KEY_SCHEME {
            let transaction = connection.transaction()?;
            index::clear(&transaction)?;
            transaction.execute("DELETE FROM unindexed", [])?;
            set_meta(&transaction, "indexed", 1)?;
            set_meta(&transaction, "key_scheme", KEY_SCHEME)?;
            transaction.commit()?;
        }
        let snapshot = {
            let transaction = connection.transaction()?;
            Snapshot::load(&transaction)?
        };
        Ok((connection, snapshot))
    }

    pub(crate) fn new(
        (connection, lock): (Connection, ProcessLock),
        shared: Arc<Shared>,
        state: Snapshot,
        (indexer, max_pending): (Indexer, usize),
    ) -> Self {
        Self {
            connection,
            lock,
            shared,
            state,
            names: Names::default(),
            finder: None,
            indexer,
            pending: 0,
            max_pending,
            merge: None,
            must_recover: true,
            recovered: None,
        }
    }

    /// Handles a request while no other process writes, on the newest state of the file.
    fn exclusively<T>(
        &mut self,
        handle: impl FnOnce(&mut Self) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let guard = self.lock.acquire()?;
        let shared = Arc::clone(&self.shared);
        let writing = shared.writing.lock().unwrap_or_else(PoisonError::into_inner);
        let is_alone = self.lock.is_alone();
        self.refresh()?;
        let result = handle(self);
        if !is_alone {
            // After an error, each process indexes these games again, as after a kill.
            let _ = self.flush_and_merge();
        }
        drop(writing);
        drop(guard);
        if !is_alone {
            ProcessLock::pause();
        }
        result
    }

    /// Reads what another process has written, and indexes games that are not.
    fn refresh(&mut self) -> Result<(), Error> {
        if schema::meta(&self.connection, "generation")? != self.state.generation {
            let transaction = self.connection.transaction()?;
            let state = Snapshot::load(&transaction)?;
            transaction.finish()?;
            let old = std::mem::replace(&mut self.state, state);
            // Postings in memory are computed again, unless the other process has stored them.
            self.pending = 0;
            (self.merge, self.recovered, self.must_recover) = (None, None, true);
            // Numbers of names never change.
            if let Some(finder) = &mut self.finder {
                let summaries = &self.state.summaries;
                if finder.update(&self.connection, &old.summaries, summaries).is_err() {
                    self.finder = None;
                }
            }
            self.shared.publish(self.state.clone());
        }
        if std::mem::take(&mut self.must_recover) {
            // Searches by position miss games that were not indexed; the next start tries again.
            let _ = self.recover();
        }
        Ok(())
    }

    /// Indexes games again whose postings were only in memory.
    fn recover(&mut self) -> Result<(), Error> {
        let indexed = schema::meta(&self.connection, "indexed")?;
        let mut after = 0;
        loop {
            let games: Vec<u32> = {
                let mut statement = self.connection.prepare_cached(
                    "SELECT id FROM game WHERE id > ?1
                     AND (id >= ?2 OR id IN (SELECT game FROM unindexed)) ORDER BY id LIMIT 500",
                )?;
                let rows = statement.query_map([after, indexed], |row| row.get(0))?;
                rows.collect::<Result<_, _>>()?
            };
            let Some(last) = games.last() else {
                self.recovered = None;
                return Ok(());
            };
            after = i64::from(*last);
            self.recovered = Some(*last);
            let mut postings = Vec::new();
            for game in games {
                let stored = StoredGame::read(&self.connection, game)?;
                let Some(stored) = stored else { continue };
                postings.extend(self.postings_of(&stored));
            }
            self.add_pending(postings);
            self.flush_if_large()?;
            self.shared.publish(self.state.clone());
        }
    }

    fn postings_of(&self, stored: &StoredGame) -> impl Iterator<Item = Posting> + use<> {
        let summary = &stored.summary;
        // A game that cannot be read is found by its summary only.
        let keys = (summary.exists && summary.is_indexed()).then(|| (self.indexer)(stored));
        let game = stored.id;
        let keys = keys.flatten().unwrap_or_default();
        keys.into_iter().map(move |(key, mv)| Posting::new(key, mv, game))
    }

    /// Handles requests until all senders are gone.
    pub(crate) fn run(mut self, requests: &Receiver<Request>) {
        let _ = self.exclusively(|writer| writer.start_merge(false));
        loop {
            let wait = if self.merge.is_some() { Duration::ZERO } else { IDLE };
            match requests.recv_timeout(wait) {
                Ok(request) => self.handle(request),
                Err(RecvTimeoutError::Timeout) if self.merge.is_some() => {
                    // A merge that failed is tried again after the next flush.
                    if self.exclusively(Self::merge_step).is_err() {
                        self.merge = None;
                    }
                }
                Err(RecvTimeoutError::Timeout) => {
                    if !self.state.pending.is_empty() {
                        // Tried again later; the games are indexed again at the next start.
                        let _ = self.exclusively(|writer| {
                            writer.flush().and_then(|()| writer.start_merge(false))
                        });
                    }
                    self.drop_caches();
                }
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        if !self.state.pending.is_empty() {
            let _ = self.exclusively(Self::flush);
        }
    }

    /// Handles a request. Responses to callers that have gone are dropped.
    fn handle(&mut self, request: Request) {
        match request {
            Request::Add { games, duplicates, batch, response } => {
                let result =
                    self.exclusively(|writer| writer.add(&games, duplicates, batch.as_ref()));
                let _ = response.send(result);
            }
            Request::Forget(source, response) => {
                let result =
                    self.exclusively(|writer| receipt::forget(&writer.connection, &source));
                let _ = response.send(result);
            }
            Request::Decide { games, decision, response } => {
                let _ = response.send(self.exclusively(|writer| writer.decide(games, decision)));
            }
            Request::Restore(games, response) => {
                let _ = response.send(self.exclusively(|writer| writer.restore(&games)));
            }
            Request::Reserve(known, response) => {
                let _ = response.send(self.exclusively(|writer| writer.reserve(known)));
            }
            Request::AddReserved { game, new, response } => {
                let result = self.exclusively(|writer| writer.add_reserved(game, &new));
                let _ = response.send(result);
            }
            Request::Replace { game, new, revision, response } => {
                let result = self.exclusively(|writer| writer.replace(game, &new, revision));
                let _ = response.send(result);
            }
            Request::Delete(games, response) => {
                let _ = response.send(self.exclusively(|writer| writer.delete(&games)));
            }
            Request::Label { games, label, set, response } => {
                let result = self.exclusively(|writer| writer.label(&games, &label, set));
                let _ = response.send(result);
            }
            Request::Collection(edit, at, response) => {
                let result =
                    self.exclusively(|writer| collection::apply(&mut writer.connection, &edit, at));
                let _ = response.send(result);
            }
            Request::MergeNames { kind, from, to, at_ms, response } => {
                let result = self.exclusively(|writer| writer.merge_names(kind, &from, &to, at_ms));
                let _ = response.send(result);
            }
            Request::UndoNameMerge(merge, response) => {
                let _ = response.send(self.exclusively(|writer| writer.undo_name_merge(merge)));
            }
            Request::Refresh(response) => {
                let _ = response.send(self.exclusively(|_| Ok(())));
            }
            Request::Flush(all, response) => {
                let result = self.exclusively(Self::flush).and_then(|()| self.merge_all(all));
                self.drop_caches();
                let _ = response.send(result);
            }
        }
    }

    fn drop_caches(&mut self) {
        self.names = Names::default();
        self.finder = None;
    }

    fn add(
        &mut self,
        games: &[NewGame],
        duplicates: Duplicates,
        batch: Option<&(String, u64)>,
    ) -> Outcomes {
        let known = batch.map(|batch| receipt::find(&self.connection, batch, games)).transpose()?;
        let mut outcomes = match known.flatten() {
            Some(outcomes) => outcomes,
            None => self.add_new(games, duplicates, batch)?,
        };
        if duplicates == Duplicates::Replace {
            for (game, outcome) in games.iter().zip(&mut outcomes) {
                let Outcome::Duplicate(id) = *outcome else { continue };
                let Some(known) = StoredGame::read(&self.connection, id)? else { continue };
                if !has_more_annotations(game, &known) {
                    continue;
                }
                if self.shared.is_open(id) || known.play.is_some() || !known.layer.is_empty() {
                    let asked = self.add_new(std::slice::from_ref(game), Duplicates::Ask, None)?;
                    *outcome = asked.first().copied().unwrap_or(*outcome);
                } else if self.replace(id, game, None)? {
                    *outcome = Outcome::Replaced(id);
                }
            }
        }
        Ok(outcomes)
    }

    fn add_new(
        &mut self,
        games: &[NewGame],
        duplicates: Duplicates,
        batch: Option<&(String, u64)>,
    ) -> Outcomes {
        self.flush_if_large()?;
        self.names.limit();
        if duplicates != Duplicates::Keep && self.finder.is_none() {
            self.finder = Some(DuplicateFinder::new(&self.connection, &self.state)?);
        }
        let result = self.insert(games, duplicates, batch);
        if result.is_err() {
            // They can have numbers of rows that were rolled back.
            self.drop_caches();
        }
        let (outcomes, summaries, postings) = result?;
        self.state.summaries = summaries;
        self.add_pending(postings);
        self.state.generation += 1;
        self.shared.publish(self.state.clone());
        Ok(outcomes)
    }

    fn insert(
        &mut self,
        games: &[NewGame],
        duplicates: Duplicates,
        batch: Option<&(String, u64)>,
    ) -> Result<(Vec<Outcome>, Summaries, Vec<Posting>), Error> {
        let transaction = self.connection.transaction()?;
        let mut summaries = self.state.summaries.clone();
        let first_chunk = summaries.len() / CHUNK;
        let mut outcomes = Vec::with_capacity(games.len());
        let mut postings = Vec::with_capacity(games.iter().map(|game| game.postings.len()).sum());
        // Numbers are never used again.
        let mut next = schema::meta(&transaction, "next_game")?;
        for game in games {
            if duplicates == Duplicates::SkipOnline
                && let Some(known) = find_online(&transaction, &summaries, game)?
            {
                outcomes.push(Outcome::Duplicate(known));
                continue;
            }
            let known = match &self.finder {
                Some(finder) if duplicates != Duplicates::Keep => {
                    finder.find(&transaction, &summaries, game)?
                }
                _ => None,
            };
            // Neither loses what the other has: it is added as a game of its own.
            let skips = [Duplicates::Skip, Duplicates::SkipOnline].contains(&duplicates);
            let is_added = |known: &Duplicate| skips && known.has_fewer_annotations;
            let known = known.filter(|known| !is_added(known)).map(|known| known.game);
            if let Some(known) = known
                && duplicates != Duplicates::Ask
            {
                outcomes.push(Outcome::Duplicate(known));
                continue;
            }
            let id = u32::try_from(next).map_err(|_| Error::Defect(LibraryDefect::LibraryFull))?;
            next += 1;
            let (mut summary, site) = self.names.resolve(&transaction, game)?;
            summary.exists = known.is_none();
            let bytes = summary.to_bytes();
            insert_row(&transaction, id, (bytes, site), game, None)?;
            summaries.set(id, bytes);
            if let Some(known) = known {
                transaction
                    .prepare_cached("INSERT INTO undecided (game, known) VALUES (?1, ?2)")?
                    .execute([id, known])?;
                outcomes.push(Outcome::Undecided(known));
                continue;
            }
            if summary.is_indexed() {
                postings.extend(game.postings.iter().map(|&(key, mv)| Posting::new(key, mv, id)));
            }
            outcomes.push(Outcome::Added(id));
            if let Some(finder) = &mut self.finder {
                finder.insert(id, &summary, &game.players);
            }
        }
        if let Some(batch) = batch {
            receipt::store(&transaction, batch, games, &outcomes)?;
        }
        store_chunks(&transaction, &summaries, first_chunk..summaries.len() / CHUNK)?;
        set_meta(&transaction, "next_game", next)?;
        set_meta(&transaction, "generation", self.state.generation + 1)?;
        transaction.commit()?;
        Ok((outcomes, summaries, postings))
    }

    fn reserve(&mut self, known: Option<u32>) -> Result<u32, Error> {
        let transaction = self.connection.transaction()?;
        let next = schema::meta(&transaction, "next_game")?;
        let free = known.filter(|id| self.state.summaries.raw(*id).is_none());
        let id = match free {
            Some(id) => id,
            None => u32::try_from(next).map_err(|_| Error::Defect(LibraryDefect::LibraryFull))?,
        };
        set_meta(&transaction, "next_game", next.max(i64::from(id) + 1))?;
        transaction.commit()?;
        Ok(id)
    }

    /// Adds a game with a reserved number. It counts as changed now: later games have larger numbers.
    fn add_reserved(&mut self, id: u32, new: &NewGame) -> Result<bool, Error> {
        let transaction = self.connection.transaction()?;
        let next = schema::meta(&transaction, "next_game")?;
        if self.state.summaries.raw(id).is_some() || i64::from(id) >= next {
            return Ok(false);
        }
        let (mut summary, site) = self.names.resolve(&transaction, new)?;
        summary.edited = true;
        let stored = StoredGame {
            id,
            game: NewGame { summary, ..new.clone() },
            changed_ms: new.added_ms,
            revision: 1,
            changed_before: u32::try_from(next).unwrap_or(u32::MAX),
        };
        insert_row(&transaction, id, (summary.to_bytes(), site), &stored, Some(&stored))?;
        let changed = change(&transaction, &self.state, &[(id, summary.to_bytes())], &[id])?;
        transaction.commit()?;
        let postings = new.postings.iter().filter(|_| summary.is_indexed());
        let postings = postings.map(|&(key, mv)| Posting::new(key, mv, id)).collect();
        self.after_change(changed, &[id], postings)?;
        Ok(true)
    }

    /// Replaces everything of a game but its number and the time when it was added.
    fn replace(&mut self, game: u32, new: &NewGame, expected: Option<u32>) -> Result<bool, Error> {
        let Some(old) = self.state.summaries.get(game) else { return Ok(false) };
        let transaction = self.connection.transaction()?;
        if let Some(expected) = expected {
            let sql = "SELECT revision FROM game WHERE id = ?1";
            let revision: u32 = transaction.query_row(sql, [game], |row| row.get(0))?;
            if revision != expected {
                return Ok(false);
            }
        }
        let (mut summary, site) = self.names.resolve(&transaction, new)?;
        summary.edited = true;
        let moved = summary.moves_hash != old.moves_hash
            || summary.plies != old.plies
            || summary.is_indexed() != old.is_indexed();
        transaction.execute(
            "UPDATE game SET summary = ?2, site = ?3, changed = ?4, revision = revision + 1,
             start = ?5, moves = ?6, tags = ?7, annotations = ?8, layer = ?9, play = ?10,
             online = ?11,
             changed_before = (SELECT value FROM meta WHERE name = 'next_game') WHERE id = ?1",
            params![
                game,
                summary.to_bytes(),
                site,
                new.added_ms,
                new.start,
                new.moves,
                none_if_empty(&new.tags),
                none_if_empty(&new.annotations),
                none_if_empty(&new.layer),
                new.play,
                online_of(new),
            ],
        )?;
        let moved = if moved { &[game][..] } else { &[] };
        let changed = change(&transaction, &self.state, &[(game, summary.to_bytes())], moved)?;
        transaction.commit()?;
        let is_indexed = !moved.is_empty() && summary.is_indexed();
        let postings = new.postings.iter().filter(|_| is_indexed);
        let postings = postings.map(|&(key, mv)| Posting::new(key, mv, game)).collect();
        self.after_change(changed, moved, postings)?;
        Ok(true)
    }

    /// Adds deleted games again, with their numbers. Returns how many did not exist.
    fn restore(&mut self, games: &[StoredGame]) -> Result<usize, Error> {
        let transaction = self.connection.transaction()?;
        let next = schema::meta(&transaction, "next_game")?;
        let mut visible = Vec::new();
        for game in games {
            if self.state.summaries.raw(game.id).is_some() || i64::from(game.id) >= next {
                continue;
            }
            let site = self.names.name(&transaction, &game.site)?;
            let row = (game.summary.to_bytes(), site);
            insert_row(&transaction, game.id, row, game, Some(game))?;
            visible.push(game.clone());
        }
        let changed = show(&transaction, &self.state, &visible)?;
        transaction.commit()?;
        self.after_show(changed, &visible)?;
        Ok(visible.len())
    }

    /// Adds, deletes or merges undecided duplicates.
    fn decide(&mut self, games: Option<Vec<u32>>, decision: Decision) -> Result<Decided, Error> {
        let mut pairs: Vec<(u32, u32)> = {
            let sql = "SELECT game, known FROM undecided ORDER BY game";
            let mut statement = self.connection.prepare_cached(sql)?;
            let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
            rows.collect::<Result<_, _>>()?
        };
        if let Some(games) = games {
            let games: BTreeSet<u32> = games.into_iter().collect();
            pairs.retain(|(game, _)| games.contains(game));
        }
        let all = pairs.len();
        if decision == Decision::Replace {
            pairs.retain(|(_, known)| !self.shared.is_open(*known));
        }
        for pairs in pairs.chunks(500) {
            let mut shown = Vec::new();
            let mut hidden = Vec::new();
            for &(game, known) in pairs {
                let known = self.state.summaries.raw(known).map(|_| known);
                match (decision, known) {
                    (Decision::Skip, _) => hidden.push(game),
                    (Decision::Replace, Some(known)) => {
                        if let Some(stored) = StoredGame::read(&self.connection, game)? {
                            let postings = (self.indexer)(&stored).unwrap_or_default();
                            let new = NewGame { postings, ..stored.game };
                            self.replace(known, &new, None)?;
                        }
                        hidden.push(game);
                    }
                    (Decision::Keep | Decision::Replace, _) => {
                        shown.extend(StoredGame::read(&self.connection, game)?);
                    }
                }
            }
            for game in &mut shown {
                game.game.summary.exists = true;
            }
            let transaction = self.connection.transaction()?;
            for game in &hidden {
                transaction.prepare_cached("DELETE FROM game WHERE id = ?1")?.execute([game])?;
            }
            for game in &shown {
                transaction
                    .prepare_cached("UPDATE game SET summary = ?2 WHERE id = ?1")?
                    .execute(params![game.id, game.summary.to_bytes()])?;
            }
            for (game, _) in pairs {
                transaction
                    .prepare_cached("DELETE FROM undecided WHERE game = ?1")?
                    .execute([game])?;
            }
            let changed = show(&transaction, &self.state, &shown)?;
            transaction.commit()?;
            self.after_show(changed, &shown)?;
        }
        Ok(Decided { decided: pairs.len(), open: all - pairs.len() })
    }

    /// Publishes games that became visible.
    fn after_show(&mut self, changed: Change, games: &[StoredGame]) -> Result<(), Error> {
        let ids: Vec<u32> = games.iter().map(|game| game.id).collect();
        let postings = games.iter().flat_map(|game| self.postings_of(game)).collect();
        self.after_change(changed, &ids, postings)
    }

    /// Publishes changed games, those whose moves changed with new postings.
    fn after_change(
        &mut self,
        (summaries, runs): Change,
        moved: &[u32],
        postings: Vec<Posting>,
    ) -> Result<(), Error> {
        if !moved.is_empty() {
            self.finder = None;
            // The merge continues with the new list of void games.
            self.merge = None;
            let moved: BTreeSet<u32> = moved.iter().copied().collect();
            for batch in &mut self.state.pending {
                if batch.iter().any(|posting| moved.contains(&posting.game())) {
                    let others = batch.iter().filter(|posting| !moved.contains(&posting.game()));
                    *batch = others.copied().collect();
                }
            }
        }
        (self.state.summaries, self.state.runs) = (summaries, runs);
        self.state.generation += 1;
        self.add_pending(postings);
        self.shared.publish(self.state.clone());
        self.flush_if_large()?;
        self.start_merge(false)
    }

    /// Deletes games. Returns how many existed.
    fn delete(&mut self, games: &[u32]) -> Result<usize, Error> {
        let mut deleted = 0;
        for games in games.chunks(500) {
            let transaction = self.connection.transaction()?;
            let mut gone = Vec::new();
            for &game in games {
                let rows = transaction
                    .prepare_cached("DELETE FROM game WHERE id = ?1")?
                    .execute([game])?;
                if rows > 0 {
                    transaction
                        .prepare_cached("DELETE FROM label WHERE game = ?1")?
                        .execute([game])?;
                    gone.push((game, [0; SIZE]));
                }
            }
            // Merges drop the postings of deleted games.
            let changed = change(&transaction, &self.state, &gone, &[])?;
            transaction.commit()?;
            self.after_change(changed, &[], Vec::new())?;
            deleted += gone.len();
        }
        Ok(deleted)
    }

    fn merge_names(
        &mut self,
        kind: NameKind,
        from: &[String],
        to: &str,
        at_ms: i64,
    ) -> Result<Option<(u32, usize)>, Error> {
        // Names that are rolled back would keep their numbers.
        self.drop_caches();
        let transaction = self.connection.transaction()?;
        let target = Names::default().name(&transaction, to)?;
        let mut sources = Vec::new();
        for name in from {
            let sql = "SELECT id FROM name WHERE text = ?1";
            let found: Option<u32> =
                transaction.query_row(sql, [name], |row| row.get(0)).optional()?;
            sources.extend(found.filter(|id| *id != target));
        }
        if sources.is_empty() || target == 0 {
            return Ok(None);
        }
        let (merge, games) =
            merges::merge(&transaction, &self.state, kind, (&sources, target), at_ms)?;
        if games.is_empty() {
            return Ok(None);
        }
        let games: Vec<_> = games.into_iter().collect();
        let changed = change(&transaction, &self.state, &games, &[])?;
        transaction.commit()?;
        self.after_change(changed, &[], Vec::new())?;
        Ok(Some((merge, games.len())))
    }

    fn undo_name_merge(&mut self, merge: u32) -> Result<Option<usize>, Error> {
        self.drop_caches();
        let transaction = self.connection.transaction()?;
        let Some(games) = merges::undo(&transaction, &self.state, merge)? else { return Ok(None) };
        let games: Vec<_> = games.into_iter().collect();
        let changed = change(&transaction, &self.state, &games, &[])?;
        transaction.commit()?;
        self.after_change(changed, &[], Vec::new())?;
        Ok(Some(games.len()))
    }

    fn label(&mut self, games: &[u32], label: &str, set: bool) -> Result<(), Error> {
        let transaction = self.connection.transaction()?;
        for game in games {
            let sql = if set {
                "INSERT OR IGNORE INTO label (game, text) SELECT id, ?2 FROM game WHERE id = ?1"
            } else {
                "DELETE FROM label WHERE game = ?1 AND text = ?2"
            };
            transaction.prepare_cached(sql)?.execute(params![game, label])?;
        }
        Ok(transaction.commit()?)
    }

    fn add_pending(&mut self, mut postings: Vec<Posting>) {
        if !postings.is_empty() {
            postings.sort_unstable();
            postings.dedup();
            self.pending += postings.len();
            self.state.pending.push(postings.into());
        }
    }

    fn flush_if_large(&mut self) -> Result<(), Error> {
        if self.pending < self.max_pending { Ok(()) } else { self.flush_and_merge() }
    }

    /// Makes a run of all pending postings, and merges if there are many runs.
    fn flush_and_merge(&mut self) -> Result<(), Error> {
        if self.state.pending.is_empty() {
            return Ok(());
        }
        self.flush()?;
        self.start_merge(false)?;
        while self.merge.is_some() && self.state.runs.len() >= MAX_RUNS {
            self.merge_step()?;
        }
        Ok(())
    }

    /// Makes a run of all pending postings.
    fn flush(&mut self) -> Result<(), Error> {
        if self.state.pending.is_empty() {
            return Ok(());
        }
        let transaction = self.connection.transaction()?;
        index::write_run(&transaction, &self.state.pending)?;
        if let Some(last) = self.recovered {
            let indexed = schema::meta(&transaction, "indexed")?.max(i64::from(last) + 1);
            set_meta(&transaction, "indexed", indexed)?;
            transaction.execute("DELETE FROM unindexed WHERE game <= ?1", [last])?;
        } else {
            let next = i64::try_from(self.state.summaries.len()).unwrap_or(i64::MAX);
            set_meta(&transaction, "indexed", next)?;
            transaction.execute("DELETE FROM unindexed", [])?;
        }
        self.state.runs = commit(transaction, &mut self.state.generation)?;
        self.state.pending.clear();
        self.pending = 0;
        self.shared.publish(self.state.clone());
        Ok(())
    }

    /// Begins the merge that is due, unless one is in progress.
    fn start_merge(&mut self, all: bool) -> Result<(), Error> {
        if self.merge.is_none() {
            let transaction = self.connection.transaction()?;
            let Some(merge) = Merge::due(&transaction, all, || self.state.summaries.deleted())?
            else {
                return Ok(());
            };
            self.state.runs = commit(transaction, &mut self.state.generation)?;
            self.merge = Some(merge);
            self.shared.publish(self.state.clone());
        }
        Ok(())
    }

    /// Continues the merge in progress.
    fn merge_step(&mut self) -> Result<(), Error> {
        let Some(mut merge) = self.merge.take() else { return Ok(()) };
        let transaction = self.connection.transaction()?;
        let is_finished = merge.step(&transaction)?;
        self.state.runs = commit(transaction, &mut self.state.generation)?;
        self.shared.publish(self.state.clone());
        if is_finished {
            self.start_merge(false)?;
        } else {
            self.merge = Some(merge);
        }
        Ok(())
    }

    /// Completes all merges that are due; of all runs if `all`. Other processes can write in between.
    fn merge_all(&mut self, mut all: bool) -> Result<(), Error> {
        loop {
            let is_done = self.exclusively(|writer| {
                writer.start_merge(false)?;
                if writer.merge.is_none() {
                    writer.start_merge(all)?;
                    // Runs that another process writes meanwhile are not waited for.
                    all = false;
                }
                writer.merge_step()?;
                Ok(writer.merge.is_none())
            })?;
            if is_done && !all {
                return Ok(());
            }
        }
    }
}
