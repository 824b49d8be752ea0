//! The dashboard of a match queue. The program that starts the server provides the queue.

use std::collections::BTreeMap;
use std::fmt;
use std::io::Read;
use std::sync::Arc;

use axum::Json;
use axum::extract::{Extension, Path, Query, Request, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Service;
use super::auth::Role;
use super::rest::{error_response, receive, rejected, too_many_imports};
use crate::wire::{ApiError, ErrorCode};

/// A match queue with its workers, for the dashboard.
pub trait QueueBoard: fmt::Debug + Send + Sync {
    /// Open matches, finished matches that contain a text, and workers.
    ///
    /// # Errors
    /// The queue does not respond.
    fn overview(&self, search: &str) -> Result<Value, String>;

    /// A match with all details; `None` if it does not exist.
    ///
    /// # Errors
    /// The queue does not respond.
    fn details(&self, id: &str) -> Result<Option<Value>, String>;

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

/// A change of a match by a user.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(tag = "action", rename_all = "kebab-case")]
pub enum QueueAction {
    /// Workers take no jobs.
    Pause,
    /// Workers take jobs again.
    Resume,
    /// The match ends.
    Stop,
    /// This server coordinates the match.
    Start,
    /// The match is deleted.
    Remove,
    /// The priority changes.
    Priority {
        /// The new priority.
        priority: i32,
    },
    /// Results of a worker do not count.
    Exclude {
        /// The worker.
        worker: String,
    },
    /// Results of a worker count again.
    Include {
        /// The worker.
        worker: String,
    },
    /// A new match with other settings.
    Clone(Box<QueueClone>),
}

/// The settings of a match that is a copy of another one. The others are those of the original.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct QueueClone {
    /// The name.
    pub name: Option<String>,
    /// The number of rounds.
    pub rounds: Option<u32>,
    /// The time control of all engines.
    pub tc: Option<String>,
    /// The bounds of the sequential test.
    pub sprt: Option<[f64; 2]>,
    /// The priority.
    pub priority: Option<i32>,
    /// Options by engine, in the order of the plan.
    pub options: Vec<BTreeMap<String, String>>,
}

/// The parameters of an overview.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Search {
    search: String,
}

/// A new match.
#[derive(Debug, Deserialize)]
pub(super) struct NewTest {
    text: String,
    #[serde(default)]
    openings: Option<String>,
}

/// An uploaded file.
#[derive(Debug, Deserialize)]
pub(super) struct OpeningFile {
    name: String,
}

/// Maximum length of a search text in bytes.
const MAX_SEARCH: usize = 1000;

#[derive(Serialize)]
struct Answer {
    /// Whether the user may change the queue.
    writable: bool,
    #[serde(flatten)]
    content: Value,
}

pub(super) async fn overview(
    State(service): State<Service>,
    Extension(role): Extension<Role>,
    Query(Search { mut search }): Query<Search>,
) -> Response {
    // Not an error: each page asks for the queue.
    if service.queue.is_none() {
        return Json(Value::Null).into_response();
    }
    search.truncate(search.floor_char_boundary(MAX_SEARCH));
    answer(service, role, move |queue| queue.overview(&search).map(Some)).await
}

pub(super) async fn details(
    State(service): State<Service>,
    Extension(role): Extension<Role>,
    Path(id): Path<String>,
) -> Response {
    answer(service, role, move |queue| queue.details(&id)).await
}

pub(super) async fn start(
    State(service): State<Service>,
    Extension(role): Extension<Role>,
    Json(NewTest { text, openings }): Json<NewTest>,
) -> Response {
    if role != Role::Owner {
        return StatusCode::FORBIDDEN.into_response();
    }
    answer(service, role, move |queue| {
        let id = queue.start(&text, openings.as_deref())?;
        Ok(Some(serde_json::json!({ "id": id })))
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
    answer(service, role, |queue| Ok(Some(serde_json::json!({ "files": queue.openings()? })))).await
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
        Ok(Ok(files)) => Json(serde_json::json!({ "files": files })).into_response(),
        Ok(Err(text)) => rejected(ApiError::invalid_request(ErrorCode::system(&text))),
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
    answer(service, role, move |queue| {
        Ok(Some(serde_json::json!({ "id": queue.act(&id, action)? })))
    })
    .await
}

/// Runs a request of the queue, which blocks.
async fn answer(
    service: Service,
    role: Role,
    request: impl FnOnce(Arc<dyn QueueBoard>) -> Result<Option<Value>, String> + Send + 'static,
) -> Response {
    let Some(queue) = service.queue else { return StatusCode::NOT_FOUND.into_response() };
    let writable = role == Role::Owner;
    match tokio::task::spawn_blocking(move || request(queue)).await {
        Ok(Ok(Some(content))) => Json(Answer { writable, content }).into_response(),
        Ok(Ok(None)) => StatusCode::NOT_FOUND.into_response(),
        Ok(Err(text)) => {
            let error = ApiError::invalid_request(ErrorCode::system(&text));
            error_response(StatusCode::BAD_REQUEST, error)
        }
        Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}
