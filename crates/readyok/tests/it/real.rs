//! Tests with real engines.
//!
//! With `READYOK_REAL_ENGINES` set, a missing engine fails the test. Otherwise the test is skipped with a message.

use std::env;
use std::io::{BufRead, BufReader, Write, stderr};
use std::path::PathBuf;

use serde_json::Value;

use crate::program::{Dir, finish, readyok, run};

/// The path of an engine, or `None` if the test is skipped.
pub(crate) fn engine(name: &str) -> Option<PathBuf> {
    if env::var_os("READYOK_REAL_ENGINES").is_none() {
        // The test harness would capture the output of `eprintln!`.
        let text = format!("not tested: {name}, which needs READYOK_REAL_ENGINES=1\n");
        stderr().write_all(text.as_bytes()).expect("standard error is open");
        return None;
    }
    let path = env::var_os("PATH").unwrap_or_default();
    let games = ["/usr/games", "/usr/local/games", "/usr/sbin"].map(PathBuf::from);
    let mut directories = env::split_paths(&path).chain(games);
    let found =
        directories.find_map(|directory| Some(directory.join(name)).filter(|path| path.is_file()));
    Some(found.unwrap_or_else(|| panic!("{name} is not installed")))
}

/// Runs a session with an engine through a strict tap: `>` sends a line, `<` waits for a line with this prefix.
#[track_caller]
fn check_tap(name: &str, script: &str) {
    let Some(engine) = engine(name) else { return };
    let dir = Dir::new();
    let mut command = readyok(&dir);
    command.args(["tap", "--strict", "--"]).arg(engine);
    let mut child = command.spawn().expect("the process starts");
    let mut to = child.stdin.take().expect("a pipe");
    let mut from = BufReader::new(child.stdout.take().expect("a pipe")).lines();
    for step in script.lines().map(str::trim_start) {
        match step.split_at(2) {
            ("> ", line) => writeln!(to, "{line}").expect("the line is sent"),
            ("< ", prefix) => {
                let found = from.any(|line| line.expect("a line").starts_with(prefix));
                assert!(found, "no line starts with {prefix}");
            }
            _ => panic!("invalid step: {step}"),
        }
    }
    drop(to);
    let output = finish(child);
    assert_eq!(output.code(), Some(0), "{}", output.stderr);
    assert!(!output.stderr.contains(" must: "), "{}", output.stderr);
}

/// Checks that an analysis has information with legal moves, and a legal best move.
#[track_caller]
fn check_analysis(name: &str, engine_arguments: &str, arguments: &[&str]) {
    let Some(engine) = engine(name) else { return };
    let dir = Dir::new();
    let address = format!("{} {engine_arguments}", engine.display());
    let output = run(readyok(&dir).args(["analyse", &address]).args(arguments), b"");
    assert_eq!((output.code(), output.stderr.as_str()), (Some(0), ""));
    let records: Vec<Value> = output
        .text()
        .lines()
        .map(|line| serde_json::from_str(line).expect("an object in each line"))
        .collect();
    let (end, infos) = records.split_last().expect("an answer");
    assert_eq!((&end["type"], &end["answer"]), (&"bestmove".into(), &"move".into()));
    assert!(end["move_text"].is_string(), "{end}");
    let with_moves = infos.iter().filter(|info| info["pv"].is_array());
    let legal: Vec<_> = with_moves.filter(|info| info["pv"] != info["pv_text"]).collect();
    assert!(!legal.is_empty(), "{}", output.text());
}

#[test]
fn taps_stockfish() {
    check_tap(
        "stockfish",
        "> uci
         < uciok
         > setoption name Hash value 4
         > ucinewgame
         > isready
         < readyok
         > position startpos moves e2e4
         > go depth 5
         < bestmove
         > go infinite
         < info depth
         > isready
         < readyok
         > stop
         < bestmove
         > quit",
    );
}

#[test]
fn taps_fairy_stockfish_in_usi() {
    check_tap(
        "fairy-stockfish",
        "> usi
         < usiok
         > isready
         < readyok
         > usinewgame
         > position startpos moves 7g7f
         > go depth 3
         < bestmove
         > quit",
    );
}

#[test]
fn analyses_with_stockfish() {
    check_analysis("stockfish", "", &["--depth", "6", "--multipv", "2", "--option", "Hash=4"]);
    let chess960 = "bqnb1rkr/pp3ppp/3ppn2/2p5/5P2/P2P4/NPP1P1PP/BQ1BNRKR w HFhf - 2 9";
    check_analysis("stockfish", "", &["--game", "chess960", "--fen", chess960, "--depth", "5"]);
}

#[test]
fn analyses_shogi_with_fairy_stockfish() {
    check_analysis("fairy-stockfish", "", &["--game", "shogi", "--depth", "3"]);
    check_analysis(
        "fairy-stockfish",
        "",
        &["--game", "shogi", "--moves", "7g7f 3c3d", "--nodes", "3000", "--notation", "japanese"],
    );
}

#[test]
fn analyses_with_gnuchess() {
    check_analysis("gnuchess", "--uci", &["--movetime", "300"]);
}

#[test]
fn empty_log_file_option_of_stockfish_creates_no_file() {
    use readyok_client::{Engine, Game, Limit, Search};

    let Some(path) = engine("stockfish") else { return };
    let dir = Dir::new();
    let mut command = std::process::Command::new(path);
    command.current_dir(dir.path());
    let mut engine = Engine::spawn(command).expect("the engine starts");
    let search = || Search::new(Limit::Depth(1));
    let game = Game::startpos();
    engine.play(&game, search().option("Debug Log File", "one.log")).expect("an answer");
    engine.play(&game, search()).expect("an answer");
    engine.quit().expect("the engine exits");
    let files = std::fs::read_dir(dir.path()).expect("the directory");
    let files: Vec<_> = files.map(|file| file.expect("a file").file_name()).collect();
    assert_eq!(files, ["one.log"]);
}
