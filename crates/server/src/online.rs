//! Online services: accounts of Lichess and chess.com, the explorer and the tablebases of Lichess.
//!
//! ```text
//!  settings ── Access::new ──> Access ── client ──> host of the service
//!             (off: an error)                └──> lichess, chesscom: their formats
//! ```
//! Only [`client`] opens connections to other computers, and it needs an [`Access`], which exists only for a service
//! that the user has switched on.

pub(crate) mod chesscom;
pub(crate) mod client;
pub(crate) mod lichess;
pub(crate) mod lines;
pub(crate) mod lookups;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use crate::wire::{ApiError, ErrorCategory, ErrorCode, ErrorInfo, OnlineService, OnlineSettings};

/// How online services are reached.
#[derive(Clone, Debug)]
pub struct OnlineSetup {
    /// A server on the loopback interface that takes the place of all services, for tests.
    pub substitute: Option<SocketAddr>,
    /// The time limit for a connection, for an answer, and between two parts of one.
    pub timeout: Duration,
    /// The time before the first repetition of a failed request; it doubles with each further one.
    pub retry: Duration,
}

impl Default for OnlineSetup {
    fn default() -> Self {
        let (timeout, retry) = (Duration::from_mins(1), Duration::from_secs(2));
        Self { substitute: None, timeout, retry }
    }
}

/// An API token of Lichess. It is never printed.
#[derive(Clone)]
pub(crate) struct Token(Arc<str>);

impl Token {
    /// Longest token, in bytes.
    const MAX: usize = 200;

    /// None if the text cannot be a token.
    pub(crate) fn new(text: &str) -> Option<Self> {
        let is_valid = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.~+/=".contains(&byte);
        let fits = (1..=Self::MAX).contains(&text.len()) && text.bytes().all(is_valid);
        fits.then(|| Self(text.into()))
    }

    pub(crate) fn text(&self) -> &str {
        &self.0
    }
}

/// The permission to send requests to a service.
pub(crate) struct Access {
    service: OnlineService,
    token: Option<Token>,
    setup: OnlineSetup,
}

impl Access {
    /// # Errors
    /// The service is switched off, or requires a token.
    pub(crate) fn new(
        service: OnlineService,
        settings: &OnlineSettings,
        token: Option<Token>,
        setup: &OnlineSetup,
    ) -> Result<Self, OnlineError> {
        if !settings.services.contains(&service) {
            return Err(OnlineError::Off(service));
        }
        let token = match service {
            OnlineService::LichessGames => token,
            OnlineService::LichessExplorer => Some(token.ok_or(OnlineError::NoToken(service))?),
            OnlineService::ChesscomGames | OnlineService::LichessTablebase => None,
        };
        Ok(Self { service, token, setup: setup.clone() })
    }
}

/// A game of an account.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct OnlineGame {
    /// The address of its page.
    pub(crate) address: String,
    /// The header of the record with the address.
    pub(crate) tag: &'static str,
    pub(crate) pgn: String,
    /// Unix time in milliseconds by which the games of the account are sorted.
    pub(crate) time: u64,
}

/// A request has no usable answer.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum OnlineError {
    /// The service is switched off.
    Off(OnlineService),
    /// The service requires a token, and none is stored.
    NoToken(OnlineService),
    /// No connection, with the reason.
    Unreachable(OnlineService, String),
    /// The connection ended before the end of the answer.
    Interrupted(OnlineService),
    /// No answer, or no further part of one, in time.
    Timeout(OnlineService),
    /// Too many requests; the next one is permitted after this time.
    RateLimited(OnlineService, Duration),
    /// The token is not accepted.
    TokenRejected(OnlineService),
    /// There is no such account.
    NotFound(OnlineService),
    /// Another status.
    Status(OnlineService, u16),
    /// The answer is larger than permitted.
    TooLarge(OnlineService),
    /// The answer has another format.
    Malformed(OnlineService),
    /// The work was stopped by the user, or with the server.
    Stopped,
}

impl OnlineError {
    /// Whether a repetition can succeed.
    pub(crate) fn is_transient(&self) -> bool {
        match self {
            Self::Unreachable(..)
            | Self::Interrupted(_)
            | Self::Timeout(_)
            | Self::RateLimited(..) => true,
            Self::Status(_, status) => 500 <= *status,
            Self::Off(_)
            | Self::NoToken(_)
            | Self::TokenRejected(_)
            | Self::NotFound(_)
            | Self::TooLarge(_)
            | Self::Malformed(_)
            | Self::Stopped => false,
        }
    }
}

