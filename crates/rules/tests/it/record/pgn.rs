//! PGN: unusual files, broken files, and round trips.

use std::io::{self, Read};
use std::time::Duration;

use proptest::prelude::*;
use readyok_protocol::Score;
use readyok_rules::GameResult;
use readyok_rules::record::{
    self, Defect, Evaluation, Format, GameRecord, Limit, Limits, Mark, MarkColor, Nag, Node,
    NodeId, NoticeReason, PgnOptions, ReadExtent, RecordErrorKind, Records, Tag, write_pgn,
};
use readyok_rules::{CastlingForm, Game, Notation, Position, Side, Square};

use super::{check_round_trip, games, mainline_notes, read_all, read_one, written};

/// The main line in UCI notation.
fn uci_moves(record: &GameRecord) -> String {
    let moves: Vec<String> = record
        .mainline()
        .filter_map(Node::mv)
        .map(|mv| mv.to_uci(record.game().castling_form()))
        .collect();
    moves.join(" ")
}

#[track_caller]
fn check_moves(text: &str, expected: &str) -> GameRecord {
    let (record, _) = read_one(text.as_bytes(), Format::PGN);
    assert_eq!(uci_moves(&record), expected, "{text}");
    record
}

#[track_caller]
fn check_error(text: &str, expected: &str) {
    let mut games = read_all(text.as_bytes(), Format::PGN);
    let error = games.remove(0).err().unwrap_or_else(|| panic!("{text} was read"));
    assert_eq!(error.to_string(), expected, "{text}");
    for game in games {
        assert_eq!(uci_moves(&game.expect("the next game is read")), "e2e4 e7e5", "{text}");
    }
}

const NEXT: &str = "\n\n[Event \"next\"]\n\n1. e4 e5 *\n";

#[test]
fn reads_lenient_moves() {
    check_moves("1. e4 e5 2. Nf3 Nc6 *", "e2e4 e7e5 g1f3 b8c6");
    check_moves("1.e4 e5 2.Nf3 Nc6 *", "e2e4 e7e5 g1f3 b8c6");
    check_moves("e4 e5 Nf3 Nc6", "e2e4 e7e5 g1f3 b8c6");
    check_moves("1 e4 e5 2 Ng1f3 Nb8-c6 *", "e2e4 e7e5 g1f3 b8c6");
    check_moves("1. e2e4 e7-e5 2. g1f3 1/2", "e2e4 e7e5 g1f3");
    check_moves("1. e4! e5?? 2. Nf3!? $14 Nc6 1-0", "e2e4 e7e5 g1f3 b8c6");
    check_moves("1.e4\re5\r2.Nf3\r\n1-0", "e2e4 e7e5 g1f3");
    check_moves("\u{feff}\u{feff}1. e4 *", "e2e4");
    check_moves("1. e4 e6 2. e5 d5 3. exd6 e.p. *", "e2e4 e7e6 e4e5 d7d5 e5d6");
    check_moves("1. e4 e6 2. e5 d5 3. exd6e.p. Bxd6 *", "e2e4 e7e6 e4e5 d7d5 e5d6 f8d6");
    let castling = "[FEN \"r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1\"]\n\n";
    check_moves(&format!("{castling}1. 0-0 O-O-O+ *"), "e1g1 e8c8");
    check_moves(&format!("{castling}1. e1g1 e8a8 *"), "e1g1 e8c8");
    let promotion = "[FEN \"8/P3k3/8/8/8/8/8/4K3 w - - 0 1\"]\n\n";
    for text in ["a8=Q", "a8Q", "a8/Q", "a7a8q", "a7-a8=Q", "a8=Q#+"] {
        check_moves(&format!("{promotion}1. {text} *"), "a7a8q");
    }
}

