//! `readyok convert`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use readyok_rules::record::{Format, GameRecord, Limits, Node, Records};
use serde_json::{Value, json};

use crate::program::{Dir, Output, readyok, run};

const GAMES: &str = include_str!("data/convert/games.txt");

fn convert(dir: &Dir, arguments: &[&str], input: &str) -> Output {
    run(command(dir).args(arguments), input.as_bytes())
}

fn command(dir: &Dir) -> Command {
    let mut command = readyok(dir);
    command.arg("convert").current_dir(dir.path());
    command
}

/// The output of a conversion of the three games.
#[track_caller]
fn converted(arguments: &[&str]) -> String {
    let output = convert(&Dir::new(), arguments, GAMES);
    assert_eq!(output.code(), Some(0), "{}", output.stderr);
    output.text().to_owned()
}

/// The numbers of the games that a filter selects.
#[track_caller]
fn selected(arguments: &[&str]) -> Vec<usize> {
    let text = converted(&[&["-7", "--bare"], arguments].concat());
    let dates = ["1953.08.30", "2020.??.??", "2021.05.06"];
    let found = |line: &str| dates.iter().position(|date| line.contains(date));
    text.lines().filter(|line| line.starts_with("[Date")).filter_map(found).collect()
}

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

#[test]
fn pgn_is_written_unchanged() {
    let once = converted(&[]);
    let twice = convert(&Dir::new(), &["-"], &once);
    assert_eq!(twice.text(), once);
    assert_eq!(once.matches("[Event ").count(), 3);
}

#[test]
fn filters_select_games_by_their_headers() {
    assert_eq!(selected(&["--player", "david bronstein"]), [0, 1]);
    assert_eq!(selected(&["--player", "bronstein", "--player", "anna"]), [0, 1, 2]);
    assert_eq!(selected(&["--player", "keres", "--opponent", "bronstein"]), [0]);
    assert_eq!(selected(&["--player", "bronstein", "--color", "black"]), [1]);
    assert_eq!(selected(&["--white", "KERES"]), [2]);
    assert_eq!(selected(&["--black", "müller"]), [2]);
    assert_eq!(selected(&["--player", "keres", "--result", "loss"]), [0, 2]);
    assert_eq!(selected(&["--player", "anna", "--result", "win"]), [2]);
    assert_eq!(selected(&["--result", "draw"]), [1]);
    assert_eq!(selected(&["--result", "1-0", "--result", "0-1"]), [0, 2]);
    assert_eq!(selected(&["--date", "..1999"]), [0]);
    assert_eq!(selected(&["--date", "2020-03..2021"]), [1, 2]);
    assert_eq!(selected(&["--date", "2021-06.."]), [0; 0]);
    assert_eq!(selected(&["--rating", "2600.."]), [0]);
    assert_eq!(selected(&["--player", "keres", "--player-rating", "2640.."]), [0]);
    assert_eq!(selected(&["--event", "club", "--site", "berlin"]), [1, 2]);
    assert_eq!(selected(&["--round", "9"]), [2]);
    assert_eq!(selected(&["--tag", "WhiteElo>=2600"]), [0]);
    assert_eq!(selected(&["--tag", "Event!=Club"]), [0]);
    assert_eq!(selected(&["--tag", "Date>2020.12.31"]), [2]);
    assert_eq!(selected(&["-t", "BlackElo"]), [0]);
    assert_eq!(selected(&["--event", "club", "-v"]), [0]);
    assert_eq!(selected(&["--engine", "keres"]), [0, 2]);
    assert_eq!(selected(&["--annotator", "keres"]), [0; 0]);
}

