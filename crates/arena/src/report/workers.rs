//! Sums for each worker of a match on several machines. They show a faulty machine.

use std::collections::BTreeMap;

use readyok_rules::Termination;

use crate::pairing::PairResult;
use crate::queue::WorkerId;

/// Maximum number of workers with sums of their own.
const MAX_WORKERS: usize = 500;

/// The sums of all workers.
#[derive(Clone, Debug, Default)]
pub(super) struct Workers {
    /// The entry without a worker is that of the coordinator.
    sums: BTreeMap<Option<WorkerId>, WorkerSums>,
    /// Pairings of other workers.
    more: u64,
}

/// The sums of one worker.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct WorkerSums {
    pub(super) pairings: u64,
    pub(super) games: u64,
    /// Games lost by an engine, by termination.
    pub(super) no_starts: u64,
    pub(super) crashes: u64,
    pub(super) stalls: u64,
    pub(super) illegal: u64,
    pub(super) forfeits: u64,
}

impl Workers {
    pub(super) fn add(&mut self, result: &PairResult) {
        if self.sums.len() >= MAX_WORKERS && !self.sums.contains_key(&result.worker) {
            self.more += 1;
            return;
        }
        let sums = self.sums.entry(result.worker.clone()).or_default();
        sums.pairings += 1;
        for game in &result.games {
            sums.add(game.end.termination);
        }
    }

    /// All of them in the order of their names, if there is more than one.
    pub(super) fn rows(&self) -> Option<impl Iterator<Item = (Option<&WorkerId>, WorkerSums)>> {
        let rows = self.sums.iter().map(|(worker, sums)| (worker.as_ref(), *sums));
        (self.sums.len() > 1).then_some(rows)
    }

    /// How many pairings are of workers that have no row.
    pub(super) fn more(&self) -> u64 {
        self.more
    }
}

impl WorkerSums {
    fn add(&mut self, termination: Termination) {
        self.games += u64::from(termination != Termination::Aborted);
        let count = match termination {
            Termination::EngineStartFailure => &mut self.no_starts,
            Termination::EngineCrash => &mut self.crashes,
            Termination::EngineStall => &mut self.stalls,
            Termination::IllegalMove => &mut self.illegal,
            Termination::TimeForfeit => &mut self.forfeits,
            _ => return,
        };
        *count += 1;
    }
}