#[test]
fn reads_lenient_tags() {
    let (record, warnings) = read_one(
        b"[White \"\\\"Big\\\" \\\\ Al\"]  [Black\t\"\xe9mile\" ]\n[Site \"the \"best\" bar\"]\n\
          [Round 3]\n[Annotator \"open]\n[A_b \"1\"]\n[A_b \"2\"]\n1. e4 *",
        Format::PGN,
    );
    let headers: Vec<(&str, &str)> = record.headers.iter().collect();
    assert_eq!(
        headers,
        [
            ("White", "\"Big\" \\ Al"),
            ("Black", "émile"),
            ("Site", "the \"best\" bar"),
            ("Round", "3"),
            ("Annotator", "open"),
            ("A_b", "1"),
            ("A_b", "2"),
        ]
    );
    let names: Vec<String> = warnings.iter().map(|warning| warning.reason.to_string()).collect();
    assert_eq!(names.len(), 3, "{names:?}");
    assert_eq!(record.player(Side::Second), Some("émile"));
}

#[test]
fn tags_determine_game_and_start_position() {
    let chess960 = "[Variant \"Fischerandom\"]\n[SetUp \"1\"]\n\
        [FEN \"1rkr4/ppp1pppp/8/3pP3/8/8/PPPP1PPP/1RKR4 w DBdb - 0 9\"]\n\n9. O-O O-O *";
    let record = check_moves(chess960, "c1d1 c8d8");
    assert_eq!((record.game(), record.headers.len()), (Game::Chess960, 0));
    let lichess =
        "[Variant \"From Position\"]\n[FEN \"4k3/8/8/8/8/8/8/4K2R w K - 0 1\"]\n\n1. O-O *";
    assert_eq!(check_moves(lichess, "e1g1").game(), Game::Chess);
    check_error(
        &format!("[Variant \"Crazyhouse\"]\n\n1. e4 *{NEXT}"),
        "game 1, line 3, column 1: the game `Crazyhouse` is not supported",
    );
    check_error(
        &format!("[FEN \"nonsense w - - 0 1\"]\n\n1. e4 *{NEXT}"),
        "game 1, line 3, column 1: bad start position: the board has 1 ranks; 8 are required",
    );
}

#[test]
fn reads_commands_in_comments() {
    let (record, warnings) = read_one(
        b"1. e4 { [%eval 0.25,18] [%clk 0:09:58.5] a good [%foo bar] move [%clk 9] } \
          e5 {[%csl Ge4,Rd5][%cal Ye2e4]} 2. Nf3 {[%emt 0:00:04] [%eval #-3]} *",
        Format::PGN,
    );
    assert_eq!(warnings, []);
    let notes = mainline_notes(&record);
    assert_eq!(notes[0].evaluation, Some(Evaluation { score: Score::Cp(25), depth: Some(18) }));
    assert_eq!(notes[0].clock, Some(Duration::from_millis(598_500)));
    assert_eq!(notes[0].comments, ["a good [%foo bar] move [%clk 9]"]);
    assert_eq!(notes[1].marks.len(), 3);
    assert_eq!(notes[1].comments, [""; 0]);
    assert_eq!(notes[2].elapsed, Some(Duration::from_secs(4)));
    assert_eq!(
        notes[2].evaluation,
        Some(Evaluation { score: Score::MatedIn { plies: 5 }, depth: None })
    );
}

#[test]
fn marks_of_another_board_are_not_written() {
    let mark = |game, from, to: Option<&str>| Mark {
        color: MarkColor::Red,
        from: Square::read(game, from).expect("a square"),
        to: to.map(|to| Square::read(game, to).expect("a square")),
    };
    let mut record = GameRecord::new(Position::start(Game::Chess));
    let notes = record.annotations_mut(NodeId::ROOT).expect("the root");
    notes.marks = vec![
        mark(Game::Shogi, "1i", None),
        mark(Game::Chess, "h1", None),
        mark(Game::Chess, "e2", Some("e4")),
        mark(Game::Shogi, "7g", Some("7i")),
    ];
    let text = String::from_utf8(written(&record, Format::PGN)).expect("UTF-8");
    assert!(text.contains("{ [%csl Rh1] [%cal Re2e4] }"), "{text}");
}

