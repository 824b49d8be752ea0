//! `go mate` of USI.

use std::thread;
use std::time::Duration;

use crate::client::Client;

/// The reply to `go mate` in a position.
fn answer(sfen: &str, go: &str) -> String {
    let mut client = Client::with("usi", &[]);
    client.send(&format!("position sfen {sfen}\n{go}"));
    client.receive_until("checkmate").pop().expect("an answer")
}

#[test]
fn reports_a_mate_with_all_moves() {
    let answered = answer("4k4/9/4P4/9/9/9/9/9/9 b G 1", "go mate infinite");
    assert_eq!(answered, "checkmate G*5b");
    let answered = answer("9/4k4/9/4P4/9/9/9/9/9 b 2G 1", "go mate 60000");
    assert_eq!(answered.split(' ').count(), 4, "the shortest is of three plies: {answered}");
}

#[test]
fn reports_a_position_without_mate() {
    assert_eq!(answer("4k4/9/9/9/9/9/9/9/4K4 b P 1", "go mate infinite"), "checkmate nomate");
    assert_eq!(answer("4k4/9/9/9/9/9/9/9/4K4 b P 1", "go mate 9000 infinite"), "checkmate nomate");
}

#[test]
fn reports_nodes_without_a_mate() {
    let mut client = Client::with("usi", &[]);
    for (sfen, limit) in [
        ("4k4/9/9/9/9/9/9/9/4K4 b P 1", "infinite"),
        ("4k4/9/3+R5/9/9/9/9/9/4K4 b 4P 1", "infinite nodes 1000"),
    ] {
        client.send(&format!("position sfen {sfen}\ngo mate {limit}"));
        let received = client.receive_until("checkmate");
        assert!(received.iter().any(|line| line.contains(" nodes ")), "{received:#?}");
    }
}

#[test]
fn reports_the_progress_of_a_long_search() {
    let mut client = Client::with("usi", &[]);
    let hard = "position sfen 9/9/9/9/4k4/9/9/9/4K4 b RB2G2S2N2L5Pr 1";
    client.send(&format!("{hard}\ngo mate infinite"));
    client.receive_up_to(|line| line.starts_with("info nodes "));
    client.send("stop");
    client.receive_until("checkmate");
}

#[test]
fn stops_at_the_time_limit() {
    // Endless checks on an open board.
    let position = "4k4/9/3+R5/9/9/9/9/9/4K4 b 4P 1";
    assert_eq!(answer(position, "go mate 1"), "checkmate timeout");
}

#[test]
fn an_answer_found_while_pondering_waits_for_the_ponder_hit() {
    let mut client = Client::with("usi", &[]);
    for (sfen, answer) in [
        ("4k4/9/4P4/9/9/9/9/9/9 b G 1", "checkmate G*5b"),
        ("4k4/9/9/9/9/9/9/9/4K4 b P 1", "checkmate nomate"),
    ] {
        for release in ["ponderhit", "stop"] {
            client.send(&format!("position sfen {sfen}\ngo ponder mate 60000"));
            client.receive_up_to(|line| line.starts_with("info") && line.contains(" nodes "));
            // Enough time for a premature reply.
            thread::sleep(Duration::from_millis(50));
            client.send("isready");
            let early = client.receive_until("readyok");
            assert!(!early.iter().any(|line| line.starts_with("checkmate")), "{early:#?}");
            client.send(release);
            assert_eq!(client.receive_until("checkmate").last().map(String::as_str), Some(answer));
        }
    }
    // A stopped search does not delay the next one.
    client.send("position sfen 4k4/9/4P4/9/9/9/9/9/9 b G 1\ngo ponder mate infinite");
    client.receive_up_to(|line| line.contains(" nodes "));
    client.send("go mate 60000");
    for _ in 0..2 {
        client.receive_until("checkmate");
    }
}
