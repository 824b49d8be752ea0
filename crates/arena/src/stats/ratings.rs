//! Ratings of many players together.
//!
//! The model is that of Bradley and Terry (*Rank analysis of incomplete block designs*, Biometrika
//! 39, 1952) on the scale of Elo: the expected score of a game is `1 / (1 + 10^(-d / 400))`, where
//! `d` is the difference of the ratings, and the advantage of the first move for who has it. A draw
//! is half a win of each. Ratings are those of the largest likelihood, so that each player's
//! expected points are those it made, and two players who only met each other differ by the Elo of
//! their score.
//!
//! How much draws, and pairs of games on one opening, narrow the errors is not assumed but seen: the
//! covariance is the one that stays right where the variance of results is another than the model's
//! (P. Huber, *The behavior of maximum likelihood estimates under nonstandard conditions*, 1967;
//! R. Wedderburn, *Quasi-likelihood functions*, Biometrika 61, 1974). To each kind of game between
//! two players the variance of one more undecided game is added, so that few equal results do not
//! look certain.

use std::collections::BTreeMap;
use std::f64::consts::LN_10;
use std::fmt;

use super::counts::{Outcome, Trinomial};
use super::crosstable::{Crosstable, Meeting};
use super::figure::{Estimate, Figure};
use super::figures::normal_below;
use super::matrix::{Cholesky, Matrix};

/// The standard deviation, in Elo, of the prior that is laid on the ratings of a group in which some
/// won or lost everything against the rest, so that the likelihood has no maximum.
pub const WEAK_PRIOR: f64 = 600.0;

/// The standard deviation, in Elo, of the prior of the advantage of the first move, around none. It
/// keeps it apart from strength where a player always moved first.
pub const FIRST_MOVE_PRIOR: f64 = 100.0;

/// Of one Elo, in natural logarithms of odds.
const UNIT: f64 = LN_10 / 400.0;

/// What to know of the advantage of the first move.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FirstMove {
    /// It is to be found, with the prior of [`FIRST_MOVE_PRIOR`].
    Estimated,
    /// It is this much Elo.
    Known(f64),
}

/// Why there are no ratings.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RatingsError {
    /// A player that is to be anchored does not exist.
    NoSuchPlayer(usize),
    /// An anchor or the advantage of the first move is not between -100000 and 100000 Elo.
    Value(f64),
    /// The search for the largest likelihood did not settle.
    Unsettled,
}

impl fmt::Display for RatingsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoSuchPlayer(player) => write!(f, "there is no player {player} to anchor"),
            Self::Value(elo) => write!(f, "`{elo}` is no Elo between -100000 and 100000"),
            Self::Unsettled => f.write_str("the search for the ratings did not settle"),
        }
    }
}

impl std::error::Error for RatingsError {}

/// The ratings of the players of a tournament.
#[derive(Clone, Debug)]
pub struct Ratings {
    players: Vec<Player>,
    first_move: Estimate,
    // Of the ratings, and of the advantage of the first move as the last.
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
    /// Rates the players. Those of `anchors` have the given Elo; a group without an anchor, in which
    /// everybody is linked by games, has the mean 0.
    pub fn of(
        table: &Crosstable,
        anchors: &BTreeMap<usize, f64>,
        first_move: FirstMove,
    ) -> Result<Self, RatingsError> {
        const MOST: f64 = 1e5;
        let known = match first_move {
            FirstMove::Known(elo) => Some(elo),
            FirstMove::Estimated => None,
        };
        for elo in anchors.values().copied().chain(known) {
            if elo.is_nan() || elo.abs() > MOST {
                return Err(RatingsError::Value(elo));
            }
        }
        if let Some(player) = anchors.keys().find(|player| **player >= table.players()) {
            return Err(RatingsError::NoSuchPlayer(*player));
        }
        Fit::new(table, anchors, known).solve().ok_or(RatingsError::Unsettled)
    }

    /// Rates the players with no more to know than their results.
    pub fn unanchored(table: &Crosstable) -> Result<Self, RatingsError> {
        Self::of(table, &BTreeMap::new(), FirstMove::Estimated)
    }

