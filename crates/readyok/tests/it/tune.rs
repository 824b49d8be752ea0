//! `readyok tune`, with Narikin.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use serde_json::Value;

use crate::matches_real::Running;
use crate::program::{Dir, Output, Signal, readyok, run, signal, start_nats, wait};
use crate::real::engine;

fn at(dir: &Dir, args: &[&str]) -> Output {
    run(readyok(dir).current_dir(dir.path()).args(args), b"")
}

fn read(dir: &Dir, name: &str) -> String {
    fs::read_to_string(dir.path().join(name)).expect(name)
}

const FILE: &str = include_str!("data/tune/file.txt");

#[test]
fn values_are_those_of_their_options() {
    let dir = Dir::new();
    // In the file, `Move Overhead` is before `Hash`.
    let (head, hash) = FILE.split_at(FILE.find("[[parameters]]").expect("a parameter"));
    let overhead = hash.replace("Hash", "Move Overhead").replace("16", "100").replace("64", "200");
    let file = format!("{head}{overhead}{hash}");
    fs::write(dir.path().join("t.toml"), &file).expect("space");
    let output = at(&dir, &["tune", "t.toml", "--results", "t.jsonl"]);
    assert_eq!(output.code(), Some(0), "{}", output.stderr);
    let text = output.text();
    let value = |name: &str| -> i64 {
        let (_, rest) = text.split_once(&format!("setoption name {name} value ")).expect(name);
        rest.split(' ').next().and_then(|value| value.parse().ok()).expect(name)
    };
    assert!(value("Hash") < 50 && 50 < value("Move Overhead"), "{text}");
    assert_eq!(read(&dir, "t.toml"), file, "the options have another file");
}

