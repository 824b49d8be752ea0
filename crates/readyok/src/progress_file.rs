//! Progress files: a line of settings and a line for each result, so that a run continues after it was killed.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, BufRead, BufReader, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;

/// A progress file that this process has locked.
#[derive(Debug)]
pub(crate) struct ProgressFile {
    path: PathBuf,
    file: File,
    /// The end of the last complete line.
    end: u64,
}

impl ProgressFile {
    /// The path of the progress file of an output.
    pub(crate) fn path_of(output: &Path) -> PathBuf {
        let mut path = output.to_owned().into_os_string();
        path.push(".progress");
        path.into()
    }

    /// Opens or creates a file. `restart` discards the results in it. `result` gets the earlier results, and returns
    /// whether it can use one; the results after one that it cannot use are discarded.
    ///
    /// # Errors
    /// The file belongs to a run with other settings or to another process, or an operation on it fails.
    pub(crate) fn open<S: Serialize + DeserializeOwned + PartialEq>(
        path: &Path,
        settings: &S,
        restart: bool,
        mut result: impl FnMut(&str) -> bool,
    ) -> io::Result<Self> {
        let mut options = OpenOptions::new();
        let mut file = options.read(true).write(true).create(true).truncate(false).open(path)?;
        match file.try_lock() {
            // Not every file system supports locks.
            Ok(()) | Err(TryLockError::Error(_)) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(io::Error::other("another run uses this file"));
            }
        }
        if restart {
            file.set_len(0)?;
        }
        let length = load(&file, settings, &mut result)?;
        // A partial last line is from a run that was killed.
        file.set_len(length)?;
        file.seek(SeekFrom::End(0))?;
        let mut file = Self { path: path.to_owned(), file, end: length };
        if length == 0 {
            file.add(settings)?;
        }
        Ok(file)
    }

    /// Adds a result. After an error nothing is added.
    pub(crate) fn add(&mut self, result: &impl Serialize) -> io::Result<()> {
        self.append(result).map_err(|error| {
            io::Error::new(error.kind(), format!("`{}`: {error}", self.path.display()))
        })
    }

    fn append(&mut self, result: &impl Serialize) -> io::Result<()> {
        let mut line = serde_json::to_vec(result)?;
        line.push(b'\n');
        if let Err(error) = self.file.write_all(&line) {
            // The results after a partial line would be lost.
            self.file.set_len(self.end)?;
            self.file.seek(SeekFrom::End(0))?;
            return Err(error);
        }
        self.end += line.len() as u64;
        Ok(())
    }

    /// Passes all results to a function.
    pub(crate) fn read(
        &mut self,
        mut result: impl FnMut(&str) -> io::Result<()>,
    ) -> io::Result<()> {
        self.file.seek(SeekFrom::Start(0))?;
        let lines = BufReader::new(&self.file).lines().skip(1);
        for line in lines {
            result(&line?)?;
        }
        self.file.seek(SeekFrom::End(0)).map(drop)
    }

    /// Removes the file of a complete run.
    pub(crate) fn remove(self) -> io::Result<()> {
        drop(self.file);
        fs::remove_file(self.path)
    }
}

/// Reads the complete lines and returns their length in bytes.
fn load<S: DeserializeOwned + PartialEq>(
    file: &File,
    settings: &S,
    result: &mut dyn FnMut(&str) -> bool,
) -> io::Result<u64> {
    let mut reader = BufReader::new(file);
    let mut line = String::new();
    let mut length = 0;
    loop {
        line.clear();
        let count = reader.read_line(&mut line)?;
        if !line.ends_with('\n') {
            return Ok(length);
        }
        if length == 0 {
            if serde_json::from_str::<S>(&line).ok().as_ref() != Some(settings) {
                let text = "it belongs to a run with other settings; remove it or use --restart";
                return Err(io::Error::new(io::ErrorKind::InvalidData, text));
            }
        } else if !result(&line) {
            return Ok(length);
        }
        length += count as u64;
    }
}
