//! Tests of the store.

#[cfg(target_os = "linux")]
mod faults;
mod kill;

use readyok_library::Source;
use readyok_protocol::Score;
use readyok_rules::record::{GameRecord, ScoredLine, read};
use std::ops::ControlFlow;

use super::*;
use crate::game::{GameSession, Tree};
use crate::wire::{
    Duplicates, ExerciseGrade, LibraryQuery, OWN_MISTAKES, TrainingQuery, TrainingSetKind,
};

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
    store.library.summary(id).map_or(0, |summary| summary.plies)
}

fn write_all(store: &mut Store) {
    for game in store.begin_writing().expect("it works") {
        game.write(&store.library).expect("written");
    }
}

fn save(store: &mut Store, id: GameId, pgn: &str) {
    let saved = store.save(vec![(id, session(id, pgn).stored())], 7);
    assert!(saved.iter().all(Result::is_ok));
}

/// The numbers of moves of the open games.
fn open_plies(store: &Store) -> Vec<usize> {
    let open = store.open_games();
    open.map(|(id, stored, _)| GameSession::restored(id, stored, 9).tree().main_line().len())
        .collect()
}

#[test]
fn moves_during_the_writing_of_a_game_are_kept() {
    let (directory, mut store) = store();
    let id = add(&mut store, "1. e4 *");
    let restart = |store: Store| {
        drop(store);
        Store::open(directory.path()).expect("it opens")
    };
    save(&mut store, id, "1. e4 e5 *");
    let unwritten = store.begin_writing().expect("it works");
    assert!(store.begin_writing().expect("it works").is_empty());
    save(&mut store, id, "1. e4 e5 2. Nf3 *");
    // The program can end before and after the game is written.
    let mut store = restart(store);
    assert_eq!(open_plies(&store), [3]);
    unwritten[0].write(&store.library).expect("written");
    assert_eq!(plies(&store, id), 2);
    save(&mut store, id, "1. e4 e5 2. Nf3 Nc6 *");
    let mut store = restart(store);
    assert_eq!(open_plies(&store), [4]);
    // A later version is not replaced by an earlier one.
    let unwritten = store.begin_writing().expect("it works");
    save(&mut store, id, "1. e4 e5 2. Nf3 Nc6 3. Bb5 *");
    store.close_game(id).expect("closed");
    unwritten[0].write(&store.library).expect("written");
    assert_eq!(plies(&store, id), 5);
    assert_eq!(open_plies(&restart(store)), [0; 0]);
}

#[test]
fn open_games_survive_without_the_library() {
    let (directory, mut store) = store();
    let ids = ["1. e4 *", "1. d4 *"].map(|pgn| add(&mut store, pgn));
    for id in ids {
        save(&mut store, id, "1. e4 e5 2. Nf3 *");
    }
    assert_eq!(ids.map(|id| plies(&store, id)), [1, 1], "the library is unchanged");
    drop(store);
    let mut store = Store::open(directory.path()).expect("it opens");
    assert_eq!(open_plies(&store), [3, 3]);
    write_all(&mut store);
    assert_eq!(ids.map(|id| plies(&store, id)), [3, 3]);
    save(&mut store, ids[0], "1. e4 e5 2. Nf3 Nc6 *");
    drop(store);
    let store = Store::open(directory.path()).expect("it opens");
    assert_eq!(open_plies(&store), [4, 3], "games in the library stay open");
}

#[test]
fn a_closed_game_is_in_the_library() {
    let (_directory, mut store) = store();
    let id = add(&mut store, "1. e4 *");
    save(&mut store, id, "1. e4 e5 *");
    store.close_game(id).expect("it works");
    assert_eq!(plies(&store, id), 2);
    let (game, _) = store.game(id).expect("it works").expect("a game");
    let session = GameSession::restored(id, game.decode().expect("it is whole"), 9);
    assert_eq!(session.tree().main_line().len(), 2);
    assert!(store.open.is_empty());
    // A game that is not open is replaced.
    save(&mut store, id, "1. e4 e5 2. Nf3 *");
    assert_eq!(plies(&store, id), 3);
}

