//! The tree of moves.

use readyok_rules::record::{AddError, GameRecord, Node, NodeId};
use readyok_rules::{Game, IllegalReason, Position, Side};
use readyok_rules::{GameResult, Termination};

fn play(record: &mut GameRecord, moves: &str) {
    for uci in moves.split_whitespace() {
        let mv = record.position().parse_move(uci).expect("legal");
        record.play(mv).expect("legal");
    }
}

#[test]
fn iterates_over_moves_and_positions_of_the_main_line() {
    let mut record = GameRecord::new(Position::start(Game::Shogi));
    play(&mut record, "7g7f 3c3d 8h2b+");
    assert_eq!(record.mainline().map(Node::ply).collect::<Vec<_>>(), [1, 2, 3]);
    let positions: Vec<String> = record.positions().map(|it| it.to_string()).collect();
    assert_eq!(positions.len(), 4);
    assert_eq!(positions[3], record.position().to_string());
    assert_eq!(
        record.position_after(record.last()).map(|it| it.to_string()),
        positions.last().cloned()
    );
}

#[test]
fn adds_a_second_move_as_variation_but_no_duplicate() {
    let mut record = GameRecord::new(Position::start(Game::Chess));
    play(&mut record, "e2e4 e7e5");
    let d4 = record.start().parse_move("d2d4").expect("legal");
    let e4 = record.start().parse_move("e2e4").expect("legal");
    let id = record.add(NodeId::ROOT, d4).expect("legal");
    assert_eq!(record.add(NodeId::ROOT, d4), Ok(id));
    assert_eq!(record.len(), 3);
    assert_eq!(record.add(NodeId::ROOT, e4).ok(), record.mainline().next().map(Node::id));
    assert_eq!(record.mainline().count(), 2);
    assert_eq!(record.node(id).and_then(Node::parent), Some(NodeId::ROOT));
}

#[test]
fn illegal_moves_change_nothing() {
    let mut record = GameRecord::new(Position::start(Game::Chess));
    play(&mut record, "e2e4");
    let e4 = record.start().parse_move("e2e4").expect("legal");
    let before = record.clone();
    let error = record.play(e4).expect_err("not again");
    assert!(matches!(error, AddError::Move(error) if error.reason == IllegalReason::NoPiece));
    assert!(record == before);
    play(&mut record, "e7e5");
}

#[test]
fn ends_imply_results() {
    use Termination as T;
    for (game, end, result) in [
        (Game::Chess, T::Resignation, GameResult::Win(Side::First)),
        (Game::Chess, T::TimeForfeit, GameResult::Win(Side::First)),
        (Game::Chess, T::Stalemate, GameResult::Draw),
        (Game::Shogi, T::Stalemate, GameResult::Win(Side::First)),
        (Game::Shogi, T::Declaration, GameResult::Win(Side::Second)),
        (Game::Shogi, T::IllegalMove, GameResult::Win(Side::First)),
        (Game::Shogi, T::Repetition, GameResult::Draw),
        (Game::Shogi, T::Aborted, GameResult::Unknown),
    ] {
        let mut record = GameRecord::new(Position::start(game));
        play(&mut record, if game == Game::Chess { "e2e4" } else { "7g7f" });
        record.finish(end);
        assert_eq!((record.result, record.termination()), (result, Some(end)));
    }
}
