//! Which engine is meant by what the user wrote.

mod list;

use std::collections::BTreeMap;
use std::error::Error;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::{self, Path, PathBuf};

use readyok_protocol::Dialect;

pub use list::{EngineList, Entry, ListError, Protocol, Value};

use crate::dirs::Env;
use crate::registration::Registration;
use crate::timeout::Timeout;

/// How to reach an engine, and what the user has settled about it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Address {
    /// Where it is.
    pub reach: Reach,
    /// The protocol to speak. `None` if the user has not said.
    pub dialect: Option<Dialect>,
    /// Options to set, with their values.
    pub options: Vec<(String, String)>,
    /// How long to wait for the handshake and for `readyok`. `None` for the defaults.
    pub timeout: Option<Timeout>,
    /// The answer to `registration error`. `None` for `later`.
    pub registration: Option<Registration>,
}

/// Where an engine is.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Reach {
    /// In this program.
    Narikin,
    /// In a program of its own.
    Program {
        /// Its file.
        file: PathBuf,
        /// Its arguments.
        arguments: Vec<String>,
        /// Its working directory. `None` for the one where engines expect to be.
        directory: Option<PathBuf>,
        /// Variables of its environment, beside those of its caller.
        environment: BTreeMap<String, String>,
    },
    /// Behind a TCP connection: `host:port`.
    Tcp(String),
}

