//! The engine player: reuse of engines, reports, and aborts.

use std::fs;
use std::num::NonZeroU64;
use std::thread;
use std::time::Duration;

use readyok_arena::game::GameSettings;
use readyok_arena::pairing::{PairResult, Pairing};
use readyok_arena::plan::EngineId;
use readyok_arena::queue::{NoStart, Progress, Stop, StopToken, WorkerId};
use readyok_arena::result::{EndDetail, EngineFailureKind};
use readyok_arena::runner::{EnginePlayer, PairPlayer, PlayContext, PlayerError};
use readyok_client::{Timeouts, WaitLimit};
use readyok_rules::{Game, Side, Termination};

use crate::instant::{TestDir, limits};
use crate::sample;

/// Engines with these arguments, which log their actions.
fn place(arguments: &[&str]) -> TestDir {
    let engines: Vec<_> = arguments.iter().map(|argument| (*argument, limits(None))).collect();
    let mut place = TestDir::new(Game::Chess, 1, &engines);
    let log = format!("log={}", place.path("log").display());
    for engine in &mut place.plan.engines {
        engine.args.push(log.clone());
    }
    place
}

/// The logged seeds of an action, in order.
fn noted(place: &TestDir, what: &str) -> Vec<String> {
    let text = fs::read_to_string(place.path("log")).unwrap_or_default();
    let lines = text.lines().filter_map(|line| line.strip_prefix(what));
    lines.map(|seed| seed.trim().to_owned()).collect()
}

fn player(place: &TestDir) -> EnginePlayer {
    let stall = WaitLimit::fixed(Duration::from_mins(1));
    let setting = GameSettings { stall, ..GameSettings::new(place.plan.game) };
    EnginePlayer::new(&place.plan, setting, Timeouts::default())
}

#[test]
fn the_plan_limits_searches_without_a_clock_despite_output() {
    for fault in ["flood", "hang"] {
        let mut place = place(&[&format!("{fault} one-in=1"), ""]);
        place.plan.search_timeout_ms = NonZeroU64::new(200);
        let setting = GameSettings::new(Game::Chess);
        let mut player = EnginePlayer::new(&place.plan, setting, Timeouts::default());
        let pairing = Pairing { games: 1, ..pairing(0, 1) };
        let (result, _) = play(&mut player, &pairing);
        let game = &result.expect("a result").expect("it was played to its end").games[0];
        let Some(EndDetail::Stall { waited_ms }) = game.end.detail else {
            panic!("{fault}: {:?}", game.end)
        };
        assert!(game.winner == Some(Side::Second) && 200 <= waited_ms, "{fault}: {waited_ms}");
    }
}

/// The default timeout would be a minute.
#[test]
fn the_plan_sets_timeouts_per_engine() {
    let mut place = place(&["mute", ""]);
    place.plan.engines[0].timeouts.ready_ms = NonZeroU64::new(200);
    let (result, _) = play(&mut player(&place), &Pairing { games: 1, ..pairing(0, 1) });
    let game = &result.expect("a result").expect("it was played to its end").games[0];
    assert_eq!(game.end, Termination::EngineStartFailure);
    let kind = game.end.failure().map(|failure| &failure.kind);
    let expected = EngineFailureKind::ReadyTimeout;
    assert_eq!((game.winner, kind), (Some(Side::Second), Some(&expected)));
}

fn pairing(first: u32, second: u32) -> Pairing {
    Pairing { first: EngineId(first), second: EngineId(second), ..sample::pairing(0) }
}

/// Plays a pairing and collects its progress.
fn play(
    player: &mut EnginePlayer,
    pairing: &Pairing,
) -> (Result<Option<PairResult>, PlayerError>, Vec<Progress>) {
    let mut progress = Vec::new();
    let mut on_progress = |event| progress.push(event);
    let result =
        player.play(pairing, &mut PlayContext::new(&StopToken::default(), &mut on_progress));
    (result, progress)
}

#[test]
fn reuses_engines_and_quits_those_that_do_not_play() {
    let place = place(&["", "", ""]);
    let mut it = player(&place);
    for (first, second, started) in [
        (0, 1, &["1", "2"][..]),
        (0, 1, &["1", "2"]),
        (1, 0, &["1", "2"]),
        (0, 2, &["1", "2", "3"]),
        (2, 1, &["1", "2", "3", "2"]),
    ] {
        let pairing = pairing(first, second);
        let result = play(&mut it, &pairing).0.expect("engines").expect("no stop");
        assert_eq!((&result.pairing, result.games.len()), (&pairing, 2));
        assert_eq!(noted(&place, "start"), started);
        #[cfg(target_os = "linux")]
        {
            let mut seeds = [(first + 1).to_string(), (second + 1).to_string()];
            seeds.sort_unstable();
            assert_eq!(place.running_become(&seeds.each_ref().map(String::as_str)), seeds);
        }
    }
    drop(it);
    #[cfg(target_os = "linux")]
    assert_eq!(place.running_become(&[]), [""; 0]);
}

#[test]
fn restarts_a_crashed_engine_for_the_next_game() {
    let place = place(&["", "crash one-in=1"]);
    let result = play(&mut player(&place), &pairing(0, 1)).0.expect("engines").expect("no stop");
    for game in &result.games {
        assert_eq!(game.end, Termination::EngineCrash, "{game:?}");
        assert_eq!(
            game.winner,
            Some(if game.first == EngineId(0) { Side::First } else { Side::Second })
        );
    }
    assert_eq!(noted(&place, "start"), ["1", "2", "2"]);
}

