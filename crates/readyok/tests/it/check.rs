//! `readyok check`: targets, output formats and exit codes.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::thread;

use readyok_check::{Severity, Suite, Target, Verdict};
use readyok_protocol::Dialect;
use serde_json::Value;

use crate::program::{Dir, Output, readyok, run};

const READYOK: &str = env!("CARGO_BIN_EXE_readyok");

/// An engine that answers `stop` without a search, writes control characters to stderr, and whose name needs escaping.
const NONCONFORMING: &str = include_str!("data/check/nonconforming.txt");

fn check(dir: &Dir, arguments: &[&str]) -> Output {
    run(readyok(dir).arg("check").args(arguments), b"")
}

/// Runs the checks; returns the JSON, `JUnit` and Markdown output.
fn reports(dir: &Dir, arguments: &[&str]) -> (Output, Value, String, String) {
    let (junit, markdown) = (dir.path().join("check.xml"), dir.path().join("check.md"));
    let files = [junit.to_str().expect("UTF-8"), markdown.to_str().expect("UTF-8")];
    let forms = ["--json", "--junit", files[0], "--markdown", files[1]];
    let output = check(dir, &[arguments, &forms].concat());
    assert_eq!(output.stderr, "", "neither a progress bar nor the error output of the engine");
    let json = serde_json::from_str(output.text()).expect("JSON");
    let junit = fs::read_to_string(junit).expect("the file");
    let markdown = fs::read_to_string(markdown).expect("the file");
    (output, json, junit, markdown)
}

/// The script and the command of an engine that violates a must.
fn nonconforming(dir: &Dir) -> (PathBuf, String) {
    let script = dir.write("engine.sh", NONCONFORMING);
    let command = format!("sh {}", script.display());
    (script, command)
}

fn ids(json: &Value) -> Vec<&str> {
    let checks = json["checks"].as_array().expect("a list");
    checks.iter().map(|check| check["id"].as_str().expect("a name")).collect()
}

#[test]
fn reports_a_conforming_engine_in_every_format() {
    let dir = Dir::new();
    let engine = format!("{READYOK} engine");
    let (output, json, junit, markdown) = reports(
        &dir,
        &[
            &engine,
            "--only",
            "handshake.",
            "--only",
            "exit.",
            "--skip",
            "exit.eof",
            "--seed",
            "7",
            "--jobs",
            "2",
            "--timeout-scale",
            "3",
        ],
    );
    assert_eq!(output.code(), Some(0), "{}", output.text());
    assert_eq!((&json["exit_status"], &json["seed"]), (&0.into(), &7.into()));
    let ids = ids(&json);
    let selected = |id: &&str| id.starts_with("handshake.") || id.starts_with("exit.");
    assert!(ids.iter().all(selected) && !ids.iter().any(|id| id.starts_with("exit.eof")));

    let document = roxmltree::Document::parse(&junit).expect("XML");
    let suite = document.root_element();
    assert_eq!(suite.attribute("name"), json["name"].as_str());
    assert_eq!(suite.attribute("failures"), Some("0"));
    let cases: Vec<_> = suite.children().filter(|node| node.has_tag_name("testcase")).collect();
    let names: Vec<_> = cases.iter().filter_map(|case| case.attribute("name")).collect();
    assert_eq!(names, ids);
    assert_eq!(suite.attribute("tests"), Some(ids.len().to_string().as_str()));

    let badge = markdown.lines().next().expect("a line");
    assert!(badge.starts_with("![uci](https://img.shields.io/badge/uci-"), "{badge}");
    assert!(badge.ends_with("%20musts-brightgreen)"), "{badge}");
}

