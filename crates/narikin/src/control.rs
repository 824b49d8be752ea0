//! The interface of the search: limits, time, reports and results.

use std::{sync::Arc, time::Duration};

use readyok_engine::protocol::Bound;
use readyok_rules::{Impasse, Move};

use crate::{PositionValues, Score, tablebase::Tablebases};

/// Limits and settings of a search, without a clock: the runtime turns it into a time. The default is an infinite search of all moves.
#[derive(Debug, Clone, Default)]
#[expect(clippy::struct_excessive_bools, reason = "independent options of the protocol")]
pub struct Limits {
    /// Maximum depth in plies.
    pub depth: Option<u32>,
    /// Maximum number of nodes.
    pub nodes: Option<u64>,
    /// Stop when a mate within this many plies is found. Searches for at most five plies also stop
    /// if it does not exist; longer ones continue until another limit.
    pub mate: Option<u32>,
    /// Restrict the search to these moves; all moves if none is legal.
    pub searchmoves: Vec<Move>,
    /// Number of threads; 0 counts as 1.
    pub threads: usize,
    /// Number of lines (MultiPV); 0 counts as 1.
    pub multipv: usize,
    /// Score of a draw for the side to move, in centipawns.
    pub draw: i32,
    /// Shogi: the game is drawn after this many moves of both sides.
    pub max_moves: Option<u32>,
    /// Shogi: the impasse rule; the default is 27 points.
    pub impasse: Option<Impasse>,
    /// Shogi: whether pieces missing in a handicap game count for neither side, even under a rule
    /// that credits them.
    pub ignore_missing_pieces: bool,
    /// Scores of positions set by the user. These positions are leaves of the search.
    pub position_values: Option<Arc<PositionValues>>,
    /// Chess: endgame tablebases.
    pub tables: Option<TbConfig>,
    /// Whether pondering is enabled, which allows more time per move.
    pub ponders: bool,
    /// Whether the time is fixed (`movetime`): it is used completely and nothing is reserved.
    /// Otherwise a forced move is played immediately.
    pub exact_time: bool,
    /// Whether the server counts full seconds, so that the rest of each second costs nothing: searches on a clock then end shortly
    /// before a full second.
    pub full_seconds: bool,
    /// Whether to report refutations of the other root moves.
    pub refutations: bool,
    /// Whether to report the current line of each thread.
    pub currlines: bool,
}

/// Tablebases and when to probe them.
#[derive(Debug, Clone)]
pub struct TbConfig {
    /// The tablebases.
    pub tablebases: Arc<Tablebases>,
    /// Minimum depth of probes with the maximum number of pieces.
    pub probe_depth: u32,
    /// Maximum number of pieces of probed positions.
    pub probe_limit: usize,
    /// Whether the fifty-move rule applies.
    pub rule50: bool,
}

/// Time limits of a search, on the clock of [`Control::elapsed`]. The search replaces single limits, which
/// [`Budget`](readyok_engine::Budget) of the runtime does not allow to other crates.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Bounds {
    /// Start of the time: zero, or the time of the ponder hit.
    pub from: Duration,
    /// Optimum time: no further iteration starts afterwards.
    pub soft: Option<Duration>,
    /// Maximum time: the iteration is aborted.
    pub hard: Option<Duration>,
    /// The move overhead that is already subtracted.
    pub overhead: Duration,
}

/// The owner of a search, with the clock and the output.
pub trait Control {
    /// Whether to stop. Polled every few hundred nodes.
    fn stopped(&self) -> bool;

    /// Time since the search started. Monotonic.
    fn elapsed(&self) -> Duration;

    /// The time limits. Polled, as a ponder hit sets them during the search.
    fn bounds(&self) -> Bounds {
        Bounds::default()
    }

    /// Receives a line of the search.
    fn report(&self, report: &Report<'_>);

    /// Whether to report bounds: lines whose score left the aspiration window, before they are
    /// searched again. Polled at each of them.
    fn reports_bounds(&self) -> bool {
        false
    }

    /// Receives the root move that is searched next, and its number from 1.
    fn currmove(&self, _mv: Move, _number: usize) {}

    /// Receives the current line of a thread and its number from 1; 0 if there is only one thread.
    /// The lines of all threads follow one another by number, about once a second, if
    /// [`Limits::currlines`] is set.
    fn currline(&self, _line: &[Move], _thread: usize) {}

    /// Receives the refutation of a root move; empty if unknown.
    fn refutation(&self, _mv: Move, _answers: &[Move]) {}
}

/// One line of a search. Each iteration reports all lines, best first. A bound is reported alone,
/// within an iteration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Report<'a> {
    /// Depth in plies; 0 if the search was stopped before the first iteration.
    pub depth: u32,
    /// Selective depth in plies.
    pub seldepth: u32,
    /// The rank of the line, from 1.
    pub multipv: usize,
    /// The score for the side to move.
    pub score: Score,
    /// Whether the score is exact or a bound, see [`Control::reports_bounds`].
    pub bound: Bound,
    /// The score by the search alone, without tablebases at the root.
    pub seen: Score,
    /// Whether the score is a tablebase draw.
    pub drawn: bool,
    /// Nodes searched so far.
    pub nodes: u64,
    /// Search time.
    pub time: Duration,
    /// Hash usage in permille.
    pub hashfull: u32,
    /// Number of tablebase hits.
    pub tbhits: u64,
    /// The principal variation.
    pub pv: &'a [Move],
}

/// The result of a search.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchResult {
    /// The score for the side to move.
    pub score: Score,
    /// The principal variation; empty only without legal moves.
    pub pv: Vec<Move>,
    /// Depth in plies; 0 if the search was stopped before the first iteration.
    pub depth: u32,
    /// Nodes searched.
    pub nodes: u64,
}

impl SearchResult {
    /// The best move; none without legal moves.
    pub fn best(&self) -> Option<Move> {
        self.pv.first().copied()
    }

    /// The expected reply.
    pub fn ponder(&self) -> Option<Move> {
        self.pv.get(1).copied()
    }
}