#[test]
fn a_damaged_open_game_is_kept_and_the_others_are_opened() {
    let (directory, mut store) = store();
    let directory = directory.path();
    let [first, second, third] = ["1. e4 *", "1. d4 *", "1. c4 *"].map(|pgn| add(&mut store, pgn));
    for id in [first, second, third] {
        save(&mut store, id, "1. e4 e5 2. Nf3 *");
    }
    let damage = |sql: &str, id: GameId| {
        store.db.execute(sql, [id]).expect("a row");
    };
    damage("UPDATE open_game SET document = substr(document, 1, 20) WHERE game = ?1", first);
    damage("UPDATE open_game SET document = zeroblob(60) WHERE game = ?1", third);
    drop(store);
    for _ in 0..2 {
        let mut store = Store::open(directory).expect("it opens");
        let text = |path: PathBuf| path.to_string_lossy().into_owned();
        let file = |id: GameId| DamagedFile {
            path: text(directory.join("app.sqlite")),
            moved_to: Some(text(directory.join(format!("damaged/1/game-{id}.document")))),
            game: Some(id),
        };
        assert_eq!(store.damaged(), [file(first), file(third)]);
        assert_eq!(open_plies(&store), [3]);
        assert_eq!(plies(&store, first), 1, "it is in the library");
        write_all(&mut store);
        assert_eq!(plies(&store, second), 3);
    }
    let blob = std::fs::read(directory.join(format!("damaged/1/game-{third}.document")));
    assert_eq!(blob.expect("a file"), [0; 60]);
}

/// The exercises of versions 2 to 4.
const EARLIER_EXERCISES: &str = "
    DROP TABLE review; DROP TABLE exercise; DROP TABLE training_set; DROP TABLE training_theme; DROP TABLE problem_block;
    CREATE TABLE exercise (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        position TEXT NOT NULL UNIQUE,
        variant TEXT NOT NULL,
        kind TEXT NOT NULL,
        kept TEXT NOT NULL,
        added INTEGER NOT NULL,
        due INTEGER,
        stability REAL,
        difficulty REAL,
        reviewed INTEGER,
        reviews INTEGER NOT NULL DEFAULT 0,
        lapses INTEGER NOT NULL DEFAULT 0,
        deleted INTEGER NOT NULL DEFAULT 0
    );
    CREATE INDEX exercise_by_due ON exercise (due);
    CREATE TABLE review (
        exercise INTEGER NOT NULL REFERENCES exercise (id),
        at INTEGER NOT NULL,
        grade INTEGER NOT NULL,
        PRIMARY KEY (exercise, at)
    ) WITHOUT ROWID;
";

#[test]
fn exercises_of_earlier_versions_move_to_sets() {
    let (directory, store) = store();
    store.db.execute_batch(EARLIER_EXERCISES).expect("changed");
    let exercise = |id: u32, position: &str, game: &str, due: &str, deleted: bool| {
        let kept = format!(
            r#"{{"variant":"chess","position":"{position}","side":"first","kind":"mate","solution":["a2a7"],"best":[],
            "mate":2,"score":null,"engine":null,"source":{{"name":"x","game":{game},"node":null,"played":null}}}}"#
        );
        let sql = format!(
            "INSERT INTO exercise (id, position, variant, kind, kept, added, due, stability, difficulty, reviewed,
             reviews, deleted) VALUES ({id}, ?1, 'chess', 'mate', ?2, 7, {due}, 3.5, 5.0, 8, 1, {deleted})"
        );
        store.db.execute(&sql, params![format!("{id}"), kept]).expect("a row");
    };
    let ladder = "7k/8/8/8/8/8/R7/1R5K w - -";
    exercise(3, &format!("{ladder} 0 1"), "null", "99", false);
    // Damage, and a position that the earlier version took for another one.
    exercise(5, &format!("{ladder} 3 9"), "null", "NULL", true);
    exercise(6, "8/8", "null", "NULL", false);
    exercise(8, &format!("{ladder} 0 1"), "41", "99", false);
    store
        .db
        .execute_batch("INSERT INTO review VALUES (3, 8, 3), (8, 8, 1); PRAGMA user_version = 4")
        .expect("rows");
    drop(store);
    let mut store = Store::open(directory.path()).expect("it opens");
    let times = Times { now: 100, midnight: 0 };
    let training = |store: &Store, set| {
        let query = TrainingQuery { set, ..TrainingQuery::default() };
        store.training(&query, 9, times).expect("it works").expect("a set")
    };
    let own = training(&store, OWN_MISTAKES);
    let of_sets: Vec<_> = own.sets.iter().map(|set| (set.id, set.kind, set.total)).collect();
    assert_eq!(of_sets, [(0, TrainingSetKind::Mistakes, 1), (1, TrainingSetKind::Problems, 2)]);
    let ids =
        |found: &exercises::FoundExercises| found.queue.iter().map(|it| it.id).collect::<Vec<_>>();
    assert_eq!((ids(&own), own.stats.reviews, own.stats.solved), (vec![8], 1, 0));
    let problems = training(&store, 1);
    assert_eq!((ids(&problems), problems.stats.reviews), (vec![3, 6], 1));
    assert_eq!(problems.themes.len(), 2, "mate and its length");
    let memory = problems.queue[0].memory.expect("it was reviewed");
    assert_eq!((memory.due, memory.stability.to_bits()), (99, 3.5_f32.to_bits()));
    // The numbers of exercises are never used again, and the schedule continues.
    store.review(3, ExerciseGrade::Good, 100).expect("it works").expect("it exists");
    assert_eq!(training(&store, 1).stats.reviews, 2);
}

