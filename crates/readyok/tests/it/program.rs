//! Runs the program under test.

use std::env;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use tempfile::TempDir;

/// Longer than anything here takes; a test that waits so long has failed.
pub(crate) const PATIENCE: Duration = Duration::from_mins(1);

/// A folder that goes away with its handle.
pub(crate) struct Dir(TempDir);

impl Dir {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().expect("a folder for the test"))
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    pub(crate) fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path().join(name);
        fs::write(&path, text).expect("a file for the test");
        path
    }

    /// A program. It is another process that writes it: what another test starts just then would have it open for
    /// writing as well, and nobody could run it until then.
    pub(crate) fn write_program(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path().join(name);
        let mut shell = Command::new("sh");
        shell.args(["-c", "cat > \"$0\" && chmod 700 \"$0\""]).arg(&path);
        shell.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let written = run(&mut shell, text.as_bytes());
        assert_eq!(written.code(), Some(0), "{}", written.stderr);
        path
    }
}

/// What a run of the program left behind.
pub(crate) struct Output {
    pub(crate) status: ExitStatus,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: String,
}

impl Output {
    pub(crate) fn text(&self) -> &str {
        str::from_utf8(&self.stdout).expect("UTF-8")
    }

    pub(crate) fn code(&self) -> Option<i32> {
        self.status.code()
    }
}

/// The program, with no settings but those in `dir`.
pub(crate) fn readyok(dir: &Dir) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_readyok"));
    command
        .env("READYOK_CONFIG_DIR", dir.path())
        .env("XDG_STATE_HOME", dir.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

/// Runs it with this input to its end.
pub(crate) fn run(command: &mut Command, input: &[u8]) -> Output {
    let mut child = command.spawn().expect("the program starts");
    let stdin = child.stdin.take().expect("a pipe");
    let input = input.to_vec();
    thread::spawn(move || feed(stdin, &input));
    finish(child)
}

fn feed(mut stdin: ChildStdin, input: &[u8]) {
    // The program may end before it has read everything.
    let _ = stdin.write_all(input);
}

/// Waits for the end of the program.
pub(crate) fn finish(child: Child) -> Output {
    let (done, outcome) = mpsc::channel();
    let id = child.id();
    thread::spawn(move || done.send(child.wait_with_output()));
    let Ok(output) = outcome.recv_timeout(PATIENCE) else {
        signal(id, rustix::process::Signal::KILL);
        panic!("the program does not end");
    };
    let output = output.expect("the output of the program");
    let stderr = String::from_utf8(output.stderr).expect("UTF-8");
    Output { status: output.status, stdout: output.stdout, stderr }
}

pub(crate) fn signal(id: u32, signal: rustix::process::Signal) {
    let id = rustix::process::Pid::from_raw(id.cast_signed()).expect("a process");
    rustix::process::kill_process(id, signal).expect("the signal is sent");
}

/// The engine that plays a script.
pub(crate) fn scripted_engine() -> PathBuf {
    let test = env::current_exe().expect("the path of this test");
    let profile = test.ancestors().nth(2).expect("target/<profile>/deps/<test>");
    let engine = profile.join("examples/scripted");
    assert!(engine.exists(), "`cargo test -p readyok` builds {}", engine.display());
    engine
}

/// Waits until something is so.
pub(crate) fn wait(what: &str, so: impl Fn() -> bool) {
    for _ in 0..6000 {
        if so() {
            return;
        }
        thread::park_timeout(Duration::from_millis(10));
    }
    panic!("{what}");
}
