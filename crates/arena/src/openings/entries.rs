//! Random access to the entries of a book, without loading it into memory.
//!
//! The file is read once from the start to the requested entry. The offsets of some entries are stored in a
//! [`SeekIndex`]: reading resumes from the nearest of them.

use std::fs::File;
use std::io::{self, BufRead, BufReader, ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::Path;

use flate2::read::MultiGzDecoder;
use memchr::{memchr, memchr3};

use super::{OpeningDefect, OpeningFault};

/// The kind of entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EntryKind {
    /// A line that is not blank and does not start with `#`.
    Line,
    /// A game of a PGN file.
    Game,
}

/// An entry of a book.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    /// The number of its first line, counted from 1.
    pub(super) line: u64,
    /// Its bytes, unless they exceed [`Entries::MAX_LEN`].
    pub(super) bytes: Option<Vec<u8>>,
}

/// A book that is read entry by entry.
#[derive(Debug)]
pub(super) struct Entries {
    kind: EntryKind,
    reader: BufReader<File>,
    index: SeekIndex<Cursor>,
    at: Cursor,
    state: State,
    /// The last line, if it belongs to the next entry.
    held: Option<Line>,
    /// The bytes of the last line.
    buffer: Vec<u8>,
    count: Option<u64>,
}

/// A position before an entry.
#[derive(Clone, Copy, Debug, Default)]
struct Cursor {
    /// The number of the entry.
    entry: u64,
    offset: u64,
    /// The number of the next line, counted from 0.
    line: u64,
}

/// A line of the file.
#[derive(Clone, Copy, Debug)]
struct Line {
    offset: u64,
    /// Counted from 0.
    number: u64,
    too_long: bool,
}

/// The state of the PGN scanner.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    Nothing,
    Headers,
    Moves,
    /// A blank line after moves.
    Gap,
    /// Within a comment in braces.
    Comment,
}

impl Entries {
    /// Maximum length of lines and games, in bytes.
    pub(super) const MAX_LEN: usize = 1 << 20;
    const MAX_MARKS: usize = 1 << 15;

    pub(super) fn open(path: &str, kind: EntryKind) -> Result<Self, OpeningFault> {
        Ok(Self {
            kind,
            reader: BufReader::with_capacity(1 << 15, open_seekable(path)?),
            index: SeekIndex::new(Self::MAX_MARKS),
            at: Cursor::default(),
            state: State::default(),
            held: None,
            buffer: Vec::new(),
            count: None,
        })
    }

    pub(super) fn kind(&self) -> EntryKind {
        self.kind
    }

    /// The number of entries, if the end of the file was reached.
    pub(super) fn known_count(&self) -> Option<u64> {
        self.count
    }

    /// The number of entries. The first call reads to the end of the file.
    pub(super) fn count(&mut self) -> io::Result<u64> {
        loop {
            if let Some(count) = self.count {
                return Ok(count);
            }
            if let Some(last) = self.index.last_after(self.at.entry) {
                self.go_to(last)?;
            }
            self.step(None)?;
        }
    }

    /// An entry by its number.
    pub(super) fn get(&mut self, entry: u64) -> io::Result<Option<Entry>> {
        if self.count.is_some_and(|count| entry >= count) {
            return Ok(None);
        }
        if let Some(mark) = self.index.nearest(entry, self.at.entry) {
            self.go_to(mark)?;
        }
        while self.at.entry < entry {
            if self.step(None)?.is_none() {
                return Ok(None);
            }
        }
        let mut bytes = Vec::new();
        let first = self.step(Some(&mut bytes))?;
        Ok(first.map(|first| Entry {
            line: first.number + 1,
            bytes: (!first.too_long).then_some(bytes),
        }))
    }

    fn go_to(&mut self, cursor: Cursor) -> io::Result<()> {
        self.reader.seek(SeekFrom::Start(cursor.offset))?;
        self.at = cursor;
        self.state = State::default();
        self.held = None;
        Ok(())
    }

    /// Reads one entry, into `keep` if present. Returns its first line, and whether the entry is too long; `None` at
    /// the end of the file.
    fn step(&mut self, mut keep: Option<&mut Vec<u8>>) -> io::Result<Option<Line>> {
        let Some(mut first) = self.first_line()? else {
            self.count = Some(self.at.entry);
            return Ok(None);
        };
        let entry = self.at.entry;
        self.index.add(entry, Cursor { entry, offset: first.offset, line: first.number });
        let mut line = first;
        loop {
            first.too_long |= line.too_long;
            if let Some(bytes) = &mut keep {
                first.too_long |= bytes.len() + self.buffer.len() > Self::MAX_LEN;
                if !first.too_long {
                    bytes.extend_from_slice(&self.buffer);
                }
            }
            if self.kind == EntryKind::Line {
                break;
            }
            self.state = self.state_after(&self.buffer);
            let Some(next) = self.read_line()? else { break };
            line = next;
            if self.begins_entry(&self.buffer) {
                self.held = Some(line);
                break;
            }
        }
        self.at.entry += 1;
        Ok(Some(first))
    }

