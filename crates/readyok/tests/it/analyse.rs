//! `readyok analyse` with a scripted engine, and the formatting of its output.

use std::io::{BufRead, BufReader};
use std::process::Command;

use readyok::analyse::{MoveFormatter, Screen, View, line, table};
use readyok_client::Info;
use readyok_protocol::{Dialect, Reply};
use readyok_rules::{Game, Notation, Position};
use serde_json::{Value, json};

use crate::program::{
    Dir, Output, Signal, Terminal, finish, readyok, run, scripted_engine, signal,
};

const HANDSHAKE: &str = include_str!("data/analyse/handshake.txt");

const USI_HANDSHAKE: &str = include_str!("data/analyse/usi_handshake.txt");

fn analyse(dir: &Dir, arguments: &[&str], script: &str) -> Command {
    let script = dir.write("script", script);
    let engine = format!("{} {}", scripted_engine().display(), script.display());
    let mut command = readyok(dir);
    command.args(["analyse", &engine]).args(arguments);
    command
}

fn run_script(arguments: &[&str], script: &str) -> Output {
    let dir = Dir::new();
    run(&mut analyse(&dir, arguments, script), b"")
}

/// Compares the JSON lines except `time_ms` of the result.
#[track_caller]
fn check_json(arguments: &[&str], script: &str, records: &[Value]) {
    let output = run_script(arguments, script);
    assert_eq!((output.code(), output.stderr.as_str()), (Some(0), ""));
    let mut lines: Vec<Value> = output
        .text()
        .lines()
        .map(|line| serde_json::from_str(line).expect("an object in each line"))
        .collect();
    let end = lines.last_mut().and_then(Value::as_object_mut).expect("a last object");
    assert!(end.remove("time_ms").is_some_and(|time| time.is_u64()));
    assert_eq!(lines, records);
}

#[track_caller]
fn check_error(arguments: &[&str], script: &str, code: i32, error: &str) {
    let output = run_script(arguments, script);
    assert_eq!((output.text(), output.code()), ("", Some(code)));
    assert!(output.stderr.contains(error), "{}", output.stderr);
}

#[test]
fn null_move_is_no_move_and_its_token_is_printed() {
    check_json(
        &["--fen", "R5k1/5ppp/8/8/8/8/8/6K1 b - - 0 1", "--depth", "1"],
        &format!(
            "{HANDSHAKE}> ucinewgame\n> isready\n< readyok\n\
             > position fen R5k1/5ppp/8/8/8/8/8/6K1 b - - 0 1\n> go depth 1\n\
             < bestmove a1a1"
        ),
        &[json!({"type": "bestmove", "answer": "none", "move": "a1a1"})],
    );
}

#[test]
fn prints_an_object_for_each_info_and_one_for_the_result() {
    check_json(
        &["--moves", "e2e4", "e7e5", "--depth", "2", "--multipv", "2"],
        &format!(
            "{HANDSHAKE}\
             > setoption name MultiPV value 2\n> ucinewgame\n> isready\n< readyok\n\
             > position startpos moves e2e4 e7e5\n> go depth 2\n\
             < info depth 2 seldepth 3 multipv 1 score cp 20 lowerbound wdl 9 980 11 nodes 50 nps 7 \
             hashfull 3 tbhits 1 time 4 pv g1f3 b8c6\n\
             < info depth 2 multipv 2 score mate -2 pv f1c4\n\
             < info depth 2 currmove a2a3 currmovenumber 7\n\
             < info string hello  you\n\
             < bestmove g1f3 ponder b8c6"
        ),
        &[
            json!({
                "type": "info", "depth": 2, "seldepth": 3, "multipv": 1,
                "score": {"kind": "cp", "value": 20}, "bound": "lower",
                "wdl": {"win": 9, "draw": 980, "loss": 11},
                "nodes": 50, "nps": 7, "hashfull": 3, "tbhits": 1, "time_ms": 4,
                "pv": ["g1f3", "b8c6"], "pv_text": ["Nf3", "Nc6"],
            }),
            json!({
                "type": "info", "depth": 2, "multipv": 2,
                "score": {"kind": "mated", "plies": 4}, "pv": ["f1c4"], "pv_text": ["Bc4"],
            }),
            json!({"type": "info", "depth": 2, "currmove": "a2a3", "currmovenumber": 7}),
            json!({"type": "info", "string": "hello  you"}),
            json!({
                "type": "bestmove", "answer": "move", "move": "g1f3", "move_text": "Nf3",
                "ponder": "b8c6", "ponder_text": "Nc6",
            }),
        ],
    );
}

