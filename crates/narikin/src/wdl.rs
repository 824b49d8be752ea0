//! From a score to the chances of winning, drawing and losing.
//!
//! The chance to win is a logistic function of the score, `1 / (1 + exp((a - x) / b))` for `x`
//! centipawns: `a` is the score at which every second game is won, and `b` says how fast the chance
//! rises there. The chance to lose is that of the opponent to win with the score turned round, and
//! what is left is the chance of a draw. Neither the material nor the time left counts.

use readyok_engine::protocol::Wdl;
use readyok_rules::Game;

use crate::Score;

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
