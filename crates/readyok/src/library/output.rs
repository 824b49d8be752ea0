//! Files and results that commands write.

use std::fmt::Display;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use readyok_arena::durable::{FileAccess, NewFile};
use serde::Serialize;

use crate::exit::Failure;
use crate::terminal::print;

/// A file that will replace another one. An existing file is replaced only if that is wanted.
pub(crate) struct OutputFile {
    file: NewFile,
    path: PathBuf,
    force: bool,
}

impl OutputFile {
    /// Where the file is until it is complete.
    pub(crate) fn path(&self) -> &Path {
        self.file.path()
    }

    /// The file as an output.
    pub(crate) fn file(&self) -> &File {
        self.file.file()
    }

    /// Gives the complete file its name.
    pub(crate) fn persist(self) -> Result<(), Failure> {
        let Self { file, path, force } = self;
        let persisted = if force { file.persist() } else { file.persist_new() };
        persisted.map_err(|error| cannot_write(&path, &error))
    }
}

/// A file that cannot be written.
pub(crate) fn cannot_write(path: &Path, error: &impl Display) -> Failure {
    Failure::failed(format!("`{}`: {error}", path.display()))
}

/// Creates the file that will get a name.
pub(crate) fn output_file(path: &Path, force: bool) -> Result<OutputFile, Failure> {
    if path.exists() && !force {
        let path = path.display();
        return Err(Failure::usage(format!("`{path}` exists; --force replaces it")));
    }
    let file = NewFile::create(path, FileAccess::Owner);
    let file = file.map_err(|error| Failure::usage(format!("`{}`: {error}", path.display())))?;
    Ok(OutputFile { file, path: path.to_owned(), force })
}

/// Prints the result of a command as text or JSON.
pub(crate) fn print_result(
    result: &impl Serialize,
    text: &str,
    is_json: bool,
) -> Result<(), Failure> {
    if is_json {
        print(&serde_json::to_string(result).map_err(Failure::failed)?);
    } else if !text.is_empty() {
        print(text);
    }
    Ok(())
}

/// The time in ms since 1970.
pub(crate) fn now_ms() -> i64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or_default()
}
