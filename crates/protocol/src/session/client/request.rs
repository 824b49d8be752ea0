//! Requests of a client.

use alloc::borrow::ToOwned;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use core::time::Duration;

use crate::option::{OptionError, UnknownOption};
use crate::{Clocks, Dialect, Go, MateLimit, Position, WriteError};

/// YaneuraOu searches at most this multiple of `go rtime`, in all releases.
const MAX_RANDOM_FACTOR: u32 = 3;

/// Minimum of a time limit. Some engines treat zero as no limit.
const MIN_LIMIT: Duration = Duration::from_millis(1);

/// Identifies a search of a session.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct SearchId(pub(super) u64);

/// Identifies a [`ping`](super::ClientSession::ping) of a session.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct PingId(pub(super) u64);

/// A search request: position, limits and options.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct SearchRequest {
    /// The position.
    pub position: Position<'static>,
    /// The limits. A request without limits is rejected, because engines handle it differently.
    pub go: Go<'static>,
    /// The purpose; it determines `UCI_AnalyseMode`.
    pub purpose: Purpose,
    /// Number of variations, if the engine supports it.
    pub multipv: Option<u32>,
    /// Options of this search only: names and values, buttons without a value. They are reset afterwards
    /// to the permanent value or the default. An option without a default keeps its value.
    pub options: Vec<(String, Option<String>)>,
}

/// The purpose of a search.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub enum Purpose {
    /// A move in a game.
    #[default]
    Play,
    /// Analysis of a position.
    Analyse,
}

/// Settings of a game that are sent to the engine.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct NewGame {
    /// Chess960: castling is written as the king's move to the square of the rook (`UCI_Chess960`).
    pub chess960: bool,
    /// The variant (`UCI_Variant`); `None` for the engine's default.
    pub variant: Option<String>,
    /// The opponent (`UCI_Opponent`) in the form of that option. `None` resets the option to its default,
    /// or else to the empty text.
    pub opponent: Option<String>,
}

/// An invalid request of the caller. Nothing was sent.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum UsageError {
    /// The handshake is not complete.
    HandshakeIncomplete,
    /// The engine has exited, or `quit` was sent.
    NotRunning,
    /// The engine reported `copyprotection error`.
    CopyProtected,
    /// The search has no limit. Use an infinite search if that is intended.
    NoLimit,
    /// `go perft` is answered by a table without a defined end.
    Perft,
    /// A token in the list of moves is not a move of the dialect. Some engines exit on it.
    NotAMove {
        /// The token.
        token: String,
    },
    /// The search is restricted to an empty list of moves.
    NoSearchMoves,
    /// A FEN for a shogi engine, or an SFEN for a chess engine.
    WrongNotation,
    /// A text would break the line.
    Unwritable(WriteError),
    /// The engine has no such option.
    UnknownOption(UnknownOption),
    /// The option has no such value.
    OptionValue(OptionError),
    /// The session sets this option by itself, from the game and the search.
    ManagedOption {
        /// The name of the option.
        name: String,
    },
    /// No search of this id ponders.
    NotPondering,
}

impl fmt::Display for UsageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::HandshakeIncomplete => f.write_str("the handshake is not complete"),
            Self::NotRunning => f.write_str("the engine is not running"),
            Self::CopyProtected => f.write_str("the engine reported a copy protection error"),
            Self::NoLimit => f.write_str("the search has no limit"),
            Self::Perft => f.write_str("the output of `go perft` has no defined end"),
            Self::NotAMove { token } => write!(f, "`{}` is not a move", token.escape_debug()),
            Self::NoSearchMoves => f.write_str("`searchmoves` is empty"),
            Self::WrongNotation => f.write_str("the position is in the notation of another game"),
            Self::Unwritable(error) => error.fmt(f),
            Self::UnknownOption(error) => error.fmt(f),
            Self::OptionValue(error) => error.fmt(f),
            Self::ManagedOption { name } => {
                write!(f, "option `{name}` is managed by the session")
            }
            Self::NotPondering => f.write_str("no search with this id is pondering"),
        }
    }
}

impl core::error::Error for UsageError {}

