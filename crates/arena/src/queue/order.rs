//! What is ordered: what all jobs of a match share, and a single job.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::{env, error, fmt, io};

use serde::{Deserialize, Serialize};

use crate::pairing::Pairing;
use crate::plan::Plan;
use crate::store::ContentHash;

/// What all jobs of a match share.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Order {
    /// The name of the match. Jobs and results carry it.
    pub plan_hash: ContentHash,
    /// How to play.
    pub plan: Plan,
    /// What the programs of the plan contain, by their command. On another machine the command is
    /// only a name: what is started there is a program of this content.
    #[serde(default)]
    pub programs: BTreeMap<String, ContentHash>,
    /// Whether each move is told while it is played.
    #[serde(default)]
    pub tell_moves: bool,
    /// The speed of the machine that the times of the plan are meant for. Other machines stretch
    /// or press them. None leaves them as they are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub speed: Option<f64>,
}

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

/// A program of a plan cannot be read.
#[derive(Debug)]
pub struct ProgramError {
    /// As the plan names it.
    pub command: String,
    /// Why not.
    pub error: io::Error,
}

impl Order {
    /// The order of a match that is played on this machine.
    pub fn new(plan: &Plan) -> Self {
        Self {
            plan_hash: ContentHash::of_plan(plan),
            plan: plan.clone(),
            programs: BTreeMap::new(),
            tell_moves: false,
            speed: None,
        }
    }

    /// The same for other machines: with what the programs contain.
    ///
    /// # Errors
    /// A program is not there or cannot be read.
    pub fn with_programs(mut self) -> Result<Self, ProgramError> {
        for engine in self.plan.engines.iter().filter(|engine| !engine.command.contains("://")) {
            let command = engine.command.clone();
            let hash = find(&command).and_then(|path| ContentHash::of_file(&path));
            let hash = hash.map_err(|error| ProgramError { command: command.clone(), error })?;
            self.programs.insert(command, hash);
        }
        Ok(self)
    }

    /// Where a program of the plan lies on this machine.
    ///
    /// # Errors
    /// There is none of that name.
    pub fn path_of(&self, command: &str) -> io::Result<PathBuf> {
        find(command)
    }

    /// A job of the match.
    pub fn job(&self, pairing: Pairing) -> Job {
        Job { plan_hash: self.plan_hash, pairing, deliveries: 0 }
    }
}

/// Finds a program as the system does: a bare name in the folders of `PATH`.
pub(crate) fn find(command: &str) -> io::Result<PathBuf> {
    let path = PathBuf::from(command);
    if path.components().count() > 1 || path.is_absolute() {
        return Ok(path);
    }
    let folders = env::var_os("PATH").unwrap_or_default();
    let mut candidates = env::split_paths(&folders).map(|folder| folder.join(command));
    candidates.find(|path| path.is_file()).ok_or_else(|| io::ErrorKind::NotFound.into())
}

impl fmt::Display for ProgramError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the program `{}` cannot be read: {}", self.command, self.error)
    }
}

impl error::Error for ProgramError {
    fn source(&self) -> Option<&(dyn error::Error + 'static)> {
        Some(&self.error)
    }
}
