//! Searches with several limits: the first one that is reached ends them.

use crate::client::Client;

/// A limit of `go`, and whether it ends a search by itself.
const UCI: [(&str, bool); 8] = [
    ("depth 3", true),
    ("nodes 3000", true),
    ("movetime 60", true),
    ("mate 2", true),
    ("wtime 2000 btime 2000 winc 10 binc 10", true),
    ("movestogo 5", true),
    ("infinite", false),
    ("ponder", false),
];

const USI: [(&str, bool); 7] = [
    ("depth 3", true),
    ("nodes 3000", true),
    ("movetime 60", true),
    ("btime 2000 wtime 2000 byoyomi 100", true),
    ("byoyomi 60", true),
    ("infinite", false),
    ("ponder", false),
];

#[track_caller]
fn check_pairs(hello: &str, limits: &[(&str, bool)], named: [&str; 2]) {
    let mut client = Client::with(hello, &["MultiPV value 2"]);
    client.send("position startpos");
    for (index, &(first, first_ends)) in limits.iter().enumerate() {
        for &(second, second_ends) in limits.iter().skip(index) {
            for moves in ["", "searchmoves"] {
                let named = if moves.is_empty() { String::new() } else { named.join(" ") };
                let go = format!("go {first} {second} {moves} {named}");
                client.send(&go);
                // Infinite and ponder searches are ended by a command.
                if !(first_ends && second_ends) {
                    client.send("isready");
                    client.receive_until("readyok");
                    if go.contains("ponder") && !go.contains("infinite") {
                        client.send("ponderhit");
                    }
                    client.send("stop");
                }
                // `movestogo` alone does not limit a search.
                if [first, second].iter().all(|text| *text == "movestogo 5") {
                    client.send("stop");
                }
                let received = client.receive_until("bestmove");
                let best = received.last().and_then(|line| line.split(' ').nth(1));
                let best = best.unwrap_or_else(|| panic!("{go}: {received:#?}"));
                assert!(best != "(none)" && best != "resign", "{go}: {received:#?}");
                assert!(named.is_empty() || named.split(' ').any(|mv| mv == best), "{go}: {best}");
            }
        }
    }
    // No further output follows.
    client.send("isready");
    assert_eq!(client.receive(), "readyok");
}

#[test]
fn every_pair_of_limits_of_uci_ends_in_one_move() {
    check_pairs("uci", &UCI, ["e2e4", "g1f3"]);
}

#[test]
fn every_pair_of_limits_of_usi_ends_in_one_move() {
    check_pairs("usi", &USI, ["7g7f", "2g2f"]);
}

/// A mate in seven plies.
const MATE: &str = "position sfen 9/9/9/3k5/9/3P5/9/9/4K4 b 4G2r2b4s4n4l17p 1";

#[test]
fn every_mate_search_with_other_limits_ends_in_one_reply() {
    let mut client = Client::with("usi", &[]);
    client.send(MATE);
    for mate in ["mate infinite", "mate 60000"] {
        for (other, too_little) in [
            ("", false),
            ("nodes 2", true),
            ("nodes 100000000", false),
            ("depth 3", true),
            ("depth 7", false),
            ("depth 4000000000", false),
            ("depth 7 nodes 2", true),
            ("depth 3 nodes 100000000", true),
        ] {
            for (moves, mates) in [
                ("", true),
                ("searchmoves G*6e", true),
                ("searchmoves 5i5h G*6e", true),
                ("searchmoves 5i5h", false),
                ("searchmoves 5i5h G*6c", false),
            ] {
                let go = format!("go {mate} {other} {moves}");
                client.send(&go);
                let received = client.receive_until("checkmate");
                let answer = received.last().map(String::as_str).unwrap_or_default();
                if mates && !too_little {
                    assert!(answer.starts_with("checkmate G*6e "), "{go}: {answer}");
                    assert_eq!(answer.split(' ').count(), 8, "{go}: {answer}");
                } else if mates || other.contains("depth") {
                    // A depth limit cannot prove that a mate does not exist.
                    assert_eq!(answer, "checkmate timeout", "{go}");
                } else if !too_little || moves == "searchmoves 5i5h" {
                    assert_eq!(answer, "checkmate nomate", "{go}");
                }
            }
        }
    }
    // No further output follows.
    client.send("isready");
    assert_eq!(client.receive(), "readyok");
}

#[test]
fn the_smaller_limit_ends_the_search() {
    let mut client = Client::with("uci", &[]);
    client.send("position startpos");
    let deepest = |received: &[String]| -> Option<u32> {
        let depths =
            received.iter().filter_map(|line| line.strip_prefix("info depth ")?.split(' ').next());
        depths.filter_map(|depth| depth.parse().ok()).max()
    };
    assert_eq!(deepest(&client.ask("go depth 2 nodes 100000000")), Some(2));
    assert_eq!(deepest(&client.ask("go depth 2 movetime 600000")), Some(2));
    assert_eq!(deepest(&client.ask("go depth 2 wtime 600000 btime 600000")), Some(2));
    client.ask("go depth 99 nodes 1000");
    client.ask("go nodes 1000 movetime 600000");
    client.send("position fen 6k1/5ppp/8/8/8/8/8/R6K w - - 0 1");
    let mated = client.ask("go mate 1 depth 90 nodes 100000000 movetime 600000");
    assert!(mated.iter().any(|line| line.contains("score mate 1")), "{mated:#?}");
}

#[test]
fn a_game_that_ends_while_pondering_ends_the_search() {
    let mut client = Client::with("usi", &[]);
    client.send("usinewgame\nposition startpos moves 7g7f");
    for over in ["gameover draw", "gameover win", "gameover lose"] {
        client.send("go ponder btime 60000 wtime 60000 byoyomi 1000");
        client.send(over);
        client.receive_until("bestmove");
    }
    client.send("isready");
    assert_eq!(client.receive_until("readyok").last().map(String::as_str), Some("readyok"));
}
