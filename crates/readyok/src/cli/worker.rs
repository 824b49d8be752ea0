//! `readyok worker`, and the arguments of matches and workers for a NATS server.

use std::error::Error;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use readyok_arena::build::{BuildLimits, Builder};
use readyok_arena::plan::EnginePlan;
use readyok_arena::plan::source::check_repository;
use readyok_arena::queue::MatchSpec;
use readyok_arena::queue::nats::permissions::{OWNER, is_worker_name, name_in_credentials};
use readyok_arena::queue::nats::{
    Access, AccessError, Admin, Connection, Login, OpenError, Permissions, QueuedMatch,
    process_name,
};
use readyok_arena::store::ContentHash;
use readyok_client::Guard;
use readyok_client::unstable::split_command_line;

use crate::connect::start_guard;
use crate::dirs::{self, Env};
use crate::exit::{Code, Failure};
use crate::matches::{Queue, Worker, engine_plan};
use crate::secrets::{NATS_PASSWORD, NATS_TOKEN, NATS_USER};
use crate::terminal::print_error;

const HELP: &str = "\
A worker runs only programs that its owner has allowed: local programs (--engine), programs with a given SHA-256 (--allow), or all programs of a match (--allow-any, for dedicated hosts). A program gets only the arguments given with it, and no environment variables. Options that could name a file need --allow-option. Commits are built only of repositories that --allow-repository names: a build runs their code.

Examples:
  readyok worker --queue nats://10.0.0.1 --slots 4 \\
      --engine /usr/games/stockfish --engine ./new
  readyok worker --queue nats://10.0.0.1 --engine narikin \\
      --engine \"./old --uci\" --allow-option SyzygyPath
  readyok worker --queue tls://matches.example.org --creds me.creds \\
      --slots 16 --allow-any
  readyok worker --queue nats://10.0.0.1 --user me \\
      --password-file nats.password --engine narikin";

/// Play games for matches that run on other hosts
#[derive(Debug, clap::Args)]
#[command(after_help = HELP)]
pub(super) struct Args {
    /// Connect to this NATS server
    #[arg(long, value_name = "URL")]
    queue: String,
    #[command(flatten)]
    access: AccessArgs,
    /// Play N pairings concurrently; 0: as many as the CPUs allow, considering threads and pondering
    #[arg(long, value_name = "N", default_value_t = 1)]
    slots: u16,
    /// Pin engines to these CPUs, or to all CPUs; limits the number of slots
    #[arg(long, value_name = "CPU", value_delimiter = ',', num_args = 0..)]
    pin: Option<Vec<usize>>,
    /// Allow a local engine, with exactly these arguments
    #[arg(long, value_name = "PROGRAM [ARGS]")]
    engine: Vec<String>,
    /// Allow programs with this SHA-256 from any source, with exactly these arguments
    #[arg(long, value_name = "SHA256 [ARGS]")]
    allow: Vec<String>,
    /// Allow any value of this option, even if it is a string or could name a file
    #[arg(long, value_name = "NAME")]
    allow_option: Vec<String>,
    /// Allow all programs and options of a match
    #[arg(long)]
    allow_any: bool,
    /// Build and play the commits of this Git repository, also with --allow-any
    #[arg(long, value_name = "URL")]
    allow_repository: Vec<String>,
    #[command(flatten)]
    build: BuildArgs,
    /// Store delivered programs in this directory
    #[arg(long, value_name = "DIRECTORY")]
    cache: Option<PathBuf>,
    /// Set the name of the worker [default: the name in --creds, or host name and process id]
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// Exit after this time without a match, in seconds; downloads and starts of engines do not count
    #[arg(long, value_name = "SECONDS")]
    idle: Option<u64>,
}

