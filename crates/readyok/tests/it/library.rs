//! `readyok library`.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};

use readyok_library::{CollectionEdit, Library};
use readyok_rules::record::Condition;
use readyok_rules::{Book, CastlingForm, Game, Position};
use serde_json::{Value, json};

use crate::import_killed::Server;
use crate::program::{Dir, Output, Signal, readyok, run, signal, wait};

const GAMES: &str = include_str!("data/convert/games.txt");

/// A command on the database of the app.
fn command(dir: &Dir, arguments: &[&str]) -> Command {
    let mut command = readyok(dir);
    command.env("XDG_DATA_HOME", dir.path()).current_dir(dir.path());
    command.arg("library").args(arguments);
    command
}

fn library(dir: &Dir, arguments: &[&str]) -> Output {
    run(&mut command(dir, arguments), b"")
}

/// The output of a command that succeeds.
#[track_caller]
fn done(dir: &Dir, arguments: &[&str]) -> String {
    let output = library(dir, arguments);
    assert_eq!(output.code(), Some(0), "{}", output.stderr);
    output.text().to_owned()
}

#[track_caller]
fn lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

#[track_caller]
fn import(dir: &Dir, text: &str, arguments: &[&str]) -> Value {
    let mut command = command(dir, &[&["import", "--json"], arguments].concat());
    let output = run(&mut command, text.as_bytes());
    assert_eq!(output.code(), Some(0), "{}", output.stderr);
    lines(output.text()).pop().expect("a result")
}

fn path(dir: &Dir) -> PathBuf {
    dir.path().join("readyok/library.sqlite")
}

fn open(path: &Path) -> Library {
    let library = Library::open(path).expect("it opens");
    library.wait_until_indexed().expect("indexed");
    library
}

/// The numbers of the games that a filter selects.
#[track_caller]
fn ids(dir: &Dir, arguments: &[&str]) -> Vec<u32> {
    let text = done(dir, &[&["search", "--ids"], arguments].concat());
    text.lines().map(|line| line.parse().expect("a number")).collect()
}

#[test]
fn games_are_imported_found_and_exported() {
    let dir = Dir::new();
    let imported = import(&dir, GAMES, &[]);
    assert_eq!((&imported["added"], &imported["last"]), (&json!(3), &json!(3)));
    let again = import(&dir, GAMES, &[]);
    assert_eq!((&again["added"], &again["duplicates"]), (&json!(0), &json!(3)));
    assert_eq!(ids(&dir, &[]), [1, 2, 3]);
    assert_eq!(ids(&dir, &["--player", "keres", "--result", "loss"]), [1, 3]);
    assert_eq!(ids(&dir, &["--position", "rnbqkbnr/pppppppp/8/8/3P4/8/PPP1PPPP/RNBQKBNR b"]), [2]);
    assert_eq!(ids(&dir, &["--sort", "date", "--descending", "--limit", "2"]), [3, 2]);
    assert_eq!(ids(&dir, &["--sort", "first", "--skip", "1"]), [3, 2]);
    // None is no failure.
    assert_eq!(ids(&dir, &["--player", "zukertort"]), [0; 0]);
    let found = lines(&done(&dir, &["search", "--json", "--event", "candidates"]));
    let expected = json!({
        "game": 1, "variant": "chess", "first": "Bronstein, David", "second": "Keres, Paul",
        "ratings": [2600, 2650], "event": "Candidates", "date": "1953.08.30", "result": "1-0",
        "plies": 6, "labels": [],
    });
    for (name, value) in expected.as_object().expect("an object") {
        assert_eq!(&found[0][name], value, "{name}");
    }
    let table = done(&dir, &["search", "--white", "keres"]);
    assert!(table.contains("Keres, Paul") && table.contains("2021.05.06"), "{table}");
    // The same games as those of the file.
    let converted = run(readyok(&dir).args(["convert", "--white", "keres"]), GAMES.as_bytes());
    assert_eq!(done(&dir, &["export", "--white", "keres"]), converted.text());
    let statistics = run(readyok(&dir).args(["convert", "--stats=json"]), GAMES.as_bytes());
    assert_eq!(done(&dir, &["stats", "--json"]), statistics.text());
    let written = done(&dir, &["export", "-o", "out.pgn", "--json", "--bare", "--first", "2"]);
    assert_eq!(lines(&written), [json!({"games": 2})]);
    let text = fs::read_to_string(dir.path().join("out.pgn")).expect("written");
    assert_eq!((text.matches("[Event ").count(), text.matches('{').count()), (2, 0));
}

