//! Detection of formats, bookmarks, and lines of USI.

use std::fmt::Write as _;

use readyok_rules::record::{
    self, Format, GameRecord, Limit, Limits, NoticeReason, RecordErrorKind, Records, WriteError,
};
use readyok_rules::{Game, Position};

use super::kif::uci_moves;
use super::{check_round_trip, read_all, read_one, written};

#[test]
fn detects_the_format() {
    for (text, format) in [
        ("[Event \"a\"]\n\n1. e4 *", Some(Format::Pgn)),
        ("\u{feff}\n\n1. e4 e5", Some(Format::Pgn)),
        ("{a comment} 1. e4", Some(Format::Pgn)),
        ("#KIF version=2.0 encoding=UTF-8\n", Some(Format::Kif)),
        ("# ---- Kifu for Windows ----\n", Some(Format::Kif)),
        ("開始日時：2026/11/21\n", Some(Format::Kif)),
        ("   1 ７六歩(77)\n", Some(Format::Kif)),
        ("▲７六歩\n", Some(Format::Ki2)),
        ("V2.2\n", Some(Format::Csa)),
        ("'CSA encoding=UTF-8\nV3.0\n", Some(Format::Csa)),
        ("N+a\n", Some(Format::Csa)),
        ("{\"header\":{}}", Some(Format::Jkf)),
        ("{\n  \"header\":{}}", Some(Format::Jkf)),
        ("position startpos moves 7g7f", Some(Format::Usi)),
        ("sfen lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1", Some(Format::Usi)),
        ("lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1", Some(Format::Usi)),
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
    for format in [Format::Kif, Format::Ki2, Format::Csa, Format::Jkf, Format::Usi] {
        for encoding in [record::Encoding::Utf8, record::Encoding::ShiftJis] {
            let mut bytes = Vec::new();
            record::write_encoded(&record, format, encoding, &mut bytes).expect("it is shogi");
            let mut games = record::read(&bytes[..], None);
            let read = games.next().expect("a game").expect("it is read");
            assert_eq!(uci_moves(&read), "7g7f 3c3d", "{format}");
            assert!(games.next().is_none(), "{format}");
        }
    }
    let error = record::read(&b"hello"[..], None).next().expect("an error").expect_err("no format");
    assert!(matches!(error.kind, RecordErrorKind::UnknownFormat));
    assert!(record::read(&b" \n"[..], None).next().is_none());
}

/// Reading from the bookmark before each game returns the same games as reading the complete file.
#[test]
fn resumes_at_any_bookmark() {
    let kif = "手合割：平手\n   1 ７六歩(77)\n手合割：平手\n   1 ７五歩(77)\n\n手合割：平手\n   1 ２六歩(27)\n";
    let kif_in_shift_jis = encoding_rs::SHIFT_JIS.encode(kif).0.into_owned();
    let declared = format!("#KIF version=2.0 encoding=UTF-8\r\n{kif}");
    let jkf = "{\"moves\":[{}]}\n\n  {\"moves\":[{\"a\":\"}\\\"{\"},3]}{\"moves\":[{}]} \n";
    let files: [(Format, &[u8]); 7] = [
        (Format::Kif, kif.as_bytes()),
        (Format::Kif, &kif_in_shift_jis),
        (Format::Kif, declared.as_bytes()),
        (
            Format::Ki2,
            "手合割：平手\n▲７六歩\n手合割：平手\n▲７五歩\n手合割：平手\n▲２六歩".as_bytes(),
        ),
        (Format::Csa, b"V2.2\nPI\n+\n+7776FU\n/\nPI\n+\n+7775FU\nV2.2\nPI\n+\n+2726FU\n"),
        (Format::Jkf, jkf.as_bytes()),
        (
            Format::Usi,
            b"startpos moves 7g7f\n\n# not a game\nstartpos moves 7g7e\nstartpos moves 2g2f",
        ),
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
        assert!(read[1].contains("game: 2"), "{format}: {read:?}");
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
    assert_eq!(record::read(&b"1. e4 *"[..], Format::Pgn).bookmark(), None);
}

#[test]
fn formats_reject_other_games() {
    let chess = GameRecord::new(Position::start(Game::Chess));
    let shogi = GameRecord::new(Position::start(Game::Shogi));
    for format in Format::ALL {
        let wrong = if format == Format::Pgn { &shogi } else { &chess };
        let right = if format == Format::Pgn { &chess } else { &shogi };
        let error = record::write(wrong, format, &mut Vec::new()).expect_err("not this game");
        assert!(matches!(error, WriteError::WrongGame { .. }));
        assert!(error.to_string().starts_with(&format.to_string()));
        check_round_trip(right, format);
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
    ] {
        let (record, _) = read_one(line.as_bytes(), Format::Usi);
        assert_eq!(uci_moves(&record), moves, "{line}");
        check_round_trip(&record, Format::Usi);
    }
    let file = "# openings\n\nstartpos moves 7g7f\nstartpos moves 7g7e\nstartpos moves 2g2f x\n\
        sfen 9/9/9/9/9/9/9/9/9 b - 1\nstartpos 7g7f\nstartpos moves 2g2f\n";
    let errors: Vec<String> = read_all(file.as_bytes(), Format::Usi)
        .into_iter()
        .map(|game| game.map_or_else(|error| error.to_string(), |game| uci_moves(&game)))
        .collect();
    assert_eq!(
        errors,
        [
            "7g7f",
            "game 2, line 4, column 16: illegal move `7g7e`: the piece cannot reach the target square",
            "game 3, line 5, column 21: illegal move `x`: it is not a move of this game",
            "game 4, line 6, column 1: bad start position: the board has no king",
            "game 5, line 7, column 10: unexpected `7g7f`",
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
    for format in [Format::Kif, Format::Ki2, Format::Jkf] {
        assert!(!written(&record, format).is_empty());
    }
    check_round_trip(&record, Format::Kif);
    let mut chess = String::from("1. Nf3 ");
    for _ in 0..99 {
        let _ = write!(chess, "(1. Nc3 (1. Nf3 ");
    }
    // Too deep for the reader, which skips the innermost variations.
    let (read, notices) = read_one(chess.as_bytes(), Format::Pgn);
    assert_eq!(read.len(), 101);
    let reason = notices.first().map(|it| &it.reason);
    assert_eq!(reason, Some(&NoticeReason::LimitExceeded(Limit::Depth)));
}