/// Limits of builds.
#[derive(Debug, Default, clap::Args)]
#[command(next_help_heading = "Builds of Git repositories")]
#[expect(clippy::struct_field_names, reason = "the names of the arguments")]
pub(super) struct BuildArgs {
    #[arg(
        long,
        value_name = "SECONDS",
        help = "Maximum time of a build [default: 900]",
        value_parser = clap::value_parser!(u64).range(1..=86_400)
    )]
    build_time: Option<u64>,
    #[arg(
        long,
        value_name = "MIB",
        help = "Maximum memory of each process of a build (Unix) [default: 8192]",
        value_parser = clap::value_parser!(u64).range(64..=1 << 24)
    )]
    build_memory: Option<u64>,
    #[arg(
        long,
        value_name = "MIB",
        help = "Maximum size of the directory of a build [default: 4096]",
        value_parser = clap::value_parser!(u64).range(1..=1 << 24)
    )]
    build_disk: Option<u64>,
    /// Permit the network to build commands, for example to download dependencies
    #[arg(long)]
    build_network: bool,
}

impl BuildArgs {
    /// The builder of a match on this host, with its programs in the state directory.
    pub(super) fn local(&self, guard: &Guard) -> Builder {
        let directory = dirs::state(&dirs::env).unwrap_or_else(std::env::temp_dir);
        self.builder(directory.join("builds"), guard)
    }

    pub(super) fn builder(&self, directory: PathBuf, guard: &Guard) -> Builder {
        let default = BuildLimits::default();
        let limits = BuildLimits {
            time: self.build_time.map_or(default.time, Duration::from_secs),
            memory: self.build_memory.map_or(default.memory, |mib| mib << 20),
            disk: self.build_disk.map_or(default.disk, |mib| mib << 20),
            network: self.build_network,
        };
        Builder::new(directory, limits, Some(guard.clone()))
    }
}

pub(super) fn run(args: Args) -> Result<Code, Failure> {
    let mut permissions =
        if args.allow_any { Permissions::anything() } else { Permissions::default() };
    let cache = args.cache.or_else(|| Some(dirs::state(&dirs::env)?.join("programs")));
    let cache =
        cache.ok_or_else(|| Failure::usage("no directory for programs: set one with --cache"))?;
    let guard = start_guard().map_err(Failure::failed)?;
    for text in &args.allow {
        let (content, args) = content(text)?;
        permissions.allow_content(content, &args);
    }
    for name in &args.allow_option {
        permissions.allow_option(name);
    }
    if !args.allow_repository.is_empty() {
        for repository in &args.allow_repository {
            check_repository(repository).map_err(Failure::usage)?;
        }
        let builder = args.build.builder(cache.join("builds"), &guard);
        print_error(&builder.limits_text());
        permissions.allow_builds(args.allow_repository.into_iter().collect(), builder);
    }
    let engines = args.engine.iter().map(|text| program(text)).collect::<Result<_, _>>()?;
    let worker = Worker {
        access: args.access.access(args.queue, &dirs::env)?,
        permissions,
        engines,
        cache,
        slots: usize::from(args.slots),
        pin: args.pin,
        name: name_of(args.name, args.access.creds.as_deref())?,
        idle: args.idle.map(Duration::from_secs),
        guard,
    };
    worker.work(print_error).map_err(queue_failure)?;
    Ok(Code::Done)
}

/// The name of a worker. In a farm, it is the one in the credentials: the server permits no other one.
fn name_of(name: Option<String>, credentials: Option<&Path>) -> Result<String, Failure> {
    let known = match credentials {
        Some(path) => std::fs::read_to_string(path).ok().as_deref().and_then(name_in_credentials),
        None => None,
    };
    match (name, known) {
        (_, Some(known)) if known == OWNER => Err(Failure::usage(
            "these are the credentials of the owner: enrol a worker with `readyok farm invite`",
        )),
        (Some(name), Some(known)) if is_worker_name(&known) && name != known => {
            Err(Failure::usage(format!("--name is `{name}`, the credentials are for `{known}`")))
        }
        (None, Some(known)) if is_worker_name(&known) => Ok(known),
        (Some(name), _) if is_worker_name(&name) => Ok(name),
        (Some(name), _) => Err(Failure::usage(format!(
            "`{}` is not the name of a worker: use up to 32 letters, digits, `-` and `_`, or OWNER/NAME",
            name.escape_debug()
        ))),
        (None, _) => Ok(process_name("worker")),
    }
}

