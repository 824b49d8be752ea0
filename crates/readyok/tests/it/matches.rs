//! `readyok match`, `report` and `elo`, with Narikin on both sides.

use std::fs;
use std::thread;
use std::time::Duration;

use serde_json::Value;

use crate::program::{Dir, Output, Signal, finish, readyok, run, signal, wait};

/// Runs `readyok` in a directory.
fn at(dir: &Dir, args: &[&str]) -> Output {
    run(readyok(dir).current_dir(dir.path()).args(args), b"")
}

fn read(dir: &Dir, name: &str) -> String {
    fs::read_to_string(dir.path().join(name)).expect(name)
}

const QUICK: [&str; 6] = ["--depth", "1", "--max-moves", "6", "--seed", "1"];

#[test]
fn plays_a_match_and_writes_results_records_and_report() {
    let dir = Dir::new();
    let args = ["match", "narikin", "narikin", "--rounds", "2", "--results", "m.jsonl", "--pgn"];
    let more = ["games.pgn", "--epd", "last.epd", "--report", "m.html", "--events", "e.jsonl"];
    let output = at(&dir, &[&args[..], &more[..], &QUICK[..]].concat());
    assert_eq!(output.code(), Some(0), "{}", output.stderr);
    let text = output.text();
    assert!(text.contains("finished: 2 game pairs, 4 games"), "{text}");
    assert!(text.contains("narikin 1 – narikin 2"), "{text}");
    // The plan, and a line per game pair.
    assert_eq!(read(&dir, "m.jsonl").lines().count(), 3);
    assert_eq!(read(&dir, "games.pgn").matches("[White \"narikin 1\"]").count(), 2);
    let pgn = read(&dir, "games.pgn");
    let pgn = pgn.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(pgn.contains("draw by the limit of 6 moves}"), "{pgn}");
    assert!(pgn.contains(", latency=0.") && pgn.contains(", n="), "{pgn}");
    assert_eq!(read(&dir, "last.epd").lines().count(), 4);
    let page = read(&dir, "m.html");
    assert!(page.contains("4 games.") && page.contains("<svg"), "{page}");
    let events = read(&dir, "e.jsonl");
    assert_eq!(events.matches("\"event\":\"game-end\"").count(), 4, "{events}");
}

#[test]
fn warns_if_parallel_games_exceed_the_cpus() {
    let dir = Dir::new();
    let play = |more: &[&str]| {
        let args = ["match", "narikin", "narikin", "--rounds", "1", "--ponder", "--plain"];
        let output = at(&dir, &[&args[..], &QUICK[..], more].concat());
        assert_eq!(output.code(), Some(0), "{}", output.stderr);
        output.stderr
    };
    let stderr = play(&["--concurrency", "512", "--results", "many.jsonl"]);
    assert!(stderr.contains("512 game pairs in parallel use 1024 CPU cores"), "{stderr}");
}

#[test]
fn resumes_a_match_with_more_rounds() {
    let dir = Dir::new();
    let plan = |rounds: &'static str| {
        let args = ["match", "narikin", "narikin", "--plain", "--rounds", rounds];
        [&args[..], &QUICK[..]].concat()
    };
    let files = ["--results", "m.jsonl", "--events", "e.jsonl"];
    let first = at(&dir, &[&plan("1")[..], &files].concat());
    assert_eq!(first.code(), Some(0), "{}", first.stderr);
    // A partial line, as after SIGKILL.
    dir.write("e.jsonl", &(read(&dir, "e.jsonl") + "{\"at_ms\":1"));
    let existing = at(&dir, &[&plan("1")[..], &["--results", "m.jsonl"]].concat());
    assert_eq!(existing.code(), Some(1));
    assert!(existing.stderr.contains("m.jsonl"), "{}", existing.stderr);
    let resume = ["--resume", "m.jsonl", "--events", "e.jsonl"];
    let again = at(&dir, &[&plan("3")[..], &resume].concat());
    assert_eq!(again.code(), Some(0), "{}", again.stderr);
    let events = read(&dir, "e.jsonl");
    assert_eq!(events.matches("\n{\"at_ms\":1\n{").count(), 1, "{events}");
    assert_eq!(events.matches("match-start").count(), 2);
    assert!(again.text().contains("resumed after 1 game pair"), "{}", again.text());
    assert!(again.text().contains("3 game pairs, 6 games"), "{}", again.text());
    let report = at(&dir, &["report", "m.jsonl", "later.html"]);
    assert_eq!(report.code(), Some(0), "{}", report.stderr);
    assert!(read(&dir, "later.html").contains("6 games."));
    let more = at(&dir, &["match", "--resume", "m.jsonl", "--rounds", "4", "--plain"]);
    assert_eq!(more.code(), Some(0), "{}", more.stderr);
    assert!(more.text().contains("4 game pairs, 8 games"), "{}", more.text());
    let fewer = at(&dir, &["match", "--resume", "m.jsonl", "--rounds", "2", "--plain"]);
    assert_eq!(fewer.code(), Some(1));
    assert!(fewer.stderr.contains("rounds was `4` and is `2`"), "{}", fewer.stderr);
    let nothing = at(&dir, &["match", "--resume", "m.jsonl", "--json"]);
    let end = nothing.text().lines().last().unwrap_or_default();
    assert!(end.contains("\"event\":\"match-end\"") && end.contains("complete"), "{end}");
}

