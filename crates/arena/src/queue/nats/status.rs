//! The states of matches and workers that are published for users.

use std::collections::VecDeque;

use serde::{Deserialize, Deserializer, Serialize};

use crate::event::{End, Rating, Score, TestState};
use crate::match_state::{MatchState, Point};
use crate::plan::Plan;
use crate::queue::WorkerId;
use crate::time::unix_ms;
use crate::worker_stats::{WorkerRow, WorkerTable};

/// Bounds of a speed that a worker reports. No host reaches them.
const SPEEDS: (f64, f64) = (1.0, 1e12);

/// Reads the speed of a worker.
fn bounded_speed<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    let (min, max) = SPEEDS;
    f64::deserialize(deserializer).map(|speed| speed.clamp(min, max))
}

/// As [`bounded_speed`], of a worker that may not report it.
pub(super) fn bounded_speed_if_known<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<f64>, D::Error> {
    let (min, max) = SPEEDS;
    let speed = Option::<f64>::deserialize(deserializer)?;
    Ok(speed.map(|speed| speed.clamp(min, max)))
}

/// An invalid result, in the stream of quarantined results.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct QuarantinedResult {
    /// The worker.
    pub worker: WorkerId,
    /// The index of the pairing.
    pub index: u64,
    /// The contradiction.
    pub why: String,
    /// The time of its arrival in milliseconds since 1970.
    pub at_ms: u64,
}

/// The published state of a match.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct MatchStatus {
    /// The number of game pairs of the plan; in a knockout, the maximum; 0 without a limit.
    pub total: u64,
    /// The number of complete pairs.
    pub pairs: u64,
    /// The number of games of these pairs.
    pub games: u64,
    /// The scores of all encounters.
    pub scores: Vec<Score>,
    /// The state of the test, if the plan has one.
    pub test: Option<TestState>,
    /// Elo of the first engine, of a match of two.
    pub elo: Option<Rating>,
    /// Elo and LLR by the number of pairs, of a match of two.
    pub curve: Vec<CurvePoint>,
    /// The workers with results.
    pub workers: Vec<WorkerRow>,
    /// The number of invalid results.
    pub invalid: u64,
    /// The latest invalid results.
    pub quarantine: VecDeque<QuarantinedResult>,
    /// The latest warnings.
    pub warnings: VecDeque<String>,
    /// The reason of the end.
    pub end: Option<End>,
    /// The time of the latest change in milliseconds since 1970.
    pub updated_ms: u64,
}

/// A point of the curves of a match.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct CurvePoint {
    /// The number of complete pairs.
    pub pairs: u64,
    /// Elo of the first engine.
    pub elo: Option<f64>,
    /// Half the width of the 95 % confidence interval.
    pub error: Option<f64>,
    /// The log-likelihood ratio of the test.
    pub llr: Option<f64>,
}

/// The published state of a worker. It is deleted a minute after its last update.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WorkerStatus {
    /// The name.
    pub name: String,
    /// The version of the program.
    pub version: String,
    /// Operating system and architecture.
    pub system: String,
    /// The number of available CPUs.
    pub cores: usize,
    /// The number of parallel game pairs.
    pub slots: usize,
    /// The measured speed of the host, in perft nodes per second.
    #[serde(deserialize_with = "bounded_speed")]
    pub speed: f64,
    /// Start time in milliseconds since 1970.
    pub started_ms: u64,
    /// Time of this state in milliseconds since 1970.
    pub updated_ms: u64,
    /// What it does.
    pub activity: WorkerActivity,
    /// The pairs that it plays.
    pub playing: Vec<PlayedPair>,
    /// The number of finished pairs.
    pub finished: u64,
    /// The matches that it rejects, with the reasons.
    pub rejected: Vec<RejectedMatch>,
}

/// What a worker does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WorkerActivity {
    /// It plays.
    Playing,
    /// It waits for jobs.
    Idle,
    /// It finishes or returns its pairs, and exits.
    Leaving,
}

/// A pair that a worker plays.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlayedPair {
    /// The identifier of the match.
    #[serde(rename = "match")]
    pub id: String,
    /// The index of the pairing.
    pub pair: u64,
    /// Start time in milliseconds since 1970.
    pub since_ms: u64,
}

/// A match that a worker rejects.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RejectedMatch {
    /// The identifier of the match.
    #[serde(rename = "match")]
    pub id: String,
    /// The reason.
    pub why: String,
}

/// Maximum number of points of a curve. More points are thinned out.
const MAX_POINTS: usize = 400;

/// Maximum number of published warnings and invalid results.
const MAX_ENTRIES: usize = 20;

/// Maximum length of a published text in characters.
const MAX_TEXT: usize = 300;

/// Builds the published state of a match: a view of its state, and what only the queue knows.
#[derive(Debug, Default)]
pub(super) struct StatusBuilder {
    workers: WorkerTable,
    status: MatchStatus,
    changed: bool,
}

