//! `readyok analyse --input` with an engine that answers by rules.

use std::fmt::Write as _;
use std::fs;
use std::process::Command;

use serde_json::Value;

use crate::program::{Dir, Output, Signal, finish, readyok, run, scripted_engine, signal, wait};
use crate::real::engine;

/// Answers in the initial position, after 1. e4, and to mate searches in shogi.
const RULES: &str = "\
moves e2e4 e7e5 => info depth 2 nodes 20 score cp 30 pv e2e4; bestmove e2e4
moves e2e4 => bestmove e7e5
startpos => info depth 1 score cp 10 pv d2d4; info depth 2 nodes 20 score cp 30 time 5 pv e2e4 e7e5; bestmove e2e4 ponder e7e5
w KQkq => info depth 2 nodes 20 score cp 30 pv e2e4 e7e5; bestmove e2e4
b KQkq => info depth 3 nodes 30 score mate 2 time 1 pv e7e5; bestmove e7e5
4G4 => checkmate G*5b
9/4P4 => checkmate G*4b
=> bestmove a1a2";

const START: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -";
const AFTER_E4: &str = "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq -";

/// A command line of an engine with these rules.
fn rules(dir: &Dir, name: &str, rules: &str) -> String {
    let file = dir.write(&format!("{name}.rules"), rules);
    let log = dir.path().join(format!("{name}.log"));
    format!("{} answers {} {}", scripted_engine().display(), file.display(), log.display())
}

fn command(dir: &Dir, engines: &[&str], arguments: &[&str]) -> Command {
    let mut command = readyok(dir);
    command.arg("analyse").args(engines).args(arguments).current_dir(dir.path());
    command
}

fn analyse(dir: &Dir, arguments: &[&str], input: &str) -> Output {
    let engine = rules(dir, "one", RULES);
    let arguments = [&["--depth", "5"], arguments].concat();
    run(&mut command(dir, &[&engine], &arguments), input.as_bytes())
}

fn json(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).expect("an object in each line")).collect()
}

/// The values of a field.
fn field<'a>(records: &'a [Value], name: &str) -> Vec<&'a Value> {
    records.iter().map(|record| &record[name]).collect()
}

#[test]
fn each_line_is_a_position() {
    let dir = Dir::new();
    let input = format!(
        "# a comment\n{START} id \"start\";\n\n{AFTER_E4}\ne4\n1. e4 e5 2. Nf3\nstartpos moves e2e4\n"
    );
    let output = analyse(&dir, &["--input", "-", "--summary", "none"], &input);
    assert_eq!((output.code(), output.stderr.as_str()), (Some(0), ""));
    let records = json(output.text());
    assert_eq!(field(&records, "line"), [2, 4, 5, 6, 7]);
    assert_eq!(field(&records, "index"), [1, 2, 3, 4, 5]);
    let first = &records[0];
    assert_eq!(first["id"], "start");
    assert_eq!(first["fen"], format!("{START} 0 1"));
    assert_eq!((&first["move"], &first["move_text"]), (&"e2e4".into(), &"e4".into()));
    assert_eq!((&first["ponder"], &first["depth"]), (&"e7e5".into(), &2.into()));
    assert_eq!(first["score"], serde_json::json!({"kind": "cp", "value": 30}));
    assert_eq!(first["pv_text"], serde_json::json!(["e4", "e5"]));
    assert_eq!(first["engine_name"], "Rules");
    // The engine gets the moves, for repetitions.
    let log = fs::read_to_string(dir.path().join("one.log")).expect("the log");
    assert!(log.contains("position startpos moves e2e4 e7e5 g1f3\n"), "{log}");
    assert_eq!(log.matches("ucinewgame\n").count(), 5);
    let output = analyse(&dir, &["--input", "-", "--keep-hash"], &input);
    assert_eq!(output.code(), Some(0));
    let log = fs::read_to_string(dir.path().join("one.log")).expect("the log");
    assert_eq!(log.matches("ucinewgame\n").count(), 6);
}

