//! Collections: order and names of chapters, files of several games, deleted and replaced games, limits.

use std::ops::ControlFlow;
use std::path::Path;

use proptest::collection::vec;
use proptest::prelude::*;
use readyok_library::{
    Chapter, CollectionEdit as Edit, Error, ImportOptions, Imported, Item, Library, MAX_CHAPTERS,
    StoredGame,
};
use readyok_rules::Game;
use readyok_rules::record::{Format, GameRecord, read, write};
use tempfile::TempDir;

use crate::duplicates::WITHOUT_ONLINE_GAMES;
use crate::generate::{Random, game, indexer};
use crate::records::random_record;

/// Changes the schema to that of version 4.
pub(crate) const WITHOUT_COLLECTIONS: &str =
    "DROP VIEW listed; DROP TABLE chapter; DROP TABLE collection;";

fn open(dir: &TempDir) -> Library {
    Library::open_with(&dir.path().join("library.sqlite"), indexer, 1 << 12).expect("it opens")
}

/// A library whose games have records.
fn open_records(dir: &Path) -> Library {
    Library::open(&dir.join("library.sqlite")).expect("it opens")
}

fn import(library: &Library, text: &[u8]) -> Imported {
    let options = ImportOptions::default();
    library.import(text, options, |_| ControlFlow::Continue(())).expect("imported")
}

fn create(library: &Library, name: &str, games: Vec<u32>) -> u32 {
    let edit = Edit::Create { name: name.to_owned(), of: games };
    library.edit_collection(edit, 1).expect("created")
}

fn chapters(library: &Library, collection: u32) -> Vec<Chapter> {
    let (found, chapters) = library.collection(collection).expect("a collection");
    assert_eq!(found.chapters as usize, chapters.len());
    chapters
}

fn names(library: &Library, collection: u32) -> Vec<String> {
    chapters(library, collection).into_iter().map(|chapter| chapter.name).collect()
}

fn games(library: &Library, collection: u32) -> Vec<u32> {
    chapters(library, collection).into_iter().map(|chapter| chapter.game).collect()
}

const STUDY: &str = "[Event \"Endings: Lucena\"]\n[Site \"https://lichess.org/study/a/b\"]\n\
    [White \"?\"]\n[Black \"?\"]\n\n1. e4 *\n\n\
    [Event \"?\"]\n[StudyName \"Endings\"]\n[ChapterName \"Philidor\"]\n\n1. d4 *\n\n\
    [White \"Ann\"]\n[Black \"Bob\"]\n\n1. c4 *\n\n\
    [White \"Ann\"]\n\n1. Nf3 *\n\n\
    [Event \"Cup\"]\n\n1. g3 *\n\n1. b3 *\n";

#[test]
fn chapters_are_named_by_their_headers() {
    let dir = TempDir::new().expect("a directory");
    let library = open_records(dir.path());
    let imported = import(&library, STUDY.as_bytes());
    let id = create(&library, " Endings ", imported.order);
    let expected = ["Lucena", "Philidor", "Ann – Bob", "Ann – ?", "Cup", "6"];
    assert_eq!(names(&library, id), expected);
    let (collection, _) = library.collection(id).expect("a collection");
    assert_eq!((collection.name.as_str(), collection.chapters), ("Endings", 6));
    // A name that is too long is cut visibly, and control characters are replaced.
    let long = format!("[ChapterName \"a\tb{}\"]\n\n1. e3 *\n", "あ".repeat(200));
    let games = import(&library, long.as_bytes()).order;
    library
        .edit_collection(Edit::Add { collection: id, of: games, place: Some(0) }, 2)
        .expect("added");
    let first = names(&library, id).remove(0);
    assert!(first.starts_with("a bあ") && first.ends_with('…') && first.len() <= 400, "{first}");
}

/// Games that the library has are linked in the order of the file, also those that the file repeats.
#[test]
fn duplicates_are_linked_in_the_order_of_the_file() {
    let dir = TempDir::new().expect("a directory");
    let library = open_records(dir.path());
    let game = |white: &str, moves| format!("[White \"{white}\"]\n[Black \"B\"]\n\n{moves} *\n\n");
    let (a, b, c) = (game("A", "1. e4"), game("C", "1. d4"), game("D", "1. c4"));
    assert_eq!(import(&library, b.as_bytes()).order, [1]);
    let imported = import(&library, format!("{a}{b}{c}{a}").as_bytes());
    assert_eq!((imported.added_count(), imported.duplicates), (2, 2));
    assert_eq!(imported.order, [2, 1, 3, 2]);
    let id = create(&library, "File", imported.order);
    assert_eq!(games(&library, id), [2, 1, 3, 2]);
}

