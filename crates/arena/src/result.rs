//! What came of a game: who won, why, and each move with what was told about it.

mod end;
mod variation;

use std::fmt;

use readyok_protocol::{Move, OptionError, Score};
use readyok_rules::{GameOutcome, Side, Termination};
use serde::{Deserialize, Serialize};

pub(crate) use end::unsuitable;
pub use end::{EndDetail, EndSentence, GameEnd};
pub use readyok_client::{EngineFailure, EngineFailureKind};
pub use variation::Variation;

use crate::plan::EngineId;
use crate::stats::Outcome;

/// A game that was played.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MatchGame {
    /// Who played the first side: White in chess, Black (sente) in shogi.
    pub first: EngineId,
    /// Who played the second.
    pub second: EngineId,
    /// The winner; none is a draw.
    pub winner: Option<Side>,
    /// What ended the game.
    #[serde(rename = "termination")]
    pub end: GameEnd,
    /// The moves that the engines played, after those of the opening.
    pub moves: Vec<PlayedMove>,
    /// When the game started, in milliseconds since 1970 (UTC).
    pub started_ms: u64,
    /// How long it took, in milliseconds.
    pub duration_ms: u64,
    /// Warnings in order; at most [`MatchGame::MAX_WARNINGS`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<Warning>,
    /// Who the engines said they are, the first side's before the second's.
    #[serde(default, skip_serializing_if = "nobody")]
    pub engines: [Introduction; 2],
}

/// Who an engine said it is, and how it was set for the game.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Introduction {
    /// Its name; empty if it told none.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// Its authors; empty if it told none.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub author: String,
    /// The value of its option for threads, if it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub threads: Option<String>,
    /// The value of its option for the size of its hash in MB, if it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hash: Option<String>,
}

impl Introduction {
    /// Longer texts are cut.
    pub const MAX_TEXT: usize = 256;
}

fn nobody(engines: &[Introduction; 2]) -> bool {
    engines.iter().all(|engine| *engine == Introduction::default())
}

impl MatchGame {
    /// More warnings are left out.
    pub const MAX_WARNINGS: usize = 64;

    /// How the game ended.
    pub fn outcome(&self) -> GameOutcome {
        let result = self.end.result(self.winner);
        GameOutcome { result, termination: self.end.termination }
    }

    /// The points of the first mover.
    pub(crate) fn score(&self) -> Outcome {
        match self.winner {
            None => Outcome::Draw,
            Some(Side::First) => Outcome::Win,
            Some(Side::Second) => Outcome::Loss,
        }
    }
}

/// Something odd that an engine did and that did not end the game.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Warning {
    /// Whose engine.
    pub side: Side,
    /// How many moves the engines had played before, both together.
    pub ply: u32,
    /// What it did.
    #[serde(flatten)]
    pub kind: WarningKind,
    /// The line that it said it in, if there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<String>,
}

impl Warning {
    /// Longer lines are cut.
    pub const MAX_LINE: usize = 4096;
}

/// What an engine did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum WarningKind {
    /// It has no option that the plan sets, or sets that one by itself.
    UnknownOption {
        /// The name.
        name: String,
    },
    /// Its option that the plan sets takes no such value, and stays as it is.
    OptionValue {
        /// What is wrong with it.
        error: OptionError,
    },
    /// It reported `registration error`.
    Unregistered {
        /// Its own explanation, shortened if it was long.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        message: Option<String>,
    },
    /// It had exited since its last game, and was started again.
    Restarted {
        /// How it had exited.
        failure: Box<EngineFailure>,
    },
    /// It told no score with its move.
    NoScore,
    /// Its main variation starts with another move than it played.
    OtherPv {
        /// The first word of the variation.
        word: String,
    },
    /// A word of its main variation is no legal move.
    IllegalPv {
        /// The word, shortened if it was long.
        word: String,
    },
    /// Its main variation goes on after the end of the game.
    PvBeyondEnd {
        /// The first word that is too much.
        word: String,
        /// How the game ended before it.
        end: Termination,
    },
    /// Its variation is to mate, and has fewer or more moves than its score says.
    MatePvLength {
        /// How many plies the score says.
        plies: u32,
        /// How many the variation has.
        found: u32,
    },
    /// Its variation is to mate, and does not end with it.
    MatePvWithoutMate,
    /// Its main variation ends with mate, and the score says that the other side mates.
    WrongMateSign,
    /// It lost on time on an overloaded host.
    HostOverloaded {
        /// Load average (1 minute) in percent of the CPUs.
        percent: u32,
    },
    /// It broke a rule of its protocol.
    Protocol {
        /// Which, for people.
        what: String,
    },
}

