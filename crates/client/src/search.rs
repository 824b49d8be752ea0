//! How to search: limits, and everything else that holds for one search only.

use std::time::Duration;

use readyok_protocol::session::client::{Purpose, SearchRequest};
use readyok_protocol::{Clocks, Go, MoveList};

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
}

impl Search {
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

    pub(crate) fn set_ponder(&mut self) {
        self.go.ponder = true;
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
        Self { go, lines: None, options: Vec::new() }
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
