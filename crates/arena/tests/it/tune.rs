//! Tuning of synthetic engines with a known strength.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use readyok_arena::event::{End, Event};
use readyok_arena::pairing::{PairResult, Pairing};
use readyok_arena::plan::{EngineId, Plan};
use readyok_arena::report::Report;
use readyok_arena::runner::{Match, PairPlayer, PlayContext, PlayerError, Settings};
use readyok_arena::schedule::{PairingScore, Score};
use readyok_arena::store::{Reader, Store};
use readyok_arena::tune::{TuneError, TuneFile, TuneState, Tuner};
use readyok_rules::{Side, Termination};

use crate::sample;

/// Three options whose best values are 120, -10 and 700. An error of a quarter of a range costs 25 Elo.
const FILE: &str = include_str!("data/tune/file.txt");

const BEST: [(&str, f64, f64); 3] = [("A", 120.0, 200.0), ("B", -10.0, 100.0), ("C", 0.7, 1.0)];

fn plan(seed: u64) -> Plan {
    toml::from_str::<TuneFile>(FILE).expect("a file").into_plan(seed)
}

/// Elo relative to the best values.
fn elo(options: &BTreeMap<String, String>) -> f64 {
    let loss = |(name, best, range): &(&str, f64, f64)| {
        let value: f64 = options[*name].parse().expect("a number");
        -400.0 * ((value - best) / range).powi(2)
    };
    BEST.iter().map(loss).sum()
}

/// A pseudorandom number from 0 to 1.
pub(crate) fn uniform(seed: u64, index: u64) -> f64 {
    let mut state =
        seed.wrapping_mul(0x2545_f491_4f6c_dd1d) ^ index.wrapping_add(0x9e37_79b9_7f4a_7c15);
    for _ in 0..3 {
        state = (state ^ (state >> 31)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    }
    f64::from(u32::try_from(state >> 32).unwrap_or(0)) / f64::from(u32::MAX)
}

/// The winner of a game: the side with the first options, the other one, or none. 40 % of equal games are drawn.
pub(crate) fn winner(difference: f64, chance: f64) -> Option<bool> {
    let score = 1.0 / (1.0 + 10_f64.powf(-difference / 400.0));
    let draws = 0.4 * (1.0 - (2.0 * score - 1.0).abs());
    if chance < score - draws / 2.0 {
        Some(true)
    } else if chance >= score + draws / 2.0 {
        Some(false)
    } else {
        None
    }
}

#[test]
fn converges_to_the_best_values() {
    for seed in 1..=4 {
        let mut tuner = Tuner::new(&plan(seed)).expect("a tuning");
        for index in 0..20_000 {
            let [plus, minus] = tuner.options(index);
            let difference = elo(&plus) - elo(&minus);
            let mut score = Score::default();
            for game in 0..2 {
                match winner(difference, uniform(seed, 2 * index + game)) {
                    Some(true) => score.wins += 1,
                    Some(false) => score.losses += 1,
                    None => score.draws += 1,
                }
            }
            tuner.record(PairingScore { index, first: EngineId(0), second: EngineId(1), score });
        }
        // The error that docs/tuning.md of the crate states.
        for (value, (name, best, range)) in tuner.values().iter().zip(BEST) {
            let error = (value - best).abs() / range;
            assert!(error < 0.06, "seed {seed}, {name}: {value}");
        }
    }
}

#[test]
fn options_are_perturbed_and_stay_in_range() {
    let tuner = Tuner::new(&plan(7)).expect("a tuning");
    let mut ups = 0;
    for index in 0..1000 {
        let [plus, minus] = tuner.options(index);
        for (name, low, high) in [("A", 0.0, 200.0), ("B", -50.0, 50.0), ("C", 0.0, 1.0)] {
            let [plus, minus] =
                [&plus, &minus].map(|values| values[name].parse::<f64>().expect("a number"));
            assert!(plus >= low && plus <= high && minus >= low && minus <= high);
            assert!((plus - minus).abs() > 0.0, "{index}: {name}");
            ups += u32::from(name == "A" && plus > minus);
        }
        assert!(!plus["A"].contains('.') && !minus["B"].contains('.'));
    }
    assert!((400..600).contains(&ups), "{ups} of 1000 perturbations are positive");
}

/// Independent roundings of plus and minus gave differences from 0 to 3 (Stockfish #4776).
#[test]
fn integers_differ_by_twice_the_perturbation() {
    let mut plan = plan(7);
    let tune = plan.tune.as_mut().expect("a tuning");
    // A vanishing exponent keeps the perturbations at `c_end`.
    tune.gamma = f64::MIN_POSITIVE;
    tune.parameters[0].c_end = 0.5;
    tune.parameters[0].start = 50.3;
    tune.parameters[1].c_end = 2.5;
    tune.parameters[1].start = 20.9;
    let tuner = Tuner::new(&plan).expect("a tuning");
    for index in 0..400 {
        let [plus, minus] = tuner.options(index);
        for (name, expected) in [("A", 1), ("B", 5)] {
            let [plus, minus] =
                [&plus, &minus].map(|values| values[name].parse::<i64>().expect("an integer"));
            assert_eq!((plus - minus).abs(), expected, "{index}: {name}");
        }
    }
}

#[test]
fn rejects_invalid_parameters() {
    let check = |from: &str, to: &str, expected: &str| {
        let file: TuneFile = toml::from_str(&FILE.replacen(from, to, 1)).expect(to);
        let error = file.into_plan(1).check().expect_err(to).to_string();
        assert!(error.contains(expected), "{error}");
    };
    check("start = 50", "start = 500", "the parameter `A` needs `start` between `min` and `max`");
    check("max = 200", "max = 0", "needs `min` below `max`");
    check("c_end = 10", "c_end = 0.2", "`c_end` at least 0.5");
    check("name = \"B\"", "name = \"a\"", "two parameters have the name `a`");
    check("r_end = 0.006", "r_end = 0", "needs `r_end` above 0");
    check("pairs = 20000", "pairs = 1\nalpha = 2", "`alpha` is out of range");
    let mut plan = plan(1);
    plan.engines.pop();
    assert_eq!(plan.tune.as_ref().map(|tune| tune.check(&plan)), Some(Err(TuneError::Format)));
}

/// Plays games of the synthetic engine, at most `left` pairs.
struct Synthetic {
    left: Arc<AtomicU64>,
}

impl PairPlayer for Synthetic {
    fn play(
        &mut self,
        pairing: &Pairing,
        _: &mut PlayContext<'_>,
    ) -> Result<Option<PairResult>, PlayerError> {
        if self
            .left
            .fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1))
            .is_err()
        {
            return Err(PlayerError::Pairing("the power is off".to_owned()));
        }
        let [first, second] = &pairing.options;
        let difference = elo(first) - elo(second);
        let mut result = sample::played(pairing.clone());
        for (number, game) in (0..).zip(&mut result.games) {
            let first_wins = winner(difference, uniform(pairing.index, number));
            let is_swapped = game.first != pairing.first;
            let side = |wins: bool| if wins == is_swapped { Side::Second } else { Side::First };
            game.winner = first_wins.map(side);
            let end = if game.winner.is_some() {
                Termination::Resignation
            } else {
                Termination::Repetition
            };
            game.end = end.into();
        }
        Ok(Some(result))
    }
}

