//! The HTTP server: connections, authentication, files, the JSON of `/api`, sockets.

mod accounts;
mod auth;
mod connections;
mod downloads;
pub(crate) mod export;
mod password;
mod proxy;
mod queue;
mod rest;
mod socket;
mod throttle;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::Write;
use std::sync::{Arc, Mutex, PoisonError};

use axum::Router;
use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use data_encoding::HEXLOWER;
use flate2::Compression;
use flate2::write::GzEncoder;
use rust_embed::{EmbeddedFile, RustEmbed};
use sha2::{Digest, Sha256};
use tokio::sync::Semaphore;

use crate::app::App;
use crate::proposals::Proposals;

pub use accounts::{Account, AccountsError};
pub(crate) use auth::{Auth, OwnHosts};
pub(crate) use connections::Connections;
pub(crate) use downloads::DownloadAddresses;
pub use password::{Password, PasswordError};
pub use proxy::{TrustedProxy, TrustedProxyError};
pub use queue::{Listing, QueueDashboard};

/// Maximum size of the body of a request that is not an uploaded file.
const MAX_BODY: usize = 1 << 20;
/// Maximum size of the body of a client that has not authenticated.
const MAX_LOGIN: usize = 4 << 10;
/// Maximum number of files that are read concurrently.
const MAX_UPLOADS: usize = 4;

/// The state of all handlers.
#[derive(Clone)]
pub(crate) struct Service {
    pub(crate) app: Arc<App>,
    pub(crate) auth: Arc<Auth>,
    /// The directories of the file picker.
    pub(crate) roots: Arc<[std::path::PathBuf]>,
    /// Permits for files that are read concurrently.
    pub(crate) uploads: Arc<Semaphore>,
    pub(crate) downloads: DownloadAddresses,
    /// Permits for files of matches that are sent concurrently.
    pub(crate) sending: Arc<Semaphore>,
    /// The match queue of the dashboard.
    pub(crate) queue: Option<Arc<dyn QueueDashboard>>,
    /// Tests that authors propose for the queue.
    pub(crate) proposals: Arc<Proposals>,
}

/// Maximum number of files of matches that are sent concurrently.
const MAX_SENT: usize = 4;

/// Permits for files of matches that are sent concurrently.
pub(crate) fn sending() -> Arc<Semaphore> {
    Arc::new(Semaphore::new(MAX_SENT))
}

/// Permits for files that are read concurrently.
pub(crate) fn uploads() -> Arc<Semaphore> {
    Arc::new(Semaphore::new(MAX_UPLOADS))
}

/// The routes.
pub(crate) fn router(service: Service) -> Router {
    let auth = Arc::clone(&service.auth);
    Router::new()
        .route("/api/ws", get(socket::upgrade))
        .route(
            "/api/login",
            get(auth::login_methods).post(auth::login).layer(DefaultBodyLimit::max(MAX_LOGIN)),
        )
        .route("/api/link", post(auth::link))
        .route("/api/choices", get(rest::choices))
        .route("/api/position", post(rest::position))
        .route("/api/tablebase", post(rest::tablebase))
        .route("/api/explorer", post(rest::explorer))
        .route("/api/files", get(rest::directory))
        .route("/api/engines.toml", get(rest::engines))
        .route("/api/log/{process}", get(rest::log))
        .route("/api/matches", get(downloads::matches))
        .route("/api/matches/{match}", get(downloads::state))
        .route("/api/matches/{match}/files/{file}", get(downloads::local_file))
        .route("/api/matches/{match}/addresses/{file}", get(downloads::local_address))
        .route("/api/library/search", post(rest::search))
        .route("/api/library/progress", post(rest::progress))
        .route("/api/library/repertoire", post(rest::repertoire))
        .route("/api/library/duplicates", post(rest::duplicates))
        .route("/api/library/undecided", post(rest::undecided))
        .route("/api/library/faults", post(rest::faults))
        .route("/api/library/preview", post(rest::preview))
        .route("/api/library/order", post(rest::order))
        .route("/api/library/collections", post(rest::collections))
        .route("/api/library/chapters", post(rest::chapters))
        .route("/api/import", post(rest::import))
        .route("/api/training", post(rest::training))
        .route("/api/training/import", post(rest::import_exercises))
        .route("/api/export/omitted", get(export::omitted))
        .route("/api/export/{game}", get(export::export))
        .route("/api/export", get(export::export_games))
        .route("/api/queue", get(queue::overview).post(queue::start))
        .route("/api/queue/openings", get(queue::openings).post(queue::add_openings))
        .route("/api/queue/proposals/{proposal}", post(queue::decide))
        .route("/api/queue/{match}", get(queue::details).post(queue::act))
        .route("/api/queue/{match}/plan", get(queue::plan))
        .route("/api/queue/{match}/files/{file}", get(downloads::queue_file))
        .route("/api/queue/{match}/addresses/{file}", get(downloads::queue_address))
        .route("/report/{secret}", get(downloads::shown))
        .route("/", get(index))
        .fallback(get(file))
        .layer(axum::middleware::from_fn_with_state(auth, auth::guard))
        .layer(DefaultBodyLimit::max(MAX_BODY))
        .with_state(service)
}

