//! Engines of killed programs that ignore the end of their input.

use std::fs;
use std::io::{BufRead, BufReader, Lines, Write};
use std::process::{Child, ChildStdout, Command, Stdio};

use readyok_client::{Dialect, Engine, Guard};
use rustix::process::{Pid, Signal, kill_process, kill_process_group};

use crate::support::{check_gone, misbehaving, test_program};

/// A program whose engines receive neither SIGTERM nor the end of their input.
struct Program {
    child: Child,
    output: Lines<BufReader<ChildStdout>>,
    mark: String,
}

impl Program {
    fn start() -> Self {
        Self::start_by("")
    }

    /// Its engines are started by a shell that runs a script before.
    fn start_by(script: &str) -> Self {
        Self::start_in("best", script)
    }

    fn start_in(containment: &str, script: &str) -> Self {
        let (engine, mark) = misbehaving(&["go: !deaf"]);
        let mut command = Command::new(test_program("guarded"));
        let script = format!("trap '' TERM; {script} exec \"$0\" \"$@\"");
        command.args([containment, "sh", "-c", &script]);
        command.arg(engine.get_program()).args(engine.get_args());
        command.envs(engine.get_envs().filter_map(|(name, value)| Some((name, value?))));
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let mut child = command.spawn().expect("the program starts");
        let output = BufReader::new(child.stdout.take().expect("it is piped")).lines();
        let mut program = Self { child, output, mark };
        program.check_searching();
        program
    }

    fn check_searching(&mut self) {
        let line = self.output.next().expect("a line").expect("UTF-8");
        assert_eq!(line, "searching");
    }

    /// Makes the program start another engine.
    fn start_another(&mut self) {
        let input = self.child.stdin.as_mut().expect("it is piped");
        input.write_all(b"another\n").expect("it reads");
        self.check_searching();
    }

    fn pid(&self) -> Pid {
        Pid::from_child(&self.child)
    }

    /// The supervisor of its engine.
    #[cfg(target_os = "linux")]
    fn supervisor(&self) -> Option<Pid> {
        let number = |process: fs::DirEntry| {
            let arguments = fs::read(process.path().join("cmdline")).ok()?;
            let environment = fs::read(process.path().join("environ")).ok()?;
            let is_ours = environment.windows(self.mark.len()).any(|at| at == self.mark.as_bytes());
            let mut split = arguments.split(|&byte| byte == 0);
            let is_supervisor = split.nth(1) == Some(b"guard");
            let number = process.file_name().to_str()?.parse().ok()?;
            Pid::from_raw(number).filter(|_| is_ours && is_supervisor)
        };
        fs::read_dir("/proc").ok()?.flatten().find_map(number)
    }

    /// Checks that nothing of it is left.
    fn check_gone(mut self) {
        self.child.wait().expect("it has ended");
        check_gone(&self.mark);
    }
}

#[test]
fn an_engine_does_not_outlive_a_program_that_is_killed() {
    let program = Program::start();
    kill_process(program.pid(), Signal::KILL).expect("it runs");
    program.check_gone();
}

/// The guarantee of the group: on Unix without a guard and without code in `main`, and with a guard where there are no
/// supervisors.
#[test]
fn an_engine_and_its_child_do_not_outlive_a_program_without_a_supervisor() {
    for containment in ["none", "group"] {
        check_group(containment);
    }
}

fn check_group(containment: &str) {
    let start = || {
        let mut program = Program::start_in(containment, "sleep 3600 > /dev/null 2>&1 &");
        program.start_another();
        program
    };
    let program = start();
    kill_process(program.pid(), Signal::KILL).expect("it runs");
    program.check_gone();
    let program = start();
    kill_process_group(program.pid(), Signal::KILL).expect("it runs");
    program.check_gone();
    let mut program = start();
    // It exits and leaks its engines.
    drop(program.child.stdin.take());
    program.check_gone();
}

#[test]
fn an_engine_does_not_outlive_a_program_whose_group_is_killed() {
    let mut program = Program::start();
    program.start_another();
    kill_process_group(program.pid(), Signal::KILL).expect("it runs");
    program.check_gone();
}

#[cfg(target_os = "linux")]
#[test]
fn a_descendant_outside_the_group_does_not_outlive_a_killed_program() {
    let program = Program::start_in("supervisor", "setsid sleep 3600 > /dev/null 2>&1 &");
    kill_process(program.pid(), Signal::KILL).expect("it runs");
    program.check_gone();
}

#[test]
fn an_engine_does_not_outlive_a_program_that_leaks_it() {
    let mut program = Program::start();
    drop(program.child.stdin.take());
    program.check_gone();
}

/// It would leave descendants outside of the group.
#[cfg(target_os = "linux")]
#[test]
fn a_supervisor_ignores_termination_signals() {
    let program = Program::start_in("supervisor", "setsid sleep 3600 > /dev/null 2>&1 &");
    let supervisor = program.supervisor().expect("it runs");
    for signal in [Signal::INT, Signal::TERM, Signal::HUP, Signal::QUIT] {
        kill_process(supervisor, signal).expect("it runs");
    }
    kill_process(program.pid(), Signal::KILL).expect("it runs");
    program.check_gone();
}

#[test]
fn an_invalid_command_of_a_guard_is_rejected() {
    assert!(Guard::start(Command::new("/no/such/program")).is_err());
    for script in ["exit 0", "echo hello", "exec >&-; read line"] {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        assert!(Guard::start(command).is_err(), "{script}");
    }
}

/// Engines of others would read the passwords of the program.
#[test]
fn engines_do_not_inherit_hidden_variables() {
    for containment in ["group", "supervisor"] {
        let mut program = Command::new(test_program("guarded"));
        program.args([containment, "hide", "sh", "-c", "echo \"$SECRET|$SHOWN|$GIVEN\" >&2"]);
        program.env("SECRET", "password").env("GIVEN", "password").env("SHOWN", "shown");
        let output = program.output().expect("the program starts");
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(errors.lines().any(|line| line == "|shown|given"), "{containment}: {errors}");
        assert!(!errors.contains("password"), "{containment}: {errors}");
    }
}

#[test]
fn a_guarded_engine_exits_normally() {
    let mut command = Command::new(test_program("guarded"));
    command.arg("guard");
    let guard = Guard::start(command).expect("a guard");
    let (command, mark) = misbehaving(&[]);
    let builder = Engine::builder().dialect(Dialect::Uci).guard(&guard);
    let engine = builder.spawn(command).expect("it starts well");
    drop(guard);
    assert!(engine.quit().expect("it leaves").is_some_and(|status| status.success()));
    check_gone(&mark);
}
