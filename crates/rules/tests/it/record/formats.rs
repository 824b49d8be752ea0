//! Detection of formats, bookmarks, and lines of USI.

use std::fmt::Write as _;

use readyok_protocol::Score;
use readyok_rules::record::{
    self, Defect, Format, GameRecord, Limit, Limits, NoticeReason, RecordErrorKind, Records,
    WriteError,
};
use readyok_rules::{Game, GameResult, Position, Side, Termination};

use super::kif::uci_moves;
use super::{check_round_trip, read_one, written};

#[test]
fn detects_the_format() {
    for (text, format) in [
        ("[Event \"a\"]\n\n1. e4 *", Some(Format::PGN)),
        ("\u{feff}\n\n1. e4 e5", Some(Format::PGN)),
        ("{a comment} 1. e4", Some(Format::PGN)),
        ("#KIF version=2.0 encoding=UTF-8\n", Some(Format::KIF)),
        ("# ---- Kifu for Windows ----\n", Some(Format::KIF)),
        ("開始日時：2026/11/21\n", Some(Format::KIF)),
        ("   1 ７六歩(77)\n", Some(Format::KIF)),
        ("▲７六歩\n", Some(Format::KI2)),
        ("V2.2\n", Some(Format::CSA)),
        ("'CSA encoding=UTF-8\nV3.0\n", Some(Format::CSA)),
        ("N+a\n", Some(Format::CSA)),
        ("{\"header\":{}}", Some(Format::JKF)),
        ("{\n  \"header\":{}}", Some(Format::JKF)),
        ("position startpos moves 7g7f", Some(Format::USI)),
        ("sfen lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1", Some(Format::USI)),
        ("lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1", Some(Format::USI)),
        ("position startpos moves e2e4", Some(Format::UCI)),
        ("position fen 4k3/8/8/8/8/8/8/4K3 w - - 0 1", Some(Format::UCI)),
        ("rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b", Some(Format::UCI)),
        ("4k3/8/8/8/8/8/4P3/4K3 w - - bm e4;", Some(Format::UCI)),
        ("https://lichess.org/analysis/8/8/8/8/8/8/8/8_w_-_-_0_1", Some(Format::UCI)),
        ("e2e4 e7e5 g1f3", Some(Format::UCI)),
        ("7g7f 3c3d", Some(Format::USI)),
        ("P*5e", Some(Format::USI)),
        ("e4 e5 Nf3 Nc6 Bb5", Some(Format::PGN)),
        ("O-O", Some(Format::PGN)),
        ("12. e4 e5", Some(Format::PGN)),
        ("{\n\"a quotation\" and a game }\n1. e4", Some(Format::PGN)),
        ("{\n a study }\n[Event \"a\"]", Some(Format::PGN)),
        ("[White \"先手：田中\"]", Some(Format::PGN)),
        ("７六歩(77) ３四歩(33)", Some(Format::KIF)),
        ("７六歩 ３四歩", Some(Format::KI2)),
        ("+7776FU\n-3334FU\n", Some(Format::CSA)),
        ("hello", None),
        ("", None),
    ] {
        assert_eq!(Format::detect(text.as_bytes()), format, "{text}");
    }
    let mut record = GameRecord::new(Position::start(Game::Shogi));
    record.headers.push("先手", "あさひ");
    for mv in ["7g7f", "3c3d"] {
        let mv = record.position().parse_move(mv).expect("legal");
        record.play(mv).expect("legal");
    }
    for format in [Format::KIF, Format::KI2, Format::CSA, Format::JKF, Format::USI] {
        let encodings = [record::Encoding::Utf8, record::Encoding::ShiftJis];
        for encoding in encodings.into_iter().filter(|encoding| encoding.is_supported()) {
            let mut bytes = Vec::new();
            record::write_encoded(&record, format, encoding, &mut bytes).expect("it is shogi");
            let mut games = record::read(&bytes[..], None);
            let read = games.next().expect("a game").expect("it is read");
            assert_eq!(uci_moves(&read), "7g7f 3c3d", "{format}");
            assert!(games.next().is_none(), "{format}");
        }
    }
    let error = record::read(&b"hello"[..], None).next().expect("an error").expect_err("no format");
    assert!(matches!(error.kind, RecordErrorKind::Defect(Defect::UnknownFormat)));
    assert!(record::read(&b" \n"[..], None).next().is_none());
}

