//! Matches of several takes against one base.

use std::sync::atomic::{AtomicU64, Ordering};

use readyok_arena::event::{End, Event};
use readyok_arena::pairing::{PairResult, Pairing};
use readyok_arena::plan::{EngineId, Format, Plan};
use readyok_arena::runner::{MatchError, PlayContext, PlayerError, Settings};
use readyok_arena::stats::SprtError;

use super::{Scripted, TestDir, good};
use crate::sample;

/// Takes of which only the last one is stronger than the base.
fn takes_plan() -> Plan {
    let mut plan = sample::plan(&["base", "one", "two", "three"], 100_000);
    plan.format = Format::Takes;
    plan.pairs_per_encounter = 3;
    plan.sprt = toml::from_str("elo0 = 0.0\nelo1 = 20.0").expect("a test");
    plan
}

#[expect(clippy::unnecessary_wraps, reason = "the form of a player")]
fn play_takes(
    pairing: &Pairing,
    _: &mut PlayContext<'_>,
) -> Result<Option<PairResult>, PlayerError> {
    // The lower number wins each pair.
    let mut result = sample::played(pairing.clone());
    if pairing.second == EngineId(3) {
        for game in &mut result.games {
            game.winner = game.winner.map(readyok_rules::Side::other);
        }
    }
    Ok(Some(result))
}

#[test]
fn the_first_accepted_take_ends_the_match() {
    let place = TestDir::new(takes_plan());
    let (summary, events) = place.play(Settings::default(), play_takes);
    let summary = summary.expect("a match");
    assert_eq!(summary.end, End::Takes { accepted: Some(EngineId(3)) });
    let played = |take| {
        let of = |score: &&readyok_arena::event::Score| score.opponent == EngineId(take);
        summary.scores.iter().find(of).map_or(0, |score| score.wins + score.draws + score.losses)
    };
    assert!(played(1) < played(3) && played(2) < played(3), "{:?}", summary.scores);
    let last = events.iter().rev().find_map(|event| match event {
        Event::Takes(status) => Some(status),
        _ => None,
    });
    assert_eq!(last.expect("a status").accepted, Some(EngineId(3)));
    let (again, _) = place.play(Settings::default(), play_takes);
    assert_eq!(again.expect("a match"), summary, "it stays decided");
}

#[test]
fn takes_that_are_worse_are_all_dropped() {
    let place = TestDir::new(takes_plan());
    let (summary, _) = place.play(Settings::default(), good);
    assert_eq!(summary.expect("a match").end, End::Takes { accepted: None });
}

#[test]
fn an_interrupted_test_of_takes_continues_with_its_results() {
    let place = TestDir::new(takes_plan());
    let (game, _events) = place.game(Settings::default());
    let stop = game.stop_handle();
    let count = AtomicU64::new(0);
    let summary = game.play_here(2, None, |_| {
        Scripted(|pairing: &Pairing, watch: &mut PlayContext<'_>| {
            if count.fetch_add(1, Ordering::SeqCst) == 10 {
                stop.interrupt();
            }
            play_takes(pairing, watch)
        })
    });
    let before = summary.expect("a match");
    assert_eq!(before.end, End::Interrupted);
    let (summary, events) = place.play(Settings::default(), play_takes);
    let summary = summary.expect("a match");
    assert_eq!(summary.end, End::Takes { accepted: Some(EngineId(3)) });
    assert!(
        matches!(events.first(), Some(Event::MatchStart { resumed, .. }) if *resumed == before.complete)
    );
    let indices = place.stored();
    assert_eq!(indices, (0..indices.len() as u64).collect::<Vec<_>>(), "no pairing is missing");
}

#[test]
fn takes_need_a_test() {
    let mut plan = takes_plan();
    plan.sprt = None;
    let place = TestDir::new(plan);
    let error = place.play(Settings::default(), good).0.expect_err("no test");
    assert!(matches!(error, MatchError::Test(SprtError::TakesRequireSprt)), "{error}");
}
