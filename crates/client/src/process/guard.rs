//! Guards: the program of a guard is started next to the engines, in one of two roles.
//!
//! ```text
//!  Linux       program ── socket … its end ──> supervisor ── SIGKILL ──> engine, all descendants
//!  other Unix  program ── pipe … its end ────> watcher ── SIGKILL ──> its own group: engine, children
//! ```
//! The system closes the socket or the pipe when the program ends, for any reason. The role is the first argument after
//! those of the command.

use std::env;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::path;
use std::process::{ChildStdout, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::watcher::Watcher;
use super::{Containment, ErrorOutput, Launched, remove_inherited};
use crate::sync::lock;

#[cfg(target_os = "linux")]
mod supervisor;

#[cfg(target_os = "linux")]
pub(crate) use supervisor::Supervisor;

/// Maximum time for the first answer of the command.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(20);
const ANSWER: u8 = b'\n';

/// What a process of a guard does. The version changes with the meaning of the arguments.
const CHECK: &str = concat!("guard-check@", env!("CARGO_PKG_VERSION"));
pub(super) const WATCH: &str = concat!("guard-watch@", env!("CARGO_PKG_VERSION"));
const SUPERVISE: &str = concat!("guard-supervise@", env!("CARGO_PKG_VERSION"));

/// Terminates the descendants of engines with them, and all engines with this program, even if it is killed. One
/// guard serves all engines of a program.
///
/// It starts a command next to the engines, in a group that survives signals to the group of the program. Programs use
/// their own executable:
///
/// ```no_run
/// use std::process::Command;
/// use readyok_client::{Engine, Guard};
///
/// if std::env::args().nth(1).as_deref() == Some("guard") {
///     Guard::serve()?;
///     return Ok(());
/// }
/// let mut command = Command::new(std::env::current_exe()?);
/// command.arg("guard");
/// let guard = Guard::start(command)?;
/// let engine = Engine::builder().guard(&guard).spawn(Command::new("stockfish"))?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Guarantees
///
/// *All* means the engine and all its descendants, including those with another session, process group or
/// environment. *Group* means the process group of the engine.
///
/// | | engine exits, is terminated, crashes; handle dropped | program exits or is killed |
/// |---|---|---|
/// | Linux, with a guard | all | all |
/// | Linux, without a guard | group | group |
/// | other Unix, with or without a guard | group | group |
/// | Windows, with or without a guard | all | all |
///
/// For the guarantee *group*, a process in the group of each engine waits for the end of the program, and then kills the
/// group: a shell (`/bin/sh`), or the command of the guard. Descendants that leave the group survive. The whole group
/// survives if the program is killed during the start of the engine, if there is no such shell, or if the waiting process
/// was killed before: then engines see the end of their input, and most of them exit.
///
/// For the guarantee *all* on Linux, the command of the guard is the parent of each engine, its supervisor, and uses two
/// more file descriptors of the program. When a call reports the exit of the engine, its descendants have exited. If the
/// system has no supervisors (Linux before 5.3, no `/proc`), the guarantees are those of other Unix systems.
///
/// Processes that a system service starts on request of an engine are not its descendants and are not terminated.
/// A program with sufficient rights can escape: it can kill its supervisor. Then the engine and its group are killed, but
/// not all descendants; none of them if the supervisor was killed before it has reported the start, or together with
/// the program.
///
/// # Commands
///
/// On Linux a guarded engine is started with the program, arguments, environment and working directory of its
/// [`Command`]. Other settings are ignored, because a command does not expose them: user and group, `arg0`, and
/// `pre_exec`. Use an executable that sets these and then executes the engine, such as `setpriv`.
#[derive(Clone, Debug)]
pub struct Guard(Arc<GuardSettings>);

#[derive(Debug)]
struct GuardSettings {
    program: OsString,
    arguments: Vec<OsString>,
    containment: Containment,
    /// Environment variables that engines do not inherit.
    hidden: Mutex<Vec<OsString>>,
}

impl Guard {
    /// Checks a command that only calls [`serve`](Self::serve), and starts it for each engine. Its program and arguments
    /// are used; a supervisor has the environment and the working directory of its engine, whose command line follows the
    /// arguments. Engines are contained by the best available method.
    ///
    /// # Errors
    /// It cannot be started, or does not call [`serve`](Self::serve).
    pub fn start(command: Command) -> io::Result<Self> {
        let possible = [Containment::Supervisor, Containment::Group];
        let best = possible.into_iter().find(|containment| containment.is_possible());
        Self::start_with(command, best.unwrap_or(Containment::Group))
    }

    /// Like [`start`](Self::start), with this method of containment.
    ///
    /// # Errors
    /// It cannot be started, does not call [`serve`](Self::serve), or the method is not available
    /// ([`Unsupported`](io::ErrorKind::Unsupported)).
    #[doc(hidden)]
    #[expect(clippy::needless_pass_by_value, reason = "as in `start`, and on Windows")]
    pub fn start_with(command: Command, containment: Containment) -> io::Result<Self> {
        if !containment.is_possible() {
            return Err(io::ErrorKind::Unsupported.into());
        }
        let program = command.get_program();
        // The working directory will be another one.
        let is_path = program.as_encoded_bytes().contains(&b'/');
        let settings = GuardSettings {
            program: if is_path { path::absolute(program)?.into() } else { program.to_owned() },
            arguments: command.get_args().map(OsStr::to_owned).collect(),
            containment,
            hidden: Mutex::default(),
        };
        let guard = Self(Arc::new(settings));
        check(guard.command(CHECK))?;
        Ok(guard)
    }

    /// The method of containment.
    #[doc(hidden)]
    pub fn containment(&self) -> Containment {
        self.0.containment
    }

    /// Hides environment variables of this program, such as passwords, from every process that is started with this guard
    /// from now on. A [`Command`] that sets such a variable itself still passes it.
    pub fn hide_variables(&self, names: impl IntoIterator<Item = impl Into<OsString>>) {
        lock(&self.0.hidden).extend(names.into_iter().map(Into::into));
    }

    /// Runs a process of a guard. Call it first in a process that does nothing else. It exits with its engine.
    ///
    /// # Errors
    /// The arguments are not those of a guard of this version, or a system call fails.
    pub fn serve() -> io::Result<()> {
        let roles = [CHECK, WATCH, SUPERVISE].map(OsStr::new);
        let mut arguments =
            env::args_os().skip_while(|argument| !roles.contains(&argument.as_os_str()));
        match arguments.next().as_deref().and_then(OsStr::to_str) {
            Some(CHECK) => io::stdout().write_all(&[ANSWER]),
            Some(WATCH) => Watcher::serve(),
            #[cfg(target_os = "linux")]
            Some(SUPERVISE) => supervisor::serve(arguments),
            _ => Err(io::ErrorKind::Unsupported.into()),
        }
    }

    /// The command for a process in this role.
    pub(super) fn command(&self, role: &str) -> Command {
        let mut command = Command::new(&self.0.program);
        if self.0.program == "/proc/self/exe"
            && let Some(name) = env::args_os().next()
        {
            // Lists of processes would show the link.
            command.arg0(name);
        }
        command.args(&self.0.arguments).arg(role).process_group(0);
        command
    }

    /// Starts a process with the containment of this guard.
    pub(crate) fn launch(
        &self,
        command: &mut Command,
        errors: Option<ErrorOutput>,
    ) -> io::Result<Launched> {
        remove_inherited(command, &lock(&self.0.hidden));
        #[cfg(target_os = "linux")]
        if self.0.containment == Containment::Supervisor {
            return supervisor::launch(command, self.command(SUPERVISE), errors);
        }
        Launched::directly(command, errors, Some(self))
    }
}

impl Containment {
    fn is_possible(self) -> bool {
        match self {
            Self::Group => true,
            #[cfg(target_os = "linux")]
            Self::Supervisor => supervisor::is_possible(),
            #[cfg(not(target_os = "linux"))]
            Self::Supervisor => false,
            Self::Job => false,
        }
    }
}

/// Checks that a command calls [`Guard::serve`].
fn check(mut command: Command) -> io::Result<()> {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn()?;
    let answer = child.stdout.take().map_or(Ok(()), receive_answer);
    // Fails only if it has exited.
    let _ = child.kill();
    child.wait()?;
    answer
}

fn receive_answer(output: ChildStdout) -> io::Result<()> {
    let timeout = Timespec { tv_sec: ANSWER_TIMEOUT.as_secs().cast_signed(), tv_nsec: 0 };
    if poll(&mut [PollFd::new(&output, PollFlags::IN)], Some(&timeout))? == 0 {
        return Err(io::Error::new(
            io::ErrorKind::TimedOut,
            "the command of the guard does not answer",
        ));
    }
    let mut answer = [0];
    match File::from(OwnedFd::from(output)).read(&mut answer)? {
        1 if answer == [ANSWER] => Ok(()),
        _ => Err(io::Error::new(io::ErrorKind::InvalidData, "the command does not run a guard")),
    }
}

/// Installs handlers that do nothing. Ignored signals would also be ignored by child processes.
pub(super) fn ignore_signals() -> io::Result<()> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP};

    for signal in [SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP] {
        signal_hook::flag::register(signal, Arc::default())?;
    }
    Ok(())
}
