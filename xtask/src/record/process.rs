//! An engine process with line-based input and output.

use std::ffi::OsString;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

/// Maximum line length in bytes; a longer line is split.
const MAX_LINE_LEN: u64 = 1 << 20;

/// A running engine; dropping it kills and reaps it.
#[derive(Debug)]
pub(super) struct Process {
    child: Child,
    stdin: ChildStdin,
    lines: Receiver<Vec<u8>>,
}

/// The result of waiting for a line.
#[derive(Debug)]
pub(super) enum Answer {
    /// A line without its line feed.
    Line(Vec<u8>),
    Timeout,
    /// The engine closed its output.
    Closed,
}

impl Process {
    pub(super) fn start(command: &[&str], directory: &Path) -> io::Result<Self> {
        let (program, arguments) = command
            .split_first()
            .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "empty command"))?;
        let mut child = Command::new(program)
            .args(arguments)
            .current_dir(directory)
            .env("PATH", path_with_games())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|error| io::Error::new(error.kind(), format!("`{program}`: {error}")))?;
        let (Some(stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(io::Error::other("missing pipe"));
        };
        let (sender, lines) = sync_channel(1024);
        thread::spawn(move || send_lines(stdout, &sender));
        Ok(Self { child, stdin, lines })
    }

    pub(super) fn send(&mut self, line: &str) -> io::Result<()> {
        self.stdin.write_all(format!("{line}\n").as_bytes())
    }

    pub(super) fn line_within(&mut self, time: Duration) -> Answer {
        match self.lines.recv_timeout(time) {
            Ok(line) => Answer::Line(line),
            Err(RecvTimeoutError::Timeout) => Answer::Timeout,
            Err(RecvTimeoutError::Disconnected) => Answer::Closed,
        }
    }

    /// Waits until the engine exits, or kills it after the timeout. Returns a note about its end.
    pub(super) fn end(mut self, time: Duration) -> io::Result<String> {
        let deadline = now() + time;
        while now() < deadline {
            if let Some(status) = self.child.try_wait()? {
                return Ok(format!("end: {status}"));
            }
            // The standard library cannot wait for a process with a timeout.
            thread::sleep(Duration::from_millis(10));
        }
        Ok("end: killed after quit".to_owned())
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // Both fail only after the process has been reaped.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub(super) fn now() -> Instant {
    #[expect(clippy::disallowed_methods, reason = "the recorder runs processes in real time")]
    Instant::now()
}

/// `PATH` with the directory of Debian's engines.
fn path_with_games() -> OsString {
    let mut path = std::env::var_os("PATH").unwrap_or_default();
    path.push(":/usr/games");
    path
}

/// Sends lines until the output ends or the receiver is dropped.
fn send_lines(stdout: ChildStdout, sender: &SyncSender<Vec<u8>>) {
    let mut reader = BufReader::new(stdout);
    loop {
        let mut line = Vec::new();
        match reader.by_ref().take(MAX_LINE_LEN).read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => return,
            Ok(_) => {}
        }
        line.pop_if(|byte| *byte == b'\n');
        if sender.send(line).is_err() {
            return;
        }
    }
}
