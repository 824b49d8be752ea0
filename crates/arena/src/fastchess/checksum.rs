//! The checksum of `-crc32`: that of a file to which records are added.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::PathBuf;

use crc32fast::Hasher;

/// The CRC-32 of a file that grows.
#[derive(Clone, Debug)]
pub(super) struct Checksum {
    path: PathBuf,
    hasher: Hasher,
    read: u64,
}

impl Checksum {
    pub(super) fn of(path: PathBuf) -> Self {
        Self { path, hasher: Hasher::new(), read: 0 }
    }

    /// Reads what was added, and tells the line about it; none if the file cannot be read.
    pub(super) fn line(&mut self) -> Option<String> {
        self.take().ok()?;
        let sum = self.hasher.clone().finalize();
        Some(format!("File {} has CRC32: {sum:#x}", self.path.display()))
    }

    fn take(&mut self) -> io::Result<()> {
        let mut file = File::open(&self.path)?;
        if file.metadata()?.len() < self.read {
            // It was written anew.
            (self.hasher, self.read) = (Hasher::new(), 0);
        }
        file.seek(SeekFrom::Start(self.read))?;
        let mut buffer = vec![0; 64 << 10];
        loop {
            match file.read(&mut buffer)? {
                0 => return Ok(()),
                length => {
                    self.hasher.update(buffer.get(..length).unwrap_or_default());
                    self.read += length as u64;
                }
            }
        }
    }
}
