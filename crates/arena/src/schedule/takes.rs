//! The batches of several takes: each is played by the take that is the best one when its first pairing is issued.

use std::collections::BTreeMap;

use super::{Encounter, Lookup, PairingError};
use crate::pairing::PairingScore;
use crate::plan::{EngineId, Plan};
use crate::takes::{BASE, Takes};

#[derive(Debug)]
pub(super) struct TakeBatches {
    engines: usize,
    /// None without a valid test, which is an error of the match.
    takes: Option<Takes>,
    /// The takes of the batches that have begun.
    assigned: BTreeMap<u64, EngineId>,
}

impl TakeBatches {
    pub(super) fn new(plan: &Plan) -> Self {
        let (engines, takes) = (plan.engines.len(), Takes::new(plan));
        Self { engines, takes, assigned: BTreeMap::new() }
    }

    /// The encounter of the next pairing of a batch. A take that was dropped loses the rest of its batch.
    pub(super) fn lookup(&mut self, batch: u64) -> Lookup {
        let Some(takes) = &self.takes else { return Lookup::Pending };
        let begun = self.assigned.get(&batch).copied().filter(|take| takes.is_live(*take));
        // Without a next take the test is over, and no pairing is issued.
        let Some(take) = begun.or_else(|| takes.next()) else { return Lookup::Pending };
        self.assigned.insert(batch, take);
        Lookup::Known(Encounter { round: batch, opening: batch, first: BASE, second: take })
    }

    /// Fails unless an outcome is of the base and a take. The other pairings of its batch may be of another take, if
    /// results were discarded while it was played.
    pub(super) fn check(&self, outcome: PairingScore) -> Result<(), PairingError> {
        let PairingScore { index, first, second, .. } = outcome;
        let take = first.max(second);
        if first.min(second) == BASE && take != BASE && take.index() < self.engines {
            return Ok(());
        }
        Err(PairingError::engines(index, (first, second), (BASE, take)))
    }

    /// Records a new outcome, which determines the take of its batch after a resumption.
    pub(super) fn record(&mut self, batch: u64, outcome: PairingScore) {
        let take = outcome.first.max(outcome.second);
        self.assigned.entry(batch).or_insert(take);
        if let Some(takes) = &mut self.takes {
            takes.record(outcome);
        }
    }
}
