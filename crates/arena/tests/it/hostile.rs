//! Misbehaving engines: each failure costs at most its own game, and neither the other engine nor the next game is
//! affected.

use std::time::Duration;

use readyok_arena::game::{GameSettings, Player};
use readyok_arena::pairing::Opening;
use readyok_arena::plan::{EngineId, EnginePlan, Limits};
use readyok_arena::result::{
    EndDetail, EngineFailure, EngineFailureKind, GameEnd, MatchGame, WarningKind,
};
use readyok_client::{ExitCause, Timeouts, WaitLimit};
use readyok_rules::{Game, Side, Termination};

use crate::scripted::{SHORT, Script, impatient, plan, play, player, script, setting, timeouts};

fn nodes() -> Limits {
    Limits { nodes: Some(1), ..Limits::default() }
}

fn clock(text: &str) -> Limits {
    Limits { tc: text.parse().ok(), ..Limits::default() }
}

/// Two games with a bad engine as White and a good one. The process of the good engine must not change.
fn check(limits: Limits, bad: Script, end: impl Fn(&GameEnd) -> bool) -> [MatchGame; 2] {
    let (mut bad, _received) = player(Game::Chess, 0, &plan("bad", limits), bad);
    let good = plan("good", Limits { nodes: Some(1), ..Limits::default() });
    let (mut good, received) = player(Game::Chess, 1, &good, script("e7e5, d8h4"));
    let games = [(); 2].map(|()| {
        let result = play(&setting(Game::Chess), &Opening::default(), &mut bad, &mut good);
        assert!(end(&result.end), "{result:?}");
        assert!(good.is_running());
        result
    });
    drop((bad, good));
    let starts = received.try_iter().filter(|line| line == "uci").count();
    assert_eq!(starts, 1, "the good engine was started once");
    games
}

/// The engine finishes its game despite this output.
fn check_harmless(bad: Script) {
    let games = check(nodes(), bad, |end| *end == Termination::Checkmate);
    for game in games {
        assert_eq!(game.winner, Some(Side::Second));
        let restarted = |kind: &WarningKind| matches!(kind, WarningKind::Restarted { .. });
        assert!(!game.warnings.iter().any(|warning| restarted(&warning.kind)), "{game:?}");
    }
}

#[test]
fn accepts_line_ends_and_leading_spaces() {
    check_harmless(Script { frame: ("", "\r\n"), ..script("f2f3, g2g4") });
    check_harmless(Script { frame: ("  \t", " \n"), ..script("f2f3, g2g4") });
    check_harmless(Script { frame: ("", "\n\n"), ..script("f2f3, g2g4") });
}

#[test]
fn accepts_split_and_long_lines() {
    check_harmless(script("!part bestm|!wait 20|ove f2f3, !part bestmove g|!wait 20|2g4"));
    check_harmless(script("!long 3000000|bestmove f2f3, bestmove g2g4|"));
}

#[test]
fn ignores_garbage_and_malformed_declarations() {
    let garbage = "info depth x score cp 0.5 pv|\u{1b}[31m|0x00|bestmov";
    check_harmless(script(&format!("{garbage}|bestmove f2f3, {garbage}|bestmove g2g4")));
    let handshake = "option name|option|option name Hash type spin default x min 9 max 1|\
                    option name Style type combo default";
    check_harmless(Script { handshake: handshake.to_owned(), ..script("f2f3, g2g4") });
}

#[test]
fn ignores_a_second_bestmove() {
    let games = check(
        nodes(),
        script("bestmove f2f3|bestmove a2a3|bestmove b2b3, bestmove g2g4|bestmove h2h4"),
        |end| *end == Termination::Checkmate,
    );
    for game in games {
        let breach = |kind: &WarningKind| matches!(kind, WarningKind::ProtocolViolation { .. });
        assert!(game.warnings.iter().any(|warning| breach(&warning.kind)), "{game:?}");
    }
}

#[test]
fn ignores_output_about_the_previous_game() {
    let farewell = "bestmove h2h3|bestmove h2h4|info depth 1 score cp 999 pv h2h3";
    check_harmless(Script { farewell, ..script("f2f3, g2g4") });
}

