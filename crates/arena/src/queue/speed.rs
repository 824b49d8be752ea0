//! The speed of a worker, by which times are scaled.

#[cfg(feature = "nats")]
use std::fmt;
use std::time::Duration;

use readyok_rules::{Game, Position, Side};
use serde::{Deserialize, Serialize};

use crate::pairing::PairResult;
use crate::plan::{EngineId, EnginePlan, EngineTimeouts, Limits, Plan};
use crate::time::now;

/// The number of engines whose speed is measured: the first ones of the plan.
pub const MEASURED_ENGINES: usize = 2;

/// Bounds of a speed. No host reaches them.
const SPEEDS: (f64, f64) = (1.0, 1e12);

/// The maximum number of nodes, in multiples of those by the measured speed.
#[cfg(feature = "nats")]
const MAX_NODES: f64 = 3.0;

/// Time that is added to that of all searches of a pair for the maximum number of nodes, in seconds.
#[cfg(feature = "nats")]
const SLACK: f64 = 1.0;

/// Repetitions of the measurement of the host. The fastest one counts, since other load only slows it down.
const ATTEMPTS: u32 = 5;

/// Depth of the perft.
const DEPTH: u32 = 3;

/// A speed in nodes per second.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged, try_from = "RawSpeed")]
pub enum Speed {
    /// Perft nodes of the host, on one CPU. For engines that report no nodes.
    Host(f64),
    /// Nodes of the first engines of the plan, while all slots search.
    Engines(Vec<f64>),
}

#[derive(Deserialize)]
#[serde(untagged)]
enum RawSpeed {
    Host(f64),
    Engines(Vec<f64>),
}

impl TryFrom<RawSpeed> for Speed {
    type Error = &'static str;

    fn try_from(raw: RawSpeed) -> Result<Self, Self::Error> {
        match raw {
            RawSpeed::Host(speed) => Ok(Self::Host(bounded(speed))),
            RawSpeed::Engines(speeds) if (1..=MEASURED_ENGINES).contains(&speeds.len()) => {
                Ok(Self::Engines(speeds.into_iter().map(bounded).collect()))
            }
            RawSpeed::Engines(_) => Err("too many speeds of engines, or none"),
        }
    }
}

/// A speed that another host reports.
pub(crate) fn bounded(speed: f64) -> f64 {
    let (min, max) = SPEEDS;
    // NaN is the minimum.
    speed.max(min).min(max)
}

impl Speed {
    /// The mean speed.
    pub fn value(&self) -> f64 {
        match self {
            Self::Host(speed) => *speed,
            Self::Engines(speeds) => geometric_mean(speeds.iter().copied()),
        }
    }

    /// This speed divided by another one of the same kind.
    pub fn relative_to(&self, other: &Self) -> Option<f64> {
        match (self, other) {
            (Self::Host(one), Self::Host(other)) => Some(one / other),
            (Self::Engines(one), Self::Engines(other)) if one.len() == other.len() => {
                let ratios = one.iter().zip(other).map(|(one, other)| one / other);
                Some(geometric_mean(ratios))
            }
            (Self::Host(_) | Self::Engines(_), _) => None,
        }
    }

    /// The first measured engine that has searched more nodes than a host with this speed can search in its time.
    #[cfg(feature = "nats")]
    pub(crate) fn excess_of(&self, game: Game, result: &PairResult) -> Option<Excess> {
        let Self::Engines(speeds) = self else { return None };
        (0..).map(EngineId).zip(speeds).find_map(|(engine, speed)| {
            let searched = Searched::by(engine, game, result);
            let most = MAX_NODES * speed * (searched.seconds + SLACK);
            (most < searched.nodes).then_some(Excess { engine, nodes: searched.nodes, most })
        })
    }

    /// Measures the speed of this host. It takes less than a second.
    #[expect(clippy::cast_precision_loss, reason = "far less than 2^53 nodes")]
    pub fn of_host() -> Self {
        let mut best = Duration::MAX;
        let mut nodes = 0;
        for _ in 0..ATTEMPTS {
            let started = now();
            nodes = perft(&Position::start(Game::Chess), DEPTH);
            best = best.min(now().saturating_duration_since(started));
        }
        Self::Host(nodes as f64 / best.as_secs_f64().max(1e-9))
    }
}

