//! Authentication. The page can start programs, so every vulnerability would let others
//! start programs.
//!
//! ```text
//!  request ─> Host known? ─> Origin and Sec-Fetch-Site ours? ─> body of a known type? ─> /api: secret of the session?
//!             else 421        else 403                           else 415                 else 401
//! ```
//! The page gets the secret for the single-use token of a link, or for the password. It stores it by origin and
//! sends it with each request. There is no cookie: browsers send those to servers on all ports of a host.

use std::collections::{HashSet, VecDeque};
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::body::Body;
use axum::extract::{FromRequest, Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Uri, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use data_encoding::HEXLOWER;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;
use tokio::time::{sleep, timeout};

use super::Service;
use super::accounts::Account;
use super::connections::Connection;
use super::password::Password;
use super::proxy::{Origin, Proxies, TrustedProxy};
use super::rest::error_response;
use super::throttle::Throttle;
use crate::time::instant;
use crate::wire::{ApiError, ErrorCode, QueueRole};

/// Maximum number of unused links.
const MAX_LINKS: usize = 16;
/// Maximum number of hashes that are computed at the same time: each needs memory.
const MAX_CONCURRENT_HASHES: usize = 2;
/// The subprotocol of the page's sockets. The secret is another one, as scripts cannot set other headers.
pub(super) const SUBPROTOCOL: &str = "readyok";

/// The page loads resources of this server only, and no inline scripts.
const POLICY: &str =
    "default-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'";

/// A secret of 256 bits.
#[derive(Clone)]
pub(crate) struct Secret([u8; 32]);

impl Secret {
    pub(super) fn new() -> std::io::Result<Self> {
        let mut bytes = [0; 32];
        getrandom::fill(&mut bytes).map_err(std::io::Error::other)?;
        Ok(Self(bytes))
    }

    pub(super) fn text(&self) -> String {
        HEXLOWER.encode(&self.0)
    }

    /// Compares in constant time.
    pub(super) fn is(&self, text: &str) -> bool {
        self.text().as_bytes().ct_eq(text.as_bytes()).into()
    }
}

/// Hosts, without port, that belong to this server only. Another user may listen on the same port of
/// another address of this machine.
pub(crate) struct OwnHosts(Vec<String>);

impl OwnHosts {
    /// The hosts of the addresses of the server. `localhost` is one of them if no other program can
    /// respond there.
    pub(crate) fn new(addresses: &[IpAddr], has_localhost: bool) -> Self {
        let mut hosts: Vec<String> = addresses.iter().map(literal).collect();
        if addresses.iter().any(IpAddr::is_unspecified) {
            hosts.extend(["127.0.0.1", "[::1]"].map(str::to_owned));
        }
        hosts.extend(has_localhost.then(|| "localhost".to_owned()));
        Self(hosts)
    }
}

/// The host of an address.
fn literal(address: &IpAddr) -> String {
    match address {
        IpAddr::V4(address) => address.to_string(),
        IpAddr::V6(address) => format!("[{address}]"),
    }
}

/// The permissions of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// Everything.
    Owner,
    /// Matches, and what the role of this account permits on the queue.
    Member(Arc<str>, QueueRole),
    /// Local matches and those of the queue, without changes.
    Reader,
}

impl Role {
    /// What the session may do on the queue.
    pub(super) fn on_queue(&self) -> QueueRole {
        match self {
            Self::Owner => QueueRole::Owner,
            Self::Member(_, role) => *role,
            Self::Reader => QueueRole::Reader,
        }
    }

    /// The name of the account.
    pub(super) fn name(&self) -> Option<&str> {
        match self {
            Self::Member(name, _) => Some(name),
            Self::Owner | Self::Reader => None,
        }
    }
}

/// An account of one run of the server.
struct AccountSession {
    account: Account,
    /// `Authorization: Bearer …`
    secret: Secret,
}

