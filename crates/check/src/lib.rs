//! Whether an engine keeps to UCI or USI: an executable specification of both protocols.
//!
//! Each [`Check`] is a rule with the place where it stands, how much it matters, and a test: a
//! conversation of its own with a fresh engine, or an ear on all conversations. A [`Suite`] runs them
//! and gives a [`Report`]; what to change is said for every failure, with a dialogue that shows it.
//!
//! From the tests of an engine, for one that runs in the same program:
//!
//! ```
//! use readyok_check::{Target, Suite};
//!
//! let engine = Target::in_process("narikin", |input, output| {
//!     let _ = narikin::runner().map(|it| it.run(input, output));
//! });
//! let report = Suite::new(engine).only(["handshake."]).run()?;
//! assert!(report.conforms(), "{report}");
//! # Ok::<(), readyok_check::TargetError>(())
//! ```
//!
//! Rules about the order of messages are not written here: they are those of
//! [`ProtocolState`](readyok_protocol::ProtocolState). Neither are those about the form of lines, which are the
//! notes of [`Reply::read`](readyok_protocol::Reply::read).
#![forbid(unsafe_code)]

mod catalog;
mod checks;
mod clock;
mod context;
mod excerpt;
mod format;
mod message;
mod mock_engine;
mod report;
mod result;
mod session;
mod settings;
mod spec;
mod suite;
mod target;
mod test;
mod timeouts;
mod transcript;
mod usage;

pub use checks::all;
pub use excerpt::Input;
pub use message::Message;
pub use mock_engine::{ClientSuite, all as all_of_clients, serve_as_mock_engine};
pub use report::{list_json, list_markdown, list_text};
pub use result::{CheckResult, Report, TargetError, Verdict};
pub use settings::Progress;
pub use spec::{Check, Clause, Need, Profile, Severity};
pub use suite::Suite;
pub use target::Target;
pub use timeouts::Timeouts;

/// The code of the page about this crate, as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
