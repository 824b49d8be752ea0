//! The deadline of one search.

use std::time::{Duration, Instant};

use crate::error::Problem;
use crate::search::{Deadline, Search};
use crate::steal::Counts;

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
    /// Steal time of the machine when the search began.
    before: Option<Counts>,
    /// Steal time since then, as far as it was asked for.
    stolen: Duration,
}

impl MoveTimer {
    pub(crate) fn new(search: &Search) -> Self {
        Self {
            deadline: search.deadline(),
            pondering: search.is_ponder(),
            go: None,
            hit: None,
            latest_info: None,
            before: None,
            stolen: Duration::ZERO,
        }
    }

    pub(crate) fn deadline(&self) -> Option<Deadline> {
        self.deadline
    }

    /// `go` was written.
    pub(crate) fn start(&mut self, at: Instant) {
        self.go = Some(at);
        self.count_from(at);
    }

    /// The opponent played the expected move; the search has this deadline from now on.
    pub(crate) fn hit(&mut self, at: Instant, deadline: Option<Deadline>) {
        self.deadline = deadline;
        self.pondering = false;
        self.hit = Some(at);
        self.count_from(at);
    }

    pub(crate) fn was_hit(&self) -> bool {
        self.hit.is_some()
    }

    /// The engine sent an `info`.
    pub(crate) fn on_info(&mut self, at: Instant) {
        self.latest_info = Some(at);
    }

    fn count_from(&mut self, now: Instant) {
        let is_clock = matches!(self.deadline, Some(Deadline::At(_) | Deadline::After(_)));
        if is_clock && !self.pondering {
            self.before = Counts::about(now);
        }
    }

    /// When its time began: at `go`, or at `ponderhit`.
    pub(crate) fn since(&self) -> Option<Instant> {
        self.go.map(|go| self.hit.map_or(go, |hit| hit.max(go)))
    }

    /// Steal time during the search. Read only when the deadline would have passed otherwise.
    pub(crate) fn stolen(&self) -> Duration {
        self.stolen
    }

    /// The deadline, if it is known.
    pub(crate) fn end(&self) -> Option<Instant> {
        let deadline = self.deadline?;
        if let Deadline::At(moment) = deadline {
            return moment.checked_add(self.stolen);
        }
        if self.pondering {
            return None;
        }
        let since = self.since()?;
        match deadline {
            Deadline::At(_) => None,
            Deadline::After(time) => since.checked_add(time)?.checked_add(self.stolen),
            Deadline::Stall(limit) => {
                let latest = self.latest_info.map_or(since, |at| at.max(since));
                let silent = latest.checked_add(limit.silence);
                silent.into_iter().chain(since.checked_add(limit.total)).min()
            }
        }
    }

    /// The problem of a search whose deadline has passed.
    pub(crate) fn expired(&mut self, at: Instant) -> Option<Problem> {
        if let Some(Deadline::Stall(_)) = self.deadline {
            return (self.end()? <= at).then_some(Problem::Stalled);
        }
        self.lateness_by(at, Counts::read).map(Problem::OutOfTime)
    }

