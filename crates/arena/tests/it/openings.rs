//! Openings: all sources, orders, and invalid openings.

use std::io::Write as _;
use std::path::Path;

use proptest::prelude::*;
use readyok_arena::openings::{Book, OpeningDefect, OpeningError, OpeningFault};
use readyok_arena::pairing::Opening;
use readyok_arena::plan::Openings;
use readyok_rules::{EndRules, Game, Impasse};
use tempfile::TempDir;

fn open(game: Game, toml: &str) -> Result<Book, OpeningError> {
    let openings: Openings = toml::from_str(toml).expect(toml);
    Book::open(game, &openings, 7)
}

/// A directory with one file.
pub(crate) fn file(name: &str, bytes: &[u8]) -> (TempDir, String) {
    let directory = TempDir::new().expect("a directory");
    let path = directory.path().join(name);
    std::fs::write(&path, bytes).expect("a file");
    let path = path.to_str().expect("a path in UTF-8").to_owned();
    (directory, path)
}

fn open_file(game: Game, path: &str, more: &str) -> Result<Book, OpeningError> {
    open(game, &format!("source = {{ kind = \"file\", path = '{path}' }}\n{more}"))
}

fn openings(book: &mut Book, count: u64) -> Vec<Opening> {
    (0..count).map(|number| book.get(number).expect("an opening")).collect()
}

/// An opening in one line: index, position, moves and name.
fn shown(opening: &Opening) -> String {
    let position = opening.position.as_deref().unwrap_or("start");
    let name = opening.name.as_deref().unwrap_or("");
    format!("{} {position} [{}] {name}", opening.index, opening.moves.join(" ")).trim().to_owned()
}

fn check(book: Result<Book, OpeningError>, expected: &[&str]) {
    let mut book = book.expect("a book");
    let found: Vec<String> = openings(&mut book, expected.len() as u64).iter().map(shown).collect();
    assert_eq!(found, expected);
}

fn check_error(book: Result<Book, OpeningError>, text: &str) {
    let error = book.and_then(|mut book| book.get(0)).expect_err("an error").to_string();
    assert!(error.ends_with(text), "{error}");
}

const KINGS: &str = "4k3/8/8/8/8/8/8/4K2R w K -";

#[test]
fn epd_positions_have_counters_and_names() {
    let text = format!(
        "\u{feff}{KINGS} id \"one\";\r\n\n# a comment\n{KINGS} 3 20\n{KINGS} hmvc 5; fmvn 9;\nposition \
         startpos moves e2e4 e7e5 g1f3"
    );
    let (_directory, path) = file("book.epd", text.as_bytes());
    check(
        open_file(Game::Chess, &path, "plies = 2"),
        &[
            "0 4k3/8/8/8/8/8/8/4K2R w K - 0 1 [] one",
            "1 4k3/8/8/8/8/8/8/4K2R w K - 3 20 []",
            "2 4k3/8/8/8/8/8/8/4K2R w K - 5 9 []",
            "3 start [e2e4 e7e5]",
            "0 4k3/8/8/8/8/8/8/4K2R w K - 0 1 [] one",
        ],
    );
    check(
        open_file(Game::Chess, &path, "skip = 3"),
        &["3 start [e2e4 e7e5 g1f3]", "0 4k3/8/8/8/8/8/8/4K2R w K - 0 1 [] one"],
    );
}

const GAMES: &[u8] = b"[Event \"one\"]\n\n1. e4 {a comment\n\n[not \"a header\"]} e5 2. Nf3 (2. f4) \
    2... Nc6 *\n\n[Event \"two\"]\n[SetUp \"1\"]\n[FEN \"4k3/8/8/8/8/8/8/4K2R w K - 0 1\"]\n\n1. O-O 1-0\n\n1. d4 ; { \
    no comment\nd5 *\n";

