//! How a match game ended, with the details that the runner measured.

use std::fmt;
use std::time::Duration;

use readyok_client::{EngineError, EngineFailure, EngineFailureKind};
use readyok_rules::{Game, GameResult, IllegalReason, Side, Termination};
use serde::{Deserialize, Serialize};

use super::{MatchGame, WarningKind};
use crate::plan::Plan;

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
        /// The move as the engine wrote it, truncated if it was long.
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
    use readyok_client::{Exit, ExitCause, ProcessStatus};
    use readyok_protocol::OptionError;

    use super::*;

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
            &GameEnd::illegal_move("e2e5", "8/8 w", IllegalReason::CannotReach),
            r#"{"kind":"illegal-move","move":"e2e5","position":"8/8 w","reason":"cannot-reach"}"#,
        );
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
        let error = OptionError::NoValue { option: "Hash".to_owned() };
        let kind = EngineFailureKind::OptionValue { error };
        check(
            &GameEnd::no_start(EngineFailure::new(kind)),
            r#"{"kind":"no-start","failure":{"kind":"option-value","error":{"kind":"no-value","option":"Hash"}}}"#,
        );
    }
}
