//! Engines: what is registered, the processes, what they say.

mod describe;
mod failure;
mod learned;
mod log;
mod process;
mod registry;
mod told;

pub(crate) use describe::default_of;
pub(crate) use failure::{exited, fault, option_problem};
pub(crate) use log::{Log, printable};
pub(crate) use process::{
    Death, Job, News, Order, Process, Purpose, Reporter, Start, spoken, start,
};
pub(crate) use registry::{BUILT_IN, Entry, Registered, Registry, is_program, not_a_program};
