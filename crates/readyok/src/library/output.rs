//! Files and results that commands write.

use std::path::Path;
use std::time::SystemTime;

use serde::Serialize;
use tempfile::NamedTempFile;

use crate::exit::Failure;
use crate::terminal::print;

/// A temporary file that will replace a file. An existing file is replaced only if that is wanted.
pub(crate) fn output_file(path: &Path, force: bool) -> Result<NamedTempFile, Failure> {
    if path.exists() && !force {
        let path = path.display();
        return Err(Failure::usage(format!("`{path}` exists; --force replaces it")));
    }
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    let parent = parent.unwrap_or_else(|| Path::new("."));
    let mut builder = tempfile::Builder::new();
    builder.prefix(".readyok-").suffix(".tmp");
    let created = builder.tempfile_in(parent);
    created.map_err(|error| Failure::usage(format!("`{}`: {error}", path.display())))
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
