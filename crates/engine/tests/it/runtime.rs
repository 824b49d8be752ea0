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
    client.send("position startpos moves e2e4\ngo movetime 1000");
    client.expect("info depth 1 pv e7e5");
    client.expect("bestmove e7e5");
    client.send("quit");
    let (rest, served) = client.close();
    assert!(rest.is_empty());
    served.unwrap();
}

#[test]
fn isready_is_answered_during_a_search_and_stop_ends_it() {
    let mut client = Client::handshake(engine(|_, control| {
        wait_for_stop(control);
        Ok(mv("e2e4").into())
    }));
    client.send("go infinite\nisready");
    client.expect("readyok");
    client.send("stop");
    assert!(client.receive().starts_with("info depth 0 time "));
    client.expect("bestmove e2e4");
}

#[test]
fn a_hundred_consecutive_stops_end_a_hundred_searches() {
    let mut client = Client::handshake(engine(|_, control| {
        wait_for_stop(control);
        Ok(mv("e2e4").into())
    }));
    for _ in 0..100 {
        client.send("go infinite\nstop");
        client.receive_until("bestmove");
    }
}

#[test]
fn a_search_is_stopped_at_its_time_limit() {
    let mut client = Client::handshake(engine(|_, control| {
        wait_for_stop(control);
        assert!(control.budget().hard.unwrap() <= control.elapsed());
        Ok(mv("e2e4").into())
    }));
    for go in ["go movetime 30", "go wtime 300 btime 300", "go wtime -5 btime 1"] {
        client.send(go);
        let lines = client.receive_until("bestmove");
        assert!(!lines.iter().any(|line| line.contains("panicked")), "{lines:?}");
    }
}

/// Each of these was an endless search (UCI 2006: `<x>` is a whole number). The engine stops only at the
/// limits of its request.
#[test]
fn limits_that_are_not_integers_end_the_search() {
    let (uci, usi) = (Dialect::Uci, Dialect::Usi);
    for (dialect, go, reported) in [
        (uci, "go movetime 100.5", None),
        (uci, "go wtime 600.0 btime 600.0 winc 0.0 binc 0.0", None),
        (uci, "go depth 5.0", None),
        (uci, "go movetime 100,", None),
        (uci, "go movetime 100ms", None),
        (uci, "go nodes 1k", None),
        (uci, "go nodes x", Some("`nodes x`")),
        (uci, "go movetime", Some("`movetime`")),
        (uci, "go btime 1000", Some("no clock of the side to move")),
        (usi, "go mate x", Some("`mate x`")),
        (usi, "go byoyomi x", Some("`byoyomi x`")),
        (usi, "go btime 0 wtime 0 byoyomi 100.0", None),
    ] {
        let mut client = Client::start(Runner::new("Obeying", Obeying).dialects([dialect]));
        client.send(dialect.handshake());
        client.receive_until(dialect.handshake_ok());
        client.send(&format!("position startpos\n{go}"));
        let answer = if go.contains("mate") { "checkmate" } else { "bestmove" };
        let lines = client.receive_until(answer);
        let messages: Vec<_> =
            lines.iter().filter(|line| line.starts_with("info string")).collect();
        match reported {
            Some(text) => assert!(
                matches!(messages[..], [it] if it.contains(text) && it.ends_with("takes 1s")),
                "{go}: {lines:?}"
            ),
            None => assert!(messages.is_empty(), "{go}: {lines:?}"),
        }
    }
}

/// Searches to the limits of the request.
struct Obeying;

impl Engine for Obeying {
    type Board = NoBoard;
    fn search(&mut self, request: &SearchRequest, control: &Control) -> Answer {
        if request.go.depth != Some(5) && request.go.nodes != Some(1) {
            wait_for_stop(control);
        }
        Ok(mv(if request.dialect == Dialect::Uci { "e2e4" } else { "7g7f" }).into())
    }
    fn solve(
        &mut self,
        _: &SearchRequest,
        control: &Control,
    ) -> Result<Checkmate<'static>, Failure> {
        wait_for_stop(control);
        Ok(Checkmate::Timeout)
    }
}

