//! Knockouts: a seeded bracket, byes, and ties that are played again.
//!
//! Matches are numbered round by round. Each has a meeting for its first attempt and one for each
//! time that it can be played again, whether they are needed or not.

use super::ScheduleError;
use super::draw::{Known, Meeting};
use super::tallies::Tallies;
use crate::plan::{EngineId, KnockoutTie};
use crate::rng;

#[derive(Debug)]
pub(super) struct Knockout {
    engines: usize,
    /// The seeds from 0 on, as they stand beside each other in the first round; those who do not
    /// exist give a bye.
    bracket: Vec<u32>,
    /// How often a match can be played.
    attempts: u64,
    tie: KnockoutTie,
    seed: u64,
    pub(super) tallies: Tallies,
    /// By match, as far as they are known.
    winners: Vec<Option<EngineId>>,
}

/// Who plays a match.
enum Entrants {
    Two(EngineId, EngineId),
    Bye(EngineId),
    NotYet,
}

impl Knockout {
    pub(super) fn new(
        engines: usize,
        legs: u32,
        replays: u32,
        tie: KnockoutTie,
        seed: u64,
    ) -> Self {
        let bracket = bracket(engines);
        Self {
            engines,
            winners: vec![None; bracket.len().saturating_sub(1)],
            bracket,
            attempts: u64::from(replays) + 1,
            tie,
            seed,
            tallies: Tallies::new(u64::from(legs)),
        }
    }

    /// How many numbers of meetings there are.
    pub(super) fn meetings(&self) -> u64 {
        self.winners.len() as u64 * self.attempts
    }

    /// How many meetings can be played, if every match is tied.
    pub(super) fn most_played(&self) -> u64 {
        (self.engines as u64 - 1) * self.attempts
    }

    pub(super) fn known(&mut self, number: u64) -> Result<Known, ScheduleError> {
        let (game, attempt) = (number / self.attempts, number % self.attempts);
        let (first, second) = match self.entrants(game)? {
            Entrants::Two(first, second) => (first, second),
            Entrants::Bye(_) => return Ok(Known::Never),
            Entrants::NotYet => return Ok(Known::NotYet),
        };
        for earlier in number - attempt..number {
            match self.tallies.half_points(earlier, first, second) {
                None => return Ok(Known::NotYet),
                Some((ours, theirs)) if ours != theirs => return Ok(Known::Never),
                Some(_) => {}
            }
        }
        Ok(Known::Meeting(self.meeting(number, first, second)))
    }

    /// Fails if other engines were recorded than those that met, up to the final.
    pub(super) fn check(&mut self) -> Result<(), ScheduleError> {
        self.champion().map(|_| ())
    }

    /// Who has won the final, if it is over.
    pub(super) fn champion(&mut self) -> Result<Option<EngineId>, ScheduleError> {
        self.winner((self.winners.len() as u64).saturating_sub(1))
    }

    fn meeting(&self, number: u64, first: EngineId, second: EngineId) -> Meeting {
        let (game, attempt) = (number / self.attempts, number % self.attempts);
        let round = u64::from(self.place(game).0);
        // The higher seed begins, and the other one when it is played again.
        let (first, second) = (first.min(second), first.max(second));
        let (first, second) = if attempt % 2 == 0 { (first, second) } else { (second, first) };
        Meeting { round, lot: round * self.attempts + attempt, first, second }
    }

    fn entrants(&mut self, game: u64) -> Result<Entrants, ScheduleError> {
        let (round, position) = self.place(game);
        if round == 0 {
            let at = |place: u64| {
                let seed = usize::try_from(place).ok().and_then(|place| self.bracket.get(place));
                seed.copied().filter(|&seed| (seed as usize) < self.engines).map(EngineId)
            };
            return Ok(match (at(position * 2), at(position * 2 + 1)) {
                (Some(first), Some(second)) => Entrants::Two(first, second),
                (Some(engine), None) | (None, Some(engine)) => Entrants::Bye(engine),
                (None, None) => Entrants::NotYet,
            });
        }
        // The matches of the round before follow each other and end where this round begins.
        let feeder = game - position - self.matches(round - 1) + position * 2;
        let (first, second) = (self.winner(feeder)?, self.winner(feeder + 1)?);
        Ok(match (first, second) {
            (Some(first), Some(second)) => Entrants::Two(first, second),
            (None, _) | (_, None) => Entrants::NotYet,
        })
    }

    /// Who won a match, or had a bye.
    fn winner(&mut self, game: u64) -> Result<Option<EngineId>, ScheduleError> {
        let place = usize::try_from(game).unwrap_or(usize::MAX);
        if let Some(&Some(winner)) = self.winners.get(place) {
            return Ok(Some(winner));
        }
        let winner = match self.entrants(game)? {
            Entrants::NotYet => None,
            Entrants::Bye(engine) => Some(engine),
            Entrants::Two(first, second) => self.result(game, first, second)?,
        };
        if let Some(known) = self.winners.get_mut(place) {
            *known = winner;
        }
        Ok(winner)
    }

    fn result(
        &self,
        game: u64,
        first: EngineId,
        second: EngineId,
    ) -> Result<Option<EngineId>, ScheduleError> {
        let numbers = game * self.attempts..(game + 1) * self.attempts;
        for number in numbers {
            self.tallies.check(number, self.meeting(number, first, second))?;
            match self.tallies.half_points(number, first, second) {
                None => return Ok(None),
                Some((ours, theirs)) if ours > theirs => return Ok(Some(first)),
                Some((ours, theirs)) if ours < theirs => return Ok(Some(second)),
                Some(_) => {}
            }
        }
        Ok(Some(match self.tie {
            KnockoutTie::HigherSeed => first.min(second),
            KnockoutTie::Random if rng::number(self.seed, game).is_multiple_of(2) => first,
            KnockoutTie::Random => second,
        }))
    }

    /// The round of a match, and its place in the round.
    fn place(&self, game: u64) -> (u32, u64) {
        let (mut round, mut position) = (0, game);
        while position >= self.matches(round) && self.matches(round) > 0 {
            position -= self.matches(round);
            round += 1;
        }
        (round, position)
    }

    /// How many matches a round has.
    fn matches(&self, round: u32) -> u64 {
        (self.bracket.len() as u64).checked_shr(round + 1).unwrap_or(0)
    }
}

/// The order of seeds in the first round: each round doubled from the one after it, so that if the
/// higher seed always wins, the first meets the last, the second the last but one and so on.
fn bracket(engines: usize) -> Vec<u32> {
    let mut seeds = vec![0];
    while seeds.len() < engines {
        let last = u32::try_from(seeds.len() * 2).unwrap_or(u32::MAX) - 1;
        seeds = seeds.iter().flat_map(|&seed| [seed, last - seed]).collect();
    }
    seeds
}