/// Reading from the bookmark before each game returns the same games as reading the complete file.
#[test]
fn resumes_at_any_bookmark() {
    let kif = "手合割：平手\n   1 ７六歩(77)\n手合割：平手\n   1 ７五歩(77)\n\n手合割：平手\n   1 ２六歩(27)\n";
    let legacy = [record::Encoding::ShiftJis, record::Encoding::Utf16Le];
    let legacy = legacy.into_iter().find(|encoding| encoding.is_supported());
    let kif_in_shift_jis = legacy.expect("UTF-16 is supported").encode(kif).into_owned();
    let declared = format!("#KIF version=2.0 encoding=UTF-8\r\n{kif}");
    let jkf = "{\"moves\":[{}]}\n\n  {\"moves\":[{\"a\":\"}\\\"{\"},3]}{\"moves\":[{}]} \n";
    let files: [(Format, &[u8]); 7] = [
        (Format::KIF, kif.as_bytes()),
        (Format::KIF, &kif_in_shift_jis),
        (Format::KIF, declared.as_bytes()),
        (
            Format::KI2,
            "手合割：平手\n▲７六歩\n手合割：平手\n▲７五歩\n手合割：平手\n▲２六歩".as_bytes(),
        ),
        (Format::CSA, b"V2.2\nPI\n+\n+7776FU\n/\nPI\n+\n+7775FU\nV2.2\nPI\n+\n+2726FU\n"),
        (Format::JKF, jkf.as_bytes()),
        (Format::USI, b"startpos moves 7g7f\n\n# not a game\nrubbish game: 2\nstartpos moves 2g2f"),
    ];
    for (format, bytes) in files {
        let mut games = record::read(bytes, format);
        let mut bookmarks = Vec::new();
        let mut read = Vec::new();
        loop {
            bookmarks.push(games.bookmark().expect("a bookmark"));
            let Some(game) = games.next() else { break };
            read.push(format!("{game:?}"));
        }
        assert_eq!(read.len(), 3, "{format}: {read:?}");
        assert!(!read[1].starts_with("Err") || read[1].contains("game: 2"), "{format}: {read:?}");
        for (bookmark, rest) in bookmarks.iter().zip((0..).map(|from| &read[from..])) {
            let from = usize::try_from(bookmark.offset()).expect("an offset");
            let games = Records::resume(&bytes[from..], bookmark, Limits::default());
            let games: Vec<String> = games.map(|game| format!("{game:?}")).collect();
            assert_eq!(games, rest, "{format} from {bookmark:?}");
        }
    }
    let mut games = record::read(kif.as_bytes(), None);
    assert_eq!(games.bookmark(), None, "the format is not known yet");
    games.next();
    assert!(games.bookmark().is_some());
    assert_eq!(record::read(&b"1. e4 *"[..], Format::PGN).bookmark(), None);
}

#[test]
fn formats_reject_other_games() {
    let chess = GameRecord::new(Position::start(Game::Chess));
    let shogi = GameRecord::new(Position::start(Game::Shogi));
    for &format in Format::ALL {
        let of_chess = format.supports(Game::Chess);
        let (right, wrong) = if of_chess { (&chess, &shogi) } else { (&shogi, &chess) };
        let error = record::write(wrong, format, &mut Vec::new()).expect_err("not this game");
        assert!(matches!(error, WriteError::WrongGame { .. }));
        assert!(error.to_string().starts_with(&format.to_string()));
        check_round_trip(right, format);
    }
}

/// The moves and the notices of each game, or its error.
fn described(text: &str, format: Format) -> Vec<String> {
    let mut games = record::read(text.as_bytes(), format);
    let mut found = Vec::new();
    while let Some(game) = games.next() {
        found.push(game.map_or_else(|error| error.to_string(), |game| uci_moves(&game)));
        found.extend(games.notices().iter().map(ToString::to_string));
    }
    found
}

