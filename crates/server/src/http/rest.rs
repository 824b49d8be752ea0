//! The JSON of `/api`: positions, searches, the file picker, import and export of games.

use std::collections::HashSet;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::body::{BodyDataStream, Bytes};
use axum::extract::{self, Query, Request, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use futures_util::StreamExt;
use readyok_client::unstable::is_executable;
use readyok_protocol::Language;
use readyok_rules::{FenForm, Handicap, Move, Position, Setup};
use serde::{Deserialize, Serialize};
use tokio::sync::mpsc;
use tokio::time::timeout;

use super::Service;
use crate::app::{ExerciseFile, Upload};
use crate::errors::{illegal, io_error};
use crate::game::position_view::position_view;
use crate::game::{parse_move, read_start};
use crate::training::RepertoireRules;
use crate::wire::{
    ApiError, Chapters, ChaptersQuery, Choices, Collections, Directory, DirectoryEntry,
    DuplicateGroups, Duplicates, ErrorCategory, ErrorCode, ErrorSubject, Explorer, ExplorerQuery,
    FaultsQuery, GameId, GameOrder, GamePreview, HandicapChoice, JobFaults, LibraryPage,
    LibraryQuery, OrderQuery, PositionCheck, PreviewQuery, ProcessId, ProgressQuery, Repertoire,
    RepertoireQuery, SearchProgress, Side, Start, TablebaseQuery, TablebaseView, TrainingQuery,
    TrainingView, UndecidedDuplicates, Variant,
};

/// Maximum number of moves of a threat.
const MAX_THREAT: usize = 1000;

/// The body of a failed request: the error, and its English text for programs without the dictionaries.
#[derive(Serialize)]
struct ErrorBody {
    message: String,
    #[serde(flatten)]
    error: ApiError,
}

pub(super) fn error_response(status: StatusCode, error: ApiError) -> Response {
    (status, Json(ErrorBody { message: error.error.to_string(), error })).into_response()
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let status = status_of(self.category);
        error_response(status, self)
    }
}

fn status_of(category: ErrorCategory) -> StatusCode {
    match category {
        ErrorCategory::NotFound => StatusCode::NOT_FOUND,
        ErrorCategory::Storage => StatusCode::INTERNAL_SERVER_ERROR,
        ErrorCategory::Limit => StatusCode::PAYLOAD_TOO_LARGE,
        ErrorCategory::Conflict => StatusCode::CONFLICT,
        ErrorCategory::InvalidPath => StatusCode::FORBIDDEN,
        ErrorCategory::InvalidRequest
        | ErrorCategory::IllegalMove
        | ErrorCategory::AmbiguousMove
        | ErrorCategory::InvalidPosition
        | ErrorCategory::InvalidRecord
        | ErrorCategory::Engine => StatusCode::BAD_REQUEST,
        ErrorCategory::Online => StatusCode::BAD_GATEWAY,
    }
}

pub(super) async fn choices() -> Json<Choices> {
    let handicaps = Handicap::ALL.iter().map(|handicap| HandicapChoice {
        name: handicap.name().to_owned(),
        japanese: handicap.japanese().to_owned(),
        sfen: Setup::handicap(*handicap).text(FenForm::default()),
    });
    Json(Choices { handicaps: handicaps.collect() })
}

/// A position of the editor.
#[derive(Deserialize)]
pub(super) struct Edited {
    variant: Variant,
    #[serde(default)]
    text: String,
    /// A start position of Chess960, instead of the text.
    #[serde(default)]
    number: Option<u16>,
    /// Moves after a null move.
    #[serde(default)]
    threat: Option<Vec<String>>,
}

