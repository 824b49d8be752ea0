//! Builds of engines from commits of Git repositories.
//!
//! ```text
//! GitSource ── fetch the commit ── run the build command ── run `bench` ──> program in the cache
//! ```
//!
//! A build runs the code of the commit with the rights of this user. It has a directory of its own, a limit of time, and
//! where the system permits it limits of memory, disk and network; it inherits no variables except those that find a
//! compiler. None of this protects the files of the user: strangers' commits belong in a container or under another
//! user.

mod bench;
mod command;
mod git;

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use readyok_client::Guard;
use readyok_client::unstable::split_command_line;
use serde::{Deserialize, Serialize};

use crate::build::command::{Bounded, Ran};
use crate::plan::{EngineId, GitSource, Plan};
use crate::store::ContentHash;

pub use crate::build::git::find_commit;

/// Limits of a build.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BuildLimits {
    /// The time of the build command.
    pub time: Duration,
    /// The address space of each process in bytes (Unix).
    pub memory: u64,
    /// The size of the directory of the build in bytes; processes that exceed it are killed within seconds.
    pub disk: u64,
    /// Whether the build may use the network. Without it, Linux starts the build in an empty network namespace if users
    /// may create one.
    pub network: bool,
}

impl Default for BuildLimits {
    fn default() -> Self {
        Self { time: Duration::from_mins(15), memory: 8 << 30, disk: 4 << 30, network: false }
    }
}

/// The time of the argument `bench`.
const BENCH_TIME: Duration = Duration::from_mins(5);

/// Maximum number of programs in the cache.
const MAX_BUILDS: usize = 100;

/// A failure of a build.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{why}")]
pub struct BuildFailure {
    /// The reason.
    pub why: BuildProblem,
    /// The last part of the output of git, the compiler or the program.
    #[serde(default)]
    pub output: String,
}

/// The reason of a failed build.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum BuildProblem {
    /// The program of a step does not start.
    #[error("`{program}` does not start: {why}")]
    Start {
        /// The program.
        program: String,
        /// The reason.
        why: String,
    },
    /// The source is invalid.
    #[error("{why}")]
    Source {
        /// The invalid part.
        why: String,
    },
    /// The repository cannot be read.
    #[error("the repository `{repository}` cannot be read")]
    Fetch {
        /// The repository.
        repository: String,
    },
    /// The repository has no such commit, branch or tag.
    #[error(
        "the repository `{repository}` does not have `{revision}`; a branch may have been deleted"
    )]
    NoRevision {
        /// The repository.
        repository: String,
        /// The commit, branch or tag.
        revision: String,
    },
    /// The commit does not have the directory of the source.
    #[error("the commit has no directory `{directory}`")]
    NoDirectory {
        /// The directory.
        directory: String,
    },
    /// The build command failed.
    #[error("the build command failed ({status})")]
    Failed {
        /// Its exit status.
        status: String,
    },
    /// The build command took too long.
    #[error("the build command did not end within {seconds} s")]
    TimedOut {
        /// The limit.
        seconds: u64,
    },
    /// The directory of the build was too large.
    #[error("the build used more than {bytes} bytes of disk")]
    TooLarge {
        /// The limit.
        bytes: u64,
    },
    /// The disk of the host is full, or a file cannot be written.
    #[error("the disk cannot be written: {why}")]
    Disk {
        /// The reason.
        why: String,
    },
    /// There is no such file after the build.
    #[error("the build command made no program `{program}`")]
    NoProgram {
        /// The path in the repository.
        program: String,
    },
    /// `bench` failed or took too long.
    #[error("`{program} bench` failed ({status})")]
    BenchFailed {
        /// The program.
        program: String,
        /// Its exit status, or that it did not end.
        status: String,
    },
    /// `bench` printed no number of nodes.
    #[error("`{program} bench` printed no number of nodes")]
    NoBench {
        /// The program.
        program: String,
    },
    /// `bench` printed another number of nodes.
    #[error("the bench is {found} instead of {expected}")]
    OtherBench {
        /// The number in the source.
        expected: u64,
        /// The number of the program.
        found: u64,
    },
    /// This program is ending.
    #[error("the build was cancelled")]
    Cancelled,
}

impl BuildFailure {
    /// Whether the same build may succeed later: the network was away, the disk full, or the host busy.
    pub fn is_temporary(&self) -> bool {
        match self.why {
            BuildProblem::Fetch { .. } | BuildProblem::Disk { .. } | BuildProblem::Cancelled => {
                true
            }
            BuildProblem::Start { .. }
            | BuildProblem::Source { .. }
            | BuildProblem::NoRevision { .. }
            | BuildProblem::NoDirectory { .. }
            | BuildProblem::Failed { .. }
            | BuildProblem::TimedOut { .. }
            | BuildProblem::TooLarge { .. }
            | BuildProblem::NoProgram { .. }
            | BuildProblem::BenchFailed { .. }
            | BuildProblem::NoBench { .. }
            | BuildProblem::OtherBench { .. } => false,
        }
    }

    fn disk(error: &io::Error) -> Self {
        BuildProblem::Disk { why: error.to_string() }.into()
    }
}

