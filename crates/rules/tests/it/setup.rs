//! Setups: editing, start positions, and conversion to positions and back.

use readyok_rules::{
    FenForm, Game, Handicap, IllegalReason, MoveCodec, Piece, PieceKind, Position, PositionError,
    Setup, Side, Square,
};

use crate::{after, position};

const START: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";

fn square(game: Game, name: &str) -> Square {
    Square::read(game, name).expect("a square")
}

fn piece(game: Game, text: &str) -> Piece {
    Piece::read(game, text).expect("a piece")
}

#[test]
fn names_squares_and_pieces() {
    for game in [Game::Chess, Game::Chess960, Game::Shogi] {
        for square in Square::all(game) {
            assert_eq!(Square::read(game, &square.name(game)), Some(square));
        }
    }
    assert_eq!(Square::read(Game::Chess, "a8"), Square::new(Game::Chess, 0, 0));
    assert_eq!(Square::read(Game::Shogi, "9a"), Square::new(Game::Shogi, 0, 0));
    for (game, name) in [
        (Game::Chess, "i1"),
        (Game::Chess, "a9"),
        (Game::Chess, "a0"),
        (Game::Chess, "7g"),
        (Game::Shogi, "0a"),
        (Game::Shogi, "1j"),
        (Game::Shogi, "e4"),
        (Game::Shogi, "5e5"),
    ] {
        assert_eq!(Square::read(game, name), None, "{name}");
    }
    for text in ["K", "p", "+P", "+r", "g"] {
        assert_eq!(piece(Game::Shogi, text).to_string(), text);
    }
    for (game, text) in
        [(Game::Chess, "+P"), (Game::Chess, "G"), (Game::Shogi, "Q"), (Game::Shogi, "+G")]
    {
        assert_eq!(Piece::read(game, text), None, "{text}");
    }
}

#[test]
fn setups_can_be_illegal_positions() {
    for (game, text) in [
        (Game::Chess, "8/8/8/8/8/8/8/8 b - - 0 1"),
        (Game::Chess, "KKKkkk2/pppppppp/8/8/8/8/8/P7 w KQkq e6 99 1"),
        (Game::Chess960, "8/8/8/8/8/8/8/8 w ACHbdg h8 4294967295 4294967295"),
        (Game::Shogi, "9/9/9/9/9/9/9/9/9 w 99P18r 4294967295"),
        (Game::Shogi, "KKKK5/PPP6/9/9/9/9/9/9/nnn6 b 3R 7"),
    ] {
        let setup = Setup::read(game, text).expect(text);
        let written = setup.to_string();
        assert_eq!(Setup::read(game, &written).as_ref(), Ok(&setup), "{text}");
        assert!(setup.position().is_err(), "{text}");
    }
    let huge = Setup::read(Game::Shogi, "9/9/9/9/9/9/9/9/9 b 100P 1");
    assert_eq!(
        huge.map_err(|error| error.to_string()),
        Err("invalid value for the pieces in hand: `100P`".to_owned())
    );
}

#[test]
fn edits_all_fields_of_a_fen() {
    let game = Game::Chess;
    let mut setup = Setup::empty(game);
    for (name, text) in [("e1", "K"), ("h1", "R"), ("e8", "k"), ("d5", "p"), ("e5", "P")] {
        setup.put(square(game, name), piece(game, text)).expect(name);
    }
    setup.set_castling(Side::First, square(game, "h1"), true).expect("a right");
    setup.set_en_passant(Some(square(game, "d6")));
    setup.set_halfmove_clock(0);
    setup.set_move_number(20);
    assert_eq!(setup.to_string(), "4k3/8/8/3pP3/8/8/8/4K2R w K d6 0 20");
    let position = setup.position().expect("a position");
    assert_eq!(position.setup(), setup);
    assert_eq!(setup.remove(square(game, "h1")), Some(piece(game, "R")));
    assert_eq!(setup.remove(square(game, "h1")), None);
    assert_eq!(
        setup.position().map(|_| ()),
        Err(PositionError::InvalidCastlingRight { square: "h1".to_owned() })
    );
    setup.set_castling(Side::First, square(game, "h1"), false).expect("no right");
    setup.set_turn(Side::Second);
    setup.set_en_passant(None);
    assert_eq!(setup.to_string(), "4k3/8/8/3pP3/8/8/8/4K3 b - - 0 20");
    assert_eq!(setup.pieces().count(), 4);
    assert_eq!(setup.piece_on(square(game, "e8")), Some(piece(game, "k")));
}

