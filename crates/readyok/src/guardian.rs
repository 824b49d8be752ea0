//! The guardian of engines and their supervisors: this program, started once more.

use std::process::Command;
use std::{env, io};

use readyok_client::{Containment, Guard};

use crate::exit::{Code, Failure};

/// The command that makes this program a guardian.
pub(crate) const VERB: &str = "guard";
/// The variable with the way to contain engines, for systems where the best one does not work.
const CONTAINMENT: &str = "READYOK_CONTAINMENT";

/// Starts a guardian for the engines that this program is going to start.
pub(crate) fn start() -> io::Result<Guard> {
    let mut command = program()?;
    command.arg(VERB);
    let Some(way) = env::var_os(CONTAINMENT) else { return Guard::start(command) };
    let containment = match way.to_str() {
        Some("control-group") => Containment::ControlGroup,
        Some("supervisor") => Containment::Supervisor,
        Some("group") => Containment::Group,
        _ => {
            let text = format!(
                "{CONTAINMENT} is `{}`, which is none of `control-group`, `supervisor`, `group`",
                way.display()
            );
            return Err(io::Error::new(io::ErrorKind::InvalidInput, text));
        }
    };
    let failed = |error: io::Error| {
        let text = format!("{CONTAINMENT} is `{}`, which is not possible: {error}", way.display());
        io::Error::new(error.kind(), text)
    };
    Guard::start_with(command, containment).map_err(failed)
}

#[cfg(target_os = "linux")]
#[expect(clippy::unnecessary_wraps, reason = "other systems have to look for the file")]
fn program() -> io::Result<Command> {
    // The file may have been replaced since this program was started, as by a build.
    let mut command = Command::new("/proc/self/exe");
    std::os::unix::process::CommandExt::arg0(&mut command, "readyok");
    Ok(command)
}

#[cfg(not(target_os = "linux"))]
fn program() -> io::Result<Command> {
    env::current_exe().map(Command::new)
}

/// Does the work of a guardian, or that of the supervisor of an engine.
pub(crate) fn serve() -> Result<Code, Failure> {
    Guard::serve().map(|()| Code::Done).map_err(Failure::failed)
}
