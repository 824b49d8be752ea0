//! What a search may ask and tell while it runs.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::SyncSender;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use readyok_protocol::{Info, Move};

use crate::Budget;
use crate::server::Event;

/// The search's side of the conversation. Clones of it may be used from any thread.
#[derive(Clone, Debug)]
pub struct Control {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    /// Tells this search from those before and after it.
    search: u64,
    start: Instant,
    stopped: AtomicBool,
    pondering: AtomicBool,
    /// The budget, in microseconds after `start`; `NEVER` for none.
    from: AtomicU64,
    soft: AtomicU64,
    hard: AtomicU64,
    first_move: Mutex<Option<Move>>,
    events: SyncSender<Event>,
}

const NEVER: u64 = u64::MAX;

impl Control {
    pub(crate) fn new(
        search: u64,
        start: Instant,
        budget: Option<Budget>,
        events: SyncSender<Event>,
    ) -> Self {
        let control = Self {
            shared: Arc::new(Shared {
                search,
                start,
                stopped: AtomicBool::new(false),
                pondering: AtomicBool::new(budget.is_none()),
                from: AtomicU64::new(0),
                soft: AtomicU64::new(NEVER),
                hard: AtomicU64::new(NEVER),
                first_move: Mutex::new(None),
                events,
            }),
        };
        control.set_budget(budget.unwrap_or_default());
        control
    }

    /// Whether to return the best move so far: the client said so, or the time is up.
    pub fn stopped(&self) -> bool {
        self.shared.stopped.load(Ordering::Relaxed)
    }

    /// Whether the search runs on the opponent's time. Nothing limits it then.
    pub fn pondering(&self) -> bool {
        self.shared.pondering.load(Ordering::Acquire)
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
        if self.pondering() {
            return Budget::default();
        }
        let read = |limit: &AtomicU64| match limit.load(Ordering::Relaxed) {
            NEVER => None,
            micros => Some(Duration::from_micros(micros)),
        };
        Budget {
            from: Duration::from_micros(self.shared.from.load(Ordering::Relaxed)),
            soft: read(&self.shared.soft),
            hard: read(&self.shared.hard),
        }
    }

    /// Tells about the search. Lines stay whole, whichever thread tells them.
    ///
    /// Not every line reaches the client at once; see
    /// [`EngineSession::info`](readyok_protocol::session::engine::EngineSession::info).
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
        self.shared.stopped.store(true, Ordering::Relaxed);
    }

    pub(crate) fn ponder_hit(&self, at: Instant, budget: Budget) {
        self.set_budget(budget.later_by(at.saturating_duration_since(self.shared.start)));
        // Whoever sees this sees the clock that belongs to it.
        self.shared.pondering.store(false, Ordering::Release);
    }

    /// When the search has to be stopped.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        let hard = self.budget().hard.filter(|_| !self.stopped())?;
        self.shared.start.checked_add(hard)
    }

    /// The first move of the last best line that was told.
    pub(crate) fn first_move(&self) -> std::sync::MutexGuard<'_, Option<Move>> {
        self.shared.first_move.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn set_budget(&self, budget: Budget) {
        self.shared.from.store(micros(budget.from), Ordering::Relaxed);
        self.shared.soft.store(budget.soft.map_or(NEVER, micros), Ordering::Relaxed);
        self.shared.hard.store(budget.hard.map_or(NEVER, micros), Ordering::Relaxed);
    }
}

/// The lines of a text, without empty ones.
pub(crate) fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.split(['\n', '\r', '\0']).filter(|line| !line.is_empty())
}

fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(NEVER)
}
