//! Networks from files.

use std::io::Write as _;

use narikin::network::{
    Activation, Architecture, Network, NetworkInfo, OUTPUT_BUCKETS, Quantization, Weights,
};
use readyok_rules::Game;
use tempfile::NamedTempFile;

use crate::client::Client;
use crate::embedded_network;

/// A network that evaluates every position as 400 centipawns for the side to move.
fn constant(game: Game) -> Network {
    let architecture = Architecture::new(game, 32, Activation::ClippedRelu).expect("valid");
    let hidden = architecture.hidden();
    let one = Quantization::DEFAULT.output_bias_one();
    let weights = Weights {
        hidden: vec![0; architecture.inputs() * hidden],
        hidden_biases: vec![0; hidden],
        output: vec![0; OUTPUT_BUCKETS * 2 * hidden],
        output_biases: vec![one; OUTPUT_BUCKETS],
    };
    let info =
        NetworkInfo { name: "constant-1".into(), commit: "unknown".into(), data: Vec::new() };
    Network::new(architecture, Quantization::DEFAULT, info, &weights).expect("valid")
}

fn file(bytes: &[u8]) -> NamedTempFile {
    let mut file = NamedTempFile::new().expect("a file");
    file.write_all(bytes).expect("a file");
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

#[test]
fn a_network_evaluates_its_game_until_it_is_removed() {
    for (hello, game, name) in [("uci", Game::Chess, "chess"), ("usi", Game::Shogi, "shogi")] {
        let file = file(&constant(game).write());
        let mut client =
            Client::with(hello, &[&format!("EvalFile value {}", file.path().display())]);
        assert_eq!(client.all_remarks(), [format!("evaluation of {name}: network constant-1")]);
        assert!(is_by_network(&mut client), "{name}");
        client.send("setoption name EvalFile value <empty>");
        let embedded = format!("evaluation of {name}: network {}", embedded_network(game));
        assert_eq!(client.all_remarks(), [embedded]);
        assert!(!is_by_network(&mut client), "{name}");
    }
}

#[test]
fn the_evaluation_is_reported_at_the_start() {
    for (hello, name) in [("uci", "chess"), ("usi", "shogi")] {
        let mut client = Client::with(hello, &[]);
        let remarks = client.all_remarks();
        let start = format!("evaluation of {name}: ");
        assert!(matches!(remarks.as_slice(), [remark] if remark.starts_with(&start)));
        assert!(client.all_remarks().is_empty(), "once");
    }
}

#[test]
fn a_network_is_used_only_in_its_game() {
    let file = file(&constant(Game::Shogi).write());
    let path = file.path().display();
    let mut client = Client::with("uci", &[&format!("EvalFile value {path}")]);
    let remark = format!("the network constant-1 in `{path}` evaluates shogi");
    assert_eq!(client.remarks(), [remark]);
    assert!(!is_by_network(&mut client));
    client.send("setoption name UCI_Variant value shogi");
    assert!(is_by_network(&mut client));
}

#[test]
fn bench_uses_the_network() {
    let file = file(&constant(Game::Shogi).write());
    let mut client = Client::with("usi", &[&format!("EvalFile value {}", file.path().display())]);
    for (game, name) in
        [("shogi", "constant-1".to_owned()), ("chess", embedded_network(Game::Chess))]
    {
        client.send(&format!("bench {game} 1 1 2"));
        let lines = client.receive_until("Nodes/second");
        assert!(lines.contains(&format!("Evaluation      : network {name}")), "{lines:?}");
    }
}

#[test]
fn an_invalid_network_is_reported_and_ignored() {
    let mut long = constant(Game::Chess).write();
    long.push(0);
    for (bytes, reason) in [
        (long.as_slice(), "its hash does not match its content"),
        (b"NARIKIN1", "its format `NARIKIN1` is no longer supported"),
        (b"", "it does not begin with `NARIKIN2`"),
    ] {
        let file = file(bytes);
        let path = file.path().display();
        let mut client = Client::with("uci", &[&format!("EvalFile value {path}")]);
        let remarks = client.remarks();
        let start = format!("no network in `{path}`: {reason}");
        assert!(remarks.iter().any(|remark| remark.starts_with(&start)), "{remarks:?}");
        assert!(client.remarks().is_empty(), "once");
        assert!(!is_by_network(&mut client));
    }
    let mut client = Client::with("usi", &["EvalFile value /nowhere/at/all"]);
    let received = client.ask("position startpos\ngo depth 1");
    let start = "info string no network in `/nowhere/at/all`: ";
    assert!(received.iter().any(|line| line.starts_with(start)), "{received:#?}");
}