impl AccountSession {
    fn role(&self) -> Role {
        Role::Member(Arc::clone(&self.account.name), self.account.role)
    }
}

/// The authentication of one run of the server.
pub(crate) struct Auth {
    /// The allowed values of `Host`.
    hosts: HashSet<String>,
    /// The allowed values of `Origin`.
    origins: HashSet<String>,
    /// `Authorization: Bearer …`
    session: Secret,
    /// The secret of readers, who see matches only.
    reader: Secret,
    links: Mutex<VecDeque<Secret>>,
    password: Option<Password>,
    reader_password: Option<Password>,
    accounts: Vec<AccountSession>,
    throttle: Mutex<Throttle>,
    hashing: Arc<Semaphore>,
    proxies: Proxies,
}

impl Auth {
    /// Authentication for a port of these addresses. Other hosts are allowed by name.
    pub(crate) fn new(
        port: u16,
        own: &OwnHosts,
        allowed: &[String],
        password: Option<Password>,
    ) -> std::io::Result<Self> {
        let mut hosts: HashSet<String> =
            own.0.iter().map(|host| format!("{host}:{port}")).collect();
        let mut origins: HashSet<String> =
            hosts.iter().map(|host| format!("http://{host}")).collect();
        for host in allowed {
            let host = host.to_ascii_lowercase();
            let named = if host.contains(':') && !host.ends_with(']') {
                host.clone()
            } else {
                format!("{host}:{port}")
            };
            // Behind a proxy the browser uses the usual port, and perhaps encryption.
            for host in [named, host] {
                origins.insert(format!("http://{host}"));
                origins.insert(format!("https://{host}"));
                hosts.insert(host);
            }
        }
        Ok(Self {
            hosts,
            origins,
            session: Secret::new()?,
            reader: Secret::new()?,
            links: Mutex::default(),
            password,
            reader_password: None,
            accounts: Vec::new(),
            throttle: Mutex::default(),
            hashing: Arc::new(Semaphore::new(MAX_CONCURRENT_HASHES)),
            proxies: Proxies::default(),
        })
    }

    /// Allows readers with this password.
    pub(crate) fn with_readers(self, password: Option<Password>) -> Self {
        Self { reader_password: password, ..self }
    }

    /// Allows the users of these accounts.
    pub(crate) fn with_accounts(self, accounts: Vec<Account>) -> std::io::Result<Self> {
        let session =
            |account| Ok::<_, std::io::Error>(AccountSession { account, secret: Secret::new()? });
        let accounts = accounts.into_iter().map(session).collect::<Result<_, _>>()?;
        Ok(Self { accounts, ..self })
    }

    /// Believes these proxies about the addresses of their clients.
    pub(crate) fn behind(self, proxies: Vec<TrustedProxy>) -> Self {
        Self { proxies: Proxies(proxies), ..self }
    }

    /// Identifies this run of the server. It is not secret.
    pub(crate) fn run(&self) -> String {
        HEXLOWER.encode(Sha256::digest(self.session.0).get(..8).unwrap_or_default())
    }

    /// The secret that authenticates requests.
    pub(crate) fn session(&self) -> String {
        self.session.text()
    }

    /// A new single-use token.
    pub(crate) fn new_link(&self) -> std::io::Result<String> {
        let secret = Secret::new()?;
        let text = secret.text();
        let mut links = self.links.lock().unwrap_or_else(PoisonError::into_inner);
        if links.len() == MAX_LINKS {
            links.pop_front();
        }
        links.push_back(secret);
        Ok(text)
    }

    /// Uses a token up.
    fn use_link(&self, text: &str) -> bool {
        let mut links = self.links.lock().unwrap_or_else(PoisonError::into_inner);
        let place = links.iter().position(|link| link.is(text));
        place.is_some_and(|place| links.remove(place).is_some())
    }

