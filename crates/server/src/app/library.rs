//! The library: searches, imports, the queue of the writer, and games that are read.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};

use readyok_library::{Error as Failed, ImportOptions, Item, Library, MAX_CHAPTERS, Source};
use readyok_rules::record::GameRecord;
use rusqlite::ErrorCode as Failure;
use tokio::sync::oneshot;

use super::components::{Components, Context};
use super::{App, storage};
use crate::game::{GameSession, StoredSession, Tree};
use crate::hub::TabId;
use crate::import::{file_title, read_each};
use crate::store::{
    GameSource, Store, StoreError, StoredReport, Writer, Written, filter_of, listed, listed_new,
    new_game, search,
};
use crate::time::now;
use crate::wire::{
    Answer, ApiError, Decision, DuplicateGroups, Duplicates, ErrorCode, ErrorSubject, GameId,
    Imported, ImportedCollection, LibraryGame, LibraryPage, LibraryQuery, NodeId, Selection,
    UndecidedDuplicate, UndecidedDuplicates,
};

/// Maximum number of imported games in a response.
const MAX_REPORTED: usize = 1000;
/// Maximum number of deleted games that can be restored.
const MAX_RESTORABLE: usize = 10_000;
/// Maximum number of games that are deleted without a pause.
const MAX_DELETED: usize = 100;
/// Maximum number of listed groups of duplicates.
const MAX_GROUPS: usize = 200;
/// Maximum size of a label, in bytes.
const MAX_LABEL: usize = 100;

/// An error of the library as an error code.
pub(super) fn library_error(error: &StoreError) -> ErrorCode {
    match error {
        StoreError::Closed | StoreError::Library(Failed::Stopped) => ErrorCode::LibraryClosed,
        StoreError::Content(_) | StoreError::Library(Failed::Corrupt) => ErrorCode::LibraryDamaged,
        StoreError::Database(failure) | StoreError::Library(Failed::Sqlite(failure)) => {
            match failure.sqlite_error_code() {
                Some(Failure::DiskFull) => ErrorCode::DiskFull,
                Some(Failure::ReadOnly) => ErrorCode::LibraryReadOnly,
                Some(Failure::DatabaseBusy | Failure::DatabaseLocked) => ErrorCode::LibraryInUse,
                Some(Failure::DatabaseCorrupt | Failure::NotADatabase) => ErrorCode::LibraryDamaged,
                _ => ErrorCode::system(error),
            }
        }
        StoreError::Unusable(_, error) => library_error(error),
        StoreError::File(..) | StoreError::Version(..) | StoreError::Library(_) => {
            ErrorCode::system(error)
        }
    }
}

/// An error of a library.
pub(super) fn failed(error: Failed) -> ApiError {
    let subject = |item| match item {
        Item::Game => ErrorSubject::Game,
        Item::Collection => ErrorSubject::Collection,
        Item::Chapter => ErrorSubject::Chapter,
    };
    match error {
        Failed::NotFound(item, number) => ApiError::not_found(subject(item), number),
        Failed::TooMany(item) => ApiError::too_many(subject(item)),
        Failed::InvalidName(Item::Chapter) => ApiError::invalid_text(ErrorSubject::ChapterName),
        Failed::InvalidName(_) => ApiError::invalid_text(ErrorSubject::CollectionName),
        error => storage(StoreError::Library(error)),
    }
}

/// Runs work that blocks.
pub(super) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, ApiError> + Send + 'static,
) -> Result<T, ApiError> {
    let done = tokio::task::spawn_blocking(work).await;
    done.unwrap_or_else(|_| Err(storage(StoreError::Closed)))
}

impl App {
    /// The games, unless the server ends.
    pub(crate) fn library(&self) -> Result<Arc<Library>, ApiError> {
        self.library.upgrade().ok_or_else(|| storage(StoreError::Closed))
    }

    /// Games that match a query. Changes of open games are included.
    pub(crate) async fn search(
        self: &Arc<Self>,
        query: LibraryQuery,
    ) -> Result<LibraryPage, ApiError> {
        self.write_open_games().await;
        let library = self.library()?;
        blocking(move || search(&library, &query)).await
    }