#[test]
fn games_have_their_last_positions_or_chosen_ones() {
    let dir = Dir::new();
    dir.write("games.pgn", "[White \"A\"]\n\n1. e4 e5 2. Nf3 *\n\n[White \"B\"]\n\n1. d4 *\n");
    dir.write("game.ki2", "開始日時：2020/01/01\n▲７六歩 △３四歩\n▲２六歩\n");
    dir.write("game.kif", "手合割：平手\n   1 ７六歩(77)\n   2 ３四歩(33)\n");
    let plies = |arguments: &[&str]| {
        let arguments = [&["--input", "games.pgn", "--summary", "none"], arguments].concat();
        let output = analyse(&dir, &arguments, "");
        assert_eq!((output.code(), output.stderr.as_str()), (Some(0), ""));
        let records = json(output.text());
        let places = records.iter().map(|record| (record["game"].as_u64(), record["ply"].as_u64()));
        places.map(|(game, ply)| (game.expect("a game"), ply.expect("a ply"))).collect::<Vec<_>>()
    };
    assert_eq!(plies(&[]), [(1, 3), (2, 1)]);
    assert_eq!(plies(&["--all"]), [(1, 0), (1, 1), (1, 2), (1, 3), (2, 0), (2, 1)]);
    assert_eq!(plies(&["--plies", "1..2"]), [(1, 1), (1, 2), (2, 1)]);
    assert_eq!(plies(&["--every", "2"]), [(1, 0), (1, 2), (2, 0)]);
    assert_eq!(plies(&["--plies", "2..", "--every", "2"]), [(1, 2)]);
    let output = analyse(&dir, &["--input", "game.kif", "games.pgn"], "");
    let records = json(output.text());
    assert_eq!(records.len(), 3);
    assert!(records[0]["sfen"].is_string() && records[1]["fen"].is_string());
    // Without a known extension, the content decides.
    for (name, games) in [("games.pgn", 2), ("game.kif", 1), ("game.ki2", 1)] {
        let text = fs::read_to_string(dir.path().join(name)).expect(name);
        let output = analyse(&dir, &["--input", "-"], &text);
        assert_eq!(output.code(), Some(0), "{name}: {}", output.stderr);
        assert_eq!(json(output.text()).len(), games, "{name}");
    }
}

/// Files for shogi are often in `Shift_JIS`; editors on Windows write a byte order mark.
#[test]
fn lines_have_any_encoding() {
    let dir = Dir::new();
    // ７六歩 ３四歩
    fs::write(dir.path().join("sjis.txt"), b"\x82\x56\x98\x5a\x95\xe0 \x82\x52\x8e\x6c\x95\xe0\n")
        .expect("a file");
    fs::write(dir.path().join("bom.txt"), "\u{feff}7g7f 3c3d\r\n").expect("a file");
    let utf16: Vec<u8> = "\u{feff}7g7f 3c3d\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    fs::write(dir.path().join("utf16.txt"), utf16).expect("a file");
    let output = analyse(&dir, &["--input", "sjis.txt", "bom.txt", "utf16.txt"], "");
    assert_eq!(output.code(), Some(0), "{}", output.stderr);
    let records = json(output.text());
    let sfen = "lnsgkgsnl/1r5b1/pppppp1pp/6p2/9/2P6/PP1PPPPPP/1B5R1/LNSGKGSNL b - 3";
    assert_eq!(field(&records, "sfen"), [sfen; 3]);
}

#[test]
fn compressed_files_are_read() {
    let dir = Dir::new();
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    std::io::Write::write_all(&mut encoder, format!("{START}\n").repeat(3).as_bytes())
        .expect("memory");
    fs::write(dir.path().join("a.epd.gz"), encoder.finish().expect("memory")).expect("a file");
    let output = analyse(&dir, &["--input", "a.epd.gz", "-o", "out.jsonl.gz"], "");
    assert_eq!(output.code(), Some(0), "{}", output.stderr);
    let written = fs::read(dir.path().join("out.jsonl.gz")).expect("the output");
    let mut text = String::new();
    std::io::Read::read_to_string(&mut flate2::read::GzDecoder::new(&*written), &mut text)
        .expect("a compressed file");
    assert_eq!(json(&text).len(), 3);
}

#[test]
fn results_are_in_the_order_of_the_positions() {
    let dir = Dir::new();
    // The first position is answered when the last one of the first window was searched.
    let rules = rules(
        &dir,
        "slow",
        &format!(
            "K7 w - - 0 1 => wait {0}/go; bestmove a1a2\nK7 w - - 9 => wait {0}/x; bestmove a1a2\n\
             K7 w - - 20 => crash-once {0}/go; bestmove a1a2\n=> bestmove a1a2",
            dir.path().display()
        ),
    );
    let mut input = String::new();
    for number in 0..90 {
        let clock = if number == 9 { 8 } else { number };
        let _ = writeln!(input, "4k3/8/8/8/8/8/8/K7 w - - {clock} 1");
    }
    dir.write("many.fen", &input);
    let arguments = ["--input", "many.fen", "--nodes", "1", "--jobs", "3"];
    let output = run(&mut command(&dir, &[&rules], &arguments), b"");
    // One crash, after which the engine was started again.
    assert_eq!(output.code(), Some(0), "{}", output.stderr);
    let records = json(output.text());
    let expected: Vec<u64> = (1..=90).collect();
    assert_eq!(field(&records, "index"), expected);
    assert!(output.stderr.contains("90"), "{}", output.stderr);
}

