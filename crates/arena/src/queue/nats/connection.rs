//! A synchronous connection to the NATS server.

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error as _;
use std::fmt;
use std::future::Future;
use std::io;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use async_nats::jetstream::context::{
    CreateStreamError, CreateStreamErrorKind, DeleteStreamErrorKind, GetStreamError,
    GetStreamErrorKind, KeyValueError,
};
use async_nats::jetstream::kv::Store;
use async_nats::jetstream::stream::{Config, DiscardPolicy, StorageType, Stream};
use async_nats::jetstream::{Context, ErrorCode};
use async_nats::{
    Client, ClientError, ConnectErrorKind, ConnectOptions, Event, RequestErrorKind, ServerAddr,
    StatusCode, connection, jetstream,
};
use futures_util::TryStreamExt as _;
use serde::de::DeserializeOwned;
use tokio::runtime::{Builder, Runtime};
use tokio::time::Instant;

use crate::queue::nats::messages::{
    HISTORY, KEYS, LEASES, MATCHES, OpenMatch, QUARANTINE, STATUS, WORKER_STATUS, broken,
    read_owned,
};
use crate::queue::{QueueError, Stop};

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

    /// The address without the login.
    pub fn address(&self) -> String {
        match self.server.rsplit_once('@') {
            Some((before, host)) => match before.split_once("://") {
                Some((scheme, _)) => format!("{scheme}://{host}"),
                None => host.to_owned(),
            },
            None => self.server.clone(),
        }
    }

    pub(super) fn error(&self, why: impl fmt::Display) -> AccessError {
        AccessError { server: self.address(), why: why.to_string() }
    }
}

/// A server that cannot be used. Nothing was started.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no queue at {}: {}", .server, .why)]
pub struct AccessError {
    /// The address, without the login.
    pub server: String,
    /// The reason.
    pub why: String,
}

/// A match cannot be opened for workers.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// The queue has failed.
    #[error(transparent)]
    Queue(#[from] QueueError),
    /// Another process coordinates the match. An equal plan with an equal seed is the same match.
    #[error(
        "match `{}` is coordinated by `{}` already: an equal plan with an equal seed is the same match; use another seed",
        id.get(..8).unwrap_or(id), by.escape_debug()
    )]
    Coordinated {
        /// The identifier of the match.
        id: String,
        /// The other coordinator.
        by: String,
    },
    /// The server has too little storage.
    #[error(
        "the server has no {least_mb} MB of storage for the queue: free space on its disk, or raise `max_file_store` of its `jetstream` configuration"
    )]
    Storage {
        /// What the queue reserves.
        least_mb: i64,
    },
}

fn is_without_storage(error: &CreateStreamError) -> bool {
    matches!(error.kind(), CreateStreamErrorKind::JetStream(why)
        if why.error_code() == ErrorCode::STORAGE_RESOURCES_EXCEEDED)
}

