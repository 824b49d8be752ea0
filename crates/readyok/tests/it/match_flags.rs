//! What `readyok match` makes of arguments beside those of the plainest match.

use std::fs;

use crate::program::{Dir, Output, readyok, run};

const QUICK: [&str; 9] =
    ["match", "narikin", "narikin", "--depth", "1", "--max-moves", "4", "--seed", "1"];

fn at(dir: &Dir, words: &[&str]) -> Output {
    run(readyok(dir).current_dir(dir.path()).args(words), b"")
}

/// Plays a quick match, and gives what it has printed.
fn play(dir: &Dir, more: &[&str]) -> String {
    let output = at(dir, &[&QUICK[..], &["--plain"], more].concat());
    assert_eq!(output.code(), Some(0), "{}", output.stderr);
    output.text().to_owned()
}

fn read(dir: &Dir, name: &str) -> String {
    fs::read_to_string(dir.path().join(name)).expect(name)
}

#[test]
fn conversations_are_logged_and_those_of_a_match_that_goes_on_follow() {
    let dir = Dir::new();
    play(&dir, &["--results", "m.jsonl", "--log", "all.log"]);
    let first = read(&dir, "all.log");
    for line in ["narikin 1 <--- uci", "narikin 2 ---> readyok", "narikin 1 ---> bestmove "] {
        assert!(first.contains(line), "{line}: {first}");
    }
    let goes_on = ["match", "--resume", "m.jsonl", "--rounds", "2", "--log", "all.log"];
    let output = at(&dir, &goes_on);
    assert_eq!(output.code(), Some(0), "{}", output.stderr);
    let both = read(&dir, "all.log");
    assert!(both.starts_with(&first) && first.len() < both.len(), "{both}");
    play(&dir, &["--results", "n.jsonl", "--log", "all.log"]);
    assert_eq!(read(&dir, "all.log").matches("narikin 1 <--- uci\n").count(), 1, "a new match");
}

#[cfg(unix)]
#[test]
fn what_engines_complain_of_is_written_with_their_names() {
    let dir = Dir::new();
    let engine =
        format!("sh -c 'echo no network >&2; exec {} engine'", env!("CARGO_BIN_EXE_readyok"));
    let words = ["match", "narikin", &engine, "--name", "2=shell", "--stderr", "errors.txt"];
    let output = at(&dir, &[&words[..], &QUICK[3..]].concat());
    assert_eq!(output.code(), Some(0), "{}", output.stderr);
    assert_eq!(read(&dir, "errors.txt"), "shell: no network\n");
}

#[test]
fn comments_of_pgn_tell_what_is_wanted() {
    let dir = Dir::new();
    play(&dir, &["--pgn", "usual.pgn"]);
    let told = ["--pgn-tell", "seldepth,pv,nps", "--pgn-moves", "uci"];
    play(&dir, &[&["--pgn", "told.pgn"][..], &told].concat());
    play(&dir, &["--pgn", "none.pgn", "--pgn-tell", "none", "--pgn-moves", "lan"]);
    let has = |name: &str, words: &[&str], others: &[&str]| {
        let text = read(&dir, name).split_whitespace().collect::<Vec<_>>().join(" ");
        for word in words {
            assert!(text.contains(word), "{name} has no {word}: {text}");
        }
        for word in others {
            assert!(!text.contains(word), "{name} has {word}: {text}");
        }
    };
    has("usual.pgn", &["1. e4 {", " n=", " latency="], &[" sd=", " pv=", " nps="]);
    has("told.pgn", &["1. e2e4 {", " sd=", " pv=\"", " nps="], &[" n=", " latency="]);
    has("none.pgn", &["1. e2-e4 {"], &[" n=", " latency=", " sd=", " pv="]);
}

#[test]
fn the_strength_is_printed_as_often_as_is_wanted() {
    let dir = Dir::new();
    let count = |every: &str| {
        let text = play(&dir, &["--rounds", "4", "--rating-interval", every]);
        text.lines().filter(|line| line.starts_with("Elo ")).count()
    };
    // Each time, and at the end.
    assert_eq!([count("1"), count("2"), count("0")], [5, 3, 1]);
}

