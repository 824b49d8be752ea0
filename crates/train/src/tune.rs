//! Fits the weights of a model to games.
//!
//! The evaluation of a position should predict the result of its game and the score of a search: the
//! target is a mixture of both, and the loss is the mean squared distance to it. Weights of rare terms
//! stay near their initial values, as under a Gaussian prior.

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

/// The settings of a fit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Settings {
    /// The number of passes through all positions.
    pub epochs: u32,
    /// The weight of the score in the target, from 0 to 1; the rest is the result.
    pub lambda: f32,
    /// The score for which the expected result is 1 / (1 + 1 / e) = 73 %, in centipawns.
    pub scale: f32,
    /// The prior standard deviation of the weights from their initial values, in centipawns.
    pub spread: f32,
    /// The initial learning rate in centipawns; it decays to one hundredth.
    pub rate: f32,
    /// The batch size in positions.
    pub batch: usize,
    /// The seed of the order of the positions.
    pub seed: u64,
    /// The number of threads. It does not affect the result.
    pub threads: usize,
}

/// The losses after an epoch.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Epoch {
    /// The number; 0 is the start.
    pub number: u32,
    /// The mean loss on the training set. After the start it is the mean over the steps of the epoch, not
    /// the loss of the final weights.
    pub training: f64,
    /// The mean loss on the validation set.
    pub validation: f64,
}

/// The approximate mean squared error at the end, as results are not predictable.
const NOISE: f32 = 0.02;

/// Fits weights. Those in `frozen` stay unchanged.
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
    // The gradient of the squared distance from the start, per position.
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
