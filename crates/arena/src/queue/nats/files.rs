//! Transfer of programs and files to workers, and the permissions of a worker.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use sha2::{Digest, Sha256};
use tempfile::NamedTempFile;
use tokio::fs::File;
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::time::timeout;

use crate::game::TextOptions;
use crate::plan::{EngineId, EnginePlan, OpeningSource};
use crate::queue::nats::connection::Connection;
use crate::queue::nats::messages::broken;
use crate::queue::{MAX_FILE_BYTES, MatchSpec, QueueError, Rejection};
use crate::store::ContentHash;

/// Timeout between two parts of a download.
const STALL_TIMEOUT: Duration = Duration::from_secs(30);

/// The use of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FileKind {
    /// It is executed.
    Program,
    /// It is read by a program.
    Data,
}

/// A match specification with the paths of this host.
#[derive(Debug)]
pub(super) struct Fetched {
    pub(super) spec: MatchSpec,
    /// The paths of downloaded files.
    pub(super) delivered: BTreeSet<String>,
}

/// Uploads the programs and files of a match, unless they are on the server.
pub(super) fn upload(connection: &Connection, spec: &MatchSpec) -> Result<(), QueueError> {
    if spec.programs.is_empty() {
        return Ok(());
    }
    let store = connection.create_files()?;
    let put = |content: ContentHash, path: PathBuf| {
        let name = content.to_string();
        if connection.wait(store.info(&name)).is_ok() {
            return Ok(());
        }
        connection.wait(async {
            let mut file = File::open(&path).await.map_err(broken)?;
            store.put(name.as_str(), &mut file).await.map_err(broken).map(drop)
        })
    };
    for (command, content) in &spec.programs {
        put(*content, spec.path_of(command).map_err(broken)?)?;
    }
    spec.files.iter().try_for_each(|file| put(file.content, file.path().to_owned()))?;
    if let (Some(content), OpeningSource::File { path, .. }) =
        (spec.openings, &spec.plan.openings.source)
    {
        put(content, PathBuf::from(path))?;
    }
    Ok(())
}

/// Downloads an opening file. Its name keeps the extension, which determines the format.
pub(super) fn download_openings(
    connection: &Connection,
    content: ContentHash,
    path: &str,
    cache: &Path,
) -> Result<PathBuf, QueueError> {
    let name = Path::new(path).file_name().unwrap_or_default().to_string_lossy().into_owned();
    let target = cache.join(format!("{content}-{name}"));
    download_to(connection, content, cache, &target, FileKind::Data)
}

/// Downloads missing programs and files of a match, and replaces the paths in its plan.
pub(super) fn fetch(
    connection: &Connection,
    mut spec: MatchSpec,
    permissions: &Permissions,
    cache: &Path,
) -> Result<Fetched, QueueError> {
    let mut delivered = BTreeSet::new();
    let files = std::mem::take(&mut spec.files);
    for (id, engine) in (0..).map(EngineId).zip(&mut spec.plan.engines) {
        let Some(&content) = spec.programs.get(&engine.command) else { continue };
        // The directory of the plan is a path of the coordinator's host.
        let (path, directory) = match permissions.local_program(content) {
            Some((path, directory)) => (path.to_owned(), directory.map(Path::to_owned)),
            None => (download(connection, content, cache, FileKind::Program)?, None),
        };
        engine.command = utf8(path)?;
        engine.dir = directory.map(utf8).transpose()?;
        for file in files.iter().filter(|file| file.engine == id) {
            let values = engine.options.values_mut();
            // Arguments in permissions refer to files of this host.
            let args = engine.args.iter_mut().filter(|_| !permissions.has_own_arguments());
            let texts: Vec<&mut String> =
                values.chain(args).filter(|text| **text == file.text).collect();
            if texts.is_empty() {
                continue;
            }
            let path = utf8(download(connection, file.content, cache, FileKind::Data)?)?;
            for text in texts {
                text.clone_from(&path);
            }
            delivered.insert(path);
        }
    }
    Ok(Fetched { spec, delivered })
}

fn utf8(path: PathBuf) -> Result<String, QueueError> {
    path.into_os_string()
        .into_string()
        .map_err(|path| broken(format!("the path `{}` is not UTF-8", path.to_string_lossy())))
}

/// Downloads a file into the cache, unless it exists.
fn download(
    connection: &Connection,
    content: ContentHash,
    cache: &Path,
    kind: FileKind,
) -> Result<PathBuf, QueueError> {
    let name = content.to_string();
    let path = match kind {
        FileKind::Program => cache.join(&name),
        // Data files are not executable.
        FileKind::Data => std::path::absolute(cache).map_err(broken)?.join(format!("{name}.data")),
    };
    download_to(connection, content, cache, &path, kind)
}

