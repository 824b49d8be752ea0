//! `readyok library merge` and `readyok library repertoire`, and searches for patterns.

use std::fs;

use serde_json::{Value, json};

use crate::program::{Dir, Output, readyok, run};

const GAMES: &str = "\
[White \"A\"]\n[Black \"B\"]\n[Date \"2020.01.01\"]\n[Result \"1-0\"]\n\n1. d4 d5 2. c4 e6 3. Nc3 Nf6 1-0\n\n\
[White \"C\"]\n[Black \"D\"]\n[Date \"2021.01.01\"]\n[Result \"1/2-1/2\"]\n\n1. c4 e6 2. d4 d5 3. Nc3 c6 1/2-1/2\n\n\
[White \"E\"]\n[Black \"F\"]\n[Date \"2022.01.01\"]\n[Result \"0-1\"]\n\n1. d4 d5 2. Nf3 Nf6 0-1\n\n\
[White \"G\"]\n[Black \"H\"]\n[Date \"2023.01.01\"]\n[Result \"0-1\"]\n\n1. e4 e5 2. Ke2 Ke7 0-1\n";

fn library(dir: &Dir, arguments: &[&str]) -> Output {
    let mut command = readyok(dir);
    command.current_dir(dir.path()).arg("library").args(arguments);
    command.args(["--database", "games.sqlite"]);
    run(&mut command, b"")
}

fn database() -> Dir {
    let dir = Dir::new();
    fs::write(dir.path().join("games.pgn"), GAMES).expect("written");
    let imported = library(&dir, &["import", "games.pgn"]);
    assert_eq!(imported.code(), Some(0), "{}", imported.stderr);
    dir
}

#[test]
fn games_are_merged_into_one_tree() {
    let dir = database();
    let merged = library(&dir, &["merge", "--pattern", "on=Pd4,pd5"]);
    assert_eq!(merged.code(), Some(0), "{}", merged.stderr);
    let moves = merged.text().split_once("\n\n").expect("headers").1;
    let moves: Vec<&str> = moves.split_whitespace().collect();
    let moves = moves.join(" ");
    assert!(
        moves.starts_with("{ 3 games, 50 %: +1 =1 -1 } 1. d4 { 2 games, 50 %: +1 =0 -1 }"),
        "{moves}"
    );
    assert!(moves.contains("{ continues as after d4 d5 c4 e6 }"), "{moves}");
    assert!(merged.stderr.contains("of 3 games"), "{}", merged.stderr);

    let written = library(&dir, &["merge", "-o", "tree.pgn", "--min-games", "2", "--json"]);
    assert_eq!(written.code(), Some(0), "{}", written.stderr);
    let report: Value = serde_json::from_str(written.text()).expect("JSON");
    assert_eq!((&report["games"], &report["other_starts"]), (&json!(4), &json!(0)));
    assert!(report["omitted"].as_u64() > Some(0), "{report}");
    let again = library(&dir, &["merge", "-o", "tree.pgn"]);
    assert_eq!(again.code(), Some(2), "the file exists");
    assert_eq!(library(&dir, &["merge", "-o", "tree.kif", "--force"]).code(), Some(2));
    assert_eq!(library(&dir, &["merge", "--player", "missing"]).code(), Some(1));
}

#[test]
fn the_games_of_a_repertoire_are_listed_by_the_place_where_they_leave() {
    let dir = database();
    fs::write(dir.path().join("tree.pgn"), "1. d4 d5 (1... f5) 2. c4 e6 3. Nc3 *\n")
        .expect("written");
    let found = library(&dir, &["repertoire", "tree.pgn", "--games", "1"]);
    assert_eq!(found.code(), Some(0), "{}", found.stderr);
    let text = found.text();
    assert!(text.contains("Nf6     after 1. d4 d5 2. c4 e6 3. Nc3"), "{text}");
    assert!(text.contains("c6      after 1. d4 d5 2. c4 e6 3. Nc3"), "{text}");
    assert!(text.contains("Nf3     after 1. d4 d5\n"), "{text}");
    assert!(found.stderr.contains("3 games leave in 3 places"), "{}", found.stderr);
    let json = library(&dir, &["repertoire", "tree.pgn", "--json", "--date", "2022"]);
    let place: Value = serde_json::from_str(json.text()).expect("one place");
    assert_eq!(
        place,
        json!({"tree": 1, "line": ["d4", "d5"], "move": "Nf3", "games": 1, "first": 0, "draws": 0,
            "second": 1, "unknown": 0, "score": 0.0, "latest": []})
    );
    fs::write(dir.path().join("bad.pgn"), "1. e4 e5 2. Bh6 Nc6 *\n").expect("written");
    assert_eq!(library(&dir, &["repertoire", "bad.pgn"]).code(), Some(1));
    assert_eq!(library(&dir, &["repertoire", "missing.pgn"]).code(), Some(2));
}

#[test]
fn patterns_select_games() {
    let dir = database();
    let numbers = |pattern: &str| {
        let found = library(&dir, &["search", "--ids", "--pattern", pattern]);
        assert_eq!(found.code(), Some(0), "{}", found.stderr);
        found.text().split_whitespace().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(numbers("on=Ke2"), ["4"]);
    assert_eq!(numbers("pawns=8/ppp2ppp/4p3/3p4/2PP4/8/PP2PPPP/8"), ["1", "2"]);
    assert_eq!(numbers("on=Nf3,nf6 flip=files"), ["3"]);
    assert_eq!(numbers("P=8 p=8 for=6"), ["1", "2"]);
    assert!(numbers("bishops=opposite").is_empty());
    for (pattern, error) in [
        ("on=Ke9", "does not have the form `on=Nd5`"),
        ("Q=12..", "too many pieces for a player"),
        ("", "no condition on pieces"),
        ("on=Nd5 B*=1", "for chess and for shogi"),
    ] {
        let failed = library(&dir, &["search", "--pattern", pattern]);
        assert_eq!(failed.code(), Some(2), "{pattern}");
        assert!(failed.stderr.contains(error), "{pattern}: {}", failed.stderr);
    }
    let convert = |pattern: &str| {
        let mut command = readyok(&dir);
        command.current_dir(dir.path()).args([
            "convert",
            "games.pgn",
            "--count",
            "--pattern",
            pattern,
        ]);
        run(&mut command, b"").text().trim().to_owned()
    };
    assert_eq!(convert("on=Nf3,nf6 flip=files"), "1");
}