#[test]
fn splits_pgn_files_into_games() {
    let (_directory, path) = file("book.pgn", GAMES);
    check(
        open_file(Game::Chess, &path, "plies = 3"),
        &[
            "0 start [e2e4 e7e5 g1f3]",
            "1 4k3/8/8/8/8/8/8/4K2R w K - 0 1 [e1g1]",
            "2 start [d2d4 d7d5]",
            "0 start [e2e4 e7e5 g1f3]",
        ],
    );
    let mut book = open_file(Game::Chess, &path, "order = \"random\"").expect("a book");
    let mut found: Vec<u64> = openings(&mut book, 3).iter().map(|opening| opening.index).collect();
    found.sort_unstable();
    assert_eq!(found, [0, 1, 2]);
}

#[test]
fn reads_gzip_books() {
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    packed.write_all(GAMES).expect("bytes");
    let (_directory, path) = file("book.pgn.gz", &packed.finish().expect("bytes"));
    check(open_file(Game::Chess, &path, "plies = 1\nskip = 2"), &["2 start [d2d4]"]);
    let (_directory, path) = file("broken.epd.gz", &[0x1f, 0x8b, 8, 0, 1]);
    assert!(open_file(Game::Chess, &path, "").is_err());
}

#[test]
fn reads_sfen_and_position_commands() {
    let text = "sfen lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1\n\
        startpos moves 7g7f 3c3d\nposition sfen 4k4/9/4P4/9/9/9/9/9/4K4 b G2r2b3g4s4n4l17p 1 moves 5c5b+\n\
        4k4/9/4P4/9/9/9/9/9/4K4 b - 1";
    let (_directory, path) = file("book.sfen", text.as_bytes());
    let mut book = open_file(Game::Shogi, &path, "").expect("a book");
    let found: Vec<String> = openings(&mut book, 4).iter().map(shown).collect();
    let expected = [
        "0 start []",
        "1 start [7g7f 3c3d]",
        "2 4k4/9/4P4/9/9/9/9/9/4K4 b G2r2b3g4s4n4l17p 1 [5c5b+]",
        "3 4k4/9/4P4/9/9/9/9/9/4K4 b - 1 []",
    ];
    assert_eq!(found.first().map(String::as_str), expected.first().copied());
    assert_eq!(found.get(1).map(String::as_str), expected.get(1).copied());
    assert!(found.get(2).is_some_and(|line| line.ends_with("[5c5b+]")), "{found:?}");
    assert_eq!(found.get(3).map(String::as_str), expected.get(3).copied());
}

#[test]
fn reads_a_directory_of_records_by_name() {
    let directory = TempDir::new().expect("a directory");
    let write = |name: &str, text: &str| {
        std::fs::write(directory.path().join(name), text).expect("a file");
    };
    write("b.csa", "V2.2\nPI\n+\n+2726FU\n-8384FU\n%TORYO\n");
    write(
        "a.kif",
        "手合割：平手\n手数----指手---------消費時間--\n   1 ７六歩(77)\n   2 ３四歩(33)\n   3 投了\n",
    );
    write("c.ki2", "手合割：平手\n\n▲７六歩 △８四歩\n");
    write("notes.txt", "nothing");
    let path = directory.path().to_str().expect("a path in UTF-8");
    let expected = ["0 start [7g7f 3c3d]", "1 start [2g2f 8c8d]", "2 start [7g7f 8c8d]"];
    check(open_file(Game::Shogi, path, ""), &expected);
    check(open_file(Game::Shogi, path, "plies = 1"), &["0 start [7g7f]", "1 start [2g2f]"]);
    let one = Path::new(path).join("b.csa");
    let one = one.to_str().expect("a path in UTF-8");
    check(open_file(Game::Shogi, one, ""), &["0 start [2g2f 8c8d]", "0 start [2g2f 8c8d]"]);
}

