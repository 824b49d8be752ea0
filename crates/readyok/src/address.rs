//! Engine addresses: resolves an engine name or command line of the user.

use std::collections::{BTreeMap, HashSet};
use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::path::{self, Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

use readyok_client::unstable::{
    directory_for_name, find_executable, find_in_path, split_command_line,
};
use readyok_client::{EngineProgram, EngineSource, Timeouts, WaitLimit};
use readyok_protocol::{Command, Dialect, Register};
use serde::Deserialize;

use crate::dirs::{self, Env};

/// An engine and the settings of the user for it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Address {
    pub source: EngineSource,
    /// The protocol, if the user has specified one.
    pub dialect: Option<Dialect>,
    /// Options to set: names and values.
    pub options: Vec<(String, String)>,
    /// Timeout of the handshake and of `isready`. `None` for the defaults: 30 s and 60 s without output.
    pub timeout: Option<Timeout>,
    /// The reply to `registration error`. `None` for `later`.
    pub registration: Option<Registration>,
}

impl Address {
    /// Finds the engine that `text` refers to. The candidates, in this order: a name from the user's
    /// engine list, `narikin`, `tcp://host:port`, the path of a program, a program in `PATH`, and a
    /// command line with shell quoting.
    ///
    /// # Errors
    /// No candidate matches, or the engine list is invalid.
    pub fn find(text: &str, env: Env<'_>) -> Result<Self, AddressError> {
        let mut search = Search { text, env, tried: Vec::new() };
        let list = EngineList::path(env);
        let listed = match &list {
            Some(path) => EngineList::read(path).map_err(AddressError::List)?.find(text),
            None => None,
        };
        match (listed, list) {
            (Some(entry), Some(path)) => search.entry(entry, &path),
            (_, list) => {
                search.tried.push(Tried::List(list));
                search.unlisted().map(Self::from)
            }
        }
    }
}

impl From<EngineSource> for Address {
    fn from(source: EngineSource) -> Self {
        Self { source, dialect: None, options: Vec::new(), timeout: None, registration: None }
    }
}

/// Tries one candidate after another.
struct Search<'a> {
    text: &'a str,
    env: Env<'a>,
    tried: Vec<Tried>,
}

impl Search<'_> {
    /// Resolves an entry of the list at `list`. Relative paths are relative to the directory of the list.
    fn entry(mut self, entry: Entry, list: &Path) -> Result<Address, AddressError> {
        let base = list.parent().unwrap_or_else(|| Path::new(""));
        let cwd = entry.cwd.map(|cwd| base.join(cwd));
        let source = match built_in_or_remote(&entry.command)? {
            Some(source) => source,
            None => EngineSource::Program(EngineProgram {
                path: self.program(&entry.command, base).ok_or_else(|| self.not_found())?,
                args: entry.args,
                dir: cwd.or_else(|| directory_for_name(&entry.command)),
                env: entry.env,
            }),
        };
        let dialect = entry.protocol;
        let options = entry.options.into_iter();
        let options = options.map(|(name, value)| (name, value.into_text())).collect();
        let (timeout, registration) = (entry.timeout, entry.register);
        Ok(Address { source, dialect, options, timeout, registration })
    }

    fn unlisted(mut self) -> Result<EngineSource, AddressError> {
        if let Some(source) = built_in_or_remote(self.text)? {
            return Ok(source);
        }
        // A program that was found in `PATH` keeps the current directory.
        let program = |name: &str, path: PathBuf, args: &[String]| {
            let dir = directory_for_name(name);
            EngineSource::Program(EngineProgram { dir, ..EngineProgram::new(path, args) })
        };
        if let Some(file) = self.program(self.text, Path::new("")) {
            return Ok(program(self.text, file, &[]));
        }
        let tokens = split_command_line(self.text)
            .ok_or_else(|| AddressError::Quoting { text: self.text.to_owned() })?;
        let found = match tokens.split_first() {
            Some((first, rest)) if first != self.text => {
                self.program(first, Path::new("")).map(|file| program(first, file, rest))
            }
            Some(_) | None => None,
        };
        found.ok_or_else(|| self.not_found())
    }

    /// Finds an executable: a path if `text` contains a separator, otherwise a name in `PATH`.
    fn program(&mut self, text: &str, base: &Path) -> Option<PathBuf> {
        if text.contains(path::is_separator) {
            let file = base.join(text);
            // An engine runs in its own directory, where a relative path would be a different file.
            let file = path::absolute(&file).unwrap_or(file);
            if let Some(found) = find_executable(&file) {
                return Some(found);
            }
            self.tried.push(Tried::File { exists: file.exists(), file });
            return None;
        }
        let dirs = (self.env)("PATH").unwrap_or_default();
        let found = find_in_path(text, &dirs);
        if found.is_none() {
            self.tried.push(Tried::Path(text.to_owned()));
        }
        found
    }

    fn not_found(&mut self) -> AddressError {
        AddressError::NotFound {
            text: self.text.to_owned(),
            tried: std::mem::take(&mut self.tried),
        }
    }
}

