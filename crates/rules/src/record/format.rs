//! The formats of records, their detection, and reading and writing in any of them.

use std::{
    fmt,
    io::{self, BufRead, BufReader, Read, Write},
};

use super::{
    Bookmark, GameRecord, Limits, RecordError, RecordErrorKind, RecordWarning, WriteError, csa,
    games::Games as _, jkf, kif, lines::to_shift_jis, pgn, usi,
};

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
        let beginning = beginning.strip_prefix(b"\xef\xbb\xbf").unwrap_or(beginning);
        // Shift_JIS is decoded first, as the markers are Japanese.
        let text = match std::str::from_utf8(beginning) {
            Ok(text) => text.into(),
            Err(error) if error.error_len().is_none() => String::from_utf8_lossy(beginning),
            Err(_) => encoding_rs::SHIFT_JIS.decode_without_bom_handling(beginning).0,
        };
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

/// A character encoding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Encoding {
    /// UTF-8 without a byte order mark.
    #[default]
    Utf8,
    /// `Shift_JIS` as on Windows. Characters that it lacks become question marks.
    ShiftJis,
}

impl Encoding {
    fn name(self) -> &'static str {
        match self {
            Self::Utf8 => "UTF-8",
            Self::ShiftJis => "Shift_JIS",
        }
    }
}

/// Reads the games of a file one by one, within the default [`Limits`].
///
/// Without a format, the beginning of the file is used to detect it. KIF and KI2 have the same reader.
/// PGN is read as UTF-8 or, if invalid, as Latin-1; the formats of shogi as UTF-8 or `Shift_JIS`.
pub fn read<R: Read>(source: R, format: impl Into<Option<Format>>) -> Records<R> {
    Records::new(source, format, Limits::default())
}

/// Writes a record in UTF-8. [`Format::separator`] separates several in a file.
pub fn write<W: Write>(record: &GameRecord, format: Format, out: &mut W) -> Result<(), WriteError> {
    write_encoded(record, format, Encoding::Utf8, out)
}

/// Writes a record in an encoding. PGN and JKF are always UTF-8.
pub fn write_encoded<W: Write>(
    record: &GameRecord,
    format: Format,
    encoding: Encoding,
    out: &mut W,
) -> Result<(), WriteError> {
    let text = match format {
        Format::Pgn => return pgn::write_pgn(record, &pgn::PgnOptions::default(), out),
        Format::Jkf => return Ok(out.write_all(jkf::write(record)?.as_bytes())?),
        Format::Kif => kif::write_kif(record, encoding.name())?,
        Format::Ki2 => kif::write_ki2(record)?,
        Format::Csa => csa::write(record, &encoding.name().to_ascii_uppercase())?,
        Format::Usi => usi::write(record)?,
    };
    match encoding {
        Encoding::Utf8 => out.write_all(text.as_bytes())?,
        Encoding::ShiftJis => out.write_all(&to_shift_jis(&text))?,
    }
    Ok(())
}

/// The games of a file; see [`read`]. A game that cannot be read is an error, and reading continues
/// with the next one. No games follow an error of the source.
#[derive(Debug)]
pub struct Records<R>(Inner<BufReader<R>>);

#[derive(Debug)]
enum Inner<R> {
    /// The format is not detected yet.
    Undetected(Option<(R, Limits)>),
    Pgn(pgn::Reader<Beginning<R>>),
    Kif(kif::Reader<Beginning<R>>),
    Csa(csa::Reader<Beginning<R>>),
    Jkf(jkf::Reader<Beginning<R>>),
    Usi(usi::Reader<Beginning<R>>),
}

/// A file whose beginning has already been read.
type Beginning<R> = io::Chain<io::Cursor<Vec<u8>>, R>;

/// The number of bytes that are used to detect the format.
const DETECTION_BYTES: u64 = 4096;

