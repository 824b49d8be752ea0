//! The result file: persistence, recovery and validation.

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use readyok_arena::pairing::PairResult;
use readyok_arena::plan::{EngineId, Limits, OpeningSource, Plan};
use readyok_arena::runner::{Match, Settings};
use readyok_arena::store::{ContentHash, Reader, Store, StoreDefect, StoreError};
use tempfile::TempDir;

use crate::sample;

struct Place(TempDir);

impl Place {
    fn new() -> Self {
        Self(tempfile::tempdir().expect("a directory"))
    }

    fn file(&self) -> PathBuf {
        self.0.path().join("match.jsonl")
    }

    /// A result file with a number of pairs.
    fn with(pairs: u64) -> Self {
        let place = Self::new();
        let mut store = Store::create(&place.file(), &sample::plan(&["a", "b"], 10)).expect("new");
        for index in 0..pairs {
            assert!(store.append(&sample::pair(index)).expect("space"));
        }
        place
    }
}

fn resume(path: &Path) -> Result<(Store, Vec<PairResult>, u64), StoreError> {
    let mut pairs = Vec::new();
    let (store, cut) = Store::resume(path, |pair| pairs.push(pair))?;
    Ok((store, pairs, cut))
}

fn pairs(count: u64) -> Vec<PairResult> {
    (0..count).map(sample::pair).collect()
}

#[test]
fn returns_the_stored_pairs() {
    let place = Place::with(3);
    let (store, found, cut) = resume(&place.file()).expect("a good file");
    assert_eq!((found, cut), (pairs(3), 0));
    assert_eq!(store.plan(), &sample::plan(&["a", "b"], 10));
    let read: Result<Vec<_>, _> = Reader::open(&place.file()).expect("a good file").collect();
    assert_eq!(read.expect("good lines"), pairs(3));
}

#[test]
fn stores_a_pair_once() {
    let place = Place::with(2);
    let (mut store, ..) = resume(&place.file()).expect("a good file");
    assert!(!store.append(&sample::pair(1)).expect("space"));
    assert!(store.append(&sample::pair(2)).expect("space"));
    assert!(!store.append(&sample::pair(2)).expect("space"));
    drop(store);
    assert_eq!(resume(&place.file()).expect("a good file").1, pairs(3));
}

#[test]
fn a_truncated_file_is_resumed_after_its_last_complete_pair() {
    let whole = fs::read(Place::with(2).file()).expect("a file");
    let ends: Vec<usize> = whole
        .iter()
        .enumerate()
        .filter(|(_, byte)| **byte == b'\n')
        .map(|(at, _)| at + 1)
        .collect();
    let head = ends[0];
    for length in (head..=whole.len()).step_by(149).chain([head, ends[1] - 1, ends[1], whole.len()])
    {
        let place = Place::new();
        fs::write(place.file(), &whole[..length]).expect("space");
        let (mut store, found, cut) = resume(&place.file()).expect("a truncated end");
        let complete = ends.iter().filter(|end| **end <= length).count() - 1;
        assert_eq!(found, pairs(complete as u64), "after {length} bytes");
        assert_eq!(cut, (length - ends[complete]) as u64);
        for pair in pairs(2) {
            store.append(&pair).expect("space");
        }
        drop(store);
        assert_eq!(fs::read(place.file()).expect("a file"), whole, "after {length} bytes");
    }
}

#[test]
fn garbage_at_the_end_is_truncated() {
    for rubbish in [&[0; 5000][..], b"\n", b"{}\n{}\n", b"{\"crc\":\"00000000\",\"pair\":{}}\n"] {
        let place = Place::with(2);
        let mut file = OpenOptions::new().append(true).open(place.file()).expect("a file");
        file.write_all(rubbish).expect("space");
        drop(file);
        let read: Result<Vec<_>, _> = Reader::open(&place.file()).expect("a head").collect();
        assert_eq!(read.expect("the end is not read"), pairs(2));
        let (_, found, cut) = resume(&place.file()).expect("a truncated end");
        assert_eq!((found, cut), (pairs(2), rubbish.len() as u64));
    }
}

