//! The library of games, and jobs on many games.

use readyok_rules::Termination;
use serde::{Deserialize, Serialize};
#[cfg(test)]
use ts_rs::TS;

use super::{EngineId, ErrorInfo, GameId, ReportSettings, ReportStatus, Sides, Variant};

/// The query of `POST /api/library/search`. A game must match all fields.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[cfg_attr(test, derive(TS))]
#[serde(default)]
pub struct LibraryQuery {
    pub variant: Option<Variant>,
    /// Part of the name of a player of either side.
    pub player: Option<String>,
    /// Part of the name of an engine that played. Records that do not state which player was an engine match by any name.
    pub engine: Option<String>,
    /// `1-0`, `0-1`, `1/2-1/2` or `*`.
    pub result: Option<String>,
    /// The first moves from the start position, in any notation: `e2e4`, `e4 c5`, `▲７六歩`.
    pub opening: Option<String>,
    /// Part of the name of the opening, or its ECO code.
    pub named: Option<String>,
    /// A position of the game, in FEN or SFEN; move numbers are ignored.
    pub position: Option<String>,
    /// The first day, `2026-11-21`.
    pub from: Option<String>,
    /// The last day.
    pub until: Option<String>,
    /// Number of games to skip.
    pub offset: u32,
    /// Maximum number of games, 1 to 200; 50 by default.
    pub limit: Option<u32>,
}

/// A page of the found games, the latest first.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct LibraryPage {
    pub games: Vec<LibraryGame>,
    /// The number of all found games.
    pub total: u32,
}

/// A game of the library.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct LibraryGame {
    pub id: GameId,
    pub variant: Variant,
    pub names: Sides<String>,
    /// `1-0`, `0-1`, `1/2-1/2` or `*`.
    pub result: String,
    pub termination: Option<Termination>,
    /// As in the record.
    pub date: Option<String>,
    pub event: Option<String>,
    /// The number of moves of the main line.
    pub plies: u32,
    pub added: u64,
    /// `play`, `import` or `match`.
    pub source: String,
}

#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[cfg_attr(test, derive(TS))]
#[serde(rename_all = "snake_case")]
pub enum RecordFormat {
    /// PGN (chess).
    Pgn,
    /// The current position as FEN or SFEN.
    Position,
    /// The positions of the main line as EPD (chess) or SFEN lines.
    Epd,
    /// KIF (shogi).
    Kif,
    /// KI2 (shogi).
    Ki2,
    /// CSA (shogi).
    Csa,
    /// JKF (shogi).
    Jkf,
    /// A `position …` line of UCI or USI.
    Line,
}

/// The result of an import. `POST /api/import?name=…` with the file or text as the body.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct Imported {
    /// The first 1000 of the imported games.
    pub games: Vec<LibraryGame>,
    /// The number of imported games.
    pub total: u32,
    /// The number of the first game, if it was opened (`&open=true`).
    pub opened: Option<GameId>,
    /// Errors with line and column, at most 100.
    pub errors: Vec<ErrorInfo>,
    /// Warnings with line and column, at most 100.
    pub warnings: Vec<ErrorInfo>,
}

/// The number of a job.
pub type JobId = u32;

/// All jobs, the latest first.
#[derive(Clone, Debug, Default, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct JobsState {
    pub jobs: Vec<Job>,
}

/// Changes of the jobs.
#[derive(Clone, Debug, Default, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct JobsDelta {
    /// New or changed jobs, with their complete states.
    pub changed: Vec<Job>,
    /// Deleted jobs.
    pub removed: Vec<JobId>,
}

/// A job on many games. It can be resumed after a restart of the server.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct Job {
    pub id: JobId,
    pub added: u64,
    /// The directory that is imported first.
    pub directory: Option<String>,
    /// None if the games are only imported.
    pub settings: Option<ReportSettings>,
    pub status: ReportStatus,
    /// The number of imported files.
    pub files_done: u32,
    /// The number of files; 0 until they are counted.
    pub files: u32,
    /// The number of imported games.
    pub games: u32,
    /// The number of finished reports.
    pub done: u32,
    /// The number of failed reports.
    pub failed: u32,
    /// The game of the running report.
    pub current: Option<GameId>,
    /// Unreadable files and failed games, at most 20.
    pub errors: Vec<JobError>,
}

/// An error of a job.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct JobError {
    pub of: JobErrorOf,
    pub why: ErrorInfo,
}

/// The object of an error of a job.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[cfg_attr(test, derive(TS))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum JobErrorOf {
    /// A file, or the directory.
    File {
        name: String,
    },
    Game {
        game: GameId,
    },
    Engine {
        engine: EngineId,
    },
}