    /// Reads the first line of the next entry.
    fn first_line(&mut self) -> io::Result<Option<Line>> {
        self.state = State::default();
        if let Some(line) = self.held.take() {
            return Ok(Some(line));
        }
        loop {
            let Some(line) = self.read_line()? else { return Ok(None) };
            if line.offset == 0 && self.buffer.starts_with(b"\xef\xbb\xbf") {
                self.buffer.drain(..3);
            }
            if self.begins_entry(&self.buffer) {
                return Ok(Some(line));
            }
        }
    }

    /// Whether a line starts an entry in the current state.
    fn begins_entry(&self, line: &[u8]) -> bool {
        let line = line.trim_ascii();
        match (self.kind, self.state) {
            (EntryKind::Line, _) => !line.is_empty() && !line.starts_with(b"#"),
            (EntryKind::Game, State::Nothing | State::Gap) => {
                !line.is_empty() && !line.starts_with(b"%")
            }
            (EntryKind::Game, State::Headers | State::Comment) => false,
            (EntryKind::Game, State::Moves) => is_header(line),
        }
    }

    /// The state after another line of a game.
    fn state_after(&self, line: &[u8]) -> State {
        let trimmed = line.trim_ascii();
        match (self.kind, self.state) {
            (EntryKind::Line, state) => state,
            (EntryKind::Game, State::Comment) => after_moves(line, true),
            (EntryKind::Game, State::Moves | State::Gap) if trimmed.is_empty() => State::Gap,
            (EntryKind::Game, state) if trimmed.is_empty() || line.starts_with(b"%") => state,
            (EntryKind::Game, State::Nothing | State::Headers) if is_header(trimmed) => {
                State::Headers
            }
            (EntryKind::Game, _) => after_moves(line, false),
        }
    }

    /// Reads a line into the buffer. A line that is too long is truncated.
    fn read_line(&mut self) -> io::Result<Option<Line>> {
        self.buffer.clear();
        let mut line = Line { offset: self.at.offset, number: self.at.line, too_long: false };
        loop {
            let available = match self.reader.fill_buf() {
                Ok(available) => available,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            if available.is_empty() {
                break;
            }
            let end = memchr(b'\n', available);
            let length = end.map_or(available.len(), |end| end + 1);
            if self.buffer.len() + length <= Self::MAX_LEN {
                self.buffer.extend_from_slice(available.get(..length).unwrap_or_default());
            } else {
                line.too_long = true;
            }
            self.reader.consume(length);
            self.at.offset += length as u64;
            if end.is_some() {
                break;
            }
        }
        if self.at.offset == line.offset {
            return Ok(None);
        }
        self.at.line += 1;
        Ok(Some(line))
    }
}

/// Positions of every `stride`-th entry of a source. The stride doubles when the index is full.
#[derive(Debug)]
pub(super) struct SeekIndex<P> {
    places: Vec<P>,
    /// Entries between two positions.
    stride: u64,
    max: usize,
}

impl<P: Copy> SeekIndex<P> {
    pub(super) const fn new(max: usize) -> Self {
        Self { places: Vec::new(), stride: 1, max }
    }

    /// Adds the position before an entry, if it is the next one of the index.
    pub(super) fn add(&mut self, entry: u64, place: P) {
        if entry != self.entry(self.places.len()) {
            return;
        }
        self.places.push(place);
        if self.places.len() >= self.max {
            let mut keep = false;
            self.places.retain(|_| {
                keep = !keep;
                keep
            });
            self.stride *= 2;
        }
    }

    /// The position to seek to on the way to an entry; `None` to continue reading from the entry `at`.
    pub(super) fn nearest(&self, entry: u64, at: u64) -> Option<P> {
        let index = usize::try_from(entry / self.stride).unwrap_or(usize::MAX);
        let index = index.min(self.places.len().saturating_sub(1));
        let is_better = entry < at || self.entry(index) > at;
        self.places.get(index).copied().filter(|_| is_better)
    }

    /// The last position, if it is after the entry `at`.
    pub(super) fn last_after(&self, at: u64) -> Option<P> {
        let index = self.places.len().checked_sub(1)?;
        self.places.get(index).copied().filter(|_| self.entry(index) > at)
    }

    /// The entry at a position of the index.
    fn entry(&self, index: usize) -> u64 {
        self.stride.saturating_mul(index as u64)
    }

