//! Searches end where they have to, and always with a move.

use std::time::Duration;

use narikin::{Limits, Score, Searcher};
use readyok_rules::{Game, Position};

use crate::{Probe, depth, search};

const GAMES: [Game; 2] = [Game::Chess, Game::Shogi];

#[test]
fn searches_exactly_as_many_nodes_as_allowed() {
    for game in GAMES {
        for nodes in [0, 1, 2, 100, 5_000] {
            let limits = Limits { nodes: Some(nodes), ..Limits::default() };
            let outcome = search(&Position::start(game), &limits, &Probe::default());
            assert_eq!(outcome.nodes, nodes, "{game:?}");
            assert!(outcome.best().is_some(), "{game:?} {nodes}");
        }
    }
}

#[test]
fn searches_as_deep_as_allowed() {
    for game in GAMES {
        let probe = Probe::default();
        let outcome = search(&Position::start(game), &depth(3), &probe);
        assert_eq!(outcome.depth, 3);
        let depths: Vec<u32> = probe.lines.borrow().iter().map(|line| line.depth).collect();
        assert_eq!(depths, [1, 2, 3]);
        assert!(probe.lines.borrow().iter().all(|line| line.seldepth >= line.depth));
        assert!(probe.lines.borrow().is_sorted_by_key(|line| line.nodes));
    }
}

#[test]
fn has_a_move_even_if_stopped_at_once() {
    for game in GAMES {
        let probe = Probe::stop_at(1);
        let position = Position::start(game);
        let outcome = search(&position, &Limits::default(), &probe);
        let best = outcome.best().expect("a move");
        assert!(position.legal_moves().contains(&best));
        assert_eq!((outcome.depth, outcome.nodes), (0, 0));
        let lines = probe.last_lines();
        assert_eq!(lines.len(), 1, "what will be played is reported");
        assert!(lines.iter().all(|line| line.pv == [best] && line.depth == 0));
    }
}

#[test]
fn asks_often_whether_to_stop_and_stops_at_the_first_yes() {
    for game in GAMES {
        let probe = Probe::stop_at(20);
        let outcome = search(&Position::start(game), &Limits::default(), &probe);
        assert!(outcome.nodes <= 20 * 256, "{} nodes", outcome.nodes);
        assert!(outcome.nodes >= 256, "{} nodes", outcome.nodes);
        assert_eq!(probe.questions(), 20);
        let last = probe.last_lines();
        assert_eq!(last.first().map(|line| &line.pv), Some(&outcome.pv));
    }
}

#[test]
fn gives_up_at_the_hard_bound() {
    let hard = Some(Duration::from_millis(30));
    let probe = Probe::with_bounds(None, hard);
    search(&Position::start(Game::Chess), &Limits::default(), &probe);
    assert_eq!(probe.questions(), 30);
}

#[test]
fn begins_nothing_new_after_the_soft_bound() {
    let soft = Some(Duration::from_millis(30));
    let probe = Probe::with_bounds(soft, None);
    let outcome = search(&Position::start(Game::Chess), &Limits::default(), &probe);
    assert!(probe.questions() >= 30);
    let depth = probe.lines.borrow().iter().map(|line| line.depth).max();
    assert_eq!(depth, Some(outcome.depth), "the last iteration was finished");
    let without =
        search(&Position::start(Game::Chess), &crate::depth(outcome.depth), &Probe::default());
    assert_eq!(outcome, without);
}

#[test]
fn same_searches_give_same_results() {
    for game in GAMES {
        let mut searcher = Searcher::new(1).expect("a megabyte");
        let mut run = || {
            let probe = Probe::default();
            searcher.clear();
            let outcome = searcher.search(&Position::start(game), &depth(4), &probe);
            (outcome, probe.lines.into_inner())
        };
        assert_eq!(run(), run());
    }
}

#[test]
fn the_hash_table_fills_and_saves_work() {
    for game in GAMES {
        let start = Position::start(game);
        let mut searcher = Searcher::new(1).expect("a megabyte");
        let probe = Probe::default();
        let first = searcher.search(&start, &depth(8), &probe);
        assert!(probe.last_lines().iter().all(|line| (1..=1000).contains(&line.hashfull)));
        let again = searcher.search(&start, &depth(8), &Probe::default());
        assert!(again.nodes < first.nodes, "{} and {}", again.nodes, first.nodes);
    }
}

#[test]
fn a_table_that_does_not_fit_leaves_the_old_one() {
    let mut searcher = Searcher::new(1).expect("a megabyte");
    assert!(searcher.resize(usize::MAX).is_err());
    let outcome = searcher.search(&Position::start(Game::Chess), &depth(2), &Probe::default());
    assert!(matches!(outcome.score, Score::Centipawns(_)));
}
