//! The arguments of those who meet over a server of NATS.

use std::path::PathBuf;

use readyok_arena::queue::nats::Access;

use crate::matches::Queue;

#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Over several machines")]
pub(super) struct QueueArgs {
    /// Hand out pairings to workers over a server of NATS with JetStream
    #[arg(long, value_name = "nats://HOST[:PORT]")]
    queue: Option<String>,
    #[command(flatten)]
    access: AccessArgs,
    /// Leave times as they are on workers of another speed
    #[arg(long, requires = "queue")]
    no_calibration: bool,
}

#[derive(Debug, clap::Args)]
pub(super) struct AccessArgs {
    /// A file with NATS credentials
    #[arg(long, value_name = "FILE", requires = "queue")]
    creds: Option<PathBuf>,
    /// A file with the seed of an NKey
    #[arg(long, value_name = "FILE", requires = "queue")]
    nkey: Option<PathBuf>,
    /// A file with certificates to trust, for TLS
    #[arg(long, value_name = "FILE", requires = "queue")]
    tls_ca: Option<PathBuf>,
}

impl QueueArgs {
    pub(super) fn queue(&self) -> Option<Queue> {
        let server = self.queue.clone()?;
        Some(Queue { access: self.access.access(server), calibrate: !self.no_calibration })
    }
}

impl AccessArgs {
    pub(super) fn access(&self, server: String) -> Access {
        Access {
            server,
            credentials: self.creds.clone(),
            nkey: self.nkey.clone(),
            certificates: self.tls_ca.clone(),
        }
    }
}
