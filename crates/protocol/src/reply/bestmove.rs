//! `bestmove` and `checkmate`: the ends of searches.

use alloc::borrow::Cow;
use alloc::vec::Vec;
use core::fmt;

use crate::Dialect;
use crate::diagnostic::DiagnosticKind;
use crate::moves::{Move, MoveList};
use crate::parser::{self, Reader, in_any_case};
use crate::serializer::{self, WriteError};

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
    /// Any other token as sent, such as `pass`, which neither protocol has.
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
            Self::Move(it) => Some(*it).filter(|it| *it != Move::NULL && !it.goes_nowhere()),
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
        let ponder = self.ponder.filter(|it| *it != Move::NULL);
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

/// Reads the rest of `bestmove`. `None` if it is empty.
pub(super) fn read<'a>(reader: &mut Reader<'a>) -> Option<BestMove<'a>> {
    let Some(token) = reader.tokens.next() else {
        reader.report_missing(DiagnosticKind::Missing);
        return None;
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
        if in_any_case(token.text, |it| is_ponder(it).then_some(())).is_none() {
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
    Some(answer)
}

const PONDER: &str = "ponder";

fn is_ponder(token: &str) -> bool {
    token == PONDER
}

/// Reads the move after `ponder`.
fn read_ponder<'a>(reader: &mut Reader<'a>, answer: &mut BestMove<'a>) {
    // Houdini and others send a null move if they expect nothing.
    if reader.tokens.next_if(is_no_move).is_some() {
        answer.ponder = None;
        return;
    }
    match reader.one_move(is_ponder) {
        Some(Ok(it)) => answer.ponder = Some(it).filter(|it| *it != Move::NULL),
        Some(Err(token)) => answer.unknown.extend([PONDER, token].map(Cow::Borrowed)),
        None => (),
    }
}

fn is_no_move(token: &str) -> bool {
    matches!(token, "(none)" | "NULL" | "null" | "none")
}

/// Reads the rest of `checkmate`. `None` if it is empty.
pub(super) fn read_checkmate<'a>(reader: &mut Reader<'a>) -> Option<Checkmate<'a>> {
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
    Some(answer).filter(|it| !matches!(it, Checkmate::Moves(moves) if moves.is_empty()))
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
