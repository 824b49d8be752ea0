//! Lines that came together, in one piece of memory.

use std::collections::{HashSet, VecDeque};
use std::time::Instant;

use readyok_protocol::{Dialect, LineTooLong, Reply, decode};

/// Enough for the lines of a deep search with a hundred variations.
const MAX_LINES: usize = 4096;
const MAX_BYTES: usize = 8 << 20;
/// More room than this is given back when it is not needed any more.
const KEPT_BYTES: usize = 1 << 16;

#[derive(Debug, Default)]
pub(crate) struct Batch {
    text: String,
    /// Where the first line begins.
    start: usize,
    lines: VecDeque<Line>,
}

/// One line, and when it came.
#[derive(Clone, Copy, Debug)]
struct Line {
    length: usize,
    too_long: Option<LineTooLong>,
    at: Instant,
}

impl Batch {
    pub(crate) fn len(&self) -> usize {
        self.lines.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    pub(crate) fn is_full(&self) -> bool {
        MAX_LINES <= self.lines.len() || MAX_BYTES <= self.text.len()
    }

    pub(crate) fn push(&mut self, line: Result<&[u8], LineTooLong>, at: Instant) {
        let before = self.text.len();
        let too_long = line.map(|line| self.text.push_str(&decode(line).0)).err();
        self.lines.push_back(Line { length: self.text.len() - before, too_long, at });
    }

    /// When the first line came.
    pub(crate) fn first_at(&self) -> Option<Instant> {
        self.lines.front().map(|line| line.at)
    }

    /// Takes the first line.
    pub(crate) fn pop(&mut self) -> Option<Result<&str, LineTooLong>> {
        let line = self.lines.pop_front()?;
        let end = self.start + line.length;
        let text = self.text.get(self.start..end).unwrap_or_default();
        self.start = end;
        Some(line.too_long.map_or(Ok(text), Err))
    }

    /// Drops all lines.
    pub(crate) fn clear(&mut self) {
        self.lines.clear();
        self.reset();
    }

    /// Gives the memory of lines that were taken back. Only for a batch that is empty.
    pub(crate) fn reset(&mut self) {
        self.start = 0;
        self.text.clear();
        self.text.shrink_to(KEPT_BYTES);
    }

    /// Drops each line that a later one makes superfluous. Tells whether that made enough room
    /// to be worth its time.
    pub(crate) fn compact(&mut self, dialect: Dialect) -> bool {
        let mut seen = HashSet::new();
        let mut kept = Vec::new();
        let mut end = self.text.len();
        for line in self.lines.drain(..).rev() {
            let text = self.text.get(end - line.length..end).unwrap_or_default();
            end -= line.length;
            let subject = subject(text, line.too_long.is_some(), dialect);
            if subject.is_none() {
                seen.clear();
            }
            if subject.is_none_or(|subject| seen.insert(subject)) {
                kept.push((line, text));
            }
        }
        let mut text = String::new();
        for (line, words) in kept.into_iter().rev() {
            text.push_str(words);
            self.lines.push_back(line);
        }
        (self.text, self.start) = (text, 0);
        self.lines.len() <= MAX_LINES / 2 && self.text.len() <= MAX_BYTES / 2
    }
}

/// What a line is about, if a later line about the same makes it superfluous.
#[derive(Eq, Hash, PartialEq)]
enum Subject {
    Variation(u32),
    Progress,
    Text,
    Noise,
}

fn subject(text: &str, too_long: bool, dialect: Dialect) -> Option<Subject> {
    if too_long {
        return Some(Subject::Noise);
    }
    match Reply::read(text, dialect).value {
        Reply::Info(info) if info.score.is_some() || info.pv.is_some() => {
            Some(Subject::Variation(info.multipv.unwrap_or(1)))
        }
        Reply::Info(info) if info.string.is_some() => Some(Subject::Text),
        Reply::Info(_) => Some(Subject::Progress),
        Reply::Unknown(_) => Some(Subject::Noise),
        Reply::Id(_)
        | Reply::Option(_)
        | Reply::HelloOk
        | Reply::ReadyOk
        | Reply::BestMove(_)
        | Reply::Checkmate(_)
        | Reply::CopyProtection(_)
        | Reply::Registration(_) => None,
    }
}
