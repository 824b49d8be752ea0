//! The filter of positions.

use narikin_train::data::{End, Ply, Record};
use narikin_train::games::{Chess, number};
use narikin_train::samples::{Filter, ReplayError, each};
use readyok_rules::{Game, Position, Side};

/// A game of chess with moves in UCI notation. Scores are those of the side to move.
fn game(opening: &[&str], plies: &[(&str, i16)]) -> Record {
    let mut position = Position::start(Game::Chess);
    let mut numbered = |token: &str| {
        let mv = position.parse_move(token).expect("a legal move");
        position.play(mv).expect("a legal move");
        number(mv).expect("a number")
    };
    Record {
        start: 518,
        opening: opening.iter().map(|token| numbered(token)).collect(),
        plies: plies.iter().map(|&(token, score)| Ply { mv: numbered(token), score }).collect(),
        winner: Some(Side::First),
        end: End::Scores,
    }
}

fn scores(game: &Record, filter: Filter) -> Vec<i16> {
    let mut scores = Vec::new();
    each::<Chess>(game, &filter, |sample| scores.push(sample.score)).expect("a legal game");
    scores
}

const ALL: Filter = Filter { from_ply: 0, max_score: 30_000 };

#[test]
fn selects_quiet_positions_with_scores_of_the_first_side() {
    let plies =
        [("d2d4", 30), ("e5d4", 40), ("d1d4", 50), ("b8c6", -60), ("d4a4", 70), ("g8f6", 80)];
    let game = game(&["e2e4", "e7e5"], &plies);
    assert_eq!(scores(&game, ALL), [30, 60, 70, -80]);
    assert_eq!(scores(&game, Filter { from_ply: 6, ..ALL }), [70, -80]);
    assert_eq!(scores(&game, Filter { max_score: 70, ..ALL }), [30, 60, 70]);
}

#[test]
fn skips_positions_in_check() {
    let plies = [("f1b5", 10), ("c7c6", 20), ("b5a4", 30)];
    let game = game(&["e2e4", "d7d5"], &plies);
    assert_eq!(scores(&game, ALL), [10, 30]);
}

#[test]
fn reports_a_game_that_cannot_be_replayed() {
    let sound = game(&["e2e4"], &[("e7e5", 0), ("g1f3", 0)]);
    let failed = |game: &Record| each::<Chess>(game, &ALL, |_| ()).expect_err("no such game");
    assert_eq!(failed(&Record { start: 960, ..sound.clone() }), ReplayError::Start(960));
    assert_eq!(failed(&Record { opening: vec![0], ..sound.clone() }), ReplayError::Move(0));
    let mut broken = sound;
    broken.plies[1].mv = u16::MAX;
    assert_eq!(failed(&broken), ReplayError::Move(2));
}
