//! The engine's process: a group of its own, which ends with its handle.

use std::io;
use std::process::{ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::thread;

use rustix::process::{Pid, Signal, kill_process_group};

/// A running process. Dropping it kills it and all that it started.
#[derive(Debug)]
pub(super) struct Process {
    group: Option<Pid>,
}

/// Starts a process with pipes to its input and from its output.
pub(super) fn spawn(
    command: &mut Command,
    on_exit: impl FnOnce(Option<ExitStatus>) + Send + 'static,
) -> io::Result<(Process, ChildStdin, ChildStdout)> {
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    std::os::unix::process::CommandExt::process_group(command, 0);
    let mut child = command.spawn()?;
    let group = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    let process = Process { group };
    let (Some(stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
        return Err(io::Error::other("the process has no pipes"));
    };
    thread::Builder::new().name("engine-watch".into()).spawn(move || on_exit(child.wait().ok()))?;
    Ok((process, stdin, stdout))
}

impl Process {
    /// Asks it to end.
    pub(super) fn terminate(&self) {
        self.signal(Signal::TERM);
    }

    /// Ends it.
    pub(super) fn kill(&self) {
        self.signal(Signal::KILL);
    }

    fn signal(&self, signal: Signal) {
        if let Some(group) = self.group {
            // It may have ended by itself.
            let _ = kill_process_group(group, signal);
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}