/// Downloads a file to a path in the cache, unless it exists.
fn download_to(
    connection: &Connection,
    content: ContentHash,
    cache: &Path,
    path: &Path,
    kind: FileKind,
) -> Result<PathBuf, QueueError> {
    let name = content.to_string();
    if ContentHash::of_file(path).is_ok_and(|found| found == content) {
        return Ok(path.to_owned());
    }
    fs::create_dir_all(cache).map_err(broken)?;
    let store = connection.find_files()?;
    let mut file = NamedTempFile::new_in(cache).map_err(broken)?;
    let found = connection.wait(async {
        let object = timeout(STALL_TIMEOUT, store.get(&name)).await.map_err(broken)?;
        copy(&mut object.map_err(broken)?, file.as_file_mut()).await
    })?;
    if found != Some(content) {
        return Err(broken(format!(
            "the content of the file {name} on the server does not match its hash"
        )));
    }
    set_permissions(file.path(), kind).map_err(broken)?;
    // Closes the file: one that is open for writing cannot be executed.
    file.into_temp_path().persist(path).map_err(broken)?;
    Ok(path.to_owned())
}

/// Copies a file and returns its content hash; `None` if it is too large.
async fn copy(
    from: &mut (impl AsyncRead + Unpin),
    to: &mut fs::File,
) -> Result<Option<ContentHash>, QueueError> {
    let mut hash = Sha256::new();
    let mut buffer = vec![0; 64 << 10];
    let mut length = 0;
    loop {
        let read = timeout(STALL_TIMEOUT, from.read(&mut buffer)).await.map_err(broken)?;
        let read = read.map_err(broken)?;
        if read == 0 {
            return Ok(Some(ContentHash::from_digest(hash)));
        }
        length += read as u64;
        if length > MAX_FILE_BYTES {
            return Ok(None);
        }
        let part = buffer.get(..read).unwrap_or_default();
        hash.update(part);
        to.write_all(part).map_err(broken)?;
    }
}

#[cfg(unix)]
fn set_permissions(path: &Path, kind: FileKind) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    let mode = match kind {
        FileKind::Program => 0o500,
        FileKind::Data => 0o400,
    };
    fs::set_permissions(path, fs::Permissions::from_mode(mode))
}

#[cfg(not(unix))]
fn set_permissions(_: &Path, _: FileKind) -> std::io::Result<()> {
    Ok(())
}

/// Programs that a worker may run. By default none.
///
/// Arguments and options can name files to read and write, and many programs can run others. Therefore only explicitly
/// allowed arguments are accepted, no environment variables, and no options that may contain a path.
#[derive(Clone, Debug, Default)]
pub struct Permissions {
    anything: bool,
    /// Allowed argument lists of each program, by content hash.
    programs: BTreeMap<ContentHash, BTreeSet<Vec<String>>>,
    /// Programs on this host with their working directories.
    local: BTreeMap<ContentHash, (PathBuf, Option<PathBuf>)>,
    /// Names of options that may have any text, in lower case.
    options: BTreeSet<String>,
}

/// Parts of option names that indicate files.
const FILE_OPTIONS: [&str; 4] = ["file", "path", "book", "log"];

impl Permissions {
    /// Allows everything.
    pub fn anything() -> Self {
        Self { anything: true, ..Self::default() }
    }

    /// Allows a program of this host, with these arguments. Without a working directory it starts next to its executable.
    ///
    /// # Errors
    /// The program cannot be read.
    pub fn allow_file(
        &mut self,
        path: &Path,
        args: &[String],
        directory: Option<&Path>,
    ) -> std::io::Result<ContentHash> {
        let content = ContentHash::of_file(path)?;
        // Links are kept: by its link an interpreter finds its virtual environment.
        let path = std::path::absolute(path)?;
        self.local.insert(content, (path, directory.map(Path::to_owned)));
        self.allow_content(content, args);
        Ok(content)
    }

    /// Allows a program with this content hash, with these arguments.
    pub fn allow_content(&mut self, content: ContentHash, args: &[String]) {
        self.programs.entry(content).or_default().insert(args.to_vec());
    }

    /// Allows any text as the value of an option. The name is not case-sensitive.
    pub fn allow_option(&mut self, name: &str) {
        self.options.insert(name.to_lowercase());
    }

    /// The path of a program on this host, and its working directory.
    fn local_program(&self, content: ContentHash) -> Option<(&Path, Option<&Path>)> {
        self.local.get(&content).map(|(path, directory)| (path.as_path(), directory.as_deref()))
    }

    /// Whether arguments are restricted to those of the owner, which refer to files of this host.
    fn has_own_arguments(&self) -> bool {
        !self.anything
    }

