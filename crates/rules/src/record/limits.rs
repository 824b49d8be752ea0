//! How much of a file is taken for one game.

use super::{Headers, Limit, RecordErrorKind};

/// The most that a reader accepts of one game. A file can come from anyone, and without limits one
/// "game" could fill the memory.
///
/// A game over a limit is a [`RecordError`](super::RecordError), and the next one is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of a game, with everything in it.
    pub game_bytes: u64,
    /// Bytes of one comment.
    pub comment_bytes: usize,
    /// Headers of a game.
    pub headers: usize,
    /// Bytes of a header's name and of its value, each.
    pub header_bytes: usize,
    /// Moves of a game, with those of all variations.
    pub moves: usize,
    /// Moves from the start of a game to the end of any line of it; never more than 19,000.
    pub plies: usize,
    /// Maximum depth of nested variations.
    pub depth: usize,
}

impl Default for Limits {
    /// 8 MiB, with comments of 64 KiB, 256 headers of 16 KiB, 100,000 moves, lines of 12,000 moves
    /// (no game of chess can be longer) and variations 100 deep.
    fn default() -> Self {
        Self {
            game_bytes: 8 << 20,
            comment_bytes: 64 << 10,
            headers: 256,
            header_bytes: 16 << 10,
            moves: 100_000,
            plies: 12_000,
            depth: 100,
        }
    }
}

impl Limits {
    /// Adds a header to those of a game.
    pub(super) fn add_header(
        &self,
        headers: &mut Headers,
        name: impl Into<String>,
        value: impl Into<String>,
    ) -> Result<(), RecordErrorKind> {
        let (name, value) = (name.into(), value.into());
        if headers.len() >= self.headers {
            return Err(RecordErrorKind::TooMuch(Limit::Headers));
        }
        if name.len().max(value.len()) > self.header_bytes {
            return Err(RecordErrorKind::TooMuch(Limit::HeaderBytes));
        }
        headers.push(name, value);
        Ok(())
    }

    /// Adds a line to a comment. Line ends count, or empty lines could be of any number.
    pub(super) fn add_line(&self, comment: &mut String, line: &str) -> Result<(), RecordErrorKind> {
        if comment.len().saturating_add(line.len()) > self.comment_bytes {
            return Err(RecordErrorKind::TooMuch(Limit::CommentBytes));
        }
        comment.push_str(line);
        comment.push('\n');
        Ok(())
    }
}

/// Positions of shogi count moves up to 30,000, and a start position can have number 10,000.
pub(super) const MOST_PLIES: usize = 19_000;