#[test]
fn the_clock_of_a_ponder_search_starts_at_ponderhit() {
    let (hits, hit) = mpsc::channel();
    let mut client = Client::handshake(engine(move |_, control| {
        hits.send((control.pondering(), control.budget().hard)).unwrap();
        wait_for_stop(control);
        let Budget { from, hard, .. } = control.budget();
        hits.send((control.pondering(), hard.and_then(|hard| hard.checked_sub(from)))).unwrap();
        Ok(mv("e2e4").into())
    }));
    client.send("go ponder movetime 30");
    assert_eq!(hit.recv().unwrap(), (true, None));
    client.send("ponderhit");
    assert_eq!(hit.recv().unwrap(), (false, Some(Duration::from_millis(20))));
    client.receive_until("bestmove e2e4");
}

#[test]
fn pondering_does_not_count_as_movetime() {
    #[expect(clippy::disallowed_methods, reason = "it is real time that the runtime keeps")]
    let now = std::time::Instant::now;
    let (reports, report) = mpsc::channel();
    let mut client = Client::handshake(engine(move |_, control| {
        thread::sleep(Duration::from_millis(60));
        let pondered = now();
        reports.send(Duration::ZERO).unwrap();
        wait_for_stop(control);
        reports.send(control.elapsed()).unwrap();
        reports.send(control.budget().from).unwrap();
        reports.send(pondered.elapsed()).unwrap();
        Ok(mv("e2e4").into())
    }));
    client.send("go ponder movetime 50");
    report.recv().unwrap();
    client.send("ponderhit");
    let [elapsed, from, real] = [(); 3].map(|()| report.recv().unwrap());
    assert!(Duration::from_millis(60) <= from, "the clock continues: {from:?}");
    let (used, budget) = (elapsed.saturating_sub(from), Duration::from_millis(40));
    assert!(budget <= used && used <= real, "{used:?} of {real:?}");
    client.receive_until("bestmove e2e4");
}

#[test]
fn ponderhit_may_contain_the_clock() {
    let mut client = Client::start(
        engine(|_, control| {
            wait_for_stop(control);
            Ok(mv("7g7f").into())
        })
        .dialects([Dialect::Usi]),
    );
    client.send("usi");
    client.receive_until("usiok");
    client.send("position startpos\ngo ponder\nponderhit btime 0 wtime 0 byoyomi 30");
    client.receive_until("bestmove 7g7f");
}

#[test]
fn a_move_found_early_waits_for_stop() {
    let mut client = Client::handshake(engine(|_, _| Ok(mv("e2e4").into())));
    client.send("go infinite");
    assert!(client.receive().starts_with("info depth 0 "));
    client.send("isready");
    client.expect("readyok");
    client.send("stop");
    client.expect("bestmove e2e4");
}

/// Prints the protocol that was set before `prepare`.
struct Listening(Vec<Dialect>);

impl Engine for Listening {
    type Board = NoBoard;
    fn search(&mut self, _: &SearchRequest, _: &Control) -> Answer {
        Err("no search".into())
    }
    fn set_dialect(&mut self, dialect: Dialect) {
        self.0.push(dialect);
    }
    fn drain_messages(&mut self) -> Vec<String> {
        vec![format!("{:?}", self.0)]
    }
}

#[test]
fn an_engine_is_notified_once_of_the_protocol() {
    for (handshake, message) in [("uci", "info string [Uci]"), ("usi", "info string [Usi]")] {
        let runner = Runner::new("Listening", Listening(Vec::new())).dialects(Dialect::ALL);
        let mut client = Client::start(runner);
        client.send(handshake);
        client.receive_until(&format!("{handshake}ok"));
        client.send("isready");
        assert_eq!(client.receive_until("readyok"), [message, "readyok"]);
        client.send("isready");
        assert_eq!(client.receive_until("readyok"), [message, "readyok"]);
    }
}

