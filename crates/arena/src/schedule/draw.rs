//! The pure part of a schedule: pairings without their openings.

use std::num::NonZeroU32;

use super::circle::Circle;
use super::gauntlet::Gauntlet;
use super::intervals::Intervals;
use super::knockout::Knockout;
use super::pyramid::Pyramid;
use super::swiss::Swiss;
use super::{Outcome, ScheduleError};
use crate::plan::{Colors, EngineId, Format, GamesPerPairing, OpeningPolicy, PairingOrder, Plan};
use crate::stats::MAX_PLAYERS;

/// The number of engines is squared here and there.
const MOST_ENGINES: usize = MAX_PLAYERS;

/// Two engines that meet, for as many pairings as the plan has legs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Meeting {
    /// Counted from 0.
    pub(super) round: u64,
    /// Which opening it starts from if openings change with the round. A match that is played
    /// again needs another one: engines that play the same moves again would tie for ever.
    pub(super) lot: u64,
    /// Who has the first move in the first pairing.
    pub(super) first: EngineId,
    pub(super) second: EngineId,
}

/// What is known of a meeting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Known {
    Meeting(Meeting),
    /// It will not be played.
    Never,
    /// Outcomes are needed first.
    NotYet,
}

/// A pairing, with the number of its opening.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Slot {
    pub(super) index: u64,
    pub(super) round: u32,
    pub(super) first: EngineId,
    pub(super) second: EngineId,
    pub(super) games: u32,
    pub(super) fixed_colors: bool,
    pub(super) opening: u64,
    /// After so many openings the first one follows again; none is after all there are.
    pub(super) cycle: Option<u64>,
}

pub(super) enum Step {
    Slot(Slot),
    Wait,
    Done,
}

/// The pairings of a plan. Pairing `index` is leg `index % legs` of meeting `index / legs`, so that
/// numbers depend on nothing but the plan.
#[derive(Debug)]
pub(super) struct Draw {
    form: Form,
    meetings: u64,
    legs: u64,
    games: u32,
    order: PairingOrder,
    colors: Colors,
    policy: OpeningPolicy,
    rounds: u64,
    repeat: u64,
    /// Given out, recorded, or never to be played.
    taken: Intervals,
    recorded: Intervals,
}

#[derive(Debug)]
enum Form {
    Circle(Circle),
    Gauntlet(Gauntlet),
    Pyramid(Pyramid),
    Knockout(Knockout),
    Swiss(Swiss),
}

