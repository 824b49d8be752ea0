//! Messages from an engine to its client.

pub(crate) mod info;

use alloc::borrow::Cow;
use alloc::vec::Vec;
use core::fmt;

pub use crate::reply::info::{CurrentLine, Info};

use crate::diagnostic::{DiagnosticKind, Parsed};
use crate::moves::{Move, MoveList};
use crate::option::OptionDecl;
use crate::parser::{MessageReader, Start, in_any_case};
use crate::serializer::WriteError;
use crate::{Dialect, dialect, option, parser, serializer};

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
enum ReplyKind {
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

impl ReplyKind {
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
    pub fn read(line: &'a str, dialect: Dialect) -> Parsed<Self> {
        let mut reader = MessageReader::new(line, dialect);
        let known = match dialect {
            Dialect::Uci => ReplyKind::uci,
            Dialect::Usi => ReplyKind::usi,
        };
        let whole = reader.tokens.clone();
        match reader.start(known, dialect::is_command) {
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
    fn read_kind(kind: ReplyKind, reader: &mut MessageReader<'a>) -> Option<Self> {
        let reply = match kind {
            ReplyKind::UciOk => Self::UciOk,
            ReplyKind::ReadyOk => Self::ReadyOk,
            ReplyKind::CopyProtection => Self::CopyProtection(reader.choose(Status::from_token)?),
            ReplyKind::Registration => Self::Registration(reader.choose(Status::from_token)?),
            ReplyKind::Info => return Some(Self::Info(info::read(reader))),
            ReplyKind::BestMove => return Some(Self::BestMove(read(reader))),
            ReplyKind::Checkmate => return read_checkmate(reader).map(Self::Checkmate),
            ReplyKind::Option => return option::decl::read(reader).map(Self::Option),
            ReplyKind::Id => return Id::read(reader).map(Self::Id),
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
        [Self::Checking, Self::Ok, Self::Error].into_iter().find(|status| status.keyword() == token)
    }
}

impl<'a> Id<'a> {
    fn read(reader: &mut MessageReader<'a>) -> Option<Self> {
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

/// `bestmove <move> [ponder <move>]`.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct BestMove<'a> {
    /// The move.
    pub best: Best<'a>,
    /// The move to ponder on. The null move is equivalent to `None` and is not written. A token that is not
    /// a move is stored in `unknown`, after `ponder`.
    pub ponder: Option<Move>,
    /// Unknown tokens in their order, and `ponder` with a token that is not a move.
    pub unknown: Vec<Cow<'a, str>>,
}

/// The answer of a `bestmove`.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Best<'a> {
    /// A move as sent. Some engines without a legal move send `0000` or `a1a1`;
    /// [`to_move`](Self::to_move) recognizes them.
    Move(Move),
    /// There is no legal move: `(none)`, also spelled `NULL`, `null` and `none`.
    None,
    /// The engine resigns (USI).
    Resign,
    /// The engine declares a win by entering king (USI).
    Win,
    /// Any other token as sent, such as `pass`, which neither protocol has. Empty for `bestmove` without a move, which ends
    /// the search, too.
    Other(Cow<'a, str>),
}

/// `checkmate …`: the answer to `go mate` (USI as deployed).
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Checkmate<'a> {
    /// The mate, from the first to the last move.
    Moves(MoveList<'a>),
    /// No mate exists: `nomate`.
    NoMate,
    /// Timeout: `timeout`.
    Timeout,
    /// The engine has no mate search: `notimplemented`.
    NotImplemented,
    /// The search failed for another reason: `none` (YaneuraOu).
    Unknown,
}

impl Best<'_> {
    /// The meaning of a token. `None` if it is unknown.
    fn from_token(token: &str, dialect: Dialect) -> Option<Self> {
        match token {
            "resign" => Some(Self::Resign),
            "win" => Some(Self::Win),
            token if is_no_move(token) => Some(Self::None),
            token => Move::read_lenient(token, dialect).ok().map(Self::Move),
        }
    }

    /// The move, if it can be played. `None` for the null move and a move without effect (`a1a1`, in shogi
    /// also `5e5e`), which engines send if they have no legal move.
    pub fn to_move(&self) -> Option<Move> {
        match self {
            Self::Move(it) => Some(*it).filter(|mv| *mv != Move::NULL && !mv.goes_nowhere()),
            Self::None | Self::Resign | Self::Win | Self::Other(_) => None,
        }
    }

    fn keyword(&self, dialect: Dialect) -> &str {
        match self {
            Self::Move(it) => it.as_str(),
            Self::None => dialect.no_move(),
            Self::Resign => "resign",
            Self::Win => "win",
            Self::Other(token) => token,
        }
    }

    /// The same answer without borrows.
    pub fn into_owned(self) -> Best<'static> {
        match self {
            Self::Move(it) => Best::Move(it),
            Self::None => Best::None,
            Self::Resign => Best::Resign,
            Self::Win => Best::Win,
            Self::Other(token) => Best::Other(Cow::Owned(token.into_owned())),
        }
    }
}

impl BestMove<'_> {
    pub(super) fn write(
        &self,
        dialect: Dialect,
        out: &mut (impl fmt::Write + ?Sized),
    ) -> Result<(), WriteError> {
        match &self.best {
            Best::Move(it) => serializer::check_move(*it, dialect)?,
            Best::Other(token) if token.is_empty() => {
                if self.ponder.is_some() || !self.unknown.is_empty() {
                    return Err(WriteError::Misread { field: "best move" });
                }
                return out.write_str("bestmove").map_err(WriteError::from);
            }
            Best::Other(token) => {
                serializer::check_token("best move", token)?;
                if Best::from_token(token, dialect).is_some() {
                    return Err(WriteError::Misread { field: "best move" });
                }
            }
            Best::None | Best::Resign | Best::Win => (),
        }
        let is_value =
            |token: &str| is_no_move(token) || Move::read_lenient(token, dialect).is_ok();
        serializer::check_unknown_moves(&self.unknown, PONDER, is_ponder, is_value)?;
        // The null move means that no reply is expected.
        let ponder = self.ponder.filter(|mv| *mv != Move::NULL);
        if let Some(it) = ponder {
            serializer::check_move(it, dialect)?;
        }
        out.write_str("bestmove ")?;
        out.write_str(self.best.keyword(dialect))?;
        if let Some(ponder) = ponder {
            out.write_str(" ponder ")?;
            out.write_str(ponder.as_str())?;
        }
        serializer::unknown(&self.unknown, out)?;
        Ok(())
    }

    /// The same answer without borrows.
    pub fn into_owned(self) -> BestMove<'static> {
        BestMove {
            best: self.best.into_owned(),
            ponder: self.ponder,
            unknown: parser::into_owned(self.unknown),
        }
    }
}

impl From<Move> for BestMove<'_> {
    fn from(it: Move) -> Self {
        Best::Move(it).into()
    }
}