#[test]
fn filters_select_games_by_their_moves() {
    assert_eq!(selected(&["--moves", "1. e4 e5 2. Nf3"]), [0]);
    assert_eq!(selected(&["--moves", "d2d4", "--moves", "f3"]), [1, 2]);
    assert_eq!(selected(&["--eco", "C60-C99"]), [0]);
    assert_eq!(selected(&["--eco", "D"]), [1]);
    assert_eq!(selected(&["--opening", "queen's gambit"]), [1]);
    let fen = "rnbqkbnr/pppp1ppp/8/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R b KQkq - 1 2";
    assert_eq!(selected(&["--position", fen]), [0]);
    let pattern = "????k???/????????/????????/????????/???????q/????????/????????/????K???";
    assert_eq!(selected(&["--position", pattern]), [2]);
    assert_eq!(selected(&["--position", &format!("{pattern} w")]), [2]);
    assert_eq!(selected(&["--position", &format!("{pattern} b")]), [0; 0]);
    assert_eq!(selected(&["--plies", "..4"]), [1, 2]);
    assert_eq!(selected(&["--termination", "checkmate"]), [2]);
    assert_eq!(selected(&["--termination", "Mate"]), [2]);
    assert_eq!(selected(&["--variant", "Standard"]), [0, 1, 2]);
    assert_eq!(selected(&["--has", "variations", "--has", "clocks"]), [0]);
    assert_eq!(selected(&["--variant", "shogi"]), [0; 0]);
    assert_eq!(selected(&["--material", "KQ*vK*"]), [0, 1, 2]);
    assert_eq!(selected(&["--material", "KQ*K*"]), [0, 1, 2]);
    assert_eq!(selected(&["--material", "KQvK"]), [0; 0]);
}

#[test]
fn invalid_filters_are_usage_errors() {
    for arguments in [
        ["--moves", "e4 e4"],
        ["--position", "8/8 w"],
        ["--eco", "Z99"],
        ["--date", "yesterday"],
        ["--rating", "high"],
        ["--material", "KXvK"],
        ["--encoding", "klingon"],
        ["--termination", "boredom"],
        ["--split", "10"],
    ] {
        let output = convert(&Dir::new(), &arguments, GAMES);
        assert_eq!(output.code(), Some(2), "{arguments:?}: {}", output.stderr);
    }
}

#[test]
fn games_are_sorted_sampled_and_limited() {
    assert_eq!(selected(&["--sort", "white"]), [0, 2, 1]);
    assert_eq!(selected(&["--sort", "round"]), [0, 2, 1]);
    assert_eq!(selected(&["--sortr", "date"]), [2, 1, 0]);
    assert_eq!(selected(&["--sort", "event,plies"]), [0, 1, 2]);
    assert_eq!(selected(&["--sortr", "date", "--first", "1"]), [2]);
    assert_eq!(selected(&["--skip", "1", "-m", "1"]), [1]);
    assert_eq!(selected(&["--first", "0"]), [0; 0]);
    let sample = selected(&["--sample", "2", "--seed", "7"]);
    assert_eq!(sample.len(), 2);
    assert!(sample.is_sorted(), "{sample:?}");
    assert_eq!(selected(&["--sample", "2", "--seed", "7"]), sample);
    assert_eq!(selected(&["--sample", "9"]), [0, 1, 2]);
}

#[test]
fn duplicates_are_found_by_moves_and_players() {
    let dir = Dir::new();
    let other =
        GAMES.replace("Candidates", "CANDIDATES").replace("Bronstein, David", "bronstein D.");
    dir.write("a.pgn", GAMES);
    dir.write("b.pgn", &other.replace("1. d4 d5", "1. d4 Nf6"));
    let unique = convert(&dir, &["a.pgn", "b.pgn", "--no-duplicates", "--count"], "");
    assert_eq!(unique.text(), "4\n");
    let repeated = convert(&dir, &["a.pgn", "b.pgn", "-U"], "");
    assert!(repeated.text().contains("[Event \"CANDIDATES\"]"), "{}", repeated.text());
    assert_eq!(repeated.text().matches("[Event ").count(), 2);
}

/// Of duplicates, the game with most variations, comments and glyphs is kept, in its place, also from a pipe.
#[test]
fn the_most_annotated_duplicate_is_kept() {
    let copy = |round: &str, moves: &str| {
        format!(
            "[Event \"Open\"]\n[Round \"{round}\"]\n[White \"A\"]\n[Black \"B\"]\n\n{moves} *\n\n"
        )
    };
    let input = [
        copy("plain", "1. e4 e5"),
        copy("varied", "1. e4 e5 ( 1... c5 )"),
        copy("other", "1. d4"),
        copy("commented", "1. e4 { best } e5"),
        copy("rich", "1. e4 { best } e5 ( 1... c5 $1 )"),
        copy("last", "1. e4 e5"),
    ];
    let rounds = |arguments: &[&str]| {
        let output = convert(&Dir::new(), arguments, &input.concat());
        assert_eq!(output.code(), Some(0), "{}", output.stderr);
        let lines = output.text().lines().filter_map(|line| line.strip_prefix("[Round "));
        lines.map(|line| line.replace([']', '"'], "")).collect::<Vec<_>>().join(", ")
    };
    assert_eq!(rounds(&["-D"]), "other, rich");
    assert_eq!(rounds(&["-U"]), "plain, varied, commented, last");
    assert_eq!(rounds(&["-D", "--first", "1"]), "other");
    assert_eq!(rounds(&["-D", "--sort", "round", "-C", "-V", "-N"]), "other, rich");
}

