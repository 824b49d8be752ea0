//! Networks that replace the hand-written evaluation.

use std::io::Write as _;

use tempfile::NamedTempFile;

use crate::client::Client;

/// A network that evaluates every position as 400 centipawns for the side to move.
fn constant(features: u32) -> NamedTempFile {
    let width = 2_u32;
    let weights = (features + 3) * width;
    let mut bytes = b"NARIKIN1".to_vec();
    bytes.extend(features.to_le_bytes());
    bytes.extend(width.to_le_bytes());
    bytes.extend((0..weights).flat_map(|_| 0_i16.to_le_bytes()));
    bytes.extend(64_i16.to_le_bytes());
    let mut file = NamedTempFile::new().expect("a file");
    file.write_all(&bytes).expect("a file");
    file
}

/// Whether the score after one move is that of the network, or slightly less in chess because of the
/// fifty-move rule.
fn is_by_network(client: &mut Client) -> bool {
    let received = client.ask("position startpos\ngo depth 1");
    let reported =
        received.iter().rev().find_map(|line| line.split_once(" score cp ")?.1.split(' ').next());
    let score: i32 = reported.and_then(|score| score.parse().ok()).expect("a score");
    (-400..=-395).contains(&score)
}

const CHESS: u32 = 768;
const SHOGI: u32 = 2344;

#[test]
fn a_network_evaluates_its_game_until_it_is_removed() {
    for (hello, features, game) in [("uci", CHESS, "chess"), ("usi", SHOGI, "shogi")] {
        let file = constant(features);
        let path = file.path().display();
        let mut client = Client::with(hello, &[&format!("EvalFile value {path}")]);
        assert_eq!(client.remarks(), [format!("the network in `{path}` evaluates {game}")]);
        assert!(is_by_network(&mut client), "{game}");
        client.send("setoption name EvalFile value <empty>");
        assert!(client.remarks().is_empty());
        assert!(!is_by_network(&mut client), "{game}");
    }
}

#[test]
fn a_network_is_used_only_in_its_game() {
    let file = constant(SHOGI);
    let mut client = Client::with("uci", &[&format!("EvalFile value {}", file.path().display())]);
    assert!(!is_by_network(&mut client));
    client.send("setoption name UCI_Variant value shogi");
    assert!(is_by_network(&mut client));
}

#[test]
fn an_invalid_network_is_reported_and_ignored() {
    for features in [CHESS, SHOGI, 5] {
        let mut file = constant(features);
        file.write_all(b"one byte too many").expect("a file");
        let path = file.path().display();
        let mut client = Client::with("uci", &[&format!("EvalFile value {path}")]);
        let remarks = client.remarks();
        let start = format!("no network in `{path}`: ");
        assert!(remarks.iter().any(|it| it.starts_with(&start)), "{remarks:?}");
        assert!(client.remarks().is_empty(), "once");
        assert!(!is_by_network(&mut client));
    }
    let mut client = Client::with("usi", &["EvalFile value /nowhere/at/all"]);
    let received = client.ask("position startpos\ngo depth 1");
    let start = "info string no network in `/nowhere/at/all`: ";
    assert!(received.iter().any(|line| line.starts_with(start)), "{received:#?}");
}