impl Draw {
    pub(super) fn new(plan: &Plan) -> Result<Self, ScheduleError> {
        let count = plan.engines.len();
        if count < 2 {
            return Err(ScheduleError::TooFewEngines { engines: count });
        }
        if count > MOST_ENGINES {
            return Err(ScheduleError::TooManyEngines { engines: count, limit: MOST_ENGINES });
        }
        for (field, value) in
            [("rounds", plan.rounds), ("pairs_per_encounter", plan.pairs_per_encounter)]
        {
            if value == 0 {
                return Err(ScheduleError::Zero { field });
            }
        }
        let games = match plan.games {
            GamesPerPairing::One => 1,
            GamesPerPairing::Two
                if plan.colors.fixed && plan.pairing_order == PairingOrder::Berger =>
            {
                return Err(ScheduleError::FixedPairs);
            }
            GamesPerPairing::Two => 2,
        };
        let (engines, rounds) = (count as u64, u64::from(plan.rounds));
        let (form, rounds, meetings) = match plan.format {
            Format::RoundRobin if plan.pairing_order == PairingOrder::Fastchess => {
                let rows = Gauntlet { engines, seeds: engines - 1 };
                (Form::Gauntlet(rows), rounds, rounds * rows.meetings())
            }
            Format::RoundRobin => {
                let circle = Circle { engines };
                (Form::Circle(circle), rounds * circle.rounds(), rounds * circle.meetings())
            }
            Format::Gauntlet { seeds: 0 } => return Err(ScheduleError::Zero { field: "seeds" }),
            Format::Gauntlet { seeds } => {
                let seeds = u64::from(seeds).min(engines - 1);
                let gauntlet = Gauntlet { engines, seeds };
                (Form::Gauntlet(gauntlet), rounds, rounds * gauntlet.meetings())
            }
            Format::Pyramid => {
                let pyramid = Pyramid { engines };
                (Form::Pyramid(pyramid), rounds * pyramid.rounds(), rounds * pyramid.meetings())
            }
            Format::Knockout { .. } if rounds > 1 => {
                return Err(ScheduleError::KnockoutRounds { rounds: plan.rounds });
            }
            Format::Knockout { replays, tie } => {
                let knockout =
                    Knockout::new(count, plan.pairs_per_encounter, replays, tie, plan.seed);
                let meetings = knockout.meetings();
                (Form::Knockout(knockout), rounds, meetings)
            }
            Format::Swiss => {
                // After an even number of games colors are even, whoever began.
                let even = u64::from(plan.pairs_per_encounter) * u64::from(games) % 2 == 0;
                let swiss = Swiss::new(
                    count,
                    u64::from(plan.pairs_per_encounter),
                    games,
                    !even && !plan.colors.fixed,
                );
                (Form::Swiss(swiss), rounds, rounds * (engines / 2))
            }
        };
        // Products of the number of engines and of the numbers of rounds are small enough.
        if u32::try_from(rounds).is_err()
            || meetings.checked_mul(u64::from(plan.pairs_per_encounter)).is_none()
        {
            return Err(ScheduleError::TooLarge);
        }
        Ok(Self {
            form,
            meetings,
            legs: u64::from(plan.pairs_per_encounter),
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
        match &self.form {
            Form::Circle(_) | Form::Gauntlet(_) | Form::Pyramid(_) | Form::Swiss(_) => {
                self.meetings * self.legs
            }
            Form::Knockout(knockout) => knockout.most_played() * self.legs,
        }
    }

    pub(super) fn byes(&self) -> Vec<(u32, EngineId)> {
        match &self.form {
            Form::Circle(_) | Form::Gauntlet(_) | Form::Pyramid(_) | Form::Knockout(_) => {
                Vec::new()
            }
            Form::Swiss(swiss) => swiss.byes().collect(),
        }
    }

    pub(super) fn champion(&mut self) -> Result<Option<EngineId>, ScheduleError> {
        match &mut self.form {
            Form::Circle(_) | Form::Gauntlet(_) | Form::Pyramid(_) | Form::Swiss(_) => Ok(None),
            Form::Knockout(knockout) => knockout.champion(),
        }
    }

    pub(super) fn next(&mut self) -> Result<Step, ScheduleError> {
        let mut waiting = false;
        let mut index = self.taken.first_gap(0);
        loop {
            let number = index / self.legs;
            if number >= self.meetings {
                if let Form::Knockout(knockout) = &mut self.form {
                    knockout.check()?;
                }
                return Ok(if waiting { Step::Wait } else { Step::Done });
            }
            let following = (number + 1) * self.legs;
            match self.known(number)? {
                Known::Meeting(meeting) => {
                    self.taken.insert(index);
                    return Ok(Step::Slot(self.slot(index, meeting)));
                }
                Known::Never => self.taken.insert_all(index..following),
                Known::NotYet if self.is_ordered() => return Ok(Step::Wait),
                Known::NotYet => waiting = true,
            }
            index = self.taken.first_gap(following);
        }
    }

    pub(super) fn record(&mut self, outcome: Outcome) -> Result<bool, ScheduleError> {
        let index = outcome.index;
        let number = index / self.legs;
        if number >= self.meetings {
            return Err(ScheduleError::NoSuchPairing { index });
        }
        let games = outcome.score.games();
        if games != self.games {
            return Err(ScheduleError::Games { index, games, expected: self.games });
        }
        match self.known(number)? {
            Known::Meeting(meeting) => meeting.check(index, outcome.first, outcome.second)?,
            Known::Never => return Err(ScheduleError::NoSuchPairing { index }),
            // It is checked as soon as it is known who meets there.
            Known::NotYet => {}
        }
        if self.recorded.contains(index) {
            return Ok(false);
        }
        match &mut self.form {
            Form::Circle(_) | Form::Gauntlet(_) | Form::Pyramid(_) => {}
            Form::Knockout(knockout) => knockout.tallies.add(number, outcome)?,
            Form::Swiss(swiss) => swiss.tallies.add(number, outcome)?,
        }
        self.taken.insert(index);
        Ok(self.recorded.insert(index))
    }

    fn known(&mut self, number: u64) -> Result<Known, ScheduleError> {
        match &mut self.form {
            Form::Circle(circle) => Ok(Known::Meeting(circle.meeting(number))),
            Form::Gauntlet(gauntlet) => Ok(Known::Meeting(gauntlet.meeting(number))),
            Form::Pyramid(pyramid) => Ok(Known::Meeting(pyramid.meeting(number))),
            Form::Knockout(knockout) => knockout.known(number),
            Form::Swiss(swiss) => swiss.known(number),
        }
    }

    /// Whether nothing is known after what is not known.
    fn is_ordered(&self) -> bool {
        match &self.form {
            Form::Circle(_) | Form::Gauntlet(_) | Form::Pyramid(_) | Form::Swiss(_) => true,
            Form::Knockout(_) => false,
        }
    }

    fn slot(&self, index: u64, meeting: Meeting) -> Slot {
        let (mut first, mut second) = (meeting.first, meeting.second);
        let has_fixed = self.colors.fixed || self.games == 2;
        if has_fixed || self.order == PairingOrder::Fastchess {
            (first, second) = (first.min(second), first.max(second));
        }
        let turn = match self.order {
            PairingOrder::Berger => index % self.legs,
            PairingOrder::Fastchess => index,
        };
        if !has_fixed && !turn.is_multiple_of(2) {
            (first, second) = (second, first);
        }
        if self.colors.reversed {
            (first, second) = (second, first);
        }
        let use_ = match self.policy {
            OpeningPolicy::Pairing => index,
            OpeningPolicy::Encounter | OpeningPolicy::Cycle => index / self.legs,
            OpeningPolicy::Round => meeting.lot,
        };
        Slot {
            index,
            round: u32::try_from(meeting.round + 1).unwrap_or(u32::MAX),
            first,
            second,
            games: self.games,
            fixed_colors: self.colors.fixed && self.games == 2,
            opening: use_ / self.repeat,
            cycle: (self.policy == OpeningPolicy::Cycle).then_some(self.rounds),
        }
    }
}

impl Meeting {
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
