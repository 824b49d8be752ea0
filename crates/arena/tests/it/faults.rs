//! Failures of the disk, and kills, at each write of results, exports and files that are replaced.

use std::error::Error;
use std::path::Path;
use std::process::{Command, exit};
use std::{env, fs};

use readyok_arena::durable::{self, FileAccess};
use readyok_arena::export::{Existing, Export, Exports, Form, PgnStyle};
use readyok_arena::store::{Reader, Store};
use readyok_faults::{Attempt, Call, Operation, sweep, this_test};

use crate::sample;

const OPERATION: &str = "READYOK_ARENA_FAULTS";
const DIRECTORY: &str = "READYOK_ARENA_FAULTS_DIRECTORY";
const PAIRS: u64 = 4;

type Done = Result<(), Box<dyn Error>>;

/// The process whose writes fail.
#[test]
#[expect(clippy::print_stderr, clippy::exit, reason = "the test reads it")]
fn child() {
    let (Ok(operation), Some(directory)) = (env::var(OPERATION), env::var_os(DIRECTORY)) else {
        return;
    };
    let directory = Path::new(&directory);
    let done = match operation.as_str() {
        "match" => play(directory),
        "discard" => discard(directory),
        "replace" => replace(directory),
        _ => Err("unknown operation".into()),
    };
    if let Err(error) = done {
        eprintln!("error: {error}");
        exit(1);
    }
}

fn command(operation: &str, directory: &Path) -> Command {
    let mut command = this_test("faults::child");
    command.env(OPERATION, operation).env(DIRECTORY, directory);
    command
}

#[expect(clippy::print_stdout, reason = "the test reads it")]
fn acknowledge(what: impl std::fmt::Display) {
    println!("\ndone: {what}");
}

/// Stores and exports the pairs that are missing, like a runner.
fn play(directory: &Path) -> Done {
    let (results, plan) = (directory.join("match.jsonl"), sample::plan(&["a", "b"], 10));
    let export =
        |name: &str, form| Export { path: directory.join(name), form, existing: Existing::Replace };
    let mut exports = Exports::new(vec![
        export("games.pgn", Form::Pgn(PgnStyle::default())),
        export("games.txt", Form::Positions),
    ]);
    let mut stored = Vec::new();
    let mut store = if results.exists() {
        Store::resume(&results, |pair| stored.push(pair))?.0
    } else {
        Store::create(&results, &plan)?
    };
    exports.begin(&mut store)?;
    for pair in &stored {
        exports.check(pair)?;
    }
    exports.open()?;
    for index in 0..PAIRS {
        let pair = sample::pair(index);
        if store.append(&pair)? {
            exports.append(&pair)?;
        }
        store.sync()?;
        acknowledge(index);
    }
    exports.close()?;
    Ok(())
}

/// Removes a pair, and stores it again after another one.
fn discard(directory: &Path) -> Done {
    let (mut store, _) = Store::resume(&directory.join("match.jsonl"), |_| ())?;
    store.discard(|pair| pair.pairing.index == 1)?;
    acknowledge("discarded");
    store.append(&sample::pair(PAIRS))?;
    store.sync()?;
    acknowledge("appended");
    Ok(())
}

/// Creates a file and replaces it.
fn replace(directory: &Path) -> Done {
    let path = directory.join("settings.json");
    for text in ["first", "second, which is longer"] {
        let written = durable::replace(&path, text.as_bytes(), FileAccess::Owner);
        written.map_err(|error| format!("`{}`: {error}", path.display()))?;
        acknowledge(text);
    }
    Ok(())
}

/// The indices of the stored pairs, each of which is complete.
fn stored(directory: &Path) -> Vec<u64> {
    let path = directory.join("match.jsonl");
    if !path.exists() {
        return Vec::new();
    }
    // A partial last line is removed, as by the next run.
    let mut pairs = Vec::new();
    let copy = directory.join("copy.jsonl");
    fs::copy(&path, &copy).expect("a copy");
    drop(Store::resume(&copy, |pair| pairs.push(pair)).expect("a good file"));
    fs::remove_file(copy).expect("it is there");
    let indices: Vec<u64> = pairs.iter().map(|pair| pair.pairing.index).collect();
    assert!(pairs.iter().all(|pair| *pair == sample::pair(pair.pairing.index)));
    indices
}