#[test]
fn edits_all_fields_of_an_sfen() {
    let game = Game::Shogi;
    let mut setup = Setup::start(game);
    let bishop = setup.remove(square(game, "8h")).expect("the bishop");
    setup.put(square(game, "2b"), piece(game, "+B")).expect("a horse");
    setup.set_hand(Side::Second, bishop.kind, 1).expect("in hand");
    setup.set_turn(Side::Second);
    setup.set_move_number(0);
    assert_eq!(setup.to_string(), "lnsgkgsnl/1r5+B1/ppppppppp/9/9/9/PPPPPPPPP/7R1/LNSGKGSNL w b 1");
    assert_eq!(setup.hand(Side::Second, PieceKind::Bishop), 1);
    assert_eq!(setup.hand(Side::Second, PieceKind::Horse), 0);
    let position = setup.position().expect("a position");
    assert_eq!(position.setup(), setup);
}

#[test]
fn rejects_pieces_and_squares_of_another_game() {
    let (chess, shogi) = (Game::Chess, Game::Shogi);
    let mut setup = Setup::empty(chess);
    let gold = piece(shogi, "G");
    let error = setup.put(square(chess, "e4"), gold).expect_err("no gold");
    assert_eq!(error.to_string(), "unknown piece `G` on e4");
    let far = square(shogi, "1i");
    assert!(setup.put(far, piece(chess, "Q")).is_err());
    assert_eq!(setup.remove(far), None);
    let error = setup.set_hand(Side::First, PieceKind::Pawn, 1).expect_err("no hands");
    assert_eq!(error.to_string(), "a `P` cannot be in hand");
    assert!(setup.set_castling(Side::First, square(chess, "h8"), true).is_err());
    setup.set_en_passant(Some(far));
    assert_eq!(setup.en_passant(), None);
    let mut setup = Setup::empty(shogi);
    assert!(setup.set_hand(Side::First, PieceKind::King, 1).is_err());
    assert!(setup.set_hand(Side::First, PieceKind::Pawn, 99).is_ok());
    assert!(setup.set_hand(Side::First, PieceKind::Pawn, 100).is_err());
    assert_eq!(setup.hand(Side::First, PieceKind::Pawn), 99);
    assert!(setup.set_castling(Side::First, square(shogi, "1i"), true).is_err());
    setup.set_en_passant(Some(far));
    assert_eq!(setup.en_passant(), None);
}

#[test]
fn names_the_piece_and_square_of_an_unplayable_setup() {
    let mut setup = Setup::read(Game::Chess, START).expect("a setup");
    setup.put(square(Game::Chess, "c8"), piece(Game::Chess, "P")).expect("a pawn");
    let error = Position::from_setup(&setup).expect_err("a pawn on the last rank");
    assert_eq!(error.to_string(), "a `P` cannot be on c8");
}

#[test]
fn writes_a_position_in_every_form() {
    let double_step = after(Game::Chess, "", "e2e4");
    for (form, text) in [
        (FenForm::Fen, "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq e3 0 1"),
        (FenForm::XFen, "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1"),
        (FenForm::Shredder, "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b HAha - 0 1"),
    ] {
        assert_eq!(double_step.text(form), text);
        assert_eq!(position(Game::Chess, text).key(), double_step.key());
    }
    let inner = "1r2k1r1/8/8/8/8/8/8/1R1RK1R1 w KDkq - 0 1";
    let inner = position(Game::Chess960, inner);
    assert_eq!(inner.text(FenForm::Fen), "1r2k1r1/8/8/8/8/8/8/1R1RK1R1 w KDkq - 0 1");
    assert_eq!(inner.text(FenForm::Shredder), "1r2k1r1/8/8/8/8/8/8/1R1RK1R1 w GDgb - 0 1");
    let shogi = Position::start(Game::Shogi);
    assert_eq!(shogi.text(FenForm::Shredder), shogi.to_string());
}

