//! What a file was before something else takes its place.

use std::path::{Path, PathBuf};
use std::{fs, io};

/// So many old files are kept of one name.
const MOST: u32 = 1000;

/// Gives a file a second name, one that nothing has: `games.pgn.old`, `games.pgn.old2` and so on.
pub(super) fn keep(path: &Path) -> io::Result<PathBuf> {
    for number in 1..=MOST {
        let mut old = path.as_os_str().to_owned();
        old.push(if number == 1 { ".old".to_owned() } else { format!(".old{number}") });
        match fs::hard_link(path, &old) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => (),
            result => return result.map(|()| old.into()),
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}