#[test]
fn damage_before_valid_lines_is_an_error_and_not_truncated() {
    let place = Place::with(3);
    let mut bytes = fs::read(place.file()).expect("a file");
    let second_line = bytes.iter().position(|byte| *byte == b'\n').expect("a line") + 1;
    bytes[second_line + 60] ^= 1;
    fs::write(place.file(), &bytes).expect("space");
    let error = resume(&place.file()).expect_err("a changed pair");
    assert!(
        matches!(
            error,
            StoreError { line: Some(2), defect: StoreDefect::ResultsDamaged { .. }, .. }
        ),
        "{error}"
    );
    assert_eq!(fs::read(place.file()).expect("a file"), bytes);
}

#[test]
fn other_files_are_rejected() {
    let place = Place::new();
    for text in ["", "\n", "[Event \"?\"]\n", "{\"crc\":\"00000000\"}\n", "no end"] {
        fs::write(place.file(), text).expect("space");
        let error = resume(&place.file()).expect_err(text);
        assert!(matches!(error.defect, StoreDefect::NoResults { .. }), "{text}: {error}");
        assert_eq!(fs::read_to_string(place.file()).expect("a file"), text);
    }
    for version in [1, 2, 4] {
        let text = format!(
            "{{\"crc\":\"?\",\"head\":{{\"format\":\"readyok-match\",\"version\":{version}}}}}\n"
        );
        fs::write(place.file(), text).expect("space");
        let error = resume(&place.file()).expect_err("another version");
        assert!(
            matches!(error.defect, StoreDefect::ResultsVersion { version: it, .. } if it == version),
            "{error}"
        );
        let text = format!("has version {version} of the results format; only version 3 is");
        assert!(error.to_string().contains(&text), "{error}");
    }
}

#[test]
fn a_manually_edited_plan_is_rejected() {
    let place = Place::with(1);
    let text =
        fs::read_to_string(place.file()).expect("a file").replace("/nowhere/a", "/nowhere/x");
    fs::write(place.file(), text).expect("space");
    let error = resume(&place.file()).expect_err("an edited plan");
    assert!(matches!(error.defect, StoreDefect::NoResults { .. }), "{error}");
}

#[test]
fn a_file_has_one_writer_and_any_number_of_readers() {
    let place = Place::with(1);
    let first = resume(&place.file()).expect("a good file");
    let error = resume(&place.file()).expect_err("a second writer");
    assert_eq!(error.defect, StoreDefect::ResultsInUse);
    assert_eq!(Reader::open(&place.file()).expect("a good file").count(), 1);
    drop(first);
    resume(&place.file()).expect("a free file");
}

#[test]
fn a_new_match_never_overwrites_another() {
    let place = Place::with(1);
    let error = Store::create(&place.file(), &sample::plan(&["a", "b"], 1)).expect_err("a file");
    assert_eq!(error.defect, StoreDefect::ResultsExist);
    assert_eq!(resume(&place.file()).expect("a good file").1, pairs(1));
    assert_eq!(fs::read_dir(place.0.path()).expect("a directory").count(), 1, "no temporary file");
}

#[cfg(unix)]
#[test]
fn a_result_file_has_the_default_permissions_of_new_files() {
    let place = Place::with(1);
    let plain = place.0.path().join("plain");
    fs::write(&plain, "").expect("space");
    let permissions = |path: &Path| fs::metadata(path).expect("a file").permissions();
    assert_eq!(permissions(&place.file()), permissions(&plain));
}

/// A plan whose second engine needs a password.
fn secret_plan(value: &str) -> Plan {
    let mut plan = sample::plan(&["a", "b"], 10);
    plan.engines[1].env.insert("TOKEN".to_owned(), value.to_owned());
    plan
}

