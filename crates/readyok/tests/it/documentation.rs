//! `--version`, `help`, `completions` and man pages.

use std::fs;
use std::process::Command;

use crate::program::{Dir, readyok, run};

#[test]
fn version_names_the_evaluations() {
    let dir = Dir::new();
    let output = run(readyok(&dir).arg("--version"), b"");
    let lines: Vec<_> = output.text().lines().collect();
    assert!(lines[0].starts_with(concat!("readyok ", env!("CARGO_PKG_VERSION"))), "{lines:?}");
    assert!(lines[1].starts_with("Narikin, evaluation of chess: "), "{lines:?}");
    assert!(lines[2].starts_with("Narikin, evaluation of shogi: "), "{lines:?}");
    assert_eq!(output.code(), Some(0));
}

#[test]
fn help_prints_topics_and_rejects_unknown_ones() {
    let dir = Dir::new();
    let output = run(readyok(&dir).args(["help", "time-controls"]), b"");
    assert!(output.text().starts_with("TIME CONTROLS\n"), "{}", output.text());
    let output = run(readyok(&dir).args(["help", "matches"]), b"");
    assert!(output.stderr.contains("did you mean `match`?"), "{}", output.stderr);
    assert_eq!(output.code(), Some(2));
}

#[test]
fn completions_are_valid_shell_scripts() {
    let dir = Dir::new();
    let output = run(readyok(&dir).args(["completions", "bash"]), b"");
    let script = dir.write("readyok.bash", output.text());
    let status = Command::new("bash").arg("-n").arg(script).status().expect("bash");
    assert!(status.success());
    for name in ["convert", "time-controls", "--concurrency"] {
        assert!(output.text().contains(name), "{name}");
    }
    assert!(!output.text().contains("guard"));
}

#[test]
fn each_command_has_a_man_page() {
    let dir = Dir::new();
    let output = run(readyok(&dir).arg("man").arg(dir.path()), b"");
    assert_eq!(output.code(), Some(0), "{}", output.stderr);
    for name in ["readyok", "readyok-match", "readyok-queue-list"] {
        let page = fs::read_to_string(dir.path().join(format!("{name}.1"))).expect("a page");
        assert!(page.contains(&format!(".TH {name} 1")), "{page}");
    }
    assert!(!dir.path().join("readyok-guard.1").exists());
}

#[test]
fn each_link_of_the_help_is_a_page_of_the_book() {
    let dir = Dir::new();
    let summary = include_str!("../../../../docs/SUMMARY.md");
    let help = run(readyok(&dir).arg("help"), b"");
    let commands = help.text().lines().skip_while(|line| *line != "Commands:").skip(1);
    let commands = commands.take_while(|line| line.starts_with("  "));
    // Wrapped descriptions are indented further.
    let commands = commands.filter(|line| !line.starts_with("   "));
    let commands: Vec<_> = commands.filter_map(|line| line.split_whitespace().next()).collect();
    assert!(commands.contains(&"match"), "{}", help.text());
    for command in commands {
        let help = run(readyok(&dir).args(["help", command]), b"");
        // A long address is on a line of its own.
        let link = help.text().split_once("\nDocumentation:");
        let link = link.and_then(|(_, rest)| rest.split_whitespace().next());
        let book = concat!(env!("CARGO_PKG_HOMEPAGE"), "/");
        let (_, page) = link.and_then(|link| link.split_once(book)).expect("a link");
        let page = page.replace(".html", ".md");
        assert!(summary.contains(&format!("({page})")), "{command}: {page}");
    }
}
