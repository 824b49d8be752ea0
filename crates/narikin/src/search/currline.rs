//! Collects the current lines of all threads for `UCI_ShowCurrLine`.

use std::{
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU32, Ordering::Relaxed},
    },
    time::Duration,
};

/// The interval of reports.
const INTERVAL: Duration = Duration::from_secs(1);

/// Threads that have not submitted a line by then are skipped.
const TIMEOUT: Duration = Duration::from_millis(500);

/// Threads submit their lines here on request.
#[derive(Debug)]
pub(crate) struct CurrLines<M> {
    /// The number of requests so far.
    round: AtomicU32,
    /// The submitted lines with thread numbers.
    lines: Mutex<Vec<(usize, Vec<M>)>>,
}

impl<M: Copy> CurrLines<M> {
    pub(crate) fn new() -> Self {
        Self { round: AtomicU32::new(0), lines: Mutex::default() }
    }

    /// Requests the lines of all threads.
    fn request(&self) {
        let mut lines = self.lines();
        lines.clear();
        self.round.fetch_add(1, Relaxed);
    }

    /// Submits a thread's line, once per request.
    pub(crate) fn submit(&self, submitted: &mut u32, thread: usize, line: &[M]) {
        if self.round.load(Relaxed) == *submitted {
            return;
        }
        let mut lines = self.lines();
        *submitted = self.round.load(Relaxed);
        lines.push((thread, line.to_vec()));
    }

    fn lines(&self) -> MutexGuard<'_, Vec<(usize, Vec<M>)>> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The main thread's side.
#[derive(Debug)]
pub(crate) struct CurrLineReporter<'w, M> {
    lines: &'w CurrLines<M>,
    /// The number of helper threads.
    helpers: usize,
    requested_at: Duration,
    is_waiting: bool,
}

impl<'w, M: Copy> CurrLineReporter<'w, M> {
    pub(crate) fn new(lines: &'w CurrLines<M>, helpers: usize) -> Self {
        Self { lines, helpers, requested_at: Duration::ZERO, is_waiting: false }
    }

    /// The lines of the helper threads, by thread number, when a report is due.
    pub(crate) fn poll(&mut self, elapsed: Duration) -> Option<Vec<(usize, Vec<M>)>> {
        if elapsed.saturating_sub(self.requested_at) >= INTERVAL {
            self.lines.request();
            self.requested_at = elapsed;
            self.is_waiting = true;
        }
        if !self.is_waiting {
            return None;
        }
        let mut lines = self.lines.lines();
        if lines.len() < self.helpers && elapsed.saturating_sub(self.requested_at) < TIMEOUT {
            return None;
        }
        self.is_waiting = false;
        lines.sort_by_key(|&(thread, _)| thread);
        Some(std::mem::take(&mut *lines))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{CurrLineReporter, CurrLines};

    const fn at(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    #[test]
    fn reports_when_all_threads_have_submitted() {
        let lines = CurrLines::new();
        let (mut reporter, mut one, mut two) = (CurrLineReporter::new(&lines, 2), 0, 0);
        lines.submit(&mut one, 1, &['a']);
        assert_eq!(reporter.poll(at(999)), None);
        assert_eq!(reporter.poll(at(1000)), None);
        lines.submit(&mut two, 2, &['b']);
        lines.submit(&mut two, 2, &['c']);
        assert_eq!(reporter.poll(at(1001)), None);
        lines.submit(&mut one, 1, &['d', 'e']);
        let lines = vec![(1, vec!['d', 'e']), (2, vec!['b'])];
        assert_eq!(reporter.poll(at(1002)), Some(lines));
        assert_eq!(reporter.poll(at(1003)), None);
    }

    #[test]
    fn a_report_waits_for_at_most_the_timeout() {
        let lines = CurrLines::new();
        let (mut reporter, mut one, mut two) = (CurrLineReporter::new(&lines, 2), 0, 0);
        assert_eq!(reporter.poll(at(1000)), None);
        lines.submit(&mut one, 1, &['a']);
        assert_eq!(reporter.poll(at(1499)), None);
        assert_eq!(reporter.poll(at(1500)), Some(vec![(1, vec!['a'])]));
        // A late line does not count for the next request.
        lines.submit(&mut two, 2, &['b']);
        assert_eq!(reporter.poll(at(2000)), None);
        assert_eq!(reporter.poll(at(2500)), Some(Vec::new()));
    }

    #[test]
    fn a_single_thread_reports_immediately() {
        let lines = CurrLines::<char>::new();
        let mut reporter = CurrLineReporter::new(&lines, 0);
        assert_eq!(reporter.poll(at(1000)), Some(Vec::new()));
        assert_eq!(reporter.poll(at(1999)), None);
    }
}
