//! The result of a match game: winner, termination, and the moves with their search info.

use std::time::Duration;
use std::{fmt, mem};

use readyok_client::EngineError;
use readyok_protocol::{Move, OptionError, Rule, Score, Violation};
use readyok_rules::{Game, GameOutcome, GameResult, IllegalReason, Side, Termination};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

pub use readyok_client::{EngineFailure, EngineFailureKind};

use crate::plan::{EngineId, Plan};
use crate::stats::Outcome;

/// A finished game of a match.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MatchGame {
    /// The first player: White in chess, Black (sente) in shogi.
    pub first: EngineId,
    /// The second player.
    pub second: EngineId,
    /// The winner; none is a draw.
    pub winner: Option<Side>,
    /// The termination.
    #[serde(rename = "termination")]
    pub end: GameEnd,
    /// The moves of the engines, after those of the opening.
    pub moves: Vec<MoveRecord>,
    /// Start time in milliseconds since 1970 (UTC).
    pub started_ms: u64,
    /// Duration in milliseconds.
    pub duration_ms: u64,
    /// Warnings in order; at most [`MatchGame::MAX_WARNINGS`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<Warning>,
    /// Information about the engines: the first player's and the second's.
    #[serde(default, skip_serializing_if = "are_default")]
    pub engines: [EngineInfo; 2],
}

/// Name, author and settings of an engine.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct EngineInfo {
    /// The reported name; empty if it reported none.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// The reported authors; empty if it reported none.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub author: String,
    /// The value of the option for threads, if it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub threads: Option<String>,
    /// The value of the option for the hash size in MB, if it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hash: Option<String>,
}

impl EngineInfo {
    /// Longer texts are truncated.
    pub const MAX_TEXT: usize = 256;
}

fn are_default(engines: &[EngineInfo; 2]) -> bool {
    engines.iter().all(|engine| *engine == EngineInfo::default())
}

impl MatchGame {
    /// Further warnings are dropped.
    pub const MAX_WARNINGS: usize = 256;

    /// The engine that plays a side.
    pub fn engine(&self, side: Side) -> EngineId {
        match side {
            Side::First => self.first,
            Side::Second => self.second,
        }
    }

    /// How the game ended.
    pub fn outcome(&self) -> GameOutcome {
        let result = self.end.result(self.winner);
        GameOutcome { result, termination: self.end.termination }
    }

    /// The engine that lost.
    pub(crate) fn loser(&self) -> Option<EngineId> {
        self.winner.map(|winner| self.engine(winner.other()))
    }

    /// The outcome for one of its engines.
    pub(crate) fn outcome_for(&self, engine: EngineId) -> Outcome {
        match self.loser() {
            None => Outcome::Draw,
            Some(loser) if loser == engine => Outcome::Loss,
            Some(_) => Outcome::Win,
        }
    }

    /// The score of the first player.
    pub(crate) fn score(&self) -> Outcome {
        match self.winner {
            None => Outcome::Draw,
            Some(Side::First) => Outcome::Win,
            Some(Side::Second) => Outcome::Loss,
        }
    }
}

/// Unexpected behavior of an engine that did not end the game.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Warning {
    /// The side of the engine.
    pub side: Side,
    /// Number of plies played by the engines before.
    pub ply: u32,
    /// The kind of the warning.
    #[serde(flatten)]
    pub kind: WarningKind,
    /// The line of the engine that caused it, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<String>,
}

impl Warning {
    /// Longer lines are truncated.
    pub const MAX_LINE: usize = 4096;
}