/// Two games with a bad engine as White, and two with it as Black: all end as expected, and the good engine wins.
/// `MOVE` in the script is replaced by the first move.
fn check_fault(
    chess: &GameSettings,
    limits: Limits,
    acts: &str,
    end: impl Fn(&GameEnd) -> bool,
) -> Vec<MatchGame> {
    let mut games = Vec::new();
    for (side, first_move) in [(Side::First, "f2f3"), (Side::Second, "e7e5")] {
        let acts = script(&acts.replace("MOVE", first_move));
        let (mut bad, _received) = player(Game::Chess, 0, &plan("bad", limits), acts);
        let others = script(if side == Side::First { "e7e5, d8h4" } else { "f2f3, g2g4" });
        let (mut good, received) = player(Game::Chess, 1, &plan("good", nodes()), others);
        for _ in 0..2 {
            let result = match side {
                Side::First => play(chess, &Opening::default(), &mut bad, &mut good),
                Side::Second => play(chess, &Opening::default(), &mut good, &mut bad),
            };
            assert!(end(&result.end), "{side}: {result:?}");
            assert_eq!(result.winner, Some(side.other()), "{result:?}");
            assert!(good.is_running());
            games.push(result);
        }
        drop((bad, good));
        let starts = received.try_iter().filter(|line| line == "uci").count();
        assert_eq!(starts, 1, "the good engine was started once");
    }
    games
}

fn check_forfeit(limits: Limits, act: &str) {
    let forfeits = |end: &GameEnd| *end == Termination::TimeForfeit;
    for game in check_fault(&setting(Game::Chess), limits, act, forfeits) {
        assert!(game.duration_ms < 60_000, "{game:?}");
        assert!(0 < game.end.overrun_us(), "{game:?}");
    }
}

#[test]
fn a_silent_engine_loses_on_time() {
    check_forfeit(clock("0.2"), "!hang");
    check_forfeit(Limits { move_time_ms: Some(200), ..Limits::default() }, "!hang");
}

#[test]
fn an_engine_that_floods_its_output_loses_on_time() {
    check_forfeit(clock("0.2+0.1"), "!flood");
    check_forfeit(Limits { margin_ms: 50, ..clock("0.2") }, "!flood");
}

#[test]
fn a_late_answer_loses_on_time() {
    check_forfeit(clock("0.05"), "!wait 400|bestmove MOVE");
}

#[test]
fn a_silent_engine_without_a_clock_stalls() {
    for act in ["!hang", "!flood"] {
        let chess = impatient(Game::Chess);
        let stalls = |end: &GameEnd| *end == Termination::EngineStall;
        for game in check_fault(&chess, nodes(), act, stalls) {
            let Some(EndDetail::Stall { waited_ms }) = game.end.detail else { panic!("{game:?}") };
            assert!((300..60_000).contains(&waited_ms), "{waited_ms}");
        }
    }
}

#[test]
fn an_exit_during_the_game_is_a_crash() {
    for act in ["!leave", "MOVE, !leave", "info depth 1|!leave"] {
        let closed = EngineFailure::new(EngineFailureKind::OutputClosed);
        check_fault(&setting(Game::Chess), nodes(), act, |end| {
            *end == GameEnd::crash(closed.clone())
        });
    }
}

/// It exits between two games: the next game restarts it.
#[test]
fn restarts_an_engine_that_exits_after_the_last_move() {
    let games =
        check(nodes(), script("f2f3, bestmove g2g4|!leave"), |end| *end == Termination::Checkmate);
    let restarted = |game: &MatchGame| {
        game.warnings.iter().find_map(|warning| match &warning.kind {
            WarningKind::Restarted { cause } => Some(cause.clone()),
            _ => None,
        })
    };
    assert_eq!(restarted(&games[0]), None);
    // The exit is detected between the games, or at the start of the second one.
    let ends = [EngineFailureKind::NotRunning, EngineFailureKind::OutputClosed];
    let fault = restarted(&games[1]).map(|fault| fault.kind);
    assert!(fault.is_some_and(|kind| ends.contains(&kind)), "{:?}", games[1]);
}

