//! Swiss tournaments, similar to the Dutch system (FIDE Handbook C.04.3).
//!
//! From the top down, each engine gets the best opponent: no rematch, the same score, the opposite color preference,
//! half a score group away. An opponent is accepted only if the remaining engines can be paired with the minimum
//! number of bad pairs.

use petgraph::algo::maximum_matching;
use petgraph::graph::UnGraph;

use super::PairingError;
use crate::plan::EngineId;
use crate::schedule::{Encounter, Lookup, Scores};

#[derive(Debug)]
pub(super) struct Swiss {
    /// Whether the first move affects the balance of colors.
    balance_colors: bool,
    /// The half points of a bye: a win in each game of an encounter.
    bye: u64,
    players: Vec<Player>,
    /// Encounters of each two engines, row by row.
    played: Vec<u32>,
    rounds: Vec<Round>,
    pub(super) scores: Scores,
}

#[derive(Debug)]
struct Round {
    encounters: Vec<(EngineId, EngineId)>,
    bye: Option<EngineId>,
}

#[derive(Clone, Debug, Default)]
struct Player {
    half_points: u64,
    /// Encounters with the first move minus those with the second.
    balance: i64,
    /// Whether it had the first move in its last encounter.
    last: Option<bool>,
    byes: u32,
    /// The number of different opponents.
    opponents: usize,
}

impl Swiss {
    pub(super) fn new(engines: usize, pairings: u64, games: u32, balance_colors: bool) -> Self {
        Self {
            balance_colors,
            bye: pairings * u64::from(games) * 2,
            players: vec![Player::default(); engines],
            played: vec![0; engines * engines],
            rounds: Vec::new(),
            scores: Scores::new(pairings),
        }
    }

    pub(super) fn lookup(&mut self, number: u64) -> Result<Lookup, PairingError> {
        let boards = self.players.len() as u64 / 2;
        let round = usize::try_from(number / boards).unwrap_or(usize::MAX);
        let board = usize::try_from(number % boards).unwrap_or(usize::MAX);
        while self.rounds.len() <= round {
            let start = (self.rounds.len() as u64).saturating_sub(1) * boards;
            let complete = |number: u64| self.scores.is_complete(number);
            if !self.rounds.is_empty() && !(start..start + boards).all(complete) {
                return Ok(Lookup::Pending);
            }
            self.count(start);
            self.pair_round();
        }
        let numbers = round as u64 * boards..;
        let paired = self.rounds.get(round).map(|round| round.encounters.as_slice());
        let encounters =
            numbers.zip(paired.unwrap_or_default()).map(|(number, &(first, second))| {
                let round = number / boards;
                (number, Encounter { round, opening: round, first, second })
            });
        // Outcomes may have been recorded before the round was paired.
        for (number, encounter) in encounters.clone() {
            self.scores.check(number, encounter)?;
        }
        Ok(encounters
            .map(|(_, encounter)| encounter)
            .nth(board)
            .map_or(Lookup::Skipped, Lookup::Known))
    }

    pub(super) fn byes(&self) -> impl Iterator<Item = (u32, EngineId)> {
        (1..).zip(&self.rounds).filter_map(|(number, round)| Some((number, round.bye?)))
    }

    /// Adds the points of the last round, whose encounters are numbered from `start`.
    fn count(&mut self, start: u64) {
        let Some(round) = self.rounds.last() else { return };
        for (number, &(first, second)) in (start..).zip(&round.encounters) {
            let points = self.scores.half_points(number, first, second).unwrap_or_default();
            for (engine, points) in [(first, points.0), (second, points.1)] {
                if let Some(player) = self.players.get_mut(engine.index()) {
                    player.half_points += points;
                }
            }
        }
        if let Some(player) = round.bye.and_then(|bye| self.players.get_mut(bye.index())) {
            player.half_points += self.bye;
        }
    }

    fn pair_round(&mut self) {
        // The order of the plan is the seeding, which breaks ties.
        let mut order: Vec<usize> = (0..self.players.len()).collect();
        order.sort_by_key(|&engine| (std::cmp::Reverse(self.player(engine).half_points), engine));
        let bye = (order.len() % 2 == 1).then(|| self.take_bye(&mut order)).flatten();
        // Avoids a color balance of three, unless that requires a rematch.
        let colors = self.balance_colors && self.bad_pairs(&order, true) == 0;
        let mut bad_pairs = self.bad_pairs(&order, colors);
        let mut encounters = Vec::new();
        while order.len() >= 2 {
            let one = order.remove(0);
            let place = self.opponent(one, &order, colors, bad_pairs);
            let other = order.remove(place);
            bad_pairs = bad_pairs.saturating_sub(usize::from(self.is_bad(one, other, colors)));
            encounters.push(self.pair(one, other, encounters.len()));
        }
        let engine = |engine: usize| EngineId(u32::try_from(engine).unwrap_or(u32::MAX));
        let encounters = encounters.into_iter().map(|(one, other)| (engine(one), engine(other)));
        self.rounds.push(Round { encounters: encounters.collect(), bye: bye.map(engine) });
    }

