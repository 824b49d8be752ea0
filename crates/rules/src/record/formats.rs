//! The table of formats, and their detection.

use std::{
    fmt,
    hash::{Hash, Hasher},
};

use crate::Game;

use super::{
    Feature, Format, csa, encoding::decode_beginning, format::FormatRow, jkf, kif, lines,
    loss::Holds, pgn,
};

const CHESS: &[Game] = &[Game::Chess, Game::Chess960];
const SHOGI: &[Game] = &[Game::Shogi];

/// Of formats that are equally certain, the first is detected.
const FORMATS: [FormatRow; 7] = [
    FormatRow {
        name: "pgn",
        description: "Portable Game Notation (chess)",
        extensions: &["pgn"],
        media_type: "text/plain",
        games: CHESS,
        separator: Some(""),
        is_utf8: false,
        holds: Holds::ALL,
        detect: pgn::detect,
        read: |source, limits, _| Box::new(pgn::PgnReader::new(source, limits)),
        write: |record, _| pgn::write(record, pgn::PgnOptions::default()),
    },
    FormatRow {
        name: "kif",
        description: "Kifu for Windows (shogi)",
        extensions: &["kif", "kifu"],
        media_type: "text/plain",
        games: SHOGI,
        separator: None,
        is_utf8: false,
        holds: kif::KIF,
        detect: kif::detect_kif,
        read: |source, limits, from| Box::new(kif::KifReader::new(source, limits, from)),
        write: kif::write_kif,
    },
    FormatRow {
        name: "ki2",
        description: "KIF without origin squares (shogi)",
        extensions: &["ki2", "ki2u"],
        media_type: "text/plain",
        games: SHOGI,
        separator: None,
        is_utf8: false,
        holds: kif::KI2,
        detect: kif::detect_ki2,
        read: |source, limits, from| Box::new(kif::KifReader::new(source, limits, from)),
        write: kif::write_ki2,
    },
    FormatRow {
        name: "csa",
        description: "Computer Shogi Association",
        extensions: &["csa"],
        media_type: "text/plain",
        games: SHOGI,
        separator: Some("/\n"),
        is_utf8: false,
        holds: csa::HOLDS,
        detect: csa::detect,
        read: |source, limits, from| Box::new(csa::CsaReader::new(source, limits, from)),
        write: csa::write,
    },
    FormatRow {
        name: "jkf",
        description: "JSON Kifu Format (shogi)",
        extensions: &["jkf", "json"],
        media_type: "application/json",
        games: SHOGI,
        separator: Some(""),
        is_utf8: true,
        holds: jkf::HOLDS,
        detect: jkf::detect,
        read: |source, limits, from| Box::new(jkf::JkfReader::new(source, limits, from)),
        write: jkf::write,
    },
    FormatRow {
        name: "uci",
        description: "A line of moves per game: `position startpos moves ...`",
        extensions: &["uci", "fen", "epd"],
        media_type: "text/plain",
        games: CHESS,
        separator: Some(""),
        is_utf8: false,
        holds: Holds::MOVES,
        detect: |line, _| lines::detect(line, Game::Chess),
        read: |source, limits, from| Box::new(lines::OneLineReader::new(source, limits, from)),
        write: lines::write,
    },
    FormatRow {
        name: "usi",
        description: "A line of moves per game: `position startpos moves ...`",
        extensions: &["usi", "sfen"],
        media_type: "text/plain",
        games: SHOGI,
        separator: Some(""),
        is_utf8: false,
        holds: Holds::MOVES,
        detect: |line, _| lines::detect(line, Game::Shogi),
        read: |source, limits, from| Box::new(lines::OneLineReader::new(source, limits, from)),
        write: lines::write,
    },
];

impl Format {
    /// All formats.
    pub const ALL: &[Self] = &{
        let rows: &'static [FormatRow; FORMATS.len()] = &FORMATS;
        let mut all = [Self(&rows[0]); FORMATS.len()];
        let mut index = 0;
        while index < all.len() {
            all[index] = Self(&rows[index]);
            index += 1;
        }
        all
    };

