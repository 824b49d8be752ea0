//! Engines that misbehave: each fault costs at most its own game, the other engine stays as it is,
//! and the next game is played as if nothing had been.

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

/// Two games with a bad engine as White and a good one: the first ends as the bad one wants.
/// The good engine is the same in both, and its process never changes.
fn check(limits: Limits, bad: Script, end: impl Fn(&GameEnd) -> bool) -> [MatchGame; 2] {
    let (mut bad, _heard) = player(Game::Chess, 0, &plan("bad", limits), bad);
    let good = plan("good", Limits { nodes: Some(1), ..Limits::default() });
    let (mut good, heard) = player(Game::Chess, 1, &good, script("e7e5, d8h4"));
    let games = [(); 2].map(|()| {
        let result = play(&setting(Game::Chess), &Opening::default(), &mut bad, &mut good);
        assert!(end(&result.end), "{result:?}");
        assert!(good.is_running());
        result
    });
    drop((bad, good));
    let greetings = heard.try_iter().filter(|line| line == "uci").count();
    assert_eq!(greetings, 1, "the good engine was started once");
    games
}

/// Whatever it says, the engine plays its game to the end.
fn check_harmless(bad: Script) {
    let games = check(nodes(), bad, |end| *end == Termination::Checkmate);
    for game in games {
        assert_eq!(game.winner, Some(Side::Second));
        let restarted = |kind: &WarningKind| matches!(kind, WarningKind::Restarted { .. });
        assert!(!game.warnings.iter().any(|warning| restarted(&warning.kind)), "{game:?}");
    }
}

#[test]
fn line_ends_and_leading_spaces_do_no_harm() {
    check_harmless(Script { frame: ("", "\r\n"), ..script("f2f3, g2g4") });
    check_harmless(Script { frame: ("  \t", " \n"), ..script("f2f3, g2g4") });
    check_harmless(Script { frame: ("", "\n\n"), ..script("f2f3, g2g4") });
}

#[test]
fn split_and_long_lines_do_no_harm() {
    check_harmless(script("!part bestm|!wait 20|ove f2f3, !part bestmove g|!wait 20|2g4"));
    check_harmless(script("!long 3000000|bestmove f2f3, bestmove g2g4|"));
}

#[test]
fn garbage_and_bad_declarations_do_no_harm() {
    let garbage = "info depth x score cp 0.5 pv|\u{1b}[31m|0x00|bestmove";
    check_harmless(script(&format!("{garbage}|bestmove f2f3, {garbage}|bestmove g2g4")));
    let greeting = "option name|option|option name Hash type spin default x min 9 max 1|\
                    option name Style type combo default";
    check_harmless(Script { greeting: greeting.to_owned(), ..script("f2f3, g2g4") });
}

#[test]
fn a_second_answer_is_not_taken_for_the_next_move() {
    let games = check(
        nodes(),
        script("bestmove f2f3|bestmove a2a3|bestmove b2b3, bestmove g2g4|bestmove h2h4"),
        |end| *end == Termination::Checkmate,
    );
    for game in games {
        let breach = |kind: &WarningKind| matches!(kind, WarningKind::Protocol { .. });
        assert!(game.warnings.iter().any(|warning| breach(&warning.kind)), "{game:?}");
    }
}

#[test]
fn what_was_said_about_the_last_game_does_not_enter_the_next() {
    let farewell = "bestmove h2h3|bestmove h2h4|info depth 1 score cp 999 pv h2h3";
    check_harmless(Script { farewell, ..script("f2f3, g2g4") });
}

