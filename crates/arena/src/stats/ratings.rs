//! Joint ratings of many players.
//!
//! The model is that of Bradley and Terry (*Rank analysis of incomplete block designs*, Biometrika
//! 39, 1952) on the scale of Elo: the expected score of a game is `1 / (1 + 10^(-d / 400))`, where
//! `d` is the rating difference plus the first-move advantage. A draw counts as half a win for each.
//! Ratings are maximum-likelihood estimates: the expected points of each player equal the actual
//! ones, and two players that only played each other differ by the Elo of their score.
//!
//! Errors are sandwich estimates, which remain valid if the variance of results differs from that of
//! the model, as with draws and game pairs (P. Huber, *The behavior of maximum likelihood estimates under nonstandard conditions*, 1967;
//! R. Wedderburn, *Quasi-likelihood functions*, Biometrika 61, 1974). The variance of one
//! additional game is added for each kind of game between two players, so that a few equal results
//! are not certain.

use std::collections::BTreeMap;
use std::f64::consts::LN_10;

use super::counts::{Outcome, Trinomial};
use super::crosstable::{Crosstable, Encounter};
use super::estimate::{Estimate, Figure, normal_cdf};
use super::matrix::{Cholesky, Matrix};

/// Standard deviation in Elo of the prior for a group in which some players won or lost all games
/// against the rest. Without a prior, the likelihood has no maximum.
pub const WEAK_PRIOR: f64 = 600.0;

/// Standard deviation in Elo of the prior of the first-move advantage, with mean 0. It separates the
/// advantage from strength if a player always moved first.
pub const FIRST_MOVE_PRIOR: f64 = 100.0;

/// One Elo in natural logarithms of odds.
const UNIT: f64 = LN_10 / 400.0;

/// The first-move advantage.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FirstMove {
    /// Estimated, with the prior [`FIRST_MOVE_PRIOR`].
    Estimated,
    /// A known value in Elo.
    Known(f64),
}

/// A failure to compute ratings.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum RatingsError {
    /// An anchored player does not exist.
    #[error("no player {0} to anchor")]
    NoSuchPlayer(usize),
    /// An anchor or the first-move advantage is not between -100000 and 100000 Elo.
    #[error("`{0}` is not an Elo between -100000 and 100000")]
    Value(f64),
    /// The maximum-likelihood search did not converge.
    #[error("the computation of ratings did not converge")]
    NotConverged,
}

/// The ratings of the players of a tournament.
#[derive(Clone, Debug)]
pub struct Ratings {
    players: Vec<Player>,
    first_move: Estimate,
    // Covariance of the ratings, with the first-move advantage in the last row.
    covariance: Matrix,
}

#[derive(Clone, Copy, Debug)]
struct Player {
    elo: f64,
    group: usize,
    anchored_group: bool,
    alone: bool,
    weak: bool,
}

impl Ratings {
    /// Computes ratings. Players in `anchors` have the given Elo. A connected group of players without an
    /// anchor has the mean 0.
    pub fn of(
        table: &Crosstable,
        anchors: &BTreeMap<usize, f64>,
        first_move: FirstMove,
    ) -> Result<Self, RatingsError> {
        const MAX: f64 = 1e5;
        let known = match first_move {
            FirstMove::Known(elo) => Some(elo),
            FirstMove::Estimated => None,
        };
        for elo in anchors.values().copied().chain(known) {
            if elo.is_nan() || elo.abs() > MAX {
                return Err(RatingsError::Value(elo));
            }
        }
        if let Some(player) = anchors.keys().find(|player| **player >= table.players()) {
            return Err(RatingsError::NoSuchPlayer(*player));
        }
        Fit::new(table, anchors, known).solve().ok_or(RatingsError::NotConverged)
    }

    /// Computes ratings without anchors.
    pub fn unanchored(table: &Crosstable) -> Result<Self, RatingsError> {
        Self::of(table, &BTreeMap::new(), FirstMove::Estimated)
    }

    /// Number of players.
    pub fn players(&self) -> usize {
        self.players.len()
    }

