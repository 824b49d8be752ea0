//! Thousands of simulated tests: their error rates and lengths match the predictions.
#![expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "counts are small"
)]

use std::f64::consts::LN_10;

use fastrand::Rng;
use readyok_arena::stats::{
    Counts, Model, Outcome, Pentanomial, Sprt, Trinomial, Verdict, score_of_elo,
};

const TESTS: u32 = 10_000;
const ALPHA: f64 = 0.05;
const BETA: f64 = 0.10;

/// A law of results, worst first, with its scores between 0 and 1.
#[derive(Clone)]
pub(super) struct Law {
    probabilities: Vec<f64>,
}

impl Law {
    fn scored(&self) -> impl Iterator<Item = (f64, f64)> {
        let last = (self.probabilities.len() - 1) as f64;
        self.probabilities.iter().enumerate().map(move |(i, p)| (i as f64 / last, *p))
    }

    fn mean(&self) -> f64 {
        self.scored().map(|(score, p)| score * p).sum()
    }

    fn deviations(&self) -> f64 {
        let mean = self.mean();
        let variance: f64 = self.scored().map(|(score, p)| (score - mean).powi(2) * p).sum();
        (mean - 0.5) / variance.sqrt()
    }

    fn leaning(&self, lambda: f64) -> Self {
        let weights: Vec<f64> =
            self.scored().map(|(score, p)| p * (lambda * score).exp()).collect();
        let sum: f64 = weights.iter().sum();
        Self { probabilities: weights.iter().map(|weight| weight / sum).collect() }
    }

    /// The tilted distribution whose `measure` has the target value.
    fn with(&self, measure: impl Fn(&Self) -> f64, target: f64) -> Self {
        let (mut low, mut high) = (-20.0, 20.0);
        for _ in 0..100 {
            let middle = f64::midpoint(low, high);
            if measure(&self.leaning(middle)) < target {
                low = middle;
            } else {
                high = middle;
            }
        }
        self.leaning(low)
    }

    pub(super) fn draw(&self, rng: &mut Rng) -> usize {
        let mut rest = rng.f64();
        for (i, p) in self.probabilities.iter().enumerate() {
            if rest < *p {
                return i;
            }
            rest -= p;
        }
        self.probabilities.len() - 1
    }

    fn counts(&self, counts: [u64; 5]) -> Counts {
        if self.probabilities.len() == 5 {
            Counts::Pairs(Pentanomial::from_five(counts).unwrap())
        } else {
            let [losses, draws, wins, ..] = counts;
            Counts::Games(Trinomial::new(losses, draws, wins).unwrap())
        }
    }

    /// The counts that this law gives on average.
    fn average(&self, items: f64) -> Counts {
        let mut counts = [0; 5];
        for (count, p) in counts.iter_mut().zip(&self.probabilities) {
            *count = (p * items).round() as u64;
        }
        self.counts(counts)
    }
}

pub(super) fn pairs() -> Law {
    Law { probabilities: vec![0.04, 0.22, 0.46, 0.23, 0.05] }
}

fn games() -> Law {
    Law { probabilities: vec![0.27, 0.45, 0.28] }
}

pub(super) fn normalized(law: &Law, elo: f64) -> Law {
    let per_item: f64 = if law.probabilities.len() == 5 { 2.0 } else { 1.0 };
    law.with(Law::deviations, elo * LN_10 / 800.0 * per_item.sqrt())
}

fn logistic(law: &Law, elo: f64) -> Law {
    law.with(Law::mean, score_of_elo(elo))
}

/// Games with the probabilities of BayesElo, where draws are as likely as in `law` at equality.
fn bayes_elo(elo: f64) -> Law {
    let draw_elo = 200.0;
    let [win, loss] = [elo, -elo].map(|elo| score_of_elo(elo - draw_elo));
    Law { probabilities: vec![loss, 1.0 - loss - win, win] }
}

fn bayes_elo_scaled(elo: f64) -> Law {
    let x = 10f64.powf(-200.0 / 400.0);
    bayes_elo(elo * (1.0 + x).powi(2) / (4.0 * x))
}

/// How one test ended: for H1 or not, after how many items, with which counts.
pub(super) struct Ended {
    pub(super) accepted_h1: bool,
    pub(super) items: u64,
    counts: Counts,
}

/// A test whose ratio is computed only where it matters.
pub(super) struct Play<'a> {
    sprt: &'a Sprt,
    law: &'a Law,
    /// What one more result changes the ratio by, late in a test.
    steps: Vec<f64>,
    /// The distance to a bound below which the approximate ratio is not reliable.
    near: f64,
}