/// The rule is that of imports into the library: known and equal players, or an equal event and site, or everything is
/// equal; no contradicting date; an equal event of short games; chapters of a study are different games.
#[test]
fn headers_show_whether_games_are_duplicates() {
    let long = "1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 4. Ba4 Nf6 5. O-O Be7 6. Re1 b5 7. Bb3 d6 8. c3 O-O 9. h3 Na5 10. Bc2 c5";
    let game = |event: &str, site: &str, white: &str, more: &str| {
        let headers = format!("[Event \"{event}\"]\n[Site \"{site}\"]\n[White \"{white}\"]");
        let line = if more == "short" { "1. e4 e5" } else { long };
        let more = more.strip_prefix("short").unwrap_or(more);
        format!("{headers}\n[Black \"Keres, P\"]\n{more}\n{line} *\n\n")
    };
    let study = "https://example.org/study";
    for (first, second, count) in [
        (game("?", "?", "?", ""), game("?", "?", "? 3", ""), 2),
        // Equal in everything.
        (game("?", "?", "?", ""), game("?", "?", "?", ""), 1),
        (game("Open", "?", "N.N.", ""), game("Open", "?", "? 3", ""), 2),
        (game("Open", "Oslo", "?", ""), game("Open", "Oslo", "?", ""), 1),
        (game("Open", "Oslo", "?", ""), game("Open", "Oslo", "Tal", ""), 1),
        (game("Open", "Oslo", "Anna", ""), game("Open", "Oslo", "Tal", ""), 2),
        (game("Open", "Oslo", "Tal", ""), game("Club", "Riga", "Tal, Mikhail", ""), 1),
        (game("Open", "Oslo", "Tal, M", "short"), game("Club", "Riga", "Tal", "short"), 2),
        (game("Open", "Oslo", "Tal, M", "short"), game("OPEN", "Riga", "Tal", "short"), 1),
        (
            game("Open", "Oslo", "Tal", "[Date \"1960.??.??\"]\n"),
            game("Open", "Oslo", "Tal", "[Date \"1960.05.07\"]\n"),
            1,
        ),
        (
            game("Open", "Oslo", "Tal", "[Date \"1961.??.??\"]\n"),
            game("Open", "Oslo", "Tal", "[Date \"1960.05.07\"]\n"),
            2,
        ),
        (
            game("Endings: 1", &format!("{study}/1"), "?", ""),
            game("Endings: 2", &format!("{study}/2"), "?", ""),
            2,
        ),
        (
            game("Study", "?", "Tal", "[ChapterName \"1\"]\n"),
            game("Study", "?", "Tal", "[ChapterName \"2\"]\n"),
            2,
        ),
    ] {
        let both = format!("{first}{second}");
        let output = convert(&Dir::new(), &["-D", "--count"], &both);
        assert_eq!(output.text(), format!("{count}\n"), "{both}");
    }
}

#[test]
fn annotations_are_stripped_and_headers_set() {
    let text = converted(&["-C", "--first", "1"]);
    assert!(text.contains("[%clk") && !text.contains("best") && text.contains("$1"), "{text}");
    let text = converted(&["-N", "-V", "--no-clocks", "--first", "1"]);
    assert!(text.contains("best") && !text.contains("clk"), "{text}");
    assert!(!text.contains("$1") && !text.contains("c5"), "{text}");
    let text = converted(&["--bare", "-7", "-e", "--ply-count", "--first", "1"]);
    assert!(text.contains("1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 1-0"), "{text}");
    assert!(text.contains("[ECO \"C70\"]") && text.contains("[PlyCount \"6\"]"), "{text}");
    assert!(!text.contains("WhiteElo"), "{text}");
    let text = converted(&["--truncate", "3", "--bare", "--notation", "uci", "--first", "1"]);
    assert!(text.contains("1. e2e4 e7e5 2. g1f3 1-0"), "{text}");
}

