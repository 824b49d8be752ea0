//! The tree of moves.

use readyok_rules::record::{AddError, Format, GameRecord, Node, NodeId, RecordMove, read, write};
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
    let positions: Vec<String> = record.positions().map(|position| position.to_string()).collect();
    assert_eq!(positions.len(), 4);
    assert_eq!(positions[3], record.position().to_string());
    assert_eq!(
        record.position_after(record.last()).map(|position| position.to_string()),
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
    assert!(
        matches!(error, AddError::Move(error) if error.reason == IllegalReason::EmptyOriginSquare)
    );
    assert!(record == before);
    play(&mut record, "e7e5");
}

pub(super) fn written(record: &GameRecord, format: Format) -> String {
    let mut bytes = Vec::new();
    write(record, format, &mut bytes).expect("the format supports the game");
    String::from_utf8(bytes).expect("UTF-8")
}

#[test]
fn null_moves_pass_the_turn_and_are_written_in_pgn() {
    let mut record = GameRecord::new(Position::start(Game::Chess));
    play(&mut record, "e2e4");
    let null = record.play(RecordMove::Null).expect("no check");
    assert_eq!(
        record.position().to_string(),
        "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 1 2"
    );
    assert_eq!(record.add(record.mainline().next().expect("e4").id(), RecordMove::Null), Ok(null));
    play(&mut record, "d2d4");
    let text = written(&record, Format::PGN);
    assert!(text.ends_with("\n1. e4 -- 2. d4 *\n\n"), "{text}");
    let read = read(text.as_bytes(), Format::PGN).next().expect("a game").expect("readable");
    assert!(read == record);
}

#[test]
fn a_null_move_in_check_is_rejected() {
    for (game, text) in [
        (Game::Chess, "4k3/8/8/8/8/8/4r3/4K3 w - - 0 1"),
        (Game::Shogi, "4k4/9/9/9/9/9/9/4r4/4K4 b - 1"),
    ] {
        let mut record = GameRecord::new(Position::from_text(game, text).expect("a position"));
        let error = record.play(RecordMove::Null).expect_err("check");
        assert!(
            matches!(error, AddError::Move(error) if error.reason == IllegalReason::KingInCheck)
        );
        assert!(record.is_empty() && record.position().to_string() == text);
    }
    let mut shogi = Position::start(Game::Shogi);
    shogi.play_null().expect("no check");
    assert!(shogi.to_string().ends_with(" w - 2"), "{shogi}");
}

#[test]
fn an_illegal_move_ends_a_line() {
    let mut record = GameRecord::new(Position::start(Game::Shogi));
    play(&mut record, "7g7f 3c3d 8h2b+ 3a2b");
    let before = record.position().clone();
    let nifu = before.parse_unchecked("B*2b").expect("a drop");
    let last = record.play(RecordMove::Illegal(nifu)).expect("an end");
    record.finish(Termination::IllegalMove);
    assert_eq!(record.result, GameResult::Win(Side::Second));
    assert_eq!(record.position().to_string(), before.to_string());
    assert_eq!(record.positions().count(), record.mainline().count() + 1);
    let after = record.position().legal_moves()[0];
    assert_eq!(record.add(last, after), Err(AddError::AfterIllegalMove));
    assert_eq!(written(&record, Format::USI), "position startpos moves 7g7f 3c3d 8h2b+ 3a2b\n");
    let kif = written(&record, Format::KIF);
    assert!(kif.contains("\n   5 同　角打\n   6 反則勝ち\n"), "{kif}");
    assert!(written(&record, Format::CSA).contains("\n+0022KA\n%+ILLEGAL_ACTION\n"));
    assert!(written(&record, Format::JKF).contains("+ILLEGAL_ACTION"));
    // A legal move is never stored as an illegal one.
    let legal = RecordMove::Illegal(record.start().parse_move("2g2f").expect("legal"));
    let id = record.add(NodeId::ROOT, legal).expect("legal");
    assert!(matches!(record.node(id).and_then(Node::mv), Some(RecordMove::Legal(_))));
}

#[test]
fn formats_of_shogi_end_a_line_before_a_null_move() {
    let mut record = GameRecord::new(Position::start(Game::Shogi));
    play(&mut record, "7g7f");
    record.play(RecordMove::Null).expect("no check");
    play(&mut record, "2g2f");
    let reply = record.start().clone().after(["7g7f"]).map(|position| position.parse_move("3c3d"));
    let first = record.mainline().next().expect("a move").id();
    record.add(first, reply.expect("legal").expect("legal")).expect("legal");
    for format in [Format::KIF, Format::KI2, Format::CSA, Format::JKF, Format::USI] {
        let text = written(&record, format);
        let read = read(text.as_bytes(), format).next().expect("a game").expect("readable");
        assert_eq!((read.mainline().count(), read.len()), (1, 1), "{text}");
    }
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
