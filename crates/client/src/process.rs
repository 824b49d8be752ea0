//! A child process and all that it starts: one group, which ends as a whole and leaves no zombie.
//!
//! A thread of its own waits for the process and reaps it, whatever becomes of the handle.

use std::io;
use std::process::{Child, Command, ExitStatus};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Instant;

use crate::sync::{lock, wait_until};
use crate::threads;

/// A running process. Dropping it kills the group.
#[derive(Debug)]
pub(crate) struct Process {
    id: u32,
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    state: Mutex<State>,
    ended: Condvar,
}

#[derive(Debug)]
struct State {
    child: Child,
    /// Its number may mean another process from now on.
    reaped: bool,
    status: Option<ExitStatus>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Signal {
    Terminate,
    Kill,
}

impl Process {
    /// Puts the child of a command into a group of its own.
    pub(crate) fn in_own_group(command: &mut Command) -> &mut Command {
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(command, 0);
        command
    }

    /// Watches over a child. `on_exit` runs when it has ended and before its status is known to
    /// others; `after` gets it when it is.
    pub(crate) fn watch(
        child: Child,
        on_exit: impl FnOnce() + Send + 'static,
        after: impl FnOnce(ExitStatus) + Send + 'static,
    ) -> io::Result<Self> {
        let id = child.id();
        let state = Mutex::new(State { child, reaped: false, status: None });
        let process = Self { id, shared: Arc::new(Shared { state, ended: Condvar::new() }) };
        let shared = Arc::clone(&process.shared);
        let watcher = threads::spawn("engine-watch", move || {
            sys::wait_for_exit(&shared, id);
            let status = shared.reap(id);
            on_exit();
            lock(&shared.state).status = Some(status);
            shared.ended.notify_all();
            after(status);
        });
        if let Err(error) = watcher {
            process.signal(Signal::Kill);
            process.shared.reap(id);
            return Err(error);
        }
        Ok(process)
    }

    /// The number of the process, which is also that of its group.
    pub(crate) fn id(&self) -> u32 {
        self.id
    }

    /// How the process ended, if it has.
    pub(crate) fn status(&self) -> Option<ExitStatus> {
        lock(&self.shared.state).status
    }

    /// Waits for the end. Tells whether it came.
    pub(crate) fn wait(&self, until: Instant) -> bool {
        let state = lock(&self.shared.state);
        wait_until(&self.shared.ended, state, Some(until), |state| state.status.is_some())
            .status
            .is_some()
    }

    /// Sends a signal to the group, if the process has not ended.
    pub(crate) fn signal(&self, signal: Signal) {
        let mut state = lock(&self.shared.state);
        if !state.reaped {
            sys::signal(&mut state.child, self.id, signal);
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.signal(Signal::Kill);
    }
}

impl Shared {
    /// Kills what is left of the group while its number cannot have a new owner, then reaps.
    fn reap(&self, id: u32) -> ExitStatus {
        let mut state = lock(&self.state);
        sys::signal(&mut state.child, id, Signal::Kill);
        state.reaped = true;
        // It has ended: this does not wait. It fails only if the caller's program reaps children
        // that are not its own.
        state.child.wait().unwrap_or_default()
    }
}

#[cfg(unix)]
mod sys {
    use std::process::Child;

    use rustix::io::Errno;
    use rustix::process::{self, Pid, WaitId, WaitIdOptions};

    use super::{Shared, Signal};

    fn pid(id: u32) -> Option<Pid> {
        i32::try_from(id).ok().and_then(Pid::from_raw)
    }

    /// Waits without reaping, so that the number keeps its meaning.
    pub(super) fn wait_for_exit(_: &Shared, id: u32) {
        let Some(pid) = pid(id) else { return };
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

    use super::{Shared, Signal};
    use crate::sync::{lock, wait_until};
    use crate::time::now;

    pub(super) fn wait_for_exit(shared: &Shared, _: u32) {
        let mut state = lock(&shared.state);
        while let Ok(None) = state.child.try_wait() {
            let pause = Some(now() + Duration::from_millis(20));
            state = wait_until(&shared.ended, state, pause, |_| false);
        }
    }

    pub(super) fn signal(child: &mut Child, _: u32, _: Signal) {
        // It fails only if it has ended.
        let _ = child.kill();
    }
}