    /// The rating of a player with its error, which is 0 for an anchor. Unknown without games.
    pub fn rating(&self, player: usize) -> Estimate {
        match self.players.get(player) {
            Some(rated) if !rated.alone || rated.anchored_group => {
                Self::estimate(rated.elo, self.variance_of(player, player))
            }
            _ => Estimate::UNKNOWN,
        }
    }

    /// Whether the rating of a player depends on [`WEAK_PRIOR`]: some players of its group won or lost
    /// all games against the rest.
    pub fn rests_on_prior(&self, player: usize) -> bool {
        self.players.get(player).is_some_and(|player| player.weak)
    }

    /// The first-move advantage in Elo; unknown without games.
    pub fn first_move(&self) -> Estimate {
        self.first_move
    }

    /// The rating difference of two players; unknown if neither games nor anchors connect them.
    pub fn difference(&self, one: usize, other: usize) -> Estimate {
        let (Some(a), Some(b)) = (self.players.get(one), self.players.get(other)) else {
            return Estimate::UNKNOWN;
        };
        if a.group != b.group && !(a.anchored_group && b.anchored_group) {
            return Estimate::UNKNOWN;
        }
        Self::estimate(a.elo - b.elo, self.variance_of_difference(one, other))
    }

    /// The covariance of two ratings in Elo². Unknown if their difference is, or without games.
    pub fn covariance(&self, one: usize, other: usize) -> Figure {
        let known = [self.rating(one), self.rating(other), self.difference(one, other)];
        if known.iter().any(|estimate| estimate.value == Figure::Unknown) {
            return Figure::Unknown;
        }
        Figure::of(self.variance_of(one, other) / UNIT.powi(2))
    }

    /// The likelihood of superiority (LOS) of the first player, between 0 and 1. Unknown if the players
    /// are not connected, and for two anchors with equal ratings.
    pub fn los(&self, one: usize, other: usize) -> Figure {
        match self.difference(one, other).value {
            Figure::Number(difference) => {
                let deviation = self.variance_of_difference(one, other).max(0.0).sqrt() / UNIT;
                match Figure::of(difference / deviation) {
                    Figure::Number(x) => Figure::of(normal_cdf(x)),
                    Figure::PlusInfinity => Figure::Number(1.0),
                    Figure::MinusInfinity => Figure::Number(0.0),
                    Figure::Unknown => Figure::Unknown,
                }
            }
            _ => Figure::Unknown,
        }
    }

    fn variance_of(&self, one: usize, other: usize) -> f64 {
        self.covariance.get(one, other).unwrap_or_default()
    }

    fn variance_of_difference(&self, one: usize, other: usize) -> f64 {
        self.variance_of(one, one) + self.variance_of(other, other)
            - 2.0 * self.variance_of(one, other)
    }

    fn estimate(elo: f64, variance: f64) -> Estimate {
        Estimate::normal(elo, variance / UNIT.powi(2))
    }
}

/// The maximum-likelihood search. Values are natural logarithms of odds: the ratings, and last the
/// first-move advantage.
struct Fit {
    encounters: Vec<Link>,
    players: Vec<Player>,
    anchors: Vec<Option<f64>>,
    known_first_move: Option<f64>,
    /// The mean of the anchors of each group, which is the center of its prior.
    centers: Vec<Option<f64>>,
    values: Vec<f64>,
    any_games: bool,
}

/// Two players and the sums of their games, by the first player.
struct Link {
    players: (usize, usize),
    encounter: Encounter,
    orders: [Order; 2],
}

/// Games with the same first player, from the point of view of the lower index.
#[derive(Clone, Copy)]
struct Order {
    games: f64,
    points: f64,
    /// 1 if the player with the lower index moved first, otherwise -1.
    sign: f64,
}

