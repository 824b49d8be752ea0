//! Ensures that no engine outlives its program, even if that is killed: a separate process, the guardian,
//! knows the process groups of the engines and kills them after the program has ended.
//!
//! ```text
//!  program ── pipe: started, gone, started … its end ──> guardian ── SIGKILL ──> groups that are left
//!     └────── a socket for each engine … its end ──> supervisor ── SIGKILL ──> engine, descendants
//! ```
//! The pipe is closed when the program ends, for any reason. A message is a process group ID in four bytes,
//! little endian; negative if the group has ended.
//!
//! On Linux each engine is also contained, so that its descendants are terminated with it: in a control
//! group (`guard/containment.rs`), or below a supervisor (`guard/supervisor.rs`). The guardian knows the control
//! group of the program, and supervisors detect the end of the program themselves.
//!
//! An engine without either has a mark in its environment, which its descendants inherit. If `/proc` exists,
//! the guardian kills all processes with its mark. It does not start too early: a process that is being
//! started holds the pipe until it has the mark. Supervisors have no mark, because they must finish their
//! own work.

use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::ffi::OsString;
use std::fs::File;
use std::hash::{BuildHasher as _, RandomState};
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::ioctl_fionbio;
use rustix::process::{self, Pid, Signal};

use super::{Containment, ErrorOutput, Launched, Process};
use crate::sync::lock;

#[cfg(target_os = "linux")]
mod containment;
#[cfg(target_os = "linux")]
mod supervisor;

#[cfg(target_os = "linux")]
pub(crate) use containment::ControlGroup;
#[cfg(target_os = "linux")]
pub(crate) use supervisor::Supervisor;

/// Maximum time for the first answer of a guardian or a supervisor.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(20);
const ANSWER: u8 = b'\n';
/// The environment variable with the mark of a guarded program.
const MARK: &str = "READYOK_GUARDED";
/// The environment variable that turns the command of a guardian into a supervisor: the protocol version.
const ROLE: &str = "READYOK_SUPERVISOR";
/// The environment variable that passes the control group of the program to its guardian.
const CONTROL_GROUP: &str = "READYOK_CONTROL_GROUP";
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Terminates the descendants of engines with them, and all engines with this program, even if it is killed. One
/// guard serves all engines of a program.
///
/// It is a process in its own group, the guardian, which survives signals to the group of the program, and exits
/// after the program. Programs start their own executable for it:
///
/// ```no_run
/// use std::process::Command;
/// use readyok_client::{Engine, Guard};
///
/// if std::env::args().nth(1).as_deref() == Some("guard") {
///     Guard::serve()?;
///     return Ok(());
/// }
/// let mut guardian = Command::new(std::env::current_exe()?);
/// guardian.arg("guard");
/// let guard = Guard::start(guardian)?;
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
/// Without a guard, a shell (`/bin/sh`) in the group of each engine waits for the end of the program, and then kills the
/// group. Descendants that leave the group survive. The whole group survives if the program is killed during the start
/// of the engine, if there is no such shell, or if the shell was killed before: then engines see the end of their
/// input, and most of them exit. On systems other than Linux a guard closes these gaps, except the first.
///
/// On Linux the guard selects one of two methods:
/// - Control groups (version 2), if the program may create them below its own. The command of the
///   guardian moves into the group of the engine and executes the engine. When a call reports the exit of the
///   engine, its descendants have been sent SIGKILL.
/// - Supervisors otherwise. The command of the guardian is the parent of the running engine, and
///   uses two more file descriptors of the program. When a call reports the exit of the engine, its descendants
///   have exited.
///
/// If neither is available (Linux before 5.3, no `/proc`), the guarantees are those of other Unix systems; in
/// addition, processes with the variable `READYOK_GUARDED` are killed after the program has ended. On other Unix
/// systems, an engine of a program that is killed right after the start sees only the end of its input.
///
/// Processes that a system service starts on request of an engine are not its descendants and are not terminated.
/// A program with sufficient rights can escape: it can move itself into another control group, or kill its
/// supervisor. Then the engine and its group are killed, but not all descendants; none of them if the supervisor was
/// killed before it has reported the start.
///
/// # Commands
///
/// On Linux a guarded engine is started with the program, arguments, environment and working directory of its
/// [`Command`]. Other settings are ignored, because a command does not expose them: user and group, `arg0`, and
/// `pre_exec`. Use an executable that sets these and then executes the engine, such as `setpriv`.
#[derive(Clone, Debug)]
pub struct Guard(Arc<Mutex<State>>);

#[derive(Debug)]
struct State {
    command: GuardCommand,
    guardian: Guardian,
    /// The groups that were reported to the guardian, for its successor.
    groups: BTreeSet<i32>,
    method: Method,
    /// Environment variables that engines do not inherit.
    hidden: Vec<OsString>,
}

