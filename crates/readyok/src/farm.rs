//! A farm: the identities of its workers, and the configuration of its server.
//!
//! ```text
//!  operator ── signs ──> account ── signs ──> owner
//!                           └─ signing key ── signs ──> workers
//! ```
//!
//! The configuration of the server contains the token of the account, and this one the public signing key with a template
//! of permissions. The server fills in the name of the worker. So a new worker needs no change of the server. A revocation
//! is a part of the token of the account, which is signed again.

mod configuration;
mod keys;
mod register;
mod server;
mod token;

use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::path::{self, Path, PathBuf};

use nkeys::KeyPair;
use readyok_arena::durable::{self, FileAccess, NewFile};
use readyok_arena::queue::nats::permissions::{OWNER, is_worker_name, name_in_credentials};

use self::keys::Keys;
use self::register::Register;
use crate::clock::unix_seconds;

pub(crate) use self::configuration::{Listener, Tls};
pub(crate) use self::register::Worker;
pub(crate) use self::server::Reload;

/// The file of the private keys.
pub(crate) const KEYS: &str = "farm.keys";
/// The configuration of the server.
pub(crate) const CONFIGURATION: &str = "farm.conf";
/// The credentials of the owner.
pub(crate) const OWNER_CREDENTIALS: &str = "owner.creds";
/// The register of workers.
const REGISTER: &str = "workers.toml";

/// Maximum length of the files of a farm in bytes.
const MAX_FILE_LEN: u64 = 16 << 20;

/// A failure of a command for farms.
#[derive(Debug, thiserror::Error)]
pub(crate) enum FarmError {
    #[error("`{}` exists: choose a directory without a farm", .0.display())]
    FarmExists(PathBuf),
    #[error("no farm in `{}`: run `readyok farm init`, or name its directory with --dir", .0.display())]
    NoFarm(PathBuf),
    #[error(
        "`{0}` is not the name of a worker: use up to 32 letters, digits, `-` and `_`, also after an owner and `/`, \
        such as `box7` or `alice/box7`"
    )]
    InvalidName(String),
    #[error("`{OWNER}` is the name of the owner of the farm: choose another name")]
    ReservedName,
    #[error("`{0}` is invited already: revoke it first, with `readyok farm revoke {0}`")]
    Enrolled(String),
    #[error("`{0}` is not invited: `readyok farm list` shows the workers")]
    Unknown(String),
    #[error("`{}` exists: write the credentials to another file with --output", .0.display())]
    CredentialsExist(PathBuf),
    #[error("`{}` is not UTF-8: the configuration of the server cannot name it", .0.display())]
    PathNotUtf8(PathBuf),
    #[error("`{}` is malformed: {why}", .path.display())]
    Malformed { path: PathBuf, why: String },
    #[error(
        "`{}` does not have the token of the account in a line `{account}: TOKEN`: restore the line", .path.display()
    )]
    NoAccount { path: PathBuf, account: String },
    #[error("cannot read `{}`: {error}", .path.display())]
    Read { path: PathBuf, error: io::Error },
    #[error("cannot write `{}`: {error}", .path.display())]
    Write { path: PathBuf, error: io::Error },
    #[error("cannot sign: {0}")]
    Sign(#[from] nkeys::error::Error),
}

impl FarmError {
    #[expect(clippy::needless_pass_by_value, reason = "a callback of `map_err` owns the error")]
    fn malformed(path: &Path, why: impl ToString) -> Self {
        Self::Malformed { path: path.to_owned(), why: why.to_string().trim_end().to_owned() }
    }

    /// Whether the arguments are wrong, and nothing was changed.
    pub(crate) fn is_usage(&self) -> bool {
        match self {
            Self::FarmExists(_)
            | Self::NoFarm(_)
            | Self::InvalidName(_)
            | Self::ReservedName
            | Self::Enrolled(_)
            | Self::Unknown(_)
            | Self::CredentialsExist(_)
            | Self::PathNotUtf8(_) => true,
            Self::Malformed { .. }
            | Self::NoAccount { .. }
            | Self::Read { .. }
            | Self::Write { .. }
            | Self::Sign(_) => false,
        }
    }
}