impl Address {
    /// Finds the engine that is meant by `text`: a name from the user's engine list, `narikin`,
    /// `tcp://host:port`, the path of a program or its name in `PATH`, or a command line in the
    /// quoting of a shell. The first of these that fits counts.
    ///
    /// # Errors
    /// None of them fits, or the engine list is broken.
    pub fn find(text: &str, env: Env<'_>) -> Result<Self, AddressError> {
        let mut search = Search { text, env, tried: Vec::new() };
        let list = EngineList::path(env);
        let listed = match &list {
            Some(path) => EngineList::read(path).map_err(AddressError::List)?.take(text),
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

impl From<Reach> for Address {
    fn from(reach: Reach) -> Self {
        Self { reach, dialect: None, options: Vec::new(), timeout: None, registration: None }
    }
}

/// Looks in one place after another.
struct Search<'a> {
    text: &'a str,
    env: Env<'a>,
    tried: Vec<Tried>,
}

impl Search<'_> {
    /// An entry of the list at `path`. Relative paths in it count from its folder.
    fn entry(mut self, entry: Entry, list: &Path) -> Result<Address, AddressError> {
        let folder = list.parent().unwrap_or_else(|| Path::new(""));
        let reach = match built_in_or_remote(&entry.command)? {
            Some(reach) => reach,
            None => Reach::Program {
                file: self.program(&entry.command, folder).ok_or_else(|| self.not_found())?,
                arguments: entry.args,
                directory: entry.cwd.map(|cwd| folder.join(cwd)),
                environment: entry.env,
            },
        };
        let dialect = entry.protocol.map(Dialect::from);
        let options = entry.options.into_iter();
        let options = options.map(|(name, value)| (name, value.into_text())).collect();
        let (timeout, registration) = (entry.timeout, entry.register);
        Ok(Address { reach, dialect, options, timeout, registration })
    }

    fn unlisted(mut self) -> Result<Reach, AddressError> {
        if let Some(reach) = built_in_or_remote(self.text)? {
            return Ok(reach);
        }
        let program = |file, arguments| Reach::Program {
            file,
            arguments,
            directory: None,
            environment: BTreeMap::new(),
        };
        if let Some(file) = self.program(self.text, Path::new("")) {
            return Ok(program(file, Vec::new()));
        }
        let words = shlex::split(self.text)
            .ok_or_else(|| AddressError::Quoting { text: self.text.to_owned() })?;
        let found = match words.split_first() {
            Some((first, rest)) if first != self.text => {
                self.program(first, Path::new("")).map(|file| program(file, rest.to_vec()))
            }
            Some(_) | None => None,
        };
        found.ok_or_else(|| self.not_found())
    }

    /// The file of a program: a path if there is a separator in it, a name in `PATH` otherwise.
    fn program(&mut self, text: &str, folder: &Path) -> Option<PathBuf> {
        if text.contains(path::is_separator) {
            let file = folder.join(text);
            // Engines run in their own folders, where a relative path would mean something else.
            let file = path::absolute(&file).unwrap_or(file);
            if is_program(&file) {
                return Some(file);
            }
            self.tried.push(Tried::File { exists: file.exists(), file });
            return None;
        }
        let dirs = (self.env)("PATH").unwrap_or_default();
        let found = in_path(text, &dirs);
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

fn built_in_or_remote(text: &str) -> Result<Option<Reach>, AddressError> {
    if text == "narikin" {
        return Ok(Some(Reach::Narikin));
    }
    let Some(address) = text.strip_prefix("tcp://") else { return Ok(None) };
    match address.rsplit_once(':') {
        Some((host, port)) if !host.is_empty() && port.parse::<u16>().is_ok() => {
            Ok(Some(Reach::Tcp(address.to_owned())))
        }
        _ => Err(AddressError::Tcp { text: text.to_owned() }),
    }
}

pub(crate) fn in_path(name: &str, dirs: &OsStr) -> Option<PathBuf> {
    if name.is_empty() {
        return None;
    }
    let name = OsString::from(name);
    let mut with_suffix = name.clone();
    with_suffix.push(std::env::consts::EXE_SUFFIX);
    std::env::split_paths(dirs)
        .flat_map(|dir| [dir.join(&name), dir.join(&with_suffix)])
        .find(|file| is_program(file))
}

fn is_program(file: &Path) -> bool {
    let Ok(about) = file.metadata() else { return false };
    #[cfg(unix)]
    let may_run = std::os::unix::fs::PermissionsExt::mode(&about.permissions()) & 0o111 != 0;
    #[cfg(not(unix))]
    let may_run = true;
    about.is_file() && may_run
}

/// Why there is no engine.
#[derive(Debug)]
pub enum AddressError {
    /// Nothing of this name is anywhere.
    NotFound {
        /// What the user wrote.
        text: String,
        /// Where it was looked for.
        tried: Vec<Tried>,
    },
    /// A quotation mark has no partner.
    Quoting {
        /// What the user wrote.
        text: String,
    },
    /// `tcp://` is not followed by a host and a port.
    Tcp {
        /// What the user wrote.
        text: String,
    },
    /// The engine list cannot be used.
    List(ListError),
}

/// A place where an engine was looked for.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Tried {
    /// The user's engine list. `None` if there is no folder where it could be.
    List(Option<PathBuf>),
    /// A file.
    File {
        /// Its path.
        file: PathBuf,
        /// It is there, and cannot be run.
        exists: bool,
    },
    /// A name in the folders of `PATH`.
    Path(String),
}

impl fmt::Display for AddressError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotFound { text, tried } => {
                write!(f, "no engine `{text}`: it is not `narikin`")?;
                tried.iter().try_for_each(|tried| write!(f, ", {tried}"))
            }
            Self::Quoting { text } => write!(f, "no command line `{text}`: a quote is not closed"),
            Self::Tcp { text } => write!(f, "no address `{text}`: it has the form tcp://host:port"),
            Self::List(error) => error.fmt(f),
        }
    }
}

impl Error for AddressError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::List(error) => error.source(),
            Self::NotFound { .. } | Self::Quoting { .. } | Self::Tcp { .. } => None,
        }
    }
}

impl fmt::Display for Tried {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::List(Some(path)) => write!(f, "not listed in `{}`", path.display()),
            Self::List(None) => f.write_str("there is no folder for a list of engines"),
            Self::File { file, exists: false } => {
                write!(f, "there is no file `{}`", file.display())
            }
            Self::File { file, exists: true } => {
                write!(f, "`{}` is not a program that may be run", file.display())
            }
            Self::Path(name) => write!(f, "there is no program `{name}` in PATH"),
        }
    }
}