fn built_in_or_remote(text: &str) -> Result<Option<EngineSource>, AddressError> {
    if text == "narikin" {
        return Ok(Some(EngineSource::BuiltIn));
    }
    let Some(address) = text.strip_prefix("tcp://") else { return Ok(None) };
    match address.rsplit_once(':') {
        Some((host, port)) if !host.is_empty() && port.parse::<u16>().is_ok() => {
            Ok(Some(EngineSource::Tcp { address: address.to_owned() }))
        }
        _ => Err(AddressError::Tcp { text: text.to_owned() }),
    }
}

fn list(tried: &[Tried]) -> String {
    tried.iter().map(|tried| format!(", {tried}")).collect::<Vec<_>>().concat()
}

/// An address that cannot be resolved.
#[derive(Debug, thiserror::Error)]
pub enum AddressError {
    /// No candidate matches.
    #[error("engine `{text}` not found: not `narikin`{}", list(tried))]
    NotFound {
        /// The address.
        text: String,
        /// The candidates, in order.
        tried: Vec<Tried>,
    },
    /// A quotation mark is not closed.
    #[error("invalid command line `{text}`: a quote is not closed")]
    Quoting {
        /// The address.
        text: String,
    },
    /// `tcp://` is not followed by a host and a port.
    #[error("invalid address `{text}`: expected tcp://host:port")]
    Tcp {
        /// The address.
        text: String,
    },
    /// The engine list is invalid.
    #[error("{0}")]
    List(ListError),
}

/// A candidate that did not match.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Tried {
    /// The engine list. `None` without a configuration directory.
    List(Option<PathBuf>),
    /// A file that is missing or not executable.
    File {
        file: PathBuf,
        /// The file exists and is not executable.
        exists: bool,
    },
    /// A name that is not in `PATH`.
    Path(String),
}

impl fmt::Display for Tried {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::List(Some(path)) => write!(f, "not listed in `{}`", path.display()),
            Self::List(None) => f.write_str("no configuration directory for an engine list"),
            Self::File { file, exists: false } => {
                write!(f, "file `{}` does not exist", file.display())
            }
            Self::File { file, exists: true } => {
                write!(f, "`{}` is not an executable file", file.display())
            }
            Self::Path(name) => write!(f, "no program `{name}` in PATH"),
        }
    }
}

/// Maximum size of an engine list, in bytes.
const MAX_LIST_SIZE: u64 = 1 << 20;

/// The engine list of the user, `engines.toml`.
///
/// ```toml
/// [[engine]]
/// name = "sf"
/// command = "/usr/games/stockfish"
/// protocol = "uci"
/// options = { Hash = 256, Threads = 2 }
/// ```
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EngineList {
    #[serde(default)]
    engine: Vec<Entry>,
}

