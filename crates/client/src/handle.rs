//! Handles and results of running searches.

use std::collections::VecDeque;
use std::ops::Deref;
use std::sync::Arc;
use std::time::{Duration, Instant};

use readyok_protocol::session::client::{Purpose, SearchId};
use readyok_protocol::{Best, Checkmate, Clocks, Info, Move, Score};

use crate::clock::now;
use crate::driver::{Change, Driver};
use crate::engine::Engine;
use crate::error::EngineError;
use crate::search::Game;
use crate::search::Search;
use crate::shared::{ReadPermit, Shared};

/// A running search. It borrows nothing, and runs independently of this handle.
///
/// As an iterator it yields each [`Update`], until the search ends; [`wait`](Self::wait) returns the result, or the
/// error that ended it. A slow reader misses updates, but never the latest of a variation. In tasks, await
/// [`update`](Self::update), and the handle itself for the result.
///
/// Dropping the handle stops the search, and the engine stays usable. A search that a newer one replaced ends as
/// [`Superseded`](crate::DropReason::Superseded).
///
/// ```no_run
/// # use readyok_client::{Clock, Clocks, Engine, EngineError, Game, Limit, Search};
/// # use std::{process::Command, time::Duration};
/// # fn main() -> Result<(), EngineError> {
/// let start = |path: &str| Engine::spawn(Command::new(path));
/// let (mut white, mut black) = (start("stockfish")?, start("stockfish")?);
/// let time = Duration::from_secs(60);
/// let clocks = Clocks::new(Clock::fischer(time, time / 60), Clock::fischer(time, time / 60));
///
/// // An answer after White's time and a margin does not count.
/// let mut game = Game::startpos();
/// let search = Search::new(Limit::clock(clocks)).deadline_after(time + Duration::from_millis(20));
/// let result = white.play(&game, search.clone())?;
/// println!("{:?} after {:?}", result.best_move(), result.time());
///
/// // White ponders on the expected reply while Black searches.
/// game.extend(result.best_move());
/// let mut expected = game.clone();
/// expected.extend(result.ponder);
/// let pondering = white.ponder(&expected, search.clone())?;
/// let result = black.play(&game, search.clone())?;
/// game.extend(result.best_move());
/// let result = if game.position() == expected.position() {
///     pondering.ponder_hit(None)?;
///     pondering.wait()?
/// } else {
///     // A new search stops the old one.
///     white.play(&game, search)?
/// };
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct SearchHandle {
    shared: Arc<Shared>,
    pub(crate) id: SearchId,
    game: Game,
    search: Search,
    purpose: Purpose,
}

impl SearchHandle {
    pub(crate) fn begin(
        shared: &Arc<Shared>,
        game: &Game,
        search: Search,
        purpose: Purpose,
    ) -> Result<Self, EngineError> {
        let id =
            shared.begin(|driver, now| driver.search(game, search.clone(), purpose, true, now))?;
        Ok(Self { shared: Arc::clone(shared), id, game: game.clone(), search, purpose })
    }

    pub(crate) fn shared(&self) -> &Shared {
        &self.shared
    }

    /// Continues with another number of variations. Earlier reports are discarded.
    ///
    /// # Errors
    /// The engine has ended.
    #[doc(alias = "multipv")]
    pub fn set_lines(&mut self, lines: u32) -> Result<(), EngineError> {
        let search = self.search.clone().lines(lines);
        self.replace(&self.game.clone(), search)
    }

    /// Continues with another position. Earlier reports are discarded.
    ///
    /// # Errors
    /// The position is invalid, and the old search continues; or the engine has ended.
    pub fn set_game(&mut self, game: &Game) -> Result<(), EngineError> {
        self.replace(game, self.search.clone())
    }

    fn replace(&mut self, game: &Game, search: Search) -> Result<(), EngineError> {
        // The new search stops the old one, whose result is discarded.
        let new = Self::begin(&self.shared, game, search, self.purpose)?;
        drop(std::mem::replace(self, new));
        Ok(())
    }

    /// Stops the search as soon as it has started, without waiting for the answer.
    pub fn stop(&self) {
        self.shared.with(|driver, now| driver.stop(self.id, now));
    }

    /// Reports that the opponent played the expected move: the search continues as a normal one, and its time starts
    /// now. Clocks, if given, replace those at the start; they are sent only to shogi engines.
    ///
    /// # Errors
    /// The search is not pondering, or the engine has ended.
    #[doc(alias = "ponderhit")]
    pub fn ponder_hit(&self, clocks: Option<Clocks>) -> Result<(), EngineError> {
        self.shared.with(|driver, now| driver.ponder_hit(self.id, clocks, now))
    }

    /// Waits until the search ends by its own limit.
    ///
    /// # Errors
    /// The engine gave no answer, or not in time.
    pub fn wait(self) -> Result<SearchResult, EngineError> {
        self.wait_with(|_| ())
    }