#[test]
fn resumes_with_the_original_arguments_and_the_stored_seed() {
    let dir = Dir::new();
    let args = ["match", "narikin", "narikin", "--plain", "--depth", "1", "--max-moves", "6"];
    let first = at(&dir, &[&args[..], &["--results", "m.jsonl"]].concat());
    assert_eq!(first.code(), Some(0), "{}", first.stderr);
    let again = at(&dir, &[&args[..], &["--resume", "m.jsonl", "--rounds", "2"]].concat());
    assert_eq!(again.code(), Some(0), "{}", again.stderr);
    assert!(again.text().contains("2 game pairs, 4 games"), "{}", again.text());
}

#[test]
fn plan_arguments_conflict_with_a_plan_and_require_engines() {
    let dir = Dir::new();
    dir.write("plan.toml", "game = 'chess'\nengines = []\n");
    for flag in ["--nodes", "--rounds", "--seed", "--max-moves"] {
        let output = at(&dir, &["match", "--plan", "plan.toml", flag, "5"]);
        assert_eq!(output.code(), Some(2), "{flag}: {}", output.stderr);
        assert!(output.stderr.contains("cannot be used with"), "{flag}: {}", output.stderr);
    }
    for flag in
        ["--nodes", "--pairs-per-encounter", "--seed", "--max-moves", "--openings", "--event"]
    {
        let output = at(&dir, &["match", "--resume", "m.jsonl", flag, "2"]);
        assert_eq!(output.code(), Some(2), "{flag}: {}", output.stderr);
        assert!(output.stderr.contains("ENGINE"), "{flag}: {}", output.stderr);
    }
}

#[test]
fn matches_started_simultaneously_have_separate_files() {
    let dir = Dir::new();
    let ours = ["match", "narikin", "narikin", "--plain"];
    let theirs = "match --fastchess -engine cmd=narikin name=a -engine cmd=narikin name=b -each depth=1 \
        -rounds 1 -maxmoves 6";
    let theirs: Vec<_> = theirs.split_whitespace().collect();
    for args in [[&ours[..], &QUICK[..]].concat(), theirs] {
        let start = |_| readyok(&dir).current_dir(dir.path()).args(&args).spawn();
        let children: Vec<_> = (0..3).map(start).collect();
        for child in children {
            let output = finish(child.expect("the process starts"));
            assert_eq!(output.code(), Some(0), "{}", output.stderr);
        }
    }
    let names = fs::read_dir(dir.path()).expect("a directory").flatten();
    let names = names.map(|entry| entry.file_name().to_string_lossy().into_owned());
    let results = names.filter(|name| name.starts_with("match-") || name.starts_with("config"));
    assert_eq!(results.count(), 6);
}

#[test]
fn an_invalid_plan_creates_no_file() {
    let dir = Dir::new();
    let args = ["match", "narikin", "narikin", "--plain", "--results", "m.jsonl"];
    for (more, code, why) in [
        (&["--movetime", "0"][..], 2, "number would be zero"),
        (&["--byoyomi", "0"], 2, "expected a number of seconds"),
        (&["--depth", "1", "--protocol", "2=usi"], 2, "engine `narikin 2` has the protocol USI"),
        (
            &["--depth", "1", "--name", "1=a", "--name", "2=a", "--kif", "games"],
            2,
            "KIF are for shogi",
        ),
        (&["--depth", "1", "--syzygy", "nowhere"], 1, "`nowhere`: "),
        (&["--depth", "1", "--handicap", "2-piece"], 2, "not for chess"),
        (&["--depth", "1", "--game", "shogi", "--handicap", "9-piece"], 2, "two pieces"),
    ] {
        let output = at(&dir, &[&args[..], more].concat());
        assert_eq!(output.code(), Some(code), "{more:?}: {}", output.stderr);
        assert!(output.stderr.contains(why), "{more:?}: {}", output.stderr);
        assert!(!dir.path().join("m.jsonl").exists(), "{more:?}");
    }
    let shogi = ["--game", "shogi", "--handicap", "2-piece"];
    let output = at(&dir, &[&args[..], &QUICK[..], &shogi[..]].concat());
    assert_eq!(output.code(), Some(0), "{}", output.stderr);
    assert!(read(&dir, "m.jsonl").contains("lnsgkgsnl/9/ppppppppp"));
}

