//! Who scored what against whom.

use readyok_rules::Side;

use crate::pairing::PairResult;
use crate::plan::EngineId;
use crate::result::{GameResult, Termination};
use crate::stats::{Counts, Outcome, Pentanomial, Trinomial};

/// The counts of every two engines.
#[derive(Clone, Debug)]
pub(super) struct Crosstable {
    engines: usize,
    cells: Vec<Cell>,
}

/// What an engine scored against another one.
#[derive(Clone, Copy, Debug, Default)]
struct Cell {
    games: Trinomial,
    pairs: Pentanomial,
    /// Every pairing so far had two whole games.
    only_pairs: Option<bool>,
}

impl Crosstable {
    pub(super) fn new(engines: usize) -> Self {
        Self { engines, cells: vec![Cell::default(); engines * engines] }
    }

    pub(super) fn add(&mut self, result: &PairResult) {
        let (first, second) = (result.pairing.first, result.pairing.second);
        let whole = result.games.iter().filter(|game| game.termination != Termination::Aborted);
        let outcomes: Vec<Outcome> = whole.map(|game| outcome(game, first)).collect();
        if let Some(cell) = self.cell_mut(first, second) {
            cell.add(&outcomes);
        }
        let reversed: Vec<Outcome> = outcomes.iter().map(|outcome| outcome.reversed()).collect();
        if let Some(cell) = self.cell_mut(second, first) {
            cell.add(&reversed);
        }
    }

    /// What an engine scored against another one, in pairs if there were only pairs.
    pub(super) fn counts(&self, engine: usize, opponent: usize) -> Counts {
        let index = engine * self.engines + opponent;
        let cell = self.cells.get(index).copied().unwrap_or_default();
        if cell.only_pairs == Some(true) {
            Counts::Pairs(cell.pairs)
        } else {
            Counts::Games(cell.games)
        }
    }

    /// What an engine scored against all the others.
    pub(super) fn total(&self, engine: usize) -> Counts {
        let row = self.cells.iter().skip(engine * self.engines).take(self.engines);
        let played = || row.clone().filter(|cell| cell.only_pairs.is_some());
        // Counts that do not fit are those of more games than can be played.
        if played().all(|cell| cell.only_pairs == Some(true)) {
            let sum = played().try_fold(Pentanomial::default(), |sum, cell| sum.plus(cell.pairs));
            Counts::Pairs(sum.unwrap_or_default())
        } else {
            let sum = played().try_fold(Trinomial::default(), |sum, cell| sum.plus(cell.games));
            Counts::Games(sum.unwrap_or_default())
        }
    }

    fn cell_mut(&mut self, engine: EngineId, opponent: EngineId) -> Option<&mut Cell> {
        let [engine, opponent] =
            [engine, opponent].map(|id| usize::try_from(id.0).ok().filter(|&n| n < self.engines));
        self.cells.get_mut(engine? * self.engines + opponent?)
    }
}

impl Cell {
    fn add(&mut self, outcomes: &[Outcome]) {
        for &outcome in outcomes {
            // More games than can be counted cannot be played.
            let _ = self.games.add(outcome);
        }
        let pair = match *outcomes {
            [one, other] => self.pairs.add(one, other).is_ok(),
            [] => return,
            _ => false,
        };
        self.only_pairs = Some(self.only_pairs.unwrap_or(true) && pair);
    }
}

/// How a game ended for an engine.
pub(super) fn outcome(game: &GameResult, engine: EngineId) -> Outcome {
    let side = if game.first == engine { Side::First } else { Side::Second };
    match game.winner {
        None => Outcome::Draw,
        Some(winner) if winner == side => Outcome::Win,
        Some(_) => Outcome::Loss,
    }
}