/// An engine of the list, whose command is not resolved.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// Unique and case-sensitive.
    pub name: String,
    /// A path, a program in `PATH`, `tcp://host:port` or `narikin`.
    pub command: String,
    /// Command line arguments.
    #[serde(default)]
    pub args: Vec<String>,
    /// The working directory of the program.
    pub cwd: Option<PathBuf>,
    /// Environment variables in addition to the inherited ones.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// The protocol; detected by default.
    pub protocol: Option<Dialect>,
    /// Options to set after the handshake.
    #[serde(default)]
    pub options: BTreeMap<String, Value>,
    /// Timeout of the handshake and of `isready`, in seconds.
    pub timeout: Option<Timeout>,
    /// The reply to `registration error`.
    pub register: Option<Registration>,
}

/// An option value in the engine list.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub enum Value {
    /// Value of a check option.
    Check(bool),
    /// Value of a spin option.
    Spin(i64),
    /// Value of any option.
    Text(String),
}

impl Value {
    /// The value in the notation of `setoption`.
    fn into_text(self) -> String {
        match self {
            Self::Check(on) => on.to_string(),
            Self::Spin(number) => number.to_string(),
            Self::Text(text) => text,
        }
    }
}

impl EngineList {
    /// Path of the list: `engines.toml` in the configuration directory.
    pub fn path(env: Env<'_>) -> Option<PathBuf> {
        dirs::config(env).map(|dir| dir.join("engines.toml"))
    }

    /// Reads a list. A missing file is an empty list.
    ///
    /// # Errors
    /// The file cannot be read, or its content is invalid.
    pub fn read(path: &Path) -> Result<Self, ListError> {
        let failed = |problem| ListError { path: path.to_owned(), problem };
        let mut text = String::new();
        match File::open(path)
            .and_then(|file| file.take(MAX_LIST_SIZE + 1).read_to_string(&mut text))
        {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Self::default()),
            Err(error) => return Err(failed(ListProblem::Io(error))),
            Ok(length) if MAX_LIST_SIZE < length as u64 => {
                return Err(failed(ListProblem::TooLong));
            }
            Ok(_) => (),
        }
        let list: Self = toml::from_str(&text).map_err(|error| {
            let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
            failed(ListProblem::Toml { line: 1 + before.matches('\n').count(), error })
        })?;
        for entry in &list.engine {
            if let Some((name, _)) =
                entry.env.iter().find(|(name, value)| !is_valid_variable(name, value))
            {
                return Err(failed(ListProblem::Variable(name.clone())));
            }
        }
        let mut names = HashSet::new();
        match list.engine.iter().find(|entry| !names.insert(&entry.name)) {
            Some(entry) => Err(failed(ListProblem::Twice(entry.name.clone()))),
            None => Ok(list),
        }
    }

    /// Finds an engine by its name.
    pub fn find(self, name: &str) -> Option<Entry> {
        self.engine.into_iter().find(|entry| entry.name == name)
    }
}

fn is_valid_variable(name: &str, value: &str) -> bool {
    !name.is_empty() && !name.contains(['=', '\0']) && !value.contains('\0')
}

/// An invalid engine list.
#[derive(Debug, thiserror::Error)]
#[error("cannot use the engine list `{}`: {problem}", path.display())]
pub struct ListError {
    path: PathBuf,
    #[source]
    problem: ListProblem,
}

#[derive(Debug, thiserror::Error)]
enum ListProblem {
    #[error(transparent)]
    Io(io::Error),
    #[error("it is longer than {MAX_LIST_SIZE} bytes")]
    TooLong,
    #[error("line {line}: {}", error.message().lines().collect::<Vec<_>>().join(", "))]
    Toml { line: usize, error: toml::de::Error },
    #[error("two engines have the name `{0}`")]
    Twice(String),
    #[error("invalid environment variable `{}`", .0.escape_debug())]
    Variable(String),
}

