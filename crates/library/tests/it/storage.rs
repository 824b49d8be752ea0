//! Adding, replacing and deleting games, and what remains after a kill.

use std::fs;

use readyok_library::{Column, Error, Library, LibraryDefect};
use readyok_rules::record::Condition;
use tempfile::TempDir;

use crate::generate::{Random, game, indexer, keys, moves_of, postings, reaches};

fn open(dir: &TempDir) -> Library {
    Library::open_with(&dir.path().join("library.sqlite"), indexer, 1 << 12).expect("it opens")
}

#[test]
fn games_are_read_as_they_were_added() {
    let dir = TempDir::new().expect("a directory");
    let mut random = Random(1);
    let games: Vec<_> = (0..5000).map(|_| game(&mut random)).collect();
    {
        let library = open(&dir);
        for batch in games.chunks(700) {
            library.add(batch.to_vec()).expect("they are added");
        }
    }
    let library = open(&dir);
    for (id, new) in (1..).zip(&games) {
        let stored = library.game(id).expect("it is read").expect("it exists");
        assert_eq!(stored.players, new.players);
        assert_eq!((&stored.event, &stored.opening), (&new.event, &new.opening));
        assert_eq!((&stored.moves, &stored.tags), (&new.moves, &new.tags));
        let summary = library.summary(id).expect("it exists");
        assert_eq!(summary, stored.summary);
        assert_eq!((summary.result, summary.plies), (new.summary.result, new.summary.plies));
    }
    assert_eq!(library.game(5001).expect("it is read"), None);
}

#[test]
fn replaced_and_deleted_games_leave_the_index() {
    let dir = TempDir::new().expect("a directory");
    let library = open(&dir);
    let mut random = Random(2);
    let games: Vec<_> = (0..300).map(|_| game(&mut random)).collect();
    library.add(games.clone()).expect("they are added");
    library.flush(false).expect("flushed");
    let found = |moves: &[u16]| library.find_all(&reaches(moves)).expect("found");
    let (old, new) = (moves_of(&games[9].moves), [901_u16, 902, 903]);
    assert_eq!(found(&old), [10]);
    let mut changed = games[9].clone();
    changed.moves = new.iter().flat_map(|mv| mv.to_le_bytes()).collect();
    changed.postings = postings(&new);
    changed.summary.moves_hash = 1;
    for flushed in [false, true] {
        if flushed {
            library.flush(true).expect("flushed");
        } else {
            assert!(library.replace(10, changed.clone()).expect("replaced"));
        }
        assert_eq!((found(&old), found(&new)), (vec![], vec![10]));
    }
    assert!(library.summary(10).expect("it exists").edited);
    library.add(vec![game(&mut random)]).expect("added");
    let order = |descending| {
        let page = library.search(&Condition::default(), (Column::Changed, descending), 0, 3);
        page.expect("a page").games.iter().map(|game| game.id).collect::<Vec<_>>()
    };
    assert_eq!((order(true), order(false)), (vec![301, 10, 300], vec![1, 2, 3]));
    library.delete(vec![301]).expect("deleted");
    assert_eq!(library.delete(vec![10, 20, 999]).expect("deleted"), 2);
    assert_eq!(found(&new), [0; 0]);
    assert_eq!(found(&[]).len(), 298);
    assert!(!library.replace(10, changed).expect("no error"));
    drop(library);
    let library = open(&dir);
    let page = library.search(&Condition::default(), (Column::Added, true), 0, 3).expect("a page");
    assert_eq!((page.total, page.games.len(), page.games[0].id), (298, 3, 300));
}

#[test]
fn postings_in_memory_are_computed_again_after_a_kill() {
    let dir = TempDir::new().expect("a directory");
    let library = open(&dir);
    let mut random = Random(3);
    library.add((0..100).map(|_| game(&mut random)).collect()).expect("they are added");
    library.flush(false).expect("flushed");
    library.add((0..100).map(|_| game(&mut random)).collect()).expect("they are added");
    // A copy of the files is what a killed process leaves.
    let copy = TempDir::new().expect("a directory");
    for entry in fs::read_dir(dir.path()).expect("it is read") {
        let entry = entry.expect("an entry");
        fs::copy(entry.path(), copy.path().join(entry.file_name())).expect("copied");
    }
    let library = open(&copy);
    library.flush(false).expect("flushed");
    assert_eq!(library.find_all(&reaches(&[])).expect("found").len(), 200);
}