/// The method of containment.
#[derive(Debug)]
enum Method {
    Group,
    #[cfg(target_os = "linux")]
    Supervisor,
    #[cfg(target_os = "linux")]
    ControlGroup(containment::GroupTree),
}

#[derive(Debug)]
struct Guardian {
    process: Arc<Process>,
    orders: File,
}

impl Guard {
    /// Starts a guardian: a command that only calls [`serve`](Self::serve). It is restarted if it is killed, and on
    /// Linux the command is also started for each engine. Engines are contained by the best available method.
    ///
    /// # Errors
    /// It cannot be started, or is not a guardian.
    pub fn start(command: Command) -> io::Result<Self> {
        let group = Containment::Group;
        let possible = [Containment::ControlGroup, Containment::Supervisor];
        let best = possible.into_iter().find(|it| it.is_possible()).unwrap_or(group);
        Self::begin(command, best, true)
    }

    /// Like [`start`](Self::start), with this method of containment.
    ///
    /// # Errors
    /// It cannot be started, is not a guardian, or the method is not available
    /// ([`Unsupported`](io::ErrorKind::Unsupported)).
    #[doc(hidden)]
    pub fn start_with(command: Command, containment: Containment) -> io::Result<Self> {
        if !containment.is_possible() {
            return Err(io::ErrorKind::Unsupported.into());
        }
        Self::begin(command, containment, false)
    }

    fn begin(command: Command, containment: Containment, has_choice: bool) -> io::Result<Self> {
        // Unique for each program.
        let mark = format!("{}-{:016x}", std::process::id(), RandomState::new().hash_one(MARK));
        let mut command = GuardCommand { command, mark, control_group: None };
        #[cfg(target_os = "linux")]
        if containment == Containment::ControlGroup {
            command.control_group = containment::group_path(&command.mark);
        }
        let guardian = Guardian::start(command.guardian())?;
        let method = Method::new(containment, command.control_group.clone());
        let method = method.or_else(|error| {
            if has_choice {
                return Method::new(Containment::Supervisor, None);
            }
            Err(io::Error::new(io::ErrorKind::Unsupported, error))
        })?;
        let (groups, hidden) = (BTreeSet::new(), Vec::new());
        let state = State { command, guardian, groups, method, hidden };
        Ok(Self(Arc::new(Mutex::new(state))))
    }

    /// The method of containment for the next engine.
    #[doc(hidden)]
    pub fn containment(&self) -> Containment {
        match lock(&self.0).method {
            Method::Group => Containment::Group,
            #[cfg(target_os = "linux")]
            Method::Supervisor => Containment::Supervisor,
            #[cfg(target_os = "linux")]
            Method::ControlGroup(_) => Containment::ControlGroup,
        }
    }

    /// Hides environment variables of this program, such as passwords, from every process that is started with this guard
    /// from now on. A [`Command`] that sets such a variable itself still passes it.
    pub fn hide_variables(&self, names: impl IntoIterator<Item = impl Into<OsString>>) {
        let mut state = lock(&self.0);
        for name in names.into_iter().map(Into::into) {
            state.command.command.env_remove(&name);
            state.hidden.push(name);
        }
    }

    /// Removes the hidden variables from a command.
    pub(crate) fn remove_hidden(&self, command: &mut Command) {
        super::remove_inherited(command, &lock(&self.0).hidden);
    }

    /// Runs a guardian or a supervisor. Call it first in a process that does nothing else. A guardian reads its
    /// standard input until its end. A supervisor exits with its engine, or becomes it.
    ///
    /// # Errors
    /// It cannot ignore SIGINT and SIGTERM, cannot answer, or is a supervisor that fails.
    pub fn serve() -> io::Result<()> {
        if let Some(version) = env::var_os(ROLE) {
            return Self::supervise(version == VERSION);
        }
        ignore_signals()?;
        let mut output = io::stdout();
        output.write_all(&[ANSWER])?;
        output.flush()?;
        let mut input = io::stdin().lock();
        let mut groups = Groups::default();
        let mut order = [0; 4];
        // The end of the input, for any reason, means that the program has ended.
        while input.read_exact(&mut order).is_ok() {
            groups.apply(i32::from_le_bytes(order));
        }
        groups.kill();
        #[cfg(target_os = "linux")]
        if let Some(path) = env::var_os(CONTROL_GROUP) {
            containment::GroupTree::destroy(path.into());
        }
        #[cfg(target_os = "linux")]
        if let Some(mark) = env::var_os(MARK) {
            containment::kill_marked(mark.as_encoded_bytes());
        }
        Ok(())
    }

    #[cfg(target_os = "linux")]
    fn supervise(is_same_version: bool) -> io::Result<()> {
        if is_same_version { supervisor::serve() } else { Err(io::ErrorKind::Unsupported.into()) }
    }

