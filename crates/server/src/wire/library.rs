//! The library of games, and jobs on many games.

use readyok_rules::Termination;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::{EngineId, ErrorInfo, GameId, ReportSettings, ReportStatus, Sides, Variant};

/// What to look for. `POST /api/library/search`. Everything that is given must hold.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize, TS)]
#[serde(default)]
pub struct LibraryQuery {
    pub variant: Option<Variant>,
    /// Part of the name of a player of either side.
    pub player: Option<String>,
    /// Part of the name of an engine that played. Records that do not state which player was an engine match by any name.
    pub engine: Option<String>,
    /// `1-0`, `0-1`, `1/2-1/2` or `*`.
    pub result: Option<String>,
    /// Moves from the start position, in any notation: `e2e4`, `e4 c5`, `▲７六歩`.
    pub opening: Option<String>,
    /// Part of the name of the opening, or its ECO code.
    pub named: Option<String>,
    /// A position that the game passed through, in FEN or SFEN; move numbers do not matter.
    pub position: Option<String>,
    /// Not before this day, `2026-11-21`.
    pub from: Option<String>,
    /// Not after this day.
    pub until: Option<String>,
    /// Number of games to skip.
    pub offset: u32,
    /// Maximum number of games, 1 to 200; 50 by default.
    pub limit: Option<u32>,
}

/// What was found, the latest first.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize, TS)]
pub struct LibraryPage {
    /// The games.
    pub games: Vec<LibraryGame>,
    /// How many there are in all.
    pub total: u32,
}

/// A game of the library.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize, TS)]
pub struct LibraryGame {
    /// Its number, to open it by.
    pub id: GameId,
    pub variant: Variant,
    /// The players' names.
    pub names: Sides<String>,
    /// `1-0`, `0-1`, `1/2-1/2` or `*`.
    pub result: String,
    /// What ended the game, if known.
    pub termination: Option<Termination>,
    /// The day of the game as its record has it.
    pub date: Option<String>,
    /// The event.
    pub event: Option<String>,
    /// Moves of the main line.
    pub plies: u32,
    /// When it came into the library.
    pub added: u64,
    /// Where it is from: `play`, `import` or `match`.
    pub source: String,
}

/// A format of records.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize, TS)]
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
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize, TS)]
pub struct Imported {
    /// The games that were read, as entries of the library, at most the first 1000 of them.
    pub games: Vec<LibraryGame>,
    /// How many were read.
    pub total: u32,
    /// The first was opened under this number, if it was asked for (`&open=true`).
    pub opened: Option<GameId>,
    /// What could not be read, with line and column, at most 100.
    pub errors: Vec<ErrorInfo>,
    /// Warnings with line and column, at most 100.
    pub warnings: Vec<ErrorInfo>,
}

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
