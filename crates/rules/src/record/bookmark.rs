//! The offset of a game in a file, from which reading can resume.

use encoding_rs::Encoding;

use super::Format;

/// The start of a game in a file, where [`Records::resume`](super::Records::resume) continues.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bookmark {
    pub(super) format: Format,
    pub(super) offset: u64,
    /// The number of lines before it.
    pub(super) lines: u64,
    pub(super) games: u64,
    /// The encoding that was detected so far.
    pub(super) encoding: Option<&'static Encoding>,
}

impl Bookmark {
    pub(super) const fn start(format: Format) -> Self {
        Self { format, offset: 0, lines: 0, games: 0, encoding: None }
    }

    /// The number of bytes of the file before it.
    pub fn offset(&self) -> u64 {
        self.offset
    }
}
