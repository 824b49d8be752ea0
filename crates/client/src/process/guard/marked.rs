//! Processes with a mark in their environment, as shown in `/proc`.

use std::fs::{self, DirEntry, File};
use std::io::Read;
use std::os::fd::OwnedFd;
use std::thread;

use rustix::process::{self, Pid, PidfdFlags, Signal};

use super::MARK;

/// Maximum number of scans, for processes that start others during a scan or are in `execve`.
const ROUNDS: usize = 100;
/// Maximum size of an environment (a quarter of the usual maximum stack).
const MAX_ENVIRONMENT: u64 = 4 << 20;

/// Kills all processes with this mark, except the own one.
pub(super) fn kill(mark: &[u8]) {
    let entry = [MARK.as_bytes(), b"=", mark].concat();
    for _ in 0..ROUNDS {
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
    let bears = environment.split(|&byte| byte == 0).any(|it| it == entry);
    bears.then_some(Found::Marked(descriptor))
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
