//! Messages from an engine to its client.

mod bestmove;
mod info;

pub use bestmove::{Best, BestMove, Checkmate};
pub use info::{CurrentLine, Info};

use alloc::borrow::Cow;
use core::fmt;

use crate::Dialect;
use crate::diagnostic::{DiagnosticKind, Reading};
use crate::option::OptionDecl;
use crate::parser::{Reader, Start};
use crate::serializer::{self, WriteError};
use crate::{keywords, option};

/// A message from an engine to its client.
///
/// ```
/// use readyok_protocol::{Dialect, Reply, Score};
/// let reading = Reply::read("info depth 12 score cp 31 pv e2e4 e7e5", Dialect::Uci);
/// let Reply::Info(info) = reading.value else { panic!() };
/// assert_eq!((info.depth, info.score), (Some(12), Some(Score::Cp(31))));
/// assert_eq!(info.pv.unwrap().moves().count(), 2);
/// ```
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[expect(
    clippy::large_enum_variant,
    reason = "a box would cost `info`, the hot message, an allocation"
)]
pub enum Reply<'a> {
    /// `id …`: name or author of the engine.
    Id(Id<'a>),
    /// `option …`: the declaration of an option.
    Option(OptionDecl<'a>),
    /// `uciok` or `usiok`: the end of the handshake.
    UciOk,
    /// `readyok`: the answer to `isready`.
    ReadyOk,
    /// `bestmove …`: the end of a search.
    BestMove(BestMove<'a>),
    /// `checkmate …`: the end of a mate search (USI as deployed).
    Checkmate(Checkmate<'a>),
    /// `copyprotection …`.
    CopyProtection(Status),
    /// `registration …`.
    Registration(Status),
    /// `info …`.
    Info(Info<'a>),
    /// Any other line, without white space at its ends. Many engines print some.
    Unknown(Cow<'a, str>),
}

/// `id name …` and `id author …`.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Id<'a> {
    /// The name of the engine and its version.
    Name(Cow<'a, str>),
    /// The author.
    Author(Cow<'a, str>),
}

/// The state of `copyprotection` or `registration`.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Status {
    /// The check is running.
    Checking,
    /// The check succeeded.
    Ok,
    /// The engine is not registered, or the copy protection failed.
    Error,
}

#[derive(Clone, Copy)]
enum Kind {
    Id,
    Option,
    UciOk,
    ReadyOk,
    BestMove,
    Checkmate,
    CopyProtection,
    Registration,
    Info,
}

impl Kind {
    fn uci(token: &str) -> Option<Self> {
        if token == "uciok" { Some(Self::UciOk) } else { Self::any(token) }
    }

    fn usi(token: &str) -> Option<Self> {
        match token.as_bytes() {
            b"usiok" => Some(Self::UciOk),
            b"checkmate" => Some(Self::Checkmate),
            _ => Self::any(token),
        }
    }

    fn any(token: &str) -> Option<Self> {
        Some(match token.as_bytes() {
            b"info" => Self::Info,
            b"bestmove" => Self::BestMove,
            b"readyok" => Self::ReadyOk,
            b"option" => Self::Option,
            b"id" => Self::Id,
            b"copyprotection" => Self::CopyProtection,
            b"registration" => Self::Registration,
            _ => return None,
        })
    }
}

impl<'a> Reply<'a> {
    /// Reads one line. Never fails: unreadable parts are skipped or stored as text, with a
    /// diagnostic.
    ///
    /// Unknown tokens before the message are skipped only if the rest is well-formed: an engine's
    /// `Warning: bestmove e2e4 is illegal` ends no search.
    pub fn read(line: &'a str, dialect: Dialect) -> Reading<Self> {
        let mut reader = Reader::new(line, dialect);
        let known = match dialect {
            Dialect::Uci => Kind::uci,
            Dialect::Usi => Kind::usi,
        };
        let whole = reader.tokens.clone();
        match reader.start(known, keywords::is_command) {
            Start::Known(kind, skipped) => {
                let before = reader.count;
                // The value is constructed in place, because copies of it are slow.
                if let Some(value) = Self::read_kind(kind, &mut reader)
                    && (skipped == 0 || reader.count == before)
                {
                    return reader.done(value);
                }
            }
            Start::Unknown(Some(kind)) => reader.report(whole.rest(), kind),
            Start::Unknown(None) => (),
        }
        reader.done(Self::Unknown(Cow::Borrowed(whole.rest().text)))
    }

    /// Reads the arguments. `None` if a required part is missing.
    fn read_kind(kind: Kind, reader: &mut Reader<'a>) -> Option<Self> {
        let reply = match kind {
            Kind::UciOk => Self::UciOk,
            Kind::ReadyOk => Self::ReadyOk,
            Kind::CopyProtection => Self::CopyProtection(reader.choose(Status::from_token)?),
            Kind::Registration => Self::Registration(reader.choose(Status::from_token)?),
            Kind::Info => return Some(Self::Info(info::read(reader))),
            Kind::BestMove => return bestmove::read(reader).map(Self::BestMove),
            Kind::Checkmate => return bestmove::read_checkmate(reader).map(Self::Checkmate),
            Kind::Option => return option::decl::read(reader).map(Self::Option),
            Kind::Id => return Id::read(reader).map(Self::Id),
        };
        reader.expect_end();
        Some(reply)
    }

    /// Writes the line, without a line end.
    ///
    /// # Errors
    /// A text in the reply would break the line or be read differently, or the dialect has no such
    /// reply: nothing was written. Or the sink failed.
    pub fn write(
        &self,
        dialect: Dialect,
        out: &mut (impl fmt::Write + ?Sized),
    ) -> Result<(), WriteError> {
        match self {
            Self::Id(id) => id.write(out)?,
            Self::Option(decl) => decl.write(out)?,
            Self::UciOk => out.write_str(dialect.handshake_ok())?,
            Self::ReadyOk => out.write_str("readyok")?,
            Self::BestMove(it) => it.write(dialect, out)?,
            Self::Checkmate(it) => it.write(dialect, out)?,
            Self::CopyProtection(status) => {
                out.write_str("copyprotection ")?;
                out.write_str(status.keyword())?;
            }
            Self::Registration(status) => {
                out.write_str("registration ")?;
                out.write_str(status.keyword())?;
            }
            Self::Info(info) => info.write(dialect, out)?,
            Self::Unknown(text) => {
                serializer::check_line("reply", text)?;
                if Reply::read(text, dialect).value != *self {
                    return Err(WriteError::Misread { field: "unknown reply" });
                }
                out.write_str(text)?;
            }
        }
        Ok(())
    }

    /// The same reply without borrows.
    pub fn into_owned(self) -> Reply<'static> {
        match self {
            Self::Id(id) => Reply::Id(id.into_owned()),
            Self::Option(decl) => Reply::Option(decl.into_owned()),
            Self::UciOk => Reply::UciOk,
            Self::ReadyOk => Reply::ReadyOk,
            Self::BestMove(it) => Reply::BestMove(it.into_owned()),
            Self::Checkmate(it) => Reply::Checkmate(it.into_owned()),
            Self::CopyProtection(status) => Reply::CopyProtection(status),
            Self::Registration(status) => Reply::Registration(status),
            Self::Info(info) => Reply::Info(info.into_owned()),
            Self::Unknown(text) => Reply::Unknown(Cow::Owned(text.into_owned())),
        }
    }
}

impl Status {
    /// The keyword.
    pub const fn keyword(self) -> &'static str {
        match self {
            Self::Checking => "checking",
            Self::Ok => "ok",
            Self::Error => "error",
        }
    }

    fn from_token(token: &str) -> Option<Self> {
        [Self::Checking, Self::Ok, Self::Error].into_iter().find(|it| it.keyword() == token)
    }
}

impl<'a> Id<'a> {
    fn read(reader: &mut Reader<'a>) -> Option<Self> {
        let key = reader.tokens.next();
        let text = reader.tokens.rest();
        let id = match key.map(|key| key.text) {
            Some(it) if it.eq_ignore_ascii_case("name") => Self::Name(Cow::Borrowed(text.text)),
            Some(it) if it.eq_ignore_ascii_case("author") => Self::Author(Cow::Borrowed(text.text)),
            _ => {
                match key {
                    Some(key) => reader.report(key, DiagnosticKind::UnknownToken),
                    None => reader.report_missing(DiagnosticKind::Missing),
                }
                return None;
            }
        };
        if let Some(key) = key.filter(|key| !matches!(key.text, "name" | "author")) {
            reader.report(key, DiagnosticKind::WrongCase);
        }
        if text.text.is_empty() {
            reader.report_missing(DiagnosticKind::Missing);
            return None;
        }
        Some(id)
    }

    fn write(&self, out: &mut (impl fmt::Write + ?Sized)) -> Result<(), WriteError> {
        let (key, text) = match self {
            Self::Name(text) => ("id name ", text),
            Self::Author(text) => ("id author ", text),
        };
        serializer::check_text("id", text, &[])?;
        out.write_str(key)?;
        out.write_str(text)?;
        Ok(())
    }

    /// The same value without borrows.
    pub fn into_owned(self) -> Id<'static> {
        match self {
            Self::Name(text) => Id::Name(Cow::Owned(text.into_owned())),
            Self::Author(text) => Id::Author(Cow::Owned(text.into_owned())),
        }
    }
}
