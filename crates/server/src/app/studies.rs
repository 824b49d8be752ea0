//! Trees of several games: merged games, split games and copied chapters.

use readyok_library::{NewGame, Source};
use readyok_rules::record::{GameDocument, Tag, is_known_name};
use readyok_rules::{GameResult, Side};

use super::App;
use super::library::failed;
use super::saving::blocking;
use crate::game::no_node;
use crate::store::{StoreError, dated, storage};
use crate::time::now;
use crate::training::variant_name;
use crate::wire::{
    Answer, ApiError, CollectionId, ErrorCode, ErrorSubject, GameId, NodeId, Selection,
};

/// Maximum number of games that are merged in one step.
const MAX_MERGED: usize = 1000;

/// Maximum number of games that a split makes.
const MAX_PARTS: usize = 200;

impl App {
    /// Adds the moves of games to a game, as one step that can be undone, or to a new game.
    pub(super) async fn merge_games(
        &self,
        into: Option<GameId>,
        of: Selection,
        part: Option<NodeId>,
    ) -> Result<Answer, ApiError> {
        let mut games = self.select(of).await?;
        if MAX_MERGED < games.len() {
            return Err(ApiError::too_many(ErrorSubject::Game));
        }
        let into = match into {
            Some(into) => into,
            None if games.is_empty() => return Err(ApiError::conflict(ErrorCode::NothingToMerge)),
            None => {
                let first = with_source(self.document(games.remove(0)).await?);
                let [copy] = <[GameId; 1]>::try_from(self.add_documents(vec![first]).await?)
                    .map_err(|_| storage(StoreError::Closed))?;
                copy
            }
        };
        games.retain(|id| *id != into);
        let mut documents = Vec::with_capacity(games.len());
        for id in games {
            let document = self.document(id).await?;
            documents.push(match part {
                Some(node) => self::part(&document, node)?,
                None => with_source(document),
            });
        }
        let was_open = self.update(|state| state.session(into).is_ok());
        if !was_open {
            self.load(into, |state, loaded| {
                loaded.map(|(session, report, hold)| {
                    state.add_background(session, hold);
                    state.restore_report(into, report);
                })
            })
            .await?;
        }
        self.update(|state| {
            let merged = state
                .change_session(into, |session, _| Ok((session.merge(&documents)?, Vec::new())));
            if !was_open {
                state.remove_background(into);
            }
            merged.map(|merged| Answer::Merged { game: into, merged })
        })
    }

    /// Adds a game for each continuation of a position. They follow the game in its collection, or are in a new one.
    pub(super) async fn split_game(&self, game: GameId, node: NodeId) -> Result<Answer, ApiError> {
        let document = self.document(game).await?;
        let children = document.record.children(node.into());
        let children: Vec<NodeId> = children.map(|child| child.id().into()).collect();
        if children.len() < 2 {
            return Err(ApiError::conflict(ErrorCode::NothingToSplit));
        }
        if MAX_PARTS < children.len() {
            return Err(ApiError::too_many(ErrorSubject::Chapter));
        }
        let parts: Result<Vec<_>, ApiError> =
            children.into_iter().map(|child| part(&document, child)).collect();
        self.save_drafts(&[game]).await?;
        let games = self.add_documents(parts?).await?;
        let library = self.library()?;
        blocking(move || {
            use readyok_library::CollectionEdit as Edit;
            let at = dated(now());
            let found = library.place_of(game, None).map_err(failed)?;
            let edit = match found {
                Some((collection, _, place)) => Edit::Add {
                    collection: collection.id,
                    of: games,
                    place: Some(u32::try_from(place + 1).unwrap_or(u32::MAX)),
                },
                None => Edit::Create {
                    name: title(&document),
                    of: [game].into_iter().chain(games).collect(),
                },
            };
            let id = library.edit_collection(edit, at).map_err(failed)?;
            Ok(Answer::Collection { id })
        })
        .await
    }

