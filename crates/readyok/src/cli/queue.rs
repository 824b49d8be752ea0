//! The arguments of those who meet over a server of NATS.

use std::path::PathBuf;

use readyok_arena::queue::nats::{Access, Login};

use crate::cli::complain;
use crate::cli::secret::read_secret;
use crate::dirs::Env;
use crate::exit::Failure;
use crate::matches::Queue;

/// The address holds a secret, which every user of this machine can read there.
const IN_PROCESS_LIST: &str = "warning: other users can read the credentials of --queue in the process list; \
    use --user and --password-file";

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
    #[arg(long, value_name = "NAME", requires = "queue", conflicts_with_all = ["creds", "nkey"])]
    #[arg(help = "Log in as this user [env: NATS_USER]")]
    user: Option<String>,
    #[arg(long, value_name = "FILE", requires = "queue", conflicts_with_all = ["creds", "nkey"])]
    #[arg(help = "A file with the password of --user, or with a token, that only its owner can \
        access [env: NATS_PASSWORD, NATS_TOKEN]")]
    password_file: Option<PathBuf>,
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
    pub(super) fn queue(&self, env: Env<'_>) -> Result<Option<Queue>, Failure> {
        let Some(server) = self.queue.clone() else { return Ok(None) };
        let access = self.access.access(server, env)?;
        Ok(Some(Queue { access, calibrate: !self.no_calibration }))
    }
}

impl AccessArgs {
    pub(super) fn access(&self, server: String, env: Env<'_>) -> Result<Access, Failure> {
        let mut access = Access {
            server,
            login: None,
            credentials: self.creds.clone(),
            nkey: self.nkey.clone(),
            certificates: self.tls_ca.clone(),
        };
        let in_address = access.is_login_in_address();
        if in_address {
            complain(IN_PROCESS_LIST);
        }
        let is_complete = in_address || self.creds.is_some() || self.nkey.is_some();
        access.login = match self.login(env)? {
            Some(_) if in_address => {
                return Err(Failure::usage("there are credentials in --queue and as arguments"));
            }
            Some(login) => Some(login),
            None if is_complete => None,
            None => login_of(env),
        };
        Ok(access)
    }

    /// What the arguments ask for.
    fn login(&self, env: Env<'_>) -> Result<Option<Login>, Failure> {
        let secret = self.password_file.as_deref().map(read_secret).transpose()?;
        let Some(user) = self.user.clone() else { return Ok(secret.map(Login::Token)) };
        let password = secret.or_else(|| variable(env, "NATS_PASSWORD")).ok_or_else(|| {
            Failure::usage("--user needs --password-file, or NATS_PASSWORD in the environment")
        })?;
        Ok(Some(Login::Password { user, password }))
    }
}

/// What the environment has for the programs of NATS.
fn login_of(env: Env<'_>) -> Option<Login> {
    let user = variable(env, "NATS_USER").zip(variable(env, "NATS_PASSWORD"));
    let user = user.map(|(user, password)| Login::Password { user, password });
    user.or_else(|| variable(env, "NATS_TOKEN").map(Login::Token))
}

fn variable(env: Env<'_>, name: &str) -> Option<String> {
    env(name).and_then(|value| value.into_string().ok()).filter(|value| !value.is_empty())
}