    /// Groups of duplicates.
    pub(crate) async fn duplicates(&self) -> Result<DuplicateGroups, ApiError> {
        self.write_open_games().await;
        let library = self.library()?;
        blocking(move || {
            let all = library.duplicates().map_err(failed)?;
            let surplus = all.iter().map(|it| it.len().saturating_sub(1)).sum::<usize>();
            let groups = all.iter().take(MAX_GROUPS).map(|group| {
                let group = group.get(..MAX_REPORTED).unwrap_or(group);
                let games = library.entries(group).map_err(failed)?;
                Ok(games.into_iter().map(listed).collect())
            });
            Ok(DuplicateGroups {
                groups: groups.collect::<Result<_, ApiError>>()?,
                total: u32::try_from(all.len()).unwrap_or(u32::MAX),
                surplus: u32::try_from(surplus).unwrap_or(u32::MAX),
            })
        })
        .await
    }

    /// Imported duplicates that wait for a decision.
    pub(crate) async fn undecided(&self) -> Result<UndecidedDuplicates, ApiError> {
        let library = self.library()?;
        blocking(move || {
            let found = library.undecided(MAX_GROUPS).map_err(failed)?;
            let games = found.games.into_iter().map(|(imported, known)| UndecidedDuplicate {
                imported: listed(imported),
                known: known.map(listed),
            });
            Ok(UndecidedDuplicates {
                games: games.collect(),
                total: u32::try_from(found.total).unwrap_or(u32::MAX),
            })
        })
        .await
    }

    /// Adds, drops or merges imported duplicates.
    pub(super) async fn decide_duplicates(
        &self,
        games: Option<Vec<GameId>>,
        decision: Decision,
    ) -> Result<Answer, ApiError> {
        let library = self.library()?;
        let decided = blocking(move || library.decide(games, decision).map_err(failed)).await?;
        if 0 < decided.open {
            return Err(ApiError::conflict(ErrorCode::OpenGameNotReplaced));
        }
        Ok(Answer::Done)
    }

    /// The numbers of games. Changes of open games are included.
    pub(crate) async fn select(&self, of: Selection) -> Result<Vec<GameId>, ApiError> {
        match of {
            Selection::Games { games } => Ok(games),
            Selection::Filter { filter } => {
                self.write_open_games().await;
                let library = self.library()?;
                blocking(move || library.find_all(&filter_of(&filter)?).map_err(failed)).await
            }
            Selection::Collection { id } => {
                let library = self.library()?;
                let (_, chapters) =
                    blocking(move || library.collection(id).map_err(failed)).await?;
                Ok(chapters.into_iter().map(|it| it.game).collect())
            }
            Selection::Match { id } => {
                self.writer.call(move |store| store.match_games(id)).await.map_err(storage)
            }
        }
    }

    /// Deletes games, and closes those that are open.
    pub(super) async fn delete_games(&self, of: Selection) -> Result<Answer, ApiError> {
        let games = self.select(of).await?;
        let open: Vec<GameId> = {
            let state = self.state();
            games.iter().copied().filter(|id| state.games.contains(*id)).collect()
        };
        // Their changes are written before.
        for id in &open {
            self.close_game(*id).await?;
        }
        let collections = self.collections_of(games.iter().copied().collect()).await?;
        let restorable = games.len() <= MAX_RESTORABLE;
        let _ = self.writer.run(Store::begin_deletion).await;
        let mut count = 0;
        // Changes of open games are written in between.
        for part in games.chunks(MAX_DELETED) {
            let part = part.to_vec();
            let deleted = self.writer.call(move |store| {
                if restorable { store.delete_restorable(&part) } else { store.delete(&part) }
            });
            count += deleted.await.map_err(storage)?;
        }
        self.update(|components, cx| {
            // Another tab may have opened some in the meantime.
            components.discard_deleted(cx, &games.into_iter().collect());
            // Games that are being read may refer to them.
            cx.saves.mark_changed(None);
        });
        let count = u32::try_from(count).unwrap_or(u32::MAX);
        Ok(Answer::Deleted { count, restorable, collections })
    }

    /// Restores the games of the last deletion.
    pub(super) async fn restore_games(&self) -> Result<Answer, ApiError> {
        let mut count = 0;
        loop {
            match self.writer.call(Store::restore_some).await.map_err(storage)? {
                0 => break,
                restored => count += restored,
            }
        }
        let count = u32::try_from(count).unwrap_or(u32::MAX);
        Ok(Answer::Deleted { count, restorable: false, collections: 0 })
    }

    pub(super) async fn set_label(
        &self,
        of: Selection,
        label: String,
        set: bool,
    ) -> Result<Answer, ApiError> {
        let label = label.trim().to_owned();
        if label.is_empty() || MAX_LABEL < label.len() || label.chars().any(char::is_control) {
            return Err(ApiError::invalid_text(ErrorSubject::Query));
        }
        let games = self.select(of).await?;
        let library = self.library()?;
        blocking(move || library.set_label(games, label, set).map_err(failed)).await?;
        Ok(Answer::Done)
    }

