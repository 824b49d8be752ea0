//! Fits the weights of a model to games.
//!
//! The evaluation of a position should predict the result of its game and the score of a search: the
//! target is a mixture of both, and the loss is the mean squared distance to it. Weights of rare terms
//! stay near their initial values, as under a Gaussian prior.

use std::error::Error;
use std::f32::consts::PI;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::{fmt, thread};

use narikin::eval::{MAX_PHASE, Model, Terms, WEIGHT_UNITS, Weight};

use crate::data::{DataError, Reader, Winner};
use crate::games::TrainGame;
use crate::samples;
use crate::samples::{Filter, ReplayError, Scores};

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
    let start: Vec<Pair> = start.iter().map(|&weight| pair(weight)).collect();
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
    let pull = 2.0 * NOISE * settings.scale / settings.spread.powi(2) / count(order.len().max(1));
    for number in 1..=settings.epochs {
        crate::rng::of(settings.seed, u64::from(number)).shuffle(&mut order);
        let mut loss = 0.0;
        for chosen in order.chunks(batch) {
            loss += sums.gather(training, chosen, &weights, curve);
            let all = count(chosen.len());
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
            training: loss / f64::from(count(order.len().max(1))),
            validation,
        });
    }
    weights.iter().map(|&pair| weight(pair)).collect()
}

const FIRST: f32 = 0.9;
const SECOND: f32 = 0.999;
const TINY: f32 = 1e-9;

/// The ratio of the last learning rate to the first.
const LAST: f32 = 0.01;

/// The state of the optimizer.
struct Adam {
    moments: Vec<[Pair; 2]>,
    rate: f32,
    step: usize,
    steps: usize,
    /// Corrects the bias of moments that start at zero.
    bias: Pair,
}

impl Adam {
    /// The optimizer for a number of weights and steps.
    fn new(weights: usize, rate: f32, steps: usize) -> Self {
        let moments = vec![[[0.0; 2]; 2]; weights];
        Self { moments, rate, step: 0, steps: steps.max(1), bias: [1.0; 2] }
    }

    /// Begins the next step.
    fn advance(&mut self) {
        self.step += 1;
        let [first, second] = self.bias;
        self.bias = [first * FIRST, second * SECOND];
    }

    /// Updates a weight by its gradient.
    fn step(&mut self, number: usize, weight: &mut Pair, gradient: Pair) {
        let done = count(self.step) / count(self.steps);
        let rate = self.rate * (LAST + (1.0 - LAST) * 0.5 * (1.0 + (PI * done).cos()));
        let Some([first, second]) = self.moments.get_mut(number) else { return };
        for part in 0..2 {
            first[part] = FIRST * first[part] + (1.0 - FIRST) * gradient[part];
            second[part] = SECOND * second[part] + (1.0 - SECOND) * gradient[part].powi(2);
            let mean = first[part] / (1.0 - self.bias[0]);
            let size = (second[part] / (1.0 - self.bias[1])).sqrt();
            weight[part] -= rate * mean / (size + TINY);
        }
    }
}

/// A weight in centipawns: middlegame and endgame.
type Pair = [f32; 2];

/// The number of partial sums. It is constant, because the order of additions affects the result.
const SUMS: usize = 8;

/// Units per centipawn.
const PER_CENTIPAWN: f32 = 8.0;
const _: () = assert!(WEIGHT_UNITS == 8, "these constants are equal");

fn pair(weight: Weight) -> Pair {
    [weight.mg, weight.eg].map(|units| f32::from(units) / PER_CENTIPAWN)
}

#[expect(clippy::cast_possible_truncation, reason = "the conversion saturates")]
fn weight(pair: Pair) -> Weight {
    let [mg, eg] = pair.map(|centipawns| (centipawns * PER_CENTIPAWN).round() as i16);
    Weight { mg, eg }
}

#[expect(clippy::cast_precision_loss, reason = "the divided sums are less precise")]
fn count(number: usize) -> f32 {
    number as f32
}