#[test]
fn positions_are_written_one_per_line() {
    let text = converted(&["--to", "fen"]);
    assert_eq!(text.lines().count(), 3);
    assert!(text.ends_with("rnb1kbnr/pppp1ppp/8/4p3/6Pq/5P2/PPPPP2P/RNBQKBNR w KQkq - 1 3\n"));
    assert_eq!(converted(&["--to", "fen", "--positions", "all"]).lines().count(), 7 + 5 + 5);
    assert_eq!(converted(&["--to", "fen", "--positions", "5"]).lines().count(), 1);
    let text = converted(&["--to", "epd", "--positions", "first", "--first", "1"]);
    assert_eq!(text, "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - sm e4;\n");
    let text = converted(&["--to", "usi", "--first", "1"]);
    assert_eq!(text, "position startpos moves e2e4 e7e5 g1f3 b8c6 f1b5 a7a6\n");
    let read = convert(
        &Dir::new(),
        &["--from", "epd", "--to", "fen"],
        "4k3/8/8/8/8/8/8/4K3 w - - id \"a\";\n",
    );
    assert_eq!(read.text(), "4k3/8/8/8/8/8/8/4K3 w - - 0 1\n");
}

#[test]
fn operations_of_epd_remain() {
    let epd = "4k3/8/8/8/8/8/4P3/4K3 w - - bm e4; ce 25; acd 12; c0 \"text\"; id \"a\";\n";
    let output = convert(&Dir::new(), &["--from", "epd"], epd);
    assert_eq!(output.text(), epd, "{}", output.stderr);
    let output = convert(&Dir::new(), &["--from", "epd", "-C"], epd);
    assert!(!output.text().contains("text"), "{}", output.text());
}

#[test]
fn shogi_formats_are_converted_into_each_other() {
    let dir = Dir::new();
    let kif = repository().join("testdata/records/kifu-for-windows.kif");
    let kif = kif.to_str().expect("UTF-8");
    let mut usi = Vec::new();
    for format in ["kif", "ki2", "csa", "jkf"] {
        let file = format!("game.{format}");
        let output = convert(&dir, &[kif, "--to", format, "-o", &file], "");
        assert_eq!(output.code(), Some(0), "{}", output.stderr);
        let moves = convert(&dir, &[&file, "--to", "usi"], "");
        assert!(moves.text().starts_with("position "), "{format}: {}", moves.text());
        usi.push(moves.text().to_owned());
    }
    usi.dedup();
    assert_eq!(usi.len(), 1, "{usi:?}");
    convert(&dir, &[kif, "--to", "pgn"], "").reports(1, "PGN does not support shogi");
}

#[test]
fn encodings_are_converted() {
    let dir = Dir::new();
    let kif = repository().join("testdata/records/readyok.kif");
    let kif = kif.to_str().expect("UTF-8");
    let arguments = [kif, "-o", "sjis.kif", "--output-encoding", "shift_jis"];
    assert_eq!(convert(&dir, &arguments, "").code(), Some(0));
    let bytes = fs::read(dir.path().join("sjis.kif")).expect("the output");
    assert!(str::from_utf8(&bytes).is_err());
    let moves = |file: &str| convert(&dir, &[file, "--to", "jkf"], "").text().to_owned();
    assert_eq!(moves("sjis.kif"), moves(kif));
    fs::write(dir.path().join("latin.pgn"), b"[White \"M\xfcller\"]\n\n1. e4 *\n").expect("a file");
    let output = convert(&dir, &["latin.pgn", "--encoding", "windows-1252"], "");
    assert!(output.text().contains("Müller"), "{}", output.text());
    let arguments = ["--output-encoding", "windows-1252", "--to"];
    let output = convert(&dir, &[&arguments[..], &["pgn"]].concat(), "[White \"藤井\"]\n\n*\n");
    assert!(output.text().contains("[White \"??\"]"), "{}", output.text());
    assert!(output.stderr.contains("1 game has characters"), "{}", output.stderr);
}

