//! Telling how far a run has come.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::suite::CheckResult;

/// How far a run has come.
#[derive(Clone, Copy, Debug)]
pub struct Progress<'a> {
    /// So many checks are done, of those that take time.
    pub done: usize,
    /// Of so many.
    pub total: usize,
    /// What came of the last one.
    pub last: &'a CheckResult,
}

type Tell = dyn Fn(Progress<'_>) + Send + Sync;

/// Who is told.
#[derive(Clone, Default)]
pub(crate) struct Watcher(Option<Arc<Tell>>);

/// Counts, and tells.
pub(crate) struct Count<'a> {
    watcher: &'a Watcher,
    done: AtomicUsize,
    total: usize,
}

impl Watcher {
    pub(crate) fn new(tell: impl Fn(Progress<'_>) + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(tell)))
    }

    pub(crate) fn count(&self, total: usize) -> Count<'_> {
        Count { watcher: self, done: AtomicUsize::new(0), total }
    }
}

impl Count<'_> {
    pub(crate) fn tell(&self, last: &CheckResult) {
        let done = self.done.fetch_add(1, Ordering::Relaxed) + 1;
        if let Watcher(Some(tell)) = self.watcher {
            tell(Progress { done, total: self.total, last });
        }
    }
}

impl fmt::Debug for Watcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Watcher").field(&self.0.is_some()).finish()
    }
}
