//! The runtime: threads, time, failures and options.

use std::io;
use std::marker::PhantomData;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

use readyok_engine::{
    Answer, BestMove, Board, Budget, Checkmate, Control, Dialect, Engine, Failure, Info, Move,
    MoveList, NoBoard, Options, Registration, Runner, SearchRequest,
};

use crate::client::{Client, engine, wait_for_stop};

fn mv(text: &str) -> Move {
    text.parse().unwrap()
}

fn line(text: &str) -> MoveList<'static> {
    [mv(text)].into_iter().collect()
}

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

#[test]
fn a_panic_in_a_search_answers_with_the_last_reported_move() {
    let mut client = Client::handshake(engine(|_, control| {
        control.info(Info { multipv: Some(1), pv: Some(line("d2d4")), ..Info::default() });
        control.info(Info { multipv: Some(2), pv: Some(line("a2a3")), ..Info::default() });
        panic!("out of\nideas");
    }));
    for _ in 0..2 {
        client.send("go depth 3");
        client.receive_until("info multipv 2");
        client.expect("info string the search panicked: out of");
        client.expect("info string ideas");
        client.expect("bestmove d2d4");
    }
}

/// Reports a PV, or none, and panics.
struct Falling<B> {
    reported: Option<&'static str>,
    board: PhantomData<fn(B)>,
}

impl<B: Board + 'static> Engine for Falling<B> {
    type Board = B;
    fn search(&mut self, _: &SearchRequest, control: &Control) -> Answer {
        control.info(Info { pv: self.reported.map(line), ..Info::default() });
        panic!("out of ideas");
    }
}

/// The answer of an engine with a board whose search panics after reporting this move.
fn played<B: Board + 'static>(
    dialect: Dialect,
    reported: Option<&'static str>,
    position: &str,
    go: &str,
) -> String {
    let runner = Runner::new("Falling", Falling::<B> { reported, board: PhantomData });
    let mut client = Client::start(runner.dialects([dialect]));
    client.send(dialect.handshake());
    client.receive_until(dialect.handshake_ok());
    client.send(&format!("position {position}\n{go}"));
    client.receive_until("bestmove").pop().unwrap()
}

#[test]
fn a_panic_in_a_search_answers_with_a_legal_move() {
    let chess = |reported, position: &str, go: &str| {
        played::<cozy_chess::Board>(Dialect::Uci, reported, position, go)
    };
    // Only legal moves are candidates.
    assert_eq!(chess(Some("g1f3"), "startpos", "go depth 3"), "bestmove g1f3");
    assert_eq!(chess(Some("e2e5"), "startpos", "go searchmoves e7e5 d2d4"), "bestmove d2d4");
    assert_eq!(chess(None, "startpos", "go searchmoves b1c3"), "bestmove b1c3");
    let corner = "fen 7k/8/8/8/8/8/1r6/K7 w - - 0 1";
    assert_eq!(chess(None, corner, "go depth 3"), "bestmove a1b2");
    assert_eq!(chess(Some("a1a2"), corner, "go searchmoves a1b1"), "bestmove a1b2");
    // Without a legal move the answer is `(none)`.
    let stalemate = "fen 7k/8/8/8/8/1q6/8/K7 w - - 0 1";
    assert_eq!(chess(Some("a1a2"), stalemate, "go depth 3"), "bestmove (none)");
    let no_kings = "fen 8/8/8/8/8/8/8/8 w - - 0 1";
    assert_eq!(chess(Some("a1a2"), no_kings, "go depth 3"), "bestmove a1a2");

    let shogi = |reported, position: &str, go: &str| {
        played::<rsshogi::board::Position>(Dialect::Usi, reported, position, go)
    };
    assert_eq!(shogi(Some("7g7f"), "startpos", "go nodes 3"), "bestmove 7g7f");
    let corner = "sfen 4k4/9/9/9/9/9/9/7r1/8K b - 1";
    assert_eq!(shogi(Some("1i1h"), corner, "go nodes 3"), "bestmove 1i2h");
}

#[test]
fn without_a_board_a_failed_search_answers_with_a_searchmove_or_none() {
    let mut client = Client::handshake(engine(|_, _| Err("no board".into())));
    client.send("go depth 3 searchmoves g1f3");
    client.expect("info string the search failed: no board");
    client.receive();
    client.expect("bestmove g1f3");
    client.send("go depth 3");
    client.expect("info string the search failed: no board");
    client.receive();
    client.expect("bestmove (none)");
}

/// Panics in every method.
struct Broken;

impl Engine for Broken {
    type Board = NoBoard;
    fn search(&mut self, _: &SearchRequest, _: &Control) -> Answer {
        panic!("search")
    }
    fn solve(&mut self, _: &SearchRequest, _: &Control) -> Result<Checkmate<'static>, Failure> {
        panic!("solve")
    }
    fn set_dialect(&mut self, _: Dialect) {
        panic!("dialect")
    }
    fn new_game(&mut self) {
        panic!("new game")
    }
    fn prepare(&mut self) {
        panic!("prepare")
    }
    fn drain_messages(&mut self) -> Vec<String> {
        panic!("remarks")
    }
    fn fallback(&self, _: &SearchRequest, _: &[Move]) -> Option<Move> {
        Some(mv("7g7f"))
    }
}