    /// Removes the engine that gets the bye: of those with the fewest byes, the last one whose absence requires no
    /// rematch.
    fn take_bye(&mut self, order: &mut Vec<usize>) -> Option<usize> {
        let fewest = order.iter().map(|&engine| self.player(engine).byes).min()?;
        let places = (0..order.len()).rev().filter(|&place| {
            order.get(place).is_some_and(|&engine| self.player(engine).byes == fewest)
        });
        let mut best: Option<(usize, usize)> = None;
        for place in places {
            let mut rest = order.clone();
            rest.remove(place);
            let bad_pairs = self.bad_pairs(&rest, false);
            if best.is_none_or(|(fewest, _)| bad_pairs < fewest) {
                best = Some((bad_pairs, place));
            }
            if bad_pairs == 0 {
                break;
            }
        }
        let (_, place) = best?;
        let engine = order.remove(place);
        if let Some(player) = self.players.get_mut(engine) {
            player.byes += 1;
        }
        Some(engine)
    }

    /// The index in `others`, sorted by score, of the best opponent for the engine before them.
    fn opponent(&self, one: usize, others: &[usize], colors: bool, bad_pairs: usize) -> usize {
        let us = self.player(one);
        let same = |&&other: &&usize| self.player(other).half_points == us.half_points;
        let group = others.iter().take_while(same).count() + 1;
        // The first of the upper half plays the first of the lower half.
        let ideal = (group / 2).saturating_sub(1);
        let mut places: Vec<usize> = (0..others.len()).collect();
        places.sort_by_cached_key(|&place| {
            let other = others.get(place).copied().unwrap_or(one);
            let them = self.player(other);
            let clash = if self.balance_colors { clash(us, them) } else { 0 };
            let distance = us.half_points - them.half_points.min(us.half_points);
            // The lower half first: opponents of the upper half are the last resort.
            let away = match (distance, place.checked_sub(ideal)) {
                (0, Some(below)) => (false, below),
                (0, None) => (true, ideal - place),
                _ => (false, place),
            };
            // A balance of three is worse than a different score; a balance of two is not.
            (self.encounters(one, other), clash > 1, distance, clash, away)
        });
        let is_acceptable = |&place: &usize| {
            let Some(&other) = others.get(place) else { return false };
            let mut rest = others.to_vec();
            rest.remove(place);
            let bad = usize::from(self.is_bad(one, other, colors));
            bad + self.bad_pairs(&rest, colors) <= bad_pairs
        };
        // Some opponent is_acceptable: `bad_pairs` is the minimum of a pairing of all engines.
        places.into_iter().find(is_acceptable).unwrap_or(0)
    }

    /// Whether two engines should not be paired: a rematch, or, if `colors`, a clash of colors.
    fn is_bad(&self, one: usize, other: usize, colors: bool) -> bool {
        self.encounters(one, other) > 0 || colors && clash(self.player(one), self.player(other)) > 1
    }

    /// The minimum number of bad pairs when these engines, an even number, are paired.
    fn bad_pairs(&self, engines: &[usize], colors: bool) -> usize {
        let good = |one: usize, other: usize| one != other && !self.is_bad(one, other, colors);
        let is_flexible = |&one: &usize| {
            let played = self.player(one).opponents;
            let at_least = engines.len().saturating_sub(1 + played);
            !colors && at_least * 2 >= engines.len()
                || engines.iter().filter(|&&other| good(one, other)).count() * 2 >= engines.len()
        };
        // If each has a good pair with at least half of them, a perfect matching exists (Dirac 1952). That saves
        // the search in all but long tournaments.
        if engines.iter().all(is_flexible) {
            return 0;
        }
        let mut graph = UnGraph::<(), ()>::default();
        let nodes: Vec<_> = engines.iter().map(|_| graph.add_node(())).collect();
        for (place, (&one, &node)) in engines.iter().zip(&nodes).enumerate() {
            for (&other, &other_node) in engines.iter().zip(&nodes).skip(place + 1) {
                if good(one, other) {
                    graph.add_edge(node, other_node, ());
                }
            }
        }
        engines.len() / 2 - maximum_matching(&graph).len()
    }

    /// Pairs two engines. The first of the result has the first move.
    fn pair(&mut self, one: usize, other: usize, board: usize) -> (usize, usize) {
        let (us, them) = (self.player(one), self.player(other));
        let has_first_move = match us.balance.cmp(&them.balance) {
            std::cmp::Ordering::Less => true,
            std::cmp::Ordering::Greater => false,
            std::cmp::Ordering::Equal => match (us.last, them.last) {
                (Some(last), _) => !last,
                (None, Some(last)) => last,
                (None, None) => board.is_multiple_of(2),
            },
        };
        let (first, second) = if has_first_move { (one, other) } else { (other, one) };
        let new = usize::from(self.encounters(one, other) == 0);
        for (engine, has_first_move) in [(first, true), (second, false)] {
            if let Some(player) = self.players.get_mut(engine) {
                player.balance += if has_first_move { 1 } else { -1 };
                player.last = Some(has_first_move);
                player.opponents += new;
            }
        }
        let count = self.players.len();
        for place in [one * count + other, other * count + one] {
            if let Some(played) = self.played.get_mut(place) {
                *played += 1;
            }
        }
        (first, second)
    }

    fn player(&self, engine: usize) -> &Player {
        const NONE: &Player =
            &Player { half_points: 0, balance: 0, last: None, byes: 0, opponents: 0 };
        self.players.get(engine).unwrap_or(NONE)
    }

    fn encounters(&self, one: usize, other: usize) -> u32 {
        self.played.get(one * self.players.len() + other).copied().unwrap_or(0)
    }
}

/// The imbalance of colors that an encounter would worsen for one of two engines; 0 if they prefer different colors.
fn clash(one: &Player, other: &Player) -> u64 {
    if one.balance.signum() != other.balance.signum() {
        return 0;
    }
    one.balance.unsigned_abs().min(other.balance.unsigned_abs())
}
