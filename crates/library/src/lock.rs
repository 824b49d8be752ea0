//! Locks that several processes hold on one database. They are files next to it, and end with their process.
//!
//! * `…-lock` is held by the process whose writer handles a request.
//! * `…-open` is held, shared, by each process that has opened the database. It shows a writer whether others need
//!   what is only in its memory.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek as _, SeekFrom};
#[cfg(unix)]
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use crate::error::{Error, LibraryDefect};
use crate::schema::APPLICATION;

/// Default maximum time for which a request waits for another process.
pub(crate) const LOCK_TIMEOUT: Duration = Duration::from_secs(10);

/// Interval in which a lock is tried.
const POLL: Duration = Duration::from_millis(1);

/// Time between two requests in which another process gets the lock.
const PAUSE: Duration = Duration::from_millis(3);

#[derive(Debug)]
pub(crate) struct ProcessLock {
    write: Arc<File>,
    open: File,
    timeout: Duration,
}

/// The right to write, until it is dropped.
#[derive(Debug)]
pub(crate) struct WriteGuard(Arc<File>);

impl Drop for WriteGuard {
    fn drop(&mut self) {
        // Closing is not enough: a child process can have the file open until it executes its program.
        let _ = self.0.unlock();
    }
}

impl ProcessLock {
    /// Opens the lock files of a database. `None` if the file belongs to another program: nothing is created then.
    pub(crate) fn open(path: &Path, timeout: Duration) -> Result<Option<Self>, Error> {
        if !may_be_library(path)? {
            return Ok(None);
        }
        // Those who can use the database can lock it, as with other files of SQLite.
        #[cfg(unix)]
        let mode = path.metadata().map_or(0o600, |database| database.permissions().mode() & 0o777);
        let open = |suffix| {
            let path = sibling(path, suffix);
            let mut options = OpenOptions::new();
            options.read(true).write(true).create(true).truncate(false);
            #[cfg(unix)]
            options.mode(mode);
            options.open(path).map_err(|error| match error.kind() {
                io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
                    Error::Defect(LibraryDefect::LibraryReadOnly)
                }
                io::ErrorKind::StorageFull => Error::Defect(LibraryDefect::DiskFull),
                _ => Error::Io(error),
            })
        };
        Ok(Some(Self { write: open("-lock")?.into(), open: open("-open")?, timeout }))
    }

    /// Waits for the right to write.
    ///
    /// # Errors
    /// Another process has it for too long.
    pub(crate) fn acquire(&self) -> Result<WriteGuard, Error> {
        let file = Arc::clone(&self.write);
        let mut since = None;
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(WriteGuard(file)),
                // Neither do transactions of `SQLite` exclude each other on such a file system.
                Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Unsupported => {
                    return Ok(WriteGuard(file));
                }
                Err(TryLockError::Error(error)) => return Err(error.into()),
                Err(TryLockError::WouldBlock) => {
                    let since = *since.get_or_insert_with(now);
                    if now().saturating_duration_since(since) >= self.timeout {
                        return Err(Error::Defect(LibraryDefect::LibraryInUse));
                    }
                    thread::sleep(POLL);
                }
            }
        }
    }

    /// States that this process has the database open, and returns whether it is the only one. The caller has the right
    /// to write: two processes do not do this at the same time.
    pub(crate) fn is_alone(&self) -> bool {
        // A lock is not converted: the result of that depends on the system.
        let _ = self.open.unlock();
        let is_alone = self.open.try_lock().is_ok();
        let _ = self.open.unlock();
        let _ = self.open.try_lock_shared();
        is_alone
    }

    /// Lets other processes write that wait.
    pub(crate) fn pause() {
        thread::sleep(PAUSE);
    }
}

impl Drop for ProcessLock {
    fn drop(&mut self) {
        let _ = self.open.unlock();
    }
}

fn sibling(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

/// Whether a file is missing, empty, or marked as a library in its header.
fn may_be_library(path: &Path) -> Result<bool, Error> {
    let mut file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(true),
        Err(error) => return Err(error.into()),
    };
    if file.metadata()?.len() == 0 {
        return Ok(true);
    }
    // The application id has this place in the header of each database.
    file.seek(SeekFrom::Start(68))?;
    let mut id = [0; 4];
    Ok(file.read_exact(&mut id).is_ok() && i64::from(u32::from_be_bytes(id)) == APPLICATION)
}

#[expect(clippy::disallowed_methods, reason = "it limits the time of a wait")]
fn now() -> Instant {
    Instant::now()
}
