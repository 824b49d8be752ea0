//! A reload of the server of a farm.

use std::path::{Path, PathBuf};

/// Whether the server reads its changed configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Reload {
    /// The process with this id has got a signal.
    Signalled(u32),
    /// The file with the process id names no running server of this machine.
    NotRunning { pid_file: Option<PathBuf> },
    /// The server with this id cannot be signalled.
    Failed { pid: u32, why: String },
}

/// Makes a running server read its configuration again.
pub(super) fn reload(pid_file: Option<&Path>) -> Reload {
    // The server leaves the file behind when it is killed, and the id may belong to another process now.
    match pid_file.and_then(read_pid).filter(|pid| is_nats_server(*pid)) {
        Some(pid) => match send_hangup(pid) {
            Ok(()) => Reload::Signalled(pid),
            Err(why) => Reload::Failed { pid, why },
        },
        None => Reload::NotRunning { pid_file: pid_file.map(Path::to_owned) },
    }
}

fn read_pid(path: &Path) -> Option<u32> {
    super::read(path).ok()?.trim().parse().ok()
}

/// Whether the process runs the program `nats-server`.
#[cfg(target_os = "linux")]
fn is_nats_server(pid: u32) -> bool {
    let name = std::fs::read_to_string(format!("/proc/{pid}/comm"));
    name.is_ok_and(|name| name.trim_end() == PROGRAM)
}

/// Whether the process runs the program `nats-server`.
#[cfg(all(unix, not(target_os = "linux")))]
fn is_nats_server(pid: u32) -> bool {
    let output =
        std::process::Command::new("ps").args(["-o", "comm=", "-p", &pid.to_string()]).output();
    output.is_ok_and(|output| {
        let name = String::from_utf8_lossy(&output.stdout);
        Path::new(name.trim()).file_name().is_some_and(|name| name == PROGRAM)
    })
}

#[cfg(unix)]
const PROGRAM: &str = "nats-server";

#[cfg(unix)]
fn send_hangup(pid: u32) -> Result<(), String> {
    use rustix::process::{Pid, Signal, kill_process};

    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw).ok_or("no process id")?;
    kill_process(pid, Signal::HUP).map_err(|error| error.to_string())
}

/// Windows has no signals.
#[cfg(not(unix))]
fn is_nats_server(_: u32) -> bool {
    false
}

#[cfg(not(unix))]
fn send_hangup(_: u32) -> Result<(), String> {
    Err("the system has no signals".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_processes_get_no_signal() {
        let dir = tempfile::tempdir().expect("a directory");
        let file = dir.path().join("nats-server.pid");
        let check = || {
            let expected = Reload::NotRunning { pid_file: Some(file.clone()) };
            assert_eq!(reload(Some(&file)), expected);
        };
        check();
        // SIGHUP would end this process. Other ids mean process groups.
        for text in [&std::process::id().to_string(), "0", "-1", "1", "4294967295", "", "x"] {
            std::fs::write(&file, text).expect("space");
            check();
        }
        assert_eq!(reload(None), Reload::NotRunning { pid_file: None });
    }
}
