//! The result of a match game: winner, termination, and the moves with their search info.

use std::time::Duration;
use std::{fmt, mem};

use readyok_client::EngineError;
use readyok_protocol::translation::display_text;
use readyok_protocol::{Language, Move, OptionError, Rule, Score};
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

readyok_protocol::errors! {
    /// The kind of a [`Warning`].
    #[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(tag = "kind", rename_all = "kebab-case")]
    #[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(tag = "code", rename_all = "snake_case"))]
    // Aliases are the names in results of earlier versions. Programs with a page send variants without a TypeScript
    // type in another form.
    pub enum WarningKind {
        /// The plan sets an option that the engine does not have or that the runner manages.
        #[serde(alias = "unknown-option")]
        UnsettableOption { name: String = display_text(name) } => "has no settable option `{name}`",
        /// The value in the plan is invalid; the option is unchanged.
        #[serde(alias = "option-value")]
        #[cfg_attr(feature = "ts", ts(skip))]
        OptionNotSet {
            name: String = display_text(name),
            value: String = display_text(value),
            #[serde(alias = "error")]
            cause: OptionError,
        } => "option `{name}` was not set to `{value}`: {cause}",
        /// With the explanation of the engine, truncated if it was long.
        Unregistered {
            #[serde(default = "registration_error")]
            message: String = display_text(message),
        } => "is not registered: `{message}`",
        /// It had exited since its last game.
        #[cfg_attr(feature = "ts", ts(skip))]
        Restarted {
            #[serde(alias = "failure")]
            cause: Box<EngineFailure>,
        } => "was restarted: {cause}",
        #[serde(alias = "no-score")]
        MoveWithoutScore => "reported no score",
        /// Of its last `info` line.
        UnreadableScore => "reported an invalid score",
        OtherPv {
            /// The first move of the PV.
            #[serde(alias = "move")]
            text: String = display_text(text),
        } => "the PV starts with `{text}`, not with the move played",
        IllegalPv {
            /// The move, truncated if it was long.
            #[serde(alias = "move")]
            text: String = display_text(text),
        } => "illegal move `{text}` in the PV",
        PvBeyondEnd {
            /// The first move after the end.
            #[serde(alias = "move")]
            text: String = display_text(text),
            #[serde(alias = "end")]
            termination: Termination = termination.text(),
        } => "the PV continues with `{text}` after the end of the game ({termination})",
        MatePvLength {
            /// Plies to mate by the score.
            plies: u32,
            /// Plies of the PV.
            found: u32,
        } => "the PV of a mate in {plies} plies has {found} plies",
        MatePvWithoutMate => "the PV of a mate score does not end with mate",
        WrongMateSign => "the sign of the mate score contradicts the PV",
        /// It and its opponent, with the move before, both reported a win by mate, or both a loss. Moves are negative
        /// for a loss.
        MateScoreConflict { opponent: i64, own: i64 } =>
            "reported mate in {own} moves after its opponent had reported mate in {opponent}",
        /// With the load average (1 minute) in percent of the CPUs.
        // fishtest counts each line with "on time" as a loss.
        HostOverloaded { percent: u32 } =>
            "exceeded its time on an overloaded host (CPU load {percent} %)",
        #[serde(alias = "protocol")]
        #[cfg_attr(feature = "ts", ts(skip))]
        ProtocolViolation {
            #[serde(alias = "rule")]
            cause: Rule = rule_text(*cause, Language::English),
        } => "protocol violation: {cause}",
    }
}

fn truncated(text: &str) -> String {
    text.chars().take(EngineFailure::MAX_TEXT).collect()
}

fn registration_error() -> String {
    "registration error".to_owned()
}

/// The rule of a protocol and its clause.
pub fn rule_text(rule: Rule, language: Language) -> String {
    format!("{} ({})", rule.text_in(language), rule.clause_in(language))
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
            (Self::ProtocolViolation { cause }, Self::ProtocolViolation { cause: other }) => {
                cause == other
            }
            _ => mem::discriminant(self) == mem::discriminant(other),
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
    /// An engine that is not registered, with its explanation.
    pub(crate) fn unregistered(message: Option<&str>) -> Self {
        let message = message.map_or_else(registration_error, truncated);
        Self::Unregistered { message }
    }

    /// An engine that had exited since its last game.
    pub(crate) fn restarted(error: &EngineError) -> Self {
        Self::Restarted { cause: Box::new(error.into()) }
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
            r#"{"kind":"crash","failure":{"kind":"output-closed","exit":{"signal":11,"cause":"segmentation_fault"}}}"#,
        );
        let failure = EngineFailure {
            last_stderr_line: Some("no network".to_owned()),
            ..EngineFailure::exited(Exit::code(3))
        };
        check(
            &GameEnd::no_start(failure),
            r#"{"kind":"no-start","failure":{"kind":"output-closed","exit":{"code":3},"last_stderr_line":"no network"}}"#,
        );
        let error = OptionError::MissingValue { option: "Hash".to_owned() };
        let missing = EngineFailureKind::from(error);
        check(
            &GameEnd::no_start(EngineFailure::new(missing.clone())),
            r#"{"kind":"no-start","failure":{"kind":"missing-value","option":"Hash"}}"#,
        );
        // The names of earlier versions.
        for (stored, kind) in [
            (r#"{"kind":"option-value","error":{"kind":"no-value","option":"Hash"}}"#, missing),
            (r#"{"kind":"not-found"}"#, EngineFailureKind::ProgramNotFound),
            (r#"{"kind":"permission-denied"}"#, EngineFailureKind::ProgramNotExecutable),
            (r#"{"kind":"closed"}"#, EngineFailureKind::OutputClosed),
        ] {
            let read: EngineFailure = serde_json::from_str(stored).unwrap();
            assert_eq!(read, EngineFailure::new(kind));
        }
    }

    #[test]
    fn reads_warnings_of_earlier_versions() {
        let text = || "e2e4".to_owned();
        let error = OptionError::MissingValue { option: "Hash".to_owned() };
        let (name, value) = ("Hash".to_owned(), String::new());
        let closed = Box::new(EngineFailure::new(EngineFailureKind::OutputClosed));
        for (stored, kind) in [
            (
                r#"{"kind":"unknown-option","name":"Hash"}"#,
                WarningKind::UnsettableOption { name: name.clone() },
            ),
            (
                r#"{"kind":"option-value","name":"Hash","value":"","error":{"kind":"no-value","option":"Hash"}}"#,
                WarningKind::OptionNotSet { name, value, cause: error },
            ),
            (
                r#"{"kind":"unregistered"}"#,
                WarningKind::Unregistered { message: "registration error".to_owned() },
            ),
            (
                r#"{"kind":"restarted","failure":{"kind":"closed"}}"#,
                WarningKind::Restarted { cause: closed },
            ),
            (r#"{"kind":"no-score"}"#, WarningKind::MoveWithoutScore),
            (r#"{"kind":"other-pv","move":"e2e4"}"#, WarningKind::OtherPv { text: text() }),
            (r#"{"kind":"illegal-pv","move":"e2e4"}"#, WarningKind::IllegalPv { text: text() }),
            (
                r#"{"kind":"pv-beyond-end","move":"e2e4","end":"checkmate"}"#,
                WarningKind::PvBeyondEnd { text: text(), termination: Termination::Checkmate },
            ),
            (
                r#"{"kind":"protocol","rule":"NoName"}"#,
                WarningKind::ProtocolViolation { cause: Rule::NoName },
            ),
        ] {
            assert_eq!(serde_json::from_str::<WarningKind>(stored).unwrap(), kind);
        }
    }
}
