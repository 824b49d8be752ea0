//! One searcher per side, so that no side benefits from the hash entries of the other.

use std::collections::TryReserveError;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use narikin::{Control, Limits, Report, Score, Searcher};
use readyok_rules::{Move, Position, Side};

use crate::data::MATE;

/// Hash size of each side in MB, enough for searches of some thousand nodes.
const HASH: usize = 1;

/// The players of both sides.
pub(super) struct Players<'a> {
    first: Searcher,
    second: Searcher,
    limits: Limits,
    control: Stop<'a>,
}

impl<'a> Players<'a> {
    /// Searches end early when `stop` is set.
    pub(super) fn new(stop: &'a AtomicBool) -> Result<Self, TryReserveError> {
        Ok(Self {
            first: Searcher::new(HASH)?,
            second: Searcher::new(HASH)?,
            limits: Limits::default(),
            control: Stop(stop),
        })
    }

    /// Clears the data of the last game.
    pub(super) fn clear(&mut self) {
        self.first.clear();
        self.second.clear();
    }

    /// The best move of the side to move, if there is a legal one, and its score.
    pub(super) fn think(&mut self, position: &Position, nodes: u64) -> (Option<Move>, i16) {
        self.limits.nodes = Some(nodes);
        let searcher = match position.turn() {
            Side::First => &mut self.first,
            Side::Second => &mut self.second,
        };
        let outcome = searcher.search(position, &self.limits, &self.control);
        (outcome.best(), number(outcome.score))
    }

    /// Whether to abort the game.
    pub(super) fn is_stopped(&self) -> bool {
        self.control.stopped()
    }
}

fn number(score: Score) -> i16 {
    let mate = |plies: u32| MATE - i16::try_from(plies.min(1000)).unwrap_or(0);
    match score {
        Score::Centipawns(value) => {
            // Scores of mates are reserved.
            let max = i32::from(MATE) - 1001;
            i16::try_from(value.clamp(-max, max)).unwrap_or(0)
        }
        Score::Wins { plies } => mate(plies),
        Score::Loses { plies } => -mate(plies),
    }
}

/// Stops searches only when the run ends; otherwise they end by node count.
struct Stop<'a>(&'a AtomicBool);

impl Control for Stop<'_> {
    fn stopped(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    fn elapsed(&self) -> Duration {
        Duration::ZERO
    }

    fn report(&self, _report: &Report<'_>) {}
}
