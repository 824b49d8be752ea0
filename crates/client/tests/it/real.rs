//! Tests with real engines, if they are installed and `READYOK_REAL_ENGINES` is set.
//!
//! Without the variable each test prints the required engine and passes. With it, a missing engine is a failure.

use std::env;
use std::io::{Write as _, stderr};
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use readyok_client::{
    Best, Checkmate, Clock, Clocks, Dialect, Engine, Game, Limit, MateLimit, Move, Score, Search,
};

use crate::support::hit;

const MATE_IN_TWO: &str = "7k/8/8/8/8/8/R7/1R4K1 w - - 0 1";

/// Runs a test with an engine, and checks that it exits normally.
fn check(program: &str, arguments: &[&str], dialect: Dialect, test: impl FnOnce(&mut Engine)) {
    if env::var_os("READYOK_REAL_ENGINES").is_none() {
        // `eprintln!` is captured by the test harness.
        let text = format!("not tested: {program}, which needs READYOK_REAL_ENGINES=1\n");
        stderr().write_all(text.as_bytes()).expect("standard error is open");
        return;
    }
    let mut command = Command::new(find(program));
    command.args(arguments);
    let engine = Engine::builder().dialect(dialect).spawn(command);
    let mut engine = engine.expect("it starts and answers");
    assert!(!engine.identity().name.is_empty());
    engine.ready().expect("it is ready");
    test(&mut engine);
    engine.quit().expect("it exits on quit");
}

pub(crate) fn find(program: &str) -> PathBuf {
    let path = env::var_os("PATH").unwrap_or_default();
    let games = ["/usr/games", "/usr/local/games"].map(PathBuf::from);
    let mut directories = env::split_paths(&path).chain(games);
    let found = directories
        .find_map(|directory| Some(directory.join(program)).filter(|path| path.is_file()));
    found.unwrap_or_else(|| panic!("{program} is not installed"))
}

fn plays_by_every_limit(engine: &mut Engine) {
    let clock = Clock::fischer(Duration::from_secs(1), Duration::from_millis(10));
    let mut game = Game::startpos();
    for limit in [Limit::Depth(3), Limit::millis(50), Limit::clock(Clocks::new(clock, clock))] {
        let played = engine.play(&game, limit).expect("it plays");
        game.play(played.best_move().expect("there are moves"));
    }
}

fn stops_on_request(engine: &mut Engine) {
    let mut analysis = engine.analyse(&Game::startpos(), Limit::Infinite).expect("it starts");
    let depth = analysis.find_map(|update| update.pv.as_ref().and(update.depth));
    assert!(depth.is_some());
    assert!(analysis.finish().expect("it answers").best_move().is_some());
    // And without reading the result.
    drop(engine.analyse(&Game::startpos(), Limit::Infinite).expect("it starts"));
    engine.ready().expect("it is ready");
}

fn shows_variations(engine: &mut Engine) {
    let search = Search::new(Limit::Depth(4)).lines(3);
    let analysis = engine.analyse(&Game::startpos(), search).expect("it starts");
    let played = analysis.wait().expect("it ends");
    assert_eq!(played.lines.len(), 3);
    let first: Vec<Option<Move>> =
        played.lines.iter().map(|line| line.pv.as_ref()?.moves().next()).collect();
    assert!(first.iter().all(Option::is_some), "{first:?}");
    assert!(first[0] != first[1] && first[1] != first[2] && first[0] != first[2], "{first:?}");
    let played = engine.play(&Game::startpos(), Limit::Depth(4)).expect("it plays");
    assert_eq!(played.lines.len(), 1);
}

fn searches(engine: &mut Engine) {
    plays_by_every_limit(engine);
    stops_on_request(engine);
    shows_variations(engine);
}

fn ponders(engine: &mut Engine, moves: [&str; 2]) {
    let mut game = Game::startpos();
    game.extend(moves.map(|mv| mv.parse::<Move>().expect("a move")));
    let pondering = engine.ponder(&game, Limit::millis(100)).expect("it starts");
    assert!(hit(pondering).expect("it plays").best_move().is_some());
    let pondering = engine.ponder(&game, Limit::millis(100)).expect("it starts");
    while pondering.so_far().is_empty() {
        pondering.next_within(Duration::from_millis(100));
    }
    assert!(hit(pondering).expect("it plays").best_move().is_some());
    let pondering = engine.ponder(&game, Limit::millis(100)).expect("it starts");
    pondering.next_within(Duration::from_millis(50));
    drop(pondering);
    assert!(engine.play(&game, Limit::millis(50)).expect("it plays").best_move().is_some());
}

