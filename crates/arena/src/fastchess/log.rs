//! The log file of `-log`: messages of the runner, and with `engine=true` all engine input and output.
//!
//! ```text
//! 2026-01-31T12:00:00.000001Z INFO Started game 1 of 2 (new vs base)
//! 2026-01-31T12:00:00.000002Z ENGINE new <--- go movetime 100
//! ```

use std::fmt;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use flate2::Compression;
use flate2::write::GzEncoder;
use jiff::Timestamp;
use readyok_protocol::Party;

use crate::game::LineObserver;

/// The log file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Log {
    /// The path; none disables the log.
    pub file: Option<PathBuf>,
    /// The minimum level of messages.
    pub level: Level,
    /// Append to an existing file.
    pub append: bool,
    /// Compress the log with gzip and append `.gz` to the path.
    pub compress: bool,
    /// Log all engine input and output.
    pub engine: bool,
}

/// The level of a message, in increasing order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Details.
    Trace,
    /// Progress.
    Info,
    /// Warnings.
    #[default]
    Warn,
    /// Errors.
    Err,
    /// Errors that end the match.
    Fatal,
}

/// A log that several threads write to. Write errors are ignored.
#[derive(Clone)]
pub struct Logger {
    level: Level,
    engine: bool,
    out: Arc<Mutex<Box<dyn Write + Send>>>,
}

impl Logger {
    /// Opens the log; none if it has no path.
    ///
    /// # Errors
    /// The file cannot be opened.
    pub fn open(log: &Log) -> io::Result<Option<Self>> {
        let Some(path) = &log.file else { return Ok(None) };
        let out: Box<dyn Write + Send> = if log.compress {
            let mut path = path.clone().into_os_string();
            path.push(".gz");
            Box::new(GzEncoder::new(File::create(path)?, Compression::fast()))
        } else {
            let mut file = OpenOptions::new();
            file.create(true).write(true).append(log.append).truncate(!log.append);
            Box::new(file.open(path)?)
        };
        let out = Arc::new(Mutex::new(out));
        Ok(Some(Self { level: log.level, engine: log.engine, out }))
    }

    /// Whether messages of this level are logged.
    pub fn is_enabled(&self, level: Level) -> bool {
        self.level <= level
    }

    /// Logs a message.
    pub fn log(&self, level: Level, text: &str) {
        if self.is_enabled(level) {
            self.write(&format!("{level:?}").to_uppercase(), text);
        }
    }

    /// The function that logs engine input and output, if enabled.
    pub fn line_observer(&self) -> Option<LineObserver> {
        let log = self.clone();
        let on_line = move |engine: &str, party, line: &str| {
            let arrow = match party {
                Party::Client => "<---",
                Party::Engine => "--->",
            };
            log.write("ENGINE", &format!("{engine} {arrow} {line}"));
        };
        self.engine.then(|| Arc::new(on_line) as LineObserver)
    }

    fn write(&self, label: &str, text: &str) {
        let time = Timestamp::now();
        let mut out = self.out.lock().unwrap_or_else(PoisonError::into_inner);
        // A failed log must not end the match.
        let _ = writeln!(out, "{time:.6} {label} {text}");
    }
}

impl fmt::Debug for Logger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Logger").field("level", &self.level).finish_non_exhaustive()
    }
}