#[test]
fn an_engine_that_always_panics_follows_the_protocol() {
    let mut client = Client::start(Runner::new("Broken", Broken).dialects([Dialect::Usi]));
    client.send("usi");
    client.receive_until("usiok");
    client.send("isready");
    client.receive_until("readyok");
    client.send("usinewgame\nposition startpos\ngo btime 0 wtime 0 byoyomi 10");
    assert!(client.receive_until("bestmove").contains(&"bestmove 7g7f".to_owned()));
    client.send("go mate infinite");
    assert!(client.receive_until("checkmate").contains(&"checkmate timeout".to_owned()));
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
fn the_position_before_an_invalid_one_is_not_searched() {
    let long = format!("position startpos moves {}", "x".repeat(2_000_000));
    for broken in ["position", "position fen foo", "Position foo", &long] {
        let mut client = Client::handshake(engine(|_, _| Ok(mv("e2e4").into())));
        client.send(&format!("position startpos\n{broken}\ngo depth 1"));
        let lines = client.receive_until("bestmove");
        assert_eq!(lines.last().unwrap(), "bestmove (none)");
        let why = lines.iter().filter(|line| line.starts_with("info string the search failed: "));
        assert_eq!(why.count(), 1, "{lines:?}");
        client.send("position startpos\ngo depth 1");
        assert_eq!(client.receive_until("bestmove").last().unwrap(), "bestmove e2e4");
    }
}

#[test]
fn an_invalid_position_fails_the_searches_up_to_the_next_one() {
    let long = format!("position startpos moves {}", "x".repeat(2_000_000));
    for invalid in ["position", "position fen foo", "Position foo", &long] {
        let mut client = Client::handshake(engine(|request, control| {
            if request.go.infinite {
                wait_for_stop(control);
            }
            Ok(mv("e2e4").into())
        }));
        // All but the first search are queued during it.
        client.send(&format!(
            "position startpos\ngo infinite\ngo depth 1\n{invalid}\ngo depth 1\ngo nodes 1\n\
             position startpos\ngo depth 1\n{invalid}\nposition startpos\ngo depth 1"
        ));
        let answers = (0..6).filter_map(|_| client.receive_until("bestmove").pop());
        let failed: Vec<bool> = answers.map(|answer| answer == "bestmove (none)").collect();
        assert_eq!(failed, [false, false, true, true, false, false], "{invalid:.20}");
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

#[test]
fn an_engine_that_does_not_stop_is_abandoned_at_exit() {
    let (stuck, blocked) = mpsc::channel::<()>();
    let mut client = Client::handshake(engine(move |_, _| {
        let _ = blocked.recv();
        Ok(mv("e2e4").into())
    }));
    client.send("go infinite\nisready");
    client.expect("readyok");
    let (rest, served) = client.close();
    assert!(rest.is_empty());
    served.unwrap();
    drop(stuck);
}

#[test]
fn a_broken_output_ends_the_engine_even_in_a_search() {
    let (output, engine_output) = io::pipe().unwrap();
    let (engine_input, mut input) = io::pipe().unwrap();
    drop(output);
    let runner = engine(|_, control| {
        wait_for_stop(control);
        Ok(mv("e2e4").into())
    });
    io::Write::write_all(&mut input, b"go infinite\nisready\n").unwrap();
    let error = runner.run(engine_input, engine_output).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::BrokenPipe);
}

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
    client.expect("info string option `Hash` cannot be 0, at least 1, at most 1024");
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

/// An engine with a custom command that prints its arguments, and panics without any.
struct WithCommand;

impl Engine for WithCommand {
    type Board = NoBoard;
    fn search(&mut self, _: &SearchRequest, control: &Control) -> Answer {
        wait_for_stop(control);
        Ok(mv("e2e4").into())
    }
    fn custom_command(&mut self, line: &str, print: &mut dyn FnMut(&str)) {
        if let Some(rest) = line.strip_prefix("echo") {
            assert!(!rest.is_empty(), "nothing to echo");
            print(rest.trim_start());
        }
    }
}

#[test]
fn an_engine_handles_commands_of_its_own_between_searches() {
    let mut client = Client::handshake(Runner::new("Own", WithCommand));
    client.send("echo one two\nunknown\necho\nisready");
    client.expect("one two");
    client.expect("info string the command panicked: nothing to echo");
    client.expect("readyok");
    client.send(&format!("echo {}\nposition startpos\ngo infinite\necho late", "x".repeat(5000)));
    client.send("stop");
    client.receive_until("bestmove");
    client.send("echo after\nisready");
    client.expect("after");
    client.expect("readyok");
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
    assert_eq!(error.to_string(), "option `Hash` cannot be 0, at least 1, at most 1024");
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

#[test]
fn an_unwritable_line_is_reported_as_a_bug() {
    let mut client = Client::handshake(engine(|_, control| {
        control.info(Info::text("two\nlines"));
        Ok(readyok_engine::Best::Other("two tokens".into()).into())
    }));
    client.send("go depth 1");
    let lines = client.receive_until("bestmove");
    assert!(lines[0].starts_with("info string a bug of this engine: "), "{lines:?}");
    assert!(lines[1].starts_with("info string a bug of this engine: "), "{lines:?}");
    assert_eq!(lines.last().unwrap(), "bestmove (none)");
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

#[test]
fn a_line_of_ten_megabytes_is_rejected_and_the_next_one_is_read() {
    let mut client = Client::handshake(engine(|_, _| Ok(mv("e2e4").into())));
    client.send(&"x".repeat(10_000_000));
    client.expect("info string a line is longer than 1048576 bytes");
    client.send("isready");
    client.expect("readyok");
}
