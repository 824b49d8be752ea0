//! Exits and terminations of engines.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use readyok_client::{
    Engine, EngineError, EngineFailure, Game, Limit, Problem, Termination, TimeoutKind, Timeouts,
    WaitLimit,
};

use crate::support::{
    ABORTED, SHORT, check, check_gone, check_reaped, check_started, check_started_with, hit,
    misbehaving, patient, problem, uci,
};

fn play(engine: &mut Engine) -> Result<readyok_client::SearchResult, EngineError> {
    engine.play(&Game::startpos(), Limit::Depth(3))
}

#[test]
fn a_crash_in_the_handshake_is_reported() {
    for rule in ["start: !abort", "uci: !abort", "uci: id name X | !abort"] {
        check(&[rule], patient(), |engine| {
            let error = engine.expect_err("it crashed");
            assert_eq!(*error.problem(), Problem::Disconnected, "{rule}");
            assert!(error.exit().is_some(), "{rule}");
        });
    }
}

#[test]
fn a_crash_in_a_search_is_reported() {
    for rule in [
        "position: !abort",
        "isready: !abort",
        "isready: readyok | !abort",
        "go: !abort",
        "go: info depth 1 score cp 1 pv e2e4 | !abort",
        "ucinewgame: !abort",
        "setoption: !abort",
    ] {
        check_started(&[rule], patient(), |mut engine| {
            engine.set_option("Hash", "99").expect("it has it");
            let error = play(&mut engine).expect_err("it crashed");
            assert_eq!(*error.problem(), Problem::Disconnected, "{rule}");
            assert!(error.to_string().contains(ABORTED), "{error}");
            // Later calls report the same problem.
            assert_eq!(problem(play(&mut engine)), Problem::Disconnected);
            assert_eq!(problem(engine.ready()), Problem::Disconnected);
            assert_eq!(problem(engine.set_option("Hash", "1")), Problem::Disconnected);
        });
    }
}

#[test]
fn a_crash_after_stop_is_reported() {
    check_started(&["stop: !abort"], patient(), |mut engine| {
        let analysis = engine.analyse(&Game::startpos(), Limit::Infinite).expect("it starts");
        assert_eq!(problem(analysis.finish()), Problem::Disconnected);
    });
}

#[test]
fn a_crash_after_ponderhit_is_reported() {
    check_started(&["ponderhit: !abort"], patient(), |mut engine| {
        // The engine does not answer before the hit, so the search is still running.
        let pondering = engine.ponder(&Game::startpos(), Limit::Depth(3)).expect("it starts");
        pondering.next_within(SHORT);
        assert_eq!(problem(hit(pondering)), Problem::Disconnected);
    });
}

#[test]
fn a_crash_after_quit_is_reported() {
    check_started(&["quit: !abort"], patient(), |engine| {
        let status = engine.quit().expect("it left").expect("it is a process");
        assert!(!status.success());
    });
}

#[test]
fn a_crash_after_the_answer_does_not_revoke_it() {
    check_started(&["go: bestmove e2e4 | !abort"], patient(), |mut engine| {
        assert!(play(&mut engine).expect("it answered").best_move().is_some());
        assert_eq!(problem(play(&mut engine)), Problem::Disconnected);
    });
}

#[cfg(unix)]
#[test]
fn kill_skips_quit() {
    use std::os::unix::process::ExitStatusExt as _;
    // It would exit normally on `quit`, or at the end of its input.
    for rule in ["quit: !exit 0", "start: !child"] {
        check_started(&[rule], patient(), |engine| {
            let status = engine.kill().expect("it is a process that has ended");
            assert_eq!(status.signal(), Some(9));
        });
    }
}

#[test]
fn an_unsupported_cpu_is_explained() {
    check_started(&["go: !stderr needs AVX-512 | !signal ILL"], patient(), |mut engine| {
        let error = play(&mut engine).expect_err("it crashed");
        let text = error.to_string();
        assert!(text.contains("not built for this CPU"), "{text}");
        assert_eq!(error.stderr(), ["needs AVX-512"]);
    });
}

#[test]
fn the_exit_code_and_the_last_stderr_lines_are_reported() {
    let lines: Vec<_> = (0..50).map(|line| format!("!stderr line {line}")).collect();
    check_started(&[&format!("go: {} | !exit 3", lines.join(" | "))], patient(), |mut engine| {
        let error = play(&mut engine).expect_err("it left");
        assert_eq!(error.exit().and_then(|status| status.code()), Some(3));
        assert_eq!(error.stderr().len(), 20);
        assert_eq!(error.stderr().last().map(String::as_str), Some("line 49"));
    });
}

#[test]
fn on_stderr_receives_every_line() {
    let lines: Vec<_> = (0..50).map(|line| format!("line {line}")).collect();
    let output: Vec<_> = lines.iter().map(|line| format!("!stderr {line}")).collect();
    let builder = uci(patient());
    let received = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&received);
    let builder = builder.on_stderr(move |line| {
        log.lock().expect("no panic").push(line.to_owned());
    });
    check_started_with(
        builder,
        &[&format!("go: {} | !exit 3", output.join(" | "))],
        |mut engine| {
            play(&mut engine).expect_err("it left");
        },
    );
    assert_eq!(*received.lock().expect("no panic"), lines);
}