#[test]
fn an_engine_that_does_not_start_loses() {
    let missing = EnginePlan { command: "/no/such/engine".to_owned(), ..plan("gone", nodes()) };
    let mut gone = Player::new(Game::Chess, EngineId(0), &missing, timeouts());
    let (mut good, _received) = player(Game::Chess, 1, &plan("good", nodes()), script("e7e5"));
    let chess = setting(Game::Chess);
    for (order, winner) in [(0, Side::Second), (1, Side::First)] {
        let result = if order == 0 {
            play(&chess, &Opening::default(), &mut gone, &mut good)
        } else {
            play(&chess, &Opening::default(), &mut good, &mut gone)
        };
        assert_eq!(result.winner, Some(winner));
        assert_eq!(result.end, Termination::EngineStartFailure);
        let failure = result.end.failure().expect("a failure");
        assert!(failure.to_string().starts_with("cannot be started: "), "{failure}");
        assert_eq!(failure.kind, EngineFailureKind::ProgramNotFound);
    }
}

#[test]
fn restarts_an_engine_for_each_game_on_request() {
    let fresh = EnginePlan { restart: true, ..plan("fresh", nodes()) };
    let (mut first, received) = player(Game::Chess, 0, &fresh, script("f2f3, g2g4"));
    let (mut second, _received) = player(Game::Chess, 1, &plan("b", nodes()), script("e7e5, d8h4"));
    for _ in 0..3 {
        let result = play(&setting(Game::Chess), &Opening::default(), &mut first, &mut second);
        assert_eq!(result.end, Termination::Checkmate);
    }
    assert_eq!(received.try_iter().filter(|line| line == "uci").count(), 3);
}

/// The exit status is reported, and an unresponsive process is killed.
#[cfg(unix)]
#[test]
fn reports_the_exit_status() {
    let shell = |go: &str, quit: &str| EnginePlan {
        command: "sh".to_owned(),
        args: vec![
            "-c".to_owned(),
            format!(
                "while read -r name rest; do case $name in uci) echo uciok;; \
                 isready) echo readyok;; go) {go};; quit) {quit};; esac; done"
            ),
        ],
        ..plan("shell", clock("0.3"))
    };
    let game_as = |side: Side, plan: &EnginePlan| {
        let quit = WaitLimit::fixed(SHORT);
        let timeouts = Timeouts { quit, ..timeouts() };
        let mut bad = Player::new(Game::Chess, EngineId(0), plan, timeouts);
        let others = script(if side == Side::First { "e7e5" } else { "e2e4" });
        let (mut good, _received) = player(Game::Chess, 1, &self::plan("good", nodes()), others);
        let chess = setting(Game::Chess);
        let result = match side {
            Side::First => play(&chess, &Opening::default(), &mut bad, &mut good),
            Side::Second => play(&chess, &Opening::default(), &mut good, &mut bad),
        };
        assert_eq!((bad.is_running(), bad.process_id()), (false, None));
        assert_eq!(result.winner, Some(side.other()));
        result.end
    };
    for side in [Side::First, Side::Second] {
        let game = |plan: &EnginePlan| game_as(side, plan);
        assert_eq!(game(&shell("exit 3", "exit")), crate::sample::crash());
        let end = game(&shell("kill -11 $$", "exit"));
        assert_eq!(end, Termination::EngineCrash);
        let exit = end.failure().and_then(|failure| failure.exit).expect("an exit status");
        assert_eq!(exit.cause, Some(ExitCause::SegmentationFault));
        let end = game(&shell("trap '' TERM; while :; do echo info depth 1; done", ":"));
        assert_eq!(end, Termination::TimeForfeit);
    }
}

/// Clocks are independent: the good engine uses no time while the bad one hangs.
#[test]
fn forfeits_right_after_the_deadline() {
    let (mut bad, _received) = player(Game::Chess, 0, &plan("bad", clock("0.5")), script("!hang"));
    let (mut good, _received) = player(Game::Chess, 1, &plan("good", clock("0.5")), script("e7e5"));
    let result = play(&setting(Game::Chess), &Opening::default(), &mut bad, &mut good);
    assert_eq!(result.end, Termination::TimeForfeit, "{result:?}");
    let overrun_us = result.end.overrun_us();
    assert!(Duration::from_millis(500) <= Duration::from_millis(result.duration_ms + 1));
    assert!(Duration::from_micros(overrun_us) < Duration::from_secs(30));
}
