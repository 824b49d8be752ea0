//! Sums for each engine: ends of games, time, depth, speed.

use std::collections::BTreeMap;

use readyok_rules::{Side, Termination};

use crate::result::{MatchGame, MoveRecord};

/// Later moves are summed with this one.
pub(super) const LAST_MOVE: usize = 150;

/// The sums of one engine.
#[derive(Clone, Debug, Default)]
pub(super) struct EngineSums {
    /// Number of games by termination and score: won (1), drawn (0) or lost (-1).
    pub(super) ends: BTreeMap<(String, i8), u64>,
    /// Time by the number of the move, counted from 0.
    pub(super) time: Vec<Mean>,
    /// Time of all moves.
    pub(super) all_time: Mean,
    /// The longest search, in microseconds.
    pub(super) longest_us: u64,
    /// Latency of responses: measured minus reported time, in milliseconds.
    pub(super) latency: Mean,
    /// Depth in plies.
    pub(super) depth: Mean,
    /// Nodes of a search.
    pub(super) nodes: Mean,
    /// Nodes per second, as reported.
    pub(super) nps: Mean,
}

/// A sum with the number of its values.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Mean {
    sum: f64,
    count: u64,
}

impl Mean {
    fn add(&mut self, value: f64) {
        self.sum += value;
        self.count += 1;
    }

    /// The mean; none without values.
    #[expect(clippy::cast_precision_loss, reason = "fewer than 2^53 moves")]
    pub(super) fn value(self) -> Option<f64> {
        (self.count > 0).then(|| self.sum / self.count as f64)
    }
}

impl EngineSums {
    /// Adds a move; `ply` is counted from 0, and both sides count.
    #[expect(clippy::cast_precision_loss, reason = "exact up to 2^53, and shown rounded")]
    pub(super) fn add_move(&mut self, ply: usize, played: &MoveRecord) {
        let millis = played.time_us as f64 / 1000.0;
        let number = (ply / 2).min(LAST_MOVE);
        if self.time.len() <= number {
            self.time.resize(number + 1, Mean::default());
        }
        if let Some(mean) = self.time.get_mut(number) {
            mean.add(millis);
        }
        self.all_time.add(millis);
        self.longest_us = self.longest_us.max(played.time_us);
        if let Some(reported) = played.reported_time_ms {
            self.latency.add(millis - reported as f64);
        }
        if let Some(depth) = played.depth {
            self.depth.add(f64::from(depth));
        }
        if let Some(nodes) = played.nodes {
            self.nodes.add(nodes as f64);
        }
        if let Some(nps) = played.nps {
            self.nps.add(nps as f64);
        }
    }

    /// Adds a game in which the engine had a side.
    pub(super) fn add_game(&mut self, game: &MatchGame, side: Side) {
        let outcome = match game.winner {
            None => 0,
            Some(winner) if winner == side => 1,
            Some(_) => -1,
        };
        *self.ends.entry((end(game.end.termination), outcome)).or_default() += 1;
    }
}

/// A termination as text.
pub(super) fn end(termination: Termination) -> String {
    match termination {
        Termination::TryRule => "try rule".to_owned(),
        Termination::DrawAdjudication => "adjudicated draw".to_owned(),
        Termination::ResignAdjudication => "adjudicated win".to_owned(),
        Termination::MateAdjudication => "claimed mate".to_owned(),
        other => other.name().replace('-', " "),
    }
}
