//! The guardian of engines: this program, started once more.

use std::io;
use std::process::Command;

use readyok_client::Guard;

use crate::exit::{Code, Failure};

/// The command that makes this program a guardian.
pub(crate) const VERB: &str = "guard";

/// Starts a guardian for the engines that this program is going to start.
#[cfg(target_os = "linux")]
pub(crate) fn start() -> io::Result<Guard> {
    // The file may have been replaced since this program was started, as by a build.
    let mut command = Command::new("/proc/self/exe");
    std::os::unix::process::CommandExt::arg0(&mut command, "readyok");
    command.arg(VERB);
    Guard::start(command)
}

/// Starts a guardian for the engines that this program is going to start.
#[cfg(not(target_os = "linux"))]
pub(crate) fn start() -> io::Result<Guard> {
    let mut command = Command::new(std::env::current_exe()?);
    command.arg(VERB);
    Guard::start(command)
}

/// Is a guardian.
pub(crate) fn serve() -> Result<Code, Failure> {
    Guard::serve().map(|()| Code::Done).map_err(Failure::failed)
}
