//! A process with plain pipes, for programs that pass bytes on and speak no protocol themselves.

use std::io;
use std::process::{ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::Arc;

use crate::containment::ErrorOutput;
use crate::guard::Guard;
use crate::process::{Process, Signal};

/// A running program in a group of its own. Dropping it kills the group, and with a guard all that its
/// [guarantees](Guard#guarantees) cover.
#[derive(Debug)]
pub struct PipedProcess(Arc<Process>);

impl PipedProcess {
    /// Starts a program with pipes to its input and from its output; its error output is that of
    /// the caller. `on_exit` runs in a thread when it has ended and what was left of its group is
    /// killed.
    ///
    /// # Errors
    /// The program cannot be started.
    pub fn spawn(
        command: &mut Command,
        guard: Option<&Guard>,
        on_exit: impl FnOnce(ExitStatus) + Send + 'static,
    ) -> io::Result<(Self, ChildStdin, ChildStdout)> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let (process, streams) = Process::start_with(command, guard, ErrorOutput::Inherited)?;
        let process = Self(process);
        process.0.watch(|| (), on_exit)?;
        let (Some(stdin), Some(stdout)) = (streams.stdin, streams.stdout) else {
            return Err(io::ErrorKind::BrokenPipe.into());
        };
        Ok((process, stdin, stdout))
    }

    /// The number of the process, which is also that of its group.
    pub fn id(&self) -> u32 {
        self.0.id()
    }

    /// Asks the group to end.
    pub fn terminate(&self) {
        self.0.signal(Signal::Terminate);
    }

    /// Kills the program and its descendants.
    pub fn kill(&self) {
        self.0.signal(Signal::Kill);
    }
}

impl Drop for PipedProcess {
    fn drop(&mut self) {
        self.kill();
    }
}