pub(super) async fn position(Json(edited): Json<Edited>) -> Json<PositionCheck> {
    let Edited { variant, text, number, threat } = edited;
    let setup = Setup::read(variant, &text).ok();
    let setup = setup.map(|setup| setup.text(FenForm::default()));
    let nothing = PositionCheck { position: None, text: setup, error: None, squares: Vec::new() };
    let start = match number {
        Some(_) => Start::Number { number },
        None => Start::Text { text },
    };
    let read = read_start(variant, &start, 0).and_then(|(mut position, moves)| {
        let mut last = play(&mut position, &moves)?;
        if let Some(moves) = threat {
            if MAX_THREAT < moves.len() {
                return Err(ApiError::too_many(ErrorSubject::Move));
            }
            position.play_null().map_err(|_| ApiError::conflict(ErrorCode::NullMoveNotAllowed))?;
            last = play(&mut position, &moves)?.or(last);
        }
        Ok(position_view(&position, last))
    });
    Json(match read {
        Ok(view) => {
            PositionCheck { text: Some(view.text.clone()), position: Some(view), ..nothing }
        }
        Err(error) => PositionCheck { error: Some(error.into()), ..nothing },
    })
}

/// Plays moves. Returns the last one.
fn play(position: &mut Position, moves: &[String]) -> Result<Option<Move>, ApiError> {
    let mut last = None;
    for text in moves {
        if text == "0000" {
            position.play_null().map_err(|error| illegal(&error))?;
            last = None;
            continue;
        }
        let mv = parse_move(position, text)?;
        position.play(mv).map_err(|error| illegal(&error))?;
        last = Some(mv);
    }
    Ok(last)
}

/// The language of the page.
#[derive(Default, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Shown {
    #[default]
    En,
    Ja,
}

#[derive(Deserialize)]
pub(super) struct LogQuery {
    #[serde(default)]
    language: Shown,
}

pub(super) async fn log(
    State(service): State<Service>,
    extract::Path(process): extract::Path<ProcessId>,
    Query(LogQuery { language }): Query<LogQuery>,
) -> Result<Response, ApiError> {
    let language = match language {
        Shown::En => Language::English,
        Shown::Ja => Language::Japanese,
    };
    let text = service.app.log_text(process, language);
    let text = text.ok_or_else(|| ApiError::not_found(ErrorSubject::Process, process))?;
    Ok(([(header::CONTENT_TYPE, "text/plain; charset=utf-8")], text).into_response())
}

pub(super) async fn engines(State(service): State<Service>) -> Result<Response, ApiError> {
    let text = service.app.engines_toml();
    let text = text.map_err(|error| ApiError::storage(ErrorCode::system(&error)))?;
    Ok(([(header::CONTENT_TYPE, "text/plain; charset=utf-8")], text).into_response())
}

pub(super) async fn search(
    State(service): State<Service>,
    Json(query): Json<LibraryQuery>,
) -> Result<Json<LibraryPage>, ApiError> {
    Ok(Json(service.app.search(query).await?))
}

/// How far a search is.
pub(super) async fn progress(
    State(service): State<Service>,
    Json(query): Json<ProgressQuery>,
) -> Json<Option<SearchProgress>> {
    Json(service.app.long_searches.progress(query.ticket))
}

/// The games of a repertoire.
pub(super) async fn repertoire(
    State(service): State<Service>,
    Json(query): Json<RepertoireQuery>,
) -> Result<Json<Repertoire>, ApiError> {
    Ok(Json(service.app.repertoire(query).await?))
}

pub(super) async fn tablebase(
    State(service): State<Service>,
    Json(query): Json<TablebaseQuery>,
) -> Result<Json<TablebaseView>, ApiError> {
    Ok(Json(service.app.probe_tablebases(query).await?))
}

pub(super) async fn explorer(
    State(service): State<Service>,
    Json(query): Json<ExplorerQuery>,
) -> Result<Json<Explorer>, ApiError> {
    Ok(Json(service.app.explore(query).await?))
}

#[derive(Deserialize)]
pub(super) struct UploadQuery {
    #[serde(default)]
    name: String,
    #[serde(default)]
    open: bool,
    #[serde(default)]
    duplicates: Duplicates,
    replaces: Option<GameId>,
}