    fn lateness_by(
        &mut self,
        at: Instant,
        read: impl FnOnce() -> Option<Counts>,
    ) -> Option<Duration> {
        let late = at.checked_duration_since(self.end()?)?;
        let Some((after, before)) = read().zip(self.before.as_ref()) else { return Some(late) };
        self.stolen = self.stolen.max(after.since(before)).min(Search::MAX_STEAL);
        at.checked_duration_since(self.end()?)
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::process::Command;

    use super::*;
    use crate::clock::now;
    use crate::search::Limit;
    use crate::steal::{THIEF, Thief};
    use crate::{Engine, EngineError, Game, SearchResult};

    const MS: Duration = Duration::from_millis(1);

    fn counts(ticks: u64) -> Option<Counts> {
        Counts::parse(&format!("cpu0 0 0 0 0 0 0 0 {ticks} 0 0\n"))
    }

    fn of(search: Search) -> MoveTimer {
        MoveTimer::new(&search.deadline_after(50 * MS))
    }

    #[test]
    fn what_was_stolen_is_given_back() {
        let mut time = of(Search::new(Limit::Depth(1)));
        assert_eq!(time.end(), None);
        let start = now();
        time.start(start);
        time.before = counts(7);
        assert_eq!(time.end(), Some(start + 50 * MS));
        let late = |time: &mut MoveTimer, ms: u32, ticks| {
            time.lateness_by(start + ms * MS, || counts(ticks))
        };
        // Who is in time is not asked for.
        assert_eq!(time.lateness_by(start + 49 * MS, || unreachable!()), None);
        assert_eq!(late(&mut time, 53, 7), Some(3 * MS));
        assert_eq!(time.stolen(), Duration::ZERO);
        // Two ticks of a hundredth of a second are up to three.
        assert_eq!(late(&mut time, 53, 9), None);
        assert_eq!(time.end(), Some(start + 80 * MS));
        assert_eq!(late(&mut time, 81, 9), Some(MS));
        assert_eq!(late(&mut time, 81, 10), None);
        assert_eq!(time.stolen(), 40 * MS);
        assert_eq!(late(&mut time, 500, 10), Some(410 * MS));
        assert_eq!(late(&mut time, 10_049, u64::MAX), None);
        assert_eq!(late(&mut time, 10_051, u64::MAX), Some(MS));
    }

    #[test]
    fn nothing_is_given_back_where_the_system_tells_nothing() {
        let mut time = of(Search::new(Limit::Depth(1)));
        let start = now();
        time.start(start);
        assert_eq!(time.lateness_by(start + 53 * MS, || None), Some(3 * MS));
        time.before = None;
        assert_eq!(time.lateness_by(start + 53 * MS, || counts(9)), Some(3 * MS));
    }

    #[test]
    fn what_was_stolen_while_it_pondered_does_not_count() {
        let mut time = of(Search::new(Limit::Depth(1)).ponder());
        let start = now();
        time.start(start);
        assert_eq!((time.end(), time.before.is_some()), (None, false));
        time.hit(start + 500 * MS, time.deadline());
        assert_eq!((time.end(), time.before.is_some()), (Some(start + 550 * MS), true));
        time.before = counts(9);
        assert_eq!(time.lateness_by(start + 551 * MS, || counts(9)), Some(MS));
    }

    #[test]
    fn no_time_passes_before_go_though_the_hit_was_before() {
        let mut time = of(Search::new(Limit::Depth(1)).ponder());
        let start = now();
        time.hit(start, time.deadline());
        assert_eq!((time.since(), time.end()), (None, None));
        time.start(start + 200 * MS);
        assert_eq!(time.end(), Some(start + 250 * MS));
    }

    /// How an engine fares that needs 120 milliseconds and has 50, where the host steals as much as is told
    /// of the time.
    fn play(stolen: Thief) -> Result<SearchResult, EngineError> {
        let script = "while read -r line; do case $line in \
                      uci) echo uciok;; isready) echo readyok;; quit) exit;; \
                      go*) sleep 0.12; echo info depth 1; echo bestmove e2e4;; esac; done";
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        let mut engine = Engine::spawn(command)?;
        let start = now();
        THIEF.set(Some((start, stolen)));
        let played =
            engine.play(&Game::startpos(), Search::new(Limit::Depth(1)).deadline_after(50 * MS));
        THIEF.set(None);
        played
    }

    #[test]
    fn an_answer_is_in_time_by_what_was_stolen() {
        let played = play(|time| time).expect("it is in time");
        assert!(played.answered - played.started >= 120 * MS, "{played:?}");
        assert!(played.stolen >= 70 * MS && played.time() <= 50 * MS, "{played:?}");

        let late = play(|_| Duration::ZERO).expect_err("it is late");
        assert!(matches!(late.problem(), Problem::OutOfTime(_)), "{late:?}");
        // A part of it does not save it.
        let late = play(|time| time / 4).expect_err("it is late");
        assert!(matches!(late.problem(), Problem::OutOfTime(_)), "{late:?}");
    }
}
