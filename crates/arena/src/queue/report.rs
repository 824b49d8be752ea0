//! What the coordinator is told.

use std::fmt;

use readyok_rules::Side;
use serde::{Deserialize, Serialize};

use super::QueueError;
use crate::pairing::PairResult;
use crate::plan::EngineId;
use crate::result::{PlayedMove, Termination};

/// Who plays: one thread that plays one pairing at a time.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct WorkerId(pub String);

/// Everything that can happen to a coordinator.
#[derive(Clone, Debug, PartialEq)]
pub enum Report {
    /// A worker is there.
    Joined(WorkerId),
    /// A worker has gone. What it held is reported apart.
    Left(WorkerId),
    /// A worker tells how its game goes.
    Told {
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
    },
    /// A lease has ended without a result, or a job was withdrawn.
    Returned {
        /// Which pairing.
        index: u64,
        /// What becomes of it.
        why: Return,
    },
    /// Somebody wants the match to end.
    Interrupted,
    /// The queue is out of order.
    Broken(QueueError),
}

/// What becomes of a job whose lease has ended without a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Return {
    /// It is up again.
    Again,
    /// The match was stopped.
    Withdrawn,
    /// It has lost its worker too often and is not up any more.
    Dead,
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
    /// A move was played. Told only if the order wants it.
    Move {
        /// In which game.
        game: u32,
        /// Which move after the opening, counted from 0.
        ply: u32,
        /// The move.
        played: PlayedMove,
    },
    /// A game is over.
    GameEnd {
        /// Which.
        game: u32,
        /// The winner; none is a draw.
        winner: Option<Side>,
        /// What ended it.
        termination: Termination,
        /// How many moves the engines played.
        plies: u32,
        /// How long it took, in milliseconds.
        duration_ms: u64,
    },
    /// An engine did something odd that did not decide the game.
    Warning {
        /// In which game.
        game: u32,
        /// Which engine.
        engine: EngineId,
        /// What it did.
        text: String,
    },
}

impl fmt::Display for WorkerId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