/// Imports the games of a file of any size, which is read while it is received.
pub(super) async fn import(
    State(service): State<Service>,
    Query(query): Query<UploadQuery>,
    request: Request,
) -> Response {
    let Ok(permit) = service.uploads.try_acquire_owned() else {
        return too_many_imports(request);
    };
    let UploadQuery { name, open, duplicates, replaces } = query;
    let size = request.headers().get(header::CONTENT_LENGTH);
    let size = size.and_then(|size| size.to_str().ok()?.parse().ok());
    let upload = Upload { name, open, duplicates, replaces, size };
    let app = Arc::clone(&service.app);
    let imported = receive(request, move |source| {
        let _permit = permit;
        app.import(&upload, source)
    });
    match imported.await {
        Ok(mut imported) => {
            if open && let Err(error) = service.app.open_imported(&mut imported).await {
                imported.total_errors = imported.total_errors.saturating_add(1);
                imported.errors.insert(0, error.into());
            }
            Json(imported).into_response()
        }
        Err(_) => {
            ApiError::new(ErrorCategory::InvalidRecord, ErrorCode::Unreadable).into_response()
        }
    }
}

/// Rejects an upload whose body is not read.
pub(super) fn too_many_imports(request: Request) -> Response {
    tokio::spawn(discard(request.into_body().into_data_stream()));
    ApiError::conflict(ErrorCode::TooManyImports).into_response()
}

/// Maximum number of received bytes that are dropped.
const MAX_DISCARDED: usize = 4 << 30;
/// Maximum time between two of their parts.
const MAX_PAUSE: Duration = Duration::from_secs(30);

/// Receives the rest of a body, which is not needed. Browsers read the answer after they have sent all of it, and the
/// system drops the answer with a connection that is closed before.
async fn discard(mut parts: BodyDataStream) {
    let mut size = 0;
    while let Ok(Some(Ok(part))) = timeout(MAX_PAUSE, parts.next()).await {
        size += part.len();
        if MAX_DISCARDED < size {
            break;
        }
    }
}

/// Reads a body of any size while it is received.
pub(super) async fn receive<T: Send + 'static>(
    request: Request,
    read: impl FnOnce(Received) -> T + Send + 'static,
) -> Result<T, tokio::task::JoinError> {
    let (sender, receiver) = mpsc::channel(WAITING_PARTS);
    let done = tokio::task::spawn_blocking(move || {
        read(Received { receiver, part: Bytes::new(), is_complete: false })
    });
    let mut parts = request.into_body().into_data_stream();
    while let Some(part) = parts.next().await {
        if part.as_ref().is_ok_and(Bytes::is_empty) {
            continue;
        }
        if sender.send(part.map_err(io::Error::other)).await.is_err() {
            // The reader has ended before the end of the file. The answer does not wait for the rest.
            tokio::spawn(discard(parts));
            break;
        }
    }
    // Without the mark the client has disconnected or cancelled the upload.
    let _ = sender.send(Ok(Bytes::new())).await;
    done.await
}

/// The exercises of today, all exercises, and statistics.
pub(super) async fn training(
    State(service): State<Service>,
    Json(query): Json<TrainingQuery>,
) -> Result<Json<TrainingView>, ApiError> {
    Ok(Json(service.app.training_view(query).await?))
}

#[derive(Deserialize)]
pub(super) struct ExercisesQuery {
    #[serde(default)]
    name: String,
    /// The side of a repertoire; none for problems.
    side: Option<Side>,
    /// The NAGs that mark the moves of a repertoire, separated by commas.
    #[serde(default)]
    marks: String,
}

/// Imports problems or a repertoire of a file of any size, which is read while it is received.
pub(super) async fn import_exercises(
    State(service): State<Service>,
    Query(ExercisesQuery { name, side, marks }): Query<ExercisesQuery>,
    request: Request,
) -> Response {
    let Ok(permit) = service.uploads.try_acquire_owned() else {
        return too_many_imports(request);
    };
    let marks = marks.split(',').filter_map(|mark| mark.trim().parse().ok()).collect();
    let repertoire = side.map(|side| RepertoireRules { side, marks });
    let file = ExerciseFile { name, repertoire };
    let app = Arc::clone(&service.app);
    let imported = receive(request, move |source| {
        let _permit = permit;
        app.import_exercises(&file, source)
    });
    match imported.await {
        Ok(imported) => imported.map(Json).into_response(),
        Err(_) => ApiError::storage(ErrorCode::Unreadable).into_response(),
    }
}

