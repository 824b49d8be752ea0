//! The offset of a game in a file, from which reading can resume.

use encoding_rs::Encoding;

use super::Format;

/// Where a game of a file begins: [`Records::resume`](super::Records::resume) reads on from there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bookmark {
    pub(super) format: Format,
    pub(super) offset: u64,
    /// How many lines and games are before it.
    pub(super) lines: u64,
    pub(super) games: u64,
    /// The encoding that was detected before it.
    pub(super) encoding: Option<&'static Encoding>,
}

impl Bookmark {
    pub(super) const fn start(format: Format) -> Self {
        Self { format, offset: 0, lines: 0, games: 0, encoding: None }
    }

    /// How many bytes of the file are before it.
    pub fn offset(&self) -> u64 {
        self.offset
    }
}
