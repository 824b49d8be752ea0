//! Several processes on one file. Two `Library` values share nothing in memory, as two processes.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::path::Path;
use std::thread;
use std::time::Duration;

use proptest::prelude::*;
use readyok_library::{
    Column, Duplicates, Error, ImportOptions, Library, LibraryDefect, NewGame, StoredGame,
};
use readyok_rules::Side;
use readyok_rules::record::Condition;
use tempfile::TempDir;

use crate::generate::{Random, game, indexer, keys, moves_of, postings, reaches};

fn open(dir: &TempDir, max_pending: usize) -> Library {
    Library::open_with(&dir.path().join("library.sqlite"), indexer, max_pending).expect("it opens")
}

/// What a database has to contain.
type Model = BTreeMap<u32, NewGame>;

/// Compares each kind of query with the model.
fn check(library: &Library, model: &Model) {
    let all: Vec<u32> = model.keys().copied().collect();
    assert_eq!(library.find_all(&Condition::default()).expect("found"), all);
    assert_eq!(library.find_all(&reaches(&[])).expect("found"), all);
    let page = library.search(&Condition::default(), (Column::Added, false), 0, 9999);
    let page = page.expect("a page").games;
    for (entry, (id, new)) in page.iter().zip(model) {
        assert_eq!((entry.id, &entry.players, &entry.event), (*id, &new.players, &new.event));
    }
    assert_eq!(page.len(), model.len());
    let start = keys(&[])[0];
    let explorer = library.explore(start, Side::First, &Condition::default()).expect("explored");
    // A posting that exists twice would count twice.
    let mut moves: BTreeMap<u16, u32> = BTreeMap::new();
    for new in model.values() {
        if let Some(mv) = moves_of(&new.moves).first() {
            *moves.entry(*mv).or_default() += 1;
        }
    }
    let found = explorer.moves.iter().map(|entry| (entry.mv, entry.counts.total()));
    assert_eq!(found.collect::<BTreeMap<_, _>>(), moves);
    assert_eq!(explorer.total, model.len());
    for new in model.values().take(5) {
        let moves = moves_of(&new.moves);
        let with = |other: &NewGame| {
            let last = keys(&moves).pop().expect("a key");
            keys(&moves_of(&other.moves)).contains(&last)
        };
        let expected: Vec<u32> =
            model.iter().filter(|(_, other)| with(other)).map(|(id, _)| *id).collect();
        assert_eq!(library.find_all(&reaches(&moves)).expect("found"), expected);
    }
}

#[derive(Debug, Clone)]
enum Operation {
    Add(u8),
    Replace(u16),
    Delete(u16, u16),
    Restore,
    Flush(bool),
    Reopen,
    Check,
}

