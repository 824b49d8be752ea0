//! Results and speed of each worker of a match, and the detection of anomalous workers.

use std::collections::BTreeMap;
use std::fmt;

use readyok_rules::{Side, Termination};
use serde::{Deserialize, Serialize};

use crate::game::Agreement;
use crate::pairing::{PairResult, WorkerId};
use crate::result::MatchGame;
use crate::stats::{binomial_tail, homogeneity};

/// Maximum number of workers with counts of their own.
const MAX_WORKERS: usize = 2000;

/// The probability of a false alarm per match and test. It is divided by the number of workers.
const SIGNIFICANCE: f64 = 0.001;

/// Factor between the relative speed of a worker and the median of all workers that counts as anomalous.
const MAX_SPEED_RATIO: f64 = 1.6;

/// Minimum search time for a comparison of speeds, in microseconds.
const MIN_TIME_US: u64 = 5_000_000;

/// Minimum number of workers for a comparison of speeds.
const MIN_WORKERS: usize = 3;

/// The rate of failures of an engine that can be tested.
const NORMAL_RATE: f64 = 0.01;

/// The least number of failures that can be too many.
const MIN_FAILURES: u64 = 3;

/// The probability of failures by chance, below which they are too many.
const MAX_CHANCE: f64 = 1e-4;

/// The probability of the failures of a worker at the rate of the others, above which all have the same rate.
const SAME_RATE: f64 = 0.01;

/// The least number of games of the other workers for a comparison.
const MIN_OTHER_GAMES: u64 = 20;

/// The number of games of a worker with too many failures without a comparison.
const MAX_GAMES_ALONE: u64 = 50;

/// The least number of replayed pairs of a worker for a comparison. The others need twice as many.
const MIN_REPLAYED: u64 = 6;

/// The least variance of the share of equal moves of a pair: that of about 100 independent moves.
const MIN_VARIANCE: f64 = 0.002;

/// The counts of all workers of a match.
#[derive(Clone, Debug, Default)]
pub struct WorkerTable {
    rows: BTreeMap<WorkerId, WorkerCounts>,
}

/// The counts of a worker.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct WorkerCounts {
    /// Accepted pairs.
    pub pairs: u64,
    /// Games of these pairs.
    pub games: u64,
    /// Pentanomial counts of the first engine: 0, ½, 1, 1½ and 2 points. All 0 if pairings have one game.
    pub pentanomial: [u64; 5],
    /// Losses, draws and wins of the first engine.
    pub trinomial: [u64; 3],
    /// Games lost on time.
    pub time_losses: u64,
    /// Games lost by crashes, stalls and failed starts.
    pub crashes: u64,
    /// Invalid results, which do not count.
    pub invalid: u64,
    /// Nodes of searches that reported them.
    pub nodes: u64,
    /// Duration of these searches.
    pub time_us: u64,
    /// The measured speed of the host, if it was reported.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub speed: Option<f64>,
    /// The pairs that other workers have replayed.
    #[serde(default)]
    pub replays: ReplayedPairs,
}

/// Pairs that other workers have replayed, with the recorded numbers of nodes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct ReplayedPairs {
    /// Their number.
    pub pairs: u64,
    /// The number of searches.
    pub searches: u64,
    /// The number of searches that have found the recorded move.
    pub equal: u64,
    /// The sum of the shares of equal moves of each pair.
    pub shares: f64,
    /// The sum of their squares.
    pub squares: f64,
}

impl ReplayedPairs {
    /// Adds a pair.
    #[expect(clippy::cast_precision_loss, reason = "far less than 2^53 moves")]
    pub fn add(&mut self, Agreement { searches, equal }: Agreement) {
        if searches == 0 {
            return;
        }
        let share = equal as f64 / searches as f64;
        self.pairs += 1;
        self.searches = self.searches.saturating_add(searches);
        self.equal = self.equal.saturating_add(equal);
        self.shares += share;
        self.squares += share * share;
    }

