//! Times of a match that are scaled by the speed of a worker.

use std::num::NonZeroU64;
use std::time::Duration;

use crate::plan::{EngineTimeouts, Limits, Plan, TimeControl};
use crate::queue::speed::Speed;
use crate::spec::MatchSpec;

/// Maximum scale factor of times.
const MAX_FACTOR: f64 = 8.0;

/// Scales the times of a match from the reference speed to that of this host. Limits of nodes and depth do not change.
/// Without both speeds nothing changes.
pub fn scale_times(mut spec: MatchSpec, speed: Option<&Speed>) -> MatchSpec {
    let factor =
        spec.speed.as_ref().zip(speed).and_then(|(reference, speed)| reference.relative_to(speed));
    if let Some(factor) = factor.filter(|factor| factor.is_finite()) {
        scale(&mut spec.plan, factor.clamp(1.0 / MAX_FACTOR, MAX_FACTOR));
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
        // The margin covers the latency of the runner, not the time of the engine.
        ..limits
    }
}

fn scaled_millis(millis: u64, factor: f64) -> u64 {
    let scaled = Duration::from_millis(millis).mul_f64(factor).as_millis();
    u64::try_from(scaled).unwrap_or(millis).max(u64::from(millis > 0))
}
