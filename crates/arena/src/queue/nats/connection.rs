//! A synchronous connection to the NATS server, the messages in JSON, and the names of streams and subjects.

use std::error::Error as _;
use std::fmt;
use std::future::Future;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use async_nats::jetstream::context::{GetStreamError, GetStreamErrorKind, KeyValueError};
use async_nats::jetstream::kv::Store;
use async_nats::jetstream::message::PublishMessage;
use async_nats::jetstream::object_store::ObjectStore;
use async_nats::jetstream::stream::{Config, DiscardPolicy, StorageType};
use async_nats::jetstream::{Context, ErrorCode, object_store};
use async_nats::{Client, ConnectOptions, ServerAddr, jetstream};
use serde::{Deserialize, Serialize};
use tokio::runtime::{Builder, Runtime};
use tokio::time::Instant;

use crate::pairing::PairResult;
use crate::queue::{MatchSpec, Progress, QueueError, Rejection, Stop, WorkerId};
use crate::store::ContentHash;

/// Address and credentials of the server.
#[derive(Clone, Default)]
pub struct Access {
    /// The address: `nats://host:port` or `tls://…`, optionally with `user:password@` or `token@`.
    pub server: String,
    /// The login, which overrides that of the address.
    pub login: Option<Login>,
    /// A credentials file (JWT and NKey).
    pub credentials: Option<PathBuf>,
    /// A file with the seed of an NKey.
    pub nkey: Option<PathBuf>,
    /// A file with root certificates, in addition to those of the system.
    pub certificates: Option<PathBuf>,
}

/// Login of a client.
#[derive(Clone)]
pub enum Login {
    /// User name and password.
    Password {
        /// The user name.
        user: String,
        /// The password.
        password: String,
    },
    /// A token.
    Token(String),
}

impl Access {
    /// Whether the address contains a password or a token.
    pub fn is_login_in_address(&self) -> bool {
        self.server.parse().is_ok_and(|address| login_in(&address).is_some())
    }
}

/// The login in an address. The parser of addresses does not percent-decode it.
fn login_in(address: &ServerAddr) -> Option<Login> {
    let user = percent_decoded(address.username()?);
    Some(match address.password().map(percent_decoded) {
        Some(password) => Login::Password { user, password },
        None => Login::Token(user),
    })
}

/// A connection with its own thread, which reconnects automatically.
#[derive(Clone)]
pub struct Connection {
    runtime: Arc<Runtime>,
    pub(super) client: Client,
    pub(super) stream: Context,
}

/// Timeout of a request to the server.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(20);

/// Delay before a retry.
pub(super) const RETRY_DELAY: Duration = Duration::from_millis(500);

impl Connection {
    /// Connects.
    ///
    /// # Errors
    /// The server cannot be reached, or rejects the login.
    pub fn open(access: &Access) -> Result<Self, QueueError> {
        let runtime = Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("nats")
            .enable_all()
            .build()
            .map_err(broken)?;
        let client = runtime.block_on(connect(access))?;
        // Needs the runtime, since it spawns a task.
        let stream = runtime.block_on(async { jetstream::new(client.clone()) });
        Ok(Self { runtime: Arc::new(runtime), client, stream })
    }

    /// Sends a request and waits for the response.
    pub(super) fn request<T, E: fmt::Display>(
        &self,
        request: impl Future<Output = Result<T, E>>,
    ) -> Result<T, QueueError> {
        self.runtime.block_on(async {
            match tokio::time::timeout(REQUEST_TIMEOUT, request).await {
                Ok(answer) => answer.map_err(broken),
                Err(_) => Err(broken("the server does not respond")),
            }
        })
    }

    /// Publishes a message persistently and returns its sequence number. Retries during an outage, as long as
    /// `is_needed`; otherwise returns `None`. The server deduplicates messages with the same name.
    pub(super) fn publish(
        &self,
        subject: &str,
        text: &[u8],
        name: &str,
        max_outage: Duration,
        is_needed: impl Fn() -> bool,
    ) -> Result<Option<u64>, QueueError> {
        let since = Instant::now();
        loop {
            let message = PublishMessage::build().payload(text.to_vec().into()).message_id(name);
            let sent = self.request(async {
                match self.stream.send_publish(subject.to_owned(), message).await {
                    Ok(ack) => ack.await,
                    Err(error) => Err(error),
                }
            });
            match sent {
                Err(error) if since.elapsed() > max_outage => return Err(error),
                Err(_) if !is_needed() => return Ok(None),
                Err(_) => self.sleep(RETRY_DELAY),
                Ok(ack) => return Ok(Some(ack.sequence)),
            }
        }
    }