impl From<OnlineError> for ErrorInfo {
    fn from(error: OnlineError) -> Self {
        let code = match error {
            OnlineError::Off(host) => ErrorCode::ServiceOff { host },
            OnlineError::NoToken(host) => ErrorCode::TokenRequired { host },
            OnlineError::Unreachable(host, text) => ErrorCode::ServiceUnreachable { host, text },
            OnlineError::Interrupted(host) => ErrorCode::ServiceInterrupted { host },
            OnlineError::Timeout(host) => ErrorCode::ServiceTimeout { host },
            OnlineError::RateLimited(host, wait) => {
                ErrorCode::RateLimited { host, seconds: wait.as_secs() }
            }
            OnlineError::TokenRejected(host) => ErrorCode::TokenRejected { host },
            OnlineError::NotFound(host) => ErrorCode::ServiceStatus { host, status: 404 },
            OnlineError::Status(host, status) => ErrorCode::ServiceStatus { host, status },
            OnlineError::TooLarge(host) => ErrorCode::AnswerTooLarge { host },
            OnlineError::Malformed(host) => ErrorCode::AnswerMalformed { host },
            OnlineError::Stopped => ErrorCode::ShuttingDown,
        };
        code.into()
    }
}

impl ApiError {
    pub(crate) fn online(error: OnlineError) -> Self {
        let category = match error {
            OnlineError::Off(_) | OnlineError::NoToken(_) => ErrorCategory::Conflict,
            _ => ErrorCategory::Online,
        };
        Self::new(category, error)
    }
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use super::*;

    fn sources(directory: &Path, found: &mut Vec<PathBuf>) {
        for entry in directory.read_dir().expect("it can be listed") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                sources(&path, found);
            } else {
                found.push(path);
            }
        }
    }

    /// What opens connections. `serve.rs` asks the server that runs already, on loopback, for a link.
    #[test]
    fn only_the_client_opens_connections() {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
        let mut files = Vec::new();
        sources(&source, &mut files);
        let opens = |path: &PathBuf| {
            let text = std::fs::read_to_string(path).expect("it can be read");
            let text = text.split("#[cfg(test)]").next().unwrap_or_default();
            ["TcpStream::connect", "TcpSocket", "UdpSocket", "lookup_host", "client::conn", "ureq"]
                .iter()
                .any(|call| text.contains(call))
        };
        let names = files.iter().filter(|path| opens(path));
        let mut names: Vec<_> =
            names.map(|path| path.strip_prefix(&source).expect("a source").to_owned()).collect();
        names.sort();
        assert_eq!(names, [Path::new("online/client.rs"), Path::new("serve.rs")]);
    }

    #[test]
    fn a_service_that_is_off_has_no_access() {
        let setup = OnlineSetup::default();
        let token = Token::new("lip_secret");
        let mut settings = OnlineSettings::default();
        assert_eq!(SERVICES.len(), OnlineService::TEXTS.len());
        for service in SERVICES {
            let access = |settings: &OnlineSettings| {
                Access::new(service, settings, token.clone(), &setup).map(|access| access.token)
            };
            assert_eq!(access(&settings).err(), Some(OnlineError::Off(service)));
            settings.services.insert(service);
            let gets_token = service.text().ends_with("lichess.org")
                && service != OnlineService::LichessTablebase;
            let given = access(&settings).expect("it is on");
            assert_eq!(given.is_some(), gets_token, "{service:?}");
            settings.services.clear();
        }
    }

    const SERVICES: [OnlineService; 4] = [
        OnlineService::LichessGames,
        OnlineService::ChesscomGames,
        OnlineService::LichessExplorer,
        OnlineService::LichessTablebase,
    ];

    #[test]
    fn tokens_cannot_break_out_of_a_header() {
        for text in ["", "a b", "a\r\nHost: x", "é", &"x".repeat(201)] {
            assert!(Token::new(text).is_none(), "{text}");
        }
        assert!(Token::new("lip_AbC123").is_some());
    }
}
