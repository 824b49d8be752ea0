//! Containment on Linux: control groups, and processes with a mark in their environment, as shown in `/proc`.
//!
//! Control groups have version 2: one for each engine, all below one of the program, which is below the
//! group of the program.
//!
//! A process starts in the group of its parent, independent of its session, process group and environment.
//! `cgroup.kill` terminates all members without a race (Linux 5.14). No controller is enabled, so groups may
//! have members at every level.

use std::fs::{self, DirEntry, File};
use std::io::{self, Read};
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{self, Pid, PidfdFlags, Signal};

use super::MARK;
use crate::sync::now;

/// Maximum time for terminated members to disappear before their group is left behind.
const REMOVE_TIMEOUT: Duration = Duration::from_secs(10);
/// Maximum nesting depth of control groups in the removal.
const MAX_DEPTH: u32 = 32;
/// Maximum number of scans, for processes that start others during a scan or are in `execve`.
const MAX_SCANS: usize = 100;
/// Maximum size of an environment (a quarter of the usual maximum stack).
const MAX_ENVIRONMENT: u64 = 4 << 20;

/// The control group of a program with those of its engines.
#[derive(Debug)]
pub(super) struct GroupTree {
    path: PathBuf,
    count: u64,
    /// Groups whose terminated members have not disappeared yet.
    leftover: Vec<ControlGroup>,
}

/// The control group of an engine.
#[derive(Clone, Debug)]
pub(crate) struct ControlGroup(PathBuf);

/// The path for the control group of a program. Creates nothing.
pub(super) fn group_path(mark: &str) -> Option<PathBuf> {
    let own = fs::read_to_string("/proc/self/cgroup").ok()?;
    let mounts = fs::read_to_string("/proc/self/mountinfo").ok()?;
    let own = locate(&own, &mounts)?;
    // Unreadable in a threaded group, where processes cannot be moved either.
    let members = fs::read_to_string(own.join("cgroup.procs")).ok()?;
    let id = process::getpid().as_raw_nonzero().to_string();
    members.lines().any(|line| line == id).then(|| own.join(format!("readyok-{mark}")))
}

/// The directory of the own control group, from `/proc/self/cgroup` and `/proc/self/mountinfo`.
fn locate(cgroup: &str, mountinfo: &str) -> Option<PathBuf> {
    let own = Path::new(cgroup.lines().find_map(|line| line.strip_prefix("0::"))?);
    mountinfo.lines().find_map(|line| {
        // `36 35 98:0 ROOT MOUNT_POINT OPTIONS… - TYPE SOURCE OPTIONS`, see proc_pid_mountinfo(5).
        let (fields, kind) = line.split_once(" - ")?;
        let mut fields = fields.split(' ').skip(3);
        let (root, point) = (unescape(fields.next()?), unescape(fields.next()?));
        let below = own.strip_prefix(root).ok()?;
        // A group outside of the own namespace starts with `..`.
        let is_inside = below.components().all(|it| matches!(it, std::path::Component::Normal(_)));
        (kind.starts_with("cgroup2 ") && is_inside).then(|| Path::new(&point).join(below))
    })
}

/// In `mountinfo`, spaces, tabs, line ends and backslashes are octal.
fn unescape(text: &str) -> String {
    let escapes = [("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")];
    escapes.iter().fold(text.to_owned(), |text, (from, to)| text.replace(from, to))
}

impl GroupTree {
    /// Creates the group of a program.
    pub(super) fn create(path: PathBuf) -> io::Result<Self> {
        fs::create_dir(&path)?;
        if !path.join("cgroup.kill").exists() {
            let _ = fs::remove_dir(&path);
            return Err(io::ErrorKind::Unsupported.into());
        }
        Ok(Self { path, count: 0, leftover: Vec::new() })
    }

    /// Creates a group for an engine.
    pub(super) fn add(&mut self) -> io::Result<ControlGroup> {
        self.leftover.retain(|it| !it.remove());
        self.count += 1;
        let path = self.path.join(self.count.to_string());
        fs::create_dir(&path)?;
        Ok(ControlGroup(path))
    }

