//! The interface of a running search.

use std::sync::mpsc::SyncSender;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use readyok_protocol::{Info, Move};

use crate::budget::Budget;
use crate::event::Event;
use crate::signals::Signals;

/// The interface of a search to the runtime. Clones may be used from any thread.
#[derive(Clone, Debug)]
pub struct Control {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    /// Identifies the search.
    search: u64,
    start: Instant,
    /// The budget is relative to `start`.
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

    /// Whether the search must return: `stop` was sent, or the time limit is reached.
    #[doc(alias = "timeout")]
    pub fn stopped(&self) -> bool {
        self.shared.signals.stopped()
    }

    /// Whether the search is pondering, without limits.
    pub fn pondering(&self) -> bool {
        self.shared.signals.pondering()
    }

    /// The time since `go`, for `info time`. `ponderhit` does not reset it.
    pub fn elapsed(&self) -> Duration {
        self.time_until(crate::now())
    }

    pub(crate) fn time_until(&self, at: Instant) -> Duration {
        at.saturating_duration_since(self.shared.start)
    }

    /// The time limits, relative to the start of [`elapsed`](Self::elapsed). Poll them: a ponder hit sets
    /// the limits of a pondering search.
    pub fn budget(&self) -> Budget {
        self.shared.signals.budget()
    }

    /// Sends search information. Lines of several threads do not mix.
    ///
    /// Lines may be delayed or dropped; see
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

    /// Sends an `info string` for each line of a text.
    pub fn info_string(&self, text: &str) {
        for line in lines(text) {
            self.send(Info::text(line));
        }
    }

    fn send(&self, info: Info<'_>) {
        let info = Box::new(info.into_owned());
        // The receiver is missing if the engine is about to exit.
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

    /// When the search must be stopped.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        let hard = self.budget().hard.filter(|_| !self.stopped())?;
        self.shared.start.checked_add(hard)
    }

    /// The first move of the last reported PV.
    pub(crate) fn first_move(&self) -> std::sync::MutexGuard<'_, Option<Move>> {
        self.shared.first_move.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The non-empty lines of a text.
pub(crate) fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.split(['\n', '\r', '\0']).filter(|line| !line.is_empty())
}