/// The kind of a [`Warning`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum WarningKind {
    /// The plan sets an option that the engine does not have or that the runner manages.
    UnknownOption {
        /// The name.
        name: String,
    },
    /// The plan sets an option to an invalid value; the option is unchanged.
    OptionValue {
        /// The name.
        name: String,
        /// The value in the plan.
        value: String,
        /// The reason.
        error: OptionError,
    },
    /// It reported `registration error`.
    Unregistered {
        /// The explanation of the engine, truncated if it was long.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        message: Option<String>,
    },
    /// It had exited since its last game and was restarted.
    Restarted {
        /// The failure.
        failure: Box<EngineFailure>,
    },
    /// It reported no score with its move.
    NoScore,
    /// The score of its last `info` line is not valid.
    UnreadableScore,
    /// The PV does not start with the move played.
    OtherPv {
        /// The first move of the PV.
        #[serde(rename = "move")]
        text: String,
    },
    /// A move of the PV is illegal.
    IllegalPv {
        /// The move, truncated if it was long.
        #[serde(rename = "move")]
        text: String,
    },
    /// The PV continues after the end of the game.
    PvBeyondEnd {
        /// The first move after the end.
        #[serde(rename = "move")]
        text: String,
        /// The termination of the game.
        end: Termination,
    },
    /// The length of the PV of a mate score differs from the score.
    MatePvLength {
        /// Plies to mate by the score.
        plies: u32,
        /// Plies of the PV.
        found: u32,
    },
    /// The PV of a mate score does not end with mate.
    MatePvWithoutMate,
    /// The PV ends with mate, but the score has the opposite sign.
    WrongMateSign,
    /// It and its opponent, with the move before, both reported a win by mate, or both a loss.
    MateScoreConflict {
        /// Moves to mate by the opponent's score, negative if it is mated.
        opponent: i64,
        /// Moves to mate by its own score.
        own: i64,
    },
    /// It lost on time on an overloaded host.
    HostOverloaded {
        /// Load average (1 minute) in percent of the CPUs.
        percent: u32,
    },
    /// It violated a rule of its protocol.
    Protocol {
        /// The rule.
        rule: Rule,
    },
}

/// A move of an engine and its search info.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MoveRecord {
    /// The move in UCI or USI notation.
    #[serde(rename = "move")]
    pub mv: Move,
    /// Time from the write of `go` to the arrival of `bestmove`, in microseconds.
    pub time_us: u64,
    /// Time on the clock after the move, including the increment, in milliseconds; none without a
    /// clock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left_ms: Option<i64>,
    /// The score, from the mover's point of view.
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
    /// Nodes per second, as reported.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nps: Option<u64>,
    /// Hash usage in permille.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hashfull: Option<u32>,
    /// Tablebase hits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tbhits: Option<u64>,
    /// Search time reported by the engine, in milliseconds. The difference to `time_us` is latency.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reported_time_ms: Option<u64>,
    /// The principal variation (PV) in UCI or USI notation; at most [`MoveRecord::MAX_PV`] moves.
    #[serde(default, skip_serializing_if = "Variation::is_empty")]
    pub pv: Variation,
    /// The move is the result of a ponder search with the expected move.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ponder_hit: bool,
    /// Engine lines selected by [`GameSettings::keep_lines`](crate::game::GameSettings::keep_lines), truncated
    /// if they were long.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lines: Vec<String>,
}

impl MoveRecord {
    /// Longer lines are truncated.
    pub const MAX_LINE: usize = 1024;

    /// Longer PVs are truncated.
    pub const MAX_PV: usize = 64;

    /// A move without time and search info.
    pub fn new(mv: Move) -> Self {
        Self {
            mv,
            time_us: 0,
            left_ms: None,
            score: None,
            depth: None,
            seldepth: None,
            nodes: None,
            nps: None,
            hashfull: None,
            tbhits: None,
            reported_time_ms: None,
            pv: Variation::default(),
            ponder_hit: false,
            lines: Vec::new(),
        }
    }
}

impl WarningKind {
    /// Whether both are of the same variant, or violations of the same rule.
    pub fn is_same_kind(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Protocol { rule }, Self::Protocol { rule: other }) => rule == other,
            _ => mem::discriminant(self) == mem::discriminant(other),
        }
    }
}