    #[cfg(test)]
    fn capacity(&self) -> usize {
        self.places.capacity()
    }
}

/// Whether a line of a PGN file is a tag: `[White "…"]`. A bracket in the movetext occurs only in comments, where
/// commands like `[%clk 0:01]` have no quotes.
fn is_header(line: &[u8]) -> bool {
    line.strip_prefix(b"[").is_some_and(|rest| {
        rest.first().is_some_and(u8::is_ascii_alphabetic) && memchr(b'"', rest).is_some()
    })
}

/// The state after a line of movetext.
fn after_moves(mut line: &[u8], mut in_comment: bool) -> State {
    loop {
        let next = if in_comment { memchr(b'}', line) } else { memchr3(b'{', b';', b'\n', line) };
        let Some((&byte, rest)) = next.and_then(|next| line.get(next..)?.split_first()) else {
            return if in_comment { State::Comment } else { State::Moves };
        };
        match byte {
            b'{' => in_comment = true,
            b'}' => in_comment = false,
            // The rest of the line is a comment.
            _ => return State::Moves,
        }
        line = rest;
    }
}

/// Opens a file. A gzip file is decompressed into an anonymous temporary file first, since it is not seekable.
pub(super) fn open_seekable(path: impl AsRef<Path>) -> Result<File, OpeningFault> {
    const MAX_BYTES: u64 = 1 << 36;
    let mut file = File::open(path)?;
    let mut magic = [0; 2];
    let is_gzip = file.read(&mut magic)? == 2 && magic == [0x1f, 0x8b];
    file.rewind()?;
    if is_gzip { decompress(file, MAX_BYTES) } else { Ok(file) }
}

fn decompress(compressed: File, limit: u64) -> Result<File, OpeningFault> {
    let mut file = tempfile::tempfile()?;
    let mut source = MultiGzDecoder::new(BufReader::new(compressed)).take(limit + 1);
    let written = io::copy(&mut source, &mut file)?;
    if written > limit {
        return Err(OpeningDefect::DecompressedTooLarge { limit }.into());
    }
    file.flush()?;
    file.rewind()?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::{Entries, EntryKind, SeekIndex};

    fn entries(text: &str, kind: EntryKind) -> Entries {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(text.as_bytes()).unwrap();
        Entries::open(file.path().to_str().unwrap(), kind).unwrap()
    }

    fn text(entries: &mut Entries, number: u64) -> Option<(u64, String)> {
        let entry = entries.get(number).unwrap()?;
        let text = String::from_utf8(entry.bytes.unwrap()).unwrap();
        Some((entry.line, text.trim().to_owned()))
    }

    #[test]
    fn seeks_in_files_longer_than_the_index() {
        let count = Entries::MAX_MARKS as u64 * 2 + 5;
        let lines: Vec<String> = (0..count).map(|number| format!("\n{number}\n")).collect();
        let mut entries = entries(&lines.concat(), EntryKind::Line);
        let mut check = |number: u64| {
            let expected = (number < count).then(|| (number * 2 + 2, number.to_string()));
            assert_eq!(text(&mut entries, number), expected);
        };
        for number in [0, 1, 2, 70_000, 40_000, 40_001, 3, 65_539, 65_541, 65_540, 0] {
            check(number);
        }
        (0..50).for_each(|step| check(step * 1301));
        assert_eq!(entries.count().unwrap(), count);
        assert_eq!(text(&mut entries, count - 1), Some((count * 2, (count - 1).to_string())));
    }

    #[test]
    fn memory_does_not_grow_with_the_book() {
        const COUNT: u64 = 2_600_000;
        const MAX: usize = 1 << 20;
        let mut file = tempfile::NamedTempFile::new().unwrap();
        let mut out = std::io::BufWriter::new(file.as_file_mut());
        (0..COUNT).for_each(|number| writeln!(out, "{number}").unwrap());
        drop(out);
        let mut entries = Entries::open(file.path().to_str().unwrap(), EntryKind::Line).unwrap();
        assert_eq!(entries.count().unwrap(), COUNT);
        for number in [COUNT - 1, 0, 1_300_001, 7] {
            assert_eq!(text(&mut entries, number), Some((number + 1, number.to_string())));
        }
        let index = entries.index.capacity() * size_of::<super::Cursor>();
        let used = index + entries.buffer.capacity() + entries.reader.capacity();
        assert!(used <= MAX, "{used} bytes");
    }

    #[test]
    fn the_count_does_not_depend_on_previous_reads() {
        let games =
            "[A \"1\"]\n\n1. e4 *\n\n[A \"2\"]\n[B \"2\"]\n\n*\n\n1. d4 {\n\n[A \"3\"]\n} *\n";
        for read in [None, Some(0), Some(1), Some(2), Some(3)] {
            let mut entries = entries(games, EntryKind::Game);
            if let Some(read) = read {
                assert_eq!(entries.get(read).unwrap().is_some(), read < 3);
            }
            assert_eq!(entries.count().unwrap(), 3, "after {read:?}");
            assert_eq!(entries.get(1).unwrap().map(|entry| entry.line), Some(5));
        }
    }

    #[test]
    fn finds_the_nearest_position_at_any_stride() {
        let mut index = SeekIndex::new(8);
        assert_eq!((index.nearest(3, 0), index.last_after(0)), (None, None));
        for entry in 0..1000 {
            index.add(entry, entry);
        }
        assert!(index.places.len() < 8 && index.places.len() >= 4);
        for entry in 0..1000 {
            let found = index.nearest(entry, 1000).unwrap();
            assert!(
                found <= entry
                    && (entry - found < index.stride || found == *index.places.last().unwrap())
            );
            assert_eq!(index.nearest(entry, found), None, "already there");
            assert_eq!(index.nearest(entry, entry), None);
        }
        let last = *index.places.last().unwrap();
        assert_eq!(index.last_after(last - 1), Some(last));
        assert_eq!(index.last_after(last), None);
    }
}
