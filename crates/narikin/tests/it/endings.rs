//! Tablebases in the search and at the root.

use std::sync::Arc;

use narikin::{Limits, Score, TbConfig, tablebase::Tablebases};
use readyok_rules::{Game, Position};

use crate::{Probe, position, search, tokens};

fn tables() -> TbConfig {
    let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/syzygy");
    let tablebases = Arc::new(Tablebases::open(directory).expect("tables"));
    assert!(tablebases.max_pieces() >= 4);
    TbConfig { tablebases, probe_depth: 1, probe_limit: 7, rule50: true }
}

fn score(text: &str, depth: u32) -> (Score, u64) {
    let probe = Probe::default();
    let limits = Limits { tables: Some(tables()), ..crate::depth(depth) };
    let score = search(&position(Game::Chess, text), &limits, &probe).score;
    let hits = probe.last_lines().first().map_or(0, |line| line.tbhits);
    (score, hits)
}

#[test]
fn probes_tables_after_a_capture() {
    // After the capture of the knight the position is in the tables.
    let (won, hits) = score("3k4/8/8/8/n7/8/8/R3K3 w - - 0 1", 4);
    assert!(matches!(won, Score::Centipawns(19_000..) | Score::Wins { .. }), "{won:?}");
    assert!(hits > 0);
}

#[test]
fn scores_table_draws_as_draws() {
    // A rook pawn whose promotion square the other king guards.
    let (drawn, hits) = score("k7/8/8/P7/8/8/8/K7 w - - 0 1", 5);
    assert_eq!(drawn, Score::Centipawns(0));
    assert!(hits > 0);
}

#[test]
fn plays_a_table_win_to_mate() {
    let mut position =
        Position::from_text(Game::Chess, "8/8/8/3k4/8/8/8/R3K3 w - - 0 1").expect("legal");
    let limits = Limits { tables: Some(tables()), ..crate::depth(2) };
    for _ in 0..60 {
        let outcome = search(&position, &limits, &Probe::default());
        let Some(best) = outcome.best() else { break };
        let line = tokens(Game::Chess, &[best]);
        position = position.after(&line).expect("a legal move");
    }
    assert!(position.legal_moves().is_empty() && position.in_check(), "{position}");
}

/// The first moves and scores of the lines of a search with tables.
fn lines(text: &str, limits: &Limits) -> Vec<(String, Score)> {
    let probe = Probe::default();
    let limits = Limits { tables: Some(tables()), ..limits.clone() };
    search(&position(Game::Chess, text), &limits, &probe);
    let lines = probe.last_lines();
    let first = lines.iter().map(|line| (tokens(Game::Chess, &line.pv)[0].clone(), line.score));
    first.collect()
}

#[test]
fn each_line_has_its_table_score() {
    let limits = Limits { multipv: 3, ..crate::depth(6) };
    // Only one move takes the opposition.
    let found = lines("3k4/8/8/1K6/3P4/8/8/8 w - - 0 1", &limits);
    let (best, rest) = found.split_first().expect("lines");
    assert!(best.0 == "b5c6" && best.1 == Score::Centipawns(19_500), "{found:?}");
    assert!(rest.iter().all(|(_, score)| *score == Score::Centipawns(0)), "{found:?}");
    let lost = lines("8/8/8/8/4p3/4k3/8/4K3 w - - 0 1", &limits);
    assert!(lost.iter().all(|(_, score)| *score == Score::Centipawns(-19_500)), "{lost:?}");
}

#[test]
fn a_requested_move_has_its_own_table_score() {
    let text = "8/8/8/8/4k3/8/8/K2R4 w - - 0 1";
    let moves = |tokens: &[&str]| -> Vec<_> {
        let position = position(Game::Chess, text);
        tokens.iter().map(|token| position.parse_move(token).expect("legal")).collect()
    };
    for (asked, best, score) in [
        (["d1d4"].as_slice(), "d1d4", 0),
        (&["d1d4", "d1d3"], "d1d4", 0),
        (&["d1d4", "d1d8"], "d1d8", 19_500),
    ] {
        let limits = Limits { searchmoves: moves(asked), ..crate::depth(8) };
        let found = lines(text, &limits);
        assert_eq!(found.len(), 1, "{asked:?}: {found:?}");
        let (first, reported) = &found[0];
        let is_best = first == best || (score == 0 && asked.contains(&first.as_str()));
        assert!(is_best && *reported == Score::Centipawns(score), "{asked:?}: {found:?}");
    }
}

#[test]
fn mate_searches_do_not_probe_tables() {
    let limits = Limits { mate: Some(3), ..Limits::default() };
    let found = lines("8/P7/8/8/8/1K6/8/k7 w - - 0 1", &limits);
    assert!(matches!(found.as_slice(), [(_, Score::Wins { plies: 3 })]), "{found:?}");
}
