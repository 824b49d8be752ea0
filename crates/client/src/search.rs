//! How to search: limits, and everything else that holds for one search only.

use std::time::{Duration, Instant};

use readyok_protocol::session::client::{Purpose, SearchRequest};
use readyok_protocol::{Clocks, Go, MateLimit, MoveList};

use crate::game::Game;

/// When a search ends.
#[derive(Clone, Debug)]
pub enum Limit {
    /// When it is stopped.
    Infinite,
    /// At a depth in plies.
    Depth(u32),
    /// After so many nodes.
    Nodes(u64),
    /// After this time.
    Time(Duration),
    /// When the engine thinks best, with these clocks.
    Clock(Clocks),
    /// At the first of several limits.
    Go(Box<Go<'static>>),
}

impl Limit {
    /// As the engine thinks best, with these clocks. A search that overruns them is stopped.
    pub fn clock(clocks: impl Into<Clocks>) -> Self {
        Self::Clock(clocks.into())
    }

    /// After so many milliseconds.
    pub const fn millis(millis: u64) -> Self {
        Self::Time(Duration::from_millis(millis))
    }
}

/// A limit, and what else holds for one search. All of it is taken back after the search.
///
/// ```
/// use readyok_client::{Limit, Search};
/// let search = Search::new(Limit::Depth(12)).lines(3).option("Threads", "2");
/// ```
#[derive(Clone, Debug)]
pub struct Search {
    go: Go<'static>,
    lines: Option<u32>,
    options: Vec<(String, Option<String>)>,
    deadline: Option<Deadline>,
}

/// When an engine has lost on time, whatever it says.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Deadline {
    At(Instant),
    /// After `go`, or `ponderhit`.
    After(Duration),
}

impl Search {
    /// No more than this is given back of a search, as virtual machines are known to have counted nonsense.
    pub const MOST_STOLEN: Duration = Duration::from_secs(10);

    /// A search with a limit.
    pub fn new(limit: impl Into<Self>) -> Self {
        limit.into()
    }

    /// Shows so many variations (`MultiPV`), as far as the engine can.
    #[must_use]
    pub fn lines(mut self, lines: u32) -> Self {
        self.lines = Some(lines);
        self
    }

    /// Searches only these moves.
    #[must_use]
    pub fn only(mut self, moves: MoveList<'static>) -> Self {
        self.go.search_moves = Some(moves);
        self
    }

    /// Searches with another value of an option.
    #[must_use]
    pub fn option(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.options.push((name.into(), Some(value.into())));
        self
    }

    /// Searches on the opponent's time, until `ponderhit` or `stop`. The last move of the game is
    /// the one that he is expected to play.
    #[must_use]
    pub fn ponder(mut self) -> Self {
        self.go.ponder = true;
        self
    }

    /// Ends the wait when so much time has passed since `go` was written, or `ponderhit`. An answer
    /// that is read then, or later, does not count: the engine has
    /// [lost on time](crate::Problem::OutOfTime), however much or little it says. It is told to
    /// stop, and stays usable.
    ///
    /// On Linux the time does not pass for which a virtual machine stood still because its host had given
    /// its processors to others, as far as it is counted (`proc_stat(5)`: steal). The system does not say
    /// which of its threads lost it, so that any engine gets what the unluckiest processor lost, up to
    /// [`MOST_STOLEN`](Self::MOST_STOLEN).
    #[must_use]
    pub fn lost_after(mut self, time: Duration) -> Self {
        self.deadline = Some(Deadline::After(time));
        self
    }

    /// The same at a fixed moment, whether the search has begun or not.
    #[must_use]
    pub fn lost_at(mut self, moment: Instant) -> Self {
        self.deadline = Some(Deadline::At(moment));
        self
    }

    pub(crate) fn is_ponder(&self) -> bool {
        self.go.ponder
    }

    /// Whether the time counts that it takes: with neither a clock nor a deadline it does not.
    pub(crate) fn is_timed(&self) -> bool {
        self.deadline.is_some()
            || !self.go.clocks.is_empty()
            || self.go.move_time.is_some()
            || self.go.random_time.is_some()
            || matches!(self.go.mate, Some(MateLimit::Time(_)))
    }

    pub(crate) fn deadline(&self) -> Option<Deadline> {
        self.deadline
    }

    pub(crate) fn request(&self, game: &Game, purpose: Purpose) -> SearchRequest {
        SearchRequest {
            position: game.position().clone(),
            go: self.go.clone(),
            purpose,
            multipv: self.lines,
            options: self.options.clone(),
        }
    }
}

impl From<Go<'static>> for Search {
    fn from(go: Go<'static>) -> Self {
        Self { go, lines: None, options: Vec::new(), deadline: None }
    }
}

impl From<Limit> for Search {
    fn from(limit: Limit) -> Self {
        Self::from(match limit {
            Limit::Infinite => Go::infinite(),
            Limit::Depth(plies) => Go::depth(plies),
            Limit::Nodes(nodes) => Go::nodes(nodes),
            Limit::Time(time) => Go::move_time(time),
            Limit::Clock(clocks) => Go::clocks(clocks),
            Limit::Go(go) => *go,
        })
    }
}

#[cfg(test)]
mod tests {
    use readyok_protocol::Clock;

    use super::*;

    #[test]
    fn time_counts_where_there_is_a_clock_or_a_deadline() {
        let second = Duration::from_secs(1);
        let clocks = Clocks::new(Clock::fischer(second, second), Clock::fischer(second, second));
        let mate = Go { mate: Some(MateLimit::Time(1000)), ..Go::default() };
        let mut timed = vec![
            Search::new(Limit::Time(second)),
            Search::new(Limit::Clock(clocks)),
            Search::from(mate),
            Search::from(Go { random_time: Some(1000), ..Go::default() }),
        ];
        let untimed = [Limit::Infinite, Limit::Depth(9), Limit::Nodes(1)].map(Search::new);
        assert!(untimed.iter().all(|search| !search.is_timed()));
        timed.extend(untimed.map(|search| search.lost_after(second)));
        assert!(timed.iter().all(Search::is_timed));
    }
}
