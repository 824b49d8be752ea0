//! What the recorded pairings of each meeting came to.

use std::collections::BTreeMap;

use super::draw::Meeting;
use super::{Outcome, ScheduleError};
use crate::plan::EngineId;

/// The meetings of which an outcome was recorded.
#[derive(Debug)]
pub(super) struct Tallies {
    legs: u64,
    by_meeting: BTreeMap<u64, Tally>,
}

/// A meeting, from the side of the engine that was named first.
#[derive(Clone, Copy, Debug)]
struct Tally {
    engines: (EngineId, EngineId),
    half_points: (u64, u64),
    legs: u64,
}

impl Tallies {
    pub(super) fn new(legs: u64) -> Self {
        Self { legs, by_meeting: BTreeMap::new() }
    }

    /// Adds the outcome of one leg.
    pub(super) fn add(&mut self, number: u64, outcome: Outcome) -> Result<(), ScheduleError> {
        let Outcome { index, first, second, score } = outcome;
        let engines = (first, second);
        let tally = self.by_meeting.entry(number).or_insert(Tally {
            engines,
            half_points: (0, 0),
            legs: 0,
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
        tally.legs += 1;
        Ok(())
    }

    /// Whether all legs of a meeting were recorded.
    pub(super) fn is_complete(&self, number: u64) -> bool {
        self.by_meeting.get(&number).is_some_and(|tally| tally.legs >= self.legs)
    }

    /// The half points of both engines of a meeting, in the meeting's order; none unless all legs
    /// were recorded.
    pub(super) fn half_points(
        &self,
        number: u64,
        first: EngineId,
        second: EngineId,
    ) -> Option<(u64, u64)> {
        let tally = self.by_meeting.get(&number).filter(|tally| tally.legs >= self.legs)?;
        let (ours, theirs) = tally.half_points;
        if tally.engines == (first, second) {
            Some((ours, theirs))
        } else if tally.engines == (second, first) {
            Some((theirs, ours))
        } else {
            None
        }
    }

    /// Fails if other engines were recorded than those that meet, as it has become known.
    pub(super) fn check(&self, number: u64, meeting: Meeting) -> Result<(), ScheduleError> {
        let Some(tally) = self.by_meeting.get(&number) else { return Ok(()) };
        meeting.check(number * self.legs, tally.engines.0, tally.engines.1)
    }
}
