//! Reading and writing records in any format.

use std::{
    fmt,
    io::{self, BufRead, Read, Write},
};

use crate::Game;

use super::{
    Bookmark, Defect, Encoding, Format, GameRecord, InputEncoding, Limits, Losses, Notice,
    RecordError, RecordErrorKind,
    encoding::{Source, Transcoder, buffered, decode_beginning},
    error::name,
    format::Games,
    loss::Written,
};

/// Reads the games of a file one by one, within the default [`Limits`].
///
/// Without a format, the beginning of the file is used to detect it. KIF and KI2 have the same reader.
/// The [`Encoding`] is detected.
pub fn read<'a>(source: impl Read + Send + 'a, format: impl Into<Option<Format>>) -> Records<'a> {
    Records::new(source, format, Limits::default())
}

/// The text of a source as UTF-8 without a byte order mark. Without an encoding, that of each line is detected.
pub fn decode<'a>(
    source: impl Read + Send + 'a,
    encoding: Option<InputEncoding>,
) -> Box<dyn BufRead + Send + 'a> {
    let mut decoded = Transcoder::new(buffered(source), true);
    decoded.set_encoding(encoding);
    Box::new(decoded)
}

/// Writes a record in UTF-8. [`Format::separator`] separates several in a file. Returns what the format cannot
/// hold of the record.
pub fn write<W: Write>(
    record: &GameRecord,
    format: Format,
    out: &mut W,
) -> Result<Losses, WriteError> {
    write_encoded(record, format, Encoding::Utf8, out)
}

/// Writes a record in an encoding. JKF is always UTF-8. Returns what the format cannot hold of the record.
///
/// # Errors
/// The format does not support the game, writing fails, or the encoding is not [supported](Encoding::is_supported).
pub fn write_encoded<W: Write>(
    record: &GameRecord,
    format: Format,
    encoding: Encoding,
    out: &mut W,
) -> Result<Losses, WriteError> {
    let game = record.game();
    if !format.supports(game) {
        return Err(WriteError::WrongGame { format, game });
    }
    let encoding = if format.is_utf8() { Encoding::Utf8 } else { encoding };
    let Written { text, losses } = (format.0.write)(record, encoding);
    if !text.is_ascii() {
        encoding.supported().map_err(io::Error::from)?;
    }
    out.write_all(&encoding.encode(&text))?;
    Ok(losses)
}

/// Why a record could not be written.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// Writing failed, or the encoding is an [`UnsupportedEncoding`](super::UnsupportedEncoding).
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The format does not support the game.
    #[error("{format} does not support {}", name(*game))]
    WrongGame {
        /// The format.
        format: Format,
        /// The record's game.
        game: Game,
    },
}

/// The games of a file; see [`read`]. A game that cannot be read is an error, and reading continues
/// with the next one. No games follow an error of the source.
pub struct Records<'a>(Inner<'a>);

enum Inner<'a> {
    /// The format is not detected yet.
    Undetected(Option<Box<Undetected<'a>>>),
    Games(Box<dyn Games + Send + 'a>),
}

struct Undetected<'a> {
    source: Source<'a>,
    limits: Limits,
    /// The formats that can be detected.
    formats: &'static [Format],
}

impl<'a> Records<'a> {
    /// Reads within other limits.
    pub fn new(
        source: impl Read + Send + 'a,
        format: impl Into<Option<Format>>,
        limits: Limits,
    ) -> Self {
        Self::in_encoding(source, format, limits, None)
    }

    /// Reads a source in an encoding; without one, it is detected.
    pub fn in_encoding(
        source: impl Read + Send + 'a,
        format: impl Into<Option<Format>>,
        limits: Limits,
        encoding: impl Into<Option<InputEncoding>>,
    ) -> Self {
        let format = format.into();
        let mut source = Transcoder::new(buffered(source), format.is_none_or(Format::is_japanese));
        source.set_encoding(encoding.into());
        match format {
            Some(format) => Self(Inner::new(source, limits, Bookmark::start(format))),
            None => Self::among(Format::ALL, source, limits),
        }
    }

    /// Detects one of these formats.
    pub(super) fn among(formats: &'static [Format], source: Source<'a>, limits: Limits) -> Self {
        Self(Inner::Undetected(Some(Box::new(Undetected { source, limits, formats }))))
    }

    /// Continues at a bookmark of a file, within other limits. The source must be at the bookmark's
    /// [`offset`](Bookmark::offset).
    pub fn resume(source: impl Read + Send + 'a, bookmark: &Bookmark, limits: Limits) -> Self {
        let source = Transcoder::new(buffered(source), bookmark.format.is_japanese());
        let source = source.resumed(bookmark.offset, bookmark.encoding);
        Self(Inner::new(source, limits, *bookmark))
    }

    /// The start of the next game. `None` before the first game of a file whose format is not detected yet,
    /// and in PGN, where the reader may have consumed a part of that game.
    pub fn bookmark(&self) -> Option<Bookmark> {
        match &self.0 {
            Inner::Undetected(_) => None,
            Inner::Games(games) => games.bookmark(),
        }
    }

    /// The notices of the last game, at most a hundred.
    pub fn notices(&self) -> &[Notice] {
        match &self.0 {
            Inner::Undetected(_) => &[],
            Inner::Games(games) => games.state().notices(),
        }
    }
}

impl<'a> Inner<'a> {
    fn new(source: Source<'a>, limits: Limits, from: Bookmark) -> Self {
        Self::Games((from.format.0.read)(source, limits, from))
    }
}

impl<'a> Undetected<'a> {
    /// Detects the format. `None` if the file is empty.
    fn detected(mut self) -> Result<Option<Inner<'a>>, RecordErrorKind> {
        let beginning = self.source.beginning()?;
        if beginning.iter().all(u8::is_ascii_whitespace) {
            return Ok(None);
        }
        let Some(format) = Format::detect_among(self.formats, beginning) else {
            let (_, decoded) = decode_beginning(beginning, true);
            decoded?;
            return Err(RecordErrorKind::Defect(Defect::UnknownFormat));
        };
        self.source.set_japanese(format.is_japanese());
        Ok(Some(Inner::new(self.source, self.limits, Bookmark::start(format))))
    }
}

impl Iterator for Records<'_> {
    type Item = Result<GameRecord, RecordError>;

    fn next(&mut self) -> Option<Self::Item> {
        if let Inner::Undetected(undetected) = &mut self.0 {
            match undetected.take()?.detected() {
                Ok(inner) => self.0 = inner?,
                Err(kind) => return Some(Err(RecordError { game: 1, line: 1, column: 1, kind })),
            }
        }
        match &mut self.0 {
            Inner::Undetected(_) => None,
            Inner::Games(games) => games.next(),
        }
    }
}

impl fmt::Debug for Records<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Records").field("bookmark", &self.bookmark()).finish_non_exhaustive()
    }
}