#[test]
fn compressed_files_are_read_and_written() {
    let dir = Dir::new();
    dir.write("games.pgn", GAMES);
    for file in ["games.pgn.gz", "games.pgn.bz2", "games.pgn.zst"] {
        assert_eq!(convert(&dir, &["games.pgn", "-o", file], "").code(), Some(0));
        let bytes = fs::read(dir.path().join(file)).expect("the output");
        assert!(!bytes.starts_with(b"["), "{file}");
        assert_eq!(convert(&dir, &[file, "--count"], "").text(), "3\n");
    }
    let count = convert(&dir, &["games.pgn.*", "--count"], "");
    assert_eq!(count.text(), "9\n", "{}", count.stderr);
}

#[test]
fn directories_are_read_recursively() {
    let dir = Dir::new();
    fs::create_dir_all(dir.path().join("in/sub")).expect("a directory");
    dir.write("in/one.pgn", GAMES);
    dir.write("in/sub/two.pgn", GAMES);
    dir.write("in/notes.txt", "1. e4 *");
    convert(&dir, &["in"], "").reports(2, "--recursive");
    assert_eq!(convert(&dir, &["-r", "in", "--count"], "").text(), "6\n");
    assert_eq!(convert(&dir, &["-r", "in", "-g", "two*", "--count"], "").text(), "3\n");
    assert_eq!(convert(&dir, &["-r", "in", "-g", "*.txt", "--count"], "").text(), "1\n");
    let listed = convert(&dir, &["-r", "in", "-l", "--player", "keres"], "");
    assert_eq!(listed.text(), "in/one.pgn\nin/sub/two.pgn\n");
    let output = convert(&dir, &["-r", "in", "-o", "out/", "--to", "fen"], "");
    assert_eq!(output.code(), Some(0), "{}", output.stderr);
    assert!(dir.path().join("out/one.fen").exists());
    assert!(dir.path().join("out/sub/two.fen").exists());
}

#[test]
fn games_are_split_into_files() {
    let dir = Dir::new();
    let names = |directory: &str| {
        let entries = fs::read_dir(dir.path().join(directory)).expect("a directory");
        let mut names: Vec<_> = entries
            .map(|entry| entry.expect("an entry").file_name().into_string().expect("UTF-8"))
            .collect();
        names.sort_unstable();
        names
    };
    assert_eq!(convert(&dir, &["--split", "2", "-o", "parts/"], GAMES).code(), Some(0));
    assert_eq!(names("parts"), ["000001.pgn", "000002.pgn"]);
    let arguments = ["--split-by", "player", "-o", "players/", "--compress", "gz"];
    assert_eq!(convert(&dir, &arguments, GAMES).code(), Some(0));
    assert_eq!(
        names("players"),
        ["Bronstein_David.pgn.gz", "Keres_Paul.pgn.gz", "Müller_Anna.pgn.gz"]
    );
    let count = convert(&dir, &["players/Keres_Paul.pgn.gz", "--count"], "");
    assert_eq!(count.text(), "2\n");
    assert_eq!(convert(&dir, &["--split-by", "event", "-o", "events.pgn"], GAMES).code(), Some(0));
    assert!(dir.path().join("events-Club.pgn").exists());
    assert_eq!(convert(&dir, &["--split", "2", "-o", "more/parts"], GAMES).code(), Some(0));
    assert_eq!(names("more/parts"), ["000001.pgn", "000002.pgn"]);
    // A KIF file holds one game.
    let lines = "startpos moves 7g7f\nstartpos moves 2g2f\n";
    let output = convert(&dir, &["--from", "usi", "--to", "kif", "-o", "kif/"], lines);
    assert_eq!(output.code(), Some(0), "{}", output.stderr);
    assert_eq!(names("kif"), ["stdin-2.kif", "stdin.kif"]);
}

