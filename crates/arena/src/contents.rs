//! Hashes of plans and of the files of a plan, to detect changes on resume, and differences of two plans.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf, is_separator};
use std::str::FromStr;
use std::{env, fmt, fs, io};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};

use crate::plan::{EnginePlan, OpeningSource, Plan};

/// Larger opening files are hashed by their size and evenly distributed samples of this total size.
const MAX_BOOK_HASHED: u64 = 64 << 20;
const SAMPLES: u64 = 64;

/// The hashes of the files of a plan: executables, files that arguments and options name by a path,
/// and openings.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Contents(pub(crate) BTreeMap<String, ContentHash>);

/// A file that has changed since the start of the match.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangedFile {
    /// The path, or the name in the plan.
    pub path: String,
    /// It is no longer readable.
    pub is_gone: bool,
}

impl fmt::Display for ChangedFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = if self.is_gone { "is no longer readable" } else { "has changed" };
        write!(f, "`{}` {what}", self.path)
    }
}

impl Contents {
    /// Hashes the files. Unreadable files are omitted; starting the match reports them.
    pub(crate) fn of(plan: &Plan) -> Self {
        let mut files = BTreeMap::new();
        // Engines often share large executables or networks.
        let mut add = |name: String, path: &Path| {
            if !files.contains_key(&name)
                && let Ok(hash) = ContentHash::of_file(path)
            {
                files.insert(name, hash);
            }
        };
        let is_file =
            |engine: &&EnginePlan| !engine.command.contains("://") && engine.source.is_none();
        for engine in plan.engines.iter().filter(is_file) {
            let program = find_program(&engine.command).ok();
            if let Some(path) = &program {
                add(engine.command.clone(), path);
            }
            let named = named_by(engine, program.as_deref()).into_iter();
            for (_, path) in named.filter(|(_, path)| path.is_file()) {
                add(path.display().to_string(), &path);
            }
        }
        if let OpeningSource::File { path, .. } = &plan.openings.source
            && let Ok(hash) = of_openings(Path::new(path))
        {
            files.insert(path.clone(), hash);
        }
        Self(files)
    }

    pub(crate) fn hashes(&self) -> &BTreeMap<String, ContentHash> {
        &self.0
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The files that have changed.
    pub(crate) fn changed(&self, now: &Self) -> Vec<ChangedFile> {
        let changed = self.0.iter().filter(|(path, hash)| now.0.get(*path) != Some(hash));
        let file = |(path, _): (&String, _)| ChangedFile {
            path: path.clone(),
            is_gone: !now.0.contains_key(path),
        };
        changed.map(file).collect()
    }
}

/// The files and directories that arguments and options of an engine name, by the argument or value.
pub(crate) fn named_by(engine: &EnginePlan, program: Option<&Path>) -> BTreeMap<String, PathBuf> {
    let directory = directory_of(engine, program);
    let texts = engine.args.iter().chain(engine.options.values());
    // Without a separator, a text may equal a file name by accident.
    let paths = texts.filter(|text| text.contains(is_separator));
    let paths = paths.map(|text| (text.clone(), directory.join(text)));
    paths.filter(|(_, path)| path.is_file() || path.is_dir()).collect()
}

/// The working directory of an engine.
pub(crate) fn directory_of<'a>(engine: &'a EnginePlan, program: Option<&'a Path>) -> &'a Path {
    let program_dir = program.filter(|path| path.is_absolute()).and_then(Path::parent);
    engine.dir.as_deref().map(Path::new).or(program_dir).unwrap_or_else(|| Path::new(""))
}

/// The hash of an opening file, or of a directory including the file names.
pub(crate) fn of_openings(path: &Path) -> io::Result<ContentHash> {
    if !path.is_dir() {
        return of_book(path);
    }
    let mut files = BTreeMap::new();
    for entry in fs::read_dir(path)? {
        let entry = entry?;
        if entry.file_type()?.is_file() {
            files.insert(entry.file_name(), of_book(&entry.path())?.to_string());
        }
    }
    Ok(ContentHash::of(format!("{files:?}").as_bytes()))
}

fn of_book(path: &Path) -> io::Result<ContentHash> {
    let mut file = File::open(path)?;
    let length = file.metadata()?.len();
    if length <= MAX_BOOK_HASHED {
        return ContentHash::of_file(path);
    }
    let mut hash = Sha256::new();
    hash.update(length.to_le_bytes());
    let sample = MAX_BOOK_HASHED / SAMPLES;
    let mut buffer = Vec::new();
    for number in 0..SAMPLES {
        file.seek(SeekFrom::Start((length - sample) / (SAMPLES - 1) * number))?;
        buffer.clear();
        (&mut file).take(sample).read_to_end(&mut buffer)?;
        hash.update(&buffer);
    }
    Ok(ContentHash::from_digest(hash))
}

/// Finds an executable like the operating system: a bare name in the directories of `PATH`.
pub(crate) fn find_program(command: &str) -> io::Result<PathBuf> {
    let path = PathBuf::from(command);
    if path.components().count() > 1 || path.is_absolute() {
        return Ok(path);
    }
    let directories = env::var_os("PATH").unwrap_or_default();
    let mut candidates = env::split_paths(&directories).map(|directory| directory.join(command));
    candidates.find(|path| path.is_file()).ok_or_else(|| io::ErrorKind::NotFound.into())
}

/// A SHA-256 hash, displayed as 64 hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ContentHash([u8; 32]);

/// A text that is not 64 hexadecimal digits.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{}` is not a SHA-256 hash", .0)]
pub struct NoHash(String);

impl ContentHash {
    /// The hash of bytes.
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// The hash of the content of a file.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn of_file(path: &Path) -> io::Result<Self> {
        let mut file = File::open(path)?;
        let mut hash = Sha256::new();
        let mut buffer = vec![0; 64 << 10];
        loop {
            match file.read(&mut buffer)? {
                0 => return Ok(Self::from_digest(hash)),
                length => hash.update(buffer.get(..length).unwrap_or_default()),
            }
        }
    }

