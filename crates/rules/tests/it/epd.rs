//! EPD: positions with operations.

use readyok_rules::{Epd, EpdError, FenForm, Game, IllegalReason, Notation, Operand, Operation};

const KINGS: &str = "4k3/8/8/8/8/8/4P3/4K3 w - -";

fn read(text: &str) -> Epd {
    Epd::read(Game::Chess, text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

#[track_caller]
fn check_written(text: &str, written: &str) {
    assert_eq!(read(text).text(FenForm::XFen).as_deref(), Ok(written));
    assert_eq!(read(written).text(FenForm::XFen).as_deref(), Ok(written));
}

#[track_caller]
fn check_rejected(operations: &str, message: &str) {
    let error = Epd::read(Game::Chess, &format!("{KINGS} {operations}")).expect_err(operations);
    assert_eq!(error.to_string(), message);
}

#[test]
fn reads_every_known_operation() {
    let epd = read(&format!(
        "{KINGS} bm e4 Kd2; am e3; pm Kd2; sm e4; pv e4 Kd7 e5; id \"one; two\"; c0 \"first\"; \
         c9 \"last\"; ce -15; acd 12; acn 123456789012; acs 60; dm 3; hmvc 7; fmvn 40; \
         x_1 token \"text\" 5;"
    ));
    let move_of = |uci: &str| epd.position.parse_move(uci).expect(uci);
    let operations: Vec<&Operation> = epd.operations.iter().collect();
    assert_eq!(operations[0], &Operation::BestMoves(vec![move_of("e2e4"), move_of("e1d2")]));
    assert_eq!(operations[1], &Operation::AvoidMoves(vec![move_of("e2e3")]));
    assert_eq!(operations[2], &Operation::PredictedMove(move_of("e1d2")));
    assert_eq!(operations[3], &Operation::SuppliedMove(move_of("e2e4")));
    let Operation::PredictedVariation(line) = operations[4] else { panic!("{:?}", operations[4]) };
    let line: Vec<String> = line.iter().map(|mv| mv.to_uci(Game::Chess.castling_form())).collect();
    assert_eq!(line, ["e2e4", "e8d7", "e4e5"]);
    assert_eq!(operations[5], &Operation::Id("one; two".to_owned()));
    assert_eq!(operations[6], &Operation::Comment { number: 0, text: "first".to_owned() });
    assert_eq!(operations[7], &Operation::Comment { number: 9, text: "last".to_owned() });
    assert_eq!(operations[8], &Operation::Centipawns(-15));
    assert_eq!(operations[9], &Operation::Depth(12));
    assert_eq!(operations[10], &Operation::Nodes(123_456_789_012));
    assert_eq!(operations[11], &Operation::Seconds(60));
    assert_eq!(operations[12], &Operation::DirectMate(3));
    assert_eq!(operations[13], &Operation::HalfmoveClock(7));
    assert_eq!(operations[14], &Operation::FullmoveNumber(40));
    let operands = vec![
        Operand::Token("token".to_owned()),
        Operand::Text("text".to_owned()),
        Operand::Token("5".to_owned()),
    ];
    assert_eq!(operations[15], &Operation::Other { opcode: "x_1".to_owned(), operands });
    assert_eq!(epd.id(), Some("one; two"));
    assert_eq!(epd.position.to_string(), format!("{KINGS} 7 40"));
}

#[test]
fn epds_survive_a_round_trip() {
    check_written(KINGS, KINGS);
    let complete = format!("{KINGS} bm e4 Kd2; pv e4 Kd7; id \"a\"; ce 0; noop;");
    check_written(&complete, &complete);
    // Lenient moves, spaces, text without quotes, an empty operation, no last semicolon.
    check_written(
        &format!("  {KINGS}  bm e2e4  kd2 ; ; id two operations;c1 \"\""),
        &format!("{KINGS} bm e4 Kd2; id \"two operations\"; c1 \"\";"),
    );
    check_written(&format!("{KINGS} 3 9"), &format!("{KINGS} hmvc 3; fmvn 9;"));
    check_written(&format!("{KINGS} 3 9; bm e4;"), &format!("{KINGS} hmvc 3; fmvn 9; bm e4;"));
    let castling = "r3k2r/8/8/8/8/8/8/R3K2R w KQkq -";
    let epd = Epd::read(Game::Chess960, &format!("{castling} bm O-O;")).expect("an EPD");
    let shredder = "r3k2r/8/8/8/8/8/8/R3K2R w HAha - bm O-O;";
    assert_eq!(epd.text(FenForm::Shredder).as_deref(), Ok(shredder));
}

#[test]
fn reports_errors_of_epds() {
    check_rejected("bm", "`bm` lacks an operand");
    check_rejected("id;", "`id` lacks an operand");
    check_rejected("pm e4 e3;", "`e4 e3` cannot be an operand of `pm`");
    check_rejected("bm \"e4\";", "`e4` cannot be an operand of `bm`");
    check_rejected("ce high;", "`high` cannot be an operand of `ce`");
    check_rejected("acd -1;", "`-1` cannot be an operand of `acd`");
    check_rejected("dm 1 2;", "`1 2` cannot be an operand of `dm`");
    check_rejected("id \"open", "a quoted text is not closed");
    check_rejected("\"bm\" e4;", "`bm` is not an opcode");
    check_rejected("1bm e4;", "`1bm` is not an opcode");
    check_rejected("sixteen_letters_ x;", "`sixteen_letters_` is not an opcode");
    check_rejected("bm e5;", "`bm`: illegal move `e5`: the piece cannot reach the target square");
    check_rejected("pv e4 e5;", "`pv`: illegal move `e5`: the side to move has no such piece");
    check_rejected(&"x;".repeat(257), "there are too many operations");
    let error = Epd::read(Game::Chess, "8/8 w - - bm e4;").expect_err("no board");
    assert_eq!(error.to_string(), "the board has 2 ranks; 8 are required");
    let Err(EpdError::Move { error, .. }) = Epd::read(Game::Chess, &format!("{KINGS} bm Rd1;"))
    else {
        panic!("expected an illegal move")
    };
    assert_eq!(error.reason, IllegalReason::MissingPiece);
}

#[test]
fn rejects_operations_that_would_be_read_differently() {
    let other = |opcode: &str, operand: Operand| Operation::Other {
        opcode: opcode.to_owned(),
        operands: vec![operand],
    };
    let token = |text: &str| Operand::Token(text.to_owned());
    let mut epd = read(KINGS);
    let elsewhere = read("8/8/4k3/8/8/8/4P3/4K3 w - -");
    let far = elsewhere.position.parse("Kf2", Notation::Western).expect("a move");
    epd.position = read("4k3/8/8/8/8/8/8/R3K3 w - -").position;
    for operation in [
        Operation::Id("a \"b\"".to_owned()),
        Operation::Id("a\nb".to_owned()),
        Operation::Comment { number: 10, text: String::new() },
        Operation::BestMoves(Vec::new()),
        Operation::BestMoves(vec![readyok_rules::Position::start(Game::Shogi).legal_moves()[0]]),
        Operation::PredictedVariation(vec![far, far]),
        other("bm", token("e4")),
        other("c3", token("e4")),
        other("two operations", token("x")),
        other("x", token("a;b")),
        other("x", token("a b")),
        other("x", token("")),
        other("x", Operand::Text("\"".to_owned())),
    ] {
        epd.operations = vec![operation];
        assert!(epd.text(FenForm::XFen).is_err(), "{:?}", epd.operations);
    }
}
