//! The one fault of the engine.

/// Which check the engine shall fail.
pub(crate) struct Faults(String);

impl Faults {
    pub(crate) fn new(id: String) -> Self {
        Self(id)
    }

    /// Whether the rule of this check is to be broken.
    pub(crate) fn breaks(&self, id: &str) -> bool {
        self.0 == id
    }
}

/// Starts this program again, deaf to the signal that asks it to end: what a shell ignores, the
/// programs that it becomes ignore, too.
#[cfg(unix)]
pub(crate) fn ignore_requests_to_end() {
    use std::os::unix::process::CommandExt;

    let Ok(program) = std::env::current_exe() else { return };
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", "trap '' TERM; exec \"$0\" --deaf"]).arg(program);
    // It returns only if there is no shell.
    let _ = shell.exec();
}

/// Elsewhere there is no such signal.
#[cfg(not(unix))]
pub(crate) fn ignore_requests_to_end() {}
