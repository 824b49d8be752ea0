//! Reading and writing records in any format.

use std::io::{BufRead, BufReader, Read, Write};

use super::{
    Bookmark, Encoding, Format, GameRecord, InputEncoding, Limits, Losses, Notice, RecordError,
    RecordErrorKind, WriteError, csa, encoding::Transcoder, input::Games as _, jkf, kif, lines,
    pgn,
};

/// Reads the games of a file one by one, within the default [`Limits`].
///
/// Without a format, the beginning of the file is used to detect it. KIF and KI2 have the same reader.
/// The [`Encoding`] is detected.
pub fn read<R: Read>(source: R, format: impl Into<Option<Format>>) -> Records<R> {
    Records::new(source, format, Limits::default())
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
pub fn write_encoded<W: Write>(
    record: &GameRecord,
    format: Format,
    encoding: Encoding,
    out: &mut W,
) -> Result<Losses, WriteError> {
    let Written { text, losses } = match format {
        Format::Pgn => {
            let mut text = Vec::new();
            let losses = pgn::write_pgn(record, &pgn::PgnOptions::default(), &mut text)?;
            Written { text: String::from_utf8_lossy(&text).into_owned(), losses }
        }
        Format::Jkf => {
            let Written { text, losses } = jkf::write(record)?;
            out.write_all(text.as_bytes())?;
            return Ok(losses);
        }
        Format::Kif => kif::write_kif(record, encoding.name())?,
        Format::Ki2 => kif::write_ki2(record)?,
        Format::Csa => csa::write(record, &encoding.name().to_ascii_uppercase())?,
        Format::Uci | Format::Usi => lines::write(record, format)?,
    };
    out.write_all(&encoding.encode(&text))?;
    Ok(losses)
}

/// The text of a record, and what it cannot hold.
pub(super) struct Written {
    pub(super) text: String,
    pub(super) losses: Losses,
}

/// The games of a file; see [`read`]. A game that cannot be read is an error, and reading continues
/// with the next one. No games follow an error of the source.
#[derive(Debug)]
pub struct Records<R>(Inner<BufReader<R>>);

#[derive(Debug)]
enum Inner<R> {
    /// The format is not detected yet.
    Undetected(Option<(R, Limits, Option<InputEncoding>)>),
    Pgn(Box<pgn::Reader<Transcoder<R>>>),
    Kif(kif::Reader<R>),
    Csa(csa::Reader<R>),
    Jkf(jkf::Reader<R>),
    Lines(lines::Reader<R>),
}

impl<R: Read> Records<R> {
    /// Reads within other limits.
    pub fn new(source: R, format: impl Into<Option<Format>>, limits: Limits) -> Self {
        Self::in_encoding(source, format, limits, None)
    }

    /// Reads a source in an encoding; without one, it is detected.
    pub fn in_encoding(
        source: R,
        format: impl Into<Option<Format>>,
        limits: Limits,
        encoding: impl Into<Option<InputEncoding>>,
    ) -> Self {
        let encoding = encoding.into();
        let source = BufReader::with_capacity(1 << 16, source);
        Self(match format.into() {
            Some(format) => {
                let mut source = Transcoder::new(source, format.is_japanese());
                source.set_encoding(encoding);
                Inner::new(source, limits, Bookmark::start(format))
            }
            None => Inner::Undetected(Some((source, limits, encoding))),
        })
    }

    /// Continues at a bookmark of a file, within other limits. The source must be at the bookmark's
    /// [`offset`](Bookmark::offset).
    pub fn resume(source: R, bookmark: &Bookmark, limits: Limits) -> Self {
        let source = BufReader::with_capacity(1 << 16, source);
        let source = Transcoder::resume(source, bookmark);
        Self(Inner::new(source, limits, *bookmark))
    }

    /// The start of the next game. `None` before the first game of a file whose format is not detected yet,
    /// and in PGN, where the reader may have consumed a part of that game.
    pub fn bookmark(&self) -> Option<Bookmark> {
        match &self.0 {
            Inner::Undetected(_) | Inner::Pgn(_) => None,
            Inner::Kif(reader) => Some(reader.bookmark()),
            Inner::Csa(reader) => Some(reader.bookmark()),
            Inner::Jkf(reader) => reader.bookmark(),
            Inner::Lines(reader) => Some(reader.bookmark()),
        }
    }

    /// The notices of the last game, at most a hundred.
    pub fn notices(&self) -> &[Notice] {
        match &self.0 {
            Inner::Undetected(_) => &[],
            Inner::Pgn(reader) => reader.notices(),
            Inner::Kif(reader) => reader.notices(),
            Inner::Csa(reader) => reader.notices(),
            Inner::Jkf(reader) => reader.notices(),
            Inner::Lines(reader) => reader.notices(),
        }
    }
}

impl<R: BufRead> Inner<R> {
    fn new(source: Transcoder<R>, limits: Limits, from: Bookmark) -> Self {
        match from.format {
            Format::Pgn => Self::Pgn(Box::new(pgn::Reader::new(source, limits))),
            Format::Kif | Format::Ki2 => Self::Kif(kif::Reader::new(source, limits, from)),
            Format::Csa => Self::Csa(csa::Reader::new(source, limits, from)),
            Format::Jkf => Self::Jkf(jkf::Reader::new(source, limits, from)),
            Format::Uci | Format::Usi => Self::Lines(lines::Reader::new(source, limits, from)),
        }
    }

    /// Detects the format. `None` if the file is empty.
    fn detected(
        source: R,
        limits: Limits,
        encoding: Option<InputEncoding>,
    ) -> Result<Option<Self>, RecordErrorKind> {
        let mut source = Transcoder::new(source, true);
        source.set_encoding(encoding);
        let beginning = source.beginning()?;
        if beginning.iter().all(u8::is_ascii_whitespace) {
            return Ok(None);
        }
        let format = Format::detect(beginning).ok_or(RecordErrorKind::UnknownFormat)?;
        source.set_japanese(format.is_japanese());
        Ok(Some(Self::new(source, limits, Bookmark::start(format))))
    }
}

impl<R: Read> Iterator for Records<R> {
    type Item = Result<GameRecord, RecordError>;

    fn next(&mut self) -> Option<Self::Item> {
        if let Inner::Undetected(source) = &mut self.0 {
            let (source, limits, encoding) = source.take()?;
            match Inner::detected(source, limits, encoding) {
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
            Inner::Lines(reader) => reader.next(),
        }
    }
}