#[test]
fn a_chapter_moves_to_another_collection() {
    let dir = TempDir::new().expect("a directory");
    let library = open(&dir);
    let mut random = Random(3);
    library.add((0..4).map(|_| game(&mut random)).collect()).expect("added");
    let [one, two] = [vec![1, 2, 3], vec![4]].map(|of| create(&library, "C", of));
    let chapter = chapters(&library, one)[1].clone();
    let to = |place, collection| {
        let edit = Edit::MoveChapter { chapter: chapter.id, place, collection: Some(collection) };
        library.edit_collection(edit, 9).expect("moved")
    };
    assert_eq!(to(0, two), two);
    assert_eq!((games(&library, one), games(&library, two)), (vec![1, 3], vec![2, 4]));
    assert_eq!(chapters(&library, two)[0], chapter);
    assert!(library.collections().expect("read").iter().all(|found| found.changed_ms == 9));
    assert_eq!(to(u32::MAX, two), two);
    assert_eq!(games(&library, two), [4, 2]);
    assert_eq!(to(1, one), one);
    assert_eq!((games(&library, one), games(&library, two)), (vec![1, 2, 3], vec![4]));
    let edit = Edit::MoveChapter { chapter: chapter.id, place: 0, collection: Some(99) };
    let error = library.edit_collection(edit, 9).expect_err("no collection");
    assert!(matches!(error, Error::NotFound(Item::Collection, 99)), "{error}");
    // A full collection takes no further chapter.
    let full = create(&library, "Full", vec![1; MAX_CHAPTERS as usize]);
    let edit = Edit::MoveChapter { chapter: chapter.id, place: 0, collection: Some(full) };
    let error = library.edit_collection(edit, 9).expect_err("no room");
    assert!(matches!(error, Error::TooMany(Item::Chapter)), "{error}");
    assert_eq!(games(&library, one), [1, 2, 3]);
}

#[test]
fn replaced_games_keep_their_chapters() {
    let dir = TempDir::new().expect("a directory");
    let library = open(&dir);
    let mut random = Random(7);
    library.add((0..3).map(|_| game(&mut random)).collect()).expect("added");
    let id = create(&library, "C", vec![3, 1, 2]);
    let before = chapters(&library, id);
    assert!(library.replace(1, game(&mut random)).expect("replaced"));
    assert_eq!(chapters(&library, id), before);
}

#[test]
fn edits_of_what_does_not_exist_or_is_too_much_change_nothing() {
    let dir = TempDir::new().expect("a directory");
    let library = open(&dir);
    library.add(vec![game(&mut Random(8))]).expect("added");
    let id = create(&library, "C", vec![1; MAX_CHAPTERS as usize]);
    let edit = |edit| library.edit_collection(edit, 2).map(drop).expect_err("an error");
    let name = || "N".to_owned();
    let missing = |edit_of, item| {
        let error = edit(edit_of);
        assert!(matches!(error, Error::NotFound(found, 99) if found == item), "{error}");
    };
    missing(Edit::Rename { collection: 99, name: name() }, Item::Collection);
    missing(Edit::Delete { collection: 99 }, Item::Collection);
    missing(Edit::Add { collection: 99, of: vec![1], place: None }, Item::Collection);
    missing(Edit::Create { name: name(), of: vec![99] }, Item::Game);
    let chapter = 99_999;
    for of_chapter in [
        Edit::RenameChapter { chapter, name: name() },
        Edit::MoveChapter { chapter, place: 0, collection: None },
        Edit::RemoveChapter { chapter },
    ] {
        let error = edit(of_chapter);
        assert!(matches!(error, Error::NotFound(Item::Chapter, 99_999)), "{error}");
    }
    let full = edit(Edit::Add { collection: id, of: vec![1], place: None });
    assert!(matches!(full, Error::TooMany(Item::Chapter)), "{full}");
    for name in ["", " ", "a\nb", &"a".repeat(401)] {
        let error = edit(Edit::Rename { collection: id, name: name.to_owned() });
        assert!(matches!(error, Error::InvalidName(Item::Collection)), "{error}");
    }
    let first = chapters(&library, id)[0].id;
    let error = edit(Edit::RenameChapter { chapter: first, name: String::new() });
    assert!(matches!(error, Error::InvalidName(Item::Chapter)), "{error}");
    let (collection, _) = library.collection(id).expect("a collection");
    assert_eq!((collection.chapters, collection.changed_ms), (MAX_CHAPTERS, 1));
    assert_eq!(library.collections().expect("read"), [collection]);
    for _ in 1..1000 {
        create(&library, "More", Vec::new());
    }
    let error = edit(Edit::Create { name: name(), of: Vec::new() });
    assert!(matches!(error, Error::TooMany(Item::Collection)), "{error}");
}

