//! How games ended, in words for people.

use std::fmt;
use std::time::Duration;

use readyok_rules::{Game, Side};

use super::{GameResult, Termination};
use crate::plan::Plan;

/// No text of an engine or of the system is longer here.
const LONGEST: usize = 300;

/// How a game ended, as a sentence: `White loses on time by 0.4 ms`, `draw by repetition`.
#[derive(Clone, Copy, Debug)]
pub struct GameEnd<'a> {
    /// What was played.
    pub game: Game,
    /// The winner; none is a draw.
    pub winner: Option<Side>,
    /// What ended it.
    pub termination: &'a Termination,
    /// After how many moves games end, if they do.
    pub max_moves: Option<u32>,
}

/// Of whom the words about an end speak.
enum Subject {
    Winner,
    Loser,
    Nobody,
}

impl<'a> GameEnd<'a> {
    /// How a game of a plan ended.
    pub fn of(plan: &Plan, game: &'a GameResult) -> Self {
        let max_moves = plan.adjudication.max_moves;
        Self { game: plan.game, winner: game.winner, termination: &game.termination, max_moves }
    }

    /// `1-0`, `0-1`, `1/2-1/2`, or `*` for a game that was not played to its end.
    pub fn score(&self) -> &'static str {
        self.termination.result(self.winner).as_str()
    }

    /// The colour of a side: who moves first is White in chess and Black in shogi.
    fn color(&self, side: Side) -> &'static str {
        match (self.game, side) {
            (Game::Shogi, Side::First) | (Game::Chess | Game::Chess960, Side::Second) => "Black",
            (Game::Shogi, Side::Second) | (Game::Chess | Game::Chess960, Side::First) => "White",
        }
    }
}

impl fmt::Display for GameEnd<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let end = self.termination;
        match (subject(end), self.winner) {
            (_, _) if *end == Termination::Aborted => return end.fmt(f),
            (Subject::Winner, Some(winner)) => return write!(f, "{} {end}", self.color(winner)),
            (Subject::Loser, Some(winner)) => {
                return write!(f, "{} {end}", self.color(winner.other()));
            }
            (_, Some(winner)) => write!(f, "{} wins by ", self.color(winner))?,
            (_, None) => f.write_str("draw by ")?,
        }
        match (end, self.max_moves) {
            (Termination::MoveLimit, Some(moves)) => write!(f, "the limit of {moves} moves"),
            _ => end.fmt(f),
        }
    }
}

fn subject(termination: &Termination) -> Subject {
    match termination {
        Termination::Checkmate
        | Termination::Declaration
        | Termination::Try
        | Termination::MateClaim => Subject::Winner,
        Termination::PerpetualCheck
        | Termination::WrongDeclaration
        | Termination::Resignation
        | Termination::ResignAdjudication
        | Termination::TimeForfeit { .. }
        | Termination::IllegalMove { .. }
        | Termination::Crash { .. }
        | Termination::Stall { .. }
        | Termination::NoStart { .. } => Subject::Loser,
        Termination::Stalemate
        | Termination::Repetition
        | Termination::FiftyMoves
        | Termination::InsufficientMaterial
        | Termination::Impasse
        | Termination::DrawAdjudication
        | Termination::Tablebase
        | Termination::MoveLimit
        | Termination::Aborted => Subject::Nobody,
    }
}

/// What ended a game, without who: `loses on time by 0.4 ms`, `repetition`. [`GameEnd`] is the sentence.
impl fmt::Display for Termination {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Checkmate => f.write_str("mates"),
            Self::Stalemate => f.write_str("stalemate"),
            Self::Repetition => f.write_str("repetition"),
            Self::FiftyMoves => f.write_str("the fifty-move rule"),
            Self::InsufficientMaterial => f.write_str("insufficient material"),
            Self::PerpetualCheck => f.write_str("gives perpetual check"),
            Self::Declaration => f.write_str("wins by declaration"),
            Self::WrongDeclaration => f.write_str("declares a win wrongly"),
            Self::Try => f.write_str("wins by the try rule"),
            Self::Impasse => f.write_str("impasse"),
            Self::Resignation => f.write_str("resigns"),
            Self::DrawAdjudication => f.write_str("adjudication of level scores"),
            Self::ResignAdjudication => f.write_str("loses by adjudication of scores"),
            Self::MateClaim => f.write_str("wins by a trusted claim of mate"),
            Self::Tablebase => f.write_str("tablebases"),
            Self::MoveLimit => f.write_str("the limit of moves"),
            Self::TimeForfeit { late_us: 0 } => f.write_str("loses on time"),
            Self::TimeForfeit { late_us } => {
                let late = format!("{}.{:03}", late_us / 1000, late_us % 1000);
                let late = late.trim_end_matches('0').trim_end_matches('.');
                write!(f, "loses on time by {late} ms")
            }
            Self::IllegalMove { word, position, why } => {
                write!(f, "plays the illegal move `{}`", word.escape_debug())?;
                for (before, text) in [(" at ", position), (": ", why)] {
                    if !text.is_empty() {
                        write!(f, "{before}{}", plain(text))?;
                    }
                }
                Ok(())
            }
            Self::Crash { exit, fault: _ } => write!(f, "crashes ({})", plain(exit)),
            Self::Stall { waited_ms } => {
                let waited = Duration::from_millis(*waited_ms).as_secs_f64();
                write!(f, "gives no answer for {waited} s")
            }
            Self::NoStart { why, fault: _ } => write!(f, "does not start ({})", plain(why)),
            Self::Aborted => f.write_str("broken off"),
        }
    }
}

/// A text from outside in one line.
fn plain(text: &str) -> String {
    let letter = |letter: char| if letter.is_control() { ' ' } else { letter };
    text.chars().take(LONGEST).map(letter).collect()
}