    /// Writes the changes of open games to the library.
    pub(crate) async fn write_open_games(&self) {
        // A search that begins in the meantime waits for the games.
        let _writing = self.writing_open.lock().await;
        // After an error the library has the earlier state.
        let Ok(games) = self.writer.call(Store::begin_writing).await else { return };
        let Ok(library) = self.library() else { return };
        if games.is_empty() {
            return;
        }
        let failed = blocking(move || {
            let failed = games.iter().filter(|game| game.write(&library).is_err());
            Ok(failed.map(|game| game.id).collect::<Vec<_>>())
        });
        if let Ok(failed) = failed.await {
            let _ = self.writer.run(move |store| store.abort_writing(&failed)).await;
        }
    }

    /// Imports the games of a source. It blocks, so it must not be called on threads of the runtime. After an error
    /// the remaining games are not added.
    pub(crate) fn import(
        &self,
        name: &str,
        source: impl Read + Send,
        (open, duplicates): (bool, Duplicates),
    ) -> Imported {
        let mut imported = Imported::default();
        let library = match self.library() {
            Ok(library) => library,
            Err(error) => {
                imported.errors.push(error.into());
                imported.total_errors = 1;
                return imported;
            }
        };
        let options = ImportOptions { duplicates, ..ImportOptions::default() };
        let mut importer = library.importer(options);
        let mut reported = Vec::new();
        let mut error: Option<ApiError> = None;
        let mut study = None;
        let faults = read_each(name, source, |record| {
            if study.is_none() {
                study = record.headers.study().map(|(study, _)| study.to_owned());
            }
            if open && imported.opened.is_none() {
                match self.import_open(record) {
                    Ok(game) => {
                        imported.opened = Some(game.id);
                        imported.games.push(game);
                    }
                    Err(failure) => error = Some(failure),
                }
                return error.is_none();
            }
            let game = new_game(record, Source::Import, now());
            if reported.len() < MAX_REPORTED {
                reported.push(listed_new(0, &game));
            }
            error = importer.add_game(game).err().map(failed);
            error.is_none() && !self.state().closing
        });
        let stored = importer.flush();
        error = error.or_else(|| stored.err().map(failed));
        let state = importer.state();
        imported.duplicates = u32::try_from(state.duplicates).unwrap_or(u32::MAX);
        imported.undecided = u32::try_from(state.undecided).unwrap_or(u32::MAX);
        let opened = imported.games.len() as u64;
        imported.total = u32::try_from(state.added_count() + opened).unwrap_or(u32::MAX);
        let known: BTreeSet<u64> = state.known.iter().map(|(number, _)| *number).collect();
        let new = (1..).zip(reported).filter(|(number, _)| !known.contains(number));
        let numbered = new.zip(state.added.iter().cloned().flatten());
        let games = numbered.map(|((_, game), id)| LibraryGame { id, ..game });
        imported.games.extend(games.take(MAX_REPORTED - imported.games.len()));
        let order = imported.opened.into_iter().chain(state.order.iter().copied());
        let order: Vec<GameId> = order.take(MAX_CHAPTERS as usize).collect();
        if order.len() > 1 {
            let name = study.filter(|it| !it.is_empty()).unwrap_or_else(|| file_title(name));
            imported.collection = Some(ImportedCollection { name, games: order });
        }
        imported.total_errors = faults.total_errors.saturating_add(error.is_some().into());
        imported.total_warnings = faults.total_cut.saturating_add(faults.total_notices);
        // The reason of the end is more important than defects of games.
        imported.errors.extend(error.map(Into::into));
        imported.errors.extend(faults.errors);
        imported.warnings = faults.warnings;
        imported
    }

