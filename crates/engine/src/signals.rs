//! Signals of the main loop to a running search: stop, and the budget of a ponder hit.

use std::time::Duration;

use crate::{
    Budget,
    sync::{AtomicBool, AtomicU64, Ordering},
};

/// Signals of one search. They are never reset.
#[derive(Debug)]
pub(crate) struct Signals {
    stopped: AtomicBool,
    pondering: AtomicBool,
    /// The budget in microseconds; `NEVER` is no limit.
    from: AtomicU64,
    soft: AtomicU64,
    hard: AtomicU64,
    overhead: AtomicU64,
}

const NEVER: u64 = u64::MAX;

impl Signals {
    /// Without a budget the search is pondering.
    pub(crate) fn new(budget: Option<Budget>) -> Self {
        let Budget { from, soft, hard, overhead } = budget.unwrap_or_default();
        Self {
            stopped: AtomicBool::new(false),
            pondering: AtomicBool::new(budget.is_none()),
            from: AtomicU64::new(micros(from)),
            soft: AtomicU64::new(soft.map_or(NEVER, micros)),
            hard: AtomicU64::new(hard.map_or(NEVER, micros)),
            overhead: AtomicU64::new(micros(overhead)),
        }
    }

    pub(crate) fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
    }

    pub(crate) fn stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }

    pub(crate) fn ponder_hit(&self, budget: Budget) {
        self.from.store(micros(budget.from), Ordering::Relaxed);
        self.soft.store(budget.soft.map_or(NEVER, micros), Ordering::Relaxed);
        self.hard.store(budget.hard.map_or(NEVER, micros), Ordering::Relaxed);
        self.overhead.store(micros(budget.overhead), Ordering::Relaxed);
        // Publishes the budget above.
        self.pondering.store(false, Ordering::Release);
    }

    pub(crate) fn pondering(&self) -> bool {
        self.pondering.load(Ordering::Acquire)
    }

    /// No limits while the search is pondering.
    pub(crate) fn budget(&self) -> Budget {
        if self.pondering() {
            return Budget::default();
        }
        let read = |limit: &AtomicU64| match limit.load(Ordering::Relaxed) {
            NEVER => None,
            micros => Some(Duration::from_micros(micros)),
        };
        Budget {
            from: Duration::from_micros(self.from.load(Ordering::Relaxed)),
            soft: read(&self.soft),
            hard: read(&self.hard),
            overhead: Duration::from_micros(self.overhead.load(Ordering::Relaxed)),
        }
    }
}

fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(NEVER)
}