    #[cfg(not(target_os = "linux"))]
    fn supervise(_: bool) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Starts a process with the containment of this guard.
    #[cfg(target_os = "linux")]
    pub(crate) fn launch(
        &self,
        command: &mut Command,
        errors: Option<ErrorOutput>,
    ) -> io::Result<Launched> {
        use super::Scope;

        let mut order = supervisor::Order::of(command);
        let group = {
            let mut state = lock(&self.0);
            order.mark(&state.command.mark);
            match &mut state.method {
                Method::Group => {
                    command.env(MARK, &state.command.mark);
                    drop(state);
                    return Launched::directly(command, errors);
                }
                Method::Supervisor => None,
                Method::ControlGroup(tree) => tree.add().ok(),
            }
        };
        order.members = group.as_ref().map(ControlGroup::members);
        let spawn = |input: Stdio| lock(&self.0).command.supervisor(input);
        let answered = match supervisor::launch(&order, errors, spawn) {
            Ok(answered) => answered,
            Err(error) => {
                if let Some(group) = &group {
                    self.retire(group);
                }
                return Err(error);
            }
        };
        let supervisor::Answered { child, supervisor, streams } = answered;
        let (id, scope) = match (supervisor, group) {
            (Some(supervisor), group) => {
                if let Some(group) = group {
                    // Groups can be created, but not entered.
                    self.retire(&group);
                    lock(&self.0).method = Method::Supervisor;
                }
                (supervisor.engine(), Scope::Supervisor(supervisor))
            }
            (None, Some(group)) => (child.id(), Scope::ControlGroup(group)),
            (None, None) => return Err(supervisor::reject(child)),
        };
        Ok(Launched { child, id, scope, streams })
    }

    /// Starts a process.
    #[cfg(not(target_os = "linux"))]
    pub(crate) fn launch(
        &self,
        command: &mut Command,
        errors: Option<ErrorOutput>,
    ) -> io::Result<Launched> {
        command.env(MARK, &lock(&self.0).command.mark);
        Launched::directly(command, errors)
    }

    /// Removes the control group of a killed engine.
    #[cfg(target_os = "linux")]
    pub(crate) fn retire(&self, group: &ControlGroup) {
        if let Method::ControlGroup(tree) = &mut lock(&self.0).method {
            tree.retire(group);
        }
    }

    /// Registers the group of a process, to be killed if the program ends first.
    pub(crate) fn add(&self, id: u32) -> io::Result<()> {
        let group = i32::try_from(id).map_err(io::Error::other)?;
        let state = &mut *lock(&self.0);
        state.groups.insert(group);
        let sent = state.send(group);
        if sent.is_err() {
            state.groups.remove(&group);
        }
        sent
    }

    /// Unregisters a group. Must be called before the ID can be reused.
    pub(crate) fn release(&self, id: u32) {
        let Ok(group) = i32::try_from(id) else { return };
        let state = &mut *lock(&self.0);
        if state.groups.remove(&group) {
            // Without a guardian no wrong group is killed, and the next start of an engine fails.
            let _ = state.send(-group);
        }
    }
}

impl Containment {
    fn is_possible(self) -> bool {
        match self {
            Self::Group => true,
            #[cfg(target_os = "linux")]
            Self::Supervisor => supervisor::is_possible(),
            #[cfg(target_os = "linux")]
            Self::ControlGroup => {
                supervisor::is_possible() && containment::group_path("").is_some()
            }
            #[cfg(not(target_os = "linux"))]
            Self::Supervisor | Self::ControlGroup => false,
            Self::Job => false,
        }
    }
}

impl Method {
    #[cfg(target_os = "linux")]
    fn new(containment: Containment, control_group: Option<PathBuf>) -> io::Result<Self> {
        Ok(match (containment, control_group) {
            (Containment::ControlGroup, Some(path)) => {
                Self::ControlGroup(containment::GroupTree::create(path)?)
            }
            (Containment::Supervisor, _) => Self::Supervisor,
            (Containment::Group, _) => Self::Group,
            (Containment::ControlGroup | Containment::Job, _) => {
                return Err(io::ErrorKind::Unsupported.into());
            }
        })
    }

    #[cfg(not(target_os = "linux"))]
    fn new(_: Containment, _: Option<PathBuf>) -> io::Result<Self> {
        Ok(Self::Group)
    }
}

/// The command of a guardian or a supervisor.
#[derive(Debug)]
struct GuardCommand {
    command: Command,
    mark: String,
    control_group: Option<PathBuf>,
}

impl GuardCommand {
    fn guardian(&mut self) -> &mut Command {
        self.command.env_remove(ROLE).env(MARK, &self.mark);
        match &self.control_group {
            Some(path) => self.command.env(CONTROL_GROUP, path),
            None => self.command.env_remove(CONTROL_GROUP),
        };
        &mut self.command
    }

