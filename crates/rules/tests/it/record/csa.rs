//! CSA: both versions, several games in a file, broken games, and round trips.

use std::time::Duration;

use proptest::prelude::*;
use readyok_protocol::Score;
use readyok_rules::record::{self, Annotations, Evaluation, Format, Node, Tag};
use readyok_rules::{GameResult, Termination};
use readyok_rules::{Side, record::GameRecord};

use super::kif::{finish, no_time, uci_moves};
use super::{check_round_trip, games, read_all, read_one, written};

const GAME: &str = include_str!("../data/record_csa/game.txt");

#[test]
fn reads_a_game() {
    let (record, warnings) = read_one(GAME.as_bytes(), Format::CSA);
    assert_eq!((uci_moves(&record).as_str(), warnings), ("7g7f 3c3d 8h2b+ 3a2b B*5e", vec![]));
    assert_eq!(record.player(Side::First), Some("Asahi"));
    assert_eq!(record.header(Tag::Event), Some("spring"));
    assert_eq!(record.headers.get("$X"), Some("a:b"));
    assert_eq!(record.result, GameResult::Win(Side::First));
    let first = record.annotations(record.mainline().next().expect("a move").id());
    assert_eq!(first.elapsed, Some(Duration::from_secs(6)));
    assert_eq!(first.evaluation, Some(Evaluation { score: Score::Cp(30), depth: None }));
    assert_eq!(first.comments, ["good\n-3334FU +2726FU #1200"]);
    let end = record.annotations(record.last()).end.clone();
    assert_eq!(end.and_then(|end| end.elapsed), Some(Duration::from_secs(1)));
    check_round_trip(&record, Format::CSA);
}

#[test]
fn reads_positions_in_every_form() {
    for (text, sfen) in [
        ("PI82HI22KA\n-\n", "lnsgkgsnl/9/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w - 1"),
        ("P-51OU\nP+59OU53TO00KI\nP-00AL\n+\n", "4k4/9/4+P4/9/9/9/9/9/4K4 b G2r2b3g4s4n4l17p 1"),
        (
            "P1-KY-KE *  * -OU\nP3 * \nP9 *  *  *  * +OU\nP+00FU00FU\n+\n",
            "ln2k4/9/9/9/9/9/9/9/4K4 b 2P 1",
        ),
        ("-\n", "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w - 1"),
    ] {
        let (record, warnings) = read_one(text.as_bytes(), Format::CSA);
        assert_eq!(record.start().to_string(), sfen, "{text}");
        // The rows of the standard have nine squares.
        let is_complete = !text.contains("P1-KY");
        assert_eq!(warnings.is_empty(), is_complete, "{text}: {warnings:?}");
        check_round_trip(&record, Format::CSA);
    }
}

#[test]
fn rows_that_are_short_or_missing_are_reported() {
    let (record, warnings) = read_one(
        "P1-KY-KE *  * -OU\nP3 * \nP9 *  *  *  *  *  *  *  * +OU\n+\n".as_bytes(),
        Format::CSA,
    );
    assert_eq!(record.start().to_string(), "ln2k4/9/9/9/9/9/9/9/8K b - 1");
    let warnings: Vec<String> = warnings.iter().map(ToString::to_string).collect();
    assert_eq!(
        warnings,
        [
            "line 1, column 1: rank a has the wrong number of squares; missing squares are empty",
            "line 2, column 1: rank c has the wrong number of squares; missing squares are empty",
            "line 4, column 1: the board has 3 ranks; 9 are required; missing squares are empty",
        ]
    );
    // A row whose squares are not aligned would shift its pieces.
    for row in ["P2 *-HI *  *  *  *  * -KA * ", "P2 * -HI *  *  *  *  *  * -KA * "] {
        let error = read_all(format!("{row}\n+\n").as_bytes(), Format::CSA).remove(0);
        assert!(error.is_err(), "{row}");
    }
}

