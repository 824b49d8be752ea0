//! No engine outlives its program, even if that is killed: a guardian, which is a process of its own,
//! knows the groups of the engines, and kills what is left of them when the program is gone.
//!
//! ```text
//!  program ── pipe: started, gone, started … its end ──> guardian ── SIGKILL ──> groups that are left
//!     └────── a socket for each engine … its end ──> supervisor ── SIGKILL ──> engine, descendants
//! ```
//! The pipe ends with the program, however that ends. A message is the number of a group, four bytes,
//! little end first; it is negative when the group is gone.
//!
//! On Linux each engine is contained besides, so that its descendants are terminated with it: in a
//! control group (`guard/cgroup.rs`), or below a supervisor (`guard/supervisor.rs`). The guardian knows
//! the control group of the program, and supervisors see the end of the program themselves.
//!
//! An engine that is started without either bears a mark in its environment, as does all that it
//! starts. Where processes can be looked at (`/proc`), the guardian kills what bears its mark. It does
//! not come too early: what is just being started holds the pipe, too, until it bears the mark. A
//! supervisor bears no mark, for it has its own work to finish.

use std::collections::{BTreeMap, BTreeSet};
use std::env;
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

use crate::containment::{Containment, ErrorOutput, Launched};
use crate::process::Process;
use crate::shared::lock;

#[cfg(target_os = "linux")]
mod cgroup;
#[cfg(target_os = "linux")]
mod launch;
#[cfg_attr(not(target_os = "linux"), path = "guard/unmarked.rs")]
mod marked;
#[cfg(target_os = "linux")]
mod supervisor;

#[cfg(target_os = "linux")]
pub(crate) use cgroup::ControlGroup;
#[cfg(target_os = "linux")]
pub(crate) use launch::Supervisor;

/// How long a guardian or a supervisor may take to answer for the first time.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(20);
const ANSWER: u8 = b'\n';
/// The variable that marks what a guarded program starts, and tells a guardian its mark.
const MARK: &str = "READYOK_GUARDED";
/// The variable that makes the command of a guardian a supervisor: the version of both sides.
const ROLE: &str = "READYOK_SUPERVISOR";
/// The variable that passes the control group of the program to its guardian.
const CONTROL_GROUP: &str = "READYOK_CONTROL_GROUP";
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Terminates the descendants of engines with them, and all engines with this program, even if it is
/// killed and can terminate nothing itself. One guard serves all engines of a program.
///
/// It is a process in a group of its own, the guardian, so that what kills the group of the program does
/// not kill it, and ends right after the program. Programs start themselves again for it:
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
/// *All* stands for the engine and all its descendants, including those with another session, another
/// process group or another environment. *Group* stands for what is still in the process group of
/// the engine.
///
/// | | engine exits, is terminated, crashes; handle dropped | program exits or is killed |
/// |---|---|---|
/// | Linux, with a guard | all | all |
/// | Linux, without a guard | group | nothing: engines see the end of their input |
/// | other Unix, with a guard | group | group |
/// | other Unix, without a guard | group | nothing |
/// | other systems | the engine alone | nothing |
///
/// On Linux the guard chooses one of two ways, see [`containment`](Self::containment):
/// - [`Containment::ControlGroup`], where the program may create control groups below its own. The command
///   of the guardian moves into the group of the engine and becomes the engine. When a call reports that
///   the engine has ended, its descendants have been sent SIGKILL.
/// - [`Containment::Supervisor`] otherwise. The command of the guardian is the parent of the engine as long
///   as that runs, and takes two more file descriptors of the program. When a call reports that the engine
///   has ended, its descendants have ended.
///
/// Where neither is possible (Linux before 5.3, no `/proc`), it is as on other Unix systems; what bears the
/// variable `READYOK_GUARDED` is killed, too, when the program has ended. On other Unix systems an engine
/// has only the end of its input to go by if the program is killed right after it was started.
///
/// Not descendants, and not terminated, are processes that a service of the system starts on request of an engine.
/// A program with the rights to do so can still escape: it can move itself into another control group, or
/// kill its supervisor. Then the engine and its group are killed, but not all descendants; and not even
/// these if the supervisor was killed before it has reported the start.
///
/// # Commands
///
/// On Linux a guarded engine is started with the program, arguments, environment and working
/// directory of its [`Command`]. What a command does not disclose is ignored: user and group, `arg0`,
/// and `pre_exec`. Use a program that sets these and becomes the engine, such as `setpriv`.
#[derive(Clone, Debug)]
pub struct Guard(Arc<Mutex<State>>);

