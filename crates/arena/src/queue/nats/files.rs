//! Programs on their way to workers.

use std::fs;
use std::path::{Path, PathBuf};

use tokio::fs::File;
use tokio::io::AsyncReadExt;

use super::connection::Connection;
use super::permissions::Permissions;
use super::said::broken;
use crate::queue::{Order, QueueError};
use crate::store::ContentHash;

/// The largest program that is delivered.
const LARGEST: u64 = 1 << 30;

/// Puts the programs of an order on the server, where they are not there yet.
pub(super) fn deliver(connection: &Connection, order: &Order) -> Result<(), QueueError> {
    if order.programs.is_empty() {
        return Ok(());
    }
    let store = connection.files()?;
    for (command, content) in &order.programs {
        let name = content.to_string();
        if connection.wait(store.info(&name)).is_ok() {
            continue;
        }
        let path = order.path_of(command).map_err(broken)?;
        connection.wait(async {
            let mut file = File::open(&path).await.map_err(broken)?;
            store.put(name.as_str(), &mut file).await.map_err(broken)
        })?;
    }
    Ok(())
}

/// Fetches the programs of an order that are not on this machine, and writes the paths of all into
/// its plan.
pub(super) fn fetch(
    connection: &Connection,
    mut order: Order,
    permissions: &Permissions,
    cache: &Path,
) -> Result<Order, QueueError> {
    for engine in &mut order.plan.engines {
        let Some(content) = order.programs.get(&engine.command) else { continue };
        let path = match permissions.here(*content) {
            Some(path) => path.to_owned(),
            None => download(connection, *content, cache)?,
        };
        engine.command = path.into_os_string().into_string().map_err(|path| {
            broken(format!("the path `{}` is not UTF-8", path.to_string_lossy()))
        })?;
        // That of the coordinator's machine.
        engine.dir = None;
    }
    Ok(order)
}

fn download(
    connection: &Connection,
    content: ContentHash,
    cache: &Path,
) -> Result<PathBuf, QueueError> {
    let name = content.to_string();
    let path = cache.join(&name);
    if ContentHash::of_file(&path).is_ok_and(|found| found == content) {
        return Ok(path);
    }
    fs::create_dir_all(cache).map_err(broken)?;
    let store = connection.files()?;
    let bytes = connection.wait(async {
        let object = store.get(&name).await.map_err(broken)?;
        let mut bytes = Vec::new();
        object.take(LARGEST + 1).read_to_end(&mut bytes).await.map_err(broken)?;
        Ok(bytes)
    })?;
    if bytes.len() as u64 > LARGEST || ContentHash::of(&bytes) != content {
        return Err(broken(format!("the program {name} is not what its name says")));
    }
    let file = tempfile::NamedTempFile::new_in(cache).map_err(broken)?;
    fs::write(file.path(), &bytes).map_err(broken)?;
    make_program(file.path()).map_err(broken)?;
    file.persist(&path).map_err(broken)?;
    Ok(path)
}

#[cfg(unix)]
fn make_program(path: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(path, fs::Permissions::from_mode(0o500))
}

#[cfg(not(unix))]
fn make_program(_: &Path) -> std::io::Result<()> {
    Ok(())
}
