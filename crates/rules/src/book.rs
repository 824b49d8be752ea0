//! Opening books: Polyglot for chess, and the text book of YaneuraOu for shogi.

mod build;
pub(crate) mod polyglot;
mod yaneuraou;

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::Path;

pub use self::build::{BookCounter, BookFormat, BookOptions, BookSize, BookWriter};
use self::polyglot::PolyglotBook;
use self::yaneuraou::YaneuraOu;
use crate::{Game, Move, Position};

/// An opening book of any format.
#[derive(Debug)]
pub struct Book(Format);

#[derive(Debug)]
enum Format {
    /// Chess and Chess960.
    Polyglot {
        /// The complete entries.
        book: PolyglotBook<CompleteEntries>,
        /// The size of the file in bytes.
        bytes: u64,
        /// Bytes of an incomplete last entry that was not reported yet.
        rest: u64,
    },
    /// Shogi.
    YaneuraOu(Box<YaneuraOu>),
}

/// A move of a book.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BookMove {
    /// The move, which is legal.
    pub mv: Move,
    /// The expected reply.
    pub reply: Option<Move>,
    /// The relative weight, or the number of games with the move.
    pub weight: Option<u64>,
    /// The evaluation for the side to move, in centipawns.
    pub score: Option<i32>,
    /// The depth of the evaluation, in plies.
    pub depth: Option<u32>,
}

/// Why a book cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum BookError {
    /// The file is unreadable or not a book.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The positions are not sorted, and the file is too large to load.
    #[error("its positions are not sorted, and with {bytes} bytes it is too large for that")]
    Unsorted {
        /// Its size.
        bytes: u64,
    },
}

impl Book {
    /// Opens a book and detects its format.
    ///
    /// # Errors
    /// The file cannot be read, is not a book, or is too large for an unsorted book.
    pub fn open(path: &Path) -> Result<Self, BookError> {
        let file = File::open(path)?;
        let bytes = file.metadata()?.len();
        let mut head = Vec::new();
        (&file).take(yaneuraou::HEAD).read_to_end(&mut head)?;
        if yaneuraou::is_head(&head) {
            return Ok(Self(Format::YaneuraOu(Box::new(YaneuraOu::open(path)?))));
        }
        let (book, rest) = open_polyglot(file)?;
        Ok(Self(Format::Polyglot { book, bytes, rest }))
    }

    /// A warning about the file that was not reported yet.
    pub fn take_remark(&mut self) -> Option<String> {
        match &mut self.0 {
            Format::YaneuraOu(book) => book.take_remark(),
            Format::Polyglot { rest, .. } => match std::mem::take(rest) {
                0 => None,
                1 => Some("ends with a byte of an incomplete entry".to_owned()),
                rest => Some(format!("ends with {rest} bytes of an incomplete entry")),
            },
        }
    }

    /// Whether the book is empty.
    pub fn is_empty(&self) -> bool {
        match &self.0 {
            Format::YaneuraOu(book) => book.is_empty(),
            Format::Polyglot { bytes, .. } => *bytes == 0,
        }
    }

    /// Whether the book is for a game.
    pub fn is_of(&self, game: Game) -> bool {
        match &self.0 {
            Format::YaneuraOu(_) => game == Game::Shogi,
            Format::Polyglot { .. } => game != Game::Shogi,
        }
    }

    /// The legal moves of the book in a position, in the order of the file. Empty if the book is for another game.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn moves(&mut self, position: &Position) -> Result<Vec<BookMove>, BookError> {
        match &mut self.0 {
            Format::YaneuraOu(book) => Ok(book.moves(position)?),
            Format::Polyglot { book, .. } => {
                let moves = book.moves(position)?.into_iter();
                let moves = moves.map(|(mv, weight)| BookMove {
                    mv,
                    reply: None,
                    weight: Some(weight.into()),
                    score: None,
                    depth: None,
                });
                Ok(moves.collect())
            }
        }
    }
}

const ENTRY: u64 = 16;

/// Number of entries that are checked to detect a book.
const SAMPLE: u64 = 1024;

/// Opens a book, and returns the size of an incomplete last entry.
fn open_polyglot(file: File) -> Result<(PolyglotBook<CompleteEntries>, u64), BookError> {
    let bytes = file.metadata()?.len();
    let mut file = BufReader::new(file);
    let rest = bytes % ENTRY;
    let is_book = rest == 0 || (ENTRY < bytes && is_sorted(&mut file)?);
    // A file that is not a book keeps its size, which is then rejected.
    let end = if is_book { bytes - rest } else { bytes };
    Ok((PolyglotBook::new(CompleteEntries { file, end })?, rest))
}

fn is_sorted(file: &mut BufReader<File>) -> io::Result<bool> {
    let mut sample = Vec::new();
    file.rewind()?;
    file.by_ref().take(SAMPLE * ENTRY).read_to_end(&mut sample)?;
    let (entries, _) = sample.as_chunks::<16>();
    Ok(entries.iter().map(|entry| entry.first_chunk::<8>()).is_sorted())
}

/// A file without its incomplete last entry.
#[derive(Debug)]
struct CompleteEntries {
    file: BufReader<File>,
    end: u64,
}

impl Read for CompleteEntries {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.file.read(buffer)
    }
}

impl Seek for CompleteEntries {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.file.seek(match to {
            SeekFrom::End(back) => SeekFrom::Start(self.end.saturating_add_signed(back)),
            to => to,
        })
    }
}
