//! `readyok-match` does what `readyok match` does.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::program::{Dir, Output, program, readyok, readyok_match, run};

/// Both end with the same code, having said the same.
fn check_same(words: &[&str], code: i32) {
    let dir = Dir::new();
    let whole = run(readyok(&dir).arg("match").args(words), b"");
    let alone = run(readyok_match(&dir).args(words), b"");
    let usage = "Usage: readyok match";
    let expected = |text: &str| text.replace(usage, "Usage: readyok-match");
    assert_eq!(alone.text(), expected(whole.text()));
    assert_eq!(alone.stderr, expected(&whole.stderr));
    assert_eq!((alone.code(), whole.code()), (Some(code), Some(code)), "{}", whole.stderr);
}

#[test]
fn takes_the_same_arguments() {
    check_same(&["--help"], 0);
    check_same(&["narikin", "narikin", "--tc", "never"], 2);
    check_same(&["narikin", "nobody-of-this-name"], 2);
    check_same(&["--fastchess", "-engne"], 1);
    check_same(&["--fastchess", "--compliance", "sh", "-c", "exit 3"], 1);
}

#[test]
fn looks_for_the_rest_beside_it_and_in_path() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder");
    let words = "narikin narikin --depth 1 --max-moves 4 --rounds 1";
    let whole = Path::new(env!("CARGO_BIN_EXE_readyok")).parent().expect("its folder");
    // Whatever it is called, even as what it looks for.
    for name in ["readyok-match", "matches", "readyok"] {
        let alone = folder.path().join(name);
        fs::hard_link(env!("CARGO_BIN_EXE_readyok-match"), &alone).expect("a second name");
        for (path, code) in [(Path::new(""), 2), (folder.path(), 2), (whole, 0)] {
            let dir = Dir::new();
            let mut elsewhere = program(&alone, &dir);
            elsewhere.current_dir(dir.path()).env("PATH", path).args(words.split(' '));
            let output = run(&mut elsewhere, b"");
            assert_eq!(output.code(), Some(code), "{name}: {}", output.stderr);
            let nowhere = "there is no `readyok` beside this program or in PATH";
            assert_eq!(output.stderr.contains(nowhere), code == 2, "{name}: {}", output.stderr);
        }
        fs::remove_file(&alone).expect("the second name");
    }
}

#[test]
fn plays_the_same_match() {
    let words = "narikin narikin --depth 1 --max-moves 6 --rounds 2 --pgn games.pgn --pgn-min";
    let played = |command: &mut Command, dir: &Dir| {
        let output = run(command.current_dir(dir.path()).args(words.split(' ')), b"");
        assert_eq!(output.code(), Some(0), "{}", output.stderr);
        let pgn = fs::read_to_string(dir.path().join("games.pgn")).expect("the games");
        assert_eq!(pgn.matches("[Result ").count(), 4, "{pgn}");
        // The day may end between the two.
        pgn.lines().filter(|line| !line.starts_with("[Date ")).collect::<Vec<_>>().join("\n")
    };
    let (first, second) = (Dir::new(), Dir::new());
    let whole = played(readyok(&first).arg("match"), &first);
    assert_eq!(played(&mut readyok_match(&second), &second), whole);
}

/// A folder with `readyok`, and beside it a script for the program that only plays matches.
fn beside(script: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder");
    fs::hard_link(env!("CARGO_BIN_EXE_readyok"), folder.path().join("readyok"))
        .expect("a second name");
    let dir = Dir::new();
    let mut copy = Command::new("cp");
    copy.arg(dir.write_program("readyok-match", script)).arg(folder.path());
    let copied = run(copy.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()), b"");
    assert_eq!(copied.code(), Some(0), "{}", copied.stderr);
    folder
}

fn run_beside(folder: &tempfile::TempDir, words: &str) -> Output {
    let dir = Dir::new();
    let mut command = program(folder.path().join("readyok"), &dir);
    run(command.current_dir(dir.path()).args(words.split(' ')), b"")
}

#[cfg(unix)]
#[test]
fn plays_the_matches_of_the_whole_program_beside_it() {
    let folder = beside("#!/bin/sh\necho \"$1: $# words, the last is $5\"\n");
    let output = run_beside(&folder, "match narikin narikin --rounds 7");
    assert_eq!(output.text(), "given: 6 words, the last is --rounds\n");
    let output = run_beside(&folder, "match --fastchess -engine cmd=a -rounds 7");
    assert_eq!(output.text(), "given: 7 words, the last is cmd=a\n");
    // What it leaves to the whole program does not reach it.
    for words in ["match a b --queue nats://127.0.0.1:1", "match --fastchess --compliance false"] {
        let output = run_beside(&folder, words);
        assert!(!output.text().contains("given"), "{}", output.text());
    }
    let output = run_beside(&folder, "match-here narikin nobody-of-this-name");
    assert_eq!((output.text(), output.code()), ("", Some(2)), "{}", output.stderr);
}

#[cfg(unix)]
#[test]
fn the_whole_program_plays_its_matches_where_the_other_does_not_start() {
    let folder = beside("#!/no/interpreter\n");
    let words = "match narikin narikin --depth 1 --max-moves 4 --rounds 1";
    for _ in 0..2 {
        let output = run_beside(&folder, words);
        assert_eq!(output.code(), Some(0), "{}", output.stderr);
        let _ = fs::remove_file(folder.path().join("readyok-match"));
    }
}

#[test]
fn gives_back_what_a_program_of_other_sources_has_given_it() {
    let dir = Dir::new();
    let words = ["given", "other-sources", "narikin", "nobody-of-this-name"];
    let back = run(readyok_match(&dir).args(words), b"");
    let whole = run(readyok(&dir).arg("match").args(&words[2..]), b"");
    assert_eq!((back.stderr.as_str(), back.code()), (whole.stderr.as_str(), Some(2)));
    let help = run(readyok_match(&dir).args(["given", "other-sources", "--help"]), b"");
    let expected = run(readyok(&dir).args(["match", "--help"]), b"");
    assert_eq!(help.text(), expected.text());
}