/// Files of three games each, with the same moves in every format.
fn records() -> [(&'static str, String); 4] {
    let jkf = |moves: &[[u8; 4]]| {
        let moves = moves.iter().zip([0, 1].into_iter().cycle()).map(|([x, y, to_x, to_y], color)| {
            format!(
                r#",{{"move":{{"from":{{"x":{x},"y":{y}}},"to":{{"x":{to_x},"y":{to_y}}},"color":{color},"piece":"FU"}}}}"#
            )
        });
        format!("{{\"moves\":[{{}}{}]}}\n", moves.collect::<String>())
    };
    [
        (
            "book.kif",
            "手合割：平手\n手数----指手---------消費時間--\n   1 ７六歩(77)\n   2 ３四歩(33)\n   3 投了\n\
             手合割：平手\n   1 ２六歩(27)\n手合割：平手\n   1 ９六歩(97)\n   2 投了\n"
                .to_owned(),
        ),
        (
            "book.ki2",
            "手合割：平手\n\n▲７六歩 △３四歩\nまで2手で後手の勝ち\n\n手合割：平手\n\n▲２六歩\n\n\
             手合割：平手\n▲９六歩\n"
                .to_owned(),
        ),
        (
            "book.csa",
            "V2.2\nPI\n+\n+7776FU\n-3334FU\n%TORYO\n/\nPI\n+\n+2726FU\n%CHUDAN\nV2.2\nPI\n+\n+9796FU\n"
                .to_owned(),
        ),
        (
            "book.jkf",
            [&[[7, 7, 7, 6], [3, 3, 3, 4]][..], &[[2, 7, 2, 6]], &[[9, 7, 9, 6]]]
                .map(jkf)
                .concat(),
        ),
    ]
}

#[test]
fn reads_all_games_of_a_shogi_file() {
    let all = ["0 start [7g7f 3c3d]", "1 start [2g2f]", "2 start [9g9f]"];
    let [one, two, three] = all;
    for (name, text) in records() {
        let (_directory, path) = file(name, text.as_bytes());
        check(open_file(Game::Shogi, &path, ""), &[one, two, three, one]);
        check(open_file(Game::Shogi, &path, "skip = 2"), &[three, one, two]);
        check(open_file(Game::Shogi, &path, "plies = 1"), &["0 start [7g7f]", two]);
        let mut book = open_file(Game::Shogi, &path, "order = \"random\"").expect(name);
        let mut found: Vec<String> = openings(&mut book, 3).iter().map(shown).collect();
        found.sort_unstable();
        assert_eq!(found, all, "{name}");
        // Random access, and repeated access.
        let mut book = open_file(Game::Shogi, &path, "").expect(name);
        for number in [2, 0, 1, 2, 1, 0] {
            let opening = book.get(number as u64).expect(name);
            assert_eq!(shown(&opening), all[number], "{name}");
        }
        let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        packed.write_all(text.as_bytes()).expect("bytes");
        let (_directory, path) = file(&format!("{name}.gz"), &packed.finish().expect("bytes"));
        check(open_file(Game::Shogi, &path, ""), &[one, two, three, one]);
    }
}

#[test]
fn reads_all_games_of_a_shogi_directory() {
    let directory = TempDir::new().expect("a directory");
    for (number, (name, text)) in records().into_iter().enumerate() {
        std::fs::write(directory.path().join(format!("{number}-{name}")), text).expect("a file");
    }
    std::fs::write(directory.path().join("2-empty.csa"), "").expect("a file");
    let path = directory.path().to_str().expect("a path in UTF-8");
    let moves = ["[7g7f 3c3d]", "[2g2f]", "[9g9f]"].into_iter().cycle();
    let expected: Vec<String> =
        moves.take(12).enumerate().map(|(index, moves)| format!("{index} start {moves}")).collect();
    let mut book = open_file(Game::Shogi, path, "").expect("a book");
    let found: Vec<String> = openings(&mut book, 12).iter().map(shown).collect();
    assert_eq!(found, expected);
    assert_eq!(book.get(12).expect("an opening").index, 0);
    let mut book = open_file(Game::Shogi, path, "order = \"random\"").expect("a book");
    let mut found: Vec<u64> = openings(&mut book, 12).iter().map(|opening| opening.index).collect();
    found.sort_unstable();
    assert!(found.into_iter().eq(0..12));
}

#[test]
fn skips_and_reports_invalid_records() {
    let text = "V2.2\nPI\n+\n+7776FU\n/\nPI\n+\n+7775FU\n-3334FU\n/\nPI\n+\n+2726FU\n/\nhello\n";
    let (_directory, path) = file("book.csa", text.as_bytes());
    for order in ["sequential", "random"] {
        let mut book = open_file(Game::Shogi, &path, &format!("order = \"{order}\"")).expect(order);
        let mut found: Vec<u64> =
            openings(&mut book, 20).iter().map(|opening| opening.index).collect();
        found.sort_unstable();
        found.dedup();
        assert_eq!(found, [0, 2]);
        let skipped = book.take_skipped().errors;
        let mut texts: Vec<String> =
            skipped.iter().map(|error| error.to_string().replace(&path, "book.csa")).collect();
        texts.sort_unstable();
        assert_eq!(
            texts,
            [
                "book.csa, line 8: illegal move `7g7e`: the piece cannot reach the target square",
                "book.csa: the record has no moves",
            ]
        );
    }
}

/// The parsers of these formats ignore unknown lines.
#[test]
fn rejects_files_that_are_not_records() {
    for (name, text) in [("header.kif", "手合割：平手\n先手：A\n"), ("hello.csa", "hello\n")]
    {
        let (_directory, path) = file(name, text.as_bytes());
        let error = open_file(Game::Shogi, &path, "").and_then(|mut book| book.get(0));
        let error = error.expect_err("an error").to_string();
        assert!(error.ends_with("the only opening is invalid: the record has no moves"), "{error}");
    }
}

#[test]
fn chess960_numbers_are_start_positions() {
    let standard = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w";
    let first = "bbqnnrkr/pppppppp/8/8/8/8/PPPPPPPP/BBQNNRKR w KQkq - 0 1";
    let last = "rkrnnqbb/pppppppp/8/8/8/8/PPPPPPPP/RKRNNQBB w KQkq - 0 1";
    let mut book = open(Game::Chess960, "source = { kind = \"chess960\" }").expect("a book");
    assert_eq!(book.get(0).expect("a start").position.as_deref(), Some(first));
    assert_eq!(book.get(959).expect("a start").position.as_deref(), Some(last));
    assert_eq!(book.get(960).expect("a start").index, 0);
    let mixed = "source = { kind = \"double-chess960\", numbers = [[518, 0]] }";
    let mixed = open(Game::Chess960, mixed).and_then(|mut book| book.get(0)).expect("a start");
    let fen = mixed.position.as_deref().unwrap_or_default();
    assert!(fen.starts_with("bbqnnrkr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w "), "{fen}");
    assert_eq!(mixed.name.as_deref(), Some("double Chess960 518/0"));
    let listed = "source = { kind = \"chess960\", numbers = [518] }";
    let listed = open(Game::Chess960, listed).and_then(|mut book| book.get(0)).expect("a start");
    assert!(listed.position.as_deref().is_none_or(|fen| fen.starts_with(standard)));
}

#[test]
fn skips_openings_that_end_by_the_rules_of_the_match() {
    let text = "sfen 9/4K4/9/9/9/9/9/9/k8 b - 1 moves 5b5a\n\
        sfen 9/4K4/9/9/9/9/9/9/k8 b - 1 moves 5b4a\n";
    let (_directory, path) = file("book.sfen", text.as_bytes());
    let first = |impasse| {
        let mut book = open_file(Game::Shogi, &path, "").expect("a book");
        if let Some(impasse) = impasse {
            let mut rules = EndRules::BOARD;
            rules.shogi.impasse = impasse;
            book = book.with_end_rules(rules);
        }
        let index = book.get(0).expect("an opening").index;
        (index, book.take_skipped().errors.len())
    };
    assert_eq!(first(None), (0, 0));
    assert_eq!(first(Some(Impasse::Try)), (1, 1));
}

#[test]
fn handicaps_have_english_and_japanese_names() {
    for name in ["two pieces", "二枚落ち"] {
        let toml = format!("source = {{ kind = \"handicap\", name = \"{name}\" }}");
        check(
            open(Game::Shogi, &toml),
            &["0 lnsgkgsnl/9/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w - 1 [] two pieces"],
        );
    }
    let unknown = open(Game::Shogi, "source = { kind = \"handicap\", name = \"pawn\" }");
    check_error(
        unknown,
        "shogi has no handicap `pawn`, only lance, right lance, bishop, rook, rook and lance, two pieces, \
             three pieces, four pieces, five pieces, left five pieces, six pieces, right seven pieces, \
             left seven pieces, eight pieces, ten pieces, naked king",
    );
}

/// 1. e4 with weight 3, d4 with weight 1; after 1. e4 only e5.
pub(crate) fn polyglot() -> Vec<u8> {
    let entry = |key: u64, mv: u16, weight: u16| {
        let mut bytes = key.to_be_bytes().to_vec();
        bytes.extend(mv.to_be_bytes());
        bytes.extend(weight.to_be_bytes());
        bytes.extend([0; 4]);
        bytes
    };
    let start = 0x463b_9618_1691_fc9c;
    let e4 = 0x823c_9b50_fd11_4196;
    let entries = [entry(start, 0x031c, 3), entry(start, 0x02db, 1), entry(e4, 0x0d24, 1)];
    entries.concat()
}

#[test]
fn chooses_polyglot_moves_by_weight() {
    let (_directory, path) = file("book.bin", &polyglot());
    let mut book = open_file(Game::Chess, &path, "plies = 8").expect("a book");
    let lines: Vec<String> =
        openings(&mut book, 1000).iter().map(|opening| opening.moves.join(" ")).collect();
    let count = |line: &str| lines.iter().filter(|known| *known == line).count();
    assert_eq!(count("e2e4 e7e5") + count("d2d4"), 1000);
    assert!((700..800).contains(&count("e2e4 e7e5")), "{}", count("e2e4 e7e5"));
    let mut again = open_file(Game::Chess, &path, "plies = 8").expect("a book");
    let twice: Vec<String> =
        openings(&mut again, 1000).iter().map(|opening| opening.moves.join(" ")).collect();
    assert_eq!(twice, lines);

    check_error(open_file(Game::Chess, &path, ""), "a Polyglot book needs `plies`");
    let (_directory, truncated) = file("truncated.bin", &[0; 17]);
    let text = "a Polyglot book has entries of 16 bytes, but the file has 17 bytes";
    check_error(open_file(Game::Chess, &truncated, "plies = 8"), text);
    let (_directory, other) = file("other.bin", &[0; 32]);
    check_error(open_file(Game::Chess, &other, "plies = 8"), "there are no openings");
}

#[test]
fn skips_and_reports_invalid_openings() {
    let text = format!(
        "{KINGS} 0 1\n4k3/8/8/8/8/8/8 w - -\n{KINGS} 0 2\nstartpos moves e2e5\n\
         startpos moves f2f3 e7e5 g2g4 d8h4\nstartpos moves e2e4 hello\n{KINGS} 0 3\n\
         position nowhere moves e2e4\n"
    );
    let (_directory, path) = file("book.epd", text.as_bytes());
    let mut book = open_file(Game::Chess, &path, "").expect("a book");
    let indexes: Vec<u64> = openings(&mut book, 7).iter().map(|opening| opening.index).collect();
    assert_eq!(indexes, [0, 2, 6, 0, 2, 6, 0]);
    let skipped = book.take_skipped();
    let texts: Vec<String> =
        skipped.errors.iter().map(|error| error.to_string().replace(&path, "book.epd")).collect();
    assert_eq!(
        texts,
        [
            "book.epd, line 2: the board has 7 ranks; 8 are required",
            "book.epd, line 4: move 1: illegal move `e2e5`: the piece cannot reach the target square",
            "book.epd, line 5: the game is already over (checkmate)",
            "book.epd, line 6: move 2: illegal move `hello`: not a move of this game",
            "book.epd, line 8: unexpected `nowhere`",
        ]
    );
    assert!(book.take_skipped().is_empty());
    // Repeated access and a new book return the same openings.
    assert_eq!(book.get(1).expect("an opening").index, 2);
    let mut resumed = open_file(Game::Chess, &path, "").expect("a book");
    assert_eq!(resumed.get(5).expect("an opening"), book.get(5).expect("an opening"));
}

#[test]
fn rejects_a_directory_for_chess() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().to_str().expect("UTF-8");
    check_error(open_file(Game::Chess, path, ""), &format!("{path}: the path is a directory"));
}

