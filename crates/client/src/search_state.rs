//! The state of one search: its time, reports, result, and subsequent pondering.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use readyok_protocol::session::client::{DropReason, SearchId};
use readyok_protocol::{
    Best, BestMove, Checkmate, Clocks, Color, Dialect, Info, Millis, Move, MoveShape,
};

use crate::error::Problem;
use crate::search::{Deadline, Game, Lines, Search, SearchResult, Update};

/// Maximum number of updates stored for a slow reader: as many as there can be variations.
const MAX_UPDATES: usize = Lines::MAX;

#[derive(Debug)]
pub(crate) struct SearchState {
    pub(crate) id: SearchId,
    pub(crate) timer: MoveTimer,
    /// The search is stopped as soon as it has started.
    pub(crate) stop_requested: bool,
    pub(crate) wants_updates: bool,
    pub(crate) updates: VecDeque<Update>,
    lines: Lines,
    /// Dropped by the session; becomes the result unless the engine has ended.
    pub(crate) dropped: Option<DropReason>,
    pub(crate) end: Option<Result<Box<SearchResult>, Problem>>,
    /// Pondering after this search: its game and limits.
    pub(crate) ponder_after: Option<Box<(Game, Search)>>,
    /// Started by the client after an answer: the expected game, and the limits of the previous search.
    pub(crate) own_ponder: Option<Box<(Game, Search)>>,
}

impl SearchState {
    pub(crate) fn new(id: SearchId, search: &Search) -> Self {
        Self {
            id,
            timer: MoveTimer::new(search),
            stop_requested: false,
            wants_updates: false,
            updates: VecDeque::new(),
            lines: Lines::default(),
            dropped: None,
            end: None,
            ponder_after: None,
            own_ponder: None,
        }
    }

    /// `go` will be written next. After an interruption for an option, the search starts again.
    pub(crate) fn start(&mut self, at: Instant) {
        if self.timer.has_started() {
            self.lines = Lines::default();
            self.updates.clear();
        }
        self.timer.start(at);
    }

    /// Whether a report at this time needs no immediate handling: it was in time, the caller reads only the result, and
    /// an earlier report was handled.
    pub(crate) fn can_postpone(&self, at: Instant) -> bool {
        !self.wants_updates
            && self.end.is_none()
            && self.own_ponder.is_none()
            && !self.lines.is_empty()
            && self.timer.expired(at).is_none()
    }

    /// Handles an `info`. Returns whether it became an update.
    pub(crate) fn on_info(&mut self, info: Box<Info<'static>>, raw: &str, at: Instant) -> bool {
        self.timer.on_info(at);
        self.lines.update(&info);
        if !self.wants_updates {
            return false;
        }
        if self.updates.len() == MAX_UPDATES {
            let number = info.multipv.unwrap_or(1);
            let same = |old: &Update| old.multipv.unwrap_or(1) == number;
            self.updates.remove(self.updates.iter().position(same).unwrap_or(0));
        }
        self.updates.push_back(Update { info, raw: raw.to_owned(), at });
        true
    }

    /// Handles the answer that was read from this line.
    pub(crate) fn on_best_move(&mut self, answer: BestMove<'static>, raw: &str, at: Instant) {
        let repaired = match &answer.best {
            Best::Move(it) => {
                raw.split_ascii_whitespace().nth(1).filter(|sent| *sent != it.as_str())
            }
            Best::None | Best::Resign | Best::Win | Best::Other(_) => None,
        };
        let repaired = repaired.map(Box::from);
        self.finish(answer.best, repaired, answer.ponder, None, at);
    }

    pub(crate) fn on_checkmate(&mut self, checkmate: Checkmate<'static>, at: Instant) {
        let first = match &checkmate {
            Checkmate::Moves(moves) => moves.moves().next(),
            Checkmate::NoMate
            | Checkmate::Timeout
            | Checkmate::NotImplemented
            | Checkmate::Unknown => None,
        };
        self.finish(first.map_or(Best::None, Best::Move), None, None, Some(checkmate), at);
    }

    fn finish(
        &mut self,
        best: Best<'static>,
        repaired: Option<Box<str>>,
        ponder: Option<Move>,
        checkmate: Option<Checkmate<'static>>,
        answered: Instant,
    ) {
        let lines = std::mem::take(&mut self.lines);
        let info = lines.best().cloned().unwrap_or_default();
        let started = self.timer.since().unwrap_or(answered);
        self.end = Some(Ok(Box::new(SearchResult {
            best,
            repaired,
            ponder,
            info,
            lines,
            checkmate,
            started,
            answered: answered.max(started),
            ponder_hit: self.timer.was_hit(),
        })));
    }

    /// The variations so far.
    pub(crate) fn lines(&self) -> Lines {
        match &self.end {
            Some(Ok(result)) => result.lines.clone(),
            Some(Err(_)) | None => self.lines.clone(),
        }
    }
}

/// The ponder search after a result: the game with the expected reply, and the limits for the answer to it. `None` if
/// no possible reply is expected, or if the clocks of the answer are unknown.
pub(crate) fn ponder_on_reply(
    game: &Game,
    search: &Search,
    result: &SearchResult,
    dialect: Dialect,
) -> Option<(Game, Search)> {
    let (best, reply) = (result.best_move()?, result.ponder?);
    let ends_period = search.clocks().is_some_and(|clocks| clocks.moves_to_go == Some(1));
    if ends_period || !may_follow(best, reply) {
        return None;
    }
    let mover = game.position().mover(dialect);
    let mut expected = game.clone();
    expected.extend([best, reply]);
    let mut ponder = search.clone().ponder();
    ponder.set_clocks(|clocks| after_move(clocks, mover, result.time()));
    Some((expected, ponder))
}