/// A failure of a queue. A server that cannot be used is a usage error: nothing was started.
pub(super) fn queue_failure(error: impl Into<Box<dyn Error>>) -> Failure {
    let error = error.into();
    let is_of_server = matches!(error.downcast_ref::<OpenError>(), Some(OpenError::Storage { .. }));
    if is_of_server || error.is::<AccessError>() {
        Failure::usage(error)
    } else {
        Failure::failed(error)
    }
}

/// Parses a local program and its arguments.
fn program(text: &str) -> Result<EnginePlan, Failure> {
    let engine = engine_plan(text, &dirs::env).map_err(Failure::usage)?;
    if engine.command.contains("://") {
        return Err(Failure::usage(format!("`{text}` is not a local program")));
    }
    Ok(engine)
}

/// Parses the hash of a program and its arguments.
fn content(text: &str) -> Result<(ContentHash, Vec<String>), Failure> {
    let tokens = split_command_line(text).unwrap_or_default();
    let Some((content, args)) = tokens.split_first() else {
        return Err(Failure::usage(format!("`{text}` is not a SHA-256 with arguments")));
    };
    Ok((content.parse().map_err(Failure::usage)?, args.to_vec()))
}

const IN_PROCESS_LIST: &str = "warning: other users can read the credentials of --queue in the process list; \
    use --user and --password-file";

#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Distributed matches")]
pub(super) struct QueueArgs {
    /// Distribute pairings to workers with a NATS server with JetStream
    #[arg(long, value_name = "URL")]
    queue: Option<String>,
    #[command(flatten)]
    access: AccessArgs,
    /// Do not scale times on slower or faster workers
    #[arg(long, requires = "queue")]
    no_calibration: bool,
    /// Set the priority of the match: workers play matches with a higher one first
    #[arg(
        long,
        value_name = "N",
        requires = "queue",
        default_value_t = 0,
        allow_negative_numbers = true
    )]
    priority: i32,
    /// Set the time in seconds after which a silent worker loses its game pair, and a silent coordinator its match
    #[arg(long, value_name = "SECONDS", requires = "queue", default_value_t = 30, value_parser = clap::value_parser!(u64).range(2..=3600))]
    lease: u64,
    /// Coordinate a match of the queue whose coordinator has ended, by its ID or name
    #[arg(
        long,
        value_name = "ID",
        requires = "queue",
        conflicts_with_all = ["resume", "no_calibration", "priority"]
    )]
    take_over: Option<String>,
}

/// A match of the queue that is taken over.
pub(super) struct TakenOver {
    pub(super) found: QueuedMatch,
    pub(super) spec: MatchSpec,
    /// The opening file on this host.
    pub(super) openings: Option<PathBuf>,
}

#[derive(Debug, clap::Args)]
pub(super) struct AccessArgs {
    #[arg(long, value_name = "NAME", requires = "queue", conflicts_with_all = ["creds", "nkey"])]
    #[arg(help = "Log in as this user [env: NATS_USER]")]
    pub(super) user: Option<String>,
    #[arg(long, value_name = "FILE", requires = "queue", conflicts_with_all = ["creds", "nkey"])]
    #[arg(
        help = "Read the password of --user, or a token, from this file, which only its owner can access \
        [env: NATS_PASSWORD, NATS_TOKEN]"
    )]
    pub(super) password_file: Option<PathBuf>,
    /// Read NATS credentials from this file
    #[arg(long, value_name = "FILE", requires = "queue")]
    pub(super) creds: Option<PathBuf>,
    /// Read the seed of an NKey from this file
    #[arg(long, value_name = "FILE", requires = "queue")]
    pub(super) nkey: Option<PathBuf>,
    /// Trust the TLS certificates in this file
    #[arg(long, value_name = "FILE", requires = "queue")]
    pub(super) tls_ca: Option<PathBuf>,
}

