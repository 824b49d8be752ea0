//! Searches, their time, and the output of several threads.

use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use readyok_engine::protocol::Position;
use readyok_engine::{
    Answer, BestMove, Budget, Checkmate, Control, Dialect, Engine, Failure, Info, NoBoard, Runner,
    SearchRequest,
};

use crate::client::{Client, engine, line, mv, wait_for_stop};

#[test]
fn a_game_is_played_from_handshake_to_quit() {
    let runner = engine(|request, control| {
        control.info(Info { depth: Some(1), pv: Some(line("e7e5")), ..Info::default() });
        assert_eq!(request.position.moves.as_str(), "e2e4");
        Ok(mv("e7e5").into())
    });
    let mut client = Client::start(runner.author("Tester"));
    client.send("uci");
    let handshake = client.receive_until("uciok");
    assert_eq!(
        handshake,
        [
            "id name Test",
            "id author Tester",
            "option name Debug Log File type string default <empty>",
            "uciok"
        ]
    );
    client.send("ucinewgame\nisready");
    client.expect("readyok");
    client.send("position startpos moves e2e4 e7e5\nmoves");
    client.expect("e2e4 e7e5");
    client.send("echo one\ngo perft 2");
    client.expect("one");
    client.expect("info string this engine does not count leaf nodes");
    client.send("position fen nothing\nmoves");
    client.receive_until("none");
    client.send(&format!("echo {}\nposition startpos\ngo infinite\necho late", "x".repeat(5000)));
    client.send("stop");
    client.receive_until("bestmove");
    client.send("echo after\nisready");
    client.expect("after");
    client.expect("readyok");
}

#[test]
fn lines_of_several_threads_do_not_mix() {
    const THREADS: usize = 8;
    const LINES: usize = 200;
    let mut client = Client::handshake(engine(|_, control| {
        thread::scope(|scope| {
            for thread in 0..THREADS {
                scope.spawn(move || {
                    for line in 0..LINES {
                        control.info_string(&format!("{thread} {line} end"));
                    }
                });
            }
        });
        Ok(mv("e2e4").into())
    }));
    client.send("go depth 1");
    let lines = client.receive_until("bestmove");
    let mut next = [0; THREADS];
    let mut left_out = 0;
    for line in &lines {
        let Some(text) = line.strip_prefix("info string ") else { continue };
        let parts: Vec<&str> = text.split(' ').collect();
        if let [thread, number, "end"] = parts[..] {
            let thread: usize = thread.parse().unwrap();
            let number: usize = number.parse().unwrap();
            assert!(next[thread] <= number, "the lines of a thread keep their order");
            next[thread] = number + 1;
        } else {
            let [count, "more", ..] = parts[..] else { panic!("an incomplete line: {line}") };
            left_out += count.parse::<usize>().unwrap();
        }
    }
    let count = lines.iter().filter(|line| line.ends_with("end")).count();
    assert_eq!(count + left_out, THREADS * LINES);
}

#[test]
fn a_flood_of_lines_is_throttled() {
    let mut client = Client::handshake(engine(|_, control| {
        for depth in 1..=50_000 {
            control.info(Info { depth: Some(depth), pv: Some(line("e2e4")), ..Info::default() });
        }
        Ok(mv("e2e4").into())
    }));
    client.send("go depth 50000");
    let lines = client.receive_until("bestmove");
    assert_eq!(lines[lines.len() - 2], "info depth 50000 pv e2e4");
    assert!(lines.len() < 5_000, "{} lines", lines.len());
}

#[test]
fn threads_of_an_earlier_search_print_nothing_in_a_later_one() {
    let mut first: Option<Control> = None;
    let mut client = Client::handshake(engine(move |_, control| {
        if let Some(first) = &first {
            first.info(Info { depth: Some(99), pv: Some(line("a2a3")), ..Info::default() });
        }
        first = Some(control.clone());
        control.info(Info { depth: Some(1), pv: Some(line("e2e4")), ..Info::default() });
        Ok(mv("e2e4").into())
    }));
    for _ in 0..2 {
        client.send("go depth 1");
        client.expect("info depth 1 pv e2e4");
        client.expect("bestmove e2e4");
    }
}