/// Maximum number of received parts of a file that wait to be read.
const WAITING_PARTS: usize = 8;

/// A file that is being received.
pub(super) struct Received {
    /// An empty part marks the end.
    receiver: mpsc::Receiver<io::Result<Bytes>>,
    part: Bytes,
    is_complete: bool,
}

impl io::Read for Received {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.part.is_empty() && !self.is_complete {
            let part = self.receiver.blocking_recv();
            self.part = part.ok_or(ErrorKind::UnexpectedEof)??;
            self.is_complete = self.part.is_empty();
        }
        let count = buffer.len().min(self.part.len());
        buffer[..count].copy_from_slice(&self.part.split_to(count));
        Ok(count)
    }
}

/// Lists collections.
pub(super) async fn collections(
    State(service): State<Service>,
) -> Result<Json<Collections>, ApiError> {
    Ok(Json(service.app.collections().await?))
}

/// Lists the chapters of a collection.
pub(super) async fn chapters(
    State(service): State<Service>,
    Json(query): Json<ChaptersQuery>,
) -> Result<Json<Chapters>, ApiError> {
    Ok(Json(service.app.chapters(query).await?))
}

/// Lists what was wrong with the files of an import.
pub(super) async fn faults(
    State(service): State<Service>,
    Json(query): Json<FaultsQuery>,
) -> Result<Json<JobFaults>, ApiError> {
    Ok(Json(service.app.faults(query)?))
}

/// A position of a game, and its main line.
pub(super) async fn preview(
    State(service): State<Service>,
    Json(query): Json<PreviewQuery>,
) -> Result<Json<GamePreview>, ApiError> {
    Ok(Json(service.app.preview(query).await?))
}

/// The place of a game in a collection.
pub(super) async fn order(
    State(service): State<Service>,
    Json(query): Json<OrderQuery>,
) -> Result<Json<Option<GameOrder>>, ApiError> {
    Ok(Json(service.app.order(query).await?))
}

/// Lists groups of duplicates.
pub(super) async fn duplicates(
    State(service): State<Service>,
) -> Result<Json<DuplicateGroups>, ApiError> {
    Ok(Json(service.app.duplicates().await?))
}

/// Lists imported duplicates that wait for a decision.
pub(super) async fn undecided(
    State(service): State<Service>,
) -> Result<Json<UndecidedDuplicates>, ApiError> {
    Ok(Json(service.app.undecided().await?))
}

/// Maximum number of shown entries of a directory.
const MOST: usize = 2000;

#[derive(Deserialize)]
pub(super) struct DirectoryQuery {
    path: Option<String>,
}

pub(super) async fn directory(
    State(service): State<Service>,
    Query(query): Query<DirectoryQuery>,
) -> Response {
    let roots = service.roots;
    let read = tokio::task::spawn_blocking(move || match query.path {
        None => Ok(list_of_roots(&roots)),
        Some(path) => list(Path::new(&path), &roots),
    });
    match read.await {
        Ok(read) => read.map(Json).into_response(),
        Err(_) => ApiError::storage(ErrorCode::Unreadable).into_response(),
    }
}

/// The canonical path below one of the roots. Links out of the roots are rejected. Missing files are reported only
/// within the roots.
pub(super) fn allowed(path: &Path, roots: &[PathBuf]) -> Result<PathBuf, ApiError> {
    let outside = || ApiError::new(ErrorCategory::InvalidPath, ErrorCode::PathNotAllowed);
    if !path.is_absolute() {
        return Err(outside());
    }
    let real = path.canonicalize().map_err(|error| match path.parent() {
        Some(parent) if error.kind() == ErrorKind::NotFound && allowed(parent, roots).is_ok() => {
            ApiError::new(
                ErrorCategory::InvalidPath,
                ErrorCode::NotFound { subject: ErrorSubject::File },
            )
        }
        _ => outside(),
    })?;
    let is_below = |root: &PathBuf| root.canonicalize().is_ok_and(|root| real.starts_with(root));
    if roots.iter().any(is_below) { Ok(without_prefix(real)) } else { Err(outside()) }
}

