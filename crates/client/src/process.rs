//! An engine process and its descendants: terminated together, without zombies.
//!
//! Each mechanism is needed for a row of the [guarantees](Guard#guarantees):
//!
//! | mechanism | rows |
//! |---|---|
//! | process group | Unix without a guard, other Unix with a guard: the engine exits, or its handle is dropped |
//! | watcher in the group (`watcher.rs`) | the same systems: the program exits or is killed |
//! | supervisor (`guard/supervisor.rs`) | Linux with a guard: both columns |
//! | job object (`windows.rs`) | Windows: both columns |

use std::ffi::OsString;
use std::io::{self, PipeWriter};
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex};

use crate::sync::{lock, spawn};

#[cfg(unix)]
pub(crate) mod guard;
#[cfg(unix)]
mod watcher;
#[cfg(windows)]
mod windows;

use guard::Guard;
#[cfg(unix)]
use watcher::Watcher;
#[cfg(windows)]
use windows as sys;
#[cfg(windows)]
pub(crate) use windows::guard;

/// A process. An I/O thread, or a separate thread, must wait for its exit.
#[derive(Debug)]
pub(crate) struct Process {
    id: u32,
    state: Mutex<ProcessState>,
}

#[derive(Debug)]
struct ProcessState {
    /// The engine, or its supervisor.
    child: Child,
    scope: Scope,
    /// From here on the process ID may be reused.
    reaped: Option<ExitStatus>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Signal {
    Terminate,
    Kill,
}

/// The piped streams of a process.
#[derive(Debug)]
pub(crate) struct Streams {
    pub(crate) stdin: Option<ChildStdin>,
    pub(crate) stdout: Option<ChildStdout>,
    pub(crate) stderr: Option<ChildStderr>,
}

#[derive(Debug)]
pub(crate) struct Launched {
    /// The child of this program: the engine, or its supervisor.
    pub(crate) child: Child,
    /// The process ID of the engine, which is also that of its group.
    pub(crate) id: u32,
    pub(crate) scope: Scope,
    pub(crate) streams: Streams,
}

/// The recipient of a signal for an engine and its descendants.
#[derive(Debug)]
pub(crate) enum Scope {
    /// The process group, with its watcher if that could be started.
    #[cfg(unix)]
    Group(Option<Watcher>),
    #[cfg(windows)]
    Job(windows::Job),
    #[cfg(target_os = "linux")]
    Supervisor(guard::Supervisor),
}

/// The destination of the error output of a [`PipedProcess`].
#[derive(Debug)]
#[non_exhaustive]
pub enum ErrorOutput {
    /// The error output of this program.
    Inherited,
    /// The text is lost.
    Discarded,
    /// A pipe.
    Pipe(PipeWriter),
}

impl ErrorOutput {
    /// The default is a new pipe.
    fn stdio(this: Option<Self>) -> Stdio {
        match this {
            None => Stdio::piped(),
            Some(Self::Inherited) => Stdio::inherit(),
            Some(Self::Discarded) => Stdio::null(),
            Some(Self::Pipe(writer)) => writer.into(),
        }
    }
}

impl Launched {
    /// Starts a command as a child of this program, in a group or a job of its own. Without `errors` its error output is a
    /// new pipe.
    pub(crate) fn directly(
        command: &mut Command,
        errors: Option<ErrorOutput>,
        guard: Option<&Guard>,
    ) -> io::Result<Self> {
        #[cfg(windows)]
        let has_console = matches!(errors, Some(ErrorOutput::Inherited));
        command.stderr(ErrorOutput::stdio(errors));
        #[cfg(unix)]
        let (scope, mut child) = {
            std::os::unix::process::CommandExt::process_group(command, 0);
            let child = command.spawn()?;
            (Scope::Group(Watcher::start(child.id(), guard)), child)
        };
        #[cfg(windows)]
        let (scope, mut child) = {
            let _ = guard;
            let (job, child) = windows::Job::start(command, has_console)?;
            (Scope::Job(job), child)
        };
        // A command that is kept would keep the pipe open.
        command.stderr(Stdio::null());
        let streams = Streams {
            stdin: child.stdin.take(),
            stdout: child.stdout.take(),
            stderr: child.stderr.take(),
        };
        Ok(Self { id: child.id(), child, scope, streams })
    }
}

/// Removes environment variables that a command would inherit.
fn remove_inherited(command: &mut Command, names: &[OsString]) {
    for name in names {
        if !command.get_envs().any(|(set, value)| set == name && value.is_some()) {
            command.env_remove(name);
        }
    }
}

impl Process {
    /// Starts a process in its own group. With a guard its streams are piped, and its descendants are contained.
    pub(crate) fn start(
        command: &mut Command,
        guard: Option<&Guard>,
    ) -> io::Result<(Arc<Self>, Streams)> {
        Self::start_with(command, guard, None)
    }

