//! The value of `NalimovPath` and `SyzygyPath`: directories.

use alloc::borrow::ToOwned;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use core::str::FromStr;

/// Directories, the value of `NalimovPath` (UCI 2006, option: separated by `;`) and `SyzygyPath` (The UCI
/// Protocol, option: commonly separated by `:` on Unix-like systems and by `;` on Windows).
///
/// The reader accepts both separators, except a `:` after a drive letter, and skips empty entries. An
/// empty text is an empty list.
///
/// ```
/// use readyok_protocol::{PathList, PathSeparator};
/// let directories: PathList = r"c:\chess\tb\4;c:\chess\tb\5".parse()?;
/// assert_eq!(directories.iter().collect::<Vec<_>>(), [r"c:\chess\tb\4", r"c:\chess\tb\5"]);
/// let directories = PathList::new(["/tb/4", "/tb/5"])?;
/// assert_eq!(directories.joined_by(PathSeparator::Colon), "/tb/4:/tb/5");
/// # Ok::<(), readyok_protocol::PathListError>(())
/// ```
#[derive(Clone, Debug, Default, Eq, Hash, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(try_from = "Vec<String>", into = "Vec<String>"))]
pub struct PathList {
    paths: Vec<String>,
}

/// The separator of a [`PathList`].
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum PathSeparator {
    /// `;`: in UCI 2006, and on Windows.
    Semicolon,
    /// `:`: on Unix-like systems.
    Colon,
}

/// An invalid path for a list: it is empty, starts or ends with white space, contains a control
/// character or a separator, or is a single letter, which would be read as a drive.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct PathListError {
    /// The path.
    pub path: String,
}

impl PathList {
    /// A list of directories.
    ///
    /// # Errors
    /// A path cannot be represented in a list.
    pub fn new<'a>(paths: impl IntoIterator<Item = &'a str>) -> Result<Self, PathListError> {
        let check = |path: &str| {
            let fits = split(path) == [path] && !is_drive(path) && !path.contains(char::is_control);
            if fits { Ok(path.to_owned()) } else { Err(PathListError { path: path.to_owned() }) }
        };
        Ok(Self { paths: paths.into_iter().map(check).collect::<Result<_, _>>()? })
    }

    /// The directories, in order.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.paths.iter().map(String::as_str)
    }

    /// Whether the list is empty.
    pub fn is_empty(&self) -> bool {
        self.paths.is_empty()
    }

    /// The value of the option with this separator.
    pub fn joined_by(&self, separator: PathSeparator) -> String {
        self.paths.join(match separator {
            PathSeparator::Semicolon => ";",
            PathSeparator::Colon => ":",
        })
    }
}

impl PathSeparator {
    /// The separator that engines on this system expect in `SyzygyPath`.
    pub const NATIVE: Self = if cfg!(windows) { Self::Semicolon } else { Self::Colon };
}

/// The entries of a list, without white space around them.
fn split(text: &str) -> Vec<&str> {
    let mut entries = Vec::new();
    for part in text.split(';') {
        let mut start = 0;
        for (at, _) in part.match_indices(':') {
            let entry = part.get(start..at).unwrap_or_default();
            if !is_drive(entry.trim()) {
                entries.push(entry);
                start = at + 1;
            }
        }
        entries.push(part.get(start..).unwrap_or_default());
    }
    entries.into_iter().map(str::trim).filter(|entry| !entry.is_empty()).collect()
}

fn is_drive(text: &str) -> bool {
    matches!(text.as_bytes(), [letter] if letter.is_ascii_alphabetic())
}

impl FromStr for PathList {
    type Err = PathListError;

    fn from_str(text: &str) -> Result<Self, PathListError> {
        Self::new(split(text))
    }
}

impl TryFrom<Vec<String>> for PathList {
    type Error = PathListError;

    fn try_from(paths: Vec<String>) -> Result<Self, PathListError> {
        Self::new(paths.iter().map(String::as_str))
    }
}

impl From<PathList> for Vec<String> {
    fn from(it: PathList) -> Self {
        it.paths
    }
}

/// Separated by `;`.
impl fmt::Display for PathList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.joined_by(PathSeparator::Semicolon))
    }
}

impl fmt::Display for PathListError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` is not allowed in a list of paths", self.path.escape_debug())
    }
}

impl core::error::Error for PathListError {}
