//! The scale between scores and results: a side that is ahead by the scale scores 73 % of the points,
//! 1 / (1 + 1 / e).

use std::collections::BTreeMap;

use crate::data::Winner;

/// Scores are grouped in steps of this size, in centipawns.
const STEP: i16 = 20;

/// Results by score.
#[derive(Debug, Clone, Default)]
pub struct Scores {
    /// By step of the score: the number of positions, and the points of the first side.
    steps: BTreeMap<i16, (u32, f64)>,
}

impl Scores {
    /// Adds a position's score for the first side and the winner of its game.
    pub fn add(&mut self, score: i16, winner: Winner) {
        let (count, points) = self.steps.entry(score.div_euclid(STEP)).or_default();
        *count += 1;
        *points += f64::from(winner.points());
    }

    /// The number of positions.
    pub fn count(&self) -> u64 {
        self.steps.values().map(|&(count, _)| u64::from(count)).sum()
    }

    /// The scale with the least squared error, in centipawns, between 10 and 10,000.
    #[expect(clippy::cast_possible_truncation, reason = "the precision is lower anyway")]
    pub fn scale(&self) -> f32 {
        let (mut low, mut high) = (10_f64.ln(), 10_000_f64.ln());
        for _ in 0..60 {
            let third = (high - low) / 3.0;
            if self.error((low + third).exp()) < self.error((high - third).exp()) {
                high -= third;
            } else {
                low += third;
            }
        }
        f64::midpoint(low, high).exp() as f32
    }

    /// The squared error of a scale, without its constant part.
    fn error(&self, scale: f64) -> f64 {
        let step = |(&step, &(count, points)): (&i16, &(u32, f64))| {
            let middle = (f64::from(step) + 0.5) * f64::from(STEP);
            let expected = 1.0 / (1.0 + (-middle / scale).exp());
            expected * (f64::from(count) * expected - 2.0 * points)
        };
        self.steps.iter().map(step).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::{Scores, Winner};

    #[test]
    fn recovers_the_scale_of_results() {
        let mut scores = Scores::default();
        for step in -40_i16..40 {
            let score = 20 * step + 10;
            let expected = 1.0 / (1.0 + (-f64::from(score) / 300.0).exp());
            for game in 0..1000 {
                let won = f64::from(game) < 1000.0 * expected;
                scores.add(score, if won { Winner::First } else { Winner::Second });
            }
        }
        assert!((scores.scale() - 300.0).abs() < 2.0, "{}", scores.scale());
    }
}