#[test]
fn engine_output_in_comments_can_have_line_breaks() {
    let text = b"1. e4 {+0.54/12\n0.31s} e5 {+0.10/11\r\n0.25s,\r\nn=1200} *";
    let (record, _) = read_one(text, Format::PGN);
    let notes = mainline_notes(&record);
    let depths = notes.iter().map(|notes| notes.evaluation.and_then(|evaluation| evaluation.depth));
    assert_eq!(depths.collect::<Vec<_>>(), [Some(12), Some(11)]);
    let times = notes.iter().filter_map(|notes| notes.elapsed);
    assert_eq!(times.collect::<Vec<_>>(), [310, 250].map(Duration::from_millis));
    assert_eq!(notes[0].comments, [""; 0]);
    assert_eq!(notes[1].comments, ["n=1200"]);
}

#[test]
fn reads_the_comments_of_match_runners() {
    let (record, _) = read_one(
        b"1. e4 {+0.54/12 0.31s} e5 {+0.10/11 0.25s, n=1200} 2. Nf3 {book} Nc6 {-M4/9 1s, White mates}\
          3. Bc4 {0.00/1} Nf6 {1/2 open} *",
        Format::PGN,
    );
    let notes = mainline_notes(&record);
    let scores: Vec<_> = notes
        .iter()
        .map(|notes| notes.evaluation.map(|evaluation| (evaluation.score, evaluation.depth)))
        .collect();
    assert_eq!(
        scores,
        [
            Some((Score::Cp(54), Some(12))),
            Some((Score::Cp(-10), Some(11))),
            None,
            Some((Score::MateIn { plies: 4 }, Some(9))),
            Some((Score::Cp(0), Some(1))),
            None,
        ]
    );
    assert_eq!(notes[0].elapsed, Some(Duration::from_millis(310)));
    assert_eq!(notes[1].comments, ["n=1200"]);
    assert_eq!(notes[2].comments, ["book"]);
    assert_eq!(notes[3].comments, ["White mates"]);
    assert_eq!(notes[5].comments, ["1/2 open"]);
}

/// Cute Chess writes them if an engine reported no score.
#[test]
fn reads_times_without_scores() {
    let (record, _) = read_one(
        b"1. e4 {1.7s} e5 {25s} 2. Nf3 {0.015s, Black's connection stalls} Nc6 {the 60s} \
          3. Bc4 {s} Nf6 {1.s} *",
        Format::PGN,
    );
    let notes = mainline_notes(&record);
    let times = notes.iter().map(|notes| notes.elapsed.map(|time| time.as_millis()));
    assert_eq!(
        times.collect::<Vec<_>>(),
        [Some(1700), Some(25_000), Some(15), None, None, Some(1000)]
    );
    assert_eq!(notes[0].comments, [""; 0]);
    assert_eq!(notes[2].comments, ["Black's connection stalls"]);
    assert_eq!(notes[3].comments, ["the 60s"]);
    assert_eq!(notes[4].comments, ["s"]);
    check_round_trip(&record, Format::PGN);
}

#[test]
fn comments_are_attached_to_their_moves() {
    let (record, _) = read_one(
        b"{of the game} 1. e4 {one} ;two\n% escaped\n({before} 1. d4 d5 (1... Nf6 2. c4) 2. c4 {in}) {three}\n\
          1... e5 $1 (1... c5!? 2. Nf3 (2. c3)) 2. Nf3 *",
        Format::PGN,
    );
    assert_eq!(record.annotations(NodeId::ROOT).comments, ["of the game"]);
    let line: Vec<_> = record.mainline().collect();
    assert_eq!(record.annotations(line[0].id()).comments, ["one", "two", "three"]);
    assert_eq!(record.annotations(line[1].id()).nags, [Nag(1)]);
    let d4 = record.children(NodeId::ROOT).nth(1).expect("a variation");
    assert_eq!(record.annotations(d4.id()).before, ["before"]);
    assert_eq!(record.children(d4.id()).count(), 2);
    assert_eq!(record.len(), 3 + 3 + 2 + 3);
    check_round_trip(&record, Format::PGN);
}