    /// Removes the group of an engine after its members were terminated.
    pub(super) fn retire(&mut self, group: &ControlGroup) {
        if !group.remove() {
            self.leftover.push(group.clone());
        }
    }

    /// Terminates all engines of a program that has ended, and removes all of its groups.
    pub(super) fn destroy(path: PathBuf) {
        let group = ControlGroup(path);
        let deadline = now() + REMOVE_TIMEOUT;
        loop {
            // A process that is being started may enter it until it is removed.
            group.kill();
            if group.remove() || deadline <= now() {
                return;
            }
            group.wait_until_empty(deadline);
        }
    }
}

impl Drop for GroupTree {
    fn drop(&mut self) {
        // If members are left, the guardian removes it.
        remove(&self.path, MAX_DEPTH);
    }
}

impl ControlGroup {
    /// The file that moves a process into the group.
    pub(super) fn members(&self) -> PathBuf {
        self.0.join("cgroup.procs")
    }

    /// Terminates all members, including those of nested groups.
    pub(crate) fn kill(&self) {
        // Fails only if the group is gone.
        let _ = fs::write(self.0.join("cgroup.kill"), "1");
    }

    fn remove(&self) -> bool {
        remove(&self.0, MAX_DEPTH)
    }

    /// Waits for a change of `cgroup.events` if there are members, or until the deadline.
    fn wait_until_empty(&self, deadline: Instant) {
        let Ok(mut events) = File::open(self.0.join("cgroup.events")) else { return };
        let mut text = String::new();
        let populated = events.read_to_string(&mut text).is_ok() && text.contains("populated 1");
        let left = deadline.saturating_duration_since(now()).min(Duration::from_secs(1));
        let timeout =
            Timespec { tv_sec: left.as_secs().cast_signed(), tv_nsec: left.subsec_nanos().into() };
        if populated {
            let _ = poll(
                &mut [PollFd::from_borrowed_fd(events.as_fd(), PollFlags::PRI)],
                Some(&timeout),
            );
        }
    }
}

/// Removes a group and nested ones. Returns whether it is gone.
fn remove(path: &Path, depth: u32) -> bool {
    let is_gone = |error: &io::Error| error.kind() == io::ErrorKind::NotFound;
    match fs::remove_dir(path) {
        Ok(()) => return true,
        Err(error) if is_gone(&error) => return true,
        Err(_) if depth == 0 => return false,
        Err(_) => {}
    }
    // An engine may have created nested groups.
    let entries = fs::read_dir(path).into_iter().flatten().flatten();
    let nested = entries.filter(|it| it.file_type().is_ok_and(|it| it.is_dir()));
    let removed = nested.filter(|it| remove(&it.path(), depth - 1)).count();
    removed != 0 && fs::remove_dir(path).is_ok()
}

/// Kills all processes with this mark, except the own one.
pub(super) fn kill_marked(mark: &[u8]) {
    let entry = [MARK.as_bytes(), b"=", mark].concat();
    for _ in 0..MAX_SCANS {
        let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
        let mut again = false;
        for found in processes.filter_map(|it| inspect(&it, &entry)) {
            again |= match found {
                // Fails only if the process has exited.
                Found::Marked(it) => process::pidfd_send_signal(it, Signal::KILL).is_ok(),
                Found::InExec => true,
            };
        }
        if !again {
            break;
        }
        thread::yield_now();
    }
}

enum Found {
    Marked(OwnedFd),
    /// In `execve`: for a moment the kernel shows neither the old nor the new environment.
    InExec,
}

/// The process of an entry of `/proc`, if it has a mark or may get one.
fn inspect(process: &DirEntry, entry: &[u8]) -> Option<Found> {
    let number: i32 = process.file_name().to_str()?.parse().ok()?;
    let pid = Pid::from_raw(number).filter(|&pid| pid != process::getpid())?;
    // First, so that the entry belongs to this process or to none.
    let descriptor = process::pidfd_open(pid, PidfdFlags::empty()).ok()?;
    let mut environment = Vec::new();
    let file = File::open(process.path().join("environ")).ok()?;
    file.take(MAX_ENVIRONMENT).read_to_end(&mut environment).ok()?;
    if environment.is_empty() && is_in_exec(&fs::read_to_string(process.path().join("stat")).ok()?)
    {
        return Some(Found::InExec);
    }
    let is_marked = environment.split(|&byte| byte == 0).any(|it| it == entry);
    is_marked.then_some(Found::Marked(descriptor))
}

