//! Swiss tournaments, in the manner of the Dutch system (FIDE Handbook C.04.3).
//!
//! From the top down each engine gets the opponent that fits best: not met yet, of the same score,
//! who wants the other color, and half the score group away. An opponent is only taken if the
//! rest can then be paired without more bad pairs than there must be.

use petgraph::algo::maximum_matching;
use petgraph::graph::UnGraph;

use super::ScheduleError;
use super::draw::{Known, Meeting};
use super::tallies::Tallies;
use crate::plan::EngineId;

#[derive(Debug)]
pub(super) struct Swiss {
    /// Whether it matters for the balance of colors who begins.
    balance_colors: bool,
    /// What a bye brings, in half points: a win in each game of a meeting.
    bye: u64,
    players: Vec<Player>,
    /// How often two have met, row by row.
    met: Vec<u32>,
    rounds: Vec<Round>,
    pub(super) tallies: Tallies,
}

#[derive(Debug)]
struct Round {
    meetings: Vec<(EngineId, EngineId)>,
    bye: Option<EngineId>,
}

#[derive(Clone, Debug, Default)]
struct Player {
    half_points: u64,
    /// How often more it had the first move than the second.
    balance: i64,
    /// Whether it had the first move the last time.
    last: Option<bool>,
    byes: u32,
    /// How many it has met.
    opponents: usize,
}

impl Swiss {
    pub(super) fn new(engines: usize, legs: u64, games: u32, balance_colors: bool) -> Self {
        Self {
            balance_colors,
            bye: legs * u64::from(games) * 2,
            players: vec![Player::default(); engines],
            met: vec![0; engines * engines],
            rounds: Vec::new(),
            tallies: Tallies::new(legs),
        }
    }

    pub(super) fn known(&mut self, number: u64) -> Result<Known, ScheduleError> {
        let boards = self.players.len() as u64 / 2;
        let round = usize::try_from(number / boards).unwrap_or(usize::MAX);
        let board = usize::try_from(number % boards).unwrap_or(usize::MAX);
        while self.rounds.len() <= round {
            let start = (self.rounds.len() as u64).saturating_sub(1) * boards;
            let complete = |number: u64| self.tallies.is_complete(number);
            if !self.rounds.is_empty() && !(start..start + boards).all(complete) {
                return Ok(Known::NotYet);
            }
            self.count(start);
            self.draw();
        }
        let numbers = round as u64 * boards..;
        let drawn = self.rounds.get(round).map(|round| round.meetings.as_slice());
        let meetings = numbers.zip(drawn.unwrap_or_default()).map(|(number, &(first, second))| {
            let round = number / boards;
            (number, Meeting { round, lot: round, first, second })
        });
        // Outcomes can have been recorded before it was known who meets.
        for (number, meeting) in meetings.clone() {
            self.tallies.check(number, meeting)?;
        }
        Ok(meetings.map(|(_, meeting)| meeting).nth(board).map_or(Known::Never, Known::Meeting))
    }

    pub(super) fn byes(&self) -> impl Iterator<Item = (u32, EngineId)> {
        (1..).zip(&self.rounds).filter_map(|(number, round)| Some((number, round.bye?)))
    }

    /// Adds what the last round brought, whose meetings are numbered from `start` on.
    fn count(&mut self, start: u64) {
        let Some(round) = self.rounds.last() else { return };
        for (number, &(first, second)) in (start..).zip(&round.meetings) {
            let points = self.tallies.half_points(number, first, second).unwrap_or_default();
            for (engine, points) in [(first, points.0), (second, points.1)] {
                if let Some(player) = self.players.get_mut(engine.0 as usize) {
                    player.half_points += points;
                }
            }
        }
        if let Some(player) = round.bye.and_then(|bye| self.players.get_mut(bye.0 as usize)) {
            player.half_points += self.bye;
        }
    }

    fn draw(&mut self) {
        // The order of the plan is the seeding, and decides between equal scores.
        let mut order: Vec<usize> = (0..self.players.len()).collect();
        order.sort_by_key(|&engine| (std::cmp::Reverse(self.player(engine).half_points), engine));
        let bye = (order.len() % 2 == 1).then(|| self.take_bye(&mut order)).flatten();
        // Nobody shall have three colors too many, if that costs no rematch.
        let colors = self.balance_colors && self.bad_pairs(&order, true) == 0;
        let mut bad_pairs = self.bad_pairs(&order, colors);
        let mut meetings = Vec::new();
        while order.len() >= 2 {
            let one = order.remove(0);
            let place = self.opponent(one, &order, colors, bad_pairs);
            let other = order.remove(place);
            bad_pairs = bad_pairs.saturating_sub(usize::from(self.is_bad(one, other, colors)));
            meetings.push(self.meet(one, other, meetings.len()));
        }
        let engine = |engine: usize| EngineId(u32::try_from(engine).unwrap_or(u32::MAX));
        let meetings = meetings.into_iter().map(|(one, other)| (engine(one), engine(other)));
        self.rounds.push(Round { meetings: meetings.collect(), bye: bye.map(engine) });
    }