/// A move, and what the engine told about it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PlayedMove {
    /// The UCI or USI word.
    pub word: Move,
    /// From the write of `go` to the arrival of `bestmove`, in microseconds.
    pub time_us: u64,
    /// What the clock shows after the move, increment included, in milliseconds; none without a
    /// clock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left_ms: Option<i64>,
    /// The score, from the view of the engine that moved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score: Option<Score>,
    /// Depth in plies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub depth: Option<u32>,
    /// Selective depth in plies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seldepth: Option<u32>,
    /// Nodes of the search.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nodes: Option<u64>,
    /// Nodes per second, as told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nps: Option<u64>,
    /// Fullness of the hash, in permill.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hashfull: Option<u32>,
    /// Hits in tablebases.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tbhits: Option<u64>,
    /// The time that the engine told, in milliseconds. The difference to `time_us` is latency.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub told_ms: Option<u64>,
    /// The main variation, as UCI or USI words of the game; at most [`PlayedMove::MAX_PV`].
    #[serde(default, skip_serializing_if = "Variation::is_empty")]
    pub pv: Variation,
    /// Whether it was thought of on the opponent's time: the expected move was played.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ponder_hit: bool,
    /// Lines that the match wants to keep, shortened if they were long.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lines: Vec<String>,
}

impl PlayedMove {
    /// Longer lines are cut.
    pub const MAX_LINE: usize = 1024;

    /// Longer variations are cut.
    pub const MAX_PV: usize = 64;

    /// A move that took no time and of which nothing was told.
    pub fn new(word: Move) -> Self {
        Self {
            word,
            time_us: 0,
            left_ms: None,
            score: None,
            depth: None,
            seldepth: None,
            nodes: None,
            nps: None,
            hashfull: None,
            tbhits: None,
            told_ms: None,
            pv: Variation::default(),
            ponder_hit: false,
            lines: Vec::new(),
        }
    }
}

impl fmt::Display for WarningKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownOption { name } => {
                write!(f, "has no option `{}` to be set", name.escape_debug())
            }
            Self::OptionValue { error } => write!(f, "an option stays as it is: {error}"),
            Self::Unregistered { message } => {
                f.write_str("is not registered (`registration error`)")?;
                message.iter().try_for_each(|text| write!(f, ": `{}`", text.escape_debug()))
            }
            Self::Restarted { failure } => write!(f, "was started again: {failure}"),
            Self::NoScore => f.write_str("told no score"),
            Self::OtherPv { word } => {
                write!(f, "its variation starts with `{}`, not its move", word.escape_debug())
            }
            Self::IllegalPv { word } => {
                write!(f, "`{}` in its variation is not legal", word.escape_debug())
            }
            Self::PvBeyondEnd { word, .. } => {
                write!(f, "`{}` in its variation is after the end", word.escape_debug())
            }
            Self::MatePvLength { plies, found } => {
                write!(f, "its variation to mate in {plies} plies has {found}")
            }
            Self::MatePvWithoutMate => f.write_str("its variation to mate does not end with it"),
            Self::WrongMateSign => f.write_str("its variation mates the other side than its score"),
            Self::HostOverloaded { percent } => {
                write!(f, "lost on time on an overloaded host (CPU load {percent} %)")
            }
            Self::Protocol { what } => f.write_str(what),
        }
    }
}
