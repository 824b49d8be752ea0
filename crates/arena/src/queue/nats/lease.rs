//! The lease of a coordinator: at most one process coordinates a match, and the match of a dead one can be taken over.

use std::time::Duration;

use async_nats::jetstream::kv::{CreateErrorKind, Store, UpdateErrorKind};
use tokio::time::Instant;

use crate::queue::QueueError;
use crate::queue::nats::connection::{Connection, OpenError};
use crate::queue::nats::messages::{CoordinatorLease, LEASES, broken, read_owned, write};
#[cfg(doc)]
use crate::queue::nats::permissions::is_worker_name;

/// The lease of a match. The server deletes it unless it is renewed.
#[derive(Clone, Debug)]
pub(super) struct Lease {
    bucket: Store,
    key: String,
    value: CoordinatorLease,
    revision: u64,
    /// The server deletes the lease after this time.
    timeout: Duration,
}

/// The result of a renewal.
pub(super) enum Renewal {
    Done,
    /// The server does not respond. The lease may end.
    Unavailable,
    /// Another coordinator has taken the match over.
    Lost(String),
}

/// Delay between two attempts to acquire a lease.
const POLL: Duration = Duration::from_millis(200);

impl Lease {
    /// Acquires the lease of a match. Waits for the end of the lease of a dead coordinator.
    pub(super) fn acquire(
        connection: &Connection,
        id: &str,
        lease: Duration,
    ) -> Result<Self, OpenError> {
        let bucket = connection.find_bucket(LEASES)?.ok_or_else(|| broken("no leases"))?;
        let nonce = connection.client.new_inbox();
        let value = CoordinatorLease { coordinator: process_name("coordinator"), nonce };
        let text = write(&value)?;
        // An earlier coordinator may have created the bucket with another time.
        let max_age = connection.request(bucket.status())?.max_age();
        let timeout = if max_age.is_zero() { lease } else { max_age };
        let until = Instant::now() + 2 * timeout;
        let mut held: Option<u64> = None;
        loop {
            let created = connection.request(async {
                Ok::<_, QueueError>(bucket.create(id, text.clone().into()).await)
            })?;
            match created {
                Ok(revision) => {
                    return Ok(Self { bucket, key: id.to_owned(), value, revision, timeout });
                }
                Err(error) if error.kind() == CreateErrorKind::AlreadyExists => {}
                Err(error) => return Err(broken(error).into()),
            }
            let entry = connection.read(|| bucket.entry(id))?;
            if let Some(entry) = entry {
                let is_renewed = held.is_some_and(|revision| revision != entry.revision);
                if is_renewed || Instant::now() > until {
                    let holder = read_owned::<CoordinatorLease>(&entry.value);
                    let by = holder.map_or_else(String::new, |lease| lease.coordinator);
                    return Err(OpenError::Coordinated { id: id.to_owned(), by });
                }
                held = Some(entry.revision);
            }
            connection.sleep(POLL);
        }
    }

    /// The term of a coordinator, which is higher than those of all earlier ones: the revision of the new lease.
    pub(super) fn term(&self) -> u64 {
        self.revision
    }

    /// The interval of renewals.
    pub(super) fn interval(&self) -> Duration {
        self.timeout / 3
    }

    /// Renews the lease, or creates it again after an outage.
    pub(super) async fn renew(&mut self) -> Renewal {
        let Ok(text) = write(&self.value) else { return Renewal::Unavailable };
        match self.bucket.update(&self.key, text.clone().into(), self.revision).await {
            Ok(revision) => {
                self.revision = revision;
                return Renewal::Done;
            }
            Err(error) if error.kind() == UpdateErrorKind::WrongLastRevision => {}
            Err(_) => return Renewal::Unavailable,
        }
        match self.bucket.entry(&self.key).await {
            Ok(Some(entry)) => match read_owned::<CoordinatorLease>(&entry.value) {
                // The response to an earlier renewal was lost.
                Some(value) if value == self.value => {
                    self.revision = entry.revision;
                    return Renewal::Done;
                }
                Some(other) => return Renewal::Lost(other.coordinator),
                // It was deleted.
                None => {}
            },
            Ok(None) => {}
            Err(_) => return Renewal::Unavailable,
        }
        match self.bucket.create(&self.key, text.into()).await {
            Ok(revision) => {
                self.revision = revision;
                Renewal::Done
            }
            Err(_) => Renewal::Unavailable,
        }
    }

    /// Ends the lease, unless it was lost.
    pub(super) async fn release(&self) {
        // If this fails, the lease ends by itself.
        let _ = self.bucket.delete_expect_revision(&self.key, Some(self.revision)).await;
    }
}

/// A unique name of this process, which is [valid for a worker](is_worker_name): the host name, or another one, and the
/// process id.
pub fn process_name(without_host: &str) -> String {
    let host = std::fs::read_to_string("/etc/hostname").unwrap_or_default();
    let is_valid = |letter: &char| letter.is_ascii_alphanumeric() || "-_".contains(*letter);
    let first = host.trim().split('.').next().unwrap_or_default();
    let host: String = first.chars().filter(is_valid).take(MAX_HOST_LEN).collect();
    let host = if host.is_empty() { without_host } else { &host };
    format!("{host}-{}", std::process::id())
}

/// The maximum length of a host name in the name of a process.
const MAX_HOST_LEN: usize = 20;
