//! Import of files, cancellation, and imports that are killed.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::ops::ControlFlow;
use std::path::Path;
use std::process::{Command, Stdio};
use std::{env, fs, io, thread};

use readyok_library::{
    Column, Duplicates, ImportOptions, Key, Library, NewGame, Source, StoredGame,
};
use readyok_rules::record::{Condition, Format, GameRecord, PositionPattern, write};
use readyok_rules::{Game, Position, Termination};
use tempfile::TempDir;

use crate::records::random_record;

const DIRECTORY: &str = "READYOK_LIBRARY_TEST";

fn open(directory: &Path) -> Library {
    let indexer = |game: &StoredGame| {
        Some(NewGame::from_record(&game.record().ok()?, Source::Import, 0).postings)
    };
    Library::open_with(&directory.join("library.sqlite"), indexer, 1 << 11).expect("it opens")
}

#[test]
fn games_of_a_file_are_imported_up_to_the_last() {
    let dir = TempDir::new().expect("a directory");
    let library = open(dir.path());
    let mut file = Vec::new();
    for seed in 0..1200 {
        write!(file, "[White \"Player{seed}\"]\n[Black \"B\"]\n\n1. e4 e5 2. Nf3 *\n\n")
            .expect("written");
    }
    let mut last = 0;
    let imported = library
        .import(&file[..], ImportOptions::default(), |state| {
            assert!(state.games >= last);
            last = state.games;
            ControlFlow::Continue(())
        })
        .expect("imported");
    assert_eq!((imported.games, imported.added_count(), imported.failed), (1200, 1200, 0));
    assert_eq!((imported.bytes, imported.added), (file.len() as u64, vec![1..1201]));
    assert!(!imported.cancelled);
    let imported = library
        .import(&file[..], ImportOptions::default(), |_| ControlFlow::Continue(()))
        .expect("imported");
    assert_eq!((imported.duplicates, imported.known.len(), imported.added.len()), (1200, 1000, 0));
    let all = library.find_all(&Condition::default()).expect("found");
    assert_eq!(all.len(), 1200);
}

/// A file without end.
struct Endless;

impl Read for Endless {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let game = b"1. e4 e5 2. Nf3 *\n\n";
        let count = buffer.len() / game.len();
        for (at, byte) in buffer.iter_mut().zip(game.iter().cycle()).take(count * game.len()) {
            *at = *byte;
        }
        Ok(count * game.len())
    }
}

#[test]
fn a_cancelled_import_keeps_complete_batches() {
    let dir = TempDir::new().expect("a directory");
    let library = open(dir.path());
    let options = ImportOptions { duplicates: Duplicates::Keep, ..Default::default() };
    let imported = library
        .import(Endless, options, |state| {
            if state.added_count() > 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })
        .expect("cancelled");
    assert!(imported.cancelled);
    let page = library.search(&Condition::default(), (Column::Added, true), 0, 1).expect("a page");
    assert_eq!(page.total as u64, imported.added_count());
    assert_eq!(imported.games, imported.added_count());
}

/// The process that is killed: it adds records with ascending seeds and prints how many are stored.
#[test]
#[expect(clippy::print_stdout, reason = "the parent process reads it")]
fn child() {
    let Some(directory) = env::var_os(DIRECTORY) else { return };
    let library = open(Path::new(&directory));
    let first = library.find_all(&Condition::default()).expect("found").len() as u64;
    let options = ImportOptions { duplicates: Duplicates::Keep, ..Default::default() };
    let mut importer = library.importer(options);
    println!("opened");
    for seed in first.. {
        importer.add(&random_record(seed)).expect("added");
        if seed % 50 == 0 {
            println!("stored {}", first + importer.state().added_count());
        }
    }
}

#[test]
fn a_killed_import_loses_no_stored_game_and_no_posting() {
    let dir = TempDir::new().expect("a directory");
    let mut stored = 0;
    for round in 0..4_u64 {
        let mut child = Command::new(env::current_exe().expect("a path"))
            .args(["--exact", "import::child", "--nocapture"])
            .env(DIRECTORY, dir.path())
            .stdout(Stdio::piped())
            .spawn()
            .expect("started");
        let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
        let wanted = stored + 300 + 250 * round;
        while stored < wanted {
            let line = lines.next().expect("a line").expect("text");
            if let Some(count) = line.strip_prefix("stored ") {
                stored = count.parse().expect("a number");
            }
        }
        thread::sleep(std::time::Duration::from_millis(7 * round));
        child.kill().expect("killed");
        child.wait().expect("ended");
        let connection =
            rusqlite::Connection::open(dir.path().join("library.sqlite")).expect("it opens");
        let check: String =
            connection.query_row("PRAGMA quick_check", [], |row| row.get(0)).expect("checked");
        assert_eq!(check, "ok");
        drop(connection);
        let library = open(dir.path());
        // Waits until lost postings are indexed again.
        library.flush(round == 3).expect("flushed");
        let all = library.find_all(&Condition::default()).expect("found");
        assert!(all.len() as u64 >= stored, "{} of {stored} games", all.len());
        stored = all.len() as u64;
        // Many games have the same start.
        let mut known = BTreeMap::new();
        for (id, seed) in all.iter().zip(0..) {
            assert_eq!(u64::from(*id), seed + 1);
            if seed % 7 == round {
                let record = random_record(seed);
                let game = library.game(*id).expect("read").expect("a game");
                assert!(game.record().expect("a record") == record);
                for position in [record.start(), record.position()] {
                    let (game, key) = (position.game(), position.key());
                    let found = known.entry((game == Game::Shogi, key)).or_insert_with(|| {
                        let filter = Condition::Position(PositionPattern::with_key(game, key));
                        library.find_all(&filter).expect("found")
                    });
                    assert!(found.contains(id), "game {id}, {position}");
                }
            }
        }
    }
}

#[test]
fn shogi_records_are_imported() {
    let dir = TempDir::new().expect("a directory");
    let library = open(dir.path());
    let mut record = GameRecord::new(Position::start(Game::Shogi));
    for text in ["7g7f", "3c3d", "8h2b+", "3a2b"] {
        record.play(record.position().parse_move(text).expect(text)).expect(text);
    }
    record.finish(Termination::Resignation);
    let mut file = Vec::new();
    write(&record, Format::KIF, &mut file).expect("written");
    fs::write(dir.path().join("game.kif"), &file).expect("written");
    let source = fs::File::open(dir.path().join("game.kif")).expect("it opens");
    let imported = library
        .import(source, ImportOptions::default(), |_| ControlFlow::Continue(()))
        .expect("imported");
    assert_eq!((imported.added_count(), imported.failed), (1, 0));
    let stored = library.game(1).expect("read").expect("a game").record().expect("a record");
    assert!(stored == record);
    let explorer = library
        .explore(Key::of(record.start().key()), record.start().turn(), &Condition::default())
        .expect("explored");
    assert_eq!((explorer.total, explorer.moves.len()), (1, 1));
}
