//! Formats of records, and bookmarks.

use std::fmt;

use super::{Encoding, encoding::decode_beginning, kif, lines};

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
    /// A line per game: `position startpos moves e2e4`, or a FEN or EPD alone, for chess and Chess960.
    Uci,
    /// A line per game: `position startpos moves 7g7f`, or an SFEN alone, for shogi.
    Usi,
}

impl Format {
    /// All formats.
    pub const ALL: [Self; 7] =
        [Self::Pgn, Self::Kif, Self::Ki2, Self::Csa, Self::Jkf, Self::Uci, Self::Usi];

    /// Whether text that is not UTF-8 is probably Japanese.
    pub(super) fn is_japanese(self) -> bool {
        match self {
            Self::Pgn | Self::Uci => false,
            Self::Kif | Self::Ki2 | Self::Csa | Self::Jkf | Self::Usi => true,
        }
    }

    /// The text between two games of a file. `None` if a file can hold only one game.
    pub fn separator(self) -> Option<&'static str> {
        match self {
            Self::Pgn | Self::Jkf | Self::Uci | Self::Usi => Some(""),
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
            "fen" | "epd" | "uci" => Self::Uci,
            "sfen" | "usi" => Self::Usi,
            _ => return None,
        })
    }

    /// The format of a file with this beginning; a few kilobytes suffice.
    pub fn detect(beginning: &[u8]) -> Option<Self> {
        // The markers of the formats of shogi are Japanese.
        let text = decode_beginning(beginning, true);
        let text = text.trim_start();
        if is_json(text) {
            return Some(Self::Jkf);
        }
        text.lines().map(str::trim).filter(|line| !line.is_empty()).find_map(line_format)
    }
}

/// Whether a text begins like a JSON object. A comment of PGN can begin with a brace and a quote.
fn is_json(text: &str) -> bool {
    let Some(rest) = text.strip_prefix('{') else { return false };
    let rest = rest.trim_start();
    let name = rest.strip_prefix('"').and_then(|rest| rest.split_once('"'));
    rest.starts_with('}') || name.is_some_and(|(_, rest)| rest.trim_start().starts_with(':'))
}

/// The format that a line identifies.
fn line_format(line: &str) -> Option<Format> {
    let begins = |starts: &[&str]| starts.iter().any(|start| line.starts_with(start));
    let digit = |text: &str| text.starts_with(|letter: char| letter.is_ascii_digit());
    if begins(&["[", "{", ";", "%"]) {
        return Some(Format::Pgn);
    }
    if let Some(format) = lines::format_of(line) {
        return Some(format);
    }
    if begins(&["▲", "△", "▼", "▽", "☗", "☖"]) {
        return Some(Format::Ki2);
    }
    if begins(&["#KIF", "# ---", "手数--", "手合割："]) || line.contains('：') {
        // Headers of KI2 look the same, but KI2 has no line above its moves.
        return Some(Format::Kif);
    }
    if begins(&["'", "N+", "N-", "$", "PI", "P1"])
        || line.strip_prefix('V').is_some_and(digit)
        || line.strip_prefix(['+', '-']).is_some_and(digit)
    {
        return Some(Format::Csa);
    }
    let number = line.trim_start_matches(|letter: char| letter.is_ascii_digit());
    if number.len() < line.len() && number.starts_with(' ') && !number.is_ascii() {
        return Some(Format::Kif);
    }
    if !line.starts_with(|letter: char| letter.is_ascii()) && kif::begins_a_square(line) {
        return Some(if line.contains('(') { Format::Kif } else { Format::Ki2 });
    }
    let is_numbered = number.len() < line.len() && number.starts_with(['.', ' ']);
    (is_numbered || line.split_whitespace().next().is_some_and(is_san)).then_some(Format::Pgn)
}

/// Whether a token is a move of chess in SAN.
fn is_san(token: &str) -> bool {
    let token = token.trim_end_matches(['!', '?', '+', '#']);
    !token.bytes().all(|byte| byte.is_ascii_digit())
        && (token.parse::<shakmaty::san::San>().is_ok() || matches!(token, "0-0" | "0-0-0"))
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Pgn => "PGN",
            Self::Kif => "KIF",
            Self::Ki2 => "KI2",
            Self::Csa => "CSA",
            Self::Jkf => "JKF",
            Self::Uci => "UCI",
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