#[test]
fn files_of_other_versions_and_programs_are_rejected_unchanged() {
    let dir = TempDir::new().expect("a directory");
    let path = dir.path().join("library.sqlite");
    drop(open(&dir));
    let connection = rusqlite::Connection::open(&path).expect("it opens");
    connection.pragma_update(None, "user_version", 9).expect("updated");
    drop(connection);
    let bytes = fs::read(&path).expect("it is read");
    let error = Library::open_with(&path, indexer, 1 << 12).expect_err("another version");
    assert!(
        matches!(error, Error::Defect(LibraryDefect::LibraryVersion { found: 9, expected: 6 })),
        "{error}"
    );
    assert_eq!(fs::read(&path).expect("it is read"), bytes);
    let other = dir.path().join("other.sqlite");
    let connection = rusqlite::Connection::open(&other).expect("it opens");
    connection.execute_batch("CREATE TABLE other (id)").expect("created");
    drop(connection);
    assert!(matches!(
        Library::open_with(&other, indexer, 1 << 12),
        Err(Error::Defect(LibraryDefect::NoLibrary))
    ));
    fs::write(&other, "no database, but a text that is long enough for a header").expect("written");
    assert!(matches!(
        Library::open_with(&other, indexer, 1 << 12),
        Err(Error::Defect(LibraryDefect::LibraryDamaged))
    ));
}

#[test]
fn deleted_games_are_restored_with_their_numbers() {
    let dir = TempDir::new().expect("a directory");
    let library = open(&dir);
    let mut random = Random(4);
    let games: Vec<_> = (0..300).map(|_| game(&mut random)).collect();
    library.add(games.clone()).expect("they are added");
    library.replace(7, games[8].clone()).expect("replaced");
    let all = |library: &Library| library.find_all(&reaches(&[])).expect("found");
    let order = |library: &Library| {
        let page = library.search(&Condition::default(), (Column::Changed, true), 0, 400);
        page.expect("a page").games.iter().map(|game| game.id).collect::<Vec<_>>()
    };
    let (before, sorted) = (all(&library), order(&library));
    let stored = |library: &Library, id| library.game(id).expect("read").expect("a game");
    let numbers = [7, 8, 200, 299];
    for flush in [false, true] {
        let deleted = numbers.map(|id| stored(&library, id)).to_vec();
        if flush {
            library.flush(false).expect("flushed");
        }
        library.delete(numbers.to_vec()).expect("deleted");
        assert_eq!(all(&library).len(), 296);
        assert_eq!(library.restore(deleted.clone()).expect("restored"), 4);
        assert_eq!(library.restore(deleted.clone()).expect("restored"), 0);
        assert_eq!(numbers.map(|id| stored(&library, id)).to_vec(), deleted);
        assert_eq!((all(&library), order(&library)), (before.clone(), sorted.clone()));
        // Each game counts once for each of its moves.
        let start = keys(&[])[0];
        let explorer = library
            .explore(start, readyok_rules::Side::First, &Condition::default())
            .expect("found");
        let moves: u32 = explorer.moves.iter().map(|entry| entry.counts.total()).sum();
        let ended = games.iter().filter(|game| moves_of(&game.moves).is_empty()).count();
        assert_eq!((explorer.total, moves as usize), (300, 300 - ended));
    }
    library.flush(true).expect("flushed");
    assert_eq!(all(&library), before);
    drop(library);
    assert_eq!(all(&open(&dir)), before);
}

/// A draft of an app gets its number before it becomes a game, and later games do not take it.
#[test]
fn a_game_is_added_with_a_reserved_number() {
    let dir = TempDir::new().expect("a directory");
    let library = open(&dir);
    let mut random = Random(6);
    let mut new = || game(&mut random);
    let all = |library: &Library| library.find_all(&reaches(&[])).expect("found");
    let numbers: Vec<u32> = (0..9000).map(|_| library.reserve().expect("a number")).collect();
    assert_eq!((numbers[0], numbers[8999]), (1, 9000));
    assert!(all(&library).is_empty());
    let first = new();
    assert!(library.add_reserved(5000, first.clone()).expect("added"));
    // The numbers before it are of a complete part of the file, although they have no games.
    assert_eq!(library.add(vec![new()]).expect("added"), [9001]);
    assert!(!library.add_reserved(5000, new()).expect("in use"));
    assert!(!library.add_reserved(9002, new()).expect("not reserved"));
    assert!(library.add_reserved(7, new()).expect("added"));
    let page = library.search(&Condition::default(), (Column::Changed, true), 0, 9);
    let order: Vec<u32> = page.expect("a page").games.iter().map(|game| game.id).collect();
    assert_eq!(order, [7, 9001, 5000], "the time of the addition counts");
    for _ in 0..2 {
        assert_eq!(all(&library), [7, 5000, 9001]);
        library.flush(false).expect("flushed");
    }
    drop(library);
    let library = open(&dir);
    assert_eq!(all(&library), [7, 5000, 9001]);
    let stored = library.game(5000).expect("read").expect("a game");
    assert_eq!((&stored.moves, &stored.players), (&first.moves, &first.players));
    assert_eq!(library.reserve().expect("a number"), 9002);
    assert!(!library.reserve_again(7).expect("in use"));
    assert!(library.reserve_again(9500).expect("it is free"));
    assert_eq!(library.reserve().expect("a number"), 9501);
}
