//! What a command line says about the machine and the output.

use std::path::{Path, PathBuf};
use std::time::Duration;

use regex::Regex;

/// What a command line of fastchess says beside the [`Plan`](crate::plan::Plan).
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "as many flags as fastchess has")]
pub struct Options {
    /// How many games run at once. 0 and less is the number of CPUs minus so many.
    pub concurrency: i64,
    /// More games at once than there are CPUs are meant.
    pub force_concurrency: bool,
    /// The CPUs that engines are bound to: none without the option, all if the list is empty.
    pub affinity: Option<Vec<u32>>,
    /// An engine that crashes or stalls is started again.
    pub recover: bool,
    /// Colours are not reversed in the second game of a pair.
    pub noswap: bool,
    /// All colours are reversed.
    pub reverse: bool,
    /// The pause between games.
    pub wait: Duration,
    /// How long an engine may take to start.
    pub startup: Duration,
    /// How long it may take for a new game.
    pub new_game: Duration,
    /// How long it may take to answer `isready`.
    pub ping: Duration,
    /// The games as PGN.
    pub pgn: Option<PgnOut>,
    /// The last positions as EPD.
    pub epd: Option<EpdOut>,
    /// After how many pairs (games without pairs) a report is printed; none is never.
    pub rating_interval: Option<u32>,
    /// After how many games the score is printed, in the form of cutechess; none is never.
    pub score_interval: Option<u32>,
    /// The form of what is printed.
    pub output: OutputFormat,
    /// Pairs are counted, not games.
    pub penta: bool,
    /// Pairs would be counted, but for a test that knows none.
    pub bayesian_instead: bool,
    /// The log file.
    pub log: Option<Log>,
    /// Where the state is kept, and which one is gone on with.
    pub resume: Resume,
    /// How long answers take on the way is printed.
    pub show_latency: bool,
    /// A warning ends the match.
    pub strict: bool,
    /// Warnings stand on one line.
    pub test_env: bool,
    /// Lines that lead to mate are checked to their end.
    pub check_mate_pvs: bool,
    /// The checksum of the PGN file is printed.
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
            ping: Duration::from_mins(1),
            pgn: None,
            epd: None,
            rating_interval: Some(10),
            score_interval: Some(1),
            output: OutputFormat::Fastchess,
            penta: true,
            bayesian_instead: false,
            log: None,
            resume: Resume::default(),
            show_latency: false,
            strict: false,
            test_env: false,
            check_mate_pvs: false,
            crc32: false,
        }
    }
}

/// The form of what is printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OutputFormat {
    /// That of fastchess.
    #[default]
    Fastchess,
    /// That of cutechess-cli.
    Cutechess,
}

/// How games are written as PGN.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "as many flags as fastchess has")]
pub struct PgnOut {
    /// The file; none has a name made of the time.
    pub file: Option<PathBuf>,
    /// What the file holds is kept.
    pub append: bool,
    /// How moves are written.
    pub notation: PgnNotation,
    /// Comments tell nodes.
    pub nodes: bool,
    /// Comments tell the selective depth.
    pub seldepth: bool,
    /// Comments tell nodes per second.
    pub nps: bool,
    /// Comments tell the fullness of the hash.
    pub hashfull: bool,
    /// Comments tell hits in tablebases.
    pub tbhits: bool,
    /// Comments tell the time on the clock.
    pub timeleft: bool,
    /// Comments tell the time that answers took on the way.
    pub latency: bool,
    /// Comments tell the main variation.
    pub pv: bool,
    /// There are no comments and only the most important tags.
    pub min: bool,
    /// Lines of the engines that fit these expressions are told in comments.
    pub match_lines: Vec<String>,
}

impl PgnOut {
    /// The expressions of [`PgnOut::match_lines`]. One that is none fits nothing.
    pub fn patterns(&self) -> Vec<Regex> {
        self.match_lines.iter().filter_map(|text| Regex::new(text).ok()).collect()
    }
}

/// How moves are written in PGN.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PgnNotation {
    /// Standard algebraic.
    #[default]
    San,
    /// Long algebraic.
    Lan,
    /// As the protocol has them.
    Uci,
}

/// How last positions are written as EPD.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EpdOut {
    /// The file; none has a name made of the time.
    pub file: Option<PathBuf>,
    /// What the file holds is kept.
    pub append: bool,
}

/// The log file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "as many flags as fastchess has")]
pub struct Log {
    /// The file.
    pub file: Option<PathBuf>,
    /// What is written: `trace`, `info`, `warn`, `err` or `fatal` and what is worse.
    pub level: String,
    /// What the file holds is kept.
    pub append: bool,
    /// It is compressed with gzip.
    pub compress: bool,
    /// Each line is written at once.
    pub realtime: bool,
    /// What engines and runner say to each other is written as well.
    pub engine: bool,
}

/// Where the state is kept, and which one is gone on with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resume {
    /// The state to go on with.
    pub file: Option<PathBuf>,
    /// Where the state is kept.
    pub outname: PathBuf,
    /// How many rounds the match is to have from now on, if the command line says so.
    pub rounds: Option<u32>,
    /// The state is only named, not used.
    pub discard: bool,
    /// The results in it count.
    pub stats: bool,
    /// After how many games it is saved; none is only at the end.
    pub autosave: Option<u32>,
}

impl Resume {
    /// The state that the match goes on with.
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
