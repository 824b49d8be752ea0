//! Behaviour of fastchess that its end-to-end tests cover, and the arguments of `readyok match` next to it. The engines
//! are Narikin and shell scripts.
#![cfg(unix)]

use std::fs;

use crate::program::{Dir, Output, readyok, run};

fn at(dir: &Dir, args: &[&str]) -> Output {
    run(readyok(dir).current_dir(dir.path()).args(args), b"")
}

/// Runs a command line of fastchess.
fn fastchess(dir: &Dir, line: &str) -> Output {
    let line = format!("match --fastchess {line}");
    at(dir, &line.split_whitespace().collect::<Vec<_>>())
}

/// A program that answers each `go` by these shell commands.
fn engine(dir: &Dir, name: &str, on_go: &str) -> String {
    let script = format!(
        "#!/bin/sh\nready=0\nwhile read -r command rest; do case $command in \
         uci) echo 'option name Hash type spin default 16 min 1 max 64'; echo uciok;; \
         isready) sleep $ready; echo readyok;; go) {on_go};; quit) exit;; esac; done\n"
    );
    dir.write_program(name, &script).display().to_string()
}

const TWO: &str = "-engine cmd=narikin name=new -engine cmd=narikin name=base -each depth=1";

#[test]
fn reports_options_that_engines_do_not_have_or_reject() {
    let dir = Dir::new();
    let args = format!("{TWO} option.Hash=-16 option.Nonsense=2 -rounds 1 -maxmoves 1");
    let output = fastchess(&dir, &args);
    assert_eq!(output.code(), Some(0), "{}", output.stderr);
    for line in
        ["Warning; new doesn't have option Nonsense", "Warning; Invalid value for option Hash; -16"]
    {
        assert!(output.text().lines().any(|found| found == line), "{line}: {}", output.text());
    }
    let args = format!("{TWO} option.Hash=large -rounds 1 -maxmoves 1 -config outname=number.json");
    let output = fastchess(&dir, &args);
    let line = "Warning; Failed to set option Hash with value large for engine new: stoi";
    assert!(output.text().lines().any(|found| found == line), "{}", output.text());
    let missing = dir.write_program("missing", "#!/bin/sh\n").display().to_string();
    let args = format!("-engine cmd={missing} name=a -engine cmd=narikin name=b -each depth=1");
    let output = fastchess(&dir, &args);
    let line = "Fatal; a engine startup failure: \"Engine didn't respond to uciok after startup\"";
    assert!(output.text().contains(line), "{}", output.text());
    assert_eq!(output.code(), Some(1));
}

