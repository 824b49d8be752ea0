//! HTTP requests to Lichess and its broker of analysis requests.

use std::io::{self, Read};
use std::str::FromStr;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use ureq::http::{Response, StatusCode};
use ureq::{Agent, Body, SendBody};

use super::job::Job;

/// Longest wait for a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(20);

/// Longest wait for an answer. The server answers a request for work after some seconds without work.
const ANSWER_TIMEOUT: Duration = Duration::from_mins(2);

/// Largest answer.
const MAX_ANSWER: u64 = 1 << 20;

/// Time without a line after which an empty line tests the connection.
const KEEP_ALIVE: Duration = Duration::from_secs(5);

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

/// The properties of an offered engine.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Registration {
    pub(crate) name: String,
    pub(crate) max_threads: u32,
    pub(crate) max_hash: u32,
    pub(crate) default_depth: u32,
    pub(crate) variants: Vec<String>,
    pub(crate) provider_secret: String,
}

/// A registered engine.
#[derive(Debug, Deserialize)]
struct Registered {
    id: String,
    name: String,
}

/// The servers. Secrets are never printed.
pub(crate) struct Broker {
    agent: Agent,
    server: Address,
    requests: Address,
    secret: String,
}

impl Broker {
    pub(crate) fn new(server: Address, requests: Address, secret: String) -> Self {
        let config = Agent::config_builder()
            .http_status_as_error(false)
            // Another server must not receive the secrets.
            .max_redirects(0)
            .user_agent(concat!("readyok/", env!("CARGO_PKG_VERSION")))
            .timeout_connect(Some(CONNECT_TIMEOUT))
            .timeout_recv_response(Some(ANSWER_TIMEOUT))
            .timeout_recv_body(Some(ANSWER_TIMEOUT))
            .build();
        Self { agent: config.into(), server, requests, secret }
    }

    /// Registers an engine, or updates the one of this name.
    pub(crate) fn register(&self, token: &str, engine: &Registration) -> Result<(), BrokerError> {
        let bearer = format!("Bearer {token}");
        let url = format!("{}/api/external-engine", self.server.0);
        let listed = self.agent.get(&url).header("Authorization", &bearer).call();
        let listed: Vec<Registered> = read(checked(listed?)?)?;
        let body =
            serde_json::to_vec(engine).map_err(|error| BrokerError::Answer(error.to_string()))?;
        let request = match listed.iter().find(|registered| registered.name == engine.name) {
            Some(known)
                if known.id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') =>
            {
                self.agent.put(format!("{url}/{}", known.id))
            }
            Some(_) => return Err(BrokerError::Answer("an engine has an invalid ID".to_owned())),
            None => self.agent.post(&url),
        };
        let request = request.header("Authorization", &bearer).content_type("application/json");
        checked(request.send(body)?).map(drop)
    }

    /// Waits for a request. `None` without a request for some time.
    pub(super) fn acquire(&self) -> Result<Option<Job>, BrokerError> {
        let url = format!("{}/api/external-engine/work", self.requests.0);
        let body = serde_json::json!({ "providerSecret": self.secret }).to_string();
        let answer = checked(self.agent.post(url).content_type("application/json").send(body)?)?;
        if answer.status() == StatusCode::NO_CONTENT {
            return Ok(None);
        }
        let job: Job = read(answer)?;
        if job.id.is_empty()
            || !job.id.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
        {
            return Err(BrokerError::Answer("a request has an invalid ID".to_owned()));
        }
        Ok(Some(job))
    }

    /// Streams lines until their end, or until the server closes the connection.
    pub(super) fn submit(&self, id: &str, lines: Receiver<String>) -> Result<(), BrokerError> {
        let url = format!("{}/api/external-engine/work/{id}", self.requests.0);
        let body = SendBody::from_owned_reader(LineReader { lines, pending: Vec::new() });
        checked(self.agent.post(url).content_type("text/plain").send(body)?).map(drop)
    }
}

/// The lines of an engine as a body of unknown length.
struct LineReader {
    lines: Receiver<String>,
    pending: Vec<u8>,
}

impl Read for LineReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.pending.is_empty() {
            let line = match self.lines.recv_timeout(KEEP_ALIVE) {
                Ok(line) => line,
                Err(RecvTimeoutError::Timeout) => String::new(),
                Err(RecvTimeoutError::Disconnected) => return Ok(0),
            };
            self.pending = line.into_bytes();
            self.pending.push(b'\n');
        }
        let length = self.pending.len().min(buffer.len());
        for (byte, line) in buffer.iter_mut().zip(self.pending.drain(..length)) {
            *byte = line;
        }
        Ok(length)
    }
}

/// An answer of success.
fn checked(mut answer: Response<Body>) -> Result<Response<Body>, BrokerError> {
    let status = answer.status();
    if status.is_success() {
        return Ok(answer);
    }
    let text = answer.body_mut().with_config().limit(1000).read_to_string().unwrap_or_default();
    Err(BrokerError::Status { status: status.as_u16(), text })
}

fn read<T: for<'a> Deserialize<'a>>(mut answer: Response<Body>) -> Result<T, BrokerError> {
    let text = answer.body_mut().with_config().limit(MAX_ANSWER).read_to_string()?;
    serde_json::from_str(&text).map_err(|error| BrokerError::Answer(error.to_string()))
}

/// A failed request.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BrokerError {
    /// The connection failed.
    #[error("the server cannot be reached: {0}")]
    Connection(#[from] ureq::Error),
    /// The server rejected the request.
    #[error("{}", rejection(*status, text))]
    Status { status: u16, text: String },
    /// The answer is malformed.
    #[error("the server sent an invalid answer: {0}")]
    Answer(String),
}

fn rejection(status: u16, text: &str) -> String {
    if [401, 403].contains(&status) {
        return "the server rejects the token; it needs the scopes engine:read and engine:write"
            .to_owned();
    }
    let text: String = text.chars().take(200).collect();
    format!("the server answered with status {status}: {}", text.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rejects_addresses_without_encryption() {
        let address = |text: &str| text.parse::<Address>().map(|address| address.0);
        assert_eq!(address("https://lichess.org/"), Ok("https://lichess.org".to_owned()));
        assert!(address("http://127.0.0.1:9000").is_ok());
        assert!(address("http://lichess.org").is_err());
        assert!(address("http://localhost.example.org").is_err());
        assert!(address("lichess.org").is_err());
    }
}
