//! `readyok analyse` with an engine that plays a script.

use std::io::{BufRead, BufReader};
use std::process::Command;

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::program::{Dir, Output, finish, readyok, run, scripted_engine, signal};

const GREETING: &str = "\
> uci
< id name Example 1.0
< id author Somebody
< option name MultiPV type spin default 1 min 1 max 500
< option name Style type combo default Solid var Solid var Risky
< option name Clear Hash type button
< uciok
";

const USI_GREETING: &str = "\
> usi
< id name Example 1.0
< usiok
> setoption name USI_Hash value 32
> setoption name USI_Ponder value false
> isready
< readyok
> usinewgame
";

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

/// The lines of JSON, without the time that the search has really taken.
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
fn a_move_that_goes_nowhere_is_no_move_and_its_word_is_kept() {
    check_json(
        &["--fen", "R5k1/5ppp/8/8/8/8/8/6K1 b - - 0 1", "--depth", "1"],
        &format!(
            "{GREETING}> ucinewgame\n> isready\n< readyok\n\
             > position fen R5k1/5ppp/8/8/8/8/8/6K1 b - - 0 1\n> go depth 1\n\
             < bestmove a1a1"
        ),
        &[json!({"type": "bestmove", "answer": "none", "move": "a1a1"})],
    );
}

