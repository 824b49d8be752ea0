//! Collections of games.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use readyok_library as library;
use readyok_rules::record::TextPattern;

use super::App;
use super::library::failed;
use super::saving::blocking;
use crate::store::{dated, listed};
use crate::time::now;
use crate::wire::{
    Answer, ApiError, Chapter, Chapters, ChaptersQuery, Collection, CollectionEdit, Collections,
    GameId, GameOrder, OrderQuery, Selection,
};

fn shown(it: library::Collection) -> Collection {
    let time = |at: i64| u64::try_from(at).unwrap_or(0);
    let (added, changed) = (time(it.added_ms), time(it.changed_ms));
    Collection { id: it.id, name: it.name, chapters: it.chapters, added, changed }
}

/// Whether all parts of a text are in the name, the players, the event, the opening or a comment of a chapter. A damaged
/// game has no comments.
fn contains(library: &library::Library, chapter: &Chapter, text: &TextPattern) -> bool {
    let game = &chapter.game;
    let about = [&chapter.name, &game.names.first, &game.names.second];
    let about = about.into_iter().chain(&game.event).chain(&game.opening);
    let about = about.map(String::as_str).collect::<Vec<_>>().join(" ");
    if text.matches(&about) {
        return true;
    }
    if !game.commented {
        return false;
    }
    let Ok(Some(Ok(record))) = library.game(game.id).map(|it| it.map(|game| game.record())) else {
        return false;
    };
    record.ids().any(|id| {
        let annotations = record.annotations(id);
        annotations.before.iter().chain(&annotations.comments).any(|comment| text.matches(comment))
    })
}

impl App {
    /// All collections.
    pub(crate) async fn collections(&self) -> Result<Collections, ApiError> {
        let library = self.library()?;
        blocking(move || {
            let all = library.collections().map_err(failed)?;
            Ok(Collections { collections: all.into_iter().map(shown).collect() })
        })
        .await
    }

    /// The chapters of a collection. Changes of open games are included.
    pub(crate) async fn chapters(&self, query: ChaptersQuery) -> Result<Chapters, ApiError> {
        self.write_open_games().await;
        let library = self.library()?;
        blocking(move || {
            let (collection, chapters) = library.collection(query.collection).map_err(failed)?;
            let games: Vec<GameId> = chapters.iter().map(|chapter| chapter.game).collect();
            let entries = library.entries(&games).map_err(failed)?.into_iter();
            let games: HashMap<_, _> = entries.map(|entry| (entry.id, listed(entry))).collect();
            // A game can be deleted in the meantime.
            let chapters = chapters.into_iter().filter_map(|chapter| {
                let game = games.get(&chapter.game)?.clone();
                Some(Chapter { id: chapter.id, name: chapter.name, game })
            });
            let chapters: Vec<Chapter> = chapters.collect();
            let text = query.text.as_deref().map(TextPattern::new);
            let text = text.filter(|text| !text.parts().is_empty());
            let found = text.map(|text| {
                let found = chapters.iter().filter(|chapter| contains(&library, chapter, &text));
                found.map(|chapter| chapter.id).collect()
            });
            Ok(Chapters { collection: shown(collection), chapters, found })
        })
        .await
    }

    /// The place of a game in the preferred collection, or the one that was changed last. None if it is in none.
    pub(crate) async fn order(&self, query: OrderQuery) -> Result<Option<GameOrder>, ApiError> {
        let library = self.library()?;
        blocking(move || {
            let found = library.place_of(query.game, query.collection).map_err(failed)?;
            Ok(found.map(|(collection, chapters, place)| {
                let at = |place: Option<usize>| Some(chapters.get(place?)?.game);
                GameOrder {
                    chapter: chapters.get(place).map(|it| it.name.clone()).unwrap_or_default(),
                    previous: at(place.checked_sub(1)),
                    next: at(place.checked_add(1)),
                    place: u32::try_from(place).unwrap_or(u32::MAX),
                    collection: shown(collection),
                }
            }))
        })
        .await
    }

    /// The number of collections that have at least one of the games.
    pub(super) async fn collections_of(&self, games: BTreeSet<GameId>) -> Result<u32, ApiError> {
        let library = self.library()?;
        let count = blocking(move || library.collections_of(&games).map_err(failed)).await?;
        Ok(u32::try_from(count).unwrap_or(u32::MAX))
    }

    /// The numbers of games, with the names of the collection and the chapter if a collection is selected.
    pub(crate) async fn select_named(
        &self,
        of: Selection,
    ) -> Result<Vec<(GameId, Option<(Arc<str>, String)>)>, ApiError> {
        let Selection::Collection { id } = of else {
            return Ok(self.select(of).await?.into_iter().map(|game| (game, None)).collect());
        };
        let library = self.library()?;
        let (collection, chapters) =
            blocking(move || library.collection(id).map_err(failed)).await?;
        let study: Arc<str> = collection.name.into();
        let named =
            |chapter: library::Chapter| (chapter.game, Some((Arc::clone(&study), chapter.name)));
        Ok(chapters.into_iter().map(named).collect())
    }

    /// The numbers of games, which are in the library from then on.
    async fn select_saved(&self, of: Selection) -> Result<Vec<GameId>, ApiError> {
        let games = self.select(of).await?;
        self.save_drafts(&games).await?;
        Ok(games)
    }

    pub(super) async fn edit_collection(&self, edit: CollectionEdit) -> Result<Answer, ApiError> {
        use library::CollectionEdit as Edit;
        let edit = match edit {
            Edit::Create { name, of } => Edit::Create { name, of: self.select_saved(of).await? },
            Edit::Rename { collection, name } => Edit::Rename { collection, name },
            Edit::Delete { collection } => Edit::Delete { collection },
            Edit::Add { collection, of, place } => {
                Edit::Add { collection, of: self.select_saved(of).await?, place }
            }
            Edit::RenameChapter { chapter, name } => Edit::RenameChapter { chapter, name },
            Edit::MoveChapter { chapter, place, collection } => {
                Edit::MoveChapter { chapter, place, collection }
            }
            Edit::RemoveChapter { chapter } => Edit::RemoveChapter { chapter },
        };
        let library = self.library()?;
        let edited = move || library.edit_collection(edit, dated(now())).map_err(failed);
        Ok(Answer::Collection { id: blocking(edited).await? })
    }
}
