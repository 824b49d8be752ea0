//! The environment can disable parts of the search.

use std::process::{Command, Output};

fn bench(game: &str, without: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_narikin"));
    command.args(["bench", game]).env("NARIKIN_WITHOUT", without);
    command.output().expect("the engine starts")
}

fn nodes(game: &str, without: &str) -> String {
    let output = String::from_utf8(bench(game, without).stdout).expect("text");
    let nodes = output.lines().find_map(|line| line.strip_prefix("Nodes searched"));
    nodes.expect("a number of nodes").to_owned()
}

#[test]
fn disables_a_named_part() {
    let all = nodes("chess", "");
    for without in ["null-move", "tt-cutoff", "killers,malus"] {
        assert_ne!(nodes("chess", without), all, "{without}");
    }
    assert_ne!(nodes("shogi", "qsearch-checks"), nodes("shogi", ""));
}

#[test]
fn rejects_an_unknown_name() {
    let output = bench("chess", "null-move,luck");
    assert!(!output.status.success() && output.stdout.is_empty());
    assert!(String::from_utf8_lossy(&output.stderr).contains("luck"));
}