impl From<BuildProblem> for BuildFailure {
    fn from(why: BuildProblem) -> Self {
        Self { why, output: String::new() }
    }
}

/// Builds engines, one at a time, and keeps their programs. Clones share the cache.
#[derive(Clone, Debug)]
pub struct Builder {
    directory: PathBuf,
    limits: BuildLimits,
    guard: Option<Guard>,
    building: Arc<Mutex<()>>,
}

impl Builder {
    /// A builder whose programs are in this directory. The guard ends the processes of a build with this program.
    pub fn new(directory: PathBuf, limits: BuildLimits, guard: Option<Guard>) -> Self {
        Self { directory, limits, guard, building: Arc::default() }
    }

    /// What limits builds on this system, for the log.
    pub fn limits_text(&self) -> String {
        let BuildLimits { time, memory, disk, network } = self.limits;
        let network = match (network, command::can_isolate()) {
            (true, _) => "the network is permitted",
            (false, true) => "no network",
            (false, false) => {
                "the network is NOT limited, since this system permits no network namespace"
            }
        };
        let memory = if cfg!(unix) {
            format!("{} MiB of memory", memory >> 20)
        } else {
            "memory is NOT limited".to_owned()
        };
        format!("builds: {} s, {memory}, {} MiB of disk, {network}", time.as_secs(), disk >> 20)
    }

    /// The programs of all engines of a plan that have a source. `is_cancelled` is asked regularly.
    ///
    /// # Errors
    /// The first failed build, with its engine.
    pub fn programs(
        &self,
        plan: &Plan,
        is_cancelled: &dyn Fn() -> bool,
    ) -> Result<BTreeMap<EngineId, PathBuf>, (EngineId, BuildFailure)> {
        let mut programs = BTreeMap::new();
        for (id, engine) in (0..).map(EngineId).zip(&plan.engines) {
            if let Some(source) = &engine.source {
                let built = self.build(source, is_cancelled).map_err(|failure| (id, failure))?;
                programs.insert(id, built);
            }
        }
        Ok(programs)
    }

    /// The program of a source, from the cache or from a new build. `is_cancelled` is asked regularly.
    ///
    /// # Errors
    /// The reason, with the output of the compiler.
    pub fn build(
        &self,
        source: &GitSource,
        is_cancelled: &dyn Fn() -> bool,
    ) -> Result<PathBuf, BuildFailure> {
        let disk = |error| BuildFailure::disk(&error);
        fs::create_dir_all(&self.directory).map_err(disk)?;
        let directory = std::path::absolute(&self.directory).map_err(disk)?;
        let target = directory.join(name_of(source));
        let program = target.join(PROGRAM);
        let _building = self.building.lock().unwrap_or_else(PoisonError::into_inner);
        if program.is_file() {
            // The oldest programs are removed.
            let _ = fs::File::open(&program).and_then(|file| file.set_modified(SystemTime::now()));
            return Ok(program);
        }
        let work =
            tempfile::Builder::new().prefix(".work-").tempdir_in(&directory).map_err(disk)?;
        let steps = Steps { builder: self, source, work: work.path(), is_cancelled };
        let made = steps.run()?;
        // A program of another process of this host is as good.
        match fs::rename(&made, &target) {
            Err(error) if !program.is_file() => return Err(BuildFailure::disk(&error)),
            Ok(()) | Err(_) => {}
        }
        prune(&directory);
        Ok(program)
    }
}

/// The name of a program in the cache.
const PROGRAM: &str = if cfg!(windows) { "engine.exe" } else { "engine" };

/// The name of the directory of a source. What is only displayed does not matter.
fn name_of(source: &GitSource) -> String {
    let source = GitSource { revision: String::new(), ..source.clone() };
    let system = (std::env::consts::OS, std::env::consts::ARCH);
    ContentHash::of(format!("{source:?} {system:?}").as_bytes()).to_string()
}

/// Removes the programs that were not used for the longest time.
fn prune(directory: &Path) {
    let Ok(entries) = directory.read_dir() else { return };
    let mut known: Vec<(SystemTime, PathBuf)> = entries
        .flatten()
        .filter_map(|entry| {
            let path = entry.path();
            let used = path.join(PROGRAM).metadata().and_then(|data| data.modified()).ok()?;
            Some((used, path))
        })
        .collect();
    known.sort();
    let surplus = known.len().saturating_sub(MAX_BUILDS);
    for (_, path) in known.into_iter().take(surplus) {
        // A program that runs on Windows stays until the next time.
        let _ = fs::remove_dir_all(path);
    }
}

/// The steps of a build in a directory of its own.
struct Steps<'a> {
    builder: &'a Builder,
    source: &'a GitSource,
    work: &'a Path,
    is_cancelled: &'a dyn Fn() -> bool,
}

