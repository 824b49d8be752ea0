//! Resumed matches: the remaining schedule depends on the results, not on their order.

use proptest::prelude::*;
use readyok_arena::pairing::Pairing;
use readyok_arena::plan::{EngineId, Plan};
use readyok_arena::schedule::{Next, PairingScore, Schedule, Score};

use super::{as_seeded, good, open, outcome, plan, play, some_score};

fn formats() -> impl Strategy<Value = Plan> {
    let format = prop_oneof![
        Just("rounds = 3\n"),
        Just("rounds = 3\nformat = { kind = \"gauntlet\", seeds = 2 }\n"),
        Just("format = { kind = \"knockout\", replays = 2 }\n"),
        Just("rounds = 4\nformat = { kind = \"swiss\" }\n"),
    ];
    (format, 3_usize..10, 1_u32..3, any::<bool>()).prop_map(
        |(format, engines, pairs, two_games)| {
            let games = if two_games { "two" } else { "one" };
            let openings = "openings = { source = { kind = \"chess960\" }, order = \"random\" }";
            let mut plan = plan(
                engines,
                &format!(
                    "pairs_per_encounter = {pairs}\ngames = \"{games}\"\n{openings}\n{format}"
                ),
            );
            plan.game = readyok_rules::Game::Chess960;
            plan
        },
    )
}

/// Plays some pairings concurrently, which end in any order.
fn play_mixed(schedule: &mut Schedule, seed: u64, order: u64) -> Vec<Pairing> {
    let mut random = fastrand::Rng::with_seed(order);
    let (mut running, mut played) = (Vec::<Pairing>::new(), Vec::new());
    loop {
        let next = if running.len() < 4 { good(schedule.next()) } else { Next::Wait };
        match next {
            Next::Pairing(pairing) => running.push(pairing),
            Next::Wait | Next::Done if !running.is_empty() => {
                let pairing = running.swap_remove(random.usize(..running.len()));
                good(schedule.record(outcome(&pairing, some_score(&pairing, seed))));
                played.push(pairing);
            }
            Next::Wait => panic!("nothing to wait for"),
            Next::Done => break,
        }
    }
    played.sort_by_key(|pairing| pairing.index);
    played
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn the_order_of_outcomes_has_no_effect(plan in formats(), seed: u64, order: u64) {
        let mut one_by_one = play(&mut open(&plan), |pairing| some_score(pairing, seed));
        one_by_one.sort_by_key(|pairing| pairing.index);
        prop_assert_eq!(play_mixed(&mut open(&plan), seed, order), one_by_one);
    }

    #[test]
    fn a_new_schedule_continues_an_old_one(
        plan in formats(), seed: u64, order: u64, kept in prop::collection::vec(any::<bool>(), 200),
    ) {
        let mut all = play(&mut open(&plan), |pairing| some_score(pairing, seed));
        all.sort_by_key(|pairing| pairing.index);
        let stored: Vec<bool> = all.iter().zip(kept).map(|(_, kept)| kept).collect();
        let (mut some, mut rest) = (Vec::new(), Vec::new());
        for (index, pairing) in all.into_iter().enumerate() {
            if stored.get(index) == Some(&true) { some.push(pairing) } else { rest.push(pairing) }
        }
        fastrand::Rng::with_seed(order).shuffle(&mut some);
        let mut schedule = open(&plan);
        for pairing in &some {
            let outcome = outcome(pairing, some_score(pairing, seed));
            prop_assert_eq!(schedule.record(outcome).unwrap(), true);
            prop_assert_eq!(schedule.record(outcome).unwrap(), false);
        }
        prop_assert_eq!(play_mixed(&mut schedule, seed, order), rest);
    }
}

fn check_error(schedule: &mut Schedule, outcome: PairingScore, text: &str) {
    let error = schedule.record(outcome).map_err(|error| error.to_string());
    assert_eq!(error, Err(text.to_owned()));
}

#[test]
fn rejects_outcomes_of_other_pairings() {
    let mut schedule = open(&plan(4, ""));
    let Next::Pairing(pairing) = schedule.next().unwrap() else { panic!("no pairing") };
    let right = outcome(&pairing, as_seeded(&pairing));
    let many = PairingScore { index: 6, ..right };
    check_error(&mut schedule, many, "the schedule has no pairing 6");
    let one = PairingScore { score: Score { wins: 1, ..Score::default() }, ..right };
    check_error(&mut schedule, one, "the result of pairing 0 has 1 games instead of 2");
    let others = PairingScore { first: EngineId(1), ..right };
    let text = "the result of pairing 0 is of engines 1 and 3, but the schedule has 0 and 3 there";
    check_error(&mut schedule, others, text);
    // The order of sides does not matter.
    let turned = PairingScore { first: right.second, second: right.first, ..right };
    assert!(schedule.record(turned).unwrap());
}

/// Outcomes of a later round can be checked only when the earlier ones are known.
#[test]
fn detects_outcomes_of_other_engines_when_the_round_is_paired() {
    for (format, index) in [("swiss", 4), ("knockout", 8)] {
        let rounds = if format == "swiss" { 2 } else { 1 };
        let plan = plan(8, &format!("rounds = {rounds}\nformat = {{ kind = \"{format}\" }}\n"));
        let mut schedule = open(&plan);
        // 1 and 8 play in the first round, or 1 and 5.
        let score = Score { wins: 2, ..Score::default() };
        let stale =
            |second| PairingScore { index, first: EngineId(0), second: EngineId(second), score };
        let second = if format == "swiss" { 4 } else { 7 };
        assert!(schedule.record(stale(second)).unwrap());
        let error = loop {
            match schedule.next() {
                Ok(Next::Pairing(pairing)) => {
                    schedule.record(outcome(&pairing, as_seeded(&pairing))).unwrap();
                }
                Ok(next) => panic!("{format}: {next:?}"),
                Err(error) => break error,
            }
        };
        let text = format!("the result of pairing {index} is of engines 0 and {second}, but");
        assert!(error.to_string().starts_with(&text), "{error}");
    }
}
