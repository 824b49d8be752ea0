//! Events of a client session.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

use super::{PingId, SearchId, TimeoutKind};
use crate::{BestMove, Checkmate, Diagnostic, Info, Status, Violation};

/// Name and author of an engine.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Identity {
    /// The text of `id name`. Empty if it was not sent.
    pub name: String,
    /// The text of `id author`. Empty if it was not sent.
    pub author: String,
}

/// An event of a session.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Event {
    /// The engine has sent its name and options.
    HandshakeComplete,
    /// The engine has processed everything sent before this ping.
    Ready(PingId),
    /// `go` was sent; the clock of the side to move is running. Repeated if an option has interrupted the search, see
    /// [`ClientSession::set_option`](super::ClientSession::set_option).
    Started(SearchId),
    /// `info` of a search.
    Info(SearchId, Box<Info<'static>>),
    /// A search ended.
    BestMove(SearchId, BestMove<'static>),
    /// A mate search ended (USI).
    Checkmate(SearchId, Checkmate<'static>),
    /// A search ended without an answer.
    Dropped(SearchId, DropReason),
    /// A search overran its limit and was asked to stop.
    Overrun(SearchId),
    /// `info string` between searches.
    InfoString(String),
    /// `registration …`. The session answers an error with [`Register::Later`](crate::Register::Later), or with the answer of
    /// [`ClientSession::register`](super::ClientSession::register).
    Registration(Status),
    /// `copyprotection …`. After an error the engine accepts no searches.
    CopyProtection(Status),
    /// An unknown line. The session continues.
    UnknownLine(String),
    /// A malformed message of the engine.
    Malformed(Vec<Diagnostic>),
    /// A violation by the engine. A message that [has no meaning](crate::Rule::is_ignored) was ignored.
    Violation(Violation),
    /// A timeout. The caller decides whether to terminate the engine.
    Timeout(TimeoutKind),
    /// The engine closed its output.
    Disconnected,
}

/// Why a search ended without an answer.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum DropReason {
    /// A newer search replaced it before it started.
    Superseded,
    /// It was cancelled before it started.
    Cancelled,
    /// The game ended before the answer.
    GameOver,
    /// The engine reported `copyprotection error`.
    CopyProtected,
    /// The engine has exited, or `quit` was sent.
    Disconnected,
}