/// KIF names the players of a handicap game 下手 and 上手.
#[test]
fn handicap_games_and_titles_survive_csa() {
    let kif = "表題：名局\n棋戦：秋\n手合割：二枚落ち\n下手：甲\n上手：乙\n手数----指手---------消費時間--\n   1 ６二銀(71)\n";
    let (record, _) = read_one(kif.as_bytes(), Format::KIF);
    let csa = String::from_utf8(written(&record, Format::CSA)).expect("UTF-8");
    assert!(csa.contains("N+甲\nN-乙\n$表題:名局\n$EVENT:秋\n"), "{csa}");
    let (read, warnings) = read_one(csa.as_bytes(), Format::CSA);
    assert_eq!(warnings, []);
    let headers: Vec<_> = read.headers.iter().collect();
    assert_eq!(headers, [("下手", "甲"), ("上手", "乙"), ("表題", "名局"), ("棋戦", "秋")]);
    let again = String::from_utf8(written(&read, Format::KIF)).expect("UTF-8");
    assert!(
        again.contains("下手：甲\n上手：乙\n表題：名局\n棋戦：秋\n手合割：二枚落ち\n"),
        "{again}"
    );
    // Names with another meaning in KIF keep the sign of CSA.
    let (read, _) = read_one("N+a\n$手合割:x\n$先手:y\nPI\n+\n".as_bytes(), Format::CSA);
    let headers: Vec<_> = read.headers.iter().collect();
    assert_eq!(headers, [("先手", "a"), ("$手合割", "x"), ("$先手", "y")]);
}

#[test]
fn reads_several_games() {
    let count = |text: &str| {
        let games = read_all(text.as_bytes(), Format::CSA);
        games.into_iter().map(|game| game.expect("it is read").len()).collect::<Vec<_>>()
    };
    assert_eq!(count(&format!("{GAME}/\nPI\n+\n+7776FU\n")), [5, 1]);
    assert_eq!(count(&format!("{GAME}{GAME}")), [5, 5]);
    assert_eq!(count(&format!("{GAME}/\n/\n")), [5]);
    assert_eq!(count("'only a comment\n"), [0; 0]);
    assert_eq!(count(""), [0; 0]);
}

#[test]
fn reads_ends() {
    for (keyword, end, result) in [
        ("TORYO", Termination::Resignation, GameResult::Win(Side::First)),
        ("TSUMI", Termination::Checkmate, GameResult::Win(Side::First)),
        ("TIME_UP", Termination::TimeForfeit, GameResult::Win(Side::First)),
        ("ILLEGAL_MOVE", Termination::IllegalMove, GameResult::Win(Side::First)),
        ("+ILLEGAL_ACTION", Termination::IllegalMove, GameResult::Win(Side::Second)),
        ("KACHI", Termination::Declaration, GameResult::Win(Side::Second)),
        ("SENNICHITE", Termination::Repetition, GameResult::Draw),
        ("HIKIWAKE", Termination::DrawAgreement, GameResult::Draw),
        ("JISHOGI", Termination::Impasse, GameResult::Draw),
        ("MAX_MOVES", Termination::MoveLimit, GameResult::Draw),
        ("CHUDAN", Termination::Aborted, GameResult::Unknown),
        ("MATTA", Termination::TakeBack, GameResult::Unknown),
        ("FUZUMI", Termination::NoMate, GameResult::Unknown),
        ("ERROR", Termination::Error, GameResult::Unknown),
        ("SOMETHING", Termination::Other, GameResult::Unknown),
    ] {
        let (record, _) = read_one(format!("PI\n+\n+7776FU\n%{keyword}\n").as_bytes(), Format::CSA);
        assert_eq!((record.termination(), record.result), (Some(end), result), "{keyword}");
        let text = String::from_utf8(written(&record, Format::CSA)).expect("UTF-8");
        assert!(text.contains(&format!("%{keyword}\n")), "{text}");
        check_round_trip(&record, Format::CSA);
        check_round_trip(&record, Format::JKF);
    }
}

