//! Conformance checks for UCI and USI engines and clients: an executable specification.
//!
//! Each [`Check`] is a rule with its clauses, its severity, and a test: a session with a new engine, or
//! an observer of all sessions. A [`Suite`] runs the checks and returns a [`Report`]. Each failure has
//! an advice and the transcript that reproduces it.
//!
//! In the tests of an engine that runs in the same process:
//!
//! ```
//! use readyok_check::{Target, Suite};
//!
//! let engine = Target::in_process("narikin", |input, output| {
//!     let _ = narikin::runner().map(|runner| runner.run(input, output));
//! });
//! let report = Suite::new(engine).only(["handshake."]).run()?;
//! assert!(report.conforms(), "{report}");
//! # Ok::<(), readyok_check::TargetError>(())
//! ```
//!
//! Rules about the order of messages are those of
//! [`ProtocolState`](readyok_protocol::ProtocolState), rules about the form of lines are the diagnostics
//! of [`Reply::read`](readyok_protocol::Reply::read).
#![forbid(unsafe_code)]

mod alteration;
mod cancellation;
mod capabilities;
mod causes;
mod change;
mod checks;
mod context;
mod delay;
mod error_lines;
mod format;
mod message;
mod mock_engine;
mod replay;
mod report;
mod session;
mod spec;
mod suite;
mod target;
mod timeouts;
mod transcript;
mod wait_error;

pub use crate::spec::{CheckResult, Repair, Report, TargetError, Verdict};
pub use crate::suite::Progress;
pub use crate::transcript::Input;
pub use cancellation::Cancellation;
pub use causes::Cause;
pub use checks::{Grade, GradeResult, all};
pub use message::Message;
pub use mock_engine::{ClientSuite, all as all_of_clients, serve_as_mock_engine};
pub use readyok_client::EngineProgram;
pub use report::{list_json, list_markdown, list_table, list_text};
pub use spec::{Check, Clause, Level, Need, Profile, Severity};
pub use suite::Suite;
pub use target::Target;
pub use timeouts::Timeouts;

/// Doctests of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
