//! Decisions of the referee, and the details of the rules in which fastchess differs.

use readyok_rules::{GameOutcome, Side};

use crate::plan::Adjudication;
use crate::result::GameEnd;

/// How a game has ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision {
    /// The winner; `None` if the game is a draw or was aborted.
    pub winner: Option<Side>,
    /// The reason.
    pub end: GameEnd,
}

impl Decision {
    /// A loss of a side.
    pub fn lost_by(side: Side, end: impl Into<GameEnd>) -> Self {
        Self { winner: Some(side.other()), end: end.into() }
    }

    /// A draw or an aborted game.
    pub fn without_winner(end: impl Into<GameEnd>) -> Self {
        Self { winner: None, end: end.into() }
    }
}

impl From<GameOutcome> for Decision {
    fn from(outcome: GameOutcome) -> Self {
        Self { winner: outcome.winner(), end: outcome.termination.into() }
    }
}

/// Details of the rules that depend on the match runner.
#[derive(Clone, Copy, Debug)]
pub(super) struct RuleOptions {
    /// Whether the moves of the opening count for the move limit.
    pub(super) counts_opening_moves: bool,
    /// Whether clocks have an increment before the first move in chess, too.
    pub(super) first_increment: bool,
    /// How a resignation that both engines must agree on is decided.
    pub(super) agreement: Agreement,
    /// Which `info` line of a search is used.
    pub(super) info: InfoSource,
}

/// The condition of a two-sided adjudication by score.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Agreement {
    /// The scores of both engines agree on the winner.
    Winner,
    /// The scores of both engines are decisive, with any sign, and the mover's score is negative.
    Magnitude,
}

/// The source of score, depth and PV of a move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum InfoSource {
    /// The latest value of each field.
    LatestFields,
    /// The last line with an exact score.
    LastExactLine,
}

impl RuleOptions {
    pub(super) fn new(rules: &Adjudication) -> Self {
        if rules.as_fastchess {
            Self {
                counts_opening_moves: false,
                first_increment: true,
                agreement: Agreement::Magnitude,
                info: InfoSource::LastExactLine,
            }
        } else {
            Self {
                counts_opening_moves: true,
                first_increment: false,
                agreement: Agreement::Winner,
                info: InfoSource::LatestFields,
            }
        }
    }
}
