//! What the coordinator is told.

use readyok_rules::Side;
use serde::{Deserialize, Serialize};

use super::{QueueError, Rejection};
use crate::export::Records;
use crate::pairing::{Opening, PairResult, WorkerId};
use crate::plan::EngineId;
use crate::result::{EngineInfo, GameEnd, MatchGame, MoveRecord, Warning, WarningKind};

/// Everything that can happen to a coordinator.
#[derive(Clone, Debug, PartialEq)]
pub enum Report {
    /// A worker is there.
    Joined(WorkerId),
    /// A worker has gone. What it held is reported apart.
    Left(WorkerId),
    /// A worker tells how its game goes.
    Progress {
        /// Who plays it.
        worker: WorkerId,
        /// Which pairing.
        index: u64,
        /// What there is to tell.
        progress: Progress,
    },
    /// A pairing was played.
    Done {
        /// By whom.
        worker: WorkerId,
        /// What came of it.
        result: Box<PairResult>,
        /// Its records, if the worker has written them.
        records: Option<Records>,
    },
    /// A lease has ended without a result, or a job was withdrawn.
    Returned {
        /// Which pairing.
        index: u64,
        /// What becomes of it.
        why: ReturnReason,
    },
    /// A worker does not play the match.
    Rejected {
        /// Who.
        worker: WorkerId,
        /// Why not.
        why: Rejection,
    },
    /// For some time nobody was there but workers that do not play the match.
    AllRejected(Vec<(WorkerId, Rejection)>),
    /// Somebody wants the match to end.
    Interrupted,
    /// The queue is out of order.
    QueueFailed(QueueError),
}

/// What becomes of a job whose lease has ended without a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReturnReason {
    /// It is in the queue again.
    Requeued,
    /// The match was stopped.
    Withdrawn,
    /// It has lost its worker too often and is not up any more.
    TooManyDeliveries,
    /// It cannot be played, since this is wrong with it.
    Failed(String),
}

/// How a pairing goes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Progress {
    /// A game starts.
    GameStart {
        /// Which of the pairing, counted from 0.
        game: u32,
    },
    /// A move was played. Reported only if the match requests it.
    Move {
        /// In which game.
        game: u32,
        /// Which move after the opening, counted from 0.
        ply: u32,
        /// The move.
        played: Box<MoveRecord>,
    },
    /// A game is over.
    GameEnd {
        /// Which.
        game: u32,
        /// The winner; none is a draw.
        winner: Option<Side>,
        /// What ended it.
        #[serde(rename = "termination")]
        end: GameEnd,
        /// How many moves the engines played.
        plies: u32,
        /// How long it took, in milliseconds.
        duration_ms: u64,
        /// Who the engines said they are.
        #[serde(default)]
        engines: Box<[EngineInfo; 2]>,
    },
    /// All games of the pairing are replayed: the process was suspended during a game.
    Replay,
    /// An engine did something odd that did not decide the game.
    Warning {
        /// In which game.
        game: u32,
        /// Which engine.
        engine: EngineId,
        /// What it did.
        text: String,
        /// More about it.
        #[serde(default)]
        about: Option<Box<WarningContext>>,
    },
}

/// What an engine did, with everything that is known of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WarningContext {
    /// What it did.
    pub kind: WarningKind,
    /// The line that it said it in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<String>,
    /// Where the game started, as FEN or SFEN; none is the usual start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub position: Option<String>,
    /// All moves before it.
    pub moves: Vec<String>,
    /// The move that it played, if it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub played: Option<String>,
}

impl WarningContext {
    /// WarningContext a warning of a game.
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
