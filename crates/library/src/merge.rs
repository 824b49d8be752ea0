//! Import of the games of another database, with their labels and collections.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use crate::collection::CollectionEdit;
use crate::error::Error;
use crate::game::{NewGame, StoredGame};
use crate::import::{ImportOptions, Imported};
use crate::library::Library;
use readyok_rules::record::Condition;

/// What [`Library::import_library`] has added.
#[derive(Debug, Default)]
pub struct Merged {
    /// The games.
    pub imported: Imported,
    /// Games of the other database that cannot be read, with the reason.
    pub unreadable: Vec<(u32, Error)>,
    /// Number of labels of games.
    pub labels: u64,
    /// Names of the collections that were added.
    pub collections: Vec<String>,
    /// Collections that could not be added, with the reason.
    pub lost_collections: Vec<(String, Error)>,
}

impl Library {
    /// Adds the games of another database with their labels and collections. Labels of duplicates are set on the known
    /// games, and collections contain these. `progress` cancels after whole games with [`ControlFlow::Break`]; labels
    /// and collections are then those of the games that were read. Games that wait for a decision there are omitted.
    ///
    /// # Errors
    /// A batch could not be stored, or the other file could not be read. Games that were added before remain.
    pub fn import_library(
        &self,
        other: &Self,
        options: ImportOptions,
        mut progress: impl FnMut(&Imported) -> ControlFlow<()>,
    ) -> Result<Merged, Error> {
        let mut merged = Merged::default();
        let mut importer = self.importer(options);
        importer.games = Some(Vec::new());
        let mut read = Vec::new();
        let mut is_cancelled = false;
        for id in other.find_all(&Condition::default())? {
            match other.game(id).and_then(|game| game.map(readable).transpose()) {
                Ok(Some(game)) => {
                    importer.add_game(game)?;
                    read.push(id);
                }
                // It was deleted meanwhile.
                Ok(None) => (),
                Err(error) => merged.unreadable.push((id, error)),
            }
            if progress(importer.state()).is_break() {
                is_cancelled = true;
                break;
            }
        }
        importer.flush()?;
        let games = importer.games.take().unwrap_or_default();
        let numbers: BTreeMap<u32, u32> = read.into_iter().zip(games).collect();
        merged.imported = importer.finish()?;
        merged.imported.cancelled = is_cancelled;
        for (label, _) in other.labels()? {
            let games = other.find_all(&Condition::Label(label.clone()))?;
            let games: Vec<u32> = games.iter().filter_map(|id| numbers.get(id).copied()).collect();
            merged.labels += games.len() as u64;
            for games in games.chunks(5000) {
                self.set_label(games.to_vec(), label.clone(), true)?;
            }
        }
        let mut collections = other.collections()?;
        // The last changed one is first in lists.
        collections.reverse();
        for collection in collections {
            match self.copy_collection(other, collection.id, &numbers) {
                Ok(()) => merged.collections.push(collection.name),
                Err(error) => merged.lost_collections.push((collection.name, error)),
            }
        }
        Ok(merged)
    }

    fn copy_collection(
        &self,
        other: &Self,
        id: u32,
        numbers: &BTreeMap<u32, u32>,
    ) -> Result<(), Error> {
        let (collection, chapters) = other.collection(id)?;
        let copied: Vec<_> = chapters
            .into_iter()
            .filter_map(|chapter| Some((*numbers.get(&chapter.game)?, chapter.name)))
            .collect();
        let of = copied.iter().map(|(game, _)| *game).collect();
        let name = collection.name;
        let new = self.edit_collection(CollectionEdit::Create { name, of }, collection.added_ms)?;
        let (_, chapters) = self.collection(new)?;
        for (chapter, (_, name)) in chapters.into_iter().zip(copied) {
            if chapter.name != name {
                let edit = CollectionEdit::RenameChapter { chapter: chapter.id, name };
                self.edit_collection(edit, collection.changed_ms)?;
            }
        }
        Ok(())
    }
}

/// The game as a new one, if all of it can be read.
fn readable(stored: StoredGame) -> Result<NewGame, Error> {
    stored.document()?;
    let postings = stored.postings().unwrap_or_default();
    Ok(NewGame { postings, ..stored.game })
}