impl Steps<'_> {
    /// Returns the directory with the program.
    fn run(&self) -> Result<PathBuf, BuildFailure> {
        let tree = self.work.join("source");
        git::check_out(self.source, &tree, |command| self.run_free(command))?;
        let directory = tree.join(&self.source.directory);
        if !directory.is_dir() {
            let directory = self.source.directory.clone();
            return Err(BuildProblem::NoDirectory { directory }.into());
        }
        self.compile(&directory)?;
        let made = self.take_program(&tree, &directory)?;
        self.verify(&made.join(PROGRAM))?;
        Ok(made)
    }

    fn compile(&self, directory: &Path) -> Result<(), BuildFailure> {
        let BuildLimits { time, disk, .. } = self.builder.limits;
        let tokens = split_command_line(&self.source.build).unwrap_or_default();
        let Some((program, args)) = tokens.split_first() else {
            return Err(
                BuildProblem::Failed { status: "the build command is empty".to_owned() }.into()
            );
        };
        let mut command = command::limited(program, args, self.builder.limits);
        command.current_dir(directory);
        command::set_environment(&mut command, self.work)
            .map_err(|error| BuildFailure::disk(&error))?;
        let ran = self.bounded(command, program, time).within(self.work, disk).run()?;
        match ran {
            Ran::Ended { status, .. } if status.success() => Ok(()),
            Ran::Ended { status, output } => Err(Self::failed(status.to_string(), output)),
            Ran::TimedOut { output } => Err(BuildFailure {
                why: BuildProblem::TimedOut { seconds: time.as_secs() },
                output,
            }),
            Ran::TooLarge { output } => {
                Err(BuildFailure { why: BuildProblem::TooLarge { bytes: disk }, output })
            }
        }
    }

    fn failed(status: String, output: String) -> BuildFailure {
        // The text of the system in English, which the environment of the build selects.
        let is_full = output.contains("No space left on device");
        let why = if is_full {
            BuildProblem::Disk { why: "no space left on device".to_owned() }
        } else {
            BuildProblem::Failed { status }
        };
        BuildFailure { why, output }
    }

    /// Copies the program into a directory of its own, which has no link to the outside.
    fn take_program(&self, tree: &Path, directory: &Path) -> Result<PathBuf, BuildFailure> {
        let missing = || BuildProblem::NoProgram { program: self.source.program.clone() };
        let mut path = directory.join(&self.source.program);
        if cfg!(windows) && !path.is_file() {
            path.set_extension("exe");
        }
        let (path, tree) = (path.canonicalize(), tree.canonicalize());
        let path = path.ok().filter(|path| tree.is_ok_and(|tree| path.starts_with(tree)));
        let path = path.filter(|path| path.is_file()).ok_or_else(missing)?;
        let made = self.work.join("made");
        let disk = |error| BuildFailure::disk(&error);
        fs::create_dir(&made).map_err(disk)?;
        let program = made.join(PROGRAM);
        fs::copy(&path, &program).map_err(disk)?;
        make_executable(&program).map_err(disk)?;
        Ok(made)
    }

    /// Compares the number of nodes of `bench`.
    fn verify(&self, program: &Path) -> Result<(), BuildFailure> {
        let Some(expected) = self.source.bench else { return Ok(()) };
        let name = self.source.program.clone();
        let path = program.to_string_lossy();
        let mut command = command::limited(&path, &["bench".to_owned()], self.builder.limits);
        command.current_dir(program.parent().unwrap_or(self.work));
        command::set_environment(&mut command, self.work)
            .map_err(|error| BuildFailure::disk(&error))?;
        let disk = self.builder.limits.disk;
        let output = match self.bounded(command, &name, BENCH_TIME).within(self.work, disk).run()? {
            Ran::Ended { status, output } if status.success() => output,
            Ran::Ended { status, output } => {
                let why = BuildProblem::BenchFailed { program: name, status: status.to_string() };
                return Err(BuildFailure { why, output });
            }
            Ran::TimedOut { output } | Ran::TooLarge { output } => {
                let status = format!("stopped after at most {} s", BENCH_TIME.as_secs());
                let why = BuildProblem::BenchFailed { program: name, status };
                return Err(BuildFailure { why, output });
            }
        };
        match bench::nodes(&output) {
            Some(found) if found == expected => Ok(()),
            Some(found) => {
                Err(BuildFailure { why: BuildProblem::OtherBench { expected, found }, output })
            }
            None => Err(BuildFailure { why: BuildProblem::NoBench { program: name }, output }),
        }
    }

    /// Runs a command of this program, such as git, which needs the network.
    fn run_free(&self, command: std::process::Command) -> Result<Ran, BuildFailure> {
        let BuildLimits { time, disk, .. } = self.builder.limits;
        self.bounded(command, "git", time).within(self.work, disk).run()
    }

    fn bounded(
        &self,
        command: std::process::Command,
        program: &str,
        time: Duration,
    ) -> Bounded<'_> {
        Bounded {
            command,
            program: program.to_owned(),
            time,
            directory: None,
            guard: self.builder.guard.as_ref(),
            is_cancelled: self.is_cancelled,
        }
    }
}

#[cfg(unix)]
fn make_executable(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(path, fs::Permissions::from_mode(0o500))
}

#[cfg(not(unix))]
fn make_executable(_: &Path) -> io::Result<()> {
    Ok(())
}
