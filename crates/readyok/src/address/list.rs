//! The user's engine list, `engines.toml`.

use std::collections::{BTreeMap, HashSet};
use std::error::Error;
use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use readyok_protocol::Dialect;
use serde::Deserialize;

use crate::dirs::{self, Env};
use crate::registration::Registration;
use crate::timeout::Timeout;

/// No list of engines is longer than this, in bytes.
const LONGEST: u64 = 1 << 20;

/// The engines that a user has named.
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

/// One engine of the list.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// What the user calls it. Case matters.
    pub name: String,
    /// A path, a program in `PATH`, `tcp://host:port` or `narikin`.
    pub command: String,
    /// The arguments of the program.
    #[serde(default)]
    pub args: Vec<String>,
    /// The working directory of the program.
    pub cwd: Option<PathBuf>,
    /// Variables of the program's environment, beside those of its caller.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// The protocol to speak.
    pub protocol: Option<Protocol>,
    /// Options to set at the start.
    #[serde(default)]
    pub options: BTreeMap<String, Value>,
    /// How long to wait for the handshake and for `readyok`, in seconds.
    pub timeout: Option<Timeout>,
    /// The answer to `registration error`.
    pub register: Option<Registration>,
}

/// A protocol by its name.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Protocol {
    /// The Universal Chess Interface
    Uci,
    /// The Universal Shogi Interface
    Usi,
}

/// The value of an option.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub enum Value {
    /// Of a check option.
    Check(bool),
    /// Of a spin option.
    Spin(i64),
    /// Of any option.
    Text(String),
}

impl From<Protocol> for Dialect {
    fn from(protocol: Protocol) -> Self {
        match protocol {
            Protocol::Uci => Self::Uci,
            Protocol::Usi => Self::Usi,
        }
    }
}

impl Value {
    /// As `setoption` carries it.
    pub(super) fn into_text(self) -> String {
        match self {
            Self::Check(on) => on.to_string(),
            Self::Spin(number) => number.to_string(),
            Self::Text(text) => text,
        }
    }
}

impl EngineList {
    /// Where the list is: `engines.toml` in the folder of the user's settings.
    pub fn path(env: Env<'_>) -> Option<PathBuf> {
        dirs::config(env).map(|dir| dir.join("engines.toml"))
    }

    /// Reads a list. A file that does not exist is an empty list.
    ///
    /// # Errors
    /// The file cannot be read, or is no list of engines.
    pub fn read(path: &Path) -> Result<Self, ListError> {
        let failed = |fault| ListError { path: path.to_owned(), fault };
        let mut text = String::new();
        match File::open(path).and_then(|file| file.take(LONGEST + 1).read_to_string(&mut text)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Self::default()),
            Err(error) => return Err(failed(Fault::Io(error))),
            Ok(length) if LONGEST < length as u64 => return Err(failed(Fault::TooLong)),
            Ok(_) => (),
        }
        let list: Self = toml::from_str(&text).map_err(|error| {
            let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
            failed(Fault::Toml { line: 1 + before.matches('\n').count(), error })
        })?;
        for entry in &list.engine {
            if let Some((name, _)) =
                entry.env.iter().find(|(name, value)| !is_variable(name, value))
            {
                return Err(failed(Fault::Variable(name.clone())));
            }
        }
        let mut names = HashSet::new();
        match list.engine.iter().find(|entry| !names.insert(&entry.name)) {
            Some(entry) => Err(failed(Fault::Twice(entry.name.clone()))),
            None => Ok(list),
        }
    }

    /// The engine of this name.
    pub fn take(self, name: &str) -> Option<Entry> {
        self.engine.into_iter().find(|entry| entry.name == name)
    }
}

/// Whether a program can be given a variable of its environment.
fn is_variable(name: &str, value: &str) -> bool {
    !name.is_empty() && !name.contains(['=', '\0']) && !value.contains('\0')
}

/// An engine list that cannot be used.
#[derive(Debug)]
pub struct ListError {
    path: PathBuf,
    fault: Fault,
}

#[derive(Debug)]
enum Fault {
    Io(io::Error),
    TooLong,
    Toml { line: usize, error: toml::de::Error },
    Twice(String),
    Variable(String),
}

impl fmt::Display for ListError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot use the engine list `{}`: ", self.path.display())?;
        match &self.fault {
            Fault::Io(error) => error.fmt(f),
            Fault::TooLong => write!(f, "it is longer than {LONGEST} bytes"),
            Fault::Toml { line, error } => {
                let message: Vec<_> = error.message().lines().collect();
                write!(f, "line {line}: {}", message.join(", "))
            }
            Fault::Twice(name) => write!(f, "two engines have the name `{name}`"),
            Fault::Variable(name) => {
                write!(f, "`{}` cannot be a variable of an environment", name.escape_debug())
            }
        }
    }
}

impl Error for ListError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match &self.fault {
            Fault::Io(error) => Some(error),
            Fault::Toml { error, .. } => Some(error),
            Fault::TooLong | Fault::Twice(_) | Fault::Variable(_) => None,
        }
    }
}