    /// Like [`start`](Self::start), by default with a pipe as error output.
    pub(crate) fn start_with(
        command: &mut Command,
        guard: Option<&Guard>,
        errors: Option<ErrorOutput>,
    ) -> io::Result<(Arc<Self>, Streams)> {
        let launched = match guard {
            Some(guard) => guard.launch(command, errors),
            None => Launched::directly(command, errors, None),
        };
        let Launched { child, id, scope, streams } = launched?;
        let state = Mutex::new(ProcessState { child, scope, reaped: None });
        Ok((Arc::new(Self { id, state }), streams))
    }

    /// Starts a thread that waits for the exit and reaps the process, even if the handle leaks. `on_exit` runs after the
    /// exit, then `after` with the status.
    pub(crate) fn watch(
        self: &Arc<Self>,
        on_exit: impl FnOnce() + Send + 'static,
        after: impl FnOnce(ExitStatus) + Send + 'static,
    ) -> io::Result<()> {
        let process = Arc::clone(self);
        let watcher = spawn("engine-watch", move || {
            sys::wait_for_exit(&process);
            let status = process.reap();
            on_exit();
            after(status);
        });
        if watcher.is_err() {
            self.kill_and_reap();
        }
        watcher
    }

    /// The process ID, which is also that of its group.
    pub(crate) fn id(&self) -> u32 {
        self.id
    }

    /// Sends a signal: SIGTERM to its group, SIGKILL to all contained processes. Returns whether the process was running.
    pub(crate) fn signal(&self, signal: Signal) -> bool {
        let mut state = lock(&self.state);
        if state.reaped.is_some() {
            return false;
        }
        let was_running = !sys::has_exited(&mut state);
        sys::signal(self, &mut state, signal);
        was_running
    }

    /// Reaps an exited process. Its remaining descendants are killed before, while the ID of its group cannot be
    /// reused.
    pub(crate) fn reap(&self) -> ExitStatus {
        let state = &mut *lock(&self.state);
        if let Some(status) = state.reaped {
            return status;
        }
        sys::signal(self, state, Signal::Kill);
        // The process has exited, so this does not block. It fails only if the program reaps children of others.
        let status = state.child.wait().unwrap_or_default();
        let status = match &mut state.scope {
            #[cfg(unix)]
            Scope::Group(watcher) => {
                watcher.take().into_iter().for_each(Watcher::kill_and_reap);
                status
            }
            // Dropping the job with the process closes it.
            #[cfg(windows)]
            Scope::Job(_) => status,
            #[cfg(target_os = "linux")]
            Scope::Supervisor(supervisor) => supervisor.finish(status),
        };
        state.reaped = Some(status);
        status
    }

    pub(crate) fn kill_and_reap(&self) {
        self.signal(Signal::Kill);
        self.reap();
    }
}

/// A running process in its own group, or its own job on Windows. Dropping it kills the group or the job, and with a
/// guard everything that its [guarantees](Guard#guarantees) cover.
#[derive(Debug)]
pub struct PipedProcess(Arc<Process>);

impl PipedProcess {
    /// Starts an executable with pipes for its input and output. `on_exit` runs in a thread after the process has exited
    /// and the rest of its group was killed.
    ///
    /// # Errors
    /// The executable cannot be started.
    pub fn spawn(
        command: &mut Command,
        guard: Option<&Guard>,
        errors: ErrorOutput,
        on_exit: impl FnOnce(ExitStatus) + Send + 'static,
    ) -> io::Result<(Self, ChildStdin, ChildStdout)> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let (process, streams) = Process::start_with(command, guard, Some(errors))?;
        let process = Self(process);
        process.0.watch(|| (), on_exit)?;
        let (Some(stdin), Some(stdout)) = (streams.stdin, streams.stdout) else {
            return Err(io::ErrorKind::BrokenPipe.into());
        };
        Ok((process, stdin, stdout))
    }

