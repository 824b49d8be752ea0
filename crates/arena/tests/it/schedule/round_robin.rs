//! Round robins, matches of two engines, gauntlets, pyramids.

use std::collections::BTreeMap;

use proptest::prelude::*;
use readyok_arena::pairing::Pairing;
use readyok_arena::plan::EngineId;
use readyok_arena::schedule::{Next, Schedule};

use super::{as_seeded, balance, names, open, plan, plan_error, play, round};

fn check_table(engines: usize, table: &[&str]) {
    let plan = plan(engines, "games = \"one\"\n");
    let played = play(&mut open(&plan), as_seeded);
    for (number, line) in (1..).zip(table) {
        assert_eq!(round(&played, number), *line, "round {number} of {engines}");
    }
    let last = played.last().map(|pairing| pairing.round as usize);
    assert_eq!(last, Some(table.len()));
}

/// FIDE Handbook C.05, annex 1. With an odd number, the last player does not exist.
#[test]
fn rounds_match_the_berger_tables() {
    check_table(2, &["1-2"]);
    check_table(3, &["2-3", "1-2", "3-1"]);
    check_table(4, &["1-4 2-3", "4-3 1-2", "2-4 3-1"]);
    check_table(5, &["2-5 3-4", "5-3 1-2", "3-1 4-5", "1-4 2-3", "4-2 5-1"]);
    check_table(6, &["1-6 2-5 3-4", "6-4 5-3 1-2", "2-6 3-1 4-5", "6-5 1-4 2-3", "3-6 4-2 5-1"]);
    check_table(
        8,
        &[
            "1-8 2-7 3-6 4-5",
            "8-5 6-4 7-3 1-2",
            "2-8 3-1 4-7 5-6",
            "8-6 7-5 1-4 2-3",
            "3-8 4-2 5-1 6-7",
            "8-7 1-6 2-5 3-4",
            "4-8 5-3 6-2 7-1",
        ],
    );
}

/// The colors of single games are as even as possible.
#[test]
fn in_a_pyramid_each_engine_plays_all_before_it() {
    let lines = "format = { kind = \"pyramid\" }\nrounds = 2\n";
    let pairs = plan(4, lines);
    let played = play(&mut open(&pairs), as_seeded);
    let rounds: Vec<String> = (1..=6).map(|number| round(&played, number)).collect();
    let once = ["1-2", "1-3 2-3", "1-4 2-4 3-4"];
    assert_eq!(rounds, [once, once].concat());
    assert_eq!(played.len(), 12);
    let single = plan(4, &format!("{lines}games = \"one\"\n"));
    let played = play(&mut open(&single), as_seeded);
    let rounds: Vec<String> = (1..=6).map(|number| round(&played, number)).collect();
    assert_eq!(rounds, ["2-1", "1-3 3-2", "4-1 2-4 4-3", "1-2", "3-1 2-3", "1-4 4-2 3-4"]);
    check_even(&played, 4, 2, |_, _| true);
}

