//! The recipe of CONTRIBUTING.md, "Add a record format": a module with a reader and a writer, and a row of
//! the table of formats. This module adds a toy format and uses it like the others.

use std::io::BufRead;

use crate::Position;

use super::super::{
    Bookmark, Defect, Encoding, GameRecord, Limits, NodeId, RecordErrorKind, Records,
    encoding::{Transcoder, buffered},
    format::{Certainty, Games, Location, ReadingState},
    input::Lines,
    loss::Written,
    write_encoded,
};
use super::*;

/// A game per line: `toy: e2e4 e7e5`.
const TOY: FormatRow = FormatRow {
    name: "toy",
    description: "A format of this test (chess)",
    extensions: &["toy", "toys"],
    media_type: "text/plain",
    games: CHESS,
    separator: Some(""),
    is_utf8: false,
    holds: Holds::MOVES,
    detect: |line, _| line.starts_with("toy:").then_some(Certainty::Certain),
    read: |source, limits, from| Box::new(Reader::new(source, limits, from)),
    write,
};

/// The table with the row of the toy format.
const WITH_TOY: &[Format] = &[
    Format::PGN,
    Format::KIF,
    Format::KI2,
    Format::CSA,
    Format::JKF,
    Format::UCI,
    Format::USI,
    Format(&TOY),
];

struct Reader<R> {
    lines: Lines<R>,
    format: Format,
    state: ReadingState,
}

impl<R: BufRead> Reader<R> {
    fn new(input: Transcoder<R>, limits: Limits, from: Bookmark) -> Self {
        let (lines, state) = (Lines::new(input, limits, from), ReadingState::after(from.games));
        Self { lines, format: from.format, state }
    }
}

impl<R: BufRead> Games for Reader<R> {
    fn state(&self) -> &ReadingState {
        &self.state
    }

    fn state_mut(&mut self) -> &mut ReadingState {
        &mut self.state
    }

    fn bookmark(&self) -> Option<Bookmark> {
        Some(self.lines.bookmark(self.format, self.state.games()))
    }

    fn begin_game(&mut self) {
        self.lines.begin_game();
    }

    fn location(&mut self) -> Location {
        self.lines.location()
    }

    fn read_game(&mut self) -> Result<Option<GameRecord>, RecordErrorKind> {
        let Some(line) = self.lines.next()? else { return Ok(None) };
        let unexpected =
            || RecordErrorKind::Defect(Defect::UnexpectedText { text: line.text.clone() });
        let moves = line.text.strip_prefix("toy:").ok_or_else(unexpected)?;
        let mut record = GameRecord::new(Position::start(Game::Chess));
        for token in moves.split_whitespace() {
            let mv = record.position().parse_move(token).map_err(RecordErrorKind::Move)?;
            record.play(mv).map_err(|_| unexpected())?;
        }
        Ok(Some(record))
    }

    fn skip_game(&mut self) -> bool {
        true
    }
}

fn write(record: &GameRecord, _: Encoding) -> Written {
    let form = record.game().castling_form();
    let moves = record.mainline().filter_map(|node| Some(node.mv()?.legal()?.to_uci(form)));
    let text = format!("toy: {}\n", moves.collect::<Vec<_>>().join(" "));
    Written { text, losses: TOY.holds.losses(record) }
}

fn text(record: &GameRecord, format: Format) -> String {
    let mut bytes = Vec::new();
    write_encoded(record, format, Encoding::Utf8, &mut bytes).expect("it is chess");
    String::from_utf8(bytes).expect("UTF-8")
}

#[test]
fn a_row_makes_a_format() {
    let toy = Format(&TOY);
    assert_eq!(toy.to_string(), "TOY");
    assert_eq!(toy.extension(), "toy");
    assert!(toy.supports(Game::Chess) && !toy.supports(Game::Shogi));
    assert!(Feature::ALL.iter().all(|feature| !toy.holds(*feature)));
    assert_eq!(Format::of_extension(WITH_TOY, "TOYS"), Some(toy));
    assert_eq!(Format::of_extension(WITH_TOY, "kifu"), Some(Format::KIF));

    // Detection.
    let file = "toy: e2e4 e7e5\nnonsense\ntoy: d2d4\n";
    assert_eq!(Format::detect_among(WITH_TOY, file.as_bytes()), Some(toy));
    assert_eq!(Format::detect(file.as_bytes()), None);
    assert_eq!(Format::detect_among(WITH_TOY, b"1. e4 *"), Some(Format::PGN));

    // Reading, with detection, errors and bookmarks.
    let source = Transcoder::new(buffered(file.as_bytes()), true);
    let mut games = Records::among(WITH_TOY, source, Limits::default());
    let game = games.next().expect("a game").expect("readable");
    assert_eq!(game.plies(), 2);
    let bookmark = games.bookmark().expect("lines have bookmarks");
    let error = games.next().expect("a game").expect_err("no toy");
    assert_eq!((error.game, error.line), (2, 2));
    assert_eq!(games.next().expect("a game").expect("readable").plies(), 1);
    assert!(games.next().is_none());
    let rest = &file.as_bytes()[usize::try_from(bookmark.offset()).expect("small")..];
    let resumed = Records::resume(rest, &bookmark, Limits::default());
    assert_eq!(resumed.flatten().map(|game| game.plies()).collect::<Vec<_>>(), [1]);

    // Writing: a game of the format is equal, and a loss is reported.
    assert_eq!(text(&game, toy), "toy: e2e4 e7e5\n");
    let shogi = GameRecord::new(Position::start(Game::Shogi));
    let error = write_encoded(&shogi, toy, Encoding::Utf8, &mut Vec::new());
    assert_eq!(error.expect_err("no shogi").to_string(), "TOY does not support shogi");

    // Conversion in both directions.
    let pgn = b"[White \"A\"]\n\n1. e4 { good } e5 *";
    let mut games = Records::new(&pgn[..], Format::PGN, Limits::default());
    let game = games.next().expect("a game").expect("readable");
    let losses = write_encoded(&game, toy, Encoding::Utf8, &mut Vec::new()).expect("it is chess");
    let losses: Vec<String> = losses.iter().map(|loss| loss.to_string()).collect();
    assert_eq!(losses, ["comments", "headers"]);
    let toys = text(&game, toy);
    let game = Records::new(toys.as_bytes(), toy, Limits::default());
    let game = game.flatten().next().expect("a game");
    assert_eq!(game.annotations(NodeId::ROOT).comments.len(), 0);
    assert!(text(&game, Format::PGN).ends_with("1. e4 e5 *\n\n"));
}

/// Names, extensions and separators of a table are unambiguous, so that each row can be found.
#[test]
fn rows_are_unambiguous() {
    for (index, format) in Format::ALL.iter().enumerate() {
        assert_eq!(Format::from_name(format.name()), Some(*format));
        assert_eq!(format.name(), format.name().to_ascii_lowercase());
        assert!(!format.0.games.is_empty(), "{format}");
        for extension in format.0.extensions {
            assert_eq!(Format::from_extension(extension), Some(*format));
        }
        assert!(!Format::ALL[..index].contains(format), "{format} has two rows");
    }
}
