//! The one fault of the engine.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fs::{File, OpenOptions};
use std::io::Write as _;

/// Which check the engine shall fail.
pub(crate) struct Faults {
    id: String,
    trace: Option<Trace>,
}

/// Keeps which switches were looked at, in conversations with which check: where a switch is not
/// looked at, an engine with this fault is the one without.
struct Trace {
    file: RefCell<File>,
    check: String,
    told: RefCell<BTreeSet<String>>,
}

impl Faults {
    /// The switch of this check, and a file for what is looked at.
    pub(crate) fn new(id: String, trace: Option<&str>) -> Self {
        let trace = trace.and_then(|path| {
            let file = OpenOptions::new().append(true).create(true).open(path).ok()?;
            let check = std::env::var("READYOK_CHECK").unwrap_or_default();
            Some(Trace { file: file.into(), check, told: RefCell::default() })
        });
        Self { id, trace }
    }

    /// Whether the rule of this check is to be broken.
    pub(crate) fn breaks(&self, id: &str) -> bool {
        if let Some(trace) = &self.trace
            && trace.told.borrow_mut().insert(id.to_owned())
        {
            let line = format!("{} {id}\n", trace.check);
            // A trace that cannot be written is missed where it is read.
            let _ = trace.file.borrow_mut().write_all(line.as_bytes());
        }
        self.id == id
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

/// Takes one processor for a while.
#[expect(clippy::disallowed_methods, reason = "it keeps time as engines do")]
pub(crate) fn be_busy() {
    static BUSY: std::sync::Once = std::sync::Once::new();
    BUSY.call_once(|| {
        std::thread::spawn(|| {
            let until = std::time::Instant::now() + std::time::Duration::from_secs(20);
            while std::time::Instant::now() < until {
                std::hint::spin_loop();
            }
        });
    });
}
