//! Export files, which are compared with the store and then appended to, and directories with one file per
//! game.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use super::error::At as _;
use super::error::ExportError;
use crate::pairing::PairResult;
use crate::store::{directory_of, sync_directory, unnamed_in};

/// An export file that follows the store.
#[derive(Debug)]
pub(super) struct Follower {
    path: PathBuf,
    /// Rename the old file if its content differs.
    keep_old: bool,
    state: State,
}

#[derive(Debug)]
enum State {
    /// The file equals the store up to `good`.
    Checking { file: BufReader<File>, good: u64 },
    /// The file differs from `agreed` on and is being rewritten.
    Rewriting { file: NamedTempFile, agreed: u64 },
    /// The file is complete and ends at `end`.
    Appending { file: File, end: u64 },
    /// Not a regular file, such as `/dev/null` or a pipe: it cannot be compared or truncated.
    Streaming { file: File },
}

impl Follower {
    /// Opens a file in which the match starts at `from`.
    pub(super) fn open(path: &Path, from: u64, keep_old: bool) -> Result<Self, ExportError> {
        if fs::metadata(path).is_ok_and(|it| !it.is_file() && !it.is_dir()) {
            let file = OpenOptions::new().write(true).open(path).at(path, "cannot be opened")?;
            return Ok(Self { path: path.to_owned(), keep_old, state: State::Streaming { file } });
        }
        let file = OpenOptions::new().read(true).append(true).create(true).open(path);
        let mut file = BufReader::new(file.at(path, "cannot be opened")?);
        file.seek(SeekFrom::Start(from)).at(path, "cannot be read")?;
        Ok(Self { path: path.to_owned(), keep_old, state: State::Checking { file, good: from } })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Compares the file with the next record and corrects it.
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
            // The record is partial or missing.
            self.append_from(good_end)?;
        } else {
            self.rewrite_from(good_end)?;
        }
        self.append(text)
    }

    /// Ends the comparison at the end of the store. Returns a message if the file was rewritten.
    pub(super) fn end_check(&mut self) -> Result<Option<String>, ExportError> {
        if let State::Checking { file, good } = &mut self.state {
            let (good, rest) = (*good, file.fill_buf().at(&self.path, "cannot be read")?);
            if rest.is_empty() { self.append_from(good)? } else { self.rewrite_from(good)? }
        }
        let State::Rewriting { agreed, .. } = self.state else { return Ok(None) };
        let message = if self.keep_old { Some(self.rename_old(agreed)?) } else { None };
        self.replace()?;
        Ok(message)
    }

    /// Appends a record.
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
                    // A partial game would make the file invalid.
                    file.set_len(*end).at(&self.path, "cannot be truncated")?;
                    return Err(error).at(&self.path, "cannot be written");
                }
                *end += text.len() as u64;
                Ok(())
            }
        }
    }

    /// Flushes the file to the disk.
    pub(super) fn sync(&mut self) -> Result<(), ExportError> {
        match &self.state {
            State::Appending { file, .. } => file.sync_data().at(&self.path, "cannot be written"),
            State::Checking { .. } | State::Rewriting { .. } | State::Streaming { .. } => Ok(()),
        }
    }

    /// Truncates the file and appends to it.
    fn append_from(&mut self, end: u64) -> Result<(), ExportError> {
        let file = OpenOptions::new().append(true).open(&self.path);
        let file = file.at(&self.path, "cannot be opened")?;
        file.set_len(end).at(&self.path, "cannot be truncated")?;
        self.state = State::Appending { file, end };
        Ok(())
    }

    /// Starts a new file with the matching part of the old one.
    fn rewrite_from(&mut self, agreed: u64) -> Result<(), ExportError> {
        let path = &self.path;
        let mut old = File::open(path).at(path, "cannot be opened")?.take(agreed);
        let mut file = NamedTempFile::new_in(directory_of(path)).at(path, "cannot be rewritten")?;
        let permissions = fs::metadata(path).at(path, "cannot be read")?.permissions();
        file.as_file().set_permissions(permissions).at(path, "cannot be rewritten")?;
        io::copy(&mut old, &mut file).at(path, "cannot be rewritten")?;
        self.state = State::Rewriting { file, agreed };
        Ok(())
    }

    /// Links the old file to another name.
    fn rename_old(&self, agreed: u64) -> Result<String, ExportError> {
        let path = &self.path;
        let old = link_old(path).at(path, "cannot be renamed")?;
        Ok(format!(
            "`{}` differed from the results from byte {agreed} on and was rewritten; the old file is \
             `{}`",
            path.display(),
            old.display()
        ))
    }

    /// Replaces the old file by the new one.
    fn replace(&mut self) -> Result<(), ExportError> {
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

/// A directory with one file per game that follows the store.
#[derive(Debug)]
pub(super) struct Directory(PathBuf);

impl Directory {
    pub(super) fn open(path: &Path) -> Result<Self, ExportError> {
        fs::create_dir_all(path).at(path, "cannot be created")?;
        Ok(Self(path.to_owned()))
    }

    pub(super) fn path(&self) -> &Path {
        &self.0
    }

    /// Writes the files of a pair, whose names have the numbers of pair and game from 1. Existing files
    /// with other content are renamed.
    pub(super) fn put(&self, pair: &PairResult, games: &[String]) -> Result<(), ExportError> {
        for (number, text) in (1..).zip(games) {
            let path = self.0.join(format!("{:06}-{number}.kif", pair.pairing.index + 1));
            match fs::read(&path) {
                Ok(found) if found == text.as_bytes() => continue,
                Ok(_) => {
                    link_old(&path).at(&path, "cannot be renamed")?;
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

/// Maximum number of old files of one name.
const MAX_OLD_FILES: u32 = 1000;

/// Links a file to an unused name: `games.pgn.old`, `games.pgn.old2` and so on.
fn link_old(path: &Path) -> io::Result<PathBuf> {
    for number in 1..=MAX_OLD_FILES {
        let mut old = path.as_os_str().to_owned();
        old.push(if number == 1 { ".old".to_owned() } else { format!(".old{number}") });
        match fs::hard_link(path, &old) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => (),
            result => return result.map(|()| old.into()),
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}
