//! Ends the process group of an engine with this program, for engines without a guard: a shell in that group waits for
//! the end of a pipe.
//!
//! ```text
//!  program ── pipe: nothing … its end ──> shell ── SIGKILL ──> its own group: engine, children, itself
//! ```
//! The system closes the pipe when the program ends, for any reason. While the shell is a member of the group, the ID of
//! the group is not reused, so no other group is killed.

use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};

const SHELL: &str = "/bin/sh";
/// SIGTERM to the group, by which the client asks the engine to exit, must not end the shell.
const SCRIPT: &str = "trap '' HUP INT QUIT TERM TSTP; read -r line; kill -KILL 0";

/// The shell. It ends with the group, and must be reaped.
#[derive(Debug)]
pub(super) struct Watcher(Child);

impl Watcher {
    /// Starts a shell in a group. `None` if that is impossible: there is no shell, or the group has ended.
    pub(super) fn start(group: u32) -> Option<Self> {
        let mut command = Command::new(SHELL);
        command.args(["-c", SCRIPT]).env_clear().current_dir("/");
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        command.process_group(i32::try_from(group).ok()?);
        command.spawn().ok().map(Self)
    }

    pub(super) fn kill_and_reap(mut self) {
        // Fails only if it has ended.
        let _ = self.0.kill().and_then(|()| self.0.wait());
    }
}
