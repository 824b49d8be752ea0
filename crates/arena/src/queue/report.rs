//! Reports of workers to the coordinator.

use std::{error, fmt};

use readyok_rules::Side;
use serde::{Deserialize, Serialize};

use super::QueueError;
use crate::export::Records;
use crate::pairing::{Opening, PairResult, WorkerId};
use crate::plan::EngineId;
use crate::result::{EngineInfo, GameEnd, MatchGame, MoveRecord, Warning, WarningKind};
use crate::store::ContentHash;

/// A message to the coordinator.
#[derive(Clone, Debug, PartialEq)]
pub enum Report {
    /// A worker has joined.
    Joined(WorkerId),
    /// A worker has left. Its jobs are reported separately.
    Left(WorkerId),
    /// Progress of a pairing.
    Progress {
        /// The worker.
        worker: WorkerId,
        /// The index of the pairing.
        index: u64,
        /// The progress.
        progress: Progress,
    },
    /// A pairing was played.
    Done {
        /// The worker.
        worker: WorkerId,
        /// The result.
        result: Box<PairResult>,
        /// Its game records, if the worker has created them.
        records: Option<Records>,
    },
    /// A lease has ended without a result, or a job was withdrawn.
    Returned {
        /// The index of the pairing.
        index: u64,
        /// The reason.
        why: ReturnReason,
    },
    /// A worker rejects the match.
    Rejected {
        /// The worker.
        worker: WorkerId,
        /// The reason.
        why: Rejection,
    },
    /// For some time, all workers have rejected the match.
    AllRejected(Vec<(WorkerId, Rejection)>),
    /// The match was interrupted by the user.
    Interrupted,
    /// The queue has failed.
    QueueFailed(QueueError),
}

/// The reason why a lease has ended without a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReturnReason {
    /// The job was given back or lost, and is in the queue again.
    Requeued,
    /// The match was stopped.
    Withdrawn,
    /// The job was lost [`DELIVERIES`](super::DELIVERIES) times.
    TooManyDeliveries,
    /// The pairing cannot be played, for this reason.
    Failed(String),
}

/// Progress of a pairing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Progress {
    /// A game starts.
    GameStart {
        /// The number of the game in its pairing, counted from 0.
        game: u32,
    },
    /// A move was played. Reported only if the match requests it.
    Move {
        /// The number of the game.
        game: u32,
        /// Plies since the opening before the move.
        ply: u32,
        /// The move.
        played: Box<MoveRecord>,
    },
    /// A game is over.
    GameEnd {
        /// The number of the game.
        game: u32,
        /// The winner; `None` for a draw.
        winner: Option<Side>,
        /// The reason.
        #[serde(rename = "termination")]
        end: GameEnd,
        /// The number of plies since the opening.
        plies: u32,
        /// The duration in milliseconds.
        duration_ms: u64,
        /// Names and settings of both engines.
        #[serde(default)]
        engines: Box<[EngineInfo; 2]>,
    },
    /// All games of the pairing are replayed: the process was suspended during a game.
    Replay,
    /// An engine behaved unexpectedly, without effect on the result.
    Warning {
        /// The number of the game.
        game: u32,
        /// The engine.
        engine: EngineId,
        /// The description.
        text: String,
        /// Details for bug reports.
        #[serde(default)]
        context: Option<Box<WarningContext>>,
    },
}

/// The context of a warning about an engine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WarningContext {
    /// The kind of warning.
    pub kind: WarningKind,
    /// The output line of the engine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<String>,
    /// The position of the opening, as FEN or SFEN; `None` is the start position.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub position: Option<String>,
    /// All moves before the warning.
    pub moves: Vec<String>,
    /// The move played, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub played: Option<String>,
}

impl WarningContext {
    /// The context of a warning of a game.
    pub fn of(opening: &Opening, game: &MatchGame, warning: &Warning) -> Self {
        let ply = usize::try_from(warning.ply).unwrap_or(usize::MAX);
        let made = game.moves.iter().take(ply).map(|made| made.mv.to_string());
        Self {
            kind: warning.kind.clone(),
            line: warning.line.clone(),
            position: opening.position.clone(),
            moves: opening.moves.iter().cloned().chain(made).collect(),
            played: game.moves.get(ply).map(|made| made.mv.to_string()),
        }
    }
}

/// The reason why a worker rejects a match.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Rejection {
    /// The match specification has no content hash of a program.
    UnknownContent {
        /// The command in the plan.
        command: String,
    },
    /// A program is not allowed.
    NotAllowed {
        /// The command in the plan.
        command: String,
        /// The content hash.
        content: ContentHash,
    },
    /// Environment variables are not allowed, since they can make a program run another one.
    Environment {
        /// The command in the plan.
        command: String,
    },
    /// The arguments of a program are not allowed.
    Arguments {
        /// The command in the plan.
        command: String,
        /// The arguments.
        args: Vec<String>,
    },
    /// The value of an option could be the path of a file.
    Option {
        /// The name of the engine in the plan.
        engine: String,
        /// The name of the option.
        option: String,
    },
    /// A program or a file could not be downloaded.
    NotFetched {
        /// The reason.
        why: String,
    },
    /// A resource other than the engines is missing on the worker's host.
    MissingResource {
        /// The reason.
        why: String,
    },
    /// An engine does not work on the worker's host.
    Engine(NoStart),
}

/// An engine that does not work on a host.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NoStart {
    /// The name of the engine in the plan.
    pub engine: String,
    /// The reason, as a predicate: `does not start (no such file)`.
    pub why: String,
}

impl fmt::Display for Rejection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownContent { command } => {
                write!(f, "it has no content hash of the program `{command}`")
            }
            Self::NotAllowed { command, content } => {
                write!(f, "the program `{command}` with the content {content} is not allowed here")
            }
            Self::Environment { command } => {
                write!(f, "an environment for the program `{command}` is not allowed here")
            }
            Self::Arguments { command, args } => {
                let args = args.join(" ");
                write!(f, "the program `{command}` with the arguments `{args}` is not allowed here")
            }
            Self::Option { engine, option } => {
                write!(
                    f,
                    "the option `{option}` of the engine `{engine}` could be a path, which is not allowed here"
                )
            }
            Self::NotFetched { why } | Self::MissingResource { why } => f.write_str(why),
            Self::Engine(no_start) => no_start.fmt(f),
        }
    }
}

impl fmt::Display for NoStart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the engine `{}` {}", self.engine, self.why)
    }
}

impl error::Error for Rejection {}

impl From<NoStart> for Rejection {
    fn from(no_start: NoStart) -> Self {
        Self::Engine(no_start)
    }
}