    /// Adds an imported game and opens it. It blocks like [`Self::import`].
    #[expect(
        clippy::redundant_closure_for_method_calls,
        reason = "the method is not general enough"
    )]
    fn import_open(&self, record: &GameRecord) -> Result<LibraryGame, ApiError> {
        let at = now();
        // A game that cannot be opened is not added.
        self.update(|components, cx| components.evict_idle(cx))?;
        let added = record.clone();
        let id = self.writer.call_blocking(move |store| store.new_game(&added, Source::Import, at));
        let id = id.map_err(storage)?;
        let mut session = GameSession::new(id, Tree::from_record(record), at);
        session.take_unsaved();
        self.update(|components, cx| {
            if let Err(error) = components.evict_idle(cx) {
                drop(cx.close_stored(id));
                return Err(error);
            }
            components.games.add(components.engines, cx, session);
            Ok(listed_new(id, &new_game(record, Source::Import, at)))
        })
    }

    /// The tree of a game, open or not, with its cursor.
    pub(crate) async fn tree_of(&self, id: GameId) -> Result<(Tree, NodeId), ApiError> {
        let tree = |session: &GameSession| (session.tree().clone(), session.cursor());
        let open = self.state().games.get(id).map(tree);
        if let Some(found) = open {
            return Ok(found);
        }
        let found = self.load(id, |components, _, loaded| match components.games.get(id) {
            Some(session) => Ok(tree(session)),
            None => loaded.map(|(session, _)| tree(&session)),
        });
        found.await
    }
}

/// The receiver of a later answer.
pub(crate) type Deferred = oneshot::Receiver<Result<Answer, ApiError>>;

/// A game that was read, with its report.
pub(super) type ReadSession = (GameSession, Option<StoredReport>);

/// The answer to a command.
pub(crate) enum Reply {
    Done(Result<Answer, ApiError>),
    /// The answer is sent after the changes of the command are written, or could not be written.
    Written(Result<Answer, ApiError>, Written),
    Deferred(Deferred),
}

impl From<Result<Answer, ApiError>> for Reply {
    fn from(answer: Result<Answer, ApiError>) -> Self {
        Self::Done(answer)
    }
}

impl From<Result<Self, ApiError>> for Reply {
    fn from(reply: Result<Self, ApiError>) -> Self {
        reply.unwrap_or_else(|error| Self::Done(Err(error)))
    }
}

impl From<Result<Deferred, ApiError>> for Reply {
    fn from(answer: Result<Deferred, ApiError>) -> Self {
        answer.map_or_else(|error| Self::Done(Err(error)), Self::Deferred)
    }
}

/// Queues the work of the writer.
pub(crate) struct SaveQueue {
    writer: Writer,
    /// The number of queued operations.
    pub(super) queued: u64,
    /// Games that are queued, before the writer has taken them.
    waiting: BTreeSet<GameId>,
    /// Games that are being written.
    pub(super) writing: BTreeSet<GameId>,
    /// The last versions of games that were closed while they were queued.
    closed: BTreeMap<GameId, StoredSession>,
    /// Games that are being read, each with a flag for a change in the meantime.
    reading: Vec<(GameId, Weak<AtomicBool>)>,
}

impl SaveQueue {
    pub(super) fn new(writer: Writer) -> Self {
        let (waiting, writing) = (BTreeSet::new(), BTreeSet::new());
        Self { writer, queued: 0, waiting, writing, closed: BTreeMap::new(), reading: Vec::new() }
    }

    /// Queues a game to be saved in its later state. Returns false if the library is closed.
    #[must_use]
    pub(super) fn save(&mut self, game: GameId) -> bool {
        self.queued += 1;
        if self.waiting.contains(&game) {
            return true;
        }
        let queued = self.writer.save(game);
        if queued {
            self.waiting.insert(game);
        }
        queued
    }

    /// Queues other work on the library.
    pub(super) fn run<T: Send + 'static>(
        &mut self,
        work: impl FnOnce(&mut Store) -> T + Send + 'static,
    ) -> Written<T> {
        self.queued += 1;
        self.writer.run(work)
    }

    /// Whether a game is queued or being written.
    pub(super) fn is_pending(&self, game: GameId) -> bool {
        self.waiting.contains(&game) || self.writing.contains(&game)
    }

    /// Closes a game. Its changes are still written.
    pub(super) fn leave(&mut self, session: &GameSession) {
        if self.waiting.contains(&session.id()) {
            self.closed.insert(session.id(), session.stored());
        }
        self.mark_changed(Some(session.id()));
    }

    /// Marks the reads in progress of a game, or of all games, as out of date.
    pub(super) fn mark_changed(&mut self, game: Option<GameId>) {
        for (id, changed) in &self.reading {
            if game.is_none_or(|game| game == *id)
                && let Some(changed) = changed.upgrade()
            {
                changed.store(true, Ordering::Relaxed);
            }
        }
    }

    /// Registers a read of a game. The flag is set if the result is out of date.
    fn begin_reading(&mut self, game: GameId) -> Arc<AtomicBool> {
        let changed = Arc::new(AtomicBool::new(false));
        self.reading.retain(|(_, changed)| 0 < changed.strong_count());
        self.reading.push((game, Arc::downgrade(&changed)));
        changed
    }
}