#[test]
fn mate_searches_are_declined_by_engines_that_cannot() {
    let mut client =
        Client::start(engine(|_, _| Err("unused".into())).dialects([Dialect::Uci, Dialect::Usi]));
    client.send("usi");
    client.receive_until("usiok");
    client.send("position startpos\ngo mate 1000");
    assert_eq!(client.receive_until("checkmate").last().unwrap(), "checkmate notimplemented");
}

/// In UCI such an engine would search for ever (UCI 2006, go mate).
#[test]
fn mate_searches_of_uci_end_in_engines_that_cannot() {
    let (sent, limits) = mpsc::channel();
    let mut client = Client::handshake(engine(move |request, control| {
        sent.send((request.go.mate, request.go.move_time, request.go.depth)).unwrap();
        if request.go.depth.is_none() {
            wait_for_stop(control);
        }
        Ok(mv("e2e4").into())
    }));
    client.send("go mate 3");
    let second = Some(Duration::from_secs(1));
    client.expect(
        "info string this engine does not search for mates: `mate 3` is ignored, and the search takes 1s",
    );
    assert_eq!(limits.recv().unwrap(), (None, second, None));
    client.receive_until("bestmove e2e4");
    client.send("go mate 3 depth 5");
    client.expect("info string this engine does not search for mates: `mate 3` is ignored");
    assert_eq!(limits.recv().unwrap(), (None, None, Some(5)));
    client.receive_until("bestmove e2e4");
}

/// Prints lines after a signal.
struct Benching(mpsc::Receiver<()>);

impl Engine for Benching {
    type Board = NoBoard;
    fn search(&mut self, _: &SearchRequest, control: &Control) -> Answer {
        wait_for_stop(control);
        Ok(mv("e2e4").into())
    }
    fn custom_command(
        &mut self,
        line: &str,
        _: Option<&Position<'static>>,
        print: &mut dyn FnMut(&str),
    ) -> bool {
        self.0.recv().unwrap();
        print(&format!("done: {line}"));
        true
    }
}

/// `printf 'bench\nquit\n' | engine` prints the result, as with Stockfish.
#[test]
fn custom_commands_before_quit_are_completed() {
    let started = ["", "quit\n", "go infinite\nquit\n"].map(|end| {
        let (signal, waits) = mpsc::channel();
        let (engine_input, mut input) = std::io::pipe().unwrap();
        let (output, engine_output) = std::io::pipe().unwrap();
        let lines = format!("bench 1\nbench 2\n{end}");
        std::io::Write::write_all(&mut input, lines.as_bytes()).unwrap();
        let runner = Runner::new("Benching", Benching(waits));
        let served = thread::spawn(move || runner.run(engine_input, engine_output));
        (end, signal, served, output)
    });
    // Longer than an engine that does not stop is waited for.
    thread::sleep(Duration::from_millis(2300));
    for (end, signal, served, output) in started {
        [signal.send(()), signal.send(())].into_iter().for_each(Result::unwrap);
        served.join().unwrap().unwrap();
        let lines = std::io::read_to_string(output).unwrap();
        assert!(lines.starts_with("done: bench 1\ndone: bench 2\n"), "{end:?}: {lines}");
    }
}

/// Finds a mate immediately.
struct Solving;

impl Engine for Solving {
    type Board = NoBoard;
    fn search(&mut self, _: &SearchRequest, _: &Control) -> Answer {
        Ok(mv("7g7f").into())
    }
    fn solve(
        &mut self,
        _: &SearchRequest,
        control: &Control,
    ) -> Result<Checkmate<'static>, Failure> {
        control.info_string("solved");
        Ok(Checkmate::NoMate)
    }
}

#[test]
fn a_mate_found_while_pondering_is_delayed() {
    for release in ["ponderhit", "stop", "gameover draw", "go mate 1000", "quit"] {
        let mut client = Client::start(Runner::new("Solving", Solving).dialects([Dialect::Usi]));
        client.send("usi\nposition startpos\ngo ponder mate 1000");
        client.receive_until("info string solved");
        // The answer precedes the output below.
        thread::sleep(Duration::from_millis(20));
        client.send("isready");
        assert!(!client.receive_until("readyok").iter().any(|line| line.starts_with("checkmate")));
        client.send(release);
        assert_eq!(
            client.receive_until("checkmate").last().unwrap(),
            "checkmate nomate",
            "{release}"
        );
    }
}