    /// The process ID, which is also that of its group.
    pub fn id(&self) -> u32 {
        self.0.id()
    }

    /// Sends SIGTERM to the group. Windows has no such signal; the process and its descendants are killed.
    pub fn terminate(&self) {
        self.0.signal(Signal::Terminate);
    }

    /// Kills the process and its descendants.
    pub fn kill(&self) {
        self.0.signal(Signal::Kill);
    }
}

impl Drop for PipedProcess {
    fn drop(&mut self) {
        self.kill();
    }
}

/// How the descendants of an engine are terminated together with it. [`Guard`] documents which one is
/// used.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Containment {
    /// A job object for each engine, which all descendants belong to (Windows).
    Job,
    /// The process group. Descendants that leave the group survive.
    Group,
    /// A supervisor process for each engine adopts all descendants that lose their parent, and
    /// terminates them (Linux 5.3 and later).
    Supervisor,
}

#[cfg(unix)]
mod sys {
    use std::os::fd::OwnedFd;
    use std::process::Child;

    use rustix::io::Errno;
    use rustix::process::{self as system, Pid, WaitId, WaitIdOptions};

    use super::{Process, ProcessState, Scope, Signal};
    use crate::sync::lock;

    fn pid(id: u32) -> Option<Pid> {
        i32::try_from(id).ok().and_then(Pid::from_raw)
    }

    impl Process {
        fn child(&self) -> Option<Pid> {
            pid(lock(&self.state).child.id())
        }

        /// A file descriptor that is readable after the exit, if the system supports it.
        #[cfg(target_os = "linux")]
        pub(crate) fn exit_fd(&self) -> Option<OwnedFd> {
            system::pidfd_open(self.child()?, system::PidfdFlags::empty()).ok()
        }

        /// A file descriptor that is readable after the exit, if the system supports it.
        #[cfg(not(target_os = "linux"))]
        pub(crate) fn exit_fd(&self) -> Option<OwnedFd> {
            None
        }

        /// Whether it has exited. The process ID is valid until it is reaped.
        pub(crate) fn has_exited(&self) -> bool {
            child_has_exited(&lock(&self.state).child)
        }
    }

    /// Whether the engine has exited, which was not reaped.
    pub(super) fn has_exited(state: &mut ProcessState) -> bool {
        match &state.scope {
            #[cfg(target_os = "linux")]
            Scope::Supervisor(supervisor) => supervisor.has_engine_exited(),
            Scope::Group(_) => child_has_exited(&state.child),
        }
    }

    fn child_has_exited(child: &Child) -> bool {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
        let id = WaitId::Pid(Pid::from_child(child));
        !matches!(system::waitid(id, options), Ok(None) | Err(Errno::INTR))
    }

    /// Waits without reaping, so that the process ID stays valid.
    pub(super) fn wait_for_exit(process: &Process) {
        let Some(pid) = process.child() else { return };
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        while let Err(Errno::INTR) = system::waitid(WaitId::Pid(pid), options) {}
    }

    /// Signals a process that was not reaped.
    pub(super) fn signal(process: &Process, state: &mut ProcessState, signal: Signal) {
        match (&state.scope, signal) {
            (Scope::Group(_), _) => signal_group(process.id, signal),
            #[cfg(target_os = "linux")]
            (Scope::Supervisor(supervisor), Signal::Terminate) => supervisor.terminate(),
            #[cfg(target_os = "linux")]
            (Scope::Supervisor(supervisor), Signal::Kill) => {
                supervisor.kill();
                // The engine may have suspended it.
                let _ = system::kill_process(Pid::from_child(&state.child), system::Signal::CONT);
            }
        }
    }

    fn signal_group(id: u32, signal: Signal) {
        let signal = match signal {
            Signal::Terminate => system::Signal::TERM,
            Signal::Kill => system::Signal::KILL,
        };
        if let Some(pid) = pid(id) {
            // Fails only if the group has ended.
            let _ = system::kill_process_group(pid, signal);
        }
    }
}
