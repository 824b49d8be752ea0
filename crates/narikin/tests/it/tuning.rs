//! Builds for tuning have options for constants of the search.

use std::io::Write;
use std::process::{Command, Stdio};

/// The number of nodes of the benchmark after a `setoption`.
fn nodes(game: &str, option: &str) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_narikin"));
    let mut engine = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("starts");
    let mut input = engine.stdin.take().expect("an input");
    let bench = format!("uci\n{option}\nbench {game} 16 1 7\nquit\n");
    input.write_all(bench.as_bytes()).expect("reads");
    drop(input);
    let output = engine.wait_with_output().expect("exits");
    let text = String::from_utf8(output.stdout).expect("text");
    let nodes = text.lines().find_map(|line| line.strip_prefix("Nodes searched"));
    nodes.unwrap_or_else(|| panic!("a number of nodes: {text}")).to_owned()
}

#[test]
fn an_option_changes_the_search_of_its_game() {
    let chess = nodes("chess", "");
    assert_ne!(nodes("chess", "setoption name ChessReduction value 200"), chess);
    assert_eq!(nodes("chess", "setoption name ShogiReduction value 200"), chess);
    assert_eq!(nodes("chess", "setoption name ChessReduction value 80"), chess);
    let shogi = nodes("shogi", "");
    assert_ne!(nodes("shogi", "setoption name ShogiFutility value 400"), shogi);
}
