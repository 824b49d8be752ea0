//! The state of one search: reports, result, and subsequent pondering.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use readyok_protocol::session::client::{DropReason, SearchId};
use readyok_protocol::{Best, BestMove, Checkmate, Clocks, Color, Dialect, Info, Millis, Move};

use crate::clock::MoveTimer;
use crate::error::Problem;
use crate::handle::{Lines, SearchResult, Update};
use crate::search::Game;
use crate::search::Search;

/// Maximum number of updates stored for a slow reader: as many as there can be variations.
pub(crate) const MAX_UPDATES: usize = Lines::MAX;

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

    pub(crate) fn on_best_move(&mut self, answer: BestMove<'static>, at: Instant) {
        self.finish(answer.best, answer.ponder, None, at);
    }

    pub(crate) fn on_checkmate(&mut self, checkmate: Checkmate<'static>, at: Instant) {
        let first = match &checkmate {
            Checkmate::Moves(moves) => moves.moves().next(),
            Checkmate::NoMate
            | Checkmate::Timeout
            | Checkmate::NotImplemented
            | Checkmate::Unknown => None,
        };
        self.finish(first.map_or(Best::None, Best::Move), None, Some(checkmate), at);
    }

    fn finish(
        &mut self,
        best: Best<'static>,
        ponder: Option<Move>,
        checkmate: Option<Checkmate<'static>>,
        answered: Instant,
    ) {
        let lines = std::mem::take(&mut self.lines);
        let info = lines.best().cloned().unwrap_or_default();
        let started = self.timer.since().unwrap_or(answered);
        self.end = Some(Ok(Box::new(SearchResult {
            best,
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
/// no reply is expected.
pub(crate) fn ponder_on_reply(
    game: &Game,
    search: &Search,
    result: &SearchResult,
    dialect: Dialect,
) -> Option<(Game, Search)> {
    let (best, reply) = (result.best_move()?, result.ponder?);
    let mover = game.position().mover(dialect);
    let mut expected = game.clone();
    expected.extend([best, reply]);
    let mut ponder = search.clone().ponder();
    ponder.set_clocks(|clocks| after_move(clocks, mover, result.time()));
    Some((expected, ponder))
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
    next.moves_to_go = clocks.moves_to_go.map(|moves| moves.saturating_sub(1)).filter(|&it| 0 < it);
    next
}

#[cfg(test)]
mod tests {
    use readyok_protocol::Clock;

    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn the_mover_uses_time_and_both_get_their_increments() {
        let clock = Clock::fischer(60 * SECOND, SECOND);
        let clocks = Clocks { moves_to_go: Some(2), ..Clocks::new(clock, clock) };
        let next = after_move(clocks, Color::Black, 5 * SECOND);
        assert_eq!((next.white_time, next.black_time), (Some(61_000), Some(56_000)));
        assert_eq!(next.moves_to_go, Some(1));
        assert_eq!(after_move(next, Color::Black, SECOND).moves_to_go, None);
    }

    #[test]
    fn a_clock_does_not_fall_below_zero() {
        let clocks = Clocks::new(Clock::byoyomi(SECOND, SECOND), Clock::byoyomi(SECOND, SECOND));
        let next = after_move(clocks, Color::White, 5 * SECOND);
        assert_eq!((next.white_time, next.black_time), (Some(0), Some(1_000)));
        assert_eq!(next.byoyomi, Some(1_000));
    }
}
