//! Tests of the store.

use readyok_library::Source;
use readyok_rules::record::{GameRecord, read};

use super::*;
use crate::game::{GameSession, Tree};
use crate::wire::{DuplicateChoice, LibraryQuery};

fn store() -> (tempfile::TempDir, Store) {
    let directory = tempfile::tempdir().expect("a directory");
    let store = Store::open(directory.path()).expect("it opens");
    (directory, store)
}

fn record(pgn: &str) -> GameRecord {
    read(pgn.as_bytes(), None).flatten().next().expect("a game")
}

fn session(id: GameId, pgn: &str) -> GameSession {
    GameSession::new(id, Tree::from_record(&record(pgn)), 5)
}

fn add(store: &mut Store, pgn: &str) -> GameId {
    store.new_game(&record(pgn), Source::Play, 5).expect("a game")
}

fn plies(store: &Store, id: GameId) -> u16 {
    store.library.summary(id).map_or(0, |it| it.plies)
}

fn fold_all(store: &mut Store) {
    for game in store.begin_folding().expect("it works") {
        game.write(&store.library).expect("written");
    }
}

#[test]
fn moves_during_a_fold_are_kept() {
    let (directory, mut store) = store();
    let id = add(&mut store, "1. e4 *");
    let save = |store: &mut Store, pgn| {
        let changed = session(id, pgn).snapshot();
        assert!(store.save(vec![(id, changed)], 7).iter().all(Result::is_ok));
    };
    let restart = |store: Store| {
        drop(store);
        let mut store = Store::open(directory.path()).expect("it opens");
        let restored: Vec<_> =
            store.open_games().iter().map(|it| it.session.tree().main_line().len()).collect();
        (store, restored)
    };
    save(&mut store, "1. e4 e5 *");
    let folding = store.begin_folding().expect("it works");
    assert!(store.begin_folding().expect("it works").is_empty());
    save(&mut store, "1. e4 e5 2. Nf3 *");
    // The program can end before and after the game is written.
    let (mut store, restored) = restart(store);
    assert_eq!(restored, [3]);
    folding[0].write(&store.library).expect("written");
    assert_eq!(plies(&store, id), 2);
    save(&mut store, "1. e4 e5 2. Nf3 Nc6 *");
    let (mut store, restored) = restart(store);
    assert_eq!(restored, [4]);
    // A later state is not replaced by an earlier one.
    let folding = store.begin_folding().expect("it works");
    save(&mut store, "1. e4 e5 2. Nf3 Nc6 3. Bb5 *");
    store.end_log(id).expect("closed");
    folding[0].write(&store.library).expect("written");
    assert_eq!(plies(&store, id), 5);
    let (_, restored) = restart(store);
    assert_eq!(restored, [0; 0]);
}

#[test]
fn changes_of_open_games_survive_in_their_logs() {
    let (directory, mut store) = store();
    let ids = ["1. e4 *", "1. d4 *"].map(|pgn| add(&mut store, pgn));
    let changed = ids.map(|id| (id, session(id, "1. e4 e5 2. Nf3 *").snapshot()));
    assert!(store.save(changed.to_vec(), 7).iter().all(Result::is_ok));
    assert_eq!(ids.map(|id| plies(&store, id)), [1, 1], "the library is unchanged");
    drop(store);
    let mut store = Store::open(directory.path()).expect("it opens");
    let restored: Vec<_> = store
        .open_games()
        .into_iter()
        .map(|it| (it.session.id(), it.session.tree().main_line().len()))
        .collect();
    assert_eq!(restored, ids.map(|id| (id, 3)));
    fold_all(&mut store);
    assert_eq!(ids.map(|id| plies(&store, id)), [3, 3]);
    let changed = session(ids[0], "1. e4 e5 2. Nf3 Nc6 *").snapshot();
    assert!(store.save(vec![(ids[0], changed)], 8).iter().all(Result::is_ok));
    drop(store);
    let mut store = Store::open(directory.path()).expect("it opens");
    let restored = store.open_games();
    assert_eq!(restored[0].session.tree().main_line().len(), 4);
    assert_eq!(restored.len(), 2, "folded games stay open");
}