impl QueueArgs {
    pub(super) fn queue(&self, env: Env<'_>) -> Result<Option<Queue>, Failure> {
        let Some(server) = self.queue.clone() else { return Ok(None) };
        let access = self.access.access(server, env)?;
        let (calibrate, priority) = (!self.no_calibration, self.priority);
        let lease = Duration::from_secs(self.lease);
        Ok(Some(Queue { access, calibrate, priority, lease, taken_over: None }))
    }

    /// The match that is taken over, with its files.
    pub(super) fn taken_over(&self, queue: &Queue) -> Result<Option<TakenOver>, Failure> {
        let Some(text) = &self.take_over else { return Ok(None) };
        let connection = Connection::open(&queue.access).map_err(queue_failure)?;
        let admin = Admin::new(&connection);
        let found = admin.find(text).map_err(Failure::failed)?;
        let spec = admin.spec(&found).map_err(Failure::failed)?;
        let cache = dirs::state(&dirs::env).map(|state| state.join("openings"));
        let cache = cache.unwrap_or_else(std::env::temp_dir);
        let openings = admin.openings(&spec, &cache).map_err(Failure::failed)?;
        Ok(Some(TakenOver { found, spec, openings }))
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
            print_error(IN_PROCESS_LIST);
        }
        let is_complete = in_address || self.creds.is_some() || self.nkey.is_some();
        access.login = match self.login(env)? {
            Some(_) if in_address => {
                return Err(Failure::usage(
                    "credentials are given both in --queue and as arguments",
                ));
            }
            Some(login) => Some(login),
            None if is_complete => None,
            None => login_of(env),
        };
        Ok(access)
    }

    /// The login in the arguments.
    fn login(&self, env: Env<'_>) -> Result<Option<Login>, Failure> {
        let secret = self.password_file.as_deref().map(read_secret).transpose()?;
        let Some(user) = self.user.clone() else { return Ok(secret.map(Login::Token)) };
        let password = secret.or_else(|| variable(env, NATS_PASSWORD)).ok_or_else(|| {
            Failure::usage(format!(
                "--user needs --password-file, or {NATS_PASSWORD} in the environment"
            ))
        })?;
        Ok(Some(Login::Password { user, password }))
    }
}

/// The login in the environment variables of NATS.
fn login_of(env: Env<'_>) -> Option<Login> {
    let user = variable(env, NATS_USER).zip(variable(env, NATS_PASSWORD));
    let user = user.map(|(user, password)| Login::Password { user, password });
    user.or_else(|| variable(env, NATS_TOKEN).map(Login::Token))
}

fn variable(env: Env<'_>, name: &str) -> Option<String> {
    env(name).and_then(|value| value.into_string().ok()).filter(|value| !value.is_empty())
}

/// Fails if other users can read a file.
pub(super) fn check_private(file: &Path) -> Result<std::fs::Metadata, Failure> {
    let wrong = |why: String| Failure::usage(format!("`{}`: {why}", file.display()));
    let metadata = file.metadata().map_err(|error| wrong(error.to_string()))?;
    #[cfg(unix)]
    if std::os::unix::fs::PermissionsExt::mode(&metadata.permissions()) & 0o077 != 0 {
        return Err(wrong("other users can read it (run chmod 600)".to_owned()));
    }
    Ok(metadata)
}

/// Maximum size of a file with a secret, in bytes.
const MAX_SECRET_SIZE: u64 = 4096;

/// Reads a secret from a file, which keeps it out of the process list. Other users must not be able to read
/// the file.
pub(super) fn read_secret(file: &Path) -> Result<String, Failure> {
    let wrong = |why: String| Failure::usage(format!("`{}`: {why}", file.display()));
    let metadata = check_private(file)?;
    if MAX_SECRET_SIZE < metadata.len() {
        return Err(wrong(io::Error::from(io::ErrorKind::FileTooLarge).to_string()));
    }
    let text = std::fs::read_to_string(file).map_err(|error| wrong(error.to_string()))?;
    Ok(text.trim_end_matches(['\r', '\n']).to_owned())
}
