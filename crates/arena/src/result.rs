//! What came of a game: who won, why, and each move with what was told about it.

mod fault;
mod variation;
mod words;

use std::fmt;

use readyok_protocol::{Move, OptionError, Score};
use readyok_rules::{Side, record};
use serde::{Deserialize, Serialize};

pub use fault::{EngineFault, EngineFaultKind};
pub use variation::Variation;
pub use words::GameEnd;

use crate::plan::EngineId;
use crate::stats::Outcome;

/// A game that was played.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GameResult {
    /// Who played the first side: White in chess, Black (sente) in shogi.
    pub first: EngineId,
    /// Who played the second.
    pub second: EngineId,
    /// The winner; none is a draw.
    pub winner: Option<Side>,
    /// What ended the game.
    pub termination: Termination,
    /// The moves that the engines played, after those of the opening.
    pub moves: Vec<PlayedMove>,
    /// When the game started, in milliseconds since 1970 (UTC).
    pub started_ms: u64,
    /// How long it took, in milliseconds.
    pub duration_ms: u64,
    /// What was odd, in order; at most [`GameResult::MAX_WARNINGS`].
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

impl GameResult {
    /// More warnings are left out.
    pub const MAX_WARNINGS: usize = 64;

    /// How it ended for who moved first.
    pub(crate) fn outcome(&self) -> Outcome {
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
    /// It had left since its last game, and was started again.
    Restarted {
        /// How it had left, for people.
        why: String,
        /// The same for programs.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        fault: Option<Box<EngineFault>>,
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
        #[serde(default)]
        end: PvEnd,
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

/// How a game ended within a variation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PvEnd {
    /// With mate.
    Checkmate,
    /// With stalemate.
    Stalemate,
    /// With a repetition.
    Repetition,
    /// By the fifty-move rule, or the one of seventy-five moves.
    FiftyMoves,
    /// In another way.
    #[default]
    Other,
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

/// What ended a game.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Termination {
    /// The side to move is in check and has no move.
    Checkmate,
    /// The side to move has no move: a draw in chess, a loss in shogi.
    Stalemate,
    /// The position was repeated as often as the rules of the match allow.
    Repetition,
    /// The fifty-move rule of chess.
    FiftyMoves,
    /// Nobody can give mate.
    InsufficientMaterial,
    /// Repetition by nothing but checks: the checking side loses (shogi).
    PerpetualCheck,
    /// A declaration by the rule of the match (shogi).
    Declaration,
    /// A declaration that the rule does not allow: it loses (shogi).
    WrongDeclaration,
    /// The king reached the other king's start square, under the try rule (shogi).
    Try,
    /// A draw by points, under the 24-point rule (shogi).
    Impasse,
    /// The engine gave up.
    Resignation,
    /// Both engines saw no advantage for long enough.
    DrawAdjudication,
    /// The loser's score was low for long enough.
    ResignAdjudication,
    /// The winner, whose word the plan trusts, said that it mates.
    MateClaim,
    /// Tablebases know the result.
    Tablebase,
    /// The game was as long as the match allows.
    MoveLimit,
    /// The clock ran out.
    TimeForfeit {
        /// How far it was overrun when the answer came or the game was ended, in microseconds.
        late_us: u64,
    },
    /// A move that is not legal: in shogi among others nifu, a drop mate, or leaving the king in
    /// check. It loses.
    IllegalMove {
        /// The word, shortened if it was long.
        word: String,
        /// Where it was played, as FEN or SFEN.
        position: String,
        /// Why it is not legal.
        why: String,
    },
    /// The engine crashed or left in the middle of the game.
    Crash {
        /// How it ended, for people.
        exit: String,
        /// The same for programs, where its process did not tell.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        fault: Option<Box<EngineFault>>,
    },
    /// The engine fell silent where no clock ran: no answer to `isready`, or to a search for
    /// nodes or to a depth within the patience of the match.
    Stall {
        /// How long it was waited for, in milliseconds.
        waited_ms: u64,
    },
    /// The engine could not be started for the game.
    NoStart {
        /// Why, for people.
        why: String,
        /// The same for programs.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        fault: Option<Box<EngineFault>>,
    },
    /// The match was ended before the game was.
    Aborted,
}

impl Termination {
    /// The result of a game that ended so, with this winner.
    pub fn result(&self, winner: Option<Side>) -> record::GameResult {
        match winner {
            _ if *self == Self::Aborted => record::GameResult::Unknown,
            Some(side) => record::GameResult::Win(side),
            None => record::GameResult::Draw,
        }
    }

    /// Whether the engine, not the game, failed.
    pub fn is_failure(&self) -> bool {
        matches!(
            self,
            Self::TimeForfeit { .. }
                | Self::IllegalMove { .. }
                | Self::Crash { .. }
                | Self::Stall { .. }
                | Self::NoStart { .. }
        )
    }
}

/// The names of records. Every export and the server's library have theirs from here.
impl From<&Termination> for record::Termination {
    fn from(termination: &Termination) -> Self {
        match termination {
            Termination::Checkmate => Self::Checkmate,
            Termination::Stalemate => Self::Stalemate,
            Termination::Repetition => Self::Repetition,
            Termination::FiftyMoves => Self::FiftyMoves,
            Termination::InsufficientMaterial => Self::InsufficientMaterial,
            Termination::PerpetualCheck => Self::PerpetualCheck,
            Termination::Declaration => Self::Declaration,
            Termination::WrongDeclaration => Self::FailedDeclaration,
            Termination::Try => Self::Try,
            Termination::Impasse => Self::Impasse,
            Termination::Resignation => Self::Resignation,
            Termination::DrawAdjudication
            | Termination::ResignAdjudication
            | Termination::MateClaim
            | Termination::Tablebase => Self::Adjudication,
            Termination::MoveLimit => Self::MoveLimit,
            Termination::TimeForfeit { .. } => Self::TimeForfeit,
            Termination::IllegalMove { .. } => Self::IllegalMove,
            Termination::Crash { .. } | Termination::Stall { .. } | Termination::NoStart { .. } => {
                Self::EngineFailure
            }
            Termination::Aborted => Self::Interrupted,
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
            Self::Restarted { why, fault: _ } => write!(f, "was started again: {why}"),
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