    fn plus(self, other: Self) -> Self {
        Self {
            pairs: self.pairs + other.pairs,
            searches: self.searches.saturating_add(other.searches),
            equal: self.equal.saturating_add(other.equal),
            shares: self.shares + other.shares,
            squares: self.squares + other.squares,
        }
    }

    fn minus(self, other: Self) -> Self {
        Self {
            pairs: self.pairs.saturating_sub(other.pairs),
            searches: self.searches.saturating_sub(other.searches),
            equal: self.equal.saturating_sub(other.equal),
            shares: self.shares - other.shares,
            squares: self.squares - other.squares,
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "far less than 2^53 pairs")]
    fn mean(self) -> f64 {
        self.shares / self.pairs.max(1) as f64
    }

    /// The probability that the share of equal moves is as much below that of other pairs by chance. The moves of a game
    /// depend on each other, so that pairs are compared. `None` with few pairs, and for a share that is not below.
    #[expect(clippy::cast_precision_loss, reason = "far less than 2^53 pairs")]
    fn deficit(self, others: Self) -> Option<f64> {
        if self.pairs < MIN_REPLAYED || others.pairs < 2 * MIN_REPLAYED {
            return None;
        }
        let difference = others.mean() - self.mean();
        let spread = |it: Self| (it.squares - it.shares * it.mean()).max(0.0);
        let (n, m) = (self.pairs as f64, others.pairs as f64);
        let variance = (spread(self) + spread(others)) / (n + m - 2.0);
        let deviation = (variance.max(MIN_VARIANCE) * (1.0 / n + 1.0 / m)).sqrt();
        (difference > 0.0).then(|| libm::erfc(difference / deviation / 2.0_f64.sqrt()) / 2.0)
    }
}

/// The counts of a worker and its anomalies.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct WorkerRow {
    /// The name.
    pub worker: WorkerId,
    /// The counts.
    #[serde(flatten)]
    pub counts: WorkerCounts,
    /// Nodes per second.
    pub nps: Option<f64>,
    /// The anomalies.
    pub flags: Vec<WorkerFlag>,
}

/// An anomaly of a worker.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub enum WorkerFlag {
    /// Its results differ from those of the others.
    Results {
        /// The probability of such a difference by chance.
        p: f64,
    },
    /// It loses more games on time than the others.
    TimeLosses {
        /// The probability of such a difference by chance.
        p: f64,
    },
    /// Its engines crash more often than on the others.
    Crashes {
        /// The probability of such a difference by chance.
        p: f64,
    },
    /// Nodes per second do not match its measured speed.
    Speed {
        /// Its relative speed divided by the median of all workers.
        ratio: f64,
    },
    /// Other workers find fewer of its moves again than of those of the others.
    Replays {
        /// The probability of such a difference by chance.
        p: f64,
    },
    /// It has sent invalid results.
    Invalid {
        /// Their number.
        count: u64,
    },
}

impl fmt::Display for WorkerFlag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Results { p } => write!(f, "anomalous results (p = {p:.1e})"),
            Self::TimeLosses { p } => write!(f, "time losses (p = {p:.1e})"),
            Self::Crashes { p } => write!(f, "crashes (p = {p:.1e})"),
            Self::Speed { ratio } => write!(f, "speed × {ratio:.2}"),
            Self::Replays { p } => write!(f, "few equal moves in replays (p = {p:.1e})"),
            Self::Invalid { count } => write!(f, "{count} invalid results"),
        }
    }
}

/// Failures of engines that are more frequent than any engine that can be tested has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Excess {
    /// The failures.
    pub failure: Failure,
    /// Their number.
    pub count: u64,
    /// The number of games.
    pub games: u64,
    /// Who is at fault.
    pub fault: Fault,
}

/// A kind of failure of an engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Failure {
    /// A crash, a stall or a failed start.
    Crash,
    /// A loss on time.
    TimeLoss,
}

