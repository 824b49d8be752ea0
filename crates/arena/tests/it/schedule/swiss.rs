//! Swiss tournaments: first rounds, and properties of all rounds.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use readyok_arena::pairing::Pairing;
use readyok_arena::plan::EngineId;

use super::{as_seeded, open, plan, play, round, some_score};

fn swiss(engines: u32, rounds: u32, games: &str) -> readyok_arena::plan::Plan {
    plan(
        engines as usize,
        &format!("rounds = {rounds}\n{games}\nformat = {{ kind = \"swiss\" }}\n"),
    )
}

#[test]
fn the_upper_half_plays_the_lower_half() {
    let played = play(&mut open(&swiss(8, 3, "games = \"one\"")), as_seeded);
    assert_eq!(round(&played, 1), "1-5 6-2 3-7 8-4");
    // 1 and 3 have won with the first move, 2 and 4 have lost: 1 plays 4 and 2 plays 3.
    assert_eq!(round(&played, 2), "4-1 2-3 5-8 7-6");
}

#[test]
fn the_last_engine_without_a_bye_gets_it() {
    let mut schedule = open(&swiss(5, 5, ""));
    let played = play(&mut schedule, as_seeded);
    assert_eq!(played.len(), 5 * 2);
    let mut byes = schedule.byes();
    assert_eq!(byes.first(), Some(&(1, EngineId(4))));
    byes.sort_by_key(|&(_, engine)| engine);
    let engines: Vec<u32> = byes.iter().map(|&(_, engine)| engine.0).collect();
    assert_eq!(engines, [0, 1, 2, 3, 4]);
}