#[test]
fn reports_a_broken_game_and_reads_the_next_one() {
    for (text, expected) in [
        (
            "PI\n+\n+7775FU\n",
            "line 3, column 1: illegal move `7g7e`: the piece cannot reach the target square",
        ),
        (
            "PI\n+\n+7776FU,-3335FU\n",
            "line 3, column 9: illegal move `3c3e`: the piece cannot reach the target square",
        ),
        ("PI\n+\n+7776XX\n", "line 3, column 1: `+7776XX` is not a legal move"),
        ("PI\n+\n+777\n", "line 3, column 1: `+777` is not a legal move"),
        ("PI\n+\n%TORYO\n+7776FU\n", "line 4, column 1: unexpected `+7776FU`"),
        ("PI\n%TORYO\n", "line 2, column 1: unexpected `%TORYO`"),
        ("PI55FU\n+\n", "line 1, column 1: unexpected `PI55FU`"),
        ("P1xKY\n+\n", "line 1, column 1: unexpected `P1xKY`"),
        ("P-51OU41OU\n+\n", "line 2, column 1: bad start position: White (gote) has 2 kings"),
    ] {
        for next in ["/\nPI\n+\n+7776FU\n", "V2.2\nPI\n+\n+7776FU\n"] {
            let file = format!("{text}{next}");
            let mut games = record::read(file.as_bytes(), Format::CSA);
            let found = match games.next().expect("a game") {
                Err(error) => error.to_string(),
                Ok(_) => games.notices()[0].to_string(),
            };
            assert!(found.trim_start_matches("game 1, ").starts_with(expected), "{found}");
            let next = games.next().expect("another game").expect("it is read");
            assert_eq!(uci_moves(&next), "7g7f");
            assert!(games.next().is_none());
        }
    }
}

#[test]
fn writes_version_3_if_required() {
    let version = |text: &str| {
        let (record, _) = read_one(text.as_bytes(), Format::CSA);
        let text = String::from_utf8(written(&record, Format::CSA)).expect("UTF-8");
        text.lines().nth(1).map(str::to_owned)
    };
    assert_eq!(version("PI\n+\n+7776FU\nT1\n").as_deref(), Some("V2.2"));
    assert_eq!(version("PI\n+\n+7776FU\nT1.5\n").as_deref(), Some("V3.0"));
    assert_eq!(version("PI\n+\n%MAX_MOVES\n").as_deref(), Some("V3.0"));
}

#[cfg(feature = "encodings")]
#[test]
fn writes_and_reads_both_encodings() {
    let text = GAME.replace("Asahi", "あさひ");
    let (record, _) = read_one(text.as_bytes(), Format::CSA);
    let mut bytes = Vec::new();
    record::write_encoded(&record, Format::CSA, record::Encoding::ShiftJis, &mut bytes)
        .expect("it is shogi");
    assert!(bytes.starts_with(b"'CSA encoding=SHIFT_JIS\n"));
    assert!(read_one(&bytes, Format::CSA).0 == record);
}

/// The main line as a record of its own.
fn without_variations(record: &GameRecord) -> GameRecord {
    let mut main = GameRecord::new(record.start().clone());
    main.headers = record.headers.clone();
    for node in record.mainline() {
        let id = main.play(node.mv().expect("a move")).expect("it is legal");
        *main.annotations_mut(id).expect("it is there") = record.annotations(node.id()).clone();
    }
    let root = record.annotations(record::NodeId::ROOT);
    *main.annotations_mut(record::NodeId::ROOT).expect("a root") =
        Annotations { end: None, ..root.clone() };
    main
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn games_survive_a_round_trip(
        start in games::shogi_start(),
        plan in games::plan(games::milliseconds(), 0..60),
        end in games::end(),
        name in games::text(),
    ) {
        let mut record = games::build(&start, games::Plan { root: no_time(plan.root), ..plan });
        // CSA has no number of the first move.
        prop_assume!(start.to_string().ends_with(" 1"));
        record = without_variations(&record);
        record.set_player(Side::Second, name);
        finish(&mut record, end);
        check_round_trip(&record, Format::CSA);
    }

    #[test]
    fn arbitrary_bytes_do_not_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        read_all(&bytes, Format::CSA);
    }

    #[test]
    fn arbitrary_lines_do_not_panic(
        lines in prop::collection::vec(
            prop::sample::select(GAME.lines().chain([
                "/", "-", "P1-KY", "P+00AL", "P-0", "PI8", "T", "T99999999999", "%", "%あ", "+あ", "'**",
                "'CSA encoding=", "$", "P", "P9あいう", "+0000FU", "-9999OU", "T1.99999999999999", "V3.0",
            ]).collect::<Vec<_>>()),
            0..40,
        ),
    ) {
        for game in read_all(lines.join("\n").as_bytes(), Format::CSA).into_iter().flatten() {
            let once = read_one(&written(&game, Format::CSA), Format::CSA).0;
            assert_eq!(read_one(&written(&once, Format::CSA), Format::CSA).0, once);
        }
    }
}

#[test]
fn main_line_is_complete() {
    let (record, _) = read_one(GAME.as_bytes(), Format::CSA);
    assert!(without_variations(&record).mainline().map(Node::ply).eq(1..=5));
}
