//! Both sides of the Universal Chess Interface and the Universal Shogi Interface, without I/O.
//!
//! The crate converts between bytes and values. It reads no clock, pipe or file, has no rules of
//! the games, and does not panic on any input.
//!
//! ```text
//!   bytes ──> LineBuffer ──> Command::read / Reply::read ──> a value, and diagnostics
//!   bytes <─────────────── Command::write / Reply::write <── a value
//! ```
//!
//! Messages are written to any [`core::fmt::Write`], or to bytes with a [`ByteSink`].
//!
//! ```
//! use readyok_protocol::{Command, Dialect, DiagnosticKind, Go, Info, Reply, Score};
//!
//! // Read a command and a reply of UCI.
//! let command = Command::read("go depth 12 nodes 500000", Dialect::Uci).value;
//! assert_eq!(command, Command::Go(Go { nodes: Some(500_000), ..Go::depth(12) }));
//! let line = "info depth 12 score mate 3 pv e2e4 e7e5";
//! let Reply::Info(info) = Reply::read(line, Dialect::Uci).value else { panic!("not `info`") };
//! assert_eq!(info.score, Some(Score::MateIn { plies: 5 }));
//!
//! // Write the same score in USI, which counts plies instead of moves.
//! let mut line = String::new();
//! let reply = Reply::Info(Info { score: info.score, ..Info::default() });
//! reply.write(Dialect::Usi, &mut line)?;
//! assert_eq!(line, "info score mate 5");
//!
//! // Malformed lines are read, too, with diagnostics.
//! let reading = Command::read("go depth twelve movetime 100", Dialect::Usi);
//! assert_eq!(reading.diagnostics[0].kind, DiagnosticKind::NotANumber);
//! # Ok::<(), readyok_protocol::WriteError>(())
//! ```
//!
//! [`session`] contains the state machines of both sides, [`Observer`] checks recorded sessions.
//!
//! Examples in the directory `examples`:
//! - `format_commands`: formats the commands of a search in both protocols.
//! - `parse_log`: reads scores, variations and best moves from a log.
//! - `check_transcript`: reports malformed lines and protocol violations of a recorded session.
//!
//! Features:
//! - `serde`: `Serialize` and `Deserialize` for all messages and their values.
//! - `ts`: TypeScript declarations of scores with `ts-rs`; requires `std`.
//! - `translation`: reads the [translation file](translation) of an engine.
#![no_std]

extern crate alloc;
#[cfg(any(feature = "cli", feature = "ts"))]
#[macro_use]
extern crate std;

mod clock;
mod command;
mod diagnostic;
mod dialect;
mod language;
mod moves;
mod option;
mod parser;
mod position;
mod protocol_state;
mod reply;
mod rule;
mod score;
mod serializer;
pub mod session;
mod texts;
mod tokenizer;
pub mod translation;
#[doc = include_str!("uci_command.md")]
pub mod uci_command {}
mod observer;
mod win_model;

pub use crate::parser::Millis;
pub use crate::tokenizer::{LineBuffer, LineTooLong, decode};
pub use clock::{Clock, Clocks, Color, Convention};
pub use command::{
    Command, CommandError, GameResult, Go, Limitation, MateLimit, OptionName, Register, SetOption,
};
pub use diagnostic::{Diagnostic, DiagnosticKind, Parsed};
pub use dialect::{Dialect, MateUnit};
pub use language::Language;
pub use moves::{
    CastlingForm, Move, MoveError, MoveList, MoveListError, MoveShape, MoveToken, Square,
};
pub use observer::Observer;
pub use option::{
    KnownOption, Opponent, OpponentError, OpponentKind, OptionDecl, OptionError, OptionKind,
    OptionSet, OptionType, OptionValue, PathList, PathListError, PathSeparator, PositionValue,
    PositionValueError, SetBy, Title, UnknownOption,
};
pub use position::{Fen, Position, PositionError, PositionErrorKind, Root, Sfen};
pub use protocol_state::{Goal, Phase, ProtocolState};
pub use reply::{Best, BestMove, Checkmate, CurrentLine, Id, Info, Reply, Status};
pub use rule::{Party, Rule, RuleKind, Severity, Violation};
pub use score::{Bound, Score, Wdl};
pub use serializer::{ByteSink, WriteError};
pub use win_model::{GameStage, WinModel};