/// A canonical path as users write it. Windows adds a prefix to it that many engines do not accept: `\\?\C:\engines`.
fn without_prefix(path: PathBuf) -> PathBuf {
    let short = path.to_str().filter(|_| cfg!(windows)).and_then(|text| text.strip_prefix(r"\\?\"));
    match short {
        Some(short) if short.as_bytes().get(1) == Some(&b':') => PathBuf::from(short),
        _ => path,
    }
}

fn list_of_roots(roots: &[PathBuf]) -> Directory {
    // A PATH may contain a directory more than once.
    let mut seen = HashSet::new();
    let entries = roots.iter().filter(|root| seen.insert(*root)).filter_map(|root| entry(root));
    let entries = entries.collect();
    Directory { path: None, parent: None, entries, truncated: false }
}

fn list(path: &Path, roots: &[PathBuf]) -> Result<Directory, ApiError> {
    let real = allowed(path, roots)?;
    let unreadable = |error| ApiError::new(ErrorCategory::InvalidPath, io_error(&error));
    let all = std::fs::read_dir(&real).map_err(unreadable)?;
    let mut entries: Vec<DirectoryEntry> =
        all.flatten().take(20 * MOST).filter_map(|one| entry(&one.path())).collect();
    entries.sort_by(|a, b| (!a.directory, &a.name).cmp(&(!b.directory, &b.name)));
    let truncated = MOST < entries.len();
    entries.truncate(MOST);
    let parent = real.parent().filter(|parent| allowed(parent, roots).is_ok());
    Ok(Directory {
        path: real.to_str().map(str::to_owned),
        parent: parent.and_then(Path::to_str).map(str::to_owned),
        entries,
        truncated,
    })
}

/// An entry of a directory. Names that are not UTF-8 are left out.
fn entry(path: &Path) -> Option<DirectoryEntry> {
    let about = path.metadata().ok()?;
    let text = path.to_str()?;
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or(text);
    Some(DirectoryEntry {
        name: name.to_owned(),
        path: text.to_owned(),
        directory: about.is_dir(),
        program: is_executable(path),
        size: about.len(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn duplicate_roots_are_shown_once() {
        let directory = tempfile::tempdir().expect("a directory");
        let roots = ["a", "b", "a"].map(|name| directory.path().join(name));
        for root in &roots {
            std::fs::create_dir_all(root).expect("it is made");
        }
        let shown: Vec<String> =
            list_of_roots(&roots).entries.into_iter().map(|entry| entry.name).collect();
        assert_eq!(shown, ["a", "b"]);
    }

    #[test]
    fn nothing_outside_of_the_roots_is_shown() {
        let directory = tempfile::tempdir().expect("a directory");
        let root = directory.path().join("root");
        std::fs::create_dir_all(root.join("below")).expect("it is made");
        let roots = [root.clone()];
        assert!(allowed(&root.join("below"), &roots).is_ok());
        assert!(allowed(&root.join("below/.."), &roots).is_ok());
        assert!(allowed(&root.join(".."), &roots).is_err());
        assert!(allowed(Path::new("below"), &roots).is_err());
        assert!(allowed(Path::new("/etc"), &roots).is_err());
        let code = |path: &Path| allowed(path, &roots).expect_err("it does not exist").error.code;
        assert_eq!(
            code(&root.join("none.pgn")),
            ErrorCode::NotFound { subject: ErrorSubject::File }
        );
        assert_eq!(code(&directory.path().join("none.pgn")), ErrorCode::PathNotAllowed);
        assert_eq!(code(&root.join("../none.pgn")), ErrorCode::PathNotAllowed);
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink("/etc", root.join("out")).expect("it is made");
            assert!(allowed(&root.join("out"), &roots).is_err());
        }
        let shown = list(&root, &roots).expect("it can be read");
        assert_eq!(shown.parent, None);
        assert!(shown.entries.iter().any(|entry| entry.name == "below" && entry.directory));
    }
}
