//! The value of a position, inside the search and outside.

use readyok_engine::protocol::Wdl;
use readyok_rules::Game;

/// A value inside the search, for the side to move: centipawns, or a distance from mate.
pub(crate) type Value = i32;

/// No line can be longer, in plies.
pub(crate) const MAX_PLY: usize = 128;

/// Larger than any value.
pub(crate) const INFINITE: Value = 32_000;

/// The value of a draw.
pub(crate) const DRAW: Value = 0;

/// The value of a game won by rule without mate, such as by the opponent's perpetual check.
pub(crate) const WON: Value = 20_000;

/// The value of a win that is declared after so many plies: the sooner the better, or it might be put off for
/// ever.
pub(crate) fn declared_win(ply: usize) -> Value {
    WON - Value::try_from(ply).unwrap_or(0)
}

/// Values from here on come from a mate or a rule that ends the game, not from an evaluation.
pub(crate) const DECIDED: Value = 19_000;

/// The value of a position after so many plies that tablebases know to be won.
pub(crate) fn tb_win(ply: usize) -> Value {
    DECIDED + 500 - Value::try_from(ply).unwrap_or(0)
}

/// Whether a value says that somebody has won.
pub(crate) fn is_decided(value: Value) -> bool {
    value.abs() >= DECIDED
}

/// Mate on the board, given now. Values from here down to [`MATE_RANGE`] are mates further away.
const MATE: Value = 30_000;
const MATE_RANGE: Value = 29_000;

/// The value of being mated after so many plies.
pub(crate) fn mated_in(ply: usize) -> Value {
    // Plies are bounded by `MAX_PLY`.
    Value::try_from(ply).unwrap_or(0) - MATE
}

/// The value of giving mate after so many plies.
pub(crate) fn mate_in(ply: usize) -> Value {
    -mated_in(ply)
}

/// Counts a mate from the position it was found in instead of from the root, which is how it can be
/// kept for other ways to that position.
pub(crate) fn value_to_tt(value: Value, ply: usize) -> Value {
    shift_mate(value, mated_in(ply) - mated_in(0))
}

/// Undoes [`value_to_tt`], where the game is drawn by rule after so many plies. A mate that would come later
/// was found with less of the game played, and says nothing.
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

/// What a position is worth for the side to move.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Score {
    /// Hundredths of a pawn.
    Centipawns(i32),
    /// The side to move gives mate within so many plies.
    Wins {
        /// Plies until mate, its last move included.
        plies: u32,
    },
    /// The side to move is mated within so many plies.
    Loses {
        /// Plies until mate; 0 if it stands on the board.
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

/// The numbers of a game, in centipawns.
struct Model {
    half: f64,
    slope: f64,
}

/// Between players of equal strength a pawn wins about every second game, and without an advantage
/// most games are drawn.
const CHESS: Model = Model { half: 100.0, slope: 60.0 };

/// Draws are rare. That a score of 600 wins three games of four is what shogi programs have agreed on
/// since Ponanza.
const SHOGI: Model = Model { half: 12.0, slope: 550.0 };

/// The chances where it is known that nobody wins.
pub(crate) const DRAWN: Wdl = Wdl { win: 0, draw: 1000, loss: 0 };

/// The chances of the side to move, in permille. They add up to 1000.
pub(crate) fn chances(game: Game, score: Score) -> Wdl {
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
        // Rounded down, so that two of them are never more than a whole.
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 1000")]
        let permille = (chance * 1000.0) as u16;
        permille.min(1000)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mates_are_kept_as_seen_from_their_position() {
        for (value, ply) in [(mate_in(9), 4), (mated_in(8), 3), (250, 7), (tb_win(5), 5)] {
            let kept = value_to_tt(value, ply);
            assert_eq!(value_from_tt(kept, ply, 100), Some(value));
        }
    }

    #[test]
    fn a_mate_that_comes_after_a_draw_by_rule_is_none() {
        let of = |kept, left| value_from_tt(kept, 2, left);
        assert_eq!([15, 14].map(|left| of(mate_in(15), left)), [Some(mate_in(17)), None]);
        assert_eq!([14, 13].map(|left| of(mated_in(14), left)), [Some(mated_in(16)), None]);
        assert_eq!(of(tb_win(0), 0), Some(tb_win(0)));
    }

    #[test]
    fn chances_add_up_and_grow_with_the_score() {
        for game in [Game::Chess, Game::Chess960, Game::Shogi] {
            let mut last = chances(game, Score::Loses { plies: 1 });
            for value in (-30_000..=30_000).step_by(7) {
                let Wdl { win, draw, loss } = chances(game, Score::Centipawns(value));
                assert_eq!(win + draw + loss, 1000);
                assert!(last.win <= win && loss <= last.loss, "{value}");
                let turned = chances(game, Score::Centipawns(-value));
                assert_eq!((turned.win, turned.loss), (loss, win));
                last = Wdl { win, draw, loss };
            }
            assert_eq!(chances(game, Score::Wins { plies: 3 }).win, 1000);
        }
    }

    #[test]
    fn the_constants_mean_what_they_say() {
        assert_eq!(chances(Game::Chess, Score::Centipawns(100)).win, 500);
        assert_eq!(chances(Game::Shogi, Score::Centipawns(12)).win, 500);
        let ahead = chances(Game::Shogi, Score::Centipawns(600));
        assert!((730..=760).contains(&ahead.win), "{ahead:?}");
        let even = chances(Game::Chess, Score::Centipawns(0));
        assert!(even.draw > even.win + even.loss, "{even:?}");
    }
}