#[test]
fn reports_a_violated_must_in_every_format() {
    let dir = Dir::new();
    let (_, engine) = nonconforming(&dir);
    let (output, json, junit, markdown) = reports(&dir, &[&engine, "--only", "lexical.idle-stop"]);
    assert_eq!(output.code(), Some(1), "{}", output.text());
    assert_eq!(json["name"], r#"Mock <&"> | *one*"#);
    let transcript = json["checks"][0]["transcript"].as_array().expect("a transcript");
    assert!(
        transcript.iter().any(|line| line.as_str().is_some_and(|text| text.ends_with("> stop")))
    );

    let document = roxmltree::Document::parse(&junit).expect("XML");
    let suite = document.root_element();
    assert_eq!(suite.attribute("name"), json["name"].as_str());
    assert_eq!(suite.attribute("failures"), Some("1"));
    let failure = suite.descendants().find(|node| node.has_tag_name("failure")).expect("a failure");
    assert_eq!(failure.attribute("message"), json["checks"][0]["text"].as_str());
    assert!(failure.text().expect("a transcript").contains("< bestmove e2e4"));

    assert!(markdown.lines().next().is_some_and(|line| line.ends_with("-red)")), "{markdown}");
    assert!(markdown.contains(r"Mock \<\&"), "{markdown}");
}

#[test]
fn exits_with_2_if_a_target_cannot_be_checked() {
    let dir = Dir::new();
    let cat = check(&dir, &["cat", "--timeout-scale", "0.01"]);
    assert_eq!(cat.code(), Some(2));
    let both = ["`uci`", "`usi`"].map(|hello| format!("does not reply to {hello}: "));
    assert!(both.iter().all(|text| cat.stderr.contains(text)), "{}", cat.stderr);
    assert_eq!(check(&dir, &["/no/such/engine"]).code(), Some(2));
    assert_eq!(check(&dir, &[]).code(), Some(2));
    assert_eq!(check(&dir, &["--gui", "--", "echo", "no engine"]).code(), Some(2));
}

#[test]
fn narikin_passes_every_must_and_should_directly_and_through_the_tap() {
    let dir = Dir::new();
    let check = &|dialect, arguments: &[&str], only: &[&str]| {
        let suite = Suite::new(Target::program(READYOK, arguments)).dialect(dialect);
        let suite = suite.only(only.iter().copied()).timeout_scale(3.0);
        let report = suite.run().expect("a handshake");
        let failed: Vec<_> = report
            .results
            .iter()
            .filter(|result| result.severity != Severity::May)
            .filter(|result| matches!(result.verdict, Verdict::Fail(_) | Verdict::Inconclusive(_)))
            // Times cannot be judged while other tests use the host.
            .filter(|result| !result.loaded)
            .map(|result| result.check.id)
            .collect();
        assert_eq!(failed, [""; 0], "{report}");
    };
    // Both protocols are checked concurrently.
    thread::scope(|scope| {
        for dialect in Dialect::ALL {
            let log = dir.path().join(dialect.handshake());
            scope.spawn(move || {
                // Other tests run Narikin in the same process; these checks need a process.
                check(dialect, &["engine"], &["handshake.", "resources.", "exit."]);
                let log = log.to_str().expect("UTF-8");
                check(dialect, &["tap", "--log", log, "--", READYOK, "engine"], &[""]);
            });
        }
    });
}

#[test]
fn input_of_a_failure_reproduces_it() {
    let dir = Dir::new();
    let (script, engine) = nonconforming(&dir);
    let (output, json, _, markdown) = reports(&dir, &[&engine, "--only", "lexical.idle-stop"]);
    let lines = json["checks"][0]["input"].as_array().expect("lines");
    let lines: String =
        lines.iter().filter_map(Value::as_str).flat_map(|line| [line, "\n"]).collect();
    assert!(output.code() == Some(1) && lines.starts_with("uci\nisready\n"), "{lines}");

    let again = run(
        Command::new("sh")
            .arg(script)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped()),
        lines.as_bytes(),
    );
    assert!(again.text().contains("bestmove e2e4"), "{}", again.text());

    let text = check(&dir, &[&engine, "--only", "lexical.idle-stop"]);
    let pasted = format!("paste into the engine's input:\n\n{lines}");
    assert!(text.text().contains(&pasted), "{}", text.text());
    let block =
        format!("<details><summary>Paste into the engine's input</summary>\n\n```text\n{lines}```");
    assert!(markdown.contains(&block), "{markdown}");
}

#[test]
fn input_with_control_characters_is_a_shell_command() {
    let dir = Dir::new();
    // The engine ignores a line with a carriage return.
    let (_, engine) = nonconforming(&dir);
    let output =
        check(&dir, &[&engine, "--json", "--only", "lexical.crlf", "--timeout-scale", "0.1"]);
    let json: Value = serde_json::from_str(output.text()).expect("JSON");
    assert_eq!(json["checks"][0]["verdict"], "fail", "{json}");
    assert_eq!(json["checks"][0]["input_command"], r"{ printf 'uci\nisready\nisready\r\n'; cat; }");
}

#[test]
fn checks_readyok_as_a_client() {
    let dir = Dir::new();
    let client = ["--gui", "--json", "--only", "gui.conduct.", "--only", "gui.lines.", "--"];
    let analyse = [READYOK, "analyse", "{engine}", "--depth", "2"];
    let output = check(&dir, &[&client[..], &analyse[..]].concat());
    assert_eq!(output.code(), Some(0), "{}{}", output.text(), output.stderr);
    let json: Value = serde_json::from_str(output.text()).expect("JSON");
    assert_eq!(json["side"], "client");
    let passed = json["checks"].as_array().expect("a list").iter().filter(|check| {
        check["id"].as_str().is_some_and(|id| id.starts_with("gui.lines."))
            && check["verdict"] == "pass"
    });
    assert!(3 < passed.count(), "{}", output.text());
}

