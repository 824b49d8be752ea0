//! One tree of many games.

use readyok_rules::record::{
    Format, GameRecord, OpeningTree, OpeningTreeOptions, ResultCounts, read,
};
use readyok_rules::{Game, Position, Side};

use super::tree::written;

fn tree(text: &str, options: OpeningTreeOptions) -> (GameRecord, usize) {
    let mut tree = OpeningTree::new(&Position::start(Game::Chess), options);
    for game in read(text.as_bytes(), Format::PGN) {
        assert!(tree.add(&game.expect("a game")), "the start position");
    }
    tree.record().expect("a record")
}

/// The moves of a record, without headers.
fn moves(record: &GameRecord) -> String {
    let pgn = written(record, Format::PGN);
    let (_, moves) = pgn.split_once("\n\n").expect("headers");
    moves.split_whitespace().collect::<Vec<_>>().join(" ")
}

const GAMES: &str = "[White \"A\"]\n[Black \"B\"]\n[Date \"2020.??.??\"]\n\n1. d4 d5 2. c4 e6 3. Nc3 1-0\n\n\
     [White \"C\"]\n[Black \"D\"]\n\n1. c4 e6 2. d4 d5 3. Nc3 1/2-1/2\n\n\
     [White \"E\"]\n[Black \"F\"]\n\n1. d4 d5 2. Nf3 Nf6 3. c4 0-1\n\n1. d4 d5 *";

#[test]
fn moves_have_counts_and_transpositions_one_continuation() {
    let (record, omitted) = tree(GAMES, OpeningTreeOptions::default());
    assert_eq!(omitted, 0);
    assert_eq!(
        moves(&record),
        "{ 4 games, 50 %: +1 =1 -1 } 1. d4 { 3 games, 50 %: +1 =0 -1 } \
         (1. c4 { C – D, 1/2-1/2 } 1... e6 2. d4 d5 { continues as after d4 d5 c4 e6 }) \
         1... d5 { 3 games, 50 %: +1 =0 -1 } 2. c4 { A – B, 2020, 1-0 } \
         (2. Nf3 { E – F, 0-1 } 2... Nf6 3. c4) 2... e6 3. Nc3 { 2 games, 75 %: +1 =1 -0 } *"
    );
}

#[test]
fn rare_moves_and_long_lines_are_left_out_and_counted() {
    let options = OpeningTreeOptions { min_games: 2, ..OpeningTreeOptions::default() };
    let (record, omitted) = tree(GAMES, options);
    assert_eq!((record.len(), omitted), (2, 3));
    let options = OpeningTreeOptions { plies: 1, ..OpeningTreeOptions::default() };
    assert_eq!(tree(GAMES, options).0.len(), 2);
    // The most frequent moves that fit.
    let options = OpeningTreeOptions { moves: 4, ..OpeningTreeOptions::default() };
    let (record, omitted) = tree(GAMES, options);
    assert!(record.len() <= 4 && omitted > 0, "{} {omitted}", record.len());
}

#[test]
fn a_game_from_another_position_is_not_added() {
    let mut tree = OpeningTree::new(&Position::start(Game::Shogi), OpeningTreeOptions::default());
    let game = read(&b"1. e4 *"[..], Format::PGN).next().expect("a game").expect("it is read");
    assert!(!tree.add(&game));
    assert!(tree.is_empty());
}

/// A game that repeats a position counts once.
#[test]
fn repetitions_end() {
    let (record, _) =
        tree("1. Nf3 Nf6 2. Ng1 Ng8 3. Nf3 Nf6 4. Ng1 Ng8 1-0", OpeningTreeOptions::default());
    assert_eq!(record.len(), 4);
}

#[test]
fn scores_count_only_results() {
    let counts = ResultCounts { first: 2, draws: 1, second: 1, unknown: 7 };
    assert_eq!(counts.score(Side::First), Some(0.625));
    assert_eq!(counts.score(Side::Second), Some(0.375));
    assert_eq!(ResultCounts { unknown: 1, ..ResultCounts::default() }.score(Side::First), None);
}
