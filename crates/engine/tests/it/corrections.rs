//! Messages of an engine that a client would reject.

use std::collections::VecDeque;

use readyok_engine::{
    Answer, BestMove, Control, Dialect, Engine, Info, Move, MoveList, NoBoard, Options, Runner,
    SearchRequest,
};

use crate::client::{Client, line, mv};

/// Answers with scripted messages.
struct Mistaken<B> {
    script: VecDeque<(Info<'static>, BestMove<'static>)>,
    board: std::marker::PhantomData<fn(B)>,
}

impl<B: readyok_engine::Board + 'static> Engine for Mistaken<B> {
    type Board = B;
    fn search(&mut self, _: &SearchRequest, control: &Control) -> Answer {
        let (info, best) = self.script.pop_front().ok_or("no more searches")?;
        control.info(info);
        Ok(best)
    }
}

fn start<B: readyok_engine::Board + 'static>(
    dialect: Dialect,
    script: impl Into<VecDeque<(Info<'static>, BestMove<'static>)>>,
) -> Client {
    let mut options = Options::new();
    options.chess960();
    let engine = Mistaken::<B> { script: script.into(), board: std::marker::PhantomData };
    let mut client =
        Client::start(Runner::new("Mistaken", engine).options(options).dialects([dialect]));
    client.send(dialect.handshake());
    client.receive_until(dialect.handshake_ok());
    client
}

fn pv(text: &str) -> Info<'static> {
    let moves: MoveList<'static> = text.parse().unwrap();
    Info { depth: Some(1), pv: Some(moves), ..Info::default() }
}

fn best(best: &str, ponder: Option<&str>) -> BestMove<'static> {
    BestMove { ponder: ponder.map(mv), ..mv(best).into() }
}

const CASTLING: &str = "position fen r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1";

/// UCI 2006, move format. The text of a move of `cozy-chess` is `e1h1` in standard chess, too.
#[test]
fn castling_is_sent_in_the_notation_of_the_client() {
    let script = || [(pv("e1h1 e8a8 h1h2"), best("e1h1", Some("e8a8")))];
    let mut client = start::<cozy_chess::Board>(Dialect::Uci, script());
    client.send(&format!("{CASTLING}\ngo depth 1"));
    client.expect("info string a bug of this engine: castling `e1h1` is sent as `e1g1`");
    // `h1h2` is not legal, and stays.
    client.expect("info depth 1 pv e1g1 e8c8 h1h2");
    client.expect("bestmove e1g1 ponder e8c8");

    let mut client = start::<cozy_chess::Board>(Dialect::Uci, script());
    client.send(&format!("setoption name UCI_Chess960 value true\n{CASTLING}\ngo depth 1"));
    client.expect("info depth 1 pv e1h1 e8a8 h1h2");
    client.expect("bestmove e1h1 ponder e8a8");

    let currmove = Info { currmove: Some(mv("e1g1")), ..pv("e1g1 e8c8") };
    let script = [(currmove, best("e1g1", Some("e8c8")))];
    let mut client = start::<cozy_chess::Board>(Dialect::Uci, script);
    client.send(&format!("setoption name UCI_Chess960 value true\n{CASTLING}\ngo depth 1"));
    client.expect("info string a bug of this engine: castling `e1g1` is sent as `e1h1`");
    client.expect("info depth 1 pv e1h1 e8a8");
    client.expect("bestmove e1h1 ponder e8a8");
}

#[test]
fn moves_that_only_look_like_castling_are_unchanged() {
    let script = [(pv("e1h1 a8a7"), best("e1h1", Some("a8a7")))];
    let mut client = start::<cozy_chess::Board>(Dialect::Uci, script);
    client.send("position fen k7/8/8/8/8/8/6K1/4R3 w - - 0 1\ngo depth 1");
    client.expect("info depth 1 pv e1h1 a8a7");
    client.expect("bestmove e1h1 ponder a8a7");
}

