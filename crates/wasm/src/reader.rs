//! Readers of the games of a source that arrives in parts.

use std::io::Cursor;

use memchr::{memmem, memrchr};
use readyok_rules::record::{Format, Limit, Limits, RecordError, RecordErrorKind, Records};

use crate::game::insert_game;
use crate::objects::{Objects, Size};
use crate::{Failure, number, take_input};

/// Reads the games of a source in parts of whole games, so that one part is in memory.
struct Reader {
    format: Option<Format>,
    /// Text without a reader.
    pending: Vec<u8>,
    /// The length of the pending text at which to look for a part again.
    next_length: usize,
    is_complete: bool,
    records: Option<Records<'static>>,
    /// The size of the part that is read.
    part_bytes: usize,
    part_lines: u64,
    /// Lines and games before the part.
    lines: u64,
    games: u64,
    /// Games of the part that were read.
    part_games: u64,
}

/// The smallest part of a source that is not complete.
const PART_BYTES: usize = 1 << 16;
/// The largest part: several times the maximum size of a game.
const MAX_PART_BYTES: usize = 64 << 20;

impl Size for Reader {
    fn bytes(&self) -> usize {
        100_000 + self.pending.capacity() + self.part_bytes
    }
}

thread_local! {
    static READERS: Objects<Reader> = const { Objects::new() };
}

/// A reader of a format by number; the format is detected if there is no such number.
#[cfg_attr(target_family = "wasm", unsafe(no_mangle))]
pub extern "C" fn reader_new(format: u32) -> i32 {
    let reader = Reader {
        format: Format::ALL.get(format as usize).copied(),
        pending: Vec::new(),
        next_length: PART_BYTES,
        is_complete: false,
        records: None,
        part_bytes: 0,
        part_lines: 0,
        lines: 0,
        games: 0,
        part_games: 0,
    };
    number(READERS.with(|all| all.insert(reader)))
}

/// Frees a reader.
#[cfg_attr(target_family = "wasm", unsafe(no_mangle))]
pub extern "C" fn reader_free(handle: i32) {
    READERS.with(|all| all.remove(handle));
}

/// Appends the input to the source. `is_last` is not 0 at its end.
#[cfg_attr(target_family = "wasm", unsafe(no_mangle))]
pub extern "C" fn reader_push(handle: i32, is_last: u32) -> i32 {
    let room = READERS.with(Objects::check_room);
    number(READERS.with(|all| {
        all.with(handle, |reader| {
            room?;
            let input = take_input();
            if reader.pending.is_empty() {
                reader.pending = input;
            } else if reader.pending.try_reserve(input.len()).is_ok() {
                reader.pending.extend_from_slice(&input);
            } else {
                return Err(Failure::other(&"out of memory"));
            }
            reader.is_complete |= is_last != 0;
            Ok(0)
        })
    }))
}

/// The next game. 0 if the source ends, or if more of it is required.
#[cfg_attr(target_family = "wasm", unsafe(no_mangle))]
pub extern "C" fn reader_next(handle: i32) -> i32 {
    let next = READERS.with(|all| all.with(handle, Reader::next));
    number(next.and_then(|next| match next {
        Some((record, notices)) => insert_game(record, notices),
        None => Ok(0),
    }))
}

impl Reader {
    fn next(
        &mut self,
    ) -> Result<Option<(readyok_rules::record::GameRecord, Vec<String>)>, Failure> {
        loop {
            if let Some(records) = &mut self.records {
                match records.next() {
                    Some(Ok(record)) => {
                        self.part_games += 1;
                        let lines = self.lines;
                        let notices = records.notices().iter().cloned().map(|mut notice| {
                            notice.line += lines;
                            notice.to_string()
                        });
                        return Ok(Some((record, notices.collect())));
                    }
                    Some(Err(mut error)) => {
                        self.part_games += 1;
                        error.line += self.lines;
                        error.game += self.games;
                        return Err(error.into());
                    }
                    None => self.end_part(),
                }
            }
            let Some(part) = self.next_part()? else { return Ok(None) };
            self.part_lines = self.lines_of(&part);
            self.part_bytes = part.len();
            self.records = Some(Records::new(Cursor::new(part), self.format, Limits::default()));
        }
    }

