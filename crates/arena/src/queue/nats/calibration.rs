//! How fast a machine is, so that a second on it can be made worth as much as on another one.

use std::num::NonZeroU64;
use std::time::{Duration, Instant};

use readyok_rules::{Game, Position};

use crate::plan::{EngineTimeouts, Limits, Plan, TimeControl};
use crate::queue::MatchSpec;

/// How often the measurement is repeated. The best one counts, since others disturb but never help.
const ATTEMPTS: u32 = 5;

/// Plies of the tree that is walked.
const DEPTH: u32 = 3;

/// Time on a machine is stretched or pressed at most so much.
const MOST: f64 = 8.0;

/// Measures the speed of this machine, in positions per second of a walk through legal moves, which
/// is the same kind of work as that of an engine. It takes less than a second.
#[expect(clippy::cast_precision_loss, reason = "far less than 2^53 positions")]
#[expect(clippy::disallowed_methods, reason = "it measures the machine")]
pub fn measure_speed() -> f64 {
    let mut best = Duration::MAX;
    let mut positions = 0;
    for _ in 0..ATTEMPTS {
        let started = Instant::now();
        positions = walk(&Position::start(Game::Chess), DEPTH);
        best = best.min(started.elapsed());
    }
    positions as f64 / best.as_secs_f64().max(1e-9)
}

fn walk(position: &Position, depth: u32) -> u64 {
    if depth == 0 {
        return 1;
    }
    let mut positions = 0;
    for mv in position.legal_moves() {
        let mut next = position.clone();
        if next.play(mv).is_ok() {
            positions += walk(&next, depth - 1);
        }
    }
    positions
}

/// The order with its times made longer on a machine that is slower than the coordinator's, and
/// shorter on one that is faster, so that engines see as much there. Nodes and depth stay, and so does
/// everything if the coordinator has told no speed.
pub fn scale_times(mut spec: MatchSpec, here: f64) -> MatchSpec {
    let factor = spec.speed.map_or(1.0, |coordinator| coordinator / here);
    if factor.is_finite() {
        scale(&mut spec.plan, factor.clamp(1.0 / MOST, MOST));
    }
    spec
}

fn scale(plan: &mut Plan, factor: f64) {
    for engine in &mut plan.engines {
        engine.limits = scaled_limits(engine.limits, factor);
        engine.timeouts = EngineTimeouts {
            handshake_ms: engine.timeouts.handshake_ms.map(|most| longer(most, factor)),
            ready_ms: engine.timeouts.ready_ms.map(|most| longer(most, factor)),
        };
    }
    plan.search_timeout_ms = plan.search_timeout_ms.map(|most| longer(most, factor));
}

/// Timeouts are never shortened: an unused one costs nothing.
fn longer(limit: NonZeroU64, factor: f64) -> NonZeroU64 {
    NonZeroU64::new(scaled_millis(limit.get(), factor.max(1.0))).unwrap_or(limit)
}

fn scaled_limits(limits: Limits, factor: f64) -> Limits {
    let millis = |millis: u64| scaled_millis(millis, factor);
    let time = |time: Duration| {
        Duration::from_millis(millis(u64::try_from(time.as_millis()).unwrap_or(u64::MAX)))
    };
    Limits {
        tc: limits.tc.map(|tc| TimeControl {
            moves: tc.moves,
            time: time(tc.time),
            increment: time(tc.increment),
            hourglass: tc.hourglass,
        }),
        byoyomi_ms: limits.byoyomi_ms.map(millis),
        move_time_ms: limits.move_time_ms.map(millis),
        // What the machine needs to hand on a move does not depend on what the engine does.
        ..limits
    }
}

fn scaled_millis(millis: u64, factor: f64) -> u64 {
    let scaled = Duration::from_millis(millis).mul_f64(factor).as_millis();
    u64::try_from(scaled).unwrap_or(millis).max(u64::from(millis > 0))
}
