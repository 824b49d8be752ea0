//! The command line of fastchess and the text that it prints, for scripts that speak it.
//!
//! Facts about both are from its manual (`man.md`, alpha 1.8.2). What fastchess can do and a
//! [`Plan`](crate::plan::Plan) can say is read into one; what is only about the machine and the
//! output is in [`Options`]. Nothing here plays or prints.

mod engine;
mod error;
mod flags;
mod options;
mod parse;
pub mod text;
mod values;

pub use error::ArgumentError;
pub use options::{EpdOut, Log, Options, OutputFormat, PgnNotation, PgnOut, Resume};
pub use parse::{Invocation, Request, parse};
