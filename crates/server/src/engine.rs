//! Registered engines, their processes and logs.

pub(crate) mod discovery;
mod info_accumulator;
pub(crate) mod lists;
mod log;
pub(crate) mod machine;
mod options;
mod process;
mod registry;

pub(crate) use log::{Log, printable};
pub(crate) use options::{default_of, options};
pub(crate) use process::{
    EngineCommand, EngineEvent, EngineFailure, EngineInfo, Found, Process, SearchKind, SearchSpec,
    Start, start,
};
pub(crate) use registry::{BUILT_IN, EngineConfig, RegisteredEngine, Registry, not_a_program};
