//! Messages, limits and drift of speeds.

use std::num::NonZeroU64;

use super::*;
use crate::match_state::tests::{pair, plan};
use crate::plan::GamesPerPairing;
use crate::result::MoveRecord;

/// A pair with one search of each engine in each game: nodes and seconds by engine.
fn searched(searches: [(u64, u64); 2]) -> PairResult {
    let mut pair = pair(0, &(0, 1, vec![None, None], false));
    for game in &mut pair.games {
        game.moves = [game.first, game.second]
            .iter()
            .map(|engine| {
                let (nodes, seconds) = searches[engine.index()];
                MoveRecord {
                    nodes: Some(nodes),
                    time_us: seconds * 1_000_000,
                    ..MoveRecord::new("e2e4".parse().expect("a move"))
                }
            })
            .collect();
    }
    pair
}

#[test]
fn speeds_are_a_number_or_a_short_list() {
    let read = |text: &str| serde_json::from_str::<Speed>(text).ok();
    assert_eq!(read("2500000"), Some(Speed::Host(2.5e6)));
    assert_eq!(read("[1e6, 2e6]"), Some(Speed::Engines(vec![1e6, 2e6])));
    assert_eq!(read("[1e300, -5]"), Some(Speed::Engines(vec![1e12, 1.0])));
    for text in ["[]", "[1, 2, 3]", "null", "\"1\"", "{}", "[null]"] {
        assert_eq!(read(text), None, "{text}");
    }
    for speed in [Speed::Host(7.0), Speed::Engines(vec![1.5, 2.5])] {
        let text = serde_json::to_string(&speed).expect("JSON");
        assert_eq!(read(&text), Some(speed));
    }
}

/// Each engine is compared with its own speed, over both games.
#[cfg(feature = "nats")]
#[test]
fn nodes_are_limited_by_speed_and_time() {
    let speed = Speed::Engines(vec![1000.0, 5000.0]);
    let excess = |speed: &Speed, searches| {
        speed.excess_of(Game::Chess, &searched(searches)).map(|excess| excess.engine.0)
    };
    // Three times the speed, for twice ten seconds and the slack.
    assert_eq!(excess(&speed, [(31_500, 10), (157_500, 10)]), None);
    assert_eq!(excess(&speed, [(31_501, 10), (0, 10)]), Some(0));
    assert_eq!(excess(&speed, [(0, 10), (157_501, 10)]), Some(1));
    assert_eq!(excess(&speed, [(u64::MAX, 10), (0, 10)]), Some(0));
    // Only the first engines have a measured speed.
    assert_eq!(excess(&Speed::Engines(vec![1000.0]), [(0, 1), (u64::MAX, 1)]), None);
    assert_eq!(excess(&Speed::Host(1.0), [(u64::MAX, 1), (u64::MAX, 1)]), None);
}

#[test]
fn drift_is_relative_to_the_first_games() {
    let mut monitor = SpeedMonitor::new(Game::Chess, Speed::Engines(vec![1000.0, 1000.0]));
    let mut add = |nodes: u64| {
        // One window: twice ten seconds of each engine.
        monitor.add(&searched([(nodes, 10), (nodes, 10)]));
        monitor.has_drifted()
    };
    // Games are faster than the measured positions.
    assert!(!add(15_000));
    assert!(!add(15_000));
    assert!(!add(17_000));
    assert!(add(20_000));
    assert!(!add(14_000));
    assert!(add(9_000));
}

#[test]
fn only_times_need_a_speed() {
    let needs = |limits: &str, stall: Option<u64>| {
        let mut plan = plan(2, GamesPerPairing::Two);
        plan.engines[1].limits = toml::from_str(limits).expect("limits");
        plan.search_timeout_ms = stall.and_then(NonZeroU64::new);
        needs_speed(&plan)
    };
    assert!(!needs("nodes = 5", None) && !needs("depth = 5", None));
    assert!(needs("nodes = 5", Some(1000)) && needs("tc = \"1+1\"", None));
    assert!(needs("byoyomi_ms = 5", None) && needs("move_time_ms = 5\nnodes = 5", None));
}
