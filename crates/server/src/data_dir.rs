//! The data directory, which holds secrets of engines and is accessible to its owner only.
//!
//! On Windows the access list of the user's profile does the same.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use crate::store;

/// Creates the directory, and removes the access of other users.
///
/// Returns whether the file system can protect it.
///
/// # Errors
/// The directory cannot be used, or it belongs to another user, who could read it.
pub(crate) fn prepare(data: &Path) -> Result<bool, (PathBuf, io::Error)> {
    let at = |path: &Path| {
        let path = path.to_owned();
        move |error| (path, error)
    };
    create_dir(data).map_err(at(data))?;
    // First, so that no other user can exchange what is inside meanwhile.
    let is_protected = protect_dir(data).map_err(at(data))?;
    let matches = matches_in(data);
    create_dir(&matches).map_err(at(&matches))?;
    // SQLite gives its -wal and -shm files the modes of these, and accepts an empty file as a new database.
    for name in store::FILES {
        let path = data.join(name);
        open(&path).map_err(at(&path))?;
    }
    protect_content(data);
    protect_content(&matches);
    Ok(is_protected)
}

/// Creates the data directory with an empty library in it, both accessible to their owner only, unless they exist.
///
/// # Errors
/// The directory cannot be used.
pub fn create_library(data: &Path) -> io::Result<PathBuf> {
    create_dir(data)?;
    protect_dir(data)?;
    let path = data.join(store::LIBRARY);
    open(&path)?;
    Ok(path)
}

/// The directory of matches.
pub(crate) fn matches_in(data: &Path) -> PathBuf {
    data.join("matches")
}

/// Opens a file for writing, which is created if it does not exist.
pub(crate) fn open(path: &Path) -> io::Result<File> {
    owner_only().create(true).truncate(false).open(path)
}

/// Creates a file, or replaces the existing one.
pub(crate) fn replace(path: &Path) -> io::Result<File> {
    // An existing file may be open elsewhere, or a link.
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        Ok(()) | Err(_) => (),
    }
    owner_only().create_new(true).open(path)
}

fn owner_only() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

/// Creates a directory, and those above it.
pub(crate) fn create_dir(path: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

/// Removes the access of other users to the directory. Returns false if the file system has no modes.
#[cfg(unix)]
fn protect_dir(path: &Path) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt;

    let is_own = |about: &fs::Metadata| about.uid() == rustix::process::geteuid().as_raw();
    let before = fs::metadata(path)?;
    if let Err(error) = drop_foreign_access(path, &before)
        && !is_own(&before)
    {
        let why = "it belongs to another user, and others can access it";
        return Err(io::Error::new(error.kind(), why));
    }
    Ok(!has_foreign_access(&fs::metadata(path)?))
}

#[cfg(not(unix))]
fn protect_dir(_path: &Path) -> io::Result<bool> {
    Ok(true)
}

/// Removes the access of other users to files in a protected directory. A failure is harmless as long as the
/// directory is protected.
#[cfg(unix)]
fn protect_content(directory: &Path) {
    let Ok(entries) = fs::read_dir(directory) else { return };
    for path in entries.flatten().map(|entry| entry.path()) {
        // A link may lead to a file that other users are meant to read.
        let Ok(about) = fs::symlink_metadata(&path) else { continue };
        if about.is_file() || about.is_dir() {
            let _ = drop_foreign_access(&path, &about);
        }
    }
}

#[cfg(not(unix))]
fn protect_content(_directory: &Path) {}

#[cfg(unix)]
fn drop_foreign_access(path: &Path, about: &fs::Metadata) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;

    if !has_foreign_access(about) {
        return Ok(());
    }
    let mode = about.permissions().mode() & 0o7700;
    fs::set_permissions(path, fs::Permissions::from_mode(mode))
}

/// Whether the mode lets group or others access a file.
#[cfg(unix)]
fn has_foreign_access(about: &fs::Metadata) -> bool {
    std::os::unix::fs::MetadataExt::mode(about) & 0o077 != 0
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).expect("it exists").permissions().mode() & 0o777
    }

    fn set_mode(path: &Path, mode: u32) {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("it is ours");
    }

    #[test]
    fn a_new_directory_is_for_its_owner_only() {
        let parent = tempfile::tempdir().expect("a directory");
        let data = parent.path().join("new/data");
        assert!(prepare(&data).expect("it can be used"));
        for directory in [&data, &data.join("matches")] {
            assert_eq!(mode(directory), 0o700);
        }
        assert_eq!(mode(&data.join("library.sqlite")), 0o600);
    }

    #[test]
    fn access_to_existing_files_is_restricted() {
        let data = tempfile::tempdir().expect("a directory");
        let data = data.path();
        fs::create_dir(data.join("matches")).expect("it is new");
        let files =
            ["library.sqlite", "library.sqlite-wal", "library.sqlite-shm", "matches/1.json"];
        for file in files.map(|file| data.join(file)) {
            fs::write(&file, "old").expect("it is new");
            set_mode(&file, 0o644);
        }
        set_mode(data, 0o755);
        set_mode(&data.join("matches"), 0o775);
        assert!(prepare(data).expect("it can be used"));
        assert_eq!(mode(data), 0o700);
        assert_eq!(mode(&data.join("matches")), 0o700);
        for file in files.map(|file| data.join(file)) {
            assert_eq!(mode(&file), 0o600, "{}", file.display());
            assert_eq!(fs::read_to_string(&file).expect("it is left alone"), "old");
        }
    }

    #[test]
    fn targets_of_links_are_unchanged() {
        let outside = tempfile::NamedTempFile::new().expect("a file");
        set_mode(outside.path(), 0o644);
        let data = tempfile::tempdir().expect("a directory");
        symlink(outside.path(), data.path().join("link")).expect("it is new");
        prepare(data.path()).expect("it can be used");
        assert_eq!(mode(outside.path()), 0o644);
    }
}
