//! The queue for workers on other hosts, by NATS JetStream.
//!
//! ```text
//!  coordinator                         nats-server                             worker
//!     offer ──────> stream JOBS (work queue, leases by acknowledgement) ──────> take
//!     Report <───── stream RESULTS (stored, deduplicated by pairing) <───────── finish, fail
//!     Report <───── subject `updates` (not stored) <─────────────────────────── report, heartbeat
//!     stop, spec ─> bucket MATCHES (one key per match) ───────────────────────> stop, spec
//!     programs ───> object store FILES (by SHA-256) ──────────────────────────> programs
//! ```
//!
//! Invariants in addition to those of [`super`]:
//! - A worker extends its lease regularly. If it is silent too long, the server delivers the job to another worker.
//! - A result is stored on the server before its job is acknowledged. A coordinator that was offline reads it later,
//!   and the pairing is not replayed.
//! - A worker runs a program only if its owner allows it ([`Permissions`]) with its arguments and options, and only
//!   after verifying its content hash.
//! - A worker probes all engines before its first job, and rejects the match if one does not work. If all workers
//!   have rejected the match for some time, it ends.
//! - Both sides reconnect automatically: the server may be restarted during a match.

mod calibration;
mod connection;
mod coordinator;
mod files;
mod messages;
mod permissions;
mod rejections;
mod worker;

use std::time::Duration;

pub use calibration::{measure_speed, scale_times};
pub use connection::{Access, Connection, Login};
pub use coordinator::NatsDispatcher;
pub use permissions::Permissions;
pub use worker::{Matches, NatsJobs, ProbingGuard, Served};

/// Time without a sign of life after which a job is delivered to another worker.
pub const LEASE: Duration = Duration::from_secs(30);

/// Interval of the heartbeats of workers.
const HEARTBEAT: Duration = Duration::from_secs(3);