#[test]
fn outputs_replace_files_only_when_complete() {
    let dir = Dir::new();
    dir.write("games.pgn", GAMES);
    convert(&dir, &["games.pgn", "-o", "games.pgn"], "").reports(1, "input file");
    assert_eq!(fs::read_to_string(dir.path().join("games.pgn")).expect("the input"), GAMES);
    // The third game cannot be written: nothing is left behind.
    let lines = "startpos moves 7g7f\nstartpos moves 2g2f\n";
    dir.write("old.kif", "old");
    convert(&dir, &["--from", "usi", "-o", "old.kif"], lines).reports(1, "holds one game");
    assert_eq!(fs::read_to_string(dir.path().join("old.kif")).expect("the old file"), "old");
    let entries = fs::read_dir(dir.path()).expect("a directory");
    assert!(entries.flatten().all(|entry| !entry.file_name().to_string_lossy().contains(".tmp")));
    let special = convert(&dir, &["games.pgn", "-o", "/dev/null"], "");
    assert_eq!(special.code(), Some(0), "{}", special.stderr);
}

#[test]
fn defects_are_listed_with_their_locations() {
    let dir = Dir::new();
    dir.write("good.pgn", GAMES);
    dir.write("bad.pgn", &format!("{GAMES}[Event \"x\"]\n\n1. e4 e5 2. Kd5 *\n"));
    let clean = convert(&dir, &["good.pgn", "--check"], "");
    assert_eq!((clean.code(), clean.text()), (Some(0), ""));
    let output = convert(&dir, &["good.pgn", "bad.pgn", "--check"], "");
    assert_eq!(output.code(), Some(1));
    let lines: Vec<_> = output.text().lines().collect();
    let [line] = lines.as_slice() else { panic!("{}", output.text()) };
    assert!(line.starts_with("bad.pgn:35:13") && line.contains("Kd5"), "{line}");
    assert!(output.stderr.contains("7 games"), "{}", output.stderr);
    let missing = convert(&dir, &["none.pgn", "--check"], "");
    assert_eq!(missing.code(), Some(2));
}

/// An illegal move cuts the game. The loss is stated on standard error with the number of the game, as
/// pgn-extract does.
#[test]
fn cut_games_are_reported() {
    let cut = "[Event \"T\"]\n[Round \"1\"]\n\n1. e4 e5 2. Nf3 Nc6 3. Qh5 Nf6 1-0\n\n";
    let whole = "[Event \"T\"]\n[Round \"2\"]\n\n1. d4 d5 2. c4 e6 1-0\n\n";
    let input = format!("{whole}{cut}");
    let output = convert(&Dir::new(), &[], &input);
    assert_eq!(output.code(), Some(1), "{}", output.stderr);
    let lines: Vec<_> = output.stderr.lines().collect();
    let [line, summary] = lines.as_slice() else { panic!("{lines:?}") };
    assert!(line.starts_with("readyok: -:9:24: game 2: ") && line.contains("Qh5"), "{line}");
    assert!(line.ends_with("the main line was read up to ply 4"), "{line}");
    assert_eq!(*summary, "readyok: 1 game was cut: 1 × illegal move");
    assert!(output.text().contains("1. e4 e5 2. Nf3 Nc6 1-0"), "{}", output.text());
    assert!(output.text().contains("2. c4 e6 1-0"), "{}", output.text());
    assert_eq!(convert(&Dir::new(), &["--lenient"], &input).code(), Some(0));
    // A game that is not selected is not written, so its loss is only mentioned.
    convert(&Dir::new(), &["--round", "2"], &input).reports(0, "1 game was cut, and not selected");
    // Few lines of each reason, and a summary.
    let output = convert(&Dir::new(), &["--count"], &cut.repeat(30));
    assert_eq!(output.stderr.lines().count(), 6, "{}", output.stderr);
    assert!(output.stderr.contains("30 games were cut: 30 × illegal move"), "{}", output.stderr);
}

#[test]
fn a_comment_without_end_is_a_failure() {
    let input = "[Event \"T\"]\n\n1. e4 e5 { a comment without end 2. Nf3 Nc6 1-0\n";
    let output = convert(&Dir::new(), &[], input);
    output.reports(1, "a comment is not closed");
    assert!(output.stderr.contains("1 game was cut: 1 × comment not closed"), "{}", output.stderr);
}

#[test]
fn unreadable_games_are_grouped_by_reason() {
    let game = |variant: &str| format!("[Variant \"{variant}\"]\n\n1. e4 e5 *\n\n");
    let input = format!("{}{}{GAMES}", game("crazyhouse").repeat(83), game("atomic"));
    let output = convert(&Dir::new(), &["--count"], &input);
    assert_eq!((output.code(), output.text()), (Some(1), "3\n"));
    let summary = "84 games could not be converted: 83 × crazyhouse, 1 × atomic";
    assert!(output.stderr.contains(summary), "{}", output.stderr);
    assert_eq!(output.stderr.lines().count(), 7, "{}", output.stderr);
}

