//! Invalid positions get no move of another position, and the error is reported.

use crate::client::Client;

/// For each protocol: a valid position, the reply without a move, and invalid positions: no text, an
/// incomplete one, an illegal position, an illegal move, and a token that is not a move.
const PROTOCOLS: [(&str, &str, &str, [&str; 5]); 2] = [
    (
        "uci",
        "position startpos moves e2e4",
        "bestmove (none)",
        [
            "position",
            "position fen rnbqkbnr/pppppppp/8/8 w KQkq - 0 1",
            "position fen 8/8/8/8/8/8/8/4K3 w - - 0 1",
            "position startpos moves e2e4 e2e4",
            "position startpos moves e2e4 what d2d4",
        ],
    ),
    (
        "usi",
        "position startpos moves 7g7f",
        "bestmove resign",
        [
            "position",
            "position sfen lnsgkgsnl/1r5b1/ppppppppp w - 1",
            "position sfen 4k4/9/9/9/9/9/9/9/9/9 b - 1",
            "position startpos moves 7g7f 7g7f",
            "position startpos moves 7g7f what 2g2f",
        ],
    ),
];

fn reports_the_error(received: &[String]) -> bool {
    received.iter().any(|line| line.starts_with("info string the search failed: "))
}

#[test]
fn after_an_invalid_position_nothing_is_searched() {
    for (hello, good, none, broken) in PROTOCOLS {
        let mut client = Client::with(hello, &[]);
        for bad in broken {
            for go in ["go depth 2", "go movetime 60000", "go depth 1"] {
                client.send(good);
                let received = client.ask(&format!("{bad}\n{go}"));
                assert_eq!(received.last().map(String::as_str), Some(none), "{bad}: {received:#?}");
                assert!(reports_the_error(&received), "{bad}: {received:#?}");
            }
            // Searches have no move until a valid position follows.
            let received = client.ask("go depth 2");
            assert!(
                reports_the_error(&received) && received.last().is_some_and(|line| line == none),
                "{received:#?}"
            );
            let received = client.ask(&format!("{good}\ngo depth 2"));
            assert!(!reports_the_error(&received), "{received:#?}");
            assert_ne!(received.last().map(String::as_str), Some(none), "{bad}");
        }
    }
}

#[test]
fn the_reply_without_a_position_waits_for_stop() {
    for (hello, good, none, broken) in PROTOCOLS {
        let mut client = Client::with(hello, &[]);
        for bad in broken {
            for (go, release) in [("go infinite", "stop"), ("go ponder", "ponderhit")] {
                client.send(&format!("{good}\n{bad}\n{go}"));
                client.receive_up_to(|line| line.starts_with("info string the search failed"));
                client.send("isready");
                let early = client.receive_until("readyok");
                assert!(!early.iter().any(|line| line.starts_with("bestmove")), "{early:#?}");
                assert_eq!(client.ask(release).last().map(String::as_str), Some(none), "{bad}");
            }
        }
    }
}

/// Commands during a search take effect after it, in order.
#[test]
fn only_searches_after_an_invalid_position_have_no_move() {
    for (hello, good, none, broken) in PROTOCOLS {
        let mut client = Client::with(hello, &[]);
        for bad in broken {
            client.send(&format!("{good}\ngo infinite\n{bad}\ngo depth 1\n{good}\ngo depth 1"));
            let answers: Vec<bool> = (0..3)
                .map(|_| client.receive_until("bestmove").last().is_some_and(|line| line == none))
                .collect();
            assert_eq!(answers, [false, true, false], "{bad}");
        }
    }
}

#[test]
fn a_mate_search_without_a_position_finds_no_mate() {
    let [_, (hello, good, _, broken)] = PROTOCOLS;
    let mut client = Client::with(hello, &[]);
    for bad in broken {
        client.send(&format!("{good}\n{bad}\ngo mate 60000"));
        let received = client.receive_until("checkmate");
        assert!(reports_the_error(&received), "{received:#?}");
        assert_eq!(received.last().map(String::as_str), Some("checkmate timeout"), "{bad}");
    }
}
