//! Counts and tests in events: plain numbers, from which everything else follows.

use serde::{Deserialize, Serialize};

use crate::plan::{EngineId, GamesPerPairing};
use crate::stats::{Counts, Pentanomial, SprtStatus, Trinomial, Verdict};

/// How two engines stand against each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Score {
    /// Whose wins are counted: the one with the lower number.
    pub engine: EngineId,
    /// Against whom.
    pub opponent: EngineId,
    /// Games won.
    pub wins: u64,
    /// Games drawn.
    pub draws: u64,
    /// Games lost.
    pub losses: u64,
    /// Pairs of two games: two losses, loss and draw, win and loss, two draws, win and draw, two
    /// wins. All 0 if pairings have one game.
    pub pairs: [u64; 6],
}

impl Score {
    /// The games, one by one. More than can be counted are none.
    pub fn games(&self) -> Trinomial {
        Trinomial::new(self.losses, self.draws, self.wins).unwrap_or_default()
    }

    /// The counts that statistics are made of: pairs, or games if pairings have one. None of more
    /// pairs than can be counted.
    pub fn counts(&self, games: GamesPerPairing) -> Option<Counts> {
        let [ll, ld, wl, dd, wd, ww] = self.pairs;
        match games {
            GamesPerPairing::One => Some(Counts::Games(self.games())),
            GamesPerPairing::Two => {
                Pentanomial::new(ll, ld, wl, dd, wd, ww).ok().map(Counts::Pairs)
            }
        }
    }
}

/// How a test stands.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct TestState {
    /// The log-likelihood ratio of H1 to H0.
    pub llr: f64,
    /// At or below it H0 is accepted.
    pub lower: f64,
    /// At or above it H1 is accepted.
    pub upper: f64,
    /// What follows.
    #[serde(with = "VerdictWord")]
    pub verdict: Verdict,
}

impl From<SprtStatus> for TestState {
    fn from(status: SprtStatus) -> Self {
        let SprtStatus { llr, lower, upper, verdict } = status;
        Self { llr, lower, upper, verdict }
    }
}

/// A verdict as a word.
#[derive(Serialize, Deserialize)]
#[serde(remote = "Verdict", rename_all = "lowercase")]
pub(super) enum VerdictWord {
    Continue,
    #[serde(rename = "h0")]
    AcceptH0,
    #[serde(rename = "h1")]
    AcceptH1,
}