/// The export format breaks lines at blanks, so a line break in a comment is a blank (PGN standard, 4.3 and 5).
#[test]
fn line_breaks_in_comments_are_blanks() {
    let text = "1. e4 { first\nline,  \r\n\r\n second\rline } ({a\nb} 1. d4) 1... e5 *";
    let (record, notices) = read_one(text.as_bytes(), Format::PGN);
    assert_eq!(notices, []);
    let e4 = record.mainline().next().expect("e4").id();
    assert_eq!(record.annotations(e4).comments, ["first line, second line"]);
    let d4 = record.children(NodeId::ROOT).nth(1).expect("d4").id();
    assert_eq!(record.annotations(d4).before, ["a b"]);
    let mut record = record;
    record.annotations_mut(e4).expect("e4").comments = vec!["one\ntwo\r\n[Event \"x".to_owned()];
    let text = String::from_utf8(written(&record, Format::PGN)).expect("UTF-8");
    assert!(text.contains("1. e4 { one two [Event \"x }"), "{text}");
}

#[test]
fn glyphs_and_comments_before_a_variation_belong_to_its_first_move() {
    let text = "1. e4 e5 ( $142 $1 {text} 1... c5 $10 2. Nf3 ) ( ± 1... e6 ) ( $3 {lost} ) ( $5 ( ) ) 2. d4 *";
    let (record, notices) = read_one(text.as_bytes(), Format::PGN);
    let e4 = record.mainline().next().expect("e4").id();
    let moves: Vec<_> = record.children(e4).map(|node| record.annotations(node.id())).collect();
    assert_eq!(moves[1].nags, [142, 1, 10].map(Nag));
    assert_eq!(moves[1].before, ["text"]);
    assert_eq!(moves[2].nags, [Nag(16)]);
    // Without a move, the comment stays, and the glyph is reported.
    assert_eq!(moves[0].comments, ["lost"]);
    let notices: Vec<String> = notices.iter().map(ToString::to_string).collect();
    assert_eq!(
        notices,
        [
            "line 1, column 74: unexpected `$3`",
            "line 1, column 81: unexpected `(`",
            "line 1, column 85: unexpected `$5`",
        ]
    );
    check_round_trip(&record, Format::PGN);
}

/// Some editors write a byte order mark at the start of every file, also of files that are joined.
#[test]
fn byte_order_marks_between_games_are_blanks() {
    let game = |name: &str| format!("[Event \"{name}\"]\n\n1. e4 {{x}} e5 *\n\n");
    let text = format!("\u{feff}{}\u{feff}{}\n\u{feff}{}", game("a"), game("b"), game("c"));
    let mut games = record::read(text.as_bytes(), Format::PGN);
    for name in ["a", "b", "c"] {
        let record = games.next().expect("a game").expect("it is read");
        assert_eq!((record.header(Tag::Event), record.len()), (Some(name), 2));
        assert_eq!(games.notices(), []);
    }
    assert!(games.next().is_none());
    let open = format!("1. e4 {{open\n\u{feff}{}", game("next"));
    let games: Vec<_> = read_all(open.as_bytes(), Format::PGN);
    assert_eq!(
        games.into_iter().map(|game| game.expect("it is read").len()).collect::<Vec<_>>(),
        [1, 2]
    );
}

#[test]
fn results_come_from_movetext_and_tag() {
    let (record, warnings) = read_one(b"[Result \"1-0\"]\n\n1. e4", Format::PGN);
    assert_eq!(record.result, GameResult::Win(Side::First));
    assert_eq!(
        warnings.last().map(|warning| &warning.reason),
        Some(&NoticeReason::Defect(Defect::MissingResult))
    );
    let (record, warnings) = read_one(b"[Result \"1-0\"]\n\n1. e4 0-1", Format::PGN);
    assert_eq!(record.result, GameResult::Win(Side::Second));
    assert_eq!(warnings.len(), 1);
    let (record, _) = read_one(b"[Result \"1/2-1/2\"]\n\n1. e4 *", Format::PGN);
    assert_eq!(record.result, GameResult::Draw);
    let (record, _) = read_one("1. e4 1–0".as_bytes(), Format::PGN);
    assert_eq!(record.result, GameResult::Win(Side::First));
}

