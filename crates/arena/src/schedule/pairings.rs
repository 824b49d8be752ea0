//! The pairings of a schedule, without their openings.

use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::ops::Range;

use super::PairingError;
use super::swiss::Swiss;
use super::takes::TakeBatches;
use crate::plan::{Colors, EngineId, Format, GamesPerPairing, OpeningPolicy, PairingOrder, Plan};
use crate::schedule::formats::Knockout;
use crate::schedule::formats::{Gauntlet, Pyramid, RoundRobin};
use crate::schedule::{Encounter, Lookup, PairingScore};
use crate::stats::MAX_PLAYERS;

/// Some formats need memory in proportion to the square of the number of engines.
const MAX_ENGINES: usize = MAX_PLAYERS;

/// A pairing with the number of its opening.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Slot {
    pub(super) index: u64,
    pub(super) round: u32,
    pub(super) first: EngineId,
    pub(super) second: EngineId,
    pub(super) games: u32,
    pub(super) fixed_colors: bool,
    pub(super) opening: u64,
    /// The number of openings before they repeat; all openings of the book if `None`.
    pub(super) cycle: Option<u64>,
}

pub(super) enum Step {
    Slot(Slot),
    Wait,
    Done,
}

/// The pairings of a plan. Pairing `index` is number `index % per_encounter` of encounter `index / per_encounter`:
/// indices depend only on the plan.
#[derive(Debug)]
pub(super) struct Pairings {
    kind: ScheduleKind,
    encounters: u64,
    per_encounter: u64,
    games: u32,
    order: PairingOrder,
    colors: Colors,
    policy: OpeningPolicy,
    rounds: u64,
    repeat: u64,
    /// Issued, recorded, or skipped.
    taken: Intervals,
    recorded: Intervals,
}

#[derive(Debug)]
enum ScheduleKind {
    RoundRobin(RoundRobin),
    Gauntlet(Gauntlet),
    Pyramid(Pyramid),
    Knockout(Knockout),
    Swiss(Swiss),
    Takes(TakeBatches),
}

impl Pairings {
    pub(super) fn new(plan: &Plan) -> Result<Self, PairingError> {
        let count = plan.engines.len();
        if count < 2 {
            return Err(PairingError::TooFewEngines { engines: count });
        }
        if count > MAX_ENGINES {
            return Err(PairingError::TooManyEngines { engines: count, limit: MAX_ENGINES });
        }
        for (field, value) in
            [("rounds", plan.rounds), ("pairs_per_encounter", plan.pairs_per_encounter)]
        {
            if value == 0 {
                return Err(PairingError::PlanFieldZero { name: field.into() });
            }
        }
        let games = match plan.games {
            GamesPerPairing::One => 1,
            GamesPerPairing::Two
                if plan.colors.fixed && plan.pairing_order == PairingOrder::Berger =>
            {
                return Err(PairingError::FixedPairs);
            }
            GamesPerPairing::Two => 2,
        };
        let (engines, rounds) = (count as u64, u64::from(plan.rounds));
        let (kind, rounds, encounters) = match plan.format {
            Format::RoundRobin if plan.pairing_order == PairingOrder::Fastchess => {
                let rows = Gauntlet { engines, seeds: engines - 1 };
                (ScheduleKind::Gauntlet(rows), rounds, rounds * rows.encounters())
            }
            Format::RoundRobin => {
                let round_robin = RoundRobin { engines };
                (
                    ScheduleKind::RoundRobin(round_robin),
                    rounds * round_robin.rounds(),
                    rounds * round_robin.encounters(),
                )
            }
            Format::Gauntlet { seeds: 0 } => {
                return Err(PairingError::PlanFieldZero { name: "seeds".into() });
            }
            Format::Gauntlet { seeds } => {
                let seeds = u64::from(seeds).min(engines - 1);
                let gauntlet = Gauntlet { engines, seeds };
                (ScheduleKind::Gauntlet(gauntlet), rounds, rounds * gauntlet.encounters())
            }
            Format::Pyramid => {
                let pyramid = Pyramid { engines };
                (
                    ScheduleKind::Pyramid(pyramid),
                    rounds * pyramid.rounds(),
                    rounds * pyramid.encounters(),
                )
            }
            Format::Knockout { .. } if rounds > 1 => {
                return Err(PairingError::KnockoutRounds { rounds: plan.rounds });
            }
            Format::Knockout { replays, tie } => {
                let knockout =
                    Knockout::new(count, plan.pairs_per_encounter, replays, tie, plan.seed);
                let encounters = knockout.encounters();
                (ScheduleKind::Knockout(knockout), rounds, encounters)
            }
            Format::Swiss => {
                // An even number of games balances colors by itself.
                let even = u64::from(plan.pairs_per_encounter) * u64::from(games) % 2 == 0;
                let swiss = Swiss::new(
                    count,
                    u64::from(plan.pairs_per_encounter),
                    games,
                    !even && !plan.colors.fixed,
                );
                (ScheduleKind::Swiss(swiss), rounds, rounds * (engines / 2))
            }
            Format::Takes => (ScheduleKind::Takes(TakeBatches::new(plan)), rounds, rounds),
        };
        // The products above cannot overflow: the number of engines and the rounds are small.
        if u32::try_from(rounds).is_err()
            || encounters.checked_mul(u64::from(plan.pairs_per_encounter)).is_none()
        {
            return Err(PairingError::TooManyPairings);
        }
        Ok(Self {
            kind,
            encounters,
            per_encounter: u64::from(plan.pairs_per_encounter),
            games,
            order: plan.pairing_order,
            colors: plan.colors,
            policy: plan.openings.policy,
            rounds: u64::from(plan.rounds),
            repeat: plan.openings.repeat.map_or(1, NonZeroU32::get).into(),
            taken: Intervals::default(),
            recorded: Intervals::default(),
        })
    }

