//! Jobs of engines on Windows: descendants end with the engine and with the program, and CPUs are inherited.

use std::io::{BufRead, BufReader, Read};
use std::net::{TcpListener, TcpStream};
use std::process::{Command, Stdio};

use readyok_client::{Exit, ExitCause, Game, Limit};
use windows_sys::Win32::System::Threading::{
    GetCurrentProcess, GetCurrentThread, GetProcessAffinityMask, OpenProcess,
    PROCESS_QUERY_INFORMATION, SetThreadAffinityMask,
};

use crate::support::{LONG, misbehaving, patient, test_program, uci};

/// Number of descendants of an engine.
const COUNT: usize = 5;

/// Descendants, each with a connection that the system closes with the process.
struct Descendants {
    listener: TcpListener,
    connections: Vec<TcpStream>,
}

impl Descendants {
    fn new() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        Self { listener, connections: Vec::new() }
    }

    /// A rule of an engine that starts them.
    fn rule(&self, command: &str) -> String {
        let address = self.listener.local_addr().expect("an address");
        format!("{command}: !descendants {COUNT} {address}")
    }

    fn wait_for_start(&mut self) {
        for _ in 0..COUNT {
            let (connection, _) = self.listener.accept().expect("a descendant connects");
            self.connections.push(connection);
        }
    }

    fn check_gone(self) {
        for mut connection in self.connections {
            connection.set_read_timeout(Some(LONG)).expect("a socket");
            let mut nothing = [0];
            let error = connection.read(&mut nothing).err().map(|error| error.kind());
            assert!(
                error != Some(std::io::ErrorKind::TimedOut)
                    && error != Some(std::io::ErrorKind::WouldBlock),
                "a descendant is left"
            );
        }
    }
}

#[test]
fn descendants_end_with_an_engine_that_is_killed() {
    let mut descendants = Descendants::new();
    let (command, _) = misbehaving(&[&descendants.rule("start"), "go: !deaf"]);
    let engine = uci(patient()).spawn(command).expect("it starts");
    descendants.wait_for_start();
    let status = engine.kill().expect("it is a process that has ended");
    assert_eq!(Exit::from(status).cause, Some(ExitCause::Killed));
    descendants.check_gone();
}

#[test]
fn descendants_end_with_an_engine_that_exits() {
    let mut descendants = Descendants::new();
    let (command, _) = misbehaving(&[&descendants.rule("start")]);
    let engine = uci(patient()).spawn(command).expect("it starts");
    descendants.wait_for_start();
    assert!(engine.quit().expect("it left").expect("it is a process").success());
    descendants.check_gone();
}

#[test]
fn descendants_end_with_a_dropped_engine() {
    let mut descendants = Descendants::new();
    let (command, _) = misbehaving(&[&descendants.rule("start"), "quit: !deaf"]);
    let engine = uci(patient()).spawn(command).expect("it starts");
    descendants.wait_for_start();
    drop(engine);
    descendants.check_gone();
}

#[test]
fn descendants_end_with_an_engine_that_crashes() {
    let mut descendants = Descendants::new();
    let (command, _) = misbehaving(&[&descendants.rule("start"), "go: !signal SEGV"]);
    let mut engine = uci(patient()).spawn(command).expect("it starts");
    descendants.wait_for_start();
    let error = engine.play(&Game::startpos(), Limit::Depth(3)).expect_err("it crashed");
    assert!(error.to_string().contains("0xC0000005 (STATUS_ACCESS_VIOLATION"), "{error}");
    descendants.check_gone();
}

#[test]
fn descendants_end_with_a_program_that_is_killed() {
    let mut descendants = Descendants::new();
    let (engine, _) = misbehaving(&[&descendants.rule("start"), "go: !deaf"]);
    let mut command = Command::new(test_program("guarded"));
    command.arg("best").arg(engine.get_program()).args(engine.get_args());
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut program = command.spawn().expect("the program starts");
    let mut output = BufReader::new(program.stdout.take().expect("it is piped"));
    let mut line = String::new();
    output.read_line(&mut line).expect("a line");
    assert_eq!(line.trim_end(), "searching");
    descendants.wait_for_start();
    program.kill().expect("it runs");
    program.wait().expect("it has ended");
    descendants.check_gone();
}

#[expect(unsafe_code, reason = "the standard library has no affinity")]
#[test]
fn an_engine_gets_the_cpus_of_the_thread_that_starts_it() {
    let masks_of = |process| {
        let (mut mask, mut system) = (0, 0);
        // SAFETY: the handle is open, and the pointers are those of local variables of the right types.
        let known = unsafe { GetProcessAffinityMask(process, &raw mut mask, &raw mut system) };
        assert_ne!(known, 0, "{}", std::io::Error::last_os_error());
        mask
    };
    // SAFETY: the pseudo handle is always valid.
    let own = masks_of(unsafe { GetCurrentProcess() });
    let last = 1 << own.ilog2();
    // SAFETY: the pseudo handle is always valid.
    let all = unsafe { SetThreadAffinityMask(GetCurrentThread(), last) };
    assert_ne!(all, 0);
    let (command, _) = misbehaving(&[]);
    let engine = uci(patient()).spawn(command).expect("it starts");
    // SAFETY: any process may be asked for.
    let process =
        unsafe { OpenProcess(PROCESS_QUERY_INFORMATION, 0, engine.process_id().expect("an ID")) };
    assert!(!process.is_null());
    assert_eq!(masks_of(process), last);
    engine.quit().expect("it left");
}