impl fmt::Display for WarningKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownOption { name } => {
                write!(f, "has no settable option `{}`", name.escape_debug())
            }
            Self::OptionValue { error, .. } => write!(f, "an option was not set: {error}"),
            Self::Unregistered { message } => {
                f.write_str("is not registered (`registration error`)")?;
                message.iter().try_for_each(|text| write!(f, ": `{}`", text.escape_debug()))
            }
            Self::Restarted { failure } => write!(f, "was restarted: {failure}"),
            Self::NoScore => f.write_str("reported no score"),
            Self::UnreadableScore => f.write_str("reported an invalid score"),
            Self::OtherPv { text } => {
                write!(f, "the PV starts with `{}`, not with the move played", text.escape_debug())
            }
            Self::IllegalPv { text } => {
                write!(f, "illegal move `{}` in the PV", text.escape_debug())
            }
            Self::PvBeyondEnd { text, .. } => {
                write!(
                    f,
                    "the PV continues with `{}` after the end of the game",
                    text.escape_debug()
                )
            }
            Self::MatePvLength { plies, found } => {
                write!(f, "the PV of a mate in {plies} plies has {found} plies")
            }
            Self::MatePvWithoutMate => f.write_str("the PV of a mate score does not end with mate"),
            Self::WrongMateSign => f.write_str("the sign of the mate score contradicts the PV"),
            Self::MateScoreConflict { opponent, own } => {
                let what = if *own > 0 { "win" } else { "lose" };
                write!(
                    f,
                    "both engines report that they {what} by mate: {opponent} and {own} moves"
                )
            }
            Self::HostOverloaded { percent } => {
                // fishtest counts each line with "on time" as a loss.
                write!(f, "exceeded its time on an overloaded host (CPU load {percent} %)")
            }
            Self::Protocol { rule } => Violation { by: rule.binds(), rule: *rule }.fmt(f),
        }
    }
}

/// The moves of a PV in one allocation, because PVs are most of the memory of a result. They are
/// serialized as a list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Variation {
    /// The moves, separated by single spaces.
    text: Box<str>,
}

impl Variation {
    /// The moves, in order.
    pub fn tokens(&self) -> impl Iterator<Item = &str> {
        self.text.split_ascii_whitespace()
    }

    /// Whether it has no moves.
    pub fn is_empty(&self) -> bool {
        self.text.is_empty()
    }
}

impl<T: AsRef<str>> FromIterator<T> for Variation {
    /// White space within an item separates moves.
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        let mut text = String::new();
        for item in items {
            for token in item.as_ref().split_ascii_whitespace() {
                if !text.is_empty() {
                    text.push(' ');
                }
                text.push_str(token);
            }
        }
        Self { text: text.into() }
    }
}

impl Serialize for Variation {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.tokens())
    }
}

impl<'de> Deserialize<'de> for Variation {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Vec::<String>::deserialize(deserializer).map(Self::from_iter)
    }
}

/// Longer texts of engines or of the system are truncated in sentences.
const MAX_TEXT: usize = 300;

/// What ended a match game.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GameEnd {
    /// The kind of the end.
    #[serde(rename = "kind")]
    pub termination: Termination,
    /// What the runner measured, for kinds with details.
    #[serde(flatten)]
    pub detail: Option<EndDetail>,
}

/// The details of a [`GameEnd`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum EndDetail {
    /// Of a time forfeit.
    TimeForfeit {
        /// By how much the clock was exceeded when the reply came or the game was ended, in
        /// microseconds.
        overrun_us: u64,
    },
    /// Of an illegal move: in shogi among others nifu, a drop mate, or leaving the king in check.
    IllegalMove {
        /// The move as the engine wrote it, truncated if it was long; empty if it sent `bestmove` without a move.
        #[serde(rename = "move")]
        text: String,
        /// The position before it, as FEN or SFEN.
        position: String,
        /// Why it is not legal.
        reason: IllegalReason,
    },
    /// Of an engine that hung while no clock ran: on `isready`, or in a search with a node or depth
    /// limit.
    Stall {
        /// How long the runner waited, in milliseconds.
        waited_ms: u64,
    },
    /// Of a crash or a failed start.
    Engine {
        /// The failure.
        failure: Box<EngineFailure>,
    },
}

