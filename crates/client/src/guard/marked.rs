//! Processes that bear a mark in their environment, as `/proc` shows it.

use std::fs::{self, DirEntry, File};
use std::io::Read;
use std::os::fd::OwnedFd;

use rustix::process::{self, Pid, PidfdFlags, Signal};

use super::MARK;

/// Who starts others faster than they are found is looked for so often.
const ROUNDS: usize = 100;
/// An environment has no more bytes (a quarter of the largest stack that is usual).
const MOST: u64 = 4 << 20;

/// Kills every process with this mark but the own one.
pub(super) fn kill(mark: &[u8]) {
    let entry = [MARK.as_bytes(), b"=", mark].concat();
    for _ in 0..ROUNDS {
        let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
        let found = processes.filter_map(|it| bearer(&it, &entry));
        // It fails only if the process has ended.
        let killed = found.filter(|it| process::pidfd_send_signal(it, Signal::KILL).is_ok());
        if killed.count() == 0 {
            break;
        }
    }
}

/// The process of an entry of `/proc`, if it bears a mark.
fn bearer(process: &DirEntry, entry: &[u8]) -> Option<OwnedFd> {
    let number: i32 = process.file_name().to_str()?.parse().ok()?;
    let pid = Pid::from_raw(number).filter(|&pid| pid != process::getpid())?;
    // First, so that what is looked at afterwards is this process or no process at all.
    let descriptor = process::pidfd_open(pid, PidfdFlags::empty()).ok()?;
    let mut environment = Vec::new();
    let file = File::open(process.path().join("environ")).ok()?;
    file.take(MOST).read_to_end(&mut environment).ok()?;
    environment.split(|&byte| byte == 0).any(|it| it == entry).then_some(descriptor)
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::ExitStatusExt;
    use std::process::{Child, Command};

    use super::*;

    /// Waits for an hour, in a group that nobody is told of.
    fn start(mark: &str) -> Child {
        let mut command = Command::new("sleep");
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        command.arg("3600").env(MARK, mark).spawn().expect("it starts")
    }

    #[test]
    fn what_bears_the_mark_is_killed_though_nobody_has_told_of_it() {
        let mark = format!("test-{}", std::process::id());
        let mut other = start(&format!("{mark}0"));
        let mut ours = [start(&mark), start(&mark)];
        kill(mark.as_bytes());
        for child in &mut ours {
            let status = child.wait().expect("a child");
            assert_eq!(status.signal(), Some(Signal::KILL.as_raw()));
        }
        assert!(other.try_wait().expect("a child").is_none(), "another mark");
        other.kill().expect("a child");
        other.wait().expect("a child");
    }
}