#[expect(clippy::cast_precision_loss, reason = "a few values")]
fn geometric_mean(values: impl Iterator<Item = f64> + Clone) -> f64 {
    let count = values.clone().count().max(1) as f64;
    (values.map(f64::ln).sum::<f64>() / count).exp()
}

fn perft(position: &Position, depth: u32) -> u64 {
    if depth == 0 {
        return 1;
    }
    let mut nodes = 0;
    for mv in position.legal_moves() {
        let mut next = position.clone();
        if next.play(mv).is_ok() {
            nodes += perft(&next, depth - 1);
        }
    }
    nodes
}

/// More nodes than a host can search.
#[cfg(feature = "nats")]
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Excess {
    engine: EngineId,
    nodes: f64,
    most: f64,
}

#[cfg(feature = "nats")]
impl fmt::Display for Excess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { engine, nodes, most } = self;
        let number = engine.0.saturating_add(1);
        write!(
            f,
            "engine {number} has searched {nodes:.0} nodes, but at most {most:.0} by the measured speed of the worker"
        )
    }
}

/// The searches of an engine that have reported their nodes.
#[derive(Clone, Copy, Debug, Default)]
struct Searched {
    nodes: f64,
    seconds: f64,
}

impl Searched {
    #[expect(clippy::cast_precision_loss, reason = "a rate needs no more precision")]
    fn by(engine: EngineId, game: Game, result: &PairResult) -> Self {
        let mut sum = Self::default();
        let start = result.pairing.opening.turn(game);
        for played in &result.games {
            let turns = [start, start.other()];
            let is_own = |side: &Side| played.engine(*side) == engine;
            for (made, side) in played.moves.iter().zip(turns.into_iter().cycle()) {
                if let Some(nodes) = made.nodes.filter(|_| is_own(&side)) {
                    sum.nodes += nodes as f64;
                    sum.seconds += made.time_us as f64 / 1e6;
                }
            }
        }
        sum
    }
}

/// Whether the speed of the engines of a plan has an effect.
pub fn needs_speed(plan: &Plan) -> bool {
    let has_times = |engine: &EnginePlan| {
        let Limits { tc, byoyomi_ms, move_time_ms, .. } = engine.limits;
        let has_clock = tc.is_some() || byoyomi_ms.is_some() || move_time_ms.is_some();
        has_clock || engine.timeouts != EngineTimeouts::default()
    };
    plan.search_timeout_ms.is_some() || plan.engines.iter().any(has_times)
}

/// Search time of the baseline of a [`SpeedMonitor`], and of each later comparison, in seconds.
const WINDOW: f64 = 30.0;

/// The factor of a speed that has drifted.
const DRIFT: f64 = 1.25;

/// Compares the speed of engines in games with that after the measurement.
#[derive(Clone, Debug)]
pub struct SpeedMonitor {
    game: Game,
    speed: Speed,
    /// Nodes in games divided by those by the measured speed: games differ from the measured positions.
    baseline: Option<f64>,
    current: Ratio,
    has_drifted: bool,
}

#[derive(Clone, Copy, Debug, Default)]
struct Ratio {
    nodes: f64,
    expected: f64,
    seconds: f64,
}

impl SpeedMonitor {
    /// A monitor of a measured speed.
    pub fn new(game: Game, speed: Speed) -> Self {
        Self { game, speed, baseline: None, current: Ratio::default(), has_drifted: false }
    }

    /// Adds a played pair.
    pub fn add(&mut self, result: &PairResult) {
        let Speed::Engines(speeds) = &self.speed else { return };
        for (engine, speed) in (0..).map(EngineId).zip(speeds) {
            let searched = Searched::by(engine, self.game, result);
            self.current.nodes += searched.nodes;
            self.current.expected += searched.seconds * speed;
            self.current.seconds += searched.seconds;
        }
        if self.current.seconds < WINDOW || self.current.expected <= 0.0 {
            return;
        }
        let Ratio { nodes, expected, .. } = std::mem::take(&mut self.current);
        let ratio = nodes / expected;
        let baseline = *self.baseline.get_or_insert(ratio);
        self.has_drifted = !(baseline / DRIFT..=baseline * DRIFT).contains(&ratio);
    }

    /// Whether the speed must be measured again.
    pub fn has_drifted(&self) -> bool {
        self.has_drifted
    }
}

#[cfg(test)]
mod tests;