/// The number of results after which the approximate ratio is recomputed.
const CARRIED: u32 = 50;

impl<'a> Play<'a> {
    pub(super) fn new(sprt: &'a Sprt, law: &'a Law) -> Self {
        let llr = |counts| sprt.llr(&law.counts(counts)).unwrap();
        let items = 1000.0;
        let mut base = [0; 5];
        for (count, p) in base.iter_mut().zip(&law.probabilities) {
            *count = (p * items).round() as u64;
        }
        let step = |i| {
            let mut counts = base;
            counts[i] += 1;
            llr(counts) - llr(base)
        };
        let steps: Vec<f64> = (0..law.probabilities.len()).map(step).collect();
        let near = 2.0 * steps.iter().map(|step| step.abs()).fold(0.0, f64::max);
        Self { sprt, law, steps, near }
    }

    pub(super) fn play(&self, rng: &mut Rng) -> Ended {
        let mut counts = [0; 5];
        let mut items = 0;
        let mut llr = 0.0;
        loop {
            for _ in 0..CARRIED {
                let result = self.law.draw(rng);
                counts[result] += 1;
                items += 1;
                llr += self.steps[result];
                if llr < self.sprt.lower() + self.near || self.sprt.upper() - self.near < llr {
                    break;
                }
            }
            let counted = self.law.counts(counts);
            llr = self.sprt.llr(&counted).unwrap();
            match self.sprt.judge(llr) {
                Verdict::Continue => (),
                verdict => {
                    let accepted_h1 = verdict == Verdict::AcceptH1;
                    return Ended { accepted_h1, items, counts: counted };
                }
            }
        }
    }
}

/// The share of tests that accept H1, and the mean number of items.
fn simulate(sprt: &Sprt, law: &Law, seed: u64) -> (f64, f64) {
    let mut rng = Rng::with_seed(seed);
    let (mut accepted, mut items) = (0u32, 0);
    let test = Play::new(sprt, law);
    for _ in 0..TESTS {
        let ended = test.play(&mut rng);
        accepted += u32::from(ended.accepted_h1);
        items += ended.items;
    }
    (f64::from(accepted) / f64::from(TESTS), items as f64 / f64::from(TESTS))
}

/// An error may be rarer than promised, as the last game oversteps the bound, but not by much.
#[track_caller]
fn check_error(what: &str, seen: f64, promised: f64) {
    let chance = 4.0 * (promised * (1.0 - promised) / f64::from(TESTS)).sqrt();
    assert!(seen <= promised + chance, "{what}: {seen}, more than {promised}");
    assert!(seen >= 0.7 * promised, "{what}: {seen}, far from {promised}");
}

#[track_caller]
fn check(model: Model, elo0: f64, elo1: f64, base: &Law, truth: impl Fn(f64) -> Law) {
    let sprt = Sprt::new(model, elo0, elo1, ALPHA, BETA).unwrap();
    let per_item = if base.probabilities.len() == 5 { 2.0 } else { 1.0 };
    let even = base.average(1_000_000.0);
    let middle = f64::midpoint(elo0, elo1);
    for (elo, seed) in [(elo0, 1), (elo1, 2), (middle, 3)] {
        let (accepted, items) = simulate(&sprt, &truth(elo), seed);
        if seed == 1 {
            check_error("H1 accepted where H0 is true", accepted, ALPHA);
        } else if seed == 2 {
            check_error("H0 accepted where H1 is true", 1.0 - accepted, BETA);
        }
        let forecast = sprt.forecast(&even, elo).unwrap();
        assert!((accepted - forecast.accept_h1).abs() < 0.03, "{elo}: {accepted} {forecast:?}");
        let ratio = items * per_item / forecast.games;
        assert!((0.95..1.15).contains(&ratio), "{elo}: {ratio} times {forecast:?}");
    }
}

#[test]
fn normalized_tests_of_pairs_err_as_promised() {
    check(Model::Normalized, 0.0, 50.0, &pairs(), |elo| normalized(&pairs(), elo));
}

#[test]
fn logistic_tests_of_pairs_err_as_promised() {
    check(Model::Logistic, -6.0, 25.0, &pairs(), |elo| logistic(&pairs(), elo));
}

#[test]
fn normalized_tests_of_games_err_as_promised() {
    check(Model::Normalized, 0.0, 50.0, &games(), |elo| normalized(&games(), elo));
}

