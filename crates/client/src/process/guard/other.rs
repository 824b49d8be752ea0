//! Systems without process groups: a guard without effect.

use std::io;
use std::process::Command;

use super::{Containment, ErrorOutput, Launched};

/// Ensures that no engine outlives this program. No effect on this system.
#[derive(Clone, Debug)]
pub struct Guard(());

impl Guard {
    /// Starts nothing.
    ///
    /// # Errors
    /// None.
    pub fn start(_: Command) -> io::Result<Self> {
        Ok(Self(()))
    }

    /// Does nothing.
    ///
    /// # Errors
    /// None.
    pub fn serve() -> io::Result<()> {
        Ok(())
    }

    /// Starts nothing.
    ///
    /// # Errors
    /// The method is not available ([`Unsupported`](io::ErrorKind::Unsupported)).
    pub fn start_with(command: Command, containment: Containment) -> io::Result<Self> {
        match containment {
            Containment::Process => Self::start(command),
            Containment::Group | Containment::Supervisor | Containment::ControlGroup => {
                Err(io::ErrorKind::Unsupported.into())
            }
        }
    }

    /// The method of containment: none.
    pub fn containment(&self) -> Containment {
        Containment::Process
    }

    pub(crate) fn launch(&self, command: &mut Command, _: ErrorOutput) -> io::Result<Launched> {
        Launched::directly(command)
    }

    pub(crate) fn add(&self, _: u32) -> io::Result<()> {
        Ok(())
    }

    pub(crate) fn release(&self, _: u32) {}
}
