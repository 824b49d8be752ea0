//! Games of real engines: Narikin, and others if they are installed and `READYOK_REAL_ENGINES` is set.
//!
//! Without the variable, tests of other engines print their requirements and pass. With it, a missing engine is a
//! failure.

use std::env;
use std::io::{Write as _, stderr};
use std::path::PathBuf;

use readyok_arena::game::{GameSettings, Player};
use readyok_arena::pairing::Opening;
use readyok_arena::plan::{Adjudication, EngineId, EnginePlan, Limits, Protocol, PvCheck};
use readyok_arena::result::MatchGame;
use readyok_client::Timeouts;
use readyok_rules::{Game, Position, Termination};

use crate::scripted::{plan, play};

/// An engine that must be installed.
pub(crate) fn engine(program: &str, limits: Limits) -> EnginePlan {
    let path = env::var_os("PATH").unwrap_or_default();
    let games = ["/usr/games", "/usr/local/games"].map(PathBuf::from);
    let mut directories = env::split_paths(&path).chain(games);
    let found = directories
        .find_map(|directory| Some(directory.join(program)).filter(|path| path.is_file()));
    let found = found.unwrap_or_else(|| panic!("{program} is not installed"));
    let command = found.to_string_lossy().into_owned();
    EnginePlan { name: program.to_owned(), command, limits, ..EnginePlan::default() }
}

/// Whether tests with real engines are enabled. Otherwise the requirements are printed.
pub(crate) fn is_wanted(needs: &str) -> bool {
    let wanted = env::var_os("READYOK_REAL_ENGINES").is_some();
    if !wanted {
        // Not `eprintln!`, whose output is hidden for a test that passes.
        let text = format!("not tested: {needs}, which needs READYOK_REAL_ENGINES=1\n");
        stderr().write_all(text.as_bytes()).expect("standard error is open");
    }
    wanted
}

/// Plays two games with reversed sides, if the engines are available, and replays their moves.
fn check(game: Game, needs: &str, plans: impl FnOnce() -> [EnginePlan; 2]) {
    if !is_wanted(needs) {
        return;
    }
    let setting = GameSettings { pv_check: PvCheck::Moves, ..GameSettings::new(game) };
    let opening = Opening::default();
    let player =
        |(id, plan): (u32, EnginePlan)| Player::new(game, EngineId(id), &plan, Timeouts::default());
    let [a, b] = plans();
    let (mut a, mut b) = (player((0, a)), player((1, b)));
    for reversed in [false, true] {
        let result = if reversed {
            play(&setting, &opening, &mut b, &mut a)
        } else {
            play(&setting, &opening, &mut a, &mut b)
        };
        check_game(game, &result);
        assert!(a.is_running() && b.is_running());
    }
}

fn check_game(game: Game, result: &MatchGame) {
    assert!(!result.end.termination.is_failure(), "{:?}", result.end);
    assert!(10 < result.moves.len(), "{result:?}");
    let scored = result.moves.iter().filter(|made| made.score.is_some()).count();
    assert!(result.moves.len() / 2 < scored, "scores were reported");
    let moves = result.moves.iter().map(|made| made.mv.as_str());
    let end = Position::start(game).after(moves).expect("legal moves");
    if let Some(ending) = end.outcome() {
        assert_eq!(ending.winner(), result.winner);
    } else {
        let declared = [Termination::Resignation, Termination::Declaration];
        assert!(declared.contains(&result.end.termination), "{:?}", result.end);
    }
}

fn nodes(nodes: u64) -> Limits {
    Limits { nodes: Some(nodes), ..Limits::default() }
}

/// Narikin in this process.
fn narikin(game: Game, id: u32) -> Player {
    let plan = EnginePlan { name: format!("narikin {id}"), ..plan("narikin", nodes(300)) };
    Player::with_start(game, EngineId(id), &plan, Timeouts::default(), |builder| {
        builder.in_process(|input, output| {
            let runner = narikin::runner().expect("memory for its table");
            // It ends with an error when the connection is closed.
            let _ = runner.run(input, output);
        })
    })
}

#[test]
fn narikin_plays_itself_in_all_games() {
    for game in [Game::Chess, Game::Chess960, Game::Shogi] {
        let adjudication = Adjudication { max_moves: Some(40), ..Adjudication::default() };
        let setting =
            GameSettings { pv_check: PvCheck::Moves, adjudication, ..GameSettings::new(game) };
        let (mut a, mut b) = (narikin(game, 0), narikin(game, 1));
        let opening = Opening::default();
        let result = play(&setting, &opening, &mut a, &mut b);
        assert!(!result.end.termination.is_failure(), "{result:?}");
        assert_eq!(result.warnings, [], "{game:?}");
        // With fixed nodes and a cleared table, games are reproducible.
        let again = play(&setting, &opening, &mut a, &mut b);
        let moves = |result: &MatchGame| -> Vec<String> {
            result.moves.iter().map(|made| made.mv.to_string()).collect()
        };
        assert_eq!(moves(&result), moves(&again));
    }
}

#[test]
fn stockfish_plays_ethereal() {
    check(Game::Chess, "stockfish and ethereal-chess", || {
        [
            engine("stockfish", nodes(1)),
            engine("ethereal-chess", Limits { depth: Some(1), ..nodes(1) }),
        ]
    });
}

#[test]
fn stockfish_ponders_on_a_clock() {
    // Not with ethereal-chess: it ignores a `stop` right after `go ponder` and searches forever.
    check(Game::Chess, "stockfish", || {
        let limits = Limits { tc: "1+0.02".parse().ok(), margin_ms: 3_000, ..Limits::default() };
        ["white", "black"].map(|name| {
            let plan = EnginePlan { ponder: true, ..engine("stockfish", limits) };
            EnginePlan { name: name.to_owned(), ..plan }
        })
    });
}

#[test]
fn fairy_stockfish_plays_shogi_across_protocols() {
    check(Game::Shogi, "fairy-stockfish", || {
        let usi = engine("fairy-stockfish", nodes(200));
        let uci =
            EnginePlan { name: "uci".to_owned(), protocol: Some(Protocol::Uci), ..usi.clone() };
        [usi, uci]
    });
}

#[test]
fn fairy_stockfish_plays_shogi_with_byoyomi() {
    check(Game::Shogi, "fairy-stockfish", || {
        let limits = Limits {
            tc: "0.5".parse().ok(),
            byoyomi_ms: Some(30),
            margin_ms: 3_000,
            ..Limits::default()
        };
        let usi = engine("fairy-stockfish", limits);
        let uci =
            EnginePlan { name: "uci".to_owned(), protocol: Some(Protocol::Uci), ..usi.clone() };
        [usi, uci]
    });
}
