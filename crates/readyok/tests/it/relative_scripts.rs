//! Engines of an interpreter in `PATH` with a relative path of their script, in every command that starts engines: they
//! keep the directory of the user. Only a path with a directory is started next to its executable.

use std::env;
use std::process::Command;

use crate::program::{Dir, Output, Signal, finish, readyok, run, signal, start_nats};
use crate::real::engine;

const READYOK: &str = env!("CARGO_BIN_EXE_readyok");

/// An interpreter, the name of a script, and its text. `READYOK` is replaced by the program that becomes the engine.
struct Script(&'static str, &'static str, &'static str);

const SCRIPTS: [Script; 4] = [
    Script("sh", "engine.sh", "exec 'READYOK' engine\n"),
    Script("python3", "engine.py", "import os\nos.execv('READYOK', ['READYOK', 'engine'])\n"),
    Script(
        "node",
        "engine.js",
        "require('child_process').spawnSync('READYOK', ['engine'], { stdio: 'inherit' });\n",
    ),
    Script(
        "java",
        "Engine.java",
        "class Engine {
    public static void main(String[] args) throws Exception {
        new ProcessBuilder(\"READYOK\", \"engine\").inheritIO().start().waitFor();
    }
}
",
    ),
];

/// Calls `test` with the directory of a script and its command line, for each installed interpreter.
fn for_each_script(test: impl Fn(&Dir, &Script)) {
    let path = env::var_os("PATH").unwrap_or_default();
    for script in SCRIPTS {
        let Script(interpreter, name, text) = script;
        if !env::split_paths(&path).any(|dir| dir.join(interpreter).is_file()) {
            assert_ne!(interpreter, "sh", "every system has it");
            continue;
        }
        let dir = Dir::new();
        dir.write(name, &text.replace("READYOK", READYOK));
        test(&dir, &script);
    }
}

fn at(dir: &Dir, args: &[&str]) -> Output {
    run(readyok(dir).current_dir(dir.path()).args(args), b"")
}

/// Runs a command, which must succeed.
#[track_caller]
fn succeeds(dir: &Dir, args: &[&str]) -> Output {
    let output = at(dir, args);
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.code(), Some(0), "{args:?}: {}{text}", output.stderr);
    output
}

#[test]
fn every_command_starts_them_in_the_current_directory() {
    for_each_script(|dir, Script(interpreter, script, _)| {
        let engine = &*format!("{interpreter} {script}");
        let options = succeeds(dir, &["options", engine]);
        assert!(options.text().contains("Narikin"), "{engine}: {}", options.text());
        succeeds(dir, &["check", engine, "--only", "handshake.name", "--jobs", "1"]);
        if *interpreter == "java" {
            // A start takes seconds, and all commands resolve engines alike.
            return;
        }
        succeeds(dir, &["analyse", engine, "--depth", "1"]);
        let game = dir.write("game.pgn", "1. e4 e5 *\n");
        let game = game.to_str().expect("UTF-8");
        succeeds(dir, &["annotate", game, "--engine", engine, "--nodes", "10"]);
        let args = ["match", engine, "narikin", "--rounds", "1", "--nodes", "10", "--plain"];
        let played = succeeds(dir, &args);
        assert!(!played.stderr.contains("exited"), "{engine}: {}", played.stderr);
        let command = format!("cmd={interpreter}");
        let args = format!("args={script}");
        let line = ["match", "--fastchess", "-engine", &command, &args, "name=a", "-engine"];
        let more = ["cmd=narikin", "name=b", "-each", "nodes=10", "-rounds", "1", "-maxmoves", "2"];
        let played = succeeds(dir, &[&line[..], &more].concat());
        assert!(!played.text().contains("Fatal"), "{engine}: {}", played.text());
        let tapped = ["tap", "--log", "tap.log", "--", interpreter, script];
        let tapped = run(readyok(dir).current_dir(dir.path()).args(tapped), b"uci\nquit\n");
        assert!(tapped.text().contains("uciok"), "{engine}: {}", tapped.stderr);
        let list =
            format!("[[engine]]\nname = 'a'\ncommand = '{interpreter}'\nargs = ['{script}']\n");
        dir.write("engines.toml", &list);
        succeeds(dir, &["options", "a"]);
        succeeds(dir, &["check", "a", "--only", "handshake.name", "--jobs", "1"]);
    });
}

#[test]
fn a_resumed_match_finds_them_from_another_directory() {
    let (dir, other) = (Dir::new(), Dir::new());
    dir.write("engine.sh", &SCRIPTS[0].2.replace("READYOK", READYOK));
    let args = ["match", "sh engine.sh", "narikin", "--nodes", "10", "--plain"];
    succeeds(&dir, &[&args[..], &["--rounds", "1", "--results", "m.jsonl"]].concat());
    let results = dir.path().join("m.jsonl");
    let results = results.to_str().expect("UTF-8");
    succeeds(&other, &["match", "--resume", results, "--rounds", "2", "--plain"]);
}

