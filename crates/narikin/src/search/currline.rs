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
    fn ask(&self) {
        let mut lines = self.lines();
        lines.clear();
        self.round.fetch_add(1, Relaxed);
    }

    /// Submits a thread's line, once per request.
    pub(crate) fn answer(&self, answered: &mut u32, thread: usize, line: &[M]) {
        if self.round.load(Relaxed) == *answered {
            return;
        }
        let mut lines = self.lines();
        *answered = self.round.load(Relaxed);
        lines.push((thread, line.to_vec()));
    }

    fn lines(&self) -> MutexGuard<'_, Vec<(usize, Vec<M>)>> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The main thread's side.
#[derive(Debug)]
pub(crate) struct CurrLineReporter<'w, M> {
    watch: &'w CurrLines<M>,
    /// The number of helper threads.
    others: usize,
    asked: Duration,
    waits: bool,
}

impl<'w, M: Copy> CurrLineReporter<'w, M> {
    pub(crate) fn new(watch: &'w CurrLines<M>, others: usize) -> Self {
        Self { watch, others, asked: Duration::ZERO, waits: false }
    }

    /// The lines of the helper threads, by thread number, when a report is due.
    pub(crate) fn look(&mut self, elapsed: Duration) -> Option<Vec<(usize, Vec<M>)>> {
        if elapsed.saturating_sub(self.asked) >= INTERVAL {
            self.watch.ask();
            self.asked = elapsed;
            self.waits = true;
        }
        if !self.waits {
            return None;
        }
        let mut lines = self.watch.lines();
        if lines.len() < self.others && elapsed.saturating_sub(self.asked) < TIMEOUT {
            return None;
        }
        self.waits = false;
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
    fn lines_are_gathered_when_all_have_answered() {
        let watch = CurrLines::new();
        let (mut viewer, mut one, mut two) = (CurrLineReporter::new(&watch, 2), 0, 0);
        watch.answer(&mut one, 1, &['a']);
        assert_eq!(viewer.look(at(999)), None);
        assert_eq!(viewer.look(at(1000)), None);
        watch.answer(&mut two, 2, &['b']);
        watch.answer(&mut two, 2, &['c']);
        assert_eq!(viewer.look(at(1001)), None);
        watch.answer(&mut one, 1, &['d', 'e']);
        let lines = vec![(1, vec!['d', 'e']), (2, vec!['b'])];
        assert_eq!(viewer.look(at(1002)), Some(lines));
        assert_eq!(viewer.look(at(1003)), None);
    }

    #[test]
    fn nobody_is_waited_for_too_long() {
        let watch = CurrLines::new();
        let (mut viewer, mut one, mut two) = (CurrLineReporter::new(&watch, 2), 0, 0);
        assert_eq!(viewer.look(at(1000)), None);
        watch.answer(&mut one, 1, &['a']);
        assert_eq!(viewer.look(at(1499)), None);
        assert_eq!(viewer.look(at(1500)), Some(vec![(1, vec!['a'])]));
        // A late line does not count for the next request.
        watch.answer(&mut two, 2, &['b']);
        assert_eq!(viewer.look(at(2000)), None);
        assert_eq!(viewer.look(at(2500)), Some(Vec::new()));
    }

    #[test]
    fn a_thread_alone_waits_for_nobody() {
        let watch = CurrLines::<char>::new();
        let mut viewer = CurrLineReporter::new(&watch, 0);
        assert_eq!(viewer.look(at(1000)), Some(Vec::new()));
        assert_eq!(viewer.look(at(1999)), None);
    }
}
