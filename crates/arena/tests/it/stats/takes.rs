//! Simulated tests of several takes: the errors stay below their bounds, and they save games against separate tests.
#![expect(clippy::cast_precision_loss, reason = "counts are small")]

use fastrand::Rng;
use readyok_arena::pairing::{PairingScore, Score};
use readyok_arena::plan::{EngineId, Format, Plan, SprtPlan};
use readyok_arena::stats::{Model, Sprt, Verdict};
use readyok_arena::takes::{BASE, Takes};

use super::simulation::{Law, Play, normalized, pairs};
use crate::sample;

const TAKES: usize = 8;
const ALPHA: f64 = 0.05;
/// The number of pairs of a test is inversely proportional to its square, so that this bound needs a 400th of the games
/// of a test of 2 Elo. The error rates and savings are the same.
const ELO1: f64 = 40.0;
const RUNS: u32 = 300;

fn plan(takes: usize, beta: f64) -> Plan {
    let names: Vec<String> = (0..=takes).map(|engine| engine.to_string()).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    Plan {
        format: Format::Takes,
        sprt: Some(SprtPlan {
            model: Model::Normalized,
            elo0: 0.0,
            elo1: ELO1,
            alpha: ALPHA,
            beta,
        }),
        ..sample::plan(&names, 1)
    }
}

fn outcome(index: u64, take: EngineId, class: usize) -> PairingScore {
    let [wins, draws, losses] = [[0, 0, 2], [0, 1, 1], [0, 2, 0], [1, 1, 0], [2, 0, 0]][class];
    PairingScore { index, first: take, second: BASE, score: Score { wins, draws, losses } }
}

struct Group {
    accepted: Option<EngineId>,
    pairs: u64,
}

/// Plays takes of these strengths, one pair at a time.
fn play(plan: &Plan, laws: &[&Law], rng: &mut Rng) -> Group {
    let mut takes = Takes::new(plan).expect("a test");
    let mut pairs = 0;
    while let Some(take) = takes.next() {
        takes.record(outcome(pairs, take, laws[take.index() - 1].draw(rng)));
        pairs += 1;
    }
    Group { accepted: takes.end().expect("the end"), pairs }
}

/// The strengths of `good` takes of `ELO1`, and of the others.
fn group<'a>(
    good: usize,
    better: &'a Law,
    equal: &'a Law,
    rng: &mut Rng,
) -> (Vec<&'a Law>, Vec<usize>) {
    let mut order: Vec<usize> = (0..TAKES).collect();
    rng.shuffle(&mut order);
    let laws = order.iter().map(|&place| if place < good { better } else { equal });
    let laws = laws.collect();
    let good = (0..TAKES).filter(|&take| order[take] < good);
    (laws, good.collect())
}

struct Rates {
    /// The share of groups that accept a take that is not better than the base.
    wrong: f64,
    /// The share of groups that accept a better take.
    right: f64,
    pairs: f64,
}

fn simulate(beta: f64, good: usize, seed: u64) -> Rates {
    let (equal, better) = (normalized(&pairs(), 0.0), normalized(&pairs(), ELO1));
    let (plan, mut rng) = (plan(TAKES, beta), Rng::with_seed(seed));
    let (mut wrong, mut right, mut pairs) = (0_u32, 0_u32, 0);
    for _ in 0..RUNS {
        let (laws, good) = group(good, &better, &equal, &mut rng);
        let group = play(&plan, &laws, &mut rng);
        match group.accepted.map(|take| good.contains(&(take.index() - 1))) {
            Some(true) => right += 1,
            Some(false) => wrong += 1,
            None => {}
        }
        pairs += group.pairs;
    }
    let runs = f64::from(RUNS);
    Rates {
        wrong: f64::from(wrong) / runs,
        right: f64::from(right) / runs,
        pairs: pairs as f64 / runs,
    }
}

/// The mean number of pairs of separate tests of all takes with the same error of the group.
fn separate(beta: f64, good: usize, seed: u64) -> f64 {
    let test = Sprt::new(Model::Normalized, 0.0, ELO1, ALPHA / TAKES as f64, beta).expect("a test");
    let mut rng = Rng::with_seed(seed);
    let mut mean = |elo: f64| {
        let law = normalized(&pairs(), elo);
        let tests = Play::new(&test, &law);
        (0..RUNS).map(|_| tests.play(&mut rng).items as f64).sum::<f64>() / f64::from(RUNS)
    };
    good as f64 * mean(ELO1) + (TAKES - good) as f64 * mean(0.0)
}

#[test]
fn one_good_take_of_eight_is_found_with_half_of_the_games() {
    let rates = simulate(0.05, 1, 1);
    assert!(rates.wrong <= ALPHA, "{}", rates.wrong);
    assert!(rates.right >= 0.9, "{}", rates.right);
    let ratio = rates.pairs / separate(0.05, 1, 2);
    assert!(ratio <= 0.5, "{ratio}");
}

#[test]
fn worthless_takes_are_dropped() {
    let rates = simulate(0.05, 0, 3);
    assert!(rates.wrong <= ALPHA, "{}", rates.wrong);
    // With a beta of 10 %, a quarter of the games is saved.
    let short = simulate(0.1, 0, 4);
    assert!(short.wrong <= ALPHA, "{}", short.wrong);
    let ratio = short.pairs / separate(0.05, 0, 5);
    assert!(ratio <= 0.85, "{ratio}");
}

#[test]
fn the_best_live_take_plays_next() {
    let mut takes = Takes::new(&plan(3, 0.05)).expect("a test");
    let [one, two, three] = [1, 2, 3].map(EngineId);
    assert_eq!(takes.next(), Some(one));
    takes.record(outcome(0, one, 1));
    takes.record(outcome(1, one, 3));
    takes.record(outcome(2, one, 1));
    assert_eq!(takes.next(), Some(two), "of equal ones that with the fewest pairs");
    // From the point of view of the base.
    let score = Score { wins: 0, draws: 1, losses: 1 };
    takes.record(PairingScore { index: 3, first: BASE, second: two, score });
    takes.record(outcome(4, two, 2));
    assert_eq!(takes.next(), Some(two));
    let mut index = 5;
    while takes.end().is_none() {
        for (take, class) in [(three, 3), (three, 2), (one, 1), (one, 2)] {
            takes.record(outcome(index, take, class));
            index += 1;
        }
    }
    let status = takes.status();
    assert_eq!(
        (takes.end(), status.accepted, takes.next()),
        (Some(Some(three)), Some(three), None)
    );
    assert!(
        (status.upper - 60_f64.ln()).abs() < 1e-12 && (status.lower - 0.05_f64.ln()).abs() < 1e-12
    );
    let verdicts: Vec<Verdict> = status.takes.iter().map(|take| take.verdict).collect();
    assert_eq!(verdicts, [Verdict::AcceptH0, Verdict::Continue, Verdict::AcceptH1]);
    // Pairs that were in progress count, and change no verdict.
    for _ in 0..200 {
        takes.record(outcome(index, one, 4));
        takes.record(outcome(index, two, 4));
    }
    let later: Vec<Verdict> = takes.status().takes.iter().map(|take| take.verdict).collect();
    assert_eq!((later, takes.end()), (verdicts, Some(Some(three))));
    assert!(takes.status().takes.iter().all(|take| take.llr > 0.0));
}
