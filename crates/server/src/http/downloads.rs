//! Matches for readers: their states, and the files that they download.
//!
//! A new tab of the browser, or a download that is not kept in memory, sends no secret. So the page requests a temporary
//! address of a file, and opens it.

use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use axum::Json;
use axum::body::{Body, Bytes};
use axum::extract::{Extension, Path, Query, State};
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use tokio::runtime::Handle;
use tokio::sync::mpsc;
use tokio::time::timeout;

use super::Service;
use super::auth::Secret;
use super::connections::Connection;
use super::proxy::Origin;
use super::rest::error_response;
use crate::matches::{MatchFile, Results};
use crate::time::instant;
use crate::wire::{
    ApiError, DownloadAddress, ErrorCode, ErrorSubject, MatchId, MatchState, MatchesState,
};

/// How long an address is valid.
const VALIDITY: Duration = Duration::from_hours(12);

/// Maximum number of valid addresses.
const MAX_ADDRESSES: usize = 100;

/// Maximum number of parts that wait to be sent.
const WAITING_PARTS: usize = 4;

/// Maximum time for which a client reads nothing: it occupies a permit and a thread.
const MAX_PAUSE: Duration = Duration::from_mins(1);

/// Maximum length of the name of a match in the name of a file.
const MAX_NAME: usize = 60;

/// Scripts and styles of a report are inline. It has an origin of its own, without access to the app.
const POLICY: &str = "sandbox allow-scripts; default-src 'none'; style-src 'unsafe-inline'; \
                      script-src 'unsafe-inline'; frame-ancestors 'none'";

/// A match of this server.
#[derive(Clone, Debug)]
enum MatchRef {
    Local(MatchId),
    /// A match of the queue.
    Queue(String),
}

/// A file of a match.
#[derive(Clone, Debug)]
struct Download {
    of: MatchRef,
    file: MatchFile,
    /// The record of this game only, by its number in the match.
    game: Option<u32>,
}

/// The temporary addresses of downloads.
#[derive(Clone, Default)]
pub(crate) struct DownloadAddresses(Arc<Mutex<VecDeque<Address>>>);

struct Address {
    secret: Secret,
    download: Download,
    since: Instant,
}

impl DownloadAddresses {
    fn add(&self, download: Download) -> io::Result<String> {
        let secret = Secret::new()?;
        let text = secret.text();
        let mut addresses = self.lock();
        if addresses.len() == MAX_ADDRESSES {
            addresses.pop_front();
        }
        addresses.push_back(Address { secret, download, since: instant() });
        Ok(text)
    }

