//! Defective PGN of programs and handwritten records, and the parts that are read.

use readyok_rules::record::{
    self, Defect, Format, GameRecord, Nag, Node, NodeId, Notice, NoticeReason, ReadExtent,
    RecordMove,
};
use readyok_rules::{Game, GameResult, PositionError, Termination};

use super::{read_one, written};

/// The main line in UCI notation.
fn line(record: &GameRecord) -> String {
    let form = record.game().castling_form();
    let moves = record.mainline().filter_map(|node| Some(node.mv()?.to_uci(form)));
    moves.collect::<Vec<_>>().join(" ")
}

fn texts(notices: &[Notice]) -> Vec<String> {
    notices.iter().map(ToString::to_string).collect()
}

/// Reads the only game of a text. It must be the same when it is written and read again.
#[track_caller]
fn read(text: &str) -> (GameRecord, Vec<Notice>) {
    let (record, notices) = read_one(text.as_bytes(), Format::PGN);
    let once = written(&record, Format::PGN);
    let (again, _) = read_one(&once, Format::PGN);
    assert!(again == record, "{text}\n{}", String::from_utf8_lossy(&once));
    assert_eq!(written(&again, Format::PGN), once, "{text}");
    (record, notices)
}

#[test]
fn null_moves_are_nodes() {
    for null in ["--", "Z0", "0000", "@@@@", "null"] {
        let (record, notices) = read(&format!("1. e4 e5 2. {null} Nf6 3. d4 exd4 *"));
        assert_eq!(line(&record), "e2e4 e7e5 0000 g8f6 d2d4 e5d4", "{null}");
        assert_eq!(notices, [], "{null}");
        assert!(String::from_utf8_lossy(&written(&record, Format::PGN)).contains(" 2. -- Nf6 "));
    }
    let (record, notices) = read("1. d4 d5 (1... Nf6 2. -- g6 3. c4 {idea} Bg7) 2. c4 *");
    assert_eq!((record.len(), notices.len()), (3 + 5, 0));
    let nulls = record.children(record.mainline().next().expect("d4").id()).nth(1).expect("Nf6");
    assert_eq!(record.next(nulls.id()).and_then(Node::mv), Some(RecordMove::Null));
    let (record, notices) = read("1. e4 e5 2. Qh5 Ke7 3. Qxe5+ -- 4. d4 *");
    assert_eq!(record.mainline().count(), 5);
    assert_eq!(notices.first().map(|notice| notice.kept), Some(ReadExtent::MainLine(5)));
}

#[test]
fn an_illegal_move_at_the_end_is_the_reason_for_the_result() {
    for (moves, uci) in [
        ("1. e4 e5 2. Ke3", "e1e3"),
        ("1. e4 e5 2. e1-e3", "e1e3"),
        ("1. e4 e5 2. O-O", "e1g1"),
        ("1. e4 e5 2. Bf1d5 $4 { oh }", "f1d5"),
    ] {
        let (record, notices) = read_one(format!("{moves} 0-1").as_bytes(), Format::PGN);
        assert_eq!(notices.len(), 1, "{moves}");
        assert_eq!(line(&record), format!("e2e4 e7e5 {uci}"));
        assert!(record.node(record.last()).and_then(Node::mv).is_some_and(RecordMove::is_illegal));
        assert_eq!(record.termination(), Some(Termination::IllegalMove));
        let once = written(&record, Format::PGN);
        let text = String::from_utf8_lossy(&once);
        assert!(text.contains(&format!("{{ illegal move: {uci} }}")), "{text}");
        let (again, notices) = read_one(&once, Format::PGN);
        assert_eq!(notices, []);
        assert_eq!(line(&again), line(&record));
        assert_eq!(again.termination(), Some(Termination::IllegalMove));
        assert_eq!(written(&again, Format::PGN), once);
    }
    // Moves after an illegal move show that it did not end the game.
    let (record, _) = read("1. e4 e5 2. Ke3 Nf6 3. d4 0-1");
    assert_eq!(line(&record), "e2e4 e7e5");
    let (record, notices) = read("1. e4 e5 { illegal move: e1e3 } { no } 2. Nf3 (2. Nc3) Nc6 *");
    assert_eq!((line(&record).as_str(), notices.len()), ("e2e4 e7e5 g1f3 b8c6", 0));
    let e5 = record.mainline().nth(1).expect("e5").id();
    assert_eq!(record.annotations(e5).comments, ["illegal move: e1e3", "no"]);
    // A variation can end with one.
    let (record, _) = read("1. e4 e5 (1... c5 { illegal move: e1e3 }) 2. Nf3 *");
    assert_eq!(record.len(), 5);
}