    pub(super) fn total(&self) -> u64 {
        match &self.kind {
            ScheduleKind::RoundRobin(_)
            | ScheduleKind::Gauntlet(_)
            | ScheduleKind::Pyramid(_)
            | ScheduleKind::Swiss(_)
            | ScheduleKind::Takes(_) => self.encounters * self.per_encounter,
            ScheduleKind::Knockout(knockout) => knockout.max_played() * self.per_encounter,
        }
    }

    pub(super) fn byes(&self) -> Vec<(u32, EngineId)> {
        match &self.kind {
            ScheduleKind::RoundRobin(_)
            | ScheduleKind::Gauntlet(_)
            | ScheduleKind::Pyramid(_)
            | ScheduleKind::Knockout(_)
            | ScheduleKind::Takes(_) => Vec::new(),
            ScheduleKind::Swiss(swiss) => swiss.byes().collect(),
        }
    }

    pub(super) fn champion(&mut self) -> Result<Option<EngineId>, PairingError> {
        match &mut self.kind {
            ScheduleKind::RoundRobin(_)
            | ScheduleKind::Gauntlet(_)
            | ScheduleKind::Pyramid(_)
            | ScheduleKind::Swiss(_)
            | ScheduleKind::Takes(_) => Ok(None),
            ScheduleKind::Knockout(knockout) => knockout.champion(),
        }
    }

    pub(super) fn next(&mut self) -> Result<Step, PairingError> {
        let mut waiting = false;
        let mut index = self.taken.first_gap(0);
        loop {
            let number = index / self.per_encounter;
            if number >= self.encounters {
                if let ScheduleKind::Knockout(knockout) = &mut self.kind {
                    knockout.check()?;
                }
                return Ok(if waiting { Step::Wait } else { Step::Done });
            }
            let following = (number + 1) * self.per_encounter;
            match self.lookup(number)? {
                Lookup::Known(encounter) => {
                    self.taken.insert(index);
                    return Ok(Step::Slot(self.slot(index, encounter)));
                }
                Lookup::Skipped => self.taken.insert_all(index..following),
                Lookup::Pending if self.is_ordered() => return Ok(Step::Wait),
                Lookup::Pending => waiting = true,
            }
            index = self.taken.first_gap(following);
        }
    }

    pub(super) fn record(&mut self, outcome: PairingScore) -> Result<bool, PairingError> {
        let index = outcome.index;
        let number = index / self.per_encounter;
        if number >= self.encounters {
            return Err(PairingError::NoSuchPairing { index });
        }
        let games = outcome.score.games();
        if games != self.games {
            return Err(PairingError::PairingGames { index, games, expected: self.games });
        }
        if let ScheduleKind::Takes(batches) = &mut self.kind {
            batches.check(outcome)?;
            if !self.recorded.contains(index) {
                batches.record(number, outcome);
            }
            self.taken.insert(index);
            return Ok(self.recorded.insert(index));
        }
        match self.lookup(number)? {
            Lookup::Known(encounter) => encounter.check(index, outcome.first, outcome.second)?,
            Lookup::Skipped => return Err(PairingError::NoSuchPairing { index }),
            // Checked when the engines are known.
            Lookup::Pending => {}
        }
        if self.recorded.contains(index) {
            return Ok(false);
        }
        match &mut self.kind {
            ScheduleKind::RoundRobin(_)
            | ScheduleKind::Gauntlet(_)
            | ScheduleKind::Pyramid(_)
            | ScheduleKind::Takes(_) => {}
            ScheduleKind::Knockout(knockout) => knockout.scores.add(number, outcome)?,
            ScheduleKind::Swiss(swiss) => swiss.scores.add(number, outcome)?,
        }
        self.taken.insert(index);
        Ok(self.recorded.insert(index))
    }

