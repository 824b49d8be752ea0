//! Output of engines before `uciok`.

use readyok_client::{
    Dialect, Engine, Event, Limit, Notice, Problem, TimeoutKind, Timeouts, WaitLimit,
};
use readyok_protocol::Status;

use crate::support::{SHORT, check, check_gone, check_started, misbehaving, patient, problem};

fn hasty() -> Timeouts {
    Timeouts { handshake: WaitLimit::fixed(SHORT), ..patient() }
}

#[test]
fn a_silent_engine_times_out() {
    let late = |engine| assert_eq!(problem(engine), Problem::Timeout(TimeoutKind::Handshake));
    check(&["uci: "], hasty(), late);
    check(&["start: !deaf"], hasty(), late);
}

#[test]
fn a_missing_uciok_is_a_timeout() {
    check(&["uci: id name Half | option name Hash type button"], hasty(), |engine| {
        assert_eq!(problem(engine), Problem::Timeout(TimeoutKind::Handshake));
    });
}

#[test]
fn a_banner_before_the_name_is_harmless() {
    let rules = [
        "start: Misbehave 1.0 by Example | info string loading",
        "uci: | hello | id name B | uciok",
    ];
    check_started(&rules, patient(), |mut engine| {
        assert_eq!(engine.identity().name, "B");
        let notices = engine.drain_notices();
        let banner = Notice::Event(Event::UnknownLine("Misbehave 1.0 by Example".to_owned()));
        assert!(notices.contains(&banner), "{notices:?}");
    });
}

#[test]
fn windows_line_ends_are_accepted() {
    // `id name C\r\nuciok\r\n`
    let uci = "uci: !hex 69 64 20 6e 61 6d 65 20 43 0d 0a 75 63 69 6f 6b 0d 0a";
    check_started(&[uci, "isready: !hex 72 65 61 64 79 6f 6b 0d 0a"], patient(), |mut engine| {
        assert_eq!(engine.identity().name, "C");
        engine.ready().expect("it answers");
    });
}

#[test]
fn a_name_in_another_encoding_is_decoded_lossily() {
    // `id name J\xfcrgen\n`, Latin-1.
    let latin = "uci: !hex 69 64 20 6e 61 6d 65 20 4a fc 72 67 65 6e 0a | uciok";
    check_started(&[latin], patient(), |engine| {
        assert_eq!(engine.identity().name, "J\u{fffd}rgen");
    });
    // `id name \x8f\xab\x8a\xfb X\n`, Shift-JIS.
    let shift_jis = "uci: !hex 69 64 20 6e 61 6d 65 20 8f ab 8a fb 20 58 0a | uciok";
    check_started(&[shift_jis], patient(), |mut engine| {
        assert!(engine.identity().name.ends_with(" X"), "{:?}", engine.identity());
        engine.play(&readyok_client::Game::startpos(), Limit::Depth(1)).expect("it plays");
    });
}

#[test]
fn ten_megabytes_without_a_line_end_are_discarded() {
    let rules = ["uci: !long 10000000 | !hex 0a | id name L | uciok"];
    check_started(&rules, patient(), |mut engine| {
        assert_eq!(engine.identity().name, "L");
        let notices = engine.drain_notices();
        assert!(matches!(notices.first(), Some(Notice::LineTooLong(_))), "{notices:?}");
    });
    check(&["uci: !long 10000000"], hasty(), |engine| {
        assert_eq!(problem(engine), Problem::Timeout(TimeoutKind::Handshake));
    });
}

#[test]
fn malformed_option_declarations_do_not_affect_others() {
    let options = "\
        uci: id name O | option | option name | option name NoType | \
        option name NoDefault type spin | \
        option name Backwards type spin default 5 min 9 max 1 | \
        option name Texts type spin default many min few max all | \
        option name Empty type combo | option name Stranger type combo default Z var A var B | \
        option name type type check default maybe | option name Unknown type banana peel | \
        option name Twice type check default true | option name Twice type check default false | \
        option name Huge type spin default 99999999999999999999 min -99999999999999999999 max 1 | \
        option name Good type spin default 1 min 1 max 9 | uciok";
    check_started(&[options], patient(), |mut engine| {
        engine.set_option("Good", "4").expect("it has this option");
        let wrong = problem(engine.set_option("Good", "10"));
        assert!(matches!(wrong, Problem::Usage(_)), "{wrong:?}");
        let unknown = problem(engine.set_option("Bad", "10"));
        assert!(matches!(unknown, Problem::Usage(_)), "{unknown:?}");
        engine.set_option("Stranger", "a").expect("one of its choices");
        engine.ready().expect("it answers");
        let played = engine.play(&readyok_client::Game::startpos(), Limit::Depth(1));
        assert!(played.expect("it plays").best_move().is_some());
    });
}

#[test]
fn a_missing_executable_is_reported() {
    let result = Engine::spawn(std::process::Command::new("/nowhere/engine"));
    let error = result.expect_err("it is not there");
    assert_eq!(error.engine(), "engine");
    assert!(matches!(error.problem(), Problem::Start { .. }), "{error}");
}

#[test]
fn an_engine_runs_in_its_own_directory_by_default() {
    let rules = ["uci: !directory | uciok"];
    let (command, _) = misbehaving(&rules);
    let own = std::path::Path::new(command.get_program()).parent().map(ToOwned::to_owned);
    let temporary = std::env::temp_dir();
    // The working directory of a process has no links; on Windows a canonical path has a prefix that it does not have.
    let temporary =
        if cfg!(windows) { temporary } else { temporary.canonicalize().expect("there is one") };
    for (set, expected) in [(None, own.expect("it has one")), (Some(&temporary), temporary.clone())]
    {
        let (mut command, mark) = misbehaving(&rules);
        set.map(|directory| command.current_dir(directory));
        let engine = Engine::builder().timeouts(patient()).spawn(command).expect("it starts well");
        assert_eq!(std::path::Path::new(&engine.identity().name), expected);
        drop(engine);
        check_gone(&mark);
    }
}

#[test]
fn a_registration_error_is_answered_with_later_or_a_name() {
    let rules = ["uci: id name R | registration error | uciok", "register: registration ok"];
    check_started(&rules, patient(), |mut engine| {
        let played = engine.play(&readyok_client::Game::startpos(), Limit::Depth(1));
        assert!(played.expect("it plays").best_move().is_some());
        let ok = Notice::Event(Event::Registration(Status::Ok));
        assert!(engine.drain_notices().contains(&ok));
    });
}

#[test]
fn an_engine_without_uci_is_started_in_usi() {
    let timeouts = Timeouts { handshake: WaitLimit::fixed(3 * SHORT), ..patient() };
    for uci in ["uci: ", "uci: !exit 1"] {
        let (command, mark) = misbehaving(&[uci]);
        let engine = Engine::builder().timeouts(timeouts).spawn(command).expect("it knows usi");
        assert_eq!(engine.dialect(), Dialect::Usi);
        drop(engine);
        check_gone(&mark);
    }
}

#[test]
fn output_extends_the_handshake_timeout() {
    let rules = ["uci: | id name S | !wait 300 | x | !wait 300 | x | !wait 300 | x | uciok"];
    let handshake = WaitLimit { silence: SHORT, total: patient().handshake.total };
    check_started(&rules, Timeouts { handshake, ..patient() }, |engine| {
        assert_eq!(engine.identity().name, "S");
    });
}