#[test]
fn the_next_moves_resolve_an_ambiguous_move() {
    // Only the knight of g1 leaves another one for b3.
    let (game, notices) =
        read("1. d4 d5 2. Nd2 Nf6 3. Nf3 {3...} e6 (3... g6) 4. e3 $1 Be7! 5. Nb3 *");
    assert_eq!(line(&game), "d2d4 d7d5 b1d2 g8f6 g1f3 e7e6 e2e3 f8e7 d2b3");
    assert_eq!(
        texts(&notices),
        [
            "line 1, column 24: `Nf3` fits several moves (g1f3, d2f3): read as g1f3, which the next moves require"
        ]
    );
    // Both knights fit, or none.
    for rest in ["e6", "", "e6 4. Nxe8"] {
        let (game, notices) = read(&format!("1. d4 d5 2. Nd2 Nf6 3. Nf3 {rest} *"));
        assert_eq!((line(&game), notices.len()), ("d2d4 d7d5 b1d2 g8f6".to_owned(), 1), "{rest}");
    }
}

/// The longest legal move at the start of a token counts; what follows it is a result, a sign, or reported.
#[test]
fn a_move_ends_before_text_that_cannot_belong_to_it() {
    for (text, moves, reported) in [
        ("1. e4, e5 2. Nf3,, Nc6 *", "e2e4 e7e5 g1f3 b8c6", &[",", ",,"][..]),
        ("1. e4,e5 2. Nf3,Nc6 *", "e2e4 e7e5 g1f3 b8c6", &[",", ","]),
        ("1. e4/d4 e5/e6 2. Nf3|Nc3 *", "e2e4 e7e5 g1f3", &["/d4", "/e6", "|Nc3"]),
        ("1. e4' e5\u{300C} 2. 0-0-0, *", "e2e4 e7e5", &["'", "\u{300C}", ""]),
        ("1. d4\u{200B} d5\u{FEFF}\u{200B}2.\u{A0}c4\u{2003}e6 *", "d2d4 d7d5 c2c4 e7e6", &[]),
        ("1. e4= e5+= 2. Nf3+-, Nc6=/∞ *", "e2e4 e7e5 g1f3 b8c6", &[","]),
        ("1. e4 e5 2. Nf3: Nc6_x *", "e2e4 e7e5 g1f3 b8c6", &[":", "_x"]),
    ] {
        let (record, notices) = read_one(text.as_bytes(), Format::PGN);
        assert_eq!(line(&record), moves, "{text}");
        assert_eq!(notices.len(), reported.len(), "{text}: {notices:?}");
        for (notice, reported) in notices.iter().zip(reported) {
            assert!(
                reported.is_empty()
                    || notice.reason
                        == NoticeReason::Defect(Defect::TextSkipped {
                            text: (*reported).to_owned()
                        }),
                "{notice}"
            );
        }
    }
    let castling = "[FEN \"r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1\"]\n\n1. 0-0, O-O-O/O-O *";
    let (record, notices) = read(castling);
    assert_eq!((line(&record).as_str(), notices.len()), ("e1g1 e8c8", 2));
    // The piece letters of the language count.
    let (record, notices) = read("1. e4 e5 2. Sf3 Sc6, 3. Lb5/Lc4 *");
    assert_eq!((line(&record).as_str(), notices.len()), ("e2e4 e7e5 g1f3 b8c6 f1b5", 3));
}

#[test]
fn a_result_can_follow_a_move_without_a_blank() {
    for (result, written) in
        [("1-0", "1-0"), ("0-1", "0-1"), ("1/2-1/2", "1/2-1/2"), ("½-½", "1/2-1/2")]
    {
        let (record, notices) = read(&format!("1. e4 e5 2. Bc4 Nc6 3. Qh5 Nf6 4. Qxf7#{result}"));
        assert_eq!(
            (line(&record).as_str(), notices),
            ("e2e4 e7e5 f1c4 b8c6 d1h5 g8f6 h5f7", vec![])
        );
        assert_eq!(record.result.as_str(), written);
        // A rank is not a part of the result.
        let (record, notices) = read(&format!("1. e4 e5 2. Nf3{result}"));
        assert_eq!((line(&record).as_str(), notices), ("e2e4 e7e5 g1f3", vec![]));
        assert_eq!(record.result.as_str(), written);
    }
}