#[test]
fn environment_values_are_not_stored_and_must_match_on_resume() {
    let place = Place::new();
    let plan = secret_plan("hunter2");
    let mut store = Store::create(&place.file(), &plan).expect("new");
    assert_eq!(store.plan(), &plan, "its engines can be started");
    store.check_values().expect("all are known");
    store.append(&sample::pair(0)).expect("space");
    drop(store);
    let text = fs::read_to_string(place.file()).expect("a file");
    assert!(text.contains("TOKEN") && !text.contains("hunter2"), "{text}");
    // The hash of the plan would allow guessing values.
    assert!(!text.contains(&ContentHash::of_plan(&plan).to_string()), "{text}");
    let (store, found, _) = resume(&place.file()).expect("a good file");
    assert_eq!(found, pairs(1));
    let error = store.check_values().expect_err("a value is missing").to_string();
    assert!(error.ends_with("specify the plan again for engines[1].env.TOKEN"), "{error}");
    drop(store);
    let (store, ..) = resume(&place.file()).expect("a good file");
    assert!(Match::new(store, Settings::default()).is_err(), "its engines cannot be started");
    let (mut store, ..) = resume(&place.file()).expect("a good file");
    let error = store.accept(&secret_plan("hunter3")).expect_err("another").to_string();
    assert!(error.ends_with("plan: engines[1].env.TOKEN has another value"), "{error}");
    let without = sample::plan(&["a", "b"], 10);
    let error = store.accept(&without).expect_err("another").to_string();
    assert!(error.ends_with("plan: engines[1].env.TOKEN was `…` and is nothing"), "{error}");
    let grown = Plan { rounds: 20, ..plan };
    store.accept(&grown).expect("more rounds with the same value");
    store.check_values().expect("all are known");
    assert_eq!(store.plan(), &grown);
    drop(store);
    assert!(!fs::read_to_string(place.file()).expect("a file").contains("hunter2"));
    let (mut store, ..) = resume(&place.file()).expect("a good file");
    let env = |value: &str| BTreeMap::from([("TOKEN".to_owned(), value.to_owned())]);
    for wrong in [env("hunter3"), BTreeMap::new()] {
        let error = store.set_values(EngineId(1), &wrong).expect_err("another").to_string();
        assert!(!error.contains("hunter") && error.contains("env.TOKEN"), "{error}");
    }
    store.set_values(EngineId(0), &BTreeMap::new()).expect("it has none");
    store.set_values(EngineId(1), &env("hunter2")).expect("the same");
    store.check_values().expect("all are known");
    assert_eq!(store.plan(), &grown);
}

#[test]
fn equal_values_do_not_show_as_equal() {
    let place = Place::new();
    let mut plan = secret_plan("hunter2");
    plan.engines[0].env = plan.engines[1].env.clone();
    drop(Store::create(&place.file(), &plan).expect("new"));
    let reader = Reader::open(&place.file()).expect("a good file");
    let [a, b] = reader.plan().engines.as_slice() else { panic!("two engines") };
    assert_ne!(a.env["TOKEN"], b.env["TOKEN"]);
}