fn operation() -> impl Strategy<Value = (bool, Operation)> {
    let operation = prop_oneof![
        4 => (1..40_u8).prop_map(Operation::Add),
        3 => any::<u16>().prop_map(Operation::Replace),
        2 => any::<(u16, u16)>().prop_map(|(a, b)| Operation::Delete(a, b)),
        1 => Just(Operation::Restore),
        1 => any::<bool>().prop_map(Operation::Flush),
        1 => Just(Operation::Reopen),
        2 => Just(Operation::Check),
    ];
    (any::<bool>(), operation)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn two_processes_agree_with_a_model(
        operations in prop::collection::vec(operation(), 1..40),
        max_pending in prop_oneof![Just(1 << 9), Just(1 << 19)],
    ) {
        let dir = TempDir::new().expect("a directory");
        let path = dir.path().join("library.sqlite");
        let open = || Library::open_with(&path, indexer, max_pending).expect("it opens");
        let mut libraries = [Some(open()), Some(open())];
        let mut random = Random(7);
        let mut model = Model::new();
        let mut deleted: Vec<(StoredGame, NewGame)> = Vec::new();
        for (side, operation) in operations {
            let side = usize::from(side);
            let pick = |model: &Model, at: u16| {
                let nth = usize::from(at) % model.len().max(1);
                model.keys().nth(nth).copied()
            };
            let library = libraries[side].as_ref().expect("it is open");
            match operation {
                Operation::Add(count) => {
                    let games: Vec<_> = (0..count).map(|_| game(&mut random)).collect();
                    let ids = library.add(games.clone()).expect("added");
                    model.extend(ids.into_iter().zip(games));
                }
                Operation::Replace(at) => {
                    let Some(id) = pick(&model, at) else { continue };
                    let new = game(&mut random);
                    prop_assert!(library.replace(id, new.clone()).expect("replaced"));
                    model.insert(id, new);
                }
                Operation::Delete(a, b) => {
                    let ids: BTreeSet<u32> =
                        [a, b].into_iter().filter_map(|at| pick(&model, at)).collect();
                    for id in &ids {
                        let stored = library.game(*id).expect("read").expect("it exists");
                        deleted.push((stored, model.remove(id).expect("it exists")));
                    }
                    let count = library.delete(ids.iter().copied().collect()).expect("deleted");
                    prop_assert_eq!(count, ids.len());
                }
                Operation::Restore => {
                    let Some((stored, new)) = deleted.pop() else { continue };
                    model.insert(stored.id, new);
                    prop_assert_eq!(library.restore(vec![stored]).expect("restored"), 1);
                }
                Operation::Flush(all) => library.flush(all).expect("flushed"),
                Operation::Reopen => {
                    libraries[side] = None;
                    let library = open();
                    library.wait_until_indexed().expect("indexed");
                    libraries[side] = Some(library);
                }
                Operation::Check => {
                    for library in libraries.iter().flatten() {
                        check(library, &model);
                    }
                }
            }
        }
        for library in libraries.iter().flatten() {
            check(library, &model);
        }
        libraries = [None, None];
        drop(libraries);
        let library = open();
        library.wait_until_indexed().expect("indexed");
        check(&library, &model);
    }
}

/// The first process has postings in memory when the second one opens the file.
#[test]
fn postings_in_memory_are_found_by_a_second_process() {
    let dir = TempDir::new().expect("a directory");
    let first = open(&dir, 1 << 19);
    let mut random = Random(1);
    let mut model = Model::new();
    let mut add = |library: &Library, model: &mut Model| {
        let games: Vec<_> = (0..50).map(|_| game(&mut random)).collect();
        model.extend(library.add(games.clone()).expect("added").into_iter().zip(games));
    };
    add(&first, &mut model);
    let second = open(&dir, 1 << 19);
    second.wait_until_indexed().expect("indexed");
    check(&second, &model);
    check(&first, &model);
    add(&second, &mut model);
    add(&first, &mut model);
    check(&second, &model);
    check(&first, &model);
    drop(second);
    add(&first, &mut model);
    check(&first, &model);
}

/// Both processes add, replace and delete at the same time, while their readers search.
#[test]
fn processes_write_and_read_at_the_same_time() {
    let dir = TempDir::new().expect("a directory");
    let libraries = [open(&dir, 1 << 10), open(&dir, 1 << 10)];
    let models: Vec<Model> = thread::scope(|scope| {
        let writers: Vec<_> = libraries
            .iter()
            .zip(1_u64..)
            .map(|(library, seed)| {
                scope.spawn(move || {
                    let mut random = Random(seed);
                    let mut model = Model::new();
                    for round in 0..40_u32 {
                        let games: Vec<_> = (0..20).map(|_| game(&mut random)).collect();
                        let ids = library.add(games.clone()).expect("added");
                        model.extend(ids.iter().copied().zip(games));
                        let new = game(&mut random);
                        assert!(library.replace(ids[3], new.clone()).expect("replaced"));
                        model.insert(ids[3], new);
                        library.delete(vec![ids[7]]).expect("deleted");
                        model.remove(&ids[7]);
                        if round % 10 == 9 {
                            library.flush(round % 20 == 9).expect("flushed");
                        }
                    }
                    model
                })
            })
            .collect();
        for library in &libraries {
            scope.spawn(move || {
                for _ in 0..60 {
                    let all = library.find_all(&Condition::default()).expect("found");
                    let entries = library.entries(&all).expect("read");
                    assert!(entries.len() <= all.len());
                    library.find_all(&reaches(&[])).expect("found");
                }
            });
        }
        writers.into_iter().map(|writer| writer.join().expect("no panic")).collect()
    });
    let model: Model = models.into_iter().flatten().collect();
    assert_eq!(model.len(), 2 * 40 * 19);
    for library in &libraries {
        library.wait_until_indexed().expect("indexed");
        check(library, &model);
    }
}

