//! Round robins, gauntlets and pyramids, which do not depend on results; knockouts: a seeded bracket, byes, and replays of ties.

use crate::plan::{EngineId, KnockoutTie};
use crate::rng;
use crate::schedule::{Encounter, Lookup, PairingError, Scores};

fn encounter(round: u64, first: u64, second: u64) -> Encounter {
    let id = |number: u64| EngineId(u32::try_from(number).unwrap_or(u32::MAX));
    Encounter { round, opening: round, first: id(first), second: id(second) }
}

/// A round robin by the circle method, in the order of the Berger tables (FIDE Handbook C.05, annex 1).
///
/// One player is fixed and the others rotate. With an odd number of players the fixed one does not exist, and
/// its opponent has a bye.
#[derive(Clone, Copy, Debug)]
pub(super) struct RoundRobin {
    /// At least 2.
    pub(super) engines: u64,
}

impl RoundRobin {
    /// The rounds of one cycle, in which each two engines play one encounter.
    pub(super) fn rounds(self) -> u64 {
        self.rotating()
    }

    /// The encounters of one cycle.
    pub(super) fn encounters(self) -> u64 {
        self.rounds() * self.boards()
    }

    /// An encounter by its number. Colors are reversed in every second cycle.
    pub(super) fn encounter(self, number: u64) -> Encounter {
        let (cycle, place) = (number / self.encounters(), number % self.encounters());
        let (round, board) = (place / self.boards(), place % self.boards());
        let rotating = self.rotating();
        // The tables pair the fixed player, which is the last one, with 1, then with the player half a circle on.
        let pivot = round * rotating.div_ceil(2) % rotating;
        let board = board + self.engines % 2;
        let (first, second) = if board > 0 {
            ((pivot + board) % rotating, (pivot + rotating - board) % rotating)
        } else if round % 2 == 0 {
            (pivot, rotating)
        } else {
            (rotating, pivot)
        };
        let (first, second) = if cycle % 2 == 0 { (first, second) } else { (second, first) };
        encounter(cycle * self.rounds() + round, first, second)
    }

    /// The number of rotating players.
    fn rotating(self) -> u64 {
        self.engines - 1 + self.engines % 2
    }

    fn boards(self) -> u64 {
        self.engines / 2
    }
}

/// A gauntlet: the first engines of the plan play all others. Each cycle is one round.
#[derive(Clone, Copy, Debug)]
pub(super) struct Gauntlet {
    pub(super) engines: u64,
    /// At least 1 and less than the engines.
    pub(super) seeds: u64,
}

impl Gauntlet {
    /// The encounters of one round.
    pub(super) fn encounters(self) -> u64 {
        (0..self.seeds).map(|seed| self.opponents(seed)).sum()
    }

    /// An encounter by its number: all those of the first seed, then those of the second with later engines, and
    /// so on.
    pub(super) fn encounter(self, number: u64) -> Encounter {
        let (round, mut place) = (number / self.encounters(), number % self.encounters());
        let mut seed = 0;
        while place >= self.opponents(seed) {
            place -= self.opponents(seed);
            seed += 1;
        }
        let other = seed + 1 + place;
        // Alternating with the distance in the plan and with the round, the colors of each engine differ by at
        // most one.
        let seed_first = (place + round).is_multiple_of(2);
        let (first, second) = if seed_first { (seed, other) } else { (other, seed) };
        encounter(round, first, second)
    }

    /// The number of engines after a seed.
    fn opponents(self, seed: u64) -> u64 {
        self.engines - 1 - seed
    }
}

/// A pyramid: in each round, the next engine of the plan plays all engines before it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pyramid {
    /// At least 2.
    pub(super) engines: u64,
}

impl Pyramid {
    /// The rounds of one cycle.
    pub(super) fn rounds(self) -> u64 {
        self.engines - 1
    }

    /// The encounters of one cycle.
    pub(super) fn encounters(self) -> u64 {
        self.engines * self.rounds() / 2
    }

    /// An encounter by its number.
    pub(super) fn encounter(self, number: u64) -> Encounter {
        let (cycle, mut place) = (number / self.encounters(), number % self.encounters());
        let mut newcomer = 1;
        while place >= newcomer {
            place -= newcomer;
            newcomer += 1;
        }
        // Alternating with the distance in the plan and with the cycle, the colors of each engine differ by at
        // most one.
        let newcomer_first = (newcomer - place + cycle) % 2 == 1;
        let (first, second) = if newcomer_first { (newcomer, place) } else { (place, newcomer) };
        encounter(cycle * self.rounds() + newcomer - 1, first, second)
    }
}

#[derive(Debug)]
pub(super) struct Knockout {
    engines: usize,
    /// The seeds, counted from 0, in the order of the first round. The opponent of a seed that does not exist has
    /// a bye.
    bracket: Vec<u32>,
    /// The maximum number of times that a match is played.
    attempts: u64,
    tie: KnockoutTie,
    seed: u64,
    pub(super) scores: Scores,
    /// By match, if known.
    winners: Vec<Option<EngineId>>,
}

/// The engines of a match.
enum Entrants {
    Two(EngineId, EngineId),
    Bye(EngineId),
    Unknown,
}

