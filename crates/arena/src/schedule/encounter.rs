//! Encounters: two engines, as many pairings as the plan has for each encounter, and their results.

use std::collections::BTreeMap;

use readyok_rules::Side;

use super::ScheduleError;
use crate::pairing::PairResult;
use crate::plan::EngineId;

/// The result of a pairing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// The index of the pairing.
    pub index: u64,
    /// The engine with the first move in the first game.
    pub first: EngineId,
    /// Its opponent.
    pub second: EngineId,
    /// The score of `first`.
    pub score: Score,
}

/// Wins, draws and losses of the first engine of a pairing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Score {
    /// Games won.
    pub wins: u32,
    /// Games drawn.
    pub draws: u32,
    /// Games lost.
    pub losses: u32,
}

impl Score {
    /// The number of games.
    pub fn games(self) -> u32 {
        self.wins.saturating_add(self.draws).saturating_add(self.losses)
    }

    /// The half points of both engines.
    fn half_points(self) -> (u64, u64) {
        let points = |wins: u32| u64::from(wins) * 2 + u64::from(self.draws);
        (points(self.wins), points(self.losses))
    }
}

impl From<&PairResult> for Outcome {
    fn from(result: &PairResult) -> Self {
        let pairing = &result.pairing;
        let mut score = Score::default();
        for game in &result.games {
            let winner = game.winner.map(|side| match side {
                Side::First => game.first,
                Side::Second => game.second,
            });
            let count = match winner {
                None => &mut score.draws,
                Some(winner) if winner == pairing.first => &mut score.wins,
                Some(_) => &mut score.losses,
            };
            *count = count.saturating_add(1);
        }
        Self { index: pairing.index, first: pairing.first, second: pairing.second, score }
    }
}

/// Two engines that play each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Encounter {
    /// Counted from 0.
    pub(super) round: u64,
    /// The number of the opening if openings change with the round. A replayed match needs another opening:
    /// deterministic engines would repeat the tie.
    pub(super) opening: u64,
    /// The engine with the first move in the first pairing.
    pub(super) first: EngineId,
    pub(super) second: EngineId,
}

/// Whether the engines of an encounter are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lookup {
    Known(Encounter),
    /// The encounter is not played.
    Skipped,
    /// It depends on results that are not recorded yet.
    Pending,
}

impl Encounter {
    /// Fails unless a recorded outcome is of these engines.
    pub(super) fn check(
        self,
        index: u64,
        first: EngineId,
        second: EngineId,
    ) -> Result<(), ScheduleError> {
        let sorted = |one: EngineId, other: EngineId| (one.min(other), one.max(other));
        if sorted(first, second) == sorted(self.first, self.second) {
            return Ok(());
        }
        Err(ScheduleError::OtherEngines {
            index,
            recorded: (first, second),
            scheduled: (self.first, self.second),
        })
    }
}

/// Scores of all encounters with recorded outcomes.
#[derive(Debug)]
pub(super) struct Scores {
    /// Pairings per encounter.
    pairings: u64,
    by_encounter: BTreeMap<u64, Tally>,
}

/// Score of an encounter. The engines are in the order of the first recorded outcome.
#[derive(Clone, Copy, Debug)]
struct Tally {
    engines: (EngineId, EngineId),
    half_points: (u64, u64),
    pairings: u64,
}

impl Scores {
    pub(super) fn new(pairings: u64) -> Self {
        Self { pairings, by_encounter: BTreeMap::new() }
    }

    /// Adds the outcome of one pairing of an encounter.
    pub(super) fn add(&mut self, number: u64, outcome: Outcome) -> Result<(), ScheduleError> {
        let Outcome { index, first, second, score } = outcome;
        let engines = (first, second);
        let tally = self.by_encounter.entry(number).or_insert(Tally {
            engines,
            half_points: (0, 0),
            pairings: 0,
        });
        let (ours, theirs) = if tally.engines == engines {
            score.half_points()
        } else if tally.engines == (second, first) {
            let (ours, theirs) = score.half_points();
            (theirs, ours)
        } else {
            return Err(ScheduleError::OtherEngines {
                index,
                recorded: engines,
                scheduled: tally.engines,
            });
        };
        tally.half_points.0 += ours;
        tally.half_points.1 += theirs;
        tally.pairings += 1;
        Ok(())
    }

    /// Whether all pairings of an encounter are recorded.
    pub(super) fn is_complete(&self, number: u64) -> bool {
        self.by_encounter.get(&number).is_some_and(|tally| tally.pairings >= self.pairings)
    }

    /// The half points of both engines of a complete encounter.
    pub(super) fn half_points(
        &self,
        number: u64,
        first: EngineId,
        second: EngineId,
    ) -> Option<(u64, u64)> {
        let tally =
            self.by_encounter.get(&number).filter(|tally| tally.pairings >= self.pairings)?;
        let (ours, theirs) = tally.half_points;
        if tally.engines == (first, second) {
            Some((ours, theirs))
        } else if tally.engines == (second, first) {
            Some((theirs, ours))
        } else {
            None
        }
    }

    /// Fails if outcomes of other engines were recorded before the engines of the encounter were known.
    pub(super) fn check(&self, number: u64, encounter: Encounter) -> Result<(), ScheduleError> {
        let Some(tally) = self.by_encounter.get(&number) else { return Ok(()) };
        encounter.check(number * self.pairings, tally.engines.0, tally.engines.1)
    }
}