/// The expected result of a score, and the target.
#[derive(Debug, Clone, Copy)]
struct Curve {
    lambda: f32,
    scale: f32,
}

impl Curve {
    fn points(self, centipawns: f32) -> f32 {
        1.0 / (1.0 + (-centipawns / self.scale).exp())
    }

    fn target(self, example: &Example<'_>) -> f32 {
        self.lambda * self.points(example.score) + (1.0 - self.lambda) * example.points
    }
}

/// A loss and its gradient by the weights, in units of the scale.
#[derive(Debug, Clone)]
struct Sum {
    loss: f64,
    gradient: Vec<Pair>,
}

/// Sums over many positions.
#[derive(Debug)]
struct Sums {
    sums: Vec<Sum>,
    threads: usize,
}

impl Sums {
    /// The sums for a number of weights.
    fn new(weights: usize, threads: usize) -> Self {
        let sum = Sum { loss: 0.0, gradient: vec![[0.0; 2]; weights] };
        Self { sums: vec![sum; SUMS], threads: threads.clamp(1, SUMS) }
    }

    /// The mean loss of positions.
    fn mean(&mut self, data: &Dataset, numbers: &[u32], weights: &[Pair], curve: Curve) -> f64 {
        let loss = self.each(numbers, |sum, number| {
            if let Some(example) = data.example(number) {
                let error = curve.points(value(&example, weights)) - curve.target(&example);
                sum.loss += f64::from(error * error);
            }
        });
        loss / f64::from(count(numbers.len().max(1)))
    }

    /// The loss of positions. [`Sums::gradient`] then returns its gradient.
    fn gather(&mut self, data: &Dataset, numbers: &[u32], weights: &[Pair], curve: Curve) -> f64 {
        for sum in &mut self.sums {
            sum.gradient.fill([0.0; 2]);
        }
        self.each(numbers, |sum, number| {
            let Some(example) = data.example(number) else { return };
            let points = curve.points(value(&example, weights));
            let error = points - curve.target(&example);
            sum.loss += f64::from(error * error);
            let slope = 2.0 * error * points * (1.0 - points);
            let (in_mg, in_eg) = (slope * example.mg, slope * (1.0 - example.mg));
            for (weight, count) in example.terms() {
                if let Some([mg, eg]) = sum.gradient.get_mut(weight) {
                    *mg += in_mg * count;
                    *eg += in_eg * count;
                }
            }
        })
    }

    /// The gradient by a weight.
    fn gradient(&self, weight: usize) -> Pair {
        let parts = self.sums.iter().filter_map(|sum| sum.gradient.get(weight));
        parts.fold([0.0; 2], |[mg, eg], part| [mg + part[0], eg + part[1]])
    }

    /// Adds all positions to the sums, and returns and resets the loss.
    fn each(&mut self, numbers: &[u32], add: impl Fn(&mut Sum, u32) + Sync) -> f64 {
        let per_sum = numbers.len().div_ceil(SUMS).max(1);
        let mut work: Vec<_> = self.sums.iter_mut().zip(numbers.chunks(per_sum)).collect();
        thread::scope(|scope| {
            for batch in work.chunks_mut(SUMS.div_ceil(self.threads)) {
                scope.spawn(|| {
                    for (sum, numbers) in batch {
                        for &number in *numbers {
                            add(sum, number);
                        }
                    }
                });
            }
        });
        self.sums.iter_mut().map(|sum| std::mem::take(&mut sum.loss)).sum()
    }
}

/// The evaluation of a position in centipawns for the first side.
fn value(example: &Example<'_>, weights: &[Pair]) -> f32 {
    let (mut in_mg, mut in_eg) = (0.0, 0.0);
    for (weight, count) in example.terms() {
        if let Some([mg, eg]) = weights.get(weight) {
            in_mg += mg * count;
            in_eg += eg * count;
        }
    }
    in_mg * example.mg + in_eg * (1.0 - example.mg)
}

/// A term has its weight in the lower 24 bits and its count in the upper 8.
const WEIGHT_BITS: u32 = 24;

