//! Events and requests of an engine session.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use core::time::Duration;

use crate::{
    CastlingForm, Clock, Clocks, Color, Diagnostic, Dialect, GameResult, Go, LineTooLong,
    MateLimit, OptionError, OptionValue, Position, Register, UnknownOption, Violation, WriteError,
};

/// An event for the owner of a session.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Event {
    /// The handshake is complete and has decided the protocol.
    HandshakeComplete(Dialect),
    /// `debug`: whether additional `info string`s are requested.
    Debug(bool),
    /// Sets an option. The value is valid.
    SetOption {
        /// The name as declared.
        name: String,
        /// The value.
        value: OptionValue,
    },
    /// The user's answer to `registration error`. Report the result with
    /// [`registration`](super::EngineSession::registration).
    Register(Register<'static>),
    /// The next search belongs to another game.
    NewGame,
    /// Finish everything requested before this event, then call [`EngineSession::ready`](super::EngineSession::ready).
    Prepare,
    /// Start a search, and answer it exactly once.
    Search(Box<SearchRequest>),
    /// Count the leaf nodes at this depth (`go perft` of Stockfish) from
    /// [`EngineSession::position`](super::EngineSession::position). The table has no defined end.
    Perft(u32),
    /// The expected move was played: the search continues as a normal one, and its clocks and `movetime`
    /// start now. Some shogi GUIs send the clocks only here.
    PonderHit(Clocks),
    /// Stop the search as soon as possible.
    Stop,
    /// The game has ended. A running search was stopped.
    GameOver(GameResult),
    /// Exit. The client may still expect the answer of a running search.
    Quit,
    /// An unknown line. It was ignored.
    Unknown(String),
    /// A malformed command.
    Malformed(Vec<Diagnostic>),
    /// A violation by the client. A message that [has no meaning](crate::Rule::is_ignored) was ignored, unless it is queued.
    Violation(Violation),
    /// A `setoption` that was rejected.
    BadOption(BadOption),
    /// The memory limit of the command queue was reached: a line was dropped.
    Dropped,
}

/// Why no valid position is set.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum InvalidPosition {
    /// The syntax of the position is invalid. The text explains it.
    Malformed(String),
    /// `position` without a position.
    Missing,
    /// An oversized line, which may have been a position.
    LineTooLong(LineTooLong),
    /// The command queue was full, and a position or a search was dropped.
    Dropped,
}

/// Why a `setoption` was rejected.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum BadOption {
    /// There is no such option.
    Unknown(UnknownOption),
    /// The option has no such value.
    Value(OptionError),
}

/// The position and the limits of a search.
///
/// The runtime of `readyok-engine` stops a search at its time limit (`movetime`, `rtime`, clocks, `go
/// mate` with a time) and on `stop`, and delays the answer to `infinite` and `ponder`. The engine
/// itself must respect the other limits: [`Go::depth`], [`Go::nodes`], [`Go::mate`] with a number of
/// moves, [`Go::search_moves`], and its option `MultiPV`.
#[doc(alias("movetime", "timeout", "limits"))]
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct SearchRequest {
    /// The protocol, which determines the notation of moves.
    pub dialect: Dialect,
    /// The position. Only the syntax is checked, not the legality of the moves.
    pub position: Position<'static>,
    /// The limits. With `ponder`, clocks and `movetime` count from [`Event::PonderHit`]. If no limit is
    /// usable, `movetime` is [`SearchRequest::DEFAULT_TIME`].
    pub go: Go<'static>,
    /// The notation of castling in the answer, by the option `UCI_Chess960`.
    pub castling: CastlingForm,
}

impl SearchRequest {
    /// The time of a search whose limits are not usable.
    pub const DEFAULT_TIME: Duration = Duration::from_secs(1);

    /// A request with castling as the king's move.
    pub fn new(dialect: Dialect, position: Position<'static>, go: Go<'static>) -> Self {
        Self { dialect, position, go, castling: CastlingForm::KingMove }
    }

    /// Whether the option `UCI_Chess960` is on.
    pub fn is_chess960(&self) -> bool {
        self.castling == CastlingForm::KingTakesRook
    }

    /// Limits the time of the search to [`DEFAULT_TIME`](Self::DEFAULT_TIME).
    pub fn set_default_time(&mut self) {
        if self.go.mate.is_some() && self.dialect.mate_search_is_timed() {
            self.go.mate = Some(MateLimit::Time(Self::DEFAULT_TIME));
        } else {
            self.go.move_time = Some(Self::DEFAULT_TIME);
        }
    }

    /// The side to move.
    pub fn mover(&self) -> Color {
        self.position.mover(self.dialect)
    }

    /// The clock of the side to move, if it has one.
    pub fn clock(&self) -> Option<Clock> {
        self.go.clocks.of(self.mover())
    }

    /// Whether the search ends by itself, unless it is pondering or infinite. A mate search may find no
    /// mate.
    pub(super) fn has_limit(&self) -> bool {
        let Go { depth, nodes, mate, move_time, random_time, .. } = &self.go;
        depth.is_some()
            || nodes.is_some()
            || matches!(mate, Some(MateLimit::Time(_)))
            || move_time.is_some()
            || random_time.is_some()
            || self.clock().is_some()
    }
}

/// An invalid call of the owner, which is a bug. Nothing was sent.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum UsageError {
    /// The message is not allowed now.
    Violation(Violation),
    /// The search was answered before, and the answer is delayed.
    AnsweredAlready,
    /// The message cannot be written.
    Unwritable(WriteError),
}

impl From<WriteError> for UsageError {
    fn from(error: WriteError) -> Self {
        Self::Unwritable(error)
    }
}

impl fmt::Display for UsageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Violation(violation) => violation.fmt(f),
            Self::AnsweredAlready => f.write_str("the search was answered already"),
            Self::Unwritable(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for UsageError {}

impl fmt::Display for InvalidPosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Malformed(text) => f.write_str(text),
            Self::Missing => f.write_str("`position` without a position"),
            Self::LineTooLong(error) => write!(f, "{error}, and may have been a position"),
            Self::Dropped => {
                f.write_str("the position or the search was dropped by the full queue")
            }
        }
    }
}

impl fmt::Display for BadOption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown(error) => error.fmt(f),
            Self::Value(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for BadOption {}