impl Knockout {
    pub(super) fn new(
        engines: usize,
        pairings: u32,
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
            scores: Scores::new(u64::from(pairings)),
        }
    }

    /// The number of encounters, including those that are skipped.
    pub(super) fn encounters(&self) -> u64 {
        self.winners.len() as u64 * self.attempts
    }

    /// The number of encounters if every match is tied.
    pub(super) fn max_played(&self) -> u64 {
        (self.engines as u64 - 1) * self.attempts
    }

    pub(super) fn lookup(&mut self, number: u64) -> Result<Lookup, PairingError> {
        let (game, attempt) = (number / self.attempts, number % self.attempts);
        let (first, second) = match self.entrants(game)? {
            Entrants::Two(first, second) => (first, second),
            Entrants::Bye(_) => return Ok(Lookup::Skipped),
            Entrants::Unknown => return Ok(Lookup::Pending),
        };
        for earlier in number - attempt..number {
            match self.scores.half_points(earlier, first, second) {
                None => return Ok(Lookup::Pending),
                Some((ours, theirs)) if ours != theirs => return Ok(Lookup::Skipped),
                Some(_) => {}
            }
        }
        Ok(Lookup::Known(self.encounter(number, first, second)))
    }

    /// Fails if outcomes of other engines than those of the bracket were recorded.
    pub(super) fn check(&mut self) -> Result<(), PairingError> {
        self.champion().map(|_| ())
    }

    /// The winner of the final, if it is over.
    pub(super) fn champion(&mut self) -> Result<Option<EngineId>, PairingError> {
        self.winner((self.winners.len() as u64).saturating_sub(1))
    }

    fn encounter(&self, number: u64, first: EngineId, second: EngineId) -> Encounter {
        let (game, attempt) = (number / self.attempts, number % self.attempts);
        let round = u64::from(self.locate(game).0);
        // The higher seed has the first move, and the lower seed in a replay.
        let (first, second) = (first.min(second), first.max(second));
        let (first, second) = if attempt % 2 == 0 { (first, second) } else { (second, first) };
        Encounter { round, opening: round * self.attempts + attempt, first, second }
    }

    fn entrants(&mut self, game: u64) -> Result<Entrants, PairingError> {
        let (round, position) = self.locate(game);
        if round == 0 {
            let at = |place: u64| {
                let seed = usize::try_from(place).ok().and_then(|place| self.bracket.get(place));
                seed.copied().filter(|&seed| (seed as usize) < self.engines).map(EngineId)
            };
            return Ok(match (at(position * 2), at(position * 2 + 1)) {
                (Some(first), Some(second)) => Entrants::Two(first, second),
                (Some(engine), None) | (None, Some(engine)) => Entrants::Bye(engine),
                (None, None) => Entrants::Unknown,
            });
        }
        // The matches of the previous round are contiguous and end where this round begins.
        let feeder = game - position - self.matches(round - 1) + position * 2;
        let (first, second) = (self.winner(feeder)?, self.winner(feeder + 1)?);
        Ok(match (first, second) {
            (Some(first), Some(second)) => Entrants::Two(first, second),
            (None, _) | (_, None) => Entrants::Unknown,
        })
    }

    /// The engine that won a match or had a bye.
    fn winner(&mut self, game: u64) -> Result<Option<EngineId>, PairingError> {
        let place = usize::try_from(game).unwrap_or(usize::MAX);
        if let Some(&Some(winner)) = self.winners.get(place) {
            return Ok(Some(winner));
        }
        let winner = match self.entrants(game)? {
            Entrants::Unknown => None,
            Entrants::Bye(engine) => Some(engine),
            Entrants::Two(first, second) => self.result(game, first, second)?,
        };
        if let Some(slot) = self.winners.get_mut(place) {
            *slot = winner;
        }
        Ok(winner)
    }

    fn result(
        &self,
        game: u64,
        first: EngineId,
        second: EngineId,
    ) -> Result<Option<EngineId>, PairingError> {
        let numbers = game * self.attempts..(game + 1) * self.attempts;
        for number in numbers {
            self.scores.check(number, self.encounter(number, first, second))?;
            match self.scores.half_points(number, first, second) {
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

    /// The round of a match, and its position in the round.
    fn locate(&self, game: u64) -> (u32, u64) {
        let (mut round, mut position) = (0, game);
        while position >= self.matches(round) && self.matches(round) > 0 {
            position -= self.matches(round);
            round += 1;
        }
        (round, position)
    }

    /// The number of matches of a round.
    fn matches(&self, round: u32) -> u64 {
        (self.bracket.len() as u64).checked_shr(round + 1).unwrap_or(0)
    }
}

/// The order of seeds in the first round. Each round is the next one, doubled: if higher seeds always win, the first
/// plays the last, the second plays the last but one, and so on.
fn bracket(engines: usize) -> Vec<u32> {
    let mut seeds = vec![0];
    while seeds.len() < engines {
        let last = u32::try_from(seeds.len() * 2).unwrap_or(u32::MAX) - 1;
        seeds = seeds.iter().flat_map(|&seed| [seed, last - seed]).collect();
    }
    seeds
}
