//! What is ordered: what all jobs of a match share, and a single job.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::{error, fmt, io};

use serde::{Deserialize, Serialize};

use crate::pairing::Pairing;
use crate::plan::{EngineId, Plan};
use crate::store::{ContentHash, find_program, named_by};

/// What all jobs of a match share.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MatchSpec {
    /// The name of the match. Jobs and results carry it.
    pub plan_hash: ContentHash,
    /// How to play.
    pub plan: Plan,
    /// What the programs of the plan contain, by their command. On another machine the command is
    /// only a name: what is started there is a program of this content.
    #[serde(default)]
    pub programs: BTreeMap<String, ContentHash>,
    /// The files that arguments and options of engines name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<SpecFile>,
    /// The folders that they name by their whole paths. These do not travel: who plays has them at the same
    /// place, as tables are.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub folders: BTreeSet<PathBuf>,
    /// Whether each move is told while it is played.
    #[serde(default)]
    pub report_moves: bool,
    /// The speed of the machine that the times of the plan are meant for. Other machines stretch
    /// or press them. None leaves them as they are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub speed: Option<f64>,
}

/// A file that an argument or an option of an engine names by a path.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SpecFile {
    /// Which engine.
    pub engine: EngineId,
    /// The argument, or the value of the option. On another machine it is only a name.
    pub word: String,
    /// What the file contains.
    pub content: ContentHash,
    /// Where it lies on the machine of the coordinator.
    #[serde(skip)]
    path: PathBuf,
}

/// The largest program or file that goes to workers, in bytes.
pub const MAX_FILE_BYTES: u64 = 1 << 30;

/// A pairing that somebody is to play.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Job {
    /// Of which match.
    pub plan_hash: ContentHash,
    /// What is to be played.
    pub pairing: Pairing,
    /// How often it was given out before.
    #[serde(default)]
    pub deliveries: u32,
}

/// Something that a plan names cannot go to workers.
#[derive(Debug)]
pub enum SpecError {
    /// A program or a file cannot be read.
    Unreadable {
        /// A program as the plan names it, or the path of a file.
        path: String,
        /// Why not.
        error: io::Error,
    },
    /// A program or a file is larger than [`MAX_FILE_BYTES`].
    TooLarge {
        /// A program as the plan names it, or the path of a file.
        path: String,
        /// How large it is.
        bytes: u64,
    },
    /// An argument or an option names a folder by a path from another one.
    Folder {
        /// The name of the engine.
        engine: String,
        /// As the plan names it.
        word: String,
    },
}

impl MatchSpec {
    /// The order of a match that is played on this machine.
    pub fn new(plan: &Plan) -> Self {
        Self {
            plan_hash: ContentHash::of_plan(plan),
            plan: plan.clone(),
            programs: BTreeMap::new(),
            files: Vec::new(),
            folders: BTreeSet::new(),
            report_moves: false,
            speed: None,
        }
    }

    /// The same for other machines: with what the programs contain, and the files that arguments and options
    /// name by a path.
    ///
    /// # Errors
    /// A program is not there, something cannot be read or is too large, or a folder is named by a path that
    /// means nothing elsewhere.
    pub fn with_contents(mut self) -> Result<Self, SpecError> {
        let mut known = BTreeMap::new();
        // Engines often share a program or a network, of a hundred megabytes maybe.
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
            for (word, path) in named_by(engine, Some(&program)) {
                if path.is_dir() {
                    if !Path::new(&word).is_absolute() {
                        return Err(SpecError::Folder { engine: engine.name.clone(), word });
                    }
                    self.folders.insert(path);
                    continue;
                }
                let content = content_of(&path.display().to_string(), &path)?;
                self.files.push(SpecFile { engine: id, word, content, path });
            }
        }
        Ok(self)
    }

    /// The file that a word of an engine names.
    pub fn file(&self, engine: EngineId, word: &str) -> Option<&SpecFile> {
        self.files.iter().find(|file| file.engine == engine && file.word == word)
    }

    /// Where a program of the plan lies on this machine.
    ///
    /// # Errors
    /// There is none of that name.
    pub fn path_of(&self, command: &str) -> io::Result<PathBuf> {
        find_program(command)
    }

    /// A job of the match.
    pub fn job(&self, pairing: Pairing) -> Job {
        Job { plan_hash: self.plan_hash, pairing, deliveries: 0 }
    }
}

impl SpecFile {
    /// Where it lies on the machine of the coordinator; empty elsewhere.
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
                write!(f, "`{path}`, which goes to workers, cannot be read: {error}")
            }
            Self::TooLarge { path, bytes } => {
                write!(
                    f,
                    "`{path}` has {bytes} bytes, and no more than {MAX_FILE_BYTES} go to workers"
                )
            }
            Self::Folder { engine, word } => {
                write!(
                    f,
                    "`{word}` of the engine `{engine}` is a folder, which does not go to workers: name it by its \
                     whole path if they have it, too"
                )
            }
        }
    }
}

impl error::Error for SpecError {
    fn source(&self) -> Option<&(dyn error::Error + 'static)> {
        match self {
            Self::Unreadable { error, .. } => Some(error),
            Self::TooLarge { .. } | Self::Folder { .. } => None,
        }
    }
}
