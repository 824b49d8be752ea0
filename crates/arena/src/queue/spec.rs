//! The specification of a match for workers, and jobs.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::{error, fmt, io};

use serde::{Deserialize, Serialize};

use crate::pairing::Pairing;
use crate::plan::{EngineId, Plan};
use crate::store::{ContentHash, find_program, named_by};

/// Everything that all jobs of a match share.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MatchSpec {
    /// The hash that identifies the match in jobs and results.
    pub plan_hash: ContentHash,
    /// The plan.
    pub plan: Plan,
    /// Content hashes of the programs of the plan, by command. On another host the command is only a name: a program
    /// with this content is started.
    #[serde(default)]
    pub programs: BTreeMap<String, ContentHash>,
    /// The files in arguments and options of engines.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<SpecFile>,
    /// The directories in them, as absolute paths. They are not sent: a worker must have them at the same path, such as
    /// tablebases.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub directories: BTreeSet<PathBuf>,
    /// Whether each move is reported.
    #[serde(default)]
    pub report_moves: bool,
    /// The speed of the reference host of time controls. Workers scale times relative to it; `None` disables scaling.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub speed: Option<f64>,
}

/// A file whose path is an argument or an option value of an engine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SpecFile {
    /// The engine.
    pub engine: EngineId,
    /// The argument or the value of the option. On another host it is only a name.
    pub text: String,
    /// The content hash.
    pub content: ContentHash,
    /// The path on the coordinator's host.
    #[serde(skip)]
    path: PathBuf,
}

/// Maximum size of programs and files for workers.
pub const MAX_FILE_BYTES: u64 = 1 << 30;

/// A pairing for a worker.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Job {
    /// The match.
    pub plan_hash: ContentHash,
    /// The pairing.
    pub pairing: Pairing,
    /// The number of previous deliveries.
    #[serde(default)]
    pub deliveries: u32,
}

/// A file or a directory of a plan that cannot be sent to workers.
#[derive(Debug)]
pub enum SpecError {
    /// A program or a file cannot be read.
    Unreadable {
        /// The command of a program, or the path of a file.
        path: String,
        /// The reason.
        error: io::Error,
    },
    /// A program or a file is larger than [`MAX_FILE_BYTES`].
    TooLarge {
        /// The command of a program, or the path of a file.
        path: String,
        /// The size.
        bytes: u64,
    },
    /// An argument or an option is the relative path of a directory.
    RelativeDirectory {
        /// The name of the engine.
        engine: String,
        /// The path in the plan.
        text: String,
    },
}

impl MatchSpec {
    /// The specification of a match on this host.
    pub fn new(plan: &Plan) -> Self {
        Self {
            plan_hash: ContentHash::of_plan(plan),
            plan: plan.clone(),
            programs: BTreeMap::new(),
            files: Vec::new(),
            directories: BTreeSet::new(),
            report_moves: false,
            speed: None,
        }
    }

    /// Adds content hashes of programs, and the files in arguments and options, for workers on other hosts.
    ///
    /// # Errors
    /// A program is not found, a file cannot be read or is too large, or a directory has a relative path.
    pub fn with_contents(mut self) -> Result<Self, SpecError> {
        let mut known = BTreeMap::new();
        // Engines often share a program or a large network file.
        let mut content_of = |name: &str, path: &Path| {
            if let Some(content) = known.get(path) {
                return Ok(*content);
            }
            let content = content_of(name, path)?;
            known.insert(path.to_owned(), content);
            Ok(content)
        };
        for (id, engine) in (0..).map(EngineId).zip(&self.plan.engines) {
            if engine.command.contains("://") {
                continue;
            }
            let command = engine.command.clone();
            let unreadable = |error| SpecError::Unreadable { path: command.clone(), error };
            let program = find_program(&command).map_err(unreadable)?;
            self.programs.insert(command.clone(), content_of(&command, &program)?);
            for (text, path) in named_by(engine, Some(&program)) {
                if path.is_dir() {
                    if !Path::new(&text).is_absolute() {
                        let engine = engine.name.clone();
                        return Err(SpecError::RelativeDirectory { engine, text });
                    }
                    self.directories.insert(path);
                    continue;
                }
                let content = content_of(&path.display().to_string(), &path)?;
                self.files.push(SpecFile { engine: id, text, content, path });
            }
        }
        Ok(self)
    }

    /// The file of an argument or an option value of an engine.
    pub fn file(&self, engine: EngineId, text: &str) -> Option<&SpecFile> {
        self.files.iter().find(|file| file.engine == engine && file.text == text)
    }

    /// The path of a program of the plan on this host.
    ///
    /// # Errors
    /// The program is not found.
    pub fn path_of(&self, command: &str) -> io::Result<PathBuf> {
        find_program(command)
    }

    /// A job of the match.
    pub fn job(&self, pairing: Pairing) -> Job {
        Job { plan_hash: self.plan_hash, pairing, deliveries: 0 }
    }
}

impl SpecFile {
    /// The path on the coordinator's host; empty on other hosts.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

fn content_of(name: &str, path: &Path) -> Result<ContentHash, SpecError> {
    let unreadable = |error| SpecError::Unreadable { path: name.to_owned(), error };
    let bytes = path.metadata().map_err(unreadable)?.len();
    if bytes > MAX_FILE_BYTES {
        return Err(SpecError::TooLarge { path: name.to_owned(), bytes });
    }
    ContentHash::of_file(path).map_err(unreadable)
}

impl fmt::Display for SpecError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreadable { path, error } => {
                write!(f, "`{path}` cannot be sent to workers: {error}")
            }
            Self::TooLarge { path, bytes } => {
                write!(
                    f,
                    "`{path}` cannot be sent to workers: {bytes} bytes exceed the limit of {MAX_FILE_BYTES}"
                )
            }
            Self::RelativeDirectory { engine, text } => {
                write!(
                    f,
                    "`{text}` of the engine `{engine}` is a directory, which is not sent to workers: use the \
                     absolute path of a directory that exists on their hosts"
                )
            }
        }
    }
}

impl error::Error for SpecError {
    fn source(&self) -> Option<&(dyn error::Error + 'static)> {
        match self {
            Self::Unreadable { error, .. } => Some(error),
            Self::TooLarge { .. } | Self::RelativeDirectory { .. } => None,
        }
    }
}