impl From<Termination> for GameEnd {
    fn from(termination: Termination) -> Self {
        Self { termination, detail: None }
    }
}

impl PartialEq<Termination> for GameEnd {
    fn eq(&self, other: &Termination) -> bool {
        self.termination == *other
    }
}

impl GameEnd {
    /// A time forfeit.
    pub fn time_forfeit(overrun_us: u64) -> Self {
        let detail = Some(EndDetail::TimeForfeit { overrun_us });
        Self { termination: Termination::TimeForfeit, detail }
    }

    /// A move that is not legal in a position.
    pub fn illegal_move(
        text: impl Into<String>,
        position: impl Into<String>,
        reason: IllegalReason,
    ) -> Self {
        let (text, position) = (text.into(), position.into());
        let detail = Some(EndDetail::IllegalMove { text, position, reason });
        Self { termination: Termination::IllegalMove, detail }
    }

    /// An engine that did not answer.
    pub fn stall(waited_ms: u64) -> Self {
        let detail = Some(EndDetail::Stall { waited_ms });
        Self { termination: Termination::EngineStall, detail }
    }

    /// An engine that crashed or exited.
    pub fn crash(failure: impl Into<EngineFailure>) -> Self {
        let detail = Some(EndDetail::Engine { failure: Box::new(failure.into()) });
        Self { termination: Termination::EngineCrash, detail }
    }

    /// An engine that could not be started, or that cannot play the game.
    pub fn no_start(failure: impl Into<EngineFailure>) -> Self {
        let detail = Some(EndDetail::Engine { failure: Box::new(failure.into()) });
        Self { termination: Termination::EngineStartFailure, detail }
    }

    /// The failure of the engine, of a crash or a failed start.
    pub fn failure(&self) -> Option<&EngineFailure> {
        match &self.detail {
            Some(EndDetail::Engine { failure }) => Some(failure),
            _ => None,
        }
    }

    /// The text of an illegal move.
    pub fn illegal_text(&self) -> Option<&str> {
        match &self.detail {
            Some(EndDetail::IllegalMove { text, .. }) => Some(text),
            _ => None,
        }
    }

    /// By how much a clock was exceeded, in microseconds; 0 for other ends.
    pub fn overrun_us(&self) -> u64 {
        match self.detail {
            Some(EndDetail::TimeForfeit { overrun_us }) => overrun_us,
            _ => 0,
        }
    }

    /// The result of a game with this winner.
    pub fn result(&self, winner: Option<Side>) -> GameResult {
        if self.termination == Termination::Aborted {
            GameResult::Unknown
        } else {
            GameResult::decided(winner)
        }
    }
}

impl WarningKind {
    /// An engine that had exited since its last game.
    pub(crate) fn restarted(error: &EngineError) -> Self {
        Self::Restarted { failure: Box::new(error.into()) }
    }
}

/// An engine that cannot play the game.
pub(crate) fn unsuitable(kind: EngineFailureKind, message: &str) -> GameEnd {
    GameEnd::no_start(EngineFailure::new(kind).with_message(message))
}

/// How a game ended, as a sentence: `White loses on time by 0.4 ms`, `draw by repetition`.
#[derive(Clone, Copy, Debug)]
pub struct EndSentence<'a> {
    /// The game of the match.
    pub game: Game,
    /// The winner; none is a draw.
    pub winner: Option<Side>,
    /// What ended it.
    pub end: &'a GameEnd,
    /// The maximum number of moves, if the match has one.
    pub max_moves: Option<u32>,
}

/// The side that a sentence is about.
enum Agent {
    Winner,
    Loser,
    None,
}

impl<'a> EndSentence<'a> {
    /// The sentence for a game of a plan.
    pub fn of(plan: &Plan, game: &'a MatchGame) -> Self {
        let max_moves = plan.adjudication.max_moves;
        Self { game: plan.game, winner: game.winner, end: &game.end, max_moves }
    }

