//! Descendants that leave the session, the process group and the environment of their engine are terminated with
//! it.

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::channel;

use readyok_client::unstable::{Containment, ErrorOutput, PipedProcess};
use readyok_client::{Engine, EngineError, Exit, ExitCause, Game, Guard, Limit, Problem};
use rustix::process::{Pid, Signal, kill_process};

use crate::support::{
    LONG, check_gone, check_reaped, check_soon, misbehaving, patient, test_program, uci,
};

const COUNT: usize = 50;

/// An engine with descendants that are identified only by their arguments.
struct Tree {
    tag: String,
    command: Command,
    /// In the environment of the engine, but not of its descendants.
    mark: String,
}

impl Tree {
    /// A shell starts the descendants and becomes the engine. All of them are orphans, half of them twice.
    fn new(rules: &[&str]) -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let tag = format!("3600.{}{number:03}", std::process::id());
        let (engine, mark) = misbehaving(rules);
        let sleep = format!("env -i /usr/bin/setsid /bin/sleep {tag} <&- >&- 2>&-");
        let script = format!(
            "i=0; while [ $i -lt {} ]; do ({sleep} &); (setsid sh -c '({sleep} &)'); i=$((i+1)); \
             done; exec \"$0\" \"$@\"",
            COUNT / 2
        );
        let mut command = Command::new("sh");
        command.args(["-c", &script]).arg(engine.get_program()).args(engine.get_args());
        command.envs(engine.get_envs().filter_map(|(name, value)| Some((name, value?))));
        Self { tag, command, mark }
    }

    /// Number of running descendants.
    fn count(&self) -> usize {
        let all = fs::read_dir("/proc").expect("it is mounted").flatten();
        // Exited processes have no arguments.
        let arguments =
            all.map(|process| fs::read(process.path().join("cmdline")).unwrap_or_default());
        let expected = format!("/bin/sleep\0{}\0", self.tag).into_bytes();
        arguments.filter(|line| *line == expected).count()
    }

    fn check_started(&self) {
        check_soon("descendants are missing", || self.count() == COUNT);
    }

    fn check_gone(&self) {
        check_soon("descendants are left", || self.count() == 0);
        check_gone(&self.mark);
    }
}

fn supervised() -> Guard {
    let mut command = Command::new(test_program("guarded"));
    command.arg("guard");
    Guard::start_with(command, Containment::Supervisor).expect("a guard")
}

/// Starts an engine with descendants, runs a test, and checks that nothing is left.
fn check(rules: &[&str], test: impl Fn(Engine)) {
    let guard = supervised();
    let builder = uci(patient());
    let mut tree = Tree::new(rules);
    let command = std::mem::replace(&mut tree.command, Command::new(""));
    let engine = builder.guard(&guard).spawn(command).expect("it starts well");
    tree.check_started();
    let id = engine.process_id().expect("it is a process");
    let arguments = fs::read(format!("/proc/{id}/cmdline")).expect("it runs");
    assert!(arguments.starts_with(test_program("misbehave").as_os_str().as_encoded_bytes()));
    test(engine);
    tree.check_gone();
    check_reaped(id);
}

fn play(engine: &mut Engine) -> Result<readyok_client::SearchResult, EngineError> {
    engine.play(&Game::startpos(), Limit::Depth(1))
}

#[test]
fn no_descendant_is_left_of_an_engine_that_quits() {
    check(&["quit: !exit 7"], |engine| {
        let status = engine.quit().expect("it exits").expect("it is a process");
        assert_eq!(status.code(), Some(7));
    });
}

#[test]
fn no_descendant_is_left_of_an_engine_that_is_killed() {
    check(&["quit: !deaf"], |engine| {
        let status = engine.kill().expect("it is a process");
        assert_eq!(Exit::from(status).cause, Some(ExitCause::Killed));
    });
}

#[test]
fn no_descendant_is_left_after_the_handle_is_dropped() {
    check(&[], drop);
    check(&["quit: !deaf"], drop);
}

#[test]
fn no_descendant_is_left_of_an_engine_that_exits_or_crashes() {
    for (rule, cause) in [
        ("go: !abort", Some(ExitCause::Aborted)),
        ("go: !exit 3", None),
        ("go: !signal SEGV", Some(ExitCause::SegmentationFault)),
        ("go: !signal KILL", Some(ExitCause::Killed)),
        ("go: !signal TERM", Some(ExitCause::Terminated)),
    ] {
        check(&[rule], |mut engine| {
            let error = play(&mut engine).expect_err("it has ended");
            assert_eq!(*error.problem(), Problem::Disconnected, "{rule}");
            let exit = error.exit().map(Exit::from).expect("an exit status");
            assert_eq!(exit.cause, cause, "{rule}");
        });
    }
}

#[test]
fn no_descendant_is_left_if_the_supervisor_is_stopped() {
    let guard = supervised();
    let mut tree = Tree::new(&["quit: !deaf"]);
    let command = std::mem::replace(&mut tree.command, Command::new(""));
    let engine = uci(patient()).guard(&guard).spawn(command).expect("it starts well");
    tree.check_started();
    kill_process(parent(&engine), Signal::STOP).expect("it runs");
    drop(engine);
    tree.check_gone();
}

fn parent(engine: &Engine) -> Pid {
    let status = format!("/proc/{}/status", engine.process_id().expect("it is a process"));
    let status = fs::read_to_string(status).expect("it runs");
    let parent = status.lines().find_map(|line| line.strip_prefix("PPid:")).expect("a parent");
    parent.trim().parse().ok().and_then(Pid::from_raw).expect("a number")
}

