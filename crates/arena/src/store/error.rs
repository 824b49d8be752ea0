//! Errors of results files.

use std::path::{Path, PathBuf};
use std::{error, fmt, io};

use super::contents::ChangedFile;
use super::plan_diff::Difference;

/// An error of a results file.
#[derive(Debug)]
pub enum StoreError {
    /// An I/O error.
    Io {
        /// The file.
        path: PathBuf,
        /// The failed operation: `cannot be opened`.
        what: &'static str,
        /// The cause.
        error: io::Error,
    },
    /// The new file already exists.
    Exists(PathBuf),
    /// Another process has the file open for writing.
    Locked(PathBuf),
    /// The first line is not that of a results file.
    NoHead {
        /// The file.
        path: PathBuf,
        /// The reason.
        why: String,
    },
    /// The file has another version of the format.
    Version {
        /// The file.
        path: PathBuf,
        /// The version of the file.
        version: u32,
        /// The supported version.
        supported: u32,
    },
    /// A line is damaged, and valid ones follow.
    Damaged {
        /// The file.
        path: PathBuf,
        /// The line number, from 1.
        line: u64,
        /// The reason.
        why: String,
    },
    /// The file has another plan.
    OtherPlan {
        /// The file.
        path: PathBuf,
        /// The differences of the plans.
        differences: Vec<Difference>,
    },
    /// Values of environment variables are required.
    NoValues {
        /// The file.
        path: PathBuf,
        /// The variables: `engines[1].env.NAME`.
        variables: Vec<String>,
    },
    /// Engines or openings have changed since the start of the match.
    OtherFiles {
        /// The file.
        path: PathBuf,
        /// The changed files.
        files: Vec<ChangedFile>,
    },
}

impl StoreError {
    pub(super) fn create(path: &Path, error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::AlreadyExists {
            return Self::Exists(path.to_owned());
        }
        Self::Io { path: path.to_owned(), what: "cannot be created", error }
    }
}

/// Adds the path and the failed operation to an I/O error.
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
            Self::Exists(path) => write!(f, "`{}` already exists", path.display()),
            Self::Locked(path) => {
                write!(f, "`{}` is in use by another process", path.display())
            }
            Self::NoHead { path, why } => {
                write!(f, "`{}` is not a results file: {why}", path.display())
            }
            Self::Version { path, version, supported } => {
                write!(
                    f,
                    "`{}` has version {version} of the results format; only version {supported} is supported",
                    path.display()
                )
            }
            Self::Damaged { path, line, why } => {
                write!(f, "line {line} of `{}` is damaged: {why}", path.display())
            }
            Self::OtherPlan { path, differences } => {
                write!(f, "`{}` has another plan", path.display())?;
                for difference in differences {
                    write!(f, "; {difference}")?;
                }
                Ok(())
            }
            Self::NoValues { path, variables } => write!(
                f,
                "`{}` does not contain the values of environment variables; specify the plan again for {}",
                path.display(),
                variables.join(", ")
            ),
            Self::OtherFiles { path, files } => {
                write!(f, "`{}` has other engines or openings", path.display())?;
                for file in files {
                    let what = if file.is_gone { "is no longer readable" } else { "has changed" };
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
