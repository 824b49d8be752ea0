//! Games, searches and their results.

use std::ops::Deref;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use readyok_protocol::session::client::{NewGame, Purpose, SearchRequest, WaitLimit};
use readyok_protocol::{
    Best, Checkmate, Clocks, Fen, Go, Info, Move, MoveList, Position, PositionError, Score, Sfen,
};

/// The limit of a search.
#[derive(Clone, Debug)]
#[non_exhaustive]
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

    /// Searches with another value of an option. The last value of a name counts.
    #[doc(alias = "setoption")]
    #[must_use]
    pub fn option(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        let name = name.into();
        self.options.retain(|(set, _)| !set.eq_ignore_ascii_case(&name));
        self.options.push((name, Some(value.into())));
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
    ///
    /// The engine does not ponder
    /// - without an expected reply, or on an impossible one, if that is visible without the rules: a null move, a
    ///   move from or to its own square, from the origin or the destination of the engine's move, or a drop on its
    ///   destination;
    /// - after the last move of a period (`movestogo 1`): the time of the next period is unknown.
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

    /// A new game from a position of chess, or of a variant on the same board. For a board of another size,
    /// use [`Game::new`].
    ///
    /// ```
    /// use readyok_client::Game;
    /// assert!(Game::from_fen("4k3/8/8/8/8/8/8/4K3 w - - 0 1").is_ok());
    /// assert!(Game::from_fen("8/8/8 w - - 0 1").is_err());
    /// ```
    ///
    /// # Errors
    /// The FEN is invalid, or the board has not eight ranks of eight squares.
    pub fn from_fen(fen: &str) -> Result<Self, PositionError> {
        Fen::chess(fen).map(|fen| Self::from(Position::from(fen.into_owned())))
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
        moves.into_iter().for_each(|mv| self.play(mv));
    }
}

/// A new game.
impl From<Position<'static>> for Game {
    fn from(position: Position<'static>) -> Self {
        Self { id: GameId::new(), position, about: NewGame::default() }
    }
}

/// The result of a search.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct SearchResult {
    /// The answer in the engine's notation: an unchecked move, none, or a resignation. The empty
    /// [`Best::Other`] is a `bestmove` without a move.
    pub best: Best<'static>,
    /// The move as sent, if it was in another notation: `E2E4`.
    pub repaired: Option<Box<str>>,
    /// The expected reply, to ponder on.
    pub ponder: Option<Move>,
    /// The latest info about the best variation.
    pub info: Info<'static>,
    /// The latest info about all variations.
    pub lines: Lines,
    /// The answer of a shogi engine to a mate search.
    pub checkmate: Option<Checkmate<'static>>,
    /// When `go` or `ponderhit` was written. For `go` to a process it is measured just after the write, otherwise just
    /// before.
    pub started: Instant,
    /// When the answer arrived.
    pub answered: Instant,
    /// Whether the engine pondered on this position and received `ponderhit`.
    pub ponder_hit: bool,
}

impl SearchResult {
    /// Time used by the engine: from `go` or `ponderhit` to its answer.
    pub fn time(&self) -> Duration {
        self.answered.saturating_duration_since(self.started)
    }

    /// The move, if there is one. The `0000` or `a1a1` of an engine without a legal move is not returned; see
    /// [`best`](Self::best).
    pub fn best_move(&self) -> Option<Move> {
        self.best.to_move()
    }

    /// The result of a mate search, in the form of USI for both protocols. That of a chess engine is derived from its
    /// score.
    pub fn into_checkmate(self) -> Checkmate<'static> {
        if let Some(checkmate) = self.checkmate {
            return checkmate;
        }
        let has_no_move = match &self.best {
            Best::None => true,
            Best::Move(_) => self.best.to_move().is_none(),
            Best::Resign | Best::Win | Best::Other(_) => false,
        };
        match (self.info.score, self.info.pv) {
            (Some(Score::MateIn { .. } | Score::MateInUnknown), Some(pv)) => Checkmate::Moves(pv),
            (Some(Score::Mated | Score::MatedIn { .. }), _) => Checkmate::NoMate,
            _ if has_no_move => Checkmate::NoMate,
            _ => Checkmate::Unknown,
        }
    }
}

/// One `info` of a search.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Update {
    /// The parsed line.
    pub info: Box<Info<'static>>,
    /// The line.
    pub raw: String,
    /// When it arrived.
    pub at: Instant,
}

impl Deref for Update {
    type Target = Info<'static>;

    fn deref(&self) -> &Info<'static> {
        &self.info
    }
}

/// The variations of a search with their latest score, bound, depth, moves and counters.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Lines {
    /// Sorted by number. Most searches have one.
    by_number: Vec<(u32, Info<'static>)>,
}

impl Lines {
    /// More than the number of legal moves in any position.
    pub(crate) const MAX: usize = 1024;