/// One of two processes is killed while its changes are not indexed: only its files remain.
#[test]
fn games_of_a_killed_process_are_indexed_by_the_other() {
    let dir = TempDir::new().expect("a directory");
    let path = dir.path().join("library.sqlite");
    let library = open(&dir, 1 << 19);
    let mut random = Random(2);
    let games: Vec<_> = (0..60).map(|_| game(&mut random)).collect();
    let ids = library.add(games.clone()).expect("added");
    let mut model: Model = ids.into_iter().zip(games).collect();
    // What another process has committed before it was killed: it has changed a game, and not indexed it.
    let new = game(&mut random);
    let connection = rusqlite::Connection::open(&path).expect("it opens");
    connection
        .execute_batch(&format!(
            "BEGIN IMMEDIATE;
             UPDATE game SET moves = x'{}' WHERE id = 7;
             INSERT INTO unindexed VALUES (7);
             UPDATE meta SET value = value + 1 WHERE name = 'generation';
             COMMIT;",
            new.moves.iter().fold(String::new(), |hex, byte| hex + &format!("{byte:02x}")),
        ))
        .expect("changed");
    let changed = model.get_mut(&7).expect("it exists");
    changed.moves.clone_from(&new.moves);
    changed.postings = postings(&moves_of(&new.moves));
    // The first query reads the change, and has the missing games indexed.
    library.find_all(&Condition::default()).expect("found");
    library.wait_until_indexed().expect("indexed");
    check(&library, &model);
}

#[test]
fn duplicates_of_another_process_are_found() {
    let dir = TempDir::new().expect("a directory");
    let path = dir.path().join("library.sqlite");
    let [first, second] = [(); 2].map(|()| Library::open(&path).expect("it opens"));
    let pgn = |round: u32| {
        format!(
            "[Event \"A\"]\n[White \"Adams\"]\n[Black \"Bird\"]\n[Date \"1900.01.0{round}\"]\n\n\
             1. e4 e5 2. Nf3 Nc6 {}1-0\n\n",
            ["", "3. Bb5 ", "3. Bc4 ", "3. d4 "][round as usize],
        )
    };
    let import = |library: &Library, text: &str| {
        let options = ImportOptions { duplicates: Duplicates::Skip, ..ImportOptions::default() };
        let imported =
            library.import(text.as_bytes(), options, |_| std::ops::ControlFlow::Continue(()));
        let imported = imported.expect("imported");
        (imported.added_count(), imported.duplicates)
    };
    assert_eq!(import(&first, &format!("{}{}", pgn(1), pgn(2))), (2, 0));
    assert_eq!(import(&second, &format!("{}{}", pgn(2), pgn(3))), (1, 1));
    assert_eq!(import(&first, &format!("{}{}", pgn(3), pgn(1))), (0, 2));
}

/// The lock of another process.
fn lock(path: &Path) -> File {
    let mut name = path.as_os_str().to_owned();
    name.push("-lock");
    let file = File::options().read(true).write(true).open(name).expect("it exists");
    file.lock().expect("locked");
    file
}

#[test]
fn a_request_fails_if_another_process_writes_for_too_long() {
    let dir = TempDir::new().expect("a directory");
    let path = dir.path().join("library.sqlite");
    let open = || Library::open_within(&path, (indexer, 1 << 19), Duration::from_millis(30));
    let library = open().expect("it opens");
    let mut random = Random(3);
    library.add(vec![game(&mut random)]).expect("added");
    let held = lock(&path);
    let error = library.add(vec![game(&mut random)]).expect_err("it is locked");
    assert!(matches!(error, Error::Defect(LibraryDefect::LibraryInUse)), "{error}");
    let error = open().expect_err("it is locked");
    assert!(matches!(error, Error::Defect(LibraryDefect::LibraryInUse)), "{error}");
    // Readers do not wait.
    assert_eq!(library.find_all(&Condition::default()).expect("found"), [1]);
    held.unlock().expect("unlocked");
    assert_eq!(library.add(vec![game(&mut random)]).expect("added"), [2]);
}
