//! Fits the parameters of a network to positions.

use narikin::network::{Activation, Features};
use rayon::prelude::*;

use crate::games::TrainGame;
use crate::nnue::curve::Point;
use crate::nnue::gradient::{Objective, Pass};
use crate::nnue::optimizer::{Adam, cosine};
use crate::nnue::parameters::Shape;
use crate::nnue::positions::Positions;
use crate::nnue::source::Source;
use crate::rng;

/// The number of partial gradients of a batch. It is constant, because the order of additions affects
/// the result.
const PARTS: usize = 16;

/// The number of positions that a thread evaluates at a time.
const EVALUATED: usize = 4096;

/// The settings that determine the result for given games.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Settings {
    /// The number of hidden units per perspective.
    pub hidden: usize,
    /// The activation function.
    pub activation: Activation,
    /// The number of passes through all games.
    pub epochs: u32,
    /// The batch size in positions.
    pub batch: usize,
    /// The number of positions that are shuffled together.
    pub buffer: usize,
    /// The first and the last learning rate.
    pub rate: [f32; 2],
    /// The weight decay of `AdamW`.
    pub decay: f32,
    /// The first and the last weight of the result in the target.
    pub wdl: [f32; 2],
    /// The score with an expected result of 73 %, in centipawns.
    pub scale: f32,
    /// Centipawns per output of 1.
    pub centipawns: f32,
    /// The random seed.
    pub seed: u64,
    /// The number of reports on the learning curve.
    pub reports: u32,
}

impl Settings {
    /// The objective at a progress from 0 to 1.
    pub fn objective(&self, progress: f32) -> Objective {
        let [first, last] = self.wdl;
        Objective {
            activation: self.activation,
            centipawns: self.centipawns,
            scale: self.scale,
            wdl: first + (last - first) * progress,
        }
    }
}

/// The state of a training run.
#[derive(Debug, Clone, PartialEq)]
pub struct TrainingState {
    pub parameters: Vec<f32>,
    /// The state of the optimizer.
    pub adam: Adam,
    /// The parameters with the lowest validation loss.
    pub best: Vec<f32>,
    /// The validation loss of the best parameters.
    pub best_loss: f64,
    /// The number of complete epochs.
    pub epoch: u32,
    /// The number of games of the current epoch that were used.
    pub used: usize,
    /// The number of positions of all batches.
    pub positions: u64,
    /// The number of reports.
    pub reports: u32,
}

/// Fits a network to the games of a source.
#[derive(Debug)]
pub struct Trainer<'a, G> {
    source: &'a Source<G>,
    settings: Settings,
    shape: Shape,
    validation: Positions,
    gradients: Vec<Vec<f32>>,
    order: Vec<u32>,
    state: TrainingState,
    /// The sum of losses since the last report.
    loss: f64,
    /// The number of positions since the last report.
    counted: usize,
}

impl<'a, G: TrainGame + Sync> Trainer<'a, G> {
    /// Starts with random parameters, or with given ones.
    pub fn new(
        source: &'a Source<G>,
        validation: Positions,
        settings: Settings,
        start: Option<Vec<f32>>,
    ) -> Self {
        let shape = Shape { features: G::Board::INPUTS, hidden: settings.hidden };
        let parameters =
            start.unwrap_or_else(|| shape.initial(&mut rng::of(settings.seed, u64::MAX)));
        let state = TrainingState {
            adam: Adam::new(parameters.len()),
            best: parameters.clone(),
            parameters,
            best_loss: f64::INFINITY,
            epoch: 0,
            used: 0,
            positions: 0,
            reports: 0,
        };
        Self::resume(source, validation, settings, state)
    }

    /// Continues from a state.
    pub fn resume(
        source: &'a Source<G>,
        validation: Positions,
        settings: Settings,
        state: TrainingState,
    ) -> Self {
        let shape = Shape { features: G::Board::INPUTS, hidden: settings.hidden };
        Self {
            order: source.order(settings.seed, state.epoch),
            source,
            settings,
            shape,
            validation,
            gradients: vec![vec![0.0; shape.parameters()]; PARTS],
            state,
            loss: 0.0,
            counted: 0,
        }
    }

    /// The current state.
    pub fn state(&self) -> &TrainingState {
        &self.state
    }

    /// The progress from 0 to 1.
    #[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, reason = "a ratio")]
    fn progress(&self, used: f64) -> f32 {
        let epochs = f64::from(self.state.epoch) + used / self.order.len().max(1) as f64;
        (epochs / f64::from(self.settings.epochs.max(1))) as f32
    }

