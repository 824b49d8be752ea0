//! Arguments of `readyok match`.

use std::fs;

use crate::program::{Dir, Output, readyok, run};

const QUICK: [&str; 9] =
    ["match", "narikin", "narikin", "--depth", "1", "--max-moves", "4", "--seed", "1"];

fn at(dir: &Dir, args: &[&str]) -> Output {
    run(readyok(dir).current_dir(dir.path()).args(args), b"")
}

/// Plays a quick match and returns its output.
fn play(dir: &Dir, more: &[&str]) -> String {
    let output = at(dir, &[&QUICK[..], &["--plain"], more].concat());
    assert_eq!(output.code(), Some(0), "{}", output.stderr);
    output.text().to_owned()
}

fn read(dir: &Dir, name: &str) -> String {
    fs::read_to_string(dir.path().join(name)).expect(name)
}

#[test]
fn logs_engine_lines_and_appends_on_resume() {
    let dir = Dir::new();
    play(&dir, &["--results", "m.jsonl", "--log", "all.log"]);
    let first = read(&dir, "all.log");
    for line in ["narikin 1 <--- uci", "narikin 2 ---> readyok", "narikin 1 ---> bestmove "] {
        assert!(first.contains(line), "{line}: {first}");
    }
    let resume = ["match", "--resume", "m.jsonl", "--rounds", "2", "--log", "all.log"];
    let output = at(&dir, &resume);
    assert_eq!(output.code(), Some(0), "{}", output.stderr);
    let both = read(&dir, "all.log");
    assert!(both.starts_with(&first) && first.len() < both.len(), "{both}");
    play(&dir, &["--results", "n.jsonl", "--log", "all.log"]);
    assert_eq!(read(&dir, "all.log").matches("narikin 1 <--- uci\n").count(), 1, "a new match");
}

#[cfg(unix)]
#[test]
fn writes_engine_stderr_with_names() {
    let dir = Dir::new();
    let engine =
        format!("sh -c 'echo no network >&2; exec {} engine'", env!("CARGO_BIN_EXE_readyok"));
    let args = ["match", "narikin", &engine, "--name", "2=shell", "--stderr", "errors.txt"];
    let output = at(&dir, &[&args[..], &QUICK[3..]].concat());
    assert_eq!(output.code(), Some(0), "{}", output.stderr);
    assert_eq!(read(&dir, "errors.txt"), "shell: no network\n");
}

#[test]
fn pgn_comments_have_the_selected_fields() {
    let dir = Dir::new();
    play(&dir, &["--pgn", "default.pgn"]);
    let fields = ["--pgn-fields", "seldepth,pv,nps", "--pgn-moves", "uci"];
    play(&dir, &[&["--pgn", "fields.pgn"][..], &fields].concat());
    play(&dir, &["--pgn", "none.pgn", "--pgn-fields", "none", "--pgn-moves", "lan"]);
    let has = |name: &str, present: &[&str], absent: &[&str]| {
        let text = read(&dir, name).split_whitespace().collect::<Vec<_>>().join(" ");
        for part in present {
            assert!(text.contains(part), "{name} has no {part}: {text}");
        }
        for part in absent {
            assert!(!text.contains(part), "{name} has {part}: {text}");
        }
    };
    has("default.pgn", &[" n=", " latency="], &[" sd=", " pv=", " nps="]);
    has("fields.pgn", &[" sd=", " pv=\"", " nps="], &[" n=", " latency="]);
    has("none.pgn", &[], &[" n=", " latency=", " sd=", " pv="]);
    // The first move depends on the evaluation.
    let first = |name: &str| {
        let text = read(&dir, name);
        let (_, moves) = text.split_once("\n1. ").expect("a first move");
        moves.split_once(" {").expect("a comment").0.to_owned()
    };
    let [san, uci, lan] = ["default.pgn", "fields.pgn", "none.pgn"].map(first);
    let (from, to) = uci.split_at_checked(2).expect("two squares");
    assert!(!san.contains(from) && san.ends_with(to), "{san} {uci}");
    assert!(lan.ends_with(&format!("{from}-{to}")), "{lan} {uci}");
}

#[test]
fn prints_ratings_at_the_interval() {
    let dir = Dir::new();
    let count = |every: &str| {
        let text = play(&dir, &["--rounds", "4", "--rating-interval", every]);
        text.lines().filter(|line| line.starts_with("Elo ")).count()
    };
    // After each pair; those of the last one are the summary at the end.
    assert_eq!([count("1"), count("2"), count("0")], [4, 2, 1]);
}

