//! Openings from books of both games.

use std::fs;
use std::io::Write as _;
use std::iter;
use std::path::PathBuf;

use readyok_rules::shakmaty::{EnPassantMode, Position as _, zobrist::Zobrist64};
use readyok_rules::{BoardRef, CastlingForm, Game, Position};
use tempfile::{NamedTempFile, TempDir};

use crate::client::Client;

/// The keys of the start position and of the one after e2e4, from the description of the format.
const START: u64 = 0x463b_9618_1691_fc9c;
const AFTER_E4: u64 = 0x823c_9b50_fd11_4196;

const D2D4: u16 = 0x02db;
const E2E4: u16 = 0x031c;
const D7D5: u16 = 0x0ce3;
/// Castling to the king's side.
const E1H1: u16 = 0x0107;

fn polyglot(entries: &[(u64, u16, u16)]) -> NamedTempFile {
    let mut file = NamedTempFile::new().expect("a file");
    for (key, mv, weight) in entries {
        let bytes = [&key.to_be_bytes()[..], &mv.to_be_bytes(), &weight.to_be_bytes(), &[0; 4]];
        file.write_all(&bytes.concat()).expect("a file");
    }
    file
}

fn text_book(text: &str) -> NamedTempFile {
    let mut file = NamedTempFile::new().expect("a file");
    file.write_all(text.as_bytes()).expect("a file");
    file
}

fn client(hello: &str, book: &NamedTempFile, options: &[&str]) -> Client {
    let file = format!("Book{}File value {}", separator(hello), book.path().display());
    let own_book = if hello == "uci" { "OwnBook value true" } else { "USI_OwnBook value true" };
    Client::with(hello, &[&[own_book, file.as_str()], options].concat())
}

fn separator(hello: &str) -> &str {
    if hello == "uci" { " " } else { "_" }
}

/// The distinct moves of a number of searches.
fn moves(client: &mut Client, lines: &str, searches: usize) -> Vec<String> {
    let mut moves: Vec<_> = (0..searches).map(|_| client.best(lines)).collect();
    moves.sort();
    moves.dedup();
    moves
}

#[test]
fn plays_chess_from_a_polyglot_book() {
    let book = polyglot(&[(START, D2D4, 1), (START, E2E4, 1), (AFTER_E4, D7D5, 9)]);
    let mut client = client("uci", &book, &[]);
    assert!(client.remarks().is_empty());
    let start = "position startpos\ngo movetime 60000";
    assert_eq!(moves(&mut client, start, 40), ["d2d4", "e2e4"], "random moves");
    let received = client.ask("position startpos moves e2e4\ngo movetime 60000");
    assert_eq!(received.first().map(String::as_str), Some("info string d7d5 is from the book"));
    client.send("setoption name OwnBook value false");
    let received = client.ask("position startpos moves e2e4\ngo depth 1");
    assert!(!received.iter().any(|line| line.contains("book")), "{received:#?}");
}

#[test]
fn plays_the_best_move_and_its_reply_on_request() {
    let book = polyglot(&[(START, D2D4, 1), (START, E2E4, 2), (AFTER_E4, D7D5, 9)]);
    let mut client = client("uci", &book, &["Best Book Move value true"]);
    let received = client.ask("position startpos\ngo movetime 60000");
    assert_eq!(received.last().map(String::as_str), Some("bestmove e2e4 ponder d7d5"));
    assert_eq!(moves(&mut client, "position startpos\ngo movetime 60000", 5), ["e2e4"]);
}

#[test]
fn a_book_move_waits_for_the_ponder_hit() {
    let book = polyglot(&[(AFTER_E4, D7D5, 9)]);
    let mut client = client("uci", &book, &["Ponder value true"]);
    client.send("position startpos moves e2e4\ngo ponder wtime 60000 btime 60000\nisready");
    let early = client.receive_until("readyok");
    assert!(!early.iter().any(|line| line.starts_with("bestmove")), "{early:#?}");
    assert_eq!(client.best("ponderhit"), "d7d5");
}