#[test]
fn separates_games() {
    let count = |text: &str| {
        let games = read_all(text.as_bytes(), Format::PGN);
        games.into_iter().map(|game| game.expect("it is read").len()).collect::<Vec<_>>()
    };
    assert_eq!(count(""), [0; 0]);
    assert_eq!(count("\n \n"), [0; 0]);
    assert_eq!(count("1. e4 * 1. d4 d5 *"), [1, 2]);
    assert_eq!(count("1. e4\n\n[Event \"b\"]\n\n1. d4 d5\n"), [1, 2]);
    assert_eq!(count("[Event \"a\"]\n\n[Event \"b\"]\n\n1. d4 d5 *\n"), [0, 2]);
    assert_eq!(count("[Event \"a\"]\n\n*\n\n[Event \"b\"]\n*"), [0, 0]);
    assert_eq!(count("1. e4\n\ne5\n\n2. Nf3 *"), [3]);
}

/// Checks the moves and the notices of the first game of a text, and that the next one is read.
#[track_caller]
fn check_kept(text: &str, moves: &str, expected: &[&str]) {
    let file = format!("{text}{NEXT}");
    let mut games = record::read(file.as_bytes(), Format::PGN);
    let game = games.next().expect("a game");
    let game = game.unwrap_or_else(|error| panic!("{text}: {error}"));
    assert_eq!(uci_moves(&game), moves, "{text}");
    let notices: Vec<String> = games.notices().iter().map(ToString::to_string).collect();
    assert_eq!(notices, expected, "{text}");
    let next = games.next().expect("the next game").expect("it is read");
    assert_eq!(uci_moves(&next), "e2e4 e7e5", "{text}");
    assert!(games.next().is_none(), "{text}");
}

#[test]
fn keeps_a_broken_game_up_to_the_defect_and_reads_the_next_one() {
    check_kept(
        "1. e4 e5 2. Ke3 Nf6",
        "e2e4 e7e5",
        &["line 1, column 13: illegal move `Ke3`: the piece cannot reach the target square; \
            the main line was read up to ply 2"],
    );
    check_kept(
        "\n1. e4\ne5 2. Nf6 Nc6",
        "e2e4 e7e5",
        &["line 3, column 7: illegal move `Nf6`: the piece cannot reach the target square; \
            the main line was read up to ply 2"],
    );
    check_kept(
        "1. d4 d5 2. Nf3 Nf6 3. Nd2",
        "d2d4 d7d5 g1f3 g8f6",
        &["line 1, column 24: illegal move `Nd2`: several moves match: b1d2, f3d2; \
            the main line was read up to ply 4"],
    );
    check_kept(
        "1. e4 hello",
        "e2e4",
        &[
            "line 1, column 7: unexpected `hello`",
            "line 3, column 1: no result after the last move",
        ],
    );
    check_kept(
        "1. e4 {open",
        "e2e4",
        &["line 1, column 7: a comment is not closed; the main line was read up to ply 1"],
    );
    // A result in a skipped variation does not end the game.
    check_kept(
        "1. e4 e5 2. Ke3 {a} (2. Nf3 1-0 {b)",
        "e2e4 e7e5",
        &["line 1, column 13: illegal move `Ke3`: the piece cannot reach the target square; \
            the main line was read up to ply 2"],
    );
    let all = |text: &str| -> Vec<String> {
        read_all(text.as_bytes(), Format::PGN)
            .into_iter()
            .map(|game| {
                game.map(|record| format!("{} {}", uci_moves(&record), record.result.as_str()))
            })
            .collect::<Result<_, _>>()
            .expect("all games are read")
    };
    // Another game can follow a result on the same line.
    assert_eq!(all("1. e4 Kd8 1-0 1. e4 e5 1-0"), ["e2e4 e8d8 1-0", "e2e4 e7e5 1-0"]);
    assert_eq!(all("1. e4 {open"), ["e2e4 *"]);
}

#[test]
fn truncates_a_broken_variation() {
    let (record, warnings) = read_one(
        b"1. e4 (1. d4 d5 2. Ke3 (2. c4 {x}) Nf6) (1. c4 --) (1. Nf3) 1... e5 (2. hello) 2. Nf3 *",
        Format::PGN,
    );
    assert_eq!(uci_moves(&record), "e2e4 e7e5 g1f3");
    assert_eq!(record.len(), 3 + 2 + 2 + 1);
    let cut: Vec<String> = warnings.iter().map(ToString::to_string).collect();
    assert_eq!(
        cut,
        [
            "line 1, column 20: illegal move `Ke3`: the piece cannot reach the target square; \
             the variation was read up to ply 2",
            "line 1, column 73: unexpected `hello`",
        ]
    );
    let (record, warnings) =
        read_one(b"(1. e4 e5) 1. d4 ) d5 ((1... e5)) 2. c4 <x> *", Format::PGN);
    assert_eq!((uci_moves(&record).as_str(), record.len()), ("d2d4 d7d5 c2c4", 3));
    assert_eq!(warnings.len(), 5, "{warnings:?}");
}

