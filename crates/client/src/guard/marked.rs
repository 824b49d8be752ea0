//! Processes that bear a mark in their environment, as `/proc` shows it.

use std::fs::{self, DirEntry, File};
use std::io::Read;
use std::os::fd::OwnedFd;
use std::thread;

use rustix::process::{self, Pid, PidfdFlags, Signal};

use super::MARK;

/// Who starts others faster than they are found is looked for so often, and who is becoming another program.
const ROUNDS: usize = 100;
/// An environment has no more bytes (a quarter of the largest stack that is usual).
const MOST: u64 = 4 << 20;

/// Kills every process with this mark but the own one.
pub(super) fn kill(mark: &[u8]) {
    let entry = [MARK.as_bytes(), b"=", mark].concat();
    for _ in 0..ROUNDS {
        let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
        let mut again = false;
        for found in processes.filter_map(|it| look(&it, &entry)) {
            again |= match found {
                // It fails only if the process has ended.
                Found::Bearer(it) => process::pidfd_send_signal(it, Signal::KILL).is_ok(),
                Found::Becoming => true,
            };
        }
        if !again {
            break;
        }
        thread::yield_now();
    }
}

enum Found {
    Bearer(OwnedFd),
    /// In the midst of `execve`: for a moment the kernel shows no environment, neither the old nor the new.
    Becoming,
}

/// The process of an entry of `/proc`, if it bears a mark or may come to bear one.
fn look(process: &DirEntry, entry: &[u8]) -> Option<Found> {
    let number: i32 = process.file_name().to_str()?.parse().ok()?;
    let pid = Pid::from_raw(number).filter(|&pid| pid != process::getpid())?;
    // First, so that what is looked at afterwards is this process or no process at all.
    let descriptor = process::pidfd_open(pid, PidfdFlags::empty()).ok()?;
    let mut environment = Vec::new();
    let file = File::open(process.path().join("environ")).ok()?;
    file.take(MOST).read_to_end(&mut environment).ok()?;
    if environment.is_empty() && is_becoming(&fs::read_to_string(process.path().join("stat")).ok()?)
    {
        return Some(Found::Becoming);
    }
    let bears = environment.split(|&byte| byte == 0).any(|it| it == entry);
    bears.then_some(Found::Bearer(descriptor))
}

/// Whether a process has memory, as its `stat` says, and no place for an environment in it (`proc_pid_stat(5)`:
/// `state`, `vsize` and `env_end`, which are the fields 3, 23 and 51). A kernel's thread and who has ended have
/// neither.
fn is_becoming(stat: &str) -> bool {
    // The second field is a name in parentheses, which may have anything in it.
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

    /// Waits for an hour, in a process group that is not registered.
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
        assert!(is_becoming(&stat("R", 4096, 0)));
        assert!(!is_becoming(&stat("S", 4096, 9)), "it has one");
        assert!(!is_becoming(&stat("S", 0, 0)), "it is a thread of the kernel");
        assert!(!is_becoming(&stat("Z", 4096, 0)), "it has ended");
        let own = fs::read_to_string("/proc/self/stat").expect("our own");
        let fields: Vec<&str> =
            own.rsplit_once(')').expect("a name").1.split_ascii_whitespace().collect();
        assert_ne!(fields[20], "0", "the memory of a program");
        assert_ne!(fields[48], "0", "and its environment");
        assert!(!is_becoming(&own));
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