    /// The role of a request by the secret that it presents: in its `Authorization`, or as a socket among its
    /// subprotocols.
    fn role(&self, headers: &HeaderMap) -> Option<Role> {
        let texts =
            |name: HeaderName| headers.get_all(name).iter().filter_map(|value| value.to_str().ok());
        let bearers: Vec<&str> =
            texts(header::AUTHORIZATION).filter_map(|text| text.strip_prefix("Bearer ")).collect();
        let is_owner = bearers.iter().any(|secret| self.session.is(secret))
            || headers.contains_key(header::UPGRADE)
                && texts(header::SEC_WEBSOCKET_PROTOCOL)
                    .flat_map(|text| text.split(','))
                    .any(|secret| self.session.is(secret.trim()));
        if is_owner {
            return Some(Role::Owner);
        }
        if bearers.iter().any(|secret| self.reader.is(secret)) {
            return Some(Role::Reader);
        }
        let is_of = |account: &&AccountSession| bearers.iter().any(|text| account.secret.is(text));
        self.accounts.iter().find(is_of).map(AccountSession::role)
    }

    /// Checks a request by its head, before its body is read.
    fn judge(
        &self,
        method: &Method,
        uri: &Uri,
        headers: &HeaderMap,
        role: Option<&Role>,
    ) -> Result<(), StatusCode> {
        let is_authenticated = role.is_some();
        let one = |name: HeaderName| -> Result<Option<&str>, StatusCode> {
            let mut all = headers.get_all(name).iter();
            let first = all.next().map(HeaderValue::to_str).transpose();
            let first = first.map_err(|_| StatusCode::BAD_REQUEST)?;
            if all.next().is_some() {
                return Err(StatusCode::BAD_REQUEST);
            }
            Ok(first)
        };
        let host = one(header::HOST)?.map(str::to_ascii_lowercase);
        let known = |host: &str| self.hosts.contains(host);
        if !host.as_deref().is_some_and(known)
            || uri
                .authority()
                .is_some_and(|authority| !known(&authority.as_str().to_ascii_lowercase()))
        {
            return Err(StatusCode::MISDIRECTED_REQUEST);
        }
        let is_api = uri.path().starts_with("/api/");
        let is_socket = headers.contains_key(header::UPGRADE);
        let changes = !matches!(*method, Method::GET | Method::HEAD);
        // A page elsewhere cannot set this header.
        let is_trusted = one(header::AUTHORIZATION)?.is_some() && is_authenticated;
        let origin = one(header::ORIGIN)?;
        let ours = |origin: &str| self.origins.contains(&origin.to_ascii_lowercase());
        let is_foreign = match origin {
            Some(origin) => !ours(origin),
            // Browsers send it where it matters. Programs that have the secret need not.
            None => (changes || is_socket) && !is_trusted,
        };
        let site = headers.get("sec-fetch-site").map(HeaderValue::as_bytes);
        let from_elsewhere = match site {
            None | Some(b"same-origin" | b"none") => false,
            // A link on another page may lead to the start page, and to nothing else. One is made by us:
            // it comes from a file, with a token that only its reader has.
            Some(_) => {
                let is_visit =
                    headers.get("sec-fetch-mode").is_some_and(|value| value == "navigate");
                let is_link = is_visit && link_in(uri).is_some_and(|_| uri.path() == "/");
                is_api || changes || is_socket || uri.query().is_some() && !is_link
            }
        };
        if is_foreign || from_elsewhere {
            return Err(StatusCode::FORBIDDEN);
        }
        if changes {
            let kind = one(header::CONTENT_TYPE)?.unwrap_or_default();
            let kind = kind.split(';').next().unwrap_or_default().trim();
            // A form of another page can send neither without asking first.
            if !matches!(kind, "application/json" | "application/octet-stream") {
                return Err(StatusCode::UNSUPPORTED_MEDIA_TYPE);
            }
        }
        if is_api && uri.path() != "/api/login" && !is_authenticated {
            return Err(StatusCode::UNAUTHORIZED);
        }
        let limited = role.filter(|role| **role != Role::Owner);
        if let Some(role) = limited.filter(|_| is_api && uri.path() != "/api/login") {
            let path = uri.path();
            let is_below = |root: &str| {
                path.strip_prefix(root).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            };
            let is_member = role.on_queue() != QueueRole::Reader;
            // The form of a test shows the handicaps.
            let is_visible = is_below("/api/queue")
                || is_below("/api/matches")
                || is_member && path == "/api/choices";
            // The handlers decide what an account may change on the queue.
            let may_change = is_member && is_below("/api/queue");
            if changes && !may_change || is_socket || !is_visible {
                return Err(StatusCode::UNAUTHORIZED);
            }
        }
        Ok(())
    }
}

