//! Requests and timeouts of a client, the phases of its session, and what the next search waits for.

use alloc::borrow::ToOwned;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use core::time::Duration;

use crate::option::{OptionError, UnknownOption};
use crate::session::client::SessionTime;
use crate::{Clocks, Dialect, Go, MateLimit, Move, Position, Register, Status, WriteError};

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
    /// An option cannot be set during a search with a limit, which would have to start again.
    Searching,
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
            Self::Searching => f.write_str(
                "an option cannot be set during a search with a limit: stop it, or wait for its answer",
            ),
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

    /// Whether the search may be stopped and started again: its answer has no deadline.
    pub(super) fn is_repeatable(&self) -> bool {
        self.purpose == Purpose::Analyse || self.is_unbounded()
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

/// The phase of a session.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "one state exists per session")]
pub(super) enum ClientPhase {
    /// `uci` or `usi` was sent at this time and is not answered.
    Handshake { since: SessionTime },
    /// No search is running.
    Idle,
    /// `go` was sent and is not answered.
    Searching(ActiveSearch),
    /// `quit` was sent at this time.
    Quitting { since: SessionTime },
    /// The engine closed its output.
    Disconnected,
}

impl ClientPhase {
    pub(super) fn search(&self) -> Option<&ActiveSearch> {
        if let Self::Searching(search) = self { Some(search) } else { None }
    }

    pub(super) fn search_mut(&mut self) -> Option<&mut ActiveSearch> {
        if let Self::Searching(search) = self { Some(search) } else { None }
    }

    /// Ends the running search.
    pub(super) fn take_search(&mut self) -> Option<ActiveSearch> {
        self.search()?;
        match core::mem::replace(self, Self::Idle) {
            Self::Searching(search) => Some(search),
            _ => None,
        }
    }

    pub(super) fn is_ready(&self) -> bool {
        matches!(self, Self::Idle | Self::Searching(_))
    }

    pub(super) fn is_closed(&self) -> bool {
        matches!(self, Self::Quitting { .. } | Self::Disconnected)
    }
}

/// The search that the engine has to answer.
#[derive(Debug)]
pub(super) struct ActiveSearch {
    pub(super) id: SearchId,
    pub(super) request: SearchRequest,
    pub(super) time_limit: Option<Duration>,
    /// When its time began: at `go` or at `ponderhit`.
    pub(super) since: SessionTime,
    /// When `stop` was sent.
    pub(super) stopped: Option<SessionTime>,
    /// It was stopped for an option, and starts again after its answer.
    pub(super) restarts: bool,
    /// The game ended, so the answer is discarded.
    pub(super) discarded: bool,
    /// The answer to the previous search, which is illegal here. `None` once the engine has sent
    /// `info` about this search or has repeated that answer.
    pub(super) stale_answer: Option<Move>,
}

impl ActiveSearch {
    /// When it is stopped because it overran its limit. `received` is the time of the latest line.
    pub(super) fn overrun(
        &self,
        received: SessionTime,
        timeouts: &Timeouts,
    ) -> Option<SessionTime> {
        if self.stopped.is_some() || self.request.is_unbounded() {
            return None;
        }
        let limit = self
            .time_limit
            .map(|limit| self.since.saturating_add(limit).saturating_add(timeouts.overrun));
        let silent = self.since.max(received).saturating_add(timeouts.stall);
        Some(limit.unwrap_or(silent))
    }
}

/// What the next search waits for, in addition to the open pings.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Sync {
    /// Nothing.
    Done,
    /// A `readyok` to an `isready` that is not sent yet.
    NeedsReady,
    /// This moment: until then, a second answer to the previous search may arrive.
    Settling(SessionTime),
}

impl Sync {
    pub(super) fn require_ready_if(&mut self, required: bool) {
        if required {
            *self = Self::NeedsReady;
        }
    }

    /// When the next search may start, if that depends on time.
    pub(super) fn settled_at(self) -> Option<SessionTime> {
        if let Self::Settling(at) = self { Some(at) } else { None }
    }

    pub(super) fn expire(&mut self, now: SessionTime) {
        if self.settled_at().is_some_and(|at| at <= now) {
            *self = Self::Done;
        }
    }
}

/// How a search is separated from the answer to the previous one.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Separation {
    /// Only after `stop`.
    AfterStop,
    /// By `readyok`, or by time if `isready` starts a game.
    Always,
    /// Always by `readyok`: the engine has answered a search twice.
    AlwaysByReady,
}