    /// How many players.
    pub fn players(&self) -> usize {
        self.players.len()
    }

    /// The rating of a player with its error; that of an anchor is 0. Unknown for who met nobody.
    pub fn rating(&self, player: usize) -> Estimate {
        match self.players.get(player) {
            Some(rated) if !rated.alone || rated.anchored_group => {
                Self::estimate(rated.elo, self.variance_of(player, player))
            }
            _ => Estimate::UNKNOWN,
        }
    }

    /// Whether the rating of a player rests on the weak prior of [`WEAK_PRIOR`]: in its group some
    /// won or lost everything against the rest.
    pub fn rests_on_prior(&self, player: usize) -> bool {
        self.players.get(player).is_some_and(|player| player.weak)
    }

    /// The advantage of the first move in Elo; unknown without games.
    pub fn first_move(&self) -> Estimate {
        self.first_move
    }

    /// How much stronger the one is than the other; unknown where no games and no anchors link them.
    pub fn difference(&self, one: usize, other: usize) -> Estimate {
        let (Some(a), Some(b)) = (self.players.get(one), self.players.get(other)) else {
            return Estimate::UNKNOWN;
        };
        if a.group != b.group && !(a.anchored_group && b.anchored_group) {
            return Estimate::UNKNOWN;
        }
        Self::estimate(a.elo - b.elo, self.variance_of_difference(one, other))
    }

    /// The covariance of two ratings in Elo², and the variance of one with itself. Unknown where their
    /// difference is, and for who met nobody.
    pub fn covariance(&self, one: usize, other: usize) -> Figure {
        let known = [self.rating(one), self.rating(other), self.difference(one, other)];
        if known.iter().any(|estimate| estimate.value == Figure::Unknown) {
            return Figure::Unknown;
        }
        Figure::of(self.variance_of(one, other) / UNIT.powi(2))
    }