#[test]
fn uses_usi_for_shogi() {
    check_json(
        &["--game", "shogi", "--mate", "500", "--notation", "japanese"],
        &format!("{USI_HANDSHAKE}> position startpos\n> go mate 500\n< checkmate 7g7f 3c3d"),
        &[json!({
            "type": "bestmove", "answer": "move", "move": "7g7f", "move_text": "▲７六歩",
            "checkmate": "found", "mate": ["7g7f", "3c3d"],
        })],
    );
}

#[test]
fn sets_options_before_the_search() {
    check_json(
        &["--option", "style=risky", "--option", "Clear Hash", "--nodes", "9"],
        &format!(
            "{HANDSHAKE}> setoption name Style value Risky\n> setoption name Clear Hash\n\
             > ucinewgame\n> isready\n< readyok\n> position startpos\n> go nodes 9\n\
             < bestmove (none)"
        ),
        &[json!({"type": "bestmove", "answer": "none"})],
    );
}

#[test]
fn searches_for_ten_seconds_without_a_limit() {
    check_json(
        &[],
        &format!(
            "{HANDSHAKE}> ucinewgame\n> isready\n< readyok\n> position startpos\n\
             > go movetime 10000\n< bestmove e2e4"
        ),
        &[json!({"type": "bestmove", "answer": "move", "move": "e2e4", "move_text": "e4"})],
    );
}

#[test]
fn sends_chess960_castling_as_king_takes_rook() {
    let fen = "4k3/8/8/8/8/8/8/4K2R w K - 0 1";
    check_json(
        &["--game", "chess960", "--fen", fen, "--moves", "e1g1", "--depth", "1"],
        &format!(
            "> uci\n< id name Scripted\n< option name UCI_Chess960 type check default false\n\
             < uciok\n> setoption name UCI_Chess960 value true\n> ucinewgame\n> isready\n\
             < readyok\n> position fen {fen} moves e1h1\n> go depth 1\n< bestmove e8e7"
        ),
        &[json!({"type": "bestmove", "answer": "move", "move": "e8e7", "move_text": "Ke7"})],
    );
}

/// Moves have any notation; the engine gets UCI or USI.
#[test]
fn reads_moves_in_the_notations_of_players() {
    check_json(
        &["--moves", "1.", "e4", "e7e5", "Nf3", "--searchmoves", "Nc6", "--depth", "1"],
        &format!(
            "{HANDSHAKE}> ucinewgame\n> isready\n< readyok\n\
             > position startpos moves e2e4 e7e5 g1f3\n> go depth 1 searchmoves b8c6\n< bestmove b8c6"
        ),
        &[json!({"type": "bestmove", "answer": "move", "move": "b8c6", "move_text": "Nc6"})],
    );
    check_json(
        &["--moves", "▲７六歩", "△３四歩", "--depth", "1"],
        &format!(
            "{USI_HANDSHAKE}> position startpos moves 7g7f 3c3d\n> go depth 1\n< bestmove 8h2b+"
        ),
        &[json!({"type": "bestmove", "answer": "move", "move": "8h2b+", "move_text": "Bx2b+"})],
    );
}

#[test]
fn prints_lines_of_text() {
    let output = run_script(
        &["--plain", "--depth", "1"],
        &format!(
            "{HANDSHAKE}> ucinewgame\n> isready\n< readyok\n> position startpos\n> go depth 1\n\
             < info depth 1 score cp 20 pv e2e4\n< bestmove e2e4 ponder e2e4"
        ),
    );
    assert_eq!(
        output.text(),
        "depth 1  score +0.20  e4\nbest move: e4, expected reply: e2e4 (illegal)\n"
    );
}

