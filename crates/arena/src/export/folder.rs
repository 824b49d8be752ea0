//! A folder with a file for each game.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::error::At as _;
use super::{ExportError, old};
use crate::pairing::PairResult;
use crate::store::unnamed_in;

/// A folder that follows the store.
#[derive(Debug)]
pub(super) struct Folder(PathBuf);

impl Folder {
    pub(super) fn open(path: &Path) -> Result<Self, ExportError> {
        fs::create_dir_all(path).at(path, "cannot be made")?;
        Ok(Self(path.to_owned()))
    }

    pub(super) fn path(&self) -> &Path {
        &self.0
    }

    /// Makes the files of a pair say what they should. Pairs and games are counted from 1 in their
    /// names. What says something else is kept under another name.
    pub(super) fn put(&self, pair: &PairResult, games: &[String]) -> Result<(), ExportError> {
        for (number, text) in (1..).zip(games) {
            let path = self.0.join(format!("{:06}-{number}.kif", pair.pairing.index + 1));
            match fs::read(&path) {
                Ok(found) if found == text.as_bytes() => continue,
                Ok(_) => {
                    old::keep(&path).at(&path, "cannot be kept under another name")?;
                }
                Err(error) if error.kind() == io::ErrorKind::NotFound => (),
                Err(error) => return Err(error).at(&path, "cannot be read"),
            }
            let mut file = unnamed_in(&self.0).at(&self.0, "cannot be written")?;
            file.write_all(text.as_bytes()).at(&path, "cannot be written")?;
            file.persist(&path).map_err(|error| error.error).at(&path, "cannot be written")?;
        }
        Ok(())
    }
}