fn check_even(played: &[Pairing], engines: u32, encounters: u32, who: impl Fn(u32, u32) -> bool) {
    let mut met = BTreeMap::<(EngineId, EngineId), u32>::new();
    for pairing in played {
        let pair = (pairing.first.min(pairing.second), pairing.first.max(pairing.second));
        *met.entry(pair).or_default() += 1;
    }
    for one in 0..engines {
        for other in one + 1..engines {
            let expected = if who(one, other) { encounters } else { 0 };
            let count = met.get(&(EngineId(one), EngineId(other))).copied().unwrap_or(0);
            assert_eq!(count, expected, "{one} and {other}");
        }
        assert!(balance(played, EngineId(one)).abs() <= 1, "colors of {one}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn each_two_engines_play_with_even_colors(
        engines in 2_u32..12, rounds in 1_u32..4, pairs in 1_u32..4,
    ) {
        let lines = format!("rounds = {rounds}\npairs_per_encounter = {pairs}\ngames = \"one\"\n");
        let mut schedule = open(&plan(engines as usize, &lines));
        let played = play(&mut schedule, as_seeded);
        prop_assert_eq!(schedule.total(), played.len() as u64);
        prop_assert!(played.iter().map(|pairing| pairing.index).eq(0..schedule.total()));
        check_even(&played, engines, rounds * pairs, |_, _| true);
    }

    #[test]
    fn each_engine_plays_once_per_round(engines in 2_usize..20) {
        let played = play(&mut open(&plan(engines, "rounds = 2\n")), as_seeded);
        let mut seen = std::collections::BTreeSet::new();
        for pairing in &played {
            for engine in [pairing.first, pairing.second] {
                prop_assert!(seen.insert((pairing.round, engine)), "{:?}", pairing);
            }
        }
    }

    #[test]
    fn seeds_of_a_gauntlet_play_all_others_with_even_colors(
        engines in 2_u32..12, seeds in 1_u32..12, rounds in 1_u32..4,
    ) {
        let seeds = seeds.min(engines - 1);
        let lines = format!(
            "rounds = {rounds}\ngames = \"one\"\nformat = {{ kind = \"gauntlet\", seeds = {seeds} }}\n"
        );
        let played = play(&mut open(&plan(engines as usize, &lines)), as_seeded);
        check_even(&played, engines, rounds, |one, _| one < seeds);
    }
}

#[test]
fn a_match_of_two_engines_alternates_colors() {
    let colors = |lines: &str| {
        let played = play(&mut open(&plan(2, lines)), as_seeded);
        played.iter().map(names).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(colors("rounds = 4\ngames = \"one\"\n"), "1-2 2-1 1-2 2-1");
    assert_eq!(
        colors("rounds = 2\npairs_per_encounter = 3\ngames = \"one\"\n"),
        "1-2 2-1 1-2 2-1 1-2 2-1"
    );
    assert_eq!(colors("rounds = 3\n"), "1-2 1-2 1-2");
    assert_eq!(colors("rounds = 3\ncolors = { reversed = true }\n"), "2-1 2-1 2-1");
    let fixed = "rounds = 3\ngames = \"one\"\ncolors = { fixed = true }\n";
    assert_eq!(colors(fixed), "1-2 1-2 1-2");
}

#[test]
fn fixed_colors_follow_the_plan() {
    let lines =
        "pairs_per_encounter = 2\ngames = \"one\"\ncolors = { fixed = true, reversed = true }\n";
    let played = play(&mut open(&plan(4, lines)), as_seeded);
    assert!(played.iter().all(|pairing| pairing.first > pairing.second), "{played:?}");
    let pairs = plan_error(&plan(2, "colors = { fixed = true }\n")).to_string();
    assert_eq!(
        pairs,
        "fixed colors need one game for each pairing; `pairs_per_encounter` gives more"
    );
}

#[test]
fn the_longest_match_starts_immediately() {
    let mut schedule = open(&plan(300, "rounds = 14000000\npairs_per_encounter = 1000\n"));
    assert_eq!(schedule.total(), 14_000_000 * 1000 * (300 * 299 / 2));
    for index in 0..5 {
        let Next::Pairing(pairing) = schedule.next().unwrap() else { panic!("no pairing") };
        assert_eq!((pairing.index, pairing.round), (index, 1));
    }
    let rounds = u32::MAX;
    assert!(Schedule::open(&plan(2, &format!("rounds = {rounds}\n"))).is_ok());
    let many = plan_error(&plan(4, &format!("rounds = {rounds}\n"))).to_string();
    assert_eq!(many, "the plan has too many pairings to count");
}

fn check_openings(engines: usize, lines: &str, expected: &[u64]) {
    let source = "source = { kind = \"chess960\" }";
    let mut plan = plan(engines, &format!("{lines}\n{source}\n"));
    plan.game = readyok_rules::Game::Chess960;
    let played = play(&mut open(&plan), as_seeded);
    let openings: Vec<u64> = played.iter().map(|pairing| pairing.opening.index).collect();
    assert_eq!(openings, expected, "{lines}");
}

#[test]
fn openings_change_by_policy() {
    check_openings(3, "rounds = 2\n[openings]", &[0, 1, 2, 3, 4, 5]);
    check_openings(3, "rounds = 2\n[openings]\nskip = 7", &[7, 8, 9, 10, 11, 12]);
    check_openings(3, "rounds = 2\n[openings]\nrepeat = 2", &[0, 0, 1, 1, 2, 2]);
    check_openings(
        2,
        "rounds = 2\npairs_per_encounter = 2\n[openings]\npolicy = \"encounter\"",
        &[0, 0, 1, 1],
    );
    check_openings(4, "[openings]\npolicy = \"round\"", &[0, 0, 1, 1, 2, 2]);
    check_openings(4, "[openings]\npolicy = \"round\"\nrepeat = 3", &[0; 6]);
    let gauntlet = "rounds = 2\nformat = { kind = \"gauntlet\" }\n[openings]\npolicy = \"round\"";
    check_openings(4, gauntlet, &[0, 0, 0, 1, 1, 1]);
}

#[test]
fn rejects_invalid_plans() {
    let check = |engines, lines: &str, text: &str| {
        assert_eq!(plan_error(&plan(engines, lines)).to_string(), text);
    };
    check(1, "", "a match needs two engines, and the plan has 1");
    check(1025, "", "the plan has 1025 engines, more than 1024");
    check(2, "rounds = 0\n", "`rounds` must be at least 1");
    check(2, "pairs_per_encounter = 0\n", "`pairs_per_encounter` must be at least 1");
    check(2, "format = { kind = \"gauntlet\", seeds = 0 }\n", "`seeds` must be at least 1");
    check(
        2,
        "rounds = 2\nformat = { kind = \"knockout\" }\n",
        "the plan has 2 `rounds`, but the number of engines determines the rounds of a knockout; \
         `pairs_per_encounter` makes its matches longer",
    );
    check(
        2,
        "openings = { source = { kind = \"chess960\" } }\n",
        "openings: openings of this kind are not for chess",
    );
}
