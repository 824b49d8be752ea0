//! Fits the weights of a model to games.
//!
//! A position's value should predict how its game ends and what a search prints of it: the target is a
//! mixture of both, and what is minimised is the mean squared distance to it. Weights that few
//! positions have stay near where they began, as if the start were a guess with a known error.

mod adam;
mod dataset;
mod load;
mod loss;

use std::ops::Range;

use narikin::eval::Weight;

pub use dataset::{Dataset, Full};
pub use load::{LoadError, Split, load};

use adam::Adam;
use loss::{Curve, Pair, Sums};

/// How to fit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Settings {
    /// How often to go through all positions.
    pub epochs: u32,
    /// How much of the target is the score, from 0 to 1; the rest is the result.
    pub lambda: f32,
    /// What is worth an expected result of 1 / (1 + 1 / e) = 73 %, in centipawns.
    pub scale: f32,
    /// How far the weights are thought to be from their start before any position is seen, as a
    /// standard deviation in centipawns.
    pub spread: f32,
    /// How far the first steps move a weight, in centipawns; the last ones move it by a hundredth.
    pub rate: f32,
    /// How many positions make a step.
    pub batch: usize,
    /// Decides the order of the positions.
    pub seed: u64,
    /// How many threads to use; their number changes no result.
    pub threads: usize,
}

/// How far a fit has come.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Epoch {
    /// Its number; 0 is the start.
    pub number: u32,
    /// The mean loss of the positions that are fitted to. After the start it is that of the steps on
    /// the way, not of the weights at the end.
    pub training: f64,
    /// The mean loss of those that are not.
    pub validation: f64,
}

/// The mean squared error that is left at the end, about: results are not to be foreseen.
const NOISE: f32 = 0.02;

/// Fits weights, beginning from some. Those in `frozen` stay as they are.
pub fn fit(
    training: &Dataset,
    validation: &Dataset,
    start: &[Weight],
    frozen: &[Range<usize>],
    settings: &Settings,
    mut on_epoch: impl FnMut(&Epoch),
) -> Vec<Weight> {
    let curve = Curve { lambda: settings.lambda, scale: settings.scale };
    let start: Vec<Pair> = start.iter().map(|&weight| loss::pair(weight)).collect();
    let is_free = |weight: usize| !frozen.iter().any(|range| range.contains(&weight));
    let free: Vec<bool> = (0..start.len()).map(is_free).collect();
    let mut weights = start.clone();
    let mut sums = Sums::new(start.len(), settings.threads);
    let mut order: Vec<u32> = training.numbers().collect();
    let others: Vec<u32> = validation.numbers().collect();
    on_epoch(&Epoch {
        number: 0,
        training: sums.mean(training, &order, &weights, curve),
        validation: sums.mean(validation, &others, &weights, curve),
    });
    let batch = settings.batch.max(1);
    let steps = order.len().div_ceil(batch) * usize::try_from(settings.epochs).unwrap_or(0);
    let mut adam = Adam::new(start.len(), settings.rate, steps);
    // The slope of the squared distance from the start, per position.
    let pull =
        2.0 * NOISE * settings.scale / settings.spread.powi(2) / loss::count(order.len().max(1));
    for number in 1..=settings.epochs {
        crate::rng::of(settings.seed, u64::from(number)).shuffle(&mut order);
        let mut loss = 0.0;
        for chosen in order.chunks(batch) {
            loss += sums.gather(training, chosen, &weights, curve);
            let all = loss::count(chosen.len());
            let steps = weights.iter_mut().zip(&start).zip(&free).enumerate();
            adam.advance();
            for (number, ((weight, start), _)) in steps.filter(|(_, (_, free))| **free) {
                let slope = sums.gradient(number);
                let pulled = |part: usize| slope[part] / all + pull * (weight[part] - start[part]);
                adam.step(number, weight, [pulled(0), pulled(1)]);
            }
        }
        let validation = sums.mean(validation, &others, &weights, curve);
        on_epoch(&Epoch {
            number,
            training: loss / f64::from(loss::count(order.len().max(1))),
            validation,
        });
    }
    weights.iter().map(|&pair| loss::weight(pair)).collect()
}
