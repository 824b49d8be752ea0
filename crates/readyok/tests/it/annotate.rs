//! `readyok annotate` with Narikin and a small number of nodes.

use std::fs;
use std::process::{Command, Stdio};

use crate::program::{Dir, Output, Signal, finish, readyok, run, signal, wait};

/// The last move but one is a blunder.
const GAMES: &str = include_str!("data/annotate/games.txt");

fn command(dir: &Dir, arguments: &[&str]) -> Command {
    let mut command = readyok(dir);
    command.arg("annotate").args(arguments).current_dir(dir.path());
    command
}

fn annotate(dir: &Dir, arguments: &[&str], input: &str) -> Output {
    run(&mut command(dir, arguments), input.as_bytes())
}

const NARIKIN: [&str; 4] = ["--engine", "narikin", "--nodes", "2000"];

#[test]
fn mistakes_are_marked_and_accuracies_computed() {
    let output = annotate(&Dir::new(), &NARIKIN, GAMES);
    assert_eq!(output.code(), Some(0), "{}", output.stderr);
    let text = output.text();
    let line = text.replace('\n', " ");
    // 3... Nf6 allows mate.
    assert!(line.contains("Nf6 $4 { [%eval #1"), "{text}");
    assert!(text.contains("[WhiteAccuracy \"") && text.contains("[Annotator \"Narikin"), "{text}");
    // Evaluations of both games, up to the final position.
    assert_eq!(text.matches("[Event ").count(), 2);
    assert!(line.contains("Qxf7# { [%eval #0] }"), "{text}");
    assert!(line.contains("(3... "), "{text}");
    let plain = annotate(&Dir::new(), &[&NARIKIN[..], &["--no-lines"]].concat(), GAMES);
    assert!(!plain.text().contains('('), "{}", plain.text());
}

/// The engine adds to the game and replaces nothing of its author.
#[test]
fn annotations_of_the_author_stay() {
    let game = "1. e4 $1 {[%eval 0.5]} e5 $3 2. Qh5 $3 {my} Nc6 3. Bc4 Nf6 $3 4. Qxf7# *\n";
    let output = annotate(&Dir::new(), &[&NARIKIN[..], &["--no-lines"]].concat(), game);
    let text = output.text().replace('\n', " ");
    assert!(text.contains("1. e4 $1 { [%eval 0.50] } 1... e5 $3 { [%eval"), "{text}");
    assert!(text.contains(" my } "), "{text}");
    // A blunder that the author calls brilliant.
    assert!(text.contains("Nf6 $3 { [%eval #1"), "{text}");
}

#[test]
fn several_engines_write_the_games_in_their_order() {
    let dir = Dir::new();
    let games: String =
        (0..8).map(|number| GAMES.replace("One", &format!("One {number}"))).collect();
    dir.write("games.pgn", &games);
    let arguments = ["games.pgn", "-o", "out.pgn", "-j", "3"];
    let output = annotate(&dir, &[&NARIKIN[..], &arguments].concat(), "");
    assert_eq!(output.code(), Some(0), "{}", output.stderr);
    let text = fs::read_to_string(dir.path().join("out.pgn")).expect("the output");
    let events: Vec<_> = text.lines().filter(|line| line.starts_with("[Event \"One")).collect();
    let expected: Vec<_> = (0..8).map(|number| format!("[Event \"One {number}\"]")).collect();
    assert_eq!(events, expected);
    assert_eq!(output.text().lines().count(), 16, "{}", output.text());
    assert!(output.text().starts_with("1  Anna – Boris  1-0  accuracy "), "{}", output.text());
    assert!(!dir.path().join("out.pgn.progress").exists());
}