#[test]
fn recovers_from_crashes_and_counts_them() {
    let dir = Dir::new();
    let crasher = engine(&dir, "crasher", "exit 1");
    let args = format!(
        "-engine cmd={crasher} name=crasher -engine cmd=narikin name=healthy -each nodes=1 \
         -rounds 2 -repeat -recover"
    );
    let output = fastchess(&dir, &args);
    assert_eq!(output.code(), Some(0), "{}", output.stderr);
    let text = output.text();
    for part in
        ["disconnects}", "Player: crasher\n  Timeouts: 0\n  Crashed: 4\n", "Finished game 4 "]
    {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn a_late_answer_to_a_ping_is_a_stall() {
    let dir = Dir::new();
    let staller = engine(&dir, "staller", "ready=2; echo info score cp 0; echo bestmove e2e4");
    let args = format!(
        "-engine cmd={staller} name=staller -engine cmd=narikin name=healthy -each nodes=1 \
         -games 1 -rounds 1 -noswap -recover -ping-ms 50"
    );
    let output = fastchess(&dir, &args);
    assert_eq!(output.code(), Some(0), "{}", output.stderr);
    let text = output.text();
    assert!(text.contains("Warning; Engine staller is not responsive\n"), "{text}");
    assert!(text.contains("Finished game 1 (staller vs healthy): 0-1 {White's connection stalls}"));
}

#[test]
fn reports_an_answer_without_a_move_and_invalid_notation() {
    let dir = Dir::new();
    let play = |on_go: &str| {
        let engine = engine(&dir, "broken", on_go);
        let args = format!(
            "-engine cmd={engine} name=broken -engine cmd=narikin name=base -each tc=60+1 \
             -games 1 -rounds 1 -config outname=c.json"
        );
        let output = fastchess(&dir, &args);
        assert!(output.text().contains("0-1 {White makes an illegal move}"), "{}", output.text());
        output.text().to_owned()
    };
    let text = play("echo bestmove");
    let lines = "Warning; No bestmove found from broken because: Element 'bestmove' not found. \
                 Last line was: bestmove\nWarning; Illegal move <none> played by broken\n";
    assert!(text.contains(lines), "{text}");
    let text = play("echo bestmove E2E4");
    let lines = "Warning; Move does not match uci move format, lowercase and 4/5 chars. Move E2E4 \
                 played by broken\nWarning; Illegal move E2E4 played by broken\n";
    assert!(text.contains(lines), "{text}");
}

#[test]
fn reports_invalid_scores_and_contradicting_mates() {
    let dir = Dir::new();
    let first = engine(&dir, "first", "echo info depth 1 score mate 2; echo bestmove e2e4");
    let second = engine(&dir, "second", "echo info depth 1 score mate 3; echo bestmove e7e5");
    let args = format!(
        "-engine cmd={first} name=a -engine cmd={second} name=b -each nodes=1 -games 1 -rounds 1 \
         -maxmoves 1 -testEnv"
    );
    let output = fastchess(&dir, &args);
    let line = "Warning; Sign mismatch in mate scores 2 and 3 from a (White) and b (Black) :: \
                Infos; info depth 1 score mate 2 ; info depth 1 score mate 3 :: \
                Position; startpos :: Moves; e2e4 e7e5";
    assert!(output.text().lines().any(|found| found == line), "{}", output.text());
    let invalid = engine(&dir, "invalid", "echo info depth 1 score cp x; echo bestmove e2e4");
    let args = format!(
        "-engine cmd={invalid} name=invalid -engine cmd=narikin name=b -each nodes=1 -games 1 -rounds 1 \
         -maxmoves 1 -config outname=o.json"
    );
    let output = fastchess(&dir, &args);
    let line = "Warning; Could not extract score from engine invalid: Invalid score value: x";
    assert!(output.text().lines().any(|found| found == line), "{}", output.text());
}

#[test]
fn the_order_of_openings_differs_between_runs() {
    let dir = Dir::new();
    let book: String = (1..=9)
        .flat_map(|number| ["4k3/p7/8/8/8/8/P7/4K3 w - - 0 ".to_owned(), format!("{number}\n")])
        .collect();
    fs::write(dir.path().join("book.epd"), book).expect("space");
    let seeds = [1, 2].map(|run| {
        let args = format!(
            "{TWO} -rounds 3 -maxmoves 1 -openings file=book.epd format=epd order=random \
             -config outname={run}.json"
        );
        let output = fastchess(&dir, &args);
        assert_eq!(output.code(), Some(0), "{}", output.stderr);
        let results = fs::read_to_string(dir.path().join(format!("{run}.json"))).expect("results");
        let (_, seed) = results.split_once("\"seed\":").expect("a seed");
        seed.chars().take_while(char::is_ascii_digit).collect::<String>()
    });
    assert_ne!(seeds[0], seeds[1]);
}

#[test]
fn plays_each_opening_equally_often() {
    let dir = Dir::new();
    let position = |number: u32| format!("4k3/p7/8/8/8/8/P7/4K3 w - - 0 {number}");
    let book: String = (2..=6).map(|number| position(number) + "\n").collect();
    fs::write(dir.path().join("book.epd"), book).expect("space");
    let args = format!(
        "{TWO} -rounds 10 -repeat -maxmoves 1 -concurrency 2 -pgnout file=games.pgn \
         -openings file=book.epd format=epd order=random"
    );
    let output = fastchess(&dir, &args);
    assert!(output.text().contains("Finished game 20 "), "{}", output.text());
    let games = fs::read_to_string(dir.path().join("games.pgn")).expect("games");
    assert_eq!(games.matches("[Event ").count(), 20);
    for number in 2..=6 {
        let count = games.matches(&format!("[FEN \"{}\"]", position(number))).count();
        assert_eq!(count, 4, "{number}: {games}");
    }
}

#[test]
fn marks_the_moves_of_a_pgn_book() {
    let dir = Dir::new();
    let game = "[Event \"book\"]\n\n1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 *\n\n";
    fs::write(dir.path().join("book.pgn"), game).expect("space");
    let args = format!(
        "{TWO} -rounds 3 -repeat -maxmoves 1 -pgnout file=games.pgn \
         -openings file=book.pgn format=pgn order=sequential plies=4"
    );
    let output = fastchess(&dir, &args);
    assert!(output.text().contains("Finished game 6 "), "{}", output.text());
    let games = fs::read_to_string(dir.path().join("games.pgn")).expect("games");
    let flat = games.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(flat.matches("{book}").count(), 6 * 4, "{games}");
    assert!(flat.contains("Nc6 {book} 3. "), "{games}");
}

#[test]
fn reports_follow_the_rating_interval() {
    let dir = Dir::new();
    let reports = |penta: bool| {
        let args = format!(
            "{TWO} -rounds 5 -repeat -maxmoves 1 -ratinginterval 2 -report penta={penta} \
             -config outname={penta}.json"
        );
        let output = fastchess(&dir, &args);
        let text = output.text();
        for part in ["Finished game 10 ", "Elo: ", "Games: 10, "] {
            assert!(text.contains(part), "{part}: {text}");
        }
        assert_eq!(text.contains("Ptnml(0-2)"), penta, "{text}");
        text.matches("Results of new vs base").count()
    };
    // After 2, 4, 6, 8 and 10 games; after 2 and 4 pairs, and at the end.
    assert_eq!(reports(false), 5);
    assert_eq!(reports(true), 3);
}

#[test]
fn a_win_from_a_position_with_black_to_move_counts_for_its_player() {
    let dir = Dir::new();
    fs::write(dir.path().join("book.epd"), "4k3/p7/8/8/8/8/P7/4K3 b - - 0 9\n").expect("space");
    let [illegal, healthy] = [("illegal", "e1e8"), ("healthy", "e8d8")].map(|(name, mv)| {
        engine(&dir, name, &format!("echo info depth 1 score cp 0 pv {mv}; echo bestmove {mv}"))
    });
    let args = format!(
        "-engine cmd={healthy} name=winner -engine cmd={illegal} name=loser -each nodes=1 \
         -rounds 1 -games 1 -ratinginterval 1 -report penta=false \
         -openings file=book.epd format=epd order=sequential"
    );
    let output = fastchess(&dir, &args);
    let text = output.text();
    for part in [
        "Finished game 1 (winner vs loser): 1-0 {Black makes an illegal move}",
        "Results of winner vs loser",
        "Games: 1, Wins: 1, Losses: 0, Draws: 0",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn a_configuration_without_its_statistics_starts_from_the_first_game() {
    let dir = Dir::new();
    let output = fastchess(&dir, &format!("{TWO} -rounds 1 -maxmoves 1 -config outname=c.json"));
    assert_eq!(output.code(), Some(0), "{}", output.stderr);
    let output = fastchess(&dir, "-config file=c.json outname=d.json stats=false -rounds 2");
    assert_eq!(output.code(), Some(0), "{}", output.stderr);
    let text = output.text();
    assert!(text.contains("Started game 1 of 4 (new vs base)"), "{text}");
    assert!(text.contains("Finished game 4 "), "{text}");
    let stored =
        |name: &str| fs::read_to_string(dir.path().join(name)).expect(name).lines().count();
    assert_eq!((stored("c.json"), stored("d.json")), (2, 3));
}

#[test]
fn arguments_of_fastchess_are_recognized() {
    let dir = Dir::new();
    let output = at(&dir, &["match", "-engine", "cmd=a", "-engine", "cmd=b"]);
    output.reports(2, "readyok match --fastchess");
}

#[test]
fn prints_one_summary_and_reports_repeated_games() {
    let dir = Dir::new();
    let args = ["match", "narikin", "narikin", "--nodes", "1", "--max-moves", "4", "--rounds", "2"];
    let output = at(&dir, &[&args[..], &["--plain", "--rating-interval", "2"]].concat());
    assert_eq!(output.code(), Some(0), "{}", output.stderr);
    let text = output.text();
    assert_eq!(text.matches("pentanomial").count(), 1, "{text}");
    for part in [
        "warning: without --openings all games start from the same position",
        "warning: game 2.1 repeats a game of pair 1 move by move",
        "finished: 2 game pairs, 4 games, 2 of which repeat earlier ones",
        "draws 100.0 %",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(!text.contains("seed "), "nothing is random: {text}");
    let random = ["match", "narikin", "narikin", "--nodes", "1", "--max-moves", "1", "--plain"];
    let more = ["--game", "chess960", "--random", "--results", "r.jsonl"];
    let output = at(&dir, &[&random[..], &more[..]].concat());
    assert!(output.text().lines().any(|line| line.starts_with("seed ")), "{}", output.text());
}
