//! Options, license checks, debug output.

use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};

use readyok_engine::{
    Answer, Control, Dialect, Engine, NoBoard, Options, Registration, Runner, SearchRequest,
};

use crate::client::{Client, engine, mv, wait_for_stop};

#[test]
fn handles_read_the_options_that_the_client_sets() {
    let pressed = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&pressed);
    let mut options = Options::new();
    let hash = options.spin("Hash", 16, 1..=1024);
    let ponder = options.check("Ponder", false);
    let style = options.combo("Style", "Solid", ["Solid", "Risky"]);
    let book = options.string("Book", "");
    let net = options.filename("EvalFile", "default.nn");
    options.button("Clear Hash", move || {
        count.fetch_add(1, Ordering::Relaxed);
    });
    let runner = engine(move |_, control| {
        control.info_string(&format!(
            "{} {} {} {} {:?} {:?} {}",
            hash.get(),
            ponder.get(),
            style.get(),
            style.index(),
            book.get(),
            net.get(),
            pressed.load(Ordering::Relaxed)
        ));
        Ok(mv("e2e4").into())
    });
    let mut client = Client::start(runner.options(options));
    client.send("uci");
    let handshake = client.receive_until("uciok");
    assert!(handshake.contains(&"option name EvalFile type string default default.nn".to_owned()));
    client.send("go depth 1");
    client.expect("info string 16 false Solid 0 \"\" \"default.nn\" 0");
    client.receive_until("bestmove");
    for set in ["Hash value 64", "ponder value true", "Style value risky", "Clear Hash"] {
        client.send(&format!("setoption name {set}"));
    }
    client.send("setoption name Book value my book.bin\nsetoption name EvalFile value <empty>");
    client.send("setoption name Hash value 0");
    client.expect("info string option `Hash` is between 1 and 1024, not 0");
    client.send("go depth 1");
    client.expect("info string 64 true Risky 1 \"my book.bin\" \"\" 1");
}

/// Prints the values of an option callback.
struct Talkative(mpsc::Receiver<String>);

impl Engine for Talkative {
    type Board = NoBoard;
    fn search(&mut self, _: &SearchRequest, _: &Control) -> Answer {
        Ok(mv("e2e4").into())
    }
    fn drain_messages(&mut self) -> Vec<String> {
        self.0.try_iter().collect()
    }
}

#[test]
fn the_choices_of_a_combo_may_be_computed_at_run_time() {
    let mut options = Options::new();
    let choices: Vec<String> = (0..3).map(|number| format!("net {number}.bin")).collect();
    let network = options.combo("Network", "net 1.bin", choices);
    assert_eq!((network.get(), network.index()), ("net 1.bin", 1));
    let used = network.clone();
    let runner = engine(move |_, control| {
        control.info_string(used.get());
        Ok(mv("e2e4").into())
    });
    let mut client = Client::start(runner.options(options));
    client.send("uci");
    let declared = "option name Network type combo default net 1.bin var net 0.bin var net 1.bin var net 2.bin";
    assert!(client.receive_until("uciok").iter().any(|line| line == declared));
    client.send("setoption name Network value net 2.bin\nposition startpos\ngo depth 1");
    client.expect("info string net 2.bin");
    assert_eq!(network.index(), 2);
}

#[test]
fn an_option_callback_sees_every_value_and_may_print() {
    let (sender, messages) = mpsc::channel();
    let mut options = Options::new();
    options.string_with("Order", "", move |value| {
        sender.send(format!("took `{value}`")).unwrap();
    });
    let runner = Runner::new("Talkative", Talkative(messages)).options(options);
    let mut client = Client::handshake(runner);
    client.send("setoption name Order value a b\nsetoption name Order value a b\nisready");
    client.expect("info string took `a b`");
    client.expect("info string took `a b`");
    client.expect("readyok");
}

#[test]
fn options_have_the_names_and_types_of_the_dialect() {
    let mut options = Options::new();
    let hash = options.spin("Hash", 16, 1..=1024);
    options.filename("EvalFile", "x");
    options.check("UCI_Chess960", false);
    options.only_in(Dialect::Uci, "UCI_Chess960");
    let runner = engine(move |_, control| {
        control.info_string(&hash.get().to_string());
        Ok(mv("7g7f").into())
    });
    let mut client = Client::start(runner.options(options).dialects([Dialect::Uci, Dialect::Usi]));
    client.send("usi");
    assert_eq!(
        client.receive_until("usiok"),
        [
            "id name Test",
            "option name USI_Hash type spin default 16 min 1 max 1024",
            "option name EvalFile type filename default x",
            "option name Debug_Log_File type string default <empty>",
            "usiok"
        ]
    );
    client.send("setoption name USI_Hash value 99\nsetoption name USI_Ponder value true");
    client.send("position startpos\ngo btime 0 wtime 0 byoyomi 1000");
    client.expect("info string 99");
}

#[test]
fn options_do_not_change_under_a_search() {
    let mut options = Options::new();
    let hash = options.spin("Hash", 16, 1..=1024);
    let runner = engine(move |_, control| {
        wait_for_stop(control);
        control.info_string(&hash.get().to_string());
        Ok(mv("e2e4").into())
    });
    let mut client = Client::handshake(runner.options(options));
    client.send("go infinite\nsetoption name Hash value 64\nstop");
    client.expect("info string 16");
    client.receive_until("bestmove");
    client.send("go infinite\nstop");
    client.expect("info string 64");
}