    /// Trains until the next point of the learning curve. None at the end.
    #[expect(clippy::cast_precision_loss, reason = "means")]
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a part of the number of reports"
    )]
    pub fn advance(&mut self) -> Option<Point> {
        while self.state.epoch < self.settings.epochs && !self.order.is_empty() {
            self.window();
            let progress = self.progress(self.state.used as f64);
            let due = progress * self.settings.reports as f32 >= (self.state.reports + 1) as f32;
            if due || self.state.epoch == self.settings.epochs {
                self.state.reports = (progress * self.settings.reports as f32) as u32;
                let validation = self.validation_loss();
                if validation < self.state.best_loss {
                    self.state.best_loss = validation;
                    self.state.best.clone_from(&self.state.parameters);
                }
                let training =
                    std::mem::take(&mut self.loss) / std::mem::take(&mut self.counted) as f64;
                let rate = cosine(self.settings.rate, progress);
                let positions = self.state.positions;
                return Some(Point { positions, progress, rate, training, validation });
            }
        }
        None
    }

    /// Trains with the next games.
    #[expect(clippy::cast_precision_loss, reason = "a ratio")]
    fn window(&mut self) {
        let Settings { seed, batch, buffer, .. } = self.settings;
        let rest = &self.order[self.state.used..];
        let games = &rest[..self.source.take(rest, buffer)];
        let parts = self.source.training(games, seed, self.state.epoch);
        let mut chosen: Vec<(u32, u32)> = (0..)
            .zip(&parts)
            .flat_map(|(part, positions)| {
                (0..).take(positions.len()).map(move |index| (part, index))
            })
            .collect();
        rng::of(seed, u64::from(self.state.epoch) << 32 | self.state.used as u64)
            .shuffle(&mut chosen);
        // All batches have about the same size.
        let batches = ((chosen.len() + batch / 2) / batch).max(1);
        let per_batch = chosen.len().div_ceil(batches).max(1);
        let begun = self.state.used as f64;
        let used = games.len();
        for (number, batch) in chosen.chunks(per_batch).enumerate() {
            let part = number as f64 / batches as f64;
            self.step(&parts, batch, self.progress(begun + part * used as f64));
        }
        self.state.used += used;
        if self.state.used == self.order.len() {
            self.state.epoch += 1;
            self.state.used = 0;
            self.order = self.source.order(seed, self.state.epoch);
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "a divisor")]
    fn step(&mut self, parts: &[Positions], batch: &[(u32, u32)], progress: f32) {
        let objective = self.settings.objective(progress);
        let (parameters, shape) = (&self.state.parameters, self.shape);
        let per_part = batch.len().div_ceil(PARTS).max(1);
        let empty: &[(u32, u32)] = &[];
        let chunks: Vec<_> =
            batch.chunks(per_part).chain(std::iter::repeat(empty)).take(PARTS).collect();
        let losses: Vec<f64> = self
            .gradients
            .par_iter_mut()
            .zip(chunks)
            .with_max_len(1)
            .map(|(gradient, chunk)| {
                gradient.fill(0.0);
                let positions =
                    chunk.iter().map(|&(part, index)| parts[part as usize].get(index as usize));
                Pass::new(shape).add_gradient(parameters, &objective, positions, gradient)
            })
            .collect();
        self.loss += losses.iter().sum::<f64>();
        self.counted += batch.len();
        self.state.positions += batch.len() as u64;
        let rate = cosine(self.settings.rate, progress);
        self.state.adam.step(
            &mut self.state.parameters,
            &self.gradients,
            batch.len() as f32,
            rate,
            self.settings.decay,
        );
    }

    /// The mean loss on the validation set, with the last weight of the results.
    pub fn validation_loss(&self) -> f64 {
        let objective = self.settings.objective(1.0);
        mean_loss(&self.validation, &self.state.parameters, self.shape, &objective)
    }
}

/// The mean loss of a network on positions.
#[expect(clippy::cast_precision_loss, reason = "a mean")]
pub fn mean_loss(
    positions: &Positions,
    parameters: &[f32],
    shape: Shape,
    objective: &Objective,
) -> f64 {
    let indices: Vec<usize> = (0..positions.len()).collect();
    let losses: Vec<f64> = indices
        .par_chunks(EVALUATED)
        .map(|indices| {
            let mut pass = Pass::new(shape);
            indices
                .iter()
                .map(|&index| {
                    let position = positions.get(index);
                    let output = pass.output(parameters, objective.activation, &position);
                    objective.loss(&position, output * objective.centipawns)
                })
                .sum()
        })
        .collect();
    losses.iter().sum::<f64>() / positions.len().max(1) as f64
}
