//! Failures of the disk, and kills, at each write of the library.

use std::path::Path;
use std::process::{Command, exit};
use std::{env, fs};

use readyok_faults::{Attempt, Call, Operation, sweep, this_test};
use readyok_library::{Error, Library, NewGame};

use crate::generate::{Random, game, indexer, keys, moves_of, reaches};

const DIRECTORY: &str = "READYOK_LIBRARY_FAULTS";
const FIRST: u32 = 30;
const SECOND: u32 = 20;

fn open(directory: &Path) -> Result<Library, Error> {
    Library::open_with(&directory.join("library.sqlite"), indexer, 16)
}

/// The games of both additions, and the one that replaces game 3.
fn games() -> (Vec<NewGame>, NewGame) {
    let mut random = Random(11);
    ((0..FIRST + SECOND).map(|_| game(&mut random)).collect(), game(&mut random))
}

/// The changes of the library in order, each of which is acknowledged. Those that are stored already are skipped.
const STEPS: [&str; 6] = ["create", "add", "replace", "delete", "label", "add more"];

fn do_step(library: &Library, step: &str) -> Result<(), Error> {
    let (mut games, replacement) = games();
    let total = library.find_all(&reaches(&[]))?.len();
    let more = games.split_off(FIRST as usize);
    match step {
        "add" if total == 0 => library.add(games).map(drop),
        "replace" if library.game(3)?.is_some_and(|game| game.moves != replacement.moves) => {
            library.replace(3, replacement).map(drop)
        }
        // Large enough for a merge of the index.
        "delete" => library.delete(vec![5, 6]).and_then(|_| library.flush(true)),
        "label" => library.set_label(vec![1, 2], "good".to_owned(), true),
        "add more" if library.game(FIRST + 1)?.is_none() => library.add(more).map(drop),
        _ => Ok(()),
    }
}

/// The process whose writes fail.
#[test]
#[expect(clippy::print_stdout, clippy::print_stderr, clippy::exit, reason = "the test reads it")]
fn child() {
    let Some(directory) = env::var_os(DIRECTORY) else { return };
    let failed = |error: &Error| -> ! {
        eprintln!("error: {error}");
        exit(1);
    };
    let library = open(Path::new(&directory)).unwrap_or_else(|error| failed(&error));
    for step in STEPS {
        do_step(&library, step).unwrap_or_else(|error| failed(&error));
        println!("\ndone: {step}");
    }
}

struct Changes;

/// How many steps the file has. Panics if it is not a state between two of them.
fn state(directory: &Path) -> usize {
    let connection =
        rusqlite::Connection::open(directory.join("library.sqlite")).expect("it opens");
    let check: String =
        connection.query_row("PRAGMA integrity_check", [], |row| row.get(0)).expect("checked");
    assert_eq!(check, "ok");
    drop(connection);
    let library = open(directory).expect("it opens");
    library.wait_until_indexed().expect("indexed");
    let (games, replacement) = games();
    let found = library.find_all(&reaches(&[])).expect("found");
    let is_replaced =
        library.game(3).expect("read").is_some_and(|it| it.moves == replacement.moves);
    let labels = library.labels().expect("read");
    let (first, all) = (FIRST as usize, (FIRST + SECOND) as usize);
    let state = match (found.len(), is_replaced, labels.len()) {
        (0, false, 0) => 1,
        (count, false, 0) if count == first => 2,
        (count, true, 0) if count == first => 3,
        (count, true, 0) if count == first - 2 => 4,
        (count, true, 1) if count == first - 2 => 5,
        (count, true, 1) if count == all - 2 => 6,
        other => panic!("not a state: {other:?}"),
    };
    for id in found {
        let expected = if id == 3 && is_replaced { &replacement } else { &games[id as usize - 1] };
        let stored = library.game(id).expect("read").expect("a game");
        assert_eq!((&stored.moves, &stored.players), (&expected.moves, &expected.players));
        // The index has the game at its last position.
        let moves = moves_of(&stored.moves);
        assert_eq!(keys(&moves).len(), moves.len() + 1);
        assert!(library.find_all(&reaches(&moves)).expect("found").contains(&id), "game {id}");
    }
    state
}

impl Operation for Changes {
    fn prepare(&self, _: &Path) {}

    fn command(&self, directory: &Path) -> Command {
        let mut command = this_test("faults::child");
        command.env(DIRECTORY, directory);
        command
    }

    fn check(&self, directory: &Path, attempt: &Attempt) {
        let acknowledged = attempt.stdout().matches("done: ").count();
        let state = state(directory);
        // The step that failed may be stored.
        assert!(
            (acknowledged..=acknowledged + 1).contains(&state) || acknowledged == 0,
            "{state}: {attempt}"
        );
    }

    fn check_complete(&self, directory: &Path) {
        assert_eq!(state(directory), STEPS.len());
        for entry in fs::read_dir(directory).expect("read").flatten() {
            let name = entry.file_name().into_string().expect("Unicode");
            assert!(name.starts_with("library.sqlite"), "{name} is left");
        }
    }

    /// Work in the background, such as a merge or a checkpoint, is repeated later. No step is lost, see `check_complete`.
    fn is_optional(&self, _: &Call) -> bool {
        true
    }

    /// Commands and the app add the path.
    fn name(&self, _: &Call) -> String {
        "error: the ".to_owned()
    }
}

#[test]
fn changes_survive_faults() {
    sweep(&Changes);
}