fn rematches(played: &[Pairing]) -> usize {
    let mut met = BTreeSet::new();
    let pair =
        |pairing: &Pairing| (pairing.first.min(pairing.second), pairing.first.max(pairing.second));
    played.iter().filter(|&pairing| !met.insert(pair(pairing))).count()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// With fewer rounds than half the engines, a pairing without rematches always exists: each engine has new opponents
    /// among half of the others (Dirac's theorem).
    #[test]
    fn avoids_rematches(
        engines in 2_u32..40, rounds in 1_u32..20, seed: u64, pairs: bool,
    ) {
        let rounds = rounds.min((engines / 2).max(1));
        let plan = swiss(engines, rounds, if pairs { "" } else { "games = \"one\"" });
        let mut schedule = open(&plan);
        let played = play(&mut schedule, |pairing| some_score(pairing, seed));
        prop_assert_eq!(played.len(), (engines / 2 * rounds) as usize);
        prop_assert_eq!(rematches(&played), 0);
        let mut byes: Vec<_> = schedule.byes().into_iter().map(|(_, engine)| engine).collect();
        prop_assert_eq!(byes.len(), (engines % 2 * rounds) as usize);
        byes.sort_unstable();
        byes.dedup();
        prop_assert_eq!(byes.len(), (engines % 2 * rounds) as usize);
    }

    #[test]
    fn each_engine_plays_or_has_a_bye_in_each_round(
        engines in 2_u32..16, rounds in 1_u32..30, seed: u64,
    ) {
        let mut schedule = open(&swiss(engines, rounds, ""));
        let played = play(&mut schedule, |pairing| some_score(pairing, seed));
        let byes = schedule.byes();
        let mut counts = BTreeMap::<EngineId, u32>::new();
        for (_, engine) in &byes {
            *counts.entry(*engine).or_default() += 1;
        }
        let most = counts.values().max().copied().unwrap_or(0);
        prop_assert!(most <= rounds.div_ceil(engines));
        for round in 1..=rounds {
            let here = played.iter().filter(|pairing| pairing.round == round);
            let mut there: Vec<_> = here.flat_map(|pairing| [pairing.first, pairing.second]).collect();
            there.extend(byes.iter().filter(|(of, _)| *of == round).map(|(_, engine)| engine));
            there.sort_unstable();
            prop_assert!(there.into_iter().eq((0..engines).map(EngineId)));
        }
    }

    /// Without conflicts of rematches and colors, each score group is paired within itself, except one engine that
    /// floats down.
    #[test]
    fn engines_with_equal_scores_play(engines in 4_u32..40, seed: u64) {
        let played = play(&mut open(&swiss(engines, 2, "")), |pairing| some_score(pairing, seed));
        let mut scores = vec![0_u32; engines as usize];
        let mut busy = vec![false; engines as usize];
        for pairing in played.iter().filter(|pairing| pairing.round == 1) {
            let score = some_score(pairing, seed);
            for (engine, wins) in [(pairing.first, score.wins), (pairing.second, score.losses)] {
                scores[engine.0 as usize] = wins * 2 + score.draws;
                busy[engine.0 as usize] = true;
            }
        }
        for (score, busy) in scores.iter_mut().zip(busy) {
            *score = if busy { *score } else { 4 };
        }
        let mut floats = BTreeMap::<u32, usize>::new();
        for pairing in played.iter().filter(|pairing| pairing.round == 2) {
            let pair = [pairing.first, pairing.second].map(|engine| scores[engine.0 as usize]);
            if pair[0] != pair[1] {
                *floats.entry(pair[0].max(pair[1])).or_default() += 1;
            }
        }
        // Two engines that drew with each other may both float down.
        prop_assert!(floats.values().all(|&count| count <= 2), "{:?}", floats);
    }

    /// No color balance of three, unless that requires a rematch. Of two engines, the one with fewer first moves has
    /// the first move.
    #[test]
    fn colors_are_as_even_as_rematches_allow(
        engines in 2_u32..11, rounds in 1_u32..12, seed: u64,
    ) {
        let plan = swiss(engines, rounds, "games = \"one\"");
        let played = play(&mut open(&plan), |pairing| some_score(pairing, seed));
        let mut met = BTreeSet::new();
        let mut balances = vec![0_i64; engines as usize];
        for round in played.chunk_by(|one, other| one.round == other.round) {
            let pairs: Vec<_> =
                round.iter().map(|pairing| (pairing.first.0 as usize, pairing.second.0 as usize)).collect();
            let good = |one: usize, other: usize| {
                let balances = (balances[one], balances[other]);
                let clash = balances.0.min(balances.1) >= 2 || balances.0.max(balances.1) <= -2;
                !clash && !met.contains(&(one.min(other), one.max(other)))
            };
            let all: Vec<_> = pairs.iter().flat_map(|&(first, second)| [first, second]).collect();
            if can_be_paired(&all, &good) {
                prop_assert!(pairs.iter().all(|&(first, second)| good(first, second)));
            }
            for (first, second) in pairs {
                prop_assert!(balances[first] <= balances[second]);
                balances[first] += 1;
                balances[second] -= 1;
                met.insert((first.min(second), first.max(second)));
            }
        }
    }
}

/// Searches all pairings exhaustively.
fn can_be_paired(engines: &[usize], good: &impl Fn(usize, usize) -> bool) -> bool {
    let Some((&one, others)) = engines.split_first() else { return true };
    others.iter().any(|&other| {
        let rest: Vec<_> = others.iter().copied().filter(|&engine| engine != other).collect();
        good(one, other) && can_be_paired(&rest, good)
    })
}

#[test]
fn plays_the_minimum_of_rematches() {
    // After three rounds of four engines, all have played each other.
    let played = play(&mut open(&swiss(4, 6, "")), as_seeded);
    assert_eq!(rematches(&played), 6);
    assert_eq!(rematches(played.get(..6).unwrap_or_default()), 0);
    for seed in 0..50 {
        let played = play(&mut open(&swiss(6, 5, "")), |pairing| some_score(pairing, seed));
        assert!(rematches(played.get(..9).unwrap_or_default()) == 0, "seed {seed}");
    }
}

#[test]
fn pairs_hundreds_of_engines() {
    let played = play(&mut open(&swiss(201, 9, "games = \"one\"")), as_seeded);
    assert_eq!(played.len(), 100 * 9);
    assert_eq!(rematches(&played), 0);
}