#[test]
fn arguments_become_keys_of_the_plan() {
    let dir = Dir::new();
    let check = |args: &[&str], keys: &[&str]| {
        let name = format!("{}.jsonl", fs::read_dir(dir.path()).expect("a directory").count());
        play(&dir, &[args, &["--results", &name]].concat());
        let text = read(&dir, &name);
        let plan = text.lines().next().unwrap_or_default();
        for key in keys {
            assert!(plan.contains(key), "{key}: {plan}");
        }
    };
    check(
        &["--wait", "1", "--check-pv", "--pairing-order", "fastchess", "--opening-policy", "cycle"],
        &[
            "\"wait_ms\":1",
            "\"pv_check\":\"moves\"",
            "\"pairing_order\":\"fastchess\"",
            "\"policy\":\"cycle\"",
        ],
    );
    check(
        &[
            "--check-pv=mate",
            "--handshake-timeout",
            "30",
            "--ready-timeout",
            "90",
            "--ready-timeout",
            "2=120",
        ],
        &[
            "\"pv_check\":\"mate\"",
            "\"timeouts\":{\"handshake_ms\":30000,\"ready_ms\":90000}",
            "\"timeouts\":{\"handshake_ms\":30000,\"ready_ms\":120000}",
        ],
    );
    check(
        &["--format", "knockout", "--replays", "0", "--tie", "random"],
        &["{\"kind\":\"knockout\",\"replays\":0,\"tie\":\"random\"}"],
    );
    check(&["--format", "pyramid"], &["{\"kind\":\"pyramid\"}"]);
    check(
        &["--trust-mates", "1", "--whitepov", "2"],
        &["\"restart\":false,\"trust_mates\":true}", "\"restart\":false,\"whitepov\":true}"],
    );
    let tables = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/syzygy");
    check(
        &["--syzygy", tables, "--syzygy-ignore-fifty", "--syzygy-scope", "win-loss"],
        &["\"ignore_fifty_moves\":true,\"scope\":\"win-loss\""],
    );
}

#[test]
fn rejects_conflicting_arguments() {
    let dir = Dir::new();
    for (args, why) in [
        (&["--replays", "2"][..], "--replays requires --format knockout"),
        (&["--tie", "random"], "--tie requires --format knockout"),
        (&["--ready-timeout", "0"], "expected a number of seconds"),
        (&["--ready-timeout", "3=5"], "no engine 3: the match has 2 engines"),
        (&["--tc", "40/hg5"], "an hourglass clock has no number of moves and no increment"),
        (&["--pgn-fields", "pv"], "--pgn <FILE>"),
        (
            &["--pgn", "a.pgn", "--pgn-fields", "none,pv"],
            "--pgn-fields: `none` excludes other fields",
        ),
        (&["--moves"], "--moves requires --events or --json"),
        (&["--random"], "--random requires --openings: there is only one start position"),
        (&["--repeat", "2"], "--repeat requires --openings"),
        (&["--skip", "0"], "--skip requires --openings"),
        (&["--plies", "4"], "--openings <FILE>"),
        (&["--book-format", "epd"], "--openings <FILE>"),
        (&["--impasse", "try"], "--impasse requires --game shogi"),
        (&["--game", "shogi", "--syzygy", "."], "--syzygy requires chess"),
        (&["--format", "gauntlet=2"], "gauntlet=2 leaves no opponents among 2 engines"),
        (&["--name", "1= "], "the name is empty"),
        (&["--nodes", "0"], "non-zero"),
        (&["--openings", "none.epd"], "none.epd"),
        (&["--kif", "games"], "games"),
    ] {
        let output = at(&dir, &[&QUICK[..], args].concat());
        assert_eq!(output.code(), Some(2), "{args:?}: {}", output.stderr);
        assert!(output.stderr.contains(why), "{args:?}: {}", output.stderr);
        assert_eq!(fs::read_dir(dir.path()).expect("a directory").count(), 0, "{args:?}");
    }
}

#[test]
fn moves_are_included_in_events() {
    let dir = Dir::new();
    for stream in [&["--json"][..], &["--events", "-"]] {
        let output = at(&dir, &[&QUICK[..], &["--moves"], stream].concat());
        assert_eq!(output.code(), Some(0), "{stream:?}: {}", output.stderr);
        assert!(output.text().contains("\"event\":\"move\""), "{stream:?}: {}", output.text());
    }
}

#[test]
fn unwritable_output_prevents_the_start() {
    let dir = Dir::new();
    for flag in ["--report", "--events", "--pgn", "--epd", "--results", "--log", "--stderr"] {
        let output = at(&dir, &[&QUICK[..], &[flag, "nowhere/it"]].concat());
        assert_eq!(output.code(), Some(1), "{flag}: {}", output.stderr);
        assert!(output.stderr.contains("nowhere/it"), "{flag}: {}", output.stderr);
        assert_eq!(fs::read_dir(dir.path()).expect("a directory").count(), 0, "{flag}");
    }
    // No server listens on this port.
    let output = at(&dir, &[&QUICK[..], &["--queue", "nats://127.0.0.1:1"]].concat());
    assert_eq!(output.code(), Some(2), "{}", output.stderr);
    assert_eq!(fs::read_dir(dir.path()).expect("a directory").count(), 0, "{}", output.stderr);
}