#[test]
fn a_killed_run_continues() {
    let dir = Dir::new();
    dir.write("games.pgn", &GAMES.repeat(60));
    let arguments = ["games.pgn", "-o", "out.pgn", "-e", "narikin", "--nodes", "2000"];
    let mut child = command(&dir, &arguments).spawn().expect("the process starts");
    let progress = dir.path().join("out.pgn.progress");
    let lines = || fs::read_to_string(&progress).unwrap_or_default().lines().count();
    wait("no progress", || lines() > 20);
    signal(child.id(), Signal::KILL);
    child.wait().expect("the process ends");
    let before = lines();
    assert!(!dir.path().join("out.pgn").exists());
    let other =
        annotate(&dir, &["games.pgn", "-o", "out.pgn", "-e", "narikin", "--depth", "1"], "");
    other.reports(2, "other settings");
    let mut again = command(&dir, &arguments);
    let child = again.stdout(Stdio::piped()).spawn().expect("the process starts");
    let output = finish(child);
    assert_eq!(output.code(), Some(0), "{}", output.stderr);
    let continued = output.stderr.contains("continues after ");
    assert!(continued && before > 20, "{before}: {}", output.stderr);
    let text = fs::read_to_string(dir.path().join("out.pgn")).expect("the output");
    assert_eq!(text.matches("[Event ").count(), 120);
    assert!(!progress.exists());
}

#[test]
fn shogi_records_get_evaluation_comments() {
    let dir = Dir::new();
    let usi = "startpos moves 7g7f 3c3d 8h2b+ 4a4b 2b3a\n";
    for (format, evaluation) in [("kif", "#評価値="), ("csa", "'** ")] {
        let arguments = [&NARIKIN[..], &["--from", "usi", "--to", format]].concat();
        let output = annotate(&dir, &arguments, usi);
        assert_eq!(output.code(), Some(0), "{}", output.stderr);
        assert!(output.text().contains(evaluation), "{format}: {}", output.text());
        assert!(output.text().contains("悪手"), "{format}: {}", output.text());
        assert!(output.text().contains("先手精度"), "{format}: {}", output.text());
        // Nothing is added that the format cannot hold.
        assert_eq!(output.stderr, "", "{format}");
    }
}

#[test]
fn null_moves_and_unreadable_games_are_handled() {
    let output = annotate(&Dir::new(), &NARIKIN, "[White \"A\"]\n\n1. e4 -- 2. d4 *\n\n");
    assert_eq!(output.code(), Some(0), "{}", output.stderr);
    assert!(
        output.text().contains("-- {") || output.text().contains("1... --"),
        "{}",
        output.text()
    );
    // Positions that violate the rules are not searched.
    let viewed = "[Event \"View\"]\n[FEN \"8/8/8/8/8/8/8/K7 w - - 0 1\"]\n\n*\n\n";
    let output = annotate(&Dir::new(), &NARIKIN, &format!("{GAMES}{viewed}{GAMES}"));
    assert_eq!(output.code(), Some(0), "{}", output.stderr);
    let text = output.text();
    assert_eq!(text.matches("[Event ").count(), 5, "{text}");
    assert_eq!(text.matches("[Annotator ").count(), 4, "{text}");
    let output = annotate(&Dir::new(), &["--engine", "no-such-engine"], GAMES);
    assert_eq!(output.code(), Some(2), "{}", output.stderr);
}

/// A cut game is annotated up to its last move, and reported like in `readyok convert`.
#[test]
fn cut_games_are_reported() {
    let input = "[White \"A\"]\n\n1. e4 e5 2. Kd5 *\n\n";
    let output = annotate(&Dir::new(), &NARIKIN, input);
    assert_eq!(output.code(), Some(1), "{}", output.stderr);
    assert!(output.text().contains("[%eval"), "{}", output.text());
    assert!(output.stderr.contains("game 1: ") && output.stderr.contains("Kd5"));
    assert!(output.stderr.contains("1 game was cut: 1 × illegal move"), "{}", output.stderr);
    let arguments = [&NARIKIN[..], &["--lenient"]].concat();
    assert_eq!(annotate(&Dir::new(), &arguments, input).code(), Some(0));
}
