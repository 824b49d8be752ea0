//! Panics, failed searches, invalid positions, broken input and output.

use std::io;
use std::marker::PhantomData;
use std::sync::mpsc;

use readyok_engine::{
    Answer, Board, Checkmate, Control, Dialect, Engine, Failure, Info, Move, NoBoard, Runner,
    SearchRequest,
};

use crate::client::{Client, engine, line, mv, wait_for_stop};

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
fn a_line_of_ten_megabytes_is_rejected_and_the_next_one_is_read() {
    let mut client = Client::handshake(engine(|_, _| Ok(mv("e2e4").into())));
    client.send(&"x".repeat(10_000_000));
    client.expect("info string a line is longer than 1048576 bytes");
    client.send("isready");
    client.expect("readyok");
}
