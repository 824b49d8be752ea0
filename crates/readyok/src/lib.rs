//! The `readyok` command line as a library, for tests.
#![forbid(unsafe_code)]
#![expect(missing_docs, reason = "the library of a program")]

pub mod address;
pub mod analyse;
mod annotate;
mod bot;
mod browser;
pub mod cli;
mod clock;
mod connect;
mod convert;
mod csa;
pub mod dirs;
pub mod exit;
mod farm;
mod http;
mod library;
mod lines;
pub mod matches;
pub mod options;
mod play;
mod player;
mod progress_file;
mod provide;
mod secrets;
mod settings;
pub mod tap;
pub mod terminal;
