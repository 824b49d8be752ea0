//! Patterns of positions.

use proptest::prelude::*;
use readyok_rules::record::{
    BoardPattern, Condition, FilterError, Format, GameRecord, MaterialPattern, PiecePlacement,
    PositionPattern, read,
};
use readyok_rules::{Game, Position};

fn game(text: &str) -> GameRecord {
    let format = if text.starts_with("position") { Format::USI } else { Format::PGN };
    read(text.as_bytes(), format).next().expect("a game").expect("a readable game")
}

#[track_caller]
fn first(pattern: &str, game: &GameRecord) -> Option<usize> {
    let read: BoardPattern = pattern.parse().unwrap_or_else(|error| panic!("{error}"));
    read.first_ply(game)
}

const ITALIAN: &str = "1. e4 e5 2. Nf3 Nc6 3. Bc4 Bc5 4. c3 Nf6 5. O-O O-O 6. d4 exd4 7. cxd4 Bb6 8. e5 Ng4 9. h3 Nh6 10. Bxh6 gxh6 *";

#[test]
fn pieces_on_squares() {
    let game = game(ITALIAN);
    for (pattern, ply) in [
        ("on=Bc4,bc5", Some(6)),
        ("on=Kg1,Rf1,-h1", Some(9)),
        ("on=kg8,[rq]f8", Some(10)),
        ("on=!e5,-e4", Some(15)),
        ("on=Ae5", Some(15)),
        ("on=ae5", Some(2)),
        ("on=ae5,nc6", Some(4)),
        ("on=Qd2", None),
        ("board=rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR", Some(2)),
        ("board=*/*/*/*/2B1P3/*/*/* turn=b", Some(5)),
        ("board=*/*/*/*/2B1P3/*/*/* turn=w", Some(6)),
        ("pawns=8/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/8", Some(2)),
        ("pawns=8/pppp1ppp/8/4p3/4P3/2P5/PP1P1PPP/8 ply=8..", Some(8)),
        ("pawns=8/pppp1ppp/*/*/*/*/*/*", Some(2)),
    ] {
        assert_eq!(first(pattern, &game), ply, "{pattern}");
    }
}

#[test]
fn material_and_how_long_it_lasts() {
    let game = game(ITALIAN);
    for (pattern, ply) in [
        ("P=7 p=7", Some(13)),
        ("P=7 p=8", Some(12)),
        ("P=7 p=8 for=2", None),
        ("P=7 p=7 for=5", Some(13)),
        ("P=7 p=7 for=8", Some(13)),
        ("P=7 p=7 for=9", None),
        ("B=1 b=2", Some(20)),
        ("n=1", Some(19)),
        ("balance=3", Some(19)),
        ("balance=1..", Some(19)),
        ("balance=..-1", Some(12)),
        ("balance=1.. flip=sides", Some(12)),
        ("bishops=opposite", None),
        ("material=KQRRBBNPPPPPPPvKQRRBBNNPPPPPPP", Some(19)),
        ("material=KQRRBBNPPPPPPPvKQRRBBNNPPPPPPP flip=sides", Some(19)),
        ("material=KQRRBBNNPPPPPPPvKQRRBBNPPPPPPP", Some(19)),
        ("material=KQRRBBNPPPPPPPvKQRRBNNPPPPPPP", Some(20)),
        ("material=KQRRBBNPPPPPPPvKQRRBNPPPPPPP", None),
        ("material=KQRRBNNPPPPPPPvKQRRBBNPPPPPPP", Some(20)),
        ("material=KQRRBBN*vKQRRBNN*", Some(0)),
        ("ply=3..4 on=Nf3", Some(3)),
        ("on=Nc3 flip=files", Some(3)),
        ("on=nf6 flip=sides,files", Some(3)),
    ] {
        assert_eq!(first(pattern, &game), ply, "{pattern}");
    }
}