#[test]
fn a_closed_game_is_in_the_library() {
    let (_directory, mut store) = store();
    let id = add(&mut store, "1. e4 *");
    let changed = session(id, "1. e4 e5 *").snapshot();
    assert!(store.save(vec![(id, changed)], 7).iter().all(Result::is_ok));
    store.end_log(id).expect("it works");
    assert_eq!(plies(&store, id), 2);
    let loaded = store.game(id).expect("it works").and_then(|it| it.load(9)).expect("a game");
    assert_eq!(loaded.session.tree().main_line().len(), 2);
    assert!(store.saved.is_empty());
    // A game without a log is replaced.
    let changed = session(id, "1. e4 e5 2. Nf3 *").snapshot();
    assert!(store.save(vec![(id, changed)], 8).iter().all(Result::is_ok));
    assert_eq!(plies(&store, id), 3);
}

/// Overwrites the first page of a database after its header.
fn damage(path: &Path) -> Vec<u8> {
    let mut content = std::fs::read(path).expect("a file");
    content[100..4096].fill(0xA5);
    std::fs::write(path, &content).expect("it is ours");
    content
}

#[test]
fn a_damaged_file_is_moved_and_the_others_are_used() {
    for name in FILES {
        let (directory, mut store) = store();
        let directory = directory.path();
        let id = add(&mut store, "1. e4 *");
        store.save_port(4711);
        store.link_match_game(3, 1, id).expect("a row");
        drop(store);
        let content = damage(&directory.join(name));
        // It stays so until the user takes the file away.
        for _ in 0..2 {
            let mut store = Store::open(directory).expect("it opens");
            let moved = directory.join("damaged/1").join(name);
            let text = |path: &Path| path.to_string_lossy().into_owned();
            let file =
                DamagedFile { path: text(&directory.join(name)), moved_to: Some(text(&moved)) };
            assert_eq!(store.damaged(), [file]);
            assert_eq!(std::fs::read(&moved).expect("a file"), content, "{name}");
            let usable = (store.last_port(), plies(&store, id), store.open_games().len());
            let games = store.match_games(3).expect("it works");
            match name {
                "app.sqlite" => assert_eq!(usable, (None, 1, 1)),
                "library.sqlite" => {
                    assert_eq!(usable, (Some(4711), 0, 0));
                    // A new game gets the number of the old one, to which nothing refers any more.
                    assert!(games.is_empty());
                }
                _ => assert_eq!((usable, games), ((Some(4711), 1, 0), vec![id])),
            }
        }
        std::fs::remove_dir_all(directory.join("damaged")).expect("it is ours");
        assert_eq!(Store::open(directory).expect("it opens").damaged(), []);
    }
}

#[test]
fn what_belongs_to_a_damaged_library_is_kept_with_it() {
    let (directory, mut store) = store();
    let directory = directory.path();
    let id = add(&mut store, "1. e4 *");
    let changed = session(id, "1. e4 e5 *").snapshot();
    assert!(store.save(vec![(id, changed)], 7).iter().all(Result::is_ok));
    store.link_match_game(3, 1, id).expect("a row");
    drop(store);
    let sound = std::fs::read(directory.join(LIBRARY)).expect("a file");
    damage(&directory.join(LIBRARY));
    let mut store = Store::open(directory).expect("it opens");
    assert_eq!(add(&mut store, "1. d4 d5 2. c4 *"), id, "its number is used again");
    drop(store);
    // The user repairs the file and restores all three.
    let moved = directory.join("damaged/1");
    std::fs::write(moved.join(LIBRARY), sound).expect("it is ours");
    let mut store = Store::open(&moved).expect("it opens");
    assert_eq!(store.open_games()[0].session.tree().main_line().len(), 2);
    assert_eq!(store.match_games(3).expect("it works"), [id]);
}

#[test]
fn an_unusable_file_is_named() {
    for name in FILES {
        let directory = tempfile::tempdir().expect("a directory");
        // `SQLite` cannot open a directory.
        std::fs::create_dir(directory.path().join(name)).expect("it is new");
        let error = Store::open(directory.path()).map(drop).expect_err("a directory").to_string();
        assert!(error.contains(&format!("/{name}`: ")), "{error}");
    }
}