impl Fit {
    fn new(table: &Crosstable, anchored: &BTreeMap<usize, f64>, first_move: Option<f64>) -> Self {
        let count = table.players();
        let anchors: Vec<Option<f64>> =
            (0..count).map(|player| anchored.get(&player).map(|elo| elo * UNIT)).collect();
        let encounters: Vec<Link> =
            table.encounters().map(|(players, encounter)| Link::new(players, *encounter)).collect();
        let graph = Graph::new(count, &encounters, &anchors);
        let players = graph.players();
        let mut values = vec![0.0; count + 1];
        for (value, anchor) in values.iter_mut().zip(&anchors) {
            *value = anchor.unwrap_or_default();
        }
        if let (Some(value), Some(elo)) = (values.iter_mut().next_back(), first_move) {
            *value = elo * UNIT;
        }
        let any_games = !encounters.is_empty();
        let mut fit = Self {
            encounters,
            players,
            anchors,
            known_first_move: first_move,
            centers: Vec::new(),
            values,
            any_games,
        };
        fit.centers = fit.centers();
        // Starting at the anchors speeds up the search.
        for (player, (value, anchor)) in
            fit.players.iter().zip(fit.values.iter_mut().zip(&fit.anchors))
        {
            if anchor.is_none() {
                *value = fit.centers.get(player.group).copied().flatten().unwrap_or_default();
            }
        }
        fit
    }

    /// The mean of the anchors of each group.
    fn centers(&self) -> Vec<Option<f64>> {
        let mut sums: BTreeMap<usize, (f64, f64)> = BTreeMap::new();
        for (player, anchor) in self.players.iter().zip(&self.anchors) {
            if let Some(anchor) = anchor {
                let (sum, number) = sums.entry(player.group).or_default();
                *sum += anchor;
                *number += 1.0;
            }
        }
        let groups = self.players.iter().map(|player| player.group + 1).max().unwrap_or(0);
        (0..groups).map(|group| sums.get(&group).map(|(sum, number)| sum / number)).collect()
    }

    fn solve(mut self) -> Option<Ratings> {
        const STEPS: u32 = 200;
        const TOLERANCE: f64 = 1e-9;
        // Below this step Newton converges quadratically, and changes of the likelihood are smaller than
        // rounding errors.
        const CLOSE: f64 = 1e-3;
        const MAX_STEP: f64 = 3.0;
        const HALVINGS: u32 = 40;
        let mut likelihood = self.likelihood(&self.values);
        let mut converged = false;
        for _ in 0..STEPS {
            let solver = self.curvature()?;
            let mut step = solver.solve(&self.slope());
            let longest = step.iter().map(|change| change.abs()).fold(0.0, f64::max);
            if longest <= CLOSE {
                self.values = sum(&self.values, &step);
                if longest <= TOLERANCE {
                    converged = true;
                    break;
                }
                likelihood = self.likelihood(&self.values);
                continue;
            }
            if longest > MAX_STEP {
                scale(&mut step, MAX_STEP / longest);
            }
            // The likelihood is concave: a sufficiently short step increases it.
            let mut next = sum(&self.values, &step);
            let mut halvings = 0;
            while self.likelihood(&next) < likelihood && halvings < HALVINGS {
                scale(&mut step, 0.5);
                next = sum(&self.values, &step);
                halvings += 1;
            }
            likelihood = self.likelihood(&next);
            self.values = next;
        }
        if !converged {
            return None;
        }
        let inverse = self.curvature()?.inverse();
        let covariance = &(&inverse * &self.scatter()) * &inverse;
        Some(self.ratings(covariance))
    }

    fn ratings(self, covariance: Matrix) -> Ratings {
        let last = self.players.len();
        let first_move = if self.any_games || self.known_first_move.is_some() {
            let variance = covariance.get(last, last).unwrap_or_default();
            Estimate::normal(self.first_move() / UNIT, variance / UNIT.powi(2))
        } else {
            Estimate::UNKNOWN
        };
        let players = self
            .players
            .iter()
            .zip(self.values.iter())
            .map(|(player, value)| Player { elo: value / UNIT, ..*player })
            .collect();
        Ratings { players, first_move, covariance }
    }

    fn first_move(&self) -> f64 {
        self.values.iter().next_back().copied().unwrap_or_default()
    }

    fn value(values: &[f64], index: usize) -> f64 {
        values.get(index).copied().unwrap_or_default()
    }

