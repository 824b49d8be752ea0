//! The dashboard of a match queue. The program that starts the server provides the queue.

use std::fmt;
use std::io::Read;
use std::sync::Arc;

use axum::Json;
use axum::extract::{Extension, Path, Query, Request, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};

use super::Service;
use super::auth::Role;
use super::rest::{error_response, receive, too_many_imports};
use crate::wire::{
    ApiError, ErrorCode, NewQueueMatch, OpeningFiles, QueueAction, QueueMatch, QueueOverview,
    QueuedId,
};

/// A match queue with its workers, for the dashboard.
pub trait QueueDashboard: fmt::Debug + Send + Sync {
    /// Open matches, finished matches that contain a text, and workers, for a user who may change the queue or not.
    ///
    /// # Errors
    /// The queue does not respond.
    fn overview(&self, search: &str, writable: bool) -> Result<QueueOverview, String>;

    /// A match with all details; `None` if it does not exist.
    ///
    /// # Errors
    /// The queue does not respond.
    fn details(&self, id: &str, writable: bool) -> Result<Option<QueueMatch>, String>;

    /// Starts a match from a `readyok match` command or a plan in TOML, with an uploaded file of openings, if any.
    /// Returns its identifier.
    ///
    /// # Errors
    /// The text is invalid, the file is missing, or the queue does not respond.
    fn start(&self, text: &str, openings: Option<&str>) -> Result<String, String>;

    /// The names of the uploaded files of openings, sorted.
    ///
    /// # Errors
    /// The directory cannot be read.
    fn openings(&self) -> Result<Vec<String>, String>;

    /// Stores a file of openings for later matches.
    ///
    /// # Errors
    /// The name is invalid or in use, or the file is too large or cannot be stored.
    fn add_openings(&self, name: &str, content: &mut dyn Read) -> Result<(), String>;

    /// Changes a match. Returns the identifier of the match to show next.
    ///
    /// # Errors
    /// The queue or the change is invalid.
    fn act(&self, id: &str, action: QueueAction) -> Result<String, String>;
}

/// The parameters of an overview.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Search {
    search: String,
}

/// An uploaded file.
#[derive(Debug, Deserialize)]
pub(super) struct OpeningFile {
    name: String,
}

/// Maximum length of a search text in bytes.
const MAX_SEARCH: usize = 1000;

pub(super) async fn overview(
    State(service): State<Service>,
    Extension(role): Extension<Role>,
    Query(Search { mut search }): Query<Search>,
) -> Response {
    // Not an error: each page asks for the queue.
    if service.queue.is_none() {
        return Json(None::<QueueOverview>).into_response();
    }
    search.truncate(search.floor_char_boundary(MAX_SEARCH));
    answer(service, move |queue| queue.overview(&search, role == Role::Owner).map(Some)).await
}

pub(super) async fn details(
    State(service): State<Service>,
    Extension(role): Extension<Role>,
    Path(id): Path<String>,
) -> Response {
    answer(service, move |queue| queue.details(&id, role == Role::Owner)).await
}

pub(super) async fn start(
    State(service): State<Service>,
    Extension(role): Extension<Role>,
    Json(NewQueueMatch { text, openings }): Json<NewQueueMatch>,
) -> Response {
    if role != Role::Owner {
        return StatusCode::FORBIDDEN.into_response();
    }
    answer(service, move |queue| {
        queue.start(&text, openings.as_deref()).map(|id| Some(QueuedId { id }))
    })
    .await
}

pub(super) async fn openings(
    State(service): State<Service>,
    Extension(role): Extension<Role>,
) -> Response {
    if role != Role::Owner {
        return StatusCode::FORBIDDEN.into_response();
    }
    answer(service, |queue| queue.openings().map(|files| Some(OpeningFiles { files }))).await
}

pub(super) async fn add_openings(
    State(service): State<Service>,
    Extension(role): Extension<Role>,
    Query(OpeningFile { name }): Query<OpeningFile>,
    request: Request,
) -> Response {
    if role != Role::Owner {
        return StatusCode::FORBIDDEN.into_response();
    }
    let Some(queue) = service.queue else { return StatusCode::NOT_FOUND.into_response() };
    let Ok(permit) = service.uploads.try_acquire_owned() else {
        return too_many_imports(request);
    };
    let stored = receive(request, move |mut content| {
        let _permit = permit;
        queue.add_openings(&name, &mut content)?;
        queue.openings()
    });
    match stored.await {
        Ok(Ok(files)) => Json(OpeningFiles { files }).into_response(),
        Ok(Err(text)) => ApiError::invalid_request(ErrorCode::system(&text)).into_response(),
        Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}

pub(super) async fn act(
    State(service): State<Service>,
    Extension(role): Extension<Role>,
    Path(id): Path<String>,
    Json(action): Json<QueueAction>,
) -> Response {
    if role != Role::Owner {
        return StatusCode::FORBIDDEN.into_response();
    }
    answer(service, move |queue| queue.act(&id, action).map(|id| Some(QueuedId { id }))).await
}

/// Runs a request of the queue, which blocks.
async fn answer<T: Serialize + Send + 'static>(
    service: Service,
    request: impl FnOnce(Arc<dyn QueueDashboard>) -> Result<Option<T>, String> + Send + 'static,
) -> Response {
    let Some(queue) = service.queue else { return StatusCode::NOT_FOUND.into_response() };
    match tokio::task::spawn_blocking(move || request(queue)).await {
        Ok(Ok(Some(content))) => Json(content).into_response(),
        Ok(Ok(None)) => StatusCode::NOT_FOUND.into_response(),
        Ok(Err(text)) => {
            let error = ApiError::invalid_request(ErrorCode::system(&text));
            error_response(StatusCode::BAD_REQUEST, error)
        }
        Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}
