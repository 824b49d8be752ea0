//! Executable files, by the rules of the system.

use std::env;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// Extensions of files that Windows executes.
const EXTENSIONS: [&str; 4] = ["exe", "com", "bat", "cmd"];

/// Whether this is a file that the system executes: by its mode on Unix, by its extension on Windows.
pub fn is_executable(file: &Path) -> bool {
    let Ok(metadata) = file.metadata() else { return false };
    #[cfg(unix)]
    let may_run = std::os::unix::fs::PermissionsExt::mode(&metadata.permissions()) & 0o111 != 0;
    #[cfg(not(unix))]
    let may_run = has_extension(file);
    metadata.is_file() && may_run
}

/// An executable with this path; on Windows, the extension may be missing.
pub fn find_executable(file: &Path) -> Option<PathBuf> {
    if cfg!(windows) && !has_extension(file) {
        let with = |extension: &&str| {
            let mut name = file.as_os_str().to_owned();
            name.push(".");
            name.push(extension);
            PathBuf::from(name)
        };
        return EXTENSIONS.iter().map(with).find(|file| is_executable(file));
    }
    is_executable(file).then(|| file.to_owned())
}

/// The first executable with this name in the directories of a variable such as `PATH`.
pub fn find_in_path(name: &str, directories: &OsStr) -> Option<PathBuf> {
    if name.is_empty() {
        return None;
    }
    env::split_paths(directories).find_map(|directory| find_executable(&directory.join(name)))
}

fn has_extension(file: &Path) -> bool {
    let extension = file.extension().unwrap_or_default();
    EXTENSIONS.iter().any(|known| extension.eq_ignore_ascii_case(known))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_executables_by_their_name() {
        let test = env::current_exe().expect("the path of this test");
        let directory = test.parent().expect("its directory");
        let directories =
            env::join_paths([Path::new("missing"), directory]).expect("no separator in the path");
        let name = test.file_name().and_then(OsStr::to_str).expect("UTF-8");
        assert_eq!(find_in_path(name, &directories).as_deref(), Some(&*test));
        let stem = name.strip_suffix(env::consts::EXE_SUFFIX).unwrap_or(name);
        assert_eq!(find_in_path(stem, &directories).as_deref(), Some(&*test));
        assert_eq!(find_in_path("", &directories), None);
        assert!(!is_executable(directory));
        assert!(!is_executable(&Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml")));
    }
}
