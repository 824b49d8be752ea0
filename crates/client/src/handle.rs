//! Handles of running searches.

use std::cell::Cell;
use std::collections::VecDeque;
use std::future::{IntoFuture, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::{Duration, Instant};

use readyok_protocol::Clocks;
use readyok_protocol::session::client::{Purpose, SearchId};

use crate::driver::{Change, Driver};
use crate::error::EngineError;
use crate::search::{Game, Lines, Search, SearchResult, Update};
use crate::shared::{ReadPermit, Shared};
use crate::sync::now;

/// Consecutive updates after which the task yields.
const UPDATES_BEFORE_YIELD: u32 = 64;

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
    id: SearchId,
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

    /// Continues with another number of variations. Earlier reports are discarded.
    ///
    /// # Errors
    /// The engine has ended.
    #[doc(alias = "multipv")]
    pub fn set_lines(&mut self, lines: u32) -> Result<(), EngineError> {
        let search = self.search.clone().lines(lines);
        self.replace(&self.game.clone(), search)
    }

    /// Continues with another value of an option, which is reset after this search. Earlier reports are discarded.
    /// [`Engine::set_option`](crate::Engine::set_option) sets it permanently.
    ///
    /// # Errors
    /// The option is unknown or managed by the session, or the value is invalid, and the old search continues; or the
    /// engine has ended.
    #[doc(alias = "setoption")]
    pub fn set_option(
        &mut self,
        name: impl Into<String>,
        value: impl Into<String>,
    ) -> Result<(), EngineError> {
        let search = self.search.clone().option(name, value);
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

    /// The result, if the search ends by its own limit in time, and `None` otherwise. Reports so far are discarded with it.
    /// The result of a search can be taken once; further calls return
    /// [`Superseded`](crate::DropReason::Superseded).
    #[doc(alias = "timeout")]
    pub fn wait_within(&self, time: Duration) -> Option<Result<SearchResult, EngineError>> {
        let permit = ReadPermit::new(&self.shared);
        let state = self.shared.lock_as_caller();
        let deadline = now().checked_add(time);
        let take = |driver: &mut Driver| driver.take_end(self.id);
        self.shared.wait(state, permit.as_ref(), Change::State, deadline, take)
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
    pub fn next_within(&self, time: Duration) -> Option<Update> {
        self.next_until(now().checked_add(time))
    }

    fn next_until(&self, deadline: Option<Instant>) -> Option<Update> {
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

    /// The next update, in a task. `None` once the search has ended; then await the handle for the result.
    pub async fn update(&self) -> Option<Update> {
        thread_local! {
            static IN_A_ROW: Cell<u32> = const { Cell::new(0) };
        }
        // Yields, so that an engine that never pauses does not block other tasks or other branches of this one.
        let mut yielded = false;
        poll_fn(|context| {
            if !yielded && UPDATES_BEFORE_YIELD <= IN_A_ROW.get() {
                yielded = true;
                IN_A_ROW.set(0);
                context.waker().wake_by_ref();
                return Poll::Pending;
            }
            let id = self.id;
            let next =
                self.shared.poll(context, Change::Update, |driver| match driver.next_update(id) {
                    Some(update) => Some(Some(update)),
                    None => driver.is_over(id).then_some(None),
                });
            IN_A_ROW.set(if next.is_ready() { IN_A_ROW.get() + 1 } else { 0 });
            next
        })
        .await
    }

    /// The result, when the search ends by its own limit, in a task. Dropping the future does not stop the search. The
    /// result can be taken once, as by [`wait_within`](Self::wait_within).
    ///
    /// # Errors
    /// The engine gave no answer, or not in time.
    pub async fn ended(&self) -> Result<SearchResult, EngineError> {
        let id = self.id;
        self.shared.wait_async(Change::State, |driver| driver.take_end(id)).await
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

/// Waits until the search ends by its own limit. Dropping the future stops the search.
impl IntoFuture for SearchHandle {
    type Output = Result<SearchResult, EngineError>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move { self.ended().await })
    }
}

impl Drop for SearchHandle {
    fn drop(&mut self) {
        self.shared.with(|driver, now| driver.discard(self.id, now));
    }
}

pub(crate) fn wait<'a>(
    shared: &'a Shared,
    mut state: crate::shared::StateLock<'a>,
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
    /// the answer of the engine, and so does each further search of the game. [`new_game`](crate::Engine::new_game) starts
    /// the next game.
    pub fn cancel_game(&self) {
        self.0.with(Driver::cancel_game);
    }
}