    /// Checks all engines of a match.
    pub(super) fn check(&self, spec: &MatchSpec) -> Result<(), Rejection> {
        for (id, engine) in (0..).map(EngineId).zip(&spec.plan.engines) {
            let command = || engine.command.clone();
            let Some(&content) = spec.programs.get(&engine.command) else {
                return Err(Rejection::UnknownContent { command: command() });
            };
            if self.anything {
                continue;
            }
            let Some(args) = self.programs.get(&content) else {
                return Err(Rejection::NotAllowed { command: command(), content });
            };
            if !args.contains(&engine.args) {
                let args = engine.args.clone();
                return Err(Rejection::Arguments { command: command(), args });
            }
            if !engine.env.is_empty() {
                return Err(Rejection::Environment { command: command() });
            }
            self.check_options(spec, id, engine)?;
        }
        Ok(())
    }

    /// The option declarations of the engines are not known yet: names and values are checked.
    fn check_options(
        &self,
        spec: &MatchSpec,
        id: EngineId,
        engine: &EnginePlan,
    ) -> Result<(), Rejection> {
        for (name, value) in &engine.options {
            let lower = name.to_lowercase();
            let suspicious =
                value.contains(['/', '\\']) || FILE_OPTIONS.iter().any(|part| lower.contains(part));
            // A file that is sent with the match is only data.
            let allowed = self.options.contains(&lower) || spec.file(id, value).is_some();
            if suspicious && !allowed {
                let (engine, option) = (engine.name.clone(), name.clone());
                return Err(Rejection::Option { engine, option });
            }
        }
        Ok(())
    }

    /// The text values that options of engines may have; all if `None`. `delivered` are the paths of downloaded files.
    pub(super) fn texts(&self, delivered: BTreeSet<String>) -> Option<TextOptions> {
        (!self.anything).then(|| TextOptions::new(self.options.clone(), delivered))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Plan;

    /// A match of one engine with these arguments and options. The content of its program is its name.
    fn spec(args: &[&str], options: &[(&str, &str)]) -> MatchSpec {
        let text = "game = 'chess'\nengines = [{ name = 'x', command = '/far/x' }]";
        let mut plan: Plan = toml::from_str(text).unwrap();
        plan.engines[0].args = args.iter().map(|&arg| arg.to_owned()).collect();
        let options = options.iter().map(|&(name, value)| (name.to_owned(), value.to_owned()));
        plan.engines[0].options = options.collect();
        let mut spec = MatchSpec::new(&plan);
        spec.programs.insert("/far/x".to_owned(), ContentHash::of(b"x"));
        spec
    }

    fn allowing(args: &[&str]) -> Permissions {
        let mut permissions = Permissions::default();
        let args: Vec<String> = args.iter().map(|&arg| arg.to_owned()).collect();
        permissions.allow_content(ContentHash::of(b"x"), &args);
        permissions
    }

    #[test]
    fn accepts_only_the_allowed_arguments() {
        let check = |named: &[&str], requested: &[&str], allowed: bool| {
            let result = allowing(named).check(&spec(requested, &[]));
            let is_rejected = matches!(result, Err(Rejection::Arguments { .. }));
            assert_eq!(
                (result.is_ok(), is_rejected),
                (allowed, !allowed),
                "{named:?} {requested:?}"
            );
        };
        check(&[], &[], true);
        check(&[], &["-c", "anything"], false);
        check(&["engine"], &["engine"], true);
        check(&["engine"], &[], false);
        check(&["engine"], &["engine", "more"], false);
        check(&["a b"], &["a", "b"], false);
        assert_eq!(Permissions::anything().check(&spec(&["-c", "anything"], &[])), Ok(()));
        let mut two = allowing(&["one"]);
        two.allow_content(ContentHash::of(b"x"), &["two".to_owned()]);
        for args in [["one"], ["two"]] {
            assert_eq!(two.check(&spec(&args, &[])), Ok(()));
        }
    }

    #[test]
    fn rejects_options_that_could_be_paths() {
        let check = |name: &str, value: &str, allowed: bool| {
            let spec = spec(&[], &[(name, value)]);
            let rejection = Rejection::Option { engine: "x".to_owned(), option: name.to_owned() };
            let expected = if allowed { Ok(()) } else { Err(rejection) };
            assert_eq!(allowing(&[]).check(&spec), expected, "{name} {value}");
            assert_eq!(Permissions::anything().check(&spec), Ok(()));
            let mut permissions = allowing(&[]);
            permissions.allow_option(&name.to_uppercase());
            assert_eq!(permissions.check(&spec), Ok(()), "{name} {value}");
        };
        check("Hash", "64", true);
        check("Style", "Solid", true);
        check("Debug Log File", "notes", false);
        check("EvalFile", "other.nnue", false);
        check("SyzygyPath", "", false);
        check("Own_Book", "x", false);
        check("Style", "../../etc/passwd", false);
        check("Style", "..\\secret", false);
    }
}
