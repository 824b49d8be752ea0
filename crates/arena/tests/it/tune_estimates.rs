//! Averages, intervals and gains of tunings, over many runs with synthetic engines of a known strength.

use std::collections::BTreeMap;

use readyok_arena::pairing::PairResult;
use readyok_arena::plan::Plan;
use readyok_arena::result::{EngineInfo, MatchGame};
use readyok_arena::tune::{TuneFile, TuneState, TuneStatus, TunedParameter};
use readyok_rules::{Side, Termination};

use crate::sample;
use crate::tune::{uniform, winner};

/// An engine with equal options, whose strength falls with the square of the distance from the best value.
struct Synthetic {
    /// The first distances from the best values, in perturbations.
    starts: &'static [f64],
    /// The Elo that a distance of one perturbation costs.
    cost: f64,
    /// How much the best value of an option depends on the next one: 0 not at all, 1 entirely.
    coupling: f64,
    pairs: u32,
    r_end: f64,
}

/// The perturbation at the last pair.
const C_END: f64 = 10.0;
/// The best value of every option.
const BEST: f64 = 0.0;
/// The range of every option.
const RANGE: f64 = 200.0;

/// Start values far from the best ones and at them: values that move and values that only wander.
const TYPICAL: Synthetic = Synthetic {
    starts: &[-4.0, -2.0, 0.0, 3.0],
    cost: 4.0,
    coupling: 0.0,
    pairs: 1500,
    r_end: 0.01,
};

impl Synthetic {
    fn plan(&self, seed: u64) -> Plan {
        let parameter = |(number, start): (usize, &f64)| {
            let (start, half) = (BEST + start * C_END, RANGE / 2.0);
            let (min, max, r_end) = (BEST - half, BEST + half, self.r_end);
            format!(
                "{{ name = \"P{number}\", start = {start:?}, min = {min:?}, max = {max:?}, \
                 c_end = {C_END:?}, r_end = {r_end} }}"
            )
        };
        let parameters: Vec<String> = self.starts.iter().enumerate().map(parameter).collect();
        let text = format!(
            "game = \"chess\"\npairs = {}\nparameters = [{}]\n\
             engine = {{ name = \"a\", command = \"/nowhere\", limits = {{ nodes = 1 }} }}\n",
            self.pairs,
            parameters.join(", ")
        );
        toml::from_str::<TuneFile>(&text).expect(&text).into_plan(seed)
    }

    /// Elo relative to the best values.
    fn elo(&self, values: impl Iterator<Item = f64>) -> f64 {
        let distances: Vec<f64> = values.map(|value| (value - BEST) / C_END).collect();
        let own: f64 = distances.iter().map(|distance| distance.powi(2)).sum();
        let both: f64 = distances.windows(2).map(|pair| pair.iter().product::<f64>()).sum();
        -self.cost * (own + 2.0 * self.coupling * both)
    }

    fn run(&self, seed: u64) -> TuneStatus {
        let plan = self.plan(seed);
        let mut tune = TuneState::new(&plan).expect("a tuning");
        for index in 0..u64::from(self.pairs) {
            let options = tune.tuner().options(index);
            let numbers = |options: &BTreeMap<String, String>| -> Vec<f64> {
                options.values().map(|value| value.parse().expect("a number")).collect()
            };
            let [plus, minus] =
                options.each_ref().map(|options| self.elo(numbers(options).into_iter()));
            let wins = [0, 1].map(|game| winner(plus - minus, uniform(seed, 2 * index + game)));
            tune.add(&pair(index, options, wins));
        }
        tune.status()
    }

    fn loss(&self, status: &TuneStatus, of: fn(&TunedParameter) -> f64) -> f64 {
        -self.elo(status.parameters.iter().map(of))
    }
}

/// A pair of games without moves. `wins` are those of the first engine.
fn pair(index: u64, options: [BTreeMap<String, String>; 2], wins: [Option<bool>; 2]) -> PairResult {
    let mut pairing = sample::pairing(index);
    pairing.options = options;
    let game = |(number, wins): (u32, Option<bool>)| {
        let (first, second) = pairing.sides(number);
        let winner =
            wins.map(|wins| if wins == (number == 0) { Side::First } else { Side::Second });
        MatchGame {
            first,
            second,
            winner,
            end: Termination::Resignation.into(),
            moves: Vec::new(),
            started_ms: 0,
            duration_ms: 0,
            warnings: Vec::new(),
            engines: <[EngineInfo; 2]>::default(),
        }
    };
    let games = (0..).zip(wins).map(game).collect();
    PairResult { pairing, games, worker: None }
}