#[test]
fn resumes_after_a_failure_with_the_stored_values() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("tune.jsonl");
    let mut plan = plan(3);
    plan.rounds = 60;
    let repeats = AtomicU64::new(0);
    let run = |store: Store, pairs: u64| {
        let mut game = Match::new(store, Settings::default()).expect("a match");
        let (sender, events) = std::sync::mpsc::channel();
        game.listen(sender);
        let left = Arc::new(AtomicU64::new(pairs));
        let end = game.play_here(2, None, |_| Synthetic { left: Arc::clone(&left) });
        let values = events.into_iter().filter_map(|event| match event {
            Event::Parameters { values, averages } => Some([values, averages]),
            Event::RepeatedGame { .. } => {
                repeats.fetch_add(1, Ordering::SeqCst);
                None
            }
            _ => None,
        });
        (end, values.last().expect("values"))
    };
    let (end, stopped) = run(Store::create(&path, &plan).expect("a new file"), 25);
    end.expect_err("the power is off");
    let stored = Reader::open(&path).expect("a file").count();
    assert!((20..=25).contains(&stored), "{stored}");
    let replay = || {
        let mut tune = TuneState::new(&plan).expect("a tuning");
        for pair in Reader::open(&path).expect("a file") {
            tune.add(&pair.expect("a pair"));
        }
        [tune.tuner().values().to_vec(), tune.averages()]
    };
    assert_eq!(replay(), stopped);
    let (store, _) = Store::resume(&path, |_| ()).expect("a good file");
    let (end, values) = run(store, 1000);
    assert_eq!(end.expect("a complete match").end, End::Complete);
    assert_eq!(Reader::open(&path).expect("a file").count(), 60);
    assert_eq!(replay(), values);
    assert_ne!(values, stopped);
    let mut report = Report::new(&plan);
    for pair in Reader::open(&path).expect("a file") {
        report.add(&pair.expect("a pair"));
    }
    let page = report.html();
    assert!(
        page.contains("Parameters") && page.matches("game pairs</text>").count() == 3,
        "{page}"
    );
    // The sample games are equal, but played with other options.
    assert!(page.contains("Tuning by SPSA, chess. 60 game pairs"), "{page}");
    for misleading in ["independent evidence", "Strength", "superiority", "Standings", "Points of"]
    {
        assert!(!page.contains(misleading), "{misleading}");
    }
    assert_eq!(repeats.load(Ordering::SeqCst), 0);
}
