//! Moves in UCI and USI notation, and the reasons why moves are rejected.

use readyok_rules::{CastlingForm, Game, IllegalReason, LineError, Move, Position};

use crate::{after, position};

const CASTLING: &str = "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1";

/// A pawn drop on 1b would be checkmate.
const DROP_MATE: &str = "6snk/9/7G1/9/9/9/9/9/K8 b P 1";

#[track_caller]
fn check_leads_to(game: Game, text: &str, uci: &str, expected: &str) {
    let found = after(game, text, uci).to_string();
    assert_eq!(found.split(' ').next(), Some(expected), "{text} {uci}");
}

#[track_caller]
fn check_illegal(game: Game, text: &str, uci: &str, reason: IllegalReason) {
    let error = position(game, text).parse_move(uci).expect_err(uci);
    assert_eq!((error.text.as_str(), error.reason), (uci, reason), "{text} {uci}");
}

fn uci_moves(position: &Position) -> Vec<String> {
    let form = position.game().castling_form();
    let mut moves: Vec<String> = position.legal_moves().iter().map(|mv| mv.to_uci(form)).collect();
    moves.sort();
    moves
}

#[test]
fn reads_castling_in_both_forms() {
    for game in [Game::Chess, Game::Chess960] {
        for uci in ["e1g1", "e1h1"] {
            check_leads_to(game, CASTLING, uci, "r3k2r/8/8/8/8/8/8/R4RK1");
        }
        for uci in ["e1c1", "e1a1"] {
            check_leads_to(game, CASTLING, uci, "r3k2r/8/8/8/8/8/8/2KR3R");
        }
    }
}

#[test]
fn writes_castling_in_the_requested_form() {
    for game in [Game::Chess, Game::Chess960] {
        let mv = position(game, CASTLING).parse_move("e1g1").expect("castling");
        assert_eq!(mv.to_uci(CastlingForm::KingMove), "e1g1");
        assert_eq!(mv.to_uci(CastlingForm::KingTakesRook), "e1h1");
    }
    assert_eq!(Game::Chess.castling_form(), CastlingForm::KingMove);
    assert_eq!(Game::Chess960.castling_form(), CastlingForm::KingTakesRook);
}

#[test]
fn prefers_the_king_move_to_chess960_castling_of_the_same_text() {
    let text = "4k3/8/8/8/8/8/8/5K1R w H - 0 1";
    check_leads_to(Game::Chess960, text, "f1g1", "4k3/8/8/8/8/8/8/6KR");
    check_leads_to(Game::Chess960, text, "f1h1", "4k3/8/8/8/8/8/8/5RK1");
}

#[test]
fn reads_castling_as_king_move_with_a_rook_on_any_file() {
    let text = "4k3/8/8/8/8/8/8/4KR2 w F - 0 1";
    check_leads_to(Game::Chess960, text, "e1g1", "4k3/8/8/8/8/8/8/5RK1");
}

#[test]
fn play_uci_equals_parse_and_play() {
    let shogi = "lnsgk2nl/1r4gs1/p1pppp1pp/1p4p2/7P1/2P6/PP1PPPP1P/1SG4R1/LN2KGSNL b Bb 1";
    for (game, text) in [(Game::Chess960, CASTLING), (Game::Shogi, shogi)] {
        let start = position(game, text);
        for mv in start.legal_moves() {
            let (mut played, mut read) = (start.clone(), start.clone());
            played.play(mv).expect("legal");
            assert_eq!(read.play_uci(&mv.to_uci(CastlingForm::KingMove)), Ok(mv));
            assert_eq!(read.to_string(), played.to_string());
            assert_eq!(read.key(), played.key());
        }
        for uci in ["e1e4", "5a5d", "0000", ""] {
            let mut unchanged = start.clone();
            let error = unchanged.play_uci(uci).expect_err("no legal move");
            assert_eq!(Err(error), start.parse_move(uci));
            assert_eq!(unchanged.to_string(), start.to_string());
        }
    }
}

#[test]
fn generates_all_promotions() {
    let moves = uci_moves(&position(Game::Chess, "8/P3k3/8/8/8/8/8/4K3 w - - 0 1"));
    let promotions: Vec<&String> = moves.iter().filter(|uci| uci.starts_with("a7")).collect();
    assert_eq!(promotions, ["a7a8b", "a7a8n", "a7a8q", "a7a8r"]);
    check_leads_to(Game::Chess, "8/P3k3/8/8/8/8/8/4K3 w - - 0 1", "a7a8Q", "Q7/4k3/8/8/8/8/8/4K3");
}