/// What a format cannot hold is summarized. Only lost moves are a failure.
#[test]
fn omitted_content_is_summarized() {
    let summary = |arguments: &[&str], input: &str, code: i32| {
        let output = convert(&Dir::new(), arguments, input);
        assert_eq!(output.code(), Some(code), "{}", output.stderr);
        output.stderr
    };
    let kif = "手合割：平手\n先手：A\n手数----指手---------消費時間--\n   1 ７六歩(77)   ( 0:16/00:00:16)\n\
               *comment\n   2 投了\n\n変化：1手\n   1 ２六歩(27)\n";
    let text = summary(&["--from", "kif", "--to", "csa"], kif, 0);
    assert_eq!(text, "readyok: omitted, because CSA cannot hold it: variations (1 game)\n");
    assert_eq!(summary(&["--from", "kif", "--to", "jkf"], kif, 0), "");
    let text = summary(&["--from", "kif", "--to", "usi"], kif, 0);
    for loss in ["variations", "comments", "times", "headers", "results"] {
        assert!(text.contains(&format!("{loss} (1 game)")), "{text}");
    }
    let text = summary(&["--to", "usi"], "1. e4 -- 2. d4 *\n\n", 1);
    assert!(text.contains("`-`: game 1: cut at a null or illegal move"), "{text}");
    assert_eq!(summary(&["--to", "usi", "--bare"], "1. e4 e5 *\n\n", 0), "");
    let marked = "1. e4 { [%cal Ge2e4] } e5 *\n\n";
    let text = summary(&["--to", "usi"], &marked.repeat(2), 0);
    assert!(text.contains("marked squares and arrows (2 games)"), "{text}");
    assert_eq!(summary(&["--to", "usi", "--bare"], marked, 0), "");
}

/// Compressed input that expands without limits, or is compressed twice.
#[test]
fn limits_of_decompression_are_defects() {
    use std::io::Write as _;

    let gzip = |content: &[u8]| {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
        encoder.write_all(content).expect("memory");
        encoder.finish().expect("memory")
    };
    let dir = Dir::new();
    let inner = gzip(GAMES.as_bytes());
    fs::write(dir.path().join("twice.pgn.gz"), gzip(&inner)).expect("a file");
    for arguments in [&["twice.pgn.gz"][..], &["twice.pgn.gz", "--check"]] {
        let output = convert(&dir, arguments, "");
        assert_eq!(output.code(), Some(1), "{}", output.stderr);
        let all = format!("{}{}", output.stderr, output.text());
        assert!(all.contains("twice.pgn.gz") && all.contains("compressed again"), "{all}");
    }
    // The games before the limit remain.
    let mut bomb = gzip(converted(&[]).as_bytes());
    let zeros = gzip(&vec![0; 2 << 20]);
    for _ in 0..40 {
        bomb.extend_from_slice(&zeros);
    }
    fs::write(dir.path().join("bomb.pgn.gz"), bomb).expect("a file");
    let output = convert(&dir, &["bomb.pgn.gz", "--count"], "");
    assert_eq!((output.code(), output.text()), (Some(1), "3\n"), "{}", output.stderr);
    let limit = "`bomb.pgn.gz`: the content is more than 1000 times as large";
    assert!(output.stderr.contains(limit), "{}", output.stderr);
    let output = convert(&dir, &["bomb.pgn.gz", "--count", "--max-ratio", "0"], "");
    // The zeros count as a game without moves.
    assert_eq!((output.code(), output.text()), (Some(1), "4\n"), "{}", output.stderr);
    assert!(output.stderr.contains("game too large"), "{}", output.stderr);
}

