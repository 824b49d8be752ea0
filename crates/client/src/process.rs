//! A child process and all that it starts: one group, which ends as a whole and leaves no zombie.

use std::io;
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, ExitStatus};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use crate::guard::Guard;
use crate::sync::{lock, wait_until};
use crate::{clock, sync};

/// A process. Somebody has to look after it: a pump, or a thread that waits for its end.
#[derive(Debug)]
pub(crate) struct Process {
    id: u32,
    guard: Option<Guard>,
    state: Mutex<State>,
    ended: Condvar,
}

#[derive(Debug)]
struct State {
    child: Child,
    /// From here on its number may mean another process.
    reaped: Option<ExitStatus>,
    published: bool,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Signal {
    Terminate,
    Kill,
}

/// Those streams of a process that its command has piped.
#[derive(Debug)]
pub(crate) struct Streams {
    pub(crate) stdin: Option<ChildStdin>,
    pub(crate) stdout: Option<ChildStdout>,
    pub(crate) stderr: Option<ChildStderr>,
}

impl Process {
    /// Starts a process in a group of its own, which is told to the guard.
    pub(crate) fn start(
        command: &mut Command,
        guard: Option<&Guard>,
    ) -> io::Result<(Arc<Self>, Streams)> {
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(command, 0);
        if let Some(guard) = guard {
            guard.mark(command);
        }
        let mut child = command.spawn()?;
        let id = child.id();
        let guarded = guard.map_or(Ok(()), |guard| guard.add(id));
        let (stdin, stdout, stderr) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let state = Mutex::new(State { child, reaped: None, published: false });
        let guard = guard.cloned();
        let process = Arc::new(Self { id, guard, state, ended: Condvar::new() });
        if let Err(error) = guarded {
            process.kill_and_reap();
            return Err(error);
        }
        Ok((process, Streams { stdin, stdout, stderr }))
    }

    /// Has a thread wait for the end and reap, whatever becomes of the handle. `on_exit` runs
    /// before the status is known to others; `after` gets it when it is.
    pub(crate) fn watch(
        self: &Arc<Self>,
        on_exit: impl FnOnce() + Send + 'static,
        after: impl FnOnce(ExitStatus) + Send + 'static,
    ) -> io::Result<()> {
        let process = Arc::clone(self);
        let watcher = sync::spawn("engine-watch", move || {
            sys::wait_for_exit(&process);
            let status = process.reap();
            on_exit();
            process.publish();
            after(status);
        });
        if watcher.is_err() {
            self.kill_and_reap();
        }
        watcher
    }

    /// The number of the process, which is also that of its group.
    pub(crate) fn id(&self) -> u32 {
        self.id
    }

    /// How long its threads have waited for processors, together, if it runs and the system tells.
    pub(crate) fn waited(&self) -> Option<Duration> {
        let state = lock(&self.state);
        if state.reaped.is_some() {
            return None;
        }
        clock::delay_of_process(self.id)
    }

    /// How the process ended, if it has and its last words are read.
    pub(crate) fn status(&self) -> Option<ExitStatus> {
        let state = lock(&self.state);
        state.reaped.filter(|_| state.published)
    }

    /// Waits for the end. Tells whether it came.
    pub(crate) fn wait(&self, until: Instant) -> bool {
        let state = lock(&self.state);
        wait_until(&self.ended, state, Some(until), |state| state.published).published
    }

    /// Sends a signal to the group, if the process has not ended.
    pub(crate) fn signal(&self, signal: Signal) {
        let mut state = lock(&self.state);
        if state.reaped.is_none() {
            sys::signal(&mut state.child, self.id, signal);
        }
    }

    /// Takes leave of a process that has exited: kills what is left of the group while its number
    /// cannot have a new owner, then reaps.
    pub(crate) fn reap(&self) -> ExitStatus {
        let mut state = lock(&self.state);
        if let Some(status) = state.reaped {
            return status;
        }
        sys::signal(&mut state.child, self.id, Signal::Kill);
        if let Some(guard) = &self.guard {
            guard.release(self.id);
        }
        // It has ended: this does not wait. It fails only if the caller's program reaps children
        // that are not its own.
        let status = state.child.wait().unwrap_or_default();
        state.reaped = Some(status);
        status
    }

    pub(crate) fn kill_and_reap(&self) {
        self.signal(Signal::Kill);
        self.reap();
    }

    /// Tells everybody that the process has ended.
    pub(crate) fn publish(&self) {
        lock(&self.state).published = true;
        self.ended.notify_all();
    }
}

#[cfg(unix)]
mod sys {
    use std::os::fd::OwnedFd;
    use std::process::Child;

    use rustix::io::Errno;
    use rustix::process::{self, Pid, WaitId, WaitIdOptions};

    use super::{Process, Signal};

    fn pid(id: u32) -> Option<Pid> {
        i32::try_from(id).ok().and_then(Pid::from_raw)
    }

    impl Process {
        /// Something that can be read when the process has exited, where the system has it.
        #[cfg(target_os = "linux")]
        pub(crate) fn exit_fd(&self) -> Option<OwnedFd> {
            process::pidfd_open(pid(self.id)?, process::PidfdFlags::empty()).ok()
        }

        /// Something that can be read when the process has exited, where the system has it.
        #[cfg(not(target_os = "linux"))]
        pub(crate) fn exit_fd(&self) -> Option<OwnedFd> {
            None
        }

        /// Whether it has exited. Its number keeps its meaning until it is reaped.
        pub(crate) fn has_exited(&self) -> bool {
            let Some(pid) = pid(self.id) else { return true };
            let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
            !matches!(process::waitid(WaitId::Pid(pid), options), Ok(None) | Err(Errno::INTR))
        }
    }

    /// Waits without reaping, so that the number keeps its meaning.
    pub(super) fn wait_for_exit(it: &Process) {
        let Some(pid) = pid(it.id) else { return };
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        while let Err(Errno::INTR) = process::waitid(WaitId::Pid(pid), options) {}
    }

    pub(super) fn signal(_: &mut Child, id: u32, signal: Signal) {
        let signal = match signal {
            Signal::Terminate => process::Signal::TERM,
            Signal::Kill => process::Signal::KILL,
        };
        if let Some(pid) = pid(id) {
            // It fails only if nobody is left.
            let _ = process::kill_process_group(pid, signal);
        }
    }
}

#[cfg(not(unix))]
mod sys {
    use std::process::Child;
    use std::time::Duration;

    use super::{Process, Signal};
    use crate::clock::now;
    use crate::sync::{lock, wait_until};

    pub(super) fn wait_for_exit(it: &Process) {
        let mut state = lock(&it.state);
        while let Ok(None) = state.child.try_wait() {
            let pause = Some(now() + Duration::from_millis(20));
            state = wait_until(&it.ended, state, pause, |_| false);
        }
    }

    pub(super) fn signal(child: &mut Child, _: u32, _: Signal) {
        // It fails only if it has ended.
        let _ = child.kill();
    }
}