impl<R: Read> Records<R> {
    /// Reads within other limits.
    pub fn new(source: R, format: impl Into<Option<Format>>, limits: Limits) -> Self {
        let source = BufReader::with_capacity(1 << 16, source);
        Self(match format.into() {
            Some(format) => Inner::new(source, Vec::new(), limits, Bookmark::start(format)),
            None => Inner::Undetected(Some((source, limits))),
        })
    }

    /// Continues at a bookmark of a file, within other limits. The source must be at the bookmark's
    /// [`offset`](Bookmark::offset).
    pub fn resume(source: R, bookmark: &Bookmark, limits: Limits) -> Self {
        let source = BufReader::with_capacity(1 << 16, source);
        Self(Inner::new(source, Vec::new(), limits, *bookmark))
    }

    /// The start of the next game. `None` before the first game of a file whose format is not detected yet,
    /// and in PGN, where the reader may have consumed a part of that game.
    pub fn bookmark(&self) -> Option<Bookmark> {
        match &self.0 {
            Inner::Undetected(_) | Inner::Pgn(_) => None,
            Inner::Kif(reader) => Some(reader.bookmark()),
            Inner::Csa(reader) => Some(reader.bookmark()),
            Inner::Jkf(reader) => Some(reader.bookmark()),
            Inner::Usi(reader) => Some(reader.bookmark()),
        }
    }

    /// The warnings of the last game, at most a hundred.
    pub fn warnings(&self) -> &[RecordWarning] {
        match &self.0 {
            Inner::Undetected(_) => &[],
            Inner::Pgn(reader) => reader.warnings(),
            Inner::Kif(reader) => reader.warnings(),
            Inner::Csa(reader) => reader.warnings(),
            Inner::Jkf(reader) => reader.warnings(),
            Inner::Usi(reader) => reader.warnings(),
        }
    }
}

impl<R: BufRead> Inner<R> {
    fn new(source: R, beginning: Vec<u8>, limits: Limits, from: Bookmark) -> Self {
        let source = io::Cursor::new(beginning).chain(source);
        match from.format {
            Format::Pgn => Self::Pgn(pgn::Reader::new(source, limits)),
            Format::Kif | Format::Ki2 => Self::Kif(kif::Reader::new(source, limits, from)),
            Format::Csa => Self::Csa(csa::Reader::new(source, limits, from)),
            Format::Jkf => Self::Jkf(jkf::Reader::new(source, limits, from)),
            Format::Usi => Self::Usi(usi::Reader::new(source, limits, from)),
        }
    }

    /// Detects the format. `None` if the file is empty.
    fn detected(mut source: R, limits: Limits) -> Result<Option<Self>, RecordErrorKind> {
        let mut beginning = Vec::new();
        (&mut source).take(DETECTION_BYTES).read_to_end(&mut beginning)?;
        if beginning.iter().all(u8::is_ascii_whitespace) {
            return Ok(None);
        }
        let format = Format::detect(&beginning).ok_or(RecordErrorKind::UnknownFormat)?;
        Ok(Some(Self::new(source, beginning, limits, Bookmark::start(format))))
    }
}

impl<R: Read> Iterator for Records<R> {
    type Item = Result<GameRecord, RecordError>;

    fn next(&mut self) -> Option<Self::Item> {
        if let Inner::Undetected(source) = &mut self.0 {
            let (source, limits) = source.take()?;
            match Inner::detected(source, limits) {
                Ok(inner) => self.0 = inner?,
                Err(kind) => return Some(Err(RecordError { game: 1, line: 1, column: 1, kind })),
            }
        }
        match &mut self.0 {
            Inner::Undetected(_) => None,
            Inner::Pgn(reader) => reader.next(),
            Inner::Kif(reader) => reader.next(),
            Inner::Csa(reader) => reader.next(),
            Inner::Jkf(reader) => reader.next(),
            Inner::Usi(reader) => reader.next(),
        }
    }
}