#[test]
fn rejects_a_book_without_valid_openings() {
    let (_directory, empty) = file("empty.epd", b"\n# nothing\n");
    for order in ["sequential", "random"] {
        let order = format!("order = \"{order}\"");
        check_error(open_file(Game::Chess, &empty, &order), "empty.epd: there are no openings");
        let (_directory, bad) = file("bad.epd", b"hello\nworld\n");
        let error = open_file(Game::Chess, &bad, &order).and_then(|mut book| book.get(0));
        let error = error.expect_err("an error").to_string();
        assert!(error.contains("all 2 openings are invalid: "), "{error}");
    }
    check_error(open_file(Game::Chess, "missing.epd", ""), "(os error 2)");
    check_error(
        open_file(Game::Chess, "book.xyz", ""),
        "unknown file extension; specify the format",
    );
    check_error(open_file(Game::Shogi, "book.pgn", ""), "openings of this kind are not for shogi");
    let number = open(Game::Chess960, "source = { kind = \"chess960\", numbers = [960] }");
    check_error(number, "Chess960 has no start position 960, only 0 to 959");
    // Even if it is not the first one used, or there are others.
    for numbers in [
        "kind = \"chess960\", numbers = [0, 1, 960]",
        "kind = \"double-chess960\", numbers = [[0, 1], [2, 960]]",
    ] {
        let opened = open(Game::Chess960, &format!("source = {{ {numbers} }}"));
        assert!(opened.is_err_and(|error| matches!(
            error.fault,
            OpeningFault::Defect(OpeningDefect::InvalidStartNumber { number: 960 })
        )));
    }
}

