//! Compatibility with fastchess: its command line and the output that scripts parse.
//!
//! The reference is the manual of fastchess (`man.md`, alpha 1.8.2). [`parse()`] reads a command line
//! into a [`Plan`](crate::plan::Plan) and [`Options`] about the host and the output. [`Printer`]
//! prints the output of fastchess from the events of a match.

mod arguments;
mod options;
mod parse;
mod printer;
pub mod text;

pub use crate::fastchess::options::{Level, Log, Logger};
pub use arguments::ArgumentError;
pub use options::{EpdOut, Options, OutputFormat, PgnOut, Resume};
pub use parse::{Invocation, Request, parse};
pub use printer::Printer;