    /// The log-likelihood including the priors.
    fn likelihood(&self, values: &[f64]) -> f64 {
        let first_move = values.iter().next_back().copied().unwrap_or_default();
        let mut sum = 0.0;
        for link in &self.encounters {
            let (a, b) = link.players;
            let difference = Self::value(values, a) - Self::value(values, b);
            for order in &link.orders {
                let x = difference + order.sign * first_move;
                sum -= order.points * log_1p_exp(-x) + (order.games - order.points) * log_1p_exp(x);
            }
        }
        for (center, members) in self.weak_groups(values).into_values() {
            let squares: f64 =
                members.iter().map(|player| (Self::value(values, *player) - center).powi(2)).sum();
            sum -= squares * precision(WEAK_PRIOR) / 2.0;
        }
        if self.known_first_move.is_none() {
            sum -= first_move.powi(2) * precision(FIRST_MOVE_PRIOR) / 2.0;
        }
        sum
    }

    /// The groups with the weak prior: its center and its players. Without an anchor the center is the
    /// mean.
    fn weak_groups(&self, values: &[f64]) -> BTreeMap<usize, (f64, Vec<usize>)> {
        let mut groups: BTreeMap<usize, (f64, Vec<usize>)> = BTreeMap::new();
        for (index, player) in self.players.iter().enumerate() {
            let free = self.anchors.get(index).is_some_and(Option::is_none);
            if player.weak && free {
                groups.entry(player.group).or_default().1.push(index);
            }
        }
        for (group, (center, members)) in &mut groups {
            let anchors = self.centers.get(*group).copied().flatten();
            *center = anchors.unwrap_or_else(|| {
                let sum: f64 = members.iter().map(|player| Self::value(values, *player)).sum();
                sum / count(members.len())
            });
        }
        groups
    }

    /// The gradient of the log-likelihood; 0 for known values.
    fn slope(&self) -> Vec<f64> {
        let last = self.players.len();
        let first_move = self.first_move();
        let mut slope = vec![0.0; last + 1];
        let mut add = |index: usize, value: f64| {
            if let Some(entry) = slope.get_mut(index) {
                *entry += value;
            }
        };
        for link in &self.encounters {
            let (a, b) = link.players;
            let difference = Self::value(&self.values, a) - Self::value(&self.values, b);
            for order in &link.orders {
                let excess =
                    order.points - order.games * expected(difference + order.sign * first_move);
                add(a, excess);
                add(b, -excess);
                add(last, order.sign * excess);
            }
        }
        for (center, members) in self.weak_groups(&self.values).into_values() {
            for player in members {
                let value = Self::value(&self.values, player);
                add(player, -(value - center) * precision(WEAK_PRIOR));
            }
        }
        add(last, -first_move * precision(FIRST_MOVE_PRIOR));
        for index in (0..=last).filter(|index| self.is_known(*index)) {
            if let Some(entry) = slope.get_mut(index) {
                *entry = 0.0;
            }
        }
        slope
    }

    fn is_known(&self, index: usize) -> bool {
        match self.anchors.get(index) {
            Some(anchor) => anchor.is_some(),
            None => self.known_first_move.is_some(),
        }
    }

    /// The negated Hessian, made regular: known values are fixed, and so is the mean of a group without an
    /// anchor, on which no result depends.
    fn curvature(&self) -> Option<Cholesky> {
        let last = self.players.len();
        let first_move = self.first_move();
        let mut matrix = Matrix::zeros(last + 1);
        for link in &self.encounters {
            let (a, b) = link.players;
            let difference = Self::value(&self.values, a) - Self::value(&self.values, b);
            for order in &link.orders {
                let score = expected(difference + order.sign * first_move);
                let weight = order.games * score * (1.0 - score);
                add_square(&mut matrix, [(a, 1.0), (b, -1.0), (last, order.sign)], weight);
            }
        }
        self.add_priors(&mut matrix);
        let known: Vec<bool> = (0..=last).map(|index| self.is_known(index)).collect();
        clear_known(&mut matrix, &known, 1.0);
        for (one, a) in self.players.iter().enumerate() {
            for (other, b) in self.players.iter().enumerate() {
                if a.group == b.group && !a.anchored_group {
                    add_entry(&mut matrix, one, other, 1.0);
                }
            }
        }
        matrix.cholesky()
    }

