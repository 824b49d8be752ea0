//! HTTP requests to Lichess and its broker of analysis requests.

use std::io::{self, Read};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use ureq::http::{Method, StatusCode};

use super::job::Job;
use crate::http::{Address, Content, Http, HttpError, Waits, is_id, read};

/// What the token permits.
const SCOPES: &str = "scopes engine:read and engine:write";

/// Longest wait for an answer. The server answers a request for work after some seconds without work.
const ANSWER_TIMEOUT: Duration = Duration::from_mins(2);

/// Time without a line after which an empty line tests the connection.
const KEEP_ALIVE: Duration = Duration::from_secs(5);

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
    server: Http,
    requests: Http,
    secret: String,
}

impl Broker {
    pub(crate) fn new(server: Address, token: String, requests: Address, secret: String) -> Self {
        let http = |address, token| {
            Http::new(
                address,
                token,
                SCOPES,
                Waits { answer: ANSWER_TIMEOUT, idle: ANSWER_TIMEOUT },
            )
        };
        Self { server: http(server, Some(token)), requests: http(requests, None), secret }
    }

    /// Registers an engine, or updates the one of this name.
    pub(crate) fn register(&self, engine: &Registration) -> Result<(), HttpError> {
        const PATH: &str = "/api/external-engine";
        let listed: Vec<Registered> = read(self.server.get(PATH)?)?;
        let body =
            serde_json::to_string(engine).map_err(|error| HttpError::Answer(error.to_string()))?;
        let body = Content::Json(body);
        let answer = match listed.iter().find(|registered| registered.name == engine.name) {
            Some(known) if is_id(&known.id) => {
                self.server.send(Method::PUT, &format!("{PATH}/{}", known.id), body)
            }
            Some(_) => return Err(HttpError::Answer("an engine has an invalid ID".to_owned())),
            None => self.server.send(Method::POST, PATH, body),
        };
        answer.map(drop)
    }

    /// Waits for a request. `None` without a request for some time.
    pub(super) fn acquire(&self) -> Result<Option<Job>, HttpError> {
        let body = serde_json::json!({ "providerSecret": self.secret }).to_string();
        let body = Content::Json(body);
        let answer = self.requests.send(Method::POST, "/api/external-engine/work", body)?;
        if answer.status() == StatusCode::NO_CONTENT {
            return Ok(None);
        }
        let job: Job = read(answer)?;
        if !is_id(&job.id) {
            return Err(HttpError::Answer("a request has an invalid ID".to_owned()));
        }
        Ok(Some(job))
    }

    /// Streams lines until their end, or until the server closes the connection.
    pub(super) fn submit(&self, id: &str, lines: Receiver<String>) -> Result<(), HttpError> {
        let body = Content::Stream(Box::new(LineReader { lines, pending: Vec::new() }));
        let path = format!("/api/external-engine/work/{id}");
        self.requests.send(Method::POST, &path, body).map(drop)
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
