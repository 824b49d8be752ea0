//! What both kinds of runs can be told.

use std::time::Duration;

use readyok_protocol::Dialect;

use crate::check::{Check, Severity};
use crate::pace::Pace;
use crate::progress::Watcher;

/// Which checks a run has, and how it goes about them.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    pub(crate) dialect: Option<Dialect>,
    pub(crate) only: Vec<String>,
    pub(crate) skip: Vec<String>,
    pub(crate) jobs: Option<usize>,
    pub(crate) timeout_scale: f64,
    pub(crate) pace: Option<Pace>,
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
            pace: None,
            start_timeout: None,
            seed: 1,
            watcher: Watcher::default(),
        }
    }
}

impl Settings {
    /// The limits, by the machine as it is now if none were given.
    pub(crate) fn pace(&self) -> Pace {
        let pace = self.pace.unwrap_or_else(|| Pace::calibrated(self.timeout_scale));
        self.start_timeout.map_or(pace, |timeout| pace.with_start(timeout))
    }

    /// Those checks that are to be run, each with how much it matters there.
    pub(crate) fn chosen(
        &self,
        checks: impl Iterator<Item = &'static Check>,
        severity: impl Fn(&Check) -> Option<Severity>,
    ) -> Vec<(&'static Check, Severity)> {
        let wanted = checks.filter(|check| self.wants(check.id));
        wanted.filter_map(|check| Some((check, severity(check)?))).collect()
    }

    /// Whether a check is to be run: if its name starts so, and not so.
    fn wants(&self, id: &str) -> bool {
        let starts = |list: &[String]| list.iter().any(|it| id.starts_with(it.as_str()));
        (self.only.is_empty() || starts(&self.only)) && !starts(&self.skip)
    }
}

/// The methods by which the field `settings` of a type is set, as both types promise them.
macro_rules! setters {
    () => {
        /// Runs only checks whose names start so.
        #[must_use]
        pub fn only(mut self, prefixes: impl IntoIterator<Item = impl Into<String>>) -> Self {
            self.settings.only.extend(prefixes.into_iter().map(Into::into));
            self
        }

        /// Leaves out checks whose names start so.
        #[must_use]
        pub fn skip(mut self, prefixes: impl IntoIterator<Item = impl Into<String>>) -> Self {
            self.settings.skip.extend(prefixes.into_iter().map(Into::into));
            self
        }

        /// Runs so many checks at once; by default one for each processor.
        #[must_use]
        pub fn jobs(mut self, jobs: usize) -> Self {
            self.settings.jobs = Some(jobs.max(1));
            self
        }

        /// Multiplies all limits of time.
        #[must_use]
        pub fn timeout_scale(mut self, factor: f64) -> Self {
            let factor = if factor.is_finite() { factor.clamp(0.01, 1000.0) } else { 1.0 };
            self.settings.timeout_scale = factor;
            self
        }

        /// Keeps to these limits, whatever the machine is busy with.
        #[must_use]
        pub fn pace(mut self, pace: Pace) -> Self {
            self.settings.pace = Some(pace);
            self
        }

        /// Draws lots from here: moves, positions, and what is said when.
        #[must_use]
        pub fn seed(mut self, seed: u64) -> Self {
            self.settings.seed = seed;
            self
        }

        /// Tells of each check that is done, from any thread. Those that only listen to what others had
        /// said are not told of.
        #[must_use]
        pub fn on_progress(
            mut self,
            tell: impl Fn($crate::Progress<'_>) + Send + Sync + 'static,
        ) -> Self {
            self.settings.watcher = $crate::progress::Watcher::new(tell);
            self
        }
    };
}

pub(crate) use setters;
