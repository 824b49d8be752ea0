//! How an engine is started: what `analyse` and `options` have in common.

use readyok_client::Engine;

use crate::address::Address;
use crate::cli::complain;
use crate::messages::Messages;
use crate::registration::Registration;
use crate::timeout::Timeout;

#[derive(Debug, clap::Args)]
pub(super) struct StartArgs {
    /// Maximum time for the handshake and for `readyok`, in seconds (default: 10 and 60 of silence)
    #[arg(long, value_name = "SECONDS")]
    timeout: Option<Timeout>,
    /// Answer `registration error` with `later` or `name NAME code CODE` (default: later)
    #[arg(long, value_name = "REGISTRATION")]
    register: Option<Registration>,
}

impl StartArgs {
    /// The address with what the command line says. That counts more than the list of engines.
    pub(super) fn apply(&self, address: Address) -> Address {
        Address {
            timeout: self.timeout.or(address.timeout),
            registration: self.register.clone().or(address.registration),
            ..address
        }
    }
}

/// Prints bare lines of the engine, except for one that is reported elsewhere, and its status.
pub(super) fn report(messages: &mut Messages, engine: &Engine, elsewhere: Option<&str>) {
    for line in messages.take_lines(elsewhere) {
        complain(&format!("engine `{}` printed `{line}`", engine.name()));
    }
    for status in messages.status(engine) {
        complain(&status);
    }
}
