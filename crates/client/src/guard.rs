//! No engine outlives its program, even if that is killed: a guardian, which is a process of its own,
//! knows the groups of the engines, and kills what is left of them when the program is gone.
//!
//! ```text
//!  program ── pipe: started, gone, started … its end ──> guardian ── SIGKILL ──> groups that are left
//! ```
//! The pipe ends with the program, however that ends. A message is the number of a group, four bytes,
//! little end first; it is negative when the group is gone.
//!
//! An engine whose start nobody lives to tell of bears a mark in its environment, as does all that it
//! starts. Where processes can be looked at (`/proc`), the guardian kills what bears its mark. It does
//! not come too early: what is just being started holds the pipe, too, until it bears the mark.

use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::fs::File;
use std::hash::{BuildHasher as _, RandomState};
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::ioctl_fionbio;
use rustix::process::{self, Pid, Signal};

use crate::process::Process;
use crate::sync::lock;

#[cfg_attr(not(target_os = "linux"), path = "guard/unmarked.rs")]
mod marked;

/// How long a guardian may take to answer for the first time.
const START: Duration = Duration::from_secs(20);
const ANSWER: u8 = b'\n';
/// The variable that marks what a guarded program starts, and tells a guardian its mark.
const MARK: &str = "READYOK_GUARDED";

/// Sees to it that no engine outlives this program, not even one that does not listen when the
/// program is killed and can end nothing itself. One guard serves all engines of a program.
///
/// It is a process in a group of its own, so that what kills the group of the program does not kill it,
/// and ends right after the program. Programs start themselves again for it, in a way of their own:
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
/// On Linux that holds for everything that an engine has started, too, which inherits the variable
/// `READYOK_GUARDED` from it. On other systems two things are left to chance: an engine is told to the
/// guardian right after it was started, and if the program is killed between the two, the engine has
/// only the end of its input to go by; and a process that leaves the group of its engine is its own
/// master. Where the system is no Unix, a guard does nothing.
#[derive(Clone, Debug)]
pub struct Guard(Arc<Mutex<State>>);

#[derive(Debug)]
struct State {
    command: Command,
    mark: String,
    guardian: Guardian,
    /// What it has been told, for the one after it.
    groups: BTreeSet<i32>,
}

#[derive(Debug)]
struct Guardian {
    process: Arc<Process>,
    orders: File,
}

impl Guard {
    /// Starts a guardian: a command that calls [`serve`](Self::serve) and does nothing else. It is
    /// started again if anybody kills it.
    ///
    /// # Errors
    /// It cannot be started, or is no guardian.
    pub fn start(mut command: Command) -> io::Result<Self> {
        // Nobody else has the same.
        let mark = format!("{}-{:016x}", std::process::id(), RandomState::new().hash_one(MARK));
        command.env(MARK, &mark);
        let guardian = Guardian::start(&mut command)?;
        let state = State { command, mark, guardian, groups: BTreeSet::new() };
        Ok(Self(Arc::new(Mutex::new(state))))
    }

    /// What a guardian does: the whole of a process, from its first line to its last. It listens to
    /// its standard input, and does not end before that does.
    ///
    /// # Errors
    /// It cannot hold its ground against SIGINT and SIGTERM, or cannot answer.
    pub fn serve() -> io::Result<()> {
        ctrlc::set_handler(|| ()).map_err(io::Error::other)?;
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
        if let Some(mark) = env::var_os(MARK) {
            marked::kill(mark.as_encoded_bytes());
        }
        Ok(())
    }

    /// Marks what is going to be started.
    pub(crate) fn mark(&self, command: &mut Command) {
        command.env(MARK, &lock(&self.0).mark);
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

    /// Forgets a group. To be said before the number can mean another one.
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

impl State {
    /// Tells a change of the groups.
    fn tell(&mut self, order: i32) -> io::Result<()> {
        if self.guardian.orders.write_all(&order.to_le_bytes()).is_ok() {
            return Ok(());
        }
        // It was killed, or was stopped so long ago that the pipe is full. The pipe must not end before
        // it does, or it would kill what still plays.
        self.guardian.process.kill_and_reap();
        self.guardian = Guardian::start(&mut self.command)?;
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
    let timeout = Timespec { tv_sec: START.as_secs().cast_signed(), tv_nsec: 0 };
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