#[derive(Debug)]
struct State {
    command: GuardCommand,
    guardian: Guardian,
    /// What it has been reported, for the one after it.
    groups: BTreeSet<i32>,
    method: Method,
}

/// How engines are contained.
#[derive(Debug)]
enum Method {
    Group,
    #[cfg(target_os = "linux")]
    Supervisor,
    #[cfg(target_os = "linux")]
    ControlGroup(cgroup::Tree),
}

#[derive(Debug)]
struct Guardian {
    process: Arc<Process>,
    orders: File,
}

impl Guard {
    /// Starts a guardian: a command that calls [`serve`](Self::serve) and does nothing else. It is
    /// started again if anybody kills it, and on Linux again for each engine. Engines are contained in the
    /// best way that is possible.
    ///
    /// # Errors
    /// It cannot be started, or is no guardian.
    pub fn start(command: Command) -> io::Result<Self> {
        let group = Containment::Group;
        let possible = [Containment::ControlGroup, Containment::Supervisor];
        let best = possible.into_iter().find(|it| it.is_possible()).unwrap_or(group);
        Self::begin(command, best, true)
    }

    /// The same with engines that are contained in this way.
    ///
    /// # Errors
    /// It cannot be started, is no guardian, or this way is not possible
    /// ([`Unsupported`](io::ErrorKind::Unsupported)).
    pub fn start_with(command: Command, containment: Containment) -> io::Result<Self> {
        if !containment.is_possible() {
            return Err(io::ErrorKind::Unsupported.into());
        }
        Self::begin(command, containment, false)
    }

    fn begin(command: Command, containment: Containment, has_choice: bool) -> io::Result<Self> {
        // Nobody else has the same.
        let mark = format!("{}-{:016x}", std::process::id(), RandomState::new().hash_one(MARK));
        let mut command = GuardCommand { command, mark, control_group: None };
        #[cfg(target_os = "linux")]
        if containment == Containment::ControlGroup {
            command.control_group = cgroup::path_for(&command.mark);
        }
        let guardian = Guardian::start(command.guardian())?;
        let method = Method::new(containment, command.control_group.clone());
        let method = method.or_else(|error| {
            if has_choice {
                return Method::new(Containment::Supervisor, None);
            }
            Err(io::Error::new(io::ErrorKind::Unsupported, error))
        })?;
        let state = State { command, guardian, groups: BTreeSet::new(), method };
        Ok(Self(Arc::new(Mutex::new(state))))
    }

    /// How the engines that are started next are contained.
    pub fn containment(&self) -> Containment {
        match lock(&self.0).method {
            Method::Group => Containment::Group,
            #[cfg(target_os = "linux")]
            Method::Supervisor => Containment::Supervisor,
            #[cfg(target_os = "linux")]
            Method::ControlGroup(_) => Containment::ControlGroup,
        }
    }

