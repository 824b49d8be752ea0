//! A Polyglot book whose last entry is not whole, as after a download that broke off.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};

use readyok_rules::Polyglot;

use super::BookError;

const ENTRY: u64 = 16;

/// The keys of so many entries show whether a file is a book.
const SAMPLE: u64 = 1024;

/// A book, with the size of what comes after its last whole entry.
pub(super) fn open(file: File) -> Result<(Polyglot<Whole>, u64), BookError> {
    let bytes = file.metadata()?.len();
    let mut file = BufReader::new(file);
    let rest = bytes % ENTRY;
    let is_book = rest == 0 || (ENTRY < bytes && is_sorted(&mut file)?);
    // What is no book at all keeps its odd size.
    let end = if is_book { bytes - rest } else { bytes };
    Ok((Polyglot::new(Whole { file, end })?, rest))
}

fn is_sorted(file: &mut BufReader<File>) -> io::Result<bool> {
    let mut sample = Vec::new();
    file.rewind()?;
    file.by_ref().take(SAMPLE * ENTRY).read_to_end(&mut sample)?;
    let (entries, _) = sample.as_chunks::<16>();
    Ok(entries.iter().map(|entry| entry.first_chunk::<8>()).is_sorted())
}

/// The part of a file that is made of whole entries.
#[derive(Debug)]
pub(crate) struct Whole {
    file: BufReader<File>,
    end: u64,
}

impl Read for Whole {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.file.read(buffer)
    }
}

impl Seek for Whole {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.file.seek(match to {
            SeekFrom::End(back) => SeekFrom::Start(self.end.saturating_add_signed(back)),
            to => to,
        })
    }
}