#[cfg(unix)]
#[test]
fn a_result_file_with_environment_values_is_private() {
    use std::os::unix::fs::PermissionsExt;

    let place = Place::new();
    drop(Store::create(&place.file(), &secret_plan("hunter2")).expect("new"));
    let mode = fs::metadata(place.file()).expect("a file").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn a_plan_may_grow_in_its_rounds() {
    let place = Place::with(1);
    let (mut store, ..) = resume(&place.file()).expect("a good file");
    let name = store.plan_hash();
    store.accept(&sample::plan(&["a", "b"], 10)).expect("the same");
    store.accept(&sample::plan(&["a", "b"], 20)).expect("more rounds");
    assert!(store.accept(&sample::plan(&["a", "b"], 10)).is_err(), "fewer rounds");
    drop(store);
    let (store, found, _) = resume(&place.file()).expect("a good file");
    assert_eq!((store.plan().rounds, found.len(), store.plan_hash()), (20, 1, name));
}

#[test]
fn a_different_plan_is_rejected_with_its_differences() {
    let check = |change: &dyn Fn(&mut Plan), expected: &str| {
        let place = Place::with(1);
        let (mut store, ..) = resume(&place.file()).expect("a good file");
        let mut plan = sample::plan(&["a", "b"], 30);
        change(&mut plan);
        let error = store.accept(&plan).expect_err(expected).to_string();
        let differences = error.split_once("plan: ").expect("differences").1;
        assert_eq!(differences, expected);
        assert_eq!(store.plan().rounds, 10, "nothing has changed");
    };
    check(&|plan| plan.seed = 5, "seed was `0` and is `5`");
    check(
        &|plan| plan.engines[1].limits = Limits { nodes: Some(9), ..Limits::default() },
        "engines[1].limits.nodes was nothing and is `9`",
    );
    check(
        &|plan| drop(plan.engines[0].options.insert("Hash".to_owned(), "1".to_owned())),
        "engines[0].options was nothing and is `{\"Hash\":\"1\"}`",
    );
    check(
        &|plan| drop(plan.engines.pop()),
        "engines[1] was `{\"command\":\"/nowhere/b\",\"limits\":{\"margin_ms\":0},\"name\":\"b\",\
         \"ponder\":false,\"restart\":false}` and is nothing",
    );
}

#[test]
fn a_knockout_cannot_grow() {
    let place = Place::new();
    let mut plan = sample::plan(&["a", "b"], 2);
    plan.format = toml::from_str("kind = \"knockout\"").expect("a format");
    let mut store = Store::create(&place.file(), &plan).expect("new");
    plan.rounds = 4;
    let error = store.accept(&plan).expect_err("played rounds determine the pairings").to_string();
    assert!(error.ends_with("rounds was `2` and is `4`"), "{error}");
}

#[test]
fn engines_and_openings_that_have_changed_are_named() {
    let place = Place::new();
    let file = |name: &str, text: &str| {
        let path = place.0.path().join(name);
        fs::write(&path, text).expect("space");
        path.display().to_string()
    };
    let mut plan = sample::plan(&["a", "b"], 10);
    let [a, b] = plan.engines.as_mut_slice() else { panic!("two engines") };
    a.command = file("a", "one program");
    b.command = file("b", "another program");
    b.args = vec!["--level".to_owned(), file("b.conf", "level = 3")];
    b.options.insert("EvalFile".to_owned(), "./b.net".to_owned());
    file("b.net", "a network");
    let path = file("book.epd", "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -\n");
    plan.openings.source = OpeningSource::File { path, format: None };
    let changed = |store: &Store| match store.check_files() {
        Ok(()) => Vec::new(),
        Err(StoreError { defect: StoreDefect::OtherFiles { files }, .. }) => {
            let name = |file: &String| {
                let (path, what) = file.rsplit_once("` ").expect("a path and what happened");
                let path = Path::new(path.trim_start_matches('`')).file_name().expect("a name");
                format!("{} {what}", path.display())
            };
            files.iter().map(name).collect()
        }
        Err(error) => panic!("{error}"),
    };
    let store = Store::create(&place.file(), &plan).expect("new");
    assert_eq!(changed(&store), [""; 0]);
    drop(store);
    file("a", "one program, compiled again");
    file("b.conf", "level = 4");
    file("b.net", "another network");
    fs::remove_file(place.0.path().join("book.epd")).expect("it was there");
    let (mut store, ..) = resume(&place.file()).expect("a good file");
    let all = [
        "a has changed",
        "b.conf has changed",
        "b.net has changed",
        "book.epd is no longer readable",
    ];
    let mut found = changed(&store);
    found.sort_unstable();
    assert_eq!(found, all);
    let error = store.check_files().expect_err("changed").to_string();
    assert!(error.contains("a` has changed, `"), "{error}");
    assert!(error.contains("book.epd` is no longer readable"), "{error}");
    store.accept_files().expect("space");
    assert_eq!(changed(&store), [""; 0]);
    drop(store);
    // Accepted changes are stored, and their line does not count as a pair.
    let (store, pairs, cut) = resume(&place.file()).expect("a good file");
    assert_eq!((changed(&store).len(), pairs.len(), cut), (0, 0, 0));
    assert_eq!(Reader::open(&place.file()).expect("a good file").count(), 0);
}

#[test]
fn the_hash_of_an_opening_directory_covers_all_files() {
    let place = Place::new();
    let book = place.0.path().join("book");
    fs::create_dir(&book).expect("a directory");
    fs::write(book.join("1.kif"), "▲７六歩\n").expect("space");
    let mut plan = sample::plan(&["a", "b"], 10);
    let path = book.display().to_string();
    plan.openings.source = OpeningSource::File { path, format: None };
    let store = Store::create(&place.file(), &plan).expect("new");
    assert!(store.check_files().is_ok());
    fs::write(book.join("2.kif"), "▲２六歩\n").expect("space");
    assert!(matches!(
        store.check_files(),
        Err(StoreError { defect: StoreDefect::OtherFiles { .. }, .. })
    ));
}

#[test]
fn the_hash_of_a_large_book_covers_samples_only() {
    let place = Place::new();
    let path = place.0.path().join("book.epd");
    let book = fs::File::create(&path).expect("a file");
    // A sparse file.
    book.set_len(1 << 36).expect("a sparse file");
    let mut plan = sample::plan(&["a", "b"], 10);
    let path = path.display().to_string();
    plan.openings.source = OpeningSource::File { path, format: None };
    let store = Store::create(&place.file(), &plan).expect("new");
    assert!(store.check_files().is_ok());
    book.set_len((1 << 36) + 1).expect("a sparse file");
    assert!(matches!(
        store.check_files(),
        Err(StoreError { defect: StoreDefect::OtherFiles { .. }, .. })
    ));
}