#[test]
fn generates_moves_with_and_without_promotion_in_shogi() {
    let position = position(Game::Shogi, "4k4/9/9/2S6/9/9/9/9/4K4 b - 1");
    let moves = uci_moves(&position);
    for uci in ["7d7c", "7d7c+", "7d6e"] {
        assert!(moves.iter().any(|found| found == uci), "{uci}");
    }
    assert!(!moves.iter().any(|found| found == "7d6e+"));
}

#[test]
fn generates_no_forbidden_drops() {
    let nifu = uci_moves(&position(Game::Shogi, "4k4/9/9/9/9/4P4/9/9/4K4 b P 1"));
    assert!(nifu.iter().any(|uci| uci == "P*4d"));
    assert!(!nifu.iter().any(|uci| uci.starts_with("P*5") || uci.ends_with('a')));
    let drop_mate = uci_moves(&position(Game::Shogi, DROP_MATE));
    assert!(drop_mate.iter().any(|uci| uci == "P*1e"));
    assert!(!drop_mate.iter().any(|uci| uci == "P*1b"));
}

#[test]
fn plays_drops_and_adds_captures_to_the_hand() {
    let position = after(Game::Shogi, "", "7g7f 3c3d 8h2b+ 3a2b B*5e");
    assert_eq!(
        position.to_string(),
        "lnsgkg1nl/1r5s1/pppppp1pp/6p2/4B4/2P6/PP1PPPPPP/7R1/LNSGKGSNL w b 6"
    );
}

#[test]
fn explains_illegal_moves_of_chess() {
    for (uci, reason) in [
        ("0000", IllegalReason::InvalidMove),
        ("O-O", IllegalReason::InvalidMove),
        ("E2E4", IllegalReason::InvalidMove),
        ("e2-e4", IllegalReason::InvalidMove),
        ("e2e4e7e5", IllegalReason::InvalidMove),
        ("P@e4", IllegalReason::InvalidMove),
        ("é2e4", IllegalReason::InvalidMove),
        ("", IllegalReason::InvalidMove),
        ("e3e4", IllegalReason::EmptyOriginSquare),
        ("e7e5", IllegalReason::OpponentPiece),
        ("a1a2", IllegalReason::OccupiedByOwnPiece),
        ("a1a3", IllegalReason::Unreachable),
        ("e2e5", IllegalReason::Unreachable),
        ("e2d3", IllegalReason::Unreachable),
        ("e1g1", IllegalReason::CastlingNotAllowed),
        ("e2e4q", IllegalReason::InvalidPromotion),
    ] {
        check_illegal(Game::Chess, "", uci, reason);
    }
    let promotion = "8/P3k3/8/8/8/8/8/4K3 w - - 0 1";
    check_illegal(Game::Chess, promotion, "a7a8", IllegalReason::PromotionRequired);
    check_illegal(Game::Chess, promotion, "a7a8k", IllegalReason::InvalidPromotion);
    let pinned = "4r2k/8/8/8/8/8/4N3/4K3 w - - 0 1";
    check_illegal(Game::Chess, pinned, "e2c3", IllegalReason::KingInCheck);
    let check = "4r2k/8/8/8/8/8/P7/4K3 w - - 0 1";
    check_illegal(Game::Chess, check, "a2a4", IllegalReason::KingInCheck);
    check_illegal(Game::Chess, check, "e1e2", IllegalReason::KingInCheck);
}