    /// `1-0`, `0-1`, `1/2-1/2`, or `*` for an unfinished game.
    pub fn score(&self) -> &'static str {
        self.end.result(self.winner).as_str()
    }

    /// The color of a side: the first mover is White in chess and Black in shogi.
    fn color(&self, side: Side) -> &'static str {
        match (self.game, side) {
            (Game::Shogi, Side::First) | (Game::Chess | Game::Chess960, Side::Second) => "Black",
            (Game::Shogi, Side::Second) | (Game::Chess | Game::Chess960, Side::First) => "White",
        }
    }
}

impl fmt::Display for EndSentence<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let end = self.end;
        match (agent(end.termination), self.winner) {
            (_, _) if *end == Termination::Aborted => return end.fmt(f),
            (Agent::Winner, Some(winner)) => return write!(f, "{} {end}", self.color(winner)),
            (Agent::Loser, Some(winner)) => {
                return write!(f, "{} {end}", self.color(winner.other()));
            }
            (_, Some(winner)) => write!(f, "{} wins by ", self.color(winner))?,
            (_, None) => f.write_str("draw by ")?,
        }
        match (end.termination, self.max_moves) {
            (Termination::MoveLimit, Some(moves)) => write!(f, "the limit of {moves} moves"),
            _ => end.fmt(f),
        }
    }
}

fn agent(termination: Termination) -> Agent {
    match termination {
        Termination::Checkmate
        | Termination::Declaration
        | Termination::TryRule
        | Termination::MateAdjudication => Agent::Winner,
        Termination::PerpetualCheck
        | Termination::FailedDeclaration
        | Termination::Resignation
        | Termination::ResignAdjudication
        | Termination::TimeForfeit
        | Termination::IllegalMove
        | Termination::EngineCrash
        | Termination::EngineStall
        | Termination::EngineStartFailure => Agent::Loser,
        _ => Agent::None,
    }
}

/// What ended a game, without a subject: `loses on time by 0.4 ms`, `repetition`. [`EndSentence`] is
/// the whole sentence.
impl fmt::Display for GameEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.termination {
            Termination::Checkmate => "mates",
            Termination::FiftyMoveRule => "the fifty-move rule",
            Termination::SeventyFiveMoveRule => "the seventy-five-move rule",
            Termination::PerpetualCheck => "gives perpetual check",
            Termination::Declaration => "wins by declaration",
            Termination::FailedDeclaration => "makes an invalid win declaration",
            Termination::TryRule => "wins by the try rule",
            Termination::Resignation => "resigns",
            Termination::DrawAdjudication => "adjudication of equal scores",
            Termination::ResignAdjudication => "loses by score adjudication",
            Termination::MateAdjudication => "wins by a trusted mate score",
            Termination::TablebaseAdjudication => "tablebases",
            Termination::MoveLimit => "the limit of moves",
            Termination::TimeForfeit => "loses on time",
            Termination::IllegalMove if self.illegal_text() == Some("") => {
                "sends `bestmove` without a move"
            }
            Termination::IllegalMove => "plays the illegal move",
            Termination::EngineCrash => "crashes",
            Termination::EngineStall => "hangs",
            Termination::EngineStartFailure => "does not start",
            other => return f.write_str(&other.name().replace('-', " ")),
        })?;
        match &self.detail {
            None | Some(EndDetail::TimeForfeit { overrun_us: 0 }) => Ok(()),
            Some(EndDetail::TimeForfeit { overrun_us }) => {
                let overrun = format!("{}.{:03}", overrun_us / 1000, overrun_us % 1000);
                let overrun = overrun.trim_end_matches('0').trim_end_matches('.');
                write!(f, " by {overrun} ms")
            }
            Some(EndDetail::IllegalMove { text, .. }) if text.is_empty() => Ok(()),
            Some(EndDetail::IllegalMove { text, position, reason }) => {
                write!(f, " `{}`", text.escape_debug())?;
                if !position.is_empty() {
                    write!(f, " at {}", plain(position))?;
                }
                write!(f, ": {reason}")
            }
            Some(EndDetail::Stall { waited_ms }) => {
                write!(f, " for {} s", Duration::from_millis(*waited_ms).as_secs_f64())
            }
            Some(EndDetail::Engine { failure }) => {
                write!(f, " ({})", plain(&failure.to_string()))
            }
        }
    }
}