#[test]
fn an_engine_that_closes_its_output_is_terminated() {
    check_started(&["go: !close"], patient(), |mut engine| {
        let error = play(&mut engine).expect_err("there is no answer");
        assert_eq!(*error.problem(), Problem::Disconnected);
        // The signal is that of the client, and no other program is blamed.
        if cfg!(unix) {
            assert_eq!(error.termination(), Some(Termination::OutputClosed));
            assert_eq!(error.own_exit(), None);
            let text = "closed its output without exiting; engine terminated";
            assert!(error.to_string().ends_with(text), "{error}");
            assert_eq!(EngineFailure::from(&error).exit, None);
        }
    });
}

#[test]
fn an_engine_that_the_program_drops_or_kills_names_the_program() {
    for (end, reason) in [
        (drop::<Engine> as fn(Engine), Termination::Dropped),
        (|engine| _ = engine.kill(), Termination::Killed),
    ] {
        check_started(&["go: !deaf", "quit: !deaf"], patient(), |mut engine| {
            let search = engine.begin(&Game::startpos(), Limit::Depth(3)).expect("it starts");
            end(engine);
            let error = search.wait().expect_err("the engine has ended");
            assert_eq!(error.termination(), Some(reason), "{error}");
            assert_eq!(error.own_exit(), None, "{error}");
        });
    }
}

#[test]
fn quit_returns_the_exit_status() {
    check_started(&[], patient(), |engine| {
        let status = engine.quit().expect("it leaves").expect("it is a process");
        assert!(status.success());
    });
    check_started(&["quit: !exit 7"], patient(), |engine| {
        let status = engine.quit().expect("it leaves").expect("it is a process");
        assert_eq!(status.code(), Some(7));
    });
}

#[test]
fn quit_ends_a_search_first() {
    check_started(&[], patient(), |mut engine| {
        drop(engine.analyse(&Game::startpos(), Limit::Infinite).expect("it starts"));
        assert!(engine.quit().expect("it leaves").is_some_and(|status| status.success()));
    });
}

#[test]
fn an_engine_that_ignores_quit_is_terminated() {
    let timeouts = Timeouts { quit: WaitLimit::fixed(SHORT), ..patient() };
    check_started(&["quit: !deaf"], timeouts, |engine| {
        let error = engine.quit().expect_err("it does not leave");
        assert_eq!(*error.problem(), Problem::Timeout(TimeoutKind::Exit));
        assert_eq!(error.termination(), Some(Termination::Timeout(TimeoutKind::Exit)));
    });
    // Neither at the end of its input nor when the handle is dropped.
    check_started(&["quit: !deaf"], timeouts, drop);
}

#[cfg(unix)]
#[test]
fn an_engine_that_ignores_sigterm_is_killed() {
    let timeouts = Timeouts { quit: WaitLimit::fixed(SHORT), ..patient() };
    for quit in [true, false] {
        let (engine, mark) = misbehaving(&["quit: !deaf"]);
        let mut shell = std::process::Command::new("sh");
        shell.args(["-c", "trap '' TERM; exec \"$0\" \"$@\""]);
        shell.arg(engine.get_program()).args(engine.get_args());
        shell.envs(engine.get_envs().filter_map(|(name, value)| Some((name, value?))));
        let engine = uci(timeouts).spawn(shell).expect("it starts well");
        let id = engine.process_id().expect("it is a process");
        if quit {
            let error = engine.quit().expect_err("it does not leave");
            let exit = error
                .exit()
                .map(|status| readyok_client::Exit::from(status).to_string())
                .unwrap_or_default();
            assert!(exit.contains("SIGKILL"), "{exit}");
            assert_eq!((error.timeout(), error.own_exit()), (Some(SHORT), None), "{error}");
        } else {
            drop(engine);
        }
        check_gone(&mark);
        check_reaped(id);
    }
}

#[test]
fn a_child_with_the_pipe_does_not_block_the_caller() {
    check_started(&["go: !child | !exit 1"], patient(), |mut engine| {
        assert_eq!(problem(play(&mut engine)), Problem::Disconnected);
    });
    check_started(&["isready: !child | readyok"], patient(), |mut engine| {
        assert!(play(&mut engine).is_ok());
        assert!(engine.quit().expect("it leaves").is_some_and(|status| status.success()));
    });
    check_started(&["isready: !child | readyok"], patient(), |mut engine| {
        assert!(play(&mut engine).is_ok());
    });
}

#[test]
fn a_panic_leaves_no_process() {
    let (command, mark) = misbehaving(&[]);
    let caller = std::thread::spawn(move || {
        let _engine = uci(patient()).spawn(command).expect("it starts well");
        std::panic::resume_unwind(Box::new("the caller panics"));
    });
    assert!(caller.join().is_err());
    check_gone(&mark);
}

#[test]
fn an_engine_that_never_reads_does_not_block_the_caller() {
    let timeouts = Timeouts { ready: WaitLimit::fixed(SHORT), ..patient() };
    check_started(&["isready: !deaf"], timeouts, |mut engine| {
        let mut game = Game::startpos();
        for _ in 0..100_000 {
            game.extend(["g1f3", "g8f6", "f3g1", "f6g8"].map(|mv| mv.parse().expect("a move")));
        }
        for _ in 0..3 {
            drop(engine.analyse(&game, Limit::Infinite));
        }
        assert_eq!(problem(engine.ready()), Problem::Timeout(TimeoutKind::Ready));
    });
}

#[test]
fn a_leaked_handle_leaves_no_zombie() {
    let (command, mark) = misbehaving(&["isready: !wait 100 | !exit 0"]);
    let mut engine = uci(patient()).spawn(command).expect("it starts well");
    let id = engine.process_id().expect("it is a process");
    let game = Game::startpos();
    drop(engine.analyse(&game, Limit::Time(Duration::from_secs(1))));
    std::mem::forget(engine);
    check_gone(&mark);
    check_reaped(id);
}