#[test]
fn errors_name_an_unwritable_file() {
    let dir = Dir::new();
    let args = ["match", "narikin", "narikin", "--plain", "--results"];
    for (name, more) in [("a.jsonl", "--report"), ("b.jsonl", "--events")] {
        let output = at(&dir, &[&args[..], &[name, more, "nowhere/file"], &QUICK[..]].concat());
        assert_eq!(output.code(), Some(1), "{}", output.stderr);
        assert!(output.stderr.contains("`nowhere/file`: "), "{}", output.stderr);
    }
    if cfg!(target_os = "linux") {
        let args = [&args[..], &["c.jsonl", "--events", "/dev/full"], &QUICK[..]].concat();
        let output = at(&dir, &args);
        assert_eq!(output.code(), Some(0), "{}", output.stderr);
        assert_eq!(output.stderr.matches("`/dev/full`: ").count(), 1, "{}", output.stderr);
    }
}

#[test]
fn replays_games_interrupted_by_a_stopped_process() {
    let dir = Dir::new();
    let args = ["match", "narikin", "narikin", "--movetime", "200", "--margin", "60000"];
    let mut command = readyok(&dir);
    command.current_dir(dir.path()).args(args).args(["--rounds", "1000", "--abort"]);
    let child = command.args(["--events", "e.jsonl"]).spawn().expect("the program starts");
    let events = dir.path().join("e.jsonl");
    let reported =
        |text: &str| fs::read_to_string(&events).is_ok_and(|content| content.contains(text));
    wait("no game starts", || reported("game-start"));
    signal(child.id(), Signal::STOP);
    // Longer than any gap between heartbeats on a busy host.
    thread::sleep(Duration::from_secs(2));
    signal(child.id(), Signal::CONT);
    wait("no time jump is reported", || {
        reported("the process was suspended; the pairing is replayed")
    });
    signal(child.id(), Signal::INT);
    assert_eq!(finish(child).code(), Some(130));
    assert!(!reported("time-forfeit"));
}

#[test]
fn rejects_changed_openings_on_resume() {
    let dir = Dir::new();
    let position = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -\n";
    dir.write("book.epd", position);
    let args = ["match", "narikin", "narikin", "--plain", "--openings", "book.epd"];
    let first = at(&dir, &[&args[..], &QUICK[..], &["--results", "m.jsonl"]].concat());
    assert_eq!(first.code(), Some(0), "{}", first.stderr);
    dir.write("book.epd", &position.replace(" w ", " b "));
    let again = at(&dir, &["match", "--resume", "m.jsonl"]);
    assert_eq!(again.code(), Some(1));
    let error = "`book.epd` has changed; use --ignore-changes to resume anyway";
    assert!(again.stderr.contains(error), "{}", again.stderr);
    let again = at(&dir, &["match", "--resume", "m.jsonl", "--ignore-changes"]);
    assert_eq!(again.code(), Some(0), "{}", again.stderr);
    let again = at(&dir, &["match", "--resume", "m.jsonl"]);
    assert_eq!(again.code(), Some(0), "{}", again.stderr);
}

#[test]
fn plans_name_engines_like_the_command_line() {
    let dir = Dir::new();
    let engine = |name: &str, command: &str| {
        format!("[[engines]]\nname = '{name}'\ncommand = '{command}'\nlimits = {{ depth = 1 }}\n")
    };
    let plan = |second| {
        let rules = "[adjudication]\nmax_moves = 6\n";
        ["game = 'chess'\nseed = 1\n", &engine("a", "narikin"), &engine("b", second), rules]
            .concat()
    };
    dir.write("ours.toml", &plan("narikin"));
    let output = at(&dir, &["match", "--plain", "--plan", "ours.toml", "--results", "m.jsonl"]);
    assert_eq!(output.code(), Some(0), "{}", output.stderr);
    assert!(output.text().contains("finished: 1 game pair, 2 games"), "{}", output.text());
    dir.write("theirs.toml", &plan("./missing"));
    let output = at(&dir, &["match", "--plain", "--plan", "theirs.toml"]);
    assert_eq!(output.code(), Some(2));
    assert!(
        output.stderr.contains("`theirs.toml`: engine `./missing` not found"),
        "{}",
        output.stderr
    );
}