#[test]
fn a_sign_of_check_belongs_to_the_move_only_if_it_gives_check() {
    let nags = |text: &str| -> Vec<Nag> {
        let (record, notices) = read(text);
        assert_eq!(notices, [], "{text}");
        record.mainline().flat_map(|node| record.annotations(node.id()).nags.clone()).collect()
    };
    assert_eq!(nags("1. e4 e5 2. Nf3+= *"), [Nag(14)]);
    assert_eq!(nags("1. e4 f5 2. Qh5+= *"), [Nag(10)]);
    assert_eq!(nags("1. e4 e5 2. Nf3= *"), [Nag(10)]);
}

/// A wrong move would be worse than none.
#[test]
fn text_that_can_belong_to_a_move_is_not_cut() {
    for text in [
        "e4e6", "e4x", "e4-e9", "e4:d5", "e4=Q", "e4@", "e4–e5", "e4é", "e4王", "e4５", "e4♘f6",
        "e41-1",
    ] {
        let (record, notices) = read_one(format!("1. {text} e5 *").as_bytes(), Format::PGN);
        assert_eq!((line(&record).as_str(), notices.len()), ("", 1), "{text}: {notices:?}");
    }
    // The parts of a long token are no moves.
    let long = "x".repeat(64);
    let (record, notices) =
        read(&format!("{long} e4 {long}\u{2003}e5 {long}{{text}} {long}(e6) {long}*"));
    assert_eq!((line(&record).as_str(), record.len(), notices.len()), ("e2e4 e7e5", 3, 5));
    let (record, notices) = read(&format!("{long}e4 {long}1-0 d4 {long}{long}Nf6, *"));
    assert_eq!((line(&record).as_str(), notices.len()), ("d2d4", 3));
}

#[test]
fn unknown_tokens_are_skipped() {
    let (record, notices) = read("1. e4 e5 TN 2. d4 exd4 N 3. c3 *");
    assert_eq!(line(&record), "e2e4 e7e5 d2d4 e5d4 c2c3");
    assert_eq!(
        texts(&notices),
        ["line 1, column 10: unexpected `TN`", "line 1, column 24: unexpected `N`"]
    );
    let (record, _) = read("1. e4 <b>best</b> e5 [x] 2... \u{2026} 2. Nf3 hello Nc6 } *");
    assert_eq!(line(&record), "e2e4 e7e5 g1f3 b8c6");
}

#[test]
fn piece_letters_of_a_language_are_read_if_all_moves_fit() {
    for (moves, language, expected) in [
        (
            "1. e4 e5 2. Sf3 Sc6 3. Lb5 a6 4. O-O Sge7",
            "German",
            "e2e4 e7e5 g1f3 b8c6 f1b5 a7a6 e1g1 g8e7",
        ),
        ("1. e4 e5 2. Cf3 Cc6 3. Fc4 Re7", "French", "e2e4 e7e5 g1f3 b8c6 f1c4 e8e7"),
        ("1. e4 e5 2. Cf3 Cc6 3. Ac4 Dh4", "Spanish or Italian", "e2e4 e7e5 g1f3 b8c6 f1c4 d8h4"),
    ] {
        let (record, notices) = read(&format!("{moves} *"));
        assert_eq!(line(&record), expected, "{moves}");
        assert!(
            matches!(
                notices.as_slice(),
                [Notice { reason: NoticeReason::Defect(Defect::PieceLetters { .. }), .. }]
            ),
            "{language}: {notices:?}"
        );
    }
    // A bishop is no piece of German: the moves before it are kept.
    let (record, notices) = read("1. e4 e5 2. Bc4 Sf6 *");
    assert_eq!(line(&record), "e2e4 e7e5 f1c4");
    assert_eq!(notices.first().map(|notice| notice.kept), Some(ReadExtent::MainLine(3)));
}

#[test]
fn signs_are_glyphs() {
    let (record, notices) = read("1. e4 ‼ e5 ∓ 2. Nf3 ⁉ Nc6 → 3. Bb5 ⇆ a6 ± 4. Ba4‼ b5=/∞ *");
    assert_eq!(notices, []);
    let nags: Vec<Nag> =
        record.mainline().flat_map(|node| record.annotations(node.id()).nags.clone()).collect();
    assert_eq!(nags, [3, 17, 5, 41, 132, 16, 3, 45].map(Nag));
    let (record, _) = read("1. \u{2658}f3 \u{265e}f6 *");
    assert_eq!(line(&record), "g1f3 g8f6");
}

#[test]
fn games_without_moves_follow_each_other() {
    let text = "[White \"A\"]\n[Black \"B\"]\n[Result \"1-0\"]\n\n[White \"C\"]\n[Black \"D\"]\n\
        [Result \"0-1\"]\n\n[White \"E\"]\n[Black \"F\"]\n[Result \"1/2-1/2\"]\n\n1. e4 e5 1/2-1/2\n";
    let games: Vec<GameRecord> =
        record::read(text.as_bytes(), Format::PGN).collect::<Result<_, _>>().expect("readable");
    let results: Vec<&str> = games.iter().map(|game| game.result.as_str()).collect();
    assert_eq!(results, ["1-0", "0-1", "1/2-1/2"]);
    assert_eq!(games.iter().map(GameRecord::len).collect::<Vec<_>>(), [0, 0, 2]);
}