/// Whether a process has memory without an environment (`proc_pid_stat(5)`: `state`, `vsize` and `env_end`, the
/// fields 3, 23 and 51). Kernel threads and exited processes have no memory.
fn is_in_exec(stat: &str) -> bool {
    // The second field is a name in parentheses, with arbitrary characters.
    let Some((_, fields)) = stat.rsplit_once(')') else { return false };
    let mut fields = fields.split_ascii_whitespace();
    let (state, size, end) = (fields.next(), fields.nth(19), fields.nth(27));
    state != Some("Z") && size.is_some_and(|it| it != "0") && end == Some("0")
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::ExitStatusExt;
    use std::process::{Child, Command};

    use super::*;

    #[test]
    fn the_own_cgroup_is_found_below_its_mount_point() {
        let mounts = "24 1 0:22 / /proc rw - proc proc rw\n\
            30 1 0:26 / /sys/fs/cgroup/my\\040groups rw,nosuid shared:4 - cgroup2 cgroup2 rw\n";
        let found = |cgroup: &str| locate(cgroup, mounts);
        let base = Path::new("/sys/fs/cgroup/my groups");
        assert_eq!(found("9:cpu:/x\n0::/\n").as_deref(), Some(base));
        assert_eq!(found("0::/user.slice/a.scope\n"), Some(base.join("user.slice/a.scope")));
        assert_eq!(found("0::/../other\n"), None, "it is outside of the namespace");
        assert_eq!(found("9:cpu:/x\n"), None, "there is version 1 only");
        assert_eq!(locate("0::/a\n", "24 1 0:22 / /proc rw - proc proc rw\n"), None);
    }

    #[test]
    fn a_partial_mount_starts_at_its_root() {
        let mounts = "30 1 0:26 /docker/7 /sys/fs/cgroup ro - cgroup2 cgroup rw\n";
        let base = Path::new("/sys/fs/cgroup");
        assert_eq!(locate("0::/docker/7/a\n", mounts), Some(base.join("a")));
        assert_eq!(locate("0::/docker/8\n", mounts), None);
    }

    /// Sleeps for an hour in a process group that is not registered.
    fn start(mark: &str) -> Child {
        let mut command = Command::new("sleep");
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        command.arg("3600").env(MARK, mark).spawn().expect("it starts")
    }

    #[test]
    fn a_process_without_an_environment_is_in_exec() {
        let stat = |state: &str, size: u32, end: u32| {
            let between = "0 ".repeat(19);
            let behind = "7 ".repeat(27);
            format!("12 (a) b) {state} {between}{size} {behind}{end} 0\n")
        };
        assert!(is_in_exec(&stat("R", 4096, 0)));
        assert!(!is_in_exec(&stat("S", 4096, 9)), "it has one");
        assert!(!is_in_exec(&stat("S", 0, 0)), "it is a thread of the kernel");
        assert!(!is_in_exec(&stat("Z", 4096, 0)), "it has ended");
        let own = fs::read_to_string("/proc/self/stat").expect("our own");
        let fields: Vec<&str> =
            own.rsplit_once(')').expect("a name").1.split_ascii_whitespace().collect();
        assert_ne!(fields[20], "0", "the memory of a program");
        assert_ne!(fields[48], "0", "and its environment");
        assert!(!is_in_exec(&own));
    }

    #[test]
    fn marked_processes_are_killed_without_notification() {
        let mark = format!("test-{}", std::process::id());
        let mut other = start(&format!("{mark}0"));
        let mut ours = [start(&mark), start(&mark)];
        kill_marked(mark.as_bytes());
        for child in &mut ours {
            let status = child.wait().expect("a child");
            assert_eq!(status.signal(), Some(Signal::KILL.as_raw()));
        }
        assert!(other.try_wait().expect("a child").is_none(), "another mark");
        other.kill().expect("a child");
        other.wait().expect("a child");
    }
}
