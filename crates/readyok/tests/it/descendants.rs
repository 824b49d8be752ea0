//! Engines with descendants that leave the session, the process group and the environment of the engine.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use rustix::process::Signal;

use crate::program::{Dir, finish, readyok, run, signal, wait};

/// How many descendants each start of an engine has.
const COUNT: usize = 50;

/// Starts descendants that are known by their arguments alone, waits until all of them run, and does
/// what it is given as arguments, by default nothing for ten minutes.
fn engine(dir: &Dir) -> PathBuf {
    let (tag, started) = (tag(dir), dir.path().join("started"));
    let text = format!(
        "#!/bin/sh
export TAG='{tag}' STARTED='{}'.$$
sleeper='echo >> '\"$STARTED\"'; exec sleep '\"$TAG\"
i=0
while [ $i -lt {COUNT} ]; do
    (env -i PATH=/usr/bin:/bin setsid sh -c \"$sleeper\" <&- >&- 2>&- &)
    i=$((i+1))
done
while [ \"$(cat \"$STARTED\" 2>&1 | wc -l)\" -lt {COUNT} ]; do sleep 0.01; done
[ $# = 0 ] && {{ echo > '{}'; trap '' TERM; exec sleep 600; }}
exec \"$@\"
",
        started.display(),
        dir.path().join("waits").display(),
    );
    dir.write_program("engine.sh", &text)
}

fn tag(dir: &Dir) -> String {
    let name: String =
        dir.path().to_str().expect("UTF-8").bytes().map(|it| it.to_string()).collect();
    format!("3600.{name}")
}

fn starts(dir: &Path) -> usize {
    let files = fs::read_dir(dir).expect("a folder").flatten();
    files.filter(|it| it.file_name().as_encoded_bytes().starts_with(b"started.")).count()
}

fn left(tag: &str) -> usize {
    let processes = fs::read_dir("/proc").expect("it is mounted").flatten();
    let arguments = processes.map(|it| fs::read(it.path().join("cmdline")).unwrap_or_default());
    arguments.filter(|it| it.windows(tag.len()).any(|part| part == tag.as_bytes())).count()
}

/// Does something with each way to contain descendants.
fn for_each_way(test: impl Fn(&str)) {
    for way in ["supervisor", "control-group"] {
        let dir = Dir::new();
        let mut probe = readyok(&dir);
        let output = run(probe.args(["options", "/bin/true"]).env("READYOK_CONTAINMENT", way), b"");
        if output.stderr.contains("is not possible") {
            assert_eq!(way, "control-group", "{}", output.stderr);
            let text = format!("not tested: control groups: {}", output.stderr);
            // Not by a macro: the test harness would hide it.
            let _ = std::io::stderr().write_all(text.as_bytes());
        } else {
            test(way);
        }
    }
}

#[test]
fn no_descendant_outlives_a_match() {
    for_each_way(|way| {
        let dir = Dir::new();
        let engine = engine(&dir);
        let engine = format!("{} {} engine", engine.display(), env!("CARGO_BIN_EXE_readyok"));
        let plan = format!(
            "game = 'chess'\nrounds = 1\nadjudication = {{ max_moves = 2 }}\nengines = [\n\
             {{ name = 'one', command = '{engine}', limits = {{ depth = 1 }}, restart = true }},\n\
             {{ name = 'two', command = '{engine}', limits = {{ depth = 1 }}, restart = true }},\n]\n"
        );
        let plan = dir.write("plan.toml", &plan);
        let mut command = readyok(&dir);
        command
            .current_dir(dir.path())
            .arg("match")
            .arg("--plan")
            .arg(plan)
            .env("READYOK_CONTAINMENT", way);
        let output = run(&mut command, b"");
        assert_eq!(output.code(), Some(0), "{}{}", output.text(), output.stderr);
        assert_eq!(starts(dir.path()), 4, "{}{}", output.text(), output.stderr);
        wait("descendants are left", || left(&tag(&dir)) == 0);
    });
}

#[test]
fn no_descendant_outlives_other_commands() {
    for_each_way(|way| {
        let lines = [
            &["analyse", "ENGINE READYOK engine", "--depth", "1"][..],
            &["options", "ENGINE READYOK engine"],
            &["check", "ENGINE false"],
            &["tap", "--log", "LOG", "--", "ENGINE", "true"],
        ];
        for line in lines {
            let dir = Dir::new();
            let engine = engine(&dir);
            let log = dir.path().join("log");
            let words = line.iter().map(|word| {
                let word = word.replace("ENGINE", engine.to_str().expect("UTF-8"));
                let word = word.replace("READYOK", env!("CARGO_BIN_EXE_readyok"));
                word.replace("LOG", log.to_str().expect("UTF-8"))
            });
            let output = run(readyok(&dir).args(words).env("READYOK_CONTAINMENT", way), b"");
            assert_ne!(starts(dir.path()), 0, "{line:?}: {}{}", output.text(), output.stderr);
            wait("descendants are left", || left(&tag(&dir)) == 0);
        }
    });
}

#[test]
fn no_descendant_outlives_a_program_that_is_killed() {
    for_each_way(|way| {
        for verb in ["analyse", "match"] {
            let dir = Dir::new();
            let engine = engine(&dir);
            let mut command = readyok(&dir);
            command.current_dir(dir.path()).arg(verb).arg(&engine).env("READYOK_CONTAINMENT", way);
            if verb == "match" {
                command.arg(&engine).args(["--depth", "1"]);
            }
            let child = command.spawn().expect("the program starts");
            wait("the engine does not start", || dir.path().join("waits").exists());
            assert!(left(&tag(&dir)) >= COUNT);
            signal(child.id(), Signal::KILL);
            finish(child);
            wait("descendants are left", || left(&tag(&dir)) == 0);
        }
    });
}

#[test]
fn an_unknown_way_to_contain_engines_is_refused() {
    let dir = Dir::new();
    let mut command = readyok(&dir);
    let output =
        run(command.args(["options", "/bin/true"]).env("READYOK_CONTAINMENT", "hope"), b"");
    assert_ne!(output.code(), Some(0));
    assert!(output.stderr.contains("READYOK_CONTAINMENT is `hope`"), "{}", output.stderr);
}
