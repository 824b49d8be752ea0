//! Formats of converted files: those of records, and positions per line.

use std::fmt;
use std::path::Path;
use std::sync::LazyLock;

use clap::ValueEnum;
use clap::builder::PossibleValue;
use readyok_rules::Game;
use readyok_rules::record::Format;

use readyok_rules::record::compression::Compression;

/// A format of a file that is read or written.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum FileFormat {
    Record(Format),
    /// A position of shogi per line.
    Sfen,
    /// A position of chess per line, with the next move.
    Epd,
    /// A position of chess per line; as input, also one of shogi.
    Fen,
}

/// The formats that can be named. `usi` writes the lines of UCI for games of chess.
static NAMED: LazyLock<Vec<FileFormat>> = LazyLock::new(|| {
    let records = Format::ALL.iter().copied().filter(|format| *format != Format::UCI);
    let own = [FileFormat::Sfen, FileFormat::Epd, FileFormat::Fen];
    records.map(FileFormat::Record).chain(own).collect()
});

impl FileFormat {
    /// The format of written files with an extension, also before that of a compressed file.
    pub(crate) fn of(path: &Path) -> Option<Self> {
        let path = Compression::of(path).map_or(path, |(_, stem)| stem);
        let extension = path.extension()?.to_str()?.to_ascii_lowercase();
        let own = [Self::Sfen, Self::Epd, Self::Fen].into_iter();
        let mut own = own.filter(|format| format.name() == extension);
        own.next().or_else(|| Format::from_extension(&extension).map(Self::Record))
    }

    /// The format of files that are read.
    pub(super) fn of_input(path: &Path) -> Option<Self> {
        Self::of(path).map(Self::as_input)
    }

    /// The format as that of input: moves can follow an SFEN.
    pub(crate) fn as_input(self) -> Self {
        if self == Self::Sfen { Self::Record(Format::USI) } else { self }
    }

    pub(super) fn supports(self, game: Game) -> bool {
        match self {
            Self::Record(format) => format.supports(game),
            Self::Sfen => game == Game::Shogi,
            Self::Epd | Self::Fen => game != Game::Shogi,
        }
    }

    /// Whether it has no other encoding than UTF-8.
    pub(super) fn is_utf8(self) -> bool {
        match self {
            Self::Record(format) => format.is_utf8(),
            Self::Sfen | Self::Epd | Self::Fen => false,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Record(format) => format.name(),
            Self::Sfen => "sfen",
            Self::Epd => "epd",
            Self::Fen => "fen",
        }
    }

    /// The file extension.
    pub(super) fn extension(self) -> &'static str {
        match self {
            Self::Record(format) => format.extension(),
            other => other.name(),
        }
    }

    /// The text between two games. `None` if a file holds only one.
    pub(super) fn separator(self) -> Option<&'static str> {
        match self {
            Self::Record(format) => format.separator(),
            Self::Fen | Self::Sfen | Self::Epd => Some(""),
        }
    }
}

impl ValueEnum for FileFormat {
    fn value_variants<'a>() -> &'a [Self] {
        &NAMED
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        let help = match self {
            Self::Record(format) => format.description(),
            Self::Sfen => "A position per line (shogi)",
            Self::Epd => "A position per line with the next move (chess)",
            Self::Fen => "A position per line (chess)",
        };
        let value = PossibleValue::new(self.name()).help(help);
        let is_usi = *self == Self::Record(Format::USI);
        Some(if is_usi { value.alias(Format::UCI.name()) } else { value })
    }
}

impl fmt::Display for FileFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name().to_ascii_uppercase())
    }
}
