//! Comparison with games of fastchess alpha 1.8.2 and cutechess-cli 1.5.1: deterministic engines play the same number
//! of plies in 200 games from the same openings. Requires the engines and `READYOK_REAL_ENGINES`.
//!
//! Both ran with `-each nodes=1 -rounds 100 -games 2 -concurrency 2` and sequential openings, with a hash of 1 MB for
//! Stockfish, and of 2 MB and `depth=1` for Ethereal.
//!
//! Other versions play other games and are a failure. With `READYOK_OTHER_VERSIONS=1` they are not compared.

use std::env;
use std::io::{Write as _, stderr};
use std::path::Path;
use std::thread;

use readyok_arena::event::{End, Score};
use readyok_arena::game::GameSettings;
use readyok_arena::pairing::PairResult;
use readyok_arena::plan::{BookFormat, EnginePlan, Limits, OpeningSource, Plan};
use readyok_arena::runner::{EnginePlayer, Match, Settings};
use readyok_arena::store::{Reader, Store};
use readyok_client::Timeouts;
use readyok_rules::Game;

use crate::game_real::{engine, is_wanted};
use crate::sample;

const ROUNDS: u32 = 100;

fn plan(engines: [EnginePlan; 2]) -> Plan {
    let mut plan = sample::plan(&[], ROUNDS);
    let book = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/openings/fastchess.epd");
    plan.openings.source =
        OpeningSource::File { path: book.display().to_string(), format: Some(BookFormat::Epd) };
    plan.engines = engines.into();
    plan
}

fn nodes_1(program: &str, name: &str, depth: Option<u32>, hash: &str) -> EnginePlan {
    let limits = Limits { nodes: Some(1), depth, ..Limits::default() };
    let plan = engine(program, limits);
    let options = [("Hash".to_owned(), hash.to_owned())].into();
    EnginePlan { name: name.to_owned(), options, ..plan }
}

/// Whether the games can be compared: other versions cannot, which is allowed by a variable.
fn are_known(names: [&str; 2], known: [&str; 2], others_allowed: bool) -> bool {
    assert!(
        names == known || others_allowed,
        "{names:?} instead of {known:?}, which READYOK_OTHER_VERSIONS=1 allows"
    );
    names == known
}

/// Plays the match, and compares the games if the versions are known.
fn check(engines: [EnginePlan; 2], known: [&str; 2], plies: usize) -> Option<Score> {
    let directory = tempfile::tempdir().expect("a directory");
    let results = directory.path().join("results");
    let plan = plan(engines);
    let store = Store::create(&results, &plan).expect("a new file");
    let game = Match::new(store, Settings::default()).expect("a match");
    let slots = thread::available_parallelism().map_or(1, usize::from);
    let player =
        |_: &_| EnginePlayer::new(&plan, GameSettings::new(Game::Chess), Timeouts::default());
    let summary = game.play_here(slots, None, player).expect("a match");
    assert_eq!((summary.end, summary.games), (End::Complete, u64::from(2 * ROUNDS)));
    let pairs: Result<Vec<_>, _> = Reader::open(&results).expect("results").collect();
    let pairs = pairs.expect("results that can be read");
    let names = |pair: &PairResult| {
        let [white, black] = &pair.games[0].engines;
        [white.name.clone(), black.name.clone()]
    };
    let names = names(&pairs[0]);
    let others_allowed = env::var_os("READYOK_OTHER_VERSIONS").is_some();
    if !are_known(names.each_ref().map(String::as_str), known, others_allowed) {
        let text = format!("not compared: {names:?} instead of {known:?}\n");
        stderr().write_all(text.as_bytes()).expect("standard error is open");
        return None;
    }
    let games = pairs.iter().flat_map(|pair| &pair.games);
    assert_eq!(games.map(|game| game.moves.len()).sum::<usize>(), plies);
    let [score] = summary.scores[..] else { panic!("one score: {:?}", summary.scores) };
    Some(score)
}

#[test]
fn compares_known_versions() {
    assert!(are_known(["Stockfish 15.1"; 2], ["Stockfish 15.1"; 2], false));
    assert!(are_known(["Stockfish 15.1"; 2], ["Stockfish 15.1"; 2], true));
}

#[test]
#[should_panic(expected = "which READYOK_OTHER_VERSIONS=1 allows")]
fn rejects_other_versions() {
    are_known(["Stockfish 17", "Stockfish 15.1"], ["Stockfish 15.1"; 2], false);
}

#[test]
fn does_not_compare_allowed_other_versions() {
    assert!(!are_known(["Stockfish 17", "Stockfish 15.1"], ["Stockfish 15.1"; 2], true));
}

#[test]
fn stockfish_games_equal_those_of_fastchess_and_cutechess() {
    if !is_wanted("stockfish") {
        return;
    }
    let engines = ["a", "b"].map(|name| nodes_1("stockfish", name, None, "1"));
    let Some(score) = check(engines, ["Stockfish 15.1"; 2], 17_900) else { return };
    // The counts reported by fastchess, with the pentanomial 0, 0, 100, 0, 0.
    assert_eq!([score.wins, score.draws, score.losses], [86, 28, 86]);
    assert_eq!(score.pairs, [0, 0, 86, 14, 0, 0]);
}

#[test]
fn stockfish_and_ethereal_games_equal_those_of_fastchess_and_cutechess() {
    if !is_wanted("stockfish and ethereal-chess") {
        return;
    }
    let engines = [
        nodes_1("stockfish", "stockfish", None, "1"),
        nodes_1("ethereal-chess", "ethereal", Some(1), "2"),
    ];
    check(engines, ["Stockfish 15.1", "Ethereal 12.00"], 9_028);
}