/// Whether positions are sent before `isready`.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum EarlyPosition {
    Disabled,
    Enabled,
    /// The engine has the position of this pending search.
    Sent(SearchId),
}

/// An `isready` without `readyok`.
#[derive(Debug)]
pub(super) struct Ping {
    /// `None` if the session itself needs the answer.
    pub(super) owner: Option<PingId>,
    pub(super) since: SessionTime,
}

/// The registration of the user and the state of it.
#[derive(Debug)]
pub(super) struct Registration {
    /// The answer to `registration error`.
    pub(super) with: Register<'static>,
    state: RegistrationState,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum RegistrationState {
    /// The engine has reported no error.
    Accepted,
    /// The engine has reported `registration error`.
    Rejected,
    /// The engine has reported an error, and a newer answer is not sent yet.
    RetryDue,
}

impl Registration {
    pub(super) fn new() -> Self {
        Self { with: Register::Later, state: RegistrationState::Accepted }
    }

    pub(super) fn is_rejected(&self) -> bool {
        self.state != RegistrationState::Accepted
    }

    pub(super) fn set(&mut self, with: Register<'static>) {
        self.with = with;
        if self.is_rejected() {
            self.state = RegistrationState::RetryDue;
        }
    }

    pub(super) fn update(&mut self, status: Status) {
        self.state = match (status, self.state) {
            (Status::Error, RegistrationState::RetryDue) => RegistrationState::RetryDue,
            (Status::Error, _) => RegistrationState::Rejected,
            (Status::Ok | Status::Checking, _) => RegistrationState::Accepted,
        };
    }

    /// Whether a newer answer has to be sent. It counts as sent then.
    pub(super) fn take_retry(&mut self) -> bool {
        let due = self.state == RegistrationState::RetryDue;
        if due {
            self.state = RegistrationState::Rejected;
        }
        due
    }
}

/// Timeouts for an engine.
#[doc(alias = "timeout")]
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Timeouts {
    /// For `uciok` or `usiok`.
    pub handshake: WaitLimit,
    /// For `readyok`. Engines load networks and tablebases before it.
    pub ready: WaitLimit,
    /// For `bestmove` after `stop`.
    pub stop: WaitLimit,
    /// How far a search may overrun its clock before it is stopped.
    pub overrun: Duration,
    /// How long a search without a time limit may print nothing before it is stopped. An infinite search
    /// and a mate search may be silent forever.
    pub stall: Duration,
    /// Delay after an answer of a shogi engine before the next search. `readyok` cannot separate the two,
    /// and some engines answer twice.
    pub settle: Duration,
    /// For the exit of the process after `quit`.
    pub quit: WaitLimit,
}

/// A timeout for one answer.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct WaitLimit {
    /// Maximum time without output. Any output resets it.
    pub silence: Duration,
    /// Maximum time in total.
    pub total: Duration,
}

impl WaitLimit {
    /// A timeout that output does not extend.
    pub const fn fixed(total: Duration) -> Self {
        Self { silence: total, total }
    }

    pub(super) fn deadline(self, since: SessionTime, last_output: SessionTime) -> SessionTime {
        let silent = since.max(last_output).saturating_add(self.silence);
        silent.min(since.saturating_add(self.total))
    }
}

impl Default for Timeouts {
    /// A little more than the timeouts of deployed GUIs and match runners: 10 s of silence in the
    /// handshake, 60 s before `readyok`, 10 s after `stop`, 5 s after `quit`.
    fn default() -> Self {
        let seconds = Duration::from_secs;
        Self {
            handshake: WaitLimit { silence: seconds(10), total: seconds(120) },
            ready: WaitLimit { silence: seconds(60), total: seconds(30 * 60) },
            stop: WaitLimit::fixed(seconds(10)),
            overrun: seconds(2),
            stall: seconds(10 * 60),
            settle: Duration::from_millis(5),
            quit: WaitLimit::fixed(seconds(5)),
        }
    }
}

/// The missing answer of a timeout.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
#[non_exhaustive]
pub enum TimeoutKind {
    /// `uciok` or `usiok`.
    Handshake,
    /// `readyok`.
    Ready,
    /// `bestmove` after `stop`.
    Stop,
    /// The exit of the process after `quit`.
    Exit,
}

impl fmt::Display for TimeoutKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Handshake => "no answer to `uci` or `usi`",
            Self::Ready => "no `readyok`",
            Self::Stop => "no `bestmove` after `stop`",
            Self::Exit => "still running after `quit`",
        })
    }
}