    /// What the command of a guardian does: the whole of a process, from its first line to its last. A
    /// guardian reads its standard input, and does not end before that does. A supervisor of an
    /// engine ends with the engine, or becomes it.
    ///
    /// # Errors
    /// It cannot ignore SIGINT and SIGTERM, cannot answer, or is a supervisor that cannot do its work.
    pub fn serve() -> io::Result<()> {
        if let Some(version) = env::var_os(ROLE) {
            return Self::supervise(version == VERSION);
        }
        ignore_signals()?;
        let mut output = io::stdout();
        output.write_all(&[ANSWER])?;
        output.flush()?;
        let mut input = io::stdin().lock();
        let mut wards = Wards::default();
        let mut order = [0; 4];
        // However the input ends, the program is gone.
        while input.read_exact(&mut order).is_ok() {
            wards.take(i32::from_le_bytes(order));
        }
        wards.kill();
        #[cfg(target_os = "linux")]
        if let Some(path) = env::var_os(CONTROL_GROUP) {
            cgroup::Tree::destroy(path.into());
        }
        if let Some(mark) = env::var_os(MARK) {
            marked::kill(mark.as_encoded_bytes());
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

    /// Starts a process, contained in the way of this guard.
    #[cfg(target_os = "linux")]
    pub(crate) fn launch(
        &self,
        command: &mut Command,
        errors: ErrorOutput,
    ) -> io::Result<Launched> {
        use crate::containment::Scope;

        let mut order = launch::Order::of(command);
        let group = {
            let mut state = lock(&self.0);
            order.mark(&state.command.mark);
            match &mut state.method {
                Method::Group => {
                    command.env(MARK, &state.command.mark);
                    drop(state);
                    return Launched::directly(command);
                }
                Method::Supervisor => None,
                Method::ControlGroup(tree) => tree.add().ok(),
            }
        };
        order.members = group.as_ref().map(ControlGroup::members);
        let spawn = |input: Stdio| lock(&self.0).command.supervisor(input);
        let answered = match launch::launch(&order, errors, spawn) {
            Ok(answered) => answered,
            Err(error) => {
                if let Some(group) = &group {
                    self.retire(group);
                }
                return Err(error);
            }
        };
        let launch::Answered { child, supervisor, streams } = answered;
        let (id, scope) = match (supervisor, group) {
            (Some(supervisor), group) => {
                if let Some(group) = group {
                    // Groups can be created, but not be entered.
                    self.retire(&group);
                    lock(&self.0).method = Method::Supervisor;
                }
                (supervisor.engine(), Scope::Supervisor(supervisor))
            }
            (None, Some(group)) => (child.id(), Scope::ControlGroup(group)),
            (None, None) => return Err(launch::reject(child)),
        };
        Ok(Launched { child, id, scope, streams })
    }

    /// Starts a process.
    #[cfg(not(target_os = "linux"))]
    pub(crate) fn launch(&self, command: &mut Command, _: ErrorOutput) -> io::Result<Launched> {
        command.env(MARK, &lock(&self.0).command.mark);
        Launched::directly(command)
    }

    /// Removes the control group of an engine that was killed.
    #[cfg(target_os = "linux")]
    pub(crate) fn retire(&self, group: &ControlGroup) {
        if let Method::ControlGroup(tree) = &mut lock(&self.0).method {
            tree.retire(group);
        }
    }

    /// Has the group of a process killed if the program ends before it.
    pub(crate) fn add(&self, id: u32) -> io::Result<()> {
        let group = i32::try_from(id).map_err(io::Error::other)?;
        let state = &mut *lock(&self.0);
        state.groups.insert(group);
        let told = state.tell(group);
        if told.is_err() {
            state.groups.remove(&group);
        }
        told
    }

    /// Forgets a group. To be sent before the number can mean another one.
    pub(crate) fn release(&self, id: u32) {
        let Ok(group) = i32::try_from(id) else { return };
        let state = &mut *lock(&self.0);
        if state.groups.remove(&group) {
            // If there is no guardian any more, nobody kills the wrong group; and the next engine to be
            // started fails for want of one.
            let _ = state.tell(-group);
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
            Self::ControlGroup => supervisor::is_possible() && cgroup::path_for("").is_some(),
            #[cfg(not(target_os = "linux"))]
            Self::Supervisor | Self::ControlGroup => false,
            Self::Process => false,
        }
    }
}

impl Method {
    #[cfg(target_os = "linux")]
    fn new(containment: Containment, control_group: Option<PathBuf>) -> io::Result<Self> {
        Ok(match (containment, control_group) {
            (Containment::ControlGroup, Some(path)) => {
                Self::ControlGroup(cgroup::Tree::create(path)?)
            }
            (Containment::Supervisor, _) => Self::Supervisor,
            (Containment::Group, _) => Self::Group,
            (Containment::ControlGroup | Containment::Process, _) => {
                return Err(io::ErrorKind::Unsupported.into());
            }
        })
    }

    #[cfg(not(target_os = "linux"))]
    fn new(_: Containment, _: Option<PathBuf>) -> io::Result<Self> {
        Ok(Self::Group)
    }
}

/// The command that becomes a guardian or a supervisor.
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
        // The command would hold its end of the socket.
        command.stdin(Stdio::null());
        child
    }
}

