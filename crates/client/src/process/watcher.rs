//! Ends the process group of an engine with this program: a process in that group waits for the end of a pipe. It is a
//! shell, or with a guard the command of the guard.
//!
//! ```text
//!  program ── pipe: nothing … its end ──> watcher ── SIGKILL ──> its own group: engine, children, itself
//! ```
//! The system closes the pipe when the program ends, for any reason. While the watcher is a member of the group, the ID of
//! the group is not reused, so no other group is killed.

use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};

use rustix::process::{Signal, kill_current_process_group};

use super::guard::{Guard, WATCH, ignore_signals};

const SHELL: &str = "/bin/sh";
/// SIGTERM to the group, by which the client asks the engine to exit, must not end the shell.
const SCRIPT: &str = "trap '' HUP INT QUIT TERM TSTP; read -r line; kill -KILL 0";

/// The watcher of a group. It ends with the group, and must be reaped.
#[derive(Debug)]
pub(crate) struct Watcher(Child);

impl Watcher {
    /// Starts a process in a group. `None` if that is impossible: there is no shell, or the group has ended.
    pub(super) fn start(group: u32, guard: Option<&Guard>) -> Option<Self> {
        let mut command = guard.map_or_else(|| Command::new(SHELL), |guard| guard.command(WATCH));
        if guard.is_none() {
            command.args(["-c", SCRIPT]);
        }
        command.env_clear().current_dir("/");
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        command.process_group(i32::try_from(group).ok()?);
        command.spawn().ok().map(Self)
    }

    /// Runs the watcher of a guard.
    pub(super) fn serve() -> io::Result<()> {
        ignore_signals()?;
        // A failure is an end too.
        let _ = io::copy(&mut io::stdin(), &mut io::sink());
        Ok(kill_current_process_group(Signal::KILL)?)
    }

    pub(super) fn kill_and_reap(mut self) {
        // Fails only if it has ended.
        let _ = self.0.kill().and_then(|()| self.0.wait());
    }
}
