//! The library: searches, imports, deletions, labels.

use std::sync::Arc;

use readyok_library::{Error as Failed, Item};

use super::App;
use super::saving::blocking;
use crate::game::position_view::position_view;
use crate::game::{GameSession, ROOT, Tree};
use crate::store::{Store, StoreError, filter_of, listed, search, storage};
use crate::wire::{
    Answer, ApiError, Decision, DuplicateGroup, DuplicateGroups, ErrorCode, ErrorSubject, GameId,
    GamePreview, LibraryPage, LibraryQuery, NodeId, PreviewMove, PreviewQuery, Selection,
    UndecidedDuplicate, UndecidedDuplicates,
};

/// Maximum number of listed games of a group of duplicates.
const MAX_REPORTED: usize = 1000;
/// Maximum number of deleted games that can be restored.
const MAX_RESTORABLE: usize = 10_000;
/// Maximum number of games that are deleted without a pause.
const MAX_DELETED: usize = 100;
/// Maximum number of listed groups of duplicates.
const MAX_GROUPS: usize = 200;
/// Maximum number of moves of a preview.
const MAX_PREVIEW: usize = 1000;
/// Maximum size of a label, in bytes.
const MAX_LABEL: usize = 100;

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

impl App {
    /// Games that match a query. Changes of open games are included.
    pub(crate) async fn search(
        self: &Arc<Self>,
        query: LibraryQuery,
    ) -> Result<LibraryPage, ApiError> {
        self.write_open_games().await;
        let library = self.library()?;
        let (running, _guard) = self.long_searches.begin(query.ticket);
        blocking(move || search(&library, &query, &|done, all| running.report(done, all))).await
    }

    /// Groups of duplicates.
    pub(crate) async fn duplicates(&self) -> Result<DuplicateGroups, ApiError> {
        self.write_open_games().await;
        let library = self.library()?;
        blocking(move || {
            let all = library.duplicates().map_err(failed)?;
            let surplus = all.iter().map(|group| group.others.len()).sum::<usize>();
            let groups = all.iter().take(MAX_GROUPS).map(|group| {
                let games = [&[group.kept][..], &group.others].concat();
                let games = games.get(..MAX_REPORTED).unwrap_or(&games);
                let is_prefix = |game: &GameId| group.prefixes.binary_search(game).is_ok();
                let beginnings = games.iter().copied().filter(is_prefix).collect();
                let games = library.entries(games).map_err(failed)?;
                let games = games.into_iter().map(listed).collect();
                Ok(DuplicateGroup { games, beginnings })
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
                Ok(chapters.into_iter().map(|chapter| chapter.game).collect())
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
            games.iter().copied().filter(|id| state.sessions.contains_key(id)).collect()
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
        self.update(|state| {
            // Another tab may have opened some in the meantime.
            state.discard_deleted(&games.into_iter().collect());
            // Games that are being read may refer to them.
            state.saves.mark_changed(None);
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
        self.save_drafts(&games).await?;
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

    /// A position of a game, open or not, and its main line.
    pub(crate) async fn preview(&self, query: PreviewQuery) -> Result<GamePreview, ApiError> {
        let (tree, _) = self.tree_of(query.game).await?;
        let condition = query.filter.as_ref().map(filter_of).transpose()?;
        blocking(move || {
            let line = tree.main_line();
            let found = || condition.as_ref()?.first_ply(&tree.document().record);
            let ply = query.ply.map(|ply| ply as usize).or_else(found);
            let ply = ply.map_or(line.len(), |ply| line.len().min(ply));
            let node = ply.checked_sub(1).and_then(|at| line.get(at)).copied().unwrap_or(ROOT);
            let position = tree.position(node).unwrap_or_else(|| tree.start().clone());
            let last = tree.node(node).and_then(|node| node.mv()?.legal());
            let shown = line.iter().take(MAX_PREVIEW).copied().collect();
            let nodes = tree.wire(shown).into_iter();
            let count = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
            let mut moves: Vec<_> = nodes.map(|node| (node.ply, node.text, node.nags)).collect();
            moves.sort_by_key(|(ply, ..)| *ply);
            Ok(GamePreview {
                variant: tree.game(),
                first_turn: tree.start().turn(),
                first_number: tree.start().setup().move_number(),
                ply: count(ply),
                position: position_view(&position, last),
                moves: moves
                    .into_iter()
                    .map(|(_, text, nags)| PreviewMove { text, nags })
                    .collect(),
                plies: count(line.len()),
            })
        })
        .await
    }

    /// The tree of a game, open or not, with its cursor.
    pub(crate) async fn tree_of(&self, id: GameId) -> Result<(Tree, NodeId), ApiError> {
        let tree = |session: &GameSession| (session.tree().clone(), session.cursor());
        let open = self.state().sessions.get(&id).map(tree);
        if let Some(found) = open {
            return Ok(found);
        }
        let found = self.load(id, |state, loaded| match state.sessions.get(&id) {
            Some(session) => Ok(tree(session)),
            None => loaded.map(|(session, ..)| tree(&session)),
        });
        found.await
    }
}
