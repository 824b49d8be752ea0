//! The command line of the project, as a library: what each command does.
#![forbid(unsafe_code)]

pub mod address;
pub mod analyse;
mod browser;
pub mod canvas;
pub mod cli;
mod clock;
mod connect;
pub mod dirs;
pub mod exit;
mod guardian;
pub mod matches;
pub mod messages;
pub mod options;
pub mod registration;
pub mod signals;
pub mod tap;
pub mod text;
pub mod timeout;
