//! The `bench` command in both protocols.

use narikin::Bench;
use readyok_rules::Game;

use crate::client::Client;
use crate::embedded_network;

/// The lines of a benchmark, up to the last one.
fn bench(client: &mut Client, line: &str) -> Vec<String> {
    client.send(line);
    client.receive_until("Nodes/second")
}

#[test]
fn bench_runs_in_both_protocols() {
    for hello in ["uci", "usi"] {
        let mut client = Client::with(hello, &[]);
        let lines = bench(&mut client, "bench 1 1 3 default depth");
        let [evaluation, time, nodes, speed] = lines.as_slice() else { panic!("{lines:?}") };
        let network = embedded_network(Game::Chess);
        assert_eq!(*evaluation, format!("Evaluation      : network {network}"));
        assert!(time.starts_with("Total time (ms) : "), "{time}");
        assert!(speed.starts_with("Nodes/second    : "), "{speed}");
        let expected = Bench::parse(["1", "1", "3"]).and_then(|bench| bench.run());
        let expected = expected.expect("a result").nodes;
        assert_eq!(*nodes, format!("Nodes searched  : {expected}"));
        // The engine still searches afterwards.
        client.send("isready");
        client.receive_until("readyok");
        assert!(client.ask("position startpos\ngo depth 1").last().is_some());
    }
}

#[test]
fn nodes_are_exact_and_a_file_replaces_the_positions() {
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("positions.epd");
    let text = "# a comment\n8/8/8/8/3k4/8/8/KQ6 w - - 0 1\n\n8/8/8/8/3k4/8/8/KR6 w - -\n";
    std::fs::write(&file, text).expect("written");
    let path = file.to_str().expect("UTF-8");
    let nodes = |arguments: &[&str]| {
        let bench = Bench::parse(arguments.iter().copied()).expect("valid arguments");
        bench.run().map(|result| result.nodes).map_err(|error| error.to_string())
    };
    assert_eq!(nodes(&["1", "1", "500", path, "nodes"]), Ok(1000));
    assert_eq!(nodes(&["1", "1", "1", path, "perft"]), Ok(22 + 15));
    assert_eq!(nodes(&["shogi", "1", "1", "100", "default", "nodes"]), Ok(600));
    std::fs::write(&file, "8/8/8/8/3k4/8/8/KQ6 w - - 0 1\nno position\n").expect("written");
    let error = nodes(&["1", "1", "1", path]).expect_err("no position");
    assert!(error.ends_with("line 2: invalid position"), "{error}");
    std::fs::write(&file, "\n").expect("written");
    assert!(nodes(&["1", "1", "1", path]).is_err_and(|error| error.ends_with("has no positions")));
}

#[test]
fn reports_invalid_arguments() {
    let mut client = Client::with("uci", &[]);
    client.send("bench 16 1 11 default forever");
    let expected = "info string bench: invalid limit type `forever`";
    assert_eq!(
        client.receive_until("info string bench").last().map(String::as_str),
        Some(expected)
    );
}