#[test]
fn reports_games_and_moves_only_on_request() {
    let place = place(&["", ""]);
    for wants_moves in [false, true] {
        let mut it = player(&place).report_moves(wants_moves);
        let (result, progress) = play(&mut it, &pairing(0, 1));
        let result = result.expect("engines").expect("no stop");
        let mut expected = Vec::new();
        for (number, game) in (0..).zip(result.games) {
            assert_eq!(game.moves.len(), 24, "{:?}", game.end);
            expected.push(Progress::GameStart { game: number });
            let moves = (0..).zip(game.moves);
            let moves = moves.map(|(ply, played)| Progress::Move {
                game: number,
                ply,
                played: Box::new(played),
            });
            expected.extend(moves.filter(|_| wants_moves));
            expected.push(Progress::GameEnd {
                game: number,
                winner: game.winner,
                end: game.end,
                plies: 24,
                duration_ms: game.duration_ms,
                engines: Box::new(game.engines),
            });
        }
        assert_eq!(progress, expected);
    }
}

#[test]
fn an_abort_stops_searches_and_quits_engines() {
    let place = place(&["", "hang one-in=1"]);
    let mut it = player(&place);
    let stop = StopToken::default();
    let mut progress = Vec::new();
    let result = thread::scope(|scope| {
        scope.spawn(|| {
            for _ in 0..6000 {
                if noted(&place, "go") == ["1", "2"] {
                    break;
                }
                thread::park_timeout(Duration::from_millis(10));
            }
            stop.stop(Stop::Abort);
        });
        it.play(&pairing(0, 1), &mut PlayContext::new(&stop, &mut |event| progress.push(event)))
    });
    // Without the abort, the engine would lose on time.
    assert_eq!(result, Ok(None));
    assert_eq!(progress, [Progress::GameStart { game: 0 }]);
    assert_eq!(noted(&place, "go"), ["1", "2"]);
    #[cfg(target_os = "linux")]
    assert_eq!(place.running_become(&[]), [""; 0]);
    let result = it.play(&pairing(0, 1), &mut PlayContext::new(&stop, &mut |_| ()));
    assert_eq!(result, Ok(None), "nothing starts after an abort");
    assert_eq!(noted(&place, "go"), ["1", "2"]);
}

#[test]
fn rejects_an_engine_that_is_not_in_the_plan() {
    let place = place(&["", ""]);
    let (result, progress) = play(&mut player(&place), &pairing(0, 7));
    assert_eq!(result, Err(PlayerError::Pairing("the plan has no engine 7".to_owned())));
    assert_eq!((progress, noted(&place, "start")), (vec![], vec![]));
}

/// The result of probing these engines.
fn probe(arguments: &[&str]) -> (Result<(), NoStart>, TestDir) {
    let place = place(arguments);
    let probed = player(&place).probe_engines();
    #[cfg(target_os = "linux")]
    assert_eq!(place.running_become(&[]), [""; 0]);
    (probed, place)
}

#[test]
fn probing_starts_each_engine_searches_once_and_quits() {
    let (probed, place) = probe(&["", "", ""]);
    assert_eq!(probed, Ok(()));
    assert_eq!(noted(&place, "start"), ["1", "2", "3"]);
    assert_eq!(noted(&place, "go"), ["1", "2", "3"]);
}

#[test]
fn probing_detects_a_crash_in_the_first_search() {
    let (probed, place) = probe(&["", "crash one-in=1", ""]);
    let no_start = probed.expect_err("a crash");
    assert_eq!(no_start.engine, "2 crash one-in=1");
    assert_eq!(no_start.why, "crashes (exited with code 3)");
    assert_eq!(noted(&place, "go"), ["1", "2"], "nothing else needs to be known");
}

#[test]
fn probing_detects_a_missing_engine() {
    let mut place = place(&["", ""]);
    place.plan.engines[1].command = place.path("nothing").display().to_string();
    let no_start = player(&place).probe_engines().expect_err("no program");
    assert!(no_start.why.starts_with("does not start"), "{no_start}");
}

#[test]
fn a_remote_worker_does_not_count_a_failed_start_as_a_loss() {
    let mut place = place(&["", ""]);
    let away = |place: &TestDir| player(place).as_remote_worker(WorkerId("far".to_owned()));
    let (result, _) = play(&mut away(&place), &pairing(0, 1));
    let result = result.expect("engines").expect("no stop");
    assert_eq!(result.worker, Some(WorkerId("far".to_owned())));
    let (result, _) = play(&mut player(&place), &pairing(0, 1));
    assert_eq!(result.expect("engines").expect("no stop").worker, None);

    place.plan.engines[1].command = place.path("nothing").display().to_string();
    let (result, _) = play(&mut away(&place), &pairing(0, 1));
    let Err(PlayerError::NoStart(no_start)) = result else { panic!("{result:?}") };
    assert_eq!(no_start.engine, place.plan.engines[1].name);
    let (result, _) = play(&mut player(&place), &pairing(0, 1));
    let result = result.expect("a loss").expect("no stop");
    assert_eq!(result.games[0].end, Termination::EngineStartFailure, "{result:?}");
}
