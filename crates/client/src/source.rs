//! Where a client finds an engine.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Command;

/// The source of an engine.
#[derive(Clone, Debug, Eq, PartialEq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Deserialize, serde::Serialize),
    serde(tag = "kind", rename_all = "snake_case")
)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub enum EngineSource {
    /// A process.
    Program(EngineProgram),
    /// A TCP connection.
    Tcp {
        /// `host:port`
        address: String,
    },
    /// The engine that the client contains.
    BuiltIn,
}

/// A program that is an engine.
#[derive(Clone, Debug, Eq, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize, serde::Serialize))]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct EngineProgram {
    /// The absolute path.
    pub path: PathBuf,
    /// The arguments, which no shell expands.
    #[cfg_attr(feature = "serde", serde(default))]
    pub args: Vec<String>,
    /// The working directory; none for the directory of the program.
    pub dir: Option<PathBuf>,
    /// Environment variables in addition to the inherited ones.
    #[cfg_attr(feature = "serde", serde(default))]
    pub env: BTreeMap<String, String>,
}

impl EngineProgram {
    /// A program that starts in its default directory.
    pub fn new(path: impl Into<PathBuf>, args: impl IntoIterator<Item = impl AsRef<str>>) -> Self {
        let args = args.into_iter().map(|arg| arg.as_ref().to_owned()).collect();
        Self { path: path.into(), args, dir: None, env: BTreeMap::new() }
    }

    /// The command that starts it.
    pub fn command(&self) -> Command {
        let mut command = Command::new(&self.path);
        command.args(&self.args).envs(&self.env);
        if let Some(dir) = &self.dir {
            command.current_dir(dir);
        }
        command
    }
}
