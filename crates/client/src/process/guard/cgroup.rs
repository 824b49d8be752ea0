//! Control groups of version 2: one for each engine, all below one of the program, which is below the
//! group of the program.
//!
//! A process starts in the group of its parent, independent of its session, process group and environment, and
//! `cgroup.kill` terminates all members without a race (Linux 5.14). No controller is enabled, so groups may
//! have members at every level.

use std::fs::{self, File};
use std::io::{self, Read};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::getpid;

use crate::sync::now;

/// Maximum time for terminated members to disappear before their group is left behind.
const REMOVE_TIMEOUT: Duration = Duration::from_secs(10);
/// Maximum nesting depth of control groups in the removal.
const MAX_DEPTH: u32 = 32;

/// The control group of a program with those of its engines.
#[derive(Debug)]
pub(super) struct Tree {
    path: PathBuf,
    count: u64,
    /// Groups whose terminated members have not disappeared yet.
    leftover: Vec<ControlGroup>,
}

/// The control group of an engine.
#[derive(Clone, Debug)]
pub(crate) struct ControlGroup(PathBuf);

/// The path for the control group of a program. Creates nothing.
pub(super) fn path_for(mark: &str) -> Option<PathBuf> {
    let own = fs::read_to_string("/proc/self/cgroup").ok()?;
    let mounts = fs::read_to_string("/proc/self/mountinfo").ok()?;
    let own = locate(&own, &mounts)?;
    // Unreadable in a threaded group, where processes cannot be moved either.
    let members = fs::read_to_string(own.join("cgroup.procs")).ok()?;
    let id = getpid().as_raw_nonzero().to_string();
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

impl Tree {
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

impl Drop for Tree {
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

#[cfg(test)]
mod tests {
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
}