#[test]
fn engines_may_fail() {
    let dir = Dir::new();
    let engine = rules(&dir, "crash", "b KQkq => crash\n=> bestmove e2e4");
    let input = format!("{START}\n{AFTER_E4} bm e5;\n{START}\n");
    let arguments = ["--input", "-", "--depth", "1"];
    let output = run(&mut command(&dir, &[&engine], &arguments), input.as_bytes());
    output.reports(1, "-:2: engine `");
    let records = json(output.text());
    assert_eq!(records.len(), 3);
    assert!(records[1]["error"].as_str().is_some_and(|error| error.contains("exited")));
    assert_eq!(records[1]["verdict"], "failed");
    assert!(records[0]["error"].is_null() && records[2]["move"] == "e2e4");
    let log = fs::read_to_string(dir.path().join("crash.log")).expect("the log");
    // It was started again once, and for the position after the failure.
    assert_eq!(log.matches("uci\n").count(), 3);
    // An engine that cannot start, and one without the option, end the run.
    let output = run(&mut command(&dir, &["no-such-engine"], &arguments), input.as_bytes());
    output.reports(2, "no-such-engine");
    let arguments = ["--input", "-", "--option", "Nothing=1"];
    let output = run(&mut command(&dir, &[&engine], &arguments), input.as_bytes());
    output.reports(2, "Nothing");
    assert_eq!(output.text(), "");
}

#[test]
fn defects_of_the_input_are_reported() {
    let dir = Dir::new();
    let long = format!("{START} c0 \"{}\";", "x".repeat(300_000));
    let input =
        format!("{START}\nhello\n{long}\n8/8/8/8/8/8/8/8 w - -\n{START} bm e5;\n{AFTER_E4}\n");
    let output = analyse(&dir, &["--input", "-"], &input);
    assert_eq!(output.code(), Some(1));
    for error in ["-:2: ", "-:3: the line has more than", "-:4: ", "-:5: `bm`", "not analysed: 4"] {
        assert!(output.stderr.contains(error), "no {error}: {}", output.stderr);
    }
    assert_eq!(field(&json(output.text()), "line"), [1, 6]);
    let output = analyse(&dir, &["--input", "-", "--strict"], &input);
    output.reports(1, "--strict");
    assert_eq!(field(&json(output.text()), "line"), [1]);
    analyse(&dir, &["--input", "missing.epd"], "").reports(2, "missing.epd");
    dir.write("cut.pgn", "1. e4 e5 2. Ke3 *\n");
    let output = analyse(&dir, &["--input", "cut.pgn"], "");
    output.reports(1, "cut.pgn:1:");
    assert_eq!(json(output.text()).len(), 1);
    assert_eq!(analyse(&dir, &["--input", "cut.pgn", "--lenient"], "").code(), Some(0));
    for arguments in [
        &["--input", "-", "--fen", START][..],
        &["--input", "-", "--infinite"],
        &["--all"],
        &["--input", "-", "--win-model", "sf1"],
        &["--input", "-", "--restart"],
        &["--input", "cut.pgn", "-o", "cut.pgn"],
    ] {
        assert_eq!(analyse(&dir, arguments, START).code(), Some(2), "{arguments:?}");
    }
}

