//! Whether an engine keeps to UCI or USI: an executable specification of both protocols.
//!
//! Each [`Check`] is a rule with the place where it stands, how much it matters, and a test: a
//! conversation of its own with a fresh engine, or an ear on all conversations. A [`Suite`] runs them
//! and gives a [`Report`]; what to change is said for every failure, with a dialogue that shows it.
//!
//! From the tests of an engine, for one that runs in the same program:
//!
//! ```
//! use readyok_check::{Subject, Suite};
//!
//! let engine = Subject::in_process("narikin", |input, output| {
//!     let _ = narikin::runner().map(|it| it.run(input, output));
//! });
//! let report = Suite::new(engine).only(["handshake."]).run()?;
//! assert!(report.conforms(), "{report}");
//! # Ok::<(), readyok_check::NoSubject>(())
//! ```
//!
//! Rules about the order of messages are not written here: they are those of
//! [`ProtocolState`](readyok_protocol::ProtocolState). Neither are those about the form of lines, which are the
//! notes of [`Reply::read`](readyok_protocol::Reply::read).
#![forbid(unsafe_code)]

mod bench;
mod catalog;
mod check;
mod checks;
mod connection;
mod conversation;
mod excerpt;
mod illegal;
mod listing;
mod message;
mod pace;
mod partner;
mod progress;
mod report;
mod settings;
mod subject;
mod suite;
mod talk;
mod time;
mod usage;
mod words;

pub use check::{Check, Clause, Need, Profile, Severity, Verdict};
pub use checks::all;
pub use excerpt::Input;
pub use listing::{json as list_json, page, text as list_text};
pub use message::Message;
pub use pace::Pace;
pub use partner::{ClientSuite, all as all_of_clients, serve_if_asked};
pub use progress::Progress;
pub use subject::Subject;
pub use suite::{CheckResult, NoSubject, Report, Suite};

/// The code of the page about this crate, as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
