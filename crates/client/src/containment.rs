//! Containment: how the descendants of an engine are found and terminated.

use std::process::{Child, Command};

use crate::process::Streams;

/// How the descendants of an engine are terminated together with it. [`Guard`](crate::Guard) documents which one is
/// used.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Containment {
    /// The process alone; its descendants survive. Systems that are neither Unix nor Linux.
    Process,
    /// The process group. Descendants that leave the group survive.
    Group,
    /// A supervisor process for each engine adopts all descendants that lose their parent, and
    /// terminates them (Linux 5.3 and later).
    Supervisor,
    /// A control group (version 2) for each engine (Linux 5.14 and later, if the program may create control groups
    /// below its own).
    ControlGroup,
}

/// A process that was just started.
#[derive(Debug)]
pub(crate) struct Launched {
    /// The child of this program: the engine, or its supervisor.
    pub(crate) child: Child,
    /// The process ID of the engine, which is also that of its group.
    pub(crate) id: u32,
    pub(crate) scope: Scope,
    pub(crate) streams: Streams,
}

/// The recipient of a signal for an engine and its descendants.
#[derive(Debug)]
pub(crate) enum Scope {
    /// The group of the engine, or the engine itself on systems without groups.
    Group,
    #[cfg(target_os = "linux")]
    ControlGroup(crate::guard::ControlGroup),
    #[cfg(target_os = "linux")]
    Supervisor(crate::guard::Supervisor),
}

/// The destination of an engine's error output.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum ErrorOutput {
    Piped,
    /// The error output of this program.
    Inherited,
}

impl Launched {
    /// Starts a command as a child of this program, in a group of its own.
    pub(crate) fn directly(command: &mut Command) -> std::io::Result<Self> {
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(command, 0);
        let mut child = command.spawn()?;
        let streams = Streams {
            stdin: child.stdin.take(),
            stdout: child.stdout.take(),
            stderr: child.stderr.take(),
        };
        Ok(Self { id: child.id(), child, scope: Scope::Group, streams })
    }
}