/// A file that was not persisted has a temporary name.
fn name_of(call: &Call, target: &str) -> String {
    let name = call.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let is_temporary = name.starts_with(".readyok-") || call.path.is_dir();
    if is_temporary { target.to_owned() } else { name }
}

struct MatchFiles;

impl Operation for MatchFiles {
    fn prepare(&self, _: &Path) {}

    fn command(&self, directory: &Path) -> Command {
        command("match", directory)
    }

    fn check(&self, directory: &Path, attempt: &Attempt) {
        let acknowledged = attempt.stdout().matches("done: ").count();
        let stored = stored(directory);
        assert_eq!(stored, (0..stored.len() as u64).collect::<Vec<_>>(), "{attempt}");
        assert!(acknowledged <= stored.len(), "{stored:?}: {attempt}");
    }

    fn check_complete(&self, directory: &Path) {
        assert_eq!(stored(directory), (0..PAIRS).collect::<Vec<_>>());
        let pairs = Reader::open(&directory.join("match.jsonl")).expect("a good file");
        let pairs: Vec<_> = pairs.map(|pair| pair.expect("a good line")).collect();
        assert_eq!(pairs.len() as u64, PAIRS);
        let text = fs::read_to_string(directory.join("games.pgn")).expect("an export");
        assert_eq!(text.matches("[Event ").count() as u64, 2 * PAIRS);
        assert!(text.ends_with("\n\n"), "the last game is complete: {text}");
        assert!(directory.join("games.txt").exists());
    }

    fn name(&self, call: &Call) -> String {
        name_of(call, "match.jsonl")
    }
}

#[test]
fn results_and_exports_survive_faults() {
    sweep(&MatchFiles);
}

struct Discarded;

impl Operation for Discarded {
    fn prepare(&self, directory: &Path) {
        let plan = sample::plan(&["a", "b"], 10);
        let mut store = Store::create(&directory.join("match.jsonl"), &plan).expect("new");
        for index in 0..PAIRS {
            store.append(&sample::pair(index)).expect("space");
        }
    }

    fn command(&self, directory: &Path) -> Command {
        command("discard", directory)
    }

    fn check(&self, directory: &Path, attempt: &Attempt) {
        let (output, stored) = (attempt.stdout(), stored(directory));
        assert!([0, 2, 3].iter().all(|index| stored.contains(index)), "{stored:?}: {attempt}");
        let is_discarded = !stored.contains(&1);
        assert!(is_discarded || !output.contains("done: discarded"), "{attempt}");
        assert!(stored.contains(&PAIRS) || !output.contains("done: appended"), "{attempt}");
    }

    fn check_complete(&self, directory: &Path) {
        assert_eq!(stored(directory), [0, 2, 3, PAIRS]);
    }

    fn name(&self, call: &Call) -> String {
        name_of(call, "match.jsonl")
    }
}

#[test]
fn a_removed_pair_survives_no_fault_in_part() {
    sweep(&Discarded);
}

struct Replaced;

impl Operation for Replaced {
    fn prepare(&self, directory: &Path) {
        fs::write(directory.join("settings.json"), "old").expect("space");
    }

    fn command(&self, directory: &Path) -> Command {
        command("replace", directory)
    }

    fn check(&self, directory: &Path, attempt: &Attempt) {
        let output = attempt.stdout();
        let text = fs::read_to_string(directory.join("settings.json")).expect("the file");
        let versions = ["old", "first", "second, which is longer"];
        let version =
            versions.iter().position(|version| *version == text).expect("a whole version");
        assert!(output.matches("done: ").count() <= version, "{text}: {attempt}");
        // A process that is not killed leaves no other file, unless it cannot be removed.
        let files = fs::read_dir(directory).expect("a directory").count();
        assert!(files == 1 || attempt.output.status.code().is_none(), "{attempt}");
    }

    fn check_complete(&self, directory: &Path) {
        let text = fs::read_to_string(directory.join("settings.json")).expect("the file");
        assert_eq!(text, "second, which is longer");
    }

    fn name(&self, call: &Call) -> String {
        name_of(call, "settings.json")
    }
}

#[test]
fn a_replaced_file_has_one_of_its_versions_after_a_fault() {
    sweep(&Replaced);
}