/// Two games with a bad engine as White, and two with it as Black: each ends as it wants, and the good
/// one wins. `MOVE` in what the bad one does stands for its first move.
fn check_fault(
    chess: &GameSettings,
    limits: Limits,
    acts: &str,
    end: impl Fn(&GameEnd) -> bool,
) -> Vec<MatchGame> {
    let mut games = Vec::new();
    for (side, first_move) in [(Side::First, "f2f3"), (Side::Second, "e7e5")] {
        let acts = script(&acts.replace("MOVE", first_move));
        let (mut bad, _heard) = player(Game::Chess, 0, &plan("bad", limits), acts);
        let others = script(if side == Side::First { "e7e5, d8h4" } else { "f2f3, g2g4" });
        let (mut good, heard) = player(Game::Chess, 1, &plan("good", nodes()), others);
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
        let greetings = heard.try_iter().filter(|line| line == "uci").count();
        assert_eq!(greetings, 1, "the good engine was started once");
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
fn who_is_silent_past_the_clock_loses_on_time() {
    check_forfeit(clock("0.2"), "!hang");
    check_forfeit(Limits { move_time_ms: Some(200), ..Limits::default() }, "!hang");
}

#[test]
fn who_never_stops_talking_loses_on_time() {
    check_forfeit(clock("0.2+0.1"), "!flood");
    check_forfeit(Limits { margin_ms: 50, ..clock("0.2") }, "!flood");
}

#[test]
fn a_late_answer_loses_on_time() {
    check_forfeit(clock("0.05"), "!wait 400|bestmove MOVE");
}

#[test]
fn who_falls_silent_without_a_clock_stalls() {
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
fn who_leaves_in_the_middle_has_crashed() {
    for act in ["!leave", "MOVE, !leave", "info depth 1|!leave"] {
        let closed = EngineFailure::new(EngineFailureKind::Closed);
        check_fault(&setting(Game::Chess), nodes(), act, |end| {
            *end == GameEnd::crash(closed.clone())
        });
    }
}

/// It is lost between two games, which is no game's fault: the next one starts it again.
#[test]
fn who_leaves_after_the_last_move_is_started_again() {
    let games =
        check(nodes(), script("f2f3, bestmove g2g4|!leave"), |end| *end == Termination::Checkmate);
    let restarted = |game: &MatchGame| {
        game.warnings.iter().find_map(|warning| match &warning.kind {
            WarningKind::Restarted { failure } => Some(failure.clone()),
            _ => None,
        })
    };
    assert_eq!(restarted(&games[0]), None);
    // Its end is heard between the games, or when it is told of the second.
    let ends = [EngineFailureKind::NotRunning, EngineFailureKind::Closed];
    let fault = restarted(&games[1]).map(|fault| fault.kind);
    assert!(fault.is_some_and(|kind| ends.contains(&kind)), "{:?}", games[1]);
}

#[test]
fn who_cannot_be_started_loses() {
    let missing = EnginePlan { command: "/no/such/engine".to_owned(), ..plan("gone", nodes()) };
    let mut gone = Player::new(Game::Chess, EngineId(0), &missing, timeouts());
    let (mut good, _heard) = player(Game::Chess, 1, &plan("good", nodes()), script("e7e5"));
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
        assert_eq!(failure.kind, EngineFailureKind::NotFound);
    }
}

#[test]
fn an_engine_can_be_started_for_each_game() {
    let fresh = EnginePlan { restart: true, ..plan("fresh", nodes()) };
    let (mut first, heard) = player(Game::Chess, 0, &fresh, script("f2f3, g2g4"));
    let (mut second, _heard) = player(Game::Chess, 1, &plan("b", nodes()), script("e7e5, d8h4"));
    for _ in 0..3 {
        let result = play(&setting(Game::Chess), &Opening::default(), &mut first, &mut second);
        assert_eq!(result.end, Termination::Checkmate);
    }
    assert_eq!(heard.try_iter().filter(|line| line == "uci").count(), 3);
}

/// A process tells how it ended, and a deaf one is ended.
#[cfg(unix)]
#[test]
fn a_process_that_ends_tells_how() {
    let shell = |go: &str, quit: &str| EnginePlan {
        command: "sh".to_owned(),
        args: vec![
            "-c".to_owned(),
            format!(
                "while read -r word rest; do case $word in uci) echo uciok;; \
                 isready) echo readyok;; go) {go};; quit) {quit};; esac; done"
            ),
        ],
        ..plan("shell", clock("0.3"))
    };
    let game_as = |side: Side, plan: &EnginePlan| {
        let quit = WaitLimit::fixed(SHORT);
        let patience = Timeouts { quit, ..timeouts() };
        let mut bad = Player::new(Game::Chess, EngineId(0), plan, patience);
        let others = script(if side == Side::First { "e7e5" } else { "e2e4" });
        let (mut good, _heard) = player(Game::Chess, 1, &self::plan("good", nodes()), others);
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

/// The clocks of the two sides do not mix: the good engine uses no time while the bad one hangs.
#[test]
fn a_forfeit_comes_when_the_time_is_over() {
    let (mut bad, _heard) = player(Game::Chess, 0, &plan("bad", clock("0.5")), script("!hang"));
    let (mut good, _heard) = player(Game::Chess, 1, &plan("good", clock("0.5")), script("e7e5"));
    let result = play(&setting(Game::Chess), &Opening::default(), &mut bad, &mut good);
    assert_eq!(result.end, Termination::TimeForfeit, "{result:?}");
    let overrun_us = result.end.overrun_us();
    assert!(Duration::from_millis(500) <= Duration::from_millis(result.duration_ms + 1));
    assert!(Duration::from_micros(overrun_us) < Duration::from_secs(30));
}