#[test]
fn prints_an_object_for_each_info_and_one_for_the_answer() {
    check_json(
        &["--moves", "e2e4", "e7e5", "--depth", "2", "--multipv", "2"],
        &format!(
            "{GREETING}\
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
fn speaks_usi_about_shogi() {
    check_json(
        &["--game", "shogi", "--mate", "500", "--notation", "japanese"],
        &format!("{USI_GREETING}> position startpos\n> go mate 500\n< checkmate 7g7f 3c3d"),
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
            "{GREETING}> setoption name Style value Risky\n> setoption name Clear Hash\n\
             > ucinewgame\n> isready\n< readyok\n> position startpos\n> go nodes 9\n\
             < bestmove (none)"
        ),
        &[json!({"type": "bestmove", "answer": "none"})],
    );
}

#[test]
fn searches_for_ten_seconds_if_nothing_is_said() {
    check_json(
        &[],
        &format!(
            "{GREETING}> ucinewgame\n> isready\n< readyok\n> position startpos\n\
             > go movetime 10000\n< bestmove e2e4"
        ),
        &[json!({"type": "bestmove", "answer": "move", "move": "e2e4", "move_text": "e4"})],
    );
}

#[test]
fn tells_a_castling_of_chess960_as_the_king_taking_his_rook() {
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

#[test]
fn prints_lines_of_text_when_asked() {
    let output = run_script(
        &["--plain", "--depth", "1"],
        &format!(
            "{GREETING}> ucinewgame\n> isready\n< readyok\n> position startpos\n> go depth 1\n\
             < info depth 1 score cp 20 pv e2e4\n< bestmove e2e4 ponder e2e4"
        ),
    );
    assert_eq!(
        output.text(),
        "depth 1  score +0.20  e4\nbest move: e4, expected answer: e2e4 (illegal)\n"
    );
}

#[test]
fn says_what_is_wrong_before_an_engine_is_started() {
    let never = "= 1";
    check_error(&["--moves", "e2e4", "e2e4"], never, 2, "move 2: illegal move `e2e4`");
    check_error(
        &["--fen", "8/8/8/8/8/8/8/8 w - - 0 1"],
        never,
        2,
        "readyok: no position `8/8/8/8/8/8/8/8 w - - 0 1`: ",
    );
    check_error(&["--game", "shogi", "--fen", "x"], never, 2, "is given as SFEN");
    check_error(&["--game", "chess", "--sfen", "x"], never, 2, "is given as FEN");
    check_error(&["--infinite", "--depth", "1"], never, 2, "cannot be used with");
    check_error(&["--multipv", "0"], never, 2, "0 is not in");
}

#[test]
fn says_what_is_wrong_with_an_option() {
    check_error(&["--option", "Nobody=1"], GREETING, 2, "no option `Nobody`");
    check_error(&["--option", "Style=Wild"], GREETING, 2, "Wild");
}

#[test]
fn says_how_an_engine_has_crashed() {
    let script = format!("{GREETING}> ucinewgame\n> isready\n= 3");
    check_error(&[], &script, 1, "exited with code 3");
}

#[test]
fn an_engine_is_not_asked_for_a_game_of_another_protocol() {
    let dir = Dir::new();
    dir.write("engines.toml", "[[engine]]\nname = 'a'\ncommand = 'narikin'\nprotocol = 'uci'\n");
    let output = run(readyok(&dir).args(["analyse", "a", "--game", "shogi"]), b"");
    assert_eq!(output.code(), Some(2));
    assert!(output.stderr.contains("this game needs USI"), "{}", output.stderr);
}

const INFINITE: &str = "\
> ucinewgame
> isready
< readyok
> position startpos
> go infinite
< info depth 1 score cp 20 pv e2e4
> stop
";

#[test]
fn an_interrupt_stops_the_search_and_prints_its_result() {
    let dir = Dir::new();
    let script = format!("{GREETING}{INFINITE}< bestmove e2e4");
    let mut child = analyse(&dir, &["--infinite"], &script).spawn().expect("the program starts");
    let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
    assert!(lines.next().is_some(), "the search has started");
    signal(child.id(), Signal::INT);
    let last = lines.last().expect("an answer").expect("a line");
    assert!(last.contains(r#""move":"e2e4""#), "{last}");
    let output = finish(child);
    assert_eq!((output.code(), output.stderr.as_str()), (Some(0), ""));
}

#[test]
fn whoever_does_not_stop_is_ended_by_the_next_interrupt() {
    let dir = Dir::new();
    let script = format!("{GREETING}{INFINITE}< info string I go on");
    let mut child = analyse(&dir, &["--infinite"], &script).spawn().expect("the program starts");
    let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
    assert!(lines.next().is_some());
    signal(child.id(), Signal::INT);
    let next = lines.next().expect("a line").expect("a line");
    assert!(next.contains("I go on"), "{next}");
    signal(child.id(), Signal::INT);
    assert_eq!(finish(child).code(), Some(130));
}

/// Analyses with the engine that is built in, and looks at the last line.
#[track_caller]
fn check_narikin(arguments: &[&str], answer: &str) {
    let output = run(readyok(&Dir::new()).args(["analyse", "narikin"]).args(arguments), b"");
    assert_eq!((output.code(), output.stderr.as_str()), (Some(0), ""));
    let last = output.text().lines().last().expect("an answer");
    assert!(last.contains(answer), "{last}");
}

#[test]
fn analyses_with_the_engine_that_is_built_in() {
    let mate = "7k/8/8/8/8/8/R7/1R4K1 w - - 0 1";
    check_narikin(&["--fen", mate, "--depth", "4"], r#""type":"bestmove","answer":"move""#);
    let mate = "4k4/9/4P4/9/9/9/9/9/4K4 b G 1";
    check_narikin(&["--sfen", mate, "--depth", "2"], r#""move":"G*5b""#);
}

#[test]
fn is_the_engine_that_is_built_in() {
    let output = run(readyok(&Dir::new()).arg("engine"), b"usi\nquit\n");
    assert_eq!(output.code(), Some(0));
    assert!(output.text().starts_with("id name Narikin "), "{}", output.text());
    assert!(output.text().ends_with("usiok\n"), "{}", output.text());
}

/// Analyses with arguments, and looks at what is printed as an error beside the answer.
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
fn a_copy_protection_error_is_named_with_the_text_of_the_engine() {
    let status = "< copyprotection checking\n< info string no dongle\n< copyprotection error";
    let script = format!("{GREETING}{status}");
    let error =
        "readyok: engine `scripted`: the engine reported a copy protection error: `no dongle`\n";
    let output = run_script(&[], &script);
    assert_eq!((output.text(), output.code()), ("", Some(1)));
    assert_eq!(output.stderr, error);
    let later = format!("{GREETING}> ucinewgame\n> isready\n{status}\n< readyok");
    assert_eq!(run_script(&[], &later).stderr, error);
}

#[test]
fn a_registration_error_is_reported_and_the_search_goes_on() {
    let before = format!("{GREETING}> ucinewgame\n> isready\n< info string trial over\n");
    let script = format!(
        "{before}< registration error\n> register later\n< readyok\n{SEARCH}< bestmove e2e4"
    );
    check_reported(
        &["--depth", "1"],
        &script,
        &["readyok: engine `scripted` is not registered (`registration error`): `trial over`; \
           register it with --register, or with `register` in engines.toml"],
    );
}

#[test]
fn an_engine_is_registered_as_the_command_line_or_the_list_says() {
    let script = format!(
        "{GREETING}> ucinewgame\n> isready\n< registration error\n\
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
fn bare_lines_of_the_engine_are_shown() {
    let script = format!(
        "{GREETING}> ucinewgame\n> isready\n< readyok\n{SEARCH}\
         < Error! nn-0.nnue not found\n< bestmove e2e4"
    );
    let line = "readyok: engine `scripted` printed `Error! nn-0.nnue not found`";
    check_reported(&["--depth", "1"], &script, &[line]);
    let early = format!(
        "< Example 1.0 by Somebody\n< Error! nn-0.nnue not found\n{GREETING}> ucinewgame\n\
         > isready\n< readyok\n{SEARCH}< bestmove e2e4"
    );
    check_reported(&["--depth", "1"], &early, &[line]);
}

#[test]
fn the_last_text_of_an_engine_that_fails_is_shown() {
    let script = "> uci\n< Error! nn-0.nnue not found\n= 3";
    let error = "readyok: engine `scripted`: exited with code 3; last message: \
                 `Error! nn-0.nnue not found`\n";
    let output = run_script(&[], script);
    assert_eq!((output.code(), output.stderr.as_str()), (Some(1), error));
    let script = format!("{GREETING}> ucinewgame\n> isready\n< info string no net\n= 3");
    check_error(&[], &script, 1, "exited with code 3; last message: `no net`");
}

#[test]
fn a_timeout_is_set_and_named() {
    let silent = "> uci\n";
    let error = "readyok: engine `scripted`: no `uciok` within 0.2 s; engine terminated\n";
    let output = run_script(&["--timeout", "0.2"], silent);
    assert_eq!((output.code(), output.stderr.as_str()), (Some(1), error));
    let shogi = run_script(&["--timeout", "0.2", "--game", "shogi"], "> usi\n");
    assert!(
        shogi.stderr.contains("no `usiok` within 0.2 s; engine terminated"),
        "{}",
        shogi.stderr
    );
    let not_ready = format!("{GREETING}> ucinewgame\n> isready\n");
    check_error(&["--timeout", "4"], &not_ready, 1, "no `readyok` within 4 s; engine terminated");
    let dir = Dir::new();
    let list = format!(
        "[[engine]]\nname = 'a'\ncommand = '{}'\nargs = ['{}']\ntimeout = 0.3\n",
        scripted_engine().display(),
        dir.write("script", silent).display()
    );
    dir.write("engines.toml", &list);
    let output = run(readyok(&dir).args(["analyse", "a"]), b"");
    assert!(output.stderr.contains("no `uciok` within 0.3 s"), "{}", output.stderr);
    let output = run(readyok(&dir).args(["analyse", "a", "--timeout", "0.1"]), b"");
    assert!(output.stderr.contains("no `uciok` within 0.1 s"), "{}", output.stderr);
    for wrong in ["0", "-1", "x", "nan", "inf", "100000"] {
        check_error(&[&format!("--timeout={wrong}")], "= 1", 2, "a timeout is a number of seconds");
    }
}

#[test]
fn a_search_is_restricted_to_moves() {
    let searched = |go: &str| {
        format!(
            "{GREETING}> ucinewgame\n> isready\n< readyok\n> position startpos moves e2e4\n\
             > go {go}\n< bestmove e7e5"
        )
    };
    let arguments = ["--moves", "e2e4", "--searchmoves", "e7e5", "d7d5"];
    check_reported(&arguments, &searched("movetime 10000 searchmoves e7e5 d7d5"), &[]);
    let depth = [&arguments[..], &["--depth", "3"]].concat();
    check_reported(&depth, &searched("depth 3 searchmoves e7e5 d7d5"), &[]);
    let illegal = ["--searchmoves", "e2e4", "e2e5"];
    check_error(&illegal, "= 1", 2, "--searchmoves, move 2: illegal move `e2e5`");
}