/// Who is at fault for failures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The worker: the others have fewer of them.
    Worker,
    /// An engine: all workers have them.
    Engine,
    /// No other worker has played enough games for a comparison.
    Unknown,
}

impl fmt::Display for Excess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { failure, count, games, fault } = self;
        let failures = match failure {
            Failure::Crash => "crashes",
            Failure::TimeLoss => "time losses",
        };
        write!(f, "{count} {failures} in {games} games, ")?;
        f.write_str(match fault {
            Fault::Worker => "the other workers have fewer",
            Fault::Engine => "and the other workers have as many: an engine is at fault",
            Fault::Unknown => "and no other worker has played enough games for a comparison",
        })
    }
}

impl WorkerTable {
    /// The workers whose engines fail too often: in more than 1 % of the games, with a probability of less than 0.0001 by
    /// chance.
    pub fn excesses(&self) -> Vec<(WorkerId, Excess)> {
        let many = |counts: &WorkerCounts| counts.crashes.max(counts.time_losses) >= MIN_FAILURES;
        let candidates = self.rows.iter().filter(|(_, counts)| many(counts));
        candidates.filter_map(|(worker, _)| Some((worker.clone(), self.excess(worker)?))).collect()
    }

    #[expect(clippy::cast_precision_loss, reason = "far less than 2^53 games")]
    fn excess(&self, worker: &WorkerId) -> Option<Excess> {
        let own = self.rows.get(worker)?;
        let find = |failure: Failure| {
            let count_of = |counts: &WorkerCounts| match failure {
                Failure::Crash => counts.crashes,
                Failure::TimeLoss => counts.time_losses,
            };
            let (count, games) = (count_of(own), own.games);
            if count < MIN_FAILURES || binomial_tail(count, games, NORMAL_RATE) >= MAX_CHANCE {
                return None;
            }
            let others = self.rows.iter().filter(|(name, _)| *name != worker);
            let (other, other_games) = others.fold((0, 0), |(count, games), (_, counts)| {
                (count + count_of(counts), games + counts.games)
            });
            let fault = if other_games >= MIN_OTHER_GAMES {
                // One more failure, since a rate of 0 is that of few games.
                let rate = (other + 1) as f64 / (other_games + 1) as f64;
                let is_alone = binomial_tail(count, games, rate) < SAME_RATE;
                if is_alone { Fault::Worker } else { Fault::Engine }
            } else if games >= MAX_GAMES_ALONE {
                Fault::Unknown
            } else {
                return None;
            };
            Some(Excess { failure, count, games, fault })
        };
        find(Failure::Crash).or_else(|| find(Failure::TimeLoss))
    }

    /// Counts an accepted pair. Pairs of this process are not counted.
    pub fn add(&mut self, pair: &PairResult) {
        if let Some(worker) = &pair.worker {
            self.add_of(worker, pair);
        }
    }

    /// Counts a pair as one of this worker.
    pub fn add_of(&mut self, worker: &WorkerId, pair: &PairResult) {
        let Some(counts) = self.counts_mut(worker) else { return };
        counts.pairs += 1;
        let lower = pair.pairing.first.min(pair.pairing.second);
        let mut half_points = 0;
        for game in pair.games.iter().filter(|game| game.end != Termination::Aborted) {
            let points = half_points_of(game, game.first == lower);
            half_points += points;
            if let Some(count) = counts.trinomial.get_mut(points) {
                *count += 1;
            }
            counts.games += 1;
            match game.end.termination {
                Termination::TimeForfeit => counts.time_losses += 1,
                Termination::EngineCrash
                | Termination::EngineStall
                | Termination::EngineStartFailure => counts.crashes += 1,
                _ => {}
            }
            for made in &game.moves {
                if let Some(nodes) = made.nodes {
                    counts.nodes = counts.nodes.saturating_add(nodes);
                    counts.time_us = counts.time_us.saturating_add(made.time_us);
                }
            }
        }
        if pair.games.len() == 2
            && let Some(count) = counts.pentanomial.get_mut(half_points)
        {
            *count += 1;
        }
    }