/// The capacity for positions is exhausted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Full;

impl fmt::Display for Full {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("too many positions")
    }
}

impl Error for Full {}

/// Positions with their terms, scores and results.
#[derive(Debug, Default)]
pub struct Dataset {
    terms: Vec<u32>,
    positions: Vec<Entry>,
    sums: TermCounts,
}

#[derive(Debug, Clone, Copy)]
struct Entry {
    /// The end of its terms; they start at the end of the previous entry.
    end: u32,
    phase: i16,
    score: i16,
    winner: Winner,
}

/// The data of a position.
#[derive(Debug, Clone, Copy)]
struct Example<'a> {
    terms: &'a [u32],
    /// The weight of the middlegame, from 0 to 1.
    mg: f32,
    /// The score for the first side, in centipawns.
    score: f32,
    /// The points of the first side.
    points: f32,
}

impl Dataset {
    /// Adds a position with its score for the first side and the winner of its game.
    ///
    /// # Errors
    /// The capacity is exhausted. The data set is then unchanged.
    pub fn push<M: Model>(
        &mut self,
        board: &M::Board,
        score: i16,
        winner: Winner,
    ) -> Result<(), Full> {
        const { assert!(M::WEIGHTS <= 1 << WEIGHT_BITS, "a term has no room for more") };
        self.sums.counts.resize(M::WEIGHTS, 0);
        M::terms(board, &mut self.sums);
        let before = self.terms.len();
        self.sums.drain(&mut self.terms);
        let number = u32::try_from(self.positions.len());
        let (Ok(end), Ok(_)) = (u32::try_from(self.terms.len()), number) else {
            self.terms.truncate(before);
            return Err(Full);
        };
        let phase = i16::try_from(M::phase(board).clamp(0, MAX_PHASE)).unwrap_or(0);
        self.positions.push(Entry { end, phase, score, winner });
        Ok(())
    }

    /// The number of positions.
    pub fn len(&self) -> usize {
        self.positions.len()
    }

    /// Whether there are no positions.
    pub fn is_empty(&self) -> bool {
        self.positions.is_empty()
    }

    /// The mean number of terms per position.
    pub fn terms_each(&self) -> usize {
        self.terms.len() / self.len().max(1)
    }

    /// The number of positions in which each weight occurs.
    pub fn seen(&self, weights: usize) -> Vec<u32> {
        let mut seen = vec![0; weights];
        for term in &self.terms {
            if let Some(seen) = seen.get_mut(weight_of(*term)) {
                *seen += 1;
            }
        }
        seen
    }

    /// The indices of all positions.
    fn numbers(&self) -> impl Iterator<Item = u32> + use<> {
        0..u32::try_from(self.positions.len()).unwrap_or(u32::MAX)
    }

    fn example(&self, number: u32) -> Option<Example<'_>> {
        let number = usize::try_from(number).ok()?;
        let entry = self.positions.get(number)?;
        let before = number.checked_sub(1).and_then(|before| self.positions.get(before));
        let start = usize::try_from(before.map_or(0, |before| before.end)).ok()?;
        Some(Example {
            terms: self.terms.get(start..usize::try_from(entry.end).ok()?)?,
            mg: f32::from(entry.phase) / MAX_PHASE_F32,
            score: f32::from(entry.score),
            points: entry.winner.points(),
        })
    }
}

const MAX_PHASE_F32: f32 = 256.0;
const _: () = assert!(MAX_PHASE == 256, "these constants are equal");

impl Example<'_> {
    /// The weights of the position and their counts.
    fn terms(&self) -> impl Iterator<Item = (usize, f32)> {
        self.terms.iter().map(|&term| {
            let [.., count] = term.to_le_bytes();
            (weight_of(term), f32::from(count.cast_signed()))
        })
    }
}

fn weight_of(term: u32) -> usize {
    usize::try_from(term & ((1 << WEIGHT_BITS) - 1)).unwrap_or(usize::MAX)
}

