//! The text book of YaneuraOu (`#YANEURAOU-DB2016 1.00`): for each position its moves with reply,
//! score, depth and count.
//!
//! An unreadable line is skipped, with the moves after it if it is a position.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::str::FromStr;

use rsshogi::types::Move;

use super::{BookError, BookMove};
use crate::{BoardRef, Position};

const HEADER: &[u8] = b"#YANEURAOU-DB2016 1.00";
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Number of bytes that identify the format.
pub(super) const HEAD: u64 = 32;

/// A book with more positions is searched in the file if this many are sorted.
const ROWS: usize = 10_000;

/// Maximum size of an unsorted book, which is loaded.
const MAX_LOADED_BYTES: u64 = 256 << 20;

/// A book of shogi.
#[derive(Debug)]
pub(crate) struct YaneuraOu {
    positions: Positions,
    /// A warning about unreadable lines.
    remark: Option<String>,
    /// Whether the warning was reported.
    is_reported: bool,
}

#[derive(Debug)]
enum Positions {
    Sorted(Lines),
    /// By the SFEN of the position.
    Loaded(HashMap<String, Vec<TextMove>>),
}

/// Whether a file with this head is such a book.
pub(super) fn is_head(head: &[u8]) -> bool {
    let text = head.strip_prefix(BYTE_ORDER_MARK).unwrap_or(head);
    text.strip_prefix(HEADER).is_some_and(|rest| matches!(rest.first(), Some(b'\n' | b'\r')))
}

/// Writes the first line.
pub(super) fn write_header(out: &mut impl Write) -> io::Result<()> {
    out.write_all(HEADER)?;
    out.write_all(b"\n")
}

/// Writes a position with its moves and their weights. The scores are unknown, which programs read as 0.
pub(super) fn write_position<'a>(
    out: &mut impl Write,
    sfen: &str,
    moves: impl Iterator<Item = (&'a str, u64)>,
) -> io::Result<()> {
    writeln!(out, "sfen {sfen}")?;
    for (mv, weight) in moves {
        writeln!(out, "{mv} none 0 0 {weight}")?;
    }
    Ok(())
}

impl YaneuraOu {
    pub(super) fn open(path: &Path) -> Result<Self, BookError> {
        let mut lines = Lines::new(File::open(path)?)?;
        let mut reading = Loader::default();
        while let Some((_, line)) = lines.next()? {
            reading.take(line);
            // Few positions can have very many moves.
            if ROWS <= reading.rows || MAX_LOADED_BYTES < lines.offset() {
                if reading.sorted {
                    return Ok(Self::new(Positions::Sorted(lines), reading.remark()));
                }
                if MAX_LOADED_BYTES < lines.bytes() {
                    return Err(BookError::Unsorted { bytes: lines.bytes() });
                }
            }
        }
        let remark = reading.remark();
        Ok(Self::new(Positions::Loaded(reading.by_sfen), remark))
    }

    fn new(positions: Positions, remark: Option<String>) -> Self {
        Self { positions, is_reported: remark.is_some(), remark }
    }

    pub(super) fn is_empty(&self) -> bool {
        matches!(&self.positions, Positions::Loaded(by_sfen) if by_sfen.is_empty())
    }

    /// The warning that was not reported yet.
    pub(super) fn take_remark(&mut self) -> Option<String> {
        self.remark.take()
    }

    pub(super) fn moves(&mut self, position: &Position) -> io::Result<Vec<BookMove>> {
        let BoardRef::Shogi(board) = position.board() else { return Ok(Vec::new()) };
        let sfen = board.position().to_sfen(Some(1));
        let moves = match &mut self.positions {
            Positions::Loaded(by_sfen) => by_sfen.get(&sfen).cloned().unwrap_or_default(),
            Positions::Sorted(lines) => {
                let mut first = None;
                let found = lines.find(&sfen, &mut |offset| first = first.or(Some(offset)))?;
                if let Some(first) =
                    first.filter(|_| !std::mem::replace(&mut self.is_reported, true))
                {
                    // Only a part of the file was read.
                    self.remark =
                        Some(format!("has lines that cannot be read, one of them at byte {first}"));
                }
                found
            }
        };
        Ok(legal(position, &moves))
    }
}