    /// The best variation. It may have no score yet.
    pub fn best(&self) -> Option<&Info<'static>> {
        self.iter().next()
    }

    /// A variation by its number, from 1.
    pub fn get(&self, number: u32) -> Option<&Info<'static>> {
        let place = self.place(number).ok()?;
        self.by_number.get(place).map(|(_, info)| info)
    }

    /// All variations, the best first.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &Info<'static>> {
        self.by_number.iter().map(|(_, info)| info)
    }

    /// The number of variations.
    pub fn len(&self) -> usize {
        self.by_number.len()
    }

    /// Whether no variation was reported yet.
    pub fn is_empty(&self) -> bool {
        self.by_number.is_empty()
    }

    fn place(&self, number: u32) -> Result<usize, usize> {
        self.by_number.binary_search_by_key(&number, |(number, _)| *number)
    }

    /// The variation with this number; a new one if there is room for it.
    fn line(&mut self, number: u32) -> Option<&mut Info<'static>> {
        let place = match self.place(number) {
            Ok(place) => place,
            Err(_) if Self::MAX <= self.len() => return None,
            Err(place) => {
                if self.by_number.is_empty() {
                    self.by_number.reserve_exact(1);
                }
                self.by_number.insert(place, (number, Info::default()));
                place
            }
        };
        self.by_number.get_mut(place).map(|(_, info)| info)
    }

    pub(crate) fn update(&mut self, info: &Info<'static>) {
        // A text or `currmove` is not a variation.
        let is_variation = info.score.is_some() || info.pv.is_some();
        let has_counters = info.nodes.is_some() || info.nps.is_some() || info.time.is_some();
        if !is_variation && !has_counters {
            return;
        }
        let number = info.multipv.unwrap_or(1);
        let Some(line) = self.line(number) else { return };
        if is_variation {
            // The depth next to `currmove` has no score yet.
            latest(&mut line.depth, info.depth);
            latest(&mut line.seldepth, info.seldepth);
            latest(&mut line.movesleft, info.movesleft);
            line.multipv = Some(number);
            if info.score.is_some() {
                (line.score, line.bound, line.wdl) = (info.score, info.bound, info.wdl);
            }
            if info.pv.is_some() {
                line.pv.clone_from(&info.pv);
            }
        }
        latest(&mut line.nodes, info.nodes);
        latest(&mut line.nps, info.nps);
        latest(&mut line.eps, info.eps);
        latest(&mut line.hashfull, info.hashfull);
        latest(&mut line.tbhits, info.tbhits);
        latest(&mut line.sbhits, info.sbhits);
        latest(&mut line.cpuload, info.cpuload);
        latest(&mut line.time, info.time);
    }
}

fn latest<T>(slot: &mut Option<T>, new: Option<T>) {
    if new.is_some() {
        *slot = new;
    }
}

#[cfg(test)]
mod tests {
    use readyok_protocol::{Bound, Dialect, Reply, Score};

    use super::*;

    fn check(infos: &[&str], expected: &str) {
        let mut lines = Lines::default();
        for info in infos {
            let Reply::Info(info) = Reply::read(info, Dialect::Uci).value else {
                panic!("no info: {info}")
            };
            lines.update(&info.into_owned());
        }
        let mut text = String::new();
        for line in lines.iter() {
            Reply::Info(line.clone()).write(Dialect::Uci, &mut text).expect("it was read");
            text.push('\n');
        }
        assert_eq!(text.trim_end(), expected);
    }

    #[test]
    fn an_exact_score_removes_the_bound() {
        check(
            &["info depth 3 score cp 9 lowerbound pv e2e4", "info depth 4 score cp 8 pv d2d4"],
            "info depth 4 multipv 1 score cp 8 pv d2d4",
        );
    }

    #[test]
    fn a_variation_keeps_fields_missing_in_a_later_line() {
        check(
            &["info depth 3 score cp 9 pv e2e4", "info nodes 500 nps 7", "info time 3"],
            "info depth 3 multipv 1 score cp 9 nodes 500 nps 7 time 3 pv e2e4",
        );
    }

    #[test]
    fn currmove_changes_no_variation() {
        check(
            &["info depth 3 score cp 9 pv e2e4", "info depth 4 currmove d2d4 currmovenumber 2"],
            "info depth 3 multipv 1 score cp 9 pv e2e4",
        );
    }

    #[test]
    fn variations_are_separate_and_ordered() {
        check(
            &["info multipv 2 score cp 1 pv d2d4", "info multipv 1 score cp 2 pv e2e4"],
            "info multipv 1 score cp 2 pv e2e4\ninfo multipv 2 score cp 1 pv d2d4",
        );
    }

    #[test]
    fn the_number_of_variations_is_bounded() {
        let mut lines = Lines::default();
        for number in 0..5000 {
            let score = Some(Score::Cp(1));
            let info =
                Info { multipv: Some(number), score, bound: Bound::Exact, ..Info::default() };
            lines.update(&info);
        }
        assert_eq!(lines.len(), Lines::MAX);
    }
}