#[test]
fn defective_records_are_converted_as_expected() {
    let cases = repository().join("testdata/cases");
    let expected = fs::read_to_string(cases.join("expected.json")).expect("a file");
    let expected: serde_json::Map<String, Value> = serde_json::from_str(&expected).expect("JSON");
    let dir = Dir::new();
    // An illegal move at the end has a mark.
    let moves = |record: &GameRecord| -> String {
        let form = record.game().castling_form();
        let moves = record
            .mainline()
            .filter_map(Node::mv)
            .map(|mv| format!("{}{}", mv.to_uci(form), if mv.is_illegal() { "!" } else { "" }));
        moves.collect::<Vec<_>>().join(" ")
    };
    let mut wrong = Vec::new();
    for (name, expected) in &expected {
        let path = cases.join(name);
        let path = path.to_str().expect("UTF-8");
        let file = fs::File::open(path).expect("a file");
        let format =
            Path::new(path).extension().and_then(|name| Format::from_extension(name.to_str()?));
        let records = Records::new(file, format, Limits::default());
        let games: Vec<String> = records.flatten().map(|record| moves(&record)).collect();
        let output = convert(&dir, &[path, "-o", "out/"], "");
        let check = convert(&dir, &[path, "--check"], "");
        let start = |line: &str| {
            let place = line.strip_prefix(path).and_then(|rest| rest.strip_prefix(':'));
            place.map(|place| place.splitn(3, ':').take(2).collect::<Vec<_>>().join(":"))
        };
        let notices: Vec<_> = check.text().lines().map(start).collect();
        // Lost moves are a failure.
        let lost = ["was read up to", "no moves were read", "comment is not closed"];
        let has_lost = lost.iter().any(|text| check.text().contains(text));
        let is_right = json!({ "games": games, "notices": notices }) == *expected
            && output.code() == Some(i32::from(has_lost))
            && has_lost == output.stderr.contains(" cut: ")
            && check.code() == Some(i32::from(!notices.is_empty()));
        if !is_right {
            wrong.push((name, games, check.text().to_owned(), output.stderr.clone()));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn statistics_count_results_openings_and_players() {
    let text = converted(&["--stats=json"]);
    let stats: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(stats["results"]["games"], 3);
    assert_eq!(stats["results"]["draws"], 1);
    assert_eq!(stats["plies"]["longest"], 6);
    assert_eq!(stats["players"][0]["games"], 2);
    assert_eq!(stats["years"]["1953"], 1);
    assert_eq!(stats["terminations"]["checkmate"], 1);
    let table = converted(&["--stats"]);
    for part in ["White wins", "33.3%", "Keres, Paul", "checkmate", "Queen's Gambit"] {
        assert!(table.contains(part), "{part}: {table}");
    }
}

#[test]
fn a_closed_pipe_ends_the_conversion_quietly() {
    let dir = Dir::new();
    dir.write("games.pgn", &GAMES.repeat(3000));
    let program = env!("CARGO_BIN_EXE_readyok");
    let script = format!("'{program}' convert games.pgn --to fen | head -n 1 > first.fen");
    let mut shell = Command::new("sh");
    shell.args(["-c", &script]).current_dir(dir.path());
    shell.stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::piped());
    shell.stderr(std::process::Stdio::piped());
    let output = run(&mut shell, b"");
    assert_eq!(output.stderr, "");
    let line = fs::read_to_string(dir.path().join("first.fen")).expect("the first line");
    assert!(line.ends_with('\n') && line.contains(" w "), "{line}");
}

/// Compares the moves with those of pgn-extract, if it is installed.
#[test]
fn pgn_extract_writes_the_same_moves() {
    let extract = ["/usr/games/pgn-extract", "/usr/bin/pgn-extract"];
    let Some(extract) = extract.into_iter().find(|path| Path::new(path).exists()) else { return };
    let dir = Dir::new();
    let path = dir.write("games.pgn", GAMES);
    let mut theirs = Command::new(extract);
    theirs.args(["-s", "-C", "-N", "-V", "-7", "-Wuci", "-w1000"]).arg(path);
    theirs.stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::piped());
    theirs.stderr(std::process::Stdio::piped());
    let theirs = run(&mut theirs, b"");
    let moves = |text: &str| -> Vec<String> {
        let lines = text.lines().filter(|line| !line.starts_with('['));
        let tokens = lines.flat_map(str::split_whitespace);
        tokens.filter(|token| !token.ends_with('.')).map(str::to_owned).collect()
    };
    let ours = converted(&["--bare", "-7", "--notation", "uci"]);
    assert_eq!(moves(&ours), moves(theirs.text()));
}