/// Figures of many runs with different seeds.
#[derive(Debug, Default)]
struct Figures {
    /// Intervals that contain the best value, as a fraction.
    coverage: f64,
    /// Their mean width, as a fraction of the range.
    width: f64,
    /// Runs whose gain is within its error, as a fraction.
    gain_coverage: f64,
    /// Means of the gain, of its estimate, and of the 95 % error.
    gain: f64,
    estimated: f64,
    error: f64,
    /// The mean Elo that the last values and their averages lose.
    last_loss: f64,
    average_loss: f64,
}

fn figures(engine: &Synthetic, runs: u32) -> Figures {
    let mut sum = Figures::default();
    let share = 1.0 / f64::from(runs);
    for seed in 1..=u64::from(runs) {
        let status = engine.run(seed);
        let each = share / f64::from(u32::try_from(engine.starts.len()).expect("a few"));
        for tuned in &status.parameters {
            let TunedParameter { low, high, .. } = *tuned;
            sum.coverage += if (low..=high).contains(&BEST) { each } else { 0.0 };
            sum.width += (high - low) / RANGE * each;
        }
        let average_loss = engine.loss(&status, |tuned| tuned.average);
        let gain = engine.loss(&status, |tuned| tuned.start) - average_loss;
        let estimated = status.gain.elo.expect("enough pairs");
        let error = status.gain.error.expect("enough pairs");
        sum.gain_coverage += if (estimated - gain).abs() <= error { share } else { 0.0 };
        sum.gain += gain * share;
        sum.estimated += estimated * share;
        sum.error += error * share;
        sum.last_loss += engine.loss(&status, |tuned| tuned.value) * share;
        sum.average_loss += average_loss * share;
    }
    sum
}

/// The figures in docs/tuning.md of the crate are those of this test.
#[test]
fn intervals_contain_the_best_values_and_the_gain_is_not_biased() {
    let figures = figures(&TYPICAL, 200);
    assert!(0.93 <= figures.coverage && figures.coverage <= 0.98, "{figures:?}");
    // Half of the range is excluded, on average over values that move and one that does not.
    assert!(figures.width < 0.55, "{figures:?}");
    assert!(0.9 <= figures.gain_coverage, "{figures:?}");
    let bias = figures.estimated - figures.gain;
    assert!(bias.abs() < figures.error / 6.0 && figures.error < figures.gain / 3.0, "{figures:?}");
}

/// The line of an option is that along the way of all options.
#[test]
fn intervals_of_options_that_depend_on_each_other_are_too_narrow() {
    let engine = Synthetic { starts: &[-3.0; 4], coupling: 0.3, pairs: 2500, ..TYPICAL };
    let figures = figures(&engine, 100);
    assert!(0.75 <= figures.coverage && figures.coverage <= 0.9, "{figures:?}");
    assert!(figures.estimated < figures.gain, "{figures:?}");
    assert!(0.85 * figures.gain < figures.estimated, "{figures:?}");
}

#[test]
fn options_without_influence_have_no_bounds_and_no_gain() {
    let engine = Synthetic { cost: 0.0, ..TYPICAL };
    let figures = figures(&engine, 100);
    assert!(0.9 < figures.width, "{figures:?}");
    assert!(figures.estimated.abs() < figures.error, "{figures:?}");
    assert!(0.7 < figures.gain_coverage, "{figures:?}");
}

#[test]
fn the_average_loses_less_than_the_last_values() {
    let arrived =
        Synthetic { starts: &[-1.0, 0.0, 1.0], cost: 5.0, coupling: 0.0, pairs: 3000, r_end: 0.02 };
    let figures_of_arrived = figures(&arrived, 60);
    let Figures { last_loss, average_loss, .. } = figures_of_arrived;
    assert!(average_loss < 0.75 * last_loss, "{figures_of_arrived:?}");
    // Values that still move are not averaged over a long part.
    let moving =
        Synthetic { starts: &[-4.0, 4.0], cost: 2.0, coupling: 0.0, pairs: 1000, r_end: 0.004 };
    let figures_of_moving = figures(&moving, 60);
    let Figures { last_loss, average_loss, .. } = figures_of_moving;
    assert!(average_loss < 1.05 * last_loss, "{figures_of_moving:?}");
}
