//! The commands `d`, `eval` and `go perft`, as programs for Stockfish parse their output.

use crate::client::Client;

fn shown(hello: &str, position: &str) -> Vec<String> {
    let mut client = Client::with(hello, &[]);
    client.send(&format!("position {position}\nd"));
    client.receive_until("Checkers")
}

#[test]
fn d_shows_the_board_the_position_and_checks() {
    let fen = "rnb1kbnr/pppp1ppp/8/4p3/6Pq/5P2/PPPPP2P/RNBQKBNR w KQkq - 1 3";
    let lines = shown("uci", &format!("fen {fen}"));
    assert_eq!(lines.iter().filter(|line| line.contains(['+', '|'])).count(), 17, "{lines:#?}");
    assert!(lines.contains(&" |   |   |   |   |   |   | P | q | 4".to_owned()), "{lines:#?}");
    assert!(lines.contains(&"   a   b   c   d   e   f   g   h".to_owned()), "{lines:#?}");
    assert!(lines.contains(&format!("Fen: {fen}")), "{lines:#?}");
    assert_eq!(lines.last().map(String::as_str), Some("Checkers: h4 "));
    let lines = shown("usi", "startpos moves 7g7f");
    assert!(lines.contains(&" |    |    |  P |    |    |    |    |    |    | f".to_owned()));
    let sfen = "lnsgkgsnl/1r5b1/ppppppppp/9/9/2P6/PP1PPPPPP/1B5R1/LNSGKGSNL w - 2";
    assert!(lines.contains(&format!("Sfen: {sfen}")), "{lines:#?}");
}

#[test]
fn eval_is_from_the_view_of_the_first_player() {
    let mut client = Client::with("uci", &[]);
    let mut eval = |position: &str| {
        client.send(&format!("position {position}\neval"));
        let lines = client.receive_until("Final evaluation");
        if !lines.last().is_some_and(|line| line.ends_with("(in check)")) {
            assert_eq!(client.receive(), "");
        }
        lines.last().cloned().unwrap_or_default()
    };
    for turn in ["w", "b"] {
        let line = eval(&format!("fen 4k3/8/8/8/8/8/PPPP4/QQ2K3 {turn} - - 0 1"));
        let fields: Vec<&str> = line.split_whitespace().collect();
        let ["Final", "evaluation", value, "(white", "side)"] = fields.as_slice() else {
            panic!("{line}");
        };
        assert!(value.starts_with('+'), "{line}");
    }
    let checked = eval("fen 3k4/8/8/8/8/8/8/3QK3 b - - 0 1");
    assert_eq!(checked, "Final evaluation: none (in check)");
}

#[test]
fn go_perft_counts_the_leaves_of_each_move() {
    let mut client = Client::with("uci", &[]);
    client.send("position startpos moves e2e4\ngo perft 3");
    let lines = client.receive_until("Nodes searched");
    assert!(lines.contains(&"e7e5: 835".to_owned()), "{lines:#?}");
    assert_eq!(lines.last().map(String::as_str), Some("Nodes searched: 13160"));
    assert_eq!(client.receive(), "");
    let mut client = Client::with("uci", &["UCI_Chess960 value true"]);
    client.send("position fen 4k3/8/8/8/8/8/8/R3K2R w AH - 0 1\ngo perft 1");
    let lines = client.receive_until("Nodes searched");
    assert!(lines.contains(&"e1h1: 1".to_owned()), "{lines:#?}");
    assert_eq!(lines.last().map(String::as_str), Some("Nodes searched: 26"));
    let mut client = Client::with("usi", &[]);
    client.send("position startpos\ngo perft 2");
    let lines = client.receive_until("Nodes searched");
    assert_eq!(lines.last().map(String::as_str), Some("Nodes searched: 900"));
}

#[test]
fn an_invalid_position_is_not_shown() {
    let mut client = Client::with("uci", &[]);
    for command in ["d", "eval", "go perft 2"] {
        client.send(&format!("position fen foo\n{command}"));
        client.receive_until("info string there is no valid position");
    }
}
