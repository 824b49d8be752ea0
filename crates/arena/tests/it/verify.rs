//! Verification of results by replay.

use readyok_arena::game::{GameFault, InvalidResult, verify_pair};
use readyok_arena::pairing::PairResult;
use readyok_arena::plan::{EngineId, Plan};
use readyok_arena::result::{GameEnd, MoveRecord};
use readyok_rules::{IllegalReason, Side, Termination};

use crate::sample;

fn plan() -> Plan {
    let mut plan = sample::plan(&["a", "b"], 10);
    for engine in &mut plan.engines {
        engine.limits = toml::from_str("tc = \"10+0.1\"").expect("limits");
    }
    plan
}

/// The fault of the first game of a valid pair after a change.
fn fault(plan: &Plan, change: impl FnOnce(&mut PairResult)) -> Option<GameFault> {
    match invalid(plan, change)? {
        InvalidResult::Game { fault, .. } => Some(fault),
        other => panic!("{other}"),
    }
}

fn invalid(plan: &Plan, change: impl FnOnce(&mut PairResult)) -> Option<InvalidResult> {
    let mut pair = sample::pair(3);
    change(&mut pair);
    verify_pair(plan, &sample::pairing(3), &pair, None).err()
}

fn mv(text: &str) -> MoveRecord {
    MoveRecord::new(text.parse().expect("a move"))
}

#[test]
fn accepts_a_valid_pair() {
    assert_eq!(invalid(&plan(), |_| ()), None);
}

#[test]
fn rejects_results_of_other_pairings() {
    let check = |change: fn(&mut PairResult), expected: &InvalidResult| {
        assert_eq!(invalid(&plan(), change).as_ref(), Some(expected));
    };
    check(|pair| pair.pairing.index = 4, &InvalidResult::OtherPairing);
    check(|pair| pair.pairing.opening.moves.push("e2e4".to_owned()), &InvalidResult::OtherPairing);
    check(|pair| pair.games.clear(), &InvalidResult::GameCount { found: 0 });
    check(
        |pair| pair.games = vec![pair.games[0].clone(); 100],
        &InvalidResult::GameCount { found: 100 },
    );
    let colors = InvalidResult::Game { game: 0, fault: GameFault::Colors };
    check(|pair| pair.games.swap(0, 1), &colors);
    check(|pair| pair.games[0].first = EngineId(7), &colors);
}

#[test]
fn rejects_illegal_moves_and_moves_after_the_end() {
    let plan = plan();
    let illegal = fault(&plan, |pair| pair.games[0].moves[2] = mv("d1h6"));
    assert!(matches!(illegal, Some(GameFault::IllegalMove { ply: 2, .. })), "{illegal:?}");
    let after = fault(&plan, |pair| pair.games[0].moves.push(mv("e8e7")));
    let end = Termination::Checkmate;
    assert_eq!(after, Some(GameFault::AfterEnd { ply: 7, end }));
}

#[test]
fn rejects_wrong_ends_and_winners() {
    let plan = plan();
    let mate = fault(&plan, |pair| pair.games[0].winner = Some(Side::Second));
    assert_eq!(mate, Some(GameFault::Winner { end: Termination::Checkmate }));
    let draw = fault(&plan, |pair| {
        (pair.games[0].winner, pair.games[0].end) = (None, Termination::Repetition.into());
    });
    let found = Termination::Repetition;
    let expected = Some(Termination::Checkmate);
    assert_eq!(draw, Some(GameFault::OtherEnd { expected, found }));
    // The game is not over.
    let early = fault(&plan, |pair| pair.games[0].moves.truncate(2));
    let found = Termination::Checkmate;
    assert_eq!(early, Some(GameFault::OtherEnd { expected: None, found }));
    let empty = fault(&plan, |pair| pair.games[0].moves.clear());
    assert_eq!(empty, Some(GameFault::OtherEnd { expected: None, found }));
    // No adjudication was configured.
    let adjudicated = fault(&plan, |pair| {
        pair.games[0].moves.truncate(2);
        pair.games[0].end = Termination::ResignAdjudication.into();
    });
    let found = Termination::ResignAdjudication;
    assert_eq!(adjudicated, Some(GameFault::OtherEnd { expected: None, found }));
}

#[test]
fn checks_the_loser_of_failures() {
    let plan = plan();
    let ends = [
        GameEnd::time_forfeit(400),
        GameEnd::illegal_move("e7e9", "", IllegalReason::InvalidMove),
        GameEnd::stall(10),
        sample::crash(),
        Termination::Resignation.into(),
    ];
    for end in ends {
        let lost_by = |side: Side| {
            fault(&plan, |pair| {
                // Black is to move.
                pair.games[0].moves.truncate(3);
                (pair.games[0].winner, pair.games[0].end) = (Some(side.other()), end.clone());
            })
        };
        assert_eq!(lost_by(Side::Second), None, "{end}");
        let wrong = Some(GameFault::Winner { end: end.termination });
        assert_eq!(lost_by(Side::First), wrong, "{end}");
    }
    let legal = fault(&plan, |pair| {
        pair.games[0].moves.truncate(1);
        pair.games[0].winner = Some(Side::First);
        pair.games[0].end = GameEnd::illegal_move("e7e5", "", IllegalReason::Unreachable);
    });
    let found = Termination::IllegalMove;
    assert_eq!(legal, Some(GameFault::OtherEnd { expected: None, found }));
}

#[test]
fn checks_the_clocks() {
    let late = fault(&plan(), |pair| pair.games[0].moves[0].time_us = 11_000_000);
    assert_eq!(late, Some(GameFault::Late { ply: 0 }));
    // Without a clock no game is lost on time.
    let timeless = sample::plan(&["a", "b"], 10);
    let found = Termination::TimeForfeit;
    let forfeit = fault(&timeless, |pair| {
        pair.games[0].moves.truncate(1);
        (pair.games[0].winner, pair.games[0].end) = (Some(Side::First), found.into());
    });
    assert_eq!(forfeit, Some(GameFault::OtherEnd { expected: None, found }));
}

#[test]
fn rejects_texts_of_any_length() {
    let name = fault(&plan(), |pair| pair.games[1].engines[0].name = "x".repeat(100_000));
    assert_eq!(name, Some(GameFault::TooLong));
}