/// External text on one line.
fn plain(text: &str) -> String {
    let letter = |letter: char| if letter.is_control() { ' ' } else { letter };
    text.chars().take(MAX_TEXT).map(letter).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use readyok_client::{Exit, ExitCause, ProcessStatus};

    #[test]
    fn serializes_a_variation_as_a_list() {
        let check = |json: &str, tokens: &[&str], written: &str| {
            let variation: Variation = serde_json::from_str(json).expect("a variation");
            assert!(variation.tokens().eq(tokens.iter().copied()), "{variation:?}");
            assert_eq!(variation.is_empty(), tokens.is_empty());
            assert_eq!(serde_json::to_string(&variation).ok().as_deref(), Some(written));
        };
        check("[]", &[], "[]");
        check(r#"["e2e4","e7e5"]"#, &["e2e4", "e7e5"], r#"["e2e4","e7e5"]"#);
        check(r#"["", "7g7f 3c3d","\t"]"#, &["7g7f", "3c3d"], r#"["7g7f","3c3d"]"#);
    }

    #[test]
    fn move_records_are_small() {
        assert!(size_of::<MoveRecord>() <= 184, "{}", size_of::<MoveRecord>());
    }

    fn check(end: &GameEnd, json: &str) {
        assert_eq!(serde_json::to_string(end).unwrap(), json);
        assert_eq!(serde_json::from_str::<GameEnd>(json).unwrap(), *end);
    }

    #[test]
    fn serializes_details_next_to_the_kind() {
        check(&Termination::FiftyMoveRule.into(), r#"{"kind":"fifty-moves"}"#);
        check(&GameEnd::time_forfeit(400), r#"{"kind":"time-forfeit","overrun_us":400}"#);
        check(&GameEnd::stall(10), r#"{"kind":"stall","waited_ms":10}"#);
        check(
            &GameEnd::illegal_move("e2e5", "8/8 w", IllegalReason::Unreachable),
            r#"{"kind":"illegal-move","move":"e2e5","position":"8/8 w","reason":"unreachable"}"#,
        );
        // The name of an earlier version.
        let reason: IllegalReason = serde_json::from_str(r#""cannot-reach""#).unwrap();
        assert_eq!(reason, IllegalReason::Unreachable);
        let cause = Some(ExitCause::SegmentationFault);
        let exit = Exit { status: ProcessStatus::Signal(11), cause };
        check(
            &GameEnd::crash(EngineFailure::exited(exit)),
            r#"{"kind":"crash","failure":{"kind":"closed","exit":{"signal":11,"cause":"segmentation_fault"}}}"#,
        );
        let failure = EngineFailure {
            last_stderr_line: Some("no network".to_owned()),
            ..EngineFailure::exited(Exit::code(3))
        };
        check(
            &GameEnd::no_start(failure),
            r#"{"kind":"no-start","failure":{"kind":"closed","exit":{"code":3},"last_stderr_line":"no network"}}"#,
        );
        let error = OptionError::MissingValue { option: "Hash".to_owned() };
        let kind = EngineFailureKind::OptionValue { error };
        check(
            &GameEnd::no_start(EngineFailure::new(kind)),
            r#"{"kind":"no-start","failure":{"kind":"option-value","error":{"kind":"missing-value","option":"Hash"}}}"#,
        );
        // The name of an earlier version.
        let error: OptionError =
            serde_json::from_str(r#"{"kind":"no-value","option":"Hash"}"#).unwrap();
        assert_eq!(error, OptionError::MissingValue { option: "Hash".to_owned() });
    }
}
