//! The clock, and timeouts that adapt to the system load and to the engine.

use std::time::{Duration, Instant};
use std::{fs, thread};

/// Timeout of a reply on an idle machine.
const ANSWER: Duration = Duration::from_secs(4);

/// Observation time for unexpected output.
const QUIET: Duration = Duration::from_millis(120);

/// The timeouts of a run.
#[derive(Clone, Copy, Debug)]
pub struct Timeouts {
    /// The product of the system load and the factor of the user.
    scale: f64,
    /// The system load, at least 1.
    load: f64,
    /// An idle engine has less time for a reply.
    is_quick: bool,
    /// Measured duration of `isready`.
    ping: Duration,
    /// Measured duration of a short search.
    search: Duration,
    /// User-defined timeout of the start.
    start: Option<Duration>,
    /// End of the run.
    deadline: Option<Instant>,
}

impl Timeouts {
    /// Timeouts for the current system load, times a factor.
    ///
    /// Timeouts grow with the load average per CPU core, where available.
    pub fn calibrated(factor: f64) -> Self {
        let cores = thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let cores = u32::try_from(cores).unwrap_or(u32::MAX);
        let share = load().map_or(1.0, |load| load / f64::from(cores));
        let load = share.clamp(1.0, 50.0);
        Self { load, ..Self::fixed(factor * load) }
    }

    /// The timeouts of an idle machine times a factor.
    pub fn fixed(factor: f64) -> Self {
        Self {
            scale: factor,
            load: 1.0,
            is_quick: false,
            ping: Duration::ZERO,
            search: Duration::ZERO,
            start: None,
            deadline: None,
        }
    }

    /// Sets the measured duration of `isready`.
    #[must_use]
    pub fn with_ping(self, ping: Duration) -> Self {
        Self { ping, ..self }
    }

    /// Sets the measured duration of a short search.
    #[must_use]
    pub(crate) fn with_search(self, search: Duration) -> Self {
        Self { search: search.min(ANSWER), ..self }
    }

    /// Half the time, for example to confirm a failure.
    #[must_use]
    pub(crate) fn for_confirmation(self) -> Self {
        Self { scale: self.scale / 2.0, ..self }
    }

    /// Sets the end of the run.
    #[must_use]
    pub(crate) fn with_deadline(self, deadline: Option<Instant>) -> Self {
        Self { deadline, ..self }
    }

    /// The end of the run.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        self.deadline
    }

    /// Sets the timeout of the handshake and of `isready`.
    #[must_use]
    pub fn with_start(self, start: Duration) -> Self {
        Self { start: Some(start), ..self }
    }

    /// Timeout of a reply: a multiple of what the engine was observed to need.
    pub fn answer(&self) -> Duration {
        (ANSWER.max(self.search * 5) + self.ping * 20).mul_f64(self.scale)
    }

    /// Timeout of the handshake and of `isready`, which may load files.
    pub fn start(&self) -> Duration {
        self.start.unwrap_or_else(|| self.answer() * 5)
    }

    /// The part of a timeout after which an idle engine has no reply: the load does not delay it.
    pub(crate) fn of_idle(&self, limit: Duration) -> Duration {
        limit.div_f64(self.load * if self.is_quick { 2.0 } else { 1.0 })
    }

    /// For `--level quick`.
    #[must_use]
    pub(crate) fn with_quick(self, is_quick: bool) -> Self {
        Self { is_quick, ..self }
    }

    /// Tolerance of search times.
    pub fn margin(&self) -> Duration {
        (Duration::from_millis(800) + self.ping * 10).mul_f64(self.scale)
    }

    /// Observation time for unexpected output. A short time may miss a violation, but never reports a false one.
    pub fn quiet(&self) -> Duration {
        QUIET + self.ping
    }

    /// The factor of all timeouts.
    pub fn scale(&self) -> f64 {
        self.scale
    }

    /// Measured duration of `isready`.
    pub fn ping(&self) -> Duration {
        self.ping
    }
}

/// The load average of the last minute, where available.
fn load() -> Option<f64> {
    fs::read_to_string("/proc/loadavg").ok()?.split_whitespace().next()?.parse().ok()
}

#[expect(clippy::disallowed_methods, reason = "the only use of the clock in this crate")]
pub(crate) fn now() -> Instant {
    Instant::now()
}