#[test]
fn files_of_other_versions_are_rejected_and_left_unchanged() {
    for name in FILES {
        for (application, version) in [(0, 7), (APPLICATION, VERSION + 1), (1, 1)] {
            let directory = tempfile::tempdir().expect("a directory");
            let path = directory.path().join(name);
            let db = Connection::open(&path).expect("it opens");
            db.execute_batch("CREATE TABLE game (other TEXT)").expect("a table");
            db.pragma_update(None, "application_id", application).expect("it is set");
            db.pragma_update(None, "user_version", version).expect("it is set");
            drop(db);
            let before = std::fs::read(&path).expect("a file");
            let error = Store::open(directory.path()).map(drop).expect_err("another version");
            assert!(matches!(&error, StoreError::Version(it, _) if *it == path), "{error}");
            assert_eq!(std::fs::read(&path).expect("a file"), before, "{name}");
        }
    }
}

#[test]
fn ids_of_games_are_not_reused() {
    let (_directory, mut store) = store();
    let first = add(&mut store, "1. e4 *");
    assert_eq!(store.delete(&[first]).expect("it works"), 1);
    assert_eq!(store.delete(&[first]).expect("it works"), 0);
    assert_ne!(add(&mut store, "1. e4 *"), first);
}

#[test]
fn a_game_of_a_match_is_found_until_one_of_them_is_deleted() {
    let (_directory, mut store) = store();
    let new = || new_game(&record("1. e4 *"), Source::Match, 5);
    let games = [1, 2, 3].map(|number| store.add_match_game(7, number, new()).expect("a game"));
    assert_eq!(store.add_match_game(7, 1, new()).expect("it works"), games[0], "it exists");
    let found = |store: &Store, number| store.match_game(7, number).expect("it works");
    assert_eq!(found(&store, 1), Some(games[0]));
    assert_eq!((found(&store, 2), found(&store, 4)), (Some(games[1]), None));
    store.delete(&[games[0]]).expect("it works");
    assert_eq!((found(&store, 1), found(&store, 2)), (None, Some(games[1])));
    store.forget_matches(8..=u32::MAX).expect("it works");
    assert_eq!(found(&store, 2), Some(games[1]));
    store.forget_matches(7..=7).expect("it works");
    assert_eq!(found(&store, 2), None);
    assert_eq!(store.delete(&[games[1]]).expect("it works"), 1, "the game remains");
}

/// A copy of `app.sqlite`, which a crash leaves if it happens before the last changes of the file.
fn app_file(directory: &tempfile::TempDir, store: &Store) -> Vec<u8> {
    store.db.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).expect("written");
    std::fs::read(directory.path().join(FILES[0])).expect("a file")
}

fn reopen(directory: &tempfile::TempDir, store: Store, app: &[u8]) -> Store {
    drop(store);
    std::fs::write(directory.path().join(FILES[0]), app).expect("written");
    Store::open(directory.path()).expect("it opens")
}

#[test]
fn games_of_matches_are_added_once_after_a_crash() {
    let (directory, mut store) = store();
    let new = || new_game(&record("1. e4 *"), Source::Match, 5);
    let app = app_file(&directory, &store);
    let game = store.add_match_game(7, 1, new()).expect("a game");
    let mut store = reopen(&directory, store, &app);
    let other = store.add_match_game(7, 2, new()).expect("a game");
    assert_eq!(store.add_match_game(7, 1, new()).expect("it works"), game);
    assert_eq!(store.match_games(7).expect("it works"), [game, other]);
    // A deleted match leaves no trace.
    store.forget_matches(7..=7).expect("it works");
    drop(store);
    let store = Store::open(directory.path()).expect("it opens");
    assert_eq!(store.match_games(7).expect("it works"), [0; 0]);
}