#[test]
fn the_explorer_counts_the_moves_of_a_position() {
    let dir = Dir::new();
    import(&dir, GAMES, &[]);
    let explore = |arguments: &[&str]| -> Value {
        let text = done(&dir, &[&["explorer", "--json"], arguments].concat());
        serde_json::from_str(&text).expect("JSON")
    };
    let start = explore(&[]);
    assert_eq!(
        (&start["games"], &start["first"], &start["draws"]),
        (&json!(3), &json!(1), &json!(1))
    );
    assert_eq!(start["moves"].as_array().expect("moves").len(), 3);
    for at in [
        "e4 e5",
        "1. e4 e5",
        "1.e4 e5",
        "e2e4 e7e5",
        "rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2",
    ] {
        let found = explore(&[at]);
        let mv = &found["moves"][0];
        assert_eq!(
            (&mv["move"], &mv["text"], &mv["games"]),
            (&json!("g1f3"), &json!("Nf3"), &json!(1))
        );
        assert_eq!((&mv["score"], &mv["average_rating"]), (&json!(100.0), &json!(2600.0)));
        assert_eq!(
            (&mv["performance"], &mv["last_played"]),
            (&json!(3050.0), &json!("1953.08.30"))
        );
    }
    assert_eq!(explore(&["--player", "anna"])["games"], 2);
    let table = done(&dir, &["explorer"]);
    assert!(table.contains("e4 ") && table.contains("3 games"), "{table}");
    library(&dir, &["explorer", "e4 e4"]).reports(2, "`e4` is neither a position nor a legal move");
}

#[test]
fn unusable_files_are_reported_and_not_changed() {
    let dir = Dir::new();
    library(&dir, &["search"]).reports(2, "no database");
    assert!(!path(&dir).exists());
    let text = dir
        .write("text.sqlite", "no database, but a text that is long enough for a header of a file");
    let text_path = text.to_str().expect("UTF-8");
    for command in [
        &["search"][..],
        &["import", "-"],
        &["check"],
        &["repair", "new.sqlite"],
        &["backup", "new.sqlite"],
    ] {
        let arguments = [command, &["--database", text_path]].concat();
        library(&dir, &arguments).reports(2, "text.sqlite`: ");
    }
    assert!(fs::read(&text).expect("read").starts_with(b"no database"));
    assert!(!dir.path().join("new.sqlite").exists());
    // What can be read is stored.
    let bad = dir.write("bad.pgn", &format!("{GAMES}\n[Variant \"Atomic\"]\n\n1. e4 *\n"));
    let bad = bad.to_str().expect("UTF-8");
    let output = library(&dir, &["import", bad, "--json"]);
    output.reports(1, "Atomic");
    let result = &lines(output.text())[0];
    assert_eq!((&result["added"], &result["failed"]), (&json!(3), &json!(1)));
    library(&dir, &["import", "missing.pgn"]).reports(2, "no such file");
    #[cfg(target_os = "linux")]
    library(&dir, &["export", "-o", "/dev/full"]).reports(1, "No space left");
}

