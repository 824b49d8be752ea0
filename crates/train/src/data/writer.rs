//! Writes games to a file that can be extended later.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, BufReader, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use super::error::At as _;
use super::{DataError, Header, Reader, Record, block};

/// A file of games, open for writing by this process only.
#[derive(Debug)]
pub struct Writer {
    path: PathBuf,
    file: File,
    end: u64,
}

impl Writer {
    /// Opens or creates a file. Calls `on_game` for each game in it, and truncates a partial game at the
    /// end.
    ///
    /// # Errors
    /// The file cannot be read or written, another process is writing it, it is damaged other than at
    /// its end, or its settings differ from the header.
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

    /// Appends a game.
    ///
    /// # Errors
    /// The game cannot be written, or it exceeds the maximum length. The file is then unchanged.
    pub fn append(&mut self, game: &Record) -> Result<(), DataError> {
        self.write(game.write().as_deref())
    }

    /// Flushes everything to the disk.
    ///
    /// # Errors
    /// The disk reports an error.
    pub fn sync(&self) -> Result<(), DataError> {
        self.file.sync_data().at(&self.path, "written")
    }

    fn write(&mut self, content: Option<&[u8]>) -> Result<(), DataError> {
        let block = content.and_then(block::frame);
        let too_long = || io::Error::new(io::ErrorKind::InvalidInput, "it is too long");
        let block = block.ok_or_else(too_long).at(&self.path, "written")?;
        if let Err(error) = self.file.write_all(&block) {
            // A partial game in the middle of the file would be damage.
            self.file.set_len(self.end).at(&self.path, "truncated")?;
            self.file.seek(SeekFrom::End(0)).at(&self.path, "truncated")?;
            return Err(error).at(&self.path, "written");
        }
        self.end += block.len() as u64;
        Ok(())
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        // A child process inherits open files until it executes its program.
        let _ = self.file.unlock();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::games::GameKind;

    #[test]
    fn a_file_is_unlocked_even_if_a_child_process_inherited_it() {
        let directory = tempfile::TempDir::new().expect("a directory");
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
        let writer = open().expect("an unlocked file");
        let inherited = writer.file.try_clone().expect("one more");
        assert!(matches!(open(), Err(DataError::Locked(_))));
        drop(writer);
        assert!(open().is_ok());
        drop(inherited);
    }
}