/// The schema of version 4 is that of version 5 without collections.
#[test]
fn a_file_of_version_4_is_extended() {
    let dir = TempDir::new().expect("a directory");
    let new = game(&mut Random(9));
    open(&dir).add(vec![new.clone()]).expect("added");
    let file = rusqlite::Connection::open(dir.path().join("library.sqlite")).expect("it opens");
    file.execute_batch(WITHOUT_COLLECTIONS).expect("old");
    file.execute_batch(WITHOUT_ONLINE_GAMES).expect("old");
    file.pragma_update(None, "user_version", 4).expect("updated");
    drop(file);
    let library = open(&dir);
    let stored = library.game(1).expect("read").expect("a game");
    assert_eq!((&stored.moves, &stored.players), (&new.moves, &new.players));
    let id = create(&library, "C", vec![1]);
    drop(library);
    assert_eq!(games(&open(&dir), id), [1]);
}

fn append(record: &GameRecord, file: &mut Vec<u8>) {
    write(record, Format::PGN, file).expect("written");
    file.push(b'\n');
}

/// A chapter of the model: its number, its game, its name, and whether the game is deleted.
type Model = Vec<(u32, u32, String, bool)>;

/// The index of the listed chapter with a number in the whole list.
fn index_of(model: &Model, place: usize) -> usize {
    let mut listed = (0..model.len()).filter(|index| !model[*index].3);
    listed.nth(place).unwrap_or(model.len())
}