#[test]
fn logistic_tests_of_games_err_as_promised() {
    check(Model::Logistic, 0.0, 40.0, &games(), |elo| logistic(&games(), elo));
}

#[test]
fn bayesian_tests_of_fastchess_err_as_promised() {
    check(Model::FastchessBayesian, 0.0, 50.0, &bayes_elo(0.0), bayes_elo);
}

#[test]
fn tests_of_cutechess_err_as_promised() {
    check(Model::BayesElo, 0.0, 40.0, &bayes_elo(0.0), bayes_elo_scaled);
}

#[test]
fn unscaled_tests_err_as_promised() {
    check(Model::UnscaledBayesElo, 0.0, 50.0, &bayes_elo(0.0), bayes_elo);
}

/// After a test, the plain estimate is too far from the middle; the other is not.
#[test]
fn the_estimate_of_a_finished_test_is_as_often_low_as_high() {
    const FEW: u32 = 1000;
    let (elo0, elo1, elo) = (0.0, 40.0, 40.0);
    let sprt = Sprt::new(Model::Normalized, elo0, elo1, 0.05, 0.05).unwrap();
    let law = normalized(&pairs(), elo);
    let mut rng = Rng::with_seed(4);
    let (mut low, mut covered, mut plain_sum) = (0u32, 0u32, 0.0);
    let test = Play::new(&sprt, &law);
    for _ in 0..FEW {
        let ended = test.play(&mut rng);
        let estimate = sprt.estimate(&ended.counts).unwrap().unwrap();
        let [median, from, to] =
            [estimate.median, estimate.low, estimate.high].map(|end| end.number().unwrap());
        assert!(from < median && median < to, "{estimate:?}");
        low += u32::from(median < elo);
        covered += u32::from(from <= elo && elo <= to);
        let plain = readyok_arena::stats::Estimates::of(&ended.counts).normalized_elo.value;
        plain_sum += plain.number().unwrap();
    }
    let share = |count: u32| f64::from(count) / f64::from(FEW);
    assert!((share(low) - 0.5).abs() < 0.06, "{low} of {FEW} are low");
    assert!((share(covered) - 0.95).abs() < 0.025, "{covered} of {FEW} hold the truth");
    assert!(plain_sum / f64::from(FEW) > elo + 4.0, "{}", plain_sum / f64::from(FEW));
}

/// A running test has no such estimate and a number of remaining games; a finished test has none left.
#[test]
fn what_remains_shrinks_as_the_ratio_nears_a_bound() {
    let sprt = Sprt::new(Model::Normalized, 0.0, 10.0, 0.05, 0.05).unwrap();
    let start = Counts::Pairs(Pentanomial::from_five([5, 20, 50, 20, 5]).unwrap());
    let later = Counts::Pairs(Pentanomial::from_five([50, 200, 500, 260, 60]).unwrap());
    let over = Counts::Pairs(Pentanomial::from_five([50, 200, 500, 360, 160]).unwrap());
    let [at_start, at_later, at_end] =
        [&start, &later, &over].map(|counts| sprt.remaining(counts, 10.0).unwrap());
    assert!(at_start.games > at_later.games && at_later.games > 0.0);
    assert!(at_start.accept_h1 < at_later.accept_h1);
    assert_eq!((at_end.games.to_bits(), at_end.accept_h1.to_bits()), (0, 1f64.to_bits()));
    assert_eq!(sprt.estimate(&later), Ok(None));
    assert!(sprt.remaining_as_seen(&later).unwrap().accept_h1 > 0.9);
    let whole = sprt.forecast(&Counts::Games(Trinomial::assumed(500)), 10.0).unwrap();
    assert!((whole.accept_h1 - 0.95).abs() < 0.002, "{whole:?}");
    // Two bounds, of 2.94 each, 10 nElo apart: (0.9 * 2.944) / ((10 / 347.4)^2 / 2) games.
    assert!((whole.games / 6398.0 - 1.0).abs() < 0.01, "{whole:?}");
}

/// The outcome counts of a pair, by its score.
#[test]
fn a_pair_scores_what_its_games_score() {
    for one in [Outcome::Loss, Outcome::Draw, Outcome::Win] {
        for other in [Outcome::Loss, Outcome::Draw, Outcome::Win] {
            let mut pair = Pentanomial::default();
            pair.add(one, other).unwrap();
            assert_eq!(pair.half_points(), one.half_points() + other.half_points());
            let (one, other) = (one.reversed(), other.reversed());
            assert_eq!(pair.reversed().half_points(), one.half_points() + other.half_points());
        }
    }
}
