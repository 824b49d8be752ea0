//! `readyok check`: who is judged, what is written, and how it ends.

use std::fs;

use serde_json::Value;

use crate::program::{Dir, Output, readyok, run};

const READYOK: &str = env!("CARGO_BIN_EXE_readyok");

/// An engine that answers a `stop` for which there is no search, and has a name that needs care.
const ODD: &str = r#"
while read -r line; do
    case $line in
        uci) printf '%s\n' 'id name Odd <&"> | *one*' 'id author nobody' uciok ;;
        isready) echo readyok ;;
        stop) echo bestmove e2e4 ;;
        quit) exit ;;
    esac
done
"#;

fn check(dir: &Dir, arguments: &[&str]) -> Output {
    run(readyok(dir).arg("check").args(arguments), b"")
}

/// What a run has written: JSON, `JUnit` and Markdown.
fn written(dir: &Dir, arguments: &[&str]) -> (Output, Value, String, String) {
    let (junit, markdown) = (dir.path().join("check.xml"), dir.path().join("check.md"));
    let files = [junit.to_str().expect("UTF-8"), markdown.to_str().expect("UTF-8")];
    let forms = ["--json", "--junit", files[0], "--markdown", files[1]];
    let output = check(dir, &[arguments, &forms].concat());
    assert_eq!(output.stderr, "", "a bar is for terminals");
    let json = serde_json::from_str(output.text()).expect("JSON");
    let junit = fs::read_to_string(junit).expect("the file");
    let markdown = fs::read_to_string(markdown).expect("the file");
    (output, json, junit, markdown)
}

fn ids(json: &Value) -> Vec<&str> {
    let checks = json["checks"].as_array().expect("a list");
    checks.iter().map(|it| it["id"].as_str().expect("a name")).collect()
}

#[test]
fn an_engine_that_conforms_is_reported_in_every_form() {
    let dir = Dir::new();
    let engine = format!("{READYOK} engine");
    let (output, json, junit, markdown) = written(
        &dir,
        &[
            &engine,
            "--only",
            "handshake.",
            "--only",
            "ending.",
            "--skip",
            "ending.eof",
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
    let selected = |id: &&str| id.starts_with("handshake.") || id.starts_with("ending.");
    assert!(ids.iter().all(selected) && !ids.iter().any(|id| id.starts_with("ending.eof")));

    let document = roxmltree::Document::parse(&junit).expect("XML");
    let suite = document.root_element();
    assert_eq!(suite.attribute("name"), json["name"].as_str());
    assert_eq!(suite.attribute("failures"), Some("0"));
    let cases: Vec<_> = suite.children().filter(|it| it.has_tag_name("testcase")).collect();
    let names: Vec<_> = cases.iter().filter_map(|it| it.attribute("name")).collect();
    assert_eq!(names, ids);
    assert_eq!(suite.attribute("tests"), Some(ids.len().to_string().as_str()));

    let badge = markdown.lines().next().expect("a line");
    assert!(badge.starts_with("![uci](https://img.shields.io/badge/uci-"), "{badge}");
    assert!(badge.ends_with("%20musts-brightgreen)"), "{badge}");
}

#[test]
fn an_engine_that_breaks_a_must_is_reported_in_every_form() {
    let dir = Dir::new();
    let script = dir.write("odd.sh", ODD);
    let engine = format!("sh {}", script.display());
    let (output, json, junit, markdown) = written(&dir, &[&engine, "--only", "lexical.idle-stop"]);
    assert_eq!(output.code(), Some(1), "{}", output.text());
    assert_eq!(json["name"], r#"Odd <&"> | *one*"#);
    let dialogue = json["checks"][0]["dialogue"].as_array().expect("a dialogue");
    assert!(dialogue.iter().any(|line| line.as_str().is_some_and(|it| it.ends_with("> stop"))));

    let document = roxmltree::Document::parse(&junit).expect("XML");
    let suite = document.root_element();
    assert_eq!(suite.attribute("name"), json["name"].as_str());
    assert_eq!(suite.attribute("failures"), Some("1"));
    let failure = suite.descendants().find(|it| it.has_tag_name("failure")).expect("a failure");
    assert_eq!(failure.attribute("message"), json["checks"][0]["text"].as_str());
    assert!(failure.text().expect("a dialogue").contains("< bestmove e2e4"));

    assert!(markdown.lines().next().is_some_and(|it| it.ends_with("-red)")), "{markdown}");
    assert!(markdown.contains(r"Odd \<\&"), "{markdown}");
}

#[test]
fn what_cannot_be_judged_ends_with_2() {
    let dir = Dir::new();
    let cat = check(&dir, &["cat", "--timeout-scale", "0.01"]);
    assert_eq!(cat.code(), Some(2));
    assert!(cat.stderr.contains("does not answer"), "{}", cat.stderr);
    assert_eq!(check(&dir, &["/no/such/engine"]).code(), Some(2));
    assert_eq!(check(&dir, &[]).code(), Some(2));
    assert_eq!(check(&dir, &["--gui", "--", "echo", "no engine"]).code(), Some(2));
}

#[test]
fn narikin_conforms_through_the_tap() {
    let dir = Dir::new();
    let log = dir.path().join("tap.log");
    let engine = format!("{READYOK} tap --log {} -- {READYOK} engine", log.display());
    let only = ["--only", "handshake.", "--only", "lexical.", "--only", "ending.quit"];
    let output = check(&dir, &[&[engine.as_str()], &only[..], &["--timeout-scale", "3"]].concat());
    assert_eq!(output.code(), Some(0), "{}{}", output.text(), output.stderr);
}

#[test]
fn our_own_client_is_a_client_like_others() {
    let dir = Dir::new();
    let client = ["--gui", "--json", "--only", "gui.conduct.", "--only", "gui.lines.", "--"];
    let analyse = [READYOK, "analyse", "{engine}", "--depth", "2"];
    let output = check(&dir, &[&client[..], &analyse[..]].concat());
    assert_eq!(output.code(), Some(0), "{}{}", output.text(), output.stderr);
    let json: Value = serde_json::from_str(output.text()).expect("JSON");
    assert_eq!(json["side"], "client");
    let passed = json["checks"].as_array().expect("a list").iter().filter(|it| {
        it["id"].as_str().is_some_and(|id| id.starts_with("gui.lines.")) && it["verdict"] == "pass"
    });
    assert!(3 < passed.count(), "{}", output.text());
}

#[test]
fn the_checks_of_both_sides_are_listed() {
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
