//! HTTP requests with a token to a server, streams of lines (NDJSON), and pauses that the server requests.

use std::io::Read;
use std::str::FromStr;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde::Deserialize;
use ureq::http::request::Builder;
use ureq::http::{Method, Request, Response};
use ureq::{Agent, AsSendBody, Body, SendBody};

use crate::clock::now;
use crate::lines::{LineError, Lines};

/// Longest wait for a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(20);
/// Largest answer, and longest line of a stream, in bytes.
const MAX_ANSWER: u64 = 1 << 20;
const MAX_LINE: usize = 1 << 20;
/// Pause after status 429 without `Retry-After`, as Lichess requires it, and the longest one that is accepted.
const RATE_LIMIT_PAUSE: Duration = Duration::from_mins(1);
const MAX_RATE_LIMIT_PAUSE: Duration = Duration::from_mins(15);
/// Time after a pause until requests of the next priority follow.
const PRIORITY_STEP: Duration = Duration::from_millis(500);

/// The address of a server: HTTPS, or HTTP on this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Address(String);

impl FromStr for Address {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let address = text.trim_end_matches('/');
        let local = ["http://127.0.0.1", "http://localhost", "http://[::1]"];
        let is_local = local.iter().any(|prefix| {
            let rest = address.strip_prefix(prefix);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with([':', '/']))
        });
        if is_local || address.starts_with("https://") {
            Ok(Self(address.to_owned()))
        } else {
            Err("expected an address that begins with https://")
        }
    }
}

/// Text as a part of an address or a form. Letters, digits and the characters of `kept` remain.
pub(crate) fn escaped(text: &str, kept: &str) -> String {
    let escape = |byte: u8| match byte {
        _ if byte.is_ascii_alphanumeric() || kept.as_bytes().contains(&byte) => {
            char::from(byte).to_string()
        }
        _ => format!("%{byte:02X}"),
    };
    text.bytes().map(escape).collect()
}

/// Whether text from a server can be a part of a path, for example the ID of a game.
pub(crate) fn is_id(text: &str) -> bool {
    let is_valid = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
    !text.is_empty() && text.len() <= 64 && text.bytes().all(is_valid)
}

/// Longest waits for a server.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Waits {
    /// For the head of an answer.
    pub(crate) answer: Duration,
    /// For the next bytes, also of a stream.
    pub(crate) idle: Duration,
}

/// The content of a request.
pub(crate) enum Content {
    Json(String),
    /// Pairs of names and values, which need no escapes.
    Form(String),
    Text(String),
    Stream(Box<dyn Read>),
}

/// The order of requests after a pause. A pause applies to requests of the same and of lower priorities.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Priority {
    /// Moves: the clock is running.
    Move,
    /// What else running games need.
    Game,
    Other,
}

/// A server, and the token for it, which is never printed or sent to another server.
pub(crate) struct Http {
    agent: Agent,
    server: Address,
    token: Option<String>,
    /// What the token must permit.
    scopes: &'static str,
    /// The ends of the pauses that the server has requested, by priority.
    paused_until: Mutex<[Option<Instant>; 3]>,
}

impl Http {
    pub(crate) fn new(
        server: Address,
        token: Option<String>,
        scopes: &'static str,
        waits: Waits,
    ) -> Self {
        let config = Agent::config_builder()
            .http_status_as_error(false)
            // Another server must not receive the secrets.
            .max_redirects(0)
            .user_agent(concat!("readyok/", env!("CARGO_PKG_VERSION")))
            .timeout_connect(Some(CONNECT_TIMEOUT.min(waits.answer)))
            .timeout_recv_response(Some(waits.answer))
            .timeout_per_read(Some(waits.idle))
            .build();
        Self { agent: config.into(), server, token, scopes, paused_until: Mutex::default() }
    }

    pub(crate) fn token(&self) -> Option<&str> {
        self.token.as_deref()
    }

    /// The successful answer to a `GET`.
    pub(crate) fn get(&self, path: &str) -> Result<Response<Body>, HttpError> {
        self.call(Priority::Other, Method::GET, path, None)
    }

    /// The successful answer to a request with content.
    pub(crate) fn send(
        &self,
        method: Method,
        path: &str,
        content: Content,
    ) -> Result<Response<Body>, HttpError> {
        self.call(Priority::Other, method, path, Some(content))
    }

    /// Sends a form, which can be empty.
    pub(crate) fn post(
        &self,
        priority: Priority,
        path: &str,
        form: String,
    ) -> Result<(), HttpError> {
        self.call(priority, Method::POST, path, Some(Content::Form(form))).map(drop)
    }

    /// The lines of a stream.
    pub(crate) fn lines(&self, priority: Priority, path: &str) -> Result<Lines, HttpError> {
        let answer = self.call(priority, Method::GET, path, None)?;
        Ok(Lines::read(answer.into_body().into_reader(), MAX_LINE).map_err(LineError::from)?)
    }