impl StatusBuilder {
    pub(super) fn workers_mut(&mut self) -> &mut WorkerTable {
        self.changed = true;
        &mut self.workers
    }

    /// Shows the results of the match.
    pub(super) fn show(&mut self, state: &MatchState) {
        self.changed = true;
        let (plan, status) = (state.plan(), &mut self.status);
        status.total = if plan.is_unlimited() { 0 } else { state.total() };
        (status.pairs, status.games) = (state.pairs(), state.games());
        // The options of a tuning differ from pair to pair: a score of plus against minus has no meaning.
        status.scores = if plan.tune.is_some() { Vec::new() } else { state.scores() };
        status.test = state.test();
        status.elo = state.point().map(|point| point.elo);
        let curve = state.curve();
        let stride = curve.len().div_ceil(MAX_POINTS - 1).max(1);
        let last = curve.last().filter(|_| !curve.len().saturating_sub(1).is_multiple_of(stride));
        let points = curve.iter().step_by(stride).chain(last);
        status.curve = points.map(|point| CurvePoint::from(*point)).collect();
    }

    pub(super) fn add_quarantined(&mut self, mut entry: QuarantinedResult) {
        self.changed = true;
        self.status.invalid += 1;
        entry.worker.0 = shortened(&entry.worker.0);
        entry.why = shortened(&entry.why);
        push(&mut self.status.quarantine, entry);
    }

    pub(super) fn warn(&mut self, text: &str) {
        self.changed = true;
        push(&mut self.status.warnings, shortened(text));
    }

    pub(super) fn finish(&mut self, end: &End) {
        self.status.end = Some(end.clone());
        self.update();
    }

    pub(super) fn status(&self) -> &MatchStatus {
        &self.status
    }

    /// The state, if it has changed since the last call.
    pub(super) fn take_changed(&mut self) -> Option<MatchStatus> {
        std::mem::take(&mut self.changed).then(|| {
            self.update();
            self.status.clone()
        })
    }

    fn update(&mut self) {
        self.status.workers = self.workers.rows();
        self.status.updated_ms = unix_ms();
    }
}

impl From<Point> for CurvePoint {
    fn from(Point { pairs, elo: Rating { elo, error }, llr, .. }: Point) -> Self {
        Self { pairs, elo, error, llr }
    }
}

fn push<T>(list: &mut VecDeque<T>, entry: T) {
    if list.len() >= MAX_ENTRIES {
        list.pop_front();
    }
    list.push_back(entry);
}

/// A text of another host, which may have any length.
fn shortened(text: &str) -> String {
    text.chars().take(MAX_TEXT).collect()
}

/// The name of a match for users: its event, or its engines.
pub(super) fn name_of(plan: &Plan) -> String {
    if !plan.event.is_empty() {
        return plan.event.clone();
    }
    let names: Vec<&str> = plan.engines.iter().map(|engine| engine.name.as_str()).collect();
    names.join(" vs ")
}

impl WorkerStatus {
    /// The key in the bucket: other characters are not permitted.
    pub(super) fn key(name: &str) -> String {
        let is_valid = |letter: char| letter.is_ascii_alphanumeric() || "-_=".contains(letter);
        let key = name.chars().map(|letter| if is_valid(letter) { letter } else { '_' });
        let key: String = key.take(128).collect();
        if key.is_empty() { "_".to_owned() } else { key }
    }
}

#[cfg(test)]
mod tests {
    use readyok_rules::Side;

    use super::*;
    use crate::match_state::tests::{pair, plan};
    use crate::plan::GamesPerPairing;

    #[test]
    fn a_long_match_has_a_short_curve() {
        let mut state = MatchState::new(&plan(2, GamesPerPairing::Two), 3000);
        for index in 0..3000 {
            state.add(&pair(index, &(0, 1, vec![Some(Side::First), None], false)));
            if index % 100 == 0 || index > 2990 {
                let mut status = StatusBuilder::default();
                status.show(&state);
                let MatchStatus { pairs, total, curve, scores, .. } = status.status();
                assert!(curve.len() <= MAX_POINTS && curve.is_sorted_by_key(|it| it.pairs));
                assert_eq!(curve.last().map(|it| it.pairs), Some(*pairs));
                assert_eq!((*pairs, *total, scores[0].wins), (index + 1, 3000, index + 1));
            }
        }
    }

    #[test]
    fn speeds_of_workers_are_bounded() {
        for (text, expected) in
            [("1e308", 1e12), ("-1e308", 1.0), ("0", 1.0), ("1e-300", 1.0), ("2500000", 2.5e6)]
        {
            let status = format!(
                r#"{{"name":"a","version":"1","system":"linux","cores":1,"slots":1,"speed":{text},
                "started_ms":0,"updated_ms":0,"activity":"idle","playing":[],"finished":0,"rejected":[]}}"#
            );
            let status: WorkerStatus = serde_json::from_str(&status).expect("a status");
            assert!((status.speed - expected).abs() < 1e-9, "{text}: {}", status.speed);
        }
    }
}