#[test]
fn impossible_ponder_moves_are_omitted_and_reported_once() {
    let repeated = || (pv("e2e4"), best("e2e4", Some("e2e4")));
    let script = [repeated(), (pv("e2e4"), best("e2e4", Some("d2d4")))];
    let mut client = start::<cozy_chess::Board>(Dialect::Uci, script);
    client.send("position startpos\ngo depth 1");
    client.expect("info depth 1 pv e2e4");
    client.expect(
        "info string a bug of this engine: the ponder move `e2e4` is impossible after `e2e4` and is omitted",
    );
    client.expect("bestmove e2e4");
    client.send("go depth 1");
    client.expect("info depth 1 pv e2e4");
    client.expect("bestmove e2e4");

    // A repeated move and one of the other protocol are impossible without a board, too.
    let other = (pv("e2e4"), best("e2e4", Some("7g7f")));
    let possible = (pv("e2e4"), best("e2e4", Some("e7e5")));
    let mut client = start::<NoBoard>(Dialect::Uci, [repeated(), other, possible]);
    for expected in ["bestmove e2e4", "bestmove e2e4", "bestmove e2e4 ponder e7e5"] {
        client.send("go depth 1");
        assert_eq!(client.receive_until("bestmove").last().unwrap(), expected);
    }
}

/// UCI 2006, info seldepth: `depth` is in the same line.
#[test]
fn seldepth_without_depth_is_omitted_and_reported_once() {
    let info = || Info { seldepth: Some(5), nodes: Some(7), ..Info::default() };
    let bare = Info { seldepth: Some(5), ..Info::default() };
    let script = [info(), bare, Info { depth: Some(4), ..info() }];
    let script: VecDeque<_> = script.map(|info| (info, best("e2e4", None))).into();
    let mut client = start::<NoBoard>(Dialect::Uci, script);
    let mut answer = || {
        client.send("go depth 1");
        client.receive_until("bestmove")
    };
    let message = "info string a bug of this engine: `seldepth` without `depth` is omitted";
    assert_eq!(answer()[..2], [message, "info nodes 7"]);
    assert!(!answer().iter().any(|line| line.contains("seldepth")));
    assert_eq!(answer()[0], "info depth 4 seldepth 5 nodes 7");
}

/// An illegal move would lose the game.
#[test]
fn illegal_moves_are_replaced_and_reported() {
    let script = [(pv("d2d4"), best("e2e5", Some("e7e5"))), (pv("d2d5"), best("0000", None))];
    let mut client = start::<cozy_chess::Board>(Dialect::Uci, script);
    client.send("position startpos\ngo depth 1");
    client.expect("info depth 1 pv d2d4");
    let report = client.receive();
    assert!(report.contains("a bug of this engine: `bestmove e2e5` is replaced: "), "{report}");
    client.expect("bestmove d2d4");
    client.send("go depth 1");
    client.expect("info depth 1 pv d2d5");
    let report = client.receive();
    assert!(report.contains("a bug of this engine: `bestmove 0000` is replaced: "), "{report}");
    let answer = client.receive();
    let legal = answer.strip_prefix("bestmove ").and_then(|mv| mv.parse::<Move>().ok());
    assert!(legal.is_some_and(|mv| mv != Move::NULL), "{answer}");

    // In a position that the board rejects nothing is checked.
    let mut client = start::<cozy_chess::Board>(Dialect::Uci, [(pv("a1a2"), best("a1a2", None))]);
    client.send("position fen 8/8/8/8/8/8/8/8 w - - 0 1\ngo depth 1");
    client.expect("info depth 1 pv a1a2");
    client.expect("bestmove a1a2");

    // A move of the other protocol cannot be written.
    let script = [(Info { pv: Some(line("7g7f")), ..pv("7g7f") }, best("e2e4", None))];
    let mut client = start::<rsshogi::board::Position>(Dialect::Usi, script);
    client.send("position startpos\ngo nodes 1");
    client.expect("info depth 1 pv 7g7f");
    assert!(client.receive().contains("`bestmove e2e4` is replaced: "));
    client.expect("bestmove 7g7f");
}
