//! The working directory of an engine, if the user has set none.
//!
//! Engines look for their books and networks next to the executable. A program that was found by its name in `PATH` is
//! often an interpreter, whose script is relative to the directory of the user.

use std::env;
use std::path::{Path, PathBuf, is_separator};

/// The default working directory of an engine: that of its executable if this path is absolute.
///
/// `None` is the current directory. A relative path would be that of a different file elsewhere.
pub fn own_directory(program: &Path) -> Option<PathBuf> {
    program.parent().filter(|_| program.is_absolute()).map(Path::to_owned)
}

/// The working directory to set for the program of a command line: the current directory for a name without a directory
/// part, such as `python3` or `stockfish`.
///
/// `None` for a path, with which the program starts in its [own directory](own_directory).
pub fn directory_for_name(program: &str) -> Option<PathBuf> {
    if program.contains(is_separator) { None } else { env::current_dir().ok() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_path_starts_next_to_its_executable() {
        let here = env::current_dir().expect("there is one");
        let engine = here.join("engines").join("a");
        assert_eq!(own_directory(&engine), Some(here.join("engines")));
        assert_eq!(own_directory(Path::new("python3")), None);
        assert_eq!(own_directory(Path::new("engines/a")), None);
        assert_eq!(directory_for_name("python3"), Some(here));
        for path in ["engines/a", "./a", "/engines/a"] {
            assert_eq!(directory_for_name(path), None, "{path}");
        }
    }
}
