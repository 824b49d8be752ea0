//! Search parameters and games.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use readyok_protocol::session::client::{Limit as WaitLimit, NewGame, Purpose, SearchRequest};
use readyok_protocol::{Clocks, Fen, Go, Move, MoveList, Position, PositionError, Sfen};

/// The limit of a search.
#[derive(Clone, Debug)]
pub enum Limit {
    /// Until it is stopped (`go infinite`).
    Infinite,
    /// A depth in plies.
    Depth(u32),
    /// A number of nodes.
    Nodes(u64),
    /// A fixed time (`movetime`).
    #[doc(alias = "movetime")]
    Time(Duration),
    /// Clocks; the engine decides.
    Clock(Clocks),
    /// Several limits, the first one reached ends the search.
    Go(Box<Go<'static>>),
}

impl Limit {
    /// Clocks; the engine decides. A search that overruns them is stopped.
    #[doc(alias = "wtime")]
    #[doc(alias = "btime")]
    pub fn clock(clocks: impl Into<Clocks>) -> Self {
        Self::Clock(clocks.into())
    }

    /// A fixed time in milliseconds (`movetime`).
    #[doc(alias = "movetime")]
    pub const fn millis(millis: u64) -> Self {
        Self::Time(Duration::from_millis(millis))
    }
}

/// Parameters of one search. They are reset after it.
///
/// ```
/// use readyok_client::{Limit, Search};
/// let search = Search::new(Limit::Depth(12)).lines(3).option("Threads", "2");
/// ```
#[derive(Clone, Debug)]
pub struct Search {
    go: Go<'static>,
    lines: Option<u32>,
    options: Vec<(String, Option<String>)>,
    deadline: Option<Deadline>,
    ponder_after: bool,
}

/// The deadline of a search.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Deadline {
    At(Instant),
    /// After `go`, or `ponderhit`.
    After(Duration),
    /// After `go` or `ponderhit`, and after the latest `info`.
    Stall(WaitLimit),
}

impl Search {
    /// A search with a limit.
    pub fn new(limit: impl Into<Self>) -> Self {
        limit.into()
    }

    /// Number of variations (`MultiPV`), limited by the engine's range.
    #[doc(alias = "multipv")]
    #[must_use]
    pub fn lines(mut self, lines: u32) -> Self {
        self.lines = Some(lines);
        self
    }

    /// Searches only these moves (`searchmoves`).
    #[doc(alias = "searchmoves")]
    #[must_use]
    pub fn only(mut self, moves: MoveList<'static>) -> Self {
        self.go.search_moves = Some(moves);
        self
    }

    /// Searches with another value of an option.
    #[doc(alias = "setoption")]
    #[must_use]
    pub fn option(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.options.push((name.into(), Some(value.into())));
        self
    }

    /// Searches on the opponent's time, until `ponderhit` or `stop`. The last move of the game is the expected one.
    /// [`ponder_after`](Self::ponder_after) needs no handle.
    #[must_use]
    pub fn ponder(mut self) -> Self {
        self.go.ponder = true;
        self.ponder_after = false;
        self
    }

    /// Makes the engine ponder on the expected reply after its answer. The next [`play`](crate::Engine::play) of this
    /// game becomes a `ponderhit` if the opponent has made the expected move, and a new search otherwise.
    ///
    /// A hit requires the same options, variations, `searchmoves` and kind of limit; for UCI engines the clocks are those
    /// from the start of pondering. [`SearchResult::ponder_hit`](crate::SearchResult::ponder_hit) reports hits.
    #[doc(alias = "ponder")]
    #[must_use]
    pub fn ponder_after(mut self) -> Self {
        self.ponder_after = true;
        self
    }

    /// Sets a deadline relative to `go` or `ponderhit`. An answer at or after the deadline does not count: the engine has
    /// [lost on time](crate::Problem::OutOfTime), even if it keeps sending lines. It is stopped, and stays usable.
    #[doc(alias = "timeout")]
    #[must_use]
    pub fn deadline_after(mut self, time: Duration) -> Self {
        self.deadline = Some(Deadline::After(time));
        self
    }

    /// Like [`deadline_after`](Self::deadline_after), at a fixed moment, even if the search has not started.
    #[must_use]
    pub fn deadline_at(mut self, moment: Instant) -> Self {
        self.deadline = Some(Deadline::At(moment));
        self
    }

    /// Sets limits for the time without `info`, and for the total time since `go`. The search then ends as
    /// [stalled](crate::Problem::Stalled), and the engine is stopped.
    #[doc(alias = "timeout")]
    #[must_use]
    pub fn stall_limit(mut self, limit: WaitLimit) -> Self {
        self.deadline = Some(Deadline::Stall(limit));
        self
    }

    pub(crate) fn is_pondered_after(&self) -> bool {
        self.ponder_after
    }

    pub(crate) fn clocks(&self) -> Option<Clocks> {
        Some(self.go.clocks).filter(|clocks| !clocks.is_empty())
    }

