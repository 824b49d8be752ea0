//! The clock and the deadline of a search.

use std::time::Instant;

use crate::error::Problem;
use crate::search::{Deadline, Search};

#[expect(clippy::disallowed_methods, reason = "the client is where time comes from")]
pub(crate) fn now() -> Instant {
    Instant::now()
}

#[derive(Debug)]
pub(crate) struct MoveTimer {
    deadline: Option<Deadline>,
    pondering: bool,
    /// When `go` was written.
    go: Option<Instant>,
    /// When the opponent played the expected move; that may be before `go`.
    hit: Option<Instant>,
    /// When the engine last sent an `info`.
    latest_info: Option<Instant>,
}

impl MoveTimer {
    pub(crate) fn new(search: &Search) -> Self {
        Self {
            deadline: search.deadline(),
            pondering: search.is_ponder(),
            go: None,
            hit: None,
            latest_info: None,
        }
    }

    pub(crate) fn deadline(&self) -> Option<Deadline> {
        self.deadline
    }

    /// `go` was written.
    pub(crate) fn start(&mut self, at: Instant) {
        self.go = Some(at);
    }

    /// The opponent played the expected move; the search has this deadline from now on.
    pub(crate) fn hit(&mut self, at: Instant, deadline: Option<Deadline>) {
        self.deadline = deadline;
        self.pondering = false;
        self.hit = Some(at);
    }

    pub(crate) fn was_hit(&self) -> bool {
        self.hit.is_some()
    }

    /// The engine sent an `info`.
    pub(crate) fn on_info(&mut self, at: Instant) {
        self.latest_info = Some(at);
    }

    /// When its time began: at `go`, or at `ponderhit`.
    pub(crate) fn since(&self) -> Option<Instant> {
        self.go.map(|go| self.hit.map_or(go, |hit| hit.max(go)))
    }

    /// The deadline, if it is known.
    pub(crate) fn end(&self) -> Option<Instant> {
        let deadline = self.deadline?;
        if let Deadline::At(moment) = deadline {
            return Some(moment);
        }
        if self.pondering {
            return None;
        }
        let since = self.since()?;
        match deadline {
            Deadline::At(_) => None,
            Deadline::After(time) => since.checked_add(time),
            Deadline::Stall(limit) => {
                let latest = self.latest_info.map_or(since, |at| at.max(since));
                let silent = latest.checked_add(limit.silence);
                silent.into_iter().chain(since.checked_add(limit.total)).min()
            }
        }
    }

    /// The problem of a search whose deadline has passed.
    pub(crate) fn expired(&self, at: Instant) -> Option<Problem> {
        let late = at.checked_duration_since(self.end()?)?;
        Some(match self.deadline? {
            Deadline::Stall(_) => Problem::Stalled,
            Deadline::At(_) | Deadline::After(_) => Problem::OutOfTime(late),
        })
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::search::Limit;

    const MS: Duration = Duration::from_millis(1);

    fn timer(search: Search) -> MoveTimer {
        MoveTimer::new(&search.deadline_after(50 * MS))
    }

    fn lateness(timer: &MoveTimer, at: Instant) -> Option<Duration> {
        match timer.expired(at)? {
            Problem::OutOfTime(late) => Some(late),
            problem => panic!("{problem:?}"),
        }
    }

    #[test]
    fn a_deadline_starts_at_go() {
        let mut timer = timer(Search::new(Limit::Depth(1)));
        assert_eq!(timer.end(), None);
        let start = now();
        timer.start(start);
        assert_eq!(timer.end(), Some(start + 50 * MS));
        assert_eq!(lateness(&timer, start + 49 * MS), None);
        assert_eq!(lateness(&timer, start + 53 * MS), Some(3 * MS));
    }

    #[test]
    fn a_deadline_starts_at_ponderhit() {
        let mut timer = timer(Search::new(Limit::Depth(1)).ponder());
        let start = now();
        timer.start(start);
        assert_eq!(timer.end(), None);
        timer.hit(start + 500 * MS, timer.deadline());
        assert_eq!(timer.end(), Some(start + 550 * MS));
        assert_eq!(lateness(&timer, start + 551 * MS), Some(MS));
    }

    #[test]
    fn the_clock_does_not_run_before_go_after_a_ponderhit() {
        let mut timer = timer(Search::new(Limit::Depth(1)).ponder());
        let start = now();
        timer.hit(start, timer.deadline());
        assert_eq!((timer.since(), timer.end()), (None, None));
        timer.start(start + 200 * MS);
        assert_eq!(timer.end(), Some(start + 250 * MS));
    }
}