    /// The observed variance of the gradient.
    fn scatter(&self) -> Matrix {
        let last = self.players.len();
        let first_move = self.first_move();
        let mut matrix = Matrix::zeros(last + 1);
        for link in &self.encounters {
            let (a, b) = link.players;
            let difference = Self::value(&self.values, a) - Self::value(&self.values, b);
            // `along` is the contribution by the rating difference, `across` by the first move.
            let mut add = |along: f64, across: f64, number: f64| {
                add_square(&mut matrix, [(a, along), (b, -along), (last, across)], number);
            };
            let scores = [1.0, -1.0].map(|sign| expected(difference + sign * first_move));
            let [as_first, as_second] = scores;
            for (games, score, sign) in
                [(&link.encounter.first, as_first, 1.0), (&link.encounter.second, as_second, -1.0)]
            {
                for (number, outcome) in by_outcome(games) {
                    add(outcome - score, sign * (outcome - score), number);
                }
            }
            for (row, outcome) in link.encounter.pairs.iter().zip(Encounter::ROWS) {
                let one = points(outcome) - as_first;
                for (number, outcome) in by_outcome(row) {
                    let other = outcome - as_second;
                    add(one + other, one - other, number);
                }
            }
            for (order, score) in link.orders.iter().zip(scores) {
                if order.games > 0.0 {
                    add(1.0, order.sign, score * (1.0 - score));
                }
            }
        }
        self.add_priors(&mut matrix);
        let known: Vec<bool> = (0..=last).map(|index| self.is_known(index)).collect();
        clear_known(&mut matrix, &known, 0.0);
        matrix
    }

    fn add_priors(&self, matrix: &mut Matrix) {
        for (group, (_, members)) in self.weak_groups(&self.values) {
            let anchored = self.centers.get(group).copied().flatten().is_some();
            for one in &members {
                add_entry(matrix, *one, *one, precision(WEAK_PRIOR));
                for other in members.iter().filter(|_| !anchored) {
                    let shared = precision(WEAK_PRIOR) / count(members.len());
                    add_entry(matrix, *one, *other, -shared);
                }
            }
        }
        let last = self.players.len();
        add_entry(matrix, last, last, precision(FIRST_MOVE_PRIOR));
    }
}

impl Link {
    fn new(players: (usize, usize), encounter: Encounter) -> Self {
        let order = |games: Trinomial, sign: f64| {
            let sums = by_outcome(&games);
            Order {
                games: sums.iter().map(|(number, _)| number).sum(),
                points: sums.iter().map(|(number, score)| number * score).sum(),
                sign,
            }
        };
        let mut orders = [order(encounter.first, 1.0), order(encounter.second, -1.0)];
        let [as_first, as_second] = &mut orders;
        for (row, outcome) in encounter.pairs.iter().zip(Encounter::ROWS) {
            let second = order(*row, -1.0);
            as_second.games += second.games;
            as_second.points += second.points;
            as_first.games += second.games;
            as_first.points += second.games * points(outcome);
        }
        Self { players, encounter, orders }
    }
}

/// The graph of games and of scored points.
struct Graph<'a> {
    anchors: &'a [Option<f64>],
    /// The players that each player scored against.
    scored: Vec<Vec<usize>>,
    /// The players that scored against each player.
    conceded: Vec<Vec<usize>>,
}

impl<'a> Graph<'a> {
    fn new(count: usize, encounters: &[Link], anchors: &'a [Option<f64>]) -> Self {
        let (mut scored, mut conceded) = (vec![Vec::new(); count], vec![Vec::new(); count]);
        let mut add = |winner: usize, loser: usize| {
            if let Some(list) = scored.get_mut(winner) {
                list.push(loser);
            }
            if let Some(list) = conceded.get_mut(loser) {
                list.push(winner);
            }
        };
        for link in encounters {
            let (a, b) = link.players;
            let [by_a, by_b] = link.encounter.scored();
            if by_a {
                add(a, b);
            }
            if by_b {
                add(b, a);
            }
        }
        Self { anchors, scored, conceded }
    }

