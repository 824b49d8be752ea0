//! Secrets in files, which keep them out of the process list.

use std::io;
use std::path::Path;

use crate::exit::Failure;

/// Maximum size of a file with a secret, in bytes.
const MAX_SIZE: u64 = 4096;

/// Reads the secret in a file that other users cannot read.
pub(super) fn read_secret(file: &Path) -> Result<String, Failure> {
    let wrong = |why: String| Failure::usage(format!("`{}`: {why}", file.display()));
    let about = file.metadata().map_err(|error| wrong(error.to_string()))?;
    #[cfg(unix)]
    if std::os::unix::fs::PermissionsExt::mode(&about.permissions()) & 0o077 != 0 {
        return Err(wrong("others can read it (chmod 600 helps)".to_owned()));
    }
    if MAX_SIZE < about.len() {
        return Err(wrong(io::Error::from(io::ErrorKind::FileTooLarge).to_string()));
    }
    let text = std::fs::read_to_string(file).map_err(|error| wrong(error.to_string()))?;
    Ok(text.trim_end_matches(['\r', '\n']).to_owned())
}