#[test]
fn double_chess960_has_numbers_of_first_ranks() {
    let dir = Dir::new();
    let args = ["match", "--game", "chess960", "--double-chess960=518/0", "narikin", "narikin"];
    let output = at(&dir, &[&args[..], &QUICK[..], &["--results", "m.jsonl"]].concat());
    assert_eq!(output.code(), Some(0), "{}", output.stderr);
    let results = read(&dir, "m.jsonl");
    assert!(results.contains("bbqnnrkr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR"), "{results}");
    for wrong in ["--double-chess960=3,4", "--double-chess960=960/0"] {
        let output = at(&dir, &["match", "narikin", "narikin", wrong, "--depth", "1"]);
        assert_eq!(output.code(), Some(2));
        assert!(output.stderr.contains("such as 518/0"), "{}", output.stderr);
    }
}

#[test]
fn writes_shogi_games_as_kif_and_csa() {
    let dir = Dir::new();
    let args =
        ["match", "narikin", "narikin", "--game", "shogi", "--kif", "games", "--csa", "g.csa"];
    let output = at(&dir, &[&args[..], &QUICK[..]].concat());
    assert_eq!(output.code(), Some(0), "{}", output.stderr);
    let files = fs::read_dir(dir.path().join("games")).expect("a directory");
    assert_eq!(files.count(), 2);
    assert!(read(&dir, "g.csa").contains("N+narikin 1"));
}

#[test]
fn fastchess_mode_prints_the_lines_of_fastchess() {
    let dir = Dir::new();
    let args = "match --fastchess -engine cmd=narikin name=new -engine cmd=narikin name=base \
                 -each depth=1 option.Hash=1 -rounds 2 -maxmoves 3 -srand 1 -ratinginterval 1 \
                 -pgnout file=games.pgn";
    let args: Vec<&str> = args.split_whitespace().collect();
    let output = at(&dir, &args);
    assert_eq!(output.code(), Some(0), "{}", output.stderr);
    let text = output.text();
    for line in [
        "Started game 1 of 4 (new vs base)",
        "Finished game 1 (new vs base): 1/2-1/2 {Draw by adjudication}",
        "Results of new vs base (1 plies, 1t, 1MB):",
        "Games: 4, Wins: 0, Losses: 0, Draws: 4, Points: 2.0 (50.00 %)",
        "Ptnml(0-2): [0, 0, 2, 0, 0], WL/DD Ratio: 0.00",
        "Finished match",
    ] {
        assert!(text.lines().any(|found| found == line), "no `{line}` in {text}");
    }
    assert_eq!(read(&dir, "games.pgn").matches("[Event ").count(), 4);
    let wrong = at(&dir, &["match", "--fastchess", "-engne"]);
    assert_eq!(wrong.code(), Some(1));
    assert_eq!(wrong.text(), "no option `-engne`; did you mean `-engine`?\n");
    assert_eq!(wrong.stderr, "");
}

#[test]
fn compliance_has_the_output_of_fastchess() {
    let dir = Dir::new();
    let output = at(&dir, &["match", "--fastchess", "--compliance", "./missing"]);
    assert_eq!(output.code(), Some(1));
    let start =
        "\r\u{1b}[1;31m Failed\u{1b}[0m Step 1: Start the engine\n engine `./missing` not found";
    assert!(output.stderr.starts_with(start), "{}", output.stderr);
    let output = at(&dir, &["match", "--fastchess", "--compliance", "sh", "-c", "exit 3"]);
    assert_eq!(output.code(), Some(1));
    assert!(output.stderr.contains(" does not reply to `"), "{}", output.stderr);
}

/// CRC-32 as in gzip, bit by bit.
fn crc32(bytes: &[u8]) -> u32 {
    let bit = |sum: u32| if sum & 1 == 1 { sum >> 1 ^ 0xedb8_8320 } else { sum >> 1 };
    !bytes.iter().fold(!0, |sum, byte| (0..8).fold(sum ^ u32::from(*byte), |sum, _| bit(sum)))
}