/// The limits of the numbering, and some numbers of the published table.
#[test]
fn chess960_start_positions_by_number() {
    for (number, rank) in [
        (0, "BBQNNRKR"),
        (1, "BQNBNRKR"),
        (2, "BQNNRBKR"),
        (3, "BQNNRKRB"),
        (4, "QBBNNRKR"),
        (518, "RNBQKBNR"),
        (534, "RNBKQBNR"),
        (959, "RKRNNQBB"),
    ] {
        let setup = Setup::chess960(number).expect("a number");
        let text = setup.to_string();
        let expected =
            format!("{}/pppppppp/8/8/8/8/PPPPPPPP/{rank} w KQkq - 0 1", rank.to_ascii_lowercase());
        assert_eq!(text, expected, "{number}");
    }
    assert_eq!(Setup::chess960(960), None);
    assert_eq!(Setup::double_chess960(0, 960), None);
    assert_eq!(Setup::start(Game::Chess).to_string(), START);
}

#[test]
fn chess960_numbers_are_unique_and_survive_a_round_trip() {
    let mut seen: Vec<String> = Vec::new();
    for number in 0..960 {
        let setup = Setup::chess960(number).expect("a number");
        assert_eq!(setup.chess960_numbers(), Some((number, number)));
        let position = setup.position().expect("a start position");
        assert_eq!(position.setup(), setup);
        seen.push(setup.to_string());
    }
    seen.sort();
    seen.dedup();
    assert_eq!(seen.len(), 960);
}

#[test]
fn double_chess960_start_positions_by_two_numbers() {
    let setup = Setup::double_chess960(518, 0).expect("two numbers");
    assert_eq!(setup.to_string(), "bbqnnrkr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1");
    assert_eq!(setup.chess960_numbers(), Some((518, 0)));
    assert!(setup.position().is_ok());
    assert_eq!(Setup::start(Game::Chess).chess960_numbers(), Some((518, 518)));
    assert_eq!(after(Game::Chess, "", "e2e4").setup().chess960_numbers(), None);
    assert_eq!(Setup::start(Game::Shogi).chess960_numbers(), None);
}

#[test]
fn handicap_start_positions() {
    let camp = "ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w - 1";
    for (name, japanese, rows) in [
        ("lance", "香落ち", "lnsgkgsn1/1r5b1"),
        ("right lance", "右香落ち", "1nsgkgsnl/1r5b1"),
        ("bishop", "角落ち", "lnsgkgsnl/1r7"),
        ("rook", "飛車落ち", "lnsgkgsnl/7b1"),
        ("rook and lance", "飛香落ち", "lnsgkgsn1/7b1"),
        ("two pieces", "二枚落ち", "lnsgkgsnl/9"),
        ("three pieces", "三枚落ち", "lnsgkgsn1/9"),
        ("four pieces", "四枚落ち", "1nsgkgsn1/9"),
        ("five pieces", "五枚落ち", "2sgkgsn1/9"),
        ("left five pieces", "左五枚落ち", "1nsgkgs2/9"),
        ("six pieces", "六枚落ち", "2sgkgs2/9"),
        ("right seven pieces", "右七枚落ち", "3gkgs2/9"),
        ("left seven pieces", "左七枚落ち", "2sgkg3/9"),
        ("eight pieces", "八枚落ち", "3gkg3/9"),
        ("ten pieces", "十枚落ち", "4k4/9"),
    ] {
        let handicap = Handicap::from_name(name).expect(name);
        assert_eq!(Handicap::from_name(japanese), Some(handicap));
        assert_eq!((handicap.name(), handicap.japanese()), (name, japanese));
        let setup = Setup::handicap(handicap);
        assert_eq!(setup.to_string(), format!("{rows}/{camp}"), "{name}");
        assert_eq!(setup.as_handicap(), Some(handicap));
        assert!(setup.position().is_ok());
    }
    for (name, handicap) in [
        ("2-piece", Handicap::TwoPieces),
        ("10-piece", Handicap::TenPieces),
        ("Left-5-piece", Handicap::LeftFivePieces),
        ("six_pieces", Handicap::SixPieces),
        ("rook-and-lance", Handicap::RookLance),
    ] {
        assert_eq!(Handicap::from_name(name), Some(handicap), "{name}");
    }
    assert_eq!(Handicap::from_name("9-piece"), None);
    let naked = Setup::handicap(Handicap::NakedKing);
    assert_eq!(naked.to_string(), "4k4/9/9/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w - 1");
    assert_eq!(Setup::start(Game::Shogi).as_handicap(), None);
    assert_eq!(Handicap::ALL.len(), 16);
}

