//! A connection to the server, for threads that know nothing of tasks.

use std::error::Error as _;
use std::fmt;
use std::future::Future;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use async_nats::jetstream::ErrorCode;
use async_nats::jetstream::context::{GetStreamError, GetStreamErrorKind, KeyValueError};
use async_nats::jetstream::kv::Store;
use async_nats::jetstream::message::PublishMessage;
use async_nats::jetstream::object_store::{self, ObjectStore};
use async_nats::jetstream::stream::{Config, DiscardPolicy, StorageType};
use async_nats::jetstream::{self, Context};
use async_nats::{Client, ConnectOptions, ServerAddr};
use tokio::runtime::{Builder, Runtime};
use tokio::time::Instant;

use super::messages::{OpenMatch, broken, read};
use super::names::{FILES, MATCHES};
use crate::queue::{QueueError, Stop};

/// How to get in.
#[derive(Clone, Default)]
pub struct Access {
    /// Where the server is: `nats://host:port`, `tls://…`, with `user:password@` or `token@` if it
    /// wants them.
    pub server: String,
    /// What to log in with instead of what the address holds.
    pub login: Option<Login>,
    /// A file with the credentials of an account (JWT and NKey).
    pub credentials: Option<PathBuf>,
    /// A file with the seed of an NKey.
    pub nkey: Option<PathBuf>,
    /// A file with certificates to trust beside those of the system.
    pub certificates: Option<PathBuf>,
}

/// What a client logs in with.
#[derive(Clone)]
pub enum Login {
    /// A user and the password.
    Password {
        /// The name of the user.
        user: String,
        /// The password of the user.
        password: String,
    },
    /// A token.
    Token(String),
}

impl Access {
    /// Whether the address holds a password or a token.
    pub fn is_login_in_address(&self) -> bool {
        self.server.parse().is_ok_and(|address| login_in(&address).is_some())
    }
}

/// The login that an address holds, which its parser leaves percent-encoded.
fn login_in(address: &ServerAddr) -> Option<Login> {
    let user = decoded(address.username()?);
    Some(match address.password().map(decoded) {
        Some(password) => Login::Password { user, password },
        None => Login::Token(user),
    })
}

/// A connection with its own thread, which reconnects by itself.
#[derive(Clone)]
pub struct Connection {
    runtime: Arc<Runtime>,
    pub(super) client: Client,
    pub(super) stream: Context,
}

/// How long a request to the server may take.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(20);

/// How long to wait before the server is asked again after a failure.
pub(super) const PAUSE: Duration = Duration::from_millis(500);

impl Connection {
    /// Connects.
    ///
    /// # Errors
    /// The server cannot be reached, or does not let us in.
    pub fn open(access: &Access) -> Result<Self, QueueError> {
        let runtime = Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("nats")
            .enable_all()
            .build()
            .map_err(broken)?;
        let client = runtime.block_on(connect(access))?;
        // It starts a task.
        let stream = runtime.block_on(async { jetstream::new(client.clone()) });
        Ok(Self { runtime: Arc::new(runtime), client, stream })
    }

    /// Waits for an answer of the server.
    pub(super) fn request<T, E: fmt::Display>(
        &self,
        request: impl Future<Output = Result<T, E>>,
    ) -> Result<T, QueueError> {
        self.runtime.block_on(async {
            match tokio::time::timeout(REQUEST_TIMEOUT, request).await {
                Ok(answer) => answer.map_err(broken),
                Err(_) => Err(broken("the server does not answer")),
            }
        })
    }

    /// Brings a message to the server's disk, though the server may be away for some time, and tells its
    /// number. Of several with the same name the server keeps one. None if it is not `wanted` any more after a failure.
    pub(super) fn publish(
        &self,
        subject: &str,
        text: &[u8],
        name: &str,
        away: Duration,
        wanted: impl Fn() -> bool,
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
                Err(error) if since.elapsed() > away => return Err(error),
                Err(_) if !wanted() => return Ok(None),
                Err(_) => self.pause(PAUSE),
                Ok(ack) => return Ok(Some(ack.sequence)),
            }
        }
    }

    /// Waits for something that has its own deadline.
    pub(super) fn wait<T>(&self, event: impl Future<Output = T>) -> T {
        self.runtime.block_on(event)
    }

    /// Waits before something is tried again.
    pub(super) fn pause(&self, time: Duration) {
        self.runtime.block_on(async { tokio::time::sleep(time).await });
    }

    /// Does something beside.
    pub(super) fn spawn(
        &self,
        task: impl Future<Output = ()> + Send + 'static,
    ) -> tokio::task::JoinHandle<()> {
        self.runtime.spawn(task)
    }

    /// The bucket of open matches.
    ///
    /// Its stream is made by hand: to make a bucket, `async-nats` asks about the account, and does
    /// not understand what servers before 2.10 answer, Debian's among them.
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

    /// The same without making it, which workers need not be allowed to; none if no coordinator has
    /// made it yet.
    pub(super) fn find_matches(&self) -> Result<Option<Store>, QueueError> {
        let asked =
            self.request(async { Ok::<_, QueueError>(self.stream.get_key_value(MATCHES).await) });
        match asked? {
            Ok(matches) => Ok(Some(matches)),
            Err(error) if is_not_there(&error) => Ok(None),
            Err(error) => Err(broken(error)),
        }
    }

    /// How a match is stopped, as far as the server tells. One that is not there any more is over, and
    /// nobody wants to know what is still played of it.
    pub(super) fn stop_of(&self, id: &str) -> Option<Stop> {
        let matches = self.find_matches().ok()??;
        match self.request(matches.get(id)).ok()? {
            Some(value) => read::<OpenMatch>(&value)?.stop,
            None => Some(Stop::Abort),
        }
    }

    /// The store of programs and files, which a coordinator has made.
    pub(super) fn find_files(&self) -> Result<ObjectStore, QueueError> {
        self.request(self.stream.get_object_store(FILES))
    }

    /// The store of programs and files.
    pub(super) fn create_files(&self) -> Result<ObjectStore, QueueError> {
        let config =
            object_store::Config { bucket: FILES.to_owned(), ..object_store::Config::default() };
        self.request(self.stream.create_object_store(config))
    }
}

/// Whether an error says that there is no such stream.
fn is_not_there(error: &KeyValueError) -> bool {
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
    // The client leaves to us what an address holds of these.
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

/// A part of an address with its percent signs taken for what they stand for.
fn decoded(part: &str) -> String {
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

/// Without what is secret.
impl fmt::Debug for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Access").finish_non_exhaustive()
    }
}

/// Without what is secret.
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
