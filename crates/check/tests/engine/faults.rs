//! The optional faults of the engine.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::path::Path;

/// The checks that the engine fails.
pub(crate) struct Faults {
    ids: Vec<String>,
    trace: Option<Trace>,
}

/// Records which switches were evaluated by which check. If a switch is not evaluated, the fault has no
/// effect.
struct Trace {
    file: RefCell<File>,
    check: String,
    recorded: RefCell<BTreeSet<String>>,
}

impl Faults {
    /// The switches of these checks, and a directory for traces of evaluated switches.
    pub(crate) fn new(ids: Vec<String>, trace: Option<&str>) -> Self {
        let trace = trace.and_then(|directory| {
            // One file for each process, because Windows does not append lines atomically.
            let path = Path::new(directory).join(std::process::id().to_string());
            let file = OpenOptions::new().append(true).create(true).open(path).ok()?;
            let check = std::env::var("READYOK_CHECK").unwrap_or_default();
            Some(Trace { file: file.into(), check, recorded: RefCell::default() })
        });
        Self { ids, trace }
    }

    /// Whether the engine violates the rule of this check.
    pub(crate) fn breaks(&self, id: &str) -> bool {
        if let Some(trace) = &self.trace
            && trace.recorded.borrow_mut().insert(id.to_owned())
        {
            let line = format!("{} {id}\n", trace.check);
            // A missing trace fails the test.
            let _ = trace.file.borrow_mut().write_all(line.as_bytes());
        }
        self.ids.iter().any(|own| own == id)
    }
}

/// Restarts this executable with SIGTERM ignored, since processes inherit ignored signals from a shell.
#[cfg(unix)]
pub(crate) fn ignore_requests_to_end() {
    use std::os::unix::process::CommandExt;

    let Ok(program) = std::env::current_exe() else { return };
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", "trap '' TERM; exec \"$0\" --ignore-sigterm"]).arg(program);
    // `exec` returns only on failure.
    let _ = shell.exec();
}

/// Other systems have no SIGTERM.
#[cfg(not(unix))]
pub(crate) fn ignore_requests_to_end() {}

/// Uses one CPU core for a while.
#[expect(clippy::disallowed_methods, reason = "it keeps time as engines do")]
pub(crate) fn be_busy() {
    static BUSY: std::sync::Once = std::sync::Once::new();
    BUSY.call_once(|| {
        std::thread::spawn(|| {
            let until = std::time::Instant::now() + std::time::Duration::from_mins(2);
            while std::time::Instant::now() < until {
                std::hint::spin_loop();
            }
        });
    });
}
