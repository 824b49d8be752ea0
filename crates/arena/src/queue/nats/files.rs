//! Transfer of programs and files to workers.
//!
//! They are named by their content hashes, on the server and in the cache of a worker: no remote name is used as a
//! path.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use sha2::{Digest, Sha256};
use tempfile::NamedTempFile;
use tokio::fs::File;
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::time::timeout;

use super::connection::Connection;
use super::messages::broken;
use super::permissions::Permissions;
use crate::plan::EngineId;
use crate::queue::{MAX_FILE_BYTES, MatchSpec, QueueError};
use crate::store::ContentHash;

/// Timeout between two parts of a download.
const STALL_TIMEOUT: Duration = Duration::from_secs(30);

/// The use of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// It is executed.
    Program,
    /// It is read by a program.
    Data,
}

/// A match specification with the paths of this host.
#[derive(Debug)]
pub(super) struct Fetched {
    pub(super) spec: MatchSpec,
    /// The paths of downloaded files.
    pub(super) delivered: BTreeSet<String>,
}

/// Uploads the programs and files of a match, unless they are on the server.
pub(super) fn upload(connection: &Connection, spec: &MatchSpec) -> Result<(), QueueError> {
    if spec.programs.is_empty() {
        return Ok(());
    }
    let store = connection.create_files()?;
    let put = |content: ContentHash, path: PathBuf| {
        let name = content.to_string();
        if connection.wait(store.info(&name)).is_ok() {
            return Ok(());
        }
        connection.wait(async {
            let mut file = File::open(&path).await.map_err(broken)?;
            store.put(name.as_str(), &mut file).await.map_err(broken).map(drop)
        })
    };
    for (command, content) in &spec.programs {
        put(*content, spec.path_of(command).map_err(broken)?)?;
    }
    spec.files.iter().try_for_each(|file| put(file.content, file.path().to_owned()))
}

/// Downloads missing programs and files of a match, and replaces the paths in its plan.
pub(super) fn fetch(
    connection: &Connection,
    mut spec: MatchSpec,
    permissions: &Permissions,
    cache: &Path,
) -> Result<Fetched, QueueError> {
    let mut delivered = BTreeSet::new();
    let files = std::mem::take(&mut spec.files);
    for (id, engine) in (0..).map(EngineId).zip(&mut spec.plan.engines) {
        let Some(&content) = spec.programs.get(&engine.command) else { continue };
        engine.command = match permissions.local_path(content) {
            Some(path) => utf8(path.to_owned())?,
            None => utf8(download(connection, content, cache, Kind::Program)?)?,
        };
        // A path of the coordinator's host.
        engine.dir = None;
        for file in files.iter().filter(|file| file.engine == id) {
            let values = engine.options.values_mut();
            // Arguments in permissions refer to files of this host.
            let args = engine.args.iter_mut().filter(|_| !permissions.has_own_arguments());
            let texts: Vec<&mut String> =
                values.chain(args).filter(|text| **text == file.text).collect();
            if texts.is_empty() {
                continue;
            }
            let path = utf8(download(connection, file.content, cache, Kind::Data)?)?;
            for text in texts {
                text.clone_from(&path);
            }
            delivered.insert(path);
        }
    }
    Ok(Fetched { spec, delivered })
}

fn utf8(path: PathBuf) -> Result<String, QueueError> {
    path.into_os_string()
        .into_string()
        .map_err(|path| broken(format!("the path `{}` is not UTF-8", path.to_string_lossy())))
}

/// Downloads a file into the cache, unless it exists.
fn download(
    connection: &Connection,
    content: ContentHash,
    cache: &Path,
    kind: Kind,
) -> Result<PathBuf, QueueError> {
    let name = content.to_string();
    let path = match kind {
        Kind::Program => cache.join(&name),
        // Data files are not executable.
        Kind::Data => std::path::absolute(cache).map_err(broken)?.join(format!("{name}.data")),
    };
    if ContentHash::of_file(&path).is_ok_and(|found| found == content) {
        return Ok(path);
    }
    fs::create_dir_all(cache).map_err(broken)?;
    let store = connection.find_files()?;
    let mut file = NamedTempFile::new_in(cache).map_err(broken)?;
    let found = connection.wait(async {
        let object = timeout(STALL_TIMEOUT, store.get(&name)).await.map_err(broken)?;
        copy(&mut object.map_err(broken)?, file.as_file_mut()).await
    })?;
    if found != Some(content) {
        return Err(broken(format!(
            "the content of the file {name} on the server does not match its hash"
        )));
    }
    set_permissions(file.path(), kind).map_err(broken)?;
    // Closes the file: one that is open for writing cannot be executed.
    file.into_temp_path().persist(&path).map_err(broken)?;
    Ok(path)
}

/// Copies a file and returns its content hash; `None` if it is too large.
async fn copy(
    from: &mut (impl AsyncRead + Unpin),
    to: &mut fs::File,
) -> Result<Option<ContentHash>, QueueError> {
    let mut hash = Sha256::new();
    let mut buffer = vec![0; 64 << 10];
    let mut length = 0;
    loop {
        let read = timeout(STALL_TIMEOUT, from.read(&mut buffer)).await.map_err(broken)?;
        let read = read.map_err(broken)?;
        if read == 0 {
            return Ok(Some(ContentHash::from_digest(hash)));
        }
        length += read as u64;
        if length > MAX_FILE_BYTES {
            return Ok(None);
        }
        let part = buffer.get(..read).unwrap_or_default();
        hash.update(part);
        to.write_all(part).map_err(broken)?;
    }
}

#[cfg(unix)]
fn set_permissions(path: &Path, kind: Kind) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    let mode = match kind {
        Kind::Program => 0o500,
        Kind::Data => 0o400,
    };
    fs::set_permissions(path, fs::Permissions::from_mode(mode))
}

#[cfg(not(unix))]
fn set_permissions(_: &Path, _: Kind) -> std::io::Result<()> {
    Ok(())
}