#[test]
fn databases_are_merged_with_labels_and_studies() {
    let dir = Dir::new();
    import(&dir, GAMES, &["--database", "other.sqlite"]);
    let other = open(&dir.path().join("other.sqlite"));
    other.set_label(vec![2, 3], "good".to_owned(), true).expect("set");
    let edit = CollectionEdit::Create { name: "Study".to_owned(), of: vec![3, 1] };
    other.edit_collection(edit, 5).expect("created");
    let (_, chapters) = other.collection(1).expect("read");
    let edit = CollectionEdit::RenameChapter { chapter: chapters[0].id, name: "First".to_owned() };
    other.edit_collection(edit, 6).expect("renamed");
    drop(other);
    // The first game is known here.
    let first = GAMES.split("\n[Event \"Club\"]").next().expect("a game");
    import(&dir, &format!("[White \"A\"]\n\n1. a4 *\n\n{first}"), &[]);
    let result = import(&dir, "", &["other.sqlite"]);
    let counts =
        ["added", "duplicates", "labels", "collections", "failed"].map(|name| &result[name]);
    assert_eq!(counts, [&json!(2), &json!(1), &json!(2), &json!(1), &json!(0)]);
    assert_eq!(ids(&dir, &["--label", "good"]), [3, 4]);
    assert_eq!(ids(&dir, &["--label", "good", "--label", "x", "--result", "draw"]), [3]);
    library(&dir, &["import", path(&dir).to_str().expect("UTF-8")]).reports(2, "into itself");
    let library = open(&path(&dir));
    let (study, chapters) = library.collection(1).expect("read");
    let chapters: Vec<_> = chapters.iter().map(|it| (it.game, it.name.as_str())).collect();
    assert_eq!((study.name.as_str(), chapters[0], chapters[1].0), ("Study", (4, "First"), 2));
}

#[test]
fn the_app_and_commands_use_one_database() {
    let dir = Dir::new();
    let data = dir.path().join("readyok");
    let server = Server::start(&dir, &data);
    assert_eq!(server.total(), 0);
    import(&dir, GAMES, &[]);
    assert_eq!(server.total(), 3);
    // The app adds, and a command finds it by its position.
    server.post("/api/import?name=a.pgn", b"[White \"New\"]\n\n1. h4 h5 *\n");
    assert_eq!(ids(&dir, &["--moves", "h4 h5"]), [4]);
    assert_eq!(done(&dir, &["explorer", "h4"]).matches("h5 ").count(), 1);
    // Games that are open in the app are not replaced.
    let annotated = GAMES.replace("1. d4 d5", "1. d4 {the best} d5");
    let mut command = command(&dir, &["import", "--duplicates", "replace", "--json"]);
    let output = run(&mut command, annotated.as_bytes());
    output.reports(0, "the app is running");
    assert_eq!(lines(output.text())[0]["undecided"], 3);
    library(&dir, &["duplicates", "--delete"]).reports(2, "the app is running");
    done(&dir, &["backup", "copy.sqlite"]);
    assert_eq!(ids(&dir, &["--database", "copy.sqlite"]), [1, 2, 3, 4]);
    drop(server);
    let replaced = import(&dir, &annotated, &["--duplicates", "replace"]);
    assert_eq!(replaced["replaced"], 1);
    assert!(done(&dir, &["export"]).contains("the best"));
}

fn kill(mut child: Child) {
    signal(child.id(), Signal::KILL);
    child.wait().expect("killed");
}

/// An import is killed while another process has the database open.
#[test]
fn a_killed_import_loses_nothing_that_was_stored() {
    let dir = Dir::new();
    import(&dir, GAMES, &[]);
    let library = open(&path(&dir));
    let mut child = command(&dir, &["import", "-"]).spawn().expect("the process starts");
    let mut input = child.stdin.take().expect("a pipe");
    for number in 0..2000 {
        let game = format!("[White \"Player{number}\"]\n[Black \"B\"]\n\n1. h4 a5 2. h5 a4 *\n\n");
        input.write_all(game.as_bytes()).expect("written");
    }
    input.flush().expect("written");
    let count = || library.find_all(&Condition::default()).expect("found").len();
    wait("no game is imported", || count() > 400);
    kill(child);
    let kept = count();
    library.wait_until_indexed().expect("indexed");
    let moves = Condition::moves("h4 a5").expect("moves");
    assert_eq!(library.find_all(&moves).expect("found").len(), kept - 3);
    let position =
        "rnbqkbnr/1ppppppp/8/p7/7P/8/PPPPPPP1/RNBQKBNR w KQkq -".parse().expect("a position");
    let found = library.find_all(&Condition::Position(position)).expect("found");
    assert_eq!(found.len(), kept - 3);
    drop(library);
    assert_eq!(ids(&dir, &[]).len(), kept);
    let report = lines(&done(&dir, &["check", "--json"]));
    assert_eq!(report, [json!({"games": kept, "defects": 0})]);
}