#[test]
fn positions_that_violate_the_rules_can_be_viewed() {
    let view = |game, text: &str| Position::for_viewing(&Setup::read(game, text).expect(text));
    let nine_pawns = "4k3/pppppppp/8/8/8/P7/PPPPPPPP/4K3 w - - 0 1";
    let two_pawns = "4k4/9/4P4/9/9/4P4/9/9/4K4 b G 1";
    for (game, text, mv) in [
        (Game::Chess, nine_pawns, Some("a3a4")),
        (Game::Chess960, nine_pawns, Some("a3a4")),
        (Game::Shogi, two_pawns, Some("G*5b")),
        // Nothing can be played without kings, or if a piece cannot be there.
        (Game::Chess, "8/8/8/8/8/8/8/K7 w - - 0 1", None),
        (Game::Chess, "P3k3/8/8/8/8/8/8/4K3 b - - 0 1", None),
        (Game::Chess, "QQQQQQQQ/QQQQQQQQ/8/8/k7/8/8/K7 b - - 0 1", None),
        (Game::Shogi, "9/9/9/9/9/9/9/9/9 b - 1", None),
        (Game::Shogi, "P3k4/9/9/9/9/9/9/9/4K4 w - 7", None),
        (Game::Shogi, "4k4/9/9/9/9/9/9/9/4K4 w 3R2b 1", None),
    ] {
        assert!(Position::from_text(game, text).is_err(), "{text}");
        let mut position = view(game, text);
        let error = Position::from_text(game, text).err();
        assert_eq!(position.defect(), error.as_ref(), "{text}");
        assert_eq!(position.to_string(), text);
        assert_eq!(position.setup().to_string(), text);
        assert_eq!(position.game(), game);
        assert_eq!(MoveCodec::usual(game).encode_position(&position, &[]), None);
        if let Some(mv) = mv {
            position.play_uci(mv).expect("a move");
            assert!(position.defect().is_some());
        } else {
            assert!(position.legal_moves().is_empty());
            let error = position.play_uci("a1a2").expect_err("no move");
            assert_eq!(error.reason, IllegalReason::NotPlayable);
            assert_eq!(position.outcome(), None);
            assert_ne!(position.key(), Position::start(game).key());
        }
    }
    for game in [Game::Chess, Game::Chess960, Game::Shogi] {
        let position = Position::for_viewing(&Setup::start(game));
        assert_eq!(position.defect(), None);
        assert_eq!(position.key(), Position::start(game).key());
    }
}

#[test]
fn missing_fields_have_their_usual_values() {
    for (game, text, expected) in [
        (Game::Chess, "4k3/8/8/8/8/8/8/4K3", "4k3/8/8/8/8/8/8/4K3 w - - 0 1"),
        (Game::Chess, "4k3/8/8/8/8/8/8/4K3 b", "4k3/8/8/8/8/8/8/4K3 b - - 0 1"),
        (Game::Chess, "4k3/8/8/8/8/8/8/4K2R w K", "4k3/8/8/8/8/8/8/4K2R w K - 0 1"),
        (Game::Chess, "4k3/8/8/8/8/8/8/4K3 w - - 7", "4k3/8/8/8/8/8/8/4K3 w - - 7 1"),
        (Game::Shogi, "4k4/9/9/9/9/9/9/9/4K4", "4k4/9/9/9/9/9/9/9/4K4 b - 1"),
        (Game::Shogi, "4k4/9/9/9/9/9/9/9/4K4 w", "4k4/9/9/9/9/9/9/9/4K4 w - 1"),
        (Game::Shogi, "4k4/9/9/9/9/9/9/9/4K4 w G", "4k4/9/9/9/9/9/9/9/4K4 w G 1"),
    ] {
        let setup = Setup::read_partial(game, text).expect(text);
        assert_eq!(setup.to_string(), expected);
    }
    assert!(Setup::read_partial(Game::Chess, "").is_err());
    assert!(Setup::read_partial(Game::Chess, "4k3/8/8/8/8/8/8/4K3 x").is_err());
}