/// Rejects unauthenticated requests, and adds the security headers to every response.
pub(super) async fn guard(
    State(auth): State<Arc<Auth>>,
    Extension(connection): Extension<Arc<Connection>>,
    mut request: Request<Body>,
    next: Next,
) -> Response {
    let (uri, headers) = (request.uri(), request.headers());
    let role = auth.role(headers);
    let judged = auth.judge(request.method(), uri, headers, role.as_ref());
    let is_api = uri.path().starts_with("/api/");
    let origin = auth.proxies.origin(connection.peer(), headers);
    let role = role.filter(|_| judged.is_ok());
    connection.begin_request(origin, role.is_some());
    request.extensions_mut().insert(origin);
    if let Some(role) = role {
        request.extensions_mut().insert(role);
    }
    let mut response = match judged {
        Ok(()) => next.run(request).await,
        Err(status) => {
            let code = match status {
                StatusCode::UNAUTHORIZED => ErrorCode::NotLoggedIn,
                StatusCode::MISDIRECTED_REQUEST => ErrorCode::UnknownHost,
                StatusCode::FORBIDDEN => ErrorCode::CrossSiteRequest,
                _ => ErrorCode::ForeignOrigin,
            };
            error_response(status, ApiError::invalid_request(code))
        }
    };
    let headers = response.headers_mut();
    let always = [
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    ];
    for (name, value) in always {
        // A report has a policy of its own.
        headers.entry(name).or_insert(HeaderValue::from_static(value));
    }
    if is_api || !headers.contains_key(header::CACHE_CONTROL) {
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    }
    response
}

/// The token of a link.
fn link_in(uri: &Uri) -> Option<&str> {
    uri.query()?.split('&').find_map(|part| part.strip_prefix("token="))
}

/// The credential of a login.
#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Login {
    /// The single-use token of a link.
    Token(String),
    Password(String),
    Account {
        name: String,
        password: String,
    },
}

/// The result of a login.
#[derive(Serialize)]
struct Session {
    session: String,
    /// Whether the session is read-only.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    reader: bool,
}

/// The ways to log in.
#[derive(Serialize)]
struct LoginMethods {
    /// Whether the server has a password, in addition to links.
    password: bool,
    /// Whether users have accounts.
    accounts: bool,
}

/// Sends the ways to log in, which are not secret.
pub(super) async fn login_methods(State(service): State<Service>) -> Response {
    let auth = &service.auth;
    let password = auth.password.is_some() || auth.reader_password.is_some();
    let accounts = !auth.accounts.is_empty();
    Json(LoginMethods { password, accounts }).into_response()
}