#[test]
fn keeps_games_up_to_a_limit() {
    let limits = Limits {
        game_bytes: 400,
        comment_bytes: 100,
        headers: 3,
        header_bytes: 50,
        moves: 20,
        plies: 12,
        depth: 3,
    };
    let shuffle = "Nf3 Nf6 Ng1 Ng8 ".repeat(10);
    let deep = format!("e4 {}", "(d4 ".repeat(4));
    let wide = format!("e4 {}", "(d4) ".repeat(21));
    let all = ReadExtent::All;
    for (text, limit, kept, moves) in [
        (" ".repeat(500), Limit::GameTooLarge, ReadExtent::MainLine(0), 0),
        (format!("{{{}}} e4", "x".repeat(101)), Limit::CommentTooLong, all, 1),
        (format!("{{{}}} e4", "x".repeat(1000)), Limit::CommentTooLong, all, 0),
        (format!(";{}\ne4", "x".repeat(101)), Limit::CommentTooLong, all, 1),
        ("[A \"\"]\n".repeat(4) + "e4", Limit::TooManyHeaders, all, 1),
        (format!("[A \"{}\"] e4", "x".repeat(51)), Limit::HeaderTooLong, all, 1),
        (format!("[{} \"\"] e4", "x".repeat(51)), Limit::HeaderTooLong, all, 1),
        (shuffle, Limit::LineTooLong, ReadExtent::MainLine(12), 12),
        (deep, Limit::NestingTooDeep, all, 4),
        (wide, Limit::TooManyMoves, ReadExtent::Variation(0), 20),
    ] {
        let file = format!("[T \"\"]\n{text}\n\n[Event \"next\"]\n\n1. e4 e5 *");
        let mut games = Records::new(file.as_bytes(), Format::PGN, limits);
        let game = games.next().expect("a game").expect("it is read in part");
        let exceeded = NoticeReason::LimitExceeded(limit);
        let notice = games.notices().iter().find(|notice| notice.reason == exceeded);
        assert_eq!(notice.map(|notice| notice.kept), Some(kept), "{limit}: {:?}", games.notices());
        assert_eq!(game.len(), moves, "{limit}");
        let next = games.last().expect("another game").expect("it is read");
        assert_eq!(uci_moves(&next), "e2e4 e7e5", "{limit}");
    }
}

#[test]
fn limitations_are_those_of_the_documentation() {
    let mut record = GameRecord::new(Position::start(Game::Chess));
    let mv = record.position().parse_move("e2e4").expect("legal");
    let id = record.play(mv).expect("legal");
    record.headers.push("Füße", "two\nlines");
    record.finish(readyok_rules::Termination::TimeForfeit);
    let notes = record.annotations_mut(id).expect("it is there");
    notes.comments = vec![" {a}\nb ".to_owned(), "x\n[Event \"".to_owned()];
    notes.clock = Some(Duration::from_nanos(1_234_567_890));
    let text = String::from_utf8(written(&record, Format::PGN)).expect("UTF-8");
    assert_eq!(
        text,
        "[Event \"?\"]\n[Site \"?\"]\n[Date \"????.??.??\"]\n[Round \"?\"]\n[White \"?\"]\n\
         [Black \"?\"]\n[Result \"1-0\"]\n[F__e \"two lines\"]\n[Termination \"time forfeit\"]\n\n\
         1. e4 { [%clk 0:00:01.234] } ; {a} b\n{ x [Event \" } 1-0\n\n"
    );
    let (read, warnings) = read_one(text.as_bytes(), Format::PGN);
    assert_eq!(warnings, []);
    assert_eq!(read.termination(), Some(readyok_rules::Termination::TimeForfeit));
    assert_eq!(read.annotations(read.last()).comments, ["{a} b", "x [Event \""]);
    assert!(
        record::write(&GameRecord::new(Position::start(Game::Shogi)), Format::PGN, &mut vec![])
            .is_err()
    );
}

