//! Input of the readers: bytes and lines with locations, and the loop over the games of a file.

use std::io::{BufRead, Read};

use crate::error::shortened;

use super::{
    Bookmark, Defect, Format, GameRecord, Limit, Limits, NoticeReason, ReadExtent, RecordErrorKind,
    encoding::Transcoder,
    format::{Games, Location, ReadingState},
};

/// A line without its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Line {
    pub(super) number: u64,
    /// The number of bytes of the file before it.
    offset: u64,
    pub(super) text: String,
}

impl Line {
    /// The location of a part of the line.
    pub(super) fn location(&self, part: &str) -> Location {
        let offset = (part.as_ptr() as usize).saturating_sub(self.text.as_ptr() as usize);
        let before = self.text.get(..offset).unwrap_or(&self.text);
        Location { line: self.number, column: before.chars().count() as u64 + 1 }
    }
}

/// Reads lines.
#[derive(Debug)]
pub(super) struct Lines<R> {
    input: Transcoder<R>,
    limits: Limits,
    number: u64,
    /// The location of the next line in the source.
    offset: u64,
    pushed_back: Option<Line>,
    game_bytes: u64,
}

impl<R: BufRead> Lines<R> {
    pub(super) fn new(input: Transcoder<R>, limits: Limits, from: Bookmark) -> Self {
        let Bookmark { lines: number, offset, .. } = from;
        Self { input, limits, number, offset, pushed_back: None, game_bytes: 0 }
    }

    /// The location of the next line, after a number of games.
    pub(super) fn bookmark(&self, format: Format, games: u64) -> Bookmark {
        let (lines, offset) = match &self.pushed_back {
            Some(line) => (line.number - 1, line.offset),
            None => (self.number, self.offset),
        };
        Bookmark { format, offset, lines, games, encoding: self.input.encoding() }
    }

    pub(super) fn limits(&self) -> &Limits {
        &self.limits
    }

    /// A line with the content of the last one.
    pub(super) fn virtual_line(&self, text: String) -> Line {
        Line { number: self.number, offset: self.offset, text }
    }

    /// The location of the last line.
    pub(super) fn location(&self) -> Location {
        Location { line: self.number.max(1), column: 1 }
    }

    /// Starts counting the bytes of another game.
    pub(super) fn begin_game(&mut self) {
        self.game_bytes = 0;
    }

    /// Makes a line the next one again.
    pub(super) fn push_back(&mut self, line: Line) {
        self.pushed_back = Some(line);
    }

    /// The next line. `None` at the end of the file.
    pub(super) fn next(&mut self) -> Result<Option<Line>, RecordErrorKind> {
        if let Some(line) = self.pushed_back.take() {
            return Ok(Some(line));
        }
        let offset = self.offset;
        let Some(bytes) = self.read_bytes()? else { return Ok(None) };
        self.number += 1;
        if self.game_bytes > self.limits.game_bytes {
            return Err(RecordErrorKind::LimitExceeded(Limit::GameTooLarge));
        }
        let mut text = String::from_utf8(bytes)
            .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned());
        // Concatenated files have byte order marks between their games.
        if text.starts_with('\u{feff}') {
            text.remove(0);
        }
        Ok(Some(Line { number: self.number, offset, text }))
    }

    /// The bytes of a line without its end.
    fn read_bytes(&mut self) -> Result<Option<Vec<u8>>, RecordErrorKind> {
        let mut bytes = Vec::new();
        let max = self.limits.comment_bytes.saturating_add(self.limits.header_bytes);
        let max = u64::try_from(max).unwrap_or(u64::MAX);
        let limit = max.min(self.limits.game_bytes).saturating_add(2);
        let count = (&mut self.input).take(limit).read_until(b'\n', &mut bytes)?;
        if count == 0 {
            return Ok(None);
        }
        self.game_bytes += count as u64;
        if bytes.last() == Some(&b'\n') {
            bytes.pop();
        } else if count as u64 == limit {
            self.skip_line()?;
            self.number += 1;
            return Err(RecordErrorKind::LimitExceeded(if limit > self.limits.game_bytes {
                Limit::GameTooLarge
            } else {
                Limit::CommentTooLong
            }));
        }
        self.offset = self.input.offset().unwrap_or(self.offset);
        if bytes.last() == Some(&b'\r') {
            bytes.pop();
        }
        Ok(Some(bytes))
    }

    fn skip_line(&mut self) -> Result<(), RecordErrorKind> {
        self.input.skip_until(b'\n')?;
        self.offset = self.input.offset().unwrap_or(self.offset);
        Ok(())
    }
}

/// A reader of a format whose games are lines.
pub(super) struct LineReader<R, S> {
    pub(super) lines: Lines<R>,
    pub(super) format: Format,
    /// The location of the last line, or of a part of it.
    pub(super) location: Location,
    pub(super) state: ReadingState,
    /// What the format remembers of the current game.
    pub(super) game: S,
}

/// How lines are a game.
pub(super) trait ReadLines {
    /// Reads a game. `None` at the end of the source.
    fn read_game(&mut self) -> Result<Option<GameRecord>, RecordErrorKind>;

    /// Skips the rest of a game that cannot be read. False if the source ends.
    fn skip_game(&mut self) -> bool;
}

impl<R: BufRead, S: Default> LineReader<R, S> {
    pub(super) fn new(input: Transcoder<R>, limits: Limits, from: Bookmark) -> Self {
        Self {
            lines: Lines::new(input, limits, from),
            format: from.format,
            location: Location::START,
            state: ReadingState::after(from.games),
            game: S::default(),
        }
    }

    /// The next line, which becomes the location.
    pub(super) fn next_line(&mut self) -> Result<Option<Line>, RecordErrorKind> {
        let line = self.lines.next()?;
        if let Some(line) = &line {
            self.location = Location { line: line.number, column: 1 };
        }
        Ok(line)
    }

    pub(super) fn notice(&mut self, reason: NoticeReason) {
        self.state.notice(self.location, reason, ReadExtent::All);
    }

    pub(super) fn skipped(&mut self, text: &str) {
        self.notice(NoticeReason::Defect(Defect::TextSkipped { text: shortened(text) }));
    }
}

impl<R: BufRead, S> Games for LineReader<R, S>
where
    Self: ReadLines,
{
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
        self.location.max(self.lines.location())
    }

    fn read_game(&mut self) -> Result<Option<GameRecord>, RecordErrorKind> {
        ReadLines::read_game(self)
    }

    fn skip_game(&mut self) -> bool {
        ReadLines::skip_game(self)
    }
}