#[test]
fn a_book_move_castles_in_the_requested_form() {
    let fen = "4k3/8/8/8/8/8/8/4K2R w K - 0 1";
    let position = Position::from_text(Game::Chess, fen).expect("a position");
    let BoardRef::Chess(board) = position.board() else { panic!("it is chess") };
    let Zobrist64(key) = board.position().zobrist_hash(EnPassantMode::PseudoLegal);
    let book = polyglot(&[(key, E1H1, 1)]);
    let mut client = client("uci", &book, &[]);
    let go = format!("position fen {fen}\ngo movetime 60000");
    assert_eq!(client.best(&go), "e1g1");
    client.send("setoption name UCI_Chess960 value true");
    assert_eq!(client.best(&go), "e1h1");
}

#[test]
fn no_book_is_used_in_analysis_and_other_games() {
    let book = polyglot(&[(START, D2D4, 1), (AFTER_E4, D7D5, 1)]);
    let mut client = client("uci", &book, &["Book Depth value 1"]);
    let from_book =
        |received: Vec<String>| received.iter().any(|line| line.contains("from the book"));
    assert!(from_book(client.ask("position startpos\ngo depth 1")));
    for go in ["go depth 1 searchmoves e2e4", "go mate 1 depth 1"] {
        assert!(!from_book(client.ask(go)), "{go}");
    }
    client.send("go infinite\nstop");
    assert!(!from_book(client.receive_until("bestmove")));
    let third = "position fen rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 2\ngo depth 1";
    assert!(!from_book(client.ask(third)), "the book ends before");
    client.send("setoption name UCI_AnalyseMode value true");
    assert!(!from_book(client.ask("position startpos\ngo depth 1")));
}

const SHOGI: &str = include_str!("data/books/shogi.txt");

#[test]
fn plays_shogi_from_a_text_book() {
    let book = text_book(SHOGI);
    let mut client = client("usi", &book, &[]);
    assert!(client.remarks().is_empty());
    let start = "position startpos\ngo byoyomi 60000";
    assert_eq!(moves(&mut client, start, 40), ["2g2f", "7g7f"], "nothing that is much worse");
    let received = client.ask("position startpos moves 7g7f\ngo byoyomi 60000");
    assert_eq!(received.last().map(String::as_str), Some("bestmove 3c3d ponder 2g2f"));
    client.send("setoption name Best_Book_Move value true");
    assert_eq!(client.ask(start).last().map(String::as_str), Some("bestmove 7g7f ponder 3c3d"));
}

#[test]
fn a_book_of_another_game_is_reported_once_and_used_in_its_own() {
    let (chess, shogi) = (polyglot(&[(START, E2E4, 1)]), text_book(SHOGI));
    for (book, own, other) in [(&chess, "chess", "shogi"), (&shogi, "shogi", "chess")] {
        let mut client = client("uci", book, &[&format!("UCI_Variant value {other}")]);
        assert!(client.remarks().is_empty());
        let path = book.path().display();
        let remark = format!("info string the book in `{path}` is for another game");
        let mut times = || {
            let received = client.ask("position startpos\ngo depth 1");
            received.iter().filter(|&line| *line == remark).count()
        };
        assert_eq!([times(), times()], [1, 0], "{own}");
        client.send(&format!("setoption name UCI_Variant value {own}"));
        let received = client.ask("position startpos\ngo movetime 60000");
        assert!(received.iter().any(|line| line.contains("from the book")), "{received:#?}");
    }
}

#[test]
fn an_unsorted_text_book_is_used() {
    let (head, entries) = SHOGI.split_once('\n').expect("a header");
    let second = entries.find("sfen lnsgkgsnl/1r5b1/ppppppppp/9/9/2P6").expect("two entries");
    let (first, second) = entries.split_at(second);
    for text in [format!("{head}\n{second}{first}"), format!("{head}\r\n{first}{second}")] {
        let book = text_book(&text);
        let mut client = client("usi", &book, &["Best_Book_Move value true"]);
        assert!(client.remarks().is_empty());
        assert_eq!(client.best("position startpos\ngo byoyomi 60000"), "7g7f");
        assert_eq!(client.best("position startpos moves 7g7f\ngo byoyomi 60000"), "3c3d");
    }
}

