//! Combinations of trees.

use proptest::prelude::*;
use readyok_rules::record::{AddError, AddedTree, Format, GameRecord, Node, NodeId, read};
use readyok_rules::{CastlingForm, Game, Position};

use super::tree::written;

fn games(text: &str) -> Vec<GameRecord> {
    read(text.as_bytes(), Format::PGN).map(|game| game.expect("a game")).collect()
}

fn game(text: &str) -> GameRecord {
    games(text).swap_remove(0)
}

/// The moves of a record, without headers.
fn moves(record: &GameRecord) -> String {
    let pgn = written(record, Format::PGN);
    let (_, moves) = pgn.split_once("\n\n").expect("headers");
    moves.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn counts(added: AddedTree) -> (usize, usize, usize) {
    (added.moves, added.annotated, added.omitted)
}

#[test]
fn a_second_game_becomes_variations() {
    let [mut all, more] = <[GameRecord; 2]>::try_from(games(
        "1. e4 e5 2. Nf3 (2. f4) 2... Nc6 *\n\n1. e4 {best} e5 2. f4! exf4 (2... d5) 3. Nf3 (3. Bc4) 1-0",
    ))
    .expect("two games");
    let added = all.add_tree(NodeId::ROOT, &more, NodeId::ROOT).expect("equal starts");
    assert_eq!(
        moves(&all),
        "1. e4 { best } 1... e5 2. Nf3 (2. f4 $1 exf4 (2... d5) 3. Nf3 (3. Bc4)) 2... Nc6 *"
    );
    assert_eq!(counts(added), (4, 2, 0));
    // Nothing is added twice.
    let added = all.add_tree(NodeId::ROOT, &more, NodeId::ROOT).expect("equal starts");
    assert_eq!(counts(added), (0, 0, 0));
}

#[test]
fn annotations_that_exclude_each_other_are_counted() {
    let mut all = game("1. e4! {[%clk 0:01:00] one} e5 $10 2. Nf3 1-0");
    let more = game("1. e4? {[%clk 0:02:00] two} e5 $10 $146 2. Nf3 Nc6 *");
    let added = all.add_tree(NodeId::ROOT, &more, NodeId::ROOT).expect("equal starts");
    assert_eq!(
        moves(&all),
        "1. e4 $1 { [%clk 0:01:00] one } { two } 1... e5 $10 $146 2. Nf3 Nc6 1-0"
    );
    assert_eq!(counts(added), (1, 2, 2));
}

/// A game that ended where another one continues keeps its result in its header only.
#[test]
fn the_end_of_a_line_that_continues_is_omitted() {
    let mut all = read("position startpos moves 7g7f 3c3d resign".as_bytes(), Format::USI)
        .next()
        .expect("a game")
        .expect("a game");
    assert!(all.end().is_some());
    let more = read("position startpos moves 7g7f 3c3d 2g2f".as_bytes(), Format::USI)
        .next()
        .expect("a game")
        .expect("a game");
    let added = all.add_tree(NodeId::ROOT, &more, NodeId::ROOT).expect("equal starts");
    assert_eq!(counts(added), (1, 0, 1));
    assert!(all.end().is_none());
    assert_eq!(all.mainline().count(), 3);
}

#[test]
fn a_tree_is_added_where_its_start_position_is() {
    let mut all = game("1. d4 d5 2. c4 e6 3. Nc3 *");
    let more = game("1. c4 e6 2. d4 d5 3. Nf3 (3. cxd5 exd5) *");
    let place = more.mainline().nth(3).map(Node::id).expect("four moves");
    let at = all.find(&more.position_after(place).expect("a node")).expect("a transposition");
    assert_eq!(all.node(at).map(Node::ply), Some(4));
    all.add_tree(at, &more, place).expect("equal positions");
    assert_eq!(moves(&all), "1. d4 d5 2. c4 e6 3. Nc3 (3. Nf3) (3. cxd5 exd5) *");
    assert_eq!(all.find(&Position::start(Game::Chess)), Some(NodeId::ROOT));
    let before = all.clone();
    assert_eq!(all.add_tree(NodeId::ROOT, &more, place), Err(AddError::OtherPosition));
    let absent = NodeId::from(99);
    assert_eq!(all.add_tree(absent, &more, place), Err(AddError::NoSuchNode));
    let shogi = GameRecord::new(Position::start(Game::Shogi));
    assert_eq!(all.add_tree(NodeId::ROOT, &shogi, NodeId::ROOT), Err(AddError::OtherPosition));
    assert!(all == before);
    assert_eq!(all.find(shogi.start()), None);
}

#[test]
fn a_part_is_a_line_with_everything_after_it() {
    let all = game("1. e4 e5 (1... c5 2. Nf3 (2. c3 d5) d6) (1... e6) 2. Nf3 *");
    let parts: Vec<String> = all
        .next(NodeId::ROOT)
        .map(|first| all.children(first.id()).map(|child| moves(&all.part(child.id()))).collect())
        .expect("a move");
    assert_eq!(parts, ["1. e4 e5 2. Nf3 *", "1. e4 c5 2. Nf3 (2. c3 d5) 2... d6 *", "1. e4 e6 *"]);
    assert!(all.part(NodeId::ROOT) == all);
}

proptest! {
    /// The parts of a tree, added to each other, are the tree.
    #[test]
    fn parts_make_up_the_tree(choices in prop::collection::vec((any::<u8>(), any::<u8>()), 1..40)) {
        let mut record = GameRecord::new(Position::start(Game::Chess));
        for (at, choice) in choices {
            let ids: Vec<NodeId> = record.ids().collect();
            let at = ids[usize::from(at) % ids.len()];
            let mut legal = record.position_after(at).expect("a node").legal_moves();
            legal.sort_by_key(|mv| mv.to_uci(CastlingForm::KingMove));
            if let Some(mv) = legal.get(usize::from(choice) % legal.len().max(1)) {
                record.add(at, *mv).expect("a legal move");
            }
        }
        let mut all = GameRecord::new(Position::start(Game::Chess));
        for child in record.children(NodeId::ROOT) {
            all.add_tree(NodeId::ROOT, &record.part(child.id()), NodeId::ROOT).expect("equal starts");
        }
        prop_assert!(all == record);
    }
}