    pub(crate) fn from_digest(hash: Sha256) -> Self {
        Self(hash.finalize().into())
    }

    /// The identifier of the match of a plan, regardless of the number of rounds.
    pub fn of_plan(plan: &Plan) -> Self {
        let plan = Plan { rounds: 0, ..plan.clone() };
        // Plans are always serializable.
        Self::of(&serde_json::to_vec(&plan).unwrap_or_default())
    }
}

impl fmt::Display for ContentHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for ContentHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ContentHash({self})")
    }
}

impl FromStr for ContentHash {
    type Err = NoHash;

    fn from_str(text: &str) -> Result<Self, NoHash> {
        let error = || NoHash(text.chars().take(80).collect());
        let mut bytes = [0; 32];
        if text.len() != 64 || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(error());
        }
        for (at, byte) in bytes.iter_mut().enumerate() {
            let digits = text.get(2 * at..2 * at + 2).unwrap_or_default();
            *byte = u8::from_str_radix(digits, 16).map_err(|_| error())?;
        }
        Ok(Self(bytes))
    }
}

impl TryFrom<String> for ContentHash {
    type Error = NoHash;

    fn try_from(text: String) -> Result<Self, NoHash> {
        text.parse()
    }
}

impl From<ContentHash> for String {
    fn from(hash: ContentHash) -> Self {
        hash.to_string()
    }
}

/// A difference of two plans.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The key: `engines[1].limits.tc`.
    pub field: String,
    /// The stored value as JSON; none if it is missing. Values of environment variables are
    /// [`Difference::HIDDEN`].
    pub stored: Option<String>,
    /// The requested value.
    pub wanted: Option<String>,
}

impl Difference {
    /// Replaces a secret value.
    pub const HIDDEN: &str = "…";

    /// A difference of an environment variable.
    pub(crate) fn hidden(engine: usize, name: &str, in_stored: bool, in_wanted: bool) -> Self {
        let value = |is_there: bool| is_there.then(|| Self::HIDDEN.to_owned());
        let field = variable(engine, name);
        Self { field, stored: value(in_stored), wanted: value(in_wanted) }
    }
}

/// The key of an environment variable.
pub(crate) fn variable(engine: usize, name: &str) -> String {
    format!("engines[{engine}].env.{name}")
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.stored.is_some() && self.stored == self.wanted {
            return write!(f, "{} has another value", self.field);
        }
        let text = |value: &Option<String>| {
            value.as_ref().map_or_else(|| "nothing".to_owned(), |value| format!("`{value}`"))
        };
        let (stored, wanted) = (text(&self.stored), text(&self.wanted));
        write!(f, "{} was {stored} and is {wanted}", self.field)
    }
}