    /// Counts an invalid result.
    pub fn add_invalid(&mut self, worker: &WorkerId) -> u64 {
        let Some(counts) = self.counts_mut(worker) else { return 0 };
        counts.invalid += 1;
        counts.invalid
    }

    /// Sets the measured speed of a host.
    pub fn set_speed(&mut self, worker: &WorkerId, speed: Option<f64>) {
        if let (Some(counts), Some(speed)) = (self.counts_mut(worker), speed) {
            counts.speed = Some(speed);
        }
    }

    /// Removes the results of accepted pairs. Counts of invalid results, speeds and replays remain.
    pub fn clear_results(&mut self) {
        for counts in self.rows.values_mut() {
            let WorkerCounts { invalid, speed, replays, .. } = *counts;
            *counts = WorkerCounts { invalid, speed, replays, ..WorkerCounts::default() };
        }
    }

    /// Sets the replayed pairs of each worker.
    pub fn set_replays(&mut self, replays: &BTreeMap<String, ReplayedPairs>) {
        for (worker, counts) in &mut self.rows {
            counts.replays = replays.get(&worker.0).copied().unwrap_or_default();
        }
    }

    /// All workers by name, with their anomalies.
    pub fn rows(&self) -> Vec<WorkerRow> {
        let median = self.median_speed();
        let mut total = WorkerCounts::default();
        self.rows.values().for_each(|counts| total.add(counts));
        let row = |(worker, counts): (&WorkerId, &WorkerCounts)| WorkerRow {
            worker: worker.clone(),
            counts: counts.clone(),
            nps: counts.nps(),
            flags: self.flags(counts, &total, median),
        };
        self.rows.iter().map(row).collect()
    }

    fn counts_mut(&mut self, worker: &WorkerId) -> Option<&mut WorkerCounts> {
        let is_full = self.rows.len() >= MAX_WORKERS && !self.rows.contains_key(worker);
        (!is_full).then(|| self.rows.entry(worker.clone()).or_default())
    }

    #[expect(clippy::cast_precision_loss, reason = "at most 2,000 workers")]
    fn flags(
        &self,
        counts: &WorkerCounts,
        total: &WorkerCounts,
        median: Option<f64>,
    ) -> Vec<WorkerFlag> {
        let limit = SIGNIFICANCE / self.rows.len().max(1) as f64;
        let mut flags = Vec::new();
        let results = if counts.pentanomial.iter().any(|count| *count > 0) {
            homogeneity(&counts.pentanomial, &difference(total.pentanomial, counts.pentanomial))
        } else {
            homogeneity(&counts.trinomial, &difference(total.trinomial, counts.trinomial))
        };
        flags.extend(results.filter(|p| *p < limit).map(|p| WorkerFlag::Results { p }));
        // Only more failures than elsewhere are an anomaly.
        let excess = |of: fn(&WorkerCounts) -> u64| {
            let games = total.games.saturating_sub(counts.games);
            let (failures, other) = (of(counts), of(total).saturating_sub(of(counts)));
            let is_more = failures.saturating_mul(games) > other.saturating_mul(counts.games);
            let split = |failures: u64, games: u64| [failures, games.saturating_sub(failures)];
            let p = homogeneity(&split(failures, counts.games), &split(other, games));
            p.filter(|p| is_more && *p < limit)
        };
        let time_losses = excess(|counts| counts.time_losses);
        flags.extend(time_losses.map(|p| WorkerFlag::TimeLosses { p }));
        let crashes = excess(|counts| counts.crashes);
        flags.extend(crashes.map(|p| WorkerFlag::Crashes { p }));
        let ratio = counts.relative_speed().zip(median).map(|(own, median)| own / median);
        let is_normal = |ratio: &f64| (1.0 / MAX_SPEED_RATIO..=MAX_SPEED_RATIO).contains(ratio);
        flags.extend(
            ratio.filter(|ratio| !is_normal(ratio)).map(|ratio| WorkerFlag::Speed { ratio }),
        );
        let deficit = counts.replays.deficit(total.replays.minus(counts.replays));
        flags.extend(deficit.filter(|p| *p < limit).map(|p| WorkerFlag::Replays { p }));
        if counts.invalid > 0 {
            flags.push(WorkerFlag::Invalid { count: counts.invalid });
        }
        flags
    }

