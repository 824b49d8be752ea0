//! What a search is asked for, and how it talks to whoever started it.

use std::{sync::Arc, time::Duration};

use readyok_rules::{Impasse, Move};

use crate::{PositionValues, Score, tablebase::Tablebases};

/// What to search and how far. The default searches everything until it is stopped.
#[derive(Debug, Clone, Default)]
#[expect(clippy::struct_excessive_bools, reason = "independent options of the protocol")]
pub struct Limits {
    /// Search no deeper than this many plies.
    pub depth: Option<u32>,
    /// Search no more than this many positions.
    pub nodes: Option<u64>,
    /// Stop when a mate within this many plies is found, or when it is proved that there is none, which only a search for
    /// at most three moves does: a longer one goes on until another limit or the control ends it.
    pub mate: Option<u32>,
    /// Search only these moves; all if none of them is legal.
    pub searchmoves: Vec<Move>,
    /// How many threads to search with; 0 counts as 1.
    pub threads: usize,
    /// How many different first moves to give lines for; 0 counts as 1.
    pub multipv: usize,
    /// What a draw is worth to the side to move, in centipawns.
    pub draw: i32,
    /// In shogi, the game is drawn when so many moves have been played, by both sides together.
    pub max_moves: Option<u32>,
    /// In shogi, the rule for kings that have entered the other camp; by default, 27 points.
    pub impasse: Option<Impasse>,
    /// In shogi, whether the pieces that a handicap leaves out count for nobody, even by a rule that
    /// gives them to whoever left them out.
    pub ignore_missing_pieces: bool,
    /// What the user has taught of single positions; they are searched no further.
    pub position_values: Option<Arc<PositionValues>>,
    /// In chess, tables that know positions with few pieces.
    pub tables: Option<TbConfig>,
    /// Whether the client may have searches run on the opponent's time, so that this one may take
    /// somewhat more of the own.
    pub ponders: bool,
    /// Whether the time is fixed (`movetime`): a forced move uses all of it, and nothing is reserved.
    /// Otherwise a forced move is played immediately.
    pub exact_time: bool,
    /// Whether to keep and tell what refutes the other first moves.
    pub refutations: bool,
    /// Whether to tell the lines that the threads are at.
    pub currlines: bool,
}

/// Tablebases, and when to ask them.
#[derive(Debug, Clone)]
pub struct TbConfig {
    /// The tables.
    pub tablebases: Arc<Tablebases>,
    /// Ask about positions with the most pieces only if so many plies are left to search.
    pub probe_depth: u32,
    /// Ask about positions with at most so many pieces.
    pub probe_limit: usize,
    /// Whether a win that takes longer than the fifty-move rule allows is none.
    pub rule50: bool,
}

/// How long a search may take, on the clock of [`Control::elapsed`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Bounds {
    /// When the time began to count: zero, or the time of the ponder hit.
    pub from: Duration,
    /// Begin no further iteration after this.
    pub soft: Option<Duration>,
    /// Give up after this, in the middle of an iteration.
    pub hard: Option<Duration>,
    /// What the bounds leave of the time for the way of the move to the client.
    pub overhead: Duration,
}

/// The search's side of whoever started it, who owns the clock and the output.
pub trait Control {
    /// Whether to stop now. Asked every few hundred positions.
    fn stopped(&self) -> bool;

    /// The time since the search began. It never goes back.
    fn elapsed(&self) -> Duration;

    /// The bounds of time. Asked again and again, since a ponder hit sets them in the middle of a
    /// search.
    fn bounds(&self) -> Bounds {
        Bounds::default()
    }

    /// Takes a line of the search.
    fn report(&self, report: &Report<'_>);

    /// Takes the first move that is searched now and its number, from 1 on.
    fn currmove(&self, _mv: Move, _number: usize) {}

    /// Takes the line that a thread is searching now, and the thread's number, from 1 on; 0 if there
    /// is only one. All lines of one moment are told one after the other, by rising numbers. It is
    /// told about once a second if [`Limits::currlines`] asks for it.
    fn currline(&self, _line: &[Move], _thread: usize) {}

    /// Takes the best answers to a first move that is no better than the best one; none if none was
    /// kept.
    fn refutation(&self, _mv: Move, _answers: &[Move]) {}
}

/// One line of a search. Each iteration reports all of its lines together, best first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Report<'a> {
    /// How deep the line was searched, in plies; 0 if the search was stopped before anything else.
    pub depth: u32,
    /// How deep its longest branch was, in plies.
    pub seldepth: u32,
    /// The line's rank, from 1 on.
    pub multipv: usize,
    /// Its value for the side to move.
    pub score: Score,
    /// What the search itself makes of it, whatever tables say of its first move.
    pub seen: Score,
    /// Whether its value is that of a draw, as tables say so of its first move.
    pub drawn: bool,
    /// Positions searched so far.
    pub nodes: u64,
    /// Time used so far.
    pub time: Duration,
    /// How full the hash table is, in permille.
    pub hashfull: u32,
    /// How often tablebases had an answer.
    pub tbhits: u64,
    /// The moves, beginning with the one to play.
    pub pv: &'a [Move],
}

/// What a search has found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchResult {
    /// The value for the side to move.
    pub score: Score,
    /// The best line; empty only if there is no legal move.
    pub pv: Vec<Move>,
    /// How deep it was searched, in plies; 0 if the search was stopped before anything else.
    pub depth: u32,
    /// Positions searched.
    pub nodes: u64,
}

impl SearchResult {
    /// The move to play; none if there is no legal one.
    pub fn best(&self) -> Option<Move> {
        self.pv.first().copied()
    }

    /// The answer to expect.
    pub fn ponder(&self) -> Option<Move> {
        self.pv.get(1).copied()
    }
}
