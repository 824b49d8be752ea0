//! The HTTP client of online services. This is the only code of the server that connects to other computers.
//!
//! A request has a connection of its own, over TLS with the certificates of Mozilla. Redirects are not followed. When an
//! answer is dropped, its connection is closed.

use std::net::SocketAddr;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use axum::body::{Body, BodyDataStream, Bytes};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Request, StatusCode, header};
use futures_util::StreamExt;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout, timeout_at};
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::pki_types::ServerName;
use tokio_rustls::rustls::{ClientConfig, RootCertStore, crypto};

use super::{Access, OnlineError};
use crate::time::instant;
use crate::wire::OnlineService;

/// Program, version and contact, which both sites request.
const USER_AGENT: &str =
    concat!("readyok/", env!("CARGO_PKG_VERSION"), " (+", env!("CARGO_PKG_REPOSITORY"), ")");

/// Maximum size of the head of an answer, in bytes.
const MAX_HEAD: usize = 64 << 10;

/// The wait after a 429 without a usable `Retry-After`, and the longest one.
const DEFAULT_WAIT: Duration = Duration::from_mins(1);
const MAX_WAIT: Duration = Duration::from_hours(1);

trait Connection: AsyncRead + AsyncWrite + Send + Unpin {}
impl<T: AsyncRead + AsyncWrite + Send + Unpin> Connection for T {}

/// An answer with a status of success, or 304 for a conditional request.
pub(crate) struct Answer {
    service: OnlineService,
    /// None if the content has the requested version.
    parts: Option<BodyDataStream>,
    headers: HeaderMap,
    timeout: Duration,
    /// When the last part was received.
    received: Instant,
    /// The task of the connection, which ends with the answer.
    _connection: JoinSet<()>,
}

/// Requests a path with a query.
pub(crate) async fn get(
    access: &Access,
    path: &str,
    accept: &'static str,
    version: Option<&str>,
) -> Result<Answer, OnlineError> {
    let service = access.service;
    let limit = access.setup.timeout;
    timeout(limit, send(access, path, accept, version))
        .await
        .map_err(|_| OnlineError::Timeout(service))?
}

async fn send(
    access: &Access,
    path: &str,
    accept: &'static str,
    version: Option<&str>,
) -> Result<Answer, OnlineError> {
    let service = access.service;
    let unreachable = |error: &dyn ToString| OnlineError::Unreachable(service, error.to_string());
    let connection = connect(service, access.setup.substitute).await;
    let io = TokioIo::new(connection.map_err(|error| unreachable(&error))?);
    let mut builder = http1::Builder::new();
    builder.max_buf_size(MAX_HEAD);
    let (mut sender, connection) =
        builder.handshake(io).await.map_err(|error| unreachable(&error))?;
    let mut tasks = JoinSet::new();
    tasks.spawn(async move {
        // An error is also one of the request or of the body.
        let _ = connection.await;
    });
    let request = request(access, path, accept, version);
    let request = request.map_err(|error| unreachable(&error))?;
    let answer = sender.send_request(request).await;
    let (head, body) = answer.map_err(|_| OnlineError::Interrupted(service))?.into_parts();
    let is_unchanged = head.status == StatusCode::NOT_MODIFIED && version.is_some();
    if !is_unchanged {
        check(service, head.status, &head.headers)?;
    }
    Ok(Answer {
        service,
        parts: (!is_unchanged).then(|| Body::new(body).into_data_stream()),
        headers: head.headers,
        timeout: access.setup.timeout,
        received: Instant::from_std(instant()),
        _connection: tasks,
    })
}

async fn connect(
    service: OnlineService,
    substitute: Option<SocketAddr>,
) -> std::io::Result<Box<dyn Connection>> {
    if let Some(address) = substitute.filter(|address| address.ip().is_loopback()) {
        return Ok(Box::new(TcpStream::connect(address).await?));
    }
    let stream = TcpStream::connect((service.text(), 443)).await?;
    stream.set_nodelay(true)?;
    let name = ServerName::try_from(service.text()).map_err(std::io::Error::other)?;
    Ok(Box::new(TlsConnector::from(tls()?).connect(name, stream).await?))
}

fn tls() -> std::io::Result<Arc<ClientConfig>> {
    static CONFIG: OnceLock<Arc<ClientConfig>> = OnceLock::new();
    if let Some(config) = CONFIG.get() {
        return Ok(Arc::clone(config));
    }
    let roots = RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() };
    let provider = Arc::new(crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(std::io::Error::other)?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(Arc::clone(CONFIG.get_or_init(|| Arc::new(config))))
}