const TWO: &str = "match --fastchess -engine cmd=narikin name=new -engine cmd=narikin name=base \
                   -each depth=1 option.Hash=2 -rounds 1 -maxmoves 2 -srand 1";

#[test]
fn applies_the_options_of_fastchess() {
    let dir = Dir::new();
    let args = format!(
        "{TWO} -wait 1 -log file=m.log level=info engine=true -show-latency -crc32 pgn=true \
         -check-mate-pvs -pgnout file=games.pgn match_line=depth.1"
    );
    let output = at(&dir, &args.split_whitespace().collect::<Vec<_>>());
    assert_eq!(output.code(), Some(0), "{}", output.stderr);
    let pgn = read(&dir, "games.pgn");
    let sum = format!("File games.pgn has CRC32: {:#x}", crc32(pgn.as_bytes()));
    assert!(output.text().lines().any(|line| line == sum), "{sum}: {}", output.text());
    assert!(output.text().contains("(1 plies, 1t, 2MB)"), "{}", output.text());
    assert_eq!(pgn.matches("[EngineWhiteName \"Narikin").count(), 2, "{pgn}");
    assert!(pgn.contains("[EngineBlackAuthor \""), "{pgn}");
    assert!(pgn.replace('\n', " ").contains("line=\"info depth 1 "), "{pgn}");
    let log = read(&dir, "m.log");
    for part in [
        "Z ENGINE new <--- go depth 1\n",
        "Z ENGINE base ---> bestmove ",
        "Z INFO Started game 1 of 2 (new vs base)\n",
        "Z INFO Finished game 2 (base vs new): 1/2-1/2 {",
    ] {
        assert!(log.contains(part), "no `{part}` in {log}");
    }
}

#[test]
fn strict_ends_the_match_at_the_first_warning() {
    let dir = Dir::new();
    let args = TWO
        .replace("option.Hash=2", "option.Nonsense=1")
        .replace("-rounds 1", "-rounds 500 -strict");
    let output = at(&dir, &args.split_whitespace().collect::<Vec<_>>());
    assert_eq!(output.code(), Some(1), "{}", output.stderr);
    assert!(output.text().contains("Warning; new doesn't have option Nonsense\n"));
    assert!(!output.text().contains("Started game 500 of"), "{}", output.text());
}

#[cfg(unix)]
#[test]
fn a_crash_without_recover_ends_the_match() {
    let dir = Dir::new();
    let script = "#!/bin/sh\nwhile read -r command rest; do case $command in uci) echo uciok;; \
                  isready) echo readyok;; go) exit 3;; esac; done\n";
    let mortal = dir.write_program("mortal", script).display().to_string();
    let mortal = format!("cmd={mortal}");
    let args = ["match", "--fastchess", "-engine", &mortal, "name=mortal", "-engine"];
    let more = ["cmd=narikin", "name=base", "-each", "tc=0", "nodes=1", "-rounds", "90"];
    let output = at(&dir, &[&args[..], &more[..]].concat());
    assert_eq!(output.code(), Some(1), "{}", output.stderr);
    let end = "Started game 1 of 180 (mortal vs base)\n\
               Game 1 stalled / disconnected and no recover option set for engine, stopping \
               tournament.\n\
               Finished game 1 (mortal vs base): 0-1 {White disconnects}\n\
               Tournament was interrupted. To resume the tournament, run: readyok match \
               --fastchess -config file=config.json\nFinished match\n";
    assert!(output.text().contains(end), "{}", output.text());
}

#[test]
fn an_interrupt_with_abort_ends_immediately() {
    let dir = Dir::new();
    let args = ["match", "narikin", "narikin", "--movetime", "200", "--rounds", "1000", "--abort"];
    let mut command = readyok(&dir);
    command.current_dir(dir.path()).args(args).args(["--events", "e.jsonl"]);
    let mut child = command.spawn().expect("the program starts");
    let events = dir.path().join("e.jsonl");
    wait("no game starts", || {
        fs::read_to_string(&events).is_ok_and(|events| events.contains("game-start"))
    });
    assert!(child.try_wait().expect("a process").is_none(), "it has ended");
    signal(child.id(), Signal::INT);
    let output = finish(child);
    assert_eq!(output.code(), Some(130), "{}", output.stderr);
    assert!(output.text().contains("interrupted"), "{}", output.text());
}

