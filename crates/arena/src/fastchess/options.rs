//! Options about the host and the output, and the log file of `-log`.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use std::{fmt, io};

use flate2::Compression;
use flate2::write::GzEncoder;
use jiff::Timestamp;
use readyok_protocol::Party;
use regex::Regex;

use crate::export::PgnStyle;
use crate::game::LineObserver;

/// The options of a fastchess command line that are not part of the [`Plan`](crate::plan::Plan).
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "the flags of fastchess")]
pub struct Options {
    /// Number of parallel games; 0 and below are relative to the number of CPUs.
    pub concurrency: i64,
    /// Permit more parallel games than CPUs.
    pub force_concurrency: bool,
    /// The CPUs that engines are pinned to: none without the option, all if the list is empty.
    pub affinity: Option<Vec<u32>>,
    /// Restart engines that crash or hang.
    pub recover: bool,
    /// Do not reverse the colors in the second game of a pair.
    pub noswap: bool,
    /// Reverse all colors.
    pub reverse: bool,
    /// Pause between games.
    pub wait: Duration,
    /// Timeout of the handshake.
    pub startup: Duration,
    /// Timeout of `ucinewgame`.
    pub new_game: Duration,
    /// Timeout of `isready`.
    pub ping: Option<Duration>,
    /// The PGN file.
    pub pgn: Option<PgnOut>,
    /// The EPD file with final positions.
    pub epd: Option<EpdOut>,
    /// Number of pairs between two reports (games if they count alone); none is never.
    pub rating_interval: Option<u32>,
    /// Number of games between two scores in the cutechess format; none is never.
    pub score_interval: Option<u32>,
    /// The output format.
    pub output: OutputFormat,
    /// Pentanomial statistics: count pairs instead of games.
    pub penta: bool,
    /// Pentanomial statistics are disabled because the Bayesian model does not support them.
    pub bayesian_instead: bool,
    /// The log file.
    pub log: Option<Log>,
    /// The results file and the match to resume.
    pub resume: Resume,
    /// End the match at the first warning.
    pub strict: bool,
    /// Print each warning on one line.
    pub test_env: bool,
    /// Check that PVs of mate scores end with mate.
    pub check_mate_pvs: bool,
    /// Print the checksum of the PGN file.
    pub crc32: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            concurrency: 1,
            force_concurrency: false,
            affinity: None,
            recover: false,
            noswap: false,
            reverse: false,
            wait: Duration::ZERO,
            startup: Duration::from_secs(10),
            new_game: Duration::from_mins(1),
            ping: None,
            pgn: None,
            epd: None,
            rating_interval: Some(10),
            score_interval: Some(1),
            output: OutputFormat::Fastchess,
            penta: true,
            bayesian_instead: false,
            log: None,
            resume: Resume::default(),
            strict: false,
            test_env: false,
            check_mate_pvs: false,
            crc32: false,
        }
    }
}

/// The output format.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OutputFormat {
    /// The format of fastchess.
    #[default]
    Fastchess,
    /// The format of cutechess-cli.
    Cutechess,
}

/// The PGN file and its style.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PgnOut {
    /// The path; the default contains the time.
    pub file: Option<PathBuf>,
    /// Append to an existing file.
    pub append: bool,
    /// The style of the games.
    pub style: PgnStyle,
    /// Include engine lines that match one of these regular expressions.
    pub match_lines: Vec<String>,
}

impl PgnOut {
    /// The expressions of [`PgnOut::match_lines`]. Invalid ones are ignored.
    pub fn patterns(&self) -> Vec<Regex> {
        self.match_lines.iter().filter_map(|text| Regex::new(text).ok()).collect()
    }
}

/// The EPD file with final positions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EpdOut {
    /// The path; the default contains the time.
    pub file: Option<PathBuf>,
    /// Append to an existing file.
    pub append: bool,
}

/// The options of `-config`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resume {
    /// The results file to resume.
    pub file: Option<PathBuf>,
    /// The name of the results file.
    pub outname: PathBuf,
    /// The new number of rounds, if the command line has one.
    pub rounds: Option<u32>,
    /// Ignore `file`.
    pub discard: bool,
    /// Count the stored results.
    pub stats: bool,
    /// Accepted for compatibility: results are always stored.
    pub autosave: Option<u32>,
}

impl Resume {
    /// The results file to resume, unless discarded.
    pub fn used(&self) -> Option<&Path> {
        self.file.as_deref().filter(|_| !self.discard)
    }
}

impl Default for Resume {
    fn default() -> Self {
        Self {
            file: None,
            rounds: None,
            outname: PathBuf::from("config.json"),
            discard: false,
            stats: true,
            autosave: Some(20),
        }
    }
}

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

    /// Logs a message.
    pub fn log(&self, level: Level, text: &str) {
        if self.level <= level {
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