impl<'a> From<Best<'a>> for BestMove<'a> {
    fn from(best: Best<'a>) -> Self {
        Self { best, ponder: None, unknown: Vec::new() }
    }
}

impl From<Option<Move>> for BestMove<'_> {
    /// `None` means that no move is legal.
    fn from(it: Option<Move>) -> Self {
        it.map_or(Best::None, Best::Move).into()
    }
}

/// Reads the rest of `bestmove`.
pub(super) fn read<'a>(reader: &mut MessageReader<'a>) -> BestMove<'a> {
    let Some(token) = reader.tokens.next() else {
        reader.report_missing(DiagnosticKind::Missing);
        return Best::Other(Cow::Borrowed("")).into();
    };
    let best = Best::from_token(token.text, reader.dialect).unwrap_or_else(|| {
        reader.report(token, DiagnosticKind::NotAMove);
        Best::Other(Cow::Borrowed(token.text))
    });
    if matches!(best, Best::Move(it) if it.as_str() != token.text) {
        reader.report(token, DiagnosticKind::MoveRepaired);
    }
    let mut answer = BestMove::from(best);
    let mut has_ponder = false;
    while let Some(token) = reader.tokens.next() {
        if in_any_case(token.text, |token_text| is_ponder(token_text).then_some(())).is_none() {
            reader.report(token, DiagnosticKind::UnknownToken);
            answer.unknown.push(Cow::Borrowed(token.text));
            continue;
        }
        if !is_ponder(token.text) {
            reader.report(token, DiagnosticKind::WrongCase);
        }
        if has_ponder {
            reader.report(token, DiagnosticKind::Repeated);
        }
        has_ponder = true;
        read_ponder(reader, &mut answer);
    }
    answer
}