#[test]
fn lines_have_up_to_eighty_columns() {
    let text = "1. Nf3 Nf6 2. Ng1 Ng8 3. Nf3 Nf6 4. Ng1 Ng8 (4... Rg8 5. Nf3 (5. e4 e5 6. d4)) "
        .to_owned()
        + &"Nf3 Nf6 Ng1 Ng8 ".repeat(40);
    let (record, _) = read_one(text.as_bytes(), Format::PGN);
    let written = String::from_utf8(written(&record, Format::PGN)).expect("UTF-8");
    let longest = written.lines().map(str::len).max().expect("lines");
    assert!((70..=79).contains(&longest), "{longest}\n{written}");
    assert!(written.contains("4... Rg8 5. Nf3 (5. e4 e5 6. d4))"), "{written}");
}

/// Returns bytes one by one, then fails.
struct Broken<'a>(&'a [u8]);

impl Read for Broken<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let Some((first, rest)) = self.0.split_first() else {
            return Err(io::Error::other("broken"));
        };
        self.0 = rest;
        buffer[0] = *first;
        Ok(1)
    }
}

#[test]
fn a_failing_source_ends_the_games() {
    let games: Vec<_> = record::read(Broken(b"1. e4 * 1. e4 e5"), Format::PGN).collect();
    assert_eq!(games.len(), 2);
    assert!(games[0].is_ok());
    assert!(matches!(games[1], Err(ref error) if matches!(error.kind, RecordErrorKind::Io(_))));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn games_survive_a_round_trip(
        start in games::chess_start(),
        plan in games::plan(games::pgn_notes(), 0..60),
        headers in prop::collection::vec(("[A-Za-z][A-Za-z0-9_]{0,8}", games::text()), 0..5),
    ) {
        let mut record = games::build(&start, plan);
        for (name, value) in headers {
            record.headers.push(name, value);
        }
        check_round_trip(&record, Format::PGN);
    }

    #[test]
    fn arbitrary_bytes_do_not_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        read_all(&bytes, Format::PGN);
    }

    /// A move followed by any text is that move only if the text cannot belong to it.
    #[test]
    fn text_after_a_move_changes_no_move(
        junk in "[,/|'&_~。a-hNx1-8=+#:@é王-]{1,90}",
        plies in 0..5_usize,
    ) {
        const LINE: [(&str, &str); 6] = [
            ("e4", "e2e4"), ("e5", "e7e5"), ("Nf3", "g1f3"), ("Nc6", "b8c6"), ("Bb5", "f1b5"), ("a6", "a7a6"),
        ];
        let mut text = String::new();
        for (index, (san, _)) in LINE.iter().enumerate() {
            text += san;
            if index == plies {
                text += &junk;
            }
            text.push(' ');
        }
        let (record, notices) = read_one(format!("{text}*").as_bytes(), Format::PGN);
        let moves: Vec<_> =
            record.mainline().filter_map(|node| node.mv()?.legal()).map(|mv| mv.to_uci(CastlingForm::KingMove)).collect();
        let expected: Vec<_> = LINE.iter().map(|(_, uci)| *uci).collect();
        // Either the move is read, or the junk made it another text.
        let first = junk.chars().next().expect("not empty");
        if first.is_alphanumeric() || "+#=:@-x".contains(first) {
            prop_assert_eq!(&moves[..plies.min(moves.len())], &expected[..plies.min(moves.len())]);
        } else if !junk.contains(',') {
            prop_assert_eq!(&moves, &expected);
            prop_assert!(!notices.is_empty(), "{}", text);
        }
    }

    #[test]
    fn arbitrary_tokens_do_not_panic(
        tokens in prop::collection::vec(
            prop::sample::select(vec![
                "e4", "d5", "Nf3", "exd5", "(", ")", "{", "}", ";", "\n", "[Event \"a\"]", "[", "]",
                "\"", "$1", "$999", "1-0", "*", "--", "[%clk 1:", "%", "O-O", "1.", "\n\n", "!?",
                "e4,e5", "Nf3/Nc3", "d4=", "Nf6+-,", "e40-1", "d4\u{200B}", "\u{FEFF}", "O-O-O,", "Nf31/2",
            ]),
            0..60,
        ),
    ) {
        for game in read_all(tokens.join(" ").as_bytes(), Format::PGN).into_iter().flatten() {
            // The first pass loses what PGN does not support.
            check_round_trip(&read_one(&written(&game, Format::PGN), Format::PGN).0, Format::PGN);
        }
    }
}

