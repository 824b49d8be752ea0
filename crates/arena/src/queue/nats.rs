//! The queue over several machines, by NATS JetStream.
//!
//! ```text
//!  coordinator                         nats-server                             worker
//!     offer ──────> stream JOBS (work queue, leases by acknowledgement) ──────> take
//!     Report <───── stream RESULTS (kept, deduplicated by pairing) <─────────── finish, fail
//!     Report <───── subject `told` (lost if nobody listens) <────────────────── tell, alive, refused
//!     stop, MatchSpec ─> bucket MATCHES (one key for each match) ─────────────────> stop, MatchSpec
//!     programs ────> object store FILES (by SHA-256) ─────────────────────────> programs
//! ```
//!
//! What holds beyond what [`super`] says:
//! - A worker keeps its lease by telling that it still plays. If it is silent too long, the
//!   server gives the job to another one.
//! - A result is on the server's disk before its job is acknowledged. A coordinator that was down
//!   finds it when it comes back, and does not have the pairing played again.
//! - A worker runs a program only if its owner has allowed it ([`Permissions`]) with its arguments and
//!   options, and only after its content was found to be what the order names.
//! - A worker on whose machine an engine of the match does not work has no results: it tries all
//!   engines before its first job, and refuses the match. If for some time nobody was there but
//!   workers that refuse, the match ends.
//! - Both sides reconnect by themselves, so that the server may be started anew in between.

mod calibration;
mod connection;
mod coordinator;
mod files;
mod messages;
mod names;
mod permissions;
mod rejections;
mod worker;

use std::time::Duration;

pub use calibration::{measure_speed, scale_times};
pub use connection::{Access, Connection, Login};
pub use coordinator::NatsDispatcher;
pub use permissions::Permissions;
pub use worker::{Matches, NatsJobs, ProbeNotice, Served};

/// How long a worker may be silent before its job is given to another one.
pub const LEASE: Duration = Duration::from_secs(30);

/// How often a worker tells that it is there.
const HEARTBEAT: Duration = Duration::from_secs(3);