/// Creates the keys of a farm, the configuration of its server, and the credentials of its owner. Returns the absolute
/// path of its directory.
pub(crate) fn create(dir: &Path, listener: &Listener) -> Result<PathBuf, FarmError> {
    let dir =
        path::absolute(dir).map_err(|error| FarmError::Write { path: dir.to_owned(), error })?;
    for name in [KEYS, CONFIGURATION, OWNER_CREDENTIALS, REGISTER] {
        let path = dir.join(name);
        if path.symlink_metadata().is_ok() {
            return Err(FarmError::FarmExists(path));
        }
    }
    let keys = Keys::generate();
    let (owner, now) = (KeyPair::new_user(), unix_seconds());
    let system = KeyPair::new_account();
    let register = Register::default();
    let configuration = configuration::Contents {
        operator: token::operator(&keys.operator, &system, now)?,
        system: token::system(&keys.operator, &system, now)?,
        account: token::account(&keys, &register, now)?,
        system_key: system.public_key(),
        account_key: keys.account.public_key(),
    };
    let files = [
        (KEYS, keys.to_text(&dir.join(KEYS))?),
        (
            OWNER_CREDENTIALS,
            token::credentials(&token::owner(&keys.account, &owner, now)?, &owner)?,
        ),
        (REGISTER, register.to_text(&dir.join(REGISTER))?),
        (CONFIGURATION, configuration.to_text(&dir, listener)?),
    ];
    let failed = |error| FarmError::Write { path: dir.clone(), error };
    if dir.symlink_metadata().is_err() {
        create_whole(&dir, &files)?;
        return Ok(dir);
    }
    create_dir(&dir).map_err(failed)?;
    // All files are complete before the first one appears.
    let mut staged = Vec::new();
    for (name, text) in files {
        let path = dir.join(name);
        staged.push((stage(&path, &text)?, path));
    }
    let mut created = Vec::new();
    for (file, path) in staged {
        if let Err(error) = file.persist_new() {
            for path in created {
                // Half a farm could not be used, and would not be replaced.
                let _ = fs::remove_file(path);
            }
            return Err(match error.kind() {
                io::ErrorKind::AlreadyExists => FarmError::FarmExists(path),
                _ => FarmError::Write { path, error },
            });
        }
        created.push(path);
    }
    Ok(dir)
}

/// Creates the directory with all files, or neither.
fn create_whole(dir: &Path, files: &[(&str, String)]) -> Result<(), FarmError> {
    let failed = |error| FarmError::Write { path: dir.to_owned(), error };
    let parent = dir.parent().unwrap_or(dir);
    create_dir(parent).map_err(failed)?;
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700));
    let staged = builder.prefix(".readyok-").suffix(".tmp").tempdir_in(parent).map_err(failed)?;
    for (name, text) in files {
        let path = staged.path().join(name);
        let written = durable::replace(&path, text.as_bytes(), FileAccess::Owner);
        written.map_err(|error| FarmError::Write { path: dir.join(name), error })?;
    }
    durable::persist_directory(staged.path(), dir).map_err(failed)?;
    // It has another name now.
    drop(staged.keep());
    Ok(())
}

/// A farm that no other process changes until it is dropped.
pub(crate) struct Farm {
    dir: PathBuf,
    keys: Keys,
    register: Register,
    /// The locked file of the keys.
    _lock: File,
}

/// The result of a revocation.
pub(crate) struct Revoked {
    /// The configuration of the server.
    pub(crate) configuration: PathBuf,
    /// Whether the server reads it.
    pub(crate) reload: Reload,
}

