//! Encodings of files, which can differ from those that the files declare.

use std::error::Error as _;

use readyok_rules::record::{self, Encoding, Format, RecordErrorKind, UnsupportedEncoding};
use readyok_rules::{Game, Position, Side};

use super::read_one;

const KIF: &str = "開始日時：2026/11/25\n手合割：平手\n先手：甲\n後手：乙\n\
    手数----指手---------消費時間--\n   1 ７六歩(77)   ( 0:01/00:00:01)\n   2 投了\n";
const KI2: &str = "手合割：平手\n先手：甲\n後手：乙\n\n▲７六歩    △３四歩\nまで2手で後手の勝ち\n";
const CSA: &str = "V2.2\nN+甲野\nN-乙\nPI\n+\n+7776FU\n%TORYO\n";
const JKF: &str = "{\"header\":{\"先手\":\"甲\",\"後手\":\"乙\"},\"moves\":[{}]}";
const PGN: &str = "[White \"José Müller\"]\n[Black \"Øst\"]\n\n1. e4 {schön} e5 1-0\n";

/// Every encoding of the build in which the text can be written.
fn encodings(text: &str) -> impl Iterator<Item = (Encoding, Vec<u8>)> {
    Encoding::ALL
        .into_iter()
        .map(|encoding| (encoding, encoding.encode(text).into_owned()))
        .filter(|(encoding, bytes)| encoding.is_supported() && !bytes.contains(&b'?'))
}

/// The number of encodings of Japanese text.
const JAPANESE: usize = if cfg!(feature = "encodings") { 5 } else { 3 };

#[test]
fn files_have_any_encoding() {
    for (text, format, expected) in [
        (KIF, Format::KIF, JAPANESE),
        (KI2, Format::KI2, JAPANESE),
        (CSA, Format::CSA, JAPANESE),
        (JKF, Format::JKF, JAPANESE),
        (PGN, Format::PGN, 4),
    ] {
        let (plain, _) = read_one(text.as_bytes(), format);
        let mut count = 0;
        for (encoding, bytes) in encodings(text) {
            for format in [Some(format), None] {
                let mut games = record::read(&bytes[..], format);
                let game = games.next().expect("a game");
                assert_eq!(game.expect("it is read"), plain, "{encoding:?}");
            }
            count += 1;
        }
        assert_eq!(count, expected, "{text}");
    }
}

#[test]
fn a_declared_encoding_is_only_a_hint() {
    for declared in ["Shift_JIS", "UTF-8", "EUC-JP"] {
        let kif = format!("# KIF version=2.0 encoding={declared}\n{KIF}");
        let csa = format!("'CSA encoding={}\n{CSA}", declared.to_uppercase());
        for (text, format) in [(kif, Format::KIF), (csa, Format::CSA)] {
            for (encoding, bytes) in encodings(&text) {
                let (game, notices) = read_one(&bytes, format);
                assert!(game.player(Side::First).is_some_and(|name| name.starts_with('甲')));
                assert_eq!(game.player(Side::Second), Some("乙"), "{declared} {encoding:?}");
                assert_eq!(notices, [], "{declared} {encoding:?}");
            }
        }
    }
}

#[test]
fn names_of_encodings_have_aliases() {
    for encoding in Encoding::ALL {
        assert_eq!(Encoding::from_name(encoding.name()), Some(encoding));
    }
    for (name, encoding) in [
        ("sjis", Some(Encoding::ShiftJis)),
        ("CP932", Some(Encoding::ShiftJis)),
        ("latin1", Some(Encoding::Windows1252)),
        ("utf8", Some(Encoding::Utf8)),
        ("koi8-r", None),
    ] {
        assert_eq!(Encoding::from_name(name), encoding, "{name}");
    }
}

/// Without the tables of an encoding, its text is an error, and never other characters.
#[test]
fn encodings_without_tables_are_errors() {
    // 先手：あ and 後手：ア.
    let kif = |name: &[u8], sign: &[u8]| [name, sign, b"\n   1 7g7f\n"].concat();
    for (encoding, bytes) in [
        (Encoding::ShiftJis, kif(b"\x90\xE6\x8E\xE8", b"\x81\x46\x82\xA0")),
        (Encoding::ShiftJis, kif(b"\x8C\xE3\x8E\xE8", b"\x81\x46\x83\x41")),
        (Encoding::EucJp, kif(b"\xC0\xE8\xBC\xEA", b"\xA1\xA7\xA4\xA2")),
        (Encoding::EucJp, kif(b"\xB8\xE5\xBC\xEA", b"\xA1\xA7\xA5\xA2")),
    ] {
        let mut declared = format!("#KIF version=2.0 encoding={}\n", encoding.name()).into_bytes();
        declared.extend(&bytes);
        for bytes in [&bytes, &declared] {
            for format in [Some(Format::KIF), None] {
                let found = match record::read(&bytes[..], format).next() {
                    Some(Err(error)) => match error.kind {
                        RecordErrorKind::Io(error) => {
                            let error = error.get_ref().and_then(|error| error.downcast_ref());
                            error.map(|UnsupportedEncoding(encoding)| *encoding)
                        }
                        other => panic!("{encoding:?}: {other}"),
                    },
                    Some(Ok(_)) => None,
                    None => panic!("{encoding:?}: no game"),
                };
                assert_eq!(found, (!encoding.is_supported()).then_some(encoding));
            }
        }
    }
    let record = record::GameRecord::new(Position::start(Game::Shogi));
    for encoding in Encoding::ALL {
        let written = record::write_encoded(&record, Format::KIF, encoding, &mut Vec::new());
        // The format writes Japanese text in all games.
        let is_possible = encoding.is_supported() || encoding == Encoding::Windows1252;
        assert_eq!(written.is_ok(), is_possible, "{encoding:?}");
        if let Err(error) = written {
            assert!(error.to_string().contains(encoding.name()), "{error}");
            assert!(error.source().is_none_or(|source| !source.is::<UnsupportedEncoding>()));
        }
    }
}