    /// The median of the relative speeds; `None` with few workers.
    fn median_speed(&self) -> Option<f64> {
        let mut speeds: Vec<f64> =
            self.rows.values().filter_map(WorkerCounts::relative_speed).collect();
        speeds.sort_by(f64::total_cmp);
        (speeds.len() >= MIN_WORKERS).then(|| speeds.get(speeds.len() / 2).copied()).flatten()
    }
}

impl WorkerCounts {
    fn add(&mut self, other: &Self) {
        self.games += other.games;
        self.time_losses += other.time_losses;
        self.crashes += other.crashes;
        let pentanomial = self.pentanomial.iter_mut().zip(other.pentanomial);
        let trinomial = self.trinomial.iter_mut().zip(other.trinomial);
        pentanomial.chain(trinomial).for_each(|(sum, count)| *sum += count);
        self.replays = self.replays.plus(other.replays);
    }

    #[expect(clippy::cast_precision_loss, reason = "a rate needs no more precision")]
    fn nps(&self) -> Option<f64> {
        (self.time_us > 0).then(|| self.nodes as f64 * 1e6 / self.time_us as f64)
    }

    /// Nodes per second relative to the measured speed of the host.
    fn relative_speed(&self) -> Option<f64> {
        let speed = self.speed.filter(|speed| *speed > 0.0)?;
        self.nps().filter(|nps| self.time_us >= MIN_TIME_US && *nps > 0.0).map(|nps| nps / speed)
    }
}

fn difference<const N: usize>(total: [u64; N], part: [u64; N]) -> [u64; N] {
    let mut rest = total;
    for (count, part) in rest.iter_mut().zip(part) {
        *count = count.saturating_sub(part);
    }
    rest
}

