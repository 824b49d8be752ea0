//! Limits of the size of a game.

use super::{Headers, Limit, RecordErrorKind};

/// The limits of a game. Files can come from untrusted sources, and without limits one "game" could
/// fill the memory.
///
/// A game that exceeds a limit is a [`RecordError`](super::RecordError); reading continues with the
/// next one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of a game.
    pub game_bytes: u64,
    /// Bytes of one comment.
    pub comment_bytes: usize,
    /// Headers of a game.
    pub headers: usize,
    /// Bytes of the name and of the value of a header, each.
    pub header_bytes: usize,
    /// Moves of a game, including all variations.
    pub moves: usize,
    /// Moves of a line from the start of the game; never more than 19,000.
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
    /// Adds a header to the headers of a game.
    pub(super) fn add_header(
        &self,
        headers: &mut Headers,
        name: impl AsRef<str>,
        value: impl AsRef<str>,
    ) -> Result<(), RecordErrorKind> {
        let (name, value) = (name.as_ref(), value.as_ref());
        if headers.len() >= self.headers {
            return Err(RecordErrorKind::LimitExceeded(Limit::TooManyHeaders));
        }
        if name.len().max(value.len()) > self.header_bytes {
            return Err(RecordErrorKind::LimitExceeded(Limit::HeaderTooLong));
        }
        headers.push(name, value);
        Ok(())
    }

    /// Adds a line to a comment. Line ends count, so that the number of empty lines is limited.
    pub(super) fn add_line(&self, comment: &mut String, line: &str) -> Result<(), RecordErrorKind> {
        if comment.len().saturating_add(line.len()) > self.comment_bytes {
            return Err(RecordErrorKind::LimitExceeded(Limit::CommentTooLong));
        }
        comment.push_str(line);
        comment.push('\n');
        Ok(())
    }
}

/// Positions of shogi count moves up to 30,000, and a start position can have the number 10,000.
pub(super) const MAX_PLIES: usize = 19_000;