/// Sums up the counts of each weight, so that terms that cancel out need no memory.
#[derive(Debug, Default)]
struct TermCounts {
    counts: Vec<i32>,
    touched: Vec<u32>,
}

impl Terms for TermCounts {
    fn add(&mut self, weight: usize, count: i32) {
        if let (Some(sum), Ok(number)) = (self.counts.get_mut(weight), u32::try_from(weight)) {
            // A weight that cancels out and occurs again is listed twice, which is harmless.
            if *sum == 0 {
                self.touched.push(number);
            }
            *sum = sum.saturating_add(count);
        }
    }
}

impl TermCounts {
    /// Moves the sums to the terms.
    fn drain(&mut self, terms: &mut Vec<u32>) {
        for weight in self.touched.drain(..) {
            let sum = usize::try_from(weight).ok().and_then(|weight| self.counts.get_mut(weight));
            let mut left = sum.map_or(0, std::mem::take);
            while left != 0 {
                let Ok(part) = i8::try_from(left.clamp(-127, 127)) else { break };
                terms.push(weight | u32::from(part.cast_unsigned()) << WEIGHT_BITS);
                left -= i32::from(part);
            }
        }
    }
}

/// One of this number of games is used for validation.
const VALIDATION_INTERVAL: u64 = 16;

/// Whether a game is used for validation.
pub(crate) fn validates(game: u64) -> bool {
    game % VALIDATION_INTERVAL == VALIDATION_INTERVAL - 1
}

/// Training and validation positions. They are separated by game, because positions of one game are too
/// similar.
#[derive(Debug, Default)]
pub struct Split {
    /// The training set.
    pub training: Dataset,
    /// The validation set: every 16th game.
    pub validation: Dataset,
    /// The scores and results of the training set.
    pub scores: Scores,
}

/// Why positions cannot be loaded.
#[derive(Debug)]
pub enum LoadError {
    /// The file cannot be read.
    Data(DataError),
    /// The file is of another game.
    OtherGame(PathBuf),
    /// A game cannot be replayed.
    Replay {
        /// The file.
        path: PathBuf,
        /// The number of the game, from 0.
        game: u64,
        /// The reason.
        why: ReplayError,
    },
    /// There are too many positions.
    Full(Full),
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Data(error) => error.fmt(f),
            Self::OtherGame(path) => write!(f, "`{}` is a file of another game", path.display()),
            Self::Replay { path, game, why } => {
                write!(f, "game {game} of `{}` cannot be played: {why}", path.display())
            }
            Self::Full(error) => error.fmt(f),
        }
    }
}

impl Error for LoadError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Data(error) => error.source(),
            Self::Replay { why, .. } => Some(why),
            Self::OtherGame(_) | Self::Full(_) => None,
        }
    }
}

impl From<DataError> for LoadError {
    fn from(error: DataError) -> Self {
        Self::Data(error)
    }
}

/// Loads the positions of files that pass a filter.
///
/// # Errors
/// See [`LoadError`].
pub fn load<G: TrainGame, M: Model<Board = G::Board>>(
    paths: &[impl AsRef<Path>],
    filter: &Filter,
) -> Result<Split, LoadError> {
    let mut split = Split::default();
    for path in paths {
        let path = path.as_ref();
        let reader = Reader::open(path)?;
        if reader.header().game != G::KIND {
            return Err(LoadError::OtherGame(path.to_owned()));
        }
        for (game, record) in (0..).zip(reader) {
            let record = record?;
            let validates = validates(game);
            let data = if validates { &mut split.validation } else { &mut split.training };
            let mut pushed = Ok(());
            samples::each::<G>(&record, filter, |sample| {
                if !validates {
                    split.scores.add(sample.score, record.winner);
                }
                if pushed.is_ok() {
                    pushed = data.push::<M>(sample.board, sample.score, record.winner);
                }
            })
            .map_err(|why| LoadError::Replay { path: path.to_owned(), game, why })?;
            pushed.map_err(LoadError::Full)?;
        }
    }
    Ok(split)
}
