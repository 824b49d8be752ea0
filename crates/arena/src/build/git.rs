//! Commits of Git repositories, read by `git`.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use crate::build::command::{Bounded, Ran};
use crate::build::{BuildFailure, BuildProblem, bench};
use crate::plan::source::{check_repository, is_commit};
use crate::plan::{GitSource, SourceError};

/// The time of a search for a commit.
const SEARCH_TIME: Duration = Duration::from_mins(5);

/// Maximum size of the download of a search for a commit.
const SEARCH_BYTES: u64 = 1 << 30;

/// The full hash of the commit that a branch, a tag or a hash names now, and the bench in its message.
///
/// # Errors
/// The repository cannot be read, or has no such commit.
fn resolve(repository: &str, revision: &str) -> Result<(String, Option<u64>), BuildFailure> {
    check_repository(repository).map_err(invalid)?;
    let directory = tempfile::tempdir().map_err(|error| BuildFailure::disk(&error))?;
    let run = |command| {
        let bounded = Bounded {
            command,
            program: "git".to_owned(),
            time: SEARCH_TIME,
            directory: Some((directory.path(), SEARCH_BYTES)),
            guard: None,
            is_cancelled: &|| false,
        };
        bounded.run()
    };
    let path = directory.path();
    fetch(repository, revision, path, &run)?;
    let shown =
        output(run(git(path, &["log", "-1", "--format=%H%n%B", "FETCH_HEAD"]))?, repository)?;
    let (commit, message) = shown.split_once('\n').unwrap_or((&shown, ""));
    if !is_commit(commit) {
        return Err(no_revision(repository, revision, shown.clone()));
    }
    Ok((commit.to_owned(), bench::in_message(message)))
}

#[expect(clippy::needless_pass_by_value, reason = "for `map_err`")]
fn invalid(why: SourceError) -> BuildFailure {
    BuildProblem::Source { why: why.to_string() }.into()
}

/// Determines the commit of a source that names a revision only, and its bench from the commit message. A relative path
/// of a repository becomes absolute.
///
/// # Errors
/// The source is invalid, or the commit cannot be read.
pub fn find_commit(source: &mut GitSource) -> Result<(), BuildFailure> {
    if !source.repository.contains("://")
        && let Ok(path) = std::path::absolute(&source.repository)
        && let Ok(path) = path.into_os_string().into_string()
    {
        source.repository = path;
    }
    if source.commit.is_empty() {
        let (commit, bench) = resolve(&source.repository, &source.revision)?;
        source.commit = commit;
        source.bench = source.bench.or(bench);
    }
    source.check().map_err(invalid)
}

/// Checks the commit of a source out into a directory that does not exist.
pub(super) fn check_out(
    source: &GitSource,
    directory: &Path,
    run: impl Fn(Command) -> Result<Ran, BuildFailure>,
) -> Result<(), BuildFailure> {
    std::fs::create_dir_all(directory).map_err(|error| BuildFailure::disk(&error))?;
    fetch(&source.repository, &source.commit, directory, &run)?;
    let checked_out = run(git(directory, &["checkout", "--quiet", "--detach", "FETCH_HEAD"]))?;
    output(checked_out, &source.repository).map(drop)
}

/// Fetches a commit, without its history, into a new repository.
fn fetch(
    repository: &str,
    revision: &str,
    directory: &Path,
    run: &impl Fn(Command) -> Result<Ran, BuildFailure>,
) -> Result<(), BuildFailure> {
    let is_name = !revision.is_empty()
        && !revision.starts_with('-')
        && !revision.contains(|letter: char| letter.is_control() || letter == ':' || letter == ' ');
    if !is_name {
        return Err(no_revision(repository, revision, String::new()));
    }
    output(run(git(directory, &["init", "--quiet"]))?, repository)?;
    let args = ["fetch", "--quiet", "--depth=1", "--no-tags", "--no-recurse-submodules", "--"];
    let mut command = git(directory, &args);
    command.args([repository, revision]);
    match run(command)? {
        Ran::Ended { status, .. } if status.success() => Ok(()),
        Ran::Ended { output, .. } => {
            // The server does not have the hash, or the name.
            let is_missing = ["not our ref", "couldn't find remote ref", "unadvertised object"]
                .iter()
                .any(|text| output.contains(text));
            if is_missing {
                return Err(no_revision(repository, revision, output));
            }
            let why = BuildProblem::Fetch { repository: repository.to_owned() };
            Err(BuildFailure { why, output })
        }
        ended => output(ended, repository).map(drop),
    }
}

fn no_revision(repository: &str, revision: &str, output: String) -> BuildFailure {
    let (repository, revision) = (repository.to_owned(), revision.to_owned());
    BuildFailure { why: BuildProblem::NoRevision { repository, revision }, output }
}

/// The output of a successful command.
fn output(ran: Ran, repository: &str) -> Result<String, BuildFailure> {
    match ran {
        Ran::Ended { status, output } if status.success() => Ok(output),
        Ran::Ended { output, .. } | Ran::TimedOut { output } | Ran::TooLarge { output } => {
            let why = if output.contains("No space left on device") {
                BuildProblem::Disk { why: "no space left on device".to_owned() }
            } else {
                BuildProblem::Fetch { repository: repository.to_owned() }
            };
            Err(BuildFailure { why, output })
        }
    }
}

/// A command of git without prompts, which runs no program of the repository or of the settings of a user.
fn git(directory: &Path, args: &[&str]) -> Command {
    let mut command = Command::new("git");
    command.current_dir(directory);
    command.args(["-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false"]);
    command.args(["-c", "protocol.ext.allow=never", "-c", "advice.detachedHead=false"]);
    command.args(["-c", "core.symlinks=true", "-c", "safe.directory=*"]);
    command.args(args);
    for name in
        ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_SSH_COMMAND"]
    {
        command.env_remove(name);
    }
    command.env("GIT_TERMINAL_PROMPT", "0").env("GIT_CONFIG_NOSYSTEM", "1");
    command.env("GIT_SSH_VARIANT", "ssh").env("GIT_LFS_SKIP_SMUDGE", "1");
    command.env("LC_ALL", "C");
    command
}