#[test]
fn operations_are_scored() {
    let dir = Dir::new();
    dir.write(
        "suite.epd",
        &format!(
            "{START} bm e4; id \"a\";\n{START} bm d4; id \"b\"; c0 \"d4=10, e4=7\";\n{START} am e4;\n\
             {AFTER_E4} dm 2;\n{AFTER_E4} dm 1;\n{START} c8 \"10 3\"; c9 \"e2e4 d2d4\";\n{START}\n"
        ),
    );
    let output = analyse(&dir, &["--input", "suite.epd", "--summary", "json"], "");
    assert_eq!(output.code(), Some(0), "{}", output.stderr);
    let records = json(output.text());
    let verdicts = ["solved", "failed", "failed", "solved", "failed", "solved"];
    assert_eq!(
        field(&records, "verdict").get(..6),
        Some(&verdicts.each_ref().map(|text| Value::from(*text)).each_ref()[..])
    );
    assert!(records[6]["verdict"].is_null());
    assert_eq!((&records[1]["points"], &records[1]["max_points"]), (&7.into(), &10.into()));
    // Depth 1 had another move.
    assert_eq!(records[0]["solution"], serde_json::json!({"depth": 2, "nodes": 20, "time_ms": 5}));
    let summary: Value = serde_json::from_str(&output.stderr).expect("a summary");
    let row = &summary["rows"][0];
    for (name, value) in
        [("positions", 7), ("scored", 6), ("solved", 3), ("points", 17), ("max_points", 20)]
    {
        assert_eq!(row[name], value, "{name}: {summary}");
    }
    assert_eq!(row["percent"], 50.0);
}

#[test]
fn mates_of_shogi_are_verified() {
    let dir = Dir::new();
    let input = "4k4/9/4G4/9/9/9/9/9/9 b G 1\n4k4/9/4P4/9/9/9/9/9/9 b 2G 1\n";
    let arguments = ["--input", "-", "--mate", "100", "--from", "sfen"];
    let engine = rules(&dir, "one", RULES);
    let output = run(&mut command(&dir, &[&engine], &arguments), input.as_bytes());
    assert_eq!(output.code(), Some(0), "{}", output.stderr);
    let records = json(output.text());
    assert_eq!(field(&records, "verdict"), ["solved", "failed"]);
    assert_eq!(records[0]["checkmate"], "found");
    assert!(output.stderr.contains("1/2"), "{}", output.stderr);
    // The built-in engine proves both.
    let output = run(&mut command(&dir, &["narikin"], &arguments), input.as_bytes());
    assert_eq!(field(&json(output.text()), "verdict"), ["solved", "solved"], "{}", output.stderr);
}

#[test]
fn engines_are_compared() {
    let dir = Dir::new();
    let one = rules(&dir, "one", RULES);
    let other = rules(&dir, "other", "=> info depth 9 score cp 0 pv d2d4; bestmove d2d4");
    dir.write(
        "suite.epd",
        &format!("{START} bm e4; id \"first\";\n{START} am a4; id \"second\";\n"),
    );
    let arguments = ["--input", "suite.epd", "--depth", "1", "--engine", &other, "-o", "out.jsonl"];
    let output = run(&mut command(&dir, &[&one], &arguments), b"");
    assert_eq!(output.code(), Some(0), "{}", output.stderr);
    let text = fs::read_to_string(dir.path().join("out.jsonl")).expect("the output");
    let engines = [one.as_str(), &other, &one, &other];
    assert_eq!(field(&json(&text), "engine"), engines);
    let table = output.text();
    assert!(table.contains("2/2  100.0") && table.contains("1/2   50.0"), "{table}");
    assert!(table.contains("positions in which engines differ: 1\n"), "{table}");
    assert!(table.contains("suite.epd:1 first: ") && !table.contains("second"), "{table}");
    let output = run(&mut command(&dir, &[&one, &one], &["--input", "suite.epd", "--epd"]), b"");
    output.reports(2, "annotated EPD");
    let output = run(&mut command(&dir, &[&one, &other], &["--depth", "1"]), b"");
    output.reports(2, "add --input");
}

#[test]
fn annotated_epd_keeps_other_operations() {
    let dir = Dir::new();
    let input = format!(
        "{START} bm e4; id \"a\"; ce 77; pv d4 d5; hmvc 3; c3 \"x\";\n{AFTER_E4} dm 5;\n1. e4 e5\n7g7f 3c3d\n"
    );
    let output = analyse(&dir, &["--input", "-", "--epd", "--summary", "none"], &input);
    output.reports(1, "-:4: EPD has no shogi; use --json");
    let expected = format!(
        "{START} bm e4; id \"a\"; hmvc 3; c3 \"x\"; ce 30; acd 2; acn 20; acs 0; pv e4 e5;\n\
         {AFTER_E4} dm 2; acd 3; acn 30; acs 0; pv e5;\n\
         rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - hmvc 0; fmvn 2; ce 30; acd 2; acn 20; acs 0; pv e4;\n"
    );
    // The last variation of the rules is illegal after 1. e4 e5, so nothing of it is written.
    let expected = expected.replace("acs 0; pv e4;\n", "acs 0;\n");
    assert_eq!(output.text(), expected);
    let output = analyse(&dir, &["--input", "-", "-o", "out.epd"], &format!("{START}\n"));
    assert_eq!(output.code(), Some(0), "{}", output.stderr);
    let text = fs::read_to_string(dir.path().join("out.epd")).expect("the output");
    assert!(text.starts_with(START) && text.contains(" acd 2;"), "{text}");
}