#[test]
fn writes_chess960_castling() {
    let text = "[Variant \"Chess960\"]\n[FEN \"4k3/8/8/8/8/8/8/4KR2 w F - 0 1\"]\n\n1. O-O *";
    let record = check_moves(text, "e1f1");
    assert_eq!(
        record
            .mainline()
            .filter_map(Node::mv)
            .map(|mv| mv.to_uci(CastlingForm::KingMove))
            .collect::<Vec<_>>(),
        ["e1g1"]
    );
    check_round_trip(&record, Format::PGN);
}

#[test]
fn repeated_tags_survive_a_round_trip() {
    for tags in [
        "[Event \"x\"]\n[Site \"?\"]\n[Site \"?\"]\n[Site \"?\"]\n",
        "[Event \"?\"]\n[Site \"a\"]\n[Site \"?\"]\n[Site \"b\"]\n",
        "[Site \"?\"]\n[Site \"\"]\n[Site \"?\"]\n[Date \"????.??.??\"]\n[Date \"?\"]\n",
        "[White \"\"]\n[White \"?\"]\n[White \"c\"]\n[White \"\"]\n",
    ] {
        super::laws::pgn(format!("{tags}\n*\n").as_bytes());
    }
}

#[test]
fn options_change_notation_comments_and_numbers() {
    let text = b"1. e4 {best by test} e5 2. Nf3 (2. f4 exf4) Nc6 {book} 3. Bb5 *";
    let (record, _) = read_one(text, Format::PGN);
    let movetext = |options: PgnOptions| {
        let mut out = Vec::new();
        write_pgn(&record, &options, &mut out).expect("a game of chess");
        let text = String::from_utf8(out).expect("UTF-8");
        text.split_once("\n\n").expect("tags").1.trim_end().to_owned()
    };
    let default = PgnOptions::default();
    assert_eq!(
        movetext(default),
        "1. e4 { best by test } 1... e5 2. Nf3 (2. f4 exf4) 2... Nc6 { book } 3. Bb5 *"
    );
    let compact = PgnOptions { renumber: false, padded_comments: false, ..default };
    assert_eq!(
        movetext(PgnOptions { notation: Notation::Long, ..compact }),
        "1. e2-e4 {best by test} e7-e5 2. Ng1-f3 (2. f2-f4 e5xf4) 2... Nb8-c6 {book} 3.\nBf1-b5 *"
    );
    assert_eq!(
        movetext(PgnOptions { notation: Notation::Uci, ..compact }),
        "1. e2e4 {best by test} e7e5 2. g1f3 (2. f2f4 e5f4) 2... b8c6 {book} 3. f1b5 *"
    );
}

#[test]
fn wraps_comments_at_spaces_on_request() {
    let mut record = GameRecord::new(Position::start(Game::Chess));
    let mv = record.position().parse_move("e2e4").expect("a legal move");
    let id = record.play(mv).expect("a legal move");
    record.annotations_mut(id).expect("the move").comments = vec!["ten letters ".repeat(10)];
    let lines = |wrap_comments| {
        let mut out = Vec::new();
        let options = PgnOptions { wrap_comments, ..PgnOptions::default() };
        write_pgn(&record, &options, &mut out).expect("a game of chess");
        let text = String::from_utf8(out).expect("UTF-8");
        text.lines().skip_while(|line| !line.is_empty()).map(str::len).collect::<Vec<_>>()
    };
    assert_eq!(lines(false), [0, 5, 123, 1, 0]);
    assert!(lines(true).iter().all(|&length| length < 80));
}
