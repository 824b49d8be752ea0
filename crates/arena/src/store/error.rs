//! What can be wrong with a result file.

use std::path::{Path, PathBuf};
use std::{error, fmt, io};

use super::{ChangedFile, Difference};

/// Why a result file cannot be used.
#[derive(Debug)]
pub enum StoreError {
    /// The system refuses.
    Io {
        /// The file.
        path: PathBuf,
        /// What could not be done: `cannot be opened`.
        what: &'static str,
        /// Why.
        error: io::Error,
    },
    /// There is a file already where a new one was to be made.
    Exists(PathBuf),
    /// Another program writes the file.
    Locked(PathBuf),
    /// The first line is none of a result file.
    NoHead {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// The file has another version of the format.
    Version {
        /// The file.
        path: PathBuf,
        /// The version of its format.
        version: u32,
    },
    /// A line is damaged, and there are good ones after it.
    Damaged {
        /// The file.
        path: PathBuf,
        /// Which line, counted from 1.
        line: u64,
        /// What is wrong with it.
        why: String,
    },
    /// The file is that of another match.
    OtherPlan {
        /// The file.
        path: PathBuf,
        /// In what the plans differ.
        differences: Vec<Difference>,
    },
    /// Values are needed that the file does not hold.
    NoValues {
        /// The file.
        path: PathBuf,
        /// The variables that they are of: `engines[1].env.NAME`.
        variables: Vec<String>,
    },
    /// Engines or openings have changed since the match was begun.
    OtherFiles {
        /// The file.
        path: PathBuf,
        /// What has changed.
        files: Vec<ChangedFile>,
    },
}

impl StoreError {
    pub(super) fn made(path: &Path, error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::AlreadyExists {
            return Self::Exists(path.to_owned());
        }
        Self::Io { path: path.to_owned(), what: "cannot be made", error }
    }
}

/// Says where a failure of the system happened.
pub(crate) trait At<T> {
    fn at(self, path: &Path, what: &'static str) -> Result<T, StoreError>;
}

impl<T> At<T> for io::Result<T> {
    fn at(self, path: &Path, what: &'static str) -> Result<T, StoreError> {
        self.map_err(|error| StoreError::Io { path: path.to_owned(), what, error })
    }
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io { path, what, error } => write!(f, "`{}` {what}: {error}", path.display()),
            Self::Exists(path) => write!(f, "`{}` is there already", path.display()),
            Self::Locked(path) => {
                write!(f, "another program writes `{}`", path.display())
            }
            Self::NoHead { path, why } => {
                write!(f, "`{}` is no result file: {why}", path.display())
            }
            Self::Version { path, version } => {
                write!(
                    f,
                    "`{}` has version {version} of the results format; only version {} is supported",
                    path.display(),
                    super::line::VERSION
                )
            }
            Self::Damaged { path, line, why } => {
                write!(f, "line {line} of `{}` is damaged: {why}", path.display())
            }
            Self::OtherPlan { path, differences } => {
                write!(f, "`{}` is of another match", path.display())?;
                for difference in differences {
                    write!(f, "; {difference}")?;
                }
                Ok(())
            }
            Self::NoValues { path, variables } => write!(
                f,
                "`{}` holds no values of variables: the plan is needed again for {}",
                path.display(),
                variables.join(", ")
            ),
            Self::OtherFiles { path, files } => {
                write!(f, "`{}` is of a match with other engines or openings", path.display())?;
                for file in files {
                    let what = if file.is_gone { "cannot be read any more" } else { "has changed" };
                    write!(f, "; `{}` {what}", file.path)?;
                }
                Ok(())
            }
        }
    }
}

impl error::Error for StoreError {
    fn source(&self) -> Option<&(dyn error::Error + 'static)> {
        match self {
            Self::Io { error, .. } => Some(error),
            _ => None,
        }
    }
}