    fn paused_until(&self) -> MutexGuard<'_, [Option<Instant>; 3]> {
        self.paused_until.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn call(
        &self,
        priority: Priority,
        method: Method,
        path: &str,
        content: Option<Content>,
    ) -> Result<Response<Body>, HttpError> {
        let paused = self.paused_until().get(priority as usize).copied().flatten();
        let left = paused.map_or(Duration::ZERO, |until| until.saturating_duration_since(now()));
        if !left.is_zero() {
            return Err(HttpError::RateLimit(left));
        }
        let mut request = Request::builder().method(method).uri(format!("{}{path}", self.server.0));
        if let Some(token) = &self.token {
            request = request.header("Authorization", format!("Bearer {token}"));
        }
        let typed = |request: Builder, kind| request.header("Content-Type", kind);
        let answer = match content {
            None => self.run(request.body(SendBody::none())),
            Some(Content::Json(text)) => self.run(typed(request, "application/json").body(text)),
            Some(Content::Form(text)) => {
                self.run(typed(request, "application/x-www-form-urlencoded").body(text))
            }
            Some(Content::Text(text)) => self.run(typed(request, "text/plain").body(text)),
            Some(Content::Stream(reader)) => {
                self.run(typed(request, "text/plain").body(SendBody::from_owned_reader(reader)))
            }
        };
        self.checked(priority, answer?)
    }

    fn run(
        &self,
        request: Result<Request<impl AsSendBody>, ureq::http::Error>,
    ) -> Result<Response<Body>, HttpError> {
        let request = request.map_err(|error| HttpError::Answer(error.to_string()))?;
        Ok(self.agent.run(request)?)
    }

    /// An answer of success.
    fn checked(
        &self,
        priority: Priority,
        mut answer: Response<Body>,
    ) -> Result<Response<Body>, HttpError> {
        let status = answer.status().as_u16();
        if answer.status().is_success() {
            return Ok(answer);
        }
        if status == 429 {
            let seconds = answer.headers().get("Retry-After").and_then(|text| text.to_str().ok());
            let seconds = seconds.and_then(|text| text.trim().parse().ok());
            let pause = seconds.map_or(RATE_LIMIT_PAUSE, Duration::from_secs);
            let pause = pause.min(MAX_RATE_LIMIT_PAUSE);
            let mut until = now() + pause;
            for paused in self.paused_until().iter_mut().skip(priority as usize) {
                *paused = (*paused).max(Some(until));
                until += PRIORITY_STEP;
            }
            return Err(HttpError::RateLimit(pause));
        }
        let text = answer.body_mut().with_config().limit(1000).read_to_string().unwrap_or_default();
        Err(HttpError::Status { status, text, scopes: self.scopes })
    }
}

/// Reads an answer in JSON.
pub(crate) fn read<T: for<'a> Deserialize<'a>>(mut answer: Response<Body>) -> Result<T, HttpError> {
    let text = answer.body_mut().with_config().limit(MAX_ANSWER).read_to_string()?;
    serde_json::from_str(&text).map_err(|error| HttpError::Answer(error.to_string()))
}

/// A failed request.
#[derive(Debug, thiserror::Error)]
pub(crate) enum HttpError {
    /// The connection failed.
    #[error("the server cannot be reached: {0}")]
    Connection(#[from] ureq::Error),
    /// A stream has ended.
    #[error(transparent)]
    Stream(#[from] LineError),
    /// The server rejected the request.
    #[error("{}", rejection(*status, text, scopes))]
    Status { status: u16, text: String, scopes: &'static str },
    /// The server requests a pause.
    #[error("the server limits the rate of requests; it accepts the next one in {} s", .0.as_secs())]
    RateLimit(Duration),
    /// The answer is malformed.
    #[error("the server sent an invalid answer: {0}")]
    Answer(String),
}

impl HttpError {
    /// The pause that the server requests.
    pub(crate) fn retry_after(&self) -> Option<Duration> {
        if let Self::RateLimit(pause) = self { Some(*pause) } else { None }
    }

    /// Whether the server understood the request and rejects it, so that a repetition is useless.
    pub(crate) fn is_rejection(&self) -> bool {
        matches!(self, Self::Status { status, .. } if (400..500).contains(status) && *status != 408)
    }
}

fn rejection(status: u16, text: &str, scopes: &str) -> String {
    let text: String = text.trim().chars().take(200).collect();
    if status == 401 || status == 403 {
        return format!("the server rejects the token; it needs the {scopes}: {text}");
    }
    format!("the server answered with status {status}: {text}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pause_applies_to_lower_priorities_and_moves_come_first_after_it() {
        let waits = Waits { answer: CONNECT_TIMEOUT, idle: CONNECT_TIMEOUT };
        let http = Http::new(Address("http://127.0.0.1:1".to_owned()), None, "", waits);
        let limit = |priority, seconds: &str| {
            let answer = Response::builder().status(429).header("Retry-After", seconds);
            let answer = answer.body(Body::builder().data("")).expect("valid");
            http.checked(priority, answer).map(drop).expect_err("a pause").retry_after()
        };
        assert_eq!(limit(Priority::Game, "30"), Some(Duration::from_secs(30)));
        let [moves, game, other] = *http.paused_until();
        assert!(moves.is_none() && game < other, "{game:?} {other:?}");
        // A shorter pause does not end a longer one.
        limit(Priority::Move, "5");
        let paused = *http.paused_until();
        assert!(paused[0].is_some() && paused[0] < game && paused[1..] == [game, other]);
        assert!(matches!(http.get("/"), Err(HttpError::RateLimit(_))));
    }

    #[test]
    fn rejects_addresses_without_encryption() {
        let address = |text: &str| text.parse::<Address>().map(|address| address.0);
        assert_eq!(address("https://lichess.org/"), Ok("https://lichess.org".to_owned()));
        assert!(address("http://127.0.0.1:9000").is_ok());
        assert!(address("http://lichess.org").is_err());
        assert!(address("http://localhost.example.org").is_err());
        assert!(address("lichess.org").is_err());
        assert!(!is_id("../x") && !is_id("") && is_id("abcDEF12"));
    }
}
