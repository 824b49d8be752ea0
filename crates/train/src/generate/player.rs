//! Two searchers, one for each side, as what one side has seen must not help the other.

use std::collections::TryReserveError;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use narikin::{Control, Limits, Report, Score, Searcher};
use readyok_rules::{Move, Position, Side};

use crate::data::MATE;

/// Megabytes of hash for each side: enough for searches of some thousand nodes.
const HASH: usize = 1;

/// Whoever plays both sides of a game.
pub(super) struct Players<'a> {
    first: Searcher,
    second: Searcher,
    limits: Limits,
    control: Stop<'a>,
}

impl<'a> Players<'a> {
    /// `stop` ends searches early once it is set.
    pub(super) fn new(stop: &'a AtomicBool) -> Result<Self, TryReserveError> {
        Ok(Self {
            first: Searcher::new(HASH)?,
            second: Searcher::new(HASH)?,
            limits: Limits::default(),
            control: Stop(stop),
        })
    }

    /// Forgets the last game.
    pub(super) fn clear(&mut self) {
        self.first.clear();
        self.second.clear();
    }

    /// The move of the side to move and its score; no move if there is none.
    pub(super) fn think(&mut self, position: &Position, nodes: u64) -> (Option<Move>, i16) {
        self.limits.nodes = Some(nodes);
        let searcher = match position.turn() {
            Side::First => &mut self.first,
            Side::Second => &mut self.second,
        };
        let outcome = searcher.search(position, &self.limits, &self.control);
        (outcome.best(), number(outcome.score))
    }

    /// Whether to end the game as it is.
    pub(super) fn is_stopped(&self) -> bool {
        self.control.stopped()
    }
}

fn number(score: Score) -> i16 {
    let mate = |plies: u32| MATE - i16::try_from(plies.min(1000)).unwrap_or(0);
    match score {
        Score::Centipawns(value) => {
            // Mates are kept apart.
            let largest = i32::from(MATE) - 1001;
            i16::try_from(value.clamp(-largest, largest)).unwrap_or(0)
        }
        Score::Wins { plies } => mate(plies),
        Score::Loses { plies } => -mate(plies),
    }
}

/// Searches end by their nodes alone, unless the whole run ends.
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