#[test]
fn an_option_with_an_invalid_default_is_rejected() {
    let mut options = Options::new();
    options.spin("Hash", 0, 1..=1024);
    let runner = engine(|_, _| Ok(mv("e2e4").into())).options(options);
    let (_, served) = Client::start(runner).close();
    let error = served.unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
    assert_eq!(error.to_string(), "option `Hash` is between 1 and 1024, not 0");
}

#[test]
fn license_checks_run_after_each_handshake() {
    let mut handshakes = 0;
    let runner = engine(|_, _| Ok(mv("e2e4").into()))
        .copy_protection(move || {
            handshakes += 1;
            match handshakes {
                1 => Ok(()),
                2 => Err("no dongle".into()),
                _ => panic!("no port"),
            }
        })
        .registration(|given| given.map(|_| ()).ok_or_else(|| "not registered".into()));
    let mut client = Client::start(runner);
    for ended in
        [&["ok"][..], &["info string the copy protection failed: no dongle", "error"], &["error"]]
    {
        client.send("uci\nisready");
        client.receive_until("uciok");
        client.expect("copyprotection checking");
        let lines = client.receive_until("copyprotection ");
        let (status, remarks) = lines.split_last().unwrap();
        assert_eq!(Some(&status.rsplit(' ').next().unwrap()), ended.last());
        assert!(ended.len() == 1 || remarks == &ended[..1], "{remarks:?}");
        client.expect("registration checking");
        client.expect("info string the registration failed: not registered");
        client.expect("registration error");
        client.expect("readyok");
    }
}

#[test]
fn each_register_is_answered_except_later() {
    let runner = engine(|_, control| {
        wait_for_stop(control);
        Ok(mv("e2e4").into())
    });
    let mut client = Client::handshake(runner.registration(|given| match given {
        Some(Registration { name: Some(name), code: Some(code) }) if code == "4359874324" => {
            assert_eq!(name, "Stefan MK");
            Ok(())
        }
        Some(_) => Err("not the code".into()),
        None => Err("unregistered".into()),
    }));
    client.receive_until("registration error");
    client.send("register later\nisready");
    client.expect("readyok");
    client.send("register code 1");
    client.expect("registration checking");
    client.expect("info string the registration failed: not the code");
    client.expect("registration error");
    // It runs on the engine's thread, after the search.
    client.send("go infinite\nregister name Stefan MK code 4359874324\nisready");
    client.expect("readyok");
    client.send("stop");
    client.receive_until("bestmove e2e4");
    client.expect("registration checking");
    client.expect("registration ok");
}

#[test]
fn an_engine_without_license_checks_sends_no_status() {
    let mut client = Client::handshake(engine(|_, _| Ok(mv("e2e4").into())));
    client.send("register name Stefan MK\nisready");
    client.expect("readyok");
}

#[test]
fn the_debug_log_has_both_directions() {
    let name = format!("debug-{}.log", std::process::id());
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    // The log is appended to, and a failed test leaves its file.
    let _ = std::fs::remove_file(&path);
    let mut client = Client::handshake(engine(|_, _| Ok(mv("e2e4").into())));
    client.send(&format!("setoption name Debug Log File value {}", path.display()));
    client.send("isready");
    client.expect("readyok");
    client.send("setoption name Debug Log File value\nisready");
    client.expect("readyok");
    let log = std::fs::read_to_string(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    let lines: Vec<&str> = log.lines().map(str::trim_start).collect();
    let without_time = |line: &&str| line.split_once(' ').unwrap().1.to_owned();
    let lines: Vec<String> = lines.iter().map(without_time).collect();
    assert_eq!(lines, ["> isready", "< readyok", "> setoption name Debug Log File value"]);
}

#[test]
fn a_log_that_cannot_be_opened_is_reported() {
    let mut client = Client::handshake(engine(|_, _| Ok(mv("e2e4").into())));
    client.send("setoption name Debug Log File value /nowhere/at/all.log");
    assert!(client.receive().starts_with("info string no log in `/nowhere/at/all.log`: "));
}

#[test]
fn debug_prints_the_budget() {
    let mut client = Client::handshake(engine(|_, _| Ok(mv("e2e4").into())));
    client.send("debug on\nposition startpos\nisready");
    client.expect("readyok");
    client.send("go movetime 1010");
    client.expect("info string budget: soft Some(1s), hard Some(1s)");
}

#[test]
fn move_overhead_is_applied_even_if_the_engine_thread_is_busy() {
    let mut options = Options::new();
    let overhead = options.spin("Move Overhead", 10, 0..=5000);
    let (release, waits) = mpsc::channel::<()>();
    options.button("Rest", move || waits.recv().unwrap());
    let runner = engine(|_, _| Ok(mv("e2e4").into())).options(options).move_overhead(&overhead);
    let mut client = Client::handshake(runner);
    client.send("debug on\nposition startpos\nisready");
    client.expect("readyok");
    client.send("setoption name Rest\nsetoption name Move Overhead value 400\ngo movetime 1000");
    client.expect("info string budget: soft Some(600ms), hard Some(600ms)");
    release.send(()).unwrap();
    client.receive_until("bestmove e2e4");
}