#[derive(Debug, Clone)]
enum Step {
    Add(u32, u32, u32),
    Move(u32, u32, u32),
    Remove(u32, u32),
    Rename(u32, u32),
    Delete(u32),
    Restore,
    Reopen,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let (which, place) = (0..2_u32, 0..12_u32);
    let game = 1..=6_u32;
    vec(
        prop_oneof![
            6 => (which.clone(), game.clone(), place.clone()).prop_map(|(c, g, p)| Step::Add(c, g, p)),
            4 => (which.clone(), place.clone(), place.clone()).prop_map(|(c, a, b)| Step::Move(c, a, b)),
            2 => (which.clone(), place.clone()).prop_map(|(c, p)| Step::Remove(c, p)),
            1 => (which, place).prop_map(|(c, p)| Step::Rename(c, p)),
            2 => game.prop_map(Step::Delete),
            2 => Just(Step::Restore),
            1 => Just(Step::Reopen),
        ],
        0..40,
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    /// Chapters keep their order and are counted without gaps, and those of restored games return to their places.
    #[test]
    fn places_are_in_order_after_any_edits(steps in steps()) {
        let dir = TempDir::new().expect("a directory");
        let mut library = open(&dir);
        let mut random = Random(10);
        library.add((0..6).map(|_| game(&mut random)).collect()).expect("added");
        let ids = ["A", "B"].map(|name| create(&library, name, vec![1, 2]));
        let mut models = ids.map(|id| {
            let chapters = chapters(&library, id).into_iter();
            chapters.map(|chapter| (chapter.id, chapter.game, chapter.name, false)).collect::<Model>()
        });
        let mut deleted: Vec<StoredGame> = Vec::new();
        for step in steps {
            let listed = |models: &[Model; 2], which: u32, place: u32| {
                let model = &models[which as usize];
                let at = index_of(model, place as usize);
                model.get(at).map(|entry| (at, entry.0))
            };
            match step {
                Step::Add(which, game, place) => {
                    let collection = ids[which as usize];
                    let edit = Edit::Add { collection, of: vec![game, game], place: Some(place) };
                    let added = library.edit_collection(edit, 2);
                    prop_assert_eq!(added.is_ok(), library.summary(game).is_some());
                    if added.is_ok() {
                        let model = &mut models[which as usize];
                        let at = index_of(model, place as usize);
                        let count = model.iter().take(at).filter(|entry| !entry.3).count();
                        let found = chapters(&library, collection);
                        let new = found[count..count + 2].iter();
                        let new = new.map(|chapter| (chapter.id, chapter.game, chapter.name.clone(), false));
                        model.splice(at..at, new.collect::<Vec<_>>());
                    }
                }
                Step::Move(which, from, place) => {
                    let Some((at, chapter)) = listed(&models, which, from) else { continue };
                    library.edit_collection(Edit::MoveChapter { chapter, place, collection: None }, 2).expect("moved");
                    let model = &mut models[which as usize];
                    let moved = model.remove(at);
                    let to = index_of(model, place as usize);
                    model.insert(to, moved);
                }
                Step::Remove(which, place) => {
                    let Some((at, chapter)) = listed(&models, which, place) else { continue };
                    library.edit_collection(Edit::RemoveChapter { chapter }, 2).expect("removed");
                    models[which as usize].remove(at);
                }
                Step::Rename(which, place) => {
                    let Some((at, chapter)) = listed(&models, which, place) else { continue };
                    let name = format!("{chapter}!");
                    let edit = Edit::RenameChapter { chapter, name: name.clone() };
                    library.edit_collection(edit, 2).expect("renamed");
                    models[which as usize][at].2 = name;
                }
                Step::Delete(game) => {
                    let Some(stored) = library.game(game).expect("read") else { continue };
                    let concerned = models.iter().filter(|model| model.iter().any(|entry| entry.1 == game));
                    let counted = library.collections_of(&[game].into()).expect("counted");
                    prop_assert_eq!(counted, concerned.count());
                    prop_assert_eq!(library.delete(vec![game]).expect("deleted"), 1);
                    deleted.push(stored);
                    models.iter_mut().flatten().filter(|entry| entry.1 == game).for_each(|entry| entry.3 = true);
                }
                Step::Restore => {
                    library.restore(std::mem::take(&mut deleted)).expect("restored");
                    models.iter_mut().flatten().for_each(|entry| entry.3 = false);
                }
                Step::Reopen => {
                    drop(library);
                    library = open(&dir);
                    deleted.clear();
                    for model in &mut models {
                        model.retain(|entry| !entry.3);
                    }
                }
            }
            for (id, model) in ids.into_iter().zip(&models) {
                let expected = model.iter().filter(|entry| !entry.3);
                let expected = expected.map(|entry| (entry.0, entry.1, entry.2.clone())).collect::<Vec<_>>();
                let found = chapters(&library, id).into_iter();
                let found = found.map(|chapter| (chapter.id, chapter.game, chapter.name)).collect::<Vec<_>>();
                prop_assert_eq!(found, expected);
            }
        }
    }

    /// A file becomes a collection, and the chapters in their order are the file again.
    #[test]
    fn a_file_of_chapters_is_a_collection(seeds in vec(0..1_u64 << 40, 1..8), repeat: bool) {
        let mut file = Vec::new();
        let chess = seeds.into_iter().map(random_record).filter(|record| record.game() == Game::Chess);
        for (number, mut record) in chess.enumerate() {
            // A second event begins another game.
            while record.headers.remove("Event").is_some() {}
            record.headers.set("StudyName", "Study");
            record.headers.set("ChapterName", format!("Chapter {number}"));
            for _ in 0..=u8::from(repeat) {
                append(&record, &mut file);
            }
        }
        let records: Vec<GameRecord> = read(&file[..], Format::PGN).flatten().collect();
        let dir = TempDir::new().expect("a directory");
        let library = open_records(dir.path());
        let id = create(&library, "Study", import(&library, &file).order);
        let mut again = Vec::new();
        for (chapter, record) in chapters(&library, id).into_iter().zip(&records) {
            prop_assert_eq!(Some(chapter.name.as_str()), record.headers.get("ChapterName"));
            let stored = library.game(chapter.game).expect("read").expect("a game");
            append(&stored.record().expect("a record"), &mut again);
        }
        let mut expected = Vec::new();
        for record in &records {
            append(record, &mut expected);
        }
        prop_assert_eq!(String::from_utf8(again), String::from_utf8(expected));
    }
}
