//! Specifications of matches: what all jobs of a match share.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::contents::{ContentHash, Contents, directory_of, find_program, named_by, of_openings};
use crate::plan::{EngineId, OpeningSource, Plan};
use crate::queue::Speed;

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
    /// The content hash of the opening file, if the plan has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub openings: Option<ContentHash>,
    /// The plan with hashes instead of the values of environment variables, if it has any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sealed: Option<Box<Plan>>,
    /// The directories in them, as absolute paths. They are not sent: a worker must have them at the same path, such as
    /// tablebases.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub directories: BTreeSet<PathBuf>,
    /// Whether each move is reported.
    #[serde(default)]
    pub report_moves: bool,
    /// The reference speed of time controls. Workers scale times relative to it; `None` disables scaling.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub speed: Option<Speed>,
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

/// A file or a directory of a plan that cannot be sent to workers.
#[derive(Debug, thiserror::Error)]
pub enum SpecError {
    /// A program or a file cannot be read.
    #[error("`{path}` cannot be sent to workers: {error}")]
    Unreadable {
        /// The command of a program, or the path of a file.
        path: String,
        /// The reason.
        error: io::Error,
    },
    /// A program or a file is larger than [`MAX_FILE_BYTES`].
    #[error(
        "`{path}` cannot be sent to workers: {bytes} bytes exceed the limit of {MAX_FILE_BYTES}"
    )]
    TooLarge {
        /// The command of a program, or the path of a file.
        path: String,
        /// The size.
        bytes: u64,
    },
    /// An argument or an option is the relative path of a directory.
    #[error(
        "`{text}` of the engine `{engine}` is a directory, which is not sent to workers: use the absolute path of a directory that exists on their hosts"
    )]
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
            openings: None,
            sealed: None,
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
            let program = if engine.source.is_some() {
                // It is built by each worker.
                None
            } else if engine.command.contains("://") {
                continue;
            } else {
                let command = engine.command.clone();
                let unreadable = |error| SpecError::Unreadable { path: command.clone(), error };
                let program = find_program(&command).map_err(unreadable)?;
                self.programs.insert(command.clone(), content_of(&command, &program)?);
                Some(program)
            };
            for (text, path) in named_by(engine, program.as_deref()) {
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
        if let OpeningSource::File { path, .. } = &self.plan.openings.source
            && Path::new(path).is_file()
        {
            self.openings = Some(content_of(path, Path::new(path))?);
        }
        Ok(self)
    }

    /// The file of an argument or an option value of an engine.
    pub fn file(&self, engine: EngineId, text: &str) -> Option<&SpecFile> {
        self.files.iter().find(|file| file.engine == engine && file.text == text)
    }

    /// The hashes of the files of a match of another host, under its paths there. `openings` is the copy of its opening
    /// file on this host.
    pub(crate) fn contents(&self, openings: Option<&Path>) -> Contents {
        let mut files = self.programs.clone();
        for file in &self.files {
            let Some(engine) = self.plan.engine(file.engine) else { continue };
            let path = directory_of(engine, Some(Path::new(&engine.command))).join(&file.text);
            // A program of `PATH` has another directory on each host.
            if path.is_absolute() {
                files.insert(path.display().to_string(), file.content);
            }
        }
        if let OpeningSource::File { path, .. } = &self.plan.openings.source
            && let Ok(hash) = of_openings(openings.unwrap_or_else(|| Path::new(path)))
        {
            files.insert(path.clone(), hash);
        }
        Contents(files)
    }

    /// The path of a program of the plan on this host.
    ///
    /// # Errors
    /// The program is not found.
    pub fn path_of(&self, command: &str) -> io::Result<PathBuf> {
        find_program(command)
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
