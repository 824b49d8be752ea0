//! The entries of a file by their number, without the file in memory.
//!
//! The file is read once from the start to where it is needed, and the places of a few entries are
//! noted on the way: from the nearest of them, any entry is found again by reading some lines.

use std::fs::File;
use std::io::{self, BufRead, BufReader, ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::Path;

use flate2::read::MultiGzDecoder;
use memchr::{memchr, memchr3};

use super::OpeningFault;
use super::marks::Marks;

/// What an entry is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A line that is neither blank nor begins with `#`.
    Line,
    /// A game of a PGN file.
    Game,
}

/// An entry of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    /// Its first line, from 1 on.
    pub(super) line: u64,
    /// Its bytes; none if they are more than [`Entries::LONGEST`].
    pub(super) bytes: Option<Vec<u8>>,
}

/// A file that is read entry by entry.
#[derive(Debug)]
pub(super) struct Entries {
    kind: Kind,
    reader: BufReader<File>,
    marks: Marks<Cursor>,
    at: Cursor,
    state: State,
    /// The line that was read last belongs to the next entry.
    held: Option<Line>,
    /// The bytes of the line that was read last.
    buffer: Vec<u8>,
    count: Option<u64>,
}

/// Before an entry.
#[derive(Clone, Copy, Debug, Default)]
struct Cursor {
    /// The number of the entry.
    entry: u64,
    offset: u64,
    /// The number of the next line, from 0 on.
    line: u64,
}

/// A line of the file.
#[derive(Clone, Copy, Debug)]
struct Line {
    offset: u64,
    /// From 0 on.
    number: u64,
    too_long: bool,
}