    pub(crate) fn set_clocks(&mut self, change: impl FnOnce(Clocks) -> Clocks) {
        if !self.go.clocks.is_empty() {
            self.go.clocks = change(self.go.clocks);
        }
    }

    /// Whether both limits are equal except for their times.
    pub(crate) fn is_like(&self, other: &Self) -> bool {
        let timeless = |search: &Self| {
            let mut go = search.go.clone();
            let has_clock = !go.clocks.is_empty();
            go.clocks = Clocks::default();
            (go, has_clock)
        };
        timeless(self) == timeless(other)
            && self.lines == other.lines
            && self.options == other.options
    }

    pub(crate) fn is_ponder(&self) -> bool {
        self.go.ponder
    }

    pub(crate) fn deadline(&self) -> Option<Deadline> {
        self.deadline
    }

    pub(crate) fn request(&self, game: &Game, purpose: Purpose) -> SearchRequest {
        SearchRequest {
            position: game.position().clone(),
            go: self.go.clone(),
            purpose,
            multipv: self.lines,
            options: self.options.clone(),
        }
    }
}

impl From<Go<'static>> for Search {
    fn from(go: Go<'static>) -> Self {
        Self { go, lines: None, options: Vec::new(), deadline: None, ponder_after: false }
    }
}

impl From<Limit> for Search {
    fn from(limit: Limit) -> Self {
        Self::from(match limit {
            Limit::Infinite => Go::infinite(),
            Limit::Depth(plies) => Go::depth(plies),
            Limit::Nodes(nodes) => Go::nodes(nodes),
            Limit::Time(time) => Go::move_time(time),
            Limit::Clock(clocks) => Go::clocks(clocks),
            Limit::Go(go) => *go,
        })
    }
}

/// A game: a position, moves, and an identity.
///
/// If a search belongs to another game than the previous one, the new-game command is sent (`ucinewgame`,
/// `usinewgame`), which resets the engine's hash tables. A clone is the same game.
///
/// ```
/// use readyok_client::Game;
/// let mut game = Game::startpos();
/// game.play("e2e4".parse()?);
/// assert_eq!(game.position().moves.as_str(), "e2e4");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Game {
    id: GameId,
    position: Position<'static>,
    about: NewGame,
}

/// Identity of a game.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct GameId(u64);

impl GameId {
    fn new() -> Self {
        static LAST: AtomicU64 = AtomicU64::new(0);
        Self(LAST.fetch_add(1, Ordering::Relaxed))
    }
}

impl Game {
    /// A new game from the start position.
    pub fn startpos() -> Self {
        Self::from(Position::default())
    }

    /// A new game with the options that select it in the engine.
    pub fn new(position: Position<'static>, about: NewGame) -> Self {
        Self { about, ..Self::from(position) }
    }

    /// A new game from a position of chess or a variant.
    ///
    /// # Errors
    /// The FEN is invalid.
    pub fn from_fen(fen: &str) -> Result<Self, PositionError> {
        fen.parse::<Fen<'static>>().map(|fen| Self::from(Position::from(fen)))
    }

    /// A new game from a position of shogi.
    ///
    /// # Errors
    /// The SFEN is invalid.
    pub fn from_sfen(sfen: &str) -> Result<Self, PositionError> {
        sfen.parse::<Sfen<'static>>().map(|sfen| Self::from(Position::from(sfen)))
    }

    /// Chess960: castling is written as the king's move to its rook (`UCI_Chess960`).
    #[must_use]
    pub fn chess960(mut self) -> Self {
        self.id = GameId::new();
        self.about.chess960 = true;
        self
    }

    /// A variant (`UCI_Variant`).
    #[must_use]
    pub fn variant(mut self, variant: impl Into<String>) -> Self {
        self.id = GameId::new();
        self.about.variant = Some(variant.into());
        self
    }

    /// An opponent, in the form of `UCI_Opponent`: `GM 2800 human Gary Kasparov`.
    #[must_use]
    pub fn against(mut self, opponent: impl Into<String>) -> Self {
        self.id = GameId::new();
        self.about.opponent = Some(opponent.into());
        self
    }

    /// Plays a move without a legality check.
    pub fn play(&mut self, it: Move) {
        self.position.moves.push(it);
    }

    /// Another position of the same game: an earlier one, a variation.
    #[must_use]
    pub fn at(&self, position: Position<'static>) -> Self {
        Self { id: self.id, position, about: self.about.clone() }
    }

    /// The current position.
    pub fn position(&self) -> &Position<'static> {
        &self.position
    }

    pub(crate) fn id(&self) -> GameId {
        self.id
    }

    pub(crate) fn about(&self) -> &NewGame {
        &self.about
    }
}

impl Default for Game {
    fn default() -> Self {
        Self::startpos()
    }
}

impl Extend<Move> for Game {
    fn extend<I: IntoIterator<Item = Move>>(&mut self, moves: I) {
        moves.into_iter().for_each(|it| self.play(it));
    }
}

/// A new game.
impl From<Position<'static>> for Game {
    fn from(position: Position<'static>) -> Self {
        Self { id: GameId::new(), position, about: NewGame::default() }
    }
}
