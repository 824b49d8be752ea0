//! Scores, Elo and normalized Elo.

use std::f64::consts::LN_10;

use super::estimate::Figure;

/// Normalized Elo of a score one standard deviation of a game above one half: 800 / ln 10, so that
/// for small differences and without draws it is the usual Elo (M. Van den Bergh, *Normalized
/// Elo*).
pub const NORMALIZED_ELO: f64 = 800.0 / LN_10;

/// The expected score, between 0 and 1, at an Elo difference.
pub fn score_of_elo(elo: f64) -> f64 {
    1.0 / (1.0 + 10f64.powf(-elo / 400.0))
}

/// The Elo difference of an expected score. Infinite at 0 and 1, unknown outside.
pub fn elo_of_score(score: f64) -> Figure {
    if (0.0..=1.0).contains(&score) {
        Figure::of(-400.0 * (1.0 / score - 1.0).log10())
    } else {
        Figure::Unknown
    }
}

/// BayesElo: two numbers for the three probabilities of a game (R. Coulom, *Bayesian Elo rating*,
/// <https://www.remi-coulom.fr/Bayesian-Elo/>).
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct BayesElo {
    pub(super) elo: f64,
    pub(super) draw_elo: f64,
}

impl BayesElo {
    /// BayesElo of the probabilities of a loss and a win.
    pub(super) fn of(loss: f64, win: f64) -> Self {
        let (loss_odds, win_odds) = ((1.0 - loss) / loss, (1.0 - win) / win);
        Self {
            elo: 200.0 * (loss_odds / win_odds).log10(),
            draw_elo: 200.0 * (loss_odds * win_odds).log10(),
        }
    }

    /// The probabilities of a loss, a draw and a win.
    pub(super) fn distribution(self) -> [f64; 3] {
        let win = score_of_elo(self.elo - self.draw_elo);
        let loss = score_of_elo(-self.elo - self.draw_elo);
        [loss, 1.0 - loss - win, win]
    }

    /// The expected score.
    pub(super) fn score(self) -> f64 {
        let [_, draw, win] = self.distribution();
        win + draw / 2.0
    }

    /// The derivative of Elo with respect to BayesElo at equality.
    pub(super) fn scale(self) -> f64 {
        let x = 10f64.powf(-self.draw_elo / 400.0);
        4.0 * x / (1.0 + x).powi(2)
    }
}