/// The state of loading a book.
#[derive(Debug)]
struct Loader {
    by_sfen: HashMap<String, Vec<TextMove>>,
    /// The position of the following moves.
    current: Option<String>,
    /// Whether the current position is unreadable.
    is_skipping: bool,
    rows: usize,
    sorted: bool,
    lines: u64,
    unreadable: u64,
    /// The number of the first unreadable line.
    first: u64,
}

impl Default for Loader {
    fn default() -> Self {
        Self {
            by_sfen: HashMap::new(),
            current: None,
            is_skipping: false,
            rows: 0,
            sorted: true,
            lines: 0,
            unreadable: 0,
            first: 0,
        }
    }
}

impl Loader {
    fn take(&mut self, line: Line) {
        self.lines += 1;
        match line {
            Line::Other => (),
            Line::Position(sfen) => {
                self.rows += 1;
                self.sorted &= self.current.as_ref().is_none_or(|before| *before < sfen);
                // The last of several with the same position counts.
                self.by_sfen.insert(sfen.clone(), Vec::new());
                (self.current, self.is_skipping) = (Some(sfen), false);
            }
            Line::Move(mv) => {
                let current = self.current.as_ref().filter(|_| !self.is_skipping);
                match current.and_then(|sfen| self.by_sfen.get_mut(sfen)) {
                    Some(moves) => moves.push(mv),
                    None if self.is_skipping => (),
                    None => self.count_unreadable(),
                }
            }
            Line::Unreadable { is_position } => {
                self.is_skipping |= is_position;
                self.count_unreadable();
            }
        }
    }

    fn count_unreadable(&mut self) {
        self.unreadable += 1;
        if self.unreadable == 1 {
            self.first = self.lines;
        }
    }

    fn remark(&self) -> Option<String> {
        let (count, first) = (self.unreadable, self.first);
        match count {
            0 => None,
            1 => Some(format!("has a line that cannot be read: line {first}")),
            _ => Some(format!("has {count} lines that cannot be read, the first is line {first}")),
        }
    }
}

/// The legal ones of these moves.
fn legal(position: &Position, moves: &[TextMove]) -> Vec<BookMove> {
    let read = |position: &Position, mv: Move| position.parse_move(&mv.to_usi()).ok();
    let legal = moves.iter().filter_map(|text_move| {
        let mv = read(position, text_move.mv)?;
        let mut next = position.clone();
        next.play(mv).ok()?;
        let reply = read(&next, text_move.reply);
        let (weight, score, depth) = (text_move.count, text_move.score, text_move.depth);
        Some(BookMove { mv, reply, weight, score, depth })
    });
    legal.collect()
}

const BOM_CHAR: &str = "\u{feff}";

/// A parsed line.
#[derive(Debug)]
enum Line {
    /// A position in normalized notation, whose moves follow.
    Position(String),
    /// A move of the position before it.
    Move(TextMove),
    /// A header, a comment or nothing.
    Other,
    /// An unreadable line.
    Unreadable {
        /// Whether it would be a position.
        is_position: bool,
    },
}

/// A move of the book, legal or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct TextMove {
    mv: Move,
    reply: Move,
    score: Option<i32>,
    depth: Option<u32>,
    /// The number of games with the move.
    count: Option<u64>,
}