#[test]
fn tunes_an_option_and_resumes() {
    let dir = Dir::new();
    fs::write(dir.path().join("tune.toml"), FILE).expect("space");
    let args =
        ["tune", "tune.toml", "--results", "t.jsonl", "--report", "t.html", "--interval", "2"];
    let output = at(&dir, &args);
    assert_eq!(output.code(), Some(0), "{}", output.stderr);
    let text = output.text();
    for part in [
        "2/4 game pairs  Hash ",
        "4/4 game pairs  Hash ",
        " (average 1",
        "setoption name Hash value 1",
        " (start 16, average 1",
        ", best value unknown)",
        "The gain over the start values cannot be estimated yet.",
        "options: t.options.toml",
        "test: readyok match narikin narikin --name 1=tuned --name 2=start",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(!text.contains("resume:"), "{text}");
    assert!(text.contains("warning: without `openings` in the file all games start"), "{text}");
    assert!(!text.contains("--openings") && !text.contains("repeat"), "{text}");
    let options = read(&dir, "t.options.toml");
    assert!(options.starts_with("# After 4 of 4 game pairs. "), "{options}");
    assert!(options.contains("\n[options]\nHash = \"1"), "{options}");
    assert!(options.contains("[tuning.parameters.Hash]\nstart = 16.0\naverage = 1"), "{options}");
    assert!(read(&dir, "t.html").contains("<h3>Hash</h3>"));
    has_no_score_of_plus_against_minus(text);
    has_no_score_of_plus_against_minus(&read(&dir, "t.html"));
    let results = read(&dir, "t.jsonl");
    assert!(results.contains("\"options\":[{\"Hash\":\""), "{results}");
    // As after a crash.
    let lines: Vec<&str> = results.split_inclusive('\n').collect();
    fs::write(dir.path().join("half.jsonl"), lines[..3].concat()).expect("space");
    let output = at(&dir, &["tune", "--resume", "half.jsonl", "--options", "o.toml"]);
    assert_eq!(output.code(), Some(0), "{}", output.stderr);
    assert!(output.text().contains("resumed after 2 game pairs"), "{}", output.text());
    assert_eq!(read(&dir, "half.jsonl").lines().count(), 5);
    assert!(read(&dir, "o.toml").contains("Hash = "));
}

/// The options of plus and minus differ from pair to pair: a score of them has no meaning.
fn has_no_score_of_plus_against_minus(text: &str) {
    for name in [
        "Elo ",
        "Elo:",
        "\"elo\"",
        "LOS ",
        "superiority",
        "pentanomial",
        "Points of",
        "Won",
        "\"wins\"",
    ] {
        assert!(!text.contains(name), "{name}: {text}");
    }
}

#[test]
fn the_printed_command_tests_the_result() {
    let dir = Dir::new();
    let openings =
        "[openings]\nsource = { kind = \"built-in\" }\norder = \"random\"\n[adjudication]";
    fs::write(dir.path().join("tune.toml"), FILE.replace("[adjudication]", openings))
        .expect("space");
    let output = at(&dir, &["tune", "tune.toml", "--results", "t.jsonl", "--events", "e.jsonl"]);
    assert_eq!(output.code(), Some(0), "{}", output.stderr);
    let events = read(&dir, "e.jsonl");
    assert!(
        events.contains("\"event\":\"parameters\"") && events.contains("\"averages\":[1"),
        "{events}"
    );
    has_no_score_of_plus_against_minus(&events);
    let text = output.text();
    let (_, command) = text.split_once("\ntest: ").expect("a command");
    let command = command.lines().next().unwrap_or_default();
    assert!(command.starts_with("readyok match ") && command.contains(" --sprt 0,5 "), "{command}");

    // The test of equal engines is endless.
    let program = readyok(&dir);
    let programs = Path::new(program.get_program()).parent().expect("a directory").to_owned();
    let mut shell = Command::new("sh");
    shell.args(["-c", &format!("exec {command} --results m.jsonl --report m.html")]);
    for (name, value) in program.get_envs() {
        value.map(|value| shell.env(name, value));
    }
    let path = std::env::var("PATH").unwrap_or_default();
    shell.env("PATH", format!("{}:{path}", programs.display()));
    let mut playing =
        Running(shell.current_dir(dir.path()).stdout(Stdio::null()).spawn().expect("sh"));
    wait("no pair is complete", || lines(&dir, "m.jsonl") > 3);
    signal(playing.0.id(), Signal::INT);
    playing.0.wait().expect("it has ended");
    let results = read(&dir, "m.jsonl");
    let tuned = text.split_once("setoption name Hash value ").expect("a value").1;
    let tuned = tuned.split(' ').next().unwrap_or_default();
    let plan = results.lines().next().unwrap_or_default();
    assert!(plan.contains("\"name\":\"tuned\"") && plan.contains("\"name\":\"start\""), "{plan}");
    assert!(plan.contains(&format!("\"options\":{{\"Hash\":\"{tuned}\"}}")), "{plan}");
    assert!(plan.contains("\"options\":{\"Hash\":\"16\"}"), "{plan}");
    assert!(read(&dir, "m.html").contains("Sequential test"));
}

#[test]
fn options_files_are_read_and_validated() {
    let dir = Dir::new();
    let write = |name: &str, text: &str| fs::write(dir.path().join(name), text).expect("space");
    write("o.toml", "[options]\nHash = \"9\"\nThreads = \"1\"\n");
    let play = |args: &[&str]| {
        let base = ["match", "narikin", "narikin", "--depth", "1", "--max-moves", "1"];
        at(&dir, &[&base[..], args].concat())
    };
    play(&["--options-file", "2=o.toml", "--option", "2=Hash=8", "--results", "a.jsonl"]);
    assert!(read(&dir, "a.jsonl").contains(r#""options":{"Hash":"8","Threads":"1"}"#));
    // In a plan, relative to its directory.
    fs::create_dir(dir.path().join("plans")).expect("space");
    write("plans/o.toml", "[options]\nHash = \"7\"\n");
    let engine = |name: &str, more: &str| {
        format!(
            "[[engines]]\nname = \"{name}\"\ncommand = \"narikin\"\nlimits = {{ depth = 1 }}\n{more}\n"
        )
    };
    let head = "game = \"chess\"\nadjudication = { max_moves = 1 }\n";
    let file = "options_file = \"o.toml\"";
    write("plans/p.toml", &format!("{head}{}{}", engine("a", file), engine("b", "")));
    at(&dir, &["match", "--plan", "plans/p.toml", "--results", "b.jsonl"]);
    let results = read(&dir, "b.jsonl");
    assert!(
        results.contains(r#""options":{"Hash":"7"}"#) && !results.contains("options_file"),
        "{results}"
    );

    play(&["--options-file", "none.toml"]).reports(2, "`none.toml`");
    write("bad.toml", "[options]\nHash = 9\n");
    play(&["--options-file", "bad.toml"]).reports(2, "expected a string");
    write("bad.toml", "pairs = 1\n");
    play(&["--options-file", "bad.toml"]).reports(2, "unknown field `pairs`");
    write("bad.toml", &format!("[options]\n#{}\n", "x".repeat(1 << 20)));
    play(&["--options-file", "bad.toml"]).reports(2, "larger than 1 MiB");
    play(&["--options-file", "3=o.toml"]).reports(2, "no engine 3");
}

#[test]
fn rejects_unknown_options_and_invalid_files() {
    let dir = Dir::new();
    let play = |text: &str| {
        fs::write(dir.path().join("tune.toml"), text).expect("space");
        at(&dir, &["tune", "tune.toml", "--results", "x.jsonl"])
    };
    play(&FILE.replace("max = 64", "max = 2")).reports(2, "needs `start` between `min` and `max`");
    let output = play(&FILE.replace("name = \"Hash\"", "name = \"Nonsense\""));
    assert_eq!(output.code(), Some(1), "{}", output.stderr);
    assert!(output.text().contains("narikin plus failed"), "{}", output.text());
    let args = ["match", "narikin", "narikin", "--depth", "1", "--max-moves", "1"];
    at(&dir, &[&args[..], &["--results", "m.jsonl"]].concat());
    at(&dir, &["tune", "--resume", "m.jsonl"]).reports(2, "not a tuning");
}

/// The number of complete lines of a results file.
fn lines(dir: &Dir, name: &str) -> usize {
    let text = fs::read_to_string(dir.path().join(name)).unwrap_or_default();
    text.matches('\n').count()
}

#[test]
fn has_the_same_values_after_sigkill() {
    let dir = Dir::new();
    let file = FILE.replace("pairs = 4", "pairs = 100").replace("max_moves = 2", "max_moves = 20");
    fs::write(dir.path().join("tune.toml"), file).expect("space");
    let whole = at(&dir, &["tune", "tune.toml", "--results", "whole.jsonl"]);
    assert_eq!(whole.code(), Some(0), "{}", whole.stderr);

    let mut command = readyok(&dir);
    command.current_dir(dir.path()).args(["tune", "tune.toml", "--results", "killed.jsonl"]);
    let mut killed = Running(command.stdout(Stdio::null()).spawn().expect("a tuning"));
    wait("no pair is complete", || lines(&dir, "killed.jsonl") > 3);
    signal(killed.0.id(), Signal::KILL);
    killed.0.wait().expect("it was killed");
    assert!(lines(&dir, "killed.jsonl") < 101, "it was killed too late");
    let output = at(&dir, &["tune", "--resume", "killed.jsonl"]);
    assert_eq!(output.code(), Some(0), "{}", output.stderr);
    assert_eq!(lines(&dir, "killed.jsonl"), lines(&dir, "whole.jsonl"));
    assert_eq!(read(&dir, "killed.options.toml"), read(&dir, "whole.options.toml"));
}

#[test]
fn tunes_on_a_queue() {
    let Some(nats) = engine("nats-server") else { return };
    let dir = Dir::new();
    fs::write(dir.path().join("tune.toml"), FILE).expect("space");
    let (_server, address) = start_nats(&nats, &dir);
    let mut worker = readyok(&dir);
    worker.args(["worker", "--queue", &address, "--allow-any", "--cache"]);
    worker.arg(dir.path().join("cache")).stdout(Stdio::null()).stderr(Stdio::null());
    let _worker = Running(worker.spawn().expect("a worker"));
    let output = at(&dir, &["tune", "tune.toml", "--results", "q.jsonl", "--queue", &address]);
    assert_eq!(output.code(), Some(0), "{}", output.stderr);
    assert!(read(&dir, "q.options.toml").contains("\n[options]\nHash = \"1"));
    let shown = |args: &[&str]| {
        let shown = at(&dir, &[&["queue"][..], args, &["--queue", &address]].concat());
        assert_eq!(shown.code(), Some(0), "{}", shown.stderr);
        shown.text().to_string()
    };
    let list = shown(&["list", "--all"]);
    assert!(list.contains("  4/4    –      –    –    Tuning of narikin"), "{list}");
    let details = shown(&["show", "Tuning of narikin"]);
    has_no_score_of_plus_against_minus(&details);
    assert!(details.contains("\nHash    16     1"), "{details}");
    assert!(
        details.contains("The gain over the start values cannot be estimated yet."),
        "{details}"
    );
    for args in [&["list", "--all", "--json"][..], &["show", "Tuning of narikin", "--json"]] {
        let json: Value = serde_json::from_str(&shown(args)).expect("JSON");
        let status = &json.get(0).unwrap_or(&json)["status"];
        let scores =
            ["scores", "standings", "curve"].map(|name| status[name].as_array().map(Vec::len));
        assert_eq!((scores, &status["elo"]), ([Some(0); 3], &Value::Null), "{status}");
        assert_eq!(status["tune"]["parameters"][0]["name"], "Hash", "{status}");
        assert_eq!(status["tune"]["curve"].as_array().map(Vec::len), Some(5), "{status}");
    }
    assert!(read(&dir, "q.jsonl").contains("\"worker\""));
}

/// A tuning has each pair once, however often it is killed. The moments are random; a failure prints the seed.
#[test]
fn a_tuning_that_is_killed_repeatedly_loses_and_repeats_no_pair() {
    const PAIRS: usize = 60;
    let seed = std::env::var("READYOK_KILLS_SEED").ok().and_then(|seed| seed.parse().ok());
    let seed: u64 = seed.unwrap_or_else(|| fastrand::u64(..));
    let mut random = fastrand::Rng::with_seed(seed);
    let dir = Dir::new();
    fs::write(dir.path().join("tune.toml"), FILE.replace("pairs = 4", &format!("pairs = {PAIRS}")))
        .expect("space");
    let stored = || {
        let text = fs::read_to_string(dir.path().join("t.jsonl")).unwrap_or_default();
        // The last line after SIGKILL can be a partial record.
        let lines = text.split_inclusive('\n').filter(|line| line.ends_with('\n'));
        let lines = lines.map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
        let pairs = lines.filter_map(|mut line| line.get_mut("pair").map(Value::take));
        let indices = pairs.map(|pair| pair["pairing"]["index"].as_u64().expect("an index"));
        indices.collect::<Vec<_>>()
    };
    let command = || {
        let mut command = readyok(&dir);
        command.current_dir(dir.path());
        if dir.path().join("t.jsonl").exists() {
            command.args(["tune", "--resume", "t.jsonl"]);
        } else {
            command.args(["tune", "tune.toml", "--results", "t.jsonl"]);
        }
        command
    };
    let mut before = Vec::new();
    for kill in 0..6 {
        let wanted = before.len() + random.usize(1..=8);
        let mut child = command().stdout(Stdio::null()).spawn().expect("the process starts");
        wait("no pair is stored", || wanted <= stored().len() || PAIRS <= stored().len());
        thread::sleep(Duration::from_micros(random.u64(0..20_000)));
        signal(child.id(), Signal::KILL);
        child.wait().expect("the process ends");
        let after = stored();
        assert!(after.starts_with(&before), "kill {kill}, seed {seed}: {before:?} {after:?}");
        before = after;
    }
    let output = run(&mut command(), b"");
    assert_eq!(output.code(), Some(0), "seed {seed}: {}", output.stderr);
    let mut indices = stored();
    indices.sort_unstable();
    assert_eq!(indices, (0..PAIRS as u64).collect::<Vec<_>>(), "seed {seed}");
    let text = format!("finished: {PAIRS} game pairs, {} games", 2 * PAIRS);
    assert!(output.text().contains(&text), "seed {seed}: {}", output.text());
}
