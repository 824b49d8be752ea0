//! Searches that read many games: how far they are, and their cancellation when the client does not wait any longer.

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crate::wire::SearchProgress;

/// Maximum number of searches whose progress can be asked for.
const MAX_TICKETS: usize = 64;

/// The running searches with a ticket.
#[derive(Clone, Debug, Default)]
pub(crate) struct LongSearches(Arc<Mutex<HashMap<u32, Arc<Progress>>>>);

#[derive(Debug, Default)]
struct Progress {
    done: AtomicU32,
    all: AtomicU32,
    is_cancelled: AtomicBool,
}

/// A running search. It is cancelled when a [`SearchGuard`] of it is dropped.
#[derive(Debug)]
pub(crate) struct LongSearch {
    progress: Arc<Progress>,
}

/// Cancels a search when it is dropped, with the future that waits for the result.
#[derive(Debug)]
pub(crate) struct SearchGuard {
    searches: LongSearches,
    progress: Arc<Progress>,
    ticket: Option<u32>,
}

impl LongSearches {
    /// A search, and what cancels it.
    pub(crate) fn begin(&self, ticket: Option<u32>) -> (LongSearch, SearchGuard) {
        let progress = Arc::new(Progress::default());
        let mut searches = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_free = |ticket: &u32| searches.len() < MAX_TICKETS && !searches.contains_key(ticket);
        let ticket = ticket.filter(is_free);
        if let Some(ticket) = ticket {
            searches.insert(ticket, Arc::clone(&progress));
        }
        drop(searches);
        let guard = SearchGuard { searches: self.clone(), progress: Arc::clone(&progress), ticket };
        (LongSearch { progress }, guard)
    }

    /// How far a search is, if it runs and reads games.
    pub(crate) fn progress(&self, ticket: u32) -> Option<SearchProgress> {
        let searches = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let progress = searches.get(&ticket)?;
        let all = progress.all.load(Ordering::Relaxed);
        let done = progress.done.load(Ordering::Relaxed).min(all);
        (all > 0).then_some(SearchProgress { done, all })
    }
}

impl LongSearch {
    /// Stores the progress. Breaks if no client waits for the result.
    pub(crate) fn report(&self, done: usize, all: usize) -> ControlFlow<()> {
        let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        self.progress.all.store(count(all), Ordering::Relaxed);
        self.progress.done.store(count(done), Ordering::Relaxed);
        if self.progress.is_cancelled.load(Ordering::Relaxed) {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }
}

impl Drop for SearchGuard {
    fn drop(&mut self) {
        self.progress.is_cancelled.store(true, Ordering::Relaxed);
        if let Some(ticket) = self.ticket {
            self.searches.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&ticket);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dropped_guard_cancels_and_frees_the_ticket() {
        let searches = LongSearches::default();
        let (search, guard) = searches.begin(Some(7));
        assert_eq!(searches.progress(7), None, "no game was read");
        assert_eq!(search.report(3, 10), ControlFlow::Continue(()));
        assert_eq!(searches.progress(7), Some(SearchProgress { done: 3, all: 10 }));
        // Another search with the ticket has no progress, and does not remove that of the first one.
        drop(searches.begin(Some(7)));
        assert_eq!(searches.progress(7), Some(SearchProgress { done: 3, all: 10 }));
        drop(guard);
        assert_eq!(search.report(4, 10), ControlFlow::Break(()));
        assert_eq!(searches.progress(7), None);
    }

    #[test]
    fn the_number_of_tickets_is_limited() {
        let searches = LongSearches::default();
        let guards: Vec<_> = (0..100).map(|ticket| searches.begin(Some(ticket))).collect();
        assert_eq!(searches.0.lock().expect("no panic").len(), MAX_TICKETS);
        drop(guards);
        assert!(searches.0.lock().expect("no panic").is_empty());
    }
}
