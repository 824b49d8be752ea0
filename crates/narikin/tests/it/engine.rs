//! The engine's replies to clients.

use crate::client::Client;

/// Sends lines, and returns all output up to the first `bestmove`.
fn answer(lines: &str) -> Vec<String> {
    let (hello, rest) = lines.split_once('\n').expect("a handshake");
    Client::handshake(hello).ask(rest)
}

#[track_caller]
fn check_best(lines: &str, expected: &str) {
    let sent = answer(lines);
    let best = sent.last().map(|line| line.split(" ponder ").next().unwrap_or_default());
    assert_eq!(best, Some(expected), "{sent:#?}");
}

#[test]
fn mates_in_both_protocols() {
    check_best("uci\nposition fen 6k1/5ppp/8/8/8/8/8/R6K w - - 0 1\ngo mate 1\n", "bestmove a1a8");
    check_best("usi\nposition sfen 4k4/9/4P4/9/9/9/9/9/4K4 b G\ngo depth 3\n", "bestmove G*5b");
}

#[test]
fn without_a_legal_move_sends_the_token_of_the_protocol() {
    let mated = answer("uci\nposition fen 7k/6Q1/5K2/8/8/8/8/8 b - - 0 1\ngo depth 3\n");
    let last_two = mated.get(mated.len() - 2..).expect("two lines");
    assert_eq!(last_two, ["info depth 0 score mate 0", "bestmove (none)"]);
    // Shogi GUIs interpret a zero without a sign as a win.
    let mated = answer("usi\nposition sfen 4k4/4G4/4P4/9/9/9/9/9/4K4 w -\ngo depth 3\n");
    let last_two = mated.get(mated.len() - 2..).expect("two lines");
    assert_eq!(last_two, ["info depth 0 score mate -0", "bestmove resign"]);
}

#[test]
fn castles_in_the_requested_form() {
    let castle = |option: &str| {
        format!(
            "uci\n{option}position fen 4k3/8/8/8/8/8/8/4K2R w K - 0 1\ngo depth 1 searchmoves e1g1\n"
        )
    };
    check_best(&castle(""), "bestmove e1g1");
    check_best(&castle("setoption name UCI_Chess960 value true\n"), "bestmove e1h1");
}

#[test]
fn declares_a_win_by_entering_king() {
    let entered = "K8/+R+R+B+B+P+P+P+P+P/+P+P+P+P5/9/9/9/9/9/4k4 b GGGGSSSSNNNNLLLL";
    check_best(&format!("usi\nposition sfen {entered}\ngo depth 1\n"), "bestmove win");
}

#[test]
fn reports_the_requested_number_of_lines() {
    let sent = answer("uci\nsetoption name MultiPV value 3\nposition startpos\ngo depth 2\n");
    for rank in 1..=3 {
        let start = format!("multipv {rank} ");
        let lines = sent.iter().filter(|line| line.contains(&start)).count();
        assert_eq!(lines, 2, "one for each depth: {sent:#?}");
    }
}

#[test]
fn reports_an_illegal_move_in_the_position_and_continues() {
    let sent = answer("uci\nposition startpos moves e2e5\ngo depth 2\n");
    let text = "info string the search failed: move 1: illegal move `e2e5`: the piece cannot reach the target square";
    assert!(sent.contains(&text.to_owned()), "{sent:#?}");
    assert_eq!(sent.last().map(String::as_str), Some("bestmove (none)"));
}

#[test]
fn each_protocol_has_its_options() {
    let declares = |hello: &str, option: &str| {
        answer(&format!("{hello}\nposition startpos\ngo depth 1\n"))
            .iter()
            .any(|line| line.starts_with(&format!("option name {option} ")))
    };
    assert!(declares("uci", "Hash") && declares("uci", "UCI_Chess960"));
    assert!(declares("usi", "USI_Hash") && declares("usi", "Clear_Hash"));
    assert!(!declares("usi", "USI_Chess960"));
}
