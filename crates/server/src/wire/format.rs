//! Formats of exported games.

use readyok_rules::Game;
use readyok_rules::record::{Encoding, Format};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A format of exported games, by its name.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum RecordFormat {
    /// A format of records.
    Record(Format),
    /// The current position as FEN or SFEN.
    Position,
    /// The positions of the main line as EPD (chess) or SFEN lines.
    Epd,
    /// A `position …` line of UCI or USI.
    Line,
}

impl RecordFormat {
    /// All formats. A line of moves is one format for all games.
    pub fn all() -> impl Iterator<Item = Self> {
        let records = Format::ALL.iter().copied();
        let records = records.filter(|record| ![Format::UCI, Format::USI].contains(record));
        records.map(Self::Record).chain([Self::Epd, Self::Position, Self::Line])
    }

    /// The name in requests.
    pub fn name(self) -> &'static str {
        match self {
            Self::Record(format) => format.name(),
            Self::Position => "position",
            Self::Epd => "epd",
            Self::Line => "line",
        }
    }

    /// The extension of files.
    pub fn extension(self) -> &'static str {
        match self {
            Self::Record(format) => format.extension(),
            Self::Epd => "epd",
            Self::Position | Self::Line => "txt",
        }
    }

    pub fn supports(self, game: Game) -> bool {
        match self {
            Self::Record(format) => format.supports(game),
            Self::Position | Self::Epd | Self::Line => true,
        }
    }

    /// The text between two games of a file.
    pub fn separator(self) -> &'static str {
        match self {
            // An empty line, for formats with one game per file.
            Self::Record(format) => format.separator().unwrap_or("\n"),
            Self::Position | Self::Epd | Self::Line => "",
        }
    }

    /// The content type of text in an encoding.
    pub fn content_type(self, encoding: Encoding) -> String {
        let (kind, encoding) = match self {
            Self::Record(format) if format.is_utf8() => (format.media_type(), Encoding::Utf8),
            Self::Record(format) => (format.media_type(), encoding),
            Self::Position | Self::Epd | Self::Line => ("text/plain", encoding),
        };
        format!("{kind}; charset={}", encoding.name().to_ascii_lowercase())
    }
}

impl Serialize for RecordFormat {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl<'de> Deserialize<'de> for RecordFormat {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        let unknown = || D::Error::custom(format!("unknown format `{name}`"));
        Self::all().find(|format| format.name() == name).ok_or_else(unknown)
    }
}
