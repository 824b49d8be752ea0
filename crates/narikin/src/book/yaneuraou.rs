//! The text book of YaneuraOu (`#YANEURAOU-DB2016 1.00`): for each position its moves with answer,
//! value, depth and how often each was seen.
//!
//! A line that cannot be read costs itself only, and the moves after it if it is a position.

mod line;
mod search;

use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::path::Path;

use readyok_rules::{BoardRef, Position};
use rsshogi::types::Move;

use self::line::{Line, TextMove};
use self::search::Lines;
use super::{BookError, BookMove};

const HEADER: &[u8] = b"#YANEURAOU-DB2016 1.00";
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// So many bytes of a file tell whether it is such a book.
pub(super) const HEAD: u64 = 32;

/// A book with more positions is searched in the file if so many of them are sorted.
const ROWS: usize = 10_000;

/// A book that is not sorted is kept in memory, unless it has more bytes.
const MOST_BYTES: u64 = 256 << 20;

/// Moves that are worse than the best by more centipawns are not played.
const MARGIN: i32 = 30;

/// A book of shogi.
#[derive(Debug)]
pub(crate) struct YaneuraOu {
    positions: Positions,
    /// What there is to say of lines that cannot be read, until it is taken.
    remark: Option<String>,
    /// Whether it was said.
    said: bool,
}

#[derive(Debug)]
enum Positions {
    Sorted(Lines),
    /// By the SFEN of the position.
    Loaded(HashMap<String, Vec<TextMove>>),
}

/// Whether a file that begins so is such a book.
pub(super) fn is_head(head: &[u8]) -> bool {
    let text = head.strip_prefix(BYTE_ORDER_MARK).unwrap_or(head);
    text.strip_prefix(HEADER).is_some_and(|rest| matches!(rest.first(), Some(b'\n' | b'\r')))
}

impl YaneuraOu {
    pub(super) fn open(path: &Path) -> Result<Self, BookError> {
        let mut lines = Lines::new(File::open(path)?)?;
        let mut reading = Reading::default();
        while let Some((_, line)) = lines.next()? {
            reading.take(line);
            // Few positions can have very many moves.
            if ROWS <= reading.rows || MOST_BYTES < lines.place() {
                if reading.sorted {
                    return Ok(Self::new(Positions::Sorted(lines), reading.remark()));
                }
                if MOST_BYTES < lines.bytes() {
                    return Err(BookError::Unsorted { bytes: lines.bytes() });
                }
            }
        }
        let remark = reading.remark();
        Ok(Self::new(Positions::Loaded(reading.by_sfen), remark))
    }

    fn new(positions: Positions, remark: Option<String>) -> Self {
        Self { positions, said: remark.is_some(), remark }
    }

    pub(super) fn is_empty(&self) -> bool {
        matches!(&self.positions, Positions::Loaded(by_sfen) if by_sfen.is_empty())
    }

    /// What was not said yet of lines that cannot be read.
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
                let found = lines.find(&sfen, &mut |place| first = first.or(Some(place)))?;
                if let Some(first) = first.filter(|_| !std::mem::replace(&mut self.said, true)) {
                    // Nobody has read all of it.
                    self.remark =
                        Some(format!("has lines that cannot be read, one of them at byte {first}"));
                }
                found
            }
        };
        Ok(weighed(position, &moves))
    }
}

/// A book as far as it has been read.
#[derive(Debug)]
struct Reading {
    by_sfen: HashMap<String, Vec<TextMove>>,
    /// The position that moves belong to.
    current: Option<String>,
    /// Whether moves belong to a position that cannot be read.
    is_lost: bool,
    rows: usize,
    sorted: bool,
    lines: u64,
    unreadable: u64,
    /// The number of the first line that cannot be read.
    first: u64,
}

impl Default for Reading {
    fn default() -> Self {
        Self {
            by_sfen: HashMap::new(),
            current: None,
            is_lost: false,
            rows: 0,
            sorted: true,
            lines: 0,
            unreadable: 0,
            first: 0,
        }
    }
}

impl Reading {
    fn take(&mut self, line: Line) {
        self.lines += 1;
        match line {
            Line::Other => (),
            Line::Position(sfen) => {
                self.rows += 1;
                self.sorted &= self.current.as_ref().is_none_or(|before| *before < sfen);
                // The last of several with the same position counts.
                self.by_sfen.insert(sfen.clone(), Vec::new());
                (self.current, self.is_lost) = (Some(sfen), false);
            }
            Line::Move(mv) => {
                let current = self.current.as_ref().filter(|_| !self.is_lost);
                match current.and_then(|sfen| self.by_sfen.get_mut(sfen)) {
                    Some(moves) => moves.push(mv),
                    None if self.is_lost => (),
                    None => self.count_unreadable(),
                }
            }
            Line::Unreadable { is_position } => {
                self.is_lost |= is_position;
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

/// The legal ones of these moves. A move that the book gives no value is as good as the best.
fn weighed(position: &Position, moves: &[TextMove]) -> Vec<BookMove> {
    let read = |position: &Position, mv: Move| position.parse_move(&mv.to_usi()).ok();
    let legal = moves.iter().filter_map(|it| {
        let mv = read(position, it.mv)?;
        let mut next = position.clone();
        next.play(mv).ok()?;
        let reply = read(&next, it.reply);
        Some((it.score, BookMove { mv, reply, weight: it.count.unwrap_or(1).max(1) }))
    });
    let legal: Vec<_> = legal.collect();
    let best = legal.iter().filter_map(|(score, _)| *score).max();
    let is_good = |score: Option<i32>| match (score, best) {
        (Some(score), Some(best)) => best.saturating_sub(score) <= MARGIN,
        (None, _) | (_, None) => true,
    };
    legal.into_iter().filter(|(score, _)| is_good(*score)).map(|(_, mv)| mv).collect()
}
