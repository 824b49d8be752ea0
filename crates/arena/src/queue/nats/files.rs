//! Transfer of programs and files to workers, and the permissions of a worker.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::fs;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use async_nats::jetstream::stream::{Config, StorageType};
use futures_util::{StreamExt, stream};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use tokio::time::{sleep, timeout};

use crate::build::Builder;
use crate::durable::{FileAccess, NewFile};
use crate::game::TextOptions;
use crate::plan::{EngineId, EnginePlan, GitSource, OpeningSource, SourceError};
use crate::queue::nats::connection::{Connection, RETRY_DELAY};
use crate::queue::nats::messages::{FILES, broken, read_owned, write};
use crate::queue::{MAX_FILE_BYTES, MatchSpec, QueueError, Rejection};
use crate::store::ContentHash;

/// Timeout of one attempt to download a part.
const PART_TIMEOUT: Duration = Duration::from_mins(1);

/// Attempts to download a part.
const PART_ATTEMPTS: u32 = 5;

/// Timeout of a download.
const DOWNLOAD_TIMEOUT: Duration = Duration::from_hours(2);

/// The size of the parts of a file. The default limit of the server for messages is 1 MiB.
const PART_BYTES: u64 = 256 << 10;

/// The number of parts that are requested at the same time.
const PARALLEL_PARTS: usize = 4;

/// Maximum size of all files of a match.
const MAX_MATCH_BYTES: u64 = 4 << 30;

/// The description of a file on the server. It is stored after all parts.
#[derive(Debug, Serialize, Deserialize)]
struct FileHead {
    bytes: u64,
    part_bytes: u64,
}

/// The subject of a part of a file, by its number; of its [`FileHead`] for `head`.
fn part_subject(content: ContentHash, part: impl fmt::Display) -> String {
    format!("readyok.files.{content}.{part}")
}

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
    let mut files: BTreeMap<ContentHash, PathBuf> = BTreeMap::new();
    for (command, content) in &spec.programs {
        files.insert(*content, spec.path_of(command).map_err(broken)?);
    }
    files.extend(spec.files.iter().map(|file| (file.content, file.path().to_owned())));
    if let (Some(content), OpeningSource::File { path, .. }) =
        (spec.openings, &spec.plan.openings.source)
    {
        files.insert(content, PathBuf::from(path));
    }
    let config = Config {
        name: FILES.to_owned(),
        subjects: vec!["readyok.files.>".to_owned()],
        max_messages_per_subject: 1,
        storage: StorageType::File,
        allow_direct: true,
        ..Config::default()
    };
    connection.open_stream(&config).map_err(broken)?;
    // On a host that takes a match over, its files may exist on the server only.
    let known = |content: &ContentHash| {
        let subject = part_subject(*content, "head");
        let head = connection.read(|| connection.last_message(FILES, &subject))?;
        Ok(head.is_some())
    };
    let mut missing = Vec::new();
    let mut bytes = 0;
    for (content, path) in files {
        if !known(&content)? {
            bytes += fs::metadata(&path).map_err(broken)?.len();
            missing.push((content, path));
        }
    }
    if bytes > MAX_MATCH_BYTES {
        return Err(broken(format!(
            "the files of the match have {bytes} bytes, the limit is {MAX_MATCH_BYTES}"
        )));
    }
    missing.iter().try_for_each(|(content, path)| upload_file(connection, *content, path))
}

/// Uploads a file.
fn upload_file(
    connection: &Connection,
    content: ContentHash,
    path: &Path,
) -> Result<(), QueueError> {
    let publish = |subject: String, payload: Vec<u8>| {
        connection.request(async {
            connection.stream.publish(subject, payload.into()).await?.await.map(drop)
        })
    };
    let mut file = fs::File::open(path).map_err(broken)?;
    let mut bytes = 0;
    for part in 0_u64.. {
        let mut payload = Vec::new();
        (&mut file).take(PART_BYTES).read_to_end(&mut payload).map_err(broken)?;
        if payload.is_empty() {
            break;
        }
        bytes += payload.len() as u64;
        publish(part_subject(content, part), payload)?;
    }
    let head = FileHead { bytes, part_bytes: PART_BYTES };
    publish(part_subject(content, "head"), write(&head)?)
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
        if engine.source.is_none() {
            let Some(&content) = spec.programs.get(&engine.command) else { continue };
            // The directory of the plan is a path of the coordinator's host.
            let (path, directory) = match permissions.local_program(content) {
                Some((path, directory)) => (path.to_owned(), directory.map(Path::to_owned)),
                None => (download(connection, content, cache, FileKind::Program)?, None),
            };
            engine.command = utf8(path)?;
            engine.dir = directory.map(utf8).transpose()?;
        }
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
    if ContentHash::of_file(path).is_ok_and(|found| found == content) {
        return Ok(path.to_owned());
    }
    fs::create_dir_all(cache).map_err(broken)?;
    let mut file = NewFile::create(path, FileAccess::Owner).map_err(broken)?;
    let found = connection.wait(async {
        let copied = copy(connection, content, file.file_mut());
        timeout(DOWNLOAD_TIMEOUT, copied).await.map_err(broken)?
    })?;
    if found != content {
        return Err(broken(format!(
            "the content of the file {content} on the server does not match its hash"
        )));
    }
    set_permissions(file.path(), kind).map_err(broken)?;
    file.persist().map_err(broken)?;
    Ok(path.to_owned())
}