fn request(
    access: &Access,
    path: &str,
    accept: &'static str,
    version: Option<&str>,
) -> Result<Request<Body>, axum::http::Error> {
    let mut request = Request::get(path)
        .header(header::HOST, access.service.text())
        .header(header::USER_AGENT, USER_AGENT)
        .header(header::ACCEPT, accept)
        .header(header::CONNECTION, "close");
    if let Some(version) = version {
        request = request.header(header::IF_NONE_MATCH, version);
    }
    if let Some(token) = &access.token {
        let mut value = HeaderValue::try_from(format!("Bearer {}", token.text()))?;
        value.set_sensitive(true);
        request = request.header(header::AUTHORIZATION, value);
    }
    request.body(Body::empty())
}

fn check(
    service: OnlineService,
    status: StatusCode,
    headers: &HeaderMap,
) -> Result<(), OnlineError> {
    match status {
        StatusCode::OK => Ok(()),
        StatusCode::TOO_MANY_REQUESTS => {
            let seconds = text(headers, &header::RETRY_AFTER).and_then(|text| text.parse().ok());
            let wait = seconds.map_or(DEFAULT_WAIT, Duration::from_secs);
            Err(OnlineError::RateLimited(service, wait.min(MAX_WAIT)))
        }
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => {
            Err(OnlineError::TokenRejected(service))
        }
        StatusCode::NOT_FOUND | StatusCode::GONE => Err(OnlineError::NotFound(service)),
        status => Err(OnlineError::Status(service, status.as_u16())),
    }
}

fn text<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    headers.get(name)?.to_str().ok()
}

impl Answer {
    /// The service that has answered.
    pub(super) fn service(&self) -> OnlineService {
        self.service
    }

    /// Whether the content has the requested version, and is not sent.
    pub(crate) fn is_unchanged(&self) -> bool {
        self.parts.is_none()
    }

    /// The version of the content.
    pub(crate) fn version(&self) -> Option<String> {
        text(&self.headers, &header::ETAG).map(str::to_owned)
    }

    /// The next part; none at the end. It can be cancelled without loss.
    pub(super) async fn next(&mut self) -> Result<Option<Bytes>, OnlineError> {
        let Some(parts) = &mut self.parts else { return Ok(None) };
        let part = timeout_at(self.received + self.timeout, parts.next()).await;
        let part = part.map_err(|_| OnlineError::Timeout(self.service))?;
        self.received = Instant::from_std(instant());
        part.transpose().map_err(|_| OnlineError::Interrupted(self.service))
    }

    /// The whole content.
    pub(crate) async fn content(mut self, limit: usize) -> Result<Vec<u8>, OnlineError> {
        let mut content = Vec::new();
        while let Some(part) = self.next().await? {
            if limit < content.len() + part.len() {
                return Err(OnlineError::TooLarge(self.service));
            }
            content.extend_from_slice(&part);
        }
        Ok(content)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The features of the TLS crates suffice, and the hosts are names that certificates can have.
    #[test]
    fn connections_over_tls_are_configured() {
        let config = tls().expect("a configuration");
        assert!(!config.crypto_provider().cipher_suites.is_empty());
        for (_, host) in OnlineService::TEXTS {
            assert!(ServerName::try_from(*host).is_ok(), "{host}");
        }
    }

    #[test]
    fn a_rate_limit_has_bounds() {
        let service = OnlineService::LichessGames;
        let wait = |value: Option<&'static str>| {
            let mut headers = HeaderMap::new();
            let value = value.map(HeaderValue::from_static);
            headers.extend(value.map(|value| (header::RETRY_AFTER, value)));
            match check(service, StatusCode::TOO_MANY_REQUESTS, &headers) {
                Err(OnlineError::RateLimited(_, wait)) => wait,
                other => panic!("{other:?}"),
            }
        };
        assert_eq!(wait(Some("7")), Duration::from_secs(7));
        assert_eq!(wait(None), DEFAULT_WAIT);
        assert_eq!(wait(Some("Wed, 21 Oct 2026 07:28:00 GMT")), DEFAULT_WAIT);
        assert_eq!(wait(Some("999999999")), MAX_WAIT);
    }
}
