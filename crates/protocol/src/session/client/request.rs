//! What a client asks of an engine.

use alloc::borrow::ToOwned;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use core::time::Duration;

use crate::option::{OptionError, UnknownOption};
use crate::{Clocks, Dialect, Go, MateLimit, Position, WriteError};

/// So many times `go rtime` is the most that any release of YaneuraOu was written to draw.
const LONGEST_DRAW: u32 = 3;

/// The shortest time that is sent. A limit of zero means no limit to some engines.
const MIN_LIMIT: Duration = Duration::from_millis(1);

/// Tells the searches of a session apart.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct SearchId(pub(super) u64);

/// Tells the questions of [`ping`](super::ClientSession::ping) apart.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct PingId(pub(super) u64);

/// One search: what to search, how long, and with which options.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct SearchRequest {
    /// What to search.
    pub position: Position<'static>,
    /// The limits. Without any the request is rejected: engines differ in what they make of it.
    pub go: Go<'static>,
    /// What the search is for; it becomes `UCI_AnalyseMode`.
    pub purpose: Purpose,
    /// How many variations to show, where the engine can.
    pub multipv: Option<u32>,
    /// Options for this search only, by name, with their values; buttons without. For the next
    /// search they go back to what was set for good, or else to their defaults. An option without
    /// a default keeps its value.
    pub options: Vec<(String, Option<String>)>,
}

/// What a search is for.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub enum Purpose {
    /// A move in a game.
    #[default]
    Play,
    /// To understand a position.
    Analyse,
}

/// The settings of a game that the engine is informed of.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct NewGame {
    /// Whether castling is written as the king taking his rook (`UCI_Chess960`).
    pub chess960: bool,
    /// The variant (`UCI_Variant`); `None` for the engine's default.
    pub variant: Option<String>,
    /// The opponent (`UCI_Opponent`), in the form of that option; `None` if he is not told. Then
    /// the option goes back to its default, or else to the empty text.
    pub opponent: Option<String>,
}

/// The caller asked for something that the protocol does not allow. Nothing was sent.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum UsageError {
    /// The handshake is not over.
    HandshakeIncomplete,
    /// The engine has ended, or `quit` was sent.
    NotRunning,
    /// The engine reported `copyprotection error` and may not be used.
    CopyProtected,
    /// The search has no limit; ask for an infinite one if that is meant.
    NoLimit,
    /// `go perft` is answered with a table, and no session can tell where it ends.
    Perft,
    /// A token among the moves is no move of the dialect. Engines were seen to exit on it.
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
            Self::HandshakeIncomplete => f.write_str("the handshake is not over"),
            Self::NotRunning => f.write_str("the engine is gone"),
            Self::CopyProtected => f.write_str("the engine reported a copy protection error"),
            Self::NoLimit => f.write_str("the search has no limit"),
            Self::Perft => f.write_str("a count of leaf nodes has no end that could be told"),
            Self::NotAMove { token } => write!(f, "`{}` is no move", token.escape_debug()),
            Self::NoSearchMoves => f.write_str("the search is restricted to no moves"),
            Self::WrongNotation => f.write_str("the position is in the notation of another game"),
            Self::Unwritable(error) => error.fmt(f),
            Self::UnknownOption(error) => error.fmt(f),
            Self::OptionValue(error) => error.fmt(f),
            Self::ManagedOption { name } => {
                write!(f, "option `{name}` is set by the session, from the game and the search")
            }
            Self::NotPondering => f.write_str("no search of this id ponders"),
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
    /// The request as it can be sent: checked, and with times that every engine understands.
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

    /// Whether the search may continue, and be silent, until it is asked to stop.
    pub(super) fn is_unbounded(&self) -> bool {
        self.go.infinite || self.go.ponder || self.go.mate == Some(MateLimit::Infinite)
    }

    /// How long the search may take by its own limits. `None` if they are not about time.
    pub(super) fn allowance(&self, dialect: Dialect) -> Option<Duration> {
        let clocks = Some(self.go.clocks).filter(|clocks| !clocks.is_empty());
        let clock = clocks.and_then(|clocks| clocks.of(self.position.mover(dialect)));
        let mate = match self.go.mate {
            Some(MateLimit::Time(time)) => Some(time),
            Some(MateLimit::Moves(_) | MateLimit::Infinite) | None => None,
        };
        let limits = [
            self.go.move_time,
            self.go.random_time.map(|time| time.saturating_mul(LONGEST_DRAW)),
            clock.map(|clock| clock.budget()),
            mate,
        ];
        limits.into_iter().flatten().min()
    }
}

/// The clocks as every engine of the dialect understands them.
pub(super) fn prepared_clocks(clocks: Clocks, dialect: Dialect) -> Clocks {
    let mut clocks = clocks.in_convention(dialect.clock_convention());
    let least = dialect.least_clock();
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