#[test]
fn rejects_invalid_arguments_before_starting_the_engine() {
    let never = "= 1";
    check_error(&["--moves", "e2e4", "e2e4"], never, 2, "move 2: illegal move `e2e4`");
    check_error(&["--moves", "e4", "Nf4"], never, 2, "move 2: illegal move `Nf4`");
    check_error(
        &["--fen", "k7/8/8/8/8/8/8/KN3N2 w - - 0 1", "--moves", "Nd2"],
        never,
        2,
        "move 1: ",
    );
    check_error(&["--game", "shogi", "--searchmoves", "▲７七歩"], never, 2, "move 1: ");
    let time =
        "invalid value '1s' for '--movetime <MS>': a whole number of milliseconds is expected";
    check_error(&["--movetime", "1s"], never, 2, time);
    check_error(&["--depth", "x"], never, 2, "'--depth <PLIES>': a whole number is expected");
    check_error(
        &["--fen", "8/8/8/8/8/8/8/8 w - - 0 1"],
        never,
        2,
        "readyok: invalid position `8/8/8/8/8/8/8/8 w - - 0 1`: ",
    );
    check_error(&["--game", "shogi", "--fen", "x"], never, 2, "need --sfen, not --fen");
    check_error(&["--game", "chess", "--sfen", "x"], never, 2, "need --fen, not --sfen");
    check_error(&["--infinite", "--depth", "1"], never, 2, "cannot be used with");
    check_error(&["--multipv", "0"], never, 2, "0 is not in");
}

#[test]
fn rejects_invalid_options() {
    check_error(&["--option", "Unknown=1"], HANDSHAKE, 2, "no option `Unknown`");
    check_error(&["--option", "Style=Wild"], HANDSHAKE, 2, "Wild");
}

#[test]
fn reports_the_exit_status_of_a_crashed_engine() {
    let script = format!("{HANDSHAKE}> ucinewgame\n> isready\n= 3");
    check_error(&[], &script, 1, "exited with code 3");
}

#[test]
fn rejects_a_game_of_another_protocol() {
    let dir = Dir::new();
    dir.write("engines.toml", "[[engine]]\nname = 'a'\ncommand = 'narikin'\nprotocol = 'uci'\n");
    let output = run(readyok(&dir).args(["analyse", "a", "--game", "shogi"]), b"");
    output.reports(2, "this game needs USI");
}

const INFINITE: &str = include_str!("data/analyse/infinite.txt");