impl Line {
    fn read(bytes: &[u8]) -> Self {
        // A comment may have any encoding.
        let text = String::from_utf8_lossy(bytes);
        let text = text.trim_ascii();
        let text = text.strip_prefix(BOM_CHAR).unwrap_or(text);
        if text.is_empty() || is_comment(text) {
            Self::Other
        } else if let Some(sfen) = text.strip_prefix("sfen ") {
            normalized(sfen).map_or(Self::Unreadable { is_position: true }, Self::Position)
        } else {
            let unreadable = Self::Unreadable { is_position: text == "sfen" };
            TextMove::read(text).map_or(unreadable, Self::Move)
        }
    }
}

impl TextMove {
    fn read(text: &str) -> Option<Self> {
        let mut fields =
            text.split_ascii_whitespace().take_while(|field| !is_comment(field)).peekable();
        // An older spelling.
        let _ = fields.next_if_eq(&"move");
        let mv = read_move(fields.next()?)?;
        let reply = fields.next().map_or(Some(Move::MOVE_NONE), read_move)?;
        let score = optional(fields.next()).ok()?;
        let depth: Option<i64> = optional(fields.next()).ok()?;
        let depth = depth.and_then(|depth| u32::try_from(depth).ok());
        let count = optional(fields.next()).ok()?;
        Some(Self { mv, reply, score, depth, count })
    }
}

fn is_comment(text: &str) -> bool {
    text.starts_with('#') || text.starts_with("//")
}

/// The normalized notation of a position, with move number 1.
fn normalized(sfen: &str) -> Option<String> {
    let mut fields = sfen.split_ascii_whitespace();
    let [board, turn, hands] = [fields.next()?, fields.next()?, fields.next()?];
    let position =
        rsshogi::board::Position::from_sfen(&format!("{board} {turn} {hands} 1")).ok()?;
    Some(position.to_sfen(Some(1)))
}

fn read_move(field: &str) -> Option<Move> {
    match field {
        "none" | "None" => Some(Move::MOVE_NONE),
        "resign" => Some(Move::MOVE_RESIGN),
        _ => Move::from_usi(field).filter(|mv| mv.is_normal()),
    }
}

/// A number that may be missing.
fn optional<T: FromStr>(field: Option<&str>) -> Result<Option<T>, T::Err> {
    field.filter(|field| !matches!(*field, "none" | "None")).map(str::parse).transpose()
}

/// Smaller ranges are searched linearly.
const BLOCK: u64 = 4096;

/// Longer lines are split.
const MAX_LINE_LEN: u64 = 1 << 16;

/// Reads the lines of a book from any offset.
#[derive(Debug)]
struct Lines {
    file: BufReader<File>,
    bytes: u64,
    /// The offset of the next line.
    offset: u64,
    line: Vec<u8>,
}

impl Lines {
    fn new(file: File) -> io::Result<Self> {
        let bytes = file.metadata()?.len();
        Ok(Self { file: BufReader::new(file), bytes, offset: 0, line: Vec::new() })
    }

    /// The size in bytes.
    const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The offset of the next line.
    const fn offset(&self) -> u64 {
        self.offset
    }

    /// The next line with its offset.
    fn next(&mut self) -> io::Result<Option<(u64, Line)>> {
        self.line.clear();
        let offset = self.offset;
        let read = self.file.by_ref().take(MAX_LINE_LEN).read_until(b'\n', &mut self.line)?;
        self.offset += u64::try_from(read).unwrap_or(0);
        Ok((read > 0).then(|| (offset, Line::read(&self.line))))
    }

    /// Seeks to the first line that starts at or after an offset.
    fn seek_line(&mut self, offset: u64) -> io::Result<()> {
        self.offset = offset.saturating_sub(1);
        self.file.seek(SeekFrom::Start(self.offset))?;
        if 0 < offset {
            self.next()?;
        }
        Ok(())
    }