#[test]
fn explains_illegal_moves_of_shogi() {
    for (uci, reason) in [
        ("resign", IllegalReason::InvalidMove),
        ("win", IllegalReason::InvalidMove),
        ("0000", IllegalReason::InvalidMove),
        ("7g7f=", IllegalReason::InvalidMove),
        ("K*5e", IllegalReason::InvalidMove),
        ("７g7f", IllegalReason::InvalidMove),
        ("7f7e", IllegalReason::EmptyOriginSquare),
        ("3c3d", IllegalReason::OpponentPiece),
        ("9i9h+", IllegalReason::InvalidPromotion),
        ("2h8h", IllegalReason::OccupiedByOwnPiece),
        ("7g7e", IllegalReason::Unreachable),
        ("P*5e", IllegalReason::NotInHand),
    ] {
        check_illegal(Game::Shogi, "", uci, reason);
    }
    let hand = "4k4/P8/9/9/9/4P4/9/9/4K4 b PLN 1";
    check_illegal(Game::Shogi, hand, "P*5f", IllegalReason::SquareOccupied);
    check_illegal(Game::Shogi, hand, "P*5e", IllegalReason::SecondPawnOnFile);
    check_illegal(Game::Shogi, hand, "P*1a", IllegalReason::NoFurtherMove);
    check_illegal(Game::Shogi, hand, "L*1a", IllegalReason::NoFurtherMove);
    check_illegal(Game::Shogi, hand, "N*1b", IllegalReason::NoFurtherMove);
    check_illegal(Game::Shogi, hand, "9b9a", IllegalReason::PromotionRequired);
    let check = "4k4/9/9/4r4/9/9/9/9/2G1K4 b P 1";
    check_illegal(Game::Shogi, check, "P*1e", IllegalReason::KingInCheck);
    check_illegal(Game::Shogi, check, "7i7h", IllegalReason::KingInCheck);
    check_illegal(Game::Shogi, check, "5i5h", IllegalReason::KingInCheck);
    check_illegal(Game::Shogi, DROP_MATE, "P*1b", IllegalReason::PawnDropMate);
    // A reply to a check: the pawn blocks the rook, and the defender that could capture it is pinned.
    let interposed = "4k4/K4r3/3GN1B2/9/9/9/9/9/9 b P 1";
    check_illegal(Game::Shogi, interposed, "P*5b", IllegalReason::PawnDropMate);
    assert!(position(Game::Shogi, interposed).parse_move("P*6b").is_ok());
    // The drop square is not adjacent to the own king.
    let lances = "4lkl2/4p1p2/5G3/9/9/9/9/9/4K4 b P 1";
    check_illegal(Game::Shogi, lances, "P*4b", IllegalReason::PawnDropMate);
}

#[test]
fn reports_the_index_of_an_illegal_move() {
    let error = Position::start(Game::Chess).after(["e2e4", "e7e5", "e4e5"]).expect_err("illegal");
    let LineError { index, error: inner } = &error;
    assert_eq!((*index, inner.reason), (2, IllegalReason::Unreachable));
    assert_eq!(
        error.to_string(),
        "move 3: illegal move `e4e5`: the piece cannot reach the target square"
    );
}

#[test]
fn rejects_moves_after_the_maximum_length() {
    let shuffle = ["2h3h", "8b7b", "3h2h", "7b8b"];
    let error = Position::start(Game::Shogi)
        .after(shuffle.into_iter().cycle().take(70_000))
        .expect_err("a game that is too long");
    assert_eq!((error.index, error.error.reason), (29_999, IllegalReason::GameTooLong));
}

#[test]
fn rejects_moves_of_another_position_or_game() {
    let chess = position(Game::Chess, CASTLING).parse_move("e1g1").expect("castling");
    let shogi = Position::start(Game::Shogi).parse_move("7g7f").expect("a pawn's move");
    for (game, mv, reason) in [
        (Game::Chess, chess, IllegalReason::CastlingNotAllowed),
        (Game::Chess, shogi, IllegalReason::InvalidMove),
        (Game::Shogi, chess, IllegalReason::InvalidMove),
    ] {
        let mut position = Position::start(game);
        assert_eq!(position.play(mv).map_err(|error| error.reason), Err(reason));
        assert_eq!(position.to_string(), Position::start(game).to_string());
    }
    let mut position = after(Game::Shogi, "", "7g7f 3c3d");
    assert_eq!(
        position.play(shogi).map_err(|error| error.reason),
        Err(IllegalReason::EmptyOriginSquare)
    );
}

#[test]
fn equal_positions_have_equal_keys() {
    let there_and_back = after(Game::Chess, "", "g1f3 g8f6 f3g1 f6g8");
    assert_eq!(there_and_back.key(), Position::start(Game::Chess).key());
    assert_ne!(after(Game::Chess, "", "g1f3").key(), Position::start(Game::Chess).key());
    let transposed = after(Game::Shogi, "", "7g7f 3c3d 2g2f");
    assert_eq!(transposed.key(), after(Game::Shogi, "", "2g2f 3c3d 7g7f").key());
    assert_ne!(transposed.key(), after(Game::Shogi, "", "2g2f 3c3d").key());
}

#[test]
fn legal_moves_survive_a_round_trip() {
    for (game, text) in [
        (Game::Chess, CASTLING),
        (Game::Chess960, CASTLING),
        (Game::Shogi, "R8/2K1S1SSk/4B4/9/9/9/9/9/1L1L1L3 b RBGSNLP3g3n17p 1"),
    ] {
        let position = position(game, text);
        let form = game.castling_form();
        let moves = position.legal_moves();
        let read: Vec<Move> =
            moves.iter().filter_map(|mv| position.parse_move(&mv.to_uci(form)).ok()).collect();
        assert_eq!(read, moves);
    }
}