    fn end_part(&mut self) {
        self.records = None;
        self.part_bytes = 0;
        self.lines += self.part_lines;
        self.games += std::mem::take(&mut self.part_games);
    }

    /// The number of line ends, as the reader of the format counts them.
    fn lines_of(&self, part: &[u8]) -> u64 {
        let feeds = memchr::memchr_iter(b'\n', part).count();
        let is_end = |at: &usize| part.get(at + 1) != Some(&b'\n');
        let returns = memchr::memchr_iter(b'\r', part).filter(is_end).count();
        let is_pgn = self.format == Some(Format::PGN);
        (feeds + if is_pgn { returns } else { 0 }) as u64
    }

    /// Text with whole games. `None` at the end, or if more text is required.
    fn next_part(&mut self) -> Result<Option<Vec<u8>>, Failure> {
        let len = self.pending.len();
        if self.is_complete {
            return Ok((len > 0).then(|| std::mem::take(&mut self.pending)));
        }
        if len < self.next_length {
            return Ok(None);
        }
        self.format = self.format.or_else(|| Format::detect(&self.pending));
        let boundary = match self.format.map(Format::name) {
            Some("pgn") => pgn_boundary(&self.pending),
            Some("csa") => line_boundary(&self.pending, |line| line.trim_ascii() == b"/"),
            Some("jkf") => jkf_boundary(&self.pending),
            Some("uci" | "usi") => line_boundary(&self.pending, |_| true),
            _ => None,
        };
        let Some(boundary) = boundary else {
            if len > MAX_PART_BYTES {
                return Err(self.too_large());
            }
            self.next_length = len.saturating_mul(2);
            return Ok(None);
        };
        let rest = self.pending.split_off(boundary);
        self.next_length = rest.len().saturating_mul(2).max(PART_BYTES);
        Ok(Some(std::mem::replace(&mut self.pending, rest)))
    }

    /// Ends the source.
    fn too_large(&mut self) -> Failure {
        self.pending = Vec::new();
        self.is_complete = true;
        let kind = RecordErrorKind::LimitExceeded(Limit::GameTooLarge);
        RecordError { game: self.games + 1, line: self.lines + 1, column: 1, kind }.into()
    }
}

/// The offset after the last line with a property.
fn line_boundary(text: &[u8], is_last: impl Fn(&[u8]) -> bool) -> Option<usize> {
    let mut end = memrchr(b'\n', text)?;
    loop {
        let start = memrchr(b'\n', &text[..end]).map_or(0, |before| before + 1);
        if is_last(&text[start..end]) {
            return Some(end + 1);
        }
        end = start.checked_sub(1)?;
    }
}

/// The offset of the last line with an opening brace after one that ends with a closing brace. A comma would follow within
/// a value, and texts have no line feeds.
fn jkf_boundary(text: &[u8]) -> Option<usize> {
    let mut starts = memmem::rfind_iter(text, b"\n{");
    starts.find(|start| text[..*start].trim_ascii_end().ends_with(b"}")).map(|start| start + 1)
}

const EVENT: &[u8] = b"[Event \"";

/// The offset of the last header that surely begins a game: the line before it ends a game.
fn pgn_boundary(text: &[u8]) -> Option<usize> {
    let mut starts = memmem::rfind_iter(text, b"\n[").map(|before| before + 1);
    starts.find(|&start| {
        let before = text[..start].trim_ascii_end();
        let line = &before[memrchr(b'\n', before).map_or(0, |before| before + 1)..];
        let is_end = |result: &&[u8]| {
            let rest = line.strip_suffix(*result);
            rest.is_some_and(|rest| matches!(rest.last(), None | Some(b' ' | b'\t' | b'}' | b')')))
        };
        let ends = [b"1-0".as_slice(), b"0-1", b"1/2-1/2", b"*"].iter().any(is_end);
        // The rest of a line can be a comment. The reader ends other comments before `[Event`.
        ends && memchr::memchr(b';', line).is_none()
            && !matches!(line.first(), Some(b'%' | b'['))
            && (text[start..].starts_with(EVENT)
                || memrchr(b'{', before) < memrchr(b'}', before)
                || memrchr(b'{', before).is_none())
    })
}