#[test]
fn duplicates_are_listed_and_deleted() {
    let dir = Dir::new();
    let long = |moves: &str, result: &str| {
        format!(
            "[Event \"Open\"]\n[Date \"2020.01.02\"]\n[White \"Adams\"]\n[Black \"Bird\"]\n\n\
             1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 4. Ba4 Nf6 5. O-O Be7 {moves} {result}\n\n"
        )
    };
    let games = [long("", "*"), long("6. Re1 b5", "1-0"), long("6. Re1 b5", "1-0")].concat();
    import(&dir, &format!("{games}{GAMES}"), &["--duplicates", "keep"]);
    let listed = lines(&done(&dir, &["duplicates", "--json"]));
    assert_eq!(listed, [json!({"keep": 2, "others": [1, 3], "beginnings": [1]})]);
    let exact = lines(&done(&dir, &["duplicates", "--json", "--exact"]));
    assert_eq!(exact, [json!({"keep": 2, "others": [3], "beginnings": []})]);
    let table = done(&dir, &["duplicates"]);
    assert!(table.contains("2 surplus games in 1 groups"), "{table}");
    done(&dir, &["duplicates", "--delete"]);
    assert_eq!(ids(&dir, &[]), [2, 4, 5, 6]);
}

#[test]
fn names_are_proposed_merged_and_restored() {
    let dir = Dir::new();
    let games = "[White \"Carlsen, M\"]\n[Black \"?\"]\n\n1. e4 *\n\n\
                 [White \"Carlsen, Magnus\"]\n[Black \"Bird\"]\n\n1. d4 *\n";
    import(&dir, games, &[]);
    let proposed = lines(&done(&dir, &["names", "--json"]));
    let variants = json!([{"name": "Carlsen, M", "games": 1}]);
    let expected =
        json!({"keep": "Carlsen, Magnus", "games": 1, "variants": variants, "reason": "initials"});
    assert_eq!(proposed, [expected]);
    let merged = lines(&done(&dir, &["names", "--apply", "--json"]));
    assert_eq!(merged, [json!({"merge": 1, "keep": "Carlsen, Magnus", "games": 1})]);
    assert_eq!(done(&dir, &["export"]).matches("Carlsen, Magnus").count(), 2);
    assert_eq!(ids(&dir, &["--white", "carlsen magnus"]), [1, 2]);
    done(&dir, &["names", "--merge", "Bird", "--into", "Bird, Henry"]);
    let history = lines(&done(&dir, &["names", "--history", "--json"]));
    assert_eq!(
        (&history[0]["to"], &history[1]["from"]),
        (&json!("Bird, Henry"), &json!(["Carlsen, M"]))
    );
    done(&dir, &["names", "--undo"]);
    done(&dir, &["names", "--undo", "1"]);
    assert_eq!(done(&dir, &["export"]).matches("Carlsen, Magnus").count(), 1);
    assert_eq!(lines(&done(&dir, &["names", "--list", "--json"])).len(), 3);
    library(&dir, &["names", "--undo"]).reports(1, "no such merge");
    library(&dir, &["names", "--merge", "X", "--into", "Y"]).reports(1, "no game has these names");
    dir.write("spelling.ssp", "@PLAYER\nBird, Henry Edward #eng\n=Bird\n");
    done(&dir, &["names", "--spelling", "spelling.ssp", "--apply"]);
    assert!(done(&dir, &["export"]).contains("Bird, Henry Edward"));
    library(&dir, &["names", "--spelling", "missing.ssp"]).reports(2, "missing.ssp");
}