const PONDER: &str = "ponder";

fn is_ponder(token: &str) -> bool {
    token == PONDER
}

/// Reads the move after `ponder`.
fn read_ponder<'a>(reader: &mut MessageReader<'a>, answer: &mut BestMove<'a>) {
    // Houdini and others send a null move if they expect nothing.
    if reader.tokens.next_if(is_no_move).is_some() {
        answer.ponder = None;
        return;
    }
    match reader.one_move(is_ponder) {
        Some(Ok(it)) => answer.ponder = Some(it).filter(|mv| *mv != Move::NULL),
        Some(Err(token)) => answer.unknown.extend([PONDER, token].map(Cow::Borrowed)),
        None => (),
    }
}

fn is_no_move(token: &str) -> bool {
    matches!(token, "(none)" | "NULL" | "null" | "none")
}

/// Reads the rest of `checkmate`. `None` if it is empty.
pub(super) fn read_checkmate<'a>(reader: &mut MessageReader<'a>) -> Option<Checkmate<'a>> {
    let Some(token) = reader.tokens.peek() else {
        reader.report_missing(DiagnosticKind::Missing);
        return None;
    };
    let answer = if let Some(answer) = Checkmate::without_moves(token.text) {
        reader.tokens.next();
        answer
    } else {
        Checkmate::Moves(reader.moves())
    };
    reader.expect_end();
    Some(answer).filter(|answer| !matches!(answer, Checkmate::Moves(moves) if moves.is_empty()))
}

impl Checkmate<'_> {
    fn without_moves(token: &str) -> Option<Self> {
        Some(match token {
            "nomate" => Self::NoMate,
            "timeout" => Self::Timeout,
            "notimplemented" => Self::NotImplemented,
            "none" => Self::Unknown,
            _ => return None,
        })
    }

    pub(super) fn write(
        &self,
        dialect: Dialect,
        out: &mut (impl fmt::Write + ?Sized),
    ) -> Result<(), WriteError> {
        if !dialect.mate_search_is_timed() {
            return Err(WriteError::NotInDialect { what: "`checkmate`" });
        }
        let text = match self {
            Self::Moves(moves) if moves.is_empty() => {
                return Err(WriteError::Blank { field: "mate" });
            }
            Self::Moves(moves) => {
                if moves.tokens().next().and_then(Checkmate::without_moves).is_some() {
                    return Err(WriteError::Misread { field: "mate" });
                }
                moves.as_str()
            }
            Self::NoMate => "nomate",
            Self::Timeout => "timeout",
            Self::NotImplemented => "notimplemented",
            Self::Unknown => "none",
        };
        out.write_str("checkmate ")?;
        out.write_str(text)?;
        Ok(())
    }

    /// The same answer without borrows.
    pub fn into_owned(self) -> Checkmate<'static> {
        match self {
            Self::Moves(moves) => Checkmate::Moves(moves.into_owned()),
            Self::NoMate => Checkmate::NoMate,
            Self::Timeout => Checkmate::Timeout,
            Self::NotImplemented => Checkmate::NotImplemented,
            Self::Unknown => Checkmate::Unknown,
        }
    }
}