#[test]
fn no_descendant_is_left_of_a_process_with_plain_pipes() {
    let guard = supervised();
    for ending in [PipedProcess::kill, PipedProcess::terminate, |_: &PipedProcess| ()] {
        let mut tree = Tree::new(&[]);
        let (sender, exit) = channel();
        let on_exit = move |status| {
            let _ = sender.send(status);
        };
        let started =
            PipedProcess::spawn(&mut tree.command, Some(&guard), ErrorOutput::Discarded, on_exit);
        let (process, input, output) = started.expect("it starts");
        tree.check_started();
        ending(&process);
        drop((process, input, output));
        exit.recv_timeout(LONG).expect("it has ended");
        tree.check_gone();
    }
}

#[test]
fn no_descendant_is_left_of_a_program_that_is_killed_or_leaks_its_engines() {
    for is_killed in [true, false] {
        let tree = Tree::new(&["go: !deaf"]);
        let mut command = Command::new(test_program("guarded"));
        command.arg("supervisor").arg(tree.command.get_program()).args(tree.command.get_args());
        command.envs(tree.command.get_envs().filter_map(|(name, value)| Some((name, value?))));
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut program = command.spawn().expect("the program starts");
        let output = BufReader::new(program.stdout.take().expect("it is piped"));
        assert_eq!(output.lines().next().expect("a line").expect("UTF-8"), "searching");
        tree.check_started();
        if is_killed {
            kill_process(Pid::from_child(&program), Signal::KILL).expect("it runs");
        } else {
            drop(program.stdin.take());
        }
        program.wait().expect("it has ended");
        tree.check_gone();
    }
}

#[test]
fn the_error_output_of_a_contained_process_can_be_a_pipe() {
    let guard = supervised();
    let (errors, theirs) = std::io::pipe().expect("a pipe");
    let mut command = Command::new("sh");
    command.args(["-c", "echo text >&2"]);
    let output = ErrorOutput::Pipe(theirs);
    let started = PipedProcess::spawn(&mut command, Some(&guard), output, |_| ());
    let process = started.expect("it starts");
    // Ends, because no other process has the pipe.
    assert_eq!(std::io::read_to_string(errors).expect("UTF-8"), "text\n");
    drop(process);
}

/// Not all descendants are contained then, but the failure is reported, and the engine and its group are killed.
#[test]
fn an_engine_does_not_outlive_a_supervisor_that_is_killed() {
    let guard = supervised();
    let (engine, mark) = misbehaving(&["go: !deaf"]);
    let mut shell = Command::new("sh");
    shell.args(["-c", "sleep 3600 <&- >&- 2>&- & exec \"$0\" \"$@\""]);
    shell.arg(engine.get_program()).args(engine.get_args());
    shell.envs(engine.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let mut engine = uci(patient()).guard(&guard).spawn(shell).expect("it starts well");
    kill_process(parent(&engine), Signal::KILL).expect("it runs");
    let error = play(&mut engine).expect_err("it is killed");
    assert_eq!(error.exit().and_then(|status| Exit::from(status).cause), Some(ExitCause::Killed));
    check_gone(&mark);
}

#[test]
fn a_contained_engine_is_started_with_the_settings_of_its_command() {
    let guard = supervised();
    let start = |command: &mut Command| {
        let (sender, exit) = channel();
        let on_exit = move |status| {
            let _ = sender.send(status);
        };
        let started = PipedProcess::spawn(command, Some(&guard), ErrorOutput::Discarded, on_exit);
        started.map(|(process, input, output)| (process, input, output, exit))
    };
    let text = |command: &mut Command| {
        let (_process, input, output, exit) = start(command).expect("it starts");
        drop(input);
        let text = std::io::read_to_string(output).expect("UTF-8");
        assert!(exit.recv_timeout(LONG).expect("it has ended").success());
        text
    };
    let mut command = Command::new("sh");
    command.args(["-c", "pwd; echo \"$1|$2|$NAME|$HOME|$READYOK_UNSET\"", "", "a  b", ""]);
    command.current_dir("/usr").env("NAME", "x=\ny").env_remove("HOME");
    assert_eq!(text(&mut command), "/usr\na  b||x=\ny||\n");

    let mut command = Command::new("/usr/bin/env");
    let output = text(command.env_clear().env("NAME", "value"));
    assert_eq!(output, "NAME=value\n");

    let error =
        start(&mut Command::new("/no/such/program")).expect_err("the executable is missing");
    assert_eq!(error.kind(), std::io::ErrorKind::NotFound);
    let error = start(&mut Command::new("/usr")).expect_err("it is a directory");
    assert_eq!(error.kind(), std::io::ErrorKind::PermissionDenied);
    let error = start(&mut Command::new("a\0b")).expect_err("it is no name");
    assert_eq!(error.kind(), std::io::ErrorKind::InvalidInput);
}

/// Each descendant starts the next one and exits, so that no list of them is up to date.
#[test]
fn a_chain_of_descendants_is_terminated() {
    let guard = supervised();
    let (command, mark) = misbehaving(&["quit: !exit 0"]);
    let mut shell = Command::new("sh");
    let next = "setsid sh -c \"$NEXT\" <&- >&- 2>&- &";
    shell.args(["-c", &format!("{next} exec \"$0\" \"$@\"")]).env("NEXT", next);
    shell.arg(command.get_program()).args(command.get_args());
    shell.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let engine = uci(patient()).guard(&guard).spawn(shell).expect("it starts well");
    assert!(engine.quit().expect("it exits").is_some_and(|status| status.success()));
    check_gone(&mark);
}