impl State {
    /// Tells a change of the groups.
    fn tell(&mut self, order: i32) -> io::Result<()> {
        if self.guardian.orders.write_all(&order.to_le_bytes()).is_ok() {
            return Ok(());
        }
        // It was killed, or was stopped so long ago that the pipe is full. The pipe must not end before
        // it does, or it would kill what still plays.
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
        // Whoever waits for the end of the program's own output does not wait for the guardian.
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let (process, streams) = Process::start(command, None)?;
        process.watch(|| (), |_| ())?;
        let orders =
            streams.stdin.zip(streams.stdout).ok_or_else(|| io::ErrorKind::BrokenPipe.into());
        let orders = orders.and_then(|(stdin, stdout)| {
            // Nobody waits for a guardian that does not read.
            ioctl_fionbio(&stdin, true)?;
            hear(stdout.into())?;
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

/// Waits for the first answer of a guardian.
fn hear(output: OwnedFd) -> io::Result<()> {
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

/// The groups that a guardian kills.
#[derive(Debug, Default)]
struct Wards(BTreeMap<i32, Ward>);

impl Wards {
    fn take(&mut self, order: i32) {
        match order {
            // 0 would be the own group, and 1 everything.
            2.. => drop(self.0.insert(order, Ward::new(order))),
            _ => drop(order.checked_neg().and_then(|group| self.0.remove(&group))),
        }
    }

    fn kill(self) {
        for (group, ward) in self.0 {
            if let Some(pid) = Pid::from_raw(group).filter(|pid| ward.is_still(*pid)) {
                // It fails only if nobody is left.
                let _ = process::kill_process_group(pid, Signal::KILL);
            }
        }
    }
}

/// A group, known by the process that it is named after.
#[derive(Debug)]
struct Ward {
    #[cfg(target_os = "linux")]
    leader: Option<OwnedFd>,
}

#[cfg(target_os = "linux")]
impl Ward {
    fn new(group: i32) -> Self {
        let open = |pid| process::pidfd_open(pid, process::PidfdFlags::empty()).ok();
        Self { leader: Pid::from_raw(group).and_then(open) }
    }

    /// Whether the number is still that of the group. The system does not give it to a new process
    /// while there is any process in the group.
    fn is_still(&self, pid: Pid) -> bool {
        let Some(leader) = &self.leader else { return true };
        // What has ended can be signalled until it is reaped.
        let is_there = process::pidfd_send_signal(leader, Signal::KILL).is_ok();
        is_there || process::test_kill_process(pid) == Err(rustix::io::Errno::SRCH)
    }
}

#[cfg(not(target_os = "linux"))]
impl Ward {
    fn new(_: i32) -> Self {
        Self {}
    }

    fn is_still(&self, _: Pid) -> bool {
        true
    }
}

/// Installs handlers that do nothing. Signals that are ignored instead would be ignored by child processes, too.
fn ignore_signals() -> io::Result<()> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

    for signal in [SIGHUP, SIGINT, SIGTERM] {
        signal_hook::flag::register(signal, Arc::default())?;
    }
    Ok(())
}