#[test]
fn winning_chances_have_models() {
    let dir = Dir::new();
    let output = analyse(&dir, &["--input", "-", "--win-model", "lichess"], START);
    let record = &json(output.text())[0];
    // 50 + 50 (2 / (1 + exp(-0.00368208 · 30)) - 1)
    assert_eq!(record["win_percentage"], 52.7588);
    assert_eq!(record["expected_score"], 0.5276);
}

#[test]
fn finished_games_are_not_searched() {
    let dir = Dir::new();
    let output = analyse(&dir, &["--input", "-"], "7k/6Q1/6K1/8/8/8/8/8 b - - 0 1\n");
    let record = &json(output.text())[0];
    assert_eq!(record["score"], serde_json::json!({"kind": "mated", "plies": 0}));
    assert_eq!(record["answer"], "none");
    assert!(!dir.path().join("one.log").exists());
}

/// A run is killed; the same command continues, and others are rejected.
#[test]
fn a_killed_run_continues() {
    let dir = Dir::new();
    let wait_rule =
        format!("K7 w - - 5 => wait {}/go; bestmove a1a2\n=> bestmove a1a2", dir.path().display());
    let engine = rules(&dir, "wait", &wait_rule);
    let line = |number| format!("4k3/8/8/8/8/8/8/K7 w - - {number} 1 bm Ka2;\nbad\n");
    let input = (0..10).map(line).collect::<String>();
    dir.write("many.epd", &input);
    let arguments = ["--input", "many.epd", "--nodes", "1", "-o", "out.jsonl"];
    let mut child = command(&dir, &[&engine], &arguments).spawn().expect("the process starts");
    let progress = dir.path().join("out.jsonl.progress");
    let lines = || fs::read_to_string(&progress).unwrap_or_default().lines().count();
    wait("no progress", || lines() == 6);
    let second = run(&mut command(&dir, &[&engine], &arguments), b"");
    second.reports(2, "another run uses this file");
    signal(child.id(), Signal::KILL);
    child.wait().expect("the process ends");
    assert!(!dir.path().join("out.jsonl").exists());
    let other = ["--input", "many.epd", "--nodes", "2", "-o", "out.jsonl"];
    run(&mut command(&dir, &[&engine], &other), b"").reports(2, "other settings");
    dir.write("many.epd", &input.replacen("bm Ka2", "am Ka2", 1));
    run(&mut command(&dir, &[&engine], &arguments), b"").reports(2, "the input has changed");
    dir.write("many.epd", &input);
    dir.write("go", "");
    let log = dir.path().join("wait.log");
    fs::remove_file(&log).expect("the log");
    let output = run(&mut command(&dir, &[&engine], &arguments), b"");
    output.reports(1, "continues after 5 positions");
    // The summary counts all positions, and the lines that are not.
    assert!(output.text().contains("10/10"), "{}", output.text());
    assert!(output.text().contains("not analysed: 10"), "{}", output.text());
    let searches = fs::read_to_string(&log).expect("the log").matches("go nodes 1\n").count();
    assert_eq!(searches, 5);
    let text = fs::read_to_string(dir.path().join("out.jsonl")).expect("the output");
    assert_eq!(field(&json(&text), "index"), (1..=10).collect::<Vec<u64>>());
    assert!(!progress.exists());
}

#[cfg(unix)]
#[test]
fn an_interrupt_keeps_the_results() {
    let dir = Dir::new();
    let wait_rule =
        format!("K7 w - - 2 => wait {}/go; bestmove a1a2\n=> bestmove a1a2", dir.path().display());
    let engine = rules(&dir, "wait", &wait_rule);
    dir.write("a.fen", "4k3/8/8/8/8/8/8/K7 w - - 1 1\n4k3/8/8/8/8/8/8/K7 w - - 2 1\n");
    let arguments = ["--input", "a.fen", "--nodes", "1", "-o", "out.jsonl"];
    let child = command(&dir, &[&engine], &arguments).spawn().expect("the process starts");
    let progress = dir.path().join("out.jsonl.progress");
    wait("no progress", || fs::read_to_string(&progress).unwrap_or_default().lines().count() == 2);
    signal(child.id(), Signal::INT);
    let output = finish(child);
    output.reports(130, "interrupted; `out.jsonl.progress` keeps 1 positions");
    assert_eq!(fs::read_to_string(&progress).expect("the file").lines().count(), 2);
}