    /// Portable Game Notation, for chess and Chess960.
    pub const PGN: Self = Self::named("pgn");
    /// The format of Kifu for Windows, for shogi.
    pub const KIF: Self = Self::named("kif");
    /// KIF with moves in Japanese notation without origin squares, for shogi.
    pub const KI2: Self = Self::named("ki2");
    /// The format of the Computer Shogi Association, for shogi.
    pub const CSA: Self = Self::named("csa");
    /// JSON Kifu Format, for shogi.
    pub const JKF: Self = Self::named("jkf");
    /// A line per game: `position startpos moves e2e4`, or a FEN or EPD alone, for chess and Chess960.
    pub const UCI: Self = Self::named("uci");
    /// A line per game: `position startpos moves 7g7f`, or an SFEN alone, for shogi.
    pub const USI: Self = Self::named("usi");

    /// The format of a row. A name without one does not compile.
    const fn named(name: &str) -> Self {
        let mut index = 0;
        loop {
            let format = Self::ALL[index];
            if is_same(format.0.name.as_bytes(), name.as_bytes()) {
                return format;
            }
            index += 1;
        }
    }

    /// The name in lower case, such as `pgn`.
    pub fn name(self) -> &'static str {
        self.0.name
    }

    /// A short description of the format.
    pub fn description(self) -> &'static str {
        self.0.description
    }

    /// The file extension of written files.
    pub fn extension(self) -> &'static str {
        self.0.extensions.first().unwrap_or(&self.0.name)
    }

    /// All file extensions, in lower case.
    pub fn extensions(self) -> &'static [&'static str] {
        self.0.extensions
    }

    /// The media type, without a charset.
    pub fn media_type(self) -> &'static str {
        self.0.media_type
    }

    /// Whether the format can hold a game.
    pub fn supports(self, game: Game) -> bool {
        self.0.games.contains(&game)
    }

    /// Whether text that is not UTF-8 is probably Japanese.
    pub(super) fn is_japanese(self) -> bool {
        self.supports(Game::Shogi)
    }

    /// Whether it has no other encoding than UTF-8.
    pub fn is_utf8(self) -> bool {
        self.0.is_utf8
    }

    /// The text between two games of a file. `None` if a file can hold only one game.
    pub fn separator(self) -> Option<&'static str> {
        self.0.separator
    }

    /// Whether the format can hold annotations of a kind.
    pub fn holds(self, feature: Feature) -> bool {
        self.0.holds.has(feature)
    }

    /// Whether evaluations have the depth of the search.
    pub fn holds_depths(self) -> bool {
        self.0.holds.depths
    }

    /// The format of a name in any case.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|format| format.name().eq_ignore_ascii_case(name))
    }

    /// The format of a file extension, without its dot and in any case.
    pub fn from_extension(extension: &str) -> Option<Self> {
        Self::of_extension(Self::ALL, extension)
    }

    pub(super) fn of_extension(formats: &[Self], extension: &str) -> Option<Self> {
        let is_known = |known: &&str| known.eq_ignore_ascii_case(extension);
        formats.iter().copied().find(|format| format.0.extensions.iter().any(is_known))
    }

    /// The format of a file with this beginning; a few kilobytes suffice.
    pub fn detect(beginning: &[u8]) -> Option<Self> {
        Self::detect_among(Self::ALL, beginning)
    }

    pub(super) fn detect_among(formats: &[Self], beginning: &[u8]) -> Option<Self> {
        // The markers of the formats of shogi are Japanese.
        let (text, _) = decode_beginning(beginning, true);
        let text = text.trim_start();
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
        lines
            .filter_map(|line| {
                let certain = |format: &Self| Some(((format.0.detect)(line, text)?, *format));
                // Of equal ones, the last is the maximum.
                formats.iter().rev().filter_map(certain).max_by_key(|(certainty, _)| *certainty)
            })
            .map(|(_, format)| format)
            .next()
    }
}

/// Whether texts are equal, as a constant expression.
const fn is_same(one: &[u8], other: &[u8]) -> bool {
    let mut index = 0;
    while index < one.len() && index < other.len() && one[index] == other[index] {
        index += 1;
    }
    index == one.len() && index == other.len()
}

impl PartialEq for Format {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name()
    }
}

impl Eq for Format {}

impl Hash for Format {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name().hash(state);
    }
}

impl fmt::Debug for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name().to_ascii_uppercase())
    }
}

#[cfg(test)]
mod tests;