/// All differences of two plans.
pub(crate) fn between(stored: &Plan, wanted: &Plan) -> Vec<Difference> {
    let mut found = Vec::new();
    let count = stored.engines.len().max(wanted.engines.len());
    for index in 0..count {
        let env = |plan: &Plan| {
            plan.engines.get(index).map(|engine| engine.env.clone()).unwrap_or_default()
        };
        let (stored, wanted) = (env(stored), env(wanted));
        let names: BTreeSet<&String> = stored.keys().chain(wanted.keys()).collect();
        let others = names.into_iter().filter(|name| stored.get(*name) != wanted.get(*name));
        found.extend(others.map(|name| {
            let (stored, wanted) = (stored.contains_key(name), wanted.contains_key(name));
            Difference::hidden(index, name, stored, wanted)
        }));
    }
    let without = |plan: &Plan| {
        let mut plan = plan.clone();
        plan.engines.iter_mut().for_each(|engine| engine.env.clear());
        plan
    };
    let (stored, wanted) = (without(stored), without(wanted));
    // Plans are always serializable; otherwise they compare as different.
    let stored = serde_json::to_value(&stored).unwrap_or_default();
    let wanted = serde_json::to_value(&wanted).unwrap_or_else(|error| error.to_string().into());
    compare("", Some(&stored), Some(&wanted), &mut found);
    found
}

fn compare(
    field: &str,
    stored: Option<&Value>,
    wanted: Option<&Value>,
    found: &mut Vec<Difference>,
) {
    match (stored, wanted) {
        (Some(Value::Object(stored)), Some(Value::Object(wanted))) => {
            for name in names(stored, wanted) {
                let inner = if field.is_empty() { name.clone() } else { format!("{field}.{name}") };
                compare(&inner, stored.get(name), wanted.get(name), found);
            }
        }
        (Some(Value::Array(stored)), Some(Value::Array(wanted))) => {
            for index in 0..stored.len().max(wanted.len()) {
                let inner = format!("{field}[{index}]");
                compare(&inner, stored.get(index), wanted.get(index), found);
            }
        }
        (stored, wanted) if stored == wanted => (),
        (stored, wanted) => found.push(Difference {
            field: field.to_owned(),
            stored: stored.map(Value::to_string),
            wanted: wanted.map(Value::to_string),
        }),
    }
}

fn names<'a>(
    stored: &'a Map<String, Value>,
    wanted: &'a Map<String, Value>,
) -> impl Iterator<Item = &'a String> {
    stored.keys().chain(wanted.keys().filter(|name| !stored.contains_key(*name)))
}

/// The prefix of a hashed value: `sha256:<salt>:<hash>`.
const PREFIX: &str = "sha256:";

/// Whether a plan has environment variables.
pub(crate) fn has_values(plan: &Plan) -> bool {
    plan.engines.iter().any(|engine| !engine.env.is_empty())
}

/// The plan with salted hashes instead of the values of environment variables.
pub(crate) fn sealed(plan: &Plan) -> io::Result<Plan> {
    let mut plan = plan.clone();
    for (name, value) in plan.engines.iter_mut().flat_map(|engine| &mut engine.env) {
        // Individual salts hide equal values and prevent precomputed tables.
        let mut salt = [0; 16];
        getrandom::fill(&mut salt).map_err(|error| io::Error::other(error.to_string()))?;
        *value = seal(&format!("{:032x}", u128::from_le_bytes(salt)), name, value);
    }
    Ok(plan)
}

/// The plan with the stored hash of each unchanged value.
pub(crate) fn sealed_as(stored: &Plan, plan: &Plan) -> Plan {
    let mut plan = plan.clone();
    for (index, engine) in plan.engines.iter_mut().enumerate() {
        let stored = stored.engines.get(index).map(|engine| &engine.env);
        for (name, value) in &mut engine.env {
            let stored = stored.and_then(|stored| stored.get(name));
            let same = stored.filter(|stored| is_of(stored, name, value));
            *value = same.cloned().unwrap_or_default();
        }
    }
    plan
}

/// Whether a stored hash is that of a value.
pub(crate) fn is_of(stored: &str, name: &str, value: &str) -> bool {
    let salt = stored.strip_prefix(PREFIX).and_then(|rest| rest.split_once(':'));
    salt.is_some_and(|(salt, _)| seal(salt, name, value) == stored)
}

fn seal(salt: &str, name: &str, value: &str) -> String {
    let mut hash = Sha256::new();
    // Salts and names of variables do not contain this byte.
    for part in [salt, name, value] {
        hash.update(part);
        hash.update([0]);
    }
    format!("{PREFIX}{salt}:{}", ContentHash::from_digest(hash))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_match_fips_180_4_and_round_trip() {
        let hash = ContentHash::of(b"abc");
        let text = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(hash.to_string(), text);
        assert_eq!(text.parse(), Ok(hash));
        for wrong in ["", "ba", &text.replace('b', "g"), &format!("{text}0")] {
            assert!(wrong.parse::<ContentHash>().is_err(), "{wrong}");
        }
    }
}