#[test]
fn shogi_over_uci_uses_its_book() {
    let book = text_book(SHOGI);
    let mut client =
        client("uci", &book, &["UCI_Variant value shogi", "Best Book Move value true"]);
    let received = client.ask("position startpos\ngo movetime 60000");
    assert_eq!(received.last().map(String::as_str), Some("bestmove c3c4 ponder g7g6"));
}

#[test]
fn a_missing_book_file_is_reported_once() {
    for (hello, option) in [("uci", "OwnBook"), ("usi", "USI_OwnBook")] {
        let mut client = Client::with(hello, &[&format!("{option} value true")]);
        assert_eq!(client.remarks(), ["no book: `Book File` is empty"]);
        assert!(client.remarks().is_empty());
        assert_ne!(client.best("position startpos\ngo depth 1"), "(none)");
        client.send(&format!("setoption name {option} value false"));
        assert!(client.remarks().is_empty());
    }
}

#[test]
fn an_unusable_book_is_reported_and_ignored() {
    let directory = TempDir::new().expect("a directory");
    let path = |name: &str| -> PathBuf { directory.path().join(name) };
    fs::write(path("truncated.bin"), [0; 7]).expect("a file");
    fs::write(path("text.bin"), "the text of a file that is not an opening book at all")
        .expect("a file");
    fs::write(path("empty.bin"), []).expect("a file");
    fs::write(path("empty.db"), "#YANEURAOU-DB2016 1.00\n").expect("a file");
    for (name, error) in [
        ("missing.bin", "no book in"),
        ("truncated.bin", "no book in"),
        ("text.bin", "no book in"),
        ("", "no book in"),
        ("empty.bin", "the book in"),
        ("empty.db", "the book in"),
    ] {
        let file = format!("Book File value {}", path(name).display());
        let mut client = Client::with("uci", &["OwnBook value true", &file]);
        let remarks = client.remarks();
        let [remark] = remarks.as_slice() else { panic!("{name}: {remarks:?}") };
        assert!(remark.starts_with(error), "{remark}");
        assert_eq!(remark.ends_with(" is empty"), name.starts_with("empty"), "{remark}");
        assert!(client.remarks().is_empty(), "once");
        assert_ne!(client.best("position startpos\ngo depth 1"), "(none)");
    }
}

#[test]
fn the_complete_entries_of_a_truncated_polyglot_book_are_used() {
    let book = polyglot(&[(START, E2E4, 2), (AFTER_E4, D7D5, 9)]);
    for (rest, remark) in
        [(1, "a byte of an incomplete entry"), (15, "15 bytes of an incomplete entry")]
    {
        let mut file = NamedTempFile::new().expect("a file");
        let whole = fs::read(book.path()).expect("a file");
        file.write_all(&[&whole[..], &[0xff; 15][..rest]].concat()).expect("a file");
        let mut client = client("uci", &file, &[]);
        let path = file.path().display();
        assert_eq!(client.remarks(), [format!("the book in `{path}` ends with {remark}")]);
        assert!(client.remarks().is_empty(), "once");
        assert_eq!(client.best("position startpos\ngo movetime 60000"), "e2e4");
        assert_eq!(client.best("position startpos moves e2e4\ngo movetime 60000"), "d7d5");
    }
}