    /// Waits for a future that has its own deadline.
    pub(super) fn wait<T>(&self, event: impl Future<Output = T>) -> T {
        self.runtime.block_on(event)
    }

    pub(super) fn sleep(&self, time: Duration) {
        self.runtime.block_on(async { tokio::time::sleep(time).await });
    }

    pub(super) fn spawn(
        &self,
        task: impl Future<Output = ()> + Send + 'static,
    ) -> tokio::task::JoinHandle<()> {
        self.runtime.spawn(task)
    }

    /// Opens or creates the bucket of open matches.
    ///
    /// Its stream is created explicitly: to create a bucket, `async-nats` requests account information, whose response
    /// of servers before 2.10 (as in Debian) it cannot parse.
    pub(super) fn create_matches(&self) -> Result<Store, QueueError> {
        let config = Config {
            name: format!("KV_{MATCHES}"),
            subjects: vec![format!("$KV.{MATCHES}.>")],
            max_messages_per_subject: 1,
            discard: DiscardPolicy::New,
            storage: StorageType::File,
            allow_rollup: true,
            deny_delete: true,
            allow_direct: true,
            ..Config::default()
        };
        self.request(self.stream.get_or_create_stream(config))?;
        self.request(self.stream.get_key_value(MATCHES))
    }

    /// Opens the bucket of open matches; `None` if no coordinator has created it. Workers need no permission to create
    /// it.
    pub(super) fn find_matches(&self) -> Result<Option<Store>, QueueError> {
        let result =
            self.request(async { Ok::<_, QueueError>(self.stream.get_key_value(MATCHES).await) });
        match result? {
            Ok(matches) => Ok(Some(matches)),
            Err(error) if is_missing(&error) => Ok(None),
            Err(error) => Err(broken(error)),
        }
    }

    /// The stop state of a match, if the server responds. A deleted match counts as aborted.
    pub(super) fn stop_of(&self, id: &str) -> Option<Stop> {
        let matches = self.find_matches().ok()??;
        match self.request(matches.get(id)).ok()? {
            Some(value) => read::<OpenMatch>(&value)?.stop,
            None => Some(Stop::Abort),
        }
    }

    /// Opens the store of programs and files.
    pub(super) fn find_files(&self) -> Result<ObjectStore, QueueError> {
        self.request(self.stream.get_object_store(FILES))
    }

    /// Opens or creates the store of programs and files.
    pub(super) fn create_files(&self) -> Result<ObjectStore, QueueError> {
        let config =
            object_store::Config { bucket: FILES.to_owned(), ..object_store::Config::default() };
        self.request(self.stream.create_object_store(config))
    }
}

/// Whether the stream does not exist.
fn is_missing(error: &KeyValueError) -> bool {
    let source = error.source().and_then(|source| source.downcast_ref::<GetStreamError>());
    source.is_some_and(|error| match error.kind() {
        GetStreamErrorKind::JetStream(error) => error.error_code() == ErrorCode::STREAM_NOT_FOUND,
        GetStreamErrorKind::EmptyName
        | GetStreamErrorKind::Request
        | GetStreamErrorKind::InvalidStreamName => false,
    })
}

async fn connect(access: &Access) -> Result<Client, QueueError> {
    let mut options = ConnectOptions::new().name("readyok").connection_timeout(REQUEST_TIMEOUT);
    let server: ServerAddr = access.server.parse().map_err(broken)?;
    // The client ignores the login of the address.
    match access.login.clone().or_else(|| login_in(&server)) {
        Some(Login::Password { user, password }) => {
            options = options.user_and_password(user, password);
        }
        Some(Login::Token(token)) => options = options.token(token),
        None => {}
    }
    if let Some(path) = &access.credentials {
        options = options.credentials_file(path).await.map_err(broken)?;
    }
    if let Some(path) = &access.nkey {
        let seed = std::fs::read_to_string(path).map_err(broken)?;
        options = options.nkey(seed.trim().to_owned());
    }
    if let Some(path) = &access.certificates {
        options = options.add_root_certificates(path.clone()).require_tls(true);
    }
    options.connect(server).await.map_err(broken)
}

