//! Results and speed of each worker of a match, and the detection of anomalous workers.

use std::collections::BTreeMap;
use std::fmt;

use readyok_rules::{Side, Termination};
use serde::{Deserialize, Serialize};

use crate::pairing::{PairResult, WorkerId};
use crate::result::MatchGame;
use crate::stats::homogeneity;

/// Maximum number of workers with counts of their own.
const MAX_WORKERS: usize = 500;

/// The probability of a false alarm per match and test. It is divided by the number of workers.
const SIGNIFICANCE: f64 = 0.001;

/// Factor between the relative speed of a worker and the median of all workers that counts as anomalous.
const MAX_SPEED_RATIO: f64 = 1.6;

/// Minimum search time for a comparison of speeds, in microseconds.
const MIN_TIME_US: u64 = 5_000_000;

/// Minimum number of workers for a comparison of speeds.
const MIN_WORKERS: usize = 3;

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
            Self::Invalid { count } => write!(f, "{count} invalid results"),
        }
    }
}

impl WorkerTable {
    /// Counts an accepted pair. Pairs of this process are not counted.
    pub fn add(&mut self, pair: &PairResult) {
        let Some(counts) = pair.worker.as_ref().and_then(|worker| self.counts_mut(worker)) else {
            return;
        };
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

    /// Removes the results of accepted pairs. Counts of invalid results and speeds remain.
    pub fn clear_results(&mut self) {
        for counts in self.rows.values_mut() {
            let (invalid, speed) = (counts.invalid, counts.speed);
            *counts = WorkerCounts { invalid, speed, ..WorkerCounts::default() };
        }
    }

    /// All workers by name, with their anomalies.
    pub fn rows(&self) -> Vec<WorkerRow> {
        let median = self.median_speed();
        let row = |(worker, counts): (&WorkerId, &WorkerCounts)| WorkerRow {
            worker: worker.clone(),
            counts: counts.clone(),
            nps: counts.nps(),
            flags: self.flags(worker, counts, median),
        };
        self.rows.iter().map(row).collect()
    }

    fn counts_mut(&mut self, worker: &WorkerId) -> Option<&mut WorkerCounts> {
        let is_full = self.rows.len() >= MAX_WORKERS && !self.rows.contains_key(worker);
        (!is_full).then(|| self.rows.entry(worker.clone()).or_default())
    }

    #[expect(clippy::cast_precision_loss, reason = "at most 500 workers")]
    fn flags(
        &self,
        worker: &WorkerId,
        counts: &WorkerCounts,
        median: Option<f64>,
    ) -> Vec<WorkerFlag> {
        let others: Vec<&WorkerCounts> = self
            .rows
            .iter()
            .filter(|(name, _)| *name != worker)
            .map(|(_, counts)| counts)
            .collect();
        let limit = SIGNIFICANCE / self.rows.len().max(1) as f64;
        let sum =
            |of: fn(&WorkerCounts) -> u64| others.iter().map(|counts| of(counts)).sum::<u64>();
        let mut flags = Vec::new();
        let results = if counts.pentanomial.iter().any(|count| *count > 0) {
            homogeneity(&counts.pentanomial, &sum_of(&others, |counts| counts.pentanomial))
        } else {
            homogeneity(&counts.trinomial, &sum_of(&others, |counts| counts.trinomial))
        };
        flags.extend(results.filter(|p| *p < limit).map(|p| WorkerFlag::Results { p }));
        // Only more failures than elsewhere are an anomaly.
        let excess = |failures: u64, of: fn(&WorkerCounts) -> u64| {
            let (other, games) = (sum(of), sum(|counts| counts.games));
            let is_more = failures.saturating_mul(games) > other.saturating_mul(counts.games);
            let split = |failures: u64, games: u64| [failures, games.saturating_sub(failures)];
            let p = homogeneity(&split(failures, counts.games), &split(other, games));
            p.filter(|p| is_more && *p < limit)
        };
        let time_losses = excess(counts.time_losses, |counts| counts.time_losses);
        flags.extend(time_losses.map(|p| WorkerFlag::TimeLosses { p }));
        let crashes = excess(counts.crashes, |counts| counts.crashes);
        flags.extend(crashes.map(|p| WorkerFlag::Crashes { p }));
        let ratio = counts.relative_speed().zip(median).map(|(own, median)| own / median);
        let is_normal = |ratio: &f64| (1.0 / MAX_SPEED_RATIO..=MAX_SPEED_RATIO).contains(ratio);
        flags.extend(
            ratio.filter(|ratio| !is_normal(ratio)).map(|ratio| WorkerFlag::Speed { ratio }),
        );
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

fn sum_of<const N: usize>(counts: &[&WorkerCounts], of: fn(&WorkerCounts) -> [u64; N]) -> [u64; N] {
    let mut sums = [0; N];
    for counts in counts {
        for (sum, count) in sums.iter_mut().zip(of(counts)) {
            *sum += count;
        }
    }
    sums
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

    fn flags(table: &WorkerTable, name: &str) -> Vec<WorkerFlag> {
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
        assert_eq!(flags(&table, "a"), []);
        assert!(matches!(flags(&table, "c")[..], [WorkerFlag::Results { .. }]));
        assert!(matches!(flags(&table, "d")[..], [WorkerFlag::TimeLosses { .. }]));
        assert!(matches!(flags(&table, "e")[..], [WorkerFlag::Crashes { .. }]));
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
            assert_eq!(flags(&table, name), [], "{name}");
        }
        assert!(matches!(flags(&table, "d")[..], [WorkerFlag::Speed { ratio }] if ratio < 0.5));
    }
}