    /// The next readable position, with its offset. Offsets of unreadable positions are passed to
    /// `unreadable`.
    fn next_position(
        &mut self,
        unreadable: &mut impl FnMut(u64),
    ) -> io::Result<Option<(u64, String)>> {
        while let Some((offset, line)) = self.next()? {
            match line {
                Line::Position(sfen) => return Ok(Some((offset, sfen))),
                Line::Unreadable { is_position: true } => unreadable(offset),
                Line::Unreadable { is_position: false } | Line::Move(_) | Line::Other => (),
            }
        }
        Ok(None)
    }

    /// Finds the moves of a position by binary search; none if it is not in the book. Offsets of
    /// unreadable lines are passed to `unreadable`.
    fn find(&mut self, sfen: &str, unreadable: &mut impl FnMut(u64)) -> io::Result<Vec<TextMove>> {
        let (mut low, mut high) = (0, self.bytes);
        while BLOCK < high - low {
            let middle = low.midpoint(high);
            self.seek_line(middle)?;
            match self.next_position(unreadable)? {
                Some((offset, found)) if found.as_str() < sfen && offset < high => low = offset,
                Some((_, found)) if found == sfen => return self.moves(unreadable),
                Some(_) | None => high = middle,
            }
        }
        self.seek_line(low)?;
        while let Some((_, found)) = self.next_position(unreadable)? {
            match found.as_str().cmp(sfen) {
                Ordering::Less => (),
                Ordering::Equal => return self.moves(unreadable),
                Ordering::Greater => break,
            }
        }
        Ok(Vec::new())
    }

    /// The moves up to the next position.
    fn moves(&mut self, unreadable: &mut impl FnMut(u64)) -> io::Result<Vec<TextMove>> {
        let mut moves = Vec::new();
        while let Some((offset, line)) = self.next()? {
            match line {
                Line::Move(mv) => moves.push(mv),
                Line::Other => (),
                Line::Unreadable { is_position: false } => unreadable(offset),
                Line::Position(_) | Line::Unreadable { is_position: true } => break,
            }
        }
        Ok(moves)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_move(text: &str) -> bool {
        matches!(Line::read(text.as_bytes()), Line::Move(_))
    }

    fn is_unreadable(text: &[u8]) -> bool {
        matches!(Line::read(text), Line::Unreadable { .. })
    }

    #[test]
    fn moves_have_up_to_five_fields() {
        for text in ["7g7f", "7g7f none", "P*5e 3c3d+ -12 3 1", "move 7g7f 3c3d", "resign"] {
            assert!(is_move(text), "{text}");
        }
        for text in ["7g7f 3c3d 40 32 10 // often", "7g7f # 3c3d", "7g7f\t3c3d\r"] {
            assert!(is_move(text), "{text}");
        }
        let Line::Move(mv) = Line::read(b"7g7f 3c3d 40 32 10\r\n") else { panic!("a move") };
        assert_eq!((mv.score, mv.depth, mv.count), (Some(40), Some(32), Some(10)));
        for text in ["7g", "7g7f 3c", "7g7f 3c3d much", "7g7f 3c3d 1 2 -3", "sfen", "\u{0}", "{}"] {
            assert!(is_unreadable(text.as_bytes()), "{text}");
        }
    }

    #[test]
    fn a_comment_may_have_any_encoding() {
        assert!(matches!(Line::read(b"// \x8f\xe8\x8b\xcd"), Line::Other));
        assert!(matches!(Line::read(b"7g7f 3c3d // \x8f\xe8\x8b\xcd"), Line::Move(_)));
        assert!(is_unreadable(b"\x8f\xe8\x8b\xcd"));
    }

    #[test]
    fn positions_are_spelled_in_one_way() {
        let start = "sfen lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b -";
        for number in ["", " 1", " 7", " x"] {
            let Line::Position(read) = Line::read(format!("{start}{number}").as_bytes()) else {
                panic!("{number}")
            };
            assert_eq!(format!("sfen {read}"), format!("{start} 1"));
        }
        assert!(is_unreadable(b"sfen x"));
        assert!(is_unreadable(b"sfen 9/9 b - 1"));
    }
}