    /// Takes out who has the bye: of those with the fewest, the last one whose absence makes no
    /// rematch necessary.
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

    /// The place in `others`, who are in order, of the best opponent for the engine before them.
    fn opponent(&self, one: usize, others: &[usize], colors: bool, bad_pairs: usize) -> usize {
        let us = self.player(one);
        let same = |&&other: &&usize| self.player(other).half_points == us.half_points;
        let group = others.iter().take_while(same).count() + 1;
        // The first of the upper half meets the first of the lower half.
        let ideal = (group / 2).saturating_sub(1);
        let mut places: Vec<usize> = (0..others.len()).collect();
        places.sort_by_cached_key(|&place| {
            let other = others.get(place).copied().unwrap_or(one);
            let them = self.player(other);
            let clash = if self.balance_colors { clash(us, them) } else { 0 };
            let distance = us.half_points - them.half_points.min(us.half_points);
            // The lower half first, as an exchange of the halves is the last resort.
            let away = match (distance, place.checked_sub(ideal)) {
                (0, Some(below)) => (false, below),
                (0, None) => (true, ideal - place),
                _ => (false, place),
            };
            // A third color too many is worse than another score, and a second is not.
            (self.met(one, other), clash > 1, distance, clash, away)
        });
        let fits = |&place: &usize| {
            let Some(&other) = others.get(place) else { return false };
            let mut rest = others.to_vec();
            rest.remove(place);
            let here = usize::from(self.is_bad(one, other, colors));
            here + self.bad_pairs(&rest, colors) <= bad_pairs
        };
        // Some opponent fits, as `bad_pairs` is what a pairing of all of them needs.
        places.into_iter().find(fits).unwrap_or(0)
    }

    /// Whether two should not meet: they have met, or, if that counts, their colors clash.
    fn is_bad(&self, one: usize, other: usize, colors: bool) -> bool {
        self.met(one, other) > 0 || colors && clash(self.player(one), self.player(other)) > 1
    }

    /// How many bad pairs there must be if these, an even number, are paired.
    fn bad_pairs(&self, engines: &[usize], colors: bool) -> usize {
        let good = |one: usize, other: usize| one != other && !self.is_bad(one, other, colors);
        let enough = |&one: &usize| {
            let met = self.player(one).opponents;
            let at_least = engines.len().saturating_sub(1 + met);
            !colors && at_least * 2 >= engines.len()
                || engines.iter().filter(|&&other| good(one, other)).count() * 2 >= engines.len()
        };
        // Who can each meet half of the others can all be paired (Dirac 1952), which saves the
        // search in all but long tournaments.
        if engines.iter().all(enough) {
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

    /// Lets two meet, and says who begins.
    fn meet(&mut self, one: usize, other: usize, board: usize) -> (usize, usize) {
        let (us, them) = (self.player(one), self.player(other));
        let begins = match us.balance.cmp(&them.balance) {
            std::cmp::Ordering::Less => true,
            std::cmp::Ordering::Greater => false,
            std::cmp::Ordering::Equal => match (us.last, them.last) {
                (Some(last), _) => !last,
                (None, Some(last)) => last,
                (None, None) => board.is_multiple_of(2),
            },
        };
        let (first, second) = if begins { (one, other) } else { (other, one) };
        let new = usize::from(self.met(one, other) == 0);
        for (engine, begins) in [(first, true), (second, false)] {
            if let Some(player) = self.players.get_mut(engine) {
                player.balance += if begins { 1 } else { -1 };
                player.last = Some(begins);
                player.opponents += new;
            }
        }
        let count = self.players.len();
        for place in [one * count + other, other * count + one] {
            if let Some(met) = self.met.get_mut(place) {
                *met += 1;
            }
        }
        (first, second)
    }

    fn player(&self, engine: usize) -> &Player {
        const NOBODY: &Player =
            &Player { half_points: 0, balance: 0, last: None, byes: 0, opponents: 0 };
        self.players.get(engine).unwrap_or(NOBODY)
    }

    fn met(&self, one: usize, other: usize) -> u32 {
        self.met.get(one * self.players.len() + other).copied().unwrap_or(0)
    }
}

/// How far the colors of one of two get out of balance if they meet: 0 if they want different
/// ones.
fn clash(one: &Player, other: &Player) -> u64 {
    if one.balance.signum() != other.balance.signum() {
        return 0;
    }
    one.balance.unsigned_abs().min(other.balance.unsigned_abs())
}