#[test]
fn a_given_directory_has_precedence() {
    let dir = Dir::new();
    std::fs::create_dir(dir.path().join("bots")).expect("a directory");
    dir.write("bots/engine.sh", &SCRIPTS[0].2.replace("READYOK", READYOK));
    let line = "match --fastchess -engine cmd=sh args=engine.sh dir=bots name=a \
                -engine cmd=narikin name=b -each nodes=10 -rounds 1 -maxmoves 2";
    let played = succeeds(&dir, &line.split_whitespace().collect::<Vec<_>>());
    assert!(!played.text().contains("Fatal"), "{}", played.text());
    let list = "[[engine]]\nname = 'a'\ncommand = 'sh'\nargs = ['engine.sh']\ncwd = 'bots'\n";
    dir.write("engines.toml", list);
    succeeds(&dir, &["options", "a"]);
    let list = "[[engine]]\nname = 'a'\ncommand = 'bots/narikin.sh'\n";
    dir.write("engines.toml", list);
    dir.write_program("bots/narikin.sh", "#!/bin/sh\nexec sh engine.sh\n");
    succeeds(&dir, &["options", "a"]);
    succeeds(&dir, &["options", "bots/narikin.sh"]);
}

#[test]
fn a_worker_starts_them_in_its_current_directory() {
    let Some(nats) = engine("nats-server") else { return };
    let dir = Dir::new();
    dir.write("engine.sh", &SCRIPTS[0].2.replace("READYOK", READYOK));
    let (_server, address) = start_nats(&nats, &dir);
    let mut worker = readyok(&dir);
    worker.current_dir(dir.path()).args(["worker", "--queue", &address, "--engine", "narikin"]);
    worker.args(["--engine", "sh engine.sh"]);
    let worker = worker.spawn().expect("the process starts");
    let id = worker.id();
    let mut coordinator = readyok(&dir);
    let args = ["match", "sh engine.sh", "narikin", "--rounds", "1", "--nodes", "10", "--plain"];
    coordinator.current_dir(dir.path()).args(args).args(["--queue", &address]);
    let played = run(&mut coordinator, b"");
    signal(id, Signal::INT);
    let worker = finish(worker);
    assert_eq!(played.code(), Some(0), "{}{}", played.stderr, worker.stderr);
    assert!(!worker.stderr.contains("exited"), "{}", worker.stderr);
}

#[test]
fn the_action_starts_them_in_the_working_directory() {
    for_each_script(|dir, Script(interpreter, script, _)| {
        let action = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scripts/check-action.sh");
        let mut command = Command::new("bash");
        command.arg(action).arg(READYOK).current_dir(dir.path());
        for name in ["CLIENT", "PROTOCOL", "PROFILE", "BASELINE", "GITHUB_OUTPUT"] {
            command.env(name, "");
        }
        command.env_remove("GITHUB_STEP_SUMMARY").env_remove("GITHUB_OUTPUT");
        command.env("ENGINE", format!("{interpreter} {script}")).env("REPORTS", "reports");
        command.env("ARGUMENTS", "--only handshake.name --jobs 1").env("LEVEL", "full");
        let output = command.env("READYOK_CONFIG_DIR", dir.path()).output().expect("bash");
        let text = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{interpreter}: {text}");
        assert!(dir.path().join("reports/check.json").is_file(), "{interpreter}: {text}");
    });
}

#[test]
fn a_check_names_the_script_and_prints_its_error_output() {
    let dir = Dir::new();
    let text = "echo 'Traceback:' >&2; printf '\\tFile \"engine.sh\"\\033[2J\\n' >&2; exit 3\n";
    dir.write("engine.sh", text);
    let output = at(&dir, &["check", "sh engine.sh"]);
    assert_eq!(output.code(), Some(2), "{}", output.stderr);
    let expected = "the last error output of the engine:\n  Traceback:\n   File \"engine.sh\"[2J\n\
                    readyok: `sh engine.sh` does not reply to `uci`: the engine exited (exit status: 3)";
    assert!(output.stderr.starts_with(expected), "{}", output.stderr);
    // A crash in a later session is in its transcript.
    let text = "while read -r line; do case $line in uci) echo id name A; echo uciok;; \
                isready) echo readyok;; stop) echo missing net >&2; exit 3;; quit) exit;; esac; done\n";
    dir.write("engine.sh", text);
    let output = at(&dir, &["check", "sh engine.sh", "--only", "lexical.idle-stop", "--json"]);
    assert!(output.text().contains("        ! missing net"), "{}", output.text());
    assert_eq!(output.code(), Some(1), "{}", output.stderr);
}

#[test]
fn a_missing_list_of_known_failures_is_reported_before_the_run() {
    let dir = Dir::new();
    let output = at(&dir, &["check", "narikin", "--baseline", "known/list.txt"]);
    assert_eq!((output.code(), output.text()), (Some(2), ""));
    let expected =
        "readyok: the file of known failures `known/list.txt` does not exist; create it with";
    assert!(output.stderr.starts_with(expected), "{}", output.stderr);
    assert!(output.stderr.contains("create it with --update-baseline"), "{}", output.stderr);
}
