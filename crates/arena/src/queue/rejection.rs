//! Why a worker does not play a match.

use std::{error, fmt};

use serde::{Deserialize, Serialize};

use crate::store::ContentHash;

/// Why a match is not played by a worker.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Rejection {
    /// The order does not say what a program contains.
    UnknownContent {
        /// As the plan names it.
        command: String,
    },
    /// A program is not allowed.
    NotAllowed {
        /// As the plan names it.
        command: String,
        /// What it contains.
        content: ContentHash,
    },
    /// A program would be given an environment, which could have it run another one.
    Environment {
        /// As the plan names it.
        command: String,
    },
    /// A program would be given other arguments than its owner has named.
    Arguments {
        /// As the plan names it.
        command: String,
        /// What it would be given.
        args: Vec<String>,
    },
    /// An option would be given a text that could name a file.
    Option {
        /// The name of the engine in the plan.
        engine: String,
        /// The option.
        option: String,
    },
    /// A program or a file of the order could not be fetched.
    NotFetched {
        /// Why not.
        why: String,
    },
    /// Something is not on the worker's machine that the match needs beside its engines.
    MissingResource {
        /// What is wrong.
        why: String,
    },
    /// An engine does not work on the worker's machine.
    Engine(NoStart),
}

/// An engine that does not work on a machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NoStart {
    /// Its name in the plan.
    pub engine: String,
    /// What happened, as of an engine: `does not start (no such file)`.
    pub why: String,
}

impl fmt::Display for Rejection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownContent { command } => {
                write!(f, "it does not say what the program `{command}` contains")
            }
            Self::NotAllowed { command, content } => {
                write!(f, "the program `{command}` with the content {content} is not allowed here")
            }
            Self::Environment { command } => {
                write!(f, "an environment for the program `{command}` is not allowed here")
            }
            Self::Arguments { command, args } => {
                let args = args.join(" ");
                write!(f, "the program `{command}` with the arguments `{args}` is not allowed here")
            }
            Self::Option { engine, option } => {
                write!(
                    f,
                    "the option `{option}` of the engine `{engine}` could name a file, which is not allowed here"
                )
            }
            Self::NotFetched { why } | Self::MissingResource { why } => f.write_str(why),
            Self::Engine(no_start) => no_start.fmt(f),
        }
    }
}

impl fmt::Display for NoStart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the engine `{}` {}", self.engine, self.why)
    }
}

impl error::Error for Rejection {}

impl From<NoStart> for Rejection {
    fn from(no_start: NoStart) -> Self {
        Self::Engine(no_start)
    }
}
