//! The games that an engine has lost by failing.

use readyok_rules::Side;

use crate::plan::EngineId;
use crate::result::{GameEnd, MatchGame};

/// Maximum number of stored failures.
const MAX_FAILURES: usize = 100;

/// Games that an engine has lost by failing, the first ones.
#[derive(Clone, Debug, Default)]
pub(super) struct Failures {
    kept: Vec<Failure>,
    more: u64,
}

/// A game that an engine has lost by failing.
#[derive(Clone, Debug)]
pub(super) struct Failure {
    /// The index of the pairing, and the game in it, counted from 1.
    pub(super) pairing: u64,
    pub(super) game: u32,
    pub(super) engine: EngineId,
    pub(super) what: GameEnd,
}

impl Failures {
    pub(super) fn add(&mut self, pairing: u64, number: u32, game: &MatchGame) {
        let engine = match game.winner {
            Some(Side::First) => game.second,
            Some(Side::Second) => game.first,
            None => return,
        };
        if !game.end.termination.is_failure() {
            return;
        }
        if self.kept.len() == MAX_FAILURES {
            self.more += 1;
            return;
        }
        let what = game.end.clone();
        self.kept.push(Failure { pairing, game: number, engine, what });
    }

    pub(super) fn kept(&self) -> &[Failure] {
        &self.kept
    }

    /// How many there were besides.
    pub(super) fn more(&self) -> u64 {
        self.more
    }
}