impl From<WriteError> for UsageError {
    fn from(error: WriteError) -> Self {
        Self::Unwritable(error)
    }
}

impl From<UnknownOption> for UsageError {
    fn from(error: UnknownOption) -> Self {
        Self::UnknownOption(error)
    }
}

impl From<OptionError> for UsageError {
    fn from(error: OptionError) -> Self {
        Self::OptionValue(error)
    }
}

impl SearchRequest {
    /// The validated request, with times in the range that every engine accepts.
    pub(super) fn prepared(mut self, dialect: Dialect) -> Result<Self, UsageError> {
        if self.go.perft.is_some() {
            return Err(UsageError::Perft);
        }
        let clocks_follow = self.go.ponder && dialect.clocks_with_ponder_hit();
        if self.go.is_bare() && !clocks_follow {
            return Err(UsageError::NoLimit);
        }
        if self.go.search_moves.as_ref().is_some_and(crate::MoveList::is_empty) {
            return Err(UsageError::NoSearchMoves);
        }
        if !dialect.has_root(&self.position.root) {
            return Err(UsageError::WrongNotation);
        }
        for moves in [&self.position.moves].into_iter().chain(&self.go.search_moves) {
            if let Some(token) = moves.first_other(dialect) {
                return Err(UsageError::NotAMove { token: token.to_owned() });
            }
        }
        self.go.clocks = prepared_clocks(self.go.clocks, dialect);
        self.go.mate = self.go.mate.map(|mate| match mate {
            MateLimit::Moves(moves) => MateLimit::Moves(moves.max(1)),
            MateLimit::Time(time) => MateLimit::Time(time.max(MIN_LIMIT)),
            MateLimit::Infinite => MateLimit::Infinite,
        });
        self.go.move_time = self.go.move_time.map(|time| time.max(MIN_LIMIT));
        self.go.random_time = self.go.random_time.map(|time| time.max(MIN_LIMIT));
        self.go.depth = self.go.depth.map(|depth| depth.max(1));
        self.go.nodes = self.go.nodes.map(|nodes| nodes.max(1));
        Ok(self)
    }

    /// Whether the search may continue, without output, until it is stopped.
    pub(super) fn is_unbounded(&self) -> bool {
        self.go.infinite || self.go.ponder || self.go.mate == Some(MateLimit::Infinite)
    }

    /// The time limit of the search. `None` if its limits are not about time.
    pub(super) fn time_limit(&self, dialect: Dialect) -> Option<Duration> {
        let clocks = Some(self.go.clocks).filter(|clocks| !clocks.is_empty());
        let clock = clocks.and_then(|clocks| clocks.of(self.position.mover(dialect)));
        let mate = match self.go.mate {
            Some(MateLimit::Time(time)) => Some(time),
            Some(MateLimit::Moves(_) | MateLimit::Infinite) | None => None,
        };
        let limits = [
            self.go.move_time,
            self.go.random_time.map(|time| time.saturating_mul(MAX_RANDOM_FACTOR)),
            clock.map(|clock| clock.budget()),
            mate,
        ];
        limits.into_iter().flatten().min()
    }
}

/// The clocks in the range that every engine of the dialect accepts.
pub(super) fn prepared_clocks(clocks: Clocks, dialect: Dialect) -> Clocks {
    let mut clocks = clocks.in_convention(dialect.clock_convention());
    let least = dialect.min_clock();
    for time in [&mut clocks.white_time, &mut clocks.black_time].into_iter().flatten() {
        *time = (*time).max(least);
    }
    let increments = [&mut clocks.white_increment, &mut clocks.black_increment];
    for time in increments.into_iter().chain([&mut clocks.byoyomi]).flatten() {
        *time = (*time).max(0);
    }
    clocks.moves_to_go = clocks.moves_to_go.filter(|moves| 0 < *moves);
    let has_time = clocks.white_time.or(clocks.black_time).is_some();
    let has_increment = clocks.white_increment.or(clocks.black_increment).is_some();
    if dialect.needs_byoyomi() && has_time && !has_increment {
        clocks.byoyomi = clocks.byoyomi.or(Some(0));
    }
    clocks
}
