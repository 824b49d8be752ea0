//! The part that listens: who may come in, files, the JSON of `/api`, sockets.

mod assets;
mod files;
mod guard;
mod record;
mod rest;
mod socket;

use std::sync::Arc;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::routing::{get, post};
use tokio::sync::Semaphore;

use crate::app::App;
use crate::store::LibraryFile;

pub(crate) use guard::{Doors, Password};

/// No upload is larger.
const LARGEST_UPLOAD: usize = 64 << 20;
/// So many files are read at once.
const MOST_UPLOADS: usize = 4;

/// What every handler can ask.
#[derive(Clone)]
pub(crate) struct Service {
    pub(crate) app: Arc<App>,
    pub(crate) doors: Arc<Doors>,
    pub(crate) library: LibraryFile,
    /// Folders that the file picker shows.
    pub(crate) roots: Arc<[std::path::PathBuf]>,
    /// Held by files that are being read.
    pub(crate) uploads: Arc<Semaphore>,
}

/// Room for the files that may be read at once.
pub(crate) fn uploads() -> Arc<Semaphore> {
    Arc::new(Semaphore::new(MOST_UPLOADS))
}

/// All that the server answers to.
pub(crate) fn router(service: Service) -> Router {
    let doors = Arc::clone(&service.doors);
    Router::new()
        .route("/api/ws", get(socket::upgrade))
        .route("/api/login", post(guard::login))
        .route("/api/link", post(guard::link))
        .route("/api/choices", get(rest::choices))
        .route("/api/position", post(rest::position))
        .route("/api/files", get(files::folder))
        .route("/api/engines.toml", get(rest::engines))
        .route("/api/log/{process}", get(rest::log))
        .route("/api/library/search", post(rest::search))
        .route("/api/import", post(record::import))
        .route("/api/export/{game}", get(record::export))
        .route("/", get(assets::index))
        .fallback(get(assets::file))
        .layer(axum::middleware::from_fn_with_state(doors, guard::guard))
        .layer(DefaultBodyLimit::max(LARGEST_UPLOAD))
        .with_state(service)
}

/// Bytes as text.
fn hex(bytes: &[u8]) -> String {
    bytes
        .iter()
        .flat_map(|byte| [byte >> 4, byte & 15])
        .map(|digit| char::from_digit(u32::from(digit), 16).unwrap_or_default())
        .collect()
}
