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
//!     key, audits > bucket KEYS (for later coordinators; workers cannot read it)
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
//! - Workers of other owners play some pairs again, or replay their games. An audit changes no result, and a worker is
//!   excluded only by the equal games of two other owners.
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
mod audits;
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

use std::time::Duration;

pub use crate::queue::nats::admin::{Admin, AdminError, QueuedMatch};
pub use crate::queue::nats::connection::{Access, AccessError, Connection, Login, OpenError};
pub use crate::queue::nats::coordinator::{CoordinatorSettings, NatsDispatcher};
pub use crate::queue::nats::files::Permissions;
pub use crate::queue::nats::lease::process_name;
pub use crate::queue::nats::pool::{
    Cost, Departure, Load, NewMatch, Pool, PooledJob, ReservedUnits, Slot, TakeResult,
};
pub use crate::queue::nats::worker::Served;

/// Time without a sign of life after which a job is delivered to another worker.
pub const LEASE: Duration = Duration::from_secs(30);