fn takes_options(engine: &mut Engine, name: &str, values: [&str; 2]) {
    engine.set_option(name, values[0]).expect("it has this option");
    engine.ready().expect("it is ready");
    let search = Search::new(Limit::Depth(3)).option(name, values[1]);
    assert!(engine.play(&Game::startpos(), search).expect("it plays").best_move().is_some());
    assert!(engine.play(&Game::startpos(), Limit::Depth(3)).is_ok());
    assert!(engine.set_option(name, "-5").is_err());
}

fn finds_a_mate(engine: &mut Engine) {
    let game = Game::from_fen(MATE_IN_TWO).expect("a position");
    let played = engine.play(&game, Limit::Depth(8)).expect("it plays");
    assert_eq!(played.info.score, Some(Score::MateIn { plies: 3 }));
    let mate = engine.mate(&game, MateLimit::Moves(2)).expect("it answers");
    assert!(matches!(mate, Checkmate::Moves(_)), "{mate:?}");
}

#[test]
fn stockfish() {
    check("stockfish", &[], Dialect::Uci, |engine| {
        searches(engine);
        ponders(engine, ["e2e4", "e7e5"]);
        takes_options(engine, "Threads", ["2", "1"]);
        finds_a_mate(engine);
        let mated = "7k/6Q1/6K1/8/8/8/8/8 b - - 0 1";
        let game = Game::from_fen(mated).expect("a position");
        let played = engine.play(&game, Limit::Depth(5)).expect("it answers");
        assert_eq!((played.best, played.info.score), (Best::None, Some(Score::Mated)));
    });
}

#[test]
fn fairy_stockfish_in_uci() {
    check("fairy-stockfish", &[], Dialect::Uci, |engine| {
        searches(engine);
        ponders(engine, ["e2e4", "e7e5"]);
        takes_options(engine, "Threads", ["2", "1"]);
        finds_a_mate(engine);
        let game = Game::startpos().variant("crazyhouse");
        assert!(engine.play(&game, Limit::Depth(3)).expect("it plays").best_move().is_some());
    });
}

#[test]
fn fairy_stockfish_in_usi() {
    check("fairy-stockfish", &[], Dialect::Usi, |engine| {
        searches(engine);
        ponders(engine, ["7g7f", "3c3d"]);
        takes_options(engine, "Threads", ["2", "1"]);
        let mate = "4k4/9/4P4/9/9/9/9/9/9 b G2r2b3g4s4n4l17p 1";
        let game = Game::from_sfen(mate).expect("a position");
        let mate = engine.mate(&game, MateLimit::Time(Duration::from_secs(2))).expect("it answers");
        let Checkmate::Moves(moves) = mate else { panic!("{mate:?}") };
        assert_eq!(moves.as_str(), "G*5b");
    });
}

#[test]
fn gnuchess() {
    check("gnuchess", &["--uci"], Dialect::Uci, |engine| {
        plays_by_every_limit(engine);
        stops_on_request(engine);
        ponders(engine, ["e2e4", "e7e5"]);
        takes_options(engine, "Hash", ["8", "16"]);
    });
}

#[test]
fn toga() {
    check("toga2", &[], Dialect::Uci, |engine| {
        plays_by_every_limit(engine);
        stops_on_request(engine);
        ponders(engine, ["e2e4", "e7e5"]);
    });
}

#[test]
fn glaurung() {
    check("glaurung", &[], Dialect::Uci, |engine| {
        searches(engine);
        ponders(engine, ["e2e4", "e7e5"]);
    });
}

#[test]
fn ethereal() {
    check("ethereal-chess", &[], Dialect::Uci, |engine| {
        searches(engine);
        ponders(engine, ["e2e4", "e7e5"]);
    });
}

#[test]
fn sjaak() {
    // It ignores `stop`.
    check("sjaakii", &[], Dialect::Uci, plays_by_every_limit);
}