    fn lookup(&mut self, number: u64) -> Result<Lookup, PairingError> {
        match &mut self.kind {
            ScheduleKind::RoundRobin(round_robin) => {
                Ok(Lookup::Known(round_robin.encounter(number)))
            }
            ScheduleKind::Gauntlet(gauntlet) => Ok(Lookup::Known(gauntlet.encounter(number))),
            ScheduleKind::Pyramid(pyramid) => Ok(Lookup::Known(pyramid.encounter(number))),
            ScheduleKind::Knockout(knockout) => knockout.lookup(number),
            ScheduleKind::Swiss(swiss) => swiss.lookup(number),
            ScheduleKind::Takes(batches) => Ok(batches.lookup(number)),
        }
    }

    /// Whether all encounters after a pending one are pending, too.
    fn is_ordered(&self) -> bool {
        match &self.kind {
            ScheduleKind::RoundRobin(_)
            | ScheduleKind::Gauntlet(_)
            | ScheduleKind::Pyramid(_)
            | ScheduleKind::Swiss(_)
            | ScheduleKind::Takes(_) => true,
            ScheduleKind::Knockout(_) => false,
        }
    }

    fn slot(&self, index: u64, encounter: Encounter) -> Slot {
        let (mut first, mut second) = (encounter.first, encounter.second);
        let has_fixed = self.colors.fixed || self.games == 2;
        if has_fixed || self.order == PairingOrder::Fastchess {
            (first, second) = (first.min(second), first.max(second));
        }
        let turn = match self.order {
            PairingOrder::Berger => index % self.per_encounter,
            PairingOrder::Fastchess => index,
        };
        if !has_fixed && !turn.is_multiple_of(2) {
            (first, second) = (second, first);
        }
        if self.colors.reversed {
            (first, second) = (second, first);
        }
        let opening = match self.policy {
            OpeningPolicy::Pairing => index,
            OpeningPolicy::Encounter | OpeningPolicy::Cycle => index / self.per_encounter,
            OpeningPolicy::Round => encounter.opening,
        };
        Slot {
            index,
            round: u32::try_from(encounter.round + 1).unwrap_or(u32::MAX),
            first,
            second,
            games: self.games,
            fixed_colors: self.colors.fixed && self.games == 2,
            opening: opening / self.repeat,
            cycle: (self.policy == OpeningPolicy::Cycle).then_some(self.rounds),
        }
    }
}

/// A set of numbers, stored as intervals: the played pairings of a long match are mostly contiguous.
#[derive(Debug, Default)]
struct Intervals {
    /// Start and exclusive end of each interval.
    ends: BTreeMap<u64, u64>,
}

impl Intervals {
    fn contains(&self, number: u64) -> bool {
        self.around(number).is_some()
    }

    /// The first number from `from` on that is not in the set.
    fn first_gap(&self, from: u64) -> u64 {
        self.around(from).map_or(from, |(_, end)| end)
    }

    /// Adds a number. Returns whether it is new.
    fn insert(&mut self, number: u64) -> bool {
        let new = !self.contains(number);
        self.insert_all(number..number.saturating_add(1));
        new
    }

    fn insert_all(&mut self, numbers: Range<u64>) {
        if numbers.is_empty() {
            return;
        }
        let (mut start, mut end) = (numbers.start, numbers.end);
        // Merges all intervals that overlap or touch the new one.
        while let Some((&other_start, &other_end)) = self.ends.range(..=end).next_back() {
            if other_end < start {
                break;
            }
            self.ends.remove(&other_start);
            start = start.min(other_start);
            end = end.max(other_end);
        }
        self.ends.insert(start, end);
    }

    /// The interval that contains a number.
    fn around(&self, number: u64) -> Option<(u64, u64)> {
        let (&start, &end) = self.ends.range(..=number).next_back()?;
        (number < end).then_some((start, end))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::Intervals;

    proptest! {
        #[test]
        fn intervals_behave_like_a_set(ranges in prop::collection::vec((0_u64..60, 0_u64..6), 0..40)) {
            let (mut intervals, mut set) = (Intervals::default(), BTreeSet::new());
            for (start, length) in ranges {
                if length == 1 {
                    prop_assert_eq!(intervals.insert(start), set.insert(start));
                } else {
                    intervals.insert_all(start..start + length);
                    set.extend(start..start + length);
                }
                for number in 0..70 {
                    prop_assert_eq!(intervals.contains(number), set.contains(&number));
                    let gap = (number..200).find(|number| !set.contains(number));
                    prop_assert_eq!(Some(intervals.first_gap(number)), gap);
                }
            }
            let apart = intervals.ends.iter().zip(intervals.ends.iter().skip(1));
            prop_assert!(apart.into_iter().all(|((_, end), (start, _))| end < start));
        }
    }
}