/// A reply to `registration error`.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq)]
#[serde(try_from = "RegistrationEntry")]
pub struct Registration(Register<'static>);

/// A registration in the engine list: `"later"`, or a table.
#[derive(Deserialize)]
#[serde(untagged)]
enum RegistrationEntry {
    Text(String),
    Fields(RegistrationFields),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RegistrationFields {
    name: Option<String>,
    code: Option<String>,
}

const REGISTRATION_SYNTAX: &str = "a registration is `later`, or has a name and a code";

impl Registration {
    /// The arguments of the `register` command.
    pub fn register(&self) -> Register<'static> {
        self.0.clone()
    }

    fn checked(register: Register<'static>) -> Result<Self, String> {
        let mut line = String::new();
        let command = Command::Register(register);
        command
            .write(Dialect::Uci, &mut line)
            .map_err(|error| format!("{REGISTRATION_SYNTAX}: {error}"))?;
        match command {
            Command::Register(Register::With { name: None, code: None }) => {
                Err(REGISTRATION_SYNTAX.to_owned())
            }
            Command::Register(register) => Ok(Self(register)),
            _ => Err(REGISTRATION_SYNTAX.to_owned()),
        }
    }
}

impl FromStr for Registration {
    type Err = String;

    /// Parses the arguments of `register` in UCI: `later`, or `name NAME code CODE`.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let line = format!("register {text}");
        match Command::read(&line, Dialect::Uci).strict() {
            Ok(Command::Register(register)) => Self::checked(register.into_owned()),
            _ => Err("write `later`, or `name NAME code CODE`".to_owned()),
        }
    }
}

impl TryFrom<RegistrationEntry> for Registration {
    type Error = String;

    fn try_from(entry: RegistrationEntry) -> Result<Self, Self::Error> {
        match entry {
            RegistrationEntry::Text(text) if text == "later" => Ok(Self(Register::Later)),
            RegistrationEntry::Text(_) => Err(REGISTRATION_SYNTAX.to_owned()),
            RegistrationEntry::Fields(RegistrationFields { name, code }) => {
                let (name, code) = (name.map(Into::into), code.map(Into::into));
                Self::checked(Register::With { name, code })
            }
        }
    }
}

/// A timeout in seconds, set by the user.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq)]
#[serde(try_from = "f64")]
pub struct Timeout(Duration);

/// Default maximum silence during the handshake, in seconds. A single start of an engine may compete with other work of the
/// machine.
const START_SECONDS: u64 = 30;

/// The timeouts of an engine for which the user has set none.
pub(crate) fn default_timeouts() -> Timeouts {
    let default = Timeouts::default();
    let handshake = WaitLimit { silence: Duration::from_secs(START_SECONDS), ..default.handshake };
    Timeouts { handshake, ..default }
}

/// Maximum timeout in seconds: a day.
const MAX_TIMEOUT: f64 = 86_400.0;

impl Timeout {
    /// The timeout as a duration.
    pub fn duration(self) -> Duration {
        self.0
    }

    /// Client timeouts with this value for the handshake and for `isready`.
    pub fn timeouts(self) -> Timeouts {
        let limit = WaitLimit::fixed(self.0);
        Timeouts { handshake: limit, ready: limit, ..Timeouts::default() }
    }
}

impl TryFrom<f64> for Timeout {
    type Error = &'static str;

    fn try_from(seconds: f64) -> Result<Self, Self::Error> {
        let time = Duration::try_from_secs_f64(seconds).ok();
        let time = time.filter(|time| seconds <= MAX_TIMEOUT && 0 < time.as_millis());
        time.map(Self).ok_or("a timeout is a number of seconds from 0.001 to 86400")
    }
}

impl FromStr for Timeout {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::try_from(text.trim().parse().unwrap_or(f64::NAN))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_single_start_waits_for_half_a_minute() {
        let timeouts = default_timeouts();
        assert_eq!(timeouts.handshake.silence, Duration::from_secs(30));
        assert_eq!(timeouts.ready, Timeouts::default().ready);
    }
}