/// The output of `npm run build`.
#[derive(RustEmbed)]
#[folder = "dist"]
struct Dist;

/// The page, with the settings of its first paint: browsers without a copy would show another language.
async fn index(State(service): State<Service>, headers: HeaderMap) -> Response {
    let Some(EmbeddedFile { data, .. }) = Dist::get("index.html") else {
        return StatusCode::NOT_FOUND.into_response();
    };
    let page = service.app.state().settings().page.clone();
    let html = String::from_utf8_lossy(&data).replacen(ROOT, &root(&page), 1);
    let hash = HEXLOWER.encode(&Sha256::digest(html.as_bytes()));
    send("index.html", hash, html.into_bytes().into(), &headers)
}

/// The start tag of the page.
const ROOT: &str = "<html lang=\"en\">";

/// The start tag with the stored language and theme.
fn root(page: &BTreeMap<String, String>) -> String {
    let known = |name: &str, values: &[&'static str]| {
        let stored = page.get(name)?;
        values.iter().find(|value| *value == stored).copied()
    };
    let language = known("language", &["en", "ja"]).map_or_else(
        || " lang=\"en\"".to_owned(),
        |language| format!(" lang=\"{language}\" data-language=\"{language}\""),
    );
    let theme = known("theme", &["light", "dark", "contrast"])
        .map_or_else(String::new, |theme| format!(" data-theme=\"{theme}\""));
    format!("<html{language}{theme}>")
}

/// Any other file. Unknown paths are routes of the page.
async fn file(request: Request) -> Response {
    let path = request.uri().path().trim_start_matches('/');
    if path.starts_with("api/") {
        return StatusCode::NOT_FOUND.into_response();
    }
    answer(path, request.headers())
}

fn answer(path: &str, headers: &HeaderMap) -> Response {
    let Some(EmbeddedFile { data, metadata }) = Dist::get(path) else {
        return StatusCode::NOT_FOUND.into_response();
    };
    send(path, HEXLOWER.encode(&metadata.sha256_hash()), data, headers)
}

/// Sends a file, unless the browser has it.
fn send(path: &str, hash: String, data: Cow<'static, [u8]>, headers: &HeaderMap) -> Response {
    let kind = kind(path);
    let is_text =
        kind.starts_with("text/") || kind == "image/svg+xml" || kind == "application/json";
    let is_gzip = is_text && accepts_gzip(headers);
    let tag = format!("\"{hash}{}\"", if is_gzip { "-gzip" } else { "" });
    let cached = [
        (header::ETAG, tag.clone()),
        (header::CACHE_CONTROL, "no-cache".to_owned()),
        (header::VARY, "accept-encoding".to_owned()),
    ];
    if headers.get(header::IF_NONE_MATCH).is_some_and(|value| value.as_bytes() == tag.as_bytes()) {
        return (StatusCode::NOT_MODIFIED, cached).into_response();
    }
    let kind = [(header::CONTENT_TYPE, kind)];
    if is_gzip && let Ok(bytes) = compressed(hash, &data) {
        return (cached, kind, [(header::CONTENT_ENCODING, "gzip")], bytes).into_response();
    }
    (cached, kind, data).into_response()
}

fn accepts_gzip(headers: &HeaderMap) -> bool {
    let accepted = headers.get(header::ACCEPT_ENCODING).and_then(|value| value.to_str().ok());
    accepted.unwrap_or_default().split(',').any(|coding| {
        let mut parts = coding.split(';').map(str::trim);
        let is_gzip = parts.next().is_some_and(|name| name.eq_ignore_ascii_case("gzip"));
        is_gzip && !parts.any(|weight| matches!(weight, "q=0" | "q=0.0" | "q=0.00" | "q=0.000"))
    })
}

/// A file compressed by gzip, once for each content.
fn compressed(hash: String, data: &[u8]) -> std::io::Result<Bytes> {
    static FILES: Mutex<BTreeMap<String, Bytes>> = Mutex::new(BTreeMap::new());
    let mut files = FILES.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(bytes) = files.get(&hash) {
        return Ok(bytes.clone());
    }
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(data)?;
    let bytes = Bytes::from(encoder.finish()?);
    files.insert(hash, bytes.clone());
    Ok(bytes)
}

fn kind(path: &str) -> &'static str {
    match path.rsplit_once('.').map(|(_, extension)| extension) {
        Some("html") => "text/html; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("svg") => "image/svg+xml",
        Some("png") => "image/png",
        Some("json" | "webmanifest") => "application/json",
        Some("woff2") => "font/woff2",
        Some("txt" | "md") => "text/plain; charset=utf-8",
        _ => "application/octet-stream",
    }
}