/// Copies a file from the server and returns its content hash.
async fn copy(
    connection: &Connection,
    content: ContentHash,
    to: &mut fs::File,
) -> Result<ContentHash, QueueError> {
    let head = part(connection, &part_subject(content, "head")).await?;
    let head: Option<FileHead> = read_owned(&head);
    let FileHead { bytes, part_bytes } =
        head.filter(|head| head.part_bytes > 0).ok_or_else(|| broken("the file is damaged"))?;
    if bytes > MAX_FILE_BYTES {
        return Err(broken(format!("the file has {bytes} bytes, the limit is {MAX_FILE_BYTES}")));
    }
    let mut parts = stream::iter(0..bytes.div_ceil(part_bytes))
        .map(|number| async move { part(connection, &part_subject(content, number)).await })
        .buffered(PARALLEL_PARTS);
    let mut hash = Sha256::new();
    let mut left = bytes;
    while let Some(payload) = parts.next().await {
        let payload = payload?;
        left = left
            .checked_sub(payload.len() as u64)
            .ok_or_else(|| broken("the file is longer than announced"))?;
        hash.update(&payload);
        to.write_all(&payload).map_err(broken)?;
    }
    Ok(ContentHash::from_digest(hash))
}

/// A part of a file. The server may be temporarily unavailable.
async fn part(connection: &Connection, subject: &str) -> Result<Vec<u8>, QueueError> {
    let mut last = broken("the server does not respond");
    for _ in 0..PART_ATTEMPTS {
        match timeout(PART_TIMEOUT, connection.last_message(FILES, subject)).await {
            Ok(Ok(Some(payload))) => return Ok(payload),
            Ok(Ok(None)) => last = broken("the server does not have the file"),
            Ok(Err(error)) => last = error,
            Err(_) => {}
        }
        sleep(RETRY_DELAY).await;
    }
    Err(last)
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
    /// The repositories whose commits may be built, and the builder.
    builds: Option<(BTreeSet<String>, Builder)>,
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

    /// Allows builds of commits of these repositories.
    pub fn allow_builds(&mut self, repositories: BTreeSet<String>, builder: Builder) {
        self.builds = Some((repositories, builder));
    }

    /// The builder for a source.
    fn builder(&self, source: &GitSource) -> Result<&Builder, Rejection> {
        let builds = self.builds.as_ref().filter(|(known, _)| known.contains(&source.repository));
        let repository = || source.repository.clone();
        builds
            .map(|(_, builder)| builder)
            .ok_or_else(|| Rejection::Repository { repository: repository() })
    }

    /// Builds the engines with a source, and replaces the commands in the plan.
    pub(super) fn build(
        &self,
        spec: &mut MatchSpec,
        is_cancelled: &dyn Fn() -> bool,
    ) -> Result<(), Rejection> {
        for engine in &mut spec.plan.engines {
            let Some(source) = &engine.source else { continue };
            let built = self.builder(source)?.build(source, is_cancelled);
            let name = &engine.name;
            let path =
                built.map_err(|failure| Rejection::Build { engine: name.clone(), failure })?;
            engine.command =
                utf8(path).map_err(|error| Rejection::NotFetched { why: error.text })?;
            engine.dir = None;
        }
        Ok(())
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
            if let Some(source) = &engine.source {
                self.builder(source)?;
                let invalid = |why: SourceError| Rejection::NotFetched { why: why.to_string() };
                source.check().map_err(invalid)?;
                self.check_call(spec, id, engine, engine.args.is_empty())?;
                continue;
            }
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
            self.check_call(spec, id, engine, args.contains(&engine.args))?;
        }
        Ok(())
    }

    /// Checks how a permitted program is called.
    fn check_call(
        &self,
        spec: &MatchSpec,
        id: EngineId,
        engine: &EnginePlan,
        has_allowed_arguments: bool,
    ) -> Result<(), Rejection> {
        let command = || engine.command.clone();
        if self.anything {
            return Ok(());
        }
        if !has_allowed_arguments {
            let args = engine.args.clone();
            return Err(Rejection::Arguments { command: command(), args });
        }
        if !engine.env.is_empty() {
            return Err(Rejection::Environment { command: command() });
        }
        self.check_options(spec, id, engine)
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