#[test]
fn bishops_of_opposite_colors() {
    let opposite =
        game("[SetUp \"1\"]\n[FEN \"4k3/2b5/8/8/8/8/2B5/4K3 w - - 0 1\"]\n\n1. Kd2 Kd7 *");
    assert_eq!(first("bishops=opposite", &opposite), Some(0));
    assert_eq!(first("bishops=same", &opposite), None);
    let same = game("[SetUp \"1\"]\n[FEN \"4k3/2b5/8/8/8/8/3B4/4K3 w - - 0 1\"]\n\n1. Kd1 Kd7 *");
    assert_eq!(first("bishops=same", &same), Some(0));
    assert_eq!(first("bishops=opposite", &same), None);
}

#[test]
fn shogi_has_pieces_in_hand() {
    let game = game("position startpos moves 7g7f 3c3d 8h2b+ 3a2b B*5e 2b3c 5e3c+ 2a3c S*4e");
    for (pattern, ply) in [
        ("B*=1", Some(3)),
        ("B*=1 b*=1", Some(4)),
        ("on=B5e", Some(5)),
        ("on=[B+B]3c", Some(7)),
        ("+B=1", Some(3)),
        ("+B=1 ply=4..", Some(7)),
        ("b*=2", Some(8)),
        ("S*=1", Some(7)),
        ("on=S4e turn=w", Some(9)),
        ("board=*/*/*/*/*/*/*/1?5R1/* ply=3.. turn=b", Some(4)),
        ("board=*/*/*/*/*/*/*/1B5R1/* ply=1..", Some(1)),
        // The side to move has captured a silver, and lost a bishop.
        ("balance=-8 ply=8 game=shogi", Some(8)),
    ] {
        assert_eq!(first(pattern, &game), ply, "{pattern}");
    }
    assert_eq!(first("bishops=opposite", &game), None);
}

#[test]
fn errors_name_the_term_and_the_reason() {
    let defect = |pattern: &str| match pattern.parse::<BoardPattern>() {
        Err(FilterError::Pattern(defect)) => defect.to_string(),
        other => panic!("{pattern}: {other:?}"),
    };
    let empty = "the pattern has no condition on pieces";
    for pattern in ["", "turn=w", "ply=3.. for=2", "on=?e4"] {
        assert_eq!(defect(pattern), empty, "{pattern}");
    }
    for pattern in [
        "K=2",
        "on=Kd5,Ke5",
        "P=9..",
        "on=Nd5 N=0",
        "on=Qa1,Qb1,Qc1,Qd1,Qe1,Qf1,Qg1,Qh1,Qa2,Qb2",
        "balance=200..",
    ] {
        let text = defect(pattern);
        assert!(text.starts_with("too many pieces for a player"), "{pattern}: {text}");
    }
    for (pattern, expected) in [
        ("color=red", "unknown term of a pattern: `color=red`"),
        ("on=Nd5 on=Ne5", "a term of the pattern occurs twice: `on=Ne5`"),
        ("on=Xd5", "neither a piece of this game nor a wildcard: `X`"),
        ("on=Nd9", "`on=Nd9` does not have the form `on=Nd5`"),
        ("on=[N", "neither a piece of this game nor a wildcard: `[`"),
        ("on=[]d5", "neither a piece of this game nor a wildcard: `]`"),
        ("board=8/8", "a board of chess has 8 rows, and one of shogi 9: `board=8/8`"),
        ("board=9/8/8/8/8/8/8/8", "row 1 of the board does not have 8 squares"),
        ("on=Pe1", "the piece is never on e1"),
        ("on=pe8", "the piece is never on e8"),
        ("on=P5a", "the piece is never on 5a"),
        ("on=N5b", "the piece is never on 5b"),
        ("on=Nd5,-d5", "contradictory conditions on d5"),
        ("R=1 R*=1 Q=1", "the pattern is for chess and for shogi"),
        ("on=Nd5 B*=1", "the pattern is for chess and for shogi"),
        ("R=2..1", "no number is in the range `R=2..1`"),
        ("R=one", "`R=one` does not have the form `R=1..2`"),
        ("for=4 ply=3..5 R=1", "the pattern lasts for more positions than the range of moves has"),
    ] {
        assert_eq!(defect(pattern), expected, "{pattern}");
    }
    let wrong_game = BoardPattern::read("material=KRvK", Some(Game::Shogi));
    assert!(wrong_game.is_err(), "{wrong_game:?}");
}

