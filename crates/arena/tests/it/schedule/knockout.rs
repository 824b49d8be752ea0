//! Knockouts: seeding, byes, ties.

use readyok_arena::pairing::Pairing;
use readyok_arena::plan::EngineId;
use readyok_arena::schedule::{Next, Score};

use super::{as_seeded, drawn, names, open, outcome, plan, play, round, won_by};

const KNOCKOUT: &str = "format = { kind = \"knockout\" }\n";

/// The encounters if the higher seed always wins.
fn check_bracket(engines: usize, rounds: &[&str]) {
    let played = play(&mut open(&plan(engines, KNOCKOUT)), as_seeded);
    for (number, line) in (1..).zip(rounds) {
        assert_eq!(round(&played, number), *line, "round {number} of {engines}");
    }
    assert_eq!(played.len(), engines - 1);
}

#[test]
fn the_best_engines_play_the_final() {
    check_bracket(2, &["1-2"]);
    check_bracket(3, &["2-3", "1-2"]);
    check_bracket(5, &["4-5", "1-4 2-3", "1-2"]);
    check_bracket(8, &["1-8 4-5 2-7 3-6", "1-4 2-3", "1-2"]);
    check_bracket(13, &["8-9 4-13 5-12 7-10 6-11", "1-8 4-5 2-7 3-6", "1-4 2-3", "1-2"]);
}

#[test]
fn winners_advance() {
    // 5 and 7 win all encounters, and 5 wins the final.
    let unexpected = |pairing: &Pairing| {
        let mut strong = [EngineId(4), EngineId(6)].into_iter();
        let strong = strong.find(|&engine| pairing.first == engine || pairing.second == engine);
        strong.map_or_else(|| as_seeded(pairing), |strong| won_by(pairing, strong))
    };
    let mut schedule = open(&plan(8, KNOCKOUT));
    assert_eq!(schedule.champion().expect("no outcome"), None);
    let played = play(&mut schedule, unexpected);
    assert_eq!(schedule.champion().expect("its own outcomes"), Some(EngineId(4)));
    assert_eq!(round(&played, 2), "1-5 3-7");
    assert_eq!(round(&played, 3), "5-7");
}

#[test]
fn replays_a_tie_and_then_breaks_it() {
    let lines =
        "games = \"one\"\npairs_per_encounter = 2\nformat = { kind = \"knockout\", replays = 2 }\n";
    let mut schedule = open(&plan(2, lines));
    let played = play(&mut schedule, drawn);
    assert_eq!(schedule.champion().expect("its own outcomes"), Some(EngineId(0)));
    let names: Vec<String> = played.iter().map(names).collect();
    assert_eq!(names.join(" "), "1-2 2-1 2-1 1-2 1-2 2-1");
    assert!(played.iter().all(|pairing| pairing.round == 1));

    // The higher seeds advance.
    let four = play(&mut open(&plan(4, "format = { kind = \"knockout\", replays = 0 }\n")), drawn);
    assert_eq!(round(&four, 2), "1-2");
    let random = "format = { kind = \"knockout\", replays = 0, tie = \"random\" }\n";
    let finals: std::collections::BTreeSet<String> = (0..40)
        .map(|seed| {
            let plan = plan(4, &format!("seed = {seed}\n{random}"));
            let played = play(&mut open(&plan), drawn);
            assert_eq!(played, play(&mut open(&plan), drawn));
            round(&played, 2)
        })
        .collect();
    let expected = ["1-2", "1-3", "2-4", "3-4"].map(str::to_owned);
    assert!(finals.into_iter().eq(expected));
}

#[test]
fn does_not_replay_a_decided_match() {
    let plan = plan(4, "pairs_per_encounter = 2\nformat = { kind = \"knockout\", replays = 3 }\n");
    let tied_once = |pairing: &Pairing| {
        if pairing.round == 1 && pairing.index % 8 < 2 {
            drawn(pairing)
        } else {
            as_seeded(pairing)
        }
    };
    let mut schedule = open(&plan);
    let played = play(&mut schedule, tied_once);
    let indexes: Vec<u64> = played.iter().map(|pairing| pairing.index).collect();
    assert_eq!(indexes, [0, 1, 2, 3, 8, 9, 10, 11, 16, 17]);
    assert_eq!(schedule.total(), 3 * 4 * 2);
    assert!(schedule.byes().is_empty());
    let never = outcome(played.first().unwrap(), Score { draws: 2, ..Score::default() });
    let never = readyok_arena::schedule::PairingScore { index: 5, ..never };
    assert_eq!(schedule.record(never).unwrap_err().to_string(), "the schedule has no pairing 5");
}

#[test]
fn issues_a_match_as_soon_as_both_engines_are_known() {
    let mut schedule = open(&plan(8, KNOCKOUT));
    let mut next = || match schedule.next().unwrap() {
        Next::Pairing(pairing) => (names(&pairing), Some(pairing)),
        Next::Wait => ("wait".to_owned(), None),
        Next::Done => ("done".to_owned(), None),
    };
    let mut first_round = Vec::new();
    for expected in ["1-8", "4-5", "2-7", "3-6"] {
        let (name, pairing) = next();
        assert_eq!(name, expected);
        first_round.extend(pairing);
    }
    assert_eq!(next().0, "wait");
    for pairing in first_round.iter().skip(2) {
        schedule.record(outcome(pairing, as_seeded(pairing))).unwrap();
    }
    let Next::Pairing(semifinal) = schedule.next().unwrap() else { panic!("no semifinal") };
    assert_eq!(names(&semifinal), "2-3");
    assert_eq!(schedule.next().unwrap(), Next::Wait);
}

#[test]
fn replays_use_another_opening() {
    for policy in ["pairing", "encounter", "round"] {
        let lines = format!(
            "format = {{ kind = \"knockout\", replays = 2 }}\n[openings]\npolicy = \"{policy}\"\n\
             source = {{ kind = \"chess960\" }}\n"
        );
        let mut plan = plan(4, &lines);
        plan.game = readyok_rules::Game::Chess960;
        let played = play(&mut open(&plan), drawn);
        let mut seen = std::collections::BTreeSet::new();
        for pairing in &played {
            let pair = (pairing.first.min(pairing.second), pairing.first.max(pairing.second));
            assert!(seen.insert((pair, pairing.opening.index)), "{policy}: {pairing:?}");
        }
    }
}