#[test]
fn lists_the_checks_of_both_sides() {
    let dir = Dir::new();
    for (options, first) in [(&["--list"][..], "handshake."), (&["--gui", "--list"], "gui.start.")]
    {
        let text = check(&dir, options);
        assert!(text.text().starts_with(first), "{}", text.text());
        let json = check(&dir, &[options, &["--json"]].concat());
        let json: Value = serde_json::from_str(json.text()).expect("JSON");
        let count = json.as_array().expect("a list").len();
        assert_eq!(count, text.text().lines().count());
        assert_eq!(text.code(), Some(0));
    }
}

#[test]
fn rejects_a_selection_without_checks() {
    let dir = Dir::new();
    let engine = format!("{READYOK} engine");
    for option in ["--only", "--skip"] {
        check(&dir, &[&engine, option, "nosuch."]).reports(2, "`nosuch.`");
    }
    let none = check(&dir, &[&engine, "--only", "search.", "--skip", "sea"]);
    assert_eq!(none.code(), Some(2), "{}", none.text());
    let other = check(&dir, &[&engine, "--only", "usi.", "--profile", "uci-2006"]);
    assert_eq!(other.code(), Some(2), "{}", other.text());
}

#[test]
fn known_failures_may_only_shrink() {
    let dir = Dir::new();
    let (_, engine) = nonconforming(&dir);
    let known = dir.path().join("known.txt");
    let file = known.to_str().expect("UTF-8");
    let only = ["--only", "lexical.idle-stop", "--only", "handshake.name", "--baseline", file];
    let run = |more: &[&str]| check(&dir, &[&[engine.as_str()], &only[..], more].concat());
    assert_eq!(run(&[]).code(), Some(2), "the file is missing");
    assert_eq!(run(&["--update-baseline"]).code(), Some(0));
    let text = fs::read_to_string(&known).expect("the file");
    assert!(text.ends_with("\nlexical.idle-stop\n"), "{text}");
    assert_eq!(run(&[]).code(), Some(0));
    // A listed check that passes has to be removed, and a new failure is not added.
    fs::write(&known, "handshake.name\n").expect("a file");
    let output = run(&[]);
    assert_eq!(output.code(), Some(1), "{}", output.text());
    assert!(output.text().contains("handshake.name: passes, remove it from"), "{}", output.text());
    assert_eq!(run(&["--update-baseline"]).code(), Some(1));
    let text = fs::read_to_string(&known).expect("the file");
    assert!(!text.contains("handshake.name") && !text.contains("lexical"), "{text}");
    fs::write(&known, "no.such-check\n").expect("a file");
    assert_eq!(run(&[]).code(), Some(2));
}

#[test]
fn time_limit_bounds_the_run() {
    let dir = Dir::new();
    let engine = format!("{READYOK} engine");
    let output = check(&dir, &[&engine, "--max-time", "1", "--json", "--only", "search."]);
    assert_eq!(output.code(), Some(2), "{}", output.text());
    let json: Value = serde_json::from_str(output.text()).expect("JSON");
    assert!(json["seconds"].as_f64().expect("a number") < 60.0, "{json}");
    assert!(output.text().contains("the time limit of the run has expired"), "{json}");
}

#[test]
fn annotations_and_the_badge_show_a_violated_must() {
    let dir = Dir::new();
    let (_, engine) = nonconforming(&dir);
    let badge = dir.path().join("badge.json");
    let file = badge.to_str().expect("UTF-8");
    let options = ["--only", "lexical.idle-stop", "--annotations", "--badge", file];
    let output = check(&dir, &[&[engine.as_str()], &options[..]].concat());
    let line = "::error title=lexical.idle-stop::";
    assert!(output.text().lines().any(|shown| shown.starts_with(line)), "{}", output.text());
    let badge: Value =
        serde_json::from_str(&fs::read_to_string(&badge).expect("the file")).expect("JSON");
    assert_eq!((&badge["message"], &badge["color"]), (&"0 of 1 musts".into(), &"red".into()));
    // A check that is selected alone is the cause of its failure.
    let output = check(&dir, &[&engine, "--only", "search.legal-move", "--annotations"]);
    let line = "::error title=search.legal-move::";
    assert!(output.text().lines().any(|shown| shown.starts_with(line)), "{}", output.text());
}

#[test]
fn sets_the_start_timeout() {
    let silent = "sh -c 'while read -r line; do :; done'";
    let output = check(&Dir::new(), &[silent, "--timeout", "0.2", "--only", "handshake."]);
    assert_eq!(output.code(), Some(2));
    let all = format!("{}{}", output.text(), output.stderr);
    assert!(all.contains("0.2 s"), "{all}");
}
