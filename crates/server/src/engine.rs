//! Registered engines, their processes and logs.

mod describe;
mod failure;
mod info_accumulator;
mod learned;
mod log;
mod process;
mod registry;

pub(crate) use describe::default_of;
pub(crate) use failure::{engine_failure, option_error};
pub(crate) use log::{Log, printable};
pub(crate) use process::{
    EngineCommand, EngineEvent, EngineFailure, EngineInfo, Process, Reporter, SearchKind,
    SearchSpec, Start, answer, start,
};
pub(crate) use registry::{BUILT_IN, Entry, RegisteredEngine, Registry, is_program, not_a_program};
