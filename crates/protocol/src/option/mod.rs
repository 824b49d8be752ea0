//! Options: what an engine declares, and what it is told.

pub(crate) mod decl;
mod set;
mod value;

pub use decl::{OptionDecl, OptionKind};
pub use set::{OptionSet, UnknownOption};
pub use value::{OptionError, OptionValue};
