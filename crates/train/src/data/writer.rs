//! Writes games to a file, which can go on later.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, BufReader, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use super::error::At as _;
use super::{DataError, Header, Reader, Record, block};

/// A file of games, open for writing by this program alone.
#[derive(Debug)]
pub struct Writer {
    path: PathBuf,
    file: File,
    end: u64,
}

impl Writer {
    /// Opens a file, or makes it if there is none. Each game in it is handed to `on_game`, and what
    /// is left of an unfinished one is cut off.
    ///
    /// # Errors
    /// It cannot be read or written, another program writes it, it is damaged other than at its
    /// end, or it was begun otherwise than the header prints.
    pub fn open(
        path: &Path,
        header: &Header,
        mut on_game: impl FnMut(&Record),
    ) -> Result<Self, DataError> {
        let mut options = OpenOptions::new();
        let file = options.read(true).append(true).create(true).open(path).at(path, "opened")?;
        match file.try_lock() {
            Ok(()) => (),
            Err(TryLockError::WouldBlock) => return Err(DataError::Locked(path.to_owned())),
            Err(TryLockError::Error(error)) => return Err(error).at(path, "locked"),
        }
        let length = file.metadata().at(path, "read")?.len();
        if length == 0 {
            let mut writer = Self { path: path.to_owned(), file, end: 0 };
            writer.write(header.write().as_deref())?;
            return Ok(writer);
        }
        let mut games = Reader::new(path, BufReader::new(&file))?;
        if let Some(what) = games.header().difference(header) {
            return Err(DataError::OtherSettings { path: path.to_owned(), what });
        }
        for game in games.by_ref() {
            on_game(&game?);
        }
        let end = games.end();
        drop(games);
        if length > end {
            file.set_len(end).at(path, "cut")?;
        }
        Ok(Self { path: path.to_owned(), file, end })
    }

    /// Adds a game.
    ///
    /// # Errors
    /// It cannot be written, for want of space or since it is longer than any game may be; the file
    /// is then as it was.
    pub fn append(&mut self, game: &Record) -> Result<(), DataError> {
        self.write(game.write().as_deref())
    }

    /// Brings everything that was written to the disk.
    ///
    /// # Errors
    /// The disk does not take it.
    pub fn sync(&self) -> Result<(), DataError> {
        self.file.sync_data().at(&self.path, "written")
    }

    fn write(&mut self, content: Option<&[u8]>) -> Result<(), DataError> {
        let block = content.and_then(block::frame);
        let too_long = || io::Error::new(io::ErrorKind::InvalidInput, "it is too long");
        let block = block.ok_or_else(too_long).at(&self.path, "written")?;
        if let Err(error) = self.file.write_all(&block) {
            // Half a game in the middle of the file would be damage.
            self.file.set_len(self.end).at(&self.path, "mended")?;
            self.file.seek(SeekFrom::End(0)).at(&self.path, "mended")?;
            return Err(error).at(&self.path, "written");
        }
        self.end += block.len() as u64;
        Ok(())
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        // A program that is being started holds what this one has open until it runs.
        let _ = self.file.unlock();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::games::GameKind;

    #[test]
    fn a_file_is_free_for_the_next_one_while_another_program_is_started() {
        let directory = tempfile::TempDir::new().expect("a folder");
        let path = directory.path().join("games");
        let header = Header {
            game: GameKind::Chess,
            seed: 7,
            nodes: 40,
            random_plies: 4,
            chess960: 0,
            engine: String::new(),
        };
        let open = || Writer::open(&path, &header, |_| ());
        let writer = open().expect("nobody writes it");
        let inherited = writer.file.try_clone().expect("one more");
        assert!(matches!(open(), Err(DataError::Locked(_))));
        drop(writer);
        assert!(open().is_ok());
        drop(inherited);
    }
}