/// Whether the same request may succeed soon.
fn is_temporary(error: &CreateStreamError) -> bool {
    match error.kind() {
        CreateStreamErrorKind::TimedOut => true,
        CreateStreamErrorKind::JetStream(_) => !is_without_storage(error),
        _ => false,
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
    runtime: Arc<OwnRuntime>,
    pub(super) client: Client,
    pub(super) stream: Context,
    has_verified_names: bool,
    /// Whether the server has rejected the login of the last attempt to reconnect.
    is_rejected: Arc<AtomicBool>,
}

/// A runtime that can be dropped anywhere. The last owner of a connection may be a task of another runtime, where
/// dropping a [`Runtime`] panics, because it waits for its threads.
struct OwnRuntime(Option<Runtime>);

impl Drop for OwnRuntime {
    fn drop(&mut self) {
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}

impl Deref for OwnRuntime {
    type Target = Runtime;

    fn deref(&self) -> &Runtime {
        #[expect(clippy::expect_used, reason = "only `drop` removes it")]
        self.0.as_ref().expect("the runtime exists until it is dropped")
    }
}

/// Timeout of a request to the server.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(20);

/// Timeout of an attempt to read.
const READ_TIMEOUT: Duration = Duration::from_secs(5);

/// Attempts of a request that may be repeated.
const ATTEMPTS: u32 = 4;

/// Timeout of a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// Time after which the state of a silent worker is deleted.
pub(super) const WORKER_STATUS_AGE: Duration = Duration::from_mins(1);

/// The default of the server. It must not exceed the maximum age of messages.
const MAX_DUPLICATE_WINDOW: Duration = Duration::from_mins(2);

/// Older invalid results are deleted.
const MAX_QUARANTINE_BYTES: i64 = 256 << 20;

/// Delay before a retry.
pub(super) const RETRY_DELAY: Duration = Duration::from_millis(500);

/// Boxes the future, since the code of the runtime is compiled for each type of future.
fn block_on<T>(runtime: &Runtime, future: impl Future<Output = T>) -> T {
    let mut output = None;
    let boxed: Pin<Box<dyn Future<Output = ()> + '_>> =
        Box::pin(async { output = Some(future.await) });
    runtime.block_on(boxed);
    #[expect(clippy::expect_used, reason = "the future has set it")]
    output.expect("the future is complete")
}

impl Connection {
    /// Connects as a coordinator or a user, and checks that the server has JetStream.
    ///
    /// # Errors
    /// The server cannot be reached, rejects the login, or has no JetStream.
    pub fn open(access: &Access) -> Result<Self, AccessError> {
        let this = Self::connect(access, None)?;
        // JetStream may be disabled for the account.
        this.find_matches().map_err(|error| access.error(error.text))?;
        Ok(this)
    }

    /// Connects as a worker with this name. Responses arrive at an inbox that no other worker of a farm may read.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub(super) fn open_as_worker(access: &Access, name: &str) -> Result<Self, AccessError> {
        Self::connect(access, Some(name))
    }

    fn connect(access: &Access, worker: Option<&str>) -> Result<Self, AccessError> {
        let runtime = Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("nats")
            .enable_all()
            .build()
            .map_err(|error| access.error(error))?;
        let is_rejected = Arc::new(AtomicBool::new(false));
        let client = connect(access, worker, Arc::clone(&is_rejected));
        let client = block_on(&runtime, client).map_err(|why| access.error(why))?;
        // Needs the runtime, since it spawns a task.
        let stream = block_on(&runtime, async {
            let mut stream = jetstream::new(client.clone());
            stream.set_timeout(REQUEST_TIMEOUT);
            stream
        });
        let runtime = Arc::new(OwnRuntime(Some(runtime)));
        let has_verified_names = access.credentials.is_some();
        let this = Self { runtime, client, stream, has_verified_names, is_rejected };
        if !this.client.server_info().jetstream {
            return Err(access.error("the server has no JetStream; start `nats-server` with `-js`"));
        }
        Ok(this)
    }

    /// Sends a request and waits for the response.
    pub(super) fn request<T, E: fmt::Display>(
        &self,
        request: impl Future<Output = Result<T, E>>,
    ) -> Result<T, QueueError> {
        self.wait(async {
            match tokio::time::timeout(REQUEST_TIMEOUT, request).await {
                Ok(answer) => answer.map_err(broken),
                Err(_) => Err(broken("the server does not respond")),
            }
        })
    }

    /// Sends a request that changes nothing, and repeats it if no response arrives: servers of version 2.9 lose direct
    /// requests while others create the same stream.
    pub(super) fn read<T, E: fmt::Display, F: Future<Output = Result<T, E>>>(
        &self,
        request: impl Fn() -> F,
    ) -> Result<T, QueueError> {
        self.wait(async {
            for _ in 0..ATTEMPTS {
                if let Ok(answer) = tokio::time::timeout(READ_TIMEOUT, request()).await {
                    return answer.map_err(broken);
                }
            }
            Err(broken("the server does not respond"))
        })
    }

    /// Opens a stream, and creates it if it does not exist. Repeats a request without response, and one that fails because
    /// another coordinator creates the stream at the same time.
    pub(super) fn open_stream(&self, config: &Config) -> Result<Stream, CreateStreamError> {
        let mut attempts = 1;
        loop {
            match self.wait(self.stream.get_or_create_stream(config.clone())) {
                Err(error) if is_temporary(&error) && attempts < ATTEMPTS => {
                    attempts += 1;
                    self.sleep(RETRY_DELAY);
                }
                opened => return opened,
            }
        }
    }

    /// Deletes a stream if it exists. Repeats a request without response.
    pub(super) fn delete_stream(&self, name: &str) -> Result<(), QueueError> {
        let mut attempts = 1;
        loop {
            let Err(error) = self.wait(self.stream.delete_stream(name)) else { return Ok(()) };
            match error.kind() {
                DeleteStreamErrorKind::JetStream(error)
                    if error.error_code() == ErrorCode::STREAM_NOT_FOUND =>
                {
                    return Ok(());
                }
                DeleteStreamErrorKind::Request if attempts < ATTEMPTS => attempts += 1,
                _ => return Err(broken(error)),
            }
        }
    }

    /// Publishes a message persistently. Retries during an outage, or as long as the server has no room for it, while
    /// `is_needed`; otherwise returns false.
    pub(super) fn publish(
        &self,
        subject: &str,
        text: &[u8],
        max_outage: Duration,
        is_needed: impl Fn() -> bool,
    ) -> Result<bool, QueueError> {
        let since = Instant::now();
        loop {
            let text = text.to_vec().into();
            let sent = self.request(async {
                match self.stream.publish(subject.to_owned(), text).await {
                    Ok(ack) => ack.await,
                    Err(error) => Err(error),
                }
            });
            match sent {
                Err(error) if since.elapsed() > max_outage => return Err(error),
                Err(_) if !is_needed() => return Ok(false),
                Err(_) => self.sleep(RETRY_DELAY),
                Ok(_) => return Ok(true),
            }
        }
    }

    /// The last message of a subject in a stream, if it has one. It needs only the permission for this request.
    pub(super) async fn last_message(
        &self,
        stream: &str,
        subject: &str,
    ) -> Result<Option<Vec<u8>>, QueueError> {
        let request = format!("$JS.API.DIRECT.GET.{stream}.{subject}");
        match self.client.request(request, "".into()).await {
            Ok(message) => match message.status {
                None => Ok(Some(message.payload.to_vec())),
                Some(StatusCode::NOT_FOUND) => Ok(None),
                Some(status) => Err(broken(format!("the server responds {status}"))),
            },
            // The stream does not exist.
            Err(error) if error.kind() == RequestErrorKind::NoResponders => Ok(None),
            Err(error) => Err(broken(error)),
        }
    }

    /// An open match.
    pub(super) fn open_match(&self, id: &str) -> Result<Option<OpenMatch>, QueueError> {
        let subject = format!("$KV.{MATCHES}.{id}");
        let stream = format!("KV_{MATCHES}");
        let value = self.read(|| self.last_message(&stream, &subject))?;
        Ok(value.as_deref().and_then(read_owned))
    }

    /// Waits for a future that has its own deadline.
    pub(super) fn wait<T>(&self, event: impl Future<Output = T>) -> T {
        block_on(&self.runtime, event)
    }

    pub(super) fn sleep(&self, time: Duration) {
        self.wait(async { tokio::time::sleep(time).await });
    }

    pub(super) fn spawn(
        &self,
        task: impl Future<Output = ()> + Send + 'static,
    ) -> tokio::task::JoinHandle<()> {
        self.runtime.spawn(task)
    }

    /// Creates the bucket in which workers publish their states, which they may not do themselves.
    pub(super) fn create_workers(&self) -> Result<(), QueueError> {
        self.create_bucket(WORKER_STATUS, WORKER_STATUS_AGE)?;
        self.deny_rollup(WORKER_STATUS)
    }

    /// Creates the buckets and streams of the queue, for a coordinator whose leases end after this time.
    pub(super) fn create_queue(&self, lease: Duration) -> Result<Store, OpenError> {
        self.create_bucket(LEASES, lease)?;
        self.create_bucket(STATUS, Duration::ZERO)?;
        self.create_bucket(HISTORY, Duration::ZERO)?;
        self.create_workers()?;
        let quarantine = Config {
            name: QUARANTINE.to_owned(),
            subjects: vec!["readyok.quarantine.*".to_owned()],
            max_bytes: MAX_QUARANTINE_BYTES,
            storage: StorageType::File,
            ..Config::default()
        };
        // The only stream that reserves storage.
        match self.open_stream(&quarantine) {
            Ok(_) => {}
            Err(error) if is_without_storage(&error) => {
                return Err(OpenError::Storage { least_mb: MAX_QUARANTINE_BYTES >> 20 });
            }
            Err(error) => return Err(broken(error).into()),
        }
        Ok(self.create_bucket(MATCHES, Duration::ZERO)?)
    }

    /// Opens or creates a bucket. Values are deleted after this time, if it is not zero.
    ///
    /// Its stream is created explicitly: to create a bucket, `async-nats` requests account information, whose response
    /// of servers before 2.10 (as in Debian) it cannot parse.
    fn create_bucket(&self, name: &str, max_age: Duration) -> Result<Store, QueueError> {
        let config = Config {
            name: format!("KV_{name}"),
            subjects: vec![format!("$KV.{name}.>")],
            max_messages_per_subject: 1,
            max_age,
            duplicate_window: max_age.min(MAX_DUPLICATE_WINDOW),
            discard: DiscardPolicy::New,
            storage: StorageType::File,
            allow_rollup: true,
            deny_delete: true,
            allow_direct: true,
            ..Config::default()
        };
        self.open_stream(&config).map_err(broken)?;
        self.read(|| self.stream.get_key_value(name))
    }

    /// Otherwise a worker could delete the values of all others with its own one: a header of a message replaces the
    /// whole stream.
    fn deny_rollup(&self, name: &str) -> Result<(), QueueError> {
        let stream = self.read(|| self.stream.get_stream(format!("KV_{name}")))?;
        let config = stream.cached_info().config.clone();
        if config.allow_rollup {
            let config = Config { allow_rollup: false, ..config };
            self.request(self.stream.update_stream(config))?;
        }
        Ok(())
    }

    /// Opens a bucket; `None` if no coordinator has created it. Workers need no permission to create it.
    pub(super) fn find_bucket(&self, name: &str) -> Result<Option<Store>, QueueError> {
        let result =
            self.read(|| async { Ok::<_, QueueError>(self.stream.get_key_value(name).await) });
        match result? {
            Ok(matches) => Ok(Some(matches)),
            Err(error) if is_missing(&error) => Ok(None),
            Err(error) => Err(broken(error)),
        }
    }

    /// Opens the bucket of open matches, if it exists.
    pub(super) fn find_matches(&self) -> Result<Option<Store>, QueueError> {
        self.find_bucket(MATCHES)
    }

    /// The keys of a bucket.
    pub(super) fn keys(&self, bucket: &Store) -> Result<BTreeSet<String>, QueueError> {
        // A consumer, as in `Store::keys`, ends when no messages are pending, which may never be true while values change.
        self.request(async {
            let subjects = bucket.stream.info_with_subjects(">").await.map_err(broken)?;
            let subjects: Vec<(String, usize)> = subjects.try_collect().await.map_err(broken)?;
            let keys = subjects.iter().filter_map(|(name, _)| name.strip_prefix(&bucket.prefix));
            Ok::<_, QueueError>(keys.map(str::to_owned).collect())
        })
    }

    /// The readable values of a bucket. Other values are omitted.
    pub(super) fn values<T: DeserializeOwned>(
        &self,
        bucket: &str,
    ) -> Result<BTreeMap<String, T>, QueueError> {
        let Some(bucket) = self.find_bucket(bucket)? else { return Ok(BTreeMap::new()) };
        let mut values = BTreeMap::new();
        for key in self.keys(&bucket)? {
            if let Some(value) = self.value(&bucket, &key)? {
                values.insert(key, value);
            }
        }
        Ok(values)
    }

    /// A value of a bucket; `None` if it is missing or unreadable.
    pub(super) fn value<T: DeserializeOwned>(
        &self,
        bucket: &Store,
        key: &str,
    ) -> Result<Option<T>, QueueError> {
        let value = self.read(|| bucket.get(key))?;
        Ok(value.as_deref().and_then(|value| read_owned(value)))
    }

    /// Deletes a value, without the marker that `Store::delete` leaves behind for good.
    pub(super) fn delete(&self, bucket: &Store, key: &str) -> Result<(), QueueError> {
        let subject = format!("{}{key}", bucket.prefix);
        self.request(bucket.stream.purge().filter(subject).into_future()).map(drop)
    }

    /// The stop state of a match, if the server responds. A deleted match counts as aborted.
    pub(super) fn stop_of(&self, id: &str) -> Option<Stop> {
        self.open_match(id).ok()?.map_or(Some(Stop::Abort), |open| open.stop)
    }

    /// The secret key of a match, for grants of its jobs. A new match has a new one.
    pub(super) fn match_key(&self, id: &str, is_new: bool) -> Result<Vec<u8>, QueueError> {
        let bucket = self.create_bucket(KEYS, Duration::ZERO)?;
        let known = self.read(|| bucket.get(id))?;
        if let Some(known) = known.filter(|known| !is_new && known.len() == KEY_BYTES) {
            return Ok(known.to_vec());
        }
        let mut key = vec![0; KEY_BYTES];
        getrandom::fill(&mut key).map_err(broken)?;
        self.request(bucket.put(id, key.clone().into()))?;
        Ok(key)
    }

    /// Why there is no connection to the server now.
    pub(super) fn outage(&self) -> Option<Outage> {
        if self.client.connection_state() == connection::State::Connected {
            None
        } else if self.is_rejected.load(Ordering::Relaxed) {
            Some(Outage::Rejected)
        } else {
            Some(Outage::Unreachable)
        }
    }

    /// Whether the server proves the names of workers: it has the configuration of a farm.
    pub(super) fn has_verified_names(&self) -> bool {
        self.has_verified_names
    }
}

/// The reason of a missing connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outage {
    /// The server cannot be reached.
    Unreachable,
    /// The server rejects the login, for example after a revocation.
    Rejected,
}

