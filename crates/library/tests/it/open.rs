//! Logs of open games.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};
use std::{env, thread};

use proptest::prelude::*;
use readyok_library::{Entry, Library, NewGame, OpenGame, OpenGames, OpenTree, Source, StoredMove};
use readyok_rules::record::{Annotations, GameRecord};
use readyok_rules::{Game, GameResult, Position, Side};
use tempfile::TempDir;

use crate::generate::Random;
use crate::records::random_record;

const DIRECTORY: &str = "READYOK_OPEN_GAMES_TEST";

fn open(directory: &Path) -> (Library, OpenGames, Vec<OpenGame>) {
    let library = Library::open(&directory.join("library.sqlite")).expect("it opens");
    let (open, games) =
        OpenGames::open(&directory.join("open.sqlite"), &library).expect("it opens");
    (library, open, games)
}

fn add(library: &Library, record: &GameRecord) -> u32 {
    library.add(vec![NewGame::from_record(record, Source::Play, 1)]).expect("added")[0]
}

fn append(open: &OpenGames, game: u32, entries: &[Entry]) {
    let (sender, receiver) = mpsc::channel();
    open.append(game, entries, 2, move |result| drop(sender.send(result)));
    receiver.recv().expect("a response").expect("stored");
}

/// A change that fits the tree. The moves are random numbers.
fn random_entry(random: &mut Random, tree: &OpenTree) -> Entry {
    let small = |random: &mut Random| u16::try_from(random.below(1 << 16)).expect("16 bits");
    let nodes: Vec<u32> = tree.nodes.keys().copied().collect();
    let node = nodes[usize::try_from(random.below(nodes.len() as u64)).expect("small")];
    match random.below(20) {
        0 if node > 0 => Entry::Delete { node },
        1 => {
            let mut children = tree.nodes[&node].children.clone();
            children.reverse();
            Entry::Children { node, children }
        }
        2..5 => {
            let comment = format!("comment {}", random.below(100));
            let clock = Some(Duration::from_secs(random.below(600)));
            let annotations =
                Annotations { comments: vec![comment], clock, ..Annotations::default() };
            Entry::Annotations { node, annotations: Box::new(annotations) }
        }
        5 => Entry::Result(GameResult::Win(Side::Second)),
        6 => Entry::Header { name: "White".to_owned(), value: Some(format!("W{node}")) },
        7 => Entry::Header { name: "White".to_owned(), value: None },
        8 => Entry::Cursor(node),
        9 => Entry::Data { name: "play".to_owned(), value: format!("{{\"at\":{node}}}") },
        10 => Entry::Next(tree.next + 3),
        11 => Entry::Add { parent: node, node: tree.next, mv: StoredMove::Null },
        _ => Entry::Add { parent: node, node: tree.next, mv: StoredMove::Legal(small(random)) },
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn restored_games_are_unchanged(seed in 0..1_u64 << 40) {
        let dir = TempDir::new().expect("a directory");
        let record = random_record(seed);
        let mut tree = OpenTree::from_record(&record);
        prop_assert!(tree.to_record().expect("a record").0 == record);
        let id = {
            let (library, open, games) = open(dir.path());
            prop_assert!(games.is_empty());
            let id = add(&library, &record);
            open.begin(id, 0, &tree, 1).expect("begun");
            let mut random = Random(seed);
            let entries: Vec<_> = (0..80)
                .map(|_| {
                    let entry = random_entry(&mut random, &tree);
                    tree.apply(&entry).expect("it fits");
                    entry
                })
                .collect();
            append(&open, id, &entries);
            id
        };
        let (_library, _open, games) = open(dir.path());
        let expected = OpenGame { game: id, revision: 1, tree, changed_ms: 2, is_damaged: false };
        prop_assert_eq!(games, [expected]);
    }
}

#[test]
fn a_game_is_folded_once() {
    let dir = TempDir::new().expect("a directory");
    let record = random_record(3);
    let tree = OpenTree::from_record(&record);
    let (first, second) = {
        let (library, open, _) = open(dir.path());
        let (first, second) = (add(&library, &record), add(&library, &record));
        open.begin(first, 0, &tree, 1).expect("begun");
        open.begin(second, 0, &tree, 1).expect("begun");
        append(&open, first, &[Entry::Result(GameResult::Draw)]);
        let mut record = record;
        record.result = GameResult::Draw;
        let new = NewGame::from_record(&record, Source::Play, 5);
        assert!(open.fold(&library, first, new.clone()).expect("folded"));
        assert_eq!(library.summary(first).expect("a game").result, GameResult::Draw);
        // As if the process was killed between the two commits.
        library.replace(second, new).expect("replaced");
        (first, second)
    };
    let (library, open, games) = open(dir.path());
    assert_eq!(games, []);
    assert_eq!(library.game(first).expect("read").expect("a game").revision, 1);
    let (sender, receiver) = mpsc::channel();
    open.append(second, &[Entry::Cursor(0)], 9, move |result| {
        let _ = sender.send(result.is_err());
    });
    assert!(receiver.recv().expect("a response"), "the game is not open");
    library.delete(vec![first]).expect("deleted");
}

#[test]
fn a_damaged_entry_ends_the_log() {
    let dir = TempDir::new().expect("a directory");
    let mut tree = OpenTree::new(&Position::start(Game::Shogi));
    let mut states = Vec::new();
    let id = {
        let (library, open, _) = open(dir.path());
        let id = add(&library, &GameRecord::new(Position::start(Game::Shogi)));
        open.begin(id, 0, &tree, 1).expect("begun");
        let mut random = Random(5);
        for _ in 0..10 {
            let entry = random_entry(&mut random, &tree);
            append(&open, id, std::slice::from_ref(&entry));
            tree.apply(&entry).expect("it fits");
            states.push(tree.clone());
        }
        id
    };
    let file = dir.path().join("open.sqlite");
    let connection = rusqlite::Connection::open(&file).expect("it opens");
    connection.execute("UPDATE open_log SET entry = x'ff00' WHERE no = 6", []).expect("updated");
    drop(connection);
    let (library, open_games, games) = open(dir.path());
    assert!(games[0].is_damaged);
    assert_eq!(games[0].tree, states[5]);
    append(&open_games, id, &[Entry::Result(GameResult::Draw)]);
    drop((library, open_games));
    let (_library, _open, games) = open(dir.path());
    assert_eq!((games[0].is_damaged, games[0].tree.result), (false, GameResult::Draw));
    let connection = rusqlite::Connection::open(&file).expect("it opens");
    let lost: i64 = connection
        .query_row("SELECT count(*) FROM open_log WHERE game < 0", [], |row| row.get(0))
        .expect("a count");
    assert_eq!(lost, 4);
}

/// The process that is killed: it appends random changes and prints how many are stored.
#[test]
#[expect(clippy::print_stdout, reason = "the parent process reads it")]
fn child() {
    let Some(directory) = env::var_os(DIRECTORY) else { return };
    let (library, open, games) = open(Path::new(&directory));
    let (game, mut tree) = if let [game] = &games[..] {
        (game.game, game.tree.clone())
    } else {
        let tree = OpenTree::new(&Position::start(Game::Chess));
        let game = add(&library, &GameRecord::new(Position::start(Game::Chess)));
        open.begin(game, 0, &tree, 1).expect("begun");
        (game, tree)
    };
    loop {
        let entries = next_entries(&tree);
        append(&open, game, &entries);
        for entry in &entries {
            tree.apply(entry).expect("it fits");
        }
        println!("stored {}", count(&tree));
    }
}

/// Number of steps of the child.
fn count(tree: &OpenTree) -> u64 {
    tree.data.get("count").map_or(0, |it| it.parse().expect("a number"))
}

/// Changes that follow from the state, so that the parent knows them.
fn next_entries(tree: &OpenTree) -> [Entry; 2] {
    let count = count(tree);
    let value = (count + 1).to_string();
    [random_entry(&mut Random(count), tree), Entry::Data { name: "count".to_owned(), value }]
}

#[test]
fn a_killed_process_loses_no_stored_change() {
    let dir = TempDir::new().expect("a directory");
    let mut stored = 0_u64;
    let mut expected = OpenTree::new(&Position::start(Game::Chess));
    for round in 0..4 {
        let mut child = Command::new(env::current_exe().expect("a path"))
            .args(["--exact", "open::child", "--nocapture"])
            .env(DIRECTORY, dir.path())
            .stdout(Stdio::piped())
            .spawn()
            .expect("started");
        let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
        let wanted = stored + 100 + 77 * round;
        while stored < wanted {
            let line = lines.next().expect("a line").expect("text");
            if let Some(count) = line.strip_prefix("stored ") {
                stored = count.parse().expect("a number");
            }
        }
        child.kill().expect("killed");
        child.wait().expect("ended");
        let (_library, _open, games) = open(dir.path());
        let [game] = &games[..] else { panic!("one game") };
        let restored = count(&game.tree);
        assert!(restored >= stored && !game.is_damaged, "{restored} of {stored}");
        stored = restored;
        while count(&expected) < restored {
            for entry in next_entries(&expected) {
                expected.apply(&entry).expect("it fits");
            }
        }
        assert!(game.tree == expected);
    }
}

#[test]
fn long_logs_are_compacted() {
    let dir = TempDir::new().expect("a directory");
    let mut tree = OpenTree::new(&Position::start(Game::Chess));
    let (library, open_games, _) = open(dir.path());
    let id = add(&library, &GameRecord::new(Position::start(Game::Chess)));
    open_games.begin(id, 0, &tree, 1).expect("begun");
    let mut random = Random(1);
    for _ in 0..10 {
        let entries: Vec<_> = (0..500)
            .map(|_| {
                let entry = random_entry(&mut random, &tree);
                tree.apply(&entry).expect("it fits");
                entry
            })
            .collect();
        append(&open_games, id, &entries);
    }
    let file = dir.path().join("open.sqlite");
    let entries = || {
        let connection = rusqlite::Connection::open(&file).expect("it opens");
        let sql = "SELECT count(*) FROM open_log";
        connection.query_row(sql, [], |row| row.get::<_, i64>(0)).expect("a count")
    };
    // The last batch can be appended after the compaction has begun.
    for _ in 0..200 {
        if entries() <= 500 {
            break;
        }
        thread::sleep(Duration::from_millis(50));
    }
    assert!(entries() <= 500, "{}", entries());
    append(&open_games, id, &[Entry::Cursor(0)]);
    tree.apply(&Entry::Cursor(0)).expect("it fits");
    drop((library, open_games));
    let (_library, _open, games) = open(dir.path());
    assert_eq!(games[0].tree, tree);
}

#[test]
#[expect(clippy::disallowed_methods, reason = "it measures the latency")]
fn a_change_of_a_large_tree_is_stored_quickly() {
    let dir = TempDir::new().expect("a directory");
    let mut tree = OpenTree::new(&Position::start(Game::Chess));
    for node in 1..90_000 {
        let add = Entry::Add { parent: node / 3, node, mv: StoredMove::Legal(7) };
        tree.apply(&add).expect("it fits");
    }
    let (library, open_games, _) = open(dir.path());
    let id = add(&library, &GameRecord::new(Position::start(Game::Chess)));
    open_games.begin(id, 0, &tree, 1).expect("begun");
    let mut times: Vec<Duration> = (0..100)
        .map(|at| {
            let start = Instant::now();
            let add = Entry::Add { parent: at, node: 90_000 + at, mv: StoredMove::Legal(7) };
            append(&open_games, id, &[add]);
            start.elapsed()
        })
        .collect();
    times.sort_unstable();
    // A guard against a cost that depends on the tree, not a benchmark.
    assert!(times[50] < Duration::from_millis(50), "{times:?}");
}