    /// The players with their groups. A group is weak unless it is strongly connected by scored points:
    /// only then the likelihood has a maximum (L. Ford, *Solution of a ranking problem from binary
    /// comparisons*, 1957). Anchors count as one player, because their ratings are known.
    fn players(&self) -> Vec<Player> {
        let count = self.scored.len();
        let mut players: Vec<Option<Player>> = vec![None; count];
        let mut group = 0;
        for start in 0..count {
            if players.get(start).is_none_or(Option::is_some) {
                continue;
            }
            let members = self.reach(start, &[&self.scored, &self.conceded], &[]);
            let anchors: Vec<usize> =
                members.iter().copied().filter(|player| self.is_anchor(*player)).collect();
            let root = anchors.first().copied().unwrap_or(start);
            let strong = [&self.scored, &self.conceded]
                .iter()
                .all(|edges| self.reach(root, &[edges], &anchors).len() == members.len());
            for member in &members {
                if let Some(player) = players.get_mut(*member) {
                    *player = Some(Player {
                        elo: 0.0,
                        group,
                        anchored_group: !anchors.is_empty(),
                        alone: members.len() == 1,
                        weak: !strong,
                    });
                }
            }
            group += 1;
        }
        players.into_iter().flatten().collect()
    }

    fn is_anchor(&self, player: usize) -> bool {
        self.anchors.get(player).is_some_and(Option::is_some)
    }

    /// All players that are reachable by the edges; each of `joined` reaches all others of them.
    fn reach(&self, start: usize, edges: &[&Vec<Vec<usize>>], joined: &[usize]) -> Vec<usize> {
        let mut seen = vec![false; self.scored.len()];
        let mut found = Vec::new();
        let mut open = vec![start];
        while let Some(player) = open.pop() {
            match seen.get_mut(player) {
                Some(seen) if !*seen => *seen = true,
                _ => continue,
            }
            found.push(player);
            open.extend(edges.iter().filter_map(|edges| edges.get(player)).flatten());
            if joined.contains(&player) {
                open.extend(joined);
            }
        }
        found
    }
}

fn sum(one: &[f64], other: &[f64]) -> Vec<f64> {
    one.iter().zip(other).map(|(a, b)| a + b).collect()
}

fn scale(vector: &mut [f64], factor: f64) {
    for value in vector.iter_mut() {
        *value *= factor;
    }
}

/// Adds the square of a sparse vector, times a weight.
fn add_square(matrix: &mut Matrix, vector: [(usize, f64); 3], weight: f64) {
    for (row, one) in vector {
        for (column, other) in vector {
            add_entry(matrix, row, column, one * other * weight);
        }
    }
}

fn add_entry(matrix: &mut Matrix, row: usize, column: usize, value: f64) {
    if let Some(entry) = matrix.get_mut(row, column) {
        *entry += value;
    }
}

/// Excludes known values from the search by rows and columns of a multiple of the identity.
fn clear_known(matrix: &mut Matrix, known: &[bool], diagonal: f64) {
    for (index, _) in known.iter().enumerate().filter(|(_, known)| **known) {
        for other in 0..known.len() {
            for (row, column) in [(index, other), (other, index)] {
                if let Some(entry) = matrix.get_mut(row, column) {
                    *entry = 0.0;
                }
            }
        }
        add_entry(matrix, index, index, diagonal);
    }
}

/// The count and the score of each outcome.
#[expect(clippy::cast_precision_loss, reason = "counts are at most 2^53")]
fn by_outcome(games: &Trinomial) -> [(f64, f64); 3] {
    [(games.losses() as f64, 0.0), (games.draws() as f64, 0.5), (games.wins() as f64, 1.0)]
}

fn points(outcome: Outcome) -> f64 {
    match outcome {
        Outcome::Loss => 0.0,
        Outcome::Draw => 0.5,
        Outcome::Win => 1.0,
    }
}

#[expect(clippy::cast_precision_loss, reason = "at most `MAX_PLAYERS`")]
fn count(players: usize) -> f64 {
    players as f64
}

/// The precision (inverse variance) of a prior with this standard deviation in Elo.
fn precision(deviation: f64) -> f64 {
    (deviation * UNIT).powi(-2)
}

/// The expected score at a difference in natural logarithms of odds.
fn expected(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

/// `ln(1 + exp(x))` without overflow.
fn log_1p_exp(x: f64) -> f64 {
    x.max(0.0) + (-x.abs()).exp().ln_1p()
}