#[test]
fn a_repeated_tag_stays_as_it_is() {
    for text in [
        "[Event \"x\"]\n[Site \"?\"]\n[Site \"?\"]\n[Site \"?\"]\n\n*\n",
        "[Event \"x\"]\n[Site \"?\"]\n[Site \"a\"]\n[Site \"?\"]\n[A \"1\"]\n[Site \"b\"]\n[A \"1\"]\n\n*\n",
        "[Result \"1-0\"]\n[Result \"0-1\"]\n[Date \"\"]\n[Date \"2020.01.01\"]\n\n*\n",
    ] {
        read(text);
    }
}

#[test]
fn names_of_variants_are_those_in_use() {
    let chess = "4k2r/8/8/8/8/8/8/4K3 w k - 0 1";
    let chess960 = "bqnb1rkr/pp3ppp/3ppn2/2p5/5P2/P2P4/NPP1P1PP/BQ1BNRKR w HFhf - 2 9";
    for (names, fen, game) in [
        (
            &["Regular", "Standard", "normal", "From Position", "classical", "wild/0", "wild/8a"][..],
            chess,
            Game::Chess,
        ),
        (
            &[
                "wild/fr",
                "chess-960",
                "Chess 960",
                "Freestyle",
                "Double Fischer Random",
                "Fischer Random",
                "fischerandom",
                "",
            ],
            chess960,
            Game::Chess960,
        ),
    ] {
        for name in names {
            let (record, notices) = read(&format!("[Variant \"{name}\"]\n[FEN \"{fen}\"]\n\n*"));
            assert_eq!((record.game(), notices), (game, vec![]), "{name}");
        }
    }
}

#[test]
fn impossible_castling_rights_are_dropped() {
    let (record, notices) = read("[FEN \"4k2r/8/8/8/8/8/8/4K3 w KQkq - 0 1\"]\n\n1. Kd2 O-O *");
    assert_eq!(line(&record), "e1d2 e8g8");
    assert_eq!(record.start().to_string(), "4k2r/8/8/8/8/8/8/4K3 w k - 0 1");
    let squares: Vec<_> = notices
        .iter()
        .map(|notice| match &notice.reason {
            NoticeReason::CastlingRight { square } => square.as_str(),
            other => panic!("{other}"),
        })
        .collect();
    assert_eq!(squares, ["a1", "h1", "a8"]);
}

#[test]
fn moves_need_neither_headers_nor_numbers() {
    assert_eq!(line(&read("e4 e5 Nf3 Nc6 Bb5").0), "e2e4 e7e5 g1f3 b8c6 f1b5");
    assert_eq!(line(&read("e2e4 e7e5 g1f3").0), "e2e4 e7e5 g1f3");
    let (record, _) = read("[FEN \"4k3/8/8/8/8/8/4P3/4K3 w\"]\n\n1. e4 Kd7");
    assert_eq!(record.position().to_string(), "8/3k4/8/8/4P3/8/8/4K3 w - - 1 2");
}

#[test]
fn a_position_without_kings_can_be_viewed() {
    let (record, notices) =
        read_one(b"[FEN \"8/8/8/8/8/8/4P3/4K3 w - - 0 1\"]\n\n1. e4 1-0", Format::PGN);
    assert_eq!((record.len(), record.result), (0, GameResult::Win(readyok_rules::Side::First)));
    assert!(matches!(record.start().defect(), Some(PositionError::KingCount { .. })));
    assert!(matches!(notices.as_slice(), [Notice { reason: NoticeReason::Start(_), .. }]));
    let text = String::from_utf8(written(&record, Format::PGN)).expect("UTF-8");
    assert!(text.contains("[FEN \"8/8/8/8/8/8/4P3/4K3 w - - 0 1\"]"), "{text}");
    assert_eq!(read_one(text.as_bytes(), Format::PGN).0, record);
}

#[test]
fn a_comment_can_precede_the_headers() {
    let (record, notices) =
        read_one(b"{\n a study }\n[Event \"Case\"]\n[Site \"x\"]\n\n1. e4 e5 *", Format::PGN);
    assert_eq!((line(&record).as_str(), notices), ("e2e4 e7e5", vec![]));
    assert_eq!(record.annotations(NodeId::ROOT).comments, ["a study"]);
}