#[test]
fn two_thousand_piped_searches_get_two_thousand_answers() {
    let mut client = Client::start(engine(|request, _| {
        let nodes = request.go.nodes.unwrap_or_default();
        assert_eq!(request.position.moves.len(), usize::try_from(nodes % 2)?);
        Ok(BestMove {
            ponder: Some(mv("e7e5")),
            ..mv(["e2e4", "d2d4"][usize::try_from(nodes % 2)?]).into()
        })
    }));
    client.send("uci");
    for nodes in 0..2000 {
        let moves = ["", " moves e2e4"][nodes % 2];
        client.send(&format!("position startpos{moves}\ngo nodes {nodes}"));
    }
    let (rest, served) = client.close();
    let answers: Vec<&String> = rest.iter().filter(|line| line.starts_with("bestmove")).collect();
    assert_eq!(answers.len(), 2000, "{:?}", rest.last());
    for (nodes, answer) in answers.iter().enumerate() {
        assert_eq!(**answer, ["bestmove e2e4 ponder e7e5", "bestmove d2d4 ponder e7e5"][nodes % 2]);
    }
    assert!(!rest.iter().any(|line| line.starts_with("info string")), "{rest:?}");
    served.unwrap();
}

/// Late answers do not change the time limit of `movetime`.
#[test]
fn late_answers_do_not_shorten_a_later_movetime() {
    let mut client = Client::handshake(engine(|_, control| {
        wait_for_stop(control);
        while control.elapsed() < Duration::from_millis(60) {
            thread::yield_now();
        }
        Ok(mv("e2e4").into())
    }));
    client.send("debug on\nposition startpos\nisready");
    client.expect("readyok");
    for _ in 0..2 {
        client.send("go movetime 30");
        client.expect("info string budget: soft Some(20ms), hard Some(20ms)");
        client.receive_until("bestmove");
    }
}

#[test]
fn the_end_of_the_input_ends_a_search_and_the_engine() {
    let mut client = Client::handshake(engine(|_, control| {
        wait_for_stop(control);
        Ok(mv("e2e4").into())
    }));
    client.send("go infinite\nisready");
    client.expect("readyok");
    let (rest, served) = client.close();
    assert_eq!(rest.last().unwrap(), "bestmove e2e4");
    served.unwrap();
}

#[test]
fn commands_before_the_end_of_the_input_are_answered() {
    let mut client = Client::start(engine(|_, _| Ok(mv("e2e4").into())));
    client.send("uci\nisready\nposition startpos\ngo depth 1\nquit");
    let (rest, served) = client.close();
    assert!(rest.contains(&"readyok".to_owned()), "{rest:?}");
    assert_eq!(rest.last().unwrap(), "bestmove e2e4");
    served.unwrap();
}

/// An engine with a custom command that prints its arguments, and panics without any.
struct WithCommand;

impl Engine for WithCommand {
    type Board = NoBoard;
    fn search(&mut self, _: &SearchRequest, control: &Control) -> Answer {
        wait_for_stop(control);
        Ok(mv("e2e4").into())
    }
    fn custom_command(
        &mut self,
        line: &str,
        position: Option<&Position<'static>>,
        print: &mut dyn FnMut(&str),
    ) -> bool {
        if let Some(rest) = line.strip_prefix("echo") {
            assert!(!rest.is_empty(), "nothing to echo");
            print(rest.trim_start());
        } else if line == "moves" {
            let moves = position.map(|position| position.moves.to_string());
            print(moves.as_deref().unwrap_or("none"));
        } else {
            return false;
        }
        true
    }
}

#[test]
fn an_engine_handles_commands_of_its_own_between_searches() {
    let mut client = Client::handshake(Runner::new("Own", WithCommand));
    client.send("echo one two\nunknown\necho\nisready");
    client.expect("one two");
    client.expect("info string the command panicked: nothing to echo");
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