#[test]
fn interrupt_stops_the_search_and_prints_its_result() {
    let dir = Dir::new();
    let script = format!("{HANDSHAKE}{INFINITE}< bestmove e2e4");
    let mut child = analyse(&dir, &["--infinite"], &script).spawn().expect("the process starts");
    let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
    assert!(lines.next().is_some(), "the search has started");
    signal(child.id(), Signal::INT);
    let last = lines.last().expect("an answer").expect("a line");
    assert!(last.contains(r#""move":"e2e4""#), "{last}");
    let output = finish(child);
    assert_eq!((output.code(), output.stderr.as_str()), (Some(0), ""));
}

#[test]
fn second_interrupt_kills_the_engine() {
    let dir = Dir::new();
    let script = format!("{HANDSHAKE}{INFINITE}< info string still searching");
    let mut child = analyse(&dir, &["--infinite"], &script).spawn().expect("the process starts");
    let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
    assert!(lines.next().is_some());
    signal(child.id(), Signal::INT);
    let next = lines.next().expect("a line").expect("a line");
    assert!(next.contains("still searching"), "{next}");
    signal(child.id(), Signal::INT);
    assert_eq!(finish(child).code(), Some(130));
}

/// Analyses with Narikin and checks the last line.
#[track_caller]
fn check_narikin(arguments: &[&str], answer: &str) {
    let output = run(readyok(&Dir::new()).args(["analyse", "narikin"]).args(arguments), b"");
    assert_eq!((output.code(), output.stderr.as_str()), (Some(0), ""));
    let last = output.text().lines().last().expect("an answer");
    assert!(last.contains(answer), "{last}");
}

#[test]
fn analyses_with_narikin() {
    let mate = "7k/8/8/8/8/8/R7/1R4K1 w - - 0 1";
    check_narikin(&["--fen", mate, "--depth", "4"], r#""type":"bestmove","answer":"move""#);
    let mate = "4k4/9/4P4/9/9/9/9/9/4K4 b G 1";
    check_narikin(&["--sfen", mate, "--depth", "2"], r#""move":"G*5b""#);
}

fn syzygy() -> String {
    format!("{}/../../testdata/syzygy", env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn prints_the_tablebase_result_without_an_engine() {
    let fen = "7k/5Q2/6K1/8/8/8/8/8 w - - 0 1";
    let output =
        run(readyok(&Dir::new()).args(["analyse", "--syzygy", &syzygy(), "--fen", fen]), b"");
    assert_eq!((output.code(), output.stderr.as_str()), (Some(0), ""));
    let record: Value = serde_json::from_str(output.text()).expect("one line");
    assert_eq!((&record["type"], &record["category"]), (&json!("tablebase"), &json!("win")));
    let find = |uci: &str| {
        let moves = record["moves"].as_array().expect("the moves");
        moves.iter().find(|entry| entry["move"] == uci).expect("the move").clone()
    };
    let mate = json!({"move": "f7g7", "move_text": "Qg7#", "category": "win", "dtz": 0, "end": "checkmate", "zeroing": false});
    assert_eq!(find("f7g7"), mate);
    let stalemate = json!({"move": "g6h6", "move_text": "Kh6", "category": "draw", "dtz": 0, "end": "stalemate", "zeroing": false});
    assert_eq!(find("g6h6"), stalemate);
    assert_eq!(record["moves"][0]["end"], "checkmate");
    let output = run(
        readyok(&Dir::new()).args(["analyse", "--syzygy", &syzygy(), "--plain", "--fen", fen]),
        b"",
    );
    let lines: Vec<_> = output.text().lines().collect();
    assert_eq!(lines[0], "tablebase: win, DTZ 1");
    assert!(lines[1].starts_with("move"), "{lines:?}");
    assert!(lines[2].ends_with("checkmate"), "{lines:?}");
    assert!(lines.iter().any(|line| line.starts_with("Kh6 ") && line.ends_with("stalemate")));
}

#[test]
fn prints_the_tablebase_result_before_the_search() {
    let arguments =
        ["--syzygy", &syzygy(), "--fen", "8/P7/8/8/8/2k5/8/K7 w - - 0 1", "--depth", "2"];
    let output = run(readyok(&Dir::new()).args(["analyse", "narikin"]).args(arguments), b"");
    assert_eq!((output.code(), output.stderr.as_str()), (Some(0), ""));
    let first = output.text().lines().next().expect("a line");
    assert!(first.contains(r#""type":"tablebase""#), "{first}");
    assert!(output.text().contains(r#""type":"bestmove""#));
    // A position outside of the tables is searched nevertheless.
    let arguments = ["--syzygy", &syzygy(), "--plain", "--depth", "1"];
    let output = run(readyok(&Dir::new()).args(["analyse", "narikin"]).args(arguments), b"");
    let first = output.text().lines().next().expect("a line");
    assert_eq!(first, "tablebase: tablebases contain no positions with castling rights");
    assert!(output.text().contains("best move"));
}

#[test]
fn rejects_unusable_tablebases_and_positions() {
    for (arguments, message) in [
        (vec!["--syzygy", "/nowhere"], "`/nowhere`: "),
        (vec!["--syzygy", &syzygy()], "castling rights"),
        (vec!["--syzygy", &syzygy(), "--game", "shogi"], "no Syzygy tablebases for shogi"),
        (vec![], "required arguments"),
    ] {
        run(readyok(&Dir::new()).arg("analyse").args(arguments), b"").reports(2, message);
    }
}

#[test]
fn runs_narikin() {
    let output = run(readyok(&Dir::new()).arg("engine"), b"usi\nquit\n");
    assert_eq!(output.code(), Some(0));
    assert!(output.text().starts_with("id name Narikin "), "{}", output.text());
    assert!(output.text().ends_with("usiok\n"), "{}", output.text());
}

/// Checks that there is a result, and the messages on standard error.
#[track_caller]
fn check_reported(arguments: &[&str], script: &str, errors: &[&str]) {
    let output = run_script(arguments, script);
    assert_eq!(output.code(), Some(0), "{}", output.stderr);
    let last = output.text().lines().last().expect("an answer");
    assert!(last.contains(r#""type":"bestmove""#), "{last}");
    let lines: Vec<_> = output.stderr.lines().collect();
    assert_eq!(lines, errors);
}

const SEARCH: &str = "> position startpos\n> go depth 1\n";

#[test]
fn reports_a_copy_protection_error_with_its_message() {
    let status = "< copyprotection checking\n< info string no dongle\n< copyprotection error";
    let script = format!("{HANDSHAKE}{status}");
    let error =
        "readyok: engine `scripted`: the engine reported a copy protection error: `no dongle`\n";
    let output = run_script(&[], &script);
    assert_eq!((output.text(), output.code()), ("", Some(1)));
    assert_eq!(output.stderr, error);
    let later = format!("{HANDSHAKE}> ucinewgame\n> isready\n{status}\n< readyok");
    assert_eq!(run_script(&[], &later).stderr, error);
}

#[test]
fn reports_a_registration_error_and_continues() {
    let before = format!("{HANDSHAKE}> ucinewgame\n> isready\n< info string license expired\n");
    let script = format!(
        "{before}< registration error\n> register later\n< readyok\n{SEARCH}< bestmove e2e4"
    );
    check_reported(
        &["--depth", "1"],
        &script,
        &[
            "readyok: engine `scripted` is not registered (`registration error`): `license expired`; \
           register it with --register, or with `register` in engines.toml",
        ],
    );
}

#[test]
fn registers_the_engine() {
    let script = format!(
        "{HANDSHAKE}> ucinewgame\n> isready\n< registration error\n\
         > register name Stefan MK code 4359874324\n< registration checking\n< registration ok\n\
         < readyok\n{SEARCH}< bestmove e2e4"
    );
    let register = "name Stefan MK code 4359874324";
    check_reported(&["--depth", "1", "--register", register], &script, &[]);
    let dir = Dir::new();
    let list = format!(
        "[[engine]]\nname = 'a'\ncommand = '{}'\nargs = ['{}']\n\
         register = {{ name = 'Stefan MK', code = '4359874324' }}\n",
        scripted_engine().display(),
        dir.write("script", &script).display()
    );
    dir.write("engines.toml", &list);
    let output = run(readyok(&dir).args(["analyse", "a", "--depth", "1"]), b"");
    assert_eq!((output.code(), output.stderr.as_str()), (Some(0), ""));
    for wrong in ["", "now", "later or never", "name", "name a\nquit"] {
        check_error(&["--register", wrong], "= 1", 2, "later");
    }
}

#[test]
fn prints_bare_lines_of_the_engine() {
    let script = format!(
        "{HANDSHAKE}> ucinewgame\n> isready\n< readyok\n{SEARCH}\
         < Error! nn-0.nnue not found\n< bestmove e2e4"
    );
    let line = "readyok: engine `scripted` printed `Error! nn-0.nnue not found`";
    check_reported(&["--depth", "1"], &script, &[line]);
    let early = format!(
        "< Example 1.0 by A. Author\n< Error! nn-0.nnue not found\n{HANDSHAKE}> ucinewgame\n\
         > isready\n< readyok\n{SEARCH}< bestmove e2e4"
    );
    check_reported(&["--depth", "1"], &early, &[line]);
}

#[test]
fn prints_the_last_message_of_a_failed_engine() {
    let script = "> uci\n< Error! nn-0.nnue not found\n= 3";
    let error = "readyok: engine `scripted`: exited with code 3; last message: \
                 `Error! nn-0.nnue not found`\n";
    let output = run_script(&[], script);
    assert_eq!((output.code(), output.stderr.as_str()), (Some(1), error));
    let script = format!("{HANDSHAKE}> ucinewgame\n> isready\n< info string no net\n= 3");
    check_error(&[], &script, 1, "exited with code 3; last message: `no net`");
}

#[test]
fn sets_the_timeout() {
    let silent = "> uci\n";
    let error = "readyok: engine `scripted`: no `uciok` or `usiok` within 0.2 s\n";
    let output = run_script(&["--timeout", "0.2"], silent);
    assert_eq!((output.code(), output.stderr.as_str()), (Some(1), error));
    let shogi = run_script(&["--timeout", "0.2", "--game", "shogi"], "> usi\n");
    assert!(shogi.stderr.contains("no `uciok` or `usiok` within 0.2 s"), "{}", shogi.stderr);
    let not_ready = format!("{HANDSHAKE}> ucinewgame\n> isready\n");
    check_error(&["--timeout", "4"], &not_ready, 1, "no `readyok` within 4 s");
    let dir = Dir::new();
    let list = format!(
        "[[engine]]\nname = 'a'\ncommand = '{}'\nargs = ['{}']\ntimeout = 0.3\n",
        scripted_engine().display(),
        dir.write("script", silent).display()
    );
    dir.write("engines.toml", &list);
    let output = run(readyok(&dir).args(["analyse", "a"]), b"");
    assert!(output.stderr.contains("no `uciok` or `usiok` within 0.3 s"), "{}", output.stderr);
    let output = run(readyok(&dir).args(["analyse", "a", "--timeout", "0.1"]), b"");
    assert!(output.stderr.contains("no `uciok` or `usiok` within 0.1 s"), "{}", output.stderr);
    for wrong in ["0", "-1", "x", "nan", "inf", "100000"] {
        check_error(&[&format!("--timeout={wrong}")], "= 1", 2, "a timeout is a number of seconds");
    }
}

#[test]
fn restricts_the_search_to_root_moves() {
    let searched = |go: &str| {
        format!(
            "{HANDSHAKE}> ucinewgame\n> isready\n< readyok\n> position startpos moves e2e4\n\
             > go {go}\n< bestmove e7e5"
        )
    };
    let arguments = ["--moves", "e2e4", "--searchmoves", "e7e5", "d7d5"];
    check_reported(&arguments, &searched("movetime 10000 searchmoves e7e5 d7d5"), &[]);
    let depth = [&arguments[..], &["--depth", "3"]].concat();
    check_reported(&depth, &searched("depth 3 searchmoves e7e5 d7d5"), &[]);
    let illegal = ["--searchmoves", "e2e4", "e2e5"];
    check_error(&illegal, "= 1", 2, "--searchmoves: move 2: illegal move `e2e5`");
}

fn info(text: &str, dialect: Dialect) -> Info<'static> {
    match Reply::read(text, dialect).value {
        Reply::Info(info) => info.into_owned(),
        other => panic!("{other:?}"),
    }
}

fn chess() -> MoveFormatter {
    MoveFormatter::new(Position::start(Game::Chess), Notation::Western)
}

#[track_caller]
fn check_table(infos: &[&str], width: usize, rows: &[&str]) {
    let infos: Vec<_> = infos.iter().map(|text| info(text, Dialect::Uci)).collect();
    let infos: Vec<_> = infos.iter().collect();
    assert_eq!(table(&infos, &chess(), width), rows);
}

const FIRST: &str = "info depth 12 seldepth 20 multipv 1 score cp 31 wdl 90 880 30 nodes 1234567 \
                     nps 98765 hashfull 45 time 12500 pv e2e4 e7e5 g1f3";
const SECOND: &str =
    "info depth 9 multipv 2 score mate -3 upperbound nodes 999 time 3723000 pv a2a3";

#[test]
fn table_has_a_row_for_each_variation() {
    check_table(
        &[FIRST, SECOND],
        100,
        &[
            "#  depth  score    w/d/l ‰  nodes    nps  hash     time  line",
            "1  12/20  +0.31  90/880/30  1.23M  98.7k  4.5%   0:12.5  e4 e5 Nf3",
            "2      9   ≤#-3               999               1:02:03  a3",
        ],
    );
}

#[test]
fn table_omits_empty_columns() {
    check_table(&["info depth 1 pv e2e4"], 100, &["depth  line", "    1  e4"]);
    check_table(&[], 100, &[]);
}

#[test]
fn rows_are_truncated_between_moves() {
    check_table(&["info depth 1 pv e2e4 e7e5 g1f3 b8c6"], 17, &["depth  line", "    1  e4 e5 …"]);
    check_table(&["info depth 1 pv e2e4"], 8, &["depth  …", "    1  …"]);
}

#[test]
fn wide_characters_count_twice() {
    let info = info("info depth 1 pv 7g7f 3c3d 2g2f", Dialect::Usi);
    let formatter = MoveFormatter::new(Position::start(Game::Shogi), Notation::Japanese);
    assert_eq!(table(&[&info], &formatter, 80), ["depth  line", "    1  ▲７六歩 △３四歩 ▲２六歩"]);
    assert_eq!(table(&[&info], &formatter, 24), ["depth  line", "    1  ▲７六歩 △３四歩 …"]);
    assert_eq!(table(&[&info], &formatter, 23), ["depth  line", "    1  ▲７六歩 …"]);
}

#[test]
fn line_has_labels() {
    let info = info(FIRST, Dialect::Uci);
    assert_eq!(
        line(&info, &chess()),
        "# 1  depth 12/20  score +0.31  w/d/l ‰ 90/880/30  nodes 1.23M  nps 98.7k  hash 4.5%  time \
         0:12.5  e4 e5 Nf3"
    );
}

#[test]
fn screen_redraws_in_place() {
    let terminal = Terminal::default();
    let mut screen = Screen::new(terminal.clone(), || (40, 24), "Engine", chess());
    screen.frame(&[]).expect("a frame");
    assert_eq!(terminal.drain(), "\r\x1b[JEngine\n");
    let first = info("info depth 1 pv e2e4", Dialect::Uci);
    screen.update(&first).expect("an update");
    screen.frame(&[&first]).expect("a frame");
    assert_eq!(terminal.drain(), "\x1b[1A\r\x1b[JEngine\ndepth  line\n    1  e4\n");
    screen.frame(&[&first]).expect("a frame");
    assert_eq!(terminal.drain(), "", "nothing has changed");
    screen.update(&first).expect("an update");
    screen.frame(&[&first]).expect("a frame");
    assert!(terminal.drain().starts_with("\x1b[3A\r\x1b[J"));
}

#[test]
fn screen_draws_no_more_rows_than_the_terminal_has() {
    let terminal = Terminal::default();
    let mut screen = Screen::new(terminal.clone(), || (40, 3), "Engine", chess());
    let first = info("info depth 1 pv e2e4", Dialect::Uci);
    screen.frame(&[&first, &first, &first]).expect("a frame");
    assert_eq!(terminal.drain(), "\r\x1b[JEngine\ndepth  line\n");
}

#[test]
fn engine_cannot_control_the_terminal() {
    let terminal = Terminal::default();
    let mut screen = Screen::new(terminal.clone(), || (80, 24), "Evil\x1b]0;x\x07", chess());
    let evil = info("info depth 1 pv e2e4 \x1b[2J string \u{9b}2J \u{202e}x", Dialect::Uci);
    screen.update(&evil).expect("an update");
    screen.frame(&[&evil]).expect("a frame");
    let shown = terminal.drain();
    let shown = shown.strip_prefix("\r\x1b[J").expect("a frame");
    let is_control = |c: char| (c.is_control() && c != '\n') || c == '\u{202e}';
    assert!(!shown.contains(is_control), "{shown:?}");
    assert!(!line(&evil, &chess()).contains(is_control));
}