#[test]
fn arguments_become_keys_of_the_plan() {
    let dir = Dir::new();
    let check = |words: &[&str], keys: &[&str]| {
        let name = format!("{}.jsonl", fs::read_dir(dir.path()).expect("a folder").count());
        play(&dir, &[words, &["--results", &name]].concat());
        let text = read(&dir, &name);
        let plan = text.lines().next().unwrap_or_default();
        for key in keys {
            assert!(plan.contains(key), "{key}: {plan}");
        }
    };
    check(
        &["--wait", "1", "--check-pv", "--meetings", "rows", "--opening-policy", "cycle"],
        &[
            "\"wait_ms\":1",
            "\"variations\":\"followed\"",
            "\"meetings\":\"rows\"",
            "\"policy\":\"cycle\"",
        ],
    );
    check(
        &["--check-pv=mate", "--patience", "30,90", "--patience", "2=120"],
        &[
            "\"variations\":\"to-mate\"",
            "\"patience\":{\"hello_ms\":30000,\"ready_ms\":90000}",
            "\"patience\":{\"hello_ms\":120000,\"ready_ms\":120000}",
        ],
    );
    check(
        &["--format", "knockout", "--replays", "0", "--tie", "lot"],
        &["{\"kind\":\"knockout\",\"replays\":0,\"tie\":\"lot\"}"],
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
fn arguments_that_make_no_sense_together_are_refused() {
    let dir = Dir::new();
    for (words, why) in [
        (&["--replays", "2"][..], "--replays is for --format knockout"),
        (&["--tie", "lot"], "--tie is for --format knockout"),
        (&["--patience", "0"], "it is a number of seconds over 0, or two"),
        (&["--patience", "3=5"], "there is no engine 3: the match has 2"),
        (&["--tc", "40/hg5"], "an hourglass has neither moves nor an increment"),
        (&["--pgn-tell", "pv"], "--pgn <FILE>"),
        (&["--pgn", "a.pgn", "--pgn-tell", "none,pv"], "--pgn-tell is none or something"),
        (&["--moves"], "--moves needs --events or --json"),
        (&["--random"], "--random needs --openings: all games start alike"),
        (&["--repeat", "2"], "--repeat needs --openings"),
        (&["--skip", "0"], "--skip needs --openings"),
        (&["--plies", "4"], "--openings <FILE>"),
        (&["--book-format", "epd"], "--openings <FILE>"),
        (&["--impasse", "try"], "--impasse is for --game shogi"),
        (&["--game", "shogi", "--syzygy", "."], "--syzygy is for chess"),
        (&["--format", "gauntlet=2"], "gauntlet=2 leaves none of 2 engines to meet"),
        (&["--name", "1= "], "it is empty"),
        (&["--nodes", "0"], "non-zero"),
        (&["--openings", "none.epd"], "none.epd"),
        (&["--kif", "games"], "games"),
    ] {
        let output = at(&dir, &[&QUICK[..], words].concat());
        assert_eq!(output.code(), Some(2), "{words:?}: {}", output.stderr);
        assert!(output.stderr.contains(why), "{words:?}: {}", output.stderr);
        assert_eq!(fs::read_dir(dir.path()).expect("a folder").count(), 0, "{words:?}");
    }
}

#[test]
fn moves_are_told_by_any_stream_of_events() {
    let dir = Dir::new();
    for stream in [&["--json"][..], &["--events", "-"]] {
        let output = at(&dir, &[&QUICK[..], &["--moves"], stream].concat());
        assert_eq!(output.code(), Some(0), "{stream:?}: {}", output.stderr);
        assert!(output.text().contains("\"event\":\"move\""), "{stream:?}: {}", output.text());
    }
}

#[test]
fn where_nothing_can_be_written_nothing_is_begun() {
    let dir = Dir::new();
    for flag in ["--report", "--events", "--pgn", "--epd", "--results", "--log", "--stderr"] {
        let output = at(&dir, &[&QUICK[..], &[flag, "nowhere/it"]].concat());
        assert_eq!(output.code(), Some(1), "{flag}: {}", output.stderr);
        assert!(output.stderr.contains("nowhere/it"), "{flag}: {}", output.stderr);
        assert_eq!(fs::read_dir(dir.path()).expect("a folder").count(), 0, "{flag}");
    }
    // Nobody listens there.
    let output = at(&dir, &[&QUICK[..], &["--queue", "nats://127.0.0.1:1"]].concat());
    assert_eq!(output.code(), Some(1), "{}", output.stderr);
    assert_eq!(fs::read_dir(dir.path()).expect("a folder").count(), 0, "{}", output.stderr);
}
