//! The dashboard of a match queue. The program that starts the server provides the queue.

use std::fmt;
use std::io::Read;
use std::path::PathBuf;
use std::sync::Arc;

use axum::Json;
use axum::extract::{Extension, Path, Query, Request, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use readyok_arena::build;
use readyok_arena::plan::{EnginePlan, Plan};
use readyok_arena::queue::status::WorkerStatus;
use serde::{Deserialize, Serialize};

use super::Service;
use super::auth::Role;
use super::rest::{error_response, receive, too_many_imports};
use crate::app::App;
use crate::matches::{Results, changed_plan, form_of, plan_of};
use crate::proposals::Proposals;
use crate::wire::{
    ApiError, ErrorCode, ErrorSubject, MatchEngine, MatchOpenings, MatchPlan, MatchProgram,
    NewQueueMatch, OpeningFiles, Proposal, ProposalAction, ProposalId, QueueAction, QueueLine,
    QueueMatch, QueueOverview, QueuePlan, QueueRole, QueueUser, QueuedId,
};

/// A match queue with its workers, for the dashboard.
pub trait QueueDashboard: fmt::Debug + Send + Sync {
    /// Open matches, finished matches that contain a text, and workers.
    ///
    /// # Errors
    /// The queue does not respond.
    fn overview(&self, search: &str) -> Result<Listing, String>;

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

/// The matches and workers of a queue.
#[derive(Clone, Debug)]
pub struct Listing {
    /// The address of the server.
    pub server: String,
    /// Open matches by priority and age.
    pub open: Vec<QueueLine>,
    /// Finished matches that contain the text of the search, the latest first.
    pub finished: Vec<QueueLine>,
    /// The workers.
    pub workers: Vec<WorkerStatus>,
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
    let proposals = Arc::clone(&service.proposals);
    answer(service, move |queue| {
        let Listing { server, open, finished, workers } = queue.overview(&search)?;
        let (user, waiting) = (user_of(&role, &proposals), proposals.waiting());
        let writable = may_control(&role);
        let proposals = waiting;
        Ok(Some(QueueOverview { server, open, finished, workers, proposals, user, writable }))
    })
    .await
}

/// The user of a session.
fn user_of(role: &Role, proposals: &Proposals) -> QueueUser {
    let (name, role) = (role.name(), role.on_queue());
    let is_new = name.is_some_and(|name| !proposals.is_approved(name));
    QueueUser {
        role,
        name: name.map(str::to_owned),
        waits: role == QueueRole::Author && is_new,
        repositories: proposals.repositories().map(str::to_owned).collect(),
    }
}

/// Whether a session controls all matches.
fn may_control(role: &Role) -> bool {
    match role.on_queue() {
        QueueRole::Owner | QueueRole::Approver => true,
        QueueRole::Author | QueueRole::Reader => false,
    }
}

/// Whether a session controls a match: an author only an own one.
fn may_control_match(role: &Role, id: &str, proposals: &Proposals) -> bool {
    let is_own =
        || role.name().is_some_and(|name| proposals.author_of(id).as_deref() == Some(name));
    may_control(role) || role.on_queue() == QueueRole::Author && is_own()
}

pub(super) async fn details(
    State(service): State<Service>,
    Extension(role): Extension<Role>,
    Path(id): Path<String>,
) -> Response {
    let writable = may_control_match(&role, &id, &service.proposals);
    answer(service, move |queue| queue.details(&id, writable)).await
}

/// The plan of a match for a copy.
pub(super) async fn plan(
    State(service): State<Service>,
    Extension(role): Extension<Role>,
    Path(id): Path<String>,
) -> Response {
    if role.on_queue() == QueueRole::Reader {
        return StatusCode::FORBIDDEN.into_response();
    }
    answer(service, move |queue| {
        let found = queue.plan(&id)?;
        Ok(found.map(|(plan, priority)| {
            let plan = form_of(&plan);
            let (max_workers, max_threads) = (None, None);
            QueuePlan { plan, priority, openings: None, base: Some(id), max_workers, max_threads }
        }))
    })
    .await
}

pub(super) async fn start(
    State(service): State<Service>,
    Extension(role): Extension<Role>,
    Json(wanted): Json<NewQueueMatch>,
) -> Response {
    let wanted = match (wanted, role.on_queue()) {
        (_, QueueRole::Reader)
        | (NewQueueMatch::Text { .. }, QueueRole::Author | QueueRole::Approver) => {
            return StatusCode::FORBIDDEN.into_response();
        }
        (NewQueueMatch::Text { text, openings }, QueueRole::Owner) => {
            return answer(service, move |queue| {
                let (plan, priority) = queue.read(&text, openings.as_deref())?;
                queue.start(&plan, priority).map(|id| Some(QueuedId { id, waits: false }))
            })
            .await;
        }
        (NewQueueMatch::Plan(wanted), _) => *wanted,
    };
    let Service { app, proposals, queue, .. } = service;
    let Some(queue) = queue else { return StatusCode::NOT_FOUND.into_response() };
    let started = tokio::task::spawn_blocking(move || match role {
        Role::Owner => {
            let engines = engines_of(&app, &wanted)?;
            start_form(&*queue, wanted, &engines).map(started)
        }
        role => propose(&*queue, &proposals, &role, wanted),
    });
    respond(started.await)
}

fn started(id: String) -> QueuedId {
    QueuedId { id, waits: false }
}

/// The response to a start.
fn respond(ended: Result<Result<QueuedId, ApiError>, tokio::task::JoinError>) -> Response {
    match ended {
        Ok(Ok(id)) => Json(id).into_response(),
        Ok(Err(error)) => error.into_response(),
        Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}

/// The engines of a form of the owner.
fn engines_of(app: &App, wanted: &QueuePlan) -> Result<Vec<EnginePlan>, ApiError> {
    let mut engines = app.engines_of(&wanted.plan)?;
    engines.iter_mut().try_for_each(find_commit)?;
    Ok(engines)
}

/// Determines the commit of an engine with a source.
fn find_commit(engine: &mut EnginePlan) -> Result<(), ApiError> {
    let Some(source) = &mut engine.source else { return Ok(()) };
    build::find_commit(source).map_err(|failure| {
        ApiError::invalid_request(ErrorCode::SourceUnavailable { cause: failure.to_string() })
    })?;
    engine.command = source.to_string();
    Ok(())
}

/// Starts the test of a member, or lets it wait for approval.
fn propose(
    queue: &dyn QueueDashboard,
    proposals: &Proposals,
    role: &Role,
    mut wanted: QueuePlan,
) -> Result<QueuedId, ApiError> {
    let author = role.name().unwrap_or_default();
    // A copy would keep what the form does not show.
    wanted.base = None;
    wanted.priority = 0;
    let engines = member_engines(&mut wanted)?;
    check_member(queue, proposals, &wanted, &engines)?;
    if role.on_queue() == QueueRole::Author && !proposals.is_approved(author) {
        let id = proposals.add(author, wanted)?;
        return Ok(QueuedId { id: id.to_string(), waits: true });
    }
    let id = start_form(queue, wanted, &engines)?;
    proposals.started(&id, author)?;
    Ok(started(id))
}

/// The engines of the form of a member: commits only. The commits are stored in the form, so that a branch that moves
/// does not change what was approved.
fn member_engines(wanted: &mut QueuePlan) -> Result<Vec<EnginePlan>, ApiError> {
    let engine = |engine: &mut MatchEngine| {
        let MatchProgram::Git { source } = &mut engine.engine else {
            return Err(ApiError::invalid_request(ErrorCode::AuthorsTestCommits));
        };
        let mut plan = EnginePlan::of_source(source.clone());
        find_commit(&mut plan)?;
        if let Some(found) = &plan.source {
            source.clone_from(found);
        }
        Ok(plan)
    };
    wanted.plan.engines.iter_mut().map(engine).collect()
}

/// Checks the test of a member.
fn check_member(
    queue: &dyn QueueDashboard,
    proposals: &Proposals,
    wanted: &QueuePlan,
    engines: &[EnginePlan],
) -> Result<(), ApiError> {
    let has_uploaded = wanted.openings.is_some();
    if !has_uploaded && matches!(wanted.plan.openings, MatchOpenings::File { .. }) {
        return Err(ApiError::invalid_request(ErrorCode::AuthorsTestCommits));
    }
    let mut plan = wanted.plan.clone();
    replace_openings(queue, &mut plan, wanted.openings.as_deref())?;
    let (plan, _) = plan_of(&plan, engines)?;
    proposals.check(&plan, has_uploaded)
}

/// Approves or removes a proposal.
pub(super) async fn decide(
    State(service): State<Service>,
    Extension(role): Extension<Role>,
    Path(id): Path<ProposalId>,
    Json(action): Json<ProposalAction>,
) -> Response {
    let Service { proposals, queue, .. } = service;
    let Some(queue) = queue else { return StatusCode::NOT_FOUND.into_response() };
    let proposal = match proposals.get(id) {
        Ok(proposal) => proposal,
        Err(error) => return error.into_response(),
    };
    let Proposal { author, mut test, .. } = proposal;
    let (is_own, controls) = (role.name() == Some(&author), may_control(&role));
    let may_decide = match action {
        ProposalAction::Approve => controls && !is_own,
        ProposalAction::Remove => controls || is_own,
    };
    if !may_decide {
        return StatusCode::FORBIDDEN.into_response();
    }
    let decided = tokio::task::spawn_blocking(move || match action {
        ProposalAction::Approve => {
            let engines = member_engines(&mut test)?;
            // The repositories may have changed since.
            check_member(&*queue, &proposals, &test, &engines)?;
            let match_id = start_form(&*queue, test, &engines)?;
            proposals.remove(id, Some(&match_id))?;
            Ok(started(match_id))
        }
        ProposalAction::Remove => {
            proposals.remove(id, None)?;
            Ok(started(id.to_string()))
        }
    });
    respond(decided.await)
}

/// Starts a match of a form.
fn start_form(
    queue: &dyn QueueDashboard,
    wanted: QueuePlan,
    engines: &[EnginePlan],
) -> Result<String, ApiError> {
    let failed = |text: String| ApiError::invalid_request(ErrorCode::system(&text));
    let QueuePlan { mut plan, priority, openings, base, max_workers, max_threads } = wanted;
    replace_openings(queue, &mut plan, openings.as_deref())?;
    let limit = |id: String| {
        if max_workers.is_some() || max_threads.is_some() {
            let limit = QueueAction::Limit { max_workers, max_threads };
            queue.act(&id, limit).map_err(failed)?;
        }
        Ok(id)
    };
    let Some(base) = base else {
        let (plan, _) = plan_of(&plan, engines)?;
        return limit(queue.start(&plan, priority).map_err(failed)?);
    };
    let found = queue.plan(&base).map_err(failed)?;
    let (original, _) = found.ok_or_else(|| ApiError::not_found(ErrorSubject::Match, &base))?;
    changed_plan(&original, &plan, engines)?;
    let change = |original: &Plan| {
        // It was checked above: the plans differ in values of environment variables only.
        changed_plan(original, &plan, engines).unwrap_or_else(|_| original.clone())
    };
    limit(queue.start_copy(&base, priority, &change).map_err(failed)?)
}

/// Replaces the openings of a plan by an uploaded file.
fn replace_openings(
    queue: &dyn QueueDashboard,
    plan: &mut MatchPlan,
    uploaded: Option<&str>,
) -> Result<(), ApiError> {
    let Some(name) = uploaded else { return Ok(()) };
    let failed = |text: String| ApiError::invalid_request(ErrorCode::system(&text));
    let path = queue.openings_path(name).map_err(failed)?;
    let (plies, shuffled) = match plan.openings {
        MatchOpenings::File { plies, shuffled, .. } => (plies, shuffled),
        _ => (None, true),
    };
    let path = path.to_string_lossy().into_owned();
    plan.openings = MatchOpenings::File { path, plies, shuffled };
    Ok(())
}

pub(super) async fn openings(
    State(service): State<Service>,
    Extension(role): Extension<Role>,
) -> Response {
    if role.on_queue() == QueueRole::Reader {
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
    if !may_act(&role, &id, &action, &service.proposals) {
        return StatusCode::FORBIDDEN.into_response();
    }
    answer(service, move |queue| queue.act(&id, action).map(|id| Some(started(id)))).await
}

/// Whether a session may change a match so.
fn may_act(role: &Role, id: &str, action: &QueueAction, proposals: &Proposals) -> bool {
    match action {
        QueueAction::Pause | QueueAction::Resume | QueueAction::Stop => {
            may_control_match(role, id, proposals)
        }
        QueueAction::Priority { .. }
        | QueueAction::Limit { .. }
        | QueueAction::Exclude { .. }
        | QueueAction::Include { .. } => may_control(role),
        QueueAction::Start | QueueAction::Remove => *role == Role::Owner,
    }
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
