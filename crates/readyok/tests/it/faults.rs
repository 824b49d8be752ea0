//! Failures of the disk, and kills, at each write of commands: imports, backups, conversions, annotations, farms.

use std::fs;
use std::path::Path;
use std::process::Command;

use readyok_faults::{Attempt, Call, Operation, sweep};
use readyok_library::Library;

use crate::program::{Dir, readyok};

const GAMES: &str = "[Event \"A\"]\n[White \"Anna\"]\n[Black \"Boris\"]\n\n1. e4 e5 2. Nf3 *\n\n";
const COUNT: usize = 12;

fn games() -> String {
    (0..COUNT).map(|number| GAMES.replace("\"A\"", &format!("\"A {number}\""))).collect()
}

/// A command whose files are in a directory.
struct Writes {
    /// Settings are outside of the directory.
    settings: Dir,
    arguments: &'static [&'static str],
    prepare: fn(&Path),
    check: fn(&Path),
    check_complete: fn(&Path),
    /// The name of the file that the user knows.
    name: &'static str,
}

impl Operation for Writes {
    fn prepare(&self, directory: &Path) {
        (self.prepare)(directory);
    }

    fn command(&self, directory: &Path) -> Command {
        let mut command = readyok(&self.settings);
        command.args(self.arguments).current_dir(directory);
        command
    }

    fn check(&self, directory: &Path, _: &Attempt) {
        (self.check)(directory);
    }

    fn check_complete(&self, directory: &Path) {
        (self.check_complete)(directory);
    }

    /// Checkpoints and merges of a library are repeated later, see `check_complete`.
    fn is_optional(&self, call: &Call) -> bool {
        call.path.to_string_lossy().contains(".sqlite")
    }

    fn name(&self, _: &Call) -> String {
        self.name.to_owned()
    }
}

fn write_games(directory: &Path) {
    fs::write(directory.join("games.pgn"), games()).expect("space");
}

/// The number of games of a library, each of which is complete.
fn count(path: &Path) -> usize {
    let library = Library::open(path).expect("it opens");
    library.wait_until_indexed().expect("indexed");
    let ids = library.find_all(&readyok_rules::record::Condition::default()).expect("found");
    for id in &ids {
        assert_eq!(library.game(*id).expect("read").expect("a game").summary.plies, 3);
    }
    ids.len()
}

#[test]
fn an_import_survives_faults() {
    sweep(&Writes {
        settings: Dir::new(),
        arguments: &["library", "import", "games.pgn", "--database", "own.sqlite"],
        prepare: write_games,
        check: |directory| assert!(count(&directory.join("own.sqlite")) <= COUNT),
        // The games of the first attempt are duplicates.
        check_complete: |directory| assert_eq!(count(&directory.join("own.sqlite")), COUNT),
        name: "own.sqlite",
    });
}

#[test]
fn a_backup_is_whole_or_missing() {
    fn has_backup(directory: &Path) -> bool {
        let copy = directory.join("copy.sqlite");
        copy.exists() && count(&copy) == COUNT
    }
    sweep(&Writes {
        settings: Dir::new(),
        arguments: &["library", "backup", "copy.sqlite", "--database", "own.sqlite", "--force"],
        prepare: |directory| {
            write_games(directory);
            let mut import = readyok(&Dir::new());
            import.args(["library", "import", "games.pgn", "--database", "own.sqlite"]);
            let output = import.current_dir(directory).output().expect("the program starts");
            assert!(output.status.success());
        },
        check: |directory| {
            assert_eq!(count(&directory.join("own.sqlite")), COUNT);
            assert!(!directory.join("copy.sqlite").exists() || has_backup(directory));
        },
        check_complete: |directory| assert!(has_backup(directory)),
        name: ".sqlite",
    });
}

#[test]
fn a_conversion_is_whole_or_missing() {
    sweep(&Writes {
        settings: Dir::new(),
        arguments: &["convert", "games.pgn", "-o", "new.pgn"],
        prepare: |directory| {
            write_games(directory);
            fs::write(directory.join("new.pgn"), "old").expect("space");
        },
        check: |directory| {
            let text = fs::read_to_string(directory.join("new.pgn")).expect("a file");
            assert!(text == "old" || text.matches("Anna").count() == COUNT, "{text}");
        },
        check_complete: |directory| {
            let text = fs::read_to_string(directory.join("new.pgn")).expect("a file");
            assert_eq!(text.matches("Anna").count(), COUNT);
        },
        name: "new.pgn",
    });
}

#[test]
fn annotations_continue_after_faults() {
    sweep(&Writes {
        settings: Dir::new(),
        arguments: &["annotate", "games.pgn", "-o", "new.pgn", "-e", "narikin", "--nodes", "10"],
        prepare: |directory| {
            fs::write(directory.join("games.pgn"), GAMES.repeat(2)).expect("space");
        },
        check: |directory| {
            let text = fs::read_to_string(directory.join("new.pgn")).ok();
            assert!(text.is_none_or(|text| text.matches("[Event ").count() == 2));
        },
        check_complete: |directory| {
            let text = fs::read_to_string(directory.join("new.pgn")).expect("a file");
            assert_eq!(text.matches("[Event ").count(), 2);
        },
        name: "new.pgn",
    });
}

#[test]
fn a_farm_is_whole_or_missing() {
    fn files(directory: &Path) -> usize {
        fs::read_dir(directory.join("farm")).map_or(0, Iterator::count)
    }
    sweep(&Writes {
        settings: Dir::new(),
        // A second `init` of a complete farm would be an error.
        arguments: &["farm", "init", "farm"],
        prepare: |_| (),
        check: |directory| {
            assert!(matches!(files(directory), 0 | 4), "{}", files(directory));
            // As if the attempt had not been: a complete farm is not created again.
            let _ = fs::remove_dir_all(directory.join("farm"));
        },
        check_complete: |directory| {
            // The second check of a success comes after the removal.
            assert!(matches!(files(directory), 0 | 4));
        },
        name: "farm",
    });
}
