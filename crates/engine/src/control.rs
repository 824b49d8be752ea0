//! What a search may ask and tell while it runs.

use std::sync::mpsc::SyncSender;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use readyok_protocol::{Info, Move};

use crate::Budget;
use crate::server::Event;
use crate::signals::Signals;

/// The search's side of the session. Clones of it may be used from any thread.
#[derive(Clone, Debug)]
pub struct Control {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    /// Tells this search from those before and after it.
    search: u64,
    start: Instant,
    /// The budget is counted from `start`.
    signals: Signals,
    first_move: Mutex<Option<Move>>,
    events: SyncSender<Event>,
}

impl Control {
    pub(crate) fn new(
        search: u64,
        start: Instant,
        budget: Option<Budget>,
        events: SyncSender<Event>,
    ) -> Self {
        let signals = Signals::new(budget);
        let first_move = Mutex::new(None);
        Self { shared: Arc::new(Shared { search, start, signals, first_move, events }) }
    }

    /// Whether to return the best move so far: the client sent so, or the time is up.
    #[doc(alias = "timeout")]
    pub fn stopped(&self) -> bool {
        self.shared.signals.stopped()
    }

    /// Whether the search runs on the opponent's time. Nothing limits it then.
    pub fn pondering(&self) -> bool {
        self.shared.signals.pondering()
    }

    /// The time since `go`: what `info time` tells. A `ponderhit` does not set it back.
    pub fn elapsed(&self) -> Duration {
        self.time_until(crate::now())
    }

    pub(crate) fn time_until(&self, at: Instant) -> Duration {
        at.saturating_duration_since(self.shared.start)
    }

    /// How long the search may take, on the clock of [`elapsed`](Self::elapsed). Ask again and
    /// again: while pondering there is no limit, and a ponder hit sets one.
    pub fn budget(&self) -> Budget {
        self.shared.signals.budget()
    }

    /// Tells about the search. Lines stay whole, whichever thread tells them.
    ///
    /// Not every line reaches the client immediately; see
    /// [`EngineSession::info`](readyok_protocol::session::engine::EngineSession::info).
    #[doc(alias = "multipv")]
    pub fn info(&self, info: Info<'_>) {
        if let Some(pv) = info.pv.as_ref().filter(|_| info.multipv.is_none_or(|rank| rank == 1))
            && let Some(first) = pv.moves().next()
        {
            *self.first_move() = Some(first);
        }
        self.send(info);
    }

    /// Tells a text for people, as `info string`; each of its lines as one.
    pub fn say(&self, text: &str) {
        for line in lines(text) {
            self.send(Info::text(line));
        }
    }

    fn send(&self, info: Info<'_>) {
        let info = Box::new(info.into_owned());
        // The receiver is gone when the engine is about to end, and nobody listens any more.
        let _ = self.shared.events.send(Event::Info { search: self.shared.search, info });
    }

    pub(crate) fn search(&self) -> u64 {
        self.shared.search
    }

    pub(crate) fn stop(&self) {
        self.shared.signals.stop();
    }

    pub(crate) fn ponder_hit(&self, at: Instant, budget: Budget) {
        let since = at.saturating_duration_since(self.shared.start);
        self.shared.signals.ponder_hit(budget.later_by(since));
    }

    /// When the search has to be stopped.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        let hard = self.budget().hard.filter(|_| !self.stopped())?;
        self.shared.start.checked_add(hard)
    }

    /// The first move of the last best line that was reported.
    pub(crate) fn first_move(&self) -> std::sync::MutexGuard<'_, Option<Move>> {
        self.shared.first_move.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The lines of a text, without empty ones.
pub(crate) fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.split(['\n', '\r', '\0']).filter(|line| !line.is_empty())
}