/// What a pattern requires, computed from the text of a position.
fn piece_on(position: &Position, square: usize) -> Option<String> {
    let text = position.to_string();
    let mut at = 0;
    let mut plus = "";
    for letter in text.split(' ').next().expect("a placement").replace('/', "").chars() {
        if letter == '+' {
            plus = "+";
            continue;
        }
        if let Some(count) = letter.to_digit(10) {
            at += count as usize;
        } else {
            if at == square {
                return Some(format!("{plus}{letter}"));
            }
            at += 1;
        }
        plus = "";
    }
    None
}

fn starts() -> impl Strategy<Value = Position> {
    let text = |game, text| Position::from_text(game, text).expect("a position");
    prop_oneof![
        Just(Position::start(Game::Chess)),
        Just(Position::start(Game::Shogi)),
        Just(text(
            Game::Chess960,
            "bqnb1rkr/pp3ppp/3ppn2/2p5/5P2/P2P4/NPP1P1PP/BQ1BNRKR w HFhf - 2 9"
        )),
        Just(text(Game::Chess, "r3k2r/pPpp1pbp/8/3pP3/8/8/PPP2P1P/R3K2R w KQkq d6 0 1")),
        Just(text(Game::Shogi, "4k4/P1P3P1P/9/9/4l4/9/9/9/4K4 b RBGSNL2Prbgsnl2p 1")),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Played moves have the pieces of the rules.
    #[test]
    fn placements_follow_the_rules(start in starts(), choices in prop::collection::vec(any::<u16>(), 1..160)) {
        let mut record = GameRecord::new(start.clone());
        let mut placement = PiecePlacement::new(&start);
        let mut position = start;
        for choice in choices {
            let moves = position.legal_moves();
            if moves.is_empty() {
                break;
            }
            let mv = moves[usize::from(choice) % moves.len()];
            position.play(mv).expect("a legal move");
            placement.play(mv);
            record.play(mv).expect("a legal move");
            prop_assert_eq!(&placement, &PiecePlacement::new(&position), "{}", position);
        }
        // The last position, with some squares that are not compared.
        let width = if record.game() == Game::Shogi { 9 } else { 8 };
        let cells: Vec<String> = (0..width * width)
            .map(|at| match piece_on(&position, at) {
                _ if at % 5 == 3 => "?".to_owned(),
                Some(piece) => piece,
                None if at % 2 == 0 => "1".to_owned(),
                None => "?".to_owned(),
            })
            .collect();
        let rows: Vec<String> = cells.chunks(width).map(<[String]>::concat).collect();
        let pattern: BoardPattern = format!("board={}", rows.join("/")).parse().expect("a pattern");
        let ply = pattern.first_ply(&record).expect("the last position");
        let reached = record.positions().nth(ply).expect("a position");
        for (at, cell) in cells.iter().enumerate() {
            let piece = piece_on(&reached, at);
            match cell.as_str() {
                "?" => (),
                "1" => prop_assert_eq!(piece, None),
                known => prop_assert_eq!(piece.as_deref(), Some(known)),
            }
        }
        let placement: PositionPattern = rows.join("/").parse().expect("a pattern");
        prop_assert_eq!(placement.first_ply(&record), Some(ply));
        prop_assert!(placement.matches(&reached));
        prop_assert_eq!(Condition::Pattern(pattern).first_ply(&record), Some(ply));
    }

    #[test]
    fn any_text_is_read_without_panic(text in "([a-zA-Z0-9=,*+/.?!\\[\\]-]{0,12} ?){0,6}") {
        let _ = text.parse::<BoardPattern>();
        let _ = text.parse::<MaterialPattern>();
        let _ = text.parse::<PositionPattern>();
        let _ = BoardPattern::read(&text, Some(Game::Shogi));
    }
}