/// An interrupt ends a run that waits for standard input.
#[cfg(unix)]
#[test]
fn an_interrupt_does_not_wait_for_input() {
    let dir = Dir::new();
    let engine = rules(&dir, "one", RULES);
    let arguments = ["--input", "-", "--depth", "1"];
    let mut child = command(&dir, &[&engine], &arguments).spawn().expect("the process starts");
    let mut stdin = child.stdin.take().expect("a pipe");
    std::io::Write::write_all(&mut stdin, format!("{START}\n").as_bytes()).expect("the pipe");
    // The result is written although the input has not ended.
    let mut line = String::new();
    let mut stdout = std::io::BufReader::new(child.stdout.take().expect("a pipe"));
    std::io::BufRead::read_line(&mut stdout, &mut line).expect("the pipe");
    assert_eq!(json(&line)[0]["move"], "e2e4");
    signal(child.id(), Signal::INT);
    finish(child).reports(130, "interrupted");
    drop(stdin);
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_an_error() {
    let dir = Dir::new();
    let output = analyse(&dir, &["--input", "-", "-o", "/dev/full"], &format!("{START}\n"));
    output.reports(1, "cannot write the results: No space left on device");
}

/// A position is read only when it is near the first one without a result, so that memory is bounded.
#[test]
fn input_is_read_as_it_is_needed() {
    let dir = Dir::new();
    let wait_rule =
        format!("startpos => wait {0}/go; bestmove e2e4\n=> bestmove a1a2", dir.path().display());
    let engine = rules(&dir, "wait", &wait_rule);
    let arguments = ["--input", "-", "--nodes", "1", "--jobs", "2", "--summary", "none"];
    let mut child = command(&dir, &[&engine], &arguments).spawn().expect("the process starts");
    let mut stdin = child.stdin.take().expect("a pipe");
    // Much more than the buffers of the pipe and of the readers.
    let lines = 40_000;
    let writer = std::thread::spawn(move || {
        let mut written = 0;
        let first = format!("{START}\n");
        std::io::Write::write_all(&mut stdin, first.as_bytes()).expect("the pipe");
        for _ in 0..lines {
            std::io::Write::write_all(&mut stdin, b"4k3/8/8/8/8/8/8/K7 w - - 0 1\n")
                .expect("the pipe");
            written += 1;
        }
        written
    });
    let log = dir.path().join("wait.log");
    let searches = || fs::read_to_string(&log).unwrap_or_default().matches("go nodes 1\n").count();
    // The window of two processes.
    wait("no searches", || searches() >= 32);
    assert!(!writer.is_finished(), "all input was read");
    assert_eq!(searches(), 32);
    dir.write("go", "");
    let output = finish(child);
    assert_eq!(output.code(), Some(0), "{}", output.stderr);
    assert_eq!(writer.join().expect("the writer"), lines);
    assert_eq!(output.text().lines().count(), lines + 1);
}

/// Positions with one shortest mate.
/// With `READYOK_REAL_ENGINES`.
#[test]
fn stockfish_solves_a_suite() {
    let Some(stockfish) = engine("stockfish") else { return };
    let dir = Dir::new();
    dir.write(
        "mates.epd",
        "6k1/5ppp/8/8/8/8/8/R5K1 w - - bm Ra8#; dm 1; id \"back rank\";\n\
         7k/8/5K2/8/8/8/8/6Q1 w - - bm Qg7; dm 1; id \"queen\";\n\
         r1bq2rk/pp3pbp/2p1p1pQ/7P/3P4/2PB1N2/PP3PPR/2KR4 w - - bm Qxh7+; dm 2; id \"sacrifice\";\n",
    );
    let stockfish = stockfish.display().to_string();
    let arguments = [
        "narikin",
        "--input",
        "mates.epd",
        "--depth",
        "8",
        "--jobs",
        "2",
        "-o",
        "out.epd",
        "--json",
    ];
    let output = run(&mut command(&dir, &[&stockfish], &arguments), b"");
    assert_eq!(output.code(), Some(0), "{}", output.stderr);
    assert_eq!(output.text().matches("3/3  100.0").count(), 2, "{}", output.text());
}
