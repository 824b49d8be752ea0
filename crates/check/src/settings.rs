//! Settings and progress of a run.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use readyok_protocol::Dialect;

use crate::context::TestCase;
use crate::result::CheckResult;
use crate::spec::{Check, Severity};
use crate::timeouts::Timeouts;

/// Selection and settings of the checks of a run.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    pub(crate) dialect: Option<Dialect>,
    pub(crate) only: Vec<String>,
    pub(crate) skip: Vec<String>,
    pub(crate) jobs: Option<usize>,
    pub(crate) timeout_scale: f64,
    pub(crate) timeouts: Option<Timeouts>,
    pub(crate) start_timeout: Option<Duration>,
    pub(crate) seed: u64,
    pub(crate) watcher: Watcher,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            dialect: None,
            only: Vec::new(),
            skip: Vec::new(),
            jobs: None,
            timeout_scale: 1.0,
            timeouts: None,
            start_timeout: None,
            seed: 1,
            watcher: Watcher::default(),
        }
    }
}

impl Settings {
    /// The timeouts, by default for the current system load.
    pub(crate) fn timeouts(&self) -> Timeouts {
        let timeouts = self.timeouts.unwrap_or_else(|| Timeouts::calibrated(self.timeout_scale));
        self.start_timeout.map_or(timeouts, |timeout| timeouts.with_start(timeout))
    }

    /// The selected checks with their severities.
    pub(crate) fn selected(
        &self,
        cases: impl Iterator<Item = &'static TestCase>,
        severity: impl Fn(&Check) -> Option<Severity>,
    ) -> Vec<(&'static TestCase, Severity)> {
        let selected = cases.filter(|case| self.selects(case.check.id));
        selected.filter_map(|case| Some((case, severity(&case.check)?))).collect()
    }

    /// Whether a check is selected by the prefixes of its id.
    fn selects(&self, id: &str) -> bool {
        let starts = |list: &[String]| list.iter().any(|it| id.starts_with(it.as_str()));
        (self.only.is_empty() || starts(&self.only)) && !starts(&self.skip)
    }
}

/// Defines the setters that both suites share.
macro_rules! setters {
    () => {
        /// Runs only checks whose ids start with a prefix.
        #[must_use]
        pub fn only(mut self, prefixes: impl IntoIterator<Item = impl Into<String>>) -> Self {
            self.settings.only.extend(prefixes.into_iter().map(Into::into));
            self
        }

        /// Skips checks whose ids start with a prefix.
        #[must_use]
        pub fn skip(mut self, prefixes: impl IntoIterator<Item = impl Into<String>>) -> Self {
            self.settings.skip.extend(prefixes.into_iter().map(Into::into));
            self
        }

        /// Sets the number of parallel checks; by default one per CPU core.
        #[must_use]
        pub fn jobs(mut self, jobs: usize) -> Self {
            self.settings.jobs = Some(jobs.max(1));
            self
        }

        /// Multiplies all timeouts by a factor.
        #[must_use]
        pub fn timeout_scale(mut self, factor: f64) -> Self {
            let factor = if factor.is_finite() { factor.clamp(0.01, 1000.0) } else { 1.0 };
            self.settings.timeout_scale = factor;
            self
        }

        /// Sets fixed timeouts, independent of the system load.
        #[must_use]
        pub fn timeouts(mut self, timeouts: Timeouts) -> Self {
            self.settings.timeouts = Some(timeouts);
            self
        }

        /// Sets the seed of random moves, positions and commands.
        #[must_use]
        pub fn seed(mut self, seed: u64) -> Self {
            self.settings.seed = seed;
            self
        }

        /// Calls `notify` after each check, from any thread, except for passive checks.
        #[must_use]
        pub fn on_progress(
            mut self,
            notify: impl Fn($crate::Progress<'_>) + Send + Sync + 'static,
        ) -> Self {
            self.settings.watcher = $crate::settings::Watcher::new(notify);
            self
        }
    };
}

pub(crate) use setters;

/// Progress of a run.
#[derive(Clone, Copy, Debug)]
pub struct Progress<'a> {
    /// Number of completed checks, without passive ones.
    pub done: usize,
    /// Total number of checks.
    pub total: usize,
    /// The last result.
    pub last: &'a CheckResult,
}

type Notify = dyn Fn(Progress<'_>) + Send + Sync;

/// The progress callback.
#[derive(Clone, Default)]
pub(crate) struct Watcher(Option<Arc<Notify>>);

/// Counts completed checks, and reports them.
pub(crate) struct Count<'a> {
    watcher: &'a Watcher,
    done: AtomicUsize,
    total: usize,
}

impl Watcher {
    pub(crate) fn new(notify: impl Fn(Progress<'_>) + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(notify)))
    }

    pub(crate) fn count(&self, total: usize) -> Count<'_> {
        Count { watcher: self, done: AtomicUsize::new(0), total }
    }
}

impl Count<'_> {
    pub(crate) fn report(&self, last: &CheckResult) {
        let done = self.done.fetch_add(1, Ordering::Relaxed) + 1;
        if let Watcher(Some(notify)) = self.watcher {
            notify(Progress { done, total: self.total, last });
        }
    }
}

impl fmt::Debug for Watcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Watcher").field(&self.0.is_some()).finish()
    }
}