#[test]
fn rejects_lines_that_are_too_long() {
    let mut text = vec![b'x'; 3 << 20];
    text.extend(format!("\n{KINGS}\n").bytes());
    let (_directory, path) = file("book.epd", &text);
    let mut book = open_file(Game::Chess, &path, "").expect("a book");
    assert_eq!(book.get(0).expect("an opening").index, 1);
    let skipped = book.take_skipped();
    let text = skipped.errors.first().map(ToString::to_string).unwrap_or_default();
    assert!(text.ends_with("line 1: the opening has more than 1048576 bytes"), "{text}");
}

#[test]
fn finds_the_only_valid_opening() {
    let (_directory, path) =
        file("book.epd", format!("{}{KINGS}\n", "bad\n".repeat(20)).as_bytes());
    for order in ["sequential", "random"] {
        let mut book = open_file(Game::Chess, &path, &format!("order = \"{order}\"")).expect(order);
        assert!(openings(&mut book, 100).iter().all(|opening| opening.index == 20));
        assert_eq!(book.take_skipped().errors.len(), 20);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn uses_each_opening_once_per_pass(
        lines in prop::collection::vec(0_u8..4, 1..60), order in any::<bool>(), skip in 0_u64..100,
    ) {
        let text: String = lines.iter().enumerate().map(|(number, kind)| match kind {
            0 => "bad\n".to_owned(),
            1 => format!("\n# {number}\n"),
            _ => format!("{KINGS} 0 {}\n", number + 1),
        }).collect();
        let good = lines.iter().filter(|&&kind| kind > 1).count() as u64;
        let (_directory, path) = file("book.epd", text.as_bytes());
        let order = if order { "random" } else { "sequential" };
        let settings = format!("skip = {skip}\norder = \"{order}\"");
        let mut book = open_file(Game::Chess, &path, &settings).expect("a book");
        if good == 0 {
            prop_assert!(book.get(0).is_err());
            return Ok(());
        }
        let mut seen: Vec<String> = Vec::new();
        for number in 0..good {
            seen.extend(book.get(number).expect("an opening").position);
        }
        // With a part of one order skipped, the next order starts before all openings were used.
        if skip == 0 || order == "sequential" {
            let count = seen.len();
            seen.sort_unstable();
            seen.dedup();
            prop_assert_eq!(seen.len(), count);
        }
        let mut other = open_file(Game::Chess, &path, &settings).expect("a book");
        for number in (0..good * 3).rev() {
            let (other, one) = (other.get(number), book.get(number));
            prop_assert_eq!(other.expect("an opening"), one.expect("an opening"));
        }
    }
}
