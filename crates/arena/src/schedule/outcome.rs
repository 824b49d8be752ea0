//! What a schedule needs to know of a pairing that was played.

use readyok_rules::Side;

use crate::pairing::PairResult;
use crate::plan::EngineId;

/// What came of a pairing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// Which pairing.
    pub index: u64,
    /// Who had the first move in its first game.
    pub first: EngineId,
    /// Who had the second.
    pub second: EngineId,
    /// How its games ended.
    pub score: Score,
}

/// How the games of a pairing ended for the engine that is its `first`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Score {
    /// Games that it won.
    pub wins: u32,
    /// Draws.
    pub draws: u32,
    /// Games that it lost.
    pub losses: u32,
}

impl Score {
    /// How many games they were.
    pub fn games(self) -> u32 {
        self.wins.saturating_add(self.draws).saturating_add(self.losses)
    }

    /// What they brought to both engines, in half points.
    pub(super) fn half_points(self) -> (u64, u64) {
        let points = |wins: u32| u64::from(wins) * 2 + u64::from(self.draws);
        (points(self.wins), points(self.losses))
    }
}

impl From<&PairResult> for Outcome {
    fn from(result: &PairResult) -> Self {
        let pairing = &result.pairing;
        let mut score = Score::default();
        for game in &result.games {
            let winner = game.winner.map(|side| match side {
                Side::First => game.first,
                Side::Second => game.second,
            });
            let count = match winner {
                None => &mut score.draws,
                Some(winner) if winner == pairing.first => &mut score.wins,
                Some(_) => &mut score.losses,
            };
            *count = count.saturating_add(1);
        }
        Self { index: pairing.index, first: pairing.first, second: pairing.second, score }
    }
}
