//! Formats of records, and bookmarks.

use std::fmt;

use super::{Encoding, encoding::decode_beginning};

/// A format of game records.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Format {
    /// Portable Game Notation, for chess and Chess960.
    Pgn,
    /// The format of Kifu for Windows, for shogi.
    Kif,
    /// KIF with moves in Japanese notation without origin squares, for shogi.
    Ki2,
    /// The format of the Computer Shogi Association, for shogi.
    Csa,
    /// JSON Kifu Format, for shogi.
    Jkf,
    /// A line per game: `position startpos moves 7g7f`, or an SFEN alone, for shogi.
    Usi,
}

impl Format {
    /// All formats.
    pub const ALL: [Self; 6] = [Self::Pgn, Self::Kif, Self::Ki2, Self::Csa, Self::Jkf, Self::Usi];

    /// Whether text that is not UTF-8 is probably Japanese.
    pub(super) fn is_japanese(self) -> bool {
        match self {
            Self::Pgn => false,
            Self::Kif | Self::Ki2 | Self::Csa | Self::Jkf | Self::Usi => true,
        }
    }

    /// The text between two games of a file. `None` if a file can hold only one game.
    pub fn separator(self) -> Option<&'static str> {
        match self {
            Self::Pgn | Self::Jkf | Self::Usi => Some(""),
            Self::Csa => Some("/\n"),
            Self::Kif | Self::Ki2 => None,
        }
    }

    /// The format of a file extension, without its dot and in any case.
    pub fn from_extension(extension: &str) -> Option<Self> {
        Some(match extension.to_ascii_lowercase().as_str() {
            "pgn" => Self::Pgn,
            "kif" | "kifu" => Self::Kif,
            "ki2" | "ki2u" => Self::Ki2,
            "csa" => Self::Csa,
            "jkf" | "json" => Self::Jkf,
            "sfen" | "usi" => Self::Usi,
            _ => return None,
        })
    }

    /// The format of a file with this beginning; a few kilobytes suffice.
    pub fn detect(beginning: &[u8]) -> Option<Self> {
        // The markers of the formats of shogi are Japanese.
        let text = decode_beginning(beginning, true);
        let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
        let first = lines.clone().next()?;
        if first.starts_with('{') && first.trim_start_matches(['{', ' ']).starts_with(['"', '}'])
            || first == "{"
        {
            return Some(Self::Jkf);
        }
        lines.find_map(line_format)
    }
}

/// The format that a line identifies.
fn line_format(line: &str) -> Option<Format> {
    let begins = |starts: &[&str]| starts.iter().any(|start| line.starts_with(start));
    let digit = |text: &str| text.starts_with(|letter: char| letter.is_ascii_digit());
    if begins(&["position ", "startpos", "sfen "]) || line.split('/').count() == 9 {
        return Some(Format::Usi);
    }
    if begins(&["▲", "△", "▼", "▽", "☗", "☖"]) {
        return Some(Format::Ki2);
    }
    if begins(&["#KIF", "# ---", "手数--", "手合割："]) || line.contains('：') {
        // Headers of KI2 look the same, but KI2 has no line above its moves.
        return Some(Format::Kif);
    }
    if begins(&["'", "N+", "N-", "$", "PI", "P1"]) || line.strip_prefix('V').is_some_and(digit) {
        return Some(Format::Csa);
    }
    let number = line.trim_start_matches(|letter: char| letter.is_ascii_digit());
    let kif = number.len() < line.len() && number.starts_with(' ') && !number.is_ascii();
    if kif {
        return Some(Format::Kif);
    }
    begins(&["[", "1.", "1 ", "{", ";", "%"]).then_some(Format::Pgn)
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Pgn => "PGN",
            Self::Kif => "KIF",
            Self::Ki2 => "KI2",
            Self::Csa => "CSA",
            Self::Jkf => "JKF",
            Self::Usi => "USI",
        })
    }
}

/// The start of a game in a file, where [`Records::resume`](super::Records::resume) continues.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bookmark {
    pub(super) format: Format,
    pub(super) offset: u64,
    /// The number of lines before it.
    pub(super) lines: u64,
    pub(super) games: u64,
    /// The encoding that was detected so far.
    pub(super) encoding: Option<Encoding>,
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
