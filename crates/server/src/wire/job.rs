//! Work on many games: a directory that is read, games that are reported on one after another.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::{EngineId, ErrorInfo, GameId, ReportSettings, ReportStatus};

/// A job, by its number in the library.
pub type JobId = u32;

/// All jobs, the latest first.
#[derive(Clone, Debug, Default, Serialize, TS)]
pub struct JobsState {
    /// The jobs.
    pub jobs: Vec<Job>,
}

/// Changes of the jobs.
#[derive(Clone, Debug, Default, Serialize, TS)]
pub struct JobsDelta {
    /// New or changed jobs, whole.
    pub changed: Vec<Job>,
    /// Jobs that are forgotten.
    pub removed: Vec<JobId>,
}

/// A job on many games. It survives a restart of the server, and can be resumed.
#[derive(Clone, Debug, PartialEq, Serialize, TS)]
pub struct Job {
    pub id: JobId,
    /// When it was asked for.
    pub added: u64,
    /// The directory whose files are read into the library first.
    pub directory: Option<String>,
    /// How the games are reported on; none if they are only read.
    pub settings: Option<ReportSettings>,
    /// Where it stands.
    pub status: ReportStatus,
    /// Files of the directory that are read.
    pub files_done: u32,
    /// Files of the directory; 0 until they are counted.
    pub files: u32,
    /// Number of games so far.
    pub games: u32,
    /// Games that are done with.
    pub done: u32,
    /// Those of them that could not be reported on.
    pub failed: u32,
    /// The game that is being reported on.
    pub current: Option<GameId>,
    /// What could not be read, and the games that failed, at most 20.
    pub errors: Vec<JobError>,
}

/// Something that went wrong in a job.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, TS)]
pub struct JobError {
    /// With what.
    pub of: JobErrorOf,
    pub why: ErrorInfo,
}

/// With what something went wrong in a job.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, TS)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum JobErrorOf {
    /// With a file, or with the directory.
    File { name: String },
    /// With a game.
    Game { game: GameId },
    /// With the engine.
    Engine { engine: EngineId },
}