#[test]
fn rejects_invalid_arguments_before_the_match() {
    let dir = Dir::new();
    for (args, why) in [
        (&["match", "narikin"][..], "two engines"),
        (&["match", "narikin", "narikin"], "has no limit"),
        (&["match", "narikin", "missing", "--depth", "1"], "engine `missing` not found"),
        (&["match", "narikin", "narikin", "--tc", "3=1"], "no engine 3: the match has 2 engines"),
        (
            &["match", "narikin", "narikin", "--depth", "1", "--search-timeout", "0"],
            "expected a number of seconds",
        ),
        (&["match", "narikin", "narikin", "--tc", "x"], "is not a number of seconds"),
        (
            &["match", "narikin", "narikin", "--depth", "1", "--sprt", "5,0"],
            "ELO0 must be less than ELO1",
        ),
    ] {
        let output = at(&dir, args);
        assert_eq!(output.code(), Some(2), "{args:?}: {}", output.stderr);
        assert!(output.stderr.contains(why), "{args:?}: {}", output.stderr);
    }
}

#[test]
fn match_and_elo_accept_the_same_models() {
    let dir = Dir::new();
    for (name, stored) in [("unscaled-bayeselo", "unscaled-bayeselo"), ("bayes-elo", "bayeselo")] {
        let test = ["--sprt", "0,5", "--sprt-model", name];
        let file = format!("{name}.jsonl");
        let args = ["match", "narikin", "narikin", "--rounds", "1", "--results", &file];
        let output = at(&dir, &[&args[..], &QUICK[..], &test].concat());
        assert_eq!(output.code(), Some(0), "{}", output.stderr);
        let results = read(&dir, &file);
        assert!(results.contains(&format!("\"model\":\"{stored}\"")), "{results}");
        assert_eq!(at(&dir, &[&["elo", "1", "2", "3"][..], &test].concat()).code(), Some(0));
    }
}

#[test]
fn computes_elo_from_counts() {
    let dir = Dir::new();
    let games = at(&dir, &["elo", "136", "111", "96"]);
    assert!(games.text().contains("Elo              40.70 +/- 30.43"), "{}", games.text());
    let args = ["elo", "--pairs", "34", "54", "63", "64", "75", "--sprt", "0,5"];
    let pairs = at(&dir, &args);
    assert!(pairs.text().contains("Elo              55.58 +/- 27.65"), "{}", pairs.text());
    assert!(pairs.text().contains("LLR"), "{}", pairs.text());
    assert_eq!(at(&dir, &["elo", "1", "2", "3", "4"]).code(), Some(2));
}

#[test]
fn prints_elo_as_json() {
    let dir = Dir::new();
    let elo = |args: &[&str]| -> Value {
        let output = at(&dir, &[&["elo", "--json"], args].concat());
        assert_eq!(output.code(), Some(0), "{}", output.stderr);
        serde_json::from_str(output.text()).expect("one JSON object")
    };
    let found = elo(&["--pairs", "34", "54", "63", "64", "75", "--sprt", "0,5"]);
    assert_eq!(found["games"], 580);
    let near = |value: &Value, expected: f64| {
        assert!((value.as_f64().expect("a number") - expected).abs() < 0.005, "{found}");
    };
    near(&found["elo"]["value"], 55.58);
    near(&found["elo"]["error"], 27.65);
    let sprt = &found["sprt"];
    assert_eq!((&sprt["model"], &sprt["elo1"]), (&"normalized".into(), &5.0.into()), "{sprt}");
    assert_eq!(sprt["verdict"], "continue", "{sprt}");
    assert!(sprt["llr"].is_f64() && sprt["more_games"].is_f64(), "{sprt}");
    let won = elo(&["5", "0", "0"]);
    assert_eq!((&won["score"], &won["elo"]["value"]), (&1.0.into(), &Value::Null), "{won}");
    assert!(won.get("sprt").is_none(), "{won}");
}

#[test]
fn a_sequential_test_without_rounds_ends_with_its_result() {
    let dir = Dir::new();
    // All games are drawn by the limit of moves, which accepts 0 against -20 Elo, but not after one pair.
    let test = ["--sprt", "-20,0", "--sprt-model", "logistic", "--plain", "--results", "m.jsonl"];
    let output = at(&dir, &[&["match", "narikin", "narikin"], &QUICK[..], &test].concat());
    assert_eq!(output.code(), Some(0), "{}", output.stderr);
    assert!(output.text().contains("SPRT accepted H1: "), "{}", output.text());
    assert!(read(&dir, "m.jsonl").lines().count() > 2, "one pair is too few");
    let help = at(&dir, &["match", "--help"]);
    assert!(help.text().contains("[default: random]"), "{}", help.text());
}