    /// Like [`wait`](Self::wait), and calls `on_update` for each `info`.
    ///
    /// # Errors
    /// The engine gave no answer, or not in time.
    pub fn wait_with(self, on_update: impl FnMut(&Update)) -> Result<SearchResult, EngineError> {
        wait(&self.shared, self.shared.lock_as_caller(), self.id, None, Some(on_update))
    }

    /// Stops the search and waits for its answer.
    ///
    /// # Errors
    /// The engine gave no answer.
    pub fn finish(self) -> Result<SearchResult, EngineError> {
        self.stop();
        self.wait()
    }

    /// The next update, if it arrives in time. `None` also if the search has ended.
    #[doc(alias = "timeout")]
    pub fn next_within(&mut self, time: Duration) -> Option<Update> {
        self.next_until(now().checked_add(time))
    }

    fn next_until(&mut self, deadline: Option<Instant>) -> Option<Update> {
        let id = self.id;
        let next = self.shared.wait(
            self.shared.lock_as_caller(),
            None,
            Change::Update,
            deadline,
            |driver| match driver.next_update(id) {
                Some(update) => Some(Some(update)),
                None => driver.is_over(id).then_some(None),
            },
        );
        next.flatten()
    }

    /// The reported variations so far.
    pub fn so_far(&self) -> Lines {
        self.shared.read(|driver| driver.lines(self.id))
    }

    /// Whether the search has ended. Updates may still be left to read.
    pub fn is_over(&self) -> bool {
        self.shared.read(|driver| driver.is_over(self.id))
    }

    /// A handle for other threads to stop the search.
    pub fn stopper(&self) -> Stopper {
        Stopper(Arc::clone(&self.shared))
    }
}

impl Iterator for SearchHandle {
    type Item = Update;

    fn next(&mut self) -> Option<Update> {
        self.next_until(None)
    }
}

impl Drop for SearchHandle {
    fn drop(&mut self) {
        self.shared.with(|driver, now| driver.discard(self.id, now));
    }
}

impl Engine {
    /// Starts a search and waits, reading in this thread.
    pub(crate) fn search(
        &self,
        game: &Game,
        search: Search,
        purpose: Purpose,
        on_update: Option<impl FnMut(&Update)>,
    ) -> Result<SearchResult, EngineError> {
        let permit = ReadPermit::new(&self.shared);
        let mut state = self.shared.lock_as_caller();
        let id = state.driver.search(game, search, purpose, on_update.is_some(), now())?;
        let abandoned = Abandoned { shared: &self.shared, id };
        let result = wait(&self.shared, state, id, permit.as_ref(), on_update);
        std::mem::forget(abandoned);
        result
    }
}

/// Stops the search if a callback panics.
struct Abandoned<'a> {
    shared: &'a Shared,
    id: SearchId,
}

impl Drop for Abandoned<'_> {
    fn drop(&mut self) {
        self.shared.with(|driver, now| driver.discard(self.id, now));
    }
}

fn wait<'a>(
    shared: &'a Shared,
    mut state: crate::shared::Guard<'a>,
    id: SearchId,
    permit: Option<&ReadPermit<'_>>,
    mut on_update: Option<impl FnMut(&Update)>,
) -> Result<SearchResult, EngineError> {
    let wanted = if on_update.is_some() { Change::Update } else { Change::State };
    let mut updates = VecDeque::new();
    loop {
        let end = shared.wait(state, permit, wanted, None, |driver| {
            if on_update.is_some() && driver.take_updates(id, &mut updates) {
                return Some(None);
            }
            driver.take_end(id).map(Some)
        });
        if let Some(on_update) = &mut on_update {
            updates.drain(..).for_each(|update| on_update(&update));
        }
        if let Some(end) = end.flatten() {
            return end;
        }
        state = shared.lock_as_caller();
    }
}

/// Stops the running search of an engine, from any thread.
#[derive(Clone, Debug)]
pub struct Stopper(pub(crate) Arc<Shared>);

impl Stopper {
    /// Stops the search: the waiting call returns with its result. No effect if no search is running.
    pub fn stop(&self) {
        self.0.with(Driver::stop_latest);
    }

    /// Cancels the game: the running search ends immediately with [`Cancelled`](crate::DropReason::Cancelled), without
    /// the answer of the engine, and so does each further search of the game. [`new_game`](Engine::new_game) starts
    /// the next game.
    pub fn cancel_game(&self) {
        self.0.with(Driver::cancel_game);
    }
}

/// The result of a search.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct SearchResult {
    /// The answer in the engine's notation: an unchecked move, none, or a resignation.
    pub best: Best<'static>,
    /// The expected reply, to ponder on.
    pub ponder: Option<Move>,
    /// The latest info about the best variation.
    pub info: Info<'static>,
    /// The latest info about all variations.
    pub lines: Lines,
    /// The answer of a shogi engine to a mate search.
    pub checkmate: Option<Checkmate<'static>>,
    /// When `go` or `ponderhit` was written; measured just before.
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

    /// The result of a mate search, in the form of USI for both protocols.
    pub(crate) fn into_checkmate(self) -> Checkmate<'static> {
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
