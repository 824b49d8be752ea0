//! The HTTP server: connections, authentication, files, the JSON of `/api`, sockets.

mod auth;
mod connections;
mod queue;
mod rest;
mod socket;

use std::sync::Arc;

use axum::Router;
use axum::extract::{DefaultBodyLimit, Request};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use rust_embed::{EmbeddedFile, RustEmbed};
use tokio::sync::Semaphore;

use crate::app::App;

pub(crate) use auth::{Auth, OwnHosts, Password};
pub(crate) use connections::Connections;
pub use queue::{QueueAction, QueueBoard, QueueClone};

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
    /// The match queue of the dashboard.
    pub(crate) queue: Option<Arc<dyn QueueBoard>>,
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
        .route("/api/login", post(auth::login).layer(DefaultBodyLimit::max(MAX_LOGIN)))
        .route("/api/link", post(auth::link))
        .route("/api/choices", get(rest::choices))
        .route("/api/position", post(rest::position))
        .route("/api/tablebase", post(rest::tablebase))
        .route("/api/explorer", post(rest::explorer))
        .route("/api/files", get(rest::directory))
        .route("/api/engines.toml", get(rest::engines))
        .route("/api/log/{process}", get(rest::log))
        .route("/api/library/search", post(rest::search))
        .route("/api/library/duplicates", post(rest::duplicates))
        .route("/api/import", post(rest::import))
        .route("/api/export/{game}", get(rest::export))
        .route("/api/export", get(rest::export_games))
        .route("/api/queue", get(queue::overview))
        .route("/api/queue/{match}", get(queue::details).post(queue::act))
        .route("/", get(index))
        .fallback(get(file))
        .layer(axum::middleware::from_fn_with_state(auth, auth::guard))
        .layer(DefaultBodyLimit::max(MAX_BODY))
        .with_state(service)
}

/// Bytes as hexadecimal digits.
fn hex(bytes: &[u8]) -> String {
    bytes
        .iter()
        .flat_map(|byte| [byte >> 4, byte & 15])
        .map(|digit| char::from_digit(u32::from(digit), 16).unwrap_or_default())
        .collect()
}

/// The output of `npm run build`.
#[derive(RustEmbed)]
#[folder = "../../web/dist"]
struct Dist;

async fn index(headers: HeaderMap) -> Response {
    answer("index.html", &headers)
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
    let hash = hex(&metadata.sha256_hash());
    let tag = format!("\"{hash}\"");
    let cached = [(header::ETAG, tag.clone()), (header::CACHE_CONTROL, "no-cache".to_owned())];
    if headers.get(header::IF_NONE_MATCH).is_some_and(|it| it.as_bytes() == tag.as_bytes()) {
        return (StatusCode::NOT_MODIFIED, cached).into_response();
    }
    (cached, [(header::CONTENT_TYPE, kind(path))], data).into_response()
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