#[test]
fn batches_of_jobs_are_added_once_after_a_crash() {
    let (directory, mut store) = store();
    let batch = |moves: &[&str]| {
        moves.iter().map(|it| new_game(&record(it), Source::Import, 5)).collect::<Vec<_>>()
    };
    let kept = StoredJob {
        added: 3,
        duplicate_choice: DuplicateChoice::Keep,
        settings: Some(serde_json::from_str(r#"{"engine":1,"limits":{}}"#).expect("settings")),
        ..StoredJob::default()
    };
    let id = store.new_job(&kept, &[]).expect("a job");
    let first = batch(&["1. e4 *", "1. e4 *"]);
    let second = batch(&["1. e4 *", "1. d4 *"]);
    let mut job = kept.clone();
    let games = store.add_games_of_job(id, &mut job, first).expect("added");
    let app = app_file(&directory, &store);
    let before = job.clone();
    let added = store.add_games_of_job(id, &mut job, second.clone()).expect("added");
    let mut store = reopen(&directory, store, &app);
    let (_, mut kept, known) = store.jobs().expect("jobs").remove(0);
    assert_eq!((known, kept.imported, kept.batches), (games.clone(), before.imported, 1));
    // The batch is repeated.
    assert_eq!(store.add_games_of_job(id, &mut kept, second).expect("added"), added);
    assert_eq!((kept.imported, kept.batches), (4, 2));
    let all = [games, added].concat();
    assert_eq!(store.jobs().expect("jobs")[0].2, all);
    assert_eq!(store.library.find_all(&readyok_library::Filter::default()).expect("found"), all);
    store.delete_job(id).expect("deleted");
    assert_eq!(store.library.receipts().expect("read"), []);
}

#[test]
fn deleted_games_are_restored_with_their_numbers() {
    let (_directory, mut store) = store();
    let new = || new_game(&record("1. e4 *"), Source::Match, 5);
    let games = [1, 2, 3].map(|number| store.add_match_game(7, number, new()).expect("a game"));
    store.library.set_label(vec![games[1]], "good".to_owned(), true).expect("set");
    store.begin_deletion();
    assert_eq!(store.delete_restorable(&games[..2]).expect("deleted"), 2);
    assert_eq!(store.match_games(7).expect("it works"), [games[2]]);
    assert_eq!(store.restore_some().expect("restored"), 2);
    assert_eq!(store.restore_some().expect("restored"), 0);
    assert_eq!(store.match_games(7).expect("it works"), games);
    let entries = store.library.entries(&games).expect("read");
    assert_eq!(entries[1].labels, ["good"]);
    assert_eq!(entries.len(), 3);
}

#[test]
fn searches_find_positions_of_open_games_after_they_are_folded() {
    let (_directory, mut store) = store();
    let id = add(&mut store, "1. e4 *");
    let changed = session(id, "[White \"Ada\"]\n\n1. e4 c5 1-0").snapshot();
    assert!(store.save(vec![(id, changed)], 7).iter().all(Result::is_ok));
    fold_all(&mut store);
    let mut query = LibraryQuery::default();
    query.filter.opening = Some("1. e4 c5".to_owned());
    query.filter.player = Some("ada".to_owned());
    let page = search(&store.library, &query).expect("it works");
    assert_eq!((page.total, page.games[0].id, page.games[0].plies), (1, id, 2));
    query.filter.opening = Some("e4 e5".to_owned());
    assert_eq!(search(&store.library, &query).expect("it works").total, 0);
}

#[test]
fn ids_of_engines_are_not_reused() {
    let (_directory, store) = store();
    assert_eq!(store.last_engine().expect("it works"), 0);
    let entry = r#"{"name":"Mine","source":{"kind":"tcp","address":"host:1"},"protocol":"usi"}"#;
    let entry = serde_json::from_str(entry).expect("an entry");
    store.save_engine(7, &entry).expect("it works");
    store.save_engine(3, &entry).expect("it works");
    store.delete_engine(7).expect("it works");
    assert_eq!(store.last_engine().expect("it works"), 7);
}

#[test]
fn settings_are_stored() {
    let (_directory, store) = store();
    assert_eq!(store.settings().expect("it works"), Settings::default());
    let mut settings = Settings::default();
    settings.page.insert("theme".to_owned(), "dark".to_owned());
    store.save_settings(&settings).expect("it works");
    assert_eq!(store.settings().expect("it works"), settings);
}
