//! Registered engines, their processes and logs.

mod info_accumulator;
mod log;
mod options;
mod process;
mod registry;

pub(crate) use log::{Log, printable};
pub(crate) use options::default_of;
pub(crate) use process::{
    EngineCommand, EngineEvent, EngineFailure, EngineInfo, Process, Reporter, SearchKind,
    SearchSpec, Start, answer, start,
};
pub(crate) use registry::{BUILT_IN, Entry, RegisteredEngine, Registry, is_program, not_a_program};
