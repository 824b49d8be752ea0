//! A file that holds what it is told in order: compared first, then appended to.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use super::error::At as _;
use super::{ExportError, old};
use crate::store::{directory_of, sync_directory};

/// A file that follows the store.
#[derive(Debug)]
pub(super) struct Follower {
    path: PathBuf,
    /// Whether what does not agree is kept under another name.
    keeps: bool,
    state: State,
}

#[derive(Debug)]
enum State {
    /// The file agrees up to here.
    Checking { file: BufReader<File>, good: u64 },
    /// It does not agree from `agreed` on; the right one is being written.
    Rewriting { file: NamedTempFile, agreed: u64 },
    /// It agrees, and ends here.
    Appending { file: File, end: u64 },
    /// It is no file on a disk, such as `/dev/null` or a pipe: there is nothing to compare or to cut.
    Streaming { file: File },
}

impl Follower {
    /// Opens a file in which the records of the match start somewhere. What does not agree in it is kept
    /// under another name, or is not.
    pub(super) fn open(path: &Path, from: u64, keeps: bool) -> Result<Self, ExportError> {
        if fs::metadata(path).is_ok_and(|it| !it.is_file() && !it.is_dir()) {
            let file = OpenOptions::new().write(true).open(path).at(path, "cannot be opened")?;
            return Ok(Self { path: path.to_owned(), keeps, state: State::Streaming { file } });
        }
        let file = OpenOptions::new().read(true).append(true).create(true).open(path);
        let mut file = BufReader::new(file.at(path, "cannot be opened")?);
        file.seek(SeekFrom::Start(from)).at(path, "cannot be read")?;
        Ok(Self { path: path.to_owned(), keeps, state: State::Checking { file, good: from } })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Compares the file with what comes next in it, and makes it agree.
    pub(super) fn check(&mut self, text: &str) -> Result<(), ExportError> {
        let State::Checking { file, good } = &mut self.state else { return self.append(text) };
        let (path, good_end) = (&self.path, *good);
        let mut found = Vec::with_capacity(text.len());
        file.take(text.len() as u64).read_to_end(&mut found).at(path, "cannot be read")?;
        if found == text.as_bytes() {
            *good += text.len() as u64;
            return Ok(());
        }
        if text.as_bytes().starts_with(&found) {
            // The end is torn, or missing.
            self.append_from(good_end)?;
        } else {
            self.rewrite_from(good_end)?;
        }
        self.append(text)
    }

    /// The store says no more: what follows is appended. Tells what did not agree.
    pub(super) fn end_check(&mut self) -> Result<Option<String>, ExportError> {
        if let State::Checking { file, good } = &mut self.state {
            let (good, rest) = (*good, file.fill_buf().at(&self.path, "cannot be read")?);
            if rest.is_empty() { self.append_from(good)? } else { self.rewrite_from(good)? }
        }
        let State::Rewriting { agreed, .. } = self.state else { return Ok(None) };
        let told = if self.keeps { Some(self.keep_old(agreed)?) } else { None };
        self.take_place()?;
        Ok(told)
    }

    /// Writes what comes next.
    pub(super) fn append(&mut self, text: &str) -> Result<(), ExportError> {
        match &mut self.state {
            State::Checking { .. } => self.check(text),
            State::Rewriting { file, .. } => {
                file.write_all(text.as_bytes()).at(&self.path, "cannot be written")
            }
            State::Streaming { file } => {
                file.write_all(text.as_bytes()).at(&self.path, "cannot be written")
            }
            State::Appending { file, end } => {
                if let Err(error) = file.write_all(text.as_bytes()) {
                    // Half a game would be in the way of the next one.
                    file.set_len(*end).at(&self.path, "cannot be mended")?;
                    return Err(error).at(&self.path, "cannot be written");
                }
                *end += text.len() as u64;
                Ok(())
            }
        }
    }

    /// Brings everything to the disk.
    pub(super) fn sync(&mut self) -> Result<(), ExportError> {
        match &self.state {
            State::Appending { file, .. } => file.sync_data().at(&self.path, "cannot be written"),
            State::Checking { .. } | State::Rewriting { .. } | State::Streaming { .. } => Ok(()),
        }
    }

    /// Cuts the file and goes on at its end.
    fn append_from(&mut self, end: u64) -> Result<(), ExportError> {
        let file = OpenOptions::new().append(true).open(&self.path);
        let file = file.at(&self.path, "cannot be opened")?;
        file.set_len(end).at(&self.path, "cannot be cut")?;
        self.state = State::Appending { file, end };
        Ok(())
    }

    /// Starts a new file with what agrees in the old one.
    fn rewrite_from(&mut self, agreed: u64) -> Result<(), ExportError> {
        let path = &self.path;
        let mut old = File::open(path).at(path, "cannot be opened")?.take(agreed);
        let mut file = NamedTempFile::new_in(directory_of(path)).at(path, "cannot be made anew")?;
        let permissions = fs::metadata(path).at(path, "cannot be read")?.permissions();
        file.as_file().set_permissions(permissions).at(path, "cannot be made anew")?;
        io::copy(&mut old, &mut file).at(path, "cannot be made anew")?;
        self.state = State::Rewriting { file, agreed };
        Ok(())
    }

    /// Gives what the file was a second name.
    fn keep_old(&self, agreed: u64) -> Result<String, ExportError> {
        let path = &self.path;
        let old = old::keep(path).at(path, "cannot be kept under another name")?;
        Ok(format!(
            "`{}` did not agree with the results from byte {agreed} on and was written anew; what \
             it was is in `{}`",
            path.display(),
            old.display()
        ))
    }

    /// Gives the new file the name of the old one.
    fn take_place(&mut self) -> Result<(), ExportError> {
        let path = &self.path;
        let opened = File::open(path).at(path, "cannot be opened")?;
        let between = State::Checking { file: BufReader::new(opened), good: 0 };
        let State::Rewriting { file, .. } = std::mem::replace(&mut self.state, between) else {
            return Ok(());
        };
        file.as_file().sync_all().at(path, "cannot be written")?;
        let end = file.as_file().metadata().at(path, "cannot be read")?.len();
        file.persist(path).map_err(|error| error.error).at(path, "cannot be replaced")?;
        sync_directory(directory_of(path)).at(path, "cannot be replaced")?;
        self.append_from(end)
    }
}