    /// The likelihood of superiority, between 0 and 1: that the one is stronger than the other.
    /// Unknown where nothing links them, and for two anchors of one rating.
    pub fn los(&self, one: usize, other: usize) -> Figure {
        match self.difference(one, other).value {
            Figure::Number(difference) => {
                let deviation = self.variance_of_difference(one, other).max(0.0).sqrt() / UNIT;
                match Figure::of(difference / deviation) {
                    Figure::Number(x) => Figure::of(normal_below(x)),
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

/// The search for the largest likelihood. Ratings are natural logarithms of odds here, and the
/// advantage of the first move is the last of them.
struct Fit {
    meetings: Vec<Link>,
    players: Vec<Player>,
    anchors: Vec<Option<f64>>,
    known_first_move: Option<f64>,
    /// The mean of the anchors of each group that has some: the centre of its prior.
    centres: Vec<Option<f64>>,
    values: Vec<f64>,
    any_games: bool,
}

/// Two players who met, and the sums of their games, by who moved first.
struct Link {
    players: (usize, usize),
    meeting: Meeting,
    orders: [Order; 2],
}

/// Games in one order of moving, for the lower player.
#[derive(Clone, Copy)]
struct Order {
    games: f64,
    points: f64,
    /// 1 where the lower player moved first, -1 where the other did.
    sign: f64,
}

impl Fit {
    fn new(table: &Crosstable, anchored: &BTreeMap<usize, f64>, first_move: Option<f64>) -> Self {
        let count = table.players();
        let anchors: Vec<Option<f64>> =
            (0..count).map(|player| anchored.get(&player).map(|elo| elo * UNIT)).collect();
        let meetings: Vec<Link> =
            table.meetings().map(|(players, meeting)| Link::new(players, *meeting)).collect();
        let graph = Graph::new(count, &meetings, &anchors);
        let players = graph.players();
        let mut values = vec![0.0; count + 1];
        for (value, anchor) in values.iter_mut().zip(&anchors) {
            *value = anchor.unwrap_or_default();
        }
        if let (Some(value), Some(elo)) = (values.iter_mut().next_back(), first_move) {
            *value = elo * UNIT;
        }
        let any_games = !meetings.is_empty();
        let mut fit = Self {
            meetings,
            players,
            anchors,
            known_first_move: first_move,
            centres: Vec::new(),
            values,
            any_games,
        };
        fit.centres = fit.centres();
        // To start far from the anchors would take long.
        for (player, (value, anchor)) in
            fit.players.iter().zip(fit.values.iter_mut().zip(&fit.anchors))
        {
            if anchor.is_none() {
                *value = fit.centres.get(player.group).copied().flatten().unwrap_or_default();
            }
        }
        fit
    }

    /// The mean of the anchors of each group that has some.
    fn centres(&self) -> Vec<Option<f64>> {
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
        const SETTLED: f64 = 1e-9;
        // Newton's error is squared by each step from here, while changes of the likelihood drown in
        // its rounding.
        const CLOSE: f64 = 1e-3;
        const LONGEST_STEP: f64 = 3.0;
        const HALVINGS: u32 = 40;
        let mut likelihood = self.likelihood(&self.values);
        let mut settled = false;
        for _ in 0..STEPS {
            let solver = self.curvature()?;
            let mut step = solver.solve(&self.slope());
            let longest = step.iter().map(|it| it.abs()).fold(0.0, f64::max);
            if longest <= CLOSE {
                self.values = sum(&self.values, &step);
                if longest <= SETTLED {
                    settled = true;
                    break;
                }
                likelihood = self.likelihood(&self.values);
                continue;
            }
            if longest > LONGEST_STEP {
                scale(&mut step, LONGEST_STEP / longest);
            }
            // The likelihood is concave: a short enough step along its slope makes it larger.
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
        if !settled {
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

    /// The logarithm of the likelihood, with that of the priors.
    fn likelihood(&self, values: &[f64]) -> f64 {
        let first_move = values.iter().next_back().copied().unwrap_or_default();
        let mut sum = 0.0;
        for link in &self.meetings {
            let (a, b) = link.players;
            let difference = Self::value(values, a) - Self::value(values, b);
            for order in &link.orders {
                let x = difference + order.sign * first_move;
                sum -= order.points * log_1p_exp(-x) + (order.games - order.points) * log_1p_exp(x);
            }
        }
        for (centre, members) in self.weak_groups(values).into_values() {
            let squares: f64 =
                members.iter().map(|player| (Self::value(values, *player) - centre).powi(2)).sum();
            sum -= squares * precision(WEAK_PRIOR) / 2.0;
        }
        if self.known_first_move.is_none() {
            sum -= first_move.powi(2) * precision(FIRST_MOVE_PRIOR) / 2.0;
        }
        sum
    }

    /// The groups with the weak prior: its centre, and those it is laid on. Without an anchor the
    /// centre is the mean, wherever that is.
    fn weak_groups(&self, values: &[f64]) -> BTreeMap<usize, (f64, Vec<usize>)> {
        let mut groups: BTreeMap<usize, (f64, Vec<usize>)> = BTreeMap::new();
        for (index, player) in self.players.iter().enumerate() {
            let free = self.anchors.get(index).is_some_and(Option::is_none);
            if player.weak && free {
                groups.entry(player.group).or_default().1.push(index);
            }
        }
        for (group, (centre, members)) in &mut groups {
            let anchors = self.centres.get(*group).copied().flatten();
            *centre = anchors.unwrap_or_else(|| {
                let sum: f64 = members.iter().map(|player| Self::value(values, *player)).sum();
                sum / count(members.len())
            });
        }
        groups
    }

    /// The derivative of the likelihood; nothing for what is known.
    fn slope(&self) -> Vec<f64> {
        let last = self.players.len();
        let first_move = self.first_move();
        let mut slope = vec![0.0; last + 1];
        let mut add = |index: usize, value: f64| {
            if let Some(entry) = slope.get_mut(index) {
                *entry += value;
            }
        };
        for link in &self.meetings {
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
        for (centre, members) in self.weak_groups(&self.values).into_values() {
            for player in members {
                let value = Self::value(&self.values, player);
                add(player, -(value - centre) * precision(WEAK_PRIOR));
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

    /// The negated second derivative, made regular: the mean of a group without an anchor, which no
    /// result depends on, and what is known stay where they are.
    fn curvature(&self) -> Option<Cholesky> {
        let last = self.players.len();
        let first_move = self.first_move();
        let mut matrix = Matrix::zeros(last + 1);
        for link in &self.meetings {
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

    /// The variance of the slope, as it was seen.
    fn scatter(&self) -> Matrix {
        let last = self.players.len();
        let first_move = self.first_move();
        let mut matrix = Matrix::zeros(last + 1);
        for link in &self.meetings {
            let (a, b) = link.players;
            let difference = Self::value(&self.values, a) - Self::value(&self.values, b);
            // Of a result whose share in the slope is `along` the difference and `across` it, by the
            // first move.
            let mut add = |along: f64, across: f64, number: f64| {
                add_square(&mut matrix, [(a, along), (b, -along), (last, across)], number);
            };
            let scores = [1.0, -1.0].map(|sign| expected(difference + sign * first_move));
            let [as_first, as_second] = scores;
            for (games, score, sign) in
                [(&link.meeting.first, as_first, 1.0), (&link.meeting.second, as_second, -1.0)]
            {
                for (number, outcome) in by_outcome(games) {
                    add(outcome - score, sign * (outcome - score), number);
                }
            }
            for (row, outcome) in link.meeting.pairs.iter().zip(Meeting::ROWS) {
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
            let anchored = self.centres.get(group).copied().flatten().is_some();
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
    fn new(players: (usize, usize), meeting: Meeting) -> Self {
        let order = |games: Trinomial, sign: f64| {
            let sums = by_outcome(&games);
            Order {
                games: sums.iter().map(|(number, _)| number).sum(),
                points: sums.iter().map(|(number, score)| number * score).sum(),
                sign,
            }
        };
        let mut orders = [order(meeting.first, 1.0), order(meeting.second, -1.0)];
        let [as_first, as_second] = &mut orders;
        for (row, outcome) in meeting.pairs.iter().zip(Meeting::ROWS) {
            let second = order(*row, -1.0);
            as_second.games += second.games;
            as_second.points += second.points;
            as_first.games += second.games;
            as_first.points += second.games * points(outcome);
        }
        Self { players, meeting, orders }
    }
}

/// Who is linked with whom, and who scored against whom.
struct Graph<'a> {
    anchors: &'a [Option<f64>],
    /// For each player whom it scored against.
    scored: Vec<Vec<usize>>,
    /// For each player who scored against it.
    conceded: Vec<Vec<usize>>,
}

impl<'a> Graph<'a> {
    fn new(count: usize, meetings: &[Link], anchors: &'a [Option<f64>]) -> Self {
        let (mut scored, mut conceded) = (vec![Vec::new(); count], vec![Vec::new(); count]);
        let mut add = |winner: usize, loser: usize| {
            if let Some(list) = scored.get_mut(winner) {
                list.push(loser);
            }
            if let Some(list) = conceded.get_mut(loser) {
                list.push(winner);
            }
        };
        for link in meetings {
            let (a, b) = link.players;
            let [by_a, by_b] = link.meeting.scored();
            if by_a {
                add(a, b);
            }
            if by_b {
                add(b, a);
            }
        }
        Self { anchors, scored, conceded }
    }

    /// The players by groups. A group is weak unless from everybody a chain of scored points leads
    /// to everybody: just then the likelihood has a maximum (L. Ford, *Solution of a ranking problem
    /// from binary comparisons*, 1957). Anchors count as one player, as their ratings are known.
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

    /// All players that the edges lead to from one. From one of `joined` they lead to all of them.
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
    for it in vector.iter_mut() {
        *it *= factor;
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

/// What is known has no part in the search: its row and column are those of a multiple of identity.
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

/// How often each outcome was seen, with its score.
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

/// One divided by the variance of a prior with this standard deviation in Elo.
fn precision(deviation: f64) -> f64 {
    (deviation * UNIT).powi(-2)
}

/// The expected score at a difference in natural logarithms of odds.
fn expected(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

/// `ln(1 + exp(x))` for large `x` as well.
fn log_1p_exp(x: f64) -> f64 {
    x.max(0.0) + (-x.abs()).exp().ln_1p()
}
