//! Values of the search, scores, and win/draw/loss estimates.
//!
//! The expected win rate is a logistic function of the score, `1 / (1 + exp((a - x) / b))` for `x`
//! centipawns: `a` is the score with a win rate of 50 %, and `b` is the slope. The loss rate is the
//! win rate of the opponent. Material and time have no influence.

use readyok_engine::protocol::Wdl;
use readyok_rules::Game;

/// A value for the side to move: centipawns, or a distance to mate.
pub(crate) type Value = i32;

/// The maximum length of a line in plies.
pub(crate) const MAX_PLY: usize = 128;

pub(crate) const INFINITE: Value = 32_000;

pub(crate) const DRAW: Value = 0;

/// The value of a win by rule without mate, such as by the opponent's perpetual check.
pub(crate) const WON: Value = 20_000;

/// The value of a declaration win at this ply: sooner is better.
pub(crate) fn declared_win(ply: usize) -> Value {
    WON - Value::try_from(ply).unwrap_or(0)
}

/// Larger values are proved: mate, tablebases or the rules.
pub(crate) const DECIDED: Value = 19_000;

/// The value of a tablebase win at this ply.
pub(crate) fn tb_win(ply: usize) -> Value {
    DECIDED + 500 - Value::try_from(ply).unwrap_or(0)
}

/// Whether a value is a proved win or loss.
pub(crate) fn is_decided(value: Value) -> bool {
    value.abs() >= DECIDED
}

/// The value of checkmate. Values down to [`MATE_RANGE`] are mates with a distance.
const MATE: Value = 30_000;
const MATE_RANGE: Value = 29_000;

/// The value of being mated at this ply.
pub(crate) fn mated_in(ply: usize) -> Value {
    // Plies are bounded by `MAX_PLY`.
    Value::try_from(ply).unwrap_or(0) - MATE
}

/// The value of giving mate at this ply.
pub(crate) fn mate_in(ply: usize) -> Value {
    -mated_in(ply)
}

/// Converts a mate value from the root to the current node, for the transposition table.
pub(crate) fn value_to_tt(value: Value, ply: usize) -> Value {
    shift_mate(value, mated_in(ply) - mated_in(0))
}

/// Converts a mate value from the table back to the root; none if the game is drawn by rule before
/// that mate.
pub(crate) fn value_from_tt(value: Value, ply: usize, left: u32) -> Option<Value> {
    let is_late = value.abs() >= MATE_RANGE && MATE.abs_diff(value.abs()) > left;
    (!is_late).then(|| shift_mate(value, mated_in(0) - mated_in(ply)))
}

fn shift_mate(value: Value, plies: Value) -> Value {
    if value >= MATE_RANGE {
        value + plies
    } else if value <= -MATE_RANGE {
        value - plies
    } else {
        value
    }
}

/// A score for the side to move.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Score {
    /// An evaluation in centipawns.
    Centipawns(i32),
    /// The side to move mates.
    Wins {
        /// Plies to mate.
        plies: u32,
    },
    /// The side to move is mated.
    Loses {
        /// Plies to mate; 0 if already mated.
        plies: u32,
    },
}

impl Score {
    pub(crate) fn from_value(value: Value) -> Self {
        if value >= MATE_RANGE {
            Self::Wins { plies: MATE.abs_diff(value) }
        } else if value <= -MATE_RANGE {
            Self::Loses { plies: (-MATE).abs_diff(value) }
        } else {
            Self::Centipawns(value)
        }
    }
}

/// The constants of a game in centipawns.
struct Model {
    half: f64,
    slope: f64,
}

/// Chess: a pawn wins about every second game, and equal positions are mostly drawn.
const CHESS: Model = Model { half: 100.0, slope: 60.0 };

/// Shogi: draws are rare. A win rate of 75 % at 600 centipawns is a convention since Ponanza.
const SHOGI: Model = Model { half: 12.0, slope: 550.0 };

/// The estimate for a certain draw.
pub(crate) const CERTAIN_DRAW: Wdl = Wdl { win: 0, draw: 1000, loss: 0 };

/// Estimates win, draw and loss for the side to move, in permille. The sum is 1000.
pub(crate) fn estimate_wdl(game: Game, score: Score) -> Wdl {
    match score {
        Score::Wins { .. } => Wdl { win: 1000, draw: 0, loss: 0 },
        Score::Loses { .. } => Wdl { win: 0, draw: 0, loss: 1000 },
        Score::Centipawns(value) => {
            let model = match game {
                Game::Chess | Game::Chess960 => CHESS,
                Game::Shogi => SHOGI,
            };
            let (win, loss) = (model.win(value.into()), model.win(-f64::from(value)));
            Wdl { win, draw: 1000u16.saturating_sub(win).saturating_sub(loss), loss }
        }
    }
}

impl Model {
    fn win(&self, value: f64) -> u16 {
        let chance = 1.0 / (1.0 + ((self.half - value) / self.slope).exp());
        // Rounded down, so that the sum is at most 1000.
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 1000")]
        let permille = (chance * 1000.0) as u16;
        permille.min(1000)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mates_are_stored_relative_to_their_position() {
        for (value, ply) in [(mate_in(9), 4), (mated_in(8), 3), (250, 7), (tb_win(5), 5)] {
            let kept = value_to_tt(value, ply);
            assert_eq!(value_from_tt(kept, ply, 100), Some(value));
        }
    }

    #[test]
    fn a_mate_after_a_draw_by_rule_is_ignored() {
        let of = |kept, left| value_from_tt(kept, 2, left);
        assert_eq!([15, 14].map(|left| of(mate_in(15), left)), [Some(mate_in(17)), None]);
        assert_eq!([14, 13].map(|left| of(mated_in(14), left)), [Some(mated_in(16)), None]);
        assert_eq!(of(tb_win(0), 0), Some(tb_win(0)));
    }

    #[test]
    fn estimates_add_up_and_grow_with_the_score() {
        for game in [Game::Chess, Game::Chess960, Game::Shogi] {
            let mut last = estimate_wdl(game, Score::Loses { plies: 1 });
            for value in (-30_000..=30_000).step_by(7) {
                let Wdl { win, draw, loss } = estimate_wdl(game, Score::Centipawns(value));
                assert_eq!(win + draw + loss, 1000);
                assert!(last.win <= win && loss <= last.loss, "{value}");
                let turned = estimate_wdl(game, Score::Centipawns(-value));
                assert_eq!((turned.win, turned.loss), (loss, win));
                last = Wdl { win, draw, loss };
            }
            assert_eq!(estimate_wdl(game, Score::Wins { plies: 3 }).win, 1000);
        }
    }

    #[test]
    fn constants_match_their_description() {
        assert_eq!(estimate_wdl(Game::Chess, Score::Centipawns(100)).win, 500);
        assert_eq!(estimate_wdl(Game::Shogi, Score::Centipawns(12)).win, 500);
        let ahead = estimate_wdl(Game::Shogi, Score::Centipawns(600));
        assert!((730..=760).contains(&ahead.win), "{ahead:?}");
        let even = estimate_wdl(Game::Chess, Score::Centipawns(0));
        assert!(even.draw > even.win + even.loss, "{even:?}");
    }
}