/// Sends the secret of the session for a valid credential.
pub(super) async fn login(
    State(service): State<Service>,
    Extension(connection): Extension<Arc<Connection>>,
    Extension(origin): Extension<Origin>,
    request: Request<Body>,
) -> Response {
    let read = Json::<Login>::from_request(request, &());
    let login = match timeout(connection.timeout(), read).await {
        Ok(Ok(Json(login))) => login,
        Ok(Err(error)) => return error.into_response(),
        Err(_) => return StatusCode::REQUEST_TIMEOUT.into_response(),
    };
    let auth = &service.auth;
    let checked = match login {
        Login::Token(token) => auth.use_link(&token).then_some(Role::Owner).ok_or(Denied::Wrong),
        Login::Password(password) => auth.check_password(password, origin.address).await,
        Login::Account { name, password } => {
            auth.check_account(&name, password, origin.address).await
        }
    };
    match checked {
        Ok(Role::Owner) => Json(Session { session: auth.session(), reader: false }).into_response(),
        Ok(Role::Reader) => {
            Json(Session { session: auth.reader.text(), reader: true }).into_response()
        }
        Ok(Role::Member(name, _)) => {
            let mut accounts = auth.accounts.iter();
            match accounts.find(|session| session.account.name == name) {
                Some(account) => {
                    Json(Session { session: account.secret.text(), reader: true }).into_response()
                }
                None => StatusCode::UNAUTHORIZED.into_response(),
            }
        }
        Err(Denied::Wrong) => StatusCode::UNAUTHORIZED.into_response(),
        Err(Denied::NoPassword) => StatusCode::NOT_FOUND.into_response(),
        Err(Denied::TooMany(seconds)) => {
            (StatusCode::TOO_MANY_REQUESTS, [(header::RETRY_AFTER, seconds)]).into_response()
        }
    }
}

/// The reason for a rejected login.
enum Denied {
    Wrong,
    /// The server has no password.
    NoPassword,
    /// Too many wrong passwords of the address, or of all addresses. The waiting time is in seconds.
    TooMany(u64),
}

impl Auth {
    fn throttle(&self) -> MutexGuard<'_, Throttle> {
        self.throttle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn check_password(&self, password: String, address: IpAddr) -> Result<Role, Denied> {
        let owner = self.password.iter().map(|password| (Role::Owner, password.clone()));
        let reader = self
            .reader_password
            .iter()
            .map(|reader_password| (Role::Reader, reader_password.clone()));
        let role = self.compare(owner.chain(reader).collect(), password, address).await?;
        self.throttle().succeed(address);
        Ok(role)
    }

    async fn check_account(
        &self,
        name: &str,
        password: String,
        address: IpAddr,
    ) -> Result<Role, Denied> {
        let known = self.accounts.iter().find(|session| &*session.account.name == name);
        // The time does not depend on whether the account exists: the password of another one is compared.
        let compared = known.or_else(|| self.accounts.first()).ok_or(Denied::NoPassword)?;
        let stored = vec![(compared.role(), compared.account.password.clone())];
        let role = self.compare(stored, password, address).await?;
        known.ok_or(Denied::Wrong)?;
        self.throttle().succeed(address);
        Ok(role)
    }

    /// The role whose password this is.
    async fn compare(
        &self,
        stored: Vec<(Role, Password)>,
        password: String,
        address: IpAddr,
    ) -> Result<Role, Denied> {
        if stored.is_empty() {
            return Err(Denied::NoPassword);
        }
        let admitted = self.throttle().admit(address, stored.len(), instant());
        let delay = admitted.map_err(|wait| Denied::TooMany(wait.as_secs() + 1))?;
        sleep(delay).await;
        let permit = Arc::clone(&self.hashing).acquire_owned().await;
        let compared = spawn_blocking(move || {
            let _permit = permit;
            // The time does not depend on the result: all are compared.
            let is_right = |(role, right): (Role, Password)| right.is(&password).then_some(role);
            stored.into_iter().map(is_right).collect::<Vec<_>>().into_iter().flatten().next()
        });
        compared.await.ok().flatten().ok_or(Denied::Wrong)
    }
}

/// A link for another browser.
#[derive(Serialize)]
struct Link {
    token: String,
}

/// Creates a link for another browser.
pub(super) async fn link(State(service): State<Service>) -> Response {
    match service.auth.new_link() {
        Ok(token) => Json(Link { token }).into_response(),
        Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}