    /// Copies a chapter with its game: behind the chapter, or to the end of another collection. Answers with the copy.
    pub(super) async fn copy_chapter(
        &self,
        (game, collection): (GameId, CollectionId),
        to: Option<CollectionId>,
    ) -> Result<Answer, ApiError> {
        let document = self.document(game).await?;
        let library = self.library()?;
        let found = blocking(move || library.place_of(game, Some(collection)).map_err(failed));
        let found = found.await?.filter(|(found, ..)| found.id == collection);
        let (_, chapters, place) =
            found.ok_or_else(|| ApiError::not_found(ErrorSubject::Chapter, game))?;
        let name = chapters.get(place).map(|chapter| chapter.name.clone()).unwrap_or_default();
        let [copy] = <[GameId; 1]>::try_from(self.add_documents(vec![document]).await?)
            .map_err(|_| storage(StoreError::Closed))?;
        let library = self.library()?;
        blocking(move || {
            use readyok_library::CollectionEdit as Edit;
            let (target, place) = match to {
                Some(to) if to != collection => (to, None),
                _ => (collection, Some(u32::try_from(place + 1).unwrap_or(u32::MAX))),
            };
            let at = dated(now());
            let add = Edit::Add { collection: target, of: vec![copy], place };
            library.edit_collection(add, at).map_err(failed)?;
            let (_, chapters) = library.collection(target).map_err(failed)?;
            if let Some(chapter) = chapters.iter().rfind(|chapter| chapter.game == copy) {
                let rename = Edit::RenameChapter { chapter: chapter.id, name };
                library.edit_collection(rename, at).map_err(failed)?;
            }
            Ok(Answer::Game { game: copy })
        })
        .await
    }

    /// The present version of a game, open or not.
    pub(super) async fn document(&self, id: GameId) -> Result<GameDocument, ApiError> {
        let open =
            self.update(|state| state.session(id).map(|session| session.tree().document().clone()));
        if let Ok(document) = open {
            return Ok(document);
        }
        let (session, ..) = self.read_game(id).await?;
        Ok(session.tree().document().clone())
    }

    pub(super) async fn add_documents(
        &self,
        documents: Vec<GameDocument>,
    ) -> Result<Vec<GameId>, ApiError> {
        let at = dated(now());
        let added = blocking(move || {
            let new = |document| NewGame::from_document(document, Source::Play, at);
            Ok(documents.iter().map(new).collect::<Vec<_>>())
        });
        let games = added.await?;
        let added = self.writer.call(move |store| store.add_games(games));
        added.await.map_err(storage)
    }
}

/// The line to a node with everything after it.
fn part(document: &GameDocument, node: NodeId) -> Result<GameDocument, ApiError> {
    let record = &document.record;
    record.node(node.into()).ok_or_else(|| no_node(node))?;
    Ok(GameDocument { record: record.part(node.into()), engine: document.engine.clone() })
}

/// The document with a comment at the end of its main line that names the game, as in books.
fn with_source(mut document: GameDocument) -> GameDocument {
    let record = &document.record;
    let is_game = Side::BOTH.iter().any(|side| record.player(*side).is_some_and(is_known_name));
    if is_game {
        let source = title(&document);
        let last = document.record.last();
        if let Some(annotations) = document.record.annotations_mut(last)
            && !annotations.comments.contains(&source)
        {
            annotations.comments.push(source);
        }
    }
    document
}

/// The known ones of players, event, year and result.
fn title(document: &GameDocument) -> String {
    let record = &document.record;
    let players = Side::BOTH.map(|side| record.player(side).filter(|name| is_known_name(name)));
    let players = match players {
        [None, None] => None,
        players => Some(players.map(|name| name.unwrap_or("?")).join(" – ")),
    };
    let event = record.header(Tag::Event).filter(|event| is_known_name(event));
    let event = event.map(str::to_owned);
    let year = record.date().year().map(|year| year.to_string());
    let result = (record.result != GameResult::Unknown).then(|| record.result.as_str().to_owned());
    let place = [event, year].into_iter().flatten().collect::<Vec<_>>().join(" ");
    let parts = [players, Some(place).filter(|place| !place.is_empty()), result];
    let title = parts.into_iter().flatten().collect::<Vec<_>>().join(", ");
    if title.is_empty() { variant_name(document.record.game()).to_owned() } else { title }
}