    #[cfg(target_os = "linux")]
    fn supervisor(&mut self, input: Stdio) -> io::Result<std::process::Child> {
        let command = &mut self.command;
        command.env(ROLE, VERSION).env_remove(MARK).env_remove(CONTROL_GROUP);
        std::os::unix::process::CommandExt::process_group(command, 0);
        let child = command.stdin(input).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        // Otherwise the command would hold its end of the socket.
        command.stdin(Stdio::null());
        child
    }
}

impl State {
    /// Sends a change of the groups, and restarts the guardian if necessary.
    fn send(&mut self, order: i32) -> io::Result<()> {
        if self.guardian.orders.write_all(&order.to_le_bytes()).is_ok() {
            return Ok(());
        }
        // It was killed, or it was suspended until the pipe was full. The pipe may be closed only after its
        // exit: otherwise it would kill the running engines.
        self.guardian.process.kill_and_reap();
        self.guardian = Guardian::start(self.command.guardian())?;
        for group in &self.groups {
            self.guardian.orders.write_all(&group.to_le_bytes())?;
        }
        Ok(())
    }
}

impl Guardian {
    fn start(command: &mut Command) -> io::Result<Self> {
        // A reader of the program's own output must not wait for the guardian.
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let (process, streams) = Process::start_independent(command)?;
        process.watch(|| (), |_| ())?;
        let orders =
            streams.stdin.zip(streams.stdout).ok_or_else(|| io::ErrorKind::BrokenPipe.into());
        let orders = orders.and_then(|(stdin, stdout)| {
            // A guardian that does not read must not block the program.
            ioctl_fionbio(&stdin, true)?;
            receive_ready(stdout.into())?;
            Ok(File::from(OwnedFd::from(stdin)))
        });
        match orders {
            Ok(orders) => Ok(Self { process, orders }),
            Err(error) => {
                process.kill_and_reap();
                Err(error)
            }
        }
    }
}

fn receive_ready(output: OwnedFd) -> io::Result<()> {
    let timeout = Timespec { tv_sec: ANSWER_TIMEOUT.as_secs().cast_signed(), tv_nsec: 0 };
    if poll(&mut [PollFd::new(&output, PollFlags::IN)], Some(&timeout))? == 0 {
        return Err(io::Error::new(io::ErrorKind::TimedOut, "the guardian does not answer"));
    }
    let mut answer = [0];
    match File::from(output).read(&mut answer)? {
        1 if answer == [ANSWER] => Ok(()),
        _ => Err(io::Error::new(io::ErrorKind::InvalidData, "the command is no guardian")),
    }
}

#[derive(Debug, Default)]
struct Groups(BTreeMap<i32, Group>);

impl Groups {
    fn apply(&mut self, order: i32) {
        match order {
            // 0 would be the own group, and 1 all processes.
            2.. => drop(self.0.insert(order, Group::new(order))),
            _ => drop(order.checked_neg().and_then(|group| self.0.remove(&group))),
        }
    }

    fn kill(self) {
        for (group, group_state) in self.0 {
            if let Some(pid) = Pid::from_raw(group).filter(|pid| group_state.is_still(*pid)) {
                // Fails only if the group has ended.
                let _ = process::kill_process_group(pid, Signal::KILL);
            }
        }
    }
}

/// A process group, identified by its leader.
#[derive(Debug)]
struct Group {
    #[cfg(target_os = "linux")]
    leader: Option<OwnedFd>,
}

#[cfg(target_os = "linux")]
impl Group {
    fn new(group: i32) -> Self {
        let open = |pid| process::pidfd_open(pid, process::PidfdFlags::empty()).ok();
        Self { leader: Pid::from_raw(group).and_then(open) }
    }

    /// Whether the ID still belongs to the group. The system does not reuse it while the group has a
    /// process.
    fn is_still(&self, pid: Pid) -> bool {
        let Some(leader) = &self.leader else { return true };
        // An exited process accepts signals until it is reaped.
        let is_there = process::pidfd_send_signal(leader, Signal::KILL).is_ok();
        is_there || process::test_kill_process(pid) == Err(rustix::io::Errno::SRCH)
    }
}

#[cfg(not(target_os = "linux"))]
impl Group {
    fn new(_: i32) -> Self {
        Self {}
    }

    fn is_still(&self, _: Pid) -> bool {
        true
    }
}

/// Installs handlers that do nothing. Ignored signals would also be ignored by child processes.
fn ignore_signals() -> io::Result<()> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

    for signal in [SIGHUP, SIGINT, SIGTERM] {
        signal_hook::flag::register(signal, Arc::default())?;
    }
    Ok(())
}