/// Damages each line of a text book in turn. Only that line is lost, and the loss is reported.
#[test]
fn only_a_damaged_line_of_a_text_book_is_lost() {
    let lines: Vec<&str> = SHOGI.lines().collect();
    let damaged = |at: usize, with: &[u8]| {
        let mut bytes = Vec::new();
        for (index, line) in lines.iter().enumerate() {
            bytes.extend_from_slice(if index == at { with } else { line.as_bytes() });
            bytes.push(b'\n');
        }
        let mut file = NamedTempFile::new().expect("a file");
        file.write_all(&bytes).expect("a file");
        file
    };
    let garbage: &[u8] = b"\xff\xfe{";
    // The best moves of the two positions in the book.
    let (first, second) = (Some("7g7f"), Some("3c3d"));
    for (at, with, expected) in [
        (1, &b"sfen x"[..], [None, second]),
        (2, garbage, [Some("2g2f"), second]),
        (2, b"7g7f 3c3d much", [Some("2g2f"), second]),
        (3, garbage, [first, second]),
        (5, b"sfen lnsgkgsnl/1r5b1 w - 2", [first, None]),
        (6, garbage, [first, None]),
    ] {
        let book = damaged(at, with);
        let mut client = client("usi", &book, &["Best_Book_Move value true"]);
        let remark = format!("has a line that cannot be read: line {}", at + 1);
        let expected_remark = format!("the book in `{}` {remark}", book.path().display());
        assert_eq!(client.remarks(), [expected_remark]);
        assert!(client.remarks().is_empty(), "once");
        for (position, expected) in ["startpos", "startpos moves 7g7f"].iter().zip(expected) {
            let received = client.ask(&format!("position {position}\ngo nodes 50"));
            let from_book = received.iter().find_map(|line| line.strip_suffix(" is from the book"));
            let from_book = from_book.and_then(|line| line.strip_prefix("info string "));
            assert_eq!(from_book, expected, "line {at}: {received:#?}");
        }
    }
    // Several invalid lines are reported together.
    let book = text_book(&SHOGI.replace(" 10\n", " many\n"));
    let mut client = client("usi", &book, &[]);
    let remarks = client.remarks();
    let reported = "has 2 lines that cannot be read, the first is line 3";
    assert!(
        remarks.len() == 1 && remarks.iter().all(|remark| remark.ends_with(reported)),
        "{remarks:?}"
    );
}

/// Positions with two kings only, in the order of a book.
fn many_positions() -> Vec<String> {
    let squares = || (0..9_usize).flat_map(|row| (0..9_usize).map(move |column| (row, column)));
    let mut positions = Vec::new();
    for (first, second) in squares().flat_map(|first| squares().map(move |second| (first, second)))
    {
        if first.0.abs_diff(second.0).max(first.1.abs_diff(second.1)) < 2 {
            continue;
        }
        let row = |row| -> String {
            let king = |at| {
                if at == first {
                    'K'
                } else if at == second {
                    'k'
                } else {
                    '1'
                }
            };
            (0..9).map(|column| king((row, column))).collect()
        };
        let board: Vec<String> = (0..9).map(row).collect();
        for turn in ["b", "w"] {
            let text = format!("{} {turn} - 1", board.join("/"));
            let position = Position::from_text(Game::Shogi, &text).expect("a position");
            positions.push(position.to_string());
        }
    }
    positions.sort();
    positions
}

#[test]
fn a_large_sorted_book_is_searched_despite_damaged_lines() {
    let positions = many_positions();
    assert!(positions.len() > 11_000, "{}", positions.len());
    // The book move of each position is the last legal one, which a search would hardly choose.
    let best = |sfen: &str| -> String {
        let position = Position::from_text(Game::Shogi, sfen).expect("a position");
        let last = *position.legal_moves().last().expect("a move");
        last.to_uci(CastlingForm::KingMove)
    };
    let broken = [3, 40, 2_000, 10_500, positions.len() - 1];
    let entries = positions.iter().enumerate().map(|(index, sfen)| {
        let reported = if broken.contains(&index) { "?" } else { sfen };
        format!("sfen {reported}\n{} none 0 1 1\n", best(sfen))
    });
    let text: String = iter::once("#YANEURAOU-DB2016 1.00\n".to_owned()).chain(entries).collect();
    let book = text_book(&text);
    let mut client = client("usi", &book, &[]);
    let reported = "has 3 lines that cannot be read, the first is line 8";
    let remarks = client.remarks();
    assert!(
        remarks.len() == 1 && remarks.iter().all(|remark| remark.ends_with(reported)),
        "{remarks:?}"
    );
    let probes = (0..positions.len()).step_by(97).chain(broken);
    for index in probes.chain([0, 2, 4, 39, 41, 1_999, 2_001, 10_499, 10_501, positions.len() - 2])
    {
        let sfen = &positions[index];
        let received = client.ask(&format!("position sfen {sfen}\ngo nodes 20"));
        let from_book = format!("info string {} is from the book", best(sfen));
        assert_eq!(
            received.contains(&from_book),
            !broken.contains(&index),
            "{sfen}: {received:#?}"
        );
    }
}