/// The length of the key of a match.
const KEY_BYTES: usize = 32;

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

/// The reason of a rejected login.
pub(super) const REJECTED: &str = "the server rejects the login";

/// The texts of rejected logins in events.
static REJECTIONS: LazyLock<[String; 2]> = LazyLock::new(|| {
    [ConnectErrorKind::AuthorizationViolation, ConnectErrorKind::Authentication]
        .map(|kind| kind.to_string())
});

async fn connect(
    access: &Access,
    worker: Option<&str>,
    is_rejected: Arc<AtomicBool>,
) -> Result<Client, String> {
    let mut options = ConnectOptions::new()
        .name("readyok")
        .connection_timeout(CONNECT_TIMEOUT)
        .request_timeout(Some(REQUEST_TIMEOUT));
    options = options.event_callback(move |event| {
        match event {
            Event::Connected => is_rejected.store(false, Ordering::Relaxed),
            // The client has no other type for them.
            Event::ClientError(ClientError::Other(error)) if REJECTIONS.contains(&error) => {
                is_rejected.store(true, Ordering::Relaxed);
            }
            _ => {}
        }
        async {}
    });
    if let Some(worker) = worker {
        options = options.custom_inbox_prefix(format!("_INBOX.{worker}"));
    }
    let server: ServerAddr =
        access.server.parse().map_err(|error| format!("invalid address: {error}"))?;
    if !["nats", "tls", "ws", "wss"].contains(&server.scheme()) {
        return Err(format!("unknown scheme `{}`: use nats:// or tls://", server.scheme()));
    }
    // The client ignores the login of the address.
    match access.login.clone().or_else(|| login_in(&server)) {
        Some(Login::Password { user, password }) => {
            options = options.user_and_password(user, password);
        }
        Some(Login::Token(token)) => options = options.token(token),
        None => {}
    }
    let unreadable =
        |path: &Path, error: io::Error| format!("`{}` cannot be read: {error}", path.display());
    if let Some(path) = &access.credentials {
        options = options.credentials_file(path).await.map_err(|error| unreadable(path, error))?;
    }
    if let Some(path) = &access.nkey {
        let seed = std::fs::read_to_string(path).map_err(|error| unreadable(path, error))?;
        options = options.nkey(seed.trim().to_owned());
    }
    if let Some(path) = &access.certificates {
        options = options.add_root_certificates(path.clone()).require_tls(true);
    }
    options.connect(server).await.map_err(|error| match error.kind() {
        ConnectErrorKind::AuthorizationViolation | ConnectErrorKind::Authentication => {
            REJECTED.to_owned()
        }
        ConnectErrorKind::TimedOut => "the server does not respond".to_owned(),
        _ => match error.source() {
            Some(source) => source.to_string(),
            None => error.to_string(),
        },
    })
}

/// Percent-decodes a part of an address.
fn percent_decoded(part: &str) -> String {
    let mut bytes = Vec::with_capacity(part.len());
    let mut rest = part.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let digits = after.get(..2).filter(|digits| digits.iter().all(u8::is_ascii_hexdigit));
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