impl Farm {
    /// Opens the farm in a directory. Waits for another process that changes it.
    pub(crate) fn open(dir: &Path) -> Result<Self, FarmError> {
        let path = dir.join(KEYS);
        let failed = |error: io::Error| match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => {
                FarmError::NoFarm(dir.to_owned())
            }
            _ => FarmError::Read { path: path.clone(), error },
        };
        // An exclusive lock of some network file systems needs a writable file.
        let mut lock = File::options().read(true).write(true).open(&path).map_err(failed)?;
        lock.lock().map_err(failed)?;
        // On Windows, a locked file can only be read with the same handle.
        let keys = Keys::of_text(&read_from(&mut lock).map_err(failed)?, &path)?;
        let path = dir.join(REGISTER);
        let register = Register::of_text(&read(&path)?, &path)?;
        Ok(Self { dir: dir.to_owned(), keys, register, _lock: lock })
    }

    /// The invited workers, also the revoked ones, in the order of their invitation.
    pub(crate) fn workers(&self) -> &[Worker] {
        &self.register.workers
    }

    /// Invites a worker. Returns the file with its credentials. The server needs no change.
    pub(crate) fn invite(
        &mut self,
        name: &str,
        output: Option<&Path>,
    ) -> Result<PathBuf, FarmError> {
        if name == OWNER {
            return Err(FarmError::ReservedName);
        }
        if !is_worker_name(name) {
            return Err(FarmError::InvalidName(name.to_owned()));
        }
        if self.register.enrolled(name).is_some() {
            return Err(FarmError::Enrolled(name.to_owned()));
        }
        let path = match output {
            Some(path) => path.to_owned(),
            None => self.dir.join(credentials_file(name)),
        };
        let is_replaceable = self.are_revoked_credentials(&path, name);
        if path.symlink_metadata().is_ok() && !is_replaceable {
            return Err(FarmError::CredentialsExist(path));
        }
        let (user, now) = (KeyPair::new_user(), unix_seconds());
        let token = token::worker(&self.keys, &user, name, now)?;
        let staged = stage(&path, &token::credentials(&token, &user)?)?;
        // Credentials that are not in the register could not be revoked.
        self.register.invite(name, user.public_key(), now);
        self.write_register()?;
        let persisted = if is_replaceable { staged.persist() } else { staged.persist_new() };
        if let Err(error) = persisted {
            // The new credentials are deleted, unused.
            self.register.workers.pop();
            self.write_register()?;
            return Err(match error.kind() {
                io::ErrorKind::AlreadyExists => FarmError::CredentialsExist(path),
                _ => FarmError::Write { path, error },
            });
        }
        Ok(path)
    }

    /// Whether the file has credentials of a worker with this name. All of them are revoked if the name is not enrolled.
    fn are_revoked_credentials(&self, path: &Path, name: &str) -> bool {
        let is_known = self.register.workers.iter().any(|worker| worker.name == name);
        is_known && read(path).is_ok_and(|text| name_in_credentials(&text).as_deref() == Some(name))
    }

    /// Revokes a worker, and makes a server that runs here read the new configuration. A second revocation repeats the
    /// change of the configuration.
    pub(crate) fn revoke(&mut self, name: &str) -> Result<Revoked, FarmError> {
        let now = unix_seconds();
        if !self.register.revoke(name, now) {
            return Err(FarmError::Unknown(name.to_owned()));
        }
        let path = self.dir.join(CONFIGURATION);
        let (text, account) = (read(&path)?, self.keys.account.public_key());
        let token = token::account(&self.keys, &self.register, now)?;
        let changed = configuration::with_account(&text, &account, &token)
            .ok_or_else(|| FarmError::NoAccount { path: path.clone(), account })?;
        self.write_register()?;
        replace(&path, &changed)?;
        let reload = server::reload(configuration::pid_file(&text).as_deref());
        Ok(Revoked { configuration: path, reload })
    }

    fn write_register(&self) -> Result<(), FarmError> {
        let path = self.dir.join(REGISTER);
        replace(&path, &self.register.to_text(&path)?)
    }
}

/// The name of the file with the credentials of a worker.
fn credentials_file(name: &str) -> String {
    format!("{}.creds", name.replace('/', "-"))
}

fn read(path: &Path) -> Result<String, FarmError> {
    let text = File::open(path).and_then(|mut file| read_from(&mut file));
    text.map_err(|error| FarmError::Read { path: path.to_owned(), error })
}

fn read_from(file: &mut File) -> io::Result<String> {
    let mut text = String::new();
    let length = file.take(MAX_FILE_LEN + 1).read_to_string(&mut text)?;
    if MAX_FILE_LEN < u64::try_from(length).unwrap_or(u64::MAX) {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    Ok(text)
}

/// Creates a directory that only its owner can access, unless it exists.
fn create_dir(path: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

/// Writes a temporary file next to `path`. Only its owner can access it.
fn stage(path: &Path, text: &str) -> Result<NewFile, FarmError> {
    let write = || {
        let mut file = NewFile::create(path, FileAccess::Owner)?;
        file.write_all(text.as_bytes())?;
        Ok(file)
    };
    write().map_err(|error| FarmError::Write { path: path.to_owned(), error })
}

/// Replaces a file atomically. It keeps its permissions: the server may run as another user.
fn replace(path: &Path, text: &str) -> Result<(), FarmError> {
    let failed = |error| FarmError::Write { path: path.to_owned(), error };
    let permissions = fs::metadata(path).map_err(failed)?.permissions();
    let file = stage(path, text)?;
    file.file().set_permissions(permissions).map_err(failed)?;
    file.persist().map_err(failed)
}