/// The half points of one side of a game.
fn half_points_of(game: &MatchGame, is_first: bool) -> usize {
    match game.winner {
        None => 1,
        Some(Side::First) if is_first => 2,
        Some(Side::Second) if !is_first => 2,
        Some(_) => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(rows: &[(&str, WorkerCounts)]) -> WorkerTable {
        let rows = rows.iter().map(|(name, counts)| (WorkerId((*name).to_owned()), counts.clone()));
        WorkerTable { rows: rows.collect() }
    }

    fn flags_of(table: &WorkerTable, name: &str) -> Vec<WorkerFlag> {
        let row = table.rows().into_iter().find(|row| row.worker.0 == name);
        row.map(|row| row.flags).unwrap_or_default()
    }

    #[test]
    fn flags_results_time_losses_and_crashes_that_differ_from_the_others() {
        let normal = WorkerCounts {
            pairs: 500,
            games: 1000,
            pentanomial: [20, 110, 240, 108, 22],
            time_losses: 2,
            ..WorkerCounts::default()
        };
        let cheats = WorkerCounts { pentanomial: [5, 60, 200, 170, 65], ..normal };
        let slow = WorkerCounts { time_losses: 60, ..normal };
        let broken = WorkerCounts { crashes: 60, ..normal };
        let rows =
            [("a", normal.clone()), ("b", normal), ("c", cheats), ("d", slow), ("e", broken)];
        let table = table(&rows);
        assert_eq!(flags_of(&table, "a"), []);
        assert!(matches!(flags_of(&table, "c")[..], [WorkerFlag::Results { .. }]));
        assert!(matches!(flags_of(&table, "d")[..], [WorkerFlag::TimeLosses { .. }]));
        assert!(matches!(flags_of(&table, "e")[..], [WorkerFlag::Crashes { .. }]));
    }

    #[test]
    fn too_many_failures_are_the_fault_of_a_worker_or_of_an_engine() {
        let counts = |games, crashes, time_losses| WorkerCounts {
            games,
            time_losses,
            crashes,
            ..WorkerCounts::default()
        };
        let fault = |rows: &[(&str, WorkerCounts)]| {
            let excess = table(rows).excess(&WorkerId("a".to_owned()));
            excess.map(|excess| (excess.failure, excess.fault))
        };
        let good = || ("b", counts(400, 3, 2));
        for (own, others, expected) in [
            (counts(4, 2, 0), good(), None),
            (counts(1000, 12, 12), good(), None),
            (counts(8, 4, 0), good(), Some((Failure::Crash, Fault::Worker))),
            (counts(300, 0, 20), good(), Some((Failure::TimeLoss, Fault::Worker))),
            // It crashes everywhere.
            (counts(8, 4, 0), ("b", counts(40, 18, 0)), Some((Failure::Crash, Fault::Engine))),
            (counts(40, 12, 0), ("b", counts(40, 30, 0)), Some((Failure::Crash, Fault::Engine))),
            // The others have played too few games.
            (counts(8, 4, 0), ("b", counts(10, 0, 0)), None),
            (counts(60, 30, 0), ("b", counts(10, 0, 0)), Some((Failure::Crash, Fault::Unknown))),
        ] {
            let all = format!("{own:?} {others:?}");
            assert_eq!(fault(&[("a", own), others]), expected, "{all}");
        }
    }

    /// The shares of equal moves are those of Stockfish with 40 ms per move: 0.72 as recorded, and 0.58 with half of the
    /// time.
    #[test]
    fn flags_replays_with_fewer_equal_moves() {
        let replays = |equal: u64, pairs: u64| {
            let mut replays = ReplayedPairs::default();
            for number in 0..pairs {
                // Pairs differ.
                let equal = equal + 12 * (number % 3);
                replays.add(Agreement { searches: 200, equal });
            }
            WorkerCounts { replays, ..WorkerCounts::default() }
        };
        let check = |own: WorkerCounts, expected: bool| {
            let own_pairs = own.replays.pairs;
            let table = table(&[("a", own), ("b", replays(132, 12)), ("c", replays(135, 12))]);
            let flags = flags_of(&table, "a");
            let is_flagged = matches!(flags[..], [WorkerFlag::Replays { .. }]);
            assert_eq!(is_flagged, expected, "{own_pairs} {flags:?}");
            for honest in ["b", "c"] {
                assert_eq!(flags_of(&table, honest), [], "{honest}");
            }
        };
        check(replays(132, 12), false);
        check(replays(126, 12), false);
        check(replays(104, 12), true);
        check(replays(104, 5), false);
        check(replays(170, 12), false);
    }

    #[test]
    fn flags_speeds_that_do_not_match_the_measurement() {
        let counts = |nodes, speed| WorkerCounts {
            nodes,
            time_us: 10_000_000,
            speed: Some(speed),
            ..WorkerCounts::default()
        };
        let table = table(&[
            ("a", counts(1_000_000, 100.0)),
            // A faster host, as measured.
            ("b", counts(2_000_000, 200.0)),
            ("c", counts(1_050_000, 100.0)),
            // Other load during the games.
            ("d", counts(400_000, 100.0)),
        ]);
        for name in ["a", "b", "c"] {
            assert_eq!(flags_of(&table, name), [], "{name}");
        }
        assert!(matches!(flags_of(&table, "d")[..], [WorkerFlag::Speed { ratio }] if ratio < 0.5));
    }
}