#[test]
fn books_are_written_and_read() {
    let dir = Dir::new();
    import(&dir, GAMES, &[]);
    import(&dir, "position startpos moves 7g7f 3c3d 2g2f\n", &["-", "--from", "usi"]);
    let result = lines(&done(&dir, &["book", "-o", "book.bin", "--json"])).pop().expect("a result");
    // Anna's first move loses; e4 wins.
    assert_eq!((&result["games"], &result["unreadable"]), (&json!(3), &json!(0)));
    let moves = |file: &str, game: Game, line: &[&str]| -> Vec<(String, u64)> {
        let mut book = Book::open(&dir.path().join(file)).expect("a book");
        assert_eq!(book.take_remark(), None);
        let position = Position::start(game).after(line).expect("legal");
        let moves = book.moves(&position).expect("read").into_iter();
        let text = |found: readyok_rules::BookMove| {
            (found.mv.to_uci(CastlingForm::KingMove), found.weight.expect("a weight"))
        };
        moves.map(text).collect()
    };
    let entry = |text: &str, weight| (text.to_owned(), weight);
    assert_eq!(moves("book.bin", Game::Chess, &[]), [entry("e2e4", 2), entry("d2d4", 1)]);
    assert_eq!(moves("book.bin", Game::Chess, &["f2f3", "e7e5", "g2g4"]), [entry("d8h4", 2)]);
    library(&dir, &["book", "-o", "book.bin"]).reports(2, "--force");
    done(&dir, &["book", "-o", "book.bin", "--force", "--uniform", "--max-ply", "1"]);
    assert_eq!(moves("book.bin", Game::Chess, &[]).len(), 3);
    assert_eq!(moves("book.bin", Game::Chess, &["e2e4"]), []);
    done(&dir, &["book", "-o", "shogi.db", "--game", "shogi"]);
    assert_eq!(moves("shogi.db", Game::Shogi, &["7g7f"]), [entry("3c3d", 1)]);
    check_by_python_chess(&dir.path().join("book.bin"));
    // A match takes its openings from the book.
    let mut command = readyok(&dir);
    command.current_dir(dir.path()).args(["match", "narikin", "narikin", "--rounds", "1"]);
    command.args(["--openings", "book.bin", "--plies", "1", "--nodes", "50", "--max-moves", "6"]);
    command.args(["--pgn", "games.pgn"]);
    let played = run(&mut command, b"");
    assert_eq!(played.code(), Some(0), "{}", played.stderr);
}

/// Reads a book of one move per game by python-chess, if it is installed.
fn check_by_python_chess(book: &Path) {
    if std::env::var_os("READYOK_REAL_ENGINES").is_none() {
        return;
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let program = "import chess, chess.polyglot, sys\n\
                   book = chess.polyglot.open_reader(sys.argv[1])\n\
                   moves = {e.move.uci(): e.weight for e in book.find_all(chess.Board())}\n\
                   assert moves == {'e2e4': 1, 'd2d4': 1, 'f2f3': 1}, moves\n";
    let mut python = Command::new(root.join("target/record-peers/bin/python"));
    let status = python.args(["-c", program]).arg(book).status();
    assert!(status.expect("scripts/install-record-peers.sh was run").success());
}

#[test]
fn damaged_databases_are_repaired() {
    let dir = Dir::new();
    import(&dir, GAMES, &[]);
    damage(&path(&dir));
    let output = library(&dir, &["check", "--json"]);
    assert_eq!(output.code(), Some(1), "{}", output.stderr);
    assert_eq!(lines(output.text())[0]["game"], 2);
    let output = library(&dir, &["repair", "new.sqlite", "--json"]);
    assert_eq!(output.code(), Some(1), "{}", output.stderr);
    let report = lines(output.text());
    assert_eq!((&report[0]["game"], &report[1]["games"]), (&json!(2), &json!(2)));
    assert_eq!(ids(&dir, &["--database", "new.sqlite"]), [1, 3]);
    library(&dir, &["repair", "new.sqlite"]).reports(2, "--force");
    // Its games that can be read are imported, too.
    let output = library(
        &dir,
        &["import", path(&dir).to_str().expect("UTF-8"), "--database", "third.sqlite"],
    );
    output.reports(1, "game 2: the library is damaged");
    assert_eq!(ids(&dir, &["--database", "third.sqlite"]).len(), 2);
}

/// Makes the moves of game 2 unreadable: their bytes are found in the file.
fn damage(path: &Path) {
    let library = open(path);
    let moves = library.game(2).expect("read").expect("a game").game.moves;
    library.flush(true).expect("flushed");
    drop(library);
    let mut bytes = fs::read(path).expect("read");
    let places: Vec<usize> =
        (0..bytes.len() - moves.len()).filter(|at| bytes[*at..].starts_with(&moves)).collect();
    assert!(!places.is_empty());
    for at in places {
        bytes[at..at + moves.len()].fill(0x77);
    }
    fs::write(path, bytes).expect("written");
}
