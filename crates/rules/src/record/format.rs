//! The formats of records, and the way in and out of all of them.

use std::{
    fmt,
    io::{BufReader, Read, Write},
};

use super::{GameRecord, Limits, Oddity, RecordError, WriteError, pgn};

/// A format of game records.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Format {
    /// Portable Game Notation, for chess and Chess960.
    Pgn,
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Pgn => "PGN",
        })
    }
}

/// Reads the games of a file one by one, within the usual [`Limits`].
pub fn read<R: Read>(source: R, format: Format) -> Records<R> {
    Records::new(source, format, Limits::default())
}

/// Writes a record in UTF-8. Several can follow each other in one file.
pub fn write<W: Write>(record: &GameRecord, format: Format, out: &mut W) -> Result<(), WriteError> {
    match format {
        Format::Pgn => pgn::write(record, out),
    }
}

/// The games of a file; see [`read`]. A game that cannot be read is an error, and the next one
/// follows it. Nothing follows an error of the source.
#[derive(Debug)]
pub struct Records<R>(pgn::Reader<BufReader<R>>);

impl<R: Read> Records<R> {
    /// Reads within other limits.
    pub fn new(source: R, format: Format, limits: Limits) -> Self {
        match format {
            Format::Pgn => {
                Self(pgn::Reader::new(BufReader::with_capacity(1 << 16, source), limits))
            }
        }
    }

    /// What was odd in the game that was given last, up to a hundred things.
    pub fn oddities(&self) -> &[Oddity] {
        self.0.oddities()
    }
}

impl<R: Read> Iterator for Records<R> {
    type Item = Result<GameRecord, RecordError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.0.next()
    }
}
