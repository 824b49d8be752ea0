//! Who may come in. A page that can start programs treats every hole as one through which others
//! start them.
//!
//! ```text
//!  request ─> Host known? ─> Origin and Sec-Fetch-Site ours? ─> body of a known type? ─> /api: cookie or token?
//!             else 421        else 403                           else 415                 else 401
//! ```
//! The link that is printed and opened has a token that is used once, for a cookie.

use std::collections::{HashSet, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use axum::Json;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Uri, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

use super::Service;
use crate::game::refusal;
use crate::wire::{ProblemKind, RefusalCode};

/// So many links can wait to be used.
const MOST_LINKS: usize = 16;
/// So many wrong passwords are heard before no other is.
const MOST_WRONG: u32 = 20;

/// What the page may load: what this server has, and nothing written into it.
const POLICY: &str =
    "default-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'";

/// A secret of 256 bits.
#[derive(Clone)]
pub(crate) struct Secret([u8; 32]);

impl Secret {
    fn new() -> std::io::Result<Self> {
        let mut bytes = [0; 32];
        getrandom::fill(&mut bytes).map_err(std::io::Error::other)?;
        Ok(Self(bytes))
    }

    fn text(&self) -> String {
        super::hex(&self.0)
    }

    /// Compares in a time that tells nothing.
    fn is(&self, text: &str) -> bool {
        self.text().as_bytes().ct_eq(text.as_bytes()).into()
    }
}

/// A password, as its hash.
#[derive(Clone)]
pub(crate) struct Password([u8; 32]);

impl Password {
    pub(crate) fn new(text: &str) -> Self {
        Self(Sha256::digest(text.as_bytes()).into())
    }

    fn is(&self, text: &str) -> bool {
        let given: [u8; 32] = Sha256::digest(text.as_bytes()).into();
        self.0.ct_eq(&given).into()
    }
}

/// The doors of one start of the server.
pub(crate) struct Doors {
    /// What the `Host` of a request may be.
    hosts: HashSet<String>,
    /// What the `Origin` of a request may be.
    origins: HashSet<String>,
    cookie: String,
    session: Secret,
    /// For programs: `Authorization: Bearer …`.
    bearer: Secret,
    links: Mutex<VecDeque<Secret>>,
    password: Option<Password>,
    wrong: Mutex<u32>,
}

impl Doors {
    /// Doors of a server on a port. Other hosts than those of loopback are allowed by name.
    pub(crate) fn new(
        port: u16,
        allowed: &[String],
        password: Option<Password>,
    ) -> std::io::Result<Self> {
        let mut hosts: HashSet<String> = ["127.0.0.1", "localhost", "[::1]"]
            .iter()
            .map(|host| format!("{host}:{port}"))
            .collect();
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
            // Cookies do not look at ports.
            cookie: format!("readyok-{port}"),
            session: Secret::new()?,
            bearer: Secret::new()?,
            links: Mutex::default(),
            password,
            wrong: Mutex::default(),
        })
    }

    /// Tells this start of the server from others, and nothing of its secrets.
    pub(crate) fn run(&self) -> String {
        super::hex(Sha256::digest(self.session.0).get(..8).unwrap_or_default())
    }

    /// The token for programs.
    pub(crate) fn bearer(&self) -> String {
        self.bearer.text()
    }

    /// A token for one visit.
    pub(crate) fn new_link(&self) -> std::io::Result<String> {
        let secret = Secret::new()?;
        let text = secret.text();
        let mut links = self.links.lock().unwrap_or_else(PoisonError::into_inner);
        if links.len() == MOST_LINKS {
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

    fn set_cookie(&self) -> String {
        format!("{}={}; HttpOnly; SameSite=Strict; Path=/", self.cookie, self.session.text())
    }

    /// Whether the request has the cookie or the token for programs.
    fn knows(&self, headers: &HeaderMap) -> bool {
        let bearer = headers
            .get(header::AUTHORIZATION)
            .and_then(|value| value.to_str().ok()?.strip_prefix("Bearer "));
        if bearer.is_some_and(|token| self.bearer.is(token)) {
            return true;
        }
        headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok()).any(|all| {
            all.split(';')
                .filter_map(|one| one.trim().split_once('='))
                .any(|(name, value)| name == self.cookie && self.session.is(value))
        })
    }

    /// Judges a request by its head. Nothing is read of its body before.
    fn judge(&self, method: &Method, uri: &Uri, headers: &HeaderMap) -> Result<(), StatusCode> {
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
            || uri.authority().is_some_and(|it| !known(&it.as_str().to_ascii_lowercase()))
        {
            return Err(StatusCode::MISDIRECTED_REQUEST);
        }
        let is_api = uri.path().starts_with("/api/");
        let is_socket = headers.contains_key(header::UPGRADE);
        let changes = !matches!(*method, Method::GET | Method::HEAD);
        let by_program = one(header::AUTHORIZATION)?.is_some() && self.knows(headers);
        let origin = one(header::ORIGIN)?;
        let ours = |origin: &str| self.origins.contains(&origin.to_ascii_lowercase());
        let is_foreign = match origin {
            Some(origin) => !ours(origin),
            // Browsers say it where it matters. Programs that have the token need not.
            None => (changes || is_socket) && !by_program,
        };
        let site = headers.get("sec-fetch-site").map(HeaderValue::as_bytes);
        let from_elsewhere = match site {
            None | Some(b"same-origin" | b"none") => false,
            // A link on another page may lead to the start page, and to nothing else. One is made by us:
            // it leads here from a file, and has a token that nobody else can have.
            Some(_) => {
                let is_visit = headers.get("sec-fetch-mode").is_some_and(|it| it == "navigate");
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
        if is_api && uri.path() != "/api/login" && !self.knows(headers) {
            return Err(StatusCode::UNAUTHORIZED);
        }
        Ok(())
    }
}

/// Lets a request in or not, and has every answer say what browsers are to make of it.
pub(super) async fn guard(
    State(doors): State<Arc<Doors>>,
    request: Request<Body>,
    next: Next,
) -> Response {
    let judged = doors.judge(request.method(), request.uri(), request.headers());
    let is_api = request.uri().path().starts_with("/api/");
    let mut response = match judged {
        Ok(()) => match link_in(request.uri()) {
            Some(token) if request.uri().path() == "/" => enter(&doors, &token),
            Some(_) | None => next.run(request).await,
        },
        Err(status) => {
            let other = ProblemKind::NotOfThePage;
            let (why, text) = match status {
                StatusCode::UNAUTHORIZED => {
                    (ProblemKind::NotLetIn, "open the link that the program has printed")
                }
                StatusCode::MISDIRECTED_REQUEST => (other, "this server does not go by that name"),
                StatusCode::FORBIDDEN => (other, "another page has asked for this"),
                _ => (other, "the request is not one of the page"),
            };
            (status, Json(refusal(RefusalCode::Malformed, why, text))).into_response()
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
        headers.insert(name, HeaderValue::from_static(value));
    }
    if is_api || !headers.contains_key(header::CACHE_CONTROL) {
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    }
    response
}

/// The token of a link.
fn link_in(uri: &Uri) -> Option<String> {
    let mut parts = uri.query()?.split('&');
    parts.find_map(|part| part.strip_prefix("token=")).map(str::to_owned)
}

/// A visit with a link: it is used up, and leads on without it.
fn enter(doors: &Doors, token: &str) -> Response {
    let mut response = (StatusCode::SEE_OTHER, [(header::LOCATION, HeaderValue::from_static("/"))])
        .into_response();
    if doors.use_link(token)
        && let Ok(cookie) = HeaderValue::from_str(&doors.set_cookie())
    {
        response.headers_mut().insert(header::SET_COOKIE, cookie);
    }
    response
}

/// What a visitor with a password sends.
#[derive(Deserialize)]
pub(super) struct Login {
    password: String,
}

/// Lets somebody in who knows the password.
pub(super) async fn login(State(service): State<Service>, Json(login): Json<Login>) -> Response {
    let doors = &service.doors;
    let Some(password) = &doors.password else {
        return StatusCode::NOT_FOUND.into_response();
    };
    let mut wrong = doors.wrong.lock().unwrap_or_else(PoisonError::into_inner);
    if MOST_WRONG <= *wrong {
        return StatusCode::TOO_MANY_REQUESTS.into_response();
    }
    if !password.is(&login.password) {
        *wrong += 1;
        return StatusCode::UNAUTHORIZED.into_response();
    }
    *wrong = 0;
    match HeaderValue::from_str(&doors.set_cookie()) {
        Ok(cookie) => (StatusCode::OK, [(header::SET_COOKIE, cookie)], Json(true)).into_response(),
        Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}

/// A link for another browser.
#[derive(Serialize)]
struct Link {
    token: String,
}

/// Makes a link for another visit.
pub(super) async fn link(State(service): State<Service>) -> Response {
    match service.doors.new_link() {
        Ok(token) => Json(Link { token }).into_response(),
        Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}
