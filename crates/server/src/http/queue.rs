//! The dashboard of a match queue. The program that starts the server provides the queue.

use std::fmt;
use std::io::Read;
use std::path::PathBuf;
use std::sync::Arc;

use axum::Json;
use axum::extract::{Extension, Path, Query, Request, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use readyok_arena::plan::{EnginePlan, Plan};
use serde::{Deserialize, Serialize};

use super::Service;
use super::auth::Role;
use super::rest::{error_response, receive, too_many_imports};
use crate::matches::{Results, changed_plan, form_of, plan_of};
use crate::wire::{
    ApiError, ErrorCode, ErrorSubject, MatchOpenings, NewQueueMatch, OpeningFiles, QueueAction,
    QueueMatch, QueueOverview, QueuePlan, QueuedId,
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

    /// The results of a match that this server coordinates or has coordinated, and its name.
    ///
    /// # Errors
    /// The queue does not respond.
    fn results(&self, id: &str) -> Result<Option<(Results, String)>, String>;

    /// The plan of a match, without values of environment variables, and its priority; `None` if it does not exist.
    ///
    /// # Errors
    /// The queue does not respond.
    fn plan(&self, id: &str) -> Result<Option<(Plan, i32)>, String>;

    /// Reads a `readyok match` command or a plan in TOML, with an uploaded file of openings, if any.
    ///
    /// # Errors
    /// The text is invalid, or the file is missing.
    fn read(&self, text: &str, openings: Option<&str>) -> Result<(Plan, i32), String>;

    /// Starts a match with the programs and openings of this host. Returns its identifier.
    ///
    /// # Errors
    /// The plan is invalid, or the queue does not respond.
    fn start(&self, plan: &Plan, priority: i32) -> Result<String, String>;

    /// Starts a copy of a match with a changed plan: with its programs and openings, except those that this host must
    /// have because the change names others. Returns its identifier.
    ///
    /// # Errors
    /// The match does not exist, the plan is invalid, or the queue does not respond.
    fn start_copy(
        &self,
        id: &str,
        priority: i32,
        change: &dyn Fn(&Plan) -> Plan,
    ) -> Result<String, String>;

    /// The path of an uploaded file of openings.
    ///
    /// # Errors
    /// The name is invalid, or the file is missing.
    fn openings_path(&self, name: &str) -> Result<PathBuf, String>;

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

/// The plan of a match for a copy.
pub(super) async fn plan(
    State(service): State<Service>,
    Extension(role): Extension<Role>,
    Path(id): Path<String>,
) -> Response {
    if role != Role::Owner {
        return StatusCode::FORBIDDEN.into_response();
    }
    answer(service, move |queue| {
        let found = queue.plan(&id)?;
        Ok(found.map(|(plan, priority)| {
            let plan = form_of(&plan);
            QueuePlan { plan, priority, openings: None, base: Some(id) }
        }))
    })
    .await
}

pub(super) async fn start(
    State(service): State<Service>,
    Extension(role): Extension<Role>,
    Json(wanted): Json<NewQueueMatch>,
) -> Response {
    if role != Role::Owner {
        return StatusCode::FORBIDDEN.into_response();
    }
    let wanted = match wanted {
        NewQueueMatch::Text { text, openings } => {
            return answer(service, move |queue| {
                let (plan, priority) = queue.read(&text, openings.as_deref())?;
                queue.start(&plan, priority).map(|id| Some(QueuedId { id }))
            })
            .await;
        }
        NewQueueMatch::Plan(wanted) => *wanted,
    };
    let app = Arc::clone(&service.app);
    let Some(queue) = service.queue else { return StatusCode::NOT_FOUND.into_response() };
    let started = tokio::task::spawn_blocking(move || {
        let engines = app.engines_of(&wanted.plan)?;
        start_form(&*queue, wanted, &engines)
    });
    match started.await {
        Ok(Ok(id)) => Json(QueuedId { id }).into_response(),
        Ok(Err(error)) => error.into_response(),
        Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}

/// Starts a match of a form.
fn start_form(
    queue: &dyn QueueDashboard,
    wanted: QueuePlan,
    engines: &[EnginePlan],
) -> Result<String, ApiError> {
    let failed = |text: String| ApiError::invalid_request(ErrorCode::system(&text));
    let QueuePlan { mut plan, priority, openings, base } = wanted;
    if let Some(name) = openings {
        let path = queue.openings_path(&name).map_err(failed)?;
        let (plies, shuffled) = match plan.openings {
            MatchOpenings::File { plies, shuffled, .. } => (plies, shuffled),
            _ => (None, true),
        };
        let path = path.to_string_lossy().into_owned();
        plan.openings = MatchOpenings::File { path, plies, shuffled };
    }
    let Some(base) = base else {
        let (plan, _) = plan_of(&plan, engines)?;
        return queue.start(&plan, priority).map_err(failed);
    };
    let found = queue.plan(&base).map_err(failed)?;
    let (original, _) = found.ok_or_else(|| ApiError::not_found(ErrorSubject::Match, &base))?;
    changed_plan(&original, &plan, engines)?;
    let change = |original: &Plan| {
        // It was checked above: the plans differ in values of environment variables only.
        changed_plan(original, &plan, engines).unwrap_or_else(|_| original.clone())
    };
    queue.start_copy(&base, priority, &change).map_err(failed)
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
