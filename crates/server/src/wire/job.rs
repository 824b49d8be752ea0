//! Work on many games: a folder that is read, games that are reported on one after another.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::{EngineId, Failure, GameId, ReportSettings, ReportStatus};

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

/// Work on many games. It outlives the server, and goes on where it stood when it is resumed.
#[derive(Clone, Debug, PartialEq, Serialize, TS)]
pub struct Job {
    /// Its number.
    pub id: JobId,
    /// When it was asked for.
    pub added: u64,
    /// The folder whose files are read into the library first.
    pub folder: Option<String>,
    /// How the games are reported on; none if they are only read.
    pub settings: Option<ReportSettings>,
    /// Where it stands.
    pub status: ReportStatus,
    /// Files of the folder that are read.
    pub files_done: u32,
    /// Files of the folder; 0 until they are counted.
    pub files: u32,
    /// Games of the job, as far as they are known.
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
    /// What.
    pub why: Failure,
}

/// With what something went wrong in a job.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, TS)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum JobErrorOf {
    /// With a file, or with the folder.
    File {
        /// Its name.
        name: String,
    },
    /// With a game.
    Game {
        /// Which.
        game: GameId,
    },
    /// With the engine.
    Engine {
        /// Which.
        engine: EngineId,
    },
}
