//! Opening books: Polyglot for chess, and the text book of YaneuraOu for shogi.

mod yaneuraou;

use std::fmt;
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::Path;

use readyok_rules::{Game, Move, PolyglotBook, Position};

use self::yaneuraou::YaneuraOu;

/// An opening book.
#[derive(Debug)]
pub(crate) enum Book {
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
pub(crate) struct BookMove {
    pub(crate) mv: Move,
    /// The answer to expect, if the book names one.
    pub(crate) reply: Option<Move>,
    /// The relative weight.
    pub(crate) weight: u64,
}

/// Why a book cannot be used.
#[derive(Debug)]
pub(crate) enum BookError {
    /// The file is unreadable or not a book.
    Io(io::Error),
    /// The positions are not sorted, and the file is too large to load.
    Unsorted {
        /// Its size.
        bytes: u64,
    },
}

impl Book {
    /// Opens a book and detects its format.
    pub(crate) fn open(path: &Path) -> Result<Self, BookError> {
        let file = File::open(path)?;
        let bytes = file.metadata()?.len();
        let mut head = Vec::new();
        (&file).take(yaneuraou::HEAD).read_to_end(&mut head)?;
        if yaneuraou::is_head(&head) {
            return Ok(Self::YaneuraOu(Box::new(YaneuraOu::open(path)?)));
        }
        let (book, rest) = open_polyglot(file)?;
        Ok(Self::Polyglot { book, bytes, rest })
    }

    /// A warning about the book that was not reported yet.
    pub(crate) fn take_remark(&mut self) -> Option<String> {
        match self {
            Self::YaneuraOu(book) => book.take_remark(),
            Self::Polyglot { rest, .. } => match std::mem::take(rest) {
                0 => None,
                1 => Some("ends with a byte of an incomplete entry".to_owned()),
                rest => Some(format!("ends with {rest} bytes of an incomplete entry")),
            },
        }
    }

    /// Whether the book is empty.
    pub(crate) fn is_empty(&self) -> bool {
        match self {
            Self::YaneuraOu(book) => book.is_empty(),
            Self::Polyglot { bytes, .. } => *bytes == 0,
        }
    }

    /// Whether the book is for a game.
    pub(crate) fn is_of(&self, game: Game) -> bool {
        match self {
            Self::YaneuraOu(_) => game == Game::Shogi,
            Self::Polyglot { .. } => game != Game::Shogi,
        }
    }

    /// The legal moves of the book in a position. None if the book is of another game.
    pub(crate) fn moves(&mut self, position: &Position) -> Result<Vec<BookMove>, BookError> {
        match self {
            Self::YaneuraOu(book) => Ok(book.moves(position)?),
            Self::Polyglot { book, .. } => {
                let moves = book.moves(position)?.into_iter();
                let moves =
                    moves.map(|(mv, weight)| BookMove { mv, reply: None, weight: weight.into() });
                Ok(moves.collect())
            }
        }
    }

    /// Chooses a move: the first with the highest weight, or, with a seed, a random one in
    /// proportion to the weights. None if all weights are 0.
    pub(crate) fn choose(
        &mut self,
        position: &Position,
        seed: Option<u64>,
    ) -> Result<Option<BookMove>, BookError> {
        let moves = self.moves(position)?;
        let mut chosen = match seed {
            Some(seed) => random_choice(&moves, seed),
            None => moves.iter().rev().max_by_key(|it| it.weight),
        }
        .copied()
        .filter(|it| 0 < it.weight);
        if let Some(chosen) = &mut chosen
            && chosen.reply.is_none()
        {
            let mut next = position.clone();
            if next.play(chosen.mv).is_ok() {
                let replies = self.moves(&next)?;
                let best = replies.iter().rev().max_by_key(|it| it.weight);
                chosen.reply = best.filter(|it| 0 < it.weight).map(|it| it.mv);
            }
        }
        Ok(chosen)
    }
}

fn random_choice(moves: &[BookMove], seed: u64) -> Option<&BookMove> {
    // Sums of a file's numbers must not overflow.
    let weight = |it: &BookMove| u128::from(it.weight);
    let total: u128 = moves.iter().map(weight).sum();
    let mut left = u128::from(seed).checked_rem(total)?;
    moves.iter().find(|it| match left.checked_sub(weight(it)) {
        None => true,
        Some(rest) => {
            left = rest;
            false
        }
    })
}

impl From<io::Error> for BookError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl fmt::Display for BookError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(error) => error.fmt(f),
            Self::Unsorted { bytes } => {
                write!(
                    f,
                    "its positions are not sorted, and with {bytes} bytes it is too large for that"
                )
            }
        }
    }
}

impl std::error::Error for BookError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io(error) => Some(error),
            Self::Unsorted { .. } => None,
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
pub(crate) struct CompleteEntries {
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

#[cfg(test)]
mod tests {
    use super::*;
    use readyok_rules::Game;

    #[test]
    fn random_choice_is_proportional_to_weights() {
        let moves = Position::start(Game::Chess).legal_moves();
        let weights = [3, 0, 1];
        let moves: Vec<_> = weights
            .iter()
            .zip(moves)
            .map(|(&weight, mv)| BookMove { mv, reply: None, weight })
            .collect();
        let random_choice: Vec<_> =
            (0..8).map(|seed| random_choice(&moves, seed).map(|it| it.weight)).collect();
        let (three, one) = (Some(3), Some(1));
        assert_eq!(random_choice, [three, three, three, one, three, three, three, one]);
        assert_eq!(super::random_choice(&[], 5), None);
        let never = [BookMove { weight: 0, ..moves[0] }];
        assert_eq!(super::random_choice(&never, 5), None);
    }
}
