//! Schedules: encounters of all formats, and resuming.

mod knockout;
mod resume;
mod round_robin;
mod swiss;

use readyok_arena::pairing::Pairing;
use readyok_arena::plan::{EngineId, Plan};
use readyok_arena::schedule::{Next, PairingScore, Schedule, ScheduleError, Score};

/// A plan of some engines, with these lines of TOML.
fn plan(engines: usize, lines: &str) -> Plan {
    let engines: Vec<String> =
        (1..=engines).map(|name| format!(r#"{{ name = "{name}", command = "x" }}"#)).collect();
    let text = format!("game = \"chess\"\nengines = [{}]\n{lines}", engines.join(", "));
    good(toml::from_str(&text))
}

fn open(plan: &Plan) -> Schedule {
    good(Schedule::open(plan))
}

fn plan_error(plan: &Plan) -> ScheduleError {
    match Schedule::open(plan) {
        Ok(schedule) => panic!("{schedule:?}"),
        Err(error) => error,
    }
}

fn good<T, E: std::fmt::Display>(result: Result<T, E>) -> T {
    result.unwrap_or_else(|error| panic!("{error}"))
}

/// Plays all pairings in order; wins are those of the first engine.
fn play(schedule: &mut Schedule, score: impl Fn(&Pairing) -> Score) -> Vec<Pairing> {
    let mut played = Vec::new();
    loop {
        match good(schedule.next()) {
            Next::Pairing(pairing) => {
                let outcome = outcome(&pairing, score(&pairing));
                assert!(good(schedule.record(outcome)), "{pairing:?} was new");
                assert!(!good(schedule.record(outcome)), "{pairing:?} was known");
                played.push(pairing);
            }
            Next::Wait => panic!("nothing to wait for after {played:?}"),
            Next::Done => return played,
        }
    }
}

fn outcome(pairing: &Pairing, score: Score) -> PairingScore {
    let &Pairing { index, first, second, .. } = pairing;
    PairingScore { index, first, second, score }
}

/// The engine with the lower ID wins every game.
fn as_seeded(pairing: &Pairing) -> Score {
    won_by(pairing, pairing.first.min(pairing.second))
}

fn won_by(pairing: &Pairing, winner: EngineId) -> Score {
    if pairing.first == winner {
        Score { wins: pairing.games, ..Score::default() }
    } else {
        Score { losses: pairing.games, ..Score::default() }
    }
}

fn drawn(pairing: &Pairing) -> Score {
    Score { draws: pairing.games, ..Score::default() }
}

/// A pseudorandom score of a pairing and a seed.
fn some_score(pairing: &Pairing, seed: u64) -> Score {
    let mut random = fastrand::Rng::with_seed(seed ^ pairing.index.wrapping_mul(0x9e37_79b9));
    let mut score = Score::default();
    for _ in 0..pairing.games {
        match random.u8(0..3) {
            0 => score.wins += 1,
            1 => score.draws += 1,
            _ => score.losses += 1,
        }
    }
    score
}

/// The numbers of both engines in the plan, from 1: `1-4`.
fn names(pairing: &Pairing) -> String {
    format!("{}-{}", pairing.first.0 + 1, pairing.second.0 + 1)
}

fn round(pairings: &[Pairing], round: u32) -> String {
    let names = pairings.iter().filter(|pairing| pairing.round == round).map(names);
    names.collect::<Vec<_>>().join(" ")
}

/// The difference of first and second moves of an engine, in pairings of one game.
fn balance(pairings: &[Pairing], engine: EngineId) -> i64 {
    pairings
        .iter()
        .map(|pairing| i64::from(pairing.first == engine) - i64::from(pairing.second == engine))
        .sum()
}
