//! The file of `-log`: what is printed, what is worth telling beside it, and on wish everything that
//! engines are told and say.
//!
//! ```text
//! [INFO  ] [12:00:00.000001] <                    > fastchess --- Started game 1 of 2 (new vs base)
//! [Engine] [12:00:00.000002] <            worker-0> new <--- go movetime 100
//! ```

use std::fmt;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use flate2::Compression;
use flate2::write::GzEncoder;
use jiff::Timestamp;
use readyok_protocol::Party;

use super::options::Log;
use crate::game::LineObserver;

/// How much a message matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Each step.
    Trace,
    /// What happens.
    Info,
    /// What should not.
    Warn,
    /// What goes wrong.
    Err,
    /// What ends the program.
    Fatal,
}

/// A log that several threads write to. When its file takes no more, the rest is left out.
#[derive(Clone)]
pub struct Logger {
    least: Level,
    engines: bool,
    out: Arc<Mutex<Box<dyn Write + Send>>>,
}

impl Logger {
    /// Opens the file that the options name; none if they name none. Times in it are of UTC.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn open(log: &Log) -> io::Result<Option<Self>> {
        let Some(path) = &log.file else { return Ok(None) };
        let out: Box<dyn Write + Send> = if log.compress {
            let mut name = path.clone().into_os_string();
            name.push(Timestamp::now().strftime("%Y-%m-%dT.%H.%M.%S.gz").to_string());
            let file = File::create(PathBuf::from(name))?;
            Box::new(GzEncoder::new(file, Compression::fast()))
        } else {
            let mut file = OpenOptions::new();
            file.create(true).write(true).append(log.append).truncate(!log.append);
            Box::new(file.open(path)?)
        };
        let least = match log.level.as_str() {
            "trace" => Level::Trace,
            "info" => Level::Info,
            "err" => Level::Err,
            "fatal" => Level::Fatal,
            _ => Level::Warn,
        };
        Ok(Some(Self { least, engines: log.engine, out: Arc::new(Mutex::new(out)) }))
    }

    /// Whether messages of this level are written.
    pub fn takes(&self, level: Level) -> bool {
        self.least <= level
    }

    /// Writes a message, if it matters enough.
    pub fn tell(&self, level: Level, text: &str) {
        if self.takes(level) {
            self.line(level.label(), "", &format!("fastchess --- {text}"));
        }
    }

    /// What writes everything that engines are told and say, if the options want that.
    pub fn line_observer(&self) -> Option<LineObserver> {
        let log = self.clone();
        let hear = move |engine: &str, side, line: &str| {
            let arrow = match side {
                Party::Client => "<---",
                Party::Engine => "--->",
            };
            let thread = thread::current();
            log.line("Engine", thread.name().unwrap_or(""), &format!("{engine} {arrow} {line}"));
        };
        self.engines.then(|| Arc::new(hear) as LineObserver)
    }

    fn line(&self, label: &str, thread: &str, text: &str) {
        let time = Timestamp::now().strftime("%H:%M:%S.%6f").to_string();
        let mut out = self.out.lock().unwrap_or_else(PoisonError::into_inner);
        // A match does not end because of its log.
        let _ = writeln!(out, "[{label:<6}] [{time:>15}] <{thread:>20}> {text}");
    }
}

impl Level {
    fn label(self) -> &'static str {
        match self {
            Self::Trace => "TRACE",
            Self::Info => "INFO",
            Self::Warn => "WARN",
            Self::Err => "ERR",
            Self::Fatal => "FATAL",
        }
    }
}

impl fmt::Debug for Logger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Logger").field("least", &self.least).finish_non_exhaustive()
    }
}
