//! Test support: runs `readyok`, and temporary directories.

use std::env;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::Duration;

use tempfile::TempDir;

use crate::nats_server::NatsServer;
use crate::port::free_port;

/// Timeout of each wait; no test step takes as long.
pub(crate) const TIMEOUT: Duration = Duration::from_mins(5);

/// A temporary directory.
pub(crate) struct Dir(TempDir);

impl Dir {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().expect("a directory"))
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    pub(crate) fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path().join(name);
        fs::write(&path, text).expect("a file");
        path
    }

    /// Writes an executable script. Another process writes it: otherwise a process that a concurrent test forks
    /// would inherit the open file, and execution would fail (ETXTBSY).
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

/// Exit status and output of a process.
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

    /// Checks the exit code and a part of the error output.
    #[track_caller]
    pub(crate) fn reports(&self, code: i32, part: &str) {
        assert_eq!(self.code(), Some(code), "{}", self.stderr);
        assert!(self.stderr.contains(part), "no `{part}`: {}", self.stderr);
    }
}

/// A command that runs `readyok` with the configuration in `dir`.
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

/// Runs a command to its end with this input.
pub(crate) fn run(command: &mut Command, input: &[u8]) -> Output {
    let mut child = command.spawn().expect("the process starts");
    let stdin = child.stdin.take().expect("a pipe");
    let input = input.to_vec();
    thread::spawn(move || feed(stdin, &input));
    finish(child)
}

fn feed(mut stdin: ChildStdin, input: &[u8]) {
    // The process may exit before it has read all input.
    let _ = stdin.write_all(input);
}

/// Waits until the process exits.
pub(crate) fn finish(child: Child) -> Output {
    let (done, outcome) = mpsc::channel();
    let id = child.id();
    thread::spawn(move || done.send(child.wait_with_output()));
    let Ok(output) = outcome.recv_timeout(TIMEOUT) else {
        signal(id, Signal::KILL);
        panic!("the process does not exit");
    };
    let output = output.expect("the output of the process");
    let stderr = String::from_utf8(output.stderr).expect("UTF-8");
    Output { status: output.status, stdout: output.stdout, stderr }
}

#[cfg(unix)]
pub(crate) use rustix::process::Signal;

#[cfg(unix)]
pub(crate) fn signal(id: u32, signal: Signal) {
    let id = rustix::process::Pid::from_raw(id.cast_signed()).expect("a process");
    rustix::process::kill_process(id, signal).expect("the signal is sent");
}

/// A signal of Unix. Only the equivalent of SIGKILL exists on Windows.
#[cfg(windows)]
#[derive(Debug, PartialEq)]
pub(crate) struct Signal(&'static str);

#[cfg(windows)]
impl Signal {
    pub(crate) const CONT: Self = Self("SIGCONT");
    pub(crate) const INT: Self = Self("SIGINT");
    pub(crate) const KILL: Self = Self("SIGKILL");
    pub(crate) const STOP: Self = Self("SIGSTOP");
    pub(crate) const TERM: Self = Self("SIGTERM");
}

#[cfg(windows)]
#[expect(clippy::needless_pass_by_value, reason = "as on Unix")]
pub(crate) fn signal(id: u32, signal: Signal) {
    assert_eq!(signal, Signal::KILL, "not available on Windows");
    let status = Command::new("taskkill").args(["/F", "/PID", &id.to_string()]).status();
    assert!(status.expect("it is a part of Windows").success());
}

/// Sets the permissions of a file, where the system has them.
pub(crate) fn set_mode(file: &Path, mode: u32) {
    #[cfg(unix)]
    fs::set_permissions(file, std::os::unix::fs::PermissionsExt::from_mode(mode))
        .expect("it is ours");
    #[cfg(windows)]
    let _ = (file, mode);
}

/// A NATS server with its data in a directory, and its address.
pub(crate) fn start_nats(program: &Path, dir: &Dir) -> (NatsServer, String) {
    let port = free_port();
    let server = NatsServer::start(program, port, &dir.path().join("nats"), &[]);
    (server, format!("nats://127.0.0.1:{port}"))
}

/// Path of the scripted engine.
pub(crate) fn scripted_engine() -> PathBuf {
    let test = env::current_exe().expect("the path of this test");
    let profile = test.ancestors().nth(2).expect("target/<profile>/deps/<test>");
    let engine = profile.join(format!("examples/scripted{}", env::consts::EXE_SUFFIX));
    assert!(engine.exists(), "`cargo test -p readyok` builds {}", engine.display());
    engine
}

/// Waits for a condition; panics with `message` after a timeout.
pub(crate) fn wait(message: &str, condition: impl Fn() -> bool) {
    for _ in 0..6000 {
        if condition() {
            return;
        }
        thread::park_timeout(Duration::from_millis(10));
    }
    panic!("{message}");
}

/// Whether a process has this text in its environment.
pub(crate) fn is_in_use(text: &str) -> bool {
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    let mut environments =
        processes.filter_map(|process| fs::read(process.path().join("environ")).ok());
    environments
        .any(|environment| environment.windows(text.len()).any(|part| part == text.as_bytes()))
}

/// A terminal that stores its output.
#[derive(Clone, Default)]
pub(crate) struct Terminal(Arc<Mutex<Vec<u8>>>);

impl Terminal {
    pub(crate) fn drain(&self) -> String {
        String::from_utf8(std::mem::take(&mut *self.0.lock().expect("one thread"))).expect("UTF-8")
    }
}

impl Write for Terminal {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().expect("one thread").write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
