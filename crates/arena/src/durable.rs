//! Files that are replaced or created as a whole: readers, also after a crash, find the old content or the new one.
//!
//! ```text
//! create next to the target ── write ── flush ── rename ── flush the directory
//! ```

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

/// Who can read a new file.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum FileAccess {
    /// As for any new file of the process.
    Default,
    /// The owner only.
    Owner,
}

/// A file without its final name. It is removed unless it is persisted.
#[derive(Debug)]
pub struct NewFile {
    file: NamedTempFile,
    target: PathBuf,
}

impl NewFile {
    /// Creates a file in the directory of `target`. If `target` is a link, the file that it names will be replaced.
    ///
    /// # Errors
    /// The directory does not exist or is not writable.
    pub fn create(target: &Path, access: FileAccess) -> io::Result<Self> {
        let target = fs::canonicalize(target).unwrap_or_else(|_| target.to_owned());
        let directory = directory_of(&target);
        let file = match access {
            FileAccess::Default => unnamed_in(directory),
            FileAccess::Owner => private_in(directory),
        }?;
        Ok(Self { file, target })
    }

    /// The temporary path.
    pub fn path(&self) -> &Path {
        self.file.path()
    }

    /// The open file.
    pub fn file(&self) -> &File {
        self.file.as_file()
    }

    /// The open file, for writing.
    pub fn file_mut(&mut self) -> &mut File {
        self.file.as_file_mut()
    }

    /// Flushes the file and gives it its name. An existing file of this name is replaced.
    ///
    /// # Errors
    /// The file cannot be flushed or renamed: an existing file is unchanged. If only the directory cannot be flushed, the
    /// file is replaced, but a crash of the system can undo that.
    pub fn persist(self) -> io::Result<()> {
        self.file.as_file().sync_all()?;
        // Closes the file: a program that is open for writing cannot be started.
        self.file.into_temp_path().persist(&self.target)?;
        sync_directory(directory_of(&self.target))
    }

    /// Flushes the file and gives it its name, unless that is in use.
    ///
    /// # Errors
    /// The name is in use ([`io::ErrorKind::AlreadyExists`]), or the file cannot be flushed or renamed. No file of this
    /// process has the name then.
    pub fn persist_new(self) -> io::Result<()> {
        self.file.as_file().sync_all()?;
        self.file.into_temp_path().persist_noclobber(&self.target)?;
        sync_directory(directory_of(&self.target)).inspect_err(|_| {
            let _ = fs::remove_file(&self.target);
        })
    }
}

impl Write for NewFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// Replaces or creates a file. Devices and pipes are written directly.
///
/// # Errors
/// The file cannot be written. An existing file is unchanged, see [`NewFile::persist`].
pub fn replace(path: &Path, content: &[u8], access: FileAccess) -> io::Result<()> {
    let found = fs::metadata(path).ok();
    if found.as_ref().is_some_and(|found| !found.is_file() && !found.is_dir()) {
        return OpenOptions::new().write(true).open(path)?.write_all(content);
    }
    let mut file = NewFile::create(path, access)?;
    if let (Some(found), FileAccess::Default) = (found, access) {
        file.file().set_permissions(found.permissions())?;
    }
    file.write_all(content)?;
    file.persist()
}

/// Renames a directory whose files are flushed to an unused name next to it.
///
/// # Errors
/// The directory cannot be renamed; or it is, and the directory above cannot be flushed.
pub fn persist_directory(staged: &Path, target: &Path) -> io::Result<()> {
    fs::rename(staged, target)?;
    sync_directory(directory_of(target))
}

/// Creates an unnamed file with default permissions.
pub(crate) fn unnamed_in(directory: &Path) -> io::Result<NamedTempFile> {
    #[cfg(unix)]
    {
        let permissions = std::os::unix::fs::PermissionsExt::from_mode(0o666);
        named().permissions(permissions).tempfile_in(directory)
    }
    #[cfg(not(unix))]
    private_in(directory)
}

/// Creates an unnamed file that is readable by the owner only.
pub(crate) fn private_in(directory: &Path) -> io::Result<NamedTempFile> {
    named().tempfile_in(directory)
}

/// A killed process leaves files of these names, which nothing reads.
fn named() -> tempfile::Builder<'static, 'static> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".readyok-").suffix(".tmp");
    builder
}

/// The directory of a file.
pub(crate) fn directory_of(path: &Path) -> &Path {
    path.parent()
        .filter(|directory| !directory.as_os_str().is_empty())
        .unwrap_or_else(|| Path::new("."))
}

/// Flushes a directory to the disk, where that is supported.
pub(crate) fn sync_directory(directory: &Path) -> io::Result<()> {
    if cfg!(unix) { File::open(directory)?.sync_all() } else { Ok(()) }
}