    fn find(&self, text: &str) -> Option<Download> {
        let mut addresses = self.lock();
        addresses.retain(|address| address.since.elapsed() < VALIDITY);
        let found = addresses.iter().find(|address| address.secret.is(text));
        found.map(|address| address.download.clone())
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<Address>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The local matches.
pub(super) async fn matches(
    State(service): State<Service>,
) -> Result<Json<MatchesState>, ApiError> {
    service.app.match_lines().map(Json)
}

/// The state of a local match.
pub(super) async fn state(
    State(service): State<Service>,
    Path(id): Path<MatchId>,
) -> Result<Json<Arc<MatchState>>, ApiError> {
    service.app.match_state(id).await.map(Json)
}

#[derive(Deserialize)]
pub(super) struct Wanted {
    game: Option<u32>,
}

/// A file of a local match.
pub(super) async fn local_file(
    State(service): State<Service>,
    Path((id, file)): Path<(MatchId, String)>,
    Query(Wanted { game }): Query<Wanted>,
) -> Response {
    send_named(service, MatchRef::Local(id), &file, game).await
}

/// A file of a match of the queue.
pub(super) async fn queue_file(
    State(service): State<Service>,
    Path((id, file)): Path<(String, String)>,
    Query(Wanted { game }): Query<Wanted>,
) -> Response {
    send_named(service, MatchRef::Queue(id), &file, game).await
}

/// A temporary address of a file of a local match.
pub(super) async fn local_address(
    State(service): State<Service>,
    Path((id, file)): Path<(MatchId, String)>,
    Query(Wanted { game }): Query<Wanted>,
) -> Response {
    address(&service, MatchRef::Local(id), &file, game)
}

/// A temporary address of a file of a match of the queue.
pub(super) async fn queue_address(
    State(service): State<Service>,
    Path((id, file)): Path<(String, String)>,
    Query(Wanted { game }): Query<Wanted>,
) -> Response {
    address(&service, MatchRef::Queue(id), &file, game)
}

/// The file with a temporary address.
pub(super) async fn shown(
    State(service): State<Service>,
    Extension(connection): Extension<Arc<Connection>>,
    Extension(origin): Extension<Origin>,
    Path(secret): Path<String>,
) -> Response {
    match service.downloads.find(&secret) {
        Some(download) => {
            // A connection without any secret is closed after a few minutes, which large files may take.
            connection.begin_request(origin, true);
            send(service, download).await
        }
        None => StatusCode::NOT_FOUND.into_response(),
    }
}

fn address(service: &Service, of: MatchRef, file: &str, game: Option<u32>) -> Response {
    let Some(file) = MatchFile::from_name(file) else {
        return StatusCode::NOT_FOUND.into_response();
    };
    match service.downloads.add(Download { of, file, game }) {
        Ok(secret) => Json(DownloadAddress { address: format!("report/{secret}") }).into_response(),
        Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}

async fn send_named(service: Service, of: MatchRef, file: &str, game: Option<u32>) -> Response {
    match MatchFile::from_name(file) {
        Some(file) => send(service, Download { of, file, game }).await,
        None => StatusCode::NOT_FOUND.into_response(),
    }
}

/// The results of a match, and its name.
async fn results(service: &Service, of: MatchRef) -> Result<(Results, String), ApiError> {
    let id = match of {
        MatchRef::Local(id) => return service.app.match_results(id),
        MatchRef::Queue(id) => id,
    };
    let missing = || ApiError::not_found(ErrorSubject::Match, "");
    let queue = service.queue.clone().ok_or_else(missing)?;
    let found = tokio::task::spawn_blocking(move || queue.results(&id)).await;
    let found = found.map_err(|_| ApiError::conflict(ErrorCode::ShuttingDown))?;
    let found = found.map_err(|text| ApiError::invalid_request(ErrorCode::system(&text)))?;
    found.ok_or_else(missing)
}

async fn send(service: Service, Download { of, file, game }: Download) -> Response {
    // Reading all games takes a CPU and a disk.
    let Ok(permit) = Arc::clone(&service.sending).try_acquire_owned() else {
        let error = ApiError::conflict(ErrorCode::TooManyDownloads);
        return error_response(StatusCode::TOO_MANY_REQUESTS, error);
    };
    let (results, name) = match results(&service, of).await {
        Ok(found) => found,
        Err(error) => return error.into_response(),
    };
    let (sender, mut receiver) = mpsc::channel::<io::Result<Bytes>>(WAITING_PARTS);
    let (opened, variant) = tokio::sync::oneshot::channel();
    let runtime = Handle::current();
    tokio::task::spawn_blocking(move || {
        let _permit = permit;
        let begun = results.variant().and_then(|variant| {
            let record = game.map(|number| results.record(number)).transpose()?;
            Ok((variant, record))
        });
        let record = match begun {
            Ok((variant, record)) => {
                let _ = opened.send(Ok(variant));
                record
            }
            Err(error) => {
                let _ = opened.send(Err(error));
                return;
            }
        };
        let mut part = |part: Vec<u8>| {
            // Fails if the client has disconnected, or does not read.
            match runtime.block_on(timeout(MAX_PAUSE, sender.send(Ok(part.into())))) {
                Ok(sent) => sent.map_err(io::Error::other),
                Err(elapsed) => Err(io::Error::other(elapsed)),
            }
        };
        let written = match record {
            Some(record) => part(record),
            None => results.write(file, &mut part),
        };
        if let Err(error) = written {
            // The client sees an incomplete response.
            let _ = runtime.block_on(timeout(MAX_PAUSE, sender.send(Err(error))));
        }
    });
    let variant = match variant.await {
        Ok(Ok(variant)) => variant,
        Ok(Err(error)) => return error.into_response(),
        Err(_) => return StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    };
    let (extension, kind) = file.kind(variant);
    let parts = futures_util::stream::poll_fn(move |cx| receiver.poll_recv(cx));
    let mut response = Body::from_stream(parts).into_response();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    if file == MatchFile::Report {
        headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
        // Browsers reject a sandbox with another value.
        let opener = HeaderName::from_static("cross-origin-opener-policy");
        headers.insert(opener, HeaderValue::from_static("unsafe-none"));
    } else {
        let game = game.map(|game| format!("-{game}")).unwrap_or_default();
        let name = format!("attachment; filename=\"{}{game}.{extension}\"", file_name(&name));
        if let Ok(name) = HeaderValue::from_str(&name) {
            headers.insert(header::CONTENT_DISPOSITION, name);
        }
    }
    response
}

/// The name of a match as a name of a file on any system.
fn file_name(name: &str) -> String {
    let letter = |letter: char| {
        if letter.is_ascii_alphanumeric() || "-_".contains(letter) { letter } else { '-' }
    };
    let name: String = name.chars().take(MAX_NAME).map(letter).collect();
    let name = name.trim_matches('-');
    if name.is_empty() { "match".to_owned() } else { name.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::file_name;

    #[test]
    fn names_of_files_have_no_other_characters() {
        for (name, expected) in [
            ("lmr-history_v3", "lmr-history_v3"),
            ("../../etc/passwd\0\r\nX: y", "etc-passwd---X--y"),
            ("\"; filename=x", "filename-x"),
            ("対局", "match"),
            ("", "match"),
        ] {
            assert_eq!(file_name(name), expected);
        }
        assert_eq!(file_name(&"a".repeat(1000)).len(), 60);
    }
}