/// Percent-decodes a part of an address.
fn percent_decoded(part: &str) -> String {
    let mut bytes = Vec::with_capacity(part.len());
    let mut rest = part.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let digits = after.get(..2).filter(|it| it.iter().all(u8::is_ascii_hexdigit));
        let digits = digits.and_then(|digits| str::from_utf8(digits).ok());
        let byte = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        if let Some(byte) = byte.filter(|_| *first == b'%') {
            bytes.push(byte);
            rest = after.get(2..).unwrap_or_default();
        } else {
            bytes.push(*first);
            rest = after;
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Omits secrets.
impl fmt::Debug for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Access").finish_non_exhaustive()
    }
}

/// Omits secrets.
impl fmt::Debug for Login {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Login").finish_non_exhaustive()
    }
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connection").finish_non_exhaustive()
    }
}

/// The value of a match in the bucket of open matches.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct OpenMatch {
    pub(super) spec: MatchSpec,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) stop: Option<Stop>,
}

/// The end of a job, in the stream of results.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Ended {
    Done {
        worker: WorkerId,
        result: PairResult,
    },
    Failed {
        index: u64,
        why: String,
    },
    /// The maximum of deliveries is reached. The next worker publishes this message: it is stored for a coordinator
    /// that is offline.
    Lost {
        index: u64,
    },
}

impl Ended {
    pub(super) fn index(&self) -> u64 {
        match self {
            Self::Done { result, .. } => result.pairing.index,
            Self::Failed { index, .. } | Self::Lost { index } => *index,
        }
    }
}

/// A message of a worker whose delivery is not guaranteed.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct WorkerMessage {
    pub(super) worker: WorkerId,
    pub(super) update: WorkerUpdate,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum WorkerUpdate {
    /// A heartbeat.
    Alive,
    /// The worker probes the engines of the match before its first job.
    Probing,
    /// The worker rejects the match.
    Rejected { why: Rejection },
    /// The worker leaves.
    Left,
    /// The worker has taken a job.
    Taken { index: u64 },
    /// The worker has given a job back.
    Returned { index: u64 },
    /// Progress of a job.
    Progress { index: u64, progress: Progress },
}

/// Maximum length of messages. A pairing of two very long games is far below.
const MAX_LEN: usize = 16 << 20;

pub(super) fn read<'a, T: Deserialize<'a>>(payload: &'a [u8]) -> Option<T> {
    if payload.len() > MAX_LEN {
        return None;
    }
    // Malformed messages are ignored.
    serde_json::from_slice(payload).ok()
}

pub(super) fn write(value: &impl Serialize) -> Result<Vec<u8>, QueueError> {
    serde_json::to_vec(value).map_err(broken)
}

pub(super) fn broken(error: impl fmt::Display) -> QueueError {
    QueueError { text: error.to_string() }
}

/// The bucket of open matches.
const MATCHES: &str = "READYOK_MATCHES";

/// The object store of programs and files.
const FILES: &str = "READYOK_FILES";

/// The durable consumer shared by all workers.
pub(super) const WORKERS: &str = "workers";

/// The names of one match.
#[derive(Clone, Debug)]
pub(super) struct Names {
    /// The key in the bucket.
    pub(super) id: String,
    /// The stream of jobs, and its subject.
    pub(super) jobs: String,
    pub(super) jobs_subject: String,
    /// The stream of results, and its subject.
    pub(super) results: String,
    pub(super) results_subject: String,
    /// The subject of [`WorkerMessage`]s.
    pub(super) updates: String,
}

impl Names {
    pub(super) fn of(plan: ContentHash) -> Self {
        // Half of the hash is unique enough.
        let id: String = plan.to_string().chars().take(32).collect();
        let jobs = format!("READYOK_JOBS_{id}");
        Self {
            jobs_subject: format!("readyok.{id}.jobs"),
            results: format!("READYOK_RESULTS_{id}"),
            results_subject: format!("readyok.{id}.results"),
            updates: format!("readyok.{id}.updates"),
            jobs,
            id,
        }
    }
}
