//! The queue for workers on other hosts, by NATS JetStream.
//!
//! ```text
//!  coordinator                         nats-server                             worker
//!     state ──────> subject `state.MATCH` (also the response to `hello`) ─────> open matches
//!     Ledger <────> request `take.MATCH.WORKER`, response to its inbox <──────> take
//!     Report <───── subject `note.MATCH.WORKER` (not stored) <──────────────── report, renewal, return, rejection
//!     Report <───── stream INBOX of a match, `results.MATCH.WORKER` <───────── finish, fail
//!     results ────> stream RESULTS of a match (those that count, for a takeover)
//!     spec, stop ─> bucket MATCHES (one key per match) ───────────────────────> spec, stop
//!     lease ──────> bucket LEASES (deleted unless renewed)
//!     key ────────> bucket KEYS (for the grants of a match, also of later coordinators)
//!     programs ───> stream FILES (parts, by SHA-256) ─────────────────────────> programs
//!     status ─────> bucket STATUS, at the end HISTORY      bucket WORKERS <─── status
//!     settings of users <── bucket MATCHES (`ID.control`)
//! ```
//!
//! Invariants in addition to those of [`super`]:
//! - A worker is the last token of the subjects on which it sends. In a farm, the server permits only those of the
//!   [name in its credentials](permissions), so that no worker can speak for another one or read its messages.
//! - A worker holds a job by a grant that only coordinators of the match can create. It renews its jobs regularly. If it
//!   is silent too long, another worker gets the job.
//! - A result counts only with the current grant of its sender, and after the referee has replayed it. Results that
//!   contradict the rules are quarantined, and the pairing is offered again. All other messages have no effect.
//! - No message of a worker ends the match. A pairing that three workers could not play is skipped; too many of them
//!   pause the match.
//! - A result is removed from the inbox after it is on the coordinator's disk and in the stream of results. A coordinator
//!   that was offline reads it later, and the pairing is not replayed.
//! - A worker runs a program only if its owner allows it ([`Permissions`]) with its arguments and options, and only
//!   after verifying its content hash.
//! - A worker probes all engines before its first job, and rejects the match if one does not work. It tries again after
//!   increasing delays.
//! - A match has one coordinator, which holds a lease and announces the match. Any host can take over the match of a dead
//!   coordinator: everything that it needs is on the server.
//! - A worker takes jobs of all announced matches, by priority and with equal shares of its time.
//! - Both sides reconnect automatically: the server may be restarted during a match.

mod admin;
mod announcements;
mod connection;
mod coordinator;
mod files;
mod lease;
mod ledger;
mod matches;
mod messages;
pub mod permissions;
mod pool;
mod share;
mod status;
mod worker;

use std::num::NonZeroU64;
use std::time::{Duration, Instant};

use readyok_rules::{Game, Position};

pub use crate::queue::nats::admin::{Admin, AdminError, QueuedMatch};
pub use crate::queue::nats::connection::{Access, AccessError, Connection, Login};
pub use crate::queue::nats::coordinator::{CoordinatorSettings, NatsDispatcher};
pub use crate::queue::nats::files::Permissions;
pub use crate::queue::nats::lease::{OpenError, process_name};
pub use crate::queue::nats::pool::{Cost, Departure, NewMatch, Pool, PooledJob, Slot, TakeResult};
pub use crate::queue::nats::worker::Served;

use crate::plan::{EngineTimeouts, Limits, Plan, TimeControl};
use crate::queue::MatchSpec;

/// Time without a sign of life after which a job is delivered to another worker.
pub const LEASE: Duration = Duration::from_secs(30);

/// Repetitions of the measurement. The fastest one counts, since other load only slows it down.
const ATTEMPTS: u32 = 5;

/// Depth of the perft.
const DEPTH: u32 = 3;

/// Maximum scale factor of times.
const MAX_FACTOR: f64 = 8.0;

/// Measures the speed of this host in perft nodes per second. It takes less than a second.
#[expect(clippy::cast_precision_loss, reason = "far less than 2^53 nodes")]
#[expect(clippy::disallowed_methods, reason = "it measures the host")]
pub fn measure_speed() -> f64 {
    let mut best = Duration::MAX;
    let mut nodes = 0;
    for _ in 0..ATTEMPTS {
        let started = Instant::now();
        nodes = perft(&Position::start(Game::Chess), DEPTH);
        best = best.min(started.elapsed());
    }
    nodes as f64 / best.as_secs_f64().max(1e-9)
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

/// Scales the times of a match from the reference speed to that of this host. Limits of nodes and depth do not change.
/// Without a reference speed nothing changes.
pub fn scale_times(mut spec: MatchSpec, speed: f64) -> MatchSpec {
    let factor = spec.speed.map_or(1.0, |reference| reference / speed);
    if factor.is_finite() {
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