/// Whether a move may be the reply to another one, if that is visible without the rules: the origin of the first
/// move is empty, and its destination occupied by the other side. Some engines repeat their own move as the expected
/// reply.
fn may_follow(first: Move, reply: Move) -> bool {
    let (from, to) = match first.shape() {
        MoveShape::Board { from, to, .. } => (Some(from), to),
        MoveShape::Drop { to, .. } => (None, to),
        MoveShape::Null => return false,
    };
    match reply.shape() {
        MoveShape::Board { from: origin, .. } => {
            !reply.goes_nowhere() && Some(origin) != from && origin != to
        }
        MoveShape::Drop { to: square, .. } => square != to,
        MoveShape::Null => false,
    }
}

/// Whether a search continues the pondering one: the same game, position, options and kind of limit.
pub(crate) fn continues_ponder(pondered: (&Game, &Search), next: (&Game, &Search)) -> bool {
    let ((expected, before), (game, search)) = (pondered, next);
    expected.id() == game.id() && expected.position() == game.position() && before.is_like(search)
}

/// The clocks before the next move of a side that has just used some time. The opponent's time is unknown.
fn after_move(clocks: Clocks, mover: Color, used: Duration) -> Clocks {
    let used = Millis::try_from(used.as_millis()).unwrap_or(Millis::MAX);
    let mut next = clocks;
    for color in [Color::White, Color::Black] {
        let (time, increment) = match color {
            Color::White => (&mut next.white_time, clocks.white_increment),
            Color::Black => (&mut next.black_time, clocks.black_increment),
        };
        let increment = increment.unwrap_or(0);
        let spent = if color == mover { used } else { 0 };
        *time = time.map(|time| time.saturating_sub(spent).max(0).saturating_add(increment));
    }
    next.moves_to_go =
        clocks.moves_to_go.map(|moves| moves.saturating_sub(1)).filter(|&moves| 0 < moves);
    next
}

/// The clock and the deadline of a search.
#[derive(Debug)]
pub(crate) struct MoveTimer {
    deadline: Option<Deadline>,
    pondering: bool,
    /// When `go` was written.
    go: Option<Instant>,
    /// `go` is not written yet.
    is_unsent: bool,
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
            is_unsent: false,
            hit: None,
            latest_info: None,
        }
    }

    pub(crate) fn deadline(&self) -> Option<Deadline> {
        self.deadline
    }

    /// Whether `go` was written.
    pub(crate) fn has_started(&self) -> bool {
        self.go.is_some()
    }

    /// `go` will be written next.
    pub(crate) fn start(&mut self, at: Instant) {
        self.go = Some(at);
        self.is_unsent = true;
    }

    /// Everything was written. The time starts now: on a loaded host, the write may have interrupted this thread in favor
    /// of the engine or of others.
    pub(crate) fn on_written(&mut self, at: Instant) {
        if std::mem::take(&mut self.is_unsent) {
            self.go = Some(at);
        }
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
        self.latest_info = self.latest_info.max(Some(at));
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
    use readyok_protocol::Clock;

    use super::*;
    use crate::search::Limit;
    use crate::sync::now;

    const SECOND: Duration = Duration::from_secs(1);
    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn the_mover_uses_time_and_both_get_their_increments() {
        let clock = Clock::fischer(60 * SECOND, SECOND);
        let clocks = Clocks { moves_to_go: Some(2), ..Clocks::new(clock, clock) };
        let next = after_move(clocks, Color::Black, 5 * SECOND);
        assert_eq!((next.white_time, next.black_time), (Some(61_000), Some(56_000)));
        assert_eq!(next.moves_to_go, Some(1));
    }

    #[test]
    fn a_reply_moves_another_piece() {
        let may = |first: &str, reply: &str| {
            may_follow(first.parse().expect("a move"), reply.parse().expect("a move"))
        };
        for (first, reply) in [
            ("e2e4", "e7e5"),
            ("e4d5", "c6d5"),
            ("g1h1", "g8h8"),
            ("P*5e", "5d5e"),
            ("7g7f", "P*7g"),
        ] {
            assert!(may(first, reply), "{first} {reply}");
        }
        for (first, reply) in [
            ("e2e4", "e2e4"),
            ("e2e4", "e2e3"),
            ("e2e4", "e4e5"),
            ("e2e4", "0000"),
            ("e2e4", "a1a1"),
            ("P*5e", "P*5e"),
            ("5d5e", "P*5e"),
            ("P*5e", "5e5d"),
        ] {
            assert!(!may(first, reply), "{first} {reply}");
        }
    }

    #[test]
    fn a_clock_does_not_fall_below_zero() {
        let clocks = Clocks::new(Clock::byoyomi(SECOND, SECOND), Clock::byoyomi(SECOND, SECOND));
        let next = after_move(clocks, Color::White, 5 * SECOND);
        assert_eq!((next.white_time, next.black_time), (Some(0), Some(1_000)));
        assert_eq!(next.byoyomi, Some(1_000));
    }

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
