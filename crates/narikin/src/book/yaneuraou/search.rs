//! Looking a position up in a sorted book without reading all of it.

use std::cmp::Ordering;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};

use super::line::{Line, TextMove};

/// Fewer bytes are read from one end to the other.
const BLOCK: u64 = 4096;

/// What is longer counts as several lines.
const LONGEST_LINE: u64 = 1 << 16;

/// Reads the lines of a book, from any place on.
#[derive(Debug)]
pub(super) struct Lines {
    file: BufReader<File>,
    bytes: u64,
    /// Where the next line begins.
    place: u64,
    line: Vec<u8>,
}

impl Lines {
    pub(super) fn new(file: File) -> io::Result<Self> {
        let bytes = file.metadata()?.len();
        Ok(Self { file: BufReader::new(file), bytes, place: 0, line: Vec::new() })
    }

    /// How many bytes there are.
    pub(super) const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Where the next line begins.
    pub(super) const fn place(&self) -> u64 {
        self.place
    }

    /// The next line, with the place where it begins.
    pub(super) fn next(&mut self) -> io::Result<Option<(u64, Line)>> {
        self.line.clear();
        let place = self.place;
        let read = self.file.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut self.line)?;
        self.place += u64::try_from(read).unwrap_or(0);
        Ok((read > 0).then(|| (place, Line::read(&self.line))))
    }

    /// Goes on with the first line that begins at a place or after it.
    fn go_to(&mut self, place: u64) -> io::Result<()> {
        self.place = place.saturating_sub(1);
        self.file.seek(SeekFrom::Start(self.place))?;
        if 0 < place {
            self.next()?;
        }
        Ok(())
    }

    /// The next position that can be read, with the place where it begins. Places of others are
    /// `unreadable`.
    fn next_position(
        &mut self,
        unreadable: &mut impl FnMut(u64),
    ) -> io::Result<Option<(u64, String)>> {
        while let Some((place, line)) = self.next()? {
            match line {
                Line::Position(sfen) => return Ok(Some((place, sfen))),
                Line::Unreadable { is_position: true } => unreadable(place),
                Line::Unreadable { is_position: false } | Line::Move(_) | Line::Other => (),
            }
        }
        Ok(None)
    }

    /// The moves of a position; none if it is not in the book. Places of lines on the way that cannot be
    /// read are `unreadable`.
    pub(super) fn find(
        &mut self,
        sfen: &str,
        unreadable: &mut impl FnMut(u64),
    ) -> io::Result<Vec<TextMove>> {
        let (mut low, mut high) = (0, self.bytes);
        while BLOCK < high - low {
            let middle = low.midpoint(high);
            self.go_to(middle)?;
            match self.next_position(unreadable)? {
                Some((place, found)) if found.as_str() < sfen && place < high => low = place,
                Some((_, found)) if found == sfen => return self.moves(unreadable),
                Some(_) | None => high = middle,
            }
        }
        self.go_to(low)?;
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
        while let Some((place, line)) = self.next()? {
            match line {
                Line::Move(mv) => moves.push(mv),
                Line::Other => (),
                Line::Unreadable { is_position: false } => unreadable(place),
                Line::Position(_) | Line::Unreadable { is_position: true } => break,
            }
        }
        Ok(moves)
    }
}