/// What the lines of a game so far were.
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
    /// Longer lines, and games, are not read: in bytes.
    pub(super) const LONGEST: usize = 1 << 20;
    /// See [`Marks`].
    const MOST_MARKS: usize = 1 << 15;

    pub(super) fn open(path: &str, kind: Kind) -> Result<Self, OpeningFault> {
        Ok(Self {
            kind,
            reader: BufReader::with_capacity(1 << 15, plain(path)?),
            marks: Marks::new(Self::MOST_MARKS),
            at: Cursor::default(),
            state: State::default(),
            held: None,
            buffer: Vec::new(),
            count: None,
        })
    }

    pub(super) fn kind(&self) -> Kind {
        self.kind
    }

    /// How many there are, if the file was read to its end.
    pub(super) fn known_count(&self) -> Option<u64> {
        self.count
    }

    /// How many there are. Reads to the end of the file, once.
    pub(super) fn count(&mut self) -> io::Result<u64> {
        loop {
            if let Some(count) = self.count {
                return Ok(count);
            }
            if let Some(last) = self.marks.last_ahead_of(self.at.entry) {
                self.go_to(last)?;
            }
            self.step(None)?;
        }
    }

    /// An entry by its number; none if there are not so many.
    pub(super) fn get(&mut self, entry: u64) -> io::Result<Option<Entry>> {
        if self.count.is_some_and(|count| entry >= count) {
            return Ok(None);
        }
        if let Some(mark) = self.marks.nearest(entry, self.at.entry) {
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

    /// Goes past one entry, and keeps its bytes if that is wanted. Returns its first line, with
    /// whether all of it is too long; none at the end of the file.
    fn step(&mut self, mut keep: Option<&mut Vec<u8>>) -> io::Result<Option<Line>> {
        let Some(mut first) = self.first_line()? else {
            self.count = Some(self.at.entry);
            return Ok(None);
        };
        let entry = self.at.entry;
        self.marks.note(entry, Cursor { entry, offset: first.offset, line: first.number });
        let mut line = first;
        loop {
            first.too_long |= line.too_long;
            if let Some(bytes) = &mut keep {
                first.too_long |= bytes.len() + self.buffer.len() > Self::LONGEST;
                if !first.too_long {
                    bytes.extend_from_slice(&self.buffer);
                }
            }
            if self.kind == Kind::Line {
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

    /// The first line of the next entry, in the buffer.
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

    /// Whether a line is the first of an entry, if it is not within one.
    fn begins_entry(&self, line: &[u8]) -> bool {
        let line = line.trim_ascii();
        match (self.kind, self.state) {
            (Kind::Line, _) => !line.is_empty() && !line.starts_with(b"#"),
            (Kind::Game, State::Nothing | State::Gap) => {
                !line.is_empty() && !line.starts_with(b"%")
            }
            (Kind::Game, State::Headers | State::Comment) => false,
            (Kind::Game, State::Moves) => is_header(line),
        }
    }

    /// What is known of a game after another of its lines.
    fn state_after(&self, line: &[u8]) -> State {
        let trimmed = line.trim_ascii();
        match (self.kind, self.state) {
            (Kind::Line, state) => state,
            (Kind::Game, State::Comment) => after_moves(line, true),
            (Kind::Game, State::Moves | State::Gap) if trimmed.is_empty() => State::Gap,
            (Kind::Game, state) if trimmed.is_empty() || line.starts_with(b"%") => state,
            (Kind::Game, State::Nothing | State::Headers) if is_header(trimmed) => State::Headers,
            (Kind::Game, _) => after_moves(line, false),
        }
    }

    /// Reads a line into the buffer, without its end if it is too long.
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
            if self.buffer.len() + length <= Self::LONGEST {
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

/// Whether a line of a PGN file is a header: `[White "…"]`. Moves can begin with a bracket only in
/// a comment, where commands like `[%clk 0:01]` have no quotes.
fn is_header(line: &[u8]) -> bool {
    line.strip_prefix(b"[").is_some_and(|rest| {
        rest.first().is_some_and(u8::is_ascii_alphabetic) && memchr(b'"', rest).is_some()
    })
}

/// Whether a line of moves ends within a comment.
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

/// Opens a file. One with a gzip header is unpacked into a nameless temporary file first, since
/// only plain files can be read at any place.
pub(super) fn plain(path: impl AsRef<Path>) -> Result<File, OpeningFault> {
    /// In bytes.
    const LARGEST: u64 = 1 << 36;
    let mut file = File::open(path)?;
    let mut magic = [0; 2];
    let is_gzip = file.read(&mut magic)? == 2 && magic == [0x1f, 0x8b];
    file.rewind()?;
    if is_gzip { unpacked(file, LARGEST) } else { Ok(file) }
}

fn unpacked(packed: File, limit: u64) -> Result<File, OpeningFault> {
    let mut file = tempfile::tempfile()?;
    let mut source = MultiGzDecoder::new(BufReader::new(packed)).take(limit + 1);
    let written = io::copy(&mut source, &mut file)?;
    if written > limit {
        return Err(OpeningFault::TooLarge { limit });
    }
    file.flush()?;
    file.rewind()?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::{Entries, Kind};

    fn entries(text: &str, kind: Kind) -> Entries {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(text.as_bytes()).unwrap();
        Entries::open(file.path().to_str().unwrap(), kind).unwrap()
    }

    fn text(entries: &mut Entries, number: u64) -> Option<(u64, String)> {
        let entry = entries.get(number).unwrap()?;
        let text = String::from_utf8(entry.bytes.unwrap()).unwrap();
        Some((entry.line, text.trim().to_owned()))
    }

    /// More entries than places are noted for.
    #[test]
    fn an_entry_of_a_long_file_is_found_from_anywhere() {
        let count = Entries::MOST_MARKS as u64 * 2 + 5;
        let lines: Vec<String> = (0..count).map(|number| format!("\n{number}\n")).collect();
        let mut entries = entries(&lines.concat(), Kind::Line);
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

    /// As many entries as the largest books have: what is kept of them does not grow with the file.
    #[test]
    fn a_book_of_millions_of_lines_takes_little_memory() {
        const COUNT: u64 = 2_600_000;
        const MOST: usize = 1 << 20;
        let mut file = tempfile::NamedTempFile::new().unwrap();
        let mut out = std::io::BufWriter::new(file.as_file_mut());
        (0..COUNT).for_each(|number| writeln!(out, "{number}").unwrap());
        drop(out);
        let mut entries = Entries::open(file.path().to_str().unwrap(), Kind::Line).unwrap();
        assert_eq!(entries.count().unwrap(), COUNT);
        for number in [COUNT - 1, 0, 1_300_001, 7] {
            assert_eq!(text(&mut entries, number), Some((number + 1, number.to_string())));
        }
        let marks = entries.marks.capacity() * size_of::<super::Cursor>();
        let kept = marks + entries.buffer.capacity() + entries.reader.capacity();
        assert!(kept <= MOST, "{kept} bytes");
    }

    #[test]
    fn the_count_does_not_depend_on_what_was_read() {
        let games =
            "[A \"1\"]\n\n1. e4 *\n\n[A \"2\"]\n[B \"2\"]\n\n*\n\n1. d4 {\n\n[A \"3\"]\n} *\n";
        for read in [None, Some(0), Some(1), Some(2), Some(3)] {
            let mut entries = entries(games, Kind::Game);
            if let Some(read) = read {
                assert_eq!(entries.get(read).unwrap().is_some(), read < 3);
            }
            assert_eq!(entries.count().unwrap(), 3, "after {read:?}");
            assert_eq!(entries.get(1).unwrap().map(|entry| entry.line), Some(5));
        }
    }
}