#[test]
fn files_of_the_earlier_version_are_extended() {
    let (directory, mut store) = store();
    let id = add(&mut store, "1. e4 *");
    store.close_game(id).expect("it works");
    store.save_port(4711);
    let settings = serde_json::from_str(r#"{"engine":1,"limits":{}}"#).expect("settings");
    store.begin_report(id, &StoredReport::new(settings, vec![0, 4])).expect("stored");
    let judgement = r#"{"ply":1,"node":4,"turn":"second","score":{"kind":"cp","value":-31},"choices":20,"uci":"e2e4",
        "best":[{"uci":"e7e5","text":{"western":"e5","japanese":null}}],"depth":9}"#;
    let sql = "INSERT INTO judgement (game, ply, kept) VALUES (?1, 1, ?2)";
    store.db.execute(sql, params![id, judgement]).expect("a row");
    store.db.execute_batch("DROP TABLE open_game; PRAGMA user_version = 2").expect("changed");
    store.db.execute_batch(EARLIER_EXERCISES).expect("changed");
    drop(store);
    // Its logs of open games are named.
    let path = directory.path().join("open.sqlite");
    let logs = Connection::open(&path).expect("it opens");
    logs.execute_batch("CREATE TABLE open_game (id INTEGER); INSERT INTO open_game VALUES (1)")
        .expect("a table");
    let mut store = Store::open(directory.path()).expect("it opens");
    assert_eq!((store.last_port(), plies(&store, id)), (Some(4711), 1));
    let report = store.report(id).expect("it is read").expect("a report");
    let note = report.notes.get(4.into()).expect("a note");
    assert_eq!((note.score, note.depth, note.choices), (Score::Cp(-31), Some(9), 20));
    assert_eq!(note.lines, [ScoredLine { score: Score::Cp(-31), moves: vec!["e7e5".to_owned()] }]);
    let path = path.to_string_lossy().into_owned();
    assert_eq!(store.damaged(), [DamagedFile { path, moved_to: None, game: None }]);
    add(&mut store, "1. d4 *");
    assert_eq!(open_plies(&store), [1]);
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
            let store = Store::open(directory).expect("it opens");
            let moved = directory.join("damaged/1").join(name);
            let text = |path: &Path| path.to_string_lossy().into_owned();
            let file = DamagedFile {
                path: text(&directory.join(name)),
                moved_to: Some(text(&moved)),
                game: None,
            };
            assert_eq!(store.damaged(), [file]);
            assert_eq!(std::fs::read(&moved).expect("a file"), content, "{name}");
            let usable = (store.last_port(), plies(&store, id), open_plies(&store).len());
            let games = store.match_games(3).expect("it works");
            if name == LIBRARY {
                assert_eq!(usable, (Some(4711), 0, 0));
                // A new game gets the number of the old one, to which nothing refers any more.
                assert!(games.is_empty());
            } else {
                assert_eq!(usable, (None, 1, 0));
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
    save(&mut store, id, "1. e4 e5 *");
    store.link_match_game(3, 1, id).expect("a row");
    drop(store);
    let sound = std::fs::read(directory.join(LIBRARY)).expect("a file");
    damage(&directory.join(LIBRARY));
    let mut store = Store::open(directory).expect("it opens");
    assert_eq!(add(&mut store, "1. d4 d5 2. c4 *"), id, "its number is used again");
    drop(store);
    // The user repairs the file and restores both.
    let moved = directory.join("damaged/1");
    std::fs::write(moved.join(LIBRARY), sound).expect("it is ours");
    let store = Store::open(&moved).expect("it opens");
    assert_eq!(open_plies(&store), [2]);
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
        moves
            .iter()
            .map(|summary| new_game(&record(summary), Source::Import, 5))
            .collect::<Vec<_>>()
    };
    let kept = StoredJob {
        added: 3,
        duplicate_choice: Duplicates::Keep,
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
    assert_eq!(
        store.library.find_all(&readyok_rules::record::Condition::default()).expect("found"),
        all
    );
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
fn searches_find_positions_of_open_games_after_they_are_written() {
    let (_directory, mut store) = store();
    let id = add(&mut store, "1. e4 *");
    save(&mut store, id, "[White \"Ada\"]\n\n1. e4 c5 1-0");
    write_all(&mut store);
    let mut query = LibraryQuery::default();
    query.filter.opening = Some("1. e4 c5".to_owned());
    query.filter.player = Some("ada".to_owned());
    let page = search(&store.library, &query, &|_, _| ControlFlow::Continue(())).expect("it works");
    assert_eq!((page.total, page.games[0].id, page.games[0].plies), (1, id, 2));
    query.filter.opening = Some("e4 e5".to_owned());
    assert_eq!(
        search(&store.library, &query, &|_, _| ControlFlow::Continue(())).expect("it works").total,
        0
    );
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