#[test]
fn reads_lines_of_chess() {
    let short = "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR";
    for (line, start, moves) in [
        ("position startpos", "", ""),
        ("startpos moves e2e4 e7e5", "", "e2e4 e7e5"),
        ("e2e4 e7e5\ng1f3", "", "e2e4 e7e5 g1f3"),
        ("moves e4 e5 Nf3", "", "e2e4 e7e5 g1f3"),
        ("startpos moves 1. e4 e5 2.Nf3 1-0", "", "e2e4 e7e5 g1f3"),
        (&format!("{short} b"), &format!("{short} b - - 0 1"), ""),
        (&format!("fen {short}"), &format!("{short} w - - 0 1"), ""),
        ("4k2r/8/8/8/8/8/8/4K3 b k - 3 9 moves e8g8", "4k2r/8/8/8/8/8/8/4K3 b k - 3 9", "e8g8"),
        ("4k3/8/8/8/8/8/8/4K3 w - -", "4k3/8/8/8/8/8/8/4K3 w - - 0 1", ""),
        ("4k3/8/8/8/8/8/8/4K3 w - - bm Kd1; id \"a\";", "4k3/8/8/8/8/8/8/4K3 w - - 0 1", ""),
        (
            "https://lichess.org/analysis/4k3/8/8/8/8/8/8/4K3_b_-_-_0_1",
            "4k3/8/8/8/8/8/8/4K3 b - - 0 1",
            "",
        ),
        ("https://lichess.org/analysis/pgn/e4_e5_Nf3", "", "e2e4 e7e5 g1f3"),
        ("https://example.org/?moves=e4,e5", "", "e2e4 e7e5"),
    ] {
        let (record, notices) = read_one(line.as_bytes(), Format::UCI);
        let usual = Position::start(Game::Chess).to_string();
        let start = if start.is_empty() { usual.as_str() } else { start };
        assert_eq!(record.start().to_string(), start, "{line}");
        assert_eq!(uci_moves(&record), moves, "{line}");
        assert_eq!(notices, [], "{line}");
        // Comments and results are not written.
        let bare = read_one(&written(&record, Format::UCI), Format::UCI).0;
        check_round_trip(&bare, Format::UCI);
    }
    assert_eq!(
        described(
            "4k2r/8/8/8/8/8/8/4K3 w KQkq - 0 1 moves e1d2 e8g8\n\
             8/8/8/8/8/8/8/K7 w - - 0 1\n\
             4k3/8/8/8/8/8/8/4K3 w - - dm -21;\n\
             4k3/8/8/8/8/8/8/4K3 w - - bm Ka8;\n\
             https://lichess.org/abcdefgh\n\
             8/8/8 w\n\
             4k3/8/8/8/8/8/8/4K3 w - - 0 1 moves e1d1 0000 d1c1\n",
            Format::UCI
        ),
        [
            "e1d2 e8g8",
            "line 1, column 1: the castling right with the rook on a1 is impossible",
            "line 1, column 1: the castling right with the rook on h1 is impossible",
            "line 1, column 1: the castling right with the rook on a8 is impossible",
            "",
            "line 2, column 1: bad start position: Black has 0 kings; 1 is required",
            "",
            "",
            "line 4, column 27: unexpected `bm Ka8;`",
            "game 5, line 5, column 1: unexpected `https://lichess.org/abcdefgh`",
            "game 6, line 6, column 1: bad start position: the board has 3 ranks; 8 are required",
            "e1d1 0000 d1c1",
        ]
    );
}

#[test]
fn operations_of_an_epd_become_annotations() {
    let text =
        "4k3/8/8/8/8/8/4P3/4K3 b - - bm Kd7; id \"an end\"; c0 \"hold it\"; ce -120; acd 9; x y;";
    let (record, notices) = read_one(text.as_bytes(), None);
    assert_eq!(notices, []);
    assert_eq!(record.headers.get("Event"), Some("an end"));
    let root = record.annotations(record::NodeId::ROOT);
    assert_eq!(root.comments, ["hold it", "bm Kd7; x y;"]);
    let evaluation = root.evaluation.expect("an evaluation");
    assert_eq!((evaluation.score, evaluation.depth), (Score::Cp(120), Some(9)));
}

#[test]
fn reads_links_to_shogi_playground() {
    let link = "https://play.mogproject.com/?u=~0.6y22jm7ku2sq9co.r~1.2sq.&move=12&flip=false";
    let (record, notices) = read_one(link.as_bytes(), None);
    assert_eq!(notices, []);
    assert_eq!(uci_moves(&record), "2g2f 3c3d 7g7f 5c5d 3i4h");
    assert_eq!(record.len(), 6, "one variation");
    assert_eq!(record.termination(), Some(Termination::Resignation));
    let link = "https://play.mogproject.com/?u=4k4_9_4P4_9_9_9_9_9_4K4.b.G~0.boa.";
    let mut games = record::read(link.as_bytes(), None);
    let record = games.next().expect("a game").expect("it is read");
    assert_eq!(record.start().to_string(), "4k4/9/4P4/9/9/9/9/9/4K4 b G 1");
    let notices: Vec<String> = games.notices().iter().map(ToString::to_string).collect();
    assert_eq!(
        notices,
        ["line 1, column 1: illegal move `N*6d`: no such piece is in hand; no moves were read"]
    );
}