impl SaveQueue {
    /// The present version of a queued game, for the writer.
    pub(super) fn take(
        &mut self,
        id: GameId,
        open: impl FnOnce() -> Option<StoredSession>,
    ) -> Option<StoredSession> {
        if !self.waiting.remove(&id) {
            return None;
        }
        let version = self.closed.remove(&id).or_else(open)?;
        self.writing.insert(id);
        Some(version)
    }
}

impl GameSource for Weak<App> {
    fn take(&self, games: &[GameId]) -> Vec<(GameId, StoredSession)> {
        let Some(app) = self.upgrade() else { return Vec::new() };
        app.update(|components, cx| {
            let version = |id: &GameId| {
                let open = || components.games.get(*id).map(GameSession::stored);
                Some((*id, cx.saves.take(*id, open)?))
            };
            games.iter().filter_map(version).collect()
        })
    }

    fn saved(&self, results: Vec<(GameId, Result<(), StoreError>)>) {
        let Some(app) = self.upgrade() else { return };
        for (id, result) in results {
            app.update(|components, cx| {
                cx.saves.writing.remove(&id);
                components.games.on_saved(cx, id, result);
            });
        }
    }
}

impl App {
    /// Changes the state. The answer is sent after the changes are written.
    pub(super) fn change(
        &self,
        change: impl FnOnce(&mut Components<'_>, &mut Context<'_>) -> Result<Answer, ApiError>,
    ) -> Reply {
        self.change_for(None, change)
    }

    /// Carries out a command of a tab.
    pub(super) fn change_for(
        &self,
        tab: Option<TabId>,
        change: impl FnOnce(&mut Components<'_>, &mut Context<'_>) -> Result<Answer, ApiError>,
    ) -> Reply {
        let mut state = self.state();
        let before = state.saves.queued;
        state.acting = tab;
        let answer = state.update(change);
        state.acting = None;
        if state.saves.queued == before {
            return Reply::Done(answer);
        }
        Reply::Written(answer, self.writer.barrier())
    }

    /// Reads a game of the library, and calls `then` if the game was not changed in the meantime. Otherwise retries.
    pub(super) async fn load<T>(
        &self,
        id: GameId,
        then: impl FnOnce(&mut Components<'_>, &mut Context<'_>, Result<ReadSession, ApiError>) -> T,
    ) -> T {
        loop {
            let changed = self.state().saves.begin_reading(id);
            let loaded = self.read_game(id).await;
            let mut state = self.state();
            if !changed.load(Ordering::Relaxed) {
                return state.update(|components, cx| then(components, cx, loaded));
            }
        }
    }

    /// The game is decoded outside the runtime and the writer: a large tree takes seconds.
    pub(super) async fn read_game(&self, id: GameId) -> Result<ReadSession, ApiError> {
        let found = self.writer.call(move |store| store.game(id)).await.map_err(storage)?;
        let (game, report) = found.ok_or_else(|| ApiError::not_found(ErrorSubject::Game, id))?;
        let library = self.library()?;
        let session = blocking(move || {
            let stored = game.decode().map_err(|_| ApiError::storage(ErrorCode::GameDamaged))?;
            Ok(restored(&library, id, stored))
        });
        Ok((session.await?, report))
    }
}

/// The session of a stored game. A rematch that was deleted is forgotten.
pub(super) fn restored(library: &Library, id: GameId, stored: StoredSession) -> GameSession {
    let mut session = GameSession::restored(id, stored, now());
    if session.rematch().is_some_and(|it| library.summary(it).is_none()) {
        session.set_rematch(None);
        session.take_unsaved();
    }
    session
}

#[cfg(test)]
mod tests {
    use rusqlite::{Error, ffi};

    use super::*;

    #[test]
    fn failures_of_the_library_have_error_codes() {
        let code = |code| {
            let error = Error::SqliteFailure(ffi::Error::new(code), Some("text".to_owned()));
            library_error(&error.into())
        };
        assert_eq!(code(ffi::SQLITE_FULL), ErrorCode::DiskFull);
        assert_eq!(code(ffi::SQLITE_READONLY), ErrorCode::LibraryReadOnly);
        assert_eq!(code(ffi::SQLITE_BUSY), ErrorCode::LibraryInUse);
        assert_eq!(code(ffi::SQLITE_CORRUPT), ErrorCode::LibraryDamaged);
        let text = "app.sqlite failed: text".to_owned();
        assert_eq!(code(ffi::SQLITE_CONSTRAINT), ErrorCode::System { text });
    }
}
