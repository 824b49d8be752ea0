//! The command line of fastchess and the text that it prints, for scripts that speak it.
//!
//! Facts about both are from its manual (`man.md`, alpha 1.8.2). What fastchess can do and a
//! [`Plan`](crate::plan::Plan) can say is read into one; what is only about the machine and the
//! output is in [`Options`]. [`Printer`] follows a match and prints what
//! fastchess would.

mod checksum;
mod engine;
mod error;
mod failures;
mod flags;
mod limit;
mod log;
mod options;
mod parse;
mod printer;
mod standing;
pub mod text;
mod values;
mod voice;

pub use error::ArgumentError;
pub use log::{Level, Logger};
pub use options::{EpdOut, Log, Options, OutputFormat, PgnNotation, PgnOut, Resume};
pub use parse::{Invocation, Request, parse};
pub use printer::Printer;