#[test]
fn reads_links_to_shogi_extend() {
    for (body, moves) in [
        ("position.startpos.moves.7g7f.3c3d", "7g7f 3c3d"),
        ("position.sfen.4k4/9/9/9/9/9/9/9/4K4.b.G.1.moves.G*5b", "G*5b"),
        ("position%20startpos%20moves%207g7f", "7g7f"),
    ] {
        let link = format!("https://www.shogi-extend.com/share-board?body={body}&turn=2");
        let (record, notices) = read_one(link.as_bytes(), None);
        assert_eq!((uci_moves(&record).as_str(), notices), (moves, Vec::new()), "{link}");
    }
}

#[test]
fn reads_lines_of_usi() {
    for (line, moves) in [
        ("position startpos", ""),
        ("startpos moves 7g7f 3c3d", "7g7f 3c3d"),
        ("position startpos moves", ""),
        ("position sfen 4k4/9/9/9/9/9/9/9/4K4 b G 1 moves G*5b", "G*5b"),
        ("sfen 4k4/9/9/9/9/9/9/9/4K4 b G moves G*5b", "G*5b"),
        ("4k4/9/9/9/9/9/9/9/4K4 b G 1", ""),
        ("4k4/9/9/9/9/9/9/9/4K4", ""),
        ("7g7f 3c3d\n2g2f", "7g7f 3c3d 2g2f"),
        ("startpos moves P-7f", "7g7f"),
        ("startpos moves ▲７六歩 △３四歩", "7g7f 3c3d"),
    ] {
        let (record, _) = read_one(line.as_bytes(), Format::USI);
        assert_eq!(uci_moves(&record), moves, "{line}");
        check_round_trip(&record, Format::USI);
    }
    let (record, notices) = read_one(b"position startpos moves 7g7f 3c3d resign", Format::USI);
    assert_eq!(
        (uci_moves(&record).as_str(), record.result),
        ("7g7f 3c3d", GameResult::Win(Side::Second))
    );
    assert_eq!((record.termination(), notices), (Some(Termination::Resignation), Vec::new()));
    let file = "# openings\n\nstartpos moves 7g7f\nstartpos moves 7g7e\nstartpos moves 2g2f x\n\
        sfen 9/9/9/9/9/9/9/9/9 b - 1\nstartpos 7g7f\nrubbish\nstartpos moves 2g2f\n";
    assert_eq!(
        described(file, Format::USI),
        [
            "7g7f",
            "",
            "line 4, column 16: illegal move `7g7e`: the piece cannot reach the target square; \
             no moves were read",
            "2g2f",
            "line 5, column 21: illegal move `x`: not a move of this game; \
             the main line was read up to ply 1",
            "",
            "line 6, column 6: bad start position: the board has no king",
            "",
            "line 7, column 10: unexpected `7g7f`",
            "game 6, line 8, column 1: unexpected `rubbish`",
            "2g2f",
        ]
    );
}

/// Deeply nested variations do not overflow the stack.
#[test]
fn deep_variations_can_be_written() {
    let mut record = GameRecord::new(Position::start(Game::Shogi));
    let mut parent = record::NodeId::ROOT;
    let mut position = record.start().clone();
    for uci in ["2h3h", "8b7b", "3h2h", "7b8b"].into_iter().cycle().take(600) {
        let main = position.parse_move(uci).expect("legal");
        let other = position.legal_moves().into_iter().find(|mv| *mv != main).expect("another");
        record.add(parent, other).expect("legal");
        parent = record.add(parent, main).expect("legal");
        position.play(main).expect("legal");
    }
    for format in [Format::KIF, Format::KI2, Format::JKF] {
        assert!(!written(&record, format).is_empty());
    }
    check_round_trip(&record, Format::KIF);
    let mut chess = String::from("1. Nf3 ");
    for _ in 0..99 {
        let _ = write!(chess, "(1. Nc3 (1. Nf3 ");
    }
    // Too deep for the reader, which skips the innermost variations.
    let (read, notices) = read_one(chess.as_bytes(), Format::PGN);
    assert_eq!(read.len(), 101);
    let reason = notices.first().map(|notice| &notice.reason);
    assert_eq!(reason, Some(&NoticeReason::LimitExceeded(Limit::NestingTooDeep)));
}
